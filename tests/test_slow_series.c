/* test_slow_series.c - slow points by expansion in the compliance, against exact slow manifolds. */
#include <stdlib.h>
#include <taut/taut.h>

#include "base/vectors.h"
#include "support/project.h"
#include "slow/multiplier_recursion.h"
#include "slow/series.h"

static projected make(const char *model, const char *set, const char *from,
                      const taut_allocator *allocator)
{
    char options[60];
    taut_load how = {
        .size = sizeof how, .set = &set, .set_count = set[0] ? 1 : 0, .from = atof(from)};
    snprintf(options, sizeof options, "method=series from=%s", from);
    return project_model_with(model, &how, options, allocator);
}

/* The exact slow point over (31)-(32) of A at omega = 1000 [docs/sources.md, A, 20 digits]; foot
 * point and velocities stay. */
static void test_exact_point(void)
{
    check_group("docs/sources.md, A, exact slow point");
    projected p = make("[parameters]\nomega = 1000\n[coordinates]\nx1, y1, x2, y2\n[bonds]\ninner "
                       "= sqrt(x1^2 + y1^2) - 1 stiffness omega^2\n"
                       "outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 stiffness omega^2\n[start]\nx1 = "
                       "1, x2 = 2, y1' = -0.5, y2' = 0.5\n",
                       "", "0", NULL);
    if (projected_good("series", &p)) {
        check_near("x1", p.r.q[0], 1.000001500045071096781, 3e-16);
        check_near("x2", p.r.q[2], 2.000002750073263937993, 6e-16);
        check_near("y1'", p.r.v[1], -0.5, 1e-15);
        check_near("y2'", p.r.v[3], 0.5, 1e-15);
        check_near("x1'", p.r.v[0], 0, 1e-15);
        check_near("along the bonds", p.r.moved_tangential, 0, 1e-14);
        check_near("lambda", p.r.lambda[0], 1.500045071096781, 1e-12);
        check_near("lambda", p.r.lambda[1], 1.250028192841212, 1e-12); /* omega^2 (x2 - x1 - 1) */
    }
    projected_drop(&p);
}

/* A 2.3: omega^2 r^3 (r - 1) = (r^2 phi')^2, r' = 0, from a start that oscillates; the foot point
 * keeps its direction and speed along. */
static void test_pendulum(void)
{
    static const double omega[] = {30, 100, 1000, 1e5};
    check_group("A 2.3");
    for (int k = 0; k < 4; k++) {
        char model[300];
        snprintf(model, sizeof model,
                 "[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2+y^2) - 1 stiffness "
                 "%.17g\n[start]\nx = 1.05, y' = 1.5, x' = 0.2\n",
                 omega[k] * omega[k]);
        projected p = make(model, "", "0", NULL);
        if (projected_good("pendulum", &p)) {
            double r = p.r.q[0], spin = r * p.r.v[1];
            check_near("r", r - 1, spin * spin / (omega[k] * omega[k] * r * r * r), 1e-14);
            check_near("x'", p.r.v[0], 0, 1e-14);
            check_near("y'", p.r.v[1], 1.5, 1e-14); /* the tangential velocity of the foot point */
        }
        projected_drop(&p);
    }
}

/* A (5) and (6): q = A cos t, A = omega^2/(omega^2 - 1). */
static void test_forced(void)
{
    check_group("A (6)");
    projected p = make(
        "[coordinates]\nq\n[bonds]\ns = q - cos(t) stiffness 1e4\n[start]\nq = 1.1, q' = 0.3\n", "",
        "0.7", NULL);
    if (projected_good("forced", &p)) {
        double amplitude = 1e4 / (1e4 - 1);
        check_near("q", p.r.q[0], amplitude * cos(0.7), 1e-15);
        check_near("q'", p.r.v[0], -amplitude * sin(0.7), 1e-15);
        check_near("lambda", p.r.lambda[0], 1e4 * (amplitude - 1) * cos(0.7), 1e-12);
    }
    projected_drop(&p);
    /* damped: q'' = -(q - cos t)/c - d (q' + sin t): the particular solution is Re B e^{it},
     * (1/c - 1 + i d) B = 1/c + i d */
    p = make("[coordinates]\nq\n[bonds]\ns = q - cos(t) stiffness 1e4 damping 20\n[start]\nq = "
             "1.1, q' = 0.3\n",
             "", "0.7", NULL);
    if (projected_good("damped", &p)) {
        double down = (1e4 - 1) * (1e4 - 1) + 400, re = (1e4 * (1e4 - 1) + 400) / down,
               im = (20 * (1e4 - 1) - 20 * 1e4) / down;
        check_near("q", p.r.q[0], re * cos(0.7) - im * sin(0.7), 1e-13);
        check_near("q'", p.r.v[0], -re * sin(0.7) - im * cos(0.7), 1e-13);
    }
    projected_drop(&p);
}

/* B (1.1), horizontal and at rest: r = 1 - 3 eps^4 - 54 eps^8 [docs/sources.md, B]; gravity 1,
 * masses in M, a mass matrix, polar coordinates. */
static void test_smooth_start(void)
{
    check_group("docs/sources.md, B, smooth start");
    double eps = 1e-2, r = 1 - 3 * pow(eps, 4) - 54 * pow(eps, 8);
    projected p = make("[coordinates]\ny1, y2\n[potential]\ny2\n[bonds]\nrod = sqrt(y1^2+y2^2) - 1 "
                       "stiffness 1e4\n[start]\ny1 = 1\n",
                       "", "0", NULL);
    if (projected_good("Cartesian", &p))
        check_near("r", p.r.q[0], r, 5e-16);
    projected_drop(&p);
    p = make("[coordinates]\nr, th\n[kinetic]\n(r'^2 + "
             "r^2*th'^2)/2\n[potential]\n-r*cos(th)\n[bonds]\nrod = r - 1 stiffness 1e4\n"
             "[start]\nr = 1.1, th = pi/2\n",
             "", "0", NULL);
    if (projected_good("polar", &p)) {
        check_near("r", p.r.q[0], r, 5e-16);
        check_near("th", p.r.q[1], acos(0), 1e-15);
    }
    projected_drop(&p);
    /* x = 2 u, y = u + w: the same motion with a constant mass matrix M = S^T S */
    p = make("[coordinates]\nu, w\n[mass]\nu = 5, w = 1\nM[u,w] = 1\n[potential]\nu + "
             "w\n[bonds]\nrod = sqrt((2*u)^2+(u+w)^2) - 1 stiffness 1e4\n"
             "[start]\nu = 0.5, w = -0.5\n",
             "", "0", NULL);
    if (projected_good("mass matrix", &p)) {
        check_near("x", 2 * p.r.q[0], r, 1e-15);
        check_near("y", p.r.q[0] + p.r.q[1], 0, 1e-15);
    }
    projected_drop(&p);
}

/* States that have no size of their own, and units far from 1. A spring under f(t) = sin t is
 * stretched by c/(1 - c) sin t. */
static void test_scales(void)
{
    check_group("scales");
    projected p =
        make("[coordinates]\nq\n[forces]\nq = 3\n[bonds]\ns = q stiffness 1e4\n", "", "0", NULL);
    if (projected_good("at rest in the origin", &p)) {
        check_near("q", p.r.q[0], 3e-4, 1e-19);
        check_near("v", p.r.v[0], 0, 1e-19);
    }
    projected_drop(&p);
    double c = 1e-4, gain = 1 / (1 - c);
    p = make("[coordinates]\nq\n[forces]\nq = sin(t)\n[bonds]\ns = q stiffness 1e4\n", "", "0",
             NULL);
    if (projected_good("no force yet", &p)) {
        check_near("q", p.r.q[0], 0, 1e-19);
        check_near("v", p.r.v[0], gain * c, 1e-19);
    }
    projected_drop(&p);
    p = make("[coordinates]\nq\n[bonds]\ns = q - cos(t) stiffness 1e4\n[start]\nq = 0.1\n", "",
             "1.5707963267948966", NULL);
    if (projected_good("through the origin", &p)) {
        check_near("q", p.r.q[0], gain * cos(1.5707963267948966), 1e-18);
        check_near("v", p.r.v[0], -gain, 3e-16);
    }
    projected_drop(&p);
    /* A 2.3 in other units: lengths of 1e-10, times of 1e-13, masses of 1e-26: r (r - u) =
     * v^2/w^2 */
    p = make("[parameters]\nu = 1e-10, m = 1e-26, w = 1e15\n[coordinates]\nx, y\n[mass]\nx = m, y "
             "= m\n[bonds]\nrod = sqrt(x^2+y^2) - u stiffness m*w^2\n[start]\nx = 1.02*u, y' = "
             "1.5e3, x' = 200\n",
             "", "0", NULL);
    if (projected_good("small units", &p)) {
        double v = 1.5e3, r = (1e-10 + sqrt(1e-20 + 4 * v * v / 1e30)) / 2;
        check_near("r", p.r.q[0], r, 1e-25);
        check_near("r'", p.r.v[0], 0, 1e-11);
        check_near("along", p.r.v[1], v, 1e-12);
    }
    projected_drop(&p);
    p = make("[coordinates]\nx, y\n[bonds]\nrod = sqrt((x-1e6)^2+y^2) - 1 stiffness "
             "1e4\n[start]\nx = 1e6 + 1.02, y' = 1.5, x' = 0.2\n",
             "", "0", NULL);
    if (projected_good("far from the origin", &p)) { /* the rounding of 1e6 is 1.2e-10 */
        check_near("r", p.r.q[0] - 1e6, (1 + sqrt(1 + 4 * 2.25e-4)) / 2, 3e-10);
        check_near("r'", p.r.v[0], 0, 3e-10);
    }
    projected_drop(&p);
}

/* Rigid bonds in addition to springs, soft springs as forces, moving bonds: g = C lambda and gdot =
 * C lambda' hold at the slow point, rigid bonds exactly; and the motion from there does not
 * oscillate: lambda changes by O(t), seen against lambda of the point a short time later. */
static void test_mixed(void)
{
    static const struct {
        const char *model, *set, *from;
    } rows[] = {
        {"four_bar", "c=1e-5", "0.3"},
        {"cart", "", "0"},
        {"triatomic", "", "0"},
        {"chain", "N=10", "0"},
        {"double_pendulum", "", "0"},
        {"[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2+y^2) - 1 stiffness "
         "1e6\nband = x - 0.5 stiffness 2 damping 0.1 soft\n"
         "[start]\nx = 1.01, y = 0.05, x' = 0.1\n",
         "", "0"},
    };
    check_group("mixed");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        projected p = make(rows[k].model, rows[k].set, rows[k].from, NULL);
        taut_context *context = NULL;
        if (projected_good(rows[k].set, &p) &&
            taut_context_create(p.system, NULL, &context, NULL) == 0) {
            taut_sizes sizes = {.size = sizeof sizes};
            taut_system_sizes_get(p.system, &sizes, NULL);
            const double *c = taut_context_compliance(context),
                         *tau = taut_context_damping(context), *g, *gdot;
            taut_projection_pass(p.projection, p.r.passes, &g, &gdot, NULL);
            for (taut_index i = 0; i < sizes.bonds; i++)
                check_row(fabs(c[i] * p.r.lambda[i] - g[i] - tau[i] * gdot[i]) <=
                              1e-13 + 1e-9 * fabs(g[i]),
                          "model %d, bond %d: c lambda %.17g, g %.17g", (int)k, (int)i,
                          c[i] * p.r.lambda[i], g[i]);
            check_below("along the bonds", p.r.moved_tangential, 1e-12);
        }
        taut_context_destroy(context);
        projected_drop(&p);
    }
}

/* Each level gains a power of C: lambda^(k) against the exact one of the linear example,
 * 1e4/(1e4 - 1) cos t on its slow solution. */
static void test_levels(void)
{
    check_group("levels");
    const char *model = "[coordinates]\nq\n[bonds]\ns = q - cos(t) stiffness 100\n";
    taut_system *system = NULL;
    taut_context *context = NULL;
    taut_multiplier_recursion *recursion = NULL;
    taut_statistics statistics = {0};
    taut_arena arena;
    taut_error error = {0};
    taut_arena_init(&arena, NULL);
    int code = taut_system_parse(model, strlen(model), "model.taut", NULL, &system, &error);
    code = code ? code : taut_context_create(system, NULL, &context, &error);
    code = code ? code
                : taut_multiplier_recursion_create(context, &arena, &statistics, 4, 0, NULL,
                                                   &recursion, &error);
    check_row(code == 0, "%s", error.message);
    double a = 100.0 / 99, q = a * cos(0.4), v = -a * sin(0.4), exact = a * cos(0.4);
    for (int k = 0; code == 0 && k <= 4; k++) {
        code = taut_multiplier_recursion_evaluate(recursion, k, true, 0.4, &q, &v, &error);
        double lambda = recursion->lambda[0];
        /* the geometric series of 1/(1 - c) */
        double off = fabs(lambda - exact), expected = pow(0.01, k + 1) * exact;
        check_row(off < 1.02 * expected + 1e-15 && off > 0.98 * expected - 1e-15,
                  "level %d off by %.3g, expected %.3g", k, off, expected);
        check_near("acceleration", recursion->a[0], -lambda, 1e-15);
        check_near("y", recursion->y[0], lambda / 100, 1e-16);
    }
    check_equal("too high",
                taut_multiplier_recursion_evaluate(recursion, 5, false, 0.4, &q, &v, &error),
                TAUT_ERROR_USAGE);
    taut_multiplier_recursion_destroy(recursion);
    taut_context_destroy(context);
    taut_system_destroy(system);
    taut_arena_clear(&arena);
}

/* How many Taylor jets a slow point takes: (29)-(30) of A. References:
 * tests/oracle/slow_double_pendulum.py, 50 digits. Limits: issue of the projections, 2e-14 in at
 * most 10 jets for omega = 1000, 1e-11 with levels up to 6 and 1e-9 in at most 30 jets for omega
 * = 100. */
static void test_jets(void)
{
    static const struct {
        const char *set;
        double limit;
        int64_t jets;
        double q[4], v[4];
    } rows[] = {
        {"omega=100",
         1e-11,
         30,
         {0.9749146817746796991623559, 0.2229211419632771447242181, 1.952142306242345609432948,
          0.01040372687242432647425956},
         {0.08365107311398860436227776, -0.365082966438613662634376, 0.2596314282082050264496514,
          0.4435590339924478969424897}},
        {"omega=1000",
         2e-14,
         10,
         {0.974852048138037795115037, 0.2228564801748740509215424, 1.952029427005124777376678,
          0.01042826555495173727434017},
         {0.08349927625449422107559822, -0.3652474590177415995535358, 0.2593404127423415579119737,
          0.4436222974969081512209017}},
    };
    check_group("jets");
    for (int k = 0; k < 2; k++) {
        projected p = make("double_pendulum", rows[k].set, "0", NULL);
        if (projected_good(rows[k].set, &p)) {
            for (int i = 0; i < 4; i++) {
                check_near("q", p.r.q[i], rows[k].q[i], rows[k].limit);
                check_near("v", p.r.v[i], rows[k].v[i], rows[k].limit);
            }
            check_row(p.r.statistics.jets <= rows[k].jets, "%s: %lld jets, at most %lld",
                      rows[k].set, (long long)p.r.statistics.jets, (long long)rows[k].jets);
            check_row(p.r.passes <= 7, "%lld levels", (long long)p.r.passes - 1);
        }
        projected_drop(&p);
    }
}

/* Not separated: a soft "stiff" spring under a fast motion is refused, the initial state is kept.
 */
static void test_failure(void)
{
    check_group("not separated");
    projected p =
        make("[coordinates]\nq\n[bonds]\ns = q - cos(3*t) stiffness 4\n[start]\nq = 1.1\n", "",
             "0.1", NULL);
    check_equal("code", p.code, TAUT_ERROR_CONVERGE);
    check_contains("reason", p.error.message, "not separated");
    if (check_row(p.projection != NULL, "no result"))
        check_near("q", p.r.q[0], 1.1, 0);
    projected_drop(&p);
    /* springs only slightly faster than the motion: a result that is off by percents is none */
    static const char *const slow[] = {"omega=2", "omega=3", "omega=4", "omega=5", "omega=7"};
    for (int k = 0; k < 5; k++) {
        p = make("double_pendulum", slow[k], "0", NULL);
        check_equal(slow[k], p.code, TAUT_ERROR_CONVERGE);
        check_contains("both rates", p.error.message, "slowest spring oscillates");
        check_row(p.projection && p.r.q[1] == 0.25, "the start is not kept");
        projected_drop(&p);
    }
    p = make("slider_crank", "", "0", NULL);
    check_equal("no springs", p.code, TAUT_ERROR_REFUSED);
    projected_drop(&p);
}

/* 10,000 links: linear cost; straight and at rest the slow chain hangs on with g = C lambda. */
static void test_chain(void)
{
    check_group("chain of 10,000 links");
    projected p = make("[parameters]\nN = 10000\n[particles]\ndimension = 2\nbob[i] for i in 1..N "
                       "mass 1\n[potential]\nsum(bob[i].y for i in 1..N)\n"
                       "[bonds]\nlink[1] = length(bob[1]) - 1 stiffness 1e16\nlink[i] = "
                       "length(bob[i] - bob[i-1]) - 1 for i in 2..N stiffness 1e16\n"
                       "[start]\nbob[i] = (0, -i) for i in 1..N\n",
                       "", "0", NULL);
    if (projected_good("hanging", &p)) {
        /* the weight below; A has the condition (2N/pi)^2 = 4e7: rounding of some 4e-9 of it */
        check_near("top", p.r.lambda[0], 10000, 1e-6);
        check_near("end", p.r.lambda[9999], 1, 1e-8);
        check_near("stretch", p.r.q[1], -1 - 1e-12, 3e-16);
    }
    projected_drop(&p);
}

/* The projector on states that move on: applied again it stays, it allocates nothing, failures
 * leave the state. */
static void test_projector(void)
{
    check_group("projector");
    const char *model = "[parameters]\nk = 1e3\n[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2+y^2) "
                        "- 1 stiffness k\n";
    taut_system *system = NULL;
    taut_context *context = NULL;
    taut_projector *projector = NULL;
    taut_statistics statistics = {0};
    taut_error error = {0};
    faulty f = {0};
    taut_allocator allocator = faulty_allocator(&f);
    taut_arena arena;
    taut_arena_init(&arena, &allocator);
    int code = taut_system_parse(model, strlen(model), "model.taut", NULL, &system, &error);
    code = code ? code : taut_context_create(system, NULL, &context, &error);
    code = code ? code : taut_context_set_parameter(context, 0, 1e4, &error);
    code = code ? code
                : taut_series_create(&taut_bond_series, context, &arena, &statistics, NULL,
                                     &projector, &error);
    if (check_row(code == 0, "%s", error.message)) {
        double q[2] = {0.62, 0.81}, v[2] = {-0.7, 0.6}, again[2];
        int64_t calls = f.calls;
        check_row(projector->apply(projector, 0, q, v, &error) == 0, "%s", error.message);
        double r = hypot(q[0], q[1]), spin = q[0] * v[1] - q[1] * v[0];
        check_near("r", r - 1, spin * spin / (1e4 * r * r * r), 1e-15);
        memcpy(again, q, sizeof q);
        check_row(projector->apply(projector, 0, again, v, &error) == 0, "%s", error.message);
        check_near("stays", again[0], q[0], 1e-15);
        double far[2] = {1, 0}, fast[2] = {0, 200}; /* twice as fast as the spring */
        check_equal("not separated", projector->apply(projector, 0, far, fast, &error),
                    TAUT_ERROR_CONVERGE);
        check_row(far[0] == 1 && far[1] == 0 && fast[1] == 200, "the state moved");
        check_equal("allocations while applying", f.calls - calls, 0);
        projector->destroy(projector);
    }
    taut_context_destroy(context);
    taut_system_destroy(system);
    taut_arena_clear(&arena);
    check_equal("blocks left", f.live, 0);
}

typedef struct observer {
    int calls, stop; /* ends at this call */
} observer;

static int observe(void *user, double t, const double *q, const double *v, taut_error *error)
{
    observer *o = user;
    (void)q, (void)v;
    check_near("time", t, 0.25, 0);
    return ++o->calls == o->stop ? taut_fail(error, TAUT_ERROR_STOPPED, "enough") : TAUT_OK;
}

/* The monitor may end it, at the foot point or at any level: its status is returned, it is
 * not called again, and nothing moves. */
static void test_watch(void)
{
    check_group("a watcher that stops");
    const char *model = "[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2+y^2) - 1 stiffness 1e4\n";
    taut_system *system = NULL;
    taut_context *context = NULL;
    taut_error error = {0};
    int code = taut_system_parse(model, strlen(model), "model.taut", NULL, &system, &error);
    code = code ? code : taut_context_create(system, NULL, &context, &error);
    bool ended = !check_row(code == 0, "%s", error.message);
    for (int stop = 1; !ended && stop < 20; stop++) {
        taut_arena arena;
        taut_arena_init(&arena, NULL);
        taut_statistics statistics = {0};
        taut_projector *projector = NULL;
        observer o = {.stop = stop};
        taut_series_settings settings = {.watch = observe, .user = &o};
        double q[2] = {0.62, 0.81}, v[2] = {-0.7, 0.6};
        check_equal("create",
                    taut_series_create(&taut_bond_series, context, &arena, &statistics, &settings,
                                       &projector, &error),
                    0);
        code = projector->apply(projector, 0.25, q, v, &error);
        ended = o.calls < stop;
        check_equal("code", code, ended ? 0 : TAUT_ERROR_STOPPED);
        check_row(ended ? stop > 3
                        : o.calls == stop && q[0] == 0.62 && v[1] == 0.6 &&
                              strcmp(error.message, "enough") == 0,
                  "stop at call %d of %d: %s", stop, o.calls, error.message);
        projector->destroy(projector);
        taut_arena_clear(&arena);
    }
    taut_context_destroy(context);
    taut_system_destroy(system);
}

/* A given accuracy needs fewer levels, of state and of multipliers. */
static void test_enough(void)
{
    check_group("levels for a given accuracy");
    const char *model = "[coordinates]\nx, y, u, w\n[potential]\ny + w\n[bonds]\n"
                        "a = sqrt(x^2+y^2) - 1 stiffness 1e4\n"
                        "b = sqrt((x-u)^2+(y-w)^2) - 1 stiffness 1e4\n";
    static const double enough[] = {0, 1e-9, 1e-6, 1e-3};
    taut_system *system = NULL;
    taut_context *context = NULL;
    taut_error error = {0};
    double point[8], lambda[2];
    int level = 100, code = taut_system_parse(model, strlen(model), "model", NULL, &system, &error);
    code = code ? code : taut_context_create(system, NULL, &context, &error);
    for (int k = 0; check_row(code == 0, "%s", error.message) && k < 4; k++) {
        taut_arena arena;
        taut_statistics statistics = {0};
        taut_projector *projector = NULL;
        taut_series_report report;
        taut_series_settings settings = {.gradual = true, .enough = enough[k]};
        double at[8] = {0.62, 0.81, 1.6, 0.9, -0.7, 0.6, 0.3, -0.2};
        taut_arena_init(&arena, NULL);
        code = taut_series_create(&taut_bond_series, context, &arena, &statistics, &settings,
                                  &projector, &error);
        code = code ? code : projector->apply(projector, 0, at, at + 4, &error);
        if (code == 0) {
            taut_series_report_get(projector, &report);
            if (k == 0) {
                memcpy(point, at, sizeof at);
                memcpy(lambda, report.lambda, sizeof lambda);
            }
            check_row(report.level < level, "%d levels for %g, %d before", report.level, enough[k],
                      level);
            check_below("state", taut_largest_difference(8, at, point), 3 * enough[k]);
            check_below("multipliers", taut_largest_difference(2, report.lambda, lambda),
                        3 * enough[k] * taut_largest(2, lambda));
            level = report.level;
        }
        if (projector)
            projector->destroy(projector);
        taut_arena_clear(&arena);
    }
    taut_context_destroy(context);
    taut_system_destroy(system);
}

static void test_memory(void)
{
    check_group("memory");
    const char *model = "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2+y^2) - 1 "
                        "stiffness 1e6\n[start]\nx = 1.01, y = 0.05\n";
    projected p = make(model, "", "0", NULL);
    projected_faults(p.system, "method=series from=0");
    projected_drop(&p);
}

int main(void)
{
    test_exact_point();
    test_pendulum();
    test_forced();
    test_smooth_start();
    test_scales();
    test_mixed();
    test_levels();
    test_jets();
    test_failure();
    test_chain();
    test_projector();
    test_watch();
    test_enough();
    test_memory();
    return check_done();
}
