/* test_constraint.c - foot points: on the bonds, M-orthogonal by an independent solve,
 * idempotent, holds kept, failures without harm. */
#include <stdlib.h>
#include <taut/taut.h>

#include "support/faulty.h"
#include "point/foot_point.h"
#include "support/table.h"

/* A model, made rigid, with its initial state moved by pseudo-random amounts. */
typedef struct bench {
    taut_system *base, *system;
    taut_context *context;
    taut_arena arena;
    taut_statistics statistics;
    taut_projector *projector;
    taut_sizes sizes;
    double *q, *v, *q0, *v0;
    taut_error error;
    int code;
} bench;

static double noise(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1;
}

static void bench_start(bench *b, double t, double shake)
{
    unsigned seed = 7;
    taut_index n = b->sizes.coordinates;
    b->q = TAUT_NEW(&b->arena, double, n);
    b->v = TAUT_NEW(&b->arena, double, n);
    b->q0 = TAUT_NEW(&b->arena, double, n);
    b->v0 = TAUT_NEW(&b->arena, double, n);
    b->code = taut_context_start(b->context, t, b->q, b->v, &b->error);
    for (taut_index i = 0; i < n; i++) {
        b->q0[i] = b->q[i] += shake * noise(&seed);
        b->v0[i] = b->v[i] += shake * noise(&seed);
    }
}

static bool bench_finish(bench *b, const char *what, double t, double shake)
{
    taut_arena_init(&b->arena, NULL);
    if (b->code == 0)
        b->code = taut_system_rigid(b->base, &b->system, &b->error);
    if (b->code == 0)
        b->code = taut_context_create(b->system, NULL, &b->context, &b->error);
    if (b->code == 0) {
        taut_sizes_init(&b->sizes);
        taut_system_sizes_get(b->system, &b->sizes, NULL);
        bench_start(b, t, shake);
        b->code = taut_foot_create(&taut_bond_foot, b->context, &b->arena, &b->statistics, NULL,
                                   &b->projector, &b->error);
    }
    return check_row(b->code == 0, "%s: %s", what, b->error.message);
}

static bool bench_load(bench *b, const char *name, const char *set, double t, double shake)
{
    char path[200];
    *b = (bench){0};
    snprintf(path, sizeof path, "%s/models/%s.taut", TAUT_SOURCE_DIR, name);
    taut_load how = {.size = sizeof how, .set = &set, .set_count = set ? 1 : 0, .from = t};
    b->code = taut_system_load(path, &how, &b->base, &b->error);
    return bench_finish(b, name, t, shake);
}

static bool bench_text(bench *b, const char *text, double shake)
{
    *b = (bench){0};
    b->code = taut_system_parse(text, strlen(text), "model.taut", NULL, &b->base, &b->error);
    return bench_finish(b, "model", 0, shake);
}

static void bench_end(bench *b)
{
    if (b->projector)
        b->projector->destroy(b->projector);
    taut_context_destroy(b->context);
    taut_system_destroy(b->system);
    taut_system_destroy(b->base);
    taut_arena_clear(&b->arena);
}

/* ---- an independent view: dense arrays, Gaussian elimination on G G^T */

enum { MOST = 80 };
static double dense_g[MOST][MOST], dense_m[MOST][MOST], matrix[MOST][MOST + 1];

static double dense_view(bench *b, double t, double *g, double *gdot)
{
    taut_index n = b->sizes.coordinates, m = b->sizes.bonds;
    taut_pattern jacobian, tangent = {0};
    taut_system_pattern_get(b->system, TAUT_PATTERN_JACOBIAN, &jacobian, NULL);
    if (b->sizes.mass != TAUT_MASS_DIAGONAL)
        taut_system_pattern_get(b->system, TAUT_PATTERN_TANGENT, &tangent, NULL);
    static double entries[4000], mass[8000], dt[MOST];
    taut_values values = {
        .size = sizeof values, .bond = g, .jacobian = entries, .bond_dt = dt, .mass = mass};
    check_equal("evaluate",
                taut_evaluate(b->context, t, b->q, b->v,
                              TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_MASS, &values,
                              &b->error),
                0);
    memset(dense_g, 0, sizeof dense_g);
    memset(dense_m, 0, sizeof dense_m);
    double worst = 0;
    for (taut_index i = 0; i < m; i++) {
        gdot[i] = dt[i];
        for (taut_index k = jacobian.start[i]; k < jacobian.start[i + 1]; k++) {
            dense_g[i][jacobian.column[k]] += entries[k];
            gdot[i] += entries[k] * b->v[jacobian.column[k]];
        }
        worst = fmax(worst, fmax(fabs(g[i]), fabs(gdot[i])));
    }
    for (taut_index i = 0; i < n; i++)
        if (!tangent.start)
            dense_m[i][i] = mass[i];
        else
            for (taut_index k = tangent.start[i]; k < tangent.start[i + 1]; k++)
                dense_m[i][tangent.column[k]] = mass[k];
    return worst;
}

/* The part of r that no combination of the rows of G gives: |r - G^T y|, y from (G G^T) y = G r
 * by elimination with pivots. */
static double outside_range(taut_index n, taut_index m, const double *r)
{
    double y[MOST] = {0}, worst = 0;
    for (taut_index i = 0; i < m; i++) {
        matrix[i][m] = 0;
        for (taut_index k = 0; k < n; k++)
            matrix[i][m] += dense_g[i][k] * r[k];
        for (taut_index j = 0; j < m; j++) {
            matrix[i][j] = 0;
            for (taut_index k = 0; k < n; k++)
                matrix[i][j] += dense_g[i][k] * dense_g[j][k];
        }
    }
    for (taut_index p = 0; p < m; p++) {
        taut_index best = p;
        for (taut_index i = p; i < m; i++)
            best = fabs(matrix[i][p]) > fabs(matrix[best][p]) ? i : best;
        for (taut_index j = 0; j <= m; j++) {
            double keep = matrix[p][j];
            matrix[p][j] = matrix[best][j];
            matrix[best][j] = keep;
        }
        for (taut_index i = p + 1; i < m; i++) {
            double factor = matrix[i][p] / matrix[p][p];
            for (taut_index j = p; j <= m; j++)
                matrix[i][j] -= factor * matrix[p][j];
        }
    }
    for (taut_index i = m - 1; i >= 0; i--) {
        y[i] = matrix[i][m];
        for (taut_index j = i + 1; j < m; j++)
            y[i] -= matrix[i][j] * y[j];
        y[i] /= matrix[i][i];
    }
    for (taut_index k = 0; k < n; k++) {
        double left = r[k];
        for (taut_index i = 0; i < m; i++)
            left -= dense_g[i][k] * y[i];
        worst = fmax(worst, fabs(left));
    }
    return worst;
}

static void check_orthogonal(bench *b, const char *name)
{
    taut_index n = b->sizes.coordinates, m = b->sizes.bonds;
    double r[MOST], s[MOST];
    for (taut_index i = 0; i < n; i++) {
        r[i] = s[i] = 0;
        for (taut_index j = 0; j < n; j++) {
            r[i] += dense_m[i][j] * (b->q0[j] - b->q[j]);
            s[i] += dense_m[i][j] * (b->v0[j] - b->v[j]);
        }
    }
    check_row(outside_range(n, m, r) < 1e-12, "%s: position off the normal space by %.3g", name,
              outside_range(n, m, r));
    check_row(outside_range(n, m, s) < 1e-12, "%s: velocity off the normal space by %.3g", name,
              outside_range(n, m, s));
}

/* ---- tests */

#define KINETIC                                                                                    \
    "[coordinates]\nr, phi, z\n[kinetic]\n(r'^2 + r^2*phi'^2 + (2 + sin(r))*z'^2 + "               \
    "r*z*r'*z')/2\n[bonds]\n"                                                                      \
    "a = r^2 + z^2 - 2 rigid\nb = phi - z*r - 0.3 rigid\n[start]\nr = 1, z = 1, phi = 1.3, r' = "  \
    "0.2, z' = -0.2, phi' = 0\n"

static void test_foot_points(void)
{
    static const struct {
        const char *model, *set;
        double t, shake;
    } rows[] = {
        {"pendulum", NULL, 0, 0.1},
        {"double_pendulum", NULL, 0, 0}, /* start (29)-(30) of A, off by 3e-2 */
        {"double_pendulum", "lift=0", 0, 0.2},
        {"four_bar", NULL, 0.3, 0.02}, /* a moving bond; square G: everything is prescribed */
        {"four_bar", NULL, 1.7, 0.1},
        {"triatomic", NULL, 0, 0.02},
        {"chain", "N=12", 0, 0.01},
        {"chain", "N=20", 0, 1e-4},
        {"free_pendulum", NULL, 0, 0.05},
        {"butane", NULL, 0, 0.01},
        {KINETIC, NULL, 0, 0.05},
    };
    check_group("foot points");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        bench b;
        double g[MOST], gdot[MOST];
        bool text = strchr(rows[k].model, '\n');
        const char *name = text ? "kinetic" : rows[k].model;
        if (text ? bench_text(&b, rows[k].model, rows[k].shake)
                 : bench_load(&b, rows[k].model, rows[k].set, rows[k].t, rows[k].shake)) {
            int code = b.projector->apply(b.projector, rows[k].t, b.q, b.v, &b.error);
            if (check_row(code == 0, "%s: %s", name, b.error.message)) {
                check_row(dense_view(&b, rows[k].t, g, gdot) < 2e-13, "%s: |g|, |gdot| %.3g", name,
                          dense_view(&b, rows[k].t, g, gdot));
                check_orthogonal(&b, name);
                double moved = 0, before[MOST];
                memcpy(before, b.q, (size_t)b.sizes.coordinates * sizeof(double));
                check_equal("again", b.projector->apply(b.projector, rows[k].t, b.q, b.v, &b.error),
                            0);
                for (taut_index i = 0; i < b.sizes.coordinates; i++)
                    moved = fmax(moved, fabs(b.q[i] - before[i]));
                check_row(moved < 1e-14, "%s: a foot point moved by %.3g", name, moved);
            }
        }
        bench_end(&b);
    }
}

/* Radial: the foot point of (a, b) on the unit circle is (a, b)/r, of a velocity its tangential
 * part. */
static void test_circle(void)
{
    check_group("circle");
    bench b;
    if (bench_text(&b,
                   "[coordinates]\nx, y\n[bonds]\nrod = x^2 + y^2 - 1\n[start]\nx = 0.9, y = 1.2, "
                   "x' = 2, y' = 1\n",
                   0)) {
        check_row(b.projector->apply(b.projector, 0, b.q, b.v, &b.error) == 0, "%s",
                  b.error.message);
        check_near("x", b.q[0], 0.6, 1e-15);
        check_near("y", b.q[1], 0.8, 1e-15);
        double along = 2 * -0.8 + 1 * 0.6;
        check_near("x'", b.v[0], along * -0.8, 1e-15);
        check_near("y'", b.v[1], along * 0.6, 1e-15);
    }
    bench_end(&b);
}

/* Masses 1 and 3 joined by a rigid bond: it shortens about the centre of mass. */
static void test_masses(void)
{
    check_group("masses");
    bench b;
    if (bench_text(&b,
                   "[coordinates]\na, b\n[mass]\na = 1, b = 3\n[bonds]\nrod = b - a - "
                   "1\n[start]\na = 0, b = 3, a' = 4, b' = 0\n",
                   0)) {
        check_row(b.projector->apply(b.projector, 0, b.q, b.v, &b.error) == 0, "%s",
                  b.error.message);
        check_near("a", b.q[0], 1.5, 1e-15);
        check_near("b", b.q[1], 2.5, 1e-15);
        check_near("a'", b.v[0], 1, 1e-15);
        check_near("b'", b.v[1], 1, 1e-15);
    }
    bench_end(&b);
}

static void test_holds(void)
{
    check_group("holds");
    bench b;
    double g[MOST], gdot[MOST];
    const char *slider = "[coordinates]\ntheta, x2, y2, psi\n[mass]\ntheta = 10\n[bonds]\ncentre_x "
                         "= x2 - cos(theta) - 2*cos(psi)\n"
                         "slide = sin(theta) - 3*sin(psi)\ncentre_y = y2 - "
                         "sin(psi)\n[start]\ntheta = 0.3 hold, theta' = -1 hold\n"
                         "x2 = 2.7, y2 = 0.2\n";
    if (bench_text(&b, slider, 0)) {
        check_row(b.projector->apply(b.projector, 0, b.q, b.v, &b.error) == 0, "%s",
                  b.error.message);
        check_row(b.q[0] == 0.3 && b.v[0] == -1, "theta %.17g, theta' %.17g moved", b.q[0], b.v[0]);
        double psi = asin(sin(0.3) / 3), rate = -cos(0.3) / (3 * cos(psi));
        check_near("psi", b.q[3], psi, 1e-15);
        check_near("x2", b.q[1], cos(0.3) + 2 * cos(psi), 1e-15);
        check_near("psi'", b.v[3], rate, 1e-15);
        check_near("x2'", b.v[1], sin(0.3) - 2 * sin(psi) * rate, 1e-15);
        check_below("bonds", dense_view(&b, 0, g, gdot), 1e-15);
    }
    bench_end(&b);

    /* the shipped model marks psi as a guess: what is consistent with a wrong psi stays, psi
     * moves */
    if (bench_load(&b, "slider_crank", NULL, 0, 0)) {
        b.q[3] += 0.2;
        check_row(b.projector->apply(b.projector, 0, b.q, b.v, &b.error) == 0, "%s",
                  b.error.message);
        for (int i = 0; i < 3; i++)
            check_near("kept", b.q[i], b.q0[i], 1e-13);
        check_near("psi", b.q[3], 0, 1e-13);
    }
    bench_end(&b);
    if (bench_load(&b, "slider_crank", NULL, 0, 0.05)) {
        check_row(b.projector->apply(b.projector, 0, b.q, b.v, &b.error) == 0, "%s",
                  b.error.message);
        check_below("slider crank, everything moved", dense_view(&b, 0, g, gdot), 1e-14);
    }
    bench_end(&b);
}

/* Failures leave the state as it was and say what to do. */
static void test_failures(void)
{
    static const struct {
        const char *name, *model;
        int code;
        const char *says;
    } rows[] = {
        {"redundant",
         "[coordinates]\nx, y\n[bonds]\nfirst = x - 1\nsecond = 2*x - 2\n[start]\nx = 2\n",
         TAUT_ERROR_SINGULAR, "first"},
        {"no gradient",
         "[coordinates]\nx, y\n[bonds]\nhalf = x^2 + y^2 - 1\n[start]\nx = 0, y = 0\n",
         TAUT_ERROR_SINGULAR, "half"},
        {"no solution",
         "[coordinates]\nx, y\n[bonds]\nnever = x^2 + y^2 + 1\n[start]\nx = 1, y = 2\n",
         TAUT_ERROR_CONVERGE, "never"},
        {"held apart",
         "[coordinates]\nx, y\n[bonds]\nrod = x - 1\nother = y\n[start]\nx = 2 hold, y = 1\n",
         TAUT_ERROR_CONVERGE, "release"},
        {"held to death",
         "[coordinates]\nx, y\n[bonds]\na = x + y\nb = x - y\n[start]\nx = 2 hold, y = 1\n",
         TAUT_ERROR_SINGULAR, "held coordinates"},
        {"velocity held",
         "[coordinates]\nx, y\n[bonds]\nrod = x - 1\n[start]\nx = 2, x' = 1 hold\n",
         TAUT_ERROR_CONVERGE, "velocities"},
        {"a rod too many", "[coordinates]\nx, y\n[bonds]\na = x - 1\nb = 2*x - 2\n[start]\nx = 2\n",
         TAUT_ERROR_SINGULAR, "omit it, or give it a stiffness"},
        {"a spring too many",
         "[coordinates]\nx, y\n[bonds]\na = x - 1 stiffness 9\nb = 2*x - 2 stiffness 9\n[start]\nx "
         "= 2\n",
         TAUT_ERROR_SINGULAR, "mark it `soft`"},
    };
    check_group("failures");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        bench b;
        if (bench_text(&b, rows[k].model, 0)) {
            int code = b.projector->apply(b.projector, 0, b.q, b.v, &b.error);
            check_row(code == rows[k].code, "%s: %s, %s", rows[k].name, taut_code_name(code),
                      b.error.message);
            check_contains(rows[k].name, b.error.message, rows[k].says);
            for (int i = 0; i < 2; i++)
                check_row(b.q[i] == b.q0[i] && b.v[i] == b.v0[i], "%s: the state moved",
                          rows[k].name);
        }
        bench_end(&b);
    }
}

typedef struct observer {
    int calls, stop; /* ends at this call */
} observer;

static int observe(void *user, double t, const double *q, const double *v, taut_error *error)
{
    observer *o = user;
    (void)t, (void)q, (void)v;
    return ++o->calls == o->stop ? taut_fail(error, TAUT_ERROR_STOPPED, "enough") : TAUT_OK;
}

/* The monitor may end it, at any point on the way: its status is returned, it is not called
 * again, and nothing moves. */
static void test_watch(void)
{
    check_group("a watcher that stops");
    for (int stop = 1; stop < 50; stop++) {
        bench b;
        observer o = {.stop = stop};
        taut_foot_point_settings settings = {.watch = observe, .user = &o};
        taut_projector *projector = NULL;
        if (!bench_text(
                &b,
                "[coordinates]\nx, y\n[bonds]\nrod = x^2 + y^2 - 1\n[start]\nx = 0.9, y = 1.2\n",
                0))
            break;
        check_equal("create",
                    taut_foot_create(&taut_bond_foot, b.context, &b.arena, &b.statistics, &settings,
                                     &projector, &b.error),
                    0);
        int code = projector->apply(projector, 0, b.q, b.v, &b.error);
        bool ended = o.calls < stop;
        check_equal("code", code, ended ? 0 : TAUT_ERROR_STOPPED);
        check_row(ended ? stop > 3 : o.calls == stop && b.q[0] == b.q0[0] && b.v[1] == b.v0[1],
                  "stop at call %d of %d", stop, o.calls);
        projector->destroy(projector);
        bench_end(&b);
        if (ended)
            break;
    }
}

/* 10,000 links, all stretched by 1e-6: the foot point is the straight chain of unit links; the
 * cost is linear in N. */
static void test_chain(void)
{
    check_group("chain of 10,000 links");
    int64_t iterations[2];
    static const char *const sizes[] = {"N=1000", "N=10000"};
    for (int k = 0; k < 2; k++) {
        bench b;
        if (bench_load(&b, "chain", sizes[k], 0, 0)) {
            double off = 0, rate = 0;
            for (taut_index i = 0; i < b.sizes.coordinates; i++) {
                b.q[i] *= 1 + 1e-6;
                b.v[i] = i % 2 ? cos(0.01 * i) : 1e-3 * (i + 1);
            }
            double last = b.v[b.sizes.coordinates - 1];
            check_row(b.projector->apply(b.projector, 0, b.q, b.v, &b.error) == 0, "%s",
                      b.error.message);
            for (taut_index i = 0; i < b.sizes.coordinates; i += 2) {
                off = fmax(off, fmax(fabs(b.q[i] - (i / 2 + 1)), fabs(b.q[i + 1])));
                rate = fmax(rate, fabs(b.v[i]));
            }
            check_below("positions", off / b.sizes.coordinates, 1e-15);
            /* a straight chain can move across only */
            check_below("velocities along the links", rate, 1e-10);
            check_near("velocity across", b.v[b.sizes.coordinates - 1], last, 1e-12);
            iterations[k] = b.statistics.newton_iterations;
        }
        bench_end(&b);
    }
    check_row(iterations[1] <= iterations[0] + 2, "iterations %lld, then %lld",
              (long long)iterations[0], (long long)iterations[1]);
}

/* An arc of 30 links, stretched: mu grows with the square of the length, and K = M alone would
 * not converge. Independent check. */
static void test_arc(void)
{
    check_group("stretched arc");
    bench b;
    double g[MOST], gdot[MOST];
    if (bench_load(&b, "chain", "N=30", 0, 0)) {
        double x = 0, y = 0;
        for (taut_index i = 0; i < 30; i++) {
            x += cos(0.05 * i);
            y -= sin(0.05 * i);
            b.q0[2 * i] = b.q[2 * i] = 1.02 * x;
            b.q0[2 * i + 1] = b.q[2 * i + 1] = 1.02 * y;
        }
        if (check_row(b.projector->apply(b.projector, 0, b.q, b.v, &b.error) == 0, "%s",
                      b.error.message)) {
            check_below("|g|", dense_view(&b, 0, g, gdot), 1e-13);
            check_orthogonal(&b, "arc");
            check_row(b.statistics.jacobians > 0, "%lld iterations, none with curvature",
                      (long long)b.statistics.newton_iterations);
        }
    }
    bench_end(&b);
}

static void test_memory(void)
{
    check_group("memory");
    const char *text =
        "[coordinates]\nx, y\n[bonds]\nrod = x^2 + y^2 - 1\n[start]\nx = 0.9, y = 1.2\n";
    for (int k = 1; k < 60; k++) {
        faulty f = {0};
        taut_allocator allocator = faulty_allocator(&f);
        bench b;
        if (!bench_text(&b, text, 0))
            break;
        taut_arena arena;
        taut_arena_init(&arena, &allocator);
        taut_projector *projector;
        f.fail = k;
        int code = taut_foot_create(&taut_bond_foot, b.context, &arena, &b.statistics, NULL,
                                    &projector, &b.error);
        if (code == 0) {
            int64_t calls = f.calls;
            check_equal("apply", projector->apply(projector, 0, b.q, b.v, &b.error), 0);
            check_equal("allocations while applying", f.calls - calls, 0);
            projector->destroy(projector);
        }
        check_row(code == 0 || code == TAUT_ERROR_MEMORY, "call %d: %s", k, taut_code_name(code));
        taut_arena_clear(&arena);
        check_equal("blocks left", f.live, 0);
        bench_end(&b);
        if (f.failed == 0)
            break;
    }
}

int main(void)
{
    test_circle();
    test_masses();
    test_foot_points();
    test_holds();
    test_failures();
    test_watch();
    test_chain();
    test_arc();
    test_memory();
    return check_done();
}
