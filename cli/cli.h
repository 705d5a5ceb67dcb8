/* cli.h - what the verbs of the program share: the invocation, the tables, finding models,
 * messages, JSON.
 *
 * The program uses the public header only. Every verb is one file with one function `int
 * cli_<verb>(cli_call *)` that returns the exit status; the table of verbs (verbs.c) and the
 * options table of the library are all that help, man page and completion read. */
#ifndef TAUT_CLI_H
#define TAUT_CLI_H

#include <stdio.h>

#include <taut/taut.h>

enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_MISUSED = 2, CLI_INACCURATE = 3, CLI_INTERRUPTED = 130 };
enum { CLI_WIDTH = 100 }; /* columns that human output stays within; a narrower terminal has less */

typedef struct cli_call cli_call;
typedef struct cli_saved cli_saved; /* a checkpoint (checkpoint_file.h) */

typedef struct cli_verb {
    const char *name;
    const char *operand; /* what follows the verb in the usage line: "MODEL", "[VERB]" or "" */
    const char *summary; /* one line */
    const char *detail; /* the text of --help above the options; paragraphs are separated by '\n' */
    int (*act)(cli_call *call);
    bool ranks; /* it uses several processes (ranks.c) */
} cli_verb;

/* One invocation. Texts are those of argv. */
struct cli_call {
    const char *program; /* argv[0] */
    const cli_verb *verb;
    const char *operand;   /* MODEL or VERB, the first of several; NULL when absent */
    const char **operands; /* all of them */
    int operand_count;
    taut_options *options;
    const char **set, **init; /* every --set and --init, in order */
    int set_count, init_count;
    bool json, quiet, verbose, strict, help, version;
    bool man, options_page, names;
    const char *completion;                             /* shell, or NULL */
    const char *text;                                   /* of show, or NULL */
    const char *methods, *steps, *tolerances, *motions; /* lists of compare, or NULL */
    const char **vary, **keep;                          /* every --vary and --keep, in order */
    int vary_count, keep_count;
    const char *random, *seed, *jobs; /* numbers of sweep, or NULL */
    bool zip, progress;
    char **arguments; /* after the verb, as they were given */
    int argument_count;
    cli_saved *saved; /* the run goes on from here: its model is in it; or NULL */
};

/* ---- tables (verbs.c) */
extern const cli_verb cli_verbs[]; /* ends with a NULL name */
const cli_verb *cli_verb_find(const char *name);
/* reports it with the nearest verb; CLI_MISUSED. call may be NULL */
int cli_verb_unknown(const cli_call *call, const char *name);
/* Planned options have their own message. */
bool cli_option_is_later(const char *name);
/* All options: the library's table, then the program's own; NULL past the end. */
const taut_option *cli_option_get(int k);
/* The option of this name that the verb has; when it has none, the first of this name. NULL:
 * there is none. */
const taut_option *cli_option_find(const char *name, const char *verb);
bool cli_option_belongs(const taut_option *option, const char *verb);
char cli_option_letter(const char *name);      /* 'q' for "quiet", 0 for none */
const char *cli_option_of_letter(char letter); /* NULL for none */
/* The possible values of an option, one per call ("" past the end): choices of the table,
 * methods, shells. `verb` NULL: of all verbs. */
bool cli_option_choice(const taut_option *option, const char *verb, int k, char *buffer,
                       size_t size);
/* The help text without what is about other verbs: "for all; compare: for compare" has clauses. */
void cli_option_help(const taut_option *option, const char *verb, char *buffer, size_t size);
/* The value that a flag may have, or "". */
const char *cli_option_optional(const taut_option *option);
/* "--rtol R": the flag with the name of its value. */
void cli_option_usage(const taut_option *option, char *buffer, size_t size);
/* "default 1e-6" or "one of a, b" and the like, or empty. */
void cli_option_note(const taut_option *option, const char *verb, char *buffer, size_t size);

/* ---- arguments (arguments.c) */
/* Reads argv after the verb. Returns 0 or CLI_MISUSED, after a message. */
int cli_arguments_read(cli_call *call, int count, char **arguments);
void cli_arguments_release(cli_call *call);

/* ---- models (model.c) */
typedef struct cli_model {
    taut_system *system;
    char *path;                  /* of the file, "<stdin>" for standard input */
    char *name;                  /* file name without folder and ending */
    char *text;                  /* of standard input, NULL for files */
    char *start_text;            /* of --start, or NULL */
    taut_record *record, *start; /* files of runs that model and initial state are from, or NULL */
    char *settings;              /* of the record; call->set and call->init point into it */
    taut_load how;               /* it was loaded */
    taut_table_text *tables;     /* of a checkpoint or a record, or NULL */
} cli_model;
/* Finds and loads call->operand; on failure prints the reason (in JSON too) and returns the exit
 * status. Prints the reader's warnings. */
int cli_model_load(cli_call *call, cli_model *model);
void cli_model_release(cli_model *model);
/* The text of a table of [tables], allocated: that of a checkpoint or of a file of a run, where the
 * model is from one. NULL: errno. */
char *cli_model_table(const cli_call *call, const cli_model *model, const char *name,
                      size_t *length);
void cli_model_title(FILE *out,
                     const cli_model *model); /* "name: the first comment of the file", wrapped */
/* Shipped models, sorted by name (shipped.c). */
typedef struct cli_shipped {
    int count;
    char **name, **path;
} cli_shipped;
/* Looks in $TAUT_MODELS, ../share/taut/models and ../models relative to the program's folder. False
 * when out of memory. */
bool cli_shipped_list(const char *program, cli_shipped *list);
/* The models of one folder, by name. */
bool cli_shipped_folder(const char *folder, cli_shipped *list);
void cli_shipped_release(cli_shipped *list);
/* The folder `name` ("reproduce") of shipped data, allocated: $variable, ../share/taut/name or
 * ../name relative to the program; NULL: none. */
char *cli_shipped_data(const char *program, const char *variable, const char *name);

/* ---- messages (say.c) */
/* A message on standard error: "taut: error: ..." */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Usage errors: the message, then where to find help; an object on standard output with --json.
 * Returns CLI_MISUSED. */
int cli_misuse(const cli_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same without the reference to --help (a missing file, an unsupported option). */
int cli_refuse(const cli_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A failure of the library, compiler style when it has a place. */
void cli_say_failure(const taut_error *error);
enum { CLI_MESSAGE = 1024 }; /* room for any message */
/* The message of an error with its option as a flag, "--rtol: ...". */
void cli_message(const taut_error *error, char *buffer, size_t size);
/* A warning "file:line:column: text" of the reader; `text` is the source. */
void cli_say_warning(const char *warning, const char *text);
int cli_exit_status(int code); /* of a library code */
/* A failure of the library before anything was computed: the message, with --json an object too.
 * Returns the exit status; a file that cannot be read is misuse. */
int cli_fail(const cli_call *call, const taut_error *error, int code);
bool cli_terminal(FILE *stream);
/* Ends the program quietly when the reader of standard output has ended (`| head`). */
void cli_quit_if_reader_left(void);
/* Flushes standard output: 0, or CLI_FAILED after a message. `failed`: an earlier failure to write
 * has been reported already. */
int cli_output_finish(bool failed);

/* ---- text (text.c) */
/* starts at `column`; later lines are indented */
void cli_wrap(FILE *out, const char *text, int indent, int column, int width);
/* allocated; NULL when out of memory */
char *cli_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* all of it, terminated, allocated; NULL on failure (errno) */
char *cli_read_file(FILE *file, size_t *length);
/* Of a path: regular files only, nothing that could block or have no end. NULL: *why. */
FILE *cli_open_file(const char *path, const char **why);
/* At most `most` bytes, terminated, allocated. NULL: *why. */
char *cli_read_path(const char *path, size_t most, size_t *length, const char **why);
bool cli_has_ending(const char *text, const char *ending);

/* ---- JSON (json.c): keys are NULL inside arrays; numbers have 17 digits, NaN and infinity are
 * null */
typedef struct cli_json {
    FILE *out;
    int depth;
    bool filled[16]; /* something was written at this depth */
    bool flat[16];   /* this depth is written on one line */
} cli_json;
/* '{' or '[', one entry per line */
void cli_json_open(cli_json *json, const char *key, char bracket);
void cli_json_open_flat(cli_json *json, const char *key, char bracket); /* on one line */
void cli_json_close(cli_json *json, char bracket);                      /* '}' or ']' */
void cli_json_text(cli_json *json, const char *key, const char *text);  /* NULL is null */
void cli_json_real(cli_json *json, const char *key, double value);
void cli_json_integer(cli_json *json, const char *key, int64_t value);
void cli_json_bool(cli_json *json, const char *key, bool value);
/* NULL is null */
void cli_json_reals(cli_json *json, const char *key, const double *value, int64_t count);
void cli_json_names(cli_json *json, const char *key, const taut_system *system, taut_item item,
                    int64_t count);
/* names, q, v, lambda; first order: names, state, algebraic (in v). */
void cli_json_state(cli_json *json, const taut_system *system, const double *q, const double *v,
                    const double *lambda);
void cli_json_error(cli_json *json, const taut_error *error);
/* A whole object {"status": "failed", "error": {...}} on standard output. */
void cli_json_failure(const taut_error *error);

/* ---- files that verbs write (output.c) */
const char *cli_option_text(const cli_call *call,
                            /* of an option that was given; NULL when it was not, or is empty */
                            const char *name);
/* Refuse wrong names before the computation: 0 or CLI_MISUSED, after a message
 * why. NULL and "-" are right. */
int cli_output_check(const cli_call *call, const char *option, const char *path);
int cli_picture_check(const cli_call *call, const char *path);
/* Refuses to write to a file that was read: model, tables, initial state, also by a link. */
int cli_output_spare(const cli_call *call, const cli_model *model);
/* Warns of much memory before it is used; refuses what the machine does not have. (memory.c) */
int cli_memory_check(const cli_call *call, const cli_model *model);
/* Warns before a run whose rows of so many bytes do not fit where `path` is ("-": standard output;
 * NULL: not known), or are more than 1 GB. */
void cli_output_warn(const taut_solver *solver, const char *path, double row_bytes);
/* A file that is complete or does not exist; "-" is standard output. */
typedef struct cli_output {
    const char *path;
    char *part; /* written first, renamed at the end; NULL for devices */
    FILE *file;
    int reason; /* errno of the first failure; the caller may set it */
} cli_output;
bool cli_output_open(cli_output *output, const char *path);
/* Also after a failed open; 0, or CLI_FAILED after a message, in `error` too. */
int cli_output_close(cli_output *output, const char *option, taut_error *error);

/* A [start] section with 17 digits; q and v of `system`. The title stands in its comment. 0, or
 * CLI_FAILED after a message. (start_file.c) */
int cli_start_write(const char *path, const char *option, const char *title,
                    const taut_system *system, const double *q, const double *v, taut_error *error);

/* ---- several processes (ranks.c) */
int cli_ranks_begin(void);      /* 0, or the exit status */
void cli_ranks_end(int status); /* ends the others too where this one failed alone */
taut_space *cli_ranks(void);    /* NULL: one process */
bool cli_ranks_first(void);     /* it writes what is written */

/* ---- progress and interrupt (progress.c) */
typedef struct cli_progress {
    bool bar;            /* draw on standard error */
    bool runs;           /* of a sweep: t counts runs, steps those that failed */
    bool lines;          /* one below the other: standard error is no terminal */
    double begin, drawn; /* clock, seconds */
    double from;         /* initial time */
    bool started, shown;
} cli_progress;
double cli_clock(void);
int cli_cores(void); /* processors of this machine */
/* From now on Ctrl-C and SIGTERM ask to stop; the second one kills. */
void cli_interrupt_watch(void);
bool cli_interrupted(void);
/* a taut_progress; user is a cli_progress */
int cli_progress_call(void *user, double t, double until, int64_t steps);
void cli_progress_clear(cli_progress *progress);

/* ---- results of a run (summary.c) */
typedef struct cli_outcome {
    const cli_model *model;
    const taut_solver *solver;
    int code;                      /* of taut_solver_run */
    const taut_error *error;       /* set when code < 0 */
    double seconds;                /* 0: not measured */
    const char *out, *plot, *view; /* files written; NULL for none */
    bool unfinished;               /* what is known before the run */
    bool stateless;                /* JSON without names and state */
} cli_outcome;
void cli_summary_print(FILE *out, const cli_outcome *outcome, bool verbose);
void cli_summary_json(FILE *out, const cli_outcome *outcome);
void cli_json_statistics(cli_json *json, const taut_statistics *statistics); /* "stats": {...} */

/* ---- pages (view.c) */
/* Refuses wrong names before the computation, as cli_picture_check. */
int cli_view_check(const cli_call *call, const char *path);
/* Command, warnings, explanation and summary of the run that was added to the page last. */
int cli_view_texts(taut_page *page, const cli_call *call, const cli_outcome *outcome,
                   taut_error *error);
/* What the run was made from besides the text of the model: the file of --start, and tables. */
int cli_view_files(taut_page *page, const cli_call *call, const cli_model *model,
                   taut_error *error);
/* A text that was allocated, which it releases; NULL: it is omitted. */
int cli_view_text(taut_page *page, const char *heading, char *text, taut_error *error);
/* Makes a page of the methods, each with the last of the values. */
int cli_view_methods(cli_call *call, const cli_model *model, const taut_compare_request *request,
                     const char *path, taut_error *error);

/* ---- HDF5 files of runs (record.c) */
bool cli_is_record(const char *path); /* by its ending */
/* 0, or the exit status after a message about the option, or (NULL) the operand. */
int cli_record_open(const cli_call *call, const char *option, const char *path,
                    taut_record **record);
/* The command as a shell reads it, and what was printed into a file of its own, which is closed;
 * allocated, NULL: not possible. */
char *cli_command(const cli_call *call);
char *cli_take_text(FILE *file);
/* What a file holds besides its rows: before the run, and the summary again after it. Codes of the
 * library. */
int cli_record_begin(const cli_call *call, const cli_model *model, const taut_solver *solver,
                     taut_file_sink *file, taut_error *error);
int cli_record_summary(taut_file_sink *file, const cli_outcome *outcome, taut_error *error);
/* The settings of model->record, for what the command line does not set; 0, or the exit status. */
int cli_record_settings(cli_call *call, cli_model *model);
/* The text of a table of its model; NULL: there is none. */
const char *cli_record_table(const taut_record *record, const char *name);
int cli_record_load(const cli_model *model, taut_load *how, taut_system **system,
                    taut_error *error);
/* FILE.h5 or FILE.h5@T (else *t is NaN): *path is allocated. */
bool cli_record_place(const char *text, char **path, double *t);
/* The nearest row to *t (NaN: the last one) as statements of [start], allocated, and its time;
 * NULL after a message. */
char *cli_record_state(const cli_call *call, taut_record *record, const char *path, double *t);
/* The record of an option has the variables of the system: 0, or CLI_MISUSED after a message that
 * names the difference. */
int cli_record_fits(const cli_call *call, const char *option, const taut_record *record,
                    const taut_system *system);
/* The parameters of its settings alone; *settings is allocated, call->set points into it. */
int cli_record_parameters(cli_call *call, const taut_record *record, char **settings);
/* A text of its summary by name, such as "motion"; empty: there is none. */
void cli_record_word(const taut_record *record, const char *name, char *word, size_t size);
/* Its rows, for a sink; a code of the library, TAUT_INTERRUPTED after Ctrl-C. */
int cli_record_replay(taut_record *record, const taut_system *system, const taut_sink *sink,
                      taut_error *error);

/* ---- verbs */
int cli_show(cli_call *call);
int cli_view(cli_call *call);
int cli_check(cli_call *call);
int cli_run(cli_call *call);
int cli_project(cli_call *call);
int cli_spectrum(cli_call *call);
int cli_spectrum_run(cli_call *call); /* along a run */
int cli_spectrum_rates(cli_call *call, const cli_model *model);
int cli_spectrum_rates_run(cli_call *call, const cli_model *model, taut_record *run);
/* Where the rows along a run go: --out, or standard output; NULL: nowhere. 0, or the exit
 * status. */
int cli_spectrum_rows(cli_call *call, FILE **file, bool *opened);
/* Modes along a run (spectrum_along.c). Mode k of the rows, from 1, among all: */
long long cli_along_number(const taut_modes_rows *rows, int k);
void cli_along_print(taut_modes_along *along, FILE *to);
void cli_along_json(taut_modes_along *along, cli_json *json);
int cli_along_draw(const taut_modes_along *along, const char *title, const char *path,
                   taut_error *error);
int cli_compare(cli_call *call);
int cli_compare_motions(cli_call *call);
/* Words of a list of --option, separated by commas, added to word[count] in *copy, which is
 * allocated: 0, or the exit status. (compare.c) */
int cli_words(const cli_call *call, const char *option, const char *text, char **copy,
              const char **word, int most, int *count);
int cli_sweep(cli_call *call);
/* --verify auto unless the user or the model decides: the program measures errors where that is
 * affordable. (run.c) */
int cli_measure_errors(cli_call *call, const cli_model *model, taut_error *error);
int cli_reproduce(cli_call *call);
int cli_methods(cli_call *call);
int cli_models(cli_call *call);
int cli_help(cli_call *call);

/* Parts of help */
void cli_help_program(FILE *out);
void cli_help_verb(FILE *out, const cli_verb *verb);
void cli_help_version(FILE *out);
int cli_methods_print(const char *only); /* the methods and projections of this name, NULL: all, to
                                            standard output; returns how many */
void cli_man_page(FILE *out);
void cli_options_page(FILE *out);
bool cli_completion(FILE *out, const char *shell);

#endif
