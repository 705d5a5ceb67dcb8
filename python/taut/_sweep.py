"""Sweeps: one run for each combination of values, and one row for each run.

What is kept of a run: FUNCTION(COLUMN), with the functions of `_KEEP` and the columns of a Result;
count(EVENT) is the number of its times.
"""
from __future__ import annotations

import itertools
import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Optional, Sequence, Union

import numpy as np

from ._library import Array, Error, near_miss
from ._result import Result, _Shown

if TYPE_CHECKING:
    from ._model import Model


def _mean(t: Array, x: Array) -> float:
    """Over time, by the trapezoidal rule."""
    if t[0] == t[-1]:
        return float(x[0])
    return float(((x[1:] + x[:-1]) * np.diff(t)).sum() / 2 / (t[-1] - t[0]))


_KEEP: dict[str, Callable[[Array, Array], Any]] = {
    "start": lambda t, x: x[0], "end": lambda t, x: x[-1],
    "min": lambda t, x: x.min(), "max": lambda t, x: x.max(),
    "mean": _mean, "rms": lambda t, x: np.sqrt(_mean(t, x * x)),
    "argmin": lambda t, x: t[x.argmin()], "argmax": lambda t, x: t[x.argmax()]}


def _kept(text: str, model: "Model") -> Callable[[Result], float]:
    """The function of a run that `text` describes; refused before anything is run."""
    match = re.fullmatch(r"\s*(\w+)\((.*)\)\s*", text)
    names = [*_KEEP, "count"]
    if not match or match[1] not in names:
        raise Error(f"'{text}': expected FUNCTION(COLUMN), with one of {', '.join(names)}",
                    option="keep")
    function, name = match[1], match[2].strip()
    columns = model._system.columns
    known = model.events if function == "count" else (*columns, *model.bonds, "energy")
    if name not in known:
        what = "event" if function == "count" else "column"
        raise Error(f"'{text}': no {what} '{name}'{near_miss(name, known)}", option="keep")
    if function == "count":
        return lambda run: float(len(run.t_events[name]))
    return lambda run: float(_KEEP[function](run.t, run[name]))


class Sweep(_Shown):
    """The table of a sweep: columns as arrays, by name; to_pandas().

    Columns are what was varied, what was kept, and status (as of a Result; negative: an error),
    error (measured), force_evaluations and message.

    >>> import taut
    >>> s = taut.Model("double_pendulum").sweep({"omega": [100, 200]}, (0, 1), keep="max(energy)")
    >>> s["omega"].tolist(), s["max(energy)"].shape
    ([100.0, 200.0], (2,))
    """

    def __init__(self, columns: dict[str, Any]) -> None:
        self.columns = columns
        self._title = f"sweep of {len(self)} runs, {int((self['status'] < 0).sum())} failed"

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.columns["status"])

    def _rows(self) -> list[tuple[str, Any]]:
        return [(name, values) for name, values in self.columns.items() if name != "message"]

    def to_pandas(self) -> Any:
        """A DataFrame (needs pandas)."""
        import pandas
        return pandas.DataFrame(self.columns)


def _map(one: Callable[[tuple[Any, ...]], dict[str, Any]], runs: Iterable[tuple[Any, ...]],
         workers: int) -> list[dict[str, Any]]:
    if workers == 1:  # in this thread, where Ctrl-C ends the run
        return [one(values) for values in runs]
    pool = ThreadPoolExecutor(max_workers=workers)
    try:
        return list(pool.map(one, runs))
    finally:
        pool.shutdown(cancel_futures=True)  # after an exception no further run begins


def sweep(model: "Model", vary: Mapping[str, Sequence[Any]], t_span: Optional[tuple[float, float]],
          keep: Union[str, Sequence[str]], workers: int, options: dict[str, Any]) -> Sweep:
    texts = [keep] if isinstance(keep, str) else list(keep)
    kept = {text: _kept(text, model) for text in texts}
    known = {*model.parameters}, {*model._system.columns}

    def one(values: tuple[Any, ...]) -> dict[str, Any]:
        given = dict(zip(vary, values))
        row: dict[str, Any] = dict(given, **dict.fromkeys(kept, np.nan))
        row.update(status=0, error=np.nan, force_evaluations=0, message="")
        try:
            copy = model._copy().set(**{k: v for k, v in given.items() if k in known[0]})
            start = {k: v for k, v in given.items() if k in known[1]}
            how = {k: v for k, v in given.items() if k not in known[0] and k not in known[1]}
            run = (copy.at(start) if start else copy).solve(t_span, **{**options, **how})
            row.update({text: function(run) for text, function in kept.items()})
            row.update(status=run.status, error=run.error, message=run.message,
                       force_evaluations=run.statistics["force_evaluations"])
        except Error as error:
            row.update(status=error.code, message=error.message)
        return row

    rows = _map(one, itertools.product(*vary.values()), workers)
    names = [*vary, *kept, "status", "error", "force_evaluations", "message"]
    table = {name: [row[name] for row in rows] for name in names}
    return Sweep({name: np.array(values, dtype=None if any(isinstance(v, str) for v in values) or
                                 name in ("status", "force_evaluations") else float)
                  for name, values in table.items()})
