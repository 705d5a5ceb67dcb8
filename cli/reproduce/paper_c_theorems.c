/* paper_c_theorems.c - Ascher, Qin, Reich, theorems 3.1 to 3.3, observed: Kepler's problem with its
 * energy stabilised, six methods, fixed step size; errors at t = 2 against dop8 with a tight
 * tolerance, drift the largest up to there. */
#include <math.h>

#include "reproduce/reproduce.h"

typedef struct seen {
    double error, drift;
} seen;

static int orbit(recipe_work *k, const char *options, const double *exact, double *state, seen *s)
{
    recipe_case run;
    taut_result result = {.size = sizeof result};
    int status = recipe_run(k, &run, "kepler", "", options);
    if (status == 0)
        status = taut_solver_advance(run.solver, 2, &k->error);
    if (status == 0)
        status = taut_solver_result_get(run.solver, &result, &k->error);
    *s = (seen){.drift = result.drift_position};
    for (int i = 0; i < 4 && status == 0; i++) {
        state[i] = taut_solver_position(run.solver)[i];
        s->error = fmax(s->error, exact ? fabs(state[i] - exact[i]) : 0);
    }
    recipe_close(&run);
    return status;
}

int recipe_c_theorems(recipe_work *k)
{
    enum { HALVINGS = 3 };
    static const struct {
        const char *name;
        int steps;
    } methods[] = {{"euler", 1000}, {"ab2", 250},   {"midpoint", 250},
                   {"rk4", 50},     {"dopri5", 60}, {"dop8", 6}};
    static const char *const forms[] = {"forward", "backward", "post"};
    static const double alphas[] = {1, 10, 100, 1000};
    double exact[4], state[4], before = NAN;
    char options[200];
    seen s[HALVINGS];
    k->labels[0] = "Kepler's problem, t = 2: errors and drift with (3.4), alpha = 1";
    k->labels[1] = "step size";
    k->labels[2] = "error, drift";
    k->logarithmic = true;
    RECIPE_TRY(orbit(k, "method=dop8 rtol=1e-13 atol=1e-15 until=2", NULL, exact, s));
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++)
        for (int f = 0; f < 3; f++) {
            const char *name = methods[m].name;
            for (int j = 0; j < HALVINGS; j++) {
                snprintf(options, sizeof options,
                         "method=%s step=%.17g until=2 stabilize=%s stabilize-passes=1", name,
                         2.0 / (methods[m].steps << j), forms[f]);
                RECIPE_TRY(orbit(k, options, exact, state, &s[j]));
            }
            RECIPE_TRY(
                recipe_note(k, log2(s[1].error / s[2].error), "%s, %s, order", name, forms[f]));
            if (f < 2)
                RECIPE_TRY(recipe_note(k, log2(s[1].drift / s[2].drift), "%s, %s, drift order",
                                       name, forms[f]));
            else
                RECIPE_TRY(
                    recipe_note(k, s[2].drift / s[2].error, "%s, post, drift over error", name));
            for (int kind = 0; kind < 2 && f == 0; kind++) {
                RECIPE_TRY(recipe_curve(k, "%s, %s", name, kind == 0 ? "error" : "drift"));
                for (int j = 0; j < HALVINGS; j++)
                    RECIPE_TRY(recipe_point(k, 2.0 / (methods[m].steps << j),
                                            kind == 0 ? s[j].error : s[j].drift));
            }
        }
    for (size_t i = 0; i < sizeof alphas / sizeof alphas[0]; i++) {
        snprintf(options, sizeof options,
                 "method=midpoint step=0.01 until=2 stabilize=backward stabilize-alpha=%.17g",
                 alphas[i]);
        RECIPE_TRY(orbit(k, options, exact, state, s));
        if (i > 0)
            RECIPE_TRY(recipe_note(k, before / s[0].drift, "(3.7), drift at alpha = %g over %g",
                                   alphas[i - 1], alphas[i]));
        before = s[0].drift;
    }
    return 0;
}
