/* test_implicit.c - every implicit Runge-Kutta method of the table: conditions of order and stage
 * order, R(inf), |R(iy)| <= 1, conditions (3.4)-(3.5) of B, spectra, embedded estimates; observed
 * orders on the stiff and rigid pendulum; invariants. */
#include <complex.h>

#include "base/method.h"
#include "step/collocation.h"
#include "step/methods.h"
#include "support/radau.h"

enum { WIDE = TAUT_STAGES_MAX + 1 };

/* A method with its explicit stage, if it has one, as stage 0. */
typedef struct full_table {
    int s;
    double a[WIDE][WIDE], b[WIDE], c[WIDE], error[WIDE];
} full_table;

/* What is claimed: order, stage order, |R(inf)| and whether (3.4)-(3.5) hold; orders of y, y' and
 * lambda with `raw`, and of y, y' of rows, on bonds (radau: test_radau_orders.c). */
static const struct claim {
    const taut_method *method;
    int order, stage_order, embedded;
    double far;
    bool damps;
    double raw[3], rows[2];
} claims[] = {
    {&taut_radau1, 1, 1, 0, 0, true, {1, 1, NAN}, {1, 1}},
    {&taut_radau3, 3, 2, 0, 0, true, {NAN, NAN, NAN}, {NAN, NAN}},
    {&taut_radau5, 5, 3, 0, 0, true, {NAN, NAN, NAN}, {NAN, NAN}},
    {&taut_radau7, 7, 4, 0, 0, true, {NAN, NAN, NAN}, {NAN, NAN}},
    {&taut_radau9, 9, 5, 0, 0, true, {NAN, NAN, NAN}, {NAN, NAN}},
    {&taut_lobatto2, 2, 1, 1, 0, true, {2, 1, 0}, {2, 2}},
    {&taut_lobatto4, 4, 2, 2, 0, true, {4, 2, 1}, {4, 4}},
    {&taut_lobatto6, 6, 3, 3, 0, true, {6, NAN, NAN}, {6, 6}},
    {&taut_gauss2, 2, 1, 0, 1, false, {2, 2, 1}, {2, 2}},
    {&taut_gauss4, 4, 2, 0, 1, false, {2, 0, -1}, {2, 2}},
    {&taut_gauss6, 6, 3, 0, 1, false, {4, 2, 1}, {NAN, 4}},
    {&taut_sdirk2, 2, 1, 1, 0, true, {1, 1, 0}, {1, 1}},
    {&taut_sdirk3, 3, 1, 2, 0, true, {1, 1, 0}, {1, 1}},
    {&taut_sdirk4, 4, 1, 3, 0, true, {1, 1, 0}, {1, 1}},
    {&taut_trbdf2, 2, 2, 1, 0, true, {2, 2, 1}, {2, 2}},
    {&taut_esdirk4, 4, 2, 3, 0, true, {2, 2, 1}, {2, 2}},
};
enum { CLAIMS = sizeof claims / sizeof claims[0] };

static full_table widen(const taut_stage_data *data, const taut_collocation *x)
{
    int first = x->begins, s = x->stages;
    full_table t = {.s = s + first};
    for (int i = 0; i < s; i++) {
        t.c[i + first] = x->c[i];
        t.b[i + first] = x->b[i];
        t.error[i + first] = data->error ? data->error[i] : 0;
        if (first)
            t.a[i + 1][0] = x->early[i];
        for (int j = 0; j < s; j++)
            t.a[i + first][j + first] = x->a[i][j];
    }
    if (first) {
        t.b[0] = x->early[s - 1];
        t.error[0] = data->early_error;
    }
    return t;
}

/* ---- order, by rooted trees as level sequences [Hairer, Norsett, Wanner I, II.2] */

/* phi[i] = product over the children of sum_j a_ij phi_j(child); returns gamma. */
static double tree(const full_table *t, const int *level, int n, double *phi)
{
    double gamma = n;
    for (int i = 0; i < t->s; i++)
        phi[i] = 1;
    for (int first = 1, next; first < n; first = next) {
        double child[WIDE];
        next = first + 1;
        while (next < n && level[next] > level[first])
            next++;
        gamma *= tree(t, level + first, next - first, child);
        for (int i = 0; i < t->s; i++) {
            double sum = 0;
            for (int j = 0; j < t->s; j++)
                sum += t->a[i][j] * child[j];
            phi[i] *= sum;
        }
    }
    return gamma;
}

/* The next tree in the order of Beyer and Hedetniemi 1980; false after the last. */
static bool next_tree(int *level, int n)
{
    int p = n - 1, q;
    while (p > 0 && level[p] == 2)
        p--;
    if (p <= 0)
        return false;
    for (q = p - 1; level[q] != level[p] - 1; q--)
        continue;
    for (int i = p; i < n; i++)
        level[i] = level[i - (p - q)];
    return true;
}

/* Largest violation of the conditions with n nodes: sum b phi = 1/gamma, or 0 = sum error phi. */
static double violation(const full_table *t, int n, bool embedded)
{
    int level[12];
    double worst = 0, phi[WIDE];
    for (int i = 0; i < n; i++)
        level[i] = i + 1;
    do {
        double sum = 0, gamma = tree(t, level, n, phi);
        for (int i = 0; i < t->s; i++)
            sum += (embedded ? t->error : t->b)[i] * phi[i];
        worst = fmax(worst, fabs(sum - (embedded ? 0 : 1 / gamma)));
    } while (next_tree(level, n));
    return worst;
}

static void check_conditions(const struct claim *row, const full_table *t)
{
    const char *name = row->method->name;
    check_row(row->method->order == row->order, "%s: order in the table of methods", name);
    for (int n = 1; n <= row->order + 1; n++) {
        double off = violation(t, n, false);
        check_row(n <= row->order ? off < 1e-14 : off > 1e-8,
                  "%s, order %d: conditions with %d nodes violated by %.2g", name, row->order, n,
                  off);
    }
    for (int n = 1; row->embedded > 0 && n <= row->embedded + 1; n++) {
        double off = violation(t, n, true);
        check_row(n <= row->embedded ? off < 2e-14 : off > 1e-5,
                  "%s, estimate of order %d: conditions with %d nodes violated by %.2g", name,
                  row->embedded, n, off);
    }
    for (int q = 1; q <= row->stage_order + 1; q++) { /* C(q): sum_j a_ij c_j^(q-1) = c_i^q/q */
        double off = 0;
        for (int i = 0; i < t->s; i++) {
            double sum = -pow(t->c[i], q) / q;
            for (int j = 0; j < t->s; j++)
                sum += t->a[i][j] * (q > 1 ? pow(t->c[j], q - 1) : 1);
            off = fmax(off, fabs(sum));
        }
        check_row(q <= row->stage_order ? off < 1e-14 : off > 1e-6,
                  "%s, stage order %d: C(%d) violated by %.2g", name, row->stage_order, q, off);
    }
}

/* ---- stability */

/* R(z) = 1 + z b^T (I - z A)^-1 1, by elimination. */
static double complex stability(const full_table *t, double complex z)
{
    double complex m[WIDE][WIDE], x[WIDE], sum = 1;
    for (int i = 0; i < t->s; i++) {
        x[i] = 1;
        for (int j = 0; j < t->s; j++)
            m[i][j] = (i == j) - z * t->a[i][j];
    }
    for (int k = 0; k < t->s; k++) {
        int best = k;
        for (int i = k; i < t->s; i++)
            best = cabs(m[i][k]) > cabs(m[best][k]) ? i : best;
        for (int j = 0; j < t->s; j++) {
            double complex keep = m[k][j];
            m[k][j] = m[best][j];
            m[best][j] = keep;
        }
        double complex keep = x[k];
        x[k] = x[best];
        x[best] = keep;
        for (int i = 0; i < t->s; i++) {
            if (i == k)
                continue;
            double complex factor = m[i][k] / m[k][k];
            for (int j = k; j < t->s; j++)
                m[i][j] -= factor * m[k][j];
            x[i] -= factor * x[k];
        }
    }
    for (int i = 0; i < t->s; i++)
        sum += z * t->b[i] * x[i] / m[i][i];
    return sum;
}

/* (3.4) |R(iy)| < 1 for y > 0 and |R(inf)| < 1, (3.5) an A that is regular (of the stages that are
 * unknown): Gauss has |R| = 1 throughout. */
static void check_stability(const struct claim *row, const full_table *t, const taut_collocation *x)
{
    const char *name = row->method->name;
    double far = cabs(stability(t, 1e9 * I)), largest = 0, regular = 0;
    check_row(fabs(far - row->far) < 1e-7, "%s: |R(inf)| = %.3g, expected %g", name, far, row->far);
    for (double y = 2; y < 1e6; y *= 1.3)
        largest = fmax(largest, cabs(stability(t, y * I)));
    check_row(row->damps ? largest < 1 : fabs(largest - 1) < 1e-10,
              "%s: largest |R(iy)| - 1 = %.3g, y > 2", name, largest - 1);
    check_row(row->method->undamped == !row->damps, "%s: what the table says of damping", name);
    for (int i = 0; i < x->stages; i++)
        for (int j = 0; j < x->stages; j++) {
            double sum = -(double)(i == j);
            for (int k = 0; k < x->stages; k++)
                sum += x->a[i][k] * x->inverse[k][j];
            regular = fmax(regular, fabs(sum));
        }
    check_row(regular < 1e-13, "%s: A A^-1 is the unit matrix but for %.2g", name, regular);
}

/* A right = mu right of every block. */
static void check_spectrum(const char *name, const taut_collocation *x)
{
    for (int b = 0; b < x->blocks && !x->triangular; b++) {
        double off = 0;
        double complex one = 0;
        for (int i = 0; i < x->stages; i++) {
            double complex sum = -x->mu[b] * x->right[b][i];
            for (int j = 0; j < x->stages; j++)
                sum += x->a[i][j] * x->right[b][j];
            one += x->left[b][i] * x->right[b][i];
            off = fmax(off, cabs(sum));
        }
        check_row(off < 1e-15 && cabs(one - 1) < 1e-14, "%s: block %d off by %.2g", name, b, off);
    }
}

static void test_tables(void)
{
    check_group("implicit, tables");
    for (int k = 0; k < CLAIMS; k++) {
        taut_collocation x;
        taut_collocation_make(claims[k].method->data, &x);
        full_table t = widen(claims[k].method->data, &x);
        check_conditions(&claims[k], &t);
        check_stability(&claims[k], &t, &x);
        check_spectrum(claims[k].method->name, &x);
    }
}

/* ---- observed orders */

static void pendulum_errors(const char *method, const char *form, double eps, int steps,
                            double *error)
{
    char model[400], options[200];
    double q[KEPT_WIDTH], v[KEPT_WIDTH], lambda[KEPT_WIDTH] = {NAN}, end[4];
    for (int i = 0; i < 4; i++)
        end[i] = rigid_end[i] + eps * eps / 1e-8 * (stiff_end[i] - rigid_end[i]);
    snprintf(model, sizeof model, pendulum, eps);
    snprintf(options, sizeof options, "motion=slow method=%s %s step=%.17g", method, form,
             1.0 / steps);
    run(options, model, options, 1, q, v, lambda);
    error[0] = hypot(q[0] - end[0], q[1] - end[1]);
    error[1] = hypot(v[0] - end[2], v[1] - end[3]);
    error[2] = fabs(lambda[0] - rigid_tension);
}

/* From h = 1/40 to 1/80, where no method is at rounding: y, y', lambda of the method itself in both
 * Newton forms, and y, y' of its rows. */
static void test_orders(void)
{
    static const char *const form[] = {"raw=yes newton=stage", "raw=yes newton=tensor",
                                       "newton=stage"};
    check_group("implicit, orders");
    for (int k = 0; k < CLAIMS; k++)
        for (int e = 0; e < 2; e++)
            for (int f = 0; f < 3; f++) {
                double coarse[3], fine[3], eps = e == 0 ? 0 : 1e-6;
                int steps = claims[k].order > 5 ? 10 : 40;
                pendulum_errors(claims[k].method->name, form[f], eps, steps, coarse);
                pendulum_errors(claims[k].method->name, form[f], eps, 2 * steps, fine);
                for (int part = 0; part < (f < 2 ? 3 : 2); part++) {
                    double expected = f < 2 ? claims[k].raw[part] : claims[k].rows[part],
                           order = log2(coarse[part] / fine[part]);
                    if (!isnan(expected))
                        check_row(fabs(order - expected) < 0.35,
                                  "%s, %s, eps %g, part %d: order %.3f, expected %g",
                                  claims[k].method->name, form[f], eps, part, order, expected);
                }
            }
}

/* Without stiffness each has its order: a pendulum in its angle, first-order and mechanical. */
static void test_smooth_orders(void)
{
    static const char *const text[] = {
        "[coordinates]\na\n[potential]\n-cos(a)\n[start]\na = 1\n",
        "[state]\na, w\n[rates]\na' = w\nw' = -sin(a)\n[start]\na = 1\n"};
    check_group("implicit, orders without stiffness");
    for (int k = 0; k < CLAIMS; k++)
        for (int form = 0; form < 2; form++) {
            double end[3];
            if (claims[k].order > 6)
                continue;
            for (int j = 0; j < 3; j++) {
                char options[100];
                double q[KEPT_WIDTH], v[KEPT_WIDTH];
                int steps = j == 2 ? 400 : claims[k].order > 3 ? 5 << j : 20 << j;
                snprintf(options, sizeof options, "method=%s step=%.17g",
                         j == 2 ? "radau9" : claims[k].method->name, 2.0 / steps);
                run(options, text[form], options, 2, q, v, NULL);
                end[j] = q[0];
            }
            double order = log2(fabs(end[0] - end[2]) / fabs(end[1] - end[2]));
            check_row(fabs(order - claims[k].order) < 0.5, "%s, %s: order %.3f, expected %d",
                      claims[k].method->name, form ? "first order" : "mechanical", order,
                      claims[k].order);
        }
}

/* ---- invariants: x^2 + y^2 of a rotation is quadratic, and Gauss keeps it; x + y + z is linear */
static void test_invariants(void)
{
    check_group("implicit, invariants");
    for (int k = 0; k < CLAIMS; k++) {
        char options[100];
        double q[KEPT_WIDTH], v[KEPT_WIDTH];
        snprintf(options, sizeof options, "method=%s step=0.1", claims[k].method->name);
        run(options,
            "[state]\nx, y, z\n[rates]\nx' = -y*(1+z)\ny' = x*(1+z)\nz' = 0.1*x\n"
            "[start]\nx = 1\n",
            options, 3, q, v, NULL);
        double off = fabs(q[0] * q[0] + q[1] * q[1] - 1);
        bool gauss = claims[k].method->undamped;
        check_row(gauss ? off < 1e-13 : off > 1e-13 || claims[k].order > 6,
                  "%s: x^2 + y^2 - 1 = %.2g", claims[k].method->name, off);
        run(options,
            "[state]\nx, y, z\n[rates]\nx' = -x*y\ny' = x*y - 5*y*z\nz' = 5*y*z\n[start]\nx = "
            "1\ny = 0.5\nz = 0.25\n",
            options, 3, q, v, NULL);
        check_near(options, q[0] + q[1] + q[2], 1.75, 1e-13);
    }
}

/* ---- adaptive step sizes: rigid and stiff bonds together, tolerance by tolerance */
static void test_adaptive(void)
{
    static const char model[] =
        "[coordinates]\nx1, y1, x2, y2\n[potential]\ny1 + y2\n[bonds]\n"
        "rod = sqrt(x1^2 + y1^2) - 1\n"
        "spring = sqrt((x2-x1)^2 + (y2-y1)^2) - 1 compliance 1e-8\n[start]\nx1 = 1\nx2 = 2\n";
    double q0[KEPT_WIDTH], v0[KEPT_WIDTH], q[KEPT_WIDTH], v[KEPT_WIDTH];
    check_group("implicit, adaptive");
    run("reference", model, "motion=slow method=radau9 rtol=1e-12", 1, q0, v0, NULL);
    for (int k = 0; k < CLAIMS; k++) {
        if (claims[k].method->undamped)
            continue;
        double least = claims[k].method->bond_order == 1 || claims[k].order == 1 ? 1e-4 : 1e-6;
        for (double rtol = 1e-3; rtol > 0.9 * least; rtol /= 10)
            for (int form = 0; form < 2; form++) {
                char options[120];
                double off = 0;
                snprintf(options, sizeof options, "motion=slow method=%s rtol=%g newton=%s",
                         claims[k].method->name, rtol, form ? "tensor" : "stage");
                run(options, model, options, 1, q, v, NULL);
                for (int i = 0; i < 4; i++)
                    off = fmax(off, fmax(fabs(q[i] - q0[i]), fabs(v[i] - v0[i])));
                check_row(off < 20 * rtol, "%s: off by %.3g", options, off);
            }
    }
}

/* ---- iterations without multipliers [B (8.1)-(8.3), Lemma 8.1; docs/sources.md, B] */
static void test_newton_forms(void)
{
    static const char *const form[] = {"stage", "J0", "J1", "J2"};
    static const struct {
        double h;
        bool converges[4];
    } rows[] = {{0.1, {true, false, false, true}},
                {0.03, {true, false, false, true}},
                {0.002, {true, true, true, true}}};
    static const char moving[] =
        "[coordinates]\ny1, y2\n[potential]\ny2\n[bonds]\nspring = sqrt(y1^2 + y2^2) - 1 "
        "compliance 1e-8\n[start]\ny1 = sin(1)\ny2 = -cos(1)\ny1' = cos(1)\ny2' = sin(1)\n";
    check_group("implicit, iterations without multipliers");
    for (int k = 0; k < 3; k++) {
        double end[2] = {NAN, NAN};
        for (int f = 0; f < 4; f++) {
            char options[120];
            snprintf(options, sizeof options,
                     "motion=slow method=radau5 newton=%s step=%g until=%g", form[f], rows[k].h,
                     rows[k].h);
            driven d = driven_create(moving, options, NULL);
            if (!driven_good(options, &d))
                continue;
            int code = taut_solver_advance(d.solver, rows[k].h, &d.error);
            check_row((code == 0) == rows[k].converges[f], "%s: %s", options,
                      code == 0 ? "converges" : d.error.message);
            if (code == 0 && f > 0)
                check_near(options, taut_solver_position(d.solver)[0], end[0], 1e-13);
            else if (code == 0)
                end[0] = taut_solver_position(d.solver)[0];
            driven_destroy(&d);
        }
    }
}

/* ---- tolerances near rounding: squeezer, which begins at rest, ended after 4e-4 by gauss6 and
 * after 9e-4 by radau9, since scales of coordinates at rest asked for more than rounding allows;
 * the reference is rigid motion, whose scales are others. */
static double squeezer(const char *options)
{
    driven d = {0};
    d.code = taut_system_load("models/squeezer.taut", NULL, &d.system, &d.error);
    driven_equip(&d, options, NULL);
    double beta = NAN;
    if (driven_good(options, &d) && check_row(taut_solver_advance(d.solver, 0.002, &d.error) == 0,
                                              "%s: %s", options, d.error.message))
        beta = taut_solver_position(d.solver)[0];
    driven_destroy(&d);
    return beta;
}

static void test_rounding(void)
{
    static const char *const rows[] = {"gauss6 rtol=1e-8", "gauss6 rtol=1e-9", "radau9 rtol=1e-9",
                                       "radau9 rtol=1e-10"};
    check_group("implicit, near rounding");
    double exact = squeezer("motion=rigid method=radau7 rtol=1e-12 until=0.002");
    for (int k = 0; k < 4; k++) {
        char options[80];
        snprintf(options, sizeof options, "motion=full method=%s until=0.002", rows[k]);
        check_near(options, squeezer(options), exact, 1e-9);
    }
    /* steps proportional to the tolerance: what remains is a sentence that says so */
    char model[400];
    snprintf(model, sizeof model, pendulum, 0.0);
    driven d = driven_create(model, "motion=rigid method=sdirk2 rtol=1e-11 until=1", NULL);
    if (driven_good("sdirk2", &d))
        check_row(taut_solver_advance(d.solver, 1, &d.error) < 0 &&
                      strstr(d.error.message, "order 1 on bonds"),
                  "sdirk2 at 1e-11: %s", d.error.message);
    driven_destroy(&d);
}

/* What cannot be done is refused with a reason. */
static void test_refusals(void)
{
    static const struct {
        const char *options, *model, *reason;
    } rows[] = {
        {"motion=slow method=gauss4 until=1", NULL, "damps no oscillation"},
        {"motion=full method=sdirk2 until=1",
         "[coordinates]\nx, y\n[bonds]\na = x rigid\nb = y compliance 1e-6\n[start]\ny = 1\n",
         "order 1 in velocities"},
        {"method=gauss2 until=1",
         "[state]\nx, y\n[algebraic]\nz\n[rates]\nx' = y\ny' = z\n[constraints]\nc = y - "
         "1\n[start]\ny = 1\n",
         "leaves the constraints"},
        {"motion=rigid method=radau5 newton=J0 until=1", NULL, "needs springs"},
        {"motion=slow method=radau5 newton=r1 until=1", NULL, "outer iteration for stiff"},
    };
    check_group("implicit, refusals");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char model[400];
        snprintf(model, sizeof model, pendulum, 1e-4);
        driven d = driven_create(rows[k].model ? rows[k].model : model, rows[k].options, NULL);
        check_row(!d.solver && strstr(d.error.message, rows[k].reason), "%s: %s", rows[k].options,
                  d.error.message);
        driven_destroy(&d);
    }
}

int main(void)
{
    test_newton_forms();
    test_rounding();
    test_refusals();
    test_tables();
    test_orders();
    test_smooth_orders();
    test_invariants();
    test_adaptive();
    return check_done();
}
