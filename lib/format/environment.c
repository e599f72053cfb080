/* SPDX-License-Identifier: BSD-2-Clause */
/* environment.c - the floating-point environment of every call: some rules add, compare or convert in floating point,
 * and vector code may compute on lanes that it then discards. */
#include "environment.h"

#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>

/* Nearest, no flushing, every trap masked; the flags raised inside are dropped on leaving. Writing costs much more than
 * reading. */
void fpemu_environment_enter(fp_environment *e)
{
    const unsigned flags = 0x3f;
    e->saved[0] = _mm_getcsr();
    if (((unsigned)e->saved[0] & ~flags) != 0x1f80)
        _mm_setcsr(0x1f80);
}

void fpemu_environment_leave(const fp_environment *e)
{
    if (_mm_getcsr() != (unsigned)e->saved[0])
        _mm_setcsr((unsigned)e->saved[0]);
}

#else
#include <fenv.h>
#include <string.h>

_Static_assert(sizeof(fenv_t) <= sizeof(fp_environment), "fenv_t is kept in fp_environment");

void fpemu_environment_enter(fp_environment *e)
{
    fenv_t environment;
    fegetenv(&environment);
    memcpy(e->saved, &environment, sizeof environment);
    fesetenv(FE_DFL_ENV);
}

void fpemu_environment_leave(const fp_environment *e)
{
    fenv_t environment;
    memcpy(&environment, e->saved, sizeof environment);
    fesetenv(&environment);
}

#endif
