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

int main(void)
{
    test_values();
    test_redundant();
    test_costs();
    test_words();
    return check_done();
}
