# %% [markdown]
# # A linkage and the forces in it
# A crank turns at a given rate; rigid bonds hold the bars together. Their multipliers are the
# reaction forces.

# %%
import matplotlib.pyplot as plt
import numpy as np

import taut

model = taut.Model("four_bar")
print(model.check())

# %%
run = model.solve(rtol=1e-9)
print(run)
assert run.success and np.abs(run.drift).max() < 1e-6

# %% [markdown]
# Multipliers are found by the names of their bonds.

# %%
figure, (above, below) = plt.subplots(2, sharex=True)
run.plot(model.coordinates[:4], ax=above)
run.plot(model.bonds, ax=below)
figure.savefig("linkage.png")

# %% [markdown]
# The largest force in each bond, by name; and the time at which it occurs.

# %%
largest = {name: (abs(run[name]).max(), run.t[abs(run[name]).argmax()]) for name in model.bonds}
for name, (force, time) in largest.items():
    print(f"{name}: {force:.6g} at t = {time:.4g}")

# %% [markdown]
# Between rows the multipliers are those of the state: rigid bonds hold there, too.

# %%
name, (force, time) = max(largest.items(), key=lambda item: item[1][0])
assert abs(abs(run.sol(time)[name]) - force) < 1e-5 * force
