/* compare.h - one comparison from the inside. */
#ifndef TAUT_VERBS_COMPARE_H
#define TAUT_VERBS_COMPARE_H

#include "base/memory.h"

struct taut_comparison {
    taut_arena arena;
    taut_compared *row;
    int rows;
    double uncertainty, uncertainty_velocity;
    char explanation[600];
};

#endif
