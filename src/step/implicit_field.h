/* implicit_field.h - implicit Runge-Kutta methods on a field (implicit_field.c). */
#ifndef TAUT_STEP_IMPLICIT_FIELD_H
#define TAUT_STEP_IMPLICIT_FIELD_H

#include "base/method.h"

/* The row of an implicit Runge-Kutta method that integrates stepper->field;
 * false: `method` is none. */
bool taut_implicit_on_field(const taut_method *method, taut_method *on_field);

#endif
