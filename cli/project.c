/* project.c - taut project: a slow point or a foot point, its multipliers, and how it was found. */
#include <math.h>
#include <string.h>

#include "project.h"

bool project_is_mechanical(const project *p)
{
    return p->sizes.kind == TAUT_MECHANICAL;
}

static int write_start(project *p)
{
    const taut_projection_result *r = &p->result;
    char title[400];
    snprintf(title, sizeof title, "%.200s, projection %s at t = %.17g", p->model.name, r->method,
             r->t);
    return cli_start_write(p->out, "out", title, p->system, r->q, r->v, &p->error);
}

/* ---- the verb */

static int draw(project *p)
{
    const char *title = taut_system_title(p->system);
    taut_error error = {.t = NAN};
    cli_interrupt_watch(); /* gnuplot ends by it, and its folder is removed */
    int code =
        taut_projection_plot(p->projection, p->plot, title[0] ? title : p->model.name, &error);
    if (code == 0)
        return CLI_DONE;
    if (cli_interrupted())
        return CLI_INTERRUPTED;
    cli_say_failure(&error);
    if (p->code == 0)
        p->error = error;
    return cli_exit_status(code);
}

/* Files first: the printed report states whether they were written. */
static int report(project *p)
{
    const cli_call *call = p->call;
    taut_projection_result_init(&p->result);
    taut_projection_result_get(p->projection, &p->result, NULL);
    p->status = cli_exit_status(p->code);
    for (int k = 0; !call->quiet && taut_projection_warning(p->projection, k); k++)
        cli_warning("--%s", taut_projection_warning(p->projection, k));
    if (p->code == 0 && p->out) {
        p->status = write_start(p);
        p->written = p->status == 0;
    }
    if (p->plot) {
        int status = draw(p);
        p->drawn = status == 0;
        p->status = p->status != 0 ? p->status : status;
    }
    if (call->json)
        project_json(p);
    else if (!call->quiet && !(p->out && strcmp(p->out, "-") == 0))
        project_print(p);
    return p->status;
}

static int choose_outputs(project *p)
{
    const cli_call *call = p->call;
    p->out = cli_option_text(call, "out");
    p->plot = cli_option_text(call, "plot");
    if (call->json && p->out && strcmp(p->out, "-") == 0)
        return cli_refuse(call, "--out -: standard output belongs to the object of --json; give "
                                "the [start] section a file");
    int status = cli_output_check(call, "out", p->out);
    return status != 0 ? status : cli_picture_check(call, p->plot);
}

static int compute(project *p)
{
    const bool json = p->call->json;
    p->code = taut_project(p->model.system, p->call->options, NULL, &p->projection, &p->error);
    if (p->code != 0)
        cli_say_failure(&p->error);
    int code = p->projection ? taut_projection_gather(p->projection, &p->system, &p->error) : 0;
    if (code != 0)
        cli_say_failure(&p->error);
    code = code != 0 ? code : p->code;
    if (json && code != 0 && (!p->projection || code != p->code))
        cli_json_failure(&p->error);
    if (!p->projection || code != p->code || !cli_ranks_first())
        return cli_exit_status(code);
    taut_sizes_init(&p->sizes);
    taut_system_sizes_get(p->system, &p->sizes, NULL);
    return report(p);
}

int cli_project(cli_call *call)
{
    project p = {.call = call, .error = {.t = NAN}};
    int status = choose_outputs(&p);
    if (status == 0)
        status = cli_model_load(call, &p.model);
    if (status == 0)
        status = compute(&p);
    taut_projection_destroy(p.projection);
    cli_model_release(&p.model);
    return status;
}
