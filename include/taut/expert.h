/* expert.h - expert calls: everything a method can ask of a system. <taut/taut.h> includes it. */
#ifndef TAUT_EXPERT_H
#define TAUT_EXPERT_H

#include <taut/taut.h>

#ifdef __cplusplus
extern "C" {
#endif

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
TAUT_API int taut_system_pattern_get(const taut_system *system, taut_pattern_of which,
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
/* c, [m]; 0 is rigid. Where a stiffness k(t) depends on t: that of the initial time, and bonds are
 * evaluated as sqrt(k(t)/k) g */
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

/* A derived system: these parameters have other values, as taut_context_set_parameter gives them to
 * a context, and numbers of [run] that are made of parameters follow; parameters that fix sizes or
 * indices are refused. `base` must outlive it. */
TAUT_API int taut_system_with(const taut_system *base, taut_index count,
                              const taut_index *parameter, const double *value,
                              taut_system **system, taut_error *error);

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
    size_t size;
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
/* j = 0 restarts at time t; time itself has coefficients (t, 1, 0, ...). q[n], v[n]; values
 * hold coefficient j on return. */
TAUT_API int taut_jet_advance(taut_jet *jet, int j, double t, const double *q, const double *v,
                              taut_values *values, taut_error *error);

/* Frequencies (rad per time) of the stiff modes at a state, ascending: square roots of the
 * eigenvalues of C_s^-1 S (docs/theory.md: springs s, rigid bonds r, S the Schur complement of A =
 * G M^-1 G^T), or of (scale Hess V, M). At most `count` from each end are computed when the system
 * is large; soft springs do not count unless all are soft. *found says how many of frequency[] are
 * set, *complete whether these are all. */
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
    int place;        /* among the actions of taut_system_effective; -1 where these are unknown */
} taut_mode;

/* Omega_j is near Omega_k (l = -1), or near Omega_k + Omega_l: modes from 0; gap = their
 * distance over Omega_j. */
typedef struct taut_resonance {
    int j, k, l;
    double gap;
} taut_resonance;

typedef struct taut_modes_report {
    size_t size;
    int found;                 /* entries of mode[], ascending in frequency */
    bool complete;             /* these are all; otherwise those at both ends */
    int64_t modes;             /* how many there are; -1 when not known */
    double energy, correction; /* sums of E and of J Omega; NaN where not known */
    /* least relative distance of neighbouring frequencies; INFINITY for one mode. This and
     * resonances are those of springs that are connected, by coordinates or rigid bonds. */
    double separation;
    /* the closest ones, closest first: (11) and (12) of Lubich and Weiss */
    taut_resonance resonance[8];
    int resonances;
} taut_modes_report;

/* The modes at a state: mode[count], at most `count` are written (half from each end when there
 * are more). v may be NULL for rest. Of more than 400 springs that are connected only frequencies
 * are computed, unless `count` is enough for all (up to 2000), and of a stiff potential with more
 * than 400 coordinates. A stiff potential has K z = Omega^2 M z, K = scale
 * Hess V + G^T C^-1 G, p = z^T U_q/Omega^2 with U all that is stiff; as many modes as on its
 * minimum. */
TAUT_API int taut_modes(taut_context *context, double t, const double *q, const double *v,
                        int count, taut_mode *mode, taut_modes_report *report, taut_error *error);

/* The modes of every row of a run: a sink, for rows while they are computed or those of a file
 * (taut_record_rows_get). At most `count` modes, as of taut_modes. TAUT_ERROR_REFUSED: no springs
 * and no stiff potential. The system must outlive it. */
typedef struct taut_modes_along taut_modes_along;
TAUT_API int taut_modes_along_create(const taut_system *system, int count,
                                     const taut_allocator *allocator, taut_modes_along **along,
                                     taut_sink *sink, taut_error *error);
TAUT_API void taut_modes_along_destroy(taut_modes_along *along);
/* Row i has t[i], gap[i] of the closest resonance (INFINITY: none) and frequency[i*modes ..],
 * action[i*modes ..]; arrays live until the next row. Modes are in the order of their places
 * (taut_mode): of springs that are all connected ascending in frequency, else group by group. */
typedef struct taut_modes_rows {
    size_t size;
    int64_t rows;
    int modes;       /* of every row, half of them from each end where there are more */
    int64_t missing; /* between these halves */
    const double *t, *gap, *frequency, *action;
    int episodes;
    int64_t more; /* episodes that found no place */
} taut_modes_rows;
TAUT_API int taut_modes_along_get(const taut_modes_along *along, taut_modes_rows *rows,
                                  taut_error *error);
/* Frequencies are in resonance: a gap came below 5 %, and has not been above 6 % since. */
typedef struct taut_modes_episode {
    size_t size;
    taut_resonance resonance; /* its gap is the smallest one, at t */
    double from, until, t;    /* first and last row; closest, by interpolation */
    /* of the largest sum of all actions, what the modes in resonance exchange; 0: unknown */
    double share;
    const double *change; /* [modes]: mean action after less that before */
    double moved[3];      /* the same of the modes j, k, l of the resonance; NaN: unknown */
} taut_modes_episode;
/* Episode k, largest share first; `change` lives until the next row. */
TAUT_API int taut_modes_episode_get(taut_modes_along *along, int k, taut_modes_episode *episode,
                                    taut_error *error);

/* A rate at which deviations from a state of a first-order system or a black box change: as
 * exp(rate t). */
typedef struct taut_rate {
    double real, imaginary; /* per time; negative: they decay */
    /* The function of the state that changes with this rate alone: the variables with the largest
     * weights, in units of their sizes; -1: no more. The first weight is 1. */
    taut_index variable[4];
    double weight[4];
} taut_rate;

typedef struct taut_rates_report {
    size_t size;
    double t;
    double horizon; /* time of the flow; 0: from derivatives of the rates */
    int found;      /* entries of rate[], slow ones first */
    double resolution,
        limit;     /* rates below and above these cannot be distinguished from 0 and infinity */
    int conserved; /* invariants whose rates are 0 */
    int slow;      /* rates before the largest gap, without these: dimension of the
                    * slow manifold */
    double gap;    /* ratio of rates there */
    int observed;  /* observables and held variables */
    int64_t flow_uses;
    char advice[600];
} taut_rates_report;

/* Rates at the initial state, at most `count` of them in rate[]; of more than
 * 400 variables the slowest ones, over a horizon that must be given, without functions. Options:
 * from, horizon, copies, allow-command as for a projection. Without a horizon that of [stepper], or
 * one that the rates suggest. */
TAUT_API int taut_rates(const taut_system *system, const taut_options *options, int count,
                        taut_rate *rate, taut_rates_report *report, taut_error *error);
/* The same at the state z[coordinates] and time t. */
TAUT_API int taut_rates_at(const taut_system *system, const taut_options *options, double t,
                           const double *z, int count, taut_rate *rate, taut_rates_report *report,
                           taut_error *error);

/* A derived system, the limit of fast vibration: bonds that are not `soft` become rigid, and W =
 * sum action[k] Omega_k(q) joins the potential [Lubich, Weiss (7)-(8)]. One action for each
 * mode, in the places that taut_modes states: ascending in frequency among springs that are
 * connected, such as those of a molecule, one such group after the other. `base` must outlive it.
 */
TAUT_API int taut_system_effective(const taut_system *base, const double *action, int modes,
                                   taut_system **system, taut_error *error);

/* ---- events */

/* Events of a model: what the driver asks. Names are taut_system_name(system, TAUT_EVENT_ITEM,
 * k, ...). */
typedef struct taut_event_info {
    size_t size;
    int direction; /* +1 rising, -1 falling, 0 both */
    bool stop;     /* ends the run */
    bool alters;   /* has `then`: taut_event_apply changes the state */
} taut_event_info;
TAUT_API int taut_system_event_get(const taut_system *system, taut_index k, taut_event_info *info,
                                   taut_error *error);
/* The event functions at a state: values[events]; lambda[m] may be NULL when there are no bonds. */
TAUT_API int taut_evaluate_events(taut_context *context, double t, const double *q, const double *v,
                                  const double *lambda, double *values, taut_error *error);
/* Carries out `then` of event k: all right-hand sides are evaluated at the given state, then
 * q[n] and v[n] are altered. */
TAUT_API int taut_event_apply(taut_context *context, taut_index k, double t, double *q, double *v,
                              const double *lambda, taut_error *error);

/* The file of table k of the model, as [tables] names it; NULL past the last. With the text of the
 * model (taut_system_text) and taut_load.tables the system can be read again without files. */
TAUT_API const char *taut_system_table(const taut_system *system, taut_index k);
/* taut_system_memory where slow points are computed: projections, slow motion, and checks and runs
 * of which the motion is not specified. */
TAUT_API double taut_system_memory_slow(const taut_system *system);
/* taut_system_memory of a run by this method: implicit ones need matrices and values of all stages.
 * NULL or a name that is unknown: any other. */
TAUT_API double taut_system_memory_method(const taut_system *system, const char *method);

/* Rows at these times, ascending in the direction of the run, within it, instead of those of
 * `every`; in addition to the initial state, events and the end. To be called before a run, and
 * again after taut_solver_restore. The times are copied. */
TAUT_API int taut_solver_times(taut_solver *solver, const double *times, int64_t count,
                               taut_error *error);

/* ---- saving a run, and going on with it in another process */

/* Takes bytes; 0, or anything else when it cannot. */
typedef int (*taut_write)(void *user, const void *bytes, size_t count);
/* Writes everything that the next steps depend on: the state, the step size, what the method
 * remembers, events, rows, statistics. Not what taut_solver_keep keeps. To be called between runs
 * and advances, or by a taut_checkpoint. Of several ranks (taut_space) all call it, and the first
 * one writes, the bytes of one process. TAUT_ERROR_FILE when `write` fails; TAUT_ERROR_REFUSED
 * after a second look (option verify), and for methods that do not support it. */
TAUT_API int taut_solver_save(taut_solver *solver, taut_write write, void *user, taut_error *error);
/* Goes on where a run was saved: the next call of taut_solver_run or taut_solver_advance gives the
 * same bits as it would have there. `solver` is new, made from the same system with the same
 * options by the same version of Taut; anything else, and bytes that are damaged or cut off, are
 * refused with TAUT_ERROR_FILE (bytes that are wrong on purpose give a wrong run or an error). On
 * failure the solver can only be destroyed. A run goes on behind the rows that it had written: its
 * sinks have them already (taut_file_sink_resume), and are begun again. Another number of ranks
 * goes on too, with the same numbers up to rounding. */
TAUT_API int taut_solver_restore(taut_solver *solver, const void *bytes, size_t count,
                                 taut_error *error);
/* Gives `count` bytes from byte `at` on; 0, or anything else when it cannot. */
typedef int (*taut_read)(void *user, size_t at, void *bytes, size_t count);
/* The same from `count` bytes of a file, which are never in memory together: pieces are read, first
 * in their order, to see that they are whole, then those that are needed. Of several ranks (all
 * call it) the first one sees whether they are whole, and each reads the numbers of its part. */
TAUT_API int taut_solver_restore_from(taut_solver *solver, taut_read read, void *user, size_t count,
                                      taut_error *error);
/* Called at the beginning of a run, between steps about every `seconds`, when the run is
 * interrupted or meets what ends it, and at its end; here the run can be saved. While rows wait for
 * a second look only the beginning can be. A negative code ends the run with an error. */
typedef int (*taut_checkpoint)(void *user, taut_solver *solver, taut_error *error);
/* call NULL: none from now on. */
TAUT_API int taut_solver_checkpoint(taut_solver *solver, double seconds, taut_checkpoint call,
                                    void *user, taut_error *error);

/* Where a file sink is: all rows so far are in the file and on the disk, or, where the file is made
 * at the end (pictures), what it needs of them is in memory. */
typedef struct taut_file_mark {
    size_t size;
    int64_t rows, bytes; /* written; rows -1: not begun */
    const void *memory;  /* of the sink, until its next row; NULL: nothing is needed */
    size_t memory_bytes;
} taut_file_mark;
/* TAUT_ERROR_REFUSED: a sink of this kind cannot go on later. */
TAUT_API int taut_file_sink_mark(taut_file_sink *file, taut_file_mark *mark, taut_error *error);
/* When the sink is begun next, it goes on behind the rows of the mark, and removes what follows
 * them. A file that is shorter is refused. The mark is copied. */
TAUT_API int taut_file_sink_resume(taut_file_sink *file, const taut_file_mark *mark,
                                   taut_error *error);

/* ---- black boxes */

/* Projection `difference` solves orders 0, 1, ... one after the other. */
enum { TAUT_PROJECTION_STAGES = 7 };
typedef struct taut_projection_stage {
    size_t size;
    int order;
    int64_t iterations; /* evaluations of the difference, each of which follows the flow order + 1
                         * times, or four times as often when noise requires a fit */
    /* max |difference| that is left; how far this order moved the state, max norm */
    double difference, moved;
    /* max |change of the state| / |change of the difference| seen; and what noise and the
     * difference left mean for the state by it */
    double response, accuracy;
} taut_projection_stage;
TAUT_API int taut_projection_stage_get(const taut_projection *projection, int k,
                                       taut_projection_stage *stage, taut_error *error);

/* Machine code for the expressions of a system (taut_load has `compile`, without a condition),
 * where a run with these options is estimated to be long enough to pay for the C compiler: from
 * counts, never by a clock. To be called before anything else uses the system. *compiled: they are
 * machine code now; the explanation of a run has the reason. A compiler that is missing, fails or
 * takes longer than the run would is no error. */
TAUT_API int taut_system_compile(taut_system *system, const taut_options *options, bool *compiled,
                                 taut_error *error);

#ifdef __cplusplus
}
#endif

#endif
