/* methods.h - the methods there are: one file each, one row each in methods.c. */
#ifndef TAUT_STEP_METHODS_H
#define TAUT_STEP_METHODS_H

#include "base/method.h"

extern const taut_method taut_verlet;

#endif
