/* paper_b.c - Lubich: observed orders, damping, expansion in eps^2, Newton's iterations. */
#include <math.h>
#include <string.h>

#include "reproduce/reproduce.h"

/* ---- B: errors at t = 1 for two steps give an order */

typedef struct end {
    double q[2], v[2], lambda;
} end;

static int pendulum(recipe_work *k, const char *method, double eps, int steps, end *e)
{
    recipe_case run;
    char set[40], options[120];
    snprintf(set, sizeof set, "eps=%g", eps);
    snprintf(options, sizeof options, "motion=slow raw=yes method=%s step=%.17g", method,
             1.0 / steps);
    int status = recipe_run(k, &run, "pendulum", set, options);
    if (status == 0)
        status = taut_solver_advance(run.solver, 1, &k->error);
    for (int i = 0; i < 2 && status == 0; i++) {
        e->q[i] = taut_solver_position(run.solver)[i];
        e->v[i] = taut_solver_velocity(run.solver)[i];
        e->lambda = taut_solver_multipliers(run.solver)[0];
    }
    recipe_close(&run);
    return status;
}

static double apart(const double *a, const double *b)
{
    return hypot(a[0] - b[0], a[1] - b[1]);
}

/* The steps are where the order shows: errors well above rounding, and for y' short enough. */
static int orders(recipe_work *k, const char *method, double eps, const end *exact, int steps_y,
                  int steps_v)
{
    end coarse, fine;
    RECIPE_TRY(pendulum(k, method, eps, steps_y, &coarse));
    RECIPE_TRY(pendulum(k, method, eps, 2 * steps_y, &fine));
    RECIPE_TRY(recipe_note(k, log2(apart(coarse.q, exact->q) / apart(fine.q, exact->q)),
                           "%s, eps %g, y", method, eps));
    RECIPE_TRY(pendulum(k, method, eps, steps_v, &coarse));
    RECIPE_TRY(pendulum(k, method, eps, 2 * steps_v, &fine));
    return recipe_note(k, log2(apart(coarse.v, exact->v) / apart(fine.v, exact->v)),
                       "%s, eps %g, y'", method, eps);
}

int recipe_b_orders(recipe_work *k)
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
        RECIPE_TRY(pendulum(k, "radau9", eps[e], 200, &exact));
        for (int m = 0; m < 3; m++)
            RECIPE_TRY(orders(k, rows[m].method, eps[e], &exact, rows[m].steps_y, rows[m].steps_v));
    }
    for (int m = 0; m < 3; m++)
        for (int part = 0; part < 2; part++) {
            RECIPE_TRY(
                recipe_curve(k, "%s, %s", rows[m].method, part ? "velocities" : "positions"));
            for (int steps = 5; steps <= 160; steps *= 2) {
                RECIPE_TRY(pendulum(k, rows[m].method, eps[2], steps, &now));
                RECIPE_TRY(recipe_point(k, 1.0 / steps,
                                        part ? apart(now.v, exact.v) : apart(now.q, exact.q)));
            }
        }
    return 0;
}

/* ---- theorems 3.1, 4.1 for all implicit methods: y, y', lambda of the method itself */

static int orders_of(recipe_work *k, const char *method, double eps, int steps, const end *exact)
{
    end x[2];
    for (int j = 0; j < 2; j++)
        RECIPE_TRY(pendulum(k, method, eps, steps << j, &x[j]));
    RECIPE_TRY(recipe_note(k, log2(apart(x[0].q, exact->q) / apart(x[1].q, exact->q)),
                           "%s, eps %g, y", method, eps));
    RECIPE_TRY(recipe_note(k, log2(apart(x[0].v, exact->v) / apart(x[1].v, exact->v)),
                           "%s, eps %g, y'", method, eps));
    return recipe_note(k,
                       log2(fabs(x[0].lambda - exact->lambda) / fabs(x[1].lambda - exact->lambda)),
                       "%s, eps %g, lambda", method, eps);
}

int recipe_b_methods(recipe_work *k)
{
    static const char *const methods[] = {"lobatto2", "lobatto4", "gauss2", "gauss4", "gauss6",
                                          "sdirk2",   "sdirk3",   "sdirk4", "trbdf2", "esdirk4"};
    enum { METHODS = sizeof methods / sizeof methods[0] };
    static const double eps[] = {0, 1e-8, 1e-6};
    end exact, now;
    k->labels[0] = "Rigid pendulum: lambda of implicit methods";
    k->labels[1] = "step";
    k->labels[2] = "error at t = 1";
    k->logarithmic = true;
    for (int e = 0; e < 3; e++) {
        RECIPE_TRY(pendulum(k, "radau9", eps[e], 200, &exact));
        for (int m = 0; m < METHODS; m++)
            RECIPE_TRY(orders_of(k, methods[m], eps[e], 40, &exact));
    }
    for (int m = 0; m < METHODS; m++) {
        RECIPE_TRY(recipe_curve(k, "%s", methods[m]));
        for (int steps = 5; steps <= 160; steps *= 2) {
            RECIPE_TRY(pendulum(k, methods[m], 0, steps, &now));
            RECIPE_TRY(recipe_point(k, 1.0 / steps, fabs(now.lambda - exact.lambda)));
        }
    }
    return 0;
}

/* ---- theorem 3.2: what a step leaves of an oscillation, |R(i h/eps)| */

static int spring(recipe_work *k, const char *method, double y, double *left)
{
    recipe_case run;
    char options[120];
    snprintf(options, sizeof options, "motion=full method=%s step=%.17g until=%.17g", method, y, y);
    int status = recipe_run(
        k, &run, "[coordinates]\nx\n[bonds]\ns = x compliance 1\n[start]\nx = 1\n", "", options);
    if (status == 0)
        status = taut_solver_advance(run.solver, y, &k->error);
    if (status == 0)
        *left = hypot(taut_solver_position(run.solver)[0], taut_solver_velocity(run.solver)[0]);
    recipe_close(&run);
    return status;
}

/* Off the slow manifold by 0.0025: the distance after n steps of 0.05 at eps = 1e-4. */
static int collapse(recipe_work *k, const char *method, int n, double *off)
{
    recipe_case run;
    char options[120];
    snprintf(options, sizeof options, "motion=full method=%s step=0.05", method);
    int status = recipe_run(k, &run, "pendulum", "eps=1e-4 start:y1=1.0025", options);
    if (status == 0)
        status = taut_solver_advance(run.solver, 0.05 * n, &k->error);
    if (status == 0)
        *off = fabs(
            hypot(taut_solver_position(run.solver)[0], taut_solver_position(run.solver)[1]) - 1);
    recipe_close(&run);
    return status;
}

int recipe_b_damping(recipe_work *k)
{
    static const char *const methods[] = {"radau3", "radau5", "lobatto4", "sdirk2", "gauss4"};
    double x;
    k->labels[0] = "What a step leaves of an oscillation";
    k->labels[1] = "h/eps";
    k->labels[2] = "|R(i h/eps)|";
    k->logarithmic = true;
    for (int m = 0; m < 5; m++) {
        RECIPE_TRY(recipe_curve(k, "%s", methods[m]));
        for (int j = 0; j <= 12; j++) {
            double y = pow(10, j / 4.0 - 1);
            RECIPE_TRY(spring(k, methods[m], y, &x));
            RECIPE_TRY(recipe_point(k, y, x));
            if (j % 4 == 0 && j > 0)
                RECIPE_TRY(recipe_note(k, x, "%s, h/eps = %g", methods[m], y));
        }
    }
    for (int m = 0; m < 2; m++)
        for (int n = 1; n <= 2; n++) {
            RECIPE_TRY(collapse(k, methods[m], n, &x));
            RECIPE_TRY(recipe_note(k, x, "%s, distance after %d steps", methods[m], n));
        }
    return 0;
}

/* ---- theorems 4.2, 6.1: y_h(eps) = y_h^0 + eps^2 y_h^1 + O(eps^4), y_h^1 of order q - 2 at least
 */

static int first_coefficient(recipe_work *k, const char *method, double eps, int steps, end *y1)
{
    end rigid, stiff;
    RECIPE_TRY(pendulum(k, method, 0, steps, &rigid));
    RECIPE_TRY(pendulum(k, method, eps, steps, &stiff));
    for (int i = 0; i < 2; i++) {
        y1->q[i] = (stiff.q[i] - rigid.q[i]) / (eps * eps);
        y1->v[i] = (stiff.v[i] - rigid.v[i]) / (eps * eps);
    }
    return 0;
}

int recipe_b_expansion(recipe_work *k)
{
    static const struct {
        const char *method;
        int steps;
    } rows[] = {{"radau3", 20}, {"radau5", 10}, {"radau7", 10}};
    end exact, x[2], other;
    k->labels[0] = "First coefficient of the expansion in eps^2";
    k->labels[1] = "step";
    k->labels[2] = "error at t = 1";
    k->logarithmic = true;
    RECIPE_TRY(first_coefficient(k, "radau9", 1e-3, 100, &exact));
    RECIPE_TRY(recipe_note(k, exact.q[0], "y^1, first component"));
    RECIPE_TRY(recipe_note(k, exact.q[1], "y^1, second component"));
    for (int m = 0; m < 3; m++) {
        const char *method = rows[m].method;
        for (int j = 0; j < 2; j++)
            RECIPE_TRY(first_coefficient(k, method, 1e-3, rows[m].steps << j, &x[j]));
        RECIPE_TRY(recipe_note(k, log2(apart(x[0].v, exact.v) / apart(x[1].v, exact.v)),
                               "%s, order of y'^1", method));
        /* the same from another eps: the remainder is O(eps^2) */
        RECIPE_TRY(first_coefficient(k, method, 2e-3, rows[m].steps, &other));
        RECIPE_TRY(recipe_note(k, apart(other.q, x[0].q) / 3e-6, "%s, remainder/eps^2", method));
        RECIPE_TRY(recipe_curve(k, "%s", method));
        for (int steps = 5; steps <= 40; steps *= 2) {
            RECIPE_TRY(first_coefficient(k, method, 1e-3, steps, &other));
            RECIPE_TRY(recipe_point(k, 1.0 / steps, apart(other.v, exact.v)));
        }
    }
    return 0;
}

/* ---- lemmas 8.1, 8.2: Newton's iterations of one step from a moving state */

/* Iterations; 0: it diverges. */
static int iterations(recipe_work *k, const char *form, double eps, double h, int *count)
{
    recipe_case run;
    taut_result result = {.size = sizeof result};
    char set[160], options[160];
    snprintf(set, sizeof set,
             "eps=%.17g start:y1=%.17g start:y2=%.17g start:y1'=%.17g start:y2'=%.17g", eps, sin(1),
             -cos(1), cos(1), sin(1));
    snprintf(options, sizeof options, "motion=slow method=radau5 newton=%s step=%.17g until=%.17g",
             form, h, h);
    *count = 0;
    RECIPE_TRY(recipe_run(k, &run, "pendulum", set, options));
    int status = taut_solver_result_get(run.solver, &result, &k->error);
    int64_t before =
        result.statistics.newton_iterations; /* of the slow point of the initial state */
    if (status == 0)
        status = taut_solver_advance(run.solver, h, &k->error);
    if (status == 0)
        status = taut_solver_result_get(run.solver, &result, &k->error);
    if (status == 0)
        *count = (int)(result.statistics.newton_iterations - before);
    recipe_close(&run);
    if (status != TAUT_ERROR_CONVERGE && status != TAUT_ERROR_STEP)
        return status;
    k->error = (taut_error){0};
    return 0;
}

/* The longest step with which it converges, by bisection. */
static int longest(recipe_work *k, const char *form, double eps, double *h)
{
    double low = 1e-5, high = 1;
    for (int j = 0; j < 24; j++) {
        int count;
        *h = sqrt(low * high);
        RECIPE_TRY(iterations(k, form, eps, *h, &count));
        *(count > 0 ? &low : &high) = *h;
    }
    return 0;
}

int recipe_b_newton(recipe_work *k)
{
    static const double step[] = {0.3, 0.1, 0.03, 0.01, 0.003}, eps[] = {0, 1e-6, 1e-5, 1e-4};
    static const char *const form[] = {"J0", "J1"};
    int count, rigid[5];
    k->labels[0] = "Longest steps of modified Newton iterations";
    k->labels[1] = "eps";
    k->labels[2] = "h";
    k->logarithmic = true;
    for (int e = 0; e < 4; e++)
        for (int j = 0; j < 5; j++) {
            RECIPE_TRY(iterations(k, "tensor", eps[e], step[j], &count));
            if (e == 0)
                RECIPE_TRY(recipe_note(k, rigid[j] = count, "(8.8), rigid, h = %g", step[j]));
            else
                RECIPE_TRY(recipe_note(k, count - rigid[j],
                                       "(8.8), eps = %g, h = %g, more than rigid", eps[e],
                                       step[j]));
        }
    for (int j = 0; j < 3; j++)
        for (int f = 0; f < 3; f++) {
            static const char *const all[] = {"J0", "J1", "J2"};
            RECIPE_TRY(iterations(k, all[f], 1e-4, step[j], &count));
            RECIPE_TRY(recipe_note(k, count > 0, "(8.%d) converges, eps = 0.0001, h = %g", f + 1,
                                   step[j]));
        }
    for (int f = 0; f < 2; f++) {
        double h[3];
        RECIPE_TRY(recipe_curve(k, "%s", form[f]));
        for (int e = 0; e < 3; e++) {
            RECIPE_TRY(longest(k, form[f], pow(10, -4 - e), &h[e]));
            RECIPE_TRY(recipe_point(k, pow(10, -4 - e), h[e]));
        }
        RECIPE_TRY(recipe_note(k, log10(h[0] / h[2]) / 2, "%s, exponent of eps", form[f]));
    }
    return 0;
}
