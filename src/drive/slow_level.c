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
 * and multipliers within 20 tolerances. Where corrections exceed both before them, slow and fast are
 * not separated: the field is refused, and so it is where 4 levels are not enough. Along the run
 * every fourth step looks at e_k with its own h; k rises when it is too large. */
#include "drive/solver.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "base/reasons.h"
#include "base/text.h"
#include "base/vectors.h"
#include "slow/slow_field.h"

enum { MOST_LEVEL = 4, BETWEEN = 4, LARGE = 2000, LARGE_LEVEL = 2 };
static const double REMAINS = 0.1; /* of the truncation, after the projection */
static const double ENOUGH = 0.1;  /* norm of the truncation in a step */
static const double TOO_MUCH = 0.5; /* the same, at which k rises in the run */
static const double FAR = 100;      /* the same, that is no success any more */
static const double FORCES = 20;   /* tolerances of multipliers */

int taut_slow_level_supports(const taut_solver *solver, taut_error *error)
{
    const unsigned needs = TAUT_CAN_JETS | TAUT_CAN_DERIVATIVES,
                   refuses = TAUT_HAS_STIFF_POTENTIAL | TAUT_HAS_KINKS | TAUT_HAS_INVARIANTS;
    unsigned can = solver->sizes.can, bits = (needs & ~can) | (refuses & can);
    char text[400];
    if (!bits)
        return TAUT_OK;
    return taut_fail(error, TAUT_ERROR_REFUSED,
                     "the explicit slow field %s; method radau5 supports motion slow of this system",
                     taut_reasons_text(bits, text, sizeof text));
}

int taut_slow_level_create(taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_slow_level *w = &solver->level;
    const char *kind = taut_options_text(solver->options, "stabilize");
    bool none = strcmp(kind, "none") == 0,
         known = !kind[0] || none || strcmp(kind, "post") == 0 || strcmp(kind, "project") == 0;
    TAUT_TRY(taut_slow_level_supports(solver, error));
    if (!known)
        return taut_fail_option(error, TAUT_ERROR_REFUSED, "stabilize",
                                "%s is for rigid motion; explicit methods in motion slow are "
                                "stabilised by post or project, which are the same here, or none",
                                kind);
    TAUT_TRY(taut_slow_field_create(s->context, s->arena, s->statistics, &w->field, error));
    s->field = &w->field->field;
    if (!none)
        solver->stabilizer = &w->field->onto;
    return TAUT_OK;
}

/* ---- how large a correction is */

/* 1.5 h^2 (a - b), rms, in tolerances of q. */
static double weigh(const taut_solver *solver, double h, const taut_slow_correction *c)
{
    const taut_stepper *s = &solver->stepper;
    double sum = 0;
    for (taut_index i = 0; i < s->n; i++) {
        double scale = s->atol + s->rtol * fabs(s->now.q[i]),
               e = 1.5 * h * h * (c->a[i] - c->a_before[i]) / (scale > 0 ? scale : 1);
        sum += e * e;
    }
    return REMAINS * sqrt(sum / (s->n > 0 ? s->n : 1));
}

static bool forces_suffice(const taut_solver *solver, double change, double size)
{
    return change <= fmax(FORCES * solver->stepper.rtol, 64 * DBL_EPSILON) * size;
}

/* ---- at the beginning */

static int refuse(taut_solver *solver, taut_error *error, const char *format, double before,
                  double now)
{
    taut_slow_level *w = &solver->level;
    w->refused = true;
    snprintf(w->reason, sizeof w->reason, format, before, now);
    return taut_fail(error, TAUT_ERROR_REFUSED, "the explicit slow field does not apply: %s; "
                     "method radau5 needs no such expansion", w->reason);
}

static const char GROW[] =
    "slow and fast are not separated, the corrections of its levels grow from %.3g to %.3g "
    "(in tolerances of a step)";
static const char MANY[] = "the corrections of its levels decrease from %.3g to %.3g only, in "
                           "tolerances of a step, with the levels that are possible";

/* The step that a method of high order is likely to take: 1/rate, or the given one. */
static double likely_step(const taut_solver *solver, double rate)
{
    double length = fabs(solver->until - solver->from);
    if (!solver->control.on && solver->step > 0)
        return solver->step;
    double h = fmin(rate > 0 ? 1 / rate : INFINITY, fmin(length, solver->control.most));
    return isfinite(h) ? h : 1;
}

static int most_level(const taut_solver *solver)
{
    const taut_stepper *s = &solver->stepper;
    int wanted = s->n + s->m <= LARGE ? MOST_LEVEL : LARGE_LEVEL, most = solver->level.field->most;
    return wanted < most - 2 ? wanted : most - 2;
}

/* What level k omits of a step h at the present state. */
static int look(taut_solver *solver, int k, double h, taut_error *error)
{
    const taut_state *now = &solver->stepper.now;
    taut_slow_level *w = &solver->level;
    taut_slow_correction c;
    TAUT_TRY(taut_unevaluated(
        taut_slow_field_correction(w->field, k + 1, now->t, now->q, now->v, &c, error), now->t,
        error));
    w->before = w->norm;
    w->norm = weigh(solver, h, &c);
    w->largest = fmax(w->largest, w->norm);
    w->lambda = c.lambda;
    return TAUT_OK;
}

static int judge_given(taut_solver *solver, int k, taut_error *error)
{
    const taut_state *now = &solver->stepper.now;
    taut_slow_correction c;
    TAUT_TRY(
        taut_slow_field_correction(solver->level.field, 1, now->t, now->q, now->v, &c, error));
    return look(solver, k, likely_step(solver, c.rate), error);
}

/* The first level whose next two corrections do not matter. */
static int find_level(taut_solver *solver, int most, int *level, taut_error *error)
{
    const taut_state *now = &solver->stepper.now;
    taut_slow_level *w = &solver->level;
    double e[MOST_LEVEL + 4] = {0}, h = 0;
    bool fits[MOST_LEVEL + 4] = {false};
    for (int j = 1; j <= most + 2; j++) {
        taut_slow_correction c;
        TAUT_TRY(taut_slow_field_correction(w->field, j, now->t, now->q, now->v, &c, error));
        if (j == 1)
            h = likely_step(solver, c.rate);
        e[j] = weigh(solver, h, &c);
        fits[j] = e[j] <= ENOUGH && forces_suffice(solver, c.lambda, c.size);
        if (j == 1 || !fits[j - 1])
            w->lambda = c.lambda;
        if (j >= 2 && fits[j - 1] && fits[j]) {
            *level = j - 2;
            w->norm = w->before = w->largest = fmax(e[j - 1], e[j]);
            return TAUT_OK;
        }
        if (j >= 3 && !(e[j] <= fmax(e[j - 1], e[j - 2])))
            return refuse(solver, error, GROW, fmax(e[j - 1], e[j - 2]), e[j]);
    }
    return refuse(solver, error, MANY, fmax(e[1], e[2]), fmax(e[most + 1], e[most + 2]));
}

int taut_slow_level_choose(taut_solver *solver, taut_error *error)
{
    enum { AHEAD = 2 }; /* that k may rise by */
    taut_slow_level *w = &solver->level;
    if (!w->field)
        return TAUT_OK;
    int most = most_level(solver), level = (int)taut_options_integer(solver->options, "level");
    w->given = taut_options_given(solver->options, "level");
    if (w->given && level > most)
        return taut_fail_option(error, TAUT_ERROR_USAGE, "level",
                                "%d is too high for this system; at most %d", level, most);
    if (w->given)
        TAUT_TRY(judge_given(solver, level, error));
    else
        TAUT_TRY(find_level(solver, most, &level, error));
    w->field->level = level;
    w->room = w->given ? level : level + AHEAD < most ? level + AHEAD : most;
    w->since = 0;
    TAUT_APPEND(solver->begun, "; explicit slow field of level %d", level);
    return taut_slow_field_reserve(w->field, w->room + 1, error);
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
    int code = taut_fail(error, TAUT_ERROR_CONVERGE,
                         "the explicit slow field of level %d leaves an error of %.3g tolerances in "
                         "a step at t = %.9g (%.3g at the look before), and higher levels do not "
                         "help: slow and fast are not separated there; use method radau5",
                         w->field->level, w->norm, solver->stepper.now.t, w->before);
    if (error)
        error->t = solver->stepper.now.t;
    return code;
}

int taut_slow_level_step(taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_slow_level *w = &solver->level;
    if (!w->field || !s->method->uses_field || (w->since++ % BETWEEN != 0))
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

/* ---- in the result */

double taut_slow_level_defect(const taut_solver *solver)
{
    return solver->level.field ? solver->level.norm / REMAINS : 0;
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
}

int taut_slow_level_status(const taut_solver *solver, int status)
{
    const taut_slow_level *w = &solver->level;
    return status == TAUT_OK && w->field && solver->control.on && w->largest > FAR ? TAUT_INACCURATE
                                                                                  : status;
}
