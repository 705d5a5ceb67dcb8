/* projected_field.h - a field that is evaluated on the slow manifold only (projected_field.c). */
#ifndef TAUT_WRAP_PROJECTED_FIELD_H
#define TAUT_WRAP_PROJECTED_FIELD_H

#include "base/field.h"
#include "base/projector.h"

/* `inner` is a field of fields.h, of second order; `by` leads to slow points. Both must outlive the
 * field, which owns neither. Memory comes from the arena. */
int taut_field_projected(taut_field *inner, taut_projector *by, taut_arena *arena,
                         taut_field **field, taut_error *error);

#endif
