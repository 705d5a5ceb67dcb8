/* test_project.c - slow points: table 1 and the points and multipliers of Ariel, Sanz-Serna,
 * Tsai 2012 (A), nonlinear and linear oracles, costs, refusals, failures. Reference numbers:
 * docs/sources.md, A, the table of A recomputed in 30 digits. */
#include <stdlib.h>
#include <taut/taut.h>

#include "support/project.h"
#include "filter/filter_kernels.h"

/* With one or two --set. */
static projected make(const char *model, const char *set, const char *options,
                      const taut_allocator *allocator)
{
    char one[100], two[100];
    const char *sets[2] = {one, two};
    taut_load how = {.size = sizeof how, .set = sets};
    how.set_count = sscanf(set, "%99s %99s", one, two);
    how.set_count = how.set_count < 0 ? 0 : how.set_count;
    return project_model_with(model, &how, options, allocator);
}

/* docs/sources.md, A, table 1: g1, g2, gdot1, gdot2 of every pass, for omega = 1000 and 10000. */
static const double table_1[2][5][4] = {
    {{-3.399540e-4, -2.413246e-4, 2.326129e-3, 5.256441e-3},
     {9.719184e-7, 8.113579e-7, 2.009049e-5, 1.182009e-5},
     {1.007242e-6, 8.951848e-7, 2.431746e-6, 1.610253e-6},
     {1.007216e-6, 8.952275e-7, 2.426283e-6, 1.612192e-6},
     {1.007216e-6, 8.952276e-7, 2.426279e-6, 1.612199e-6}},
    {{-3.402260e-4, -2.410851e-4, 2.339191e-3, 5.281840e-3},
     {-2.996535e-8, -7.487830e-8, 1.751256e-5, 1.019717e-5},
     {1.009439e-8, 8.911176e-9, 2.999643e-8, 1.456571e-8},
     {1.007230e-8, 8.953261e-9, 2.427807e-8, 1.614728e-8},
     {1.007228e-8, 8.953298e-9, 2.427409e-8, 1.615381e-8}},
};

/* Half a unit of the last of seven digits, and the rounding of g in double precision. */
static double half_digit(double value, double rounding)
{
    return 0.51 * pow(10, floor(log10(fabs(value))) - 6) + rounding;
}

static void test_table_1(void)
{
    static const char *const omega[] = {"omega=1000", "omega=1e4"};
    check_group("A table 1");
    for (int k = 0; k < 2; k++) {
        projected p = make("double_pendulum", omega[k], "method=ipa", NULL);
        if (projected_good(omega[k], &p) && check_equal("passes", p.r.passes, 5)) {
            for (int pass = 1; pass <= 5; pass++) {
                const double *g, *gdot;
                int64_t evaluations;
                taut_projection_pass(p.projection, pass, &g, &gdot, &evaluations);
                check_equal("force evaluations", evaluations, 37 * pass);
                for (int i = 0; i < 2; i++) {
                    const double *row = table_1[k][pass - 1];
                    char what[80];
                    snprintf(what, sizeof what, "%s pass %d, bond %d", omega[k], pass, i + 1);
                    check_near(what, g[i], row[i], half_digit(row[i], 5e-16));
                    check_near(what, gdot[i], row[2 + i],
                               half_digit(row[2 + i], k == 0 ? 1e-13 : 1e-12));
                }
            }
            check_equal("micro-steps", p.r.statistics.micro_steps, 36 * 5);
        }
        projected_drop(&p);
    }
    /* row 0 of the printed table: 3.08(-2) 3.08(-2) -1.21(-1) -2.42(-1) */
    projected p = make("double_pendulum", "omega=1000", "method=ipa", NULL);
    const double *g, *gdot;
    if (projected_good("start", &p) &&
        check_row(taut_projection_pass(p.projection, 0, &g, &gdot, NULL), "no row 0")) {
        check_near("g", g[0], 3.08e-2, 5e-5);
        check_near("gdot", gdot[0], -1.21e-1, 5e-4);
        check_near("gdot", gdot[1], -2.42e-1, 6e-4);
        check_contains("method", p.r.method, "ipa");
    }
    projected_drop(&p);
}

/* Issue 4: the cost is the same for every stiffness within two passes of 37, all converge, and
 * multipliers are right to 1e-6 at omega = 1e8 (against series, from the result). */
static void test_uniform(void)
{
    static const char *const omega[] = {"omega=1000", "omega=1e4", "omega=1e6", "omega=1e8"};
    check_group("cost");
    int64_t least = INT64_MAX, most = 0;
    for (int k = 0; k < 4; k++) {
        projected p = make("double_pendulum", omega[k], "method=ipa", NULL);
        if (projected_good(omega[k], &p)) {
            int64_t count = p.r.statistics.force_evaluations;
            least = count < least ? count : least;
            most = count > most ? count : most;
        }
        /* the multipliers depend on where the passes have led to: (x1, .., y2') from the result */
        if (k == 3 && p.projection) {
            static const char *const names[] = {"x1", "y1", "x2", "y2"};
            char text[1000] = "", set[] = "omega=1e8";
            const char *sets[] = {set};
            for (int i = 0; i < 4; i++)
                snprintf(text + strlen(text), sizeof text - strlen(text),
                         "%s = %.17g\n%s' = %.17g\n", names[i], p.r.q[i], names[i], p.r.v[i]);
            projected s = project_model(
                "double_pendulum",
                &(taut_load){
                    .size = sizeof(taut_load), .set = sets, .set_count = 1, .start_text = text},
                "method=series");
            for (int i = 0; i < 2 && projected_good("series", &s); i++)
                check_near("lambda at omega = 1e8", p.r.lambda[i], s.r.lambda[i], 1e-6);
            projected_drop(&s);
        }
        projected_drop(&p);
    }
    check_row(most - least <= 2 * 37, "force evaluations from %lld to %lld", (long long)least,
              (long long)most);
}

/* A 4.2, uncoupled: x'' = -x, y'' = -omega^2 (y - cos t). Every pass moves x by the same factor,
 * W of Verlet's slow solution with 2 sin(theta/2) = h: x moves linearly with the number of
 * passes, which the tolerance sets. */
static void test_glide(void)
{
    static const char *const options[] = {"method=ipa tolerance=1e-2", "method=ipa tolerance=1e-4",
                                          "method=ipa tolerance=1e-6", "method=ipa tolerance=1e-9",
                                          "method=ipa tolerance=1e-13"};
    check_group("A 4.2");
    const char *model = "[coordinates]\nx, y\n[potential]\nx^2/2\n[bonds]\ns = y - cos(t) "
                        "stiffness 400\n[start]\nx = 1, y = 1.1\n";
    double weight[19], h = acos(-1) / 60, factor = 0;
    taut_filter_weights(&taut_filter_cubic, 18, weight);
    for (int j = 0; j <= 18; j++)
        factor += (j ? 2 : 1) * weight[j] * cos(j * 2 * asin(h / 2));
    check_row(fabs(factor - 1) > 1e-6, "the glide of %.3g can be seen", factor - 1);
    int64_t before = 0;
    for (int k = 0; k < 5; k++) {
        projected p = make(model, "", options[k], NULL);
        if (projected_good(options[k], &p)) {
            check_row(p.r.passes > before, "%s: %d passes", options[k], (int)p.r.passes);
            check_near("x", p.r.q[0], pow(factor, (double)p.r.passes), 1e-13);
            check_near("linear", (p.r.q[0] - 1) / (factor - 1), (double)p.r.passes,
                       0.01 * (double)p.r.passes);
            before = p.r.passes;
        }
        projected_drop(&p);
    }
}

/* A (33)-(36) to the printed digits, and docs/sources.md, A to 1e-14. */
static void test_points(void)
{
    check_group("A (33)-(36)");
    projected p = make("double_pendulum", "omega=1000 lift=0", "method=ipa", NULL);
    if (projected_good("omega 1000", &p)) {
        check_equal("passes", p.r.passes, 2);
        check_near("x1", p.r.q[0], 1.000001499566133, 1e-14);
        check_near("x2", p.r.q[2], 2.000002748383089, 1e-14);
        check_near("y1'", p.r.v[1], -0.499995133458306, 1e-13);
        check_near("y2'", p.r.v[3], 0.499997254223812, 1e-13);
        check_near("y1", p.r.q[1], 0, 1e-15);
        check_near("x1'", p.r.v[0], 0, 1e-12);
    }
    projected_drop(&p);
    p = make("double_pendulum", "omega=1e4 lift=0", "method=ipa", NULL);
    if (projected_good("omega 10000", &p)) {
        check_equal("passes", p.r.passes, 2);
        check_near("x1", p.r.q[0], 1.0000000150, 5.1e-11);
        check_near("x2", p.r.q[2], 2.0000000275, 5.1e-11);
        check_near("y1'", p.r.v[1], -0.499999952, 1.1e-9);
        check_near("y2'", p.r.v[3], 0.499999973, 1.1e-9);
    }
    projected_drop(&p);
}

/* Multipliers at (31)-(32): exactly 3/2 and 5/4 [A 5.4]. */
static void test_multipliers(void)
{
    static const double exact[] = {1.5, 1.25};
    static const char *const omega[] = {"omega=500 lift=0", "omega=1000 lift=0",
                                        "omega=2000 lift=0"};
    double lambda[3][2] = {{0}};
    check_group("multipliers");
    for (int k = 0; k < 3; k++) {
        projected p = make("double_pendulum", omega[k], "method=ipa tolerance=1e-11", NULL);
        if (projected_good(omega[k], &p))
            memcpy(lambda[k], p.r.lambda, sizeof lambda[k]);
        projected_drop(&p);
    }
    for (int i = 0; i < 2; i++) {
        double one = (4 * lambda[1][i] - lambda[0][i]) / 3,
               next = (4 * lambda[2][i] - lambda[1][i]) / 3;
        check_near("omega 1000", lambda[1][i], exact[i], 2e-3);
        check_near("Richardson, one level [docs/sources.md, A]", next, exact[i], 2e-7);
        check_near("two levels [docs/sources.md, A]", (16 * next - one) / 15, exact[i], 1e-8);
    }
    static const char *const stiff[] = {"omega=1e5 lift=0", "omega=1e8 lift=0"};
    for (int k = 0; k < 2; k++) { /* C^-1 g would be noise here */
        projected p = make("double_pendulum", stiff[k], "method=ipa", NULL);
        for (int i = 0; i < 2 && projected_good(stiff[k], &p); i++)
            check_near(stiff[k], p.r.lambda[i], exact[i], 1e-8);
        projected_drop(&p);
    }
    projected p = make("double_pendulum", "lift=0", "method=constraint", NULL);
    for (int i = 0; i < 2 && projected_good("constraint", &p); i++)
        check_near("constraint", p.r.lambda[i], exact[i], 1e-14);
    projected_drop(&p);
    /* a bob at rest: the rigid bond carries its weight */
    p = make("[coordinates]\nx, y\n[mass]\nx = 3, y = 3\n[potential]\n3*9.81*y\n[bonds]\nrod = "
             "sqrt(x^2+y^2) - 2\n[start]\ny = -1.5\n",
             "", "", NULL);
    if (projected_good("weight", &p)) {
        check_contains("default method", p.r.method, "constraint");
        check_near("y", p.r.q[1], -2, 1e-15);
        check_near("lambda", p.r.lambda[0], 3 * 9.81, 1e-13);
    }
    projected_drop(&p);
}

/* A 2.3: the slow manifold of the spring pendulum is omega^2 r^3 (r - 1) = 4 M^2 = (r^2 phi')^2,
 * r' = 0. */
static void test_pendulum(void)
{
    check_group("A 2.3");
    const char *model = "[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 stiffness "
                        "1e8\n[start]\nx = 1.01, y' = 1.5, x' = 0.02\n";
    projected p = make(model, "", "method=ipa tolerance=1e-13", NULL);
    if (projected_good("pendulum", &p)) {
        const double *q = p.r.q, *v = p.r.v;
        double r = hypot(q[0], q[1]), spin = q[0] * v[1] - q[1] * v[0];
        /* the filter errs by O((L phi'/omega)^4) */
        check_near("r", r - 1, spin * spin / (1e8 * r * r * r), 2e-13);
        check_below("r'", fabs(q[0] * v[0] + q[1] * v[1]) / r, 1e-11);
    }
    projected_drop(&p);
}

/* A (5): q'' = -omega^2 (q - cos t). Verlet's own slow solution is A_h cos t [docs/sources.md, A];
 * the kernel adds O((L/omega)^4). */
static void test_forced(void)
{
    check_group("A (5)");
    const char *model =
        "[coordinates]\nq\n[bonds]\ns = q - cos(t) stiffness 1e6\n[start]\nq = 1.1, q' = 0.3\n";
    projected p = make(model, "", "method=ipa from=0.7 tolerance=1e-14", NULL);
    if (projected_good("forced", &p)) {
        double h = acos(-1) / 3e3, a = pow(2 * sin(h / 2) / h, 2), amplitude = 1e6 / (1e6 - a);
        check_near("q", p.r.q[0], amplitude * cos(0.7), 2e-9);
        check_near("q'", p.r.v[0], -amplitude * sin(0.7), 2e-7); /* (h^2/6) of Verlet's velocity */
        check_near("time", p.r.t, 0.7, 0);
    }
    projected_drop(&p);
}

/* Two stiffnesses, gravity, masses: the projected state must not oscillate: lambda of ipa and of
 * the acceleration equation agree. */
static void test_several(void)
{
    static const struct {
        const char *model, *set;
        double limit;
    } rows[] = {
        {"[coordinates]\nx1, y1, x2, y2\n[mass]\nx1 = 2, y1 = 2\n[potential]\n2*y1 + "
         "y2\n[bonds]\na = sqrt(x1^2+y1^2) - 1 stiffness 4e8\n"
         "b = sqrt((x1-x2)^2+(y1-y2)^2) - 1 stiffness 1e7\n[start]\nx1 = 1, y1 = 0.1, x2 = 1, y2 = "
         "-1\n",
         "", 2e-3},
        {"double_pendulum_gravity", "eps=1e-4", 2e-3},
        {"chain", "N=6 omega=1e5", 2e-3},
        {"[coordinates]\nx, y\n[mass]\nx = 2, y = 2\nM[x,y] = 1\n[potential]\ny\n[bonds]\nrod = "
         "sqrt(x^2+y^2) - 1 stiffness 1e8\n"
         "[start]\nx = 1.01, y = 0.05\n",
         "", 2e-3},
        {"[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2+y^2) - 1 stiffness "
         "1e8\nband = x - 0.5 stiffness 2 soft\n"
         "[start]\nx = 1.01, y = 0.05\n",
         "", 2e-3},
    };
    check_group("several springs");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        projected p = make(rows[k].model, rows[k].set, "method=ipa", NULL),
                  c = make(rows[k].model, rows[k].set, "method=constraint", NULL);
        if (projected_good("ipa", &p) && projected_good("constraint", &c)) {
            taut_sizes sizes = {.size = sizeof sizes};
            taut_system_sizes_get(p.system, &sizes, NULL);
            for (taut_index i = 0; i < sizes.bonds; i++)
                check_row(fabs(p.r.lambda[i] - c.r.lambda[i]) <
                              rows[k].limit * (1 + fabs(c.r.lambda[i])),
                          "model %d, bond %d: lambda %.9g and %.9g", (int)k, (int)i, p.r.lambda[i],
                          c.r.lambda[i]);
            check_row(p.r.moved_tangential < 0.2 * p.r.moved_normal + 1e-6,
                      "model %d: moved %g normally, %g tangentially", (int)k, p.r.moved_normal,
                      p.r.moved_tangential);
        }
        projected_drop(&p);
        projected_drop(&c);
    }
}

static void test_moved(void)
{
    check_group("moved");
    /* the foot point keeps itself: nothing tangential; from (1.2, 0) to the unit circle: 0.2 */
    projected p = make("[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2 + y^2) - 1\n[start]\nx = 1.2, "
                       "x' = 0.5, y' = 1\n",
                       "", "", NULL);
    if (projected_good("constraint", &p)) {
        check_near("normal", p.r.moved_normal, 0.2, 1e-15);
        check_near("tangential", p.r.moved_tangential, 0, 1e-15);
        check_near("normal velocity", p.r.moved_normal_velocity, 0.5, 1e-15);
        check_near("tangential velocity", p.r.moved_tangential_velocity, 0, 1e-15);
    }
    projected_drop(&p);
    /* by its choice of tangential point ipa is not exact: O(omega^-2) from (31)-(32), |p| 5e-6
     * [docs/sources.md, A] */
    p = make("double_pendulum", "omega=1000 lift=0", "method=ipa", NULL);
    if (projected_good("ipa", &p)) {
        check_near("normal", p.r.moved_normal, hypot(1.5e-6, 2.75e-6), 2e-9);
        check_near("tangential velocity", p.r.moved_tangential_velocity,
                   hypot(4.866542e-6, 2.745776e-6), 1e-8);
    }
    projected_drop(&p);
}

static void test_refusals(void)
{
    static const struct {
        const char *model, *set, *options, *says;
        int code;
    } rows[] = {
        {"slider_crank", "", "method=ipa", "rigid bonds", TAUT_ERROR_REFUSED},
        {"[coordinates]\nx, y, z\n[bonds]\nr = x - 1 rigid\n[stiff potential]\n(y^2 + z^2 - 1)^2/4 "
         "scale 1e6\n[start]\nx = 1, y = 1\n",
         "", "method=ipa", "stiff potential; use projection series", TAUT_ERROR_REFUSED},
        {"michaelis_menten", "", "method=ipa", "does not support a first-order system",
         TAUT_ERROR_REFUSED},
        {"michaelis_menten", "", "method=constraint", "does not support a first-order system",
         TAUT_ERROR_REFUSED},
        {"double_pendulum", "", "method=ipb", "did you mean ipa", TAUT_ERROR_USAGE},
        {"double_pendulum", "", "method=ipa micro-steps=10", "unstable", TAUT_ERROR_STEP},
        {"[coordinates]\nx\n[potential]\nx^2\n", "", "method=constraint", "has none",
         TAUT_ERROR_REFUSED},
    };
    check_group("refusals");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        projected p = make(rows[k].model, rows[k].set, rows[k].options, NULL);
        check_row(p.code == rows[k].code && !p.projection, "row %d: %s: %s", (int)k,
                  taut_code_name(p.code), p.error.message);
        check_contains(rows[k].options, p.error.message, rows[k].says);
        projected_drop(&p);
    }
}

/* Not converged: the initial state is kept, the passes are there. */
static void test_failure(void)
{
    check_group("not converged");
    projected p = make("double_pendulum", "omega=1000", "method=ipa passes=3", NULL);
    check_equal("code", p.code, TAUT_ERROR_CONVERGE);
    if (check_row(p.projection != NULL, "no result")) {
        check_equal("status", p.r.status, TAUT_ERROR_CONVERGE);
        check_equal("passes", p.r.passes, 3);
        check_near("y1", p.r.q[1], 0.25, 0);
        check_near("y1'", p.r.v[1], -0.5, 0);
        check_contains("advice", p.error.message, "number of passes allows more");
    }
    projected_drop(&p);
    p = make("[coordinates]\nx, y\n[bonds]\nnever = x^2 + y^2 + 1\n[start]\nx = 1, y = 2\n", "", "",
             NULL);
    check_equal("constraint", p.code, TAUT_ERROR_CONVERGE);
    if (check_row(p.projection != NULL, "no result"))
        check_near("x", p.r.q[0], 1, 0);
    projected_drop(&p);
}

/* Where ipa does not converge (omega = 50), what is chosen without asking does. */
static void test_unasked(void)
{
    check_group("unasked");
    projected p = make("fpu", "", "", NULL);
    if (projected_good("fpu", &p)) {
        check_contains("method", p.r.method, "series");
        check_contains("explanation", p.r.explanation, "chosen: exact derivatives");
        check_row(p.r.passes < 8, "%d passes", (int)p.r.passes);
    }
    projected_drop(&p);
    p = make("fpu", "", "method=ipa", NULL);
    check_equal("ipa", p.code, TAUT_ERROR_CONVERGE);
    projected_drop(&p);
    /* when all fail, the first reason stands */
    p = make("[coordinates]\nq\n[bonds]\ns = q - cos(30*t) stiffness 400\n[start]\nq = 1.1\n", "",
             "", NULL);
    check_equal("both", p.code, TAUT_ERROR_CONVERGE);
    check_contains("reason", p.error.message, "not separated");
    if (check_row(p.projection != NULL, "no result")) {
        check_contains("method", p.r.method, "auto");
        check_near("kept", p.r.q[0], 1.1, 0);
    }
    projected_drop(&p);
}

/* A chain at rest is slow already; the filter's error would make it worse. What is held goes to
 * the projection that can hold. */
static void test_kept(void)
{
    check_group("kept");
    projected p = make("chain", "", "method=ipa", NULL);
    if (projected_good("chain", &p)) {
        check_contains("explanation", p.r.explanation, "the initial state is kept");
        check_near("moved", p.r.moved_normal, 0, 0);
        check_near("x", p.r.q[38], 20, 0);
        check_near("lambda", p.r.lambda[0], 0, 1e-12); /* straight and at rest, gravity across */
    }
    projected_drop(&p);
    p = make("[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2+y^2) - 1 stiffness 1e6\n[start]\nx = "
             "0.6 hold, y = 0.7\n",
             "", "", NULL);
    if (projected_good("held", &p)) {
        check_contains("method", p.r.method, "series");
        check_near("x", p.r.q[0], 0.6, 0);
        check_near("y", p.r.q[1], 0.8, 1e-15);
    }
    projected_drop(&p);
}

static void test_options(void)
{
    check_group("options");
    /* twice the window in twice the steps: the same step, 73 evaluations a pass, better damping */
    projected p = make("double_pendulum", "omega=1e4",
                       "method=ipa window=37.699111843077517 micro-steps=36", NULL);
    if (projected_good("window", &p)) {
        check_equal("evaluations", p.r.statistics.force_evaluations, 73 * p.r.passes);
        check_row(p.r.passes <= 5, "%d passes", (int)p.r.passes);
    }
    projected_drop(&p);
    p = make("double_pendulum", "omega=1e4", "method=ipa omega=2e4 micro-steps=18 tolerance=1e-4",
             NULL);
    if (projected_good("omega", &p))
        check_contains("explanation", p.r.explanation, "omega 20000");
    projected_drop(&p);
    taut_projection_info info = {.size = sizeof info};
    int count = 0;
    for (; taut_projection_get(count, &info, NULL) == 0; count++)
        check_row(info.name[0] && info.summary[0] && info.reference[0], "row %d is incomplete",
                  count);
    check_equal("rows", count, taut_projection_count());
    check_row(count >= 2, "%d projections", count);
}

static void test_memory(void)
{
    static const char *const options[] = {"method=ipa", "method=constraint"};
    check_group("memory");
    projected p = make("double_pendulum", "omega=1000", options[1], NULL);
    for (int way = 0; way < 2; way++)
        projected_faults(p.system, options[way]);
    projected_drop(&p);
}

/* A long loose chain has no slow motion: auto says so at once, instead of letting filters look
 * for it. */
static void test_hopeless(void)
{
    check_group("auto without separation");
    projected p = make("chain", "N=10000", "method=auto", NULL);
    check_row(p.code == TAUT_ERROR_CONVERGE && strstr(p.error.message, "not separated"), "%s: %s",
              taut_code_name(p.code), p.error.message);
    if (p.projection)
        check_row(p.r.statistics.force_evaluations <= 20, "%lld force evaluations",
                  (long long)p.r.statistics.force_evaluations);
    projected_drop(&p);
}

int main(void)
{
    test_hopeless();
    test_table_1();
    test_uniform();
    test_glide();
    test_points();
    test_multipliers();
    test_pendulum();
    test_forced();
    test_several();
    test_moved();
    test_refusals();
    test_failure();
    test_unasked();
    test_kept();
    test_options();
    test_memory();
    return check_done();
}
