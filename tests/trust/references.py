#!/usr/bin/env python3
"""Reference values of shipped models in their full motion, springs as springs:

    python3 tests/trust/references.py > tests/trust/references.csv        (all, about ten minutes)
    python3 tests/trust/references.py crane top                           (some, to look at)

Columns: model, settings (parameters that differ from the file's, with `;` between them), t,
variable (as in the rows of a run), value, uncertainty (absolute). Multipliers have the sign of
M v' = f - G^T lambda, C lambda = g + T gdot.

The equations are written here by hand and share nothing with the library. Every reference is
computed twice; the value is that of the second computation, the uncertainty twice the difference,
and at least that of rounding, 1e-13 of the largest value of its kind. Plain Python in double
precision, no packages; the integrators are in integrators.py.

    bouncing_ball    closed form from bounce to bounce; and in 50-digit decimal numbers, with the
                     whole history as geometric sums
    robertson        linearly implicit Euler method, extrapolated (order 9); and Radau IIA
    robertson_dae    the same, all three variables by their rates
    van_der_pol      collocation of 7 stages (order 13)
    spring_pendulum  extrapolated midpoint rule (Gragg, Bulirsch, Stoer; order 16), in the
    crane            coordinates of the model; and Gauss collocation of 8 stages (order 16) with
    crane_cable      (as above)
                     fixed step size, in polar coordinates (r, phi)
    robot_arm        the same two methods; joint angles, and absolute angles with the mass matrix
                     written out
    top              extrapolated midpoint rule for Euler's equations and the quaternion; and Gauss
                     collocation for Euler's angles, from which the quaternion is made. The
                     multiplier is 2 T - V: q times the equations of motion, T and V being
                     homogeneous of degree 2 in q
    polymer          extrapolated midpoint rule; Gauss collocation. lambda = k g
    squeezer         extrapolated midpoint rule on the index-1 equations in the seven angles; and
                     Gauss collocation for one degree of freedom, beta, the six other angles by
                     Newton's iteration on the loops. Mass matrix and forces are those of Hairer,
                     Wanner II, section VII.7, for both. The angles at the end are within 2e-9 of
                     the published ones
    cloth            extrapolated midpoint rule of orders 14 and 16 with tolerances 1e-10, 1e-11
                     (buckling makes errors grow by 1000 between the two times)
    half_car         piecewise between the times at which axles enter and leave the bump:
                     extrapolated midpoint rule; and Gauss collocation
    foot_excitation  Gauss collocation from jump to jump; and the closed form of each piece
    penalty_contact  extrapolated midpoint rule, contacts located by bisection; and closed forms
    stick_slip       each block sticks or slips in a direction, ends of these located by bisection:
                     extrapolated midpoint rule of orders 14 and 16
"""
import math
import sys
from decimal import Decimal, getcontext
from math import cos, sin, sqrt

sys.dont_write_bytecode = True
from integrators import gauss, gbs, radau, seulex, solve

# ------------------------------------------------------------------------------------------ models
# Each gives (times, names, first, second): two lists of values at each time.

def along(times, march, y):
    """States at the times, each from the one before."""
    result, t = [], 0.0
    for end in times:
        y = march(t, y, end)
        result.append(y)
        t = end
    return result


def robertson(settings):
    k1, k2, k3 = 0.04, 1e4, 3e7

    def f(t, y):
        a, b, c = k1 * y[0], k2 * y[1] * y[2], k3 * y[1]**2
        return [b - a, a - b - c, c]

    def jacobian(t, y):
        return [[-k1, k2 * y[2], k2 * y[1]], [k1, -k2 * y[2] - 2 * k3 * y[1], -k2 * y[1]],
                [0.0, 2 * k3 * y[1], 0.0]]
    floor, start = [1e-6, 1e-11, 1e-6], [1.0, 0.0, 0.0]
    times = [40.0, 1e4]
    return times, ["y1", "y2", "y3"], \
        along(times, lambda t, y, e: seulex(f, jacobian, t, y, e, 1e-10, floor), start), \
        along(times, lambda t, y, e: radau(f, jacobian, t, y, e, 1e-12, floor), start)


def robertson_dae(settings):
    """The same reactions, without the conservation of mass: y3 has its own rate."""
    k1, k2, k3 = 0.04, 1e4, 3e7

    def f(t, y):
        a, b, c = k1 * y[0], k2 * y[1] * y[2], k3 * y[1]**2
        return [b - a, a - b - c, c]

    def jacobian(t, y):
        return [[-k1, k2 * y[2], k2 * y[1]], [k1, -k2 * y[2] - 2 * k3 * y[1], -k2 * y[1]],
                [0.0, 2 * k3 * y[1], 0.0]]
    floor, start = [1e-14, 1e-19, 1e-6], [1.0, 0.0, 0.0]
    times = [40.0, 4e10]
    return times, ["y1", "y2", "y3"], \
        along(times, lambda t, y, e: seulex(f, jacobian, t, y, e, 1e-9, floor), start), \
        along(times, lambda t, y, e: radau(f, jacobian, t, y, e, 1e-11, floor), start)


def van_der_pol(settings):
    mu = 1e3

    def f(t, y):
        return [y[1], mu * (1 - y[0]**2) * y[1] - y[0]]

    def jacobian(t, y):
        return [[0.0, 1.0], [-2 * mu * y[0] * y[1] - 1, mu * (1 - y[0]**2)]]
    floor, times = [1e-6, 1e-8], [500.0, 2000.0]
    return times, ["x", "v"], \
        along(times, lambda t, y, e: seulex(f, jacobian, t, y, e, 1e-10, floor), [2.0, 0.0]), \
        along(times, lambda t, y, e: radau(f, jacobian, t, y, e, 1e-12, floor), [2.0, 0.0])


def bouncing_ball(settings):
    g, height, speed, r, grip = 9.81, 10.0, 1.0, 0.8, 0.9
    times = [4.0, 8.0]

    def flight(t):
        x, y, vx, vy, s = 0.0, height, speed, 0.0, 0.0
        while True:
            rest = (vy + sqrt(vy**2 + 2 * g * y)) / g
            if s + rest >= t:
                d = t - s
                return [x + vx * d, y + vy * d - g * d * d / 2, vx, vy - g * d]
            x, y, vx, vy, s = x + vx * rest, 0.0, grip * vx, -r * (vy - g * rest), s + rest

    def sums(t):  # bounce k is at t0 (1 + 2 r (1 - r^k)/(1 - r)), k = 0, 1, ...
        getcontext().prec = 50
        G, H, V, R, P, T = (Decimal(z) for z in (g, height, speed, r, grip, t))
        fall = (2 * H / G).sqrt()
        at = [fall * (1 + 2 * R * (1 - R**k) / (1 - R)) for k in range(100)]
        k = max(j for j in range(100) if at[j] < T)
        x = V * fall + sum((V * P**(j + 1) * 2 * R**(j + 1) * fall for j in range(k)), Decimal(0))
        d, up, vx = T - at[k], G * fall * R**(k + 1), V * P**(k + 1)
        return [float(z) for z in (x + vx * d, up * d - G * d * d / 2, vx, up - G * d)]
    return times, ["x", "y", "x'", "y'"], [flight(t) for t in times], [sums(t) for t in times]


def polar(r, phi, dr, dphi):
    """(x, y, x', y') of a point at distance r, angle phi from the downward vertical."""
    s, c = sin(phi), cos(phi)
    return [r * s, -r * c, dr * s + r * c * dphi, -dr * c + r * s * dphi]


def spring_pendulum(settings):
    ratio = settings.get("ratio", 2.0)
    lift, swing, k, rest = 0.2 / ratio, 0.3, ratio**2, 1 - 1 / ratio**2
    times = [20.0, 50.0]

    def plane(t, y):
        r = math.hypot(y[0], y[1])
        w = k * (1 - rest / r)
        return [y[2], y[3], -w * y[0], -w * y[1] - 1]

    def radial(t, y):
        r, phi, dr, dphi = y
        return [dr, dphi, r * dphi**2 + cos(phi) - k * (r - rest), -(2 * dr * dphi + sin(phi)) / r]
    start = [1 + lift, swing, 0.0, 0.0]
    first = along(times, lambda t, y, e: gbs(plane, t, y, e, 1e-14, [1, 1, 1, 1]), polar(*start))
    steps = lambda t, e: int((e - t) * (2 + ratio)) + 1
    second = along(times, lambda t, y, e: gauss(radial, t, y, e, steps(t, e)), start)
    return times, ["x", "y", "x'", "y'", "lambda(spring)"], \
        [y + [k * (math.hypot(y[0], y[1]) - rest)] for y in first], \
        [polar(*y) + [k * (y[0] - rest)] for y in second]


def crane(settings):
    m, g, k, d = 1000.0, 9.81, settings.get("stiffness", 5e6), 2000.0
    length, hoist, travel, T = 20.0, 12.0, 15.0, 20.0
    w = 2 * math.pi / T
    times = [7.0, 20.0]

    def trolley(t):
        return (travel * (t / T - sin(w * t) / (2 * math.pi)), travel / T * (1 - cos(w * t)),
                travel / T * w * sin(w * t))

    def tension(t, r, dr):
        return k * (r - (length - hoist * t / T)) + d * (dr + hoist / T)

    def plane(t, y):
        X, V, _ = trolley(t)
        x, z, u = y[0] - X, y[1], y[2] - V
        r = math.hypot(x, z)
        f = tension(t, r, (x * u + z * y[3]) / r) / (m * r)
        return [y[2], y[3], -f * x, -f * z - g]

    def radial(t, y):  # in the frame of the trolley
        r, phi, dr, dphi = y
        a = trolley(t)[2]
        return [dr, dphi, r * dphi**2 + g * cos(phi) - a * sin(phi) - tension(t, r, dr) / m,
                -(2 * dr * dphi + g * sin(phi) + a * cos(phi)) / r]
    start = [length + m * g / k, 0.0, -hoist / T, 0.0]

    def show_plane(t, y):
        X, V, _ = trolley(t)
        x, z, u = y[0] - X, y[1], y[2] - V
        r = math.hypot(x, z)
        return y + [tension(t, r, (x * u + z * y[3]) / r)]

    def show_radial(t, y):
        X, V, _ = trolley(t)
        x, z, u, s = polar(*y)
        return [x + X, z, u + V, s, tension(t, y[0], y[2])]
    first = along(times, lambda t, y, e: gbs(plane, t, y, e, 1e-11, [20, 20, 1, 1]), polar(*start))
    steps = lambda t, e: int((e - t) * (2 + sqrt(k / m))) + 1
    second = along(times, lambda t, y, e: gauss(radial, t, y, e, steps(t, e)), start)
    return times, ["hook.x", "hook.y", "hook.x'", "hook.y'", "lambda(cable)"], \
        [show_plane(t, y) for t, y in zip(times, first)], \
        [show_radial(t, y) for t, y in zip(times, second)]


def crane_cable(settings):
    m, g, EA, d = 1000.0, 9.81, 1e8, 2000.0
    length, hoist, travel, T = 20.0, 12.0, 15.0, 20.0
    w = 2 * math.pi / T
    times = [7.0, 20.0]

    def trolley(t):
        return (travel * (t / T - sin(w * t) / (2 * math.pi)), travel / T * (1 - cos(w * t)),
                travel / T * w * sin(w * t))

    def tension(t, r, dr):
        rest = length - hoist * t / T
        return EA * (r / rest - 1)

    def pull(t, r, dr):
        return tension(t, r, dr) + d * (dr + hoist / T)

    def plane(t, y):
        X, V, _ = trolley(t)
        x, z, u = y[0] - X, y[1], y[2] - V
        r = math.hypot(x, z)
        f = pull(t, r, (x * u + z * y[3]) / r) / (m * r)
        return [y[2], y[3], -f * x, -f * z - g]

    def radial(t, y):  # in the frame of the trolley
        r, phi, dr, dphi = y
        a = trolley(t)[2]
        return [dr, dphi, r * dphi**2 + g * cos(phi) - a * sin(phi) - pull(t, r, dr) / m,
                -(2 * dr * dphi + g * sin(phi) + a * cos(phi)) / r]
    stretched = 1 + m * g / EA
    start = [length * stretched, 0.0, -hoist / T * stretched, 0.0]

    def show_plane(t, y):
        X, V, _ = trolley(t)
        x, z, u = y[0] - X, y[1], y[2] - V
        r = math.hypot(x, z)
        return y + [tension(t, r, (x * u + z * y[3]) / r)]

    def show_radial(t, y):
        X, V, _ = trolley(t)
        x, z, u, s = polar(*y)
        return [x + X, z, u + V, s, tension(t, y[0], y[2])]
    first = along(times, lambda t, y, e: gbs(plane, t, y, e, 1e-11, [20, 20, 1, 1]), polar(*start))
    steps = lambda t, e: int((e - t) * (2 + sqrt(EA / (length - hoist) / m))) + 1
    second = along(times, lambda t, y, e: gauss(radial, t, y, e, steps(t, e)), start)
    return times, ["hook.x", "hook.y", "hook.x'", "hook.y'", "lambda(cable)"], \
        [show_plane(t, y) for t, y in zip(times, first)], \
        [show_radial(t, y) for t, y in zip(times, second)]


def robot_arm(settings):
    k = settings.get("stiffness", 1e5)
    g, l1, l2, m1, m2, m3 = 9.81, 0.5, 0.4, 8.0, 5.0, 2.0
    J1, J2, gain, loss = 1.5, 0.8, 2000.0, 100.0
    times = [1.3, 3.0]
    # T = (A a'^2 + B b'^2)/2 + C cos(b - a) a' b', V = g (D sin a + E sin b), a, b: absolute angles
    A = m1 * l1**2 / 3 + (m2 + m3) * l1**2
    B = m2 * l2**2 / 3 + m3 * l2**2
    C = (m2 / 2 + m3) * l1 * l2
    D, E = (m1 / 2 + m2 + m3) * l1, (m2 / 2 + m3) * l2

    def motors(t, th, dth):
        path = (0.3 + 0.5 * (1 - cos(2 * t)), 0.5 - 0.7 * (1 - cos(3 * t)))
        return [gain * (path[i] - th[i]) - loss * dth[i] for i in (0, 1)]

    def absolute(t, y):
        a, b, th1, th2, da, db, dth1, dth2 = y
        s1, s2 = k * (th1 - a), k * (th2 - (b - a))  # torques of the springs on the links
        c, s = C * cos(b - a), C * sin(b - a)
        f1 = s * db**2 - g * D * cos(a) + s1 - s2  # spring 2 acts between the links
        f2 = -s * da**2 - g * E * cos(b) + s2
        det = A * B - c * c
        n1, n2 = motors(t, (th1, th2), (dth1, dth2))
        return [da, db, dth1, dth2, (B * f1 - c * f2) / det, (A * f2 - c * f1) / det,
                (n1 - s1) / J1, (n2 - s2) / J2]

    def relative(t, y):  # the textbook form with M(q2), Coriolis matrix, gravity
        q1, q2, th1, th2, d1, d2, dth1, dth2 = y
        c, s = C * cos(q2), C * sin(q2)
        M11, M12, M22 = A + B + 2 * c, B + c, B
        s1, s2 = k * (th1 - q1), k * (th2 - q2)
        f1 = s * (2 * d1 * d2 + d2**2) - g * (D * cos(q1) + E * cos(q1 + q2)) + s1
        f2 = -s * d1**2 - g * E * cos(q1 + q2) + s2
        det = M11 * M22 - M12**2
        n1, n2 = motors(t, (th1, th2), (dth1, dth2))
        return [d1, d2, dth1, dth2, (M22 * f1 - M12 * f2) / det, (M11 * f2 - M12 * f1) / det,
                (n1 - s1) / J1, (n2 - s2) / J2]
    zero = [0.0] * 4
    first = along(times, lambda t, y, e: gbs(relative, t, y, e, 1e-11, [1] * 4 + [10] * 4),
                  [0.3, 0.5, 0.3, 0.5] + zero)
    steps = lambda t, e: int((e - t) * sqrt(k) * 2.5) + 1
    second = along(times, lambda t, y, e: gauss(absolute, t, y, e, steps(t, e)),
                   [0.3, 0.8, 0.3, 0.5] + zero)
    second = [[y[0], y[1] - y[0], y[2], y[3], y[4], y[5] - y[4], y[6], y[7]] for y in second]
    names = ["q1", "q2", "th1", "th2", "q1'", "q2'", "th1'", "th2'",
             "lambda(joint1)", "lambda(joint2)"]
    show = lambda y: y + [k * (y[2] - y[0]), k * (y[3] - y[1])]
    return times, names, [show(y) for y in first], [show(y) for y in second]


def top(settings):
    I1, I3, mgl, spin, tilt = 0.02, 0.005, 1.0 * 9.81 * 0.1, 100.0, 0.5
    times = [1.0, 3.0]

    def rates(q, w):  # q' = q (0, w)/2
        return [(-q[1] * w[0] - q[2] * w[1] - q[3] * w[2]) / 2,
                (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]) / 2,
                (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]) / 2,
                (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]) / 2]

    def height(q):
        return q[0]**2 - q[1]**2 - q[2]**2 + q[3]**2

    def euler(t, y):
        q, w = y[:4], y[4:]
        # the vertical in the frame of the body, and the torque e3 x (-mgl vertical)
        x, z = 2 * (q[1] * q[3] - q[0] * q[2]), 2 * (q[2] * q[3] + q[0] * q[1])
        return rates(q, w) + [((I1 - I3) * w[1] * w[2] + mgl * z) / I1,
                              ((I3 - I1) * w[2] * w[0] - mgl * x) / I1, 0.0]

    def show(q, w):
        T = I1 / 2 * (w[0]**2 + w[1]**2) + I3 / 2 * w[2]**2
        return q + rates(q, w) + [2 * T - mgl * height(q)]
    start = [cos(tilt / 2), sin(tilt / 2), 0.0, 0.0, 0.0, 0.0, spin]
    first = along(times, lambda t, y, e: gbs(euler, t, y, e, 1e-14, [1] * 4 + [spin] * 3), start)
    # Euler's angles z (phi), x (theta), z (psi): phi' and psi' from the two conserved momenta
    along_z, axial = I3 * spin * cos(tilt), I3 * spin

    def angles(t, y):
        phi, theta, psi, dtheta = y
        c, s = cos(theta), sin(theta)
        dphi = (along_z - axial * c) / (I1 * s * s)
        return [dphi, dtheta, axial / I3 - c * dphi,
                (I1 * dphi**2 * s * c - axial * dphi * s + mgl * s) / I1]

    def turn(t, y):
        phi, theta, psi, dtheta = y
        dphi, _, dpsi, _ = angles(t, y)
        c, s = cos(theta / 2), sin(theta / 2)
        q = [c * cos((phi + psi) / 2), s * cos((phi - psi) / 2),
             s * sin((phi - psi) / 2), c * sin((phi + psi) / 2)]
        w = [dphi * sin(theta) * sin(psi) + dtheta * cos(psi),
             dphi * sin(theta) * cos(psi) - dtheta * sin(psi), dpsi + dphi * cos(theta)]
        return show(q, w)
    second = along(times, lambda t, y, e: gauss(angles, t, y, e, int((e - t) * 40)),
                   [0.0, tilt, 0.0, 0.0])
    names = ["q0", "q1", "q2", "q3", "q0'", "q1'", "q2'", "q3'", "lambda(unit)"]
    return times, names, [show(y[:4], y[4:]) for y in first], \
        [turn(t, y) for t, y in zip(times, second)]


def polymer(settings):
    N, omega, rise, angle = 10, settings.get("omega", 300.0), 0.5, 0.9
    times, k, n = [1.5, 3.0], omega**2, 3 * N
    pairs = [(i, j) for i in range(0, n, 3) for j in range(i + 6, n, 3)]

    def f(t, y):
        a = [0.0] * n
        for i in range(0, n - 3, 3):
            x, u, z = y[i + 3] - y[i], y[i + 4] - y[i + 1], y[i + 5] - y[i + 2]
            w = k * (1 - 1 / sqrt(x * x + u * u + z * z))
            a[i] += w * x
            a[i + 1] += w * u
            a[i + 2] += w * z
            a[i + 3] -= w * x
            a[i + 4] -= w * u
            a[i + 5] -= w * z
        for i, j in pairs:
            x, u, z = y[j] - y[i], y[j + 1] - y[i + 1], y[j + 2] - y[i + 2]
            s = 1 / (x * x + u * u + z * z)
            s3 = s * s * s
            w = 24 * s * s3 * (2 * s3 - 1)  # -V'(r)/r
            a[i] -= w * x
            a[i + 1] -= w * u
            a[i + 2] -= w * z
            a[j] += w * x
            a[j + 1] += w * u
            a[j + 2] += w * z
        return y[n:] + a
    radius = sqrt(1 - rise**2) / (2 * sin(angle / 2))
    q = [x for i in range(1, N + 1)
         for x in (radius * cos(angle * i), radius * sin(angle * i), rise * i)]
    start = q + [0.0] * (n - 3) + [0.3, -0.2, 0.1]
    first = along(times, lambda t, y, e: gbs(f, t, y, e, 3e-12, [1] * n + [5] * n), start)
    steps = lambda t, e: int((e - t) * omega * 2) + 1
    second = along(times, lambda t, y, e: gauss(f, t, y, e, steps(t, e)), start)
    names = ["bead[%d].%s%s" % (i, c, p) for p in ("", "'") for i in range(1, N + 1) for c in "xyz"]
    names += ["lambda(link[%d])" % i for i in range(1, N)]

    def show(y):
        return y + [k * (math.dist(y[i:i + 3], y[i + 3:i + 6]) - 1) for i in range(0, n - 3, 3)]
    return times, names, [show(y) for y in first], [show(y) for y in second]


# data of Hairer, Wanner II, section VII.7
M = [0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498]
I = [2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5]
XA, YA, XB, YB, XC, YC = -0.06934, -0.00227, -0.03635, 0.03273, 0.014, 0.072
d, da, e, ea, rr, ra, zf, zt, fa = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092, 0.02, 0.04, 0.01421
ss, sa, sb, sc, sd, ta, tb = 0.035, 0.01874, 0.01043, 0.018, 0.02, 0.02308, 0.00916
u, ua, ub, c0, l0, mom = 0.04, 0.01228, 0.00449, 4530.0, 0.07785, 0.033
PUBLISHED = [15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948,
             0.5244099658805304, 0.5347301163226948, 1.048080741042263]  # angles at t = 0.03


def squeezer_masses(q):
    """Only angles of the same body, or of two that are joined, have a common entry."""
    m = [[0.0] * 7 for _ in range(7)]
    c, p, o = cos(q[1]), sin(q[3]), sin(q[5])
    m[0][0] = M[0] * ra**2 + M[1] * (rr**2 - 2 * da * rr * c + da**2) + I[0] + I[1]
    m[1][0] = m[0][1] = M[1] * (da**2 - da * rr * c) + I[1]
    m[1][1] = M[1] * da**2 + I[1]
    m[2][2] = M[2] * (sa**2 + sb**2) + I[2]
    m[3][3] = M[3] * (e - ea)**2 + I[3]
    m[4][3] = m[3][4] = M[3] * ((e - ea)**2 + zt * (e - ea) * p) + I[3]
    m[4][4] = M[3] * (zt**2 + 2 * zt * (e - ea) * p + (e - ea)**2) + M[4] * (ta**2 + tb**2) \
        + I[3] + I[4]
    m[5][5] = M[5] * (zf - fa)**2 + I[5]
    m[6][5] = m[5][6] = M[5] * ((zf - fa)**2 - u * (zf - fa) * o) + I[5]
    m[6][6] = M[5] * ((zf - fa)**2 - 2 * u * (zf - fa) * o + u**2) + M[6] * (ua**2 + ub**2) \
        + I[5] + I[6]
    return m


def squeezer_forces(q, v):
    th, ph, om = q[1], q[3], q[5]
    x, y = XB + sc * sin(q[2]) + sd * cos(q[2]) - XC, YB - sc * cos(q[2]) + sd * sin(q[2]) - YC
    pull = -c0 * (1 - l0 / math.hypot(x, y))
    return [mom - M[1] * da * rr * v[1] * (v[1] + 2 * v[0]) * sin(th),
            M[1] * da * rr * v[0]**2 * sin(th),
            pull * (x * (sc * cos(q[2]) - sd * sin(q[2])) + y * (sc * sin(q[2]) + sd * cos(q[2]))),
            M[3] * zt * (e - ea) * v[4]**2 * cos(ph),
            -M[3] * zt * (e - ea) * v[3] * (v[3] + 2 * v[4]) * cos(ph),
            -M[5] * u * (zf - fa) * v[6]**2 * cos(om),
            M[5] * u * (zf - fa) * v[5] * (v[5] + 2 * v[6]) * cos(om)]


# the bonds as sums of r*(cos, sin)(angle): sign and radius, angles that add up, turn of the sine
LOOPS = [[(-ss, [2], 1)], [(-e, [3, 4], 1), (-zt, [4], 0)], [(-zf, [5, 6], 0), (-u, [6], 1)]]
PIN = [(rr, [0], 0), (-d, [0, 1], 0)]


def squeezer_bonds(q, v):
    """(g, G, second derivative of g along v). An arm that is turned by -90 degrees points to
    (sin, -cos)."""
    g, G, gamma = [], [], []
    ends = [(XB, YB), (XA, YA), (XA, YA)]
    for loop, (x, y) in zip(LOOPS, ends):
        gx, gy, rx, ry, ax, ay = -x, -y, [0.0] * 7, [0.0] * 7, 0.0, 0.0
        for r, which, turned in PIN + loop:
            a = sum(q[i] for i in which) - turned * math.pi / 2
            w = sum(v[i] for i in which)
            c, s = r * cos(a), r * sin(a)
            gx, gy, ax, ay = gx + c, gy + s, ax - c * w * w, ay - s * w * w
            for i in which:
                rx[i] -= s
                ry[i] += c
        g, G, gamma = g + [gx, gy], G + [rx, ry], gamma + [ax, ay]
    return g, G, gamma


def squeezer_acceleration(q, v):
    m, f = squeezer_masses(q), squeezer_forces(q, v)
    _, G, gamma = squeezer_bonds(q, v)
    rows = [m[i] + [G[k][i] for k in range(6)] for i in range(7)]
    rows += [G[k] + [0.0] * 6 for k in range(6)]
    x = solve(rows, f + [-z for z in gamma])
    return x[:7], x[7:]


def squeezer_closed(q):
    """Newton's iteration for the six other angles at this beta."""
    q = list(q)
    for _ in range(20):
        g, G, _ = squeezer_bonds(q, [0.0] * 7)
        step = solve([row[1:] for row in G], [-x for x in g])
        q = [q[0]] + [a + b for a, b in zip(q[1:], step)]
        if max(map(abs, step)) < 1e-10:  # convergence is quadratic
            break
    return q


def squeezer(settings):
    times = [0.015, 0.03]
    start = [-0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885,
             0.487364979543842550, -0.222668390165885885, 1.23054744454982119]
    scale = [1.0] * 7 + [1000.0] * 7

    def angles(t, y):
        return y[7:] + squeezer_acceleration(y[:7], y[7:])[0]

    # one degree of freedom: q(beta), q' = k(beta) beta', k^T (M q'' - f) = 0
    guess = [start]

    def state(y):
        q = squeezer_closed([y[0]] + guess[0][1:])
        guess[0] = q
        _, G, _ = squeezer_bonds(q, [0.0] * 7)
        k = [1.0] + solve([row[1:] for row in G], [-row[0] for row in G])
        return q, k, G

    def single(t, y):
        q, k, G = state(y)
        v = [x * y[1] for x in k]
        gamma = squeezer_bonds(q, v)[2]
        a = [0.0] + solve([row[1:] for row in G], [-x for x in gamma])
        m, f = squeezer_masses(q), squeezer_forces(q, v)
        ma, mk = ([sum(m[i][j] * x[j] for j in range(7)) for i in range(7)] for x in (a, k))
        return [y[1], sum(k[i] * (f[i] - ma[i]) for i in range(7)) /
                sum(k[i] * mk[i] for i in range(7))]

    def show_angles(y):
        return y + squeezer_acceleration(y[:7], y[7:])[1]

    def show_single(y):
        q, k, _ = state(y)
        v = [x * y[1] for x in k]
        return q + v + squeezer_acceleration(q, v)[1]
    first = along(times, lambda t, y, z: gbs(angles, t, y, z, 1e-12, scale, first=1e-4),
                  start + [0.0] * 7)
    second, t, y = [], 0.0, [start[0], 0.0]
    for end in times:  # shown at once: the loops are closed near the last guess
        y = gauss(single, t, y, end, 120)
        second.append(show_single(y))
        t = end
    q = ["beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon"]
    bonds = ["pin_x", "pin_y", "upper_x", "upper_y", "lower_x", "lower_y"]
    first = [show_angles(y) for y in first]
    off = max(abs(a - b) for a, b in zip(first[-1], PUBLISHED))
    print("squeezer: angles at most %.2g from the published values" % off, file=sys.stderr)
    assert off < 1e-8
    return times, q + [x + "'" for x in q] + ["lambda(%s)" % x for x in bonds], first, second


def cloth(settings):
    N = 30
    gravity, mass, k, shear, damping, wave = 1.0, 1.0 / N**2, 150.0, 30.0, 0.02, 0.02
    mesh, times, n = 1.0 / (N - 1), [0.6, 1.2], 3 * N * N
    at = lambda i, j: 3 * (N * (i - 1) + j - 1)
    springs, steps = [], range(1, N)
    for i in range(1, N + 1):
        springs += [(at(i, j), at(i, j + 1), mesh, k, damping) for j in steps]
        springs += [(at(j, i), at(j + 1, i), mesh, k, damping) for j in steps]
    for i in steps:
        for j in steps:
            springs.append((at(i, j), at(i + 1, j + 1), sqrt(2) * mesh, shear, damping / 5))
            springs.append((at(i + 1, j), at(i, j + 1), sqrt(2) * mesh, shear, damping / 5))
    hooks = [(at(1, N), 0.0), (at(N, N), 1.0)]

    def f(t, y):
        acc = [0.0, 0.0, -mass * gravity] * (N * N)
        for a, b, rest, c, loss in springs:
            x, w, z = y[b] - y[a], y[b + 1] - y[a + 1], y[b + 2] - y[a + 2]
            r = sqrt(x * x + w * w + z * z)
            i, j = a + n, b + n
            s = (c * (r - rest) + loss / r * (x * (y[j] - y[i]) + w * (y[j + 1] - y[i + 1])
                                              + z * (y[j + 2] - y[i + 2]))) / r
            x, w, z = s * x, s * w, s * z
            acc[a] += x
            acc[a + 1] += w
            acc[a + 2] += z
            acc[b] -= x
            acc[b + 1] -= w
            acc[b + 2] -= z
        for a, hx in hooks:
            s = tie(y, a, hx)
            x, w, z = y[a] - hx, y[a + 1] - 1 - mesh, y[a + 2]
            s /= sqrt(x * x + w * w + z * z)
            acc[a] -= s * x
            acc[a + 1] -= s * w
            acc[a + 2] -= s * z
        return y[n:] + [x / mass for x in acc]

    def tie(y, a, hx):
        x, w, z = y[a] - hx, y[a + 1] - 1 - mesh, y[a + 2]
        r = sqrt(x * x + w * w + z * z)
        return k * (r - mesh) + damping * (x * y[n + a] + w * y[n + a + 1] + z * y[n + a + 2]) / r
    q = []
    for i in range(N):
        for j in range(N):
            x, w = i * mesh, j * mesh
            q += [x, w, wave * sin(5 * x + 0.3) * cos(4 * w + 0.2 * x)]
    start, scale = q + [0.0] * n, [1.0] * (2 * n)
    first = along(times, lambda t, y, z: gbs(f, t, y, z, 1e-10, scale, 7, 2e-3), start)
    second = along(times, lambda t, y, z: gbs(f, t, y, z, 1e-11, scale, 8, 2.5e-3), start)
    chosen = [(1, 1), (30, 1), (15, 1), (15, 15), (8, 22), (23, 10), (1, 30), (30, 30)]
    names = ["node[%d,%d].%s%s" % (i, j, c, p) for i, j in chosen for p in ("", "'") for c in "xyz"]
    names += ["lambda(tie[1])", "lambda(tie[2])"]

    def show(y):
        values = [y[at(i, j) + p + c] for i, j in chosen for p in (0, n) for c in range(3)]
        return values + [tie(y, a, hx) for a, hx in hooks]
    return times, names, [show(y) for y in first], [show(y) for y in second]


# ------------------------------------------------------------------------------- discontinuities

def located(f, events, t, y, end, march, stride):
    """Until the first sign change of an event, found by bisection of real integrations, or the
    end: (t, y, number of the event or None)."""
    while t < end:
        z = min(t + stride, end)
        next = march(f, t, y, z)
        before = [e(t, y) for e in events]
        for k, e in enumerate(events):
            if before[k] > 0 >= e(z, next):
                low, high, at = t, z, next
                while high - low > 4e-16 * max(1.0, high):
                    middle = (low + high) / 2
                    state = march(f, t, y, middle)
                    if any(b > 0 >= other(middle, state) for b, other in zip(before, events)):
                        high, at = middle, state
                    else:
                        low = middle
                hit = [j for j, other in enumerate(events) if before[j] > 0 >= other(high, at)]
                return high, at, hit[0]
        t, y = z, next
    return t, y, None


def by_gbs(scale, columns=7):
    return lambda f, t, y, z: gbs(f, t, y, z, 1e-14, scale, columns, z - t) if z > t else y


def by_gauss(h):
    return lambda f, t, y, z: gauss(f, t, y, z, max(1, math.ceil((z - t) / h))) if z > t else y


def half_car(settings):
    m, J, k, c, a, b = 600.0, 900.0, 2e4, 1200.0, 1.2, 1.5
    speed, height, span, begin = 20.0, 0.05, 1.4, 1.0
    times = [1.1, 1.3, 3.0]

    def phase(front, rear):
        def road(s, on):
            w = 2 * math.pi / span
            return (height * (1 - cos(w * s)) / 2, height * w * speed * sin(w * s) / 2) if on else (0, 0)

        def f(t, y):
            s = speed * (t - begin)
            z1, d1 = road(s, front)
            z2, d2 = road(s - a - b, rear)
            one = k * (y[0] + a * y[1] - z1) + c * (y[2] + a * y[3] - d1)
            two = k * (y[0] - b * y[1] - z2) + c * (y[2] - b * y[3] - d2)
            return [y[2], y[3], -(one + two) / m, (b * two - a * one) / J]
        return f
    edges = [(begin, (1, 0)), (begin + span / speed, (0, 0)), (begin + (a + b) / speed, (0, 1)),
             (begin + (a + b + span) / speed, (0, 0)), (9.0, None)]

    def run(march):
        result, t, y = [], begin, [0.0] * 4
        for (start, on), (stop, _) in zip(edges, edges[1:]):
            for z in [x for x in times if start < x < stop] + [stop]:
                y = march(phase(*on), t, y, min(z, times[-1]))
                t = min(z, times[-1])
                if z in times and len(result) < len(times):
                    result.append(y)
        return result
    return (times, ["z", "theta", "z'", "theta'"], run(by_gbs([1e-2, 1e-2, 0.1, 0.1])),
            run(by_gauss(0.01)))


def foot_excitation(settings):
    k, c, period, pulse, lift = 100.0, 1.0, 0.8, 0.1, 0.1
    times = [5.0, 10.0]

    def closed(t, y, foot, z):  # damped oscillation about the foot
        d, s = c / 2, z - t
        w = sqrt(k - d * d)
        x = y[0] - foot
        B = (y[1] + d * x) / w
        e, C, S = math.exp(-d * s), cos(w * s), sin(w * s)
        p = e * (x * C + B * S)
        return [p + foot, -d * p + e * w * (B * C - x * S)]

    def numeric(t, y, foot, z):
        return by_gauss(0.02)(lambda t, y: [y[1], -k * (y[0] - foot) - c * y[1]], t, y, z)

    def run(march):
        result, t, y, n = [], 0.0, [0.0, 0.0], 0
        while len(result) < len(times):
            for foot, stop in ((lift, n * period + pulse), (0.0, (n + 1) * period)):
                for z in [x for x in times if t < x <= stop]:
                    y, t = march(t, y, foot, z), z
                    result.append(y)
                y, t = march(t, y, foot, stop), stop
            n += 1
        return result
    return times, ["x", "x'"], run(numeric), run(closed)


def penalty_contact(settings):
    m, g, k, c = 1.0, 9.81, 1e5, 20.0
    times = [1.0, 3.0]

    def closed(end):  # parabolas and damped oscillations in turn
        t, y, v = 0.0, 1.0, 0.0
        d, w = c / 2 / m, sqrt(k / m - (c / 2 / m)**2)
        rest = -m * g / k

        def touch(s, v):
            x, e = -rest, math.exp(-d * s)
            B = (v + d * x) / w
            p = e * (x * cos(w * s) + B * sin(w * s))
            return p + rest, -d * p + e * w * (B * cos(w * s) - x * sin(w * s))
        while True:
            s = (v + sqrt(v * v + 2 * g * y)) / g
            if t + s >= end:
                s = end - t
                return [y + v * s - g * s * s / 2, v - g * s]
            t, y, v = t + s, 0.0, v - g * s
            low, high = 0.5 * math.pi / w, 1.5 * math.pi / w
            while high - low > 4e-16 * high:
                s = (low + high) / 2
                low, high = (s, high) if touch(s, v)[0] < 0 else (low, s)
            if t + high >= end:
                return list(touch(end - t, v))
            t, v = t + high, touch(high, v)[1]

    def numeric(end):
        t, y, touches = 0.0, [1.0, 0.0], False
        while t < end:
            f = (lambda t, y: [y[1], -g - (k * y[0] + c * y[1]) / m]) if touches else \
                (lambda t, y: [y[1], -g])
            side = -1 if touches else 1
            y[0] = side * max(side * y[0], 1e-300)
            t, y, hit = located(f, [lambda t, y: side * y[0]], t, y, end, by_gbs([1.0, 10.0]), 2e-3)
            touches = touches != (hit is not None)
        return y
    return times, ["y", "y'"], [numeric(t) for t in times], [closed(t) for t in times]


def stick_slip(settings):
    m, k1, k2, F, speed = (1.0, 1.5), 10.0, 20.0, (2.0, 4.0), 0.3
    times = [10.0, 20.0]

    def pull(t, y, i):
        return k1 * (speed * t - y[0]) - k2 * (y[0] - y[1]) if i == 0 else k2 * (y[0] - y[1])

    def run(march, stride):
        result, t, y, way = [], 0.0, [0.0] * 4, [0, 0]  # way: of each block; 0: it sticks
        for end in times:
            while t < end:
                now = tuple(way)

                def f(t, y):
                    a = [(pull(t, y, i) - now[i] * F[i]) / m[i] if now[i] else 0.0 for i in (0, 1)]
                    return [y[2] if now[0] else 0.0, y[3] if now[1] else 0.0] + a

                def event(i):
                    if now[i]:
                        return lambda t, y: now[i] * y[2 + i]
                    return lambda t, y: F[i] - abs(pull(t, y, i))
                for i in (0, 1):
                    y[2 + i] = now[i] * max(now[i] * y[2 + i], 1e-300)
                t, y, hit = located(f, [event(0), event(1)], t, y, end, march, stride)
                if hit is not None:  # left, or came to rest
                    A = pull(t, y, hit)
                    way[hit] = 0 if way[hit] and abs(A) <= F[hit] else (1 if A > 0 else -1)
                    y[2 + hit] = 0.0
            result.append(list(y))
        return result
    return (times, ["x1", "x2", "x1'", "x2'"], run(by_gbs([1.0] * 4), 0.02),
            run(by_gbs([1.0] * 4, 8), 0.033))


CASES = [(bouncing_ball, {}), (robertson, {}), (van_der_pol, {})] + \
    [(spring_pendulum, {"ratio": x}) for x in (2.0, 3.0, 5.0, 50.0)] + \
    [(crane, {}), (crane_cable, {}), (robertson_dae, {})] + \
    [(robot_arm, {}), (robot_arm, {"stiffness": 1e4}), (robot_arm, {"stiffness": 1e6})] + \
    [(top, {}), (squeezer, {}), (polymer, {}), (cloth, {})] + \
    [(half_car, {}), (foot_excitation, {}), (penalty_contact, {}), (stick_slip, {})]


def kind(name):
    return "lambda" if name.startswith("lambda") else "v" if name.endswith("'") else "q"


def main():
    print("model,settings,t,variable,value,uncertainty")
    for model, settings in CASES:
        if sys.argv[1:] and model.__name__ not in sys.argv[1:]:
            continue
        text = ";".join("%s=%g" % x for x in settings.items())
        times, names, first, second = model(settings)
        worst = {}
        for t, a, b in zip(times, second, first):
            assert len(a) == len(b) == len(names)
            sizes = {}
            for name, x in zip(names, a):
                sizes[kind(name)] = max(sizes.get(kind(name), 0), abs(x))
            for name, x, y in zip(names, a, b):
                off, size = 2 * abs(x - y), sizes[kind(name)]
                if model not in (robertson, robertson_dae, van_der_pol):
                    worst[kind(name)] = max(worst.get(kind(name), 0), off / size)
                else:
                    worst[name] = max(worst.get(name, 0), off / abs(x))
                    size = abs(x)
                print('%s,%s,%.17g,"%s",%.17g,%.2g' %
                      (model.__name__, text, t, name, x, max(off, 1e-13 * size)))
        sys.stdout.flush()
        print("%s %s: the two computations differ, times two and relative: %s" % (
            model.__name__, text, ", ".join("%s %.1e" % x for x in worst.items())), file=sys.stderr)


if __name__ == "__main__":
    main()
