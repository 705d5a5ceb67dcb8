"""The same bits from the program, from C and from Python, for every shipped model."""
import csv
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import taut

MODELS = Path(taut.__file__).parent / "models"
SHORT = {"water_box": 0.02, "reaction_diffusion": 0.5, "hydrogen_oxygen": 1e-4, "fpu": 5,
         "cloth": 0.2, "net": 0.5, "squeezer": 0.01}


def table(run: taut.Result) -> np.ndarray:
    return np.vstack([run.t, run.q, run.v, run.lam, run.outputs]).T


@pytest.mark.parametrize("name", taut.models())
def test_same(name, tmp_path):
    options = {"verify": "never"}
    if name in SHORT:
        options["until"] = SHORT[name]
    flags = [f"--{key}={value}" for key, value in options.items()]
    path = MODELS / f"{name}.taut"
    program = subprocess.run([os.environ["TAUT_PROGRAM"], "run", path, "--quiet", "--out",
                              tmp_path / "rows.csv", *flags], capture_output=True, text=True)
    c = subprocess.run([os.environ["TAUT_ROWS"], path, "1", tmp_path / "rows.bin",
                        *(f"{key}={value}" for key, value in options.items())],
                       capture_output=True, text=True)
    try:
        run = taut.Model(name).solve(**options)
    except taut.Error as error:  # this build cannot: then nobody can, for the same reason
        assert c.returncode == 3 and program.returncode not in (0, 130)
        assert c.stderr.strip() == error.message
        assert error.message[:40] in " ".join(program.stderr.split())
        return
    assert c.returncode == 0 and program.returncode in (0, 3), program.stderr
    mine = table(run)
    assert np.array_equal(np.fromfile(tmp_path / "rows.bin").reshape(mine.shape), mine)
    with open(tmp_path / "rows.csv", newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["t", *run.columns]
    assert np.array_equal(np.array(rows, dtype=float), mine)


def test_hdf5_of_the_program_is_read(tmp_path):
    h5py = pytest.importorskip("h5py")
    run = taut.Model("double_pendulum").solve()
    with h5py.File(tmp_path / "run.h5", "w") as file:  # as docs/cli.md describes it
        for place, values in (("coordinates", run.q), ("velocities", run.v),
                              ("multipliers", run.lam), ("outputs", run.outputs)):
            file[f"observables/{place}/value"] = values.T
        file["observables/coordinates/time"] = run.t
        for key, names in (("coordinate", ["x1", "y1", "x2", "y2"]), ("bond", ["inner", "outer"]),
                           ("output", ["pull_inner", "pull_outer"])):
            file[f"parameters/{key}_names"] = np.array(names, dtype="S")
    again = taut.load(tmp_path / "run.h5")
    assert again.columns == run.columns and np.array_equal(again["inner"], run["inner"])
