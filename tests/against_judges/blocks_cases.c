/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks_cases.c - cases for the tests of blocks, and the library against the judge on them. */
#include "blocks_cases.h"
#include "../judges/longhand.h"
#include "compare.h"
#include "expected.h"

static const char *const specs[] = LIST(
    "mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e2m3", "mxfp6_e3m2", "mxfp4", "mxint8", "nvfp4", "msfp12", "msfp16", "nf4",
    "q8_0", "mx(e2m1,block=4)", "mx(e2m1,block=4,rule=ceil)", "mx(e2m1,block=4,rule=even)",
    "mx(e2m1,block=4,rule=rceil)", "mx(e4m3fn,block=5,rule=ceil)", "mx(e4m3fn,block=5,rule=even)",
    "mx(e4m3fn,block=5,rule=rceil)", "mx(e5m2,block=3,rule=even)", "mx(e5m2,block=3,rule=rceil)", "mx(e3m2,block=1)",
    "mx(e2m3,block=2x3)", "mx(e4m3fn,block=8,scale=e4m3fn)", "mx(e2m1,block=8,scale=e5m2,rule=rceil)",
    "mx(e2m1,block=8,scale=fp32)", "mx(e2m1,block=8,scale=e3m2,rule=ceil)", "mx(e4m3fnuz,block=8)",
    "mx(fixed(6,2),block=8,rule=even)", "mx(int8,block=8)", "mx(uint4,block=8)", "mx(p3109(8,4,se),block=8,rule=rceil)",
    "mx(posit(8,1),block=8)", "mx(fp16,block=row)", "mx(e4m3fn:nosub,block=channel)", "mx(e2m1,block=tensor)",
    "mx(bf16,block=8,rule=even)", "mx(e2m1:nan=zero,block=8,scale=e2m1)", "mx(ufixed(5,3),block=4,rule=rceil)",
    "mx(ue4m3,block=4)", "mx(e4m3fn,block=tensor,scale=ue4m3)", "bfp(8)", "bfp(m=3,block=4,exponent=5,rule=ceil)",
    "bfp(m=7,block=row,rule=even)", "bfp(m=5,block=4,rule=rceil)", "bfp(m=4,block=2x2,exponent=12,rule=hbfp)",
    "bfp(m=4,block=channel,exponent=3)", "hbfp(8)", "hbfp(m=4,block=3x2)", "hbfp(m=11,block=row,exponent=4)",
    "bm(2,5,block=8)", "bm(4,3)", "bm(3,4,block=tensor)", "nvfp4(block=4)", "nvfp4(block=4,rule=nvfp4-ao)",
    "nvfp4(block=2x2)", "nvfp4(block=3x5,rule=nvfp4-ao)", "nvfp4(e2m3,block=6,scale=e5m2)",
    "nvfp4(e4m3fn,block=6,scale=fp16,rule=nvfp4-ao)", "nvfp4(int4,block=4)", "nvfp4(e2m1,block=4,scale=e3m2)",
    "nvfp4(e2m1,block=4,scale=e3m2,rule=nvfp4-ao)", "nvfp4(block=4,rule=4over6)", "mx(e2m1,block=4,search=-1..1)",
    "mx(int4,block=3x5,rule=rceil,search=3..1/2,error=weighted)",
    "mx(e4m3fn,block=4,scale=e4m3fn,search=-2..2,error=absolute)", "bfp(3,block=7,search=2..1/2,error=weighted)",
    "group(int4,8,search=20..13/20)", "group(uint4,4,scale=fp16,rule=reciprocal,search=-3..3)",
    "group(int(5),block=64x2,scale=e5m2,rule=reciprocal,search=8..16/8,error=absolute)",
    "mx(e2m1,block=4,rule=even,correct=12)", "mx(e2m1,block=2x3,rule=rceil,target=7.25,correct=6)",
    "mx(e4m3fn,block=5,correct=320)", "block(int4,block=3,scale=e8m0,rule=ceil,correct=6)",
    "mx(e5m2,block=1x2,correct=4)", "group(int2,block=4,rule=absmean)", "group(int2,tensor,rule=absmean)",
    "group(int4,block=3x5,scale=bf16,rule=absmean,target=2.6457513)", "group(e2m1,block=7,scale=e3m2,rule=absmean)",
    "codebook(nf4,16,scale=e8m0,search=1..-1)", "block(posit(6,1),block=5,scale=fp32,rule=absmax,search=9..11/10)",
    "nvfp4(block=4,search=-4..4)", "nvfp4(block=3x5,scale=ue5m3,rule=nvfp4-ao,search=255..-255,error=weighted)",
    "nvfp4(e3m2,block=5,rule=nvfp4-clamp,outer=row,search=6..4/4)",
    "block(e2m3,block=9,exponent=4,rule=hbfp,search=2..-2)", "nvfp4(block=4,rule=4over6-mse,bound=256)",
    "nvfp4(block=3x5,rule=4over6)", "nvfp4(block=64x2,rule=4over6-mse,target=5.5)", "nvfp4(block=16,rule=4over6)",
    "nvfp4(block=4,outer=row)", "nvfp4(block=4,rule=nvfp4-ao,outer=row)", "nvfp4(block=5,rule=4over6-mse,outer=row)",
    "nvfp4(int4,block=16,scale=ue5m3,rule=nvfp4-clamp,outer=row)", "nvfp4(e2m1,block=4,scale=e3m2,rule=4over6)",
    "nvfp4(block=4,margin=17/16,bound=255.99)", "nvfp4(block=2x2,rule=nvfp4-ao,target=7)",
    "nvfp4(block=4,rule=nvfp4-clamp)", "nvfp4(block=4,rule=eden,clip=0.988125,bound=255.99)",
    "nvfp4(int4,block=5,scale=ue5m3,rule=eden,outer=row,correct=10)",
    "nvfp4(e3m2,block=1,scale=fp16,rule=eden,correct=64)", "nvfp4(int4,block=4,rule=nvfp4-clamp,clip=0.9)", "amdfp4",
    "nvfp4(block=4,scale=ue5m3)", "mx(e2m1,block=4,rule=rceil,target=7.25)", "mx(e2m1,block=4,clip=0.75)",
    "mx(e4m3fn,block=4,scale=e5m2,rule=even,margin=17/16)", "bfp(m=3,block=4,rule=ceil,target=0.6)",
    "hbfp(4,margin=5/4)", "bm(4,3,block=3,target=100)", "group(int4,block=8,clip=0.8)",
    "group(int8,block=8,rule=reciprocal,margin=9/8)", "codebook(nf4,block=3,clip=0.9)",
    "scaled(e4m3fn,block=4,margin=17/16)", "scaled(e5m2,block=4,rule=recipe-pow2,target=4000)", "group(int2,block=4)",
    "group(int3,block=4)", "group(int4,block=8,scale=e4m3fn)", "group(int5,block=8,scale=fp16)",
    "group(int8,block=8,scale=bf16)", "group(int10,block=8)", "group(int12,block=row)", "group(int16,block=7)",
    "group(e4m3fn,block=8)", "group(e2m1,block=8,scale=e8m0)", "group(int4,block=8,scale=e2m1)",
    "group(e3m2,block=tensor)", "group(fixed(8,8),block=channel)", "group(e5m2,block=8,scale=e5m2)",
    "codebook(dynamic8,block=8)", "codebook(udynamic8,block=8)", "codebook(dynamic4,block=5)",
    "codebook(udynamic5,block=5,scale=e4m3fn)", "codebook(nf4,block=2x4,scale=e5m2)",
    "codebook(nf4,block=3,scale=e3m2)", "codebook(dynamic6,block=tensor)", "codebook(dynamic7,block=4,scale=fp16)",
    "scaled(e4m3fn)", "scaled(e5m2,block=row,margin=3)", "scaled(e4m3fn,block=channel,rule=recipe-pow2)",
    "scaled(e5m2,block=4,rule=recipe-pow2,margin=64)", "scaled(e2m1,block=2x2)", "scaled(int8,block=6)", "muppet(8)",
    "muppet(4,block=row)", "muppet(16,block=4)", "muppet(8,block=3,exponent=4)", "muppet(2,block=channel)", "hif8",
    "mx9", "mx6", "mx4", "hif4", "block(e2m1,5,scale=e8m0,rule=pairs)", "block(fixed(8,6),3,exponent=4,rule=pairs)",
    "block(int8,32,exponent=8,rule=pairs,target=100)", "q4_0", "q4_1", "q4_k", "q5_k", "q6_k",
    "block(uint(3),32,scale=bf16,rule=ggml-1k)", "block(int(5),16,scale=e5m2,rule=ggml-0k)",
    "group(uint(5),block=3x5,scale=e5m2,rule=ggml-1)", "group(int8,block=row,rule=asymmetric)",
    "group(uint4,block=tensor,rule=asymmetric)", "group(int8,block=channel,scale=bf16,rule=asymmetric)",
    "group(uint4,block=5,rule=minmax)", "group(uint4,block=5)", "group(uint8,block=row,scale=e5m2,rule=reciprocal)",
    "group(int(5),block=5,scale=e4m3fn,rule=minmax)", "group(uint4,block=8,rule=tinygemm)",
    "group(int8,block=2x3,scale=e5m2,rule=tinygemm)", "group(uint4,block=8,rule=hqq)",
    "group(int(3),block=4,scale=bf16,rule=hqq)", "group(int4:symmetric,block=4,scale=fp32,rule=ggml-0)",
    "group(int4,block=4,scale=float(5,10,15,finite),rule=ggml-0)", "group(hif8,block=4)", "mx(hif8,block=4)",
    "table(dynamic8)", "table(nf4)", "e4m3fn", "e2m1", "int8:wrap", "fixed(12,4)", "posit(8,2)", "fp16");

/* What the grammar does not say. */
static const struct made {
    const char *element, *scale;
    unsigned scaling, exponent_bits, block, rows, length;
} made[] = {
    {"e5m2", NULL, FPEMU_SCALING_RCEIL, 12, FPEMU_BLOCK_RUN, 0, 3},
    {"e2m1", NULL, FPEMU_SCALING_CEIL, 2, FPEMU_BLOCK_RUN, 0, 3},
    {"e4m3fn", "e8m0", FPEMU_SCALING_HBFP, 0, FPEMU_BLOCK_RUN, 0, 4},
    {"e4m3fn", "e5m2", FPEMU_SCALING_HBFP, 0, FPEMU_BLOCK_TENSOR, 0, 0},
    {"fixed(5,2)", NULL, FPEMU_SCALING_MUPPET, 10, FPEMU_BLOCK_RUN, 0, 4},
    {"uint8", NULL, FPEMU_SCALING_MUPPET, 10, FPEMU_BLOCK_RUN, 0, 4},
    {"int4:symmetric", NULL, FPEMU_SCALING_MUPPET, 6, FPEMU_BLOCK_TILE, 2, 2},
    {"int(8,scale=0.25)", NULL, FPEMU_SCALING_MUPPET, 8, FPEMU_BLOCK_TENSOR, 0, 0},
    {"int(8,scale=0.1,zero=3)", "e8m0", FPEMU_SCALING_FLOOR, 0, FPEMU_BLOCK_RUN, 0, 4},
    {"int(6,scale=3)", "fp32", FPEMU_SCALING_ABSMAX, 0, FPEMU_BLOCK_RUN, 0, 4},
    {"fp(4,3,4)", "e8m0", FPEMU_SCALING_FLOOR, 0, FPEMU_BLOCK_RUN, 0, 4},
    {"dlfloat16", "e8m0", FPEMU_SCALING_RCEIL, 0, FPEMU_BLOCK_RUN, 0, 4},
    {"e4m3fn", "tf32", FPEMU_SCALING_ABSMAX, 0, FPEMU_BLOCK_RUN, 0, 4},
    {"e4m3fn", "p3109(8,3,uf)", FPEMU_SCALING_ABSMAX, 0, FPEMU_BLOCK_RUN, 0, 4},
    {"e4m3fn", "fp16", FPEMU_SCALING_RECIPROCAL, 0, FPEMU_BLOCK_RUN, 0, 4},
    {"int8:symmetric", "e5m2", FPEMU_SCALING_RECIPROCAL, 0, FPEMU_BLOCK_TILE, 2, 3},
    {"int(6,scale=3)", "fp32", FPEMU_SCALING_RECIPROCAL, 0, FPEMU_BLOCK_ROW, 0, 0},
    {"table(nf4)", "e8m0", FPEMU_SCALING_FLOOR, 0, FPEMU_BLOCK_RUN, 0, 4},
    {"table(dynamic8)", NULL, FPEMU_SCALING_CEIL, 12, FPEMU_BLOCK_RUN, 0, 4},
    {"fp32", "e8m0", FPEMU_SCALING_ABSMAX, 0, FPEMU_BLOCK_RUN, 0, 4}, /* quotients pass the carrier's end */
    {"bf16", "e8m0", FPEMU_SCALING_ABSMAX, 0, FPEMU_BLOCK_RUN, 0, 4},
    {"e8m0", "e8m0", FPEMU_SCALING_FLOOR, 0, FPEMU_BLOCK_RUN, 0, 4}, /* no zero: the slightest negative is NaN */
    {"e8m0", NULL, FPEMU_SCALING_CEIL, 12, FPEMU_BLOCK_RUN, 0, 16},
};

/* A caller's table: without zero, gaps of every size, ends far apart. */
static const float own_table[] = {-0x1.fffffep127f, -7.5f, -0x1p-149f, 0x1p-149f, 0x1.8p-149f, 1.0f,
                                  0x1.000002p0f,    3.0f,  0x1.4p100f};

/* One whose middle is zero, so that the sign of the slightest number decides. */
static const float odd_table[] = {-3, -1, 1, 3};

/* Every rule but s2fp8, of which the judge knows no logarithms, with every kind of scale and of element: number k of
 * the combinations that the library takes. */
static int combination(size_t k, fpemu_format *f, char *text)
{
    static const char *const elements[] = {"e2m1", "e4m3fn", "int8", "ufixed(6,3)", "posit(8,1)", "table(nf4)"};
    static const char *const scales[] = {NULL, "e8m0", "e4m3fn", "ue4m3", "e5m2", "bf16", "fp32"};
    fpemu_format element, scale;
    for (unsigned rule = FPEMU_SCALING_NONE + 1; rule < FPEMU_SCALING_COUNT; rule++)
        for (size_t e = 0; rule != FPEMU_SCALING_S2FP8 && e < sizeof elements / sizeof *elements; e++)
            for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
                lh_check(!fpemu_format_parse(elements[e], &element, NULL) &&
                             (!scales[s] || !fpemu_format_parse(scales[s], &scale, NULL)),
                         "%s or %s cannot be read", elements[e], scales[s] ? scales[s] : "2^c");
                if (rule != FPEMU_SCALING_S2FP8 &&
                    !fpemu_format_blocked(f, &element, (fpemu_scaling)rule, scales[s] ? &scale : NULL,
                                          scales[s] ? 0 : 8, FPEMU_BLOCK_RUN, 0, 4) &&
                    k-- == 0) {
                    (void)snprintf(text, 200, "(%s, %s, rule %u)", elements[e], scales[s] ? scales[s] : "2^c", rule);
                    return 1;
                }
            }
    return 0;
}

int case_format(size_t i, fpemu_format *f, char *text)
{
    const size_t named = sizeof specs / sizeof *specs, all = named + sizeof made / sizeof *made;
    fpemu_parse_error error;
    memset(f, 0, sizeof *f);
    if (i < named) {
        (void)snprintf(text, 200, "%s", specs[i]);
        memset(&error, 0, sizeof error);
        lh_check(fpemu_format_parse(specs[i], f, &error) == FPEMU_OK, "%s cannot be read: %s", specs[i], error.message);
        return 1;
    }
    if (i < all) {
        const struct made *m = &made[i - named];
        fpemu_format element, scale;
        (void)snprintf(text, 200, "(%s, %s, rule %u, exponent %u, block %u %ux%u)", m->element,
                       m->scale ? m->scale : "2^c", m->scaling, m->exponent_bits, m->block, m->rows, m->length);
        lh_check(!fpemu_format_parse(m->element, &element, NULL) &&
                     (!m->scale || !fpemu_format_parse(m->scale, &scale, NULL)) &&
                     !fpemu_format_blocked(f, &element, (fpemu_scaling)m->scaling, m->scale ? &scale : NULL,
                                           m->exponent_bits, (fpemu_block)m->block, m->rows, m->length),
                 "%s cannot be made", text);
        return 1;
    }
    if (i == all || i == all + 1) {
        fpemu_format table;
        const unsigned length = i == all ? 16 : 4;
        (void)snprintf(text, 200, "(a table without zero, 2^c, floor, run %u)", length);
        lh_check(!fpemu_format_table(&table, sizeof odd_table / sizeof *odd_table, odd_table) &&
                     !fpemu_format_blocked(f, &table, FPEMU_SCALING_FLOOR, NULL, 8, FPEMU_BLOCK_RUN, 0, length),
                 "%s cannot be made", text);
        return 1;
    }
    if (i == all + 2) {
        fpemu_format table, scale;
        (void)snprintf(text, 200, "(a table of its own, fp32, absmax, run 4)");
        lh_check(!fpemu_format_table(&table, sizeof own_table / sizeof *own_table, own_table) &&
                     !fpemu_format_parse("fp32", &scale, NULL) &&
                     !fpemu_format_blocked(f, &table, FPEMU_SCALING_ABSMAX, &scale, 0, FPEMU_BLOCK_RUN, 0, 4),
                 "%s cannot be made", text);
        return 1;
    }
    return combination(i - all - 3, f, text);
}

void case_named(block_case *c, const char *spec)
{
    (void)snprintf(c->spec, sizeof c->spec, "%s", spec);
    c->f = lh_parsed(c->spec);
}

void *case_room(uint64_t bytes)
{
    void *p = malloc(bytes + 16);
    if (!p)
        abort();
    memset(p, 0xa5, bytes + 16);
    return p;
}

static uint64_t below(uint64_t *state, uint64_t n)
{
    return lh_next(state) % n;
}

/* ------------------------------------------------------------------------------------------------------- ranges */

int case_is_nvfp4(const fpemu_format *f)
{
    return f->scaling == FPEMU_SCALING_NVFP4 || f->scaling == FPEMU_SCALING_NVFP4_AO ||
           (f->scaling >= FPEMU_SCALING_4OVER6 && f->scaling <= FPEMU_SCALING_NVFP4_CLAMP) ||
           f->scaling == FPEMU_SCALING_EDEN;
}

int case_range(const block_case *c, fpemu_range *whole)
{
    const int of_tensor = case_is_nvfp4(&c->f), most = c->carrier == 32 ? 127 : 1023;
    uint64_t state = c->seed + 17;
    const uint64_t kind = (lh_next(&state), below(&state, 5)), sign = below(&state, 4);
    memset(whole, 0, sizeof *whole);
    if (!c->f.scaling || c->f.scaling == FPEMU_SCALING_S2FP8 || (c->f.block != FPEMU_BLOCK_TENSOR && !of_tensor))
        return 0;
    whole->nonfinite = below(&state, 4) == 0;
    whole->count = whole->nonfinite;
    if (kind == 0)
        return 1;
    whole->nonzero = 1 + (sign > 1);
    whole->count += whole->nonzero;
    const int exponent = kind == 1 ? (below(&state, 2) ? most : -most) : (int)below(&state, 277) - 149;
    whole->amax = ldexp(1 + (double)below(&state, 64) / 64, exponent);
    double least = sign > 1 ? whole->amax / (double)(1 + below(&state, 5)) : 0;
    whole->max = sign % 2 ? whole->amax : least;
    whole->min = whole->max < whole->amax ? -whole->amax : 0 - least;
    if (c->f.scaling == FPEMU_SCALING_ABSMEAN) { /* any sum */
        whole->log2_low = lh_next(&state);
        whole->log2_high = (int64_t)(lh_next(&state) >> below(&state, 64));
    }
    return 1;
}

/* ------------------------------------------------------------------------------------------------------- shapes */

fpemu_shape case_shape(uint64_t *state)
{
    fpemu_shape s, want = {0};
    uint64_t size[4];
    size_t dimensions = 1 + below(state, 4), k, axis = below(state, dimensions);
    uint64_t most = dimensions == 1 ? 90 : dimensions == 2 ? 14 : dimensions == 3 ? 8 : 5;
    int given = (int)axis - (below(state, 2) ? (int)dimensions : 0);

    memset(&s, 0xff, sizeof s);
    want.outer = want.rows = want.inner = 1;
    for (k = 0; k < dimensions; k++) {
        size[k] = below(state, 24) == 0 ? 0 : 1 + below(state, most);
        if (k < axis)
            want.outer *= size[k];
        else if (k > axis)
            want.inner *= size[k];
    }
    want.length = size[axis];
    lh_check(fpemu_shape_of(dimensions, size, given, &s) == FPEMU_OK, "fpemu_shape_of refuses axis %d of %zu", given,
             dimensions);
    /* rows, which tiles need: the axis before; whether it is in `outer` or in `rows` is the library's choice */
    lh_check(s.outer * s.rows == want.outer && s.length == want.length && s.inner == want.inner && !s.whole &&
                 (s.rows == 1 || (axis > 0 && s.rows == size[axis - 1])),
             "fpemu_shape_of, axis %d of %zu: %" PRIu64 " x %" PRIu64 " x %" PRIu64 " x %" PRIu64, given, dimensions,
             s.outer, s.rows, s.length, s.inner);
    for (k = 0; k < 4; k++)
        lh_check(s.x_stride[k] == 0 && s.y_stride[k] == 0, "fpemu_shape_of sets a stride");
    return s;
}

/* Where element `index` lies, given strides, with the lowest address at 0. */
typedef struct placing {
    int64_t stride[4];
    uint64_t base, size;
    int contiguous;
} placing;

static uint64_t place(const fpemu_shape *s, const placing *p, uint64_t index)
{
    uint64_t i = index % s->inner, l = index / s->inner % s->length, r = index / s->inner / s->length % s->rows,
             o = index / s->inner / s->length / s->rows;
    return (uint64_t)((int64_t)p->base + (int64_t)o * p->stride[0] + (int64_t)r * p->stride[1] +
                      (int64_t)l * p->stride[2] + (int64_t)i * p->stride[3]);
}

/* Contiguous, or any order of the axes with gaps and directions. */
static placing choose_strides(const fpemu_shape *s, uint64_t n, int plain, uint64_t *state)
{
    uint64_t extent[4] = {s->outer, s->rows, s->length, s->inner}, span = 1;
    unsigned order[4] = {0, 1, 2, 3}, k;
    placing p = {.size = n};
    if (n == 0 || plain || below(state, 3) == 0) {
        p.contiguous = 1;
        p.stride[3] = 1;
        p.stride[2] = (int64_t)s->inner;
        p.stride[1] = (int64_t)(s->inner * s->length);
        p.stride[0] = (int64_t)(s->inner * s->length * s->rows);
        return p;
    }
    for (k = 3; k > 0; k--) {
        unsigned other = (unsigned)below(state, k + 1), swap = order[k];
        order[k] = order[other];
        order[other] = swap;
    }
    for (k = 0; k < 4; k++) {
        unsigned a = order[k];
        uint64_t stride = span + (below(state, 2) ? below(state, 3) : 0);
        int backwards = below(state, 4) == 0;
        p.stride[a] = backwards ? -(int64_t)stride : (int64_t)stride;
        if (backwards)
            p.base += stride * (extent[a] - 1);
        span = stride * (extent[a] - 1) + span;
    }
    p.size = span;
    return p;
}

/* ------------------------------------------------------------------------------------------------------- values */

static double random_scale(const block_case *c, uint64_t *state)
{
    const fpemu_format *f = &c->f;
    int top = c->carrier == 32 ? 127 : 1023, bottom = c->carrier == 32 ? -149 : -1074, k;
    double m = (f->scaling >= FPEMU_SCALING_ABSMAX && f->scaling <= FPEMU_SCALING_RECIPE) ||
                       f->scaling >= FPEMU_SCALING_RECIPROCAL
                   ? 1 + (double)(lh_next(state) >> 11) * 0x1p-53
                   : 1;
    int low = f->scale_power ? -(1 << (f->scale_exponent_bits - 1)) : 1 - f->scale_bias - f->scale_mantissa_bits;
    int high = f->scale_power ? -low - 1 : (1 << f->scale_exponent_bits) - 1 - f->scale_bias;
    switch (below(state, 8)) {
    case 0: k = top - (int)below(state, 12); break;
    case 1: k = bottom + (int)below(state, 40); break;
    case 2: k = low - 3 + (int)below(state, 8); break;
    case 3: k = high - 5 + (int)below(state, 8); break;
    default: k = -7 + (int)below(state, 15); break;
    }
    if (!f->scaling)
        k = -1 + (int)below(state, 3);
    return ldexp(m, k);
}

static uint64_t step_bits(unsigned carrier, uint64_t bits, int by)
{
    uint64_t sign = UINT64_C(1) << (carrier - 1), magnitude = bits & (sign - 1);
    uint64_t end = carrier == 32 ? 0x7f7fffff : 0x7fefffffffffffff;
    if (by < 0 && magnitude > 0)
        magnitude--;
    if (by > 0 && magnitude < end)
        magnitude++;
    return (bits & sign) | magnitude;
}

static double finite_of(unsigned carrier, double v)
{
    double end = carrier == 32 ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
    return v > end ? end : v < -end ? -end : v;
}

/* A value of the element, the middle of two neighbours, or one of their carrier's neighbours, times s. */
static uint64_t element_near(const block_case *c, judge *j, const float *table, unsigned length, double s,
                             uint64_t *state)
{
    double a, b, v;
    uint64_t bits, mask = (UINT64_C(1) << (c->f.bits - c->f.is_signed)) - 1;
    if (table) {
        uint64_t k = below(state, length - 1);
        a = (double)table[k];
        b = (double)table[k + 1];
    } else {
        uint64_t code = (c->f.bits > 24 ? lh_next(state) : below(state, mask)) & mask;
        a = carrier_value(c->carrier, judge_decode(j, code));
        b = carrier_value(c->carrier, judge_decode(j, (code + 1) & mask));
        if (!isfinite(a) || !isfinite(b))
            a = b = c->f.bits > 30 ? 1.0 : 1.75;
        if (c->f.is_signed && below(state, 2)) {
            a = -a;
            b = -b;
        }
    }
    switch (below(state, 4)) {
    case 0: v = a; break;
    case 1: v = a / 2 + b / 2; break;
    case 2: v = a + (b - a) * ((double)(lh_next(state) >> 11) * 0x1p-53); break;
    default: v = a * (1 + (double)below(state, 64) / 64); break;
    }
    bits = carrier_bits(c->carrier, finite_of(c->carrier, v * s));
    return step_bits(c->carrier, bits, (int)below(state, 5) - 2);
}

static uint64_t special(unsigned carrier, uint64_t *state)
{
    static const uint64_t s32[] = {0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0xffbfffff};
    static const uint64_t s64[] = {0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
                                   0xfff8000000000000, 0x7ff0000000000001, 0xfff7ffffffffffff};
    uint64_t k = below(state, 6);
    return carrier == 32 ? s32[k] : s64[k];
}

static void fill_block(block_case *c, const ref_tensor *t, const ref_block *b, judge *j, const float *table,
                       unsigned length, double shared, int specials, uint64_t *state)
{
    const uint64_t *order = t->order + b->first, sign = UINT64_C(1) << (c->carrier - 1);
    double s = below(state, 3) ? shared : random_scale(c, state), M = 1;
    uint64_t k, kind = below(state, 14);

    for (k = 0; k < b->elements; k++)
        c->x[order[k]] = below(state, 9) == 0 ? below(state, 2) * sign : element_near(c, j, table, length, s, state);
    if (b->elements == 0)
        return;
    if (kind == 0 || kind == 1)
        for (k = 0; k < b->elements; k++)
            c->x[order[k]] = below(state, 2) * sign;
    k = below(state, b->elements);
    if (j)
        M = fabs(carrier_value(c->carrier, judge_round(j, carrier_bits(c->carrier, INFINITY), 0, 0).bits));
    if (kind >= 1 && kind <= 8) { /* the largest magnitude, planted */
        double v = kind <= 3 ? s : kind <= 5 ? M * s : kind == 6 ? ldexp(s, (int)below(state, 12)) : M * s * 1.0625;
        uint64_t bits = carrier_bits(c->carrier, finite_of(c->carrier, v));
        if (!isfinite(v) || (c->carrier == 32 && fabs(v) > 0x1p127 && below(state, 2)))
            bits = carrier_bits(c->carrier, finite_of(c->carrier, INFINITY)) - below(state, 3);
        bits = step_bits(c->carrier, bits, (int)below(state, 3) - 1);
        c->x[order[k]] = bits | (c->f.is_signed || table ? below(state, 2) * sign : 0);
    }
    if (below(state, 4) == 0) { /* far below the others, where t may be no number of the carrier */
        const uint64_t bits = lh_next(state) & (c->carrier == 32 ? 0x7fffffff : INT64_MAX);
        const double v = carrier_value(c->carrier, bits), largest = carrier_value(c->carrier, c->x[order[k]]);
        if (v < fabs(largest))
            c->x[order[below(state, b->elements)]] = bits | below(state, 2) * sign;
    }
    if (specials && below(state, 9) == 0)
        for (kind = 0; kind <= below(state, 2); kind++)
            c->x[order[below(state, b->elements)]] = special(c->carrier, state);
}

void case_fill(block_case *c)
{
    static const fpemu_rounding nearest;
    uint64_t state = c->seed | 1, b;
    ref_tensor *t = ref_lay_out(&c->f, c->carrier, &c->shape);
    fpemu_format element = c->f;
    float table[65536 / 64];
    unsigned length = 0;
    judge *j = NULL;

    element.scaling = 0;
    if (c->f.kind == FPEMU_KIND_CODEBOOK) {
        length = c->f.codebook_length;
        if (c->f.codebook == FPEMU_CODEBOOK_CUSTOM)
            memcpy(table, c->f.table, length * sizeof *table);
        else
            length = ref_codebook(c->f.codebook, c->f.bits, table);
    } else {
        fpemu_rounding saturating = nearest;
        saturating.overflow = FPEMU_OVERFLOW_SATURATE;
        j = judge_open_slow(&element, &saturating, c->carrier);
    }
    c->n = t->n;
    free(c->x);
    c->x = calloc(c->n + 1, sizeof *c->x);
    (void)lh_next(&state);
    double shared = random_scale(c, &state);
    int specials = below(&state, 2) != 0;
    if (c->x && (j || length))
        for (b = 0; b < t->blocks; b++)
            fill_block(c, t, &t->block[b], j, length ? table : NULL, length, shared, specials, &state);
    judge_close(j);
    ref_free(t);
}

int case_given(const block_case *c, fpemu_given *given)
{
    enum { MOST = 4096 };
    static float scales[MOST], zeros[MOST];
    static const float odd_scales[] = {0, -0.0f, -1, INFINITY, NAN, FLT_MAX, 0x1p-149f, 3};
    static const float odd_zeros[] = {NAN, INFINITY, 0.5f, -0.0f, 70000, -1e30f};
    const fpemu_format *const f = &c->f;
    const int rule = f->scaling, nvfp4 = case_is_nvfp4(f);
    const int powers = (rule >= FPEMU_SCALING_FLOOR && rule <= FPEMU_SCALING_HBFP) || rule == FPEMU_SCALING_MUPPET;
    const int integers = f->kind == FPEMU_KIND_INT && f->scale == 1 && f->zero_point == 0 && f->bits <= 16 &&
                         (rule == FPEMU_SCALING_ABSMAX || rule == FPEMU_SCALING_RECIPROCAL);
    uint64_t state = c->seed + 31;
    ref_tensor *t = ref_lay_out(f, c->carrier, &c->shape);

    (void)lh_next(&state);
    memset(given, 0, sizeof *given);
    given->scales = scales;
    given->order = (uint8_t)(integers ? below(&state, 3) : 0);
    given->zeros = given->order ? zeros : NULL;
    given->tensor = nvfp4 && !f->outer ? ldexpf((float)below(&state, 5), (int)below(&state, 60) - 40) : 0;
    for (uint64_t b = 0; b < t->blocks && b < MOST; b++) {
        const double x = fabs(carrier_value(c->carrier, c->x[t->order[t->block[b].first]]));
        const double near = x / f->max / (given->tensor > 0 ? (double)given->tensor : 1);
        double s = below(&state, 4) && near > 0 && near < 0x1p127 ? near * (double)(1 + below(&state, 4))
                                                                  : fabs(random_scale(c, &state));
        s = powers && below(&state, 9) ? exp2(floor(log2(s))) : s;
        scales[b] = below(&state, 9) ? (float)s : odd_scales[below(&state, 8)];
        zeros[b] = (float)(floor(f->lowest + (f->max - f->lowest) * (double)below(&state, 65) / 64) +
                           (given->order == FPEMU_ZERO_BEFORE ? (double)below(&state, 8) / 8 : 0));
        zeros[b] = below(&state, 9) ? zeros[b] : odd_zeros[below(&state, 6)];
    }
    const int takes = t->blocks <= MOST && rule != FPEMU_SCALING_NONE && rule != FPEMU_SCALING_S2FP8 &&
                      rule != FPEMU_SCALING_PAIRS && rule != FPEMU_SCALING_HIF4 && !(powers && f->correct) &&
                      !(rule >= FPEMU_SCALING_ASYMMETRIC && rule <= FPEMU_SCALING_GGML_0) &&
                      rule != FPEMU_SCALING_GGML_1K && rule != FPEMU_SCALING_GGML_0K;
    ref_free(t);
    return takes;
}

void case_rounding(block_case *c)
{
    uint64_t state = c->seed ^ UINT64_C(0x9e3779b97f4a7c15);
    (void)lh_next(&state);
    memset(&c->r, 0, sizeof c->r);
    c->r.mode = (uint8_t)(below(&state, 3) ? below(&state, FPEMU_MODE_COUNT) : FPEMU_MODE_RNE);
    c->r.overflow = (uint8_t)below(&state, 4);
    c->r.nan = (uint8_t)below(&state, 6);
    c->r.variant = (uint8_t)below(&state, 3);
    c->r.bits = (uint8_t)(below(&state, 3) ? 0 : below(&state, 33));
    c->r.generator = (uint8_t)below(&state, 2);
    c->r.seed = lh_next(&state);
    c->r.stream = below(&state, 3);
    c->r.offset = below(&state, 2) ? 0 : lh_next(&state);
}

void case_free(block_case *c)
{
    free(c->x);
    c->x = NULL;
}

/* -------------------------------------------------------------------------------------------------- the library */

static void store(unsigned carrier, void *array, uint64_t at, uint64_t bits)
{
    uint32_t narrow = (uint32_t)bits;
    if (carrier == 32)
        memcpy((char *)array + 4 * at, &narrow, 4);
    else
        memcpy((char *)array + 8 * at, &bits, 8);
}

static uint64_t load(unsigned carrier, const void *array, uint64_t at)
{
    uint32_t narrow;
    uint64_t bits;
    if (carrier == 32) {
        memcpy(&narrow, (const char *)array + 4 * at, 4);
        return narrow;
    }
    memcpy(&bits, (const char *)array + 8 * at, 8);
    return bits;
}

static fpemu_status quantize(const block_case *c, const fpemu_shape *s, const void *x, void *y, fpemu_stats *stats)
{
    leave_on_stack(c->seed);
    return fpemu_quantize_tensor(&c->f, &c->r, c->carrier, s, x, y, stats);
}

/* "spec, mode, shape, seed": enough to run it again. */
static const char *name_of(const block_case *c)
{
    static char text[500];
    (void)snprintf(text, sizeof text,
                   "%s f%u %s nan=%d variant=%d bits=%d compat=%d, %" PRIu64 "x%" PRIu64 "x%" PRIu64 "x%" PRIu64
                   ", seed 0x%" PRIx64 "%s",
                   c->spec, c->carrier, compare_mode(c->r.mode), c->r.nan, c->r.variant, c->r.bits, c->r.compat,
                   c->shape.outer, c->shape.rows, c->shape.length, c->shape.inner, c->seed,
                   !c->shape.given         ? ""
                   : c->shape.given->order ? ", scales and zero points given"
                                           : ", scales given");
    return text;
}

/* The block and its amax around an element, for a message. */
static const char *block_around(const block_case *c, const ref_tensor *t, uint64_t index)
{
    static char text[600];
    int n = 0;
    text[0] = 0;
    for (uint64_t b = 0; b < t->blocks; b++)
        for (uint64_t j = 0; j < t->block[b].elements; j++)
            if (t->order[t->block[b].first + j] == index) {
                n = snprintf(text, sizeof text, "block %" PRIu64 " place %" PRIu64 " scale %a*2^%ld of", b, j,
                             t->block[b].scale, t->block[b].exponent);
                for (uint64_t k = 0; k < t->block[b].elements && k < 12 && n < 540; k++)
                    n += snprintf(text + n, sizeof text - (size_t)n, " %a",
                                  carrier_value(c->carrier, c->x[t->order[t->block[b].first + k]]));
                return text;
            }
    return text;
}

static fpemu_status wanted_status(const ref_tensor *t)
{
    for (uint64_t i = 0; i < t->n; i++)
        if (t->element[i].nan_error)
            return FPEMU_ERROR_NAN;
    return FPEMU_OK;
}

/* What the library must say where the judge is silent. */
static void refused(const block_case *c)
{
    fpemu_shape s = c->shape;
    void *x = case_room(c->n * 8), *y = case_room(c->n * 8);
    fpemu_status status = quantize(c, &s, x, y, NULL);
    lh_check(c->n == 0 || status == FPEMU_ERROR_UNSUPPORTED || status == FPEMU_ERROR_CARRIER,
             "%s: status %d where no rule is", name_of(c), (int)status);
    FREE(x, y);
}

int case_values(const block_case *c)
{
    const char *const name = name_of(c); /* made once: texts for every element would take most of the time */
    ref_tensor *t = ref_quantize(&c->f, &c->r, c->carrier, &c->shape, c->x);
    uint64_t state = c->seed + 77, i, bytes = c->carrier / 8;
    fpemu_shape s = c->shape;
    int inplace, bad = 0;

    if (!t) {
        refused(c);
        return 0;
    }
    (void)lh_next(&state);
    placing from = choose_strides(&s, c->n, c->plain, &state), to = choose_strides(&s, c->n, c->plain, &state);
    inplace = below(&state, 4) == 0;
    if (inplace)
        to = from;
    memcpy(s.x_stride, from.stride, sizeof from.stride);
    memcpy(s.y_stride, to.stride, sizeof to.stride);
    if (below(&state, 2) && from.contiguous)
        memset(s.x_stride, 0, sizeof s.x_stride);
    char *x = case_room(from.size * bytes), *y = inplace ? x : case_room(to.size * bytes);
    char *touched = calloc(to.size + 1, 1);
    if (!touched)
        abort();
    for (i = 0; i < c->n; i++) {
        store(c->carrier, x, place(&s, &from, i), c->x[i]);
        touched[place(&s, &to, i)] = 1;
    }
    if (inplace)
        memcpy(s.y_stride, s.x_stride, sizeof s.x_stride);
    fpemu_status status = quantize(c, &s, x + from.base * bytes, y + to.base * bytes, NULL);
    if (inplace && c->n && FPEMU_CORRECTED(&c->f)) { /* which refuses that, and then has another array */
        lh_check(status == FPEMU_ERROR_OVERLAP, "%s: status %d in place", name, (int)status);
        inplace = 0;
        y = case_room(to.size * bytes);
        status = quantize(c, &s, x + from.base * bytes, y + to.base * bytes, NULL);
    }
    lh_check(status == wanted_status(t), "%s: status %d (%s)", name, (int)status, fpemu_status_text(status));
    if (status == FPEMU_OK || status == FPEMU_ERROR_NAN) {
        for (i = 0; i < c->n && bad < 3; i++) {
            uint64_t got = load(c->carrier, y, place(&s, &to, i));
            const int good = got == t->element[i].y;
            if (!lh_check(good, "%s: element %" PRIu64 " x=%a t=%a: judge %a, library %a; %s", name, i,
                          carrier_value(c->carrier, c->x[i]), t->element[i].t,
                          carrier_value(c->carrier, t->element[i].y), carrier_value(c->carrier, got),
                          good ? "" : block_around(c, t, i)))
                bad++;
        }
        for (i = 0; i < to.size; i++)
            if (!touched[i] && !lh_check(load(c->carrier, y, i) == (c->carrier == 32 ? 0xa5a5a5a5 : 0xa5a5a5a5a5a5a5a5),
                                         "%s: wrote beside the elements", name))
                break;
        lh_check(load(c->carrier, y, to.size) == (c->carrier == 32 ? 0xa5a5a5a5 : 0xa5a5a5a5a5a5a5a5),
                 "%s: wrote past the end", name);
        if (!inplace)
            for (i = 0; i < c->n; i++)
                if (!lh_check(load(c->carrier, x, place(&s, &from, i)) == c->x[i], "%s: changed its input", name))
                    break;
    }
    free(touched);
    if (!inplace)
        free(y);
    free(x);
    ref_free(t);
    return 1;
}

/* ------------------------------------------------------------------------------------------------------ packing */

static fpemu_status pack(const block_case *c, const fpemu_shape *s, const void *x, void *bytes)
{
    leave_on_stack(c->seed);
    return fpemu_pack(&c->f, &c->r, c->carrier, s, x, bytes, NULL);
}

static fpemu_status unpack(const block_case *c, const fpemu_shape *s, const void *bytes, void *y)
{
    leave_on_stack(c->seed);
    return fpemu_unpack(&c->f, c->carrier, s, bytes, y);
}

static fpemu_status unpack_blocks(const block_case *c, const fpemu_shape *s, uint64_t first, uint64_t count,
                                  const void *bytes, void *y)
{
    leave_on_stack(c->seed);
    return fpemu_unpack_blocks(&c->f, c->carrier, s, first, count, bytes, y);
}

static fpemu_status pack_blocks(const block_case *c, const fpemu_shape *s, uint64_t first, uint64_t count,
                                const void *x, void *bytes)
{
    leave_on_stack(c->seed);
    return fpemu_pack_blocks(&c->f, &c->r, c->carrier, s, first, count, x, bytes, NULL);
}

static int has_tensor_numbers(const fpemu_format *f)
{
    return case_is_nvfp4(f) || f->scaling == FPEMU_SCALING_S2FP8;
}

static void check_layout(const block_case *c, const ref_tensor *t)
{
    fpemu_layout l;
    fpemu_extent e;
    uint64_t scale_bytes = ref_scale_bytes(&c->f), tensor = has_tensor_numbers(&c->f) && t->n ? 8 * t->lines : 0, b, at;
    memset(&l, 0xff, sizeof l);
    lh_check(fpemu_packed_layout(&c->f, &c->shape, &l) == FPEMU_OK, "%s: no layout", name_of(c));
    lh_check(l.blocks == t->blocks && l.bytes == ref_packed_size(&c->f, t) &&
                 l.bytes == fpemu_packed_size(&c->f, &c->shape),
             "%s: %" PRIu64 " bytes, judge %" PRIu64, name_of(c), l.bytes, ref_packed_size(&c->f, t));
    if (t->n == 0)
        return;
    lh_check(l.blocks == t->blocks && l.tensor_bytes == tensor && l.tensor_offset == 0 && l.scales_offset == tensor &&
                 l.scale_bytes == scale_bytes && l.elements_offset == tensor + t->blocks * scale_bytes &&
                 l.element_bits == c->f.bits,
             "%s: layout: %" PRIu64 " blocks, scales at %" PRIu64 ", elements at %" PRIu64 ", judge %" PRIu64,
             name_of(c), l.blocks, l.scales_offset, l.elements_offset, t->blocks);
    at = l.elements_offset;
    for (b = 0; b < t->blocks; b++) {
        memset(&e, 0xff, sizeof e);
        if (!lh_check(fpemu_packed_extent(&c->f, &c->shape, b, &e) == FPEMU_OK && e.elements == t->block[b].elements &&
                          e.offset == at && e.scale == tensor + b * scale_bytes &&
                          (e.elements == 0 || e.first == t->order[t->block[b].first]),
                      "%s: extent of block %" PRIu64 ": %" PRIu64 " elements at %" PRIu64 " first %" PRIu64
                      ", judge %" PRIu64 " at %" PRIu64,
                      name_of(c), b, e.elements, e.offset, e.first, t->block[b].elements, at))
            return;
        at += (e.elements * c->f.bits + 7) / 8;
        if (b == 0 && t->blocks > 1 && c->f.scaling && c->f.block != FPEMU_BLOCK_TILE)
            lh_check(l.block_elements >= e.elements && l.block_bytes == (l.block_elements * c->f.bits + 7) / 8,
                     "%s: a full block has %" PRIu64 " elements, %" PRIu64 " bytes", name_of(c), l.block_elements,
                     l.block_bytes);
    }
    lh_check(fpemu_packed_extent(&c->f, &c->shape, t->blocks, &e) != FPEMU_OK, "%s: an extent past the last block",
             name_of(c));
}

/* What the library measures of all elements of a tensor. */
static fpemu_range tensor_range(const block_case *c, const ref_tensor *t)
{
    fpemu_range range = {0};
    for (uint64_t b = 0; b < t->blocks; b++)
        for (uint64_t j = 0; j < t->block[b].elements; j++) {
            uint64_t word;
            store(c->carrier, (unsigned char *)&word, 0, c->x[t->order[t->block[b].first + j]]);
            (void)fpemu_measure(&c->f, c->carrier, 1, &word, &range);
        }
    return range;
}

/* The blocks first .. first+count-1 as an array, unpacked and packed again from the array. */
static void check_access(const block_case *c, const ref_tensor *t, const unsigned char *bytes, const uint64_t *value,
                         uint64_t *state)
{
    const int by_line = c->f.outer || FPEMU_CORRECTED(&c->f); /* a line is packed as one, of tiles all of them */
    const uint64_t down = c->f.block_rows && t->blocks ? (c->shape.rows - 1) / c->f.block_rows + 1 : 1;
    const uint64_t each = by_line ? ((c->shape.length - 1) / c->f.block_length + 1) * down : 1;
    uint64_t first = below(state, t->blocks / each) * each, b, j, n = 0, at = 0, i;
    uint64_t count = (1 + below(state, (t->blocks - first) / each)) * each;
    uint64_t size = ref_packed_size(&c->f, t), width = c->carrier / 8;
    unsigned char *again = case_room(size + 1), *y, *x;
    fpemu_shape told = c->shape;
    fpemu_range whole;

    for (b = first; b < first + count; b++)
        n += t->block[b].elements;
    y = case_room(n * width);
    x = case_room(n * width);
    lh_check(unpack_blocks(c, &c->shape, first, count, bytes, y) == FPEMU_OK, "%s: unpack_blocks", name_of(c));
    for (b = first; b < first + count; b++)
        for (j = 0; j < t->block[b].elements; j++, at++) {
            uint64_t index = t->order[t->block[b].first + j];
            store(c->carrier, x, at, c->x[index]);
            if (!lh_check(load(c->carrier, y, at) == value[index],
                          "%s: unpack_blocks %" PRIu64 " of %" PRIu64 ", place %" PRIu64 ": %a, of the whole %a",
                          name_of(c), b, t->blocks, j, carrier_value(c->carrier, load(c->carrier, y, at)),
                          carrier_value(c->carrier, value[index]))) {
                j = t->block[b].elements;
                b = first + count;
                break;
            }
        }
    /* The same blocks again, over bytes that hold something else there: exactly they come back. */
    memcpy(again + 1, bytes, size);
    for (b = first; b < first + count; b++) {
        fpemu_extent e;
        if (fpemu_packed_extent(&c->f, &c->shape, b, &e) != FPEMU_OK)
            continue;
        for (i = 0; i < ref_scale_bytes(&c->f); i++)
            again[1 + e.scale + i] = 0x3c;
        for (i = 0; i < (e.elements * c->f.bits + 7) / 8; i++)
            again[1 + e.offset + i] = 0x5a;
    }
    fpemu_status status = pack_blocks(c, &c->shape, first, count, x, again + 1);
    if ((c->f.scaling == FPEMU_SCALING_4OVER6 || c->f.scaling == FPEMU_SCALING_4OVER6_MSE) && !c->shape.whole &&
        !c->f.outer) {
        lh_check(status == FPEMU_ERROR_NULL, "%s: pack_blocks without the tensor's range", name_of(c));
        whole = tensor_range(c, t);
        told.whole = &whole;
        status = pack_blocks(c, &told, first, count, x, again + 1);
    }
    lh_check(status == FPEMU_OK || status == FPEMU_ERROR_NAN, "%s: pack_blocks: status %d", name_of(c), (int)status);
    lh_check(memcmp(again + 1, bytes, size) == 0, "%s: pack_blocks %" PRIu64 "+%" PRIu64 " of %" PRIu64 " differs",
             name_of(c), first, count, t->blocks);
    FREE(again, x, y);
}

int case_packing(const block_case *c)
{
    const char *const name = name_of(c);
    ref_tensor *t = ref_quantize(&c->f, &c->r, c->carrier, &c->shape, c->x);
    uint64_t state = c->seed + 99, i, width = c->carrier / 8, size, shift;
    fpemu_shape s = c->shape;
    unsigned bad = 0;

    if (!t)
        return 0;
    (void)lh_next(&state);
    check_layout(c, t);
    placing from = choose_strides(&s, c->n, c->plain, &state), to = choose_strides(&s, c->n, c->plain, &state);
    memcpy(s.x_stride, from.stride, sizeof from.stride);
    memcpy(s.y_stride, to.stride, sizeof to.stride);
    size = ref_packed_size(&c->f, t);
    shift = below(&state, 8);
    unsigned char *x = case_room(from.size * width), *y = case_room(to.size * width);
    unsigned char *bytes = case_room(size + 8), *want = case_room(size);
    uint64_t *value = calloc(c->n + 1, sizeof *value);
    if (!value)
        abort();
    for (i = 0; i < c->n; i++)
        store(c->carrier, x, place(&s, &from, i), c->x[i]);
    fpemu_status status = pack(c, &s, x + from.base * width, bytes + shift);
    lh_check(status == wanted_status(t), "%s: status %d of pack", name_of(c), (int)status);
    ref_pack(&c->f, t, want);
    for (i = 0; i < size && bad < 3; i++)
        if (!lh_check(bytes[shift + i] == want[i], "%s: byte %" PRIu64 " of %" PRIu64 " is %02x, judge %02x", name, i,
                      size, bytes[shift + i], want[i]))
            bad++;
    for (i = 0; i < 8; i++)
        lh_check(i == shift || bytes[i < shift ? i : size + i] == 0xa5, "%s: pack wrote beside its bytes", name);
    if (!bad) {
        lh_check(unpack(c, &s, bytes + shift, y + to.base * width) == FPEMU_OK, "%s: unpack", name_of(c));
        ref_unpack(&c->f, c->carrier, t, want, value);
        for (i = 0; i < c->n && bad < 3; i++) {
            uint64_t got = load(c->carrier, y, place(&s, &to, i));
            double v = carrier_value(c->carrier, t->element[i].y);
            const int good = got == value[i] && (got == t->element[i].y || isnan(v));
            if (!lh_check(good, "%s: unpack, element %" PRIu64 ": judge %a (quantised %a), library %a; %s", name, i,
                          carrier_value(c->carrier, value[i]), v, carrier_value(c->carrier, got),
                          good ? "" : block_around(c, t, i)))
                bad++;
        }
        if (t->blocks && !bad)
            check_access(c, t, bytes + shift, value, &state);
    }
    FREE(value, want, bytes, x, y);
    ref_free(t);
    return 1;
}

/* ----------------------------------------------------------------------------------------------------- counters */

enum { BINS = 24, SCALE_BINS = 20 };

static void check_stats(const block_case *c, const char *verb, const fpemu_stats *want, const double sums[3],
                        const fpemu_stats *got)
{
    const struct {
        const char *name;
        uint64_t want, got;
    } counters[] = LIST({"sum_error", lh_double_bits(sums[0]), lh_double_bits(fpemu_stats_sum_error(got))},
                        {"sum_error2", lh_double_bits(sums[1]), lh_double_bits(fpemu_stats_sum_error2(got))},
                        {"sum_square", lh_double_bits(sums[2]), lh_double_bits(fpemu_stats_sum_square(got))},
                        {"blocks", want->blocks, got->blocks}, {"zero_blocks", want->zero_blocks, got->zero_blocks},
                        {"nan_blocks", want->nan_blocks, got->nan_blocks},
                        {"saturated_scales", want->saturated_scales, got->saturated_scales});
    const char *const other = other_counts(got, want);
    lh_check(!other, "%s %s: %s", name_of(c), verb, other);
    for (unsigned k = 0; k < sizeof counters / sizeof *counters; k++)
        if (k < 3)
            lh_check(counters[k].want == counters[k].got, "%s %s: %s: judge %a, library %a", name_of(c), verb,
                     counters[k].name, lh_double(counters[k].want), lh_double(counters[k].got));
        else
            lh_check(counters[k].want == counters[k].got, "%s %s: %s: judge %" PRIu64 ", library %" PRIu64, name_of(c),
                     verb, counters[k].name, counters[k].want, counters[k].got);
    for (unsigned k = 0; k < BINS; k++)
        lh_check(want->request.histogram[k] == got->request.histogram[k],
                 "%s %s: bin %u of the histogram: judge %" PRIu64 ", library %" PRIu64, name_of(c), verb, k,
                 want->request.histogram[k], got->request.histogram[k]);
    for (unsigned k = 0; k < SCALE_BINS; k++)
        lh_check(want->request.scale_histogram[k] == got->request.scale_histogram[k],
                 "%s %s: bin %u of the scales: judge %" PRIu64 ", library %" PRIu64, name_of(c), verb, k,
                 want->request.scale_histogram[k], got->request.scale_histogram[k]);
}

static fpemu_stats blank_stats(uint64_t *bins, uint64_t *scale_bins, int first)
{
    fpemu_stats s = {0};
    memset(bins, 0, BINS * sizeof *bins);
    memset(scale_bins, 0, SCALE_BINS * sizeof *scale_bins);
    s.request.want = FPEMU_STATS_SUMS | FPEMU_STATS_HISTOGRAM | FPEMU_STATS_SCALES;
    s.request.histogram = bins;
    s.request.histogram_first = first;
    s.request.histogram_length = BINS;
    s.request.scale_histogram = scale_bins;
    s.request.scale_first = first - 3;
    s.request.scale_length = SCALE_BINS;
    return s;
}

/* Counting goes other ways to the same values. */
static void check_counted(const block_case *c, const ref_tensor *t, const void *y)
{
    const char *const name = name_of(c);
    for (uint64_t i = 0; i < c->n; i++)
        if (!lh_check(load(c->carrier, y, i) == t->element[i].y,
                      "%s: element %" PRIu64 " counted: judge %a, library %a", name, i,
                      carrier_value(c->carrier, t->element[i].y), carrier_value(c->carrier, load(c->carrier, y, i))))
            return;
}

int case_counters(const block_case *c)
{
    ref_tensor *t = c->f.scaling ? ref_quantize(&c->f, &c->r, c->carrier, &c->shape, c->x) : NULL;
    uint64_t bins[2][BINS], scale_bins[2][SCALE_BINS], i, width = c->carrier / 8;
    unsigned char *x, *y, *bytes;
    const double none[3] = {0, 0, 0};
    double sums[3], any = c->n ? fabs(carrier_value(c->carrier, c->x[c->n / 2])) : 1;
    int first = any > 0 && isfinite(any) ? ilogb(any) - 12 : -12;

    if (!t)
        return 0;
    fpemu_stats want = blank_stats(bins[0], scale_bins[0], first);
    ref_count(t, c->x, &want, sums);
    x = case_room(c->n * width);
    y = case_room(c->n * width);
    bytes = case_room(ref_packed_size(&c->f, t));
    for (i = 0; i < c->n; i++)
        store(c->carrier, x, i, c->x[i]);
    fpemu_stats got = blank_stats(bins[1], scale_bins[1], first);
    fpemu_status status = quantize(c, &c->shape, x, y, &got);
    if (lh_check(status == wanted_status(t), "%s: status %d", name_of(c), (int)status))
        check_stats(c, "quantize", &want, sums, &got);
    check_counted(c, t, y);
    got = blank_stats(bins[1], scale_bins[1], first); /* without sums, which need their own order */
    got.request.want &= ~FPEMU_STATS_SUMS;
    status = quantize(c, &c->shape, x, y, &got);
    if (lh_check(status == wanted_status(t), "%s: status %d without sums", name_of(c), (int)status))
        check_stats(c, "quantize without sums", &want, none, &got);
    check_counted(c, t, y);
    got = blank_stats(bins[1], scale_bins[1], first);
    leave_on_stack(c->seed);
    status = c->carrier == 32 ? fpemu_pack_f32(&c->f, &c->r, &c->shape, (const float *)(const void *)x, bytes, &got)
                              : fpemu_pack_f64(&c->f, &c->r, &c->shape, (const double *)(const void *)x, bytes, &got);
    /* A NaN that became a number's code is the one thing in which y differs. */
    if (lh_check(status == wanted_status(t), "%s: status %d of pack", name_of(c), (int)status))
        check_stats(c, "pack", &want, sums, &got);
    FREE(x, y, bytes);
    ref_free(t);
    return 1;
}

void case_options(int argc, char **argv, unsigned long *rounds, uint64_t *seed)
{
    for (int i = 1; i + 1 < argc; i += 2)
        if (!strcmp(argv[i], "--rounds"))
            *rounds = strtoul(argv[i + 1], NULL, 10);
        else if (!strcmp(argv[i], "--seed"))
            *seed = strtoull(argv[i + 1], NULL, 0);
}
