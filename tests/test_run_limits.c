/* test_run_limits.c - runs at the edge of what is possible: growth that is unstable or is not,
 * initial states that exist from their own time on, kicks, callbacks that cannot evaluate. */
#include "support/run.h"
#include "drive/solver.h"

/* Unstable fixed step sizes do not end with success, energy or not: x' = -1000 x with step
 * 0.01 grows nine times a step. A state that leaves zero, or grows as fast as it can be
 * resolved, is none of that: x' = 10 x with step 0.01 is exp(10) at t = 1, exp(500) at t = 50,
 * with a relative error of 0.1^5/120 a step. */
static void test_growth(void)
{
    static const char stiff[] = "[state]\nx\n[rates]\nx' = -1000*x\n[start]\nx = 1\n";
    static const char grows[] = "[state]\nx\n[rates]\nx' = 10*x\n[start]\nx = 1\n";
    static const char leaves[] = "[state]\nx\n[rates]\nx' = t^5\n";
    static const struct {
        const char *name, *model, *options;
        int code;
        double x, allowed;
    } rows[] = {
        {"stiff", stiff, "until=1 method=euler step=0.01", TAUT_ERROR_STEP, 0, 0},
        {"stiff", stiff, "until=1 method=rk4 step=0.01", TAUT_ERROR_STEP, 0, 0},
        {"stiff", stiff, "until=1 method=rk4 step=0.002", TAUT_OK, 0, 1e-12},
        {"grows", grows, "until=1 method=rk4 step=0.01", TAUT_OK, 22026.465794806718, 22026 * 1e-5},
        {"grows far", grows, "until=50 method=rk4 step=0.01", TAUT_OK, 1.4035922178528375e217,
         6.5e213},
        {"leaves", leaves, "until=1 method=rk4 step=0.001", TAUT_OK, 1. / 6, 1e-9},
    };
    check_group("growth");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        driven d = driven_create(rows[k].model, rows[k].options, NULL);
        if (driven_good(rows[k].name, &d)) {
            int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            check_row(code == rows[k].code, "%s, %s: %s: %s", rows[k].name, rows[k].options,
                      taut_code_name(code), code < 0 ? d.error.message : "");
            if (code == 0)
                check_near(rows[k].name, taut_solver_position(d.solver)[0], rows[k].x,
                           rows[k].allowed);
            else
                check_contains(rows[k].name, d.error.message, "unstable");
        }
        driven_destroy(&d);
    }
}

/* A start that exists from its own time on only (log t at t = 0 does not): x = 1 + log t with
 * its invariant, u = log t as the rate of another variable, and y = 1/t as an algebraic variable
 * that keeps x on log t. */
static void test_late_start(void)
{
    static const char held[] =
        "[state]\nx\n[rates]\nx' = 1/t\n[invariants]\ni = x - log(t)\n[start]\nx = log(t) + 1\n";
    static const char rate[] = "[state]\nx, u\n[rates]\nx' = u\nu' = 1/t\n[invariants]\ni = u - "
                               "log(t)\n[start]\nu = log(t)\n";
    static const char index2[] = "[state]\nx\n[algebraic]\ny\n[rates]\nx' = y\n[constraints]\nc = "
                                 "x - log(t)\n[start]\nx = log(t), y = 1/t\n";
    static const struct {
        const char *name, *model, *options;
        double x; /* at t = 2 */
    } rows[] = {
        {"post", held, "from=1 until=2 method=dop8 rtol=1e-9", 1.6931471805599453},
        {"baumgarte", held, "from=1 until=2 method=dop8 rtol=1e-9 stabilize=baumgarte",
         1.6931471805599453},
        {"post-velocity", rate, "from=1 until=2 method=dop8 rtol=1e-9 stabilize=post-velocity",
         0.38629436111989061},
        {"algebraic", index2, "from=1 until=2 method=dop8 rtol=1e-9", 0.69314718055994531},
        {"algebraic, linear", index2, "from=1 until=2 method=rk4 step=0.01", 0.69314718055994531},
    };
    check_group("late starts");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        driven d = driven_create(rows[k].model, rows[k].options, NULL);
        if (driven_good(rows[k].name, &d)) {
            int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            check_row(code == 0, "%s: %s", rows[k].name, code ? d.error.message : "");
            check_near(rows[k].name, taut_solver_position(d.solver)[0], rows[k].x, 1e-8);
            /* f is linear in y: one evaluation a stage, and what is found out at the initial state
             */
            if (strcmp(rows[k].name, "algebraic, linear") == 0)
                check_below("evaluations", (double)d.solver->statistics.force_evaluations, 402);
        }
        driven_destroy(&d);
    }
    /* rows by time end on the end itself, once: 0.3 - 3 * 0.1 is not 0 */
    static kept r;
    driven d = driven_create("[state]\nx\n[rates]\nx' = -x\n[start]\nx = 1\n",
                             "from=0.3 until=0 every=0.1", NULL);
    if (driven_good("rows", &d)) {
        taut_sink sink = kept_sink(&r);
        check_equal("run", taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error), 0);
        check_equal("rows", r.rows, 4);
        check_near("last row", r.t[r.rows - 1], 0, 0);
    }
    driven_destroy(&d);
}

/* A kick may give any energy; what is no explosion is not called one: x'' = -x with a
 * hundredfold velocity at x = 0 swings 100 wide. */
static void test_kick(void)
{
    check_group("kicks");
    driven d = driven_create("[coordinates]\nx\n[potential]\nx^2/2\n[start]\nx = 1\n[events]\nkick "
                             "= x falling then x' = 100*x'\n",
                             "motion=full method=verlet step=0.001 until=3.1415926535897931", NULL);
    if (driven_good("kick", &d)) {
        int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        check_row(code == 0, "%s: %s", taut_code_name(code), code ? d.error.message : "");
        check_near("x(pi)", taut_solver_position(d.solver)[0], -100, 1e-3);
    }
    driven_destroy(&d);
}

/* A callback that cannot evaluate (>0), at call k of the run, never ends it as if an event had
 * been met: it is an error, or the step is tried again. */
typedef struct refusing {
    int64_t calls, refuse;
} refusing;

static int oscillate(void *user, double t, const double *q, const double *v, double *f)
{
    refusing *r = user;
    (void)t, (void)v;
    f[0] = -q[0];
    return ++r->calls == r->refuse;
}

static void test_refusing(void)
{
    static const char *const ways[] = {
        "method=verlet step=0.1", "method=rk4 step=0.1",    "method=dop8",
        "method=radau5",          "method=radau5 step=0.1", "method=ab2 step=0.1"};
    static const double q[1] = {1};
    static kept rows;
    check_group("callbacks that cannot evaluate");
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        int64_t calls = 1;
        for (int64_t at = 0; at < calls; at++) { /* at = 0: none, which counts */
            refusing r = {.refuse = at};
            taut_callbacks c = {
                .size = sizeof c, .coordinates = 1, .start_q = q, .force = oscillate, .user = &r};
            driven d = {0};
            d.code = taut_system_from_callbacks(&c, NULL, &d.system, &d.error);
            if (d.code == 0)
                d.code = taut_options_create(NULL, &d.options, &d.error);
            driven_options(&d, "motion=full until=0.5 every=0.03");
            driven_options(&d, ways[k]);
            if (d.code == 0)
                d.code = taut_solver_create(d.system, d.options, NULL, &d.solver, &d.error);
            taut_sink sink = kept_sink(&rows);
            if (d.code == 0)
                d.code = taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error);
            bool good = d.code == 0 ? fabs(taut_solver_position(d.solver)[0] - cos(0.5)) < 0.1
                                    : d.code == TAUT_ERROR_EVALUATE;
            check_row(good && (at > 0 || d.code == 0), "%s, call %d: %s: %s", ways[k], (int)at,
                      taut_code_name(d.code), d.code < 0 ? d.error.message : "");
            driven_destroy(&d);
            if (at == 0)
                calls = r.calls < 400 ? r.calls + 1 : 400;
        }
    }
}

int main(void)
{
    test_growth();
    test_late_start();
    test_kick();
    test_refusing();
    return check_done();
}
