/* test_redundant.c - rigid bonds that follow from others: the motion is that without them, the
 * multipliers are those of least norm; bonds that contradict each other, and singular
 * configurations.
 *
 * References share nothing with the library: one degree of freedom for the linkages (the pendulum,
 * Bennett's relation between the angles), Euler's equations for the rigid body, elliptic integrals
 * for the times of singular configurations. Multipliers are tested by what defines them: G^T lambda
 * is the force that the accelerations of the reference need, and lambda is orthogonal to the null
 * space of G^T, which elimination finds. */
#include "support/run.h"

#include <math.h>

enum { MOST = 18, BONDS = 15 };

/* ---- a reference: y' = rate(y), by Runge-Kutta */

typedef void rate_function(const double *y, double *dy);

static void march(int size, rate_function *rate, double t, int steps, double *y)
{
    double k[4][MOST], x[MOST], h = t / steps;
    static const double part[4] = {0, 0.5, 0.5, 1};
    for (int j = 0; j < steps; j++) {
        for (int s = 0; s < 4; s++) {
            for (int i = 0; i < size; i++)
                x[i] = y[i] + (s ? h * part[s] * k[s - 1][i] : 0);
            rate(x, k[s]);
        }
        for (int i = 0; i < size; i++)
            y[i] += h * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]) / 6;
    }
}

/* Every particle of the parallelogram is a pendulum of length 1, y = (angle, rate). */
static void pendulum_rate(const double *y, double *dy)
{
    dy[0] = y[1];
    dy[1] = -cos(y[0]);
}

static void parallelogram(double t, double *q, double *a)
{
    static const double pivot[3][2] = {{0, 0}, {1.5, 0}, {0.5, 0.75}};
    double y[2] = {-acos(-1) / 2, 2.2}, dy[2];
    march(2, pendulum_rate, t, 4000, y);
    pendulum_rate(y, dy);
    for (int i = 0; i < 3; i++) {
        q[2 * i] = pivot[i][0] + cos(y[0]);
        q[2 * i + 1] = pivot[i][1] + sin(y[0]);
        a[2 * i] = -cos(y[0]) * y[1] * y[1] - sin(y[0]) * dy[1];
        a[2 * i + 1] = -sin(y[0]) * y[1] * y[1] + cos(y[0]) * dy[1];
    }
}

/* Euler's equations: the columns e_i of the rotation, then the angular velocity along them. */
static void body_rate(const double *y, double *dy)
{
    static const double inertia[3] = {10, 8, 6}; /* 2 (m_j + m_k) */
    const double *w = y + 9;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        for (int c = 0; c < 3; c++) /* e_i' = w x e_i = w_k e_j - w_j e_k */
            dy[3 * i + c] = w[k] * y[3 * j + c] - w[j] * y[3 * k + c];
        dy[9 + i] = (inertia[j] - inertia[k]) * w[j] * w[k] / inertia[i];
    }
}

static void tensegrity(double t, double *q, double *a)
{
    double y[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0.05, 3, 0.02}, first[12], second[12], h = 1e-4;
    march(12, body_rate, t, 6000, y);
    memcpy(first, y, sizeof y);
    memcpy(second, y, sizeof y);
    march(12, body_rate, h, 1, first);
    march(12, body_rate, -h, 1, second);
    for (int i = 0; i < 3; i++)
        for (int s = 0; s < 2; s++)
            for (int c = 0; c < 3; c++) {
                int at = 6 * i + 3 * s + c, e = 3 * i + c;
                double side = s ? 1 : -1;
                q[at] = side * y[e] + (c == 0 ? 2 * t : c == 2 ? 15 * t - 9.81 * t * t / 2 : 0);
                a[at] = side * (first[e] - 2 * y[e] + second[e]) / (h * h) - (c == 2 ? 9.81 : 0);
            }
}

/* Bennett's linkage at the crank angle theta: both ends of the axles p and q. */
static void bennett_at(double theta, double *q)
{
    const double alpha = acos(-1) / 6, beta = acos(-1) / 3, b = sin(beta) / sin(alpha), w = 0.5;
    double ratio = sin((beta + alpha) / 2) / sin((beta - alpha) / 2);
    double phi = 2 * atan2(ratio * cos(theta / 2), sin(theta / 2));
    double ex[3] = {cos(theta), sin(theta), 0};
    double ez[3] = {sin(alpha) * sin(theta), -sin(alpha) * cos(theta), cos(alpha)}, ey[3];
    for (int c = 0; c < 3; c++)
        ey[c] = ez[(c + 1) % 3] * ex[(c + 2) % 3] - ez[(c + 2) % 3] * ex[(c + 1) % 3];
    for (int c = 0; c < 3; c++) {
        double fx = cos(phi) * ex[c] + sin(phi) * ey[c],
               fz = cos(beta) * ez[c] + sin(beta) * (sin(phi) * ex[c] - cos(phi) * ey[c]);
        q[c] = ex[c];
        q[3 + c] = ex[c] + w * ez[c];
        q[6 + c] = ex[c] + b * fx;
        q[9 + c] = ex[c] + b * fx + w * fz;
    }
}

/* d/dtheta and d^2/dtheta^2 of it, by differences of order 6. */
static void bennett_slopes(double theta, double *first, double *second)
{
    static const double one[3] = {45. / 60, -9. / 60, 1. / 60},
                        two[3] = {270. / 180, -27. / 180, 2. / 180};
    const double h = 4e-3;
    double x[12], y[12];
    bennett_at(theta, x);
    for (int i = 0; i < 12; i++) {
        first[i] = 0;
        second[i] = -490. / 180 * x[i] / (h * h);
    }
    for (int k = 1; k <= 3; k++) {
        bennett_at(theta + k * h, x);
        bennett_at(theta - k * h, y);
        for (int i = 0; i < 12; i++) {
            first[i] += one[k - 1] * (x[i] - y[i]) / h;
            second[i] += two[k - 1] * (x[i] + y[i]) / (h * h);
        }
    }
}

/* Lagrange's equation of one degree of freedom: masses 1, gravity 1 along z. */
static void bennett_rate(const double *y, double *dy)
{
    double first[12], second[12], inertia = 0, force = 0;
    bennett_slopes(y[0], first, second);
    for (int i = 0; i < 12; i++) {
        inertia += first[i] * first[i];
        force -= first[i] * second[i] * y[1] * y[1] + (i % 3 == 2 ? first[i] : 0);
    }
    dy[0] = y[1];
    dy[1] = force / inertia;
}

static void bennett(double t, double *q, double *a)
{
    double y[2] = {2, 1}, dy[2], first[12], second[12];
    march(2, bennett_rate, t, 4000, y);
    bennett_rate(y, dy);
    bennett_at(y[0], q);
    bennett_slopes(y[0], first, second);
    for (int i = 0; i < 12; i++)
        a[i] = second[i] * y[1] * y[1] + first[i] * dy[1];
}

/* ---- multipliers by their definition */

/* Largest part of G^T lambda - (f - M a), and of lambda in the null space of G^T, both relative to
 * the largest multiplier; by Gauss-Jordan elimination of G^T. */
static int orthogonal_part(int n, int m, double g[MOST][BONDS], const double *lambda, double *part)
{
    int pivot[BONDS], rank = 0;
    bool is_pivot[BONDS] = {false};
    for (int c = 0; c < m && rank < n; c++) {
        int best = rank;
        for (int r = rank; r < n; r++)
            best = fabs(g[r][c]) > fabs(g[best][c]) ? r : best;
        if (fabs(g[best][c]) < 1e-5)
            continue;
        for (int k = 0; k < m; k++) {
            double keep = g[best][k];
            g[best][k] = g[rank][k];
            g[rank][k] = keep;
        }
        for (int r = 0; r < n; r++) {
            double factor = g[r][c] / g[rank][c];
            for (int k = 0; r != rank && k < m; k++)
                g[r][k] -= factor * g[rank][k];
        }
        is_pivot[c] = true;
        pivot[rank++] = c;
    }
    *part = 0;
    for (int c = 0; c < m; c++) {
        double sum = lambda[c], size = 1;
        for (int r = 0; r < rank && !is_pivot[c]; r++) {
            double z = -g[r][c] / g[r][pivot[r]];
            sum += z * lambda[pivot[r]];
            size = hypot(size, z);
        }
        if (!is_pivot[c])
            *part = fmax(*part, fabs(sum) / size);
    }
    return rank;
}

static void check_multipliers(const char *what, taut_system *system, double t, const double *q,
                              const double *a, const double *lambda, int rank, double allowed)
{
    double g[MOST][BONDS] = {{0}}, jacobian[200], force[MOST], mass[MOST], bond_dt[BONDS], most = 0,
           off = 0, part;
    taut_sizes z = {.size = sizeof z};
    taut_context *context = NULL;
    taut_pattern p;
    taut_values values = {.size = sizeof values,
                          .jacobian = jacobian,
                          .bond_dt = bond_dt,
                          .force = force,
                          .mass = mass};
    taut_system_sizes_get(system, &z, NULL);
    taut_system_pattern_get(system, TAUT_PATTERN_JACOBIAN, &p, NULL);
    if (!check_row(taut_context_create(system, NULL, &context, NULL) == 0 &&
                       taut_evaluate(context, t, q, NULL,
                                     TAUT_WANT_JACOBIAN | TAUT_WANT_FORCE | TAUT_WANT_MASS, &values,
                                     NULL) == 0,
                   "%s: G", what))
        return;
    for (taut_index i = 0; i < z.bonds; i++)
        for (taut_index k = p.start[i]; k < p.start[i + 1]; k++)
            g[p.column[k]][i] += jacobian[k];
    for (taut_index i = 0; i < z.bonds; i++)
        most = fmax(most, fabs(lambda[i]));
    for (taut_index j = 0; j < z.coordinates; j++) {
        double sum = mass[j] * a[j] - force[j];
        for (taut_index i = 0; i < z.bonds; i++)
            sum += g[j][i] * lambda[i];
        off = fmax(off, fabs(sum) / most);
    }
    check_below("force of the multipliers", off, allowed);
    check_equal("rank", orthogonal_part(z.coordinates, z.bonds, g, lambda, &part), rank);
    check_below("not of least norm", part / most, 1e-8);
    taut_context_destroy(context);
}

static const struct {
    const char *name, *notice;
    void (*at)(double t, double *q, double *a);
    double t;
    int n, rank;
} linkages[] = {
    {"parallelogram", "rank 5 of 6", parallelogram, 20, 6, 5},
    {"tensegrity", "rank 12 of 15", tensegrity, 3, 18, 12},
    {"bennett", "rank 11 of 14", bennett, 20, 12, 11},
};

static const struct {
    const char *options;
    double allowed;
} ways[] = {
    {"", 1e-4},
    {"rtol=1e-10", 2e-7},
    {"motion=rigid method=radau9 rtol=1e-8", 1e-5},
    {"motion=full method=dopri5 rtol=1e-8", 1e-5},
    {"motion=slow", 1e-3},
    {"motion=rigid method=rattle step=0.002", 3e-3},
    {"motion=rigid method=rk4 step=0.01", 3e-5},
};

static void test_linkages(void)
{
    check_group("linkages with redundant bonds");
    for (size_t k = 0; k < sizeof linkages / sizeof *linkages; k++)
        for (size_t j = 0; j < sizeof ways / sizeof *ways; j++) {
            char path[300], what[200], options[200];
            double q[MOST], a[MOST], off = 0, t = j < 2 ? linkages[k].t : linkages[k].t / 4;
            const char *source = getenv("TAUT_SOURCE");
            driven d = {.code = 0};
            snprintf(path, sizeof path, "%s/models/%s.taut", source ? source : ".",
                     linkages[k].name);
            snprintf(what, sizeof what, "%s, %s", linkages[k].name, ways[j].options);
            snprintf(options, sizeof options, "%s until=%g", ways[j].options, t);
            taut_load how = {.size = sizeof how};
            d.code = taut_system_load(path, &how, &d.system, &d.error);
            if (d.code == 0)
                d.code = taut_options_create(NULL, &d.options, &d.error);
            if (d.code == 0) {
                driven_options(&d, options);
                d.code = taut_solver_create(d.system, d.options, NULL, &d.solver, &d.error);
            }
            if (d.code == 0)
                d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            if (driven_good(what, &d)) {
                linkages[k].at(t, q, a);
                for (int i = 0; i < linkages[k].n; i++)
                    off = fmax(off, fabs(taut_solver_position(d.solver)[i] - q[i]));
                check_below(what, off, ways[j].allowed);
                check_contains(what, taut_solver_notice(d.solver, 0), linkages[k].notice);
                check_multipliers(what, d.system, t, taut_solver_position(d.solver), a,
                                  taut_solver_multipliers(d.solver), linkages[k].rank,
                                  100 * ways[j].allowed);
            }
            driven_destroy(&d);
        }
}

/* ---- a bond stated twice */

#define TWICE(more)                                                                                \
    "[coordinates]\nx, y, u, w\n[potential]\ny + w\n[bonds]\nrod = sqrt(x^2 + y^2) - 1\n" more     \
    "spring = sqrt((x - u)^2 + (y - w)^2) - 1 stiffness 1e4\n[start]\nx = 1, u = 2\n"              \
    "[events]\npull = lambda(rod) - %s rising stop\n"

static const char *const motions[] = {"motion=full",
                                      "motion=slow method=dop8",
                                      "motion=rigid",
                                      "motion=effective",
                                      "motion=rigid method=rattle step=0.01",
                                      "motion=rigid method=radau5"};

/* copy is twice the other to first order: lambda + 2 copy = that without copy, of least norm 1 : 2.
 */
static void test_twice(void)
{
    char one[500], two[500];
    check_group("a bond stated twice");
    snprintf(one, sizeof one, TWICE(""), "2.5");
    snprintf(two, sizeof two, TWICE("copy = x^2 + y^2 - 1\n"), "0.5");
    for (size_t k = 0; k < sizeof motions / sizeof *motions; k++) {
        char options[120];
        snprintf(options, sizeof options, "%s until=1", motions[k]);
        driven a = driven_create(one, options, NULL), b = driven_create(two, options, NULL);
        if (driven_good(motions[k], &a) && driven_good(motions[k], &b)) {
            bool good = taut_solver_advance(a.solver, 1, &a.error) == 0 &&
                        taut_solver_advance(b.solver, 1, &b.error) == 0;
            check_row(good, "%s: %s%s", motions[k], a.error.message, b.error.message);
            const double *l1 = taut_solver_multipliers(a.solver),
                         *l2 = taut_solver_multipliers(b.solver);
            for (int i = 0; i < 4; i++)
                check_near(motions[k], taut_solver_position(b.solver)[i],
                           taut_solver_position(a.solver)[i], 1e-9);
            check_near("lambda", l2[0] + 2 * l2[1], l1[0], 1e-6);
            check_near("least norm", l2[1], 2 * l2[0], 1e-9);
            check_near("of the spring", l2[2], l1[1], 1e-5);
            check_contains(motions[k], taut_solver_notice(b.solver, 0), "copy follows from");
            check_row(!taut_solver_notice(a.solver, 0), "%s: a notice", motions[k]);
        }
        driven_destroy(&a);
        driven_destroy(&b);
    }
}

/* Events see the multipliers of all bonds: a fifth of what one alone would have. */
static void test_event(void)
{
    char one[500], two[500];
    check_group("events");
    snprintf(one, sizeof one, TWICE(""), "2.5");
    snprintf(two, sizeof two, TWICE("copy = x^2 + y^2 - 1\n"), "0.5");
    driven a = driven_create(one, "motion=rigid until=9", NULL),
           b = driven_create(two, "motion=rigid until=9", NULL);
    if (driven_good("one", &a) && driven_good("two", &b)) {
        check_equal("one", taut_solver_run(a.solver, NULL, 0, NULL, NULL, &a.error), TAUT_EVENT);
        check_equal("two", taut_solver_run(b.solver, NULL, 0, NULL, NULL, &b.error), TAUT_EVENT);
        check_near("time", taut_solver_time(b.solver), taut_solver_time(a.solver), 1e-5);
    }
    driven_destroy(&a);
    driven_destroy(&b);
}

/* ---- refusals */

#define PARTICLES "[particles]\ndimension = 2\np[i] for i in 1..2 mass 1\n[bonds]\n"

static const struct {
    const char *what, *model;
    int code;
    const char *says[2];
} refusals[] = {
    {"two lengths",
     "[coordinates]\nx, y\n[bonds]\nfirst = sqrt(x^2 + y^2) - 1\nsecond = sqrt(x^2 + y^2) - "
     "1.001\n[start]\nx = 1\n",
     TAUT_ERROR_CONVERGE,
     {"'second' contradicts others such as 'first'", "violates it by 0.0005"}},
    {"a triangle that is too long",
     PARTICLES "a = length(p[1]) - 1\nb = length(p[2]) - 1\nlong = length(p[2] - p[1]) - 2.5\n"
               "[start]\np[1] = (1, 0.1), p[2] = (-1, 0.1)\n",
     TAUT_ERROR_CONVERGE,
     {"'long' contradicts", "cannot hold together"}},
    {"a parallelogram that begins in line",
     PARTICLES "a = length(p[1]) - 1\nb = length(p[2] - (2, 0)) - 1\nside = length(p[2] - p[1]) - "
               "2\n[start]\np[1] = (1, 0), p[2] = (3, 0)\np[1]' = (0, 1), p[2]' = (0, 1)\n",
     TAUT_ERROR_SINGULAR,
     {"singular configuration", "'side' depends on those of others"}},
    {"a square",
     "[coordinates]\nx, y\n[bonds]\nflat = (x - y)^2\n[start]\nx = 1, y = 1\n",
     TAUT_ERROR_SINGULAR,
     {"'flat' vanishes", "another form"}},
};

static void test_refusals(void)
{
    check_group("refusals");
    for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
        driven d = driven_create(refusals[k].model, "until=1", NULL);
        check_equal(refusals[k].what, d.code, refusals[k].code);
        for (int j = 0; j < 2; j++)
            check_contains(refusals[k].what, d.error.message, refusals[k].says[j]);
        driven_destroy(&d);
    }
}

/* ---- singular configurations on the way */

static double integral(double (*f)(double), double from, double to)
{
    enum { PARTS = 2000 };
    double h = (to - from) / PARTS, sum = 0;
    for (int k = 0; k < PARTS; k++) /* Simpson's rule */
        sum += h / 6 * (f(from + k * h) + 4 * f(from + (k + 0.5) * h) + f(from + (k + 1) * h));
    return sum;
}

static double slowness(double x) /* of the parallelogram, angle'^2 = 9 - 2 (1 + sin(angle)) */
{
    return 1 / sqrt(7 - 2 * sin(x));
}

static double slider(double x) /* of the slider crank, angle'^2 (1 + 4 sin(angle)^2) = 1 */
{
    return sqrt(1 + 4 * sin(x) * sin(x));
}

static void test_passages(void)
{
    const double right = acos(-1) / 2;
    const struct {
        const char *what, *model;
        double until, t; /* NaN: no singular configuration */
    } rows[] = {
        {"a parallelogram through its flat position",
         PARTICLES "a = length(p[1]) - 1\nb = length(p[2] - (1.5, 0)) - 1\nside = length(p[2] - "
                   "p[1]) - 1.5\n[potential]\np[1].y + p[2].y\n[start]\np[1] = (0, -1), p[2] = "
                   "(1.5, -1)\np[1]' = (3, 0), p[2]' = (3, 0)\n",
         1, integral(slowness, -right, 0)},
        {"a slider crank at its dead centre",
         "[coordinates]\nx, y, s\n[bonds]\ncrank = sqrt(x^2 + y^2) - 1\nrod = sqrt((s - x)^2 + "
         "y^2) - 1\n[start]\nx = 1, s = 2, y' = 1\n",
         3, integral(slider, 0, right)},
        {"a longer rod has none",
         "[coordinates]\nx, y, s\n[bonds]\ncrank = sqrt(x^2 + y^2) - 1\nrod = sqrt((s - x)^2 + "
         "y^2) - 1.05\n[start]\nx = 1, s = 2.05, y' = 1\n",
         3, NAN},
    };
    static const char *const methods[] = {"", "method=dopri5", "method=radau5", "rtol=1e-8"};
    check_group("singular configurations on the way");
    for (size_t k = 0; k < 3; k++)
        for (size_t j = 0; j < 4; j++) {
            char options[100];
            snprintf(options, sizeof options, "motion=rigid until=%g %s", rows[k].until,
                     methods[j]);
            driven d = driven_create(rows[k].model, options, NULL);
            if (d.code == 0)
                d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            if (driven_good(rows[k].what, &d)) {
                const char *notice = taut_solver_notice(d.solver, 0);
                const char *at = notice ? strstr(notice, "t = ") : NULL;
                check_row((at == NULL) == (isnan(rows[k].t) != 0), "%s, %s: %s", rows[k].what,
                          methods[j], notice ? notice : "no notice");
                if (at && !isnan(rows[k].t))
                    check_near(rows[k].what, strtod(at + 4, NULL), rows[k].t, 1e-4);
            }
            driven_destroy(&d);
        }
}

int main(void)
{
    test_linkages();
    test_twice();
    test_event();
    test_refusals();
    test_passages();
    return check_done();
}
