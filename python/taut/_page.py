"""Pages: one HTML file that plays runs or shows a sweep, in a browser or inside a notebook."""
from __future__ import annotations

import html
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

import numpy as np

from ._library import System, check, doubles, ffi, lib, new_error

if TYPE_CHECKING:
    from ._result import Result

# Scripts run, with an origin of their own: the page sees nothing of the notebook around it.
_FRAME = ('<iframe sandbox="allow-scripts allow-downloads" style="width:100%;height:{height}px;'
          'border:0" title="{title}" srcdoc="{page}"></iframe>')


class Page:
    """A page: in a notebook it shows itself; write(path) makes a file, `html` is its text.

    >>> import taut
    >>> page = taut.Model("double_pendulum").solve((0, 1)).animate()
    >>> page.html.startswith("<!DOCTYPE html>")
    True
    """

    def __init__(self, text: str, title: str, height: int) -> None:
        self.html, self.title, self.height = text, title, height

    def __repr__(self) -> str:
        return f"<taut.Page {self.title!r}: {len(self.html)} characters>"

    def _repr_html_(self) -> str:
        return _FRAME.format(height=self.height, title=html.escape(self.title, quote=True),
                             page=html.escape(self.html, quote=True))

    def write(self, path: Union[str, "os.PathLike[str]"]) -> "Page":
        """Writes the file, whose name ends in .html; returns the page."""
        path = Path(path)
        if path.suffix not in (".html", ".htm"):
            raise ValueError(f"{path}: expected a name that ends in .html")
        path.write_text(self.html, encoding="utf-8")
        return self


def _new() -> Any:
    handle, error = ffi.new("taut_page **"), new_error()
    check(lib.taut_page_create(ffi.NULL, handle, error), error)
    return ffi.gc(handle[0], lib.taut_page_destroy)


def _finish(page: Any, texts: Mapping[str, str], title: str, height: int) -> Page:
    with tempfile.TemporaryDirectory() as folder:
        path, error = os.path.join(folder, "page.html"), new_error()
        _put_texts(page, texts)
        check(lib.taut_page_write(page, os.fsencode(path), error), error)
        return Page(Path(path).read_text(encoding="utf-8"), title, height)


def _put_texts(page: Any, texts: Mapping[str, str]) -> None:
    for heading, text in texts.items():
        error = new_error()
        if text:
            check(lib.taut_page_text(page, heading.encode(), text.encode(), error), error)


def texts_of_tables(texts: Mapping[str, str]) -> dict[str, str]:
    return {f"table {name}": texts[f"table{k + 1}"]
            for k, name in enumerate(texts.get("tables", "").splitlines())}


def _add_run(page: Any, run: "Result", name: str, system: System) -> None:
    error, sink, row = new_error(), ffi.new("taut_sink *"), ffi.new("taut_row *")
    check(lib.taut_page_run(page, name.encode(), sink, error), error)
    check(sink.begin(sink.user, system.pointer, error), error)
    # one row after the other in memory
    parts = [np.ascontiguousarray(array.T) for array in (run.q, run.v, run.lam, run.outputs)]
    pointers = [doubles(array) for array in parts]
    widths = [array.shape[1] for array in parts]
    events = [0] + [system.find("event", name) + 1 for name in run.t_events]
    for k in range(len(run)):
        row.t, row.energy = run.t[k], run.energy[k]
        row.q, row.v, lam, row.outputs = (p + k * n if n else p for p, n in zip(pointers, widths))
        setattr(row, "lambda", lam)
        row.drift_position, row.drift_velocity = run.drift[:, k]
        row.event = events[int(run._event[k])]
        check(sink.row(sink.user, row, error), error)
    check(sink.end(sink.user, error), error)


def page_of_runs(runs: Sequence["Result"], names: Optional[Sequence[str]], height: int) -> Page:
    if names is None:  # what differs between them
        names = [run.model for run in runs]
        for described in ([run.motion for run in runs], [run.method for run in runs]):
            names = described if len(set(names)) < len(runs) else names
        if len(set(names)) < len(runs):
            names = [f"run {k + 1}" for k in range(len(runs))]
    if len(names) != len(runs):
        raise ValueError(f"names: expected {len(runs)}, one for each run, found {len(names)}")
    page = _new()
    for k, (run, name) in enumerate(zip(runs, names)):
        if k:
            _put_texts(page, runs[k - 1]._page_texts())
        _add_run(page, run, name, run._make_system())
    return _finish(page, runs[-1]._page_texts(), runs[0]._title, height)


def page_of_sweep(table: Any, system: System, name: str, texts: Mapping[str, str],
                  height: int) -> Page:
    page, error = _new(), new_error()
    check(lib.taut_page_sweep(page, name.encode(), system.pointer, table, error), error)
    return _finish(page, texts, name, height)
