/* finite.h - what an evaluation gave, tested: TAUT_ERROR_EVALUATE with the first item that is not
 * finite. */
#ifndef TAUT_SYSTEM_FINITE_H
#define TAUT_SYSTEM_FINITE_H

#include "system/system.h"

int taut_check_forces(const taut_system *system, double t, unsigned wanted,
                      const taut_values *values, taut_error *error);
int taut_check_bonds(const taut_system *system, double t, unsigned wanted,
                     const taut_values *values, taut_error *error);
int taut_check_matrices(const taut_system *system, double t, unsigned wanted,
                        const taut_values *values, taut_error *error);

#endif
