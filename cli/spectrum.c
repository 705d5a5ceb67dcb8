/* spectrum.c - taut spectrum: the stiff modes of a model at its initial state, their energies and
 * actions, and how well they are separated. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { LABEL = 20, SPRINGS_WIDTH = CLI_WIDTH - 66 };
static const double near = 0.05; /* relative gap that is shown as a near resonance */

typedef struct spectrum {
    taut_context *context;
    double *q, *v, t;
    taut_mode *mode;
    taut_modes_report report;
    taut_check_report
        check; /* slow rate, separation, oscillatory energy: as `taut check` has them */
    int count;
} spectrum;

static void release(spectrum *s)
{
    taut_context_destroy(s->context);
    free(s->q);
    free(s->v);
    free(s->mode);
}

static int out_of_memory(taut_error *error)
{
    error->code = TAUT_ERROR_MEMORY;
    snprintf(error->message, sizeof error->message, "out of memory");
    return TAUT_ERROR_MEMORY;
}

/* The diagnosis of `taut check`, without the derivatives. */
static int diagnose(const cli_model *model, spectrum *s, taut_error *error)
{
    char from[40];
    taut_options *options = NULL;
    s->check.size = sizeof s->check;
    snprintf(from, sizeof from, "%.17g", s->t);
    int code = taut_options_create(NULL, &options, error);
    if (code == 0)
        code = taut_options_set(options, "from", from, error);
    if (code == 0)
        code = taut_options_set(options, "no-derivatives", "yes", error);
    if (code == 0)
        code = taut_check(model->system, options, &s->check, error);
    taut_options_destroy(options);
    return code;
}

static int compute(const cli_call *call, const cli_model *model, spectrum *s, taut_error *error)
{
    taut_sizes sizes = {.size = sizeof sizes};
    taut_system_sizes_get(model->system, &sizes, NULL);
    double from = taut_options_real(call->options, "from");
    s->t = isnan(from) ? 0 : from;
    s->count = (int)taut_options_integer(call->options, "modes");
    size_t n = sizes.coordinates > 0 ? (size_t)sizes.coordinates : 1;
    s->q = calloc(n, sizeof *s->q);
    s->v = calloc(n, sizeof *s->v);
    s->mode = calloc((size_t)s->count, sizeof *s->mode);
    if (!s->q || !s->v || !s->mode)
        return out_of_memory(error);
    taut_modes_report_init(&s->report);
    int code = taut_context_create(model->system, NULL, &s->context, error);
    if (code == 0 && sizes.kind == TAUT_MECHANICAL)
        code = taut_context_start(s->context, s->t, s->q, s->v, error);
    if (code == 0)
        code = taut_modes(s->context, s->t, s->q, s->v, s->count, s->mode, &s->report, error);
    if (code == 0 && s->report.found > 0)
        code = diagnose(model, s, error);
    return code;
}

/* "outer 97.4%, inner 2.6%" */
static void content(const taut_system *system, const taut_mode *mode, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    if (mode->potential >= 0.005)
        used = (size_t)snprintf(text, size, "stiff potential %.3g%%", 100 * mode->potential);
    for (int a = 0; a < 4 && mode->bond[a] >= 0; a++) {
        char name[80];
        if (used > 0 && mode->share[a] < 0.005)
            break;
        taut_system_name(system, TAUT_BOND, mode->bond[a], name, sizeof name);
        int wrote = snprintf(text + used, size - used, "%s%s %.3g%%", used ? ", " : "", name,
                             100 * mode->share[a]);
        if (used > 0 && used + (size_t)wrote > SPRINGS_WIDTH) {
            text[used] = '\0'; /* as many as fit the line */
            break;
        }
        used += (size_t)wrote;
    }
}

/* Modes count from 1; those of the upper end by their place among all, if known. */
static int64_t number(const spectrum *s, int k)
{
    int upper = s->report.found - s->report.found / 2;
    return k < upper || s->report.complete || s->report.modes < 0
               ? k + 1
               : s->report.modes - s->report.found + k + 1;
}

static void print_table(const taut_system *system, const spectrum *s)
{
    const double turn = 2 * acos(-1);
    printf("  %4s  %14s  %12s  %12s  %12s  %s\n", "mode", "frequency", "period", "energy", "action",
           "springs");
    for (int k = 0; k < s->report.found; k++) {
        char text[200];
        const taut_mode *mode = &s->mode[k];
        content(system, mode, text, sizeof text);
        if (!s->report.complete && k == s->report.found - s->report.found / 2)
            printf("   ...\n");
        printf("  %4lld  %14.8g  %12.6g", (long long)number(s, k), mode->frequency,
               turn / mode->frequency);
        if (isnan(mode->energy))
            printf("  %12s  %12s\n", "-", "-");
        else
            printf("  %12.6g  %12.6g  %s\n", mode->energy, mode->action, text);
    }
}

static void label(const char *word)
{
    printf("  %-*s", LABEL, word);
}

/* "mode 2 ~ mode 1 + mode 1, gap 3.1%" */
static void print_resonance(const taut_resonance *r)
{
    printf("mode %d ~ mode %d", r->j + 1, r->k + 1);
    if (r->l >= 0)
        printf(" + mode %d", r->l + 1);
    printf(", apart by %.3g%%", 100 * r->gap);
}

static void print_diagnosis(const taut_check_report *check)
{
    label("oscillatory energy");
    if (isnan(check->oscillatory_energy))
        printf("not computed for a stiff potential of so many coordinates\n");
    else
        printf("%.6g, of the motion relative to the slow one\n", check->oscillatory_energy);
    if (!(check->slow_rate > 0))
        return;
    label("slow rate");
    printf("%.3g rad per time\n", check->slow_rate);
    if (isnan(check->separation))
        return;
    label("separation");
    printf("%.3g, lowest stiff frequency over the slow rate\n", check->separation);
}

static void print_gaps(const taut_modes_report *report)
{
    if (!isfinite(report->separation) && report->resonances == 0)
        return;
    if (isfinite(report->separation)) {
        label("gaps");
        printf("neighbouring frequencies differ by at least %.3g%%\n", 100 * report->separation);
    }
    int shown = 0;
    for (int k = 0; k < report->resonances && (k == 0 || report->resonance[k].gap < near);
         k++, shown++) {
        bool close = report->resonance[k].gap < near;
        label(k > 0 ? "" : close ? "near resonances" : "nearest resonance");
        print_resonance(&report->resonance[k]);
        printf("\n");
    }
    if (shown > 0 && report->resonance[0].gap < near) {
        label("");
        cli_wrap(stdout,
                 "near a resonance modes may exchange their actions, which the effective motion "
                 "neglects",
                 LABEL + 2, LABEL + 2, CLI_WIDTH);
    }
}

static void print_all(const cli_model *model, const spectrum *s)
{
    const taut_modes_report *report = &s->report;
    cli_model_title(stdout, model);
    if (report->found == 0) {
        printf("\n  no stiff springs or potential, no modes\n");
        return;
    }
    printf("\n");
    print_table(model->system, s);
    printf("\n");
    if (!report->complete) {
        label("modes");
        if (report->modes >= 0)
            printf("%lld; those at both ends are shown, --modes COUNT shows more\n",
                   (long long)report->modes);
        else
            printf("those at both ends of the spectrum\n");
    }
    if (!isnan(report->energy)) {
        label("modal energy");
        printf("%.6g at t = %g, with the static stretch, which does not oscillate\n",
               report->energy, s->t);
    }
    print_diagnosis(&s->check);
    print_gaps(report);
}

static void json_modes(cli_json *json, const taut_system *system, const spectrum *s)
{
    cli_json_open(json, "modes", '[');
    for (int k = 0; k < s->report.found; k++) {
        const taut_mode *mode = &s->mode[k];
        cli_json_open_flat(json, NULL, '{');
        cli_json_integer(json, "mode", number(s, k));
        cli_json_real(json, "frequency", mode->frequency);
        cli_json_real(json, "period", 2 * acos(-1) / mode->frequency);
        cli_json_real(json, "stretch", mode->stretch);
        cli_json_real(json, "rate", mode->rate);
        cli_json_real(json, "energy", mode->energy);
        cli_json_real(json, "action", mode->action);
        cli_json_real(json, "potential", mode->potential);
        cli_json_open_flat(json, "springs", '[');
        for (int a = 0; a < 4 && mode->bond[a] >= 0; a++) {
            char name[128];
            taut_system_name(system, TAUT_BOND, mode->bond[a], name, sizeof name);
            cli_json_open_flat(json, NULL, '{');
            cli_json_text(json, "name", name);
            cli_json_real(json, "share", mode->share[a]);
            cli_json_close(json, '}');
        }
        cli_json_close(json, ']');
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void json_all(const cli_model *model, const spectrum *s)
{
    cli_json json = {.out = stdout};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "status", "done");
    cli_json_text(&json, "model", model->name);
    cli_json_real(&json, "t", s->t);
    cli_json_bool(&json, "complete", s->report.complete);
    cli_json_integer(&json, "count", s->report.modes);
    json_modes(&json, model->system, s);
    cli_json_real(&json, "energy", s->report.energy);
    cli_json_real(&json, "gap", s->report.separation);
    if (s->report.found > 0) {
        cli_json_real(&json, "oscillatory_energy", s->check.oscillatory_energy);
        cli_json_real(&json, "slow_rate", s->check.slow_rate);
        cli_json_real(&json, "separation", s->check.separation);
    }
    cli_json_open(&json, "resonances", '[');
    for (int k = 0; k < s->report.resonances; k++) {
        const taut_resonance *r = &s->report.resonance[k];
        cli_json_open_flat(&json, NULL, '{');
        cli_json_integer(&json, "mode", r->j + 1);
        cli_json_open_flat(&json, "near", '[');
        cli_json_integer(&json, NULL, r->k + 1);
        if (r->l >= 0)
            cli_json_integer(&json, NULL, r->l + 1);
        cli_json_close(&json, ']');
        cli_json_real(&json, "gap", r->gap);
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
    cli_json_close(&json, '}');
}

int cli_spectrum(cli_call *call)
{
    static const char *const of_runs[] = {"method", "step", "every", "out", "plot"};
    if (taut_options_given(call->options, "until") || taut_options_given(call->options, "along"))
        return cli_spectrum_run(call);
    for (size_t k = 0; k < sizeof of_runs / sizeof of_runs[0]; k++)
        if (taut_options_given(call->options, of_runs[k]))
            return cli_misuse(
                call,
                "--%s applies to a run: add --along or --until T, or omit it for the spectrum "
                "of the initial state",
                of_runs[k]);
    cli_model model = {0};
    spectrum s = {0};
    taut_error error = {.t = NAN};
    int status = cli_model_load(call, &model);
    taut_sizes sizes = {.size = sizeof sizes};
    if (status == 0)
        taut_system_sizes_get(model.system, &sizes, NULL);
    if (status == 0 && sizes.kind != TAUT_MECHANICAL && sizes.algebraic == 0)
        status = cli_spectrum_rates(call, &model);
    else if (status == 0) {
        int code = compute(call, &model, &s, &error);
        if (code != 0)
            status = cli_fail(call, &error, code);
        else if (call->json)
            json_all(&model, &s);
        else if (!call->quiet)
            print_all(&model, &s);
    }
    release(&s);
    cli_model_release(&model);
    return status;
}
