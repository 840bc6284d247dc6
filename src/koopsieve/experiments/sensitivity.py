"""How much the answers depend on the choices the paper is silent about: `python -m koopsieve.experiments.sensitivity`.

Every variant of `variants` is run as the quick study, through the same resumable engine; one table per system.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from koopsieve.execution import Progress
from koopsieve.execution.bar import bar
from koopsieve.experiments.circuit_study import run_circuit
from koopsieve.experiments.comparison import FULL, REDUCED
from koopsieve.experiments.monte_carlo import Task, run_tasks
from koopsieve.experiments.noise_study import run_once
from koopsieve.experiments.records import load_records
from koopsieve.experiments.settings import CircuitStudy, NoiseStudy
from koopsieve.experiments.summary import summarise_circuit, summarise_noise_study
from koopsieve.experiments.tables import Table, source_in_title, write_tables
from koopsieve.experiments.variants import circuit_variants, noise_variants


def main(
    out: Annotated[Path, typer.Argument(help="Folder for the tables and single runs.")],
    data: Annotated[Path | None, typer.Option(help="Folder with the records.", envvar="KOOPSIEVE_DATA")] = None,
    workers: Annotated[int, typer.Option(help="Processes.")] = 2,
) -> None:
    """Run every variant of every system and write one table per system."""
    tables = [noise_table(system, noise_variants(system), out / system, workers, bar) for system in ("lorenz", "usv")]
    tables.append(circuit_table(circuit_variants(), out / "wiener-hammerstein", data, workers, bar))
    write_tables(tables, out)


def noise_table(
    system: str, variants: Mapping[str, NoiseStudy], folder: Path, workers: int, progress: Progress, seed: int = 0
) -> Table:
    """Return one row per variant of a simulated system."""
    tasks = {
        name: [
            Task(f"{_slug(name)}_snr{snr:g}dB_run{run:03d}", run_once, (study, snr, run, seed))
            for snr in study.snr_db
            for run in range(study.runs)
        ]
        for name, study in variants.items()
    }
    everything = [task for group in tasks.values() for task in group]
    fingerprint = {name: study.fingerprint() for name, study in variants.items()}
    found = run_tasks(everything, folder, fingerprint, workers=workers, progress=progress, description=system)
    results = dict(zip([task.name for task in everything], found, strict=True))
    summaries = {
        name: summarise_noise_study(study, [results[task.name] for task in tasks[name]])
        for name, study in variants.items()
    }
    first = next(iter(variants.values()))
    header = ("choice", *(f"kept, {snr:g} dB" for snr in first.snr_db), *_noise_header(system, first))
    rows = tuple((name, *_noise_row(summary)) for name, summary in summaries.items())
    return Table(f"sensitivity_{system}", f"{first.title}, {first.runs} runs per level", header, rows)


def _noise_header(system: str, study: NoiseStudy) -> Sequence[str]:
    horizon = _reported_horizon(study.horizons)
    return (
        *(f"{method}, h = {horizon}, {size}" for method in ("I", "II", "III") for size in (FULL, REDUCED)),
        "III, one step, reduced / full",
        "κ of I, full",
        "κ of I, reduced",
    )


def _noise_row(summary: Mapping[str, Any]) -> list[Any]:
    level = summary["snr_db"].index(summary["horizon_snr_db"])
    at = summary["horizons"].index(_reported_horizon(summary["horizons"]))
    ahead, one = summary["long_term_median"], summary["one_step"]
    return [
        *summary["reduced_size"][f"{summary['threshold']:g}"],
        *(ahead[size][method][at] for method in ("I", "II", "III") for size in (FULL, REDUCED)),
        one[REDUCED]["III"]["test"][level] / one[FULL]["III"]["test"][level],
        summary["condition_number_median"][FULL]["I"][level],
        summary["condition_number_median"][REDUCED]["I"][level],
    ]


def _reported_horizon(horizons: Sequence[int]) -> int:
    return 50 if 50 in horizons else max(horizons)


def circuit_table(
    variants: Mapping[str, CircuitStudy], folder: Path, data: Path | None, workers: int, progress: Progress
) -> Table:
    """Return one row per variant of the Wiener–Hammerstein system."""
    records = {name: load_records(data, study.data, study.simulated, 0) for name, study in variants.items()}
    tasks = [Task(_slug(name), run_circuit, (study, records[name], 0)) for name, study in variants.items()]
    fingerprint = {name: [study.fingerprint(), records[name].digest()] for name, study in variants.items()}
    found = run_tasks(tasks, folder, fingerprint, workers=workers, progress=progress, description="wiener-hammerstein")
    rows = []
    for (name, study), result in zip(variants.items(), found, strict=True):
        summary = summarise_circuit(study, result)
        ahead, kappa = summary["long_term"], summary["condition_number"]
        errors = (value for method in ("I", "III") for value in ahead[REDUCED][method][-3:])
        rows.append((name, summary["reduced_size"], *errors, kappa[FULL]["I"], kappa[REDUCED]["I"]))
    first = next(iter(variants.values()))
    steps = first.horizons[-3:]
    header = ("choice", "kept of 46", *(f"{m} reduced, h = {h}" for m in ("I", "III") for h in steps))
    source = source_in_title(records["as reported"].source)
    caption = f"{first.title} – {source}; paper at h = 10, 20, 50: I 0.378, 1.03, 1.41, III 0.377, 1.02, 1.39"
    return Table("sensitivity_circuit", caption, (*header, "κ of I, full", "κ of I, reduced"), tuple(rows))


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", name.lower())


if __name__ == "__main__":
    typer.run(main)
