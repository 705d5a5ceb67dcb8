/* test_conserved.c - [invariants] of mechanical models: energy, momentum and angular momentum are
 * evaluated here, from positions and velocities of the rows. */
#include "support/run.h"

static const char body[] = "[parameters]\nm[1] = 1, m[2] = 2, m[3] = 1.5\n"
                           "[particles]\ndimension = 3\np[i] for i in 1..3  mass m[i]\n"
                           "[bonds]\na = length(p[2] - p[1]) - 1\nb = length(p[3] - p[1]) - 1\n"
                           "c = length(p[3] - p[2]) - sqrt(2)\n"
                           "[definitions]\nangular = sum(m[i]*cross(p[i], p[i]') for i in 1..3)\n"
                           "momentum = sum(m[i]*p[i]' for i in 1..3)\n"
                           "[invariants]\nenergy = sum(m[i]*dot(p[i]', p[i]')/2 for i in 1..3)\n"
                           "px = momentum.x, py = momentum.y, pz = momentum.z\n"
                           "Lx = angular.x, Ly = angular.y, Lz = angular.z\n"
                           "[start]\np[2] = (1, 0, 0), p[3] = (0, 1, 0)\np[1]' = (0.3, 0, 0.5)\n"
                           "p[2]' = (0.3, 1, 0)\np[3]' = (-0.7, 0, -0.2)\n";

/* energy, momentum, angular momentum of the body, from the end of a run */
static void measure(const taut_solver *solver, double h[7])
{
    static const double m[3] = {1, 2, 1.5};
    const double *q = taut_solver_position(solver), *v = taut_solver_velocity(solver);
    memset(h, 0, 7 * sizeof *h);
    for (int i = 0; i < 3; i++) {
        const double *x = q + 3 * i, *u = v + 3 * i;
        for (int c = 0; c < 3; c++) {
            h[0] += m[i] * u[c] * u[c] / 2;
            h[1 + c] += m[i] * u[c];
            h[4 + c] += m[i] * (x[(c + 1) % 3] * u[(c + 2) % 3] - x[(c + 2) % 3] * u[(c + 1) % 3]);
        }
    }
}

static double body_drift(const char *options)
{
    double first[7], last[7], worst = NAN;
    driven d = driven_create(body, options, NULL);
    if (d.code == 0) {
        measure(d.solver, first);
        d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
    }
    if (driven_good(options, &d)) {
        measure(d.solver, last);
        worst = 0;
        for (int k = 0; k < 7; k++)
            worst = fmax(worst, fabs(last[k] - first[k]));
        const double *q = taut_solver_position(d.solver);
        double length = sqrt(pow(q[3] - q[0], 2) + pow(q[4] - q[1], 2) + pow(q[5] - q[2], 2));
        if (!strstr(options, "none"))
            check_near("length of a rod", length, 1, 1e-9);
        taut_result result = {.size = sizeof result};
        taut_solver_result_get(d.solver, &result, NULL);
        check_row(result.drift_position >= 0.9 * worst, "%s: the drift shown, %g, is below %g",
                  options, result.drift_position, worst);
    }
    driven_destroy(&d);
    return worst;
}

static void check_body(void)
{
    check_group("rigid body");
    check_below("rk4, post", body_drift("method=rk4 step=0.1 stabilize=post until=50"), 1e-8);
    check_below("rk4, project", body_drift("method=rk4 step=0.1 stabilize=project until=50"),
                1e-11);
    check_below("dop8, the default", body_drift("rtol=1e-4 until=50"), 1e-7);
    check_below("ab2", body_drift("method=ab2 step=0.02 stabilize=project until=50"), 1e-11);
    /* what they keep is lost without them */
    double off = body_drift("method=rk4 step=0.1 stabilize=none until=50");
    check_row(off > 1e-4, "rk4, none: %g", off);
}

/* The pendulum from the horizontal on: rk4 keeps its order with the energy as an invariant. */
static void check_order(void)
{
    static const char pendulum[] = "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + "
                                   "y^2) - 1\n[invariants]\nenergy = (x'^2 + y'^2)/2 + y\n"
                                   "[start]\nx = 1\n";
    static const char *const options[] = {"method=dop8 rtol=1e-13 stabilize=none until=4",
                                          "method=rk4 step=0.05 until=4",
                                          "method=rk4 step=0.025 until=4"};
    double x[3] = {0};
    check_group("order");
    for (int k = 0; k < 3; k++) {
        driven d = driven_create(pendulum, options[k], NULL);
        if (d.code == 0)
            d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        if (driven_good(options[k], &d))
            x[k] = taut_solver_position(d.solver)[0];
        driven_destroy(&d);
    }
    double order = log2(fabs(x[1] - x[0]) / fabs(x[2] - x[0]));
    check_row(order > 3.6, "rk4: order %.2f", order);
}

static const char orbit[] = "[particles]\ndimension = 2\np\n[potential]\n-1/length(p)\n"
                            "[invariants]\nenergy = dot(p', p')/2 - 1/length(p)\n"
                            "spin = cross(p, p')\n"
                            "[start]\np = (0.4, 0), p' = (0, 2)\n";

/* Without bonds, and with an event after which other values are kept. */
static void check_orbit(void)
{
    static const char *const event[] = {
        "", "[events]\nkick = t - 5  rising  then p.x' = 1.1*p.x', p.y' = 1.1*p.y'\n"};
    check_group("orbit");
    for (int k = 0; k < 2; k++) {
        static kept rows;
        char text[600];
        snprintf(text, sizeof text, "%s%s", orbit, event[k]);
        driven d = driven_create(text, "method=dopri5 rtol=1e-4 stabilize=project until=60", NULL);
        taut_sink sink = kept_sink(&rows);
        if (d.code == 0)
            d.code = taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error);
        double before = 0, after = 0, spin = NAN, energy = NAN;
        for (int i = 0; d.code == 0 && i < rows.rows; i++) {
            const double *q = rows.q[i], *v = rows.v[i];
            double e = (v[0] * v[0] + v[1] * v[1]) / 2 - 1 / hypot(q[0], q[1]),
                   l = q[0] * v[1] - q[1] * v[0];
            bool late = k && rows.t[i] > 5 + 1e-6;
            if (late && isnan(spin))
                spin = l, energy = e;
            if (k && fabs(rows.t[i] - 5) < 1e-6)
                continue;
            *(late ? &after : &before) =
                fmax(late ? after : before,
                     fabs(e - (late ? energy : -0.5)) + fabs(l - (late ? spin : 0.8)));
        }
        if (driven_good(k ? "with a kick" : "orbit", &d)) {
            check_below("before", before, 1e-11);
            check_below("after", after, 1e-11);
            if (k)
                check_near("spin after the kick", spin, 0.88, 1e-9);
        }
        driven_destroy(&d);
    }
}

/* An invariant that contains t, and one of a family; energy of 100 links, by a sum. */
static void check_forms(void)
{
    static const char fall[] = "[coordinates]\nx[i] for i in 1..2\n[potential]\nx[1] + 3*x[2]\n"
                               "[invariants]\nspeed[i] = x[i]' + (2*i - 1)*t for i in 1..2\n"
                               "[start]\nx[i]' = i for i in 1..2\n";
    static const char chain[] =
        "[particles]\ndimension = 2\nbob[i] for i in 1..100  mass 1\n"
        "[definitions]\nbob[0] = (0, 0)\n[potential]\nsum(bob[i].y for i in 1..100)\n"
        "[bonds]\nlink[i] = length(bob[i] - bob[i-1]) - 1 for i in 1..100\n"
        "[invariants]\nenergy = sum(dot(bob[i]', bob[i]')/2 + bob[i].y for i in 1..100)\n"
        "[start]\nbob[i] = (i, 0) for i in 1..100\n";
    check_group("forms");
    driven d = driven_create(fall, "method=euler step=0.01 until=2", NULL);
    if (d.code == 0)
        d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
    if (driven_good("fall", &d)) {
        check_near("speed", taut_solver_velocity(d.solver)[0], 1 - 2, 1e-13);
        check_near("speed", taut_solver_velocity(d.solver)[1], 2 - 6, 1e-13);
    }
    driven_destroy(&d);
    d = driven_create(chain, "method=rk4 step=0.02 until=1", NULL);
    if (d.code == 0)
        d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
    if (driven_good("chain", &d)) {
        const double *q = taut_solver_position(d.solver), *v = taut_solver_velocity(d.solver);
        double energy = 0;
        for (int i = 0; i < 200; i++)
            energy += v[i] * v[i] / 2 + (i % 2 ? q[i] : 0);
        check_near("energy of the chain", energy, 0, 1e-7);
    }
    driven_destroy(&d);
}

static void check_refusals(void)
{
    static const char rest[] =
        "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) "
        "- 1\n[invariants]\ntotal = (x'^2 + y'^2)/2 + 2*y\n[start]\nx = 1\n";
    static const char fast[] =
        "[coordinates]\nx, y\n[potential]\ny^2/2\n[bonds]\nspring = x*(1 + 0.2*cos(y))  stiffness "
        "1e6\n[invariants]\ntotal = (x'^2 + y'^2)/2 + y^2/2 + 1e6*(x*(1 + 0.2*cos(y)))^2/2\n"
        "[start]\nx = 1e-3, y = 1\n";
    static const struct {
        const char *model, *options, *words[2];
    } table[] = {
        {rest, "motion=rigid method=dop8 until=1", {"'total'", "not constant"}},
        {rest, "motion=rigid method=radau5 until=1", {"'total'", "motion rigid"}},
        {fast, "motion=effective method=effective until=1", {"'total'", "effective"}},
        {orbit, "method=rk4 step=0.1 stabilize=baumgarte until=1", {"[invariants]", "post"}},
        {body, "method=rk4 step=0.1 stabilize=post-simple until=1", {"[invariants]", "post"}}};
    check_group("refusals");
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        driven d = driven_create(table[k].model, table[k].options, NULL);
        check_row(d.code < 0, "%s: it was accepted", table[k].options);
        for (int j = 0; j < 2; j++)
            check_row(strstr(d.error.message, table[k].words[j]), "%s: '%s' in: %s",
                      table[k].options, table[k].words[j], d.error.message);
        driven_destroy(&d);
    }
    driven d = driven_create(fast, "motion=full method=dop8 rtol=1e-6 until=1", NULL);
    if (d.code == 0)
        d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
    driven_good("the same in full motion", &d);
    driven_destroy(&d);
}

/* A force that does no work at the initial state, and later: the run ends. */
static void check_later(void)
{
    static const char damped[] =
        "[coordinates]\nx, y\n[potential]\n9.81*y\n[forces]\nx = -0.1*x'\n[bonds]\nrod = sqrt(x^2 "
        "+ y^2) - 1\n[invariants]\nenergy = (x'^2 + y'^2)/2 + 9.81*y\n[start]\nx = 1\n";
    check_group("later");
    driven d = driven_create(damped, "method=dop8 until=5", NULL);
    if (d.code == 0)
        d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
    check_row(d.code == TAUT_ERROR_REFUSED && strstr(d.error.message, "'energy' of [invariants]"),
              "%d: %s", d.code, d.error.message);
    driven_destroy(&d);
}

/* taut_check: values and rates, here computed by hand. */
static void check_report(void)
{
    static const char spiral[] =
        "[state]\nx, y\n[rates]\nx' = -y - 0.5*x\ny' = x\n[invariants]\nsquare = x^2 + y^2\n"
        "four = 4 + 0*x\n[start]\nx = 1, y = 2\n";
    static const char pushed[] = "[coordinates]\nx\n[forces]\nx = -0.2*x'\n[invariants]\n"
                                 "energy = x'^2/2 + 3\nmoved = x' + 0.2*x\nclock = x - t\n"
                                 "[start]\nx = 5\n";
    static const char fixed[] = "[coordinates]\nx, y\n[potential]\n9.81*y\n[forces]\nx = -0.1*x'\n"
                                "[bonds]\nrod = sqrt(x^2 + y^2) - 1\n[invariants]\n"
                                "energy = (x'^2 + y'^2)/2 + 9.81*y\n[start]\nx = 1\n";
    static const struct {
        const char *model, *name;
        int at, constant;
        double value, rate;
    } table[] = {{spiral, "square", 0, 0, 5, -1}, /* 2 x x' + 2 y y' = -x^2 */
                 {spiral, "four", 1, 1, 4, 0},        {pushed, "energy", 0, 0, 3, 0}, /* at rest */
                 {pushed, "moved", 1, 1, 1, 0},       {pushed, "clock", 2, 0, 5, -1},
                 {fixed, "energy", 0, 0, 0, 0}, /* no work in this direction */
                 {orbit, "energy", 0, 1, 2 - 2.5, 0}, {orbit, "spin", 1, 1, 0.8, 0}};
    check_group("check");
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        taut_system *system = NULL;
        taut_error error = {0};
        taut_check_report r = {.size = sizeof r};
        const char *model = table[k].model;
        int status = taut_system_parse(model, strlen(model), "model.taut", NULL, &system, &error);
        if (status == 0)
            status = taut_check(system, NULL, &r, &error);
        if (check_row(status == 0 && r.invariants > table[k].at, "%d: %s", status, error.message)) {
            const taut_invariant_check *row = &r.invariant[table[k].at];
            check_row(strcmp(row->name, table[k].name) == 0, "%s", row->name);
            check_near(row->name, row->value, table[k].value, 1e-14);
            check_near("rate", row->rate, table[k].rate, 1e-14);
            check_equal("constant", row->constant, table[k].constant);
        }
        taut_system_destroy(system);
    }
}

int main(void)
{
    check_later();
    check_report();
    check_body();
    check_order();
    check_orbit();
    check_forms();
    check_refusals();
    return check_done();
}
