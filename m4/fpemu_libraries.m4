# FPEMU_LIBRARY(VARIABLE, MODULES, INCLUDES, CALL, [IF-FOUND], [IF-NOT])
# PKG_CHECK_MODULES that believes a library to be there once a call of it compiles and links: pkg-config may tell of
# those of the building machine, which is not always the one that the programs are for.
AC_DEFUN([FPEMU_LIBRARY], [
  fpemu_found=no
  PKG_CHECK_MODULES([$1], [$2],
    [AC_MSG_CHECKING([whether programs for $host_cpu link with $2])
     fpemu_saved_CFLAGS=$CFLAGS
     fpemu_saved_LIBS=$LIBS
     CFLAGS="$$1_CFLAGS $CFLAGS"
     LIBS="$$1_LIBS $LIBS"
     AC_LINK_IFELSE([AC_LANG_PROGRAM([$3], [$4])], [fpemu_found=yes], [$1_CFLAGS= $1_LIBS=])
     CFLAGS=$fpemu_saved_CFLAGS
     LIBS=$fpemu_saved_LIBS
     AC_MSG_RESULT([$fpemu_found])], [:])
  AS_IF([test $fpemu_found = yes], [$5], [$6])
])

# FPEMU_OPTIONAL_LIBRARY(OPTION, WHAT-GOES-WITHOUT-IT, VARIABLE, MODULES, INCLUDES, CALL, DEBIAN-PACKAGES)
# --without-OPTION, else the library where it is there; --with-OPTION insists. Sets have_OPTION.
AC_DEFUN([FPEMU_OPTIONAL_LIBRARY], [
  AC_ARG_WITH([$1], [AS_HELP_STRING([--without-$1], [leave out $2 @<:@default: where found@:>@])], [], [with_$1=auto])
  have_$1=no
  AS_IF([test "x$with_$1" != xno], [FPEMU_LIBRARY([$3], [$4], [$5], [$6], [have_$1=yes])])
  AS_CASE([$with_$1:$have_$1], [yes:no], [AC_MSG_ERROR([--with-$1: $4 was not found for $host (Debian: $7)])])
])
