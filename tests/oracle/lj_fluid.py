"""Energy and force of models/lj_fluid.taut at scattered positions, for tests/test_pairs.c.

Independent of Taut: all pairs, nearest images, sums without rounding errors (math.fsum).
Run: python3 tests/oracle/lj_fluid.py"""
from math import floor, fsum, sin, sqrt

N, DENSITY, CUT = 125, 0.8442, 2.5
BOX = (N / DENSITY) ** (1 / 3)
ACROSS = 5


def positions():
    q = []
    for i in range(N):
        for c, k in enumerate((i % ACROSS, i // ACROSS % ACROSS, i // ACROSS**2)):
            q.append(k * BOX / ACROSS + 0.15 * sin(12.9898 * (3 * i + c + 1)))
    return q


def energy(r):
    return 4 * (r**-12 - r**-6) * (1 - (r / CUT) ** 2) ** 3


def slope(r):
    end = 1 - (r / CUT) ** 2
    return 4 * ((6 * r**-7 - 12 * r**-13) * end**3 - (r**-12 - r**-6) * 6 * r / CUT**2 * end**2)


def main():
    q = positions()
    energies, force = [], ([], [], [])
    for i in range(N):
        for j in range(i + 1, N):
            d = [q[3 * i + c] - q[3 * j + c] for c in range(3)]
            d = [x - BOX * floor(x / BOX + 0.5) for x in d]
            r = sqrt(fsum(x * x for x in d))
            if r >= CUT:
                continue
            energies.append(energy(r))
            if i == 0:
                for c in range(3):
                    force[c].append(-slope(r) * d[c] / r)
    print("energy %.17g" % fsum(energies))
    print("force %.17g, %.17g, %.17g" % tuple(fsum(f) for f in force))


main()
