/* test_radau_hard.c - Radau IIA where things go wrong or mix: bonds from rigid to soft in
 * one system, forces that are no number beyond a boundary, bonds that shrink to nothing, memory
 * while stepping. */
#include "support/radau.h"

/* ---- everything between rigid and soft in one line of masses

 * x1 = cos 2t by a rigid bond; x2 hangs on x1 by a spring of compliance 1, x3 on x2 by a stiff one.
 Forced motion A cos 2t, B cos 2t:
 *     -4 A = -(A - 1)/c2 + (B - A)/c3,   -4 B = -(B - A)/c3   =>   B = A/(1 - 4 c3),   A = 1/(1 - 4
 c2 (1 + 1/(1 - 4 c3)))
 * lambda = c^-1 g of the springs, and that of the rigid bond from the first mass: -4 = -lambda1 +
 lambda2 (times cos 2t). */
static void test_mixed(void)
{
    static const double stiff[] = {1e-3, 1e-6, 1e-9, 1e-12, 0};
    check_group("radau, rods, stiff and soft springs together");
    for (int k = 0; k < 5; k++)
        for (int order = 5; order <= 9; order += 2)
            for (int form = 0; form < 2; form++) {
                double c2 = 1, c3 = stiff[k], a = 1 / (1 - 4 * c2 * (1 + 1 / (1 - 4 * c3))),
                       b = a / (1 - 4 * c3), end = cos(2 * 1.7);
                char model[500], options[160];
                double q[KEPT_WIDTH], v[KEPT_WIDTH], lambda[KEPT_WIDTH] = {NAN, NAN, NAN}, off = 0,
                                                     pull = 0;
                snprintf(
                    model, sizeof model,
                    "[coordinates]\nx1, x2, x3\n[bonds]\ndriven = x1 - cos(2*t) rigid\nsoft = x2 - "
                    "x1 compliance 1 soft\n"
                    "last = x3 - x2 compliance %.17g\n[start]\nx1 = 1, x2 = %.17g, x3 = %.17g\n",
                    c3, a, b);
                snprintf(options, sizeof options,
                         "motion=slow method=radau%d newton=%s rtol=1e-8 atol=1e-9", order,
                         form ? "tensor" : "stage");
                run(options, model, options, 1.7, q, v, lambda);
                const double exact[3] = {end, a * end, b * end},
                             held[3] = {4 * end + (a - 1) * end, (a - 1) * end, 4 * b * end};
                for (int i = 0; i < 3; i++) {
                    off = fmax(off, isnan(q[i]) ? INFINITY : fabs(q[i] - exact[i]));
                    pull = fmax(pull, isnan(lambda[i]) ? INFINITY : fabs(lambda[i] - held[i]));
                }
                check_row(off < 1e-7 && pull < 1e-4, "%s, c = %g: off by %.3g, lambda by %.3g",
                          options, c3, off, pull);
            }
}

/* ---- ends that must come */

/* x'' = -sqrt(x) from rest at 1: v^2/2 = 2/3 (1 - x^(3/2)), and 0 is reached at t = B(2/3,
 * 1/2)/sqrt(3). Stages beyond are no numbers. */
static void test_boundary(void)
{
    double end = tgamma(2.0 / 3) * tgamma(0.5) / tgamma(7.0 / 6) / sqrt(3);
    check_group("radau, a force that ends");
    for (int order = 1; order <= 9; order += 2)
        for (int form = 0; form < 2; form++) {
            char options[160];
            snprintf(options, sizeof options,
                     "motion=full method=radau%d newton=%s until=2 rtol=%s", order,
                     form ? "tensor" : "stage", order == 1 ? "1e-4" : "1e-7");
            driven d = driven_create("[coordinates]\nx\n[forces]\nx = -sqrt(x)\n[start]\nx = 1\n",
                                     options, NULL);
            if (driven_good(options, &d)) {
                int code = taut_solver_advance(d.solver, 2, &d.error);
                double t = taut_solver_time(d.solver), x = taut_solver_position(d.solver)[0],
                       v = taut_solver_velocity(d.solver)[0];
                check_row(code < 0 && strstr(d.error.message, "not a number"), "%s: %s", options,
                          d.error.message);
                check_row(fabs(t - end) < (order == 1 ? 2e-2 : 1e-5),
                          "%s: ends at %.9g, expected %.9g", options, t, end);
                check_row(x >= 0 && fabs(v * v / 2 - 2.0 / 3 * (1 - pow(x, 1.5))) <
                                        (order == 1 ? 2e-2 : 1e-5),
                          "%s: x = %.3g, v = %.9g obey the law of energy", options, x, v);
            }
            driven_destroy(&d);
        }
}

/* A rigid bond that shrinks to nothing at t = 1: G vanishes there. The run ends before, with a
 * sentence; until then it is on the rigid bond. */
static void test_vanishing_rod(void)
{
    check_group("radau, a rod that vanishes");
    for (int equal = 0; equal < 2; equal++)
        for (int order = 3; order <= 9; order += 2) {
            char options[160];
            snprintf(options, sizeof options, "motion=rigid method=radau%d until=3%s", order,
                     equal ? " step=0.01" : "");
            driven d = driven_create(
                "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = x^2 + y^2 - (1 - t)\n"
                "[start]\nx = 1, x' = -0.5, y' = 0.2\n",
                options, NULL);
            if (driven_good(options, &d)) {
                int code = taut_solver_advance(d.solver, 3, &d.error);
                const double *q = taut_solver_position(d.solver);
                double t = taut_solver_time(d.solver),
                       g = fabs(q[0] * q[0] + q[1] * q[1] - (1 - t));
                check_row(code < 0 && strlen(d.error.message) > 40 && t > 0.9 && t <= 1.0 + 1e-9 &&
                              g < 1e-5,
                          "%s: t = %.9g, |g| %.3g: %s", options, t, g, d.error.message);
            }
            driven_destroy(&d);
        }
}

/* ---- nothing allocates while stepping: adaptive step size, both Newton forms, dense output, first
 * order */

static void test_allocations(void)
{
    static const struct {
        const char *model, *options;
    } rows[] = {
        {"[coordinates]\nx, y\n[potential]\ny\n[bonds]\ns = sqrt(x^2 + y^2) - 1 stiffness "
         "1e8\n[start]\nx = 1\n",
         "motion=slow method=radau5 newton=stage"},
        {"[coordinates]\nx, y\n[potential]\ny\n[bonds]\ns = sqrt(x^2 + y^2) - 1 rigid\n[start]\nx "
         "= 1\n",
         "motion=rigid method=radau7 newton=tensor"},
        {"[coordinates]\nr, p\n[kinetic]\n(r'^2 + r^2*p'^2)/2\n[forces]\np = -p'\n[bonds]\ns = r - "
         "1 - 0.1*sin(t) stiffness 1e6\n"
         "[start]\nr = 1, p' = 1\n",
         "motion=full method=radau9"},
        {"[state]\nx1, x2\n[algebraic]\ny\n[rates]\nx1' = (2 - t)*y + 2*exp(t)\nx2' = exp(t)\n"
         "[constraints]\nc = (t + 2)*x1 + (t^2 - 4)*x2 - (t^2 + t - 2)*exp(t)\n"
         "[start]\nx1 = exp(t), x2 = exp(t), y = -exp(t)/(2 - t)\n",
         "method=radau5"},
        {"[coordinates]\nx, y\n[potential]\ny\n[bonds]\ns = sqrt(x^2 + y^2) - 1 rigid\n[start]\nx "
         "= 1\n",
         "motion=rigid method=rattle step=0.01"},
        {"[coordinates]\nx, y\n[potential]\ny\n[bonds]\ns = sqrt(x^2 + y^2) - 1 rigid\n[start]\nx "
         "= 1\n",
         "motion=rigid method=dop8"},
    };
    check_group("allocations while stepping");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        static kept out;
        char options[200];
        snprintf(options, sizeof options, "%s until=1 every=0.07", rows[k].options);
        faulty c = {0};
        taut_allocator allocator = faulty_allocator(&c);
        driven d = driven_create(rows[k].model, options, &allocator);
        if (driven_good(options, &d)) {
            taut_sink sink = kept_sink(&out);
            int64_t calls = c.calls;
            check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == 0, "%s: %s",
                      options, d.error.message);
            check_row(c.calls == calls && out.rows > 10, "%s: %lld allocations, %d rows", options,
                      (long long)(c.calls - calls), out.rows);
        }
        driven_destroy(&d);
        check_equal("all memory is given back", c.live, 0);
    }
}

int main(void)
{
    test_mixed();
    test_boundary();
    test_vanishing_rod();
    test_allocations();
    return check_done();
}
