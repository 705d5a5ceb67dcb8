/* test_large_stages.c - explicit methods on large systems, which keep accelerations of stages alone
 * (step/stage_path.c), against the same method on a small one, which keeps velocities too: copies
 * of one system that do not meet move as it does, in steps, rows between steps, at events, and with
 * the work of forces that change with t and v. */
#include "support/run.h"

enum { COPIES = 2100 }; /* of a pendulum with two coordinates: above LARGE of step/explicit.c */

/* The same masses, pulls and starts for all; the right-hand sides meet all of t, q and v. */
#define PENDULUMS(more)                                                                            \
    "[parameters]\nN = %d\n[particles]\ndimension = 2\nbob[i] for i in 1..N mass 2\n"              \
    "[bonds]\nrod[i] = length(bob[i]) - 1 for i in 1..N\n"                                         \
    "[forces]\nbob[i].x = sin(2*t) - 0.3*bob[i].x' for i in 1..N\n"                                \
    "bob[i].y = -20 for i in 1..N\n[start]\nbob[i] = (1, 0) for i in 1..N\n" more
#define FREE                                                                                       \
    "[parameters]\nN = %d\n[particles]\ndimension = 2\nbob[i] for i in 1..N mass 2\n"              \
    "[forces]\nbob[i].x = -bob[i].x^3 + bob[i].y' for i in 1..N\n"                                 \
    "bob[i].y = -4*bob[i].y - bob[i].x' for i in 1..N\n"                                           \
    "[start]\nbob[i] = (1, 0.5) for i in 1..N\n"
/* From a rest far away, so that no method is named and steps of dop8 end at its limit. */
#define STIFF                                                                                      \
    "[parameters]\nN = %d\n[particles]\ndimension = 2\nbob[i] for i in 1..N mass 1\n"              \
    "[forces]\nbob[i].x = -bob[i].x - 40*bob[i].x' for i in 1..N\n"                                \
    "bob[i].y = -4*bob[i].y for i in 1..N\n[start]\nbob[i] = (1, 0.5) for i in 1..N\n"
#define HIT "[events]\nlow = bob[1].x + 0.2 falling stop\n"

static const struct {
    const char *name, *model, *options;
    double bound;
} rows[] = {
    {"dop8, steps", PENDULUMS(""), "method=dop8 step=0.1 until=2 every=2", 1e-12},
    {"dopri5, steps", PENDULUMS(""), "method=dopri5 step=0.05 until=2 every=2", 1e-12},
    {"rk4, steps", PENDULUMS(""), "method=rk4 step=0.02 until=1 every=1", 1e-12},
    {"dop8", PENDULUMS(""), "method=dop8 rtol=1e-8 until=3 every=3", 1e-10},
    {"dop8, rows", PENDULUMS(""), "method=dop8 rtol=1e-8 until=3 every=0.07", 1e-10},
    {"dopri5, rows", PENDULUMS(""), "method=dopri5 rtol=1e-7 until=2 every=0.03", 1e-10},
    {"dop8, rows of steps", PENDULUMS(""), "method=dop8 step=0.1 until=2 every=0.033", 1e-11},
    {"dop8, an event", PENDULUMS(HIT), "method=dop8 rtol=1e-8 until=3 every=0.2", 1e-10},
    {"no stabilisation", PENDULUMS(""), "method=dop8 rtol=1e-8 until=2 stabilize=none every=0.1",
     1e-10},
    {"Baumgarte", PENDULUMS(""), "method=dopri5 rtol=1e-7 until=2 stabilize=baumgarte every=2",
     1e-10},
    {"q' = v does not hold", PENDULUMS(""),
     "method=dop8 rtol=1e-7 until=2 stabilize=continuous stabilize-rate=5 every=0.1", 1e-10},
    {"no bonds", FREE, "motion=full method=dop8 rtol=1e-8 until=4 every=0.11", 1e-10},
    {"its stiffness is watched", STIFF, "motion=full rtol=1e-6 until=4 every=1", 1e-8},
    {"by two threads", STIFF, "motion=full rtol=1e-6 until=4 every=1 threads=2", 1e-8},
    {"ab2", FREE, "motion=full method=ab2 step=0.01 until=1 every=0.033", 1e-12},
    {"adams", FREE, "motion=full method=adams rtol=1e-7 until=2 every=0.11", 1e-7},
};

static driven make(const char *model, int copies, const char *options)
{
    char text[1000];
    snprintf(text, sizeof text, model, copies);
    return driven_create(text, options, NULL);
}

/* The largest difference of any copy at the end from the first one of the small system. */
static double apart(const double *large, const double *small, int width)
{
    double most = 0;
    for (int k = 0; k < COPIES; k++)
        for (int c = 0; c < width; c++)
            most = fmax(most, fabs(large[k * width + c] - small[c]));
    return most;
}

static double rows_apart(const kept *a, const kept *b)
{
    double most = a->rows == b->rows && a->rows > 0 ? 0 : INFINITY;
    for (int r = 0; r < a->rows && r < b->rows; r++) {
        most = fmax(most, fabs(a->t[r] - b->t[r]));
        for (int c = 0; c < 2; c++)
            most = fmax(most, fmax(fabs(a->q[r][c] - b->q[r][c]), fabs(a->v[r][c] - b->v[r][c])));
        most = fmax(most, a->m > 0 ? fabs(a->lambda[r][0] - b->lambda[r][0]) / 40 : 0);
    }
    return most;
}

int main(void)
{
    static kept of[2];
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        driven d[2] = {make(rows[k].model, COPIES, rows[k].options),
                       make(rows[k].model, 2, rows[k].options)};
        taut_result result[2] = {{.size = sizeof result[0]}, {.size = sizeof result[0]}};
        bool good = driven_good(rows[k].name, &d[0]) && driven_good(rows[k].name, &d[1]);
        for (int j = 0; j < 2 && good; j++) {
            const taut_sink sink = kept_sink(&of[j]);
            const int code = taut_solver_run(d[j].solver, &sink, 1, NULL, NULL, &d[j].error);
            good = check_row(code >= 0, "%s: %s", rows[k].name, d[j].error.message) &&
                   taut_solver_result_get(d[j].solver, &result[j], NULL) == 0;
        }
        if (good) {
            check_equal(rows[k].name, result[0].statistics.steps, result[1].statistics.steps);
            check_below(rows[k].name, rows_apart(&of[0], &of[1]), rows[k].bound);
            check_below(
                "positions of all copies",
                apart(taut_solver_position(d[0].solver), taut_solver_position(d[1].solver), 2),
                rows[k].bound);
            check_below(
                "velocities of all copies",
                apart(taut_solver_velocity(d[0].solver), taut_solver_velocity(d[1].solver), 2),
                rows[k].bound);
        }
        driven_destroy(&d[0]);
        driven_destroy(&d[1]);
    }
    return check_done();
}
