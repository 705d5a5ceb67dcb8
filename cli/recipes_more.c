/* recipes_more.c - recipes of figures: C example 4, D sections 4.1 and 4.3. Recipes know no printed number: what errors are
 * measured against is computed here, by another way than what is measured. */
#include <math.h>
#include <string.h>

#include "reproduce.h"

/* ---- C, example 4: drift and error of the slider, Adams-Bashforth with h = .1 */

enum { CRANK_ROWS = 101 };

typedef struct crank {
    double slider[CRANK_ROWS], position, velocity; /* largest drifts */
    int rows;
} crank;

static int crank_row(void *user, const taut_row *row, taut_error *error)
{
    crank *c = user;
    (void)error;
    if (c->rows < CRANK_ROWS)
        c->slider[c->rows++] = row->outputs[0];
    c->position = fmax(c->position, row->drift_position);
    c->velocity = fmax(c->velocity, row->drift_velocity);
    return 0;
}

static int slider_crank(cook *k, const char *options, crank *c)
{
    cook_pot pot;
    *c = (crank){.rows = 0};
    taut_sink sink = {.row = crank_row, .user = c};
    int status = cook_run(k, &pot, "slider_crank", "", options);
    if (status == 0)
        status = taut_solver_run(pot.solver, &sink, 1, NULL, NULL, &k->error);
    if (status == 0 && c->rows != CRANK_ROWS)
        status = cook_fail(k, "the slider crank gave %d rows instead of %d", c->rows, CRANK_ROWS);
    cook_close(&pot);
    return status;
}

/* Accurate state and multipliers (of the paper: outputs 1 to 3) at t = 1. */
static int crank_at_1(cook *k)
{
    static const char *const names[4] = {"theta", "x2", "y2", "psi"};
    cook_pot pot;
    taut_context *context = NULL;
    double outputs[COOK_COORDINATES] = {0};
    int status = cook_run(k, &pot, "slider_crank", "", "motion=rigid method=dop8 rtol=1e-13 atol=1e-15");
    if (status == 0)
        status = taut_solver_advance(pot.solver, 1, &k->error);
    if (status == 0)
        status = taut_context_create(pot.system, NULL, &context, &k->error);
    if (status == 0)
        status = taut_evaluate_outputs(context, 1, taut_solver_position(pot.solver), taut_solver_velocity(pot.solver),
                                       taut_solver_multipliers(pot.solver), outputs, &k->error);
    for (int i = 0; i < 4 && status == 0; i++)
        status = cook_note(k, taut_solver_position(pot.solver)[i], "t = 1, %s", names[i]);
    if (status == 0)
        status = cook_note(k, taut_solver_velocity(pot.solver)[0], "t = 1, theta'");
    for (int i = 1; i <= 3 && status == 0; i++)
        status = cook_note(k, outputs[i], "t = 1, lambda%d", i);
    taut_context_destroy(context);
    cook_close(&pot);
    return status;
}

int cook_c_slider_crank(cook *k)
{
    static const struct {
        const char *option, *name;
    } rows[] = {{"none", "no stabilisation"},
                {"post-simple", "both stabilised"},
                {"post-velocity", "velocities stabilised"},
                {"post-position", "positions stabilised"}};
    crank exact, now;
    k->labels[0] = "Slider crank, Adams-Bashforth 2, h = 0.1: error of the slider";
    k->labels[1] = "t";
    k->labels[2] = "error";
    COOK_TRY(crank_at_1(k));
    COOK_TRY(slider_crank(k, "motion=rigid method=dop8 rtol=1e-12 atol=1e-14 every=0.1 until=10", &exact));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char options[160];
        snprintf(options, sizeof options, "motion=rigid method=ab2 step=0.1 every=0.1 until=10 stabilize=%s stabilize-passes=1",
                 rows[i].option);
        COOK_TRY(slider_crank(k, options, &now));
        COOK_TRY(cook_note(k, now.position, "%s, drift of positions", rows[i].name));
        COOK_TRY(cook_note(k, now.velocity, "%s, drift of velocities", rows[i].name));
        COOK_TRY(cook_curve(k, "%s", rows[i].name));
        for (int r = 0; r < CRANK_ROWS; r++)
            COOK_TRY(cook_point(k, 0.1 * r, now.slider[r] - exact.slider[r]));
    }
    return 0;
}

/* ---- D, section 4.1 */

/* The slow manifold as a function of x: along the flow from x = 12, where dy/dx forgets its start long before x = 1. */
static int manifold(cook *k, double eps, double *y)
{
    static const char model[] = "[parameters]\neps = 0.1\n[state]\ny\n[definitions]\nx = 12 - t\n[rates]\n"
                                "y' = -(x - (x + 1)*y)/(eps*(-x + (x + 0.5)*y))\n[start]\ny = 12/13\n";
    cook_pot pot;
    char set[40];
    snprintf(set, sizeof set, "eps=%g", eps);
    int status = cook_run(k, &pot, model, set, "method=dop8 rtol=1e-13 atol=1e-15 until=11");
    if (status == 0)
        status = taut_solver_advance(pot.solver, 11, &k->error);
    if (status == 0)
        *y = taut_solver_position(pot.solver)[0];
    cook_close(&pot);
    return status;
}

/* Iterations of the highest order of a projection. */
static double last_iterations(const cook_pot *pot)
{
    taut_projection_stage stage = {0};
    for (int i = 0; taut_projection_stage_get(pot->projection, i, &stage); i++) {
    }
    return (double)stage.iterations;
}

/* Figures 2 and 3, small H: one Euler step of eps/100. */
static int enzyme_small(cook *k, const char *iterate, int order, double exact)
{
    static const char model[] = "[parameters]\neps = 0.1\n[state]\nx, y\n[rates]\nx' = -x + (x + 0.5)*y\ny' = (x - (x + 1)*y)/eps\n"
                                "[stepper]\nmethod = euler\nstep = eps/100\nhorizon = eps/100\n[observables]\nx\n[start]\n"
                                "x = 1, y = 0\n";
    cook_pot pot;
    char options[120];
    snprintf(options, sizeof options, "method=difference order=%d iterate=%s", order, iterate);
    int status = cook_project(k, &pot, model, "", options);
    if (status == 0) {
        double error = fabs(pot.result.q[1] - exact);
        status = cook_note(k, error, "H = 0.001, m = %d, %s, error", order, iterate);
        if (status == 0)
            status = cook_note(k, last_iterations(&pot), "H = 0.001, m = %d, %s, iterations", order, iterate);
        if (status == 0)
            status = cook_point(k, order, log10(error));
    }
    cook_close(&pot);
    return status;
}

static int enzyme(cook *k, const char *iterate, int order, double exact)
{
    cook_pot pot;
    char options[120];
    snprintf(options, sizeof options, "method=difference order=%d iterate=%s", order, iterate);
    int status = cook_project(k, &pot, "michaelis_menten", "", options);
    if (status == 0) {
        double error = log10(fabs(pot.result.q[1] - exact));
        status = cook_note(k, error, "H = 0.04, m = %d, %s, log10 error", order, iterate);
        if (status == 0)
            status = cook_note(k, last_iterations(&pot), "H = 0.04, m = %d, %s, iterations", order, iterate);
        if (status == 0)
            status = cook_point(k, order, error);
    }
    cook_close(&pot);
    return status;
}

/* Figure 5: u = x + y observed; errors in x and y. */
static int mixed(cook *k, int order, double exact)
{
    cook_pot pot;
    char options[80];
    snprintf(options, sizeof options, "method=difference order=%d", order);
    int status = cook_project(k, &pot, "michaelis_menten_mixed", "", options);
    if (status == 0) {
        const double *z = pot.result.q;
        double error = hypot((z[0] - z[1]) / 2 - 1, (z[0] + z[1]) / 2 - exact);
        status = cook_note(k, error, "mixed variables, m = %d, error", order);
        if (status == 0)
            status = cook_point(k, order, log10(error));
    }
    cook_close(&pot);
    return status;
}

int cook_d_michaelis_menten(cook *k)
{
    double exact, small;
    k->labels[0] = "Michaelis-Menten, eps = 0.1 (figures 2 and 5)";
    k->labels[1] = "m";
    k->labels[2] = "log10 error";
    COOK_TRY(manifold(k, 0.1, &exact));
    COOK_TRY(manifold(k, 0.01, &small));
    COOK_TRY(cook_note(k, exact, "slow manifold, eps = 0.1"));
    COOK_TRY(cook_note(k, small, "slow manifold, eps = 0.01"));
    for (int fast = 0; fast < 2; fast++) {
        const char *iterate = fast ? "anderson" : "plain";
        COOK_TRY(cook_curve(k, "H = 0.04, %s iteration", iterate));
        for (int order = 0; order <= 4; order++)
            COOK_TRY(enzyme(k, iterate, order, exact));
    }
    COOK_TRY(cook_curve(k, "H = 0.001, anderson iteration"));
    for (int order = 0; order <= 2; order++)
        COOK_TRY(enzyme_small(k, "anderson", order, exact));
    COOK_TRY(cook_curve(k, "H = 0.001, plain iteration"));
    for (int order = 0; order <= 1; order++)
        COOK_TRY(enzyme_small(k, "plain", order, exact));
    COOK_TRY(cook_curve(k, "mixed variables"));
    for (int order = 0; order <= 2; order++)
        COOK_TRY(mixed(k, order, exact));
    return 0;
}

/* ---- D, section 4.3: y = Q v, Q = 2/5 - I; y1 and y2 observed */

/* On the slow manifold v = (x1, x2, x1^2 + x2^2, -beta1, -beta2). From y1 - y2 = x2 - x1 one equation in x1 is left: Newton. */
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

/* All five values to one decimal, as the paper gives y1 and y2. At the largest h it is done when every |delta| < 1e-10 (max |y| is 814);
 * at smaller ones, whose differences are smaller, when the flow gives no more. */
static int five(cook *k, const char *h, const char *iterate, int order, const double v[5])
{
    cook_pot pot;
    char set[80], options[120];
    double mean = 0, sum = 0;
    for (int i = 0; i < 5; i++)
        mean += 0.4 * v[i];
    snprintf(set, sizeof set, "h=%s start:y[4]=5.2 start:y[5]=405.2", h);
    snprintf(options, sizeof options, "method=difference order=%d iterate=%s", order, iterate);
    if (strcmp(h, "4e-4") == 0)
        snprintf(options + strlen(options), sizeof options - strlen(options), " tolerance=%.17g", 1e-10 / 814);
    int status = cook_project(k, &pot, "five_dimensions", set, options);
    for (int i = 0; i < 5 && status == 0; i++)
        sum += (pot.result.q[i] - mean + v[i]) * (pot.result.q[i] - mean + v[i]);
    if (status == 0)
        status = cook_note(k, sqrt(sum), "h = %s, m = %d, %s, residual", h, order, iterate);
    if (status == 0)
        status = cook_note(k, last_iterations(&pot), "h = %s, m = %d, %s, iterations", h, order, iterate);
    if (status == 0)
        status = cook_point(k, order, log10(sqrt(sum)));
    cook_close(&pot);
    return status;
}

int cook_d_five_dimensions(cook *k)
{
    static const char *const steps[] = {"4e-4", "2e-4", "1e-4"};
    double v[5];
    k->labels[0] = "Five dimensions: residual (figure 6)";
    k->labels[1] = "m";
    k->labels[2] = "log10 residual";
    five_manifold(v);
    COOK_TRY(cook_note(k, v[0], "slow manifold, x1"));
    COOK_TRY(cook_note(k, v[1], "slow manifold, x2"));
    for (int h = 0; h < 3; h++) {
        COOK_TRY(cook_curve(k, "h = %s", steps[h]));
        for (int order = 0; order <= 2; order++)
            COOK_TRY(five(k, steps[h], "anderson", order, v));
    }
    COOK_TRY(cook_curve(k, "h = 4e-4, plain"));
    for (int order = 0; order <= 2; order++)
        COOK_TRY(five(k, steps[0], "plain", order, v));
    return 0;
}
