/* test_language.c - docs/model-language.md holds: its complete examples load, expressions have
 * the values that it states, initial values and masses have the documented meaning. */
#include "support/table.h"
#include <taut/taut.h>

#ifndef TAUT_SOURCE_DIR
#define TAUT_SOURCE_DIR "."
#endif
#define PI 3.14159265358979323846

typedef struct model {
    taut_system *system;
    taut_context *context;
    taut_sizes sizes;
    taut_error error;
} model;

static bool parse(model *m, const char *text, size_t length, const taut_load *how, const char *what)
{
    *m = (model){0};
    int status = taut_system_parse(text, length, what, how, &m->system, &m->error);
    if (status == 0)
        status = taut_context_create(m->system, NULL, &m->context, &m->error);
    if (status == 0) {
        taut_sizes_init(&m->sizes);
        taut_system_sizes_get(m->system, &m->sizes, NULL);
    }
    return check_row(status == 0, "%s: %d at %d:%d: %s", what, status, m->error.line,
                     m->error.column, m->error.message);
}

static void drop(model *m)
{
    taut_context_destroy(m->context);
    taut_system_destroy(m->system);
}

/* ---- examples of the page */

static char page[1 << 17];

static void check_examples(void)
{
    FILE *file = fopen(TAUT_SOURCE_DIR "/docs/model-language.md", "r");
    size_t size = file ? fread(page, 1, sizeof page - 1, file) : 0;
    if (file)
        fclose(file);
    check_row(size > 0 && size < sizeof page - 1, "the page has %zu bytes", size);
    int examples = 0;
    static const char mark[] = "```taut\n";
    for (char *at = strstr(page, mark); at; at = strstr(at, mark)) {
        char *text = at + sizeof mark - 1, *end = strstr(text, "```"), title[80];
        if (!check_row(end != NULL, "an example does not end"))
            break;
        snprintf(title, sizeof title, "example %d", ++examples);
        model m;
        if (parse(&m, text, (size_t)(end - text), NULL, title)) {
            check_row(m.sizes.warnings == 0, "%s: %s", title,
                      m.sizes.warnings ? taut_system_warning(m.system, 0) : "");
            check_row(taut_system_title(m.system)[0] != 0, "%s has no title", title);
        }
        drop(&m);
        at = end;
    }
    check_row(examples >= 6, "%d examples", examples);
}

/* ---- expressions */

/* At t = 2, x = 3, x' = 5, p = (3, 4), p' = (1, 2), parameter a = 7, lambda(rod) = 11. */
static const struct {
    const char *expression;
    double value;
} expressions[] = {
    {"-x^2", -9},
    {"2^-1", 0.5},
    {"2^3^2", 512},
    {"-2^2", -4},
    {"8/2/2", 2},
    {"8 - 2 - 2", 4},
    {".5 + 1e-1 + 2.5E1", 25.6},
    {"a*t + x'", 19},
    {"pi", PI},
    {"sqrt(16) + exp(0) + log(exp(2))", 7},
    {"sin(pi/6) + cos(0) + tan(pi/4)", 2.5},
    {"asin(1) + acos(1) + atan(1)", 0.75 * PI},
    {"atan2(-1, -1)", -0.75 * PI},
    {"atan2(1, 0)", PI / 2},
    {"sinh(1)^2 - cosh(1)^2 + tanh(0)", -1},
    {"abs(-2) + sign(-2) + sign(0)", 1},
    {"min(3, 1, 2) + max(3, 1, 2)", 4},
    {"hypot(3, 4)", 5},
    {"floor(-0.5)", -1},
    {"round(2.5)", 3},
    {"round(-2.5)", -3},
    {"mod(-1, 3)", 2},
    {"mod(1, -3)", -2},
    {"mod(7.5, 2)", 1.5},
    {"if(x > 2, 1, 2)", 1},
    {"if(x < 2, 1/(x - 3), 4)", 4},
    {"(3 > 2) + (3 >= 3) + (2 < 3) + (3 <= 3) + (1 == 1) + (1 != 1)", 5},
    {"3 > 2 and 1 > 2", 0},
    {"3 > 2 or 1 > 2", 1},
    {"1 > 2 and 1 > 2 or 3 > 2", 1},
    {"length(p)", 5},
    {"length(p)^2 - dot(p, p)", 0},
    {"length((2, 3, 6))", 7},
    {"dot((1, 2, 3), (4, 5, 6))", 32},
    {"cross((1, 2), (3, 4))", -2},
    {"u.x + 10*u.y + 100*u.z", -3 + 60 - 300},
    {"angle((1, 0), (0, 2))", PI / 2},
    {"angle((1, 0, 0), (-3, 0, 0))", PI},
    {"dihedral((1, 1, 0), (1, 0, 0), (1, -1, 0))", 0},
    {"abs(dihedral((1, 1, 0), (1, 0, 0), (1, 1, 0)))", PI},
    {"abs(dihedral((1, 1, 0), (1, 0, 0), (1, 0, 1)))", PI / 2},
    {"p.x - p.y + p.x' + 10*p.y'", 20},
    {"sum(i^2 for i in 1..4)", 30},
    {"sum(10*i + j for i in 1..3, j in i+1..3)", 48},
    {"sum(x for i in 5..4)", 0},
    {"w[3] + w[1]", 4.0 / 3},
    {"twice(x) + twice(t)", 10},
    {"shadow(x)", 9},
    {"moving'", 3 + 2 * 5},
    {"point.x'", 5},
    {"table.j[2] + table.rows", 5},
    {"table.j[x/2]", 2.5},
    {"table.j[4*x/2]", 7},
    {"step[2]", 20},
    {"lambda(rod)", 11},
    {"(1 + \\\n 2)", 3},
    {"(1 +\n 2)", 3},
};

static void check_expression(const char *expression, double expected)
{
    static const char head[] =
        "[parameters]\na = 7\nw[i] = 1/i for i in 1..3\n"
        "[tables]\ntable = good.csv\n"
        "[coordinates]\nx\n[particles]\ndimension = 2\np mass 2\n"
        "[definitions]\nu = cross((1, 2, 3), (4, 5, 6))\ntwice(r) = 2*r\nshadow(a) = a^2\n"
        "moving = x*t\npoint = (x, t)\nstep[i] = 10*i for i in 1..3\n"
        "[bonds]\nrod = x - 3 rigid\n[outputs]\nvalue = ";
    static const double q[3] = {3, 3, 4}, v[3] = {5, 1, 2}, lambda[1] = {11};
    char text[2048];
    int length = snprintf(text, sizeof text, "%s%s\n", head, expression);
    taut_load how = {.size = sizeof how, .table_folder = TAUT_SOURCE_DIR "/tests/data/bad"};
    model m;
    double value = 0;
    if (parse(&m, text, (size_t)length, &how, expression)) {
        int status = taut_evaluate_outputs(m.context, 2, q, v, lambda, &value, &m.error);
        check_row(status == 0, "%s: %s", expression, m.error.message);
        check_near(expression, value, expected, 1e-14 * fmax(1, fabs(expected)));
    }
    drop(&m);
}

/* ---- start */

typedef struct start_row {
    const char *what, *text, *init, *set, *further;
    double t;
    int n;
    double q[4], v[4];
} start_row;

static const start_row starts[] = {
    {"any order",
     "[coordinates]\nx, y\n[start]\ny = 2*x\nx = 3\n",
     "",
     "",
     NULL,
     0,
     2,
     {3, 6},
     {0, 0}},
    {"velocities",
     "[coordinates]\nx, y\n[start]\nx' = 2, y' = 3*x'\n",
     "",
     "",
     NULL,
     0,
     2,
     {0, 0},
     {2, 6}},
    {"members",
     "[coordinates]\nx[i] for i in 1..4\n[start]\nx[i] = x[i-1] + i for i in 2..4\nx[1] = 1\n",
     "",
     "",
     NULL,
     0,
     4,
     {1, 3, 6, 10},
     {0}},
    {"override",
     "[coordinates]\nx[i] for i in 1..3\n[start]\nx[i] = i for i in 1..3\nx[2] = 7\n",
     "",
     "",
     NULL,
     0,
     3,
     {1, 7, 3},
     {0}},
    {"time", "[coordinates]\nx\n[start]\nx = t^2\n", "", "", NULL, 3, 1, {9}, {0}},
    {"definitions",
     "[coordinates]\nx, y\n[definitions]\ns = x^2\n[start]\nx = 3, x' = 2, y = s, y' = s'\n",
     "",
     "",
     NULL,
     0,
     2,
     {3, 9},
     {2, 12}},
    {"vectors",
     "[particles]\ndimension = 2\np[i] for i in 1..2\n[start]\np[i] = (i, -i) for i in 1..2\np[2]' "
     "= (5, 6)\np[1].y' = 3\n",
     "",
     "",
     NULL,
     0,
     4,
     {1, -1, 2, -2},
     {0, 3, 5, 6}},
    {"init", "[coordinates]\nx, y\n[start]\nx = 1, y = 2*x\n", "x=5", "", NULL, 0, 2, {5, 10}, {0}},
    {"init velocity",
     "[coordinates]\nx, y\n[start]\nx' = 1, y' = 2*x'\n",
     "x'=5",
     "",
     NULL,
     0,
     2,
     {0, 0},
     {5, 10}},
    {"set",
     "[parameters]\na = 1\nb = 2*a\n[coordinates]\nx\n[start]\nx = b\n",
     "",
     "a=2*pi",
     NULL,
     0,
     1,
     {4 * PI},
     {0}},
    {"further",
     "[coordinates]\nx, y\n[start]\nx = 1, y = 2*x\n",
     "",
     "",
     "x = 4\n",
     0,
     2,
     {4, 8},
     {0}},
};

static void check_start(const start_row *row)
{
    model m;
    double q[4] = {0}, v[4] = {0};
    taut_load how = {.size = sizeof how,
                     .init = &row->init,
                     .init_count = *row->init != 0,
                     .set = &row->set,
                     .set_count = *row->set != 0,
                     .from = row->t,
                     .start_text = row->further};
    if (parse(&m, row->text, strlen(row->text), &how, row->what) &&
        check_row(m.sizes.coordinates == row->n, "%s: %d coordinates", row->what,
                  (int)m.sizes.coordinates)) {
        int status = taut_context_start(m.context, row->t, q, v, &m.error);
        check_row(status == 0, "%s: %s", row->what, m.error.message);
        for (int k = 0; k < row->n; k++) {
            check_near(row->what, q[k], row->q[k], 1e-14 * fmax(1, fabs(row->q[k])));
            check_near(row->what, v[k], row->v[k], 1e-14 * fmax(1, fabs(row->v[k])));
        }
    }
    drop(&m);
}

static void check_hold(void)
{
    static const char text[] =
        "[coordinates]\nx, y, z\n[start]\nx = 1 hold, y' = 2 hold\nz = x guess\n";
    model m;
    if (parse(&m, text, sizeof text - 1, NULL, "hold")) {
        const unsigned char *hold = taut_system_hold(m.system);
        check_row(hold && hold[0] == TAUT_HOLD_POSITION && hold[1] == TAUT_HOLD_VELOCITY &&
                      hold[2] == TAUT_GUESS,
                  "hold: %d %d %d", hold ? hold[0] : -1, hold ? hold[1] : -1, hold ? hold[2] : -1);
    }
    drop(&m);
}

/* ---- bonds and masses */

static void check_bonds(void)
{
    static const char text[] =
        "[coordinates]\nx[i] for i in 1..6\n[bonds]\na = x[1]\nb = x[2] rigid\nc = x[3] stiffness "
        "4 damping 2\n"
        "d = x[4] compliance 0.5\ne = x[5] stiffness 8 soft\nf = x[6] compliance 0\n";
    static const double compliance[6] = {0, 0, 0.25, 0.5, 0.125, 0},
                        damping[6] = {0, 0, 0.5, 0, 0, 0};
    model m;
    if (parse(&m, text, sizeof text - 1, NULL, "bonds") &&
        check_row(m.sizes.bonds == 6, "%d bonds", (int)m.sizes.bonds)) {
        for (taut_index k = 0; k < 6; k++) {
            char name[8];
            taut_system_name(m.system, TAUT_BOND, k, name, sizeof name);
            check_row(name[0] == 'a' + k && name[1] == 0, "bond %d is %s", (int)k, name);
            check_near("compliance", taut_context_compliance(m.context)[k], compliance[k], 0);
            check_near("damping time", taut_context_damping(m.context)[k], damping[k], 0);
            check_row(taut_context_soft(m.context, k) == (k == 4), "%s: soft %d", name,
                      taut_context_soft(m.context, k));
        }
    }
    drop(&m);
}

/* [mass] is literal: the diagonal, M[a,b] in both triangles, no further force; [kinetic] brings
 * the inertial force. */
static void check_mass(void)
{
    static const char literal[] = "[coordinates]\nx, y\n[mass]\nx = 3\nM[x, y] = sin(x)\n";
    static const char kinetic[] =
        "[coordinates]\nx, y\n[kinetic]\n3*x'^2/2 + y'^2/2 + sin(x)*x'*y'\n";
    static const double q[2] = {0.5, 0}, v[2] = {2, 3};
    const char *texts[2] = {literal, kinetic};
    for (int k = 0; k < 2; k++) {
        model m;
        taut_pattern pattern;
        double mass[8] = {0}, force[2] = {0}, dense[4] = {0};
        taut_values values = {.size = sizeof values, .mass = mass, .force = force};
        if (parse(&m, texts[k], strlen(texts[k]), NULL, k ? "kinetic" : "literal mass")) {
            int status =
                taut_system_pattern_get(m.system, TAUT_PATTERN_TANGENT, &pattern, &m.error);
            if (status == 0)
                status = taut_evaluate(m.context, 0, q, v, TAUT_WANT_MASS | TAUT_WANT_FORCE,
                                       &values, &m.error);
            if (check_row(status == 0, "mass: %s", m.error.message)) {
                for (taut_index i = 0; i < 2; i++)
                    for (taut_index e = pattern.start[i]; e < pattern.start[i + 1]; e++)
                        dense[2 * i + pattern.column[e]] += mass[e];
                check_near("M[x,x]", dense[0], 3, 0);
                check_near("M[x,y]", dense[1], sin(0.5), 1e-16);
                check_near("M[y,x]", dense[2], sin(0.5), 1e-16);
                check_near("M[y,y]", dense[3], 1, 0);
                /* d/dt(sin x x') = cos x x'^2 + ...: what is left of Euler-Lagrange in the
                 * second equation */
                check_near("inertial force on x", force[0], 0, 1e-15);
                check_near("inertial force on y", force[1], k ? -cos(0.5) * 4 : 0, 1e-15);
            }
        }
        drop(&m);
    }
}

/* T may have terms of first order in the velocities when the frame moves: (x' + u(t))^2/2 pushes
 * with -u'. */
static void check_moving_frame(void)
{
    static const char text[] =
        "[parameters]\nA = 3, w = 2\n[coordinates]\nx\n[definitions]\nplace = x*t + A*sin(w*t)\n"
        "[kinetic]\nplace'^2/2\n";
    static const double t = 0.7, q[1] = {0.4}, v[1] = {1.5};
    model m;
    double force[1] = {0}, mass[1] = {0}, momentum[1] = {0};
    taut_values values = {
        .size = sizeof values, .force = force, .mass = mass, .momentum = momentum};
    if (parse(&m, text, sizeof text - 1, NULL, "moving frame")) {
        int status =
            taut_evaluate(m.context, t, q, v, TAUT_WANT_FORCE | TAUT_WANT_MASS | TAUT_WANT_MOMENTUM,
                          &values, &m.error);
        check_row(status == 0, "moving frame: %s", m.error.message);
        /* place' = x + t x' + A w cos(wt) =: s;  d/dt(t s) - s = 0:  t^2 x'' = -2 t x' + A w^2 t
         * sin(wt) */
        double s = q[0] + t * v[0] + 3 * 2 * cos(2 * t);
        check_near("mass", mass[0], t * t, 1e-15);
        check_near("momentum", momentum[0], t * s, 1e-14);
        check_near("force", force[0], -2 * t * v[0] + 3 * 4 * t * sin(2 * t), 1e-14);
    }
    drop(&m);
}

/* Lines of [potential] and [forces] add up. */
static void check_forces(void)
{
    static const char text[] =
        "[parameters]\nk = 2\n[coordinates]\nx[i] for i in 1..3\n[potential]\nk*sum(x[i]^2/2 for i "
        "in 1..3)\n"
        "x[1]\n[forces]\nx[2] = 10\nx[2] = -x[2]'\nx[i] = i*t for i in 1..3\n";
    static const double q[3] = {1, 2, 3}, v[3] = {0, 4, 0},
                        expected[3] = {-2 - 1 + 5, -4 + 10 - 4 + 10, -6 + 15};
    model m;
    double force[3] = {0};
    taut_values values = {.size = sizeof values, .force = force};
    if (parse(&m, text, sizeof text - 1, NULL, "forces")) {
        int status = taut_evaluate(m.context, 5, q, v, TAUT_WANT_FORCE, &values, &m.error);
        check_row(status == 0, "forces: %s", m.error.message);
        for (int k = 0; k < 3; k++)
            check_near("force", force[k], expected[k], 1e-14);
    }
    drop(&m);
}

/* ---- forms of statements */

static const struct {
    const char *what, *text;
    int coordinates, bonds, outputs, events;
} forms[] = {
    {"coordinates and particles",
     "[coordinates]\ntheta\n[particles]\ndimension = 3\nhub mass 5\n[coordinates]\npsi\n", 5, 0, 0,
     0},
    {"families with two indices",
     "[parameters]\nm = 2, n = 3\n[particles]\ndimension = 2\nnode[i,j] for i in 1..m, j in 1..n "
     "mass i + j, hub mass 5\n"
     "[bonds]\nedge[i,j] = length(node[i+1,j] - node[i,j]) - 1 for i in 1..m-1, j in 1..n "
     "stiffness 4, tie = length(hub) rigid\n",
     14, 4, 0, 0},
    {"triangular families",
     "[coordinates]\nx[i,j] for i in 1..3, j in i..3\n[bonds]\nd[i,j] = x[i,j] for i in 1..3, j in "
     "i..3\n",
     6, 6, 0, 0},
    {"empty families",
     "[parameters]\nN = 1\n[coordinates]\nx[i] for i in 1..N\n[bonds]\nd[i] = x[i] - x[i-1] for i "
     "in 2..N\n",
     1, 0, 0, 0},
    {"members one by one",
     "[parameters]\nm[1] = .3, m[2] = .5\n[coordinates]\nx[i] for i in 1..2\n[mass]\nx[i] = m[i] "
     "for i in 1..2\n",
     2, 0, 0, 0},
    {"masses of particles",
     "[particles]\ndimension = 2\np[i] for i in 1..3\n[mass]\np[i] = 2 for i in 1..3\nM[p[1], "
     "p[2]] = 0.5\n",
     6, 0, 0, 0},
    {"forces on particles",
     "[particles]\ndimension = 2\np[i] for i in 1..3\n[forces]\np[i] = -0.1*p[i]' for i in "
     "1..3\np[3].x = 2\np[1] = (t, 0)\n",
     6, 0, 0, 0},
    {"ends of a family",
     "[parameters]\nn = 3\n[coordinates]\nq[i] for i in 1..n\n[definitions]\nq[0] = 0, q[n+1] = 0\n"
     "[bonds]\nd[i] = q[i+1] - q[i] for i in 0..n stiffness 1\n",
     3, 4, 0, 0},
    {"definitions",
     "[parameters]\ne = 1, s = 1, L = 9, A = 1, w = 2\n[particles]\ndimension = 3\nO[i] for i in "
     "1..4\n[definitions]\n"
     "lj(r) = 4*e*((s/r)^12 - (s/r)^6)\nanchor = (A*sin(w*t), 0, 0)\nimage(d) = d - L*round(d/L)\n"
     "gap[i] = O[i+1] - O[i] for i in 1..3\n[potential]\n"
     "sum(lj(length(image(O[i] - O[j]))) for i in 1..4, j in i+1..4)\ndot(gap[2], anchor) + "
     "dot(anchor', O[1])\n",
     12, 0, 0, 0},
    {"bonds",
     "[parameters]\nOmega = 2\n[coordinates]\ntheta, x1, x2\n[bonds]\nbush = x2 - x1 - 1 stiffness "
     "1e7 damping 200\n"
     "crank = theta - Omega*t rigid\nbelt = x1 - theta stiffness 50 soft\n",
     3, 3, 0, 0},
    {"outputs and events",
     "[particles]\ndimension = 2\np[i] for i in 1..3\n[bonds]\nrod = length(p[1]) - "
     "1\n[outputs]\nheight[i] = p[i].y for i in 1..3\n"
     "pull = lambda(rod)\n[events]\nground = p[1].y falling stop\nwall = p[2].x rising stop\n"
     "hit = p[1].y falling then p[1].y' = -0.8*p[1].y', p[1].x' = 0.9*p[1].x'\n",
     6, 1, 4, 3},
    {"attribute words as names",
     "[parameters]\nmass = 2, scale = 3, rigid = 4\n[coordinates]\nx\n[mass]\nx = "
     "mass\n[bonds]\nsoft = scale*x stiffness rigid\n",
     1, 1, 0, 0},
    {"sections twice", "[coordinates]\nx\n[potential]\nx^2\n[coordinates]\ny\n[potential]\ny^2\n",
     2, 0, 0, 0},
    {"several lines and line ends",
     "[coordinates]\r\nx, \\\r\n  y\r\n[potential]\r\n\tsqrt(x^2 +\r\n  y^2)\r\n", 2, 0, 0, 0},
};

static void check_forms(void)
{
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        model m;
        if (parse(&m, forms[k].text, strlen(forms[k].text), NULL, forms[k].what))
            check_row(m.sizes.coordinates == forms[k].coordinates &&
                          m.sizes.bonds == forms[k].bonds && m.sizes.outputs == forms[k].outputs &&
                          m.sizes.events == forms[k].events,
                      "%s: %d coordinates, %d bonds, %d outputs, %d events", forms[k].what,
                      (int)m.sizes.coordinates, (int)m.sizes.bonds, (int)m.sizes.outputs,
                      (int)m.sizes.events);
        drop(&m);
    }
}

/* A decimal comma makes two terms of a potential: a warning with its place; other commas do not. */
static void check_commas(void)
{
    static const struct {
        const char *terms, *place;
    } rows[] = {{"1,5*x", ":4:2"},         {"x^2 + 2.5*x^2/1,5", ":4:16"},
                {"x^2, 5*x", NULL},        {"a[1],2*x", NULL},
                {"1, 5*x", NULL},          {"x1,2*x", NULL},
                {"max(1,5)*x, 2*x", NULL}, {"x^2", NULL}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char text[200];
        snprintf(text, sizeof text,
                 "[coordinates]\nx, x1\n[potential]\n%s\nx1^2 + a[1]\n[parameters]\n"
                 "a[1] = 2\n",
                 rows[k].terms);
        model m;
        const char *warning = NULL;
        if (parse(&m, text, strlen(text), NULL, "comma.taut"))
            warning = taut_system_warning(m.system, 0);
        if (rows[k].place)
            check_contains(rows[k].terms, warning ? warning : "", rows[k].place);
        else
            check_row(!warning, "%s: %s", rows[k].terms, warning ? warning : "");
        drop(&m);
    }
}

/* Unused names are warnings, with a place. */
static void check_warnings(void)
{
    static const char text[] = "[parameters]\nk = 1\nspare = 2\n[coordinates]\nx\n[definitions]\na "
                               "= 2*x\nidle = x^2\n[potential]\nk*a*x\n";
    model m;
    if (parse(&m, text, sizeof text - 1, NULL, "spare.taut")) {
        check_equal("warnings", m.sizes.warnings, 2);
        check_contains("unused parameter", taut_system_warning(m.system, 0), "spare.taut:3:1");
        check_contains("unused parameter", taut_system_warning(m.system, 0), "'spare'");
        check_contains("unused definition", taut_system_warning(m.system, 1), "spare.taut:8:1");
        check_contains("unused definition", taut_system_warning(m.system, 1), "'idle'");
        check_row(taut_system_warning(m.system, 2) == NULL, "a third warning");
    }
    drop(&m);
}

/* Settings of [run] reach programs as text; expressions of parameters as numbers. */
static void check_settings(void)
{
    static const char text[] =
        "[parameters]\nw = 4\n[coordinates]\nx\n[run]\nuntil = 10\nstep = 1/w\nmotion = full\n";
    static const char *const expected[3][2] = {
        {"until", "10"}, {"step", "0.25"}, {"motion", "full"}};
    model m;
    if (parse(&m, text, sizeof text - 1, NULL, "run") &&
        check_row(m.sizes.settings == 3, "%d settings", (int)m.sizes.settings))
        for (taut_index k = 0; k < 3; k++) {
            const char *name = "", *value = "";
            taut_system_setting(m.system, k, &name, &value);
            check_row(strcmp(name, expected[k][0]) == 0 && strcmp(value, expected[k][1]) == 0,
                      "setting %d: %s = %s", (int)k, name, value);
        }
    drop(&m);
}

int main(void)
{
    check_group("examples");
    check_examples();
    check_group("expressions");
    for (size_t k = 0; k < sizeof expressions / sizeof *expressions; k++)
        check_expression(expressions[k].expression, expressions[k].value);
    check_group("start");
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++)
        check_start(&starts[k]);
    check_hold();
    check_group("bonds and masses");
    check_bonds();
    check_mass();
    check_moving_frame();
    check_forces();
    check_group("forms");
    check_forms();
    check_group("warnings and settings");
    check_warnings();
    check_commas();
    check_settings();
    return check_done();
}
