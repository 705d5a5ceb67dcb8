/* test_compare.c - comparisons: errors and orders against amplification factors on the linear
 * oscillator, references, refusals, wrong requests, memory that fails, pictures. */
#include <complex.h>

#include <taut/taut.h>

#include "support/faulty.h"
#include "support/table.h"

static const char oscillator[] =
    "[coordinates]\nx\n[potential]\nx^2/2\n[start]\nx = 1\n[run]\nuntil = 2\n";
static const char lorenz[] =
    "[state]\nx, y, z\n[rates]\nx' = 10*(y - x)\ny' = x*(28 - z) - y\nz' = x*y - 8/3*z\n"
    "[start]\nx = 1, y = 1, z = 20\n";
static const char box[] = "[state]\nx\n[rates]\nx' = -x\n[start]\nx = 1\n[run]\nuntil = 1\n";

typedef struct compared {
    taut_system *system;
    taut_options *options;
    taut_comparison *comparison;
    taut_error error;
    int code;
} compared;

/* `until` > 0 replaces that of the model; `motion` may be NULL. */
static compared compare(const char *model, const char *motion, const char *until,
                        const taut_compare_request *request, const taut_allocator *allocator)
{
    compared c = {0};
    c.code = taut_system_parse(model, strlen(model), "model", NULL, &c.system, &c.error);
    if (c.code == 0)
        c.code = taut_options_create(NULL, &c.options, &c.error);
    if (c.code == 0 && motion)
        c.code = taut_options_set(c.options, "motion", motion, &c.error);
    if (c.code == 0 && until)
        c.code = taut_options_set(c.options, "until", until, &c.error);
    if (c.code == 0)
        c.code = taut_compare(c.system, c.options, request, allocator, &c.comparison, &c.error);
    return c;
}

static void drop(compared *c)
{
    taut_comparison_destroy(c->comparison);
    taut_options_destroy(c->options);
    taut_system_destroy(c->system);
    *c = (compared){0};
}

/* x - i v after n steps is R(ih)^n: x'' = -x. */
static double complex amplified(const char *method, double h, int n)
{
    double complex z = I * h, r = 1 + z;
    if (method[0] == 'm' || method[0] == 'r')
        r += z * z / 2;
    if (method[0] == 'r')
        r += z * z * z / 6 + z * z * z * z / 24;
    double complex all = 1;
    for (int k = 0; k < n; k++)
        all *= r;
    return all;
}

static void test_errors(void)
{
    static const char *const methods[] = {"euler", "midpoint", "rk4"};
    static const double steps[] = {.1, .05, .025};
    static const int orders[] = {1, 2, 4}, stages[] = {1, 2, 4};
    taut_compare_request request = {.size = sizeof request,
                                    .methods = methods,
                                    .values = steps,
                                    .method_count = 3,
                                    .value_count = 3};
    taut_compared row = {.size = sizeof row};
    double uncertainty = NAN, before = NAN;
    check_group("compare, linear oscillator");
    compared c = compare(oscillator, "full", NULL, &request, NULL);
    if (check_row(c.code == 0, "compare: %s", c.error.message)) {
        for (int k = 0; taut_comparison_get(c.comparison, k, &row, NULL) == 0; k++) {
            int m = k / 3, n = 20 << (k % 3);
            double complex z = amplified(methods[m], steps[k % 3], n);
            double error = fabs(creal(z) - cos(2)), velocity = fabs(-cimag(z) + sin(2));
            check_row(row.message == NULL && strcmp(row.method, methods[m]) == 0 &&
                          row.value == steps[k % 3],
                      "row %d: %s", k, row.method);
            check_near("error", row.error, error, 1e-11);
            check_near("error of the velocity", row.error_velocity, velocity, 1e-11);
            if (k % 3 > 0) {
                check_near("order is that of the errors", row.order, log2(before / error), 1e-3);
                check_near("order is that of the method", row.order, orders[m], .2);
            } else {
                check_row(isnan(row.order), "the first row of a method has no order: %g",
                          row.order);
            }
            check_row(llabs(row.statistics.force_evaluations - (int64_t)n * stages[m]) <= 1,
                      "%s: %lld evaluations in %d steps", row.method,
                      (long long)row.statistics.force_evaluations, n);
            before = error;
        }
        check_row(taut_comparison_get(c.comparison, 9, &row, NULL) != 0 &&
                      taut_comparison_get(c.comparison, -1, &row, NULL) != 0,
                  "9 rows");
        const char *text = taut_comparison_explanation(c.comparison, &uncertainty);
        check_contains("says the motion", text, "motion full at t = 2");
        check_contains("says the reference", text, "reference ");
        check_below("two references agree", uncertainty, 1e-10);
        check_row(uncertainty > 0, "two different references: %g apart", uncertainty);
    }
    drop(&c);
}

static void test_tolerances(void)
{
    static const char *const methods[] = {"dopri5", "dop8", "verlet"};
    static const double tolerances[] = {1e-4, 1e-6, 1e-8};
    taut_compare_request request = {.size = sizeof request,
                                    .methods = methods,
                                    .values = tolerances,
                                    .method_count = 3,
                                    .value_count = 3,
                                    .tolerances = true};
    taut_compared row = {.size = sizeof row}, last = {.error = INFINITY};
    check_group("compare, tolerances");
    compared c = compare(oscillator, "full", NULL, &request, NULL);
    if (check_row(c.code == 0, "compare: %s", c.error.message)) {
        for (int k = 0; taut_comparison_get(c.comparison, k, &row, NULL) == 0; k++) {
            if (k >= 6) {
                check_contains("verlet has no error control", row.message, "no adaptive step size");
                check_row(isnan(row.error), "and no error: %g", row.error);
                continue;
            }
            check_row(row.error < 100 * row.value && row.error > 1e-13, "%s with %g errs by %g",
                      row.method, row.value, row.error);
            check_row(k % 3 == 0 || row.error < last.error,
                      "%s: a tighter tolerance gives %g after %g", row.method, row.error,
                      last.error);
            check_row(isnan(row.order), "tolerances have no order");
            last = row;
        }
        check_contains("a hundred times tighter", taut_comparison_explanation(c.comparison, NULL),
                       "1e-10");
    }
    drop(&c);
}

/* Absolute tolerances follow the size of the system: in another unit of x the same relative
 * errors and the same steps. */
static void test_units(void)
{
    static const char *const methods[] = {"dop8"};
    static const double tolerances[] = {1e-5};
    taut_compare_request request = {.size = sizeof request,
                                    .methods = methods,
                                    .values = tolerances,
                                    .method_count = 1,
                                    .value_count = 1,
                                    .tolerances = true};
    static const char small[] =
        "[coordinates]\nx\n[potential]\nx^2/2\n[start]\nx = 1e-8\n[run]\nuntil = 2\n";
    taut_compared row[2] = {{.size = sizeof row[0]}, {.size = sizeof row[0]}};
    check_group("compare, units");
    for (int k = 0; k < 2; k++) {
        compared c = compare(k ? small : oscillator, "full", NULL, &request, NULL);
        check_row(c.code == 0 && taut_comparison_get(c.comparison, 0, &row[k], NULL) == 0,
                  "compare: %s", c.error.message);
        drop(&c);
    }
    check_near("relative error", row[1].error / row[0].error, 1e-8, 1e-10);
    check_equal("steps", row[1].statistics.steps, row[0].statistics.steps);
}

static void test_refusals(void)
{
    static const char *const methods[] = {"rk4", "verlet"}, *const unknown[] = {"rk4", "rk5"};
    static const double steps[] = {.1}, negative[] = {-1}, wide[] = {2};
    taut_compare_request request = {.size = sizeof request,
                                    .methods = methods,
                                    .values = steps,
                                    .method_count = 2,
                                    .value_count = 1};
    taut_compared row = {.size = sizeof row};
    check_group("compare, refusals");
    compared c = compare(box, NULL, NULL, &request, NULL);
    if (check_row(c.code == 0, "first order: %s", c.error.message)) {
        /* R(-h)^10 with R the exponential series up to h^4 */
        check_row(taut_comparison_get(c.comparison, 0, &row, NULL) == 0, "rk4 is there");
        check_near("error", row.error,
                   fabs(pow(1 - .1 + .005 - .001 / 6 + .0001 / 24, 10) - exp(-1)), 1e-11);
        check_row(isnan(row.error_velocity), "a first-order system has no velocity");
        check_row(taut_comparison_get(c.comparison, 1, &row, NULL) == 0, "verlet is there");
        check_contains("verlet refuses with its sentence", row.message,
                       "needs a mechanical system");
    }
    drop(&c);
    request.methods = unknown;
    c = compare(box, NULL, NULL, &request, NULL);
    check_equal("a method that does not exist", c.code, TAUT_ERROR_USAGE);
    check_contains("near miss", c.error.message, "rk4");
    check_row(c.comparison == NULL, "nothing is made");
    drop(&c);
    request.methods = methods;
    c = compare(lorenz, NULL, NULL, &request, NULL);
    check_equal("no end", c.code, TAUT_ERROR_USAGE);
    check_contains("says what is needed", c.error.message, "an end time is required");
    drop(&c);
    request.values = negative;
    c = compare(box, NULL, NULL, &request, NULL);
    check_equal("a negative step", c.code, TAUT_ERROR_USAGE);
    drop(&c);
    request.values = wide;
    request.tolerances = true;
    c = compare(box, NULL, NULL, &request, NULL);
    check_equal("a tolerance above 1", c.code, TAUT_ERROR_USAGE);
    drop(&c);
    request.value_count = 0;
    c = compare(box, NULL, NULL, &request, NULL);
    check_equal("no values", c.code, TAUT_ERROR_USAGE);
    drop(&c);
    c = compare(box, NULL, NULL, NULL, NULL);
    check_equal("no request", c.code, TAUT_ERROR_USAGE);
    drop(&c);
    taut_comparison_destroy(NULL);
}

/* Neighbouring solutions of Lorenz's system part as exp(0.9 t): after t = 45 nothing is left of
 * 12 digits. */
static void test_disagreement(void)
{
    static const char *const methods[] = {"rk4"};
    static const double steps[] = {.01};
    taut_compare_request request = {.size = sizeof request,
                                    .methods = methods,
                                    .values = steps,
                                    .method_count = 1,
                                    .value_count = 1};
    check_group("compare, references that disagree");
    compared c = compare(lorenz, NULL, "45", &request, NULL);
    check_equal("a sensitive motion", c.code, TAUT_ERROR_CONVERGE);
    check_contains("says so", c.error.message, "two references do not agree");
    drop(&c);
    c = compare(lorenz, NULL, "1", &request, NULL);
    check_row(c.code == 0, "a short one is fine: %s", c.error.message);
    drop(&c);
}

/* Slow motion of a pendulum on a spring: the second reference is the full motion from the same
 * slow point, which an explicit method follows where it can be paid for. */
#define STIFF                                                                                      \
    "[coordinates]\nx, y\n[potential]\ny\n[bonds]\ns = sqrt(x^2 + y^2) - 1 stiffness "             \
    "%s\n[start]\nx = 1\n%s[run]\nuntil = 1\n"

static void test_slow(void)
{
    static const char *const methods[] = {"radau5", "radau9"};
    static const double tolerances[] = {1e-4, 1e-8};
    taut_compare_request request = {.size = sizeof request,
                                    .methods = methods,
                                    .values = tolerances,
                                    .method_count = 2,
                                    .value_count = 2,
                                    .tolerances = true};
    static const struct {
        const char *stiffness, *events, *says;
        double most; /* of the uncertainty */
    } rows[] = {
        {"1e4", "", "the full motion by dop8 from the same slow point", 1e-9},
        {"1e8", "", "the full motion by dop8 from the same slow point", 1e-9},
        {"1e16", "",
         "both are of one family, since the full motion as an independent one needs too many steps",
         1e-9},
        {"1e8", "[events]\nkick = t - 9 then x' = 1\n",
         "both are of one family, since the full motion as an independent one oscillates", 1e-9},
    };
    check_group("compare, references of slow motion");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char model[400];
        double uncertainty = NAN;
        taut_compared row = {.size = sizeof row};
        snprintf(model, sizeof model, STIFF, rows[k].stiffness, rows[k].events);
        compared c = compare(model, "slow", NULL, &request, NULL);
        if (check_row(c.code == 0, "stiffness %s: %s", rows[k].stiffness, c.error.message)) {
            check_contains(rows[k].stiffness,
                           taut_comparison_explanation(c.comparison, &uncertainty), rows[k].says);
            check_row(uncertainty > 0 && uncertainty < rows[k].most, "%s: references are %g apart",
                      rows[k].stiffness, uncertainty);
            for (int j = 0; taut_comparison_get(c.comparison, j, &row, NULL) == 0; j++) {
                check_row(row.error <= 100 * row.value, "%s, %s: error %g", rows[k].stiffness,
                          row.method, row.error);
                check_near("uncertainty of the row", row.uncertainty, uncertainty, 0);
                check_row(row.uncertainty_velocity > 0, "uncertainty of velocities: %g",
                          row.uncertainty_velocity);
            }
        }
        drop(&c);
    }
}

static void memory(const char *model, const char *motion, const taut_compare_request *request)
{
    int64_t calls = 1;
    for (int64_t k = 0; k <= calls; k = faulty_next(k)) {
        faulty f = {.fail = k};
        taut_allocator allocator = faulty_allocator(&f);
        compared c = compare(model, motion, NULL, request, &allocator);
        if (k == 0)
            calls = f.calls;
        if (f.failed > 0 || c.code != 0)
            check_row(c.code == TAUT_ERROR_MEMORY && !c.comparison, "call %lld fails: %s",
                      (long long)k, taut_code_name(c.code));
        drop(&c);
        check_row(f.live == 0, "call %lld fails: %lld blocks are left", (long long)k,
                  (long long)f.live);
    }
    check_row(calls > 10, "%lld allocations", (long long)calls);
}

static void test_memory(void)
{
    static const char *const methods[] = {"rk4", "verlet"}, *const slow[] = {"radau3"};
    static const double steps[] = {.2};
    taut_compare_request request = {.size = sizeof request,
                                    .methods = methods,
                                    .values = steps,
                                    .method_count = 2,
                                    .value_count = 1};
    char model[400];
    check_group("compare, memory");
    memory(oscillator, "full", &request);
    request = (taut_compare_request){.size = sizeof(taut_compare_request),
                                     .methods = slow,
                                     .values = steps,
                                     .method_count = 1,
                                     .value_count = 1,
                                     .tolerances = true};
    snprintf(model, sizeof model, STIFF, "400", "");
    memory(model, "slow", &request);
}

static void test_plot(void)
{
    static const char *const labels[] = {"it's a title\n", "x", "y"}, *const names[] = {"one",
                                                                                        "none"};
    static const int start[] = {0, 3, 4};
    static const double x[] = {1, 10, 100, -1}, y[] = {1, NAN, 1e-4, 1};
    taut_error error;
    check_group("plot");
    check_equal("ending", taut_plot("picture.txt", labels, names, 2, start, x, y, true, &error),
                TAUT_ERROR_USAGE);
    check_equal("nothing", taut_plot("picture.png", labels, names, 0, start, x, y, true, &error),
                TAUT_ERROR_USAGE);
    const char *folder = getenv("TMPDIR");
    char path[600];
    snprintf(path, sizeof path, "%s/taut_plot_%p.svg", folder ? folder : "/tmp", (void *)path);
    int code = taut_plot(path, labels, names, 2, start, x, y, true, &error);
    if (code == TAUT_ERROR_UNAVAILABLE) {
        check_skip("no gnuplot");
        return;
    }
    check_row(code == 0, "plot: %s", error.message);
    FILE *file = fopen(path, "r");
    char head[200] = "";
    size_t count = file ? fread(head, 1, sizeof head - 1, file) : 0;
    check_row(count > 100 && strstr(head, "<svg"), "a picture: %.40s", head);
    if (file)
        fclose(file);
    remove(path);
    check_equal("a folder that is not there",
                taut_plot("/nowhere/at/all.png", labels, names, 2, start, x, y, false, &error),
                TAUT_ERROR_FILE);
}

int main(void)
{
    test_errors();
    test_tolerances();
    test_units();
    test_refusals();
    test_disagreement();
    test_slow();
    test_memory();
    test_plot();
    return check_done();
}
