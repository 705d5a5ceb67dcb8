/* guard_watch.h - conditions inside the equations, in runs with an adaptive step size. */
#ifndef TAUT_DRIVE_GUARD_WATCH_H
#define TAUT_DRIVE_GUARD_WATCH_H

#include "drive/solver.h"
#include "system/hold.h"
#include "wrap/sliding.h"

/* Assigns memory and holds the branches of the initial state. */
int taut_guard_create(taut_solver *solver, taut_error *error);
/* Before what moves is made again in a run; and after it, which keeps the branches. */
void taut_guard_release(taut_solver *solver);
int taut_guard_again(taut_solver *solver, taut_error *error);
/* Branches are those of the present state. */
void taut_guard_begin(taut_solver *solver);
/* Before a try of length *size towards `target`: where it has to end at the latest; *size is
 * changed when the step before was undone to end at a guard. */
int taut_guard_goal(taut_solver *solver, double target, double *size, double *goal,
                    taut_error *error);
/* After a step of length h: TAUT_RETRY when it has to be repeated up to a guard. */
int taut_guard_step(taut_solver *solver, double h, taut_error *error);
/* The step counts. */
void taut_guard_accept(taut_solver *solver);
/* After its rows and events: the branches of the next step. */
int taut_guard_switch(taut_solver *solver, taut_error *error);

/* Steps towards a guard fail although they are tiny, of length h: continues behind it if there is
 * one. False: there is none. */
bool taut_guard_pass(taut_solver *solver, double h, double way);

/* A border of a branch: side (u - at) is positive inside. */
typedef struct taut_guard_border {
    double side, at;
} taut_guard_border;

static inline int taut_guard_borders(const taut_guard_watch *w, const taut_guard *guard, int64_t k)
{
    return guard->kind == TAUT_GUARD_CELL || w->slides[k] ? 2 : 1;
}

/* The lower or only border, or the upper one; where u slides, u is s in [-1, 1]. */
static inline taut_guard_border taut_guard_border_of(const taut_guard_watch *w,
                                                     const taut_guard *guard, int64_t k, int upper)
{
    double branch = w->branch[k];
    if (w->slides[k])
        return upper ? (taut_guard_border){-1, 1} : (taut_guard_border){1, -1};
    if (guard->kind == TAUT_GUARD_CELL)
        return upper ? (taut_guard_border){-1, branch + 1} : (taut_guard_border){1, branch};
    return (taut_guard_border){branch > 0 ? 1 : -1, w->at[k]};
}

/* Beyond the border, or on it and leaving. */
static inline bool taut_guard_beyond(taut_guard_border b, double u, double rate)
{
    double inside = b.side * (u - b.at);
    return inside < 0 || (inside == 0 && b.side * rate < 0);
}

/* Functions and rates of all guards at a state with rates a, which may be NULL. Where guards slide,
 * functions are s, and the field is evaluated when `slide`. */
int taut_guard_values(taut_solver *solver, const taut_state *x, const double *a, bool slide,
                      double *u, double *slope, taut_error *error);
/* The field on the present branches; TAUT_RETRY without one. */
int taut_guard_rates(taut_solver *solver, const taut_state *x, double *a, taut_error *error);
/* All branches of a state, those inside others first, where u is 0 by its rate; *tied: there is
 * such a u. */
void taut_guard_settle(taut_solver *solver, const taut_state *x, const double *a, double way,
                       bool *tied);

/* The branch of guard k for a value and rate of its function. */
double taut_guard_branch_at(const taut_guard_watch *w, const taut_guard *guard, int64_t k, double u,
                            double rate);
static inline int32_t taut_guard_family_of(const taut_guard_watch *w, int64_t k)
{
    int32_t f = 0;
    while (k >= w->family[f].first + w->family[f].members)
        f++;
    return f;
}

static inline const taut_guard *taut_guard_of(const taut_guard_watch *w, int64_t k)
{
    return w->family[taut_guard_family_of(w, k)].guard;
}

/* Keeps the branches in use while others are tried; takes them back; those tried become the next
 * ones. */
void taut_guard_keep(taut_solver *solver);
void taut_guard_take_back(taut_solver *solver);
void taut_guard_keep_next(taut_guard_watch *w);

/* A crossing of the latest step. */
typedef struct taut_crossing {
    int64_t k; /* -1: none */
    taut_guard_border b;
    double theta; /* where it is about, a fraction of the step */
    bool inside;  /* back on its branch at the end */
    double low;   /* ... and beyond the border there */
} taut_crossing;

enum { TAUT_CROSSINGS = 8 }; /* of a step that are examined one by one */

/* (guard_cross.c) The guard of a crossing takes its other branch; one that slides leaves its
 * surface. */
void taut_guard_cross(taut_guard_watch *w, const taut_crossing *c);
/* The norm of what the present branches, instead of w->held, change over a time d before the state,
 * and the branches behind it in w->next. `all`: also of guards that depend on others, and all that
 * are beyond their border. */
int taut_guard_measure(taut_solver *solver, const taut_state *x, bool all, double h, double d,
                       double *e, taut_error *error);
/* (guard_contact.c) Contact orders of families that cross for the first time; smooth[news]: the
 * kernels of smooth ones, -1 of others. */
int taut_guard_classify(taut_solver *solver, double h, const taut_crossing *fresh, int news,
                        int32_t *smooth, taut_error *error);
/* Kernels that have smooth guards only are evaluated as written from here on. False: none. */
bool taut_guard_release_smooth(taut_solver *solver, const int32_t *smooth, int count);
/* The conditions of a kernel are evaluated as written from here on, and not watched. */
void taut_guard_drop(taut_solver *solver, int32_t kernel);

/* (guard_time.c) Looks for the next guard of time up to t + h: guards.stop. */
void taut_guard_ahead(taut_solver *solver, double h);

/* (guard_slide.c) Room for sliding. */
int taut_slide_create(taut_solver *solver, taut_error *error);
/* What is said of leaders is true of those that follow them. */
void taut_slide_align(taut_guard_watch *w);
/* The field slides where guards.slides says so. */
void taut_slide_set(taut_solver *solver);
/* Guards whose u is 0 at the present state, where steps begin. */
int taut_slide_begin(taut_solver *solver, double way, taut_error *error);
/* The present branches, of a state on some surfaces: which of them are left, on which side, and on
 * which the motion stays. a: the field there. */
int taut_slide_resolve(taut_solver *solver, const taut_state *x, double way, double *a,
                       taut_error *error);

#endif
