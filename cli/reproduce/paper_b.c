/* paper_b.c - Lubich: observed orders, damping, expansion in eps^2, iterations of a step. */
#include <math.h>
#include <string.h>

#include "reproduce/reproduce.h"

/* ---- B: errors at t = 1 for two steps give an order */

typedef struct end {
    double q[2], v[2], lambda;
} end;

static int pendulum(recipe_work *k, const char *model, const char *method, double eps, int steps,
                    end *e)
{
    recipe_case run;
    char set[40], options[120];
    snprintf(set, sizeof set, "eps=%g", eps);
    snprintf(options, sizeof options, "motion=slow raw=yes until=1 method=%s step=%.17g", method,
             1.0 / steps);
    int status = recipe_run(k, &run, model, set, options);
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

/* Observed orders of y, y', lambda, each with steps where it shows: errors well above rounding,
 * steps short enough. No steps: not measured. */
typedef struct order_row {
    const char *method;
    int steps[3];
} order_row;

static double error_in(int part, const end *x, const end *exact)
{
    return part == 0   ? apart(x->q, exact->q)
           : part == 1 ? apart(x->v, exact->v)
                       : fabs(x->lambda - exact->lambda);
}

static int orders(recipe_work *k, const char *model, const order_row *row, double eps,
                  const end *exact)
{
    static const char *const name[] = {"y", "y'", "lambda"};
    end coarse, fine;
    for (int part = 0; part < 3; part++) {
        if (row->steps[part] == 0)
            continue;
        RECIPE_TRY(pendulum(k, model, row->method, eps, row->steps[part], &coarse));
        RECIPE_TRY(pendulum(k, model, row->method, eps, 2 * row->steps[part], &fine));
        RECIPE_TRY(recipe_note(k,
                               log2(error_in(part, &coarse, exact) / error_in(part, &fine, exact)),
                               "%s, eps %g, %s", row->method, eps, name[part]));
    }
    return 0;
}

/* All rows for all eps; curves of one part of the error for the last eps. */
static int order_table(recipe_work *k, const char *model, int rows, const order_row *row, int sizes,
                       const double *eps, int part)
{
    end exact, now;
    k->labels[1] = "step";
    k->labels[2] = "error at t = 1";
    k->logarithmic = true;
    for (int e = 0; e < sizes; e++) {
        RECIPE_TRY(pendulum(k, model, "radau9", eps[e], 200, &exact));
        for (int m = 0; m < rows; m++)
            RECIPE_TRY(orders(k, model, &row[m], eps[e], &exact));
    }
    for (int m = 0; m < rows; m++) {
        RECIPE_TRY(recipe_curve(k, "%s", row[m].method));
        for (int steps = 5; steps <= 160; steps *= 2) {
            RECIPE_TRY(pendulum(k, model, row[m].method, eps[sizes - 1], steps, &now));
            RECIPE_TRY(recipe_point(k, 1.0 / steps, error_in(part, &now, &exact)));
        }
    }
    return 0;
}

#define ROWS(row) (int)(sizeof row / sizeof row[0]), row

/* ---- theorems 3.1, 4.1 for Radau IIA, and for other methods: y, y', lambda of the method itself
 */

static const double sizes[] = {0, 1e-8, 1e-6, 1e-4};

int recipe_b_orders(recipe_work *k)
{
    static const order_row rows[] = {{"radau1", {80, 80, 0}},
                                     {"radau3", {80, 80, 80}},
                                     {"radau5", {20, 160, 80}},
                                     {"radau7", {5, 40, 40}}};
    k->labels[0] = "Radau IIA, stiff pendulum, eps = 1e-4: positions";
    return order_table(k, "pendulum", ROWS(rows), ROWS(sizes), 0);
}

int recipe_b_methods(recipe_work *k)
{
    static const order_row rows[] = {
        {"lobatto2", {40, 40, 40}}, {"lobatto4", {20, 40, 40}}, {"lobatto6", {10, 80, 40}},
        {"gauss2", {40, 40, 40}},   {"gauss4", {40, 40, 40}},   {"gauss6", {40, 40, 40}},
        {"sdirk2", {40, 40, 40}},   {"sdirk3", {40, 40, 40}},   {"sdirk4", {40, 40, 40}},
        {"trbdf2", {40, 40, 40}},   {"esdirk4", {40, 40, 40}}};
    k->labels[0] = "Stiff pendulum, eps = 1e-4: lambda of implicit methods";
    return order_table(k, "pendulum", ROWS(rows), ROWS(sizes), 2);
}

/* ---- strongly damped bonds: C lambda = g + T gdot with C -> 0 is of index 2 */

const char recipe_b_damped_model[] =
    "[parameters]\neps = 1e-4\n[coordinates]\ny1, y2\n[potential]\ny2\n[bonds]\nspring = "
    "sqrt(y1^2 + y2^2) - 1 compliance eps^2 damping 0.1/eps^2\n[start]\ny1 = 1\n";

int recipe_b_damped(recipe_work *k)
{
    static const order_row rows[] = {{"radau1", {40, 40, 40}},
                                     {"radau3", {40, 40, 40}},
                                     {"radau5", {20, 20, 40}},
                                     {"lobatto4", {20, 20, 40}}};
    k->labels[0] = "Strongly damped pendulum, eps = 1e-4: positions";
    return order_table(k, recipe_b_damped_model, ROWS(rows), 3, sizes + 1, 0);
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

/* ---- theorems 4.2, 6.1: y_n(eps) = y_n^0 + eps^2 y_n^1 + eps^4 y_n^2 + ...
 *
 * The coefficients solve (2.25.0-2), of index 7, which is a mechanical system: with polynomials in
 * D = eps^2, y = y^0 + D y^1 + D^2 y^2, the D^2 part of the Lagrangian |y'|^2/2 - U(y) - lambda g
 * + D lambda^2/2 is y^0' y^2' + |y^1'|^2/2 - U_2 - lambda^2 g_0 - g_1 g_2, where lambda^0 = g_1 and
 * lambda^1 = g_2 are eliminated and g_j is the coefficient of D^j of g(y). Coordinates are y^0, c
 * y^1, c^2 y^2, so that Newton's iteration ends at the rounding of y^0. g_0 = 0 is so stiff that
 * its compliance is below rounding: rigid bonds are expected to have a regular G M^-1 G^T, but
 * here it is 0. */

static const char *const expansion =
    "[parameters]\nc = 1e-4\n[coordinates]\nx, y, x1, y1, x2, y2\n"
    "[mass]\nx = 0, y = 0, x2 = 0, y2 = 0, M[x, x2] = 1, M[y, y2] = 1\n"
    "[definitions]\nr = sqrt(x^2 + y^2)\ng1 = (x*x1 + y*y1)/r\n"
    "g2 = (x*x2 + y*y2)/r + (x1^2 + y1^2 - g1^2)/(2*r)\n"
    "[potential]\ny2 + g1*g2/c\n[bonds]\ng0 = r - 1 compliance 1e-25\n"
    "[start]\nx = 1, x2 = -3*c^2\n";

enum { TERMS = 3 };

static int coefficients(recipe_work *k, const char *method, int steps, end y[TERMS])
{
    static const double c = 1e-4;
    recipe_case run;
    char options[120];
    snprintf(options, sizeof options, "motion=full raw=yes method=%s step=%.17g until=1", method,
             1.0 / steps);
    int status = recipe_run(k, &run, expansion, "", options);
    if (status == 0)
        status = taut_solver_advance(run.solver, 1, &k->error);
    for (int j = 0; j < 2 * TERMS && status == 0; j++) {
        y[j / 2].q[j % 2] = taut_solver_position(run.solver)[j] / pow(c, j / 2);
        y[j / 2].v[j % 2] = taut_solver_velocity(run.solver)[j] / pow(c, j / 2);
    }
    recipe_close(&run);
    return status;
}

/* The order of y'^j from three steps; that of y^j too. */
static int orders_of_coefficient(recipe_work *k, const char *method, int j, int steps)
{
    end y[3][TERMS];
    for (int i = 0; i < 3; i++)
        RECIPE_TRY(coefficients(k, method, steps << i, y[i]));
    RECIPE_TRY(recipe_note(k, log2(apart(y[0][j].q, y[1][j].q) / apart(y[1][j].q, y[2][j].q)),
                           "%s, order of y^%d", method, j));
    return recipe_note(k, log2(apart(y[0][j].v, y[1][j].v) / apart(y[1][j].v, y[2][j].v)),
                       "%s, order of y'^%d", method, j);
}

/* What is left of (y_n, y_n') after the terms below `terms`. */
static int remainder_of(recipe_work *k, const char *method, double eps, int steps, int terms,
                        double *left)
{
    end y[TERMS], x;
    RECIPE_TRY(coefficients(k, method, steps, y));
    RECIPE_TRY(pendulum(k, "pendulum", method, eps, steps, &x));
    for (int j = 0; j < terms; j++)
        for (int i = 0; i < 2; i++) {
            x.q[i] -= pow(eps, 2 * j) * y[j].q[i];
            x.v[i] -= pow(eps, 2 * j) * y[j].v[i];
        }
    *left = hypot(x.q[0], x.q[1]) + hypot(x.v[0], x.v[1]);
    return 0;
}

int recipe_b_expansion(recipe_work *k)
{
    static const struct {
        const char *method;
        int stage_order, steps;                                           /* for y^1 */
    } rows[] = {{"radau5", 3, 20}, {"radau7", 4, 40}, {"radau9", 5, 16}}; /* more steps: rounding */
    end y[TERMS];
    double r[2];
    k->labels[0] = "Remainder of the expansion in eps^2, h = 0.1";
    k->labels[1] = "eps";
    k->labels[2] = "remainder at t = 1";
    k->logarithmic = true;
    RECIPE_TRY(coefficients(k, "radau9", 40, y));
    RECIPE_TRY(recipe_note(k, y[1].q[0], "y^1, first component"));
    RECIPE_TRY(recipe_note(k, y[1].q[1], "y^1, second component"));
    RECIPE_TRY(recipe_note(k, y[1].v[0], "y'^1, first component"));
    RECIPE_TRY(recipe_note(k, y[1].v[1], "y'^1, second component"));
    RECIPE_TRY(recipe_note(k, y[2].q[0], "y^2, first component"));
    RECIPE_TRY(recipe_note(k, y[2].q[1], "y^2, second component"));
    for (int m = 0; m < 3; m++)
        RECIPE_TRY(orders_of_coefficient(k, rows[m].method, 1, rows[m].steps));
    RECIPE_TRY(orders_of_coefficient(k, "radau9", 2, 10));
    for (int m = 0; m < 3; m++) {
        const char *method = rows[m].method;
        for (int terms = 1; terms <= TERMS; terms++) {
            for (int j = 0; j < 2; j++)
                RECIPE_TRY(remainder_of(k, method, j ? .001 : .002, 10, terms, &r[j]));
            RECIPE_TRY(recipe_note(k, log2(r[0] / r[1]), "%s, %d terms, order of remainder in eps",
                                   method, terms));
            RECIPE_TRY(recipe_curve(k, "%s, %d terms", method, terms));
            for (double eps = .016; eps > 9e-4; eps /= 2) {
                RECIPE_TRY(remainder_of(k, method, eps, 10, terms, &r[0]));
                RECIPE_TRY(recipe_point(k, eps, r[0]));
            }
        }
        /* (6.2), eps = h/4 and [q/2] + 1 terms: what is divided by the bound does not grow */
        int q = rows[m].stage_order, half = q / 2;
        for (int j = 0; j < 2; j++) {
            double h = .05 / (j + 1), eps = h / 4;
            RECIPE_TRY(remainder_of(k, method, eps, 20 << j, half + 1, &r[j]));
            r[j] /= pow(eps, 2 * half) * (q % 2 ? h : 1);
        }
        RECIPE_TRY(recipe_note(k, r[1] / r[0], "%s, remainder over its bound, h/2 to h", method));
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

/* ---- lemma 8.2: the outer iteration of a general stiff potential, in one step */

const char recipe_b_ellipse_model[] =
    "[parameters]\neps = 1e-3\n[coordinates]\nx, y\n[definitions]\ng = (x^2 + 2*y^2 - 1)/2\n"
    "[potential]\ny\n[stiff potential]\ng^2/2*(1 + x/2) + g^3/3 scale 1/eps^2\n"
    "[start]\nx = sin(1), y = -cos(1)/sqrt(2), x' = cos(1), y' = sin(1)/sqrt(2)\n";

/* h sum_i b_i Y''_i of the first step, solved by this form of Newton's iteration. */
static int velocity_after(recipe_work *k, const char *method, const char *form, double eps,
                          double h, double v[2])
{
    recipe_case run;
    char set[40], options[160];
    snprintf(set, sizeof set, "eps=%.17g", eps);
    snprintf(options, sizeof options, "motion=slow method=%s newton=%s step=%.17g until=%.17g",
             method, form, h, h);
    int status = recipe_run(k, &run, recipe_b_ellipse_model, set, options);
    if (status == 0)
        status = taut_solver_advance(run.solver, h, &k->error);
    for (int i = 0; i < 2 && status == 0; i++)
        v[i] = taut_solver_velocity(run.solver)[i];
    recipe_close(&run);
    return status;
}

/* The error in Y'', weighted with b, after r was corrected `outer` times. */
static int outer_error(recipe_work *k, const char *method, int outer, double eps, double h,
                       double *error)
{
    char form[8];
    double v[2], exact[2];
    snprintf(form, sizeof form, "r%d", outer);
    RECIPE_TRY(velocity_after(k, method, form, eps, h, v));
    RECIPE_TRY(velocity_after(k, method, "auto", eps, h, exact));
    *error = apart(v, exact) / h;
    return 0;
}

int recipe_b_outer(recipe_work *k)
{
    static const char *const methods[] = {"radau3", "radau5", "radau7"};
    double e[2];
    k->labels[0] = "Errors of the outer iteration, radau5, eps = h/2";
    k->labels[1] = "h";
    k->labels[2] = "error in Y''";
    k->logarithmic = true;
    for (int m = 0; m < 3; m++)
        for (int outer = 0; outer <= 2; outer++) {
            for (int j = 0; j < 2; j++)
                RECIPE_TRY(outer_error(k, methods[m], outer, .1 / (1 << j), .2 / (1 << j), &e[j]));
            RECIPE_TRY(recipe_note(k, log2(e[0] / e[1]), "%s, k = %d, order in h, eps = h/2",
                                   methods[m], outer));
            for (int j = 0; j < 2; j++)
                RECIPE_TRY(outer_error(k, methods[m], outer, .04 / (1 << j), .2, &e[j]));
            RECIPE_TRY(recipe_note(k, log2(e[0] / e[1]), "%s, k = %d, order in eps, h = 0.2",
                                   methods[m], outer));
        }
    for (int outer = 0; outer <= 2; outer++) {
        RECIPE_TRY(recipe_curve(k, "k = %d", outer));
        for (double h = .2; h > .04; h /= sqrt(2)) {
            RECIPE_TRY(outer_error(k, "radau5", outer, h / 2, h, &e[0]));
            RECIPE_TRY(recipe_point(k, h, e[0]));
        }
    }
    return 0;
}
