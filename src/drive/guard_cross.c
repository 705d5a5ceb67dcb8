/* guard_cross.c - guards of the state after a step: which have crossed their border, and does it
 * matter?
 *
 * Functions are compared at both ends of the step, and where their slopes suggest it inside. With
 * df the difference of both fields at the end of the step, at a time d behind the crossing, df d
 * (and df d^2/2 in positions) is what the wrong branch has changed. Where the norm of the driver
 * finds that negligible, the step counts and the branch changes at its end. Else the crossing is
 * located on the dense output and the step is repeated up to just behind it, until that holds.
 *
 * [Hairer, Norsett, Wanner I, II.6, on discontinuities: switching functions and dense output.] */
#include "drive/guard_watch.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/hot.h"
#include "base/vectors.h"
#include "drive/root.h"

static const double NEGLIGIBLE = 0.1; /* of what the tolerance allows in a step */
static const double FEWER = 0.4;      /* of a step in which many cross */
enum { MOST_AIMS = 40 };

/* The root of the cubic with f0 >= 0 > f1 and slopes m0, m1 per step: the first one seen by
 * bisection, which is what a first guess needs. */
static double cubic_root(double f0, double f1, double m0, double m1)
{
    double a2 = 3 * (f1 - f0) - 2 * m0 - m1, a3 = 2 * (f0 - f1) + m0 + m1, a = 0, b = 1;
    for (int j = 0; j < 30; j++) {
        double c = (a + b) / 2, f = f0 + c * (m0 + c * (a2 + c * a3));
        *(f < 0 ? &b : &a) = c;
    }
    return b;
}

/* Could the cubic through these values and slopes be below 0, or far below both ends? By its
 * control points; -1 or 0, so that compilers form vectors. */
static inline int64_t is_low(double f0, double f1, double m0, double m1)
{
    double least = 0.25 * (f0 < f1 ? f0 : f1), a = f0 + m0 / 3 - least, b = f1 - m1 / 3 - least;
    double most = a > b ? a : b;
    return (most < 0 ? -1 : 0) | (f1 <= 0 ? -1 : 0);
}

/* Is there nothing to look at in n guards? The end alone often shows it: with f1 > 0 and
 * m1 <= 9 f1/4 no cubic is low. */
TAUT_HOT static bool end_well(int64_t n, double h, const double *u1, const double *m1,
                              const double *branch, const double *at)
{
    int64_t loud = 0;
    for (int64_t k = 0; k < n; k++) {
        double side = branch[k] > 0 ? 1 : -1, f1 = side * (u1[k] - at[k]),
               rest = f1 - 4. / 9 * h * side * m1[k], least = f1 < rest ? f1 : rest;
        loud |= least <= 0 ? -1 : 0;
    }
    return loud == 0;
}

/* One pass over all, cells and others apart. */
TAUT_HOT static bool are_quiet_sides(int64_t n, double h, const double *u0, const double *u1,
                                     const double *m0, const double *m1, const double *branch,
                                     const double *at)
{
    int64_t loud = 0;
    for (int64_t k = 0; k < n; k++) {
        double side = branch[k] > 0 ? 1 : -1, slope = h * side;
        loud |=
            is_low(side * (u0[k] - at[k]), side * (u1[k] - at[k]), slope * m0[k], slope * m1[k]);
    }
    return loud == 0;
}

TAUT_HOT static bool are_quiet_cells(int64_t n, double h, const double *u0, const double *u1,
                                     const double *m0, const double *m1, const double *branch)
{
    int64_t loud = 0;
    for (int64_t k = 0; k < n; k++) {
        double low0 = u0[k] - branch[k], low1 = u1[k] - branch[k];
        loud |= is_low(low0, low1, h * m0[k], h * m1[k]) |
                is_low(1 - low0, 1 - low1, -h * m0[k], -h * m1[k]);
    }
    return loud == 0;
}

static bool is_quiet(const taut_guard_watch *w, const taut_guard *guard, int64_t first, int64_t n,
                     double h)
{
    const double *u0 = w->before + first, *u1 = w->after + first, *m0 = w->slope + first,
                 *m1 = w->slope_after + first, *branch = w->branch + first;
    if (guard->kind == TAUT_GUARD_CELL)
        return are_quiet_cells(n, h, u0, u1, m0, m1, branch);
    bool may_slide = w->sliding && w->sliding->count > 0 && guard->op == TAUT_OP_SIGN;
    return !may_slide && (end_well(n, h, u1, m1, branch, w->at + first) ||
                          are_quiet_sides(n, h, u0, u1, m0, m1, branch, w->at + first));
}

static double function(const taut_guard_watch *w, const taut_crossing *c)
{
    return c->b.side * (w->trial[c->k] - c->b.at);
}

static int inside(taut_solver *solver, double theta, taut_error *error)
{
    TAUT_TRY(taut_dense(solver, theta, error));
    return taut_unevaluated(
        taut_guard_values(solver, &solver->probe, NULL, true, solver->guards.trial, NULL, error),
        solver->probe.t, error);
}

/* A cubic that dips: does u itself, at the lowest point or nearby? */
static int look_inside(taut_solver *solver, taut_crossing *c, double theta, bool *found,
                       taut_error *error)
{
    static const double NEARBY[3] = {0, -0.08, 0.08};
    *found = false;
    for (int j = 0; j < 3 && !*found; j++) {
        double at = fmin(fmax(theta + NEARBY[j], 0.01), 0.99);
        TAUT_TRY(inside(solver, at, error));
        *found = function(&solver->guards, c) < 0;
        c->low = at;
    }
    c->inside = true;
    c->theta = c->low / 2;
    return TAUT_OK;
}

/* Examines one guard: is there a crossing? */
static int examine(taut_solver *solver, const taut_guard *guard, int64_t k, double h,
                   taut_crossing *c, taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    double way = h < 0 ? -1 : 1;
    c->k = -1;
    for (int upper = 0; upper < taut_guard_borders(w, guard, k) && c->k < 0; upper++) {
        taut_guard_border b = taut_guard_border_of(w, guard, k, upper);
        double f0 = fmax(b.side * (w->before[k] - b.at), 0), f1 = b.side * (w->after[k] - b.at),
               m0 = h * b.side * w->slope[k], m1 = h * b.side * w->slope_after[k];
        taut_crossing found = {.k = k, .b = b, .theta = 1};
        if (taut_guard_beyond(b, w->after[k], way * w->slope_after[k])) {
            if (f1 < 0)
                found.theta = cubic_root(f0, f1, m0, m1);
            *c = found;
        } else if (guard->of_state && f0 > 0 && f1 > 0 && m0 < 0 && m1 > 0) {
            double theta = taut_root_dip(f0, f1, m0, m1);
            bool dips = false;
            if (theta > 0)
                TAUT_TRY(look_inside(solver, &found, theta, &dips, error));
            if (dips)
                *c = found;
        }
    }
    return TAUT_OK;
}

/* The guard of a crossing takes its other branch; one that slides leaves its surface. */
void taut_guard_cross(taut_guard_watch *w, const taut_crossing *c)
{
    const taut_guard *guard = taut_guard_of(w, c->k);
    double *branch = &w->branch[c->k], u = w->after[c->k];
    w->touched[c->k] = guard->op == TAUT_OP_SIGN && guard->of_state;
    w->at[c->k] = 0;
    if (w->slides[c->k]) {
        *branch = c->b.side < 0 ? 1 : -1;
        w->slides[c->k] = 0;
        w->at[c->k] = -*branch * 2 * fabs(w->drift[c->k]);
    } else if (guard->kind == TAUT_GUARD_CELL) {
        double cell = floor(u);
        *branch = cell != *branch ? cell : c->b.side < 0 ? *branch + 1 : *branch - 1;
    } else {
        *branch = guard->kind == TAUT_GUARD_SIGN ? -*branch : 1 - *branch;
    }
}

/* The norm of what the present branches, instead of w->held, change over a time d before the state,
 * and the branches behind it in w->next. `all`:
 * also of guards that depend on others, and all that are beyond their border. */
int taut_guard_measure(taut_solver *solver, const taut_state *x, bool all, double h, double d,
                       double *e, taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    taut_stepper *s = &solver->stepper;
    taut_error reason;
    bool tied;
    taut_slide_set(solver);
    if (all)
        taut_guard_settle(solver, x, x->a, h < 0 ? -1 : 1, &tied);
    taut_guard_keep_next(w);
    int status = taut_guard_rates(solver, x, w->a, &reason);
    taut_guard_take_back(solver);
    bool known = s->method->uses_field && x == &s->now;
    const double *old = known ? s->now.a : w->a_old;
    if (status == 0 && !known)
        status = taut_guard_rates(solver, x, w->a_old, &reason);
    TAUT_TRY(taut_fail_final(status, &reason, error));
    *e = INFINITY;
    if (status != 0)
        return TAUT_OK;
    for (taut_index i = 0; i < s->n; i++) {
        double off = (w->a[i] - old[i]) * d;
        s->error_v[i] = s->first_order ? 0 : off;
        s->error_q[i] = s->first_order ? off : off * d / 2;
    }
    *e = taut_norm_known(solver, h);
    return TAUT_OK;
}

/* What taut_crossing c alone changes; the field behind it in w->a. */
static int measure_one(taut_solver *solver, const taut_crossing *c, double h, double *e,
                       taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    const taut_state *x = &solver->stepper.now;
    double d = (1 - c->theta) * h;
    if (c->inside) { /* at its lowest point, as if it lasted twice as long as the way there */
        TAUT_TRY(inside(solver, c->low, error));
        x = &solver->probe;
        d = c->low * h;
    }
    taut_guard_keep(solver);
    taut_guard_cross(w, c);
    return taut_guard_measure(solver, x, false, h, d, e, error);
}

static int root_function(taut_solver *solver, int64_t k, double theta, double *value,
                         taut_error *error)
{
    (void)k;
    TAUT_TRY(inside(solver, theta, error));
    *value = function(&solver->guards, solver->guards.sought);
    return TAUT_OK;
}

/* The step is to be repeated up to just behind taut_crossing c, whose norm is e. */
static int aim_at(taut_solver *solver, taut_crossing *c, double h, double e, taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    double d = 1 - c->theta, margin = fmin(d / 2, d * NEGLIGIBLE / (3 * e)),
           tiny = taut_root_resolution(solver), low = 0, high = c->inside ? c->low : 1;
    double f0 = fmax(c->b.side * (w->before[c->k] - c->b.at), DBL_MIN),
           f1 = c->b.side * (w->after[c->k] - c->b.at);
    margin = fmax(margin, 2 * tiny);
    w->sought = c;
    if (c->inside) {
        TAUT_TRY(inside(solver, high, error));
        f1 = function(w, c);
    }
    if (f1 < 0)
        TAUT_TRY(taut_root_locate(solver, root_function, 0, fmax(margin / 4, tiny), &low, &high, f0,
                                  f1, error));
    w->sought = NULL;
    w->aim = fmin(high + margin, 1) * fabs(h);
    return TAUT_OK;
}

/* Finds the crossings of the latest step. In list[] up to TAUT_CROSSINGS, the earliest one among
 * them; in fresh[] up to TAUT_CROSSINGS of families whose contact is not known. */
static int scan(taut_solver *solver, double h, taut_crossing *list, int64_t *count,
                taut_crossing *fresh, int *news, taut_error *error)
{
    enum { CHUNK = 256 };
    taut_guard_watch *w = &solver->guards;
    *count = *news = 0;
    for (int32_t f = 0; f < w->families; f++) {
        const taut_guard_family *family = &w->family[f];
        taut_op op = family->guard->op;
        bool wanted = isnan(w->contact[f]) && family->guard->of_state && op != TAUT_OP_SIGN &&
                      op != TAUT_OP_CURVE;
        for (int64_t first = 0; first < family->members; first += CHUNK) {
            int64_t n = family->members - first < CHUNK ? family->members - first : CHUNK;
            if (is_quiet(w, family->guard, family->first + first, n, h))
                continue;
            for (int64_t k = family->first + first; k < family->first + first + n; k++) {
                taut_crossing c;
                TAUT_TRY(examine(solver, family->guard, k, h, &c, error));
                if (c.k < 0)
                    continue;
                if (wanted && *news < TAUT_CROSSINGS && !c.inside && c.theta < 0.99) {
                    fresh[(*news)++] = c;
                    wanted = false;
                }
                if (*count < TAUT_CROSSINGS)
                    list[*count] = c;
                else if (c.theta < list[0].theta)
                    list[0] = c;
                ++*count;
            }
        }
    }
    return TAUT_OK;
}

/* Switches all guards of the list, or all that are beyond their border, in w->branch. */
static void switch_all(taut_guard_watch *w, double h, const taut_crossing *list, int64_t count)
{
    double way = h < 0 ? -1 : 1;
    for (int64_t j = 0; j < count && count <= TAUT_CROSSINGS; j++)
        if (!list[j].inside)
            taut_guard_cross(w, &list[j]);
    for (int32_t f = 0; count > TAUT_CROSSINGS && f < w->families; f++)
        for (int64_t k = w->family[f].first; k < w->family[f].first + w->family[f].members; k++)
            w->branch[k] = taut_guard_branch_at(w, w->family[f].guard, k, w->after[k],
                                                way * w->slope_after[k]);
    taut_slide_align(w);
}

/* The earliest crossing that matters on its own, or the earliest of all; its norm in *e. */
static int choose(taut_solver *solver, double h, taut_crossing *list, int64_t count, int *chosen,
                  double *e, taut_error *error)
{
    int first = 0;
    *chosen = -1;
    for (int j = 1; j < count && j < TAUT_CROSSINGS; j++)
        first = list[j].theta < list[first].theta ? j : first;
    if (count == 1 || count > TAUT_CROSSINGS) {
        *chosen = first;
        return TAUT_OK;
    }
    for (int j = 0; j < count; j++) {
        double own;
        TAUT_TRY(measure_one(solver, &list[j], h, &own, error));
        bool earlier = *chosen < 0 || list[j].theta < list[*chosen].theta;
        if (!(own <= NEGLIGIBLE / (double)count) && earlier) {
            *chosen = j;
            *e = own;
        }
    }
    if (*chosen < 0)
        *chosen = first;
    return TAUT_OK;
}

/* The latest step counts, and some guards have crossed their border: the branches behind it, and
 * the field there in w->a; `afresh`: that is not known. */
static int plan_switch(taut_solver *solver, double h, const taut_crossing *list, int64_t count,
                       bool afresh, taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    const taut_state *now = &solver->stepper.now;
    taut_error reason = {0};
    bool surfaces = false, tied;
    taut_guard_keep(solver);
    memset(w->touched, 0, (size_t)w->count);
    switch_all(w, h, list, count);
    for (int64_t k = 0; k < w->count && !surfaces; k++)
        surfaces = w->touched[k];
    w->pending = true;
    double way = h < 0 ? -1 : 1;
    taut_slide_set(solver);
    taut_guard_settle(solver, now, now->a, way, &tied);
    int status = surfaces ? taut_slide_resolve(solver, now, way, w->a, error)
                 : afresh ? taut_guard_rates(solver, now, w->a, &reason)
                          : TAUT_OK;
    if (!surfaces)
        status = taut_fail_final(status, &reason, error);
    w->aimed = w->aimed || surfaces;
    taut_guard_keep_next(w);
    taut_guard_take_back(solver);
    return status;
}

/* Has the step passed over half a table, or gone beyond its end by as much? Stages may have missed
 * what is in it. */
static bool passes_table(const taut_guard_watch *w, const taut_crossing *c)
{
    double length = taut_guard_of(w, c->k)->length;
    return length > 0 && !c->inside && -c->b.side * (w->after[c->k] - c->b.at) > length / 2;
}

/* Largest norm of what crossings of the latest step change. */
static int measure_all(taut_solver *solver, double h, const taut_crossing *list, int64_t count,
                       double *e, taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    double earliest = 1;
    bool ends = count > TAUT_CROSSINGS;
    *e = 0;
    for (int64_t j = 0; j < count && j < TAUT_CROSSINGS; j++) {
        earliest = fmin(earliest, list[j].theta);
        ends = ends || !list[j].inside;
        if (passes_table(w, &list[j]))
            *e = INFINITY;
        if (list[j].inside) {
            double own;
            TAUT_TRY(measure_one(solver, &list[j], h, &own, error));
            *e = fmax(*e, own);
        }
    }
    if (!ends)
        return TAUT_OK;
    double all;
    taut_guard_keep(solver);
    switch_all(w, h, list, count);
    TAUT_TRY(
        taut_guard_measure(solver, &solver->stepper.now, true, h, (1 - earliest) * h, &all, error));
    *e = fmax(*e, all);
    w->pending = true;
    return TAUT_OK;
}

int taut_guard_step(taut_solver *solver, double h, taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    taut_stepper *s = &solver->stepper;
    taut_crossing list[TAUT_CROSSINGS], fresh[TAUT_CROSSINGS];
    int32_t smooth[TAUT_CROSSINGS];
    int64_t count;
    int news;
    double e;
    if (w->count == 0 || w->families == 0)
        return TAUT_OK;
    w->pending = w->aimed = false;
    w->aim = 0;
    taut_guard_values(solver, &s->now, s->now.a, false, w->after, w->slope_after, NULL);
    TAUT_TRY(scan(solver, h, list, &count, fresh, &news, error));
    if (count == 0)
        return TAUT_OK;
    TAUT_TRY(taut_guard_classify(solver, h, fresh, news, smooth, error));
    TAUT_TRY(measure_all(solver, h, list, count, &e, error));
    if (!(e <= NEGLIGIBLE) && taut_guard_release_smooth(solver, smooth, news)) {
        w->aim = fabs(h); /* the step is repeated with conditions as written */
        return TAUT_RETRY;
    }
    if (!(e <= NEGLIGIBLE) && w->aims++ < MOST_AIMS) {
        int chosen;
        TAUT_TRY(choose(solver, h, list, count, &chosen, &e, error));
        if (list[chosen].theta < 1)
            TAUT_TRY(aim_at(solver, &list[chosen], h, e, error));
        if (count > TAUT_CROSSINGS) /* a shorter step crosses fewer of them */
            w->aim = fmax(w->aim, FEWER * fabs(h));
        if (list[chosen].theta < 1 || count > TAUT_CROSSINGS)
            return TAUT_RETRY;
    }
    w->aimed = w->aims > 0;
    w->aims = 0;
    if (w->pending)
        TAUT_TRY(plan_switch(solver, h, list, count, !(e <= NEGLIGIBLE), error));
    bool gone = taut_guard_release_smooth(solver, smooth, news);
    w->latest = count == 1 && !gone ? list[0].k : -1;
    return TAUT_OK;
}
