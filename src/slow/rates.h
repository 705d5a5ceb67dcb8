/* rates.h - accelerations of a system whose stiffness is in its forces, the frequencies that their differences show, and how much of a state
 * is fast (rates.c, gauge.c). */
#ifndef TAUT_SLOW_RATES_H
#define TAUT_SLOW_RATES_H

#include "slow/projection.h"
#include "step/mechanics.h"

enum { TAUT_RATES_MOST = 128 }; /* all frequencies up to this many coordinates */

typedef struct taut_rates {
    taut_projection *p;
    taut_index n;
    int most; /* steps of Lanczos' iteration */
    taut_mechanics mechanics;
    taut_saddle *mass;           /* factorised; NULL for a diagonal one */
    double relative;             /* displacement of differences, of the size of the state; 0: not chosen */
    double *base, *force, *here; /* [n]: F at the point, F beside it, the point beside it */
    double *x, *mx;              /* [most][n]: vectors, and M times them */
    double *matrix, *value;      /* [most][most], [most] */
} taut_rates;

/* Memory comes from the arena of p; evaluations count. Masses are constant. */
int taut_rates_create(taut_projection *p, taut_rates *rates, taut_error *error);
void taut_rates_destroy(taut_rates *rates); /* takes half-made ones */
/* M^-1 F(t, q) into a[n]. */
int taut_rates_accelerate(taut_rates *rates, double t, const double *q, const double *v, double *a, taut_error *error);

/* What was seen at a point: square roots of |Omega^2|, ascending; `repels` where Omega^2 < 0. Smaller ones than `floor` are noise. */
typedef struct taut_rates_seen {
    int count;
    double rate[TAUT_RATES_MOST];
    double loose[TAUT_RATES_MOST]; /* how far each may be from a true one; 0 when the iteration is complete */
    bool repels[TAUT_RATES_MOST];
    double floor;
    bool complete;
} taut_rates_seen;

/* Costs one evaluation and one for each step of the iteration: n up to 128 coordinates. */
int taut_rates_see(taut_rates *rates, const double *q, const double *v, taut_rates_seen *seen, taut_error *error);

/* The rate of the motion at a point, from velocities and accelerations: one evaluation. */
int taut_rates_pace(taut_rates *rates, const double *q, const double *v, double *rate, taut_error *error);

/* Eigenvalues of h[n][n], zero below the first subdiagonal; h is overwritten. False when they could not be found. (hessenberg.c) */
bool taut_hessenberg_values(int n, double *h, double *real, double *imaginary);

/* ---- gauge.c */

/* What is fast in a state: the bonds of springs and their rates; without springs the accelerations over Omega^2, which play their part
 * (C lambda = g), and their rates along the motion, 3 evaluations. */
typedef struct taut_gauge {
    taut_projection *p;
    taut_rates *rates; /* NULL: bonds */
    taut_index count;
    double unit, dt;                       /* Omega; what rates are taken over */
    double *first, *before, *now;          /* [count]: of the start, before and after the latest pass */
    double *first_dt, *before_dt, *now_dt; /* their rates */
    double *floor;                         /* [count]: rounding of them */
    double *here;                          /* [n] */
} taut_gauge;

int taut_gauge_create(taut_projection *p, taut_rates *rates, taut_gauge *gauge, taut_error *error);
/* Once, before the first pass: the unit, and the floor. That of bonds holds 8 u sum |G q| already; without springs, 3 evaluations. */
int taut_gauge_scale(taut_gauge *gauge, double slowest, double fastest, taut_error *error);
/* Measures at (p->q, p->v) and records a pass. */
int taut_gauge_take(taut_gauge *gauge, taut_error *error);
/* As if the passes since the start had not been. */
void taut_gauge_rewind(taut_gauge *gauge);
/* The largest change by the latest pass, in units of max(tolerance, floor) and of max(tolerance_dt, omega floor); NaN counts as infinity. */
double taut_gauge_change(const taut_gauge *gauge, double tolerance, double tolerance_dt, double omega);

#endif
