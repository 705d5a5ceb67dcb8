/* modes_along.c - the modes of every row of a run, and what happens to them: episodes in which
 * frequencies are in resonance, with the time at which they are closest and the actions that change
 * there.
 *
 * An episode begins where a gap [E (11), (12)] is below NEAR and ends where it is above FAR. Near
 * the closest approach the square of the gap is a parabola in t, whether frequencies cross or avoid
 * each other: its vertex, by least squares over the rows, is the time that is stated, and little of
 * the vibration is left in it. An action changes by the difference of its means after and before,
 * over as many rows as the episode has.
 *
 * Modes are numbered by their places (taut_mode), group by group: among all of them the order of
 * frequencies changes whenever those of two molecules pass each other, which is no resonance. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/structs.h"
#include "base/vectors.h"

static const double NEAR = 0.05, FAR = 0.06;
enum { EPISODES = 64, ALL_KEPT = 2000 };

typedef struct episode {
    taut_resonance resonance;
    int64_t first, last; /* rows */
    bool open;
    double s[5], y[3]; /* sums of x^p, gap^2 x^p over the rows, x the time after the first one */
    double t, gap, share;
} episode;

struct taut_modes_along {
    taut_arena arena, judged; /* judged: the changes of the episodes, until the next row */
    taut_context *context;
    taut_index coordinates;
    int count;       /* modes that are kept, at most */
    taut_mode *mode; /* [room]: of one row */
    int room, all;   /* modes in every row */
    double *now[2];  /* [room] frequencies and actions of the latest row, by place */
    int modes;       /* of them that are kept: half of them from each end */
    int64_t missing, rows, capacity;
    double *t, *gap, *frequency, *action; /* [rows], [rows], [rows][modes] twice */
    double *every; /* [rows][all] actions, where not all are kept but up to ALL_KEPT; else NULL */
    double most;   /* largest sum of the actions of a row */
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

/* Of the k-th mode of the latest row, ascending in frequency. */
static int place_of(const taut_modes_along *w, int k)
{
    return w->mode[k].place < 0 ? k : w->mode[k].place;
}

/* In the latest row. */
static double gap_of(const taut_modes_along *w, const taut_resonance *r)
{
    const double *f = w->now[0];
    return fabs(f[r->j] - f[r->k] - (r->l < 0 ? 0 : f[r->l])) / f[r->j];
}

static void extend(taut_modes_along *w, episode *e, double gap)
{
    const double t = w->t[w->rows], x = t - w->t[e->first];
    double power = 1;
    e->last = w->rows;
    if (gap < e->gap) {
        e->gap = gap;
        e->t = t;
    }
    for (int p = 0; p < 5; p++, power *= x) {
        e->s[p] += power;
        if (p < 3)
            e->y[p] += gap * gap * power;
    }
}

/* Continues or ends the episodes that are open, and begins others. */
static void follow(taut_modes_along *w, const taut_modes_report *report)
{
    for (int e = 0; e < w->episodes; e++) {
        episode *now = &w->episode[e];
        double gap = now->open ? gap_of(w, &now->resonance) : INFINITY;
        now->open = gap < FAR;
        if (now->open)
            extend(w, now, gap);
    }
    for (int k = 0; k < report->resonances && report->resonance[k].gap < NEAR; k++) {
        const taut_resonance *r = &report->resonance[k];
        taut_resonance found = {place_of(w, r->j), place_of(w, r->k),
                                r->l < 0 ? -1 : place_of(w, r->l), r->gap};
        bool known = false;
        for (int e = 0; e < w->episodes; e++)
            known |= w->episode[e].open && same(&w->episode[e].resonance, &found);
        if (!known && w->episodes < EPISODES) {
            episode *added = &w->episode[w->episodes++];
            *added = (episode){.resonance = found, .first = w->rows, .open = true, .gap = INFINITY};
            extend(w, added, r->gap);
        } else if (!known) {
            w->more++;
        }
    }
}

static int grow(taut_modes_along *w, taut_error *error)
{
    const bool every = w->all > w->modes && w->all <= ALL_KEPT;
    double **const array[] = {&w->t, &w->gap, &w->frequency, &w->action, &w->every};
    const int size[] = {1, 1, w->modes, w->modes, w->all};
    int64_t capacity = w->capacity;
    for (int k = 0; k < (every ? 5 : 4); k++) {
        capacity = w->capacity;
        *array[k] = taut_arena_grow(&w->arena, *array[k], w->rows, &capacity,
                                    (size_t)size[k] * sizeof(double));
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

static int find_modes(taut_modes_along *w, const taut_row *row, taut_modes_report *report,
                      taut_error *error)
{
    int status = taut_modes(w->context, row->t, row->q, row->v, w->room, w->mode, report, error);
    if (status > 0)
        return taut_fail(error, TAUT_ERROR_EVALUATE,
                         "the modes cannot be computed at the row of t = %.9g", row->t);
    return status;
}

static int reserve(taut_modes_along *w, int64_t room, taut_error *error)
{
    w->room = (int)room;
    w->mode = TAUT_NEW(&w->arena, taut_mode, room);
    TAUT_NEED(error, w->mode);
    return TAUT_RESERVE(&w->arena, room, error, &w->now[0], &w->now[1]);
}

/* The first row: where all modes are found, all of them are taken, so that they have places. */
static int take_first(taut_modes_along *w, const taut_row *row, taut_modes_report *report,
                      taut_error *error)
{
    if (!report->complete && report->modes > w->room) {
        TAUT_TRY(reserve(w, report->modes, error));
        TAUT_TRY(find_modes(w, row, report, error));
    }
    w->all = report->found;
    w->modes = w->all < w->count ? w->all : w->count;
    w->missing = w->all - w->modes;
    return TAUT_OK;
}

static void keep(taut_modes_along *w, bool complete)
{
    const int lower = w->modes - w->modes / 2;
    double *at[] = {w->frequency + w->rows * w->modes, w->action + w->rows * w->modes}, sum = 0;
    for (int k = 0; k < w->all; k++) {
        const int place = complete ? place_of(w, k) : k;
        w->now[0][place] = w->mode[k].frequency;
        w->now[1][place] = w->mode[k].action;
        sum += w->mode[k].action;
    }
    for (int k = 0; k < 2; k++) {
        taut_copy(lower, w->now[k], at[k]);
        taut_copy(w->modes - lower, w->now[k] + lower + w->missing, at[k] + lower);
    }
    if (w->every)
        taut_copy(w->all, w->now[1], w->every + w->rows * w->all);
    w->most = fmax(w->most, sum);
}

static int add_row(void *user, const taut_row *row, taut_error *error)
{
    taut_modes_along *w = user;
    taut_modes_report report = {.size = sizeof report};
    TAUT_TRY(find_modes(w, row, &report, error));
    if (w->rows == 0)
        TAUT_TRY(take_first(w, row, &report, error));
    if (report.found != w->all)
        return taut_fail(error, TAUT_ERROR_EVALUATE,
                         "the number of stiff modes changes along the run, from %d to %d at t = "
                         "%.9g",
                         w->all, report.found, row->t);
    if (w->rows == w->capacity)
        TAUT_TRY(grow(w, error));
    w->t[w->rows] = row->t;
    w->gap[w->rows] = report.resonances > 0 ? report.resonance[0].gap : INFINITY;
    keep(w, report.complete);
    follow(w, &report);
    w->rows++;
    w->change = NULL;
    return TAUT_OK;
}

/* ---- episodes */

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

/* Time and gap of the closest approach: those of the vertex if the row that is closest is near to
 * it, else of that row; gaps may have several minima, or remain. */
static void find_closest(const taut_modes_along *w, episode *e)
{
    static const double binomial[5][5] = {
        {1}, {-1, 1}, {1, -2, 1}, {-1, 3, -3, 1}, {1, -4, 6, -4, 1}};
    const double from = w->t[e->first], half = (w->t[e->last] - from) / 2;
    double s[5] = {0}, y[3] = {0}, at, value;
    if (e->last - e->first < 4)
        return;
    for (int p = 0; p < 5; p++) /* of (x/half - 1)^p */
        for (int k = 0; k <= p; k++) {
            s[p] += binomial[p][k] * e->s[k] / pow(half, k);
            y[p < 3 ? p : 2] += p < 3 ? binomial[p][k] * e->y[k] / pow(half, k) : 0;
        }
    if (fit(s, y, &at, &value) && fabs(from + (at + 1) * half - e->t) < half / 2) {
        e->t = from + (at + 1) * half;
        e->gap = sqrt(fmax(value, 0));
    }
}

static double mean(const double *action, int stride, int64_t from, int64_t until)
{
    double sum = 0;
    for (int64_t i = from; i < until; i++)
        sum += action[i * stride];
    return sum / (double)(until - from);
}

/* Of an action, the first of `stride` in each row. */
static double change_of(const taut_modes_along *w, const episode *e, const double *action,
                        int stride)
{
    int64_t length = e->last - e->first + 1, from = e->first > length ? e->first - length : 0,
            until = e->last + 1 + length < w->rows ? e->last + 1 + length : w->rows;
    bool begins = e->first == 0, ends = e->last + 1 == w->rows;
    return mean(action, stride, ends ? e->last : e->last + 1, until) -
           mean(action, stride, from, begins ? 1 : e->first);
}

/* That of the action of the mode at a place, or NaN. */
static double change_at(const taut_modes_along *w, const episode *e, int place)
{
    const int lower = w->modes - w->modes / 2;
    if (place >= 0 && w->every)
        return change_of(w, e, w->every + place, w->all);
    if (place < 0 || (place >= lower && place < lower + w->missing))
        return NAN;
    return change_of(w, e, w->action + (place < lower ? place : place - w->missing), w->modes);
}

/* The share of all actions that the modes in resonance exchange. */
static double share_of(const taut_modes_along *w, const episode *e)
{
    const taut_resonance *r = &e->resonance;
    double sum = fabs(change_at(w, e, r->j)) + fabs(change_at(w, e, r->k));
    if (r->l >= 0 && r->l != r->k)
        sum += fabs(change_at(w, e, r->l));
    return sum > 0 && w->most > 0 ? sum / (2 * w->most) : 0;
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
    taut_arena_clear(&w->judged);
    double *change = TAUT_NEW(&w->judged, double, w->episodes * w->modes);
    TAUT_NEED(error, change);
    for (int e = 0; e < w->episodes; e++) {
        find_closest(w, &w->episode[e]);
        w->episode[e].share = share_of(w, &w->episode[e]);
    }
    qsort(w->episode, (size_t)w->episodes, sizeof *w->episode, compare);
    for (int e = 0; e < w->episodes; e++)
        for (int k = 0; k < w->modes; k++)
            change[e * w->modes + k] = change_of(w, &w->episode[e], w->action + k, w->modes);
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
                              .change = along->change + k * along->modes,
                              .moved = {change_at(along, e, e->resonance.j),
                                        change_at(along, e, e->resonance.k),
                                        change_at(along, e, e->resonance.l)}};
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
    w->count = count;
    TAUT_TRY(reserve(w, count, error));
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
    *sink = (taut_sink){.begin = begin, .row = add_row, .user = w};
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
