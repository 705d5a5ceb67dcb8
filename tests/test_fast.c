/* test_fast.c - terms of [potential] marked `fast`: impulse methods evaluate them with the springs,
 * in the micro-steps, and all others once a step; other methods do not distinguish them. */
#include "drive/solver.h"
#include "step/impulse.h"
#include "support/run.h"

/* A dumbbell tied to the origin by a spring of rate 20, which may be marked, and pulled slowly. */
static const char model[] = "[parameters]\nomega = 300, rate = 20\n"
                            "[particles]\ndimension = 2\np[i] for i in 1..2  mass 1\n"
                            "[bonds]\nlink = length(p[1] - p[2]) - 1  stiffness omega^2\n"
                            "[potential]\nrate^2*dot(p[1], p[1])/2  %s\n"
                            "p[2].y + 0.3*p[2].x*p[1].y  %s\n"
                            "sum(exp(-length(p[i] - p[j]))*(1 - length(p[i] - p[j])^2/4)^3 for "
                            "pairs i, j in p within 2)  %s\n"
                            "[start]\np[1] = (0.3, 0.1), p[2] = (1.3, 0.1)\np[2]' = (0, 1)\n";

static driven make(const char *a, const char *b, const char *c, const char *options)
{
    char text[2000];
    snprintf(text, sizeof text, model, a, b, c);
    return driven_create(text, options, NULL);
}

/* The vibrating state of an impulse method, or the state, at the end of a run. */
static bool end_of(const char *a, const char *b, const char *c, const char *options, double *q,
                   taut_statistics *statistics)
{
    driven d = make(a, b, c, options);
    if (d.code == 0)
        d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
    bool good = driven_good(options, &d);
    if (good) {
        const taut_stepper *s = &d.solver->stepper;
        const bool impulse = s->method->motions == TAUT_MOTION_EFFECTIVE;
        memcpy(q, impulse ? ((taut_impulse *)s->work)->x : s->now.q, 4 * sizeof *q);
        if (statistics)
            *statistics = d.solver->statistics;
    }
    driven_destroy(&d);
    return good;
}

static double apart(const double *x, const double *y)
{
    double most = 0;
    for (int k = 0; k < 4; k++)
        most = fmax(most, fabs(x[k] - y[k]));
    return most;
}

/* Without kicks the method is Verlet with micro-steps. */
static void test_all(void)
{
    double x[4], y[4];
    check_group("all fast");
    if (end_of("fast", "fast", "fast", "method=impulse step=0.1 inner-step=0.0005 until=1", x,
               NULL) &&
        end_of("", "", "", "motion=full method=verlet step=0.0005 until=1", y, NULL))
        check_below("Verlet", apart(x, y), 1e-10);
    if (end_of("fast", "", "fast", "motion=full method=verlet step=0.0005 until=1", x, NULL))
        check_row(memcmp(x, y, sizeof x) == 0, "other methods do not distinguish them");
}

/* The marked force alone has 1.45 radians in the longer step: as a kick it is far off, in the
 * micro-steps the method is of order 2 in the others. */
static void test_order(void)
{
    static const char *const method[] = {"impulse", "mollified-impulse", "projected-impulse"};
    static const struct {
        const char *mark;
        double h;
    } row[3] = {{"fast", 0.0725}, {"fast", 0.03625}, {"", 0.0725}};
    double exact[4], x[4], off[3];
    check_group("order");
    if (!end_of("", "", "", "motion=full method=verlet step=1e-4 until=1.16", exact, NULL))
        return;
    for (size_t m = 0; m < sizeof method / sizeof method[0]; m++) {
        for (int k = 0; k < 3; k++) {
            char options[200];
            snprintf(options, sizeof options, "method=%s step=%g inner-step=1e-4 until=1.16",
                     method[m], row[k].h);
            off[k] = end_of(row[k].mark, "", "", options, x, NULL) ? apart(x, exact) : NAN;
        }
        double slope = log2(off[0] / off[1]);
        check_row(fabs(slope - 2) < 0.3, "%s: %.3g, %.3g, order %.3g", method[m], off[0], off[1],
                  slope);
        check_row(off[2] > 100 * off[0], "%s: marked %.3g, not marked %.3g", method[m], off[0],
                  off[2]);
    }
}

/* The same with a kinetic energy, whose fast flow is the generalised leapfrog: the flow of springs
 * and marked terms does not depend on the step between kicks that vanish, and all kicks make an
 * error. */
static void test_kinetic(void)
{
    static const char polar[] =
        "[coordinates]\nr, a\n[kinetic]\n(r'^2 + r^2*a'^2)/2\n[potential]\n-9*r*cos(a)  %s\n"
        "[bonds]\nrod = r - 1  stiffness 1e4\n[start]\nr = 1.01, a = 1\n";
    static const struct {
        const char *mark, *step;
    } row[3] = {{"fast", "0.2"}, {"fast", "0.1"}, {"", "0.2"}};
    double x[3][2];
    check_group("kinetic energy");
    for (int k = 0; k < 3; k++) {
        char text[500], options[200];
        snprintf(text, sizeof text, polar, row[k].mark);
        snprintf(options, sizeof options, "method=impulse step=%s inner-step=0.0005 until=2",
                 row[k].step);
        driven d = driven_create(text, options, NULL);
        if (d.code == 0)
            d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        x[k][0] = x[k][1] = NAN;
        if (driven_good(options, &d))
            memcpy(x[k], ((taut_impulse *)d.solver->stepper.work)->x, sizeof x[k]);
        driven_destroy(&d);
    }
    check_below("no kicks", fmax(fabs(x[0][0] - x[1][0]), fabs(x[0][1] - x[1][1])), 1e-9);
    check_row(fabs(x[2][1] - x[0][1]) > 1e-3, "kicks: %g, flow: %g", x[2][1], x[0][1]);
}

static void test_counts(void)
{
    double x[4];
    taut_statistics s = {0};
    check_group("counts");
    if (!end_of("fast", "", "", "method=impulse step=0.1 inner-step=0.002 until=1", x, &s))
        return;
    check_equal("micro-steps", s.micro_steps, 500);
    check_equal("with fast forces", s.fast_force_evaluations, 501);
    check_equal("slow forces", s.force_evaluations, 11);
}

int main(void)
{
    test_all();
    test_order();
    test_kinetic();
    test_counts();
    return check_done();
}
