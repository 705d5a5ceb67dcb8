/* guard_time.c - guards of time alone are located before the step: the first time at which one
 * leaves its branch, to the last bit, ends it. Functions that are linear in t need their values at
 * both ends; others are sampled, and searched where values and slopes suggest a short visit. */
#include "drive/guard_watch.h"

#include <math.h>

#include "drive/root.h"

enum { PIECES = 16 };

static bool any_beyond(taut_solver *solver, double t, double way, double *u, double *slope)
{
    taut_guard_watch *w = &solver->guards;
    const taut_state *now = &solver->stepper.now;
    taut_hold_values(solver->context, t, now->q, taut_state_v(now), NULL, true, u, slope);
    for (int32_t f = 0; f < w->families; f++) {
        const taut_guard *guard = w->family[f].guard;
        if (guard->of_state)
            continue;
        for (int64_t k = w->family[f].first; k < w->family[f].first + w->family[f].members; k++)
            for (int upper = 0; upper < taut_guard_borders(w, guard, k); upper++)
                if (taut_guard_beyond(taut_guard_border_of(w, guard, k, upper), u[k],
                                      way * slope[k]))
                    return true;
    }
    return false;
}

/* Some u seems to leave its branch and come back between t and t + h: a time at which it has left,
 * or NaN. u, slope at both ends. */
static double find_dip(taut_solver *solver, double t, double h, const double *u0, const double *m0,
                       const double *u1, const double *m1)
{
    taut_guard_watch *w = &solver->guards;
    for (int32_t f = 0; f < w->families; f++) {
        const taut_guard *guard = w->family[f].guard;
        for (int64_t k = w->family[f].first;
             !guard->of_state && guard->curved && k < w->family[f].first + w->family[f].members;
             k++)
            for (int upper = 0; upper < taut_guard_borders(w, guard, k); upper++) {
                taut_guard_border b = taut_guard_border_of(w, guard, k, upper);
                double f0 = b.side * (u0[k] - b.at), f1 = b.side * (u1[k] - b.at),
                       s0 = h * b.side * m0[k], s1 = h * b.side * m1[k];
                double theta =
                    f0 > 0 && f1 > 0 && s0 < 0 && s1 > 0 ? taut_root_dip(f0, f1, s0, s1) : -1;
                double way = h < 0 ? -1 : 1, at = t + theta * h;
                if (theta > 0 && any_beyond(solver, at, way, w->next, w->held))
                    return at;
            }
    }
    return NAN;
}

/* The first time in (a, b] at which some guard of time has left its branch, b being one. */
static double first_beyond(taut_solver *solver, double a, double b)
{
    taut_guard_watch *w = &solver->guards;
    double way = b < a ? -1 : 1;
    for (;;) {
        double c = a + (b - a) / 2;
        if (c == a || c == b)
            return b;
        *(any_beyond(solver, c, way, w->next, w->held) ? &b : &a) = c;
    }
}

void taut_guard_ahead(taut_solver *solver, double h)
{
    taut_guard_watch *w = &solver->guards;
    double t = solver->stepper.now.t, way = h < 0 ? -1 : 1, end = t + h, begin = w->clear;
    if (way * (end - begin) <= 0 || !isnan(w->stop))
        return;
    int pieces = w->curved ? PIECES : 1;
    any_beyond(solver, begin, way, w->after, w->slope_after);
    for (int j = 1; j <= pieces; j++) {
        double a = w->clear, b = j == pieces ? end : begin + j * (end - begin) / pieces;
        bool beyond = any_beyond(solver, b, way, w->trial, w->trial_slope);
        double dip = beyond || !w->curved ? NAN
                                          : find_dip(solver, a, b - a, w->after, w->slope_after,
                                                     w->trial, w->trial_slope);
        if (beyond || !isnan(dip)) {
            w->stop = first_beyond(solver, a, beyond ? b : dip);
            return;
        }
        w->clear = b;
        double *u = w->after, *slope = w->slope_after;
        w->after = w->trial;
        w->slope_after = w->trial_slope;
        w->trial = u;
        w->trial_slope = slope;
    }
}
