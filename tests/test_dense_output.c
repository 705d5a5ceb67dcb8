/* test_dense_output.c - a finished run at any time: interpolation of kept steps has its order, ends
 * at events, holds rigid bonds, follows restarts; rows in memory are those of the run. */
#include "support/run.h"

#define SPRING "[coordinates]\nx\n[bonds]\ns = x stiffness 1\n[start]\nx = 1\n"
#define BALL                                                                                       \
    "[coordinates]\nx\n[forces]\nx = -1\n[start]\nx = 1\n"                                         \
    "[events]\nfloor = x falling then x' = -x'\n[outputs]\ntwice = 2*x\n"
#define ROD                                                                                        \
    "[coordinates]\nx, y\n[bonds]\nr = sqrt(x^2 + y^2) - 1\n[forces]\ny = -10\n[start]\nx = 1\n"
#define RATE "[state]\nz\n[rates]\nz' = -z\n[start]\nz = 1\n"

/* Largest error in q and v at 1000 times of a run of cos t, or exp -t. */
static void errors(const char *model, const char *options, double *off_q, double *off_v)
{
    driven d = driven_create(model, options, NULL);
    *off_q = *off_v = NAN;
    if (driven_good(options, &d)) {
        double q = 0, v = 0, from, until;
        bool first = strcmp(model, RATE) == 0;
        *off_q = *off_v = 0;
        check_equal("keep", taut_solver_keep(d.solver, true, &d.error), 0);
        check_equal("run", taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error), 0);
        check_row(taut_solver_kept(d.solver, &from, &until) > 0 && from == 0 && until == 3,
                  "%g to %g", from, until);
        for (int k = 0; k <= 1000; k++) {
            double t = 0.003 * k;
            int code = taut_solver_interpolate(d.solver, t > 3 ? 3 : t, &q, first ? NULL : &v, NULL,
                                               &d.error);
            if (code != 0)
                check_row(false, "t = %g: %s", t, d.error.message);
            *off_q = fmax(*off_q, fabs(q - (first ? exp(-t) : cos(t))));
            *off_v = fmax(*off_v, first ? 0 : fabs(v + sin(t)));
        }
    }
    driven_destroy(&d);
}

static void test_order(void)
{
    static const struct {
        const char *model, *method;
        double step, order_q, order_v; /* of the interpolation, or the method where that is less */
    } rows[] = {{SPRING, "motion=full method=rk4", 0.1, 4, 4},
                {SPRING, "motion=full method=dop8", 0.5, 6, 5},
                {SPRING, "motion=full method=radau9", 0.5, 4, 3},
                {SPRING, "motion=full method=verlet", 0.1, 2, 2},
                {RATE, "method=rk4", 0.2, 4, 0}};
    check_group("order");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char options[2][100];
        double q[2], v[2];
        for (int half = 0; half < 2; half++) {
            snprintf(options[half], sizeof options[0], "%s step=%g until=3", rows[k].method,
                     half ? rows[k].step / 2 : rows[k].step);
            errors(rows[k].model, options[half], &q[half], &v[half]);
        }
        check_row(log2(q[0] / q[1]) > rows[k].order_q - 0.35, "%s: q %.2g, %.2g: order %.2f",
                  rows[k].method, q[0], q[1], log2(q[0] / q[1]));
        if (rows[k].order_v > 0)
            check_row(log2(v[0] / v[1]) > rows[k].order_v - 0.35, "%s: v %.2g, %.2g: order %.2f",
                      rows[k].method, v[0], v[1], log2(v[0] / v[1]));
    }
    double q, v;
    errors(SPRING, "motion=full method=dopri5 rtol=1e-8 atol=1e-10 until=3", &q, &v);
    check_below("adaptive: q", q, 3e-8);
    check_below("adaptive: v", v, 1e-7);
}

/* Bounces at sqrt 2 and 3 sqrt 2: on both sides of the first the parabolas are exact. */
static void test_events(void)
{
    driven d = driven_create(BALL, "method=rk4 step=0.1 until=4", NULL);
    const double root = sqrt(2);
    check_group("events");
    if (driven_good("ball", &d)) {
        double off = 0, x, v;
        check_equal("keep", taut_solver_keep(d.solver, true, &d.error), 0);
        check_equal("run", taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error), 0);
        for (int k = 0; k <= 400; k++) {
            double t = 0.01 * k, s = t < root ? t : t - 2 * root;
            check_equal("at", taut_solver_interpolate(d.solver, t, &x, &v, NULL, &d.error), 0);
            off = fmax(off, fmax(fabs(x - (1 - s * s / 2)), fabs(v + s)));
        }
        check_below("parabolas", off, 1e-9);
        check_equal("before", taut_solver_interpolate(d.solver, -0.1, &x, &v, NULL, &d.error),
                    TAUT_ERROR_USAGE);
        check_contains("before", d.error.message, "outside");
        check_equal("after", taut_solver_interpolate(d.solver, 4.1, &x, &v, NULL, &d.error),
                    TAUT_ERROR_USAGE);
        check_equal("back", taut_solver_advance(d.solver, 3.5, &d.error), 0);
        double from, until;
        check_row(taut_solver_kept(d.solver, &from, &until) > 0 && from == 4 && until == 3.5,
                  "backwards: %g to %g", from, until);
        check_equal("inside", taut_solver_interpolate(d.solver, 3.7, &x, NULL, NULL, &d.error), 0);
        check_near("x(3.7)", x, 1 - pow(3.7 - 2 * root, 2) / 2, 1e-9);
        const double q0 = 5, v0 = 0;
        check_equal("restart", taut_solver_restart(d.solver, 0, &q0, &v0, &d.error), 0);
        check_equal("on", taut_solver_advance(d.solver, 1, &d.error), 0);
        check_equal("x", taut_solver_interpolate(d.solver, 0.55, &x, NULL, NULL, &d.error), 0);
        check_near("after the restart", x, 5 - 0.55 * 0.55 / 2, 1e-12);
        check_equal("off", taut_solver_keep(d.solver, false, &d.error), 0);
        check_equal("none", taut_solver_kept(d.solver, &from, &until), 0);
        check_row(isnan(from) && isnan(until), "no times");
    }
    driven_destroy(&d);
}

/* A rigid pendulum: the bond, its rate and the multiplier 3 g cos from the energy. */
static void test_rigid(void)
{
    driven d = driven_create(ROD, "motion=rigid rtol=1e-9 atol=1e-11 until=2", NULL);
    check_group("rigid bonds");
    if (driven_good("pendulum", &d)) {
        double bond = 0, rate = 0, pull = 0;
        check_equal("keep", taut_solver_keep(d.solver, true, &d.error), 0);
        check_equal("run", taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error), 0);
        for (int k = 1; k < 200; k++) {
            double q[2], v[2], lambda[1];
            check_equal("at", taut_solver_interpolate(d.solver, 0.01 * k, q, v, lambda, &d.error),
                        0);
            bond = fmax(bond, fabs(hypot(q[0], q[1]) - 1));
            rate = fmax(rate, fabs(q[0] * v[0] + q[1] * v[1]));
            pull = fmax(pull, fabs(lambda[0] + 30 * q[1]));
        }
        check_below("bond", bond, 1e-9);
        check_below("rate", rate, 1e-8);
        check_below("multiplier", pull, 1e-5);
    }
    driven_destroy(&d);
}

static void test_memory_sink(void)
{
    static kept rows;
    driven d = driven_create(BALL, "method=rk4 step=0.001 every=0.002 until=1", NULL);
    taut_memory_sink *memory = NULL;
    taut_memory_rows got = {.size = sizeof got};
    taut_sink sinks[2] = {kept_sink(&rows)};
    check_group("rows in memory");
    check_equal("create", taut_memory_sink_create(NULL, &memory, &sinks[1], &d.error), 0);
    if (driven_good("ball", &d)) {
        check_equal("run", taut_solver_run(d.solver, sinks, 2, NULL, NULL, &d.error), 0);
        check_equal("get", taut_memory_sink_get(memory, &got, &d.error), 0);
        check_row(got.rows == rows.rows && got.rows == 501, "%d rows", (int)got.rows);
        check_row(got.coordinates == 1 && got.velocities == 1 && got.outputs == 1 &&
                      got.multipliers == 0,
                  "sizes");
        double off = 0;
        for (int k = 0; k < got.rows; k++)
            off = fmax(off, fmax(fabs(got.t[k] - rows.t[k]) + fabs(got.q[k] - rows.q[k][0]),
                                 fabs(got.v[k] - rows.v[k][0]) +
                                     fabs(got.output[k] - rows.output[k][0]) +
                                     fabs(got.energy[k] - rows.energy[k])));
        check_near("the same numbers", off, 0, 0);
        check_equal("again", taut_solver_run(d.solver, &sinks[1], 1, NULL, NULL, &d.error), 0);
        check_equal("get", taut_memory_sink_get(memory, &got, &d.error), 0);
        check_row(got.rows > 501, "rows of a second run follow: %d", (int)got.rows);
        driven other = driven_create(ROD, "motion=rigid until=1", NULL);
        check_equal("another system",
                    taut_solver_run(other.solver, &sinks[1], 1, NULL, NULL, &d.error),
                    TAUT_ERROR_USAGE);
        driven_destroy(&other);
    }
    taut_memory_sink_destroy(memory);
    for (int64_t k = 1; k < 100; k++) {
        faulty f = {.fail = k};
        taut_allocator allocator = faulty_allocator(&f);
        memory = NULL;
        int code = taut_memory_sink_create(&allocator, &memory, &sinks[1], &d.error);
        if (code == 0 && d.solver)
            taut_solver_restart(d.solver, 0, (double[]){1}, (double[]){0}, &d.error);
        if (code == 0)
            code = taut_solver_run(d.solver, &sinks[1], 1, NULL, NULL, &d.error);
        taut_memory_sink_destroy(memory);
        check_row(code == (f.failed ? TAUT_ERROR_MEMORY : 0) && f.live == 0, "call %d: %d, %d left",
                  (int)k, code, (int)f.live);
        if (!f.failed)
            break;
    }
    driven_destroy(&d);
}

/* Rows at given times, by the dense output of the run: also when a second look repeats it; events
 * are rows with their number. */
static void test_times(void)
{
    static const double given[] = {0.1, 0.45, 1, 1, 2.5};
    enum { GIVEN = sizeof given / sizeof given[0] };
    static const struct {
        const char *options;
        double off;
    } table[] = {{"rtol=1e-9 until=3 verify=always", 1e-9},
                 {"rtol=1e-9 until=3 every=step verify=always", 1e-9},
                 {"method=rk4 step=0.01 until=3 every=0.7", 1e-12}};
    check_group("given times");
    for (int k = 0; k < 3; k++) {
        driven d = driven_create(BALL, table[k].options, NULL);
        taut_memory_sink *memory = NULL;
        taut_memory_rows got = {.size = sizeof got};
        taut_sink sink;
        check_equal("create", taut_memory_sink_create(NULL, &memory, &sink, &d.error), 0);
        check_equal("times", taut_solver_times(d.solver, given, GIVEN, &d.error), 0);
        check_equal("run", taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error), 0);
        taut_memory_sink_get(memory, &got, NULL);
        /* the initial state, 0.1, 0.45, 1, two of the event at sqrt 2, 2.5, the end */
        check_equal("rows", got.rows, 8);
        for (int i = 0; i < got.rows && got.rows == 8; i++) {
            static const double wanted[] = {0, 0.1, 0.45, 1, -1, -1, 2.5, 3};
            double t = wanted[i] < 0 ? sqrt(2) : wanted[i], s = t - (i > 4) * 2 * sqrt(2);
            check_near("time", got.t[i], t, 1e-8);
            check_near("state", got.q[i], 1 - s * s / 2, 10 * table[k].off);
            check_near("event", got.event[i], i == 4, 0);
        }
        check_equal("unsorted", taut_solver_times(d.solver, (double[]){2, 1}, 2, &d.error),
                    TAUT_ERROR_USAGE);
        check_equal("behind", taut_solver_times(d.solver, (double[]){4}, 1, &d.error),
                    TAUT_ERROR_USAGE);
        taut_memory_sink_destroy(memory);
        driven_destroy(&d);
    }
}

/* Keeping steps needs memory while running: its failure is an error, and nothing is lost. */
static void test_faults(void)
{
    check_group("memory");
    int64_t before = 0;
    for (int64_t k = 0; k < 400; k = k == 0 ? before + 1 : k + 1) {
        faulty f = {.fail = k};
        taut_allocator allocator = faulty_allocator(&f);
        driven d = driven_create(SPRING, "motion=full method=rk4 step=0.1 until=3", &allocator);
        int code = d.code;
        before = k == 0 ? f.calls : before;
        if (code == 0)
            code = taut_solver_keep(d.solver, true, &d.error);
        if (code == 0)
            code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        driven_destroy(&d);
        check_row(code == (f.failed ? TAUT_ERROR_MEMORY : 0) && f.live == 0, "call %d: %d, %d left",
                  (int)k, code, (int)f.live);
        if (k > 0 && !f.failed)
            break;
    }
}

int main(void)
{
    test_order();
    test_events();
    test_rigid();
    test_memory_sink();
    test_times();
    test_faults();
    return check_done();
}
