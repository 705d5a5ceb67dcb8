/* make_references.c - makes the table tests/trust/shipped.csv of test_trust.c, by hand:
 *
 *     cmake --build build --target make_references
 *     build/tests/make_references tests/trust/shipped.csv [MODEL]
 *
 * For each row of `plans` (subjects.h), each stiffness and each motion: q, v and lambda at the end
 * of the motion, computed without src/step, src/wrap and src/drive by the judges of tests/judge
 * (extrapolation of order 12):
 *
 *     full    every oscillation, over at most `radians` of the fastest vibration
 *     slow    the explicit slow field from the slow point of judge/slow.h
 *     rigid   index-1 equations [M G^T; G 0] from the foot point
 *     rates   first-order systems, written as full; index2: the exact solution
 *
 * Columns: value; uncertainty, the distance of two tolerances (slow: of two levels of the field and
 * of the full motion as well, and what the slow point is not known to); sensitivity, the largest
 * relative change at the end by a relative change of the initial state (tangent to the bonds and,
 * in full motion, of v alone: it excites no vibration), divided by it; scale, the largest |q|, |v|,
 * |lambda| of like variables over the run and over the rigid motion, which lasts longer than a
 * short full motion; rounding, what double precision leaves unknown: 100 u of the scale times the
 * sensitivity; in full motion also that of q, 8 u |q| sqrt(steps), times Omega in v and kappa in
 * lambda.
 *
 * The end is halved until the sensitivity is below 30 (slow and rigid), 100 (full) or 300 (first
 * order). Of many variables four of each kind are written. Omitted: slow motions whose separation
 * leaves them unknown (chain, rope and butane at their lowest stiffness), and michaelis_menten
 * beyond 1e5, where following every relaxation explicitly takes hours. */
#include "judge/slow.h"
#include "judge/trajectory.h"
#include "trust/subjects.h"

static const double ROUNDING = 100 * DBL_EPSILON / 2;

/* A trajectory and what is known about it. Arrays are [dim + m]: y, lambda. */
typedef struct path {
    const char *motion;
    judge_kind kind;
    double end, doubt;   /* of the initial state, relative */
    const double *probe; /* slow: a state at which the field is not simpler than elsewhere */
    double *y, *unknown, *most, *scale, *rounding;
    double sensitivity[3]; /* q, v, lambda */
} path;

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

/* p->rounding, of the forces of springs at first: each step rounds q by 8 u, and 20 of them for a
 * radian add up as a random walk. */
static void measure_rounding(const subject_model *s, path *p)
{
    double length = 0;
    for (taut_index i = 0; i < s->n; i++)
        length = fmax(length, p->scale[i]);
    const double u = DBL_EPSILON / 2, stiff[] = {0, s->fastest, s->kappa};
    double walk = 8 * u * sqrt(20 * s->fastest * p->end) * length;
    for (taut_index i = 0; p->kind == JUDGE_FULL && i < s->dim + s->m; i++)
        p->rounding[i] = walk * stiff[kind_of(s, i)];
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
            fprintf(to, "%s,%s,%s,%.17g,%c,%d,%.17g,%.1e,%.2g,%.3g,%.1e\n", s->name, s->settings,
                    p->motion, p->end, "qvl"[kind], (int)(i - first), p -> y[i], p -> unknown[i],
                    p -> sensitivity[kind], p -> scale[i], p -> rounding[i]);
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
    fprintf(stderr,
            "%-24s %-40s %-5s to %-9.3g unknown %.1e %.1e %.1e sensitivity %.2g %.2g %.2g %s\n",
            s->name, s->settings, p->motion, p->end, worst[0], worst[1], worst[2],
            p->sensitivity[0], p->sensitivity[1], p->sensitivity[2], what);
}

/* Writes what is known well enough to judge anything by. */
static void conclude(FILE *to, const subject_model *s, const path *p, int status)
{
    bool good = status == 0;
    for (taut_index i = 0; good && i < s->n; i++)
        good = p->unknown[i] <= 1e-6 * p->scale[i];
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

/* Slow motions are not slow for ever: the full motion from the same slow point vibrates after a
 * while, by what separation makes exponentially small. No one can say which is right: the distance
 * is added to what is unknown, where oscillations can be followed. */
static int compare_full(const subject_model *s, path *p, const double *slow)
{
    path full = *p;
    full.kind = JUDGE_FULL;
    if (p->kind != JUDGE_FIELD || s->fastest * p->end > 20000)
        return 0;
    double *other = numbers(s);
    int status = travel(s, &full, slow, 1e-13, 0, other, NULL);
    if (status != 0)
        status = travel(s, &full, slow, 1e-12, 0, other, NULL);
    for (taut_index i = 0; i < s->dim + s->m; i++)
        other[i] -= p->y[i];
    spread(s, other, other);
    for (taut_index i = 0; i < s->dim + s->m; i++)
        p->unknown[i] += other[i];
    free(other);
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
    if (!unslow) {
        status = follow(s, &p, s->fastest > 0 ? slow : foot, NULL);
        conclude(to, s, &p, status ? status : compare_full(s, &p, slow));
    } else
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
    fprintf(to, "model,settings,motion,t_end,kind,index,value,uncertainty,sensitivity,scale,"
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
