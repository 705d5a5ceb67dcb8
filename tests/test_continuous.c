/* test_continuous.c - stabilising terms in the field, (2.3), (2.4), (4.4) of Ascher, Qin, Reich
 * 1992: the manifold is reached as (4.5) says, orders are kept; and implicit methods under
 * stabilisation.
 */
#include "support/rig.h"
#include "support/run.h"

/* A double pendulum with a moving anchor, off the bonds by s and r at t = 0; one of them is curved,
 * so that L matters; a full mass matrix. */
static const char moving[] =
    "[coordinates]\nx, y, u, w\n[mass]\nx = 2, y = 2, u = 1, w = 1\nM[x,u] = 0.5\n[potential]\ny + "
    "w\n[bonds]\ninner = (x - 0.3*sin(t))^2 + y^2 - 1 rigid\nouter = (x - u)^2 + (y - w)^2 - 1 "
    "rigid\n[start]\nx = 1.02, u = 2.01, y' = -0.4, w' = 0.5, x' = 0.2\n";

/* g and gdot of both bonds at now */
static void bonds_at(rig *r, double g[2], double gdot[2])
{
    double bond[2], dt[2], jacobian[8];
    taut_pattern p;
    taut_values values = {.size = sizeof values, .bond = bond, .bond_dt = dt, .jacobian = jacobian};
    taut_system_pattern_get(r->system, TAUT_PATTERN_JACOBIAN, &p, NULL);
    taut_evaluate(r->context, r->s.now.t, r->s.now.q, r->s.now.v,
                  TAUT_WANT_BOND | TAUT_WANT_JACOBIAN, &values, &r->error);
    for (int i = 0; i < 2; i++) {
        g[i] = bond[i];
        gdot[i] = dt[i];
        for (taut_index e = p.start[i]; e < p.start[i + 1]; e++)
            gdot[i] += jacobian[e] * r->s.now.v[p.column[e]];
    }
}

/* (4.5): s' = r - gamma s, r' = -gamma r; reduced: s' = -gamma s; with (4.8) r does not decay so.
 */
static void test_manifold(void)
{
    static const struct {
        const char *field, *direction, *method;
        double tolerance;
        bool exact;
    } rows[] = {
        {"continuous", "mass", "dop8", 1e-11, true}, {"continuous", "unit", "dop8", 1e-11, true},
        {"continuous", "unit", "rk4", 1e-6, true},   {"continuous", "simple", "dop8", 1e-4, false},
        {"index-2", "mass", "dop8", 1e-11, true},    {"index-2", "unit", "dopri5", 1e-8, true}};
    const double gamma = 3;
    check_group("manifold");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        rig r;
        double s[2], v[2], g[2], gdot[2];
        rig_create(&r, &(rig_how){.model = moving,
                                  .method = rows[k].method,
                                  .field = rows[k].field,
                                  .alpha = gamma,
                                  .direction = rows[k].direction});
        if (r.code == 0)
            bonds_at(&r, s, v);
        rig_run(&r, 1, 50);
        if (rig_good(rows[k].field, &r)) {
            bool reduced = rows[k].field[0] == 'i';
            bonds_at(&r, g, gdot);
            double off = 0, decay = exp(-gamma);
            for (int i = 0; i < 2; i++) {
                double expected = decay * (reduced ? s[i] : s[i] + v[i]);
                off = fmax(off, fabs(g[i] - expected));
                off = fmax(off, fabs(gdot[i] - decay * v[i]));
                check_row(fabs(s[i]) > 0.01 && fabs(v[i]) > 0.01, "begins off the bonds");
            }
            check_row((off <= rows[k].tolerance) == rows[k].exact, "%s %s %s: off by %g",
                      rows[k].field, rows[k].direction, rows[k].method, off);
        }
        rig_destroy(&r);
    }
}

/* F = D: h' = -gamma H D h; x + 2 y has H D = 5. */
static void test_gradient(void)
{
    static const char model[] = "[coordinates]\nx, y\n[potential]\nx\n[bonds]\nb = x + 2*y rigid\n"
                                "[start]\nx = 0.1, y' = 0.2\n";
    check_group("gradient");
    rig r;
    double g[2], gdot[2];
    rig_create(&r, &(rig_how){.model = model,
                              .method = "dop8",
                              .field = "continuous",
                              .alpha = 0.6,
                              .direction = "gradient"});
    rig_run(&r, 1, 20);
    if (rig_good("run", &r)) {
        const double *q = r.s.now.q, *v = r.s.now.v;
        g[0] = q[0] + 2 * q[1];
        gdot[0] = v[0] + 2 * v[1];
        check_near("g", g[0], exp(-3) * (0.1 + 0.4), 1e-12);
        check_near("gdot", gdot[0], exp(-3) * 0.4, 1e-12);
    }
    rig_destroy(&r);
}

/* z' = (z2, -z1) + 4 z h, h = |z|^2 - 1: a manifold that repels, no integral. (2.3) attracts where
 * gamma is above 8 |z|^2 (proposition 2.2), (2.4) for every gamma, h' = -gamma h. */
static void test_first_order(void)
{
    static const char model[] = "[state]\nx, y\n[rates]\nx' = y + 4*x*(x^2 + y^2 - 1)\n"
                                "y' = -x + 4*y*(x^2 + y^2 - 1)\n[invariants]\nh = x^2 + y^2 - 1\n"
                                "[start]\nx = 1\n";
    static const struct {
        const char *direction;
        double rate, least, most; /* of h at t = 0.5 over that at 0 */
    } rows[] = {{"transpose", 2, 5, INFINITY},
                {"transpose", 30, 0, 0.01},
                {"tangent", 2, 0.36787, 0.36788},
                {"tangent", 30, 0, 1e-6}};
    check_group("first order");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        rig r;
        rig_create(&r, &(rig_how){.model = model,
                                  .method = "dop8",
                                  .field = "first",
                                  .alpha = rows[k].rate,
                                  .direction = rows[k].direction});
        const double h = 1e-5;
        if (r.code == 0)
            r.s.now.q[0] = sqrt(1 + h);
        rig_run(&r, 0.5, 100);
        if (rig_good(rows[k].direction, &r)) {
            const double *z = r.s.now.q;
            double part = (z[0] * z[0] + z[1] * z[1] - 1) / h;
            check_row(part >= rows[k].least && part <= rows[k].most, "%s, rate %g: %.9g",
                      rows[k].direction, rows[k].rate, part);
        }
        rig_destroy(&r);
    }
}

/* One run by options; the error of the first coordinate, NaN where it fails. */
static double run_error(const char *model, const char *options, double until, double exact,
                        taut_result *result)
{
    char path[400];
    driven d = {0};
    double error = NAN;
    snprintf(path, sizeof path, "%s/models/%s.taut", TAUT_SOURCE_DIR, model);
    d.code = taut_system_load(path, NULL, &d.system, &d.error);
    driven_equip(&d, options, NULL);
    if (driven_good(options, &d) && taut_solver_advance(d.solver, until, &d.error) == 0) {
        error = fabs(taut_solver_position(d.solver)[0] - exact);
        *result = (taut_result){.size = sizeof *result};
        taut_solver_result_get(d.solver, result, NULL);
    }
    driven_destroy(&d);
    return error;
}

/* Terms keep the order of the method [theorem 3.1 without its splitting], of implicit ones that
 * without bonds (step/implicit_field.c); post keeps that of
 * implicit ones, and the invariants at rounding (theorem 3.3). */
static void test_orders(void)
{
    static const struct {
        const char *model, *method, *stabilize;
        int order, steps;
        double until, exact, tolerance, drift;
    } rows[] = {{"slider_crank", "euler", "continuous", 1, 256, 1, -1.061270282397952442, 0.1, 1},
                {"slider_crank", "rk4", "continuous", 4, 16, 1, -1.061270282397952442, 0.35, 1},
                {"slider_crank", "dopri5", "index-2", 5, 10, 1, -1.061270282397952442, 1, 1},
                {"slider_crank", "midpoint", "index-2", 2, 64, 1, -1.061270282397952442, 0.2, 1},
                {"slider_crank", "gauss4", "continuous", 4, 16, 1, -1.061270282397952442, 0.35, 1},
                {"slider_crank", "sdirk3", "baumgarte", 3, 64, 1, -1.061270282397952442, 0.2, 1},
                {"slider_crank", "esdirk4", "index-2", 4, 16, 1, -1.061270282397952442, 0.5, 1},
                {"slider_crank", "radau5", "continuous", 5, 8, 1, -1.061270282397952442, 0.5, 1},
                {"kepler", "lobatto4", "continuous", 4, 200, 6.28318530717958647692, 0.5, 1, 1},
                {"kepler", "radau1", "post", 1, 6400, 6.28318530717958647692, 0.5, 0.2, 1e-15},
                {"kepler", "radau3", "post", 3, 400, 6.28318530717958647692, 0.5, 1.2, 1e-15},
                {"kepler", "radau5", "post", 5, 100, 6.28318530717958647692, 0.5, 1.2, 1e-14},
                {"kepler", "radau5", "project", 5, 100, 6.28318530717958647692, 0.5, 1.2, 1e-15}};
    check_group("orders");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        double e[2];
        taut_result result = {.size = sizeof result};
        for (int j = 0; j < 2; j++) {
            char options[200];
            snprintf(options, sizeof options, "method=%s step=%.17g until=%.17g stabilize=%s%s",
                     rows[k].method, rows[k].until / (rows[k].steps << j), rows[k].until,
                     rows[k].stabilize, rows[k].model[0] == 's' ? " motion=rigid" : "");
            e[j] = run_error(rows[k].model, options, rows[k].until, rows[k].exact, &result);
        }
        double order = log2(e[0] / e[1]);
        check_row(fabs(order - rows[k].order) <= rows[k].tolerance,
                  "%s with %s: order %.2f from %.2e, %.2e", rows[k].method, rows[k].stabilize,
                  order, e[0], e[1]);
        check_below("drift", result.drift_position, rows[k].drift);
    }
}

/* Adaptive step sizes of implicit methods on the field with the term: the error at the end follows
 * the tolerance, and more steps are made for a smaller one. */
static void test_adaptive(void)
{
    static const char *const methods[] = {
        "radau1",   "radau3", "radau5", "radau7", "radau9", "lobatto2", "gauss2", "lobatto4",
        "lobatto6", "gauss4", "gauss6", "sdirk2", "sdirk3", "sdirk4",   "trbdf2", "esdirk4"};
    static const char *const terms[] = {"baumgarte", "continuous", "index-2"};
    static const struct {
        const char *model, *more;
        double until, exact;
        int terms;
    } rows[] = {{"slider_crank", " motion=rigid", 1, -1.061270282397952442, 3},
                {"kepler", "", 6.28318530717958647692, 0.5, 0}};
    check_group("adaptive step sizes");
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++)
        for (int k = 0; k < 2; k++)
            for (int term = rows[k].terms ? 0 : 1; term < (rows[k].terms ? 3 : 2); term++) {
                int64_t steps = 0;
                for (double rtol = 1e-3; rtol > (m < 1 ? 1e-4 : 1e-5); rtol /= 30) {
                    char options[200];
                    taut_result result = {.size = sizeof result};
                    snprintf(options, sizeof options,
                             "method=%s until=%.17g stabilize=%s%s rtol=%g", methods[m],
                             rows[k].until, terms[term], rows[k].more, rtol);
                    double e =
                        run_error(rows[k].model, options, rows[k].until, rows[k].exact, &result);
                    check_row(e <= (m == 0 ? 30 : 10) * rtol && result.statistics.steps > steps,
                              "%s %s: error %.2g rtol in %lld steps", rows[k].model, options,
                              e / rtol, (long long)result.statistics.steps);
                    steps = result.statistics.steps;
                }
            }
}

static void test_refusals(void)
{
    static const struct {
        const char *model, *options;
        const char *words;
    } rows[] = {
        {"slider_crank", "motion=rigid stabilize=continuous method=adams", "Runge-Kutta"},
        {"slider_crank", "motion=rigid stabilize=index-2 method=ab2 step=0.1", "Runge-Kutta"},
        {"double_pendulum", "motion=slow stabilize=continuous method=radau5", "needs none"},
        {"chain", "motion=rigid stabilize=baumgarte method=rattle step=0.01", "does not use them"},
        {"chain", "motion=rigid stabilize=continuous method=radau9 step=0.01", "use post"},
        {"slider_crank", "motion=rigid stabilize=index-2 stabilize-direction=simple method=dop8",
         "(H D)^-1"},
        {"slider_crank",
         "motion=rigid stabilize=continuous stabilize-direction=transpose "
         "method=dop8",
         "first-order"},
        {"kepler", "stabilize=index-2 stabilize-direction=gradient method=dop8", "transpose"}};
    check_group("refusals");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char path[400];
        driven d = {0};
        snprintf(path, sizeof path, "%s/models/%s.taut", TAUT_SOURCE_DIR, rows[k].model);
        d.code = taut_system_load(path, NULL, &d.system, &d.error);
        driven_equip(&d, rows[k].options, NULL);
        check_row(d.code == TAUT_ERROR_REFUSED && strstr(d.error.message, rows[k].words),
                  "%s: %s: %s", rows[k].options, taut_code_name(d.code), d.error.message);
        driven_destroy(&d);
    }
}

int main(void)
{
    test_manifold();
    test_gradient();
    test_first_order();
    test_orders();
    test_adaptive();
    test_refusals();
    return check_done();
}
