/* test_jet_rows.c - Taylor coefficients of large families: products with the Jacobian that jets
 * keep against the same coefficients by rows, forces and masses that jets know without running
 * their statements, and a family against its bonds one by one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/inside.h"
#include "base/rows.h"
#include "base/vectors.h"
#include "support/table.h"
#include "support/uniform.h"

enum {
    ORDERS = 5,
    WANTED =
        TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA | TAUT_WANT_MASS
};

typedef struct model {
    taut_system *system;
    taut_context *context;
    taut_jet *jet;
    taut_sizes sizes;
    taut_pattern g, tangent;
    taut_error error;
    taut_values values;
    bool made;
} model;

static double *numbers(int64_t count)
{
    return calloc((size_t)count + 1, sizeof(double));
}

static model make(const char *text)
{
    model m = {0};
    int code = taut_system_parse(text, strlen(text), "model.taut", NULL, &m.system, &m.error);
    code = code ? code : taut_context_create(m.system, NULL, &m.context, &m.error);
    code = code ? code : taut_jet_create(m.context, ORDERS - 1, WANTED, &m.jet, &m.error);
    if (code == 0) {
        taut_system_sizes(m.system, &m.sizes);
        code = taut_system_pattern(m.system, TAUT_PATTERN_JACOBIAN, &m.g, &m.error);
        code =
            code ? code : taut_system_pattern(m.system, TAUT_PATTERN_TANGENT, &m.tangent, &m.error);
        m.values = (taut_values){.force = numbers(m.sizes.coordinates),
                                 .mass = numbers(m.tangent.start[m.sizes.coordinates]),
                                 .bond = numbers(m.sizes.bonds),
                                 .bond_dt = numbers(m.sizes.bonds),
                                 .gamma = numbers(m.sizes.bonds),
                                 .jacobian = numbers(m.sizes.jacobian_entries)};
    }
    m.made = check_row(code == 0, "%s", m.error.message);
    return m;
}

static void release(model *m)
{
    double *all[] = {m->values.force,   m->values.mass,  m->values.bond,
                     m->values.bond_dt, m->values.gamma, m->values.jacobian};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        free(all[k]);
    taut_jet_destroy(m->jet);
    taut_context_destroy(m->context);
    taut_system_destroy(m->system);
}

/* Coefficient j of q and v, the same in every call; points of a family are apart. */
static void set_motion(const model *m, int j, double *q, double *v)
{
    for (taut_index i = 0; i < m->sizes.coordinates; i++) {
        q[i] = (j == 0 ? i : 0) + 0.3 * sin(1 + 0.7 * i + 2.1 * j);
        v[i] = cos(0.5 + 1.3 * i - 1.7 * j);
    }
}

static const char chain[] = "[particles]\ndimension = 2\nbob[i] for i in 1..600 mass 1 + i/600\n"
                            "[potential]\nsum(2*bob[i].y for i in 1..600)\n[bonds]\n"
                            "link[1] = length(bob[1]) - 1 stiffness 1e6\n"
                            "link[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..600 "
                            "stiffness 1e6\n";
static const char net[] = "[particles]\ndimension = 3\nnode[i,j] for i in 1..9, j in 1..9 mass 2\n"
                          "[potential]\nsum(node[i,j].z for i in 1..9, j in 1..9)\n"
                          "sum(dot(node[i,i], node[i,i])^2/7 for i in 1..9)\n[bonds]\n"
                          "along[i,j] = length(node[i+1,j] - node[i,j]) - 1 for i in 1..8, j in "
                          "1..9 stiffness 1e6\n"
                          "across[i,j] = length(node[i,j+1] - node[i,j]) - 1 for i in 1..9, j in "
                          "1..8 stiffness 1e6\n"
                          "tie = length(node[1,9] - (sin(t), 9 + t^3, 0)) - 1 stiffness 1e6\n";
static const char arm[] = "[coordinates]\nx, y, u, w\n[mass]\nM[x,x] = 2 + sin(u), M[x,u] = 0.1*y\n"
                          "[potential]\n3*y + w\n[bonds]\na = sqrt(x^2 + y^2) - 1 stiffness 1e4\n"
                          "b = (x - u)*(y - w) - t stiffness 1e4\n";

/* rows and forces of all coefficients, with G by rows and with G in the jet. */
static void compare_products(const char *name, const char *text)
{
    model m = make(text);
    taut_index n = m.sizes.coordinates, b = m.sizes.bonds;
    double *q = numbers(n), *v = numbers(n), *x = numbers(n), *y = numbers(b), *rows = numbers(b),
           *forces = numbers(n), *want_rows = numbers(b), *want_forces = numbers(n), worst = 0;
    for (taut_index i = 0; i < n; i++)
        x[i] = uniform(-1, 1);
    for (taut_index i = 0; i < b; i++)
        y[i] = uniform(-1, 1);
    for (int j = 0; m.made && j < ORDERS; j++) {
        set_motion(&m, j, q, v);
        m.made = taut_jet_advance_inside(m.jet, j, 0.3, q, v, &m.values, &m.error) == 0;
        taut_jet_rows(m.jet, j, x, y, rows, forces);
        taut_jet_rows(m.jet, j, x, NULL, rows, NULL);
        taut_jet_rows(m.jet, j, NULL, y, NULL, forces);
        for (taut_index i = 0; i < b; i++)
            want_rows[i] -= 2 * taut_row_dot(&m.g, m.values.jacobian, i, x);
        taut_pattern_add_transposed(&m.g, m.values.jacobian, -2, y, want_forces);
    }
    check_row(m.made, "%s: %s", name, m.error.message);
    double size = 0;
    for (taut_index i = 0; i < b; i++)
        worst = fmax(worst, fabs(rows[i] - want_rows[i])), size = fmax(size, fabs(want_rows[i]));
    for (taut_index i = 0; i < n; i++)
        worst = fmax(worst, fabs(forces[i] - want_forces[i]));
    check_row(size > 0.1, "%s: products vanish", name);
    check_below(name, worst / size, 1e-14);
    double *all[] = {q, v, x, y, rows, forces, want_rows, want_forces};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        free(all[k]);
    release(&m);
}

/* A jet without G by rows has all the rest; coefficient 0 is what an evaluation gives. */
static void compare_values(const char *name, const char *text, bool steady)
{
    model m = make(text), other = make(text);
    taut_index n = m.sizes.coordinates, b = m.sizes.bonds;
    taut_index masses = m.sizes.mass == TAUT_MASS_DIAGONAL ? n : m.tangent.start[n];
    double *q = numbers(n), *v = numbers(n), worst = 0, later = 0;
    bool good = m.made && other.made;
    free(other.values.jacobian);
    other.values.jacobian = NULL;
    for (int j = 0; good && j < ORDERS; j++) {
        set_motion(&m, j, q, v);
        good = taut_jet_advance_inside(other.jet, j, 0.3, q, v, &other.values, &m.error) == 0;
        if (good && j == 0)
            good = taut_evaluate_inside(m.context, 0.3, q, v, WANTED, &m.values, &m.error) == 0;
        if (good && j > 0) {
            later = fmax(later, taut_largest(n, other.values.force));
            continue;
        }
        worst = fmax(worst, taut_largest_difference(n, m.values.force, other.values.force));
        worst = fmax(worst, taut_largest_difference(masses, m.values.mass, other.values.mass));
        worst = fmax(worst, taut_largest_difference(b, m.values.bond, other.values.bond));
        worst = fmax(worst, taut_largest_difference(b, m.values.bond_dt, other.values.bond_dt));
        worst = fmax(worst, taut_largest_difference(b, m.values.gamma, other.values.gamma));
    }
    check_row(good, "%s: %s", name, m.error.message);
    check_below(name, worst, 0);
    check_row((later == 0) == steady, "%s: later coefficients of forces are up to %g", name, later);
    free(q);
    free(v);
    release(&m);
    release(&other);
}

/* Bond k of the chain alone, with its ends as they move in the chain. */
static void compare_members(void)
{
    static const char one[] = "[coordinates]\nx, y, u, w\n[bonds]\n"
                              "link = length((x - u, y - w)) - 1 stiffness 1e6\n";
    enum { N = 1200 };
    model many = make(chain), alone = make(one);
    double q[N], v[N], worst = 0;
    for (int k = 1; many.made && alone.made && k < 600; k += k == 1 || k > 590 ? 1 : 37)
        for (int j = 0; j < ORDERS; j++) {
            set_motion(&many, j, q, v);
            const double *at = q + 2 * k, *with = v + 2 * k;
            double p[4] = {at[0], at[1], at[-2], at[-1]},
                   u[4] = {with[0], with[1], with[-2], with[-1]};
            taut_jet_advance_inside(many.jet, j, 0, q, v, &many.values, &many.error);
            taut_jet_advance_inside(alone.jet, j, 0, p, u, &alone.values, &alone.error);
            worst = fmax(worst, fabs(many.values.bond[k] - alone.values.bond[0]));
            worst = fmax(worst, fabs(many.values.gamma[k] - alone.values.gamma[0]));
            for (taut_index c = 0; c < 4; c++) { /* x, y of this bob, then of the one before */
                taut_index a = taut_row_find(&many.g, k, 2 * k + (c < 2 ? c : c - 4)),
                           b = taut_row_find(&alone.g, 0, c);
                worst = fmax(worst, fabs(many.values.jacobian[a] - alone.values.jacobian[b]));
            }
        }
    check_below("coefficients of a link in its chain and alone", worst, 0);
    release(&many);
    release(&alone);
}

/* Every operation, in a family of which only what later orders need is kept and alone, where all
 * is: of u in (0, 1) and w in (-1, 1). */
#define EVERY(u, w)                                                                                \
    "sin(" u ") + cos(" w ")*tan(" u "/2) + asin(" u "/2) + acos(" w "/3) + atan(" w ") + "        \
    "sinh(" w ")*cosh(" u ") + tanh(" w "*" u ") + exp(" w ")*log(1 + " u ") + (1 + " u ")^(" w    \
    ") + (2 + " w ")^1.5 + " w "^3 + atan2(" u ", 2 + " w ") + hypot(" u ", " w ") + abs(" u       \
    " - 0.51) + min(" u ", 0.3) + max(" w ", " u "/2) + mod(3*" u ", 0.7) + floor(5*" u            \
    ")*sign(" w ") + if(" u " < " w " or " w " > 0.9, " u "^2, " w "^2*" u ") + sqrt(2 + " u "*" w \
    ") + " u "/(3 + " w ") + 2*" u " - " w "/3 + 1/(2 + " u ") + length((" u ", " w ", 1))"

static void compare_operations(void)
{
    static const char family[] =
        "[coordinates]\nx[i] for i in 1..600, y[i] for i in 1..600\n"
        "[bonds]\nf[i] = " EVERY("(x[i]/602)", "sin(y[i])") " for i in 1..600 stiffness 1e6\n";
    static const char one[] = "[coordinates]\nx, y\n"
                              "[bonds]\nf = " EVERY("(x/602)", "sin(y)") " stiffness 1e6\n";
    enum { N = 1200 };
    model many = make(family), alone = make(one);
    double q[N], v[N], worst = 0;
    int64_t finite = 0;
    for (int k = 0; many.made && alone.made && k < 600; k += k == 0 || k > 590 ? 1 : 23)
        for (int j = 0; j < ORDERS; j++) {
            set_motion(&many, j, q, v);
            double p[2] = {q[k] + (j == 0), q[600 + k]}, u[2] = {v[k], v[600 + k]};
            q[k] = p[0];
            taut_jet_advance_inside(many.jet, j, 0, q, v, &many.values, &many.error);
            taut_jet_advance_inside(alone.jet, j, 0, p, u, &alone.values, &alone.error);
            finite += isfinite(alone.values.gamma[0]) != 0;
            const double pairs[][2] = {{many.values.bond[k], alone.values.bond[0]},
                                       {many.values.gamma[k], alone.values.gamma[0]},
                                       {many.values.jacobian[taut_row_find(&many.g, k, k)],
                                        alone.values.jacobian[taut_row_find(&alone.g, 0, 0)]},
                                       {many.values.jacobian[taut_row_find(&many.g, k, 600 + k)],
                                        alone.values.jacobian[taut_row_find(&alone.g, 0, 1)]}};
            for (size_t c = 0; c < sizeof pairs / sizeof pairs[0]; c++)
                worst = taut_larger(worst, fabs(pairs[c][0] - pairs[c][1]));
        }
    check_row(finite > 100, "only %lld coefficients are numbers", (long long)finite);
    check_below("coefficients of every operation in a family and alone", worst, 0);
    release(&many);
    release(&alone);
}

int main(void)
{
    check_group("products with the Jacobian of a jet");
    compare_products("chain", chain);
    compare_products("net in space, with a bond that moves", net);
    compare_products("single bonds", arm);
    check_group("values of a jet");
    compare_values("chain", chain, true);
    compare_values("net", net, false);
    compare_values("mass matrix", arm, true);
    check_group("members");
    compare_members();
    compare_operations();
    return check_done();
}
