/* test_monitor.c - what slow and effective motion rely on, along the run: separation and resonances
 * against closed forms, their times, the status of runs that Taut chose, memory and the number of
 * looks. */
#include <math.h>

#include "base/reuse.h"
#include "support/run.h"
#include "system/modes/modes.h"

/* x'' = -e^(2t) x has the rate e^t; the spring omega = 100 does not change. */
#define RISING                                                                                     \
    "[coordinates]\nx, y\n[potential]\nexp(2*t)*x^2/2\n[bonds]\nrod = y stiffness 100^2\n"         \
    "[start]\nx = 1\n"
#define PENDULUM                                                                                   \
    "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 stiffness 1e4^2\n"    \
    "[start]\nx = sin(1.2), y = -cos(1.2)\n"
/* [E example 1] without [run]; the initial energy of the springs does not depend on eps */
#define DOUBLE(eps)                                                                                \
    "[parameters]\neps = " eps "\n[coordinates]\na, b, c, d\n[potential]\nb + d\n[bonds]\n"        \
    "inner = sqrt(a^2 + b^2) - 1 stiffness eps^-2\n"                                               \
    "outer = sqrt((a-c)^2 + (b-d)^2) - 1 stiffness eps^-2\n"                                       \
    "[start]\na = sqrt(0.5), b = -sqrt(0.5), c = sqrt(2), d = 5*eps\n"

static int run(driven *d, const char *model, const char *options, taut_result *result)
{
    *d = driven_create(model, options, NULL);
    *result = (taut_result){.size = sizeof *result};
    if (!driven_good(options, d))
        return d->code;
    int code = taut_solver_run(d->solver, NULL, 0, NULL, NULL, &d->error);
    taut_solver_result_get(d->solver, result, NULL);
    return code;
}

/* ---- the separation against closed forms */

static double agm(double a, double b)
{
    for (int k = 0; k < 10; k++) {
        double mean = (a + b) / 2;
        b = sqrt(a * b);
        a = mean;
    }
    return a;
}

static void test_separation(void)
{
    driven d;
    taut_result r;
    check_group("separation");
    int code = run(&d, RISING, "motion=slow method=radau5 until=4", &r);
    check_row(code == 0 && r.looks > 8, "%s, %d looks", taut_code_name(code), (int)r.looks);
    check_near("at the end", r.separation, 100 * exp(-4), 1e-6 * r.separation);
    check_near("time of the smallest", r.separation_at, 4, 1e-14);
    double lost = NAN;
    const char *at = r.caution ? strstr(r.caution, "from t = ") : NULL;
    if (check_row(at && sscanf(at, "from t = %lf", &lost) == 1, "%s", r.caution ? r.caution : "-"))
        check_near("time at which it is 10", lost, log(10), 5e-3);
    check_row(isnan(r.resonance_at) && r.resonance_modes[0] == -1, "a resonance of one mode");
    driven_destroy(&d);
    code = run(&d, RISING, "motion=slow until=2", &r);
    check_row(code == 0 && !r.caution, "until 2: %s", r.caution ? r.caution : "-");
    check_near("at t = 2", r.separation, 100 * exp(-2), 1e-6 * r.separation);
    driven_destroy(&d);
    /* motions that do not rely on it */
    code = run(&d, RISING, "motion=full until=0.1", &r);
    check_row(code == 0 && r.looks == 0 && isnan(r.separation) && !r.caution, "full motion: %d",
              (int)r.looks);
    driven_destroy(&d);

    /* the rate of a pendulum is sqrt(cos phi + v^2), v^2 = 2 (cos phi - cos phi0): largest below,
     * sqrt(3 - 2 cos phi0), after a quarter of the period, pi/(2 agm(1, cos(phi0/2))) */
    double least = 1e4 / sqrt(3 - 2 * cos(1.2)), below = acos(-1) / 2 / agm(1, cos(0.6));
    char options[80];
    code = run(&d, PENDULUM, "motion=slow until=3 max-step=0.005", &r);
    check_near("pendulum", r.separation, least, 5e-3 * least); /* a look is near, not there */
    check_near("pendulum: time", r.separation_at, below, 0.1);
    check_row(code == 0 && !r.caution, "pendulum: %s", r.caution ? r.caution : "-");
    driven_destroy(&d);
    snprintf(options, sizeof options, "motion=slow until=%.17g", below);
    code = run(&d, PENDULUM, options, &r);
    check_near("pendulum, ends below", r.separation, least, 1e-6 * least);
    driven_destroy(&d);
}

/* ---- resonances */

/* docs/sources.md, E: the frequencies are 1:2 where the cosine between the bonds is 0.748. */
static void test_resonance(void)
{
    static const char *const ways[] = {"", "max-step=0.03", "method=projected-impulse step=0.01"};
    check_group("resonance");
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        char options[200];
        driven d, there;
        taut_result r;
        snprintf(options, sizeof options, "motion=effective until=5 %s", ways[k]);
        int code = run(&d, DOUBLE("1e-2"), options, &r);
        check_row(code == 0 && r.resonance_modes[0] == 1 && r.resonance_modes[1] == 0 &&
                      r.resonance_modes[2] == 0,
                  "%s: %s, modes %d %d %d", ways[k], taut_code_name(code), r.resonance_modes[0],
                  r.resonance_modes[1], r.resonance_modes[2]);
        check_near("time", r.resonance_at, 2.08, 0.01);
        check_below("distance", r.resonance_gap, 1e-12);
        check_row(r.caution && strstr(r.caution, "mode 2 ~ mode 1 + mode 1 at t = 2.08"), "%s",
                  r.caution ? r.caution : "-");
        driven_destroy(&d);
        there = driven_create(DOUBLE("1e-2"), "motion=effective until=5 rtol=1e-9", NULL);
        if (driven_good("there", &there) &&
            taut_solver_advance(there.solver, r.resonance_at, &there.error) == 0) {
            const double *q = taut_solver_position(there.solver);
            check_near("cosine", q[0] * (q[2] - q[0]) + q[1] * (q[3] - q[1]), 0.748, 0.01);
        }
        driven_destroy(&there);
    }
}

/* The reason of a choice that has become false: not plain success. */
static void test_status(void)
{
    static const struct {
        const char *model, *options;
        int code;
        bool caution;
        const char *motion;
    } rows[] = {
        {DOUBLE("1e-8"), "until=5", TAUT_INACCURATE, true, "effective"},
        {DOUBLE("1e-8"), "until=5 verify=always", TAUT_INACCURATE, true, "effective"},
        {DOUBLE("1e-8"), "until=1.5", TAUT_OK, false, "effective"},
        {DOUBLE("1e-8"), "until=5 motion=effective", TAUT_OK, true, "effective"},
        {DOUBLE("1e-8"), "until=5 method=effective", TAUT_OK, true, "effective"},
        {RISING, "until=4", TAUT_OK, false, "full"},
        {RISING, "until=4 motion=slow verify=always", TAUT_OK, true, "slow"},
    };
    check_group("status");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        driven d;
        taut_result r;
        int code = run(&d, rows[k].model, rows[k].options, &r);
        check_row(code == rows[k].code && r.status == code && r.motion &&
                      strcmp(r.motion, rows[k].motion) == 0,
                  "%s: %s, motion %s", rows[k].options, taut_code_name(code),
                  r.motion ? r.motion : "-");
        check_row((r.caution != NULL) == rows[k].caution, "%s: %s", rows[k].options,
                  r.caution ? r.caution : "-");
        driven_destroy(&d);
    }
}

/* Why slow motion has a warning and no other status: where its separation is lost it remains a
 * solution, here against another integrator of the full motion from the same slow point. */
static void test_slow_remains(void)
{
    static const char *const model =
        "[coordinates]\nx, y\n[potential]\nexp(2*t)*y\n[bonds]\n"
        "rod = sqrt(x^2 + y^2) - 1 stiffness 200^2\n[start]\nx = sin(1), y = -cos(1)\n";
    check_group("slow motion without separation");
    for (int end = 3; end <= 5; end++) {
        char options[100];
        taut_result r = {.size = sizeof r};
        snprintf(options, sizeof options, "motion=slow until=%d verify=always", end);
        driven slow = driven_create(model, options, NULL);
        snprintf(options, sizeof options, "motion=full method=dop8 rtol=1e-10 until=%d", end);
        driven full = driven_create(model, options, NULL);
        if (driven_good("slow", &slow) && driven_good("full", &full)) {
            int code = taut_solver_restart(full.solver, 0, taut_solver_position(slow.solver),
                                           taut_solver_velocity(slow.solver), &full.error);
            code += taut_solver_run(full.solver, NULL, 0, NULL, NULL, &full.error);
            code += taut_solver_run(slow.solver, NULL, 0, NULL, NULL, &slow.error);
            taut_solver_result_get(slow.solver, &r, NULL);
            const double *a = taut_solver_position(slow.solver),
                         *b = taut_solver_position(full.solver);
            check_row(code == 0 && r.separation < (end == 5   ? 2
                                                   : end == 4 ? 4
                                                              : 11),
                      "until %d: code %d, separation %g", end, code, r.separation);
            check_below("distance", fmax(fabs(a[0] - b[0]), fabs(a[1] - b[1])),
                        fmax(10 * r.error, 1e-7));
        }
        driven_destroy(&slow);
        driven_destroy(&full);
    }
}

/* ---- cost */

/* Nothing is allocated while stepping; looks are at most one in so many steps besides the first. */
static void test_cost(void)
{
    static const char *const ways[] = {"motion=slow until=20", "motion=slow until=3 max-step=0.001",
                                       "motion=effective until=5 max-step=0.002",
                                       "motion=slow until=2 step=0.001"};
    check_group("cost");
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        faulty f = {0};
        taut_allocator allocator = faulty_allocator(&f);
        taut_result r = {.size = sizeof r};
        driven d = driven_create(DOUBLE("1e-3"), ways[k], &allocator);
        if (driven_good(ways[k], &d)) {
            int64_t before = f.calls;
            int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            taut_solver_result_get(d.solver, &r, NULL);
            check_row(code == 0 && f.calls == before, "%s: %s, %d allocations", ways[k],
                      taut_code_name(code), (int)(f.calls - before));
            check_row(r.looks >= 3 && r.looks <= 19 + r.statistics.steps / 9,
                      "%s: %d looks in %d steps", ways[k], (int)r.looks, (int)r.statistics.steps);
        }
        driven_destroy(&d);
        check_equal("blocks left", f.live, 0);
    }
}

/* Blocks of requests that repeat in any order are found again. */
static void test_reuse(void)
{
    static const size_t sizes[] = {1, 100, 5000, 64, 70000, 5000, 64, 65, 300, 12345};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    taut_arena arena;
    taut_arena_init(&arena, NULL);
    taut_allocator again = taut_reuse_allocator(&arena);
    void *block[COUNT];
    int64_t bytes = 0;
    check_group("memory that is used again");
    for (int round = 0; round < 4; round++) {
        for (int k = 0; k < COUNT; k++) {
            block[k] = again.allocate(again.user, sizes[k]);
            memset(block[k], round, sizes[k]);
            for (int j = 0; j < k; j++)
                check_row(block[j] != block[k], "two requests have one block");
        }
        if (round == 0)
            bytes = arena.bytes;
        check_equal("bytes", arena.bytes, bytes);
        for (int k = 0; k < COUNT; k++)
            again.release(again.user, block[round % 2 ? k : COUNT - 1 - k]);
    }
    taut_arena_clear(&arena);
}

/* ---- the lowest frequency alone: 2 omega sin(pi/(4N + 2)) of a straight chain */

static void test_ends(void)
{
    check_group("the lowest frequency");
    for (int n = 1; n <= 600; n = 3 * n + 1) {
        char model[400];
        taut_system *system = NULL;
        taut_context *context = NULL;
        taut_error error;
        double ends[2] = {0}, *q = calloc((size_t)n, sizeof *q), *v = calloc((size_t)n, sizeof *v);
        int found = 0;
        snprintf(model, sizeof model,
                 "[coordinates]\nx[i] for i in 1..%d\n[bonds]\na = x[1] - 1 stiffness 100\n"
                 "b[i] = x[i] - x[i-1] - 1 for i in 2..%d stiffness 100\n[start]\n"
                 "x[i] = i for i in 1..%d\n",
                 n, n, n);
        int code = taut_system_parse(model, strlen(model), "chain", NULL, &system, &error);
        if (code == 0)
            code = taut_context_create(system, NULL, &context, &error);
        if (code == 0)
            code = taut_context_start(context, 0, q, v, &error);
        if (code == 0)
            code = taut_frequency_ends(context, 0, q, ends, &found, &error);
        double least = 20 * sin(acos(-1) / (4 * n + 2));
        if (check_row(code == 0 && found == (n == 1 ? 1 : 2), "N = %d: %s", n, error.message))
            check_near("lowest", ends[0], least, 1e-6 * least);
        taut_context_destroy(context);
        taut_system_destroy(system);
        free(q);
        free(v);
    }
}

static taut_check_report check_many(int n, const char *begin, double until, int *code)
{
    char model[400];
    taut_system *system = NULL;
    taut_check_report report = {.size = sizeof report};
    taut_error error;
    snprintf(model, sizeof model,
             "[particles]\ndimension = 2\np[i] for i in 1..%d\n[potential]\n"
             "sum(p[i].y for i in 1..%d)\n[bonds]\n"
             "b[i] = length(p[i] - (i, 0)) - 1 for i in 1..%d stiffness 1e8\n[start]\n"
             "p[i] = %s for i in 1..%d\n[run]\nuntil = %.17g\n",
             n, n, n, begin, n, until);
    *code = taut_system_parse(model, strlen(model), "many", NULL, &system, &error);
    if (*code == 0)
        *code = taut_check(system, NULL, &report, &error);
    taut_system_destroy(system);
    return report;
}

/* Pendulums of length 1 and gravity 1 that fall from the side, theta'' = cos(theta): at rest the
 * rate is 0, and later sqrt(lambda) = sqrt(3 sin(theta)), by small steps of RK4. */
static double falling_rate(double t)
{
    enum { STEPS = 1000 };
    double h = t / STEPS, q = 0, v = 0;
    for (int k = 0; k < STEPS; k++) {
        double a = cos(q), v2 = v + h / 2 * a, a2 = cos(q + h / 2 * v), v3 = v + h / 2 * a2,
               a3 = cos(q + h / 2 * v2), v4 = v + h * a3, a4 = cos(q + h * v3);
        q += h / 6 * (v + 2 * v2 + 2 * v3 + v4);
        v += h / 6 * (a + 2 * a2 + 2 * a3 + a4);
    }
    return sqrt(3 * sin(q));
}

/* Pilot runs up to 400 coordinates, leaps above: 4000/n of them, from 1 to 8, each of one radian
 * or, from 4 on, half of one. Pendulums at rest have the rate 1. States after the end do not count.
 */
static void test_pilot(void)
{
    check_group("pilot run");
    for (int n = 10; n <= 1000; n *= 10) {
        int code;
        taut_check_report report = check_many(n, "(i, -1)", 2, &code);
        check_row(code == 0 && report.slow_rate_states > 0, "%d coordinates: %d states", 2 * n,
                  report.slow_rate_states);
        check_near("rate", report.slow_rate, 1, 0.01);
    }
    static const struct {
        int n, states;
        double until, most; /* largest rate */
    } rows[] = {{100, 14, 10, 1.732}, {201, 8, 10, 1.732}, {1000, 2, 10, 1.732},
                {1000, 1, 1.5, 0},    {20000, 1, 10, 0},   {1000, 0, 0.5, 1}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        int code;
        taut_check_report report = check_many(rows[k].n, "(i + 1, 0)", rows[k].until, &code);
        bool enough = 2 * rows[k].n <= 400 ? report.slow_rate_states > 0
                                           : report.slow_rate_states == rows[k].states;
        check_row(code == 0 && enough, "%d falling pendulums: %d states", rows[k].n,
                  report.slow_rate_states);
        check_near("rate at the initial state", report.slow_rate_initial, 0, 1e-3);
        double exact = rows[k].states > 0 ? falling_rate(report.slow_rate_at) : 1;
        check_near("rate where it is largest", report.slow_rate, exact, 0.08 * exact);
        if (rows[k].most > 0)
            check_near("largest rate", report.slow_rate, rows[k].most, 0.08 * rows[k].most);
    }
}

int main(void)
{
    test_separation();
    test_resonance();
    test_status();
    test_slow_remains();
    test_cost();
    test_reuse();
    test_ends();
    test_pilot();
    return check_done();
}
