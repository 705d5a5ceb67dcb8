/* test_leap.c - the generalised leapfrog of flow_leap.c: a step back undoes a step, order 2
 * against an exact solution, Verlet where forces do not depend on velocities, and a refusal
 * where they are too strong. */
#include <taut/taut.h>

#include "base/memory.h"
#include "step/flow_leap.h"
#include "step/flow_verlet.h"
#include "support/table.h"

typedef struct rig {
    taut_system *system;
    taut_context *context;
    taut_arena arena;
    taut_statistics cost;
    taut_flow *leap;
    double state[4];
    taut_error error;
    int code;
} rig;

static rig make(const char *model)
{
    rig r = {0};
    taut_allocator allocator = taut_allocator_or_default(NULL);
    taut_arena_init(&r.arena, &allocator);
    r.code = taut_system_parse(model, strlen(model), "model.taut", NULL, &r.system, &r.error);
    if (r.code == 0)
        r.code = taut_context_create(r.system, NULL, &r.context, &r.error);
    taut_sizes sizes = {.size = sizeof sizes};
    if (r.code == 0)
        taut_system_sizes_get(r.system, &sizes, NULL);
    if (r.code == 0)
        r.code = taut_context_start(r.context, 0, r.state, r.state + sizes.coordinates, &r.error);
    return r;
}

static void start(rig *r)
{
    if (r->code == 0)
        r->code = taut_flow_leap(r->context, &r->arena, &r->cost, 0, &r->leap, &r->error);
    check_row(r->code == 0, "%s", r->error.message);
}

static void drop(rig *r)
{
    if (r->leap)
        r->leap->destroy(r->leap);
    taut_context_destroy(r->context);
    taut_system_destroy(r->system);
    taut_arena_clear(&r->arena);
}

static const char *const models[] = {
    "[coordinates]\nx, y\n[mass]\nx = 2 + sin(y), y = 1 + x^2\nM[x,y] = 0.4\n[potential]\ny + "
    "x^4\n[start]\nx = 1, y = 0.3, x' = 0.5, y' = -1\n",
    "[coordinates]\nr, phi\n[kinetic]\n(r'^2 + r^2*phi'^2)/2\n[bonds]\ns = r - 1 stiffness "
    "100\n[start]\nr = 1.1, phi' = 2, r' = 0.3\n",
    "[coordinates]\nx, y\n[forces]\nx = -x*sqrt(x'^2+y'^2) + y', y = -x' - y'*abs(y')\n[bonds]\ns "
    "= x + y stiffness 50 damping 1\n"
    "[start]\nx = 1, y = 0.3, x' = 0.5, y' = -1\n"};

static void test_back(void)
{
    check_group("a step back undoes a step");
    for (size_t k = 0; k < sizeof models / sizeof models[0]; k++) {
        rig r = make(models[k]);
        double before[4];
        start(&r);
        memcpy(before, r.state, sizeof before);
        for (int j = 0; j < 40 && r.code == 0; j++)
            r.code = r.leap->advance(r.leap, 0.02 * j, 0.02, r.state, &r.error);
        check_row(r.code == 0 && fabs(r.state[0] - before[0]) > 1e-3, "model %d has moved: %s",
                  (int)k, r.error.message);
        for (int j = 40; j > 0 && r.code == 0; j--)
            r.code = r.leap->advance(r.leap, 0.02 * j, -0.02, r.state, &r.error);
        for (int i = 0; i < 4; i++)
            check_near("state", r.state[i], before[i], 1e-12);
        drop(&r);
    }
}

/* x'' = -x - x'/2 from (1, 0): exp(-t/4) (cos w t + sin(w t)/(4 w)), w = sqrt(15)/4. */
static void test_order(void)
{
    check_group("order");
    double error[2];
    for (int k = 0; k < 2; k++) {
        rig r = make("[coordinates]\nx\n[forces]\nx = -x - x'/2\n[start]\nx = 1\n");
        int steps = 50 << k;
        double h = 2.0 / steps, w = sqrt(15) / 4;
        start(&r);
        for (int j = 0; j < steps && r.code == 0; j++)
            r.code = r.leap->advance(r.leap, j * h, h, r.state, &r.error);
        error[k] = fabs(r.state[0] - exp(-0.5) * (cos(2 * w) + sin(2 * w) / (4 * w)));
        drop(&r);
    }
    check_near("slope", log2(error[0] / error[1]), 2, 0.1);
    check_below("error", error[1], 1e-3);
}

static void test_verlet(void)
{
    check_group("without velocities it is Verlet");
    rig r = make("[coordinates]\nx, y\n[mass]\nx = 2, y = 3\n[potential]\ny\n[bonds]\ns = "
                 "sqrt(x^2+y^2) - 1 stiffness 100\n[start]\nx = 1.1, y' = 1\n");
    taut_flow *verlet = NULL;
    double other[4];
    start(&r);
    memcpy(other, r.state, sizeof other);
    if (r.code == 0)
        r.code = taut_flow_verlet(r.context, &r.arena, &r.cost, INFINITY, 0, other, other + 2,
                                  &verlet, &r.error);
    for (int j = 0; j < 50 && r.code == 0; j++) {
        r.code = r.leap->advance(r.leap, 0.05 * j, 0.05, r.state, &r.error);
        if (r.code == 0)
            r.code = verlet->advance(verlet, 0.05 * j, 0.05, other, &r.error);
    }
    for (int i = 0; i < 4; i++)
        check_near("state", r.state[i], other[i], 1e-12);
    if (verlet)
        verlet->destroy(verlet);
    drop(&r);
}

static void test_strong(void)
{
    check_group("too strong");
    rig r = make("[coordinates]\nx\n[forces]\nx = -1000*x'\n[start]\nx' = 1\n");
    start(&r);
    double before[2] = {r.state[0], r.state[1]};
    int code = r.leap->advance(r.leap, 0, 0.1, r.state, &r.error);
    check_equal("code", code, TAUT_ERROR_CONVERGE);
    check_contains("words", r.error.message, "too strong");
    check_row(memcmp(before, r.state, sizeof before) == 0, "the state is as before");
    drop(&r);
    r = make("[coordinates]\nx, y\n[bonds]\ns = sqrt(x^2+y^2) - 1\n[start]\nx = 1\n");
    r.code = taut_flow_leap(r.context, &r.arena, &r.cost, 0, &r.leap, &r.error);
    check_equal("rods", r.code, TAUT_ERROR_REFUSED);
    drop(&r);
}

int main(void)
{
    test_back();
    test_order();
    test_verlet();
    test_strong();
    return check_done();
}
