/* paper_e.c - E, figures 2 and 3: mollified and projected impulse against the effective motion.
 *
 * The theorem is about x_n and P(x_n) y_n [E (16)]. Solvers show alpha(x_n) and P(alpha(x_n))
 * y_n, on the constraints, where positions are closer by one power of eps. So the methods are
 * written down here a second time, in the words of the paper, to measure what it measures; that
 * they are the methods of the solver is a number of its own, the largest distance between what
 * the solver shows and what it would have to show of x_n and y_n, at every step. As h -> 0 the
 * errors do not vanish: what is left is the distance of the full motion, with gravity and
 * springs together, from the effective one, a number of its own too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/reproduce.h"

enum { N = 4, M = 2 }; /* coordinates and springs of the double pendulum, masses 1 */

typedef struct shaker {
    recipe_work *k;
    taut_context *context;
    taut_pattern pattern, tangent;
    double compliance;
    bool mollified;
    double x[N], y[N], kick[N];
    double g[M], G[M][N]; /* at the latest point */
} shaker;

static int look(shaker *s, const double *x)
{
    double entry[M * N] = {0}, rate[M];
    taut_values values = {.size = sizeof values, .bond = s->g, .jacobian = entry, .bond_dt = rate};
    RECIPE_TRY(taut_evaluate(s->context, 0, x, NULL, TAUT_WANT_BOND | TAUT_WANT_JACOBIAN, &values,
                             &s->k->error));
    memset(s->G, 0, sizeof s->G);
    for (int i = 0; i < M; i++)
        for (taut_index e = s->pattern.start[i]; e < s->pattern.start[i + 1]; e++)
            s->G[i][s->pattern.column[e]] += entry[e];
    return 0;
}

/* z[2] <- (A B^T)^-1 z */
static void solve(double A[M][N], double B[M][N], double z[M])
{
    double a[M][M] = {{0}};
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++)
            for (int c = 0; c < N; c++)
                a[i][j] += A[i][c] * B[j][c];
    double det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
    double first = (a[1][1] * z[0] - a[0][1] * z[1]) / det;
    z[1] = (a[0][0] * z[1] - a[1][0] * z[0]) / det;
    z[0] = first;
}

/* r <- r - B^T (A B^T)^-1 A r */
static void take_out(double A[M][N], double B[M][N], double r[N])
{
    double z[M] = {0};
    for (int i = 0; i < M; i++)
        for (int c = 0; c < N; c++)
            z[i] += A[i][c] * r[c];
    solve(A, B, z);
    for (int i = 0; i < M; i++)
        for (int c = 0; c < N; c++)
            r[c] -= B[i][c] * z[i];
}

/* alpha(x) = X = x + G(x)^T lambda, g(X) = 0 [E (15)], by Newton's method; G(x) goes to `here`,
 * G(X) stays in s->G. */
static int project(shaker *s, const double *x, double here[M][N], double lambda[M], double X[N])
{
    RECIPE_TRY(look(s, x));
    memcpy(here, s->G, sizeof s->G);
    memcpy(X, x, N * sizeof *X);
    memset(lambda, 0, M * sizeof *lambda);
    for (int pass = 0; pass < 12; pass++) {
        double z[M] = {s->g[0], s->g[1]};
        solve(s->G, here, z);
        for (int i = 0; i < M; i++)
            lambda[i] -= z[i];
        for (int c = 0; c < N; c++)
            X[c] = x[c] + here[0][c] * lambda[0] + here[1][c] * lambda[1];
        RECIPE_TRY(look(s, X));
    }
    return 0;
}

static int force(shaker *s, const double *x, double *f)
{
    static const double still[N] = {0};
    taut_values values = {.size = sizeof values, .force = f};
    return taut_evaluate(s->context, 0, x, still, TAUT_WANT_FORCE, &values, &s->k->error);
}

/* r <- (I + sum lambda_i Hess g_i(x)) r */
static int bend(shaker *s, const double *x, double *lambda, double r[N])
{
    double entry[N * N], more[N] = {0};
    taut_values values = {.size = sizeof values, .bond_weight = lambda, .bond_hessian = entry};
    RECIPE_TRY(
        taut_evaluate(s->context, 0, x, NULL, TAUT_WANT_BOND_HESSIAN, &values, &s->k->error));
    for (int i = 0; i < N; i++)
        for (taut_index e = s->tangent.start[i]; e < s->tangent.start[i + 1]; e++)
            more[i] += entry[e] * r[s->tangent.column[e]];
    for (int i = 0; i < N; i++)
        r[i] += more[i];
    return 0;
}

/* -P(x) grad U(x), or -alpha'(x)^T grad U(alpha(x)), alpha'(x)^T = (I + sum lambda_i Hess
 * g_i(x)) [I - G(X)^T (G(x) G(X)^T)^-1 G(x)]: (15) differentiated. */
static int find_kick(shaker *s)
{
    double here[M][N], lambda[M], X[N];
    if (!s->mollified) {
        RECIPE_TRY(force(s, s->x, s->kick));
        RECIPE_TRY(look(s, s->x));
        take_out(s->G, s->G, s->kick);
        return 0;
    }
    RECIPE_TRY(project(s, s->x, here, lambda, X));
    RECIPE_TRY(force(s, X, s->kick));
    take_out(here, s->G, s->kick);
    return bend(s, s->x, lambda, s->kick);
}

static int pull(shaker *s, double *a)
{
    RECIPE_TRY(look(s, s->x));
    for (int c = 0; c < N; c++)
        a[c] = -(s->G[0][c] * s->g[0] + s->G[1][c] * s->g[1]) / s->compliance;
    return 0;
}

/* Kick, oscillate by Verlet, kick [E 2.1]. */
static int shake(shaker *s, double h, double inner)
{
    double a[N];
    int steps = (int)ceil(h / inner * (1 - 1e-12));
    double tau = h / steps;
    for (int c = 0; c < N; c++)
        s->y[c] += h / 2 * s->kick[c];
    RECIPE_TRY(pull(s, a));
    for (int n = 0; n < steps; n++) {
        for (int c = 0; c < N; c++) {
            s->y[c] += tau / 2 * a[c];
            s->x[c] += tau * s->y[c];
        }
        RECIPE_TRY(pull(s, a));
        for (int c = 0; c < N; c++)
            s->y[c] += tau / 2 * a[c];
    }
    RECIPE_TRY(find_kick(s));
    for (int c = 0; c < N; c++)
        s->y[c] += h / 2 * s->kick[c];
    return 0;
}

/* ---- errors */

typedef struct errors {
    double x, y;  /* of x_n and P(x_n) y_n */
    double shown; /* of alpha(x_n), as the solver shows it */
    double apart; /* of what is shown here and there, alpha(x_n) and P(alpha(x_n)) y_n */
} errors;

static double distance(const double *a, const double *b)
{
    double most = 0;
    for (int c = 0; c < N; c++)
        most = fmax(most, fabs(a[c] - b[c]));
    return most;
}

static int begin(shaker *s, const recipe_case *run, double eps, bool mollified)
{
    s->compliance = eps * eps;
    s->mollified = mollified;
    RECIPE_TRY(taut_context_create(run->system, NULL, &s->context, &s->k->error));
    RECIPE_TRY(
        taut_system_pattern_get(run->system, TAUT_PATTERN_JACOBIAN, &s->pattern, &s->k->error));
    RECIPE_TRY(
        taut_system_pattern_get(run->system, TAUT_PATTERN_TANGENT, &s->tangent, &s->k->error));
    RECIPE_TRY(taut_context_start(s->context, 0, s->x, s->y, &s->k->error));
    return find_kick(s);
}

static int compare(shaker *s, const recipe_case *fast, const recipe_case *effective, errors *e)
{
    double here[M][N], lambda[M], X[N], along[N];
    const double *shown = taut_solver_position(fast->solver),
                 *X_eff = taut_solver_position(effective->solver);
    RECIPE_TRY(project(s, s->x, here, lambda, X));
    memcpy(along, s->y, sizeof along);
    take_out(here, here, along);
    e->x = fmax(e->x, distance(s->x, X_eff));
    e->y = fmax(e->y, distance(along, taut_solver_velocity(effective->solver)));
    e->shown = fmax(e->shown, distance(shown, X_eff));
    memcpy(along, s->y, sizeof along);
    take_out(s->G, s->G, along); /* G(X) */
    e->apart = fmax(e->apart,
                    fmax(distance(shown, X), distance(taut_solver_velocity(fast->solver), along)));
    return 0;
}

static int pendulum_pair(recipe_work *k, bool mollified, double eps, double h, errors *e)
{
    recipe_case fast, effective;
    shaker s = {.k = k};
    char set[40], options[160];
    snprintf(set, sizeof set, "eps=%g", eps);
    snprintf(options, sizeof options,
             "motion=effective method=%s step=%.17g inner-step=%.17g until=2",
             mollified ? "mollified-impulse" : "projected-impulse", h, eps / 100);
    *e = (errors){0};
    int status = recipe_run(k, &effective, "double_pendulum_gravity", set,
                            "motion=effective method=effective rtol=1e-11 atol=1e-13");
    int other = recipe_run(k, &fast, "double_pendulum_gravity", set, options);
    status = status != 0 ? status : other;
    if (status == 0)
        status = begin(&s, &fast, eps, mollified);
    for (int n = 1; n <= (int)lround(2 / h) && status == 0; n++) {
        status = taut_solver_advance(fast.solver, n * h, &k->error);
        if (status == 0)
            status = taut_solver_advance(effective.solver, n * h, &k->error);
        if (status == 0)
            status = shake(&s, h, eps / 100);
        if (status == 0)
            status = compare(&s, &fast, &effective, e);
    }
    taut_context_destroy(s.context);
    recipe_close(&fast);
    recipe_close(&effective);
    return status;
}

/* The full motion compared with the effective one, at the times of the shortest step. */
static int motion_itself(recipe_work *k, const char *eps, double h)
{
    recipe_case full, effective;
    shaker s = {.k = k};
    char set[40];
    double x = 0, y = 0, along[N];
    snprintf(set, sizeof set, "eps=%s", eps);
    int status = recipe_run(k, &effective, "double_pendulum_gravity", set,
                            "motion=effective method=effective rtol=1e-11 atol=1e-13");
    int other = recipe_run(k, &full, "double_pendulum_gravity", set,
                           "motion=full method=dop8 rtol=1e-11 atol=1e-13");
    status = status != 0 ? status : other;
    if (status == 0)
        status = begin(&s, &full, strtod(eps, NULL), false);
    for (int n = 1; n <= (int)lround(2 / h) && status == 0; n++) {
        status = taut_solver_advance(full.solver, n * h, &k->error);
        if (status == 0)
            status = taut_solver_advance(effective.solver, n * h, &k->error);
        if (status == 0)
            status = look(&s, taut_solver_position(full.solver));
        if (status != 0)
            break;
        memcpy(along, taut_solver_velocity(full.solver), sizeof along);
        take_out(s.G, s.G, along);
        x = fmax(
            x, distance(taut_solver_position(full.solver), taut_solver_position(effective.solver)));
        y = fmax(y, distance(along, taut_solver_velocity(effective.solver)));
    }
    if (status == 0)
        status = recipe_note(k, x, "full motion, eps = %s, x", eps);
    if (status == 0)
        status = recipe_note(k, y, "full motion, eps = %s, P y", eps);
    taut_context_destroy(s.context);
    recipe_close(&full);
    recipe_close(&effective);
    return status;
}

/* The paper's actions are I = J/eps. */
static int actions(recipe_work *k)
{
    recipe_case run;
    taut_context *context = NULL;
    taut_mode mode[2];
    taut_modes_report report = {.size = sizeof report};
    double q[N], v[N];
    int status = recipe_open(k, &run, "double_pendulum_gravity", "eps=1e-3", "");
    if (status == 0)
        status = taut_context_create(run.system, NULL, &context, &k->error);
    if (status == 0)
        status = taut_context_start(context, 0, q, v, &k->error);
    if (status == 0)
        status = taut_modes(context, 0, q, v, 2, mode, &report, &k->error);
    for (int i = 0; i < 2 && status == 0; i++)
        status = recipe_note(k, mode[i].action / 1e-3, "eps = 1e-3, action %d", i + 1);
    taut_context_destroy(context);
    recipe_close(&run);
    return status;
}

enum { STEPS = 5 };
static const double steps[STEPS] = {.5, .25, .125, .0625, .03125};

static int one_curve(recipe_work *k, bool mollified, const char *eps, double value)
{
    const char *name = mollified ? "mollified" : "projected";
    errors e[STEPS];
    double apart = 0;
    for (int i = 0; i < STEPS; i++) {
        RECIPE_TRY(pendulum_pair(k, mollified, value, steps[i], &e[i]));
        RECIPE_TRY(recipe_note(k, e[i].x, "%s, eps = %s, h = %g, x", name, eps, steps[i]));
        RECIPE_TRY(recipe_note(k, e[i].y, "%s, eps = %s, h = %g, P y", name, eps, steps[i]));
        RECIPE_TRY(
            recipe_note(k, e[i].shown, "%s, eps = %s, h = %g, alpha(x)", name, eps, steps[i]));
        apart = fmax(apart, e[i].apart);
    }
    RECIPE_TRY(recipe_note(k, apart, "%s, eps = %s, solver against recipe", name, eps));
    for (int part = 0; part < 2; part++) {
        RECIPE_TRY(recipe_curve(k, "%s, eps = %s, %s", name, eps, part ? "P y" : "x"));
        for (int i = 0; i < STEPS; i++)
            RECIPE_TRY(recipe_point(k, steps[i], part ? e[i].y : e[i].x));
    }
    return 0;
}

int recipe_e_figure_3(recipe_work *k)
{
    k->labels[0] = "Impulse methods, double pendulum with gravity (figures 2 and 3)";
    k->labels[1] = "step";
    k->labels[2] = "largest error";
    k->logarithmic = true;
    RECIPE_TRY(actions(k));
    for (int mollified = 0; mollified < 2; mollified++) {
        RECIPE_TRY(one_curve(k, mollified, "1e-2", 1e-2));
        RECIPE_TRY(one_curve(k, mollified, "1e-3", 1e-3));
    }
    RECIPE_TRY(motion_itself(k, "1e-2", steps[STEPS - 1]));
    RECIPE_TRY(motion_itself(k, "1e-3", steps[STEPS - 1]));
    return 0;
}
