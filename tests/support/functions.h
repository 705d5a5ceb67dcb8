/* functions.h - systems as C functions, for the tests of callbacks: two pendulums with every
 * optional function, a mass matrix, a long chain, a distance. Calls of the pendulums and of the
 * chain are counted; those of the pendulums can fail or give NaN. */
#ifndef TAUT_TESTS_SUPPORT_FUNCTIONS_H
#define TAUT_TESTS_SUPPORT_FUNCTIONS_H

#include <taut/taut.h>

#include "support/table.h"

/* What the functions see: calls are counted, and can fail or give NaN. */
typedef struct user {
    bool moving; /* the anchor moves */
    int64_t force_calls, bond_calls, jacobian_calls;
    int64_t fail_at; /* the call (force + bond) that returns fail_with; 0: none */
    int fail_with;
    int nan_force, nan_bond; /* entry + 1 that is not a number */
} user;

static inline int fail_now(const user *u)
{
    return u->fail_at && u->force_calls + u->bond_calls == u->fail_at ? u->fail_with : 0;
}

/* ---- two pendulums, one below the other, as twin of pendulum_text in test_callbacks.c */

static inline double anchor(const user *u, double t)
{
    return u->moving ? sin(2 * t) / 2 : 0;
}

static inline int pendulum_force(void *data, double t, const double *q, const double *v, double *f)
{
    user *u = data;
    u->force_calls++;
    f[0] = -0.1 * v[0] + sin(q[3]) * (u->moving ? cos(t) : 1);
    f[1] = -1 - v[0] * v[1];
    f[2] = q[0] * q[3] - 0.3 * v[2];
    f[3] = -2 + exp(-q[0] * q[0]);
    if (u->nan_force)
        f[u->nan_force - 1] = NAN;
    return fail_now(u);
}

static inline int pendulum_bond(void *data, double t, const double *q, double *g)
{
    user *u = data;
    u->bond_calls++;
    double x = q[0] - anchor(u, t), dx = q[0] - q[2], dy = q[1] - q[3];
    g[0] = sqrt(x * x + q[1] * q[1]) - 1;
    g[1] = dx * dx + dy * dy + q[0] * q[1] * q[2] - 1;
    if (u->nan_bond)
        g[u->nan_bond - 1] = NAN;
    return fail_now(u);
}

/* On the pattern of pendulum_start, whose columns are not sorted. */
static const taut_index pendulum_start[] = {0, 2, 6}, pendulum_column[] = {1, 0, 0, 1, 2, 3};
static inline int pendulum_jacobian(void *data, double t, const double *q, double *entries)
{
    user *u = data;
    u->jacobian_calls++;
    double x = q[0] - anchor(u, t), r = sqrt(x * x + q[1] * q[1]), dx = q[0] - q[2],
           dy = q[1] - q[3];
    entries[0] = q[1] / r;
    entries[1] = x / r;
    entries[2] = 2 * dx + q[1] * q[2];
    entries[3] = 2 * dy + q[0] * q[2];
    entries[4] = -2 * dx + q[0] * q[1];
    entries[5] = -2 * dy;
    return 0;
}

static inline int pendulum_gamma(void *data, double t, const double *q, const double *v,
                                 double *gamma)
{
    const user *u = data;
    /* the anchor moves with velocity cos 2t and acceleration -2 sin 2t */
    double x = q[0] - anchor(u, t), r = sqrt(x * x + q[1] * q[1]);
    double vx = v[0] - (u->moving ? cos(2 * t) : 0), ax = u->moving ? 2 * sin(2 * t) : 0,
           across = (x * v[1] - q[1] * vx) / r;
    gamma[0] = across * across / r + x / r * ax;
    double du = v[0] - v[2], dw = v[1] - v[3];
    gamma[1] = 2 * (du * du + dw * dw) +
               2 * (v[0] * v[1] * q[2] + v[0] * q[1] * v[2] + q[0] * v[1] * v[2]);
    return 0;
}

static const double pendulum_mass[] = {1, 1, 2, 2}, pendulum_compliance[] = {1e-4, 0},
                    pendulum_damping[] = {5e-4, 0}, pendulum_q[] = {1, 0.5, 2, -0.25},
                    pendulum_v[] = {0.5, 0, 0, 1};

static inline taut_callbacks pendulum(user *u)
{
    return (taut_callbacks){.size = sizeof(taut_callbacks),
                            .coordinates = 4,
                            .bonds = 2,
                            .mass = pendulum_mass,
                            .compliance = pendulum_compliance,
                            .damping = pendulum_damping,
                            .start_q = pendulum_q,
                            .start_v = pendulum_v,
                            .force = pendulum_force,
                            .bond = pendulum_bond,
                            .time_dependent = u->moving,
                            .user = u};
}

static inline taut_system *make(const taut_callbacks *c)
{
    taut_error error = {0};
    taut_system *system = NULL;
    int status = taut_system_from_callbacks(c, NULL, &system, &error);
    check_row(status == 0, "callbacks: %d %s", status, error.message);
    return system;
}

/* ---- a mass matrix */

static inline int matrix_force(void *data, double t, const double *q, const double *v, double *f)
{
    (void)data, (void)t, (void)v;
    f[0] = -2 * q[0] * q[1];
    f[1] = -q[0] * q[0];
    f[2] = -4 * q[2] * q[2] * q[2];
    return 0;
}

static inline int matrix_bond(void *data, double t, const double *q, double *g)
{
    (void)data, (void)t;
    g[0] = q[0] * q[1] * q[2] - 1;
    return 0;
}

static inline int matrix_energy(void *data, double t, const double *q, double *potential)
{
    (void)data, (void)t;
    *potential = q[0] * q[0] * q[1] + q[2] * q[2] * q[2] * q[2];
    return 0;
}

static inline int matrix_mass(void *data, double t, const double *q, double *mass)
{
    (void)data;
    memset(mass, 0, 9 * sizeof *mass);
    mass[0] = 2 + cos(q[1]);
    mass[4] = 3 + t;
    mass[8] = 1;
    mass[1] = mass[3] = 0.3 * q[0] * q[2];
    return 0;
}

/* ---- a long chain */

enum { LINKS = 300 };

static inline int chain_force(void *data, double t, const double *q, const double *v, double *f)
{
    user *u = data;
    (void)t, (void)v;
    u->force_calls++;
    for (int i = 0; i < LINKS; i++) {
        f[2 * i] = 0;
        f[2 * i + 1] = -1 - 0.1 * q[2 * i] * sin(q[2 * i + 1]);
    }
    return 0;
}

static inline int chain_bond(void *data, double t, const double *q, double *g)
{
    user *u = data;
    (void)t;
    u->bond_calls++;
    for (int i = 0; i < LINKS; i++) {
        double dx = q[2 * i] - (i ? q[2 * i - 2] : 0), dy = q[2 * i + 1] - (i ? q[2 * i - 1] : 0);
        g[i] = sqrt(dx * dx + dy * dy) - 1;
    }
    return 0;
}

typedef struct chain {
    taut_index start[LINKS + 1], column[4 * LINKS];
    double q[2 * LINKS], compliance[LINKS];
} chain;

static inline taut_callbacks make_chain(chain *c, user *u)
{
    taut_index used = 0;
    for (int i = 0; i < LINKS; i++) {
        c->start[i] = used;
        for (int k = i ? 2 * i - 2 : 0; k < 2 * i + 2; k++)
            c->column[used++] = k;
        c->q[2 * i] = i + 1;
        c->q[2 * i + 1] = 0;
        c->compliance[i] = 1e-6;
    }
    c->start[LINKS] = used;
    return (taut_callbacks){.size = sizeof(taut_callbacks),
                            .coordinates = 2 * LINKS,
                            .bonds = LINKS,
                            .compliance = c->compliance,
                            .start_q = c->q,
                            .jacobian_start = c->start,
                            .jacobian_column = c->column,
                            .force = chain_force,
                            .bond = chain_bond,
                            .user = u};
}

/* ---- a distance */

/* g = |p| - length, with coordinates in other units and far from the origin. */
static inline int unit_bond(void *data, double t, const double *q, double *g)
{
    const double *centre = data;
    (void)t;
    double x = q[0] - centre[0], y = q[1] - centre[1];
    g[0] = sqrt(x * x + y * y) - centre[2];
    return 0;
}

static inline int no_force(void *data, double t, const double *q, const double *v, double *f)
{
    (void)data, (void)t, (void)q, (void)v;
    f[0] = f[1] = 0;
    return 0;
}

#endif
