/* SPDX-License-Identifier: BSD-2-Clause */
/* raster.c - see raster.h */
#include "common/system.h"

#include "data/raster.h"

#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#if HAVE_JPEG
#include <jpeglib.h>
#endif

enum {
    LARGEST_SIDE = 16384,
    /* Out of a byte deflate makes 1032, which are so many bits. In JPEG every block of 8 x 8 takes a bit, which is 512
     * pixels out of a byte, and 910 where the components have samples of different shapes. */
    PNG_BITS = 8 * 1032,
    JPEG_PIXELS = 1024,
    /* A scan of a JPEG file goes through the whole picture, of however few bytes it is. Files as they are written have
     * some ten; Chromium's decoder and libtiff stop at 100 too. */
    JPEG_SCANS = 100
};

/* No more than `most` pixels come out of a byte. */
static bool prepare(raster *r, size_t width, size_t height, int channels, size_t length, size_t most, trouble *why)
{
    if (width == 0 || height == 0 || width > LARGEST_SIDE || height > LARGEST_SIDE)
        return fail(why, "%zu x %zu pixels; at most %d x %d can be", width, height, LARGEST_SIDE, LARGEST_SIDE);
    if (width * height / most > length)
        return fail(why, "%zu x %zu pixels do not come out of %zu bytes", width, height, length);
    r->width = (int)width;
    r->height = (int)height;
    r->channels = channels;
    r->pixels = malloc(width * height * (size_t)channels);
    return r->pixels || fail(why, "out of memory");
}

/* ------------------------------------------------------------------------------------------------ PNG */

typedef struct png_state {
    png_structp png;
    png_infop info;
    raster *r;
    const uint8_t *bytes;
    size_t length, at, bits; /* bits: of a pixel in the file */
    png_bytep *rows;
    trouble *why;
    jmp_buf out;
} png_state;

static void png_bytes(png_structp png, png_bytep to, size_t size)
{
    png_state *s = png_get_io_ptr(png);
    if (size > s->length - s->at)
        png_error(png, "truncated");
    memcpy(to, s->bytes + s->at, size);
    s->at += size;
}

static void png_fails(png_structp png, png_const_charp message)
{
    png_state *s = png_get_error_ptr(png);
    if (s->why)
        fail(s->why, "damaged PNG data (%.100s)", message);
    longjmp(s->out, 1);
}

static void png_warns(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void png_start(png_state *s)
{
    png_set_read_fn(s->png, s, png_bytes);
    png_set_user_limits(s->png, 1 << 30, 1 << 30); /* prepare says what is too large */
    /* Chunks that do not change pixels are passed over: libpng reserves what they say that they have. */
    png_set_keep_unknown_chunks(s->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_read_info(s->png, s->info);
    s->bits = (size_t)png_get_channels(s->png, s->info) * png_get_bit_depth(s->png, s->info);
    const int colour = png_get_color_type(s->png, s->info);
    if (colour == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(s->png);
    if (colour == PNG_COLOR_TYPE_GRAY)
        png_set_expand_gray_1_2_4_to_8(s->png);
    png_set_strip_16(s->png);
    png_set_strip_alpha(s->png);
    png_set_interlace_handling(s->png);
    png_read_update_info(s->png, s->info);
}

/* Within setjmp: what lives on after a longjmp is in *s. */
static bool png_picture(png_state *s)
{
    if (setjmp(s->out))
        return false;
    png_start(s);
    const size_t width = png_get_image_width(s->png, s->info), height = png_get_image_height(s->png, s->info);
    const size_t channels = png_get_channels(s->png, s->info);
    if (!prepare(s->r, width, height, (int)channels, s->length, PNG_BITS / s->bits, s->why))
        return false;
    s->rows = need(height, sizeof *s->rows);
    for (size_t y = 0; y < height; y++)
        s->rows[y] = s->r->pixels + y * width * channels;
    png_read_image(s->png, s->rows);
    png_read_end(s->png, NULL);
    return true;
}

static bool read_png(raster *r, const uint8_t *bytes, size_t length, trouble *why)
{
    png_state s = {.r = r, .bytes = bytes, .length = length, .why = why};
    s.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &s, png_fails, png_warns);
    s.info = s.png ? png_create_info_struct(s.png) : NULL;
    const bool good = s.info ? png_picture(&s) : fail(why, "libpng does not start");
    png_destroy_read_struct(&s.png, &s.info, NULL);
    free(s.rows);
    return good;
}

/* ------------------------------------------------------------------------------------------------ JPEG */

#if HAVE_JPEG
typedef struct jpeg_state {
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    struct jpeg_decompress_struct jpeg;
    raster *r;
    const uint8_t *bytes;
    size_t length;
    trouble *why;
    jmp_buf out;
} jpeg_state;

/* Warnings too: what they tell is that something is missing. */
static void jpeg_fails(j_common_ptr jpeg)
{
    jpeg_state *s = jpeg->client_data;
    char message[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, message);
    fail(s->why, "damaged JPEG data (%.100s)", message);
    longjmp(s->out, 1);
}

static void jpeg_tells(j_common_ptr jpeg, int level)
{
    if (level < 0)
        jpeg_fails(jpeg);
}

/* Called for every row of blocks that is read: of all scans before the first row of pixels. */
static void jpeg_goes_on(j_common_ptr jpeg)
{
    jpeg_state *s = jpeg->client_data;
    if (s->jpeg.input_scan_number <= JPEG_SCANS)
        return;
    fail(s->why, "a JPEG picture in more than %d scans", JPEG_SCANS);
    longjmp(s->out, 1);
}

/* A picture in several scans is in memory as coefficients, beside the pixels: both have the room of the largest picture
 * in one scan. */
static bool check_coefficients(jpeg_state *s)
{
    const struct jpeg_decompress_struct *j = &s->jpeg;
    const uint64_t most = (uint64_t)3 * LARGEST_SIDE * LARGEST_SIDE;
    uint64_t size = (uint64_t)j->image_width * j->image_height * (j->num_components == 1 ? 1 : 3);
    for (int i = 0; i < j->num_components; i++) {
        const jpeg_component_info *c = &j->comp_info[i];
        size += (uint64_t)c->width_in_blocks * c->height_in_blocks * sizeof(JBLOCK);
    }
    return !jpeg_has_multiple_scans(&s->jpeg) || size <= most ||
           fail(s->why, "%u x %u pixels of a JPEG picture in several scans take %llu bytes, at most %llu can be",
                j->image_width, j->image_height, (unsigned long long)size, (unsigned long long)most);
}

static bool jpeg_picture(jpeg_state *s)
{
    struct jpeg_decompress_struct *j = &s->jpeg;
    if (setjmp(s->out))
        return false;
    jpeg_create_decompress(j);
    j->progress = &s->progress;
    jpeg_mem_src(j, s->bytes, (unsigned long)s->length);
    jpeg_read_header(j, TRUE);
    if (j->jpeg_color_space != JCS_GRAYSCALE && j->jpeg_color_space != JCS_YCbCr && j->jpeg_color_space != JCS_RGB)
        return fail(s->why, "a JPEG picture in other colours than grey, YCbCr and RGB");
    const int channels = j->jpeg_color_space == JCS_GRAYSCALE ? 1 : 3;
    j->out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    j->dct_method = JDCT_ISLOW; /* whole numbers: the same everywhere */
    if (!prepare(s->r, j->image_width, j->image_height, channels, s->length, JPEG_PIXELS, s->why))
        return false;
    if (!check_coefficients(s))
        return false;
    jpeg_start_decompress(j);
    while (j->output_scanline < j->output_height) {
        JSAMPROW row = s->r->pixels + (size_t)j->output_scanline * (size_t)s->r->width * (size_t)channels;
        jpeg_read_scanlines(j, &row, 1);
    }
    jpeg_finish_decompress(j);
    return true;
}

static bool read_jpeg(raster *r, const uint8_t *bytes, size_t length, trouble *why)
{
    trouble reason;
    jpeg_state s = {.r = r, .bytes = bytes, .length = length, .why = &reason};
    s.jpeg.err = jpeg_std_error(&s.errors);
    s.errors.error_exit = jpeg_fails;
    s.errors.emit_message = jpeg_tells;
    s.progress.progress_monitor = jpeg_goes_on;
    s.jpeg.client_data = &s;
    const bool good = jpeg_picture(&s);
    jpeg_destroy_decompress(&s.jpeg);
    return good || fail(why, "%s", reason.text);
}
#else
static bool read_jpeg(raster *r, const uint8_t *bytes, size_t length, trouble *why)
{
    (void)r;
    (void)bytes;
    (void)length;
    return fail(why, "a JPEG picture, which this build does not read (it was made without libjpeg)");
}
#endif

bool raster_read(raster *r, const uint8_t *bytes, size_t length, const char *name, trouble *why)
{
    trouble reason = {""};
    *r = (raster){0, 0, 0, NULL};
    const bool png = length >= 8 && png_sig_cmp(bytes, 0, 8) == 0;
    const bool jpeg = length >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0;
    const bool good = png    ? read_png(r, bytes, length, &reason)
                      : jpeg ? read_jpeg(r, bytes, length, &reason)
                             : fail(&reason, "neither PNG nor JPEG");
    if (good)
        return true;
    raster_free(r);
    return fail(why, "%s: %.300s", name, reason.text);
}

void raster_free(raster *r)
{
    free(r->pixels);
    r->pixels = NULL;
}

/* ------------------------------------------------------------------------------------------------ changes */

void raster_recolour(raster *r, int channels)
{
    const size_t n = (size_t)r->width * (size_t)r->height;
    if (r->channels == channels)
        return;
    uint8_t *to = need_room(n, (size_t)channels);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *from = r->pixels + i * (size_t)r->channels;
        if (channels == 3)
            memset(to + 3 * i, *from, 3);
        else
            to[i] = (uint8_t)((19595u * from[0] + 38470u * from[1] + 7471u * from[2] + 32768u) >> 16);
    }
    free(r->pixels);
    r->pixels = to;
    r->channels = channels;
}

/* How much of source pixel i target pixel k covers, in lengths of which a source pixel has `side` and a target `n`. */
static uint64_t overlap(uint64_t i, uint64_t k, uint64_t side, uint64_t n)
{
    const uint64_t from = i * side > k * n ? i * side : k * n;
    const uint64_t to = (i + 1) * side < (k + 1) * n ? (i + 1) * side : (k + 1) * n;
    return to > from ? to - from : 0;
}

/* Adds weight times a row of the square, each target pixel the sum of the source pixels it covers. */
static void add_row(uint64_t *sum, const uint8_t *row, uint64_t weight, size_t n, size_t side, size_t channels)
{
    for (size_t x = 0; x < side; x++)
        for (size_t i = x * n / side; i < n && i * side < (x + 1) * n; i++) {
            const uint64_t w = weight * overlap(i, x, side, n);
            for (size_t c = 0; c < channels; c++)
                sum[x * channels + c] += w * row[i * channels + c];
        }
}

void raster_resize(raster *r, int to_side)
{
    const size_t width = (size_t)r->width, height = (size_t)r->height, channels = (size_t)r->channels;
    const size_t n = width < height ? width : height, side = (size_t)to_side, area = n * n;
    const uint8_t *corner = r->pixels + ((height - n) / 2 * width + (width - n) / 2) * channels;
    if (side == width && side == height)
        return;
    uint8_t *to = need_room(side * side, channels);
    uint64_t *sum = need_room(side * channels, sizeof *sum);
    for (size_t y = 0; y < side; y++) {
        memset(sum, 0, side * channels * sizeof *sum);
        for (size_t i = y * n / side; i < n && i * side < (y + 1) * n; i++)
            add_row(sum, corner + i * width * channels, overlap(i, y, side, n), n, side, channels);
        for (size_t k = 0; k < side * channels; k++)
            to[y * side * channels + k] = (uint8_t)((2 * sum[k] + area) / (2 * area));
    }
    free(sum);
    free(r->pixels);
    *r = (raster){to_side, to_side, r->channels, to};
}

raster_kind raster_kind_of(const char *name)
{
    static const char *const others[] = {".gif", ".bmp", ".webp", ".tif",  ".tiff",
                                         ".ppm", ".pgm", ".jp2",  ".avif", ".heic"};
    const char *end = strrchr(name, '.');
    if (!end)
        return RASTER_NONE;
    if (!strcasecmp(end, ".png") || !strcasecmp(end, ".jpg") || !strcasecmp(end, ".jpeg"))
        return RASTER_READ;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcasecmp(end, others[i]))
            return RASTER_OTHER;
    return RASTER_NONE;
}
