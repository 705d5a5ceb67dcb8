/* compare.c - taut compare: methods side by side, error against work, as a table, an object and
 * a picture. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { MOST = 64 }; /* methods, and values */

typedef struct compare {
    cli_call *call;
    cli_model model;
    char *names; /* of --methods, cut into words */
    const char *method[MOST];
    double value[MOST];
    taut_compare_request request;
    taut_comparison *comparison;
    taut_error error;
} compare;

/* ---- arguments */

/* A list that ends in a comma lacks something. */
static bool unfinished(const char *text)
{
    return text[0] && text[strlen(text) - 1] == ',';
}

int cli_words(const cli_call *call, const char *option, const char *text, char **copy,
              const char **word, int most, int *count)
{
    if (unfinished(text))
        return cli_misuse(call, "--%s: expected a name after the last comma, found '%s'", option,
                          text);
    *copy = cli_format("%s", text);
    if (!*copy)
        return cli_refuse(call, "out of memory");
    for (char *name = *copy; *name;) {
        size_t length = strcspn(name, ",");
        char *next = name + length + (name[length] == ',');
        name[length] = '\0';
        if (length == 0 || *count == most)
            return cli_misuse(call,
                              "--%s: expected names separated by commas (at most %d), found '%s'",
                              option, most, text);
        word[(*count)++] = name;
        name = next;
    }
    return 0;
}

static int read_methods(compare *c)
{
    const char *text = c->call->methods;
    if (!text)
        return cli_misuse(c->call, "no methods: give --methods A,B,.. ('taut methods' lists them), "
                                   "or --motions full,slow,rigid");
    c->request.methods = c->method;
    return cli_words(c->call, "methods", text, &c->names, c->method, MOST,
                     &c->request.method_count);
}

/* A number, or A..B: tolerances A, A/10, A/100, ... down to B, steps A, A/2, A/4, ... */
static bool read_value(compare *c, const char *p, const char **end)
{
    char text[64], *range, *stop;
    size_t length = strcspn(p, ",");
    *end = p + length;
    if (length >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%.*s", (int)length, p);
    if ((range = strstr(text, "..")) != NULL)
        *range = '\0';
    double first = strtod(text, &stop);
    bool good = stop != text && !*stop && first > 0 && isfinite(first);
    double last = first;
    if (range) {
        last = strtod(range + 2, &stop);
        good &= stop != range + 2 && !*stop && last > 0 && last < first;
    }
    for (int k = 0; good && first / pow(c->request.tolerances ? 10 : 2, k) > last * (1 - 1e-9);
         k++) {
        if (c->request.value_count == MOST)
            return false;
        c->value[c->request.value_count++] = first / pow(c->request.tolerances ? 10 : 2, k);
    }
    return good;
}

static int read_values(compare *c)
{
    const cli_call *call = c->call;
    const char *text = call->steps ? call->steps : call->tolerances;
    if (!text || (call->steps && call->tolerances))
        return cli_misuse(call, "give either --steps H1,H2,.. or --tolerances R1,R2,..");
    c->request.tolerances = call->tolerances != NULL;
    const char *name = call->steps ? "steps" : "tolerances";
    if (unfinished(text))
        return cli_misuse(call, "--%s: expected a number after the last comma, found '%s'", name,
                          text);
    for (const char *p = text, *end; *p; p = end + (*end == ','))
        if (!read_value(c, p, &end))
            return cli_misuse(call,
                              "--%s: expected numbers > 0, or A..B with A > B, separated by commas "
                              "(at most %d), found '%s'",
                              name, MOST, text);
    if (c->request.value_count == 0)
        return cli_misuse(call, "--%s: expected numbers > 0 separated by commas, found nothing",
                          name);
    c->request.values = c->value;
    return 0;
}

/* ---- results */

static int64_t evaluations(const taut_compared *row)
{
    return row->statistics.force_evaluations + row->statistics.fast_force_evaluations;
}

/* An error; below the uncertainty of the reference, "<" and that uncertainty. */
static void print_error(double error, double uncertainty, int width)
{
    char text[40] = "-";
    if (error < uncertainty)
        snprintf(text, sizeof text, "<%.1e", uncertainty);
    else if (!isnan(error))
        snprintf(text, sizeof text, "%.3e", error);
    printf(" %*s", width, text);
}

static void print_number(double value, const char *format, int width)
{
    char text[40] = "-";
    if (!isnan(value))
        snprintf(text, sizeof text, format, value);
    printf(" %*s", width, text);
}

/* ---- ranking: evaluations that methods need for an error, between their rows */

enum { TARGETS = 6 }; /* errors of 1e-2, 1e-4, ... */

typedef struct ranked {
    const char *method;
    double evaluations;
} ranked;

/* Of method m: from where on all errors are below, interpolated in logarithms between the two rows;
 * its cheapest row where all are below, NaN where none is. */
static double needed(const compare *c, int m, double error)
{
    const int values = c->request.value_count;
    double above = 0, above_error = NAN, below = INFINITY, below_error = NAN;
    taut_compared row = {.size = sizeof row};
    for (int pass = 0; pass < 2; pass++)
        for (int k = m * values; k < (m + 1) * values; k++) {
            if (taut_comparison_get(c->comparison, k, &row, NULL) != 0 || row.message)
                continue;
            double count = (double)evaluations(&row), off = fmax(row.error, row.uncertainty);
            if (pass == 0 && !(off <= error) && count > above) {
                above = count;
                above_error = off;
            } else if (pass == 1 && off <= error && count > above && count < below) {
                below = count;
                below_error = off;
            }
        }
    if (isinf(below))
        return NAN;
    if (above == 0)
        return below;
    return above * pow(below / above, log(above_error / error) / log(above_error / below_error));
}

static int fewer(const void *a, const void *b)
{
    double x = ((const ranked *)a)->evaluations, y = ((const ranked *)b)->evaluations;
    return (x > y) - (x < y);
}

/* Methods that reach an error, the cheapest first; their number. */
static int rank(const compare *c, double error, ranked to[MOST])
{
    int count = 0;
    for (int m = 0; m < c->request.method_count; m++) {
        to[count] = (ranked){c->method[m], needed(c, m, error)};
        count += !isnan(to[count].evaluations);
    }
    qsort(to, (size_t)count, sizeof *to, fewer);
    return count;
}

static void print_ranking(const compare *c)
{
    ranked list[MOST];
    for (int k = 1; k <= TARGETS && c->request.value_count > 1; k++) {
        char text[40 * MOST + 60];
        int count = rank(c, pow(100, -k), list),
            used = snprintf(text, sizeof text, "evaluations for an error of %g:", pow(100, -k));
        for (int i = 0; i < count; i++)
            used += snprintf(text + used, sizeof text - (size_t)used, "%s %s %.0f", i ? "," : "",
                             list[i].method, list[i].evaluations);
        if (count < 2)
            continue;
        printf("  ");
        cli_wrap(stdout, text, 4, 2, CLI_WIDTH);
    }
}

static void json_ranking(const compare *c, cli_json *json)
{
    ranked list[MOST];
    cli_json_open(json, "ranking", '[');
    for (int k = 1; k <= TARGETS; k++) {
        int count = rank(c, pow(100, -k), list);
        for (int i = 0; i < count; i++) {
            cli_json_open(json, NULL, '{');
            cli_json_real(json, "error", pow(100, -k));
            cli_json_text(json, "method", list[i].method);
            cli_json_real(json, "evaluations", list[i].evaluations);
            cli_json_close(json, '}');
        }
    }
    cli_json_close(json, ']');
}

/* ---- the table */

/* A refusal does not depend on the value: it is printed once. */
static void print_message(const compare *c, int k, const taut_compared *row)
{
    taut_compared other = {.size = sizeof other};
    int values = c->request.value_count, first = k - k % values;
    bool same = true;
    for (int i = first; i < first + values; i++)
        same &= taut_comparison_get(c->comparison, i, &other, NULL) == 0 && other.message &&
                strcmp(other.message, row->message) == 0;
    if (same && k > first)
        return;
    if (same)
        printf("  %-18s %10s  ", row->method, values > 1 ? "all" : "");
    else
        printf("  %-18s %10.4g  ", row->method, row->value);
    cli_wrap(stdout, row->message, 33, 33, CLI_WIDTH);
}

static void print_human(const compare *c)
{
    taut_compared row = {.size = sizeof row};
    bool mechanical = false;
    for (int k = 0; taut_comparison_get(c->comparison, k, &row, NULL) == 0; k++)
        mechanical |= !isnan(row.error_velocity);
    cli_wrap(stdout, taut_comparison_explanation(c->comparison, NULL), 2, 0, CLI_WIDTH);
    printf("  %-18s %10s %10s", "method", c->request.tolerances ? "tolerance" : "step", "error");
    if (mechanical)
        printf(" %10s", "velocity");
    printf(" %6s %12s %9s %10s\n", c->request.tolerances ? "" : "order", "evaluations", "steps",
           "seconds");
    for (int k = 0; taut_comparison_get(c->comparison, k, &row, NULL) == 0; k++) {
        if (row.message) {
            print_message(c, k, &row);
            continue;
        }
        printf("  %-18s %10.4g", row.method, row.value);
        print_error(row.error, row.uncertainty, 10);
        if (mechanical)
            print_error(row.error_velocity, row.uncertainty_velocity, 10);
        if (c->request.tolerances)
            printf(" %6s", "");
        else
            print_number(row.order, "%.2f", 6);
        printf(" %12lld %9lld %10.3g\n", (long long)evaluations(&row),
               (long long)row.statistics.steps, row.seconds);
    }
    print_ranking(c);
}

static void print_json(const compare *c, int status)
{
    double uncertainty;
    taut_compared row = {.size = sizeof row};
    cli_json json = {.out = stdout};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "status", status == 0 ? "done" : "failed");
    cli_json_text(&json, "model", c->model.name);
    cli_json_text(&json, "explanation", taut_comparison_explanation(c->comparison, &uncertainty));
    cli_json_real(&json, "uncertainty", uncertainty);
    cli_json_real(&json, "uncertainty_velocity",
                  taut_comparison_get(c->comparison, 0, &row, NULL) == 0 ? row.uncertainty_velocity
                                                                         : NAN);
    cli_json_open(&json, "rows", '[');
    for (int k = 0; taut_comparison_get(c->comparison, k, &row, NULL) == 0; k++) {
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "method", row.method);
        cli_json_real(&json, c->request.tolerances ? "tolerance" : "step", row.value);
        cli_json_text(&json, "message", row.message);
        cli_json_real(&json, "error", row.error);
        cli_json_real(&json, "error_velocity", row.error_velocity);
        cli_json_real(&json, "order", row.order);
        cli_json_integer(&json, "evaluations", evaluations(&row));
        cli_json_real(&json, "seconds", row.seconds);
        cli_json_statistics(&json, &row.statistics);
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
    json_ranking(c, &json);
    if (status != 0)
        cli_json_error(&json, &c->error);
    cli_json_close(&json, '}');
}

/* A number with 17 digits; an empty field where there is none. */
static void put_number(FILE *out, double value)
{
    fprintf(out, isnan(value) ? "," : ",%.17g", value);
}

static int write_csv(compare *c, const char *path)
{
    cli_output output;
    taut_compared row = {.size = sizeof row};
    cli_output_open(&output, path);
    if (output.file)
        fprintf(output.file,
                "method,%s,error,error_velocity,order,uncertainty,"
                "uncertainty_velocity,force_evaluations,steps,message\n",
                c->request.tolerances ? "tolerance" : "step");
    for (int k = 0; output.file && taut_comparison_get(c->comparison, k, &row, NULL) == 0; k++) {
        const double number[] = {row.value, row.error,       row.error_velocity,
                                 row.order, row.uncertainty, row.uncertainty_velocity};
        fprintf(output.file, "%s", row.method);
        for (size_t j = 0; j < sizeof number / sizeof number[0]; j++)
            put_number(output.file, number[j]);
        fprintf(output.file, ",%lld,%lld,\"", (long long)evaluations(&row),
                (long long)row.statistics.steps);
        for (const char *p = row.message ? row.message : ""; *p; p++)
            fprintf(output.file, *p == '"' ? "\"\"" : "%c", *p);
        fprintf(output.file, "\"\n");
    }
    return cli_output_close(&output, "out", &c->error);
}

/* Error against evaluations, one curve a method. Methods that never ran have no curve. */
static int draw(compare *c, const char *path)
{
    enum { POINTS = MOST * MOST };
    int start[MOST + 1] = {0}, curves = 0, points = 0, values = c->request.value_count;
    const char *names[MOST];
    double *x = malloc(sizeof *x * 2 * POINTS), *y = x ? x + POINTS : NULL;
    char *title = cli_format("%s: error against work", c->model.name);
    int code = 0;
    for (int m = 0; x && m < c->request.method_count; m++) {
        taut_compared row = {.size = sizeof row};
        for (int k = m * values;
             k < (m + 1) * values && taut_comparison_get(c->comparison, k, &row, NULL) == 0; k++)
            if (!row.message) {
                x[points] = (double)evaluations(&row);
                y[points++] = fmax(row.error, row.uncertainty);
            }
        if (points > start[curves]) {
            names[curves++] = c->method[m];
            start[curves] = points;
        }
    }
    if (!x || !title) {
        free(x);
        free(title);
        c->error = (taut_error){.code = TAUT_ERROR_MEMORY, .t = NAN, .message = "out of memory"};
        cli_say_failure(&c->error);
        return CLI_FAILED;
    }
    const char *labels[] = {title, "force evaluations", "error of the positions"};
    cli_interrupt_watch(); /* gnuplot ends by it, and its folder is removed */
    code = taut_plot(path, labels, names, curves, start, x, y, true, &c->error);
    free(x);
    free(title);
    if (code != 0 && cli_interrupted())
        return CLI_INTERRUPTED;
    if (code != 0)
        cli_say_failure(&c->error);
    return cli_exit_status(code);
}

static int report(compare *c, const char *out, const char *picture)
{
    taut_compared row = {.size = sizeof row};
    bool any = false;
    for (int k = 0; taut_comparison_get(c->comparison, k, &row, NULL) == 0; k++)
        any |= row.message == NULL;
    int status = any ? CLI_DONE : CLI_FAILED;
    if (!any) {
        c->error = (taut_error){.code = TAUT_ERROR_REFUSED, .t = NAN};
        snprintf(c->error.message, sizeof c->error.message,
                 "none of the methods could run; the rows contain the reasons");
    }
    if (any && out && write_csv(c, out) != 0)
        status = CLI_FAILED;
    if (any && picture && status == CLI_DONE)
        status = draw(c, picture);
    bool rows_here = out && strcmp(out, "-") == 0;
    if (c->call->json)
        print_json(c, status);
    else if (!c->call->quiet && !rows_here)
        print_human(c);
    return status;
}

int cli_compare(cli_call *call)
{
    if (call->motions || (!call->methods && !call->steps && !call->tolerances))
        return cli_compare_motions(call);
    compare c = {.call = call, .request = {.size = sizeof c.request}, .error = {.t = NAN}};
    const char *picture = cli_option_text(call, "plot"), *out = cli_option_text(call, "out"),
               *page = cli_option_text(call, "view");
    int status = read_methods(&c);
    if (status == 0)
        status = read_values(&c);
    if (status == 0)
        status = cli_picture_check(call, picture);
    if (status == 0 && out && strcmp(out, "-") == 0 && call->json)
        status = cli_refuse(call, "--out -: standard output belongs to the object of --json");
    if (status == 0 && out && strcmp(out, "-") != 0 && !cli_has_ending(out, ".csv"))
        status = cli_refuse(call, "--out %s: expected a name that ends in .csv", out);
    if (status == 0)
        status = cli_output_check(call, "out", out);
    if (status == 0 && !page && taut_options_given(call->options, "every"))
        status = cli_misuse(call, "--every: methods are compared at the end; rows are those of the "
                                  "page of --view FILE.html, or of --motions");
    if (status == 0)
        status = cli_view_check(call, page);
    if (status == 0)
        status = cli_model_load(call, &c.model);
    if (status == 0) {
        int code =
            taut_compare(c.model.system, call->options, &c.request, NULL, &c.comparison, &c.error);
        status = code != 0 ? cli_fail(call, &c.error, code) : report(&c, out, picture);
        if (status == 0 && page) {
            code = cli_view_methods(call, &c.model, &c.request, page, &c.error);
            status = code != 0 ? cli_fail(call, &c.error, code) : status;
        }
    }
    taut_comparison_destroy(c.comparison);
    cli_model_release(&c.model);
    free(c.names);
    return status;
}
