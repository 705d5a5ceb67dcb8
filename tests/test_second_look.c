/* test_second_look.c - the second run with a tenth of the tolerance: its difference from the first
 * against exact solutions, forces that the first run steps over, chaotic motion, and rows, which
 * are written once and belong to the better run. */
#include "support/run.h"

#include <math.h>

#define OSCILLATOR "[coordinates]\nx\n[potential]\nx^2/2\n[start]\nx = 1\n"
#define ORBIT "[coordinates]\nx, y\n[potential]\n-1/sqrt(x^2 + y^2)\n[start]\nx = 0.4, y' = 2\n"
#define DECAY "[state]\nz\n[rates]\nz' = -z\n[start]\nz = 1\n"
/* a push of 1/400 of the run: x' = 1 afterwards */
#define BUMP                                                                                       \
    "[coordinates]\nx\n[forces]\nx = 20*exp(-((t - 3.3)/0.0282094791773878)^2)\n[start]\nx = 1\n"
#define CHAOS                                                                                      \
    "[coordinates]\na, b\n[kinetic]\na'^2 + b'^2/2 + a'*b'*cos(a - b)\n[potential]\n"              \
    "-10*(2*cos(a) + cos(b))\n[start]\na = 2.5, b = 2.9\n"
#define BALL                                                                                       \
    "[coordinates]\ny\n[potential]\ny\n[events]\nhit = y falling then y' = -0.8*y'\n"              \
    "[start]\ny = 1\n"

static kept rows;

static int run(driven *d, const char *model, const char *options, taut_result *result)
{
    taut_sink sink = kept_sink(&rows);
    memset(&rows, 0, sizeof rows);
    *result = (taut_result){.size = sizeof *result};
    *d = driven_create(model, options, NULL);
    if (!driven_good(options, d))
        return -1;
    int code = taut_solver_run(d->solver, &sink, 1, NULL, NULL, &d->error);
    taut_solver_result_get(d->solver, result, NULL);
    return code;
}

/* The stated error, largest over the run, is that of the first run unless that was repeated; rows
 * are better. */
static void test_stated(void)
{
    static const struct {
        const char *model, *method;
        double until, exact, exact_v;
    } cases[] = {
        {OSCILLATOR, "dop8", 20, 0.40808206181339196, -0.91294525072762767},
        {OSCILLATOR, "dopri5", 20, 0.40808206181339196, -0.91294525072762767},
        {ORBIT, "dop8", 31.41592653589793, 0.4, 0}, /* a = 1: five periods */
        {ORBIT, "dopri5", 31.41592653589793, 0.4, 0},
    };
    check_group("stated error");
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        for (int digits = 4; digits <= 8; digits += 2) {
            char options[160];
            double error[2];
            taut_result result;
            for (int look = 0; look < 2; look++) {
                driven d;
                snprintf(options, sizeof options, "until=%.17g method=%s rtol=1e-%d verify=%s",
                         cases[k].until, cases[k].method, digits, look ? "always" : "never");
                int code = run(&d, cases[k].model, options, &result);
                if (!check_row(code == 0, "%s: %s", options, d.error.message))
                    error[look] = NAN;
                else
                    error[look] = fmax(fabs(taut_solver_position(d.solver)[0] - cases[k].exact),
                                       fabs(taut_solver_velocity(d.solver)[0] - cases[k].exact_v));
                check_row(look == 0 ? isnan(result.error) : result.error > 0, "%s: error %g",
                          options, result.error);
                driven_destroy(&d);
            }
            double far = 100 * pow(10, -digits);
            if (error[0] <= far / 3) /* else it is repeated, and states the error of that */
                check_row(result.error >= error[0] / 6 && result.error <= 30 * error[0] + 1e-14,
                          "%s: states %.3g, without a second run %.3g", options, result.error,
                          error[0]);
            else
                check_row(result.error <= far, "%s: states %.3g", options, result.error);
            check_row(error[1] <= result.error + 1e-14, "%s: states %.3g, has %.3g", options,
                      result.error, error[1]);
        }
}

static void test_found(void)
{
    driven d;
    taut_result result;
    check_group("what the first run misses");
    int code = run(&d, BUMP, "until=10 verify=never max-step=3", &result);
    check_row(code == 0 && fabs(taut_solver_velocity(d.solver)[0] - 1) < 1e-4,
              "the push is found before the run: v = %g", taut_solver_velocity(d.solver)[0]);
    driven_destroy(&d);
    code = run(&d, BUMP, "until=10 verify=auto max-step=3", &result);
    double v = taut_solver_velocity(d.solver)[0];
    check_row(code == TAUT_INACCURATE || fabs(v - 1) < 1e-4, "%s, v = %g", taut_code_name(code), v);
    check_row(code == result.status, "the result has another status");
    driven_destroy(&d);

    code = run(&d, CHAOS, "until=60 rtol=1e-4 verify=auto", &result);
    check_row(code == TAUT_INACCURATE, "chaos: %s, error %.3g", taut_code_name(code), result.error);
    check_row(result.predictable > 3 && result.predictable < 59, "chaos: predictable until %g",
              result.predictable);
    check_row(rows.rows == 1001, "chaos: %d rows", rows.rows);
    driven_destroy(&d);
    /* within the time that is predictable more accuracy helps */
    code = run(&d, CHAOS, "until=12 rtol=1e-6 verify=auto", &result);
    check_row(code == 0 && result.error <= 1e-4 && isnan(result.predictable),
              "before chaos: %s, error %.3g", taut_code_name(code), result.error);
    driven_destroy(&d);
}

static void test_rows(void)
{
    driven d;
    taut_result result;
    check_group("rows");
    int code = run(&d, BALL, "until=4 verify=always every=0.5", &result);
    check_row(code == 0, "events: %s", d.error.message);
    check_row(rows.begun == 1 && rows.ended == 1, "sinks begun %d, ended %d times", rows.begun,
              rows.ended);
    check_row(result.error < 1e-9, "events: error %.3g", result.error);
    for (int i = 1; i < rows.rows; i++)
        check_row(rows.t[i] >= rows.t[i - 1], "row %d goes back to %g", i, rows.t[i]);
    check_near("the last row", rows.q[rows.rows - 1][0], taut_solver_position(d.solver)[0], 0);
    driven_destroy(&d);
    code = run(&d, DECAY, "until=3 verify=always method=radau5 rtol=1e-4", &result);
    check_row(code == 0 && isnan(result.error_velocity) && result.error_position > 0,
              "first order: %s, errors %g, %g", d.error.message, result.error_position,
              result.error_velocity);
    check_near("first order", rows.q[rows.rows - 1][0], exp(-3), 3 * result.error);
    /* the run goes on from the better state */
    check_row(taut_solver_advance(d.solver, 4, &d.error) == 0, "%s", d.error.message);
    check_near("further", taut_solver_position(d.solver)[0], exp(-4), 3 * result.error);
    driven_destroy(&d);
    memset(&rows, 0, sizeof rows);
    d = driven_create(OSCILLATOR, "until=3 verify=always", NULL);
    rows.fail_at = 7;
    taut_sink sink = kept_sink(&rows);
    code = taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error);
    check_row(code == TAUT_ERROR_FILE && rows.rows == 7 && rows.ended == 1,
              "a sink that fails: %s after %d rows, ended %d", taut_code_name(code), rows.rows,
              rows.ended);
    driven_destroy(&d);
}

/* A long run is not repeated: its rows are written while it goes on. By the estimate of cost, at
 * about 100 units an evaluation. */
static int stop_late(void *user, double t, double until, int64_t steps)
{
    (void)t, (void)until;
    int *rows_then = user;
    if (steps > 2500000 && *rows_then == 0)
        *rows_then = rows.rows;
    return steps > 2600000;
}

static void test_long(void)
{
    driven d = driven_create(OSCILLATOR, "until=1e9 verify=auto method=dopri5 rtol=1e-8", NULL);
    taut_sink sink = kept_sink(&rows);
    int early = 0;
    check_group("long runs");
    memset(&rows, 0, sizeof rows);
    if (driven_good("long", &d) && !getenv("TAUT_TEST_SANITIZED")) {
        int code = taut_solver_run(d.solver, &sink, 1, stop_late, &early, &d.error);
        taut_result result = {.size = sizeof result};
        taut_solver_result_get(d.solver, &result, NULL);
        check_row(code == TAUT_INTERRUPTED, "long: %s: %s", taut_code_name(code), d.error.message);
        check_row(rows.begun == 1 && isnan(result.error), "rows begun %d, error %g", rows.begun,
                  result.error);
    }
    driven_destroy(&d);
}

/* A tenth of the tolerance would cost ten times as much: ten times the tolerance is compared, and
 * the result stays that of the only run. */
static void test_costly(void)
{
    taut_result result;
    driven d;
    check_group("costly");
    if (getenv("TAUT_TEST_SANITIZED"))
        return;
    int code =
        run(&d, OSCILLATOR, "until=80 method=radau1 motion=full rtol=1e-4 verify=auto", &result);
    double error = fmax(fabs(taut_solver_position(d.solver)[0] - cos(80)),
                        fabs(taut_solver_velocity(d.solver)[0] + sin(80)));
    check_row(code == (result.error > 100 * 1e-4 ? TAUT_INACCURATE : TAUT_OK) &&
                  strstr(taut_solver_explanation(d.solver), "estimated by a run with rtol 0.001"),
              "%s: %s", taut_code_name(code), taut_solver_explanation(d.solver));
    check_row(result.error >= error / 2 && result.error <= 30 * error, "states %.3g, has %.3g",
              result.error, error);
    driven_destroy(&d);
    code =
        run(&d, OSCILLATOR, "until=80 method=radau1 motion=full rtol=1e-4 verify=never", &result);
    check_row(code == 0 && isnan(result.error) &&
                  fmax(fabs(taut_solver_position(d.solver)[0] - cos(80)),
                       fabs(taut_solver_velocity(d.solver)[0] + sin(80))) == error,
              "%s: error %g", taut_code_name(code), result.error);
    driven_destroy(&d);
}

/* Memory that fails at any call is reported, and none is lost. */
static void test_memory(void)
{
    check_group("memory");
    int code = TAUT_ERROR_MEMORY, succeeded = 0;
    for (int64_t k = 1; !succeeded && k < 5000; k = faulty_next(k)) {
        faulty f = {.fail = k};
        taut_allocator allocator = faulty_allocator(&f);
        driven d = driven_create(ORBIT, "until=1 verify=always rtol=1e-4", &allocator);
        code = d.code;
        if (d.code == 0)
            code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        succeeded = f.failed == 0;
        check_row(succeeded ? code == 0 : code == TAUT_ERROR_MEMORY, "call %lld: %s: %s",
                  (long long)k, taut_code_name(code), d.error.message);
        driven_destroy(&d);
        check_row(f.live == 0, "call %lld: %lld blocks are left", (long long)k, (long long)f.live);
    }
    check_row(succeeded, "memory fails at every call");
}

/* The steps of all runs but the first are limited by their number: they must not be the same. */
static void test_limited(void)
{
    static const char *const set[] = {"N=1000"};
    taut_load how = {.size = sizeof how, .set = set, .set_count = 1};
    driven d = {0};
    taut_result result = {.size = sizeof result};
    check_group("runs that only the number of steps limits");
    d.code = taut_system_load(TAUT_SOURCE_DIR "/models/chain.taut", &how, &d.system, &d.error);
    taut_options_create(NULL, &d.options, NULL);
    driven_options(&d, "motion=rigid verify=auto"); /* the matrix is narrow: it is cheap */
    if (d.code == 0)
        d.code = taut_solver_create(d.system, d.options, NULL, &d.solver, &d.error);
    if (d.code == 0)
        d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
    if (driven_good("chain", &d)) {
        taut_solver_result_get(d.solver, &result, NULL);
        check_row(result.error > 1e-12 && result.error_velocity < 1e-4,
                  "error %g, of velocities %g", result.error, result.error_velocity);
    }
    driven_destroy(&d);
}

/* Both runs have rows at the same times where steps decide which there are. */
static void test_steps(void)
{
    static const struct {
        const char *model, *options;
    } cases[] = {{ORBIT, "until=20"},
                 {ORBIT, "until=20 rtol=1e-9"},
                 {DECAY, "until=4"},
                 {DECAY, "until=-1 method=dopri5"},
                 {"[coordinates]\ny\n[forces]\ny = -1 - y'/9\n[events]\nhit = y falling then "
                  "y' = -0.8*y'\n[start]\ny = 1\n",
                  "until=8"}};
    check_group("a row for each step");
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double error[2];
        for (int steps = 0; steps < 2; steps++) {
            driven d;
            taut_result result;
            char options[120];
            snprintf(options, sizeof options, "%s verify=always%s", cases[k].options,
                     steps ? " every=step" : "");
            int code = run(&d, cases[k].model, options, &result);
            check_row(code == 0, "%s: %s", options, d.error.message);
            error[steps] = result.error;
            driven_destroy(&d);
        }
        /* between steps there is the error of interpolation, too */
        check_row(error[1] > 0.01 * error[0] && error[1] < 3 * error[0],
                  "%s: error %.3g, of rows at steps %.3g", cases[k].options, error[0], error[1]);
    }
}

int main(void)
{
    test_steps();
    test_limited();
    test_stated();
    test_found();
    test_rows();
    test_long();
    test_costly();
    test_memory();
    return check_done();
}
