/* test_effective_rattle.c - the effective system by RATTLE and its compositions: their orders
 * against dop8 on the same system, and an energy T + U + W that does not drift over 10^6 steps
 * (TAUT_TEST_LONG; else 5 10^4), nor that of the mollified impulse method over 10^4; the same with
 * kinetic energies. */
#include <math.h>

#include "support/run.h"

/* [E example 1] */
#define PENDULUM(eps)                                                                              \
    "[parameters]\neps = " eps "\n[coordinates]\na, b, c, d\n[potential]\nb + d\n[bonds]\n"        \
    "inner = sqrt(a^2 + b^2) - 1 stiffness eps^-2\n"                                               \
    "outer = sqrt((a-c)^2 + (b-d)^2) - 1 stiffness eps^-2\n"                                       \
    "[start]\na = sqrt(0.5), b = -sqrt(0.5), c = sqrt(2), d = 5*eps\n"
#define DOUBLE PENDULUM("1e-3")

static void end_of(const char *method, const char *more, double *q)
{
    char options[160];
    snprintf(options, sizeof options, "motion=effective verify=never until=1.5 method=%s %s",
             method, more);
    driven d = driven_create(DOUBLE, options, NULL);
    if (driven_good(options, &d)) {
        int code = taut_solver_advance(d.solver, 1.5, &d.error);
        check_row(code == 0, "%s: %s", options, d.error.message);
        memcpy(q, taut_solver_position(d.solver), 4 * sizeof *q);
    }
    driven_destroy(&d);
}

static void test_orders(void)
{
    static const struct {
        const char *method, *step[2];
        double order;
    } rows[] = {{"rattle", {"step=0.05", "step=0.025"}, 2},
                {"rattle4", {"step=0.15", "step=0.075"}, 4},
                {"rattle6", {"step=0.3", "step=0.15"}, 6}};
    double exact[4] = {0}, q[4] = {0};
    check_group("orders");
    end_of("effective", "rtol=1e-12", exact);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        double error[2] = {0};
        for (int j = 0; j < 2; j++) {
            end_of(rows[k].method, rows[k].step[j], q);
            for (int i = 0; i < 4; i++)
                error[j] = fmax(error[j], fabs(q[i] - exact[i]));
        }
        double order = log2(error[0] / error[1]);
        check_row(fabs(order - rows[k].order) < 0.6 && error[0] < 1e-2,
                  "%s: errors %g, %g, order %.2f", rows[k].method, error[0], error[1], order);
    }
}

/* Means of the energy over the first and the last quarter; the motion itself is chaotic. */
static void check_energy(const char *method, const char *model, double h, int64_t steps, double off,
                         double drift)
{
    const int64_t rows = 5000;
    char options[200];
    static kept seen;
    seen = (kept){0};
    snprintf(options, sizeof options,
             "motion=effective verify=never method=%s step=%g until=%.17g every=%.17g", method, h,
             h * (double)steps, h * (double)steps / (double)rows);
    driven d = driven_create(model, options, NULL);
    if (driven_good(options, &d)) {
        taut_sink sink = kept_sink(&seen);
        taut_result result = {.size = sizeof result};
        int code = taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error);
        taut_solver_result_get(d.solver, &result, NULL);
        double quarter[4] = {0}, most = 0;
        for (int i = 0; i < rows && i < seen.rows; i++) {
            double change = seen.energy[i] - seen.energy[0];
            quarter[4 * i / rows] += 4 * change / (double)rows;
            most = fmax(most, fabs(change));
        }
        const double moved = fabs(quarter[3] - quarter[0]);
        check_row(code == 0 && result.statistics.steps == steps &&
                      (drift > 0 ? most < off && moved < drift : most > off),
                  "%s: %d after %lld steps: energy off by %g, quarters %g %g %g %g: %s", method,
                  code, (long long)result.statistics.steps, most, quarter[0], quarter[1],
                  quarter[2], quarter[3], d.error.message);
        /* no iteration but those of the multipliers: one slow force in each step */
        check_row(result.statistics.force_evaluations <= steps + 10, "%s: %lld force evaluations",
                  method, (long long)result.statistics.force_evaluations);
    }
    driven_destroy(&d);
}

/* Energies are about 6; with kicks that are not mollified they change by more than that. */
static void test_energy(void)
{
    check_group("energy");
    check_energy("rattle", DOUBLE, 0.02, getenv("TAUT_TEST_LONG") ? 1000000 : 50000, 2e-3, 3e-5);
    check_energy("mollified-impulse", PENDULUM("1e-2"), 0.05, 10000, 0.06, 0.01);
    check_energy("impulse", PENDULUM("1e-2"), 0.1, 10000, 5, 0); /* drifts */
}

/* ---- kinetic energies */

/* The same double pendulum in polar coordinates, the inner link a spring or rigid. */
#define POLAR(inner)                                                                               \
    "[parameters]\neps = 1e-3\n[coordinates]\nr, a, s, b\n[definitions]\n"                         \
    "p = (r*sin(a), -r*cos(a))\nq = (r*sin(a) + s*sin(b), -r*cos(a) - s*cos(b))\n[kinetic]\n"      \
    "dot(p', p')/2\ndot(q', q')/2\n[potential]\np.y + q.y\n[bonds]\n"                              \
    "inner = r - 1" inner "\nouter = s - 1 stiffness eps^-2\n[start]\nr = 1, a = pi/4\n"           \
    "s = sqrt(0.5 + (sqrt(0.5) + 5*eps)^2), b = atan2(sqrt(0.5), -sqrt(0.5) - 5*eps)\n"
#define SPRINGS POLAR(" stiffness eps^-2")
#define HALF POLAR("")

/* Positions of both masses at 1.5, and the evaluations until there; then back to the initial state.
 * Multipliers are requested on the way, at steps and between them. */
static int64_t polar_end(const char *model, const char *more, bool looks, double *z)
{
    char options[200];
    double q[4] = {0}, v[4], first[8] = {0}, lambda[2];
    taut_result result = {.size = sizeof result};
    snprintf(options, sizeof options, "motion=effective verify=never until=1.5 %s", more);
    driven d = driven_create(model, options, NULL);
    if (driven_good(options, &d)) {
        keep(first, taut_solver_position(d.solver), 4);
        keep(first + 4, taut_solver_velocity(d.solver), 4);
        int code = looks ? taut_solver_keep(d.solver, true, &d.error) : 0;
        for (int k = 1; k < 4 && looks && code == 0; k++) { /* whole steps of all methods below */
            code = taut_solver_advance(d.solver, 0.375 * k, &d.error);
            code =
                code ? code
                     : taut_solver_interpolate(d.solver, 0.375 * k - 0.01, q, v, lambda, &d.error);
        }
        code = code ? code : taut_solver_advance(d.solver, 1.5, &d.error);
        keep(q, taut_solver_position(d.solver), 4);
        taut_solver_result_get(d.solver, &result, NULL);
        check_row(code == 0, "%s: %s", options, d.error.message);
        if (!strstr(options, "rtol")) {
            code = taut_solver_advance(d.solver, 0, &d.error);
            for (int i = 0; i < 4; i++) {
                check_near("back", taut_solver_position(d.solver)[i], first[i], 1e-11);
                check_near("back", taut_solver_velocity(d.solver)[i], first[4 + i], 1e-10);
            }
        }
    }
    z[0] = q[0] * sin(q[1]);
    z[1] = -q[0] * cos(q[1]);
    z[2] = z[0] + q[2] * sin(q[3]);
    z[3] = z[1] - q[2] * cos(q[3]);
    driven_destroy(&d);
    return result.statistics.force_evaluations;
}

static double farthest(const double *a, const double *b)
{
    double most = 0;
    for (int i = 0; i < 4; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* Orders against dop8, one evaluation in each step of the base method, rows that change nothing,
 * and the motion of Cartesian coordinates, from which the initial state (9) differs by O(eps^2). */
static void test_momenta(void)
{
    static const struct {
        const char *method, *step[2];
        int order, steps; /* of the base method, with the longer step */
    } rows[] = {{"rattle", {"step=0.05", "step=0.025"}, 2, 30},
                {"rattle4", {"step=0.15", "step=0.075"}, 4, 50},
                {"rattle6", {"step=0.125", "step=0.0625"}, 6, 108}};
    static const struct {
        const char *model, *motion, *exact;
    } ways[] = {{SPRINGS, "", "method=effective rtol=1e-12"},
                {HALF, "", "method=effective rtol=1e-12"},
                {HALF, "motion=rigid ", "motion=rigid method=dop8 rtol=1e-12"}};
    check_group("kinetic energies");
    for (int m = 0; m < 3; m++) {
        double exact[4], z[4], same[4];
        polar_end(ways[m].model, ways[m].exact, false, exact);
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
            double error[2];
            char more[80];
            for (int j = 0; j < 2; j++) {
                snprintf(more, sizeof more, "%smethod=%s %s", ways[m].motion, rows[k].method,
                         rows[k].step[j]);
                int64_t count = polar_end(ways[m].model, more, false, z);
                error[j] = farthest(z, exact);
                check_row(j > 0 || (count >= rows[k].steps && count <= rows[k].steps + 8),
                          "%s: %lld evaluations", more, (long long)count);
            }
            polar_end(ways[m].model, more, true, same);
            check_row(farthest(z, same) < 1e-13, "%s: rows change the motion by %g", more,
                      farthest(z, same));
            double order = log2(error[0] / error[1]);
            check_row(fabs(order - rows[k].order) < 0.7 && error[0] < 2e-2,
                      "%s: errors %g, %g, order %.2f", rows[k].method, error[0], error[1], order);
        }
        if (m == 0) {
            end_of("rattle8", "step=0.3", z);
            check_below("Cartesian", farthest(z, exact), 10e-6);
        }
    }
    check_energy("rattle", SPRINGS, 0.02, 10000, 2e-3, 1e-4);
}

/* A failed allocation at every place; none while stepping. */
static void test_memory(void)
{
    check_group("kinetic energies, memory");
    for (int64_t k = 1; k < 3000; k = faulty_next(k)) {
        faulty f = {.fail = k};
        taut_allocator allocator = faulty_allocator(&f);
        driven d = driven_create(
            HALF, "motion=effective method=rattle4 step=0.05 until=1 verify=never", &allocator);
        const bool failed = f.failed > 0;
        const int64_t before = f.calls;
        check_row(d.code == (failed ? TAUT_ERROR_MEMORY : 0), "call %d: %s", (int)k,
                  taut_code_name(d.code));
        if (!failed)
            check_row(taut_solver_advance(d.solver, 1, &d.error) == 0 && f.calls == before,
                      "%lld allocations while stepping: %s", (long long)(f.calls - before),
                      d.error.message);
        driven_destroy(&d);
        check_equal("live", f.live, 0);
        if (!failed)
            break;
    }
}

/* RATTLE is effective only where that is specified, needs a step size, and a kinetic energy that is
 * zero at rest, without forces that depend on velocities. */
static void test_choice(void)
{
#define CART(more)                                                                                 \
    "[coordinates]\nx, r\n[kinetic]\n(1 + r^2)*x'^2/2" more                                        \
    "\n[bonds]\nrod = r - 1 stiffness 1e4\n"                                                       \
    "[start]\nr = 1.01\nx' = 1\n"
    static const struct {
        const char *model, *options, *words;
    } rows[] = {
        {DOUBLE, "method=rattle motion=effective until=1", "a step size is required"},
        {CART("\nr'^2/2"), "method=rattle motion=effective until=1", "a step size is required"},
        {CART("\n(r' + 2)^2/2"), "method=rattle motion=effective until=1 step=0.01",
         "zero at rest"},
        {CART("\nr'^2/2\n[forces]\nx = -x'"), "method=rattle motion=effective until=1 step=0.01",
         "depend on velocities"},
        {"[coordinates]\nx, r\n[mass]\nx = 1 + r^2, r = 1\n[bonds]\nrod = r - 1 stiffness "
         "1e4\n[start]\nr = 1.01\nx' = 1\n",
         "method=rattle motion=full until=1 step=0.001", "mass matrix that varies"}};
    check_group("choice");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        driven d = driven_create(rows[k].model, rows[k].options, NULL);
        check_row(d.code < 0 && strstr(d.error.message, rows[k].words), "%s: %s", rows[k].options,
                  d.error.message);
        driven_destroy(&d);
    }
    driven d = driven_create(DOUBLE, "method=rattle until=1e4 step=1e-4", NULL);
    if (driven_good("without a motion", &d)) {
        taut_result result = {.size = sizeof result};
        taut_solver_result_get(d.solver, &result, NULL);
        check_row(strcmp(result.motion, "full") == 0, "motion %s", result.motion);
    }
    driven_destroy(&d);
}

int main(void)
{
    test_orders();
    test_energy();
    test_momenta();
    test_memory();
    test_choice();
    return check_done();
}
