/* test_project_matrix.c - every projection on every shipped model, and on variants that users have: within the accuracy that it
 * states, or a refusal with a reason.
 *
 * Judges, none of which is the method itself (written down before anything was measured):
 *
 *     ipa, kernel, series, auto    how much the full motion from the result rings (ringing.h): at most ten times what is stated ("about"),
 *                                  and never more than the start does
 *     ipa                          beside it [A (15)-(19)], with the constants of its kernel and of Verlet, on the derivatives of the slow motion
 *     constraint                   g and gdot at rounding; what moved is M^-1 G^T mu; lambda solves the acceleration equation
 *     difference                   values and errors of FACTS D
 *
 * Then "do no harm": the point of series, given to every method, stays what it is to rounding, without passes or in one; so does a result
 * that is given back to its own method, or moves by no more than that method states. What series states above rounding (slow and fast are
 * hardly apart) is allowed beside it.
 *
 * Rules that a cell misses are listed below, with the reason, and are shown as skipped; "unsure": what is stated is finer than this judge sees.
 *
 * docs/refusals-projections.md is made here (test_project_matrix FILE), and lists what is refused and what does not converge. */
#include <dirent.h>
#include <float.h>

#include "dense.h"
#include "projected.h"
#include "ringing.h"
#include "stated.h"

typedef struct subject {
    const char *name, *model; /* a shipped one, or a text */
    const char *set;          /* one parameter, or NULL */
    double from;
} subject;

static const subject variants[] = {
    {"mass matrix that varies",
     "[coordinates]\nx, y\n[mass]\nx = 2 + 0.3*sin(y), y = 1 + 0.2*x^2\nM[x,y] = 0.4*cos(x)\n[potential]\ny\n[bonds]\n"
     "rod = sqrt(x^2 + y^2) - 1 stiffness 1e6\n[start]\nx = 0.81, y = -0.6, x' = 0.3, y' = 0.4\n",
     NULL, 0},
    {"moving bonds",
     "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt((x - 0.2*sin(t))^2 + y^2) - 1 - 0.1*cos(2*t) stiffness "
     "1e6\n[start]\n"
     "x = 0.9, y = -0.6, x' = 0.3, y' = 0.4\n",
     NULL, 0.7},
    {"forces that depend on velocities",
     "[coordinates]\nx, y\n[potential]\ny\n[forces]\nx = 0.5*y' - 0.1*x', y = -0.5*x' - 0.1*y'\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 "
     "stiffness 1e6\n[start]\nx = 0.81, y = -0.6, x' = 0.3, y' = 0.4\n",
     NULL, 0},
    {"damped bonds",
     "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 stiffness 1e6 damping 50\n[start]\nx = 0.81, y = "
     "-0.6, "
     "x' = 0.3, y' = 0.4\n",
     NULL, 0},
    {"two stiffnesses",
     "[parameters]\nomega = 1000, alpha = 10\n[coordinates]\nx1, y1, x2, y2\n[potential]\ny1 + y2\n[bonds]\n"
     "inner = sqrt(x1^2 + y1^2) - 1 stiffness omega^2\nouter = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 stiffness (alpha*omega)^2\n[start]\n"
     "x1 = 1, y1 = 0.01, x2 = 1.7, y2 = -0.7, y1' = -0.5, y2' = 0.5\n",
     NULL, 0},
    {"a double pendulum by its stiff potential",
     "[coordinates]\nx1, y1, x2, y2\n[definitions]\na = sqrt(x1^2 + y1^2) - 1\nb = sqrt((x1-x2)^2 + (y1-y2)^2) - 1\n[stiff "
     "potential]\n"
     "(a^2 + b^2)/2 scale 1e6\n[start]\nx1 = 1, y1 = 0.05, x2 = 2, y1' = -0.5, y2' = 0.5\n",
     NULL, 0},
    {"rods beside springs",
     "[coordinates]\nx1, y1, x2, y2\n[potential]\ny1 + y2\n[bonds]\ninner = sqrt(x1^2 + y1^2) - 1 rigid\n"
     "outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 stiffness 1e6\n[start]\nx1 = 1, x2 = 1.71, y2 = -0.7, y1' = -0.5, y2' = 0.5\n",
     NULL, 0},
    {"a soft spring beside stiff ones",
     "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 stiffness 1e6\nband = x - 0.5 stiffness 2 "
     "soft\n[start]\n"
     "x = 0.81, y = -0.6, x' = 0.3, y' = 0.4\n",
     NULL, 0},
    {"an elastic coupler", "four_bar", "c=1e-6", 0.3},
    {"springs that depend on one another",
     "[particles]\ndimension = 2\np[i] for i in 1..4 mass 1\n[potential]\nsum(p[i].y for i in 1..4) + 0.5*dot(p[1], "
     "p[1])\n[bonds]\n"
     "side[i] = length(p[i+1] - p[i]) - 1 for i in 1..3 stiffness 1e6\nside[4] = length(p[4] - p[1]) - 1 stiffness 1e6\n"
     "brace[1] = length(p[3] - p[1]) - sqrt(2) stiffness 1e6\nbrace[2] = length(p[4] - p[2]) - sqrt(2) stiffness 1e6\n[start]\n"
     "p[1] = (0, 0), p[2] = (1.001, 0), p[3] = (1, 1), p[4] = (0, 1.002)\n"
     "p[1]' = (0, 0), p[2]' = (0, 0.3), p[3]' = (-0.3, 0.3), p[4]' = (-0.3, 0)\n",
     NULL, 0},
};

enum { VARIANTS = sizeof variants / sizeof variants[0], MOST_MODELS = 60, MOST_LINE = 900 };

/* Cells that miss a rule, and why. */
static const struct {
    const char *cell, *rule, *why;
} missed[] = {
    {"butane, series", "unsure", "the torsion is hardly slower than the slowest spring"},
    {"butane, auto", "unsure", "the torsion is hardly slower than the slowest spring"},
    {"chain, series", "unsure", "what slow motion does in six periods of the slowest mode"},
    {"chain, auto", "unsure", "what slow motion does in six periods of the slowest mode"},
    {"fpu, series", "unsure", "slow and fast differ by a factor of ten"},
    {"fpu, auto", "unsure", "slow and fast differ by a factor of ten"},
    {"rope_bending, series", "unsure", "bending waves are nearly as fast as the slowest spring"},
    {"rope_bending, auto", "unsure", "bending waves are nearly as fast as the slowest spring"},
};

static FILE *page;       /* being written, or NULL */
static char *known_page; /* the committed one */
static long listed;      /* characters of lines that are in it */

/* One row for a rule of a cell; true when it is met. */
__attribute__((format(printf, 4, 5))) static void check_rule(bool good, const char *cell, const char *rule, const char *format, ...)
{
    char text[300];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    for (size_t k = 0; k < sizeof missed / sizeof missed[0] && !good; k++)
        if (strcmp(missed[k].cell, cell) == 0 && strcmp(missed[k].rule, rule) == 0) {
            char why[500];
            snprintf(why, sizeof why, "%s: %s (missed: %s)", cell, text, missed[k].why);
            check_skip(why);
            return;
        }
    check_row(good, "%s: %s", cell, text);
}

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
    taut_load how = {.set = &s->set, .set_count = s->set != NULL, .start_text = start, .from = s->from};
    return project_model(s->model, &how, options);
}

/* The state of a result, as the text of a start; to be freed. */
static char *start_of(const projected *p)
{
    taut_sizes sizes;
    taut_system_sizes(p->system, &sizes);
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

/* How much the motion from the start of p rings. */
static int ring(const subject *s, const char *start, ringing *r)
{
    taut_load how = {.set = &s->set, .set_count = s->set != NULL, .start_text = start, .from = s->from};
    taut_system *system = NULL;
    taut_error error = {0};
    char path[300];
    int status;
    if (strchr(s->model, '\n')) {
        status = taut_system_parse(s->model, strlen(s->model), "model.taut", &how, &system, &error);
    } else {
        snprintf(path, sizeof path, "%s/models/%s.taut", TAUT_SOURCE_DIR, s->model);
        status = taut_system_load(path, &how, &system, &error);
    }
    if (status == 0)
        status = ringing_measure(system, s->from, r, &error);
    taut_system_destroy(system);
    return status;
}

/* ---- judges */

/* The error of ipa on this slow motion [A (15), (16), (19)]: the fourth moment of its kernel over the window delta; Verlet, whose slow motion is
 * off by h^2/12 q''''/omega^2 and whose velocities by h^2/6 q'''; the stopping test. Twice, for 1/(1 - R) and for derivatives elsewhere. */
static void expect_ipa(const projected *p, const ringing *r, double *q, double *v)
{
    const char *at = strstr(p->r.explanation, "window "), *steps = strstr(p->r.explanation, "Verlet steps of ");
    double window = at ? atof(at + 7) : NAN, h = steps ? atof(steps + 16) : NAN, moment = 0;
    for (int i = 0; i < 4000; i++) { /* the piecewise cubic kernel of A 5.2 */
        double t = (i + 0.5) / 4000,
               cubic = t <= 0.5 ? 2 - 2 * t - 8 * t * t + 8 * t * t * t : 2 - 22.0 / 3 * t + 8 * t * t - 8.0 / 3 * t * t * t;
        moment += 2 * cubic * pow(t, 4) / 4000;
    }
    double filter = fabs(moment) * pow(window, 4) / 24, tolerance = fmax(1e-9, 1e-3 * pow(window / (24 * atan(1)), 2));
    *q = 2 * (filter + h * h / 12 / (r->slowest * r->slowest)) * r->derivative[4] + tolerance;
    *v = 2 * (filter * r->derivative[5] + h * h / 6 * r->derivative[3]) + tolerance;
}

/* What is known of a subject: how its start rings, and the point of series. */
typedef struct known {
    int start_rings, point_rings; /* 0: these are known */
    ringing start, point;
    double off_start;
    char *text;                /* the point of series, NULL when there is none */
    double series_q, series_v; /* what it states, beyond rounding */
} known;

/* What is expected of a result. */
typedef struct expected {
    double q, v;
} expected;

/* A slow point is as slow as stated, and not worse than the start. */
static expected judge_slow(const char *cell, const subject *s, const projected *p, const known *k)
{
    const double about = 10;
    ringing r = {0};
    expected e = {0};
    char *text = start_of(p);
    if (check_row(text && ring(s, text, &r) == 0 && k->start_rings == 0, "%s: the full motion cannot be followed", cell)) {
        if (check_row(stated_accuracy(&p->r, &e.q, &e.v), "%s: no accuracy is stated: %s", cell, p->r.explanation))
            e.q *= about, e.v *= about;
        double rounding = 8 * DBL_EPSILON * r.size_q;
        check_rule(r.off_q <= e.q + r.doubt_q + rounding && r.off_v <= e.v + r.doubt_v + rounding * r.fastest, cell, "stated",
                   "rings by %.3g in q, %.3g in v; expected %.3g, %.3g; the judge is unsure by %.3g, %.3g", r.off_q, r.off_v, e.q,
                   e.v, r.doubt_q, r.doubt_v);
        if (strcmp(p->r.method, "ipa") == 0 && p->r.passes > 0) {
            expected paper;
            expect_ipa(p, k->point_rings == 0 ? &k->point : &r, &paper.q, &paper.v);
            check_rule(r.off_q <= paper.q + r.doubt_q + rounding && r.off_v <= paper.v + r.doubt_v + rounding * r.fastest, cell,
                       "paper", "rings by %.3g in q, %.3g in v; A (15)-(19) allow %.3g, %.3g", r.off_q, r.off_v, paper.q, paper.v);
        }
        check_rule(r.doubt_q <= about * (e.q + rounding) && r.doubt_v <= about * (e.v + rounding * r.fastest), cell, "unsure",
                   "the judge is unsure by %.3g in q, %.3g in v, more than is stated: %.3g, %.3g", r.doubt_q, r.doubt_v, e.q, e.v);
        double now = r.off_q + r.off_v / r.fastest, doubt = r.doubt_q + r.doubt_v / r.fastest + k->start.doubt_q;
        check_rule(now <= k->off_start + doubt + rounding, cell, "start", "rings by %.3g, the start by %.3g; unsure by %.3g", now,
                   k->off_start, doubt);
    }
    free(text);
    return e;
}

/* A foot point: on the bonds, orthogonally moved, with the multipliers of the rigid motion. */
static void judge_foot(const char *cell, const subject *s, const projected *p)
{
    dense d;
    taut_index n, m;
    if (!check_row(dense_make(&d, p->system, s->from, p->r.q, p->r.v) == 0, "%s: no equations", cell))
        return;
    n = d.sizes.coordinates;
    m = d.sizes.bonds;
    double size = 1e-300 + largest(n, p->r.q), speed = size + largest(n, p->r.v), off = 0, rate = 0, left = 0, pull = 0;
    double *x = calloc((size_t)n, sizeof *x), *a = calloc((size_t)n, sizeof *a);
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
        check_row(beside <= 1e-12 * moved + 64 * DBL_EPSILON * size, "%s: of a move by %.3g, %.3g is not normal", cell, moved,
                  beside);
        pull = largest(n, a);
        solve_mass(n, d.mass, a);
        for (taut_index i = 0; i < m; i++)
            if (!taut_context_soft(d.context, i)) {
                left = fmax(left, fabs(row_times(&d, i, a) + d.values.gamma[i]));
                pull = fmax(pull, fabs(d.values.gamma[i]) + fabs(p->r.lambda[i]));
            }
        check_row(left <= 1e-10 * pull, "%s: the bonds accelerate by %.3g, pulls are up to %.3g", cell, left, pull);
    }
    free(x);
    free(a);
    dense_drop(&d);
}

/* ---- do no harm */

/* b is (q, v), to rounding: 32 u of the coordinates, in velocities times the fastest frequency; and what else is allowed. Differences of order 3
 * have 8 u for rounding, and their iteration divides it by (1 - exp(-H/tau))^3, about 1/30 in the shipped models. */
static bool same(const projected *b, const double *q, const double *v, double fastest, expected beside, char *text, size_t room)
{
    taut_sizes sizes;
    taut_system_sizes(b->system, &sizes);
    taut_index n = sizes.coordinates, nv = sizes.kind == TAUT_MECHANICAL ? n : 0;
    double units = strcmp(b->r.method, "difference") == 0 ? 512 : 32;
    double limit = units * DBL_EPSILON * largest(n, q), off = farthest(n, b->r.q, q), off_v = farthest(nv, b->r.v, v);
    double limit_v = limit * fmax(1, fastest) + units * DBL_EPSILON * largest(nv, v) + beside.v;
    limit += beside.q;
    snprintf(text, room, "moves by %.3g in q, %.3g in v; allowed %.3g, %.3g", off, off_v, limit, limit_v);
    return off <= limit && off_v <= limit_v;
}

static void judge_harmless(const char *cell, const subject *s, const char *method, const projected *p, const known *k, expected e)
{
    char *text = start_of(p), words[160];
    double fastest = k->start_rings == 0 ? k->start.fastest : 1;
    projected again = project_subject(s, method, text);
    if (projected_good(cell, &again)) {
        bool good = same(&again, p->r.q, p->r.v, fastest, e, words, sizeof words);
        check_rule(good, cell, "again", "given back, the result %s", words);
    }
    projected_drop(&again);
    free(text);
    if (!k->text || strcmp(p->r.method, "constraint") == 0) /* a slow point of springs is not on their g = 0 */
        return;
    again = project_subject(s, method, k->text);
    if (projected_good(cell, &again)) {
        expected beside = {k->series_q, k->series_v};
        bool rounding = beside.q == 0, filter = strcmp(again.r.method, "series") != 0; /* whose passes are levels */
        if (!rounding) {
            beside.q += e.q;
            beside.v += e.v;
        }
        bool good = same(&again, again.r.start_q, again.r.start_v, fastest, beside, words, sizeof words);
        check_rule(good && !(filter && rounding && again.r.passes > 1), cell, "slow", "a slow point %s; %d passes", words,
                   (int)again.r.passes);
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
    check_row(page || (known_page && strstr(known_page, line)), "%s is not in docs/refusals-projections.md: %s", cell, line);
}

static void judge_cell(const char *cell, const subject *s, const char *method, projected *p, const known *k)
{
    char line[MOST_LINE];
    taut_sizes sizes;
    if (p->code == TAUT_ERROR_CONVERGE) {
        taut_system_sizes(p->system, &sizes);
        size_t bytes = (size_t)sizes.coordinates * sizeof(double);
        check_row(p->projection && memcmp(p->r.q, p->r.start_q, bytes) == 0, "%s: the start is not kept", cell);
        check_row(sizes.kind != TAUT_MECHANICAL || !p->projection || memcmp(p->r.v, p->r.start_v, bytes) == 0,
                  "%s: the start is not kept", cell);
        check_row(strlen(p->error.message) > 60, "%s: no reason: %s", cell, p->error.message);
        snprintf(line, sizeof line, "| %s | %s | does not converge |\n", s->name, method);
        list_line(cell, line);
    } else if (p->code != 0) {
        check_row(p->code == TAUT_ERROR_REFUSED || p->code == TAUT_ERROR_SINGULAR, "%s: %s: %s", cell, taut_code_name(p->code),
                  p->error.message);
        check_row(strlen(p->error.message) > 40, "%s: no reason: %s", cell, p->error.message);
        snprintf(line, sizeof line, "| %s | %s | %s |\n", s->name, method, p->error.message);
        list_line(cell, line);
    } else {
        expected e = {0};
        if (strcmp(p->r.method, "constraint") == 0)
            judge_foot(cell, s, p);
        else if (strcmp(p->r.method, "difference") != 0)
            e = judge_slow(cell, s, p, k);
        if (strcmp(p->r.method, "series") == 0)
            e = (expected){k->series_q, k->series_v};
        judge_harmless(cell, s, method, p, k, e);
    }
}

static void run_subject(const subject *s)
{
    known k = {.start_rings = -1, .point_rings = -1};
    projected series = project_subject(s, "series", NULL);
    if (series.code == 0) {
        double q, v;
        k.text = start_of(&series);
        k.point_rings = ring(s, k.text, &k.point);
        if (stated_accuracy(&series.r, &q, &v) && q > 32 * DBL_EPSILON * k.point.size_q)
            k.series_q = k.series_v = 10 * q;
    }
    k.start_rings = ring(s, NULL, &k.start);
    k.off_start = k.start.off_q + k.start.off_v / fmax(1, k.start.fastest);
    taut_projection_info info;
    for (int i = 0; taut_projection_get(i, &info); i++) {
        char cell[120];
        snprintf(cell, sizeof cell, "%s, %s", s->name, info.name);
        projected p = project_subject(s, info.name, NULL);
        judge_cell(cell, s, info.name, &p, &k);
        projected_drop(&p);
    }
    free(k.text);
    projected_drop(&series);
}

/* FACTS D: errors of order 2, the default, with the models' own steppers. */
static void test_difference(void)
{
    check_group("difference");
    static const struct {
        const char *model;
        int variable;
        double value, error;
    } rows[] = {
        {"michaelis_menten", 1, 0.503031511623918, 3.936e-6},                      /* log10 -5.41, rounded */
        {"michaelis_menten_mixed", 1, 0.503031511623918 - 1, 1.41422 * 3.3195e-6}, /* y - x; the distance is that over sqrt 2 */
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        subject s = {rows[k].model, rows[k].model, NULL, 0};
        projected p = project_subject(&s, "difference", NULL);
        if (projected_good(s.name, &p))
            check_near(s.name, p.r.q[rows[k].variable], rows[k].value, rows[k].error);
        projected_drop(&p);
    }
    subject s = {"five_dimensions", "five_dimensions", NULL, 0};
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
    "# Refusals of projections\n\n"
    "What `taut project` refuses for the shipped models and for some variants, and what it says; and where a projection does not "
    "converge, keeps\n"
    "the start and ends with status 1. Every other combination is run and judged by `tests/test_project_matrix.c`, which also "
    "makes this list\n"
    "(`test_project_matrix FILE`). What the refusals are for stands in [methods.md](methods.md), *Projections*.\n\n"
    "| model | projection | what it says |\n|---|---|---|\n";

int main(int argc, char **argv)
{
    char names[MOST_MODELS][64];
    int models = find_models(names);
    known_page = read_page();
    page = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (page)
        fputs(heading, page);
    check_group("projections on models");
    check_row(models >= 23, "only %d models", models);
    for (int k = 0; k < models; k++)
        run_subject(&(subject){names[k], names[k], NULL, 0});
    check_group("projections on variants");
    for (int k = 0; k < VARIANTS; k++)
        run_subject(&variants[k]);
    test_difference();
    if (!page && getenv("TAUT_TEST_LONG")) /* nothing is in it that is no longer so */
        check_equal("docs/refusals-projections.md", (long long)strlen(known_page), (long long)(listed + (long)strlen(heading)));
    if (page)
        fclose(page);
    free(known_page);
    return check_done();
}
