/* solver.h - a run from the inside: choice (choose.c, motion.c), making (solver.c), step sizes
 * (control.c, norm.c, switch.c), dense output (dense.c), events (event_watch.c), conditions in the
 * equations (guard_watch.c), rows (rows.c, refine.c), energies (ledger.c, work.c), unstable steps
 * (growth.c), what the choice relies on (monitor.c), time loop (loop.c). */
#ifndef TAUT_DRIVE_SOLVER_H
#define TAUT_DRIVE_SOLVER_H

#include "base/method.h"
#include "base/projector.h"
#include "drive/diagnose.h"
#include "drive/ledger.h"
#include "base/warnings.h"
#include "expr/digest.h"
#include "step/shared_forces.h"
#include "system/modes/modes.h"
#include "system/redundant.h"

/* Events of one solver; the arrays have one entry per event. */
typedef struct taut_watch {
    taut_index count;
    taut_event_info *info;
    double *before, *after; /* event functions at both ends of the latest step */
    double *trial;          /* and in between */
    double *all;            /* of several ranks: values of each */
    double *slope[2];       /* at both ends, per step */
    /* bracket of the root as a fraction of the step; high > 1: not met in this step */
    double *low, *high;
    double *met;    /* time at which it altered the state; NaN before */
    double *window; /* from here on it is counted, for one step length */
    int *in_window;
    double *gap, *ratio; /* latest interval between two times, over the one before; NaN before */
    int *agree;          /* latest ratios that are equal */
    double *limit;       /* of the times, where they are in geometric progression */
    /* at the moment of the event that acts: 1 rising, -1 falling, 0 not */
    signed char *together;
} taut_watch;

/* Guards of a run with an adaptive step size (guard_watch.c); arrays have one entry per branch. */
typedef struct taut_guard_watch {
    int64_t count;    /* 0: none, or conditions are evaluated where they are met */
    int32_t families; /* guards of statements, each for all members */
    struct taut_guard_family *family;
    double *contact;        /* by family: order of contact of both branches; NaN: not known */
    int *rough;             /* by family: how often it seemed to be low */
    bool of_time, of_state; /* which kinds there are */
    bool curved;            /* some of time is not a linear function of it */
    double *branch;         /* in use: those of the context */
    double *next;           /* behind the latest step */
    double *held;           /* copy of those in use while others are tried */
    /* functions and their rates at both ends of the latest step, and in between */
    double *before, *slope, *after, *slope_after, *trial, *trial_slope;
    double *a, *a_old; /* [n]: rates on new and old branches */
    taut_field *made;  /* a field to compare branches with, where the method has none */
    /* sign(u) that keeps u at 0 (guard_slide.c), now, in `held` and in `next`; changed just now */
    unsigned char *slides, *held_slides, *next_slides, *touched;
    double *at;    /* border of u, 0 but for rounding where it has left its surface */
    double *drift; /* u of what slides */
    struct taut_sliding *sliding; /* NULL: the method does not support it */
    /* sign(u) that occur in several places, and which follow others */
    struct taut_guard_pair *pair;
    int64_t pairs;
    unsigned char *follows;
    double way;
    const void *sought; /* crossing that is being located */
    bool settled;       /* the branches are those of the direction of the run */
    bool pending;       /* `next` differs from `branch` */
    double clear, stop; /* no guard of time before `clear`; the next one, NaN: not known */
    double aim;         /* length of the next try, 0: any */
    int aims;           /* tries so far for one crossing */
    int passes;         /* of guards at which evaluations fail, one after another */
    bool aimed;         /* the latest step ends at one that matters */
    int64_t latest;     /* guard that alone crossed; -1: none or several */
    int chatters;       /* how often the motion turned back at one */
    int64_t switches;   /* steps at whose end branches changed */
} taut_guard_watch;

typedef struct taut_rows {
    const taut_sink *sink; /* only during a run */
    int sinks;
    double every; /* time between rows; 0: a row for every step */
    bool few;     /* of those in a step only the last one: large systems */
    /* given by the caller; or few, in a second look: those of the first run, whose rows are
     * compared; NULL: by `every` */
    const double *times;
    int64_t count;
    int64_t next;     /* number of the next row by time: from + next * every, or times[next] */
    double written;   /* time of the latest row; NaN before */
    taut_index event; /* k + 1 while the row of event k is written; 0 */
} taut_rows;

/* The state of a row, or of the end, with velocities and multipliers as accurate as its positions
 * (refine.c). */
typedef struct taut_refined {
    bool on;
    struct taut_multiplier_recursion *recursion; /* slow motion; else NULL */
    int level;                                   /* that is enough */
    bool verified;                               /* by a higher one; */
    int since;                                   /* rows since then */
    int refused;                                 /* latest rows without an improvement */
    taut_state state;
    bool of_now;        /* it is that of stepper.now, at its time */
    double uncertainty; /* of the multipliers; NaN: not known */
    taut_statistics uncounted;
} taut_refined;

typedef struct taut_caller { /* to whom progress is reported */
    taut_progress call;      /* only during a run */
    void *user;
    double called; /* seconds of taut_clock at the latest call */
    int64_t since; /* steps and rows since the latest call */
} taut_caller;

/* Variables with one scale: group k is start[k] .. start[k+1]-1. */
typedef struct taut_groups {
    taut_index count, *start;
} taut_groups;

/* The norm of the error of a step (norm.c). */
typedef struct taut_error_norm {
    bool given;      /* atol is the user's */
    bool known;      /* errors are no estimates */
    bool own_scales; /* full motion: velocities and forces of springs have their own scales */
    taut_groups coordinates, bonds;
    double *q, *v, *lambda;         /* S, by group; lambda NULL: not controlled */
    double *now_q, *now_v, *last_v; /* largest ones at the ends of the latest step, by group */
    double most_q, most_v;          /* of all at its end */
    double *square;                 /* integral of 2 v^2, by group */
    double elapsed;                 /* over this time */
    double *force;                  /* by group: lambda with what the latest step made of it */
    double *stretch, *rate;         /* [m]: G dq, G dv */
    double length;                  /* of the run; INFINITY: not known */
    double least_v, least_g;        /* least weights of velocities and of lengths of springs */
    double share;                   /* of the tolerance, per time; INFINITY: all of it */
    double pull;                    /* largest acceleration where steps began; 0: not known */
    int steps;                      /* since then, up to a few */
    double reach;                   /* R of the norm: longest recent step */
    double tried;     /* length of a try that was rejected since steps collapsed; 0: none */
    double tried_off; /* its largest error of a velocity */
} taut_error_norm;

/* The adaptive step size (control.c). */
typedef struct taut_control {
    bool on;
    double h;       /* what the next step should be, > 0; 0: not known yet */
    double most;    /* longest step; INFINITY: no limit */
    double before;  /* norm of the latest accepted step, for the PI controller; 0: none */
    bool held;      /* the latest try failed: the next accepted step must not grow */
    double largest; /* norm of the worst accepted step */
    double *trial;  /* [3n]: for the first step */
    /* status of the latest try that failed, 0: none; the time it led to, and its reason */
    int failure;
    double failed;
    taut_error reason;
} taut_control;

/* How far a state is from what should hold exactly: rigid bonds; first order: constraints, and
 * invariants against their initial values. */
/* The whole system, and where sinks or callers need it a state of it, on rank 0 of several. */
typedef struct taut_whole {
    taut_system *system;
    double *q, *v, *lambda; /* of rank 0; elsewhere nothing */
    double *room;           /* for taut_halo_collect */
    bool pieces;            /* all sinks take rows in pieces */
    bool ready;             /* there is room for a state */
} taut_whole;

typedef struct taut_drift {
    taut_index rows;        /* that are watched */
    unsigned char *watched; /* [bonds] */
    double *first;          /* [bonds]: value that should hold */
    taut_values values;     /* bond, bond_dt, jacobian */
    taut_pattern jacobian;
    taut_index conserved;                /* invariants of a mechanical system, */
    double *kept, *invariant;            /* their values at the initial state and now */
    struct taut_fused_work *fused;       /* of small systems: g and gdot as one tape, */
    double *tape;                        /* its results, */
    taut_index *rod;                     /* and the bonds they belong to */
    double measured;                     /* time of the latest measurement; NaN: none */
    double position, velocity;           /* at that time */
    double most_position, most_velocity; /* over the run */
} taut_drift;

/* Steps for dense output after the run (kept_steps.c). */
typedef struct taut_kept_step {
    double until; /* valid up to here: its end, or an event */
    taut_state *begin, *end;
} taut_kept_step;
typedef struct taut_kept {
    bool on;
    taut_arena arena;
    int64_t count, capacity;
    taut_kept_step *step;
} taut_kept;

/* Stiff or not (switch.c). */
typedef struct taut_stiff {
    bool watched;
    int found;                  /* how often one after another */
    int switches;               /* so far */
    double at;                  /* time of the latest one; NaN: none */
    const taut_method *resting; /* the other method, and its work; NULL before the first switch */
    void *other;
    double *x, *z, *f; /* [2n]: of the power iteration */
    double rho;
    int iterations;
} taut_stiff;

/* Rigid bonds that follow from others (redundant_run.c). */
typedef struct taut_redundant {
    taut_system *independent; /* the model with a subset of them; NULL: none follows from others */
    taut_system *first;    /* the first of these, of which others may have contexts (monitor.c) */
    taut_index rows, rank; /* rigid bonds of the model */
    taut_system *rigid;    /* the rigid system of the model, in rigid motion; or NULL */
    taut_shared_forces shared; /* multipliers of all */
    int selections;            /* of another subset, so far */
    double selected;           /* time of the latest selection */
    double coefficient;        /* of the muted rows there; 0: not known yet */
    double off;                /* violation of a rigid bond of the model, as a length */
    taut_index worst;          /* which one */
    char text[330];            /* "a, b follow from the others" */
} taut_redundant;

/* Short pulses of explicit time dependence (pulses.c), as |t - from|, one after another. */
typedef struct taut_pulses {
    int count;
    double *begin, *end;
    double *speed;   /* [n]: velocities that they give, roughly */
    double *stretch; /* [bonds]: by how much g varies at a fixed state */
    double distance; /* and the largest distance meanwhile; 0: none */
} taut_pulses;

/* Singular configurations on the way (singular_watch.c). */
typedef struct taut_singular_watch {
    bool on;
    double t, s, rate; /* of the latest end of a step; t NaN: none */
    taut_index bond;   /* the closest to others there */
    int found;
    double latest;   /* time of the latest one */
    char first[240]; /* about the first one */
    double *gram, *jacobian, *bond_dt, *dense, *q;
    struct taut_fused_work *fused; /* of small systems: s^2 of each bond and its rate as one tape */
    double *square;                /* its results */
} taut_singular_watch;

/* A time during which what the motion relies on does not hold (monitor.c). */
typedef struct taut_episode {
    taut_resonance resonance; /* at its closest; j < 0: the separation is too small */
    double from, at, least;   /* its beginning; when it is worst, and the separation or gap there */
    bool open;                /* it has not ended */
} taut_episode;
enum { TAUT_EPISODES = 8 };

/* What the choice of a motion relies on, looked at again along the run (monitor.c). */
typedef struct taut_monitor {
    bool on;
    bool all;              /* all frequencies are found, for resonances; else the lowest one */
    taut_context *context; /* of the model; what a look needs is in its memory after the first */
    double limit;          /* separation that the motion needs */
    double time_rate;      /* of explicit dependence on time */
    double cost;           /* of a look, in instructions */
    bool grouped;          /* they are found group by group */
    taut_modes_work modes; /* then */
    double modes_cost;     /* of one look, where `grouped`; else of a dense matrix */
    taut_index room;       /* of these: springs + 2 */
    double *frequency, *before, *earlier; /* of the latest look, and of the two before */
    int found, found_before, found_earlier;
    double t, t_before;               /* of the latest look and of the one before; NaN: none */
    int64_t looks;                    /* that succeeded */
    int64_t next;                     /* number of steps at which the next one is due, by cost; */
    double interval;                  /* time after which one is due */
    int spare;                        /* as long as these last */
    double latest;                    /* separation at the latest look */
    double separation, separation_at; /* the least; INFINITY: nothing slow; NaN: unknown */
    taut_episode episode[TAUT_EPISODES];
    int episodes;
    int64_t more;      /* that found no place */
    char caution[900]; /* what does not hold any more; empty: nothing */
} taut_monitor;

/* The explicit slow field and its level k (slow_level.c). */
typedef struct taut_slow_level {
    struct taut_slow_field *field; /* NULL: the motion is another one, or the method implicit */
    bool given;                    /* k is the user's */
    int room;                      /* the last k that memory was reserved for */
    double least;                  /* length that a fixed step counts as; 0: adaptive */
    int since;                     /* steps since the latest look */
    double norm, before;           /* of the truncation at the latest looks, in tolerances */
    double largest;                /* over the run */
    double lambda;                 /* latest change of a multiplier by the next level */
    double change, size;           /* the largest one, and the largest multiplier, so far */
    int raised;                    /* how often */
    bool refused;                  /* it does not apply, with the reason: */
    char reason[400];
} taut_slow_level;

/* Steps of a fixed size between two looks at the state, of small systems (loop.c, growth.c). */
enum { TAUT_BETWEEN_LOOKS = 32 };

/* When the state is projected onto the slow manifold; from `every` on inside the run. */
typedef enum taut_project_when {
    TAUT_PROJECT_UNSET,
    TAUT_PROJECT_NONE,
    TAUT_PROJECT_START,
    TAUT_PROJECT_EVERY,
    TAUT_PROJECT_DRIFT,
    TAUT_PROJECT_STEP,
    TAUT_PROJECT_STAGE
} taut_project_when;

/* Projection inside a run of the stiff system (projecting.c); the projector is solver->slow. */
typedef struct taut_projecting {
    taut_project_when when;
    const char *word;                            /* of the option */
    double amount;                               /* time of `every`, length of `drift` */
    const struct taut_projection_method *method; /* that was asked for */
    double artificial;   /* rigid motion: lowest frequency of the springs in place of bonds; or 0 */
    taut_field *inner;   /* stage: that of the stiff system; else NULL */
    taut_field *balance; /* drift: multipliers of the acceleration equation; else NULL */
    double *lambda;      /* [m]: of it */
    taut_values values;  /* drift: g, G */
    taut_pattern jacobian;
    double base;  /* drift: that of the latest projection */
    int64_t done; /* every: how many times have passed */
    bool costly;  /* stage: a row costs as much as a stage */
} taut_projecting;

/* Steps of one length from `start`, the last one ending at `target` (loop.c). */
typedef struct taut_plan {
    double start, target, h; /* h has the sign of the direction */
    int64_t done, count;
} taut_plan;

/* Saving between the steps of a run (save.c). */
typedef struct taut_saving {
    taut_checkpoint call; /* NULL: none */
    void *user;
    double every;  /* seconds */
    double called; /* of taut_clock at the latest call */
    /* rows wait in memory: a second look may follow, and nothing is begun; else NULL */
    struct taut_waiting *waits;
    bool cut; /* rows of the latest step were not written: the run cannot go on from here */
} taut_saving;

typedef enum taut_verify { TAUT_VERIFY_NEVER, TAUT_VERIFY_AUTO, TAUT_VERIFY_ALWAYS } taut_verify;

struct taut_solver {
    taut_arena arena;
    const taut_system *model;  /* as given */
    const taut_system *system; /* the model, or without redundant bonds */
    taut_system *derived;      /* made for the motion, or NULL */
    const taut_system *moving; /* derived, or system */
    taut_sizes sizes;          /* of moving */
    taut_context *context;     /* of moving */
    taut_pool *pool;           /* of its threads, or NULL */
    taut_options *options;     /* [run] of the model, then what the caller gave */
    taut_options *call;        /* what the caller gave, for a second look; or NULL */
    const taut_method *own;    /* a method that is not in the table, or NULL */
    taut_arena given;          /* memory of a method that the program gave, or empty */
    taut_stepper stepper;
    taut_projector *stabilizer; /* after each step; may be NULL */
    /* onto the rigid bonds, at the initial state: what [start] holds stays; may be NULL */
    taut_projector *assembly;
    /* onto the rigid bonds, between steps and after events: nothing is held any more; may be NULL
     */
    taut_projector *onto_rigid;
    /* to the slow point, inside runs and after events in slow motion; may be NULL */
    taut_projector *slow;
    taut_diagnosis diagnosis; /* of the model at its initial state; parts 0: not needed so far */
    bool moved;               /* the run does not begin at the initial state of the model */
    unsigned motion;          /* one bit */
    unsigned avoid;           /* motions that could not begin, when Taut has the choice */
    bool avoid_field;         /* so could the explicit slow field not; the reason is in `why` */
    bool own_choice;          /* Taut chose the method */
    bool unspecified;         /* neither motion nor method is specified */
    double from, until, step; /* step: the fixed size; adaptive: the latest */
    bool step_in_run;         /* the step is that of [run] */
    /* a tolerance determines the step size: control.on, or once for the run (method->kicks) */
    bool tolerant;
    int64_t step_limit; /* 0: none */
    /* fastest spring at the initial state; 0 when there are none, or it is not needed */
    double frequency;
    double bound; /* of all frequencies, where only that is known (taut_frequency_bound); or 0 */
    taut_control control;
    taut_error_norm norm;
    taut_stiff stiff;
    taut_drift drift;
    taut_whole whole;
    taut_ledger ledger;
    taut_rows rows;
    taut_plan plan;
    bool midway; /* restored in the middle of a run: taut_solver_run goes on with the plan */
    taut_saving saving;
    taut_refined refined;
    taut_slow_level level;
    taut_projecting projecting;
    struct taut_projective *projective; /* slow motion without bonds (projective.h), or NULL */
    bool direct;         /* it would not pay: the motion is full; the reason is in `why` */
    double direct_steps; /* inner steps that direct integration would have taken; NaN: not known */
    taut_caller caller, of_advances;
    taut_kept kept;
    taut_watch watch;
    taut_redundant redundant;
    taut_singular_watch singular;
    taut_pulses pulses;
    taut_monitor monitor;
    taut_guard_watch guards;
    taut_state probe; /* a state between steps: rows, location of events */
    double *outputs;
    taut_field *algebraic; /* for methods without a field: makes y consistent, and gives the
                              accelerations that verify invariants */
    struct taut_conserve *invariants; /* mechanical: the invariants, or NULL */
    struct taut_follow *follow; /* first order: variables that constraints determine, or NULL */
    double *forces;             /* [m] of a state in the bonds; NULL: its multipliers are them */
    bool conserves;             /* the energy is a constant of the motion */
    /* impulse methods: rows show the projected state, whose energy omits the vibration and
     * is not reported */
    bool averaged;
    /* fixed step size: largest coordinate of the initial state, or when growth was last verified;
     * NaN before */
    double size;
    double *verified; /* [n]: and the state then */
    double energy_first, energy_last;
    double energy_base, energy_scale,
        /* by which divergence is measured: since the initial state, or the latest event; NaN before
         */
        kinetic_most;
    /* of the run in progress: TAUT_OK, or what ends it early without an error (TAUT_EVENT,
     * TAUT_INTERRUPTED, TAUT_LIMIT) */
    int outcome;
    int status; /* that the latest run returned */
    /* the second look (second_look.c) */
    taut_verify verify;
    double asked;        /* rtol of the user */
    taut_solver *better; /* the run with a smaller tolerance: state and result are its; or NULL */
    double error_q, error_v, error_lambda, /* measured, relative; NaN: not */
        predictable;        /* time from which on these are above 100 tolerances; NaN: never */
    bool far;               /* they are, or multipliers above 1000, or the second run failed */
    double averaging_error; /* (averaging.c) relative; NaN: another motion, or unknown */
    bool event_met;
    /* by events: how often, and how far such states were moved to where the motion can begin */
    int64_t altered;
    double put_back;
    char event_name[96];
    taut_statistics statistics;
    taut_warnings warnings; /* of options without effect */
    char why[600];          /* the motion was chosen by Taut because ... */
    char notice[2][600];    /* of the model, of the run: to be reported; empty: none */
    char begun[1000];       /* what was done to the initial state, each part after "; " */
    char explanation[2600]; /* one line */
};

/* The run whose state and result count: the better one of a second look, or this. */
static inline taut_solver *taut_solver_latest(const taut_solver *solver)
{
    taut_solver *latest = (taut_solver *)(uintptr_t)solver;
    while (latest && latest->better)
        latest = latest->better;
    return latest;
}

/* (solver.c) A run with a method that is not in the table, for tests and for trying one out;
 * `method` must outlive it. */
int taut_solver_create_own(const taut_system *system, const taut_options *options,
                           const taut_method *method, const taut_allocator *allocator,
                           taut_solver **solver, taut_error *error);

/* (solver.c) What taut_solver_create would make, without an end time and without looking for the
 * slow point, to read motion and method from; and the diagnosis of the initial state, with parts 0
 * when that failed. */
int taut_solver_try(const taut_system *system, const taut_options *options,
                    const taut_allocator *allocator, taut_solver **solver,
                    taut_diagnosis *diagnosis, taut_error *error);

/* (choose.c) Motion, method, times from the options, with [run] as defaults; refusals. Makes the
 * derived system. */
int taut_choose(taut_solver *solver, const taut_options *options, taut_error *error);
/* At the initial state: fixed or adaptive step size, and the explanation. */
int taut_choose_step(taut_solver *solver, taut_error *error);
/* The row of a name, or NULL. */
const taut_method *taut_method_find(const char *name);
/* Fails: the method is unknown; `option` is the one that has its name. */
int taut_method_unknown(const char *option, const char *name, taut_error *error);
/* Does the method support such a system? Fails with the reasons when not. */
int taut_method_accepts(const taut_method *method, const taut_sizes *sizes, taut_error *error);

/* Units of taut_system_work that a second run, and what else measures errors, may take: about 2 s
 * of one core. */
#define TAUT_AFFORDABLE 2e9
/* (averaging.c) After a run in effective motion: solver->averaging_error. Full motion over the
 * whole interval may cost `whole`, its parts and twins `most` each. */
int taut_averaging_measure(taut_solver *solver, double whole, double most, taut_error *error);

/* (motion.c) Diagnoses the initial state, once: solver->diagnosis. */
int taut_motion_diagnose(taut_solver *solver, taut_error *error);
/* Is the oscillatory energy worth mentioning? */
bool taut_motion_oscillates(const taut_diagnosis *diagnosis);
/* The separation that a motion needs: the lowest stiff frequency over the slow rate; 0: none. */
double taut_motion_separation(unsigned motion);
/* Is a relative distance from a resonance too small for averaging? */
bool taut_motion_resonant(double gap);
/* The motion that a diagnosis suggests, none of those to `avoid`. Appends the reason to `why`. */
unsigned taut_motion_advise(const taut_diagnosis *diagnosis, unsigned avoid, char *why,
                            size_t size);
/* The same for the initial state of the model, with the reason in solver->why. */
int taut_motion_choose(taut_solver *solver, unsigned *motion, taut_error *error);
/* The method for motion and system when none is specified; NULL: there is none. */
const taut_method *taut_motion_method(const taut_solver *solver, bool step_given);

/* (run_start.c) The system that moves in this motion; solver->derived, moving and sizes. */
int taut_start_system(taut_solver *solver, const taut_method *method, taut_error *error);
/* Field, stabiliser and assembly, before the method is created. */
int taut_start_prepare(taut_solver *solver, taut_error *error);
/* Moves the initial state to where the motion begins. */
int taut_start_state(taut_solver *solver, taut_error *error);
/* The diagnosis is one of the system that moves, at the state where it begins. */
bool taut_start_diagnosed(const taut_solver *solver);
/* The invariants of the present state are those that are kept and watched from here on. */
int taut_start_begin(taut_solver *solver, taut_error *error);
/* After a step: what the stabiliser keeps is constant there too; looked at after 1, 2, 4, ... of
 * them. */
int taut_start_verify(taut_solver *solver, taut_error *error);
/* Moves a state that an event altered, without allocating, or that the caller gives to where the
 * motion can begin; *moved: the largest |dq_i| or |dv_i|. */
int taut_start_again(taut_solver *solver, bool given, taut_state *state, double *moved,
                     taut_error *error);
void taut_start_release(taut_solver *solver);

/* (slow_level.c) Does the explicit slow field support the system? Fails with the reasons. */
int taut_slow_level_supports(const taut_solver *solver, taut_error *error);
/* Makes the field for explicit methods, and its projector. */
int taut_slow_level_create(taut_solver *solver, taut_error *error);
/* Chooses k at the state where the motion begins, or refuses. */
int taut_slow_level_choose(taut_solver *solver, taut_error *error);
/* After a step: looks from time to time whether k is still enough. */
int taut_slow_level_step(taut_solver *solver, taut_error *error);
void taut_slow_level_archive(taut_solver *solver, taut_archive *archive);
/* What k omits of a step before the projection, in tolerances; 0 without the field. */
double taut_slow_level_defect(const taut_solver *solver);
/* Level, truncation, and their part in the estimated error. */
void taut_slow_level_result(const taut_solver *solver, taut_result *result);
/* TAUT_INACCURATE for a run that ended well with a given k that is far too low. */
int taut_slow_level_status(const taut_solver *solver, int status);

/* (projecting.c) Reads the options. */
int taut_projecting_read(taut_solver *solver, taut_error *error);
/* Is the state projected after the beginning too? */
bool taut_projecting_inside(const taut_solver *solver);
/* Fails where motion, method or system does not support it. */
int taut_projecting_check(const taut_solver *solver, const taut_method *method, taut_error *error);
/* solver->derived: the system with artificial stiffness. */
int taut_projecting_artificial(taut_solver *solver, taut_error *error);
/* Makes the projector, moves the initial state to its slow point, and projects the field. */
int taut_projecting_begin(taut_solver *solver, taut_error *error);
/* The next time at which a step should end, on the way to `target`. */
double taut_projecting_target(const taut_solver *solver, double target);
/* After a step, its rows and events: projects where that is due. */
int taut_projecting_step(taut_solver *solver, taut_error *error);
void taut_projecting_archive(taut_solver *solver, taut_archive *archive);
void taut_projecting_release(taut_solver *solver);

/* (redundant_run.c) Replaces solver->system by one without redundant rigid bonds, where there are
 * any; `springs`: those that are rigid in rigid motion count as well. Refuses bonds that contradict
 * each other, and singular initial states. */
int taut_redundant_begin(taut_solver *solver, bool springs, taut_error *error);
/* What finds the multipliers of all bonds, when the motion is chosen. */
int taut_redundant_prepare(taut_solver *solver, taut_error *error);
/* Multipliers of a state as rows and events show them: of all bonds. */
int taut_redundant_lambda(taut_solver *solver, const taut_state *state, const double **lambda,
                          taut_error *error);
/* After a step: do the bonds that have no part in the motion still hold? Where those that have
 * become dependent, others are selected at its beginning, to which the state returns (*again). */
int taut_redundant_step(taut_solver *solver, bool *again, taut_error *error);
/* A step failed with `status`: other bonds may help (*again). */
int taut_redundant_rescue(taut_solver *solver, int status, bool *again, taut_error *error);
/* The subset in use. */
void taut_redundant_archive(taut_solver *solver, struct taut_archive *archive);
void taut_redundant_release(taut_solver *solver);

/* (pulses.c) Finds short pulses of explicit time dependence, before an adaptive run. */
int taut_pulses_find(taut_solver *solver, taut_error *error);
/* The longest step from t that sees them; INFINITY: any. */
double taut_pulses_limit(taut_solver *solver, double t);

/* (singular_watch.c) Looks for a singular configuration of the rigid bonds inside the latest step.
 */
int taut_singular_create(taut_solver *solver, taut_error *error);
int taut_singular_step(taut_solver *solver, taut_error *error);

/* (solver.c) Context, field, projections and the work of the method, for the system that moves:
 * released, and made again in a run where that changes. */
void taut_solver_unequip(taut_solver *solver);
int taut_solver_equip(taut_solver *solver, taut_error *error);

/* (loop.c) Back towards the manifold after a step; what the method remembers of its end is
 * forgotten. */
int taut_stabilize(taut_solver *solver, taut_error *error);
/* Reports progress up to time t from time to time: after every step, and after every row inside
 * one. False: the caller interrupts the run (solver->outcome). */
bool taut_report(taut_solver *solver, double t);
/* One step of length h to time `next`, stabilised, with a fixed step size: TAUT_RETRY is an error
 * here. */
int taut_fixed_step(taut_solver *solver, double h, double next, taut_error *error);

/* (control.c) One step of adaptive size towards `target`, stabilised; the time is set. */
int taut_control_step(taut_solver *solver, double target, taut_error *error);
int taut_control_create(taut_solver *solver, taut_error *error);

/* (norm.c) Assigns memory. */
int taut_norm_create(taut_solver *solver, taut_error *error);
/* Scales of the present state, where steps begin or begin again. */
void taut_norm_begin(taut_solver *solver);
/* The accelerations there, where they are known before the first step. */
void taut_norm_pull(taut_solver *solver, const double *a);
/* The accelerations jump to a: another pace; and what has been at rest so far has no scale yet. */
void taut_norm_jump(taut_solver *solver, const double *a);
/* The norm of the latest step, 1 at the tolerance; NaN stays NaN. */
double taut_norm_step(taut_solver *solver, double h);
/* The same of errors in error_q, error_v that are known, not estimated by the method. */
double taut_norm_known(taut_solver *solver, double h);
/* The latest step counts: its end enters the scales. */
void taut_norm_accept(taut_solver *solver, double h);

/* (loop.c) taut_solver_run without a second look. */
int taut_run_once(taut_solver *solver, const taut_sink *sinks, int count, taut_progress progress,
                  void *user, taut_error *error);
/* Begins sinks, *begun so far; ends those that began, where the first failure counts. */
int taut_sinks_begin(taut_solver *solver, const taut_sink *sinks, int count, int *begun,
                     taut_error *error);
int taut_sinks_end(const taut_sink *sinks, int begun, int status, taut_error *error);
/* (second_look.c) The same with a second look where it is affordable. */
int taut_verify_run(taut_solver *solver, const taut_sink *sinks, int count, taut_progress progress,
                    void *user, taut_error *error);
/* Rows that wait are written when the run has become too long to be repeated: a matter of counts,
 * so that it does not depend on when this is called. */
typedef struct taut_waiting taut_waiting;
int taut_verify_decide(taut_waiting *rows, taut_error *error);
/* (cost.c) What the run has cost so far, and one matrix of an implicit method, in units of
 * taut_system_work. */
double taut_cost_run(const taut_solver *solver);
double taut_cost_evaluations(const taut_solver *solver); /* in evaluations of forces */
double taut_cost_factor(const taut_stepper *stepper);
/* A step of slow motion by dop8 on the slow field of this level; and as much of it by radau5. */
double taut_cost_slow_field(const taut_solver *solver, int level);
double taut_cost_slow_implicit(const taut_solver *solver);

/* (save.c) Between two steps: calls the function that saves the run, when it is time, or `now`. */
int taut_saving_step(taut_solver *solver, bool now, taut_error *error);

/* (fingerprint.c) Of the model and the options of a run. The ranks find it together. */
typedef struct taut_fingerprint {
    int ranks;
    unsigned char mark[TAUT_DIGEST_BYTES];   /* of one process */
    unsigned char shared[TAUT_DIGEST_BYTES]; /* of any number of ranks, with the sums */
    double sum[6];
} taut_fingerprint;
int taut_fingerprint_find(taut_solver *solver, taut_fingerprint *fingerprint, taut_error *error);
void taut_fingerprint_archive(taut_fingerprint *fingerprint, taut_archive *archive);
bool taut_fingerprint_alike(const taut_fingerprint *a, const taut_fingerprint *b);

/* (switch.c) Should stiffness be watched? */
int taut_switch_create(taut_solver *solver, taut_error *error);
void taut_switch_release(taut_solver *solver);                        /* last of all methods */
void taut_switch_archive(taut_solver *solver, taut_archive *archive); /* methods included */
/* Changes the method for good, with a reason that follows "where". */
int taut_switch_for_good(taut_solver *solver, const char *why, taut_error *error);
/* After a step, its rows and events: changes the method where the system is stiff. */
int taut_switch_step(taut_solver *solver, taut_error *error);

/* (monitor.c) Assigns memory, and looks for the first time. */
int taut_monitor_create(taut_solver *solver, taut_error *error);
void taut_monitor_release(taut_solver *solver);
/* After a step: looks again where one is due. */
int taut_monitor_step(taut_solver *solver, taut_error *error);
/* At the end of a run: looks for the last time, and states what does not hold any more. */
int taut_monitor_end(taut_solver *solver, taut_error *error);
/* The status of a run that ended with `status`. */
int taut_monitor_status(const taut_solver *solver, int status);
void taut_monitor_result(const taut_solver *solver, taut_result *result);
void taut_monitor_archive(taut_monitor *monitor, taut_archive *archive);

/* (growth.c) Assigns memory; after a step of the fixed size h: fails when the state has grown by
 * instability. `last`: the run ends here. */
int taut_growth_create(taut_solver *solver, taut_error *error);
int taut_growth_guard(taut_solver *solver, double h, bool last, taut_error *error);

/* (dense.c) TAUT_RETRY becomes an error where no smaller step can help. */
int taut_unevaluated(int status, double t, taut_error *error);
/* Sets a and lambda of the present state where the method left them for later. */
int taut_complete(taut_solver *solver, taut_error *error);
/* The state at a fraction theta of the latest step, multipliers included, into solver->probe. */
int taut_dense(taut_solver *solver, double theta, taut_error *error);
/* The same by Hermite interpolation between the ends of any step of this solver. */
int taut_dense_between(taut_solver *solver, const taut_state *x0, const taut_state *x1,
                       double theta, taut_error *error);
/* ... without multipliers, and off the bonds: costs no evaluation. */
void taut_dense_points(taut_solver *solver, const taut_state *x0, const taut_state *x1,
                       double theta);
void taut_state_copy(const taut_stepper *stepper, const taut_state *from, taut_state *to);

/* (kept_steps.c) Keeps the latest step, valid up to time `until`, if steps are kept. */
int taut_kept_add(taut_solver *solver, double until, taut_error *error);

/* (drift.c) Assigns memory and notes what should hold. */
int taut_drift_create(taut_solver *solver, taut_error *error);
int64_t taut_drift_room(const taut_sizes *sizes); /* of taut_stepper_room */
/* Measures the drift of a state, once for each time. */
int taut_drift_measure(taut_solver *solver, const taut_state *state, taut_error *error);
/* The invariants of the present state are those that should hold. */
int taut_drift_begin(taut_solver *solver, taut_error *error);

/* (rows.c) The energy of a state; checks that it is finite and has not exploded. */
int taut_rows_guard(taut_solver *solver, const taut_state *state, double *energy,
                    taut_error *error);
/* The status that a sink returned from `call`; a positive one is an error. */
int taut_sink_status(int status, const char *call, taut_error *error);
/* Writes one row. */
int taut_rows_write(taut_solver *solver, double t, const taut_state *state, taut_error *error);
/* More is a mistake in `every`, which is refused before anything is computed. */
static const double TAUT_MOST_ROWS = 1e12;
int taut_rows_refuse(const taut_solver *solver, double count, const char *where, taut_error *error);
/* Writes the rows due up to time t of the latest step. When the caller interrupts the run, the
 * remaining ones are not written, now or later. */
int taut_rows_due(taut_solver *solver, double t, taut_error *error);
/* The same up to event k at the fraction theta of the latest step, and the row there; the probe is
 * its state. */
int taut_rows_event(taut_solver *solver, taut_index k, double theta, taut_error *error);

/* (refine.c) Assigns memory, after the method is made. */
int taut_refine_create(taut_solver *solver, taut_error *error);
void taut_refine_release(taut_solver *solver);
/* *shown: the state refined, or itself. */
int taut_refine(taut_solver *solver, const taut_state *state, const taut_state **shown,
                taut_error *error);
/* At the end of a run: refines the present state, unless its row has. */
int taut_refine_end(taut_solver *solver, taut_error *error);
/* (rows.c) The forces in the bonds at a state, lambda of rows, events and results; valid until the
 * next call. First order: the algebraic variables. */
int taut_state_forces(taut_solver *solver, const taut_state *state, const double **forces,
                      taut_error *error);
/* (refine.c) The present state as it is shown. */
const taut_state *taut_refined_now(const taut_solver *solver);
/* Of its multipliers, max norm; NaN: not known. */
double taut_refine_uncertainty(const taut_solver *solver);

/* (event_watch.c) Assigns memory. */
int taut_watch_create(taut_solver *solver, taut_error *error);
/* Events are compared with the present state. */
int taut_watch_begin(taut_solver *solver, taut_error *error);
/* Makes the probe the present state; what the method remembers is forgotten. `altered`: the motion
 * begins again there, with any energy. */
int taut_watch_restart(taut_solver *solver, bool altered, taut_error *error);
/* Looks for events in the latest step and acts on them, rows included; solver->outcome is
 * TAUT_EVENT when one stops the run. *restarted: the state is now that of an event inside the
 * step. */
int taut_watch_step(taut_solver *solver, bool *restarted, taut_error *error);

/* Over several ranks, for methods without a field: makes onto_rigid, which moves states near the
 * bonds onto them, along G^T of where they are. Together. (run_start.c) */
int taut_start_need_projector(taut_solver *solver, taut_error *error);
/* Of several ranks (ranks_rows.c): what rank 0 needs for rows of these sinks; a row of the whole
 * system, from those of all ranks. Together. */
int taut_whole_begin(taut_solver *solver, const taut_sink *sinks, int count, taut_error *error);
int taut_whole_row(taut_solver *solver, const taut_row *row, taut_error *error);
/* A row for all sinks. (rows.c) */
int taut_rows_give(const taut_solver *solver, const taut_row *row, taut_error *error);
/* Of several ranks (ranks.c): their space, the halo of coordinates, NULL for one; the largest entry
 * over all ranks. Refusals: before the motion is chosen, and after. */
taut_space *taut_run_space(const taut_solver *solver);
const taut_halo *taut_run_halo(const taut_solver *solver);
double taut_run_largest(const taut_solver *solver, int64_t n, const double *x);
int taut_ranks_refuse_options(const taut_solver *solver, taut_error *error);
int taut_ranks_refuse_method(const taut_solver *solver, taut_error *error);
/* Bonds that are rigid in this motion are on all ranks or on none: methods with and without them
 * exchange different messages. */
int taut_ranks_refuse_parts(const taut_solver *solver, taut_error *error);

#endif
