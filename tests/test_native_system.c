/* test_native_system.c - compiled systems of single statements, whose code loads and stores by
 * itself: every combination of f, g, G and stiff force against formulas, and against the
 * interpreter bit by bit; what is not wanted stays untouched, what is not finite is named. */
#ifndef TAUT_CORE
#define _XOPEN_SOURCE 700
#endif

#include "support/table.h"

#ifdef TAUT_CORE

int main(void)
{
    check_group("compiled systems");
    check_skip("this build cannot compile expressions");
    return check_done();
}

#else

#include "drive/solver.h"
#include "support/families.h"
#include "support/native_place.h"
#include "support/run.h"
#include "system/kernel/scatter.h"

enum { N = 3, M = 5, ENTRIES = 8, SENTINEL = 12345 };

static const char model[] =
    "[parameters]\nk = 3\nw = 0.7\n[coordinates]\nx, y, z\n[forces]\nx = -k*x' + sin(w*t)\ny = "
    "z*x\n"
    "[potential]\nk*x^2*y\n[stiff potential]\n(x^2 + y^2 - 1)^2/4 scale k^2\n[bonds]\n"
    "rod = sqrt(x^2 + y^2) - 1\nmoving = z - w*t\nplain = x\nodd[i] = i*z^2 - 2*i for i in 3..3\n"
    "depth = log(z) + x*y\n[start]\nx = 1\nz = 1\n";

typedef struct arrays {
    double force[N], stiff[N], bond[M], dt[M], jacobian[ENTRIES];
} arrays;

static const double q[N] = {0.8, -0.7, 1.3}, v[N] = {0.4, 0.1, -0.2}, t = 0.25;

/* By hand; rows of G in the order of first mention. */
static arrays expected(double k)
{
    const double x = q[0], y = q[1], z = q[2], r = sqrt(x * x + y * y),
                 s = k * k * (x * x + y * y - 1);
    return (arrays){.force = {-k * v[0] + sin(0.7 * t) - 2 * k * x * y, z * x - k * x * x, 0},
                    .stiff = {-s * x, -s * y, 0},
                    .bond = {r - 1, z - 0.7 * t, x, 3 * z * z - 6, log(z) + x * y},
                    .dt = {0, -0.7, 0, 0, 0},
                    .jacobian = {x / r, y / r, 1, 1, 6 * z, 1 / z, y, x}};
}

static int evaluate(taut_context *context, const double *at, unsigned wanted, arrays *a,
                    taut_error *error)
{
    double *all = (double *)a;
    for (size_t i = 0; i < sizeof *a / sizeof *all; i++)
        all[i] = SENTINEL;
    taut_values values = {.size = sizeof values,
                          .force = a->force,
                          .stiff_force = a->stiff,
                          .bond = a->bond,
                          .bond_dt = a->dt,
                          .jacobian = a->jacobian};
    return taut_evaluate(context, t, at, v, wanted, &values, error);
}

static double farthest(const double *x, const double *y, int count, bool wanted)
{
    double worst = 0;
    for (int i = 0; i < count; i++)
        worst = fmax(worst, fabs(x[i] - (wanted ? y[i] : SENTINEL)));
    return worst;
}

/* How far `a` is from `b` where it is wanted, and from untouched where it is not. */
static double distance(const arrays *a, const arrays *b, unsigned wanted)
{
    double worst = farthest(a->force, b->force, N, wanted & TAUT_WANT_FORCE);
    worst = fmax(worst, farthest(a->stiff, b->stiff, N, wanted & TAUT_WANT_STIFF_FORCE));
    worst = fmax(worst, farthest(a->bond, b->bond, M, wanted & TAUT_WANT_BOND));
    worst = fmax(worst, farthest(a->dt, b->dt, M, wanted & TAUT_WANT_JACOBIAN));
    return fmax(worst, farthest(a->jacobian, b->jacobian, ENTRIES, wanted & TAUT_WANT_JACOBIAN));
}

static void test_values(taut_context *const context[2], double k)
{
    const arrays want = expected(k);
    for (unsigned bits = 0; bits < 16; bits++) {
        const unsigned wanted = (bits & 7) | (bits & 8 ? (unsigned)TAUT_WANT_STIFF_FORCE : 0);
        arrays a, b;
        taut_error error = {0};
        int status = evaluate(context[0], q, wanted, &a, &error);
        status |= evaluate(context[1], q, wanted, &b, &error);
        char name[60];
        snprintf(name, sizeof name, "k = %g, wanted %#x, compiled against formulas", k, wanted);
        check_equal("status", status, 0);
        check_below(name, distance(&a, &want, wanted), 1e-14);
        check_row(memcmp(&a, &b, sizeof a) == 0,
                  "wanted %#x: compiled and interpreted differ by %g", wanted,
                  distance(&a, &b, wanted));
    }
}

static void test_not_finite(taut_context *context)
{
    static const double at[N] = {0.8, -0.7, 0};
    for (unsigned wanted = TAUT_WANT_BOND; wanted <= TAUT_WANT_JACOBIAN; wanted <<= 1) {
        taut_error error = {0};
        arrays a;
        check_equal("log(0): status", evaluate(context, at, wanted, &a, &error),
                    TAUT_ERROR_EVALUATE);
        check_contains("log(0)", error.message, "depth");
    }
    static const double far[N] = {1e200, 1, 1};
    taut_error error = {0};
    arrays a;
    check_equal("force too large: status", evaluate(context, far, TAUT_WANT_FORCE, &a, &error),
                TAUT_ERROR_EVALUATE);
    check_contains("force too large", error.message, "force on");
}

static void test_system(void)
{
    check_group("compiled system");
    taut_system *system[2] = {0};
    taut_context *context[2] = {0};
    taut_error error = {0};
    int status = 0;
    setenv("XDG_CACHE_HOME", in_place("system"), 1);
    for (int i = 0; i < 2 && status == 0; i++) {
        taut_load how = {.size = sizeof how, .compile = i == 0};
        status = taut_system_parse(model, strlen(model), "model", &how, &system[i], &error);
        if (status == 0)
            status = taut_context_create(system[i], NULL, &context[i], &error);
    }
    check_row(status == 0, "model: %s", error.message);
    if (status == 0 && check_row(system[0]->native != NULL, "not compiled: %s",
                                 taut_system_warning(system[0], 0))) {
        int bound = 0;
        for (int32_t k = 0; k < system[0]->kernels; k++)
            bound += system[0]->kernel[k]->tape->native_bound != NULL;
        check_equal("statements whose code loads and stores by itself", bound, 9);
        test_values(context, 3);
        for (int i = 0; i < 2; i++)
            status |= taut_context_set_parameter(
                context[i], taut_system_find(system[i], TAUT_PARAMETER, "k"), 5, &error);
        check_equal("another value of a parameter", status, 0);
        test_values(context, 5);
        test_not_finite(context[0]);
    }
    for (int i = 0; i < 2; i++) {
        taut_context_destroy(context[i]);
        taut_system_destroy(system[i]);
    }
}

enum { MOST = 7 };

/* q at t = 2; false: not as wanted. */
static bool run_to_end(const char *text, const char *settings, bool compile, double *end)
{
    driven d = {0};
    taut_load how = {.size = sizeof how, .compile = compile};
    d.code = taut_system_parse(text, strlen(text), "model", &how, &d.system, &d.error);
    driven_equip(&d, settings, NULL);
    bool good = driven_good(settings, &d) && (d.system->native != NULL) == compile;
    if (good)
        good = taut_solver_advance(d.solver, 2, &d.error) == 0;
    if (good)
        memcpy(end, taut_solver_position(d.solver), (size_t)d.solver->stepper.n * sizeof *end);
    driven_destroy(&d);
    return good;
}

/* n coupled oscillators. */
static bool run_oscillators(int n, bool compile, double *end)
{
    char text[400] = "[coordinates]\n";
    size_t at = strlen(text);
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%c", i ? ", " : "", 'a' + i);
    at += (size_t)snprintf(text + at, sizeof text - at, "\n[forces]\n");
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%c = cos(t) - %d*sin(%c) - %c'*%c\n",
                               'a' + i, i + 1, 'a' + i, 'a' + i, 'a' + (i + 1) % n);
    return run_to_end(text, "motion=full method=dop8 step=0.05 until=2", compile, end);
}

/* Sums over the stages are made of blocks of 4, 2 and 1 coordinates. */
static void test_stages(void)
{
    static const int sizes[] = {1, 2, 3, 4, MOST};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        double end[2][MOST] = {0};
        bool good =
            run_oscillators(sizes[k], true, end[0]) && run_oscillators(sizes[k], false, end[1]);
        check_row(good && memcmp(end[0], end[1], sizeof end[0]) == 0 && end[0][0] != 0,
                  "%d coordinates: compiled %.17g, interpreted %.17g", sizes[k], end[0][0],
                  end[1][0]);
    }
}

/* Springs whose code loads a block of members; steps one by one, and many at once. */
static void test_families(void)
{
    static const struct {
        const char *name, *text;
    } rows[] = {{"plane", family_plane}, {"space", family_space}, {"line", family_line}};
    static const char settings[] = "motion=full method=verlet step=0.004 until=2";
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        double end[2][FAMILY_MOST] = {0};
        bool good = run_to_end(rows[k].text, settings, true, end[0]) &&
                    run_to_end(rows[k].text, settings, false, end[1]);
        check_row(good && memcmp(end[0], end[1], sizeof end[0]) == 0 && end[0][0] != 0,
                  "%s: compiled %.17g, interpreted %.17g", rows[k].name, end[0][0], end[1][0]);
    }
}

/* The effective system has forces that the statements of its base do not have: steps of the base,
 * whose code is there, are not its own. */
static void test_effective(void)
{
    static const char text[] = "[coordinates]\na, b, c, d\n[potential]\nb + d\n[bonds]\n"
                               "inner = sqrt(a^2 + b^2) - 1 stiffness 1e6\n"
                               "outer = sqrt((a-c)^2 + (b-d)^2) - 1 stiffness 1e6\n"
                               "[start]\na = sqrt(0.5), b = -sqrt(0.5), c = sqrt(2), d = 5e-3\n",
                      settings[] =
                          "motion=effective method=effective verify=never rtol=1e-8 until=2";
    double end[2][4] = {0};
    bool good =
        run_to_end(text, settings, true, end[0]) && run_to_end(text, settings, false, end[1]);
    for (int i = 0; good && i < 4; i++)
        check_near("effective, compiled", end[0][i], end[1][i], 1e-9);
    check_row(good, "effective motion, compiled and interpreted");
}

int main(void)
{
    char compiler[400];
    check_group("compiled systems");
    if (place_open(compiler, sizeof compiler)) {
        test_system();
        test_effective();
        test_stages();
        test_families();
    }
    remove_tree(place);
    return check_done();
}

#endif
