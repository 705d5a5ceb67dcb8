/* make_references.c - makes the table tests/trust/shipped.csv of test_trust.c, by hand:
 *
 *     cmake --build build --target make_references
 *     build/tests/make_references tests/trust/shipped.csv [MODEL]
 *
 * For each row of `plans` below, each stiffness and each motion: q, v and lambda at the end of the
 * motion, computed without src/step, src/wrap and src/drive by the judges of tests/judge
 * (extrapolation of order 12):
 *
 *     full    every oscillation, over at most `radians` of the fastest vibration
 *     slow    the explicit slow field from the slow point of judge/slow.h
 *     rigid   index-1 equations [M G^T; G 0] from the foot point
 *     rates   first-order systems, written as full; index2: the exact solution
 *
 * Columns: value; uncertainty, the distance of two tolerances (slow: of two levels of the field as
 * well, and what the slow point is not known to); sensitivity, the largest relative change at the
 * end by a relative change of the initial state (tangent to the bonds and, in full motion, of v
 * alone: it excites no vibration), divided by it; scale, the largest |q|, |v|, |lambda| of like
 * variables over the run and over the rigid motion, which lasts longer than a short full motion;
 * rounding, what double precision leaves unknown: 100 u of the scale times the sensitivity, in
 * full motion also 100 u Omega |q| in v and 100 u kappa |q| in lambda.
 *
 * The end is halved until the sensitivity is below 30 (slow and rigid), 100 (full) or 300 (first
 * order). Of many variables four of each kind are written. Omitted: slow motions whose separation
 * leaves them unknown (chain, rope and butane at their lowest stiffness), and michaelis_menten
 * beyond 1e5, where following every relaxation explicitly takes hours. */
#include "judge/slow.h"
#include "judge/trajectory.h"

#include <stdio.h>

typedef struct plan {
    const char *model, *set; /* W: the frequency; settings separated by ';' */
    int first, last;         /* decades of W */
    double end;              /* at most; 0: the end of the model */
} plan;

/* Vibrations keep their energy where it would grow with the stiffness. As they are shipped (no
 * settings) models are needed for runs by default. */
static const plan plans[] = {
    {"butane", "bond_stiffness=224262.4*W^2;angle_stiffness=519.6528*W^2", 0, 4, 2},
    {"butane", NULL, 0, 0, 2},
    {"cart", "omega=W", 2, 8, 0},
    {"cart", NULL, 0, 0, 0},
    {"chain", "N=5;omega=W", 2, 8, 0},
    {"chain", NULL, 0, 0, 0},
    {"double_pendulum", "omega=W;lift=sqrt(2/W)", 2, 8, 0},
    {"double_pendulum", "omega=W;lift=0", 2, 8, 0},
    {"double_pendulum", NULL, 0, 0, 0},
    {"double_pendulum_gravity", "eps=1/W", 2, 8, 0},
    {"double_pendulum_gravity", NULL, 0, 0, 0},
    {"five_dimensions", NULL, 0, 0, 0},
    {"forced_spring", "omega=W;lift=1/W", 2, 8, 0},
    {"forced_spring", NULL, 0, 0, 0},
    {"four_bar", "c=1/W^2", 2, 8, 0},
    {"four_bar", NULL, 0, 0, 0},
    {"fpu", "omega=W", 2, 8, 10},
    {"fpu", NULL, 0, 0, 10},
    {"free_pendulum", "omega=W", 2, 8, 0},
    {"free_pendulum", NULL, 0, 0, 0},
    {"hydrogen_oxygen", NULL, 0, 0, 0},
    {"index2", "nu=W", 2, 8, 0},
    {"index2", NULL, 0, 0, 0},
    {"kepler", "c=1/W", 1, 2, 0},
    {"kepler", NULL, 0, 0, 0},
    {"michaelis_menten", "eps=1/W", 2, 5, 0},
    {"michaelis_menten", NULL, 0, 0, 0},
    {"michaelis_menten_mixed", "eps=1/W", 2, 5, 0},
    {"michaelis_menten_mixed", NULL, 0, 0, 0},
    {"net", "N=2;omega=W", 2, 8, 0},
    {"net", NULL, 0, 0, 0.2},
    {"pendulum", "eps=1/W", 2, 8, 0},
    {"pendulum", NULL, 0, 0, 0},
    {"quartic_rod", "omega=W", 2, 8, 0},
    {"quartic_rod", NULL, 0, 0, 0},
    {"rope_bending", "N=4;omega=W", 2, 8, 0},
    {"rope_bending", NULL, 0, 0, 0},
    {"slider_crank", NULL, 0, 0, 0},
    {"triatomic", "omega=W;lift=0.5/W", 2, 8, 0},
    {"triatomic", NULL, 0, 0, 0},
    {"truss", "modulus=W^2", 2, 8, 0},
    {"truss", NULL, 0, 0, 0},
    {"water_box", "N=2;bond_stiffness=443153.4*W^2;angle_stiffness=317.5656*W^2", 0, 3, 0.02},
    {"water_box", NULL, 0, 0, 0.005},
};

/* Variables that are not alike: those with this prefix are a group of their own. */
static const struct {
    const char *model;
    char kind; /* c: q and v, l: lambda */
    const char *prefix;
} unlike[] = {
    {"butane", 'l', "bend"},      {"cart", 'c', "phi"},         {"four_bar", 'c', "theta"},
    {"four_bar", 'l', "drive"},   {"kepler", 'c', "v"},         {"slider_crank", 'c', "theta"},
    {"slider_crank", 'c', "psi"}, {"slider_crank", 'l', "slide"}, {"water_box", 'l', "bend"},
};

static const double ROUNDING = 100 * DBL_EPSILON / 2;

/* A model with its settings; what judges take is its twin, where it has one. */
typedef struct subject_model {
    const char *name;
    char settings[200];
    taut_system *own, *judged;
    taut_sizes sizes; /* of what is judged */
    taut_index n, m, dim;
    double *start;  /* [dim] */
    double fastest; /* Omega; 0 without springs */
    double kappa;   /* largest 1/c */
    double until;
} subject_model;

/* A trajectory and what is known about it. Arrays are [dim + m]: y, lambda. */
typedef struct path {
    const char *motion;
    judge_kind kind;
    double end, doubt; /* of the initial state, relative */
    const double *probe; /* slow: a state at which the field is not simpler than elsewhere */
    double *y, *unknown, *most, *scale, *rounding;
    double sensitivity[3]; /* q, v, lambda */
} path;

/* ---- models */

static void put_settings(const char *form, int decade, char *to, size_t size)
{
    size_t used = 0;
    for (; form && *form && used + 8 < size; form++)
        used += (size_t)(*form == 'W' ? snprintf(to + used, size - used, "1e%d", decade)
                                      : snprintf(to + used, size - used, "%c", *form));
    to[used] = '\0';
}

static taut_system *read_system(const char *file, const char *text, const char *settings)
{
    char copy[200];
    const char *set[4];
    taut_load how = {.size = sizeof how, .set = set};
    taut_system *system = NULL;
    taut_error error;
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *word = strtok(copy, ";"); word && how.set_count < 4; word = strtok(NULL, ";"))
        set[how.set_count++] = word;
    int status = text ? taut_system_parse(text, strlen(text), "twin.taut", &how, &system, &error)
                      : taut_system_load(file, &how, &system, &error);
    if (status != 0)
        fprintf(stderr, "%s %s: %s\n", file, settings, error.message);
    return status == 0 ? system : NULL;
}

static double run_setting(const taut_system *system, const char *wanted)
{
    const char *name, *value;
    for (taut_index k = 0; taut_system_setting(system, k, &name, &value); k++)
        if (strcmp(name, wanted) == 0)
            return strtod(value, NULL);
    return 1;
}

static void look_at_start(subject_model *s)
{
    taut_context *context = NULL;
    double frequency[8] = {0};
    int found = 0;
    bool complete;
    s->start = calloc((size_t)s->n * 2 + 2, sizeof(double));
    if (taut_context_create(s->judged, NULL, &context, NULL) != 0 ||
        taut_context_start(context, 0, s->start, s->start + s->n, NULL) != 0)
        exit(1);
    if (s->dim > s->n) {
        taut_frequencies(context, 0, s->start, 4, frequency, &found, &complete, NULL);
        const double *c = taut_context_compliance(context);
        for (taut_index i = 0; i < s->m; i++)
            s->kappa = fmax(s->kappa, c[i] > 0 ? 1 / c[i] : 0);
    }
    s->fastest = found > 0 ? frequency[found - 1] : 0;
    taut_context_destroy(context);
}

/* The shipped twin has omega = 1000: its stiffness is replaced. */
static taut_system *read_twin(const subject_model *s)
{
    static const char *const quartic =
        "[parameters]\nomega = 1000\n[coordinates]\nx, y\n[definitions]\ns = x^2 + y^2 - 1\n"
        "[potential]\ny\n[bonds]\nrod = s/2*sqrt(1 + 2*s/3 + s^2/4) stiffness omega^2\n[start]\n"
        "x = 1, y = 0\n";
    return strcmp(s->name, "quartic_rod") == 0 ? read_system("twin", quartic, s->settings) : NULL;
}

static int read_subject(const plan *p, int decade, subject_model *s)
{
    char file[1200];
    *s = (subject_model){.name = p->model};
    put_settings(p->set, decade, s->settings, sizeof s->settings);
    snprintf(file, sizeof file, "%s/models/%s.taut", TAUT_SOURCE_DIR, p->model);
    if (!(s->own = read_system(file, NULL, s->settings)))
        return -1;
    s->judged = read_twin(s);
    s->judged = s->judged ? s->judged : s->own;
    taut_sizes_init(&s->sizes);
    taut_system_sizes_get(s->judged, &s->sizes, NULL);
    s->n = s->sizes.coordinates;
    s->m = s->sizes.kind == TAUT_MECHANICAL ? s->sizes.bonds : s->sizes.algebraic;
    s->dim = s->sizes.kind == TAUT_MECHANICAL ? 2 * s->n : s->n;
    s->until = p->end > 0 ? p->end : run_setting(s->own, "until");
    look_at_start(s);
    return 0;
}

static void destroy_subject(subject_model *s)
{
    if (s->judged != s->own)
        taut_system_destroy(s->judged);
    taut_system_destroy(s->own);
    free(s->start);
}

/* ---- groups */

/* Which of [dim + m] is of which kind: 0 q, 1 v, 2 lambda. */
static int kind_of(const subject_model *s, taut_index i)
{
    return i >= s->dim ? 2 : i >= s->n;
}

static void name_of(const subject_model *s, taut_index i, char *name, size_t size)
{
    int kind = kind_of(s, i);
    bool first = s->dim == s->n;
    taut_item item = kind < 2 ? TAUT_COORDINATE : first ? TAUT_ALGEBRAIC : TAUT_BOND;
    taut_system_name(s->judged, item, i - (kind == 2 ? s->dim : kind * s->n), name, size);
}

static int group_of(const subject_model *s, taut_index i)
{
    char name[80];
    int kind = kind_of(s, i);
    name_of(s, i, name, sizeof name);
    for (size_t k = 0; k < sizeof unlike / sizeof unlike[0]; k++)
        if (strcmp(unlike[k].model, s->name) == 0 && (unlike[k].kind == 'l') == (kind == 2) &&
            strncmp(name, unlike[k].prefix, strlen(unlike[k].prefix)) == 0)
            return 3 + kind;
    return kind;
}

/* to[i] <- the largest of x over the group of i */
static void spread(const subject_model *s, const double *x, double *to)
{
    double most[6] = {0};
    for (taut_index i = 0; i < s->dim + s->m; i++)
        most[group_of(s, i)] = fmax(most[group_of(s, i)], fabs(x[i]));
    for (taut_index i = 0; i < s->dim + s->m; i++)
        to[i] = most[group_of(s, i)];
}

/* ---- trajectories */

static double *numbers(const subject_model *s)
{
    return calloc((size_t)(s->dim + s->m) + 1, sizeof(double));
}

/* out[dim + m] at the end of p, from y; slow motion `lower` levels below that where the field
 * settles. */
static int travel(const subject_model *s, const path *p, const double *y, double tolerance,
                  int lower, double *out, double *most)
{
    judge j;
    double change, *slope = numbers(s);
    int status = judge_create(&j, p->kind, s->judged);
    memcpy(out, y, (size_t)s->dim * sizeof(double));
    if (status == 0 && p->kind == JUDGE_FIELD)
        status = judge_field(&j, p->end, p->probe, &change);
    j.level = j.level > lower ? j.level - lower : 0;
    j.most = most;
    j.longest = p->kind == JUDGE_FULL ? (tolerance < 2e-12 ? 0.5 : 0.8) / s->fastest : 0;
    if (status == 0)
        status = judge_march(&j, 0, p->end, tolerance, out);
    if (status == 0)
        status = judge_rate(&j, p->end, out, slope);
    if (status == 0 && s->dim > s->n)
        judge_multipliers(&j, out + s->n, out + s->dim);
    if (status == 0 && most && s->dim > s->n)
        judge_observe(&j, s->dim, out, j.seen);
    judge_destroy(&j);
    free(slope);
    return status;
}

/* dq <- its part tangent to the bonds at (0, y), in the metric of the mass */
static int make_tangent(const subject_model *s, const double *y, double *dq)
{
    judge j;
    double *slope = numbers(s);
    int status = judge_create(&j, JUDGE_RIGID, s->judged);
    if (status == 0)
        status = judge_rate(&j, 0, y, slope);
    memset(j.right, 0, (size_t)(s->n + s->m) * sizeof(double));
    memset(j.values.gamma, 0, (size_t)s->m * sizeof(double));
    for (taut_index i = 0; status == 0 && i < s->n; i++) {
        if (!j.tangent.start)
            j.right[i] = j.values.mass[i] * dq[i];
        for (taut_index e = j.tangent.start ? j.tangent.start[i] : 0;
             j.tangent.start && e < j.tangent.start[i + 1]; e++)
            j.right[i] += j.values.mass[e] * dq[j.tangent.column[e]];
    }
    if (status == 0)
        status = s->sizes.mass == TAUT_MASS_DIAGONAL ? judge_schur(&j, dq) : judge_whole(&j, dq);
    judge_destroy(&j);
    free(slope);
    return status;
}

/* Fixed numbers in [-1, 1], none close to 0. */
static double irregular(int k)
{
    double x = fmod(0.6180339887498949 * (k + 1), 1);
    return x < 0.5 ? -1 + x : x;
}

/* p->sensitivity, from a path that begins at y changed by `share` of the scale; what is unknown
 * or rounding does not count. */
static int measure_sensitivity(const subject_model *s, path *p, const double *y, double tolerance)
{
    const double share = 1e-7;
    double *other = numbers(s), *change = numbers(s);
    for (taut_index i = p->kind == JUDGE_FULL ? s->n : 0; i < s->dim; i++)
        change[i] = share * p->scale[i] * irregular(i);
    int status = 0;
    for (int k = 0; s->dim > s->n && s->m > 0 && k < 2; k++)
        status = status ? status : make_tangent(s, y, change + k * s->n);
    for (taut_index i = 0; i < s->dim; i++)
        change[i] += y[i];
    status = status ? status : travel(s, p, change, tolerance, 0, other, NULL);
    memset(p->sensitivity, 0, sizeof p->sensitivity);
    for (taut_index i = 0; i < s->dim + s->m; i++)
        if (p->scale[i] > 0)
            p->sensitivity[kind_of(s, i)] =
                fmax(p->sensitivity[kind_of(s, i)],
                     (fabs(other[i] - p->y[i]) - 3 * p->unknown[i] - p->rounding[i]) /
                         (share * p->scale[i]));
    free(other);
    free(change);
    return status;
}

/* p->rounding, of the forces of springs at first. */
static void measure_rounding(const subject_model *s, path *p)
{
    double length = 0;
    for (taut_index i = 0; i < s->n; i++)
        length = fmax(length, p->scale[i]);
    for (taut_index i = 0; p->kind == JUDGE_FULL && i < s->dim + s->m; i++)
        p->rounding[i] = ROUNDING * length * (const double[]){0, s->fastest, s->kappa}[kind_of(s, i)];
}

/* Follows p from y: twice, and a third time for its sensitivity. natural: scales of a longer
 * motion, or NULL. */
static int follow(const subject_model *s, path *p, const double *y, const double *natural)
{
    static const double tolerance[] = {1e-13, 1e-12, 1e-11, 1e-9};
    double *other = numbers(s);
    taut_index all = s->dim + s->m;
    int status = -1, lower = p->kind == JUDGE_FIELD, k;
    for (k = 0; k < 2 && status != 0; k++) {
        memset(p->most, 0, (size_t)all * sizeof(double));
        status = travel(s, p, y, tolerance[k], 0, p->y, p->most);
    }
    if (status == 0)
        status = travel(s, p, y, tolerance[k + 1], lower, other, NULL);
    for (taut_index i = 0; i < all; i++) {
        other[i] -= p->y[i];
        p->most[i] = fmax(p->most[i], natural ? natural[i] : 0);
    }
    spread(s, p->most, p->scale);
    spread(s, other, p->unknown);
    measure_rounding(s, p);
    status = status ? status : measure_sensitivity(s, p, y, tolerance[k - 1]);
    for (taut_index i = 0; i < all; i++) {
        double magnified = p->scale[i] * fmax(1, p->sensitivity[kind_of(s, i)]);
        p->unknown[i] += p->doubt * magnified;
        p->rounding[i] += ROUNDING * magnified;
    }
    free(other);
    return status;
}

/* Halves the end until the motion is insensitive, or as long as that helps: what does not grow
 * with time is no chaos. */
static int shorten(const subject_model *s, path *p, const double *y, const double *natural,
                   double most)
{
    double last = INFINITY;
    for (int k = 0; k < 10; k++, p->end /= 2) {
        if (follow(s, p, y, natural) != 0)
            continue;
        double now = fmax(p->sensitivity[0], p->sensitivity[1]);
        if (now <= most)
            return 0;
        if (now > 0.7 * last && last < 1000) {
            p->end *= 2;
            return follow(s, p, y, natural);
        }
        last = now;
    }
    return -1;
}

/* ---- the table */

static void write_path(FILE *to, const subject_model *s, const path *p)
{
    bool twin = s->judged != s->own;
    for (int kind = 0; kind < 3; kind++) {
        taut_index first = kind == 2 ? s->dim : kind * s->n, count = kind == 2 ? s->m : s->n;
        count = (kind == 1 && s->dim == s->n) || (kind == 2 && twin) ? 0 : count;
        taut_index lines = count < 4 ? count : 4;
        for (taut_index k = 0; k < lines; k++) {
            taut_index i = first + (lines > 1 ? k * (count - 1) / (lines - 1) : 0);
            char name[80];
            name_of(s, i, name, sizeof name);
            fprintf(to, "%s,%s,%s,%.17g,%c,%s,%.17g,%.1e,%.2g,%.3g,%.1e\n", s->name, s->settings,
                    p->motion, p->end, "qvl"[kind], name, p->y[i], p->unknown[i],
                    p->sensitivity[kind], p->scale[i], p->rounding[i]);
        }
    }
    fflush(to);
}

static void report(const subject_model *s, const path *p, const char *what)
{
    double worst[3] = {0};
    for (taut_index i = 0; i < s->dim + s->m; i++)
        worst[kind_of(s, i)] =
            fmax(worst[kind_of(s, i)], p->scale[i] > 0 ? p->unknown[i] / p->scale[i] : 0);
    fprintf(stderr, "%-24s %-40s %-5s to %-9.3g unknown %.1e %.1e %.1e sensitivity %.2g %.2g %.2g %s\n",
            s->name, s->settings, p->motion, p->end, worst[0], worst[1], worst[2],
            p->sensitivity[0], p->sensitivity[1], p->sensitivity[2], what);
}

/* Writes what is known well enough to judge anything by. */
static void conclude(FILE *to, const subject_model *s, const path *p, int status)
{
    bool good = status == 0;
    for (taut_index i = 0; good && i < s->n; i++)
        good = p->unknown[i] <= 1e-5 * p->scale[i];
    report(s, p, good ? "" : status ? "NOT REACHED" : "NOT KNOWN");
    if (good && to)
        write_path(to, s, p);
}

static path path_create(const subject_model *s, const char *motion, judge_kind kind, double end)
{
    return (path){.motion = motion,
                  .kind = kind,
                  .end = end,
                  .y = numbers(s),
                  .unknown = numbers(s),
                  .most = numbers(s),
                  .scale = numbers(s),
                  .rounding = numbers(s)};
}

static void path_destroy(path *p)
{
    free(p->y);
    free(p->unknown);
    free(p->most);
    free(p->scale);
    free(p->rounding);
}

static void first_order(FILE *to, const subject_model *s)
{
    path p = path_create(s, "full", JUDGE_RATES, s->until);
    int status = 0;
    if (strcmp(s->name, "index2") == 0) {
        p.y[0] = p.y[1] = exp(p.end);
        p.y[2] = -exp(p.end) / (2 - p.end);
        for (int i = 0; i < 3; i++)
            p.scale[i] = fabs(p.y[i]);
        p.sensitivity[0] = p.sensitivity[2] = 1;
    } else {
        status = shorten(s, &p, s->start, NULL, 300);
    }
    conclude(to, s, &p, status);
    path_destroy(&p);
}

/* The foot point of the start, where the rigid motion begins, and the slow point. */
static int slow_start(const subject_model *s, double *foot, double *slow, double *doubt)
{
    slow_judge j;
    slow_point p;
    size_t bytes = (size_t)s->n * sizeof(double);
    int status = slow_create(&j, s->judged, 0);
    if (status != 0 && status == TAUT_ERROR_REFUSED) { /* a guess: the start is consistent */
        memcpy(foot, s->start, 2 * bytes);
        return s->fastest > 0 ? -1 : 0;
    }
    if (status == 0)
        status = slow_foot(&j, s->start, s->start + s->n);
    memcpy(foot, j.foot_q, bytes);
    memcpy(foot + s->n, j.foot_v, bytes);
    if (status == 0 && s->fastest > 0 && s->n <= 60) {
        status = slow_find(&j, s->start, s->start + s->n, 1e-14, 1e-14, &p);
        memcpy(slow, p.q, status ? 0 : bytes);
        memcpy(slow + s->n, p.v, status ? 0 : bytes);
        doubt[0] = p.doubt_q;
        doubt[1] = p.doubt_v;
        doubt[2] = slow_far(s->n, p.q, j.foot_q) + p.doubt_q;
    } else if (s->fastest > 0)
        status = -1;
    slow_destroy(&j);
    return status;
}

/* ends: the stiffness is the least or the greatest, which is enough for rigid motion */
static void mechanical(FILE *to, const subject_model *s, double radians, bool ends)
{
    double *foot = numbers(s), *slow = numbers(s), doubt[3] = {0};
    int unslow = slow_start(s, foot, slow, doubt);
    path rigid = path_create(s, "rigid", JUDGE_RIGID, s->until);
    int status = shorten(s, &rigid, foot, NULL, 30);
    conclude(ends ? to : NULL, s, &rigid, status);
    path p = path_create(s, "slow", s->fastest > 0 ? JUDGE_FIELD : JUDGE_RIGID, rigid.end);
    double size[2] = {0};
    for (taut_index i = 0; i < 2 * s->n; i++)
        size[i >= s->n] = fmax(size[i >= s->n], rigid.scale[i]);
    /* springs so stiff that the slow point is the foot point, but for rounding: (q - X)' is taken
     * for 30 times (q - X) and the rate of the motion */
    double nearby = 30 * doubt[2] * size[1] / size[0];
    if (nearby < doubt[1]) {
        memcpy(slow + s->n, foot + s->n, (size_t)s->n * sizeof(double));
        doubt[1] = nearby;
    }
    p.doubt = fmax(doubt[0] / size[0], doubt[1] / size[1]);
    p.probe = rigid.y;
    if (!unslow)
        conclude(to, s, &p, follow(s, &p, s->fastest > 0 ? slow : foot, NULL));
    else
        report(s, &p, "NO SLOW POINT");
    path_destroy(&p);
    if (s->fastest > 0) {
        p = path_create(s, "full", JUDGE_FULL, fmin(rigid.end, radians / s->fastest));
        conclude(to, s, &p, shorten(s, &p, s->start, rigid.most, 100));
        path_destroy(&p);
    }
    path_destroy(&rigid);
    free(foot);
    free(slow);
}

int main(int argc, char **argv)
{
    FILE *to = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (!to) {
        fprintf(stderr, "usage: make_references FILE [MODEL]\n");
        return 2;
    }
    fprintf(to, "model,settings,motion,t_end,kind,name,value,uncertainty,sensitivity,scale,"
                "rounding\n");
    for (size_t k = 0; k < sizeof plans / sizeof plans[0]; k++)
        for (int decade = plans[k].first; decade <= plans[k].last; decade++) {
            subject_model s;
            if ((argc > 2 && strcmp(argv[2], plans[k].model) != 0) ||
                read_subject(&plans[k], decade, &s) != 0)
                continue;
            double radians = s.n <= 2 ? 1200 : s.n <= 6 ? 600 : s.n <= 60 ? 300 : 60;
            if (s.dim == s.n)
                first_order(to, &s);
            else
                mechanical(to, &s, radians, decade == plans[k].first || decade == plans[k].last);
            destroy_subject(&s);
        }
    return fclose(to) != 0;
}
