"""Results: views, names, times, events, dense output, files, tables, pictures."""
import gc
import os
import subprocess
import time

import numpy as np
import pytest

import taut
from taut._library import ffi, lib, new_struct
from taut._run import Run, _arrays


@pytest.fixture(scope="module")
def run():
    return taut.Model("double_pendulum", omega=200).solve((0, 10), motion="slow", rtol=1e-8)


def test_attributes(run):
    assert run.success and run.status == 0 and run.message and len(run) == len(run.t)
    assert run.q.shape == run.v.shape == (4, len(run)) and run.lam.shape == (2, len(run))
    assert run.outputs.shape == (2, len(run)) and run.drift.shape == (2, len(run))
    assert 0 < run.error < 1e-6 and run.motion == "slow" and run.statistics["steps"] > 0
    assert run.info["rtol"] == 1e-8 and "dop8" in run.explanation and run.warnings == []
    assert run.message in str(run) and run.message in repr(run) and "<table>" in run._repr_html_()


def test_names(run):
    assert run["x1"].base is not None and np.array_equal(run["y1'"], run.v[1])
    assert np.array_equal(run["inner"], run.lam[0])
    assert np.array_equal(run["lambda(outer)"], run.lam[1])
    assert np.array_equal(run["pull_inner"], run.outputs[0]) and run["t"] is run.t
    assert np.array_equal(run["energy"], run.energy)
    with pytest.raises(KeyError, match="did you mean 'inner'|no column"):
        run["innr"]


def test_arrays_are_views_of_the_librarys_rows():
    run = Run(taut.Model("double_pendulum")._system, {"until": 1.0})
    handle, sink = ffi.new("taut_memory_sink **"), ffi.new("taut_sink *")
    assert lib.taut_memory_sink_create(ffi.NULL, handle, sink, ffi.NULL) == 0
    memory = ffi.gc(handle[0], lib.taut_memory_sink_destroy)
    assert run.march(sink, None, ffi.NULL) == 0
    rows = new_struct("taut_memory_rows")
    assert lib.taut_memory_sink_get(memory, rows, ffi.NULL) == 0
    arrays, _ = _arrays(run.system, rows, memory, None, None)
    for name, member in (("t", "t"), ("q", "q"), ("v", "v"), ("lam", "lambda"),
                         ("outputs", "output"), ("energy", "energy"), ("drift", "drift")):
        address = arrays[name].__array_interface__["data"][0]
        assert address == int(ffi.cast("uintptr_t", getattr(rows, member))), name
        with pytest.raises(ValueError, match="read-only"):
            arrays[name][0] = 1


def test_arrays_outlive_everything_else():
    q = taut.Model("double_pendulum").solve((0, 1)).q
    before = q.copy()
    gc.collect()
    for _ in range(20):
        taut.Model("double_pendulum", omega=77).solve((0, 1))
    assert np.array_equal(q, before)


def test_t_eval():
    model = taut.Model("double_pendulum")
    for times in (np.linspace(0, 10, 501), [0.3, 0.31, 2, 9.99], [10.0], np.linspace(5, 0, 7)):
        span = (0, 10) if times[-1] >= times[0] else (5, 0)
        run = model.solve(span, t_eval=times, rtol=1e-9)
        assert np.allclose(run.t, times, rtol=0, atol=1e-12) and not run.q.flags.writeable
        assert np.allclose(run.q[:, -1], run.sol(times[-1]).q, rtol=0, atol=1e-9)
    assert model.solve(t_eval=[0, 3]).t[-1] == 3
    with pytest.raises(taut.Error, match="is not between"):
        model.solve((0, 1), t_eval=[0, 2])


def test_events():
    model = taut.Model("bouncing_ball")
    run = model.solve()
    times = run.t_events["floor_hit"]
    assert len(times) > 2 and all(np.abs(run.t - t).min() == 0 for t in times)
    assert model.solve(events=[]).t_events == {}
    assert list(model.solve(events=["floor_hit"]).t_events) == ["floor_hit"]
    with pytest.raises(taut.Error, match="did you mean 'floor_hit'"):
        model.solve(events=["floor_hut"])


def test_an_event_ends_a_run():
    text = "[coordinates]\nx\n[forces]\nx = -2\n[start]\nx = 1\n[events]\nfloor = x falling stop\n"
    run = taut.Model(text).solve((0, 5))
    assert run.success and run.status == 1 and run.info["event"] == "floor"
    assert abs(run.t[-1] - 1) < 1e-9 and abs(run.t_events["floor"][0] - 1) < 1e-9


def test_dense_output(run):
    kept = taut.Model("double_pendulum", omega=200).solve((0, 10), motion="slow", rtol=1e-8,
                                                          dense_output=True)
    for t in (0, 3.217, 10):
        assert np.array_equal(kept.sol(t).q, run.sol(t).q)
    k = 37
    assert np.allclose(run.sol(run.t[k]).q, run.q[:, k], rtol=0, atol=1e-10)
    assert run.sol(3.217)["inner"] == run.sol(3.217).lam[0]
    with pytest.raises(taut.Error):
        run.sol(11)
    several = run.sol([0, 3.217, 10])
    assert several.q.shape == several.v.shape == (4, 3) and several.lam.shape == (2, 3)
    assert np.array_equal(several["inner"], [run.sol(t)["inner"] for t in (0, 3.217, 10)])
    assert "3 states" in str(several) and run.sol([]).q.shape == (4, 0)


def test_a_failed_run_has_its_rows():
    text = "[coordinates]\nx\n[forces]\nx = 1/(1 - t)\n"
    with pytest.raises(taut.Error) as caught:
        taut.Model(text).solve((0, 2), verify="never")
    assert caught.value.t <= 1.01 and not caught.value.result.success
    assert len(caught.value.result) > 10 and caught.value.result.message == caught.value.message


@pytest.mark.parametrize("name", ["run.npz", "run.h5"])
def test_files(run, tmp_path, name):
    if name.endswith("h5"):
        pytest.importorskip("h5py")
    run.save(tmp_path / name)
    again = taut.load(tmp_path / name)
    same_run(again, run)
    assert again.info["rtol"] == 1e-8 and again.info["looks"] == run.info["looks"]
    assert again.texts["model"] == taut.Model("double_pendulum").text
    assert "set = omega=200\n" in again.texts["settings"]
    with pytest.raises(ValueError, match="read-only"):
        again.q[0] = 1
    for t in (0, 3.217, 10):
        assert np.array_equal(again.sol(t).q, run.sol(t).q)
    with pytest.raises(ValueError, match="ends in .h5 or .npz"):
        run.save(tmp_path / "run.txt")


def same_run(one, other):
    for part in ("t", "q", "v", "lam", "outputs", "energy", "drift"):
        assert np.array_equal(getattr(one, part), getattr(other, part), equal_nan=True), part
    for name in ("columns", "message", "status", "success", "motion", "method", "model",
                 "explanation", "statistics", "warnings"):
        assert getattr(one, name) == getattr(other, name), name
    assert np.array_equal(one.error, other.error, equal_nan=True)
    assert one.t_events.keys() == other.t_events.keys()
    assert all(np.array_equal(one.t_events[name], other.t_events[name]) for name in one.t_events)


@pytest.mark.parametrize("name", ["bouncing_ball", "truss", "robertson_dae", "cart"])
def test_saved_runs_have_events_tables_and_first_order(tmp_path, name):
    pytest.importorskip("h5py")
    run = taut.Model(name).solve((0, 0.5))
    for file in ("a.h5", "a.npz"):
        run.save(tmp_path / file)
        same_run(taut.load(tmp_path / file), run)


def test_a_loaded_run_is_repeated(tmp_path):
    def loaded(run):
        run.save(tmp_path / "a.npz")
        return taut.load(tmp_path / "a.npz")
    # an initial state and tables, an event, a run that was interrupted
    state = taut.Model("double_pendulum").at({"x1'": 0.1}).initial()
    for name, start, how in (("double_pendulum", state, dict(motion="rigid", until=2)),
                             ("truss", {}, dict(until=0.02)), ("bouncing_ball", {}, {}),
                             ("double_pendulum", {"y2": 0.1}, dict(until=1000, motion="full",
                                                                   progress=lambda *now: True))):
        run = taut.Model(name).at(start).solve(verify="never", **how)
        again, t = loaded(run), run.t[len(run) // 3]
        assert np.array_equal(again.sol(t).q, run.sol(t).q), name
    # not the model of the rows; another version; no model; no rows
    again = loaded(run)
    again.texts["model"] = again.texts["model"].replace("x1", "z1")
    with pytest.raises(taut.Error, match="do not belong to the model"):
        again.sol(0)
    again = loaded(taut.Model("bouncing_ball").solve((0, 1)))
    again.texts["settings"] += "set = gravity=7\n"
    with pytest.raises(taut.Error, match="differs from the rows of the file by"):
        again.sol(0.5)
    made = taut.Model.from_functions(lambda t, q, v: -q, 1, q0=[1.0]).solve((0, 1))
    with pytest.raises(taut.Error, match="was made in Python"):
        loaded(made).sol(0.5)
    assert abs(made.sol(0.5).q[0] - np.cos(0.5)) < 1e-3


def test_an_event_between_the_rows_is_kept(tmp_path):
    run = taut.Model("bouncing_ball").solve((0, 8), t_eval=[0, 8])
    run.save(tmp_path / "a.npz")
    assert len(run.t_events["floor_hit"]) > 2
    same_run(taut.load(tmp_path / "a.npz"), run)


def test_a_failed_run_is_loaded(tmp_path):
    with pytest.raises(taut.Error) as caught:
        taut.Model("[coordinates]\nx\n[forces]\nx = 1/(1 - t)\n").solve((0, 2), verify="never")
    caught.value.result.save(tmp_path / "a.npz")
    same_run(taut.load(tmp_path / "a.npz"), caught.value.result)


def test_later_files_are_refused(run, tmp_path, monkeypatch):
    for name in ("run.npz", "run.h5"):
        if name.endswith("h5"):
            pytest.importorskip("h5py")
        monkeypatch.setattr("taut._files.FORMAT", 99)
        run.save(tmp_path / name)
        monkeypatch.undo()
        with pytest.raises(taut.Error, match="newer version"):
            taut.load(tmp_path / name)


def program():
    """The full program: the one next to the package has no HDF5."""
    path = os.environ.get("TAUT_FULL_PROGRAM", "")
    if not os.path.exists(path) or b"hdf5" not in subprocess.run([path, "--version"], capture_output=True).stdout:
        pytest.skip("no program with HDF5")
    pytest.importorskip("h5py")
    return path


def test_files_of_the_program(tmp_path):
    """What `taut run --out a.h5` wrote is what solve gives; the program reads what save wrote."""
    taut_program = program()
    for name in ("double_pendulum", "bouncing_ball", "truss", "robertson_dae", "chain"):
        path = str(tmp_path / f"{name}.h5")
        subprocess.run([taut_program, "run", name, "--until", "0.5", "--out", path, "--quiet"],
                       check=True)
        loaded = taut.load(path)
        same = taut.Model(name).solve(until=0.5)
        assert loaded.success and loaded.message == same.message and loaded.model == name
        assert loaded.columns == same.columns and len(loaded) == len(same)
        assert loaded.texts["model"] == taut.Model(name).text and "run" in loaded.texts["command"]
        assert loaded.t_events.keys() == same.t_events.keys()
        assert set(same.info) - {"caution", "event", "resonance_modes"} <= set(loaded.info)
        t = loaded.t[len(loaded) // 2]
        assert np.abs(loaded.sol(t).q[:, None] - loaded.q[:, loaded.t == t]).min() < 1e-9
        own = str(tmp_path / f"{name}-own.h5")
        same.save(own)
        shown = subprocess.run([taut_program, "show", own], check=True, capture_output=True,
                               text=True).stdout
        assert f"{len(same)} rows" in shown and "done" in shown
        again = str(tmp_path / f"{name}-again.h5")
        subprocess.run([taut_program, "run", own, "--out", again, "--quiet"], check=True)
        assert np.allclose(taut.load(again).q, same.q, rtol=1e-6, atol=1e-8)


def test_an_unfinished_file_of_the_program(tmp_path):
    taut_program = program()
    path = tmp_path / "a.h5"
    run = subprocess.Popen([taut_program, "run", "double_pendulum", "--motion", "full", "--set",
                            "omega=100", "--until", "1e6", "--every", "1", "--verify", "never",
                            "--quiet", "--out", str(path)])
    while not path.exists() and run.poll() is None:
        time.sleep(0.05)
    run.kill()
    run.wait()
    loaded = taut.load(path)
    assert not loaded.success and loaded.status == 2 and "no end" in loaded.message
    assert loaded.motion == "full" and "dop8" in loaded.explanation and loaded.texts["model"]
    assert loaded.q.shape == loaded.v.shape == (4, len(loaded))
    if len(loaded) > 2:
        assert np.allclose(loaded.sol(loaded.t[1]).q, loaded.q[:, 1], rtol=0, atol=1e-9)


def test_a_run_goes_on_from_a_row(run):
    model = taut.Model("double_pendulum", omega=200)
    rest = model.at(run.state(200)).solve((run.t[200], 10), motion="slow", rtol=1e-8)
    assert np.allclose(rest.q[:, -1], run.q[:, -1], rtol=0, atol=1e-6)


def test_tables(run):
    pandas = pytest.importorskip("pandas")
    frame = run.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == list(run.columns)
    assert np.array_equal(frame["lambda(inner)"], run["inner"])
    pytest.importorskip("xarray")
    data = run.to_xarray()
    assert np.array_equal(data.q.sel(q_name="x2"), run["x2"]) and data.attrs["model"] == run.model


def test_tables_of_notebooks_are_markup():
    model = taut.Model("# a < b & c\n[coordinates]\nx\n[potential]\nx^2\n[start]\nx = 1\n")
    shown = [model, model.check(), model.project(), model.solve((0, 1)), model.initial(),
             taut.Model("double_pendulum").spectrum()]
    for one in shown:
        page = one._repr_html_()
        assert page.startswith("<table>") and page.endswith("</table>")
        assert page.count("<tr>") == page.count("</tr>") >= 1
    assert "a &lt; b &amp; c" in model._repr_html_()


def test_plot(run):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.figure()
    axes = run.plot(["x1", "inner"])
    assert [line.get_label() for line in axes.lines] == ["x1", "inner"]
    assert len(run.plot(ax=axes.figure.add_subplot()).lines) == 4
