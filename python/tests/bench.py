"""solve against taut_solver_run from C (rows.c), by processor time; rows of a bench."""
import os
import subprocess
import time
from pathlib import Path

import taut

LIMIT, REPEAT, ROUNDS = 1.05, 8, 6
RUNS = (("pendulum", dict(until=200, verify="never")),
        ("double_pendulum", dict(until=100, verify="never", every=0.1)),
        ("chain", dict(until=2, verify="never")))


def in_python(model: taut.Model, options: dict) -> float:
    best = 1e9
    for _ in range(REPEAT):
        begin = time.process_time()
        model.solve(**options)
        best = min(best, time.process_time() - begin)
    return best


def in_c(name: str, options: dict) -> float:
    path = Path(taut.__file__).parent / "models" / f"{name}.taut"
    texts = [f"{key}={value}" for key, value in options.items()]
    output = subprocess.check_output([os.environ["TAUT_ROWS"], path, str(REPEAT), "rows.bin", *texts])
    return float(output)


for name, options in RUNS:
    model, python, c = taut.Model(name), 1e9, 1e9
    for _ in range(ROUNDS):  # in turn: other programs disturb both
        python, c = min(python, in_python(model, options)), min(c, in_c(name, options))
    ratio = python / c
    verdict = "met" if ratio <= LIMIT else "missed"
    print(f"{name}: {1e3 * c:.3g} ms in C, {1e3 * python:.3g} ms in Python")
    print(f"Python, solve of {name} against C | {LIMIT} | {ratio:.4g} | {verdict}")
