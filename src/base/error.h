/* error.h - failing with a sentence: codes come from one table, the message goes to the caller's
 * taut_error. */
#ifndef TAUT_BASE_ERROR_H
#define TAUT_BASE_ERROR_H

#include <stdarg.h>

#include "base/inside.h"

/* Fills *error (may be NULL) with a code and a message; returns the code, so that callers write
 * `return taut_fail(...)`. */
int taut_fail(taut_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same about an option of the table: the sentence does not name it, the program shows it as
 * --rtol, a binding as rtol. */
int taut_fail_option(taut_error *error, int code, const char *option, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for an argument of a public call; `required` is the condition that does not hold. */
int taut_fail_argument(taut_error *error, const char *call, const char *required);
/* The same for an allocation that failed. */
int taut_fail_memory(taut_error *error);
/* For callers who can do without what failed, and try another way: 0, or the status with its
 * reason in *error (may be NULL) when no other way is open, because memory ran out or a callback
 * asked to stop. */
int taut_fail_final(int status, const taut_error *reason, taut_error *error);
/* The message of *error, with control characters of foreign text made visible. */
void taut_message(taut_error *error, const char *format, va_list list)
    __attribute__((format(printf, 2, 0)));
/* The source line of *error, whose column is set; of a long line the part around it. */
void taut_error_quote(taut_error *error, const char *line, size_t length);
/* Empties *error (may be NULL). */
void taut_error_clear(taut_error *error);

/* The only positive status inside the library: "cannot evaluate here, try a smaller step".
 * Callbacks return it as any positive number. What ends a run (event, limit, interrupt) is a result
 * and travels another way. */
enum { TAUT_RETRY = 1 };

/* Leaves a public function with TAUT_ERROR_USAGE unless the condition on its arguments holds. */
#define TAUT_REQUIRE(condition)                                                                    \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return taut_fail_argument(error, __func__, #condition);                                \
    } while (0)

/* Leaves the function with the status of `call` unless it is 0. */
#define TAUT_TRY(call)                                                                             \
    do {                                                                                           \
        int status_ = (call);                                                                      \
        if (status_ != 0)                                                                          \
            return status_;                                                                        \
    } while (0)

#endif
