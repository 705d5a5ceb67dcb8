"""What every class needs of the C library: errors, options, names, views of its memory, callbacks.

The GIL is released in every call. A callback takes it again, and an exception in it waits in
`_waiting` of its thread until the call returns to Python, where `check` raises it.
"""
from __future__ import annotations

import functools
import importlib
import numbers
import reprlib
import threading
from typing import Any, Callable, Iterable, Mapping, Optional

import numpy as np
from numpy.typing import NDArray

from ._taut import ffi as ffi, lib as lib

Array = NDArray[np.float64]

_waiting = threading.local()
_ITEMS = {"coordinate": lib.TAUT_COORDINATE, "algebraic": lib.TAUT_ALGEBRAIC,
          "bond": lib.TAUT_BOND, "parameter": lib.TAUT_PARAMETER, "output": lib.TAUT_OUTPUT,
          "event": lib.TAUT_EVENT_ITEM}
# Options of the program alone, and those that Model or a method has by another name.
_PROGRAM = {"set", "init", "start", "out", "end", "checkpoint", "checkpoint-every", "resume",
            "plot", "compile", "json", "list", "quiet", "verbose", "help", "version"}


def text(pointer: Any) -> str:
    return str(ffi.string(pointer).decode("utf-8", "replace")) if pointer else ""


class Error(Exception):
    """What failed, where, and what can be done.

    code and name ("TAUT_ERROR_MODEL"), message, option (the keyword that it is about, or ""), file,
    line, column and source (of a model), t (the time of the failure), result (what a run that
    failed had computed, or None).

    >>> import taut
    >>> try:
    ...     taut.Model("double_pendulum").solve(rtol=-1)
    ... except taut.Error as error:
    ...     print(error.name, error.option)
    TAUT_ERROR_USAGE rtol
    """

    def __init__(self, message: str, code: int = lib.TAUT_ERROR_USAGE, option: str = "",
                 file: str = "", line: int = 0, column: int = 0, source: str = "",
                 t: float = float("nan")) -> None:
        place = f"{file}:{line}:{column}: " if line else f"{option}: " if option else ""
        super().__init__(place + message + (f"\n    {source}" if source else ""))
        self.message, self.code, self.option, self.t = message, code, option, t
        self.file, self.line, self.column, self.source = file, line, column, source
        self.name = text(lib.taut_code_name(code))
        self.result: Any = None


def new_error() -> Any:
    error = ffi.new("taut_error *")
    error.t = float("nan")
    return error


def check(status: int, error: Any) -> int:
    """Raises what a callback raised, or the error of a negative status."""
    raised, _waiting.exception = getattr(_waiting, "exception", None), None
    if raised is not None:
        raise raised
    if status < 0:
        raise Error(text(error.message) or text(lib.taut_code_text(status)), status,
                    text(error.option).replace("-", "_"), text(error.file), error.line,
                    error.column, text(error.source), error.t)
    return status


def interruptible(system: "System", call: Callable[..., Any], *arguments: Any,
                  drop: Callable[[], Any] = lambda: None) -> Any:
    """A call about a system that Ctrl-C ends at once.

    Signals take effect where Python code runs, and in the main thread only: it waits there for a
    thread that calls. After Ctrl-C that thread computes on to its end, and what it has found is
    dropped. A call that leads to Python functions handles signals itself.
    """
    if system.calls_python or threading.current_thread() is not threading.main_thread():
        return call(*arguments)
    found: list[Any] = []
    raised: list[BaseException] = []
    ready, leaves = threading.Event(), iter([False, True])  # who leaves last drops

    def run(alive: "System") -> None:
        try:
            found.append(call(*arguments))
        except BaseException as exception:
            raised.append(exception)
        finally:
            ready.set()
            if next(leaves):
                drop()

    threading.Thread(target=run, args=(system,), name="taut", daemon=True).start()
    try:
        ready.wait()
    except BaseException:
        if next(leaves):
            drop()
        raise
    if raised:
        raise raised[0]
    return found[0]


def texts(call: Any, pointer: Any) -> list[str]:
    """What the library gives one by one, by number, until it gives NULL."""
    found: list[str] = []
    while call(pointer, len(found)) != ffi.NULL:
        found.append(text(call(pointer, len(found))))
    return found


def new_struct(name: str) -> Any:
    struct = ffi.new(name + " *")
    struct.size = ffi.sizeof(name)
    return struct


@functools.lru_cache(maxsize=None)
def _readers(kind: Any) -> list[tuple[str, Optional[Callable[[Any], Any]]]]:
    """Members of a struct that Python can have, and how each is read; None: as it is."""
    found: list[tuple[str, Optional[Callable[[Any], Any]]]] = []
    for name, field in (kind.item if kind.kind == "pointer" else kind).fields:
        if name in ("size", "reserved"):
            continue
        if field.type.kind in ("primitive", "enum"):
            found.append((name, None))
        elif field.type.cname == "char *" or field.type.cname.startswith("char["):
            found.append((name, text))
        elif field.type.kind == "struct":
            found.append((name, members))
        elif field.type.kind == "array" and field.type.item.kind == "primitive":
            found.append((name, list))
    return found


def members(struct: Any, without: Iterable[str] = ()) -> dict[str, Any]:
    """Numbers and texts of a C struct by name; structs inside become dictionaries."""
    return {name: read(getattr(struct, name)) if read else getattr(struct, name)
            for name, read in _readers(ffi.typeof(struct)) if name not in without}


class _Memory:
    """Numbers of the library as an array: `owner` lives as long as the array does."""

    def __init__(self, pointer: Any, shape: tuple[int, ...], owner: Any) -> None:
        address = int(ffi.cast("uintptr_t", pointer))
        self.owner = owner
        self.__array_interface__ = {"version": 3, "typestr": "<f8", "shape": shape,
                                    "data": (address, True)}


def view(pointer: Any, shape: tuple[int, ...], owner: Any) -> Array:
    """A read-only array on the library's own memory."""
    if pointer == ffi.NULL or 0 in shape:
        empty = np.zeros(shape)
        empty.flags.writeable = False
        return empty
    return np.asarray(_Memory(pointer, shape, owner))


def copy(pointer: Any, count: int) -> Array:
    if not pointer or not count:
        return np.zeros(0)
    return np.frombuffer(ffi.buffer(pointer, 8 * count)).copy()


def doubles(array: Array) -> Any:
    return ffi.cast("double *", ffi.from_buffer(array)) if array.size else ffi.NULL


def reals(values: Any, shape: Optional[tuple[int, ...]], what: str) -> Array:
    """Contiguous doubles of this shape; a single number fills it."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: expected numbers, found {reprlib.repr(values)}") from None
    if shape is not None and array.shape != shape:
        if array.ndim != 0:
            raise ValueError(f"{what}: expected an array of shape {shape}, found {array.shape}")
        array = np.broadcast_to(array, shape)
    return np.ascontiguousarray(array)


def c_texts(values: Iterable[str], alive: list[Any]) -> Any:
    """char *[] of the texts, which is valid as long as `alive` is."""
    found = [ffi.new("char[]", one.encode()) for one in values]
    alive.append((found, ffi.new("char *[]", found)))
    return alive[-1][1]


def option_table() -> dict[str, dict[str, Any]]:
    """The options by keyword, as the library has them: type, default, range, verbs, help."""
    count = ffi.new("int *")
    rows = lib.taut_option_table(count)
    table = (members(rows[k]) for k in range(count[0]))
    return {row["name"].replace("-", "_"): row for row in table if row["name"] not in _PROGRAM}


_options = option_table()


def methods() -> dict[str, dict[str, Any]]:
    """The methods of runs by name: motions, order, summary, reference.

    >>> import taut
    >>> taut.methods()["dop8"]["order"]
    8
    """
    info, found = new_struct("taut_method_info"), {}
    for k in range(lib.taut_method_count()):
        check(lib.taut_method_get(k, info, ffi.NULL), new_error())
        row = members(info, without=("needs", "refuses"))
        found[row.pop("name")] = row
    return found


def need(module: str, what: str) -> Any:
    """A module that is used where it is present."""
    try:
        return importlib.import_module(module)
    except ImportError as missing:
        name = module.split(".")[0]
        raise ImportError(f"{what} needs {name}, which cannot be imported: pip install {name}",
                          name=name) from missing


def option_name(keyword: str) -> str:
    """As the library has it: with hyphens."""
    return str(_options[keyword]["name"]) if keyword in _options else keyword


def as_text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    return repr(float(value)) if isinstance(value, numbers.Real) else str(value)


def option_verbs(keyword: str) -> list[str]:
    """Of the program, where the option has an effect; none: it is not an option."""
    return str(_options[keyword]["verbs"]).split() if keyword in _options else []


def make_options(verb: str, given: Mapping[str, Any]) -> Any:
    """taut_options of the keywords; None is the default."""
    handle, error = ffi.new("taut_options **"), new_error()
    check(lib.taut_options_create(ffi.NULL, handle, error), error)
    options = ffi.gc(handle[0], lib.taut_options_destroy)
    for name, value in given.items():
        row = _options.get(name)
        if row is None and name.replace("_", "-") not in _PROGRAM:
            # the library suggests the nearest name
            check(lib.taut_options_set(options, name.replace("_", "-").encode(), b"", error), error)
        if row is None or verb not in option_verbs(name):
            raise Error("not an option of this method", option=name)
        if value is None:
            continue
        for one in value if row["repeats"] and isinstance(value, (list, tuple)) else [value]:
            check(lib.taut_options_set(options, row["name"].encode(), as_text(one).encode(),
                                       error), error)
    return options


class System:
    """A taut_system, which never changes, its sizes and names; `keep` lives as long as it does."""

    def __init__(self, make: Callable[[Any, Any], Any], keep: Any = None,
                 calls_python: bool = False) -> None:
        handle, error = ffi.new("taut_system **"), new_error()
        status = make(handle, error)
        self.keep, self.calls_python = keep, calls_python
        self.pointer = ffi.gc(handle[0], lib.taut_system_destroy) if handle[0] else ffi.NULL
        check(status, error)
        sizes = new_struct("taut_sizes")
        check(lib.taut_system_sizes_get(self.pointer, sizes, error), error)
        self.sizes: dict[str, Any] = members(sizes)
        self.mechanical = sizes.kind == lib.TAUT_MECHANICAL
        self.kind = ("mechanical", "first order", "black box")[sizes.kind]
        self.n = sizes.coordinates
        self.velocities = self.n if self.mechanical else sizes.algebraic
        self.multipliers = sizes.bonds if self.mechanical else 0
        self._names: dict[str, tuple[str, ...]] = {}

    def names(self, item: str) -> tuple[str, ...]:
        if item not in self._names:
            plural = {"algebraic": "algebraic"}.get(item, item + "s")
            buffer = ffi.new("char[]", 256)
            found = []
            for k in range(self.sizes[plural]):
                lib.taut_system_name(self.pointer, _ITEMS[item], k, buffer, 256)
                found.append(text(buffer))
            self._names[item] = tuple(found)
        return self._names[item]

    def find(self, item: str, name: str) -> int:
        if not isinstance(name, str):
            return -1
        return int(lib.taut_system_find(self.pointer, _ITEMS[item], name.encode()))

    @functools.cached_property
    def columns(self) -> dict[str, tuple[str, int]]:
        """Where each column of a CSV file stands: ("q", 0) and so on."""
        table = {name: ("q", k) for k, name in enumerate(self.names("coordinate"))}
        rates = [name + "'" for name in self.names("coordinate")]
        table.update({name: ("v", k) for k, name in
                      enumerate(rates if self.mechanical else self.names("algebraic"))})
        if self.mechanical:
            table.update({f"lambda({name})": ("lam", k)
                          for k, name in enumerate(self.names("bond"))})
        table.update({name: ("outputs", k) for k, name in enumerate(self.names("output"))})
        return table

    def settings(self) -> dict[str, str]:
        """[run] of the model."""
        found: dict[str, str] = {}
        name, value = ffi.new("char **"), ffi.new("char **")
        while lib.taut_system_setting(self.pointer, len(found), name, value):
            found[text(name[0])] = text(value[0])
        return found

    def context(self) -> Any:
        handle, error = ffi.new("taut_context **"), new_error()
        check(lib.taut_context_create(self.pointer, ffi.NULL, handle, error), error)
        return owned(handle[0], lib.taut_context_destroy, self)


def owned(pointer: Any, destroy: Any, *needs: Any) -> Any:
    """Destroyed when nothing refers to it, and before what it needs."""
    return ffi.gc(pointer, lambda p, needs=needs: destroy(p))


def near_miss(name: Any, candidates: Iterable[str]) -> str:
    if not isinstance(name, str):
        return "; names are texts"
    texts = [ffi.new("char[]", one.encode()) for one in candidates]
    near = text(lib.taut_near_miss(name.encode(), ffi.new("const char *[]", texts), len(texts)))
    return f"; did you mean '{near}'?" if near else ""


# ---- callbacks


class Functions:
    """The Python functions of a system, and the sizes of their arrays: coordinates or variables,
    bonds or bytes of an internal state."""

    def __init__(self, n: int, m: int = 0, **functions: Optional[Callable[..., Any]]) -> None:
        for name, function in functions.items():
            if function is not None and not callable(function):
                raise TypeError(f"{name}: expected a function, found {function!r}")
        self.n, self.m, self.functions = n, m, functions


def _wait(kind: Any, exception: BaseException, trace: Any) -> None:
    _waiting.exception = exception.with_traceback(trace)


def _callback(name: str) -> Callable[[Callable[..., Any]], Callable[..., int]]:
    """A function that C calls: an exception waits for `check`, and the status is "stop"."""
    def decorate(call: Callable[..., Any]) -> Callable[..., int]:
        def called(user: Any, *arguments: Any) -> int:
            return call(ffi.from_handle(user), *arguments) or 0
        # by cffi, not by `try`: Ctrl-C may be raised before the first line of a function
        result: Callable[..., int] = ffi.def_extern(name=name, error=-1, onerror=_wait)(called)
        return result
    return decorate


def _fill(f: Functions, name: str, pointer: Any, count: int, *arguments: Any) -> None:
    """What the function returns; a single number fills the array."""
    values = f.functions[name](*arguments)  # type: ignore[misc]
    array = np.ravel(values)
    if values is None or np.ndim(values) and array.size != count:
        found = "None" if values is None else f"{array.size} numbers"
        raise (TypeError if values is None else ValueError)(
            f"the function {name} returned {found}, expected {count} numbers")
    np.frombuffer(ffi.buffer(pointer, 8 * count))[:] = array


@_callback("taut_python_force")
def _force(f: Functions, t: float, q: Any, v: Any, out: Any) -> None:
    _fill(f, "force", out, f.n, t, copy(q, f.n), copy(v, f.n))


@_callback("taut_python_bond")
def _bond(f: Functions, t: float, q: Any, out: Any) -> None:
    _fill(f, "bonds", out, f.m, t, copy(q, f.n))


@_callback("taut_python_jacobian")
def _jacobian(f: Functions, t: float, q: Any, out: Any) -> None:
    _fill(f, "jacobian", out, f.m * f.n, t, copy(q, f.n))


@_callback("taut_python_gamma")
def _gamma(f: Functions, t: float, q: Any, v: Any, out: Any) -> None:
    _fill(f, "gamma", out, f.m, t, copy(q, f.n), copy(v, f.n))


@_callback("taut_python_energy")
def _energy(f: Functions, t: float, q: Any, out: Any) -> None:
    out[0] = f.functions["energy"](t, copy(q, f.n))  # type: ignore[misc]


@_callback("taut_python_mass")
def _mass(f: Functions, t: float, q: Any, out: Any) -> None:
    _fill(f, "mass_matrix", out, f.n * f.n, t, copy(q, f.n))


@_callback("taut_python_advance")
def _advance(f: Functions, t: float, horizon: float, z: Any) -> None:
    _fill(f, "advance", z, f.n, t, horizon, copy(z, f.n))


@_callback("taut_python_save")
def _save(f: Functions, memory: Any) -> None:
    data = f.functions["save"]()  # type: ignore[misc]
    if len(data) != f.m:
        raise ValueError(f"save returned {len(data)} bytes, and {f.m} when the model was made")
    ffi.memmove(memory, data, f.m)


@_callback("taut_python_restore")
def _restore(f: Functions, memory: Any) -> None:
    f.functions["restore"](bytes(ffi.buffer(memory, f.m)))  # type: ignore[misc]


@_callback("taut_python_progress")
def _progress(call: Callable[..., Any], t: float, until: float, steps: int) -> int:
    # signals are handled when Python code runs: Ctrl-C raises KeyboardInterrupt here
    return 1 if call(t, until, steps) else 0


@_callback("taut_python_write")
def _write(parts: list[bytes], data: Any, count: int) -> None:
    parts.append(bytes(ffi.buffer(data, count)))
