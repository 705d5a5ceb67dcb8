/* chain.c - a system from particles and bonds: a chain of stiff links that hangs at rest. Each
 * link carries the weight below it, so that its tension is known; a push at the end then makes
 * it swing. */
#include <taut/taut.h>

#include <math.h>
#include <stdio.h>

enum { LINKS = 8 };
static const double mass = 0.5, gravity = 9.81, stiffness = 1e5;

static int build(taut_system **system, taut_error *error)
{
    taut_index first[LINKS], second[LINKS];
    double m[LINKS], p[2 * LINKS], v[2 * LINKS] = {0}, anchor[2 * LINKS] = {0}, rest[LINKS],
                                         k[LINKS], y = 0;
    const double down[2] = {0, -gravity};
    for (int i = 0; i < LINKS; i++) {
        first[i] = i;
        second[i] = i - 1; /* -1: the first link is pinned to its anchor, the origin */
        m[i] = mass;
        rest[i] = 1;
        k[i] = stiffness;
        y -= rest[i] + (LINKS - i) * mass * gravity / stiffness; /* stretched by the weight below */
        p[2 * i] = 0;
        p[2 * i + 1] = y;
    }
    v[2 * LINKS - 2] = 0.1;
    taut_builder *builder = NULL;
    int status = taut_builder_create(2, LINKS, NULL, &builder, error);
    if (status != 0)
        return status;
    /* a call that is wrong is remembered, and finish says what it was */
    status = taut_builder_mass(builder, m);
    if (status == 0)
        status = taut_builder_start(builder, p, v);
    if (status == 0)
        status = taut_builder_gravity(builder, down);
    if (status == 0)
        status = taut_builder_distances(builder, "link", LINKS, first, second, anchor, rest, k);
    int finished = taut_builder_finish(builder, system, error);
    taut_builder_destroy(builder);
    return status ? status : finished;
}

static int run(const taut_system *system, taut_error *error)
{
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    taut_result result = {.size = sizeof result};
    int status = taut_options_create(NULL, &options, error);
    if (status == 0)
        status = taut_options_set(options, "until", "2", error);
    if (status == 0)
        status = taut_solver_create(system, options, NULL, &solver, error);
    if (status == 0) {
        printf("%s\n", taut_solver_explanation(solver));
        status = taut_solver_run(solver, NULL, 0, NULL, NULL, error);
    }
    for (taut_index i = 0; i < LINKS && status == 0; i++) {
        char name[32];
        taut_system_name(system, TAUT_BOND, i, name, sizeof name);
        printf("  %-8s tension %8.4f, weight below it %8.4f\n", name,
               taut_solver_multipliers(solver)[i], (LINKS - i) * mass * gravity);
    }
    if (status == 0) {
        taut_solver_result_get(solver, &result, NULL);
        printf("  the end has moved to x = %.4f; the energy changed by %.1e\n",
               taut_solver_position(solver)[2 * LINKS - 2],
               fabs(result.energy_last - result.energy_first));
    }
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    return status;
}

int main(void)
{
    taut_error error = {0};
    taut_system *system = NULL;
    int status = build(&system, &error);
    if (status == 0)
        status = run(system, &error);
    if (status != 0)
        fprintf(stderr, "%s: %s\n", taut_code_text(status), error.message);
    taut_system_destroy(system);
    return status != 0;
}
