/* test_expansion.c - slow points as functions of the compliance: multipliers extrapolated to
 * infinite stiffness, coefficients of B (2.6). */
#include <stdlib.h>

#include "support/project.h"
#include "support/two_rods.h"

/* Multipliers of (31)-(32), exactly 3/2 and 5/4 [docs/sources.md, A], by a projection of the stiff
 * system and extrapolation. Returns the error. */
static double extrapolated(const char *method, const char *omega, int levels)
{
    const char *set[] = {omega, "lift=0"};
    taut_load how = {.size = sizeof how, .set = set, .set_count = 2};
    char options[60];
    snprintf(options, sizeof options, "method=%s richardson=%d", method, levels);
    projected p = project_model("double_pendulum", &how, options);
    double off = NAN;
    if (projected_good(options, &p)) {
        off = fmax(fabs(p.r.lambda[0] - 1.5), fabs(p.r.lambda[1] - 1.25));
        check_row((strstr(p.r.explanation, "extrapolated") != NULL) == (levels > 0), "%s",
                  p.r.explanation);
    }
    projected_drop(&p);
    return off;
}

static void test_richardson(void)
{
    static const char *const methods[] = {"ipa", "kernel", "series"};
    check_group("Richardson [A 5.4]");
    for (int k = 0; k < 3; k++) {
        check_below(methods[k], extrapolated(methods[k], "omega=1000", 2), 2e-8);
        check_below(methods[k], extrapolated(methods[k], "omega=1000", 1), 2e-7);
    }
    /* orders: what is left is O(omega^-2), O(omega^-4), O(omega^-6) */
    for (int levels = 0; levels <= 2; levels++) {
        double ratio = extrapolated("series", "omega=250", levels) /
                       extrapolated("series", "omega=500", levels),
               expected = pow(4, levels + 1);
        check_row(ratio > 0.9 * expected && ratio < 1.1 * expected,
                  "%d levels: twice omega divides the error by %.4g, not %g", levels, ratio,
                  expected);
    }
}

/* The same from C functions, whose compliances are numbers, not expressions. */
static void test_richardson_callbacks(void)
{
    check_group("Richardson, C functions");
    const double q[4] = {1, 0, 2, 0}, v[4] = {0, -0.5, 0, 0.5}, c[2] = {1e-6, 1e-6};
    taut_callbacks calls = two_rods_calls(c, q, v);
    static const char *const ways[] = {"method=ipa richardson=2", "method=kernel richardson=2"};
    for (int k = 0; k < 2; k++) {
        projected p = {0};
        p.code = taut_system_from_callbacks(&calls, NULL, &p.system, &p.error);
        projected_run(&p, ways[k], NULL);
        if (projected_good(ways[k], &p)) {
            check_near(ways[k], p.r.lambda[0], 1.5, 2e-8);
            check_near(ways[k], p.r.lambda[1], 1.25, 2e-8);
        }
        projected_drop(&p);
    }
}

static void test_richardson_refusals(void)
{
    static const struct {
        const char *model, *options, *words;
    } rows[] = {
        {"slider_crank", "method=constraint richardson=1", "already"},
        {"[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2+y^2) - 1\n[start]\nx = 1\n",
         "method=auto richardson=1", "already"},
        {"michaelis_menten", "method=difference richardson=1", "no springs"},
        {"quartic_rod", "method=series richardson=1", "stiff potential"},
        {"quartic_rod", "method=series expansion=yes", "expansion: projection"},
        {"double_pendulum", "method=ipa expansion=yes", "expansion: projection"},
        {"double_pendulum", "method=series expansion=yes hold=y1", "held"},
    };
    check_group("refused");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        projected p = project_model(rows[k].model, NULL, rows[k].options);
        projected_refused(rows[k].options, &p, TAUT_ERROR_REFUSED, rows[k].words);
    }
}

/* ---- the expansion B (2.6) */

static projected expanded(const char *model, const char *from)
{
    char options[80];
    taut_load how = {.size = sizeof how, .from = atof(from)};
    snprintf(options, sizeof options, "method=series from=%s expansion=yes", from);
    return project_model(model, &how, options);
}

/* B (1.1) at th = pi/2, at rest: r = 1 - 3 eps^4 [docs/sources.md, B], so that y^1 = 0 and y^2 =
 * (-3, 0). */
static void test_expansion_pendulum(void)
{
    const double *q[3], *v[3];
    double eps2 = 0;
    check_group("B (2.6), pendulum");
    projected p = expanded("[coordinates]\ny1, y2\n[potential]\ny2\n[bonds]\nrod = sqrt(y1^2+y2^2) "
                           "- 1 compliance 1e-4\n[start]\ny1 = 1\n",
                           "0");
    if (projected_good("at rest", &p)) {
        for (int k = 0; k < 3; k++)
            check_row(taut_projection_expansion(p.projection, k, &q[k], &v[k], &eps2), "no term %d",
                      k);
        check_near("eps2", eps2, 1e-4, 0);
        check_near("y^0", q[0][0], 1, 0);
        check_near("y^1", q[1][0], 0, 1e-15);
        check_near("y^2", q[2][0], -3, 1e-14);
        check_near("y^2 y", q[2][1], 0, 1e-15);
        check_row(!taut_projection_expansion(p.projection, 3, NULL, NULL, NULL), "a term too many");
    }
    projected_drop(&p);
    /* A 2.3: r' = 0 and omega^2 r^3 (r - 1) = (r u)^2, u the speed across the rigid bond, which the
     * fibre keeps. So r (r - 1) = eps^2 u^2, and r = 1 + eps^2 u^2 - eps^4 u^4 + ... */
    p = expanded("[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2+y^2) - 1 stiffness 1e6\n[start]\nx "
                 "= 1.02, y' = 1.5, x' = 0.2\n",
                 "0");
    if (projected_good("free", &p)) {
        for (int k = 0; k < 3; k++)
            taut_projection_expansion(p.projection, k, &q[k], &v[k], &eps2);
        check_near("y^1", q[1][0], 2.25, 1e-14);
        check_near("y^2", q[2][0], -2.25 * 2.25, 1e-13);
        check_near("v^1", v[1][0], 0, 1e-14);
        check_near("v^2", v[2][0], 0, 1e-13);
    }
    projected_drop(&p);
}

/* A (5): q = cos t/(1 - eps^2) = cos t (1 + eps^2 + eps^4 + ...). Damped, d fixed: (1 - eps^2 +
 * i d eps^2) B = 1 + i d eps^2, so that B = 1 + eps^2 + eps^4 (1 - i d) + ...: the damping shows
 * in the second term. */
static void test_expansion_forced(void)
{
    const double *q[3], *v[3];
    check_group("B (2.6), forced");
    projected p = expanded(
        "[coordinates]\nq\n[bonds]\ns = q - cos(t) stiffness 1e4\n[start]\nq = 1.1\n", "0.7");
    if (projected_good("forced", &p))
        for (int k = 0; k < 3; k++) {
            taut_projection_expansion(p.projection, k, &q[k], &v[k], NULL);
            check_near("q", q[k][0], cos(0.7), 1e-15);
            check_near("v", v[k][0], -sin(0.7), 1e-15);
        }
    projected_drop(&p);
    p = expanded(
        "[coordinates]\nq\n[bonds]\ns = q - cos(t) stiffness 1e4 damping 20\n[start]\nq = 1.1\n",
        "0.7");
    if (projected_good("damped", &p)) {
        for (int k = 0; k < 3; k++)
            taut_projection_expansion(p.projection, k, &q[k], &v[k], NULL);
        check_near("q^1", q[1][0], cos(0.7), 1e-14);
        check_near("q^2", q[2][0], cos(0.7) + 20 * sin(0.7), 1e-13); /* Re (1 - 20 i) e^{it} */
        check_near("v^2", v[2][0], -sin(0.7) + 20 * cos(0.7), 1e-13);
    }
    projected_drop(&p);
}

/* Puts `value` in the place of every "%s". */
static void fill_in(const char *model, const char *value, char *text, size_t size)
{
    text[0] = 0;
    for (const char *next; (next = strstr(model, "%s")); model = next + 2) {
        snprintf(text + strlen(text), size - strlen(text), "%.*s%s", (int)(next - model), model,
                 value);
    }
    snprintf(text + strlen(text), size - strlen(text), "%s", model);
}

/* What three terms leave is O(eps^6): against series itself at three stiffnesses, for masses
 * that vary, a mass matrix, moving, damped, rigid and soft bonds. */
static void test_expansion_order(void)
{
    static const struct {
        const char *name, *model; /* %s is the compliance */
    } rows[] = {
        {"double pendulum", "[coordinates]\nx1, y1, x2, y2\n[bonds]\ninner = sqrt(x1^2 + y1^2) - 1 "
                            "compliance %s\nouter = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 compliance "
                            "2*(%s)\n[start]\nx1 = 1, y1 = 0.25, x2 = 2, y1' = -0.5, y2' = 0.5\n"},
        {"kinetic", "[coordinates]\nr, th\n[kinetic]\n(r'^2 + "
                    "r^2*th'^2)/2\n[potential]\n-r*cos(th)\n[bonds]\nrod = r - 1 compliance "
                    "%s\n[start]\nr = 1.1, th = 1, th' = 0.4\n"},
        {"mass matrix",
         "[coordinates]\nu, w\n[mass]\nu = 5, w = 1\nM[u,w] = 1\n[potential]\nu + w\n[bonds]\nrod "
         "= sqrt((2*u)^2+(u+w)^2) - 1 compliance %s\n[start]\nu = 0.4, w = -0.2, u' = 0.3\n"},
        {"varying mass",
         "[coordinates]\nx, y\n[mass]\nx = 1 + y^2/4, y = 2 + sin(x)\n[potential]\ny\n[bonds]\nrod "
         "= sqrt(x^2+y^2) - 1 compliance %s\n[start]\nx = 0.8, y = 0.5, x' = 0.3\n"},
        {"all kinds", "[coordinates]\nx, y, z, w\n[potential]\ny + w\n[forces]\nz = "
                      "-0.3*z'\n[bonds]\nrod = sqrt((x-0.1*sin(t))^2+y^2) - 1 compliance %s\nbar = "
                      "sqrt((x-z)^2+(y-w)^2) - 1\nband = z - 1 stiffness 3 damping 0.2 "
                      "soft\n[start]\nx = 0.7, y = -0.6, z = 1.6, w = -0.7, x' = 0.2, w' = 0.1\n"},
    };
    static const char *const compliance[] = {"4e-4", "2e-4", "1e-4"};
    check_group("B (2.6), order");
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        double left[3] = {0};
        for (int k = 0; k < 3; k++) {
            char model[900];
            const double *q[3], *v[3];
            double eps2 = 0;
            fill_in(rows[row].model, compliance[k], model, sizeof model);
            projected p = expanded(model, "0.2");
            taut_sizes sizes = {.size = sizeof sizes};
            if (projected_good(rows[row].name, &p))
                taut_system_sizes_get(p.system, &sizes, NULL);
            for (int j = 0; j < 3 && sizes.coordinates > 0; j++)
                taut_projection_expansion(p.projection, j, &q[j], &v[j], &eps2);
            for (taut_index i = 0; i < sizes.coordinates; i++) {
                left[k] = fmax(left[k],
                               fabs(p.r.q[i] - q[0][i] - eps2 * q[1][i] - eps2 * eps2 * q[2][i]));
                left[k] = fmax(left[k],
                               fabs(p.r.v[i] - v[0][i] - eps2 * v[1][i] - eps2 * eps2 * v[2][i]));
            }
            projected_drop(&p);
        }
        for (int k = 0; k < 2; k++)
            check_row(left[k] / left[k + 1] > 7 && left[k] / left[k + 1] < 9,
                      "%s: left %.3g, %.3g: not of third order", rows[row].name, left[k],
                      left[k + 1]);
    }
}

int main(void)
{
    test_richardson();
    test_richardson_callbacks();
    test_richardson_refusals();
    test_expansion_pendulum();
    test_expansion_forced();
    test_expansion_order();
    return check_done();
}
