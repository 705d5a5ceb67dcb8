/* pendulum_angles.h - an independent oracle: the effective motion of the double pendulum with
 * gravity [E example 1] in angles, and the frequencies of its springs by hand. Nothing of the
 * library is used.
 *
 * X1 = (sin a, -cos a), X2 = X1 + (sin b, -cos b), unit masses, lengths and alpha. Then G G^T =
 * [1 -c; -c 2], c = cos(a - b), so that eps^2 Omega^2 = (3 -+ sqrt(1 + 4 c^2))/2, and with W =
 * sum J Omega the Lagrangian is
 *     L = a'^2 + a' b' cos(a-b) + b'^2/2 - U - W,   U = -2 cos a - cos b. */
#ifndef TAUT_TESTS_JUDGE_PENDULUM_ANGLES_H
#define TAUT_TESTS_JUDGE_PENDULUM_ANGLES_H

#include <math.h>

typedef struct angles {
    double a, b, da, db;
} angles;

static inline void angle_frequencies(double eps, double cosine, double *omega)
{
    double root = sqrt(1 + 4 * cosine * cosine);
    omega[0] = sqrt((3 - root) / 2) / eps;
    omega[1] = sqrt((3 + root) / 2) / eps;
}

/* dW/dc over J: Omega^2 = (3 -+ r)/(2 eps^2), r' = 4c/r. */
static inline double angle_slope(double eps, double cosine, const double *action)
{
    double root = sqrt(1 + 4 * cosine * cosine), omega[2];
    angle_frequencies(eps, cosine, omega);
    return (action[1] / omega[1] - action[0] / omega[0]) * cosine / (root * eps * eps);
}

static inline angles angle_rates(angles x, double eps, const double *action)
{
    double c = cos(x.a - x.b), s = sin(x.a - x.b), slope = angle_slope(eps, c, action);
    /* 2 a'' + c b'' = r1, c a'' + b'' = r2 */
    double r1 = -s * x.db * x.db - 2 * sin(x.a) + slope * s,
           r2 = s * x.da * x.da - sin(x.b) - slope * s;
    double d = 2 - c * c;
    return (angles){x.da, x.db, (r1 - c * r2) / d, (2 * r2 - c * r1) / d};
}

static inline angles angle_add(angles x, double h, angles k)
{
    return (angles){x.a + h * k.a, x.b + h * k.b, x.da + h * k.da, x.db + h * k.db};
}

/* One classical Runge-Kutta step. */
static inline angles angle_step(angles x, double h, double eps, const double *action)
{
    angles k1 = angle_rates(x, eps, action), k2 = angle_rates(angle_add(x, h / 2, k1), eps, action);
    angles k3 = angle_rates(angle_add(x, h / 2, k2), eps, action),
           k4 = angle_rates(angle_add(x, h, k3), eps, action);
    x = angle_add(x, h / 6, k1);
    x = angle_add(x, h / 3, k2);
    x = angle_add(x, h / 3, k3);
    return angle_add(x, h / 6, k4);
}

static inline angles angle_advance(angles x, double t, double eps, const double *action)
{
    int steps = (int)ceil(t / 1e-3);
    for (int k = 0; k < steps; k++)
        x = angle_step(x, t / steps, eps, action);
    return x;
}

static inline void angle_state(angles x, double *q, double *v)
{
    q[0] = sin(x.a);
    q[1] = -cos(x.a);
    q[2] = q[0] + sin(x.b);
    q[3] = q[1] - cos(x.b);
    v[0] = x.da * cos(x.a);
    v[1] = x.da * sin(x.a);
    v[2] = v[0] + x.db * cos(x.b);
    v[3] = v[1] + x.db * sin(x.b);
}

/* The start (14) of the paper, x0 = (sqrt .5, -sqrt .5, sqrt 2, 5 eps), and its projection by
 * (9): X = x0 + G(x0)^T lambda. With the unit vectors d1 = x1, d2 along x2 - x1 this is X1 = x1
 * + l1 d1 - l2 d2, X2 = x2 + l2 d2; Newton in two unknowns by hand. */
static inline angles angle_start(double eps)
{
    double x1[2] = {sqrt(.5), -sqrt(.5)}, x2[2] = {sqrt(2), 5 * eps};
    double n = hypot(x2[0] - x1[0], x2[1] - x1[1]),
           d[2] = {(x2[0] - x1[0]) / n, (x2[1] - x1[1]) / n}, l1 = 0, l2 = 0;
    double X[2] = {x1[0], x1[1]}, Z[2] = {d[0] * n, d[1] * n};
    for (int k = 0; k < 30; k++) {
        double A = hypot(X[0], X[1]), B = hypot(Z[0], Z[1]), r1 = 1 - A, r2 = 1 - B;
        double e1[2] = {X[0] / A, X[1] / A}, e2[2] = {Z[0] / B, Z[1] / B};
        /* X = x1 + l1 d1 - l2 d2, Z = X2 - X1 = z - l1 d1 + 2 l2 d2, d1 = x1 */
        double a11 = e1[0] * x1[0] + e1[1] * x1[1], a12 = -(e1[0] * d[0] + e1[1] * d[1]);
        double a21 = -(e2[0] * x1[0] + e2[1] * x1[1]), a22 = 2 * (e2[0] * d[0] + e2[1] * d[1]),
               det = a11 * a22 - a12 * a21;
        l1 += (r1 * a22 - a12 * r2) / det;
        l2 += (a11 * r2 - a21 * r1) / det;
        for (int i = 0; i < 2; i++) {
            X[i] = x1[i] + l1 * x1[i] - l2 * d[i];
            Z[i] = n * d[i] - l1 * x1[i] + 2 * l2 * d[i];
        }
    }
    return (angles){atan2(X[0], -X[1]), atan2(Z[0], -Z[1]), 0, 0};
}

/* Actions of that start, at rest: with g = (0, g2), u normalised eigenvectors of G G^T = [1 -c;
 * -c 2] at x0: E_k = (e_k . g)^2/(2 eps^2). */
static inline void angle_actions(double eps, double *action)
{
    double z[2] = {sqrt(2) - sqrt(.5), 5 * eps + sqrt(.5)}, n = hypot(z[0], z[1]), g = n - 1;
    double c = (z[0] * sqrt(.5) - z[1] * sqrt(.5)) / n, omega[2];
    angle_frequencies(eps, c, omega);
    for (int k = 0; k < 2; k++) {
        double value = omega[k] * omega[k] * eps * eps; /* (1 - value) e1 = c e2 */
        double e1 = c, e2 = 1 - value, share = e2 * e2 / (e1 * e1 + e2 * e2);
        action[k] = share * g * g / (2 * eps * eps) / omega[k];
    }
}

#endif
