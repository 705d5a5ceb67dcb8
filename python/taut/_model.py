"""Models: what moves, and the verbs solve, check, project, spectrum, stepper."""
from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, MutableMapping, Optional, Sequence, Union

import numpy as np

from ._library import (Array, Error, System, as_text, check, doubles, ffi, lib, near_miss,
                       new_error, reals, text, texts)
from ._reports import check_model, modes_along, modes_at, project_model, rates
from ._result import Projection, Report, Result, State
from ._run import Run, Stepper, span
from ._sweep import Sweep, sweep
from ._systems import (Make, Source, Value, bonds_maker, flow_maker, functions_maker, loading,
                       read)

_SHIPPED = Path(__file__).parent / "models"
Start = Union[State, Mapping[str, Value]]


def models() -> tuple[str, ...]:
    """Names of the shipped models.

    >>> import taut
    >>> "double_pendulum" in taut.models()
    True
    """
    folders = [Path(os.environ["TAUT_MODELS"])] if os.environ.get("TAUT_MODELS") else []
    return tuple(sorted({file.stem for folder in folders + [_SHIPPED] for file in
                         folder.glob("*.taut")}))


def _find(source: str) -> str:
    """The path of a file or of a shipped name."""
    if os.path.isfile(source):
        return source
    for folder in (os.environ.get("TAUT_MODELS"), _SHIPPED):
        if folder and "/" not in source and Path(folder, source + ".taut").is_file():
            return str(Path(folder, source + ".taut"))
    raise Error(f"'{source}' is neither a file nor a shipped model{near_miss(source, models())}",
                lib.TAUT_ERROR_FILE)


def checked_start(start: Any) -> Start:
    if isinstance(start, Mapping) or isinstance(start, State) and np.ndim(start.t) == 0:
        return start
    raise TypeError("expected a State, such as run.state() or run.sol(t), or values by name, found "
                    f"{start!r}")


class Parameters(MutableMapping[str, float]):
    """The parameters of a model by name; a new value changes the model at once.

    >>> import taut
    >>> m = taut.Model("double_pendulum", omega=200)
    >>> m.parameters["omega"] = 300
    >>> m.parameters["omega"]
    300.0
    """

    def __init__(self, model: "Model") -> None:
        self._model = model

    def __getitem__(self, name: str) -> float:
        system = self._model._system
        k = system.find("parameter", name)
        if k < 0:
            raise KeyError(f"no parameter {name!r}{near_miss(name, self)}")
        return float(lib.taut_context_parameter(system.context(), k))

    def __setitem__(self, name: str, value: Value) -> None:
        self._model.set(**{name: value})

    def __delitem__(self, name: str) -> None:
        raise TypeError("a model keeps its parameters")

    def __iter__(self) -> Iterator[str]:
        return iter(self._model._system.names("parameter"))

    def __len__(self) -> int:
        return len(self._model._system.names("parameter"))

    def __repr__(self) -> str:
        return repr(dict(self))


class Model:
    """A mechanical system, a first-order system or a black box.

    source is the name of a shipped model, the path of a file, or the text of a model (more than
    one line); keywords are parameters. `set` gives parameters whose names are no keywords, `init`
    initial values by name, `tables` the text of files that [tables] names. compile=True makes
    machine code of the expressions, with the C compiler of the system.

    A model may be used by several threads; each run has its own state.

    >>> import taut
    >>> m = taut.Model("double_pendulum", omega=200)
    >>> m.coordinates
    ('x1', 'y1', 'x2', 'y2')
    >>> m.solve((0, 1)).success
    True
    """

    def __init__(self, source: Union[str, "os.PathLike[str]"], *,
                 set: Optional[Mapping[str, Value]] = None, init: Optional[Start] = None,
                 tables: Optional[Mapping[str, str]] = None, compile: bool = False,
                 allow_command: bool = False, **parameters: Value) -> None:
        source = os.fspath(source)
        self._source: Optional[Source] = Source(source if "\n" in source else _find(source),
                                                dict(tables or {}), compile, allow_command)
        self._set: dict[str, Value] = {**(set or {}), **parameters}
        self._start: Optional[Start] = None if init is None else checked_start(init)
        self._make: Make = Model._read
        self._begin()

    def _begin(self) -> None:
        """Makes the system; parameters that change later are changed in one derived from it."""
        self._system = self._base = self._make(self)
        self._base_set = dict(self._set)

    @classmethod
    def _made(cls, make: Make) -> "Model":
        model = cls.__new__(cls)
        model._source, model._set, model._start = None, {}, None
        model._make = make
        model._begin()
        return model

    def _load(self, alive: list[Any]) -> Any:
        """The taut_load of a model from a text, valid as long as `alive` is; NULL: of another."""
        if self._source is None:
            return ffi.NULL
        start = self._start_values()
        if not isinstance(self._start, State):
            return loading(self._source, self._set, start, "", 0.0, alive)
        lines = "".join(f"{name} = {value!r}\n" for name, value in start.items())
        return loading(self._source, self._set, {}, lines, self._start.t, alive)

    def _read(self) -> System:
        assert self._source is not None
        alive: list[Any] = []
        return read(self._source, self._load(alive))

    def _start_values(self) -> Mapping[str, Value]:
        if not isinstance(self._start, State):
            return self._start or {}
        return {name: float(self._start[name]) for name, (part, _) in self._start.columns.items()
                if part in ("q", "v")}

    # ---- made in Python

    @classmethod
    def from_functions(cls, force: Callable[..., Any], n: int,
                       bonds: Optional[Callable[..., Any]] = None, *, q0: Any = None,
                       v0: Any = None, mass: Any = None, compliance: Any = None,
                       damping: Any = None,
                       jacobian: Optional[Callable[..., Any]] = None,
                       gamma: Optional[Callable[..., Any]] = None,
                       energy: Optional[Callable[..., Any]] = None,
                       mass_matrix: Optional[Callable[..., Any]] = None,
                       names: Optional[Sequence[str]] = None,
                       bond_names: Optional[Sequence[str]] = None, time_dependent: bool = False,
                       velocity_dependent: bool = False) -> "Model":
        """M v' = force(t, q, v) - G^T lambda with bonds(t, q) and their compliance (None: rigid).

        Functions return arrays: force [n], bonds and gamma [m], jacobian [m, n], mass_matrix
        [n, n]; energy(t, q) is a number. What is not given is formed by differences. A result that
        is not finite asks for a smaller step; an exception ends the call, and is raised there.

        >>> import numpy as np, taut
        >>> m = taut.Model.from_functions(lambda t, q, v: [0, -9.81], 2,
        ...                               lambda t, q: [np.hypot(q[0], q[1]) - 1], q0=[1, 0])
        >>> r = m.solve((0, 1))
        >>> bool(abs(np.hypot(*r.q[:, -1]) - 1) < 1e-9)
        True
        """
        if n < 1:
            raise ValueError(f"n: expected the number of coordinates, found {n}")
        start = reals(0 if q0 is None else q0, (n,), "q0")
        m = 0 if bonds is None else np.size(bonds(0.0, start.copy()))
        arrays = dict(mass=mass, compliance=compliance, damping=damping)
        functions = dict(force=force, bonds=bonds, jacobian=jacobian, gamma=gamma, energy=energy,
                         mass_matrix=mass_matrix)
        return cls._made(functions_maker(n, m, start, reals(0 if v0 is None else v0, (n,), "v0"),
                                         arrays, functions, names, bond_names, time_dependent,
                                         velocity_dependent))

    @classmethod
    def from_bonds(cls, mass: Any, pairs: Any, length: Any = None, compliance: Any = 0.0, *,
                   position: Any = None, velocity: Any = None, gravity: Any = None,
                   anchors: Any = None, name: str = "bond") -> "Model":
        """Particles p[1], ... [N, dimension] and distances of pairs [K, 2], numbered from 0.

        A second particle of -1 joins the first to anchors[k], by default the origin. Compliance 0
        is rigid. Without `length` bonds have the lengths of the positions. Without `position` they
        are laid out straight along x; bonds that make loops require it.

        >>> import taut
        >>> m = taut.Model.from_bonds(mass=1, pairs=[[0, -1], [0, 1]], length=1, compliance=1e-4,
        ...                           position=[[1, 0], [2, 0]], gravity=[0, -9.81],
        ...                           anchors=[[0, 0], [0, 0]])
        >>> m.bonds
        ('bond[1]', 'bond[2]')
        """
        return cls._made(bonds_maker(mass, pairs, length, compliance, position, velocity, gravity,
                                     anchors, name))

    @classmethod
    def from_flow(cls, advance: Callable[..., Any], z0: Any, *,
                  names: Optional[Sequence[str]] = None, observables: Sequence[int] = (),
                  horizon: float = 0.0, save: Optional[Callable[[], bytes]] = None,
                  restore: Optional[Callable[[bytes], Any]] = None) -> "Model":
        """A simulator without equations: advance(t, H, z) returns the state at t + H.

        observables are numbers of variables, from 0, that keep their values in projections. A
        simulator with an internal state besides z (history, random numbers) gives it as bytes by
        save(), always as many, and takes it back by restore(bytes); checkpoints contain it.

        >>> import numpy as np, taut
        >>> def simulator(t, H, z):      # x slowly, y fast towards x
        ...     x = z[0] * np.exp(-H)
        ...     return [x, x + (z[1] - z[0]) * np.exp(-100 * H)]
        >>> p = taut.Model.from_flow(simulator, [1, 3], observables=[0], horizon=0.05).project()
        >>> bool(abs(p.q[1] - 1) < 0.1)
        True
        """
        return cls._made(flow_maker(advance, z0, names, observables, horizon, save, restore))

    def _state_arrays(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The initial state of a model made in Python: its own, or that of `at`."""
        if self._start is None:
            return q, v
        q, v = q.copy(), v.copy()
        for name, value in self._start_values().items():
            part, k = self._system.columns.get(name, ("", -1))
            if part not in ("q", "v"):
                raise Error(f"no coordinate '{name}'{near_miss(name, self._system.columns)}")
            (q if part == "q" else v)[k] = float(value)
        return q, v

    # ---- what it is

    @property
    def title(self) -> str:
        return text(lib.taut_system_title(self._system.pointer))

    @property
    def text(self) -> str:
        """The text of the model; "" for one made in Python."""
        return text(lib.taut_system_text(self._system.pointer, ffi.NULL))

    @property
    def kind(self) -> str:
        """mechanical, first order or black box."""
        return self._system.kind

    @property
    def sizes(self) -> dict[str, int]:
        """Numbers of coordinates, bonds, parameters, ...: the members of taut_sizes."""
        return dict(self._system.sizes)

    @property
    def coordinates(self) -> tuple[str, ...]:
        return self._system.names("coordinate")

    @property
    def bonds(self) -> tuple[str, ...]:
        return self._system.names("bond")

    @property
    def outputs(self) -> tuple[str, ...]:
        return self._system.names("output")

    @property
    def events(self) -> tuple[str, ...]:
        return self._system.names("event")

    @property
    def parameters(self) -> Parameters:
        return Parameters(self)

    @property
    def warnings(self) -> list[str]:
        """What reading the model found: unused names, kinks."""
        return [text(lib.taut_system_warning(self._system.pointer, k))
                for k in range(self._system.sizes["warnings"])]

    def set(self, **parameters: Value) -> "Model":
        """Gives parameters other values: numbers, or expressions as text. Returns the model.

        >>> import taut
        >>> taut.Model("double_pendulum").set(omega=50).parameters["omega"]
        50.0
        """
        for name in parameters:
            self.parameters[name]  # a KeyError with the nearest name
        old, self._set = self._set, {**self._set, **parameters}
        try:
            self._system = self._with(
                {name: value for name, value in self._set.items()
                 if name not in self._base_set or value != self._base_set[name]})
        except (Error, TypeError):  # sizes, settings of [run], expressions: it is read again
            try:
                self._begin()
            except BaseException:
                self._set = old
                raise
        return self

    def _with(self, values: Mapping[str, Value]) -> System:
        base = self._base
        if any(isinstance(value, str) for value in values.values()):
            raise TypeError("an expression")
        if not values:
            return base
        which = ffi.new("taut_index[]", [base.find("parameter", name) for name in values])
        new = ffi.new("double[]", [float(value) for value in values.values()])
        return System(lambda handle, error: lib.taut_system_with(base.pointer, len(values), which,
                                                                 new, handle, error), base,
                      base.calls_python)

    def at(self, start: Start) -> "Model":
        """The same model with another initial state: a State, or some values by name.

        >>> import taut
        >>> m = taut.Model("double_pendulum")
        >>> bool(m.at({"x1": 0.5}).initial()["x1"] == 0.5)
        True
        """
        other = self._copy()
        start = checked_start(start)
        other._start = start if isinstance(start, State) else {**self._start_values(), **start}
        other._begin()
        return other

    def _copy(self) -> "Model":
        other: "Model" = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def initial(self, t: float = 0.0) -> State:
        """The initial state at time t, as the model states it."""
        system, error = self._system, new_error()
        q, v = np.zeros(system.n), np.zeros(system.velocities)
        check(lib.taut_context_start(system.context(), t, doubles(q), doubles(v), error), error)
        return State(system.columns, t, q, v)

    @property
    def _name(self) -> str:
        """Of its file, without ending; "": it has none."""
        source = self._source
        if source is None or source.is_text:
            return ""
        return os.path.splitext(os.path.basename(source.text))[0]

    def __repr__(self) -> str:
        name = self._name or self.title or "made in Python"
        n, m = self._system.n, self._system.sizes["bonds"]
        return f"<taut.Model {name!r}: {self.kind}, {n} coordinates, {m} bonds>"

    def _repr_html_(self) -> str:
        rows = [("kind", self.kind), ("coordinates", ", ".join(self.coordinates[:20])),
                ("bonds", ", ".join(self.bonds[:20])), ("parameters", dict(self.parameters))]
        return Report(self.title or "model", {}, rows)._repr_html_()

    # ---- verbs

    def solve(self, t_span: Optional[tuple[float, float]] = None, *, t_eval: Any = None,
              events: Union[str, Sequence[str], None] = None, dense_output: bool = False,
              progress: Optional[Callable[[float, float, int], Any]] = None,
              verify: Optional[str] = "auto", **options: Any) -> Result:
        """The motion from t_span[0] to t_span[1], by default those of [run].

        t_eval: the times of the rows; by default those of `every`. events: which events of the
        model t_events reports, by default all. progress(t, until, steps) is called now and then,
        and ends the run by returning True. verify as in the program: "auto" measures the error by
        a second run where that is affordable. Other keywords are options of `taut run`
        (docs/options.md): motion, method, rtol, step, every, ...

        >>> import taut
        >>> r = taut.Model("double_pendulum").solve((0, 1), motion="rigid", rtol=1e-9)
        >>> r.motion, r.q.shape[0]
        ('rigid', 4)
        """
        given = span(dict(options, verify=verify), t_span)
        system = self._system
        times = None if t_eval is None else np.atleast_1d(reals(t_eval, None, "t_eval"))
        if times is not None and (times.ndim != 1 or not times.size):
            raise ValueError(f"t_eval: expected a list of times, found shape {times.shape}")
        if times is not None and t_span is None:
            given.setdefault("until", times[-1])
        events = [events] if isinstance(events, str) else events
        for name in events or ():
            if system.find("event", name) < 0:
                known = system.names("event")
                raise Error(f"no event {name!r}" + (near_miss(name, known) if known else
                                                    ": the model has no [events]"))
        run = Run(system, given)
        name = self._name
        texts = functools.partial(self._copy()._texts, given)  # of the model as it is now
        return run.result(name or self.title, self.title or name, texts, times, events,
                          dense_output, progress)

    def _texts(self, given: Mapping[str, Any]) -> dict[str, str]:
        """What the file of a run holds besides its rows: `taut run FILE.h5` repeats it."""
        lines = [f"{name.replace('_', '-')} = {as_text(value)}" for name, value in given.items()
                 if value is not None]
        lines += [f"set = {name}={as_text(value)}" for name, value in self._set.items()]
        found = {"version": text(lib.taut_version()), "settings": "\n".join([*lines, ""])}
        start = [f"{name} = {as_text(value)}\n" for name, value in self._start_values().items()]
        if start:
            found["start"] = "".join(start)
        if self.text:
            found["model"] = self.text
        source = self._source or Source("\n")
        folder = Path("." if source.is_text else source.text).parent
        for k, name in enumerate(texts(lib.taut_system_table, self._system.pointer)):
            found["tables"] = found.get("tables", "") + name + "\n"
            found[f"table{k + 1}"] = source.tables.get(name) or (folder / name).read_text()
        return found

    def stepper(self, t_span: Optional[tuple[float, float]] = None, *,
                resume: Union[str, "os.PathLike[str]", None] = None, **options: Any) -> Stepper:
        """A run that goes on at request; resume continues one that was saved by checkpoint.

        Without t_span, and without `until` in the model, it is prepared for a length of 1, which is
        no limit: advance goes on.
        """
        given = span(options, t_span)
        settings = {**self._system.settings(), **given}
        if "until" not in settings:
            given["until"] = float(settings.get("from", 0)) + 1
        return Stepper(self._system, given, resume)

    def sweep(self, vary: Mapping[str, Any], t_span: Optional[tuple[float, float]] = None, *,
              keep: Union[str, Sequence[str]], zip: bool = False, random: int = 0, seed: int = 1,
              workers: int = 1, progress: Optional[Callable[[int, int, int], Any]] = None,
              **options: Any) -> Sweep:
        """A run for every combination of the values of parameters, initial values and options.

        vary: values by name, as arrays, lists, or text such as "50:5000:log8". keep: what the table
        has of each run, as expressions: "max(energy)", "end(x1) - start(x1)", "count(apex)"
        (docs/sweeps.md). zip takes first values together, second values together, and so on;
        random=N makes N runs with values drawn from lists and ranges, which `seed` determines.
        workers: threads, -1: one for each processor; the table does not depend on it. A failed run
        is a row; wrong names and expressions are errors. progress(done, runs, failed) is called now and then,
        by any thread, and ends the sweep by returning True: rows so far are in the table. Other
        keywords are those of `solve`; the error is measured unless verify says otherwise.

        >>> import taut
        >>> s = taut.Model("pendulum").sweep({"rtol": [1e-3, 1e-6]}, (0, 1), keep=["end(y1)"])
        >>> len(s), s["status"].tolist()
        (2, [0, 0])
        """
        if workers < 1 and workers != -1:
            raise ValueError(f"workers: expected a number of threads, or -1: all, found {workers}")
        workers = (os.cpu_count() or 1) if workers == -1 else workers
        request = dict(zip=zip, random=random, seed=seed, threads=workers)
        return sweep(self, vary, [keep] if isinstance(keep, str) else list(keep), request,
                     progress, span(options, t_span))

    def check(self, **options: Any) -> Report:
        """Examines the model at its initial state: derivatives, rank, frequencies, advice.

        >>> import taut
        >>> taut.Model("double_pendulum").check().motion
        'slow'
        """
        return check_model(self._system, self.title, options)

    def project(self, **options: Any) -> Projection:
        """The initial state moved onto the slow manifold, or onto the rigid bonds.

        Options of `taut project`: method, hold (a list of names), order, horizon, ...

        >>> import taut
        >>> p = taut.Model("double_pendulum").project(method="series", hold=["y2"])
        >>> bool(p["y2"] == taut.Model("double_pendulum").initial()["y2"])
        True
        """
        return project_model(self._system, options)

    def spectrum(self, at: Optional[Start] = None, *, along: Optional[Result] = None,
                 modes: int = 20, **options: Any) -> Report:
        """Frequencies and modes of the springs at a state, by default the initial one.

        frequencies, energies, actions; modes: for each its bonds and their shares; resonances. Of
        first-order systems and black boxes: rates, horizon, slow, gap, advice.

        along=run: of every row of a run of this model; t, frequencies and actions [mode, row], gaps
        of the closest resonance, resonances: episodes with their times, ranked by the share of the
        actions that changes there; moved: the changes of the actions in resonance.

        >>> import taut
        >>> m = taut.Model("double_pendulum")
        >>> m.spectrum().frequencies.shape
        (2,)
        >>> m.spectrum(along=m.solve((0, 1), every=0.1)).frequencies.shape
        (2, 11)
        """
        if modes < 1:
            raise ValueError(f"modes: expected how many modes are wanted, found {modes}")
        if along is not None:
            if not isinstance(along, Result):
                raise TypeError(f"along: expected a Result, found {along!r}")
            if at is not None:
                raise Error("along has the states of a run: it excludes `at`", option="at")
            return modes_along(self._system, along, modes, options)
        model = self if at is None else self.at(at)
        if not self._system.mechanical:
            return rates(model._system, modes, options)
        return modes_at(model._system, getattr(model._start, "t", 0.0), modes, options)
