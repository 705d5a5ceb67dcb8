/* test_guards.c - conditions inside the equations: steps end at those of time, those of the state
 * are located, sign(u) can stay at u = 0, smooth ones cost nothing. Expected values are closed
 * forms, with each row. */
#include "support/run.h"

#define RATE(f) "[state]\nz\n[rates]\nz' = " f "\n"
#define FORCE(f) "[coordinates]\nx\n[forces]\nx = " f "\n"

typedef struct row {
    const char *model;
    double until, q, v, near; /* v NAN: first order */
    bool slides;
} row;

static const row rows[] = {
    /* -1/2 - 1 + 1/2 in x, v = -1 + 1 */
    {FORCE("if(t > 1, 1, -1)"), 2, -1, 0, 1e-9, false},
    /* an impulse of 1e-3 within a thousandth: x = 5e-7 + 1e-3 (20 - 10.001) */
    {FORCE("if(t > 10 and t < 10.001, 1, 0)"), 20, 5e-7 + 9.999e-3, 1e-3, 1e-8, false},
    {RATE("floor(t)"), 5.5, 12.5, NAN, 1e-8, false},      /* 1 + 2 + 3 + 4 + 5/2 */
    {RATE("mod(t, 0.3)"), 3, 0.45, NAN, 1e-8, false},     /* ten times 0.3^2/2 */
    {RATE("round(2*t)"), 1, 1, NAN, 1e-8, false},         /* 1/2 + 2/4 */
    {RATE("abs(t - 1/3)"), 1, 5. / 18, NAN, 1e-8, false}, /* 1/18 + 4/18 */
    /* six half periods cancel: 3 - 6 pi/7 */
    {RATE("sign(sin(7*t))"), 3, 0.30720629692303447, NAN, 1e-8, false},
    /* pulses of 2, 2, the mean of t = 2.125 and 3.125, a quarter each */
    {RATE("if(mod(t, 1) < 0.25, max(t, 2), 0)"), 4, 2.3125, NAN, 1e-7, false},
    /* parabolas of period 4 sqrt(2), three of them */
    {FORCE("-sign(x)") "[start]\nx = 1\n", 16.970562748477143, 1, 0, 1e-5, false},
    /* z = (1 - t/2)^2 up to t = 2, then 0: the continuation of the root is not a number */
    {RATE("-sqrt(max(z, 0))") "[start]\nz = 1\n", 3, 0, NAN, 1e-5, false},
    /* a jump behind a smooth cut-off of the same statement: tests/oracle/guards.py */
    {FORCE("1 - if(x > 1, (x - 1)^3, 0) - if(x > 1.5, 10, 0)"), 10, 1.14690927378, -1.51445886341,
     1e-6, false},
    /* to 0 within 2, and it stays there */
    {RATE("0.5 - sign(z)") "[start]\nz = 1\n", 5, 0, NAN, 1e-6, true},
    {RATE("-0.5 - sign(z)") "[start]\nz = -0.25\n", 3, 0, NAN, 1e-6, true},
    /* sticks until t = 2, then x'' = t - 2 */
    {FORCE("t - 2*sign(x')"), 5, 4.5, 4.5, 1e-4, true},
    /* x = 3 t - t^2/2 up to t = 3 */
    {FORCE("-sign(x')") "[start]\nx' = 3\n", 7, 4.5, 0, 1e-4, true},
    /* both directions: x'' = -(2 - t) - 1 from v = 3: stops at 3 - 3 t + t^2/2 = 0, t = 3 -
     * sqrt(3), and sticks until t = 3, where t - 2 reaches 1: then v = (t - 3)^2/2 */
    {FORCE("t - 2 - sign(x')") "[start]\nx' = 3\n", 4, 1.7320508075688772 + 1. / 6, 0.5, 1e-4,
     true},
};

static void test_values(void)
{
    static const char *const methods[] = {"dop8", "dopri5", "radau5"};
    check_group("closed forms");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        for (int j = 0; j < 3; j++) {
            const row *r = &rows[k];
            char options[100];
            bool refused = r->slides && j == 2;
            snprintf(options, sizeof options, "method=%s until=%.17g rtol=1e-8", methods[j],
                     r->until);
            driven d = driven_create(r->model, options, NULL);
            if (driven_good(r->model, &d)) {
                int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
                if (refused) {
                    check_row(code == TAUT_ERROR_REFUSED, "%s: %s", r->model, d.error.message);
                    check_contains(r->model, d.error.message, "it sticks");
                    check_contains(r->model, d.error.message, "dopri5 and adams do; tanh(u/vs)");
                } else if (check_row(code == TAUT_OK, "%s, %s: %s", r->model, methods[j],
                                     d.error.message)) {
                    check_near(r->model, taut_solver_position(d.solver)[0], r->q, r->near);
                    if (!isnan(r->v))
                        check_near(r->model, taut_solver_velocity(d.solver)[0], r->v, r->near);
                }
            }
            driven_destroy(&d);
        }
}

static int64_t evaluations(const char *model, const char *options, int *code)
{
    driven d = driven_create(model, options, NULL);
    taut_result result = {.size = sizeof result};
    *code = d.code;
    if (d.code == 0)
        *code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
    if (*code == 0)
        taut_solver_result_get(d.solver, &result, NULL);
    driven_destroy(&d);
    return result.statistics.force_evaluations;
}

/* What conditions cost: dry friction that sticks and slips, and a smooth cut-off against the same
 * motion without one (the cut-off is never reached from inside, or always: x^3 where x > 0). */
static void test_costs(void)
{
    int code, other;
    check_group("costs");
    int64_t slip = evaluations(FORCE("10*(0.3*t - x) - 2*sign(x')"), "method=dop8 until=20", &code);
    check_row(code == 0 && slip < 4000, "stick and slip: %lld evaluations", (long long)slip);
    int64_t with = evaluations(FORCE("-x - 0.1*if(x < 0, x^3, 0)") "[start]\nx = 1\n",
                               "method=dop8 until=100", &code),
            without = evaluations(FORCE("-x - 0.1*x^3") "[start]\nx = 1\n", "method=dop8 until=100",
                                  &other);
    check_row(code == 0 && other == 0 && (double)with < 1.3 * (double)without,
              "smooth cut-off: %lld evaluations, %lld without", (long long)with,
              (long long)without);
    /* a jump behind a smooth cut-off of the same statement; taken for smooth, 3800 */
    int64_t both = evaluations(FORCE("1 - if(x > 1, (x - 1)^3, 0) - if(x > 1.5, 10, 0)"),
                               "method=dop8 until=10 rtol=1e-8", &code);
    check_row(code == 0 && both < 2400, "cut-off and jump: %lld evaluations", (long long)both);
    /* a fixed step size never stops at conditions */
    int64_t fixed = evaluations(rows[0].model, "method=rk4 step=0.3 until=3", &code);
    check_row(code == 0 && fixed >= 40 && fixed <= 41, "fixed: %lld", (long long)fixed);
}

static void test_words(void)
{
    check_group("words");
    driven d = driven_create(RATE("if(z > 0, -1, 1)") "[start]\nz = 0.3\n", "until=2", NULL);
    if (driven_good("chattering", &d)) {
        int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        check_row(code == TAUT_ERROR_STEP, "%s", taut_code_name(code));
        check_contains("chattering", d.error.message,
                       "model.taut:4: the motion chatters at t = 0.3");
        check_near("its time", d.error.t, 0.3, 1e-6);
    }
    driven_destroy(&d);
    d = driven_create("[coordinates]\nx[i] for i in 1..7\n[forces]\n"
                      "x[i] = abs(x[i]) + mod(t, 2) for i in 1..7\n",
                      "until=1", NULL);
    if (driven_good("conditions", &d)) {
        check_contains("of the state", taut_system_condition(d.system, 0),
                       "model.taut:4: abs, 7 times, of the state");
        check_contains("of time", taut_system_condition(d.system, 1),
                       "model.taut:4: mod, 7 times, of t");
        check_row(!taut_system_condition(d.system, 2), "a third one");
        check_row(!taut_system_condition(NULL, 0), "of nothing");
    }
    driven_destroy(&d);
}

/* A wheel with a point on its rim, one bond more than needed; which subset is independent changes
 * as it turns. Inertia 2: with twice the torque th'' is that of the closed form. */
#define WHEEL(torque)                                                                              \
    "[coordinates]\nth, x, y\n[bonds]\nrim = length((x, y)) - 1\n"                                 \
    "across = x - cos(th)\nalong = y - sin(th)\n[start]\nth = 0, x = 1, y = 0\n" torque

static const row wheels[] = {
    /* th = t^2/2 up to 2 at t = 2, then 2 + 2 (t - 2) - (t - 2)^2/2 */
    {WHEEL("[forces]\nth = 2*if(th > 2, -1, 1)\n"), 5, 3.5, -1, 1e-5, false},
    {WHEEL("[forces]\nth = 2*if(t > 1, 1, -1)\n"), 6, 7, 4, 1e-5, false},
    /* the last one: 3 t - t^2/2 up to t = 3 */
    {WHEEL("th' = 3, y' = 3\n[forces]\nth = -2*sign(th')\n"), 7, 4.5, 0, 1e-4, true},
    {WHEEL("[forces]\nth = 2*t - 4*sign(th')\n"), 5, 4.5, 4.5, 1e-4, true},
};

static void test_redundant(void)
{
    check_group("redundant bonds");
    for (size_t k = 0; k < sizeof wheels / sizeof wheels[0]; k++) {
        const row *r = &wheels[k];
        char options[100];
        snprintf(options, sizeof options, "method=dop8 until=%.17g rtol=1e-8", r->until);
        driven d = driven_create(r->model, options, NULL);
        if (driven_good(r->model, &d)) {
            int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            check_contains(r->model, taut_solver_notice(d.solver, 0), "rank 2 of 3");
            if (check_row(code == TAUT_OK, "%s: %s", r->model, d.error.message)) {
                check_near(r->model, taut_solver_position(d.solver)[0], r->q, r->near);
                check_near(r->model, taut_solver_velocity(d.solver)[0], r->v, r->near);
                check_near("rim", taut_solver_position(d.solver)[1], cos(r->q), r->near);
                check_contains(r->model, taut_solver_explanation(d.solver),
                               "other independent bonds");
            }
        }
        driven_destroy(&d);
    }
    /* as long as it sticks nothing accelerates the point: no bond has a force */
    driven d = driven_create(wheels[3].model, "method=dop8 until=1", NULL);
    if (driven_good("sticks", &d)) {
        int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        const double *lambda = taut_solver_multipliers(d.solver);
        check_row(code == TAUT_OK && lambda, "sticks: %s", d.error.message);
        for (int k = 0; k < 3 && lambda; k++)
            check_near("force of a bond", lambda[k], 0, 1e-6);
    }
    driven_destroy(&d);
}

/* ---- friction in several places */

/* Two blocks, one on the other: friction F1 on the floor, F2 between them. */
#define STACK(f1, f2, pull, start)                                                                 \
    "[parameters]\nF1 = " f1 ", F2 = " f2 "\n[coordinates]\nx1, x2\n[mass]\nx1 = 2\n[forces]\n"    \
    "x1 = " pull " - F1*sign(x1') + F2*sign(x2' - x1')\nx2 = -F2*sign(x2' - x1')\n[start]\n" start
#define PENDULUM "[coordinates]\nx, y\n[bonds]\nrod = length((x, y)) - 1\n[potential]\n9.81*y\n"

static const struct {
    const char *model;
    double until, q[2], v[2], near;
} coupled[] = {
    /* pulled by t: both stick up to t = 3, then move together, x = (t - 3)^3/18, until F2 cannot
     * accelerate the upper one any more at t = 6; then x1'' = (t - 4)/2, x2'' = 1 */
    {STACK("3", "1", "t", "x1 = 0"), 2.5, {0, 0}, {0, 0}, 1e-6},
    {STACK("3", "1", "t", "x1 = 0"),
     5.5,
     {0.86805555555555558, 0.86805555555555558},
     {1.0416666666666667, 1.0416666666666667},
     1e-5},
    {STACK("3", "1", "t", "x1 = 0"), 9, {12.75, 10.5}, {6.75, 4.5}, 1e-4},
    /* the upper one slides, F2 cannot move the lower one */
    {STACK("3", "1", "0", "x2' = 3"), 5, {0, 4.5}, {0, 0}, 1e-5},
    /* ... can: x1'' = 1/2, x2'' = -4 up to t = 2/3, then together, x'' = -1, up to t = 1 */
    {STACK("3", "4", "0", "x2' = 3"), 2, {1. / 6, 7. / 6}, {0, 0}, 1e-5},
    /* the lower one moves first: x1'' = -2 (F1 and F2 brake), x2'' = 1, up to t = 1, then
     * x'' = -1 up to t = 2 */
    {STACK("3", "1", "0", "x1' = 3"), 3, {2.5, 1}, {0, 0}, 1e-5},
    /* four blocks, friction 1 between neighbours, the lowest pulled by t: x'' = t/4 up to t = 4/3,
     * then x1'' = t - 1, the others 1/3 */
    {"[parameters]\nN = 4\n[coordinates]\nx[i] for i in 1..N\n[forces]\n"
     "x[1] = t + sign(x[2]' - x[1]')\n"
     "x[i] = sign(x[i+1]' - x[i]') + sign(x[i-1]' - x[i]') for i in 2..N-1\n"
     "x[N] = -sign(x[N]' - x[N-1]')\n",
     10. / 3,
     {206. / 81, 98. / 81},
     {26. / 9, 8. / 9},
     1e-5},
    /* friction in the pivot of a pendulum: tests/oracle/guards.py */
    {PENDULUM "[forces]\nx = y*sign(x*y' - y*x')\ny = -x*sign(x*y' - y*x')\n[start]\nx = 1, y = 0",
     10,
     {0.0586712705914653, -0.998277357254577},
     {0, 0},
     1e-5},
};

static void test_coupled(void)
{
    static const char *const methods[] = {"dop8", "dopri5"};
    check_group("coupled friction");
    for (size_t k = 0; k < sizeof coupled / sizeof coupled[0]; k++)
        for (int j = 0; j < 2; j++) {
            char options[100];
            snprintf(options, sizeof options, "method=%s until=%.17g rtol=1e-8", methods[j],
                     coupled[k].until);
            driven d = driven_create(coupled[k].model, options, NULL);
            if (driven_good(coupled[k].model, &d)) {
                int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
                check_row(code == TAUT_OK, "%s, %s: %s", coupled[k].model, methods[j],
                          d.error.message);
                for (int i = 0; i < 2 && code == TAUT_OK; i++) {
                    check_near(coupled[k].model, taut_solver_position(d.solver)[i], coupled[k].q[i],
                               coupled[k].near);
                    check_near(coupled[k].model, taut_solver_velocity(d.solver)[i], coupled[k].v[i],
                               coupled[k].near);
                }
            }
            driven_destroy(&d);
        }
}

/* Several forces would do: refused, with the way out. */
static void test_ambiguous(void)
{
    static const char *const models[] = {
        /* two blocks on a rigid bond: how they share the friction is not determined */
        "[coordinates]\nx, y\n[bonds]\nrod = y - x - 1\n[forces]\nx = -sign(x')\ny = -sign(y')\n"
        "[start]\nx = 0, y = 1, x' = 1, y' = 1\n",
        /* each sign acts more on the other one: to stay, or to leave to (1, -1) or (-1, 1) */
        "[state]\nx, y\n[rates]\nx' = -sign(x) - 2*sign(y)\ny' = -2*sign(x) - sign(y)\n"
        "[start]\nx = 0, y = 0\n",
    };
    check_group("ambiguous friction");
    for (size_t k = 0; k < sizeof models / sizeof models[0]; k++) {
        driven d = driven_create(models[k], "method=dop8 until=3", NULL);
        if (driven_good(models[k], &d)) {
            int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            check_row(code == TAUT_ERROR_REFUSED, "%s: %s", taut_code_name(code), d.error.message);
            check_contains(models[k], d.error.message, "tanh(u/vs)");
            check_contains(models[k], d.error.message, "not determined");
            check_near("its time", d.error.t, k == 0 ? 1 : 0, 1e-6);
        }
        driven_destroy(&d);
    }
}

/* ---- slow motion */

/* z'' = f - k z: on the slow manifold z = f/k - f''/k^2, with f = 2 + t, then -1 - t^2. */
static void test_slow(void)
{
    check_group("slow motion");
    for (int of_time = 0; of_time < 2; of_time++)
        for (int soft = 0; soft < 2; soft++) {
            char model[300];
            double k = soft ? 1e4 : 1e8;
            snprintf(model, sizeof model,
                     "[coordinates]\nx, z\n[bonds]\ns = z   stiffness %g\n[forces]\n"
                     "z = if(%s < 1, 2 + x, -1 - x^2)\n[start]\nx = 0, x' = 1, z = 0\n",
                     k, of_time ? "t" : "x");
            driven d = driven_create(model, "motion=slow method=radau5 until=1.5", NULL);
            if (driven_good(model, &d)) {
                for (int j = 0; j < 3; j++) {
                    static const double at[] = {0.9, 1.001, 1.5};
                    double t = at[j], f = j == 0 ? 2 + t : -1 - t * t + 2 / k;
                    int code = taut_solver_advance(d.solver, t, &d.error);
                    check_row(code == TAUT_OK, "%s", d.error.message);
                    check_near("stretch", k * taut_solver_position(d.solver)[1], f, 1e-4);
                    check_near("its rate", k * taut_solver_velocity(d.solver)[1],
                               j == 0 ? 1 : -2 * t, 1e-2);
                    check_near("force", taut_solver_multipliers(d.solver)[0], f, 1e-6);
                }
            }
            driven_destroy(&d);
        }
    /* tests/oracle/guards.py: the rigid pendulum; a spring of 1e8 differs by its length */
    static const char *const swing =
        "[parameters]\nk = %s\n[coordinates]\nx, y\n[bonds]\nrod = length((x, y)) - 1   "
        "stiffness k\n[potential]\n9.81*y\n[forces]\nx = if(x < 0.2, 3, 0)\n"
        "[start]\nx = 0.8, y = -0.6\n";
    for (int soft = 0; soft < 2; soft++) {
        char model[300];
        taut_result result = {.size = sizeof result};
        snprintf(model, sizeof model, swing, soft ? "1e4" : "1e8");
        driven d = driven_create(model, "motion=slow method=radau5 until=3", NULL);
        if (driven_good(model, &d)) {
            int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            check_row(code == TAUT_OK, "%s", d.error.message);
            if (!soft) {
                check_near("x", taut_solver_position(d.solver)[0], -0.440053081829074, 2e-6);
                check_near("x'", taut_solver_velocity(d.solver)[0], 1.27179163277489, 1e-5);
            }
            taut_solver_result_get(d.solver, &result, NULL);
            /* without slow points behind the jumps 1089 for 1e4, which oscillates with h about 1 */
            check_row(result.statistics.force_evaluations < 600, "%lld evaluations",
                      (long long)result.statistics.force_evaluations);
        }
        driven_destroy(&d);
    }
}

/* ---- tables, and comparisons that are no guards */

/* A bump of 0.5 s or 0.5 m, tests/oracle/guards.py: nothing in the run suggests short steps. */
static void test_tables(void)
{
    static const char *const place[] = {"t", "x"};
    static const char *const methods[] = {"dop8", "dopri5", "radau5"};
    char values[600] = "h\n";
    for (int k = 1; k <= 48; k++) {
        double x = k > 8 && k <= 40 ? sin(3.141592653589793 * (k - 8) / 33) : 0;
        snprintf(values + strlen(values), sizeof values - strlen(values), "%.6f\n", x * x);
    }
    taut_table_text table = {.name = "bump.csv", .text = values, .length = strlen(values)};
    taut_load how = {.size = sizeof how, .tables = &table, .table_count = 1};
    check_group("tables");
    for (int k = 0; k < 6; k++) {
        char model[300], options[100];
        driven d = {0};
        snprintf(model, sizeof model,
                 "[tables]\nbump = bump.csv\n[coordinates]\nx, y\n[forces]\n"
                 "y = bump.h[1 + 100*(%s - 5)]\n[start]\nx = 0, x' = 1, y = 0\n",
                 place[k % 2]);
        snprintf(options, sizeof options, "method=%s until=20 rtol=1e-7", methods[k / 2]);
        d.code = taut_system_parse(model, strlen(model), "model.taut", &how, &d.system, &d.error);
        driven_equip(&d, options, NULL);
        if (driven_good(model, &d)) {
            int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            taut_result result = {.size = sizeof result};
            taut_solver_result_get(d.solver, &result, NULL);
            check_row(code == TAUT_OK, "%s: %s", model, d.error.message);
            check_near(options, taut_solver_velocity(d.solver)[1], 0.171145257636667, 1e-5);
            check_near(options, taut_solver_position(d.solver)[1], 2.47476575671121, 2e-4);
            check_row(result.statistics.steps < 200, "%s: %lld steps", options,
                      (long long)result.statistics.steps);
            check_contains("condition", taut_system_condition(d.system, 0),
                           k % 2 ? "model.taut:6: an end of a table, 2 times, of the state"
                                 : "model.taut:6: an end of a table, 2 times, of t");
        }
        driven_destroy(&d);
    }
}

/* == and != are evaluated as they are met: of numbers between guards they are right, of others they
 * have no duration. */
static void test_equal(void)
{
    static const row equal[] = {
        {RATE("if(floor(t) == 3, 1, 0)"), 6, 1, NAN, 1e-8, false},
        {RATE("if(floor(t) != 3, 1, 0)"), 6, 5, NAN, 1e-8, false},
        {RATE("if(sign(sin(pi*t)) == (t > 2), 1, 0)"), 4, 1, NAN, 1e-8, false},
        /* the removable singularity of sin(z)/z at the initial state; z' = 1 - z^2/6 + ... */
        {RATE("if(z == 0, 1, sin(z)/z)") "[start]\nz = 0\n", 0.01, 0.01 - 1e-6 / 18, NAN, 1e-11,
         false},
        {RATE("if(t == 1, 1e9, 2)"), 2, 4, NAN, 1e-8, false},
    };
    check_group("== and !=");
    for (size_t k = 0; k < sizeof equal / sizeof equal[0]; k++) {
        const row *r = &equal[k];
        char options[100];
        snprintf(options, sizeof options, "method=dop8 until=%.17g rtol=1e-9", r->until);
        driven d = driven_create(r->model, options, NULL);
        if (driven_good(r->model, &d)) {
            int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            check_row(code == TAUT_OK, "%s: %s", r->model, d.error.message);
            check_near(r->model, taut_solver_position(d.solver)[0], r->q, r->near);
            check_row(k < 3 || !taut_system_condition(d.system, 0), "%s is a guard", r->model);
        }
        driven_destroy(&d);
    }
}

int main(void)
{
    test_values();
    test_tables();
    test_equal();
    test_coupled();
    test_ambiguous();
    test_slow();
    test_redundant();
    test_costs();
    test_words();
    return check_done();
}
