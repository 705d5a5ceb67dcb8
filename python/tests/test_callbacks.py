"""Python functions that Taut calls: they may fail, block, call Taut; and signals."""
import gc
import os
import signal
import threading
import time

import numpy as np
import pytest

import taut
from taut import _library


class Broken(Exception):
    pass


def model(force, **more):
    return taut.Model.from_functions(force, 1, **more)


@pytest.mark.parametrize("after", [0, 1, 5, 50])
def test_an_exception_comes_back_as_itself(after):
    calls, thrown = [], Broken("here")

    def force(t, q, v):
        calls.append(t)
        if len(calls) > after:
            raise thrown
        return -q
    with pytest.raises(Broken) as caught:
        model(force, q0=[1.0]).solve((0, 10))
    assert caught.value is thrown and len(calls) == after + 1, "it was called again"
    assert model(lambda t, q, v: -q, q0=[1.0]).solve((0, 1)).success  # nothing is left behind


@pytest.mark.parametrize("which", ["bonds", "jacobian", "gamma", "energy", "mass_matrix"])
def test_every_callback_may_raise(which):
    def fail(*arguments):
        if len(calls) > 2:
            raise Broken(which)
        calls.append(which)
        return good[which](*arguments)
    calls = []
    good = dict(bonds=lambda t, q: [q[0] - q[1]], jacobian=lambda t, q: [[1.0, -1.0]],
                gamma=lambda t, q, v: [0.0], energy=lambda t, q: 0.0,
                mass_matrix=lambda t, q: np.eye(2))
    with pytest.raises(Broken, match=which):
        functions = {**good, which: fail}
        taut.Model.from_functions(lambda t, q, v: [1.0, 0.0], 2, **functions).solve((0, 1))


def test_results_of_the_wrong_kind():
    with pytest.raises(ValueError):
        model(lambda t, q, v: [1, 2, 3]).solve((0, 1))
    with pytest.raises(TypeError):
        model(lambda t, q, v: None).solve((0, 1))


def test_nan():
    # beyond x = 2 nothing can be evaluated: the run ends near it
    with pytest.raises(taut.Error) as caught:
        model(lambda t, q, v: [np.nan if q[0] > 2 else 1.0]).solve((0, 10), verify="never")
    assert caught.value.t < 2.1 and caught.value.result.q.max() <= 2.01
    with pytest.raises(taut.Error, match="not a number"):
        model(lambda t, q, v: [np.nan]).solve((0, 1))


def test_a_callback_calls_taut():
    inner = taut.Model("pendulum")

    def force(t, q, v):
        if len(calls) < 5:
            calls.append(inner.solve((0, 0.1), verify="never").success)
            with pytest.raises(taut.Error):
                inner.solve(rtol=-1)
        return -q
    calls = []
    assert model(force, q0=[1.0]).solve((0, 1)).success and calls == [True] * 5


def test_the_gil_is_free():
    # a callback that waits for another Python thread, which runs Taut, too
    def other():
        taut.Model("double_pendulum").solve((0, 1))
        done.set()

    def force(t, q, v):
        if not started:
            started.append(threading.Thread(target=other))
            started[0].start()
            assert done.wait(60)
        return -q
    started, done = [], threading.Event()
    assert model(force, q0=[1.0]).solve((0, 1)).success
    started[0].join()


def test_python_runs_during_a_call():
    ticks, stop = [], threading.Event()

    def count():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(1e-3)
    thread = threading.Thread(target=count)
    thread.start()
    begin = time.monotonic()
    taut.Model("double_pendulum").solve((0, 5), motion="full", rtol=1e-10, verify="never")
    end = time.monotonic()
    stop.set()
    thread.join()
    inside = [t for t in ticks if begin < t < end]
    assert len(inside) >= 5, f"{len(inside)} in {end - begin} s"


def test_a_flow_may_raise():
    def advance(t, horizon, z):
        raise Broken
    with pytest.raises(Broken):
        taut.Model.from_flow(advance, [1.0, 2.0], observables=[0], horizon=0.1).project()


def test_progress_ends_a_run():
    calls = []
    run = taut.Model("double_pendulum").solve(
        (0, 1000), motion="full", verify="never",
        progress=lambda t, until, steps: calls.append((t, until, steps)) or True)
    assert run.status == 2 and not run.success and len(calls) == 1 and calls[0][1] == 1000
    assert 0 < run.t[-1] < 1000

    def fail(t, until, steps):
        raise Broken
    with pytest.raises(Broken):
        taut.Model("double_pendulum").solve((0, 1000), motion="full", progress=fail)


def interrupted(call, after=0.3):
    gc.collect()  # what is raised in a destructor is lost
    timer = threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    finished = []
    with pytest.raises(KeyboardInterrupt):
        finished.append(call())
        timer.join()
    timer.join()
    assert not finished


def test_control_c():
    free = model(lambda t, q, v: -q, q0=[1.0])
    double = taut.Model("double_pendulum")
    interrupted(lambda: double.solve((0, 1e6), motion="full", verify="never"))
    interrupted(lambda: free.solve((0, 1e6), verify="never"))  # inside a callback
    spring = taut.Model("[coordinates]\nx\n[potential]\nx^2/2\n[start]\nx = 1\n")
    st = spring.stepper((0, 1e9), rtol=1e-12)
    interrupted(lambda: st.advance(1e9))
    end = st.t + 1  # the stepper is where it was, and goes on
    assert st.t > 1 and abs(st.advance(end).q[0] - np.cos(end)) < 1e-4


@pytest.mark.parametrize("name, verb", [("cloth", "project"), ("water_box", "check"),
                                        ("cloth", "spectrum")])
def test_control_c_in_calls_without_steps(name, verb):
    # what takes 0.4 to 1.2 s where nobody interrupts it: it goes on in its thread
    one = taut.Model(name)
    interrupted(getattr(one, verb), 0.05)
    (behind,) = [thread for thread in threading.enumerate() if thread.name == "taut"]
    assert taut.Model("double_pendulum").project().success
    del one  # the thread keeps what it needs
    gc.collect()
    behind.join()


@pytest.mark.parametrize("verb", ["solve", "stepper"])
def test_control_c_while_a_solver_is_made(verb):
    one = taut.Model("chain", N=30000)
    interrupted(lambda: getattr(one, verb)((0, 1), motion="slow", verify="never"), 0.05)
    for behind in [thread for thread in threading.enumerate() if thread.name == "taut"]:
        behind.join()


def test_what_an_interrupted_call_finds_is_dropped():
    system, dropped, go = taut.Model("pendulum")._system, [], threading.Event()

    def found():
        return _library.interruptible(system, go.wait, drop=lambda: dropped.append(1))
    interrupted(found)
    (behind,) = [thread for thread in threading.enumerate() if thread.name == "taut"]
    assert not dropped
    go.set()
    behind.join()
    assert dropped == [1] and found() and dropped == [1]  # what is returned is kept
