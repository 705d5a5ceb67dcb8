/* scatter.h - from registers of a kernel to arrays of the system; shared by evaluation and by jets. */
#ifndef TAUT_SYSTEM_SCATTER_H
#define TAUT_SYSTEM_SCATTER_H

#include "system/system.h"

/* Which level of a kernel's tape the wanted bits need; -1 when the kernel is not needed. */
int taut_kernel_level(const taut_kernel *kernel, unsigned wanted);
/* Sets the wanted arrays to zero (bonds are assigned, not added; energies become 0). */
void taut_values_clear(const taut_system *system, unsigned wanted, taut_values *values);
/* Adds members [first, first+n) of a kernel; `regs` is the block (of one Taylor order) with its lanes. */
void taut_kernel_scatter(const taut_context *context, const taut_kernel *kernel, unsigned wanted, int64_t first, int n,
                         const double *regs, int lanes, const double *v, taut_values *values);

/* (single.c) Is this a kernel of one member, of which nothing is wanted but f, g, G? Then taut_single_run does all: it loads, runs,
 * stores (forces are added), and returns what taut_kernel_test does. */
bool taut_single_suits(const taut_kernel *kernel, unsigned wanted);
double taut_single_run(const taut_system *system, const taut_kernel *kernel, int level, const taut_inputs *inputs, double *regs,
                       unsigned wanted, taut_values *values);

#endif
