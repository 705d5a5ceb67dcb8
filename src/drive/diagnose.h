/* diagnose.h - what the equations are like at a state: rank, violation of bonds, oscillation,
 * energies, rates, frequencies. The choice of motion, the scales of the time loop and `taut check`
 * read this one struct, so that they cannot contradict each other. */
#ifndef TAUT_DRIVE_DIAGNOSE_H
#define TAUT_DRIVE_DIAGNOSE_H

#include "drive/slow_rate.h"
#include "linalg/saddle.h"
#include "system/system.h"

/* Parts that can be asked for. Only what is asked for is computed; the rest stays 0. */
enum {
    TAUT_DIAGNOSE_RANK = 1,
    TAUT_DIAGNOSE_OSCILLATION = 2, /* amplitude, overdamped */
    TAUT_DIAGNOSE_ENERGY = 4,      /* energies, structure; and OSCILLATION */
    TAUT_DIAGNOSE_MODES = 8,       /* of the stiff modes; needs RANK */
    TAUT_DIAGNOSE_FASTEST = 16,    /* fastest, of soft springs where there are no others */
    TAUT_DIAGNOSE_RATE = 32,       /* slow_rate at the state */
    TAUT_DIAGNOSE_LATER = 64,      /* large systems: and at a few later ones; needs RATE */
    TAUT_DIAGNOSE_KICKS = 128,     /* RATE of forces that are not marked `fast` */
    TAUT_DIAGNOSE_INITIAL = 111    /* what is to be known of an initial state */
};

typedef struct taut_diagnosis {
    unsigned parts; /* that were computed */
    double t;
    taut_sizes sizes;
    taut_index soft;     /* springs marked `soft`: forces, and no part of what follows */
    taut_index hard;     /* rows that must hold exactly: rigid bonds; first order: constraints */
    taut_index rank;     /* of G without the rows of soft springs */
    bool redundant;      /* rows that must hold exactly depend on each other */
    taut_index massless; /* a coordinate with neither mass nor bonds, or -1 */
    char dependent[400]; /* names of redundant or conflicting bonds */
    char structure[160]; /* of the linear algebra */
    double position, velocity; /* max |g|, |gdot| over the rows that must hold exactly */
    double foot_distance;      /* max |g| over the bonds that are not soft */
    int64_t frequencies;       /* number of stiff modes; -1: unknown */
    double least, most;        /* their frequencies; 0: none; NaN: unknown */
    double fastest;            /* most, or the fastest of the soft springs; 0: none, or unknown */
    /* how fast the slow motion can change (docs/theory.md, Fast and slow): the larger of time_rate
     * and the largest rate of the states that were examined; at the initial state alone; the time
     * of the state where it is largest; 0: it cannot change */
    double slow_rate, slow_rate_initial, slow_rate_at;
    double time_rate; /* of f and g at fixed (q, v); 0: they do not depend on time, or unknown */
    double
        turning_rate; /* of the bonds at the initial state (slow_rate.h), or of the coordinates */
    int states;       /* at which slow_rate was evaluated, besides the initial one */
    int laters;       /* of LATER: states that follow, which pilot.c adds */
    taut_later later[TAUT_LATER];
    /* least over slow_rate; INFINITY where that is 0, or nothing stiff; NaN: unknown */
    double separation;
    /* relative distance of the stiff frequencies from the closest resonance, of two or of one and
     * the sum of two; INFINITY: there is none; NaN: unknown */
    double resonance;
    double force;     /* largest multiplier of the rigid motion at the states that were examined */
    double neglected; /* of spring forces, when slow motion is chosen because of `calm` */
    double oscillatory_energy, energy_scale;
    /* the largest of |g + tau gdot - c lambda| and |gdot|/omega over the stiff springs, lambda
     * those of the rigid motion; INFINITY: unknown; 0 when a spring is overdamped */
    double amplitude;
    /* a spring does not oscillate: its stretch belongs to the slow motion, and no projection may
     * remove it */
    bool overdamped;
    /* fastest rate at which a motion decays: of damped bonds (a measure, each alone), of df/dz in
     * first-order systems; 0: none, or unknown */
    double decay_rate;
    double
        decay_steps; /* (motion.c) of dop8 until the end at the limit of stability; NaN: unknown */
    /* (motion.c) what resolving every oscillation until the end costs; INFINITY: not known */
    double full_evaluations, full_cost;
    /* of the modes of springs at a point, in units of taut_system_work (0: unknown); what effective
     * motion costs over what Verlet costs in full motion (motion.c) */
    double modes_cost, averaging;
    /* along a pilot run of the effective motion: the largest slow rate, with what the vibration
     * drives, and the closest resonance; 0 and INFINITY: there was none */
    double averaged_rate, averaged_gap;
    /* over several ranks no rate and no spectrum is computed: least, slow_rate and separation are
     * NaN, and most is a bound; rank is -1 where the bonds depend on each other */
    bool over_ranks;
    bool calm; /* (motion.c) the initial state is a slow point within the tolerance */
} taut_diagnosis;

/* Fills *diagnosis with `parts` at (t, q, v). Springs that depend on each other leave the energies
 * and the amplitude unknown; any other failure is passed on. */
int taut_diagnose(taut_context *context, double t, const double *q, const double *v, unsigned parts,
                  taut_backend backend, taut_diagnosis *diagnosis, taut_error *error);
enum { TAUT_PILOT_LARGE = 400 }; /* coordinates: with more, no pilot run */
/* (pilot.c) Adds to a diagnosis of an initial state with TAUT_DIAGNOSE_RATE what the rigid motion
 * and the dependence on time make of the slow rate until `until` (NaN: for some periods). */
int taut_diagnose_along(taut_context *context, double until, const double *q, const double *v,
                        taut_diagnosis *diagnosis, taut_error *error);
/* (pilot.c) The same of the effective motion from the model's initial state: averaged_rate and
 * averaged_gap. */
int taut_diagnose_averaged(taut_context *context, double until, taut_diagnosis *diagnosis,
                           taut_error *error);
/* Rows of G that are selected, for taut_diagnose_rank. */
typedef struct taut_row_rank {
    const taut_system *system;
    const taut_pattern *jacobian;
    const double *entry, *bond; /* of G; g */
    const unsigned char *only;  /* [m] */
} taut_row_rank;
/* (diagnose_rank.c) Their rank and number; the message names those that depend on others, or is "".
 */
int taut_diagnose_rank(const taut_row_rank *asked, const taut_allocator *allocator,
                       taut_index *rank, taut_index *rows, char *message, size_t size,
                       taut_error *error);
/* (diagnose_groups.c) Frequencies of springs, group by group, into *diagnosis, whose time and sizes
 * are set; *done: no group is too large, and all were found. */
int taut_diagnose_groups(taut_context *context, const double *q, taut_arena *arena,
                         taut_diagnosis *diagnosis, bool *done, taut_error *error);
double taut_closest_resonance(int found, const double *frequency, const int *owner);
/* Of several ranks a bound of the frequencies; what needs a spectrum is NaN. */
int taut_diagnose_bound(taut_context *context, taut_space *space, const double *q,
                        taut_diagnosis *diagnosis, taut_error *error);
/* separation, from least and slow_rate. */
void taut_diagnosis_separate(taut_diagnosis *diagnosis);
/* (ledger.c) What forces do over the size of the system, sum |f_i| max |q_i|: an energy that there
 * is even for a state at rest and at potential zero. */
double taut_work_scale(const taut_halo *halo, taut_index n, const double *force, const double *q);

#endif
