/* stated.h - the accuracy that a projection itself states, for tests that hold it to its word. */
#ifndef TAUT_TESTS_STATED_H
#define TAUT_TESTS_STATED_H

#include <stdio.h>
#include <string.h>
#include <taut/taut.h>

/* From the explanation: kernel's "error about A in q, B in v", series' "the last one moved the state by A", "slow already, to rounding". False:
 * nothing is stated. */
static inline bool stated_accuracy(const taut_projection_result *r, double *q, double *v)
{
    const char *at = strstr(r->explanation, "error about ");
    if (at)
        return sscanf(at, "error about %lf in q, %lf in v", q, v) == 2;
    at = strstr(r->explanation, "moved the state by ");
    *v = *q = 0;
    if (strstr(r->explanation, "slow already, to rounding"))
        return true;
    if (!at || sscanf(at, "moved the state by %lf", q) != 1)
        return false;
    *v = *q;
    return true;
}

#endif
