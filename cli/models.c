/* models.c - taut models: the shipped models with their titles, or the description of
 * one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char papers[] = "[A] Ariel, Sanz-Serna, Tsai 2012; [B] Lubich 1993; [C] Ascher, Qin, "
                             "Reich 1992; [D] Gear, Kaper, Kevrekidis, Zagaris 2005; [E] Lubich, "
                             "Weiss. 'taut models NAME' describes a model.";

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

/* The comment at the head of a model, without its title, as paragraphs: a line "Try: ..." and an
 * empty one begin a new one. `text` is changed. */
static char *description(char *text)
{
    char *to = text, *line = text;
    for (int number = 0; *line == '#'; number++) {
        char *end = line + strcspn(line, "\n"), *from = line + 1 + strspn(line + 1, " \t");
        size_t length = from < end ? (size_t)(end - from) : 0;
        bool last = *end == '\0';
        if (number > 0) {
            if (to > text)
                *to++ = length == 0 || strncmp(from, "Try:", 4) == 0 ? '\n' : ' ';
            memmove(to, from, length);
            to += length;
        }
        if (last)
            break;
        line = end + 1;
    }
    *to = '\0';
    return text;
}

/* One model: title, description, path. */
static int describe(const cli_call *call, const cli_shipped *list, int k)
{
    cli_model model = {.path = list->path[k], .name = list->name[k]};
    taut_error error = {.t = NAN};
    int code = taut_system_load(model.path, NULL, &model.system, &error);
    const char *source = code == 0 ? taut_system_text(model.system, NULL) : NULL;
    char *text = source ? cli_format("%s", source) : NULL;
    int status = CLI_DONE;
    if (code != 0) {
        status = cli_fail(call, &error, code);
    } else if (!text) {
        status = cli_refuse(call, "out of memory");
    } else if (call->json) {
        cli_json json = {.out = stdout};
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "name", model.name);
        cli_json_text(&json, "title", taut_system_title(model.system));
        cli_json_text(&json, "description", description(text));
        cli_json_text(&json, "path", model.path);
        cli_json_close(&json, '}');
    } else {
        cli_model_title(stdout, &model);
        printf("\n");
        cli_wrap(stdout, description(text), 0, 0, CLI_WIDTH);
        printf("\nThe file is %s\n", model.path);
    }
    free(text);
    taut_system_destroy(model.system);
    return status;
}

static int describe_named(const cli_call *call, const cli_shipped *list)
{
    for (int k = 0; k < list->count; k++)
        if (strcmp(list->name[k], call->operand) == 0)
            return describe(call, list, k);
    const char *near = taut_near_miss(call->operand, (const char *const *)list->name, list->count);
    return cli_refuse(call, "unknown shipped model '%s'%s%s%s", call->operand,
                      near ? "; did you mean '" : "", near ? near : "",
                      near ? "'?" : " ('taut models' lists them)");
}

int cli_models(cli_call *call)
{
    cli_shipped list;
    if (!cli_shipped_list(call->program, &list))
        return cli_refuse(call, "out of memory");
    if (list.count == 0) {
        cli_shipped_release(&list);
        return cli_refuse(call, "no shipped models found; set TAUT_MODELS to their folder");
    }
    if (call->operand) {
        int status = describe_named(call, &list);
        cli_shipped_release(&list);
        return status;
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
