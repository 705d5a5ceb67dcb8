/* paper_e.c - E, figures 1 to 4: impulse methods against the effective motion.
 *
 * The theorem is about x_n and P(x_n) y_n [E (16)], the state that a solver shows with the option
 * raw. Without it solvers show alpha(x_n) and P(alpha(x_n)) y_n, on the constraints, where
 * positions are closer by one power of eps. As h -> 0 the errors do not vanish: what is left is
 * the distance of the full motion, with gravity and springs together, from the effective one,
 * numbers of their own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/reproduce.h"

enum { N = 4, M = 2 }; /* coordinates and springs of the double pendulum, masses 1 */

static const char *const model = "double_pendulum_gravity";
static const char *const effective = "motion=effective method=effective rtol=1e-11 atol=1e-13";
static const char *const full = "motion=full method=dop8 rtol=1e-11 atol=1e-13";

/* ---- one motion against another at the times n h */

typedef struct pair {
    recipe_case one, other;
    taut_context *context; /* of the first */
    taut_pattern rows;     /* of G */
    double eps;
} pair;

typedef struct errors {
    double x, along; /* of x_n, and of P(x_n) y_n */
    double y;        /* of y_n itself */
    double action;   /* change of I = J/eps along the first */
} errors;

static double distance(const double *a, const double *b)
{
    double most = 0;
    for (int c = 0; c < N; c++)
        most = fmax(most, fabs(a[c] - b[c]));
    return most;
}

/* y <- P(x) y = y - G^T (G G^T)^-1 G y [E (10)] */
static int project(recipe_work *k, const pair *p, const double *x, double *y)
{
    double g[M], rate[M], entry[M * N] = {0}, G[M][N] = {{0}}, a[3] = {0}, z[M] = {0};
    taut_values values = {.size = sizeof values, .bond = g, .jacobian = entry, .bond_dt = rate};
    RECIPE_TRY(taut_evaluate(p->context, 0, x, NULL, TAUT_WANT_BOND | TAUT_WANT_JACOBIAN, &values,
                             &k->error));
    for (int i = 0; i < M; i++)
        for (taut_index e = p->rows.start[i]; e < p->rows.start[i + 1]; e++)
            G[i][p->rows.column[e]] += entry[e];
    for (int c = 0; c < N; c++) {
        a[0] += G[0][c] * G[0][c];
        a[1] += G[0][c] * G[1][c];
        a[2] += G[1][c] * G[1][c];
        z[0] += G[0][c] * y[c];
        z[1] += G[1][c] * y[c];
    }
    double det = a[0] * a[2] - a[1] * a[1], z0 = (a[2] * z[0] - a[1] * z[1]) / det,
           z1 = (a[0] * z[1] - a[1] * z[0]) / det;
    for (int c = 0; c < N; c++)
        y[c] -= G[0][c] * z0 + G[1][c] * z1;
    return 0;
}

/* The paper's actions are I = J/eps. */
static int find_actions(recipe_work *k, const pair *p, const double *x, const double *y,
                        double *action)
{
    taut_mode mode[M];
    taut_modes_report report = {.size = sizeof report};
    RECIPE_TRY(taut_modes(p->context, 0, x, y, M, mode, &report, &k->error));
    for (int i = 0; i < M; i++)
        action[i] = mode[i].action / p->eps;
    return 0;
}

static int open_pair(recipe_work *k, pair *p, double eps, const char *one, const char *other)
{
    char set[40];
    /* 10^7 micro-steps: expressions as machine code, where there is a compiler */
    snprintf(set, sizeof set, "eps=%g%s", eps, eps < 5e-4 ? " compile" : "");
    *p = (pair){.eps = eps};
    RECIPE_TRY(recipe_run(k, &p->one, model, set, one));
    RECIPE_TRY(recipe_run(k, &p->other, model, set, other));
    RECIPE_TRY(taut_system_pattern_get(p->one.system, TAUT_PATTERN_JACOBIAN, &p->rows, &k->error));
    return taut_context_create(p->one.system, NULL, &p->context, &k->error);
}

/* The other motion is tangential, Y = P(X) Y, or it vibrates and P(x_n) (y_n - y) is measured
 * [E (17)]. */
static int follow_pair(recipe_work *k, pair *p, double h, bool vibrating, errors *e)
{
    const taut_solver *one = p->one.solver, *other = p->other.solver;
    double first[M], now[M], along[N], Y[N];
    RECIPE_TRY(find_actions(k, p, taut_solver_position(one), taut_solver_velocity(one), first));
    for (int n = 1; n <= (int)floor(2 / h + 1e-9); n++) {
        RECIPE_TRY(taut_solver_advance(p->one.solver, n * h, &k->error));
        RECIPE_TRY(taut_solver_advance(p->other.solver, n * h, &k->error));
        const double *x = taut_solver_position(one), *y = taut_solver_velocity(one);
        memcpy(along, y, sizeof along);
        memcpy(Y, taut_solver_velocity(other), sizeof Y);
        e->y = fmax(e->y, distance(y, Y));
        RECIPE_TRY(project(k, p, x, along));
        if (vibrating)
            RECIPE_TRY(project(k, p, x, Y));
        e->x = fmax(e->x, distance(x, taut_solver_position(other)));
        e->along = fmax(e->along, distance(along, Y));
        RECIPE_TRY(find_actions(k, p, x, y, now));
        e->action =
            fmax(e->action, distance((double[N]){first[0], first[1]}, (double[N]){now[0], now[1]}));
    }
    return 0;
}

static int compare(recipe_work *k, double eps, double h, const char *one, const char *other,
                   errors *e)
{
    pair p;
    *e = (errors){0};
    int status = open_pair(k, &p, eps, one, other);
    if (status == 0)
        status = follow_pair(k, &p, h, other == full, e);
    taut_context_destroy(p.context);
    recipe_close(&p.one);
    recipe_close(&p.other);
    return status;
}

/* An impulse method with micro-steps eps/parts; raw: x_n and y_n. */
static int impulse(recipe_work *k, const char *method, bool raw, double eps, double h, int parts,
                   const char *other, errors *e)
{
    char options[200];
    snprintf(options, sizeof options,
             "motion=effective method=%s raw=%s step=%.17g inner-step=%.17g until=2", method,
             raw ? "yes" : "no", h, eps / parts);
    return compare(k, eps, h, options, other, e);
}

/* ---- the figures */

enum { STEPS = 5 };
static const double steps[STEPS] = {.5, .25, .125, .0625, .03125};

static void label(recipe_work *k, const char *title)
{
    k->labels[0] = title;
    k->labels[1] = "step";
    k->labels[2] = "largest error";
    k->logarithmic = true;
}

static int two_curves(recipe_work *k, const char *name, double eps, int count, const double *h,
                      const errors *e)
{
    for (int part = 0; part < 2; part++) {
        RECIPE_TRY(recipe_curve(k, "%s, eps = %g, %s", name, eps, part ? "P y" : "x"));
        for (int i = 0; i < count; i++)
            RECIPE_TRY(recipe_point(k, h[i], part ? e[i].along : e[i].x));
    }
    return 0;
}

/* A method that converges: its errors, the positions that are shown, its actions. */
static int one_size(recipe_work *k, const char *method, const char *name, double eps, int count,
                    errors *e)
{
    errors shown[STEPS];
    double action = 0;
    for (int i = 0; i < count; i++) {
        double h = steps[i];
        RECIPE_TRY(impulse(k, method, true, eps, h, 100, effective, &e[i]));
        RECIPE_TRY(impulse(k, method, false, eps, h, 100, effective, &shown[i]));
        RECIPE_TRY(recipe_note(k, e[i].x, "%s, eps = %g, h = %g, x", name, eps, h));
        RECIPE_TRY(recipe_note(k, e[i].along, "%s, eps = %g, h = %g, P y", name, eps, h));
        RECIPE_TRY(recipe_note(k, shown[i].x, "%s, eps = %g, h = %g, alpha(x)", name, eps, h));
        action = fmax(action, e[i].action);
    }
    if (eps < 5e-3) /* above, the floor eps^2 is seen */
        RECIPE_TRY(recipe_note(k, log(shown[0].x / shown[2].x) / log(4), "%s, eps = %g, order in h",
                               name, eps));
    RECIPE_TRY(recipe_note(k, action / eps, "%s, eps = %g, change of actions/eps", name, eps));
    return two_curves(k, name, eps, count, steps, e);
}

/* Orders in h where the floor is lowest, and in eps where the step is shortest [E (16)]. */
static int one_method(recipe_work *k, const char *method, const char *name)
{
    errors e[3][STEPS];
    RECIPE_TRY(one_size(k, method, name, 1e-2, STEPS, e[0]));
    RECIPE_TRY(one_size(k, method, name, 1e-3, STEPS, e[1]));
    RECIPE_TRY(one_size(k, method, name, 1e-4, 3, e[2]));
    const errors *coarse = &e[2][0], *fine = &e[2][2], *large = &e[0][STEPS - 1],
                 *small = &e[1][STEPS - 1];
    RECIPE_TRY(recipe_note(k, log(coarse->x / fine->x) / log(4), "%s, order in h, x", name));
    RECIPE_TRY(
        recipe_note(k, log(coarse->along / fine->along) / log(4), "%s, order in h, P y", name));
    RECIPE_TRY(recipe_note(k, log10(large->x / small->x), "%s, order in eps, x", name));
    return recipe_note(k, log10(large->along / small->along), "%s, order in eps, P y", name);
}

/* The smallest eps, with fewer micro-steps; frequencies are right to 1e-4. */
static int smallest(recipe_work *k, const char *method, const char *name)
{
    const double eps = 1e-5;
    for (int i = 0; i < 2; i++) {
        errors e;
        RECIPE_TRY(impulse(k, method, true, eps, steps[i], 25, effective, &e));
        RECIPE_TRY(recipe_note(k, e.x, "%s, eps = %g, h = %g, x", name, eps, steps[i]));
        RECIPE_TRY(recipe_note(k, e.along, "%s, eps = %g, h = %g, P y", name, eps, steps[i]));
    }
    return 0;
}

/* (13), (17), and what is wrong without W. */
static int motions(recipe_work *k)
{
    errors e[2], against;
    double h = steps[STEPS - 1];
    for (int i = 0; i < 2; i++) {
        double eps = i ? 1e-3 : 1e-2;
        RECIPE_TRY(compare(k, eps, h, full, effective, &e[i]));
        RECIPE_TRY(recipe_note(k, e[i].x, "full motion, eps = %g, x", eps));
        RECIPE_TRY(recipe_note(k, e[i].along, "full motion, eps = %g, P y", eps));
        for (int m = 0; m < 2; m++) {
            const char *name = m ? "mollified" : "projected";
            RECIPE_TRY(impulse(k, m ? "mollified-impulse" : "projected-impulse", true, eps, h, 100,
                               full, &against));
            RECIPE_TRY(recipe_note(k, against.x, "%s, eps = %g, x against full", name, eps));
            RECIPE_TRY(recipe_note(k, against.along, "%s, eps = %g, P y against full", name, eps));
        }
        RECIPE_TRY(compare(k, eps, h, "motion=rigid method=dop8 rtol=1e-11 atol=1e-13", effective,
                           &against));
        RECIPE_TRY(recipe_note(k, against.x, "without W, eps = %g, x", eps));
        RECIPE_TRY(recipe_note(k, against.along, "without W, eps = %g, P y", eps));
    }
    /* a long step: phases differ by O(h^2)/eps */
    RECIPE_TRY(impulse(k, "projected-impulse", true, 1e-3, steps[0], 100, full, &against));
    RECIPE_TRY(recipe_note(k, against.y, "projected, eps = 0.001, h = 0.5, y against full"));
    RECIPE_TRY(recipe_note(k, log10(e[0].x / e[1].x), "full motion, order in eps, x"));
    return recipe_note(k, log10(e[0].along / e[1].along), "full motion, order in eps, P y");
}

static int first_actions(recipe_work *k)
{
    pair p;
    double action[M];
    int status = open_pair(k, &p, 1e-3, full, effective);
    if (status == 0)
        status = find_actions(k, &p, taut_solver_position(p.one.solver),
                              taut_solver_velocity(p.one.solver), action);
    for (int i = 0; i < M && status == 0; i++)
        status = recipe_note(k, action[i], "eps = 0.001, action %d", i + 1);
    taut_context_destroy(p.context);
    recipe_close(&p.one);
    recipe_close(&p.other);
    return status;
}

/* The plain method: errors that do not fall with h, at their worst over a scan of h. */
int recipe_e_figure_1(recipe_work *k)
{
    enum { SCAN = 200 };
    static const double size[] = {1e-2, 1e-3}, eps = 2e-3; /* of the scan */
    double h[SCAN], worst = 0;
    errors e[SCAN];
    label(k, "Impulse method, double pendulum with gravity (figure 1)");
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < STEPS; i++)
            RECIPE_TRY(impulse(k, "impulse", true, size[j], steps[i], 1000, effective, &e[i]));
        RECIPE_TRY(two_curves(k, "impulse", size[j], STEPS, steps, e));
    }
    RECIPE_TRY(recipe_note(k, e[1].action / 1e-3, "impulse, eps = 0.001, change of actions/eps"));
    RECIPE_TRY(impulse(k, "impulse", true, 1e-4, .5, 1000, effective, &e[0]));
    RECIPE_TRY(recipe_note(k, e[0].x, "impulse, eps = 0.0001, h = 0.5, x"));
    RECIPE_TRY(recipe_note(k, e[0].along, "impulse, eps = 0.0001, h = 0.5, P y"));
    for (int i = 0; i < SCAN; i++) {
        h[i] = .02 + .48 * i / (SCAN - 1);
        RECIPE_TRY(impulse(k, "impulse", true, eps, h[i], 100, effective, &e[i]));
        worst = fmax(worst, e[i].along / (.079 * h[i] * h[i] + 2.5 * eps));
    }
    RECIPE_TRY(recipe_note(k, worst, "scan, eps = 0.002, largest P y over the fit"));
    return two_curves(k, "200 steps", eps, SCAN, h, e);
}

int recipe_e_figure_3(recipe_work *k)
{
    static const char *const method[] = {"projected-impulse", "mollified-impulse"},
                             *const name[] = {"projected", "mollified"};
    label(k, "Impulse methods, double pendulum with gravity (figures 2 and 3)");
    RECIPE_TRY(first_actions(k));
    for (int m = 0; m < 2; m++) {
        RECIPE_TRY(one_method(k, method[m], name[m]));
        RECIPE_TRY(smallest(k, method[m], name[m]));
    }
    return motions(k);
}

int recipe_e_figure_4(recipe_work *k)
{
    label(k, "Impulse method in transformed variables, double pendulum with gravity (figure 4)");
    RECIPE_TRY(one_method(k, "transformed", "by (22)"));
    return smallest(k, "transformed", "by (22)");
}
