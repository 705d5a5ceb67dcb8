"""States, runs and reports: numbers that are found by name."""
from __future__ import annotations

import html
import json
import os
from typing import Any, Callable, Iterable, Optional, Union

import numpy as np

from ._library import Array, near_miss

_PARTS = ("q", "v", "lam", "outputs")
_FORMAT = 1  # of saved runs; older readers refuse newer ones


def _table(title: str, rows: Iterable[tuple[str, Any]]) -> str:
    cells = "".join(f"<tr><th>{html.escape(str(a))}</th><td>{html.escape(str(b))}</td></tr>"
                    for a, b in rows)
    return f"<table><caption>{html.escape(title)}</caption>{cells}</table>"


class _Shown:
    """Prints as lines, and in notebooks as a table, of what `_rows` gives."""

    _title = ""

    def _rows(self) -> list[tuple[str, Any]]:
        raise NotImplementedError

    def __str__(self) -> str:
        rows = self._rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join([self._title] + [f"  {name:{width}}  {value}" for name, value in rows])

    def _repr_html_(self) -> str:
        return _table(self._title, self._rows())


class _Named(_Shown):
    """Arrays q, v, lam, outputs whose first index has names: those of the columns of a CSV file.

    A velocity is x', the multiplier of a bond link[1] is link[1] or lambda(link[1]).
    """

    columns: dict[str, tuple[str, int]]

    def __getitem__(self, name: str) -> Any:
        part, k = self.columns.get(name) or self.columns.get(f"lambda({name})") or (name, -1)
        if k >= 0:
            return getattr(self, part)[k]
        if name in ("t", "energy"):
            return getattr(self, name)
        raise KeyError(f"no column '{name}'{near_miss(name, self.columns)}")


class State(_Named):
    """A state: t, q, v, lam (multipliers) and energy, also by name.

    >>> import taut
    >>> start = taut.Model("double_pendulum").initial()
    >>> start["x1"] == start.q[0]
    True
    """

    def __init__(self, columns: dict[str, tuple[str, int]], t: float, q: Array, v: Array,
                 lam: Optional[Array] = None) -> None:
        self.columns, self.t, self.q, self.v = columns, t, q, v
        self.lam = np.full(sum(part == "lam" for part, _ in columns.values()), np.nan) \
            if lam is None else lam
        self.outputs = np.full(sum(part == "outputs" for part, _ in columns.values()), np.nan)
        self._title = f"state at t = {t:.9g}"

    def _rows(self) -> list[tuple[str, Any]]:
        return [(name, repr(float(self[name]))) for name, (part, _) in self.columns.items()
                if part != "outputs"]


class Projection(State):
    """A state on the slow manifold, or on the rigid bonds, and how it was found.

    method, explanation, passes, moved_normal, moved_tangential, statistics, ... are attributes;
    docs/python.md lists them.

    >>> import taut
    >>> point = taut.Model("double_pendulum").project(method="series")
    >>> point.success, point.method
    (True, 'series')
    """

    def __init__(self, columns: dict[str, tuple[str, int]], t: float, q: Array, v: Array,
                 lam: Array, info: dict[str, Any], start: State) -> None:
        super().__init__(columns, t, q, v, lam)
        self.__dict__.update(info)
        self.start = start
        self._title = f"projection {info['method']}: {info['explanation']}"

    def __getattr__(self, name: str) -> Any:  # for type checkers: what C reports
        raise AttributeError(name)


class Report(_Shown):
    """What check or spectrum found, as attributes; docs/python.md lists them.

    >>> import taut
    >>> report = taut.Model("double_pendulum").check()
    >>> report.usable, report.rank
    (True, 2)
    """

    def __init__(self, title: str, values: dict[str, Any], rows: list[tuple[str, Any]]) -> None:
        self._title, self._shown = title, rows
        self.__dict__.update(values)

    def _rows(self) -> list[tuple[str, Any]]:
        return self._shown

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


class Result(_Named):
    """A run: t, q, v, lam, outputs, energy, drift, one column for each row of the run.

    Arrays are read-only views of the rows that the library wrote. success, status, message, error
    (measured by a second run, relative; NaN: not measured), motion, method, explanation,
    statistics, warnings, t_events; the rest of what the library reports is in `info`.

    >>> import taut
    >>> r = taut.Model("double_pendulum").solve((0, 1), t_eval=[0, 0.5, 1])
    >>> r.q.shape, r["x1"].shape, r.success
    ((4, 3), (3,), True)
    >>> bool(r.error < 1e-4)
    True
    """

    t: Array
    q: Array
    v: Array
    lam: Array
    outputs: Array
    energy: Array
    drift: Array

    def __init__(self, columns: dict[str, tuple[str, int]], arrays: dict[str, Array],
                 info: dict[str, Any], t_events: dict[str, Array], model: str,
                 dense: Optional[Callable[[], Callable[[float], State]]] = None) -> None:
        self.columns, self.info, self.t_events, self.model = columns, info, t_events, model
        self.__dict__.update(arrays)
        self.status: int = info["status"]
        self.success: bool = self.status in (0, 1)
        self.message: str = info["message"]
        self.error: float = info["error"]
        self.motion: str = info["motion"]
        self.method: str = info["method"]
        self.explanation: str = info["explanation"]
        self.statistics: dict[str, int] = info["statistics"]
        self.warnings: list[str] = info["warnings"]
        self._dense = dense
        self._sol: Optional[Callable[[float], State]] = None
        self._title = info["title"]

    def _rows(self) -> list[tuple[str, Any]]:
        events = {name: len(times) for name, times in self.t_events.items() if len(times)}
        rows = [("message", self.message), ("motion", f"{self.motion} {self.method}".strip()),
                ("rows", len(self.t)), ("steps", self.statistics["steps"]),
                ("force evaluations", self.statistics["force_evaluations"]),
                ("measured error", f"{self.error:.2g}")]
        if len(self.t):
            rows.insert(2, ("time", f"{self.t[0]:.9g} to {self.t[-1]:.9g}"))
        return rows + [("events", events)] * bool(events) + [("warning", w) for w in self.warnings]

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return f"<taut.Result {self.model or self._title!r}: {self.message}, {len(self)} rows>"

    def sol(self, t: float) -> State:
        """The state at any time of the run, by interpolation between its steps.

        The first call repeats the run, and keeps its steps this time, unless it was made with
        dense_output=True.

        >>> import taut
        >>> r = taut.Model("double_pendulum").solve((0, 1))
        >>> bool(abs(r.sol(0.5)["x1"] - r["x1"][abs(r.t - 0.5).argmin()]) < 1e-8)
        True
        """
        if self._sol is None:
            if self._dense is None:
                raise ValueError("a run that was loaded has its rows alone")
            self._sol = self._dense()
        return self._sol(float(t))

    def to_pandas(self) -> Any:
        """A DataFrame with the columns of a CSV file, indexed by t (needs pandas)."""
        import pandas
        data = {name: self[name] for name in self.columns}
        return pandas.DataFrame(data, index=pandas.Index(self.t, name="t"))

    def to_xarray(self) -> Any:
        """A Dataset with the variables q, v, lam, outputs, energy (needs xarray)."""
        import xarray
        variables: dict[str, Any] = {"energy": ("t", self.energy)}
        coordinates: dict[str, Any] = {"t": self.t}
        for part in _PARTS:
            names = [name for name, (where, _) in self.columns.items() if where == part]
            if names:
                variables[part] = ((part + "_name", "t"), getattr(self, part))
                coordinates[part + "_name"] = names
        about = {"message": self.message, "model": self.model}
        return xarray.Dataset(variables, coordinates, about)

    def plot(self, names: Optional[Iterable[str]] = None, ax: Any = None) -> Any:
        """Draws columns against time (needs matplotlib): by default the first coordinates."""
        if ax is None:
            import matplotlib.pyplot
            ax = matplotlib.pyplot.gca()
        for name in list(self.columns)[:min(8, len(self.q))] if names is None else names:
            ax.plot(self.t, self[name], label=name)
        ax.set_xlabel("t")
        ax.set_title(self._title)
        ax.legend()
        return ax

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes .h5 (H5MD, as the program does; needs h5py) or .npz; taut.load reads both."""
        path = os.fspath(path)
        arrays = {name: getattr(self, name) for name in ("t", *_PARTS, "energy", "drift")}
        about = json.dumps({"format": _FORMAT, "columns": self.columns, "info": self.info,
                            "model": self.model,
                            "t_events": {k: list(t) for k, t in self.t_events.items()}})
        if path.endswith(".npz"):
            np.savez(path, about=np.array(about), **arrays)
        elif path.endswith((".h5", ".hdf5")):
            _write_hdf5(path, self.columns, arrays, about)
        else:
            raise ValueError(f"{path}: expected a name that ends in .h5 or .npz")


def load(path: Union[str, "os.PathLike[str]"]) -> Result:
    """A run that Result.save or `taut run --out FILE.h5` wrote.

    >>> import os, taut, tempfile
    >>> r = taut.Model("double_pendulum").solve((0, 1))
    >>> path = os.path.join(tempfile.mkdtemp(), "run.npz")
    >>> r.save(path)
    >>> bool((taut.load(path).q == r.q).all())
    True
    """
    path = os.fspath(path)
    if path.endswith(".npz"):
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
            about = json.loads(str(arrays.pop("about")))
    else:
        arrays, about = _read_hdf5(path)
    if about["format"] > _FORMAT:
        raise ValueError(f"{path}: a later version of Taut wrote it (format {about['format']})")
    for array in arrays.values():
        array.flags.writeable = False
    columns = {name: (part, k) for name, (part, k) in about["columns"].items()}
    events = {name: np.array(times) for name, times in about["t_events"].items()}
    return Result(columns, arrays, about["info"], events, about["model"])


# q, v, lam and outputs in H5MD: of mechanical systems, and of first order
_PLACES = (("coordinates", "velocities", "multipliers", "outputs"),
           ("state", "algebraic", "multipliers", "outputs"))
_NAMES = (("coordinate_names", "q", "{}"), ("coordinate_names", "v", "{}'"),
          ("bond_names", "lam", "lambda({})"), ("output_names", "outputs", "{}"))


def _write_hdf5(path: str, columns: dict[str, tuple[str, int]], arrays: dict[str, Array],
                about: str) -> None:
    import h5py
    with h5py.File(path, "w") as file:
        file.create_group("h5md").attrs["version"] = np.array([1, 1], dtype=np.int32)
        file.create_group("taut").attrs["about"] = about
        for place, part in zip(_PLACES[0], _PARTS):
            group = file.create_group(f"observables/{place}")
            group["value"] = arrays[part].T
        for name in ("energy", "drift"):
            file[f"observables/{name}/value"] = arrays[name].T
        for group in file["observables"].values():
            group["step"], group["time"] = np.arange(len(arrays["t"])), arrays["t"]
        for name, part, pattern in _NAMES:
            if name not in file.get("parameters", ()):
                names = [key for key, (where, _) in columns.items() if where == part]
                cut = len(pattern.split("{}")[0]), len(pattern.split("{}")[1])
                file[f"parameters/{name}"] = [n[cut[0]:len(n) - cut[1]].encode() for n in names]


def _read_hdf5(path: str) -> tuple[dict[str, Array], dict[str, Any]]:
    import h5py
    with h5py.File(path, "r") as file:
        def read(*places: str) -> Optional[Array]:
            found = [file[place][()] for place in places if place in file]
            return found[0].reshape(len(found[0]), -1).T if found else None
        values = [read(*(f"observables/{row[k]}/value" for row in _PLACES), *more) for k, more in
                  enumerate((("particles/all/position/value",), ("particles/all/velocity/value",),
                             (), ()))]
        first = next(group for group in (*file.get("observables", {}).values(),
                                         *file.get("particles", {}).get("all", {}).values())
                     if "time" in group)
        t: Array = first["time"][()]
        arrays = {part: np.zeros((0, len(t))) if value is None else value
                  for part, value in zip(_PARTS, values)}
        energy, drift = read("observables/energy/value"), read("observables/drift/value")
        arrays.update(t=t, energy=np.full(len(t), np.nan) if energy is None else energy[0],
                      drift=np.full((2, len(t)), np.nan) if drift is None else drift)
        if "taut" in file and "about" in file["taut"].attrs:
            return arrays, json.loads(file["taut"].attrs["about"])
        columns: dict[str, tuple[str, int]] = {}
        first_order = "observables/state" in file
        for name, part, pattern in _NAMES:
            if first_order and part == "v":
                name, pattern = "algebraic_names", "{}"
            for k, text in enumerate(file.get(f"parameters/{name}", ())):
                if k < len(arrays[part]):
                    columns[pattern.format(text.decode())] = (part, k)
    info = dict(status=0, message="read from a file", error=float("nan"), motion="", method="",
                explanation="", warnings=[], title=os.path.basename(path),
                statistics=dict(steps=0, force_evaluations=0))
    return arrays, dict(format=_FORMAT, columns=columns, info=info, model="", t_events={})
