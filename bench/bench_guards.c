/* bench_guards.c - what conditions cost in runs with an adaptive step size: N oscillators with
 * `max`, whose branch never changes, against the same ones without it.
 *
 *     bench_guards WHO N STEPS       for bench_guards_instructions.sh */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taut/taut.h>

static int run(const char *force, int n, int steps)
{
    char model[400], limit[40];
    taut_error error;
    taut_system *system = NULL;
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    snprintf(model, sizeof model,
             "[coordinates]\nx[i] for i in 1..%d\n[forces]\nx[i] = %s for i in 1..%d\n"
             "[start]\nx[i] = 1 + 0.1*sin(i) for i in 1..%d\n",
             n, force, n, n);
    snprintf(limit, sizeof limit, "%d", steps);
    int code = taut_system_parse(model, strlen(model), "bench", NULL, &system, &error);
    if (code == 0)
        code = taut_options_create(NULL, &options, &error);
    if (code == 0)
        code = taut_options_set(options, "method", "dop8", &error);
    if (code == 0)
        code = taut_options_set(options, "until", "1000", &error);
    if (code == 0)
        code = taut_options_set(options, "steps", limit, &error);
    if (code == 0)
        code = taut_solver_create(system, options, NULL, &solver, &error);
    if (code == 0)
        code = taut_solver_run(solver, NULL, 0, NULL, NULL, &error);
    if (code < 0)
        printf("failed: %s\n", error.message);
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    taut_system_destroy(system);
    return code < 0;
}

/* Forces of the same length with and without a condition; in the second pair the branches of the
 * first half of the members differ from those of the others. */
static const struct {
    const char *who, *force;
} forces[] = {
    {"plain", "-4*x[i] + 1e-9*(x[i] - 9)"},
    {"guards", "-4*x[i] + max(x[i] - 9, 0)"},
    {"plain-mixed", "-4*x[i] + 1e-6*((x[i] - 3*i + 150001.5)*x[i])"},
    {"guards-mixed", "-4*x[i] + 1e-6*max(x[i] - 3*i + 150001.5, 0)"},
};

int main(int count, char **word)
{
    for (size_t k = 0; count == 4 && k < sizeof forces / sizeof forces[0]; k++)
        if (strcmp(word[1], forces[k].who) == 0)
            return run(forces[k].force, atoi(word[2]), atoi(word[3]));
    return count > 1; /* alone: counted by the script */
}
