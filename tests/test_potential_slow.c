/* test_potential_slow.c - foot points and slow points of stiff potentials, against closed forms,
 * docs/sources.md, and the same models with bonds. */
#include <math.h>
#include <stdlib.h>
#include <taut/taut.h>

#include "support/project.h"

static projected project(const char *model, const char *options)
{
    return project_model(model, NULL, options);
}

/* The double pendulum of A 5.1, each link as a bond (b), damped (d) or rigid (r), or as part of
 * the stiff potential (p), the outer one `ratio` times as stiff. */
static void pendulum_text(char *text, size_t size, const char *kinds, double omega, double ratio,
                          const char *start, const char *more)
{
    static const char *const name[] = {"inner", "outer"};
    int used =
        snprintf(text, size,
                 "[coordinates]\nx1, y1, x2, y2\n[definitions]\ninner = sqrt(x1^2 + y1^2) - 1\n"
                 "outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1\n%s[start]\n%s\n",
                 more, start);
    for (int k = 0; k < 2; k++) {
        double stiffness = omega * omega * (k ? ratio * ratio : 1);
        if (kinds[k] == 'p')
            used += snprintf(text + used, size - (size_t)used,
                             "[stiff potential]\n%s^2/2 scale %.17g\n", name[k], stiffness);
        else if (kinds[k] == 'r')
            used += snprintf(text + used, size - (size_t)used, "[bonds]\n%sbond = %s rigid\n",
                             name[k], name[k]);
        else
            used += snprintf(text + used, size - (size_t)used,
                             "[bonds]\n%sbond = %s stiffness %.17g%s\n", name[k], name[k],
                             stiffness, kinds[k] == 'd' ? " damping 50" : "");
    }
}

static double apart(taut_index n, const double *x, const double *y)
{
    double most = 0;
    for (taut_index i = 0; i < n; i++)
        most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

#define START_31 "x1 = 1, x2 = 2, y1' = -0.5, y2' = 0.5"
#define START_29 "x1 = 1, y1 = 0.25, x2 = 2, y1' = -0.5, y2' = 0.5"

/* The exact slow point over (31)-(32) at omega = 1000 [docs/sources.md, A, 20 digits], and its
 * pulls. */
static void test_exact_point(void)
{
    static const char *const kinds[] = {"pp", "bp", "pb"};
    /* omega^2 (x1 - 1), omega^2 (x2 - x1 - 1) */
    const double pull[] = {1.500045071096781, 1.250028192841212};
    check_group("docs/sources.md, A, exact slow point");
    for (int k = 0; k < 3; k++) {
        char text[900];
        pendulum_text(text, sizeof text, kinds[k], 1000, 1, START_31, "");
        projected p = project(text, "method=series");
        if (projected_good(kinds[k], &p)) {
            check_near("x1", p.r.q[0], 1.000001500045071096781, 6e-16);
            check_near("x2", p.r.q[2], 2.000002750073263937993, 1e-15);
            check_near("y1'", p.r.v[1], -0.5, 1e-15);
            check_near("y2'", p.r.v[3], 0.5, 1e-15);
            check_near("x1'", p.r.v[0], 0, 1e-15);
            if (check_row(p.r.stiff_force != NULL, "no force of the potential")) {
                bool inner = kinds[k][0] == 'p', outer = kinds[k][1] == 'p';
                check_near("force on x1", p.r.stiff_force[0],
                           (outer ? pull[1] : 0) - (inner ? pull[0] : 0), 1e-12);
                check_near("force on x2", p.r.stiff_force[2], outer ? -pull[1] : 0, 1e-12);
            }
            if (kinds[k][0] == 'b')
                check_near("lambda", p.r.lambda[0], pull[0], 1e-12);
            if (kinds[k][1] == 'b')
                check_near("lambda", p.r.lambda[0], pull[1], 1e-12);
        }
        projected_drop(&p);
        /* the foot point is the start; the forces are those of the rigid pendulum: 3/2 and 5/4
         * [docs/sources.md, A] */
        p = project(text, "method=constraint");
        if (projected_good(kinds[k], &p)) {
            check_near("x1", p.r.q[0], 1, 1e-15);
            check_near("force on x2", p.r.stiff_force[2], kinds[k][1] == 'p' ? -1.25 : 0, 1e-13);
            if (kinds[k][0] == 'b')
                check_near("lambda", p.r.lambda[0], 1.5, 1e-13);
        }
        projected_drop(&p);
    }
}

/* The potential omega^2 g^2/2 is the spring of stiffness omega^2: foot points, slow points and
 * pulls are those of the bonds. */
static void test_same_as_bonds(void)
{
    static const struct {
        const char *what, *kinds, *bonds;
        double omega, ratio;
        const char *start, *more;
    } rows[] = {
        {"29, 1000", "pp", "bb", 1000, 1, START_29, ""},
        {"29, 100", "pp", "bb", 100, 1, START_29, ""},
        {"29, 1e4", "pp", "bb", 1e4, 1, START_29, ""},
        {"29, 1e6", "pp", "bb", 1e6, 1, START_29, ""},
        {"one each", "bp", "bb", 1000, 1, START_29, ""},
        {"one each, other", "pb", "bb", 1000, 1, START_29, ""},
        {"outer 100 times stiffer in frequency", "pp", "bb", 2000, 100, START_29, ""},
        {"inner 300 times stiffer", "pp", "bb", 3e6, 1.0 / 300, START_29, ""},
        {"spring and potential, far apart", "bp", "bb", 1e4, 300, START_29, ""},
        {"with a rigid bond", "rp", "rb", 300, 1, START_29, ""},
        {"with a rigid bond, other", "pr", "br", 300, 1, START_29, ""},
        {"gravity", "pp", "bb", 300, 1, START_29, "[potential]\n2*y1 + y2\n"},
        {"masses", "pp", "bb", 300, 1, START_29, "[mass]\nx1 = 3, y1 = 3, x2 = 0.2, y2 = 0.2\n"},
        {"a mass matrix", "pp", "bb", 300, 1, START_29,
         "[mass]\nx1 = 3, y1 = 2\nM[x1,x2] = 0.5\nM[y1,y2] = -0.3\n"},
        {"a mass that varies", "bp", "bb", 300, 1, START_29,
         "[mass]\nx1 = 1 + y2^2, y2 = 2 + sin(t)\nM[x1,y1] = 0.2*x2\n"},
        {"friction", "pp", "bb", 300, 1, START_29, "[forces]\nx2 = -x2' + 0.3*y1'^2\ny2 = -y2'\n"},
        {"forces of time", "bp", "bb", 300, 1, START_29, "[forces]\nx2 = sin(3*t)\n"},
        {"a damped spring", "dp", "db", 1000, 1, START_29, ""},
        {"a rod that moves", "pp", "bb", 300, 1, START_29,
         "[bonds]\ndrive = y2 - 0.1*sin(2*t) rigid\n"},
        {"a spring that moves", "pp", "bb", 300, 1, START_29,
         "[bonds]\ndrive = y2 - 0.1*sin(2*t) stiffness 4e4\n"},
        {"a soft spring", "pp", "bb", 300, 1, START_29,
         "[bonds]\nload = x2 - 1 stiffness 3 soft damping 0.5\n"},
    };
    check_group("as bonds");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        static const char *const methods[] = {"method=constraint", "method=series"};
        for (int j = 0; j < 2; j++) {
            char text[900], bonds[900], what[200];
            snprintf(what, sizeof what, "%s, %s", rows[k].what, methods[j]);
            pendulum_text(text, sizeof text, rows[k].kinds, rows[k].omega, rows[k].ratio,
                          rows[k].start, rows[k].more);
            pendulum_text(bonds, sizeof bonds, rows[k].bonds, rows[k].omega, rows[k].ratio,
                          rows[k].start, rows[k].more);
            projected p = project(text, methods[j]), b = project(bonds, methods[j]);
            /* the Hessian of a potential knows weak modes to u (Omega_max/Omega_min)^2 only
             * (potential.h); bonds know them all */
            double ratio =
                rows[k].kinds[0] == rows[k].kinds[1] ? fmax(rows[k].ratio, 1 / rows[k].ratio) : 1;
            double limit = fmax(1e-13, 20 * 2.2e-16 * ratio * ratio);
            if (projected_good(what, &p) && projected_good("bonds", &b)) {
                check_row(apart(4, p.r.q, b.r.q) <= limit, "%s: positions differ by %.3g", what,
                          apart(4, p.r.q, b.r.q));
                check_row(apart(4, p.r.v, b.r.v) <= limit, "%s: velocities differ by %.3g", what,
                          apart(4, p.r.v, b.r.v));
                /* the initial state has the same foot point */
                check_below(what, p.r.moved_tangential, limit);
                check_below(what, p.r.moved_tangential_velocity, limit);
                check_row(fabs(p.r.moved_normal - b.r.moved_normal) <= limit,
                          "%s: moved by %.17g, %.17g", what, p.r.moved_normal, b.r.moved_normal);
            }
            projected_drop(&p);
            projected_drop(&b);
        }
    }
}

/* The slow circles of a radial potential V(r) omega^2: omega^2 V'(r) = v^2/r, r' = 0 [A 2.3,
 * with V = (r-1)^2/2]; the fibre keeps v. */
static double slow_radius(int kind, double omega, double v)
{
    long double low = 0.9L, high = 1.1L;
    for (int k = 0; k < 200; k++) {
        long double r = (low + high) / 2, s = r * r - 1;
        long double slope = kind == 0 ? r - 1 : (s / 4 + s * s / 4 + s * s * s / 8) * 2 * r;
        if ((long double)omega * omega * slope < v * v / r)
            low = r;
        else
            high = r;
    }
    return (double)low;
}

static void test_circles(void)
{
    static const char *const potential[] = {"(r - 1)^2/2", "s^2/8 + s^3/12 + s^4/32"};
    static const double omega[] = {100, 1000, 1e5};
    check_group("slow circles");
    for (int kind = 0; kind < 2; kind++)
        for (int k = 0; k < 3; k++) {
            char text[400];
            snprintf(text, sizeof text,
                     "[coordinates]\nx, y\n[definitions]\ns = x^2 + y^2 - 1\nr = sqrt(x^2 + "
                     "y^2)\n[stiff potential]\n%s scale %.17g\n"
                     "[start]\nx = 1.05*0.6, y = 1.05*0.8, x' = -0.8*1.5 + 0.6*0.2, y' = 0.6*1.5 + "
                     "0.8*0.2\n",
                     potential[kind], omega[k] * omega[k]);
            projected p = project(text, "method=series");
            if (projected_good(potential[kind], &p)) {
                double r = slow_radius(kind, omega[k], 1.5);
                check_near("radius", hypot(p.r.q[0], p.r.q[1]), r, 1e-12);
                check_near("x", p.r.q[0], 0.6 * r, 1e-12);
                check_near("x'", p.r.v[0], -0.8 * 1.5, 1e-12);
                check_near("y'", p.r.v[1], 0.6 * 1.5, 1e-12);
                check_near("force", 0.6 * p.r.stiff_force[0] + 0.8 * p.r.stiff_force[1],
                           -1.5 * 1.5 / r, 1e-11);
            }
            projected_drop(&p);
        }
    /* the shipped model without its gravity is the second potential at 1.5: its own start is
     * slow already */
    projected p = project("quartic_rod", "method=auto");
    if (projected_good("quartic_rod", &p))
        check_contains("chosen", p.r.explanation, "projection series");
    projected_drop(&p);
}

/* B (1.1) with gravity, horizontal and at rest: r = 1 - 3 eps^4 - 54 eps^8 [docs/sources.md, B];
 * Cartesian, polar, and with a mass matrix. */
static void test_smooth_start(void)
{
    double eps = 1e-2, r = 1 - 3 * pow(eps, 4) - 54 * pow(eps, 8);
    check_group("docs/sources.md, B, smooth start");
    projected p = project("[coordinates]\ny1, y2\n[potential]\ny2\n[stiff "
                          "potential]\n(sqrt(y1^2+y2^2) - 1)^2/2 scale 1e4\n[start]\ny1 = 1\n",
                          "method=series");
    if (projected_good("Cartesian", &p))
        check_near("r", p.r.q[0], r, 1e-15);
    projected_drop(&p);
    p = project(
        "[coordinates]\nr, th\n[kinetic]\n(r'^2 + r^2*th'^2)/2\n[potential]\n-r*cos(th)\n[stiff "
        "potential]\n(r-1)^2/2 scale 1e4\n[start]\nr = 1.1, th = pi/2\n",
        "method=series");
    if (projected_good("polar", &p)) {
        check_near("r", p.r.q[0], r, 1e-15);
        check_near("th", p.r.q[1], acos(0), 1e-15);
    }
    projected_drop(&p);
    p = project("[coordinates]\nu, w\n[mass]\nu = 5, w = 1\nM[u,w] = 1\n[potential]\nu + w\n[stiff "
                "potential]\n"
                "(sqrt((2*u)^2+(u+w)^2) - 1)^2/2 scale 1e4\n[start]\nu = 0.5, w = -0.5\n",
                "method=series");
    if (projected_good("mass matrix", &p)) {
        check_near("x", 2 * p.r.q[0], r, 2e-15);
        check_near("y", p.r.q[0] + p.r.q[1], 0, 1e-15);
    }
    projected_drop(&p);
}

/* A (5)-(6): q'' = -omega^2 (q - cos t) has the slow solution A cos t, A = omega^2/(omega^2 -
 * 1); all coordinates are stiff. */
static void test_moving(void)
{
    check_group("A (6), a potential that moves");
    projected p = project("[coordinates]\nq\n[stiff potential]\n(q - cos(t))^2/2 scale "
                          "1e4\n[start]\nq = 1.1, q' = 0.3\n",
                          "method=series from=0.7");
    if (projected_good("forced", &p)) {
        double amplitude = 1e4 / (1e4 - 1);
        check_near("q", p.r.q[0], amplitude * cos(0.7), 1e-15);
        check_near("q'", p.r.v[0], -amplitude * sin(0.7), 1e-15);
        check_near("force", p.r.stiff_force[0], -1e4 * (amplitude - 1) * cos(0.7), 1e-12);
    }
    projected_drop(&p);
    p = project("[coordinates]\nq\n[stiff potential]\n(q - cos(t))^2/2 scale 1e4\n[start]\nq = "
                "1.1, q' = 0.3\n",
                "method=constraint from=0.7");
    if (projected_good("foot point", &p)) {
        check_near("q", p.r.q[0], cos(0.7), 1e-15);
        check_near("q'", p.r.v[0], -sin(0.7), 1e-15);
        check_near("force", p.r.stiff_force[0], -cos(0.7), 1e-13); /* m q'' on the moving minimum */
    }
    projected_drop(&p);
}

/* At rest at the origin of y = x^2, pulled along x: x'' = 1 - 2 x y'', y + s y'' = x^2, s =
 * 1/omega^2. Power series in t, order by order in s: x = t^2/2 + s t^4/2 - t^6/10 + ..., y = 6 s^2
 * - 4392 s^4 + O(s^6) at t = 0; every other coefficient vanishes. */
static void test_origin(void)
{
    check_group("the origin");
    projected p = project(
        "[coordinates]\nx, y\n[forces]\nx = 1\n[stiff potential]\n(y - x^2)^2/2 scale 1e4\n",
        "method=series");
    if (projected_good("parabola", &p)) {
        check_near("x", p.r.q[0], 0, 1e-18);
        check_near("y", p.r.q[1], 6e-8 - 4392e-16, 1e-16);
        check_near("y'", p.r.v[1], 0, 1e-15);
    }
    projected_drop(&p);
    p = project("[coordinates]\nx, y\n[forces]\nx = 1\n[stiff potential]\n(sqrt(1 + (y - x^2)^2) - "
                "1) scale 1e4\n",
                "method=constraint");
    if (projected_good("with noise", &p))
        check_near("y", p.r.q[1], 0, 1e-18);
    projected_drop(&p);
}

/* The nearest point of the ellipse a(u) = (2 cos u, sin u) in the metric of the masses, by
 * bisection in u. */
static double nearest(double mx, double my, double x, double y)
{
    double low = 0, high = acos(0);
    for (int k = 0; k < 100; k++) {
        double u = (low + high) / 2,
               slope = -mx * (2 * cos(u) - x) * 2 * sin(u) + my * (sin(u) - y) * cos(u);
        if (slope < 0)
            low = u;
        else
            high = u;
    }
    return low;
}

static void test_feet(void)
{
    static const struct {
        double mx, my, x, y;
    } rows[] = {{1, 1, 1.2, 0.9},   {1, 1, 1.45, 0.71}, {4, 0.5, 1.2, 0.9},
                {0.1, 3, 1.6, 0.4}, {1, 1, 2.3, 0.3},   {1, 1, 1.9, 1.2}};
    check_group("foot points on an ellipse");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char text[400], what[100];
        snprintf(what, sizeof what, "from (%g, %g)", rows[k].x, rows[k].y);
        snprintf(text, sizeof text,
                 "[coordinates]\nx, y\n[mass]\nx = %g, y = %g\n[stiff potential]\n(x^2/4 + y^2 - "
                 "1)^2 scale 1e6\n[start]\nx = %g, y = %g, x' = 0.3, y' = 1\n",
                 rows[k].mx, rows[k].my, rows[k].x, rows[k].y);
        projected p = project(text, "method=constraint");
        if (projected_good(what, &p)) {
            double u = nearest(rows[k].mx, rows[k].my, rows[k].x, rows[k].y), tx = -2 * sin(u),
                   ty = cos(u);
            double along = (rows[k].mx * 0.3 * tx + rows[k].my * ty) /
                           (rows[k].mx * tx * tx + rows[k].my * ty * ty);
            check_near("x", p.r.q[0], 2 * cos(u), 1e-13);
            check_near("y", p.r.q[1], sin(u), 1e-13);
            check_near("x'", p.r.v[0], along * tx, 1e-13);
            check_near("y'", p.r.v[1], along * ty, 1e-13);
            check_below("iterations", (double)p.r.statistics.newton_iterations, 40);
        }
        projected_drop(&p);
    }
}

/* Where slow and fast are barely apart the two expansions differ by less than what they say of
 * themselves. */
static void test_barely(void)
{
    char text[900], bonds[900];
    check_group("barely separated");
    pendulum_text(text, sizeof text, "pp", 30, 1, START_31, "");
    pendulum_text(bonds, sizeof bonds, "bb", 30, 1, START_31, "");
    projected p = project(text, "method=series"), b = project(bonds, "method=series");
    if (projected_good("potential", &p) && projected_good("bonds", &b)) {
        const char *said = strstr(p.r.explanation, "error about ");
        check_contains("said", p.r.explanation, "barely separated");
        if (check_row(said != NULL, "no accuracy in: %s", p.r.explanation))
            check_below("apart", apart(4, p.r.q, b.r.q), atof(said + strlen("error about ")));
    }
    projected_drop(&p);
    projected_drop(&b);
}

/* What is held stays to the last bit; the rest goes to the minimum, and the slow point is on the
 * slow manifold all the same. */
static void test_hold(void)
{
    const char *circle =
        "[coordinates]\nx, y\n[stiff potential]\n(x^2 + y^2 - 1)^2/8 scale 1e6\n[start]\n";
    char text[600];
    check_group("hold");
    snprintf(text, sizeof text, "%sx = 0.6 hold, y = 0.9, x' = 0.3, y' = 2\n", circle);
    projected p = project(text, "method=constraint");
    if (projected_good("position", &p)) {
        double along = -0.8 * 0.3 + 0.6 * 2;
        check_near("x", p.r.q[0], 0.6, 0);
        check_near("y", p.r.q[1], 0.8, 1e-15);
        check_near("x'", p.r.v[0], -0.8 * along, 1e-14);
        check_near("y'", p.r.v[1], 0.6 * along, 1e-14);
    }
    projected_drop(&p);
    snprintf(text, sizeof text, "%sx = 0.6 hold, y = 0.9, x' = 0.3 hold, y' = 2\n", circle);
    p = project(text, "method=constraint");
    if (projected_good("both", &p)) {
        check_near("x'", p.r.v[0], 0.3, 0);
        check_near("y'", p.r.v[1], -0.3 * 0.6 / 0.8, 1e-14);
    }
    projected_drop(&p);
    snprintf(text, sizeof text, "%sx = 0.66, y = 0.88, x' = 0.3 hold, y' = 2\n", circle);
    p = project(text, "method=constraint");
    if (projected_good("velocity", &p)) {
        check_near("x", p.r.q[0], 0.6, 1e-14);
        check_near("x'", p.r.v[0], 0.3, 0);
        check_near("y'", p.r.v[1], -0.3 * 0.6 / 0.8, 1e-14);
    }
    projected_drop(&p);
    snprintf(text, sizeof text, "%sx = 0.6, y = 0.7 guess\n", circle);
    p = project(text, "method=constraint");
    if (projected_good("guess", &p)) {
        check_near("x", p.r.q[0], 0.6, 1e-14);
        check_near("y", p.r.q[1], 0.8, 1e-14);
    }
    projected_drop(&p);
    snprintf(text, sizeof text, "%sx = 0.6 hold, y = 0.9 hold\n", circle);
    p = project(text, "method=constraint");
    projected_refused("all of it", &p, TAUT_ERROR_CONVERGE, "held");
    snprintf(text, sizeof text, "%sx = 0.6 hold, y = 0.8 hold\n", circle);
    p = project(text, "method=constraint");
    projected_good("all of it, and good", &p);
    projected_drop(&p);
}

/* Held coordinates of the double pendulum: kept to the last bit, the same as with bonds, and on
 * the slow manifold. */
static void test_hold_series(void)
{
    static const char *const hold[] = {"y1", "y2,y2'", "x2'", "y1,x1'", "y1'"}, *const kinds[] = {
                                                                                    "pp", "bp"};
    static const char *const name[] = {"x1", "y1", "x2", "y2"};
    check_group("hold, series");
    for (int k = 0; k < 5; k++)
        for (int j = 0; j < 2; j++) {
            char text[900], bonds[900], options[100], again[900], start[300] = "";
            pendulum_text(text, sizeof text, kinds[j], 300, 1, START_29, "");
            pendulum_text(bonds, sizeof bonds, "bb", 300, 1, START_29, "");
            snprintf(options, sizeof options, "method=series hold=%s", hold[k]);
            projected p = project(text, options), b = project(bonds, options);
            if (projected_good(options, &p) && projected_good("bonds", &b)) {
                check_row(apart(4, p.r.q, b.r.q) <= 1e-13, "%s: positions differ by %.3g", options,
                          apart(4, p.r.q, b.r.q));
                check_row(apart(4, p.r.v, b.r.v) <= 1e-13, "%s: velocities differ by %.3g", options,
                          apart(4, p.r.v, b.r.v));
                for (int i = 0; i < 4; i++) {
                    const char *at = strstr(hold[k], name[i]);
                    for (; at; at = strstr(at + 1, name[i]))
                        check_row(at[2] == '\'' ? p.r.v[i] == p.r.start_v[i]
                                                : p.r.q[i] == p.r.start_q[i],
                                  "%s: %s moved", options, at);
                    snprintf(start + strlen(start), sizeof start - strlen(start),
                             "%s = %.17g, %s' = %.17g\n", name[i], p.r.q[i], name[i], p.r.v[i]);
                }
                pendulum_text(again, sizeof again, kinds[j], 300, 1, start, "");
                projected free = project(again, "method=series");
                if (projected_good("again", &free)) {
                    check_below("off the slow manifold", apart(4, p.r.q, free.r.q), 1e-14);
                    check_below("off the slow manifold", apart(4, p.r.v, free.r.v), 1e-14);
                }
                projected_drop(&free);
            }
            projected_drop(&p);
            projected_drop(&b);
        }
    projected p = project("[coordinates]\nx, y\n[stiff potential]\n(x^2 + y^2 - 1)^2/8 scale "
                          "1e6\n[start]\nx = 0.6, y = 0.8\n",
                          "method=series hold=x,y");
    projected_refused("too much", &p, TAUT_ERROR_REFUSED, "so much is held");
}

/* Twice is once, from starts at every distance up to 0.3 in 40 directions; and the point lies on
 * the circle of slow_radius. */
static void test_distances(void)
{
    static const double kappa[] = {1e-6, 1e-3, 0.03, 0.1, 0.3};
    check_group("distances");
    for (int k = 0; k < 5; k++)
        for (int j = 0; j < 8; j++) {
            char text[500], again[500];
            const char *form = "[coordinates]\nx, y\n[definitions]\ns = x^2 + y^2 - 1\n[stiff "
                               "potential]\ns^2/8 + s^3/12 + s^4/32 scale 1e6\n[start]\nx = %.17g, "
                               "y = %.17g, x' = %.17g, y' = %.17g\n";
            double turn = 0.4 + 0.77 * j, r = 1 + (j % 2 ? -1 : 1) * kappa[k], v = 0.5 + 0.1 * j,
                   c = cos(turn), s = sin(turn);
            snprintf(text, sizeof text, form, r * c, r * s, -v * s + kappa[k] * c,
                     v * c + kappa[k] * s);
            projected p = project(text, "method=auto");
            if (!projected_good("first", &p)) {
                projected_drop(&p);
                continue;
            }
            double exact = slow_radius(1, 1000, v);
            check_near("x", p.r.q[0], exact * c, 1e-13);
            check_near("y'", p.r.v[1], v * c, 1e-13);
            snprintf(again, sizeof again, form, p.r.q[0], p.r.q[1], p.r.v[0], p.r.v[1]);
            projected q = project(again, "method=series");
            if (projected_good("again", &q)) {
                check_below("moved", apart(2, p.r.q, q.r.q), 2e-15);
                check_below("moved", apart(2, p.r.v, q.r.v), 2e-15);
            }
            projected_drop(&q);
            projected_drop(&p);
        }
}

static void test_refusals(void)
{
    static const struct {
        const char *what, *model, *method, *words;
        int code;
    } rows[] = {
        {"no curvature",
         "[coordinates]\nx, y\n[stiff potential]\nx^4 scale 1e6\n[start]\nx = 0.1\n", "series",
         "Hessian", TAUT_ERROR_CONVERGE},
        {"a maximum",
         "[coordinates]\nx, y\n[stiff potential]\n-(x^2)/2 scale 1e6\n[start]\nx = 0.1\n",
         "constraint", "minimum", TAUT_ERROR_CONVERGE},
        {"a saddle",
         "[coordinates]\nx, y\n[stiff potential]\nx^2 - y^2 scale 1e6\n[start]\nx = 0.1\n",
         "constraint", "not least", TAUT_ERROR_CONVERGE},
        {"no minimum", "[coordinates]\nx\n[stiff potential]\nexp(x) scale 1e6\n", "constraint",
         "minimum", TAUT_ERROR_CONVERGE},
        {"against a spring",
         "[coordinates]\nx, y\n[bonds]\na = sqrt(x^2+y^2) - 1 stiffness 1e6\n[stiff "
         "potential]\n(sqrt(x^2+y^2) - 1.1)^2 scale 1e6\n[start]\nx = 1\n",
         "series", "", TAUT_ERROR_CONVERGE},
        {"with a spring",
         "[coordinates]\nx, y, z\n[bonds]\na = x + y stiffness 1e6\n[stiff potential]\n(x+y)^2 + "
         "z^2 scale 1e6\n",
         "series", "same direction", TAUT_ERROR_REFUSED},
        {"not separated",
         "[coordinates]\nq\n[stiff potential]\n(q - cos(3*t))^2/2 scale 4\n[start]\nq = 1.1\n",
         "series", "not separated", TAUT_ERROR_CONVERGE},
        {"a massless coordinate",
         "[coordinates]\nx, y\n[mass]\nx = 0\n[stiff potential]\nx^2 scale 1e6\n", "constraint",
         "mass", TAUT_ERROR_SINGULAR},
        {"many coordinates",
         "[coordinates]\nx[i] for i in 1..401\n[stiff potential]\nsum((x[i+1]-x[i])^2 for i in "
         "1..400) scale 1e6\n",
         "series", "at most 400", TAUT_ERROR_REFUSED},
        {"rods that contradict",
         "[coordinates]\nx, y, z\n[bonds]\na = x + y\nb = 2*x + 2*y + 1\n[stiff potential]\nz^2 "
         "scale 1e6\n",
         "constraint", "'b'", TAUT_ERROR_CONVERGE},
    };
    check_group("refusals");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char option[60];
        snprintf(option, sizeof option, "method=%s", rows[k].method);
        projected p = project(rows[k].model, option);
        if (p.projection && p.code == TAUT_ERROR_CONVERGE) /* the initial state is kept */
            for (taut_index i = 0; i < (strstr(rows[k].model, "x, y") ? 2 : 1); i++)
                check_row(p.r.q[i] == p.r.start_q[i], "%s: the start moved", rows[k].what);
        projected_refused(rows[k].what, &p, rows[k].code, rows[k].words);
    }
}

static void test_memory(void)
{
    static const char *const methods[] = {"method=constraint", "method=series"};
    char text[900];
    check_group("memory");
    pendulum_text(text, sizeof text, "bp", 300, 1, START_29, "");
    projected p = project_model(text, NULL, methods[0]);
    for (int j = 0; j < 2; j++)
        projected_faults(p.system, methods[j]);
    projected_drop(&p);
}

int main(void)
{
    test_exact_point();
    test_same_as_bonds();
    test_circles();
    test_smooth_start();
    test_moving();
    test_origin();
    test_feet();
    test_barely();
    test_hold();
    test_hold_series();
    test_distances();
    test_refusals();
    test_memory();
    return check_done();
}
