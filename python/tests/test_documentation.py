"""Docstrings, docs/python.md, README.md and the examples are run."""
import doctest
import importlib.metadata
import os
import re
import runpy
from pathlib import Path

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
