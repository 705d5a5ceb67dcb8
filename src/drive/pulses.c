/* pulses.c - short pulses of explicit time dependence, which a long step would pass over unseen: a
 * kick of 1 ms in a run of 10 s.
 *
 * f and g are sampled at equidistant times of the run, at a point next to the initial state. Where
 * they change far more between two samples than they usually do, there is a pulse; more samples
 * inside find its width. Steps then end where it begins, and are short within it. What is shorter
 * than the distance of two samples can be missed. The samples are bounded by counts, not by a
 * clock: SAMPLES evaluations, or two for each entry of the longest table that is a curve, or WORK
 * units of taut_system_work (about a nanosecond each). They are
 * not counted as evaluations of the run. */
#include "base/inside.h"
#include "base/random.h"
#include "base/vectors.h"
#include "drive/solver.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLES = 4096, FEW = 64, FINE = 64, MOST = 256, ROUNDS = 8 };
static const double WORK = 2e7;
/* A change between samples is a pulse when it is this many times the median, and visible. */
static const double UNUSUAL = 8, VISIBLE = 1e-3;
/* Pulses are shorter than this part of the run; steps within them than this part of theirs. */
static const double SHORT = 0.05, WITHIN = 0.125;

typedef struct sampler {
    taut_solver *solver;
    taut_arena arena;
    taut_index n, rows;
    double *q, *v;           /* where f and g are sampled */
    double *now, *before;    /* [rows] */
    double *least, *most;    /* [rows]: over all samples */
    double *change, *sorted; /* [samples] */
} sampler;

static double time_at(const sampler *s, double along)
{
    const taut_solver *solver = s->solver;
    return solver->from + (solver->until < solver->from ? -along : along);
}

/* f and g; where they cannot be evaluated, they are as before. */
static int evaluate(sampler *s, double along, taut_error *error)
{
    taut_values values = {.force = s->now, .bond = s->now + s->n};
    taut_error reason;
    unsigned wanted = TAUT_WANT_FORCE | (s->rows > s->n ? TAUT_WANT_BOND : 0);
    int status = taut_evaluate_inside(s->solver->context, time_at(s, along), s->q, s->v, wanted,
                                      &values, &reason);
    if (status != 0)
        taut_copy(s->rows, s->before, s->now);
    return taut_fail_final(status, &reason, error);
}

static void exchange(sampler *s)
{
    double *keep = s->before;
    s->before = s->now;
    s->now = keep;
}

/* Largest change of a component from `before` to `now`, relative to its range. */
static double change_of(const sampler *s)
{
    double change = 0;
    for (taut_index i = 0; i < s->rows; i++) {
        double range = s->most[i] - s->least[i], size = fmax(fabs(s->most[i]), fabs(s->least[i]));
        if (range > 1e-12 * size)
            change = fmax(change, fabs(s->now[i] - s->before[i]) / range);
    }
    return change;
}

/* change[k] between samples k and k + 1 of `count` from a to b; `widen`: their range counts, in a
 * pass of its own. */
static int sample(sampler *s, double a, double b, int count, bool widen, taut_error *error)
{
    for (int pass = widen ? 0 : 1; pass < 2; pass++)
        for (int k = 0; k < count; k++) {
            TAUT_TRY(evaluate(s, a + (b - a) * k / (count - 1), error));
            for (taut_index i = 0; widen && pass == 0 && i < s->rows; i++) {
                s->least[i] = fmin(s->least[i], s->now[i]);
                s->most[i] = fmax(s->most[i], s->now[i]);
            }
            if (k > 0)
                s->change[k - 1] = change_of(s);
            exchange(s);
        }
    return TAUT_OK;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Shrinks [*a, *b] to where the changes are, while that is a small part of it. */
static int narrow(sampler *s, double *a, double *b, taut_error *error)
{
    for (int round = 0; round < ROUNDS; round++) {
        int first = FINE, last = 0;
        double most = 0, width = *b - *a, part = width / (FINE - 1);
        TAUT_TRY(sample(s, *a, *b, FINE, true, error));
        for (int k = 0; k < FINE - 1; k++)
            most = fmax(most, s->change[k]);
        for (int k = 0; k < FINE - 1; k++)
            if (s->change[k] > 0.01 * most) {
                first = k < first ? k : first;
                last = k;
            }
        if (most == 0 || last + 1 - first > FINE / 4)
            return TAUT_OK;
        double begin = *a + (first - 1) * part, end = *a + (last + 2) * part;
        *a = fmax(begin, *a);
        *b = fmin(end, *b);
    }
    return TAUT_OK;
}

/* Pulses among `count` samples over the length of the run. */
static int collect(sampler *s, int count, double length, taut_error *error)
{
    taut_pulses *p = &s->solver->pulses;
    double part = length / (count - 1);
    TAUT_TRY(sample(s, 0, length, count, true, error));
    taut_copy(count - 1, s->change, s->sorted);
    qsort(s->sorted, (size_t)count - 1, sizeof(double), compare);
    double limit = fmax(VISIBLE, UNUSUAL * s->sorted[count / 2]);
    for (int k = 0; k < count - 1 && p->count < MOST; k++) {
        if (!(s->change[k] > limit))
            continue;
        double a = fmax(0, (k - 1) * part);
        int last = k;
        for (int j = k; j < count - 1 && j <= last + 2; j++)
            last = s->change[j] > limit ? j : last;
        double b = fmin(length, (last + 2) * part);
        k = last;
        if (b - a > SHORT * length)
            continue;
        p->begin[p->count] = a;
        p->end[p->count++] = b;
    }
    for (int k = 0; k < p->count; k++)
        TAUT_TRY(narrow(s, &p->begin[k], &p->end[k], error));
    return TAUT_OK;
}

/* The velocities that pulses give, impulse over mass: the scale of a system at rest before them. */
static void estimate_speed(const sampler *s)
{
    taut_pulses *p = &s->solver->pulses;
    const double *mass = taut_context_mass(s->solver->context);
    double width = 0;
    for (int k = 0; k < p->count; k++)
        width = fmax(width, p->end[k] - p->begin[k]);
    for (taut_index i = 0; i < s->n; i++)
        p->speed[i] = width / 3 * (s->most[i] - s->least[i]) / (mass && mass[i] > 0 ? mass[i] : 1);
    p->distance = width * taut_largest(s->n, p->speed);
    for (taut_index i = 0; i < s->rows - s->n; i++)
        p->stretch[i] = s->most[s->n + i] - s->least[s->n + i];
}

/* Next to the initial state: a force may vanish there at all times. */
static int choose_point(sampler *s, taut_error *error)
{
    const taut_stepper *x = &s->solver->stepper;
    taut_index nv = x->first_order ? x->m : x->n;
    uint64_t seed = 1;
    TAUT_TRY(TAUT_RESERVE(&s->arena, x->n, error, &s->q));
    TAUT_TRY(TAUT_RESERVE(&s->arena, nv, error, &s->v));
    TAUT_TRY(TAUT_RESERVE(&s->arena, s->rows, error, &s->now, &s->before, &s->least, &s->most));
    double q = taut_largest(x->n, x->now.q), v = taut_largest(nv, taut_state_v(&x->now));
    for (taut_index i = 0; i < x->n; i++)
        s->q[i] = x->now.q[i] + 1e-6 * (q > 0 ? q : 1) * taut_random(&seed);
    for (taut_index i = 0; i < nv; i++)
        s->v[i] = taut_state_v(&x->now)[i] + 1e-6 * (v > 0 ? v : 1) * taut_random(&seed);
    for (taut_index i = 0; i < s->rows; i++) {
        s->least[i] = INFINITY;
        s->most[i] = -INFINITY;
    }
    return TAUT_OK;
}

/* Entries of the longest table that is looked up as a curve. */
static int32_t longest_curve(const taut_system *system)
{
    int32_t longest = 0;
    for (int32_t k = 0; k < system->kernels; k++) {
        const taut_tape *tape = system->kernel[k]->tape;
        for (int32_t j = 0; j < tape->length; j++)
            if (tape->code[j].op == TAUT_OP_CURVE && tape->curve[tape->code[j].c]->count > longest)
                longest = tape->curve[tape->code[j].c]->count;
    }
    return longest;
}

int taut_pulses_find(taut_solver *solver, taut_error *error)
{
    const taut_sizes *z = &solver->sizes;
    double length = fabs(solver->until - solver->from);
    if (!solver->control.on || solver->stepper.trial || !isfinite(length) || length == 0 ||
        !(z->can & (TAUT_HAS_TIME | TAUT_HAS_MOVING_BONDS)) || (z->can & TAUT_HAS_STEPPER) ||
        taut_run_space(solver))
        return TAUT_OK;
    int count = (int)fmin(fmax(SAMPLES, 2. * longest_curve(solver->moving)),
                          WORK / (2 * taut_system_work(solver->system)));
    count = count > FEW ? count : FEW;
    TAUT_TRY(TAUT_RESERVE(&solver->arena, MOST, error, &solver->pulses.begin, &solver->pulses.end));
    TAUT_TRY(TAUT_RESERVE(&solver->arena, z->coordinates, error, &solver->pulses.speed));
    TAUT_TRY(TAUT_RESERVE(&solver->arena, z->bonds, error, &solver->pulses.stretch));
    taut_arena arena;
    taut_arena_init(&arena, &solver->arena.allocator);
    sampler *s = TAUT_NEW(&arena, sampler, 1);
    int status = s ? TAUT_OK : taut_fail_memory(error);
    taut_statistics before = solver->context->statistics;
    if (status == 0) {
        *s = (sampler){.solver = solver, .n = z->coordinates, .rows = z->coordinates + z->bonds};
        taut_arena_init(&s->arena, &solver->arena.allocator);
        status = choose_point(s, error);
        if (status == 0)
            status = TAUT_RESERVE(&s->arena, count, error, &s->change, &s->sorted);
        if (status == 0)
            status = collect(s, count, length, error);
        if (status == 0 && solver->pulses.count > 0 && !solver->stepper.first_order)
            estimate_speed(s);
        taut_arena_clear(&s->arena);
    }
    solver->context->statistics = before;
    taut_arena_clear(&arena);
    return status;
}

double taut_pulses_limit(taut_solver *solver, double t)
{
    taut_pulses *p = &solver->pulses;
    double along = fabs(t - solver->from), tiny = 1e-12 * fabs(solver->until - solver->from);
    for (int k = 0; k < p->count; k++) {
        if (along >= p->end[k] - tiny)
            continue;
        return along < p->begin[k] - tiny ? p->begin[k] - along
                                          : WITHIN * (p->end[k] - p->begin[k]);
    }
    return INFINITY;
}
