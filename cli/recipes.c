/* recipes.c - the table of recipes, and those of papers A, B and C. Each does what a user could do with the program: options in words,
 * results read from the library. Recipes know no printed number. */
#include <math.h>

#include "reproduce.h"

static const double pi = 3.14159265358979323846;

const cook_recipe cook_recipes[] = {
    {"a-table-1",
     "G. Ariel, J. M. Sanz-Serna, R. Tsai: A multiscale technique for finding slow manifolds of stiff mechanical systems, "
     "Multiscale "
     "Model. Simul. 10 (2012), table 1, (33)-(36) and section 5.4",
     "iterated projection onto the slow manifold of the stiff double pendulum", cook_a_table_1},
    {"b-orders",
     "C. Lubich: Integration of stiff mechanical systems by Runge-Kutta methods (1992), theorems 3.1 and 4.1: 2s-1 in y and s in "
     "y' for "
     "Radau IIA with s stages, whatever the stiffness",
     "observed orders of Radau IIA for the stiff and the rigid pendulum", cook_b_orders},
    {"c-table-3-1", "U. M. Ascher, H. Qin, S. Reich: Stabilization of DAEs and invariant manifolds (1992), table 3.1",
     "Kepler's problem with and without stabilised energy", cook_c_table_3_1},
    {"c-slider-crank",
     "U. M. Ascher, H. Qin, S. Reich: Stabilization of DAEs and invariant manifolds (1992), example 4, figures 4.2 to 4.13; the "
     "figures "
     "have no numbers: drifts and the state at t = 1 are from an independent computation in 30 digits",
     "slider crank with Adams-Bashforth and four ways to stabilise", cook_c_slider_crank},
    {"d-michaelis-menten",
     "C. W. Gear, T. J. Kaper, I. G. Kevrekidis, A. Zagaris: Projecting to a slow manifold, SIAM J. Appl. Dyn. Syst. 4 (2005), "
     "section 4.1, "
     "figures 2, 3, 5; errors and iterations of the figures are from an independent computation",
     "slow points of Michaelis-Menten kinetics by vanishing differences", cook_d_michaelis_menten},
    {"d-five-dimensions",
     "C. W. Gear, T. J. Kaper, I. G. Kevrekidis, A. Zagaris: Projecting to a slow manifold, SIAM J. Appl. Dyn. Syst. 4 (2005), "
     "section 4.3, "
     "figure 6; residuals of the figure are from an independent computation",
     "slow points of five mixed variables by vanishing differences", cook_d_five_dimensions},
    {"e-figure-3",
     "C. Lubich, D. Weiss: Numerical integrators for motion under a strong constraining force, figures 2 and 3; the figures have "
     "no "
     "numbers: they are fits to an independent computation, 0.064 h^2 + 1.8 eps in x and 0.079 h^2 + 2.5 eps in P y",
     "projected and mollified impulse methods against the effective motion", cook_e_figure_3},
    {NULL, NULL, NULL, NULL},
};

/* ---- A: table 1 from the start (29)-(30), slow points (33)-(36) from (31)-(32) */

static int note_passes(cook *k, const cook_pot *pot, int omega)
{
    const double *g, *gdot;
    COOK_TRY(cook_curve(k, "omega = %d", omega));
    for (int pass = 0; taut_projection_pass(pot->projection, pass, &g, &gdot, NULL); pass++) {
        COOK_TRY(cook_point(k, pass, log10(fmax(fabs(g[0]), fabs(g[1])))));
        for (int i = 0; i < 2; i++)
            COOK_TRY(cook_note(k, g[i], "omega %d, pass %d, g%d", omega, pass, i + 1));
        for (int i = 0; i < 2; i++)
            COOK_TRY(cook_note(k, gdot[i], "omega %d, pass %d, gdot%d", omega, pass, i + 1));
    }
    return cook_note(k, (double)pot->result.passes, "omega %d, iterations", omega);
}

/* (33)-(36): what is not zero there; and the stretches of section 5.4. */
static int note_slow_point(cook *k, const cook_pot *pot, int omega)
{
    const double *q = pot->result.q, *v = pot->result.v, *g;
    COOK_TRY(cook_note(k, q[0], "slow point, omega %d, x1", omega));
    COOK_TRY(cook_note(k, q[2], "slow point, omega %d, x2", omega));
    COOK_TRY(cook_note(k, v[1], "slow point, omega %d, y1'", omega));
    COOK_TRY(cook_note(k, v[3], "slow point, omega %d, y2'", omega));
    COOK_TRY(cook_note(k, (double)pot->result.passes, "slow point, omega %d, iterations", omega));
    if (!taut_projection_pass(pot->projection, pot->result.passes, &g, NULL, NULL))
        return cook_fail(k, "the projection has no last pass");
    for (int i = 0; i < 2; i++)
        COOK_TRY(cook_note(k, g[i], "slow point, omega %d, g%d", omega, i + 1));
    return 0;
}

int cook_a_table_1(cook *k)
{
    int status = 0;
    k->labels[0] = "distance from the constraint manifold";
    k->labels[1] = "pass";
    k->labels[2] = "log10 max |g|";
    for (int far = 1; far >= 0; far--)
        for (int omega = 1000; omega <= 10000 && status == 0; omega *= 10) {
            cook_pot pot;
            char set[60];
            snprintf(set, sizeof set, "omega=%d%s", omega, far ? "" : " lift=0");
            status = cook_project(k, &pot, "double_pendulum", set, "method=ipa");
            if (status == 0)
                status = far ? note_passes(k, &pot, omega) : note_slow_point(k, &pot, omega);
            cook_close(&pot);
        }
    return status;
}

/* ---- B: errors at t = 1 for two steps give an order */

typedef struct end {
    double q[2], v[2];
} end;

static int pendulum(cook *k, const char *method, double eps, int steps, end *e)
{
    cook_pot pot;
    char set[40], options[120];
    snprintf(set, sizeof set, "eps=%g", eps);
    snprintf(options, sizeof options, "motion=slow method=%s step=%.17g", method, 1.0 / steps);
    int status = cook_run(k, &pot, "pendulum", set, options);
    if (status == 0)
        status = taut_solver_advance(pot.solver, 1, &k->error);
    for (int i = 0; i < 2 && status == 0; i++) {
        e->q[i] = taut_solver_position(pot.solver)[i];
        e->v[i] = taut_solver_velocity(pot.solver)[i];
    }
    cook_close(&pot);
    return status;
}

static double apart(const double *a, const double *b)
{
    return hypot(a[0] - b[0], a[1] - b[1]);
}

/* The steps are where the order shows: errors well above rounding, and for y' short enough. */
static int orders(cook *k, const char *method, double eps, const end *exact, int steps_y, int steps_v)
{
    end coarse, fine;
    COOK_TRY(pendulum(k, method, eps, steps_y, &coarse));
    COOK_TRY(pendulum(k, method, eps, 2 * steps_y, &fine));
    COOK_TRY(cook_note(k, log2(apart(coarse.q, exact->q) / apart(fine.q, exact->q)), "%s, eps %g, y", method, eps));
    COOK_TRY(pendulum(k, method, eps, steps_v, &coarse));
    COOK_TRY(pendulum(k, method, eps, 2 * steps_v, &fine));
    return cook_note(k, log2(apart(coarse.v, exact->v) / apart(fine.v, exact->v)), "%s, eps %g, y'", method, eps);
}

int cook_b_orders(cook *k)
{
    static const struct {
        const char *method;
        int steps_y, steps_v;
    } rows[] = {{"radau1", 80, 80}, {"radau3", 80, 80}, {"radau5", 20, 160}};
    static const double eps[] = {0, 1e-6, 1e-4};
    end exact, now;
    k->labels[0] = "Radau IIA, stiff pendulum, eps = 1e-4";
    k->labels[1] = "step";
    k->labels[2] = "error at t = 1";
    k->logarithmic = true;
    for (int e = 0; e < 3; e++) {
        COOK_TRY(pendulum(k, "radau9", eps[e], 200, &exact));
        for (int m = 0; m < 3; m++)
            COOK_TRY(orders(k, rows[m].method, eps[e], &exact, rows[m].steps_y, rows[m].steps_v));
    }
    for (int m = 0; m < 3; m++)
        for (int part = 0; part < 2; part++) {
            COOK_TRY(cook_curve(k, "%s, %s", rows[m].method, part ? "velocities" : "positions"));
            for (int steps = 5; steps <= 160; steps *= 2) {
                COOK_TRY(pendulum(k, rows[m].method, eps[2], steps, &now));
                COOK_TRY(cook_point(k, 1.0 / steps, part ? apart(now.v, exact.v) : apart(now.q, exact.q)));
            }
        }
    return 0;
}

/* ---- C, table 3.1: p2 after one and two periods */

static int kepler(cook *k, const char *what, const char *method, const char *stabilize, int steps)
{
    cook_pot pot;
    char options[200];
    snprintf(options, sizeof options, "method=%s step=%.17g stabilize=%s stabilize-passes=1 until=%.17g", method, 2 * pi / steps,
             stabilize, 4 * pi);
    int status = cook_run(k, &pot, "kepler", "", options);
    for (int period = 1; period <= 2 && status == 0; period++) {
        status = taut_solver_advance(pot.solver, 2 * pi * period, &k->error);
        if (status == 0)
            status = cook_note(k, taut_solver_position(pot.solver)[1], "%s, p2(%d pi)", what, 2 * period);
    }
    cook_close(&pot);
    return status;
}

/* One step of the implicit midpoint rule, z1 = z + h f((z + z1)/2), by fixed-point iteration: the stepping methods of this version
 * have no such member, and a problem that is not stiff needs no other iteration. */
static int implicit_midpoint(cook *k, taut_context *context, double h, double *z)
{
    enum { MOST = 50 };
    double middle[4] = {z[0], z[1], z[2], z[3]}, rate[4];
    taut_values values = {.force = rate};
    for (int pass = 0; pass < MOST; pass++) {
        double change = 0;
        COOK_TRY(taut_evaluate(context, 0, middle, NULL, TAUT_WANT_FORCE, &values, &k->error));
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

static int kepler_implicit(cook *k, const char *what, int steps)
{
    cook_pot pot;
    taut_context *context = NULL;
    double z[4];
    int status = cook_open(k, &pot, "kepler", "", "");
    if (status == 0)
        status = taut_context_create(pot.system, NULL, &context, &k->error);
    if (status == 0)
        status = taut_context_start(context, 0, z, NULL, &k->error);
    for (int n = 1; n <= 2 * steps && status == 0; n++) {
        status = implicit_midpoint(k, context, 2 * pi / steps, z);
        correct_velocity(z);
        if (status == 0 && n % steps == 0)
            status = cook_note(k, z[1], "%s, p2(%d pi)", what, 2 * n / steps);
    }
    taut_context_destroy(context);
    cook_close(&pot);
    return status;
}

static int orbit_row(void *user, const taut_row *row, taut_error *error)
{
    (void)error;
    return cook_point(user, row->q[0], row->q[1]);
}

/* The orbit of two periods, for the picture. */
static int orbit(cook *k, const char *name, const char *stabilize)
{
    cook_pot pot;
    char options[200];
    taut_sink sink = {.row = orbit_row, .user = k};
    snprintf(options, sizeof options, "method=euler step=%.17g stabilize=%s stabilize-passes=1 every=%.17g until=%.17g", pi / 1000,
             stabilize, pi / 50, 4 * pi);
    COOK_TRY(cook_curve(k, "%s", name));
    int status = cook_run(k, &pot, "kepler", "", options);
    if (status == 0)
        status = taut_solver_run(pot.solver, &sink, 1, NULL, NULL, &k->error);
    cook_close(&pot);
    return status;
}

int cook_c_table_3_1(cook *k)
{
    k->labels[0] = "Kepler orbit, forward Euler, h = 0.001 pi: two periods";
    k->labels[1] = "p1";
    k->labels[2] = "p2";
    COOK_TRY(orbit(k, "not stabilised", "none"));
    COOK_TRY(orbit(k, "stabilised", "post-velocity"));
    COOK_TRY(kepler(k, "Euler, h = .001 pi", "euler", "none", 2000));
    COOK_TRY(kepler(k, "Euler, h = .001 pi, stabilised", "euler", "post-velocity", 2000));
    COOK_TRY(kepler(k, "Euler, h = .0005 pi", "euler", "none", 4000));
    COOK_TRY(kepler(k, "Euler, h = .0005 pi, stabilised", "euler", "post-velocity", 4000));
    COOK_TRY(kepler(k, "midpoint, h = .001 pi", "midpoint", "none", 2000));
    COOK_TRY(kepler_implicit(k, "midpoint, h = .001 pi, stabilised", 2000));
    return kepler(k, "Euler, h = .001 pi, F as printed", "euler", "post", 2000);
}
