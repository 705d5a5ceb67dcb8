/* test_outer_order.c - kicks of order 4 of the impulse methods (option outer-order): the observed
 * order, an oscillator in closed form, time reversal, the symplectic form under a step, counts,
 * steps from a tolerance, refusals, work in two liquids. */
#include <math.h>

#include "drive/solver.h"
#include "step/impulse.h"
#include "support/run.h"

/* A dumbbell on a spring of 11 radians per time, which steps below 0.1 resolve, in a field that is
 * not quadratic. */
#define DUMBBELL                                                                                   \
    "[coordinates]\na, b, c, d\n[potential]\na^2/2 + c^2/3 + b + d + a*b*c/4 + 0.1*d^4\n[bonds]\n" \
    "rod = sqrt((a-c)^2 + (b-d)^2) - 1 stiffness 64\n[start]\na = 0.1, b = -0.2, c = 1.12\n"       \
    "d = 0.05, a' = 0.3, b' = -0.4, c' = 0.2, d' = 0.5\n"

static const char *const methods[] = {"impulse", "projected-impulse", "mollified-impulse",
                                      "transformed"};
enum { METHODS = sizeof methods / sizeof methods[0] };

static driven open_run(const char *model, const char *method, const char *more)
{
    char options[240];
    snprintf(options, sizeof options,
             "motion=effective verify=never outer-order=4 inner-order=8 method=%s %s", method,
             more);
    driven d = driven_create(model, options, NULL);
    driven_good(method, &d);
    return d;
}

/* The vibrating state of the dumbbell at 0.8. */
static void end_of(const char *method, double h, double *z)
{
    char more[80];
    snprintf(more, sizeof more, "until=0.8 raw=yes inner-step=0.01 step=%.17g", h);
    driven d = open_run(DUMBBELL, method, more);
    for (int i = 0; i < 4; i++)
        z[i] = NAN;
    if (d.code == 0 && taut_solver_advance(d.solver, 0.8, &d.error) == 0)
        memcpy(z, taut_solver_position(d.solver), 4 * sizeof *z);
    driven_destroy(&d);
}

static void test_order(void)
{
    check_group("order of the kicks");
    for (int m = 0; m < METHODS; m++) {
        double exact[4], z[4], error[2] = {0};
        end_of(methods[m], 0.02, exact);
        for (int k = 0; k < 2; k++) {
            end_of(methods[m], 0.16 / (1 + k), z);
            for (int i = 0; i < 4; i++)
                error[k] = fmax(error[k], fabs(z[i] - exact[i]));
        }
        check_near(methods[m], log2(error[0] / error[1]), 4, 0.35);
    }
}

/* Slow and fast do not touch: the slow oscillator has the trace of the step in closed form. */
static void test_oscillator(void)
{
    check_group("an oscillator");
    static const double h = 0.7;
    enum { STEPS = 100 };
    driven d = open_run("[coordinates]\nx, y\n[potential]\nx^2/2\n[bonds]\nspring = y stiffness "
                        "1e4\n[start]\nx = 1, y = 1e-3\n",
                        "impulse", "until=1000 raw=yes step=0.7");
    if (d.code == 0) {
        const double place[5] = {0, .5 - sqrt(3. / 28), .5, .5 + sqrt(3. / 28), 1},
                     weight[5] = {1. / 20, 49. / 180, 16. / 45, 49. / 180, 1. / 20},
                     gamma = (3861 - 791 * sqrt(21)) / 11520;
        double x = 1, v = 0;
        for (int n = 0; n < STEPS; n++)
            for (int k = 0; k < 5; k++) {
                x += k ? (place[k] - place[k - 1]) * h * v : 0;
                v -= weight[k] * h * x * (k == 2 ? 1 - gamma * h * h : 1);
            }
        d.code = taut_solver_advance(d.solver, STEPS * h, &d.error);
        check_near("by hand", taut_solver_position(d.solver)[0], x, 1e-8);
        check_near("phase", atan2(-v, x),
                   remainder(STEPS * h * (1 - pow(h, 4) / 36340), 8 * atan(1)), 1e-4);
        check_equal("slow evaluations", d.solver->statistics.force_evaluations, 5 * STEPS + 1);
    }
    driven_destroy(&d);
}

static void test_reversible(void)
{
    check_group("kicks of order 4, time reversal");
    for (int m = 0; m < METHODS; m++) {
        driven d = open_run(DUMBBELL, methods[m], "until=1 raw=yes inner-step=0.02 step=0.2");
        if (d.code == 0) {
            taut_impulse *w = d.solver->stepper.work;
            double x[4], v[4];
            memcpy(x, w->x, sizeof x);
            memcpy(v, w->v, sizeof v);
            for (int side = 1; side >= -1 && d.code == 0; side -= 2)
                for (int k = 0; k < 5 && d.code == 0; k++)
                    d.code = taut_impulse_step(&d.solver->stepper, side * 0.2, &d.error);
            check_equal(methods[m], d.code, 0);
            for (int i = 0; i < 4; i++) {
                check_near(methods[m], w->x[i], x[i], 1e-10);
                check_near(methods[m], w->v[i], v[i], 1e-9);
            }
        }
        driven_destroy(&d);
    }
}

/* (x, v) after a step of 0.2 from z, unit masses. */
static void step_from(driven *d, const double *z, double *end)
{
    taut_impulse *w = d->solver->stepper.work;
    memcpy(w->x, z, 4 * sizeof *z);
    memcpy(w->v, z + 4, 4 * sizeof *z);
    w->fresh = false;
    d->solver->stepper.now.t = 0;
    check_equal("step", taut_impulse_step(&d->solver->stepper, 0.2, &d->error), 0);
    memcpy(end, w->x, 4 * sizeof *z);
    memcpy(end + 4, w->v, 4 * sizeof *z);
}

static double form_of(const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += a[i] * b[4 + i] - a[4 + i] * b[i];
    return sum;
}

/* dx ^ dy over all pairs of directions, by central differences. */
static void test_symplectic(void)
{
    static const double start[8] = {.1, -.2, 1.1, .05, .3, -.4, .2, .5}, delta = 1e-5;
    check_group("kicks of order 4, symplectic");
    for (int m = 0; m < METHODS; m++) {
        driven d = open_run(DUMBBELL, methods[m], "until=1 raw=yes inner-step=0.02 step=0.2");
        double column[8][8] = {{0}}, worst = 0;
        for (int k = 0; k < 8 && d.code == 0; k++)
            for (int side = -1; side <= 1; side += 2) {
                double z[8], end[8];
                memcpy(z, start, sizeof z);
                z[k] += side * delta;
                step_from(&d, z, end);
                for (int i = 0; i < 8; i++)
                    column[k][i] += side * end[i] / (2 * delta);
            }
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < i; j++)
                worst = fmax(worst, fabs(form_of(column[i], column[j]) - (i == j + 4 ? -1 : 0)));
        check_row(m == 1 ? worst > 1e-4 : worst < 1e-6, "%s: %g", methods[m], worst);
        driven_destroy(&d);
    }
}

/* The step of a tolerance, and what the error is with it. */
static void test_tolerance(void)
{
    static const char model[] = "[coordinates]\na, b, c, d\n[potential]\nb + d\n[bonds]\n"
                                "inner = sqrt(a^2 + b^2) - 1 stiffness 1e6\n"
                                "outer = sqrt((a-c)^2 + (b-d)^2) - 1 stiffness 1e6\n"
                                "[start]\na = sqrt(0.5), b = -sqrt(0.5), c = sqrt(2), d = 5e-3\n";
    double q[2][4];
    check_group("steps of order 4 from a tolerance");
    for (int k = 0; k < 2; k++) {
        driven d =
            open_run(model, "mollified-impulse", k ? "until=1.5 step=0.01" : "until=1.5 rtol=1e-4");
        if (d.code == 0) {
            const taut_stepper *s = &d.solver->stepper;
            d.code = taut_solver_advance(d.solver, 1.5, &d.error);
            memcpy(q[k], taut_solver_position(d.solver), sizeof q[k]);
            check_row(d.code == 0 && (k || (d.solver->step * s->slow_rate < 0.7 &&
                                            !(s->reduced > 0) && s->statistics->steps < 20)),
                      "%lld steps of %g: %s", (long long)s->statistics->steps, d.solver->step,
                      d.error.message);
        }
        driven_destroy(&d);
    }
    for (int i = 0; i < 4; i++)
        check_near("position", q[0][i], q[1][i], 1e-4);
}

static void test_refusals(void)
{
    static const struct {
        const char *name, *model, *more;
    } rows[] = {{"kinetic energy",
                 "[coordinates]\nr, p\n[kinetic]\n(r'^2 + r^2*p'^2)/2\n[potential]\n"
                 "-r*cos(p)\n[bonds]\nrod = r - 1 stiffness 1e6\n[start]\nr = 1, p = 1\n",
                 "until=1 step=0.1"},
                {"rigid bond",
                 "[coordinates]\na, b, c\n[potential]\na + b\n[bonds]\nrod = a - c\n"
                 "spring = b stiffness 1e6\n[start]\na = 0\n",
                 "until=1 step=0.1"},
                {"adiabatic", DUMBBELL, "until=1 step=0.1 inner-method=adiabatic"}};
    check_group("kicks of order 4, refusals");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char options[200];
        snprintf(options, sizeof options, "motion=effective method=impulse outer-order=4 %s",
                 rows[k].more);
        driven d = driven_create(rows[k].model, options, NULL);
        check_row(d.code == TAUT_ERROR_REFUSED && strstr(d.error.message, "kicks of order 4"),
                  "%s: %s", rows[k].name, d.error.message);
        driven_destroy(&d);
    }
}

/* ---- work */

/* A shipped liquid: the places of the atoms of molecule m among all, and their weights. */
typedef struct liquid {
    const char *file;
    double outer, inner; /* steps: 0.7 over the slow rate; of order 4 */
    int molecules, atoms;
    bool together; /* the atoms of a molecule follow each other; else those of one kind do */
    double weight[3];
} liquid;

/* The model, the bend of water moved from [bonds] to the fast terms. */
static driven open_liquid(const liquid *of, const char *options)
{
    static const char fast[] = "[potential]\nsum(angle_stiffness/2*(angle(A[i] - O[i], B[i] - "
                               "O[i]) - angle0)^2 for i in 1..N)  fast\n";
    static char text[10000];
    FILE *file = fopen(of->file, "r");
    size_t length = file ? fread(text, 1, sizeof text - sizeof fast, file) : 0;
    text[length] = '\0';
    if (file)
        fclose(file);
    char *bend = strstr(text, "bend[i] =");
    if (bend) {
        *bend = '#';
        strcat(text, fast);
    }
    driven d = driven_create(text, options, NULL);
    driven_good(of->file, &d);
    return d;
}

static void find_centres(const liquid *of, const double *q, double *centre)
{
    for (int i = 0; i < 3 * of->molecules; i++) {
        double sum = 0, mass = 0;
        for (int a = 0; a < of->atoms; a++) {
            int atom = of->together ? i / 3 * of->atoms + a : a * of->molecules + i / 3;
            double weight = of->together ? 1 : of->weight[a];
            sum += weight * q[3 * atom + i % 3];
            mass += weight;
        }
        centre[i] = sum / mass;
    }
}

/* The centres of mass at the end, and the evaluations of the slow forces. */
static int64_t centres_after(const liquid *of, const char *options, double end, double *centre)
{
    taut_result result = {.size = sizeof result};
    driven d = open_liquid(of, options);
    int code = d.code ? d.code : taut_solver_advance(d.solver, end, &d.error);
    check_row(code == 0, "%s, %s: %s", of->file, options, d.error.message);
    if (code == 0) {
        find_centres(of, taut_solver_position(d.solver), centre);
        taut_solver_result_get(d.solver, &result, NULL);
    }
    driven_destroy(&d);
    return result.statistics.force_evaluations;
}

/* With four times as many evaluations of the slow forces the error of Verlet's method in the
 * centres of mass is larger. */
static void test_work(void)
{
    enum { MOST = 81 };
    static const liquid liquids[] = {
        {TAUT_SOURCE_DIR "/models/water_box.taut",
         0.0032,
         0.001,
         27,
         3,
         false,
         {15.9994, 1.008, 1.008}},
        {TAUT_SOURCE_DIR "/models/decane_melt.taut", 0.0111, 0.002, 16, 10, true, {0}}};
    const int steps = getenv("TAUT_TEST_SANITIZED") ? 4 : 20;
    check_group("slow forces at equal accuracy");
    for (size_t k = 0; k < sizeof liquids / sizeof liquids[0]; k++) {
        const liquid *of = &liquids[k];
        const double end = steps * of->outer;
        double exact[MOST] = {0}, kicked[MOST] = {0}, verlet[MOST] = {0}, error[2] = {0};
        char options[200];
        snprintf(options, sizeof options,
                 "motion=effective method=impulse raw=yes until=1 verify=never outer-order=4 "
                 "inner-order=4 step=%.17g inner-step=%g",
                 of->outer, of->inner);
        int64_t few = centres_after(of, options, end, kicked);
        snprintf(options, sizeof options,
                 "motion=full method=verlet until=1 verify=never step=%.17g",
                 end / (4 * (double)few));
        int64_t many = centres_after(of, options, end, verlet);
        centres_after(of, "motion=full method=dop8 until=1 verify=never rtol=1e-8", end, exact);
        for (int i = 0; i < 3 * of->molecules; i++) {
            error[0] = fmax(error[0], fabs(kicked[i] - exact[i]));
            error[1] = fmax(error[1], fabs(verlet[i] - exact[i]));
        }
        check_equal("evaluations of kicks", few, 5 * steps + 1);
        check_row(many >= 4 * few && many <= 4 * few + 2, "%lld evaluations of Verlet's method",
                  (long long)many);
        check_row(error[0] > 0 && error[0] < error[1],
                  "%s: errors %g by kicks, %g by Verlet's method", of->file, error[0], error[1]);
    }
}

int main(void)
{
    test_order();
    test_oscillator();
    test_reversible();
    test_symplectic();
    test_tolerance();
    test_refusals();
    test_work();
    return check_done();
}
