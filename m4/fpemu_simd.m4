# FPEMU_SIMD_VARIANT(NAME, MACRO-SUFFIX, FLAGS, CONDITION-ON-PREDEFINED-MACROS)
# Decides whether the array loops are compiled for one more instruction set. The flags are tried before the user's
# CFLAGS, as they will be used: a -march there has the last word, and then the variant is left out.
AC_DEFUN([FPEMU_SIMD_VARIANT], [
  fpemu_have=0
  AS_CASE([$host_cpu], [x86_64], [
    AC_MSG_CHECKING([whether $CC compiles for $1])
    fpemu_saved_CFLAGS=$CFLAGS
    CFLAGS="$3 $CFLAGS -Werror"
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
        #if !($4)
        #error "not this instruction set"
        #endif
        int main(void) { return 0; }]])],
      [fpemu_have=1
       AC_MSG_RESULT([yes])],
      [AC_MSG_RESULT([no])])
    CFLAGS=$fpemu_saved_CFLAGS])
  AS_IF([test $fpemu_have = 1], [AS_VAR_APPEND([simd_variants], [" $1"])])
  AC_SUBST([$2_CFLAGS], ["$3"])
  AC_DEFINE_UNQUOTED([FPEMU_HAVE_$2], [$fpemu_have], [1 where the array loops are also compiled for $1.])
  AM_CONDITIONAL([HAVE_$2], [test $fpemu_have = 1])
])

# FPEMU_SIMD
# The variants beside the portable one; lib/kernels_*.c are compiled with V3_CFLAGS, V4_CFLAGS, VBMI_CFLAGS.
AC_DEFUN([FPEMU_SIMD], [
  simd_variants=
  FPEMU_SIMD_VARIANT([x86-64-v3], [V3], [-march=x86-64-v3 -mprefer-vector-width=256], [defined __AVX2__])
  FPEMU_SIMD_VARIANT([x86-64-v4], [V4], [-march=x86-64-v4 -mprefer-vector-width=512], [defined __AVX512VL__])
  FPEMU_SIMD_VARIANT([x86-64-v4-vbmi], [VBMI], [-march=x86-64-v4 -mavx512vbmi -mprefer-vector-width=512],
    [defined __AVX512VL__ && defined __AVX512VBMI__])
])
