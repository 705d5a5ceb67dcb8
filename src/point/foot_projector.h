/* foot_projector.h - what the projectors onto foot points share (foot_projector.c): holds and
 * guesses, the order of the phases, velocities. Of bonds: foot_point.c; of a stiff potential:
 * slow/potential/potential_foot.c. */
#ifndef TAUT_POINT_FOOT_PROJECTOR_H
#define TAUT_POINT_FOOT_PROJECTOR_H

#include "point/foot_point.h"

/* Begins the projector of every kind. */
typedef struct taut_foot {
    taut_projector projector; /* self: the arena */
    const taut_foot_kind *kind;
    taut_foot_point_settings settings;
    taut_context *context;
    const taut_system *system;
    taut_sizes sizes;
    taut_index n, m;
    double t;
    bool built;                /* build has been called */
    bool idle;                 /* nothing to project onto: set by build */
    const unsigned char *hold; /* [n] or NULL */
    bool guesses, guess_first; /* there are some; they move first */
    bool apart;                /* other velocities are held than positions */
    unsigned char *fixed;      /* [n]: what does not move in the present phase */
    double *x, *u;             /* [n]: the present position and velocity */
    double *from;              /* [n]: the position of which the foot point is taken */
    double *dx;                /* [n]: a step */
    double *off;               /* [n]: of a kind; of bonds x - from */
    double *rate;              /* [m]: gdot, or what is left of it */
} taut_foot;

/* One phase each; all of them return a status. */
struct taut_foot_kind {
    size_t size; /* of the projector */
    int (*build)(taut_foot *foot, taut_arena *arena, taut_error *error);
    void (*release)(taut_foot *foot); /* accepts half-made ones */
    /* x towards the manifold by the guesses alone; failing to reach it is no failure */
    int (*fit)(taut_foot *foot, taut_error *error);
    /* x: the foot point of `from`, checked */
    int (*find)(taut_foot *foot, taut_error *error);
    /* dx: the change of u that makes it tangential; `first` at this point */
    int (*velocity)(taut_foot *foot, bool first, taut_error *error);
    int (*check_velocity)(taut_foot *foot, taut_error *error);
};

/* Reports x and u to settings.watch. */
int taut_foot_watch(const taut_foot *foot, taut_error *error);
/* x += part dx (velocity: u) where nothing is fixed. */
void taut_foot_move(const taut_foot *foot, double part, double *x);
/* How much of a step is taken, when the first one had length `first`: far away a linear model
 * promises too much. */
double taut_foot_part(double step, double first);
/* rate[i] = G u + g_t of all bonds. */
void taut_foot_rates(taut_foot *foot, const taut_pattern *jacobian, const taut_values *values);
/* Of a bond that nothing free can change: fails unless `value` (g, or gdot for a velocity) is at
 * rounding. `which` restricts, in the message, which of its coordinates are held. */
int taut_foot_check_bond(const taut_foot *foot, const taut_pattern *jacobian, const double *entry,
                         taut_index bond, double value, bool velocity, const char *which,
                         taut_error *error);

#endif
