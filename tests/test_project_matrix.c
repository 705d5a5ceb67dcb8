/* test_project_matrix.c - every projection on every shipped model, and on variants that users
 * have: within the accuracy that it states, or a refusal with a reason.
 *
 * Judges, none of which is the method itself (limits were written down before anything was
 * measured):
 *
 *     series, kernel      the distance, in q and in v,
 *     to the slow point of the start as slow.h finds it: at most three times what
 *                         is stated, and rounding: 8 u max |q|,
 *                         for v times the slowest stiff frequency, and 8 u max |v|
 *     ipa, kernel that    the same for the slow point with the foot point of the result,
 *     because filters move along the bonds
 *       has no foot point
 *     all of these
 *     no farther from the slow point than the start was; and the judge itself must be as sure
 *     ipa                 near it [A (15)-(19)],
 *     with the constants of its kernel and of Verlet, on the derivatives of the slow motion;
 *                         not where bonds are damped, which the paper does not treat
 *     constraint
 *     g and gdot at rounding; what moved is M^-1 G^T mu; lambda solves the acceleration equation
 *     difference          values and errors of docs/sources.md, D
 *
 * Then "do no harm": the point of series, given to every method, stays what it is to rounding,
 * without passes or in one; so does a result that is given back to its own method, or moves by
 * no more than three times what that method states. What series states above rounding (slow and
 * fast are weakly separated) is allowed in addition.
 *
 * docs/refusals-projections.md is made here (test_project_matrix FILE), and lists what is
 * refused and what does not converge. */
#include <dirent.h>
#include <float.h>

#include "support/dense.h"
#include "judge/slow.h"
#include "support/matrix_variants.h"
#include "support/project.h"
#include "support/stated.h"

enum { VARIANTS = sizeof variants / sizeof variants[0], MOST_MODELS = 60, MOST_LINE = 900 };

static FILE *page;       /* being written, or NULL */
static char *known_page; /* the committed one */
static long listed;      /* characters that should be in it */

static const double factor = 3; /* of what is stated */

/* ---- states of a subject */

static double farthest(taut_index count, const double *a, const double *b)
{
    double most = 0;
    for (taut_index i = 0; i < count; i++)
        most = fabs(a[i] - b[i]) <= most ? most : fabs(a[i] - b[i]);
    return most;
}

/* Projects the subject from its own start, or from a state as the text of a start. */
static projected project_subject(const subject *s, const char *method, const char *start)
{
    char options[120];
    snprintf(options, sizeof options, "method=%s from=%.17g", method, s->from);
    taut_load how = {.size = sizeof how,
                     .set = &s->set,
                     .set_count = s->set != NULL,
                     .start_text = start,
                     .from = s->from};
    return project_model(s->model, &how, options);
}

/* The state of a result, as the text of a start; to be freed. */
static char *start_of(const projected *p)
{
    taut_sizes sizes = {.size = sizeof sizes};
    taut_system_sizes_get(p->system, &sizes, NULL);
    size_t room = (size_t)sizes.coordinates * 300 + 1, used = 0;
    char *text = calloc(room, 1), name[96];
    for (taut_index i = 0; i < sizes.coordinates && text; i++) {
        taut_system_name(p->system, TAUT_COORDINATE, i, name, sizeof name);
        used += (size_t)snprintf(text + used, room - used, "%s = %.17g\n", name, p->r.q[i]);
        if (sizes.kind == TAUT_MECHANICAL)
            used += (size_t)snprintf(text + used, room - used, "%s' = %.17g\n", name, p->r.v[i]);
    }
    return text;
}

/* A slow point of the judge. */
typedef struct found {
    taut_system *system;
    slow_judge judge;
    slow_point point;
    int status; /* 0: there is one */
} found;

static void found_drop(found *f)
{
    if (f)
        slow_destroy(&f->judge);
    if (f)
        taut_system_destroy(f->system);
    free(f);
}

/* The slow point over the foot point of (q, v), or of the subject's own start when q is NULL,
 * known to a part of `enough`. */
static found *find_slow(const subject *s, const double *q, const double *v, double enough_q,
                        double enough_v)
{
    const double part = 0.5;
    taut_error error;
    found *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->system = subject_judged(s);
    f->status = f->system ? slow_create(&f->judge, f->system, s->from) : -1;
    if (f->status != 0)
        return f;
    if (!q) {
        double *start = slow_new(&f->judge, 2 * (int64_t)f->judge.n);
        f->status =
            taut_context_start(f->judge.context, s->from, start, start + f->judge.n, &error);
        q = start;
        v = start + f->judge.n;
    }
    if (f->status == 0)
        f->status = slow_find(&f->judge, q, v, part * enough_q, part * enough_v, &f->point);
    return f;
}

/* ---- judges */

/* The error of ipa on this slow motion [A (15), (16), (19)]: the fourth moment of its kernel
 * over the window delta; Verlet, whose slow motion is off by h^2/12 q''''/omega^2 and whose
 * velocities by h^2/6 q'''; the stopping test. Twice, for 1/(1 - R) and for derivatives
 * elsewhere. */
static void expect_ipa(const projected *p, const slow_point *r, double *q, double *v)
{
    const char *at = strstr(p->r.explanation, "window "),
               *steps = strstr(p->r.explanation, "Verlet steps of ");
    double window = at ? atof(at + 7) : NAN, h = steps ? atof(steps + 16) : NAN, moment = 0;
    for (int i = 0; i < 4000; i++) { /* the piecewise cubic kernel of A 5.2 */
        double t = (i + 0.5) / 4000,
               cubic = t <= 0.5 ? 2 - 2 * t - 8 * t * t + 8 * t * t * t
                                : 2 - 22.0 / 3 * t + 8 * t * t - 8.0 / 3 * t * t * t;
        moment += 2 * cubic * pow(t, 4) / 4000;
    }
    double filter = fabs(moment) * pow(window, 4) / 24,
           tolerance = fmax(1e-9, 1e-3 * pow(window / (24 * atan(1)), 2));
    *q = 2 * (filter + h * h / 12 / (r->slowest * r->slowest)) * r->derivative[4] + tolerance;
    *v = 2 * (filter * r->derivative[5] + h * h / 6 * r->derivative[3]) + tolerance;
}

/* What is known of a subject: its slow point, and that of series. */
typedef struct known {
    found *start;
    /* of the start from its slow point; velocities over the fastest frequency */
    double off_start;
    char *text;                /* the point of series, NULL when there is none */
    double series_q, series_v; /* what it states, beyond rounding, with the factor */
} known;

/* What is expected of a result, without rounding. */
typedef struct expected {
    double q, v;
} expected;

/* A slow point is as slow as stated, and not worse than the start. */
static expected judge_slow(const char *cell, const subject *s, const projected *p, const known *k)
{
    expected e = {0}, paper;
    if (!check_row(stated_accuracy(&p->r, &e.q, &e.v), "%s: no accuracy is stated: %s", cell,
                   p->r.explanation))
        return e;
    /* and then levels, or passes that stay over it */
    bool over_start = strstr(p->r.explanation, "the foot point");
    found *own = over_start ? NULL : find_slow(s, p->r.q, p->r.v, e.q, e.v);
    const found *f = own ? own : k->start;
    e.q *= factor;
    e.v *= factor;
    if (check_row(f && f->status == 0 && k->start->status == 0, "%s: the judge has no slow point",
                  cell)) {
        const slow_point *z = &f->point;
        double off_q = farthest(f->judge.n, p->r.q, z->q),
               off_v = farthest(f->judge.n, p->r.v, z->v);
        double rounding = 8 * DBL_EPSILON * z->size_q,
               rounding_v = rounding * z->slowest + 8 * DBL_EPSILON * z->size_v;
        bool good = off_q <= e.q + rounding && off_v <= e.v + rounding_v;
        check_row(good,
                  "%s: off by %.3g in q, %.3g in v; allowed %.3g, %.3g, and rounding %.1g, %.1g",
                  cell, off_q, off_v, e.q, e.v, rounding, rounding_v);
        check_row(
            z->doubt_q <= e.q + rounding && z->doubt_v <= e.v + rounding_v,
            "%s: the judge is unsure by %.3g in q, %.3g in v, more than is stated: %.3g, %.3g",
            cell, z->doubt_q, z->doubt_v, e.q, e.v);
        if (strcmp(p->r.method, "ipa") == 0 && p->r.passes > 0 &&
            !(f->judge.sizes.can & TAUT_HAS_DAMPING)) {
            expect_ipa(p, z, &paper.q, &paper.v);
            check_row(off_q <= paper.q + rounding && off_v <= paper.v + rounding_v,
                      "%s: off by %.3g in q, %.3g in v; A (15)-(19) allow %.3g, %.3g", cell, off_q,
                      off_v, paper.q, paper.v);
        }
        double now = off_q + off_v / z->fastest,
               doubt = z->doubt_q + z->doubt_v / z->fastest + k->start->point.doubt_q;
        check_row(now <= k->off_start + doubt + rounding,
                  "%s: off by %.3g, the start by %.3g; unsure by %.3g", cell, now, k->off_start,
                  doubt);
    }
    found_drop(own);
    return e;
}

/* A foot point: on the bonds, orthogonally moved, with the multipliers of the rigid motion. */
static void judge_foot(const char *cell, const subject *s, const projected *p)
{
    dense d;
    taut_index n, m;
    if (!check_row(dense_make(&d, p->system, s->from, p->r.q, p->r.v) == 0, "%s: no equations",
                   cell))
        return;
    n = d.sizes.coordinates;
    m = d.sizes.bonds;
    double size = 1e-300 + largest(n, p->r.q), speed = size + largest(n, p->r.v), off = 0, rate = 0,
           left = 0, pull = 0;
    size_t room = n > 0 ? (size_t)n : 1;
    double *x = calloc(room, sizeof *x), *a = calloc(room, sizeof *a);
    for (taut_index i = 0; i < n; i++)
        for (taut_index k = 0; k < n; k++)
            x[i] += d.mass[(size_t)i * (size_t)n + (size_t)k] * (p->r.q[k] - p->r.start_q[k]);
    double moved = largest(n, x);
    memcpy(a, d.values.force, (size_t)n * sizeof *a);
    for (taut_index i = 0; i < m; i++) {
        double length = 0;
        for (taut_index k = d.jacobian.start[i]; k < d.jacobian.start[i + 1]; k++) {
            length += fabs(d.values.jacobian[k]);
            a[d.jacobian.column[k]] -= d.values.jacobian[k] * p->r.lambda[i];
        }
        if (taut_context_soft(d.context, i))
            continue;
        off = fmax(off, fabs(d.values.bond[i]) / (length * size));
        rate = fmax(rate, fabs(row_times(&d, i, p->r.v) + d.values.bond_dt[i]) / (length * speed));
    }
    check_row(off <= 16 * DBL_EPSILON, "%s: g is off by %.3g of the coordinates", cell, off);
    check_row(rate <= 64 * DBL_EPSILON, "%s: gdot is off by %.3g of the velocities", cell, rate);
    bool alone = !(d.sizes.can & TAUT_HAS_STIFF_POTENTIAL) && !taut_system_hold(p->system);
    if (alone) {
        double beside = beside_rows(&d, x);
        check_row(beside <= 1e-12 * moved + 64 * DBL_EPSILON * size,
                  "%s: of a move by %.3g, %.3g is not normal", cell, moved, beside);
        pull = largest(n, a);
        solve_mass(n, d.mass, a);
        for (taut_index i = 0; i < m; i++)
            if (!taut_context_soft(d.context, i)) {
                left = fmax(left, fabs(row_times(&d, i, a) + d.values.gamma[i]));
                pull = fmax(pull, fabs(d.values.gamma[i]) + fabs(p->r.lambda[i]));
            }
        check_row(left <= 1e-10 * pull, "%s: the bonds accelerate by %.3g, pulls are up to %.3g",
                  cell, left, pull);
    }
    free(x);
    free(a);
    dense_drop(&d);
}

/* ---- do no harm */

/* b is (q, v), to rounding: 32 u of the coordinates, in velocities times the fastest frequency;
 * and what else is allowed. Differences of order 3 have 8 u for rounding, and their iteration
 * divides it by (1 - exp(-H/tau))^3, about 1/30 in the shipped models. */
static bool same(const projected *b, const double *q, const double *v, double fastest,
                 expected beside, char *text, size_t room)
{
    taut_sizes sizes = {.size = sizeof sizes};
    taut_system_sizes_get(b->system, &sizes, NULL);
    taut_index n = sizes.coordinates, nv = sizes.kind == TAUT_MECHANICAL ? n : 0;
    double units = sizes.kind == TAUT_MECHANICAL ? 32 : 512;
    double limit = units * DBL_EPSILON * largest(n, q), off = farthest(n, b->r.q, q),
           off_v = farthest(nv, b->r.v, v);
    double limit_v = limit * fmax(1, fastest) + units * DBL_EPSILON * largest(nv, v) + beside.v;
    limit += beside.q;
    snprintf(text, room, "moves by %.3g in q, %.3g in v; allowed %.3g, %.3g", off, off_v, limit,
             limit_v);
    return off <= limit && off_v <= limit_v;
}

static void judge_harmless(const char *cell, const subject *s, const char *method,
                           const projected *p, const known *k, expected e)
{
    char *text = start_of(p), words[160];
    double fastest = k->start && k->start->status == 0 ? k->start->point.fastest : 1;
    projected again = project_subject(s, method, text);
    if (projected_good(cell, &again)) {
        bool good = same(&again, p->r.q, p->r.v, fastest, e, words, sizeof words);
        check_row(good, "%s: given back, the result %s", cell, words);
    }
    projected_drop(&again);
    free(text);
    if (!k->text ||
        strcmp(p->r.method, "constraint") == 0) /* a slow point of springs is not on their g = 0 */
        return;
    again = project_subject(s, method, k->text);
    if (projected_good(cell, &again)) {
        expected beside = {k->series_q, k->series_v};
        /* whose passes are levels */
        bool rounding = beside.q == 0, filter = strcmp(again.r.method, "series") != 0;
        if (!rounding) {
            beside.q += e.q;
            beside.v += e.v;
        }
        bool good =
            same(&again, again.r.start_q, again.r.start_v, fastest, beside, words, sizeof words);
        check_row(good && !(filter && rounding && again.r.passes > 1),
                  "%s: a slow point %s; %d passes", cell, words, (int)again.r.passes);
    }
    projected_drop(&again);
}

/* ---- cells */

/* A line of the page: known already? */
static void list_line(const char *cell, const char *line)
{
    if (page)
        fputs(line, page);
    listed += (long)strlen(line);
    check_row(page || (known_page && strstr(known_page, line)),
              "%s is not in docs/refusals-projections.md: %s", cell, line);
}

static void judge_cell(const char *cell, const subject *s, const char *method, projected *p,
                       const known *k)
{
    char line[MOST_LINE];
    taut_sizes sizes = {.size = sizeof sizes};
    if (p->system)
        taut_system_sizes_get(p->system, &sizes, NULL);
    if (p->code == TAUT_ERROR_CONVERGE) {
        size_t bytes = (size_t)sizes.coordinates * sizeof(double);
        check_row(p->projection && memcmp(p->r.q, p->r.start_q, bytes) == 0,
                  "%s: the start is not kept", cell);
        check_row(sizes.kind != TAUT_MECHANICAL || !p->projection ||
                      memcmp(p->r.v, p->r.start_v, bytes) == 0,
                  "%s: the start is not kept", cell);
        check_row(strlen(p->error.message) > 60, "%s: no reason: %s", cell, p->error.message);
        snprintf(line, sizeof line, "| %s | %s | does not converge |\n", s->name, method);
        list_line(cell, line);
    } else if (p->code != 0) {
        check_row(p->code == TAUT_ERROR_REFUSED || p->code == TAUT_ERROR_SINGULAR, "%s: %s: %s",
                  cell, taut_code_name(p->code), p->error.message);
        check_row(strlen(p->error.message) > 40, "%s: no reason: %s", cell, p->error.message);
        snprintf(line, sizeof line, "| %s | %s | %.600s |\n", s->name, method, p->error.message);
        list_line(cell, line);
    } else {
        expected e = {0};
        if (strcmp(p->r.method, "constraint") == 0)
            judge_foot(cell, s, p);
        else if (sizes.kind == TAUT_MECHANICAL)
            e = judge_slow(cell, s, p, k);
        if (strcmp(p->r.method, "series") == 0)
            e = (expected){k->series_q, k->series_v};
        if (strcmp(p->r.method, "brute") != 0) /* it follows the motion, every time */
            judge_harmless(cell, s, method, p, k, e);
    }
}

/* The slow point of the start, as well as series needs it known, and what series makes of it. */
static known know(const subject *s, const projected *series)
{
    known k = {0};
    double q = 0, v = 0;
    bool good = series->code == 0 && stated_accuracy(&series->r, &q, &v);
    k.start = find_slow(s, NULL, NULL, q, v);
    if (k.start && k.start->status == 0) {
        const slow_point *z = &k.start->point;
        taut_index n = k.start->judge.n;
        const taut_projection_result *r = &series->r;
        double *start = slow_new(&k.start->judge, 2 * (int64_t)n);
        taut_error error;
        if (r->start_q)
            k.off_start =
                farthest(n, r->start_q, z->q) + farthest(n, r->start_v, z->v) / z->fastest;
        else if (taut_context_start(k.start->judge.context, s->from, start, start + n, &error) == 0)
            k.off_start = farthest(n, start, z->q) + farthest(n, start + n, z->v) / z->fastest;
        if (good && q > 32 * DBL_EPSILON * z->size_q) {
            k.series_q = factor * q;
            k.series_v = factor * v;
        }
    }
    k.text = good ? start_of(series) : NULL;
    return k;
}

static void run_subject(const subject *s)
{
    projected series = project_subject(s, "series", NULL);
    known k = know(s, &series);
    taut_projection_info info = {.size = sizeof info};
    for (int i = 0; taut_projection_get(i, &info, NULL) == 0; i++) {
        char cell[120];
        snprintf(cell, sizeof cell, "%s, %s", s->name, info.name);
        projected p = project_subject(s, info.name, NULL);
        judge_cell(cell, s, info.name, &p, &k);
        projected_drop(&p);
    }
    free(k.text);
    found_drop(k.start);
    projected_drop(&series);
}

/* docs/sources.md, D: errors of order 2, with the models' own steppers; the order that is chosen,
 * 3, has those of forward Euler. */
static void test_difference(void)
{
    check_group("difference");
    static const struct {
        const char *model;
        int variable;
        double value, error;
    } rows[] = {
        /* log10 -5.41, rounded */
        {"michaelis_menten", 1, 0.503031511623918, 3.936e-6},
        /* y - x; the distance is that over sqrt 2 */
        {"michaelis_menten_mixed", 1, 0.503031511623918 - 1, 1.25 * 1.41422 * 3.3195e-6},
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        subject s = {rows[k].model, rows[k].model, NULL, 0, NULL};
        projected p = project_subject(&s, "difference", NULL);
        if (projected_good(s.name, &p))
            check_near(s.name, p.r.q[rows[k].variable], rows[k].value, rows[k].error);
        projected_drop(&p);
    }
    subject s = {"five_dimensions", "five_dimensions", NULL, 0, NULL};
    projected p = project_subject(&s, "difference", NULL);
    if (projected_good(s.name, &p)) {
        double mean = 0;
        for (int i = 0; i < 5; i++)
            mean += 0.4 * p.r.q[i];
        check_near("five_dimensions, x1", mean - p.r.q[0], -3.559434800714249, 1e-5);
        check_near("five_dimensions, w", mean - p.r.q[2], 19.2202825996428754, 1e-5);
    }
    projected_drop(&p);
}

/* ---- the list of models, and the page */

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static int find_models(char names[MOST_MODELS][64])
{
    int count = 0;
    DIR *folder = opendir(TAUT_SOURCE_DIR "/models");
    for (struct dirent *file; folder && (file = readdir(folder)) && count < MOST_MODELS;) {
        char *end = strstr(file->d_name, ".taut");
        if (end)
            snprintf(names[count++], 64, "%.*s", (int)(end - file->d_name), file->d_name);
    }
    if (folder)
        closedir(folder);
    qsort(names, (size_t)count, 64, by_name);
    return count;
}

static char *read_page(void)
{
    FILE *file = fopen(TAUT_SOURCE_DIR "/docs/refusals-projections.md", "r");
    enum { ROOM = 200000 };
    char *text = calloc(ROOM, 1);
    if (file && text)
        text[fread(text, 1, ROOM - 1, file)] = '\0';
    if (file)
        fclose(file);
    return text;
}

static const char *const heading =
    "# Refusals of projections\n"
    "\n"
    "The messages with which `taut project` refuses shipped models and some variants, and the "
    "combinations in which a projection does not converge,\n"
    "keeps the initial state and ends with status 1. Every other combination is run and verified "
    "by `tests/test_project_matrix.c`, which also\n"
    "generates this list (`test_project_matrix FILE`). The reasons of the refusals are given in "
    "[methods.md](methods.md), *Projections*.\n"
    "\n"
    "For all other combinations the error is within three times the reported one (\"error about "
    "... in q, ... in v\"), and rounding: 8 u max |q| in q,\n"
    "with u = 2.2e-16; in v that times the slowest stiff frequency, and 8 u max |v|. The error is "
    "the distance to the slow point with the foot point\n"
    "of the initial state (`series`, and `kernel` where it begins there), or of the result (`ipa`, "
    "which moves along the bonds). It is determined by\n"
    "an independent reference, polynomials in time that satisfy the equations of the full motion "
    "(`tests/judge/slow.h`), in two windows that must\n"
    "agree as well. `constraint` is exact to rounding: 16 u max |q| in g, 64 u max |q|, |v| in "
    "gdot, for gradients of length 1. `difference`, `derivative` and `outer` have the\n"
    "values of the paper where it has some; `brute` follows the motion. No result is farther from "
    "the slow point than the "
    "initial state; a result that is projected again moves by\n"
    "no more than three times the reported error, and 32 u (first-order systems: 512 u), in v "
    "times the "
    "fastest frequency. `cloth` has 4 x 4 particles here, `decane_melt` 4 molecules.\n"
    "\n";

static const char *const table = "| model | projection | message |\n|---|---|---|\n";

int main(int argc, char **argv)
{
    char names[MOST_MODELS][64];
    int models = find_models(names);
    known_page = read_page();
    page = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (page)
        fprintf(page, "%s%s", heading, table);
    listed = (long)(strlen(heading) + strlen(table));
    check_group("projections on models");
    check_row(models >= 23, "only %d models", models);
    for (int k = 0; k < models; k++) { /* the judge is dense: small sizes; half_car: it has none */
        const char *smaller = strcmp(names[k], "cloth") == 0         ? "N=4"
                              : strcmp(names[k], "decane_melt") == 0 ? "across=2"
                                                                     : NULL;
        if (strcmp(names[k], "half_car") != 0)
            run_subject(&(subject){names[k], names[k], smaller, 0, NULL});
    }
    check_group("projections on variants");
    for (int k = 0; k < VARIANTS; k++)
        run_subject(&variants[k]);
    test_difference();
    if (!page && getenv("TAUT_TEST_LONG")) /* nothing is in it that is no longer so */
        check_equal("docs/refusals-projections.md", (long long)strlen(known_page), listed);
    if (page)
        fclose(page);
    free(known_page);
    return check_done();
}
