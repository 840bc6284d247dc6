"""Sensitivity of the answers to choices the paper is silent about: `python -m benchmarks.sensitivity OUT`.

Each variant changes one such choice, or one of ours. It is run as the quick study, through the same resumable engine;
one table per system.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from koopsieve._written import write_json
from koopsieve.execution import Progress
from koopsieve.execution.executors import bar
from koopsieve.identify import SpikeSlabPrior
from koopsieve.reproduction.monte_carlo import RunTask, run_tasks
from koopsieve.reproduction.study_runs import run_circuit, run_once
from koopsieve.reproduction.study_settings import (
    CircuitStudy,
    KernelSettings,
    MethodSettings,
    NoiseStudy,
    circuit_study,
    load_records,
    noise_study,
)
from koopsieve.reproduction.study_summary import summarise_circuit, summarise_noise_study
from koopsieve.reproduction.study_tables import FULL, REDUCED, StudyTable, write_tables

SYSTEMS = ("lorenz", "usv", "wiener-hammerstein")


def noise_variants(system: str) -> dict[str, NoiseStudy]:
    """Return the study as it is, then with other kernels, excitation, priors, pseudo-inverse and updates."""
    study = noise_study(system, quick=True)
    widths = (3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3) if system == "lorenz" else (0.01, 0.03, 0.1, 0.3, 1.0)
    centers = study.kernels[0].centers
    found = {"as reported": study}
    for width in widths:
        found[f"kernel coefficient {width:g}"] = replace(study, kernels=(KernelSettings(centers, (width,)),))
    mixed = (widths[0], widths[1], widths[2], widths[3]) if centers % 4 == 0 else (widths[0], widths[2])
    kernels = (KernelSettings(centers // len(mixed), mixed),)
    found[f"coefficients {', '.join(f'{c:g}' for c in mixed)}"] = replace(study, kernels=kernels)
    for hold in (3, 30) if "hold" in study.data else ():
        found[f"thrust held {hold} samples"] = replace(study, data={**study.data, "hold": hold})
    found["predictions start from true states"] = replace(study, data={**study.data, "noisy_test": False})
    for name, methods in _method_variants(study.methods).items():
        found[name] = replace(study, methods=methods)
    for relaxation in (0.02, 0.1, 0.3):
        published = noise_study(system, quick=True, as_published=True)
        methods = replace(published.methods, relaxation=relaxation)
        found[f"published updates, damping {relaxation:g}"] = replace(published, methods=methods)
    return found


def circuit_variants() -> dict[str, CircuitStudy]:
    """Return the study as it is, then with other records, kernels, priors and updates."""
    study = circuit_study()
    found = {"as reported": study}
    for train in ("fade", "sweep", "all"):
        found[f"trained on {train}"] = replace(study, data={**study.data, "train": train})
    narrow = replace(study.kernels[0], coefficients=(1e-3, 0.1, 10.0))
    slow = replace(study.kernels[1], frequencies=(1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0))
    found["kernels ten times wider"] = replace(study, kernels=(narrow, slow))
    for name, methods in _method_variants(study.methods).items():
        found[name] = replace(study, methods=methods)
    for relaxation in (0.02, 0.1, 0.3):
        published = circuit_study(as_published=True)
        methods = replace(published.methods, relaxation=relaxation)
        found[f"published updates, damping {relaxation:g}"] = replace(published, methods=methods)
    return found


def _method_variants(methods: MethodSettings) -> dict[str, MethodSettings]:
    prior, cutoff = methods.prior, methods.pseudo_inverse_cutoff
    found = {
        f"I cut off at 1e-12 instead of {cutoff:g}": replace(methods, pseudo_inverse_cutoff=1e-12),
        f"b = 1e-8 instead of {prior.b:g}": replace(methods, prior=replace(prior, b=1e-8)),
        "the library's default prior": replace(methods, prior=SpikeSlabPrior()),
    }
    for worth in (0.0, 0.01, 0.03, 0.1):
        if worth != prior.worth:
            found[f"worth = {worth:g} instead of {prior.worth:g}"] = replace(methods, prior=replace(prior, worth=worth))
    return found


def main(
    out: Annotated[Path, typer.Argument(help="Folder for the tables and single runs.")],
    data: Annotated[Path | None, typer.Option(help="Folder with the records.", envvar="KOOPSIEVE_DATA")] = None,
    workers: Annotated[int, typer.Option(help="Processes.")] = 2,
    systems: Annotated[str, typer.Option(help="Which, with commas between them.")] = ",".join(SYSTEMS),
    levels: Annotated[str, typer.Option(help="Levels of noise in dB, 20 among them.")] = "10,20,40",
) -> None:
    """Run every variant of every system and write one table per system, and all of them as tables.json."""
    tables = []
    for system in systems.split(","):
        if system == SYSTEMS[-1]:
            tables.append(circuit_table(circuit_variants(), out / system, data, workers, bar))
        else:
            at = tuple(float(level) for level in levels.split(","))
            variants = {name: replace(study, snr_db=at) for name, study in noise_variants(system).items()}
            tables.append(noise_table(system, variants, out / system, workers, bar))
    write_tables(tables, out)
    write_json(out / "tables.json", [asdict(table) for table in tables])


def noise_table(
    system: str, variants: Mapping[str, NoiseStudy], folder: Path, workers: int, progress: Progress, seed: int = 0
) -> StudyTable:
    """Return one row per variant of a simulated system."""
    tasks = {
        name: [
            RunTask(f"{_slug(name)}_snr{snr:g}dB_run{run:03d}", run_once, (study, snr, run, seed))
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
    return StudyTable(f"sensitivity_{system}", f"{first.title}, {first.runs} runs per level", header, rows)


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
    long_term, one = summary["long_term_median"], summary["one_step"]
    return [
        *summary["reduced_size"][f"{summary['threshold']:g}"],
        *(long_term[size][method][at] for method in ("I", "II", "III") for size in (FULL, REDUCED)),
        one[REDUCED]["III"]["test"][level] / one[FULL]["III"]["test"][level],
        summary["condition_number_median"][FULL]["I"][level],
        summary["condition_number_median"][REDUCED]["I"][level],
    ]


def _reported_horizon(horizons: Sequence[int]) -> int:
    return 50 if 50 in horizons else max(horizons)


def circuit_table(
    variants: Mapping[str, CircuitStudy], folder: Path, data: Path | None, workers: int, progress: Progress
) -> StudyTable:
    """Return one row per variant of the Wiener–Hammerstein system."""
    records = {name: load_records(data, study.data, study.simulated, 0) for name, study in variants.items()}
    tasks = [RunTask(_slug(name), run_circuit, (study, records[name], 0)) for name, study in variants.items()]
    fingerprint = {name: [study.fingerprint(), records[name].digest()] for name, study in variants.items()}
    found = run_tasks(tasks, folder, fingerprint, workers=workers, progress=progress, description="wiener-hammerstein")
    rows = []
    for (name, study), result in zip(variants.items(), found, strict=True):
        summary = summarise_circuit(study, result)
        long_term, kappa = summary["long_term"], summary["condition_number"]
        errors = (value for method in ("I", "III") for value in long_term[REDUCED][method][-3:])
        rows.append((name, summary["reduced_size"], *errors, kappa[FULL]["I"], kappa[REDUCED]["I"]))
    first = next(iter(variants.values()))
    steps = first.horizons[-3:]
    header = ("choice", "kept of 46", *(f"{m} reduced, h = {h}" for m in ("I", "III") for h in steps))
    source = records["as reported"].source
    caption = f"{first.title} – {source}; paper at h = 10, 20, 50: I 0.378, 1.03, 1.41, III 0.377, 1.02, 1.39"
    return StudyTable("sensitivity_circuit", caption, (*header, "κ of I, full", "κ of I, reduced"), tuple(rows))


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", name.lower())


if __name__ == "__main__":
    typer.run(main)
