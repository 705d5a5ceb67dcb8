/* reasons.h - why a method or projection does not support a system: the texts of refusals,
 * one table for both. */
#ifndef TAUT_BASE_REASONS_H
#define TAUT_BASE_REASONS_H

#include <taut/taut.h>

/* "does not support rigid bonds (give the bonds a stiffness), needs ...", for every capability
 * bit that is missing or not supported. */
const char *taut_reasons_text(unsigned bits, char *buffer, size_t size);

#endif
