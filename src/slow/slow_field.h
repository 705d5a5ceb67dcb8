/* slow_field.h - slow motion as a vector field for explicit methods, and the projector that keeps
 * it on its manifold (slow_field.c). */
#ifndef TAUT_SLOW_SLOW_FIELD_H
#define TAUT_SLOW_SLOW_FIELD_H

#include "base/field.h"
#include "base/projector.h"

/* Levels that small systems have as one tape each (system/fused.h). */
enum { TAUT_SLOW_TAPES = 3 };

typedef struct taut_slow_field {
    taut_field field;
    taut_projector onto; /* g = C lambda^(k), gdot = C d/dt lambda^(k) */
    taut_field *rigid;   /* level 0: no jets */
    struct taut_multiplier_recursion *recursion;
    int level;            /* k, to be set */
    int most;             /* for the context, by jets */
    double *q, *v, *step; /* [n] */
    /* by level, or NULL: accelerations (level 0: `rigid`), y and y'; and both corrections */
    struct taut_fused_work *acceleration[TAUT_SLOW_TAPES], *manifold[TAUT_SLOW_TAPES];
    struct taut_fused_work *position, *velocity;
    taut_context *context;
    taut_arena *arena;
    taut_index rods, *rod;        /* bonds that are not soft */
    double *y, *a[2], *lambda[2]; /* [2m], [n], [m]: of these, and for corrections */
} taut_slow_field;

/* How far two levels are apart at one state. */
typedef struct taut_slow_correction {
    const double *a, *a_before; /* [n]: accelerations of a level and of the one before */
    double lambda;              /* largest change of a multiplier */
    double before;              /* largest multiplier of the level before */
    double size;                /* largest multiplier; first: that it will have soon */
    double rate;                /* of the slow motion, 1/time; first */
} taut_slow_correction;

/* The context's system is mechanical, with springs, TAUT_CAN_JETS and no stiff potential; level 0.
 * Memory comes from the arena. */
int taut_slow_field_create(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                           taut_slow_field **field, taut_error *error);
/* Levels are tapes: an evaluation costs a third of what jets cost, or less. */
bool taut_slow_field_is_small(const taut_slow_field *field);
/* Memory for all up to this level (of corrections: one above that of the field, which is set). What
 * is evaluated then allocates nothing. */
int taut_slow_field_reserve(taut_slow_field *field, int level, taut_error *error);
/* What level j >= 1 adds to level j - 1 at a state; `first`: j is 1, and the rate is wanted. Not
 * counted as work. */
int taut_slow_field_correction(taut_slow_field *field, int level, bool first, double t,
                               const double *q, const double *v, taut_slow_correction *correction,
                               taut_error *error);

#endif
