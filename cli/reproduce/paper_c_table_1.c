/* paper_c_table_1.c - Ascher, Qin, Reich, example 1: backward Euler (radau1) on the reduced
 * equations with a stabilising term, x' = f~ - gamma F g, at t = 1. The term is part of the model's
 * text, so that an implicit method discretises it too. */
#include <math.h>

#include "reproduce/reproduce.h"

/* q - B y is f~, y from G x' + G' x + r' = 0; %s: F g */
static const char model[] =
    "[parameters]\nnu = 1000\ngamma = 0\n[state]\nx1, x2\n[definitions]\n"
    "B1 = (2 - t)*nu\nB2 = nu - 1\nG1 = t + 2\nG2 = t^2 - 4\n"
    "q1 = (1 + nu)*exp(t)\nq2 = (1 + (nu - 1)/(2 - t))*exp(t)\n"
    "c = G1*x1 + G2*x2 - (t^2 + t - 2)*exp(t)\n"
    "d = G1*q1 + G2*q2 + x1 + 2*t*x2 - (t^2 + 3*t - 1)*exp(t)\n"
    "y = d/(G1*B1 + G2*B2)\nF1 = %s1/(%s)\nF2 = %s2/(%s)\n"
    "[rates]\nx1' = q1 - B1*y - gamma*F1*c\nx2' = q2 - B2*y - gamma*F2*c\n"
    "[start]\nx1 = 1, x2 = 1\n[outputs]\nerror = max(abs(x1 - exp(t)), abs(x2 - exp(t)))\n"
    "drift = abs(c)\n";

static const struct {
    const char *name, *d, *over; /* F = D/over */
} terms[] = {
    {"Baumgarte (1.6)", "B", "G1*B1 + G2*B2"}, {"(1.7)", "G", "G1^2 + G2^2"}, {"(1.8)", "G", "1"}};

/* Error and drift at t = 1 after steps of 0.01. An unstable run would be ended by the guard against
 * growth, which measures from where a run begins: each step is one. */
static int euler(recipe_work *k, int term, double gamma, double *out)
{
    enum { STEPS = 100 };
    char text[1200], set[60];
    recipe_case run;
    taut_context *context = NULL;
    snprintf(text, sizeof text, model, terms[term].d, terms[term].over, terms[term].d,
             terms[term].over);
    snprintf(set, sizeof set, "gamma=%.17g", gamma);
    int status = recipe_run(k, &run, text, set, "method=radau1 newton=stage step=0.01 until=1");
    for (int n = 1; n <= STEPS && status == 0; n++) {
        double x[2];
        status = taut_solver_advance(run.solver, n / (double)STEPS, &k->error);
        for (int i = 0; i < 2 && status == 0; i++)
            x[i] = taut_solver_position(run.solver)[i];
        if (status == 0 && n < STEPS)
            status = taut_solver_restart(run.solver, n / (double)STEPS, x, NULL, &k->error);
    }
    if (status == 0)
        status = taut_context_create(run.system, NULL, &context, &k->error);
    if (status == 0)
        status = taut_evaluate_outputs(context, 1, taut_solver_position(run.solver), NULL, NULL,
                                       out, &k->error);
    taut_context_destroy(context);
    recipe_close(&run);
    return status;
}

/* What the library's own methods make of the same steps of 0.01: index 2, without gamma. */
static int best(recipe_work *k, const char *options, double *error)
{
    recipe_case run;
    taut_context *context = NULL;
    double out[RECIPE_COORDINATES] = {0};
    int status = recipe_run(k, &run, "index2", "", options);
    if (status == 0)
        status = taut_solver_advance(run.solver, 1, &k->error);
    if (status == 0)
        status = taut_context_create(run.system, NULL, &context, &k->error);
    if (status == 0)
        status = taut_evaluate_outputs(context, 1, taut_solver_position(run.solver),
                                       taut_solver_velocity(run.solver), NULL, out, &k->error);
    *error = out[0];
    taut_context_destroy(context);
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
