/* slow.h - slow points that owe nothing to projections: motions whose bonds are polynomials in
 * time.
 *
 * On slow motions the multipliers are smooth, however stiff the springs. Over a window |t - t0|
 * <= H let q be a polynomial of degree N in t and lambda one of degree N - 2. The equations of
 * the full motion, with every force of the springs in lambda,
 *
 *     M q'' + G^T lambda = f            at N - 1 Chebyshev points
 *     g + T g' = C lambda               at N + 1 Chebyshev points
 *     (q, v)(t0) = (X + M^-1 G^T mu, V + M^-1 G^T nu)        (M, G at the foot point X)
 *
 * are as many as the unknowns. Oscillations have no part in them: for one spring at rest they
 * say that a polynomial p of degree N has p + p''/Omega^2 = 0, and only p = 0 does. What remains
 * is how well the slow motion is a polynomial over the window (H times its rate against N), and
 * how far the window sees the oscillation (H Omega against N). Two windows, with two degrees,
 * say how well both is known. This is the principle of bounded derivatives (Kreiss 1979) and not
 * the recursion of src/slow: the equations have no derivative of lambda in them.
 *
 * Nothing of src/slow, src/step, src/wrap or src/drive is used, only what the system answers
 * about itself: f, g, G, M, and its slowest frequency, for the length of the window. */
#ifndef TAUT_TESTS_JUDGE_SLOW_H
#define TAUT_TESTS_JUDGE_SLOW_H

#include "judge/anderson.h"
#include "judge/window.h"

/* ---- one step */

/* Unknowns: lambda [N-1][m], mu [m], nu [m], a [N-1][n]. Equations: see the head. */
typedef struct slow_state {
    double *lambda, *mu, *nu, *a;
} slow_state;

static inline int64_t slow_length(const slow_judge *s)
{
    return (int64_t)(s->degree - 1) * (s->n + s->m) + 2 * s->m;
}

static inline slow_state slow_view(const slow_judge *s, double *z)
{
    int64_t inner = s->degree - 1, m = s->m;
    return (slow_state){z, z + inner * m, z + (inner + 1) * m, z + (inner + 2) * m};
}

/* q, v at node i of the motion (which = 0) or of the bonds (1). */
static inline void slow_at(const slow_judge *s, const slow_state *z, const double *q0,
                           const double *v0, int which, int i, double *q, double *v)
{
    double t = s->window * (which ? s->bonds_at[i] : s->at[i]);
    for (taut_index k = 0; k < s->n; k++) {
        q[k] = 0;
        v[k] = 0;
    }
    for (int j = 0; j < s->degree - 1; j++)
        for (taut_index k = 0; k < s->n; k++) {
            q[k] += s->place[which][i][j] * z->a[(int64_t)j * s->n + k];
            v[k] += s->pace[which][i][j] * z->a[(int64_t)j * s->n + k];
        }
    for (taut_index k = 0; k < s->n; k++) {
        q[k] += q0[k] + t * v0[k];
        v[k] += v0[k];
    }
}

/* a = M^-1 (f - G^T lambda) */
static inline int slow_accelerate(slow_judge *s, double t, const double *q, const double *v,
                                  const double *lambda, double *a)
{
    if (slow_evaluate(s, t, q, v, true) != 0)
        return -1;
    double *mass = s->tangent.start ? s->pivot : s->values.mass;
    if (slow_mass(s, mass) != 0)
        return -1;
    memcpy(a, s->values.force, (size_t)s->n * sizeof *a);
    for (taut_index i = 0; i < s->m; i++) {
        double pull = lambda[i];
        if (s->soft[i])
            pull = (s->values.bond[i] +
                    s->tau[i] * (slow_row(s, s->values.jacobian, i, v) + s->values.bond_dt[i])) /
                   s->c[i];
        slow_pull(s, s->values.jacobian, i, -pull, a);
    }
    slow_divide(s, mass, a);
    return 0;
}

typedef struct slow_room {
    double *q0, *v0, *q, *v; /* [n] */
    /* [N+1][m]: residual of the bonds, then its coefficients, then those of the change of g */
    double *r;
    double *s;     /* [N-1][m]: accelerations of bonds that the motion lacks */
    double *d, *w; /* [N+1][m] */
} slow_room;

/* Solves dg + T dg' + C A^-1 (dg'' + s) = -r for the coefficients of dg, from the highest down;
 * d[] = A^-1 (dg'' + s). */
static inline void slow_invert(const slow_judge *s, slow_room *room)
{
    int N = s->degree;
    int64_t m = s->m;
    double *dg = room->w, h = 1 / s->window;
    memset(dg, 0, (size_t)((N + 1) * m) * sizeof(double));
    for (int k = N; k >= 0; k--) {
        double *second = room->d + k * m;
        for (taut_index i = 0; i < m; i++) {
            double first = 0;
            second[i] = k <= N - 2 ? room->s[k * m + i] : 0;
            for (int p = k + 1; p <= N; p++) {
                if ((p - k) % 2)
                    first += 2. * p * dg[p * m + i] / (k ? 1 : 2);
                else
                    second[i] +=
                        h * h * p * ((double)p * p - (double)k * k) * dg[p * m + i] / (k ? 1 : 2);
            }
            dg[k * m + i] = -room->r[k * m + i] - s->tau[i] * h * first;
        }
        slow_solve(s->m, s->a0, second);
        for (taut_index i = 0; i < m; i++)
            dg[k * m + i] = s->soft[i] ? 0 : dg[k * m + i] - s->c[i] * second[i];
    }
}

static inline void slow_transform(const slow_judge *s, int which, double *x)
{
    int count = which ? s->degree + 1 : s->degree - 1;
    for (taut_index i = 0; i < s->m; i++) {
        double c[SLOW_DEGREE + 1] = {0};
        for (int k = 0; k < count; k++)
            for (int j = 0; j < count; j++)
                c[k] += s->to_coefficients[which][k][j] * x[(int64_t)j * s->m + i];
        for (int k = 0; k < count; k++)
            x[(int64_t)k * s->m + i] = c[k];
    }
}

/* The residuals at z: room->s, the accelerations of bonds that the motion lacks; room->r, what
 * bonds lack of C lambda. a: what the forces give. */
static inline int slow_residuals(slow_judge *s, slow_room *room, const slow_state *z, double *a)
{
    int N = s->degree;
    int64_t n = s->n, m = s->m;
    memcpy(room->q0, s->foot_q, (size_t)n * sizeof(double));
    memcpy(room->v0, s->foot_v, (size_t)n * sizeof(double));
    slow_shift(s, z->mu, room->q0);
    slow_shift(s, z->nu, room->v0);
    for (int j = 0; j < N - 1; j++) {
        slow_at(s, z, room->q0, room->v0, 0, j, room->q, room->v);
        if (slow_accelerate(s, s->t + s->window * s->at[j], room->q, room->v, z->lambda + j * m,
                            a + j * n) != 0)
            return -1;
        for (taut_index k = 0; k < n; k++)
            room->q[k] = z->a[j * n + k] - a[j * n + k];
        for (taut_index i = 0; i < m; i++)
            room->s[j * m + i] = slow_row(s, s->values.jacobian, i, room->q);
    }
    for (int j = 0; j <= N; j++) {
        slow_at(s, z, room->q0, room->v0, 1, j, room->q, room->v);
        if (slow_evaluate(s, s->t + s->window * s->bonds_at[j], room->q, room->v, false) != 0)
            return -1;
        for (taut_index i = 0; i < m; i++) {
            double lambda = 0, rate = s->tau[i] > 0 ? slow_row(s, s->values.jacobian, i, room->v) +
                                                          s->values.bond_dt[i]
                                                    : 0;
            for (int k = 0; k < N - 1; k++)
                lambda += s->spread[j][k] * z->lambda[k * m + i];
            room->r[j * m + i] =
                s->soft[i] ? 0 : s->values.bond[i] + s->tau[i] * rate - s->c[i] * lambda;
        }
    }
    return 0;
}

/* Changes of mu, nu and, in room->s, of lambda at the nodes, from the coefficients in room->w
 * and room->d. */
static inline void slow_changes(slow_judge *s, slow_room *room, slow_state *y)
{
    int N = s->degree;
    int64_t m = s->m;
    double c[SLOW_DEGREE + 1], slope[SLOW_DEGREE + 1], *mu = room->r, *nu = room->r + m;
    for (taut_index i = 0; i < m; i++) {
        for (int k = 0; k <= N; k++)
            c[k] = room->w[k * m + i];
        slow_differentiate(N, c, slope);
        mu[i] = slow_sum(N, c, 0);
        nu[i] = slow_sum(N, slope, 0) / s->window;
        for (int k = 0; k < N - 1; k++)
            c[k] = room->d[k * m + i];
        for (int j = 0; j < N - 1; j++)
            room->s[j * m + i] = s->soft[i] ? 0 : -slow_sum(N - 2, c, s->at[j]);
    }
    slow_solve(s->m, s->a0, mu);
    slow_solve(s->m, s->a0, nu);
    for (taut_index i = 0; i < m; i++) {
        y->mu[i] += s->soft[i] ? 0 : mu[i];
        y->nu[i] += s->soft[i] ? 0 : nu[i];
    }
}

/* One step of Newton's iteration with the matrices of the foot point: `to` from `from`. */
static inline int slow_improve(slow_judge *s, slow_room *room, double *from, double *to)
{
    int64_t n = s->n, m = s->m;
    slow_state z = slow_view(s, from), y = slow_view(s, to);
    memcpy(to, from, (size_t)slow_length(s) * sizeof(double));
    if (slow_residuals(s, room, &z, y.a) != 0)
        return -1;
    slow_transform(s, 0, room->s);
    slow_transform(s, 1, room->r);
    slow_invert(s, room);
    slow_changes(s, room, &y);
    for (int j = 0; j < s->degree - 1; j++) { /* the new multipliers pull at once */
        memset(room->q, 0, (size_t)n * sizeof(double));
        for (taut_index i = 0; i < m; i++) {
            y.lambda[j * m + i] += room->s[j * m + i];
            slow_pull(s, s->g0, i, -room->s[j * m + i], room->q);
        }
        slow_divide(s, s->mass0, room->q);
        for (taut_index k = 0; k < n; k++)
            y.a[j * n + k] += room->q[k];
    }
    return 0;
}

/* ---- one window */

/* Chebyshev coefficients of component e of x[N-1][width]. */
static inline void slow_coefficients(const slow_judge *s, const double *x, int64_t width, int64_t e,
                                     double *c)
{
    for (int k = 0; k < s->degree - 1; k++) {
        c[k] = 0;
        for (int j = 0; j < s->degree - 1; j++)
            c[k] += s->to_coefficients[0][k][j] * x[j * width + e];
    }
}

/* The polynomials `from` of the window of `old`, at the nodes of this one. */
static inline void slow_continue(const slow_judge *s, const slow_judge *old, double *from,
                                 double *to)
{
    slow_state a = slow_view(old, from), b = slow_view(s, to);
    memcpy(b.mu, a.mu, (size_t)s->m * sizeof(double));
    memcpy(b.nu, a.nu, (size_t)s->m * sizeof(double));
    for (int part = 0; part < 2; part++) {
        int64_t width = part ? s->n : s->m;
        const double *x = part ? a.a : a.lambda;
        double *y = part ? b.a : b.lambda, c[SLOW_DEGREE + 1];
        for (int64_t e = 0; e < width; e++) {
            slow_coefficients(old, x, width, e, c);
            for (int j = 0; j < s->degree - 1; j++)
                y[j * width + e] = slow_sum(old->degree - 2, c, s->at[j] * s->window / old->window);
        }
    }
}

/* Weights that make all unknowns lengths: those of what they move within the window. */
static inline void slow_weigh(const slow_judge *s, double *weight)
{
    int64_t m = s->m, inner = s->degree - 1;
    double most = 0, H = s->window;
    for (taut_index i = 0; i < m; i++)
        most = fmax(most, s->a0[i * m + i]); /* of a square root of A */
    for (int64_t e = 0; e < slow_length(s); e++)
        weight[e] = e < inner * m         ? H * H * most
                    : e < (inner + 1) * m ? most
                    : e < (inner + 2) * m ? H * most
                                          : H * H;
}

/* Iterates z to the solution of this window, as far as rounding permits. 0 when it is one. */
static inline int slow_iterate(slow_judge *s, taut_arena *arena, double *z)
{
    enum { MOST = 300 };
    int64_t length = slow_length(s), columns = s->n + s->m, rows = (int64_t)(s->degree + 1) * s->m;
    double *change = TAUT_NEW(arena, double, length), *best = TAUT_NEW(arena, double, length),
           least = INFINITY, size = 0;
    slow_room room = {TAUT_NEW(arena, double, columns), TAUT_NEW(arena, double, columns),
                      TAUT_NEW(arena, double, columns), TAUT_NEW(arena, double, columns),
                      TAUT_NEW(arena, double, rows),    TAUT_NEW(arena, double, rows),
                      TAUT_NEW(arena, double, rows),    TAUT_NEW(arena, double, rows)};
    mix *h = TAUT_NEW(arena, mix, 1);
    if (!change || !best || !room.w || !h || !mix_create(h, length, arena))
        return -1;
    for (taut_index i = 0; i < s->n; i++)
        size = fmax(size, fabs(s->foot_q[i]));
    slow_weigh(s, h->weight);
    for (int pass = 0, since = 0; pass < MOST && since < (least < 1e-9 * size ? 5 : 40); pass++) {
        double step = 0;
        if (slow_improve(s, &room, z, change) != 0)
            break;
        for (int64_t e = 0; e < length; e++) {
            change[e] -= z[e];
            step = fmax(step, fabs(change[e]) * h->weight[e]);
        }
        if (!isfinite(step))
            break;
        since = step < least ? 0 : since + 1;
        if (step < least) {
            least = step;
            memcpy(best, z, (size_t)length * sizeof(double));
        }
        mix_advance(h, z, change);
    }
    memcpy(z, best, (size_t)length * sizeof(double));
    return least < 1e-8 * size ? 0 : -1;
}

/* ---- the slow point */

enum { SLOW_DERIVATIVES = 6 };

typedef struct slow_point {
    double *q, *v;             /* [n], of the judge */
    double doubt_q, doubt_v;   /* how far windows differ, max norm */
    double enough_q, enough_v; /* no more is wanted */
    double size_q, size_v;     /* max |q|, |v| */
    double slowest, fastest;   /* frequencies at the foot point */
    /* max over coordinates and the inner half of the window of |d^k q/dt^k|, k >= 2 */
    double derivative[SLOW_DERIVATIVES];
} slow_point;

static inline double slow_far(taut_index n, const double *a, const double *b)
{
    double most = 0;
    for (taut_index i = 0; i < n; i++)
        most = fabs(a[i] - b[i]) <= most ? most : fabs(a[i] - b[i]);
    return most;
}

static inline void slow_derivatives(const slow_judge *s, double *z, double *derivative)
{
    slow_state x = slow_view(s, z);
    memset(derivative, 0, SLOW_DERIVATIVES * sizeof *derivative);
    for (taut_index i = 0; i < s->n; i++) {
        double c[SLOW_DEGREE + 1], scale = 1;
        slow_coefficients(s, x.a, s->n, i, c);
        for (int k = 2; k < SLOW_DERIVATIVES; k++, scale /= s->window) {
            for (int at = -2; at <= 2; at++)
                derivative[k] =
                    fmax(derivative[k], scale * fabs(slow_sum(s->degree - 2, c, 0.25 * at)));
            slow_differentiate(s->degree - 2, c, c);
        }
    }
}

/* What one window gives: q and v at the centre, derivatives. */
typedef struct slow_sample {
    double *q, *v, derivative[SLOW_DERIVATIVES];
} slow_sample;

static inline int slow_sample_make(slow_judge *s, taut_arena *arena, double *z, slow_sample *x)
{
    slow_state state = slow_view(s, z);
    *x = (slow_sample){TAUT_NEW(arena, double, s->n), TAUT_NEW(arena, double, s->n), {0}};
    if (!x->q || !x->v || slow_iterate(s, arena, z) != 0)
        return -1;
    memcpy(x->q, s->foot_q, (size_t)s->n * sizeof(double));
    memcpy(x->v, s->foot_v, (size_t)s->n * sizeof(double));
    slow_shift(s, state.mu, x->q);
    slow_shift(s, state.nu, x->v);
    slow_derivatives(s, z, x->derivative);
    return 0;
}

/* x, which is known as well as `doubt` says, for `to` when that is better; then true. */
static inline bool slow_take(taut_index n, const double *x, double doubt, double *to, double *known)
{
    if (!(doubt < *known))
        return false;
    *known = doubt;
    memcpy(to, x, (size_t)n * sizeof *x);
    return true;
}

/* Windows of growing degree N, H Omega = share N: of their points those q and v that differ
 * least from the ones before and after. */
static inline void slow_track(slow_judge *s, double share, slow_point *p)
{
    const int first = 6, patience = 3;
    taut_arena arena;
    taut_arena_init(&arena, NULL);
    slow_judge *old = TAUT_NEW(&arena, slow_judge, 1);
    slow_sample x[2] = {{0}}; /* this one; the one before */
    double *z = NULL, last_q = INFINITY, last_v = INFINITY;
    p->doubt_q = p->doubt_v = INFINITY;
    for (int degree = first, worse = 0; degree <= SLOW_DEGREE - 4 && worse < patience;
         degree += 2) {
        double *before = z;
        slow_window(s, degree, share * degree / p->slowest);
        if (!(z = TAUT_NEW(&arena, double, slow_length(s))))
            break;
        if (before)
            slow_continue(s, old, before, z);
        x[1] = x[0];
        if (slow_sample_make(s, &arena, z, &x[0]) != 0)
            break;
        *old = *s;
        if (!before)
            continue;
        double off_q = slow_far(s->n, x[0].q, x[1].q), off_v = slow_far(s->n, x[0].v, x[1].v);
        bool better = slow_take(s->n, x[1].v, fmax(off_v, last_v), p->v, &p->doubt_v);
        if (slow_take(s->n, x[1].q, fmax(off_q, last_q), p->q, &p->doubt_q)) {
            memcpy(p->derivative, x[1].derivative, sizeof p->derivative);
            better = true;
        }
        worse = better || degree < first + 4 ? 0 : worse + 1;
        if (p->doubt_q <= p->enough_q && p->doubt_v <= p->enough_v)
            break;
        last_q = off_q;
        last_v = off_v;
    }
    taut_arena_clear(&arena);
}

/* Foot point, frequencies, sizes. */
static inline int slow_prepare(slow_judge *s, const double *q, const double *v, slow_point *p)
{
    taut_error error;
    double frequency[8];
    int found = 0;
    bool complete;
    if (slow_foot(s, q, v) != 0 ||
        taut_frequencies(s->context, s->t, s->foot_q, 4, frequency, &found, &complete, &error) !=
            0 ||
        found == 0)
        return -1;
    p->slowest = frequency[0];
    p->fastest = frequency[found - 1];
    for (taut_index i = 0; i < s->n; i++) {
        p->size_q = fmax(p->size_q, fabs(s->foot_q[i]));
        p->size_v = fmax(p->size_v, fabs(s->foot_v[i]));
    }
    return 0;
}

/* The slow point over the foot point of (q, v), and how well it is known: as two tracks agree,
 * and one of them within itself. No track is added when these say enough, or what rounding
 * permits. Arrays of p live as long as s. */
static inline int slow_find(slow_judge *s, const double *q, const double *v, double enough_q,
                            double enough_v, slow_point *p)
{
    enum { TRACKS = 5 };
    static const double shares[TRACKS] = {1, 0.7, 0.5, 0.35, 0.25};
    slow_point track[TRACKS];
    *p = (slow_point){.doubt_q = INFINITY, .doubt_v = INFINITY};
    if (slow_prepare(s, q, v, p) != 0)
        return -1;
    p->enough_q = fmax(enough_q, 4 * DBL_EPSILON * p->size_q);
    p->enough_v = fmax(enough_v, 4 * DBL_EPSILON * (p->size_q * p->slowest + p->size_v));
    slow_point best = *p;
    for (int k = 0; k < TRACKS && !(p->doubt_q <= p->enough_q && p->doubt_v <= p->enough_v); k++) {
        track[k] = *p;
        track[k].q = slow_new(s, s->n);
        track[k].v = slow_new(s, s->n);
        slow_track(s, shares[k], &track[k]);
        for (int i = 0; i < k; i++) { /* pairs */
            const slow_point *a = &track[i], *b = &track[k];
            double doubt_q = fmax(fmin(a->doubt_q, b->doubt_q), slow_far(s->n, a->q, b->q));
            double doubt_v = fmax(fmin(a->doubt_v, b->doubt_v), slow_far(s->n, a->v, b->v));
            if (doubt_q < best.doubt_q) {
                best.doubt_q = doubt_q;
                best.q = a->doubt_q < b->doubt_q ? a->q : b->q;
                memcpy(best.derivative, a->doubt_q < b->doubt_q ? a->derivative : b->derivative,
                       sizeof best.derivative);
            }
            if (doubt_v < best.doubt_v) {
                best.doubt_v = doubt_v;
                best.v = a->doubt_v < b->doubt_v ? a->v : b->v;
            }
        }
        p->doubt_q = best.doubt_q;
        p->doubt_v = best.doubt_v;
    }
    *p = best;
    return isfinite(p->doubt_q + p->doubt_v) ? 0 : -1;
}

#endif
