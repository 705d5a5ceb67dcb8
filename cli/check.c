/* check.c - taut check: what is known about a model before it is run. */
#include <math.h>
#include <string.h>

#include "cli.h"

enum { LABEL = 20 };

static const char *kind_word(taut_kind kind)
{
    return kind == TAUT_MECHANICAL    ? "mechanical"
           : kind == TAUT_FIRST_ORDER ? "first order"
                                      : "black box";
}

static const char *mass_word(taut_mass_kind mass)
{
    return mass == TAUT_MASS_DIAGONAL   ? "diagonal and constant"
           : mass == TAUT_MASS_CONSTANT ? "constant"
                                        : "varying";
}

/* Label and a text that wraps within the width. */
static void line(const char *label, const char *text)
{
    printf("  %-*s", LABEL, label);
    cli_wrap(stdout, text, LABEL + 2, LABEL + 2, CLI_WIDTH);
}

/* Appends "N things", with the plural's s, separated by commas. Zero counts are omitted. */
static void add_count(char *buffer, size_t size, int64_t count, const char *thing)
{
    size_t used = strlen(buffer);
    if (count > 0 && used < size)
        snprintf(buffer + used, size - used, "%s%lld %s%s", used ? ", " : "", (long long)count,
                 thing, count == 1 ? "" : "s");
}

/* What sort of bonds: "springs", "springs and rigid bonds", with damping. */
static const char *bond_words(unsigned can, bool one)
{
    bool springs = can & TAUT_HAS_SPRINGS, rigid = can & TAUT_HAS_RIGID,
         damped = can & TAUT_HAS_DAMPING;
    if (springs && rigid)
        return damped ? " (springs and rigid, damped)" : " (springs and rigid)";
    if (springs && one)
        return damped ? " (a spring, damped)" : " (a spring)";
    if (springs)
        return damped ? " (springs, damped)" : " (springs)";
    return rigid ? " (rigid)" : "";
}

static void print_sizes(const taut_system *system, const taut_sizes *sizes)
{
    char text[400] = "";
    bool mechanical = sizes->kind == TAUT_MECHANICAL;
    line("kind", kind_word(sizes->kind));
    add_count(text, sizeof text, sizes->coordinates - sizes->followed,
              mechanical ? "coordinate" : "state variable");
    if (mechanical) {
        add_count(text, sizeof text, sizes->bonds, "bond");
        if (sizes->bonds > 0)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s",
                     bond_words(sizes->can, sizes->bonds == 1));
        add_count(text, sizeof text, sizes->invariants, "invariant");
    } else {
        add_count(text, sizeof text, sizes->algebraic, "algebraic variable");
        if (sizes->followed > 0 && sizes->followed < sizes->algebraic)
            snprintf(text + strlen(text), sizeof text - strlen(text), " (%d of index 1)",
                     (int)sizes->followed);
        else if (sizes->algebraic > 0)
            snprintf(text + strlen(text), sizeof text - strlen(text), " (index %d)",
                     sizes->followed > 0 ? 1 : 2);
        add_count(text, sizeof text, sizes->constraints, "constraint");
        add_count(text, sizeof text, sizes->invariants, "invariant");
        add_count(text, sizeof text, sizes->observables, "observable");
    }
    add_count(text, sizeof text, sizes->outputs, "output");
    add_count(text, sizeof text, sizes->events, "event");
    add_count(text, sizeof text, taut_shape_count(system), "shape");
    line("size", text);
    if (mechanical)
        line("mass", mass_word(sizes->mass));
    text[0] = '\0';
    add_count(text, sizeof text, sizes->kernels, "statement");
    add_count(text, sizeof text, sizes->members, "member");
    if (sizes->members > sizes->kernels)
        line("evaluation", text);
}

static void print_parameters(const taut_system *system, const taut_sizes *sizes)
{
    char text[400] = "";
    for (taut_index k = 0; k < sizes->parameters; k++) {
        char name[128];
        taut_system_name(system, TAUT_PARAMETER, k, name, sizeof name);
        size_t used = strlen(text);
        if (used + strlen(name) + 16 > sizeof text) {
            snprintf(text + used, sizeof text - used, ", ...");
            break;
        }
        snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "", name);
    }
    if (text[0])
        line("parameters", text);
}

static bool is_right(const taut_derivative_check *row)
{
    return row->deviation <= row->limit + row->uncertainty;
}

static void print_derivatives(const taut_check_report *report)
{
    bool unsure = false;
    if (report->derivatives == 0)
        return;
    printf("\n  %-*s%12s%14s%12s   verdict\n", LABEL, "derivative", "deviation", "uncertainty",
           "limit");
    for (int k = 0; k < report->derivatives; k++) {
        const taut_derivative_check *row = &report->derivative[k];
        bool right = is_right(row), within = right && !(row->deviation <= row->limit);
        printf("  %-*s%12.3g%14.3g%12.3g   %s", LABEL, row->name, row->deviation, row->uncertainty,
               row->limit,
               !right   ? "WRONG"
               : within ? "ok within the uncertainty"
                        : "ok");
        if ((!right || within) && row->where[0])
            printf(" at %s", row->where);
        printf("\n");
        unsure = unsure || within;
    }
    if (unsure)
        line("",
             "The differences that derivatives are compared with are uncertain themselves: a "
             "derivative is wrong when it deviates by more than limit and uncertainty together.");
    printf("\n");
}

static void print_rank(const taut_check_report *report)
{
    char text[600];
    int64_t soft = report->soft, rows = report->sizes->bonds - soft;
    if (report->sizes->bonds == 0)
        return;
    bool full = report->rank == rows;
    if (report->rank < 0) /* several processes do not count it */
        snprintf(text, sizeof text, "below %lld: %s", (long long)rows, report->rank_message);
    else
        snprintf(text, sizeof text, "%lld of %lld%s%s%s", (long long)report->rank, (long long)rows,
                 full ? ", full" : "", report->rank_message[0] ? ": " : "", report->rank_message);
    if (rows > 0)
        line("rank of G", text);
    snprintf(text, sizeof text, "%lld, %s", (long long)soft,
             soft == 1 ? "a force like others" : "forces like others");
    if (soft > 0)
        line("soft springs", text);
}

static void print_start(const taut_check_report *report)
{
    char text[400];
    unsigned can = report->sizes->can;
    if (report->sizes->bonds == 0)
        return;
    if (can & TAUT_HAS_RIGID) {
        snprintf(text, sizeof text, "rigid bonds: max |g| %.3g, max |gdot| %.3g",
                 report->start_position, report->start_velocity);
        line("initial state", text);
    }
    bool mechanical = report->sizes->kind == TAUT_MECHANICAL;
    if ((!mechanical && report->sizes->constraints > 0) ||
        ((can & TAUT_HAS_SPRINGS) && report->frequencies > 0)) {
        const char *which = !mechanical        ? "constraints"
                            : report->soft > 0 ? "bonds that are not soft"
                                               : "all bonds";
        snprintf(text, sizeof text, "%s: max |g| %.3g", which, report->foot_distance);
        line(can & TAUT_HAS_RIGID ? "" : "initial state", text);
    }
}

/* "energy = -0.5, constant" */
static void print_invariants(const taut_check_report *report)
{
    char text[300];
    int64_t more = report->sizes->invariants - report->invariants;
    for (int k = 0; k < report->invariants; k++) {
        const taut_invariant_check *row = &report->invariant[k];
        snprintf(text, sizeof text, "%s = %.9g, %s", row->name, row->value,
                 row->constant > 0   ? "constant by the equations"
                 : row->constant < 0 ? "its rate is not known"
                                     : "not constant by the equations: its rate is ");
        size_t used = strlen(text);
        if (row->constant == 0)
            snprintf(text + used, sizeof text - used, "%.3g%s", row->rate,
                     fabs(row->rate) < 1e-9 ? " here, but not at states nearby" : "");
        line(k == 0 ? "invariants" : "", text);
    }
    if (more > 0)
        printf("  %-*s%lld more\n", LABEL, "", (long long)more);
}

static void print_frequencies(const taut_check_report *report)
{
    char text[400];
    if (report->frequencies == 0)
        return;
    if (report->frequencies < 0) {
        snprintf(text, sizeof text,
                 "up to %.6g rad per time; the others, and the oscillatory energy, are not "
                 "computed for a stiff potential of so many coordinates",
                 report->frequency_most);
        line("frequencies", text);
        return;
    }
    snprintf(text, sizeof text, "%lld stiff mode%s, ", (long long)report->frequencies,
             report->frequencies == 1 ? "" : "s");
    size_t used = strlen(text);
    if (report->ranks > 1)
        snprintf(
            text + used, sizeof text - used,
            "below %.6g rad per time, a bound; the spectrum and the separation are not computed "
            "over several processes",
            report->frequency_most);
    else if (report->frequency_most > report->frequency_least)
        snprintf(text + used, sizeof text - used, "%.6g to %.6g rad per time",
                 report->frequency_least, report->frequency_most);
    else
        snprintf(text + used, sizeof text - used, "%.6g rad per time", report->frequency_most);
    line("frequencies", text);
    if (isfinite(report->separation)) {
        snprintf(text, sizeof text, "%.3g, lowest stiff frequency over the slow rate",
                 report->separation);
        line("separation", text);
    }
    double scale = report->energy_scale;
    snprintf(text, sizeof text, "%.6g", report->oscillatory_energy);
    used = strlen(text);
    if (scale > 0)
        snprintf(text + used, sizeof text - used, ", %.3g of the energy scale %.6g",
                 report->oscillatory_energy / scale, scale);
    line("oscillatory energy", text);
}

/* "1.73 rad per time, at t = 0.8 along the rigid motion (20 states); at the initial state 0" */
static void print_rate(const taut_check_report *report)
{
    char text[200];
    double rate = report->slow_rate, initial = report->slow_rate_initial;
    if (report->ranks > 1)
        line("slow rate", "not computed over several processes");
    if (!(rate > 0))
        return;
    snprintf(text, sizeof text, "%.3g rad per time", rate);
    size_t used = strlen(text);
    if (rate == report->time_rate)
        snprintf(text + used, sizeof text - used, ", of the explicit dependence on time");
    else if (report->slow_rate_states == 0)
        snprintf(text + used, sizeof text - used,
                 ", of the initial state alone: no later state was examined");
    else if (rate > initial * 1.005)
        snprintf(text + used, sizeof text - used,
                 ", at t = %.3g along the rigid motion (%d state%s); at the initial state %.3g",
                 report->slow_rate_at, report->slow_rate_states,
                 report->slow_rate_states == 1 ? "" : "s", initial);
    else
        snprintf(text + used, sizeof text - used, ", largest of %d states along the rigid motion",
                 report->slow_rate_states + 1);
    line("slow rate", text);
}

/* What limits the steps of explicit methods: 6.1/rate for dop8. */
static void print_decay(const taut_check_report *report)
{
    char text[200];
    double rate = report->decay_rate, steps = report->decay_steps;
    if (!(rate > 0))
        return;
    snprintf(text, sizeof text,
             "%.3g per time, at the initial state: explicit steps of at most %.2g", rate,
             6.1 / rate);
    size_t used = strlen(text);
    if (isfinite(steps))
        snprintf(text + used, sizeof text - used, ", %.2g of them: %s", ceil(steps),
                 steps > 1000 ? "stiff" : "not stiff");
    line("fastest decay", text);
}

/* "tiny, A, 2 rows, definite" in words. */
static void print_structure(const taut_check_report *report)
{
    char text[300];
    const char *comma = strchr(report->structure, ','), *matrix = comma ? comma + 2 : "",
               *meaning = "";
    if (!comma || (report->sizes->bonds == 0 && report->sizes->mass == TAUT_MASS_DIAGONAL))
        return; /* nothing to be solved */
    if (matrix[0] == 'A' || matrix[0] == 'K') {
        meaning = matrix[0] == 'A' ? "matrix A = G M^-1 G^T" : "mass matrix";
        matrix++;
    }
    snprintf(text, sizeof text, "the %.*s solver, for the %s%s", (int)(comma - report->structure),
             report->structure, meaning, matrix);
    line("linear algebra", text);
}

/* A model may have a line for each of many statements. */
static void print_conditions(const taut_system *system)
{
    enum { SHOWN = 12 };
    taut_index count = 0;
    for (const char *text; (text = taut_system_condition(system, count)); count++)
        if (count < SHOWN)
            line(count == 0 ? "conditions" : "", text);
    if (count > SHOWN)
        printf("  %-*s%lld further lines\n", LABEL, "", (long long)(count - SHOWN));
}

static void print_report(const cli_model *model, const taut_check_report *report, bool verbose)
{
    cli_model_title(stdout, model);
    printf("\n");
    print_sizes(model->system, report->sizes);
    print_parameters(model->system, report->sizes);
    print_structure(report);
    print_derivatives(report);
    print_rank(report);
    print_start(report);
    print_invariants(report);
    print_rate(report);
    print_decay(report);
    print_frequencies(report);
    print_conditions(model->system);
    if (verbose)
        line("built with", taut_features());
    long long warnings = report->sizes->warnings + (report->kinks != NULL);
    if (warnings > 0)
        printf("  %-*s%lld, on standard error\n", LABEL, "warnings", warnings);
    line("verdict", report->verdict == 0 ? "usable" : "numerically unusable");
    if (report->advice[0])
        line("advice", report->advice);
}

static void json_sizes(cli_json *json, const taut_system *system, const taut_sizes *sizes)
{
    cli_json_text(json, "kind", kind_word(sizes->kind));
    if (sizes->kind == TAUT_MECHANICAL)
        cli_json_text(json, "mass", mass_word(sizes->mass));
    cli_json_open(json, "sizes", '{');
    cli_json_integer(json, "coordinates", sizes->coordinates);
    cli_json_integer(json, "algebraic", sizes->algebraic);
    cli_json_integer(json, "followed", sizes->followed);
    cli_json_integer(json, "bonds", sizes->bonds);
    cli_json_integer(json, "constraints", sizes->constraints);
    cli_json_integer(json, "invariants", sizes->invariants);
    cli_json_integer(json, "observables", sizes->observables);
    cli_json_integer(json, "parameters", sizes->parameters);
    cli_json_integer(json, "outputs", sizes->outputs);
    cli_json_integer(json, "events", sizes->events);
    cli_json_integer(json, "shapes", taut_shape_count(system));
    cli_json_integer(json, "jacobian_entries", sizes->jacobian_entries);
    cli_json_integer(json, "kernels", sizes->kernels);
    cli_json_real(json, "members", sizes->members < 0 ? NAN : (double)sizes->members);
    cli_json_close(json, '}');
}

static void json_derivatives(cli_json *json, const taut_check_report *report)
{
    cli_json_open(json, "derivatives", '[');
    for (int k = 0; k < report->derivatives; k++) {
        const taut_derivative_check *row = &report->derivative[k];
        cli_json_open_flat(json, NULL, '{');
        cli_json_text(json, "name", row->name);
        cli_json_integer(json, "derivative", row->derivative);
        cli_json_real(json, "deviation", row->deviation);
        cli_json_real(json, "limit", row->limit);
        cli_json_real(json, "uncertainty", row->uncertainty);
        cli_json_text(json, "where", row->where);
        cli_json_bool(json, "good", is_right(row));
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void json_invariants(cli_json *json, const taut_check_report *report)
{
    cli_json_open(json, "invariants", '[');
    for (int k = 0; k < report->invariants; k++) {
        const taut_invariant_check *row = &report->invariant[k];
        cli_json_open_flat(json, NULL, '{');
        cli_json_text(json, "name", row->name);
        cli_json_real(json, "value", row->value);
        cli_json_real(json, "rate", row->rate);
        if (row->constant < 0)
            cli_json_text(json, "constant", NULL);
        else
            cli_json_bool(json, "constant", row->constant > 0);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void json_report(const cli_model *model, const taut_check_report *report)
{
    cli_json json = {.out = stdout};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "status", report->verdict == 0 ? "usable" : "unusable");
    cli_json_text(&json, "model", model->name);
    cli_json_text(&json, "title", taut_system_title(model->system));
    json_sizes(&json, model->system, report->sizes);
    cli_json_integer(&json, "ranks", report->ranks);
    cli_json_text(&json, "structure", report->structure);
    json_derivatives(&json, report);
    cli_json_open_flat(&json, "rank", '{');
    cli_json_integer(&json, "rank", report->rank);
    cli_json_integer(&json, "bonds", report->sizes->bonds);
    cli_json_integer(&json, "soft", report->soft);
    cli_json_text(&json, "message", report->rank_message);
    cli_json_close(&json, '}');
    cli_json_open_flat(&json, "start", '{');
    cli_json_real(&json, "position", report->start_position);
    cli_json_real(&json, "velocity", report->start_velocity);
    cli_json_real(&json, "foot_distance", report->foot_distance);
    cli_json_close(&json, '}');
    json_invariants(&json, report);
    cli_json_open_flat(&json, "frequencies", '{');
    if (report->frequencies < 0)
        cli_json_real(&json, "count", NAN); /* null */
    else
        cli_json_integer(&json, "count", report->frequencies);
    cli_json_real(&json, "least", report->frequency_least);
    const bool bound = report->ranks > 1;
    cli_json_real(&json, "most", bound ? NAN : report->frequency_most);
    if (bound)
        cli_json_real(&json, "bound", report->frequency_most);
    cli_json_real(&json, "slow_rate", report->slow_rate);
    cli_json_real(&json, "slow_rate_initial", report->slow_rate_initial);
    cli_json_real(&json, "decay_rate", report->decay_rate);
    cli_json_real(&json, "time_rate", report->time_rate);
    cli_json_real(&json, "separation", report->separation);
    cli_json_close(&json, '}');
    cli_json_real(&json, "oscillatory_energy", report->oscillatory_energy);
    cli_json_real(&json, "energy_scale", report->energy_scale);
    cli_json_open(&json, "conditions", '[');
    for (taut_index k = 0; taut_system_condition(model->system, k); k++)
        cli_json_text(&json, NULL, taut_system_condition(model->system, k));
    cli_json_close(&json, ']');
    cli_json_open(&json, "warnings", '[');
    for (taut_index k = 0; taut_system_warning(model->system, k); k++)
        cli_json_text(&json, NULL, taut_system_warning(model->system, k));
    if (report->kinks)
        cli_json_text(&json, NULL, report->kinks);
    cli_json_close(&json, ']');
    cli_json_text(&json, "motion", report->motion);
    cli_json_text(&json, "method", report->method);
    cli_json_text(&json, "advice", report->advice);
    cli_json_close(&json, '}');
}

int cli_check(cli_call *call)
{
    cli_model model = {0};
    taut_error error = {.t = NAN};
    taut_check_report report = {.size = sizeof report};
    int status = cli_model_load(call, &model);
    if (status == 0) {
        int code = taut_check(model.system, call->options, &report, &error);
        if (code < 0) {
            cli_say_failure(&error);
            status = cli_exit_status(code);
            if (call->json)
                cli_json_failure(&error);
        } else {
            status = report.verdict == 0 ? CLI_DONE : CLI_FAILED;
            if (report.kinks && !call->quiet)
                cli_say_warning(report.kinks, model.text);
            if (call->json)
                json_report(&model, &report);
            else if (!call->quiet)
                print_report(&model, &report, call->verbose);
        }
    }
    cli_model_release(&model);
    return status;
}
