/* paper_c.c - Ascher, Qin, Reich: example 2, table 3.1, and the slider crank of example 4. What
 * errors are measured against is computed here, by another way than what is measured. */
#include <math.h>

#include "reproduce/reproduce.h"

static const double pi = 3.14159265358979323846;

/* ---- C, example 2: z' = 3 t^2 by the midpoint rule, forward and backward stabilisation */

const char recipe_c_example_2_model[] =
    "[state]\nz\n[rates]\nz' = 3*t^2\n[invariants]\nh = z - t^3\n[start]\nz = 0\n";

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
    recipe_case run;
    char options[200];
    lag l = {.k = k, .h = 0.1};
    taut_sink sink = {.row = lag_row, .user = &l};
    snprintf(options, sizeof options,
             "method=midpoint step=0.1 every=step until=1 stabilize=%s stabilize-alpha=%.17g", form,
             alpha > 0 ? alpha : 1);
    RECIPE_TRY(recipe_curve(k, "%s, alpha = %g", form, alpha));
    int status = recipe_run(k, &run, recipe_c_example_2_model, "", options);
    if (status == 0)
        status = taut_solver_run(run.solver, &sink, 1, NULL, NULL, &k->error);
    if (status == 0)
        status = recipe_note(k, l.latest, "%s, alpha = %g, n = 10", form, alpha);
    recipe_close(&run);
    return status;
}

/* ---- and its continuation: y' = -(1 + nu (z - t^3)) y, where z - t^3 is what the steps leave of
 * it, once the stabilisation has settled */

static const double nu = 1e4;

/* y(10) from y(0) = 1 */
static int follow(recipe_work *k, double h, double *y)
{
    static const char second[] = "[parameters]\nnu = 0\noff = 0\n[state]\ny\n[rates]\n"
                                 "y' = -(1 + nu*off)*y\n[start]\ny = 1\n";
    recipe_case run;
    char text[160];
    double off = NAN;
    snprintf(text, sizeof text,
             "method=midpoint step=%.17g until=%.17g stabilize=forward stabilize-alpha=1", h,
             10 * h);
    int status = recipe_run(k, &run, recipe_c_example_2_model, "", text);
    if (status == 0)
        status = taut_solver_advance(run.solver, 10 * h, &k->error);
    if (status == 0)
        off = taut_solver_position(run.solver)[0] - 1000 * h * h * h;
    recipe_close(&run);
    snprintf(text, sizeof text, "nu=%.17g off=%.17g", nu, off);
    if (status == 0)
        status = recipe_run(k, &run, second, text, "method=dop8 rtol=1e-12 atol=1e-14 until=10");
    if (status == 0)
        status = taut_solver_advance(run.solver, 10, &k->error);
    if (status == 0)
        *y = taut_solver_position(run.solver)[0];
    recipe_close(&run);
    return status;
}

/* The step size at which y neither grows nor decays, by bisection. */
static int continuation(recipe_work *k)
{
    double low = 0.01, high = 0.2, y;
    for (int pass = 0; pass < 30; pass++) {
        double middle = (low + high) / 2;
        RECIPE_TRY(follow(k, middle, &y));
        if (y < 1)
            low = middle;
        else
            high = middle;
    }
    RECIPE_TRY(recipe_note(k, low, "(3.8), nu = 10000, step bound"));
    RECIPE_TRY(follow(k, 0.98 * cbrt(4 / nu), &y));
    RECIPE_TRY(recipe_note(k, y, "(3.8), y(10) at .98 (4/nu)^(1/3)"));
    RECIPE_TRY(follow(k, 1.02 * cbrt(4 / nu), &y));
    return recipe_note(k, y, "(3.8), y(10) at 1.02 (4/nu)^(1/3)");
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
    RECIPE_TRY(example_2(k, "post", 1));
    return continuation(k);
}

/* ---- C, table 3.1: p2 after one and two periods. The paper's stabilised midpoint rule is the
 * implicit one, gauss2; that without stabilisation the explicit one */

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

/* Projected invariants (2.7): z' = f - E^T lambda, 0 = e + 1/2, a system of index 2. */
static int kepler_projected(recipe_work *k, const char *method, int steps)
{
    static const char model[] =
        "[state]\np1, p2, v1, v2\n[algebraic]\nl\n[definitions]\nr = sqrt(p1^2 + p2^2)\n[rates]\n"
        "p1' = v1 - l*p1/r^3\np2' = v2 - l*p2/r^3\nv1' = -p1/r^3 - l*v1\nv2' = -p2/r^3 - l*v2\n"
        "[constraints]\nenergy = (v1^2 + v2^2)/2 - 1/r + 0.5\n"
        "[start]\np1 = 0.5, p2 = 0, v1 = 0, v2 = sqrt(3)\n";
    recipe_case run;
    taut_result result = {.size = sizeof result};
    char options[120];
    snprintf(options, sizeof options, "method=%s step=%.17g until=%.17g", method, 2 * pi / steps,
             4 * pi);
    int status = recipe_run(k, &run, model, "", options);
    if (status == 0)
        status = taut_solver_advance(run.solver, 4 * pi, &k->error);
    if (status == 0)
        status = taut_solver_result_get(run.solver, &result, &k->error);
    if (status == 0)
        status =
            recipe_note(k, result.drift_position, "%s, projected invariants (2.7), drift", method);
    if (status == 0)
        status = recipe_note(k, taut_solver_position(run.solver)[1],
                             "%s, projected invariants (2.7), p2(4 pi)", method);
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
    RECIPE_TRY(kepler(k, "midpoint, h = .001 pi, stabilised", "gauss2", "post-velocity", 2000));
    RECIPE_TRY(kepler(k, "Euler, h = .001 pi, F as printed", "euler", "post", 2000));
    RECIPE_TRY(kepler(k, "Euler, h = .0005 pi, F as printed", "euler", "post", 4000));
    RECIPE_TRY(kepler(k, "midpoint, h = .001 pi, F as printed", "gauss2", "post", 2000));
    return kepler_projected(k, "radau5", 400);
}

/* ---- C, example 4: drift and error of the slider, Adams-Bashforth with h = .1 */

enum { CRANK_ROWS = 101, CRANK_KINDS = 3 };

typedef struct crank {
    double row[CRANK_KINDS]
              [CRANK_ROWS]; /* slider, later its error; drift of positions, velocities */
    int rows;
} crank;

static int crank_row(void *user, const taut_row *row, taut_error *error)
{
    crank *c = user;
    (void)error;
    if (c->rows == CRANK_ROWS)
        return 0;
    c->row[0][c->rows] = row->outputs[0];
    c->row[1][c->rows] = row->drift_position;
    c->row[2][c->rows++] = row->drift_velocity;
    return 0;
}

static double largest(const double *x, int first)
{
    double most = 0;
    for (int r = first; r < CRANK_ROWS; r++)
        most = fmax(most, fabs(x[r]));
    return most;
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

/* Figures 4.2 to 4.13: each by itself, as in the paper, with what dop8, post, makes of rtol = 1e-6.
 */
static int crank_pictures(recipe_work *k, int first, const char *const title[CRANK_KINDS],
                          const crank *c, const crank *best)
{
    static const char *const names[] = {"4-2", "4-3", "4-4",  "4-5",  "4-6",  "4-7",
                                        "4-8", "4-9", "4-10", "4-11", "4-12", "4-13"};
    for (int kind = 0; kind < CRANK_KINDS; kind++) {
        RECIPE_TRY(recipe_picture(k, names[first + kind], title[kind], "t",
                                  kind == 0 ? "error" : "drift"));
        for (int mine = 0; mine < 2; mine++) {
            RECIPE_TRY(recipe_curve(k, mine ? "dop8, rtol = 1e-6" : "ab2, h = 0.1"));
            for (int r = 0; r < CRANK_ROWS; r++)
                RECIPE_TRY(recipe_point(k, 0.1 * r, (mine ? best : c)->row[kind][r]));
        }
    }
    return 0;
}

/* A run, its slider made an error against that of `exact`. */
static int crank_against(recipe_work *k, const char *options, const crank *exact, crank *c)
{
    RECIPE_TRY(slider_crank(k, options, c));
    for (int r = 0; r < CRANK_ROWS; r++)
        c->row[0][r] -= exact->row[0][r];
    return 0;
}

/* What stabilisation is for: errors of long runs, without it over those with it. */
static int crank_long(recipe_work *k)
{
    crank exact, none, both;
    RECIPE_TRY(slider_crank(k, "motion=rigid method=dop8 rtol=1e-12 atol=1e-14 every=2 until=200",
                            &exact));
    RECIPE_TRY(crank_against(k, "motion=rigid method=ab2 step=0.1 every=2 until=200 stabilize=none",
                             &exact, &none));
    RECIPE_TRY(crank_against(k,
                             "motion=rigid method=ab2 step=0.1 every=2 until=200 "
                             "stabilize=post-simple stabilize-passes=1",
                             &exact, &both));
    return recipe_note(k, largest(none.row[0], 90) / largest(both.row[0], 90),
                       "180 <= t <= 200, slider error, none over both");
}

int recipe_c_slider_crank(recipe_work *k)
{
    static const struct {
        const char *option, *name, *title[CRANK_KINDS];
    } rows[] = {
        {"post-simple",
         "both stabilised",
         {"Figure 4.2: slider error, stabilised", "Figure 4.3: position drift, stabilised",
          "Figure 4.4: velocity drift, stabilised"}},
        {"none",
         "no stabilisation",
         {"Figure 4.5: slider error, not stabilised", "Figure 4.6: position drift, not stabilised",
          "Figure 4.7: velocity drift, not stabilised"}},
        {"post-velocity",
         "velocities stabilised",
         {"Figure 4.8: slider error, velocities stabilised",
          "Figure 4.9: position drift, velocities stabilised",
          "Figure 4.10: velocity drift, velocities stabilised"}},
        {"post-position",
         "positions stabilised",
         {"Figure 4.11: slider error, positions stabilised",
          "Figure 4.12: position drift, positions stabilised",
          "Figure 4.13: velocity drift, positions stabilised"}}};
    crank exact, best, now;
    RECIPE_TRY(crank_at_1(k));
    RECIPE_TRY(slider_crank(k, "motion=rigid method=dop8 rtol=1e-12 atol=1e-14 every=0.1 until=10",
                            &exact));
    RECIPE_TRY(
        crank_against(k, "motion=rigid method=dop8 rtol=1e-6 every=0.1 until=10", &exact, &best));
    for (int i = 0; i < 4; i++) {
        char options[160];
        snprintf(
            options, sizeof options,
            "motion=rigid method=ab2 step=0.1 every=0.1 until=10 stabilize=%s stabilize-passes=1",
            rows[i].option);
        RECIPE_TRY(crank_against(k, options, &exact, &now));
        RECIPE_TRY(recipe_note(k, largest(now.row[1], 0), "%s, drift of positions", rows[i].name));
        RECIPE_TRY(recipe_note(k, largest(now.row[2], 0), "%s, drift of velocities", rows[i].name));
        RECIPE_TRY(crank_pictures(k, CRANK_KINDS * i, rows[i].title, &now, &best));
    }
    return crank_long(k);
}
