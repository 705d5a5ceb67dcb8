/* vary.h - what a sweep varies: NAME=VALUES, and which values each run has. */
#ifndef TAUT_VERBS_VARY_H
#define TAUT_VERBS_VARY_H

#include "base/number.h"
#include "base/memory.h"

enum { TAUT_VARIED_TEXT = 64 }; /* room for a value as text */

/* One of the VALUES: a number or a word (from = to, count 1), or a range. */
typedef struct taut_vary_item {
    const char *word; /* or NULL */
    double from, to;
    int64_t count; /* 0: not given, which only random draws allow */
    bool logarithmic;
} taut_vary_item;

typedef struct taut_varied {
    const char *name;
    enum { TAUT_VARY_PARAMETER, TAUT_VARY_START, TAUT_VARY_OPTION } kind;
    taut_index k;    /* parameter; or initial value: k of q_k, n + k of v_k */
    bool structural; /* a parameter that fixes sizes or indices */
    taut_vary_item *item;
    int items;
    int64_t count; /* values in total */
    bool words, logarithmic;
} taut_varied;

typedef struct taut_vary_plan {
    taut_varied *varied;
    int count;
    int64_t runs;
    bool zip, random;
    uint64_t seed;
} taut_vary_plan;

int taut_vary_create(taut_arena *arena, const taut_system *system,
                     const taut_sweep_request *request, taut_vary_plan *plan, taut_error *error);
/* Value j of a run as a number (NaN: a word) and as text, with 17 digits. */
double taut_vary_value(const taut_vary_plan *plan, int64_t run, int j, char text[TAUT_VARIED_TEXT]);

#endif
