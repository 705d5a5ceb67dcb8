/* anchors.c - see anchors.h. */
#include "anchors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "step/tableau.h"

enum { ARRAYS = 48, PAD = 32 };
static int N;
static int used;
static double *array[ARRAYS];

/* `count` zeroed arrays of `length` numbers and a little more. */
static bool take(int count, size_t length, double ***to)
{
    size_t bytes = ((length + PAD) * sizeof(double) + 63) / 64 * 64;
    for (int k = 0; k < count; k++) {
        double *x = aligned_alloc(64, bytes);
        if (!x)
            return false;
        memset(x, 0, bytes);
        *to[k] = array[used++] = x;
    }
    return true;
}

static void destroy(void)
{
    while (used > 0)
        free(array[--used]);
}

/* ---- Verlet: drift, kick, drift, on link vectors X, Y and their rates */

static double *X, *Y, *U, *V, *fx, *fy;
double anchor_stiffness = 1e6;

static bool verlet_create(int links)
{
    double **all[] = {&X, &Y, &U, &V, &fx, &fy};
    N = links;
    if (!take(6, (size_t)links, all))
        return false;
    for (int i = 0; i < N; i++)
        X[i] = 1;
    return true;
}

static void verlet_advance(int64_t steps, double h)
{
    double h2 = h / 2;
    for (int64_t s = 0; s < steps; s++) {
        for (int i = 0; i < N; i++) {
            X[i] += h2 * U[i];
            Y[i] += h2 * V[i];
        }
        for (int i = 0; i < N; i++) {
            double l = sqrt(X[i] * X[i] + Y[i] * Y[i]);
            double g = (X[i] - 1) * (X[i] + 1) + Y[i] * Y[i];
            double t = anchor_stiffness * (g / (l + 1)) / l;
            fx[i] = t * X[i];
            fy[i] = t * Y[i];
        }
        fx[N] = fy[N] = 0;
        for (int i = 1; i < N; i++) {
            U[i] += h * (fx[i - 1] - 2 * fx[i] + fx[i + 1]);
            V[i] += h * (fy[i - 1] - 2 * fy[i] + fy[i + 1]);
        }
        U[0] += h * (fx[1] - fx[0]);
        V[0] += h * (fy[1] - fy[0] - 1);
        for (int i = 0; i < N; i++) {
            X[i] += h2 * U[i];
            Y[i] += h2 * V[i];
        }
    }
}

static void sum_links(const double *x, const double *y, double *q)
{
    double a = 0, b = 0;
    for (int i = 0; i < N; i++) {
        q[2 * i] = a += x[i];
        q[2 * i + 1] = b += y[i];
    }
}

static void verlet_position(double *q)
{
    sum_links(X, Y, q);
}

const anchor anchor_verlet = {verlet_create, verlet_advance, verlet_position, destroy};

/* ---- RATTLE: link vectors d, velocities u, v; one L D L^T of G G^T for each step */

static double *u, *v, *dx, *dy, *ex, *ey, *lam, *r, *id, *lf;

static void fac(const double *a, const double *b)
{
    double inv = 1 / (a[0] * a[0] + b[0] * b[0]);
    id[0] = inv;
    for (int i = 1; i < N; i++) {
        double o = -(a[i] * a[i - 1] + b[i] * b[i - 1]), l = o * inv;
        lf[i] = l;
        inv = 1 / (2 * (a[i] * a[i] + b[i] * b[i]) - l * o);
        id[i] = inv;
    }
}

static void sol(double *z)
{
    double s = z[0];
    for (int i = 1; i < N; i++) {
        s = z[i] - lf[i] * s;
        z[i] = s;
    }
    s = z[N - 1] * id[N - 1];
    z[N - 1] = s;
    for (int i = N - 2; i >= 0; i--) {
        s = z[i] * id[i] - lf[i + 1] * s;
        z[i] = s;
    }
}

static bool rattle_create(int links)
{
    double **all[] = {&u, &v, &dx, &dy, &ex, &ey, &lam, &r, &id, &lf, &fx, &fy};
    N = links;
    if (!take(12, (size_t)links, all))
        return false;
    for (int i = 0; i < N; i++)
        dx[i] = 1;
    fac(dx, dy);
    return true;
}

/* The new links from the old ones and the multipliers; returns the largest |g|, r = g/(h^2/2). */
static double rattle_links(double h)
{
    double h2 = h * h / 2, ih = 1 / h2, most = 0;
    fx[N] = fy[N] = 0;
    for (int i = 0; i < N; i++) {
        fx[i] = lam[i] * dx[i];
        fy[i] = lam[i] * dy[i];
    }
    ex[0] = dx[0] + h * u[0] + h2 * (fx[1] - fx[0]);
    ey[0] = dy[0] + h * v[0] + h2 * (fy[1] - fy[0]);
    for (int i = 1; i < N; i++) {
        ex[i] = dx[i] + h * (u[i] - u[i - 1]) + h2 * (fx[i - 1] - 2 * fx[i] + fx[i + 1]);
        ey[i] = dy[i] + h * (v[i] - v[i - 1]) + h2 * (fy[i - 1] - 2 * fy[i] + fy[i + 1]);
    }
    for (int i = 0; i < N; i++) {
        double g = (ex[i] * ex[i] + ey[i] * ey[i] - 1) * .5;
        most = fmax(most, fabs(g));
        r[i] = g * ih;
    }
    return most;
}

static void rattle_step(double h)
{
    for (int i = 0; i < N; i++)
        v[i] -= h / 2;
    lam[N] = 0;
    for (int it = 0; it < 50 && rattle_links(h) >= 1e-12; it++) {
        sol(r);
        for (int i = 0; i < N; i++)
            lam[i] += r[i];
    }
    for (int i = 0; i < N; i++) {
        u[i] += h / 2 * (-fx[i] + fx[i + 1]);
        v[i] += h / 2 * (-fy[i] + fy[i + 1]);
    }
    for (int i = 0; i < N; i++)
        v[i] -= h / 2;
    double *t = dx;
    dx = ex;
    ex = t;
    t = dy;
    dy = ey;
    ey = t;
    fac(dx, dy);
    r[0] = dx[0] * u[0] + dy[0] * v[0];
    for (int i = 1; i < N; i++)
        r[i] = dx[i] * (u[i] - u[i - 1]) + dy[i] * (v[i] - v[i - 1]);
    sol(r);
    r[N] = dx[N] = dy[N] = 0;
    for (int i = 0; i < N; i++) {
        u[i] -= r[i] * dx[i] - r[i + 1] * dx[i + 1];
        v[i] -= r[i] * dy[i] - r[i + 1] * dy[i + 1];
    }
}

static void rattle_advance(int64_t steps, double h)
{
    for (int64_t k = 0; k < steps; k++)
        rattle_step(h);
}

static void rattle_position(double *q)
{
    sum_links(dx, dy, q);
}

const anchor anchor_rattle = {rattle_create, rattle_advance, rattle_position, destroy};

/* ---- DOP853: positions and velocities, x and y alternating; g = (|d|^2 - 1)/2 */

static double *q0, *p0, *stage, *speed, *cp, *kq[12], *kp[12];

/* Tridiagonal solve and the accelerations. */
static void dop8_rate(const double *restrict q, const double *restrict p, double *restrict a)
{
    double px = 0, py = 0, pu = 0, pv = 0, ox = 0, oy = 0, b = 1, last = 0;
    for (int i = 0; i < N; i++) {
        double x = q[2 * i] - px, y = q[2 * i + 1] - py, s = p[2 * i] - pu, t = p[2 * i + 1] - pv;
        double dd = x * x + y * y, rhs = s * s + t * t, di = 2 * dd;
        if (i == 0) {
            di = dd;
            rhs -= y;
        } else {
            double of = x * ox + y * oy, inv = of / b;
            cp[i - 1] = -inv;
            di -= of * inv;
            rhs += last * inv;
        }
        b = di;
        last = rhs;
        lam[i] = rhs / b;
        px = q[2 * i];
        py = q[2 * i + 1];
        pu = p[2 * i];
        pv = p[2 * i + 1];
        ox = x;
        oy = y;
    }
    for (int i = N - 2; i >= 0; i--)
        lam[i] -= cp[i] * lam[i + 1];
    double gx = 0, gy = 0;
    for (int i = N - 1; i >= 0; i--) {
        double hx = -lam[i] * (q[2 * i] - (i ? q[2 * i - 2] : 0)),
               hy = -lam[i] * (q[2 * i + 1] - (i ? q[2 * i - 1] : 0));
        a[2 * i] = hx - gx;
        a[2 * i + 1] = hy - gy - 1;
        gx = hx;
        gy = hy;
    }
}

static void dop8_sum(const double *a, int count, double *const *k, double h, const double *base,
                     double *out)
{
    enum { BLOCK = 512 };
    for (int first = 0; first < 2 * N; first += BLOCK) {
        int n = 2 * N - first < BLOCK ? 2 * N - first : BLOCK;
        double sum[BLOCK] = {0};
        for (int j = 0; j < count; j++)
            if (a[j] != 0)
                for (int i = 0; i < n; i++)
                    sum[i] += a[j] * k[j][first + i];
        for (int i = 0; i < n; i++)
            out[first + i] = base[first + i] + h * sum[i];
    }
}

static bool dop8_create(int links)
{
    double **all[30] = {&q0, &p0, &stage, &speed, &cp, &lam};
    for (int k = 0; k < 12; k++) {
        all[6 + 2 * k] = &kq[k];
        all[7 + 2 * k] = &kp[k];
    }
    N = links;
    if (!take(30, 2 * (size_t)links, all))
        return false;
    for (int i = 0; i < N; i++)
        q0[2 * i] = i + 1;
    return true;
}

static void dop8_advance(int64_t steps, double h)
{
    const taut_tableau *table = &taut_tableau_dop8;
    for (int64_t s = 0; s < steps; s++) {
        memcpy(kq[0], p0, 2 * (size_t)N * sizeof *p0);
        dop8_rate(q0, p0, kp[0]);
        for (int i = 1; i < 12; i++) {
            const double *a = table->a + i * table->width;
            dop8_sum(a, i, kq, h, q0, stage);
            dop8_sum(a, i, kp, h, p0, kq[i]);
            dop8_rate(stage, kq[i], kp[i]);
        }
        const double *b = table->a + 12 * table->width;
        dop8_sum(b, 12, kq, h, q0, q0);
        dop8_sum(b, 12, kp, h, p0, p0);
    }
}

static void dop8_position(double *q)
{
    memcpy(q, q0, 2 * (size_t)N * sizeof *q);
}

const anchor anchor_dop8 = {dop8_create, dop8_advance, dop8_position, destroy};
