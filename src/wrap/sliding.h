/* sliding.h - a field in which some sign(u) are such that u stays 0: dry friction that sticks. */
#ifndef TAUT_WRAP_SLIDING_H
#define TAUT_WRAP_SLIDING_H

#include "base/field.h"
#include "system/hold.h"

enum { TAUT_SLIDING_MOST = 16 };

typedef struct taut_sliding {
    taut_field field; /* to be integrated while count > 0 */
    taut_field *inner;
    taut_context *context;
    int count;
    int64_t guard[TAUT_SLIDING_MOST];                     /* numbers of the branches */
    double matrix[TAUT_SLIDING_MOST * TAUT_SLIDING_MOST]; /* du_i'/ds_j */
    bool known;                                           /* that is */
    double *u, *rate;                                     /* [branches] */
} taut_sliding;

/* `context` holds its branches; nothing slides yet. */
int taut_sliding_create(taut_sliding *sliding, taut_field *inner, taut_context *context,
                        taut_arena *arena, taut_error *error);

#endif
