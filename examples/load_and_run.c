/* load_and_run.c - reads a model file, evaluates it at its initial state, and runs it with Verlet.
 *
 *     load_and_run [MODEL]        default: models/double_pendulum.taut */
#include <taut/taut.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Bonds, multipliers and energies at the initial state. The multiplier of a spring is its tension,
 * lambda = g / c. */
static int show_start(const taut_system *system, taut_error *error)
{
    taut_sizes sizes = {.size = sizeof sizes};
    taut_context *context = NULL;
    taut_system_sizes_get(system, &sizes, NULL);
    double *q = calloc((size_t)sizes.coordinates, sizeof *q),
           *v = calloc((size_t)sizes.coordinates, sizeof *v);
    double *g = calloc((size_t)sizes.bonds + 1, sizeof *g);
    taut_values values = {.size = sizeof values, .bond = g};
    int status =
        q && v && g ? taut_context_create(system, NULL, &context, error) : TAUT_ERROR_MEMORY;
    if (status == 0)
        status = taut_context_start(context, 0, q, v, error);
    if (status == 0)
        status = taut_evaluate(context, 0, q, v, TAUT_WANT_BOND | TAUT_WANT_ENERGY, &values, error);
    for (taut_index i = 0; i < sizes.bonds && status == 0; i++) {
        char name[80];
        double c = taut_context_compliance(context)[i];
        taut_system_name(system, TAUT_BOND, i, name, sizeof name);
        if (c > 0)
            printf("  %-8s g = %12.5e   lambda = %12.5e\n", name, g[i], g[i] / c);
        else
            printf("  %-8s g = %12.5e   (rigid)\n", name, g[i]);
    }
    if (status == 0)
        printf("  energy: kinetic %.6g, potential %.6g, in bonds %.6g\n", values.kinetic,
               values.potential, values.bond_energy);
    taut_context_destroy(context);
    free(q);
    free(v);
    free(g);
    return status;
}

static int run(const taut_system *system, taut_error *error)
{
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    taut_result result = {.size = sizeof result};
    int status = taut_options_create(NULL, &options, error);
    if (status == 0)
        status = taut_options_set(options, "motion", "full", error);
    if (status == 0)
        status = taut_options_set(options, "method", "verlet", error);
    if (status == 0)
        status = taut_options_set(options, "until", "0.1", error);
    if (status == 0)
        status = taut_solver_create(system, options, NULL, &solver, error);
    if (status == 0) {
        printf("%s\n", taut_solver_explanation(solver));
        status = taut_solver_run(solver, NULL, 0, NULL, NULL, error);
    }
    if (status >= 0 && solver) {
        taut_solver_result_get(solver, &result, NULL);
        printf("  t = %g after %lld steps; energy %.9g, at the start %.9g\n", result.t,
               (long long)result.statistics.steps, result.energy_last, result.energy_first);
        if (!(fabs(result.energy_last - result.energy_first) < 1e-2 * fabs(result.energy_first)))
            status = TAUT_ERROR_STEP; /* Verlet keeps the energy: something is wrong */
    }
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    return status;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "models/double_pendulum.taut";
    const char *const set[] = {"omega=1000"};
    taut_load how = {.size = sizeof how, .set = set, .set_count = argc > 1 ? 0 : 1};
    taut_error error = {0};
    taut_system *system = NULL;
    int status = taut_system_load(path, &how, &system, &error);
    if (status == 0) {
        printf("%s\n", taut_system_title(system));
        status = show_start(system, &error);
    }
    if (status == 0)
        status = run(system, &error);
    if (status < 0)
        fprintf(stderr, "%s: %s\n", taut_code_text(status), error.message);
    taut_system_destroy(system);
    return status < 0;
}
