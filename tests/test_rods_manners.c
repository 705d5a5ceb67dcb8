/* test_rods_manners.c - `ipa` and `kernel` with rigid bonds: slow points stay as they are, initial
 * states off the rigid bonds, held coordinates, refusals and failures, functions in C that stop or
 * have no derivatives, memory. Limits are those of test_filters_rods.c. */
#include "support/rods.h"
#include "support/stated.h"

/* ---- manners */

/* A slow point comes back as it is: in a model, and where there are functions alone. A start off
 * the rigid bonds goes to the slow point of that start. */
static void test_harmless(void)
{
    char text[2000];
    check_group("no harm");
    projected s = run(PENDULUM, "", NULL, "method=series");
    static const char *const methods[] = {"method=kernel", "method=ipa"};
    if (projected_good("series", &s))
        write_start(&s, &s.r, text, sizeof text);
    for (int k = 0; k < 2 && s.code == 0; k++) {
        projected p = run(PENDULUM, "", text, methods[k]);
        if (projected_good(methods[k], &p)) {
            check_row(apart(4, p.r.q, s.r.q) == 0 && apart(4, p.r.v, s.r.v) == 0, "%s keeps it",
                      methods[k]);
            check_below(methods[k], (double)p.r.passes, 1);
            check_below("multipliers", apart(2, p.r.lambda, s.r.lambda), 1e-8);
        }
        projected_drop(&p);
    }
    projected_drop(&s);
    /* A (29)-(30) */
    static const char *const off =
        "x1 = 1\ny1 = 0.25\nx2 = 2\ny2 = 0\nx1' = 0\ny1' = -0.5\nx2' = 0\ny2' = 0.5\n";
    s = run(PENDULUM, "", off, "method=series");
    projected p = run(PENDULUM, "", off, "method=kernel");
    if (projected_good("series", &s) && projected_good("off the rods", &p)) {
        const double *g;
        check_below("q", apart(4, p.r.q, s.r.q), 1e-11);
        check_below("v", apart(4, p.r.v, s.r.v), 1e-9);
        check_near("the start is shown", p.r.start_q[1], 0.25, 0);
        check_row(taut_projection_pass(p.projection, 0, &g, NULL, NULL), "pass 0");
        check_near("with its rod", g[0], sqrt(1 + 0.0625) - 1, 1e-15);
    }
    projected_drop(&p);
    p = run(PENDULUM, "", off, "method=ipa");
    if (projected_good("ipa", &p)) {
        check_distance("ipa", &p, &p.r, PENDULUM, "", 1e-9, 1e-6);
        check_near("the start is shown", p.r.start_q[1], 0.25, 0);
    }
    projected_drop(&p);
    projected_drop(&s);
}

static void test_held(void)
{
    static const char *const rows[] = {"method=kernel hold=x2", "method=kernel hold=x1,y1",
                                       "method=kernel hold=y1',x2", "method=ipa hold=x2"};
    check_group("held");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        projected p = run(PENDULUM, "", NULL, rows[k]);
        const int rod[] = {0};
        if (projected_good(rows[k], &p)) {
            const char *names[] = {"x1", "y1", "x2", "y2"};
            for (int i = 0; i < 4; i++) {
                const char *at = strstr(strstr(rows[k], "hold="), names[i]);
                if (at && at[2] == '\'')
                    check_near(rows[k], p.r.v[i], p.r.start_v[i], 0);
                else if (at)
                    check_near(rows[k], p.r.q[i], p.r.start_q[i], 0);
            }
            check_rods(rows[k], &p, 1, rod);
            bool ipa = strstr(rows[k], "ipa");
            check_distance(rows[k], &p, &p.r, PENDULUM, "", ipa ? 1e-9 : 1e-11, ipa ? 1e-6 : 1e-9);
        }
        projected_drop(&p);
    }
}

/* Where a foot point exists with what is held standing still, kernel gives the point of series
 * over it: limits as without holds. */
static void test_held_points(void)
{
    static const char *const start =
        "x1 = 0.8\ny1 = 0.6\nx1' = 0.3\ny1' = -0.4\nx2 = 1.63\ny2 = 0.05\nx2' = 0.2\ny2' = 0.5\n";
    static const char *const holds[] = {"x2", "x1", "y2'", "y1,y2'", "x2,x2'"};
    check_group("held, as a point");
    for (size_t k = 0; k < sizeof holds / sizeof holds[0]; k++) {
        char options[2][60];
        snprintf(options[0], sizeof options[0], "method=series hold=%s", holds[k]);
        snprintf(options[1], sizeof options[1], "method=kernel hold=%s", holds[k]);
        projected s = run(PENDULUM, "", start, options[0]),
                  p = run(PENDULUM, "", start, options[1]);
        if (projected_good(options[0], &s) && projected_good(options[1], &p)) {
            check_below(options[1], apart(4, p.r.q, s.r.q), 1e-11);
            check_below(options[1], apart(4, p.r.v, s.r.v), 1e-9);
        }
        projected_drop(&p);
        projected_drop(&s);
    }
}

/* Other kernels: 10 times what they state, from the point of series where passes begin at the
 * foot point, else from the slow manifold. */
static void test_options(void)
{
    static const char *const rows[] = {
        "method=kernel kernel=smooth",  "method=kernel kernel=smooth accelerate=yes",
        "method=kernel moments=7",      "method=kernel kernel=bump",
        "method=kernel accelerate=yes", "method=kernel micro-steps=20"};
    check_group("options");
    projected s = run(PENDULUM, "", NULL, "method=series");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0] && projected_good("series", &s); k++) {
        projected p = run(PENDULUM, "", NULL, rows[k]);
        double q = 0, v = 0;
        const int rod[] = {0};
        if (projected_good(rows[k], &p) &&
            check_row(stated_accuracy(&p.r, &q, &v), "%s: %s", rows[k], p.r.explanation)) {
            check_row(q <= 1e-7 && v <= 1e-7, "%s states %.3g, %.3g", rows[k], q, v);
            check_distance(rows[k], &p, &p.r, PENDULUM, "", 10 * q, 10 * v);
            check_rods(rows[k], &p, 1, rod);
            if (!strstr(rows[k], "kernel="))
                check_row(apart(4, p.r.q, s.r.q) <= 10 * q && apart(4, p.r.v, s.r.v) <= 10 * v,
                          "%s: %.3g, %.3g from series", rows[k], apart(4, p.r.q, s.r.q),
                          apart(4, p.r.v, s.r.v));
        }
        projected_drop(&p);
    }
    projected_drop(&s);
}

static void test_words(void)
{
    check_group("words");
    projected p = run(PENDULUM, "", NULL, "method=kernel passes=1");
    check_equal("too few passes", p.code, TAUT_ERROR_CONVERGE);
    if (check_row(p.projection, "a failure has a result"))
        check_row(apart(4, p.r.q, p.r.start_q) == 0 && apart(4, p.r.v, p.r.start_v) == 0 &&
                      p.r.start_q[2] == 1.9,
                  "the initial state is kept");
    projected_drop(&p);
    p = run(PENDULUM, "", NULL, "method=auto");
    if (projected_good("auto", &p))
        check_contains("auto", p.r.method, "series");
    projected_drop(&p);
    p = run("[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2 + y^2) - 1\n[start]\nx = 1.1\n", "", NULL,
            "method=kernel");
    projected_refused("rods alone", &p, TAUT_ERROR_REFUSED, "projection constraint");
    p = run("[coordinates]\nx, y, z\n[bonds]\nrod = z - 1\n[stiff potential]\n(x^2 + y^2 - 1)^2/4 "
            "scale 1e6\n[start]\nx = 1.01, z = 1\n",
            "", NULL, "method=kernel");
    projected_refused("a stiff potential", &p, TAUT_ERROR_REFUSED, "use projection series");
    p = run(TWO(INNER OUTER " damping 3*omega", ""), "", NULL, "method=kernel");
    projected_refused("strong damping", &p, TAUT_ERROR_CONVERGE, "choose method series");
    /* turning by 0.1 in a step: the springs become faster than the steps are made for */
    p = run(PENDULUM, "", "x1 = 1\ny1 = 0\nx2 = 2\ny2 = 0\nx1' = 0\ny1' = -59\nx2' = 0\ny2' = 59\n",
            "method=kernel");
    projected_refused("as fast as the springs", &p, TAUT_ERROR_CONVERGE,
                      "slow and fast are not separated");
    p = run(TWO(INNER "twin = x1^2 + y1^2 - 1\n" OUTER, ""), "", NULL, "method=kernel");
    projected_good("rods that follow from others", &p);
    projected_drop(&p);
}

/* ---- functions in C: no derivatives, and they may stop */

typedef struct caller {
    int64_t calls, at;
} caller;

static int pull(void *user, double t, const double *q, const double *v, double *f)
{
    caller *c = user;
    (void)t, (void)q, (void)v;
    memset(f, 0, 4 * sizeof(double));
    return ++c->calls == c->at ? -3 : 0;
}

static int bonds(void *user, double t, const double *q, double *g)
{
    caller *c = user;
    (void)t;
    g[0] = hypot(q[0], q[1]) - 1;
    g[1] = hypot(q[2] - q[0], q[3] - q[1]) - 1;
    return ++c->calls == c->at ? -3 : 0;
}

static projected call(caller *c, const double *q, const double *v, const char *options)
{
    static const double compliance[] = {0, 1e-6};
    projected p = {0};
    taut_callbacks calls = {.size = sizeof calls,
                            .coordinates = 4,
                            .bonds = 2,
                            .force = pull,
                            .bond = bonds,
                            .compliance = compliance,
                            .start_q = q,
                            .start_v = v,
                            .user = c};
    p.code = taut_system_from_callbacks(&calls, NULL, &p.system, &p.error);
    projected_run(&p, options, NULL);
    return p;
}

/* G by differences is good to 1e-10: so are the rigid bonds' rates. */
static void test_functions(void)
{
    static const char *const methods[] = {"method=kernel", "method=ipa", "method=auto"};
    check_group("functions");
    projected s = run(PENDULUM, "", NULL, "method=series");
    for (int k = 0; k < 3 && projected_good("series", &s); k++) {
        caller c = {0};
        projected p = call(&c, s.r.start_q, s.r.start_v, methods[k]);
        if (projected_good(methods[k], &p) && k != 1) {
            check_contains(methods[k], p.r.method, "kernel");
            check_below(methods[k], apart(4, p.r.q, s.r.q), 1e-11);
            check_below(methods[k], apart(4, p.r.v, s.r.v), 1e-9);
        } else if (p.code == 0) {
            check_distance(methods[k], &s, &p.r, PENDULUM, "", 1e-9, 1e-6);
        }
        projected_drop(&p);
        c.calls = 0;
        p = call(&c, s.r.q, s.r.v, methods[k]);
        if (projected_good(methods[k], &p) &&
            k != 1) /* ipa cannot tell without derivatives, and moves it by its own error */
            check_row(apart(4, p.r.q, s.r.q) == 0 && apart(4, p.r.v, s.r.v) == 0 && p.r.passes <= 1,
                      "%s keeps what is slow: %d passes, %s", methods[k], (int)p.r.passes,
                      p.r.explanation);
        projected_drop(&p);
    }
    for (int k = 0; k < 2 && s.code == 0; k++) {
        caller c = {0};
        projected p = call(&c, s.r.start_q, s.r.start_v, methods[k]);
        int64_t calls = c.calls, missed = 0;
        projected_drop(&p);
        for (int64_t at = 1; at <= calls; at = at < 60 ? at + 1 : at * 9 / 8) {
            c = (caller){.at = at};
            p = call(&c, s.r.start_q, s.r.start_v, methods[k]);
            missed += p.code != TAUT_ERROR_STOPPED || c.calls != at;
            projected_drop(&p);
        }
        check_row(missed == 0 && calls > 100, "%s: of %lld stops %lld were missed", methods[k],
                  (long long)calls, (long long)missed);
    }
    projected_drop(&s);
}

static void test_memory(void)
{
    static const char *const options[] = {"method=kernel", "method=ipa", "method=kernel hold=x2"};
    check_group("memory");
    projected p = project_model(PENDULUM, NULL, "method=constraint");
    for (int way = 0; way < 3; way++)
        projected_faults(p.system, options[way]);
    projected_drop(&p);
}

int main(void)
{
    test_harmless();
    test_held();
    test_held_points();
    test_options();
    test_words();
    test_functions();
    test_memory();
    return check_done();
}
