/* test_own_tableau.c - Runge-Kutta methods given as numbers: rk4 written down is rk4 bit for bit,
 * dopri5 without its own interpolation takes the same steps, wrong numbers are refused. */
#include "support/run.h"

#define SPRING "[coordinates]\nx\n[bonds]\ns = x stiffness 1\n[start]\nx = 1\n"

static const double a4[16] = {0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 1, 0},
                    b4[4] = {1. / 6, 1. / 3, 1. / 3, 1. / 6}, c4[4] = {0, 0.5, 0.5, 1},
                    e4[5] = {0.5, -0.5, 0, 0, 0};

static taut_butcher_tableau kutta(void)
{
    return (taut_butcher_tableau){
        .size = sizeof(taut_butcher_tableau), .stages = 4, .order = 4, .a = a4, .b = b4, .c = c4};
}

/* Options of a driven run that has no solver yet. */
static driven prepared(const char *options)
{
    driven d = driven_create(SPRING, options, NULL);
    taut_solver_destroy(d.solver);
    d.solver = NULL;
    return d;
}

static void test_same(void)
{
    const char *options = "motion=full method=rk4 step=0.1 until=3";
    taut_butcher_tableau t = kutta();
    driven a = driven_create(SPRING, options, NULL), b = prepared(options);
    taut_result result = {.size = sizeof result};
    check_group("rk4 as numbers");
    t.name = "kutta";
    b.code = taut_solver_create_tableau(b.system, b.options, &t, NULL, &b.solver, &b.error);
    if (driven_good("rk4", &a) && driven_good("own", &b)) {
        check_equal("run", taut_solver_run(a.solver, NULL, 0, NULL, NULL, &a.error), 0);
        check_equal("run", taut_solver_run(b.solver, NULL, 0, NULL, NULL, &b.error), 0);
        check_near("x", taut_solver_position(b.solver)[0], taut_solver_position(a.solver)[0], 0);
        taut_solver_result_get(b.solver, &result, NULL);
        check_row(strcmp(result.method, "kutta") == 0, "%s", result.method);
    }
    driven_destroy(&a);
    driven_destroy(&b);
}

/* The rates of one step, kept until it is given: an estimate makes the step size adaptive. */
static void test_adaptive(void)
{
    taut_butcher_tableau t = kutta();
    driven d = prepared("motion=full rtol=1e-6 until=3");
    taut_result result = {.size = sizeof result};
    check_group("adaptive");
    t.e = e4; /* against Euler's first stages: crude, but an estimate */
    t.embedded_order = 1;
    d.code = taut_solver_create_tableau(d.system, d.options, &t, NULL, &d.solver, &d.error);
    if (driven_good("own", &d)) {
        check_equal("run", taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error), 0);
        taut_solver_result_get(d.solver, &result, NULL);
        check_row(result.error_share <= 1 && result.statistics.steps > 30, "%g, %d steps",
                  result.error_share, (int)result.statistics.steps);
        check_near("x", taut_solver_position(d.solver)[0], cos(3), 1e-6);
    }
    driven_destroy(&d);
}

static void test_refused(void)
{
    static double half[16], implicit[16], nan4[4] = {NAN, 0, 0, 0}, crooked[5] = {1, 0, 0, 0, 0};
    static const double heavy[4] = {1, 1. / 3, 1. / 3, 1. / 6};
    memcpy(half, a4, sizeof half);
    memcpy(implicit, a4, sizeof implicit);
    half[4] = 0.4;
    implicit[0] = 0.1;
    const struct {
        const char *what, *message;
        taut_butcher_tableau t;
    } rows[] = {
        {"size", "size", {.stages = 4}},
        {"stages", "stages", {.stages = 0, .order = 4, .a = a4, .b = b4, .c = c4}},
        {"many stages", "stages", {.stages = 16, .order = 4, .a = a4, .b = b4, .c = c4}},
        {"no a", "a &&", {.stages = 4, .order = 4, .b = b4, .c = c4}},
        {"no b", "b &&", {.stages = 4, .order = 4, .a = a4, .c = c4}},
        {"no order", "order", {.stages = 4, .a = a4, .b = b4, .c = c4}},
        {"e alone", "embedded", {.stages = 4, .order = 4, .a = a4, .b = b4, .c = c4, .e = e4}},
        {"no e",
         "embedded",
         {.stages = 4, .order = 4, .embedded_order = 2, .a = a4, .b = b4, .c = c4}},
        {"row sums", "row 1 is 0.4", {.stages = 4, .order = 4, .a = half, .b = b4, .c = c4}},
        {"implicit", "explicit", {.stages = 4, .order = 4, .a = implicit, .b = b4, .c = c4}},
        {"sum of b", "k = 1", {.stages = 4, .order = 4, .a = a4, .b = heavy, .c = c4}},
        {"order 5", "k = 5", {.stages = 4, .order = 5, .a = a4, .b = b4, .c = c4}},
        {"NaN", "k = 1", {.stages = 4, .order = 4, .a = a4, .b = nan4, .c = c4}},
        {"sum of e",
         "the sum of e",
         {.stages = 4, .order = 4, .embedded_order = 1, .a = a4, .b = b4, .c = c4, .e = crooked}},
    };
    driven d = prepared("motion=full step=0.1 until=3");
    taut_solver *solver = (taut_solver *)&d;
    check_group("refused");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        taut_butcher_tableau t = rows[k].t;
        t.size = k == 0 ? 0 : sizeof t;
        int code = taut_solver_create_tableau(d.system, d.options, &t, NULL, &solver, &d.error);
        check_row(code == TAUT_ERROR_USAGE && !solver, "%s: %d", rows[k].what, code);
        check_contains(rows[k].what, d.error.message, rows[k].message);
    }
    taut_butcher_tableau t = kutta();
    check_equal("no system", taut_solver_create_tableau(NULL, NULL, &t, NULL, &solver, NULL), -1);
    check_equal("no solver", taut_solver_create_tableau(d.system, NULL, &t, NULL, NULL, NULL), -1);
    check_equal("no tableau", taut_solver_create_tableau(d.system, NULL, NULL, NULL, &solver, NULL),
                -1);
    driven_destroy(&d);
}

/* Each allocation fails once: nothing is left behind. */
static void test_memory(void)
{
    taut_butcher_tableau t = kutta();
    driven d = prepared("motion=full step=0.1 until=3");
    check_group("memory");
    for (int64_t k = 1; k < 1000; k++) {
        faulty f = {.fail = k};
        taut_allocator allocator = faulty_allocator(&f);
        taut_solver *solver;
        int code =
            taut_solver_create_tableau(d.system, d.options, &t, &allocator, &solver, &d.error);
        taut_solver_destroy(solver);
        check_row(code == (f.failed ? TAUT_ERROR_MEMORY : 0) && f.live == 0, "call %d: %d, %d left",
                  (int)k, code, (int)f.live);
        if (!f.failed)
            break;
    }
    driven_destroy(&d);
}

int main(void)
{
    test_same();
    test_adaptive();
    test_refused();
    test_memory();
    return check_done();
}
