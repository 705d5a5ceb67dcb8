/* list.c - taut reproduce --list: every table and figure of the five papers with its state. The
 * list is data, reproduce/list.txt: lines "paper | what | recipe, or - | note". */
#include <stdlib.h>
#include <string.h>

#include "reproduce/reproduce.h"

static bool exists(const char *recipe)
{
    for (const recipe_row *r = recipe_table; r->name; r++)
        if (strcmp(r->name, recipe) == 0)
            return true;
    return false;
}

bool recipe_item_next(char **text, recipe_item *item)
{
    for (char *line; (line = recipe_line(text));) {
        if (line[0] == '#' || !strchr(line, '|'))
            continue;
        recipe_cut(line, item->field);
        item->state = strcmp(item->field[2], "-") == 0 ? "no numbers"
                      : exists(item->field[2])         ? "reproduced"
                                                       : "missing";
        return true;
    }
    return false;
}

static void print_item(const cli_call *call, cli_json *json, const recipe_item *x)
{
    static const char *const keys[RECIPE_FIELDS] = {"paper", "what", "recipe", "note"};
    const char *recipe = strcmp(x->field[2], "-") == 0 ? "" : x->field[2], *note = x->field[3];
    if (!call->json) {
        printf("%s  %-13s %-11s %s%s%s\n", x->field[0], x->field[1], x->state, recipe,
               note[0] && recipe[0] ? ", " : "", note);
        return;
    }
    cli_json_open_flat(json, NULL, '{');
    for (int k = 0; k < RECIPE_FIELDS; k++)
        cli_json_text(json, keys[k], x->field[k]);
    cli_json_text(json, "state", x->state);
    cli_json_close(json, '}');
}

static void print_all(const cli_call *call, char *text)
{
    cli_json json = {.out = stdout};
    recipe_item x;
    int total = 0, missing = 0;
    if (call->json) {
        cli_json_open(&json, NULL, '{');
        cli_json_open(&json, "items", '[');
    }
    while (recipe_item_next(&text, &x)) {
        print_item(call, &json, &x);
        total++;
        missing += strcmp(x.state, "missing") == 0;
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
