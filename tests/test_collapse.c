/* test_collapse.c - steps that collapse: a singularity of the force ends the run where it is,
 * with the time; kinks and close encounters keep the accuracy of what follows; nothing of this
 * stops runs that can go on. */
#include "support/run.h"

static const char *const methods[] = {"dopri5", "dop8", "radau5", "radau9"};
enum { METHODS = sizeof methods / sizeof methods[0] };

static driven create(const char *model, const char *method, const char *more)
{
    char options[200];
    snprintf(options, sizeof options, "motion=full method=%s %s", method, more);
    return driven_create(model, options, NULL);
}

/* Forces that no velocity survives, reached at a time known beforehand. The fall to the centre,
 * x'' = -1/x^2 from rest at 1, ends at pi/(2 sqrt 2); x'' = -1/x from 1 at sqrt(pi/2). */
static void test_singularities(void)
{
    static const struct {
        const char *model;
        double t;
    } rows[] = {
        {"[coordinates]\nx\n[forces]\nx = 1/(t - 1)\n", 1},
        {"[coordinates]\nx\n[forces]\nx = -1/(t - 1)^2\n", 1},
        {"[coordinates]\nx\n[forces]\nx = 1/abs(t - 1)\n", 1},
        {"[coordinates]\nx, y\n[forces]\nx = 1/(t - 1)\n[start]\nx = 5, y' = 100\n", 1},
        {"[coordinates]\nx\n[forces]\nx = -x/abs(x)^3\n[start]\nx = 1\n", 1.1107207345395915},
        {"[coordinates]\nx\n[forces]\nx = -1/x\n[start]\nx = 1\n", 1.2533141373155003},
    };
    check_group("singularities");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        for (int j = 0; j < METHODS; j++) {
            driven d = create(rows[k].model, methods[j], "until=2");
            if (driven_good(methods[j], &d)) {
                int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
                check_row(code == TAUT_ERROR_STEP || code == TAUT_ERROR_EVALUATE, "%s, %s: %s %s",
                          rows[k].model, methods[j], taut_code_name(code), d.error.message);
                check_near("time of the error", d.error.t, rows[k].t, 1e-5);
                check_near("time of the state", taut_solver_time(d.solver), rows[k].t, 1e-5);
            }
            driven_destroy(&d);
        }
}

/* A force that jumps, x'' = -1 before t = 1 and 1 after: x(2) = -1. What the norm allows there
 * is an error tol/(R/10) of the velocity, with tol = 5e-7 and R below 1, for the time 1 that is
 * left: some 5e-6 to 5e-5; estimates of a jump are off by a factor of ten. An integrable
 * singularity, x'' = |t - 1|^(-1/2): x(2) = 4; a kink, x'' = |t - 1|: x(2) = 1. */
static void test_kinks(void)
{
    static const struct {
        const char *force;
        double x, near;
    } rows[] = {
        {"if(t > 1, 1, -1)", -1, 5e-4}, {"abs(t - 1)", 1, 5e-5}, {"1/sqrt(abs(t - 1))", 4, 2e-2}};
    check_group("kinks");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        for (int j = 0; j < METHODS; j++) {
            char model[200];
            snprintf(model, sizeof model, "[coordinates]\nx\n[forces]\nx = %s\n", rows[k].force);
            driven d = create(model, methods[j], "until=2");
            if (driven_good(methods[j], &d)) {
                check_row(taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error) == 0, "%s: %s",
                          rows[k].force, d.error.message);
                check_near(rows[k].force, taut_solver_position(d.solver)[0], rows[k].x,
                           rows[k].near);
            }
            driven_destroy(&d);
        }
}

/* The same jump as a torque on a rigid bond, down to tolerances at which velocities along the rigid
 * bond are known to eps/h only: an error of some 1e-7 of the velocity is then rounding, and no
 * reason to stop. The norm allows rtol/(R/10) in the velocity, R = rtol^(1/5) for an estimate of
 * order 5, ten times that since estimates of a jump are off: 100 rtol^(4/5), and 1e-6 for the
 * rounding. */
static void test_kink_on_rod(void)
{
    static const struct {
        const char *more;
        double near;
    } rows[] = {{"until=2 rtol=1e-6", 1.6e-3},
                {"until=2 rtol=1e-9 atol=1e-12", 7.3e-6},
                {"until=2 rtol=1e-11 atol=1e-14", 1.2e-6}};
    check_group("a kink on a rod");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        for (int j = 0; j < METHODS; j++) {
            driven d = create("[coordinates]\nx, y\n[forces]\nx = -y*if(t > 1, 1, -1)\ny = x*if(t "
                              "> 1, 1, -1)\n[bonds]\n"
                              "rod = sqrt(x^2 + y^2) - 1\n[start]\nx = 1\n",
                              methods[j], rows[k].more);
            if (driven_good(methods[j], &d)) {
                int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
                const double *q = taut_solver_position(d.solver);
                check_row(code == 0, "%s, %s: %s", methods[j], rows[k].more,
                          code ? d.error.message : "");
                check_near(rows[k].more, atan2(q[1], q[0]), -1, rows[k].near);
            }
            driven_destroy(&d);
        }
}

/* A comet of eccentricity 0.9996, three times around: the energy is what it was, to a hundred
 * times the tolerance for each passage. */
static void test_encounter(void)
{
    check_group("close encounters");
    for (int j = 0; j < METHODS; j++) {
        driven d = create(
            "[coordinates]\nx, y\n[potential]\n-1/sqrt(x^2 + y^2)\n[start]\nx = 1, y' = 0.02\n",
            methods[j], "until=7.5");
        if (driven_good(methods[j], &d)) {
            check_row(taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error) == 0, "%s: %s",
                      methods[j], d.error.message);
            taut_result result = {.size = sizeof result};
            taut_solver_result_get(d.solver, &result, NULL);
            check_near(methods[j], result.energy_last, result.energy_first, 3e-4);
        }
        driven_destroy(&d);
    }
}

/* What may not be taken for a singularity: impacts by events, at once from long steps and in a
 * row; a start far too fast for what follows; a stiff wall; friction that ends in rest. */
static void test_no_alarm(void)
{
    static const struct {
        const char *what, *model, *more;
        double x, near; /* the first coordinate at the end */
    } rows[] = {
        {"bounces",
         "[coordinates]\ny\n[forces]\ny = -1\n[start]\ny = 1\n[events]\nhit = y falling then y' = "
         "-0.8*y'\n",
         "until=9", NAN, 0},
        {"kicks to another pace",
         "[coordinates]\nx\n[potential]\nx^2/2\n[start]\nx = 1\n[events]\nkick = t - 5 rising then "
         "x' = 1e6\n",
         "until=6", NAN, 0},
        {"a stiff spring from far away",
         "[coordinates]\nx\n[bonds]\ns = x stiffness 1e6\n[start]\nx = 1\n", "until=0.1",
         0.86231887228768393, 1e-3},
        {"a stiff wall",
         "[coordinates]\ny\n[forces]\ny = -1 + if(y < 0, -1e6*y, 0)\n[start]\ny = 1\n", "until=10",
         NAN, 0},
        {"friction to rest", "[coordinates]\nx\n[forces]\nx = -0.5*tanh(1e3*x')\n[start]\nx' = 1\n",
         "until=4", 1, 3e-3},
    };
    check_group("no alarm");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        for (int j = 0; j < METHODS; j++) {
            driven d = create(rows[k].model, methods[j], rows[k].more);
            if (driven_good(rows[k].what, &d)) {
                int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
                check_row(code == 0, "%s, %s: %s", rows[k].what, methods[j],
                          code ? d.error.message : "");
                if (rows[k].near > 0)
                    check_near(rows[k].what, taut_solver_position(d.solver)[0], rows[k].x,
                               rows[k].near);
            }
            driven_destroy(&d);
        }
}

int main(void)
{
    test_singularities();
    test_kinks();
    test_kink_on_rod();
    test_encounter();
    test_no_alarm();
    return check_done();
}
