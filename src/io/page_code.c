/* page_code.c - the numbers of a run as bytes. Every column is rounded to 16 bits between its least
 * and its largest value (65535 and NaN: no number), k = round((x - least)/step); 0 is exact. Of
 * smooth motion the second differences of k over the rows are small. They are folded into
 * non-negative numbers, split into planes of high and low bytes, and deflated. The error is at most
 * half a step, the range of the column over 131066: below a pixel. Layout, little endian:
 *
 *     t [frames], least, step [columns], gains [bonds] double
 *     points [points], ends [2 bonds]                  int32
 *     kinds [bonds]                                    byte
 *     high, low [columns][frames]                      byte
 *     names of coordinates, algebraic variables, bonds, outputs, one a line
 *
 * A run whose rows are at the times of the first run has further columns, its differences from
 * that one: subtracting rounded numbers would show the rounding where methods agree. */
#include "io/page.h"

#include <math.h>
#include <string.h>

enum { STEPS = 65534, MISSING = 65535 };

int64_t taut_page_frames(const taut_page_run_data *run, int64_t thin)
{
    /* the first ones of `thin`, and the latest */
    return run->kept == 0 ? 0 : (run->kept - 1 + thin - 1) / thin + 1;
}

const taut_page_run_data *taut_page_base(const taut_page_run_data *first,
                                         const taut_page_run_data *run)
{
    int64_t size = 1 + first->columns;
    bool same = run != first && run->sizes.kind == first->sizes.kind && run->kept == first->kept &&
                memcmp(run->width, first->width, sizeof run->width) == 0;
    for (int64_t k = 0; same && k < run->kept; k++)
        same = run->row[k * size] == first->row[k * size];
    return same ? first : NULL;
}

int64_t taut_page_differences(const taut_page_run_data *run)
{
    int64_t columns = 0;
    for (int k = TAUT_PAGE_POSITION; k <= TAUT_PAGE_ENERGY; k++)
        columns += run->width[k];
    return columns;
}

/* The rows that are written. */
typedef struct rows {
    const taut_page_run_data *run, *base;
    int64_t frames, thin;
} rows;

/* Columns: t, those of the run, differences. */
static double value_at(const rows *r, int64_t frame, int64_t column)
{
    int64_t width = r->run->columns,
            k = frame == r->frames - 1 ? r->run->kept - 1 : frame * r->thin,
            at = k * (1 + width) + column;
    return column <= width ? r->run->row[at] : r->run->row[at - width] - r->base->row[at - width];
}

static void add_double(taut_bytes *to, double value)
{
    uint64_t bits;
    unsigned char bytes[8];
    memcpy(&bits, &value, sizeof bits);
    for (int k = 0; k < 8; k++)
        bytes[k] = (unsigned char)(bits >> 8 * k);
    taut_bytes_add(to, bytes, sizeof bytes);
}

static void add_integers(taut_bytes *to, const int32_t *value, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        uint32_t bits = (uint32_t)value[k];
        taut_bytes_add(to,
                       (unsigned char[]){(unsigned char)bits, (unsigned char)(bits >> 8),
                                         (unsigned char)(bits >> 16), (unsigned char)(bits >> 24)},
                       4);
    }
}

typedef struct scale {
    double least, step;
} scale;

static scale scale_of(const rows *r, int64_t column)
{
    double least = INFINITY, most = -INFINITY;
    for (int64_t k = 0; k < r->frames; k++) {
        double x = value_at(r, k, column);
        least = isfinite(x) ? fmin(least, x) : least;
        most = isfinite(x) ? fmax(most, x) : most;
    }
    if (!(least <= most))
        return (scale){0, 0};
    double step = most / (STEPS - 1) - least / (STEPS - 1);
    step = isfinite(step) ? step : 0;
    if (least < 0 && most >= 0 && step > 0) /* 0 is one of the steps */
        least = -ceil(-least / step) * step;
    return (scale){least, step};
}

static unsigned round_to(double x, scale s)
{
    if (!isfinite(x))
        return MISSING;
    double k = s.step > 0 ? floor((x - s.least) / s.step + 0.5) : 0;
    return (unsigned)fmin(fmax(k, 0), STEPS);
}

/* Second differences modulo 2^16, folded: 0, -1, 1, -2, ... become 0, 1, 2, 3, ... */
static void code_column(const rows *r, int64_t column, scale s, unsigned char *high,
                        unsigned char *low)
{
    unsigned before = 0, slope = 0;
    for (int64_t k = 0; k < r->frames; k++) {
        unsigned now = round_to(value_at(r, k, column), s), change = (now - before) & 0xffff,
                 second = (change - slope) & 0xffff,
                 folded = second & 0x8000 ? ((0xffff - second) << 1) + 1 : second << 1;
        high[k] = (unsigned char)(folded >> 8);
        low[k] = (unsigned char)folded;
        before = now;
        slope = k == 0 ? 0 : change; /* the first value is no change */
    }
}

void taut_page_code(taut_bytes *to, const taut_page_run_data *run, const taut_page_run_data *base,
                    int64_t thin)
{
    const rows r = {run, base, taut_page_frames(run, thin), thin};
    int64_t frames = r.frames, columns = run->columns + (base ? taut_page_differences(run) : 0),
            bonds = run->end ? run->sizes.bonds : 0;
    taut_arena arena; /* all but the result */
    taut_arena_init(&arena, &run->arena->allocator);
    taut_bytes raw = {.arena = &arena}, packed = {.arena = &arena};
    scale *s = TAUT_NEW(&arena, scale, columns);
    unsigned char *plane = TAUT_NEW(&arena, unsigned char, 2 * frames * columns);
    if (!s || !plane) {
        to->failed = true;
        taut_arena_clear(&arena);
        return;
    }
    for (int64_t k = 0; k < columns; k++) {
        s[k] = scale_of(&r, k + 1);
        code_column(&r, k + 1, s[k], plane + k * frames, plane + (columns + k) * frames);
    }
    for (int64_t k = 0; k < frames; k++)
        add_double(&raw, value_at(&r, k, 0));
    for (int64_t k = 0; k < 2 * columns; k++)
        add_double(&raw, k < columns ? s[k].least : s[k - columns].step);
    for (int64_t k = 0; k < bonds; k++)
        add_double(&raw, run->gain[k]);
    add_integers(&raw, run->point, run->points);
    add_integers(&raw, run->end, 2 * bonds);
    taut_bytes_add(&raw, run->kind, bonds);
    taut_bytes_add(&raw, plane, 2 * frames * columns);
    taut_bytes_add(&raw, run->names.data, run->names.count);
    if (!raw.failed)
        taut_deflate(&packed, raw.data, raw.count);
    if (raw.failed || packed.failed)
        to->failed = true;
    else
        taut_base64(to, packed.data, packed.count);
    taut_arena_clear(&arena);
}
