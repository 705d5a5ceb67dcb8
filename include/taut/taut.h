/* taut.h - the public interface of Taut.
 *
 *     M(t,q) v' = f(t,q,v) - G(t,q)^T lambda, q' = v, C lambda = g(t,q) + T gdot, G = dg/dq
 *
 * A bond is a function g_i with a compliance c_i >= 0: zero is rigid, 1/kappa a spring of
 * potential kappa g^2/2. Four kinds of data are separate: the system (what moves), the options
 * (how), the solver (state and workspace), the statistics (costs).
 *
 * Conventions. Functions return 0 on success, a positive code for a result that is not an error
 * (a limit reached, an event met, an interrupt) and a negative code for an error; the last
 * argument `error` (may be NULL) then says what failed, where, and what can be done. Handles are
 * opaque; `destroy` takes NULL. The library never prints, exits or aborts. Systems are immutable
 * and may be shared between threads; contexts and solvers belong to one thread each. Arrays are
 * plain and dense unless a pattern is named.
 *
 * A struct that a program allocates begins with its size, so that programs keep working with later
 * versions of the library, which add members at the end: call its `_init` function (init.h), or
 * write `taut_result result = {.size = sizeof result};`. Functions that fill such a struct end in
 * `_get`, and return 0 or TAUT_ERROR_USAGE. NULL where it is not allowed gives TAUT_ERROR_USAGE;
 * functions that return a value give NULL, 0, NaN or false.
 *
 * Tiers: everyday calls (here, and analysis.h: projecting, comparing, checking), expert calls
 * (expert.h: everything a method can ask of a system), extension points (extend.h: systems made in
 * C). This header includes all of them. */
#ifndef TAUT_TAUT_H
#define TAUT_TAUT_H

#include <taut/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAUT_VERSION_MAJOR 0
#define TAUT_VERSION_MINOR 1
#define TAUT_VERSION_PATCH 0

/* ---- everyday calls */

/* A table of [tables] from memory: `name` is the file that the model names. */
typedef struct taut_table_text {
    const char *name, *text;
    size_t length;
} taut_table_text;

/* Processes that share one run (docs/scale.md): a library built for MPI finds those that mpiexec
 * started, and all of them make the same calls. *space is NULL where there is one. */
typedef struct taut_space taut_space;
TAUT_API int taut_space_create(taut_space **space, taut_error *error);
TAUT_API void taut_space_destroy(taut_space *space);
TAUT_API int taut_space_rank(const taut_space *space); /* 0, 1, ...; 0 for NULL */
TAUT_API int taut_space_size(const taut_space *space); /* 1 for NULL */
/* Before a process ends early: do all of them call this within so many seconds? */
TAUT_API bool taut_space_meet(taut_space *space, double seconds);
/* Ends all of them with this exit code, for a process that cannot continue. */
TAUT_API void taut_space_end(taut_space *space, int code);

/* How a model is loaded. All fields may be zero. `set` and `init` are "name=expression" texts
 * (parameters, start values). */
typedef struct taut_load {
    size_t size;
    const taut_allocator *allocator;
    const char *const *set;
    const char *const *init;
    int set_count, init_count;
    double from;        /* the time at which start expressions are evaluated */
    bool allow_command; /* a [stepper] command or library may be kept for running */
    /* expressions as machine code; a warning of the system says why when that is not possible */
    bool compile;
    /* where [tables] are read from; default: the folder of the model file */
    const char *table_folder;
    /* statements of another [start] section, applied after the model's own; may be NULL */
    const char *start_text;
    /* tables that are read instead of files; other names are files */
    const taut_table_text *tables;
    int table_count;
    /* of several processes each loads the part of the model that it needs; it must outlive the
     * system. NULL: all of the model */
    taut_space *space;
} taut_load;

/* Reads a model file (docs/model-language.md). `how` may be NULL. On error nothing is created. */
TAUT_API int taut_system_load(const char *path, const taut_load *how, taut_system **system,
                              taut_error *error);
/* The same from memory; `name` stands for the file in messages; tables need how->table_folder. */
TAUT_API int taut_system_parse(const char *text, size_t length, const char *name,
                               const taut_load *how, taut_system **system, taut_error *error);
TAUT_API void taut_system_destroy(taut_system *system);

typedef enum taut_kind {
    TAUT_MECHANICAL, /* coordinates, masses, forces, bonds */
    /* z' = f(t,z,y), 0 = constraints(t,z), invariants(t,z) constant; index 1: see `followed` */
    TAUT_FIRST_ORDER,
    TAUT_BLACK_BOX /* a flow without equations */
} taut_kind;

typedef enum taut_mass_kind {
    TAUT_MASS_DIAGONAL, /* constant, diagonal */
    TAUT_MASS_CONSTANT, /* constant, on the tangent pattern */
    TAUT_MASS_VARYING   /* depends on t or q, on the tangent pattern */
} taut_mass_kind;

/* Capability bits: what a system can answer. A method lists the bits it needs; refusals come
 * from comparing them. */
enum {
    TAUT_CAN_FORCE = 1 << 0,       /* f can be evaluated anywhere (not a black box) */
    TAUT_CAN_DERIVATIVES = 1 << 1, /* exact G, gamma, Hessians, df/dq (not differences) */
    TAUT_CAN_JETS = 1 << 2,
    TAUT_CAN_INVERT_MASS = 1 << 3, /* M is regular by construction */
    TAUT_HAS_RIGID = 1 << 4,       /* some bonds have compliance 0 by statement */
    TAUT_HAS_SPRINGS = 1 << 5,
    TAUT_HAS_DAMPING = 1 << 6,
    TAUT_HAS_STIFF_POTENTIAL = 1 << 7,
    TAUT_HAS_VELOCITY_FORCES = 1 << 8, /* f depends on v */
    TAUT_HAS_VARYING_MASS = 1 << 9,
    TAUT_HAS_TIME = 1 << 10,         /* f or M depends on t */
    TAUT_HAS_MOVING_BONDS = 1 << 11, /* g depends on t */
    TAUT_HAS_KINETIC = 1 << 12,      /* M comes from a kinetic energy */
    TAUT_HAS_FORCES = 1 << 13,       /* some of f does not come from a potential */
    TAUT_HAS_EVENTS = 1 << 14,
    TAUT_HAS_ALGEBRAIC = 1 << 15, /* first order: semi-explicit index 2, or brought to it */
    TAUT_HAS_INVARIANTS = 1 << 16,
    TAUT_HAS_STEPPER = 1 << 17,
    TAUT_HAS_KINKS = 1 << 18, /* abs, min, floor, ...: derivatives take one side */
    TAUT_HAS_PAIRS = 1 << 19, /* sums over pairs of so many particles that df/dq has no pattern */
};

typedef struct taut_sizes {
    size_t size;
    taut_kind kind;
    taut_mass_kind mass;
    unsigned can;           /* capability bits */
    taut_index coordinates; /* n: q, v; first order: the state z */
    taut_index algebraic;   /* first order: y */
    /* m: rows of g and G; first order: constraints + invariants + observables, in this order */
    taut_index bonds;
    taut_index constraints, invariants, observables; /* mechanical: invariants are no rows */
    taut_index parameters, outputs, events, settings, warnings;
    int dimension;            /* of [particles], 0 without */
    int64_t jacobian_entries; /* stored entries of G */
    int64_t kernels, members; /* statements after grouping, and their members in total */
    /* first order: the last so many coordinates are algebraic variables that constraints contain
     * (index 1); the rate of each is one of the `algebraic` */
    taut_index followed;
} taut_sizes;

TAUT_API int taut_system_sizes_get(const taut_system *system, taut_sizes *sizes, taut_error *error);

typedef enum taut_item {
    TAUT_COORDINATE, /* first order: state */
    TAUT_ALGEBRAIC,
    TAUT_BOND, /* first order: constraint, invariant or observable */
    TAUT_PARAMETER,
    TAUT_OUTPUT,
    TAUT_EVENT_ITEM
} taut_item;

/* The name as it appears in output: "x1", "p[1].x", "link[2]". Always terminated; returns its
 * full length, 0 when out of range. */
TAUT_API int taut_system_name(const taut_system *system, taut_item item, taut_index k, char *buffer,
                              size_t size);
/* The position of a name, or -1. */
TAUT_API taut_index taut_system_find(const taut_system *system, taut_item item, const char *name);
/* The comment at the head of a model file, first line, without '#'; "" when there is none. */
TAUT_API const char *taut_system_title(const taut_system *system);
/* The text of the model, as it was read; NULL (and *length 0) for systems made in C. length may be
 * NULL. */
TAUT_API const char *taut_system_text(const taut_system *system, size_t *length);
/* The points that bond k joins: those whose coordinates it depends on. A point is a particle, or
 * coordinates named x.., y.., z.. with the same ending in this order, or a single coordinate:
 * coordinates first[i] .. first[i] + dimension[i] - 1. Writes at most `most` of them; returns how
 * many there are, -1 when k is out of range. */
TAUT_API int taut_system_bond_ends(const taut_system *system, taut_index k, int most,
                                   taut_index *first, int *dimension);
/* Bytes of memory that a check, or a run in rigid or full motion, needs for this system: an
 * estimate, at most half as much again, from sizes and patterns, before it is used. */
TAUT_API double taut_system_memory(const taut_system *system);
/* Warning k of reading (unused names, kinks), "file:line:column: text"; NULL when out of range. */
TAUT_API const char *taut_system_warning(const taut_system *system, taut_index k);
/* File k that [tables] were read from, with its folder; NULL when out of range. */
TAUT_API const char *taut_system_table_file(const taut_system *system, taut_index k);
/* Condition k of the equations (if, abs, min, floor, ...), as "file:line: if, 351 times, of the
 * state", those of one line and kind together; NULL when out of range. */
TAUT_API const char *taut_system_condition(const taut_system *system, taut_index k);
/* Setting k of [run]: option name and value as text. Returns false when out of range. */
TAUT_API bool taut_system_setting(const taut_system *system, taut_index k, const char **name,
                                  const char **value);

/* ---- options, methods */

typedef enum taut_option_type {
    TAUT_OPTION_FLAG,
    TAUT_OPTION_INTEGER,
    TAUT_OPTION_REAL,
    TAUT_OPTION_TEXT,
    TAUT_OPTION_CHOICE
} taut_option_type;

/* One row of the options table: flags, validation, --help and the reference page all read it. */
typedef struct taut_option {
    const char *name; /* "rtol"; the flag is --rtol */
    taut_option_type type;
    const char *value;    /* default, as text; "" for none */
    double least, most;   /* range of numbers, ends included; least DBL_TRUE_MIN means > 0 */
    const char *choices;  /* "a|b|c" for TAUT_OPTION_CHOICE; words besides numbers for others */
    const char *argument; /* name of the value in --help: "H"; of a flag: it may have one */
    const char *verbs;    /* verbs that take it: "run check" */
    bool repeats;         /* may be given several times: values accumulate, separated by newlines */
    bool in_model;        /* may stand in [run] of a model file */
    const char *help;     /* one line */
} taut_option;

TAUT_API const taut_option *taut_option_table(int *count);
TAUT_API int taut_options_create(const taut_allocator *allocator, taut_options **options,
                                 taut_error *error);
TAUT_API void taut_options_destroy(taut_options *options);
/* Sets an option from text, checked against the table (unknown names get a near-miss
 * suggestion). Flags: NULL, "", "yes" or "no". */
TAUT_API int taut_options_set(taut_options *options, const char *name, const char *value,
                              taut_error *error);
/* The same with a value of the option's own type: TAUT_ERROR_USAGE for an option of another type.
 * A choice is a text. */
TAUT_API int taut_options_set_real(taut_options *options, const char *name, double value,
                                   taut_error *error);
TAUT_API int taut_options_set_integer(taut_options *options, const char *name, int64_t value,
                                      taut_error *error);
TAUT_API int taut_options_set_flag(taut_options *options, const char *name, bool value,
                                   taut_error *error);
TAUT_API int taut_options_set_text(taut_options *options, const char *name, const char *value,
                                   taut_error *error);
/* Was it set by one of these? */
TAUT_API bool taut_options_given(const taut_options *options, const char *name);
/* Values, or the defaults of the table. The text lives until the option is set again; NULL for a
 * name that is not in the table. */
TAUT_API const char *taut_options_text(const taut_options *options, const char *name);
/* NaN when there is no value */
TAUT_API double taut_options_real(const taut_options *options, const char *name);
/* 0 when there is no value */
TAUT_API int64_t taut_options_integer(const taut_options *options, const char *name);
TAUT_API bool taut_options_flag(const taut_options *options, const char *name);

/* One row of the method table, for people. */
typedef struct taut_method_info {
    size_t size;
    const char *name;
    const char *motions; /* "full" */
    int order;
    const char *summary;   /* one line */
    const char *reference; /* paper and equation */
    unsigned needs;        /* TAUT_CAN_ bits */
    unsigned refuses;      /* TAUT_HAS_ bits it does not support */
} taut_method_info;
TAUT_API int taut_method_count(void);
TAUT_API int taut_method_get(int k, taut_method_info *info, taut_error *error);

/* ---- running */

/* Receives the trajectory: rows at the output times. begin and end may be NULL. Each returns 0, or
 * <0 to end the run with that error; a positive number is an error of the caller
 * (TAUT_ERROR_USAGE). */
typedef struct taut_row {
    double t;
    /* [n], [n], [m], [outputs]; first order: q the state, v the algebraic variables */
    const double *q, *v, *lambda, *outputs;
    /* at the end of the step: max over rigid bonds of |g|, |gdot|; first order: see result */
    double drift_position, drift_velocity;
    double energy;    /* NaN when there is none */
    taut_index event; /* k + 1: event k is met here, of several at one time the first; 0: none */
} taut_row;
typedef struct taut_sink {
    int (*begin)(void *user, const taut_system *system, taut_error *error);
    int (*row)(void *user, const taut_row *row, taut_error *error);
    int (*end)(void *user, taut_error *error);
    void *user;
    /* For rows that no process has as a whole, those of several ranks (taut_space), whose first one
     * calls the sinks: after `row`, whose q, v and lambda are then NULL, their numbers in this
     * order in pieces; at the end count is 0. NULL: the sink needs whole rows, and so all get them,
     * of at most 30 million numbers. */
    int (*piece)(void *user, const double *x, taut_index count, taut_error *error);
} taut_sink;

/* Called now and then; returns 0 to go on, 1 to stop cleanly. */
typedef int (*taut_progress)(void *user, double t, double until, int64_t steps);

typedef struct taut_result {
    size_t size;
    int status; /* TAUT_OK, TAUT_EVENT, TAUT_INTERRUPTED, TAUT_LIMIT, TAUT_INACCURATE, an error */
    double t;
    const char *method, *motion;
    const char *event; /* name of the event met, or NULL */
    int64_t altered;   /* how often events altered the state */
    /* largest |dq_i| or |dv_i| by which such states were projected onto rigid bonds or the slow
     * manifold */
    double put_back;
    /* largest local error of an accepted step, relative: its norm times rtol, and `truncation`; NaN
     * with a fixed step size */
    double error_estimate;
    /* that norm: the error over what rtol and atol allow together; NaN with a fixed step size */
    double error_share;
    /* largest over the rows, without sinks over steps (small systems with a fixed step size: every
     * 32nd); first order: constraints, and invariants against their start */
    double drift_position, drift_velocity;
    double energy_first, energy_last;
    taut_statistics statistics;
    /* What became of the energy besides what events altered; NaN where not known: work of forces
     * without a potential, of explicit dependence on time and of moving bonds; dissipation by
     * damped bonds; and the rest, change - work + dissipated, which is the error of a conserved
     * energy, and of all three otherwise (powers are sampled at rows). */
    double energy_work, energy_dissipated, energy_balance;
    /* of the multipliers at the end, max norm. Full motion: the rounding of g times the stiffness
     * and the root of the number of steps; slow: the last change of their expansion; rigid:
     * rounding. NaN: not known */
    double lambda_uncertainty;
    /* measured by a second run (option verify), largest over the rows, relative to the largest
     * value of each group of variables; NaN: not measured. error: the larger of the first two. */
    double error, error_position, error_velocity, error_lambda;
    /* from this time on the error is above 100 tolerances; NaN: nowhere, or not measured */
    double predictable;
    double rtol; /* that was asked for; NaN with a fixed step size */
    /* What slow and effective motion rely on, looked at from time to time along the run: the
     * smallest separation (lowest stiff frequency over the slow rate at that state; INFINITY:
     * nothing slow changes) and its time; NaN: not watched, or unknown. */
    int64_t looks;
    double separation, separation_at;
    /* Effective motion: the first resonance within 5 %, at its closest: its time (NaN: none was
     * met), the relative distance, and the modes j, k, l from 0 as in taut_resonance. */
    double resonance_at, resonance_gap;
    int resonance_modes[3];
    /* a sentence, with the time, where that is below what the motion needs; NULL: it is not. A
     * run whose motion effective was Taut's own choice then ends with TAUT_INACCURATE. */
    const char *caution;
    /* Slow motion by an explicit method: the level k of its multipliers lambda^(k) at the end (-1:
     * another motion or method), and what it omits in the worst step, relative, as estimated from
     * the next level; it is part of error_estimate. NaN: none */
    int level;
    double truncation;
    /* slow motion of rates and black boxes: inner steps of direct integration; or NaN */
    double direct_steps;
    double averaging_error; /* of effective motion, in positions, relative; NaN: unknown */
} taut_result;

/* A run of `system` as `options` say (motion, method, step, from, until, every; settings of
 * [run] are the defaults). */
TAUT_API int taut_solver_create(const taut_system *system, const taut_options *options,
                                const taut_allocator *allocator, taut_solver **solver,
                                taut_error *error);
TAUT_API void taut_solver_destroy(taut_solver *solver);
/* Integrates to the end time, an event, an interrupt or an error. What was computed stays
 * available; a second call goes on from there. Rows: the initial state, every `every` (by
 * interpolation; steps are not changed for it), events (two rows, before and after, when the
 * event alters the state), and the state at the end. Without `every`: 1000 equidistant
 * times, fewer (down to 100) when a row has more than 1000 numbers; with `every` = step all steps.
 * Every sink that began is ended, also after a failure. */
TAUT_API int taut_solver_run(taut_solver *solver, const taut_sink *sinks, int sink_count,
                             taut_progress progress, void *user, taut_error *error);
/* Advances exactly to time t, forwards or backwards (the last step is shortened), without sinks;
 * events count. */
TAUT_API int taut_solver_advance(taut_solver *solver, double t, taut_error *error);
/* From now on `progress` (NULL: nothing) is called during taut_solver_advance as during a run: when
 * it returns 1 the solver stays where it is, and the call returns TAUT_INTERRUPTED. */
TAUT_API int taut_solver_watch(taut_solver *solver, taut_progress progress, void *user,
                               taut_error *error);
/* Continues from a new state: a kick, a correction, another time. q[n], v[n] (first order: the
 * state and v[algebraic]) are moved onto rigid bonds, in slow motion to the slow point, as an
 * initial state is, but nothing is held; where the slow point is not found the call fails.
 * Statistics go on; events and rows begin again; what a method remembers of earlier steps is
 * forgotten. On error the solver should not be advanced. */
TAUT_API int taut_solver_restart(taut_solver *solver, double t, const double *q, const double *v,
                                 taut_error *error);
/* The present state, after a run or an advance as rows show it: where an implicit method has
 * velocities and multipliers of lower order, they are computed from its positions (option raw: the
 * method's own). */
TAUT_API double taut_solver_time(const taut_solver *solver);
TAUT_API const double *taut_solver_position(const taut_solver *solver);    /* q, [n] */
TAUT_API const double *taut_solver_velocity(const taut_solver *solver);    /* v, [n] */
TAUT_API const double *taut_solver_multipliers(const taut_solver *solver); /* lambda, [m] */
/* The whole system and its state, valid until the next call of the solver. Of a run over several
 * processes all of them make this call: the first one gets them, the others what is theirs. */
TAUT_API int taut_solver_gather(taut_solver *solver, const taut_system **system, const double **q,
                                const double **v, taut_error *error);
TAUT_API int taut_solver_result_get(const taut_solver *solver, taut_result *result,
                                    taut_error *error);
/* Dense output: with keep, both ends of every accepted step are kept from now on (memory for 3n + m
 * numbers a step; four times as much for dop8, eight times for Radau methods, whose long steps are
 * kept in parts), and the state can be asked for at any time from the first to the last of them.
 * What was kept before is forgotten; so is it when steps begin elsewhere or change direction. */
TAUT_API int taut_solver_keep(taut_solver *solver, bool keep, taut_error *error);
/* How many parts are kept, and their times (NaN without; NULL allowed). */
TAUT_API int64_t taut_solver_kept(const taut_solver *solver, double *from, double *until);
/* The state at time t of the kept steps: q[n], v[n], lambda[m]; NULL where not wanted. Hermite
 * interpolation of q by q, v, a of both ends of a part, error O(h^6), of v O(h^5); Radau methods,
 * methods up to order 3 and first-order systems O(h^4) and O(h^3). Multipliers are those of the
 * state; rigid bonds hold. */
TAUT_API int taut_solver_interpolate(taut_solver *solver, double t, double *q, double *v,
                                     double *lambda, taut_error *error);
/* How many rows taut_solver_run writes up to the end time, events aside; NaN: not known, a row for
 * each step of adaptive size. */
TAUT_API double taut_solver_rows(const taut_solver *solver);
/* One line: what was chosen and why. */
TAUT_API const char *taut_solver_explanation(const taut_solver *solver);
/* Warning k: an option that was given to taut_solver_create and has no effect in this run; the
 * text begins with its name. NULL when out of range. */
TAUT_API const char *taut_solver_warning(const taut_solver *solver, int k);
/* Notice k: what a reader of the results should know of the model or of the run, in a sentence:
 * redundant rigid bonds, singular configurations. Those of the run exist when it has ended. NULL
 * when out of range. */
TAUT_API const char *taut_solver_notice(const taut_solver *solver, int k);

/* Sinks that come with Taut. `path` "-" is standard output. Destroy closes; a failed write is
 * reported by the run (disk full). */
typedef struct taut_file_sink taut_file_sink;
TAUT_API int taut_csv_create(const char *path, taut_file_sink **file, taut_sink *sink,
                             taut_error *error);
/* HDF5 in the H5MD layout (docs/cli.md); TAUT_ERROR_UNAVAILABLE in a build without HDF5. */
TAUT_API int taut_hdf5_create(const char *path, taut_file_sink **file, taut_sink *sink,
                              taut_error *error);
/* A picture (.png or .svg) made with gnuplot: coordinates, drift and energy against time. */
TAUT_API int taut_picture_create(const char *path, const char *title, taut_file_sink **file,
                                 taut_sink *sink, taut_error *error);
TAUT_API void taut_file_sink_destroy(taut_file_sink *file);
/* A sink that keeps rows in memory; rows of further runs follow those before. */
typedef struct taut_memory_sink taut_memory_sink;
/* Row i has t[i], q[i*coordinates ..], v[i*velocities ..] and so on; arrays belong to the sink and
 * live until its next row. First order: v the algebraic variables, and no multipliers. */
typedef struct taut_memory_rows {
    size_t size;
    int64_t rows;
    taut_index coordinates, velocities, multipliers, outputs;
    const double *t, *q, *v, *lambda, *output, *energy;
    const double *drift; /* two numbers a row: position, velocity */
    const double *event; /* k + 1: event k is met here; 0: none */
} taut_memory_rows;
TAUT_API int taut_memory_sink_create(const taut_allocator *allocator, taut_memory_sink **memory,
                                     taut_sink *sink, taut_error *error);
TAUT_API int taut_memory_sink_get(const taut_memory_sink *memory, taut_memory_rows *rows,
                                  taut_error *error);
TAUT_API void taut_memory_sink_destroy(taut_memory_sink *memory);
/* A picture of curves; curve k has the points start[k] .. start[k+1]-1. labels[3]: title, x, y.
 * Both axes may be logarithmic. */
TAUT_API int taut_plot(const char *path, const char *const *labels, const char *const *names,
                       int curves, const int *start, const double *x, const double *y,
                       bool logarithmic, taut_error *error);

#ifdef __cplusplus
}
#endif

#include <taut/analysis.h>
#include <taut/expert.h>
#include <taut/extend.h>
#include <taut/init.h>

#endif
