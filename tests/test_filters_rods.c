/* test_filters_rods.c - projections `ipa` and `kernel` with rods beside springs. Oracles: the same pendulum with an angle in place of its rod, whose
 * full motion is followed here; frequencies by hand; `series`, which shares the foot point and nothing else; and rods to rounding.
 *
 * Limits, from issue 4: kernel on the double pendulum at omega = 1000 to 2e-12 beside the slow manifold, so 1e-11 in q and 1e-9 in v from the point
 * of series; rounding is 8 u |q| in q and 8 u omega |q| in v (DESIGN 6); chains to 1e-8; elsewhere 10 times what is stated ("about"), and no more
 * than 1e-7 may be stated. ipa: 1e-9, its stopping test, and 1e-6, h^2/6 q''', beside the slow manifold (FACTS A: 1.3e-10 and 3.0e-7). */
#include <float.h>

#include "projected.h"
#include "stated.h"

static projected run(const char *model, const char *set, const char *start, const char *options)
{
    const char *sets[4];
    char copy[200];
    int count = 0;
    snprintf(copy, sizeof copy, "%s", set);
    for (char *word = strtok(copy, " "); word && count < 4; word = strtok(NULL, " "))
        sets[count++] = word;
    taut_load how = {.set = sets, .set_count = count, .start_text = start};
    return project_model(model, &how, options);
}

static double apart(taut_index n, const double *a, const double *b)
{
    double most = 0;
    for (taut_index i = 0; i < n; i++)
        most = fabs(a[i] - b[i]) <= most ? most : fabs(a[i] - b[i]);
    return most;
}

static taut_index size_of(const projected *p, taut_index *bonds)
{
    taut_sizes sizes;
    taut_system_sizes(p->system, &sizes);
    if (bonds)
        *bonds = sizes.bonds;
    return sizes.coordinates;
}

static double largest(taut_index n, const double *x)
{
    double most = 0;
    for (taut_index i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* g and gdot of the rods at the end, to rounding. */
static void check_rods(const char *what, const projected *p, int count, const int *rod)
{
    const double *g, *gdot;
    taut_index n = size_of(p, NULL);
    if (!check_row(taut_projection_pass(p->projection, p->r.passes, &g, &gdot, NULL), "%s: the last pass is recorded", what))
        return;
    for (int k = 0; k < count; k++) {
        check_row(fabs(g[rod[k]]) <= 8 * DBL_EPSILON * fmax(1, largest(n, p->r.q)), "%s: rod %d is off by %.3g", what, rod[k],
                  g[rod[k]]);
        check_row(fabs(gdot[rod[k]]) <= 16 * DBL_EPSILON * fmax(1, largest(n, p->r.v)), "%s: rod %d moves by %.3g", what, rod[k],
                  gdot[rod[k]]);
    }
}

/* The state of a result, as the text of a start, with the names of p. */
static void write_start(const projected *p, const taut_projection_result *r, char *text, size_t room)
{
    size_t used = 0;
    char name[96];
    for (taut_index i = 0; i < size_of(p, NULL) && used < room; i++) {
        taut_system_name(p->system, TAUT_COORDINATE, i, name, sizeof name);
        used += (size_t)snprintf(text + used, room - used, "%s = %.17g\n%s' = %.17g\n", name, r->q[i], name, r->v[i]);
    }
}

/* What series moves a result by: the distance to the slow manifold (DESIGN 1). */
static void check_distance(const char *what, const projected *p, const taut_projection_result *r, const char *model,
                           const char *set, double q, double v)
{
    char text[4000], row[160];
    write_start(p, r, text, sizeof text);
    projected s = run(model, set, text, "method=series");
    if (projected_good(what, &s)) {
        snprintf(row, sizeof row, "%s, %s: distance in q", what, set);
        check_below(row, s.r.moved_normal, q);
        snprintf(row, sizeof row, "%s, %s: distance in v", what, set);
        check_below(row, s.r.moved_normal_velocity, v);
    }
    projected_drop(&s);
}

/* ---- the double pendulum of A 5.1, its first link a rod */

#define PENDULUM                                                                                                                   \
    "[parameters]\nomega = 1000\nlift = 0\n[coordinates]\nx1, y1, x2, y2\n[bonds]\ninner = sqrt(x1^2 + y1^2) - 1\n"                \
    "outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 stiffness omega^2\n[start]\nx1 = cos(0.3), y1 = sin(0.3), x1' = 0.4*y1, y1' = "       \
    "-0.4*x1\n"                                                                                                                    \
    "x2 = 1.9, y2 = -lift, x2' = 0.3, y2' = 0.5\n"

static void test_pendulum(void)
{
    static const char *const sets[] = {"omega=1e3", "omega=1e4", "omega=1e6", "omega=1e8"};
    const int rod[] = {0};
    int64_t least[2] = {INT64_MAX, INT64_MAX}, most[2] = {0, 0};
    check_group("double pendulum");
    for (int k = 0; k < 4; k++) {
        double omega = atof(sets[k] + 6), u = DBL_EPSILON / 2;
        projected s = run(PENDULUM, sets[k], NULL, "method=series"), p = run(PENDULUM, sets[k], NULL, "method=kernel");
        if (projected_good("series", &s) && projected_good("kernel", &p)) {
            check_below("kernel, q", apart(4, p.r.q, s.r.q), fmax(1e-11 * pow(1e3 / omega, 4), 8 * u * 2));
            check_below("kernel, v", apart(4, p.r.v, s.r.v), fmax(1e-9 * pow(1e3 / omega, 4), 8 * u * omega * 2));
            check_below("kernel, multipliers", apart(2, p.r.lambda, s.r.lambda), 1e-6 * fmax(1, largest(2, s.r.lambda)));
            check_rods("kernel", &p, 1, rod);
            least[0] = p.r.statistics.force_evaluations < least[0] ? p.r.statistics.force_evaluations : least[0];
            most[0] = p.r.statistics.force_evaluations > most[0] ? p.r.statistics.force_evaluations : most[0];
            check_below("kernel, evaluations", (double)p.r.statistics.force_evaluations, 150);
        }
        projected_drop(&p);
        p = run(PENDULUM, sets[k], NULL, "method=ipa");
        if (projected_good("ipa", &p)) {
            check_distance("ipa", &p, &p.r, PENDULUM, sets[k], 1e-9, fmax(1e-6 * pow(1e3 / omega, 2), 8 * u * omega * 2));
            check_rods("ipa", &p, 1, rod);
            check_contains("ipa", p.r.explanation, "on the rods");
            least[1] = p.r.statistics.force_evaluations < least[1] ? p.r.statistics.force_evaluations : least[1];
            most[1] = p.r.statistics.force_evaluations > most[1] ? p.r.statistics.force_evaluations : most[1];
        }
        projected_drop(&p);
        projected_drop(&s);
    }
    check_below("kernel: two of the shortest passes", (double)(most[0] - least[0]), 2 * 9);
    check_below("ipa: two passes, with 3 evaluations of bonds each", (double)(most[1] - least[1]), 2 * 40);
}

/* Frequencies by hand: A_ss = 2, A_rr = 1, A_sr = -cos between the links, so that Omega^2 = omega^2 (2 - cos^2): omega where the pendulum is straight,
 * sqrt(2) omega where it is bent at a right angle. */
static void test_frequencies(void)
{
    static const struct {
        const char *start;
        double ratio;
    } rows[] = {{"x1 = 1\ny1 = 0\nx2 = 2\ny2 = 0\nx1' = 0\ny1' = 0.1\nx2' = 0\ny2' = 0.2\n", 1},
                {"x1 = 1\ny1 = 0\nx2 = 1\ny2 = 1\nx1' = 0\ny1' = 0.1\nx2' = 0.2\ny2' = 0.1\n", 1.4142135623730951},
                {"x1 = 0.8\ny1 = 0.6\nx2 = 1.8\ny2 = 0.6\nx1' = 0\ny1' = 0\nx2' = 0\ny2' = 0.3\n", 1.1661903789690601}};
    check_group("frequencies");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        projected p = run(PENDULUM, "omega=1e4", rows[k].start, "method=kernel");
        const char *at = p.code == 0 ? strstr(p.r.explanation, "frequencies ") : NULL;
        double low = NAN, high = NAN;
        check_row(at && sscanf(at, "frequencies %lf to %lf", &low, &high) == 2, "row %d: %s", (int)k,
                  p.code ? p.error.message : p.r.explanation);
        check_near("slowest", low / 1e4, rows[k].ratio, 1e-4); /* five digits are printed, and slow stretches are 1e-8 */
        check_near("fastest", high / 1e4, rows[k].ratio, 1e-4);
        projected_drop(&p);
    }
}

/* ---- without series: the pendulum by the angle of its rod, x = (phi, x2, y2), unit masses */

typedef struct swing {
    double omega, x[3], v[3];
} swing;

static double stretch(const double *x)
{
    return hypot(x[1] - cos(x[0]), x[2] - sin(x[0])) - 1;
}

static void accelerate(const swing *s, double *a)
{
    double dx = s->x[1] - cos(s->x[0]), dy = s->x[2] - sin(s->x[0]), r = hypot(dx, dy), pull = s->omega * s->omega * (r - 1) / r;
    a[0] = -pull * (dx * sin(s->x[0]) - dy * cos(s->x[0]));
    a[1] = -pull * dx;
    a[2] = -pull * dy;
}

/* Verlet of 200 steps in a period of omega; g of every tenth. What a polynomial of degree 9 does not follow is the oscillation: its largest
 * value over 12 periods. Steps so short add 1e-4 of what they would at h omega = 1. */
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
    for (int d = 0; d <= DEGREE; d++) { /* orthonormal polynomials on the samples, and their parts taken out */
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
    return (swing){omega, {atan2(q[1], q[0]), q[2], q[3]}, {q[0] * v[1] - q[1] * v[0], v[2], v[3]}};
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

/* The same pendulum as a model of its own, over the same foot point. Fibres that are orthogonal here and there differ by C^2. */
static void test_angle(void)
{
    static const char *const by_phi =
        "[parameters]\nomega = 1000\n[coordinates]\nphi, x2, y2\n[bonds]\nouter = sqrt((cos(phi)-x2)^2 + (sin(phi)-y2)^2) - 1 "
        "stiffness omega^2\n[start]\nphi = 0.3, phi' = -0.4, x2 = cos(0.3) + 1, y2 = sin(0.3), x2' = 0.4*sin(0.3), y2' = 0.7\n";
    static const char *const with_rod =
        "x1 = cos(0.3)\ny1 = sin(0.3)\nx1' = 0.4*y1\ny1' = -0.4*x1\nx2 = cos(0.3) + 1\ny2 = sin(0.3)\n"
        "x2' = 0.4*sin(0.3)\ny2' = 0.7\n";
    check_group("by its angle");
    projected a = run(by_phi, "", NULL, "method=series"), p = run(PENDULUM, "", with_rod, "method=kernel");
    if (projected_good("angle", &a) && projected_good("rod", &p)) {
        swing s = by_angle(1000, p.r.q, p.r.v);
        check_below("q", apart(3, s.x, a.r.q), 1e-11);
        check_below("v", apart(3, s.v, a.r.v), 1e-9);
        check_near("multiplier", p.r.lambda[1], a.r.lambda[0], 1e-5); /* 1e-11 omega^2 */
        /* of the rod, by hand: the acceleration of the first mass along it is -phi'^2 */
        double dx = p.r.q[2] - p.r.q[0], dy = p.r.q[3] - p.r.q[1], along = (dx * p.r.q[0] + dy * p.r.q[1]) / hypot(dx, dy);
        check_near("rod", p.r.lambda[0], s.v[0] * s.v[0] + p.r.lambda[1] * along, 1e-10);
    }
    projected_drop(&a);
    projected_drop(&p);
}

/* Verlet's slow motion errs as omega^-4, and so does the velocity, a derivative: put back onto the rods, both keep that order. */
static void test_order(void)
{
    static const char *const model = "[parameters]\nomega = 100\n[coordinates]\nx1, y1, x2, y2\n[potential]\ny1 + "
                                     "y2\n[bonds]\ninner = sqrt(x1^2 + y1^2) - 1\nouter = "
                                     "sqrt((x1-x2)^2 + (y1-y2)^2) - 1 stiffness omega^2\n[start]\nx1 = 0.8, y1 = -0.6, x1' = 0.3, "
                                     "y1' = 0.4, x2 = 1.5, y2 = -1.3\n"
                                     "x2' = 0.2, y2' = -0.6\n";
    double off[2][3];
    static const char *const sets[] = {"omega=100", "omega=200", "omega=400"};
    check_group("order");
    for (int k = 0; k < 3; k++) {
        /* steps as they are: 12 to each side, h omega = 1.7 */
        projected s = run(model, sets[k], NULL, "method=series"), p = run(model, sets[k], NULL, "method=kernel micro-steps=12");
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
            check_row(order > 3.7, "%s: %.3g, %.3g, order %.2f", part ? "v" : "q", off[part][k], off[part][k + 1], order);
        }
}

/* ---- other systems */

#define TWO(bonds, more)                                                                                                           \
    "[parameters]\nomega = 1000\n[coordinates]\nx1, y1, x2, y2\n[potential]\ny1 + y2\n" more "[bonds]\n" bonds                     \
    "\n[start]\nx1 = 0.8, y1 = -0.6, x1' = 0.3, y1' = 0.4, x2 = 1.52, y2 = -1.31, x2' = 0.2, y2' = -0.6\n"
#define INNER "inner = sqrt(x1^2 + y1^2) - 1\n"
#define OUTER "outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 stiffness omega^2"

static const struct {
    const char *name, *model, *set;
    int rods[3], count;
} systems[] = {
    {"masses", TWO(INNER OUTER, "[mass]\nx1 = 2, y1 = 2, x2 = 0.3, y2 = 0.3\n"), "", {0}, 1},
    {"a full mass matrix", TWO(INNER OUTER, "[mass]\nx1 = 2, y1 = 2\nM[x1,x2] = 0.4\nM[y1,y2] = 0.4\n"), "", {0}, 1},
    {"a varying mass", TWO(INNER OUTER, "[mass]\nx1 = 2 + 0.3*sin(y1), x2 = 1 + 0.2*y2^2\nM[x1,y1] = 0.3*cos(x2)\n"), "", {0}, 1},
    {"a kinetic energy",
     "[parameters]\nomega = 1000\n[coordinates]\nr, phi, z, w\n[kinetic]\n(r'^2 + r^2*phi'^2 + z'^2 + w'^2)/2\n[potential]\nw + "
     "r*sin(phi)\n"
     "[bonds]\ninner = r - 1 stiffness omega^2\nouter = sqrt((z - r*cos(phi))^2 + (w - r*sin(phi))^2) - 1\n[start]\nr = 1.01, phi "
     "= -0.5, phi' = "
     "0.6, z = r*cos(phi) + 0.6, w = r*sin(phi) - 0.8, z' = -0.6*r*sin(phi), w' = 0.6*r*cos(phi)\n",
     "",
     {1},
     1},
    {"drag and turning", TWO(INNER OUTER, "[forces]\nx1 = 0.5*y1' - 0.1*x2', y2 = -0.5*x2' - 0.1*y2'\n"), "", {0}, 1},
    {"a damped spring", TWO(INNER OUTER " damping 0.05*omega", ""), "", {0}, 1},
    {"a rod that moves", TWO("inner = sqrt((x1 - 0.2*sin(t))^2 + y1^2) - 1 - 0.1*t\n" OUTER, ""), "", {0}, 1},
    {"an elastic coupler, driven", "four_bar", "c=1e-7", {0, 1, 4}, 3},
    {"a soft spring besides", TWO(INNER OUTER "\nband = x2 - 1 stiffness 2 soft", ""), "", {0}, 1},
    {"the spring first",
     TWO("inner = sqrt(x1^2 + y1^2) - 1 stiffness omega^2\nouter = sqrt((x1-x2)^2 + (y1-y2)^2) - 1", ""),
     "",
     {1},
     1},
    {"a molecule",
     "[parameters]\nomega = 1e3\n[particles]\ndimension = 3\nO mass 16\nH[i] for i in 1..2 mass 1\n[bonds]\narm[i] = length(H[i] - "
     "O) - 1 for i in "
     "1..2\nspan = length(H[1] - H[2]) - 1.6 stiffness omega^2\n[start]\nO = (0, 0, 0)\nH[1] = (0.6, 0.8, 0)\nH[2] = (0.61, -0.79, "
     "0.05)\n"
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
        if (n > 0 && projected_good(name, &p) && check_row(stated_accuracy(&p.r, &q, &v), "%s: %s", name, p.r.explanation)) {
            check_row(apart(n, p.r.q, s.r.q) <= 10 * q && q <= 1e-7, "%s: %.3g in q, stated %.3g", name, apart(n, p.r.q, s.r.q), q);
            check_row(apart(n, p.r.v, s.r.v) <= 10 * v && v <= 1e-7, "%s: %.3g in v, stated %.3g", name, apart(n, p.r.v, s.r.v), v);
            check_row(apart(m, p.r.lambda, s.r.lambda) <= 1e-4 * largest(m, s.r.lambda), "%s: %.3g in lambda", name,
                      apart(m, p.r.lambda, s.r.lambda));
            check_rods(name, &p, systems[k].count, systems[k].rods);
        }
        projected_drop(&p);
        p = run(systems[k].model, systems[k].set, NULL, "method=ipa");
        if (n > 0 && projected_good(name, &p) && check_row(stated_accuracy(&p.r, &q, &v), "%s: %s", name, p.r.explanation)) {
            check_distance(name, &p, &p.r, systems[k].model, systems[k].set, 10 * q, 10 * v);
            check_row(q <= 1e-6 && v <= 1e-4, "%s: ipa states %.3g, %.3g", name, q, v);
            check_rods(name, &p, systems[k].count, systems[k].rods);
        }
        projected_drop(&p);
        projected_drop(&s);
    }
}

/* 200 links, every third a rod, bent by up to 0.5 rad, springs off by up to 1e-3 [issue 4]. */
static void test_chain(void)
{
    enum { N = 200 };
    static const char *const model =
        "[parameters]\nomega = 1e6\nN = 200\n[particles]\ndimension = 2\nbob[i] for i in 1..N mass 1\n[potential]\nsum(bob[i].y "
        "for i in 1..N)\n"
        "[bonds]\nlink[1] = length(bob[1]) - 1 compliance omega^-2\n"
        "link[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N compliance if(mod(i, 3) < 0.5, 0, omega^-2)\n";
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
        used += (size_t)snprintf(start + used, sizeof start - used, "bob[%d] = (%.17g, %.17g)\nbob[%d]' = (%.3f, %.3f)\n", i, x, y,
                                 i, 0.1 * sin(3.0 * i), 0.1 * cos(5.0 * i));
    }
    check_group("chain");
    projected s = run(model, "", start, "method=series"), p = run(model, "", start, "method=kernel");
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

/* ---- manners */

/* A slow point comes back as it is: in a model, and where there are functions alone. A start off the rods goes to the slow point of that start. */
static void test_harmless(void)
{
    char text[2000];
    check_group("no harm");
    projected s = run(PENDULUM, "", NULL, "method=series");
    static const char *const methods[] = {"method=kernel", "method=ipa"};
    if (projected_good("series", &s))
        write_start(&s, &s.r, text, sizeof text);
    for (int k = 0; k < 2 && s.code == 0; k++) {
        projected p = run(PENDULUM, "", text, methods[k]);
        if (projected_good(methods[k], &p)) {
            check_row(apart(4, p.r.q, s.r.q) == 0 && apart(4, p.r.v, s.r.v) == 0, "%s keeps it", methods[k]);
            check_below(methods[k], (double)p.r.passes, 1);
            check_below("multipliers", apart(2, p.r.lambda, s.r.lambda), 1e-8);
        }
        projected_drop(&p);
    }
    projected_drop(&s);
    static const char *const off = "x1 = 1\ny1 = 0.25\nx2 = 2\ny2 = 0\nx1' = 0\ny1' = -0.5\nx2' = 0\ny2' = 0.5\n"; /* A (29)-(30) */
    s = run(PENDULUM, "", off, "method=series");
    projected p = run(PENDULUM, "", off, "method=kernel");
    if (projected_good("series", &s) && projected_good("off the rods", &p)) {
        const double *g;
        check_below("q", apart(4, p.r.q, s.r.q), 1e-11);
        check_below("v", apart(4, p.r.v, s.r.v), 1e-9);
        check_near("the start is shown", p.r.start_q[1], 0.25, 0);
        check_row(taut_projection_pass(p.projection, 0, &g, NULL, NULL), "pass 0");
        check_near("with its rod", g[0], sqrt(1 + 0.0625) - 1, 1e-15);
    }
    projected_drop(&p);
    p = run(PENDULUM, "", off, "method=ipa");
    if (projected_good("ipa", &p)) {
        check_distance("ipa", &p, &p.r, PENDULUM, "", 1e-9, 1e-6);
        check_near("the start is shown", p.r.start_q[1], 0.25, 0);
    }
    projected_drop(&p);
    projected_drop(&s);
}

static void test_held(void)
{
    static const char *const rows[] = {"method=kernel hold=x2", "method=kernel hold=x1,y1", "method=kernel hold=y1',x2",
                                       "method=ipa hold=x2"};
    check_group("held");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        projected p = run(PENDULUM, "", NULL, rows[k]);
        const int rod[] = {0};
        if (projected_good(rows[k], &p)) {
            const char *names[] = {"x1", "y1", "x2", "y2"};
            for (int i = 0; i < 4; i++) {
                const char *at = strstr(strstr(rows[k], "hold="), names[i]);
                if (at && at[2] == '\'')
                    check_near(rows[k], p.r.v[i], p.r.start_v[i], 0);
                else if (at)
                    check_near(rows[k], p.r.q[i], p.r.start_q[i], 0);
            }
            check_rods(rows[k], &p, 1, rod);
            bool ipa = strstr(rows[k], "ipa");
            check_distance(rows[k], &p, &p.r, PENDULUM, "", ipa ? 1e-9 : 1e-11, ipa ? 1e-6 : 1e-9);
        }
        projected_drop(&p);
    }
}

static void test_words(void)
{
    check_group("words");
    projected p = run(PENDULUM, "", NULL, "method=kernel passes=1");
    check_equal("too few passes", p.code, TAUT_ERROR_CONVERGE);
    if (check_row(p.projection, "a failure has a result"))
        check_row(apart(4, p.r.q, p.r.start_q) == 0 && apart(4, p.r.v, p.r.start_v) == 0 && p.r.start_q[2] == 1.9,
                  "the start is kept");
    projected_drop(&p);
    p = run(PENDULUM, "", NULL, "method=auto");
    if (projected_good("auto", &p))
        check_contains("auto", p.r.method, "series");
    projected_drop(&p);
    p = run("[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2 + y^2) - 1\n[start]\nx = 1.1\n", "", NULL, "method=kernel");
    projected_refused("rods alone", &p, TAUT_ERROR_REFUSED, "--method constraint");
    p = run("[coordinates]\nx, y, z\n[bonds]\nrod = z - 1\n[stiff potential]\n(x^2 + y^2 - 1)^2/4 scale 1e6\n[start]\nx = 1.01, z "
            "= 1\n",
            "", NULL, "method=kernel");
    projected_refused("a stiff potential", &p, TAUT_ERROR_REFUSED, "use --method series");
    p = run(TWO(INNER OUTER " damping 3*omega", ""), "", NULL, "method=kernel");
    projected_refused("strong damping", &p, TAUT_ERROR_CONVERGE, "use --method series");
    p = run(TWO(INNER "twin = x1^2 + y1^2 - 1\n" OUTER, ""), "", NULL, "method=kernel");
    projected_refused("rods that depend on others", &p, TAUT_ERROR_SINGULAR, "some depend on others");
}

/* ---- functions in C: no derivatives, and they may stop */

typedef struct caller {
    int64_t calls, at;
} caller;

static int pull(void *user, double t, const double *q, const double *v, double *f)
{
    caller *c = user;
    (void)t, (void)q, (void)v;
    memset(f, 0, 4 * sizeof(double));
    return ++c->calls == c->at ? -3 : 0;
}

static int bonds(void *user, double t, const double *q, double *g)
{
    caller *c = user;
    (void)t;
    g[0] = hypot(q[0], q[1]) - 1;
    g[1] = hypot(q[2] - q[0], q[3] - q[1]) - 1;
    return ++c->calls == c->at ? -3 : 0;
}

static projected call(caller *c, const double *q, const double *v, const char *options)
{
    static const double compliance[] = {0, 1e-6};
    projected p = {0};
    taut_callbacks calls = {.coordinates = 4,
                            .bonds = 2,
                            .force = pull,
                            .bond = bonds,
                            .compliance = compliance,
                            .start_q = q,
                            .start_v = v,
                            .user = c};
    p.code = taut_system_from_callbacks(&calls, NULL, &p.system, &p.error);
    projected_run(&p, options, NULL);
    return p;
}

/* G by differences is good to 1e-10: so are the rods' rates. */
static void test_functions(void)
{
    static const char *const methods[] = {"method=kernel", "method=ipa", "method=auto"};
    check_group("functions");
    projected s = run(PENDULUM, "", NULL, "method=series");
    for (int k = 0; k < 3 && projected_good("series", &s); k++) {
        caller c = {0};
        projected p = call(&c, s.r.start_q, s.r.start_v, methods[k]);
        if (projected_good(methods[k], &p) && k != 1) {
            check_contains(methods[k], p.r.method, "kernel");
            check_below(methods[k], apart(4, p.r.q, s.r.q), 1e-11);
            check_below(methods[k], apart(4, p.r.v, s.r.v), 1e-9);
        } else if (p.code == 0) {
            check_distance(methods[k], &s, &p.r, PENDULUM, "", 1e-9, 1e-6);
        }
        projected_drop(&p);
        c.calls = 0;
        p = call(&c, s.r.q, s.r.v, methods[k]);
        if (projected_good(methods[k], &p) && k != 1) /* ipa cannot tell without derivatives, and moves it by its own error */
            check_row(apart(4, p.r.q, s.r.q) == 0 && apart(4, p.r.v, s.r.v) == 0 && p.r.passes <= 1,
                      "%s keeps what is slow: %d passes, %s", methods[k], (int)p.r.passes, p.r.explanation);
        projected_drop(&p);
    }
    for (int k = 0; k < 2 && s.code == 0; k++) {
        caller c = {0};
        projected p = call(&c, s.r.start_q, s.r.start_v, methods[k]);
        int64_t calls = c.calls, missed = 0;
        projected_drop(&p);
        for (int64_t at = 1; at <= calls; at = at < 60 ? at + 1 : at * 9 / 8) {
            c = (caller){.at = at};
            p = call(&c, s.r.start_q, s.r.start_v, methods[k]);
            missed += p.code != TAUT_ERROR_STOPPED || c.calls != at;
            projected_drop(&p);
        }
        check_row(missed == 0 && calls > 100, "%s: of %lld stops %lld were missed", methods[k], (long long)calls,
                  (long long)missed);
    }
    projected_drop(&s);
}

static void test_memory(void)
{
    static const char *const options[] = {"method=kernel", "method=ipa", "method=kernel hold=x2"};
    check_group("memory");
    for (int way = 0; way < 3; way++) {
        int64_t k = 1;
        for (; k < 4000; k = faulty_next(k)) {
            faulty f = {.fail = k};
            taut_allocator allocator = faulty_allocator(&f);
            projected p = project_model_with(PENDULUM, NULL, options[way], &allocator);
            bool failed = f.failed > 0;
            check_row(p.code == (failed ? TAUT_ERROR_MEMORY : TAUT_OK), "%s, call %lld: %s %s", options[way], (long long)k,
                      taut_code_name(p.code), p.error.message);
            projected_drop(&p);
            check_row(f.live == 0, "%s, call %lld: %lld blocks left", options[way], (long long)k, (long long)f.live);
            if (!failed)
                break;
        }
        check_row(k > 10, "%s: only %lld allocations seen", options[way], (long long)k);
    }
}

int main(void)
{
    test_pendulum();
    test_frequencies();
    test_ringing();
    test_angle();
    test_order();
    test_systems();
    test_chain();
    test_harmless();
    test_held();
    test_words();
    test_functions();
    test_memory();
    return check_done();
}
