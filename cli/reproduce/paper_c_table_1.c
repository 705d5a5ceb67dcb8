/* paper_c_table_1.c - Ascher, Qin, Reich, example 1: backward Euler (radau1) on the reduced
 * equations with a stabilising term, x' = f~ - gamma F g, at t = 1. */
#include <math.h>

#include "reproduce/reproduce.h"

static const struct {
    const char *name, *form;
} terms[] = {{"Baumgarte (1.6)", "stabilize=baumgarte stabilize-direction=control"},
             {"(1.7)", "stabilize=continuous stabilize-direction=transpose"},
             {"(1.8)", "stabilize=continuous stabilize-direction=gradient"}};

/* The error, and the drift |g|. */
static int measure(recipe_work *k, const recipe_case *run, double *out)
{
    taut_context *context = NULL;
    double g = NAN, rate;
    const double *x = taut_solver_position(run->solver), *y = taut_solver_velocity(run->solver);
    taut_values values = {.size = sizeof values, .bond = &g, .bond_dt = &rate};
    RECIPE_TRY(taut_context_create(run->system, NULL, &context, &k->error));
    int status = taut_evaluate_outputs(context, 1, x, y, NULL, out, &k->error);
    if (status == 0)
        status = taut_evaluate(context, 1, x, y, TAUT_WANT_BOND, &values, &k->error);
    out[1] = fabs(g);
    taut_context_destroy(context);
    return status;
}

/* Error and drift at t = 1 after steps of 0.01. An unstable run would be ended by the guard against
 * growth, which measures from where a run begins: each step is one. gamma = 0 is a rate that is
 * too small for any digit. */
static int euler(recipe_work *k, int term, double gamma, double *out)
{
    enum { STEPS = 100 };
    char options[200];
    recipe_case run;
    snprintf(options, sizeof options, "method=radau1 step=0.01 until=1 stabilize-rate=%.17g %s",
             fmax(gamma, 1e-300), terms[term].form);
    int status = recipe_run(k, &run, "index2", "", options);
    for (int n = 1; n <= STEPS && status == 0; n++) {
        double x[2], y;
        status = taut_solver_advance(run.solver, n / (double)STEPS, &k->error);
        for (int i = 0; i < 2 && status == 0; i++)
            x[i] = taut_solver_position(run.solver)[i];
        y = status == 0 ? taut_solver_velocity(run.solver)[0] : 0;
        if (status == 0 && n < STEPS)
            status = taut_solver_restart(run.solver, n / (double)STEPS, x, &y, &k->error);
    }
    if (status == 0)
        status = measure(k, &run, out);
    recipe_close(&run);
    return status;
}

/* What the library's own methods make of the same steps of 0.01: index 2, without gamma. */
static int best(recipe_work *k, const char *options, double *error)
{
    recipe_case run;
    double out[RECIPE_COORDINATES] = {0};
    int status = recipe_run(k, &run, "index2", "", options);
    if (status == 0)
        status = taut_solver_advance(run.solver, 1, &k->error);
    if (status == 0)
        status = measure(k, &run, out);
    *error = out[0];
    recipe_close(&run);
    return status;
}

int recipe_c_table_1_1(recipe_work *k)
{
    static const double table[] = {0, 1, 10, 100, 1000, 1e8};
    double out[RECIPE_COORDINATES], error;
    k->labels[0] = "Figure 1.1: error at t = 1 of example 1, backward Euler, h = 0.01";
    k->labels[1] = "gamma";
    k->labels[2] = "error";
    k->logarithmic = true;
    for (int term = 0; term < 3; term++)
        for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
            RECIPE_TRY(euler(k, term, table[i], out));
            RECIPE_TRY(recipe_note(k, out[0], "gamma = %g, Error%d", table[i], term));
            RECIPE_TRY(recipe_note(k, out[1], "gamma = %g, Drift%d", table[i], term));
        }
    for (int term = 0; term < 3; term++) {
        RECIPE_TRY(recipe_curve(k, "%s", terms[term].name));
        out[0] = 0; /* the dashed line leaves the picture above 1 */
        for (double gamma = 0.1; gamma < 2000 && out[0] < 1; gamma *= 1.3) {
            RECIPE_TRY(euler(k, term, gamma, out));
            RECIPE_TRY(recipe_point(k, gamma, out[0]));
        }
    }
    RECIPE_TRY(best(k, "method=radau5 step=0.01 until=1", &error));
    RECIPE_TRY(recipe_curve(k, "radau5, index 2, h = 0.01"));
    RECIPE_TRY(recipe_point(k, 0.1, error));
    RECIPE_TRY(recipe_point(k, 2000, error));
    return recipe_note(k, error, "radau5 on the index-2 form, error");
}
