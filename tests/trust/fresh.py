#!/usr/bin/env python3
"""Reference values of the models of test_fresh.c, which are not shipped and were not looked at when
the constants of the error norm were chosen:

    python3 tests/trust/fresh.py > tests/trust/fresh.csv                  (about ten seconds)

Columns: model, variable (as in the rows of a run), value at the end, scale (largest value of its
kind over the run), uncertainty (absolute). The equations are written here by hand, in other
coordinates than those of the model where there are any, and integrated twice by the extrapolated
midpoint rule; or the solution is a formula. Multipliers have the sign of C lambda = g + T gdot."""
import math
from math import cos, exp, pi, sin, sqrt

from integrators import gbs

POINTS = 50  # for the scales


def along(f, y, end, tolerance, scale):
    """States at POINTS + 1 equal times."""
    rows, t = [y], 0.0
    for k in range(POINTS):
        y = gbs(f, t, y, end * (k + 1) / POINTS, tolerance, scale, first=end / POINTS / 20)
        t = end * (k + 1) / POINTS
        rows.append(y)
    return rows


def integrated(f, start, end, scale, show):
    """show(t, y): the variables by name. Two computations; the second is the better one."""
    coarse = along(f, start, end, 1e-11, scale)
    fine = along(f, start, end, 1e-13, scale)
    shown = [show(end * k / POINTS, y) for k, y in enumerate(fine)]
    other = show(end, coarse[-1])
    return shown, {name: 2 * abs(other[name] - shown[-1][name]) for name in other}


def formula(show, end):
    shown = [show(end * k / POINTS) for k in range(POINTS + 1)]
    return shown, {name: 0 for name in shown[0]}


def suspension():
    """A quarter car at rest before a bump of the road."""
    ms, mu, ks, cs, kt = 300, 40, 2e4, 1500, 2e5

    def road(t):
        return 0.08 * exp(-((15 * t - 60) / 0.6)**2)

    def f(t, y):
        strut = ks * (y[0] - y[1]) + cs * (y[2] - y[3])
        return [y[2], y[3], -strut / ms, (strut - kt * (y[1] - road(t))) / mu]

    return integrated(f, [0., 0., 0., 0.], 5, [0.1, 0.1, 1, 1], lambda t, y: {
        "body": y[0], "wheel": y[1], "body'": y[2], "wheel'": y[3],
        "lambda(tyre)": kt * (y[1] - road(t))})


def pulse():
    """An oscillator at rest, pushed at t = 61.7 for 1/5000 of the run: afterwards
    A sin(t - 61.7), A the Fourier coefficient of the push."""
    a = 40 * 0.02 * sqrt(pi) * exp(-0.02**2 / 4)
    return formula(lambda t: {"x": a * sin(t - 61.7) if t > 62 else 0,
                              "x'": a * cos(t - 61.7) if t > 62 else 0}, 100)


def gears():
    """Motor, elastic shaft, gear pair, elastic shaft, load; the motor starts smoothly."""
    m, k1, k2 = [0.01, 0.02 + 9 * 0.002, 0.5], 3e4, 8e4

    def forces(y):
        return k1 * (y[0] + 3 * y[1]), k2 * (y[1] - y[2]) + 2 * (y[4] - y[5])

    def f(t, y):
        a, b = forces(y)
        torque = 5 * (1 - exp(-t)) - 0.02 * y[3]
        return y[3:] + [(torque - a) / m[0], (-3 * a - b) / m[1], (b - 0.5 * y[5]) / m[2]]

    def show(t, y):
        a, b = forces(y)
        return {"motor": y[0], "wheel": y[1], "load": y[2], "motor'": y[3], "wheel'": y[4],
                "load'": y[5], "lambda(shaft1)": a, "lambda(shaft2)": b}

    return integrated(f, [0.] * 6, 0.1, [1e-2] * 3 + [1] * 3, show)


def squares():
    """A spring pendulum whose bond is (x^2 + y^2 - 1)/2, from the horizontal; polar."""
    def f(t, y):
        r, p, rd, pd = y
        return [rd, pd, r * pd * pd + 9.81 * cos(p) - 1e5 * (r * r - 1) / 2 * r,
                (-9.81 * sin(p) - 2 * rd * pd) / r]

    def show(t, y):
        r, p, rd, pd = y
        return {"x": r * sin(p), "y": -r * cos(p), "x'": rd * sin(p) + r * pd * cos(p),
                "y'": -rd * cos(p) + r * pd * sin(p), "lambda(rod)": 1e5 * (r * r - 1) / 2}

    return integrated(f, [1., pi / 2, 0., 0.], 1, [1, 1, 1, 1], show)


def separatrix():
    """A pendulum released almost upright, in the angle from the top."""
    return integrated(lambda t, y: [y[1], 9.81 * sin(y[0])], [pi - 3.14, 0.], 20, [1, 1],
                      lambda t, y: {"phi": pi - y[0], "phi'": -y[1]})


def electron():
    """A charge in crossed fields: drift and circle."""
    w, drift, turn = 1.602176634e-19 * 1e-3 / 9.1093837e-31, 1e5, 2e5
    return formula(lambda t: {
        "p.x": drift * t + turn * sin(w * t) / w, "p.y": turn * (1 - cos(w * t)) / w,
        "p.z": 2e4 * t, "p.x'": drift + turn * cos(w * t), "p.y'": turn * sin(w * t),
        "p.z'": 2e4}, 1e-6)


def wire():
    """A bead on a straight wire that turns with the rate 3: r = cosh(3 t)/10."""
    def show(t):
        r, rd, c, s = 0.1 * math.cosh(3 * t), 0.3 * math.sinh(3 * t), cos(3 * t), sin(3 * t)
        return {"x": r * c, "y": r * s, "x'": rd * c - 3 * r * s, "y'": rd * s + 3 * r * c,
                "lambda(wire)": -6 * rd}
    return formula(show, 3)


def plate():
    """A plate over an electrode, in units of the gap and of the free oscillation."""
    unit, gap, push = sqrt(1e-11 / 4), 2e-6, 5e-20 * 64 / 2 / 4e-12 / 8e-6
    shown, off = integrated(lambda t, y: [y[1], -y[0] + push / (1 - y[0])**2], [0., 0.],
                            2e-5 / unit, [0.1, 0.1],
                            lambda t, y: {"z": y[0] * gap, "z'": y[1] * gap / unit,
                                          "lambda(beam)": 4 * y[0] * gap})
    return shown, off


def kind(name):
    return "l" if name.startswith("lambda") else "v" if name.endswith("'") else "q"


def main():
    print("model,variable,value,scale,uncertainty")
    for subject in (suspension, pulse, gears, squares, separatrix, electron, wire, plate):
        shown, off = subject()
        for name in shown[-1]:
            scale = max(abs(row[other]) for row in shown for other in row
                        if kind(other) == kind(name))
            print(f"{subject.__name__},{name},{shown[-1][name]:.17g},{scale:.6g},"
                  f"{max(off[name], 1e-13 * scale):.2g}")


main()
