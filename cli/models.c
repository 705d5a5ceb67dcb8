/* models.c - taut models: the shipped models with their titles. */
#include <math.h>
#include <string.h>

#include "cli.h"

static const char papers[] =
    "[A] Ariel, Sanz-Serna, Tsai 2012; [B] Lubich 1993; [C] Ascher, Qin, Reich 1992; [D] Gear, Kaper, Kevrekidis, "
    "Zagaris 2005; [E] Lubich, Weiss. 'taut check NAME' tells more about a model.";

/* Loads one model for its title; a model that cannot be read is reported and makes the status 2. */
static int show(const char *name, const char *path, int width, cli_json *json)
{
    taut_system *system = NULL;
    taut_error error = {.t = NAN};
    int code = taut_system_load(path, NULL, &system, &error);
    if (code != 0)
        cli_say_failure(&error);
    const char *title = system ? taut_system_title(system) : "(cannot be read)";
    if (json) {
        cli_json_open_flat(json, NULL, '{');
        cli_json_text(json, "name", name);
        cli_json_text(json, "title", system ? title : NULL);
        cli_json_text(json, "path", path);
        cli_json_close(json, '}');
    } else {
        printf("%-*s  ", width, name);
        cli_wrap(stdout, title, width + 2, width + 2, CLI_WIDTH);
    }
    taut_system_destroy(system);
    return code == 0 ? CLI_DONE : CLI_MISUSED;
}

int cli_models(cli_call *call)
{
    cli_shipped list;
    if (!cli_shipped_list(call->program, &list))
        return cli_refuse(call, "out of memory");
    if (list.count == 0) {
        cli_shipped_release(&list);
        return cli_refuse(call, "no shipped models found; set TAUT_MODELS to the folder that holds them");
    }
    int width = 0, status = CLI_DONE;
    for (int k = 0; k < list.count; k++)
        width = (int)strlen(list.name[k]) > width ? (int)strlen(list.name[k]) : width;
    cli_json json = {.out = stdout};
    if (call->json) {
        cli_json_open(&json, NULL, '{');
        cli_json_open(&json, "models", '[');
    }
    for (int k = 0; k < list.count; k++) {
        int one = CLI_DONE;
        if (call->names && !call->json)
            printf("%s\n", list.name[k]);
        else
            one = show(list.name[k], list.path[k], width, call->json ? &json : NULL);
        status = one != CLI_DONE ? one : status;
    }
    if (call->json) {
        cli_json_close(&json, ']');
        cli_json_close(&json, '}');
    } else if (!call->names) {
        printf("\n");
        cli_wrap(stdout, papers, 0, 0, CLI_WIDTH);
    }
    cli_shipped_release(&list);
    return status;
}
