# %% [markdown]
# # The slow manifold of a simulator written in Python
# Michaelis-Menten kinetics, as a function that advances a state: Taut cannot see its equations.
# Given the slow variable x, projection `difference` finds the y that belongs to it.

# %%
import matplotlib.pyplot as plt
import numpy as np

import taut

EPS, KAPPA, LAMBDA = 0.1, 1.0, 0.5
uses = 0


def simulator(t, horizon, z):
    """Classical Runge-Kutta in steps of at most EPS/20."""
    global uses
    uses += 1

    def rate(z):
        x, y = z
        return np.array([-x + (x + KAPPA - LAMBDA) * y, (x - (x + KAPPA) * y) / EPS])

    count = max(1, int(np.ceil(horizon * 20 / EPS)))
    h = horizon / count
    for _ in range(count):
        a = rate(z)
        b = rate(z + h / 2 * a)
        c = rate(z + h / 2 * b)
        z = z + h / 6 * (a + 2 * b + 2 * c + rate(z + h * c))
    return z


model = taut.Model.from_flow(simulator, [1.0, 0.0], names=["x", "y"], observables=[0], horizon=0.02)

# %%
errors = []
for order in range(4):
    uses = 0
    point = model.project(order=order)
    # the slow manifold at x = 1 [Gear, Kaper, Kevrekidis, Zagaris 2005, eps = 0.1]
    errors.append(abs(point["y"] - 0.503031511623918))
    print(f"order {order}: y = {point['y']:.12f}, error {errors[-1]:.1e}, {uses} uses")
assert errors[0] > 10 * errors[1] > 100 * errors[2]

# %% [markdown]
# Rates at this point: one is slow, one is fast.

# %%
rates = model.spectrum(at=point, horizon=0.02)
print(rates)
assert rates.slow == 1

# %%
xs = np.linspace(0.2, 2, 10)
ys = [model.at({"x": x, "y": 0.0}).project(order=2)["y"] for x in xs]
plt.plot(xs, ys, "o", label="projection")
plt.plot(xs, xs / (xs + KAPPA), label="y = x/(x + kappa)")
plt.xlabel("x")
plt.ylabel("y")
plt.legend()
plt.savefig("simulator.png")
