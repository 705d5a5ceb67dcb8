/* paper_d.c - Gear, Kaper, Kevrekidis, Zagaris: sections 4.1 and 4.3. What errors are measured
 * against is computed here, by another way than what is measured. */
#include <math.h>
#include <string.h>

#include "reproduce/reproduce.h"

/* ---- D, section 4.1 */

/* The slow manifold as a function of x: along the flow from x = 12, where dy/dx forgets its
 * start long before x = 1. */
static int manifold(recipe_work *k, double eps, double *y)
{
    static const char model[] =
        "[parameters]\neps = 0.1\n[state]\ny\n[definitions]\nx = 12 - t\n[rates]\n"
        "y' = -(x - (x + 1)*y)/(eps*(-x + (x + 0.5)*y))\n[start]\ny = 12/13\n";
    recipe_case run;
    char set[40];
    snprintf(set, sizeof set, "eps=%g", eps);
    int status = recipe_run(k, &run, model, set, "method=dop8 rtol=1e-13 atol=1e-15 until=11");
    if (status == 0)
        status = taut_solver_advance(run.solver, 11, &k->error);
    if (status == 0)
        *y = taut_solver_position(run.solver)[0];
    recipe_close(&run);
    return status;
}

/* Iterations of the highest order of a projection. */
static double last_iterations(const recipe_case *run)
{
    taut_projection_stage stage = {.size = sizeof stage};
    for (int i = 0; taut_projection_stage_get(run->projection, i, &stage, NULL) == 0; i++) {
    }
    return (double)stage.iterations;
}

/* Figures 2 and 3, small H: one Euler step of eps/100. */
static int enzyme_small(recipe_work *k, const char *iterate, int order, double exact)
{
    static const char model[] =
        "[parameters]\neps = 0.1\n[state]\nx, y\n[rates]\nx' = -x + (x + 0.5)*y\ny' = (x - (x + "
        "1)*y)/eps\n"
        "[stepper]\nmethod = euler\nstep = eps/100\nhorizon = eps/100\n[observables]\nx\n[start]\n"
        "x = 1, y = 0\n";
    recipe_case run;
    char options[120];
    snprintf(options, sizeof options, "method=difference order=%d iterate=%s", order, iterate);
    int status = recipe_project(k, &run, model, "", options);
    if (status == 0) {
        double error = fabs(run.result.q[1] - exact);
        status = recipe_note(k, error, "H = 0.001, m = %d, %s, error", order, iterate);
        if (status == 0)
            status = recipe_note(k, last_iterations(&run), "H = 0.001, m = %d, %s, iterations",
                                 order, iterate);
        if (status == 0)
            status = recipe_point(k, order, log10(error));
    }
    recipe_close(&run);
    return status;
}

static int enzyme(recipe_work *k, const char *iterate, int order, double exact)
{
    recipe_case run;
    char options[120];
    snprintf(options, sizeof options, "method=difference order=%d iterate=%s", order, iterate);
    int status = recipe_project(k, &run, "michaelis_menten", "", options);
    if (status == 0) {
        double error = log10(fabs(run.result.q[1] - exact));
        status = recipe_note(k, error, "H = 0.04, m = %d, %s, log10 error", order, iterate);
        if (status == 0)
            status = recipe_note(k, last_iterations(&run), "H = 0.04, m = %d, %s, iterations",
                                 order, iterate);
        if (status == 0)
            status = recipe_point(k, order, error);
    }
    recipe_close(&run);
    return status;
}

/* Figure 2, plus signs: the asymptotic expansion (4.3). */
static int expansion(recipe_work *k, double exact)
{
    RECIPE_TRY(recipe_curve(k, "expansion (4.3)"));
    for (int m = 0; m < 3; m++) {
        recipe_case run;
        char options[60];
        double error = 0;
        snprintf(options, sizeof options, "method=outer order=%d", m);
        int status = recipe_project(k, &run, "michaelis_menten", "", options);
        if (status == 0) {
            error = fabs(run.result.q[1] - exact);
            status = recipe_note(k, error, "expansion (4.3), m = %d, error", m);
        }
        if (status == 0)
            status = recipe_point(k, m, log10(error));
        recipe_close(&run);
        RECIPE_TRY(status);
    }
    return 0;
}

/* (1.9) itself, by exact derivatives. */
static int derivative(recipe_work *k, int order)
{
    recipe_case run;
    char options[80];
    snprintf(options, sizeof options, "method=derivative order=%d", order);
    int status = recipe_project(k, &run, "michaelis_menten", "", options);
    if (status == 0)
        status = recipe_note(k, run.result.q[1], "exact derivative, m = %d", order);
    recipe_close(&run);
    return status;
}

/* Figure 4: eps = 0.01, one Euler step of eps/100. */
static int smaller(recipe_work *k, int order, double exact, double *before)
{
    recipe_case run;
    char options[80];
    snprintf(options, sizeof options, "method=difference order=%d horizon=1e-4", order);
    int status = recipe_project(k, &run, "michaelis_menten", "eps=0.01", options);
    if (status == 0) {
        double error = log10(fabs(run.result.q[1] - exact));
        *before = order == 0 ? error : *before;
        if (order == 2)
            status = recipe_note(k, *before - error, "eps = 0.01, orders gained from m = 0 to 2");
        if (status == 0)
            status = recipe_point(k, order, error);
    }
    recipe_close(&run);
    return status;
}

/* Figure 5: u = x + y observed; errors in x and y. */
static int mixed(recipe_work *k, int order, double exact)
{
    recipe_case run;
    char options[80];
    snprintf(options, sizeof options, "method=difference order=%d", order);
    int status = recipe_project(k, &run, "michaelis_menten_mixed", "", options);
    if (status == 0) {
        const double *z = run.result.q;
        double error = hypot((z[0] - z[1]) / 2 - 1, (z[0] + z[1]) / 2 - exact);
        status = recipe_note(k, error, "mixed variables, m = %d, error", order);
        if (status == 0)
            status = recipe_point(k, order, log10(error));
    }
    recipe_close(&run);
    return status;
}

int recipe_d_michaelis_menten(recipe_work *k)
{
    double exact, small;
    k->labels[0] = "Michaelis-Menten (figures 2, 4 and 5)";
    k->labels[1] = "m";
    k->labels[2] = "log10 error";
    RECIPE_TRY(manifold(k, 0.1, &exact));
    RECIPE_TRY(manifold(k, 0.01, &small));
    RECIPE_TRY(recipe_note(k, exact, "slow manifold, eps = 0.1"));
    RECIPE_TRY(recipe_note(k, small, "slow manifold, eps = 0.01"));
    for (int fast = 0; fast < 2; fast++) {
        const char *iterate = fast ? "anderson" : "plain";
        RECIPE_TRY(recipe_curve(k, "H = 0.04, %s iteration", iterate));
        for (int order = 0; order <= 4; order++)
            RECIPE_TRY(enzyme(k, iterate, order, exact));
    }
    RECIPE_TRY(recipe_curve(k, "H = 0.001, anderson iteration"));
    for (int order = 0; order <= 2; order++)
        RECIPE_TRY(enzyme_small(k, "anderson", order, exact));
    RECIPE_TRY(recipe_curve(k, "H = 0.001, plain iteration"));
    for (int order = 0; order <= 1; order++)
        RECIPE_TRY(enzyme_small(k, "plain", order, exact));
    RECIPE_TRY(expansion(k, exact));
    for (int order = 0; order <= 4; order++)
        RECIPE_TRY(derivative(k, order));
    double before = 0;
    RECIPE_TRY(recipe_curve(k, "eps = 0.01, H = 1e-4"));
    for (int order = 0; order <= 2; order++)
        RECIPE_TRY(smaller(k, order, small, &before));
    RECIPE_TRY(recipe_curve(k, "mixed variables"));
    for (int order = 0; order <= 2; order++)
        RECIPE_TRY(mixed(k, order, exact));
    return 0;
}

/* ---- D, section 4.3: y = Q v, Q = 2/5 - I; y1 and y2 observed */

/* On the slow manifold v = (x1, x2, x1^2 + x2^2, -beta1, -beta2). From y1 - y2 = x2 - x1 one
 * equation in x1 is left: Newton. */
static void five_manifold(double v[5])
{
    const double y1 = -791.2, y2 = -792.2, beta1 = 800, beta2 = 1200;
    double x = -3.5, shift = y1 - y2;
    for (int pass = 0; pass < 20; pass++) {
        double other = x + shift, sum = x + other + x * x + other * other - beta1 - beta2;
        double residual = 0.4 * sum - x - y1, slope = 0.4 * (2 + 2 * x + 2 * other) - 1;
        x -= residual / slope;
    }
    v[0] = x;
    v[1] = x + shift;
    v[2] = v[0] * v[0] + v[1] * v[1];
    v[3] = -beta1;
    v[4] = -beta2;
}

/* All five values to one decimal, as the paper gives y1 and y2. At the largest h it is done when
 * every |delta| < 1e-10 (max |y| is 814); at smaller ones, whose differences are smaller, when
 * the flow gives no more. */
static int five(recipe_work *k, const char *h, const char *iterate, int order, const double v[5])
{
    recipe_case run;
    char set[80], options[120];
    double mean = 0, sum = 0;
    for (int i = 0; i < 5; i++)
        mean += 0.4 * v[i];
    snprintf(set, sizeof set, "h=%s start:y[4]=5.2 start:y[5]=405.2", h);
    snprintf(options, sizeof options, "method=difference order=%d iterate=%s", order, iterate);
    if (strcmp(h, "4e-4") == 0)
        snprintf(options + strlen(options), sizeof options - strlen(options), " tolerance=%.17g",
                 1e-10 / 814);
    int status = recipe_project(k, &run, "five_dimensions", set, options);
    for (int i = 0; i < 5 && status == 0; i++)
        sum += (run.result.q[i] - mean + v[i]) * (run.result.q[i] - mean + v[i]);
    if (status == 0)
        status = recipe_note(k, sqrt(sum), "h = %s, m = %d, %s, residual", h, order, iterate);
    if (status == 0)
        status = recipe_note(k, last_iterations(&run), "h = %s, m = %d, %s, iterations", h, order,
                             iterate);
    if (status == 0)
        status = recipe_point(k, order, log10(sqrt(sum)));
    recipe_close(&run);
    return status;
}

int recipe_d_five_dimensions(recipe_work *k)
{
    static const char *const steps[] = {"4e-4", "2e-4", "1e-4"};
    double v[5];
    k->labels[0] = "Five dimensions: residual (figure 6)";
    k->labels[1] = "m";
    k->labels[2] = "log10 residual";
    five_manifold(v);
    RECIPE_TRY(recipe_note(k, v[0], "slow manifold, x1"));
    RECIPE_TRY(recipe_note(k, v[1], "slow manifold, x2"));
    for (int h = 0; h < 3; h++) {
        RECIPE_TRY(recipe_curve(k, "h = %s", steps[h]));
        for (int order = 0; order <= 2; order++)
            RECIPE_TRY(five(k, steps[h], "anderson", order, v));
    }
    RECIPE_TRY(recipe_curve(k, "h = 4e-4, plain"));
    for (int order = 0; order <= 2; order++)
        RECIPE_TRY(five(k, steps[0], "plain", order, v));
    return 0;
}
