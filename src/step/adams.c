/* adams.c - Adams methods of variable order and step size, predictor and corrector, in the form
 * PECE: two evaluations a step, at any order from 1 to 12. With t_n the end of the latest step,
 *
 *     Phi_j(n) = prod_{i=1..j} (t_n - t_{n-i}) f[t_n, .., t_{n-j}]          modified differences
 *     P   v* = v_n + h sum_{j<k} d_j Phi_j(n),   q* = q_n + h v_n + h^2 sum_{j<k} D_j Phi_j(n)
 *     E   f* = rate(t_n + h, q*, v*),   Delta = f* - (polynomial through k points at t_n + h)
 *     C   v  = v* + h c_k Delta,   q = q* + h^2 C_k Delta
 *     E   f_{n+1} at the point as it is kept, after stabilisation
 *
 * d and D are the integral and the double integral of Newton's basis polynomials; accelerations
 * alone have a history. First order: q as v. The error of order k is h (c_k - c_{k-1}) Delta; the
 * result has order k + 1.
 *
 * [Shampine, Gordon, Computer Solution of Ordinary Differential Equations, 1975, chapters 5, 7 and
 * 10; second order: Krogh, in Lecture Notes in Mathematics 362, 1974, pp. 22-71; Hairer, Norsett,
 * Wanner I, III.5 and III.7.]
 *
 * Deviations: the driver accepts or rejects by its own norm, in which ten times the estimate
 * counts; steps grow by any factor from 1.1 to 2, and the order increases while step sizes vary
 * too; these numbers were chosen by the runs of tests/test_trust.c. A rejected step leaves the
 * differences as they were, in a second set. Dense output integrates Newton's polynomial backwards
 * from the end of a step, as theirs, and is joined to its beginning by a cubic of the size of the
 * error of the step. */

#include <limits.h>
#include <math.h>

#include "base/options.h"
#include "base/vectors.h"
#include "step/explicit.h"
#include "step/methods.h"

enum { MOST = 12, DIFFERENCES = MOST + 2 };
static const double CAUTION = 10; /* times the estimate of one of many short steps */

/* What is known at one point. */
typedef struct history {
    int order;                /* k of the next step */
    int points;               /* known, this one included; 0: none */
    bool first;               /* the order has risen with every step */
    double node[DIFFERENCES]; /* t_n - t_{n-j} */
    double *phi[DIFFERENCES]; /* Phi_j(n), [n] each; `pending`: with f(t_n) extrapolated */
} history;

typedef struct adams {
    taut_runge_kutta euler; /* of which: the rate at `now`, Hermite's polynomial, room */
    history now, before;    /* at both ends of the latest step */
    int most;               /* highest order */
    bool entered;           /* the differences at `now` contain f there; */
    bool pending;           /* if not, it has been extrapolated */
    double h;               /* of the latest step; 0: none that belongs to the history */
    int order;              /* its k, */
    int lower;              /* k or k - 1, by its errors */
    double error[3]; /* norms: of its estimate, and of orders k - 1 and k at fixed step size */
    double up;       /* h sigma gamma of order k + 1 */
    double share;    /* error of the next step of this length over the estimate */
    int failures;    /* tries rejected since the latest step */
    double gamma[DIFFERENCES]; /* |gamma*_j|: error constants at fixed step size */
    double *gap, *inverse;     /* Delta; 1/allowed error of the rate times h, [n] */
} adams;

static int create(taut_stepper *s, taut_error *error)
{
    adams *w = TAUT_NEW(s->arena, adams, 1);
    s->work = w;
    TAUT_NEED(error, w);
    w->most = s->options ? (int)taut_options_integer(s->options, "max-order") : MOST;
    for (int j = 0; j < w->most + 2; j++)
        TAUT_TRY(TAUT_RESERVE(s->arena, s->n, error, &w->now.phi[j], &w->before.phi[j]));
    TAUT_TRY(TAUT_RESERVE(s->arena, s->n, error, &w->gap, &w->inverse));
    /* gamma*_0 = 1, sum_{i<=j} gamma*_i/(j + 1 - i) = 0 */
    double sign[DIFFERENCES] = {1};
    for (int j = 1; j < DIFFERENCES; j++) {
        for (int i = 0; i < j; i++)
            sign[j] -= sign[i] / (j + 1 - i);
        w->gamma[j] = fabs(sign[j]);
    }
    return taut_runge_kutta_reserve(s, &w->euler, error);
}

/* Integrals of the basis b_j(x) = prod_{i<j} (x + node_i)/node_{i+1} from 0 to x, j < count: d_j
 * over x, D_j double over x^2; column q of the scheme is the q-fold integral times (q-1)!/x^q. */
static void integrate(const double *node, double x, int count, double *d, double *D)
{
    double c[DIFFERENCES + 2];
    for (int q = 0; q <= count; q++)
        c[q] = 1. / (q + 1);
    for (int j = 0; j < count; j++) {
        d[j] = c[0];
        D[j] = c[1];
        double shift = (x + node[j]) / node[j + 1], part = x / node[j + 1];
        for (int q = 0; q < count - j; q++)
            c[q] = shift * c[q] - part * c[q + 1];
    }
}

/* Rms of x in the weights of the latest step. */
static double weighted(const taut_stepper *s, const double *x, const double *add)
{
    const double *inverse = ((adams *)s->work)->inverse;
    double sum = 0;
    for (taut_index i = 0; i < s->n; i++) {
        double e = (x[i] + (add ? add[i] : 0)) * inverse[i];
        sum += e * e;
    }
    return s->n > 0 ? sqrt(sum / s->n) : 0;
}

/* Weights as those of the driver: of velocities where they have scales of their own. */
static void weigh(const taut_stepper *s, double h)
{
    adams *w = s->work;
    for (taut_index i = 0; i < s->n; i++) {
        double scale = s->atol + s->rtol * fabs(s->now.q[i]), allowed = s->weight_v ? s->weight_v[i]
                                                                        : w->euler.second_order
                                                                            ? scale / fabs(h)
                                                                            : scale;
        w->inverse[i] = allowed > 0 ? fabs(h) / allowed : 1;
    }
}

/* Errors of orders k, k - 1, k - 2: is a lower order better? `to` has the extrapolated
 * differences; its nodes are those of the end of the step. */
static void compare_orders(const taut_stepper *s, const history *to, double h, double corrected)
{
    adams *w = s->work;
    int k = w->order;
    double sigma[DIFFERENCES] = {1};
    for (int j = 1; j <= k + 1; j++)
        sigma[j] = sigma[j - 1] * j * h / to->node[j];
    weigh(s, h);
    double gap = weighted(s, w->gap, NULL), lowest = 0;
    w->error[0] = fabs(corrected) * gap;
    w->error[2] = fabs(sigma[k]) * w->gamma[k] * gap;
    w->up = fabs(sigma[k + 1]) * w->gamma[k + 1];
    w->lower = k;
    if (k < 2)
        return;
    w->error[1] = fabs(sigma[k - 1]) * w->gamma[k - 1] * weighted(s, to->phi[k - 1], w->gap);
    if (k > 2)
        lowest = fabs(sigma[k - 2]) * w->gamma[k - 2] * weighted(s, to->phi[k - 2], w->gap);
    if (k > 2 ? fmax(w->error[1], lowest) <= w->error[2] : w->error[1] <= 0.5 * w->error[2])
        w->lower = k - 1;
}

/* Extrapolates the differences to t_n + h: sum_{m=j..k-1} of prod (h + node)/node' Phi_m; Phi_k
 * itself where it is known. */
static void extrapolate(const taut_stepper *s, const history *from, history *to, double h, int k,
                        const double *beta)
{
    for (int j = k; j >= 0; j--) {
        bool sum = j < k - 1, known = j < from->points;
        for (taut_index i = 0; i < s->n; i++)
            to->phi[j][i] = (known ? beta[j] * from->phi[j][i] : 0) + (sum ? to->phi[j + 1][i] : 0);
    }
    to->node[0] = 0;
    for (int j = 1; j < DIFFERENCES; j++)
        to->node[j] = h + (j <= from->points ? from->node[j - 1] : to->node[j - 1]);
}

static int step(taut_stepper *s, double h, taut_error *error)
{
    adams *w = s->work;
    TAUT_TRY(s->method->complete(s, error));
    taut_state old = s->now, next = s->last;
    const history *from = &w->now;
    history *to = &w->before;
    bool second = w->euler.second_order;
    double d[DIFFERENCES], D[DIFFERENCES], beta[DIFFERENCES] = {1}, *q = w->euler.stage,
                                           *v = second ? w->euler.speed : NULL;
    int k = w->order = from->order;
    integrate(from->node, h, k + 1, d, D);
    for (int j = 1; j <= k; j++)
        beta[j] = beta[j - 1] * (h + from->node[j - 1]) / from->node[j];

    taut_combine(s->n, k, second ? D : d, from->phi, second ? h * h : h, old.q, q);
    if (second) {
        taut_add_scaled(s->n, h, old.v, q);
        taut_combine(s->n, k, d, from->phi, h, old.v, v);
    }
    extrapolate(s, from, to, h, k, beta);
    TAUT_TRY(s->field->evaluate(s->field, old.t + h, q, v, w->gap, NULL, error));
    taut_add_scaled(s->n, -1, to->phi[0], w->gap);

    /* the corrector, and the estimate: Phi_k at t_n + h is Delta, and c_j is d_j/beta_j */
    double c = h * d[k] / beta[k], C = h * h * D[k] / beta[k], off = c - h * d[k - 1] / beta[k - 1],
           off_q = C - h * h * D[k - 1] / beta[k - 1];
    taut_combine(s->n, 1, &(double){1}, &w->gap, second ? C : c, q, next.q);
    if (second)
        taut_combine(s->n, 1, &(double){1}, &w->gap, c, v, next.v);
    if (s->error_q && s->error_v) {
        taut_combine(s->n, 1, &CAUTION, &w->gap, second ? off_q : off, NULL, s->error_q);
        taut_combine(s->n, second, &CAUTION, &w->gap, off, NULL, s->error_v);
    }
    compare_orders(s, to, h, off / h);
    to->points = from->points;
    to->first = from->first;
    to->order = k;
    history swap = w->now;
    w->now = w->before;
    w->before = swap;
    w->pending = true;
    w->h = w->euler.h = h;
    w->euler.fresh = w->euler.continuous = w->entered = false;
    next.t = old.t + h;
    s->now = next;
    s->last = old;
    s->statistics->steps++;
    return TAUT_OK;
}

/* The order of the next step. A higher one needs a difference more. */
static void choose_order(const taut_stepper *s, history *x)
{
    adams *w = s->work;
    int k = w->order;
    double error = w->error[2], higher = INFINITY;
    if (w->lower < k || k == w->most)
        x->first = false;
    if (k < w->most && x->points > k + 1)
        higher = w->up * weighted(s, x->phi[k + 1], NULL);
    if (x->first) {
        x->order = k + 1;
    } else if (w->lower < k || (k > 1 && w->error[1] <= fmin(error, higher))) {
        x->order = k - 1;
        error = w->error[1];
    } else if (higher < (k > 1 ? 1 : 0.5) * error) {
        x->order = k + 1;
        error = higher;
    }
    w->share = w->error[0] > 0 ? error / w->error[0] : 1;
}

/* f at `now` enters the differences. */
static int complete(taut_stepper *s, taut_error *error)
{
    adams *w = s->work;
    history *x = &w->now;
    TAUT_TRY(taut_runge_kutta_complete(s, error));
    if (w->entered)
        return TAUT_OK;
    w->entered = true;
    const double *f = s->now.a;
    if (x->points == 0) {
        taut_copy(s->n, f, x->phi[0]);
        x->order = x->points = 1;
        x->first = true;
        for (int j = 0; j < DIFFERENCES; j++)
            x->node[j] = j; /* not known; what is used does not depend on them */
        return TAUT_OK;
    }
    int k = w->order, sums = w->pending ? k : k + 2;
    for (taut_index i = 0; i < s->n; i++) {
        double more = f[i] - x->phi[0][i];
        if (w->pending) {
            x->phi[k + 1][i] = more - x->phi[k][i];
            x->phi[k][i] = more;
        }
        for (int j = 0; j < sums; j++)
            x->phi[j][i] += more;
    }
    if (!w->pending)
        return TAUT_OK;
    w->pending = false;
    w->failures = 0;
    x->points = x->points < DIFFERENCES ? x->points + 1 : DIFFERENCES;
    choose_order(s, x);
    return TAUT_OK;
}

static double propose(taut_stepper *s, double e)
{
    static const double AIM = 0.5, SHRINK = 0.25, LESS = 0.9, MORE = 1.1, GROW = 2;
    const adams *w = s->work;
    if (!(e <= 1)) {
        double factor = isfinite(e) ? LESS * pow(AIM / e, 1. / (w->lower + 1)) : SHRINK;
        return fmin(LESS, fmax(SHRINK, factor));
    }
    double room = pow(AIM / fmax(e * w->share, 1e-30), 1. / (w->now.order + 1));
    if (w->now.first)
        return GROW;
    if (LESS * room >= MORE)
        return fmin(GROW, LESS * room);
    return room >= 1 ? 1 : fmax(AIM, fmin(LESS, room));
}

/* The history stays. */
static void stabilized(taut_stepper *s)
{
    taut_runge_kutta_changed(s);
    ((adams *)s->work)->entered = false;
}

static void changed(taut_stepper *s)
{
    adams *w = s->work;
    stabilized(s);
    w->now.points = 0;
    w->pending = false;
    w->h = 0;
}

static void rejected(taut_stepper *s)
{
    enum { MANY = 3 };
    adams *w = s->work;
    taut_runge_kutta_rejected(s);
    history swap = w->now;
    w->now = w->before;
    w->before = swap;
    w->entered = true;
    w->pending = false;
    w->h = w->now.points > 1 ? w->now.node[1] : 0;
    w->now.first = false;
    w->now.order = ++w->failures >= MANY ? 1 : w->lower;
}

/* Newton's polynomial through the points of the latest step, integrated back from its end. */
static void look_back(const taut_stepper *s, double theta, double *q, double *v)
{
    adams *w = s->work;
    double x = (theta - 1) * w->h, d[DIFFERENCES], D[DIFFERENCES];
    bool second = w->euler.second_order;
    integrate(w->now.node, x, w->order + 1, d, D);
    taut_combine(s->n, w->order + 1, second ? D : d, w->now.phi, second ? x * x : x, s->now.q, q);
    if (!second)
        return;
    taut_add_scaled(s->n, x, s->now.v, q);
    taut_combine(s->n, w->order + 1, d, w->now.phi, x, s->now.v, v);
}

/* How far it misses the beginning of the step. */
static void measure_joint(const taut_stepper *s)
{
    adams *w = s->work;
    double *q = w->euler.polynomial_q, *v = w->euler.polynomial_v;
    look_back(s, 0, q, v);
    for (taut_index i = 0; i < s->n; i++) {
        q[i] = s->last.q[i] - q[i];
        if (w->euler.second_order)
            v[i] = s->last.v[i] - v[i];
    }
    w->euler.continuous = true;
}

static int dense(taut_stepper *s, double theta, taut_state *x, taut_error *error)
{
    adams *w = s->work;
    double h = s->now.t - s->last.t;
    TAUT_TRY(complete(s, error));
    /* for another end (an event inside the step), or after it, by Hermite's polynomial */
    if (w->h == 0 || fabs(h - w->h) > 1e-9 * fabs(h))
        return taut_runge_kutta_dense(s, theta, x, error);
    if (!w->euler.continuous)
        measure_joint(s);
    double blend = (1 - theta) * (1 - theta) * (1 + 2 * theta);
    x->t = s->last.t + theta * h;
    look_back(s, theta, x->q, x->v);
    taut_add_scaled(s->n, blend, w->euler.polynomial_q, x->q);
    if (w->euler.second_order)
        taut_add_scaled(s->n, blend, w->euler.polynomial_v, x->v);
    TAUT_TRY(taut_field_multipliers(s, x->t, x->q, x->v, x->a, taut_state_lambda(x), error));
    taut_field_place(s->field, x->q, x->v);
    return TAUT_OK;
}

static void archive(taut_stepper *s, taut_archive *to)
{
    adams *w = s->work;
    history *x = &w->now;
    taut_runge_kutta_archive(s, to);
    taut_archive_integer(to, &x->order, 0, w->most);
    taut_archive_integer(to, &x->points, 0, DIFFERENCES);
    taut_archive_flag(to, &x->first);
    taut_archive_reals(to, x->node, DIFFERENCES);
    for (int j = 0; j < w->most + 2; j++)
        taut_archive_reals(to, x->phi[j], s->n);
    taut_archive_flag(to, &w->entered);
    taut_archive_flag(to, &w->pending);
    taut_archive_integer(to, &w->order, 0, w->most);
    taut_archive_integer(to, &w->lower, 0, w->most);
    taut_archive_integer(to, &w->failures, 0, INT_MAX);
    taut_archive_real(to, &w->h);
    taut_archive_reals(to, w->error, 3);
    taut_archive_real(to, &w->up);
    taut_archive_real(to, &w->share);
    taut_archive_reals(to, w->inverse, s->n);
}

const taut_method taut_adams = {
    .name = "adams",
    .motions = TAUT_MOTION_RIGID | TAUT_MOTION_SLOW | TAUT_MOTION_FULL,
    .order = 12,
    .error_order = 2, /* of the first step */
    .summary = "Adams methods of orders 1 to 12, predictor and corrector: two evaluations a step",
    .reference = "Shampine, Gordon 1975; Krogh 1974; Hairer, Norsett, Wanner I, III.5, III.7",
    .needs = TAUT_CAN_FORCE,
    .refuses = TAUT_HAS_STEPPER,
    .data = &taut_tableau_euler,
    .uses_field = true,
    .create = create,
    .step = step,
    .changed = changed,
    .stabilized = stabilized,
    .rejected = rejected,
    .complete = complete,
    .propose = propose,
    .dense = dense,
    .multipliers = taut_runge_kutta_multipliers,
    .stretch = taut_runge_kutta_stretch,
    .archive = archive};
