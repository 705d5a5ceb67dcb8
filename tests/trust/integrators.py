"""Integrators of references.py, in double precision. Each takes f(t, y), a state and an
end time, and gives the state there.

    gbs       extrapolated midpoint rule (Gragg, Bulirsch, Stoer), for non-stiff systems
    gauss     Gauss collocation with fixed step size and compensated sums, for oscillations
    radau     Radau IIA collocation, for stiff first-order systems
    seulex    extrapolated linearly implicit Euler method, for the same

[Hairer, Norsett, Wanner I, section II.9; Hairer, Wanner II, sections IV.5, IV.8, IV.9]"""
import math
from fractions import Fraction


def gbs(f, t, y, end, tolerance, scale, columns=8, first=None):
    """Gragg's midpoint rule with 2, 4, 6, ... substeps, extrapolated; adaptive step size."""
    n = [2 * (k + 1) for k in range(columns)]
    h = first or (end - t) / 1000
    size = len(y)
    while t < end:
        last = t + h * (1 + 1e-10) >= end
        h = end - t if last else h
        rows, slope = [], f(t, y)
        for k in range(columns):
            step = h / n[k]
            before, now = y, [a + step * b for a, b in zip(y, slope)]
            twice = 2 * step
            for j in range(1, n[k]):
                d = f(t + j * step, now)
                before, now = now, [a + twice * b for a, b in zip(before, d)]
            d = f(t + h, now)
            row = [[(a + b + step * c) / 2 for a, b, c in zip(before, now, d)]]
            for j in range(1, k + 1):
                factor = 1 / ((n[k] / n[k - j])**2 - 1)
                row.append([a + (a - b) * factor for a, b in zip(row[j - 1], rows[k - 1][j - 1])])
            rows.append(row)
        best, other = rows[-1][-1], rows[-1][-2]
        error = max(abs(best[i] - other[i]) / scale[i] for i in range(size)) / tolerance
        if error <= 1:
            t, y = (end, best) if last else (t + h, best)
        h *= min(3, max(0.2, 0.8 * (error + 1e-30)**(-1 / (2 * columns - 1))))
    return y


def polynomials(nodes):
    """Coefficients of the Lagrange polynomials of the nodes, exact in fractions."""
    result = []
    for i, c in enumerate(nodes):
        p, below = [Fraction(1)], Fraction(1)
        for j, other in enumerate(nodes):
            if j != i:
                p = [(p[k - 1] if k > 0 else 0) - other * (p[k] if k < len(p) else 0)
                     for k in range(len(p) + 1)]
                below *= c - other
        result.append([x / below for x in p])
    return result


def value(p, x):
    total = 0
    for c in reversed(p):
        total = total * x + c
    return total


def legendre(s):
    """Shifted to [0, 1], integer coefficients."""
    return [(-1)**(s + k) * math.comb(s, k) * math.comb(s + k, k) for k in range(s + 1)]


def collocation(kind, s):
    """(c, A, b): the zeros of P_s (Gauss) or P_s - P_(s-1) (Radau IIA), to 40 digits."""
    p = legendre(s)
    if kind == "radau":
        p = [a - b for a, b in zip(p, legendre(s - 1) + [0])]
    slope = [k * a for k, a in enumerate(p)][1:]
    grid, zeros = 4000, []
    for k in range(grid):
        a, b = Fraction(k, grid), Fraction(k + 1, grid)
        fa, fb = value(p, a), value(p, b)
        if fb == 0:
            zeros.append(b)
        elif fa * fb < 0:
            x = (a + b) / 2
            for _ in range(8):
                x = (x - value(p, x) / value(slope, x)).limit_denominator(10**40)
            zeros.append(x)
    assert len(zeros) == s
    whole = [[Fraction(0)] + [a / (k + 1) for k, a in enumerate(q)] for q in polynomials(zeros)]
    return ([float(x) for x in zeros], [[float(value(q, x)) for q in whole] for x in zeros],
            [float(value(q, Fraction(1))) for q in whole])


def gauss(f, t, y, end, steps, s=8):
    """Gauss collocation, fixed step size, fixed-point iteration to rounding."""
    c, A, b = collocation("gauss", s)
    shift = [[float(value(p, 1 + Fraction(x))) for p in
              polynomials([Fraction(z) for z in c])] for x in c]
    h, start, n = (end - t) / steps, t, len(y)
    k = None
    low = [0.0] * n  # compensation of the sums over the steps
    for step in range(steps):
        t = start + h * step
        if k is None:
            k = [f(t, y)] * s
        else:  # the polynomial of the last step, continued
            k = [[sum(w[j] * k[j][i] for j in range(s)) for i in range(n)] for w in shift]
        last, size = math.inf, max(map(abs, y))
        for _ in range(60):
            k2 = []
            for i in range(s):
                row = A[i]
                at = [y[m] + h * sum(row[j] * k[j][m] for j in range(s)) for m in range(n)]
                k2.append(f(t + c[i] * h, at))
            off = max(abs(p - q) for a, d in zip(k, k2) for p, q in zip(a, d)) * abs(h)
            k = k2
            if off == 0 or (off < 1e-13 * size and off >= last / 2):
                break
            last = off
        for m in range(n):
            add = h * sum(b[j] * k[j][m] for j in range(s)) + low[m]
            new = y[m] + add
            low[m] = add - (new - y[m])
            y = y[:m] + [new] + y[m + 1:]
    return y


def solve(matrix, right):
    """Gaussian elimination with row pivots."""
    n = len(right)
    a = [list(row) + [r] for row, r in zip(matrix, right)]
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(a[i][k]))
        a[k], a[p] = a[p], a[k]
        for i in range(k + 1, n):
            w = a[i][k] / a[k][k]
            if w:
                row, pivot = a[i], a[k]
                for j in range(k, n + 1):
                    row[j] -= w * pivot[j]
    x = [0.0] * n
    for k in range(n - 1, -1, -1):
        x[k] = (a[k][n] - sum(a[k][j] * x[j] for j in range(k + 1, n))) / a[k][k]
    return x


def radau(f, jacobian, t, y, end, tolerance, floor, s=7):
    """Radau IIA, Newton's iteration; step size by comparing a step with two halves."""
    c, A, b = collocation("radau", s)
    n, h = len(y), 1e-6

    def advance(t, y, h):
        z, last = [[0.0] * n for _ in range(s)], math.inf
        for _ in range(12):
            k = [f(t + c[i] * h, [p + q for p, q in zip(y, z[i])]) for i in range(s)]
            J = [jacobian(t + c[i] * h, [p + q for p, q in zip(y, z[i])]) for i in range(s)]
            matrix = [[(i == j) * (m == l) - h * A[i][j] * J[j][m][l]
                       for j in range(s) for l in range(n)] for i in range(s) for m in range(n)]
            right = [h * sum(A[i][j] * k[j][m] for j in range(s)) - z[i][m]
                     for i in range(s) for m in range(n)]
            d = solve(matrix, right)
            z = [[z[i][m] + d[i * n + m] for m in range(n)] for i in range(s)]
            off = max(abs(d[i * n + m]) / (abs(y[m]) + floor[m])
                      for i in range(s) for m in range(n))
            if off < 1e-15 or (off < 1e-11 and off >= last / 2):  # rounding is reached
                break
            last = off
        else:
            return None
        return [p + q for p, q in zip(y, z[-1])]

    while t < end:
        last = t + h * (1 + 1e-10) >= end
        h = end - t if last else h
        whole = advance(t, y, h)
        half = whole and advance(t, y, h / 2)
        two = half and advance(t + h / 2, half, h / 2)
        error = 100.0 if two is None else max(
            abs(p - q) / (abs(q) + r) for p, q, r in zip(whole, two, floor)) / tolerance
        if error <= 1:
            t, y = (end if last else t + h), two
        h *= min(4, max(0.2, 0.8 * (error + 1e-30)**(-1 / (2 * s))))
    return y


def seulex(f, jacobian, t, y, end, tolerance, floor, columns=9):
    """Linearly implicit Euler method with 1, 2, 3, ... substeps, extrapolated; autonomous f."""
    n, h = len(y), 1e-7
    while t < end:
        last = t + h * (1 + 1e-10) >= end
        h = end - t if last else h
        J, rows = jacobian(t, y), []
        for k in range(columns):
            step = h / (k + 1)
            matrix = [[(i == j) - step * J[i][j] for j in range(n)] for i in range(n)]
            now = y
            for _ in range(k + 1):
                d = solve(matrix, [step * x for x in f(t, now)])
                now = [p + q for p, q in zip(now, d)]
            row = [now]
            for j in range(1, k + 1):
                factor = (k + 1 - j) / j
                row.append([p + (p - q) * factor for p, q in zip(row[j - 1], rows[k - 1][j - 1])])
            rows.append(row)
        best, other = rows[-1][-1], rows[-1][-2]
        error = max(abs(p - q) / (abs(p) + r) for p, q, r in zip(best, other, floor)) / tolerance
        if error <= 1:
            t, y = (end if last else t + h), best
        h *= min(3, max(0.2, 0.8 * (error + 1e-30)**(-1 / columns)))
    return y
