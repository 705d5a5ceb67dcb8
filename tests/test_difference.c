/* test_difference.c - slow points by the difference condition of Gear, Kaper, Kevrekidis,
 * Zagaris 2005 (D). Reference numbers: docs/sources.md, D (the paper's figures 2, 3, 5, 6
 * recomputed), analytic slow manifolds, exact counts. */
#include <taut/taut.h>

#include "support/project.h"
#include "linalg/anderson.h"

/* y on the slow manifold at x = 1, eps = 0.1: docs/sources.md, D */
static const double mm_slow = 0.503031511623918;

static char options_of(char *text, size_t size, int order, const char *more)
{
    snprintf(text, size, "method=difference order=%d %s", order, more);
    return 0;
}

/* Michaelis and Menten with a stepper of one's own. */
static const char *mm(char *text, size_t size, const char *eps, const char *method,
                      const char *step, const char *horizon)
{
    snprintf(text, size,
             "[parameters]\neps = %s\n[state]\nx, y\n[rates]\nx' = -x + (x + 0.5)*y\ny' = (x - (x "
             "+ 1)*y)/eps\n[stepper]\nmethod = %s\n"
             "step = %s\nhorizon = %s\n[observables]\nx\n[start]\nx = 1, y = 0\n",
             eps, method, step, horizon);
    return text;
}

/* ---- Michaelis-Menten */

static void michaelis_menten(void)
{
    static const double log_error[] = {-2.38, -4.44, -5.41, -5.45, -5.44};
    static const int plain[] = {37, 61, 87, 115, 157}, secant[] = {6, 5, 4, 3, 3};
    check_group("D 4.1, eps = 0.1, h = 0.01, n = 4");
    for (int order = 0; order < 5; order++)
        for (int fast = 0; fast < 2; fast++) {
            char options[100], what[60];
            options_of(options, sizeof options, order, fast ? "" : "iterate=plain");
            snprintf(what, sizeof what, "order %d, %s", order, fast ? "anderson" : "plain");
            projected p = project_model("michaelis_menten", NULL, options);
            if (projected_good(what, &p) && check_equal(what, p.stages, order + 1)) {
                int64_t work = 0, count = p.stage[order].iterations,
                        expected = fast ? secant[order] : plain[order];
                check_near(what, log10(fabs(p.r.q[1] - mm_slow)), log_error[order], 0.006);
                check_row(llabs(count - expected) <= (fast ? 0 : 2),
                          "%s: %lld iterations, expected %lld", what, (long long)count,
                          (long long)expected);
                check_row(p.r.q[0] == 1, "%s: x = %.17g is kept to the last bit", what, p.r.q[0]);
                check_row(p.r.start_q[1] == 0, "%s: the start is still known", what);
                /* a look at the initial state and at the noise near it; two short steps from the
                 * result, of one inner step each */
                work += 9 * 4 + 2;
                for (int k = 0; k <= order; k++)
                    work += p.stage[k].iterations * (k + 1) * 4;
                check_equal(what, p.r.statistics.force_evaluations, work);
                check_equal(what, p.r.statistics.micro_steps, work);
                check_below(what, p.stage[order].difference, 1e-14);
                check_equal(what, p.r.passes, order + 1);
            }
            projected_drop(&p);
        }
}

/* docs/sources.md, D: h = 0.001, n = 1, and an accurate inner integrator. */
static void other_steppers(void)
{
    static const double small[] = {3.03e-3, 1.80e-5, 4.77e-7, 4.13e-7};
    static const double accurate[] = {4.45e-3, 3.77e-5, 3.95e-7, 3.84e-8, 1.03e-9};
    static const int64_t counts[] = {1369, 45461, 1134676, 4203774};
    const int plain = getenv("TAUT_TEST_LONG") ? 3 : 1; /* the highest order by plain iteration */
    char text[600], options[100], what[60];
    check_group("D 4.1, other inner integrators");
    for (int order = 0; order < 4; order++)
        for (int fast = order > plain; fast < (order < 3 ? 2 : 1); fast++) {
            snprintf(what, sizeof what, "h = 0.001, order %d, %s", order,
                     fast ? "anderson" : "plain");
            options_of(options, sizeof options, order, fast ? "" : "iterate=plain");
            projected p = project_model(mm(text, sizeof text, "0.1", "euler", "0.001", "0.001"),
                                        NULL, options);
            if (projected_good(what, &p)) {
                check_near(what, fabs(p.r.q[1] - mm_slow) / small[order], 1, 0.005);
                if (!fast)
                    check_row(llabs(p.stage[order].iterations - counts[order]) <= 2,
                              "%s: %lld iterations, expected %lld", what,
                              (long long)p.stage[order].iterations, (long long)counts[order]);
                else
                    check_below(what, (double)p.stage[order].iterations, 12);
            }
            projected_drop(&p);
        }
    static const char *const inside[][2] = {
        {"dop8", "0.005"}, {"dopri5", "0.002"}, {"rk4", "0.001"}, {"radau5", "0.004"}};
    for (int k = 0; k < 20; k++) {
        int order = k % 5;
        snprintf(what, sizeof what, "%s inside, H = 0.04, order %d", inside[k / 5][0], order);
        options_of(options, sizeof options, order, "");
        projected p =
            project_model(mm(text, sizeof text, "0.1", inside[k / 5][0], inside[k / 5][1], "0.04"),
                          NULL, options);
        if (projected_good(what, &p))
            check_near(what, fabs(p.r.q[1] - mm_slow) / accurate[order], 1, 0.005);
        projected_drop(&p);
    }
    projected p = project_model(mm(text, sizeof text, "0.01", "dop8", "0.0002", "0.001"), NULL,
                                "method=difference order=4");
    if (projected_good("eps = 0.01", &p))
        check_near("eps = 0.01: docs/sources.md, D", p.r.q[1], 0.500311527808143, 1e-11);
    projected_drop(&p);
    p = project_model(mm(text, sizeof text, "0.1", "rk4", "0.003", "0.04"), NULL,
                      "method=difference order=1 horizon=0.03");
    if (projected_good("set the horizon", &p))
        check_equal("10 steps of rk4 in a horizon of 0.03", p.r.statistics.micro_steps,
                    10 * (9 + p.stage[0].iterations + 2 * p.stage[1].iterations) + 2);
    projected_drop(&p);
}

/* Variables that are neither slow nor fast: docs/sources.md, D, paper figure 5. The same answer
 * with x and y as state and u = x + y observed. */
static void mixed(void)
{
    static const double expected[] = {1.319e-2, 1.886e-4, 3.319e-6};
    static const char sum[] = "[parameters]\neps = 0.1\n[state]\nx, y\n[rates]\nx' = -x + (x + "
                              "0.5)*y\ny' = (x - (x + 1)*y)/eps\n"
                              "[stepper]\nmethod = euler\nstep = eps/10\nhorizon = "
                              "4*eps/10\n[observables]\nu = x + y\n[start]\n"
                              "x = 1.503031511623918, y = 0\n";
    check_group("D 4.1, mixed variables");
    for (int order = 0; order < 3; order++)
        for (int plain = 0; plain < 2; plain++) {
            char options[100], what[60];
            options_of(options, sizeof options, order, plain ? "iterate=plain" : "");
            snprintf(what, sizeof what, "order %d, %s", order, plain ? "plain" : "anderson");
            projected p = project_model("michaelis_menten_mixed", NULL, options),
                      q = project_model(sum, NULL, options);
            if (projected_good(what, &p) && projected_good(what, &q)) {
                double x = (p.r.q[0] - p.r.q[1]) / 2, y = (p.r.q[0] + p.r.q[1]) / 2;
                check_near(what, hypot(x - 1, y - mm_slow) / expected[order], 1, 5e-4);
                check_near(what, hypot(q.r.q[0] - 1, q.r.q[1] - mm_slow) / expected[order], 1,
                           5e-4);
                check_near("u is kept", q.r.q[0] + q.r.q[1], 1.503031511623918, 4e-16);
            }
            projected_drop(&p);
            projected_drop(&q);
        }
}

/* ---- five dimensions: docs/sources.md, D, paper figure 6. The counts follow from: all five values
 * given to one decimal, as the paper gives the observables; done when every |delta| < 1e-10; each
 * order from the result of the one before. Those of m = 1, 2 are the same from any start that
 * converges, because there the distance is that between two orders; that of m = 0 grows with the
 * logarithm of the distance of its initial state (53 from the slow manifold itself, 65 here, 70
 * from the start of the model file). */

typedef struct five_case {
    const char *h, *init[2]; /* step; y4 and y5 */
    bool fast, m0;           /* anderson; is the count of m = 0 comparable? */
} five_case;

static double five_residual(const double *y)
{
    double v[5] = {-3.559434800714249, -2.559434800714249, 19.2202825996428754, -800, -1200},
           mean = 0, sum = 0;
    for (int i = 0; i < 5; i++)
        mean += 0.4 * v[i];
    for (int i = 0; i < 5; i++)
        sum += (y[i] - mean + v[i]) * (y[i] - mean + v[i]);
    return sqrt(sum);
}

static void five_counts(const char *what, const projected *p, const five_case *c)
{
    static const int plain[] = {66, 173, 335}, anderson[] = {7, 6, 6};
    for (int order = c->m0 ? 0 : 1; order < p->stages; order++) {
        int expected = c->fast ? anderson[order] : plain[order];
        check_row(llabs(p->stage[order].iterations - expected) <= (c->fast ? 0 : 2),
                  "%s: order %d, %lld iterations, expected %d", what, order,
                  (long long)p->stage[order].iterations, expected);
    }
}

static void five_dimensions(void)
{
    static const double residual[3][3] = {
        {4.990e-3, 3.36e-5, 9.06e-7}, {NAN, NAN, 4.54e-7}, {NAN, NAN, 2.27e-7}};
    static const five_case cases[] = {{"h = 4e-4", {"y[4] = 5.2", "y[5] = 405.2"}, false, true},
                                      {"h = 4e-4", {"y[4] = 5.2", "y[5] = 405.2"}, true, true},
                                      {"h = 4e-4", {"y[4] = 5", "y[5] = 405"}, false, false},
                                      {"h = 4e-4", {"y[4] = 0", "y[5] = 400"}, false, false},
                                      {"h = 2e-4", {"y[4] = 5.2", "y[5] = 405.2"}, true, false},
                                      {"h = 1e-4", {"y[4] = 5.2", "y[5] = 405.2"}, true, false}};
    check_group("D 4.3, five dimensions");
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        for (int order = k < 4 ? 0 : 2; order < 3; order++) {
            const five_case *c = &cases[k];
            taut_load how = {
                .size = sizeof how, .set = &c->h, .set_count = 1, .init = c->init, .init_count = 2};
            char options[100], more[60], what[100];
            /* 814 is max |y|. Shorter steps have smaller differences, and need all that the flow
             * can give. */
            if (k < 4)
                snprintf(more, sizeof more, "tolerance=%.17g iterate=%s", 1e-10 / 814,
                         c->fast ? "anderson" : "plain");
            else
                more[0] = '\0';
            options_of(options, sizeof options, order, more);
            snprintf(what, sizeof what, "%s, order %d, %s, from %s", c->h, order,
                     c->fast ? "anderson" : "plain", c->init[0]);
            projected p = project_model("five_dimensions", &how, options);
            if (projected_good(what, &p)) {
                check_near(what, five_residual(p.r.q) / residual[k < 4 ? 0 : k - 3][order], 1,
                           0.003);
                check_row(p.r.q[0] == -791.2 && p.r.q[1] == -792.2,
                          "%s: observables are kept to the last bit", what);
                if (k < 4)
                    five_counts(what, &p, c);
            }
            projected_drop(&p);
        }
}

/* ---- analytic slow manifolds */

static void analytic(void)
{
    projected p;
    check_group("analytic");
    /* D introduction: integrating down to the manifold ends elsewhere, at ((u - w)/2, v, (w -
     * u)/2); the answer for (u, v) is w = -u */
    static const char intro[] =
        "[parameters]\neps = 1e-3\n[state]\nu, v, w\n[rates]\nu' = -(u + w)/(2*eps)\nv' = -1\n"
        "w' = -(u + w)/(2*eps)\n[stepper]\nstep = eps/2\nhorizon = 2*eps\n[observables]\nu, "
        "v\n[start]\n"
        "u = 3, v = 2, w = 5\n";
    for (int order = 0; order < 3; order++) {
        char options[60];
        options_of(options, sizeof options, order, "");
        p = project_model(intro, NULL, options);
        if (projected_good("D introduction", &p))
            check_near("D introduction: w = -u", p.r.q[2], -3, 1e-12);
        projected_drop(&p);
    }
    /* a nonlinear observable, slow manifold y = x: x = y = sqrt(r/2) */
    static const char circle[] = "[state]\nx, y\n[rates]\nx' = 0\ny' = 100*(x - "
                                 "y)\n[stepper]\nhorizon = 0.01\n[observables]\n"
                                 "r = x^2 + y^2\n[start]\nx = 1, y = 0.1\n";
    for (int plain = 0; plain < 2; plain++) {
        p = project_model(circle, NULL, plain ? "order=0 iterate=plain" : "order=0");
        if (projected_good("r = x^2 + y^2", &p)) {
            check_near("r = x^2 + y^2: x", p.r.q[0], sqrt(0.505), 1e-13);
            check_near("r = x^2 + y^2: y", p.r.q[1], sqrt(0.505), 1e-13);
            check_near("r is kept", p.r.q[0] * p.r.q[0] + p.r.q[1] * p.r.q[1], 1.01, 4e-15);
        }
        projected_drop(&p);
    }
    /* an observable that exists on one side only, and a start near its edge: log x + y kept,
     * slow manifold y = 3 x */
    static const char edge[] = "[state]\nx, y\n[rates]\nx' = 0\ny' = 100*(3*x - "
                               "y)\n[stepper]\nhorizon = 0.01\n[observables]\n"
                               "s = log(x) + y\n[start]\nx = 0.01, y = 6\n";
    p = project_model(edge, NULL, "order=0");
    if (projected_good("s = log(x) + y", &p)) {
        check_near("log: on the slow manifold", p.r.q[1], 3 * p.r.q[0], 1e-12);
        check_near("log: s", log(p.r.q[0]) + p.r.q[1], log(0.01) + 6, 1e-13);
    }
    projected_drop(&p);
    /* an invariant: a <-> b fast, both from c; a + b + c is kept, c observed: a/b = 2 */
    static const char balance[] =
        "[state]\na, b, c\n[rates]\na' = -50*a + 100*b\nb' = 50*a - 100*b\nc' = 0\n[invariants]\n"
        "all = a + b + c\n[stepper]\nhorizon = 0.01\n[observables]\nc\n[start]\na = 1, b = 5, c = "
        "3\n";
    p = project_model(balance, NULL, "order=2");
    if (projected_good("invariant", &p)) {
        check_near("invariant: a", p.r.q[0], 4, 1e-13);
        check_near("invariant: b", p.r.q[1], 2, 1e-13);
    }
    projected_drop(&p);
    /* held from the command line in place of an observable */
    static const char held[] = "[state]\nx, y\n[rates]\nx' = 0\ny' = 100*(x - "
                               "y)\n[stepper]\nhorizon = 0.01\n[start]\nx = 1, y = 0.1\n";
    const char *init = "x = 7 hold";
    taut_load how = {.size = sizeof how, .init = &init, .init_count = 1};
    p = project_model(held, &how, "order=1");
    if (projected_good("hold", &p))
        check_near("hold: y = x", p.r.q[1], 7, 1e-12);
    projected_drop(&p);
}

/* A forced relaxation, y' = (sin t - y)/eps: the slow solution is (sin t - eps cos t)/(1 +
 * eps^2); each order wins a factor eps. */
static void forced(void)
{
    static const char text[] = "[parameters]\neps = 0.02\n[state]\nx, y\n[rates]\nx' = 0\ny' = "
                               "(sin(t) - y)/eps\n[stepper]\nstep = eps/50\n"
                               "horizon = eps/5\n[observables]\nx\n";
    double eps = 0.02, t = 0.7, slow = (sin(t) - eps * cos(t)) / (1 + eps * eps), bound = eps;
    taut_load how = {.size = sizeof how, .from = t};
    check_group("depends on t");
    for (int order = 0; order < 4; order++, bound *= eps) {
        char options[60];
        options_of(options, sizeof options, order, "from=0.7");
        projected p = project_model(text, &how, options);
        if (projected_good("forced", &p)) {
            check_below("error is O(eps^(m+1))", fabs(p.r.q[1] - slow), 2 * bound);
            check_row(fabs(p.r.q[1] - slow) > 0.02 * bound || bound < 1e-6,
                      "order %d is no better than expected: %.3g", order, fabs(p.r.q[1] - slow));
        }
        projected_drop(&p);
    }
}

/* ---- Anderson's method by itself: on a linear problem of n unknowns it ends after n + 2
 * evaluations */

static void acceleration(void)
{
    enum { N = 4 };
    static const double matrix[N][N] = {
        {-0.02, 0.1, 0, 0}, {0, -0.3, 0.2, 0}, {0.1, 0, -0.9, 0}, {0, 0.5, 0, -1.7}};
    static const double root[N] = {1, -2, 3, 4e3};
    taut_arena arena;
    taut_anderson a;
    double x[N] = {0}, f[N], most = 0;
    check_group("acceleration");
    taut_arena_init(&arena, NULL);
    check_equal("create", taut_anderson_create(&a, N, N, &arena, NULL), 0);
    for (int k = 0; k < N + 2; k++) {
        most = 0;
        for (int i = 0; i < N; i++) {
            f[i] = 0;
            for (int j = 0; j < N; j++)
                f[i] += matrix[i][j] * (x[j] - root[j]);
            most = fmax(most, fabs(f[i]));
        }
        if (k < N + 1)
            taut_anderson_next(&a, x, f, x);
    }
    check_below("f after n + 1 steps", most, 1e-7);
    taut_anderson_clear(&a);
    taut_anderson_next(&a, root, root, x);
    check_row(x[1] == -4 && a.count == 0, "after clear a step is plain: %g", x[1]);
    taut_anderson_next(&a, root, root, x); /* no difference: nothing to learn */
    check_row(x[1] == -4, "the same point twice: %g", x[1]);
    taut_arena_clear(&arena);
}

/* ---- refusals and failures */

static void refuse(const char *what, const char *model, const char *options, int code,
                   const char *words)
{
    projected p = project_model(model, NULL, options);
    projected_refused(what, &p, code, words);
}

static void refusals(void)
{
    char text[600];
    check_group("refusals");
    refuse("mechanical", "double_pendulum", "method=difference", TAUT_ERROR_REFUSED,
           "does not support a mechanical system");
    refuse("algebraic", "index2", "method=difference", TAUT_ERROR_REFUSED, "algebraic");
    refuse("no observables", "kepler", "method=difference horizon=0.1", TAUT_ERROR_REFUSED,
           "[observables]");
    refuse("nothing to find", "[state]\nx, y\n[rates]\nx' = 0\ny' = x - y\n[observables]\nx, y\n",
           "horizon=1", TAUT_ERROR_REFUSED, "nothing to find");
    refuse("dependent",
           "[state]\nx, y, z\n[rates]\nx' = 0\ny' = x - y\nz' = -z\n[observables]\nu = x + y, v = "
           "2*x + 2*y\n",
           "horizon=1", TAUT_ERROR_SINGULAR, "not independent");
    refuse("unknown method", mm(text, sizeof text, "0.1", "eulre", "0.01", "0.04"), "",
           TAUT_ERROR_REFUSED, "did you mean euler");
    refuse("mechanical method", mm(text, sizeof text, "0.1", "verlet", "0.01", "0.04"), "",
           TAUT_ERROR_REFUSED, "does not integrate rates");
    refuse("step", mm(text, sizeof text, "0.1", "euler", "-0.01", "0.04"), "", TAUT_ERROR_USAGE,
           "step");
    refuse("horizon", mm(text, sizeof text, "0.1", "euler", "0.01", "0"), "", TAUT_ERROR_USAGE,
           "horizon");
    refuse("order",
           "[state]\nx, y\n[rates]\nx' = 0\ny' = x - y\n[observables]\nx\n[stepper]\norder = "
           "7\nhorizon = 1\n",
           "", TAUT_ERROR_USAGE, "0 to 6");
    refuse("order beyond all numbers",
           "[state]\nx, y\n[rates]\nx' = 0\ny' = x - y\n[observables]\nx\n[stepper]\norder = "
           "1e300\nhorizon = 1\n",
           "", TAUT_ERROR_USAGE, "0 to 6");
    refuse("half an order",
           "[state]\nx, y\n[rates]\nx' = 0\ny' = x - y\n[observables]\nx\n[stepper]\norder = "
           "1.5\nhorizon = 1\n",
           "", TAUT_ERROR_USAGE, "0 to 6");
    refuse("command",
           "[state]\nx, y\n[observables]\nx\n[stepper]\ncommand = ./legacy\nhorizon = 1\n", "",
           TAUT_ERROR_REFUSED, "allow_command");
    refuse("library",
           "[state]\nx, y\n[observables]\nx\n[stepper]\nlibrary = ./legacy.so\nhorizon = 1\n", "",
           TAUT_ERROR_REFUSED, "allow_command");
    refuse("NaN",
           "[state]\nx, y\n[rates]\nx' = 0\ny' = sqrt(-1 - "
           "y^2)\n[observables]\nx\n[stepper]\nhorizon = 1\n",
           "", TAUT_ERROR_EVALUATE, "y");
}

/* What does not converge keeps its initial state and tells how far it came. */
static void failures(void)
{
    const char *init = "y = 1";
    taut_load how = {.size = sizeof how, .init = &init, .init_count = 1};
    check_group("failures");
    projected p = project_model("michaelis_menten", NULL, "iterate=plain passes=20");
    check_equal("20 passes", p.code, TAUT_ERROR_CONVERGE);
    if (p.projection)
        check_row(p.r.q[1] == 0 && p.stages == 1 && p.stage[0].iterations == 20,
                  "the initial state is kept, %lld iterations are reported",
                  (long long)p.stage[0].iterations);
    projected_refused("20 passes", &p, TAUT_ERROR_CONVERGE, "allow more passes");
    p = project_model("[state]\nx, y\n[rates]\nx' = 0\ny' = 100*(x - y)\n[stepper]\nmethod = "
                      "euler\nhorizon = 0.03\n[observables]\nx\n",
                      &how, "iterate=plain order=0");
    projected_refused("unstable inside", &p, TAUT_ERROR_CONVERGE, "unstable");
}

/* ---- a C function */

static int advance_mm(void *user, double t, double H, double *z)
{
    int *calls = user;
    (void)t;
    if (++*calls == calls[1])
        return calls[2];
    for (int k = 0; k < 4; k++) {
        double x = z[0], y = z[1];
        z[0] = x + H / 4 * (-x + (x + 0.5) * y);
        z[1] = y + H / 4 * ((x - (x + 1) * y) / 0.1);
    }
    return 0;
}

static int advance_nan(void *user, double t, double H, double *z)
{
    (void)user;
    (void)t;
    (void)H;
    z[1] = NAN;
    return 0;
}

static void functions(void)
{
    taut_index observable = 0, wrong = 2;
    double start[] = {1, 0};
    const char *names[] = {"substrate", "complex"};
    int calls[3] = {0};
    taut_black_box box = {.size = sizeof box,
                          .variables = 2,
                          .observables = 1,
                          .observable = &observable,
                          .start = start,
                          .names = names,
                          .horizon = 0.04,
                          .advance = advance_mm,
                          .user = calls};
    projected inside = project_model("michaelis_menten", NULL, "order=2"), p = {0};
    check_group("a C function");
    p.code = taut_system_from_flow(&box, NULL, &p.system, &p.error);
    projected_run(&p, "order=2", NULL);
    if (projected_good("function", &p) && projected_good("inside", &inside)) {
        check_near("the same result as inside", p.r.q[1], inside.r.q[1], 4e-15);
        check_equal("calls", p.r.statistics.micro_steps, 11 + 6 + 2 * 5 + 3 * 4);
        check_equal("all of them are counted", calls[0], 11 + 6 + 2 * 5 + 3 * 4);
        char name[40];
        taut_system_name(p.system, TAUT_BOND, 0, name, sizeof name);
        check_contains("the observable has a name", name, "substrate");
    }
    projected_drop(&p);
    projected_drop(&inside);

    /* it cannot go on from an accelerated point: back to the best one, and on */
    int sometimes[3] = {0, 13, 1};
    box.user = sometimes;
    p.code = taut_system_from_flow(&box, NULL, &p.system, &p.error);
    projected_run(&p, "order=0", NULL);
    if (projected_good("one call fails", &p))
        check_near("one call fails", p.r.q[1], 0.498886090308181, 1e-13);
    projected_drop(&p);
    int always[3] = {0, 10, 1}, stop[3] = {0, 3, -1};
    box.user = always;
    p.code = taut_system_from_flow(&box, NULL, &p.system, &p.error);
    projected_run(&p, "order=0", NULL);
    projected_refused("the first call fails", &p, TAUT_ERROR_EVALUATE, "cannot go on");
    box.user = stop;
    p.code = taut_system_from_flow(&box, NULL, &p.system, &p.error);
    projected_run(&p, "order=0", NULL);
    projected_refused("stop", &p, TAUT_ERROR_STOPPED, "asked to stop");
    check_equal("it is not called again", stop[0], 3);
    box.advance = advance_nan;
    p.code = taut_system_from_flow(&box, NULL, &p.system, &p.error);
    projected_run(&p, "order=0", NULL);
    projected_refused("NaN", &p, TAUT_ERROR_EVALUATE, "complex");

    check_equal("no such variable",
                taut_system_from_flow(&(taut_black_box){.size = sizeof(taut_black_box),
                                                        .variables = 2,
                                                        .observables = 1,
                                                        .observable = &wrong,
                                                        .advance = advance_nan},
                                      NULL, &p.system, &p.error),
                TAUT_ERROR_USAGE);
    check_equal(
        "no function",
        taut_system_from_flow(&(taut_black_box){.size = sizeof(taut_black_box), .variables = 2},
                              NULL, &p.system, &p.error),
        TAUT_ERROR_USAGE);
}

/* Iterations allocate nothing: five and a hundred cost the same number of calls. */
static void counts(void)
{
    int64_t calls[2] = {0};
    check_group("allocations");
    for (int k = 0; k < 2; k++) {
        faulty f = {0};
        taut_allocator allocator = faulty_allocator(&f);
        /* the model and the options alone are wanted */
        projected p = project_model("michaelis_menten", NULL, "passes=1");
        taut_projection *made = NULL;
        taut_options_set(p.options, "passes", "1000", NULL);
        taut_options_set(p.options, "iterate", "plain", NULL);
        taut_options_set(p.options, "order", "1", NULL);
        taut_options_set(p.options, "tolerance", k ? "1e-14" : "1e-3", NULL);
        check_equal("code", taut_project(p.system, p.options, &allocator, &made, &p.error), 0);
        calls[k] = f.calls;
        taut_projection_destroy(made);
        check_equal("left", f.live, 0);
        projected_drop(&p);
    }
    check_equal("calls", calls[1], calls[0]);
}

/* ---- memory: every allocation that fails gives an error and leaks nothing */

static void memory(void)
{
    static const char balance[] =
        "[state]\na, b, c\n[rates]\na' = -50*a + 100*b\nb' = 50*a - 100*b\nc' = 0\n[invariants]\n"
        "all = a + b + c\n[stepper]\nhorizon = 0.01\n[observables]\nc\n[start]\na = 1, b = 5, c = "
        "3\n";
    check_group("memory");
    projected p = {0};
    p.code = taut_system_parse(balance, strlen(balance), "model.taut", NULL, &p.system, &p.error);
    for (int64_t k = 1; k < 500 && p.code == 0; k = faulty_next(k)) {
        faulty f = {.fail = k};
        taut_allocator allocator = faulty_allocator(&f);
        taut_projection *made = NULL;
        int code = taut_project(p.system, NULL, &allocator, &made, &p.error);
        taut_projection_destroy(made);
        check_row(f.live == 0, "call %lld of %lld: %lld blocks left", (long long)k,
                  (long long)f.calls, (long long)f.live);
        if (!f.failed) {
            check_equal("without a failure", code, 0);
            break;
        }
        check_equal("failed allocation", code, TAUT_ERROR_MEMORY);
    }
    projected_drop(&p);
}

int main(void)
{
    michaelis_menten();
    other_steppers();
    mixed();
    five_dimensions();
    analytic();
    forced();
    acceleration();
    refusals();
    failures();
    functions();
    counts();
    memory();
    return check_done();
}
