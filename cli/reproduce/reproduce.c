/* reproduce.c - taut reproduce: published numbers and those of Taut, with a verdict for each, as
 * tables, JSON, pictures and a page. */
#define _POSIX_C_SOURCE 200809L
#include "reproduce/reproduce.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "windows.h"

typedef struct report {
    cli_call *call;
    const char *out; /* folder, or NULL */
    bool lost;       /* something could not be written there */
    char *folder;    /* of the printed numbers */
    recipe_work work;
    recipe_result *result; /* so far */
    int count, total[RECIPE_VERDICTS];
    cli_json json;
} report;

/* ---- output */

static void print_counts(FILE *out, const char *lead, const int counts[RECIPE_VERDICTS])
{
    fprintf(out, "%s%d equal, %d within, %d explained, %d unexplained\n", lead,
            counts[RECIPE_EQUAL], counts[RECIPE_WITHIN], counts[RECIPE_EXPLAINED],
            counts[RECIPE_UNEXPLAINED]);
}

static void print_table(FILE *out, const recipe_result *r)
{
    int width = 0;
    for (int i = 0; i < r->count; i++) {
        int length = (int)strlen(r->number[i].field[0]);
        width = length > width ? length : width;
    }
    fprintf(out, "%s: %s\n  ", r->recipe->name, r->recipe->what);
    cli_wrap(out, r->recipe->source, 2, 2, CLI_WIDTH);
    fprintf(out, "  %-*s %20s %18s  %s\n", width, "", "Taut", r->heading, "verdict");
    for (int i = 0; i < r->count; i++) {
        const recipe_number *x = &r->number[i];
        fprintf(out, "  %-*s %20.*g %18s  %s\n", width, x->field[0], x->digits, x->ours,
                x->field[1], recipe_verdict_names[x->verdict]);
        if (x->verdict > RECIPE_WITHIN && recipe_number_note(x)[0]) {
            fprintf(out, "      ");
            cli_wrap(out, recipe_number_note(x), 6, 6, CLI_WIDTH);
        }
    }
    print_counts(out, "  ", r->counts);
}

static const char *verdict_key(int verdict)
{
    return verdict == RECIPE_UNEXPLAINED ? "unexplained" : recipe_verdict_names[verdict];
}

static void print_json(cli_json *json, const recipe_result *r)
{
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "name", r->recipe->name);
    cli_json_text(json, "what", r->recipe->what);
    cli_json_text(json, "source", r->recipe->source);
    cli_json_text(json, "numbers", r->heading);
    for (int k = 0; k < RECIPE_VERDICTS; k++)
        cli_json_integer(json, verdict_key(k), r->counts[k]);
    cli_json_open(json, "rows", '[');
    for (int i = 0; i < r->count; i++) {
        const recipe_number *x = &r->number[i];
        cli_json_open_flat(json, NULL, '{');
        cli_json_text(json, "key", x->field[0]);
        cli_json_real(json, "ours", x->ours);
        cli_json_text(json, "printed", x->field[1]);
        cli_json_text(json, "verdict", verdict_key((int)x->verdict));
        cli_json_text(json, "note", recipe_number_note(x));
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
    cli_json_close(json, '}');
}

/* One picture, of the curves from `first` to before `end`; a build or a system without gnuplot does
 * without. */
static int draw_one(report *d, recipe_result *r, const char *name, const char *const *labels,
                    int first, int end)
{
    const char *names[RECIPE_CURVES];
    recipe_work *k = &d->work;
    char *path = cli_format("%s/%s%s%s.png", d->out, r->recipe->name, name[0] ? "-" : "", name);
    if (!path)
        return cli_refuse(d->call, "out of memory");
    for (int c = first; c < end; c++)
        names[c - first] = k->name[c];
    int code = taut_plot(path, labels, names, end - first, k->start + first, k->x, k->y,
                         k->logarithmic, &k->error);
    if (code == 0) {
        r->picture[r->pictures].path = path;
        r->picture[r->pictures++].title = cli_format("%s", labels[0]);
        return 0;
    }
    free(path);
    if (code == TAUT_ERROR_UNAVAILABLE) {
        if (!d->call->quiet)
            cli_warning("%s: no picture: %s", r->recipe->name, k->error.message);
        return 0;
    }
    cli_say_failure(&k->error);
    return cli_exit_status(code);
}

static int draw(report *d, recipe_result *r)
{
    const recipe_work *k = &d->work;
    int status = 0;
    if (k->pictures == 0)
        return draw_one(d, r, "", k->labels, 0, k->curves);
    for (int p = 0; p < k->pictures && status == 0; p++)
        status = draw_one(d, r, k->picture[p].name, k->picture[p].labels, k->picture[p].first,
                          p + 1 < k->pictures ? k->picture[p + 1].first : k->curves);
    return status;
}

static int write_files(report *d, recipe_result *r)
{
    char *path = cli_format("%s/%s.txt", d->out, r->recipe->name);
    FILE *file = path ? fopen(path, "w") : NULL;
    bool good = file != NULL;
    if (file) {
        print_table(file, r);
        good = !ferror(file);
        good &= fclose(file) == 0;
    }
    int status = good ? 0
                      : cli_refuse(d->call, "--out: cannot write '%s': %s", path ? path : d->out,
                                   strerror(errno));
    free(path);
    return status == 0 && d->work.curves > 0 ? draw(d, r) : status;
}

/* ---- the verb */

static int reproduce_one(report *d, const recipe_row *recipe)
{
    recipe_result *r = &d->result[d->count++];
    r->recipe = recipe;
    int status = recipe_printed(r, d->call, d->folder);
    if (status == 0) {
        int code = recipe->compute(&d->work);
        if (code != 0) {
            cli_error("%s: %s", recipe->name, d->work.error.message);
            r->failure = cli_format("%s", d->work.error.message);
            status = CLI_FAILED; /* for any reason: the result could not be computed */
        }
        recipe_judge(r, &d->work);
        for (int k = 0; k < RECIPE_VERDICTS; k++)
            d->total[k] += r->counts[k];
        if (d->call->json)
            print_json(&d->json, r);
        else if (!d->call->quiet || r->counts[RECIPE_UNEXPLAINED] > 0)
            print_table(stdout, r);
        fflush(stdout);
        if (status == 0 && r->counts[RECIPE_UNEXPLAINED] + (r->count == 0) > 0)
            status = CLI_FAILED;
        int written = d->out ? write_files(d, r) : 0;
        d->lost |= written != 0;
        status = status != 0 ? status : written;
        if (d->out)
            recipe_best_run(&d->work, d->result, d->count - 1, r);
    }
    recipe_clear(&d->work);
    return status;
}

static int list(const cli_call *call)
{
    cli_json json = {.out = stdout};
    if (call->json) {
        cli_json_open(&json, NULL, '{');
        cli_json_open(&json, "recipes", '[');
    }
    for (const recipe_row *r = recipe_table; r->name; r++) {
        if (!call->json) {
            printf("%-20s ", r->name);
            cli_wrap(stdout, r->what, 21, 21, CLI_WIDTH);
            printf("%21s", "");
            cli_wrap(stdout, r->source, 21, 21, CLI_WIDTH);
            continue;
        }
        cli_json_open_flat(&json, NULL, '{');
        cli_json_text(&json, "name", r->name);
        cli_json_text(&json, "what", r->what);
        cli_json_text(&json, "source", r->source);
        cli_json_close(&json, '}');
    }
    if (call->json) {
        cli_json_close(&json, ']');
        cli_json_close(&json, '}');
    }
    return CLI_DONE;
}

/* Does a word of the name, "table" of "a-table-1", begin with `text`? */
static bool has_word(const char *name, const char *text)
{
    size_t length = strlen(text);
    for (const char *word = name; word; word = strchr(word, '-') ? strchr(word, '-') + 1 : NULL)
        if (length > 0 && strncmp(word, text, length) == 0)
            return true;
    return false;
}

static int unknown(const cli_call *call)
{
    enum { MOST = 64 };
    const char *names[MOST] = {0};
    int count = 0;
    for (const recipe_row *r = recipe_table; r->name && count < MOST; r++)
        names[count++] = r->name;
    const char *near = taut_near_miss(call->operand, names, count);
    for (int k = 0; k < count && !near; k++)
        near = has_word(names[k], call->operand) ? names[k] : NULL;
    return cli_refuse(call, "unknown table or figure '%s'%s%s%s", call->operand,
                      near ? "; did you mean '" : "", near ? near : "",
                      near ? "'?" : "; 'taut reproduce' lists them");
}

static int prepare(report *d)
{
    int recipes = 0;
    cli_call *call = d->call;
    d->out =
        taut_options_given(call->options, "out") ? taut_options_text(call->options, "out") : NULL;
    if (d->out && mkdir(d->out, 0777) != 0 && errno != EEXIST)
        return cli_refuse(call, "--out: cannot make the folder '%s': %s", d->out, strerror(errno));
    d->folder = cli_shipped_data(call->program, "TAUT_REPRODUCE", "reproduce");
    if (!d->folder)
        return cli_refuse(call,
                          "the printed numbers are missing; set TAUT_REPRODUCE to their folder");
    while (recipe_table[recipes].name)
        recipes++;
    d->result = calloc((size_t)recipes, sizeof *d->result);
    return d->result && cli_shipped_list(call->program, &d->work.models)
               ? 0
               : cli_refuse(call, "out of memory");
}

/* The page of all results, or of one. */
static int write_page(report *d, bool all)
{
    char *path = cli_format("%s/%s.html", d->out, all ? "index" : d->call->operand);
    int status = path ? recipe_book_write(d->call, path, d->folder, d->result, d->count)
                      : cli_refuse(d->call, "out of memory");
    if (status == 0 && !d->call->json && !d->call->quiet)
        printf("tables and pictures are in %s, and on one page in %s\n", d->out, path);
    free(path);
    return status;
}

static void release(report *d)
{
    for (int k = 0; k < d->count; k++)
        recipe_result_clear(&d->result[k]);
    free(d->result);
    cli_shipped_release(&d->work.models);
    free(d->folder);
}

int cli_reproduce(cli_call *call)
{
    report d = {.call = call, .json = {.out = stdout}, .work = {.call = call, .error = {.t = NAN}}};
    if (taut_options_flag(call->options, "list"))
        return call->operand ? cli_refuse(call, "--list lists everything; omit '%s'", call->operand)
                             : recipe_list(call);
    if (!call->operand)
        return list(call);
    bool all = strcmp(call->operand, "all") == 0, found = false;
    for (const recipe_row *r = recipe_table; r->name; r++)
        found |= all || strcmp(r->name, call->operand) == 0;
    if (!found)
        return unknown(call);
    int status = prepare(&d);
    bool prepared = status == 0;
    if (prepared && call->json) {
        cli_json_open(&d.json, NULL, '{');
        cli_json_open(&d.json, "results", '[');
    }
    for (const recipe_row *r = recipe_table; prepared && r->name; r++)
        if (all || strcmp(r->name, call->operand) == 0) {
            int one = reproduce_one(&d, r);
            status = one > status ? one : status;
            if (all && !call->json && !call->quiet)
                printf("\n");
        }
    if (prepared && call->json) {
        cli_json_close(&d.json, ']');
        cli_json_close(&d.json, '}');
    } else if (prepared && all && !call->quiet) {
        print_counts(stdout, "total: ", d.total);
    }
    if (prepared && d.out && !d.lost) {
        int written = write_page(&d, all);
        status = status != 0 ? status : written;
    }
    release(&d);
    return status;
}
