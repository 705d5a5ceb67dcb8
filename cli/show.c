/* show.c - taut show: what an HDF5 file of a run holds. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { LABEL = 14 };

typedef struct shown {
    taut_record *record;
    taut_sizes sizes;
    int64_t count;         /* of rows */
    taut_memory_rows rows; /* all of them */
} shown;

static const struct {
    const char *label;
    taut_item item;
} kinds[] = {{"coordinates", TAUT_COORDINATE},
             {"algebraic", TAUT_ALGEBRAIC},
             {"bonds", TAUT_BOND},
             {"outputs", TAUT_OUTPUT},
             {"events", TAUT_EVENT_ITEM}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int64_t times_met(const shown *s, taut_index event)
{
    int64_t count = 0;
    for (int64_t i = 0; i < s->rows.rows; i++)
        count += s->rows.event[i] == event + 1;
    return count;
}

/* The first names of a kind. */
static void print_names(const shown *s, int kind)
{
    enum { MOST = 12 };
    const char *name;
    taut_item item = kinds[kind].item;
    taut_index k = 0;
    if (!taut_record_name(s->record, item, 0))
        return;
    printf("  %-*s", LABEL, kinds[kind].label);
    for (; k < MOST && (name = taut_record_name(s->record, item, k)); k++) {
        printf("%s%s", k ? ", " : "", name);
        if (item == TAUT_EVENT_ITEM)
            printf(" (%lld times)", (long long)times_met(s, k));
    }
    for (; taut_record_name(s->record, item, k); k++)
        ;
    printf(k > MOST ? ", ... (%d)\n" : "\n", (int)k);
}

static void print_line(const shown *s, const char *label, const char *name)
{
    const char *text = taut_record_text(s->record, name);
    if (!text)
        return;
    int column = printf("  %-*s", LABEL, label);
    cli_wrap(stdout, text, LABEL + 2, column, CLI_WIDTH);
}

static void print_all(const cli_call *call, const shown *s)
{
    char status[32];
    const char *name = taut_record_text(s->record, "name");
    cli_record_word(s->record, "status", status, sizeof status);
    printf("%s: %s, %lld rows", call->operand, name ? name : "a run", (long long)s->count);
    if (s->count > 0)
        printf(" from t = %.9g to %.9g", s->rows.t[0], s->rows.t[s->count - 1]);
    printf("\n");
    if (status[0])
        printf("  %-*s%s\n", LABEL, "status", status);
    print_line(s, "command", "command");
    print_line(s, "written by", "version");
    for (int k = 0; k < KINDS; k++)
        print_names(s, k);
    printf("  %-*s", LABEL, "texts");
    for (int k = 0; (name = taut_record_text_name(s->record, k)); k++)
        printf("%s%s", k ? ", " : "", name);
    printf(taut_record_text_name(s->record, 0) ? "\n" : "none\n");
}

static void print_json(const cli_call *call, const shown *s)
{
    char status[32];
    const char *name;
    cli_record_word(s->record, "status", status, sizeof status);
    cli_json json = {.out = stdout};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "file", call->operand);
    cli_json_text(&json, "status", status[0] ? status : NULL);
    cli_json_integer(&json, "rows", s->count);
    cli_json_reals(&json, "t", s->rows.t, s->count);
    for (int k = 0; k < KINDS; k++) {
        cli_json_open_flat(&json, kinds[k].label, '[');
        for (taut_index i = 0; (name = taut_record_name(s->record, kinds[k].item, i)); i++)
            cli_json_text(&json, NULL, name);
        cli_json_close(&json, ']');
    }
    cli_json_open_flat(&json, "times_met", '[');
    for (taut_index i = 0; i < s->sizes.events; i++)
        cli_json_integer(&json, NULL, times_met(s, i));
    cli_json_close(&json, ']');
    cli_json_open(&json, "texts", '{');
    for (int k = 0; (name = taut_record_text_name(s->record, k)); k++)
        cli_json_text(&json, name, taut_record_text(s->record, name));
    cli_json_close(&json, '}');
    cli_json_close(&json, '}');
}

static int print_text(const cli_call *call, const shown *s)
{
    enum { MOST = 64 };
    const char *text = taut_record_text(s->record, call->text), *names[MOST];
    int count = 0;
    if (text) {
        fputs(text, stdout);
        if (text[0] && text[strlen(text) - 1] != '\n')
            putchar('\n');
        return 0;
    }
    while (count < MOST && (names[count] = taut_record_text_name(s->record, count)))
        count++;
    const char *near = taut_near_miss(call->text, names, count);
    return cli_refuse(call, "--text %s: %s has no such text%s%s%s", call->text, call->operand,
                      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

int cli_show(cli_call *call)
{
    shown s = {.sizes.size = sizeof s.sizes, .rows.size = sizeof s.rows};
    taut_error error;
    if (!call->operand)
        return cli_misuse(call, "no file: give one that 'taut run --out FILE.h5' wrote");
    int status = cli_record_open(call, NULL, call->operand, &s.record);
    if (status == 0 && call->text) {
        status = print_text(call, &s);
    } else if (status == 0) {
        taut_record_sizes_get(s.record, &s.sizes, &s.count, NULL);
        if (taut_record_rows_get(s.record, 0, -1, &s.rows, &error) != 0)
            status = cli_refuse(call, "%s", error.message);
        else if (call->json)
            print_json(call, &s);
        else
            print_all(call, &s);
    }
    taut_record_destroy(s.record);
    return status;
}
