/* SPDX-License-Identifier: BSD-2-Clause */
/* backends.c - backends by name:
 *
 *     auto             onednn where it was built in, else blas
 *     onednn           convolutions and products of matrices by oneDNN
 *     blas             products of matrices by CBLAS, convolutions made from them
 *     emulated:MODEL   every product by fpemu_gemm, with MODEL as `fpemu gemm` reads it (doc/accumulation.md): fp32,
 *                      fp64, "seq(fp16)", "tc(h100,fp16)", ...; `emulated` alone is emulated:fp32
 *     exact[:saturate] sums of products of whole numbers, in binary64; sums outside of 32 bits are counted (and cut) */
#include "backends/backends.h"

#include <string.h>

const backend *backend_named(const char *name, trouble *why)
{
    if (strcmp(name, "blas") == 0)
        return backend_blas(why);
    if (strcmp(name, "onednn") == 0)
        return backend_onednn(why);
    if (strcmp(name, "auto") == 0) {
        backend *b = backend_onednn(why);
        return b ? b : backend_blas(why);
    }
    if (strcmp(name, "emulated") == 0)
        return backend_emulated("fp32", why);
    if (strncmp(name, "emulated:", 9) == 0)
        return backend_emulated(name + 9, why);
    if (strcmp(name, "exact") == 0)
        return backend_exact("", why);
    if (strncmp(name, "exact:", 6) == 0)
        return backend_exact(name + 6, why);
    fail(why, "backend '%s': there are auto, onednn, blas, exact and emulated:MODEL", name);
    return NULL;
}

void backend_free(const backend *b)
{
    if (b)
        b->free((backend *)(uintptr_t)b);
}
