/* test_clock.c - the clock for durations is CLOCK_MONOTONIC, which cannot be set, and nothing else;
 * progress is reported by it. The clock of the machine is replaced by one that the test moves. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "base/clock.h"

#include <time.h>

#include "support/run.h"

#ifdef CLOCK_MONOTONIC

static struct {
    struct timespec now;  /* of CLOCK_MONOTONIC */
    double tick;          /* it advances by this many seconds at each reading */
    int readings, others; /* others: of clocks that can be set */
    bool real, broken;
} machine;

int __real_clock_gettime(clockid_t which, struct timespec *now);
int __wrap_clock_gettime(clockid_t which, struct timespec *now);

int __wrap_clock_gettime(clockid_t which, struct timespec *now)
{
    machine.readings++;
    machine.others += which != CLOCK_MONOTONIC;
    if (machine.broken)
        return -1;
    if (machine.real)
        return __real_clock_gettime(which, now);
    machine.now.tv_sec += (time_t)machine.tick;
    *now = machine.now;
    return 0;
}

static void test_readings(void)
{
    check_group("readings");
    static const struct timespec times[] = {{0, 0}, {5, 250000000}, {5, 250000001}, {1000000, 1}};
    static const double seconds[] = {0, 5.25, 5.250000001, 1000000.000000001};
    for (int k = 0; k < 4; k++) {
        machine.now = times[k];
        check_near("seconds", taut_clock(), seconds[k], 0);
    }
    check_equal("clocks that can be set", machine.others, 0);
    check_equal("one reading each", machine.readings, 4);
    machine.real = true;
    double last = taut_clock(), first = last;
    int backwards = 0;
    for (int k = 0; k < 200000; k++) {
        double now = taut_clock();
        backwards += now < last;
        last = now;
    }
    check_equal("readings before their predecessor", backwards, 0);
    check_row(last > first, "200000 readings take no time: %.17g to %.17g", first, last);
    /* without it, the processor time is left, which cannot be set either */
    machine.broken = true;
    double before = (double)clock() / CLOCKS_PER_SEC, between = taut_clock();
    check_row(before <= between && between <= (double)clock() / CLOCKS_PER_SEC,
              "processor time %g after %g", between, before);
    machine.broken = machine.real = false;
}

static int count(void *user, double t, double until, int64_t steps)
{
    (void)t, (void)until, (void)steps;
    ++*(int *)user;
    return 0;
}

/* Steps of an adaptive size are reported when 0.1 s have passed: each or none. */
static void test_progress(void)
{
    check_group("progress");
    for (int tick = 0; tick < 2; tick++) {
        int calls = 0;
        driven d = driven_create("[coordinates]\nx\n[potential]\nx^2/2\n[start]\nx = 1\n",
                                 "motion=full method=dop8 until=20", NULL);
        machine.tick = tick;
        if (driven_good("run", &d)) {
            taut_result result = {.size = sizeof result};
            check_equal("run", taut_solver_run(d.solver, NULL, 0, count, &calls, &d.error), 0);
            taut_solver_result_get(d.solver, &result, NULL);
            check_row(result.statistics.steps > 10 && result.statistics.steps < 1000, "%d steps",
                      (int)result.statistics.steps);
            if (tick)
                check_row(calls >= result.statistics.steps, "%d calls", calls);
            else
                check_equal("calls while the clock stands still", calls, 0);
        }
        driven_destroy(&d);
    }
    check_equal("clocks that can be set", machine.others, 0);
}

static int stop_at_three(void *user, double t, double until, int64_t steps)
{
    (void)t, (void)until, (void)steps;
    return ++*(int *)user == 3;
}

/* An advance that is interrupted goes on to the same state. */
static void test_watch(void)
{
    double end[2] = {0, 1};
    check_group("progress of advances");
    machine.tick = 1;
    for (int way = 0; way < 2; way++) {
        int calls = 0, status = 0;
        driven d = driven_create("[coordinates]\nx\n[potential]\nx^2/2\n[start]\nx = 1\n",
                                 "motion=full method=dop8 until=20", NULL);
        if (driven_good("run", &d) && way == 1) {
            check_equal("watch", taut_solver_watch(d.solver, stop_at_three, &calls, &d.error), 0);
            status = taut_solver_advance(d.solver, 20, &d.error);
            check_row(status == TAUT_INTERRUPTED && calls == 3 && taut_solver_time(d.solver) > 0 &&
                          taut_solver_time(d.solver) < 20,
                      "%d after %d calls at t = %g", status, calls, taut_solver_time(d.solver));
            check_equal("none", taut_solver_watch(d.solver, NULL, NULL, &d.error), 0);
        }
        check_equal("advance", taut_solver_advance(d.solver, 20, &d.error), 0);
        check_row(calls == 3 * way, "%d calls", calls);
        if (d.solver)
            end[way] = taut_solver_position(d.solver)[0];
        driven_destroy(&d);
    }
    check_near("the same end", end[1], end[0], 0);
}

int main(void)
{
    test_readings();
    test_progress();
    test_watch();
    return check_done();
}

#else

int main(void)
{
    check_skip("there is no CLOCK_MONOTONIC");
    return check_done();
}

#endif
