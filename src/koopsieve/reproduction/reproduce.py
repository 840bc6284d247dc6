"""The whole results section in one call: runs, summaries, tables and figures, one folder per system."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from koopsieve import __version__
from koopsieve._exchange import MARKER, whole_folder
from koopsieve._types import KoopsieveError, warn_user, whole_number
from koopsieve._written import write_json
from koopsieve.execution import Progress, silent
from koopsieve.reproduction.monte_carlo import SETTINGS, RunTask, run_tasks
from koopsieve.reproduction.study_figures import draw_circuit, draw_noise_study
from koopsieve.reproduction.study_runs import run_circuit, run_once
from koopsieve.reproduction.study_settings import NoiseStudy, circuit_study, load_records, noise_study
from koopsieve.reproduction.study_summary import summarise_circuit, summarise_noise_study
from koopsieve.reproduction.study_tables import StudyTable, circuit_tables, noise_study_tables, write_tables

FOLDERS: dict[str, tuple[str, ...]] = {
    "lorenz": ("lorenz",),
    "usv": ("usv", "usv-quadratic"),
    "wiener-hammerstein": ("wiener-hammerstein",),
    "all": ("lorenz", "usv", "usv-quadratic", "wiener-hammerstein"),
}


@dataclass(frozen=True)
class Options:
    """What all systems of one reproduction share."""

    runs: int | None
    data: Path | None
    seed: int
    quick: bool
    as_published: bool
    workers: int
    progress: Progress


def reproduce(
    system: str,
    out: str | os.PathLike[str],
    *,
    runs: int | None = None,
    data: str | os.PathLike[str] | None = None,
    seed: int = 0,
    quick: bool = False,
    as_published: bool = False,
    workers: int | None = None,
    progress: Progress = silent,
) -> dict[str, dict[str, Any]]:
    """Reproduce the paper's experiments; may be interrupted in any way and called again to go on.

    Parameters
    ----------
    system : {"lorenz", "usv", "wiener-hammerstein", "all"}
    out : path
        Gets one folder per system with summary.json, tables (CSV, Markdown), figures (PNG, SVG) and the single runs.
        When one system is asked for, its summary.json is also written here.
    runs : int, optional
        Monte Carlo runs per level of noise; by default as in the paper, 25 (3 if `quick`).
    data : path, optional
        Folder with the measured Wiener–Hammerstein records; by default KOOPSIEVE_DATA.
    seed : int
        Random seed.
    quick : bool
        Fewer runs and levels.
    as_published : bool
        Method IV by the paper's own updates instead of the default algorithm.
    workers : int, optional
        Processes; by default one per core. The numbers do not depend on it.
    progress : Progress
        Wraps the iteration over the runs.

    Returns
    -------
    dict from folder name to summary

    Raises
    ------
    KoopsieveError
        If the system is unknown, the folder holds runs made with other settings, or named data are not there.
    """
    if system not in FOLDERS:
        raise KoopsieveError(f"Unknown system {system!r}. Expected one of {', '.join(FOLDERS)}.")
    if system == "wiener-hammerstein" and (quick or runs is not None):
        raise KoopsieveError(f"{system} is one comparison of records: runs and quick have no effect. Leave them out.")
    whole_number("seed", seed)
    folder = None if data is None else Path(data)
    options = Options(runs, folder, seed, quick, as_published, workers or os.cpu_count() or 1, progress)
    found = {name: _reproduce_one(name, Path(out) / name, options) for name in FOLDERS[system]}
    if system != "all":
        write_json(Path(out) / MARKER, found[system])
    return found


def summaries(system: str, out: Path) -> list[Path]:
    """Return the summaries to ask about before they are replaced: of a finished reproduction, or of something else.

    Those of systems that were finished before the whole was interrupted are not among them.
    """
    each = {folder: out / folder / MARKER for folder in FOLDERS[system]}
    foreign = [path for folder, path in each.items() if not (out / folder / "runs" / SETTINGS).exists()]
    last = list(each.values()) if system == "all" else [out / MARKER]
    return list(dict.fromkeys([*(last if all(map(os.path.lexists, last)) else []), *foreign]))


def _reproduce_one(name: str, folder: Path, options: Options) -> dict[str, Any]:
    if name == "wiener-hammerstein":
        return _reproduce_circuit(folder, options)
    study = noise_study(name, runs=options.runs, quick=options.quick, as_published=options.as_published)
    return reproduce_study(study, folder, options)


def reproduce_study(study: NoiseStudy, folder: Path, options: Options) -> dict[str, Any]:
    """Run a simulated system and write everything about it."""
    tasks = [
        RunTask(f"snr{snr:g}dB_run{run:03d}", run_once, (study, snr, run, options.seed))
        for run in range(study.runs)
        for snr in study.snr_db
    ]
    results = run_tasks(
        tasks,
        folder / "runs",
        _fingerprint(study.fingerprint(), options),
        workers=options.workers,
        progress=options.progress,
        description=study.title,
    )
    summary = summarise_noise_study(study, results)
    return _written(folder, summary, noise_study_tables(summary), lambda place: draw_noise_study(summary, place))


def _reproduce_circuit(folder: Path, options: Options) -> dict[str, Any]:
    study = circuit_study(as_published=options.as_published)
    records = load_records(options.data, study.data, study.simulated, options.seed)
    fingerprint = {**study.fingerprint(), "source": records.source, "samples": records.digest()}
    result = run_tasks(
        [RunTask("comparison", run_circuit, (study, records, options.seed))],
        folder / "runs",
        _fingerprint(fingerprint, options),
        workers=1,
        progress=options.progress,
        description=study.title,
    )[0]
    summary = summarise_circuit(study, result)
    return _written(
        folder, summary, circuit_tables(summary), lambda place: draw_circuit(summary, result["coef"], place)
    )


def _fingerprint(settings: Mapping[str, Any], options: Options) -> dict[str, Any]:
    return {"version": __version__, "seed": options.seed, **settings}


def _written(
    folder: Path, summary: dict[str, Any], tables: Sequence[StudyTable], draw: Callable[[Path], None]
) -> dict[str, Any]:
    """Write the summary, the tables and, where matplotlib is installed, the figures; return the summary."""
    with whole_folder(folder) as place:
        write_json(place / MARKER, summary)
        write_tables(tables, place)
        try:
            draw(place)
        except ImportError as error:
            warn_user(
                f"Figures were not drawn ({error}). Install them with: pip install 'koopsieve[plots]', and give the "
                "same command again with --overwrite; nothing is computed twice."
            )
    return summary
