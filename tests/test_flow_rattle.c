/* test_flow_rattle.c - RATTLE as a flow (flow_rattle.c): a step back undoes a step, on the rigid
 * bonds to rounding; order 2 against exact motions; Verlet where the rigid bonds bind nothing that
 * moves; what it counts; multipliers that are known; nothing is allocated while it steps. */
#include <taut/taut.h>

#include "base/memory.h"
#include "support/faulty.h"
#include "step/flow_rattle.h"
#include "step/flow_verlet.h"
#include "support/table.h"

enum { MOST = 8 };

typedef struct rig {
    taut_system *system;
    taut_context *context;
    taut_sizes sizes;
    taut_arena arena;
    taut_statistics cost;
    taut_flow *flow;
    double state[2 * MOST];
    taut_error error;
    int code;
} rig;

static rig make(const char *model, const taut_allocator *given)
{
    rig r = {0};
    taut_allocator allocator = taut_allocator_or_default(given);
    taut_arena_init(&r.arena, &allocator);
    r.code = taut_system_parse(model, strlen(model), "model.taut", NULL, &r.system, &r.error);
    if (r.code == 0)
        r.code = taut_context_create(r.system, NULL, &r.context, &r.error);
    if (r.code == 0) {
        taut_sizes_init(&r.sizes);
        taut_system_sizes_get(r.system, &r.sizes, NULL);
    }
    if (r.code == 0)
        r.code = taut_context_start(r.context, 0, r.state, r.state + r.sizes.coordinates, &r.error);
    return r;
}

static void start(rig *r)
{
    if (r->code == 0)
        r->code = taut_flow_rattle(r->context, &r->arena, &r->cost, &r->flow, &r->error);
    check_row(r->code == 0, "%s", r->error.message);
}

static void drop(rig *r)
{
    if (r->flow)
        r->flow->destroy(r->flow);
    taut_context_destroy(r->context);
    taut_system_destroy(r->system);
    taut_arena_clear(&r->arena);
}

static void go(rig *r, double from, double h, int steps)
{
    for (int j = 0; j < steps && r->code == 0; j++)
        r->code = r->flow->advance(r->flow, from + j * h, h, r->state, &r->error);
}

/* max |g| or |gdot| of the rigid bonds at time t. */
static double off_rods(rig *r, double t, bool rate)
{
    double g[MOST], g_t[MOST], entry[8 * MOST], most = 0;
    taut_values values = {.size = sizeof values, .bond = g, .bond_dt = g_t, .jacobian = entry};
    taut_pattern pattern;
    if (taut_system_pattern_get(r->system, TAUT_PATTERN_JACOBIAN, &pattern, NULL) != 0 ||
        taut_evaluate(r->context, t, r->state, r->state + r->sizes.coordinates,
                      TAUT_WANT_BOND | TAUT_WANT_JACOBIAN, &values, NULL) != 0)
        return NAN;
    for (taut_index i = 0; i < r->sizes.bonds; i++) {
        double value = rate ? g_t[i] : g[i];
        for (taut_index k = pattern.start[i]; k < pattern.start[i + 1] && rate; k++)
            value += entry[k] * r->state[r->sizes.coordinates + pattern.column[k]];
        if (!(taut_context_compliance(r->context)[i] > 0))
            most = fabs(value) <= most ? most : fabs(value);
    }
    return most;
}

#define POINTS "[coordinates]\nx, y, z, w\n"
#define ROD "rod = sqrt(x^2 + y^2) - 1\nspring = sqrt((z - x)^2 + (w - y)^2) - 1 stiffness 50"
#define START                                                                                      \
    "\n[start]\nx = 0.6, y = 0.8, x' = -0.4, y' = 0.3, z = 1.5, w = 1.2, z' = 0.7, w' = -0.2\n"

static const char *const models[] = {
    POINTS "[potential]\ny + w\n[bonds]\n" ROD START,
    POINTS "[mass]\nx = 2 + sin(y), y = 1 + x^2, z = 1 + 0.5*w^2\nM[x,y] = 0.4\n[potential]\ny + w "
           "+ z^4/4\n[bonds]\n" ROD START,
    POINTS "[mass]\nx = 2, y = 3\nM[x,y] = 0.4\n[potential]\ny + w\n[bonds]\n" ROD START,
    POINTS "[forces]\nx = -x*sqrt(z'^2+w'^2) + y', y = -x' - y'*z', z = -z'\n[bonds]\n" ROD
           " damping 1" START,
    POINTS "[potential]\ny*w\n[bonds]\nrod = sqrt((x - 0.3*sin(2*t))^2 + y^2) - 1 - 0.1*t\nspring "
           "= z + w - x stiffness 50\n[start]\nx = 0.6, y = 0.8, x' = 0.2, y' = 0.425, z = 1\n",
    ("[coordinates]\nr, phi, z, w\n[kinetic]\n(r'^2 + r^2*phi'^2 + z'^2 + "
     "w'^2)/2\n[potential]\nw\n[bonds]\ns = r - 1 stiffness 50\n"
     "rod = sqrt((z - r*cos(phi))^2 + (w - r*sin(phi))^2) - 2\n[start]\nr = 1.1, phi' = 1, z = "
     "3.1, w' = 1.1\n"),
};

/* Rounding of velocities is u |q|/h a step. */
static void test_back(void)
{
    check_group("a step back undoes a step");
    for (size_t k = 0; k < sizeof models / sizeof models[0]; k++) {
        rig r = make(models[k], NULL);
        double before[2 * MOST];
        start(&r);
        memcpy(before, r.state, sizeof before);
        check_row(off_rods(&r, 0, true) <= 1e-15, "model %d starts on its rods: %.3g", (int)k,
                  off_rods(&r, 0, true));
        go(&r, 0, 0.02, 40);
        check_row(r.code == 0 && fabs(r.state[0] - before[0]) > 1e-3, "model %d has moved: %s",
                  (int)k, r.error.message);
        check_row(off_rods(&r, 0.8, false) <= 4e-15, "model %d: |g| %.3g", (int)k,
                  off_rods(&r, 0.8, false));
        check_row(off_rods(&r, 0.8, true) <= 4e-15, "model %d: |gdot| %.3g", (int)k,
                  off_rods(&r, 0.8, true));
        go(&r, 0.8, -0.02, 40);
        for (int i = 0; i < 2 * r.sizes.coordinates; i++)
            check_near("state", r.state[i], before[i], 2e-12);
        drop(&r);
    }
}

/* Exact motions at t = 1: a free particle on a rigid bond turns uniformly, lambda = m v^2; on a
 * rigid bond whose length grows as 1 + t with the angular momentum 1, phi = t/(1 + t); with drag c
 * v on a rigid bond, the angle is (1 - exp(-c t))/c; on one that grows as r = 1 + t^2/2, with the
 * angular momentum 2, it is the integral of 2/r^2, sqrt(2) (s + sin(2 s)/2), tan s = t/sqrt(2).
 * Errors fall as h^2. */
static void test_order(void)
{
    static const struct {
        const char *name, *model;
        double angle, length, lambda; /* lambda at the initial state */
    } rows[] = {
        {"free",
         "[coordinates]\nx, y\n[mass]\nx = 2, y = 2\n[bonds]\nrod = sqrt(x^2 + y^2) - "
         "1\n[start]\nx = 1, y' = 1.5\n",
         1.5, 1, 4.5},
        {"growing",
         "[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 - t\n[start]\nx = 1, x' = 1, y' "
         "= 1\n",
         0.5, 2, 1},
        {"drag",
         "[coordinates]\nx, y\n[forces]\nx = -0.5*x', y = -0.5*y'\n[bonds]\nrod = sqrt(x^2 + y^2) "
         "- 1\n[start]\nx = 1, y' = 1\n",
         0.78693868057473315, 1, 1},
        {"polar",
         "[coordinates]\nr, phi\n[kinetic]\n(r'^2 + r^2*phi'^2)/2\n[bonds]\nrod = r - 1 - "
         "t^2/2\n[start]\nr = 1, phi' = 2\n",
         1.5370864180337698, 1.5, 3},
    };
    check_group("order 2");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        double off[2], lambda = NAN;
        bool polar = strcmp(rows[k].name, "polar") == 0;
        for (int half = 0; half < 2; half++) {
            rig r = make(rows[k].model, NULL);
            start(&r);
            if (r.code == 0 && half == 0)
                r.code = taut_flow_rattle_multipliers(r.flow, 0, r.state, r.state + 2, &lambda,
                                                      &r.error);
            check_row(r.code == 0 && r.cost.force_evaluations == 0,
                      "%s: multipliers are not counted: %s", rows[k].name, r.error.message);
            go(&r, 0, half ? 1.0 / 80 : 1.0 / 40, half ? 80 : 40);
            double x = polar ? r.state[0] * cos(r.state[1]) : r.state[0],
                   y = polar ? r.state[0] * sin(r.state[1]) : r.state[1];
            off[half] = hypot(x - rows[k].length * cos(rows[k].angle),
                              y - rows[k].length * sin(rows[k].angle));
            drop(&r);
        }
        check_near(rows[k].name, lambda, rows[k].lambda, 1e-13);
        double order = log2(off[0] / off[1]);
        check_row(off[0] < 1e-2 && off[0] > 1e-12 && order > 1.9 && order < 2.1,
                  "%s: errors %.3g, %.3g, order %.3f", rows[k].name, off[0], off[1], order);
    }
}

/* A rigid bond that holds z alone leaves the motion of x and y to Verlet. */
static void test_verlet(void)
{
    static const char *const free_motion =
        "[coordinates]\nx, y\n[potential]\nx^4/4 + x*y\n[bonds]\ns = x - y stiffness "
        "30\n[start]\nx = 1, y' = 0.5\n";
    static const char *const with_rod =
        "[coordinates]\nx, y, z\n[potential]\nx^4/4 + x*y + z\n[bonds]\ns = x - y stiffness "
        "30\nrod = z - 2\n[start]\nx = 1, y' = 0.5, z = 2\n";
    check_group("Verlet with a rigid bond");
    rig a = make(free_motion, NULL), b = make(with_rod, NULL);
    start(&b);
    if (a.code == 0)
        a.code = taut_flow_verlet(a.context, &a.arena, &a.cost, INFINITY, 0, a.state, a.state + 2,
                                  &a.flow, &a.error);
    go(&a, 0, 0.03, 100);
    go(&b, 0, 0.03, 100);
    check_row(a.code == 0 && b.code == 0, "%s%s", a.error.message, b.error.message);
    for (int i = 0; i < 2; i++) {
        check_near("position", b.state[i], a.state[i], 1e-12);
        check_near("velocity", b.state[3 + i], a.state[2 + i], 1e-12);
    }
    check_near("held", b.state[2], 2, 1e-15);
    drop(&a);
    drop(&b);
}

/* 2 N + 1 evaluations for N steps to both sides of a point, 2 N for what follows from its ends;
 * and no memory. */
static void test_counts(void)
{
    check_group("counts");
    faulty f = {0};
    taut_allocator allocator = faulty_allocator(&f);
    rig r = make(models[0], &allocator);
    double centre[2 * MOST];
    start(&r);
    memcpy(centre, r.state, sizeof centre);
    int64_t calls = f.calls;
    go(&r, 0, 0.02, 10);
    memcpy(r.state, centre, sizeof centre);
    go(&r, 0, -0.02, 10);
    check_equal("evaluations", r.cost.force_evaluations, 21);
    check_equal("steps", r.cost.micro_steps, 20);
    check_row(r.cost.newton_iterations <= 5 * 20, "%d iterations onto the rods in 20 steps",
              (int)r.cost.newton_iterations);
    check_equal("allocations while stepping", f.calls - calls, 0);
    drop(&r);
    check_equal("blocks", f.live, 0);
}

/* Failures leave the state as it was. */
static void test_failures(void)
{
    check_group("failures");
    static const struct {
        const char *model, *words;
        double h;
    } rows[] = {
        {"[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2 + y^2) - 1\n[start]\nx = 1, y' = 1\n",
         "do not reach the rigid bonds", 3},
        {"[coordinates]\nx, y, z\n[bonds]\nrod = z\ns = x - y stiffness 100 damping "
         "200\n[start]\nx = 1, y' = 1\n",
         "choose method series", 0.3},
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        rig r = make(rows[k].model, NULL);
        double before[2 * MOST];
        start(&r);
        memcpy(before, r.state, sizeof before);
        go(&r, 0, rows[k].h, 1);
        check_equal(rows[k].words, r.code, TAUT_ERROR_CONVERGE);
        check_contains("says", r.error.message, rows[k].words);
        check_row(memcmp(before, r.state, sizeof before) == 0, "row %d: the state stays", (int)k);
        drop(&r);
    }
    rig r = make("[coordinates]\nx\n[bonds]\ns = x stiffness 4\n", NULL);
    if (r.code == 0)
        r.code = taut_flow_rattle(r.context, &r.arena, &r.cost, &r.flow, &r.error);
    check_row(r.code == TAUT_ERROR_USAGE && !r.flow, "without rods: %s", r.error.message);
    drop(&r);
}

int main(void)
{
    test_back();
    test_order();
    test_verlet();
    test_counts();
    test_failures();
    return check_done();
}
