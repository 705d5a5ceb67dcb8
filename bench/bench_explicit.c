/* bench_explicit.c - rigid chains: RATTLE by Taut, from the model text, against hand-written C;
 * dop8 on the index-1 form, stabilised; time per link and step as the chain grows.
 *
 * Rows: name | limit | value | verdict. The limit of 2 for 1000 links is our aim; chains of 10,
 * where calls count, and of 100000, which do not fit the caches, have limits that only watch
 * over what was reached. The hand-written RATTLE solves the same equations to the same accuracy:
 * tridiagonal matrix of the old point, simplified Newton iteration. Times are the best of
 * several rounds, in which both take turns. */
#if defined(__linux__)
#define _POSIX_C_SOURCE 199309L
#endif
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "runs.h"

enum { ROUNDS = 11 };

static const double step = 0.01;

/* ---- by hand: masses 1, gravity 1 along -y, links of length 1; u_i is the direction of link i
 * at the old point */

typedef struct chain {
    int links;
    double *q, *v, *kick, *next; /* x, y alternating */
    double *u, *pivot, *lower;   /* directions; L D L^T of G G^T, tridiagonal */
    double *y;
} chain;

static void directions(chain *c)
{
    double px = 0, py = 0;
    for (int i = 0; i < c->links; i++) {
        double dx = c->q[2 * i] - px, dy = c->q[2 * i + 1] - py, length = sqrt(dx * dx + dy * dy);
        c->u[2 * i] = dx / length;
        c->u[2 * i + 1] = dy / length;
        px = c->q[2 * i];
        py = c->q[2 * i + 1];
    }
    double last = 0;
    for (int i = 0; i < c->links; i++) {
        double diagonal = i ? 2 : 1;
        if (i) {
            double beside = -(c->u[2 * i] * c->u[2 * i - 2] + c->u[2 * i + 1] * c->u[2 * i - 1]);
            c->lower[i] = beside * last;
            diagonal -= beside * c->lower[i];
        }
        last = c->pivot[i] = 1 / diagonal;
    }
}

/* y <- (G G^T)^-1 y, then x <- x + G^T y; returns the largest change. */
static double correct(chain *c, double *x)
{
    double size = 0;
    for (int i = 1; i < c->links; i++)
        c->y[i] -= c->lower[i] * c->y[i - 1];
    for (int i = 0; i < c->links; i++)
        c->y[i] *= c->pivot[i];
    for (int i = c->links - 2; i >= 0; i--)
        c->y[i] -= c->lower[i + 1] * c->y[i + 1];
    for (int i = 0; i < c->links; i++) {
        double after = i + 1 < c->links ? c->y[i + 1] : 0;
        double dx = c->y[i] * c->u[2 * i], dy = c->y[i] * c->u[2 * i + 1];
        if (i + 1 < c->links) {
            dx -= after * c->u[2 * i + 2];
            dy -= after * c->u[2 * i + 3];
        }
        x[2 * i] += dx;
        x[2 * i + 1] += dy;
        size = fmax(size, fmax(fabs(dx), fabs(dy)));
    }
    return size;
}

static void hand_step(chain *c, double h)
{
    double scale = 0, before = INFINITY;
    for (int i = 0; i < 2 * c->links; i++) {
        c->kick[i] *= h * h / 2;
        scale = fmax(scale, fabs(c->q[i]) + h * fabs(c->v[i]));
    }
    for (int k = 0; k < 60; k++) {
        double px = 0, py = 0;
        for (int i = 0; i < c->links; i++) {
            double x = c->q[2 * i] + (h * c->v[2 * i] + c->kick[2 * i]);
            double y = c->q[2 * i + 1] + (h * c->v[2 * i + 1] + c->kick[2 * i + 1]);
            c->y[i] = 1 - sqrt((x - px) * (x - px) + (y - py) * (y - py));
            px = x;
            py = y;
        }
        double size = correct(c, c->kick), floor = 2 * DBL_EPSILON * scale;
        if (size <= floor || (size > before / 2 && size < 1e3 * floor))
            break;
        before = size;
    }
    for (int i = 0; i < 2 * c->links; i++) {
        c->q[i] += h * c->v[i] + c->kick[i];
        c->v[i] += c->kick[i] / h;
        c->kick[i] = i % 2 ? -h / 2 : 0;
    }
    directions(c);
    for (int i = 0; i < c->links; i++) {
        double dx = c->v[2 * i] + c->kick[2 * i], dy = c->v[2 * i + 1] + c->kick[2 * i + 1];
        if (i) {
            dx -= c->v[2 * i - 2] + c->kick[2 * i - 2];
            dy -= c->v[2 * i - 1] + c->kick[2 * i - 1];
        }
        c->y[i] = -(c->u[2 * i] * dx + c->u[2 * i + 1] * dy);
    }
    correct(c, c->kick);
    for (int i = 0; i < 2 * c->links; i++) {
        c->v[i] += c->kick[i];
        c->kick[i] *= 2 / h;
    }
}

static chain hand;

static bool hand_create(int links)
{
    size_t n = (size_t)links * 2;
    chain *c = &hand;
    *c = (chain){links,        calloc(n, 8), calloc(n, 8), calloc(n, 8), calloc(n, 8),
                 calloc(n, 8), calloc(n, 8), calloc(n, 8), calloc(n, 8)};
    if (!c->q || !c->v || !c->kick || !c->next || !c->u || !c->pivot || !c->lower || !c->y)
        return false;
    /* at rest, straight: gravity is perpendicular to the links, so that it is the acceleration */
    for (int i = 0; i < links; i++) {
        c->q[2 * i] = i + 1;
        c->kick[2 * i + 1] = -1;
    }
    directions(c);
    return true;
}

static void hand_destroy(void)
{
    double *all[] = {hand.q, hand.v, hand.kick, hand.next, hand.u, hand.pivot, hand.lower, hand.y};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        free(all[k]);
    hand = (chain){0};
}

static void hand_advance(int64_t steps)
{
    for (int64_t k = 0; k < steps; k++)
        hand_step(&hand, step);
}

static const double *hand_position(void)
{
    return hand.q;
}

/* ---- by Taut */

static const char model[] =
    "[parameters]\nN = 20\n[particles]\ndimension = 2\nbob[i] for i in 1..N mass 1\n"
    "[potential]\nsum(bob[i].y for i in 1..N)\n[bonds]\n"
    "link[1] = length(bob[1]) - 1\nlink[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N\n"
    "[start]\nbob[i] = (i, 0) for i in 1..N\n[run]\nuntil = 1000\n";

/* ns per link and step of a method, stabilised as it is by default. */
static double cost(const char *method, double length, int links, int steps)
{
    char settings[80];
    snprintf(settings, sizeof settings, "method=%s step=%g", method, length);
    bench b = make(model, links, settings);
    double best = INFINITY;
    for (int k = 0; k < 5 && b.code == 0; k++) {
        double t0 = now();
        b.code = taut_solver_advance(b.solver, (double)((k + 1) * steps) * length, &b.error);
        best = fmin(best, now() - t0);
    }
    return done(&b) ? NAN : best * 1e9 / ((double)links * steps);
}

/* Growth from 100 links on: 1 is linear cost. */
static int flat(const char *method, double length)
{
    double first = cost(method, length, 100, 20);
    for (int links = 1000; links <= 100000; links *= 10) {
        double more = cost(method, length, links, links < 10000 ? 20 : 2);
        char name[80];
        printf("%s, rigid chain of %d links: %.4g ns per link and step (%.4g with 100)\n", method,
               links, more, first);
        snprintf(name, sizeof name, "%s, chain of %d, time per link against 100 links", method,
                 links);
        /* the largest no longer fits the caches */
        row(name, links < 100000 ? 1.5 : 2.5, more / first);
        if (isnan(more))
            return 1;
    }
    return 0;
}

int main(int count, char **arguments)
{
    const rivals rattle = {.method = "rattle",
                           .model = model,
                           .settings = "method=rattle step=0.01",
                           .step = step,
                           .rounds = ROUNDS,
                           .create = hand_create,
                           .advance = hand_advance,
                           .position = hand_position,
                           .destroy = hand_destroy};
    if (count == 4)
        return only(&rattle, arguments[1], atoi(arguments[2]), atoi(arguments[3])) ? 1 : 0;
    int code = compare(&rattle, 10, 20, 10); /* short: the motion is chaotic */
    if (code == 0)
        code = compare(&rattle, 1000, 20, 2);
    if (code == 0)
        code = compare(&rattle, 100000, 2, 5);
    if (code == 0)
        code = flat("rattle", step);
    if (code == 0)
        code = flat("dop8", 0.05);
    return code ? 1 : 0;
}
