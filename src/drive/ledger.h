/* ledger.h - the energy of a run (ledger.c). */
#ifndef TAUT_DRIVE_LEDGER_H
#define TAUT_DRIVE_LEDGER_H

#include "base/method.h"

typedef struct taut_ledger {
    bool on;    /* steps of adaptive size are compared */
    bool falls; /* the energy can only decrease: bonds are damped, nothing else acts */
    /* at the latest comparison; t is NaN when the state was replaced since */
    double t, energy;
    double kinetic, held;    /* there; held: also in springs and the stiff potential */
    double passed, integral; /* time, and that of the kinetic energy, since the motion began */
    double jumps;            /* by which events and the caller altered the energy */
    int calm;                /* steps that may follow without being compared */
    int64_t seen;            /* rejected steps of the run at the latest comparison */
    int64_t rejected;        /* steps that broke the balance */
} taut_ledger;

/* Which balance holds: solver->conserves, and what is compared. */
int taut_ledger_create(taut_solver *solver, taut_error *error);
/* The motion begins at `state`, with any energy: the initial state, or one that an event or the
 * caller altered. */
int taut_ledger_begin(taut_solver *solver, const taut_state *state, taut_error *error);
/* The energies of a state. */
int taut_ledger_energies(taut_solver *solver, const taut_state *state, taut_values *values,
                         taut_error *error);
/* After a step that the error norm accepts. TAUT_RETRY, with the reason: it breaks the balance; an
 * error: the energy has drifted too far over many steps. */
int taut_ledger_step(taut_solver *solver, taut_error *error);

#endif
