/* test_forces.c - projections `kernel` and `ipa` of systems whose stiffness is not declared: a
 * force as a C function, a potential that happens to be stiff, a stiff potential. Oracles: exact
 * slow motions (docs/sources.md, A), the frequencies of the declared model (taut_frequencies), and
 * series on the declared model from the result: what it moves is the distance to the slow manifold
 * (docs/theory.md). */
#include "support/forces.h"

static const char *const pendulum_names[] = {"x1", "y1", "x2", "y2"};
static const double start_q[] = {1, 0.25, 2, 0}, start_v[] = {0, -0.5, 0, 0.5}; /* A (29)-(30) */

/* Limits of kernel for the declared model, at omega = 1000 and 100; of ipa, the
 * paper's (docs/sources.md, A). */
static void test_double(void)
{
    check_group("double pendulum as a force");
    static const struct {
        double omega;
        const char *set, *options;
        double q, v;
    } rows[] = {
        {1000, "omega=1000", "method=kernel", 2e-12, 2e-12},
        {100, "omega=100", "method=kernel", 1e-8, 1e-7},
        {1e4, "omega=1e4", "method=kernel", 2e-12, 2e-11},
        {1e6, "omega=1e6", "method=kernel", 2e-12, 1e-9},
        {1000, "omega=1000", "method=kernel omega=1000", 2e-12, 2e-12},
        {1000, "omega=1000", "method=auto", 2e-12, 2e-12},
        {1000, "omega=1000", "method=ipa", 1.3e-9, 1e-6},
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        springs s = {.omega = rows[k].omega};
        projected p =
            project_force(4, double_force, &s, start_q, start_v, false, rows[k].options, NULL);
        if (projected_good(rows[k].options, &p)) {
            if (getenv("TAUT_TEST_VERBOSE"))
                printf("%s %s: %d evaluations, %s\n", rows[k].set, rows[k].options,
                       (int)p.r.statistics.force_evaluations, p.r.explanation);
            check_slow(rows[k].options, &p, "double_pendulum", rows[k].set, 4, pendulum_names, "",
                       rows[k].q, rows[k].v);
            if (strcmp(p.r.method, "kernel") == 0)
                check_frequencies(rows[k].options, &p, "double_pendulum", rows[k].set, 1e-3);
        }
        projected_drop(&p);
    }
}

/* A (5): the slow solution is A cos t, A = omega^2/(omega^2 - 1) (docs/sources.md, A). A 2.3:
 * omega^2 r^3 (r - 1) = (r^2 phi')^2, r' = 0. */
static void test_exact(void)
{
    check_group("exact slow motions of forces");
    springs s = {.omega = 1000};
    double q[] = {1.05, 0}, v[] = {0.3, 0}, A = 1e6 / (1e6 - 1);
    projected p = project_force(1, forced_force, &s, q, v, true, "method=kernel from=0.7", NULL);
    if (projected_good("forced", &p)) {
        check_near("q", p.r.q[0], A * cos(0.7), 2e-12);
        check_near("q'", p.r.v[0], -A * sin(0.7), 2e-12);
        check_near("time", p.r.t, 0.7, 0);
    }
    projected_drop(&p);
    double free_q[] = {1.01, 0}, free_v[] = {0.02, 1};
    p = project_force(2, free_force, &s, free_q, free_v, false, "method=kernel", NULL);
    if (projected_good("free", &p)) {
        const double *x = p.r.q, *u = p.r.v;
        double r = 1, spin = x[0] * u[1] - x[1] * u[0];
        for (int i = 0; i < 20; i++)
            r = 1 + spin * spin / (1e6 * r * r * r);
        check_near("r", hypot(x[0], x[1]), r, 1e-12);
        check_near("r'", (x[0] * u[0] + x[1] * u[1]) / r, 0, 2e-12);
        check_frequencies("frequencies", &p, "free_pendulum", "omega=1000", 1e-3);
    }
    projected_drop(&p);
}

/* ---- models: the same pendulum as a stiff potential, as a potential that says nothing, with
 * other masses */

#define PENDULUM_HEAD                                                                              \
    "[parameters]\nomega = 1000\n[coordinates]\nx1, y1, x2, y2\n[definitions]\n"                   \
    "a = sqrt(x1^2+y1^2) - 1\nb = sqrt((x1-x2)^2+(y1-y2)^2) - 1\n"                                 \
    "[start]\nx1 = 1, y1 = 0.25, x2 = 2, y2 = 0, y1' = -0.5, y2' = 0.5\n"

static void test_potentials(void)
{
    check_group("double pendulum as a potential");
    static const struct {
        const char *text, *says;
    } models[] = {
        {PENDULUM_HEAD "[stiff potential]\n(a^2 + b^2)/2 scale omega^2\n", "the stiff potential"},
        {PENDULUM_HEAD "[potential]\nomega^2*(a^2 + b^2)/2\n", "differences of forces"},
        {PENDULUM_HEAD
         "[stiff potential]\na^2/2 scale omega^2\n[bonds]\nouter = b stiffness omega^2\n",
         "differences of forces"},
    };
    static const struct {
        const char *set;
        double q, v;
    } rows[] = {
        {"omega=1000", 2e-12, 2e-12}, {"omega=100", 1e-8, 1e-7}, {"omega=1e6", 2e-12, 1e-9}};
    for (size_t k = 0; k < sizeof models / sizeof models[0]; k++)
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
            taut_load how = {.size = sizeof how, .set = &rows[r].set, .set_count = 1};
            char what[60];
            snprintf(what, sizeof what, "model %d, %s", (int)k, rows[r].set);
            projected p = project_model(models[k].text, &how, "method=kernel");
            if (projected_good(what, &p)) {
                check_contains(what, p.r.explanation, models[k].says);
                check_slow(what, &p, "double_pendulum", rows[r].set, 4, pendulum_names, "",
                           rows[r].q, rows[r].v);
                check_frequencies(what, &p, "double_pendulum", rows[r].set, 1e-3);
            }
            projected_drop(&p);
            p = project_model(models[k].text, &how, "method=ipa");
            if (r != 1 &&
                projected_good(what, &p)) /* at omega = 100 what ipa reaches is not stated */
                check_slow(what, &p, "double_pendulum", rows[r].set, 4, pendulum_names, "", 1.3e-9,
                           1e-6);
            projected_drop(&p);
        }
}

/* Against series for stiff potentials, which shares only the model: from the initial state at rest
 * of quartic_rod the same point, from one that oscillates a point that series leaves where it is.
 */
static void test_stiff_potential(void)
{
    check_group("stiff potential");
    static const char *const names[] = {"x", "y"};
    projected s = project_model("quartic_rod", NULL, "method=series"),
              p = project_model("quartic_rod", NULL, "method=kernel");
    if (projected_good("series", &s) && projected_good("kernel", &p))
        for (int i = 0; i < 2; i++) {
            check_near(names[i], p.r.q[i], s.r.q[i], 1e-10);
            check_near(names[i], p.r.v[i], s.r.v[i], 1e-10);
        }
    projected_drop(&s);
    projected_drop(&p);
    taut_load how = {.size = sizeof how, .start_text = "x = 1.02\ny = 0.1\ny' = 0.7\n"};
    p = project_model("quartic_rod", &how, "method=kernel");
    if (projected_good("ringing", &p))
        check_slow("ringing", &p, "quartic_rod", "", 2, names, "", 1e-10, 1e-10);
    projected_drop(&p);
    p = project_model("quartic_rod", &how, "method=ipa");
    if (projected_good(
            "ipa",
            &p)) /* the paper's accuracy: O(omega^-4) in q, O(omega^-2) in v (docs/sources.md, A) */
        check_slow("ipa", &p, "quartic_rod", "", 2, names, "", 1.3e-9, 1e-6);
    projected_drop(&p);
    const char *model = PENDULUM_HEAD "[stiff potential]\n(a^2 + b^2)/2 scale omega^2\n";
    p = project_model(model, NULL, "method=kernel");
    if (projected_good("pendulum", &p))
        check_slow("pendulum", &p, model, "", 4, pendulum_names, "", 1e-10, 1e-10);
    projected_drop(&p);
}

/* ---- more than one scale, other masses, many coordinates */

static int three_force(void *user, double t, const double *q, const double *v, double *f)
{
    springs *s = user; /* omega, omega/1000, 1: uncoupled up to a slow force */
    (void)t, (void)v;
    double w = s->omega;
    f[0] = -w * w * (q[0] - sin(q[2]));
    f[1] = -w * w * 1e-6 * (q[1] - cos(q[2]));
    f[2] = -q[2];
    return 0;
}

/* A chain of springs of length 1 under gravity, the first end at the origin; n/2 links. */
static int chain_force(void *user, double t, const double *q, const double *v, double *f)
{
    springs *s = user;
    (void)t, (void)v;
    int links = s->bad_after;
    for (int i = 0; i < links; i++) {
        f[2 * i] = 0;
        f[2 * i + 1] = -1;
    }
    for (int i = 0; i < links; i++) {
        double x = q[2 * i] - (i ? q[2 * i - 2] : 0), y = q[2 * i + 1] - (i ? q[2 * i - 1] : 0),
               r = hypot(x, y);
        double pull = s->omega * s->omega * (r - 1) / r;
        f[2 * i] -= pull * x;
        f[2 * i + 1] -= pull * y;
        if (i) {
            f[2 * i - 2] += pull * x;
            f[2 * i - 1] += pull * y;
        }
    }
    return 0;
}

static void test_more(void)
{
    check_group("scales, masses, many");
    /* with --omega both fast scales are filtered: q0 and q1 follow the slow coordinate. Along q2
     * = cos t the slow solution is the expansion q0 = (1 + D^2/w^2)^-1 sin(q2(t)); at w = 1e6
     * its first term is right to 1e-12 */
    springs s = {.omega = 1e6};
    double q[] = {0.842, 0.541, 1}, v[] = {0, 0, 0};
    projected p = project_force(3, three_force, &s, q, v, false, "method=kernel omega=1000", NULL);
    if (projected_good("three scales", &p)) {
        double x = p.r.q[2];
        check_near("fastest", p.r.q[0], sin(x), 1e-9);
        /* D^2 cos(x) = -cos(x) x'^2 - sin(x) x'' with x' = 0, x'' = -x */
        check_near("between", p.r.q[1], cos(x) - x * sin(x) * 1e-6, 1e-9);
        check_near("slow", x, 1, 1e-6);
    }
    projected_drop(&p);
    p = project_force(3, three_force, &s, q, v, false, "method=kernel",
                      NULL); /* without, the largest gap decides, and it is reported */
    if (p.code == 0)
        check_contains("slow ones are told", p.r.explanation, "slow ones up to 1e+03");
    else
        check_equal("or a clean failure", p.code, TAUT_ERROR_CONVERGE);
    projected_drop(&p);

    /* a constant mass matrix: along (1,1) the mass is 3, and the bond of the declared model is
     * the same spring */
    const char *head = "[coordinates]\nx, y\n[mass]\nx = 2, y = 2\nM[x,y] = 1\n[start]\nx = 1.01, "
                       "y = 0.05, y' = 0.3\n";
    char text[600];
    snprintf(text, sizeof text, "%s[potential]\ny + 1e6*(sqrt(x^2+y^2) - 1)^2/2\n", head);
    p = project_model(text, NULL, "method=kernel");
    if (projected_good("mass matrix", &p)) {
        static const char *const names[] = {"x", "y"};
        snprintf(text, sizeof text,
                 "%s[potential]\ny\n[bonds]\nrod = sqrt(x^2+y^2) - 1 stiffness 1e6\n", head);
        check_slow("mass matrix", &p, text, "", 2, names, "", 2e-12, 2e-11);
    }
    projected_drop(&p);
}

static void test_chain(void)
{
    check_group("chain as a force");
    enum { LINKS = 12 };
    springs s = {.omega = 1e5, .bad_after = LINKS};
    double q[2 * LINKS], v[2 * LINKS] = {0}, x = 0, y = 0;
    for (int i = 0; i < LINKS; i++) {
        double angle = 0.3 * sin(1.7 * i), r = 1 + 1e-3 * cos(2.3 * i);
        q[2 * i] = x += r * cos(angle);
        q[2 * i + 1] = y += r * sin(angle);
    }
    char names[2 * LINKS][16];
    const char *name[2 * LINKS];
    for (int i = 0; i < 2 * LINKS; i++) {
        snprintf(names[i], sizeof names[i], "bob[%d].%c", i / 2 + 1, "xy"[i % 2]);
        name[i] = names[i];
    }
    projected p = project_force(2 * LINKS, chain_force, &s, q, v, false, "method=kernel", NULL);
    if (projected_good("kernel", &p)) {
        const char *model = "[parameters]\nomega = 1e5\nN = 12\n[particles]\ndimension = 2\nbob[i] "
                            "for i in 1..N mass 1\n"
                            "[potential]\nsum(bob[i].y for i in 1..N)\n"
                            "[bonds]\nlink[1] = length(bob[1]) - 1 stiffness omega^2\n"
                            "link[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N stiffness "
                            "omega^2\n[start]\nbob[i] = (i, 0) for i in 1..N\n";
        /* two methods agree to 1e-8 */
        check_slow("kernel", &p, model, "omega=1e5", 2 * LINKS, name, "", 1e-8, 1e-7);
    }
    projected_drop(&p);
}

/* What is held stays; without bonds that would follow it, passes and putting back alternate. */
static void test_held(void)
{
    check_group("held");
    springs s = {.omega = 1000};
    double q[] = {0.8, 0.61}, v[] = {0.02, 1};
    projected p = project_force(2, free_force, &s, q, v, false, "method=kernel hold=q[1]", NULL);
    if (projected_good("free pendulum", &p)) {
        const double *x = p.r.q, *u = p.r.v;
        double spin = x[0] * u[1] - x[1] * u[0], r = 1;
        for (int i = 0; i < 20; i++)
            r = 1 + spin * spin / (1e6 * r * r * r);
        check_near("x", x[0], 0.8, 0);
        check_near("y", x[1], sqrt(r * r - 0.64), 2e-12);
        check_near("r'", (x[0] * u[0] + x[1] * u[1]) / r, 0, 2e-12);
    }
    projected_drop(&p);
    p = project_force(4, double_force, &s, start_q, start_v, false, "method=kernel hold=q[2],q[4]'",
                      NULL);
    if (projected_good("double pendulum", &p)) {
        check_near("y1", p.r.q[1], 0.25, 0);
        check_near("y2'", p.r.v[3], 0.5, 0);
        check_slow("double pendulum", &p, "double_pendulum", "omega=1000", 4, pendulum_names, "",
                   2e-12, 2e-12);
    }
    projected_drop(&p);
}

/* The free pendulum in polar coordinates (r, phi): a mass matrix that varies, forces that depend
 * on velocities, nothing declared. */
static int polar_force(void *user, double t, const double *q, const double *v, double *f)
{
    (void)t;
    double w = ((springs *)user)->omega;
    f[0] = q[0] * v[1] * v[1] - w * w * (q[0] - 1);
    f[1] = -2 * q[0] * v[0] * v[1];
    return 0;
}

static int polar_mass(void *user, double t, const double *q, double *mass)
{
    (void)user, (void)t;
    mass[0] = 1;
    mass[1] = mass[2] = 0;
    mass[3] = q[0] * q[0];
    return 0;
}

static void test_polar(void)
{
    check_group("polar coordinates as functions");
    springs s = {.omega = 1000};
    double q[] = {1.01, 0.3}, v[] = {0.05, 1.2};
    static const char *const options[] = {"method=kernel", "method=auto", "method=ipa"};
    for (int k = 0; k < 3; k++) {
        projected p = {0};
        taut_callbacks calls = {.size = sizeof calls,
                                .coordinates = 2,
                                .force = polar_force,
                                .mass_matrix = polar_mass,
                                .start_q = q,
                                .start_v = v,
                                .user = &s};
        p.code = taut_system_from_callbacks(&calls, NULL, &p.system, &p.error);
        projected_run(&p, options[k], NULL);
        if (projected_good(options[k], &p)) {
            double r = 1, spin = p.r.q[0] * p.r.q[0] * p.r.v[1];
            for (int i = 0; i < 20; i++)
                r = 1 + spin * spin / (1e6 * r * r * r); /* docs/sources.md, A, 2.3 */
            check_near(options[k], p.r.q[0], r, k == 2 ? 1.3e-9 : 2e-12);
            check_near(options[k], p.r.v[0], 0, k == 2 ? 1e-6 : 2e-12);
        }
        projected_drop(&p);
    }
}

/* Springs declared, but as functions: no jets, G by differences. Multipliers are there. */
static int slack_force(void *user, double t, const double *q, const double *v, double *f)
{
    (void)user, (void)t, (void)q, (void)v;
    memset(f, 0, 4 * sizeof *f);
    return 0;
}

static int two_bonds(void *user, double t, const double *q, double *g)
{
    (void)user, (void)t;
    g[0] = hypot(q[0], q[1]) - 1;
    g[1] = hypot(q[2] - q[0], q[3] - q[1]) - 1;
    return 0;
}

static void test_bonds(void)
{
    check_group("bonds as functions");
    const double compliance[] = {1e-6, 1e-6};
    projected p = {0};
    taut_callbacks calls = {.size = sizeof calls,
                            .coordinates = 4,
                            .bonds = 2,
                            .force = slack_force,
                            .bond = two_bonds,
                            .compliance = compliance,
                            .start_q = start_q,
                            .start_v = start_v};
    p.code = taut_system_from_callbacks(&calls, NULL, &p.system, &p.error);
    projected_run(&p, "method=auto", NULL);
    projected exact = project_model("double_pendulum",
                                    &(taut_load){.size = sizeof(taut_load),
                                                 .set = (const char *[]){"omega=1000"},
                                                 .set_count = 1},
                                    "method=kernel");
    if (projected_good("auto", &p) && projected_good("model", &exact)) {
        check_contains("auto", p.r.method, "kernel");
        check_slow("auto", &p, "double_pendulum", "omega=1000", 4, pendulum_names, "", 2e-12,
                   2e-12);
        for (int i = 0; i < 2; i++)
            check_near("lambda", p.r.lambda[i], exact.r.lambda[i], 1e-6);
        check_row(p.r.statistics.force_evaluations <= 150, "%d evaluations",
                  (int)p.r.statistics.force_evaluations);
    }
    projected_drop(&exact);
    projected_drop(&p);
}

/* Forces in single precision: frequencies all the same, and a slow point as far as such forces
 * know one: their noise is 2^-24 of the stiffness times the coordinates, some 1e-7 in q. */
static int single_force(void *user, double t, const double *q, const double *v, double *f)
{
    int status = double_force(user, t, q, v, f);
    springs *s = user;
    double w = s->omega * s->omega;
    for (int i = 0; i < 4; i++) /* as if the stretch had been formed with 24 bits */
        f[i] = w * (double)(float)(f[i] / w + 1) - w;
    return status;
}

static void test_single(void)
{
    check_group("forces in single precision");
    springs s = {.omega = 1000};
    projected p = project_force(4, single_force, &s, start_q, start_v, false,
                                "method=kernel tolerance=1e-6", NULL);
    if (projected_good("kernel", &p)) {
        check_frequencies("frequencies", &p, "double_pendulum", "omega=1000", 1e-2);
        check_slow("kernel", &p, "double_pendulum", "omega=1000", 4, pendulum_names, "", 1e-6,
                   1e-3);
    }
    projected_drop(&p);
}

/* ---- do no harm; failures */

static void test_harmless(void)
{
    check_group("do no harm");
    static const char *const sets[] = {"omega=100", "omega=1000", "omega=1e6"};
    for (int k = 0; k < 3; k++) {
        taut_load how = {.size = sizeof how, .set = &sets[k], .set_count = 1};
        projected exact = project_model("double_pendulum", &how, "method=series");
        springs s = {.omega = atof(sets[k] + 6)};
        if (!projected_good(sets[k], &exact))
            return;
        projected p =
            project_force(4, double_force, &s, exact.r.q, exact.r.v, false, "method=kernel", NULL);
        if (projected_good(sets[k], &p))
            check_row(memcmp(p.r.q, exact.r.q, 4 * sizeof(double)) == 0 &&
                          memcmp(p.r.v, exact.r.v, 4 * sizeof(double)) == 0,
                      "%s: the slow point was moved: %s", sets[k], p.r.explanation);
        projected_drop(&p);
        projected_drop(&exact);
    }
    springs s = {.omega = 1000};
    double rest[] = {1, 0, 2, 0}, still[4] = {0};
    projected p = project_force(4, double_force, &s, rest, still, false, "method=kernel", NULL);
    if (projected_good("at rest", &p))
        for (int i = 0; i < 4; i++) {
            check_near("at rest", p.r.q[i], rest[i], 0);
            check_near("at rest", p.r.v[i], 0, 0);
        }
    projected_drop(&p);
}

static int even_force(void *user, double t, const double *q, const double *v, double *f)
{
    (void)user, (void)t, (void)v;
    for (int i = 0; i < 6; i++)
        f[i] = -pow(3, 2 * i) * q[i] + 0.1 * sin(q[(i + 1) % 6]);
    return 0;
}

static int dragged_force(void *user, double t, const double *q, const double *v, double *f)
{
    (void)user, (void)t;
    f[0] = -1e6 * q[0] - v[0];
    return 0;
}

static int falling_force(void *user, double t, const double *q, const double *v, double *f)
{
    (void)user, (void)t, (void)q, (void)v;
    f[0] = 0;
    f[1] = -9.81;
    return 0;
}

static int pushing_force(void *user, double t, const double *q, const double *v, double *f)
{
    (void)user, (void)t, (void)v;
    f[0] = -1e6 * q[0];
    f[1] = 1e6 * q[1];
    return 0;
}

static void test_failures(void)
{
    check_group("failures");
    springs s = {.omega = 1000};
    double q[] = {1, 0.5, 0.3, 0.2, 0.1, 0.1}, v[6] = {0};
    projected p = project_force(6, even_force, &s, q, v, false, "method=kernel", NULL);
    check_equal("no gap", p.code, TAUT_ERROR_CONVERGE);
    check_row(strstr(p.error.message, "separated") && strpbrk(p.error.message, "0123456789"),
              "numbers: %s", p.error.message);
    if (check_row(p.projection != NULL, "no result"))
        check_row(memcmp(p.r.q, q, sizeof q) == 0, "the start is not kept");
    projected_drop(&p);
    p = project_force(2, pushing_force, &s, q, v, false, "method=kernel", NULL);
    projected_refused("repelling", &p, TAUT_ERROR_CONVERGE, "repels");
    p = project_force(2, falling_force, &s, q, v, false, "method=kernel", NULL);
    projected_refused("nothing oscillates", &p, TAUT_ERROR_CONVERGE, "nothing to project onto");
    p = project_force(1, dragged_force, &s, q, v, false, "method=kernel", NULL);
    if (projected_good("drag", &p)) /* the only slow motion is rest */
        check_near("drag", p.r.q[0], 0, 1e-12);
    projected_drop(&p);
    p = project_force(4, double_force, &s, start_q, start_v, false, "method=kernel omega=1e5",
                      NULL);
    projected_refused("omega", &p, TAUT_ERROR_CONVERGE, "as fast as the given omega");
    for (int k = 8; k < 200; k += 17) { /* NaN from some call on: an error, never a result */
        springs bad = {.omega = 1000, .bad_after = k};
        p = project_force(4, double_force, &bad, start_q, start_v, false, "method=kernel", NULL);
        check_row(p.code == TAUT_ERROR_EVALUATE || (p.code == 0 && bad.calls <= k),
                  "NaN after %d calls: %s %s", k, taut_code_name(p.code), p.error.message);
        projected_drop(&p);
    }
}

static void test_memory(void)
{
    check_group("memory");
    static const struct {
        const char *options;
        taut_callbacks calls;
    } ways[] = {
        {"method=kernel accelerate=yes",
         {.coordinates = 4, .force = double_force, .start_q = start_q, .start_v = start_v}},
        {"method=ipa",
         {.coordinates = 4, .force = double_force, .start_q = start_q, .start_v = start_v}},
        {"method=kernel hold=q[2]",
         {.coordinates = 4, .force = double_force, .start_q = start_q, .start_v = start_v}},
        {"method=kernel",
         {.coordinates = 2,
          .force = polar_force,
          .mass_matrix = polar_mass,
          .start_q = start_q,
          .start_v = start_q}},
    };
    for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++) {
        springs s = {.omega = 1000};
        taut_callbacks calls = ways[way].calls;
        projected p = {0};
        calls.size = sizeof calls;
        calls.user = &s;
        p.code = taut_system_from_callbacks(&calls, NULL, &p.system, &p.error);
        check_equal("system", p.code, TAUT_OK);
        if (p.code == 0)
            projected_faults(p.system, ways[way].options);
        projected_drop(&p);
    }
}

int main(void)
{
    test_double();
    test_exact();
    test_potentials();
    test_stiff_potential();
    test_more();
    test_chain();
    test_held();
    test_polar();
    test_bonds();
    test_single();
    test_harmless();
    test_failures();
    test_memory();
    return check_done();
}
