/* options.h - what the library itself asks of the options table. */
#ifndef TAUT_BASE_OPTIONS_H
#define TAUT_BASE_OPTIONS_H

#include "base/memory.h"

/* The row of a name, or NULL. */
const taut_option *taut_option_find(const char *name);
/* Is the value one of the words of the row: its choices, or what it accepts besides numbers? */
bool taut_option_word(const taut_option *row, const char *value);
/* Fails for a name that is not in the table, with a suggestion. `prefix` is where it is written,
 * "[run] ": then the sentence begins with both; with NULL the name is error->option. */
int taut_option_unknown(const char *prefix, const char *name, taut_error *error);
/* taut_options_set with another prefix in messages. */
int taut_options_set_as(taut_options *options, const char *prefix, const char *name,
                        const char *value, taut_error *error);
/* Takes over every value that was given in `from`. */
int taut_options_merge(taut_options *options, const taut_options *from, taut_error *error);
/* From now on reads are noted (taut_options_given is none). Options that threads share must not
 * be tracked. */
int taut_options_track(taut_options *options, taut_error *error);
/* The name of the next option after row *at (begin with -1) that `given` has and that was not read
 * in the tracked `options`; only those that are allowed in [run], since the program itself
 * reads the others. NULL: no more. */
const char *taut_options_unread(const taut_options *options, const taut_options *given, int *at);

#endif
