/* test_builder.c - systems built from particles and bonds in C equal the same systems stated as
 * model files: values, derivatives, jets, runs; wrong calls are named; memory may run out at any
 * allocation. */
#include <taut/taut.h>

#include "support/faulty.h"
#include "support/table.h"
#include "support/twins.h"

#ifndef TAUT_SOURCE_DIR
#define TAUT_SOURCE_DIR "."
#endif

static const twins_limits rounding = {1e-14, 1e-13, 1e-12};

typedef struct plan { /* arguments of one builder */
    int dimension;
    taut_index particles;
    const double *mass, *p, *v, *gravity;
    struct {
        const char *name;
        taut_index count;
        const taut_index *first, *second;
        const double *anchor, *rest, *stiffness;
    } family[4];
    struct {
        taut_index count;
        const taut_index *triples;
        const double *rest, *stiffness;
    } angles[2];
} plan;

static int build(const plan *p, const taut_allocator *allocator, taut_system **system,
                 taut_error *error)
{
    taut_builder *b = NULL;
    *system = NULL;
    int status = taut_builder_create(p->dimension, p->particles, allocator, &b, error);
    if (status == 0) { /* wrong calls are remembered: finish tells */
        if (p->mass)
            taut_builder_mass(b, p->mass);
        if (p->p)
            taut_builder_start(b, p->p, p->v);
        if (p->gravity)
            taut_builder_gravity(b, p->gravity);
        for (int k = 0; k < 4 && p->family[k].name; k++)
            taut_builder_distances(b, p->family[k].name, p->family[k].count, p->family[k].first,
                                   p->family[k].second, p->family[k].anchor, p->family[k].rest,
                                   p->family[k].stiffness);
        for (int k = 0; k < 2 && p->angles[k].count; k++)
            taut_builder_angles(b, p->angles[k].count, p->angles[k].triples, p->angles[k].rest,
                                p->angles[k].stiffness);
        status = taut_builder_finish(b, system, error);
    }
    taut_builder_destroy(b);
    return status;
}

static taut_system *must_build(const plan *p)
{
    taut_error error = {0};
    taut_system *system = NULL;
    int status = build(p, NULL, &system, &error);
    check_row(status == 0, "builder: %d: %s", status, error.message);
    return system;
}

/* ---- chain */

enum { LINKS = 20 };
typedef struct chain {
    taut_index first[LINKS], second[LINKS];
    double rest[LINKS], stiffness[LINKS], anchor[2 * LINKS], p[2 * LINKS];
    plan plan;
} chain;

static const double down[3] = {0, -1, 0};

/* models/chain.taut: unit masses and lengths, the first link pinned to the origin. */
static void make_chain(chain *c)
{
    *c = (chain){0};
    for (int i = 0; i < LINKS; i++) {
        c->first[i] = i;
        c->second[i] = i - 1;
        c->rest[i] = 1;
        c->stiffness[i] = 1e6;
        c->p[2 * i] = i + 1;
    }
    c->plan =
        (plan){.dimension = 2,
               .particles = LINKS,
               .p = c->p,
               .gravity = down,
               .family = {{"link", LINKS, c->first, c->second, c->anchor, c->rest, c->stiffness}}};
}

static void test_chain(void)
{
    check_group("chain");
    chain c;
    make_chain(&c);
    taut_error error = {0};
    taut_system *expected = NULL, *system = must_build(&c.plan);
    int status = taut_system_load(TAUT_SOURCE_DIR "/models/chain.taut", NULL, &expected, &error);
    check_row(status == 0, "models/chain.taut: %s", error.message);
    if (!system || !expected)
        goto done;
    twins_compare("chain", system, expected, 5, 0.3, rounding, 6);
    taut_sizes sizes = {.size = sizeof sizes}, model = {.size = sizeof model};
    taut_system_sizes_get(system, &sizes, NULL);
    taut_system_sizes_get(expected, &model, NULL);
    check_equal("capabilities", sizes.can, model.can);
    check_equal("kernels: pinned, free, gravity", sizes.kernels, 3);
    check_equal("members", sizes.members, 2 * LINKS);
    check_equal("entries of G", sizes.jacobian_entries, model.jacobian_entries);
    char name[64];
    for (taut_index k = 0; k < 2 * LINKS; k++) {
        char want[64];
        taut_system_name(system, TAUT_COORDINATE, k, name, sizeof name);
        snprintf(want, sizeof want, "p[%d].%c", k / 2 + 1, "xy"[k % 2]);
        check_row(strcmp(name, want) == 0 && taut_system_find(system, TAUT_COORDINATE, name) == k,
                  "coordinate %d is %s, not %s", (int)k, name, want);
    }
    taut_system_name(system, TAUT_BOND, LINKS - 1, name, sizeof name);
    check_row(strcmp(name, "link[20]") == 0 &&
                  taut_system_find(system, TAUT_BOND, "link[20]") == LINKS - 1,
              "last bond: %s", name);
done:
    taut_system_destroy(expected);
    taut_system_destroy(system);
}

/* The state after a run, from a system and a step. */
static int run(const taut_system *system, const char *step, double *q, taut_index n,
               taut_error *error)
{
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    int status = taut_options_create(NULL, &options, error);
    if (status == 0)
        status = taut_options_set(options, "until", "0.2", error);
    if (status == 0)
        status = taut_options_set(options, "step", step, error);
    if (status == 0)
        status = taut_options_set(options, "method", "verlet", error);
    if (status == 0)
        status = taut_solver_create(system, options, NULL, &solver, error);
    if (status == 0)
        status = taut_solver_run(solver, NULL, 0, NULL, NULL, error);
    if (status == 0)
        memcpy(q, taut_solver_position(solver), (size_t)n * sizeof *q);
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    return status;
}

static void test_run(void)
{
    check_group("run");
    chain c;
    make_chain(&c);
    taut_error error = {0};
    taut_system *expected = NULL, *system = must_build(&c.plan);
    taut_system_load(TAUT_SOURCE_DIR "/models/chain.taut", NULL, &expected, &error);
    double a[2 * LINKS] = {0}, b[2 * LINKS] = {0};
    if (system && expected) {
        int one = run(system, "1e-4", a, 2 * LINKS, &error);
        check_row(one == 0, "builder: %d %s", one, error.message);
        int other = run(expected, "1e-4", b, 2 * LINKS, &error);
        check_row(other == 0, "model: %d %s", other, error.message);
        twins_vector("2000 steps of Verlet", "positions", a, b, 2 * LINKS, 1e-11);
        check_row(b[2 * LINKS - 1] < -0.01, "the chain falls: %.3g", b[2 * LINKS - 1]);
    }
    taut_system_destroy(expected);
    taut_system_destroy(system);
}

/* ---- space, mixed, rigid */

/* Two families in space; pinned and free bonds, springs and rigid bonds, in mixed order. */
static const char mixed_text[] =
    "[particles]\ndimension = 3\np[i] for i in 1..4   mass 1 + i/2\n"
    "[potential]\nsum((1 + i/2)*(0.5*p[i].x + 2*p[i].y - p[i].z) for i in 1..4)\n"
    "[bonds]\n"
    "bar[1] = length(p[1] - p[2]) - 1.5                 stiffness 100\n"
    "bar[2] = length(p[3] - (1, 2, 3)) - 0.25           rigid\n"
    "bar[3] = length(p[3] - p[2]) - 0.5                 rigid\n"
    "bar[4] = length(p[4] - (-1, 0.5, 0)) - 2           stiffness 400\n"
    "rod[1] = length(p[4] - p[1]) - 1                   rigid\n"
    "[start]\np[1] = (1, 0, 0), p[2] = (0, 1, 0), p[3] = (0, 0, 1), p[4] = (1, 1, 1)\n"
    "p[i]' = (i, -i, 0.5) for i in 1..4\n";

static const taut_index bar_first[] = {0, 2, 2, 3}, bar_second[] = {1, -1, 1, -7},
                        rod_first[] = {3}, rod_second[] = {0};
static const double bar_anchor[] = {9, 9, 9, 1, 2, 3, 9, 9, 9, -1, 0.5, 0},
                    bar_rest[] = {1.5, 0.25, 0.5, 2}, bar_stiffness[] = {100, 0, 0, 400},
                    rod_rest[] = {1}, mixed_mass[] = {1.5, 2, 2.5, 3},
                    mixed_p[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1},
                    mixed_v[] = {1, -1, 0.5, 2, -2, 0.5, 3, -3, 0.5, 4, -4, 0.5},
                    mixed_gravity[] = {-0.5, -2, 1};
static const plan mixed = {
    .dimension = 3,
    .particles = 4,
    .mass = mixed_mass,
    .p = mixed_p,
    .v = mixed_v,
    .gravity = mixed_gravity,
    .family = {{"bar", 4, bar_first, bar_second, bar_anchor, bar_rest, bar_stiffness},
               {"rod", 1, rod_first, rod_second, NULL, rod_rest, NULL}}};

static void test_mixed(void)
{
    check_group("mixed");
    taut_system *system = must_build(&mixed), *expected = twin_parse(mixed_text, NULL);
    if (system && expected) {
        taut_sizes sizes = {.size = sizeof sizes};
        taut_system_sizes_get(system, &sizes, NULL);
        twins_compare("mixed", system, expected, 8, 0.2, rounding, 5);
        check_row((sizes.can & TAUT_HAS_RIGID) && (sizes.can & TAUT_HAS_SPRINGS),
                  "springs and rods: %x", sizes.can);
        check_equal("kernels", sizes.kernels, 4);
        check_equal("dimension", sizes.dimension, 3);
    }
    taut_system_destroy(expected);
    taut_system_destroy(system);
}

/* ---- angles */

static const taut_index triples[] = {0, 1, 2, 1, 2, 3};
static const double angle_rest[] = {2, 1.5}, angle_stiffness[] = {3, 7},
                    plane_p[] = {0, 0, 1, 0.2, 2, -0.3, 2.5, 1},
                    space_p[] = {0, 0, 0, 1, 0.2, 0.1, 2, -0.3, 0.4, 2.5, 1, -1};

static void test_angles(void)
{
    check_group("angles");
    static const char *const form = "[particles]\ndimension = %d\np[i] for i in 1..4   mass 1\n"
                                    "[potential]\n"
                                    "3/2*(angle(p[1] - p[2], p[3] - p[2]) - 2)^2\n"
                                    "7/2*(angle(p[2] - p[3], p[4] - p[3]) - 1.5)^2\n"
                                    "[start]\n%s\n";
    static const char *const start[] = {
        "p[1] = (0, 0), p[2] = (1, 0.2), p[3] = (2, -0.3), p[4] = (2.5, 1)",
        "p[1] = (0, 0, 0), p[2] = (1, 0.2, 0.1), p[3] = (2, -0.3, 0.4), p[4] = (2.5, 1, -1)"};
    for (int dimension = 2; dimension <= 3; dimension++) {
        char text[1000];
        snprintf(text, sizeof text, form, dimension, start[dimension - 2]);
        plan p = {.dimension = dimension,
                  .particles = 4,
                  .p = dimension == 2 ? plane_p : space_p,
                  .angles = {{2, triples, angle_rest, angle_stiffness}}};
        taut_system *system = must_build(&p), *expected = twin_parse(text, NULL);
        if (system && expected)
            twins_compare(dimension == 2 ? "plane" : "space", system, expected, 5, 0.1, rounding,
                          4);
        taut_system_destroy(expected);
        taut_system_destroy(system);
    }
}

/* A straight rest angle in the plane is smooth where it is straight: at p = (-1,0), (0,0), (1,0)
 * moving p3 to (cos a, sin a) costs k a^2/2, so that d2V/dy3^2 = k, and with all three y by the
 * same rule V = k (y1 - 2 y2 + y3)^2 / 2 to second order. */
static void test_straight(void)
{
    check_group("straight angles");
    static const taut_index triple[] = {0, 1, 2};
    const double p0[] = {-1, 0, 0, 0, 1, 0}, rest[] = {acos(-1)}, stiffness[] = {5},
                 bend[] = {1, -2, 1};
    plan p = {.dimension = 2, .particles = 3, .p = p0, .angles = {{1, triple, rest, stiffness}}};
    twin a;
    taut_system *system = must_build(&p);
    if (!system || !twin_open(&a, system))
        return;
    check_row(!(a.sizes.can & TAUT_HAS_KINKS), "no kink");
    int status =
        taut_evaluate(a.context, 0, p0, NULL,
                      TAUT_WANT_FORCE | TAUT_WANT_FORCE_DQ | TAUT_WANT_ENERGY, &a.values, &a.error);
    check_row(status == 0, "at the straight rod: %s", a.error.message);
    check_near("energy", a.values.potential, 0, 1e-15);
    twin_dense(&a.tangent, 6, a.values.force_dq, a.dense[0]);
    for (int i = 0; i < 3; i++) {
        check_near("force", a.values.force[2 * i + 1], 0, 1e-14);
        for (int j = 0; j < 3; j++)
            check_near("stiffness across", a.dense[0][(2 * i + 1) * 6 + 2 * j + 1],
                       -5 * bend[i] * bend[j], 1e-13);
    }
    const double angle = 0.7, q[] = {-1, 0, 0, 0, cos(angle), sin(angle)},
                 mirrored[] = {-1, 0, 0, 0, cos(angle), -sin(angle)};
    taut_evaluate(a.context, 0, q, NULL, TAUT_WANT_FORCE | TAUT_WANT_ENERGY, &a.values, &a.error);
    check_near("energy of a bent rod", a.values.potential, 5 * angle * angle / 2, 1e-14);
    double torque = q[4] * a.values.force[5] - q[5] * a.values.force[4];
    check_near("torque on the end", torque, -5 * angle, 1e-13);
    taut_evaluate(a.context, 0, mirrored, NULL, TAUT_WANT_ENERGY, &a.values, &a.error);
    check_near("mirror image", a.values.potential, 5 * angle * angle / 2, 1e-14);
    twin_close(&a);
    taut_system_destroy(system);
}

/* ---- size */

/* A large chain stays two kernels, and the builder's arrays are not needed afterwards. */
static void test_large(void)
{
    check_group("large");
    enum { N = 100000 };
    taut_index *first = malloc(N * sizeof *first), *second = malloc(N * sizeof *second);
    double *rest = malloc(N * sizeof *rest), *stiffness = malloc(N * sizeof *stiffness),
           *p = calloc(3 * N, sizeof *p);
    for (taut_index i = 0; i < N; i++) {
        first[i] = i;
        second[i] = i + 1 < N ? i + 1 : 0;
        rest[i] = stiffness[i] = 1;
        p[3 * i] = i;
    }
    plan ring = {.dimension = 3,
                 .particles = N,
                 .p = p,
                 .family = {{"link", N, first, second, NULL, rest, stiffness}}};
    taut_system *system = must_build(&ring);
    free(first);
    free(second);
    free(stiffness);
    free(rest);
    memset(p, 0, 3 * N * sizeof *p);
    taut_sizes sizes = {.size = sizeof sizes};
    taut_context *context = NULL;
    taut_error error = {0};
    double *v = calloc(3 * N, sizeof *v), *g = malloc(N * sizeof *g);
    if (system && taut_context_create(system, NULL, &context, &error) == 0) {
        taut_system_sizes_get(system, &sizes, NULL);
        check_equal("kernels", sizes.kernels, 1);
        check_equal("members", sizes.members, N);
        taut_values values = {.size = sizeof values, .bond = g};
        int status = taut_context_start(context, 0, p, v, &error);
        if (status == 0)
            status =
                taut_evaluate(context, 0, p, v, TAUT_WANT_BOND | TAUT_WANT_ENERGY, &values, &error);
        check_row(status == 0, "evaluate: %s", error.message);
        check_near("a link", g[N / 2], 0, 0);
        check_near("the long way back", g[N - 1], N - 2, 0);
        check_near("its energy", values.bond_energy, (N - 2.0) * (N - 2.0) / 2, 1e-3);
    } else {
        check_row(false, "no context: %s", error.message);
    }
    taut_context_destroy(context);
    taut_system_destroy(system);
    free(p);
    free(v);
    free(g);
}

/* ---- wrong calls */

static void wrong(const char *what, const plan *p, const char *words)
{
    taut_error error = {0};
    taut_system *system = NULL;
    faulty f = {0};
    taut_allocator allocator = faulty_allocator(&f);
    int status = build(p, &allocator, &system, &error);
    check_row(status == TAUT_ERROR_USAGE && !system && error.code == status &&
                  strstr(error.message, words) && f.live == 0,
              "%s: %d \"%s\" without \"%s\", %lld blocks left", what, status, error.message, words,
              (long long)f.live);
    taut_system_destroy(system);
}

static void test_wrong(void)
{
    check_group("wrong calls");
    static const taut_index a[] = {0, 1}, b[] = {1, 2}, out[] = {1, 4}, same[] = {1, 1},
                            pinned[] = {1, -1}, flat[] = {0, 1, 0};
    static const double one[] = {1, 1, 1, 1, 1, 1, 1, 1}, minus[] = {1, -1, 1, 1},
                        infinite[] = {1, 1, 1, INFINITY};
#define FAMILY(...)                                                                                \
    &(plan)                                                                                        \
    {                                                                                              \
        .dimension = 2, .particles = 4, .family = { {__VA_ARGS__} }                                \
    }
    wrong("dimension 1", &(plan){.dimension = 1, .particles = 4}, "dimension 1");
    wrong("dimension 4", &(plan){.dimension = 4, .particles = 4}, "dimension 4");
    wrong("no particles", &(plan){.dimension = 2}, "0 particles");
    wrong("negative mass", &(plan){.dimension = 2, .particles = 4, .mass = minus}, "mass[1] is -1");
    wrong("infinite mass", &(plan){.dimension = 2, .particles = 4, .mass = infinite},
          "mass[3] is inf");
    wrong("infinite start", &(plan){.dimension = 2, .particles = 2, .p = infinite}, "p[3] is inf");
    wrong("infinite velocity", &(plan){.dimension = 2, .particles = 2, .p = one, .v = infinite},
          "v[3] is inf");
    wrong("a name with a space", FAMILY("a b", 2, a, b, NULL, one, one), "name");
    wrong("a name with a digit first", FAMILY("1a", 2, a, b, NULL, one, one), "name");
    wrong("no name", FAMILY("", 2, a, b, NULL, one, one), "name");
    wrong("a particle that does not exist", FAMILY("bar", 2, a, out, NULL, one, one), "1 and 4");
    wrong("a particle with itself", FAMILY("bar", 2, a, same, NULL, one, one), "itself");
    wrong("no anchors", FAMILY("bar", 2, a, pinned, NULL, one, one), "no anchors");
    wrong("an infinite anchor", FAMILY("bar", 2, a, pinned, infinite, one, one),
          "anchor[1] is inf");
    wrong("negative rest length", FAMILY("bar", 2, a, b, NULL, minus, one), "rest[1] is -1");
    wrong("negative stiffness", FAMILY("bar", 2, a, b, NULL, one, minus), "stiffness[1] is -1");
    wrong("no rest lengths", FAMILY("bar", 2, a, b, NULL, NULL, one), "missing");
    wrong("no bonds", FAMILY("bar", 0, a, b, NULL, one, one), "0 bonds");
    wrong("a name twice",
          &(plan){.dimension = 2,
                  .particles = 4,
                  .family = {{"bar", 2, a, b, NULL, one, one}, {"bar", 1, a, b, NULL, one, one}}},
          "'bar' already");
    wrong("an angle of two particles",
          &(plan){.dimension = 2, .particles = 4, .angles = {{1, flat, one, one}}}, "0, 1, 0");
    wrong("an angle without a stiffness",
          &(plan){.dimension = 2, .particles = 4, .angles = {{1, triples, one, NULL}}}, "missing");
#undef FAMILY
    taut_builder_destroy(NULL);
}

/* ---- lifetimes */

/* One builder can make several systems, each on its own; more can be added in between. */
static void test_again(void)
{
    check_group("twice");
    taut_builder *b = NULL;
    taut_system *one = NULL, *two = NULL;
    taut_error error = {0};
    static const taut_index first[] = {0}, second[] = {1};
    static const double p[] = {0, 0, 1, 0}, rest[] = {1};
    int status = taut_builder_create(2, 2, NULL, &b, &error);
    if (status == 0)
        status = taut_builder_start(b, p, NULL);
    if (status == 0)
        status = taut_builder_finish(b, &one, &error);
    if (status == 0)
        status = taut_builder_distances(b, "rod", 1, first, second, NULL, rest, NULL);
    if (status == 0)
        status = taut_builder_finish(b, &two, &error);
    taut_builder_destroy(b);
    check_row(status == 0, "two systems: %s", error.message);
    taut_sizes sizes[2] = {{.size = sizeof sizes[0]}, {.size = sizeof sizes[0]}};
    if (one && two) {
        taut_system_sizes_get(one, &sizes[0], NULL);
        taut_system_sizes_get(two, &sizes[1], NULL);
    }
    check_equal("bonds of the first", sizes[0].bonds, 0);
    check_equal("bonds of the second", sizes[1].bonds, 1);
    check_row(sizes[1].can & TAUT_HAS_RIGID, "a bond without stiffness is rigid");
    taut_system_destroy(one);
    twin a;
    if (two && twin_open(&a, two)) {
        status = taut_evaluate(a.context, 0, p, NULL, TAUT_WANT_BOND | TAUT_WANT_JACOBIAN,
                               &a.values, &a.error);
        check_row(status == 0 && a.values.bond[0] == 0, "the second lives on: %d", status);
        twin_close(&a);
    }
    taut_system_destroy(two);
}

static int build_and_use(const plan *p, const taut_allocator *allocator, taut_error *error)
{
    taut_system *system = NULL;
    taut_context *context = NULL;
    taut_pattern pattern;
    int status = build(p, allocator, &system, error);
    if (status == 0)
        status = taut_context_create(system, allocator, &context, error);
    if (status == 0)
        status = taut_system_pattern_get(system, TAUT_PATTERN_TANGENT, &pattern, error);
    taut_context_destroy(context);
    taut_system_destroy(system);
    return status;
}

static void test_memory(void)
{
    check_group("memory");
    plan p = mixed;
    p.angles[0].count = 2;
    p.angles[0].triples = triples;
    p.angles[0].rest = angle_rest;
    p.angles[0].stiffness = angle_stiffness;
    faulty none = {0};
    taut_allocator allocator = faulty_allocator(&none);
    taut_error error = {0};
    int status = build_and_use(&p, &allocator, &error);
    check_row(status == 0 && none.live == 0 && none.calls > 10,
              "without faults: %d %s, %lld calls, %lld left", status, error.message,
              (long long)none.calls, (long long)none.live);
    for (int64_t k = 1; k <= none.calls; k = faulty_next(k)) {
        faulty f = {.fail = k};
        allocator = faulty_allocator(&f);
        status = build_and_use(&p, &allocator, &error);
        check_row(status == TAUT_ERROR_MEMORY && error.code == status && f.live == 0,
                  "call %lld of %lld: %d \"%s\", %lld left", (long long)k, (long long)none.calls,
                  status, error.message, (long long)f.live);
    }
}

int main(void)
{
    test_chain();
    test_run();
    test_mixed();
    test_angles();
    test_straight();
    test_large();
    test_wrong();
    test_again();
    test_memory();
    return check_done();
}
