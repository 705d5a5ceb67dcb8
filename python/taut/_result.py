"""States, runs and reports: numbers that are found by name."""
from __future__ import annotations

import functools
import html
import json
import os
from typing import Any, Callable, Iterable, Optional, Sequence, Union

import numpy as np

from ._files import PARTS, Columns, Record, read, write
from ._library import Array, System, lib, near_miss, need, reals, text
from ._page import Page, page_of_runs, texts_of_tables

# status in the summary of a file; "failed" is a negative code
_STATUS = {"done": lib.TAUT_OK, "event": lib.TAUT_EVENT, "interrupted": lib.TAUT_INTERRUPTED,
           "limit": lib.TAUT_LIMIT, "inaccurate": lib.TAUT_INACCURATE}


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

    def __repr__(self) -> str:
        return f"<taut.{type(self).__name__} {self._title!r}>"

    def _repr_html_(self) -> str:
        return _table(self._title, self._rows())


class _Named(_Shown):
    """Arrays q, v, lam, outputs whose first index has names: those of the columns of a CSV file.

    A velocity is x', the multiplier of a bond link[1] is link[1] or lambda(link[1]).
    """

    columns: Columns

    def __getitem__(self, name: str) -> Any:
        part, k = self.columns.get(name) or self.columns.get(f"lambda({name})") or ("", -1)
        if k >= 0:
            return getattr(self, part)[k]
        if name in ("t", "energy") and hasattr(self, name):
            return getattr(self, name)
        raise KeyError(f"no column {name!r}{near_miss(name, self.columns)}")


class State(_Named):
    """A state: t, q, v, lam (multipliers), also by name; or those of several times (Result.sol).

    >>> import taut
    >>> start = taut.Model("double_pendulum").initial()
    >>> start["x1"] == start.q[0]
    True
    """

    def __init__(self, columns: Columns, t: Any, q: Array, v: Array,
                 lam: Optional[Array] = None) -> None:
        self.columns, self.t, self.q, self.v = columns, t, q, v
        self.lam = self._unknown("lam") if lam is None else lam
        self.outputs = self._unknown("outputs")
        self._title = f"{np.size(t)} states" if np.ndim(t) else f"state at t = {t:.9g}"

    def _unknown(self, part: str) -> Array:
        count = sum(where == part for where, _ in self.columns.values())
        return np.full((count, *np.shape(self.t)), np.nan)

    def _rows(self) -> list[tuple[str, Any]]:
        return [(name, str(self[name]) if np.ndim(self.t) else repr(float(self[name])))
                for name, (part, _) in self.columns.items() if part != "outputs"]


class Projection(State):
    """A state on the slow manifold, or on the rigid bonds, and how it was found.

    method, explanation, passes, moved_normal, moved_tangential, statistics, ... are attributes;
    docs/python.md lists them.

    >>> import taut
    >>> point = taut.Model("double_pendulum").project(method="series")
    >>> point.success, point.method
    (True, 'series')
    """

    def __init__(self, columns: Columns, t: float, q: Array, v: Array,
                 lam: Array, info: dict[str, Any], start: State) -> None:
        super().__init__(columns, t, q, v, lam)
        self.__dict__.update(info)
        self.start = start
        self._title = info["explanation"] or f"projection {info['method']}"

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
    statistics, warnings, t_events; the rest of what the library reports is in `info`. model is the
    name of the model, texts what belongs to the run: model (its text), settings, version; of a file
    of the program also command and summary.

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
    _event: Array  # 1 + which of t_events is met in a row, or 0

    def __init__(self, columns: Columns, arrays: dict[str, Array],
                 info: dict[str, Any], t_events: dict[str, Array], model: str,
                 texts: Callable[[], dict[str, str]], system: Callable[[], System],
                 dense: Optional[Callable[[Optional[float]], Callable[[float], State]]] = None
                 ) -> None:
        self.columns, self.info, self.t_events, self.model = columns, info, t_events, model
        self._texts, self._make_system = texts, system
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

    @functools.cached_property
    def texts(self) -> dict[str, str]:
        """By name: model, settings, version, ..."""
        return self._texts()

    def state(self, row: int = -1) -> State:
        """The state of a row, by default the last one: Model.at(r.state()) goes on there.

        >>> import taut
        >>> r = taut.Model("double_pendulum").solve((0, 1))
        >>> r.state().t, bool((r.state(0).q == r.q[:, 0]).all())
        (1.0, True)
        """
        return State(self.columns, float(self.t[row]), self.q[:, row], self.v[:, row],
                     self.lam[:, row])

    def sol(self, t: Any) -> State:
        """The state at any time of the run, by interpolation between its steps; of several times at
        once, as a State whose arrays are q[coordinate, time].

        The first call repeats the run, and keeps its steps this time, unless it was made with
        dense_output=True; that of a loaded run reads its model from the file. An Error says why a
        run cannot be repeated.

        >>> import taut
        >>> r = taut.Model("double_pendulum").solve((0, 1))
        >>> bool(abs(r.sol(0.5)["x1"] - r["x1"][abs(r.t - 0.5).argmin()]) < 1e-8)
        True
        >>> r.sol([0.1, 0.2, 0.3]).q.shape
        (4, 3)
        """
        times = reals(t, None, "t")
        if np.ndim(t) > 1:
            raise ValueError(f"t: expected a time or a list of times, found shape {times.shape}")
        if self._sol is None:
            from ._run import repeat
            finished = self.status >= 0 and self.status != lib.TAUT_INTERRUPTED
            if not len(self):
                raise ValueError("the run has no rows")
            until = None if finished else float(self.t[-1])
            self._sol = self._dense(until) if self._dense else repeat(self, until)
        if np.ndim(t) == 0:
            return self._sol(float(t))
        states = [self._sol(float(one)) for one in times]
        q, v, lam = (np.reshape([getattr(state, part) for state in states],
                                (len(states), len(getattr(self, part)))).T for part in PARTS[:3])
        return State(self.columns, times, q, v, lam)

    def to_pandas(self) -> Any:
        """A DataFrame with the columns of a CSV file, indexed by t (needs pandas)."""
        pandas = need("pandas", "to_pandas")
        data = {name: self[name] for name in self.columns}
        return pandas.DataFrame(data, index=pandas.Index(self.t, name="t"))

    def to_xarray(self) -> Any:
        """A Dataset with the variables q, v, lam, outputs, energy (needs xarray)."""
        xarray = need("xarray", "to_xarray")
        variables: dict[str, Any] = {"energy": ("t", self.energy)}
        coordinates: dict[str, Any] = {"t": self.t}
        for part in PARTS:
            names = [name for name, (where, _) in self.columns.items() if where == part]
            if names:
                variables[part] = ((part + "_name", "t"), getattr(self, part))
                coordinates[part + "_name"] = names
        about = {"message": self.message, "model": self.model}
        return xarray.Dataset(variables, coordinates, about)

    def plot(self, names: Optional[Iterable[str]] = None, ax: Any = None) -> Any:
        """Draws columns against time (needs matplotlib): by default the first coordinates."""
        if ax is None:
            ax = need("matplotlib.pyplot", "plot").gca()
        for name in list(self.columns)[:min(8, len(self.q))] if names is None else names:
            ax.plot(self.t, self[name], label=name)
        ax.set_xlabel("t")
        ax.set_title(self._title)
        ax.legend()
        return ax

    def animate(self, path: Union[str, "os.PathLike[str]", None] = None,
                others: Iterable["Result"] = (), *, names: Optional[Sequence[str]] = None,
                height: int = 720) -> Page:
        """A page that plays the run, with plots that follow the time (docs/page.md).

        In a notebook it is shown; with a path that ends in .html it is written, too. others: runs
        that are shown together with this one, and their differences; names: of all of them.

        >>> import taut
        >>> m = taut.Model("double_pendulum", omega=50)
        >>> full, slow = m.solve((0, 1), motion="full"), m.solve((0, 1), motion="slow")
        >>> full.animate(others=[slow], names=["full", "slow"]).title == m.title
        True
        """
        page = page_of_runs([self, *others], names, height)
        return page if path is None else page.write(path)

    def _page_texts(self) -> dict[str, str]:
        found = {name: self.texts[name] for name in ("command", "settings", "start")
                 if name in self.texts}
        return {**found, "warnings": "\n".join(self.warnings), "explanation": self.explanation,
                "summary": str(self), **texts_of_tables(self.texts)}

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes .h5 (H5MD, as the program does; needs h5py) or .npz; taut.load reads both."""
        arrays = {name: getattr(self, name) for name in ("t", *PARTS, "energy", "drift")}
        arrays["event"] = self._event
        texts = {**self.texts, "name": self.model, "summary": _summary(self)}
        write(os.fspath(path), Record(self.columns, arrays, list(self.t_events), texts))


def _finite(value: Any) -> Any:
    """JSON has no NaN and no infinity."""
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _summary(run: Result) -> str:
    word = next((word for word, code in _STATUS.items() if code == run.status), "failed")
    events = {name: [float(t) for t in times] for name, times in run.t_events.items()}
    return json.dumps(_finite({**run.info, "status": word, "code": run.status,
                               "t_events": events}), indent=2)


def _info(texts: dict[str, str], title: str) -> dict[str, Any]:
    """`info` of a Result from the summary of a file; members of its objects by their own names."""
    found: dict[str, Any] = dict(method="", motion="", explanation="", warnings=[], error=None,
                                 statistics=dict(steps=0, force_evaluations=0), title=title)
    summary = json.loads(texts.get("summary") or "{}")
    failure = summary.pop("error") if isinstance(summary.get("error"), dict) else {}
    for group, prefix in (("errors", "error_"), ("drift", "drift_"), ("energy", "energy_"),
                          ("events", ""), ("slow_field", ""), ("watched", "")):
        found.update({prefix + name: value for name, value in summary.pop(group, {}).items()})
    found.update(statistics=summary.pop("stats", found["statistics"]))
    found.update(summary)
    found = {name: np.nan if value is None else value for name, value in found.items()}
    word = found.get("status", "unfinished")
    status = found.pop("code", _STATUS.get(word, lib.TAUT_INTERRUPTED))
    if failure:
        status = next(code for code in range(-1, -100, -1)
                      if text(lib.taut_code_name(code)) == failure["code"])
    message = failure.get("message") or (text(lib.taut_code_text(status)) if word != "unfinished"
                                         else "the file has no end of the run")
    return {"message": message, **found, "status": status}


def _system(path: str, texts: dict[str, str]) -> System:
    """The system of a file, from its model, tables and parameters."""
    from ._model import Model
    if "\n" not in texts.get("model", ""):
        raise ValueError(f"{path}: it has no text of a model, which a page needs: animate the run "
                         "before it is saved")
    lines = [line.partition("=")[2].partition("=") for line in texts["settings"].splitlines()
             if line.startswith("set ")]
    tables = {name: texts[f"table{k + 1}"]
              for k, name in enumerate(texts.get("tables", "").splitlines())}
    given = {name.strip(): value.strip() for name, _, value in lines}
    return Model(texts["model"], set=given, tables=tables)._system


def load(path: Union[str, "os.PathLike[str]"]) -> Result:
    """A run that Result.save or `taut run --out FILE.h5` wrote, also one that was interrupted.

    >>> import os, taut, tempfile
    >>> r = taut.Model("double_pendulum").solve((0, 1))
    >>> path = os.path.join(tempfile.mkdtemp(), "run.npz")
    >>> r.save(path)
    >>> bool((taut.load(path).q == r.q).all())
    True
    """
    where = os.fspath(path)
    record = read(where)
    for array in record.arrays.values():
        array.flags.writeable = False
    info = _info(record.texts, record.texts.get("name") or os.path.basename(where))
    event, t = record.arrays.pop("event"), record.arrays["t"]
    record.arrays["_event"] = event
    events = {name: t[event == k + 1] for k, name in enumerate(record.events)}
    events.update({name: np.array(times) for name, times in info.pop("t_events", {}).items()})
    return Result(record.columns, record.arrays, info, events, record.texts.get("name", ""),
                  lambda: record.texts, lambda: _system(where, record.texts))
