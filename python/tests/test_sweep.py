"""Sweeps: every combination is a row, whatever the number of workers."""
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


def test_rows():
    model = taut.Model(BALL)
    s = model.sweep({"g": [2, 8], "h": [1, 4, 9]}, (0, 3), workers=2,
                    keep=["start(x)", "end(x)", "min(x)", "max(x)", "argmax(x')", "count(floor)",
                          "mean(x)", "rms(x)"])
    assert s["g"].tolist() == [2, 2, 2, 8, 8, 8] and s["h"].tolist() == [1, 4, 9] * 2
    assert np.array_equal(s["start(x)"], s["h"]) and (s["status"] == 0).all()
    fall = np.sqrt(2 * s["h"] / s["g"])  # the first time on the floor, then every 2 fall
    assert s["count(floor)"].tolist() == np.floor((3 / fall + 1) / 2).tolist()
    assert np.allclose(s["max(x)"], s["h"]) and model.parameters["g"] == 2
    one = taut.Model(BALL, g=8, h=4).solve((0, 3))
    assert s["end(x)"][4] == one["x"][-1] and s["min(x)"][4] == one["x"].min()
    # 4 - 4 t^2 until 1, then 4 - 4 (t - 2)^2 twice: the mean is 8/3, that of x^2 128/15
    assert abs(s["mean(x)"][4] - 8 / 3) < 1e-4 and abs(s["rms(x)"][4]**2 - 128 / 15) < 1e-3
    assert s["error"][4] == one.error
    for workers in (1, 3):
        again = model.sweep({"g": [2, 8], "h": [1, 4, 9]}, (0, 3), keep="end(x)", workers=workers)
        assert np.array_equal(again["end(x)"], s["end(x)"])
    pytest.importorskip("pandas")
    assert list(s.to_pandas()["g"]) == s["g"].tolist() and "6 runs, 0 failed" in str(s)


def test_initial_values_options_and_failures():
    model = taut.Model("double_pendulum")
    s = model.sweep({"motion": ["rigid", "slow"], "rtol": [1e-3, -1], "y2": [0.1]}, (0, 1),
                    keep="start(y2)", workers=2)
    assert s["status"].tolist() == [0, -1, 0, -1] and s["motion"].tolist()[2] == "slow"
    assert np.isnan(s["start(y2)"][1]) and "expected a number" in s["message"][1]
    assert abs(s["start(y2)"][0] - 0.1) < 0.1 and s["force_evaluations"][0] > 0


def test_refusals():
    model = taut.Model(BALL)
    for keep, words in (("end(y)", "no column 'y'"), ("last(x)", "expected FUNCTION"),
                        ("count(flor)", "did you mean 'floor'"), ("x", "expected FUNCTION")):
        with pytest.raises(taut.Error, match=words):
            model.sweep({"g": [1]}, (0, 1), keep=keep)
    s = model.sweep({"gg": [1]}, (0, 1), keep="end(x)")
    assert s["status"].tolist() == [-1] and "unknown option" in s["message"][0]
