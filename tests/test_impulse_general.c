/* test_impulse_general.c - impulse methods with masses that depend on positions, with rigid bonds
 * and with stiff potentials: one double pendulum in Cartesian and in polar coordinates, with both
 * links stiff or the inner one rigid, the springs written as bonds or as a stiff potential; time
 * reversal; the symplectic form under a step [E section 2]. */
#include "support/run.h"
#include "drive/solver.h"
#include "step/impulse.h"

enum {
    CARTESIAN,
    POLAR,
    RIGID,
    RIGID_POLAR,
    BONDS, /* forms that have no stiff potential */
    POTENTIAL = BONDS,
    POLAR_POTENTIAL,
    RIGID_POTENTIAL,
    MIXED, /* the inner link is a spring */
    FORMS
};
/* the form with bonds that moves alike */
static const int with_bonds[FORMS] = {CARTESIAN, POLAR, RIGID, RIGID_POLAR,
                                      CARTESIAN, POLAR, RIGID, CARTESIAN};

/* Both links 1; the outer one is stretched by about 3.5 eps at the beginning. */
#define OUTER "sqrt(0.5 + (sqrt(0.5) + 5*eps)^2)"
#define ANGLE "atan2(sqrt(0.5), -sqrt(0.5) - 5*eps)"
#define POINTS "[coordinates]\nx, y, u, w\n[potential]\ny + w\n"
#define POINTS_START "[start]\nx = sqrt(0.5), y = -sqrt(0.5), u = sqrt(2), w = 5*eps\n"
#define ANGLES                                                                                     \
    "[coordinates]\nr, a, s, b\n[definitions]\np = (r*sin(a), -r*cos(a))\n"                        \
    "q = (r*sin(a) + s*sin(b), -r*cos(a) - s*cos(b))\n[kinetic]\ndot(p', p')/2\ndot(q', q')/2\n"   \
    "[potential]\np.y + q.y\n"
#define ANGLES_START "[start]\nr = 1, a = pi/4, s = " OUTER ", b = " ANGLE "\n"
#define OUTER_POTENTIAL "(sqrt((x-u)^2 + (y-w)^2) - 1)^2/2 scale 1/eps^2\n"
static const char *const forms[FORMS] = {
    POINTS "[bonds]\ninner = sqrt(x^2 + y^2) - 1 stiffness 1/eps^2\n"
           "outer = sqrt((x-u)^2 + (y-w)^2) - 1 stiffness 1/eps^2\n" POINTS_START,
    ANGLES "[bonds]\ninner = r - 1 stiffness 1/eps^2\nouter = s - 1 stiffness "
           "1/eps^2\n" ANGLES_START,
    POINTS "[bonds]\ninner = sqrt(x^2 + y^2) - 1\n"
           "outer = sqrt((x-u)^2 + (y-w)^2) - 1 stiffness 1/eps^2\n" POINTS_START,
    "[coordinates]\na, s, b\n[definitions]\np = (sin(a), -cos(a))\n"
    "q = (sin(a) + s*sin(b), -cos(a) - s*cos(b))\n[kinetic]\ndot(p', p')/2\ndot(q', q')/2\n"
    "[potential]\np.y + q.y\n[bonds]\nouter = s - 1 stiffness 1/eps^2\n"
    "[start]\na = pi/4, s = " OUTER ", b = " ANGLE "\n",
    POINTS
    "[stiff potential]\n(sqrt(x^2 + y^2) - 1)^2/2 scale 1/eps^2\n" OUTER_POTENTIAL POINTS_START,
    ANGLES "[stiff potential]\n((r - 1)^2 + (s - 1)^2)/2 scale 1/eps^2\n" ANGLES_START,
    POINTS "[bonds]\ninner = sqrt(x^2 + y^2) - 1\n[stiff potential]\n" OUTER_POTENTIAL POINTS_START,
    POINTS "[bonds]\ninner = sqrt(x^2 + y^2) - 1 stiffness 1/eps^2\n"
           "[stiff potential]\n" OUTER_POTENTIAL POINTS_START};
static const char *const names[FORMS] = {
    "Cartesian", "polar",           "rigid",           "rigid, polar",
    "potential", "polar potential", "rigid potential", "spring and potential"};
enum { IMPULSE, PROJECTED, MOLLIFIED, TRANSFORMED, METHODS };
static const char *const methods[METHODS] = {"impulse", "projected-impulse", "mollified-impulse",
                                             "transformed"};

static int inner_order = 2;

static driven create(int form, int method, double eps, double h, double inner)
{
    char model[1200], options[200];
    snprintf(model, sizeof model, "[parameters]\neps = %.17g\n%s", eps, forms[form]);
    snprintf(options, sizeof options,
             "motion=effective method=%s step=%.17g inner-step=%.17g inner-order=%d until=1",
             methods[method], h, inner, inner_order);
    driven d = driven_create(model, options, NULL);
    driven_good(names[form], &d);
    return d;
}

/* Position and velocity of both masses: z = (x, y, u, w) and its rate. */
static void to_cartesian(int form, const double *q, const double *v, double *z)
{
    if (with_bonds[form] == CARTESIAN || with_bonds[form] == RIGID) {
        memcpy(z, q, 4 * sizeof *z);
        memcpy(z + 4, v, 4 * sizeof *z);
        return;
    }
    const bool fixed = form == RIGID_POLAR;
    double r = fixed ? 1 : q[0], rv = fixed ? 0 : v[0];
    q += !fixed;
    v += !fixed;
    z[0] = r * sin(q[0]);
    z[1] = -r * cos(q[0]);
    z[2] = z[0] + q[1] * sin(q[2]);
    z[3] = z[1] - q[1] * cos(q[2]);
    z[4] = rv * sin(q[0]) + r * cos(q[0]) * v[0];
    z[5] = -rv * cos(q[0]) + r * sin(q[0]) * v[0];
    z[6] = z[4] + v[1] * sin(q[2]) + q[1] * cos(q[2]) * v[2];
    z[7] = z[5] - v[1] * cos(q[2]) + q[1] * sin(q[2]) * v[2];
}

/* The vibrating state at t = 1, in Cartesian coordinates, and the one that is shown (may be NULL)
 * with the tension of the first bond. */
static void vibrating(int form, int method, double eps, double inner, double *z, double *shown)
{
    driven d = create(form, method, eps, 0.1, inner);
    if (d.code == 0) {
        check_row(taut_solver_advance(d.solver, 1, &d.error) == 0, "%s, %s: %s", names[form],
                  methods[method], d.error.message);
        const taut_impulse *w = d.solver->stepper.work;
        to_cartesian(form, w->x, w->v, z);
        if (shown)
            to_cartesian(form, taut_solver_position(d.solver), taut_solver_velocity(d.solver),
                         shown);
        if (shown && d.solver->stepper.m > 0)
            shown[8] = taut_solver_multipliers(d.solver)[0];
    }
    driven_destroy(&d);
}

static double distance(const double *a, const double *b)
{
    double most = 0;
    for (int i = 0; i < 8; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* The motion does not depend on the coordinates: exactly for kicks that are forces or their
 * M-orthogonal parts, so that errors of the micro-steps, of order 2, remain; mollifiers move
 * along straight lines in the coordinates, which differ by O(eps^2). */
static void test_coordinates(void)
{
    check_group("impulse, coordinates");
    for (int pair = 0; pair < 2; pair++)
        for (int m = 0; m < METHODS; m++) {
            double z[4][8] = {{0}}, eps = 1e-2;
            for (int k = 0; k < 2; k++) {
                vibrating(2 * pair, m, eps, 2e-4 / (1 + k), z[k], NULL);
                vibrating(2 * pair + 1, m, eps, 2e-4 / (1 + k), z[2 + k], NULL);
            }
            double coarse = distance(z[0], z[2]), fine = distance(z[1], z[3]);
            if (m < MOLLIFIED) {
                check_below(names[2 * pair + 1], fine, 1e-3);
                check_near(methods[m], log2(coarse / fine), 2, 0.1);
            } else {
                check_below(methods[m], fine, 50 * eps * eps);
            }
        }
}

/* What is shown by adiabatic steps and by the effective system, which begin at (9): the point X and
 * the actions at x depend on the coordinates by O(eps^2) and O(eps). */
static void test_coordinates_averaged(void)
{
    static const char *const options[] = {
        "method=effective rtol=1e-9", "method=rattle step=0.01",
        "method=projected-impulse step=0.1 inner-method=adiabatic inner-step=0.01",
        "method=transformed step=0.1 inner-method=adiabatic inner-step=0.01"};
    const double eps = 1e-3;
    check_group("coordinates, averaged");
    for (int pair = 0; pair < 2; pair++)
        for (int m = 0; m < 4; m++) {
            double z[2][8] = {{0}};
            for (int k = 0; k < 2; k++) {
                char model[1200], all[200];
                snprintf(model, sizeof model, "[parameters]\neps = %.17g\n%s", eps,
                         forms[2 * pair + k]);
                snprintf(all, sizeof all, "motion=effective until=1 verify=never %s", options[m]);
                driven d = driven_create(model, all, NULL);
                if (driven_good(all, &d)) {
                    check_equal("advance", taut_solver_advance(d.solver, 1, &d.error), 0);
                    to_cartesian(2 * pair + k, taut_solver_position(d.solver),
                                 taut_solver_velocity(d.solver), z[k]);
                }
                driven_destroy(&d);
            }
            check_row(distance(z[0], z[1]) < 2.5 * eps, "%s, %s: %g", names[2 * pair + 1],
                      options[m], distance(z[0], z[1]));
            check_row(fabs(z[0][0] - sqrt(0.5)) > 0.1, "it has moved");
        }
}

/* Springs as a stiff potential: the same vibrating state where function and manifold are all that
 * counts, or where the modes have the directions of the bonds; else the choice of directions off
 * the manifold [E Lemmas 2.1, 5.1] is seen: by kicks across the bonds, O(eps), or by mollifiers,
 * O(eps^2). */
static void test_potential(void)
{
    const double eps = 5e-3;
    check_group("impulse, springs as a stiff potential");
    for (int form = BONDS; form < FORMS; form++)
        for (int m = 0; m < METHODS; m++) {
            double z[4][9] = {{0}};
            bool equal =
                m == IMPULSE || m == TRANSFORMED || (m == PROJECTED && with_bonds[form] == POLAR);
            vibrating(with_bonds[form], m, eps, eps / 10, z[0], z[2]);
            vibrating(form, m, eps, eps / 10, z[1], z[3]);
            double whole = distance(z[0], z[1]), shown = distance(z[2], z[3]);
            check_row(equal ? whole < 1e-11 : shown < (m == PROJECTED ? 2.5 : 50 * eps) * eps,
                      "%s, %s: %g, shown %g", names[form], methods[m], whole, shown);
            if (equal && (form == RIGID_POTENTIAL || form == MIXED))
                check_near("mean tension", z[3][8], z[2][8], 50 * eps * eps);
        }
}

/* One circle, as a bond and as a potential that is the same function: whatever is projected moves
 * along its radius, so that all methods agree to rounding, in what they show too. */
static void test_circle(void)
{
    static const char *const links[] = {"[bonds]\nlink = (x^2 + y^2 - 1)/sqrt(2) stiffness 1e4\n",
                                        "[stiff potential]\n(x^2 + y^2 - 1)^2/4 scale 1e4\n"};
    check_group("impulse, a circle");
    for (int m = 0; m < METHODS; m++) {
        double z[2][5] = {{0}};
        for (int k = 0; k < 2; k++) {
            char model[300], options[120];
            snprintf(
                model, sizeof model,
                "[coordinates]\nx, y\n[mass]\nx = 2, y = 2\n[potential]\ny + x*y\n%s[start]\nx "
                "= 0.8, y = 0.61, y' = 0.5\n",
                links[k]);
            snprintf(options, sizeof options, "motion=effective method=%s step=0.1 until=1",
                     methods[m]);
            driven d = driven_create(model, options, NULL);
            if (driven_good(methods[m], &d)) {
                check_equal("advance", taut_solver_advance(d.solver, 1, &d.error), 0);
                keep(z[k], taut_solver_position(d.solver), 2);
                keep(z[k] + 2, taut_solver_velocity(d.solver), 2);
                taut_result result = {.size = sizeof result};
                taut_solver_result_get(d.solver, &result, NULL);
                z[k][4] = result.energy_last; /* with that of the vibration */
            }
            driven_destroy(&d);
        }
        for (int i = 0; i < 5; i++)
            check_near(methods[m], z[1][i], z[0][i], 1e-12 * fmax(1, fabs(z[0][i])));
    }
}

/* (X, P y) against the effective system by dop8: O(h^2) + O(eps), as for constant masses. The
 * effective motion itself depends on the coordinates by its initial state alone: x - X is a
 * straight line in them, O(eps^2). */
static void test_effective(void)
{
    check_group("impulse, varying masses and rigid bonds against the effective system");
    double end[FORMS][8] = {{0}}, eps = 2e-3;
    for (int form = 0; form < FORMS; form++) {
        char model[1200];
        snprintf(model, sizeof model, "[parameters]\neps = %.17g\n%s", eps,
                 forms[with_bonds[form]]);
        driven e =
            driven_create(model, "motion=effective method=effective until=1 rtol=1e-9", NULL);
        driven_good(names[form], &e);
        for (int m = PROJECTED; m < METHODS && e.code == 0; m++) {
            driven d = create(form, m, eps, 0.05, eps / 10);
            double z[2][8];
            if (d.code == 0) {
                check_equal("impulse", taut_solver_advance(d.solver, 1, &d.error), 0);
                check_equal("effective", taut_solver_advance(e.solver, 1, &e.error), 0);
                to_cartesian(form, taut_solver_position(d.solver), taut_solver_velocity(d.solver),
                             z[0]);
                to_cartesian(form, taut_solver_position(e.solver), taut_solver_velocity(e.solver),
                             z[1]);
                check_below(methods[m], distance(z[0], z[1]), 0.079 * 0.0025 + 2.5 * eps);
            }
            driven_destroy(&d);
        }
        if (e.code == 0)
            to_cartesian(form, taut_solver_position(e.solver), taut_solver_velocity(e.solver),
                         end[form]);
        driven_destroy(&e);
    }
    for (int form = 0; form < BONDS; form += 2)
        check_row(distance(end[form], end[form + 1]) < 10 * eps * eps && end[form][0] != 0,
                  "effective, %s: off by %g", names[form + 1], distance(end[form], end[form + 1]));
}

static void test_reversible(void)
{
    check_group("impulse, time reversal in general");
    for (int form = POLAR; form < FORMS; form++)
        for (int m = 0; m < METHODS; m++) {
            driven d = create(form, m, 1e-2, 0.125, 5e-4);
            double q[4] = {0}, v[4] = {0};
            int n = form == RIGID_POLAR ? 3 : 4;
            if (d.code == 0) {
                keep(q, taut_solver_position(d.solver), n);
                keep(v, taut_solver_velocity(d.solver), n);
                check_equal("forwards", taut_solver_advance(d.solver, 1, &d.error), 0);
                check_row(fabs(taut_solver_position(d.solver)[0] - q[0]) > 1e-3 ||
                              with_bonds[form] == POLAR,
                          "it has moved");
                check_equal("backwards", taut_solver_advance(d.solver, 0, &d.error), 0);
                for (int i = 0; i < n; i++) {
                    check_near(methods[m], taut_solver_position(d.solver)[i], q[i], 1e-10);
                    check_near(methods[m], taut_solver_velocity(d.solver)[i], v[i], 1e-9);
                }
            }
            driven_destroy(&d);
        }
}

/* Friction and a magnetic force move with the springs. The position is that of full motion up to
 * O(h^2) + O(eps), actions decay at the rate of the friction, and time reversal holds to rounding.
 */
static void test_velocities(void)
{
    static const char *const forces = "[forces]\nx = -0.5*x' + 2*y'\ny = -0.5*y' - 2*x'\n"
                                      "u = -0.5*u'\nw = -0.5*w'\n";
    const double eps = 2e-3, h = 0.05;
    char model[1400], options[200];
    double q[4] = {0};
    check_group("impulse, forces that depend on velocities");
    snprintf(model, sizeof model, "[parameters]\neps = %.17g\n%s%s", eps, forms[CARTESIAN], forces);
    driven full = driven_create(model, "motion=full rtol=1e-8 until=1 verify=never", NULL);
    if (driven_good("full", &full))
        check_equal("full", taut_solver_advance(full.solver, 1, &full.error), 0);
    for (int m = PROJECTED; m < METHODS && full.code == 0; m++) {
        snprintf(options, sizeof options, "motion=effective method=%s step=%g until=1", methods[m],
                 h);
        driven d = driven_create(model, options, NULL);
        if (driven_good(methods[m], &d)) {
            const taut_impulse *w = d.solver->stepper.work;
            double first[2] = {w->action[0], w->action[1]}, off = 0;
            keep(q, taut_solver_position(d.solver), 4);
            check_equal("forwards", taut_solver_advance(d.solver, 1, &d.error), 0);
            for (int i = 0; i < 4; i++)
                off = fmax(off, fabs(taut_solver_position(full.solver)[i] -
                                     taut_solver_position(d.solver)[i]));
            check_below(methods[m], off, 0.064 * h * h + 1.8 * eps);
            taut_solver_multipliers(d.solver); /* which need the actions of now */
            check_near("action", w->action[1] / first[1], exp(-0.5), 20 * eps);
            check_equal("backwards", taut_solver_advance(d.solver, 0, &d.error), 0);
            for (int i = 0; i < 4; i++)
                check_near(methods[m], taut_solver_position(d.solver)[i], q[i], 1e-9);
        }
        driven_destroy(&d);
    }
    driven_destroy(&full);
}

/* ---- the symplectic form */

/* (x, y) of a vibrating state, y = M(x) v. */
static void momenta(driven *d, double *z)
{
    const taut_impulse *w = d->solver->stepper.work;
    taut_values values = {.size = sizeof values, .momentum = z + 4};
    memcpy(z, w->x, (size_t)w->mechanics.n * sizeof *z);
    check_equal(
        "momenta",
        taut_evaluate(d->solver->context, 0, w->x, w->v, TAUT_WANT_MOMENTUM, &values, &d->error),
        0);
}

/* A step from the state with these parameters: (x, v); where the inner link is rigid, those of
 * polar coordinates. (x, y) before and after it. */
static void step_from(driven *d, int form, const double *p, double *before, double *after)
{
    taut_impulse *w = d->solver->stepper.work;
    taut_index n = w->mechanics.n;
    double z[8];
    if (with_bonds[form] == RIGID)
        to_cartesian(RIGID_POLAR, p, p + 3, z);
    else
        memcpy(z, p, 2 * (size_t)n * sizeof *z);
    memcpy(w->x, z, (size_t)n * sizeof *z);
    memcpy(w->v, z + n, (size_t)n * sizeof *z);
    w->fresh = false;
    d->solver->stepper.now.t = 0;
    momenta(d, before);
    check_equal("step", taut_impulse_step(&d->solver->stepper, 0.1, &d->error), 0);
    momenta(d, after);
}

static double form_of(const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += a[i] * b[4 + i] - a[4 + i] * b[i];
    return sum;
}

/* The largest change of dx ^ dy over all pairs of directions, by central differences. */
static double change_of_form(int form, int method)
{
    static const double start[BONDS][8] = {{.72, -.7, 1.4, .1, .1, .05, -.2, .3},
                                           {1.02, .8, 1.03, 2.1, .2, .1, -.1, .3},
                                           {.8, 1.03, 2.1, .1, -.1, .3},
                                           {.8, 1.03, 2.1, .1, -.1, .3}};
    const int base = with_bonds[form], size = base == RIGID || base == RIGID_POLAR ? 6 : 8;
    const double delta = 1e-5;
    double a[8][8] = {{0}}, b[8][8] = {{0}}, worst = 0;
    driven d = create(form, method, 0.05, 0.1, 1e-3);
    for (int k = 0; k < size && d.code == 0; k++)
        for (int side = -1; side <= 1; side += 2) {
            double p[8], before[8] = {0}, after[8] = {0};
            memcpy(p, start[base], sizeof p);
            p[k] += side * delta;
            step_from(&d, form, p, before, after);
            for (int i = 0; i < 8; i++) {
                a[k][i] += side * before[i] / (2 * delta);
                b[k][i] += side * after[i] / (2 * delta);
            }
        }
    for (int i = 0; i < size; i++)
        for (int j = 0; j < i; j++)
            worst = fmax(worst, fabs(form_of(b[i], b[j]) - form_of(a[i], a[j])));
    driven_destroy(&d);
    return worst;
}

/* All but projected-impulse are symplectic [E 2.2, 2.3, (22)]. */
static void test_symplectic(void)
{
    check_group("impulse, symplectic");
    for (int form = 0; form < FORMS; form++)
        for (int m = 0; m < METHODS; m++) {
            double change = change_of_form(form, m);
            if (m == PROJECTED)
                check_row(change > 1e-4, "%s, projected: %g", names[form], change);
            else
                check_row(change < 2e-7, "%s, %s: %g", names[form], methods[m], change);
        }
}

/* Micro-steps of order 4, 6 and 8, by Verlet and by the generalised leapfrog. */
static void test_inner_order(void)
{
    static const struct {
        int order;
        double inner; /* times eps */
    } rows[] = {{2, 0.05}, {4, 0.25}, {6, 0.5}};
    static const int some[] = {CARTESIAN, POLAR, RIGID, RIGID_POTENTIAL};
    const double eps = 0.02;
    check_group("order of the micro-steps");
    for (int f = 0; f < 4; f++) {
        double exact[8] = {0}, z[8] = {0};
        inner_order = 8;
        vibrating(some[f], 1, eps, 0.1 * eps, exact, NULL);
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
            double error[2];
            inner_order = rows[k].order;
            for (int half = 0; half < 2; half++) {
                vibrating(some[f], 1, eps, rows[k].inner * eps / (1 + half), z, NULL);
                error[half] = distance(z, exact);
            }
            double order = log2(error[0] / error[1]);
            check_row(fabs(order - rows[k].order) < 0.7,
                      "%s, order %d: errors %g, %g, observed order %.2f", names[some[f]],
                      rows[k].order, error[0], error[1], order);
        }
    }
    inner_order = 2;
}

/* One slow evaluation a step, one fast one for each micro-step and one where a step begins. */
static void test_counts(void)
{
    check_group("impulse, counts in general");
    for (int form = POLAR; form < BONDS; form++) {
        driven d = create(form, MOLLIFIED, 1e-2, 0.1, 5e-4);
        taut_result r = {.size = sizeof r};
        if (d.code == 0) {
            check_equal("advance", taut_solver_advance(d.solver, 1, &d.error), 0);
            taut_solver_result_get(d.solver, &r, NULL);
            check_equal("slow", r.statistics.force_evaluations, 11);
            check_equal("micro-steps", r.statistics.micro_steps, 2000);
            check_equal("fast", r.statistics.fast_force_evaluations, 2010);
            check_below("iterations of a micro-step", (double)r.statistics.newton_iterations / 2000,
                        8);
        }
        driven_destroy(&d);
    }
}

int main(void)
{
    test_coordinates();
    test_coordinates_averaged();
    test_potential();
    test_circle();
    test_effective();
    test_reversible();
    test_velocities();
    test_symplectic();
    test_inner_order();
    test_counts();
    return check_done();
}
