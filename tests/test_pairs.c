/* test_pairs.c - sums over pairs within a cut-off against sums over all pairs: values, derivatives,
 * boxes, families, numbers of particles; values do not depend on when lists were built; Verlet
 * keeps the energy through many lists and allocates nothing; an independent computation. */
#include "drive/solver.h"
#include "support/run.h"
#include "support/twins.h"
#include "system/pair_sums.h"

static const twins_limits ROUNDING = {1e-12, 1e-11, 1e-11};

/* ---- two ways to write one model */

static const char cloud[] = "[parameters]\nN = 40, L = 7, rc = 2.1, depth = 0.7\n"
                            "charge[i] = 1 + 0.1*i for i in 1..N\n"
                            "[definitions]\n"
                            "u(r) = depth*exp(-r)/r\nend(r) = (1 - (r/rc)^2)^3\n"
                            "image(d, l) = d - l*round(d/l)\n";

typedef struct pair_case {
    const char *name, *particles, *pairs, *loops;
} pair_case;

#define SPACE                                                                                      \
    "[particles]\ndimension = 3\np[i] for i in 1..N  mass 1\n[start]\np[i] = (mod(3.1*i, L), "     \
    "mod(5.3*i, L), mod(0.7*i, L)) for i in 1..N\n[potential]\n"
#define PLANE                                                                                      \
    "[particles]\ndimension = 2\na[i] for i in 1..N/2  mass 1\nb[i] for i in 3..9  mass 2\n"       \
    "[start]\na[i] = (mod(3.1*i, L), mod(5.3*i, L)) for i in 1..N/2\n"                             \
    "b[i] = (mod(2.7*i, L), mod(1.3*i, L) + 3*L) for i in 3..9\n[potential]\n"

/* Triangles of a[i], b[i] and a turn of the chain of a, which is no bond of two particles. */
#define MOLECULES                                                                                  \
    "[particles]\ndimension = 2\na[i] for i in 1..N/2  mass 1\nb[i] for i in 1..N/2  mass 2\n"     \
    "[start]\na[i] = (mod(3.1*i, L), mod(5.3*i, L)) for i in 1..N/2\n"                             \
    "b[i] = (mod(2.7*i, L), mod(1.3*i, L) + 3*L) for i in 1..N/2\n[bonds]\n"                       \
    "along[i] = length(a[i] - a[i+1]) - 1 for i in 1..N/2-1  stiffness 3\n"                        \
    "side[i] = length(a[i] - b[i]) - 1 for i in 1..N/2  stiffness 3 soft\n"                        \
    "turn[i] = dot(a[i] - a[i+2], a[i+4] - a[i]) for i in 1..N/2-4  stiffness 1\n[potential]\n"

static const pair_case cases[] = {
    {"bonds exclude pairs of one family", MOLECULES,
     "sum(charge[i]*u(length(a[i]-a[j]))*end(length(a[i]-a[j])) for pairs i, j in a within rc "
     "periodic L exclude 3)",
     "sum(charge[i]*if(length(image(a[i]-a[j],L)) < rc, u(length(image(a[i]-a[j],L)))*"
     "end(length(image(a[i]-a[j],L))), 0) for i in 1..N/2, j in i+4..N/2)"},
    {"bonds exclude pairs of two families", MOLECULES,
     "sum(charge[i]*u(length(b[i]-a[j]))*end(length(b[i]-a[j])) for pairs i, j in b, a within rc "
     "periodic L exclude 2)",
     "sum(charge[i]*if(length(image(b[i]-a[j],L)) < rc and (j > i+1 or j < i-1), "
     "u(length(image(b[i]-a[j],L)))*end(length(image(b[i]-a[j],L))), 0) for i in 1..N/2, j in "
     "1..N/2)"},
    {"no bonds exclude nothing", PLANE,
     "sum(u(length(a[i]-b[j]))*end(length(a[i]-b[j])) for pairs i, j in a, b within rc exclude 2)",
     "sum(if(length(a[i]-b[j]) < rc, u(length(a[i]-b[j]))*end(length(a[i]-b[j])), 0) for i in "
     "1..N/2, j in 3..9)"},
    {"open", SPACE,
     "sum(u(length(p[i]-p[j]))*end(length(p[i]-p[j])) for pairs i, j in p within rc)",
     "sum(if(length(p[i]-p[j]) < rc, u(length(p[i]-p[j]))*end(length(p[i]-p[j])), 0) for i in "
     "1..N, j in i+1..N)"},
    {"periodic, factors, data of particles", SPACE,
     "-2*sum(charge[i]*charge[j]*j*u(length(p[i]-p[j]))*end(length(p[i]-p[j])) for pairs i, j in p "
     "within rc periodic L skin 0.2)*depth",
     "-2*sum(charge[i]*charge[j]*j*if(length(image(p[i]-p[j],L)) < rc, "
     "u(length(image(p[i]-p[j],L)))*end(length(image(p[i]-p[j],L))), 0) for i in 1..N, j in "
     "i+1..N)*depth"},
    {"shift, many cells", SPACE,
     "sum(charge[j]*u(length(p[i]-p[j])) for pairs i, j in p within rc/1.5 periodic 1.1*L shift "
     "apart 4)",
     "sum(charge[j]*if(length(image(p[i]-p[j],1.1*L)) < rc/1.5, u(length(image(p[i]-p[j],1.1*L)))"
     " - u(rc/1.5), 0) for i in 1..N, j in i+4..N)"},
    {"two families, a box with sides", PLANE,
     "sum(charge[i]*u(length(a[i]-b[j]))*end(length(a[i]-b[j])) for pairs i, j in a, b within rc "
     "periodic (L, 6) apart 0)",
     "sum(charge[i]*if(length((image(a[i].x-b[j].x,L), image(a[i].y-b[j].y,6))) < rc, "
     "u(length((image(a[i].x-b[j].x,L), image(a[i].y-b[j].y,6))))*end(length((image(a[i].x-"
     "b[j].x,L), image(a[i].y-b[j].y,6)))), 0) for i in 1..N/2, j in 3..9)"},
};

static void test_cases(void)
{
    check_group("pairs are loops");
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[2][3000];
        const pair_case *c = &cases[k];
        snprintf(text[0], sizeof text[0], "%s%s%s\n", cloud, c->particles, c->pairs);
        snprintf(text[1], sizeof text[1], "%s%s%s\n", cloud, c->particles, c->loops);
        taut_system *pairs = twin_parse(text[0], NULL), *loops = twin_parse(text[1], NULL);
        if (pairs && loops)
            twins_compare(c->name, pairs, loops, 6, 0.6, ROUNDING, 4);
        taut_system_destroy(pairs);
        taut_system_destroy(loops);
    }
}

/* ---- water */

/* The shipped model, or the same with its potential as loops over all molecules. */
static taut_system *water(const char *set, bool pairs)
{
    static const char sums[] =
        "[definitions]\ndistance(d) = length(d - box*round(d/box))\n"
        "ended(r) = if(r < cut, electric(r), 0)\nheavy(r) = if(r < cut, oxygen(r), 0)\n"
        "[potential]\n"
        "sum(heavy(distance(O[i] - O[j])) for i in 1..N, j in i+1..N)\n"
        "-2*sum(ended(distance(O[i] - A[j])) + ended(distance(O[i] - B[j])) + ended(distance(A[i] "
        "- O[j])) + ended(distance(B[i] - O[j])) for i in 1..N, j in i+1..N)\n"
        "sum(ended(distance(A[i] - A[j])) + ended(distance(A[i] - B[j])) + ended(distance(B[i] - "
        "A[j])) + ended(distance(B[i] - B[j])) for i in 1..N, j in i+1..N)\n";
    static char shipped[10000], text[12000];
    FILE *file = fopen(TAUT_SOURCE_DIR "/models/water_box.taut", "r");
    size_t length = file ? fread(shipped, 1, sizeof shipped - 1, file) : 0;
    shipped[length] = 0;
    if (file)
        fclose(file);
    char *begin = strstr(shipped, "[potential]"), *end = strstr(shipped, "[bonds]");
    taut_load load = {.size = sizeof load, .set = &set, .set_count = 1};
    taut_system *system = NULL;
    taut_error error = {0};
    if (!check_row(begin && end, "water_box.taut is not as expected"))
        return NULL;
    snprintf(text, sizeof text, "%.*s%s%s", (int)(begin - shipped), shipped, sums, end);
    const char *use = pairs ? shipped : text;
    int status = taut_system_parse(use, strlen(use), "water", &load, &system, &error);
    check_row(status == 0, "water: %s (line %d)", error.message, error.line);
    return system;
}

static void test_water(void)
{
    check_group("water");
    taut_system *pairs = water("N=27", true), *loops = water("N=27", false);
    if (pairs && loops)
        twins_compare("27 molecules", pairs, loops, 3, 0.02, (twins_limits){1e-11, 1e-11, 1e-11},
                      3);
    taut_system_destroy(pairs);
    taut_system_destroy(loops);
    taut_context *context[2] = {0};
    taut_values values[2];
    taut_system *system[2] = {water("N=216", true), water("N=216", false)};
    enum { COORDINATES = 9 * 216 };
    static double force[2][COORDINATES], q[COORDINATES], v[COORDINATES];
    uint64_t seed = 3;
    for (int k = 0; k < 2; k++) {
        taut_values_init(&values[k]);
        values[k].force = force[k];
        if (!check_row(system[k] && taut_context_create(system[k], NULL, &context[k], NULL) == 0 &&
                           taut_context_start(context[k], 0, q, v, NULL) == 0,
                       "216 molecules"))
            return;
    }
    for (int state = 0; state < 3; state++) {
        for (int i = 0; i < COORDINATES; i++)
            q[i] += 0.03 * twins_random(&seed);
        for (int k = 0; k < 2; k++)
            check_equal("evaluates",
                        taut_evaluate(context[k], 0, q, NULL, TAUT_WANT_FORCE | TAUT_WANT_ENERGY,
                                      &values[k], NULL),
                        0);
        check_below("216 molecules: forces", twins_apart(force[0], force[1], COORDINATES, 1e-3),
                    1e-13);
        check_below("216 molecules: energy", fabs(values[0].potential / values[1].potential - 1),
                    1e-12);
    }
    for (int k = 0; k < 2; k++) {
        taut_context_destroy(context[k]);
        taut_system_destroy(system[k]);
    }
}

/* ---- a fluid */

static taut_system *fluid(const char *const *set, int count)
{
    taut_load load = {.size = sizeof load, .set = set, .set_count = count};
    taut_system *system = NULL;
    taut_error error = {0};
    int status = taut_system_load(TAUT_SOURCE_DIR "/models/lj_fluid.taut", &load, &system, &error);
    check_row(status == 0, "lj_fluid: %s", error.message);
    return system;
}

/* The initial positions of lj_fluid, moved a little: see tests/oracle/lj_fluid.py. */
static void scatter(taut_context *context, int n, double *q, double *v)
{
    taut_context_start(context, 0, q, v, NULL);
    for (int k = 0; k < n; k++)
        q[k] += 0.15 * sin(12.9898 * (k + 1));
}

/* tests/oracle/lj_fluid.py: all pairs in the order of their indices, sums by math.fsum. */
static const double oracle_energy = -83.823078133093986,
                    oracle_force[3] = {-0.63716492868514218, 3.3725203530049095,
                                       -3.4467657188824443};

/* Values at given positions are the same bits, whatever was evaluated before. */
static void test_fluid(void)
{
    enum { N = 3 * 125 };
    check_group("fluid");
    static double q[N], v[N], far[N], force[2][N];
    taut_context *old = NULL, *fresh = NULL;
    taut_system *system = fluid(NULL, 0);
    if (!system || taut_context_create(system, NULL, &old, NULL) ||
        taut_context_create(system, NULL, &fresh, NULL))
        return;
    taut_values a, b;
    taut_values_init(&a);
    taut_values_init(&b);
    a.force = force[0];
    b.force = force[1];
    const unsigned wanted = TAUT_WANT_FORCE | TAUT_WANT_ENERGY;
    scatter(old, N, q, v);
    for (int k = 0; k < N; k++)
        far[k] = q[k] + 0.1 * sin(k) + (k % 5 ? 0 : 20 * 5.29);
    taut_evaluate(old, 0, far, NULL, wanted, &a, NULL);
    for (int k = 0; k < N; k++)
        far[k] = q[k] + 0.05 * sin(2.0 * k);
    taut_evaluate(old, 0, far, NULL, wanted, &a, NULL);
    check_equal("old list", taut_evaluate(old, 0, q, NULL, wanted, &a, NULL), 0);
    check_equal("new list", taut_evaluate(fresh, 0, q, NULL, wanted, &b, NULL), 0);
    check_equal("its lists", old->pairs[0].list.builds, 2);
    check_row(memcmp(force[0], force[1], sizeof force[0]) == 0 && a.potential == b.potential,
              "values depend on earlier evaluations");
    check_near("energy by another program", b.potential, oracle_energy,
               1e-11 * fabs(oracle_energy));
    for (int c = 0; c < 3; c++)
        check_near("force on the first particle", force[1][c], oracle_force[c],
                   1e-11 * fabs(oracle_force[c]));
    q[7] = NAN;
    check_equal("not a number", taut_evaluate(fresh, 0, q, NULL, wanted, &b, NULL),
                TAUT_ERROR_EVALUATE);
    taut_context_destroy(old);
    taut_context_destroy(fresh);
    taut_system_destroy(system);
}

/* Energy errors of Verlet are O(h^2) where the term ends smoothly; the lists change on the way. */
static void test_energy(void)
{
    static const char *const options[2] = {"method=verlet step=0.004 until=1.2 every=0.06",
                                           "method=verlet step=0.002 until=1.2 every=0.06"};
    static const char smooth[] =
        "[parameters]\nL = 6.4\nrc = 2.5\n[particles]\ndimension = 3\np[i] for i in 1..216  mass "
        "1\n"
        "[definitions]\nu(r) = 4*((1/r)^12 - (1/r)^6)*(1 - (r/rc)^2)^3\n"
        "[potential]\nsum(u(length(p[i] - p[j])) for pairs i, j in p within rc periodic L)\n"
        "[start]\np[i] = (mod(i, 6), mod(floor(i/6), 6), floor(i/36))*L/6 for i in 1..216\n"
        "p[i]' = (sin(2.3*i), sin(3.7*i + 1), sin(5.1*i + 2)) for i in 1..216\n";
    double off[2] = {0};
    check_group("energy");
    for (int k = 0; k < 2; k++) {
        kept *rows = calloc(1, sizeof *rows);
        faulty count = {0};
        taut_allocator allocator = faulty_allocator(&count);
        driven d = driven_create(smooth, options[k], &allocator);
        taut_sink sink = kept_sink(rows);
        if (driven_good("smooth", &d)) {
            const int64_t before = count.calls;
            d.code = taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error);
            driven_good("run", &d);
            check_equal("allocations while stepping", count.calls - before, 0);
            const int64_t builds = d.solver->context->pairs[0].list.builds;
            check_row(builds > 8 && builds < 150, "%lld lists", (long long)builds);
        }
        for (int r = 1; r < rows->rows; r++)
            off[k] = fmax(off[k], fabs(rows->energy[r] - rows->energy[0]));
        check_row(rows->rows == 21, "%d rows", rows->rows);
        driven_destroy(&d);
        free(rows);
    }
    check_below("relative to 216 particles", off[0] / 216, 2e-3);
    check_row(off[0] / off[1] > 3 && off[0] / off[1] < 5.5, "order 2: %g, %g, ratio %g", off[0],
              off[1], off[0] / off[1]);
}

/* Particles that fall towards a point have more partners than there was memory reserved for: rows
 * that do not fit are found when they are needed, nothing is allocated, values are those of a list
 * that was made there. */
static void test_crowd(void)
{
    static const char text[] =
        "[particles]\ndimension = 3\np[i] for i in 1..343  mass 1\n"
        "[potential]\nsum((1 - dot(p[i] - p[j], p[i] - p[j]))^3 for pairs i, j in p within 1)\n"
        "sum(20*dot(p[i], p[i]) for i in 1..343)\n"
        "[start]\np[i] = (mod(i, 7) - 3, mod(floor(i/7), 7) - 3, floor((i - 1)/49) - 3) for i in "
        "1..343\n";
    enum { N = 3 * 343 };
    static double force[2][N];
    faulty count = {0};
    taut_allocator allocator = faulty_allocator(&count);
    check_group("crowd");
    driven d = driven_create(text, "method=verlet step=0.002 until=0.25", &allocator);
    if (!driven_good("made", &d))
        return;
    const int64_t before = count.calls;
    d.code = taut_solver_advance(d.solver, 0.22, &d.error);
    driven_good("falls", &d);
    check_equal("allocations while stepping", count.calls - before, 0);
    const taut_pair_list *list = &d.solver->context->pairs[0].list;
    check_row(list->rows > 0 && list->rows < 343, "%d rows kept", list->rows);
    const taut_state *now = &d.solver->stepper.now;
    taut_context *fresh = NULL;
    taut_values values[2];
    taut_context_create(d.solver->system, NULL, &fresh, NULL);
    for (int k = 0; k < 2; k++) {
        taut_values_init(&values[k]);
        values[k].force = force[k];
        taut_evaluate(k ? fresh : d.solver->context, now->t, now->q, NULL, TAUT_WANT_FORCE,
                      &values[k], NULL);
    }
    check_equal("a new list keeps all", fresh->pairs[0].list.rows, 343);
    check_row(memcmp(force[0], force[1], sizeof force[0]) == 0, "values depend on the room");
    taut_context_destroy(fresh);
    driven_destroy(&d);
}

/* Parameters move cut-offs and boxes; what does not fit is refused, and nothing changes. */
static void test_parameters(void)
{
    check_group("parameters");
    taut_context *context = NULL;
    taut_error error = {0};
    taut_system *system = fluid(NULL, 0);
    if (!system || taut_context_create(system, NULL, &context, NULL))
        return;
    const taut_index cut = taut_system_find(system, TAUT_PARAMETER, "cut");
    check_equal("2", taut_context_set_parameter(context, cut, 2, &error), 0);
    check_near("is used", context->pairs[0].list.cut, 2, 0);
    check_equal("4", taut_context_set_parameter(context, cut, 4, &error), TAUT_ERROR_MODEL);
    check_contains("4", error.message, "more than half of the periodic box");
    check_row(error.line > 0 && error.column > 0, "place %d:%d", error.line, error.column);
    check_near("as before", context->pairs[0].list.cut, 2, 0);
    taut_context_destroy(context);
    taut_system_destroy(system);
}

int main(void)
{
    test_cases();
    test_water();
    test_fluid();
    test_energy();
    test_crowd();
    test_parameters();
    return check_done();
}
