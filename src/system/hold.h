/* hold.h - a context in which guards (kernel/guards.c) keep given branches: values, derivatives and
 * jets are those of the branch, continued beyond the guard. */
#ifndef TAUT_SYSTEM_HOLD_H
#define TAUT_SYSTEM_HOLD_H

#include "system/system.h"

typedef struct taut_hold {
    double *branch; /* [system->branches] */
    /* per kernel of the system; of those without guards as without hold */
    taut_statement_kernel **kernel;
    taut_block_regs *regs, *plain; /* plain: of the statements as written */
    taut_block_regs *value_regs;   /* of the functions u */
    bool fixed;                    /* by taut_hold_fix */
} taut_hold;

/* NULL when conditions are evaluated. */
static inline const double *taut_hold_branches(const taut_context *context)
{
    return context->hold ? context->hold->branch : NULL;
}

/* From here on the context holds its branches, which are those of taut_hold_set or what the caller
 * writes into hold->branch; nothing happens in a system without guards. Allocates. */
int taut_hold_create(taut_context *context, taut_error *error);
/* Evaluates conditions where they are met for a while, or holds branches again. */
void taut_hold_use(taut_context *context, bool held);
/* From here on conditions of kernel k are evaluated where they are met. */
void taut_hold_release(taut_context *context, int32_t k);
/* The same branches as another context of the same or a derived system; both hold theirs. */
void taut_hold_follow(const taut_context *leader, taut_context *context);
/* The branches do not change until taut_hold_vary: blocks of members with the same
 * ones do not load them in every evaluation. */
void taut_hold_fix(taut_context *context);
void taut_hold_vary(taut_context *context);
/* After a change of parameters. */
void taut_hold_renew(taut_context *context);
/* u[branches] of all guards and, unless rate is NULL, their rates along the motion with
 * accelerations a (first order: rates a). `of_time`: only statements with guards of time. */
void taut_hold_values(taut_context *context, double t, const double *q, const double *v,
                      const double *a, bool of_time, double *u, double *rate);

/* One guard of a statement, for all members. */
typedef struct taut_guard_family {
    const taut_guard *guard;
    const char *place; /* file:line of the statement, or NULL */
    int64_t first, members;
    int32_t kernel; /* of the system */
} taut_guard_family;
/* Families in the order of the kernels: false behind the last one. */
bool taut_guard_family_get(const taut_system *system, int32_t k, taut_guard_family *family);

#endif
