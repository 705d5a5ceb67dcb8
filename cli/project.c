/* project.c - taut project: a slow point or a foot point, its multipliers, and how it was found. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "cli.h"

enum { LABEL = 20, SHOWN = 12 }; /* more coordinates or bonds than SHOWN are printed with --verbose only */

typedef struct project {
    cli_call *call;
    cli_model model;
    taut_sizes sizes;
    taut_projection *projection;
    taut_projection_result result;
    taut_error error;
    int code;
} project;

static bool mechanical(const project *p)
{
    return p->sizes.kind == TAUT_MECHANICAL;
}

/* ---- for people */

static double largest(const double *x, taut_index count)
{
    double most = 0;
    for (taut_index i = 0; i < count; i++)
        most = isnan(x[i]) ? NAN : fmax(most, fabs(x[i]));
    return most;
}

static void print_bonds(const project *p, const double *g, const double *gdot)
{
    char name[96];
    for (taut_index i = 0; i < p->sizes.bonds; i++) {
        taut_system_name(p->model.system, TAUT_BOND, i, name, sizeof name);
        printf("          %-24s %14.6e %14.6e\n", name, g[i], gdot[i]);
    }
}

static void print_passes(const project *p)
{
    const double *g, *gdot;
    int64_t evaluations;
    printf("  pass        |g|           |gdot|    force evaluations\n");
    for (int64_t k = 0; taut_projection_pass(p->projection, k, &g, &gdot, &evaluations); k++) {
        printf("  %4lld %14.6e %14.6e %12lld\n", (long long)k, largest(g, p->sizes.bonds), largest(gdot, p->sizes.bonds),
               (long long)evaluations);
        if (p->call->verbose)
            print_bonds(p, g, gdot);
    }
}

/* Projection difference goes through orders. */
static void print_orders(const project *p)
{
    taut_projection_stage stage;
    printf("  order  iterations     difference           moved\n");
    for (int k = 0; taut_projection_stage_get(p->projection, k, &stage); k++)
        printf("  %5d %11lld %14.6e  %14.6e\n", stage.order, (long long)stage.iterations, stage.difference, stage.moved);
}

static void print_state(const project *p)
{
    char name[96];
    taut_index n = p->sizes.coordinates, shown = p->call->verbose || n <= SHOWN ? n : SHOWN;
    if (mechanical(p))
        printf("  %-24s %22s %22s\n", "coordinate", "position", "velocity");
    else
        printf("  %-24s %22s\n", "variable", "value");
    for (taut_index i = 0; i < shown; i++) {
        taut_system_name(p->model.system, TAUT_COORDINATE, i, name, sizeof name);
        printf("  %-24s %22.15g", name, p->result.q[i]);
        if (mechanical(p))
            printf(" %22.15g", p->result.v[i]);
        printf("\n");
    }
    if (shown < n)
        printf("  ... and %d more (--verbose prints all, --out FILE writes them)\n", (int)(n - shown));
}

static void print_multipliers(const project *p)
{
    char name[96];
    taut_index m = p->sizes.bonds, shown = p->call->verbose || m <= SHOWN ? m : SHOWN;
    if (!mechanical(p) || m == 0)
        return;
    printf("  %-24s %22s\n", "bond", "multiplier");
    for (taut_index i = 0; i < shown; i++) {
        taut_system_name(p->model.system, TAUT_BOND, i, name, sizeof name);
        printf("  %-24s %22.15g\n", name, p->result.lambda[i]);
    }
    if (shown < m)
        printf("  ... and %d more\n", (int)(m - shown));
}

static void print_human(const project *p, const char *out)
{
    const taut_projection_result *r = &p->result;
    cli_wrap(stdout, r->explanation, 2, 0, CLI_WIDTH);
    bool orders = taut_projection_stage_get(p->projection, 0, &(taut_projection_stage){0});
    if (orders)
        print_orders(p);
    else
        print_passes(p);
    if (p->code != 0) {
        printf("  not converged: the start is kept\n");
        return;
    }
    print_state(p);
    print_multipliers(p);
    if (isfinite(r->moved_normal)) {
        printf("  %-*s%.3g across the bonds, %.3g along them\n", LABEL, "moved", r->moved_normal, r->moved_tangential);
        printf("  %-*s%.3g across the bonds, %.3g along them\n", LABEL, "velocities moved", r->moved_normal_velocity,
               r->moved_tangential_velocity);
    }
    if (r->statistics.force_evaluations > 0 || !orders)
        printf("  %-*s%lld\n", LABEL, "force evaluations", (long long)r->statistics.force_evaluations);
    else
        printf("  %-*s%lld\n", LABEL, "uses of the flow", (long long)r->statistics.micro_steps);
    if (out)
        printf("  %-*s%s\n", LABEL, "start in", out);
}

/* ---- as JSON */

static void json_names(cli_json *json, const project *p)
{
    cli_json_open(json, "names", '{');
    cli_json_names(json, mechanical(p) ? "q" : "state", p->model.system, TAUT_COORDINATE, p->sizes.coordinates);
    if (mechanical(p))
        cli_json_names(json, "lambda", p->model.system, TAUT_BOND, p->sizes.bonds);
    else
        cli_json_names(json, "algebraic", p->model.system, TAUT_ALGEBRAIC, p->sizes.algebraic);
    cli_json_close(json, '}');
}

static void json_pass(cli_json *json, const project *p, const char *key, int64_t k)
{
    const double *g, *gdot;
    int64_t evaluations;
    if (!taut_projection_pass(p->projection, k, &g, &gdot, &evaluations))
        return;
    cli_json_open(json, key, '{');
    cli_json_reals(json, "g", g, p->sizes.bonds);
    cli_json_reals(json, "gdot", gdot, p->sizes.bonds);
    cli_json_integer(json, "force_evaluations", evaluations);
    cli_json_close(json, '}');
}

static void json_orders(cli_json *json, const project *p)
{
    taut_projection_stage stage;
    if (!taut_projection_stage_get(p->projection, 0, &stage))
        return;
    cli_json_open(json, "orders", '[');
    for (int k = 0; taut_projection_stage_get(p->projection, k, &stage); k++) {
        cli_json_open(json, NULL, '{');
        cli_json_integer(json, "order", stage.order);
        cli_json_integer(json, "iterations", stage.iterations);
        cli_json_real(json, "difference", stage.difference);
        cli_json_real(json, "moved", stage.moved);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void json_moved(cli_json *json, const taut_projection_result *r)
{
    cli_json_open(json, "moved", '{');
    cli_json_real(json, "normal", r->moved_normal);
    cli_json_real(json, "tangential", r->moved_tangential);
    cli_json_real(json, "normal_velocity", r->moved_normal_velocity);
    cli_json_real(json, "tangential_velocity", r->moved_tangential_velocity);
    cli_json_close(json, '}');
}

static void print_json(const project *p)
{
    const taut_projection_result *r = &p->result;
    cli_json json = {.out = stdout};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "status", p->code == 0 ? "done" : "failed");
    cli_json_text(&json, "model", p->model.name);
    cli_json_real(&json, "t", r->t);
    json_names(&json, p);
    cli_json_reals(&json, mechanical(p) ? "q" : "state", r->q, p->sizes.coordinates);
    if (mechanical(p)) {
        cli_json_reals(&json, "v", r->v, p->sizes.coordinates);
        cli_json_reals(&json, "lambda", r->lambda, p->sizes.bonds);
    } else {
        cli_json_reals(&json, "algebraic", r->v, p->sizes.algebraic);
    }
    cli_json_text(&json, "method", r->method);
    cli_json_text(&json, "explanation", r->explanation);
    json_pass(&json, p, "start", 0);
    cli_json_open(&json, "iterations", '[');
    for (int64_t k = 1; k <= r->passes; k++)
        json_pass(&json, p, NULL, k);
    cli_json_close(&json, ']');
    json_orders(&json, p);
    json_moved(&json, r);
    cli_json_statistics(&json, &r->statistics);
    if (p->code != 0)
        cli_json_error(&json, &p->error);
    cli_json_close(&json, '}');
}

/* ---- a [start] section */

static bool write_values(FILE *file, const project *p, taut_item item, taut_index count, const double *value, const char *prime)
{
    char name[96];
    for (taut_index i = 0; i < count; i++) {
        taut_system_name(p->model.system, item, i, name, sizeof name);
        fprintf(file, "%s%s = %.17g\n", name, prime, value[i]);
    }
    return !ferror(file);
}

static int write_start(project *p, const char *path)
{
    bool here = strcmp(path, "-") == 0;
    FILE *file = here ? stdout : fopen(path, "w");
    if (!file)
        return cli_refuse(p->call, "--out: cannot write '%s': %s", path, strerror(errno));
    fprintf(file, "# %s, projection %s at t = %.17g\n[start]\n", p->model.name, p->result.method, p->result.t);
    bool good = write_values(file, p, TAUT_COORDINATE, p->sizes.coordinates, p->result.q, "");
    if (mechanical(p))
        good &= write_values(file, p, TAUT_COORDINATE, p->sizes.coordinates, p->result.v, "'");
    else
        good &= write_values(file, p, TAUT_ALGEBRAIC, p->sizes.algebraic, p->result.v, "");
    if (here)
        return 0;
    int reason = errno;
    if (fclose(file) != 0) {
        reason = errno;
        good = false;
    }
    if (good)
        return 0;
    cli_error("--out: cannot write '%s': %s", path, strerror(reason));
    return CLI_FAILED;
}

/* ---- the verb */

static int report(project *p)
{
    const cli_call *call = p->call;
    const char *out = taut_options_given(call->options, "out") ? taut_options_text(call->options, "out") : NULL;
    const char *plot = taut_options_given(call->options, "plot") ? taut_options_text(call->options, "plot") : NULL;
    int status = cli_exit_status(p->code);
    if (p->code == 0 && out) {
        int written = write_start(p, out);
        status = status != 0 ? status : written;
    }
    if (plot) {
        const char *title = taut_system_title(p->model.system);
        taut_error error = {.t = NAN};
        int code = taut_projection_plot(p->projection, plot, title[0] ? title : p->model.name, &error);
        if (code != 0)
            cli_say_failure(&error);
        status = status != 0 ? status : code == TAUT_ERROR_FILE ? CLI_MISUSED : cli_exit_status(code);
    }
    if (call->json)
        print_json(p);
    else if (!call->quiet && !(out && strcmp(out, "-") == 0))
        print_human(p, out);
    return status;
}

int cli_project(cli_call *call)
{
    project p = {.call = call, .error = {.t = NAN}};
    const char *out = taut_options_given(call->options, "out") ? taut_options_text(call->options, "out") : "";
    if (call->json && strcmp(out, "-") == 0)
        return cli_refuse(call, "--out -: standard output belongs to the object of --json; give the [start] section a file");
    int status = cli_model_load(call, &p.model);
    if (status == 0) {
        taut_system_sizes(p.model.system, &p.sizes);
        p.code = taut_project(p.model.system, call->options, NULL, &p.projection, &p.error);
        if (p.code != 0)
            cli_say_failure(&p.error);
        if (p.projection) {
            taut_projection_result_get(p.projection, &p.result);
            status = report(&p);
        } else {
            if (call->json)
                cli_json_failure(&p.error);
            status = cli_exit_status(p.code);
        }
    }
    taut_projection_destroy(p.projection);
    cli_model_release(&p.model);
    return status;
}
