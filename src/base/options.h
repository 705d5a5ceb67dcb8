/* options.h - what the library itself asks of the options table. */
#ifndef TAUT_BASE_OPTIONS_H
#define TAUT_BASE_OPTIONS_H

#include "base/memory.h"

/* The row of a name, or NULL. */
const taut_option *taut_option_find(const char *name);
/* Fails for a name that is not in the table, with a suggestion; `prefix` stands before names: "--", or "[run] ". */
int taut_option_unknown(const char *prefix, const char *name, taut_error *error);
/* taut_options_set with another prefix in messages. */
int taut_options_set_as(taut_options *options, const char *prefix, const char *name, const char *value, taut_error *error);
/* Takes over every value that was given in `from`. */
int taut_options_merge(taut_options *options, const taut_options *from, taut_error *error);

#endif
