"""solve against the same run from C (rows.c), and sweeps: rows of a bench.

Instructions by callgrind, as the difference between 12 and 2 runs, so that the start of Python does
not count; and the shortest processor time of many runs, in turn, which depends little on what else the
machine does. Arguments `run NAME COUNT` are such runs."""
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import taut

LIMIT, FEW, MANY = 1.05, 2, 12
LONG, PAIRS = 50, 7
RUNS: dict[str, dict[str, Any]] = {
    "double_pendulum": dict(until=100, every=0.1, verify="never"),
    "chain": dict(until=2, verify="never")}


def instructions(*command: str) -> int:
    grind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    text = subprocess.run([*grind, *command], check=True, capture_output=True, text=True).stderr
    return int(re.findall(r"Collected : (\d+)", text)[0])


def each(call: Any) -> float:
    return (instructions(*call(MANY)) - instructions(*call(FEW))) / (MANY - FEW)


def shortest(*command: str) -> float:
    """Processor time of the shortest run of a process, which prints it."""
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


SWEEPS = {"lift": "0:0.5:1000", "omega": "1e4:1e6:log1000"}  # as bench/bench_sweep.c
SECONDS = 2.0


def row(name: str, limit: float, value: float) -> None:
    print(f"Python, {name} | {limit} | {value:.4g} | {'met' if value <= limit else 'missed'}")


def sweeps() -> None:
    for name, values in SWEEPS.items():
        used = []
        for _ in range(3):
            begin = time.process_time()
            table = taut.Model("double_pendulum").sweep({name: values}, workers=2,
                                                        keep=["max(energy)", "end(x2)"])
            used.append(time.process_time() - begin)
            assert len(table) == 1000 and (table["status"] == 0).all()
        row(f"sweep of double_pendulum, {name}={values}, processor time over two, seconds",
            SECONDS, min(used) / 2)


def main() -> None:
    sweeps()
    for name, options in RUNS.items():
        path = Path(taut.__file__).parent / "models" / f"{name}.taut"
        texts = [f"{key}={value}" for key, value in options.items()]
        def python(k: int) -> list[str]:
            return [sys.executable, __file__, "run", name, str(k)]

        def c(k: int) -> list[str]:
            return [os.environ["TAUT_ROWS"], str(path), str(k), "rows.bin", *texts]
        counts = each(python), each(c)
        print(f"{name}: {counts[1]:.0f} instructions in C, {counts[0]:.0f} in Python")
        row(f"solve of {name} against C, instructions", LIMIT, counts[0] / counts[1])
        pairs = [(shortest(*python(LONG)), shortest(*c(LONG))) for _ in range(PAIRS)]
        times = [min(one) for one in zip(*pairs)]
        row(f"solve of {name} against C, processor time", LIMIT, times[0] / times[1])


if sys.argv[1:2] == ["run"]:
    model, best = taut.Model(sys.argv[2]), float("inf")
    for _ in range(int(sys.argv[3])):
        begin = time.process_time()
        model.solve(**RUNS[sys.argv[2]])
        best = min(best, time.process_time() - begin)
    print(best)
else:
    main()
