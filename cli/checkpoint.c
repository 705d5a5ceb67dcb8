/* checkpoint.c - taut run --checkpoint and --resume, taut sweep --resume. The file holds all that
 * the run was made from, the model's text, its tables, the initial values and the arguments, so
 * that files which were changed since do not matter; then where the rows end, and what the solver
 * remembers (of sweeps the rows are enough). */
#define _XOPEN_SOURCE 700
#include "checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "windows.h"

enum { FOLDER = 4096 };

/* ---- writing */

int cli_checkpoint_check(const cli_call *call, const char *path, const char *out)
{
    struct stat status;
    if (!path)
        return taut_options_given(call->options, "checkpoint-every")
                   ? cli_refuse(call, "--checkpoint-every has no effect without --checkpoint FILE")
                   : 0;
    if (strcmp(path, "-") == 0)
        return cli_refuse(call, "--checkpoint -: a checkpoint is replaced by the next one, which "
                                "standard output cannot do; give it a file");
    if (out && strcmp(out, "-") == 0)
        return cli_refuse(call, "--checkpoint needs --out FILE: rows on standard output cannot be "
                                "continued");
    if (out && stat(out, &status) == 0 && !S_ISREG(status.st_mode))
        return cli_refuse(call,
                          "--checkpoint: %s is not a regular file, rows in it cannot be "
                          "continued",
                          out);
    return cli_output_check(call, "checkpoint", path);
}

/* A new run replaces the checkpoint of an old one, and never another file. */
int cli_checkpoint_begin(const cli_call *call, const char *path)
{
    static const char head[] = "taut checkpoint ";
    char found[sizeof head] = "";
    const char *why;
    struct stat status;
    if (!path || !cli_ranks_first() || stat(path, &status) != 0)
        return 0;
    FILE *file = cli_open_file(path, &why);
    if (!file)
        return cli_refuse(call, "--checkpoint %s: %s", path, why);
    size_t size = fread(found, 1, sizeof head - 1, file);
    fclose(file);
    if (size > 0 && strcmp(found, head) != 0)
        return cli_refuse(call, "--checkpoint %s: this file exists and is not a checkpoint", path);
    remove(path);
    return 0;
}

static int keep_bytes(void *user, const void *bytes, size_t count)
{
    cli_checkpoint *c = user;
    if (count > c->room - c->count) {
        size_t room = 2 * (c->count + count);
        char *larger = realloc(c->bytes, room);
        if (!larger)
            return 1;
        c->bytes = larger;
        c->room = room;
    }
    memcpy(c->bytes + c->count, bytes, count);
    c->count += count;
    return 0;
}

/* All arguments, each with a zero byte. */
static void put_arguments(cli_saving *to, cli_checkpoint *c)
{
    c->count = 0;
    for (int k = 0; k < c->call->argument_count && to->reason == 0; k++)
        if (keep_bytes(c, c->call->arguments[k], strlen(c->call->arguments[k]) + 1) != 0)
            to->reason = ENOMEM;
    cli_saving_part(to, "arguments", c->bytes, c->count);
}

/* Tables as the model has read them; after a resumption those of the checkpoint. */
static void put_tables(cli_saving *to, const cli_checkpoint *c)
{
    const char *name;
    for (taut_index k = 0; (name = taut_system_table(c->model->system, k)) && to->reason == 0;
         k++) {
        size_t length = 0;
        errno = 0;
        char *part = cli_format("table %s", name),
             *text = cli_model_table(c->call, c->model, name, &length);
        if (text && part)
            cli_saving_part(to, part, text, length);
        else
            to->reason = errno ? errno : ENOMEM;
        free(text);
        free(part);
    }
}

static void put_model(cli_saving *to, cli_checkpoint *c)
{
    char folder[FOLDER];
    size_t length = 0;
    const char *text = taut_system_text(c->model->system, &length);
    cli_saving_part(to, "version", taut_version(), strlen(taut_version()));
    if (!getcwd(folder, sizeof folder))
        to->reason = to->reason ? to->reason : errno;
    else
        cli_saving_part(to, "folder", folder, strlen(folder));
    put_arguments(to, c);
    cli_saving_part(to, "path", c->model->path, strlen(c->model->path));
    cli_saving_part(to, "model", text, length);
    if (c->model->start_text)
        cli_saving_part(to, "start", c->model->start_text, strlen(c->model->start_text));
    put_tables(to, c);
}

/* Where output k is: a line of numbers, then what it needs besides its file. */
static int put_output(cli_saving *to, cli_checkpoint *c, int k, taut_error *error)
{
    taut_file_mark mark = {.size = sizeof mark, .rows = -1};
    char name[32], line[64];
    int code = taut_file_sink_mark(c->file[k], &mark, error);
    if (code != 0)
        return code; /* rows cannot be written */
    int size = snprintf(line, sizeof line, "%" PRId64 " %" PRId64 "\n", mark.rows, mark.bytes);
    c->count = 0;
    if (keep_bytes(c, line, (size_t)size) != 0 ||
        (mark.memory_bytes > 0 && keep_bytes(c, mark.memory, mark.memory_bytes) != 0))
        to->reason = to->reason ? to->reason : ENOMEM;
    snprintf(name, sizeof name, "output %d", k);
    cli_saving_part(to, name, c->bytes, c->count);
    return 0;
}

static int put_bytes(void *user, const void *bytes, size_t count)
{
    const cli_checkpoint *c = user;
    return c->to ? cli_saving_put(c->to, bytes, count) : 0;
}

int cli_checkpoint_call(void *user, taut_solver *solver, taut_error *error)
{
    cli_checkpoint *c = user;
    cli_saving to;
    int code = 0;
    c->to = NULL;
    if (!cli_ranks_first()) {
        code = taut_solver_save(solver, put_bytes, c, error);
        return code == TAUT_ERROR_FILE ? 0 : code;
    }
    cli_saving_open(&to, c->path);
    put_model(&to, c);
    for (int k = 0; k < c->files && code == 0; k++)
        code = put_output(&to, c, k, error);
    bool lost = code != 0;
    cli_saving_rest(&to, "run");
    c->to = &to;
    if (!lost && !solver)
        put_bytes(c, CLI_SWEEP_MARK, strlen(CLI_SWEEP_MARK));
    else if (!lost)
        code = taut_solver_save(solver, put_bytes, c, error);
    c->to = NULL;
    if (code != 0)
        to.reason = to.reason ? to.reason : EIO;
    int reason = cli_saving_close(&to);
    if (lost || (code != 0 && code != TAUT_ERROR_FILE))
        return code;
    if (reason != 0 && !c->warned) {
        cli_warning("the checkpoint '%s' cannot be written: %s; the run continues, and an earlier "
                    "checkpoint stays",
                    c->path, strerror(reason));
        c->warned = true;
    }
    return 0;
}

void cli_checkpoint_release(cli_checkpoint *c)
{
    free(c->bytes);
    c->bytes = NULL;
}

/* ---- reading */

static int refuse(const cli_call *call, const char *path, const char *why)
{
    return cli_refuse(call, "--resume: '%s' cannot be continued: %s", path, why);
}

/* Everything else is in the checkpoint. */
static int check_alone(const cli_call *call)
{
    static const char *const allowed[] = {"resume", "quiet", "json", "verbose", "threads"};
    const taut_option *option;
    if (call->operand)
        return cli_misuse(call,
                          "unexpected '%s': --resume FILE needs no model, it is in the "
                          "checkpoint",
                          call->operand);
    for (int k = 0; (option = cli_option_get(k)) != NULL; k++) {
        bool fits = !taut_options_given(call->options, option->name);
        for (size_t j = 0; j < sizeof allowed / sizeof allowed[0]; j++)
            fits |= strcmp(option->name, allowed[j]) == 0;
        if (!fits)
            return cli_misuse(call,
                              "--%s: --resume FILE continues with the options of the "
                              "checkpoint; only --threads, --quiet, --verbose and "
                              "--json may be added",
                              option->name);
    }
    return 0;
}

static int read_saved(const cli_call *call, const char *path, cli_saved *saved)
{
    const char *wrong = NULL;
    FILE *file = cli_open_file(path, &wrong);
    /* of several processes the first one looks at all bytes; what fails there ends all */
    return file && cli_saved_open(saved, file, cli_ranks_first(), &wrong)
               ? 0
               : refuse(call, path, wrong);
}

/* The parts that every checkpoint has, and the version. */
static int check_parts(const cli_call *call, const char *path, const cli_saved *saved)
{
    static const char *const parts[] = {"folder", "arguments", "path", "model"};
    const char *version = cli_saved_part(saved, "version").bytes;
    char why[300];
    if (!version || strcmp(version, taut_version()) != 0) {
        snprintf(why, sizeof why,
                 "it was written by Taut %.40s, and this is %s; only the same "
                 "version continues with the same numbers",
                 version ? version : "of another version", taut_version());
        return refuse(call, path, why);
    }
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
        if (!cli_saved_part(saved, parts[k]).bytes)
            return refuse(call, path, "it is not complete");
    cli_part run = cli_saved_part(saved, "run");
    if (!run.name || run.bytes) /* it is the rest */
        return refuse(call, path, "it is not complete");
    return 0;
}

/* The call as it was given then. */
static int read_call(const cli_call *call, cli_resumed *r)
{
    cli_part all = cli_saved_part(&r->saved, "arguments");
    int count = 0;
    r->arguments = calloc(all.length + 1, sizeof *r->arguments);
    if (!r->arguments)
        return cli_refuse(call, "out of memory");
    for (size_t at = 0; at < all.length; at += strlen(all.bytes + at) + 1)
        r->arguments[count++] = (char *)(uintptr_t)(all.bytes + at);
    r->call = (cli_call){.program = call->program, .verb = call->verb};
    int status = cli_arguments_read(&r->call, count, r->arguments);
    r->call.json |= call->json;
    r->call.quiet |= call->quiet;
    r->call.verbose |= call->verbose;
    r->call.saved = &r->saved;
    if (status == 0 && taut_options_given(call->options, "threads"))
        status = taut_options_set(r->call.options, "threads",
                                  taut_options_text(call->options, "threads"), NULL);
    return status;
}

int cli_resume(const cli_call *call, cli_resumed *r)
{
    const char *path = taut_options_text(call->options, "resume");
    *r = (cli_resumed){0};
    int status = check_alone(call);
    if (status == 0)
        status = read_saved(call, path, &r->saved);
    if (status == 0)
        status = check_parts(call, path, &r->saved);
    if (status == 0 && !(r->path = realpath(path, NULL)))
        status = refuse(call, path, strerror(errno));
    if (status == 0)
        status = read_call(call, r);
    const char *folder = status == 0 ? cli_saved_part(&r->saved, "folder").bytes : NULL;
    if (folder && chdir(folder) != 0)
        status = cli_refuse(call,
                            "--resume: the folder '%s', in which the run was started, cannot "
                            "be entered: %s",
                            folder, strerror(errno));
    return status;
}

void cli_resumed_release(cli_resumed *r)
{
    cli_arguments_release(&r->call);
    cli_saved_release(&r->saved);
    free(r->arguments);
    free(r->path);
}

/* Output k goes on where it was. */
static int resume_output(const cli_saved *saved, int k, taut_file_sink *file, taut_error *error)
{
    taut_file_mark mark = {.size = sizeof mark, .rows = -1};
    char name[32];
    int used = 0;
    snprintf(name, sizeof name, "output %d", k);
    cli_part part = cli_saved_part(saved, name);
    if (!part.bytes ||
        sscanf(part.bytes, "%" SCNd64 " %" SCNd64 "%n", &mark.rows, &mark.bytes, &used) != 2 ||
        mark.rows < -1 || mark.bytes < 0 || part.bytes[used] != '\n') {
        snprintf(error->message, sizeof error->message, "the checkpoint has no place of the rows");
        return error->code = TAUT_ERROR_FILE;
    }
    mark.memory = part.bytes + used + 1;
    mark.memory_bytes = part.length - (size_t)used - 1;
    return taut_file_sink_resume(file, &mark, error);
}

int cli_resume_solver(cli_saved *saved, taut_solver *solver, taut_file_sink *const *file, int files,
                      taut_error *error)
{
    cli_part run = cli_saved_part(saved, "run");
    int code = taut_solver_restore_from(solver, cli_saved_read, saved, run.length, error);
    for (int k = 0; k < files && code == 0; k++)
        code = resume_output(saved, k, file[k], error);
    return code;
}
