/* test_filters_rods.c - projections `ipa` and `kernel` with rigid bonds in addition to springs.
 * Oracles: the same pendulum with an angle in place of its rigid bond, whose full motion is
 * followed here; frequencies by hand; `series`, which shares the foot point and nothing else; and
 * rigid bonds to rounding.
 *
 * Limits: kernel on the double pendulum at omega = 1000 to 2e-12 off the slow
 * manifold, so 1e-11 in q and 1e-9 in v from the point of series; rounding is 8 u |q| in q and 8
 * u omega |q| in v (docs/theory.md, Filters); chains to 1e-8; elsewhere 10 times what is stated
 * ("about"), and no more than 1e-7 may be stated. ipa: 1e-9, its stopping test, and 1e-6, h^2/6
 * q''', off the slow manifold (docs/sources.md, A: 1.3e-10 and 3.0e-7). */
#include "support/rods.h"
#include "support/stated.h"

/* ---- the double pendulum of A 5.1, its first link a rigid bond */

static void test_pendulum(void)
{
    static const char *const sets[] = {"omega=1e3", "omega=1e4", "omega=1e6", "omega=1e8"};
    const int rod[] = {0};
    int64_t least[2] = {INT64_MAX, INT64_MAX}, most[2] = {0, 0};
    check_group("double pendulum");
    for (int k = 0; k < 4; k++) {
        double omega = atof(sets[k] + 6), u = DBL_EPSILON / 2;
        projected s = run(PENDULUM, sets[k], NULL, "method=series"),
                  p = run(PENDULUM, sets[k], NULL, "method=kernel");
        if (projected_good("series", &s) && projected_good("kernel", &p)) {
            check_below("kernel, q", apart(4, p.r.q, s.r.q),
                        fmax(1e-11 * pow(1e3 / omega, 4), 8 * u * 2));
            check_below("kernel, v", apart(4, p.r.v, s.r.v),
                        fmax(1e-9 * pow(1e3 / omega, 4), 8 * u * omega * 2));
            check_below("kernel, multipliers", apart(2, p.r.lambda, s.r.lambda),
                        1e-6 * fmax(1, largest(2, s.r.lambda)));
            check_rods("kernel", &p, 1, rod);
            least[0] = p.r.statistics.force_evaluations < least[0]
                           ? p.r.statistics.force_evaluations
                           : least[0];
            most[0] = p.r.statistics.force_evaluations > most[0] ? p.r.statistics.force_evaluations
                                                                 : most[0];
            check_below("kernel, evaluations", (double)p.r.statistics.force_evaluations, 150);
        }
        projected_drop(&p);
        p = run(PENDULUM, sets[k], NULL, "method=ipa");
        if (projected_good("ipa", &p)) {
            check_distance("ipa", &p, &p.r, PENDULUM, sets[k], 1e-9,
                           fmax(1e-6 * pow(1e3 / omega, 2), 8 * u * omega * 2));
            check_rods("ipa", &p, 1, rod);
            check_contains("ipa", p.r.explanation, "on the rigid bonds");
            least[1] = p.r.statistics.force_evaluations < least[1]
                           ? p.r.statistics.force_evaluations
                           : least[1];
            most[1] = p.r.statistics.force_evaluations > most[1] ? p.r.statistics.force_evaluations
                                                                 : most[1];
        }
        projected_drop(&p);
        projected_drop(&s);
    }
    check_below("kernel: two of the shortest passes", (double)(most[0] - least[0]), 2 * 9);
    check_below("ipa: two passes", (double)(most[1] - least[1]), 2 * 37);
}

/* Frequencies by hand: A_ss = 2, A_rr = 1, A_sr = -cos between the links, so that Omega^2 =
 * omega^2 (2 - cos^2): omega where the pendulum is straight, sqrt(2) omega where it is bent at a
 * right angle. */
static void test_frequencies(void)
{
    static const struct {
        const char *start;
        double ratio;
    } rows[] = {{"x1 = 1\ny1 = 0\nx2 = 2\ny2 = 0\nx1' = 0\ny1' = 0.1\nx2' = 0\ny2' = 0.2\n", 1},
                {"x1 = 1\ny1 = 0\nx2 = 1\ny2 = 1\nx1' = 0\ny1' = 0.1\nx2' = 0.2\ny2' = 0.1\n",
                 1.4142135623730951},
                {"x1 = 0.8\ny1 = 0.6\nx2 = 1.8\ny2 = 0.6\nx1' = 0\ny1' = 0\nx2' = 0\ny2' = 0.3\n",
                 1.1661903789690601}};
    check_group("frequencies");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        projected p = run(PENDULUM, "omega=1e4", rows[k].start, "method=kernel");
        const char *at = p.code == 0 ? strstr(p.r.explanation, "frequencies ") : NULL;
        double low = NAN, high = NAN;
        check_row(at && sscanf(at, "frequencies %lf to %lf", &low, &high) == 2, "row %d: %s",
                  (int)k, p.code ? p.error.message : p.r.explanation);
        /* five digits are printed, and slow stretches are 1e-8 */
        check_near("slowest", low / 1e4, rows[k].ratio, 1e-4);
        check_near("fastest", high / 1e4, rows[k].ratio, 1e-4);
        projected_drop(&p);
    }
}

/* ---- without series: the pendulum by the angle of its rigid bond, x = (phi, x2, y2), unit masses
 */

typedef struct swing {
    double omega, x[3], v[3];
    bool twice; /* a second spring, r^2 - 1, in addition to r - 1 */
} swing;

static double stretch(const double *x)
{
    return hypot(x[1] - cos(x[0]), x[2] - sin(x[0])) - 1;
}

static void accelerate(const swing *s, double *a)
{
    double dx = s->x[1] - cos(s->x[0]), dy = s->x[2] - sin(s->x[0]), r = hypot(dx, dy),
           pull = s->omega * s->omega * (r - 1 + s->twice * 2 * r * (r * r - 1)) / r;
    a[0] = -pull * (dx * sin(s->x[0]) - dy * cos(s->x[0]));
    a[1] = -pull * dx;
    a[2] = -pull * dy;
}

/* Verlet of 200 steps in a period of omega; g of every tenth. What a polynomial of degree 9 does
 * not follow is the oscillation: its largest value over 12 periods. Steps so short add 1e-4 of
 * what they would at h omega = 1. */
static double ringing(swing s)
{
    enum { SAMPLES = 240, DEGREE = 9 };
    double h = 2 * acos(-1) / (200 * s.omega), a[3], g[SAMPLES], p[DEGREE + 1][SAMPLES], most = 0;
    accelerate(&s, a);
    for (int k = 0; k < 10 * SAMPLES; k++) {
        if (k % 10 == 0)
            g[k / 10] = stretch(s.x);
        for (int i = 0; i < 3; i++) {
            s.v[i] += h / 2 * a[i];
            s.x[i] += h * s.v[i];
        }
        accelerate(&s, a);
        for (int i = 0; i < 3; i++)
            s.v[i] += h / 2 * a[i];
    }
    /* orthonormal polynomials on the samples, and their parts taken out */
    for (int d = 0; d <= DEGREE; d++) {
        double part = 0, norm = 0;
        for (int k = 0; k < SAMPLES; k++)
            p[d][k] = d == 0 ? 1 : (2.0 * k / (SAMPLES - 1) - 1) * p[d - 1][k];
        for (int twice = 0; twice < 2; twice++)
            for (int e = 0; e < d; e++) {
                double inner = 0;
                for (int k = 0; k < SAMPLES; k++)
                    inner += p[d][k] * p[e][k];
                for (int k = 0; k < SAMPLES; k++)
                    p[d][k] -= inner * p[e][k];
            }
        for (int k = 0; k < SAMPLES; k++)
            norm += p[d][k] * p[d][k];
        for (int k = 0; k < SAMPLES; k++)
            p[d][k] /= sqrt(norm);
        for (int k = 0; k < SAMPLES; k++)
            part += p[d][k] * g[k];
        for (int k = 0; k < SAMPLES; k++)
            g[k] -= part * p[d][k];
    }
    for (int k = 0; k < SAMPLES; k++)
        most = fmax(most, fabs(g[k]));
    return most;
}

static swing by_angle(double omega, const double *q, const double *v)
{
    return (swing){
        omega, {atan2(q[1], q[0]), q[2], q[3]}, {q[0] * v[1] - q[1] * v[0], v[2], v[3]}, false};
}

static void test_ringing(void)
{
    static const struct {
        const char *set, *options;
        double most;
    } rows[] = {{"omega=1e3", "method=kernel", 1e-11},
                {"omega=1e4", "method=kernel", 1e-12},
                {"omega=1e3", "method=ipa", 1e-9},
                {"omega=1e4", "method=ipa", 1e-9},
                {"omega=1e3", "method=series", 1e-12}};
    check_group("ringing of the full motion");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        projected p = run(PENDULUM, rows[k].set, NULL, rows[k].options);
        double omega = atof(rows[k].set + 6);
        if (projected_good(rows[k].options, &p)) {
            check_below(rows[k].options, ringing(by_angle(omega, p.r.q, p.r.v)), rows[k].most);
            double start = ringing(by_angle(omega, p.r.start_q, p.r.start_v));
            check_row(start > 1e-2, "the start rings by %.3g", start);
        }
        projected_drop(&p);
    }
}

/* Springs that depend on each other with a rigid bond: series has no foot point for them, filters
 * need none. */
static void test_redundant(void)
{
    static const char *const model =
        "[parameters]\nomega = 1000\n[coordinates]\nx1, y1, x2, y2\n[bonds]\ninner = sqrt(x1^2 + "
        "y1^2) - 1\nouter = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 stiffness omega^2\nagain = (x1-x2)^2 + "
        "(y1-y2)^2 - 1 stiffness omega^2\n[start]\nx1 = 0.8, y1 = -0.6, x1' = 0.3, y1' = 0.4, x2 = "
        "1.52, y2 = -1.31, x2' = 0.2, y2' = -0.6\n";
    static const struct {
        const char *options;
        double most;
    } rows[] = {{"method=kernel", 1e-11}, {"method=ipa", 1e-9}, {"method=auto", 1e-11}};
    check_group("springs that depend on each other");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        projected p = run(model, "", NULL, rows[k].options);
        if (projected_good(rows[k].options, &p)) {
            swing end = by_angle(1000, p.r.q, p.r.v),
                  start = by_angle(1000, p.r.start_q, p.r.start_v);
            end.twice = start.twice = true;
            check_below(rows[k].options, ringing(end), rows[k].most);
            check_row(ringing(start) > 1e-3, "the start rings by %.3g", ringing(start));
        }
        projected_drop(&p);
    }
}

/* The same pendulum as a model of its own, over the same foot point. Fibres that are orthogonal
 * here and there differ by C^2. */
static void test_angle(void)
{
    static const char *const by_phi =
        "[parameters]\nomega = 1000\n[coordinates]\nphi, x2, y2\n[bonds]\nouter = "
        "sqrt((cos(phi)-x2)^2 + (sin(phi)-y2)^2) - 1 stiffness omega^2\n[start]\nphi = 0.3, phi' = "
        "-0.4, x2 = cos(0.3) + 1, y2 = sin(0.3), x2' = 0.4*sin(0.3), y2' = 0.7\n";
    static const char *const with_rod = "x1 = cos(0.3)\ny1 = sin(0.3)\nx1' = 0.4*y1\ny1' = "
                                        "-0.4*x1\nx2 = cos(0.3) + 1\ny2 = sin(0.3)\n"
                                        "x2' = 0.4*sin(0.3)\ny2' = 0.7\n";
    check_group("by its angle");
    projected a = run(by_phi, "", NULL, "method=series"),
              p = run(PENDULUM, "", with_rod, "method=kernel");
    if (projected_good("angle", &a) && projected_good("rod", &p)) {
        swing s = by_angle(1000, p.r.q, p.r.v);
        check_below("q", apart(3, s.x, a.r.q), 1e-11);
        check_below("v", apart(3, s.v, a.r.v), 1e-9);
        check_near("multiplier", p.r.lambda[1], a.r.lambda[0], 1e-5); /* 1e-11 omega^2 */
        /* of the rigid bond, by hand: the acceleration of the first mass along it is -phi'^2 */
        double dx = p.r.q[2] - p.r.q[0], dy = p.r.q[3] - p.r.q[1],
               along = (dx * p.r.q[0] + dy * p.r.q[1]) / hypot(dx, dy);
        check_near("rod", p.r.lambda[0], s.v[0] * s.v[0] + p.r.lambda[1] * along, 1e-10);
    }
    projected_drop(&a);
    projected_drop(&p);
}

/* Verlet's slow motion errs as omega^-4, and so does the velocity, a derivative: put back onto
 * the rigid bonds, both keep that order. */
static void test_order(void)
{
    static const char *const model =
        "[parameters]\nomega = 100\n[coordinates]\nx1, y1, x2, y2\n[potential]\ny1 + "
        "y2\n[bonds]\ninner = sqrt(x1^2 + y1^2) - 1\nouter = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 "
        "stiffness omega^2\n[start]\nx1 = 0.8, y1 = -0.6, x1' = 0.3, y1' = 0.4, x2 = 1.5, y2 = "
        "-1.3\n"
        "x2' = 0.2, y2' = -0.6\n";
    double off[2][3];
    static const char *const sets[] = {"omega=100", "omega=200", "omega=400"};
    check_group("order");
    for (int k = 0; k < 3; k++) {
        /* steps as they are: 12 to each side, h omega = 1.7 */
        projected s = run(model, sets[k], NULL, "method=series"),
                  p = run(model, sets[k], NULL, "method=kernel micro-steps=12");
        if (projected_good(sets[k], &s) && projected_good(sets[k], &p)) {
            off[0][k] = apart(4, p.r.q, s.r.q);
            off[1][k] = apart(4, p.r.v, s.r.v);
        }
        projected_drop(&s);
        projected_drop(&p);
    }
    for (int part = 0; part < 2; part++)
        for (int k = 0; k < 2; k++) {
            double order = log2(off[part][k] / off[part][k + 1]);
            check_row(order > 3.7, "%s: %.3g, %.3g, order %.2f", part ? "v" : "q", off[part][k],
                      off[part][k + 1], order);
        }
}

/* ---- other systems */

static const struct {
    const char *name, *model, *set;
    int rods[3], count;
} systems[] = {
    {"masses", TWO(INNER OUTER, "[mass]\nx1 = 2, y1 = 2, x2 = 0.3, y2 = 0.3\n"), "", {0}, 1},
    {"a full mass matrix",
     TWO(INNER OUTER, "[mass]\nx1 = 2, y1 = 2\nM[x1,x2] = 0.4\nM[y1,y2] = 0.4\n"),
     "",
     {0},
     1},
    {"a varying mass",
     TWO(INNER OUTER, "[mass]\nx1 = 2 + 0.3*sin(y1), x2 = 1 + 0.2*y2^2\nM[x1,y1] = 0.3*cos(x2)\n"),
     "",
     {0},
     1},
    {"a kinetic energy",
     "[parameters]\nomega = 1000\n[coordinates]\nr, phi, z, w\n[kinetic]\n(r'^2 + r^2*phi'^2 + "
     "z'^2 + w'^2)/2\n[potential]\nw + r*sin(phi)\n"
     "[bonds]\ninner = r - 1 stiffness omega^2\nouter = sqrt((z - r*cos(phi))^2 + (w - "
     "r*sin(phi))^2) - 1\n[start]\nr = 1.01, phi = -0.5, phi' = "
     "0.6, z = r*cos(phi) + 0.6, w = r*sin(phi) - 0.8, z' = -0.6*r*sin(phi), w' = 0.6*r*cos(phi)\n",
     "",
     {1},
     1},
    {"drag and turning",
     TWO(INNER OUTER, "[forces]\nx1 = 0.5*y1' - 0.1*x2', y2 = -0.5*x2' - 0.1*y2'\n"),
     "",
     {0},
     1},
    {"a damped spring", TWO(INNER OUTER " damping 0.05*omega", ""), "", {0}, 1},
    {"a rod that moves",
     TWO("inner = sqrt((x1 - 0.2*sin(t))^2 + y1^2) - 1 - 0.1*t\n" OUTER, ""),
     "",
     {0},
     1},
    {"an elastic coupler, driven", "four_bar", "c=1e-7", {0, 1, 4}, 3},
    {"a soft spring besides", TWO(INNER OUTER "\nband = x2 - 1 stiffness 2 soft", ""), "", {0}, 1},
    {"the spring first",
     TWO("inner = sqrt(x1^2 + y1^2) - 1 stiffness omega^2\nouter = sqrt((x1-x2)^2 + (y1-y2)^2) - 1",
         ""),
     "",
     {1},
     1},
    {"a molecule",
     "[parameters]\nomega = 1e3\n[particles]\ndimension = 3\nO mass 16\nH[i] for i in 1..2 mass "
     "1\n[bonds]\narm[i] = length(H[i] - O) - 1 for i in 1..2\nspan = length(H[1] - H[2]) - 1.6 "
     "stiffness omega^2\n[start]\nO = (0, 0, 0)\nH[1] = (0.6, 0.8, 0)\nH[2] = (0.61, -0.79, 0.05)\n"
     "O' = (0.1, 0, 0.2)\nH[1]' = (0.4, -0.2, 0.7)\nH[2]' = (-0.2, 0.3, -0.6)\n",
     "",
     {0, 1},
     2},
    {"a truss", "truss", "", {0}, 0},
};

/* Within 10 times what is stated of series, kernel as a point, ipa by its distance. */
static void test_systems(void)
{
    check_group("systems");
    for (size_t k = 0; k < sizeof systems / sizeof systems[0]; k++) {
        const char *name = systems[k].name;
        projected s = run(systems[k].model, systems[k].set, NULL, "method=series"),
                  p = run(systems[k].model, systems[k].set, NULL, "method=kernel");
        double q = 0, v = 0;
        taut_index m, n = projected_good(name, &s) ? size_of(&s, &m) : 0;
        if (n > 0 && projected_good(name, &p) &&
            check_row(stated_accuracy(&p.r, &q, &v), "%s: %s", name, p.r.explanation)) {
            check_row(apart(n, p.r.q, s.r.q) <= 10 * q && q <= 1e-7, "%s: %.3g in q, stated %.3g",
                      name, apart(n, p.r.q, s.r.q), q);
            check_row(apart(n, p.r.v, s.r.v) <= 10 * v && v <= 1e-7, "%s: %.3g in v, stated %.3g",
                      name, apart(n, p.r.v, s.r.v), v);
            check_row(apart(m, p.r.lambda, s.r.lambda) <= 1e-4 * largest(m, s.r.lambda),
                      "%s: %.3g in lambda", name, apart(m, p.r.lambda, s.r.lambda));
            check_rods(name, &p, systems[k].count, systems[k].rods);
        }
        projected_drop(&p);
        p = run(systems[k].model, systems[k].set, NULL, "method=ipa");
        if (n > 0 && projected_good(name, &p) &&
            check_row(stated_accuracy(&p.r, &q, &v), "%s: %s", name, p.r.explanation)) {
            check_distance(name, &p, &p.r, systems[k].model, systems[k].set, 10 * q, 10 * v);
            check_row(q <= 1e-6 && v <= 1e-4, "%s: ipa states %.3g, %.3g", name, q, v);
            check_rods(name, &p, systems[k].count, systems[k].rods);
        }
        projected_drop(&p);
        projected_drop(&s);
    }
}

/* 200 links, every third rigid, bent by up to 0.5 rad, springs off by up to 1e-3. */
static void test_chain(void)
{
    enum { N = 200 };
    static const char *const model =
        "[parameters]\nomega = 1e6\nN = 200\n[particles]\ndimension = 2\nbob[i] for i in 1..N mass "
        "1\n[potential]\nsum(bob[i].y for i in 1..N)\n"
        "[bonds]\nlink[1] = length(bob[1]) - 1 compliance omega^-2\n"
        "link[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N compliance if(mod(i, 3) < 0.5, 0, "
        "omega^-2)\n";
    static char start[120 * N];
    size_t used = 0;
    double x = 0, y = 0, angle = 0;
    unsigned seed = 7;
    for (int i = 1; i <= N; i++) {
        seed = seed * 1664525u + 1013904223u;
        angle += (seed / 4294967296.0 - 0.5);
        seed = seed * 1664525u + 1013904223u;
        double length = 1 + (i % 3 ? 2e-3 * (seed / 4294967296.0 - 0.5) : 0);
        x += length * cos(angle);
        y += length * sin(angle);
        used += (size_t)snprintf(start + used, sizeof start - used,
                                 "bob[%d] = (%.17g, %.17g)\nbob[%d]' = (%.3f, %.3f)\n", i, x, y, i,
                                 0.1 * sin(3.0 * i), 0.1 * cos(5.0 * i));
    }
    check_group("chain");
    projected s = run(model, "", start, "method=series"),
              p = run(model, "", start, "method=kernel");
    if (projected_good("series", &s) && projected_good("kernel", &p)) {
        double size = largest(2 * N, s.r.q), u = DBL_EPSILON / 2;
        check_below("q", apart(2 * N, p.r.q, s.r.q), 1e-8);
        check_below("v", apart(2 * N, p.r.v, s.r.v), fmax(1e-8, 8 * u * 1e6 * size));
        check_below("multipliers", apart(N, p.r.lambda, s.r.lambda), 1e-6 * largest(N, s.r.lambda));
        const double *g;
        taut_projection_pass(p.projection, p.r.passes, &g, NULL, NULL);
        for (int i = 2; i < N; i += 3)
            check_below("rod", fabs(g[i]), 8 * DBL_EPSILON * size);
    }
    projected_drop(&p);
    projected_drop(&s);
}

int main(void)
{
    test_pendulum();
    test_frequencies();
    test_ringing();
    test_redundant();
    test_angle();
    test_order();
    test_systems();
    test_chain();
    return check_done();
}
