/* test_system.c - the machinery behind model files. Families, sums, tables and functions equal
 * the same systems written out line by line, in everything a system answers and in their jets;
 * initial values, names and sizes; nothing is expanded. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <taut/taut.h>

#include <unistd.h>

#include "support/table.h"
#include "support/twins.h"

static const twins_limits rounding = {2e-14, 1e-13, 1e-12};

/* ---- families and their written-out twins */

static const struct {
    const char *name, *family, *written;
} pairs[] = {
    {"definitions complete a family at its ends",
     "[parameters]\nn = 4\n[coordinates]\nq[i] for i in 1..n\n"
     "[definitions]\nq[0] = 0, q[n+1] = sin(t)\n"
     "[bonds]\nlink[i] = (q[i] - q[i-1])^2 - 1 for i in 1..n+1   stiffness 10*i\n"
     "[potential]\nsum(cos(q[i+1] - q[i]) for i in 0..n)\n"
     "[start]\nq[i] = i/2 for i in 1..n\n",
     "[coordinates]\na, b, c, d\n"
     "[bonds]\nl1 = a^2 - 1   stiffness 10\nl2 = (b - a)^2 - 1   stiffness 20\nl3 = (c - b)^2 - 1  "
     " stiffness 30\n"
     "l4 = (d - c)^2 - 1   stiffness 40\nl5 = (sin(t) - d)^2 - 1   stiffness 50\n"
     "[potential]\ncos(a) + cos(b - a) + cos(c - b) + cos(d - c) + cos(sin(t) - d)\n"
     "[start]\na = .5, b = 1, c = 1.5, d = 2\n"},
    {"an end that depends on the motion",
     "[coordinates]\nq[i] for i in 1..3\nroot\n"
     "[definitions]\nq[0] = root^2 + t\n"
     "[bonds]\nlink[i] = q[i]*q[i-1] - 1 for i in 1..3\n"
     "[forces]\nq[i] = q[i-1]*q[i]' for i in 1..3\n"
     "[start]\nq[i] = i for i in 1..3\nroot = 1\n",
     "[coordinates]\na, b, c, r\n"
     "[bonds]\nl1 = a*(r^2 + t) - 1\nl2 = b*a - 1\nl3 = c*b - 1\n"
     "[forces]\na = (r^2 + t)*a'\nb = a*b'\nc = b*c'\n"
     "[start]\na = 1, b = 2, c = 3, r = 1\n"},
    {"if over the index",
     "[coordinates]\nx[i] for i in 1..5\n"
     "[potential]\nsum(if(i == 1, 3*x[i]^2, if(mod(i, 2) == 0, x[i]^4, cos(x[i]*x[i-1]))) for i in "
     "1..5)\n"
     "[bonds]\ng[i] = if(i < 3, x[i] - x[i+1], sin(x[i])) for i in 1..5\n"
     "[start]\nx[i] = if(i > 3, 1/i, -i) for i in 1..5\n",
     "[coordinates]\na, b, c, d, e\n"
     "[potential]\n3*a^2 + b^4 + cos(c*b) + d^4 + cos(e*d)\n"
     "[bonds]\ng1 = a - b\ng2 = b - c\ng3 = sin(c)\ng4 = sin(d)\ng5 = sin(e)\n"
     "[start]\na = -1, b = -2, c = -3, d = 1/4, e = 1/5\n"},
    {"triangular families",
     "[particles]\ndimension = 3\np[i] for i in 1..4   mass i\n"
     "[potential]\nsum(1/length(p[i] - p[j]) for i in 1..4, j in i+1..4)\n"
     "[bonds]\npair[i,j] = dot(p[i], p[j]) for i in 1..3, j in i+1..3   stiffness i + 10*j\n"
     "[start]\np[i] = (i, i^2, 1/i) for i in 1..4\n",
     "[particles]\ndimension = 3\na, b   mass 2\nc   mass 3\nd   mass 4\n"
     "[potential]\n1/length(a - b) + 1/length(a - c) + 1/length(a - d) + 1/length(b - c) + "
     "1/length(b - d) + 1/length(c - d)\n"
     "[bonds]\nab = dot(a, b)   stiffness 21\nac = dot(a, c)   stiffness 31\nbc = dot(b, c)   "
     "stiffness 32\n"
     "[start]\na = (1, 1, 1), b = (2, 4, 1/2), c = (3, 9, 1/3), d = (4, 16, 1/4)\n"},
    {"sums stay loops, with factors and signs",
     "[parameters]\nk = 3\n[coordinates]\nx[i] for i in 1..6\ny\n"
     "[potential]\n-k*sum(x[i]^2*y for i in 1..6)/2 + sin(y)*sum(x[i]*x[j] for i in 1..6, j in "
     "1..i-1) - (sum(exp(x[i]) for i in "
     "2..4) - y)\n"
     "[forces]\ny = y'*sum(x[i]' for i in 1..6) - sum(sum(x[i]*j for j in 1..i) for i in 1..3)\n"
     "[start]\nx[i] = i/6 for i in 1..6\ny = 2\n",
     "[parameters]\nk = 3\n[coordinates]\na, b, c, d, e, f\ny\n"
     "[potential]\n-k*(a^2*y + b^2*y + c^2*y + d^2*y + e^2*y + f^2*y)/2\n"
     "sin(y)*(b*a + c*a + c*b + d*a + d*b + d*c + e*a + e*b + e*c + e*d + f*a + f*b + f*c + f*d + "
     "f*e)\n"
     "-(exp(b) + exp(c) + exp(d)) + y\n"
     "[forces]\ny = y'*(a' + b' + c' + d' + e' + f') - (a + 3*b + 6*c)\n"
     "[start]\na = 1/6, b = 2/6, c = 3/6, d = 4/6, e = 5/6, f = 6/6, y = 2\n"},
    {"sums inside nonlinear expressions are written out",
     "[parameters]\nN = 4\n[coordinates]\nx[i] for i in 1..N\n"
     "[bonds]\nsphere = sqrt(sum(x[i]^2 for i in 1..N)) - 1\n"
     "partial[i] = log(sum(x[j]^2 for j in 1..i)) for i in 2..N   compliance 0.1\n"
     "[potential]\n1/sum(i*x[i]^2 for i in 1..N) + sum(x[i] for i in 3..2)\n"
     "[start]\nx[i] = i for i in 1..N\n",
     "[coordinates]\na, b, c, d\n"
     "[bonds]\nsphere = sqrt(a^2 + b^2 + c^2 + d^2) - 1\n"
     "p2 = log(a^2 + b^2)   compliance 0.1\np3 = log(a^2 + b^2 + c^2)   compliance 0.1\n"
     "p4 = log(a^2 + b^2 + c^2 + d^2)   compliance 0.1\n"
     "[potential]\n1/(a^2 + 2*b^2 + 3*c^2 + 4*d^2)\n"
     "[start]\na = 1, b = 2, c = 3, d = 4\n"},
    {"functions, vectors and definitions of definitions",
     "[parameters]\ne = 2, s = 1.5, L = 4\n[particles]\ndimension = 3\np[i] for i in 1..3   mass "
     "2\n"
     "[definitions]\nsixth(x) = x^6\nlj(r) = 4*e*(sixth(s/r)^2 - sixth(s/r))\nimage(d) = d - "
     "L*round(d/L)\n"
     "arm[i] = image(p[i+1] - p[i]) for i in 1..2\nnormal = cross(arm[1], arm[2])\n"
     "[potential]\nlj(length(arm[1])) + lj(length(arm[2]))\n"
     "[bonds]\nflat = normal.z\nturn = angle(arm[1], arm[2]) - 1   stiffness 5\nlong = "
     "length(image(p[3] - p[1])) - 3   stiffness 2\n"
     "[start]\np[1] = (0, 0, 0), p[2] = (1.5, 0.2, 0.3), p[3] = (2.5, 1.1, -0.4)\n",
     "[coordinates]\nx1, y1, z1, x2, y2, z2, x3, y3, z3\n"
     "[mass]\nx1 = 2, y1 = 2, z1 = 2, x2 = 2, y2 = 2, z2 = 2, x3 = 2, y3 = 2, z3 = 2\n"
     "[definitions]\nr1 = sqrt((x2 - x1)^2 + (y2 - y1)^2 + (z2 - z1)^2)\nr2 = sqrt((x3 - x2)^2 + "
     "(y3 - y2)^2 + (z3 - z2)^2)\n"
     "nx = (y2 - y1)*(z3 - z2) - (z2 - z1)*(y3 - y2)\nny = (z2 - z1)*(x3 - x2) - (x2 - x1)*(z3 - "
     "z2)\n"
     "nz = (x2 - x1)*(y3 - y2) - (y2 - y1)*(x3 - x2)\n"
     "[potential]\n8*((1.5/r1)^12 - (1.5/r1)^6) + 8*((1.5/r2)^12 - (1.5/r2)^6)\n"
     "[bonds]\nflat = nz\n"
     "turn = atan2(sqrt(nx^2 + ny^2 + nz^2), (x2 - x1)*(x3 - x2) + (y2 - y1)*(y3 - y2) + (z2 - "
     "z1)*(z3 - z2)) - 1   stiffness 5\n"
     /* x3 - x1 = 2.5 is folded to -1.5 */
     "long = sqrt((x3 - x1 - 4)^2 + (y3 - y1)^2 + (z3 - z1)^2) - 3   stiffness 2\n"
     "[start]\nx2 = 1.5, y2 = 0.2, z2 = 0.3, x3 = 2.5, y3 = 1.1, z3 = -0.4\n"},
    {"total time derivatives of definitions",
     "[coordinates]\nx, y\n[definitions]\nanchor = (sin(3*t), t^2)\nreach = length((x, y) - "
     "anchor)\nturning = x*y^2 + t*x\n"
     "[forces]\nx = -2*(x' - anchor.x') + turning'\ny = -reach' + anchor.y'*y\n"
     "[bonds]\nrod = reach - 1   stiffness 7\n[start]\nx = 2, y = 1\n",
     "[coordinates]\nx, y\n[definitions]\nr = sqrt((x - sin(3*t))^2 + (y - t^2)^2)\n"
     "[forces]\nx = -2*(x' - 3*cos(3*t)) + x'*y^2 + 2*x*y*y' + x + t*x'\n"
     "y = -((x - sin(3*t))*(x' - 3*cos(3*t)) + (y - t^2)*(y' - 2*t))/r + 2*t*y\n"
     "[bonds]\nrod = r - 1   stiffness 7\n[start]\nx = 2, y = 1\n"},
    {"forces on families, components and several lines",
     "[parameters]\nalpha = 0.5\n[particles]\ndimension = 2\np[i] for i in 1..3   mass 1\n"
     "[forces]\np[i] = -alpha*p[i]' + (i, -i)*t for i in 1..3\np[2].y = sin(p[1].x)\np[i].x = i "
     "for i in 1..2\np[2] = (p[3].y, 1)\n"
     "[start]\np[i] = (i, 1) for i in 1..3\n",
     "[coordinates]\nx1, y1, x2, y2, x3, y3\n"
     "[forces]\nx1 = -0.5*x1' + t + 1\ny1 = -0.5*y1' - t\nx2 = -0.5*x2' + 2*t + 2 + y3\ny2 = "
     "-0.5*y2' - 2*t + sin(x1) + 1\n"
     "x3 = -0.5*x3' + 3*t\ny3 = -0.5*y3' - 3*t\n"
     "[start]\nx1 = 1, y1 = 1, x2 = 2, y2 = 1, x3 = 3, y3 = 1\n"},
    {"masses of families, a matrix between particles",
     "[particles]\ndimension = 2\np[i] for i in 1..3\n"
     "[mass]\np[i] = 2 + i for i in 1..2\nM[p[1], p[2]] = 0.5*cos(p[3].x)\nM[p[2].x, p[3].y] = "
     "0.25\n"
     "[start]\np[i] = (i, 1) for i in 1..3\n",
     "[coordinates]\na, b, c, d, e, f\n"
     "[mass]\na = 3, b = 3, c = 4, d = 4\nM[a, c] = 0.5*cos(e), M[b, d] = 0.5*cos(e), M[c, f] = "
     "0.25\n"
     "[start]\na = 1, b = 1, c = 2, d = 1, e = 3, f = 1\n"},
    {"kinetic energies of families",
     "[coordinates]\nphi[i] for i in 1..3\n"
     "[definitions]\njoint[0] = (0, 0)\njoint[i] = joint[i-1] + (sin(phi[i]), -cos(phi[i])) for i "
     "in 1..3\n"
     "[kinetic]\nsum(dot(joint[i]', joint[i]')/2 for i in 1..3)\n"
     "[potential]\nsum(joint[i].y for i in 1..3)\n[start]\nphi[i] = i/2 for i in 1..3\n",
     "[coordinates]\na, b, c\n"
     "[kinetic]\n(3*a'^2 + 2*b'^2 + c'^2)/2 + 2*a'*b'*cos(a - b) + a'*c'*cos(a - c) + b'*c'*cos(b "
     "- c)\n"
     "[potential]\n-3*cos(a) - 2*cos(b) - cos(c)\n[start]\na = .5, b = 1, c = 1.5\n"},
    {"a stiff potential as sums",
     "[parameters]\nomega = 30\n[coordinates]\nx[i] for i in 1..3\n"
     "[stiff potential]\nsum((x[i]^2 - 1)^2 for i in 1..3)   scale omega^2/2\n[start]\nx[i] = 1 "
     "for i in 1..3\n",
     "[coordinates]\na, b, c\n[stiff potential]\n(a^2 - 1)^2 + (b^2 - 1)^2 + (c^2 - 1)^2   scale "
     "450\n[start]\na = 1, b = 1, c = 1\n"},
};

static void test_pairs(void)
{
    check_group("families");
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
        taut_system *family = twin_parse(pairs[k].family, NULL),
                    *written = twin_parse(pairs[k].written, NULL);
        if (family && written)
            twins_compare(pairs[k].name, family, written, 4, 0.1, rounding, 4);
        taut_system_destroy(family);
        taut_system_destroy(written);
    }
}

/* ---- tables */

static const char bars_csv[] =
    "# two triangles\ni, j, rest, k\n1, 2, 1.5, 10\n\n2, 3, 1, 20\n4, 1, 0.5, 30\n3, 4, 2, 40\n";
static const char road_csv[] = "height\n0\n1\n4\n9\n16\n";

static bool write_text(const char *folder, const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    bool good = file && fputs(text, file) >= 0;
    return file && fclose(file) == 0 && good;
}

static double spline_height(taut_context *context, double x, double *slope, double *curvature)
{
    double f[1], dq[1];
    taut_values values = {.size = sizeof values, .force = f, .force_dq = dq};
    taut_error error = {0};
    if (taut_evaluate(context, 0, &x, NULL, TAUT_WANT_FORCE | TAUT_WANT_FORCE_DQ | TAUT_WANT_ENERGY,
                      &values, &error) != 0)
        return NAN;
    *slope = -f[0];
    *curvature = -dq[0];
    return values.potential;
}

/* The natural spline through squares: at the knots the squares, second derivative 0 at the ends,
 * straight beyond, smooth between. */
static void test_spline(const taut_load *how)
{
    taut_system *system =
        twin_parse("[tables]\nroad = "
                   "road.csv\n[coordinates]\nx\n[potential]\nroad.height[x]\n[start]\nx = 1\n",
                   how);
    taut_context *context = NULL;
    if (!system || taut_context_create(system, NULL, &context, NULL) != 0) {
        taut_system_destroy(system);
        return;
    }
    double slope, curvature, left[2], right[2], before;
    for (int k = 1; k <= 5; k++)
        check_near("the spline at a knot", spline_height(context, k, &slope, &curvature),
                   (k - 1) * (k - 1), 1e-13);
    spline_height(context, 1, &slope, &curvature);
    check_near("curvature at the first end", curvature, 0, 1e-12);
    before = spline_height(context, -1, &left[0], &left[1]);
    check_near("straight beyond the end", before, -2 * slope, 1e-12);
    check_near("slope beyond the end", left[0], slope, 1e-12);
    spline_height(context, 3 - 1e-9, &left[0], &left[1]);
    spline_height(context, 3 + 1e-9, &right[0], &right[1]);
    check_near("slope across a knot", left[0], right[0], 1e-7);
    check_near("curvature across a knot", left[1], right[1], 1e-7);
    /* the moments of the natural spline through 0 1 4 9 16 are 0 18/7 12/7 18/7 0: between knots
     * 2 and 3 it is known */
    double m1 = 18.0 / 7, m2 = 12.0 / 7, middle = (1 + 4) / 2.0 - (m1 + m2) / 16;
    check_near("half way", spline_height(context, 2.5, &slope, &curvature), middle, 1e-13);
    check_near("curvature half way", curvature, (m1 + m2) / 2, 1e-12);
    taut_context_destroy(context);
    taut_system_destroy(system);
}

static void test_tables(void)
{
    check_group("tables");
    char folder[] = "/tmp/taut_tables_XXXXXX";
    if (!check_row(mkdtemp(folder) && write_text(folder, "bars.csv", bars_csv) &&
                       write_text(folder, "road.csv", road_csv),
                   "no folder for tables"))
        return;
    taut_load how = {.size = sizeof how, .table_folder = folder};
    taut_system *table = twin_parse(
                    "[tables]\nbars = bars.csv\n[particles]\ndimension = 2\np[i] for i in 1..4   "
                    "mass bars.k[i]/10\n"
                    "[bonds]\nbar[k] = length(p[bars.i[k]] - p[bars.j[k]]) - bars.rest[k] for k in "
                    "1..bars.rows"
                    "   stiffness bars.k[k]   damping bars.k[k]/100\n"
                    "[potential]\nsum(bars.rest[k]*p[bars.j[k]].y^2 for k in 1..bars.rows)\n"
                    "[start]\np[i] = (i, bars.rest[5-i]) for i in 1..4\n",
                    &how),
                *written = twin_parse(
                    "[particles]\ndimension = 2\na   mass 1\nb   mass 2\nc   mass 3\nd   mass 4\n"
                    "[bonds]\nab = length(a - b) - 1.5   stiffness 10   damping 0.1\n"
                    "bc = length(b - c) - 1   stiffness 20   damping 0.2\n"
                    "da = length(d - a) - 0.5   stiffness 30   damping 0.3\n"
                    "cd = length(c - d) - 2   stiffness 40   damping 0.4\n"
                    "[potential]\n1.5*b.y^2 + c.y^2 + 0.5*a.y^2 + 2*d.y^2\n"
                    "[start]\na = (1, 2), b = (2, 0.5), c = (3, 1), d = (4, 1.5)\n",
                    NULL);
    if (table && written)
        twins_compare("indirect indices", table, written, 4, 0.1, rounding, 4);
    taut_system_destroy(table);
    taut_system_destroy(written);
    test_spline(&how);
    char path[300];
    static const char *const names[] = {"bars.csv", "road.csv"};
    for (int k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        unlink(path);
    }
    rmdir(folder);
}

/* ---- initial values */

static void test_start(void)
{
    check_group("start");
    static const char text[] = "[coordinates]\na, b, c\n[parameters]\nk = 2\n"
                               "[start]\na = b + c, b = 2*c, c = k*t\na' = c', c' = 3\n";
    static const char *const set[] = {"k = 5"}, *const init[] = {"c = 7", "b' = a"};
    static const struct {
        const char *name, *start_text;
        bool set, init;
        double q[3], v[3];
    } rows[] = {
        {"any order, t is the time of the start", NULL, false, false, {12, 8, 4}, {3, 0, 3}},
        {"--set", NULL, true, false, {30, 20, 10}, {3, 0, 3}},
        {"--init is seen by what follows from it", NULL, false, true, {21, 14, 7}, {3, 21, 3}},
        {"--start", "c = 1\nb = -c\nc' = 9", false, false, {0, -1, 1}, {9, 0, 9}},
        {"--start, then --init", "c = 1\nb = -c", false, true, {0, -7, 7}, {3, 0, 3}}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        taut_load how = {.size = sizeof how,
                         .from = 2,
                         .set = set,
                         .set_count = rows[k].set,
                         .init = init,
                         .init_count = rows[k].init ? 2 : 0,
                         .start_text = rows[k].start_text};
        taut_system *system = NULL;
        taut_context *context = NULL;
        taut_error error = {0};
        int status = taut_system_parse(text, strlen(text), "model", &how, &system, &error);
        double q[3] = {0}, v[3] = {0};
        if (status == 0)
            status = taut_context_create(system, NULL, &context, &error);
        if (status == 0)
            status = taut_context_start(context, 2, q, v, &error);
        bool same = true;
        for (int i = 0; i < 3; i++)
            same = same && q[i] == rows[k].q[i] && v[i] == rows[k].v[i];
        check_row(status == 0 && same, "%s: %d %s: q = %g %g %g, v = %g %g %g", rows[k].name,
                  status, error.message, q[0], q[1], q[2], v[0], v[1], v[2]);
        taut_context_destroy(context);
        taut_system_destroy(system);
    }
}

static void test_cycles(void)
{
    check_group("cycles");
    static const struct {
        const char *start, *name;
    } rows[] = {{"a = b\nb = a + 1", " of "},
                {"a = sin(a)", " of a "},
                {"a' = b\nb = c\nc = a'", " of "},
                {"d[i] = d[4-i] for i in 1..3", " of d["}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char text[300];
        taut_error error = {0};
        taut_system *system = NULL;
        snprintf(text, sizeof text, "[coordinates]\na, b, c, d[i] for i in 1..3\n[start]\n%s\n",
                 rows[k].start);
        int status = taut_system_parse(text, strlen(text), "model", NULL, &system, &error);
        check_row(status == TAUT_ERROR_MODEL && strstr(error.message, "depends on itself") &&
                      strstr(error.message, rows[k].name) && error.line >= 4,
                  "%s: %d \"%s\", line %d", rows[k].start, status, error.message, error.line);
        taut_system_destroy(system);
    }
}

/* Long chains of initial values, in both directions, and a hundred thousand members without
 * expansion. */
static void test_recursion(void)
{
    enum { N = 100000 };
    check_group("recursion");
    static const char form[] =
        "[parameters]\nN = %d\n[particles]\ndimension = 2\nbob[i] for i in 1..N   mass 1\n"
        "[bonds]\nlink[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N   stiffness 4\n"
        "[potential]\nsum(bob[i].y for i in 1..N)\n[start]\n%s\n";
    static const struct {
        const char *start;
        double first, last;
    } rows[] = {
        {"bob[1] = (1, 2)\nbob[i] = bob[i-1] + (1, 0.5) for i in 2..N", 1, N},
        {"bob[N] = (0, 0)\nbob[i] = bob[i+1] - (1, 0.5) for i in 1..N-1", 1 - N, 0},
        {"bob[i] = (bob[i-1].x + 1, bob[i].x) for i in 2..N\nbob[i]' = bob[i]*2 for i in 1..N", 0,
         N - 1}};
    double *q = twin_room(2 * N), *v = twin_room(2 * N);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char text[600];
        snprintf(text, sizeof text, form, N, rows[k].start);
        taut_system *system = twin_parse(text, NULL);
        taut_context *context = NULL;
        taut_error error = {0};
        taut_sizes sizes = {.size = sizeof sizes};
        if (!system)
            continue;
        taut_system_sizes_get(system, &sizes, NULL);
        int status = taut_context_create(system, NULL, &context, &error);
        if (status == 0)
            status = taut_context_start(context, 0, q, v, &error);
        check_row(status == 0 && q[0] == rows[k].first && q[2 * N - 2] == rows[k].last,
                  "start %zu: %d %s: %g to %g", k, status, error.message, q[0], q[2 * N - 2]);
        if (k == 2)
            check_row(v[2 * N - 2] == 2.0 * (N - 1) && v[2 * N - 1] == 2.0 * (N - 1),
                      "velocities: %g %g", v[2 * N - 2], v[2 * N - 1]);
        check_row(sizes.kernels <= 6 && sizes.kernels >= 3, "kernels: %lld",
                  (long long)sizes.kernels);
        check_row(sizes.members >= 2 * N - 1 && sizes.members <= 4 * N, "members: %lld",
                  (long long)sizes.members);
        check_equal("entries of G", sizes.jacobian_entries, 4 * (N - 1));
        taut_context_destroy(context);
        taut_system_destroy(system);
    }
    free(q);
    free(v);
}

static void test_hold(void)
{
    check_group("hold and guess");
    taut_system *system =
        twin_parse("[coordinates]\na, b, c\n[particles]\ndimension = 2\np[i] for i in 1..2\n"
                   "[start]\na = 1 hold\na' = 2 hold\nb' = 1 hold\nc = 0 guess\np[1] = (1, 2) "
                   "hold\np[2].y = 3 guess\n",
                   NULL);
    const unsigned char *hold = system ? taut_system_hold(system) : NULL;
    static const unsigned char expected[] = {TAUT_HOLD_POSITION | TAUT_HOLD_VELOCITY,
                                             TAUT_HOLD_VELOCITY,
                                             TAUT_GUESS,
                                             TAUT_HOLD_POSITION,
                                             TAUT_HOLD_POSITION,
                                             0,
                                             TAUT_GUESS};
    for (int i = 0; i < 7 && check_row(hold != NULL, "there are bits"); i++)
        check_equal("bits", hold[i], expected[i]);
    taut_system_destroy(system);
    system = twin_parse("[coordinates]\na\n[start]\na = 1\n", NULL);
    check_row(system && !taut_system_hold(system), "no bits without hold");
    taut_system_destroy(system);
}

/* ---- names */

static void round_trip(const taut_system *system, taut_item item, const char *const *names,
                       taut_index count)
{
    char name[100], small[4];
    for (taut_index k = 0; k < count; k++) {
        int length = taut_system_name(system, item, k, name, sizeof name);
        check_row(strcmp(name, names[k]) == 0 && length == (int)strlen(name),
                  "item %d, number %d: %s, expected %s", (int)item, k, name, names[k]);
        check_equal(name, taut_system_find(system, item, name), k);
        taut_system_name(system, item, k, small, sizeof small);
        check_row(strncmp(small, names[k], 3) == 0 && strlen(small) <= 3, "cut to %s", small);
    }
    check_row(taut_system_name(system, item, count, name, sizeof name) == 0 && name[0] == 0,
              "beyond the end: '%s'", name);
    check_row(taut_system_name(system, item, -1, name, sizeof name) == 0,
              "before the beginning: '%s'", name);
    static const char *const wrong[] = {"",          "nothing", "p",   "p[1]", "p[1].w", "p[9].x",
                                        "pair[2,1]", "pair[1]", "x.x", "x[1]", "p[1.x"};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
        check_equal(wrong[k], taut_system_find(system, item, wrong[k]), -1);
}

static void test_names(void)
{
    check_group("names");
    taut_system *system = twin_parse(
        "[parameters]\nN = 2, w[i] = i for i in 0..1\n[coordinates]\nx\nz[i,j] for i in 0..1, j in "
        "-1..0\n"
        "[particles]\ndimension = 2\np[i] for i in 1..N   mass w[1]\n"
        "[bonds]\nrod = x + w[0]\npair[i,j] = z[i,0] - z[j-1,-1] for i in 0..1, j in i+1..2\n"
        "[outputs]\nheight[i] = p[i].y for i in 1..2\ntop = lambda(rod)\n"
        "[events]\nfloor = x   stop\nhit = p[1].y   falling   then p[1].y' = -p[1].y'\n",
        NULL);
    if (!system)
        return;
    round_trip(system, TAUT_COORDINATE,
               (const char *const[]){"x", "z[0,-1]", "z[0,0]", "z[1,-1]", "z[1,0]", "p[1].x",
                                     "p[1].y", "p[2].x", "p[2].y"},
               9);
    round_trip(system, TAUT_BOND,
               (const char *const[]){"rod", "pair[0,1]", "pair[0,2]", "pair[1,2]"}, 4);
    round_trip(system, TAUT_PARAMETER, (const char *const[]){"N", "w[0]", "w[1]"}, 3);
    round_trip(system, TAUT_OUTPUT, (const char *const[]){"height[1]", "height[2]", "top"}, 3);
    round_trip(system, TAUT_EVENT_ITEM, (const char *const[]){"floor", "hit"}, 2);
    taut_system_destroy(system);
    system = twin_parse("[state]\na, b\n[algebraic]\ny\n[rates]\na' = y\nb' = "
                        "a\n[constraints]\nc[1] = a + b\n[invariants]\ni = a - b\n",
                        NULL);
    if (!system)
        return;
    round_trip(system, TAUT_ALGEBRAIC, (const char *const[]){"y"}, 1);
    round_trip(system, TAUT_BOND, (const char *const[]){"c[1]", "i"}, 2);
    taut_system_destroy(system);
}

int main(void)
{
    test_pairs();
    test_tables();
    test_start();
    test_cycles();
    test_recursion();
    test_hold();
    test_names();
    return check_done();
}
