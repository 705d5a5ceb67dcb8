/* outer_step.c - the outer step size of the impulse methods where the user gives none.
 *
 * The driver chooses one step size h for the run from the slow rate (drive/choose.c): with equal
 * steps the methods are symplectic or time-reversible, with steps that follow an estimate they are
 * not. Here every step is checked, and where the check fails the steps are halved from there on,
 * never doubled again. A splitting by kicks solves a nearby system exactly but for higher orders
 * [Hairer, Lubich, Wanner 2006, III.5, IX.1], so that both estimates are relative errors of it:
 *
 *     forces    |b+ - 2 b + b-| / (12 |b|),  b = M^-1 P M a the tangential part of the kicks: the
 *               leading term h^2/12 b'' by which kicks at distance h replace the force; of order 4
 *               (outer_kicks.c) the square of (h w)^2 = |b+ - 2 b + b-|/|b|, over 9000
 *     actions   h |n| (|w| + h |n|/2) / E,  n = a - b, w the part of v across the bonds: the energy
 *               that the longest kick (of order 4: 16 h/45) adds to the vibration; E is the energy
 *               of the slow motion
 *
 * in the norm of M. The first falls as h^2, the second is 0 for kicks along the bonds. The
 * vibration itself disturbs b by O(eps), which no step size reduces: estimates below 1/separation
 * are no reason to halve, nor is one that halving does not lower. */
#include "step/outer_step.h"

#include <math.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "step/impulse.h"
#include "step/methods.h"

/* of the tolerance: the step was chosen for 1, and rates that are twice as high are 4; of an
 * estimate: more than this left after halving is noise; of noise: no reason to halve */
static const double ENOUGH = 4, NOISE = 0.75, ABOVE = 2;

int taut_outer_create(taut_outer *o, const taut_stepper *s, taut_error *error)
{
    TAUT_TRY(taut_state_create(s, &o->begin, error));
    for (int k = 0; k < 3; k++)
        TAUT_TRY(TAUT_RESERVE(s->arena, s->n, error, &o->kick[k]));
    return TAUT_RESERVE(s->arena, s->n, error, &o->x, &o->v, &o->a, &o->fast, &o->r, &o->d);
}

static void times_mass(const taut_mechanics *m, const double *x, double *y)
{
    const taut_pattern masses = {m->n, m->n, m->mass_start, m->mass_column};
    taut_clear(m->n, y);
    taut_mass_add(m->mass_start ? &masses : NULL, m->n, m->mass, 1, x, y);
}

/* part[n] of z along the bonds at the point that is factorised; |part|^2, and |z - part|^2. */
static int split(taut_impulse *w, const double *z, double *part, double *along, double *across,
                 taut_error *error)
{
    taut_outer *o = &w->outer;
    taut_index n = w->mechanics.n;
    times_mass(&w->mechanics, z, o->r);
    taut_copy(n, o->r, part);
    taut_clear(w->rows.rows, w->y);
    TAUT_TRY(taut_impulse_solve(w, part, error));
    *along = fmax(taut_dot(n, part, o->r), 0);
    *across = fmax(taut_dot(n, z, o->r) - *along, 0);
    return TAUT_OK;
}

/* |second difference of b|, also at unequal distances. */
static double bend(taut_outer *o, const taut_mechanics *m, double h)
{
    const double *now = o->kick[0], *before = o->kick[1], *first = o->kick[2];
    for (taut_index i = 0; i < m->n; i++)
        o->d[i] = 2 * h * (now[i] - before[i] - h / o->h * (before[i] - first[i])) / (h + o->h);
    times_mass(m, o->d, o->r);
    return sqrt(fmax(taut_dot(m->n, o->d, o->r), 0));
}

/* The estimate of a step of length h that ended at (t, x, v) with the kick a; the first of all has
 * h = 0 and only begins. */
static int look(taut_impulse *w, double t, double h, double *estimate, taut_error *error)
{
    taut_outer *o = &w->outer;
    taut_mechanics *m = &w->mechanics;
    double *oldest = o->kick[2], along, across, slow, fast, rate = w->stepper->slow_rate;
    o->kick[2] = o->kick[1];
    o->kick[1] = o->kick[0];
    o->kick[0] = oldest;
    TAUT_TRY(taut_mechanics_bonds(m, t, w->x, NULL, 0, error));
    TAUT_TRY(taut_impulse_tangent(w, t, w->x, error));
    TAUT_TRY(split(w, w->v, o->d, &slow, &fast, error));
    TAUT_TRY(split(w, w->kick, oldest, &along, &across, error));
    o->force = fmax(o->force, sqrt(along));
    o->energy = fmax(o->energy, fmax(slow, rate > 0 ? along / (rate * rate) : 0) / 2);
    const taut_kick_error kicks = taut_kick_error_of(w->stepper->options);
    double bent = o->known > 1 && o->force > 0 ? bend(o, m, h) / o->force : 0,
           forces = pow(bent, kicks.order / 2) / kicks.part,
           push = kicks.longest * fabs(h) * sqrt(across), added = push * (sqrt(fast) + push / 2),
           actions = o->energy > 0 ? added / o->energy : 0;
    o->actions = actions > forces;
    *estimate = fmax(forces, actions);
    o->known += o->known < 2;
    o->h = h;
    return TAUT_OK;
}

/* ---- there and back */

static void remember(taut_impulse *w)
{
    taut_outer *o = &w->outer;
    const taut_stepper *s = w->stepper;
    o->begin.t = s->now.t;
    taut_copy(s->n, s->now.q, o->begin.q);
    taut_copy(s->n, s->now.v, o->begin.v);
    taut_copy(s->n, s->now.a, o->begin.a);
    taut_copy(s->m, s->now.lambda, o->begin.lambda);
    taut_copy(s->n, w->x, o->x);
    taut_copy(s->n, w->v, o->v);
    taut_copy(s->n, w->kick, o->a);
    taut_copy(s->n, w->fast, o->fast);
}

static void take_begin(const taut_stepper *s, const taut_outer *o, taut_state *x)
{
    x->t = o->begin.t;
    taut_copy(s->n, o->begin.q, x->q);
    taut_copy(s->n, o->begin.v, x->v);
    taut_copy(s->n, o->begin.a, x->a);
    taut_copy(s->m, o->begin.lambda, x->lambda);
}

/* The differences of kicks begin again: those that follow are at other distances. */
static void go_back(taut_impulse *w, const taut_statistics *counted)
{
    taut_outer *o = &w->outer;
    taut_stepper *s = w->stepper;
    take_begin(s, o, &s->now);
    taut_copy(s->n, o->x, w->x);
    taut_copy(s->n, o->v, w->v);
    taut_copy(s->n, o->a, w->kick);
    taut_copy(s->n, o->fast, w->fast);
    taut_copy(s->n, s->now.q, w->shown_q);
    taut_copy(s->n, s->now.v, w->shown_v);
    w->time = s->now.t;
    s->statistics->steps = counted->steps;
    s->statistics->rejected++;
    o->known = 0;
}

/* 2^halvings steps over h, and the largest estimate; two at least where the kicks before are not
 * known, since differences need three. */
static int advance(taut_impulse *w, double h, double *estimate, taut_error *error)
{
    taut_outer *o = &w->outer;
    bool first = o->known == 0 && o->halvings == 0;
    int64_t parts = (int64_t)1 << (o->halvings + first);
    double d = h / (double)parts, e;
    *estimate = 0;
    for (int64_t k = 0; k < parts; k++) {
        if (o->known == 0)
            TAUT_TRY(look(w, w->time, 0, &e, error));
        TAUT_TRY(taut_impulse_once(w, d, error));
        TAUT_TRY(look(w, w->time, d, &e, error));
        *estimate = fmax(*estimate, first ? 4 * e : e);
    }
    return TAUT_OK;
}

int taut_outer_step(taut_impulse *w, double h, taut_error *error)
{
    taut_outer *o = &w->outer;
    taut_stepper *s = w->stepper;
    const taut_statistics counted = *s->statistics;
    const int halvings = o->halvings;
    double estimate, before = INFINITY;
    bool actions = false;
    remember(w);
    for (;;) {
        TAUT_TRY(advance(w, h, &estimate, error));
        bool useless = estimate > NOISE * before,
             high = estimate > fmax(ENOUGH * fmax(s->rtol, s->floor), ABOVE * o->noise),
             shorter = fabs(h) / (double)((int64_t)2 << o->halvings) > w->finest;
        if (!useless && !(high && shorter))
            break;
        if (useless)
            o->noise = fmax(o->noise, fmax(before, estimate));
        o->halvings += useless ? -1 : 1;
        actions = o->actions;
        before = useless ? INFINITY : estimate;
        go_back(w, &counted);
    }
    if (o->halvings > halvings) {
        s->reduced = fabs(h) / (double)((int64_t)1 << o->halvings);
        s->reduced_at = o->begin.t;
        s->reduced_by_actions = actions;
    }
    take_begin(s, o, &s->last);
    return TAUT_OK;
}

void taut_outer_archive(taut_impulse *w, taut_archive *a)
{
    enum { MOST_HALVINGS = 60 };
    taut_outer *o = &w->outer;
    taut_stepper *s = w->stepper;
    double *const number[] = {&o->h, &o->force, &o->energy, &o->noise, &s->reduced, &s->reduced_at};
    for (size_t k = 0; k < sizeof number / sizeof number[0]; k++)
        taut_archive_real(a, number[k]);
    for (int k = 0; k < 3; k++)
        taut_archive_reals(a, o->kick[k], s->n);
    taut_archive_integer(a, &o->known, 0, 2);
    taut_archive_integer(a, &o->halvings, 0, MOST_HALVINGS);
    taut_archive_flag(a, &s->reduced_by_actions);
}
