"""What check, project and spectrum find."""
from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from ._library import (Error, System, as_text, check, copy, doubles, ffi, interruptible, lib,
                       make_options, members, new_error, new_struct, owned, text, texts, view)
from ._result import Projection, Report, Result, State

Options = Mapping[str, Any]


def check_model(system: System, title: str, options: Options) -> Report:
    report, error = new_struct("taut_check_report"), new_error()
    given = make_options("check", options)
    check(interruptible(system, lib.taut_check, system.pointer, given, report, error), error)
    values = members(report, without=("derivatives", "invariants", "whole"))
    values["usable"] = values["verdict"] == 0
    values["derivatives"] = [members(report.derivative[k]) for k in range(report.derivatives)]
    values["invariants"] = [members(report.invariant[k]) for k in range(report.invariants)]
    worst = max((d["deviation"] for d in values["derivatives"]), default=0.0)
    rows = [("kind", system.kind), ("coordinates", system.n), ("bonds", system.sizes["bonds"]),
            ("structure", values["structure"]),
            ("largest deviation of a derivative", f"{worst:.2g}"),
            ("rank", values["rank_message"] or values["rank"])]
    if report.frequencies < 0:
        values["frequencies"] = None
        rows.append(("frequencies", f"up to {report.frequency_most:.6g}, others not computed"))
    elif report.frequencies:
        rows.append(("frequencies",
                     f"{report.frequency_least:.6g} to {report.frequency_most:.6g}"))
    if values["motion"]:
        rows.append(("choice", f"motion {values['motion']}, method {values['method']}"))
    rows.append(("advice", values["advice"]))
    return Report(title or "check", values, rows)


def project_model(system: System, options: Options) -> Projection:
    handle, error = ffi.new("taut_projection **"), new_error()
    given = make_options("project", options)
    status = interruptible(system, lib.taut_project, system.pointer, given, ffi.NULL, handle, error,
                           drop=lambda: lib.taut_projection_destroy(handle[0]))
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


# ---- spectrum


def modes_at(system: System, t: float, count: int, options: Options) -> Report:
    """At the initial state of time t."""
    make_options("spectrum", options)  # wrong ones are refused
    room, report, error = ffi.new("taut_mode[]", count), new_struct("taut_modes_report"), new_error()
    q, v = np.zeros(system.n), np.zeros(system.velocities)

    def find() -> int:
        context = system.context()
        status = lib.taut_context_start(context, t, doubles(q), doubles(v), error)
        return int(status or lib.taut_modes(context, t, doubles(q), doubles(v), count, room, report,
                                            error))

    check(interruptible(system, find), error)
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


def rates(system: System, count: int, options: Options) -> Report:
    error = new_error()
    room, report = ffi.new("taut_rate[]", count), new_struct("taut_rates_report")
    check(interruptible(system, lib.taut_rates, system.pointer,
                        make_options("spectrum", options), count, room, report, error), error)
    values = members(report)
    values["rates"] = np.array([complex(room[k].real, room[k].imaginary)
                                for k in range(report.found)])
    rows = [("rates", values["rates"]), ("slow", report.slow), ("advice", values["advice"])]
    return Report("rates", values, rows)


def _episodes(along: Any, rows: Any) -> list[dict[str, Any]]:
    found, error = [], new_error()
    for k in range(rows.episodes):
        episode = new_struct("taut_modes_episode")
        check(lib.taut_modes_episode_get(along, k, episode, error), error)
        values = members(episode)
        found.append({**values.pop("resonance"), **values,
                      "change": copy(episode.change, rows.modes),
                      "moved": list(episode.moved)[:2 if episode.resonance.l < 0 else 3]})
    return found


def modes_along(system: System, run: Result, count: int, options: Options) -> Report:
    """The rows of the run go to the sink of the library, as they do in the program."""
    make_options("spectrum", options)
    if not system.mechanical:
        raise Error("a run of a first-order system or a black box has no modes", option="along")
    if [*run.columns.items()] != [*system.columns.items()]:
        raise Error("the run belongs to a model with other variables", option="along")
    handle, sink, error = ffi.new("taut_modes_along **"), ffi.new("taut_sink *"), new_error()
    check(lib.taut_modes_along_create(system.pointer, count, ffi.NULL, handle, sink, error), error)
    along, row = owned(handle[0], lib.taut_modes_along_destroy, system), ffi.new("taut_row *")
    for k, t in enumerate(run.t):
        q, v = np.ascontiguousarray(run.q[:, k]), np.ascontiguousarray(run.v[:, k])
        row.t, row.q, row.v = t, doubles(q), doubles(v)
        check(sink.row(sink.user, row, error), error)
    rows = new_struct("taut_modes_rows")
    check(lib.taut_modes_along_get(along, rows, error), error)
    values = members(rows, without=("rows", "episodes"))
    values.update(t=view(rows.t, (rows.rows,), along), gaps=view(rows.gap, (rows.rows,), along),
                  frequencies=view(rows.frequency, (rows.rows, rows.modes), along).T,
                  actions=view(rows.action, (rows.rows, rows.modes), along).T,
                  resonances=_episodes(along, rows))
    shown = [(f"mode {k + 1}", f"frequency {f.min():.6g} to {f.max():.6g}, action {a[0]:.6g}, "
              f"{a.min():.6g} to {a.max():.6g}")
             for k, (f, a) in enumerate(zip(values["frequencies"], values["actions"]))]
    for one in values["resonances"]:
        sums = f"mode {one['k'] + 1}" + (f" + mode {one['l'] + 1}" if one["l"] >= 0 else "")
        shown.append(("resonance", f"mode {one['j'] + 1} ~ {sums}, closest ({one['gap']:.2%}) at "
                      f"t = {one['t']:.6g}: {one['share']:.2%} of the actions"))
    return Report("modes along the run", values, shown)
