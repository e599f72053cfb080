# FPEMU_TRY_FLAGS(FLAGS, IF-TAKEN, [IF-NOT])
# Whether the compiler takes FLAGS without a complaint; clang only warns about flags it does not know.
AC_DEFUN([FPEMU_TRY_FLAGS], [
  AC_MSG_CHECKING([whether $CC takes $1])
  fpemu_saved_CFLAGS=$CFLAGS
  CFLAGS="$1 $CFLAGS -Werror"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])], [fpemu_taken=yes], [fpemu_taken=no])
  CFLAGS=$fpemu_saved_CFLAGS
  AC_MSG_RESULT([$fpemu_taken])
  AS_IF([test $fpemu_taken = yes], [$2], [$3])
])

# FPEMU_WARNINGS
# Sets WARNING_CFLAGS for our own code.
AC_DEFUN([FPEMU_WARNINGS], [
  WARNING_CFLAGS=
  for flag in -Wall -Wextra -Wpedantic -Wconversion; do
    FPEMU_TRY_FLAGS([$flag], [AS_VAR_APPEND([WARNING_CFLAGS], [" $flag"])])
  done
  # That clang cannot vectorise a loop marked `omp simd' is no defect, and depends on the level of optimisation.
  FPEMU_TRY_FLAGS([-Wpass-failed], [AS_VAR_APPEND([WARNING_CFLAGS], [" -Wno-pass-failed"])])
  # Whole numbers with a name are enumerators here, in expressions of floating point too.
  FPEMU_TRY_FLAGS([-Wenum-float-conversion], [AS_VAR_APPEND([WARNING_CFLAGS], [" -Wno-enum-float-conversion"])])
  AS_IF([test "x$enable_werror" != xno], [AS_VAR_APPEND([WARNING_CFLAGS], [" -Werror"])])
  AC_SUBST([WARNING_CFLAGS])
])

# FPEMU_SANITIZERS
# Sets SANITIZER_FLAGS, for compiling and linking. A finding ends the program. Beyond the usual kinds of undefined
# behaviour: floats that do not fit into the integer that they become. Left out are clang's `integer', for unsigned sums
# that wrap are how random words are made, and `implicit-conversion', which clang's own headers do not keep and
# -Wconversion sees when compiling.
AC_DEFUN([FPEMU_SANITIZERS], [
  SANITIZER_FLAGS=
  AS_CASE([$enable_sanitizers],
    [no], [],
    [thread], [SANITIZER_FLAGS="-fsanitize=thread"],
    [yes], [SANITIZER_FLAGS="-fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all"],
    [AC_MSG_ERROR([--enable-sanitizers=$enable_sanitizers: address and undefined, by itself, or =thread])])
  AS_IF([test "x$enable_sanitizers" != xno],
        [AS_VAR_APPEND([SANITIZER_FLAGS], [" -fno-omit-frame-pointer"])
         AC_MSG_CHECKING([whether $CC links with $SANITIZER_FLAGS])
         fpemu_saved_CFLAGS=$CFLAGS
         CFLAGS="$SANITIZER_FLAGS $CFLAGS"
         AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])],
                        [AC_MSG_RESULT([no])
                         AC_MSG_ERROR([--enable-sanitizers was given, but the compiler has no sanitizers])])
         CFLAGS=$fpemu_saved_CFLAGS])
  AC_SUBST([SANITIZER_FLAGS])
])

# FPEMU_HARDENING
# What makes a defect of a program harder to use: HARDENING_CFLAGS for the programs, HARDENING_LDFLAGS for linking them,
# RELRO_LDFLAGS for the libraries. Each where compiler and linker have it; a level of _FORTIFY_SOURCE that the caller or
# the compiler chose stays; nothing under the sanitizers, which see more.
AC_DEFUN([FPEMU_HARDENING], [
  AC_ARG_ENABLE([hardening], [AS_HELP_STRING([--disable-hardening],
                             [without stack protector, _FORTIFY_SOURCE, PIE and RELRO, but for what the compiler does itself])],
                [], [enable_hardening=yes])
  HARDENING_CFLAGS=
  HARDENING_LDFLAGS=
  RELRO_LDFLAGS=
  hardening_text=no
  AS_IF([test "x$enable_hardening" != xno && test "x$enable_sanitizers" = xno],
        [FPEMU_TRY_FLAGS([-fstack-protector-strong], [HARDENING_CFLAGS=-fstack-protector-strong])
         AC_MSG_CHECKING([whether $CC takes -D_FORTIFY_SOURCE=2])
         fpemu_saved_CFLAGS=$CFLAGS
         CFLAGS="$CFLAGS -D_FORTIFY_SOURCE=2 -Werror"
         AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <stdio.h>]], [])],
                           [AC_MSG_RESULT([yes])
                            AS_VAR_APPEND([HARDENING_CFLAGS], [" -D_FORTIFY_SOURCE=2"])],
                           [AC_MSG_RESULT([no, or it has a level])])
         CFLAGS=$fpemu_saved_CFLAGS
         AC_MSG_CHECKING([whether $CC links with -Wl,-z,relro,-z,now])
         fpemu_saved_LDFLAGS=$LDFLAGS
         LDFLAGS="$LDFLAGS -Wl,-z,relro,-z,now"
         AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
                        [AC_MSG_RESULT([yes])
                         RELRO_LDFLAGS=-Wl,-z,relro,-z,now], [AC_MSG_RESULT([no])])
         LDFLAGS=$fpemu_saved_LDFLAGS
         AC_MSG_CHECKING([whether $CC links with -fPIE -pie])
         CFLAGS="$CFLAGS -fPIE"
         LDFLAGS="$LDFLAGS -pie"
         AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
                        [AC_MSG_RESULT([yes])
                         AS_VAR_APPEND([HARDENING_CFLAGS], [" -fPIE"])
                         HARDENING_LDFLAGS=-pie], [AC_MSG_RESULT([no])])
         CFLAGS=$fpemu_saved_CFLAGS
         LDFLAGS=$fpemu_saved_LDFLAGS
         hardening_text="$HARDENING_CFLAGS $HARDENING_LDFLAGS $RELRO_LDFLAGS"])
  AC_SUBST([HARDENING_CFLAGS])
  AC_SUBST([HARDENING_LDFLAGS])
  AC_SUBST([RELRO_LDFLAGS])
])

# FPEMU_REPRODUCIBLE
# Two builds in different folders give equal files: PREFIX_MAP_CFLAGS keeps the folders out of what the compiler writes,
# archives have no times, and `make dist' packs with the times, owners and order that am__tar is told here:
# SOURCE_DATE_EPOCH, or the last commit, or, from an archive, the time that it gave its files. Called after LT_INIT.
AC_DEFUN([FPEMU_REPRODUCIBLE], [
  PREFIX_MAP_CFLAGS=
  fpemu_build=`pwd`
  fpemu_source=`cd "$srcdir" && pwd`
  AS_CASE(["$fpemu_build$fpemu_source"], [*[[\ \	\'\"\\\$]]*], [],
    [FPEMU_TRY_FLAGS([-ffile-prefix-map=$fpemu_build=.],
       [# the last that fits counts: the build folder, which is named by debuggers, may lie within the source
        AS_IF([test "x$srcdir" != x.], [PREFIX_MAP_CFLAGS="-ffile-prefix-map=$srcdir=. "])
        AS_VAR_APPEND([PREFIX_MAP_CFLAGS], ["-ffile-prefix-map=$fpemu_source=. -ffile-prefix-map=$fpemu_build=."])])])
  AC_SUBST([PREFIX_MAP_CFLAGS])
  AC_MSG_CHECKING([whether tar sorts and sets times])
  AS_IF([${TAR-tar} --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX -cf - "$srcdir/NEWS" >/dev/null 2>&1],
        [AC_MSG_RESULT([yes])
         [am__tar='$${TAR-tar} --sort=name --mtime="@$(DIST_EPOCH)" --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX -chof - "$$tardir"']],
        [AC_MSG_RESULT([no])])
])

# FPEMU_OPENMP
# AC_OPENMP with --disable-openmp, also written --without-openmp; --enable-openmp insists. Without OpenMP the loop hints
# (omp simd) stay where the compiler knows them. Sets OPENMP_CFLAGS, and NODELETE_LDFLAGS, by which the library stays
# when it is closed, and with it the code in which OpenMP's threads wait.
AC_DEFUN([FPEMU_OPENMP], [
  AC_ARG_WITH([openmp], [AS_HELP_STRING([--without-openmp], [the same as --disable-openmp])],
              [enable_openmp=$withval])
  AC_OPENMP
  openmp_found=$OPENMP_CFLAGS
  AS_IF([test -n "$OPENMP_CFLAGS"], [openmp_text="yes ($OPENMP_CFLAGS)"],
        [AS_IF([test "x$enable_openmp" = xyes],
               [AC_MSG_ERROR([--enable-openmp: the compiler has no OpenMP (clang on Debian: libomp-dev)])])
         openmp_text="no (one thread)"
         dnl gcc still warns about other pragmas of OpenMP in some places
         FPEMU_TRY_FLAGS([-fopenmp-simd], [OPENMP_CFLAGS="-fopenmp-simd -Wno-unknown-pragmas"],
                         [FPEMU_TRY_FLAGS([-Wno-unknown-pragmas], [OPENMP_CFLAGS=-Wno-unknown-pragmas])])])
  NODELETE_LDFLAGS=
  AS_IF([test -n "$openmp_found"],
        [AC_MSG_CHECKING([whether $CC links with -Wl,-z,nodelete])
         fpemu_saved_LDFLAGS=$LDFLAGS
         LDFLAGS="$LDFLAGS -Wl,-z,nodelete"
         AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
                        [AC_MSG_RESULT([yes])
                         NODELETE_LDFLAGS=-Wl,-z,nodelete], [AC_MSG_RESULT([no])])
         LDFLAGS=$fpemu_saved_LDFLAGS])
  AC_SUBST([NODELETE_LDFLAGS])
])

# FPEMU_OPTIMISATION
# The array loops want -O3 where the rest has -O2. Automake puts CFLAGS last on every command line, where its -O2 would
# undo that, so the level moves out of CFLAGS: to OPTIMISATION for the library, the programs and the tests, and to
# KERNEL_OPTIMISATION, one step up from -O2, for the loops. Another level than -O2 is taken as meant for both.
# Portable loops beside native ones run on request alone: PORTABLE_OPTIMISATION compiles them in half the time. gcc's
# warnings of what may be uninitialized are wrong at -O1, and the native loops are the same source.
# `make CFLAGS=-O0' still has the last word. Called after all checks that compile.
AC_DEFUN([FPEMU_OPTIMISATION], [
  OPTIMISATION=
  fpemu_other_CFLAGS=
  for flag in $CFLAGS; do
    AS_CASE([$flag], [-O*], [OPTIMISATION=$flag], [AS_VAR_APPEND([fpemu_other_CFLAGS], [" $flag"])])
  done
  CFLAGS=${fpemu_other_CFLAGS# }
  AS_IF([test "x$OPTIMISATION" = x-O2], [KERNEL_OPTIMISATION=-O3], [KERNEL_OPTIMISATION=$OPTIMISATION])
  PORTABLE_OPTIMISATION=$KERNEL_OPTIMISATION
  AS_CASE([$KERNEL_OPTIMISATION:$enable_variants:$simd_variants], [-O3:native:?*], [PORTABLE_OPTIMISATION='-O1 -w'])
  AC_SUBST([OPTIMISATION])
  AC_SUBST([PORTABLE_OPTIMISATION])
  AC_SUBST([KERNEL_OPTIMISATION])
])

# FPEMU_COPIES
# Sets COPY_CFLAGS: structs of some hundred bytes are cleared and copied by vectors, as gcc for x86-64 can be told; its
# own choice, string instructions, takes more time than the rest of many a call on few elements. Others do so unasked.
AC_DEFUN([FPEMU_COPIES], [
  COPY_CFLAGS=
  fpemu_strategy=vector_loop:512:noalign,libcall:-1:noalign
  FPEMU_TRY_FLAGS([-mmemset-strategy=$fpemu_strategy -mmemcpy-strategy=$fpemu_strategy],
    [COPY_CFLAGS="-mmemset-strategy=$fpemu_strategy -mmemcpy-strategy=$fpemu_strategy"])
  AC_SUBST([COPY_CFLAGS])
])

# FPEMU_VERSION_SCRIPT
# Whether the linker takes a version script, as those of GNU, LLVM and Solaris do: the symbols of the libraries get
# versions then.
AC_DEFUN([FPEMU_VERSION_SCRIPT], [
  AC_MSG_CHECKING([whether the linker takes version scripts])
  printf 'NODE { global: main; local: *; };\n' >conftest.map
  fpemu_saved_LDFLAGS=$LDFLAGS
  LDFLAGS="$LDFLAGS -Wl,--version-script=conftest.map"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [fpemu_version_script=yes], [fpemu_version_script=no])
  LDFLAGS=$fpemu_saved_LDFLAGS
  rm -f conftest.map
  AC_MSG_RESULT([$fpemu_version_script])
  AM_CONDITIONAL([HAVE_VERSION_SCRIPT], [test $fpemu_version_script = yes])
])
