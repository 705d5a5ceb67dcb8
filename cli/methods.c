/* methods.c - taut methods: the tables of methods and projections, for people and as JSON. */
#include "cli.h"

static void print_human(void)
{
    taut_method_info info;
    for (int k = 0; taut_method_get(k, &info); k++) {
        printf("%s%s  (motion %s, order %d)\n", k ? "\n" : "", info.name, info.motions, info.order);
        printf("    ");
        cli_wrap(stdout, info.summary, 4, 4, CLI_WIDTH);
        if (info.reference && info.reference[0]) {
            printf("    ");
            cli_wrap(stdout, info.reference, 4, 4, CLI_WIDTH);
        }
    }
    taut_projection_info projection;
    for (int k = 0; taut_projection_get(k, &projection); k++) {
        printf("\n%s  (projection)\n    ", projection.name);
        cli_wrap(stdout, projection.summary, 4, 4, CLI_WIDTH);
        printf("    ");
        cli_wrap(stdout, projection.reference, 4, 4, CLI_WIDTH);
    }
}

int cli_methods(cli_call *call)
{
    if (!call->json) {
        print_human();
        return CLI_DONE;
    }
    cli_json json = {.out = stdout};
    taut_method_info info;
    cli_json_open(&json, NULL, '{');
    cli_json_open(&json, "methods", '[');
    for (int k = 0; taut_method_get(k, &info); k++) {
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
    taut_projection_info projection;
    for (int k = 0; taut_projection_get(k, &projection); k++) {
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
