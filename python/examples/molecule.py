# %% [markdown]
# # A molecule: slow, effective and full motion
# Bonds are stiff springs. The slow motion has none of their oscillation, the effective motion
# averages it, the full motion resolves it.

# %%
import matplotlib.pyplot as plt
import numpy as np

import taut

model = taut.Model("triatomic")
print(model.check())
print(model.spectrum())

# %% [markdown]
# The same initial state in each motion; where the model oscillates, full and slow motion differ.

# %%
until = float(model.solve(verify="never").t[-1]) / 4
times = np.linspace(0, until, 401)
runs = {motion: model.solve((0, until), motion=motion, t_eval=times, rtol=1e-7)
        for motion in ("slow", "effective", "full")}
for motion, run in runs.items():
    print(f"{motion:9} {run.statistics['steps']:7} steps, measured error {run.error:.1e}")
assert runs["slow"].statistics["steps"] < runs["full"].statistics["steps"]

# %%
figure, axes = plt.subplots()
for motion, run in runs.items():
    axes.plot(run.t, run.q[0], label=motion)
axes.set_xlabel("t")
axes.set_ylabel(model.coordinates[0])
axes.legend()
figure.savefig("molecule.png")

# %% [markdown]
# A slow initial state, by name, and its run in full motion: nothing oscillates.

# %%
point = model.project()
quiet = model.at(point).solve((0, until), motion="full", rtol=1e-7)
slow = model.at(point).solve((0, until), motion="slow", rtol=1e-7)
difference = np.abs(quiet.q[:, -1] - slow.q[:, -1]).max()
print(f"full and slow motion from the slow point differ by {difference:.1e}")
assert difference < 1e-3
