#!/usr/bin/env python3
"""How an existing simulator in Python answers Taut: a line in, a line out (docs/black-boxes.md).

In a model file:   [stepper]
                   command = python3 legacy.py
"""
import sys

EPS = 0.1


def simulate(H, x, y):
    """The old code: Michaelis and Menten by forward Euler."""
    steps = max(1, round(H / (EPS / 10)))
    h = H / steps
    for _ in range(steps):
        x, y = x + h * (-x + (x + 0.5) * y), y + h * ((x - (x + 1) * y) / EPS)
    return x, y


for line in sys.stdin:  # the end of the input is the end of the program
    word = line.split()
    if word[0] == "taut":
        print("ready 1" if word[1:3] == ["1", "2"] else "error this program has the variables x and y")
    elif word[0] == "advance":
        t, H, n, *z = map(float, word[1:])
        print("cannot go backwards" if H < 0 else "ok %.17g %.17g" % simulate(H, *z))
    else:
        print("error unknown request")
    sys.stdout.flush()  # an answer that stays in a buffer is no answer
