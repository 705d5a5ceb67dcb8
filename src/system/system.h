/* system.h - the inside of a system: kernels, names, patterns; and of its contexts. */
#ifndef TAUT_SYSTEM_SYSTEM_H
#define TAUT_SYSTEM_SYSTEM_H

#include <pthread.h>
#include <stdatomic.h>

#include "expr/curve.h"
#include "expr/native.h"
#include "linalg/saddle.h"
#include "system/kernel/kernel.h"

/* A name or family: members in blocks, numbered `first`, `first+1`, ... within their kind. Boxes
 * hold all integer points between lo and hi; lists hold explicit index tuples in lexicographic
 * order (triangular families). */
typedef struct taut_name_block {
    int dims;
    int32_t lo[4], hi[4];
    int64_t count;
    const int32_t *list; /* [count][dims], or NULL for a box */
    taut_index first;    /* number of the first member (particles: of its first component) */
    int components;      /* 1, or the dimension for particles */
} taut_name_block;

typedef struct taut_names { /* the names of one kind of thing, for output and look-up */
    int64_t blocks, capacity;
    struct taut_named {
        const char *name;
        taut_name_block block;
    } * block;
    int64_t total;
    /* numbers below are places of these, in the part of a model (rank_part.h); NULL: all are here
     */
    const struct taut_runs *here;
} taut_names;

/* ordinal within the block, or -1 */
int64_t taut_block_find(const taut_name_block *block, const int32_t *index);
void taut_block_index(const taut_name_block *block, int64_t ordinal, int32_t *index);
int taut_names_add(taut_names *names, taut_arena *arena, const char *name,
                   const taut_name_block *block);
int taut_names_print(const taut_names *names, taut_index k, char *buffer, size_t size);
taut_index taut_names_find(const taut_names *names, const char *text);
/* The number of the first member of a block, or of what follows it here. */
taut_index taut_names_begin(const taut_names *names, int64_t block);

/* One member of a VALUE kernel; its row = k for q_k, n + k for v_k. */
typedef struct taut_event_value {
    const taut_statement_kernel *kernel;
    int64_t member;
} taut_event_value;

typedef struct taut_event {
    int direction; /* +1 rising, -1 falling, 0 both */
    bool stop, alters;
    int32_t assignments; /* of several ranks, those that are here */
    taut_event_value *assign;
} taut_event;

typedef struct taut_setting {
    const char *name, *value;
} taut_setting;

/* The n x n pattern, and that of df/dy (start is NULL without algebraic variables). */
typedef struct taut_patterns {
    taut_pattern tangent, control;
} taut_patterns;

/* What is formed at the first request, once, whichever thread asks; constant from then on. */
typedef struct taut_late {
    pthread_mutex_t lock; /* held while patterns are formed */
    taut_arena arena;
    taut_patterns formed;
    _Atomic(const taut_patterns *) patterns; /* &formed when that is complete, NULL before */
} taut_late;

/* A table of the model: its name there, and the file that was read, or NULL. */
typedef struct taut_table_name {
    const char *name, *file;
} taut_table_name;

enum {
    TAUT_LIST_PARAMETER,
    TAUT_LIST_COMPLIANCE,
    TAUT_LIST_DAMPING,
    TAUT_LIST_START,
    TAUT_LIST_OUTPUT,
    TAUT_LIST_EVENT,
    TAUT_LIST_TENSION,
    TAUT_LIST_CONSERVED,
    TAUT_LIST_PAIR,
    TAUT_LIST_SHAPE,
    TAUT_LIST_SETTING,
    TAUT_LIST_COUNT
};

struct taut_system {
    taut_arena arena;
    taut_sizes sizes;
    const char *title, *file;
    const char *text; /* of the model; NULL for systems made in C */
    size_t text_length;
    taut_names coordinates, algebraic, bonds, parameters, outputs, events;

    /* kernels by what they compute */
    int32_t kernels;
    /* all that taut_evaluate runs, sorted by role */
    taut_statement_kernel **kernel;
    int64_t branches;                       /* of all guards */
    int32_t value_kernels[TAUT_LIST_COUNT]; /* counts of the lists below */
    /* in an order in which each can be evaluated; row = parameter */
    taut_statement_kernel **parameter_kernel;
    taut_statement_kernel **compliance_kernel, **damping_kernel; /* row = bond */
    /* row = k for q_k, n + k for v_k (first order: n + k for y_k) */
    taut_statement_kernel **start_kernel;
    taut_statement_kernel **output_kernel, **event_kernel;
    taut_statement_kernel **tension_kernel;   /* row = bond: see taut_context_tensions */
    taut_statement_kernel **conserved_kernel; /* invariants of mechanical systems (conserved.h) */
    taut_names conserved;
    taut_pattern conserved_rows;
    taut_statement_kernel **pair_kernel; /* numbers of sums over pairs (pair_sums.h) */
    struct taut_pair_sum **pair_sum;     /* these sums, which add to the slow potential */
    int32_t pair_sums;
    taut_statement_kernel **shape_kernel;   /* row = number of a point of [shapes] */
    taut_statement_kernel **setting_kernel; /* of [run]; row = number of a setting */
    taut_shape *shape;
    int shapes, shape_points;
    bool fast_terms; /* some terms of [potential] are marked `fast` */

    double *parameter_value;        /* at load, [parameters] */
    unsigned char *parameter_fixed; /* 1: structural, 2: overridden, not computed from others */
    /* unused entries are 1; diagonal masses that are not computed by kernels */
    double *mass_constant;
    unsigned char *soft;      /* [bonds] or NULL */
    unsigned char *hold;      /* [n] or NULL */
    unsigned char *positive;  /* [n] or NULL: the variable is never negative */
    int64_t start_steps;      /* order of evaluation of dependent start values */
    int32_t *start_kernel_of; /* [start_steps]: kernel, or ~kernel: all its members at once */
    taut_index *start_member_of;
    double from; /* time of the start */
    /* [start_given] or NULL: initial values that are given, rows as in start_kernel */
    const taut_index *start_row;
    const double *start_value;
    taut_index start_given;
    taut_event *event;
    taut_setting *setting, *stepper; /* [run]; [stepper] as key, text */
    int32_t steppers;
    bool allow_command; /* a command of [stepper] may be run */
    /* where the first statement of the motion with a kink stands, and what that means, or NULL */
    const char *kinks;
    const char **condition; /* words for taut_system_condition */
    int32_t conditions;
    const char **warning;
    int64_t warning_capacity;
    taut_table_name *table;
    int64_t tables, table_capacity;

    /* patterns */
    taut_index *jacobian_start, *jacobian_column; /* [m+1], [entries] */
    bool columns;    /* every kernel can write its entries by columns */
    taut_late *late; /* shared with systems derived from this one */
    bool owns_late;

    taut_native *native;  /* compiled tapes, or NULL */
    const char *compiled; /* whether and why, where Taut decided (drive/compile.c), or NULL */
    /* (fused.h) by [as stated, rigid motion][level and kind]; NULL: not compiled */
    struct taut_fused *fused[2][14];

    const struct taut_part
        *part;               /* of a model over several ranks (rank_part.h), or NULL: all of it */
    const taut_system *base; /* of a derived system (derived.c), or NULL */
    bool rigid;              /* bonds that are not soft have compliance 0 */
    double artificial;       /* ... or this compliance, without damping; 0: as stated */
    double softer;           /* ... or this times their compliance and damping time; 0: as stated */
    /* [bonds] or NULL: bonds that follow from others and have no part in the motion: soft springs
     * with g = 0 */
    const unsigned char *muted;

    /* systems that are not made of kernels evaluate themselves (callbacks.c); NULL for kernels */
    int (*evaluate)(taut_context *context, double t, const double *q, const double *v,
                    unsigned wanted, taut_values *values, taut_error *error);
    int (*attach)(taut_context *context, taut_error *error); /* prepares context->extra */
    int (*start)(taut_context *context, double t, double *q, double *v, taut_error *error);
    void *extra;
};

struct taut_context {
    const taut_system *system;
    taut_arena arena;
    taut_statistics statistics;
    const double
        *along;       /* [n] in taut_evaluate_product: matrices are multiplied with it, else NULL */
    int64_t renewals; /* how often parameters were renewed */
    double *parameter, *compliance, *damping, *mass;
    double *stiffness;    /* [m] 1/compliance; 0 of rigid bonds */
    unsigned char *fixed; /* as parameter_fixed, for this context */
    double *scratch;      /* [n] zero velocities, where v is not given */
    double *joined;       /* [2n] (q, v), for invariants of mechanical systems, or NULL */
    taut_index *next;     /* [invariants], room for them */
    double *factor;       /* [m] sqrt(k(t)/k); NULL: no stiffness depends on t */
    double *steady_force; /* [n] forces that depend on parameters only, or NULL */
    /* what evaluations run: system->kernel, or the held forms, and the registers of each */
    taut_statement_kernel *const *kernel;
    taut_block_regs *regs;
    struct taut_hold *hold; /* branches of guards, or NULL: conditions are evaluated (hold.c) */
    /* one per value kernel, lists in the order of value_kernels */
    taut_block_regs *value_regs;
    double *event_value, *event_regs; /* for taut_event_apply */
    struct taut_pair_work *pairs;     /* [pair_sums] lists of neighbours */
    struct taut_pool *pool;           /* of the run, or NULL: one thread */
    struct taut_parts *parts;         /* of evaluations by several threads, or NULL (parts.h) */
    double *pair_number;
    struct taut_pair_slices *slices; /* of large sums, or NULL (pair_sums.c) */
    /* of taut_evaluate_parameter, made at its first call (jets.c) */
    struct parameter_work *parameter_work;
    void *extra;
};

/* Are masses mass[n] of the context, in all states? Else they are evaluated. */
static inline bool taut_context_masses(const taut_context *context)
{
    const taut_system *system = context->system;
    return system->sizes.kind == TAUT_MECHANICAL && system->sizes.mass == TAUT_MASS_DIAGONAL &&
           !system->evaluate;
}

taut_statement_kernel **taut_system_list(const taut_system *system, int list, int32_t *count,
                                         int32_t *first);

/* Runs all kernels of a list in order into value[row]. */
void taut_run_list(taut_context *context, int list, const taut_inputs *inputs, double *value);

/* Called once by every maker of systems, when all kernels and sizes are set: sorts kernels,
 * forms the pattern of G. (pattern.c) */
int taut_system_complete(taut_system *system, taut_error *error);
/* Instructions of the tapes in one evaluation of f, g and G, and what goes with each: about 1 ns a
 * unit on a core of 2020. A measure of cost that does not depend on a clock. (object.c) */
double taut_system_work(const taut_system *system);
/* Forces that depend on velocities, other than the inertial ones of a kinetic energy. (object.c) */
bool taut_system_velocity_forces(const taut_system *system);
/* taut_system_memory with the matrices of second derivatives, or without them. (footprint.c) */
double taut_system_footprint(const taut_system *system, bool matrices);
/* An empty system with its arena; NULL when out of memory. */
taut_system *taut_system_new(const taut_allocator *allocator);
/* A copy that shares everything with `base`, which must outlive it and may be in use by other
 * threads; NULL when out of memory. allocator NULL: that of the base. (derived.c) */
taut_system *taut_system_derive(const taut_system *base, const taut_allocator *allocator);
/* taut_system_rigid with memory from an allocator. (derived.c) */
int taut_system_rigid_in(const taut_system *base, const taut_allocator *allocator,
                         taut_system **system, taut_error *error);
/* A derived system in which every bond that is not soft is an undamped spring of this compliance
 * > 0, whatever the model states: rigid bonds as the limit of stiff springs. (derived.c) */
int taut_system_artificial(const taut_system *base, double compliance, taut_system **system,
                           taut_error *error);
/* A derived system whose springs, but for soft ones, have `factor` > 0 times their compliance;
 * the damping constants d = tau/c stay. `base` must outlive it. (derived.c) */
int taut_system_softer(const taut_system *base, double factor, taut_system **system,
                       taut_error *error);
/* A derived system in which the bonds marked in muted[bonds] have no part: soft springs that are
 * never stretched, with lambda = 0. `base` must outlive it. (derived.c) */
int taut_system_without(const taut_system *base, const unsigned char *muted, taut_system **system,
                        taut_error *error);
/* A derived system with other initial values: value[i] for row[i], k for q_k, n + k for v_k (first
 * order: y_k); values of [start] that depend on them follow. `base` must outlive it. (derived.c) */
int taut_system_starting(const taut_system *base, taut_index count, const taut_index *row,
                         const double *value, taut_system **system, taut_error *error);
/* Writes these values over those of [start], or of the `start` of a system made in C, which calls
 * it. (initial_state.c) */
void taut_system_give(const taut_system *system, double *q, double *v);
/* Together with TAUT_WANT_JACOBIAN: entries are written by columns (base/rows.h). Where
 * taut_system_columns says so. */
enum { TAUT_WANT_COLUMNS = 1 << 29 };
/* Together with TAUT_WANT_FORCE: of terms of the potential that are marked `fast` alone, or of all
 * other forces. */
enum { TAUT_WANT_FAST = 1 << 27, TAUT_WANT_SLOW = 1 << 28 };
static inline bool taut_system_columns(const taut_system *system)
{
    return system->columns && !system->evaluate && !system->muted;
}
/* Clears g, g_t, G and gamma of muted bonds. (evaluate.c) */
void taut_values_mute(const taut_system *system, unsigned wanted, taut_values *values);
/* What may go with forces, point by point, while they are in the cache: force becomes a = M^-1
 * force, and v += h/2 a. With q, the array of positions itself: v += h/2 a again, q += h v; then
 * force and bond are room, and the result may be true where forces are not finite: v is not finite
 * then, nor ever again. */
typedef struct taut_kick {
    double h, *v, *q;
    const double *inverse; /* 1/M; NULL: all masses are 1 */
    bool done;             /* set where it was done, also when the result is false */
} taut_kick;
/* force = f - G^T C^-1 g, bond = C^-1 g, and stiff_force where its array is there, in one pass that
 * does not store G. All bonds are springs. kick: may be NULL. false: this is not possible here, or
 * something is not finite: taut_evaluate_inside finds out what. (evaluate.c) */
bool taut_evaluate_pull(taut_context *context, double t, const double *q, const double *v,
                        taut_values *values, taut_kick *kick);
/* Are kicks done, without stiff_force, while values are finite? */
bool taut_evaluate_kicks(const taut_context *context);
/* The tangent (and control) pattern, which is formed with the maps of all kernels at the first
 * call. Threads may share the system. */
int taut_system_form(const taut_system *system, const taut_patterns **patterns, taut_error *error);
/* The same where it has been formed; empty patterns (start NULL) where not. */
const taut_patterns *taut_system_patterns(const taut_system *system);
/* The point that a coordinate belongs to: its first coordinate, and how many it has (as in
 * taut_system_bond_ends). (bond_ends.c) */
taut_index taut_system_point(const taut_system *system, taut_index column, int *dimension);
/* For systems that are not made of kernels: gives the system a tangent pattern of its own, whose
 * arrays outlive it. Before anybody else has the system. */
int taut_system_set_tangent(taut_system *system, const taut_pattern *tangent, taut_error *error);
/* forces[m] in the bonds from the multipliers lambda[m] of the equations, which are those of
 * sqrt(k(t)/k) g where the stiffness k(t) depends on t; both may be the same array. (context.c) */
void taut_context_tensions(taut_context *context, double t, const double *lambda, double *forces);
/* TAUT_ERROR_EVALUATE where a stiffness that depends on t is not positive. (context.c) */
int taut_context_check_stiffness(taut_context *context, double t, taut_error *error);
/* Of taut_context_start: there is no initial state at this time, which need not be that of the
 * run. */
static inline bool taut_start_missing(int status)
{
    return status == TAUT_ERROR_EVALUATE || status == TAUT_ERROR_SINGULAR ||
           status == TAUT_ERROR_CONVERGE;
}
/* Renews what depends on parameters: derived parameters, compliances, damping times, constant
 * masses. */
int taut_context_renew(taut_context *context, taut_error *error);
/* A context of a derived system, with the parameters of one of its base. On failure *context may
 * still be there, to be destroyed. */
int taut_context_like(const taut_context *like, const taut_system *system,
                      const taut_allocator *allocator, taut_context **context, taut_error *error);
/* Fails with the name of the first entry of x that is not finite, when there is one. */
int taut_check_finite(const taut_system *system, taut_item item, const char *what, double t,
                      const double *x, int64_t count, taut_error *error);

#endif
