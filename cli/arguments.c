/* arguments.c - reads the command line against the options table: --name VALUE, --name=VALUE,
 * flags, letters, in any order. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static int misuse_of(const cli_call *call, const taut_error *error)
{
    char message[CLI_MESSAGE];
    cli_message(error, message, sizeof message);
    return cli_misuse(call, "%s", message);
}

static bool has_parameters(const cli_call *call)
{
    return cli_option_belongs(cli_option_find("set", call->verb->name), call->verb->name);
}

/* Reports an unknown option, with the nearest one of this verb. */
static int unknown_option(const cli_call *call, const char *given, const char *name)
{
    enum { MOST = 128 };
    const char *names[MOST];
    int count = 0;
    const taut_option *option;
    for (int k = 0; (option = cli_option_get(k)) != NULL && count < MOST; k++)
        if (cli_option_belongs(option, call->verb->name))
            names[count++] = option->name;
    if (cli_option_is_later(name))
        return cli_refuse(call, "--%s is unsupported", name);
    const char *near = taut_near_miss(name, names, count);
    if (near)
        return cli_misuse(call, "unknown option '%s'; did you mean '--%s'?", given, near);
    if (strncmp(given, "--", 2) == 0 && has_parameters(call))
        return cli_misuse(call,
                          "unknown option '%s' (a parameter of the model is set by --set %s=VALUE)",
                          given, name);
    FILE *file = fopen(given, "r"); /* a model with such a name */
    if (file)
        fclose(file);
    return file ? cli_misuse(call, "unknown option '%s'; the file is './%s'", given, given)
                : cli_misuse(call, "unknown option '%s'", given);
}

/* An option of other verbs. If it has a number, a parameter of the model may be meant. */
static int foreign_option(const cli_call *call, const taut_option *option)
{
    const char *name = option->name, *verb = call->verb->name;
    bool parameter = option->type == TAUT_OPTION_REAL && has_parameters(call);
    return cli_misuse(call, "--%s is not an option of 'taut %s', but of: %s%s%s%s", name, verb,
                      option->verbs, parameter ? " (a parameter of the model is set by --set " : "",
                      parameter ? name : "", parameter ? "=VALUE)" : "");
}

static bool append(const char ***list, int *count, const char *text)
{
    const char **larger = realloc(*list, ((size_t)*count + 1) * sizeof *larger);
    if (!larger)
        return false;
    larger[(*count)++] = text;
    *list = larger;
    return true;
}

/* Keeps what the program itself needs at hand. */
static int note_option(cli_call *call, const char *name, const char *value)
{
    struct {
        const char *name;
        bool *flag;
    } const flags[] = {{"json", &call->json},        {"quiet", &call->quiet},
                       {"verbose", &call->verbose},  {"help", &call->help},
                       {"version", &call->version},  {"man", &call->man},
                       {"names", &call->names},      {"options-page", &call->options_page},
                       {"strict", &call->strict},    {"zip", &call->zip},
                       {"progress", &call->progress}};
    for (size_t k = 0; k < sizeof flags / sizeof flags[0]; k++)
        if (strcmp(flags[k].name, name) == 0)
            *flags[k].flag = true;
    bool good = true;
    if (strcmp(name, "set") == 0)
        good = append(&call->set, &call->set_count, value);
    if (strcmp(name, "init") == 0)
        good = append(&call->init, &call->init_count, value);
    if (strcmp(name, "vary") == 0)
        good = append(&call->vary, &call->vary_count, value);
    if (strcmp(name, "keep") == 0)
        good = append(&call->keep, &call->keep_count, value);
    struct {
        const char *name;
        const char **text;
    } const texts[] = {{"completion", &call->completion},
                       {"text", &call->text},
                       {"methods", &call->methods},
                       {"motions", &call->motions},
                       {"steps", &call->steps},
                       {"tolerances", &call->tolerances},
                       {"tols", &call->tolerances},
                       {"random", &call->random},
                       {"seed", &call->seed},
                       {"jobs", &call->jobs}};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
        if (strcmp(texts[k].name, name) == 0)
            *texts[k].text = value;
    return good ? 0 : cli_refuse(call, "out of memory");
}

/* By place, not by name: the program has options of its own for verbs that mean something else
 * by a name. */
static bool in_library(const taut_option *option)
{
    int count;
    const taut_option *table = taut_option_table(&count);
    for (int k = 0; k < count; k++)
        if (option == &table[k])
            return true;
    return false;
}

/* Stores one option whose value is known ("yes" for flags). */
static int store(cli_call *call, const taut_option *option, const char *value)
{
    taut_error error;
    if (in_library(option)) {
        if (taut_options_set(call->options, option->name, value, &error) != 0)
            return misuse_of(call, &error);
    } else if (option->type == TAUT_OPTION_CHOICE) {
        char choice[64];
        bool found = false;
        for (int k = 0;
             !found && cli_option_choice(option, call->verb->name, k, choice, sizeof choice); k++)
            found = strcmp(choice, value) == 0;
        char note[256];
        cli_option_note(option, call->verb->name, note, sizeof note);
        if (!found)
            return cli_misuse(call, "--%s: found '%s', expected %s", option->name, value, note);
    }
    return note_option(call, option->name, value);
}

/* One option, arguments[0]; *used is the number of arguments read. */
static int read_option(cli_call *call, int count, char **arguments, int *used)
{
    const char *given = arguments[0];
    bool is_long = given[1] == '-';
    const char *text = given + (is_long ? 2 : 1);
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : strlen(text);
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1),
             text);
    const char *word = is_long ? NULL : cli_option_of_letter(name[0]);
    if (word)
        snprintf(name, sizeof name, "%s", word);
    const taut_option *option = is_long || word ? cli_option_find(name, call->verb->name) : NULL;
    if (word && option && option->type != TAUT_OPTION_FLAG && text[1] && !equals)
        equals = text; /* -j2 */
    else if (word && length > 1)
        option = NULL;
    if (!option)
        return unknown_option(call, given, name);
    if (!cli_option_belongs(option, call->verb->name))
        return foreign_option(call, option);
    *used = 1;
    bool flag = option->type == TAUT_OPTION_FLAG, file = flag && option->argument[0];
    if (flag && equals && !cli_option_optional(option)[0])
        return cli_misuse(call, "--%s has no value", name);
    if (file && !equals && count > 1 && cli_is_record(arguments[1])) {
        *used = 2; /* what follows can only be its file */
        return store(call, option, arguments[1]);
    }
    if (flag && !equals)
        return store(call, option, "yes");
    if (equals)
        return store(call, option, equals + 1);
    if (count < 2 || strncmp(arguments[1], "--", 2) == 0) {
        char usage[128];
        cli_option_usage(option, usage, sizeof usage);
        return cli_misuse(call, "--%s needs a value: %s", name, usage);
    }
    *used = 2;
    return store(call, option, arguments[1]);
}

int cli_arguments_read(cli_call *call, int count, char **arguments)
{
    taut_error error;
    call->arguments = arguments;
    call->argument_count = count;
    /* needed before the options are read: a wrong option is reported as an object too */
    for (int k = 0; k < count && strcmp(arguments[k], "--") != 0; k++)
        call->json |= strcmp(arguments[k], "--json") == 0;
    if (taut_options_create(NULL, &call->options, &error) != 0)
        return misuse_of(call, &error);
    bool only_operands = false;
    for (int k = 0; k < count;) {
        const char *argument = arguments[k];
        if (!only_operands && strcmp(argument, "--") == 0) {
            only_operands = true;
            k++;
        } else if (!only_operands && argument[0] == '-' && argument[1] != '\0') {
            int used = 1, status = read_option(call, count - k, arguments + k, &used);
            if (status != 0)
                return status;
            k += used;
        } else {
            if (call->verb->operand[0] == '\0')
                return cli_misuse(call, "unexpected '%s': taut %s accepts options only", argument,
                                  call->verb->name);
            if (call->operand && !strstr(call->verb->operand, ".."))
                return cli_misuse(call, "unexpected '%s' after '%s'", argument, call->operand);
            if (!append(&call->operands, &call->operand_count, argument))
                return cli_refuse(call, "out of memory");
            call->operand = call->operands[0];
            k++;
        }
    }
    return 0;
}

void cli_arguments_release(cli_call *call)
{
    taut_options_destroy(call->options);
    free(call->operands);
    free(call->set);
    free(call->init);
    free(call->vary);
    free(call->keep);
}
