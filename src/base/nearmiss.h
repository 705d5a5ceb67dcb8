/* nearmiss.h - "did you mean ...?"; taut_near_miss is public. */
#ifndef TAUT_BASE_NEARMISS_H
#define TAUT_BASE_NEARMISS_H

#include <taut/taut.h>

/* Edits (insert, delete, replace, swap neighbours) that lead from a to b; names longer than 64
 * bytes count as far apart (99). */
int taut_edit_distance(const char *a, const char *b);

#endif
