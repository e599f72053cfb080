# FPEMU_STRICT_ARITHMETIC
# These flags are part of the numerics: every file of the library, of the judges and of the tools is compiled with
# them. No contraction of a*b+c, no reasoning from traps or errno (it only hinders vectorising). Flags that allow the
# compiler to change results are refused, in CFLAGS as well as in CC; so is a target that computes in excess precision.
# gcc 12 takes registers of MMX for a few moves, which leaves the caller's x87 registers unusable: it may not.
AC_DEFUN([FPEMU_STRICT_ARITHMETIC], [
  for flag in $CC $CPPFLAGS $CFLAGS; do
    AS_CASE([$flag],
      [-Ofast | -ffast-math | -funsafe-math-optimizations | -fassociative-math | -freciprocal-math | -fno-signed-zeros \
       | -ffinite-math-only | -ffp-contract=fast | -fsingle-precision-constant | -ffp-model=fast],
      [AC_MSG_ERROR([$flag changes results, and exact results are what libfpemu is for: configure without it])])
  done

  STRICT_CFLAGS=
  for flag in -std=c11 -ffp-contract=off -fno-trapping-math -fno-math-errno -mno-mmx; do
    FPEMU_TRY_FLAGS([$flag], [AS_VAR_APPEND([STRICT_CFLAGS], [" $flag"])])
  done
  STRICT_CFLAGS=${STRICT_CFLAGS# }
  AC_SUBST([STRICT_CFLAGS])

  AC_MSG_CHECKING([that float and double are computed as such])
  fpemu_saved_CFLAGS=$CFLAGS
  CFLAGS="$STRICT_CFLAGS $CFLAGS"
  AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
      #include <float.h>
      #if defined __FAST_MATH__ || (defined __FINITE_MATH_ONLY__ && __FINITE_MATH_ONLY__)
      #error "fast mathematics"
      #endif
      #if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
      #error "excess precision"
      #endif
      _Static_assert(FLT_MANT_DIG == 24 && DBL_MANT_DIG == 53, "IEEE 754");
      int main(void) { return 0; }]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([strict IEEE 754 binary32 and binary64 are needed (32-bit x86: CFLAGS="-msse2 -mfpmath=sse")])])
  CFLAGS=$fpemu_saved_CFLAGS
])
