/* list.c - taut reproduce --list: every table and figure of the five papers with its state. The
 * list is data, reproduce/list.txt: lines "paper | what | recipe, or - | note". */
#include <stdlib.h>
#include <string.h>

#include "reproduce/reproduce.h"

typedef struct item {
    char paper[8], what[40], recipe[40], note[200];
} item;

/* Cuts a field off the line, without blanks around it. */
static char *take_field(char *line, char *to, size_t size)
{
    size_t length = strcspn(line, "|"), begin = strspn(line, " "), end = length;
    while (end > begin && line[end - 1] == ' ')
        end--;
    snprintf(to, size, "%.*s", end > begin ? (int)(end - begin) : 0, line + begin);
    return line + length + (line[length] == '|');
}

static bool exists(const char *recipe)
{
    for (const recipe_row *r = recipe_table; r->name; r++)
        if (strcmp(r->name, recipe) == 0)
            return true;
    return false;
}

static const char *state_of(const item *x)
{
    return strcmp(x->recipe, "-") == 0 ? "no numbers"
           : exists(x->recipe)         ? "reproduced"
                                       : "missing";
}

static void print_item(const cli_call *call, cli_json *json, const item *x)
{
    const char *state = state_of(x);
    if (call->json) {
        cli_json_open_flat(json, NULL, '{');
        cli_json_text(json, "paper", x->paper);
        cli_json_text(json, "what", x->what);
        cli_json_text(json, "state", state);
        cli_json_text(json, "recipe", x->recipe);
        cli_json_text(json, "note", x->note);
        cli_json_close(json, '}');
        return;
    }
    printf("%s  %-13s %-11s %s%s%s\n", x->paper, x->what, state,
           strcmp(x->recipe, "-") == 0 ? "" : x->recipe,
           x->note[0] && strcmp(x->recipe, "-") != 0 ? ", " : "", x->note);
}

static void print_all(const cli_call *call, char *text)
{
    cli_json json = {.out = stdout};
    int total = 0, missing = 0;
    if (call->json) {
        cli_json_open(&json, NULL, '{');
        cli_json_open(&json, "items", '[');
    }
    for (char *line = text, *next; line && *line; line = next) {
        item x;
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (line[0] == '#' || !strchr(line, '|'))
            continue;
        line = take_field(line, x.paper, sizeof x.paper);
        line = take_field(line, x.what, sizeof x.what);
        line = take_field(line, x.recipe, sizeof x.recipe);
        take_field(line, x.note, sizeof x.note);
        print_item(call, &json, &x);
        total++;
        missing += strcmp(state_of(&x), "missing") == 0;
    }
    if (call->json) {
        cli_json_close(&json, ']');
        cli_json_close(&json, '}');
    } else {
        printf("%d tables, figures and theorems, %d of them missing\n", total, missing);
    }
}

int recipe_list(const cli_call *call)
{
    char *folder = cli_shipped_data(call->program, "TAUT_REPRODUCE", "reproduce");
    char *path = folder ? cli_format("%s/list.txt", folder) : NULL;
    size_t length = 0;
    const char *why = "its folder is missing; set TAUT_REPRODUCE";
    char *text = path ? cli_read_path(path, 1 << 20, &length, &why) : NULL;
    int status = text ? CLI_DONE : cli_refuse(call, "the list of tables cannot be read: %s", why);
    if (text)
        print_all(call, text);
    free(text);
    free(path);
    free(folder);
    return status;
}
