/* SPDX-License-Identifier: BSD-2-Clause */
/* kernels.c - every row of lib/kernel/kernels.def, and the choices that are read at run time, against the rules worked
 * by hand: all formats of the reference, modes and policies, in arrays of each type, counted and not, about the places
 * where random words have another lead and another key; and blocks with each kind of scales, against their judge. A row
 * that no case comes to is a failure.
 *
 *   kernels [N]     elements a case: 300; 4194304 take a day
 */
#define _POSIX_C_SOURCE 200809L /* popen, of variants.h */
#include "../../lib/loops/loops.h"
#include "blocks_cases.h"
#include "half_words.h"
#include "variants.h"

#define SIMD_HAS_F16 1
#include "core/carrier32.h"

#include "kernel/choice.inc.h"

#include "core/carrier_end.h"
#undef SIMD_HAS_F16
#define SIMD_HAS_F16 0
#include "core/carrier64.h"

#include "kernel/choice.inc.h"

#include "core/carrier_end.h"

enum { SEED = 42, STREAM = 7 };

/* The rows by carrier (binary64 1), scales and choice, and how many cases came to each. */
static unsigned cases[2][SCALED_KINDS][KERNEL_TYPES][KERNEL_GRIDS][KERNEL_ENDS][FPEMU_MODE_COUNT];
#define CHOICE(type, grid, ends, mode, scale)                                                                          \
    {KERNEL_##type, KERNEL_##grid, KERNEL_##ends, FPEMU_MODE_##mode, scale, 0},
static const kernel_choice rows32[] = {
#define ROW(type, grid, ends, mode) CHOICE(type, grid, ends, mode, UNSCALED)
#define SCALED(scale, grid, ends, mode) CHOICE(OWN, grid, ends, mode, SCALED_##scale)
#define CARRIER_BITS 32
#include "kernel/kernels.def"
#undef CARRIER_BITS
};
static const kernel_choice rows64[] = {
#define ROW(type, grid, ends, mode) CHOICE(type, grid, ends, mode, UNSCALED)
#define SCALED(scale, grid, ends, mode) CHOICE(OWN, grid, ends, mode, SCALED_##scale)
#define CARRIER_BITS 64
#include "kernel/kernels.def"
#undef CARRIER_BITS
};

static size_t n = 300;
static double *x;
static lh_result *right;
static void *in, *out;
static uint64_t digest = UINT64_C(0xcbf29ce484222325);

static int serves(int rule, int has_ends, int open)
{
    const int grid = rule == CORE_RULE_FULL_RANGE_GRID || rule == CORE_RULE_SHIFTER_GRID;
    return rule >= CORE_RULE_FULL_RANGE && rule <= CORE_RULE_EVEN && (open || has_ends || !grid);
}

/* Which choice serves a call; 0 where the kernel does not. open: of the first of two steps, which counted calls take. */
static int chosen(const fpemu_format *f, const fpemu_rounding *r, fpemu_type type, int open, kernel_choice *c)
{
    const int narrow = type == FPEMU_TYPE_F16 ? KERNEL_F16 : type == FPEMU_TYPE_BF16 ? KERNEL_BF16 : KERNEL_OWN;
    if (type == FPEMU_TYPE_F64) {
        core_plan64 p;
        core_plan_make64(&p, f, r, 0);
        if (core_affine_is_fast64(&p))
            p.rule = CORE_RULE_AFFINE_FAST;
        core_choose_fast64(&p, f);
        p = open ? core_plan_unbounded64(&p) : p;
        *c = kernel_choose64(&p, narrow, open);
        return serves(p.rule, p.has_ends, open) || core_affine_is_quick64(&p);
    }
    core_plan32 p;
    core_plan_make32(&p, f, r, 0);
    core_choose_fast32(&p, f);
    p = open ? core_plan_unbounded32(&p) : p;
    *c = kernel_choose32(&p, open ? KERNEL_OWN : narrow, open);
    return serves(p.rule, p.has_ends, open) || core_affine_is_quick32(&p);
}

/* Numbers of the array's type: of the format's range, about its ends and smallest step, halves of steps, specials. */
static double draw(const lh_format *f, size_t i, uint64_t *state)
{
    static const double specials[] = {0, -0.0, INFINITY, -INFINITY, NAN, 0x1p-149, -0x1p-1074, 0x1.fffffep127};
    const uint64_t u = lh_next(state);
    const double max = lh_max(f, 64), scale = f->scale > 0 ? f->scale : 1, sign = u & 1 ? -1 : 1,
                 part = ldexp((double)(u >> 12), -52);
    switch (i % 8) {
    case 0: return specials[u >> 3 & 7];
    case 1: return sign * max * (1 + ldexp(part - 0.5, -(int)(u >> 1 & 15)));
    case 2:
        return sign * ldexp((double)(u >> 50), f->kind == FPEMU_KIND_FLOAT ? f->emin - f->p - 1 : -f->fl - 2) * scale;
    case 3: return sign * ldexp(1 + part, (int)(u >> 4 & 255) - 128);
    default:
        return sign * ldexp(1 + part, (f->kind == FPEMU_KIND_FLOAT ? f->emin : -f->fl) + (int)(u >> 4 & 15) - 4) *
               scale;
    }
}

/* The number nearest to v among those of the type, in the array at place i; what it is. */
static double put(fpemu_type type, size_t i, double v)
{
    if (type == FPEMU_TYPE_F64)
        return ((double *)in)[i] = v;
    if (type == FPEMU_TYPE_F32)
        return ((float *)in)[i] = (float)v;
    const struct type *t = types + (type == FPEMU_TYPE_BF16);
    return values[t - types][((uint16_t *)in)[i] = word_of(t, v)];
}

static int same(fpemu_type type, size_t i, double y)
{
    if (type == FPEMU_TYPE_F64)
        return lh_same_f64(((double *)out)[i], y);
    if (type == FPEMU_TYPE_F32)
        return lh_same_f32(((float *)out)[i], y);
    const struct type *t = types + (type == FPEMU_TYPE_BF16);
    return ((uint16_t *)out)[i] == (isnan(y) ? t->nan : word_of(t, y));
}

static void one_case(const lh_format *f, const fpemu_format *format, fpemu_rounding *r, fpemu_type type,
                     const char *name)
{
    const uint64_t offsets[] = {0, 131072 - 37, (UINT64_C(1) << 32) - 75};
    const int carrier = type == FPEMU_TYPE_F64 ? 64 : 32;
    uint64_t state = digest;
    r->offset = offsets[state % 3];
    for (size_t i = 0; i < n; i++) {
        const lh_rounding how = {r->mode, r->overflow,
                                 r->nan,  r->variant,
                                 32,      !FPEMU_MODE_DRAWS(r->mode) ? 0 : lh_bits(0, SEED, STREAM, r->offset + i, 32)};
        x[i] = put(type, i, draw(f, i, &state));
        right[i] = lh_round(f, carrier, how, x[i]);
    }
    for (int counted = 0; counted < 2; counted++) {
        fpemu_stats s;
        uint64_t overflow = 0, inexact = 0;
        memset(&s, 0, sizeof s);
        const fpemu_status status = fpemu_quantize(format, r, type, n, in, out, counted ? &s : NULL);
        if (!lh_check(status == FPEMU_OK, "%s: status %d", name, (int)status))
            return;
        for (size_t i = 0; i < n; i++) {
            if (!lh_check(same(type, i, right[i].y), "%s of %a, element %zu at offset %llu%s: not %a", name, x[i], i,
                          (unsigned long long)r->offset, counted ? ", counted" : "", right[i].y))
                return;
            overflow += right[i].overflow != 0;
            inexact += isfinite(x[i]) && right[i].y != x[i];
        }
        lh_check(!counted || (s.overflow == overflow && s.inexact == inexact),
                 "%s: %" PRIu64 " overflow, not %" PRIu64 ", %" PRIu64 " inexact, not %" PRIu64, name, s.overflow,
                 overflow, s.inexact, inexact);
    }
    digest = fnv(digest, out, n * 2);
}

static void all_cases(const lh_format *f)
{
    static const struct {
        const char *name;
        fpemu_type type;
    } arrays[] = {{"f32", FPEMU_TYPE_F32}, {"f64", FPEMU_TYPE_F64}, {"f16", FPEMU_TYPE_F16}, {"bf16", FPEMU_TYPE_BF16}};
    const fpemu_format format = lh_parsed(f->spec);
    for (int a = 0; a < 4; a++)
        for (int mode = 0; mode < FPEMU_MODE_COUNT; mode++)
            for (int overflow = 0; overflow < 3; overflow++) {
                static const fpemu_overflow policies[] = {FPEMU_OVERFLOW_IEEE, FPEMU_OVERFLOW_SATURATE,
                                                          FPEMU_OVERFLOW_SATURATE_KEEP_INF};
                fpemu_rounding r = {.mode = (uint8_t)mode, .seed = SEED, .stream = STREAM};
                char name[200];
                kernel_choice c, open;
                r.overflow = (uint8_t)policies[overflow];
                const int wide = arrays[a].type == FPEMU_TYPE_F64;
                if (!lh_supports(f, mode) || fpemu_check(&format, &r, arrays[a].type, NULL))
                    continue;
                if (chosen(&format, &r, arrays[a].type, 0, &c))
                    cases[wide][UNSCALED][c.type][c.grid][c.ends][mode]++;
                if (chosen(&format, &r, arrays[a].type, 1, &open))
                    cases[wide][UNSCALED][open.type][open.grid][open.ends][mode]++;
                (void)snprintf(name, sizeof name, "%s %s, mode %d, policy %d", arrays[a].name, f->spec, mode,
                               policies[overflow]);
                one_case(f, &format, &r, arrays[a].type, name);
            }
}

/* Blocks whose elements are rounded by these, with scales of this kind, in every mode; elements saturate. */
static void blocks_of(const char *spec, int kind, const char *element, int wide)
{
    const fpemu_format format = lh_parsed(element);
    block_case c = {.plain = 1, .carrier = wide ? 64 : 32, .shape = fpemu_shape_vector(n / 64 * 64)};
    case_named(&c, spec);
    for (int k = 0; k < 8 * FPEMU_MODE_COUNT; k++) {
        const int mode = k % FPEMU_MODE_COUNT;
        c.seed = (uint64_t)k + 1;
        case_fill(&c);
        c.r = (fpemu_rounding){.mode = (uint8_t)mode, .seed = SEED, .stream = STREAM};
        lh_check(case_values(&c) && case_counters(&c), "%s, mode %d: not judged", spec, mode);
        c.r.overflow = FPEMU_OVERFLOW_SATURATE;
        for (int open = 0; open < 2; open++) {
            kernel_choice s;
            lh_check(chosen(&format, &c.r, wide ? FPEMU_TYPE_F64 : FPEMU_TYPE_F32, open, &s), "%s: no kernel", spec);
            cases[wide][kind][KERNEL_OWN][s.grid][s.ends][mode]++;
        }
    }
    case_free(&c);
}

int main(int argc, char **argv)
{
    const int child = variants_is_child(argc, argv);
    if (argc == 2)
        n = strtoul(argv[1], NULL, 10);
    x = malloc(n * sizeof *x);
    right = malloc(n * sizeof *right);
    in = malloc(n * sizeof(double));
    out = malloc(n * sizeof(double));
    if (!x || !right || !in || !out)
        return 1;
    find_values();
    const lh_format *f;
    for (size_t i = 0; (f = lh_formats(i)) != NULL; i++)
        if (f->kind != FPEMU_KIND_POSIT)
            all_cases(f);
    for (int wide = 0; wide < 2; wide++) {
        blocks_of("mxfp8_e4m3", SCALED_POWERS, "e4m3fn", wide);
        blocks_of("mxint8", SCALED_POWERS, "fixed(8,6)", wide);
        blocks_of("nvfp4", SCALED_TIMES, "e2m1", wide);
        blocks_of("group(e4m3fn,block=32)", SCALED_QUOTIENT, "e4m3fn", wide);
        blocks_of("group(int8,block=32)", SCALED_QUOTIENT, "int8", wide);
    }
    for (int wide = 0; wide < 2; wide++)
        for (size_t i = 0; i < (wide ? sizeof rows64 : sizeof rows32) / sizeof *rows32; i++) {
            const kernel_choice c = (wide ? rows64 : rows32)[i];
            lh_check(cases[wide][c.scale][c.type][c.grid][c.ends][c.mode] > 0, "row %zu of binary%d: no case", i,
                     32 << wide);
        }
    const char *name;
    for (unsigned i = 0; !child && !getenv("ONE_VARIANT") && (name = fpemu_variant_available(i)) != NULL; i++) {
        char command[4200];
        (void)snprintf(command, sizeof command, "FPEMU_VARIANT=general-%s ONE_VARIANT=1 '%s' %zu >/dev/null", name,
                       argv[0], n);
        lh_check(system(command) == 0, "choices at run time by %s fail: %s", name, command);
    }
    return variants_end(argc, argv, "kernels", digest);
}
