"""Systems: read from texts and files, or made of functions, arrays of bonds, and flows."""
from __future__ import annotations

import os
import reprlib
from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np

from ._library import (Array, Error, Functions, System, c_texts, check, doubles, ffi, lib, new_error,
                       new_struct, option_verbs, reals)

if TYPE_CHECKING:
    from ._model import Model

Value = Union[float, str]
Make = Callable[["Model"], System]  # of the initial state and the parameters of a model


# ---- texts and files


class Source(NamedTuple):
    """A path, or a text of more than one line, and what is read with it."""
    text: str
    tables: Mapping[str, str] = {}
    compile: bool = False
    allow_command: bool = False

    @property
    def is_text(self) -> bool:
        return "\n" in self.text


def number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a number, or an expression as text, found "
                        f"{value!r}") from None


def loading(source: Source, parameters: Mapping[str, Value], init: Mapping[str, Value],
            start: str, begin: float, alive: list[Any]) -> Any:
    """The taut_load, valid as long as `alive` is; start: statements of [start], at t = begin."""
    def c_text(value: str) -> Any:
        return c_texts([value], alive)[0]

    def c_list(values: Mapping[str, Value]) -> Any:
        return c_texts((f"{name}={value if isinstance(value, str) else repr(number(name, value))}"
                        for name, value in values.items()), alive)

    how = new_struct("taut_load")
    how.set, how.set_count = c_list(parameters), len(parameters)
    how.init, how.init_count = c_list(init), len(init)
    if start:
        how.start_text = c_text(start)
    setattr(how, "from", begin)
    how.compile, how.allow_command = source.compile, source.allow_command
    tables = [(c_text(name), c_text(value), len(value.encode()))
              for name, value in source.tables.items()]
    alive.append(ffi.new("taut_table_text[]", tables))
    how.tables, how.table_count = alive[-1], len(tables)
    if source.is_text:
        how.table_folder = c_text(".")
    alive.append(how)
    return how


def read(source: Source, how: Any) -> System:
    if not source.is_text:
        path = os.fsencode(source.text)
        return System(lambda handle, error: lib.taut_system_load(path, how, handle, error))
    data = source.text.encode()
    return System(lambda handle, error:
                  lib.taut_system_parse(data, len(data), b"<text>", how, handle, error))


def recorded(texts: Mapping[str, str]) -> tuple[System, dict[str, Any]]:
    """The system of a run that is in a file, and the options of the run."""
    if not texts.get("model"):
        raise Error("the run cannot be repeated: its model is not in the file, as one that was made "
                    "in Python is not; the rows are all there is")
    lines = [line.split(" = ", 1) for line in texts.get("settings", "").splitlines()
             if " = " in line]

    def values(key: str) -> dict[str, Value]:
        pairs = (value.split("=", 1) for name, value in lines if name == key)
        return {pair[0]: pair[1] for pair in pairs}

    names = texts.get("tables", "").splitlines()
    source = Source(texts["model"] + "\n",
                    {name: texts[f"table{k + 1}"] for k, name in enumerate(names)})
    options: dict[str, Any] = {}
    for name, value in lines:
        keyword = name.replace("-", "_")
        if "run" in option_verbs(keyword):
            options[keyword] = value
    alive: list[Any] = []
    system = read(source, loading(source, values("set"), values("init"), texts.get("start", ""),
                                  float(options.get("from", 0)), alive))
    if "command" in texts and "verify" not in system.settings():
        options.setdefault("verify", "auto")  # the program does so
    return system, options


# ---- made in Python


def functions_maker(n: int, m: int, start: Any, velocity: Any, arrays: Mapping[str, Any],
                    functions: Mapping[str, Optional[Callable[..., Any]]],
                    names: Optional[Sequence[str]], bond_names: Optional[Sequence[str]],
                    time_dependent: bool, velocity_dependent: bool) -> Make:
    called = Functions(n, m, **functions)
    calls = {"force": lib.taut_python_force, "bonds": lib.taut_python_bond,
             "jacobian": lib.taut_python_jacobian, "gamma": lib.taut_python_gamma,
             "energy": lib.taut_python_energy, "mass_matrix": lib.taut_python_mass}

    def make(model: "Model") -> System:
        handle = ffi.new_handle(called)
        c, keep = new_struct("taut_callbacks"), [handle]
        c.coordinates, c.bonds, c.user = n, m, handle
        c.time_dependent, c.velocity_dependent = time_dependent, velocity_dependent
        q, v = model._state_arrays(start, velocity)
        sizes = {"start_q": n, "start_v": n, "mass": n, "compliance": m, "damping": m}
        for name, values in {"start_q": q, "start_v": v, **arrays}.items():
            if values is not None and sizes[name] > 0:
                keep.append(reals(values, (sizes[name],), name))
                setattr(c, name, doubles(keep[-1]))
        for name, given, size in (("coordinate_names", names, n), ("bond_names", bond_names, m)):
            if given is not None:
                if len(given) != size:
                    raise ValueError(f"{name}: expected {size} names, found {len(given)}")
                setattr(c, name, c_texts(given, keep))
        for name, function in functions.items():
            if function is not None:
                setattr(c, "bond" if name == "bonds" else name, calls[name])
        return System(lambda result, error:
                      lib.taut_system_from_callbacks(c, ffi.NULL, result, error), keep, True)

    return make


TURN = 2.4  # radians between the bonds that begin at one place: about the golden angle


def check_pairs(ends: Array, particles: int) -> None:
    if (ends >= particles).any() or (ends[0] < 0).any():
        raise ValueError(f"pairs: expected particles 0 to {particles - 1}, the second -1 for anchors")


def laid_out(ends: Array, lengths: Array, anchor: Array, particles: int) -> Array:
    """Positions where lengths determine all but directions: along x, and bonds that branch off turned."""
    check_pairs(ends, particles)
    p = np.full((particles, anchor.shape[1]), np.nan)
    bonds: list[list[int]] = [[] for _ in p]
    heading = [0.0] * particles
    for k, (i, j) in enumerate(ends.T.tolist()):
        for end in (i, j)[:1 if j < 0 else 2]:
            bonds[end].append(k)
    used: set[int] = set()

    def reach(k: int, end: int, origin: Array, angle: float) -> None:
        used.add(k)
        if not np.isnan(p[end, 0]):
            raise Error("these bonds make loops, and lengths do not determine where their particles "
                        "are: an array [particles, dimension] is required", option="position")
        heading[end] = angle
        p[end] = origin
        p[end, :2] += lengths[k] * np.array([np.cos(angle), np.sin(angle)])

    branches: dict[bytes, int] = {}
    for k in np.flatnonzero(ends[1] < 0).tolist():
        turns = branches[anchor[k].tobytes()] = branches.get(anchor[k].tobytes(), -1) + 1
        reach(k, ends[0, k], anchor[k], TURN * turns)
    ready = [i for i in range(particles) if not np.isnan(p[i, 0])]
    for first in range(particles):
        if np.isnan(p[first, 0]):  # no anchor holds it
            p[first] = 0
            p[first, 1] = first
            ready.append(first)
        while ready:
            i = ready.pop()
            for turns, k in enumerate(k for k in bonds[i] if k not in used):
                end = int(ends[0, k] + ends[1, k] - i)
                reach(k, end, p[i], heading[i] + TURN * turns)
                ready.append(end)
    return p


def bonds_maker(mass: Any, pairs: Any, length: Any, compliance: Any, position: Any, velocity: Any,
                gravity: Any, anchors: Any, name: str) -> Make:
    given = np.asarray(pairs)
    if given.size and (given.shape[1:] != (2,) or (given != np.trunc(given)).any()):
        raise ValueError("pairs: expected integers, two for each bond, found "
                         f"{reprlib.repr(pairs)}")
    ends = np.ascontiguousarray(given.astype(np.int32).reshape(-1, 2).T)
    count = ends.shape[1]
    if anchors is None and (ends[1] < 0).any():
        anchors = 0  # the origin
    if position is None:
        if length is None:
            raise Error("lengths are those of the positions where they are not given: one of both "
                        "is required", option="length")
        shapes = [np.shape(given)[-1:] for given in (anchors, gravity, velocity)]
        size = (count, next((shape[0] for shape in shapes if shape), 2))
        position = laid_out(ends, reals(length, (count,), "length"),
                            reals(0 if anchors is None else anchors, size, "anchors"),
                            np.size(mass) if np.ndim(mass) else int(ends.max(initial=-1)) + 1)
    p = reals(position, None, "position")
    if p.ndim != 2:
        raise ValueError(f"position: expected an array [particles, dimension], found {p.shape}")
    c = reals(compliance, (count,), "compliance")
    if not (np.isfinite(c) & (c >= 0)).all():
        raise ValueError("compliance: expected finite numbers >= 0, of which 0 is rigid")
    stiffness = np.divide(1, c, out=np.zeros(count), where=c != 0)
    masses = reals(mass, (len(p),), "mass")
    v = reals(0 if velocity is None else velocity, p.shape, "velocity")
    anchor = None if anchors is None else reals(anchors, (count, p.shape[1]), "anchors")
    g = None if gravity is None else reals(gravity, (p.shape[1],), "gravity")
    if length is None:  # those of the positions
        check_pairs(ends, len(p))
        other = p[ends[1]] if anchor is None else np.where(ends[1][:, None] < 0, anchor, p[ends[1]])
        length = np.linalg.norm(p[ends[0]] - other, axis=1)
    lengths = reals(length, (count,), "length")

    def build(builder: Any, model: "Model", handle: Any, error: Any) -> int:
        q, velocities = model._state_arrays(p.ravel(), v.ravel())
        ints = [ffi.cast("taut_index *", ffi.from_buffer(row)) for row in ends]
        for status in (
                lib.taut_builder_mass(builder, doubles(masses)),
                lib.taut_builder_start(builder, doubles(q), doubles(velocities)),
                0 if g is None else lib.taut_builder_gravity(builder, doubles(g)),
                lib.taut_builder_distances(
                    builder, name.encode(), count, ints[0], ints[1],
                    ffi.NULL if anchor is None else doubles(anchor), doubles(lengths),
                    doubles(stiffness))):
            if status < 0:
                break  # the builder reports it when it is finished
        return int(lib.taut_builder_finish(builder, handle, error))

    def make(model: "Model") -> System:
        handle, error = ffi.new("taut_builder **"), new_error()
        check(lib.taut_builder_create(p.shape[1], len(p), ffi.NULL, handle, error), error)
        builder = ffi.gc(handle[0], lib.taut_builder_destroy)
        return System(lambda result, reason: build(builder, model, result, reason))

    return make


def flow_maker(advance: Callable[..., Any], z0: Any, names: Optional[Sequence[str]],
               observables: Sequence[int], horizon: float,
               save: Optional[Callable[[], bytes]],
               restore: Optional[Callable[[bytes], Any]]) -> Make:
    start = reals(z0, None, "z0")
    if (save is None) != (restore is None):
        raise Error("save and restore belong together: an internal state that is saved is restored",
                    option="save" if restore is None else "restore")
    memory = len(save()) if save else 0
    functions = Functions(len(start), memory, advance=advance, save=save, restore=restore)

    def make(model: "Model") -> System:
        box, handle = new_struct("taut_black_box"), ffi.new_handle(functions)
        z, _ = model._state_arrays(start, np.zeros(0))
        seen = ffi.new("taut_index[]", [int(k) for k in observables])
        keep = [handle, z, seen]
        box.variables, box.observables, box.observable = len(z), len(observables), seen
        box.start, box.horizon, box.user = doubles(z), horizon, handle
        if names:
            box.names = c_texts(names, keep)
        box.advance = lib.taut_python_advance
        if save:
            box.memory = memory
            box.save, box.restore = lib.taut_python_save, lib.taut_python_restore
        return System(lambda result, error:
                      lib.taut_system_from_flow(box, ffi.NULL, result, error), keep, True)

    return make
