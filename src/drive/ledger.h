/* ledger.h - the energy of a run: its balance (ledger.c), that of a step where forces do work
 * (step_work.c), and the work over rows (work.c). */
#ifndef TAUT_DRIVE_LEDGER_H
#define TAUT_DRIVE_LEDGER_H

#include "base/method.h"

/* An integral over samples at any times, up to the latest one (work.c). */
typedef struct taut_integral {
    double sum;
    double tail; /* part of the correction of the latest interval that the next sample replaces */
    double value, slope; /* the latest sample; slope of the interval before it */
} taut_integral;

typedef struct taut_work {
    bool on;            /* powers are sampled at rows */
    taut_values values; /* force, bond_dt, jacobian */
    taut_pattern jacobian;
    int samples;               /* since the motion began */
    double t, step;            /* of the latest sample; the interval before it */
    double potential;          /* there */
    double gained;             /* change of the potential energy between samples */
    taut_integral power, loss; /* of forces and moving bonds, of damping */
} taut_work;

/* An energy of a state: all of it, the part that errors are measured with, and rounding. */
typedef struct taut_step_energy {
    double sum, held, rounding;
} taut_step_energy;

/* An energy against work, step by step (step_work.c). */
typedef struct taut_step_work {
    bool on;
    bool powers;              /* T + U against powers at nodes; else T against v^T M v' */
    bool springs;             /* which are part of that energy */
    bool fresh_bonds;         /* bonds do work, and are evaluated at nodes */
    bool raw;                 /* energies at the end are those of the last stage */
    bool inertia;             /* M varies, without inertial forces */
    const double *mass;       /* [n]: diagonal of M where it is constant; else NULL */
    taut_pattern jacobian;    /* of G */
    taut_pattern tangent;     /* of `matrix`: M that is constant and not diagonal, or d(M v)/dq */
    double *matrix, *product; /* [tangent], [n]: products and forces */
    taut_values bonds;        /* g, G, dg/dt at a node */
    double t; /* where the latest comparison ended, with this energy; NaN when none did */
    taut_step_energy energy;
    double length;           /* of the latest step compared */
    double passed, integral; /* time compared, and that of the energy held */
    double done;             /* sum of |W|, and of what errors of velocities may do */
    double unexplained;      /* sum of the changes that W does not explain */
    int calm;                /* steps that may follow without being compared */
    int64_t seen;            /* rejected steps of the run at the latest comparison */
} taut_step_work;

typedef struct taut_ledger {
    taut_work work;
    taut_step_work step;
    struct taut_fused_work *fused; /* of small systems: energies as one tape, */
    double *tape;                  /* its results */
    bool known;                    /* E = T + U + ... is the energy: T is quadratic in v */
    bool on;                       /* steps of adaptive size are compared */
    bool falls; /* the energy can only decrease: bonds are damped, nothing else acts */
    /* at the latest comparison; t is NaN when the state was replaced since */
    double t, energy;
    double kinetic, springs, held; /* there; held: also in the stiff potential */
    double stiff; /* slow motion: energy of the stiff potential at the latest end of a step */
    double passed, integral; /* time, and that of the kinetic energy, since the motion began */
    double jumps;            /* by which events and the caller altered the energy */
    int calm;                /* steps that may follow without being compared */
    int beyond;              /* comparisons in a row with too large a drift */
    int64_t seen;            /* rejected steps of the run at the latest comparison */
    int64_t rejected;        /* steps that broke the balance */
} taut_ledger;

/* Which balance holds: solver->conserves, and what is compared. */
int taut_ledger_create(taut_solver *solver, taut_error *error);
/* The motion begins at `state`, with any energy: the initial state, or one that an event or the
 * caller altered. */
int taut_ledger_begin(taut_solver *solver, const taut_state *state, taut_error *error);
/* What TAUT_FUSED_ENERGY gives there; NULL: it has to be evaluated statement by statement. */
const double *taut_ledger_tape(taut_solver *solver, double t, const double *q, const double *v);
/* The energies of a state. */
int taut_ledger_energies(taut_solver *solver, const taut_state *state, taut_values *values,
                         taut_error *error);
/* Their sum where steps are compared; else 0. */
int taut_ledger_total(taut_solver *solver, const taut_state *state, double *sum, taut_error *error);
/* After a step that the error norm accepts. TAUT_RETRY, with the reason: it breaks the balance; an
 * error: the energy has drifted too far over many steps. */
int taut_ledger_step(taut_solver *solver, taut_error *error);
/* What became of the energy: work, dissipated and balance of a result. */
void taut_ledger_result(const taut_solver *solver, taut_result *result);

/* |grad U| |q| of a state; error_q is scratch. */
int taut_ledger_work_scale(taut_solver *solver, const taut_state *state, double *scale,
                           taut_error *error);

/* (step_work.c) Are steps compared with the work of forces? The motion begins again. After a step,
 * with the part of the energy that the tolerance allows: as taut_ledger_step. */
int taut_step_work_create(taut_solver *solver, taut_error *error);
void taut_step_work_begin(taut_solver *solver);
/* Is the latest step to be compared? */
bool taut_step_work_due(taut_solver *solver);
int taut_step_work_check(taut_solver *solver, double share, taut_error *error);

/* (work.c) Makes room; samples the powers at a state, whose potential energy is given; `begin`:
 * the motion begins there. */
int taut_work_create(taut_solver *solver, taut_error *error);
int taut_work_sample(taut_solver *solver, const taut_state *state, double potential, bool begin,
                     taut_error *error);
/* Work of forces and moving bonds, and dissipation, up to the latest sample. */
void taut_work_get(const taut_work *work, double *gained, double *lost);

#endif
