/* test_radau_newton.c - Radau IIA from the inside: coefficients, convergence of both Newton
 * forms, memory, counts. */
#include "support/run.h"
#include "step/collocation.h"

enum { METHODS = 5 };
static const char *const method[METHODS] = {"radau1", "radau3", "radau5", "radau7", "radau9"};

/* ---- coefficients */

/* C(s), B(2s-1) and D(s-1) of Butcher, of which order and stage order follow [Hairer, Wanner II,
 * IV.5]; the last stage is the end. */
static void test_assumptions(void)
{
    check_group("radau, simplifying assumptions");
    for (int s = 1; s <= METHODS; s++) {
        taut_collocation x;
        taut_collocation_make(&taut_radau_table[s - 1], &x);
        const double *b = x.a[s - 1];
        double worst = fabs(x.c[s - 1] - 1);
        for (int k = 1; k <= 2 * s - 1; k++) {
            double sum = 0;
            for (int j = 0; j < s; j++)
                sum += b[j] * pow(x.c[j], k - 1);
            worst = fmax(worst, fabs(sum - 1.0 / k));
        }
        for (int k = 1; k <= s; k++)
            for (int i = 0; i < s; i++) {
                double sum = 0, column = 0;
                for (int j = 0; j < s; j++) {
                    sum += x.a[i][j] * pow(x.c[j], k - 1);
                    column += b[j] * pow(x.c[j], k - 1) * x.a[j][i];
                }
                worst = fmax(worst, fabs(sum - pow(x.c[i], k) / k));
                if (k < s)
                    worst = fmax(worst, fabs(column - b[i] * (1 - pow(x.c[i], k)) / k));
            }
        check_below(method[s - 1], worst, 4e-15);
        /* one order more would be Gauss, which violates (3.4) of B */
        double sum = 0;
        for (int j = 0; j < s; j++)
            sum += b[j] * pow(x.c[j], 2 * s - 1);
        check_row(fabs(sum - 0.5 / s) > 1e-7, "%s: order 2s - 1 and no more", method[s - 1]);
    }
}

static void test_spectrum(void)
{
    check_group("radau, spectral data");
    for (int s = 1; s <= METHODS; s++) {
        taut_collocation x;
        taut_collocation_make(&taut_radau_table[s - 1], &x);
        double worst = 0, unit = 0, product = 0;
        int count = 0;
        for (int b = 0; b < x.blocks; b++) {
            double complex dot = 0;
            count += x.real[b] ? 1 : 2;
            for (int i = 0; i < s; i++) {
                double complex right = 0, left = 0;
                for (int j = 0; j < s; j++) {
                    right += x.a[i][j] * x.right[b][j];
                    left += x.left[b][j] * x.a[j][i];
                }
                worst = fmax(worst, cabs(right - x.mu[b] * x.right[b][i]));
                worst = fmax(worst, cabs(left - x.mu[b] * x.left[b][i]));
                dot += x.left[b][i] * x.right[b][i];
            }
            unit = fmax(unit, cabs(dot - 1));
            check_row(creal(x.mu[b]) > 0, "%s: eigenvalue %g + %g i is on the right side",
                      method[s - 1], creal(x.mu[b]), cimag(x.mu[b]));
        }
        for (int i = 0; i < s; i++)
            for (int j = 0; j < s; j++) {
                double sum = 0;
                for (int k = 0; k < s; k++)
                    sum += x.inverse[i][k] * x.a[k][j];
                product = fmax(product, fabs(sum - (i == j)));
            }
        check_equal("all eigenvalues", count, s);
        check_below("A right = mu right, left A = mu left", worst, 1e-14);
        check_below("left . right = 1", unit, 1e-13);
        check_below("A^-1 A = 1", product, 1e-12);
    }
}

/* Weights of the polynomials: exact for powers below s, and for their integrals. */
static void test_weights(void)
{
    check_group("radau, polynomials");
    for (int s = 1; s <= METHODS; s++)
        for (int integrals = 0; integrals <= 2; integrals++) {
            taut_collocation x;
            taut_collocation_make(&taut_radau_table[s - 1], &x);
            double w[TAUT_STAGES_MAX], worst = 0, theta = 1.3;
            taut_collocation_weights(&x, theta, integrals, w);
            for (int k = 0; k < s; k++) {
                double sum = 0, divisor = integrals == 0   ? 1
                                          : integrals == 1 ? k + 1
                                                           : (k + 1.0) * (k + 2);
                for (int i = 0; i < s; i++)
                    sum += w[i] * pow(x.c[i], k);
                worst = fmax(worst, fabs(sum - pow(theta, k + integrals) / divisor));
            }
            check_below(method[s - 1], worst, 2e-12);
        }
}

/* ---- Newton's iteration */

static const char pendulum[] = "[parameters]\neps = %s\n[coordinates]\ny1, y2\n[potential]\ny2\n"
                               "[bonds]\nspring = sqrt(y1^2 + y2^2) - 1 compliance eps^2\n"
                               "[start]\ny1 = 1 - 3*eps^4 - 54*eps^8\n";

static taut_statistics equal_steps(const char *eps, const char *options, double h, int steps)
{
    char model[400], all[200];
    double until = h * steps;
    snprintf(model, sizeof model, pendulum, eps);
    snprintf(all, sizeof all, "motion=slow step=%g until=%g %s", h, until, options);
    driven d = driven_create(model, all, NULL);
    taut_result result = {.size = sizeof result, .status = -1};
    if (driven_good(options, &d)) {
        check_row(taut_solver_advance(d.solver, until, &d.error) == 0, "eps = %s, h = %g: %s", eps,
                  h, d.error.message);
        taut_solver_result_get(d.solver, &result, NULL);
    }
    driven_destroy(&d);
    return result.statistics;
}

/* The number of iterations does not see the stiffness; the compliance form of B (8.4) with (8.8)
 * takes 8, 6, 5, 4, 4 [docs/sources.md, B]. */
static void test_uniform(void)
{
    static const double h[] = {.3, .1, .03, .01, .003};
    static const int most[] = {8, 6, 5, 4, 4};
    static const char *const eps[] = {"1e-4", "1e-5", "1e-6", "1e-7", "1e-8"};
    check_group("radau, iterations do not see the stiffness");
    for (int form = 0; form < 2; form++)
        for (int j = 0; j < METHODS; j++)
            for (int k = 0; k < 5; k++) {
                char options[80];
                snprintf(options, sizeof options, "method=%s newton=%s", method[j],
                         form ? "tensor" : "stage");
                int64_t rigid = equal_steps("0", options, h[k], 1).newton_iterations;
                for (int e = 0; e < 5; e++)
                    check_equal(options, equal_steps(eps[e], options, h[k], 1).newton_iterations,
                                rigid);
                if (j == 2)
                    check_row(rigid >= 2 && rigid <= most[k], "h = %g: %lld iterations, at most %d",
                              h[k], (long long)rigid, most[k]);
            }
}

/* Over ten steps more, which start from predictions, the stage-wise iteration stays the same to
 * the last one; the simplified one goes on to rounding with rates near 1 at long steps, where
 * the last iterations are an accident: there within a fifth. */
static void test_uniform_runs(void)
{
    static const double h[] = {.1, .03, .01};
    static const char *const eps[] = {"1e-4", "1e-5", "1e-6", "1e-7", "1e-8"};
    check_group("radau, iterations of runs do not see the stiffness");
    for (int form = 0; form < 2; form++)
        for (int j = 0; j < METHODS; j++)
            for (int k = 0; k < 3; k++) {
                char options[80];
                snprintf(options, sizeof options, "method=%s newton=%s", method[j],
                         form ? "tensor" : "stage");
                int64_t rigid = equal_steps("0", options, h[k], 11).newton_iterations;
                for (int e = 0; e < 5; e++) {
                    int64_t here = equal_steps(eps[e], options, h[k], 11).newton_iterations;
                    check_row(form ? 5 * llabs(here - rigid) <= rigid : here == rigid,
                              "%s, h = %g, eps = %s: %lld iterations, rigid %lld", options, h[k],
                              eps[e], (long long)here, (long long)rigid);
                }
            }
}

/* Both forms solve the same equations: the same numbers come out, whatever holds the system. */
static void test_forms_agree(void)
{
    static const struct {
        const char *name, *model;
    } rows[] = {
        {"stiff", "[coordinates]\nx, y\n[potential]\ny\n[bonds]\ns = sqrt(x^2 + y^2) - 1 stiffness "
                  "1e8\n[start]\nx = 1, y' = 1\n"},
        {"mixed, damped",
         "[coordinates]\nx, y, u, w\n[potential]\ny + w\n[bonds]\na = x^2 + y^2 - 1\n"
         "b = (x - u)^2 + (y - w)^2 - 1 stiffness 1e6 damping 1e5\nc = x*u + 0.1*y*w stiffness "
         "3\n[start]\nx = 1, "
         "u = 1, w = 1, y' = 1\n"},
        {"mass varies, drag", "[coordinates]\nr, p\n[kinetic]\n(r'^2 + r^2*p'^2)/2\n[forces]\np = "
                              "-p'*(1 + p^2)\n[bonds]\ns = r - 1 - 0.1*sin(t) stiffness 1e6\n"
                              "[start]\nr = 1, p' = 1\n"},
        {"matrix, free", "[coordinates]\nx, y\n[mass]\nx = 2, y = 2\nM[x,y] = "
                         "1\n[potential]\ncos(x) + x*y^2\n[start]\nx = 1, y' = 1\n"},
        {"stiff potential", "[coordinates]\nx, y\n[potential]\ny\n[stiff potential]\n(x^2 + y^2 - "
                            "1)^2/4 scale 1e4\n[start]\nx = 1, y' = 0.1\n"},
    };
    check_group("radau, stage-wise = tensor");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        for (int j = 0; j < METHODS; j++) {
            double q[2][4] = {{0}}, lambda[2][3] = {{0}};
            for (int form = 0; form < 2; form++) {
                char options[200];
                snprintf(options, sizeof options,
                         "motion=full method=%s step=0.02 until=0.1 newton=%s", method[j],
                         form ? "tensor" : "stage");
                driven d = driven_create(rows[k].model, options, NULL);
                if (driven_good(rows[k].name, &d)) {
                    check_row(taut_solver_advance(d.solver, 0.1, &d.error) == 0, "%s, %s: %s",
                              rows[k].name, options, d.error.message);
                    taut_sizes sizes = {.size = sizeof sizes};
                    taut_system_sizes_get(d.system, &sizes, NULL);
                    keep(q[form], taut_solver_position(d.solver), sizes.coordinates);
                    keep(lambda[form], taut_solver_multipliers(d.solver), sizes.bonds);
                }
                driven_destroy(&d);
            }
            double off = 0, pull = 0;
            for (int i = 0; i < 4; i++)
                off = fmax(off, fabs(q[0][i] - q[1][i]));
            for (int i = 0; i < 3; i++)
                pull = fmax(pull, fabs(lambda[0][i] - lambda[1][i]) / (1 + fabs(lambda[0][i])));
            check_row(off < 1e-12 && pull < 1e-8 && q[0][0] != 0,
                      "%s, %s: q differ by %.2g, lambda by %.2g", rows[k].name, method[j], off,
                      pull);
        }
}

/* At rest in the origin nothing but the force has a size. */
static void test_from_nothing(void)
{
    static const struct {
        const char *name, *model;
        double end;
    } rows[] = {{"free", "[coordinates]\nx, y\n[potential]\nx\n", -0.5},
                {"held", "[coordinates]\nx, y\n[potential]\nx\n[bonds]\nb = y - x\n", -0.25},
                {"nothing at all", "[coordinates]\nx, y\n[bonds]\nb = y - x stiffness 1e6\n", 0},
                {"first order", "[state]\nx, y\n[rates]\nx' = -1/2 - 0*y\ny' = x\n", -0.5}};
    check_group("radau, from rest in the origin");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        for (int j = 2; j < 2 * METHODS; j++) {
            char options[200];
            snprintf(options, sizeof options, "motion=full method=%s step=0.1 until=1 newton=%s",
                     method[j / 2], j % 2 ? "tensor" : "stage");
            driven d = driven_create(rows[k].model, options, NULL);
            if (driven_good(rows[k].name, &d)) {
                check_row(taut_solver_advance(d.solver, 1, &d.error) == 0, "%s, %s: %s",
                          rows[k].name, options, d.error.message);
                check_near(rows[k].name, taut_solver_position(d.solver)[0], rows[k].end, 1e-13);
            }
            driven_destroy(&d);
        }
}

/* ---- costs and faults */

/* One evaluation of the start for its multipliers and the first guess, one a stage and iteration.
 */
static void test_counts(void)
{
    check_group("radau, counts");
    for (int j = 0; j < METHODS; j++)
        for (int form = 0; form < 2; form++) {
            char model[400], options[200];
            snprintf(model, sizeof model, pendulum, "1e-5");
            snprintf(options, sizeof options, "motion=full method=%s step=0.05 until=1 newton=%s",
                     method[j], form ? "tensor" : "stage");
            faulty c = {0};
            taut_allocator allocator = faulty_allocator(&c);
            driven d = driven_create(model, options, &allocator);
            if (driven_good(options, &d)) {
                int64_t calls = c.calls;
                check_row(taut_solver_advance(d.solver, 1, &d.error) == 0, "%s: %s", options,
                          d.error.message);
                check_equal("nothing is allocated while stepping", c.calls, calls);
                taut_result r = {.size = sizeof r};
                taut_solver_result_get(d.solver, &r, NULL);
                check_equal("steps", r.statistics.steps, 20);
                check_equal("evaluations", r.statistics.force_evaluations,
                            1 + (j + 1) * r.statistics.newton_iterations);
                if (form == 0)
                    check_row(r.statistics.newton_iterations <= 80,
                              "%s: %lld iterations in 20 steps", options,
                              (long long)r.statistics.newton_iterations);
                check_row(form ? r.statistics.jacobians <= r.statistics.newton_iterations
                               : r.statistics.jacobians >= 20 * (j + 1),
                          "%s: %lld Jacobians", options, (long long)r.statistics.jacobians);
            }
            driven_destroy(&d);
            check_equal("all memory is given back", c.live, 0);
        }
}

static void test_memory(void)
{
    static const char *const forms[] = {"method=radau5 newton=stage", "method=radau5 newton=tensor",
                                        "method=radau3 newton=tensor", "method=radau3"};
    check_group("radau, memory that runs out");
    for (int form = 0; form < 4; form++) {
        char model[400], options[200];
        snprintf(model, sizeof model, pendulum, "1e-5");
        if (form == 3)
            snprintf(model, sizeof model,
                     "[state]\nx\n[algebraic]\ny\n[rates]\nx' = y\n[constraints]\nc = x - "
                     "sin(t)\n[start]\ny = 1\n");
        snprintf(options, sizeof options, "motion=full until=1 %s", forms[form]);
        int failures = 0, wrong = 0, leaks = 0;
        for (int64_t k = 1; k < 100000; k = faulty_next(k)) {
            faulty c = {.fail = k};
            taut_allocator allocator = faulty_allocator(&c);
            driven d = driven_create(model, options, &allocator);
            bool failed = c.failed > 0;
            failures += failed;
            wrong += failed && d.code != TAUT_ERROR_MEMORY;
            driven_destroy(&d);
            leaks += c.live != 0;
            if (!failed)
                break;
        }
        check_row(failures > 8, "%s: %d calls failed", forms[form], failures);
        check_equal("every failure is reported", wrong, 0);
        check_equal("no leaks", leaks, 0);
    }
}

/* A force that cannot be evaluated, or is not a number, from call k on. */
typedef struct fault {
    int calls, from, kind; /* kind 0: NaN, 1: cannot here, -1: stop */
} fault;

static int faulty_force(void *user, double t, const double *q, const double *v, double *f)
{
    fault *x = user;
    (void)t;
    f[0] = -v[0] * 0.1;
    f[1] = -1 - 0.1 * v[1] + 0 * q[0];
    if (++x->calls < x->from)
        return 0;
    if (x->kind == 0)
        f[0] = NAN;
    return x->kind;
}

static int circle(void *user, double t, const double *q, double *g)
{
    (void)user, (void)t;
    g[0] = q[0] * q[0] + q[1] * q[1] - 1;
    return 0;
}

static void test_faulty_force(void)
{
    check_group("radau, forces that fail");
    for (int kind = -1; kind <= 1; kind++) {
        static const double q0[] = {1, 0};
        fault x = {.from = 200, .kind = kind};
        taut_callbacks call = {.size = sizeof call,
                               .coordinates = 2,
                               .bonds = 1,
                               .start_q = q0,
                               .force = faulty_force,
                               .bond = circle,
                               .user = &x};
        driven d = {0};
        d.code = taut_system_from_callbacks(&call, NULL, &d.system, &d.error);
        driven_equip(&d, "motion=rigid method=radau5 until=100", NULL);
        if (driven_good("callbacks", &d)) {
            int code = taut_solver_advance(d.solver, 100, &d.error);
            check_row(code < 0, "kind %d: %s", kind, taut_code_name(code));
            double t = taut_solver_time(d.solver),
                   r = hypot(taut_solver_position(d.solver)[0], taut_solver_position(d.solver)[1]);
            check_row(t > 0 && t < 100 && fabs(r - 1) < 1e-6,
                      "kind %d: what was computed is there: t = %g, |q| = %.9g", kind, t, r);
        }
        driven_destroy(&d);
    }
}

int main(void)
{
    test_assumptions();
    test_spectrum();
    test_weights();
    test_uniform();
    test_uniform_runs();
    test_forms_agree();
    test_from_nothing();
    test_counts();
    test_memory();
    test_faulty_force();
    return check_done();
}
