/* paper_c.c - Ascher, Qin, Reich: example 2, table 3.1, and the slider crank of example 4. What
 * errors are measured against is computed here, by another way than what is measured. */
#include <math.h>

#include "reproduce/reproduce.h"

static const double pi = 3.14159265358979323846;

/* ---- C, example 2: z' = 3 t^2 by the midpoint rule, forward and backward stabilisation */

typedef struct lag {
    recipe_work *k;
    double h, latest; /* (z_n - t_n^3)/h^3 */
    int n;
} lag;

static int lag_row(void *user, const taut_row *row, taut_error *error)
{
    (void)error;
    lag *l = user;
    l->latest = (row->q[0] - row->t * row->t * row->t) / (l->h * l->h * l->h);
    return recipe_point(l->k, l->n++, l->latest);
}

static int example_2(recipe_work *k, const char *form, double alpha)
{
    static const char model[] =
        "[state]\nz\n[rates]\nz' = 3*t^2\n[invariants]\nh = z - t^3\n[start]\nz = 0\n";
    recipe_case run;
    char options[200];
    lag l = {.k = k, .h = 0.1};
    taut_sink sink = {.row = lag_row, .user = &l};
    snprintf(options, sizeof options,
             "method=midpoint step=0.1 every=step until=1 stabilize=%s stabilize-alpha=%.17g", form,
             alpha > 0 ? alpha : 1);
    RECIPE_TRY(recipe_curve(k, "%s, alpha = %g", form, alpha));
    int status = recipe_run(k, &run, model, "", options);
    if (status == 0)
        status = taut_solver_run(run.solver, &sink, 1, NULL, NULL, &k->error);
    if (status == 0)
        status = recipe_note(k, l.latest, "%s, alpha = %g, n = 10", form, alpha);
    recipe_close(&run);
    return status;
}

int recipe_c_example_2(recipe_work *k)
{
    k->labels[0] = "z' = 3 t^2, midpoint rule, h = 0.1: deviation from the manifold";
    k->labels[1] = "n";
    k->labels[2] = "(z_n - t_n^3)/h^3";
    RECIPE_TRY(example_2(k, "none", 0));
    RECIPE_TRY(example_2(k, "forward", 0.3));
    RECIPE_TRY(example_2(k, "forward", 1));
    RECIPE_TRY(example_2(k, "backward", 1));
    RECIPE_TRY(example_2(k, "backward", 100));
    return example_2(k, "post", 1);
}

/* ---- C, table 3.1: p2 after one and two periods */

static int kepler(recipe_work *k, const char *what, const char *method, const char *stabilize,
                  int steps)
{
    recipe_case run;
    char options[200];
    snprintf(options, sizeof options,
             "method=%s step=%.17g stabilize=%s stabilize-passes=1 until=%.17g", method,
             2 * pi / steps, stabilize, 4 * pi);
    int status = recipe_run(k, &run, "kepler", "", options);
    for (int period = 1; period <= 2 && status == 0; period++) {
        status = taut_solver_advance(run.solver, 2 * pi * period, &k->error);
        if (status == 0)
            status = recipe_note(k, taut_solver_position(run.solver)[1], "%s, p2(%d pi)", what,
                                 2 * period);
    }
    recipe_close(&run);
    return status;
}

/* One step of the implicit midpoint rule, z1 = z + h f((z + z1)/2), by fixed-point iteration:
 * the stepping methods of this version have no such member, and a problem that is not stiff
 * needs no other iteration. */
static int implicit_midpoint(recipe_work *k, taut_context *context, double h, double *z)
{
    enum { MOST = 50 };
    double middle[4] = {z[0], z[1], z[2], z[3]}, rate[4];
    taut_values values = {.size = sizeof values, .force = rate};
    for (int pass = 0; pass < MOST; pass++) {
        double change = 0;
        RECIPE_TRY(taut_evaluate(context, 0, middle, NULL, TAUT_WANT_FORCE, &values, &k->error));
        for (int i = 0; i < 4; i++) {
            double next = z[i] + h / 2 * rate[i];
            change = fmax(change, fabs(next - middle[i]));
            middle[i] = next;
        }
        if (change < 1e-16)
            break;
    }
    for (int i = 0; i < 4; i++)
        z[i] = 2 * middle[i] - z[i];
    return 0;
}

/* (3.9) with a correction of the velocities alone, v <- v - v (e + 1/2)/|v|^2. */
static void correct_velocity(double *z)
{
    double square = z[2] * z[2] + z[3] * z[3], defect = square / 2 - 1 / hypot(z[0], z[1]) + 0.5;
    z[2] -= z[2] * defect / square;
    z[3] -= z[3] * defect / square;
}

static int kepler_implicit(recipe_work *k, const char *what, int steps)
{
    recipe_case run;
    taut_context *context = NULL;
    double z[4];
    int status = recipe_open(k, &run, "kepler", "", "");
    if (status == 0)
        status = taut_context_create(run.system, NULL, &context, &k->error);
    if (status == 0)
        status = taut_context_start(context, 0, z, NULL, &k->error);
    for (int n = 1; n <= 2 * steps && status == 0; n++) {
        status = implicit_midpoint(k, context, 2 * pi / steps, z);
        correct_velocity(z);
        if (status == 0 && n % steps == 0)
            status = recipe_note(k, z[1], "%s, p2(%d pi)", what, 2 * n / steps);
    }
    taut_context_destroy(context);
    recipe_close(&run);
    return status;
}

static int orbit_row(void *user, const taut_row *row, taut_error *error)
{
    (void)error;
    return recipe_point(user, row->q[0], row->q[1]);
}

/* The orbit of two periods, for the picture. */
static int orbit(recipe_work *k, const char *name, const char *stabilize)
{
    recipe_case run;
    char options[200];
    taut_sink sink = {.row = orbit_row, .user = k};
    snprintf(options, sizeof options,
             "method=euler step=%.17g stabilize=%s stabilize-passes=1 every=%.17g until=%.17g",
             pi / 1000, stabilize, pi / 50, 4 * pi);
    RECIPE_TRY(recipe_curve(k, "%s", name));
    int status = recipe_run(k, &run, "kepler", "", options);
    if (status == 0)
        status = taut_solver_run(run.solver, &sink, 1, NULL, NULL, &k->error);
    recipe_close(&run);
    return status;
}

int recipe_c_table_3_1(recipe_work *k)
{
    k->labels[0] = "Kepler orbit, forward Euler, h = 0.001 pi: two periods";
    k->labels[1] = "p1";
    k->labels[2] = "p2";
    RECIPE_TRY(orbit(k, "not stabilised", "none"));
    RECIPE_TRY(orbit(k, "stabilised", "post-velocity"));
    RECIPE_TRY(kepler(k, "Euler, h = .001 pi", "euler", "none", 2000));
    RECIPE_TRY(kepler(k, "Euler, h = .001 pi, stabilised", "euler", "post-velocity", 2000));
    RECIPE_TRY(kepler(k, "Euler, h = .0005 pi", "euler", "none", 4000));
    RECIPE_TRY(kepler(k, "Euler, h = .0005 pi, stabilised", "euler", "post-velocity", 4000));
    RECIPE_TRY(kepler(k, "midpoint, h = .001 pi", "midpoint", "none", 2000));
    RECIPE_TRY(kepler_implicit(k, "midpoint, h = .001 pi, stabilised", 2000));
    return kepler(k, "Euler, h = .001 pi, F as printed", "euler", "post", 2000);
}

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

static int slider_crank(recipe_work *k, const char *options, crank *c)
{
    recipe_case run;
    *c = (crank){.rows = 0};
    taut_sink sink = {.row = crank_row, .user = c};
    int status = recipe_run(k, &run, "slider_crank", "", options);
    if (status == 0)
        status = taut_solver_run(run.solver, &sink, 1, NULL, NULL, &k->error);
    if (status == 0 && c->rows != CRANK_ROWS)
        status = recipe_fail(k, "the slider crank gave %d rows instead of %d", c->rows, CRANK_ROWS);
    recipe_close(&run);
    return status;
}

/* Accurate state and multipliers (of the paper: outputs 1 to 3) at t = 1. */
static int crank_at_1(recipe_work *k)
{
    static const char *const names[4] = {"theta", "x2", "y2", "psi"};
    recipe_case run;
    taut_context *context = NULL;
    double outputs[RECIPE_COORDINATES] = {0};
    int status =
        recipe_run(k, &run, "slider_crank", "", "motion=rigid method=dop8 rtol=1e-13 atol=1e-15");
    if (status == 0)
        status = taut_solver_advance(run.solver, 1, &k->error);
    if (status == 0)
        status = taut_context_create(run.system, NULL, &context, &k->error);
    if (status == 0)
        status = taut_evaluate_outputs(context, 1, taut_solver_position(run.solver),
                                       taut_solver_velocity(run.solver),
                                       taut_solver_multipliers(run.solver), outputs, &k->error);
    for (int i = 0; i < 4 && status == 0; i++)
        status = recipe_note(k, taut_solver_position(run.solver)[i], "t = 1, %s", names[i]);
    if (status == 0)
        status = recipe_note(k, taut_solver_velocity(run.solver)[0], "t = 1, theta'");
    for (int i = 1; i <= 3 && status == 0; i++)
        status = recipe_note(k, outputs[i], "t = 1, lambda%d", i);
    taut_context_destroy(context);
    recipe_close(&run);
    return status;
}

int recipe_c_slider_crank(recipe_work *k)
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
    RECIPE_TRY(crank_at_1(k));
    RECIPE_TRY(slider_crank(k, "motion=rigid method=dop8 rtol=1e-12 atol=1e-14 every=0.1 until=10",
                            &exact));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char options[160];
        snprintf(
            options, sizeof options,
            "motion=rigid method=ab2 step=0.1 every=0.1 until=10 stabilize=%s stabilize-passes=1",
            rows[i].option);
        RECIPE_TRY(slider_crank(k, options, &now));
        RECIPE_TRY(recipe_note(k, now.position, "%s, drift of positions", rows[i].name));
        RECIPE_TRY(recipe_note(k, now.velocity, "%s, drift of velocities", rows[i].name));
        RECIPE_TRY(recipe_curve(k, "%s", rows[i].name));
        for (int r = 0; r < CRANK_ROWS; r++)
            RECIPE_TRY(recipe_point(k, 0.1 * r, now.slider[r] - exact.slider[r]));
    }
    return 0;
}
