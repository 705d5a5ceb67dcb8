/* reasons.h - why something cannot treat a system, in words: refusals of methods and of
 * projections come from one table. */
#ifndef TAUT_BASE_REASONS_H
#define TAUT_BASE_REASONS_H

#include <taut/taut.h>

/* "cannot treat rigid bonds (give the bonds a stiffness), needs ...", for every capability bit
 * that is missing or in the way. */
const char *taut_reasons_text(unsigned bits, char *buffer, size_t size);

#endif
