/* test_restart.c - taut_solver_restart: the same state continues bit for bit, a kick changes what
 * physics says, rigid bonds hold, rows and events begin again, misuse is refused. */
#include "support/run.h"

#define SPRING "[coordinates]\nx\n[bonds]\ns = x stiffness 100\n[start]\nx = 1\n"
#define FALL                                                                                       \
    "[coordinates]\nx\n[forces]\nx = -1\n[start]\nx = 1\n[events]\nfloor = x falling stop\n"
#define ROD                                                                                        \
    "[coordinates]\nx, y\n[bonds]\nr = sqrt(x^2 + y^2) - 1\n[forces]\ny = -10\n[start]\nx = 1\n"
#define RATE "[state]\nz\n[rates]\nz' = -z\n[start]\nz = 1\n"

/* At the state that the run has: fixed steps without history go on as if nothing had happened. */
static void test_same(void)
{
    static const char *const ways[][2] = {{SPRING, "motion=full method=verlet step=0.01 until=9"},
                                          {SPRING, "motion=full method=rk4 step=0.01 until=9"},
                                          {RATE, "method=rk4 step=0.01 until=9"}};
    check_group("the same state");
    for (int k = 0; k < 3; k++) {
        driven a = driven_create(ways[k][0], ways[k][1], NULL),
               b = driven_create(ways[k][0], ways[k][1], NULL);
        if (driven_good(ways[k][1], &a) && driven_good(ways[k][1], &b)) {
            taut_result one = {.size = sizeof one}, two = {.size = sizeof two};
            check_equal("1", taut_solver_advance(a.solver, 1, &a.error), 0);
            check_equal("1", taut_solver_advance(b.solver, 1, &b.error), 0);
            double q = taut_solver_position(b.solver)[0], v = taut_solver_velocity(b.solver)[0];
            check_row(taut_solver_restart(b.solver, 1, &q, &v, &b.error) == 0, "%s",
                      b.error.message);
            check_equal("2", taut_solver_advance(a.solver, 2, &a.error), 0);
            check_equal("2", taut_solver_advance(b.solver, 2, &b.error), 0);
            check_near(ways[k][1], taut_solver_position(b.solver)[0],
                       taut_solver_position(a.solver)[0], 0);
            taut_solver_result_get(a.solver, &one, NULL);
            taut_solver_result_get(b.solver, &two, NULL);
            check_equal("steps go on", two.statistics.steps, one.statistics.steps);
        }
        driven_destroy(&a);
        driven_destroy(&b);
    }
}

/* x = A cos(10 t) + B sin(10 t): a kick of the velocity, and another time. */
static void test_kick(void)
{
    static const char *const ways[] = {"motion=full method=dopri5 rtol=1e-10 atol=1e-12 until=9",
                                       "motion=full method=radau5 rtol=1e-9 atol=1e-12 until=9",
                                       "motion=full method=verlet step=1e-4 until=9"};
    check_group("kick");
    for (int k = 0; k < 3; k++) {
        driven d = driven_create(SPRING, ways[k], NULL);
        const double q = 0.5, v = 3, t = 7;
        if (driven_good(ways[k], &d)) {
            check_equal("advance", taut_solver_advance(d.solver, 0.3, &d.error), 0);
            check_row(taut_solver_restart(d.solver, t, &q, &v, &d.error) == 0, "%s",
                      d.error.message);
            check_near("time", taut_solver_time(d.solver), t, 0);
            check_row(taut_solver_advance(d.solver, t + 0.7, &d.error) == 0, "%s", d.error.message);
            check_near(ways[k], taut_solver_position(d.solver)[0], q * cos(7) + 0.3 * sin(7), 2e-6);
        }
        driven_destroy(&d);
    }
}

static void test_rigid(void)
{
    driven d = driven_create(ROD, "motion=rigid rtol=1e-9 atol=1e-11 until=9", NULL);
    const double q[2] = {0, 2}, v[2] = {1, 1};
    check_group("rigid bonds");
    if (driven_good("rigid", &d)) {
        check_row(taut_solver_restart(d.solver, 0, q, v, &d.error) == 0, "%s", d.error.message);
        const double *x = taut_solver_position(d.solver), *u = taut_solver_velocity(d.solver);
        check_near("|x|", hypot(x[0], x[1]), 1, 1e-13);
        check_near("x u", x[0] * u[0] + x[1] * u[1], 0, 1e-13);
        check_near("lambda", taut_solver_multipliers(d.solver)[0], u[0] * u[0] - 10, 1e-9);
        check_equal("advance", taut_solver_advance(d.solver, 1, &d.error), 0);
        x = taut_solver_position(d.solver);
        check_near("|x| later", hypot(x[0], x[1]), 1, 1e-10);
    }
    driven_destroy(&d);
}

/* Slow motion continues from the slow point of a given state, as a run that begins there: with
 * springs, with an event that alters the state, with a stiff potential, with forces alone in place
 * of jets. Nothing is held any more. */
#define SLOW(model, start) "[coordinates]\nx, y\n" model "\n[start]\n" start "\n"
static void test_slow(void)
{
#define PLANE "[bonds]\ns = sqrt(x^2 + y^2) - 1 stiffness 1e4\n"
#define HIT "[events]\nhit = y + 9 falling then y' = -y'\n"
#define POTENTIAL "[stiff potential]\n(sqrt(x^2 + y^2) - 1)^2/2 scale 1e4\n"
#define OFF "x = 1.05, y = 0.1\nx' = 0.3, y' = 1\n"
    static const char *const models[][2] = {
        {SLOW(PLANE, "x = 1, y' = 0.5"), SLOW(PLANE, OFF)},
        {SLOW(PLANE HIT, "x = 1, y' = 0.5"), SLOW(PLANE HIT, OFF)},
        {SLOW(PLANE, "x = 1 hold, y' = 0.5"), SLOW(PLANE, OFF)},
        {SLOW(POTENTIAL, "x = 1, y' = 0.5"), SLOW(POTENTIAL, OFF)},
    };
    static const char options[] = "motion=slow until=9 from=0.5 rtol=1e-9 atol=1e-11";
    const double q[2] = {1.05, 0.1}, v[2] = {0.3, 1};
    check_group("slow motion");
    for (size_t k = 0; k < sizeof models / sizeof models[0]; k++) {
        driven a = driven_create(models[k][0], options, NULL),
               b = driven_create(models[k][1], options, NULL);
        if (driven_good("run", &a) && driven_good("from the state", &b)) {
            taut_result result = {.size = sizeof result};
            check_equal("advance", taut_solver_advance(a.solver, 2, &a.error), 0);
            check_row(taut_solver_restart(a.solver, 0.5, q, v, &a.error) == 0, "model %d: %s",
                      (int)k, a.error.message);
            taut_solver_result_get(a.solver, &result, NULL);
            check_row(result.put_back > 0.04, "model %d: moved by %g", (int)k, result.put_back);
            for (int i = 0; i < 2; i++) {
                check_near("q", taut_solver_position(a.solver)[i],
                           taut_solver_position(b.solver)[i], 0);
                check_near("v", taut_solver_velocity(a.solver)[i],
                           taut_solver_velocity(b.solver)[i], 0);
            }
            /* circles of the radius r, 1e4 r^3 (r - 1) = (x y' - y x')^2 [A 2.3] */
            const double *x = taut_solver_position(a.solver), *u = taut_solver_velocity(a.solver);
            double moment = x[0] * u[1] - x[1] * u[0], r = 1;
            for (int i = 0; i < 50; i++)
                r = 1 + moment * moment / (1e4 * r * r * r);
            check_near("radius", hypot(x[0], x[1]), r, 1e-10);
            /* a state that is slow stays, to rounding */
            const double slow[4] = {x[0], x[1], u[0], u[1]};
            check_equal("slow", taut_solver_restart(a.solver, 0.5, slow, slow + 2, &a.error), 0);
            for (int i = 0; i < 2; i++) {
                check_near("q stays", taut_solver_position(a.solver)[i], slow[i], 4e-16);
                check_near("v stays", taut_solver_velocity(a.solver)[i], slow[i + 2], 4e-16);
            }
            double angle = atan2(slow[1], slow[0]) + 3.5 * moment / (r * r);
            check_equal("on", taut_solver_advance(a.solver, 4, &a.error), 0);
            check_equal("on", taut_solver_advance(b.solver, 4, &b.error), 0);
            x = taut_solver_position(a.solver);
            u = taut_solver_velocity(a.solver);
            check_near("radius later", hypot(x[0], x[1]), r, 1e-8);
            check_near("x later", x[0], r * cos(angle), 1e-7);
            check_near("x later", taut_solver_position(b.solver)[0], r * cos(angle), 1e-7);
        }
        driven_destroy(&a);
        driven_destroy(&b);
    }
}

/* A state without a slow point is refused, and so is one for which there is no memory. */
static void test_slow_failures(void)
{
    check_group("slow motion, failures");
    const double q[2] = {1.05, 0.1}, v[2] = {0.3, 1}, top[2] = {0, 1.05};
    /* forces that end between the state and the bond */
    driven d = driven_create(
        SLOW(PLANE "[forces]\nx = if(y > 0.5, sqrt(y - 1.01), 0)\n", "x = 1, y' = 0.5"),
        "motion=slow until=9", NULL);
    if (driven_good("run", &d)) {
        int code = taut_solver_restart(d.solver, 0, top, v, &d.error);
        check_row(code == TAUT_ERROR_EVALUATE, "%s: %s", taut_code_name(code), d.error.message);
        check_contains(
            "top", d.error.message,
            "slow motion continues from the slow point of the given state, which was not "
            "found: ");
        check_near("the state stays", taut_solver_position(d.solver)[1], 0, 1e-15);
    }
    driven_destroy(&d);
    int code = TAUT_ERROR_MEMORY, k = 0;
    for (; code == TAUT_ERROR_MEMORY && k < 3000; k++) {
        faulty f = {0};
        taut_allocator allocator = faulty_allocator(&f);
        d = driven_create(SLOW(PLANE, "x = 1, y' = 0.5"), "motion=slow until=9", &allocator);
        f.fail = f.calls + 1 + k;
        code = d.code ? d.code : taut_solver_restart(d.solver, 0, q, v, &d.error);
        driven_destroy(&d);
        if (f.live != 0)
            check_row(false, "failure %d leaves %d blocks", k, (int)f.live);
    }
    check_row(code == 0 && k > 5, "%d failures, then %s", k - 1, taut_code_name(code));
}

/* An event that ended the run is met again; rows begin at the new time. */
static void test_events_and_rows(void)
{
    static kept rows;
    driven d = driven_create(FALL, "method=rk4 step=0.1 until=9 every=0.25", NULL);
    const double q = 2, v = 0;
    taut_sink sink = kept_sink(&rows);
    check_group("events and rows");
    if (driven_good("fall", &d)) {
        check_equal("met", taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error), TAUT_EVENT);
        check_near("at", taut_solver_time(d.solver), sqrt(2), 1e-9);
        check_row(taut_solver_restart(d.solver, 0.6, &q, &v, &d.error) == 0, "%s", d.error.message);
        check_equal("again", taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error), TAUT_EVENT);
        check_near("then at", taut_solver_time(d.solver), 2.6, 1e-9);
        check_near("first row", rows.t[0], 0.6, 0);
        check_near("second row", rows.t[1], 0.75, 0);
        check_near("x there", rows.q[1][0], 2 - 0.15 * 0.15 / 2, 1e-12);
    }
    driven_destroy(&d);
}

static void test_misuse(void)
{
    driven d = driven_create(SPRING, "motion=full method=verlet step=0.01 until=9", NULL);
    const double x = 1, nan = NAN;
    check_group("misuse");
    if (driven_good("spring", &d)) {
        const struct {
            taut_solver *solver;
            double t;
            const double *q, *v;
        } rows[] = {{NULL, 0, &x, &x},       {d.solver, 0, NULL, &x}, {d.solver, 0, &x, NULL},
                    {d.solver, NAN, &x, &x}, {d.solver, 0, &nan, &x}, {d.solver, 0, &x, &nan}};
        for (int k = 0; k < 6; k++) {
            int code =
                taut_solver_restart(rows[k].solver, rows[k].t, rows[k].q, rows[k].v, &d.error);
            check_row(code == TAUT_ERROR_USAGE && d.error.message[0], "row %d: %d %s", k, code,
                      d.error.message);
        }
        check_near("nothing moved", taut_solver_position(d.solver)[0], 1, 0);
    }
    driven_destroy(&d);
    /* a state from which the rigid bond cannot be reached: the centre */
    d = driven_create(ROD, "motion=rigid until=9", NULL);
    const double centre[2] = {0, 0}, rest[2] = {0, 0};
    if (driven_good("rod", &d)) {
        int code = taut_solver_restart(d.solver, 0, centre, rest, &d.error);
        check_row(code < 0 && d.error.message[0], "%d %s", code, d.error.message);
        check_near("the state stays", taut_solver_position(d.solver)[0], 1, 1e-15);
    }
    driven_destroy(&d);
}

int main(void)
{
    test_same();
    test_kick();
    test_rigid();
    test_slow();
    test_slow_failures();
    test_events_and_rows();
    test_misuse();
    return check_done();
}
