/* test_check.c - what taut_check must notice: a derivative that is wrong, bonds that are
 * redundant or contradict one another, a start that oscillates or violates rigid bonds; and that a
 * good system is called good. */
#include "support/run.h"

#include <stdlib.h>

#include <taut/taut.h>

/* A spring pendulum in C whose gradient can be spoiled. */
typedef struct spoiled {
    double factor; /* of the second entry of G: 1 is right */
} spoiled;

static int force(void *user, double t, const double *q, const double *v, double *f)
{
    (void)user, (void)t, (void)q, (void)v;
    f[0] = 0;
    f[1] = -1;
    return 0;
}

static int bond(void *user, double t, const double *q, double *g)
{
    (void)user, (void)t;
    g[0] = hypot(q[0], q[1]) - 1;
    return 0;
}

static int gradient(void *user, double t, const double *q, double *entries)
{
    (void)t;
    double r = hypot(q[0], q[1]);
    entries[0] = q[0] / r;
    entries[1] = ((const spoiled *)user)->factor * q[1] / r;
    return 0;
}

static int check_spoiled(double factor, taut_check_report *report)
{
    static const double compliance[] = {1e-4}, start[] = {0.8, 0.6};
    spoiled user = {factor};
    taut_callbacks c = {.size = sizeof c,
                        .coordinates = 2,
                        .bonds = 1,
                        .compliance = compliance,
                        .start_q = start,
                        .force = force,
                        .bond = bond,
                        .jacobian = gradient,
                        .user = &user};
    taut_system *system;
    taut_error error;
    int status = taut_system_from_callbacks(&c, NULL, &system, &error);
    if (status == 0)
        status = taut_check(system, NULL, report, &error);
    taut_system_destroy(system);
    return status;
}

static void test_derivatives(void)
{
    taut_check_report report = {.size = sizeof report};
    check_group("derivatives");
    check_equal("right: status", check_spoiled(1, &report), 0);
    check_row(report.verdict == 0, "a right gradient is called unusable: %s", report.advice);
    static const double wrong[] = {1.001, 1.1, -1, 0};
    for (int k = 0; k < 4; k++) {
        check_equal("wrong: status", check_spoiled(wrong[k], &report), 0);
        check_row(report.verdict == 1 && strstr(report.advice, "G"), "factor %g: verdict %d, %s",
                  wrong[k], report.verdict, report.advice);
    }
}

/* ---- a long chain in C: coordinates are up to 10^5 links long, which must not hide a small
 * mistake */

enum { LINKS = 100000 };

typedef struct chain {
    taut_index bad; /* link whose gradient is spoiled, -1: none */
    double factor;
    taut_index *start, *column;
    double *q, *compliance;
} chain;

/* The vector along link i. */
static void along(const double *q, taut_index i, double u[2])
{
    u[0] = q[2 * i] - (i ? q[2 * i - 2] : 0);
    u[1] = q[2 * i + 1] - (i ? q[2 * i - 1] : 0);
}

static int chain_force(void *user, double t, const double *q, const double *v, double *f)
{
    (void)user, (void)t, (void)q, (void)v;
    for (taut_index i = 0; i < LINKS; i++) {
        f[2 * i] = 0;
        f[2 * i + 1] = -1;
    }
    return 0;
}

static int chain_bond(void *user, double t, const double *q, double *g)
{
    (void)user, (void)t;
    for (taut_index i = 0; i < LINKS; i++) {
        double u[2];
        along(q, i, u);
        g[i] = sqrt(u[0] * u[0] + u[1] * u[1]) - 1;
    }
    return 0;
}

static int chain_gradient(void *user, double t, const double *q, double *entries)
{
    const chain *c = user;
    (void)t;
    for (taut_index i = 0; i < LINKS; i++) {
        double u[2], *to = entries + c->start[i];
        along(q, i, u);
        double r = sqrt(u[0] * u[0] + u[1] * u[1]);
        to[0] = u[0] / r * (i == c->bad ? c->factor : 1);
        to[1] = u[1] / r;
        if (i) {
            to[2] = -u[0] / r;
            to[3] = -u[1] / r;
        }
    }
    return 0;
}

static bool chain_create(chain *c)
{
    *c = (chain){.bad = -1, .factor = 1};
    c->start = calloc(LINKS + 1, sizeof *c->start);
    c->column = calloc(4 * LINKS, sizeof *c->column);
    c->q = calloc(2 * LINKS, sizeof *c->q);
    c->compliance = calloc(LINKS, sizeof *c->compliance);
    if (!c->start || !c->column || !c->q || !c->compliance)
        return false;
    for (taut_index i = 0; i < LINKS; i++) {
        taut_index *column = c->column + c->start[i], ends = i ? 4 : 2;
        for (taut_index k = 0; k < ends; k++)
            column[k] = k < 2 ? 2 * i + k : 2 * i - 4 + k;
        c->start[i + 1] = c->start[i] + ends;
        c->q[2 * i] = i + 1;
        c->compliance[i] = 1e-4;
    }
    return true;
}

/* The row of G. */
static taut_derivative_check check_chain(chain *c, int *verdict)
{
    taut_callbacks calls = {.size = sizeof calls,
                            .coordinates = 2 * LINKS,
                            .bonds = LINKS,
                            .compliance = c->compliance,
                            .start_q = c->q,
                            .jacobian_start = c->start,
                            .jacobian_column = c->column,
                            .force = chain_force,
                            .bond = chain_bond,
                            .jacobian = chain_gradient,
                            .user = c};
    taut_check_report report = {.size = sizeof report, .derivative[0] = {.deviation = NAN}};
    taut_error error = {0};
    taut_system *system = NULL;
    int status = taut_system_from_callbacks(&calls, NULL, &system, &error);
    if (status == 0)
        status = taut_check(system, NULL, &report, &error);
    check_row(status == 0 && report.derivatives > 0 && !strcmp(report.derivative[0].name, "G"),
              "check: %d %s", status, error.message);
    *verdict = report.verdict;
    taut_system_destroy(system);
    return report.derivative[0];
}

static void test_long_chain(void)
{
    check_group("chain of 100000 links");
    chain c;
    int verdict;
    if (check_row(chain_create(&c), "memory")) {
        taut_derivative_check right = check_chain(&c, &verdict);
        check_row(verdict == 0, "a right gradient: verdict %d", verdict);
        check_below("a right gradient: deviation", right.deviation, 1e-8);
        check_below("a right gradient: uncertainty", right.uncertainty, 1e-8);
        c.factor = 1 + 1e-5;
        /* near, in the middle, at the end */
        for (c.bad = 1; c.bad < LINKS; c.bad += LINKS / 2 - 1) {
            char name[40];
            taut_derivative_check wrong = check_chain(&c, &verdict);
            snprintf(name, sizeof name, "bond[%d]", (int)c.bad + 1);
            check_row(verdict == 1 && wrong.deviation > wrong.limit + wrong.uncertainty &&
                          !strcmp(wrong.where, name),
                      "off by 1e-5 in %s: verdict %d, deviation %.3g, uncertainty %.3g, limit "
                      "%.3g, at %s",
                      name, verdict, wrong.deviation, wrong.uncertainty, wrong.limit, wrong.where);
            check_row(wrong.deviation > 1e-6 && wrong.deviation < 1e-4, "its size: %.3g",
                      wrong.deviation);
        }
    }
    free(c.start);
    free(c.column);
    free(c.q);
    free(c.compliance);
}

/* ---- bonds that cancel inside: their differences are noise, of which nothing but its size must
 * be taken from the deviation */

static const char noisy[] =
    "[parameters]\nbig = 1e8\n[coordinates]\nx[i] for i in 1..200\n[bonds]\n"
    "g[i] = (sin(x[i]) + big) - big for i in 1..200 stiffness 100\n[start]\nx[i] = 0.5 + 0.001*i "
    "for i in 1..200\n";

static void test_noise(void)
{
    check_group("bonds that cancel");
    static const struct {
        const char *set;
        bool above; /* the deviation exceeds the limit, and is shown */
    } rows[] = {{"big=0", false}, {"big=1e4", false}, {"big=1e8", true}, {"big=1e9", true}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        taut_load how = {.size = sizeof how, .set = &rows[k].set, .set_count = 1};
        taut_check_report report = {.size = sizeof report};
        taut_error error = {0};
        taut_system *system;
        int status = taut_system_parse(noisy, strlen(noisy), "noisy", &how, &system, &error);
        if (status == 0)
            status = taut_check(system, NULL, &report, &error);
        const taut_derivative_check *g = &report.derivative[0];
        check_row(status == 0 && report.verdict == 0, "%s: %s", rows[k].set,
                  status ? error.message : report.advice);
        check_row((g->deviation > g->limit) == rows[k].above &&
                      g->deviation <= g->limit + g->uncertainty,
                  "%s: deviation %.3g, uncertainty %.3g, limit %.3g", rows[k].set, g->deviation,
                  g->uncertainty, g->limit);
        taut_system_destroy(system);
    }
}

/* ---- models */

static const struct {
    const char *name, *text, *advice, *rank;
    int verdict;
} models[] = {
    {"two rods alike",
     "[coordinates]\nx, y\n[bonds]\none = x^2 + y^2 - 1\ntwo = 2*x^2 + 2*y^2 - 2\n[start]\nx = 1\n",
     "redundant", "two", 0},
    {"rods that contradict",
     "[coordinates]\nx, y\n[bonds]\none = x^2 + y^2 - 1\ntwo = 2*x^2 + 2*y^2 - 3\n[start]\nx = 1\n",
     "redundant", "contradicts", 1},
    {"springs alike",
     "[coordinates]\nx, y\n[bonds]\none = x^2 + y^2 - 1 stiffness 100\ntwo = 2*x^2 + 2*y^2 - 2 "
     "stiffness 100\n[start]\nx = 1\n",
     "", "springs allow", 0},
    {"a rod off its length",
     "[coordinates]\nx, y\n[bonds]\nrod = x^2 + y^2 - 1\n[start]\nx = 1.5\n", "violates", "", 0},
    {"a start that rings",
     "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nspring = sqrt(x^2 + y^2) - 1 stiffness "
     "1e8\n[start]\nx = 1.1\n",
     "oscillates", "", 0},
    {"a zero gradient", "[coordinates]\nx, y\n[bonds]\nrod = x^2 + y^2\n", "redundant",
     "zero gradient", 1},
};

static void test_models(void)
{
    check_group("models");
    for (size_t k = 0; k < sizeof models / sizeof models[0]; k++) {
        taut_system *system;
        taut_error error;
        taut_check_report report = {.size = sizeof report};
        int status = taut_system_parse(models[k].text, strlen(models[k].text), models[k].name, NULL,
                                       &system, &error);
        if (status == 0)
            status = taut_check(system, NULL, &report, &error);
        check_row(status == 0, "%s: %s", models[k].name, status ? error.message : "");
        check_equal(models[k].name, report.verdict, models[k].verdict);
        check_contains(models[k].name, report.advice, models[k].advice);
        check_contains(models[k].name, report.rank_message, models[k].rank);
        taut_system_destroy(system);
    }
}

/* ---- soft springs are forces: by hand. A stiff pendulum of length 1 at rest with a soft
 * spring z - x of stiffness 2, stretched by 2: its pull is 4, the stiff spring holds lambda = 4
 * against it, so the oscillatory energy is c lambda^2/2 = 8e-8 with c = 1e-8, the energy scale
 * |4 x| + |4 z| = 16, the slow motion along y has the rate sqrt(lambda/1) = 2, that of z sqrt(2).
 */

#define STIFF_AND_SOFT                                                                             \
    "[coordinates]\nx, y, z\n[potential]\ny\n[bonds]\nstiff = sqrt(x^2 + y^2) - 1 stiffness 1e8\n" \
    "belt = z - x stiffness 2 soft\n[start]\nx = 1, z = 3\n"
#define ROD_AND_SOFT                                                                               \
    "[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2 + y^2) - 1\none = x - 1 stiffness 2 soft\ntwo "  \
    "= 2*x - 3 stiffness 2 soft\n"                                                                 \
    "[start]\nx = 1\n"
#define ALL_SOFT                                                                                   \
    "[coordinates]\nx, y\n[bonds]\none = x - 1 stiffness 2 soft\ntwo = y stiffness 9 "             \
    "soft\n[start]\nx = 3\n"
/* the pull -8 of the damped soft spring, 4 g + 4 tau gdot = 4 + 4, on the unit mass; mu^2 + 2 mu +
 * 4 = 0, |mu| = 2 */
#define DAMPED_SOFT                                                                                \
    "[coordinates]\nx, y\n[bonds]\nstiff = y stiffness 1e6\nsoft = x stiffness 4 damping 2 "       \
    "soft\n[start]\nx = 1, x' = 2\n"

static const struct {
    const char *name, *text, *advice;
    int soft, rank, frequencies;
    double least, energy, scale, slow_rate, foot;
} soft[] = {
    {"stiff and soft", STIFF_AND_SOFT, "negligible", 1, 1, 1, 1e4, 8e-8, 16, 2, 0},
    {"rod and soft", ROD_AND_SOFT, "motion rigid", 2, 1, 0, 0, 0, 4, 2, 0},
    {"all soft", ALL_SOFT, "no stiff springs", 2, 0, 0, 0, 0, 12, 3, 0},
    {"damped soft", DAMPED_SOFT, "a slow point within the tolerance", 1, 1, 1, 1e3, 0, 10, 2, 0},
};

static void test_soft(void)
{
    check_group("soft springs");
    for (size_t k = 0; k < sizeof soft / sizeof soft[0]; k++) {
        taut_system *system;
        taut_error error;
        taut_check_report r = {.size = sizeof r};
        int status = taut_system_parse(soft[k].text, strlen(soft[k].text), soft[k].name, NULL,
                                       &system, &error);
        if (status == 0)
            status = taut_check(system, NULL, &r, &error);
        check_row(status == 0 && r.verdict == 0, "%s: %s", soft[k].name,
                  status ? error.message : r.advice);
        check_equal("soft springs", r.soft, soft[k].soft);
        check_equal("rank", r.rank, soft[k].rank);
        check_contains("rank message", "", r.rank_message);
        check_equal("stiff modes", r.frequencies, soft[k].frequencies);
        check_near("least frequency", r.frequency_least, soft[k].least, 1e-9 * soft[k].least);
        check_near("oscillatory energy", r.oscillatory_energy, soft[k].energy,
                   1e-9 * soft[k].energy + 1e-15);
        check_near("energy scale", r.energy_scale, soft[k].scale, 1e-12);
        check_near("slow rate", r.slow_rate_initial, soft[k].slow_rate, 1e-12);
        check_near("from the foot point", r.foot_distance, soft[k].foot, 1e-15);
        check_contains("advice", r.advice, soft[k].advice);
        taut_system_destroy(system);
    }
}

/* Names of redundant bonds that are longer than the message has room for. */
static void test_long_names(void)
{
#define LONG_NAME "a_name_longer_than_anybody_would_like_to_read_or_write_it"
    static const char model[] =
        "[coordinates]\nx, y\n[bonds]\n" LONG_NAME "_1 = x\n" LONG_NAME "_2 = x\n" LONG_NAME
        "_3 = 2*x\n" LONG_NAME "_4 = 3*x\n" LONG_NAME "_5 = y - y\n";
    taut_check_report report = {.size = sizeof report};
    driven d = {0};
    check_group("long names");
    d.code = taut_system_parse(model, strlen(model), "model.taut", NULL, &d.system, &d.error);
    if (driven_good("parse", &d)) {
        check_equal("check", taut_check(d.system, NULL, &report, &d.error), 0);
        check_equal("verdict", report.verdict, 0);
        check_contains("message", report.rank_message, "rank 1 of 5: " LONG_NAME);
    }
    driven_destroy(&d);
}

int main(void)
{
    test_derivatives();
    test_long_chain();
    test_noise();
    test_models();
    test_soft();
    test_long_names();
    return check_done();
}
