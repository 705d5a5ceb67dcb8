/* parts.h - evaluations by several threads. The coordinates are divided into parts, ranges that the
 * system determines, not the number of threads. A part runs all batches of members that act on its
 * coordinates, kernel by kernel, and adds what falls on these alone: every coordinate gets its
 * terms in the order in which one thread adds them, hence the same bits. Batches across a border
 * are run by both sides; what bonds have by rows is written by one of them.
 *
 * Kernels whose members are scattered over the coordinates are run by the caller alone. */
#ifndef TAUT_SYSTEM_PARTS_H
#define TAUT_SYSTEM_PARTS_H

#include "base/pool.h"
#include "system/kernel/scatter.h"

/* Batches of a kernel: those that act on a part; of these, those that write their rows, and those
 * that act on no other part. */
typedef struct taut_span {
    int32_t run, run_end, own, own_end, clear, clear_end;
} taut_span;

typedef struct taut_parts {
    int count;
    taut_index *begin;      /* [count + 1]: coordinates */
    bool *regular;          /* [kernels] */
    taut_span **span;       /* [kernels][count] */
    int threads;            /* with registers; the first has those of the context */
    taut_block_regs **regs; /* [threads][kernels] */
    double *edge;           /* room of the largest family (kernel/family.h), or NULL */
} taut_parts;

/* Evaluations of this context use the pool where that pays, from now on; the pool outlives it. */
int taut_context_share(taut_context *context, taut_pool *pool, taut_error *error);
/* After a change of parameters. */
void taut_parts_renew(taut_context *context);

/* Whether evaluations of these bits are done by parts. */
static inline bool taut_parts_serve(const taut_context *context, unsigned wanted)
{
    return context->parts && !context->hold &&
           !(wanted & ~((unsigned)TAUT_WANT_PARTS | TAUT_WANT_PULL));
}

typedef struct taut_parts_task {
    const taut_inputs *inputs;
    unsigned wanted;
    int32_t left;           /* a kernel that is not run, or -1 */
    bool begin, steady;     /* forces begin with zero, or with the steady ones */
    taut_index from, until; /* but not here */
} taut_parts_task;
/* All kernels; NaN when a bond may not be finite, else 0. *force: the same of forces, of those that
 * are wanted. */
double taut_parts_run(taut_context *context, const taut_parts_task *task, taut_values *values,
                      double *force);

#endif
