/* lanes.h - the loops over members that every evaluation goes through: load, store, add, test. */
#ifndef TAUT_SYSTEM_KERNEL_LANES_H
#define TAUT_SYSTEM_KERNEL_LANES_H

#include <taut/taut.h>

/* Where the members of a family are in an array: member k at gather[k] or, when gather is NULL,
 * at first + stride k. Families mostly refer to their neighbours, so that the second form is the
 * rule; it needs no index and lets the compiler form vectors. */
typedef struct taut_places {
    const taut_index *gather;
    taut_index first, stride;
    bool repeats; /* places of gather follow each other several times */
} taut_places;

/* The places gather[0..members-1] (all of them `one` when gather is NULL), in the second form
 * when they can be. */
taut_places taut_places_make(const taut_index *gather, taut_index one, int64_t members);
/* Those of the members from `first` on. */
taut_places taut_places_from(const taut_places *places, int64_t first);

static inline taut_index taut_place_of(const taut_places *places, int64_t k)
{
    return places->gather ? places->gather[k] : (taut_index)(places->first + places->stride * k);
}

void taut_lanes_fill(double *to, int64_t n, double value);
/* to[k] = from[place k] */
void taut_lanes_load(double *to, const double *from, taut_places places, int n);
/* x[k], y[k] = from[2 k], from[2 k + 1]: both components of points in a plane */
void taut_lanes_load_pairs(double *x, double *y, const double *from, int n);
/* to[place k] = x[k] */
void taut_lanes_store(double *to, const double *x, taut_places places, int n);
/* to[place k] += sign x[k], member by member */
void taut_lanes_add(double *to, double sign, const double *x, taut_places places, int n);
/* to[k] = x[k] by[place k] */
void taut_lanes_weigh(double *to, const double *x, const double *by, taut_places places, int n);
/* to[place k] -= x[k] y[k]; and both components of points in a plane: to[2 k] -= x[k] y[k],
 * to[2 k + 1] -= x[k] z[k] */
void taut_lanes_pull(double *to, const double *x, const double *y, taut_places places, int n);
void taut_lanes_pull_pairs(double *to, const double *x, const double *y, const double *z, int n);
/* to[k] -= x[k] from[place k]; and both components of points in a plane: to[k] -= x[k] from[2 k] +
 * y[k] from[2 k + 1] */
void taut_lanes_push(double *to, const double *x, const double *from, taut_places places, int n);
void taut_lanes_push_pairs(double *to, const double *x, const double *y, const double *from, int n);
/* Short rows from long columns: to[k * columns + c] = x[column[c] * lanes + k] */
void taut_lanes_rows(double *to, const double *x, const int32_t *column, int32_t columns, int lanes,
                     int n);
/* 0: all are finite. NaN: some are not, or they are so large that their sum overflows; then a
 * closer look is needed. */
double taut_lanes_test(const double *x, int64_t n);

#endif
