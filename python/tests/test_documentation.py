"""Docstrings, docs/python.md, README.md and the examples are run."""
import doctest
import importlib.metadata
import inspect
import os
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import taut
from taut import _library, _model, _result, _run, _sweep, _taut

HERE = Path(__file__).resolve().parent.parent


MODULES = [taut, _library, _model, _result, _run, _sweep]


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_docstrings(module):
    found = doctest.testmod(module)
    assert found.failed == 0 and found.attempted > 0


@pytest.mark.parametrize("page", ["python.md", "README.md"])
def test_pages(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (HERE / page).read_text(), re.S)
    assert blocks
    exec(compile("\n".join(blocks), page, "exec"), {})


@pytest.mark.parametrize("path", sorted((HERE / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_examples(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("matplotlib")
    runpy.run_path(str(path), run_name="__main__")
    assert list(tmp_path.glob("*.png"))


def test_every_option_has_a_keyword():
    page = (HERE / "python.md").read_text()
    assert {"rtol", "max_step", "allow_command"} < set(taut.options())
    for name in taut.__all__:
        assert f"taut.{name}" in page or f"`{name}`" in page, name
    assert os.path.commonpath([taut.__file__, str(HERE)]) != str(HERE)


def test_the_package():
    """One module for every CPython from 3.9 on, types, and no other needs than NumPy and cffi."""
    about = importlib.metadata.metadata("taut")
    assert about["Requires-Python"] == ">=3.9" and about["Version"] == taut.__version__
    needs = [line.split(";")[0].strip() for line in about.get_all("Requires-Dist")
             if "extra" not in line]
    assert sorted(re.split(r"[^a-z]", need)[0] for need in needs) == ["cffi", "numpy"]
    assert _taut.__file__.endswith(".abi3.so")
    assert (Path(taut.__file__).parent / "py.typed").exists()


def test_every_method_is_tested():
    tests = "".join(path.read_text() for path in (HERE / "tests").glob("test_*.py"))
    classes = [kind for kind in vars(taut).values() if isinstance(kind, type)]
    assert len(classes) >= 9
    for kind in classes:
        for member in vars(kind):
            used = member.startswith("_") or re.search(rf"\.{member}\b", tests)
            assert used, f"{kind.__name__}.{member}"


def test_every_name_is_documented():
    """Methods, attributes and arguments of every class, in docs/python.md."""
    page = (HERE / "python.md").read_text()
    kinds = [kind for name, kind in vars(taut).items() if name in taut.__all__ and isinstance(kind, type)]
    assert len(kinds) >= 9
    for kind in kinds:
        for name, member in vars(kind).items():
            documented = name.startswith("_") or re.search(rf"\b{name}\b", page)
            assert documented, f"{kind.__name__}.{name}"
            if name.startswith("_") or not callable(member):
                continue
            for argument in inspect.signature(member).parameters:
                assert argument in ("self", "path", "options") or re.search(rf"\b{argument}\b", page), \
                    f"{kind.__name__}.{name}({argument})"


EXAMPLE = """
print(m.check())
r = m.solve((0, 10), motion="slow", rtol=1e-8, t_eval=np.linspace(0, 10, 501), events=["apex"])
r.t, r.q, r.v, r.lam, r.success, r.message, r.error
r["bob[2].x"]; r.sol(3.217)["link[1]"]; r.t_events["apex"]
r.to_pandas(); r.to_xarray(); r.save("run.h5"); taut.load("run.h5"); r.plot()
p = m.project(method="series", hold=["bob[2].x"]); m.spectrum(at=p).frequencies
s = m.sweep({"omega": np.geomspace(50, 5e3, 8)}, (0, 10), keep="max(energy)", workers=2)
n = taut.Model.from_bonds(mass=M, pairs=E, length=L, compliance=C)
n = taut.Model.from_functions(force=f, bonds=g, n=4)
st = n.stepper(motion="rigid"); st.step(); st.checkpoint("a.chk")
"""


def test_a_session(tmp_path, monkeypatch):
    """The calls one after the other, as somebody types them."""
    for module in ("pandas", "xarray", "h5py", "matplotlib"):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    text = taut.Model("chain").text + "[events]\napex = bob[1].y' rising then bob[1].x' = bob[1].x'\n"
    m = taut.Model(text, N=2, omega=200, init={"bob[2].x": 1.6, "bob[2].y": -0.8})

    def rods(t, q):  # displacements from (1, 0) and (2, 0)
        return [np.hypot(1 + q[0], q[1]) - 1, np.hypot(1 + q[2] - q[0], q[3] - q[1]) - 1]
    names = {"taut": taut, "np": np, "m": m, "M": [1, 1], "E": [[0, -1], [0, 1]], "L": 1, "C": 1e-6,
             "f": lambda t, q, v: [0, -1, 0, -1], "g": rods}
    for line in EXAMPLE.strip().splitlines():
        exec(line, names)
    assert names["r"].success and len(names["r"].t_events["apex"]) > 0
    assert names["s"]["max(energy)"].shape == (8,) and names["st"].t > 0
