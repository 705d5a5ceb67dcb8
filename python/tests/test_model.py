"""Models: sources, names, parameters, initial states, systems made in Python, verbs."""
import threading

import numpy as np
import pytest

import taut

PENDULUM = """# a rod
[parameters]
g = 9.81, N = 1, T = 2, dt = 0.5
[coordinates]
x, y
[forces]
y = -g
[bonds]
rod = sqrt(x^2 + y^2) - N
[start]
x = N
[events]
low = y rising then x' = x'
[outputs]
height = y
[run]
until = T
every = dt
"""


def test_sources(tmp_path, monkeypatch):
    path = tmp_path / "rod.taut"
    path.write_text(PENDULUM)
    for source in (PENDULUM, path, str(path)):
        model = taut.Model(source)
        assert (model.title, model.kind, model.text) == ("a rod", "mechanical", PENDULUM)
    monkeypatch.setenv("TAUT_MODELS", str(tmp_path))
    assert taut.Model("rod").coordinates == ("x", "y") and "rod" in taut.models()
    assert len(taut.models()) > 40
    with pytest.raises(taut.Error, match="did you mean 'double_pendulum'"):
        taut.Model("double_pendulm")


def test_names():
    model = taut.Model(PENDULUM)
    assert model.coordinates == ("x", "y") and model.bonds == ("rod",)
    assert model.outputs == ("height",) and model.events == ("low",)
    assert model.sizes["coordinates"] == 2 and model.warnings == []
    assert "rod" in repr(model) and "<table>" in model._repr_html_()
    assert taut.Model("michaelis_menten").kind == "first order"


def test_errors_have_their_place():
    with pytest.raises(taut.Error) as caught:
        taut.Model(PENDULUM.replace("-g", "-gg"))
    error = caught.value
    assert (error.name, error.line, error.column) == ("TAUT_ERROR_MODEL", 7, 6)
    assert error.source == "y = -gg" and "unknown name 'gg'" in error.message
    with pytest.raises(taut.Error, match="did you mean rtol") as caught:
        taut.Model(PENDULUM).solve(rtl=1e-3)
    assert caught.value.option == "rtl" and caught.value.code == -1
    with pytest.raises(taut.Error, match="expected a number"):
        taut.Model(PENDULUM).solve(max_step="far")
    for name in ("out", "hold", "json"):
        with pytest.raises(taut.Error, match="not an option of this method"):
            taut.Model(PENDULUM).solve(**{name: "x"})
    assert set(taut.options()) > {"rtol", "max_step", "hold"} and "out" not in taut.options()


def test_parameters_change_at_once():
    model = taut.Model(PENDULUM, g=1)
    base = model._base
    assert dict(model.parameters) == {"g": 1, "N": 1, "T": 2, "dt": 0.5} and len(model.parameters) == 4
    model.parameters["g"] = 4
    assert model._base is base, "it was read again"
    other = taut.Model(PENDULUM, g=4)
    assert np.array_equal(model.solve().q, other.solve().q)
    model.set(T=1)  # a setting of [run] follows
    assert model._base is base and model.solve().t[-1] == 1 and model.parameters["g"] == 4
    model.set(N="3/2")  # an expression: read again
    assert model._base is not base and model.initial()["x"] == 1.5
    with pytest.raises(taut.Error, match="every"):
        model.set(dt=-1)
    assert model.parameters["dt"] == 0.5 and model.solve().t[1] == 0.5
    with pytest.raises(KeyError, match="did you mean 'g'"):
        model.parameters["gg"] = 1
    with pytest.raises(taut.Error):
        model.set(N=float("nan"))
    assert model.parameters["N"] == 1.5
    with pytest.raises(TypeError):
        del model.parameters["g"]
    assert "'g': 4.0" in repr(model.parameters)


def test_a_run_keeps_the_parameters_it_had():
    model = taut.Model("double_pendulum", omega=200)
    run = model.solve((0, 1))
    before = run.q[:, -1].copy()
    model.set(omega=50)
    assert np.allclose(run.sol(1).q, before, rtol=0, atol=1e-12)


def test_initial_states():
    model = taut.Model(PENDULUM)
    assert model.at({"x": 0.6, "y": "-8/10", "x'": 1}).initial()["x'"] == 1
    state = model.solve((0, 1)).sol(1)
    again = model.at(state)
    assert np.array_equal(again.initial(1).q, state.q)
    assert np.array_equal(again.initial(1).v, state.v)
    both = model.at(state).at({"x'": 5}).initial()
    assert both["x'"] == 5 and both["y"] == state["y"]
    assert model.initial()["x"] == 1 and "x" in str(state) and "<table>" in state._repr_html_()
    assert taut.Model(PENDULUM, init={"x": 0, "y": -1}).initial()["y"] == -1


def test_tables_from_memory():
    text = "[tables]\nd = data.csv\n[coordinates]\nx\n[start]\nx = d.height[1]\n"
    assert taut.Model(text, tables={"data.csv": "height\n2.5\n"}).initial()["x"] == 2.5


def test_check():
    report = taut.Model("double_pendulum").check()
    assert report.usable and report.rank == 2 and report.motion == "slow"
    assert report.frequency_most > report.frequency_least > 0 and report.advice in str(report)
    assert report.derivatives[0]["deviation"] < report.derivatives[0]["limit"]
    assert "<table>" in report._repr_html_()
    assert taut.Model("double_pendulum").check(no_derivatives=True).derivatives == []
    with pytest.raises(AttributeError):
        report.nothing


def test_project():
    model = taut.Model("double_pendulum", omega=1000)
    point = model.project(method="series", hold=["y2"])
    assert point.success and point.method == "series" and point["y2"] == point.start["y2"]
    assert point.lam.shape == (2,) and 0 < point.moved_normal < 0.1 and point.warnings == []
    assert np.allclose(model.at(point).project(method="series").q, point.q, rtol=0, atol=1e-9)
    failed = model.project(method="ipa", passes=1)
    assert not failed.success and "pass" in failed.message


def test_spectrum():
    model = taut.Model("double_pendulum", omega=1000)
    found = model.spectrum(at=model.project())
    assert found.frequencies.shape == (2,) and found.complete and found.energies.shape == (2,)
    assert abs(sum(found.modes[0]["bonds"].values()) - 1) < 1e-12 and "%" in str(found)
    assert model.spectrum(modes=1).frequencies.shape == (1,)
    rates = taut.Model("michaelis_menten").spectrum()
    assert rates.rates.real.max() < 0 and rates.slow == 1 and rates.advice
    for wrong in (dict(frequency=1), dict(rtol=1e-3)):
        with pytest.raises(taut.Error):
            model.spectrum(**wrong)


def test_spectrum_along_a_run():
    model = taut.Model("crossing")  # tests/test_crossing.c has the closed form
    run = model.solve(motion="full", verify="never")
    found = model.spectrum(along=run)
    assert np.array_equal(found.t, run.t) and found.frequencies.shape == (2, len(run))
    last = model.at(run.state()).spectrum()
    assert np.array_equal(found.frequencies[:, -1], last.frequencies)
    assert np.array_equal(found.actions[:, -1], last.actions)
    (met,) = found.resonances
    assert (met["j"], met["k"], met["l"]) == (1, 0, -1) and abs(met["t"] / 0.9138 - 1) < 0.01
    assert abs(met["share"] - 0.5) < 0.05 and abs(met["change"].sum()) < 1e-5
    assert met["moved"] == [met["change"][1], met["change"][0]]
    assert abs(found.gaps.min() - met["gap"]) < 1e-3 and "mode 2 ~ mode 1" in str(found)
    with pytest.raises(ValueError, match="read-only"):
        found.actions[0] = 1
    for wrong, about in ((taut.Model("double_pendulum").solve((0, 0.1)), "along"), (run, "at")):
        with pytest.raises(taut.Error) as caught:
            model.spectrum(along=wrong, at={"x": 1} if about == "at" else None)
        assert caught.value.option == about
    with pytest.raises(taut.Error, match="no modes"):
        decay = taut.Model("michaelis_menten")
        decay.spectrum(along=decay.solve((0, 0.1)))


def test_from_functions():
    model = taut.Model.from_functions(
        force=lambda t, q, v: [0, -9.81], bonds=lambda t, q: np.hypot(*q) - 1, n=2, q0=[1, 0],
        jacobian=lambda t, q: [q / np.hypot(*q)], energy=lambda t, q: 9.81 * q[1],
        names=["x", "y"], bond_names=["rod"])
    same = taut.Model(PENDULUM)
    a, b = model.solve((0, 2), rtol=1e-10), same.solve((0, 2), rtol=1e-10)
    assert np.allclose(a.q[:, -1], b.q[:, -1], atol=1e-8) and a["rod"].shape == a.t.shape
    assert np.allclose(a.energy, 0, atol=1e-7)
    assert model.at({"y": -1, "x": 0}).initial()["y"] == -1 and model.initial()["x"] == 1
    spring = taut.Model.from_functions(lambda t, q, v: 0 * q, 1, lambda t, q: q, q0=[1], mass=4,
                                       compliance=1.0, damping=0.0)
    assert abs(spring.solve((0, 2 * np.pi), motion="full").q[0, -1] + 1) < 1e-5
    heavy = taut.Model.from_functions(lambda t, q, v: [1.0], 1, mass_matrix=lambda t, q: [[2.0]])
    assert abs(heavy.solve((0, 2)).q[0, -1] - 1) < 1e-9
    with pytest.raises(ValueError, match="shape"):
        taut.Model.from_functions(lambda t, q, v: 0 * q, 2, q0=[1, 2, 3])
    with pytest.raises(ValueError, match="names"):
        taut.Model.from_functions(lambda t, q, v: 0 * q, 2, names=["x"])
    with pytest.raises(taut.Error, match="no coordinate 'z'"):
        model.at({"z": 1})


def test_functions_of_time():
    # nobody says that the rod becomes longer, or that the force changes: it is found out
    def moving(**more):
        return taut.Model.from_functions(
            lambda t, q, v: [0, -9.81], 2, lambda t, q: [np.hypot(*q) - 1 - 0.1 * np.sin(t)],
            q0=[1, 0], v0=[0.1, 0], **more).solve((0, 1), rtol=1e-8)
    found, said = moving(), moving(time_dependent=True)
    assert np.array_equal(found.q, said.q) and found.error < 1e-5
    driven = taut.Model.from_functions(lambda t, q, v: [np.cos(t)], 1, energy=lambda t, q: 0.0)
    assert abs(driven.solve((0, 1), rtol=1e-9).q[0, -1] - (1 - np.cos(1))) < 1e-8
    assert taut.Model.from_functions(lambda t, q, v: -q - 0.3 * v, 1, q0=[1.0]).check().usable


def test_from_bonds():
    mass, pairs = np.array([1.0, 2.0]), [[0, -1], [0, 1]]
    rest = dict(length=1.0, position=[[1.0, 0], [2, 0]], gravity=[0, -9.81],
                anchors=np.zeros((2, 2)))
    rigid = taut.Model.from_bonds(mass, pairs, compliance=0, **rest).solve((0, 1), rtol=1e-9)
    q = rigid.q[:, -1].reshape(2, 2)
    assert abs(np.hypot(*q[0]) - 1) < 1e-8 and abs(np.hypot(*(q[1] - q[0])) - 1) < 1e-8
    text = """[particles]
dimension = 2
p[1] mass 1
p[2] mass 2
[potential]
9.81*(p[1].y + 2*p[2].y)
[bonds]
a = length(p[1]) - 1
b = length(p[2] - p[1]) - 1
[start]
p[1] = (1, 0)
p[2] = (2, 0)
"""
    other = taut.Model(text).solve((0, 1), rtol=1e-9)
    assert np.allclose(rigid.q[:, -1], other.q[:, -1], atol=1e-7)
    soft = taut.Model.from_bonds(mass, pairs, compliance=[1e-4, 0], name="link", **rest)
    assert soft.bonds == ("link[1]", "link[2]") and soft.check().frequencies == 1
    assert soft.at({"p[1].x": 0.5}).initial()["p[1].x"] == 0.5
    natural = taut.Model.from_bonds(mass, pairs, **{**rest, "length": None})
    assert np.array_equal(natural.solve((0, 1), rtol=1e-9).q, rigid.q)
    # without positions: along x from the origin, where nothing else is given
    assert np.array_equal(taut.Model.from_bonds(1, [[0, -1], [1, 0]], [1, 2]).initial().q, [1, 0, 3, 0])
    star = taut.Model.from_bonds(1, [[0, 1], [2, 0], [0, 3], [4, 5]], 2, gravity=[0, 0, -1])
    assert np.isfinite(star.initial().q).all() and star.check().rank == 4
    apart = star.initial().q.reshape(6, 3)
    assert np.allclose([np.linalg.norm(apart[i] - apart[j]) for i, j in ((0, 1), (2, 0), (4, 5))], 2)
    with pytest.raises(taut.Error, match="do not determine where their particles are") as caught:
        taut.Model.from_bonds(1, [[0, 1], [1, 2], [2, 0]], 1)
    assert caught.value.option == "position"
    with pytest.raises(taut.Error, match="one of both"):
        taut.Model.from_bonds(1, [[0, 1]])
    with pytest.raises(ValueError, match="position"):
        taut.Model.from_bonds(1, [[0, 1]], 1, position=[1, 2])
    with pytest.raises(ValueError, match="particles 0 to 1"):
        taut.Model.from_bonds(1, [[0, 7]], position=[[0, 0], [1, 0]])
    with pytest.raises(taut.Error):
        taut.Model.from_bonds(1, [[0, 7]], 1, position=[[0, 0], [1, 0]])


def test_from_flow():
    def simulator(t, horizon, z):  # x' = -x, y fast towards x^2
        x, count = z[0], 200
        y = z[1]
        for _ in range(count):
            h = horizon / count
            y += h * -100 * (y - x * x)
            x += h * -x
        return [x, y]
    model = taut.Model.from_flow(simulator, [1.0, 3.0], names=["x", "y"], observables=[0],
                                 horizon=0.05)
    assert model.kind == "black box" and model.coordinates == ("x", "y")
    point = model.project(order=2)
    # y = x^2 + 2 x^2/100 + ... : 100 (y - x^2) = -y' = 2 y
    assert point["x"] == 1 and abs(point["y"] - 1 / (1 - 0.02)) < 1e-3
    assert model.at({"y": 1.0}).initial()["y"] == 1
    assert model.spectrum(horizon=0.05).slow == 1


def test_a_flow_with_an_internal_state():
    # y relaxes by the memory of the simulator, not by what it is given; restored, it is a function
    memory = {"lag": 3.0, "calls": 0}

    def advance(t, horizon, z):
        x = z[0] * np.exp(-horizon)
        memory["lag"] = x + (memory["lag"] - z[0]) * np.exp(-50 * horizon)
        memory["calls"] += 1
        return [x, memory["lag"]]

    def save():
        return np.array([memory["lag"]]).tobytes()

    def restore(data):
        restored.append(len(data))
        memory["lag"] = np.frombuffer(data)[0]
    restored = []
    how = dict(names=["x", "y"], horizon=0.1, save=save, restore=restore)
    model = taut.Model.from_flow(advance, [1.0, 3.0], **how)
    first, second = (model.solve((0, 1), verify="never").q[:, -1] for _ in range(2))
    assert np.array_equal(first, second) and set(restored) == {8} and memory["calls"] > 10
    assert abs(first[0] - np.exp(-1)) < 1e-12 and abs(first[1] - first[0]) < 1e-12
    with pytest.raises(taut.Error, match="belong together") as caught:
        taut.Model.from_flow(advance, [1.0, 3.0], save=save)
    assert caught.value.option == "save"
    sizes = [b"a", b"ab"]
    with pytest.raises(ValueError, match="save returned 2 bytes, and 1"):
        taut.Model.from_flow(advance, [1.0, 3.0], save=lambda: sizes.pop(0), restore=restore)


def test_stepper(tmp_path):
    model, path = taut.Model(PENDULUM), tmp_path / "a.chk"
    st = model.stepper((0, 2), motion="rigid", rtol=1e-9)
    st.advance(0.5)
    st.checkpoint(path)
    far = st.advance(1.5)
    other = model.stepper((0, 2), motion="rigid", rtol=1e-9, resume=path)
    assert other.t == 0.5 and np.array_equal(other.advance(1.5).q, far.q)
    assert np.array_equal(st.q, far.q) and np.array_equal(st.v, far.v) and st.lam.shape == (1,)
    assert abs(st.step().t - 1.502) < 1e-12 and abs(st.step(0.1).t - 1.602) < 1e-12
    assert st.restart(0.0, q=[0, -1], v=[1, 0])["x'"] == 1
    assert st.info["statistics"]["steps"] > 0 and st.info["method"] == "dop8"
    with pytest.raises(taut.Error, match="checkpoint|saved|bytes"):
        path.write_bytes(path.read_bytes()[:-9])
        model.stepper((0, 2), motion="rigid", rtol=1e-9, resume=path)
    free = taut.Model("[coordinates]\nx\n[run]\nuntil = 2\n")
    assert abs(free.stepper().step().t - 0.002) < 1e-15
    assert model.stepper((0, 2), motion="rigid", method="rattle", step=0.01).step().t == 0.01


def test_threads_share_a_model():
    model = taut.Model("double_pendulum")
    alone, found = model.solve((0, 5)).q, {}
    threads = [threading.Thread(target=lambda k=k: found.update({k: model.solve((0, 5)).q}))
               for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(found[k], alone) for k in range(4))
