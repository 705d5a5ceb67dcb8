/* test_fused_slow.c - levels of slow motion as one tape (system/fused_slow.c). Judge: the
 * multiplier recursion by Taylor jets (slow/multiplier_recursion.c), at random states near the
 * initial one. */
#define _XOPEN_SOURCE 700
#include <math.h>

#include "base/random.h"
#include "slow/multiplier_recursion.h"
#include "support/native_place.h"
#include "support/run.h"
#include "system/fused.h"

enum { MOST = 64, STATES = 4, LEVELS = 3 };

static const char crank[] = /* elastic and rigid bonds, a force of time and velocities */
    "[parameters]\nk = 1e4\n[coordinates]\ntheta, x2, y2, psi\n[mass]\ntheta = 0.36, x2 = 0.36,"
    " y2 = 0.36, psi = 0.08\n[forces]\ntheta = sin(t) - theta'\ny2 = -3\n[bonds]\n"
    "a = x2 - cos(theta) - cos(psi)/2 stiffness k\nb = y2 - sin(theta) - sin(psi)/2 stiffness k\n"
    "c = sin(theta) + sin(psi) rigid\n[start]\ntheta = 0.7, psi = -0.7, x2 = 1.5*cos(0.7),"
    " y2 = sin(0.7)/2\n";
static const char damped[] = /* M(q) by [kinetic] */
    "[parameters]\nk = 1e4\n[coordinates]\nr, phi, s\n[kinetic]\n(r'^2 + r^2*phi'^2)/2 + (s'^2 +"
    " 2*s'*phi'*r*cos(phi) + r^2*phi'^2)/2\n[potential]\n-r*cos(phi) + s^2/2\n[bonds]\n"
    "rod = r - 1 stiffness k damping 100\n[start]\nr = 1, phi = 1, s = 0.2\n";
static const char moving[] = /* a bond of time, a soft spring, a rigid bond */
    "[parameters]\nk = 1e4\n[coordinates]\nx, y, u, w\n[potential]\ny + w\n[forces]\nu = -0.1*u' +"
    " 0.2*w'\nw = -0.2*u' - 0.1*w'\n[bonds]\nrod = length((x - 0.1*sin(2*t), y)) - 1 stiffness k\n"
    "link = length((u - x, w - y)) - 1 rigid\nweak = length((u, w)) - 1.5 stiffness 2 soft\n"
    "[start]\nx = 1, y = 0, u = 1, w = -1, x' = 0.2, u' = 0.2\n";
static const char functions[] = /* one of each */
    "[parameters]\nk = 1e4\np = 1.7\n[coordinates]\na, b, c\n[mass]\na = 2 + sin(a)\nb = exp(-b)\n"
    "c = 1\n[potential]\ncos(a)*tanh(b) + b^2/2 + log(3 + c) + atan(a*c) + (2 + c)^p\n[forces]\n"
    "c = -atan2(a', 2 + b) + sinh(c')/(1 + a^2) + sqrt(2 + b*c) - asin(c/4) + hypot(a, 2)\n"
    "[bonds]\nhold = tan(a/3) - b^2/2 - cosh(c)*sin(t)/9 stiffness k\n"
    "[start]\na = 1, b = 0.5, c = 0.3, b' = 1\n";

static int load(const char *model, const char *set, bool compile, taut_system **system,
                taut_error *error)
{
    char path[400];
    taut_load how = {.size = sizeof how, .set = &set, .set_count = set != NULL, .compile = compile};
    if (strchr(model, '['))
        return taut_system_parse(model, strlen(model), "model", &how, system, error);
    snprintf(path, sizeof path, TAUT_SOURCE_DIR "/models/%s.taut", model);
    return taut_system_load(path, &how, system, error);
}

/* The larger difference of two vectors, relative to the larger of both. */
static double apart(taut_index count, const double *a, const double *b)
{
    double off = 0, size = 1e-300;
    for (taut_index i = 0; i < count; i++) {
        off = fmax(off, fabs(a[i] - b[i]));
        size = fmax(size, fmax(fabs(a[i]), fabs(b[i])));
    }
    return off / size;
}

typedef struct pair {
    taut_context *context;
    taut_arena arena;
    taut_statistics statistics;
    taut_multiplier_recursion *recursion;
    taut_index n, m, rods, rod[MOST];
} pair;

static int make_pair(pair *p, taut_system *system, taut_error *error)
{
    taut_arena_init(&p->arena, NULL);
    TAUT_TRY(taut_context_create(system, NULL, &p->context, error));
    TAUT_TRY(taut_multiplier_recursion_create(p->context, &p->arena, &p->statistics, LEVELS, 0,
                                              NULL, &p->recursion, error));
    p->n = p->recursion->equations.n;
    p->m = p->recursion->equations.m;
    for (taut_index i = 0; i < p->m; i++)
        if (p->recursion->equations.counts[i])
            p->rod[p->rods++] = i;
    return TAUT_OK;
}

/* One level at one state; the name of what is off. */
static void compare(const char *name, pair *p, taut_fused_work *a, taut_fused_work *y, int level,
                    double t, const double *q, const double *v)
{
    double rate[MOST], lambda[MOST] = {0}, both[2 * MOST], entries[MOST * MOST];
    const taut_multiplier_recursion *r = p->recursion;
    taut_error error = {0};
    static const double LIMIT = 2e-11; /* derivatives of order 5 of ill-conditioned states */
    if (!check_row(taut_fused_run(a, t, q, v, rate, lambda, entries) &&
                       taut_fused_run(y, t, q, v, both, NULL, NULL),
                   "%s: not evaluated", name))
        return;
    /* damped bonds: orders, and what is truncated, depend on `rates` */
    for (int rates = 0; rates < 2; rates++) {
        if (!check_row(taut_multiplier_recursion_evaluate(p->recursion, level, rates, t, q, v,
                                                          &error) == 0,
                       "%s: %s", name, error.message))
            return;
        double off = rates ? apart(p->m, both, r->y) : apart(p->n, rate, r->a),
               other =
                   rates ? apart(p->m, both + p->m, r->y + p->m) : apart(p->m, lambda, r->lambda);
        check_row(off < LIMIT && other < LIMIT, "%s: %s %.1e, %s %.1e", name,
                  rates ? "y" : "accelerations", off, rates ? "y'" : "multipliers", other);
    }
}

static void try_level(const char *model, pair *p, int level, bool compiled)
{
    taut_fused_work *a = NULL, *y = NULL;
    taut_error error = {0};
    double q0[MOST], v0[MOST], q[MOST], v[MOST];
    uint64_t random = 3;
    char name[100];
    snprintf(name, sizeof name, "%s, level %d, %s", model, level,
             compiled ? "compiled" : "interpreted");
    if (!check_row(taut_context_start(p->context, 0, q0, v0, &error) == 0 &&
                       taut_fused_open(p->context, TAUT_FUSED_ACCELERATION, level, p->rods, p->rod,
                                       &p->arena, &a, &error) == 0 &&
                       taut_fused_open(p->context, TAUT_FUSED_MANIFOLD, level, p->rods, p->rod,
                                       &p->arena, &y, &error) == 0 &&
                       a && y,
                   "%s: %s", name, error.message))
        return;
    check_row((a->fused->each->native_bound != NULL) == (compiled && level < 2),
              "%s: compiled or not", name);
    for (int k = 0; k < STATES; k++) {
        for (taut_index i = 0; i < p->n; i++) {
            q[i] = q0[i] + 0.02 * (1 + fabs(q0[i])) * taut_random(&random);
            v[i] = v0[i] + 0.5 * (1 + fabs(v0[i])) * taut_random(&random);
        }
        compare(name, p, a, y, level, 0.1 * k, q, v);
    }
}

static void test_levels(bool compile)
{
    static const struct {
        const char *name, *model, *set;
        int levels;
    } rows[] = {{"double_pendulum", "double_pendulum", "omega=100", 3},
                {"cart", "cart", "omega=100", 3},
                {"spring_pendulum", "spring_pendulum", NULL, 3},
                {"butane", "butane", NULL, 1},
                {"robot_arm", "robot_arm", NULL, 2},
                {"crank", crank, NULL, 3},
                {"damped", damped, NULL, 3},
                {"moving", moving, NULL, 3},
                {"functions", functions, NULL, 3}};
    check_group(compile ? "levels, compiled" : "levels");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        pair p = {0};
        taut_system *system = NULL;
        taut_error error = {0};
        if (check_row(load(rows[k].model, rows[k].set, compile, &system, &error) == 0 &&
                          make_pair(&p, system, &error) == 0,
                      "%s: %s", rows[k].name, error.message))
            for (int level = 0; level < rows[k].levels; level++)
                try_level(rows[k].name, &p, level, compile);
        taut_multiplier_recursion_destroy(p.recursion);
        taut_context_destroy(p.context);
        taut_arena_clear(&p.arena);
        taut_system_destroy(system);
    }
}

int main(void)
{
    char compiler[400];
    check_group("slow tapes");
    bool there = place_open(compiler, sizeof compiler);
#ifdef TAUT_CORE
    there = false;
#endif
    test_levels(false);
    if (there) {
        setenv("XDG_CACHE_HOME", in_place("slow"), 1);
        test_levels(true);
    }
    remove_tree(place);
    return check_done();
}
