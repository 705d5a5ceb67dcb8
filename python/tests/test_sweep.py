"""Sweeps: the table of the library, the same as that of the program, whatever the workers."""
import csv
import os
import signal
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

import taut

BALL = """[parameters]
g = 2, h = 1
[coordinates]
x
[forces]
x = -g
[start]
x = h
[events]
floor = x falling then x' = -x'
"""
CHAIN = """[parameters]
n = 2
[particles]
dimension = 2
p[i] for i in 1..n mass 1
[potential]
sum(p[i].y for i in 1..n)
[bonds]
link[1] = length(p[1]) - 1 rigid
link[i] = length(p[i] - p[i-1]) - 1 for i in 2..n rigid
[start]
p[i] = (i, 0) for i in 1..n
[run]
until = 0.5
"""


def test_rows():
    model = taut.Model(BALL)
    s = model.sweep({"g": [2, 8], "h": np.array([1, 4, 9])}, (0, 3), workers=2,
                    keep=["start(x)", "end(x)", "min(x)", "max(x)", "argmax(x')", "count(floor)",
                          "mean(x)", "rms(x)", "max(abs(x - start(x)))/h"])
    assert s["g"].tolist() == [2, 2, 2, 8, 8, 8] and s["h"].tolist() == [1, 4, 9] * 2
    assert np.array_equal(s["start(x)"], s["h"]) and (s["status"] == 0).all()
    fall = np.sqrt(2 * s["h"] / s["g"])  # the first time on the floor, then every 2 fall
    assert s["count(floor)"].tolist() == np.floor((3 / fall + 1) / 2).tolist()
    assert np.allclose(s["max(x)"], s["h"]) and model.parameters["g"] == 2
    one = taut.Model(BALL, g=8, h=4).solve((0, 3))
    assert s["end(x)"][4] == one["x"][-1] and s["min(x)"][4] == one["x"].min()
    # 4 - 4 t^2 until 1, then 4 - 4 (t - 2)^2 twice: the mean is 8/3, that of x^2 128/15
    assert abs(s["mean(x)"][4] - 8 / 3) < 1e-4 and abs(s["rms(x)"][4]**2 - 128 / 15) < 1e-3
    assert s["error"][4] == one.error and abs(s["max(abs(x - start(x)))/h"][4] - 1) < 1e-9
    for workers in (1, 3):
        again = model.sweep({"g": [2, 8], "h": [1, 4, 9]}, (0, 3), keep="end(x)", workers=workers)
        assert np.array_equal(again["end(x)"], s["end(x)"])
    pytest.importorskip("pandas")
    assert list(s.to_pandas()["g"]) == s["g"].tolist() and "6 runs, 0 failed" in str(s)
    assert "<table>" in s._repr_html_()


def test_shown():
    sweep = taut.Model(BALL).sweep({"g": np.linspace(1, 2, 23)}, (0, 1), keep="end(x)")
    lines = str(sweep).splitlines()
    assert lines[1].split()[:2] == ["g", "end(x)"] and len(lines) == 23 and "3 rows more" in lines[-1]
    assert lines[2].split()[:2] == ["1", f"{sweep['end(x)'][0]:.6g}"]
    assert sweep._repr_html_().count("<tr>") == 21


def test_values():
    model = taut.Model(BALL)
    exact = np.geomspace(0.1, 7, 5)
    assert np.array_equal(model.sweep({"g": exact}, (0, 1), keep="end(x)")["g"], exact)
    s = model.sweep({"g": "1:100:log3,7", "h": 2}, (0, 1), keep=[])
    assert np.allclose(s["g"], [1, 10, 100, 7], rtol=1e-15) and s["h"].tolist() == [2] * 4
    s = model.sweep({"g": [1, 2, 3], "x": [4, 5, 6], "h": [7]}, (0, 1), keep="start(x)", zip=True)
    assert s["start(x)"].tolist() == [4, 5, 6] and s["g"].tolist() == [1, 2, 3]
    few, many = (model.sweep({"g": "1:2"}, (0, 1), keep="end(x)", random=n, seed=3) for n in (3, 9))
    assert np.array_equal(many["g"][:3], few["g"]) and len(set(many["g"])) == 9
    assert ((many["g"] >= 1) & (many["g"] <= 2)).all()
    s = model.sweep({"max_step": [0.1, 0.01], "verify": ["never"]}, (0, 1), keep="end(x)")
    assert s["steps"][1] > 5 * s["steps"][0] and np.isnan(s["error"]).all()


def test_same_as_the_program(tmp_path):
    program = [os.environ["TAUT_PROGRAM"], "sweep", "double_pendulum", "--quiet", "--until", "2"]
    keep = ["max(energy)", "end(x2)", "argmax(lambda(inner))"]
    flags = ["--vary=omega=200:2000:log3", "--vary=motion=slow,rigid", "--vary=y2=0,0.1"]
    subprocess.run([*program, *flags, *(f"--keep={one}" for one in keep), "--out", "s.csv"],
                   cwd=tmp_path, check=True, env={**os.environ, "TAUT_MODELS": str(
                       Path(taut.__file__).parent / "models")})
    s = taut.Model("double_pendulum").sweep(
        {"omega": "200:2000:log3", "motion": ["slow", "rigid"], "y2": [0, 0.1]}, keep=keep,
        until=2, workers=2)
    with open(tmp_path / "s.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["run", *s.columns] and len(rows) == len(s) == 12
    for name in ("omega", "y2", *keep, "error", "steps", "force_evaluations"):
        theirs = np.array([float(row[name] or "nan") for row in rows])
        assert np.array_equal(theirs, s[name], equal_nan=True), name
    for name in ("motion", "message"):
        assert [row[name] for row in rows] == s[name].tolist()
    assert {row["status"] for row in rows} == {"done"} and (s["status"] == 0).all()


def test_sizes_are_varied():
    model = taut.Model(CHAIN, n=3).at({"p[1].x": 1})
    s = model.sweep({"n": [2, 3, 4], "p[1].y": [0.0]}, keep="end(p[n].x)", workers=2)
    assert s["status"].tolist() == [0, 0, 0] and s["n"].tolist() == [2, 3, 4]
    for n, x in zip((2, 3, 4), s["end(p[n].x)"]):
        assert taut.Model(CHAIN, n=n).solve()[f"p[{n}].x"][-1] == x


def test_failures():
    # x = a e^t, and from x = 3 on nothing can be evaluated
    model = taut.Model("[parameters]\na = 1\n[state]\nx\n[rates]\nx' = x + 1e-30*log(3 - x)\n"
                       "[start]\nx = a\n")
    s = model.sweep({"a": [1, 2], "method": ["dop8", "radau5"]}, (0, 1), keep="end(x)", workers=2)
    assert s["status"].tolist()[:2] == [0, 0] and (s["status"][2:] < 0).all()
    assert np.allclose(s["end(x)"][:2], np.e, rtol=1e-3) and np.isnan(s["end(x)"][2:]).all()
    assert s["message"][0] == "" and s["message"][2] and "4 runs, 2 failed" in str(s)
    assert s["method"].tolist() == ["dop8", "radau5"] * 2


@pytest.mark.parametrize("vary, keep, option, column, words", [
    ("g", "end(x) + max(y)", "keep", 14, "unknown name 'y'"),
    ("g", "last(x)", "keep", 1, "last"), ("g", "count(flor)", "keep", 7, "flor"),
    ("g", "x", "keep", 1, "write end"), ("gg", "end(x)", "vary", 0, "did you mean 'g'"),
    ("out", "end(x)", "vary", 0, "'out' is no parameter")])
def test_refusals(vary, keep, option, column, words):
    with pytest.raises(taut.Error, match=words) as caught:
        taut.Model(BALL).sweep({vary: [1]}, (0, 1), keep=keep, workers=2)
    assert (caught.value.option, caught.value.column) == (option, column)


def test_more_refusals():
    model = taut.Model(BALL)
    for vary, more, option in (({}, {}, "vary"), ({"g": []}, {}, "vary"),
                               ({"g": [np.nan]}, {}, "vary"), ({"rtol": [1e-3, -1]}, {}, "rtol"),
                               ({"g": ["a"]}, {}, "vary"),
                               ({"g": [1, 2], "h": [1, 2, 3]}, {"zip": True}, "zip"),
                               ({"g": [1]}, {"rtoll": 1}, "rtoll")):
        with pytest.raises(taut.Error) as caught:
            model.sweep(vary, (0, 1), keep="end(x)", **more)
        assert caught.value.option == option


def test_models_made_in_python():
    threads = set()

    def force(t, q, v):
        threads.add(threading.get_ident())
        if q[0] > 5:
            raise ZeroDivisionError
        return -q
    model = taut.Model.from_functions(force, 1, q0=[1.0], energy=lambda t, q: q[0]**2 / 2)
    s = model.sweep({"q[1]": [1, 2], "q[1]'": [0, 1], "rtol": [1e-9]}, (0, np.pi / 2), workers=2,
                    keep=["end(q[1])", "start(energy)"])
    assert np.allclose(s["end(q[1])"], [0, 1, 0, 1], atol=1e-6)
    assert np.allclose(s["start(energy)"], [0.5, 1, 2, 2.5]) and threads == {threading.get_ident()}
    with pytest.raises(ZeroDivisionError):
        model.sweep({"q[1]": [1, 9, 2]}, (0, 1), keep="end(q[1])")
    fall = taut.Model.from_bonds(mass=1, pairs=[[0, -1]], length=1, position=[[1, 0]],
                                 gravity=[0, -1], anchors=[[0, 0]])
    s = fall.sweep({"p[1].y'": [0, 2]}, (0, 1), keep=["start(p[1].y')", "end(p[1].y)"], workers=2)
    assert s["start(p[1].y')"].tolist() == [0, 2] and s["end(p[1].y)"][1] > s["end(p[1].y)"][0]
    one = fall.at({"p[1].y'": 2}).solve((0, 1))
    assert s["end(p[1].y)"][1] == one["p[1].y"][-1]
    flow = taut.Model.from_flow(lambda t, H, z: z * np.exp(-H), [1.0], names=["z"], horizon=0.1)
    s = flow.sweep({"z": [1, 3]}, (0, 1), keep=["start(z)", "end(z)"], verify="never")
    assert s["start(z)"].tolist() == [1, 3] and np.allclose(s["end(z)"], s["z"] / np.e, rtol=1e-2)


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_and_control_c(workers):
    model, calls = taut.Model("double_pendulum"), []

    def progress(done, runs, failed):
        calls.append((done, runs, failed))
        return done >= 3
    s = model.sweep({"lift": np.linspace(0, 0.5, 50)}, (0, 1), keep="end(x2)", workers=workers,
                    progress=progress)
    assert 1 <= len(s) < 50 and calls[0] == (0, 50, 0)

    def fail(done, runs, failed):
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError):
        model.sweep({"lift": [0, 0.1]}, (0, 1), keep="end(x2)", workers=workers, progress=fail)
    # the run of the calling thread, or of any other: Ctrl-C ends it
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.sweep({"until": [1e6, 0.1]}, keep="end(x2)", motion="full", verify="never",
                    workers=workers)
    timer.join()


def test_workers_are_threads():
    seen = set()
    taut.Model("double_pendulum").sweep(
        {"lift": np.linspace(0, 0.5, 40)}, (0, 5), keep="end(x2)", workers=2,
        progress=lambda *numbers: seen.add(threading.get_native_id()))
    assert len(seen) == 2 and threading.get_native_id() not in seen
