/* test_matrix.c - every method on every shipped model, as it is shipped, in every motion: within
 * tolerance of a judge that shares no code with it, or refused with a reason. The judges are in
 * trajectory.h, the rules below and, in words, in docs/refusals.md, which this program makes
 * (test_matrix FILE) and compares.
 *
 * TAUT_TEST_LONG: large models are taken whole, and as far as small ones. */
#include "support/table.h"

#include <taut/taut.h>

#include "base/method.h"
#include "judge/trajectory.h"
#include "support/matrix_list.h"
#include "support/matrix_model.h"
#include "support/matrix_page.h"

/* tolerances of the judge: two runs tell how good it is */
static const double TIGHT = 1e-12, LOOSE = 1e-10;

/* What is expected of a model in one motion. */
typedef struct verdict {
    const char *motion; /* "" for first order */
    bool made;
    double end, uncertainty; /* relative */
    double *y;               /* (q, v) at the end, or the state */
    char judge[200];
} verdict;

/* Implicit methods for study, of low order on bonds or without damping: a twentieth of the way. */
static bool is_for_study(const taut_method *method)
{
    return method->bond_order > 0 || method->undamped;
}

static double end_for(const model *m, const char *motion, const taut_method *method)
{
    return end_of(m, motion, method->order) * (is_for_study(method) ? 0.05 : 1);
}

/* ---- judges */

/* Largest difference over the largest entry of b; INFINITY for what is not finite. */
static double apart(taut_index n, const double *a, const double *b)
{
    double off = 0, size = largest(n, b);
    for (taut_index i = 0; i < n; i++) {
        if (!isfinite(a[i]) || !isfinite(b[i]))
            return INFINITY;
        off = fmax(off, fabs(a[i] - b[i]));
    }
    return size > 0 ? off / size : off;
}

static int project(const taut_system *system, const char *method, taut_index n, double *y)
{
    taut_options *options = NULL;
    taut_projection *projection = NULL;
    taut_projection_result result = {.size = sizeof result};
    int status = taut_options_create(NULL, &options, NULL);
    if (status == 0)
        status = taut_options_set(options, "method", method, NULL);
    if (status == 0)
        status = taut_options_set(options, "from", "0", NULL);
    if (status == 0)
        status = taut_project(system, options, NULL, &projection, NULL);
    if (status == 0) {
        taut_projection_result_get(projection, &result, NULL);
        memcpy(y, result.q, (size_t)n * sizeof(double));
        memcpy(y + n, result.v, (size_t)n * sizeof(double));
    }
    taut_projection_destroy(projection);
    taut_options_destroy(options);
    return status;
}

/* Where the judge begins: the model's start; slow: its slow point by series, kernel where there
 * is none; rigid and slow without springs: on the bonds. Says which. */
static const char *judge_start(const model *m, const char *motion, double *y)
{
    taut_index n = m->sizes.coordinates;
    taut_context *context;
    if (taut_context_create(m->system, NULL, &context, NULL) == 0)
        taut_context_start(context, 0, y, y + n, NULL);
    taut_context_destroy(context);
    bool bonds = strcmp(motion, "rigid") == 0 || m->fastest == 0;
    if (m->sizes.kind != TAUT_MECHANICAL || strcmp(motion, "full") == 0)
        return "the model's start";
    if (bonds)
        return project(m->system, "constraint", n, y) == 0 ? "the foot point" : "the model's start";
    if (project(m->system, "series", n, y) == 0)
        return "the slow point of series";
    return project(m->system, "kernel", n, y) == 0 ? "the slow point of kernel"
                                                   : "the model's start";
}

/* One trajectory of a judge from y; 0 when it arrives. */
static int follow(const model *m, judge_kind kind, double end, double tolerance, double *y,
                  int *level)
{
    judge j;
    double change = 0;
    int status = judge_create(&j, kind, m->system);
    if (status == 0 && kind == JUDGE_FIELD)
        status = judge_field(&j, 0, y, &change);
    if (status == 0 &&
        change > 1e-11) /* slow and fast are not apart by this much: the series does not settle */
        status = -1;
    if (status == 0)
        status = judge_march(&j, 0, end, tolerance, y);
    *level = j.level;
    judge_destroy(&j);
    return status;
}

/* Two trajectories and their distance. Slow motion: the explicit slow field, and the full motion
 * from the same slow point, which stays slow; where the field does not settle or costs too much,
 * the full motion at two tolerances. */
static void pronounce(const model *m, verdict *r, const taut_method *method)
{
    taut_index n = m->sizes.coordinates, dim = m->sizes.kind == TAUT_MECHANICAL ? 2 * n : n;
    bool mechanical = m->sizes.kind == TAUT_MECHANICAL, slow = strcmp(r->motion, "slow") == 0;
    double *other = calloc((size_t)n * 2 + 2, sizeof(double));
    int level = 0, status;
    r->made = true;
    r->y = calloc((size_t)n * 2 + 2, sizeof(double));
    r->end = end_for(m, r->motion, method);
    const char *start = judge_start(m, r->motion, r->y);
    memcpy(other, r->y, (size_t)dim * sizeof(double));
    judge_kind kind = !mechanical                       ? JUDGE_RATES
                      : strcmp(r->motion, "rigid") == 0 ? JUDGE_RIGID
                                                        : JUDGE_FULL;
    if (strcmp(m->name, "index2") == 0) {
        r->y[0] = r->y[1] = exp(r->end);
        snprintf(r->judge, sizeof r->judge, "the exact solution exp(t)");
        free(other);
        return;
    }
    model twin = {0}; /* y3 by its own rate, without the constraint */
    if (strcmp(m->name, "robertson_dae") == 0 && load("robertson", NULL, 0, &twin) == 0)
        m = &twin;
    status = follow(m, kind, r->end, TIGHT, r->y, &level);
    bool field = slow && m->fastest > 0 && n <= 200 && (m->sizes.can & TAUT_CAN_JETS) &&
                 !(m->sizes.can & TAUT_HAS_STIFF_POTENTIAL) &&
                 follow(m, JUDGE_FIELD, r->end, TIGHT, other, &level) == 0;
    if (field)
        snprintf(r->judge, sizeof r->judge, "full motion and explicit slow field from %s", start);
    else {
        judge_start(m, r->motion, other);
        status = status ? status : follow(m, kind, r->end, LOOSE, other, &level);
        snprintf(r->judge, sizeof r->judge, "%s from %s",
                 kind == JUDGE_RATES   ? "rates"
                 : kind == JUDGE_RIGID ? "index-1 equations"
                                       : "full motion",
                 start);
    }
    r->uncertainty = status == 0 ? apart(n, other, r->y) : INFINITY;
    check_row(r->uncertainty <= 1e-6, "%s, motion %s: the two judges are %.2g apart (%s)", m->name,
              r->motion, r->uncertainty, r->judge);
    taut_system_destroy(twin.system);
    free(other);
}

/* ---- rules, written down before anything was measured */

typedef struct cell {
    const model *model;
    const char *motion;
    const taut_method *method;
} cell;

static bool failed(const cell *c, const outcome *o)
{
    return !check_row(o->status == 0, "%s, motion %s, method %s: %s: %s", c->model->name, c->motion,
                      c->method->name, taut_code_name(o->status), o->error.message);
}

/* Adaptive step size at rtol: off by no more than 100 rtol of the largest coordinate, or rtol for
 * every step where there are more than 100; velocities times the mean step, rms as in the norm
 * of the driver. */
static void judge_adaptive(const cell *c, const verdict *r, const outcome *o, double rtol)
{
    taut_index n = c->model->sizes.coordinates;
    double steps = (double)o->result.statistics.steps,
           allowed = rtol * fmax(100, steps) + 10 * r->uncertainty;
    double off = apart(n, o->q, r->y), size = largest(n, r->y);
    check_row(off <= allowed,
              "%s, motion %s, method %s: off by %.3g, allowed %.3g (%g steps, judge %.1g)",
              c->model->name, c->motion, c->method->name, off, allowed, steps, r->uncertainty);
    if (c->model->sizes.kind != TAUT_MECHANICAL)
        return;
    double rates = 0;
    for (taut_index i = 0; i < n; i++)
        rates += (o->v[i] - r->y[n + i]) * (o->v[i] - r->y[n + i]);
    rates = sqrt(rates / n) * r->end / steps / size;
    check_row(rates <= allowed,
              "%s, motion %s, method %s: velocities times the step off by %.3g, allowed %.3g",
              c->model->name, c->motion, c->method->name, rates, allowed);
}

/* Orders 1 to 3 would need very many steps for less. */
static double tolerance_of(const cell *c)
{
    int order = c->method->bond_order > 0 ? c->method->bond_order : c->method->order;
    return order == 1 ? 1e-3 : order == 2 ? 1e-5 : order == 3 ? 1e-6 : 1e-7;
}

/* A fixed step size h and h/2: the error of the first is below a tenth, and the second one is
 * smaller by 2^(p - 1/2) at least, p the order (1 in slow motion, where orders are reduced), or
 * below 1e-9 and what the judge knows. */
static void judge_equal(const cell *c, const verdict *r, const outcome *o, const outcome *half)
{
    taut_index n = c->model->sizes.coordinates;
    double e1 = apart(n, o->q, r->y), e2 = apart(n, half->q, r->y),
           floor = 1e-9 + 10 * r->uncertainty;
    double p = strcmp(c->motion, "slow") == 0 ? 1 : c->method->order;
    check_row(e1 <= 0.1, "%s, motion %s, method %s: off by %.3g with the longer step, allowed 0.1",
              c->model->name, c->motion, c->method->name, e1);
    check_row(e2 <= floor || e2 <= e1 * pow(2, 0.5 - p),
              "%s, motion %s, method %s: off by %.3g, with half the step by %.3g: order %.2f, "
              "expected %g",
              c->model->name, c->motion, c->method->name, e1, e2, log2(e1 / e2), p);
}

/* Vibrations are resolved by 0.3 radian; order 2 by 0.05, since over 100 radians the phase error
 * of ab2, 5/12 (h omega)^2 a radian, must be small; order 1 by 0.01: it is unstable on every
 * oscillation and must not grow in 10 radians. First-order models take 10000 steps, or their own
 * step when that is shorter; the rest takes 200, and from order 4 on 60: with more of them errors
 * would be below 1e-9, and the order not seen. */
static double equal_step(const cell *c, double end)
{
    const model *m = c->model;
    double h = end / (c->method->order < 4 ? 200 : 60);
    if (strcmp(c->motion, "full") == 0 && m->fastest > 0)
        h = (c->method->order == 1 ? 0.01 : c->method->order < 4 ? 0.05 : 0.3) / m->fastest;
    else if (m->sizes.kind != TAUT_MECHANICAL)
        h = fmin(end / 10000, isnan(m->step) ? end : m->step);
    return end / ceil(end / h * (1 - 1e-12));
}

/* ---- effective motion */

/* Settings that double the frequencies of a model and keep the energy of its vibration; at
 * `times` 1 those of the model, but for starts whose energy would grow with the stiffness. */
static const struct {
    const char *model, *set[3]; /* %g: how many times the frequency */
} stiffer[] = {
    {"butane", {"bond_stiffness=224262.4*%g^2", "angle_stiffness=519.6528*%g^2"}},
    {"cart", {"omega=1000*%g"}},
    {"chain", {"omega=1000*%g"}},
    {"crane_cable", {"EA=1e8*%g^2"}},
    {"crossing", {"omega=200*%g"}},
    {"double_pendulum", {"omega=1e4*%g", "lift=sqrt(2e-4/%g)"}}, /* stretch 1/omega */
    {"double_pendulum_gravity", {"eps=1e-2/%g"}},
    {"forced_spring", {"omega=100*%g", "lift=0.01/%g"}},
    {"fpu", {"omega=50*%g"}},
    {"free_pendulum", {"omega=1000*%g"}},
    {"net", {"omega=1000*%g"}},
    {"pendulum", {"eps=1e-3/%g"}},
    {"polymer", {"omega=300*%g"}},
    {"quartic_rod", {"omega=1000*%g"}},
    {"robot_arm", {"stiffness=1e4*%g^2"}},
    {"rope_bending", {"omega=1000*%g"}},
    {"spring_pendulum", {"ratio=50*%g"}}, /* an exception of the page */
    {"triatomic", {"omega=500*%g", "lift=0.001/%g"}},
    {"truss", {"modulus=1e6*%g^2"}},
    {"decane_melt", {"bond_stiffness=224262.4*%g^2"}},
    {"water_box", {"bond_stiffness=443153.4*%g^2", "angle_stiffness=317.5656*%g^2"}},
};

static int load_stiffer(const char *name, double times, model *m)
{
    char text[3][80];
    const char *set[3];
    int count = 0;
    for (size_t k = 0; k < sizeof stiffer / sizeof stiffer[0]; k++)
        for (int i = 0; strcmp(stiffer[k].model, name) == 0 && i < 3 && stiffer[k].set[i]; i++) {
            const char *form = stiffer[k].set[i], *place = strstr(form, "%g");
            snprintf(text[i], sizeof text[i], "%.*s%g%s", (int)(place - form), form, times,
                     place + 2);
            set[count++] = text[i];
        }
    if (!check_row(count > 0,
                   "%s: how its vibration is made faster must be said in the table `stiffer`",
                   name))
        return -1;
    return load(name, set, count, m);
}

/* x <- its foot point on the bonds: Newton's iteration along M^-1 G^T. */
static int drop(judge *rigid, double t, double *x, double *step)
{
    for (int k = 0; k < 8; k++) {
        if (taut_evaluate(rigid->context, t, x, step, rigid->wanted, &rigid->values, NULL) != 0)
            return -1;
        memset(rigid->right, 0, (size_t)(rigid->n + rigid->rods) * sizeof(double));
        memcpy(rigid->values.gamma, rigid->values.bond, (size_t)rigid->m * sizeof(double));
        if ((rigid->sizes.mass == TAUT_MASS_DIAGONAL ? judge_schur(rigid, step)
                                                     : judge_whole(rigid, step)) != 0)
            return -1;
        for (taut_index i = 0; i < rigid->n; i++)
            x[i] += step[i];
        memset(step, 0, (size_t)rigid->n * sizeof(double));
    }
    return 0;
}

/* Foot points of the full motion at TIMES times, [TIMES][n]. */
static int average_full(const model *m, double end, double *foot)
{
    judge full, rigid;
    taut_index n = m->sizes.coordinates;
    double *y = calloc((size_t)n * 2, sizeof(double)), *step = calloc((size_t)n, sizeof(double));
    int status = judge_create(&full, JUDGE_FULL, m->system);
    status |= judge_create(&rigid, JUDGE_RIGID, m->system);
    judge_start(m, "full", y);
    for (int k = 0; k < TIMES && status == 0; k++) {
        double *x = foot + (size_t)k * (size_t)n, t = end * (k + 1) / TIMES;
        status = judge_march(&full, end * k / TIMES, t, 1e-12, y);
        memcpy(x, y, (size_t)n * sizeof(double));
        if (status == 0)
            status = drop(&rigid, t, x, step);
    }
    judge_destroy(&full);
    judge_destroy(&rigid);
    free(y);
    free(step);
    return status;
}

/* What effective motion is compared with, for a model and for one with twice its frequencies. */
typedef struct averages {
    bool made;
    model model[2];
    double end, *foot[2];
} averages;

static void make_averages(const model *m, averages *a)
{
    a->made = true;
    a->end = end_of(m, "effective", 2);
    for (int k = 0; k < 2; k++) {
        if (load_stiffer(m->name, k + 1, &a->model[k]) != 0)
            return;
        a->foot[k] = calloc((size_t)m->sizes.coordinates * TIMES, sizeof(double));
        if (!check_row(average_full(&a->model[k], a->end, a->foot[k]) == 0,
                       "%s: the full motion was not followed", m->name))
            return;
    }
}

static void release_averages(averages *a)
{
    for (int k = 0; k < 2; k++) {
        free(a->foot[k]);
        taut_system_destroy(a->model[k].system);
    }
    *a = (averages){0};
}

static void judge_effective(const cell *c, averages *a)
{
    double error[2] = {0, 0}, allowed = 20 / a->model[0].least;
    if (strcmp(c->model->name, "water_box") == 0) /* an exception of the page */
        allowed *= c->model->slow;
    taut_index n = c->model->sizes.coordinates;
    for (int k = 0; k < 2; k++) {
        double part = a->end / TIMES, h = strcmp(c->method->name, "impulse") == 0
                                              ? 2 / a->model[k].fastest
                                              : 0.6 / sqrt(a->model[k].fastest);
        request r = {c->motion, c->method->name, .end = a->end, .times = TIMES,
                     .scale = c->model->size};
        if (c->method->error_order > 0)
            r.rtol = 1e-8;
        else
            r.step = part / ceil(part / h);
        if (!c->method->averages) /* impulse methods: the default, 1/20, leaves a relative error of
                                     1e-4 in the frequency for every omega */
            r.inner = 1 / (60 * a->model[k].fastest);
        outcome o = run(a->model[k].system, &r);
        bool bad = failed(c, &o);
        for (int i = 0; i < TIMES && !bad; i++)
            error[k] = fmax(error[k], apart(n, o.q + (size_t)i * (size_t)n,
                                            a->foot[k] + (size_t)i * (size_t)n));
        release(&o);
        if (bad)
            return;
    }
    check_row(
        error[0] <= allowed,
        "%s, motion effective, method %s: off by %.3g from the averaged full motion, allowed %.3g",
        c->model->name, c->method->name, error[0], allowed);
    check_row(error[1] <= 0.75 * error[0] || error[1] <= 1e-6,
              "%s, motion effective, method %s: off by %.3g, with twice the frequency by %.3g: "
              "slope %.2f",
              c->model->name, c->method->name, error[0], error[1], log2(error[0] / error[1]));
}

/* ---- the matrix */

typedef struct pages {
    FILE *refusals, *judged;
} pages;

static bool refused(const cell *c, const outcome *o, const pages *p)
{
    if (o->status != TAUT_ERROR_REFUSED)
        return false;
    check_row(strlen(o->error.message) > 20, "%s %s %s: refused without a reason: '%s'",
              c->model->name, c->motion, c->method->name, o->error.message);
    fprintf(p->refusals, "| %s | %s | %s | ", c->model->name, c->motion, c->method->name);
    for (const char *text = o->error.message; *text; text++) /* a bar would end the cell */
        fprintf(p->refusals, *text == '|' ? "\\%c" : "%c", *text);
    fprintf(p->refusals, " |\n");
    return true;
}

/* Runs and judges one cell; true when it was not refused. */
static bool one(const cell *c, verdict *r, averages *a, const pages *p)
{
    bool adaptive = c->method->error_order > 0, effective = strcmp(c->motion, "effective") == 0;
    double end = end_for(c->model, c->motion, c->method), h = equal_step(c, end),
           rtol = tolerance_of(c);
    request how = {c->motion, c->method->name, .end = effective ? 1e-3 * end : end, .times = 1,
                   .scale = c->model->size};
    if (adaptive)
        how.rtol = rtol;
    else
        how.step = effective ? how.end : h;
    outcome o = run(c->model->system, &how), half = {0};
    bool no = refused(c, &o, p);
    if (!no && effective) {
        if (!a->made)
            make_averages(c->model, a);
        judge_effective(c, a);
    } else if (!no && !failed(c, &o)) {
        if (!r->made || r->end != end) {
            free(r->y);
            *r = (verdict){.motion = c->motion};
            pronounce(c->model, r, c->method);
        }
        how.step = h / 2;
        if (adaptive)
            judge_adaptive(c, r, &o, rtol);
        else if (half = run(c->model->system, &how), !failed(c, &half))
            judge_equal(c, r, &o, &half);
    }
    release(&o);
    release(&half);
    return !no;
}

/* A row of the second table: who judged this model in this motion, and whom. Methods of order 1
 * come later: they are followed less far; those for study last. */
static void one_motion(const model *m, const char *motion, const pages *p)
{
    verdict r = {.motion = motion};
    averages a = {0};
    char methods[600] = "", by[200] = "", until[40] = "";
    bool mechanical = m->sizes.kind == TAUT_MECHANICAL;
    for (int pass = 0; pass < 3; pass++)
        for (int k = 0; taut_method_table[k]; k++) {
            const taut_method *method = taut_method_table[k];
            int own = is_for_study(method) ? 2 : method->order == 1;
            if (own != pass || (mechanical && !(method->motions & taut_motion_bit(motion))))
                continue;
            if (!mechanical && !(method->motions & TAUT_MOTION_FULL))
                continue;
            if (!one(&(cell){m, motion, method}, &r, &a, p))
                continue;
            size_t used = strlen(methods);
            snprintf(methods + used, sizeof methods - used, "%s%s", used ? ", " : "", method->name);
            if (!by[0]) {
                snprintf(by, sizeof by, "%s", a.made ? "foot points of the full motion" : r.judge);
                snprintf(until, sizeof until, "%.4g", a.made ? a.end : r.end);
            }
        }
    if (methods[0])
        fprintf(p->judged, "| %s | %s | %s | %s | %s |\n", m->name, motion, until, by, methods);
    free(r.y);
    release_averages(&a);
}

static void copy(FILE *from, FILE *to)
{
    char line[900];
    rewind(from);
    while (fgets(line, sizeof line, from))
        fputs(line, to);
    fclose(from);
}

/* Models with jumps: an exception of the page. */
static bool jumps(const char *name)
{
    static const char *const listed[] = {"half_car", "foot_excitation", "penalty_contact",
                                         "stick_slip"};
    for (int k = 0; k < 4; k++)
        if (strcmp(name, listed[k]) == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    static const char *const motions[] = {"rigid", "slow", "effective", "full"};
    char *name[100];
    int models = list_models(name, 100);
    const char *only = getenv("TAUT_MATRIX_MODEL");
    bool sanitized = getenv("TAUT_TEST_SANITIZED"), partial = sanitized || only || long_form();
    pages p = {tmpfile(), tmpfile()};
    FILE *page = argc > 1 ? fopen(argv[1], "w") : tmpfile();
    taut_blas_threads(1);
    check_group("matrix");
    check_row(models > 20 && p.refusals && p.judged && page, "%d models found", models);
    for (int k = 0; k < models; k++) {
        model m;
        if ((only && strcmp(only, name[k]) != 0) || jumps(name[k]))
            continue;
        if (sanitized &&
            (strcmp(name[k], "water_box") == 0 || strcmp(name[k], "net") == 0 ||
             strcmp(name[k], "lj_fluid") == 0 || strcmp(name[k], "decane_melt") == 0)) {
            check_skip("water_box, net, lj_fluid and decane_melt take long under sanitizers");
            continue;
        }
        if (load(name[k], NULL, 0, &m) != 0)
            continue;
        bool mechanical = m.sizes.kind == TAUT_MECHANICAL;
        for (int i = 0; i < (mechanical ? 4 : 1); i++)
            one_motion(&m, mechanical ? motions[i] : "", &p);
        taut_system_destroy(m.system);
    }
    fputs(page_head, page);
    copy(p.refusals, page);
    fputs(page_rules, page);
    copy(p.judged, page);
    fputs(page_exceptions, page);
    if (argc == 1 && !long_form())
        page_compare(page, partial);
    fclose(page);
    for (int k = 0; k < models; k++)
        free(name[k]);
    return check_done();
}
