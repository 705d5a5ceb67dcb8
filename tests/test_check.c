/* test_check.c - what taut_check must notice: a derivative that is wrong, bonds that are redundant or contradict one another, a start
 * that rings or violates rods; and that a good system is called good. */
#include "table.h"

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
    taut_callbacks c = {.coordinates = 2,
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
    taut_check_report report;
    check_group("derivatives");
    check_equal("right: status", check_spoiled(1, &report), 0);
    check_row(report.verdict == 0, "a right gradient is called unusable: %s", report.advice);
    static const double wrong[] = {1.001, 1.1, -1, 0};
    for (int k = 0; k < 4; k++) {
        check_equal("wrong: status", check_spoiled(wrong[k], &report), 0);
        check_row(report.verdict == 1 && strstr(report.advice, "G"), "factor %g: verdict %d, %s", wrong[k], report.verdict,
                  report.advice);
    }
}

static const struct {
    const char *name, *text, *advice, *rank;
    int verdict;
} models[] = {
    {"two rods alike", "[coordinates]\nx, y\n[bonds]\none = x^2 + y^2 - 1\ntwo = 2*x^2 + 2*y^2 - 2\n[start]\nx = 1\n", "redundant",
     "two", 1},
    {"rods that contradict", "[coordinates]\nx, y\n[bonds]\none = x^2 + y^2 - 1\ntwo = 2*x^2 + 2*y^2 - 3\n[start]\nx = 1\n",
     "redundant", "contradicts", 1},
    {"springs alike",
     "[coordinates]\nx, y\n[bonds]\none = x^2 + y^2 - 1 stiffness 100\ntwo = 2*x^2 + 2*y^2 - 2 stiffness 100\n[start]\nx = 1\n", "",
     "springs allow", 0},
    {"a rod off its length", "[coordinates]\nx, y\n[bonds]\nrod = x^2 + y^2 - 1\n[start]\nx = 1.5\n", "violates", "", 0},
    {"a start that rings",
     "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nspring = sqrt(x^2 + y^2) - 1 stiffness 1e8\n[start]\nx = 1.1\n", "rings", "",
     0},
    {"a zero gradient", "[coordinates]\nx, y\n[bonds]\nrod = x^2 + y^2\n", "redundant", "zero gradient", 1},
};

static void test_models(void)
{
    check_group("models");
    for (size_t k = 0; k < sizeof models / sizeof models[0]; k++) {
        taut_system *system;
        taut_error error;
        taut_check_report report = {0};
        int status = taut_system_parse(models[k].text, strlen(models[k].text), models[k].name, NULL, &system, &error);
        if (status == 0)
            status = taut_check(system, NULL, &report, &error);
        check_row(status == 0, "%s: %s", models[k].name, status ? error.message : "");
        check_equal(models[k].name, report.verdict, models[k].verdict);
        check_contains(models[k].name, report.advice, models[k].advice);
        check_contains(models[k].name, report.rank_message, models[k].rank);
        taut_system_destroy(system);
    }
}

int main(void)
{
    test_derivatives();
    test_models();
    return check_done();
}
