/* test_diagnosis.c - the diagnosis of an initial state: rates, frequencies and energies against
 * closed forms, what it takes a failed factorisation for, and that nothing is computed twice when a
 * solver is made. The linker puts the functions here in
 * place of those of the library (CMakeLists.txt). */
#include "base/error.h"
#include "base/inside.h"
#include "base/rows.h"
#include "base/vectors.h"
#include "linalg/saddle.h"
#include "support/run.h"
#include "system/system.h"
#include "system/modes/modes.h"

static int factorisations, failing, with; /* the failing one, from 1; its status */
static int spectra;

int __real_taut_saddle_factor(taut_saddle *saddle, const double *k, const double *g1,
                              const double *g2, const double *d, taut_error *error);
int __wrap_taut_saddle_factor(taut_saddle *saddle, const double *k, const double *g1,
                              const double *g2, const double *d, taut_error *error);
int __real_taut_frequencies(taut_context *context, double t, const double *q, int count,
                            double *frequency, int *found, bool *complete, taut_error *error);
int __wrap_taut_frequencies(taut_context *context, double t, const double *q, int count,
                            double *frequency, int *found, bool *complete, taut_error *error);
int __real_taut_modes_find(taut_modes_work *modes, double t, const double *q, taut_error *error);
int __wrap_taut_modes_find(taut_modes_work *modes, double t, const double *q, taut_error *error);

int __wrap_taut_saddle_factor(taut_saddle *saddle, const double *k, const double *g1,
                              const double *g2, const double *d, taut_error *error)
{
    if (++factorisations == failing)
        return taut_fail(error, with, "this factorisation fails");
    return __real_taut_saddle_factor(saddle, k, g1, g2, d, error);
}

int __wrap_taut_frequencies(taut_context *context, double t, const double *q, int count,
                            double *frequency, int *found, bool *complete, taut_error *error)
{
    spectra++;
    return __real_taut_frequencies(context, t, q, count, frequency, found, complete, error);
}

int __wrap_taut_modes_find(taut_modes_work *modes, double t, const double *q, taut_error *error)
{
    spectra++;
    return __real_taut_modes_find(modes, t, q, error);
}

#define PENDULUM(stiffness, x)                                                                     \
    "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 stiffness " stiffness \
    "\n[start]\nx = " x "\n"

/* Out of memory is no redundancy of springs, nor is anything else but a singular matrix. */
static void test_failures(void)
{
    static const char model[] = PENDULUM("1e4", "1.1");
    static const int codes[] = {TAUT_ERROR_MEMORY, TAUT_ERROR_CONVERGE, TAUT_ERROR_EVALUATE,
                                TAUT_ERROR_SINGULAR};
    check_group("a factorisation that fails");
    for (int k = 0; k < 4; k++) {
        bool singular = codes[k] == TAUT_ERROR_SINGULAR;
        taut_system *system = NULL;
        taut_error error = {0};
        taut_check_report report = {.size = sizeof report};
        failing = 0;
        check_equal("parse",
                    taut_system_parse(model, strlen(model), "model", NULL, &system, &error), 0);
        factorisations = 0;
        failing = 1;
        with = codes[k];
        int status = taut_check(system, NULL, &report, &error);
        check_row(status == (singular ? 0 : with), "check, %s: %s: %s", taut_code_name(with),
                  taut_code_name(status), error.message);
        /* without multipliers there is no kinetic part, and g counts from 0 */
        if (singular)
            check_near("energy of the stretch", report.oscillatory_energy, 1e4 * 0.01 / 2, 1e-9);
        taut_system_destroy(system);
        factorisations = 0;
        driven d = driven_create(model, "until=1", NULL);
        check_row(d.code == (singular ? 0 : with), "run, %s: %s: %s", taut_code_name(with),
                  taut_code_name(d.code), d.error.message);
        driven_destroy(&d);
    }
    failing = 0;
}

/* Every frequency is computed once, also when a motion gives way to another one. */
static void test_once(void)
{
    static const struct {
        const char *name, *text, *options;
        int spectra;
    } rows[] = {
        {"full by choice", PENDULUM("50", "1"), "until=1", 1},
        {"full by option", PENDULUM("50", "1"), "until=1 motion=full", 0},
        {"full by option, a step size to be chosen", PENDULUM("50", "1"), "until=1 method=verlet",
         1},
        {"full by choice, a step size to be verified", PENDULUM("50", "1"), "until=1 step=0.01", 1},
        {"slow by choice", PENDULUM("1e4", "1"), "until=1", 1},
        {"slow by option", PENDULUM("1e4", "1"), "until=1 motion=slow", 0},
        {"a motion that gives way",
         "[coordinates]\nx, y\n[bonds]\na = x - 1 stiffness 1e6\nb = 2*x - 2 stiffness 1e6\n"
         "[start]\nx = 1.001, y' = 1\n",
         "until=1e9", 2}, /* and the modes of its actions */
        {"soft springs", PENDULUM("4 soft", "1"), "until=1", 0},
        {"soft springs, a step size to be chosen", PENDULUM("4 soft", "1"), "until=1 method=verlet",
         1},
    };
    check_group("frequencies");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        spectra = 0;
        driven d = driven_create(rows[k].text, rows[k].options, NULL);
        driven_good(rows[k].name, &d);
        check_row(spectra == rows[k].spectra, "%s: computed %d times, expected %d: %s",
                  rows[k].name, spectra, rows[k].spectra,
                  d.solver ? taut_solver_explanation(d.solver) : "");
        driven_destroy(&d);
    }
}

/* ---- rates, frequencies, energies in closed form */

#define SWING(bond, start)                                                                         \
    "[coordinates]\nx, y\n[potential]\n9.81*y\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 " bond           \
    "\n[start]\n" start "\n"
/* Equilibrium at length 1 with both frequencies known there: 1 and sqrt(stiffness). */
#define SPRING_PENDULUM(stiffness, angle)                                                          \
    "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nspring = sqrt(x^2 + y^2) - 1 + 1/" stiffness    \
    " stiffness " stiffness "\n[start]\nx = sin(" angle "), y = -cos(" angle ")\n"
#define DOUBLE(bond)                                                                               \
    "[particles]\ndimension = 2\na mass 1\nb mass 1\n[potential]\na.y + b.y\n[bonds]\n"            \
    "upper = length(a) - 1 " bond "\nlower = length(b - a) - 1 " bond                              \
    "\n[start]\na = (0, -1)\nb = (0, -2)\n"
/* In the plane: a soft isotropic spring of frequency w = 2 and forces. */
#define PLANE(forces)                                                                              \
    "[coordinates]\nx, y\n[potential]\n2*(x^2 + y^2)\n[forces]\n" forces "\n[start]\nx = 1\n"
#define POTENTIAL(start)                                                                           \
    "[coordinates]\nx, y\n[potential]\ny\n[stiff potential]\n(sqrt(x^2 + y^2) - 1)^2/2 "           \
    "scale 1e6\n[start]\n" start "\n"

/* initial: max |mu| of mu^2 M + mu D + K at the state; rate: its maximum along the motion, with
 * explicit time dependence; NAN: not part of the row. A pilot run meets a maximum within some
 * percent, given as `loose`. */
static const struct {
    const char *name, *text, *until;
    double initial, rate, loose, least, energy;
} closed[] = {
    {"pendulum at rest", SWING("rigid", "y = -1"), "9", 3.1320919526731650, 3.1320919526731650,
     1e-6, 0, 0},
    {"pendulum, angle 1", SWING("rigid", "x = sin(1), y = -cos(1)"), "9", 2.3022522929875544,
     4.3312560, 0.03, 0, 0}, /* at the bottom sqrt(g (3 - 2 cos(1))) */
    {"pendulum, angle pi/2", SWING("rigid", "x = 1"), "9", 0, 5.4249424, 0.05, 0, 0},
    {"inverted pendulum", SWING("rigid", "y = 1"), "0.1", 3.1320919526731650, NAN, 0, 0, 0},
    {"circle of radius 2, speed 3",
     "[coordinates]\nx, y\n[bonds]\nrod = x^2 + y^2 - 4 rigid\n[start]\nx = 2, y' = 3\n", "9", 1.5,
     1.5, 1e-3, 0, 0},
    {"polar coordinates",
     "[coordinates]\nr, phi\n[kinetic]\n(r'^2 + r^2*phi'^2)/2\n[potential]\n-r*cos(phi)\n[bonds]\n"
     "rod = r - 2 rigid\n[start]\nr = 2\n",
     "9", 0.70710678118654752, 0.70710678118654752, 1e-6, 0, 0},
    /* energy of the stretch beyond c lambda: (1 - cos A)^2/2k */
    {"ratio 2, 0.2", SPRING_PENDULUM("4", "0.2"), "40", 0.98998321, 1.1774593, 0.03, 2,
     4.9667991e-05},
    {"ratio 2, 0.02", SPRING_PENDULUM("4", "0.02"), "40", 0.99989999, 1.1549315, 0.01, 2,
     4.9996667e-09},
    {"ratio 2, 0.002", SPRING_PENDULUM("4", "0.002"), "40", 0.999999, 1.1547028, 0.01, 2,
     4.9999967e-13},
    {"ratio 50, 0.2", SPRING_PENDULUM("2500", "0.2"), "40", 0.98998321, 1.0199143, 0.03, 50,
     7.9468786e-08},
    {"ratio 50, 0.002", SPRING_PENDULUM("2500", "0.002"), "40", 0.999999, 1.000202, 0.01, 50, NAN},
    /* mu^2 = -(2 +- sqrt(2)); Omega^2 = 1e4 (3 -+ sqrt(5))/2; c (2^2 + 1^2)/2 */
    {"double pendulum, rigid", DOUBLE("rigid"), "9", 1.8477590650225735, 1.8477590650225735, 1e-6,
     0, 0},
    {"double pendulum, stiff", DOUBLE("stiffness 1e4"), "9", 1.8477590650225735, 1.8477590650225735,
     1e-6, 61.803398874989485, 2.5e-4},
    {"soft spring", "[coordinates]\nx\n[bonds]\ns = x - 1 stiffness 9 soft\n[start]\nx = 3\n", "9",
     3, 3, 1e-9, 0, 0},
    {"overdamped soft spring", /* mu = -1, -4 */
     "[coordinates]\nx\n[bonds]\ns = x - 1 stiffness 4 damping 5 soft\n[start]\nx = 3\n", "9", 4, 4,
     1e-9, 0, 0},
    /* mu (mu^3 + mu^2 + 5 mu - 5): dgdot/dq couples x to y */
    {"damped soft spring that turns",
     "[coordinates]\nx, y\n[forces]\nx = y'\ny = -x'\n[bonds]\ns = sqrt(x^2 + y^2) - 1 stiffness 4 "
     "damping 1 soft\n[start]\nx = 1, y' = 5\n",
     "0.001", 2.5285578236149844, NAN, 0, 0, 0},
    {"damped", PLANE("x = -5*x'"), "9", 4, 4, 1e-9, 0, 0},
    {"charged particle", "[coordinates]\nx, y\n[forces]\nx = 7*y'\ny = -7*x'\n[start]\nx' = 1\n",
     "9", 7, 7, 1e-9, 0, 0},
    {"Foucault", PLANE("x = 3*y'\ny = -3*x'"), "9", 4, 4, 1e-9, 0, 0}, /* 3/2 + sqrt(9/4 + 4) */
    {"unstable", PLANE("x = 13*x"), "9", 3, 3, 1e-9, 0, 0},
    {"without reaction", PLANE("x = 3*y"), "9", 2, 2, 1e-6, 0, 0},
    {"driven", PLANE("x = 5 + cos(40*t)/100"), "9", 2, 40, 0.02, 0, 0},
    {"driven slowly", PLANE("x = cos(t)"), "9", 2, 2, 1e-9, 0, 0},
    {"moving support",
     "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + (y - sin(30*t)/10)^2) - 1 "
     "rigid\n[start]\ny = -1, y' = 3\n",
     "3", NAN, 30, 0.02, 0, 0},
    {"stiff potential", POTENTIAL("y = -1"), "9", 1, 1, 1e-4, 1e3, NAN},
    {"stiff potential, speed 3", POTENTIAL("y = -1, x' = 3"), "9", 3.1622776601683793, NAN, 0, 1e3,
     NAN},
    {"repeated springs", /* that depend on each other: as one */
     "[coordinates]\nx, y\n[potential]\ny\n[bonds]\na = sqrt(x^2 + y^2) - 1 stiffness 1e4\n"
     "b = 2*sqrt(x^2 + y^2) - 2 stiffness 1e4\n[start]\ny = -1\n",
     "9", 1, 1, 1e-6, 223.60679774997897, NAN},
};

static void test_closed_forms(void)
{
    check_group("closed forms");
    for (size_t k = 0; k < sizeof closed / sizeof closed[0]; k++) {
        char what[100];
        taut_system *system = NULL;
        taut_options *options = NULL;
        taut_error error = {0};
        taut_check_report r = {.size = sizeof r};
        int status = taut_system_parse(closed[k].text, strlen(closed[k].text), closed[k].name, NULL,
                                       &system, &error);
        if (status == 0)
            status = taut_options_create(NULL, &options, &error);
        if (status == 0)
            status = taut_options_set(options, "until", closed[k].until, &error);
        if (status == 0)
            status = taut_check(system, options, &r, &error);
        check_row(status == 0, "%s: %s", closed[k].name, error.message);
        const struct {
            const char *name;
            double value, expected, allowed;
        } rows[] = {
            {"initial rate", r.slow_rate_initial, closed[k].initial, 1e-6},
            {"rate", r.slow_rate, closed[k].rate, closed[k].loose},
            {"least frequency", r.frequency_least, closed[k].least, 1e-6},
            {"oscillatory energy", r.oscillatory_energy, closed[k].energy, 1e-5},
            {"separation", r.separation,
             closed[k].least > 0 ? closed[k].least / closed[k].rate : NAN, 2 * closed[k].loose},
        };
        for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++) {
            snprintf(what, sizeof what, "%s: %s", closed[k].name, rows[j].name);
            if (!isnan(rows[j].expected))
                check_near(what, rows[j].value, rows[j].expected,
                           rows[j].allowed * rows[j].expected + 1e-7 * (rows[j].expected == 0));
        }
        taut_options_destroy(options);
        taut_system_destroy(system);
    }
}

/* ---- products with second derivatives, in place of matrices of large systems */

static const struct {
    const char *name, *text;
} multiplied[] = {
    {"chain in a field with a force",
     "[parameters]\nN = 40\n[particles]\ndimension = 2\nbob[i] for i in 1..N mass 1\n"
     "[potential]\nsum(sin(bob[i].x)*bob[i].y^2 for i in 1..N) + bob[3].x^4\n"
     "[forces]\nbob[i].x = bob[i].y^3 for i in 1..N\nbob[2].y = bob[5].x*bob[2].x\n[bonds]\n"
     "link[1] = length(bob[1]) - 1\n"
     "link[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N stiffness 1e4\n"
     "far = length(bob[1] - bob[N]) - N + 1 stiffness 10\n"
     "[start]\nbob[i] = (i + 0.1*sin(i), 0.2*cos(i)) for i in 1..N\n"},
    {"angles in space",
     "[parameters]\nN = 12\n[particles]\ndimension = 3\np[i] for i in 1..N mass i\n[bonds]\n"
     "b[i] = length(p[i+1] - p[i]) - 1 for i in 1..N-1\n"
     "a[i] = dot(p[i+1] - p[i], p[i-1] - p[i]) + 0.5 for i in 2..N-1 stiffness 100\n"
     "[start]\np[i] = (i, sin(i), cos(2*i)) for i in 1..N\n"},
};

/* By the matrices and by taut_evaluate_product, A x is the same but for rounding. */
static void test_products(void)
{
    static const unsigned wants[] = {TAUT_WANT_FORCE_DQ, TAUT_WANT_BOND_HESSIAN};
    enum { MOST = 100 };
    check_group("products with second derivatives");
    for (size_t k = 0; k < 2 * sizeof multiplied / sizeof multiplied[0]; k++) {
        const char *name = multiplied[k / 2].name, *text = multiplied[k / 2].text;
        const unsigned want = wants[k % 2];
        double q[MOST], v[MOST], x[MOST], weight[MOST], matrix[MOST * MOST], by[MOST],
            product[MOST];
        double off = 0, largest = 0;
        taut_system *system = NULL;
        taut_context *context = NULL;
        taut_pattern pattern;
        taut_error error = {0};
        taut_values values = {.force_dq = matrix, .bond_hessian = matrix, .bond_weight = weight};
        int status = taut_system_parse(text, strlen(text), name, NULL, &system, &error);
        if (status == 0)
            status = taut_context_create(system, NULL, &context, &error);
        if (status == 0)
            status = taut_context_start(context, 0, q, v, &error);
        for (int i = 0; i < MOST; i++) {
            x[i] = sin(3.0 * i + 1);
            weight[i] = cos(2.0 * i);
        }
        if (status == 0)
            status = taut_system_pattern(system, TAUT_PATTERN_TANGENT, &pattern, &error);
        if (status == 0)
            status = taut_evaluate_inside(context, 0, q, v, want, &values, &error);
        if (status == 0)
            status = taut_evaluate_product(context, 0, q, v, want, x, weight, product, &error);
        if (status == 0) {
            taut_pattern_times(&pattern, matrix, x, by);
            off = taut_largest_difference(pattern.rows, by, product);
            largest = taut_largest(pattern.rows, by);
        }
        check_row(status == 0 && off <= 1e-14 * largest,
                  "%s, part %d: status %d %s, off by %.3g of %.3g", name, (int)(k % 2), status,
                  error.message, off, largest);
        if (k != 2) /* there are no forces */
            check_row(largest > 0.1, "%s, part %d: product %g", name, (int)(k % 2), largest);
        taut_context_destroy(context);
        taut_system_destroy(system);
    }
}

/* A chain of 49,999 links has its matrix, of 50,001 its products: rates and derivatives agree. */
static void test_large(void)
{
    static const char chain[] =
        "[parameters]\nN = 20\n[particles]\ndimension = 2\nbob[i] for i in 1..N mass 1\n"
        "[potential]\nsum(bob[i].y for i in 1..N)\n[bonds]\nlink[1] = length(bob[1]) - 1 "
        "stiffness 1e6\nlink[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N stiffness 1e6\n"
        "[start]\nbob[i] = (0.8*i, -0.6*i) for i in 1..N\n";
    static const char *const sizes[] = {"N=49999", "N=50001"};
    taut_check_report r[2];
    check_group("large systems");
    for (int k = 0; k < 2; k++) {
        const taut_load how = {.size = sizeof how, .set = &sizes[k], .set_count = 1};
        taut_system *system = NULL;
        taut_options *options = NULL;
        const taut_patterns *patterns = NULL;
        taut_error error = {0};
        r[k] = (taut_check_report){.size = sizeof r[k]};
        int status = taut_system_parse(chain, strlen(chain), "chain", &how, &system, &error);
        if (status == 0)
            status = taut_options_create(NULL, &options, &error);
        if (status == 0)
            status = taut_options_set(options, "until", "9", &error);
        if (status == 0)
            status = taut_check(system, options, &r[k], &error);
        patterns = system ? taut_system_patterns(system) : NULL;
        check_row(status == 0, "%s: %s", sizes[k], error.message);
        check_row(patterns && !patterns->tangent.start == (k == 1),
                  "%s: the pattern of second derivatives is %s", sizes[k],
                  patterns && patterns->tangent.start ? "formed" : "not formed");
        taut_options_destroy(options);
        taut_system_destroy(system);
    }
    check_near("initial rate", r[1].slow_rate_initial, r[0].slow_rate_initial,
               1e-3 * r[0].slow_rate_initial);
    check_near("rate", r[1].slow_rate, r[0].slow_rate, 1e-3 * r[0].slow_rate);
    check_row(r[0].slow_rate > 0.1, "rate %g", r[0].slow_rate);
}

int main(void)
{
    test_products();
    test_large();
    test_closed_forms();
    test_failures();
    test_once();
    return check_done();
}
