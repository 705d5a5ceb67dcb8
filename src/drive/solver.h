/* solver.h - a run from the inside: choice (choose.c), dense output (dense.c), events (events.c), rows (rows.c), time loop (loop.c). */
#ifndef TAUT_DRIVE_SOLVER_H
#define TAUT_DRIVE_SOLVER_H

#include "base/method.h"

/* Events of one solver; the arrays have one entry per event. */
typedef struct taut_watch {
    taut_index count;
    taut_event_info *info;
    double *before, *after; /* event functions at both ends of the latest step */
    double *trial;          /* and in between */
    double *low, *high;     /* bracket of the root as a fraction of the step; high > 1: not met in this step */
    double *met;            /* time at which it altered the state; NaN before */
    double *window;         /* from here on it is counted, for one step length */
    int *in_window;
} taut_watch;

typedef struct taut_rows {
    const taut_sink *sink; /* only during a run */
    int sinks;
    double every;   /* time between rows; 0: a row for every step */
    int64_t next;   /* number of the next row by time: from + next * every */
    double written; /* time of the latest row; NaN before */
} taut_rows;

struct taut_solver {
    taut_arena arena;
    const taut_system *system;
    taut_sizes sizes;
    taut_context *context;
    taut_stepper stepper;
    const char *motion;
    double from, until, step; /* step > 0 */
    int64_t step_limit;       /* 0: none */
    double frequency;         /* fastest spring at the start; 0 when there are none */
    taut_rows rows;
    taut_watch watch;
    taut_state probe; /* a state between steps: rows, location of events */
    double *outputs;
    bool conserves; /* the energy is a constant of the motion */
    double energy_first, energy_last, energy_scale;
    int status;
    bool event_met;
    char event_name[96];
    taut_statistics statistics;
    char explanation[400];
};

/* Motion, method, times from the options, with [run] as defaults; refusals. Then, at the start state, the step. (choose.c) */
int taut_choose(taut_solver *solver, const taut_options *options, taut_error *error);
int taut_choose_step(taut_solver *solver, taut_error *error);

/* The state at a fraction theta of the latest step, multipliers included, into solver->probe. (dense.c) */
int taut_dense(taut_solver *solver, double theta, taut_error *error);

/* (rows.c) The energy of a state; checks that it is finite and has not exploded. */
int taut_rows_guard(taut_solver *solver, const taut_state *state, double *energy, taut_error *error);
/* Writes one row. */
int taut_rows_write(taut_solver *solver, double t, const taut_state *state, taut_error *error);
/* Writes the rows due up to time t of the latest step. */
int taut_rows_due(taut_solver *solver, double t, taut_error *error);

/* (events.c) Assigns memory. */
int taut_watch_create(taut_solver *solver, taut_error *error);
/* Takes the present state as the one events are compared with. */
int taut_watch_begin(taut_solver *solver, taut_error *error);
/* Looks for events in the latest step and acts on them, rows included. TAUT_EVENT: one asked to stop. *restarted: the state is now
 * that of an event inside the step. */
int taut_watch_step(taut_solver *solver, bool *restarted, taut_error *error);

#endif
