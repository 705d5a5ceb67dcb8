/* adiabatic.h - the springs alone, between the kicks of the impulse methods, by adiabatic variables
 * (adiabatic.c). */
#ifndef TAUT_STEP_ADIABATIC_H
#define TAUT_STEP_ADIABATIC_H

#include "step/impulse.h"

/* w->adiabatic; refuses what it does not support. */
int taut_adiabatic_create(taut_impulse *w, taut_error *error);
void taut_adiabatic_destroy(taut_impulse *w);
/* (next_x, next_v) from t to t + steps h. */
int taut_adiabatic_advance(taut_impulse *w, double t, double h, int64_t steps, taut_error *error);

#endif
