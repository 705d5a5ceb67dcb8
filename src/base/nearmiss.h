/* nearmiss.h - "did you mean ...?" */
#ifndef TAUT_BASE_NEARMISS_H
#define TAUT_BASE_NEARMISS_H

#include <stdint.h>

/* Edits (insert, delete, replace, swap neighbours) that lead from a to b; names longer than 64
 * bytes count as far apart (99). */
int taut_edit_distance(const char *a, const char *b);
/* The nearest of `count` candidates, or NULL when none is near: 1 edit for names up to 4
 * letters, 2 up to 8, 3 beyond. */
const char *taut_near_miss(const char *name, const char *const *candidates, int64_t count);

#endif
