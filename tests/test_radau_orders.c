/* test_radau_orders.c - Radau IIA with a fixed step size: observed orders for every stiffness,
 * damping of oscillations. */
#include <complex.h>

#include "support/radau.h"

/* ---- observed orders [B (1.1), Theorems 3.1 and 4.1; docs/sources.md, B] */

typedef struct errors {
    double position, velocity, tension;
} errors;

static errors pendulum_errors(const char *method, const char *newton, double eps, int steps)
{
    char model[400], options[200];
    double q[KEPT_WIDTH], v[KEPT_WIDTH], lambda[KEPT_WIDTH] = {NAN}, end[4];
    /* the solution depends on eps^2, the reference at 1e-4 gives the slope */
    for (int i = 0; i < 4; i++)
        end[i] = rigid_end[i] + eps * eps / 1e-8 * (stiff_end[i] - rigid_end[i]);
    snprintf(model, sizeof model, pendulum, eps);
    snprintf(options, sizeof options, "motion=slow raw=yes method=%s newton=%s step=%.17g", method,
             newton, 1.0 / steps);
    run(options, model, options, 1, q, v, lambda);
    return (errors){hypot(q[0] - end[0], q[1] - end[1]), hypot(v[0] - end[2], v[1] - end[3]),
                    fabs(lambda[0] - rigid_tension)};
}

/* Every halving of the step shows the order. Steps are long against eps; where the part eps^2
 * h^(q-2) of Theorem 3.1 is no longer small compared with the error, or rounding is, the row has
 * one halving or none. */
static void test_orders(void)
{
    static const double eps[] = {0, 1e-6, 1e-4}, within = 0.3;
    static const struct {
        const char *method;
        int steps[3]; /* the longest step for y, y' and lambda: 1/steps */
        /* their orders; docs/sources.md, B for radau1 to radau5, B Theorem 4.1 for the others */
        double expected[3];
        double bound[3]; /* of the error at the longest step */
        int halvings[2]; /* of y: for eps < 1e-4, and for 1e-4 */
    } rows[] = {
        {"radau1", {80, 80, 0}, {1, 1, 0}, {6e-3, 6e-3, 0}, {2, 2}},
        {"radau3", {80, 80, 80}, {3, 2, 1}, {2e-9, 5e-5, 3e-2}, {2, 1}},
        {"radau5", {10, 80, 80}, {5, 3, 2}, {1e-7, 1e-8, 1e-5}, {2, 2}},
        {"radau7", {5, 20, 20}, {7, 4, 3}, {1e-7, 2e-7, 1e-4}, {1, 1}},
        {"radau9", {4, 8, 4}, {9, 5, 4}, {1e-9, 1e-6, 1e-3}, {1, 0}},
    };
    check_group("radau, orders");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        for (int e = 0; e < 3; e++)
            for (int form = 0; form < 2; form++)
                for (int part = 0; part < 3; part++) {
                    int halvings = rows[k].steps[part] == 0 ? -1
                                   : part > 0               ? 2
                                                            : rows[k].halvings[e == 2];
                    double before = NAN;
                    for (int j = 0; j <= halvings; j++) {
                        errors x = pendulum_errors(rows[k].method, form ? "tensor" : "stage",
                                                   eps[e], rows[k].steps[part] << j);
                        double error = part == 0   ? x.position
                                       : part == 1 ? x.velocity
                                                   : x.tension,
                               slope = log2(before / error);
                        check_row(j == 0 ? error < rows[k].bound[part]
                                         : fabs(slope - rows[k].expected[part]) < within,
                                  "%s, %s, eps = %g, part %d: error %.3g, order %.3f, expected %g",
                                  rows[k].method, form ? "tensor" : "stage", eps[e], part, error,
                                  slope, rows[k].expected[part]);
                        before = error;
                    }
                }
}

/* Errors of the numerical solution, y and y', at eps = 1e-4 less those of the rigid pendulum. */
static double stiff_minus_rigid(int s, int steps)
{
    double x[2][4], off = 0;
    for (int stiff = 0; stiff < 2; stiff++) {
        char model[400], options[200];
        double q[KEPT_WIDTH], v[KEPT_WIDTH];
        snprintf(model, sizeof model, pendulum, stiff ? 1e-4 : 0);
        snprintf(options, sizeof options, "motion=slow raw=yes method=radau%d step=%.17g",
                 2 * s - 1, 1.0 / steps);
        run(options, model, options, 1, q, v, NULL);
        for (int i = 0; i < 4; i++)
            x[stiff][i] = (i < 2 ? q[i] : v[i - 2]) - (stiff ? stiff_end : rigid_end)[i];
    }
    for (int i = 0; i < 4; i++)
        off += fabs(x[1][i] - x[0][i]);
    return off;
}

/* It is bounded by eps^2 h^(q-2), q = s [B Theorem 3.1]: it falls at least like this power, and
 * has the factor eps^2 = 1e-8. */
static void test_stiff_minus_rigid(void)
{
    check_group("radau, stiff minus rigid");
    for (int s = 2; s <= 4; s++) {
        double before = NAN;
        for (int steps = 10; steps <= 80; steps *= 2) {
            double here = stiff_minus_rigid(s, steps), slope = log2(before / here);
            check_row(steps == 10 ? here < 100 * 1e-8 : slope > s - 2 - 0.3 || here < 1e-14,
                      "radau%d, h = 1/%d: errors differ by %.3g, order %.3f, at least %d",
                      2 * s - 1, steps, here, slope, s - 2);
            before = here;
        }
    }
}

/* ---- damping [B (3.3)-(3.5), Theorem 3.2] */

/* A linear spring: each step multiplies q - i v/omega by R(i h omega). */
static void test_stability_function(void)
{
    check_group("radau, stability function");
    for (int s = 1; s <= 3; s++)
        for (int k = 0; k < 3; k++) {
            double h = k == 0 ? 0.01 : k == 1 ? 0.1 : 10, omega = 20;
            double complex z = h * omega * I, one;
            if (s == 1)
                one = 1 / (1 - z);
            else if (s == 2)
                one = (1 + z / 3) / (1 - 2 * z / 3 + z * z / 6);
            else
                one = (1 + 2 * z / 5 + z * z / 20) /
                      (1 - 3 * z / 5 + 3 * z * z / 20 - z * z * z / 60);
            char options[100];
            double q[KEPT_WIDTH], v[KEPT_WIDTH];
            snprintf(options, sizeof options, "motion=full method=radau%d step=%g", 2 * s - 1, h);
            run(options, "[coordinates]\nx\n[bonds]\ns = 2*x compliance 0.01\n[start]\nx = 1\n",
                options, 3 * h, q, v, NULL);
            double complex expected = one * one * one;
            check_near(options, q[0], creal(expected), 1e-13);
            check_near(options, v[0], -omega * cimag(expected), 1e-11);
        }
}

/* Off the manifold by h^2: two steps bring the pendulum back, at eps = 1e-4, h = 0.05
 * [docs/sources.md, B]. */
static void test_collapse(void)
{
    check_group("radau, an off-manifold start collapses");
    for (int s = 2; s <= 3; s++) {
        double g[4], q[KEPT_WIDTH], v[KEPT_WIDTH], eps = 1e-4, h = 0.05, y = h / eps;
        /* |R(iy)| for large y: 2/y with two stages, 3/y with three (quotient of the leading
         * coefficients) */
        double rate = (s == 2 ? 2 : 3) / y;
        for (int n = 0; n < 4; n++) {
            char model[400], options[100];
            snprintf(model, sizeof model,
                     "[coordinates]\ny1, y2\n[potential]\ny2\n[bonds]\nspring = sqrt(y1^2 + y2^2) "
                     "- 1 compliance 1e-8\n"
                     "[start]\ny1 = 1.0025\n");
            snprintf(options, sizeof options, "motion=full method=radau%d step=0.05", 2 * s - 1);
            g[n] = 0.0025;
            if (n > 0) {
                run("collapse", model, options, n * h, q, v, NULL);
                g[n] = fabs(hypot(q[0], q[1]) - 1);
            }
        }
        check_below("first step", g[1], 2 * rate * g[0]);
        /* what remains is the slow solution's own g = eps^2 lambda, lambda = 0.3 at t = 0.1,
         * compared with oscillations */
        check_below("second step", g[2], 2 * rate * rate * g[0] + 2 * eps * eps);
        check_below("third step", g[3], 2 * rate * rate * rate * g[0] + 2 * eps * eps);
    }
}

int main(void)
{
    test_orders();
    test_stiff_minus_rigid();
    test_stability_function();
    test_collapse();
    return check_done();
}
