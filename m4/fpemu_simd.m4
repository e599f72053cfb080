# FPEMU_SIMD_VARIANT(NAME, MACRO-SUFFIX, FLAGS, CONDITION-ON-PREDEFINED-MACROS)
# Decides whether the array loops are compiled for one more instruction set. The flags are tried before the user's
# CFLAGS, as they will be used: a -march there has the last word, and then the variant is left out.
AC_DEFUN([FPEMU_SIMD_VARIANT], [
  fpemu_have=0
  AS_CASE([$host_cpu:$fpemu_variants], [x86_64:*,all,* | x86_64:*,$1,*], [
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
  AS_CASE([$fpemu_have:,$enable_variants,],
    [0:*,$1,*], [AC_MSG_ERROR([--enable-variants=$1: $CC, with these CFLAGS and for $host, does not compile for it])],
    [1:*], [AS_VAR_APPEND([simd_variants], [" $1"])])
  AC_SUBST([$2_CFLAGS], ["$3"])
  AC_DEFINE_UNQUOTED([FPEMU_HAVE_$2], [$fpemu_have], [1 where the array loops are also compiled for $1.])
  AM_CONDITIONAL([HAVE_$2], [test $fpemu_have = 1])
])

# FPEMU_SIMD
# The variants beside the portable one; lib/loops is compiled with V3_CFLAGS, V4_CFLAGS.
AC_DEFUN([FPEMU_SIMD], [
  AC_ARG_ENABLE([variants],
    [AS_HELP_STRING([--enable-variants=LIST],
      [compile the array loops, beside the portable ones, for the instruction sets x86-64-v3 and x86-64-v4,
       those of them that are named with commas, or for native, the best of this processor @<:@default: all@:>@])],
    [], [enable_variants=all])
  for name in `AS_ECHO(["$enable_variants"]) | tr , ' '`; do
    AS_CASE([$name], [all | yes | no | native | portable | x86-64-v3 | x86-64-v4], [],
      [AC_MSG_ERROR([--enable-variants=$name: all, native, or some of portable, x86-64-v3, x86-64-v4])])
  done
  fpemu_native=portable
  AS_CASE([$cross_compiling,$enable_variants,$host_cpu],
    [yes*,native,*], [AC_MSG_ERROR([--enable-variants=native: the library is for another processor than this one])],
    [*,native,x86_64], [
      AC_MSG_CHECKING([for the best variant of this processor])
      AS_CASE([`$CC -march=native -dM -E -x c /dev/null 2>/dev/null`],
        [*__AVX512VL__*], [fpemu_native=x86-64-v4],
        [*__AVX2__*], [fpemu_native=x86-64-v3])
      AC_MSG_RESULT([$fpemu_native])])
  fpemu_variants=`AS_ECHO([",$enable_variants,"]) | $SED "s/,yes,/,all,/; s/,native,/,$fpemu_native,/"`
  simd_variants=
  FPEMU_SIMD_VARIANT([x86-64-v3], [V3], [-march=x86-64-v3 -mprefer-vector-width=256], [defined __AVX2__])
  FPEMU_SIMD_VARIANT([x86-64-v4], [V4], [-march=x86-64-v4 -mprefer-vector-width=512], [defined __AVX512VL__])
])
