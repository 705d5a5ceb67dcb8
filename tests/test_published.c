/* test_published.c - shipped models against numbers that others printed or that were computed in
 * 30 digits elsewhere: the model, its initial state and its derivatives together. The integrator is
 * a Runge-Kutta method of order 4 written out here, on q'' with springs as they are and rigid bonds
 * in index-1 form,
 *
 *     A lambda = G M^-1 f + gamma,   A = G M^-1 G^T,   M v' = f - G^T lambda. */
#include "support/table.h"
#include <taut/taut.h>

#ifndef TAUT_SOURCE_DIR
#define TAUT_SOURCE_DIR "."
#endif

enum { MOST = 16 };

typedef struct motion {
    taut_system *system;
    taut_context *context;
    taut_sizes sizes;
    taut_pattern pattern;
    taut_error error;
    int status;
    double lambda[MOST];
} motion;

static bool open_motion(motion *m, const char *name, const char *set)
{
    char path[1024];
    *m = (motion){0};
    snprintf(path, sizeof path, TAUT_SOURCE_DIR "/models/%s.taut", name);
    taut_load how = {.size = sizeof how, .set = &set, .set_count = *set != 0};
    m->status = taut_system_load(path, &how, &m->system, &m->error);
    if (m->status == 0)
        m->status = taut_context_create(m->system, NULL, &m->context, &m->error);
    if (m->status == 0) {
        m->status =
            taut_system_pattern_get(m->system, TAUT_PATTERN_JACOBIAN, &m->pattern, &m->error);
    }
    if (m->status == 0) {
        taut_sizes_init(&m->sizes);
        taut_system_sizes_get(m->system, &m->sizes, NULL);
    }
    return check_row(m->status == 0 && m->sizes.coordinates <= MOST && m->sizes.bonds <= MOST,
                     "%s: %s", name, m->error.message);
}

static void close_motion(motion *m)
{
    check_row(m->status == 0, "evaluation: %s", m->error.message);
    taut_context_destroy(m->context);
    taut_system_destroy(m->system);
}

/* Gauss elimination with row exchanges; a is destroyed. */
static void solve(int n, double a[MOST][MOST], double *b)
{
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            pivot = fabs(a[i][k]) > fabs(a[pivot][k]) ? i : pivot;
        for (int j = 0; j < n; j++) {
            double swap = a[k][j];
            a[k][j] = a[pivot][j];
            a[pivot][j] = swap;
        }
        double swap = b[k];
        b[k] = b[pivot];
        b[pivot] = swap;
        for (int i = k + 1; i < n; i++) {
            double factor = a[i][k] / a[k][k];
            for (int j = k; j < n; j++)
                a[i][j] -= factor * a[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            b[k] -= a[k][j] * b[j];
        b[k] /= a[k][k];
    }
}

/* Multipliers of bonds that are all springs or all rigid. */
static void multipliers(motion *m, const double *f, const double *g, const double *gamma,
                        double dense[MOST][MOST])
{
    const double *c = taut_context_compliance(m->context), *mass = taut_context_mass(m->context);
    int rows = (int)m->sizes.bonds, n = (int)m->sizes.coordinates;
    if (rows == 0 || c[0] > 0) {
        for (int i = 0; i < rows; i++)
            m->lambda[i] = g[i] / c[i];
        return;
    }
    double a[MOST][MOST];
    for (int i = 0; i < rows; i++) {
        m->lambda[i] = gamma[i];
        for (int k = 0; k < n; k++)
            m->lambda[i] += dense[i][k] * f[k] / mass[k];
        for (int j = 0; j < rows; j++) {
            a[i][j] = 0;
            for (int k = 0; k < n; k++)
                a[i][j] += dense[i][k] * dense[j][k] / mass[k];
        }
    }
    solve(rows, a, m->lambda);
}

/* z = (q, v) for mechanical systems, z for first-order ones. */
static void rate(motion *m, double t, const double *z, double *dz)
{
    int n = (int)m->sizes.coordinates;
    double f[MOST], g[MOST], gt[MOST], gamma[MOST], entry[MOST * MOST], dense[MOST][MOST] = {{0}};
    taut_values values = {.size = sizeof values,
                          .force = f,
                          .bond = g,
                          .jacobian = entry,
                          .bond_dt = gt,
                          .gamma = gamma};
    if (m->sizes.kind != TAUT_MECHANICAL) {
        values.force = dz;
        m->status |= taut_evaluate(m->context, t, z, NULL, TAUT_WANT_FORCE, &values, &m->error);
        return;
    }
    m->status |=
        taut_evaluate(m->context, t, z, z + n,
                      TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA,
                      &values, &m->error);
    for (taut_index i = 0; i < m->sizes.bonds; i++)
        for (taut_index k = m->pattern.start[i]; k < m->pattern.start[i + 1]; k++)
            dense[i][m->pattern.column[k]] += entry[k];
    multipliers(m, f, g, gamma, dense);
    const double *mass = taut_context_mass(m->context);
    for (int k = 0; k < n; k++) {
        dz[k] = z[n + k];
        for (taut_index i = 0; i < m->sizes.bonds; i++)
            f[k] -= dense[i][k] * m->lambda[i];
        dz[n + k] = f[k] / mass[k];
    }
}

static void runge_kutta(motion *m, double from, double until, int steps, double *z)
{
    static const double node[4] = {0, 0.5, 0.5, 1}, weight[4] = {1 / 6., 1 / 3., 1 / 3., 1 / 6.};
    int size = (int)m->sizes.coordinates * (m->sizes.kind == TAUT_MECHANICAL ? 2 : 1);
    double h = (until - from) / steps;
    for (int s = 0; s < steps && m->status == 0; s++) {
        double k[2 * MOST] = {0}, y[2 * MOST], next[2 * MOST];
        memcpy(next, z, sizeof(double) * (size_t)size);
        for (int stage = 0; stage < 4; stage++) {
            for (int i = 0; i < size; i++)
                y[i] = z[i] + h * node[stage] * k[i];
            rate(m, from + (s + node[stage]) * h, y, k);
            for (int i = 0; i < size; i++)
                next[i] += h * weight[stage] * k[i];
        }
        memcpy(z, next, sizeof(double) * (size_t)size);
    }
}

static void start(motion *m, double *z)
{
    if (m->status == 0)
        m->status = taut_context_start(m->context, 0, z, z + m->sizes.coordinates, &m->error);
}

static void compare(const char *what, const double *z, const double *expected, int n,
                    double tolerance)
{
    for (int k = 0; k < n; k++) {
        char label[64];
        snprintf(label, sizeof label, "%s [%d]", what, k);
        check_near(label, z[k], expected[k], tolerance);
    }
}

/* Smooth solutions of the spring pendulum at t = 1 and of the rigid one: 20-digit references;
 * (y1, y2, y1', y2'). */
static void check_pendulum(void)
{
    static const struct {
        const char *set;
        int steps;
        double expected[4];
    } rows[] = {
        {"eps=0",
         2000,
         {.87954813241188915462, -.47580992294272079709, -.46415735885099401163,
          -.85800803732244324777}},
        {"eps=1e-2",
         20000,
         {.87970203199139791222, -.47582533536318366512, -.46383765207953452227,
          -.85808022829804784066}},
        {"eps=1e-3",
         40000,
         {.87954967191107640328, -.47581007712483674084, -.46415416102466678896,
          -.85800875957677562822}},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        motion m;
        double z[2 * MOST];
        if (open_motion(&m, "pendulum", rows[k].set)) {
            start(&m, z);
            runge_kutta(&m, 0, 1, rows[k].steps, z);
            compare(rows[k].set, z, rows[k].expected, 4, 1e-11);
        }
        if (k == 0)
            check_near("tension at t = 1 (rigid)", m.lambda[0], 1.427429768828162, 1e-6);
        close_motion(&m);
    }
}

/* From the exact slow point over (31)-(32) of Ariel, Sanz-Serna, Tsai at omega = 1000 to t = 10:
 * 17-digit reference. */
static void check_double_pendulum(void)
{
    static const double expected[8] = {
        0.99934340676157869, -0.03622915908201496, 0.66151150110952525,  0.90497759592155011,
        0.00109905864343522, 0.03032224325356639,  -0.67391036767002129, -0.21196201577063433};
    double z[2 * MOST] = {1.000001500045071096781, 0, 2.000002750073263937993, 0, 0, -0.5, 0, 0.5};
    motion m;
    if (open_motion(&m, "double_pendulum", "omega=1000")) {
        runge_kutta(&m, 0, 10, 100000, z);
        compare("double pendulum", z, expected, 8, 1e-8);
    }
    close_motion(&m);
}

/* Multipliers of the rigid double pendulum at (31)-(32) are 3/2 and 5/4; the springs carry them
 * at the slow point. */
static void check_multipliers(void)
{
    double z[2 * MOST] = {1.000001500045071096781, 0, 2.000002750073263937993, 0, 0, -0.5, 0, 0.5},
                 dz[2 * MOST];
    motion m;
    if (open_motion(&m, "double_pendulum", "omega=1000")) {
        rate(&m, 0, z, dz);
        check_near("lambda inner", m.lambda[0], 1.5, 1e-4);
        check_near("lambda outer", m.lambda[1], 1.25, 1e-4);
    }
    close_motion(&m);
}

/* Ascher, Qin, Reich, example 4, at t = 1; lambda of the paper from ours: -mu1, mu2, mu2 + mu3. */
static void check_slider_crank(void)
{
    static const double expected[5] = {-1.061270282397952442, 2.401214566116768558,
                                       -0.2909919279848426683, -0.2952634692628417145,
                                       -1.074141060176316047};
    double z[2 * MOST], dz[2 * MOST];
    motion m;
    if (open_motion(&m, "slider_crank", "")) {
        start(&m, z);
        runge_kutta(&m, 0, 1, 2000, z);
        compare("slider crank", z, expected, 5, 1e-11);
        rate(&m, 1, z, dz);
        double lambda[3] = {0}, outputs[4] = {0};
        m.status |= taut_evaluate_outputs(m.context, 1, z, z + 4, m.lambda, outputs, &m.error);
        memcpy(lambda, outputs + 1, sizeof lambda);
        static const double paper[3] = {-0.3730378631064774131, 3.431444380758191872,
                                        -6.723523373744880700};
        compare("lambda of the paper", lambda, paper, 3, 1e-10);
    }
    close_motion(&m);
}

/* Gear, Kaper, Kevrekidis, Zagaris, Table 3: concentrations at t = 1.2764e-3, which the
 * reference reaches to 3e-5. */
static void check_hydrogen_oxygen(void)
{
    static const double table[7] = {4.2783465727e-13, 3.9878034748e-8, 1.3883748623e-10,
                                    1.1300067412e-11, 4.4019256520e-7, 3.9848995981e-8,
                                    5.3981503775e-15};
    double z[2 * MOST];
    motion m;
    if (open_motion(&m, "hydrogen_oxygen", "")) {
        start(&m, z);
        runge_kutta(&m, 0, 1.2764e-3, 12764, z);
        for (int k = 0; k < 7; k++) {
            char name[16];
            taut_system_name(m.system, TAUT_COORDINATE, k, name, sizeof name);
            check_near(name, z[k] / table[k], 1, 1e-4);
        }
    }
    close_motion(&m);
}

/* Kepler: after one period of 2 pi back at the initial state. */
static void check_kepler(void)
{
    double z[2 * MOST], first[2 * MOST];
    motion m;
    if (open_motion(&m, "kepler", "")) {
        start(&m, z);
        memcpy(first, z, sizeof z);
        runge_kutta(&m, 0, 8 * atan(1.), 20000, z);
        compare("kepler", z, first, 4, 1e-10);
    }
    close_motion(&m);
}

/* Five dimensions: at the printed point of the slow manifold the fast rates vanish and the slow
 * ones are the rotation. */
static void check_five_dimensions(void)
{
    const double w = 19.2202825996428754,
                 slow[5] = {-3.559434800714249, -2.559434800714249, w, -800, -1200};
    double y[5], rates[5], outputs[3] = {0}, total = 0;
    motion m;
    for (int k = 0; k < 5; k++)
        total += slow[k];
    for (int k = 0; k < 5; k++)
        y[k] = 0.4 * total - slow[k];
    check_near("y1 observed", y[0], -791.2, 1e-11);
    check_near("y2 observed", y[1], -792.2, 1e-11);
    if (open_motion(&m, "five_dimensions", "")) {
        rate(&m, 0, y, rates);
        total = 0.4 * (slow[0] - slow[1]);
        const double expected[5] = {total + slow[1], total - slow[0], total, total, total};
        compare("rates on the slow manifold", rates, expected, 5, 1e-6);
        m.status |= taut_evaluate_outputs(m.context, 0, y, NULL, NULL, outputs, &m.error);
        compare("mixed back", outputs, slow, 3, 1e-11);
    }
    close_motion(&m);
}

/* Michaelis-Menten: on the slow manifold at x = 1 the two printed values of y; a long approach
 * from above ends there. */
static void check_michaelis_menten(void)
{
    static const struct {
        const char *set;
        double y;
    } rows[] = {{"eps=0.1", 0.503031511623918}, {"eps=0.01", 0.500311527808143}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        motion m;
        if (open_motion(&m, "michaelis_menten", rows[k].set)) {
            /* from x = 8 the fast part has died long before x = 1; the last step ends at x = 1
             * by linear interpolation of small steps */
            double z[2 * MOST] = {8, 8 / 9.}, before[2] = {8, 8 / 9.};
            for (int s = 0; z[0] > 1 && s < 10000000 && m.status == 0; s++) {
                memcpy(before, z, sizeof before);
                runge_kutta(&m, 0, 2e-4, 1, z);
            }
            double part = (before[0] - 1) / (before[0] - z[0]);
            check_near(rows[k].set, before[1] + part * (z[1] - before[1]), rows[k].y, 1e-9);
        }
        close_motion(&m);
    }
}

int main(void)
{
    check_group("pendulum");
    check_pendulum();
    check_group("double pendulum");
    check_double_pendulum();
    check_multipliers();
    check_group("slider crank");
    check_slider_crank();
    check_group("hydrogen and oxygen");
    check_hydrogen_oxygen();
    check_group("kepler");
    check_kepler();
    check_group("five dimensions");
    check_five_dimensions();
    check_group("Michaelis-Menten");
    check_michaelis_menten();
    return check_done();
}
