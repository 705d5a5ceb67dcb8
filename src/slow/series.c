/* series.c - the slow point over the foot point of the initial state, as an expansion in the
 * compliance [B Theorem 2.2]: (q, v) on the normal fibre of the foot point (X, V),
 *
 *     q = X + M^-1 G^T mu, v = V + M^-1 G^T nu   (M, G at X), g(q) = y(q, v),
 *     G(q) v + g_t = ydot(q, v),
 *
 * where y = C lambda^(k) and ydot are the values that g and gdot have on the slow manifold to
 * order C^(k+1) (multiplier_recursion.c), with the matrix of the foot point, level by level
 * (level_series.c).
 *
 * What is held does not move: foot point and fibre are those of the space in which held
 * coordinates (for v: velocities) are constants,
 *
 *     M_ff (X - q)_f + G_f^T mu = 0, X_h = q_h, q_f = X_f + M_ff^-1 G_f^T mu, q_h = X_h
 *     (f: free, h: held)
 *
 * while y and ydot are those of the motion in which nothing is held. A bond without a free
 * coordinate is checked. */
#include "slow/series.h"

#include <stdio.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "point/rigid_foot.h"
#include "slow/expansion.h"
#include "slow/level_series.h"
#include "slow/multiplier_recursion.h"
#include "slow/potential/potential.h"
#include "system/rank_part.h"

typedef struct bond_series {
    taut_level_series levels;
    taut_rigid_foot rigid;
    taut_multiplier_recursion *recursion;
    /* at the foot point; velocity without its own matrix where both are the same */
    taut_masked_saddle position, velocity;
    bool apart;          /* they are not */
    taut_saddle *shared; /* by foot point, fibre and recursion, where nothing is held */
    double *foot_g;      /* then: G of the foot point */
    taut_values values;
    /* [m]; [2][m]: what g and gdot are on the slow manifold; of the latest level that exists */
    double *lambda, *y;
    double *dmu, *stretch;           /* [m]: of the latest step */
    unsigned char *counts, *springs; /* [m]: not soft; with a compliance */
} bond_series;

static const taut_masked_saddle *saddle_of(const bond_series *s, bool velocity)
{
    return velocity && s->apart ? &s->velocity : &s->position;
}

static int evaluate_bonds(bond_series *s, unsigned more, taut_error *error)
{
    const taut_level_series *l = &s->levels;
    l->projector.statistics->force_evaluations++;
    int status =
        taut_evaluate_inside(l->context, l->t, l->q, l->v,
                             TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | more, &s->values, error);
    return taut_space_agree(taut_context_space(l->context), status, error);
}

/* The matrices of the fibre. */
static int factor(bond_series *s, const double *jacobian, taut_error *error)
{
    const taut_level_series *l = &s->levels;
    l->projector.statistics->factorisations += 1 + s->apart;
    TAUT_TRY(taut_masked_saddle_factor(&s->position, l->t, s->values.mass, jacobian, s->counts, 0,
                                       error));
    return s->apart ? taut_masked_saddle_factor(&s->velocity, l->t, s->values.mass, jacobian,
                                                s->counts, 0, error)
                    : TAUT_OK;
}

static int begin(taut_level_series *l, taut_error *error)
{
    bond_series *s = (bond_series *)l;
    TAUT_TRY(evaluate_bonds(s, TAUT_WANT_MASS, error));
    if (!s->shared)
        return factor(s, s->values.jacobian, error);
    taut_copy(l->sizes.jacobian_entries, s->values.jacobian, s->foot_g);
    return TAUT_OK;
}

/* ---- levels */

static int evaluate(taut_level_series *l, taut_error *error)
{
    bond_series *s = (bond_series *)l;
    TAUT_TRY(
        taut_multiplier_recursion_evaluate(s->recursion, l->level, true, l->t, l->q, l->v, error));
    taut_space *space = taut_context_space(l->context);
    double size = taut_space_largest(space, taut_largest(l->m, s->recursion->lambda)),
           change = taut_largest_difference(l->m, s->recursion->lambda, s->recursion->before);
    l->change = taut_space_largest(space, change) / (size > 0 ? size : 1);
    taut_copy(l->m, s->recursion->lambda, s->lambda);
    taut_copy(2 * (int64_t)l->m, s->recursion->y, s->y);
    if (l->level == 1)
        l->rate = taut_multiplier_recursion_rate(s->recursion);
    return TAUT_OK;
}

static int moved(taut_level_series *l, taut_error *error)
{
    return evaluate_bonds((bond_series *)l, 0, error);
}

static void residual(bond_series *s, bool velocity)
{
    const taut_level_series *l = &s->levels;
    for (taut_index i = 0; i < l->m; i++) {
        double rate =
            s->values.bond_dt[i] + taut_row_dot(&s->position.jacobian, s->values.jacobian, i, l->v);
        s->dmu[i] = velocity ? s->y[l->m + i] - rate : s->y[i] - s->values.bond[i];
    }
}

/* sum e^2/c of the springs, and sum mu e. */
static double sum_springs(void *context, int64_t begin, int64_t end)
{
    const bond_series *s = context;
    const double *compliance = taut_context_compliance(s->levels.context);
    double sum = 0;
    for (int64_t i = begin; i < end; i++)
        if (s->counts[i] && compliance[i] > 0)
            sum += s->stretch[i] * s->stretch[i] / compliance[i];
    return sum;
}

static double sum_mass(void *context, int64_t begin, int64_t end)
{
    const bond_series *s = context;
    const double *compliance = taut_context_compliance(s->levels.context);
    double sum = 0;
    for (int64_t i = begin; i < end; i++)
        if (s->counts[i] && compliance[i] > 0)
            sum += s->dmu[i] * s->stretch[i];
    return sum;
}

/* How the springs would oscillate from a step M^-1 G^T mu that stretches them by e: Rayleigh's
 * quotient e^T C^-1 e / mu^T e. */
static double find_frequency(bond_series *s)
{
    const taut_level_series *l = &s->levels;
    const taut_halo *halo = taut_context_bond_halo(l->context);
    double springs = taut_halo_sum(halo, NULL, l->m, sum_springs, s),
           mass = taut_halo_sum(halo, NULL, l->m, sum_mass, s),
           frequency = sqrt(springs / fabs(mass));
    return isfinite(frequency) ? frequency : 0;
}

static int fibre_step(taut_level_series *l, bool velocity, double *dx, taut_error *error)
{
    bond_series *s = (bond_series *)l;
    taut_clear(l->n, dx);
    if (s->shared && !velocity) /* the recursion had it */
        TAUT_TRY(factor(s, s->foot_g, error));
    residual(s, velocity);
    taut_copy(l->m, s->dmu, s->stretch);
    TAUT_TRY(taut_masked_saddle_solve(saddle_of(s, velocity), dx, s->dmu, error));
    if (!velocity || l->frequency == 0)
        l->frequency = find_frequency(s);
    l->projector.statistics->solves++;
    return TAUT_OK;
}

/* Springs of which nothing can move must have the length and rate of the slow motion already. */
static int check_held(taut_level_series *l, taut_error *error)
{
    bond_series *s = (bond_series *)l;
    for (int part = 0; part < 2 && l->settings.hold; part++) {
        double most = taut_largest(l->n, part ? l->v : l->q);
        residual(s, part);
        for (taut_index i = 0; i < l->m; i++) {
            double size = taut_row_size(&s->position.jacobian, s->values.jacobian, i, NULL) * most;
            if (!s->counts[i] || saddle_of(s, part)->moves[i] || fabs(s->dmu[i]) <= 1e-9 * size)
                continue;
            char name[96];
            taut_system_name(taut_context_system(l->context), TAUT_BOND, i, name, sizeof name);
            return taut_fail(error, TAUT_ERROR_CONVERGE,
                             "all of the %s of bond '%s' are held, and its %s is off by %.3g from "
                             "that of the slow motion; release one, or correct it",
                             part ? "velocities" : "coordinates", name, part ? "rate" : "stretch",
                             fabs(s->dmu[i]));
        }
    }
    return TAUT_OK;
}

/* ---- the projector */

static void release(taut_level_series *l)
{
    bond_series *s = (bond_series *)l;
    taut_masked_saddle_destroy(&s->position);
    taut_masked_saddle_destroy(&s->velocity);
    taut_rigid_foot_destroy(&s->rigid);
    taut_multiplier_recursion_destroy(s->recursion);
    s->recursion = NULL;
    l->foot = NULL;
}

static int new_arrays(bond_series *s, taut_arena *arena, taut_error *error)
{
    const taut_level_series *l = &s->levels;
    int64_t masses = s->position.matrix ? s->position.tangent.start[l->n] : l->n;
    TAUT_TRY(TAUT_RESERVE(arena, l->m, error, &s->dmu, &s->stretch, &s->lambda, &s->values.bond,
                          &s->values.bond_dt));
    TAUT_TRY(TAUT_RESERVE(arena, 2 * (int64_t)l->m, error, &s->y));
    TAUT_TRY(TAUT_RESERVE(arena, l->sizes.jacobian_entries, error, &s->values.jacobian));
    TAUT_TRY(TAUT_RESERVE(arena, masses, error, &s->values.mass));
    if (s->shared)
        TAUT_TRY(TAUT_RESERVE(arena, l->sizes.jacobian_entries, error, &s->foot_g));
    s->counts = TAUT_NEW(arena, unsigned char, l->m);
    s->springs = TAUT_NEW(arena, unsigned char, l->m);
    return s->counts && s->springs ? TAUT_OK : taut_fail_memory(error);
}

/* The matrices of the fibre: one, unless other velocities are held than positions. */
static int new_saddles(bond_series *s, taut_arena *arena, taut_error *error)
{
    const taut_level_series *l = &s->levels;
    const unsigned char *hold = l->settings.hold;
    for (taut_index i = 0; hold && i < l->n; i++)
        s->apart |= !(hold[i] & TAUT_HOLD_POSITION) != !(hold[i] & TAUT_HOLD_VELOCITY);
    TAUT_TRY(taut_masked_saddle_create(&s->position, l->context, arena, hold, TAUT_HOLD_POSITION,
                                       s->shared, error));
    return s->apart ? taut_masked_saddle_create(&s->velocity, l->context, arena, hold,
                                                TAUT_HOLD_VELOCITY, NULL, error)
                    : TAUT_OK;
}

static int new_foot(bond_series *s, taut_arena *arena, taut_error *error)
{
    taut_level_series *l = &s->levels;
    taut_foot_point_settings settings = {.ignore_holds = !l->settings.hold,
                                         .hold = l->settings.hold,
                                         .springs = s->springs,
                                         .late = l->settings.gradual,
                                         .saddle = &s->shared};
    TAUT_TRY(taut_rigid_foot_create(&s->rigid, l->context, arena, l->projector.statistics,
                                    &settings, error));
    l->foot = s->rigid.projector;
    return TAUT_OK;
}

static int build(taut_level_series *l, taut_arena *arena, taut_error *error)
{
    bond_series *s = (bond_series *)l;
    TAUT_TRY(taut_multiplier_recursion_create(l->context, arena, l->projector.statistics,
                                              l->settings.levels, l->settings.gradual ? 2 : 0, NULL,
                                              &s->recursion, error));
    if (!l->settings.hold)
        s->shared = s->recursion->equations.saddle.saddle;
    TAUT_TRY(new_saddles(s, arena, error));
    TAUT_TRY(new_arrays(s, arena, error));
    const double *compliance = taut_context_compliance(l->context);
    for (taut_index i = 0; i < l->m; i++) {
        s->counts[i] = !(taut_context_soft(l->context, i) && compliance[i] > 0);
        s->springs[i] = compliance[i] > 0;
    }
    return new_foot(s, arena, error);
}

static void report(const taut_level_series *l, taut_series_report *to)
{
    to->lambda = ((const bond_series *)l)->lambda;
}

const taut_level_kind taut_bond_series = {.size = sizeof(bond_series),
                                          .build = build,
                                          .release = release,
                                          .begin = begin,
                                          .evaluate = evaluate,
                                          .moved = moved,
                                          .step = fibre_step,
                                          .finish = check_held,
                                          .report = report};

/* ---- the projection */

/* Adds to "not separated" how fast what is stiff oscillates; or finds that it is far faster, and
 * that something else is wrong. */
static int explain_frequency(taut_projection *p, double rate, taut_error *error)
{
    double frequency[2];
    int found = 0;
    bool complete;
    taut_error reason = {0};
    int status = taut_frequencies(p->in->context, p->in->t, p->in->q, 1, frequency, &found,
                                  &complete, &reason);
    TAUT_TRY(taut_fail_final(status, &reason, error));
    p->hopeless = status != 0 || found == 0 || rate > 0.05 * frequency[0];
    if (!p->hopeless)
        return taut_fail(
            error, TAUT_ERROR_CONVERGE,
            "the levels of the slow multipliers do not shrink, though the slowest spring "
            "oscillates at %.3g and the state moves at a rate of about %.3g (rad per time): at the "
            "foot point the bonds are nearly stationary%s; use projection kernel",
            frequency[0], rate, p->in->hold ? " in what is not held" : "");
    if (status == 0 && found > 0)
        taut_fail(
            error, TAUT_ERROR_CONVERGE,
            "slow and fast are not separated at this state: it moves at a rate of about "
            "%.3g, and the slowest %s oscillates at %.3g (rad per time); a stiffer %s or a "
            "slower motion has a slow point, or use projection constraint",
            rate,
            p->in->sizes.can & TAUT_HAS_STIFF_POTENTIAL ? "mode of the stiff potential" : "spring",
            frequency[0], p->in->sizes.can & TAUT_HAS_STIFF_POTENTIAL ? "potential" : "spring");
    return TAUT_ERROR_CONVERGE;
}

/* The coefficients of B (2.6), as an option. */
static int expand_foot(taut_projection *p, const taut_series_report *report, taut_error *error)
{
    p->expansion = TAUT_NEW(&p->arena, taut_expansion, 1);
    TAUT_NEED(error, p->expansion);
    return taut_expansion_make(p->in->context, &p->arena, &p->statistics, p->in->t, report->foot_q,
                               report->foot_v, p->expansion, error);
}

static void explain(taut_projection *p, const taut_series_report *report)
{
    taut_explain(p, "projection series: the foot point");
    if (report->stiff_force)
        taut_explain_more(p, " where the stiff potential is least, rank %d", report->rank);
    taut_explain_more(p,
                      " (pass 1), then %d levels of slow multipliers; error about %.1g in q, %.1g "
                      "in v",
                      report->level, report->error_q, report->error_v);
    if (report->stiff_force)
        taut_explain_more(p, ", rounding about %.1g", report->rounding);
    if (report->truncated)
        taut_explain_more(p, "; the next level would be worse: slow and fast are barely separated");
}

static int project(taut_projection *p, const taut_projection_settings *settings, taut_error *error)
{
    taut_series_settings how = {
        .gradual = true, .hold = p->in->hold, .watch = taut_projection_watch, .user = p};
    taut_projector *projector = NULL;
    taut_series_report report;
    bool stiff = p->in->sizes.can & TAUT_HAS_STIFF_POTENTIAL;
    if (!stiff)
        how.enough = settings->enough;
    TAUT_TRY(taut_projection_record(p, p->q, p->v, error));
    TAUT_TRY(taut_series_create(stiff ? &taut_potential_series : &taut_bond_series, p->in->context,
                                &p->arena, &p->statistics, &how, &projector, error));
    int status = projector->apply(projector, p->in->t, p->q, p->v, error);
    taut_series_report_get(projector, &report);
    /* over ranks frequencies are not known */
    if (status == TAUT_ERROR_CONVERGE && report.unseparated && !taut_context_space(p->in->context))
        status = explain_frequency(p, report.rate, error);
    if (status == 0) {
        taut_copy(p->in->sizes.bonds, report.lambda, p->lambda);
        p->stiff_force = report.stiff_force;
        explain(p, &report);
        if (!stiff && settings->expansion)
            status = expand_foot(p, &report, error);
    }
    projector->destroy(projector);
    return status;
}

const taut_projection_method taut_projection_series = {
    .name = "series",
    .summary = "slow point by expansion in the compliance: Taylor jets along the motion, exact to "
               "rounding when slow and fast are apart",
    .reference = "Lubich 1993, Theorem 2.2; jets in place of its recursion",
    .needs = TAUT_CAN_FORCE | TAUT_CAN_DERIVATIVES | TAUT_CAN_JETS | TAUT_HAS_SPRINGS,
    .refuses = TAUT_HAS_STEPPER,
    .kinds = 1u << TAUT_MECHANICAL,
    .spans_ranks = true,
    .project = project,
};
