/* scatter.h - from registers of a kernel to arrays of the system; shared by evaluation and by
 * jets. */
#ifndef TAUT_SYSTEM_KERNEL_SCATTER_H
#define TAUT_SYSTEM_KERNEL_SCATTER_H

#include "system/system.h"

/* Which level of a kernel's tape the wanted bits need; -1 when the kernel is not needed. */
int taut_statement_kernel_level(const taut_statement_kernel *kernel, unsigned wanted);
/* Sets the wanted arrays to zero (bonds are assigned, not added; energies become 0). */
void taut_values_clear(const taut_system *system, unsigned wanted, taut_values *values);
/* Adds members [first, first+n) of a kernel; `regs` is the block (of one Taylor order) with its
 * lanes. */
void taut_statement_kernel_scatter(const taut_context *context, const taut_statement_kernel *kernel,
                                   unsigned wanted, int64_t first, int n, const double *regs,
                                   int lanes, const double *v, taut_values *values);
/* Of requests of TAUT_WANT_PARTS: forces on coordinates begin .. end-1 alone, and what bonds have
 * by rows only with `rows` (system/parts.c). */
typedef struct taut_clip {
    taut_index begin, end;
    bool rows;
} taut_clip;
void taut_statement_kernel_scatter_clipped(const taut_context *context,
                                           const taut_statement_kernel *kernel, unsigned wanted,
                                           int64_t first, int n, const double *regs, int lanes,
                                           const taut_clip *clip, taut_values *values);

/* What every step asks for: evaluations of nothing else take a shorter way, in which a kernel's
 * level is looked up. */
enum {
    TAUT_WANT_SIMPLE = TAUT_WANT_FORCE | TAUT_WANT_STIFF_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN
};
/* bond[m]: C^-1 g, and -G^T of it is added to the forces, without G (taut_evaluate_pull) */
enum { TAUT_WANT_PULL = 1 << 30 };
/* What several threads may evaluate, each its own coordinates and bonds. */
enum {
    TAUT_WANT_PARTS =
        TAUT_WANT_SIMPLE | TAUT_WANT_GAMMA | TAUT_WANT_COLUMNS | TAUT_WANT_FAST | TAUT_WANT_SLOW
};
static inline unsigned taut_simple_index(unsigned wanted)
{
    return (wanted & (TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN)) |
           (wanted & TAUT_WANT_STIFF_FORCE ? 8 : 0);
}
/* Sets `single` and simple_level of a finished kernel, and the binding of its tape; 0 or
 * TAUT_ERROR_MEMORY. (single.c) */
int taut_statement_kernel_plan_simple(taut_statement_kernel *kernel, taut_arena *arena);
/* For a kernel that is `single`, and simple requests: loads, runs, stores (forces are added),
 * and returns what taut_statement_kernel_test does. (single.c) */
double taut_single_run(const taut_system *system, const taut_statement_kernel *kernel, int level,
                       const taut_inputs *inputs, double *regs, unsigned wanted,
                       taut_values *values);

/* With the Jacobian in the registers of members [first, first + n) of a bond: rows -= G x, forces
 * -= G^T y; rows or forces NULL: not this one. output: where the outputs of the tape are, NULL: in
 * their registers. */
void taut_statement_kernel_rows(const taut_statement_kernel *kernel, int64_t first, int n,
                                const double *regs, const int32_t *output, int lanes,
                                const double *x, const double *y, double *rows, double *forces);

#endif
