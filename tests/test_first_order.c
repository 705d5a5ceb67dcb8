/* test_first_order.c - first-order systems through the driver: an event that alters the state
 * also alters the invariants that are kept from there on. The oracle is the conserved energy
 * after the kick, known in closed form. */
#include "support/table.h"

#include <taut/taut.h>

static const char model[] =
    "[state]\nx, y, u, w\n"
    "[rates]\nx' = u\ny' = w\nu' = -x/(x^2 + y^2)^1.5\nw' = -y/(x^2 + y^2)^1.5\n"
    "[invariants]\nenergy = (u^2 + w^2)/2 - 1/sqrt(x^2 + y^2) + 0.5\n"
    "[start]\nx = 1, w = 1\n"
    "[events]\nkick = t - 1  rising  then w = 1.2*w, u = 1.2*u\n";

static void run(const char *stabilize)
{
    taut_system *system = NULL;
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    taut_error error = {0};
    int status = taut_system_parse(model, strlen(model), "kick", NULL, &system, &error);
    if (status == 0)
        status = taut_options_create(NULL, &options, &error);
    if (status == 0)
        status = taut_options_set(options, "rtol", "1e-11", &error);
    if (status == 0)
        status = taut_options_set(options, "until", "3", &error);
    if (status == 0)
        status = taut_options_set(options, "stabilize", stabilize, &error);
    if (status == 0)
        status = taut_solver_create(system, options, NULL, &solver, &error);
    if (status == 0)
        status = taut_solver_run(solver, NULL, 0, NULL, NULL, &error);
    if (check_row(status == 0, "%s: %s", stabilize, error.message)) {
        const double *z = taut_solver_position(solver);
        /* on the circle |velocity| = 1; times 1.2 at the kick: energy 0.72 - 1 */
        double energy = (z[2] * z[2] + z[3] * z[3]) / 2 - 1 / hypot(z[0], z[1]);
        check_near(stabilize, energy, 0.72 - 1, 1e-9);
        taut_result result = {.size = sizeof result};
        taut_solver_result_get(solver, &result, NULL);
        check_below("drift is counted from the kick on", result.drift_position, 1e-8);
    }
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    taut_system_destroy(system);
}

int main(void)
{
    check_group("a kick");
    static const char *const kinds[] = {"none", "post", "project", "post-velocity", "baumgarte"};
    for (int k = 0; k < 5; k++)
        run(kinds[k]);
    return check_done();
}
