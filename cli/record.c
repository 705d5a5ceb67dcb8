/* record.c - HDF5 files of runs: the texts that 'taut run' writes into them besides the rows, and
 * what the verbs read back from them: a model with its settings, an initial state. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint_file.h"
#include "cli.h"

/* What does not belong to the settings of a run: its files, and how it is shown; --start is a text
 * of its own. */
static const char *const no_settings[] = {
    "out",     "end",          "plot",  "checkpoint", "checkpoint-every", "resume", "start",
    "set",     "init",         "quiet", "view",       "verbose",          "json",   "help",
    "version", "allow-command"};

bool cli_is_record(const char *path)
{
    return cli_has_ending(path, ".h5") || cli_has_ending(path, ".hdf5");
}

static bool is_setting(const char *name)
{
    for (size_t k = 0; k < sizeof no_settings / sizeof no_settings[0]; k++)
        if (strcmp(no_settings[k], name) == 0)
            return false;
    return true;
}

/* ---- writing */

char *cli_take_text(FILE *file)
{
    size_t length;
    if (!file)
        return NULL;
    rewind(file);
    char *text = cli_read_file(file, &length);
    fclose(file);
    return text;
}

/* Quoted for a shell where that is needed. */
static void print_argument(FILE *out, const char *argument)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=.,/:@%";
    if (argument[0] && argument[strspn(argument, plain)] == '\0') {
        fprintf(out, " %s", argument);
        return;
    }
    fputs(" '", out);
    for (; *argument; argument++)
        fputs(*argument == '\'' ? "'\\''" : (char[]){*argument, '\0'}, out);
    fputc('\'', out);
}

char *cli_command(const cli_call *call)
{
    FILE *out = tmpfile();
    if (out)
        fprintf(out, "taut %s", call->verb->name);
    for (int k = 0; out && k < call->argument_count; k++)
        print_argument(out, call->arguments[k]);
    return cli_take_text(out);
}

/* The options that were given, "name = value" each on a line; those of [run] are in the model. */
static char *settings_text(const cli_call *call)
{
    FILE *out = tmpfile();
    const taut_option *option;
    for (int k = 0; out && (option = cli_option_get(k)) != NULL; k++)
        if (taut_options_given(call->options, option->name) && is_setting(option->name))
            fprintf(out, "%s = %s\n", option->name, taut_options_text(call->options, option->name));
    for (int k = 0; out && k < call->set_count; k++)
        fprintf(out, "set = %s\n", call->set[k]);
    for (int k = 0; out && k < call->init_count; k++)
        fprintf(out, "init = %s\n", call->init[k]);
    return cli_take_text(out);
}

/* Puts a text that was allocated; NULL: memory. */
static int put(taut_file_sink *file, const char *name, char *text, taut_error *error)
{
    if (!text)
        return error->code = TAUT_ERROR_MEMORY;
    int code = taut_file_sink_text(file, name, text, error);
    free(text);
    return code;
}

/* The names of the tables, one on a line, and their texts. */
static int put_tables(const cli_call *call, const cli_model *model, taut_file_sink *file,
                      taut_error *error)
{
    const char *table;
    char name[32], *names = cli_format("%s", "");
    int code = 0;
    for (taut_index k = 0; code == 0 && (table = taut_system_table(model->system, k)); k++) {
        size_t length;
        char *longer = names ? cli_format("%s%s\n", names, table) : NULL;
        free(names);
        names = longer;
        snprintf(name, sizeof name, "table%d", (int)k + 1);
        code = put(file, name, cli_model_table(call, model, table, &length), error);
    }
    if (code == 0 && names && names[0])
        return put(file, "tables", names, error);
    free(names);
    return code;
}

int cli_record_summary(taut_file_sink *file, const cli_outcome *outcome, taut_error *error)
{
    enum {
        LARGE = 1000
    }; /* the text of a large state takes more memory than the run: rows have it */
    FILE *out = tmpfile();
    taut_sizes sizes = {.size = sizeof sizes};
    cli_outcome kept = *outcome;
    kept.stateless = taut_system_sizes_get(kept.model->system, &sizes, NULL) == 0 &&
                     sizes.coordinates + sizes.bonds > LARGE;
    if (out)
        cli_summary_json(out, &kept);
    return put(file, "summary", cli_take_text(out), error);
}

int cli_record_begin(const cli_call *call, const cli_model *model, const taut_solver *solver,
                     taut_file_sink *file, taut_error *error)
{
    cli_outcome nothing = {.model = model, .solver = solver, .unfinished = true};
    int code = taut_file_sink_text(file, "name", model->name, error);
    if (code == 0)
        code = put(file, "command", cli_command(call), error);
    if (code == 0)
        code = put(file, "settings", settings_text(call), error);
    if (code == 0 && model->start_text)
        code = taut_file_sink_text(file, "start", model->start_text, error);
    if (code == 0)
        code = put_tables(call, model, file, error);
    return code == 0 ? cli_record_summary(file, &nothing, error) : code;
}

/* ---- a model from a file */

int cli_record_open(const cli_call *call, const char *option, const char *path,
                    taut_record **record)
{
    taut_error error = {.t = NAN};
    const char *why;
    FILE *file = cli_open_file(path, &why); /* HDF5 would wait for a pipe */
    if (!file)
        snprintf(error.message, sizeof error.message, "cannot read %.300s: %s", path, why);
    else
        fclose(file);
    if (file && taut_record_open(path, NULL, record, &error) == 0)
        return 0;
    return option ? cli_refuse(call, "--%s: %s", option, error.message)
                  : cli_refuse(call, "%s", error.message);
}

/* Parameters and initial values of the file stand before those of the command line. */
static bool prepend(const char ***list, int *count, const char *text, int place)
{
    const char **larger = realloc(*list, ((size_t)*count + 1) * sizeof *larger);
    if (!larger)
        return false;
    memmove(larger + place + 1, larger + place, (size_t)(*count - place) * sizeof *larger);
    larger[place] = text;
    (*count)++;
    *list = larger;
    return true;
}

/* One line of the settings. Of verbs other than `run` only the model's own. */
static int apply(cli_call *call, const char *name, const char *value, int place[2])
{
    taut_error error = {.t = NAN};
    bool run = strcmp(call->verb->name, "run") == 0, good = true;
    if (strcmp(name, "set") == 0)
        good = prepend(&call->set, &call->set_count, value, place[0]++);
    else if (strcmp(name, "init") == 0)
        good = prepend(&call->init, &call->init_count, value, place[1]++);
    else if ((run || strcmp(name, "from") == 0) && is_setting(name) &&
             !taut_options_given(call->options, name) &&
             taut_options_set(call->options, name, value, &error) != 0)
        return cli_refuse(call, "%s: its settings: %s", call->operand, error.message);
    return good ? 0 : cli_refuse(call, "out of memory");
}

/* One "name = value" after the other, each handed to `take`. */
static int each_setting(cli_call *call, const taut_record *record, char **settings,
                        int (*take)(cli_call *call, const char *name, const char *value,
                                    int place[2]))
{
    const char *text = taut_record_text(record, "settings");
    int status = 0, place[2] = {0, 0};
    *settings = cli_format("%s", text ? text : "");
    for (char *line = *settings, *next; status == 0 && line && *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = '\0';
        char *equals = strstr(line, " = ");
        if (!equals)
            continue;
        *equals = '\0';
        status = take(call, line, equals + 3, place);
    }
    return *settings ? status : cli_refuse(call, "out of memory");
}

static int apply_parameter(cli_call *call, const char *name, const char *value, int place[2])
{
    return strcmp(name, "set") == 0 ? apply(call, name, value, place) : 0;
}

int cli_record_parameters(cli_call *call, const taut_record *record, char **settings)
{
    return each_setting(call, record, settings, apply_parameter);
}

int cli_record_settings(cli_call *call, cli_model *model)
{
    if (!taut_record_text(model->record, "model"))
        return cli_refuse(call, "%s: it has rows, but not the model that they belong to",
                          call->operand);
    if (cli_option_text(call, "checkpoint"))
        return cli_refuse(call,
                          "--checkpoint: a run that is repeated from a file cannot be saved; "
                          "'taut show %s --text model' prints the model",
                          call->operand);
    return each_setting(call, model->record, &model->settings, apply);
}

/* Line k of the names of tables, and its length; NULL: there are not so many. */
static const char *table_name(const taut_record *record, int k, size_t *length)
{
    const char *line = taut_record_text(record, "tables");
    for (; line && *line && k > 0; k--) {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    *length = line ? strcspn(line, "\n") : 0;
    return *length > 0 ? line : NULL;
}

static const char *table_text(const taut_record *record, int k)
{
    char name[32];
    snprintf(name, sizeof name, "table%d", k + 1);
    return taut_record_text(record, name);
}

const char *cli_record_table(const taut_record *record, const char *name)
{
    const char *line;
    size_t length;
    for (int k = 0; (line = table_name(record, k, &length)); k++)
        if (strlen(name) == length && strncmp(line, name, length) == 0)
            return table_text(record, k);
    return NULL;
}

int cli_record_load(const cli_model *model, taut_load *how, taut_system **system, taut_error *error)
{
    const char *text = taut_record_text(model->record, "model"), *line, *table;
    size_t length;
    int count = 0, code = 0;
    while (table_name(model->record, count, &length))
        count++;
    taut_table_text *tables = calloc((size_t)count + 1, sizeof *tables);
    char **names = calloc((size_t)count + 1, sizeof *names);
    for (int k = 0; tables && names && k < count; k++) {
        line = table_name(model->record, k, &length);
        table = table_text(model->record, k);
        names[k] = cli_format("%.*s", (int)length, line);
        if (names[k] && table)
            tables[how->table_count++] = (taut_table_text){names[k], table, strlen(table)};
    }
    how->tables = tables;
    if (how->table_count == count && tables && names)
        code = taut_system_parse(text, strlen(text), model->path, how, system, error);
    else
        code = error->code = TAUT_ERROR_MEMORY;
    for (int k = 0; names && k < count; k++)
        free(names[k]);
    free(names);
    free(tables);
    how->tables = NULL; /* a sweep that reads the model again needs the files */
    how->table_count = 0;
    return code;
}

/* ---- an initial state from a file */

bool cli_record_place(const char *text, char **path, double *t)
{
    const char *at = strrchr(text, '@');
    char *end;
    *t = NAN;
    *path = NULL;
    if (cli_is_record(text)) {
        *path = cli_format("%s", text);
    } else if (at) {
        *path = cli_format("%.*s", (int)(at - text), text);
        *t = strtod(at + 1, &end);
        if (*path && (!cli_is_record(*path) || end == at + 1 || *end || !isfinite(*t))) {
            free(*path);
            *path = NULL;
        }
    }
    return *path != NULL;
}

static void print_values(FILE *out, const taut_record *record, taut_item item, const double *value,
                         taut_index count, const char *prime)
{
    for (taut_index k = 0; out && k < count; k++)
        fprintf(out, "%s%s = %.17g\n", taut_record_name(record, item, k), prime, value[k]);
}

char *cli_record_state(const cli_call *call, taut_record *record, const char *path, double *t)
{
    taut_error error = {.t = NAN};
    taut_memory_rows rows = {.size = sizeof rows};
    int64_t count, row = taut_record_find(record, *t);
    taut_sizes z = {.size = sizeof z};
    taut_record_sizes_get(record, &z, &count, NULL);
    if (count == 0) {
        cli_refuse(call, "--start: %s has no rows", path);
        return NULL;
    }
    int code = taut_record_rows_get(record, row < 0 ? 0 : row, row < 0 ? count : 1, &rows, &error);
    if (code != 0 || row < 0) {
        if (code != 0)
            cli_refuse(call, "--start: %s", error.message);
        else
            cli_refuse(call, "--start %s@%.9g: its rows are from t = %.9g to %.9g", path, *t,
                       rows.t[0], rows.t[count - 1]);
        return NULL;
    }
    if (!call->quiet && isfinite(*t) && fabs(rows.t[0] - *t) > 1e-12 * (1 + fabs(*t)))
        cli_warning("--start %s@%.9g: the nearest row, at t = %.9g, is the initial state", path, *t,
                    rows.t[0]);
    *t = rows.t[0];
    bool mechanical = z.kind == TAUT_MECHANICAL;
    FILE *out = tmpfile();
    print_values(out, record, TAUT_COORDINATE, rows.q, rows.coordinates, "");
    print_values(out, record, mechanical ? TAUT_COORDINATE : TAUT_ALGEBRAIC, rows.v,
                 rows.velocities, mechanical ? "'" : "");
    char *text = cli_take_text(out);
    if (!text)
        cli_refuse(call, "--start: out of memory");
    return text;
}

/* Names of one kind, in any order. */
static int compare_names(const cli_call *call, const char *option, const taut_record *record,
                         const taut_system *system, taut_item item, taut_index count)
{
    const char *file = taut_options_text(call->options, option), *name;
    char missing[256];
    bool *there = calloc((size_t)count + 1, sizeof *there);
    int status = there ? 0 : cli_refuse(call, "out of memory");
    for (taut_index k = 0; status == 0 && (name = taut_record_name(record, item, k)); k++) {
        taut_index place = taut_system_find(system, item, name);
        if (place < 0)
            status = cli_refuse(call,
                                "--%s %s: it belongs to another model: it has '%s', which "
                                "this model does not have",
                                option, file, name);
        else
            there[place] = true;
    }
    for (taut_index k = 0; status == 0 && k < count; k++)
        if (!there[k]) {
            taut_system_name(system, item, k, missing, sizeof missing);
            status = cli_refuse(call,
                                "--%s %s: it belongs to another model: it does not have "
                                "'%s' of this model",
                                option, file, missing);
        }
    free(there);
    return status;
}

int cli_record_fits(const cli_call *call, const char *option, const taut_record *record,
                    const taut_system *system)
{
    taut_sizes z = {.size = sizeof z};
    taut_system_sizes_get(system, &z, NULL);
    int status = compare_names(call, option, record, system, TAUT_COORDINATE, z.coordinates);
    return status != 0 ? status
                       : compare_names(call, option, record, system, TAUT_ALGEBRAIC, z.algebraic);
}

/* ---- what else a file has */

void cli_record_word(const taut_record *record, const char *name, char *word, size_t size)
{
    const char *summary = taut_record_text(record, "summary"), *found = NULL;
    char *key = cli_format("\"%s\": \"", name);
    if (summary && key && (found = strstr(summary, key)))
        found += strlen(key);
    snprintf(word, size, "%.*s", found ? (int)strcspn(found, "\"") : 0, found ? found : "");
    free(key);
}

int cli_record_replay(taut_record *record, const taut_system *system, const taut_sink *sink,
                      taut_error *error)
{
    enum { PIECE = 1000 };
    taut_memory_rows r = {.size = sizeof r};
    taut_sizes z = {.size = sizeof z};
    int64_t count = 0, room;
    taut_record_sizes_get(record, &z, &count, NULL);
    int code = sink->begin ? sink->begin(sink->user, system, error) : 0;
    for (int64_t first = 0; code == 0 && first < count; first += PIECE) {
        room = count - first < PIECE ? count - first : PIECE;
        code = taut_record_rows_get(record, first, room, &r, error);
        for (int64_t i = 0; code == 0 && i < room && !cli_interrupted(); i++) {
            taut_row row = {.t = r.t[i],
                            .q = r.q + i * r.coordinates,
                            .v = r.v + i * r.velocities,
                            .lambda = r.lambda + i * r.multipliers,
                            .outputs = r.output + i * r.outputs,
                            .drift_position = r.drift[2 * i],
                            .drift_velocity = r.drift[2 * i + 1],
                            .energy = r.energy[i],
                            .event = (taut_index)r.event[i]};
            code = sink->row(sink->user, &row, error);
        }
    }
    if (code == 0 && sink->end)
        code = sink->end(sink->user, error);
    return code == 0 && cli_interrupted() ? TAUT_INTERRUPTED : code;
}
