#!/usr/bin/env python3
"""radau5.py - an independent Radau IIA method of order 5, and what it needs on the pendulum with a damped spring of
tests/test_radau_damped.c: accepted steps and error of q for rtol = atol = 1e-4 .. 1e-9, with the
reference from a run at 1e-12. Standard library only; prints the rows of the table in the test.

Hairer, Wanner, Solving Ordinary Differential Equations II, IV.8: collocation for y' = f(t, y), simplified Newton
iteration in the basis that diagonalises A^-1, the error estimate (8.20) filtered by the real matrix, the predictive
step-size control (8.25). Nothing of it is shared with src/step: accelerations, multipliers and norms are Taut's own."""
import math

S6 = 6 ** 0.5
C = [(4 - S6) / 10, (4 + S6) / 10, 1.0]
E = [(-13 - 7 * S6) / 3, (-13 + 7 * S6) / 3, -1 / 3]
REAL = 3 + 3 ** (2 / 3) - 3 ** (1 / 3)  # eigenvalues of A^-1
PAIR = 3 + 0.5 * (3 ** (1 / 3) - 3 ** (2 / 3)) - 0.5j * (3 ** (5 / 6) + 3 ** (7 / 6))
T = [[0.09443876248897524, -0.14125529502095421, 0.03002919410514742],
     [0.25021312296533332, 0.20412935229379994, -0.38294211275726192], [1, 1, 0]]
TI = [[4.17871859155190428, 0.32768282076106237, 0.52337644549944951],
      [-4.17871859155190428, -0.32768282076106237, 0.47662355450055044],
      [0.50287263494578682, -2.57192694985560522, 0.59603920482822492]]
POLYNOMIAL = [[13 / 3 + 7 * S6 / 3, -23 / 3 - 22 * S6 / 3, 10 / 3 + 5 * S6],
              [13 / 3 - 7 * S6 / 3, -23 / 3 + 22 * S6 / 3, 10 / 3 - 5 * S6], [1 / 3, -8 / 3, 10 / 3]]
MOST = 6  # Newton iterations


def factor(a):
    n, a, p = len(a), [row[:] for row in a], list(range(len(a)))
    for k in range(n):
        m = max(range(k, n), key=lambda i: abs(a[i][k]))
        a[k], a[m], p[k], p[m] = a[m], a[k], p[m], p[k]
        for i in range(k + 1, n):
            a[i][k] /= a[k][k]
            for j in range(k + 1, n):
                a[i][j] -= a[i][k] * a[k][j]
    return a, p


def solve(lu, b):
    a, p = lu
    n, x = len(p), [b[i] for i in p]
    for i in range(n):
        for j in range(i):
            x[i] -= a[i][j] * x[j]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            x[i] -= a[i][j] * x[j]
        x[i] /= a[i][i]
    return x


def rms(x):
    return math.sqrt(sum(abs(a) ** 2 for a in x) / len(x))


def mix(matrix, rows, n):
    return [[sum(matrix[i][j] * rows[j][k] for j in range(3)) for k in range(n)] for i in range(3)]


def newton(f, t, y, h, real, pair, z, scale, tol):
    """The stages y + z: z, iterations; None where it does not converge."""
    n, w, old, rate = len(y), mix(TI, z, len(y)), None, None
    for k in range(MOST):
        r = mix(TI, [f(t + C[i] * h, [a + b for a, b in zip(y, z[i])]) for i in range(3)], n)
        a = solve(real, [r[0][i] - REAL / h * w[0][i] for i in range(n)])
        b = solve(pair, [r[1][i] + 1j * r[2][i] - PAIR / h * (w[1][i] + 1j * w[2][i]) for i in range(n)])
        d = [a, [x.real for x in b], [x.imag for x in b]]
        size = rms([d[i][j] / scale[j] for i in range(3) for j in range(n)])
        rate = size / old if old else rate
        if rate is not None and (rate >= 1 or rate ** (MOST - k) / (1 - rate) * size > tol):
            return None
        w = [[w[i][j] + d[i][j] for j in range(n)] for i in range(3)]
        z = mix(T, w, n)
        if size == 0 or (rate is not None and rate / (1 - rate) * size < tol):
            return z, k + 1
        old = size
    return None


def radau(f, t, end, y, tol):
    """y at the end, steps, rejected steps."""
    n, h, steps, rejected, rate = len(y), 1e-4 * (end - t), 0, 0, f(t, y)
    last_h = last_e = poly = None
    accuracy = max(10 * 2.2e-16 / tol, min(0.03, tol ** 0.5))
    while t < end:
        jacobian, again = derivative(f, t, y), False
        while True:
            h = min(h, end - t)
            real = factor([[REAL / h * (i == j) - jacobian[i][j] for j in range(n)] for i in range(n)])
            pair = factor([[PAIR / h * (i == j) - jacobian[i][j] for j in range(n)] for i in range(n)])
            z = [[0.0] * n for _ in range(3)]
            for i in range(3 if poly else 0):
                x = 1 + C[i] * h / poly[0]
                z[i] = [poly[1][k] + sum(poly[2][m][k] * x ** (m + 1) for m in range(3)) - y[k] for k in range(n)]
            found = newton(f, t, y, h, real, pair, z, [tol + tol * abs(a) for a in y], accuracy)
            if not found:
                h, rejected = h / 2, rejected + 1
                continue
            z, iterations = found
            new = [y[k] + z[2][k] for k in range(n)]
            change = [sum(E[j] * z[j][k] for j in range(3)) / h for k in range(n)]
            scale = [tol + tol * max(abs(a), abs(b)) for a, b in zip(y, new)]
            off = solve(real, [rate[k] + change[k] for k in range(n)])
            e = rms([a / b for a, b in zip(off, scale)])
            if again and e > 1:
                moved = f(t, [y[k] + off[k] for k in range(n)])
                off = solve(real, [moved[k] + change[k] for k in range(n)])
                e = rms([a / b for a, b in zip(off, scale)])
            safety = 0.9 * (2 * MOST + 1) / (2 * MOST + iterations)
            growth = h / last_h * (last_e / e) ** 0.25 if last_h and last_e and e else 1
            grow = min(1, growth) * e ** -0.25 if e else 10
            if e <= 1:
                break
            h, again, rejected = h * max(0.2, safety * grow), True, rejected + 1
        poly = (h, y, [[sum(z[j][k] * POLYNOMIAL[j][m] for j in range(3)) for k in range(n)] for m in range(3)])
        last_h, last_e, steps, t, y = h, e, steps + 1, t + h, new
        rate, grow = f(t, y), min(10, safety * grow)
        h *= grow if grow > 1.2 or grow < 1 else 1
    return y, steps, rejected


def derivative(f, t, z):
    n = len(z)
    columns = []
    for j in range(n):
        e = 1e-7 * max(1, abs(z[j]))
        up, down = z[:], z[:]
        up[j] += e
        down[j] -= e
        columns.append([(a - b) / (2 * e) for a, b in zip(f(t, up), f(t, down))])
    return [[columns[j][i] for j in range(n)] for i in range(n)]


def pendulum(k, d):
    def f(t, z):
        x, y, u, w = z
        r = math.hypot(x, y)
        force = k * (r - 1) + d * (x * u + y * w) / r
        return [u, w, -force * x / r, -9.81 - force * y / r]
    return f


for k, d in ((100, 10), (100, 1000), (100, 1e4), (1e4, 100), (1e4, 1e4)):
    start = [1.0, 0.0, 0.0, 0.0]
    exact = radau(pendulum(k, d), 0.0, 2.0, start, 1e-12)[0]
    row = []
    for power in range(4, 10):
        y, steps, _ = radau(pendulum(k, d), 0.0, 2.0, start, 10.0 ** -power)
        row.append("{%d, %.2g}" % (steps, math.hypot(y[0] - exact[0], y[1] - exact[1])))
    print("{%g, %g, {%.15g, %.15g}, {%s}}," % (k, d, exact[0], exact[1], ", ".join(row)))
