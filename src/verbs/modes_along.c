/* modes_along.c - the modes of every row of a run, and what happens to them: episodes in which
 * frequencies are in resonance, with the time at which they are closest and the actions that change
 * there.
 *
 * An episode begins where a gap [E (11), (12)] is below NEAR and ends where it is above FAR. Near
 * the closest approach the square of the gap is a parabola in t, whether frequencies cross or avoid
 * each other: its vertex, by least squares over the rows, is the time that is stated, and little of
 * the vibration is left in it. An action changes by the difference of its means after and before,
 * over as many rows as the episode has. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/structs.h"

static const double NEAR = 0.05, FAR = 0.06;
enum { EPISODES = 64 };

typedef struct episode {
    taut_resonance resonance;
    int64_t first, last; /* rows */
    bool open;
    double t, gap, share;
} episode;

struct taut_modes_along {
    taut_arena arena, judged; /* judged: the changes of the episodes, until the next row */
    taut_context *context;
    taut_index coordinates;
    taut_mode *mode; /* [room]: of one row */
    int room, modes; /* at most; in every row */
    int64_t missing, rows, capacity;
    double *t, *gap, *frequency, *action; /* [rows], [rows], [rows][modes] twice */
    episode episode[EPISODES];
    int episodes;
    int64_t more;
    double *change; /* [episodes][modes]; NULL: not judged */
};

/* ---- rows */

static bool same(const taut_resonance *a, const taut_resonance *b)
{
    return a->j == b->j && a->k == b->k && a->l == b->l;
}

/* Continues or ends the episodes that are open, and begins others. */
static void follow(taut_modes_along *w, const taut_modes_report *report)
{
    for (int e = 0; e < w->episodes; e++) {
        episode *now = &w->episode[e];
        double gap = INFINITY;
        for (int k = 0; k < report->resonances; k++)
            if (same(&now->resonance, &report->resonance[k]))
                gap = report->resonance[k].gap;
        now->open = now->open && gap < FAR;
        if (now->open)
            now->last = w->rows;
    }
    for (int k = 0; k < report->resonances && report->resonance[k].gap < NEAR; k++) {
        bool known = false;
        for (int e = 0; e < w->episodes; e++)
            known |= w->episode[e].open && same(&w->episode[e].resonance, &report->resonance[k]);
        if (!known && w->episodes < EPISODES)
            w->episode[w->episodes++] = (episode){
                .resonance = report->resonance[k], .first = w->rows, .last = w->rows, .open = true};
        else if (!known)
            w->more++;
    }
}

static int grow(taut_modes_along *w, taut_error *error)
{
    double **const array[] = {&w->t, &w->gap, &w->frequency, &w->action};
    int64_t capacity = w->capacity;
    for (int k = 0; k < 4; k++) {
        capacity = w->capacity;
        *array[k] = taut_arena_grow(&w->arena, *array[k], w->rows, &capacity,
                                    (size_t)(k < 2 ? 1 : w->modes) * sizeof(double));
        TAUT_NEED(error, *array[k]);
    }
    w->capacity = capacity;
    return TAUT_OK;
}

static int begin(void *user, const taut_system *system, taut_error *error)
{
    taut_modes_along *w = user;
    taut_sizes z;
    taut_system_sizes(system, &z);
    if (z.coordinates == w->coordinates && z.kind == TAUT_MECHANICAL)
        return TAUT_OK;
    return taut_fail(error, TAUT_ERROR_USAGE,
                     "the rows belong to a system of %d coordinates, the modes to one of %d",
                     (int)z.coordinates, (int)w->coordinates);
}

static int add_row(void *user, const taut_row *row, taut_error *error)
{
    taut_modes_along *w = user;
    taut_modes_report report = {.size = sizeof report};
    int status = taut_modes(w->context, row->t, row->q, row->v, w->room, w->mode, &report, error);
    if (status > 0)
        return taut_fail(error, TAUT_ERROR_EVALUATE,
                         "the modes cannot be computed at the row of t = %.9g", row->t);
    TAUT_TRY(status);
    if (w->rows == 0) {
        w->modes = report.found;
        w->missing = report.modes > report.found ? report.modes - report.found : 0;
    }
    if (report.found != w->modes)
        return taut_fail(error, TAUT_ERROR_EVALUATE,
                         "the number of stiff modes changes along the run, from %d to %d at t = "
                         "%.9g",
                         w->modes, report.found, row->t);
    if (w->rows == w->capacity)
        TAUT_TRY(grow(w, error));
    w->t[w->rows] = row->t;
    w->gap[w->rows] = report.resonances > 0 ? report.resonance[0].gap : INFINITY;
    for (int k = 0; k < w->modes; k++) {
        w->frequency[w->rows * w->modes + k] = w->mode[k].frequency;
        w->action[w->rows * w->modes + k] = w->mode[k].action;
    }
    follow(w, &report);
    w->rows++;
    w->change = NULL;
    return TAUT_OK;
}

/* ---- episodes */

/* Mode p of all as a column, or -1: it is not among those that are computed. */
static int column(const taut_modes_along *w, int p)
{
    int lower = w->modes - w->modes / 2;
    return p < lower ? p : p >= lower + w->missing ? (int)(p - w->missing) : -1;
}

/* The gap of a resonance in row i; NaN: unknown. */
static double gap_of(const taut_modes_along *w, const taut_resonance *r, int64_t i)
{
    const double *f = w->frequency + i * w->modes;
    int j = column(w, r->j), k = column(w, r->k), l = r->l < 0 ? 0 : column(w, r->l);
    if (j < 0 || k < 0 || l < 0)
        return NAN;
    return fabs(f[j] - f[k] - (r->l < 0 ? 0 : f[l])) / f[j];
}

/* a + b s + c s^2 with least squares, s in [-1, 1], from moments; false: c is not positive. */
static bool fit(const double *s, const double *y, double *at, double *value)
{
    double m[3][4] = {{s[0], s[1], s[2], y[0]}, {s[1], s[2], s[3], y[1]}, {s[2], s[3], s[4], y[2]}};
    for (int p = 0; p < 3; p++)
        for (int r = p + 1; r < 3; r++) {
            double factor = m[r][p] / m[p][p];
            for (int c = p; c < 4; c++)
                m[r][c] -= factor * m[p][c];
        }
    double c = m[2][3] / m[2][2], b = (m[1][3] - m[1][2] * c) / m[1][1],
           a = (m[0][3] - m[0][1] * b - m[0][2] * c) / m[0][0];
    *at = -b / (2 * c);
    *value = a - b * b / (4 * c);
    return c > 0 && fabs(*at) <= 1;
}

/* Time and gap of the closest approach. */
static void find_closest(const taut_modes_along *w, episode *e)
{
    double s[5] = {0}, y[3] = {0}, at, value, from = w->t[e->first],
           half = e->last > e->first ? (w->t[e->last] - from) / 2 : 1;
    e->gap = INFINITY;
    for (int64_t i = e->first; i <= e->last; i++) {
        double gap = gap_of(w, &e->resonance, i), x = (w->t[i] - from) / half - 1;
        if (gap < e->gap) {
            e->gap = gap;
            e->t = w->t[i];
        }
        for (int p = 0; p < 5; p++)
            s[p] += pow(x, p);
        for (int p = 0; p < 3; p++)
            y[p] += gap * gap * pow(x, p);
    }
    if (e->last - e->first >= 4 && fit(s, y, &at, &value)) {
        e->t = from + (at + 1) * half;
        e->gap = sqrt(fmax(value, 0));
    }
}

static double mean(const taut_modes_along *w, int k, int64_t from, int64_t until)
{
    double sum = 0;
    for (int64_t i = from; i < until; i++)
        sum += w->action[i * w->modes + k];
    return sum / (double)(until - from);
}

static double change_of(const taut_modes_along *w, const episode *e, int k)
{
    int64_t length = e->last - e->first + 1, from = e->first > length ? e->first - length : 0,
            until = e->last + 1 + length < w->rows ? e->last + 1 + length : w->rows;
    bool begins = e->first == 0, ends = e->last + 1 == w->rows;
    return mean(w, k, ends ? e->last : e->last + 1, until) -
           mean(w, k, from, begins ? 1 : e->first);
}

/* By share, largest first; then by time. */
static int compare(const void *a, const void *b)
{
    const episode *x = a, *y = b;
    return x->share != y->share ? (x->share < y->share) - (x->share > y->share)
                                : (x->t > y->t) - (x->t < y->t);
}

static int judge(taut_modes_along *w, taut_error *error)
{
    double all = 0;
    taut_arena_clear(&w->judged);
    double *change = TAUT_NEW(&w->judged, double, w->episodes * w->modes);
    TAUT_NEED(error, change);
    for (int k = 0; k < w->modes && w->rows > 0; k++)
        all += w->action[k];
    for (int e = 0; e < w->episodes; e++) {
        episode *now = &w->episode[e];
        find_closest(w, now);
        now->share = 0;
        for (int k = 0; k < w->modes; k++)
            now->share += all > 0 ? fabs(change_of(w, now, k)) / (2 * all) : 0;
    }
    qsort(w->episode, (size_t)w->episodes, sizeof *w->episode, compare);
    for (int e = 0; e < w->episodes; e++)
        for (int k = 0; k < w->modes; k++)
            change[e * w->modes + k] = change_of(w, &w->episode[e], k);
    w->change = change;
    return TAUT_OK;
}

int taut_modes_episode_get(taut_modes_along *along, int k, taut_modes_episode *found,
                           taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(along && k >= 0 && k < along->episodes);
    if (!along->change)
        TAUT_TRY(judge(along, error));
    const episode *e = &along->episode[k];
    taut_modes_episode own = {.resonance = e->resonance,
                              .from = along->t[e->first],
                              .until = along->t[e->last],
                              .t = e->t,
                              .share = e->share,
                              .change = along->change + k * along->modes};
    own.resonance.gap = e->gap;
    return taut_struct_fill(found, &own, sizeof own, "taut_modes_episode", error);
}

int taut_modes_along_get(const taut_modes_along *along, taut_modes_rows *rows, taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(along);
    taut_modes_rows own = {.rows = along->rows,
                           .modes = along->modes,
                           .missing = along->missing,
                           .t = along->t,
                           .gap = along->gap,
                           .frequency = along->frequency,
                           .action = along->action,
                           .episodes = along->episodes,
                           .more = along->more};
    return taut_struct_fill(rows, &own, sizeof own, "taut_modes_rows", error);
}

/* ---- making */

static int prepare(taut_modes_along *w, const taut_system *system, int count,
                   const taut_allocator *allocator, taut_error *error)
{
    taut_sizes z;
    taut_system_sizes(system, &z);
    if (z.kind != TAUT_MECHANICAL || !(z.can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL)))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "modes along a run need bonds with a stiffness or a stiff potential");
    w->coordinates = z.coordinates;
    w->room = count;
    w->mode = TAUT_NEW(&w->arena, taut_mode, count);
    TAUT_NEED(error, w->mode);
    return taut_context_create(system, allocator, &w->context, error);
}

int taut_modes_along_create(const taut_system *system, int count, const taut_allocator *allocator,
                            taut_modes_along **along, taut_sink *sink, taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(system && count > 0 && along && sink);
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    taut_modes_along *w = TAUT_NEW(&arena, taut_modes_along, 1);
    *along = NULL;
    TAUT_NEED(error, w);
    w->arena = arena;
    taut_arena_init(&w->judged, allocator);
    int status = prepare(w, system, count, allocator, error);
    if (status != 0) {
        taut_modes_along_destroy(w);
        return status;
    }
    *along = w;
    *sink = (taut_sink){begin, add_row, NULL, w};
    return TAUT_OK;
}

void taut_modes_along_destroy(taut_modes_along *along)
{
    if (!along)
        return;
    taut_context_destroy(along->context);
    taut_arena_clear(&along->judged);
    taut_arena arena = along->arena; /* it lives in it */
    taut_arena_clear(&arena);
}
