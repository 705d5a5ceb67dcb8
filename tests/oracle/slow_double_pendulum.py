#!/usr/bin/env python3
"""Slow points of the double pendulum of Ariel, Sanz-Serna and Tsai (section 5.1) over the foot point of its start (29)-(30), with mpmath in
50 digits: the numbers of test_jets in tests/test_slow_series.c.

Taylor arithmetic of its own (lists of coefficients); multipliers lambda^(k) by the recursion of Lubich 1993, Theorem 2.2, to level 12
for omega = 100 and 5 for 1000, where the last two levels change the result by 6e-16 and 3e-24; Newton's iteration on the normal fibre of the
foot point until the steps are below 1e-40. Prints x1, y1, x2, y2 and their velocities. Takes half a minute.
"""
from mpmath import lu_solve, matrix, mp, mpf, nstr, norm, sqrt

mp.dps = 50


# ---- truncated power series: lists of coefficients

def mul(a, b):
    return [sum(a[i] * b[k - i] for i in range(k + 1)) for k in range(len(a))]


def div(a, b):
    c = []
    for k in range(len(a)):
        c.append((a[k] - sum(c[i] * b[k - i] for i in range(k))) / b[0])
    return c


def root(a):
    s = [sqrt(a[0])]
    for k in range(1, len(a)):
        s.append((a[k] - sum(s[i] * s[k - i] for i in range(1, k))) / (2 * s[0]))
    return s


def add(a, b, sign=1):
    return [x + sign * y for x, y in zip(a, b)]


def dot(a, b):
    return add(mul(a[0], b[0]), mul(a[1], b[1]))


# ---- the pendulum: unit vectors u along the rods, d^2 |d|/dt^2 = (|w|^2 - (u.w)^2)/|d| + u.d'', w = d'

def rods(q, v):
    d = [[q[0], q[1]], [add(q[2], q[0], -1), add(q[3], q[1], -1)]]
    w = [[v[0], v[1]], [add(v[2], v[0], -1), add(v[3], v[1], -1)]]
    unit, gamma = [], []
    for a, b in zip(d, w):
        length = root(dot(a, a))
        u = [div(a[0], length), div(a[1], length)]
        along = dot(u, b)
        unit.append(u)
        gamma.append(div(add(dot(b, b), mul(along, along), -1), length))
    return unit, gamma


def multipliers(q0, v0, given, order):
    """Coefficients 0..order of lambda along the motion in which A lambda = gamma - given, A = [[1, -c], [-c, 2]], c = u1.u2."""
    q, v, lam = [[x] for x in q0], [[x] for x in v0], [[], []]
    for k in range(order + 1):
        u, gamma = rods(q, v)
        c = dot(u[0], u[1])
        r = [gamma[b][k] - given[b][k] + sum(c[j] * lam[1 - b][k - j] for j in range(1, k + 1)) for b in (0, 1)]
        det = 2 - c[0] ** 2
        lam[0].append((2 * r[0] + c[0] * r[1]) / det)
        lam[1].append((c[0] * r[0] + r[1]) / det)
        pull = [[sum(u[b][e][j] * lam[b][k - j] for j in range(k + 1)) for e in (0, 1)] for b in (0, 1)]
        force = [pull[1][0] - pull[0][0], pull[1][1] - pull[0][1], -pull[1][0], -pull[1][1]]
        for i in range(4):
            q[i].append(v[i][k] / (k + 1))
            v[i].append(force[i] / (k + 1))
    return lam


def slow_multipliers(level, c, q, v):
    given = [[mpf(0)] * (2 * level + 2)] * 2
    for j in range(level + 1):
        order = 2 * (level - j) + 1
        lam = multipliers(q, v, given, order)
        given = [[c * (i + 2) * (i + 1) * row[i + 2] for i in range(order - 1)] for row in lam]
    return lam


# ---- foot point and fibre

def bonds(q, v):
    d, w = [q[0], q[1], q[2] - q[0], q[3] - q[1]], [v[0], v[1], v[2] - v[0], v[3] - v[1]]
    r = [sqrt(d[0] ** 2 + d[1] ** 2), sqrt(d[2] ** 2 + d[3] ** 2)]
    u = [d[0] / r[0], d[1] / r[0], d[2] / r[1], d[3] / r[1]]
    g = matrix([r[0] - 1, r[1] - 1])
    rate = matrix([u[0] * w[0] + u[1] * w[1], u[2] * w[2] + u[3] * w[3]])
    return g, rate, matrix([[u[0], u[1], 0, 0], [-u[2], -u[3], u[2], u[3]]])


def foot(q, v):
    x = q.copy()
    while True:
        g, _, jacobian = bonds(x, v)
        new = q - jacobian.T * lu_solve(jacobian * jacobian.T, g - jacobian * (x - q))
        step, x = norm(new - x), new
        if step < mpf(10) ** -45:
            break
    _, rate, jacobian = bonds(x, v)
    return x, v - jacobian.T * lu_solve(jacobian * jacobian.T, rate), jacobian


def slow_point(omega, level):
    c = 1 / mpf(omega) ** 2
    q, v, normal = foot(matrix([1, mpf(1) / 4, 2, 0]), matrix([0, -mpf(1) / 2, 0, mpf(1) / 2]))
    square = normal * normal.T
    while True:
        lam = slow_multipliers(level, c, q, v)
        dq = normal.T * lu_solve(square, c * matrix([lam[0][0], lam[1][0]]) - bonds(q, v)[0])
        q += dq
        dv = normal.T * lu_solve(square, c * matrix([lam[0][1], lam[1][1]]) - bonds(q, v)[1])
        v += dv
        if norm(dq) + norm(dv) < mpf(10) ** -40:
            return list(q) + list(v)


for omega, levels in ((100, (10, 12)), (1000, (4, 5))):
    before, last = slow_point(omega, levels[0]), slow_point(omega, levels[1])
    print("omega", omega, "last levels differ by", nstr(max(abs(a - b) for a, b in zip(before, last)), 3))
    for x in last:
        print(nstr(x, 25))
