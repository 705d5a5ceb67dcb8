"""Files of runs: .h5, in the layout of `taut run --out FILE.h5` (H5MD; needs h5py), and .npz.

Both have arrays (t, q, v, lam, outputs, energy, drift, event), the columns of q, v, lam and outputs
by name, the names of events, and texts: model, settings, summary (a JSON object) and others.
"""
from __future__ import annotations

import json
from typing import Any, NamedTuple, Optional, Sequence

import numpy as np

from ._library import Array, Error, lib, need

FORMAT = 1  # newer ones are refused
PARTS = ("q", "v", "lam", "outputs")
_PIECE = 80  # bytes of a piece of a text
Columns = dict[str, tuple[str, int]]


class Record(NamedTuple):
    columns: Columns
    arrays: dict[str, Array]
    events: Sequence[str]
    texts: dict[str, str]


def write(path: str, record: Record) -> None:
    if path.endswith(".npz"):
        about = {"format": FORMAT, "columns": record.columns, "events": list(record.events),
                 "texts": record.texts}
        np.savez(path, about=np.array(json.dumps(about)), **record.arrays)
    elif path.endswith((".h5", ".hdf5")):
        _write_hdf5(path, record)
    else:
        raise ValueError(f"{path}: expected a name that ends in .h5 or .npz")


def read(path: str) -> Record:
    open(path, "rb").close()  # an error of the system comes as it is
    try:
        return _read_npz(path) if path.endswith(".npz") else _read_hdf5(path)
    except (Error, ImportError):
        raise
    except Exception as reason:  # whatever readers find in a file that is something else
        raise Error(f"{path}: it is no file of a run, or it is damaged: {reason}",
                    lib.TAUT_ERROR_FILE) from reason


def _read_npz(path: str) -> Record:
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    about = json.loads(str(arrays.pop("about")))
    _check(path, about["format"])
    columns = {name: (part, k) for name, (part, k) in about["columns"].items()}
    return Record(columns, arrays, about["events"], about["texts"])


def _check(path: str, found: int) -> None:
    if found > FORMAT:
        raise Error(f"{path}: it has format {found}, which a newer version of Taut wrote; "
                    f"this one reads formats up to {FORMAT}", lib.TAUT_ERROR_FILE)


# ---- HDF5

_PARTICLES = ("particles/all/position", "particles/all/velocity")
_MECHANICAL = ("observables/coordinates", "observables/velocities")
_FIRST_ORDER = ("observables/state", "observables/algebraic")
_OTHERS = {"lam": "observables/multipliers", "outputs": "observables/outputs",
           "energy": "observables/energy", "drift": "observables/drift",
           "event": "observables/event"}
# names of q, v, lam and outputs: where they stand, and how a column is made of one
_NAMES = {"q": ("coordinate_names", "{}"), "v": ("coordinate_names", "{}'"),
          "lam": ("bond_names", "lambda({})"), "outputs": ("output_names", "{}")}
_ALGEBRAIC = ("algebraic_names", "{}")


def _dimension(names: Sequence[str]) -> int:
    """2 or 3 where all coordinates are components of particles, p[1].x, p[1].y, ...; else 0."""
    for letters in (".x.y", ".x.y.z"):
        ends = "".join(name[-2:] for name in names)
        if ends and ends == letters * (len(ends) // len(letters)):
            return len(letters) // 2
    return 0


def _write_hdf5(path: str, record: Record) -> None:
    h5py = need("h5py", "save to .h5")
    names = {part: [name for name, (where, _) in record.columns.items() if where == part]
             for part in PARTS}
    mechanical = names["v"] == [name + "'" for name in names["q"]]
    dimension = _dimension(names["q"]) if mechanical else 0
    places = _PARTICLES if dimension else _MECHANICAL if mechanical else _FIRST_ORDER
    with h5py.File(path, "w") as file:
        file.create_group("h5md").attrs["version"] = np.array([1, 1], dtype=np.int32)
        file.create_group("h5md/author").attrs["name"] = np.bytes_("unknown")
        creator = file.create_group("h5md/creator")
        creator.attrs["name"] = np.bytes_("taut")
        creator.attrs["version"] = np.bytes_(record.texts["version"])
        file[f"{places[0]}/step"] = np.arange(len(record.arrays["t"]))
        file[f"{places[0]}/time"] = record.arrays["t"]
        for part, place in {"q": places[0], "v": places[1], **_OTHERS}.items():
            values = record.arrays[part].T
            if values.size or part == "q":
                shape = (len(values), -1, dimension) if dimension and part in ("q", "v") else None
                file[f"{place}/value"] = values if shape is None else values.reshape(shape)
                for name in ("step", "time"):
                    if part != "q":
                        file[f"{place}/{name}"] = file[f"{places[0]}/{name}"]
        if dimension:
            box = file.create_group("particles/all/box")
            box.attrs["dimension"] = np.int32(dimension)
            box.attrs["boundary"] = np.array([b"none"] * dimension)
        for part in PARTS:
            where, pattern = _NAMES[part] if mechanical or part != "v" else _ALGEBRAIC
            begin, end = pattern.split("{}")
            bare = [name[len(begin):len(name) - len(end)] for name in names[part]]
            if bare and f"parameters/{where}" not in file:
                file[f"parameters/{where}"] = np.array([name.encode() for name in bare])
        if record.events:
            file["parameters/event_names"] = np.array([name.encode() for name in record.events])
        file.create_group("taut").attrs["format"] = np.int32(FORMAT)
        for name, text in record.texts.items():
            data = text.encode()
            pieces = [data[k:k + _PIECE] for k in range(0, len(data), _PIECE)]
            file[f"taut/{name}"] = np.array(pieces, dtype=f"S{_PIECE}")


def _read_hdf5(path: str) -> Record:
    h5py = need("h5py", "load of .h5")
    with h5py.File(path, "r") as file:
        own = file.get("taut", {})
        _check(path, int(own.attrs.get("format", 0)) if own else 0)
        texts = {name: b"".join(own[name][()]).decode("utf-8", "replace") for name in own}
        places = next((found for found in (_PARTICLES, _MECHANICAL, _FIRST_ORDER)
                       if found[0] in file), None)
        if places is None:
            raise Error(f"{path}: it has no rows of a run of Taut", lib.TAUT_ERROR_FILE)
        found = {part: file[f"{place}/value"] for part, place in
                 {"q": places[0], "v": places[1], **_OTHERS}.items() if place in file}
        t: Array = file[f"{places[0]}/time"][()]
        # a run that was killed may have written some of them further than others
        rows = min(len(t), *(len(values) for values in found.values()))

        def series(part: str, width: int, fill: float) -> Array:
            values = found.get(part)
            if values is None:
                return np.full((width, rows), fill)
            shape = rows, int(np.prod(values.shape[1:]))
            return np.asarray(values[:rows], dtype=float).reshape(shape).T

        arrays = {part: series(part, 0, 0) for part in PARTS}
        arrays.update(t=t[:rows], energy=series("energy", 1, np.nan)[0],
                      drift=series("drift", 2, np.nan), event=series("event", 1, 0)[0])

        def names(where: str) -> list[str]:
            return [name.decode() for name in file.get(f"parameters/{where}", ())]

        columns: Columns = {}
        for part in PARTS:
            where, pattern = _ALGEBRAIC if part == "v" and places is _FIRST_ORDER else _NAMES[part]
            columns.update({pattern.format(name): (part, k) for k, name in
                            enumerate(names(where)) if k < len(arrays[part])})
        return Record(columns, arrays, names("event_names"), texts)
