/* bench_run.c - Verlet on the hanging chain: Taut, from the model text, against hand-written C,
 * in one run.
 *
 * Rows: name | limit | value | verdict. The limit of 2 for 1000 links is our aim; chains of 10,
 * where calls count, and of 100000, which do not fit the caches, have limits that only watch
 * over what was reached. Both integrate the same motion with the same steps; the times are the
 * best of several short ones, so that other load disturbs little. Taut's include one evaluation
 * of the energy in each of them (the guard of the run). */
#if defined(__linux__)
#define _POSIX_C_SOURCE 199309L
#endif
#include <math.h>
#include <stdlib.h>

#include "runs.h"

enum { ROUNDS = 21 };

static const double omega = 1000, step = 1e-4;

/* ---- by hand: forces of all links, masses 1, gravity 1 along -y */

typedef struct chain {
    int links;
    double *q, *v, *a; /* x, y alternating */
} chain;

static void accelerate(chain *c)
{
    double kappa = omega * omega, px = 0, py = 0;
    for (int i = 0; i < c->links; i++) {
        c->a[2 * i] = 0;
        c->a[2 * i + 1] = -1;
    }
    for (int i = 0; i < c->links; i++) {
        double dx = c->q[2 * i] - px, dy = c->q[2 * i + 1] - py, length = sqrt(dx * dx + dy * dy);
        double pull = kappa * (length - 1) / length;
        c->a[2 * i] -= pull * dx;
        c->a[2 * i + 1] -= pull * dy;
        if (i > 0) {
            c->a[2 * i - 2] += pull * dx;
            c->a[2 * i - 1] += pull * dy;
        }
        px = c->q[2 * i];
        py = c->q[2 * i + 1];
    }
}

static chain hand;

static bool hand_create(int links)
{
    hand = (chain){links, calloc((size_t)links * 2, 8), calloc((size_t)links * 2, 8),
                   calloc((size_t)links * 2, 8)};
    if (!hand.q || !hand.v || !hand.a)
        return false;
    for (int i = 0; i < links; i++)
        hand.q[2 * i] = i + 1;
    accelerate(&hand);
    return true;
}

static void hand_destroy(void)
{
    free(hand.q);
    free(hand.v);
    free(hand.a);
    hand = (chain){0};
}

static void hand_advance(int64_t steps)
{
    chain *c = &hand;
    for (int64_t k = 0; k < steps; k++) {
        for (int i = 0; i < 2 * c->links; i++) {
            c->v[i] += step / 2 * c->a[i];
            c->q[i] += step * c->v[i];
        }
        accelerate(c);
        for (int i = 0; i < 2 * c->links; i++)
            c->v[i] += step / 2 * c->a[i];
    }
}

static const double *hand_position(void)
{
    return hand.q;
}

/* ---- by Taut */

static const char model[] =
    "[parameters]\nN = 20\nomega = 1000\n[particles]\ndimension = 2\nbob[i] for i in 1..N mass 1\n"
    "[potential]\nsum(bob[i].y for i in 1..N)\n[bonds]\n"
    "link[1] = length(bob[1]) - 1 stiffness omega^2\n"
    "link[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N stiffness omega^2\n"
    "[start]\nbob[i] = (i, 0) for i in 1..N\n[run]\nuntil = 1\n";

int main(int count, char **arguments)
{
    const rivals verlet = {.method = "verlet",
                           .model = model,
                           .settings = "motion=full method=verlet step=1e-4",
                           .step = step,
                           .rounds = ROUNDS,
                           .create = hand_create,
                           .advance = hand_advance,
                           .position = hand_position,
                           .destroy = hand_destroy};
    if (count == 4)
        return only(&verlet, arguments[1], atoi(arguments[2]), atoi(arguments[3])) ? 1 : 0;
    int code = compare(&verlet, 10, 4000, 6);
    if (code == 0)
        code = compare(&verlet, 1000, 100, 2);
    if (code == 0)
        code = compare(&verlet, 100000, 10, 5);
    return code ? 1 : 0;
}
