/* test_events_rods.c - states between steps, rows and events, hold what the ends of steps hold:
 * rigid bonds, their velocities, invariants. */
#include "support/run.h"

/* A pendulum of length 1 from the horizontal under gravity 1: theta'^2 = 2 sin(theta), so that y
 * = -1/2 at t = integral of d theta / sqrt(2 sin theta) from 0 to pi/6. */
#define PENDULUM                                                                                   \
    "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1\n[start]\nx = 1%s, "  \
    "y = 0%s\n[events]\n"                                                                          \
    "low = y + 0.5 falling %s\n"
static const double low_time = 1.02805680105212673;

static void pendulum(char *model, size_t size, const char *hold, const char *action)
{
    snprintf(model, size, PENDULUM, hold, hold, action);
}

/* Largest |g| and |gdot| of the rows of a unit rigid bond. */
static void off_rod(const kept *r, double *position, double *velocity)
{
    *position = *velocity = 0;
    for (int k = 0; k < r->rows; k++) {
        const double *q = r->q[k], *v = r->v[k];
        *position = fmax(*position, fabs(hypot(q[0], q[1]) - 1));
        *velocity = fmax(*velocity, fabs(q[0] * v[0] + q[1] * v[1]));
    }
}

static const char *const ways[] = {
    "until=3 every=0.01 method=dop8",           "until=3 every=0.01 method=dop8 rtol=1e-3",
    "until=3 every=0.01 method=dopri5",         "until=3 every=0.01 method=dop8 stabilize=project",
    "until=3 every=0.01 method=radau3",         "until=3 every=0.01 method=radau5",
    "until=3 every=0.01 method=radau9",         "until=3 every=0.007 method=rattle step=0.01",
    "until=3 every=0.007 method=rk4 step=0.05", "until=3 every=0.007 method=ab2 step=0.01",
    "until=-3 every=0.01 method=dop8",
};

static void test_rows(void)
{
    static kept r;
    char model[400];
    check_group("rows and stops on a rod");
    pendulum(model, sizeof model, "", "stop");
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        driven d = driven_create(model, ways[k], NULL);
        if (driven_good(ways[k], &d)) {
            taut_sink sink = kept_sink(&r);
            double position, velocity, way = strstr(ways[k], "until=-") ? -1 : 1;
            bool loose =
                strstr(ways[k], "rtol=1e-3") || strstr(ways[k], "ab2") || strstr(ways[k], "rattle");
            check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == TAUT_EVENT,
                      "%s: %s", ways[k], d.error.message);
            off_rod(&r, &position, &velocity);
            check_below(ways[k], position, 1e-12);
            check_below(ways[k], velocity, 1e-12);
            check_near("time of the event", taut_solver_time(d.solver), way * low_time,
                       loose ? 1e-3 : 1e-5);
            check_near("and where", taut_solver_position(d.solver)[1], -0.5, 1e-12);
            check_near("the last row is the state", r.t[r.rows - 1], taut_solver_time(d.solver), 0);
        }
        driven_destroy(&d);
    }
}

/* Who wants to see the drift sees it in rows too: nothing is put back that the steps leave. */
static void test_unstabilised(void)
{
    static kept r;
    char model[400];
    double position, velocity;
    check_group("rows without stabilisation");
    pendulum(model, sizeof model, "", "then x' = x'");
    driven d = driven_create(model, "until=30 every=0.1 method=rk4 step=0.25 stabilize=none", NULL);
    if (driven_good("run", &d)) {
        taut_sink sink = kept_sink(&r);
        check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == 0, "%s",
                  d.error.message);
        off_rod(&r, &position, &velocity);
        check_row(position > 1e-4, "the drift is there: %g", position);
    }
    driven_destroy(&d);
}

/* Rows and events do not count as work where the method itself needs nothing for them. */
static void test_counts(void)
{
    static const char *const of[] = {"until=3 method=rattle step=0.01", "until=3 method=radau5"};
    check_group("rows cost nothing that is counted");
    for (int k = 0; k < 2; k++) {
        taut_statistics cost[2];
        for (int j = 0; j < 2; j++) {
            char options[100];
            snprintf(options, sizeof options, "%s every=%s", of[k], j ? "0.0007" : "3");
            static kept r;
            driven d = driven_create("[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 "
                                     "+ y^2) - 1\n[start]\nx = 1\n",
                                     options, NULL);
            if (driven_good(options, &d)) {
                taut_sink sink = kept_sink(&r);
                check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == 0, "%s",
                          d.error.message);
                taut_result result = {.size = sizeof result};
                taut_solver_result_get(d.solver, &result, NULL);
                cost[j] = result.statistics;
            }
            driven_destroy(&d);
        }
        check_equal("steps", cost[1].steps, cost[0].steps);
        check_equal("newton iterations", cost[1].newton_iterations, cost[0].newton_iterations);
        /* Radau's multipliers at the end of a step have a factorisation of their own, for who
         * reads them */
        check_row(k == 0 || cost[0].factorisations + cost[0].steps / 2 <= cost[1].factorisations,
                  "%s: %lld factorisations, with rows %lld", of[k],
                  (long long)cost[0].factorisations, (long long)cost[1].factorisations);
        check_row(cost[1].force_evaluations <= cost[0].force_evaluations + cost[0].steps,
                  "%s: %lld evaluations, with rows %lld", of[k],
                  (long long)cost[0].force_evaluations, (long long)cost[1].force_evaluations);
    }
}

/* Invariants of first-order systems between steps: the energy of Kepler's motion, stabilised
 * after each step. */
static void test_invariants(void)
{
    static const char kepler[] = "[state]\nx, y, u, w\n[rates]\nx' = u\ny' = w\nu' = -x/(x^2 + "
                                 "y^2)^1.5\nw' = -y/(x^2 + y^2)^1.5\n"
                                 "[invariants]\nenergy = (u^2 + w^2)/2 - 1/sqrt(x^2 + "
                                 "y^2)\n[start]\nx = 0.5, w = 1.7320508\n"
                                 "[events]\nthere = x + 1 stop\n";
    static kept r;
    check_group("invariants in rows");
    driven d = driven_create(kepler, "until=20 every=0.01 method=dop8", NULL);
    if (driven_good("kepler", &d)) {
        taut_sink sink = kept_sink(&r);
        check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == TAUT_EVENT, "%s",
                  d.error.message);
        double off = 0, first = 1.7320508 * 1.7320508 / 2 - 2;
        for (int k = 0; k < r.rows; k++) {
            const double *z = r.q[k];
            off = fmax(off, fabs((z[2] * z[2] + z[3] * z[3]) / 2 - 1 / hypot(z[0], z[1]) - first));
        }
        check_below("energy of the rows", off, 1e-10);
        check_near("x at the event", taut_solver_position(d.solver)[0], -1, 1e-12);
    }
    driven_destroy(&d);
}

/* `hold` is about the start: a kick on a rigid bond between coordinates that [start] holds. Half
 * the speed at y = -1/2: the energy there, 1/2 of motion, becomes 1/8, so that it is -1/2 + 1/8
 * afterwards. */
static void test_held_start(void)
{
    char model[400];
    check_group("kicks after a held start");
    pendulum(model, sizeof model, " hold", "then x' = x'/2, y' = y'/2");
    for (size_t k = 0; k + 1 < sizeof ways / sizeof ways[0]; k++) {
        driven d = driven_create(model, ways[k], NULL);
        if (driven_good(ways[k], &d)) {
            int code = taut_solver_advance(d.solver, 2, &d.error);
            const double *q = taut_solver_position(d.solver), *v = taut_solver_velocity(d.solver);
            check_row(code == 0, "%s: %s", ways[k], d.error.message);
            check_near("energy", (v[0] * v[0] + v[1] * v[1]) / 2 + q[1], -0.375, 2e-3);
        }
        driven_destroy(&d);
    }
}

int main(void)
{
    test_rows();
    test_unstabilised();
    test_counts();
    test_invariants();
    test_held_start();
    return check_done();
}
