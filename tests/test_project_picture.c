/* test_project_picture.c - what a picture of a projection is made of: micro-solutions, weights
 * and differences are those that were computed, recording changes nothing, and the pictures hold
 * what they should.
 *
 * Oracles: velocity Verlet written out below for the double pendulum, the cubic kernel as
 * printed in Ariel, Sanz-Serna, Tsai 2012, section 5.2, and table 1 of that paper (docs/sources.md,
 * A). */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <unistd.h>

#include "support/project.h"

#define PI 3.14159265358979323846

static char folder[200], svg[240];

/* A projection of the double pendulum at omega = 1000, from (29)-(30) of the paper. */
static projected pendulum(const char *options)
{
    static const char *const set[] = {"omega=1000"};
    return project_model("double_pendulum",
                         &(taut_load){.size = sizeof(taut_load), .set = set, .set_count = 1},
                         options);
}

/* ---- the oracle */

/* g of both springs, and their accelerations: unit masses, stiffness omega^2, rest lengths 1,
 * the first at the origin. */
static void pull(const double *q, double *a, double *g)
{
    double k = 1e6, dx = q[2] - q[0], dy = q[3] - q[1], r1 = sqrt(q[0] * q[0] + q[1] * q[1]),
           r2 = sqrt(dx * dx + dy * dy);
    g[0] = r1 - 1;
    g[1] = r2 - 1;
    a[2] = -k * g[1] * dx / r2;
    a[3] = -k * g[1] * dy / r2;
    a[0] = -k * g[0] * q[0] / r1 - a[2];
    a[1] = -k * g[0] * q[1] / r1 - a[3];
}

static void verlet(double h, double *q, double *v, double *g)
{
    double a[4];
    pull(q, a, g);
    for (int i = 0; i < 4; i++) {
        v[i] += h / 2 * a[i];
        q[i] += h * v[i];
    }
    pull(q, a, g);
    for (int i = 0; i < 4; i++)
        v[i] += h / 2 * a[i];
}

static double cubic(double x)
{
    x = fabs(x);
    return x <= 0.5 ? 2 - 2 * x - 8 * x * x + 8 * x * x * x
                    : 2 - 22. / 3 * x + 8 * x * x - 8. / 3 * x * x * x;
}

/* ---- what is recorded */

static void test_ipa(void)
{
    check_group("windows of ipa");
    projected p = pendulum("method=ipa plot=a.png");
    taut_projection_window first = {.size = sizeof first}, last = {.size = sizeof last};
    if (!projected_good("ipa", &p) ||
        !check_row(taut_projection_window_get(p.projection, 0, &first, NULL) == 0,
                   "first window") ||
        !check_row(taut_projection_window_get(p.projection, 1, &last, NULL) == 0, "last window")) {
        projected_drop(&p);
        return;
    }
    double h = PI / 3000, sum = 0;
    check_equal("samples", first.count, 37);
    check_equal("bonds", first.bonds, 2);
    check_equal("first", first.pass, 1);
    check_equal("last", last.pass, 5); /* five passes: table 1 */
    check_row(taut_projection_window_get(p.projection, 2, &last, NULL) != 0 &&
                  taut_projection_window_get(p.projection, -1, &last, NULL) != 0,
              "there are two windows");
    for (int side = -1; side <= 1; side += 2) {
        double q[4] = {1, 0.25, 2, 0}, v[4] = {0, -0.5, 0, 0.5}, g[2], a[4];
        pull(q, a, g);
        for (int j = 0; j <= 18; j++) {
            int at = 18 + side * j;
            check_near("time", first.t[at], side * j * h, 1e-16);
            check_near("weight", first.weight[at], cubic(j / 18.) / 18, 1e-15);
            check_near("inner", first.g[at], g[0], 1e-12);
            check_near("outer", first.g[37 + at], g[1], 1e-12);
            verlet(side * h, q, v, g);
        }
    }
    for (int k = 0; k < first.count; k++)
        sum += first.weight[k];
    check_near("sum of the weights", sum, 1, 1e-15);
    /* g at the centre of the last window is that of pass 4 [table 1, omega = 1000] */
    /* the filtered points are those of passes 1 and 5 [table 1] */
    check_near("filtered, pass 1", first.filtered[0], -3.399540e-4, 1e-10);
    check_near("filtered, pass 1, outer", first.filtered[1], -2.413246e-4, 1e-10);
    check_near("filtered, pass 5", last.filtered[1], 8.952276e-7, 1e-13);
    check_near("pass 4, inner", last.g[18], 1.007216e-6, 1e-12);
    check_near("pass 4, outer", last.g[37 + 18], 8.952275e-7, 1e-13);
    projected_drop(&p);
}

/* Recording changes neither the result nor the counts, and happens only when asked for. */
static void test_unchanged(void)
{
    static const char *const ways[][2] = {{"method=ipa", "method=ipa plot=a.png"},
                                          {"method=kernel", "method=kernel plot=a.png"},
                                          {"method=series", "method=series plot=a.png"},
                                          {"method=constraint", "method=constraint plot=a.png"}};
    check_group("recording");
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        projected without = pendulum(ways[k][0]), with = pendulum(ways[k][1]);
        taut_projection_window window = {.size = sizeof window};
        if (projected_good(ways[k][0], &without) && projected_good(ways[k][1], &with)) {
            check_row(memcmp(without.r.q, with.r.q, 4 * sizeof(double)) == 0 &&
                          memcmp(without.r.v, with.r.v, 4 * sizeof(double)) == 0,
                      "%s: the same point to the last bit", ways[k][0]);
            check_equal(ways[k][0], with.r.statistics.force_evaluations,
                        without.r.statistics.force_evaluations);
            check_row(taut_projection_window_get(without.projection, 0, &window, NULL) != 0,
                      "%s: nothing is kept", ways[k][0]);
            check_row((taut_projection_window_get(with.projection, 0, &window, NULL) == 0) ==
                          (k < 2),
                      "%s: windows where there are samples", ways[k][0]);
        }
        projected_drop(&without);
        projected_drop(&with);
    }
}

/* More bonds and samples than are shown: spread evenly; weights of kernel are even and add up to
 * 1 where they are not thinned. */
static void test_many(void)
{
    check_group("many bonds, many samples");
    static const char *const set[] = {"N=100"};
    taut_projection_window window = {.size = sizeof window};
    projected p =
        project_model("chain", &(taut_load){.size = sizeof(taut_load), .set = set, .set_count = 1},
                      "method=ipa micro-steps=5000 tolerance=1e-4 plot=a.png");
    if (projected_good("chain", &p) &&
        check_row(taut_projection_window_get(p.projection, 0, &window, NULL) == 0, "window")) {
        check_equal("bonds", window.bonds, 8);
        for (int k = 0; k < 8; k++)
            check_equal("bond", window.bond[k], k * 99 / 7);
        check_row(window.count > 1000 && window.count <= 2001 && window.count % 2 == 1,
                  "%d samples", window.count);
        for (int k = 1; k < window.count; k++)
            if (!(fabs(window.t[k] - window.t[k - 1] - (window.t[1] - window.t[0])) <= 1e-12))
                check_row(false, "sample %d is not evenly spaced", k);
        check_near("centre", window.t[window.count / 2], 0, 0);
    }
    projected_drop(&p);
    p = pendulum("method=kernel plot=a.png");
    for (int which = 0; which < 2 && projected_good("kernel", &p); which++) {
        if (!check_row(taut_projection_window_get(p.projection, which, &window, NULL) == 0,
                       "window %d of kernel", which))
            continue;
        double sum = 0;
        for (int k = 0; k < window.count; k++) {
            sum += window.weight[k];
            check_near("even", window.weight[k], window.weight[window.count - 1 - k], 0);
        }
        check_near("sum of the weights", sum, 1, 1e-14);
    }
    projected_drop(&p);
}

/* Without bonds coordinates are shown: x'' = -w^2 (x - y), y'' = w^2 (x - y) - y as forces. Slow
 * is x - y = y/(2 w^2) up to O(w^-4). */
#define FORCES                                                                                     \
    "[coordinates]\nx, y\n[forces]\nx = -1e6*(x - y)\ny = 1e6*(x - y) - y\n[start]\nx = 1.01\ny "  \
    "= 1\n"

static void test_coordinates(void)
{
    check_group("windows without bonds");
    projected p = project_model(FORCES, NULL, "method=kernel plot=a.png");
    taut_projection_window first = {.size = sizeof first}, last = {.size = sizeof last};
    if (projected_good("forces", &p) &&
        check_row(taut_projection_window_get(p.projection, 0, &first, NULL) == 0, "first window") &&
        check_row(taut_projection_window_get(p.projection, 1, &last, NULL) == 0, "last window")) {
        check_row(first.item == TAUT_COORDINATE && first.bonds == 2, "%d coordinates", first.bonds);
        check_near("x at the centre", first.g[first.count / 2], 1.01, 0);
        check_near("y at the centre", first.g[first.count + first.count / 2], 1, 0);
        check_near("centre of gravity", first.filtered[0] + first.filtered[1], 2.01, 1e-5);
        check_near("x - y", last.filtered[0] - last.filtered[1], 0.5e-6 * last.filtered[1], 1e-11);
    }
    projected_drop(&p);
}

/* ---- pictures */

static bool draws(void)
{
    return strstr(taut_features(), "gnuplot") != NULL && getenv("TAUT_TEST_CORE") == NULL;
}

static bool read_svg(char *text, size_t size)
{
    FILE *file = fopen(svg, "r");
    size_t used = file ? fread(text, 1, size - 1, file) : 0;
    text[used] = '\0';
    if (file)
        fclose(file);
    return used > 0;
}

/* Draws it and looks for words, separated by ';'. */
static void draw(const char *what, projected *p, const char *title, const char *words)
{
    static char text[1 << 21], word[100];
    taut_error error = {0};
    unlink(svg);
    if (!check_row(p->projection != NULL, "%s: %s", what, p->error.message)) {
        projected_drop(p);
        return;
    }
    int code = taut_projection_plot(p->projection, svg, title, &error);
    if (check_row(code == 0, "%s: %s", what, error.message) &&
        check_row(read_svg(text, sizeof text), "%s: a file", what)) {
        check_contains(what, text, "</svg>");
        for (const char *at = words; *at;) {
            size_t length = strcspn(at, ";");
            snprintf(word, sizeof word, "%.*s", (int)length, at);
            check_contains(what, text, word);
            at += length + (at[length] == ';');
        }
    }
    projected_drop(p);
}

static void test_pictures(void)
{
    check_group("pictures");
    projected p;
    if (!draws()) {
        p = pendulum("method=ipa plot=a.png");
        check_equal("no gnuplot in this build",
                    taut_projection_plot(p.projection, svg, "", &p.error), TAUT_ERROR_UNAVAILABLE);
        projected_drop(&p);
        return;
    }
    p = pendulum("method=ipa plot=a.png");
    draw("ipa", &p, "Two springs",
         "Two springs: projection ipa;pass 1: the bonds within its window;pass 5: the "
         "bonds;inner;outer;filtered;kernel: weights;force evaluations;|g|;|gdot|;change of g");
    p = pendulum("method=kernel plot=a.png");
    draw("kernel", &p, NULL, "projection kernel;pass 2;weight;force evaluations");
    p = pendulum("method=series plot=a.png");
    draw("series", &p, "",
         "projection series;multipliers;inner;how far the initial state was "
         "moved;x1;velocity;|gdot|");
    p = pendulum("method=series"); /* nothing was kept: what there is */
    draw("not recorded", &p, "", "projection series;multipliers");
    p = pendulum("method=ipa passes=2 plot=a.png");
    check_equal("not converged", p.code, TAUT_ERROR_CONVERGE);
    draw("not converged", &p, "", "projection ipa, not converged;pass 2;change of gdot");
    p = project_model(FORCES, NULL, "method=kernel plot=a.png");
    draw("forces", &p, "",
         "pass 1: the coordinates within its window;filtered;how far the initial state was moved");
    p = project_model("quartic_rod", NULL, "method=series plot=a.png");
    draw("stiff potential", &p, "", "projection series;how far");
    p = project_model("michaelis_menten", NULL, "plot=a.png");
    draw("difference", &p, "",
         "projection difference;every iteration;order 0;order 2;what every order left and moved");
    p = project_model("slider_crank", NULL, "method=constraint plot=a.png");
    draw("constraint", &p, "", "projection constraint;residuals;multipliers");
    static const char *const set[] = {"N=3000"};
    p = project_model("chain", &(taut_load){.size = sizeof(taut_load), .set = set, .set_count = 1},
                      "method=constraint plot=a.png");
    draw("chain", &p, "", "bond;coordinate");
}

static int entries(void)
{
    int count = -2; /* . and .. */
    DIR *open = opendir(folder);
    while (open && readdir(open))
        count++;
    if (open)
        closedir(open);
    return count;
}

static void test_bad_pictures(void)
{
    check_group("pictures that cannot be made");
    projected p = pendulum("method=ipa plot=a.png");
    check_equal("ending", taut_projection_plot(p.projection, "a.gif", "", &p.error),
                TAUT_ERROR_USAGE);
    check_contains("ending", p.error.message, ".png or .svg");
    check_equal("no projection", taut_projection_plot(NULL, svg, "", &p.error), TAUT_ERROR_USAGE);
    if (draws()) {
        check_equal("no folder",
                    taut_projection_plot(p.projection, "/nowhere/at/all.svg", "", &p.error),
                    TAUT_ERROR_FILE);
        unlink(svg);
        /* a title is a text, whatever is in it; nothing stays behind but the picture */
        char title[500];
        snprintf(title, sizeof title, "a'\nsystem('touch %s/b')\n`touch %s/c`\"@{", folder, folder);
        check_equal("a hostile title", taut_projection_plot(p.projection, svg, title, &p.error),
                    TAUT_OK);
        check_equal("files left", entries(), 1);
    }
    projected_drop(&p);
}

/* The k-th allocation fails, with recording on. */
static void test_memory(void)
{
    static const char *const ways[] = {"method=ipa plot=a.png", "method=kernel plot=a.png",
                                       "plot=a.png"};
    check_group("memory");
    for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++) {
        int64_t k = 1;
        for (; k < 2000; k = faulty_next(k)) {
            faulty f = {.fail = k};
            taut_allocator allocator = faulty_allocator(&f);
            projected p = {0};
            char path[1200];
            snprintf(path, sizeof path, "%s/models/%s.taut", TAUT_SOURCE_DIR,
                     way == 2 ? "michaelis_menten" : "double_pendulum");
            p.code = taut_system_load(path, NULL, &p.system, &p.error);
            projected_run(&p, ways[way], &allocator);
            bool failed = f.failed > 0;
            check_row(p.code == (failed ? TAUT_ERROR_MEMORY : TAUT_OK), "%s, call %lld: %s %s",
                      ways[way], (long long)k, taut_code_name(p.code), p.error.message);
            if (!failed) { /* and now that of drawing */
                f.fail = f.calls + 1;
                check_equal("drawing", taut_projection_plot(p.projection, svg, "", &p.error),
                            TAUT_ERROR_MEMORY);
            }
            projected_drop(&p);
            check_row(f.live == 0, "%s, call %lld: %lld blocks left", ways[way], (long long)k,
                      (long long)f.live);
            if (!failed)
                break;
        }
        check_row(k > 10 && k < 2000, "%s: %lld allocations seen", ways[way], (long long)k);
    }
}

/* Asking for a picture of a start that is slow already changes neither result nor passes. */
static void test_slow_start(void)
{
    static const char *const set[] = {"omega=1000", "lift=0"};
    taut_load how = {.size = sizeof how, .set = set, .set_count = 2};
    check_group("slow start");
    projected s = project_model("double_pendulum", &how, "method=series");
    if (projected_good("series", &s)) {
        char init[2][4][60];
        const char *list[8], *const names[] = {"x1", "y1", "x2", "y2"};
        for (int i = 0; i < 8; i++) {
            snprintf(init[i / 4][i % 4], sizeof init[0][0], "%s%s = %.17g", names[i % 4],
                     i / 4 ? "'" : "", i / 4 ? s.r.v[i % 4] : s.r.q[i % 4]);
            list[i] = init[i / 4][i % 4];
        }
        how.init = list;
        how.init_count = 8;
        projected without = project_model("double_pendulum", &how, "method=ipa");
        projected with = project_model("double_pendulum", &how, "method=ipa plot=unused.png");
        if (projected_good("without", &without) && projected_good("with", &with)) {
            check_equal("passes", with.r.passes, without.r.passes);
            for (int i = 0; i < 4; i++)
                check_row(with.r.q[i] == s.r.q[i] && with.r.v[i] == s.r.v[i] &&
                              without.r.q[i] == s.r.q[i],
                          "coordinate %d moves", i);
        }
        projected_drop(&with);
        projected_drop(&without);
    }
    projected_drop(&s);
}

int main(void)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.150s/taut_picture.XXXXXX",
             parent && parent[0] == '/' ? parent : "/tmp");
    if (!mkdtemp(folder))
        return 1;
    setenv("TMPDIR", folder, 1); /* so that what pictures leave behind is seen */
    snprintf(svg, sizeof svg, "%s/a.svg", folder);
    test_ipa();
    test_unchanged();
    test_many();
    test_coordinates();
    test_pictures();
    test_bad_pictures();
    test_memory();
    unlink(svg);
    check_row(rmdir(folder) == 0, "nothing is left in %s", folder);
    test_slow_start();
    return check_done();
}
