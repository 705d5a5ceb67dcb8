"""Wrong arguments: what is wrong, where, and what would be right; packages that are missing."""
import sys
from typing import Any

import numpy as np
import pytest

import taut

NOTHING: Any = None
SPRING: dict[str, Any] = dict(mass=1, pairs=[[0, -1]], length=1)


def free(force=lambda t, q, v: -q, n=1, **more):
    return taut.Model.from_functions(force, n, **more)


WRONG = {
    "an end alone": (lambda m: m.solve(10), r"t_span: expected \(begin, end\), found 10"),
    "three times": (lambda m: m.solve((0, 1, 2)), r"t_span: expected \(begin, end\)"),
    "a word as time": (lambda m: m.solve((0, "ten")), "t_span: expected"),
    "no rows": (lambda m: m.solve((0, 1), t_eval=[]), r"t_eval: expected a list of times"),
    "a matrix of rows": (lambda m: m.solve((0, 1), t_eval=[[0, 1]]), "t_eval: .*shape"),
    "words as rows": (lambda m: m.solve((0, 1), t_eval=["a"]), "t_eval: expected numbers"),
    "rows that are late": (lambda m: m.solve((0, 1), t_eval=[2]), "t_eval: time 1 of the rows, 2,"),
    "an unknown event": (lambda m: m.solve((0, 1), events="apex"), "'apex': the model has no"),
    "an unknown method": (lambda m: m.solve((0, 1), method="RK45"), "method: unknown method 'RK45'"),
    "a wrong tolerance": (lambda m: m.solve((0, 1), rtol="small"), "rtol: expected a number"),
    "a wrong keyword": (lambda m: m.solve((0, 1), rtoll=1), "rtoll: .* did you mean rtol"),
    "no value": (lambda m: taut.Model("double_pendulum", omega=NOTHING), "omega: .*found None"),
    "a list as value": (lambda m: m.set(omega=[1, 2]), r"omega: .*found \[1, 2\]"),
    "a state by number": (lambda m: m.at([1, 2]), r"a State, .*found \[1, 2\]"),
    "a run as state": (lambda m: m.at(m.solve((0, 1))), "run.state()"),
    "several states": (lambda m: m.at(m.solve((0, 1)).sol([0, 1])), "2 states"),
    "a column by number": (lambda m: m.solve((0, 1))[0], "no column 0; names are texts"),
    "no energy": (lambda m: m.initial()["energy"], "no column 'energy'"),
    "a parameter by number": (lambda m: m.parameters[0], "no parameter 0"),
    "time as word": (lambda m: m.solve((0, 1)).sol("a"), "t: expected numbers"),
    "a matrix of times": (lambda m: m.solve((0, 1)).sol([[0]]), "t: expected a time"),
    "minus one mode": (lambda m: m.spectrum(modes=-1), "modes: .*-1"),
    "along a number": (lambda m: m.spectrum(along=3), "along: expected a Result"),
    "names alone": (lambda m: m.sweep(["omega"], keep="end(x1)"), "vary: expected values by name"),
    "a matrix of values": (lambda m: m.sweep({"omega": np.ones((2, 2))}, keep=[]),
                           r"vary: omega: .*\(2, 2\)"),
    "no workers": (lambda m: m.sweep({"omega": 1}, keep=[], workers=0), "workers: .*found 0"),
    "a number as force": (lambda m: free(3), "force: expected a function, found 3"),
    "no coordinates": (lambda m: free(n=-1), "n: expected the number of coordinates"),
    "too many forces": (lambda m: free(lambda t, q, v: [1, 2, 3], 2).solve((0, 1)),
                        "function force returned 3 numbers, expected 2"),
    "a force without return": (lambda m: free(lambda t, q, v: None).solve((0, 1)),
                               "function force returned None, expected 1"),
    "half of a state": (lambda m: taut.Model.from_flow(lambda t, H, z: z[:1], [1.0, 2.0], horizon=0.1,
                                                       observables=[0]).project(),
                        "function advance returned 1 numbers, expected 2"),
    "three ends": (lambda m: taut.Model.from_bonds(1, [0, 1, 2], 1), "pairs: expected integers"),
    "half a particle": (lambda m: taut.Model.from_bonds(1, [[0.5, 1]], 1), "pairs: .*0.5"),
    "negative": (lambda m: taut.Model.from_bonds(compliance=-1, **SPRING), "compliance: .* >= 0"),
    "infinite": (lambda m: taut.Model.from_bonds(compliance=np.inf, **SPRING), "compliance: .*finite"),
}


@pytest.mark.parametrize("wrong", WRONG, ids=lambda name: name.replace(" ", "_"))
def test_wrong_arguments(wrong):
    call, words = WRONG[wrong]
    with pytest.raises((taut.Error, TypeError, ValueError, KeyError), match=words):
        call(taut.Model("double_pendulum", omega=200))


def test_methods():
    assert taut.methods()["radau5"]["order"] == 5 and len(taut.methods()) > 20
    assert {"motions", "order", "summary", "reference"} == set(taut.methods()["dop8"])


def test_a_name_that_is_no_text_is_not_there():
    assert 0 not in taut.Model("double_pendulum").parameters


def test_workers_of_the_machine():
    model = taut.Model("pendulum")
    one, all_of_them = (model.sweep({"rtol": [1e-3, 1e-6]}, (0, 1), keep="end(y1)", workers=k)
                        for k in (1, -1))
    assert np.array_equal(one["end(y1)"], all_of_them["end(y1)"])


@pytest.mark.parametrize("module, use", [
    ("pandas", lambda run, path: run.to_pandas()), ("xarray", lambda run, path: run.to_xarray()),
    ("h5py", lambda run, path: run.save(path / "a.h5")), ("matplotlib", lambda run, path: run.plot()),
    ("pandas", lambda run, path: taut.Model("pendulum").sweep({"rtol": 1e-3}, (0, 1), keep=[])
     .to_pandas())])
def test_a_package_is_missing(module, use, tmp_path, monkeypatch):
    run = taut.Model("pendulum").solve((0, 1))
    for name in [module, *(one for one in sys.modules if one.startswith(module + "."))]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=f"needs {module}.*pip install {module}"):
        use(run, tmp_path)
    run.save(tmp_path / "a.npz")  # the rest works
    assert len(taut.load(tmp_path / "a.npz")) == len(run)


def test_other_files_of_taut(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "sweep.h5", "w") as file:  # a table of `taut sweep`
        file["varied"] = np.zeros((2, 1))
        file["taut/model"] = np.array([b"x"])
    with pytest.raises(taut.Error, match="no rows of a run"):
        taut.load(tmp_path / "sweep.h5")


def test_files_that_are_something_else(tmp_path):
    run = taut.Model("pendulum").solve((0, 1))
    names = ["a.npz"]
    if "h5py" in sys.modules or pytest.importorskip("h5py"):
        names.append("a.h5")
    for name in names:
        path = tmp_path / name
        with pytest.raises(FileNotFoundError):
            taut.load(path)
        run.save(path)
        whole = path.read_bytes()
        for wrong in (b"", b"x,y\n1,2\n", whole[:len(whole) // 2], whole[:64]):
            path.write_bytes(wrong)
            with pytest.raises(taut.Error, match=f"{name}: it is no file of a run"):
                taut.load(path)
