/* stated.h - the accuracy that a projection itself states, for tests that hold it to its word. */
#ifndef TAUT_TESTS_SUPPORT_STATED_H
#define TAUT_TESTS_SUPPORT_STATED_H

#include <stdio.h>
#include <string.h>
#include <taut/taut.h>

/* From the explanation: "error about A in q, B in v", or "slow already, to rounding". False:
 * nothing is stated. */
static inline bool stated_accuracy(const taut_projection_result *r, double *q, double *v)
{
    const char *at = strstr(r->explanation, "error about ");
    if (at)
        return sscanf(at, "error about %lf in q, %lf in v", q, v) == 2;
    *v = *q = 0;
    return strstr(r->explanation, "slow already, to rounding");
}

#endif
