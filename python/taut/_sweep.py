"""Sweeps: many runs of one model with different values, by taut_sweep_run, and a row for each."""
from __future__ import annotations

import html
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Optional, Union

import numpy as np

from ._library import (System, as_text, c_texts, check, copy, ffi, lib, make_options, need,
                       new_error, new_struct, option_name, text)
from ._page import Page, page_of_sweep, texts_of_tables
from ._result import _Shown

if TYPE_CHECKING:
    from ._model import Model

Progress = Callable[[int, int, int], Any]
_HEAD = 20  # rows that are shown


class Sweep(_Shown):
    """The table of a sweep: columns as arrays, by name; to_pandas().

    Columns are what was varied, what was kept (NaN where a run failed), and status (as of a Result;
    negative: an error), error (measured), steps, force_evaluations and message (why it failed).

    >>> import taut
    >>> s = taut.Model("double_pendulum").sweep({"omega": [100, 200]}, (0, 1), keep="max(energy)")
    >>> s["omega"].tolist(), s["max(energy)"].shape
    ([100.0, 200.0], (2,))
    """

    def __init__(self, columns: dict[str, Any], page: Callable[[int], Page]) -> None:
        self.columns, self._page = columns, page
        self._title = f"sweep of {len(self)} runs, {int((self['status'] < 0).sum())} failed"

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.columns["status"])

    def _lines(self) -> list[list[str]]:
        """The names and the first rows, as texts; messages where there are some."""
        names = [name for name in self.columns if name != "message" or any(self[name])]
        return [names] + [[f"{value:.6g}" if isinstance(value, float) else str(value) for value in
                           (self[name][k] for name in names)] for k in range(min(len(self), _HEAD))]

    def _more(self) -> str:
        return f"and {len(self) - _HEAD} rows more" if len(self) > _HEAD else ""

    def __str__(self) -> str:
        lines = self._lines()
        widths = [max(map(len, column)) for column in zip(*lines)]
        if lines[0][-1] == "message":
            widths[-1] = 0  # begins below its name
        rows = ["  " + "  ".join(f"{text:>{width}}" for text, width in zip(line, widths)).rstrip()
                for line in lines]
        return "\n".join([self._title, *rows] + ["  " + self._more()] * (len(self) > _HEAD))

    def _repr_html_(self) -> str:
        head, *lines = [[html.escape(text) for text in line] for line in self._lines()]
        rows = [f"<tr><th>{'</th><th>'.join(head)}</th></tr>"]
        rows += [f"<tr><td>{'</td><td>'.join(line)}</td></tr>" for line in lines]
        return f"<table><caption>{self._title}</caption>{''.join(rows)}</table>{self._more()}"

    def to_pandas(self) -> Any:
        """A DataFrame (needs pandas)."""
        pandas = need("pandas", "to_pandas")
        return pandas.DataFrame(self.columns)

    def page(self, path: Union[str, "os.PathLike[str]", None] = None, *,
             height: int = 720) -> Page:
        """A page with kept values over varied ones, as curves or as a map, and the table.

        In a notebook it is shown; with a path that ends in .html it is written, too.

        >>> import taut
        >>> s = taut.Model("pendulum").sweep({"rtol": "1e-6:1e-3:log4"}, (0, 1), keep="end(y1)")
        >>> s.page().title
        'Stiff spring pendulum under gravity [B (1.1)]'
        """
        page = self._page(height)
        return page if path is None else page.write(path)


def _varied(system: System, vary: Mapping[str, Any]) -> Iterator[str]:
    """NAME=VALUES as the library reads them: names of the model come before those of options."""
    if not isinstance(vary, Mapping):
        raise TypeError("vary: expected values by name, such as {'rtol': [1e-3, 1e-6]}, found "
                        f"{vary!r}")
    for name, values in vary.items():
        if np.ndim(values) > 1:
            raise ValueError(f"vary: {name}: expected a list of values, found an array of shape "
                             f"{np.shape(values)}")
        own = system.find("parameter", name) >= 0 or name in system.columns
        several = [values] if np.ndim(values) == 0 else values
        yield f"{name if own else option_name(name)}={','.join(map(as_text, several))}"


def _interruptible(run: Callable[[Progress], Any], progress: Progress) -> Any:
    """Several threads: the calling one waits in Python, where Ctrl-C takes effect at once."""
    stop, raised = threading.Event(), []

    def call(done: int, runs: int, failed: int) -> bool:
        try:
            return stop.is_set() or bool(progress(done, runs, failed))
        except BaseException as exception:
            raised.append(exception)
            return True

    with ThreadPoolExecutor(max_workers=1) as pool:
        try:
            result = pool.submit(run, call).result()
        finally:
            stop.set()
    if raised:
        raise raised[0]
    return result


def _column(table: Any, j: int, numbers: Any) -> Any:
    """Varied values: numbers, or texts where some are words."""
    if not np.isnan(numbers).any():
        return numbers
    buffer, words = ffi.new("char[]", 256), []
    for k in range(len(numbers)):
        lib.taut_sweep_text(table, k, j, buffer, 256)
        words.append(text(buffer))
    return np.array(words)


def _columns(table: Any, vary: list[str], keep: list[str]) -> dict[str, Any]:
    count = lib.taut_sweep_rows(table, ffi.NULL)
    row, error = new_struct("taut_swept"), new_error()
    varied, kept = np.zeros((count, len(vary))), np.zeros((count, len(keep)))
    last: dict[str, Any] = {"status": np.zeros(count, int), "error": np.zeros(count),
                            "steps": np.zeros(count, int),
                            "force_evaluations": np.zeros(count, int)}
    messages = []
    for k in range(count):
        check(lib.taut_sweep_get(table, k, row, error), error)
        varied[k], kept[k] = copy(row.varied, len(vary)), copy(row.kept, len(keep))
        for name, values in last.items():
            values[k] = getattr(row, name)
        messages.append(text(row.message))
    columns = {name: _column(table, j, varied[:, j]) for j, name in enumerate(vary)}
    columns.update({name: kept[:, j] for j, name in enumerate(keep)})
    return {**columns, **last, "message": np.array(messages, dtype=str)}


def sweep(model: "Model", vary: Mapping[str, Any], keep: list[str], how: Mapping[str, int],
          progress: Optional[Progress], given: dict[str, Any]) -> Sweep:
    system = model._system
    alive: list[Any] = []
    if "verify" not in system.settings():  # as the program
        given.setdefault("verify", "auto")
    options, request = make_options("run", given), new_struct("taut_sweep_request")
    varied = list(_varied(system, vary))
    request.vary, request.vary_count = c_texts(varied, alive), len(varied)
    request.keep, request.keep_count = c_texts(keep, alive), len(keep)
    request.load = model._load(alive)
    for name, value in how.items():
        setattr(request, name, value)
    if system.calls_python:  # one at a time anyway; exceptions wait in the thread of the caller
        request.threads = 1

    def run(called: Progress) -> Any:
        user = ffi.new_handle(lambda done, runs, failed: called(int(done), int(runs), failed))
        handle, error = ffi.new("taut_sweep **"), new_error()
        status = lib.taut_sweep_run(system.pointer, options, request, ffi.NULL,
                                    lib.taut_python_progress, user, handle, error)
        table = ffi.gc(handle[0], lib.taut_sweep_destroy) if handle[0] else None
        if text(error.file) == "<keep>":
            error.option = b"keep"
        check(status, error)
        return table

    called = progress or (lambda done, runs, failed: False)
    table = run(called) if request.threads <= 1 else _interruptible(run, called)
    name = model.title or "sweep"
    lines = [f"vary = {text}" for text in varied] + [f"keep = {e}" for e in keep]
    lines += [f"{key} = {as_text(value)}" for key, value in {**how, **given}.items()
              if value is not None and key != "threads"]
    columns = _columns(table, list(vary), keep)
    texts = {"settings": "\n".join(lines), **texts_of_tables(model._texts({}))}
    return Sweep(columns, lambda height: page_of_sweep(table, system, name, texts, height))
