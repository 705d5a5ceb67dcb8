/* slow_level.c - the explicit slow field of a run (slow/slow_field.c): whether it applies, its
 * level k, and whether k is still enough later.
 *
 * What level k omits is estimated by the next one, as an acceleration d = a^(k+1) - a^(k). In a
 * step of length h it changes q by h^2 d/2 and v by h d, normal to the bonds; the projection after
 * the step removes these, and h^2 rho^2 of it remains along them, rho the rate of the motion. As
 * measured that is a tenth, so that in units of the norm of a step (norm.c)
 *
 *     e_k = 0.1 rms 1.5 h^2 |d_i|/(atol + rtol |q_i|).
 *
 * k is the first one with e_k and e_(k+1) (at rest every second correction vanishes) below a tenth
 * and, as far as levels help, multipliers within 20 tolerances. Where corrections exceed both
 * before them, slow and fast are not separated: the field is refused, and so it is where 4 levels
 * are not enough, or where corrections of multipliers grow from the first on, however small the
 * steps of a short run make e_k. Along the run every fourth step, or every one where e_k is near
 * its limit, looks at e_k with its own h; k rises when it is too large, and where that does not
 * help Radau goes on.
 */
#include "drive/solver.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "base/reasons.h"
#include "base/text.h"
#include "base/vectors.h"
#include "slow/slow_field.h"
#include "system/rank_part.h"
#include "wrap/fields.h"

enum { MOST_LEVEL = 4, BETWEEN = 4, LARGE = 2000, LARGE_LEVEL = 2 };
/* units of taut_system_work (400 bytes of jets each) above which a trial assumes level 0 */
static const double MOST_TRIED = 1e5;
static const double REMAINS = 0.1;  /* of the truncation, after the projection */
static const double ENOUGH = 0.1;   /* norm of the truncation in a step */
static const double TOO_MUCH = 0.5; /* the same, at which k rises in the run */
static const double NEAR = 0.01;    /* of that: looks after every step */
static const double FAR = 100;      /* the same, that is no success any more */
static const double FINE = 1e-3;    /* of that, with fixed steps: no tolerance limits their error */
static const double FORCES = 20;    /* tolerances of multipliers */

int taut_slow_level_supports(const taut_solver *solver, taut_error *error)
{
    const unsigned needs = TAUT_CAN_JETS | TAUT_CAN_DERIVATIVES,
                   refuses = TAUT_HAS_STIFF_POTENTIAL | TAUT_HAS_KINKS | TAUT_HAS_INVARIANTS;
    unsigned can = solver->sizes.can, bits = (needs & ~can) | (refuses & can);
    char text[400];
    if (!bits)
        return TAUT_OK;
    if (can & TAUT_HAS_PAIRS)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "the explicit slow field and implicit methods do not support sums over "
                         "pairs of more than 100 particles; explicit methods whose stages are "
                         "projected (project stage) support motion slow of this system");
    return taut_fail(
        error, TAUT_ERROR_REFUSED,
        "the explicit slow field %s; method radau5 supports motion slow of this system",
        taut_reasons_text(bits, text, sizeof text));
}

/* A failure of the field itself: Taut's own choice gives way. */
static int decline(taut_solver *solver, int status, const taut_error *why, taut_error *error)
{
    taut_slow_level *w = &solver->level;
    if (error)
        *error = *why;
    if (status != TAUT_ERROR_MEMORY && status != TAUT_ERROR_STOPPED && !w->given) {
        w->refused = true;
        snprintf(w->reason, sizeof w->reason, "%.350s",
                 why->message[0] ? why->message : "the slow field cannot be evaluated here");
        char *advice = strrchr(w->reason, ';'); /* which is followed already */
        if (advice)
            *advice = '\0';
    }
    return status;
}

static int create(taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_slow_level *w = &solver->level;
    const char *kind = taut_options_text(solver->options, "stabilize");
    bool none = strcmp(kind, "none") == 0,
         known = !kind[0] || none || strcmp(kind, "post") == 0 || strcmp(kind, "project") == 0;
    w->given = taut_options_given(solver->options, "level");
    TAUT_TRY(taut_slow_level_supports(solver, error));
    if (!known)
        return taut_fail_option(error, TAUT_ERROR_REFUSED, "stabilize",
                                "%s is for rigid motion; explicit methods in motion slow are "
                                "stabilised by post or project, which are the same here, or none",
                                kind);
    if (s->trial &&
        taut_space_largest(taut_run_space(solver), taut_system_work(solver->system)) > MOST_TRIED)
        return taut_field_stiff_index1(s->context, s->arena, s->statistics, &s->field, error);
    TAUT_TRY(taut_slow_field_create(s->context, s->arena, s->statistics, &w->field, error));
    s->field = &w->field->field;
    if (!none)
        solver->stabilizer = &w->field->onto;
    return TAUT_OK;
}

int taut_slow_level_create(taut_solver *solver, taut_error *error)
{
    taut_error why = {.t = NAN};
    int status = create(solver, &why);
    return status == 0 ? TAUT_OK : decline(solver, status, &why, error);
}

/* ---- how large a correction is */

typedef struct weighing {
    const taut_stepper *stepper;
    const taut_slow_correction *correction;
    double h;
} weighing;

static double weigh_some(void *context, int64_t begin, int64_t end)
{
    const weighing *w = context;
    const taut_stepper *s = w->stepper;
    const taut_slow_correction *c = w->correction;
    double sum = 0;
    for (int64_t i = begin; i < end; i++) {
        double scale = s->atol + s->rtol * fabs(s->now.q[i]),
               e = 1.5 * w->h * w->h * (c->a[i] - c->a_before[i]) / (scale > 0 ? scale : 1);
        sum += e * e;
    }
    return sum;
}

/* 1.5 h^2 (a - b), rms, in tolerances of q. */
static double weigh(const taut_solver *solver, double h, const taut_slow_correction *c)
{
    const taut_halo *halo = taut_run_halo(solver);
    const taut_index n = solver->stepper.n;
    weighing w = {&solver->stepper, c, h};
    const double count = halo ? (double)halo->total : n,
                 sum = taut_halo_sum(halo, NULL, n, weigh_some, &w);
    return REMAINS * sqrt(sum / (count > 0 ? count : 1));
}

/* `size`: of multipliers. */
static bool forces_suffice(const taut_solver *solver, double change, double size)
{
    return change <= fmax(FORCES * solver->stepper.rtol, 64 * DBL_EPSILON) * size;
}

/* ---- at the beginning */

/* There is no implicit method over several ranks. */
static const char *elsewhere(const taut_solver *solver)
{
    return taut_run_space(solver) ? " without mpiexec" : "";
}

static int refuse(const taut_solver *solver, taut_error *error, const char *format, double before,
                  double now)
{
    char text[250];
    snprintf(text, sizeof text, format, before, now);
    return taut_fail(error, TAUT_ERROR_REFUSED, "the explicit slow field %s; use method radau5%s",
                     text, elsewhere(solver));
}

static const char GROW[] =
    "does not apply: slow and fast are not separated, the corrections of its levels grow from %.3g "
    "to %.3g tolerances of a step";
static const char FORCES_GROW[] =
    "does not apply: slow and fast are not separated, the corrections of the multipliers grow from "
    "%.3g to %.3g";
static const char MANY[] =
    "does not apply: the corrections of its levels decrease from %.3g to %.3g tolerances of a step "
    "only, with the levels that are possible";

/* The step that a method is likely to take: with dop8, as measured, 0.6 over the rate of the motion
 * at rtol 1e-4 and 0.2 at 1e-8. However short fixed steps are, the manifold of level k is not that
 * of slow motion: they count as such a step. */
static double likely_step(taut_solver *solver, double rate)
{
    const taut_stepper *s = &solver->stepper;
    double length = fabs(solver->until - solver->from), order = s->method->order,
           reach = 0.6 * pow(s->rtol / 1e-4, 1 / fmax(order, 8)),
           h = fmin(rate > 0 ? reach / rate : INFINITY, fmin(length, solver->control.most));
    h = isfinite(h) ? h : 1;
    solver->level.least = solver->control.on ? 0 : fmax(h, solver->step > 0 ? solver->step : 0);
    return fmax(h, solver->level.least);
}

static int most_level(const taut_solver *solver)
{
    const taut_stepper *s = &solver->stepper;
    const taut_part *part = solver->model->part;
    const double size =
        part ? (double)(part->coordinates.total + part->bonds.total) : (double)s->n + s->m;
    int wanted = size <= LARGE ? MOST_LEVEL : LARGE_LEVEL, most = solver->level.field->most;
    return wanted < most - 2 ? wanted : most - 2;
}

/* What level k omits of a step h at the present state. */
static int look(taut_solver *solver, int k, double h, taut_error *error)
{
    const taut_state *now = &solver->stepper.now;
    taut_slow_level *w = &solver->level;
    taut_slow_correction c;
    TAUT_TRY(taut_unevaluated(
        taut_slow_field_correction(w->field, k + 1, false, now->t, now->q, now->v, &c, error),
        now->t, error));
    w->before = w->norm;
    w->norm = weigh(solver, fmax(fabs(h), w->least), &c);
    w->largest = fmax(w->largest, w->norm);
    w->lambda = c.lambda;
    w->change = fmax(w->change, c.lambda);
    w->size = fmax(w->size, c.size);
    return TAUT_OK;
}

static int judge_given(taut_solver *solver, int k, taut_error *error)
{
    const taut_state *now = &solver->stepper.now;
    taut_slow_correction c;
    TAUT_TRY(taut_slow_field_correction(solver->level.field, 1, true, now->t, now->q, now->v, &c,
                                        error));
    TAUT_TRY(look(solver, k, likely_step(solver, c.rate), error));
    solver->level.largest = 0; /* steps count */
    return TAUT_OK;
}

/* Corrections of levels 1, 2, ... at the initial state. */
typedef struct corrections {
    double e[MOST_LEVEL + 3];      /* in tolerances of a step */
    double lambda[MOST_LEVEL + 3]; /* of multipliers */
    bool forces[MOST_LEVEL + 3];   /* which are accurate enough without it */
    double rigid;                  /* largest multiplier of level 0 */
    int known;                     /* levels */
} corrections;

/* Multipliers whose corrections grow from the first on (the larger of two successive ones) are not
 * those of a slow motion. The third one is looked at where it matters. */
static int judge_forces(taut_solver *solver, corrections *c, taut_error *error)
{
    const taut_state *now = &solver->stepper.now;
    double first = fmax(c->lambda[1], c->lambda[2]), next = fmax(c->lambda[2], c->lambda[3]);
    if (c->known < 3 && solver->level.field->most >= 3 &&
        !forces_suffice(solver, first, c->rigid)) {
        taut_slow_correction third;
        TAUT_TRY(taut_slow_field_correction(solver->level.field, 3, false, now->t, now->q, now->v,
                                            &third, error));
        next = fmax(c->lambda[2], third.lambda);
    }
    if (next <= first || forces_suffice(solver, next, c->rigid))
        return TAUT_OK;
    return refuse(solver, error, FORCES_GROW, first, next);
}

/* Level k, whose next two corrections do not matter; with accurate multipliers where possible. */
static int settle(taut_solver *solver, corrections *c, int k, int *level, taut_error *error)
{
    taut_slow_level *w = &solver->level;
    TAUT_TRY(judge_forces(solver, c, error));
    *level = k;
    w->norm = w->before = fmax(c->e[k + 1], c->e[k + 2]);
    w->lambda = fmax(c->lambda[k + 1], c->lambda[k + 2]);
    return TAUT_OK;
}

static int find_level(taut_solver *solver, int most, int *level, taut_error *error)
{
    const taut_state *now = &solver->stepper.now;
    corrections c = {.e = {0}};
    double h = 0, size = 0;
    int enough = -1; /* if not for multipliers, or not as fine as it could be */
    for (int j = 1; j <= most + 2; j++) {
        taut_slow_correction one;
        TAUT_TRY(taut_slow_field_correction(solver->level.field, j, j == 1, now->t, now->q, now->v,
                                            &one, error));
        if (j == 1) {
            h = likely_step(solver, one.rate);
            c.rigid = one.before;
        }
        c.known = j;
        c.e[j] = weigh(solver, h, &one);
        c.lambda[j] = one.lambda;
        size = fmax(size, one.size);
        c.forces[j] = forces_suffice(solver, one.lambda, size);
        if (j < 2)
            continue;
        bool small = fmax(c.e[j - 1], c.e[j]) <= ENOUGH,
             grows = !(c.e[j] <= c.e[j - 1]) && j > 2 && !(c.e[j] <= c.e[j - 2]);
        bool fine = solver->control.on || fmax(c.e[j - 1], c.e[j]) <= FINE * ENOUGH;
        if (small && fine && c.forces[j - 1] && c.forces[j])
            return settle(solver, &c, j - 2, level, error);
        if (small && (enough < 0 || c.lambda[j] < c.lambda[enough + 2]))
            enough = j - 2;
        if (grows && enough < 0)
            return refuse(solver, error, GROW, fmax(c.e[j - 1], c.e[j - 2]), c.e[j]);
        if (grows)
            break;
    }
    if (enough >= 0)
        return settle(solver, &c, enough, level, error);
    return refuse(solver, error, MANY, fmax(c.e[1], c.e[2]), fmax(c.e[most + 1], c.e[most + 2]));
}

/* Where Taut has the choice, it takes the cheaper method. */
static int compare_cost(taut_solver *solver, int level, taut_error *error)
{
    double own = taut_cost_slow_field(solver, level), other = taut_cost_slow_implicit(solver);
    /* over ranks costs of parts differ */
    if (taut_run_space(solver) || !solver->own_choice || solver->level.given || own <= other)
        return TAUT_OK;
    char format[120];
    snprintf(format, sizeof format,
             "needs level %d, at an estimated cost of %%.3g a step where radau5 needs %%.3g",
             level);
    return refuse(solver, error, format, own, other);
}

static int choose(taut_solver *solver, taut_error *error)
{
    enum { AHEAD = 2 }; /* that k may rise by */
    taut_slow_level *w = &solver->level;
    int most = most_level(solver), level = (int)taut_options_integer(solver->options, "level");
    if (w->given && level > most)
        return taut_fail_option(error, TAUT_ERROR_USAGE, "level",
                                "%d is too high for this system; at most %d", level, most);
    if (w->given)
        TAUT_TRY(judge_given(solver, level, error));
    else
        TAUT_TRY(find_level(solver, most, &level, error));
    TAUT_TRY(compare_cost(solver, level, error));
    w->field->level = level;
    w->room = w->given ? level : level + AHEAD < most ? level + AHEAD : most;
    w->since = 0;
    TAUT_APPEND(solver->begun, "; explicit slow field of level %d", level);
    return taut_slow_field_reserve(w->field, w->room + 1, error);
}

int taut_slow_level_choose(taut_solver *solver, taut_error *error)
{
    const taut_state *now = &solver->stepper.now;
    taut_slow_level *w = &solver->level;
    taut_error why = {.t = NAN};
    int status = TAUT_OK;
    if (!w->field)
        return TAUT_OK;
    if (solver->stepper.trial) /* where the run would begin, nearly */
        status = w->field->onto.apply(&w->field->onto, now->t, now->q, now->v, &why);
    if (status == 0)
        status = choose(solver, &why);
    return status == 0 ? TAUT_OK : decline(solver, status, &why, error);
}

/* ---- along the run */

/* The field does not apply any more: an implicit method goes on, where Taut has the choice. */
static int give_up(taut_solver *solver, taut_error *error)
{
    const taut_slow_level *w = &solver->level;
    char why[200];
    if (solver->own_choice && solver->stiff.watched) {
        snprintf(why, sizeof why,
                 "level %d of the slow field omits %.2g tolerances in a step, %.2g before",
                 w->field->level, w->norm, w->before);
        return taut_switch_for_good(solver, why, error);
    }
    int code =
        taut_fail(error, TAUT_ERROR_CONVERGE,
                  "the explicit slow field of level %d leaves an error of %.3g tolerances in "
                  "a step at t = %.9g (%.3g at the look before), and no higher level is "
                  "possible: slow and fast are not separated enough there; use method radau5%s",
                  w->field->level, w->norm, solver->stepper.now.t, w->before, elsewhere(solver));
    if (error)
        error->t = solver->stepper.now.t;
    return code;
}

int taut_slow_level_step(taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_slow_level *w = &solver->level;
    if (!w->field || !s->method->uses_field ||
        (w->since++ % BETWEEN != 0 && (w->given || w->norm < NEAR * TOO_MUCH)))
        return TAUT_OK;
    TAUT_TRY(look(solver, w->field->level, s->now.t - s->last.t, error));
    if (w->norm <= TOO_MUCH || w->given)
        return TAUT_OK;
    if (w->field->level >= w->room)
        return give_up(solver, error);
    w->field->level++;
    w->raised++;
    w->since = 0;
    s->method->changed(s);
    return TAUT_OK;
}

void taut_slow_level_archive(taut_solver *solver, taut_archive *a)
{
    taut_slow_level *w = &solver->level;
    if (!w->field)
        return;
    taut_archive_integer(a, &w->since, 0, INT_MAX - 1);
    taut_archive_integer(a, &w->raised, 0, MOST_LEVEL);
    taut_archive_real(a, &w->norm);
    taut_archive_real(a, &w->before);
    taut_archive_real(a, &w->largest);
    taut_archive_real(a, &w->lambda);
    taut_archive_real(a, &w->change);
    taut_archive_real(a, &w->size);
}

/* ---- in the result */

double taut_slow_level_defect(const taut_solver *solver)
{
    const taut_slow_level *w = &solver->level;
    return w->field ? fmax(w->norm, w->largest) / REMAINS : 0;
}

void taut_slow_level_result(const taut_solver *solver, taut_result *result)
{
    const taut_slow_level *w = &solver->level;
    result->level = w->field && solver->stepper.method->uses_field ? w->field->level : -1;
    result->truncation = w->field ? w->largest * solver->stepper.rtol : NAN;
    if (!w->field)
        return;
    result->error_share += w->largest;
    result->error_estimate += result->truncation;
    /* two runs of one level agree on what both omit */
    double all = result->truncation * (double)solver->statistics.steps;
    result->error_position += all;
    result->error_velocity += all;
    result->error += all;
    result->error_lambda += w->size > 0 ? w->change / w->size : 0;
}

int taut_slow_level_status(const taut_solver *solver, int status)
{
    const taut_slow_level *w = &solver->level;
    return status == TAUT_OK && w->field && solver->control.on && w->largest > FAR ? TAUT_INACCURATE
                                                                                   : status;
}
