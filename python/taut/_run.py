"""Runs: solvers, their rows as arrays, steppers."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np

from ._library import (Array, Error, System, check, copy, doubles, ffi, interruptible, lib,
                       make_options, members, new_error, new_struct, owned, reals, text, texts, view)
from ._result import Result, State
from ._systems import recorded

LARGE = 2000  # coordinates, from which on making a solver may take long enough for Ctrl-C


def span(options: dict[str, Any], t_span: Optional[tuple[float, float]]) -> dict[str, Any]:
    if t_span is None:
        return options
    try:
        begin, end = (float(t) for t in t_span)
    except (TypeError, ValueError):
        raise ValueError(f"t_span: expected (begin, end), found {t_span!r}") from None
    return {**options, "from": begin, "until": end}


class Run:
    """A taut_solver of a system and keywords."""

    def __init__(self, system: System, given: Mapping[str, Any]) -> None:
        self.system, self.given = system, dict(given)
        handle, error = ffi.new("taut_solver **"), new_error()
        options = make_options("run", given)
        create = system.pointer, options, ffi.NULL, handle, error
        status = lib.taut_solver_create(*create) if system.n < LARGE else interruptible(
            system, lib.taut_solver_create, *create,
            drop=lambda: lib.taut_solver_destroy(handle[0]))
        self.solver = owned(handle[0], lib.taut_solver_destroy, system) if handle[0] else None
        check(status, error)

    def march(self, sinks: Any, progress: Optional[Callable[..., Any]], error: Any) -> int:
        handle = ffi.new_handle(progress or (lambda t, until, steps: False))
        return int(lib.taut_solver_run(self.solver, sinks, 0 if sinks == ffi.NULL else 1,
                                       lib.taut_python_progress, handle, error))

    def keep(self) -> None:
        error = new_error()
        check(lib.taut_solver_keep(self.solver, True, error), error)

    def dense(self, until: Optional[float] = None) -> Callable[[float], State]:
        """The same run again, with its steps; until: where one that was not finished ends."""
        cut = {} if until is None else {"until": until, "verify": "never"}
        again, error = Run(self.system, {**self.given, **cut}), new_error()
        again.keep()
        check(again.march(ffi.NULL, None, error), error)
        return again.interpolate

    def interpolate(self, t: float) -> State:
        system, error = self.system, new_error()
        q, v, lam = (np.zeros(k) for k in (system.n, system.velocities, system.multipliers))
        check(lib.taut_solver_interpolate(self.solver, t, doubles(q), doubles(v), doubles(lam),
                                          error), error)
        return State(system.columns, t, q, v, lam)

    def report(self, status: int, message: str, title: str) -> dict[str, Any]:
        result = new_struct("taut_result")
        check(lib.taut_solver_result_get(self.solver, result, ffi.NULL), None)
        values = members(result)
        values.update(status=status, title=title, explanation=text(
            lib.taut_solver_explanation(self.solver)), message=message, warnings=[
                *texts(lib.taut_solver_warning, self.solver),
                *texts(lib.taut_solver_notice, self.solver)])
        if values["caution"]:
            values["warnings"].append(values["caution"])
        return values

    def result(self, model: str, title: str, texts: Callable[[], dict[str, str]],
               times: Optional[Array], events: Optional[Sequence[str]], dense: bool,
               progress: Optional[Callable[..., Any]]) -> Result:
        """Runs; rows and what the library reports, also of a run that fails."""
        system, error, handle = self.system, new_error(), ffi.new("taut_memory_sink **")
        sink = ffi.new("taut_sink *")
        check(lib.taut_memory_sink_create(ffi.NULL, handle, sink, error), error)
        memory = ffi.gc(handle[0], lib.taut_memory_sink_destroy)
        if times is not None:
            status = lib.taut_solver_times(self.solver, doubles(times), len(times), error)
            error.option = b"t_eval"
            check(status, error)
        if dense:
            self.keep()
        status = self.march(sink, progress, error)
        failure = None
        try:
            check(status, error)
        except Error as exception:
            failure = exception
        rows = new_struct("taut_memory_rows")
        check(lib.taut_memory_sink_get(memory, rows, ffi.NULL), None)
        arrays, t_events = _arrays(system, rows, memory, times, events)
        message = failure.message if failure else text(lib.taut_code_text(status))
        result = Result(system.columns, arrays, self.report(status, message, title or "run"),
                        t_events, model, texts, lambda: system,
                        (lambda until: self.interpolate) if dense else self.dense)
        if failure:
            failure.result = result
            raise failure
        return result


def _arrays(system: System, rows: Any, owner: Any, times: Optional[Array],
            events: Optional[Sequence[str]]) -> tuple[dict[str, Array], dict[str, Array]]:
    """The rows as arrays, views unless t_eval leaves some out; and the times of events."""
    count = rows.rows
    arrays = {"t": view(rows.t, (count,), owner), "energy": view(rows.energy, (count,), owner),
              "drift": view(rows.drift, (count, 2), owner).T}
    for name, pointer, width in (("q", rows.q, rows.coordinates), ("v", rows.v, rows.velocities),
                                 ("lam", getattr(rows, "lambda"), rows.multipliers),
                                 ("outputs", rows.output, rows.outputs)):
        arrays[name] = view(pointer, (count, width), owner).T
    names = system.names("event")
    reported = [name for name in names if events is None or name in events]
    number = [0] + [reported.index(name) + 1 if name in reported else 0 for name in names]
    arrays["_event"] = np.array(number)[view(rows.event, (count,), owner).astype(int)] \
        if names else np.zeros(count, dtype=int)
    t_events = {name: arrays["t"][arrays["_event"] == k + 1] for k, name in enumerate(reported)}
    if times is not None and count:
        wanted = np.zeros(count, dtype=bool)
        near = _nearest(arrays["t"], times)
        near = near[np.abs(arrays["t"][near] - times) <= 1e-12 * (1 + np.abs(times))]
        wanted[near] = True
        if not wanted.all():
            arrays = {name: array[..., wanted] for name, array in arrays.items()}
            for array in arrays.values():
                array.flags.writeable = False
    return arrays, t_events


def repeat(run: Result, until: Optional[float]) -> Callable[[float], State]:
    """`dense` of a run that was loaded: of the system that its file has. It must meet the rows."""
    system, options = recorded(run.texts)
    if system.columns != run.columns:
        raise Error("the run cannot be repeated: its rows do not belong to the model in the file")
    sol = Run(system, options).dense(until)
    t, rtol = run.t[len(run) // 2], run.info.get("rtol", np.nan)
    met = run.q[:, run.t == t]  # two rows at an event
    off = np.abs(met - sol(t).q[:, None]).max(axis=0).min()
    if not off <= (100 * rtol if rtol > 0 else 1e-3) * np.abs(met).max():
        raise Error(f"the run cannot be repeated: it differs from the rows of the file by {off:.2g} "
                    f"at t = {t:.6g}; version {run.texts.get('version', 'unknown')} wrote them",
                    lib.TAUT_ERROR_FILE)
    return sol


def _nearest(t: Array, times: Array) -> Array:
    way = -1.0 if t[-1] < t[0] else 1.0
    right = np.searchsorted(way * t, way * times).clip(min(1, len(t) - 1), len(t) - 1)
    left = np.maximum(right - 1, 0)
    return np.where(np.abs(t[left] - times) < np.abs(t[right] - times), left, right)


class Stepper(Run):
    """A run that goes on at request: step, advance, restart, checkpoint.

    >>> import taut
    >>> st = taut.Model("double_pendulum").stepper((0, 1), motion="rigid")
    >>> st.advance(0.5).t
    0.5
    """

    def __init__(self, system: System, given: Mapping[str, Any],
                 resume: Union[str, "os.PathLike[str]", None]) -> None:
        super().__init__(system, given)
        self._watch, error = ffi.new_handle(lambda t, until, steps: False), new_error()
        check(lib.taut_solver_watch(self.solver, lib.taut_python_progress, self._watch, error),
              error)  # Ctrl-C
        if resume is not None:
            data, error = Path(resume).read_bytes(), new_error()
            check(lib.taut_solver_restore(self.solver, data, len(data), error), error)

    @property
    def t(self) -> float:
        return float(lib.taut_solver_time(self.solver))

    @property
    def state(self) -> State:
        """The present state, a copy."""
        system = self.system
        return State(system.columns, self.t, copy(lib.taut_solver_position(self.solver), system.n),
                     copy(lib.taut_solver_velocity(self.solver), system.velocities),
                     copy(lib.taut_solver_multipliers(self.solver), system.multipliers))

    @property
    def q(self) -> Array:
        return self.state.q

    @property
    def v(self) -> Array:
        return self.state.v

    @property
    def lam(self) -> Array:
        return self.state.lam

    @property
    def info(self) -> dict[str, Any]:
        """What the run has cost so far, and what was chosen."""
        return self.report(0, "", "")

    def advance(self, t: float) -> State:
        """Exactly to time t, forwards or backwards; to an event that ends the run."""
        error = new_error()
        check(lib.taut_solver_advance(self.solver, t, error), error)
        return self.state

    def step(self, h: Optional[float] = None) -> State:
        """By h; by default the option step, or a thousandth of the length of the run."""
        if h is None:
            options = {**self.system.settings(), **self.given}
            length = float(options["until"]) - float(options.get("from", 0))
            h = float(options.get("step") or length / 1000)
        return self.advance(self.t + h)

    def restart(self, t: Optional[float] = None, q: Any = None, v: Any = None) -> State:
        """Continues from another state: a kick, a correction; what is not given stays."""
        now, error = self.state, new_error()
        q = reals(now.q if q is None else q, now.q.shape, "q")
        v = reals(now.v if v is None else v, now.v.shape, "v")
        check(lib.taut_solver_restart(self.solver, now.t if t is None else t, doubles(q),
                                      doubles(v), error), error)
        return self.state

    def checkpoint(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Saves the run: Model.stepper(resume=path), with the same keywords, goes on with it."""
        parts: list[bytes] = []
        error, handle = new_error(), ffi.new_handle(parts)
        check(lib.taut_solver_save(self.solver, lib.taut_python_write, handle, error), error)
        whole = Path(path).with_name(Path(path).name + ".part")
        whole.write_bytes(b"".join(parts))
        whole.replace(os.fspath(path))
