"""Models: what moves, and the verbs solve, check, project, spectrum, stepper."""
from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, MutableMapping, Optional, Sequence, Union

import numpy as np

from ._library import (Array, Error, Functions, System, as_text, check, copy, doubles, ffi, lib,
                       c_texts, make_options, members, near_miss, new_error, new_struct, owned,
                       reals, text)
from ._result import Projection, Report, Result, State
from ._run import Run, Stepper, span, texts
from ._sweep import Sweep, sweep

_SHIPPED = Path(__file__).parent / "models"
Value = Union[float, str]
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
            raise KeyError(f"no parameter '{name}'{near_miss(name, self)}")
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
        self._source = source if "\n" in source else _find(source)
        self._how: dict[str, Any] = dict(tables=dict(tables or {}), compile=compile,
                                         allow_command=allow_command)
        self._set: dict[str, Value] = {**(set or {}), **parameters}
        self._start: Optional[Start] = init
        self._make: Callable[["Model"], System] = Model._read
        self._calls_python = False
        self._begin()

    def _begin(self) -> None:
        """Makes the system; parameters that change later are changed in one derived from it."""
        self._system = self._base = self._make(self)
        self._base_set = dict(self._set)

    @classmethod
    def _made(cls, make: Callable[["Model"], System], calls_python: bool = False) -> "Model":
        model = cls.__new__(cls)
        model._calls_python = calls_python
        model._source, model._how, model._set, model._start = "", {}, {}, None
        model._make = make
        model._begin()
        return model

    def _load(self, alive: list[Any]) -> Any:
        """The taut_load of a model from a text, valid as long as `alive` is; NULL: of another."""
        if not self._source:
            return ffi.NULL

        def c_text(value: str) -> Any:
            return c_texts([value], alive)[0]

        def c_list(values: Mapping[str, Value]) -> Any:
            return c_texts((f"{name}={value if isinstance(value, str) else repr(float(value))}"
                            for name, value in values.items()), alive)

        how = new_struct("taut_load")
        how.set, how.set_count = c_list(self._set), len(self._set)
        start = self._start_values()
        if isinstance(self._start, State):
            lines = [f"{name} = {value!r}\n" for name, value in start.items()]
            how.start_text = c_text("".join(lines))
            setattr(how, "from", self._start.t)
        else:
            how.init, how.init_count = c_list(start), len(start)
        how.compile, how.allow_command = self._how["compile"], self._how["allow_command"]
        tables = [(c_text(name), c_text(value), len(value.encode()))
                  for name, value in self._how["tables"].items()]
        alive.append(ffi.new("taut_table_text[]", tables))
        how.tables, how.table_count = alive[-1], len(tables)
        if "\n" in self._source:
            how.table_folder = c_text(".")
        alive.append(how)
        return how

    def _read(self) -> System:
        alive: list[Any] = []
        how = self._load(alive)
        if "\n" not in self._source:
            path = os.fsencode(self._source)
            return System(lambda handle, error: lib.taut_system_load(path, how, handle, error))
        data = self._source.encode()
        return System(lambda handle, error:
                      lib.taut_system_parse(data, len(data), b"<text>", how, handle, error))

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
        start = reals(0 if q0 is None else q0, (n,), "q0")
        m = 0 if bonds is None else np.size(bonds(0.0, start.copy()))
        functions = Functions(n, m, force=force, bonds=bonds, jacobian=jacobian, gamma=gamma,
                              energy=energy, mass_matrix=mass_matrix)

        def make(model: "Model") -> System:
            handle = ffi.new_handle(functions)
            c, keep = new_struct("taut_callbacks"), [handle]
            c.coordinates, c.bonds, c.user = n, m, handle
            c.time_dependent, c.velocity_dependent = time_dependent, velocity_dependent
            q, v = model._state_arrays(start, reals(0 if v0 is None else v0, (n,), "v0"))
            for name, values, size in (("start_q", q, n), ("start_v", v, n), ("mass", mass, n),
                                       ("compliance", compliance, m), ("damping", damping, m)):
                if values is not None and size > 0:
                    keep.append(reals(values, (size,), name))
                    setattr(c, name, doubles(keep[-1]))
            for name, given, size in (("coordinate_names", names, n),
                                      ("bond_names", bond_names, m)):
                if given is not None:
                    if len(given) != size:
                        raise ValueError(f"{name}: expected {size} names, found {len(given)}")
                    keep.append([ffi.new("char[]", one.encode()) for one in given])
                    keep.append(ffi.new("char *[]", keep[-1]))
                    setattr(c, name, keep[-1])
            for member, function, call in (("force", force, lib.taut_python_force),
                                           ("bond", bonds, lib.taut_python_bond),
                                           ("jacobian", jacobian, lib.taut_python_jacobian),
                                           ("gamma", gamma, lib.taut_python_gamma),
                                           ("energy", energy, lib.taut_python_energy),
                                           ("mass_matrix", mass_matrix, lib.taut_python_mass)):
                if function is not None:
                    setattr(c, member, call)
            return System(lambda result, error:
                          lib.taut_system_from_callbacks(c, ffi.NULL, result, error), keep)

        return cls._made(make, calls_python=True)

    @classmethod
    def from_bonds(cls, mass: Any, pairs: Any, length: Any, compliance: Any = 0.0, *,
                   position: Any, velocity: Any = None, gravity: Any = None, anchors: Any = None,
                   name: str = "bond") -> "Model":
        """Particles p[1], ... [N, dimension] and distances of pairs [K, 2], numbered from 0.

        A second particle of -1 joins the first to anchors[k]. Compliance 0 is rigid.

        >>> import taut
        >>> m = taut.Model.from_bonds(mass=1, pairs=[[0, -1], [0, 1]], length=1, compliance=1e-4,
        ...                           position=[[1, 0], [2, 0]], gravity=[0, -9.81],
        ...                           anchors=[[0, 0], [0, 0]])
        >>> m.bonds
        ('bond[1]', 'bond[2]')
        """
        p = reals(position, None, "position")
        if p.ndim != 2:
            raise ValueError(f"position: expected an array [particles, dimension], found {p.shape}")
        ends = np.ascontiguousarray(np.asarray(pairs, dtype=np.int32).reshape(-1, 2).T)
        count = ends.shape[1]
        c = reals(compliance, (count,), "compliance")
        stiffness = np.divide(1, c, out=np.zeros(count), where=c != 0)
        numbers = {"mass": reals(mass, (len(p),), "mass"),
                   "length": reals(length, (count,), "length"),
                   "v": reals(0 if velocity is None else velocity, p.shape, "velocity")}
        anchor = None if anchors is None else reals(anchors, (count, p.shape[1]), "anchors")
        g = None if gravity is None else reals(gravity, (p.shape[1],), "gravity")

        def build(builder: Any, model: "Model", handle: Any, error: Any) -> int:
            q, v = model._state_arrays(p.ravel(), numbers["v"].ravel())
            ints = [ffi.cast("taut_index *", ffi.from_buffer(row)) for row in ends]
            for status in (
                    lib.taut_builder_mass(builder, doubles(numbers["mass"])),
                    lib.taut_builder_start(builder, doubles(q), doubles(v)),
                    0 if g is None else lib.taut_builder_gravity(builder, doubles(g)),
                    lib.taut_builder_distances(
                        builder, name.encode(), count, ints[0], ints[1],
                        ffi.NULL if anchor is None else doubles(anchor), doubles(numbers["length"]),
                        doubles(stiffness))):
                if status < 0:
                    break  # the builder reports it when it is finished
            return int(lib.taut_builder_finish(builder, handle, error))

        def make(model: "Model") -> System:
            handle, error = ffi.new("taut_builder **"), new_error()
            check(lib.taut_builder_create(p.shape[1], len(p), ffi.NULL, handle, error), error)
            builder = ffi.gc(handle[0], lib.taut_builder_destroy)
            return System(lambda result, reason: build(builder, model, result, reason))

        return cls._made(make)

    @classmethod
    def from_flow(cls, advance: Callable[..., Any], z0: Any, *,
                  names: Optional[Sequence[str]] = None, observables: Sequence[int] = (),
                  horizon: float = 0.0) -> "Model":
        """A simulator without equations: advance(t, H, z) returns the state at t + H.

        observables are numbers of variables, from 0, that keep their values in projections.

        >>> import numpy as np, taut
        >>> def simulator(t, H, z):      # x slowly, y fast towards x
        ...     x = z[0] * np.exp(-H)
        ...     return [x, x + (z[1] - z[0]) * np.exp(-100 * H)]
        >>> p = taut.Model.from_flow(simulator, [1, 3], observables=[0], horizon=0.05).project()
        >>> bool(abs(p.q[1] - 1) < 0.1)
        True
        """
        start = reals(z0, None, "z0")
        functions = Functions(len(start), advance=advance)

        def make(model: "Model") -> System:
            box, handle = new_struct("taut_black_box"), ffi.new_handle(functions)
            z, _ = model._state_arrays(start, np.zeros(0))
            seen = ffi.new("taut_index[]", [int(k) for k in observables])
            letters = [ffi.new("char[]", one.encode()) for one in names or ()]
            pointers = ffi.new("char *[]", letters)
            box.variables, box.observables, box.observable = len(z), len(observables), seen
            box.start, box.horizon, box.user = doubles(z), horizon, handle
            box.names = pointers if names else ffi.NULL
            box.advance = lib.taut_python_advance
            return System(lambda result, error:
                          lib.taut_system_from_flow(box, ffi.NULL, result, error),
                          [handle, z, seen, letters, pointers])

        return cls._made(make, calls_python=True)

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
        return ("mechanical", "first order", "black box")[self._system.sizes["kind"]]

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
                                                                 new, handle, error), base)

    def at(self, start: Start) -> "Model":
        """The same model with another initial state: a State, or some values by name.

        >>> import taut
        >>> m = taut.Model("double_pendulum")
        >>> bool(m.at({"x1": 0.5}).initial()["x1"] == 0.5)
        True
        """
        other = self._copy()
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

    def __repr__(self) -> str:
        name = Path(self._source).stem if self._source and "\n" not in self._source else self.title
        n, m = self._system.n, self._system.sizes["bonds"]
        return f"<taut.Model {name!r}: {self.kind}, {n} coordinates, {m} bonds>"

    def _repr_html_(self) -> str:
        rows = [("kind", self.kind), ("coordinates", ", ".join(self.coordinates[:20])),
                ("bonds", ", ".join(self.bonds[:20])), ("parameters", dict(self.parameters))]
        return Report(self.title or "model", {}, rows)._repr_html_()

    # ---- verbs

    def solve(self, t_span: Optional[tuple[float, float]] = None, *, t_eval: Any = None,
              events: Optional[Sequence[str]] = None, dense_output: bool = False,
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
        times = None if t_eval is None else reals(t_eval, None, "t_eval").ravel()
        if times is not None and t_span is None and len(times):
            given.setdefault("until", times[-1])
        for name in events or ():
            if system.find("event", name) < 0:
                raise Error(f"no event '{name}'{near_miss(name, system.names('event'))}")
        run = Run(system, given)
        name = "" if "\n" in self._source else Path(self._source).stem
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
        tables, folder = self._how.get("tables", {}), Path(self._source.split("\n")[0]).parent
        for k, name in enumerate(texts(lib.taut_system_table, self._system.pointer)):
            found["tables"] = found.get("tables", "") + name + "\n"
            found[f"table{k + 1}"] = tables.get(name) or (folder / name).read_text()
        return found

    def stepper(self, t_span: Optional[tuple[float, float]] = None, *,
                resume: Union[str, "os.PathLike[str]", None] = None, **options: Any) -> Stepper:
        """A run that goes on at request; resume continues one that was saved by checkpoint."""
        return Stepper(self._system, span(options, t_span), resume)

    def sweep(self, vary: Mapping[str, Any], t_span: Optional[tuple[float, float]] = None, *,
              keep: Union[str, Sequence[str]], zip: bool = False, random: int = 0, seed: int = 1,
              workers: int = 1, progress: Optional[Callable[[int, int, int], Any]] = None,
              **options: Any) -> Sweep:
        """A run for every combination of the values of parameters, initial values and options.

        vary: values by name, as arrays, lists, or text such as "50:5000:log8". keep: what the table
        has of each run, as expressions: "max(energy)", "end(x1) - start(x1)", "count(apex)"
        (docs/sweeps.md). zip takes first values together, second values together, and so on;
        random=N makes N runs with values drawn from lists and ranges, which `seed` determines.
        workers: threads; the table does not depend on their number. A failed run is a row;
        wrong names and expressions are errors. progress(done, runs, failed) is called now and then,
        by any thread, and ends the sweep by returning True: rows so far are in the table. Other
        keywords are those of `solve`; the error is measured unless verify says otherwise.

        >>> import taut
        >>> s = taut.Model("pendulum").sweep({"rtol": [1e-3, 1e-6]}, (0, 1), keep=["end(y1)"])
        >>> len(s), s["status"].tolist()
        (2, [0, 0])
        """
        request = dict(zip=zip, random=random, seed=seed, threads=workers)
        return sweep(self, vary, [keep] if isinstance(keep, str) else list(keep), request,
                     progress, span(options, t_span))

    def check(self, **options: Any) -> Report:
        """Examines the model at its initial state: derivatives, rank, frequencies, advice.

        >>> import taut
        >>> taut.Model("double_pendulum").check().motion
        'slow'
        """
        report, error = new_struct("taut_check_report"), new_error()
        given = make_options("check", options)
        check(lib.taut_check(self._system.pointer, given, report, error), error)
        values = members(report, without=("derivatives", "invariants"))
        values["usable"] = values["verdict"] == 0
        values["derivatives"] = [members(report.derivative[k]) for k in range(report.derivatives)]
        values["invariants"] = [members(report.invariant[k]) for k in range(report.invariants)]
        worst = max((d["deviation"] for d in values["derivatives"]), default=0.0)
        rows = [("kind", self.kind), ("coordinates", self._system.n),
                ("bonds", self._system.sizes["bonds"]), ("structure", values["structure"]),
                ("largest deviation of a derivative", f"{worst:.2g}"),
                ("rank", values["rank_message"] or values["rank"])]
        if report.frequencies:
            rows.append(("frequencies",
                         f"{report.frequency_least:.6g} to {report.frequency_most:.6g}"))
        if values["motion"]:
            rows.append(("choice", f"motion {values['motion']}, method {values['method']}"))
        rows.append(("advice", values["advice"]))
        return Report(self.title or "check", values, rows)

    def project(self, **options: Any) -> Projection:
        """The initial state moved onto the slow manifold, or onto the rigid bonds.

        Options of `taut project`: method, hold (a list of names), order, horizon, ...

        >>> import taut
        >>> p = taut.Model("double_pendulum").project(method="series", hold=["y2"])
        >>> bool(p["y2"] == taut.Model("double_pendulum").initial()["y2"])
        True
        """
        system, handle, error = self._system, ffi.new("taut_projection **"), new_error()
        given = make_options("project", options)
        status = lib.taut_project(system.pointer, given, ffi.NULL, handle, error)
        pointer = owned(handle[0], lib.taut_projection_destroy, system) if handle[0] else None
        if status != lib.TAUT_ERROR_CONVERGE or pointer is None:
            check(status, error)
        result = new_struct("taut_projection_result")
        check(lib.taut_projection_result_get(pointer, result, new_error()), error)
        info = members(result)
        info["success"] = status == 0
        info["message"] = text(error.message) if status else "found"
        info["warnings"] = texts(lib.taut_projection_warning, pointer)
        if result.stiff_force:
            info["stiff_force"] = copy(result.stiff_force, system.n)
        columns = system.columns
        start = State(columns, result.t, copy(result.start_q, system.n),
                      copy(result.start_v, system.velocities))
        return Projection(columns, result.t, copy(result.q, system.n),
                          copy(result.v, system.velocities),
                          copy(getattr(result, "lambda"), system.multipliers), info, start)

    def spectrum(self, at: Optional[Start] = None, *, modes: int = 20, **options: Any) -> Report:
        """Frequencies and modes of the springs at a state, by default the initial one.

        frequencies, energies, actions; modes: for each its bonds and their shares; resonances. Of
        first-order systems and black boxes: rates, horizon, slow, gap, advice.

        >>> import taut
        >>> taut.Model("double_pendulum").spectrum().frequencies.shape
        (2,)
        """
        model = self if at is None else self.at(at)
        return model._modes(modes) if self._system.mechanical else model._rates(modes, options)

    def _modes(self, count: int) -> Report:
        system, error = self._system, new_error()
        state = self.initial(getattr(self._start, "t", 0.0))
        room, report = ffi.new("taut_mode[]", count), new_struct("taut_modes_report")
        check(lib.taut_modes(system.context(), state.t, doubles(state.q), doubles(state.v), count,
                             room, report, error), error)
        modes = [members(room[k]) for k in range(report.found)]
        bonds = system.names("bond")
        for mode in modes:
            shares = zip(mode.pop("bond"), mode.pop("share"))
            mode["bonds"] = {bonds[k]: share for k, share in shares if k >= 0}
        values = members(report, without=("resonance", "modes"))
        values.update(modes=modes, count=report.modes,
                      frequencies=np.array([mode["frequency"] for mode in modes]),
                      energies=np.array([mode["energy"] for mode in modes]),
                      actions=np.array([mode["action"] for mode in modes]))
        values["resonances"] = [members(report.resonance[k]) for k in range(report.resonances)]
        rows = [(f"{mode['frequency']:.9g}", ", ".join(f"{name} {share:.0%}" for name, share in
                                                       mode["bonds"].items())) for mode in modes]
        return Report("frequencies of the modes", values, rows)

    def _rates(self, count: int, options: dict[str, Any]) -> Report:
        system, error = self._system, new_error()
        room, report = ffi.new("taut_rate[]", count), new_struct("taut_rates_report")
        check(lib.taut_rates(system.pointer, make_options("spectrum", options), count, room, report,
                             error), error)
        values = members(report)
        values["rates"] = np.array([complex(room[k].real, room[k].imaginary)
                                    for k in range(report.found)])
        rows = [("rates", values["rates"]), ("slow", report.slow), ("advice", values["advice"])]
        return Report("rates", values, rows)
