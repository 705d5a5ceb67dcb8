/* kernel.h - one statement of a model as one tape and integer gather maps: a family is never
 * expanded.
 *
 * A kernel has *slots* (inputs of the tape, each gathered from q, v, lambda, the parameters,
 * time or per-member data) and *local coordinates*: the distinct coordinates one member refers
 * to, each with a slot for its position and, where needed, its velocity. Derivatives are taken
 * with respect to the local coordinates and scattered through their gather maps. */
#ifndef TAUT_SYSTEM_KERNEL_KERNEL_H
#define TAUT_SYSTEM_KERNEL_KERNEL_H

#include "expr/tape.h"
#include "system/kernel/lanes.h"

typedef enum taut_role {
    /* a row of g: also constraints, invariants and observables of first-order systems */
    TAUT_ROLE_BOND,
    TAUT_ROLE_POTENTIAL, /* adds to the slow potential */
    TAUT_ROLE_STIFF,     /* adds to the stiff potential, scale included */
    TAUT_ROLE_FORCE,     /* adds to a generalised force; first order: a rate */
    TAUT_ROLE_KINETIC,   /* adds to the kinetic energy */
    TAUT_ROLE_MASS,      /* an entry of M */
    TAUT_ROLE_VALUE,     /* a number: output, event, compliance, start value, parameter */
    TAUT_ROLE_GUARD,     /* the guards of another statement (guards.c) */
    TAUT_ROLE_COUNT
} taut_role;

typedef enum taut_slot_source {
    TAUT_FROM_NOTHING, /* only used inside indices */
    TAUT_FROM_Q,
    TAUT_FROM_V,
    TAUT_FROM_LAMBDA,
    TAUT_FROM_PARAMETER,
    TAUT_FROM_WEIGHT, /* mass_weight of taut_values, gathered like a velocity */
    TAUT_FROM_BRANCH, /* branches of guards, in held statements */
    TAUT_FROM_TIME,
    TAUT_FROM_DATA
} taut_slot_source;

typedef struct taut_slot {
    unsigned char level; /* lowest level of the tape that reads it; 255: none */
    taut_slot_source source;
    taut_index one;           /* the position when it is the same for all members */
    const taut_index *gather; /* [members], or NULL: `one` */
    const double *data;       /* [members] of TAUT_FROM_DATA */
} taut_slot;

typedef struct taut_local {
    int32_t q_slot, v_slot;   /* -1 when absent */
    const taut_index *gather; /* [members], or NULL: `one` */
    taut_index one;
    taut_places places; /* the same */
} taut_local;

/* A slot that every evaluation loads; parameters that all members share are set once instead. */
typedef struct taut_fetch {
    int32_t to, source; /* register, taut_slot_source */
    taut_places places;
    /* the next one is the other component of the same points: both are loaded at once */
    bool pair;
    const double *data; /* of TAUT_FROM_DATA */
} taut_fetch;

/* A condition inside an expression. Its function u decides the branch: u > 0 (1, else -1 or 0), or
 * the cell floor(u). */
typedef enum taut_guard_kind { TAUT_GUARD_SIGN, TAUT_GUARD_SIDE, TAUT_GUARD_CELL } taut_guard_kind;
typedef struct taut_guard {
    taut_op op; /* that is held */
    taut_guard_kind kind;
    bool of_state; /* u depends on q or v; else on t alone */
    bool curved;   /* u is not a linear function of t */
    double length; /* of the table one of whose ends it is; 0: of none */
} taut_guard;

/* The guards of a statement; branch g of member m is number first + g * members + m. */
typedef struct taut_guards {
    int32_t count;
    taut_guard *guard;
    int64_t first;
    /* the statement with branches as inputs: each is continued beyond its guard */
    struct taut_statement_kernel *held;
    struct taut_statement_kernel *values; /* role GUARD */
    const char *place;                    /* file:line, or NULL */
} taut_guards;

/* Where the outputs of each role begin; nc is the number of local coordinates, tri = nc (nc + 1)
 * / 2.
 *   BOND       g | G[nc] | g_t | gamma | Hess[tri]                      levels 0 | 1 | 1 | 2 | 3
 *   POTENTIAL   V | grad[nc] | Hess[tri]   levels 0 | 1 | 2   (STIFF alike)
 *   FORCE      f | df/dq[nc] | df/dv[nc]                                levels 0 | 1 | 1
 *   KINETIC
 *   T | p[nc] | M[tri] | force[nc] | dforce/dq[nc][nc] | dforce/dv[nc][nc] | d(M w)/dq[nc][nc]
 *   levels 0 1 1 2 3 3 4
 *   MASS       M | dM/dq[nc]                                            levels 0 | 1
 *   VALUE      value                                                    level 0
 *   GUARD      u[guards] | du/dt[guards]                                levels 0 | 1 */
typedef struct taut_statement_kernel {
    taut_role role;
    taut_tape *tape;
    int64_t members;
    int32_t slots, locals;
    const taut_slot *slot;
    const taut_local *local;
    /* fetch[0 .. fetch_end[k]-1] are needed up to level k */
    int32_t fetches, fetch_end[TAUT_LEVELS];
    const taut_fetch *fetch;
    int32_t time_slot; /* -1: time is not read */
    int32_t watch_end[TAUT_LEVELS];
    /* BOND: registers that are finite when g, G, g_t, gamma of levels up to k are */
    const int32_t *watch;
    /* [members]: bond row, force coordinate, value target; entry of M */
    const taut_index *row, *column;
    taut_places rows; /* row[] */
    /* BOND: G by columns (base/rows.h): the place of the first member's first entry, and from entry
     * to entry; 0: members are not neighbours there */
    taut_index column_first, column_step;
    /* [locals*locals][members] positions in the tangent pattern (pattern.c), or NULL */
    const taut_index *map;
    /* [locals][members] positions in the control pattern, or NULL */
    const taut_index *control_map;
    bool uses_q, uses_v, uses_t; /* does the value (level 0; KINETIC: M) depend on it? */
    bool kinks, tables;          /* the value has abs, min, floor, ...; table look-ups */
    taut_guards *guards;         /* of these, or NULL */
    struct taut_family *family;  /* BOND: of springs whose points follow each other, or NULL */
    bool second;                 /* second derivatives are not identically zero */
    bool steady;                 /* POTENTIAL: the gradient depends on nothing but parameters */
    bool fast;                   /* POTENTIAL: see TAUT_WANT_FAST of system.h */
    bool ghost;                  /* POTENTIAL: its energy is that of another rank */
    /* one member of a bond, potential or force: single.c can run it */
    bool single;
    /* level for requests of f, g, G and stiff force alone (scatter.h), -1: not needed */
    signed char simple_level[16];
} taut_statement_kernel;

/* What a builder hands over: the graph, its root, and the slots that are in use. */
typedef struct taut_statement_kernel_plan {
    taut_role role;
    taut_graph *graph;
    int32_t root;
    int64_t members;
    int32_t slots;     /* grows when velocities are needed for derivatives */
    taut_slot *slot;   /* room for 3*slots + 1 */
    int32_t time_slot; /* slot of time, or -1 */
    const taut_index *row, *column;
    bool first_order; /* V is the algebraic variables: no gamma */
    bool fast;        /* see the kernel */
    /* number of branches so far, raised by those of the guards; NULL: none are made */
    int64_t *branches;
    /* further nodes whose slots are in use; of role GUARD its functions u */
    const int32_t *also;
    int32_t also_count;
    bool held; /* the statement of other guards, made by guards.c */
} taut_statement_kernel_plan;

/* Differentiates and makes the tape. The kernel lives in `arena`. */
int taut_statement_kernel_create(taut_statement_kernel_plan *plan, taut_arena *arena,
                                 taut_statement_kernel **kernel, taut_error *error);

/* The guards of a statement that has been made from this plan, whose slots were `slots` then:
 * kernel->guards, NULL when it has none. Part of taut_statement_kernel_create. (guards.c) */
int taut_guards_create(const taut_statement_kernel_plan *plan, int32_t slots, taut_arena *arena,
                       taut_statement_kernel *kernel, taut_error *error);

/* Arrays that slots are gathered from; by name, or by taut_slot_source. */
typedef struct taut_inputs {
    union {
        struct {
            const double *nothing, *q, *v, *lambda, *parameter, *weight, *branch;
        };
        const double *from[TAUT_FROM_BRANCH + 1];
    };
    double t;
    /* a Taylor coefficient of order 1 or more: data and arrays that are NULL have none, and their
     * registers stay */
    bool moving;
} taut_inputs;

/* Register block of one kernel in one context. */
typedef struct taut_block_regs {
    int lanes;
    double *regs;
    /* of kernels that hold branches, while these do not change: */
    int32_t *alike;   /* [blocks]: equal numbers, equal branches of all members; 0: they differ */
    int32_t loaded;   /* the number whose branches are in their registers; 0: none; */
    int loaded_level; /* those that this level needs */
    bool fixed;       /* alike is valid */
} taut_block_regs;

/* Finds out what evaluations load, once slots and tape are there; part of
 * taut_statement_kernel_create. (gather.c) */
/* 0 or TAUT_ERROR_MEMORY */
int taut_statement_kernel_plan_fetches(taut_statement_kernel *kernel, taut_arena *arena);

/* regs->lanes is that of the caller, unless it is 0. 0 or TAUT_ERROR_MEMORY. */
int taut_statement_kernel_regs(const taut_statement_kernel *kernel, taut_arena *arena,
                               taut_block_regs *regs);
/* Writes parameters (which do not change between evaluations) into the block, for slots without
 * gather. */
void taut_statement_kernel_set_parameters(const taut_statement_kernel *kernel,
                                          const double *parameter, taut_block_regs *regs);
/* Gathers what members [first, first + n) need up to a level. */
void taut_statement_kernel_load(const taut_statement_kernel *kernel, int level, int64_t first,
                                int n, const taut_inputs *inputs, taut_block_regs *regs);
/* The same, and runs to that level. */
void taut_statement_kernel_run(const taut_statement_kernel *kernel, int level, int64_t first, int n,
                               const taut_inputs *inputs, taut_block_regs *regs);
/* After a run: 0 when g, G and gamma of n members are finite, NaN when they may not be (see
 * taut_lanes_test). */
double taut_statement_kernel_test(const taut_statement_kernel *kernel, int level, int n,
                                  const taut_block_regs *regs);

#endif
