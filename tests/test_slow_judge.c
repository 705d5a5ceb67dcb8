/* test_slow_judge.c - the judge of slow points (slow.h) against slow points that are known
 * exactly, and series against the judge where slow and fast are weakly separated: what it states is
 * neither too little nor of no use.
 *
 * Limits, written down before anything was measured:
 *
 *     judge     off the exact point by at most 8 u max |q| in q,
 *     that times the slowest frequency and 8 u max |v| in v, or by what
 *               it says itself; which is at most four times as much
 *     series    at most three times what it states off the judge's point,
 *     and the judge is as sure; at most one in ten of the
 *               statements is more than 100 times the distance or the doubt,
 *               whichever is larger; failures keep the initial state and state
 *               both rates
 *
 * TAUT_TEST_LONG: more starts. */
#include "judge/slow.h"
#include "support/project.h"
#include "support/stated.h"
#include "support/uniform.h"

static const char *const rods =
    "[parameters]\nomega = 1000, lift = 0\n[coordinates]\nx1, y1, x2, y2\n[bonds]\n"
    "inner = sqrt(x1^2 + y1^2) - 1 stiffness omega^2\n"
    "outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 stiffness omega^2\n[start]\n"
    "x1 = 1, y1 = lift, x2 = 2, y1' = -0.5, y2' = 0.5\n";

/* A spring pulled by a soft one that is a fifth as fast. M = 1, so slow motions are those of the
 * slow mode of [[25.5, -0.5], [-0.5, 1.5]]: a foot point y is left where it is, and x =
 * 0.5/(25.5 - w) y with w the smaller eigenvalue. */
static const char *const linear = "[coordinates]\nx, y\n[potential]\n(x - y)^2/4 + "
                                  "y^2/2\n[bonds]\nspring = x stiffness 25\n[start]\n"
                                  "x = 0.3, y = 0.7, x' = -0.2, y' = 0.4\n";

/* A double pendulum by its stiff potential, and by bonds. */
#define PENDULUM                                                                                   \
    "[parameters]\nscale = 1e4\n[coordinates]\nx1, y1, x2, y2\n[definitions]\na = sqrt(x1^2 + "    \
    "y1^2) - 1\n"                                                                                  \
    "b = sqrt((x1-x2)^2 + (y1-y2)^2) - 1\n[potential]\ny1 + y2\n[start]\nx1 = 1, y1 = 0, x2 = "    \
    "1.8, y2 = 0.6, y1' = -0.5, y2' = "                                                            \
    "0.5\n"
static const char *const potential = PENDULUM "[stiff potential]\n(a^2 + b^2)/2 scale scale\n";
static const char *const bonds =
    PENDULUM "[bonds]\ninner = a stiffness scale\nouter = b stiffness scale\n";

/* Paired with what is exact, and where that comes from. */
typedef struct exact {
    const char *name, *model, *set;
    int coordinates;
    double q[4], v[4];
} exact;

/* The slow point over the foot point of the start, or of (q, v). */
static int judge_start(const taut_system *system, double *q, double *v, slow_judge *s,
                       slow_point *p)
{
    taut_error error;
    int status = slow_create(s, system, 0);
    if (status == 0 && !q) {
        q = slow_new(s, s->n);
        v = slow_new(s, s->n);
        status = taut_context_start(s->context, 0, q, v, &error);
    }
    return status == 0 ? slow_find(s, q, v, 0, 0, p) : status;
}

static taut_system *read_model(const char *model, const char *set)
{
    taut_load how = {.size = sizeof how, .set = &set, .set_count = set != NULL};
    taut_system *system = NULL;
    taut_error error = {0};
    char path[1200];
    if (strchr(model, '\n')) {
        taut_system_parse(model, strlen(model), "model.taut", &how, &system, &error);
    } else {
        snprintf(path, sizeof path, "%s/models/%s.taut", TAUT_SOURCE_DIR, model);
        taut_system_load(path, &how, &system, &error);
    }
    check_row(system != NULL, "%s: %s", model, error.message);
    return system;
}

static void test_exact_point(const exact *e)
{
    static slow_judge s;
    slow_point p;
    taut_system *system = read_model(e->model, e->set);
    if (system &&
        check_row(judge_start(system, NULL, NULL, &s, &p) == 0, "%s: no slow point", e->name)) {
        double rounding = 8 * DBL_EPSILON * p.size_q,
               rounding_v = rounding * p.slowest + 8 * DBL_EPSILON * p.size_v;
        check_below(e->name, slow_far(e->coordinates, p.q, e->q), fmax(rounding, p.doubt_q));
        check_below(e->name, slow_far(e->coordinates, p.v, e->v), fmax(rounding_v, p.doubt_v));
        check_below("doubt in q", p.doubt_q, 4 * rounding);
        check_below("doubt in v", p.doubt_v, 4 * rounding_v);
    }
    slow_destroy(&s);
    taut_system_destroy(system);
}

static void test_exact(void)
{
    check_group("exact slow points");
    double w = (27 - sqrt(24. * 24 + 1)) / 2, slope = 0.5 / (25.5 - w);
    const exact rows[] = {
        {"(31)-(32) of A [docs/sources.md, A]",
         rods,
         NULL,
         4,
         {1.000001500045071096781, 0, 2.000002750073263937993, 0},
         {0, -0.5, 0, 0.5}},
        {"(29)-(30) of A, omega = 100 [oracle/slow_double_pendulum.py]",
         "double_pendulum",
         "omega=100",
         4,
         {0.9749146817746796991623559, 0.2229211419632771447242181, 1.952142306242345609432948,
          0.01040372687242432647425956},
         {0.08365107311398860436227776, -0.365082966438613662634376, 0.2596314282082050264496514,
          0.4435590339924478969424897}},
        {"forced_spring [A (5)]", "forced_spring", NULL, 1, {1e4 / (1e4 - 1)}, {0}},
        /* omega^2 r^3 (r - 1) = 4 M^2, M = r v/2 with v = 1 at the foot point and above it */
        {"free_pendulum [docs/sources.md, A]",
         "free_pendulum",
         NULL,
         2,
         {(1 + sqrt(1 + 4e-6)) / 2, 0},
         {0, 1}},
        {"pendulum [docs/sources.md, B]", "pendulum", NULL, 2, {1 - 3e-12, 0}, {0, 0}},
        {"two modes", linear, NULL, 2, {slope * 0.7, 0.7}, {slope * 0.4, 0.4}},
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        test_exact_point(&rows[k]);
}

/* ---- what series states */

static struct {
    int rows, refused, useless;
    double worst;
} seen;

/* A failure for want of separation keeps the start and tells both rates. */
static void check_refusal(const char *what, const projected *p)
{
    taut_sizes sizes = {.size = sizeof sizes};
    taut_system_sizes_get(p->system, &sizes, NULL);
    size_t bytes = (size_t)sizes.coordinates * sizeof(double);
    seen.refused++;
    check_contains(what, p->error.message, "a rate of about ");
    check_contains(what, p->error.message, " oscillates at ");
    check_row(memcmp(p->r.q, p->r.start_q, bytes) == 0 && memcmp(p->r.v, p->r.start_v, bytes) == 0,
              "%s: the start is lost", what);
}

/* The result of series against what the judge, which has the same system or its twin, finds for
 * the start (q, v). */
static void check_statement(const char *what, const projected *p, slow_judge *s, const double *q,
                            const double *v)
{
    slow_point z;
    double stated_q, stated_v;
    if (p->code == TAUT_ERROR_CONVERGE) {
        check_refusal(what, p);
        return;
    }
    if (!projected_good(what, p) ||
        !check_row(stated_accuracy(&p->r, &stated_q, &stated_v), "%s: nothing is stated: %s", what,
                   p->r.explanation) ||
        !check_row(slow_find(s, q, v, 0.3 * stated_q, 0.3 * stated_v, &z) == 0, "%s: no judge",
                   what))
        return;
    double rounding = 8 * DBL_EPSILON * z.size_q,
           rounding_v = rounding * z.slowest + 8 * DBL_EPSILON * z.size_v;
    double known_q = fmax(slow_far(s->n, p->r.q, z.q), z.doubt_q),
           known_v = fmax(slow_far(s->n, p->r.v, z.v), z.doubt_v);
    check_row(known_q <= 3 * stated_q + rounding && known_v <= 3 * stated_v + rounding_v,
              "%s: off or unsure by %.3g in q, %.3g in v; stated %.3g, %.3g", what, known_q,
              known_v, stated_q, stated_v);
    seen.rows++;
    seen.useless +=
        stated_q > 100 * (known_q + rounding) && stated_v > 100 * (known_v + rounding_v);
    seen.worst =
        fmax(seen.worst, fmax(known_q / (stated_q + rounding), known_v / (stated_v + rounding_v)));
}

/* From a start that is off in q and in v at random. `twin` is what the judge takes for the
 * model, or NULL. */
static void test_statement(const char *model, const char *set, const char *twin, double off_q,
                           double off_v)
{
    static slow_judge s;
    taut_system *system = read_model(twin ? twin : model, set);
    char what[120], name[96];
    snprintf(what, sizeof what, "%s, %s", twin ? "stiff potential" : model, set ? set : "as it is");
    if (system && check_row(slow_create(&s, system, 0) == 0, "%s: no judge", what)) {
        double *q = slow_new(&s, s.n), *v = slow_new(&s, s.n);
        char *text = TAUT_NEW(&s.arena, char, 300 * (int64_t)s.n + 1);
        taut_error error;
        taut_context_start(s.context, 0, q, v, &error);
        for (taut_index i = 0, used = 0; i < s.n; i++) {
            q[i] += uniform(-off_q, off_q);
            v[i] += uniform(-off_v, off_v);
            taut_system_name(system, TAUT_COORDINATE, i, name, sizeof name);
            used += snprintf(text + used, 300, "%s = %.17g\n%s' = %.17g\n", name, q[i], name, v[i]);
        }
        taut_load how = {
            .size = sizeof how, .set = &set, .set_count = set != NULL, .start_text = text};
        projected p = project_model(model, &how, "method=series");
        check_statement(what, &p, &s, q, v);
        projected_drop(&p);
        slow_destroy(&s);
    }
    taut_system_destroy(system);
}

/* From well separated to not at all: the double pendulum and the chain of Fermi, Pasta and Ulam
 * have slow rates of about 1 and 2. */
static void test_statements(void)
{
    static const struct {
        const char *model, *set;
        double off_q, off_v;
        int count;
        const char *twin;
    } rows[] = {
        {"fpu", "omega=30", 0.2, 0.3, 3, NULL},
        {"fpu", "omega=15", 0.2, 0.3, 6, NULL},
        {"fpu", "omega=10", 0.2, 0.3, 4, NULL},
        {"double_pendulum", "omega=30", 0.05, 0.5, 3, NULL},
        {"double_pendulum", "omega=12", 0.05, 0.5, 4, NULL},
        {"triatomic", "omega=20", 0.02, 0.5, 3, NULL},
        {"butane", NULL, 0, 0, 1, NULL},
        {"butane", NULL, 0.003, 0.3, 3, NULL},
        {"butane", "twist=3", 0, 0, 1, NULL},
        {"butane", "twist=1.5", 0, 0, 1, NULL},
        {"butane", "twist=0.6", 0, 0, 1, NULL}, /* not separated */
        {potential, "scale=2500", 0.1, 0.3, 2, bonds},
        {potential, "scale=900", 0.1, 0.3, 3, bonds},
        {potential, "scale=225", 0.1, 0.3, 3, bonds},
        {potential, "scale=40", 0.1, 0.3, 1, bonds}, /* not separated */
    };
    check_group("what series states");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        for (int i = 0; i < rows[k].count * (getenv("TAUT_TEST_LONG") && rows[k].count > 1 ? 6 : 1);
             i++)
            test_statement(rows[k].model, rows[k].set, rows[k].twin, rows[k].off_q, rows[k].off_v);
    check_row(seen.rows >= 25 && seen.refused >= 2, "%d rows, %d refused", seen.rows, seen.refused);
    check_row(10 * seen.useless <= seen.rows, "%d of %d statements are of no use", seen.useless,
              seen.rows);
    check_row(seen.worst <= 3, "worst: %.3g of what is stated, of %d (%d refused)", seen.worst,
              seen.rows, seen.refused);
}

int main(void)
{
    test_exact();
    test_statements();
    return check_done();
}
