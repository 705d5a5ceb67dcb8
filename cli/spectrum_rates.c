/* spectrum_rates.c - taut spectrum for first-order models and black boxes: rates, the gap between
 * slow and fast ones, and advice on observables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { LABEL = 20 };

static void print_function(const taut_system *system, const taut_rate *rate)
{
    for (int a = 0; a < 4 && rate->variable[a] >= 0; a++) {
        char name[96];
        taut_system_name(system, TAUT_COORDINATE, rate->variable[a], name, sizeof name);
        printf("%s%s %.3g", a ? ", " : "", name, rate->weight[a]);
    }
    printf("\n");
}

static void print_rates(const cli_model *model, const taut_rate *rate, const taut_rates_report *r)
{
    cli_model_title(stdout, model);
    printf("\n  %4s  %14s  %14s  %12s  %s\n", "", "rate", "frequency", "time",
           "function: weights of variables, in units of their sizes");
    for (int k = 0; k < r->found; k++) {
        double size = hypot(rate[k].real, rate[k].imaginary);
        bool zero = size <= r->resolution, gone = -rate[k].real >= r->limit;
        if (k == r->conserved + r->slow && r->gap >= 3)
            printf("   ---\n");
        printf("  %4d  %s%13.6g  %14.6g  %12.4g  ", k + 1, gone ? "<" : " ",
               zero ? 0 : rate[k].real, zero || gone ? 0 : rate[k].imaginary + 0.0, 1 / size);
        print_function(model->system, &rate[k]);
    }
    printf("\n");
    if (r->horizon > 0)
        printf("  %-*s%.6g, used %lld times\n", LABEL, "time of the flow", r->horizon,
               (long long)r->flow_uses);
    if (r->conserved > 0)
        printf("  %-*s%d, with rate 0\n", LABEL, "invariants", r->conserved);
    printf("  %-*s%.3g, between rates %d and %d\n", LABEL, "largest gap", r->gap,
           r->conserved + r->slow, r->conserved + r->slow + 1);
    printf("  %-*s", LABEL, "slow manifold");
    cli_wrap(stdout, r->advice, LABEL + 2, LABEL + 2, CLI_WIDTH);
}

static void json_rates(const cli_model *model, const taut_rate *rate, const taut_rates_report *r)
{
    cli_json json = {.out = stdout};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "status", "done");
    cli_json_text(&json, "model", model->name);
    cli_json_real(&json, "t", r->t);
    cli_json_real(&json, "horizon", r->horizon);
    cli_json_open(&json, "rates", '[');
    for (int k = 0; k < r->found; k++) {
        cli_json_open_flat(&json, NULL, '{');
        cli_json_real(&json, "real", rate[k].real);
        cli_json_real(&json, "imaginary", rate[k].imaginary);
        cli_json_open_flat(&json, "function", '[');
        for (int a = 0; a < 4 && rate[k].variable[a] >= 0; a++) {
            char name[96];
            taut_system_name(model->system, TAUT_COORDINATE, rate[k].variable[a], name,
                             sizeof name);
            cli_json_open_flat(&json, NULL, '{');
            cli_json_text(&json, "name", name);
            cli_json_real(&json, "weight", rate[k].weight[a]);
            cli_json_close(&json, '}');
        }
        cli_json_close(&json, ']');
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
    cli_json_real(&json, "resolution", r->resolution);
    cli_json_real(&json, "limit", r->limit);
    cli_json_integer(&json, "conserved", r->conserved);
    cli_json_integer(&json, "dimension", r->slow);
    cli_json_real(&json, "gap", r->gap);
    cli_json_integer(&json, "observables", r->observed);
    cli_json_integer(&json, "flow_uses", r->flow_uses);
    cli_json_text(&json, "advice", r->advice);
    cli_json_close(&json, '}');
}

int cli_spectrum_rates(cli_call *call, const cli_model *model)
{
    int count = (int)taut_options_integer(call->options, "modes");
    taut_rate *rate = calloc((size_t)count, sizeof *rate);
    taut_rates_report report;
    taut_error error = {.t = NAN};
    taut_rates_report_init(&report);
    if (!rate)
        return cli_exit_status(TAUT_ERROR_MEMORY);
    int status = 0, code = taut_rates(model->system, call->options, count, rate, &report, &error);
    if (code != 0)
        status = cli_fail(call, &error, code);
    else if (call->json)
        json_rates(model, rate, &report);
    else if (!call->quiet)
        print_rates(model, rate, &report);
    free(rate);
    return status;
}
