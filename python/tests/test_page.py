"""Pages: the numbers inside are those of the run, names and texts are data, frames of notebooks."""
import base64
import html
import json
import re
import zlib

import numpy as np
import pytest

import taut

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def data(text):
    """The runs of a page, each with its bytes inflated."""
    runs = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text,
                                re.DOTALL)[1])["runs"]
    for run in runs:
        run["bytes"] = zlib.decompress(base64.b64decode(run["data"]), wbits=-15)
    return runs


def columns(run):
    """Columns [column, frame] and half a step of each, by the layout of src/io/page_code.c."""
    frames, count = run["frames"], sum(run["width"].values())
    numbers = np.frombuffer(run["bytes"], dtype="<f8", count=frames + 2 * count)
    least, step = numbers[frames:frames + count], numbers[frames + count:]
    start = 8 * numbers.size + 4 * run["points"] + 17 * run["bonds"]
    plane = np.frombuffer(run["bytes"], dtype=np.uint8, offset=start, count=2 * frames * count)
    high, low = plane.reshape(2, count, frames).astype(int)
    folded = high << 8 | low
    second = np.where(folded & 1, ~(folded >> 1), folded >> 1)
    first = second[:, :1]
    second = second[:, 1:].cumsum(axis=1)  # the first value is no change
    code = np.hstack([first, first + second.cumsum(axis=1)]) & 0xffff
    return least[:, None] + code * step[:, None], step / 2


@pytest.fixture(scope="module")
def model():
    return taut.Model("double_pendulum", omega=50)


def test_numbers_and_texts(model, tmp_path):
    r = model.solve((0, 2), motion="full", every=0.02)
    page = r.animate(tmp_path / "run.html")
    page.write(tmp_path / "again.htm")
    for name in ("run.html", "again.htm"):
        assert (tmp_path / name).read_text() == page.html
    assert POLICY in page.html
    run, = data(page.html)
    q, half = (numbers[:run["width"]["q"]] for numbers in columns(run))
    assert run["frames"] == len(r) == q.shape[1] and run["model"] == model.text
    assert (np.abs(q - r.q).max(axis=1) <= 1.001 * half + 1e-14).all() and half.max() < 1e-4
    texts = dict(run["texts"])
    assert "omega=50" in texts["settings"] and texts["explanation"] == r.explanation
    # a frame without access to the notebook, whose document is the page
    frame = page._repr_html_()
    assert frame.count("<") == 2 and 'sandbox="allow-scripts allow-downloads"' in frame
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', frame)[1]) == page.html


def test_several_runs_and_files(model, tmp_path):
    full, slow = (model.solve((0, 1), motion=motion) for motion in ("full", "slow"))
    assert [run["name"] for run in data(full.animate(others=[slow]).html)] == ["full", "slow"]
    # differences are not those of rounded numbers
    coarse = model.solve((0, 1), motion="slow", rtol=1e-4)
    first, second = data(slow.animate(others=[coarse]).html)
    assert first["width"]["difference"] == 0
    count = second["width"]["difference"]
    differences, half = (numbers[-count:][:4] for numbers in columns(second))
    assert 0 < half.max() < 1e-8
    assert (np.abs(differences - (coarse.q - slow.q)).max(axis=1) <= 1.001 * half).all()
    twice = data(slow.animate(others=[slow], names=["a </script>", "b"]).html)
    assert [run["name"] for run in twice] == ["a </script>", "b"]
    slow.save(tmp_path / "slow.npz")
    loaded, = data(taut.load(tmp_path / "slow.npz").animate().html)
    assert loaded["bytes"] == twice[0]["bytes"]
    with pytest.raises(ValueError, match="names: expected 2"):
        full.animate(others=[slow], names=["a"])
    with pytest.raises(ValueError, match="ends in .html"):
        full.animate(tmp_path / "run.png")


@pytest.mark.parametrize("source", ["bouncing_ball", "kepler", "robertson", "truss"])
def test_kinds_of_models(source, tmp_path):
    r = taut.Model(source).solve(verify="never")
    run, = data(r.animate().html)
    assert run["rows"] == len(r) and len(run["events"]) == sum(map(len, r.t_events.values()))
    assert source != "truss" or dict(run["texts"])["table truss_nodes.csv"].startswith("x,y,mass")
    r.save(tmp_path / "run.npz")
    assert data(taut.load(tmp_path / "run.npz").animate().html)[0]["bytes"] == run["bytes"]


def test_forces_of_bonds():
    forms = ["sqrt(x^2 + y^2) - 5", "1 - sqrt(x^2 + y^2)/5", "x^2 + y^2 - 25"]
    for form, factor in zip(forms, [1, -0.2, 10]):
        model = taut.Model(f"[coordinates]\nx, y\n[bonds]\nrod = {form}\n[start]\nx = 3\ny = 4\n")
        run, = data(model.solve((0, 0.1)).animate().html)
        at = 8 * (run["frames"] + 2 * sum(run["width"].values()))
        assert abs(np.frombuffer(run["bytes"], "<f8", 1, at) - factor) < 1e-12, form


def test_models_made_in_python(tmp_path):
    m = taut.Model.from_bonds(mass=[1, 1], pairs=[[0, -1], [0, 1]], length=1,
                              position=[[1, 0], [2, 0]], gravity=[0, -9.81],
                              anchors=np.zeros((2, 2)))
    r = m.solve((0, 1))
    run, = data(r.animate().html)
    assert run["points"] == 2 and run["bonds"] == 2 and abs(run["gravity"][1] + 9.81) < 1e-9
    r.save(tmp_path / "run.npz")
    with pytest.raises(ValueError, match="no text of a model"):
        taut.load(tmp_path / "run.npz").animate()


def test_sweep(model, tmp_path):
    s = model.sweep({"omega": [100, 200], "lift": "0:0.5:3"}, (0, 1), keep="max(energy)")
    page, = data(s.page(tmp_path / "sweep.html").html)
    head, *rows = [line.split(",") for line in page["bytes"].decode().splitlines()]
    assert head[:4] == ["run", "omega", "lift", "max(energy)"] and page["varied"] == 2
    assert [float(row[3]) for row in rows] == s["max(energy)"].tolist()
    assert "vary = lift=0:0.5:3" in dict(page["texts"])["settings"]
