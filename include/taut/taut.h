/* taut.h - the public interface of Taut.
 *
 *     M(t,q) v' = f(t,q,v) - G(t,q)^T lambda, q' = v, C lambda = g(t,q) + T gdot, G = dg/dq
 *
 * A bond is a function g_i with a compliance c_i >= 0: zero is a rigid rod, 1/kappa a spring of
 * potential kappa g^2/2. Four things are kept apart: the system (what moves), the options (how),
 * the solver (state and workspace), the statistics (what it cost).
 *
 * Conventions. Functions return 0 on success, a positive code for a result that is not an error
 * (a limit reached, an event met, an interrupt) and a negative code for an error; the last
 * argument `error` (may be NULL) then says what failed, where, and what can be done. Handles are
 * opaque; `destroy` takes NULL. The library never prints, exits or aborts. Systems are immutable
 * and may be shared between threads; contexts and solvers belong to one thread each. Arrays are
 * plain and dense unless a pattern is named.
 *
 * Tiers: everyday calls, expert calls (everything a method can ask of a system), extension
 * points (systems made in C; in extend.h, which this header includes). */
#ifndef TAUT_TAUT_H
#define TAUT_TAUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define TAUT_API __declspec(dllexport)
#elif defined(__GNUC__)
#define TAUT_API __attribute__((visibility("default")))
#else
#define TAUT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define TAUT_VERSION_MAJOR 0
#define TAUT_VERSION_MINOR 1
#define TAUT_VERSION_PATCH 0

/* ---- everyday calls */

/* positions in arrays; counts are int64_t and are checked when a system is created */
typedef int32_t taut_index;

typedef struct taut_system taut_system; /* what moves: immutable */
/* evaluates one system for one thread; holds the parameter values */
typedef struct taut_context taut_context;
typedef struct taut_options taut_options; /* how: every entry of the options table */
typedef struct taut_solver taut_solver;   /* a run: state, method, workspace */

/* Codes. The text of each is taut_code_text(code); positive ones are results, negative ones
 * errors. */
enum {
    TAUT_OK = 0,
    TAUT_EVENT = 1,         /* an event asked to stop */
    TAUT_INTERRUPTED = 2,   /* the progress callback asked to stop */
    TAUT_LIMIT = 3,         /* a limit (steps) was reached before the end time */
    TAUT_ERROR_USAGE = -1,  /* a call or an option does not make sense */
    TAUT_ERROR_MODEL = -2,  /* a model file is wrong; file, line, column are set */
    TAUT_ERROR_FILE = -3,   /* a file cannot be read or written */
    TAUT_ERROR_MEMORY = -4, /* the allocator returned NULL */
    TAUT_ERROR_SIZE = -5,   /* too large: a bound of the reader or of taut_index */
    /* a force, bond or callback gave NaN or infinity, or cannot evaluate */
    TAUT_ERROR_EVALUATE = -6,
    TAUT_ERROR_SINGULAR = -7, /* G is rank deficient, or the saddle matrix singular */
    TAUT_ERROR_CONVERGE = -8, /* an iteration did not converge */
    TAUT_ERROR_STEP = -9,     /* the step became too small */
    /* this method cannot treat this system; the message says why and what to do */
    TAUT_ERROR_REFUSED = -10,
    TAUT_ERROR_UNAVAILABLE = -11, /* a part that this build does not have */
    TAUT_ERROR_PROCESS = -12,     /* a program that Taut started failed */
    /* a callback returned a negative number: it is not called again */
    TAUT_ERROR_STOPPED = -13,
};

typedef struct taut_error {
    int code;
    int line, column;  /* in a model file, from 1; 0 when there is none */
    double t;          /* time of the failure, NaN when there is none */
    char file[256];    /* model file, or empty */
    char source[200];  /* the offending line, or empty */
    char message[600]; /* one or two sentences: what failed, what was expected, what to do */
} taut_error;

/* Memory comes from here, and only while objects are created. NULL everywhere means malloc and
 * free. `resize` is not needed. */
typedef struct taut_allocator {
    void *(*allocate)(void *user, size_t bytes); /* NULL when it cannot */
    void (*release)(void *user, void *block);
    void *user;
} taut_allocator;

/* What everything cost. One force evaluation is one evaluation of (f, g, G) at a point. */
typedef struct taut_statistics {
    int64_t steps, rejected;
    int64_t force_evaluations, fast_force_evaluations, jets, jacobians;
    int64_t factorisations, solves, newton_iterations, micro_steps;
} taut_statistics;

TAUT_API const char *taut_version(void);       /* "0.1.0" */
TAUT_API const char *taut_code_name(int code); /* "TAUT_ERROR_MODEL"; "unknown" for other numbers */
TAUT_API const char *taut_code_text(int code); /* a short sentence */
TAUT_API const char *
taut_features(void); /* which backends this build has: "lapack arpack mumps hdf5 gnuplot native" */

/* For programs: threads of the BLAS in this process (OpenBLAS; else no effect). Our matrices are
 * small: one is fastest. */
TAUT_API void taut_blas_threads(int count);

/* How a model is loaded. All fields may be zero. `set` and `init` are "name=expression" texts
 * (parameters, start values). */
typedef struct taut_load {
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
} taut_load;

/* Reads a model file (docs/model-language.md). `how` may be NULL. On error nothing is created. */
TAUT_API int taut_system_load(const char *path, const taut_load *how, taut_system **system,
                              taut_error *error);
/* The same from memory; `name` stands for the file in messages; tables need how->table_folder. */
TAUT_API int taut_system_parse(const char *text, size_t length, const char *name,
                               const taut_load *how, taut_system **system, taut_error *error);
TAUT_API void taut_system_destroy(taut_system *system);

typedef enum taut_kind {
    TAUT_MECHANICAL,  /* coordinates, masses, forces, bonds */
    TAUT_FIRST_ORDER, /* z' = f(t,z,y), 0 = constraints(t,z), invariants(t,z) constant */
    TAUT_BLACK_BOX    /* a flow without equations */
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
    TAUT_HAS_ALGEBRAIC = 1 << 15, /* first order: semi-explicit index 2 */
    TAUT_HAS_INVARIANTS = 1 << 16,
    TAUT_HAS_STEPPER = 1 << 17,
    TAUT_HAS_KINKS = 1 << 18, /* abs, min, floor, ...: derivatives take one side */
};

typedef struct taut_sizes {
    taut_kind kind;
    taut_mass_kind mass;
    unsigned can;           /* capability bits */
    taut_index coordinates; /* n: q, v; first order: the state z */
    taut_index algebraic;   /* first order: y */
    /* m: rows of g and G; first order: constraints + invariants + observables, in this order */
    taut_index bonds;
    taut_index constraints, invariants, observables;
    taut_index parameters, outputs, events, settings, warnings;
    int dimension;            /* of [particles], 0 without */
    int64_t jacobian_entries; /* stored entries of G */
    int64_t kernels, members; /* statements after grouping, and their members in total */
} taut_sizes;

TAUT_API void taut_system_sizes(const taut_system *system, taut_sizes *sizes);

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
/* Warning k of reading (unused names, kinks), as "file:line:column: text"; NULL when out of
 * range. */
TAUT_API const char *taut_system_warning(const taut_system *system, taut_index k);
/* Setting k of [run]: option name and value as text. Returns false when out of range. */
TAUT_API bool taut_system_setting(const taut_system *system, taut_index k, const char **name,
                                  const char **value);

/* ---- expert calls */

/* Sparse rows: row i has columns column[start[i] .. start[i+1]-1], unsorted; in G a column may
 * repeat (entries add up). */
typedef struct taut_pattern {
    taut_index rows, columns;
    const taut_index *start;
    const taut_index *column;
} taut_pattern;

typedef enum taut_pattern_of {
    TAUT_PATTERN_JACOBIAN, /* G: bonds x coordinates */
    /* n x n, sorted, with the diagonal: df/dq, df/dv, M, weighted Hessians all live on it */
    TAUT_PATTERN_TANGENT,
    TAUT_PATTERN_CONTROL /* first order: df/dy, n x algebraic */
} taut_pattern_of;

/* Patterns are fixed when the system is created. The tangent pattern is formed at its first
 * request (thread-safe). */
TAUT_API int taut_system_pattern(const taut_system *system, taut_pattern_of which,
                                 taut_pattern *pattern, taut_error *error);

/* allocator may be NULL: then the system's own. */
TAUT_API int taut_context_create(const taut_system *system, const taut_allocator *allocator,
                                 taut_context **context, taut_error *error);
TAUT_API void taut_context_destroy(taut_context *context);
TAUT_API const taut_system *taut_context_system(const taut_context *context);
/* Parameters: values stay inputs. Setting one also renews masses, compliances and the parameters
 * defined by it. Parameters that fix sizes or indices are refused. */
TAUT_API int taut_context_set_parameter(taut_context *context, taut_index k, double value,
                                        taut_error *error);
TAUT_API double taut_context_parameter(const taut_context *context, taut_index k);
/* c, [m]; 0 is rigid */
TAUT_API const double *taut_context_compliance(const taut_context *context);
TAUT_API const double *taut_context_damping(const taut_context *context); /* tau, [m] */
/* diagonal, [n]; NULL unless TAUT_MASS_DIAGONAL */
TAUT_API const double *taut_context_mass(const taut_context *context);
/* marked `soft`: stays a spring in rigid motion */
TAUT_API bool taut_context_soft(const taut_context *context, taut_index bond);
/* The start state at time t: q[n], v[n] (first order: z[n], y[algebraic]). */
TAUT_API int taut_context_start(taut_context *context, double t, double *q, double *v,
                                taut_error *error);
enum { TAUT_HOLD_POSITION = 1, TAUT_HOLD_VELOCITY = 2, TAUT_GUESS = 4 };
/* [n] of the bits above; NULL when all are 0 */
TAUT_API const unsigned char *taut_system_hold(const taut_system *system);
TAUT_API const taut_statistics *taut_context_statistics(const taut_context *context);

/* A derived system: every bond that is not `soft` has compliance 0 (and no damping). It shares
 * everything else with `base`, which must outlive it. Accepted when all bonds are rigid already. */
TAUT_API int taut_system_rigid(const taut_system *base, taut_system **system, taut_error *error);

/* What to evaluate; one call shares the work. Sizes in brackets; "tangent" is one entry per
 * entry of that pattern. */
enum {
    /* force[n]: f(t,q,v) with inertial forces, without bonds and stiff potential; first order:
     * rates */
    TAUT_WANT_FORCE = 1 << 0,
    TAUT_WANT_BOND = 1 << 1,     /* bond[m]: g(t,q) */
    TAUT_WANT_JACOBIAN = 1 << 2, /* jacobian[entries of G], bond_dt[m]: dg/dt at fixed q */
    TAUT_WANT_GAMMA = 1 << 3,    /* gamma[m]: g_qq(v,v) + 2 g_qt v + g_tt */
    /* bond_hessian[tangent]: sum_i bond_weight[i] Hess g_i; bond_weight is read */
    TAUT_WANT_BOND_HESSIAN = 1 << 4,
    TAUT_WANT_FORCE_DQ = 1 << 5, /* force_dq[tangent] */
    TAUT_WANT_FORCE_DV = 1 << 6, /* force_dv[tangent]; first order: df/dy [control] */
    TAUT_WANT_MASS = 1 << 7,     /* mass[tangent], or mass[n] for TAUT_MASS_DIAGONAL */
    /* mass_dq[tangent]: d(M(t,q) w)/dq, w = mass_weight, which is read */
    TAUT_WANT_MASS_DQ = 1 << 8,
    TAUT_WANT_STIFF_FORCE = 1 << 9,    /* stiff_force[n]: -scale grad V */
    TAUT_WANT_STIFF_HESSIAN = 1 << 10, /* stiff_hessian[tangent]: scale Hess V */
    TAUT_WANT_ENERGY = 1 << 11,        /* kinetic, potential, bond_energy, stiff_energy */
    TAUT_WANT_MOMENTUM = 1 << 12,      /* momentum[n]: M v, or dT/dv for a kinetic energy */
};

/* Where results go. Only the arrays that are wanted need to be set. */
typedef struct taut_values {
    double *force, *bond, *jacobian, *bond_dt, *gamma, *bond_hessian;
    double *force_dq, *force_dv, *mass, *mass_dq, *stiff_force, *stiff_hessian, *momentum;
    const double *bond_weight, *mass_weight; /* read */
    double kinetic, potential, bond_energy, stiff_energy;
} taut_values;

/* Evaluates at (t, q, v); v (first order: the algebraic variables) may be NULL where nothing
 * wanted depends on it. Returns 0; >0 when a callback cannot evaluate here; TAUT_ERROR_EVALUATE,
 * with the name of the coordinate or bond, for NaN or infinity. */
TAUT_API int taut_evaluate(taut_context *context, double t, const double *q, const double *v,
                           unsigned wanted, taut_values *values, taut_error *error);
/* Derivatives of everything wanted with respect to parameter k (energies included). Needs
 * TAUT_CAN_JETS. The first call makes room in the context, later ones allocate only for what
 * none before them wanted. */
TAUT_API int taut_evaluate_parameter(taut_context *context, double t, const double *q,
                                     const double *v, taut_index k, unsigned wanted,
                                     taut_values *values, taut_error *error);
/* [outputs] and [events] of a model at a state; lambda[m] may be NULL when no output uses it. */
TAUT_API int taut_evaluate_outputs(taut_context *context, double t, const double *q,
                                   const double *v, const double *lambda, double *outputs,
                                   taut_error *error);

/* Taylor jets, order by order: given coefficient j of q(t) and v(t) (after 0..j-1), coefficient
 * j of everything wanted. */
typedef struct taut_jet taut_jet;
enum { TAUT_JET_ORDER_MAX = 16 };
TAUT_API int taut_jet_create(taut_context *context, int order, unsigned wanted, taut_jet **jet,
                             taut_error *error);
TAUT_API void taut_jet_destroy(taut_jet *jet);
/* j = 0 starts anew at time t; time itself has coefficients (t, 1, 0, ...). q[n], v[n]; values
 * hold coefficient j on return. */
TAUT_API int taut_jet_advance(taut_jet *jet, int j, double t, const double *q, const double *v,
                              taut_values *values, taut_error *error);

/* Frequencies (rad per time) of the stiff modes at a state, ascending: square roots of the
 * eigenvalues of C_s^-1 S (DESIGN: springs s, rods r, S the Schur complement of A = G M^-1 G^T),
 * or of (scale Hess V, M). At most `count` from each end are computed when the system is large;
 * soft springs do not count unless all are soft. *found says how many of frequency[] are set,
 * *complete whether these are all. */
TAUT_API int taut_frequencies(taut_context *context, double t, const double *q, int count,
                              double *frequency, int *found, bool *complete, taut_error *error);

/* ---- vibration */

/* One stiff mode: g = sum p u with C^-1 u = Omega^2 A^-1 u, u^T A^-1 u = 1, all at the given
 * point; soft bonds are not part of it. */
typedef struct taut_mode {
    double frequency;     /* Omega, rad per time */
    double stretch, rate; /* p, pdot */
    /* E = (pdot^2 + Omega^2 p^2)/2 and J = E/Omega; NaN where only frequencies are known */
    double energy, action;
    taut_index bond[4]; /* where its elastic energy is, largest share first; -1: no more */
    /* of that energy, u_i^2/c_i; all springs and the potential add up to 1 */
    double share[4];
    double potential; /* the share of a stiff potential */
} taut_mode;

/* Omega_j is near Omega_k (l = -1), or near Omega_k + Omega_l: modes from 0; gap = their
 * distance over Omega_j. */
typedef struct taut_resonance {
    int j, k, l;
    double gap;
} taut_resonance;

typedef struct taut_modes_report {
    int found;                 /* entries of mode[], ascending in frequency */
    bool complete;             /* these are all; otherwise those at both ends */
    int64_t modes;             /* how many there are; -1 when not known */
    double energy, correction; /* sums of E and of J Omega; NaN where not known */
    /* least relative distance of neighbouring frequencies; INFINITY for one mode */
    double separation;
    /* the closest ones, closest first: (11) and (12) of Lubich and Weiss */
    taut_resonance resonance[8];
    int resonances;
} taut_modes_report;

/* The modes at a state: mode[count], at most `count` are written (half from each end when there
 * are more). v may be NULL for rest. Beyond 400 springs, or 400 coordinates with a stiff
 * potential, only frequencies are computed. A stiff potential has K z = Omega^2 M z, K = scale
 * Hess V + G^T C^-1 G, p = z^T U_q/Omega^2 with U all that is stiff; as many modes as on its
 * minimum. */
TAUT_API int taut_modes(taut_context *context, double t, const double *q, const double *v,
                        int count, taut_mode *mode, taut_modes_report *report, taut_error *error);

/* A derived system, the limit of fast vibration: bonds that are not `soft` become rigid, and W =
 * sum action[k] Omega_k(q) joins the potential [Lubich, Weiss (7)-(8)]. One action for each
 * mode, ascending in frequency. `base` must outlive it. */
TAUT_API int taut_system_effective(const taut_system *base, const double *action, int modes,
                                   taut_system **system, taut_error *error);

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
    const char *choices;  /* "a|b|c" for TAUT_OPTION_CHOICE */
    const char *argument; /* name of the value in --help: "H" */
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
/* set by taut_options_set? */
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
    const char *name;
    const char *motions; /* "full" */
    int order;
    const char *summary;   /* one line */
    const char *reference; /* paper and equation */
    unsigned needs;        /* TAUT_CAN_ bits */
    unsigned refuses;      /* TAUT_HAS_ bits it cannot treat */
} taut_method_info;
TAUT_API int taut_method_count(void);
TAUT_API bool taut_method_get(int k, taut_method_info *info);

/* ---- running */

/* Receives the trajectory: rows at the output times. begin and end may be NULL. Each returns 0,
 * or <0 to stop with an error. */
typedef struct taut_row {
    double t;
    /* [n], [n], [m], [outputs]; first order: q the state, v the algebraic variables */
    const double *q, *v, *lambda, *outputs;
    double drift_position,
        /* at the end of the step: max over rigid bonds of |g|, |gdot|; first order: see result */
        drift_velocity;
    double energy; /* NaN when there is none */
} taut_row;
typedef struct taut_sink {
    int (*begin)(void *user, const taut_system *system, taut_error *error);
    int (*row)(void *user, const taut_row *row, taut_error *error);
    int (*end)(void *user, taut_error *error);
    void *user;
} taut_sink;

/* Called now and then; returns 0 to go on, 1 to stop cleanly. */
typedef int (*taut_progress)(void *user, double t, double until, int64_t steps);

typedef struct taut_result {
    int status; /* TAUT_OK, TAUT_EVENT, TAUT_INTERRUPTED, TAUT_LIMIT or the error */
    double t;
    const char *method, *motion;
    const char *event; /* name of the event met, or NULL */
    int64_t altered;   /* how often events altered the state */
    /* largest |dq_i| or |dv_i| by which such states were put onto rods or the slow manifold */
    double put_back;
    /* largest local error of an accepted step, relative: its norm times rtol; NaN with equal
     * steps */
    double error_estimate;
    /* that norm: the error over what rtol and atol allow together; NaN with equal steps */
    double error_share;
    /* largest over the rows; first order: constraints, and invariants against their start */
    double drift_position, drift_velocity;
    double energy_first, energy_last;
    taut_statistics statistics;
} taut_result;

/* Events of a model: what the driver asks. Names are taut_system_name(system, TAUT_EVENT_ITEM,
 * k, ...). */
typedef struct taut_event_info {
    int direction; /* +1 rising, -1 falling, 0 both */
    bool stop;     /* ends the run */
    bool alters;   /* has `then`: taut_event_apply changes the state */
} taut_event_info;
/* false when out of range */
TAUT_API bool taut_system_event(const taut_system *system, taut_index k, taut_event_info *info);
/* The event functions at a state: values[events]; lambda[m] may be NULL when there are no bonds. */
TAUT_API int taut_evaluate_events(taut_context *context, double t, const double *q, const double *v,
                                  const double *lambda, double *values, taut_error *error);
/* Carries out `then` of event k: all right-hand sides are evaluated at the given state, then
 * q[n] and v[n] are altered. */
TAUT_API int taut_event_apply(taut_context *context, taut_index k, double t, double *q, double *v,
                              const double *lambda, taut_error *error);

/* A run of `system` as `options` say (motion, method, step, from, until, every; settings of
 * [run] are the defaults). */
TAUT_API int taut_solver_create(const taut_system *system, const taut_options *options,
                                const taut_allocator *allocator, taut_solver **solver,
                                taut_error *error);
TAUT_API void taut_solver_destroy(taut_solver *solver);
/* Integrates to the end time, an event, an interrupt or an error. What was computed stays
 * available; a second call goes on from there. Rows: the start, every `every` (by interpolation;
 * steps are not changed for it), events, and the state at the end. Without `every`: all steps,
 * or with equal steps 1000 equal times when there are more. Every sink that began is ended,
 * whatever happens. */
TAUT_API int taut_solver_run(taut_solver *solver, const taut_sink *sinks, int sink_count,
                             taut_progress progress, void *user, taut_error *error);
/* Advances exactly to time t, forwards or backwards (the last step is shortened), without sinks;
 * events count. */
TAUT_API int taut_solver_advance(taut_solver *solver, double t, taut_error *error);
TAUT_API double taut_solver_time(const taut_solver *solver);
TAUT_API const double *taut_solver_position(const taut_solver *solver);    /* q, [n] */
TAUT_API const double *taut_solver_velocity(const taut_solver *solver);    /* v, [n] */
TAUT_API const double *taut_solver_multipliers(const taut_solver *solver); /* lambda, [m] */
TAUT_API void taut_solver_result(const taut_solver *solver, taut_result *result);
/* One line: what was chosen and why. */
TAUT_API const char *taut_solver_explanation(const taut_solver *solver);
/* Warning k: an option that was given to taut_solver_create and has no effect in this run; NULL
 * when out of range. */
TAUT_API const char *taut_solver_warning(const taut_solver *solver, int k);

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
/* A picture of curves; curve k has the points start[k] .. start[k+1]-1. labels[3]: title, x, y.
 * Both axes may be logarithmic. */
TAUT_API int taut_plot(const char *path, const char *const *labels, const char *const *names,
                       int curves, const int *start, const double *x, const double *y,
                       bool logarithmic, taut_error *error);

/* ---- projecting */

/* One row of the table of projections, for people. */
typedef struct taut_projection_info {
    const char *name, *summary, *reference;
    unsigned needs, refuses; /* TAUT_CAN_ bits, TAUT_HAS_ bits */
} taut_projection_info;
TAUT_API int taut_projection_count(void);
TAUT_API bool taut_projection_get(int k, taut_projection_info *info);

typedef struct taut_projection taut_projection; /* a projected state and how it was found */
/* What came out. Texts and arrays belong to the projection. "Normal" is the change of the
 * distance to the foot point, "tangential" the distance between the foot points before and after
 * (Euclidean norms; NaN when a foot point does not exist). */
typedef struct taut_projection_result {
    int status; /* TAUT_OK, or TAUT_ERROR_CONVERGE: then the state is that of the start */
    double t;
    const char *method, *explanation;
    /* [n], [n], [m]; first order: the state, the algebraic variables */
    const double *q, *v, *lambda;
    /* [n]: slow part of the force of a stiff potential; NULL when there is none, or it is not
     * known */
    const double *stiff_force;
    const double *start_q, *start_v;
    int64_t passes;
    double moved_normal, moved_tangential, moved_normal_velocity, moved_tangential_velocity;
    taut_statistics statistics;
} taut_projection_result;
/* Projects the start of `system` onto the slow manifold of its springs or its flow, or onto its
 * rigid bonds. Options read: method, from, hold, richardson, expansion, omega, window,
 * micro-steps, passes, tolerance, order, horizon, iterate; all but method, hold and expansion
 * may stand in [run]. When it does not converge (TAUT_ERROR_CONVERGE) the result is made all the
 * same, with its passes; after other errors it is NULL. */
TAUT_API int taut_project(const taut_system *system, const taut_options *options,
                          const taut_allocator *allocator, taut_projection **projection,
                          taut_error *error);
TAUT_API void taut_projection_destroy(taut_projection *projection);
TAUT_API void taut_projection_result_get(const taut_projection *projection,
                                         taut_projection_result *result);
/* Warning k: an option that was given to taut_project and has no effect on this projection; NULL
 * when out of range. */
TAUT_API const char *taut_projection_warning(const taut_projection *projection, int k);
/* Pass k (0: the start): g[m], gdot[m] there, force evaluations of the micro-integration so far.
 * False when out of range; NULL allowed. */
TAUT_API bool taut_projection_pass(const taut_projection *projection, int64_t k, const double **g,
                                   const double **gdot, int64_t *force_evaluations);
/* With the option expansion, series gives y^0 + eps^2 y^1 + eps^4 y^2 + ... of the slow point
 * [Lubich 1993, (2.6)]: y^k, k = 0 (the foot point), 1, 2, in q[n] and v[n]; eps^2 is the
 * largest compliance, others are in proportion. False when there is none; NULL allowed. */
TAUT_API bool taut_projection_expansion(const taut_projection *projection, int k, const double **q,
                                        const double **v, double *eps2);
/* The micro-solution of a pass; kept when the option plot is given, for projections that sample.
 * At most 8 bonds, spread evenly; of systems without bonds coordinates in their place. */
typedef struct taut_projection_window {
    int64_t pass;   /* the pass that it leads to */
    taut_item item; /* TAUT_BOND or TAUT_COORDINATE */
    int count, bonds;
    const taut_index *bond; /* [bonds]: which */
    /* [count]: times from that of the start, ascending; the weights; g: [bonds][count] */
    const double *t, *weight, *g;
    const double *filtered; /* [bonds]: after the pass */
} taut_projection_window;
/* which = 0: of the first pass, 1: of the last, when there is more than one. False when there is
 * none. */
TAUT_API bool taut_projection_window_get(const taut_projection *projection, int which,
                                         taut_projection_window *window);
/* A picture (.png or .svg, by gnuplot): the windows, the weights, residuals of the passes;
 * without windows what there is. */
TAUT_API int taut_projection_plot(const taut_projection *projection, const char *path,
                                  const char *title, taut_error *error);

/* ---- black boxes */

/* Projection `difference` solves orders 0, 1, ... one after the other. */
enum { TAUT_PROJECTION_STAGES = 5 };
typedef struct taut_projection_stage {
    int order;
    int64_t iterations; /* each follows the flow order + 1 times */
    /* max |difference| that is left; how far this order moved the state, max norm */
    double difference, moved;
} taut_projection_stage;
TAUT_API bool taut_projection_stage_get(const taut_projection *projection, int k,
                                        taut_projection_stage *stage);

/* ---- comparing */
/* Every method with every value (steps, or tolerances), from the same start to the same end,
 * against one reference. */
typedef struct taut_compare_request {
    const char *const *methods;
    const double *values;
    int method_count, value_count;
    bool tolerances; /* values are relative tolerances; else equal steps */
} taut_compare_request;
typedef struct taut_compared {
    const char *method, *message; /* message: why it could not run; NULL when it did */
    double value, error, error_velocity, order,
        /* errors: max norms at the end; order: against the row before; NaN: none */
        seconds;
    double uncertainty, uncertainty_velocity; /* of the reference: smaller errors mean nothing */
    taut_statistics statistics;
} taut_compared;
typedef struct taut_comparison taut_comparison;
TAUT_API int taut_compare(const taut_system *system, const taut_options *options,
                          const taut_compare_request *request, const taut_allocator *allocator,
                          taut_comparison **comparison, taut_error *error);
TAUT_API void taut_comparison_destroy(taut_comparison *comparison);
/* false when out of range */
TAUT_API bool taut_comparison_get(const taut_comparison *comparison, int k, taut_compared *row);
/* One sentence: motion, end, reference. *uncertainty (may be NULL): how far two references are
 * apart; smaller errors mean nothing. */
TAUT_API const char *taut_comparison_explanation(const taut_comparison *comparison,
                                                 double *uncertainty);

/* ---- checking */

/* One derivative compared with extrapolated central differences: largest relative deviation and
 * where. It is wrong when the deviation is larger than limit + uncertainty, the latter being how
 * far the differences themselves may be off there, relative like the others. */
typedef struct taut_derivative_check {
    const char *name; /* "G", "gamma", "df/dq", ... */
    int derivative;   /* 1 or 2: which limit applies */
    double deviation, limit, uncertainty;
    char where[96];
} taut_derivative_check;

typedef struct taut_check_report {
    taut_sizes sizes;
    char structure[160]; /* which linear algebra was chosen, and why */
    taut_derivative_check derivative[16];
    int derivatives;
    /* bonds marked `soft`: forces, and no part of what follows */
    taut_index soft;
    taut_index rank;                       /* of G; == bonds - soft when full */
    char rank_message[400];                /* names of redundant or conflicting bonds */
    double start_position, start_velocity; /* max |g|, |gdot| of the rigid bonds at the start */
    /* how far the start is from g = 0 (bonds that are not soft), max |g| */
    double foot_distance;
    double frequency_least, frequency_most; /* 0 when there are no springs */
    int64_t frequencies;                    /* number of stiff modes */
    /* estimate of the rate of the slow motion at the start, for the separation */
    double slow_rate;
    double oscillatory_energy, energy_scale; /* of the start */
    /* where the motion has one, FILE:LINE:COLUMN: words, the system's; NULL: nowhere */
    const char *kinks;
    char advice[400]; /* one line */
    int verdict;      /* 0 usable, 1 numerically unusable */
} taut_check_report;

/* Examines a system at its start. Options read: from, backend, no-derivatives. */
TAUT_API int taut_check(const taut_system *system, const taut_options *options,
                        taut_check_report *report, taut_error *error);

#ifdef __cplusplus
}
#endif

#include <taut/extend.h>

#endif
