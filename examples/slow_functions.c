/* slow_functions.c - slow and rigid motion of a system that is known by two C functions alone,
 * force and bond, without derivatives: the state is projected onto the slow manifold at every
 * evaluation, by short runs of the functions themselves. The steps do not depend on the stiffness.
 */
#include <taut/taut.h>

#include <math.h>
#include <stdio.h>

static int force(void *user, double t, const double *q, const double *v, double *f)
{
    (void)t, (void)q, (void)v;
    ++*(long *)user;
    f[0] = 0;
    f[1] = -9.81;
    return 0;
}

static int bond(void *user, double t, const double *q, double *g)
{
    (void)user, (void)t;
    g[0] = hypot(q[0], q[1]) - 1;
    return 0;
}

/* From the horizontal until t = 1. */
static int swing(const taut_system *system, const char *motion, double *q, taut_error *error)
{
    static const char *const words[][2] = {
        {"project", "stage"}, {"projection", "kernel"}, {"method", "dop8"}, {"until", "1"}};
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    int status = taut_options_create(NULL, &options, error);
    for (int k = 0; k < 4 && status == 0; k++)
        status = taut_options_set(options, words[k][0], words[k][1], error);
    if (status == 0)
        status = taut_options_set(options, "motion", motion, error);
    if (status == 0)
        status = taut_solver_create(system, options, NULL, &solver, error);
    if (status == 0)
        status = taut_solver_advance(solver, 1, error);
    for (int i = 0; i < 2 && status == 0; i++)
        q[i] = taut_solver_position(solver)[i];
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    return status;
}

int main(void)
{
    const double start[2] = {1, 0};
    double rigid[2] = {0, 0};
    taut_error error = {0};
    int status = 0;
    for (int k = 0; k <= 3 && status == 0; k++) { /* the rigid bond first, then springs */
        long calls = 0;
        double compliance[1] = {k == 0 ? 0 : pow(10, -4 - 2 * k)}, q[2] = {0, 0};
        taut_callbacks callbacks = {.size = sizeof callbacks,
                                    .coordinates = 2,
                                    .bonds = 1,
                                    .compliance = compliance,
                                    .start_q = start,
                                    .force = force,
                                    .bond = bond,
                                    .user = &calls};
        taut_system *system = NULL;
        status = taut_system_from_callbacks(&callbacks, NULL, &system, &error);
        if (status == 0)
            status = swing(system, k == 0 ? "rigid" : "slow", k == 0 ? rigid : q, &error);
        if (status == 0 && k == 0)
            printf("rigid: (%.9f, %.9f), %ld calls of the force\n", rigid[0], rigid[1], calls);
        else if (status == 0)
            printf("compliance %g: %.2e from the rigid motion, %ld calls\n", compliance[0],
                   hypot(q[0] - rigid[0], q[1] - rigid[1]), calls);
        taut_system_destroy(system);
    }
    if (status != 0)
        fprintf(stderr, "%s: %s\n", taut_code_text(status), error.message);
    return status != 0;
}
