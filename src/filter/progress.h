/* progress.h - how much of a state is fast, and what the passes of a filter change of it
 * (progress.c). */
#ifndef TAUT_FILTER_PROGRESS_H
#define TAUT_FILTER_PROGRESS_H

#include "filter/force_spectrum.h"

/* What is fast in a state: the bonds of springs and their rates; without springs the
 * accelerations over Omega^2, which play their part (C lambda = g), and their rates along the
 * motion, 3 evaluations. */
typedef struct taut_filter_progress {
    taut_projection *p;
    taut_force_spectrum *spectrum; /* NULL: bonds */
    taut_index count;
    double unit, dt; /* Omega; what rates are taken over */
    /* [count]: of the start, before and after the latest pass */
    double *first, *before, *now;
    double *first_dt, *before_dt, *now_dt;    /* their rates */
    double *floor;                            /* [count]: rounding of them */
    double *displaced, *displaced_v, *behind; /* [n]: work */
    double *last_q, *last_v;                  /* [n]: where `now` was taken; NULL with bonds */
    /* without springs: the rate at which that oscillates which the latest pass has changed; 0:
     * not to be seen */
    double rate_left;
    double first_rate_left; /* the same of the first pass */
} taut_filter_progress;

int taut_filter_progress_create(taut_projection *p, taut_force_spectrum *spectrum,
                                taut_filter_progress *progress, taut_error *error);
/* Once, before the first pass: the unit, and the floor. That of bonds holds 8 u sum |G q|
 * already; without springs, 3 evaluations. */
int taut_filter_progress_scale(taut_filter_progress *progress, double slowest, double fastest,
                               taut_error *error);
/* Measures at (p->q, p->v) and records a pass. */
int taut_filter_progress_take(taut_filter_progress *progress, taut_error *error);
/* As if the passes since the start, which is in p->q and p->v, had not been. */
void taut_filter_progress_rewind(taut_filter_progress *progress);
/* The largest change by the latest pass, in units of max(tolerance, floor) and of
 * max(tolerance_dt, omega floor); NaN counts as infinity. */
double taut_filter_progress_change(const taut_filter_progress *progress, double tolerance,
                                   double tolerance_dt, double omega);

#endif
