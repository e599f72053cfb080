# FPEMU_CUDA
# Looks for nvcc and the static CUDA runtime: --with-cuda=DIR, else nvcc in PATH, else $CUDA_HOME, /usr/local/cuda.
# Sets NVCC, CUDA_INCLUDE, CUDA_CPPFLAGS, CUDA_LIBS, CUDA_CODES and have_cuda. Code for the architectures of
# CUDA_ARCHITECTURES (numbers such as "80 90"; default: those below that the toolkit knows), and PTX of the last.
AC_DEFUN([FPEMU_CUDA], [
  AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda@<:@=DIR@:>@],
      [build libfpemu_cuda by the CUDA toolkit in DIR @<:@default: where found@:>@])],
    [], [with_cuda=auto])
  AC_ARG_VAR([NVCC], [compiler of CUDA])
  AC_ARG_VAR([CUDA_ARCHITECTURES], [GPU architectures to make code for, such as "80 90"])
  have_cuda=no
  CUDA_INCLUDE=
  CUDA_CPPFLAGS=
  CUDA_LIBS=
  CUDA_CODES=
  AS_IF([test "x$with_cuda" != xno], [
    AS_CASE([$with_cuda],
      [auto | yes], [fpemu_cuda_path=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin],
      [fpemu_cuda_path=$with_cuda/bin])
    AC_PATH_PROG([NVCC], [nvcc], [], [$fpemu_cuda_path])
    AS_IF([test -n "$NVCC"], [
      AC_MSG_CHECKING([that $NVCC works])
      # nvcc itself knows where the toolkit lies
      fpemu_cuda_top=`$NVCC --dryrun -c none.cu 2>&1 | $SED -n 's/^#\\$ TOP=//p'`
      fpemu_cuda_lib=
      for dir in "$fpemu_cuda_top/lib64" "$fpemu_cuda_top/targets/$host_cpu-linux/lib" "$fpemu_cuda_top/lib"; do
        AS_IF([test -f "$dir/libcudart_static.a"], [fpemu_cuda_lib=$dir; break])
      done
      cat >conftest.cu <<'_CU'
#include <cuda_runtime.h>
__global__ void kernel(int *x) { *x = 1; }
int main(void) { kernel<<<1, 1>>>(0); return 0; }
_CU
      AS_IF([test -n "$fpemu_cuda_lib" &&
             $NVCC -ccbin "${CXX:-g++}" -c conftest.cu -o conftest.o >&AS_MESSAGE_LOG_FD 2>&1],
            [CUDA_LIBS="$fpemu_cuda_lib/libcudart_static.a -lpthread -ldl -lrt"
             fpemu_saved_LIBS=$LIBS
             LIBS="$CUDA_LIBS $LIBS"
             AC_LINK_IFELSE([AC_LANG_PROGRAM([[int cudaDeviceSynchronize(void);]], [[return cudaDeviceSynchronize();]])],
                            [have_cuda=yes])
             LIBS=$fpemu_saved_LIBS])
      rm -f conftest.cu conftest.o
      AC_MSG_RESULT([$have_cuda])])
    AS_IF([test $have_cuda = yes], [
      CUDA_INCLUDE=$fpemu_cuda_top/include
      CUDA_CPPFLAGS=-I$CUDA_INCLUDE
      fpemu_cuda_known=`$NVCC --list-gpu-arch`
      fpemu_cuda_last=
      for architecture in ${CUDA_ARCHITECTURES-80 90 100}; do
        AS_CASE([" "`echo $fpemu_cuda_known`" "],
          [*" compute_$architecture "*],
          [CUDA_CODES="$CUDA_CODES -gencode arch=compute_$architecture,code=sm_$architecture"
           fpemu_cuda_last=$architecture],
          [AC_MSG_NOTICE([$NVCC has no architecture $architecture])])
      done
      AS_IF([test -z "$fpemu_cuda_last"],
            [AC_MSG_ERROR([no GPU architecture of "$CUDA_ARCHITECTURES" is known to $NVCC])])
      # newer devices translate this themselves
      CUDA_CODES="${CUDA_CODES# } -gencode arch=compute_$fpemu_cuda_last,code=compute_$fpemu_cuda_last"])
    AS_IF([test $have_cuda = no && test "x$with_cuda" != xauto],
          [AC_MSG_ERROR([--with-cuda: no working nvcc with a static runtime was found])])])
  AM_CONDITIONAL([HAVE_CUDA], [test $have_cuda = yes])
  AC_SUBST([CUDA_INCLUDE])
  AC_SUBST([CUDA_CPPFLAGS])
  AC_SUBST([CUDA_LIBS])
  AC_SUBST([CUDA_CODES])
])
