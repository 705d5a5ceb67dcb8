/* project_report.c - what taut project prints: the passes, the state, the multipliers, how far
 * it moved; and the same as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "project.h"

/* rows of a table: usually, with --verbose; bonds of a pass */
enum { LABEL = 20, SHOWN = 12, SHOWN_VERBOSE = 200, WORST = 8 };

/* ---- for people */

static double largest(const double *x, taut_index count)
{
    double most = 0;
    for (taut_index i = 0; i < count && !isnan(most); i++)
        most = isnan(x[i]) ? NAN : fmax(most, fabs(x[i]));
    return most;
}

taut_index project_rows(const project *p, taut_index count)
{
    taut_index most = p->call->verbose ? SHOWN_VERBOSE : SHOWN;
    return count <= most ? count : most;
}

static void print_rest(const project *p, taut_index count)
{
    if (project_rows(p, count) < count)
        printf("  ... and %d more (%s--out FILE writes the state, --json prints all)\n",
               (int)(count - project_rows(p, count)),
               p->call->verbose ? "" : "--verbose prints more, ");
}

/* The bonds of a pass: all of them, or those with the largest |g|. */
static void print_bonds(const project *p, const double *g, const double *gdot)
{
    char name[96];
    taut_index m = p->sizes.bonds, worst[WORST];
    int count = 0;
    for (taut_index i = 0; i < m; i++) {
        int at = count < WORST ? count++ : WORST;
        for (; at > 0 && m > SHOWN && fabs(g[i]) > fabs(g[worst[at - 1]]); at--)
            if (at < WORST)
                worst[at] = worst[at - 1];
        if (at < WORST)
            worst[at] = i;
    }
    for (taut_index k = 0; k < (m > SHOWN ? count : m); k++) {
        taut_index i = m > SHOWN ? worst[k] : k;
        taut_system_name(p->system, TAUT_BOND, i, name, sizeof name);
        printf("          %-24s %14.6e %14.6e\n", name, g[i], gdot[i]);
    }
    if (m > SHOWN)
        printf("          ... and %d bonds with no more\n", (int)(m - count));
}

static void print_passes(const project *p)
{
    const double *g, *gdot;
    int64_t evaluations;
    bool bonds = p->sizes.bonds > 0;
    if (bonds)
        printf("  %4s %14s %14s %18s\n", "pass", "|g|", "|gdot|", "force evaluations");
    else
        printf("  %4s %18s\n", "pass", "force evaluations");
    for (int64_t k = 0; taut_projection_pass(p->projection, k, &g, &gdot, &evaluations); k++) {
        if (bonds)
            printf("  %4lld %14.6e %14.6e %18lld\n", (long long)k, largest(g, p->sizes.bonds),
                   largest(gdot, p->sizes.bonds), (long long)evaluations);
        else
            printf("  %4lld %18lld\n", (long long)k, (long long)evaluations);
        if (p->call->verbose && bonds)
            print_bonds(p, g, gdot);
    }
}

/* Projection difference goes through orders. */
static void print_orders(const project *p)
{
    taut_projection_stage stage = {.size = sizeof stage};
    printf("  %5s %11s %14s %14s\n", "order", "iterations", "difference", "moved");
    for (int k = 0; taut_projection_stage_get(p->projection, k, &stage, NULL) == 0; k++)
        printf("  %5d %11lld %14.6e %14.6e\n", stage.order, (long long)stage.iterations,
               stage.difference, stage.moved);
}

static void print_state(const project *p)
{
    char name[96];
    taut_index n = p->sizes.coordinates, shown = project_rows(p, n);
    if (project_is_mechanical(p))
        printf("  %-24s %22s %22s%s\n", "coordinate", "position", "velocity",
               p->result.stiff_force ? "            stiff force" : "");
    else
        printf("  %-24s %22s\n", "variable", "value");
    for (taut_index i = 0; i < shown; i++) {
        taut_system_name(p->system, TAUT_COORDINATE, i, name, sizeof name);
        printf("  %-24s %22.15g", name, p->result.q[i]);
        if (project_is_mechanical(p))
            printf(" %22.15g", p->result.v[i]);
        if (p->result.stiff_force)
            printf(" %22.15g", p->result.stiff_force[i]);
        printf("\n");
    }
    print_rest(p, n);
}

static void print_multipliers(const project *p)
{
    char name[96];
    taut_index m = p->sizes.bonds, shown = project_rows(p, m);
    if (!project_is_mechanical(p) || m == 0)
        return;
    printf("  %-24s %22s\n", "bond", "multiplier");
    for (taut_index i = 0; i < shown; i++) {
        taut_system_name(p->system, TAUT_BOND, i, name, sizeof name);
        printf("  %-24s %22.15g\n", name, p->result.lambda[i]);
    }
    print_rest(p, m);
}

/* Where nothing is known to be fast there is nothing to be across or along. */
static void print_moved(const project *p)
{
    const taut_projection_result *r = &p->result;
    const struct {
        const char *label;
        double normal, tangential;
    } rows[] = {{"moved", r->moved_normal, r->moved_tangential},
                {"velocities moved", r->moved_normal_velocity, r->moved_tangential_velocity}};
    bool bonds = p->sizes.bonds > 0, manifold = bonds || (p->sizes.can & TAUT_HAS_STIFF_POTENTIAL);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0] && isfinite(r->moved_normal); k++) {
        if (manifold)
            printf("  %-*s%.3g across the %s, %.3g along %s\n", LABEL, rows[k].label,
                   rows[k].normal, bonds ? "bonds" : "manifold", rows[k].tangential,
                   bonds ? "them" : "it");
        else
            printf("  %-*s%.3g\n", LABEL, rows[k].label, rows[k].tangential);
    }
}

static void print_files(const project *p)
{
    if (p->written)
        printf("  %-*s%s\n", LABEL, "state in", p->out);
    if (p->drawn)
        printf("  %-*s%s\n", LABEL, "picture in", p->plot);
}

/* How slow the result is: the fast part of its rate, how far the orders agree, noise. */
static void print_verdict(const project *p)
{
    const taut_projection_result *r = &p->result;
    taut_projection_stage stage = {.size = sizeof stage};
    int orders = 0;
    if (isnan(r->ratio))
        return;
    while (taut_projection_stage_get(p->projection, orders, &stage, NULL) == 0)
        orders++;
    printf("  %-*s%s%.3g per time, seen over steps of %.3g\n", LABEL, "|Jv|/|v|",
           r->ratio_bound ? "at most " : "", r->ratio, r->ratio_time);
    if (orders == 0)
        return;
    if (orders > 1)
        printf("  %-*sorder %d differs from order %d by %.3g\n", LABEL, "agreement", stage.order,
               stage.order - 1, stage.moved);
    printf("  %-*s%.2g in the flow, about %.2g in the state\n", LABEL, "noise", r->noise,
           stage.accuracy);
}

void project_print(const project *p)
{
    const taut_projection_result *r = &p->result;
    cli_wrap(stdout, r->explanation, 2, 0, CLI_WIDTH);
    bool orders = taut_projection_stage_get(
                      p->projection, 0,
                      &(taut_projection_stage){.size = sizeof(taut_projection_stage)}, NULL) == 0;
    if (orders)
        print_orders(p);
    else
        print_passes(p);
    if (p->code != 0) {
        printf("  not converged: the initial state is kept\n");
        print_files(p);
        return;
    }
    print_state(p);
    print_multipliers(p);
    project_print_expansion(p);
    print_moved(p);
    print_verdict(p);
    if (r->statistics.force_evaluations > 0 || !orders)
        printf("  %-*s%lld\n", LABEL, "force evaluations",
               (long long)r->statistics.force_evaluations);
    else
        printf("  %-*s%lld\n", LABEL, "uses of the flow", (long long)r->statistics.micro_steps);
    if (r->statistics.restarts > 0)
        printf("  %-*s%lld restarts of it, after failures\n", LABEL, "the program",
               (long long)r->statistics.restarts);
    print_files(p);
}

/* ---- as JSON */

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
    taut_projection_stage stage = {.size = sizeof stage};
    if (taut_projection_stage_get(p->projection, 0, &stage, NULL) != 0)
        return;
    cli_json_open(json, "orders", '[');
    for (int k = 0; taut_projection_stage_get(p->projection, k, &stage, NULL) == 0; k++) {
        cli_json_open(json, NULL, '{');
        cli_json_integer(json, "order", stage.order);
        cli_json_integer(json, "iterations", stage.iterations);
        cli_json_real(json, "difference", stage.difference);
        cli_json_real(json, "moved", stage.moved);
        cli_json_real(json, "accuracy", stage.accuracy);
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

void project_json(const project *p)
{
    const taut_projection_result *r = &p->result;
    cli_json json = {.out = stdout};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "status", p->status == 0 ? "done" : "failed");
    cli_json_text(&json, "model", p->model.name);
    cli_json_real(&json, "t", r->t);
    cli_json_state(&json, p->system, r->q, r->v, r->lambda);
    if (r->stiff_force)
        cli_json_reals(&json, "stiff_force", r->stiff_force, p->sizes.coordinates);
    cli_json_text(&json, "method", r->method);
    cli_json_text(&json, "explanation", r->explanation);
    json_pass(&json, p, "start", 0);
    cli_json_open(&json, "iterations", '[');
    for (int64_t k = 1; k <= r->passes; k++)
        json_pass(&json, p, NULL, k);
    cli_json_close(&json, ']');
    json_orders(&json, p);
    if (!isnan(r->ratio)) {
        cli_json_open(&json, "verdict", '{');
        cli_json_real(&json, "ratio", r->ratio);
        cli_json_real(&json, "ratio_time", r->ratio_time);
        cli_json_bool(&json, "ratio_bound", r->ratio_bound);
        cli_json_real(&json, "noise", r->noise);
        cli_json_integer(&json, "flow_uses", r->statistics.micro_steps);
        cli_json_close(&json, '}');
    }
    json_moved(&json, r);
    project_json_expansion(&json, p);
    cli_json_statistics(&json, &r->statistics);
    if (p->status != 0)
        cli_json_error(&json, &p->error);
    cli_json_close(&json, '}');
}
