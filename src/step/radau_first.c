/* radau_first.c - Radau IIA for first-order systems, stiff ones and those of index 2:
 *
 *     z' = f(t,z,y), 0 = g(t,z)   [C (1.6); Hairer, Wanner II, IV.8, VII.4]
 *
 * Unknowns are the rates k_i and the algebraic variables y_i of the stages, Z_i = z0 + h sum_j
 * a_ij k_j. Newton's iteration is stage-wise (radau_first_whole.c) for small systems of index 2,
 * else it has one Jacobian for all stages, and each eigenvalue mu of A the saddle system
 *     [ I - h mu df/dz   -df/dy ] [x]   [ f - k        ]^
 *     [ dg/dz             0     ] [y] = [ -g / (h mu)  ]
 * The error estimate is hgamma (f0 - k(0)), k(0) from the rates' polynomial, filtered by the
 * same matrix at mu = gamma, once more where the first result is above the tolerance [Hairer,
 * Wanner II, (IV.8.20)]. It does not see variables that only follow others, whose values at the
 * ends are right whatever the step: the error of the polynomial between the ends is added,
 * measured by how far the continuation of the last one missed the end of this step. Invariants
 * are not part of the equations. */
#include "step/radau_first.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/vectors.h"

enum { MOST_ITERATIONS = 15 };
static const double OLD = 0.1, SLOW = 0.3; /* as in radau_newton.c */
/* Equal steps are solved to rounding, which cancellation in f and constraints that are hard to
 * meet make larger than it looks: Newton's own corrections that are below this, in units of the
 * rounding of the largest variable, and no longer shrink, are that. */
static const double STALLED = 1e6;

typedef struct past {
    double *k, *y; /* rates [s n] and algebraic variables [s m] of the stages */
    double *rate;  /* f at the end, [n] */
    double h;
    bool smooth, ended; /* the polynomials predict; `rate` belongs to the present state */
} past;

typedef struct first {
    taut_collocation table;
    int s;
    taut_index n, m;
    taut_pattern tangent, jacobian, control;
    taut_index tangents, controls, entries; /* of the first m rows of G */
    /* G and df/dy^T side by side; from: place in control of the second part */
    taut_index *start, *column, *from;
    past past[2];
    int top;
    /* stages [s n]; f - k then corrections [s n]; g then corrections of y [s m] */
    double *z, *r, *c;
    double *foretold; /* z at the end by the continued polynomial, [n] */
    double between;   /* taut_collocation_between */
    double *force_dz, *force_dy, *bond, *bond_dt, *g, *scale;
    double *k_real, *g1, *g2, *x_real, *y_real;
    double complex *k, *g1c, *g2c;
    /* of the factorisations; of convergence; norms below this may be rounding */
    double h, rate, rough;
    bool valid, stage_wise;
    taut_radau_blocks blocks; /* tensor */
    taut_first_whole whole;   /* stage-wise */
    taut_saddle *filter;      /* of the error estimate; NULL: the first block */
} first;

/* ---- making */

static int take_patterns(taut_stepper *s, first *w, taut_error *error)
{
    const taut_system *system = taut_context_system(s->context);
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_TANGENT, &w->tangent, error));
    w->tangents = w->tangent.start[w->n];
    w->start = TAUT_NEW(s->arena, taut_index, w->m + 1);
    if (!w->start)
        return taut_fail_memory(error);
    if (w->m == 0)
        return TAUT_OK;
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &w->jacobian, error));
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_CONTROL, &w->control, error));
    w->entries = w->jacobian.start[w->m];
    w->controls = w->control.start[w->n];
    taut_index all = w->entries + w->controls, used = 0;
    w->column = TAUT_NEW(s->arena, taut_index, all);
    w->from = TAUT_NEW(s->arena, taut_index, all);
    if (!w->column || !w->from)
        return taut_fail_memory(error);
    for (taut_index i = 0; i < w->m; i++) {
        for (taut_index k = w->jacobian.start[i]; k < w->jacobian.start[i + 1]; k++) {
            w->from[used] = k;
            w->column[used++] = w->jacobian.column[k];
        }
        for (taut_index j = 0; j < w->n; j++)
            for (taut_index k = w->control.start[j]; k < w->control.start[j + 1]; k++)
                if (w->control.column[k] == i) {
                    w->from[used] = -1 - k;
                    w->column[used++] = j;
                }
        w->start[i + 1] = used;
    }
    return TAUT_OK;
}

static int reserve(taut_stepper *s, first *w, int64_t bonds, int64_t entries, taut_error *error)
{
    int64_t rows = (int64_t)w->s * w->n, more = (int64_t)w->s * w->m,
            both = w->m > 0 ? w->start[w->m] : 0;
    const taut_radau_part parts[] = {{&w->z, rows},
                                     {&w->r, rows},
                                     {&w->c, more},
                                     {&w->force_dz, w->tangents},
                                     {&w->force_dy, w->controls},
                                     {&w->bond, bonds},
                                     {&w->bond_dt, bonds},
                                     {&w->g, entries},
                                     {&w->scale, w->n},
                                     {&w->foretold, w->n},
                                     {&w->k_real, w->tangents},
                                     {&w->g1, both},
                                     {&w->g2, both},
                                     {&w->x_real, 2 * (int64_t)w->n},
                                     {&w->y_real, w->m},
                                     {&w->past[0].k, rows},
                                     {&w->past[0].y, more},
                                     {&w->past[0].rate, w->n},
                                     {&w->past[1].k, rows},
                                     {&w->past[1].y, more},
                                     {&w->past[1].rate, w->n}};
    TAUT_TRY(taut_radau_reserve(s, sizeof parts / sizeof parts[0], parts, error));
    w->k = TAUT_NEW(s->arena, double complex, w->tangents);
    w->g1c = TAUT_NEW(s->arena, double complex, both);
    w->g2c = TAUT_NEW(s->arena, double complex, both);
    return w->k && w->g1c && w->g2c ? TAUT_OK : taut_fail_memory(error);
}

int taut_radau_first_create(taut_stepper *s, int stages, taut_error *error)
{
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(s->context), &sizes);
    first *w = s->work = TAUT_NEW(s->arena, first, 1);
    if (!w)
        return taut_fail_memory(error);
    w->s = stages;
    w->n = s->n;
    w->m = s->m;
    if (w->m != sizes.constraints)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "method %s needs as many constraints (%d) as algebraic variables (%d)%s",
                         s->method->name, (int)sizes.constraints, (int)w->m,
                         w->m == 0 ? "; constraints without algebraic variables are [invariants]"
                                   : "");
    taut_collocation_make(stages, &w->table);
    w->between = taut_collocation_between(&w->table, 1);
    TAUT_TRY(take_patterns(s, w, error));
    TAUT_TRY(reserve(s, w, sizes.bonds, sizes.jacobian_entries, error));
    taut_saddle_shape shape = {.n = w->n,
                               .m = w->m,
                               .k_start = w->tangent.start,
                               .k_column = w->tangent.column,
                               .g_start = w->start,
                               .g_column = w->column};
    const char *newton = s->options ? taut_options_text(s->options, "newton") : "auto";
    w->stage_wise = strcmp(newton, "stage") == 0 ||
                    (strcmp(newton, "tensor") != 0 && w->m > 0 &&
                     (int64_t)stages * ((int64_t)w->n + w->m) <= TAUT_STAGE_WISE_ROWS);
    TAUT_TRY(w->stage_wise
                 ? taut_first_whole_create(s, &w->table, &shape, w->from, &w->whole, error)
                 : taut_radau_blocks_create(s, &w->table, &shape, &w->blocks, error));
    if ((w->table.real[0] && !w->stage_wise) || !s->adaptive)
        return TAUT_OK;
    return taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &s->arena->allocator, &w->filter, error);
}

void taut_radau_first_destroy(taut_stepper *s)
{
    first *w = s->work;
    if (!w)
        return;
    taut_radau_blocks_destroy(&w->blocks);
    taut_saddle_destroy(w->whole.saddle);
    taut_saddle_destroy(w->filter);
}

/* ---- one step */

/* f (into rate) and g (into c, unless NULL) at a point, with derivatives on request. */
static int evaluate(taut_stepper *s, double t, const double *z, const double *y, bool derivatives,
                    double *rate, double *c, taut_error *error)
{
    first *w = s->work;
    taut_values values = {.force = rate,
                          .bond = w->bond,
                          .jacobian = w->g,
                          .bond_dt = w->bond_dt,
                          .force_dq = w->force_dz,
                          .force_dv = w->force_dy};
    unsigned wanted = TAUT_WANT_FORCE | (c && w->m > 0 ? TAUT_WANT_BOND : 0);
    if (derivatives)
        wanted |= TAUT_WANT_FORCE_DQ | (w->m > 0 ? TAUT_WANT_FORCE_DV | TAUT_WANT_JACOBIAN : 0);
    TAUT_TRY(taut_evaluate_inside(s->context, t, z, y, wanted, &values, error));
    s->statistics->force_evaluations++;
    s->statistics->jacobians += derivatives;
    if (c)
        taut_copy(w->m, w->bond, c);
    return TAUT_OK;
}

/* I - e df/dz; G1 = -df/dy^T, G2 = dg/dz on the common pattern. */
static int factor_real(first *w, taut_saddle *saddle, double e, taut_error *error)
{
    for (taut_index r = 0; r < w->n; r++)
        for (taut_index k = w->tangent.start[r]; k < w->tangent.start[r + 1]; k++)
            w->k_real[k] = (w->tangent.column[k] == r) - e * w->force_dz[k];
    for (taut_index k = 0; w->m > 0 && k < w->start[w->m]; k++) {
        taut_index from = w->from[k];
        w->g1[k] = from < 0 ? -w->force_dy[-1 - from] : 0;
        w->g2[k] = from < 0 ? 0 : w->g[from];
    }
    return taut_saddle_factor(saddle, w->k_real, w->g1, w->g2, NULL, error);
}

static int factor_pair(first *w, taut_saddle *saddle, double complex e, taut_error *error)
{
    for (taut_index r = 0; r < w->n; r++)
        for (taut_index k = w->tangent.start[r]; k < w->tangent.start[r + 1]; k++)
            w->k[k] = (w->tangent.column[k] == r) - e * w->force_dz[k];
    for (taut_index k = 0; w->m > 0 && k < w->start[w->m]; k++) {
        taut_index from = w->from[k];
        w->g1c[k] = from < 0 ? -w->force_dy[-1 - from] : 0;
        w->g2c[k] = from < 0 ? 0 : w->g[from];
    }
    return taut_saddle_factor_complex(saddle, w->k, w->g1c, w->g2c, NULL, error);
}

static int factor(taut_stepper *s, double h, taut_error *error)
{
    first *w = s->work;
    w->h = 0;
    if (w->stage_wise)
        TAUT_TRY(taut_first_whole_factor(s, &w->whole, error));
    for (int b = 0; b < w->table.blocks && !w->stage_wise; b++) {
        double complex e = h * w->table.mu[b];
        for (taut_index i = 0; i < w->m; i++)
            w->blocks.factor[(int64_t)b * w->m + i] = -1 / e;
        s->statistics->factorisations++;
        TAUT_TRY(w->table.real[b] ? factor_real(w, w->blocks.saddle[b], creal(e), error)
                                  : factor_pair(w, w->blocks.saddle[b], e, error));
    }
    if (w->filter) {
        s->statistics->factorisations++;
        TAUT_TRY(factor_real(w, w->filter, h * w->table.gamma, error));
    }
    w->h = h;
    return TAUT_OK;
}

static void predict(const taut_stepper *s, double h, bool anew)
{
    first *w = s->work;
    const past *old = &w->past[w->top];
    past *trial = &w->past[1 - w->top];
    if (!anew) {
        taut_collocation_extend(&w->table, h / old->h, w->n, old->k, trial->k);
        taut_collocation_extend(&w->table, h / old->h, w->m, old->y, trial->y);
        for (taut_index k = 0; k < w->n; k++) {
            double sum = 0;
            for (int j = 0; j < w->s; j++)
                sum += w->table.a[w->s - 1][j] * trial->k[(int64_t)j * w->n + k];
            w->foretold[k] = s->now.q[k] + h * sum;
        }
        return;
    }
    w->rate = 1;
    for (int i = 0; i < w->s; i++) {
        taut_copy(w->n, old->rate, trial->k + (int64_t)i * w->n);
        taut_copy(w->m, s->now.v, trial->y + (int64_t)i * w->m);
    }
}

static void set_scale(const taut_stepper *s, double h)
{
    first *w = s->work;
    double largest = 0;
    for (taut_index k = 0; k < w->n; k++)
        largest = fmax(largest, fmax(fabs(s->now.q[k]), fabs(h * w->past[w->top].rate[k])));
    w->rough = taut_radau_scale(s, false, largest, w->scale);
}

static void place(taut_stepper *s, double h)
{
    first *w = s->work;
    taut_collocation_combine(&w->table, w->table.a[0], h, w->n, s->now.q, 0, NULL,
                             w->past[1 - w->top].k, w->z);
}

/* Residuals of all stages; derivatives at each, or at the middle one. The rate at the last stage
 * is kept as that of the end. */
static int residuals(taut_stepper *s, double h, bool derivatives, taut_error *error)
{
    first *w = s->work;
    past *trial = &w->past[1 - w->top];
    for (int i = 0; i < w->s; i++) {
        double *r = w->r + (int64_t)i * w->n;
        bool here = derivatives && (w->stage_wise || i == w->s / 2);
        TAUT_TRY(evaluate(s, s->now.t + w->table.c[i] * h, w->z + (int64_t)i * w->n,
                          trial->y + (int64_t)i * w->m, here, r, w->c + (int64_t)i * w->m, error));
        if (here && w->stage_wise)
            taut_first_whole_add(&w->whole, i, h, w->force_dz, w->force_dy, w->g);
        if (i == w->s - 1)
            taut_copy(w->n, r, trial->rate);
        for (taut_index k = 0; k < w->n; k++)
            r[k] -= trial->k[(int64_t)i * w->n + k];
    }
    w->valid |= derivatives;
    return derivatives || w->h != h ? factor(s, h, error) : TAUT_OK;
}

static int iterate(taut_stepper *s, double h, bool anew, taut_error *error)
{
    first *w = s->work;
    past *trial = &w->past[1 - w->top];
    predict(s, h, anew);
    place(s, h);
    bool derive = anew || w->stage_wise || !w->valid || w->h != h || w->rate > OLD;
    double before = 0, rate = pow(w->rate, 0.8);
    int slow = 0;
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        TAUT_TRY(residuals(s, h, derive, error));
        TAUT_TRY(w->stage_wise ? taut_first_whole_solve(s, &w->whole, h, w->r, w->c, error)
                               : taut_radau_blocks_solve(s, &w->blocks, w->r, w->c, error));
        s->statistics->newton_iterations++;
        double norm =
            taut_radau_correct(s, &w->table, h, w->scale, w->r, w->z, NULL, w->x_real, NULL);
        if (isnan(norm))
            return taut_radau_stuck(s, h, w->s, w->r, w->scale, error);
        for (int i = 0; i < w->s; i++) {
            taut_add(w->n, w->r + (int64_t)i * w->n, trial->k + (int64_t)i * w->n);
            taut_add(w->m, w->c + (int64_t)i * w->m, trial->y + (int64_t)i * w->m);
        }
        if (k > 0)
            rate = norm / before;
        int verdict = taut_radau_verdict(false, norm, rate, w->rough, k, anew, &w->rate);
        if (verdict == 0)
            return TAUT_OK;
        slow = rate > SLOW && k > 0 ? slow + 1 : 0;
        if (w->stage_wise && !s->adaptive && norm <= STALLED && (slow >= 3 || verdict < 0))
            return TAUT_OK;
        if (verdict < 0)
            break;
        derive = k > 0 && rate > SLOW && (w->stage_wise || k % 2 == 0);
        before = norm;
    }
    return taut_radau_stuck(s, h, w->s, w->r, w->scale, error);
}

/* A singular matrix: the algebraic variable that moves no constraint, or the constraint that
 * none moves, by the terms of dg/dz df/dy. */
static int explain(taut_stepper *s, int status, taut_error *error)
{
    first *w = s->work;
    char text[200] = "the matrix of the step is singular", name[96];
    taut_index still = -1;
    if (status != TAUT_ERROR_SINGULAR)
        return status;
    taut_clear(w->m, w->c); /* how often each variable is seen */
    for (taut_index i = 0; i < w->m; i++) {
        bool moved = false;
        for (taut_index k = w->jacobian.start[i]; k < w->jacobian.start[i + 1]; k++)
            for (taut_index j = w->control.start[w->jacobian.column[k]];
                 j < w->control.start[w->jacobian.column[k] + 1]; j++) {
                bool acts = w->g[k] != 0 && w->force_dy[j] != 0;
                w->c[w->control.column[j]] += acts;
                moved |= acts;
            }
        still = !moved && still < 0 ? i : still;
    }
    taut_index idle = 0;
    while (idle < w->m && w->c[idle] > 0)
        idle++;
    if (idle < w->m) {
        taut_system_name(taut_context_system(s->context), TAUT_ALGEBRAIC, idle, name, sizeof name);
        snprintf(text, sizeof text,
                 "the algebraic variable '%s' moves no constraint: the index is not 2", name);
    } else if (still >= 0) {
        taut_system_name(taut_context_system(s->context), TAUT_BOND, still, name, sizeof name);
        snprintf(text, sizeof text,
                 "no algebraic variable moves the constraint '%s': the index is not 2", name);
    } else if (w->m > 0)
        snprintf(text, sizeof text,
                 "the constraints, differentiated once, do not determine the algebraic variables");
    return taut_radau_singular(s, text, error);
}

/* ---- the error */

static double norm_of(const taut_stepper *s, const double *x)
{
    double sum = 0;
    for (taut_index k = 0; k < s->n; k++) {
        double e = x[k] / (s->atol + s->rtol * fabs(s->now.q[k]));
        sum += e * e;
    }
    return s->n > 0 ? sqrt(sum / s->n) : 0;
}

/* error_q = h gamma (filtered) (rate - k(0)). */
static int filtered(taut_stepper *s, double h, const double *rate, taut_error *error)
{
    first *w = s->work;
    const double *k = w->past[1 - w->top].k;
    double weight[TAUT_STAGES_MAX];
    taut_collocation_weights(&w->table, 0, 0, weight);
    for (taut_index i = 0; i < w->n; i++) {
        double sum = rate[i];
        for (int j = 0; j < w->s; j++)
            sum -= weight[j] * k[(int64_t)j * w->n + i];
        w->x_real[i] = sum;
    }
    taut_clear(w->m, w->y_real);
    s->statistics->solves++;
    TAUT_TRY(taut_saddle_solve(w->filter ? w->filter : w->blocks.saddle[0], 1, w->x_real, w->y_real,
                               error));
    for (taut_index i = 0; i < w->n; i++)
        s->error_q[i] = h * w->table.gamma * w->x_real[i];
    return TAUT_OK;
}

static int estimate(taut_stepper *s, double h, taut_error *error)
{
    first *w = s->work;
    taut_clear(w->n, s->error_v);
    TAUT_TRY(filtered(s, h, w->past[w->top].rate, error));
    if (!(norm_of(s, s->error_q) > 1))
        return TAUT_OK;
    /* what is fast and damped at the start is no error of the step: the rate is looked at where
     * the estimate leads */
    double *z = w->x_real + w->n;
    for (taut_index i = 0; i < w->n; i++)
        z[i] = s->now.q[i] + s->error_q[i];
    double *rate = w->r;
    taut_error reason = {0};
    int status = evaluate(s, s->now.t, z, s->now.v, false, rate, NULL, &reason);
    return status == 0 ? filtered(s, h, rate, error) : taut_fail_final(status, &reason, error);
}

/* The two errors have the same derivative: their quotient is that of the node integrals. */
static void add_between(taut_stepper *s, double h)
{
    first *w = s->work;
    const past *old = &w->past[w->top];
    if (!old->smooth)
        return;
    const double *end = w->z + (int64_t)(w->s - 1) * w->n;
    double ratio = h / old->h, missed = taut_collocation_miss(&w->table, 1, ratio, 1);
    double share = pow(fabs(ratio), w->s + 1) * w->between / fmax(fabs(missed), DBL_MIN);
    for (taut_index k = 0; k < w->n; k++)
        s->error_q[k] = fabs(s->error_q[k]) + share * fabs(end[k] - w->foretold[k]);
}

/* ---- the method */

int taut_radau_first_step(taut_stepper *s, double h, taut_error *error)
{
    first *w = s->work;
    past *old = &w->past[w->top], *trial = &w->past[1 - w->top];
    if (!old->ended)
        TAUT_TRY(evaluate(s, s->now.t, s->now.q, s->now.v, false, old->rate, NULL, error));
    old->ended = true;
    set_scale(s, h);
    int status = iterate(s, h, !old->smooth, error);
    if (taut_radau_again(status) && old->smooth) {
        taut_error_clear(error);
        status = iterate(s, h, true, error);
    }
    if (status != 0) {
        w->valid = false;
        w->h = 0;
        w->rate = 1;
        return explain(s, status, error);
    }
    if (s->adaptive) {
        TAUT_TRY(estimate(s, h, error));
        add_between(s, h);
    } else
        place(s, h); /* without the rounding of the iteration's sums */
    taut_state was = s->now, next = s->last;
    next.t = was.t + h;
    taut_copy(w->n, w->z + (int64_t)(w->s - 1) * w->n, next.q);
    taut_copy(w->n, trial->k + (int64_t)(w->s - 1) * w->n, next.a);
    taut_copy(w->m, trial->y + (int64_t)(w->s - 1) * w->m, next.v);
    trial->h = h;
    trial->smooth = trial->ended = true;
    s->now = next;
    s->last = was;
    w->top = 1 - w->top;
    s->statistics->steps++;
    return TAUT_OK;
}

void taut_radau_first_forget(taut_stepper *s, bool history)
{
    first *w = s->work;
    w->past[w->top].ended = false;
    if (history)
        w->past[w->top].smooth = false;
}

void taut_radau_first_rejected(taut_stepper *s)
{
    first *w = s->work;
    w->top = 1 - w->top;
}

/* z(theta) = z0 + h sum_i (int l_i) k_i. */
void taut_radau_first_dense(taut_stepper *s, double theta, taut_state *state)
{
    const first *w = s->work;
    const past *x = &w->past[w->top];
    double value[TAUT_STAGES_MAX], once[TAUT_STAGES_MAX];
    taut_collocation_weights(&w->table, theta, 0, value);
    taut_collocation_weights(&w->table, theta, 1, once);
    for (taut_index k = 0; k < w->n; k++) {
        double dz = 0, rate = 0;
        for (int j = 0; j < w->s; j++) {
            rate += value[j] * x->k[(int64_t)j * w->n + k];
            dz += once[j] * x->k[(int64_t)j * w->n + k];
        }
        state->a[k] = rate;
        state->q[k] = s->last.q[k] + x->h * dz;
    }
    for (taut_index i = 0; i < w->m; i++) {
        double sum = 0;
        for (int j = 0; j < w->s; j++)
            sum += value[j] * x->y[(int64_t)j * w->m + i];
        state->v[i] = sum;
    }
}
