/* pair_sums.h - potentials that are sums over pairs of particles within a cut-off: one tape, whose
 * members change with the positions.
 *
 * Forces of large sums are added by slices of the first particles, each into an array of its own,
 * and these in their order, so that threads can share them: the bits do not depend on how many. */
#ifndef TAUT_SYSTEM_PAIR_SUMS_H
#define TAUT_SYSTEM_PAIR_SUMS_H

#include "system/pair_list.h"
#include "system/system.h"

enum {
    /* numbers of a sum, which depend on parameters: rows of TAUT_LIST_PAIR */
    TAUT_PAIR_CUT,
    TAUT_PAIR_SKIN_WIDTH,
    TAUT_PAIR_BOX, /* one for each direction */
    TAUT_PAIR_NUMBERS = TAUT_PAIR_BOX + 3,
    /* Second derivatives have entries for all pairs, near or not: families of at most this many
     * have them. */
    TAUT_PAIR_DENSE = 10000
};

/* A sum in a system. */
typedef struct taut_pair_sum {
    taut_pair_families families;
    /* The term; its member k is the pair of the particles k of both families, the last one where
     * there is no k. Gather maps and data of a slot are those of the side of the slot. */
    taut_statement_kernel *kernel;
    const signed char *side; /* [slots] 0: the first family, 1: the second, -1: all members alike */
    bool periodic, skin;     /* are these numbers given? */
    const taut_error *place; /* file, line and column, for messages */
} taut_pair_sum;

/* The same in a context: the list, and room for as many pairs as are evaluated at once. */
typedef struct taut_pair_work {
    const taut_pair_sum *sum;
    taut_pair_list list;
    taut_statement_kernel kernel; /* with the maps of a batch */
    taut_block_regs regs;
    double *number;      /* [TAUT_PAIR_NUMBERS] */
    double *q;           /* [2 dimension][lanes] positions, the second ones as images */
    int32_t *pair[2];    /* [lanes] particles */
    taut_index **gather; /* [locals]: places of the forces, then [slots]: of parameters */
    double **data;       /* [slots] */
    taut_index *map;     /* [locals^2][lanes] in the tangent pattern, or NULL */
} taut_pair_work;

/* One walk over the pairs of a sum: `run` gets n of them at a time, with the maps and data of
 * `work->kernel`, their particles in work->pair and their positions in work->q. */
typedef struct taut_pair_visit {
    void (*run)(const struct taut_pair_visit *visit, int n);
    taut_context *context;
    const taut_inputs *inputs;
    unsigned wanted;
    taut_values *values;
    taut_pair_work *work;
    int level;
    const void *own; /* of the caller */
} taut_pair_visit;

int taut_pair_sums_create(taut_context *context, taut_error *error);
/* After a change of parameters; fails where a cut-off or a term is not as it must be. */
int taut_pair_sums_renew(taut_context *context, taut_error *error);
/* Lists for the positions q: before taut_pair_sums_add. */
int taut_pair_sums_update(taut_context *context, const double *q, taut_error *error);
/* Adds what is wanted of forces, potential and derivatives of the forces. part: TAUT_WANT_FAST,
 * TAUT_WANT_SLOW, or 0. */
void taut_pair_sums_add(taut_context *context, const taut_inputs *inputs, unsigned wanted,
                        unsigned part, taut_values *values);
/* Forces of large sums by the threads of the pool of the context. */
int taut_pair_sums_share(taut_context *context, taut_error *error);
/* The pairs of one sum at the positions q, for which its list is up to date. */
void taut_pair_sum_visit(const taut_pair_visit *visit, const double *q);
/* Whether second derivatives have a pattern; refuses a system with sums of which they have none. */
bool taut_pair_sum_dense(const taut_pair_sum *sum);
int taut_pair_sums_check(const taut_system *system, taut_error *error);

#endif
