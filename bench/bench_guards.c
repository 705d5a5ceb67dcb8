/* bench_guards.c - what conditions cost in runs with an adaptive step size: N oscillators with
 * `max`, whose branch never changes, against the same ones without it; and water molecules, which
 * cross cut-offs and images all the time, against the same run in which nothing is known of them.
 *
 *     bench_guards                    evaluations of the water molecules
 *     bench_guards WHO N STEPS        for bench_guards_instructions.sh
 *     bench_guards WHO water RTOL     ... */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include <taut/taut.h>
#include "bench.h"
#include "system/system.h"

typedef struct setting {
    const char *name, *value;
} setting;

/* Takes the system. The number of evaluations, or -1. */
static int64_t run(int code, taut_system *system, const setting *set, taut_error *error)
{
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    taut_result result = {.size = sizeof result};
    if (code == 0)
        code = taut_options_create(NULL, &options, error);
    for (; code == 0 && set->name; set++)
        code = taut_options_set(options, set->name, set->value, error);
    if (code == 0)
        code = taut_solver_create(system, options, NULL, &solver, error);
    if (code == 0)
        code = taut_solver_run(solver, NULL, 0, NULL, NULL, error);
    if (code >= 0)
        code = taut_solver_result_get(solver, &result, error);
    if (code < 0)
        printf("failed: %s\n", error->message);
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    taut_system_destroy(system);
    return code < 0 ? -1 : result.statistics.force_evaluations;
}

static int64_t oscillators(const char *force, const char *n, const char *steps)
{
    char model[400];
    taut_error error;
    taut_system *system = NULL;
    const setting set[] = {{"method", "dop8"}, {"until", "1000"}, {"steps", steps}, {0}};
    snprintf(model, sizeof model,
             "[coordinates]\nx[i] for i in 1..%s\n[forces]\nx[i] = %s for i in 1..%s\n"
             "[start]\nx[i] = 1 + 0.1*sin(i) for i in 1..%s\n",
             n, force, n, n);
    int code = taut_system_parse(model, strlen(model), "bench", NULL, &system, &error);
    return run(code, system, set, &error);
}

/* `known`: conditions are guards; else they are evaluated as they are met. */
static int64_t water(bool known, const char *until, const char *rtol)
{
    taut_error error;
    taut_system *system = NULL;
    const setting set[] = {{"method", "dop8"}, {"until", until}, {"rtol", rtol}, {0}};
    int code = taut_system_load("bench/water_conditions.taut", NULL, &system, &error);
    if (code == 0 && !known)
        system->branches = 0;
    return run(code, system, set, &error);
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
    /* several: which steps are rejected is chance */
    static const char *const rtol[] = {"1e-5", "3e-6", "1e-6", "3e-7", "1e-7"};
    if (count == 1) {
        int64_t with = 0, without = 0;
        for (size_t k = 0; k < sizeof rtol / sizeof rtol[0]; k++) {
            int64_t own = water(true, "0.2", rtol[k]), other = water(false, "0.2", rtol[k]);
            printf("dop8, water_box, rtol %s: %lld evaluations, %lld without guards\n", rtol[k],
                   (long long)own, (long long)other);
            if (own < 0 || other < 0)
                return 1;
            with += own;
            without += other;
        }
        row("water_box, evaluations against those without guards", 1.05,
            (double)with / (double)without);
        return 0;
    }
    if (count == 4 && strcmp(word[2], "water") == 0)
        return water(strcmp(word[1], "guards") == 0, "0.2", word[3]) < 0;
    for (size_t k = 0; count == 4 && k < sizeof forces / sizeof forces[0]; k++)
        if (strcmp(word[1], forces[k].who) == 0)
            return oscillators(forces[k].force, word[2], word[3]) < 0;
    return 2;
}
