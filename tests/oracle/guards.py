"""Reference values of tests/test_guards.c that have no closed form.

    /usr/bin/python3 tests/oracle/guards.py

Pendulums of length 1 in the angle, x = sin phi, y = -cos phi: smooth pieces between the zeros of the switching function, each integrated
by scipy's DOP853 with rtol 1e-13, atol 1e-14, which locates them by its own root finder.
"""
from math import asin, cos, pi, sin

from scipy.integrate import quad, solve_ivp
from scipy.interpolate import CubicSpline


def pieces(rates, switching, start, until):
    """rates[k] between zeros of switching(t, z), in turn."""
    t, z, k = 0.0, start, 0
    while t < until:
        def crossing(t, z, k=k):
            return switching(t, z)
        crossing.terminal = True
        crossing.direction = -1 if k % 2 == 0 else 1
        out = solve_ivp(rates[k % 2], (t, until), z, method="DOP853", rtol=1e-13, atol=1e-14, events=crossing)
        t, z, k = out.t[-1], out.y[:, -1], k + 1
        yield t, z


def force():
    """x = 0.8 at rest; a horizontal force of 3 where x < 0.2; k = 0: x > 0.2."""
    rates = [lambda t, z, f=f: [z[1], -9.81 * sin(z[0]) + f * cos(z[0])] for f in (0, 3)]
    *_, (t, z) = pieces(rates, lambda t, z: sin(z[0]) - 0.2, [asin(0.8), 0.0], 3.0)
    print("force: x %.15g, x' %.15g" % (sin(z[0]), z[1] * cos(z[0])))


def friction():
    """phi = pi/2 at rest; friction 1 in the pivot, until it sticks: |9.81 sin phi| < 1 where phi' = 0."""
    rates = [lambda t, z, s=s: [z[1], -9.81 * sin(z[0]) - s] for s in (-1, 1)]
    for t, z in pieces(rates, lambda t, z: -z[1], [pi / 2, -1e-300], 100.0):
        if abs(9.81 * sin(z[0])) < 1:
            print("friction: sticks at t %.15g, x %.15g, y %.15g" % (t, sin(z[0]), -cos(z[0])))
            return


def cut_off():
    """x'' = 1, less (x - 1)^3 above 1, less 10 above 1.5; from 0 at rest."""
    borders, t, z, region = [1.0, 1.5], 0.0, [0.0, 0.0], 0

    def event(at, direction):
        def f(t, z):
            return z[0] - at
        f.terminal, f.direction = True, direction
        return f
    while t < 10:
        def rate(t, z, region=region):
            return [z[1], 1 - (region > 0) * (z[0] - 1) ** 3 - 10 * (region > 1)]
        up = [event(borders[region], 1)] if region < 2 else []
        down = [event(borders[region - 1], -1)] if region > 0 else []
        out = solve_ivp(rate, (t, 10), z, method="DOP853", rtol=1e-13, atol=1e-14, events=up + down)
        t, z = out.t[-1], list(out.y[:, -1])
        if t < 10:
            region += 1 if up and len(out.t_events[0]) else -1
    print("cut_off: x %.12g, x' %.12g" % tuple(z))


def bump():
    """Force of a table of 48 values at s = 1 + 100 (x - 5), with lines beyond its ends: velocity and place at time 20 of a unit mass at
    rest, where x = t."""
    values = [0.0] * 8 + [round(sin(pi * j / 33) ** 2, 6) for j in range(1, 33)] + [0.0] * 8
    spline = CubicSpline(range(1, 49), values, bc_type="natural")

    def f(s):
        if s < 1:
            return values[0] + spline(1, 1) * (s - 1)
        return spline(s) if s < 48 else values[-1] + spline(48, 1) * (s - 48)
    v = x = 0
    knots = [-499] + list(range(1, 49)) + [1501]
    for a, b in zip(knots, knots[1:]):
        v += quad(f, a, b, epsabs=1e-14)[0] / 100
        x += quad(lambda s: (1501 - s) * f(s), a, b, epsabs=1e-11)[0] / 1e4
    print("bump: velocity %.15g, place %.15g" % (v, x))


force()
friction()
cut_off()
bump()
