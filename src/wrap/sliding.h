/* sliding.h - a field in which some sign(u) are such that u stays 0: dry friction that sticks. */
#ifndef TAUT_WRAP_SLIDING_H
#define TAUT_WRAP_SLIDING_H

#include "base/field.h"
#include "system/hold.h"

enum { TAUT_SLIDING_MOST = 16 };

/* The same function in two statements, such as action and reaction: u_k = turn u_leader. */
typedef struct taut_guard_pair {
    int64_t k, leader;
    double turn; /* 1 or -1 */
} taut_guard_pair;

typedef struct taut_sliding {
    taut_field field; /* to be integrated while count > 0 */
    taut_field *inner;
    taut_context *context;
    int count;
    int64_t guard[TAUT_SLIDING_MOST];                     /* numbers of the branches, of leaders */
    double matrix[TAUT_SLIDING_MOST * TAUT_SLIDING_MOST]; /* du_i'/ds_j */
    bool known;                                           /* that is */
    const taut_guard_pair *pair;                          /* [pairs] */
    int64_t pairs;
    double *u, *rate; /* [branches] */
} taut_sliding;

/* `context` holds its branches; nothing slides yet. */
int taut_sliding_create(taut_sliding *sliding, taut_field *inner, taut_context *context,
                        taut_arena *arena, taut_error *error);
/* Branches of followers are those of their leaders. */
void taut_sliding_align(const taut_sliding *sliding);
/* Is the force that keeps the motion on its surfaces the only one, or could it leave some of them
 * as well? Of the latest evaluation. */
bool taut_sliding_unique(const taut_sliding *sliding);

#endif
