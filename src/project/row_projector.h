/* row_projector.h - a row of the table of projections as a projector inside runs
 * (row_projector.c). */
#ifndef TAUT_PROJECT_ROW_PROJECTOR_H
#define TAUT_PROJECT_ROW_PROJECTOR_H

#include "base/projector.h"
#include "project/project.h"

/* By settings->method, whose choice at the state (q, v) counts for `auto`; *row: which one it is.
 * Moves q and v to their slow point, and fails where there is none. Nothing is held. The projector
 * allocates no more after this. */
int taut_row_projector_create(taut_context *context, const taut_projection_settings *settings,
                              taut_arena *arena, taut_statistics *statistics, double t, double *q,
                              double *v, const taut_projection_method **row,
                              taut_projector **projector, taut_error *error);

#endif
