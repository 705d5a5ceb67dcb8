/* norm.c - how large the error of a step is: 1 at the tolerance.
 *
 *     full motion          max( rms dq_i/(atol + rtol S_q), rms dv_i/(rtol S_v),
 *                               max |C^-1 G (dq + T dv)|_i/(rtol S_lambda) ) / share
 *     rigid, slow motion   rms (|dq_i| + H |dv_i|)/(atol + rtol |q_i|) / share, H = max(h, R/10)
 *     first order          rms |dq_i|/(atol + rtol |q_i|)
 *
 * S are the largest values so far of the group that a variable belongs to (a family, a name, or the
 * Cartesian coordinates x1, y1, ...).
 * S_v is an average over time, sqrt(2 <v^2>), so that a close encounter does not loosen the rest of
 * the run; at least 1e-3 S_q/T, and in the first steps, at rest, a part of sqrt(|a| S_q). Where
 * accelerations are large dq_i is at most rtol S_v^2/|a|, and where velocities are dv_i at most
 * rtol 2 S_v^2/|v|: a dq and v dv are errors of the energy. Default atol: 1e-3 rtol times S, in
 * full motion times the largest S.
 *
 * Full motion: positions alone would leave the velocities of stiff springs off by omega, their
 * forces by omega^2 tolerances. With a share of the tolerance the errors of many periods add up to
 * some tolerances: share = min(1, max(300 H/T, 10/(10 + number of steps))). The factor 300 keeps
 * short runs as they are, the second term short first steps; H, below, lets steps pass a kink.
 * Methods of order 3 have a factor 50, of order 1 and 2 one of 30: they need many more steps; and
 * in rigid and slow motion a quarter of the share, since few of their steps err alike. Rounding of
 * positions is visible in velocities as u |q|/h, in forces as u |q|/c, and is no error that a
 * smaller step reduces.
 *
 * Rigid and slow motion: R is the longest recent step; it decreases by a tenth of the time that
 * passes. While steps keep their size H is h. Where they collapse, at a kink or a close encounter,
 * h |dv| would accept an error tol/h of the velocity, which stays for the rest of the run, and any
 * error at all at a singularity, which the run would step over: with H it ends there, since no
 * step is small enough. */
#include "drive/solver.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/four.h"
#include "base/loops.h"

static const double COLLAPSE = 0.1, MEMORY = 10; /* H and R */
static const double MANY = 10;                   /* of the share of a step */
static const double LOW_ORDER = 0.25;            /* share of methods up to order 3 */
static const double SLOWEST = 1e-3;              /* S_v over S_q/T */
static const double SOLVED = 8;                  /* rounding of positions that bonds determine */
static const double FLOOR = 1e-3;                /* atol over rtol and the scale */
static const double NOTHING = 1e-100; /* in any unit: at rest at 0, before a force begins to act */
static const double SMALL = 1e-6;     /* and the size of what follows, at least */
enum { FIRST_STEPS = 16 };            /* until scales are those of the motion */

/* x, y, z, x1, y2: lengths of one frame. */
static bool is_cartesian(const char *name)
{
    return name[0] >= 'x' && name[0] <= 'z' && strspn(name + 1, "0123456789") == strlen(name + 1);
}

/* Consecutive blocks of one name are a group, and Cartesian coordinates are one. start may be NULL;
 * returns how many there are. */
static taut_index find_groups(const taut_names *names, taut_index total, taut_index *start)
{
    taut_index groups = 0;
    for (int64_t b = 0; b < names->blocks; b++) {
        const char *name = names->block[b].name, *before = names->block[b > 0 ? b - 1 : 0].name;
        bool alike = strcmp(name, before) == 0 || (is_cartesian(name) && is_cartesian(before)),
             same = b > 0 && alike;
        if (start && !same)
            start[groups] = taut_names_begin(names, b);
        groups += !same;
    }
    if (groups == 0)
        groups = total > 0;
    if (start)
        start[groups] = total;
    return groups;
}

static int make_groups(taut_solver *solver, const taut_names *names, taut_index total,
                       taut_groups *groups, taut_error *error)
{
    groups->count = find_groups(names, total, NULL);
    groups->start = TAUT_NEW(&solver->arena, taut_index, groups->count + 1);
    TAUT_NEED(error, groups->start);
    find_groups(names, total, groups->start);
    return TAUT_OK;
}

/* Raises most[k] to the largest entry of group k of x; returns the largest of all. */
static double raise_scales(const taut_solver *solver, const taut_groups *groups, const double *x,
                           double *most)
{
    double all = 0;
    for (taut_index k = 0; k < groups->count; k++) {
        taut_index first = groups->start[k];
        double size = taut_run_largest(solver, groups->start[k + 1] - first, x + first);
        most[k] = taut_above(size, most[k]); /* without NaN */
        all = taut_above(all, most[k]);
    }
    return all;
}

int taut_norm_create(taut_solver *solver, taut_error *error)
{
    taut_error_norm *norm = &solver->norm;
    taut_stepper *s = &solver->stepper;
    norm->given = taut_options_given(solver->options, "atol");
    norm->own_scales = s->motion == TAUT_MOTION_FULL && !s->first_order;
    TAUT_TRY(make_groups(solver, &solver->moving->coordinates, s->n, &norm->coordinates, error));
    TAUT_TRY(TAUT_RESERVE(&solver->arena, norm->coordinates.count, error, &norm->q, &norm->v,
                          &norm->square, &norm->now_q, &norm->now_v, &norm->last_v));
    if (!s->first_order)
        TAUT_TRY(make_groups(solver, &solver->moving->bonds, s->m, &norm->bonds, error));
    if (!norm->own_scales)
        return TAUT_OK;
    TAUT_TRY(TAUT_RESERVE(&solver->arena, s->n, error, &s->weight_q, &s->weight_v));
    if (!(solver->sizes.can & TAUT_HAS_SPRINGS) || !s->method->stretch)
        return TAUT_OK;
    TAUT_TRY(TAUT_RESERVE(&solver->arena, norm->bonds.count, error, &norm->lambda, &norm->force));
    return TAUT_RESERVE(&solver->arena, s->m, error, &norm->stretch, &norm->rate);
}

/* Coordinates of the whole system. */
static double entries(const taut_solver *solver)
{
    const taut_halo *halo = taut_run_halo(solver);
    return halo ? (double)halo->total : solver->stepper.n;
}

/* The sizes at both ends of the latest step, by group: scales, weights and rounding need them. */
static void measure(taut_solver *solver)
{
    taut_error_norm *norm = &solver->norm;
    const taut_stepper *s = &solver->stepper;
    norm->most_q = norm->most_v = 0;
    for (taut_index k = 0; k < norm->coordinates.count; k++) {
        taut_index first = norm->coordinates.start[k],
                   count = norm->coordinates.start[k + 1] - first;
        norm->now_q[k] = taut_run_largest(solver, count, s->now.q + first);
        norm->now_v[k] = taut_run_largest(solver, count, s->now.v + first);
        norm->last_v[k] = taut_run_largest(solver, count, s->last.v + first);
        norm->most_q = taut_above(norm->most_q, norm->now_q[k]);
        norm->most_v = taut_above(norm->most_v, norm->now_v[k]);
    }
}

/* What full motion allows of q_i and v_i, in scales that include the present state. */
static void weigh(taut_solver *solver)
{
    taut_error_norm *norm = &solver->norm;
    taut_stepper *s = &solver->stepper;
    bool pulled = s->n > 0 && !isnan(s->last.a[0]) && norm->elapsed > 0;
    measure(solver);
    double least = s->rtol * taut_largest(norm->coordinates.count, norm->v) * FLOOR,
           rounding = 8 * DBL_EPSILON * norm->most_q;
    /* from rest: a part of what will be reached, less with every step */
    double part = norm->pull > 0 ? ldexp(0.05, -norm->steps) : 0;
    for (taut_index k = 0; k < norm->coordinates.count; k++) {
        taut_index first = norm->coordinates.start[k],
                   count = norm->coordinates.start[k + 1] - first;
        double q = taut_above(norm->q[k], norm->now_q[k]),
               v = norm->elapsed > 0 ? norm->v[k] : norm->now_v[k],
               a = pulled ? taut_run_largest(solver, count, s->last.a + first) : 0,
               fast = taut_above(norm->now_v[k], norm->last_v[k]);
        v = taut_above(v, taut_above(SLOWEST * q / norm->length, norm->least_v / s->rtol));
        if (part > 0)
            v = taut_above(v, part * sqrt(norm->pull * q));
        if (solver->pulses.count > 0)
            v = taut_above(v, taut_largest(count, solver->pulses.speed + first));
        double weight_q = taut_above(s->atol + s->rtol * q, NOTHING),
               weight_v = taut_above(s->rtol * v, taut_above(least, norm->least_v));
        if (a * weight_q > s->rtol * v * v)
            weight_q = taut_above(s->rtol * v * v / a, rounding);
        if (fast > 2 * v)
            weight_v *= 2 * v / fast;
        taut_loop_fill(s->pool, count, weight_q, s->weight_q + first);
        taut_loop_fill(s->pool, count, weight_v, s->weight_v + first);
    }
}

/* The average over time of v^2, by groups, into S_v. */
static void average_velocities(taut_error_norm *norm, double h)
{
    norm->elapsed += fabs(h);
    for (taut_index k = 0; k < norm->coordinates.count; k++) {
        double now = norm->now_v[k], last = norm->last_v[k];
        norm->square[k] += fabs(h) * (now * now + last * last);
        norm->v[k] = sqrt(norm->square[k] / norm->elapsed);
    }
}

/* A part of the forces that springs will have where pulses move their ends. */
static void add_pulses(taut_solver *solver)
{
    static const double BORNE = 0.02;
    taut_error_norm *norm = &solver->norm;
    const double *c = taut_context_compliance(solver->context);
    for (taut_index i = 0; i < solver->stepper.m; i++)
        norm->stretch[i] = c[i] > 0 ? BORNE * solver->pulses.stretch[i] / c[i] : 0;
    raise_scales(solver, &norm->bonds, norm->stretch, norm->lambda);
}

/* Without a size there is no scale: then that of what the velocities do until the end, or what
 * comes later. */
void taut_norm_begin(taut_solver *solver)
{
    taut_error_norm *norm = &solver->norm;
    taut_stepper *s = &solver->stepper;
    double size = raise_scales(solver, &norm->coordinates, s->now.q, norm->q),
           length = fabs(solver->until - solver->from);
    if (size == 0 && !s->first_order && isfinite(length))
        size = length * taut_run_largest(solver, s->n, s->now.v);
    if (size == 0 && !s->first_order)
        size = solver->pulses.distance;
    if (solver->pulses.count > 0 && norm->lambda)
        add_pulses(solver);
    norm->length = length > 0 ? length : INFINITY;
    /* forces that begin to act are known to rounding only */
    norm->least_v = size > 0 ? NOTHING : fmax(FLOOR * s->rtol * SMALL / norm->length, NOTHING);
    norm->least_g = size > 0 ? NOTHING : fmax(FLOOR * s->rtol * SMALL, NOTHING);
    if (!norm->given)
        s->atol = FLOOR * s->rtol * (size > 0 ? size : SMALL);
    norm->share = (s->method->order < 3 ? 30 : s->method->order == 3 ? 50 : 300) / norm->length;
    if (isinf(norm->length))
        norm->share = INFINITY; /* the end is not known */
    norm->pull = 0;
    norm->steps = 0;
    if (norm->own_scales)
        weigh(solver);
}

void taut_norm_accept(taut_solver *solver, double h)
{
    taut_error_norm *norm = &solver->norm;
    taut_stepper *s = &solver->stepper;
    double size = norm->most_q;
    if (norm->own_scales) {
        for (taut_index k = 0; k < norm->coordinates.count; k++)
            size = taut_above(size, norm->q[k] = taut_above(norm->q[k], norm->now_q[k]));
        average_velocities(norm, h);
        norm->steps += norm->steps < FIRST_STEPS && norm->most_v > NOTHING;
    } else {
        size = raise_scales(solver, &norm->coordinates, s->now.q, norm->q);
    }
    if (norm->lambda)
        raise_scales(solver, &norm->bonds, s->now.lambda, norm->lambda);
    if (!norm->given)
        s->atol = taut_above(s->atol, FLOOR * s->rtol * size);
    norm->reach = taut_above(fabs(h), norm->reach - fabs(h) / MEMORY);
    if (COLLAPSE * norm->reach <= fabs(h))
        norm->tried = 0;
}

/* The part of the tolerance that one of many steps may use. */
static double share_of(const taut_solver *solver, double h)
{
    double H = taut_above(fabs(h), COLLAPSE * solver->norm.reach),
           first = MANY / (MANY + (double)solver->statistics.steps);
    double share = taut_above(solver->norm.share * H, first);
    return share < 1 ? share : 1;
}

/* ---- full motion */

/* Accelerations where steps begin: of a motion from rest, and of the forces that bonds will have to
 * bear, a part of m |a| over their G. */
void taut_norm_pull(taut_solver *solver, const double *a)
{
    static const double BORNE = 0.02;
    taut_error_norm *norm = &solver->norm;
    taut_stepper *s = &solver->stepper;
    const double *mass = taut_context_mass(solver->context);
    double force = 0;
    norm->pull = taut_run_largest(solver, s->n, a);
    if (!norm->lambda || !mass)
        return;
    for (taut_index i = 0; i < s->n; i++)
        force = fmax(force, mass[i] * fabs(a[i]));
    s->method->stretch(s, NULL, norm->stretch);
    for (taut_index i = 0; i < s->m; i++)
        norm->stretch[i] = norm->stretch[i] > 0 ? BORNE * force / norm->stretch[i] : 0;
    raise_scales(solver, &norm->bonds, norm->stretch, norm->lambda);
}

void taut_norm_jump(taut_solver *solver, const double *a)
{
    static const double STILL = 1e-3;
    taut_error_norm *norm = &solver->norm;
    taut_index groups = norm->coordinates.count;
    const taut_stepper *s = &solver->stepper;
    double kick = taut_run_largest(solver, s->n, a) * norm->reach;
    norm->reach = 0;
    double still = fmax(STILL * kick, s->atol / (s->rtol * norm->length));
    if (!norm->own_scales || taut_largest(groups, norm->v) > still)
        return;
    taut_clear(groups, norm->square);
    norm->elapsed = 0;
    norm->steps = 0;
    taut_norm_pull(solver, a);
    weigh(solver);
}

/* The first forces, where bonds are not stretched yet: what the step itself makes of them. */
static void add_trial(taut_solver *solver)
{
    taut_error_norm *norm = &solver->norm;
    taut_stepper *s = &solver->stepper;
    const double *c = taut_context_compliance(solver->context);
    double *moved = solver->control.trial;
    for (taut_index i = 0; i < s->n; i++)
        moved[i] = s->now.q[i] - s->last.q[i];
    s->method->stretch(s, moved, norm->stretch);
    for (taut_index i = 0; i < s->m; i++)
        norm->stretch[i] = c[i] > 0 ? norm->stretch[i] / c[i] : 0;
    raise_scales(solver, &norm->bonds, norm->stretch, norm->force);
}

/* e, an error of a vibration over `tolerance`, a part of its size: with the power that the method
 * has over its estimate; FIRM: steps of a radian and more do not have it yet. */
static double sharpen(const taut_solver *solver, double tolerance, double e)
{
    static const double FIRM = 40;
    double power = solver->norm.known ? 1 : solver->stepper.method->sharper;
    return power > 1 && tolerance < 1 ? fmin(e, FIRM * pow(tolerance * e, power) / tolerance) : e;
}

typedef struct spring_share {
    const double *x, *c;
    double a, b;
} spring_share;

static double share_block(void *context, int64_t begin, int64_t end)
{
    const spring_share *p = context;
    return taut_largest_share((taut_index)(end - begin), p->x + begin, p->c + begin, p->a, p->b);
}

/* max |dlambda_i| over what is allowed. */
static double norm_of_springs(taut_solver *solver)
{
    const taut_error_norm *norm = &solver->norm;
    taut_stepper *s = &solver->stepper;
    const double *c = taut_context_compliance(solver->context),
                 *tau = taut_context_damping(solver->context);
    bool damped = solver->sizes.can & TAUT_HAS_DAMPING;
    double rounding = fmax(2 * DBL_EPSILON * norm->most_q, norm->least_g),
           shaking = 2 * DBL_EPSILON * norm->most_v, stretch = 0, rate = 0;
    taut_copy(norm->bonds.count, norm->lambda, norm->force);
    if (norm->steps < FIRST_STEPS)
        add_trial(solver);
    s->method->stretch(s, s->error_q, norm->stretch);
    if (!damped && !(s->method->sharper > 1)) {
        for (taut_index k = 0; k < norm->bonds.count; k++) {
            taut_index first = norm->bonds.start[k], count = norm->bonds.start[k + 1] - first;
            spring_share part = {norm->stretch + first, c + first, s->rtol * norm->force[k],
                                 rounding};
            stretch = taut_larger(stretch, taut_pool_largest(s->pool, count, share_block, &part));
        }
        return stretch;
    }
    if (damped)
        s->method->stretch(s, s->error_v, norm->rate);
    for (taut_index k = 0; k < norm->bonds.count; k++)
        for (taut_index i = norm->bonds.start[k]; i < norm->bonds.start[k + 1]; i++) {
            double size = c[i] * norm->force[k], allowed = fmax(s->rtol * size + rounding, NOTHING);
            if (damped)
                allowed += tau[i] * shaking;
            if (c[i] > 0)
                stretch = taut_larger(
                    stretch, sharpen(solver, allowed / size, fabs(norm->stretch[i]) / allowed));
            if (c[i] > 0 && damped)
                rate = taut_larger(
                    rate, sharpen(solver, allowed / size, tau[i] * fabs(norm->rate[i]) / allowed));
        }
    return stretch + rate;
}

/* sum (x_i/scale)^2 over a group; 0 needs no scale */
static double scaled_square(taut_pool *pool, taut_index n, const double *x, double scale)
{
    double sum = taut_loop_square(pool, n, x);
    return sum == 0 ? 0 : sum / (scale * scale);
}

static double norm_in_own_scales(taut_solver *solver, double h)
{
    const taut_stepper *s = &solver->stepper;
    const taut_groups *groups = &solver->norm.coordinates;
    double q = 0, v = 0, share = share_of(solver, h);
    bool noisy = s->m > 0 || (solver->sizes.can & TAUT_HAS_STIFF_POTENTIAL);
    weigh(solver);
    /* of q, seen in v too; and of v */
    double least_q = 8 * DBL_EPSILON * solver->norm.most_q,
           least_v = 8 * DBL_EPSILON * solver->norm.most_v;
    if (noisy)
        least_v = taut_above(least_v, least_q / fabs(h));
    if (solver->sizes.can & TAUT_HAS_RIGID)
        least_q *= SOLVED;
    for (taut_index k = 0; k < groups->count; k++) { /* all of a group have one weight */
        taut_index first = groups->start[k], count = groups->start[k + 1] - first;
        q += scaled_square(s->pool, count, s->error_q + first,
                           taut_above(s->weight_q[first], least_q / share));
        v += scaled_square(s->pool, count, s->error_v + first,
                           taut_above(s->weight_v[first], least_v / share));
    }
    if (isnan(q) || isnan(v))
        return NAN;
    q = s->n > 0 ? sqrt(q / s->n) : 0;
    v = sharpen(solver, s->rtol, s->n > 0 ? sqrt(v / s->n) : 0);
    double most = fmax(q, v);
    if (solver->norm.lambda)
        most = taut_larger(most, norm_of_springs(solver));
    return most / share;
}

/* ---- rigid and slow motion, first order */

/* Velocities along bonds come from positions at both ends: rounding of these, over h, is what no
 * smaller step improves. */
static double rounding_of_velocities(const taut_solver *solver, double h)
{
    const taut_stepper *s = &solver->stepper;
    return s->m > 0 ? 0.25 * DBL_EPSILON *
                          fmax(taut_run_largest(solver, s->n, s->now.q),
                               taut_run_largest(solver, s->n, s->last.q)) /
                          fabs(h)
                    : 0;
}

typedef struct positions {
    const taut_stepper *s;
    double h, more, noise; /* |h|, H - |h| */
} positions;

/* sum ((|dq_i| + h |dv_i| + more (|dv_i| - noise))/(atol + rtol |q_i|))^2; 0 needs no scale */
TAUT_HOT static double square_of_positions(const positions *p, int64_t begin, int64_t end)
{
    const taut_stepper *s = p->s;
    taut_four sum = {0}, now, last, off, e;
    taut_four_mask mask;
    for (int64_t i = begin; i < end; i += 4) {
        taut_four_sizes(end, i, s->now.q, &now);
        taut_four_sizes(end, i, s->last.q, &last);
        taut_four_sizes(end, i, s->error_v, &off);
        taut_four_sizes(end, i, s->error_q, &e);
        e += p->h * off;
        e += (taut_four)((taut_four_mask)(p->more * (off - p->noise)) & (off > p->noise));
        mask = now > last;
        now = (taut_four)(((taut_four_mask)now & mask) | ((taut_four_mask)last & ~mask));
        mask = e != 0;
        e = (taut_four)((taut_four_mask)(e / (s->atol + s->rtol * now)) & mask);
        sum += e * e;
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static double sum_positions(void *context, int64_t begin, int64_t end)
{
    return square_of_positions(context, begin, end);
}

static double norm_of_positions(const taut_solver *solver, double h)
{
    const taut_stepper *s = &solver->stepper;
    positions p = {
        .s = s, .h = fabs(h), .more = taut_above(COLLAPSE * solver->norm.reach - fabs(h), 0)};
    p.noise = p.more > 0 ? rounding_of_velocities(solver, h) : 0;
    double sum = taut_halo_sum(taut_run_halo(solver), s->pool, s->n, sum_positions, &p);
    return s->n > 0 ? sqrt(sum / entries(solver)) : 0;
}

/* Variables of first-order systems differ by many orders: each group has its own atol. */
static double norm_of_state(const taut_solver *solver)
{
    const taut_stepper *s = &solver->stepper;
    const taut_groups *groups = &solver->norm.coordinates;
    double sum = 0, least = 4 * DBL_EPSILON * taut_run_largest(solver, s->n, s->now.q);
    for (taut_index k = 0; k < groups->count; k++) {
        double atol =
            solver->norm.given ? s->atol : fmax(FLOOR * s->rtol * solver->norm.q[k], least);
        for (taut_index i = groups->start[k]; i < groups->start[k + 1]; i++) {
            double scale = atol + s->rtol * fmax(fabs(s->now.q[i]), fabs(s->last.q[i])),
                   e = s->error_q[i] == 0 ? 0 : s->error_q[i] / scale;
            sum += e * e;
        }
    }
    return s->n > 0 ? sqrt(sum / s->n) : 0;
}

/* After a rejection, where H is above h: are the velocities as far off as they were in a try of
 * four times the length, and by very little? Then that is rounding, of stiff springs at tight
 * tolerances, and H must not hold up the run. At a kink the difference would decrease with the
 * step, at a singularity it would be far larger. */
static bool is_rounding(taut_solver *solver, double h)
{
    static const double NEGLIGIBLE = 1e-9;
    taut_error_norm *norm = &solver->norm;
    const taut_stepper *s = &solver->stepper;
    double off = taut_run_largest(solver, s->n, s->error_v), quarter = norm->tried / 4,
           half = norm->tried_off / 2;
    bool first = norm->tried == 0, shorter = quarter > fabs(h), stays = off > half;
    if (!first && !shorter)
        return false;
    norm->tried = fabs(h);
    norm->tried_off = off;
    return !first && stays &&
           off <= NEGLIGIBLE * fmax(taut_run_largest(solver, s->n, s->now.v),
                                    taut_run_largest(solver, s->n, s->last.v));
}

double taut_norm_step(taut_solver *solver, double h)
{
    taut_error_norm *norm = &solver->norm;
    double own = norm->own_scales ? norm_in_own_scales(solver, h) : 0;
    /* damped directions have no more than the order of the estimate */
    if (norm->own_scales && !(solver->stepper.method->sharper > 1))
        return own;
    if (solver->stepper.first_order)
        return norm_of_state(solver);
    double caution = solver->stepper.method->order <= 3 ? LOW_ORDER : 1,
           share = norm->own_scales ? 1 : caution * share_of(solver, h),
           e = taut_larger(own, norm_of_positions(solver, h) / share);
    if (!(e <= 1) && COLLAPSE * norm->reach > fabs(h) && is_rounding(solver, h)) {
        norm->reach = 0;
        e = taut_larger(own, norm_of_positions(solver, h) / share);
    }
    return e;
}

double taut_norm_known(taut_solver *solver, double h)
{
    taut_error_norm was = solver->norm;
    solver->norm.known = true;
    double e = taut_norm_step(solver, h);
    solver->norm = was;
    return e;
}
