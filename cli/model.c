/* model.c - from the argument MODEL to a system: a file, standard input, or a shipped name. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "checkpoint_file.h"
#include "cli.h"

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

/* File name without folder and ending, as it can be shown; allocated. */
static char *bare_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    if (cli_has_ending(name, ".taut"))
        length -= strlen(".taut");
    char *bare = cli_format("%.*s", (int)length, name), *shown = NULL;
    if (bare && (shown = malloc(4 * length + 1)))
        taut_visible(bare, shown, 4 * length + 1);
    free(bare);
    return shown;
}

/* Neither a file nor a shipped name: suggests the nearest name among the files of the folder and
 * the shipped models. */
static int not_found(const cli_call *call, const cli_shipped *shipped)
{
    const char *given = call->operand, *slash = strrchr(given, '/');
    cli_shipped there = {0};
    char *wanted = bare_name(given);
    char *folder = slash ? cli_format("%.*s", (int)(slash - given + 1), given) : cli_format("./");
    if (!wanted || !folder || !cli_shipped_folder(folder, &there)) {
        free(wanted);
        free(folder);
        cli_shipped_release(&there);
        return cli_refuse(call, "out of memory");
    }
    const char *file = taut_near_miss(wanted, (const char *const *)there.name, there.count);
    const char *name =
        slash ? NULL : taut_near_miss(wanted, (const char *const *)shipped->name, shipped->count);
    char *hint = NULL;
    if (file && (!name || strcmp(file, wanted) == 0))
        hint = cli_format("; did you mean '%s%s.taut'?", slash ? folder : "", file);
    else if (name)
        hint = cli_format("; did you mean '%s'?", name);
    else if (!slash)
        hint = cli_format(shipped->count > 0
                              ? " ('taut models' lists those)"
                              : "; no shipped models were found: set TAUT_MODELS to their folder");
    int status =
        cli_refuse(call, "%s'%s'%s%s", slash ? "no such file: " : "", given,
                   slash ? "" : " is neither a file nor a shipped model", hint ? hint : "");
    free(hint);
    free(wanted);
    free(folder);
    cli_shipped_release(&there);
    return status;
}

/* Fills model->path. */
static int find_model(const cli_call *call, cli_model *model)
{
    if (call->saved) {
        model->path = cli_format("%s", cli_saved_part(call->saved, "path").bytes);
        return model->path ? 0 : cli_refuse(call, "out of memory");
    }
    if (!call->operand)
        return cli_misuse(
            call,
            "no model: give a file, - for standard input, or a name that 'taut models' lists");
    if (strcmp(call->operand, "-") == 0)
        model->path = cli_format("<stdin>");
    else if (is_file(call->operand))
        model->path = cli_format("%s", call->operand);
    if (model->path)
        return 0;
    cli_shipped shipped;
    if (!cli_shipped_list(call->program, &shipped))
        return cli_refuse(call, "out of memory");
    for (int k = 0; k < shipped.count && !strchr(call->operand, '/'); k++)
        if (strcmp(shipped.name[k], call->operand) == 0)
            model->path = cli_format("%s", shipped.path[k]);
    int status =
        model->path ? 0
        : is_folder(call->operand)
            ? cli_refuse(
                  call,
                  "'%s' is a folder, expected a model file ('taut models' lists the shipped ones)",
                  call->operand)
            : not_found(call, &shipped);
    cli_shipped_release(&shipped);
    return status;
}

/* A row of a run that is in a file, and its time, unless --from is given. */
static int read_state(const cli_call *call, cli_model *model, char *file, double t)
{
    char number[40];
    taut_error error = {.t = NAN};
    int status = cli_record_open(call, "start", file, &model->start);
    if (status == 0)
        model->start_text = cli_record_state(call, model->start, file, &t);
    free(file);
    if (status != 0 || !model->start_text)
        return CLI_MISUSED;
    snprintf(number, sizeof number, "%.17g", t);
    if (!taut_options_given(call->options, "from") &&
        taut_options_set(call->options, "from", number, &error) != 0)
        return cli_refuse(call, "--start: %s", error.message);
    return 0;
}

/* The file of --start: statements of a [start] section, with or without its header. The header
 * becomes an empty line, so that line numbers in messages stay those of the file. */
static int read_start(const cli_call *call, cli_model *model)
{
    const char *again = taut_record_text(model->record, "start");
    if (!taut_options_given(call->options, "start")) {
        model->start_text = again ? cli_format("%s", again) : NULL;
        return again && !model->start_text ? cli_refuse(call, "out of memory") : 0;
    }
    if (call->saved) {
        const char *text = cli_saved_part(call->saved, "start").bytes;
        model->start_text = text ? cli_format("%s", text) : NULL;
        return model->start_text ? 0 : cli_refuse(call, "--resume: it has no initial values");
    }
    const char *path = taut_options_text(call->options, "start");
    char *file;
    double t;
    if (cli_record_place(path, &file, &t))
        return read_state(call, model, file, t);
    bool here = strcmp(path, "-") == 0;
    if (here && call->operand && strcmp(call->operand, "-") == 0)
        return cli_refuse(
            call, "--start -: standard input is the model; give the file of the initial state");
    enum { LARGEST = 64 << 20 };
    size_t length = 0;
    const char *why = NULL;
    model->start_text =
        here ? cli_read_file(stdin, &length) : cli_read_path(path, LARGEST, &length, &why);
    if (!model->start_text)
        return cli_refuse(call, "--start: cannot read '%s': %s", path,
                          here ? strerror(errno) : why);
    if (strlen(model->start_text) != length)
        return cli_refuse(call, "--start: '%s' is not a text file", path);
    for (char *line = model->start_text; *line;) {
        char *end = line + strcspn(line, "\n");
        char *word = line + strspn(line, " \t\r\n");
        if (word >= end || *word == '#') { /* empty or comment: look further */
            line = *end ? end + 1 : end;
            continue;
        }
        if (strncmp(word, "[start]", 7) == 0)
            memset(word, ' ', 7);
        break;
    }
    return 0;
}

/* From a checkpoint: the tables are in it too. */
static int load_saved(const cli_saved *saved, cli_model *model, taut_error *error)
{
    taut_load *how = &model->how;
    cli_part text = cli_saved_part(saved, "model");
    model->tables = calloc((size_t)saved->parts + 1, sizeof *model->tables);
    if (!model->tables)
        return error->code = TAUT_ERROR_MEMORY;
    for (int k = 0; k < saved->parts; k++)
        if (strncmp(saved->part[k].name, "table ", 6) == 0)
            model->tables[how->table_count++] = (taut_table_text){
                saved->part[k].name + 6, saved->part[k].bytes, saved->part[k].length};
    how->tables = model->tables;
    return taut_system_parse(text.bytes, text.length, model->path, how, &model->system, error);
}

char *cli_model_table(const cli_call *call, const cli_model *model, const char *name,
                      size_t *length)
{
    const char *path = model->path, *slash = strrchr(path, '/'), *why;
    char *part = cli_format("table %s", name), *file = NULL, *text = NULL;
    cli_part saved = call->saved && part ? cli_saved_part(call->saved, part) : (cli_part){0};
    const char *known = saved.bytes;
    *length = saved.length;
    if (model->record && (known = cli_record_table(model->record, name)))
        *length = strlen(known);
    if (known) {
        if ((text = malloc(*length + 1)))
            memcpy(text, known, *length + 1);
    } else if ((file = slash ? cli_format("%.*s/%s", (int)(slash - path), path, name)
                             : cli_format("%s", name))) {
        text = cli_read_path(file, SIZE_MAX - 1, length, &why);
    }
    free(file);
    free(part);
    return text;
}

static int load(const cli_call *call, cli_model *model, taut_error *error)
{
    double from = taut_options_real(call->options, "from");
    taut_load *how = &model->how;
    *how = (taut_load){.size = sizeof *how,
                       .set = call->set,
                       .set_count = call->set_count,
                       .init = call->init,
                       .init_count = call->init_count};
    how->from = isnan(from) ? 0 : from;
    how->start_text = model->start_text;
    /* such files may come from others: what they contain must not start programs */
    how->allow_command =
        !call->saved && !model->record && taut_options_flag(call->options, "allow-command");
    how->space = call->verb->act == cli_sweep ? NULL : cli_ranks(); /* whole runs */
    how->compile = taut_options_flag(call->options, "compile");
    if (call->saved)
        return load_saved(call->saved, model, error);
    if (model->record)
        return cli_record_load(model, how, &model->system, error);
    if (strcmp(model->path, "<stdin>") != 0 || strcmp(call->operand, "-") != 0)
        return taut_system_load(model->path, how, &model->system, error);
    size_t length = 0;
    model->text = cli_read_file(stdin, &length);
    if (!model->text) {
        error->code = TAUT_ERROR_FILE;
        snprintf(error->message, sizeof error->message, "cannot read standard input: %s",
                 strerror(errno));
        return TAUT_ERROR_FILE;
    }
    how->table_folder = ".";
    return taut_system_parse(model->text, length, model->path, how, &model->system, error);
}

int cli_model_load(cli_call *call, cli_model *model)
{
    *model = (cli_model){0};
    int status = find_model(call, model);
    if (status == 0 && !call->saved && cli_is_record(model->path)) {
        status = cli_record_open(call, NULL, model->path, &model->record);
        status = status != 0 ? status : cli_record_settings(call, model);
    }
    if (status == 0)
        status = read_start(call, model);
    if (status != 0)
        return status;
    const char *name = taut_record_text(model->record, "name");
    model->name = name ? cli_format("%s", name) : bare_name(model->path);
    if (!model->name)
        return cli_refuse(call, "out of memory");
    taut_error error = {.t = NAN};
    int code = load(call, model, &error);
    if (model->start && code != 0 && strcmp(error.file, "<start>") == 0) {
        /* without it, to name the difference */
        free(model->start_text);
        model->start_text = NULL;
        code = load(call, model, &error);
    }
    if (code == 0 && model->start)
        status = cli_record_fits(call, "start", model->start, model->system);
    if (status != 0)
        return status;
    if (code != 0) {
        bool set = strcmp(error.file, "<set>") == 0;
        /* the library names the sources of statements, the program its options */
        if (model->start_text && strcmp(error.file, "<start>") == 0)
            snprintf(error.file, sizeof error.file, "%s",
                     taut_options_text(call->options, "start"));
        else if (set || strcmp(error.file, "<init>") == 0)
            snprintf(error.file, sizeof error.file, set ? "--set" : "--init");
        int failed = cli_fail(call, &error, code);
        if (set && strcmp(call->operand, "-") != 0)
            fprintf(stderr, "'taut check %s' lists the parameters\n", call->operand);
        return failed;
    }
    status = cli_output_spare(call, model);
    if (status == 0)
        status = cli_memory_check(call, model);
    if (status != 0)
        return status;
    for (taut_index k = 0; !call->quiet && taut_system_warning(model->system, k); k++)
        cli_say_warning(taut_system_warning(model->system, k),
                        taut_system_text(model->system, NULL));
    return 0;
}

void cli_model_title(FILE *out, const cli_model *model)
{
    const char *title = taut_system_title(model->system);
    int column = fprintf(out, title[0] ? "%s: " : "%s", model->name);
    cli_wrap(out, title, 2, column, CLI_WIDTH);
}

void cli_model_release(cli_model *model)
{
    taut_system_destroy(model->system);
    free(model->path);
    free(model->name);
    free(model->text);
    free(model->start_text);
    free(model->tables);
    free(model->settings);
    taut_record_destroy(model->record);
    taut_record_destroy(model->start);
}
