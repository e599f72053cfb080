/* SPDX-License-Identifier: BSD-2-Clause */
/* codebook.c - formats that are a sorted table of values: the built-in tables, and what follows from a table.
 *
 * The tables were printed by a short script that works with rationals (Python's Fraction) and rounds each once to
 * binary32, to nearest even: for dynamic, i = 0..bits-2, n = 2^i and k = 0..n-1 the two values
 * +-10^(i-(bits-2)) * (1/10 + 9/10 * (k + 1/2)/n), then 0 and 1; for udynamic the positive ones alone, with n =
 * 2^(i+1); for nf4 the published decimals. tests/unit/check_blockspec.c works them out again. */
#include "codebook.h"

#include "core/reach.h"
#include "decimal.h"

#include <string.h>

/* clang-format off */
static const float nf4[16] = {
    -0x1p0f, -0x1.647362p-1f, -0x1.0cd66p-1f, -0x1.94654p-2f, -0x1.23449ap-2f, -0x1.7a6a7ep-3f, -0x1.74f0e2p-4f, 0,
    0x1.45f5fep-4f, 0x1.4995c6p-3f, 0x1.f809bap-3f, 0x1.5a0674p-2f, 0x1.c3497p-2f, 0x1.200f56p-1f, 0x1.722766p-1f,
    0x1p0f,
};
static const float dynamic4[16] = {
    -0x1.c66666p-1f, -0x1.533334p-1f, -0x1.cp-2f, -0x1.b33334p-3f, -0x1.3d70a4p-4f, -0x1.0a3d7p-5f, -0x1.6872bp-8f, 0,
    0x1.6872bp-8f, 0x1.0a3d7p-5f, 0x1.3d70a4p-4f, 0x1.b33334p-3f, 0x1.cp-2f, 0x1.533334p-1f, 0x1.c66666p-1f, 0x1p0f,
};
static const float dynamic5[32] = {
    -0x1.e33334p-1f, -0x1.a9999ap-1f, -0x1.7p-1f, -0x1.366666p-1f, -0x1.f9999ap-2f, -0x1.866666p-2f, -0x1.133334p-2f,
    -0x1.4p-3f, -0x1.6b851ep-4f, -0x1.0f5c28p-4f, -0x1.666666p-5f, -0x1.5c28f6p-6f, -0x1.fbe76cp-8f, -0x1.a9fbe8p-9f,
    -0x1.205bcp-11f, 0, 0x1.205bcp-11f, 0x1.a9fbe8p-9f, 0x1.fbe76cp-8f, 0x1.5c28f6p-6f, 0x1.666666p-5f, 0x1.0f5c28p-4f,
    0x1.6b851ep-4f, 0x1.4p-3f, 0x1.133334p-2f, 0x1.866666p-2f, 0x1.f9999ap-2f, 0x1.366666p-1f, 0x1.7p-1f,
    0x1.a9999ap-1f, 0x1.e33334p-1f, 0x1p0f,
};
static const float dynamic6[64] = {
    -0x1.f1999ap-1f, -0x1.d4ccccp-1f, -0x1.b8p-1f, -0x1.9b3334p-1f, -0x1.7e6666p-1f, -0x1.61999ap-1f, -0x1.44ccccp-1f,
    -0x1.28p-1f, -0x1.0b3334p-1f, -0x1.dcccccp-2f, -0x1.a33334p-2f, -0x1.69999ap-2f, -0x1.3p-2f, -0x1.ecccccp-3f,
    -0x1.79999ap-3f, -0x1.066666p-3f, -0x1.828f5cp-4f, -0x1.547ae2p-4f, -0x1.266666p-4f, -0x1.f0a3d8p-5f,
    -0x1.947ae2p-5f, -0x1.3851ecp-5f, -0x1.b851ecp-6f, -0x1p-6f, -0x1.22d0e6p-7f, -0x1.b22d0ep-8f, -0x1.1eb852p-8f,
    -0x1.16872cp-9f, -0x1.9652bep-11f, -0x1.54c986p-12f, -0x1.cd5f9ap-15f, 0, 0x1.cd5f9ap-15f, 0x1.54c986p-12f,
    0x1.9652bep-11f, 0x1.16872cp-9f, 0x1.1eb852p-8f, 0x1.b22d0ep-8f, 0x1.22d0e6p-7f, 0x1p-6f, 0x1.b851ecp-6f,
    0x1.3851ecp-5f, 0x1.947ae2p-5f, 0x1.f0a3d8p-5f, 0x1.266666p-4f, 0x1.547ae2p-4f, 0x1.828f5cp-4f, 0x1.066666p-3f,
    0x1.79999ap-3f, 0x1.ecccccp-3f, 0x1.3p-2f, 0x1.69999ap-2f, 0x1.a33334p-2f, 0x1.dcccccp-2f, 0x1.0b3334p-1f,
    0x1.28p-1f, 0x1.44ccccp-1f, 0x1.61999ap-1f, 0x1.7e6666p-1f, 0x1.9b3334p-1f, 0x1.b8p-1f, 0x1.d4ccccp-1f,
    0x1.f1999ap-1f, 0x1p0f,
};
static const float dynamic7[128] = {
    -0x1.f8ccccp-1f, -0x1.ea6666p-1f, -0x1.dcp-1f, -0x1.cd999ap-1f, -0x1.bf3334p-1f, -0x1.b0ccccp-1f, -0x1.a26666p-1f,
    -0x1.94p-1f, -0x1.85999ap-1f, -0x1.773334p-1f, -0x1.68ccccp-1f, -0x1.5a6666p-1f, -0x1.4cp-1f, -0x1.3d999ap-1f,
    -0x1.2f3334p-1f, -0x1.20ccccp-1f, -0x1.126666p-1f, -0x1.04p-1f, -0x1.eb3334p-2f, -0x1.ce6666p-2f, -0x1.b1999ap-2f,
    -0x1.94ccccp-2f, -0x1.78p-2f, -0x1.5b3334p-2f, -0x1.3e6666p-2f, -0x1.21999ap-2f, -0x1.04ccccp-2f, -0x1.dp-3f,
    -0x1.966666p-3f, -0x1.5cccccp-3f, -0x1.233334p-3f, -0x1.d33334p-4f, -0x1.8e147ap-4f, -0x1.770a3ep-4f, -0x1.6p-4f,
    -0x1.48f5c2p-4f, -0x1.31eb86p-4f, -0x1.1ae148p-4f, -0x1.03d70ap-4f, -0x1.d9999ap-5f, -0x1.ab851ep-5f,
    -0x1.7d70a4p-5f, -0x1.4f5c28p-5f, -0x1.2147aep-5f, -0x1.e66666p-6f, -0x1.8a3d7p-6f, -0x1.2e147ap-6f,
    -0x1.a3d70ap-7f, -0x1.353f7cp-7f, -0x1.10624ep-7f, -0x1.d70a3ep-8f, -0x1.8d4fep-8f, -0x1.439582p-8f,
    -0x1.f3b646p-9f, -0x1.60418ap-9f, -0x1.99999ap-10f, -0x1.d14e3cp-11f, -0x1.5b573ep-11f, -0x1.cac084p-12f,
    -0x1.bda512p-13f, -0x1.450efep-14f, -0x1.10a138p-15f, -0x1.711948p-18f, 0, 0x1.711948p-18f, 0x1.10a138p-15f,
    0x1.450efep-14f, 0x1.bda512p-13f, 0x1.cac084p-12f, 0x1.5b573ep-11f, 0x1.d14e3cp-11f, 0x1.99999ap-10f,
    0x1.60418ap-9f, 0x1.f3b646p-9f, 0x1.439582p-8f, 0x1.8d4fep-8f, 0x1.d70a3ep-8f, 0x1.10624ep-7f, 0x1.353f7cp-7f,
    0x1.a3d70ap-7f, 0x1.2e147ap-6f, 0x1.8a3d7p-6f, 0x1.e66666p-6f, 0x1.2147aep-5f, 0x1.4f5c28p-5f, 0x1.7d70a4p-5f,
    0x1.ab851ep-5f, 0x1.d9999ap-5f, 0x1.03d70ap-4f, 0x1.1ae148p-4f, 0x1.31eb86p-4f, 0x1.48f5c2p-4f, 0x1.6p-4f,
    0x1.770a3ep-4f, 0x1.8e147ap-4f, 0x1.d33334p-4f, 0x1.233334p-3f, 0x1.5cccccp-3f, 0x1.966666p-3f, 0x1.dp-3f,
    0x1.04ccccp-2f, 0x1.21999ap-2f, 0x1.3e6666p-2f, 0x1.5b3334p-2f, 0x1.78p-2f, 0x1.94ccccp-2f, 0x1.b1999ap-2f,
    0x1.ce6666p-2f, 0x1.eb3334p-2f, 0x1.04p-1f, 0x1.126666p-1f, 0x1.20ccccp-1f, 0x1.2f3334p-1f, 0x1.3d999ap-1f,
    0x1.4cp-1f, 0x1.5a6666p-1f, 0x1.68ccccp-1f, 0x1.773334p-1f, 0x1.85999ap-1f, 0x1.94p-1f, 0x1.a26666p-1f,
    0x1.b0ccccp-1f, 0x1.bf3334p-1f, 0x1.cd999ap-1f, 0x1.dcp-1f, 0x1.ea6666p-1f, 0x1.f8ccccp-1f, 0x1p0f,
};
static const float dynamic8[256] = {
    -0x1.fc6666p-1f, -0x1.f53334p-1f, -0x1.eep-1f, -0x1.e6ccccp-1f, -0x1.df999ap-1f, -0x1.d86666p-1f, -0x1.d13334p-1f,
    -0x1.cap-1f, -0x1.c2ccccp-1f, -0x1.bb999ap-1f, -0x1.b46666p-1f, -0x1.ad3334p-1f, -0x1.a6p-1f, -0x1.9eccccp-1f,
    -0x1.97999ap-1f, -0x1.906666p-1f, -0x1.893334p-1f, -0x1.82p-1f, -0x1.7accccp-1f, -0x1.73999ap-1f, -0x1.6c6666p-1f,
    -0x1.653334p-1f, -0x1.5ep-1f, -0x1.56ccccp-1f, -0x1.4f999ap-1f, -0x1.486666p-1f, -0x1.413334p-1f, -0x1.3ap-1f,
    -0x1.32ccccp-1f, -0x1.2b999ap-1f, -0x1.246666p-1f, -0x1.1d3334p-1f, -0x1.16p-1f, -0x1.0eccccp-1f, -0x1.07999ap-1f,
    -0x1.006666p-1f, -0x1.f26666p-2f, -0x1.e4p-2f, -0x1.d5999ap-2f, -0x1.c73334p-2f, -0x1.b8ccccp-2f, -0x1.aa6666p-2f,
    -0x1.9cp-2f, -0x1.8d999ap-2f, -0x1.7f3334p-2f, -0x1.70ccccp-2f, -0x1.626666p-2f, -0x1.54p-2f, -0x1.45999ap-2f,
    -0x1.373334p-2f, -0x1.28ccccp-2f, -0x1.1a6666p-2f, -0x1.0cp-2f, -0x1.fb3334p-3f, -0x1.de6666p-3f, -0x1.c1999ap-3f,
    -0x1.a4ccccp-3f, -0x1.88p-3f, -0x1.6b3334p-3f, -0x1.4e6666p-3f, -0x1.31999ap-3f, -0x1.14ccccp-3f, -0x1.fp-4f,
    -0x1.b66666p-4f, -0x1.93d70ap-4f, -0x1.8851ecp-4f, -0x1.7cccccp-4f, -0x1.7147aep-4f, -0x1.65c29p-4f, -0x1.5a3d7p-4f,
    -0x1.4eb852p-4f, -0x1.433334p-4f, -0x1.37ae14p-4f, -0x1.2c28f6p-4f, -0x1.20a3d8p-4f, -0x1.151eb8p-4f,
    -0x1.09999ap-4f, -0x1.fc28f6p-5f, -0x1.e51eb8p-5f, -0x1.ce147ap-5f, -0x1.b70a3ep-5f, -0x1.ap-5f, -0x1.88f5c2p-5f,
    -0x1.71eb86p-5f, -0x1.5ae148p-5f, -0x1.43d70ap-5f, -0x1.2cccccp-5f, -0x1.15c29p-5f, -0x1.fd70a4p-6f,
    -0x1.cf5c28p-6f, -0x1.a147aep-6f, -0x1.733334p-6f, -0x1.451eb8p-6f, -0x1.170a3ep-6f, -0x1.d1eb86p-7f,
    -0x1.75c29p-7f, -0x1.3e76c8p-7f, -0x1.2c0832p-7f, -0x1.19999ap-7f, -0x1.072b02p-7f, -0x1.e978d4p-8f,
    -0x1.c49ba6p-8f, -0x1.9fbe76p-8f, -0x1.7ae148p-8f, -0x1.560418p-8f, -0x1.3126eap-8f, -0x1.0c49bap-8f,
    -0x1.ced916p-9f, -0x1.851eb8p-9f, -0x1.3b645ap-9f, -0x1.e353f8p-10f, -0x1.4fdf3cp-10f, -0x1.eecbfcp-11f,
    -0x1.b3d07cp-11f, -0x1.78d4fep-11f, -0x1.3dd98p-11f, -0x1.02dep-11f, -0x1.8fc504p-12f, -0x1.19ce08p-12f,
    -0x1.47ae14p-13f, -0x1.743e96p-14f, -0x1.15df66p-14f, -0x1.6f0068p-15f, -0x1.64840ep-16f, -0x1.040bfep-17f,
    -0x1.b43526p-19f, -0x1.27476cp-21f, 0, 0x1.27476cp-21f, 0x1.b43526p-19f, 0x1.040bfep-17f, 0x1.64840ep-16f,
    0x1.6f0068p-15f, 0x1.15df66p-14f, 0x1.743e96p-14f, 0x1.47ae14p-13f, 0x1.19ce08p-12f, 0x1.8fc504p-12f, 0x1.02dep-11f,
    0x1.3dd98p-11f, 0x1.78d4fep-11f, 0x1.b3d07cp-11f, 0x1.eecbfcp-11f, 0x1.4fdf3cp-10f, 0x1.e353f8p-10f, 0x1.3b645ap-9f,
    0x1.851eb8p-9f, 0x1.ced916p-9f, 0x1.0c49bap-8f, 0x1.3126eap-8f, 0x1.560418p-8f, 0x1.7ae148p-8f, 0x1.9fbe76p-8f,
    0x1.c49ba6p-8f, 0x1.e978d4p-8f, 0x1.072b02p-7f, 0x1.19999ap-7f, 0x1.2c0832p-7f, 0x1.3e76c8p-7f, 0x1.75c29p-7f,
    0x1.d1eb86p-7f, 0x1.170a3ep-6f, 0x1.451eb8p-6f, 0x1.733334p-6f, 0x1.a147aep-6f, 0x1.cf5c28p-6f, 0x1.fd70a4p-6f,
    0x1.15c29p-5f, 0x1.2cccccp-5f, 0x1.43d70ap-5f, 0x1.5ae148p-5f, 0x1.71eb86p-5f, 0x1.88f5c2p-5f, 0x1.ap-5f,
    0x1.b70a3ep-5f, 0x1.ce147ap-5f, 0x1.e51eb8p-5f, 0x1.fc28f6p-5f, 0x1.09999ap-4f, 0x1.151eb8p-4f, 0x1.20a3d8p-4f,
    0x1.2c28f6p-4f, 0x1.37ae14p-4f, 0x1.433334p-4f, 0x1.4eb852p-4f, 0x1.5a3d7p-4f, 0x1.65c29p-4f, 0x1.7147aep-4f,
    0x1.7cccccp-4f, 0x1.8851ecp-4f, 0x1.93d70ap-4f, 0x1.b66666p-4f, 0x1.fp-4f, 0x1.14ccccp-3f, 0x1.31999ap-3f,
    0x1.4e6666p-3f, 0x1.6b3334p-3f, 0x1.88p-3f, 0x1.a4ccccp-3f, 0x1.c1999ap-3f, 0x1.de6666p-3f, 0x1.fb3334p-3f,
    0x1.0cp-2f, 0x1.1a6666p-2f, 0x1.28ccccp-2f, 0x1.373334p-2f, 0x1.45999ap-2f, 0x1.54p-2f, 0x1.626666p-2f,
    0x1.70ccccp-2f, 0x1.7f3334p-2f, 0x1.8d999ap-2f, 0x1.9cp-2f, 0x1.aa6666p-2f, 0x1.b8ccccp-2f, 0x1.c73334p-2f,
    0x1.d5999ap-2f, 0x1.e4p-2f, 0x1.f26666p-2f, 0x1.006666p-1f, 0x1.07999ap-1f, 0x1.0eccccp-1f, 0x1.16p-1f,
    0x1.1d3334p-1f, 0x1.246666p-1f, 0x1.2b999ap-1f, 0x1.32ccccp-1f, 0x1.3ap-1f, 0x1.413334p-1f, 0x1.486666p-1f,
    0x1.4f999ap-1f, 0x1.56ccccp-1f, 0x1.5ep-1f, 0x1.653334p-1f, 0x1.6c6666p-1f, 0x1.73999ap-1f, 0x1.7accccp-1f,
    0x1.82p-1f, 0x1.893334p-1f, 0x1.906666p-1f, 0x1.97999ap-1f, 0x1.9eccccp-1f, 0x1.a6p-1f, 0x1.ad3334p-1f,
    0x1.b46666p-1f, 0x1.bb999ap-1f, 0x1.c2ccccp-1f, 0x1.cap-1f, 0x1.d13334p-1f, 0x1.d86666p-1f, 0x1.df999ap-1f,
    0x1.e6ccccp-1f, 0x1.eep-1f, 0x1.f53334p-1f, 0x1.fc6666p-1f, 0x1p0f,
};
static const float udynamic4[16] = {
    0, 0x1.a9fbe8p-9f, 0x1.fbe76cp-8f, 0x1.5c28f6p-6f, 0x1.666666p-5f, 0x1.0f5c28p-4f, 0x1.6b851ep-4f, 0x1.4p-3f,
    0x1.133334p-2f, 0x1.866666p-2f, 0x1.f9999ap-2f, 0x1.366666p-1f, 0x1.7p-1f, 0x1.a9999ap-1f, 0x1.e33334p-1f, 0x1p0f,
};
static const float udynamic5[32] = {
    0, 0x1.54c986p-12f, 0x1.9652bep-11f, 0x1.16872cp-9f, 0x1.1eb852p-8f, 0x1.b22d0ep-8f, 0x1.22d0e6p-7f, 0x1p-6f,
    0x1.b851ecp-6f, 0x1.3851ecp-5f, 0x1.947ae2p-5f, 0x1.f0a3d8p-5f, 0x1.266666p-4f, 0x1.547ae2p-4f, 0x1.828f5cp-4f,
    0x1.066666p-3f, 0x1.79999ap-3f, 0x1.ecccccp-3f, 0x1.3p-2f, 0x1.69999ap-2f, 0x1.a33334p-2f, 0x1.dcccccp-2f,
    0x1.0b3334p-1f, 0x1.28p-1f, 0x1.44ccccp-1f, 0x1.61999ap-1f, 0x1.7e6666p-1f, 0x1.9b3334p-1f, 0x1.b8p-1f,
    0x1.d4ccccp-1f, 0x1.f1999ap-1f, 0x1p0f,
};
static const float udynamic6[64] = {
    0, 0x1.10a138p-15f, 0x1.450efep-14f, 0x1.bda512p-13f, 0x1.cac084p-12f, 0x1.5b573ep-11f, 0x1.d14e3cp-11f,
    0x1.99999ap-10f, 0x1.60418ap-9f, 0x1.f3b646p-9f, 0x1.439582p-8f, 0x1.8d4fep-8f, 0x1.d70a3ep-8f, 0x1.10624ep-7f,
    0x1.353f7cp-7f, 0x1.a3d70ap-7f, 0x1.2e147ap-6f, 0x1.8a3d7p-6f, 0x1.e66666p-6f, 0x1.2147aep-5f, 0x1.4f5c28p-5f,
    0x1.7d70a4p-5f, 0x1.ab851ep-5f, 0x1.d9999ap-5f, 0x1.03d70ap-4f, 0x1.1ae148p-4f, 0x1.31eb86p-4f, 0x1.48f5c2p-4f,
    0x1.6p-4f, 0x1.770a3ep-4f, 0x1.8e147ap-4f, 0x1.d33334p-4f, 0x1.233334p-3f, 0x1.5cccccp-3f, 0x1.966666p-3f,
    0x1.dp-3f, 0x1.04ccccp-2f, 0x1.21999ap-2f, 0x1.3e6666p-2f, 0x1.5b3334p-2f, 0x1.78p-2f, 0x1.94ccccp-2f,
    0x1.b1999ap-2f, 0x1.ce6666p-2f, 0x1.eb3334p-2f, 0x1.04p-1f, 0x1.126666p-1f, 0x1.20ccccp-1f, 0x1.2f3334p-1f,
    0x1.3d999ap-1f, 0x1.4cp-1f, 0x1.5a6666p-1f, 0x1.68ccccp-1f, 0x1.773334p-1f, 0x1.85999ap-1f, 0x1.94p-1f,
    0x1.a26666p-1f, 0x1.b0ccccp-1f, 0x1.bf3334p-1f, 0x1.cd999ap-1f, 0x1.dcp-1f, 0x1.ea6666p-1f, 0x1.f8ccccp-1f, 0x1p0f,
};
static const float udynamic7[128] = {
    0, 0x1.b43526p-19f, 0x1.040bfep-17f, 0x1.64840ep-16f, 0x1.6f0068p-15f, 0x1.15df66p-14f, 0x1.743e96p-14f,
    0x1.47ae14p-13f, 0x1.19ce08p-12f, 0x1.8fc504p-12f, 0x1.02dep-11f, 0x1.3dd98p-11f, 0x1.78d4fep-11f, 0x1.b3d07cp-11f,
    0x1.eecbfcp-11f, 0x1.4fdf3cp-10f, 0x1.e353f8p-10f, 0x1.3b645ap-9f, 0x1.851eb8p-9f, 0x1.ced916p-9f, 0x1.0c49bap-8f,
    0x1.3126eap-8f, 0x1.560418p-8f, 0x1.7ae148p-8f, 0x1.9fbe76p-8f, 0x1.c49ba6p-8f, 0x1.e978d4p-8f, 0x1.072b02p-7f,
    0x1.19999ap-7f, 0x1.2c0832p-7f, 0x1.3e76c8p-7f, 0x1.75c29p-7f, 0x1.d1eb86p-7f, 0x1.170a3ep-6f, 0x1.451eb8p-6f,
    0x1.733334p-6f, 0x1.a147aep-6f, 0x1.cf5c28p-6f, 0x1.fd70a4p-6f, 0x1.15c29p-5f, 0x1.2cccccp-5f, 0x1.43d70ap-5f,
    0x1.5ae148p-5f, 0x1.71eb86p-5f, 0x1.88f5c2p-5f, 0x1.ap-5f, 0x1.b70a3ep-5f, 0x1.ce147ap-5f, 0x1.e51eb8p-5f,
    0x1.fc28f6p-5f, 0x1.09999ap-4f, 0x1.151eb8p-4f, 0x1.20a3d8p-4f, 0x1.2c28f6p-4f, 0x1.37ae14p-4f, 0x1.433334p-4f,
    0x1.4eb852p-4f, 0x1.5a3d7p-4f, 0x1.65c29p-4f, 0x1.7147aep-4f, 0x1.7cccccp-4f, 0x1.8851ecp-4f, 0x1.93d70ap-4f,
    0x1.b66666p-4f, 0x1.fp-4f, 0x1.14ccccp-3f, 0x1.31999ap-3f, 0x1.4e6666p-3f, 0x1.6b3334p-3f, 0x1.88p-3f,
    0x1.a4ccccp-3f, 0x1.c1999ap-3f, 0x1.de6666p-3f, 0x1.fb3334p-3f, 0x1.0cp-2f, 0x1.1a6666p-2f, 0x1.28ccccp-2f,
    0x1.373334p-2f, 0x1.45999ap-2f, 0x1.54p-2f, 0x1.626666p-2f, 0x1.70ccccp-2f, 0x1.7f3334p-2f, 0x1.8d999ap-2f,
    0x1.9cp-2f, 0x1.aa6666p-2f, 0x1.b8ccccp-2f, 0x1.c73334p-2f, 0x1.d5999ap-2f, 0x1.e4p-2f, 0x1.f26666p-2f,
    0x1.006666p-1f, 0x1.07999ap-1f, 0x1.0eccccp-1f, 0x1.16p-1f, 0x1.1d3334p-1f, 0x1.246666p-1f, 0x1.2b999ap-1f,
    0x1.32ccccp-1f, 0x1.3ap-1f, 0x1.413334p-1f, 0x1.486666p-1f, 0x1.4f999ap-1f, 0x1.56ccccp-1f, 0x1.5ep-1f,
    0x1.653334p-1f, 0x1.6c6666p-1f, 0x1.73999ap-1f, 0x1.7accccp-1f, 0x1.82p-1f, 0x1.893334p-1f, 0x1.906666p-1f,
    0x1.97999ap-1f, 0x1.9eccccp-1f, 0x1.a6p-1f, 0x1.ad3334p-1f, 0x1.b46666p-1f, 0x1.bb999ap-1f, 0x1.c2ccccp-1f,
    0x1.cap-1f, 0x1.d13334p-1f, 0x1.d86666p-1f, 0x1.df999ap-1f, 0x1.e6ccccp-1f, 0x1.eep-1f, 0x1.f53334p-1f,
    0x1.fc6666p-1f, 0x1p0f,
};
static const float udynamic8[256] = {
    0, 0x1.5cf752p-22f, 0x1.a0133p-21f, 0x1.1d3672p-19f, 0x1.2599eep-18f, 0x1.bc98a2p-18f, 0x1.29cbacp-17f,
    0x1.0624dep-16f, 0x1.c2e33ep-16f, 0x1.3fd0dp-15f, 0x1.9e3002p-15f, 0x1.fc8f32p-15f, 0x1.2d7732p-14f,
    0x1.5ca6cap-14f, 0x1.8bd662p-14f, 0x1.0cb296p-13f, 0x1.82a994p-13f, 0x1.f8a09p-13f, 0x1.374bc6p-12f,
    0x1.724746p-12f, 0x1.ad42c4p-12f, 0x1.e83e42p-12f, 0x1.119cep-11f, 0x1.2f1aap-11f, 0x1.4c986p-11f, 0x1.6a161ep-11f,
    0x1.8793dep-11f, 0x1.a5119cp-11f, 0x1.c28f5cp-11f, 0x1.e00d1cp-11f, 0x1.fd8adap-11f, 0x1.2b020cp-10f,
    0x1.74bc6ap-10f, 0x1.be76c8p-10f, 0x1.041894p-9f, 0x1.28f5c2p-9f, 0x1.4dd2f2p-9f, 0x1.72b02p-9f, 0x1.978d5p-9f,
    0x1.bc6a7ep-9f, 0x1.e147aep-9f, 0x1.03126ep-8f, 0x1.158106p-8f, 0x1.27ef9ep-8f, 0x1.3a5e36p-8f, 0x1.4cccccp-8f,
    0x1.5f3b64p-8f, 0x1.71a9fcp-8f, 0x1.841894p-8f, 0x1.96872cp-8f, 0x1.a8f5c2p-8f, 0x1.bb645ap-8f, 0x1.cdd2f2p-8f,
    0x1.e0418ap-8f, 0x1.f2b02p-8f, 0x1.028f5cp-7f, 0x1.0bc6a8p-7f, 0x1.14fdf4p-7f, 0x1.1e354p-7f, 0x1.276c8cp-7f,
    0x1.30a3d8p-7f, 0x1.39db22p-7f, 0x1.43126ep-7f, 0x1.5eb852p-7f, 0x1.8cccccp-7f, 0x1.bae148p-7f, 0x1.e8f5c2p-7f,
    0x1.0b851ep-6f, 0x1.228f5cp-6f, 0x1.39999ap-6f, 0x1.50a3d8p-6f, 0x1.67ae14p-6f, 0x1.7eb852p-6f, 0x1.95c29p-6f,
    0x1.acccccp-6f, 0x1.c3d70ap-6f, 0x1.dae148p-6f, 0x1.f1eb86p-6f, 0x1.047ae2p-5f, 0x1.1p-5f, 0x1.1b851ep-5f,
    0x1.270a3ep-5f, 0x1.328f5cp-5f, 0x1.3e147ap-5f, 0x1.49999ap-5f, 0x1.551eb8p-5f, 0x1.60a3d8p-5f, 0x1.6c28f6p-5f,
    0x1.77ae14p-5f, 0x1.833334p-5f, 0x1.8eb852p-5f, 0x1.9a3d7p-5f, 0x1.a5c29p-5f, 0x1.b147aep-5f, 0x1.bcccccp-5f,
    0x1.c851ecp-5f, 0x1.d3d70ap-5f, 0x1.df5c28p-5f, 0x1.eae148p-5f, 0x1.f66666p-5f, 0x1.00f5c2p-4f, 0x1.06b852p-4f,
    0x1.0c7ae2p-4f, 0x1.123d7p-4f, 0x1.18p-4f, 0x1.1dc29p-4f, 0x1.23851ep-4f, 0x1.2947aep-4f, 0x1.2f0a3ep-4f,
    0x1.34ccccp-4f, 0x1.3a8f5cp-4f, 0x1.4051ecp-4f, 0x1.46147ap-4f, 0x1.4bd70ap-4f, 0x1.51999ap-4f, 0x1.575c28p-4f,
    0x1.5d1eb8p-4f, 0x1.62e148p-4f, 0x1.68a3d8p-4f, 0x1.6e6666p-4f, 0x1.7428f6p-4f, 0x1.79eb86p-4f, 0x1.7fae14p-4f,
    0x1.8570a4p-4f, 0x1.8b3334p-4f, 0x1.90f5c2p-4f, 0x1.96b852p-4f, 0x1.a8p-4f, 0x1.c4ccccp-4f, 0x1.e1999ap-4f,
    0x1.fe6666p-4f, 0x1.0d999ap-3f, 0x1.1cp-3f, 0x1.2a6666p-3f, 0x1.38ccccp-3f, 0x1.473334p-3f, 0x1.55999ap-3f,
    0x1.64p-3f, 0x1.726666p-3f, 0x1.80ccccp-3f, 0x1.8f3334p-3f, 0x1.9d999ap-3f, 0x1.acp-3f, 0x1.ba6666p-3f,
    0x1.c8ccccp-3f, 0x1.d73334p-3f, 0x1.e5999ap-3f, 0x1.f4p-3f, 0x1.013334p-2f, 0x1.086666p-2f, 0x1.0f999ap-2f,
    0x1.16ccccp-2f, 0x1.1ep-2f, 0x1.253334p-2f, 0x1.2c6666p-2f, 0x1.33999ap-2f, 0x1.3accccp-2f, 0x1.42p-2f,
    0x1.493334p-2f, 0x1.506666p-2f, 0x1.57999ap-2f, 0x1.5eccccp-2f, 0x1.66p-2f, 0x1.6d3334p-2f, 0x1.746666p-2f,
    0x1.7b999ap-2f, 0x1.82ccccp-2f, 0x1.8ap-2f, 0x1.913334p-2f, 0x1.986666p-2f, 0x1.9f999ap-2f, 0x1.a6ccccp-2f,
    0x1.aep-2f, 0x1.b53334p-2f, 0x1.bc6666p-2f, 0x1.c3999ap-2f, 0x1.caccccp-2f, 0x1.d2p-2f, 0x1.d93334p-2f,
    0x1.e06666p-2f, 0x1.e7999ap-2f, 0x1.eeccccp-2f, 0x1.f6p-2f, 0x1.fd3334p-2f, 0x1.023334p-1f, 0x1.05ccccp-1f,
    0x1.096666p-1f, 0x1.0dp-1f, 0x1.10999ap-1f, 0x1.143334p-1f, 0x1.17ccccp-1f, 0x1.1b6666p-1f, 0x1.1fp-1f,
    0x1.22999ap-1f, 0x1.263334p-1f, 0x1.29ccccp-1f, 0x1.2d6666p-1f, 0x1.31p-1f, 0x1.34999ap-1f, 0x1.383334p-1f,
    0x1.3bccccp-1f, 0x1.3f6666p-1f, 0x1.43p-1f, 0x1.46999ap-1f, 0x1.4a3334p-1f, 0x1.4dccccp-1f, 0x1.516666p-1f,
    0x1.55p-1f, 0x1.58999ap-1f, 0x1.5c3334p-1f, 0x1.5fccccp-1f, 0x1.636666p-1f, 0x1.67p-1f, 0x1.6a999ap-1f,
    0x1.6e3334p-1f, 0x1.71ccccp-1f, 0x1.756666p-1f, 0x1.79p-1f, 0x1.7c999ap-1f, 0x1.803334p-1f, 0x1.83ccccp-1f,
    0x1.876666p-1f, 0x1.8bp-1f, 0x1.8e999ap-1f, 0x1.923334p-1f, 0x1.95ccccp-1f, 0x1.996666p-1f, 0x1.9dp-1f,
    0x1.a0999ap-1f, 0x1.a43334p-1f, 0x1.a7ccccp-1f, 0x1.ab6666p-1f, 0x1.afp-1f, 0x1.b2999ap-1f, 0x1.b63334p-1f,
    0x1.b9ccccp-1f, 0x1.bd6666p-1f, 0x1.c1p-1f, 0x1.c4999ap-1f, 0x1.c83334p-1f, 0x1.cbccccp-1f, 0x1.cf6666p-1f,
    0x1.d3p-1f, 0x1.d6999ap-1f, 0x1.da3334p-1f, 0x1.ddccccp-1f, 0x1.e16666p-1f, 0x1.e5p-1f, 0x1.e8999ap-1f,
    0x1.ec3334p-1f, 0x1.efccccp-1f, 0x1.f36666p-1f, 0x1.f7p-1f, 0x1.fa999ap-1f, 0x1.fe3334p-1f, 0x1p0f,
};
/* clang-format on */

#define TABLES(name) {name##4, name##5, name##6, name##7, name##8}

/* The built-in table of a name and a width; NULL if there is none. */
static const float *built_in(uint32_t name, uint32_t bits)
{
    static const float *const tables[2][5] = {TABLES(dynamic), TABLES(udynamic)};
    if (name == FPEMU_CODEBOOK_NF4)
        return bits == 4 ? nf4 : NULL;
    if ((name != FPEMU_CODEBOOK_DYNAMIC && name != FPEMU_CODEBOOK_UDYNAMIC) || bits < 4 || bits > 8)
        return NULL;
    return tables[name == FPEMU_CODEBOOK_UDYNAMIC][bits - 4];
}

const float *fpemu_table_values(const fpemu_format *format)
{
    return format->codebook == FPEMU_CODEBOOK_CUSTOM ? format->table : built_in(format->codebook, format->bits);
}

int fpemu_same_table(const fpemu_format *a, const fpemu_format *b)
{
    if (a->codebook != b->codebook || a->codebook_length != b->codebook_length)
        return 0;
    if (a->codebook_length == 0 || a->codebook != FPEMU_CODEBOOK_CUSTOM || a->table == b->table)
        return 1;
    /* bits decide, since no table holds a NaN or -0 */
    return memcmp(a->table, b->table, a->codebook_length * sizeof(float)) == 0;
}

/* The order of numbers as an order of integers, which no flush of subnormals disturbs. */
static int64_t order(float x)
{
    const uint32_t u = core_bits32(x);
    return u >> 31 ? -(int64_t)(u & 0x7fffffffu) : (int64_t)u;
}

/* A finite number of binary32 as binary64. */
static double widen(float x)
{
    const uint32_t u = core_bits32(x), field = u >> 23 & 0xff, fraction = u & 0x7fffff;
    const double a = fpemu_exact(field ? fraction | 0x800000 : fraction, (int)(field ? field : 1) - 150);
    return u >> 31 ? core_value64(core_bits64(a) | UINT64_C(1) << 63) : a;
}

double fpemu_table_value(const fpemu_format *format, uint64_t i)
{
    const float *const values = fpemu_table_values(format);
    return values && i < format->codebook_length ? widen(values[i]) : core_value64(UINT64_C(0x7ff8) << 48);
}

/* Finite, ascending, without -0. */
static int is_sorted(const float *values, uint32_t length)
{
    core_reach e;
    if (!core_reach_array(&e, values, length, sizeof *values))
        return 0;
    for (uint32_t i = 0; i < length; i++)
        if ((core_bits32(values[i]) & 0x7fffffff) >= 0x7f800000 || core_bits32(values[i]) == 0x80000000 ||
            (i > 0 && order(values[i]) <= order(values[i - 1])))
            return 0;
    return 1;
}

int fpemu_derive_codebook(fpemu_format *f, fpemu_problem *problem)
{
    if (f->symmetric || f->wrap)
        return refuse(problem, FPEMU_PARAMETER_SYMMETRIC | FPEMU_PARAMETER_WRAP, "no wrap, no symmetric on a codebook");
    if (f->codebook > FPEMU_CODEBOOK_UDYNAMIC)
        return refuse(problem, FPEMU_PARAMETER_TABLE, "a known table");
    if (f->codebook == FPEMU_CODEBOOK_CUSTOM) {
        if (f->codebook_length < 2 || f->codebook_length > 65536)
            return refuse(problem, FPEMU_PARAMETER_TABLE, "a table of 2 to 65536 values");
        f->bits = 1 + (uint32_t)core_log2_32(f->codebook_length - 1);
    } else {
        if (!built_in(f->codebook, f->bits))
            return refuse(problem, FPEMU_PARAMETER_TABLE | FPEMU_PARAMETER_BITS, "nf4, or dynamic of 4 to 8 bits");
        f->codebook_length = UINT32_C(1) << f->bits;
    }
    const float *const values = fpemu_table_values(f);
    const uint32_t n = f->codebook_length;
    if (!values || !is_sorted(values, n))
        return refuse(problem, FPEMU_PARAMETER_TABLE, "a table of ascending finite values");
    uint32_t zero = 0; /* how many are not above zero */
    while (zero < n && order(values[zero]) <= 0)
        zero++;
    f->is_signed = order(values[0]) < 0;
    f->has_zero = zero > 0 && order(values[zero - 1]) == 0;
    f->max = widen(values[n - 1]);
    f->lowest = widen(values[0]);
    f->min_positive = zero < n ? widen(values[zero]) : 0;
    f->min_normal = f->min_positive;
    f->max_code = n - 1;
    f->fits_f32 = 1;
    f->fits_f64 = 1;
    return 1;
}
