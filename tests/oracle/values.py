#!/usr/bin/env python3
"""Reference values for tests/test_models.c, in 250-digit decimal arithmetic. Prints values.h:

    python3 tests/oracle/values.py > tests/oracle/values.h

Every model is written here a second time, by hand, from its paper or its physics: only bonds g(t, q), potential V(t, q),
generalised forces F(t, q, v), kinetic energy T(q, v), rates. All derivatives are central differences of these functions with a
step of 1e-13 to 1e-30, so far above the rounding and so small that 25 and more digits are right. Nothing here is shared with the
library: neither its derivative rules nor its recurrences. Plain Python, no packages; takes a few seconds."""
import sys
from decimal import Decimal, getcontext
from functools import lru_cache

getcontext().prec = 250
TINY = Decimal("1e-255")
ZERO, ONE, TWO = Decimal(0), Decimal(1), Decimal(2)


def d(x):
    """The double nearest to x, exactly: what the program sees when a model says 0.153."""
    return Decimal(float(x))


# ---------------------------------------------------------------------------------------------------- elementary functions

def arctan(x):
    halvings = 0
    while abs(x) > Decimal("1e-3"):
        x = x / (1 + (1 + x * x).sqrt())
        halvings += 1
    total, power, k = ZERO, x, 1
    while abs(power) > TINY:
        total += power / k if k % 4 == 1 else -power / k
        power *= x * x
        k += 2
    return total * 2**halvings


PI = 4 * arctan(ONE)


@lru_cache(maxsize=1000)
def sincos(x):
    x = x.remainder_near(2 * PI)
    small = x / 2**20
    s, c, term, k = ZERO, ZERO, ONE, 0
    while abs(term) > TINY * Decimal("1e-8"):
        if k % 2:
            s += term if k % 4 == 1 else -term
        else:
            c += term if k % 4 == 0 else -term
        k += 1
        term *= small / k
    for _ in range(20):
        s, c = 2 * s * c, c * c - s * s
        norm = (s * s + c * c).sqrt()
        s, c = s / norm, c / norm
    return s, c


def sin(x):
    return sincos(x)[0]


def cos(x):
    return sincos(x)[1]


def arctan2(y, x):
    if x > 0:
        return arctan(y / x)
    if x < 0:
        return arctan(y / x) + (PI if y >= 0 else -PI)
    return PI / 2 if y > 0 else -PI / 2


def arcsin(x):
    return arctan2(x, (1 - x * x).sqrt())


def sqrt(x):
    return Decimal(x).sqrt()


def exp(x):
    return x.exp()


# ------------------------------------------------------------------------------------------------------------------ vectors

def sub(a, b):
    return [x - y for x, y in zip(a, b)]


def dot(a, b):
    return sum((x * y for x, y in zip(a, b)), ZERO)


def length(a):
    return dot(a, a).sqrt()


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def angle(a, b):
    """By the law of cosines, through the half angle: well conditioned and unlike acos or atan2 of products."""
    p, q, r = length(a), length(b), length(sub(a, b))
    s = (p + q + r) / 2
    return 2 * arctan(((s - p) * (s - q) / (s * (s - r))).sqrt())


def dihedral(a, b, c):
    """Angle between the parts of -a and c at right angles to b, turning about b; 0 is cis, pi is trans."""
    axis = [x / length(b) for x in b]
    u = [-x + dot(a, axis) * y for x, y in zip(a, axis)]
    w = [x - dot(c, axis) * y for x, y in zip(c, axis)]
    return arctan2(dot(cross(axis, u), w), dot(u, w))


# -------------------------------------------------------------------------------------------------------------- differences

STEP = Decimal("1e-30")


def partial(function, x, k):
    """d function / d x[k] for a function of a list that returns a number or a list."""
    up, down = list(x), list(x)
    up[k] += STEP
    down[k] -= STEP
    a, b = function(up), function(down)
    if isinstance(a, list):
        return [(p - q) / (2 * STEP) for p, q in zip(a, b)]
    return (a - b) / (2 * STEP)


def coefficient(function, k):
    """Taylor coefficient k at 0 of a function of time that returns a list: central difference of order k over k!."""
    h = Decimal("1e-13")
    if k == 0:
        return function(ZERO)
    binomial, total = 1, None
    for j in range(k + 1):
        values = function((Decimal(k) / 2 - j) * h)
        sign = -binomial if j % 2 else binomial
        total = [sign * v for v in values] if total is None else [a + sign * v for a, v in zip(total, values)]
        binomial = binomial * (k - j) // (j + 1)
    factorial = 1
    for j in range(2, k + 1):
        factorial *= j
    return [a / (h**k * factorial) for a in total]


# ------------------------------------------------------------------------------------------------------------------- models

class Mechanical:
    """name, set, start q0, v0; g, stiffness (None: rigid), V, F, mass or T; stiff potential."""

    def __init__(self, name, q0, v0=None, g=None, kappa=(), V=None, F=None, mass=None, T=None, stiff=None, settings="", t=ZERO):
        self.name, self.settings, self.t, self.size = name, settings, t, 0
        self.q0, self.v0 = [Decimal(x) for x in q0], [Decimal(x) for x in (v0 or [0] * len(q0))]
        self.g, self.kappa, self.V, self.F, self.mass, self.T, self.stiff = g, kappa, V, F, mass or [ONE] * len(q0), T, stiff

    def bonds(self, t, q):
        return self.g(t, q) if self.g else []

    def kinetic(self, q, v):
        if self.T:
            return self.T(q, v)
        return sum((m * x * x for m, x in zip(self.mass, v)), ZERO) / 2

    def force(self, t, q, v):
        f = self.F(t, q, v) if self.F else [ZERO] * len(q)
        if self.V:
            f = [a - partial(lambda x: self.V(t, x), q, k) for k, a in enumerate(f)]
        if self.T:  # Euler-Lagrange: dT/dq - (d/dq dT/dv) v
            for i in range(len(q)):
                f[i] += partial(lambda x: self.T(x, v), q, i)
                momentum = lambda x: partial(lambda w: self.T(x, w), v, i)
                f[i] -= sum((partial(momentum, q, j) * v[j] for j in range(len(q))), ZERO)
        return f


class FirstOrder:
    """name, start z0, y0; rates and rows (constraints, invariants, observables) as functions of (t, z, y)."""

    def __init__(self, name, z0, rates, rows, y0=(), t=ZERO, settings=""):
        self.name, self.settings, self.t, self.size = name, settings, t, 0
        self.q0, self.v0, self.rates, self.rows = [Decimal(x) for x in z0], [Decimal(x) for x in y0], rates, rows

    def bonds(self, t, q):
        return self.rows(t, q)

    def force(self, t, q, v):
        return self.rates(t, q, v)


def spring_pair(q):
    return [sqrt(q[0]**2 + q[1]**2) - 1, sqrt((q[0] - q[2])**2 + (q[1] - q[3])**2) - 1]


def points(q, dim):
    return [q[k:k + dim] for k in range(0, len(q), dim)]


def double_pendulum():
    omega = d(1e4)
    return Mechanical("double_pendulum", [1, d(0.25), 2, 0], [0, d(-0.5), 0, d(0.5)], lambda t, q: spring_pair(q), [omega**2] * 2)


def pendulum():
    eps = d(1e-3)
    return Mechanical("pendulum", [1 - 3 * eps**4 - 54 * eps**8, 0], None, lambda t, q: [length(q) - 1], [1 / eps**2],
                      V=lambda t, q: q[1])


def free_pendulum():
    return Mechanical("free_pendulum", [1, 0], [0, 1], lambda t, q: [length(q) - 1], [d(1000)**2])


def forced_spring():
    omega, t = Decimal(100), d(0.7)
    A = omega**2 / (omega**2 - 1)
    return Mechanical("forced_spring", [A * cos(t) + d(0.01)], [-A * sin(t)], lambda t, q: [q[0] - cos(t)], [omega**2], t=t)


def double_pendulum_gravity():
    eps = d(0.01)
    return Mechanical("double_pendulum_gravity", [sqrt(d(0.5)), -sqrt(d(0.5)), sqrt(2), 5 * eps], None,
                      lambda t, q: spring_pair(q), [1 / eps**2] * 2, V=lambda t, q: q[1] + q[3])


def quartic_rod():
    def stiff(q):
        s = q[0]**2 + q[1]**2 - 1
        return d(1000)**2 * (s**2 / 8 + s**3 / 12 + s**4 / 32)
    return Mechanical("quartic_rod", [1, 0], V=lambda t, q: q[1], stiff=stiff)


def chain():
    def g(t, q):
        p = [[ZERO, ZERO]] + points(q, 2)
        return [length(sub(b, a)) - 1 for a, b in zip(p, p[1:])]
    q0 = [x for i in range(1, 5) for x in (i, 0)]
    return Mechanical("chain", q0, None, g, [d(1000)**2] * 4, V=lambda t, q: sum(q[1::2]), settings="N=4")


def net():
    def g(t, q):  # node[i,j] is number 3 (i-1) + (j-1), i the first index
        p = [[q[3 * (3 * i + j) + k] for k in range(3)] for i in range(3) for j in range(3)]
        node = lambda i, j: p[3 * (i - 1) + j - 1]
        along = [length(sub(node(i + 1, j), node(i, j))) - 1 for i in (1, 2) for j in (1, 2, 3)]
        across = [length(sub(node(i, j + 1), node(i, j))) - 1 for i in (1, 2, 3) for j in (1, 2)]
        return along + across + [length(sub(node(1, 3), [1, 4, 0])) - 1, length(sub(node(3, 3), [3, 4, 0])) - 1]
    q0 = [x for i in (1, 2, 3) for j in (1, 2, 3) for x in (i, j, 0)]
    return Mechanical("net", q0, None, g, [d(1000)**2] * 14, V=lambda t, q: sum(q[2::3]), settings="N=3")


def truss():
    h = d(0.86602540378443865)
    nodes = [(Decimal(i), ZERO) for i in range(7)] + [(i + d(0.5), h) for i in range(6)]
    bars = [(i, i + 1, 1) for i in range(6)] + [(i, i + 1, 1) for i in range(7, 12)]
    for i in range(6):
        bars += [(i, i + 7, d(0.5)), (i + 7, i + 1, d(0.5))]
    def g(t, q):
        p = points(q, 2)
        return [length(sub(p[i], p[j])) - 1 for i, j, _ in bars] + [p[0][0], p[0][1]]
    return Mechanical("truss", [x for p in nodes for x in p], None, g, [d(1e6) * k for _, _, k in bars] + [None] * 2,
                      V=lambda t, q: sum(q[1::2]))


def rope_bending():
    N = 4
    def links(q):
        p = [[ZERO, ZERO]] + points(q, 2)
        return [sub(b, a) for a, b in zip(p, p[1:])]
    def V(t, q):
        u = links(q)
        bending = sum((1 - N**2 * dot(a, b) for a, b in zip(u, u[1:])), ZERO)
        return sum(q[1::2]) / N + d(1e-3) * N * bending
    q0 = [x for i in range(1, N + 1) for x in (Decimal(i) / N, 0)]
    return Mechanical("rope_bending", q0, None, lambda t, q: [length(u) - ONE / N for u in links(q)], [d(1000)**2 / N] * N, V=V,
                      mass=[ONE / N] * 2 * N, settings="N=4")


def slider_crank():
    r, l, l1 = 1, 3, 2
    def g(t, q):
        theta, x2, y2, psi = q
        return [x2 - r * cos(theta) - l1 * cos(psi), r * sin(theta) - l * sin(psi), y2 - (l - l1) * sin(psi)]
    return Mechanical("slider_crank", [0, 3, 0, 0], [-1, 0, -ONE / 3, -ONE / 3], g, [None] * 3,
                      F=lambda t, q, v: [sin(t) - v[0], ZERO, -d(9.81), ZERO], mass=[Decimal(10), ONE, ONE, ONE], t=d(0))


def four_bar():
    Omega, r, l, s, dd = 2, 1, 3, 3, 4
    def rocker_pin(theta):  # circle of radius l about the crank pin meets that of radius s about (d, 0): the upper point
        a = [r * cos(theta), r * sin(theta)]
        gap = length([dd - a[0], -a[1]])
        base = arctan2(-a[1], dd - a[0])
        half = (gap**2 + l**2 - s**2) / (2 * gap * l)
        turn = arctan2(sqrt(1 - half**2), half)
        return [a[0] + l * cos(base + turn), a[1] + l * sin(base + turn)]
    def g(t, q):
        theta, ax, ay, bx, by = q
        return [ax - r * cos(theta), ay - r * sin(theta), length([bx - ax, by - ay]) - l, length([bx - dd, by]) - s,
                theta - Omega * t]
    t = d(0.3)
    position = lambda s: [Omega * s, r * cos(Omega * s), r * sin(Omega * s)] + rocker_pin(Omega * s)
    velocity = partial(lambda x: position(x[0]), [t], 0)
    return Mechanical("four_bar", position(t), velocity, g, [None] * 5, V=lambda t, q: d(9.81) * (q[2] + 2 * q[4]),
                      mass=[ONE, ONE, ONE, TWO, TWO], t=t)


def cart():
    def T(q, v):
        x, r, phi = q
        speed = [v[0] + v[1] * sin(phi) + r * cos(phi) * v[2], -v[1] * cos(phi) + r * sin(phi) * v[2]]
        return 2 * v[0]**2 / 2 + dot(speed, speed) / 2
    return Mechanical("cart", [0, 1, 1], None, lambda t, q: [q[1] - 1], [d(1000)**2], V=lambda t, q: -q[1] * cos(q[2]), T=T)


def fpu():
    omega = 50
    def V(t, q):
        w = [ZERO] + q + [ZERO]
        return sum((w[2 * i + 1] - w[2 * i])**4 for i in range(4))
    return Mechanical("fpu", [(1 - ONE / omega) / sqrt(2), (1 + ONE / omega) / sqrt(2), 0, 0, 0, 0], [0, sqrt(2), 0, 0, 0, 0],
                      lambda t, q: [q[1] - q[0], q[3] - q[2], q[5] - q[4]], [Decimal(omega)**2 / 2] * 3, V=V)


def triatomic():
    a, stretch = d(1.1), 1 + d(0.001)
    def V(t, q):
        return Decimal(5) / 2 * (angle(sub(q[2:4], q[0:2]), sub(q[4:6], q[0:2])) - d(1.9106))**2
    return Mechanical("triatomic", [0, 0, stretch * cos(a), stretch * sin(a), cos(a), -sin(a)],
                      [0, 0, d(-0.3) * sin(a), d(0.3) * cos(a), d(0.3) * sin(a), d(0.3) * cos(a)],
                      lambda t, q: [length(sub(q[2:4], q[0:2])) - 1, length(sub(q[4:6], q[0:2])) - 1], [d(500)**2] * 2, V=V,
                      mass=[Decimal(16)] * 2 + [ONE] * 4)


def butane():
    l, a, twist, gas = d(0.153), d(1.91113553), Decimal(2), d(0.0083144626)
    def g(t, q):
        c = points(q, 3)
        return [length(sub(c[i + 1], c[i])) - l for i in range(3)] + \
            [angle(sub(c[i], c[i + 1]), sub(c[i + 2], c[i + 1])) - a for i in range(2)]
    def V(t, q):
        c = points(q, 3)
        u = -cos(dihedral(sub(c[1], c[0]), sub(c[2], c[1]), sub(c[3], c[2])))
        return gas * (1116 + 1462 * u - 1578 * u**2 - 368 * u**3 + 3156 * u**4 - 3788 * u**5)
    q0 = [l * cos(a), l * sin(a), 0, 0, 0, 0, l, 0, 0, l - l * cos(a), l * sin(a) * cos(twist), l * sin(a) * sin(twist)]
    return Mechanical("butane", q0, None, g, [d(224262.4)] * 3 + [d(519.6528)] * 2, V=V,
                      mass=[d(15.0348)] * 3 + [d(14.0269)] * 6 + [d(15.0348)] * 3)


def water_box():
    N, across, spacing, l, a = 2, 2, d(0.3104), d(0.1012), d(113.24) * PI / 180
    box = across * spacing
    cut, charge = box / 2, d(0.41)
    def image(v):
        return [x - box * (x / box).to_integral_value() for x in v]
    def switch(r):
        return (1 - (r / cut)**2)**3 if r < cut else ZERO
    def V(t, q):
        p = points(q, 3)
        molecule = [[p[i], p[N + i], p[2 * N + i]] for i in range(N)]
        charges, total = [-2 * charge, charge, charge], ZERO
        for i, first in enumerate(molecule[0]):
            for j, second in enumerate(molecule[1]):
                r = length(image(sub(first, second)))
                total += d(138.935458) * charges[i] * charges[j] / r * switch(r)
        r = length(image(sub(molecule[0][0], molecule[1][0])))
        x = (d(0.3165492) / r)**6
        return total + 4 * d(0.650299) * (x * x - x) * switch(r)
    def g(t, q):
        p = points(q, 3)
        arm = lambda k, i: sub(p[k * N + i], p[i])
        return [length(arm(1, i)) - l for i in range(N)] + [length(arm(2, i)) - l for i in range(N)] + \
            [angle(arm(1, i), arm(2, i)) - a for i in range(N)]
    place = [[ZERO, ZERO, ZERO], [spacing, ZERO, ZERO]]
    def hydrogen(i, turn):
        phi = d(2.4) * (i + 1) + turn
        return [place[i][0] + l * cos(phi), place[i][1] + l * sin(phi), place[i][2]]
    q0 = [x for p in place + [hydrogen(i, 0) for i in range(N)] + [hydrogen(i, a) for i in range(N)] for x in p]
    return Mechanical("water_box", q0, None, g, [d(443153.4)] * 4 + [d(317.5656)] * 2, V=V,
                      mass=[d(15.9994)] * 3 * N + [d(1.008)] * 6 * N, settings="N=2")


def index2():
    nu = 1000
    def rates(t, x, y):
        return [(2 - t) * nu * y[0] + (1 + nu) * exp(t), (nu - 1) * y[0] + (1 + (nu - 1) / (2 - t)) * exp(t)]
    def rows(t, x):
        return [(t + 2) * x[0] + (t**2 - 4) * x[1] - (t**2 + t - 2) * exp(t)]
    t = d(0.4)
    return FirstOrder("index2", [exp(t), exp(t)], rates, rows, [-exp(t) / (2 - t)], t=t)


def kepler():
    def rates(t, z, y):
        r3 = length(z[:2])**3
        return [z[2], z[3], -z[0] / r3, -z[1] / r3]
    return FirstOrder("kepler", [d(0.5), 0, 0, sqrt(3)], rates,
                      lambda t, z: [(z[2]**2 + z[3]**2) / 2 - 1 / length(z[:2]) + d(0.5)])


def michaelis(x, y):
    return [-x + (x + 1 - d(0.5)) * y, (x - (x + 1) * y) / d(0.1)]


def michaelis_menten():
    return FirstOrder("michaelis_menten", [1, 0], lambda t, z, y: michaelis(*z), lambda t, z: [z[0]])


def michaelis_menten_mixed():
    def rates(t, z, y):
        a, b = michaelis((z[0] - z[1]) / 2, (z[0] + z[1]) / 2)
        return [a + b, b - a]
    u = d(1.503031511623918)
    return FirstOrder("michaelis_menten_mixed", [u, -u], rates, lambda t, z: [z[0]])


def hydrogen_oxygen():
    # species and reactions by their stoichiometry, as chemistry writes them
    names = ["O2", "H", "OH", "O", "H2", "H2O", "HO2"]
    reactions = [("O2 H", "OH O", 1.0136e12, 1.1007e13), ("O H2", "H OH", 3.5699e12, 3.2105e12),
                 ("OH H2", "H H2O", 4.7430e12, 1.8240e11), ("OH HO2", "H2O O2", 6.0e13, 0.0),
                 ("O2 H", "HO2", None, 0.0), ("OH OH", "O H2O", 6.5325e12, 3.1906e11)]
    def rates(t, z, y):
        out = [ZERO] * 7
        for left, right, forward, backward in reactions:
            left, right = [names.index(x) for x in left.split()], [names.index(x) for x in right.split()]
            rate = d(2.4e-7) * d(6.2868e15) if forward is None else d(forward)
            back = d(backward)
            for k in left:
                rate *= z[k]
            for k in right:
                back *= z[k]
            for k in left:
                out[k] -= rate - back
            for k in right:
                out[k] += rate - back
        return out
    def rows(t, z):
        O2, H, OH, O, H2, H2O, HO2 = z
        return [2 * O2 + OH + O + H2O + 2 * HO2, H + OH + 2 * H2 + 2 * H2O + HO2, H2]
    return FirstOrder("hydrogen_oxygen", [d(2e-8), d(1e-10), 0, 0, d(5e-7), 0, 0], rates, rows)


def five_dimensions():
    def mix(v):  # the matrix Q of the paper, entry by entry
        return [sum(((-3 if i == j else 2) * v[j] for j in range(5)), ZERO) / 5 for i in range(5)]
    def rates(t, y, _):
        x1, x2, w, u1, u2 = mix(y)
        return mix([-x2, x1, 1000 * (x1**2 + x2**2 - w), 800 * u1 + u1**2, 1200 * u2 + u2**2])
    model = FirstOrder("five_dimensions", [d(-791.2), d(-792.2), -814, 5, 405], rates, lambda t, y: [y[0], y[1]])
    model.size = 1200 * 1200  # the terms of u2' cancel: errors of rounding are relative to them
    return model


def robertson():
    def rates(t, y, _):
        slow, back, fast = d(0.04) * y[0], d(1e4) * y[1] * y[2], d(3e7) * y[1]**2
        return [back - slow, slow - back - fast, fast]
    return FirstOrder("robertson", [1, 0, 0], rates, lambda t, y: [])


def reaction_diffusion():
    N = 4
    def rates(t, z, y):
        s, c = z[:N], z[N:]
        wide = [s[0]] + s + [s[-1]]
        spread = [d(1e-5) * N**2 * (wide[i] - 2 * wide[i + 1] + wide[i + 2]) for i in range(N)]
        return ([spread[i] - s[i] + (s[i] + d(0.5)) * c[i] for i in range(N)] +
                [(s[i] - (s[i] + 1) * c[i]) / d(2e-4) for i in range(N)])
    start = [1 + d(0.5) * cos(3 * PI * (i + d(0.5)) / N) for i in range(N)] + [0] * N
    return FirstOrder("reaction_diffusion", start, rates, lambda t, z: z[:N], settings="N=4")


def van_der_pol():
    return FirstOrder("van_der_pol", [2, 0], lambda t, z, _: [z[1], 1000 * (1 - z[0]**2) * z[1] - z[0]], lambda t, z: [])


def bouncing_ball():
    return Mechanical("bouncing_ball", [0, 10], [1, 0], V=lambda t, q: d(9.81) * q[1])


def half_car():
    t, k, c, a, b, w = d(1.03), d(2e4), d(1200), d(1.2), d(1.5), 2 * PI * 20 / d(1.4)  # the front axle is on the bump
    def F(t, q, v):
        road, rate = d(0.05) * (1 - cos(w * (t - 1))) / 2, d(0.05) * w * sin(w * (t - 1)) / 2
        one = k * (q[0] + a * q[1] - road) + c * (v[0] + a * v[1] - rate)
        two = k * (q[0] - b * q[1]) + c * (v[0] - b * v[1])
        return [-one - two, b * two - a * one]
    return Mechanical("half_car", [0, 0], F=F, mass=[Decimal(600), Decimal(900)], t=t)


def foot_excitation():
    return Mechanical("foot_excitation", [0], F=lambda t, q, v: [-100 * (q[0] - d(0.1)) - v[0]], t=d(0.85))


def penalty_contact():
    return Mechanical("penalty_contact", [1], F=lambda t, q, v: [-d(9.81)])


def stick_slip():
    def F(t, q, v):
        side = [ONE if x > 0 else -ONE for x in v]
        return [10 * (d(0.3) * t - q[0]) - 20 * (q[0] - q[1]) - 2 * side[0], 20 * (q[0] - q[1]) - 4 * side[1]]
    return Mechanical("stick_slip", [0, 0], F=F, mass=[ONE, d(1.5)], t=d(0.5))


def cloth():
    N, mesh = 3, ONE / 2
    def g(t, q):
        p = points(q, 3)
        node = lambda i, j: p[N * (i - 1) + j - 1]
        apart = lambda a, b, rest: length(sub(node(*a), node(*b))) - rest
        steps, whole = range(1, N), range(1, N + 1)
        along = [apart((i + 1, j), (i, j), mesh) for i in steps for j in whole]
        across = [apart((i, j + 1), (i, j), mesh) for i in whole for j in steps]
        up = [apart((i + 1, j + 1), (i, j), sqrt(2) * mesh) for i in steps for j in steps]
        down = [apart((i + 1, j), (i, j + 1), sqrt(2) * mesh) for i in steps for j in steps]
        return along + across + up + down + [length(sub(node(i, N), [x, 1 + mesh, 0])) - mesh for i, x in ((1, 0), (N, 1))]
    q0 = [z for i in range(N) for j in range(N)
          for z in (i * mesh, j * mesh, d(0.02) * sin(5 * i * mesh + d(0.3)) * cos(4 * j * mesh + d(0.2) * i * mesh))]
    return Mechanical("cloth", q0, None, g, [d(150)] * 12 + [d(30)] * 8 + [d(150)] * 2, V=lambda t, q: sum(q[2::3]) / N**2,
                      mass=[ONE / N**2] * 27, settings="N=3")


def crane():
    t = d(3)
    def progress(t):
        return t / 20 - sin(2 * PI * t / 20) / (2 * PI)
    def g(t, q):
        return [length([q[0] - 15 * progress(t), q[1]]) - (20 - 12 * t / 20)]
    start = lambda s: [15 * progress(s[0]), -(20 - 12 * s[0] / 20) - 1000 * d(9.81) / d(5e6)]
    return Mechanical("crane", start([t]), partial(start, [t], 0), g, [d(5e6)], V=lambda t, q: 1000 * d(9.81) * q[1],
                      mass=[Decimal(1000)] * 2, t=t)


def crane_cable():
    # with a stiffness that depends on t the bond is multiplied by sqrt(k(t)/k(start))
    t = d(5)
    rest = lambda t: 20 - 12 * t / 20
    def progress(t):
        return t / 20 - sin(2 * PI * t / 20) / (2 * PI)
    def g(s, q):
        return [sqrt(rest(t) / rest(s)) * (length([q[0] - 15 * progress(s), q[1]]) - rest(s))]
    def F(s, q, v):
        travel = lambda x: [15 * progress(x[0])]
        away = [q[0] - 15 * progress(s), q[1]]
        reach = length(away)
        rate = (away[0] * (v[0] - partial(travel, [s], 0)[0]) + away[1] * v[1]) / reach
        return [-2000 * (rate + Decimal(12) / 20) * x / reach for x in away]
    start = lambda s: [15 * progress(s[0]), -rest(s[0]) * (1 + 1000 * d(9.81) / d(1e8))]
    return Mechanical("crane_cable", start([t]), partial(start, [t], 0), g, [d(1e8) / rest(t)],
                      V=lambda t, q: 1000 * d(9.81) * q[1], F=F, mass=[Decimal(1000)] * 2, t=t)


def robertson_dae():
    def rates(t, y, u):  # y3 is algebraic, and its rate stands in its place
        a, b, c = d(0.04) * y[0], d(1e4) * y[1] * y[2], d(3e7) * y[1]**2
        return [b - a, a - b - c, u[0]]
    return FirstOrder("robertson_dae", [1, 0, 0], rates, lambda t, y: [y[0] + y[1] + y[2] - 1], [0])


def spring_pendulum():
    r, a = 1 + d(0.2) / 2, d(0.3)
    return Mechanical("spring_pendulum", [r * sin(a), -r * cos(a)], None, lambda t, q: [length(q) - d(0.75)], [d(4)],
                      V=lambda t, q: q[1])


def crossing():
    def g(t, q):
        return [(1 + q[0] / 2).sqrt() * q[1], (1 - q[0] / 2).sqrt() * q[2] + d(0.035) * q[1]]
    return Mechanical("crossing", [-1, 0, 0], [1, (2 * d(0.3)).sqrt(), 0], g, [d(200)**2] * 2,
                      V=lambda t, q: q[0] * q[0] / 4 - q[1] - q[2])


def squeezer():
    # sums of arms r (cos a, sin a), a a sum of angles; the source's (sin, -cos) is an arm turned back by a right angle
    m = [d(x) for x in (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)]
    I = [d(x) for x in (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)]
    A, B, C = [d(-0.06934), d(-0.00227)], [d(-0.03635), d(0.03273)], [d(0.014), d(0.072)]
    e = d(0.02) - d(0.01421)
    bodies = [([(0.00092, [0], 0)], [0]), ([(0.007, [0], 0), (-0.0115, [0, 1], 0)], [0, 1]),
              ([(0.01874, [2], 1), (0.01043, [2], 0)], [2]), ([(0.04, [4], 0), (e, [3, 4], 1)], [3, 4]),
              ([(0.02308, [4], 0), (-0.00916, [4], 1)], [4]), ([(0.04, [6], 1), (e, [5, 6], 0)], [5, 6]),
              ([(0.01228, [6], 1), (-0.00449, [6], 0)], [6])]
    pin = [(0.007, [0], 0), (-0.028, [0, 1], 0)]
    def turn(arm, q):
        s, c = sincos(sum(q[i] for i in arm[1]))
        r = d(arm[0])
        return [r * s, -r * c] if arm[2] else [r * c, r * s]
    def end(origin, arms, q):
        places = [turn(arm, q) for arm in arms]
        return [x + sum(p[k] for p in places) for k, x in enumerate(origin)]
    def g(t, q):
        tip = end([ZERO, ZERO], pin, q)
        return sub(tip, end(B, [(0.035, [2], 1)], q)) + sub(tip, end(A, [(0.02, [3, 4], 1), (0.04, [4], 0)], q)) + \
            sub(tip, end(A, [(0.02, [5, 6], 0), (0.04, [6], 1)], q))
    def T(q, v):
        total = ZERO
        for mass, moment, (arms, angles) in zip(m, I, bodies):
            w = [sum(v[i] for i in arm[1]) for arm in arms]
            places = [turn(arm, q) for arm in arms]
            u = [sum(x * p[k] for x, p in zip(w, places)) for k in (0, 1)]  # turned by a right angle
            total += mass * dot(u, u) / 2 + moment * sum(v[i] for i in angles)**2 / 2
        return total
    def V(t, q):
        return d(4530) / 2 * (length(sub(end(B, [(0.018, [2], 1), (0.02, [2], 0)], q), C)) - d(0.07785))**2
    q0 = [d(x) for x in (-0.0617138900142764496, 0, 0.455279819163070380, 0.222668390165885885, 0.487364979543842550,
                         -0.222668390165885885, 1.23054744454982119)]
    return Mechanical("squeezer", q0, None, g, [None] * 6, V=V, T=T, F=lambda t, q, v: [d(0.033)] + [ZERO] * 6)


def top():
    def product(a, b):  # of quaternions
        return [a[0] * b[0] - dot(a[1:], b[1:])] + [a[0] * x + b[0] * y + z for x, y, z in zip(b[1:], a[1:], cross(a[1:], b[1:]))]
    def T(q, v):
        w = [2 * x for x in product([q[0]] + [-x for x in q[1:]], v)]
        return d(0.02) / 2 * (w[0]**2 + w[1]**2 + w[2]**2) + d(0.005) / 2 * w[3]**2
    def V(t, q):
        return d(9.81) * d(0.1) * product(product(q, [ZERO, ZERO, ZERO, ONE]), [q[0]] + [-x for x in q[1:]])[3]
    c, s = cos(d(0.25)), sin(d(0.25))
    return Mechanical("top", [c, s, 0, 0], [0, 0, -50 * s, 50 * c], lambda t, q: [dot(q, q) - 1], [None], V=V, T=T)


def parallelogram():
    pivot, m = [[ZERO, ZERO], [d(1.5), ZERO], [d(0.5), d(0.75)]], [1, 2, 3]
    def g(t, q):
        p = points(q, 2)
        sides = [(1, 0, d(1.5)), (2, 1, d(1.25)), (0, 2, sqrt(Decimal(13)) / 4)]
        return [length(sub(a, b)) - 1 for a, b in zip(p, pivot)] + [length(sub(p[i], p[j])) - r for i, j, r in sides]
    return Mechanical("parallelogram", [x for a in pivot for x in (a[0], a[1] - 1)], [d(2.2), 0] * 3, g, [None] * 6,
                      V=lambda t, q: sum(m[i] * q[2 * i + 1] for i in range(3)), mass=[ONE * m[i] for i in (0, 0, 1, 1, 2, 2)])


def tensegrity():
    m, spin = [1, 2, 3], [d(0.05), d(3), d(0.02)]
    side = [(i, s) for i in range(3) for s in (-1, 1)]
    def g(t, q):
        p = points(q, 3)
        node = {x: p[k] for k, x in enumerate(side)}
        struts = [length(sub(node[i, -1], node[i, 1])) - 2 for i in range(3)]
        return struts + [length(sub(node[i, s], node[j, r])) - sqrt(TWO) for i in range(3) for s in (-1, 1)
                         for j in range(i + 1, 3) for r in (-1, 1)]
    q0 = [ONE * s * (c == i) for i, s in side for c in range(3)]
    v0 = []
    for i, s in side:
        e = [ONE * s * (c == i) for c in range(3)]
        turn = [spin[(c + 1) % 3] * e[(c + 2) % 3] - spin[(c + 2) % 3] * e[(c + 1) % 3] for c in range(3)]
        v0 += [turn[0] + 2, turn[1], turn[2] + 15]
    return Mechanical("tensegrity", q0, v0, g, [None] * 15, V=lambda t, q: d(9.81) * sum(m[k // 2] * q[3 * k + 2] for k in range(6)),
                      mass=[ONE * m[i] for i, _ in side for c in range(3)])


def bennett():
    a, w = ONE, d(0.5)
    alpha, beta = PI / 6, PI / 3
    b = a * sin(beta) / sin(alpha)
    turn = lambda angle, x: [cos(angle) * x[0] - sin(angle) * x[1], sin(angle) * x[0] + cos(angle) * x[1], x[2]]   # about z
    tilt = lambda angle, x: [x[0], cos(angle) * x[1] - sin(angle) * x[2], sin(angle) * x[1] + cos(angle) * x[2]]   # about x
    move = lambda x, r: [x[0] + r, x[1], x[2]]
    def frames(theta):  # Denavit and Hartenberg: turn about the hinge, along the bar, twist
        phi = 2 * arctan(sin((beta + alpha) / 2) / sin((beta - alpha) / 2) * cos(theta / 2) / sin(theta / 2))
        first = lambda x: turn(theta, move(tilt(alpha, x), a))
        second = lambda x: first(turn(phi, move(tilt(beta, x), b)))
        return [z for f in (first, second) for k in (0, 1) for z in f([ZERO, ZERO, k * w])]
    def apart(x, y, r, twist, i, k):
        return length(sub(x, y)) - sqrt(r**2 + w**2 * (i * i + k * k - 2 * i * k * cos(twist)))
    def g(t, x):
        p = points(x, 3)
        p, q = p[:2], p[2:]
        both = [(i, k) for i in (0, 1) for k in (0, 1)]
        base = [[ZERO, ZERO, i * w] for i in (0, 1)]
        post = [[-b, i * w * sin(beta), i * w * cos(beta)] for i in (0, 1)]
        return ([apart(p[k], base[i], a, alpha, i, k) for i, k in both] + [length(sub(p[1], p[0])) - w] +
                [apart(q[k], p[i], b, beta, i, k) for i, k in both] + [length(sub(q[1], q[0])) - w] +
                [apart(q[i], post[k], a, alpha, i, k) for i, k in both])
    theta = d(2)
    return Mechanical("bennett", frames(theta), partial(lambda x: frames(x[0]), [theta], 0), g, [None] * 14,
                      V=lambda t, q: sum(q[2::3]), mass=[ONE] * 12)


def polymer():
    N, rise, turn = 4, d(0.5), d(0.9)
    radius = sqrt(1 - rise**2) / (2 * sin(turn / 2))
    def V(t, q):
        p, total = points(q, 3), ZERO
        for i in range(N):
            for j in range(i + 2, N):
                x = 1 / length(sub(p[i], p[j]))**6
                total += 4 * (x * x - x)
        return total
    q0 = [x for i in range(1, N + 1) for x in (radius * cos(turn * i), radius * sin(turn * i), rise * i)]
    return Mechanical("polymer", q0, [0] * (3 * N - 3) + [d(0.3), d(-0.2), d(0.1)],
                      lambda t, q: [length(sub(b, a)) - 1 for a, b in zip(points(q, 3), points(q, 3)[1:])], [d(300)**2] * (N - 1),
                      V=V, settings="N=4")


def robot_arm():
    g, l1, l2, t = d(9.81), d(0.5), d(0.4), d(0.6)
    def T(q, v):  # a rod of mass m and length l turning about its end has m l^2/3
        a, b = v[0], v[0] + v[1]
        joint, end = l1 * a, l2 * b
        return (8 * joint**2 / 3 + 5 * (joint**2 + joint * end * cos(q[1]) + end**2 / 3) +
                2 * (joint**2 + 2 * joint * end * cos(q[1]) + end**2) + d(1.5) * v[2]**2 + d(0.8) * v[3]**2) / 2
    def V(t, q):
        first, second = l1 * sin(q[0]), l2 * sin(q[0] + q[1])
        return g * (8 * first / 2 + 5 * (first + second / 2) + 2 * (first + second))
    def F(t, q, v):
        path = [d(0.3) + d(0.5) * (1 - cos(2 * t)), d(0.5) - d(0.7) * (1 - cos(3 * t))]
        return [ZERO, ZERO] + [2000 * (path[i] - q[2 + i]) - 100 * v[2 + i] for i in (0, 1)]
    return Mechanical("robot_arm", [d(0.3), d(0.5)] * 2, None, lambda t, q: [q[2] - q[0], q[3] - q[1]], [d(1e5)] * 2, V=V, F=F,
                      T=T, t=t)


MODELS = [double_pendulum, pendulum, free_pendulum, forced_spring, double_pendulum_gravity, quartic_rod, chain, net, truss,
          rope_bending, slider_crank, four_bar, cart, fpu, triatomic, butane, water_box, index2, kepler, michaelis_menten,
          michaelis_menten_mixed, hydrogen_oxygen, five_dimensions, reaction_diffusion, robertson, van_der_pol, bouncing_ball, half_car,
          foot_excitation, penalty_contact, stick_slip, cloth, crane, spring_pendulum, squeezer, top, parallelogram, tensegrity,
          bennett, polymer, robot_arm, crane_cable, robertson_dae, crossing]

# -------------------------------------------------------------------------------------------------------------------- output

JET_ORDER = 5


def array(name, what, values):
    body = ", ".join("%.17g" % float(x) for x in values) or "0"
    print("static const double %s_%s[] = {%s};" % (name, what, body))


def generic_point(model):
    """A state near the start without special symmetry, in doubles. Concentrations stay positive."""
    n, scale = len(model.q0), Decimal("0.05")
    if model.name in ("butane", "water_box"):
        scale = Decimal("0.004")
    if model.name == "hydrogen_oxygen":
        return [d(x + d(1e-9) * (1 + (5 * k) % 7)) for k, x in enumerate(model.q0)], []
    q = [d(x + scale * ((7 * k + 3) % 11 - 5) / 5) for k, x in enumerate(model.q0)]
    size = n if isinstance(model, Mechanical) else len(model.v0)
    v = [d(Decimal((5 * k + 4) % 13 - 6) / 10) for k in range(size)]
    return q, v


def path(model, q, v):
    """The curve of the jets: q + w t + a t^2/2 and its velocity; first order: z + w t + a t^2/2 and y + v' t."""
    n, mechanical = len(q), isinstance(model, Mechanical)
    unit = Decimal("1e-9") if model.name == "hydrogen_oxygen" else ONE
    w = v if mechanical else [d(unit * ((3 * k + 1) % 5 - 2) / 4) for k in range(n)]
    a = [d(unit * ((3 * k + 2) % 7 - 3) / 8) for k in range(n)]
    def at(s):
        position = [x + y * s + z * s * s / 2 for x, y, z in zip(q, w, a)]
        if mechanical:
            return position, [y + z * s for y, z in zip(w, a)]
        return position, [y + s / 2 for y in v]
    return w, a, at


def emit(model):
    name, mechanical = model.name, isinstance(model, Mechanical)
    q, v = generic_point(model)
    n, t = len(q), model.t
    array(name, "start_q", model.q0)
    array(name, "start_v", model.v0)
    array(name, "q", q)
    array(name, "v", v)
    g = model.bonds(t, q)
    array(name, "g", g)
    array(name, "f", model.force(t, q, v))
    columns = [partial(lambda x: model.bonds(t, x), q, k) for k in range(n)] if g else []
    array(name, "G", [columns[k][i] for i in range(len(g)) for k in range(n)])
    array(name, "gt", partial(lambda s: model.bonds(s[0], q), [t], 0) if g else [])
    energy = [ZERO] * 4
    gamma, mass, stiff = [], [], []
    if mechanical:
        gamma = coefficient(lambda s: model.bonds(t + s, [x + s * y for x, y in zip(q, v)]), 2) if g else []
        gamma = [2 * x for x in gamma]
        springs = [k * x * x / 2 for k, x in zip(model.kappa, g) if k is not None]
        energy = [model.kinetic(q, v), model.V(t, q) if model.V else ZERO, sum(springs, ZERO),
                  model.stiff(q) if model.stiff else ZERO]
        momentum = lambda x: [partial(lambda w: model.kinetic(q, w), x, i) for i in range(n)]
        rows = [partial(momentum, v, j) for j in range(n)] if model.T else None
        mass = [rows[j][i] for i in range(n) for j in range(n)] if rows else model.mass
        if model.stiff:
            stiff = [-partial(model.stiff, q, k) for k in range(n)]
    array(name, "gamma", gamma)
    array(name, "mass", mass)
    array(name, "stiff", stiff)
    array(name, "energy", energy)
    w, a, at = path(model, q, v)
    array(name, "w", w)
    array(name, "a", a)
    jet_g = [x for k in range(JET_ORDER + 1) for x in (coefficient(lambda s: model.bonds(t + s, at(s)[0]), k) if g else [])]
    jet_f = []
    for k in range(JET_ORDER + 1):
        jet_f += coefficient(lambda s: model.force(t + s, *at(s)), k)
    array(name, "jet_g", jet_g)
    array(name, "jet_f", jet_f)
    print()
    return (name, model.settings, n, len(g), len(model.v0) if not mechanical else 0, 1 if mechanical else 0,
            1 if mechanical and model.T else 0, "%.17g" % float(t), "%.17g" % model.size)


def main():
    print("/* values.h - made by tests/oracle/values.py, which says how; do not edit. Points, forces, bonds, Jacobians (dense, by")
    print(" * rows), second derivatives along v, masses, energies and Taylor coefficients of every shipped model. */")
    print("#ifndef TAUT_TESTS_ORACLE_VALUES_H\n#define TAUT_TESTS_ORACLE_VALUES_H\n\n/* clang-format off */")
    print("enum { ORACLE_JET_ORDER = %d };\n" % JET_ORDER)
    rows = []
    for make in MODELS:
        print(make.__name__, file=sys.stderr)
        rows.append(emit(make()))
    fields = "start_q start_v q v f g G gt gamma mass stiff energy w a jet_f jet_g".split()
    print("typedef struct oracle_row {\n    const char *name, *set;\n    int n, m, algebraic, mechanical, full_mass;")
    print("    double t, size; /* size: of terms that cancel in f, 0 when it does not matter */\n    const double %s;\n} oracle_row;\n" % ", ".join("*" + x for x in fields))
    print("static const oracle_row oracle_rows[] = {")
    for row in rows:
        arrays = ", ".join("%s_%s" % (row[0], x) for x in fields)
        print('    {"%s", "%s", %d, %d, %d, %d, %d, %s, %s,\n     %s},' % (row + (arrays,)))
    print("};\n/* clang-format on */\n\n#endif")


if __name__ == "__main__":
    main()
