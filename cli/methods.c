/* methods.c - taut methods: the tables of methods and projections, as text and as JSON. */
#include <string.h>

#include "cli.h"

static void print_words(const char *text)
{
    if (!text || !text[0])
        return;
    printf("    ");
    cli_wrap(stdout, text, 4, 4, CLI_WIDTH);
}

int cli_methods_print(const char *only)
{
    int count = 0;
    taut_method_info info = {.size = sizeof info};
    for (int k = 0; taut_method_get(k, &info, NULL) == 0; k++) {
        if (only && strcmp(info.name, only) != 0)
            continue;
        printf("%s%s  (motion %s, order %d)\n", count++ ? "\n" : "", info.name, info.motions,
               info.order);
        print_words(info.summary);
        print_words(info.reference);
    }
    taut_projection_info projection = {.size = sizeof projection};
    for (int k = 0; taut_projection_get(k, &projection, NULL) == 0; k++) {
        if (only && strcmp(projection.name, only) != 0)
            continue;
        printf("%s%s  (projection)\n", count++ ? "\n" : "", projection.name);
        print_words(projection.summary);
        print_words(projection.reference);
    }
    return count;
}

int cli_methods(cli_call *call)
{
    if (!call->json) {
        cli_methods_print(NULL);
        return CLI_DONE;
    }
    cli_json json = {.out = stdout};
    taut_method_info info = {.size = sizeof info};
    cli_json_open(&json, NULL, '{');
    cli_json_open(&json, "methods", '[');
    for (int k = 0; taut_method_get(k, &info, NULL) == 0; k++) {
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "name", info.name);
        cli_json_text(&json, "motions", info.motions);
        cli_json_integer(&json, "order", info.order);
        cli_json_text(&json, "summary", info.summary);
        cli_json_text(&json, "reference", info.reference);
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
    cli_json_open(&json, "projections", '[');
    taut_projection_info projection = {.size = sizeof projection};
    for (int k = 0; taut_projection_get(k, &projection, NULL) == 0; k++) {
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "name", projection.name);
        cli_json_text(&json, "summary", projection.summary);
        cli_json_text(&json, "reference", projection.reference);
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
    cli_json_close(&json, '}');
    return CLI_DONE;
}
