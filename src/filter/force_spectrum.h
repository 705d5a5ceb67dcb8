/* force_spectrum.h - accelerations of a system whose stiffness is in its forces, the frequencies
 * that their differences show, (force_spectrum.c, force_spectrum_large.c). */
#ifndef TAUT_FILTER_FORCE_SPECTRUM_H
#define TAUT_FILTER_FORCE_SPECTRUM_H

#include "point/projection.h"
#include "step/mechanics.h"

enum {
    TAUT_FORCE_SPECTRUM_MOST = 128, /* all frequencies up to this many coordinates */
    TAUT_FORCE_SPECTRUM_SEEN = 2048 /* steps of the iteration for more, at most */
};

typedef struct taut_force_spectrum {
    taut_projection *p;
    taut_index n;
    int most; /* steps of the iteration that keeps its vectors; 0: it has none yet */
    taut_mechanics mechanics;
    taut_saddle *mass; /* factorised; NULL for a diagonal one */
    /* displacement of differences, of the size of the state; 0: not chosen */
    double relative;
    double noise;       /* of K, seen so, relative */
    double noise_force; /* of forces, as far as it shows */
    double grain;       /* the same, relative to K times the unit of displacements */
    double *base, *force,
        *displaced;         /* [n]: F at the point, F at the displaced point, that point */
    double *x, *mx;         /* [most][n], at least two: vectors, and M times them */
    double *matrix, *value; /* [most][most], [most] */
    /* [TAUT_FORCE_SPECTRUM_SEEN]: the tridiagonal matrix of the iteration that keeps none */
    double *alpha, *beta;
    /* [n]: F on the other side; as the next, NULL up to TAUT_FORCE_SPECTRUM_MOST coordinates */
    double *other;
    double *clean_at;  /* [n]: where frequencies were clean last */
    bool clean, sharp; /* they were; with differences to both sides */
} taut_force_spectrum;

/* Where differences of forces are taken. */
typedef struct taut_force_spectrum_point {
    const double *q, *v; /* [n] */
    double length;       /* of the largest entry of a displacement */
    bool both;           /* to both sides: two evaluations */
    double noise;        /* of K then, relative */
} taut_force_spectrum_point;

/* Memory comes from the arena of p; evaluations count. Masses are constant. */
int taut_force_spectrum_create(taut_projection *p, taut_force_spectrum *spectrum,
                               taut_error *error);
void taut_force_spectrum_destroy(taut_force_spectrum *spectrum); /* half-made ones too */
/* M^-1 F(t, q) into a[n]. */
int taut_force_spectrum_accelerate(taut_force_spectrum *spectrum, double t, const double *q,
                                   const double *v, double *a, taut_error *error);

/* Noise of M^-1 F into a[n], after frequencies were seen. */
int taut_force_spectrum_noise(taut_force_spectrum *spectrum, double *a, taut_error *error);

/* What was seen at a point: square roots of |Omega^2|, ascending; `repels` where Omega^2 < 0.
 * Smaller ones than `floor` are noise. */
typedef struct taut_force_spectrum_seen {
    int count;
    double rate[TAUT_FORCE_SPECTRUM_SEEN];
    /* how far each may be from a true one; 0 when the iteration is complete */
    double loose[TAUT_FORCE_SPECTRUM_SEEN];
    bool repels[TAUT_FORCE_SPECTRUM_SEEN];
    /* of many coordinates: what rounding makes appear; the rate of the motion at the point */
    double noise, pace;
    double floor; /* the larger of these */
    int first;    /* the place of the first fast one; `count` when there is none */
    bool complete;
    /* of many coordinates: fast and slow are apart, and nothing in the gap is uncertain */
    bool clean;
} taut_force_spectrum_seen;

/* How frequencies of many coordinates are wanted. */
typedef struct taut_force_spectrum_request {
    double given; /* > 0: what is fast begins here */
    /* a state that hides the gap is not looked at for long, and with differences to one side */
    bool rough;
} taut_force_spectrum_request;

/* Costs one evaluation and one for each step of the iteration, n up to 128 coordinates; beyond,
 * about 100, or twice 100 when not rough. */
int taut_force_spectrum_see(taut_force_spectrum *spectrum, const double *q, const double *v,
                            const taut_force_spectrum_request *request,
                            taut_force_spectrum_seen *seen, taut_error *error);
/* Many coordinates: is q so near to where frequencies were clean last that they need not be seen
 * again? */
bool taut_force_spectrum_known(const taut_force_spectrum *spectrum, const double *q, bool rough);
/* The first fast one among rate[count], ascending: above the largest gap, or from 0.6 of `given`
 * on. */
int taut_force_spectrum_gap(int count, const double *rate, double floor, double given);

/* The rate of the motion at a point, from velocities and accelerations: one evaluation. */
int taut_force_spectrum_pace(taut_force_spectrum *spectrum, const double *q, const double *v,
                             double *rate, taut_error *error);

/* ---- parts of the iterations (force_spectrum.c, force_spectrum_large.c) */

/* force <- K x. */
int taut_force_spectrum_apply(taut_force_spectrum *spectrum, const taut_force_spectrum_point *at,
                              const double *x, taut_error *error);
/* x from M x, both divided by the norm of x, which is returned. */
int taut_force_spectrum_normalise(taut_force_spectrum *spectrum, double *x, double *mx,
                                  double *norm, taut_error *error);
/* M x of a vector that has something of every mode. */
void taut_force_spectrum_random(const taut_force_spectrum *spectrum, double *mx);
/* Puts Omega^2 = square, which may be off by `off`, among those seen, the largest last. */
void taut_force_spectrum_add(taut_force_spectrum_seen *seen, double square, bool repels,
                             double off);
/* The ends of the band, and whether they are clean; *even = false: K is not symmetric, and
 * nothing was seen. pace: of the motion. */
int taut_force_spectrum_ends(taut_force_spectrum *spectrum, const taut_force_spectrum_point *at,
                             const taut_force_spectrum_request *request, double pace,
                             taut_force_spectrum_seen *seen, bool *even, taut_error *error);

#endif
