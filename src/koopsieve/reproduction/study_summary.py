"""What a reproduction leaves as `summary.json`: means over runs with intervals beside them, in fixed names.

In come the results of single runs as read from disk; out goes a plain structure. Nothing here depends on when or in
which order runs were made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from koopsieve._written import json_number
from koopsieve.reproduction.study_settings import CircuitStudy, NoiseStudy, paper_numbers
from koopsieve.reproduction.study_tables import FULL, REDUCED

Result = Mapping[str, Any]
_SUFFIXES = {"": "mean", "_ci95": "ci95", "_median": "median"}


@dataclass(frozen=True)
class RunAverage:
    """Mean, half-width of its 95 % interval (Student's t), and median."""

    mean: float
    ci95: float
    median: float


def average(values: Sequence[float]) -> RunAverage:
    """Return mean, interval and median; a diverged run (inf) makes the mean and the interval inf.

    Examples
    --------
    >>> average([1.0, 2.0, 3.0]).mean, round(average([1.0, 2.0, 3.0]).ci95, 3)
    (2.0, 2.484)
    """
    numbers = np.array(values, dtype=float)
    median = float(np.sort(numbers)[[(len(numbers) - 1) // 2, len(numbers) // 2]].mean())
    if not np.isfinite(numbers).all():
        return RunAverage(math.inf, math.inf, median)
    scale = 2.0 ** min(math.frexp(float(np.abs(numbers).max()))[1], 1023)
    scaled = numbers / scale  # exactly; the squares of 1e200 would overflow
    mean = float(scaled.mean())
    if len(numbers) < 2:
        return RunAverage(mean * scale, math.nan, median)
    error = float(scaled.std(ddof=1)) / math.sqrt(len(numbers))
    half = float(special.stdtrit(len(numbers) - 1, 0.975)) * error
    return RunAverage(mean * scale, half * scale, median)


def summarise_noise_study(study: NoiseStudy, results: Sequence[Result]) -> dict[str, Any]:
    """Return the summary of a simulated system; the shape is fixed in the design.

    `long_term` is at the level `horizon_snr_db`. Beside each of `reduced_size`, `one_step`, `long_term` and
    `condition_number` stand the half-widths of the 95 % intervals of the means (`*_ci95`) and the medians (`*_median`).
    """
    averages = _averages(study, results)
    return {
        "system": study.system,
        "title": study.title,
        "snr_db": list(study.snr_db),
        "thresholds": list(study.methods.thresholds),
        "threshold": study.methods.threshold,
        "full_size": results[0]["full_size"],
        "state": study.report_state,
        "unit": study.report_unit,
        "horizons": list(study.horizons),
        "horizon_snr_db": study.horizon_snr_db,
        "runs": study.runs,
        **{key + suffix: _only(field, value) for key, value in averages.items() for suffix, field in _SUFFIXES.items()},
        "as_published": study.methods.as_published,
        "paper": paper_numbers(study.printed_as),
    }


def _averages(study: NoiseStudy, results: Sequence[Result]) -> dict[str, Any]:
    levels = [[result for result in results if result["snr_db"] == snr] for snr in study.snr_db]
    with_horizons = [result for result in results if result["long_term"]]
    state = study.report_state

    def sizes(threshold: float) -> list[RunAverage]:
        return [_average([r["sizes"][f"{threshold:g}"] for r in level]) for level in levels]

    def one_step(size: str, method: str) -> dict[str, list[RunAverage]]:
        return {
            part: [_average([r["one_step"][size][method][part][state] for r in level]) for level in levels]
            for part in ("train", "test")
        }

    def long_term(size: str, method: str) -> list[RunAverage]:
        steps = range(len(study.horizons)) if with_horizons else ()
        return [_average([r["long_term"][size][method][state][i] for r in with_horizons]) for i in steps]

    def conditioning(key: str) -> dict[str, Any]:
        return _per_model(
            results[0], lambda size, method: [_average([r[key][size][method] for r in level]) for level in levels]
        )

    return {
        "reduced_size": {f"{threshold:g}": sizes(threshold) for threshold in study.methods.thresholds},
        "one_step": _per_model(results[0], one_step),
        "long_term": _per_model(results[0], long_term),
        "condition_number": conditioning("condition_number"),
        "coef_condition_number": conditioning("coef_condition_number"),
        "diverged_targets": [_average([r["diverged"] for r in level]) for level in levels],
        "unsettled_targets": [_average([r["unsettled"] for r in level]) for level in levels],
    }


def summarise_circuit(study: CircuitStudy, result: Result) -> dict[str, Any]:
    """Return the summary of the Wiener–Hammerstein system; the shape is fixed in the design."""
    return {
        "system": study.system,
        "title": study.title,
        "source": result["source"],
        "full_size": result["full_size"],
        "reduced_size": len(result["retained"]),
        "threshold": study.methods.threshold,
        "retained": result["retained"],
        "one_step": _per_model(
            result,
            lambda size, method: {
                part: json_number(result["one_step"][size][method][part]["y"]) for part in ("train", "test")
            },
        ),
        "horizons": list(study.horizons),
        "long_term": _per_model(
            result, lambda size, method: [json_number(x) for x in result["long_term"][size][method]["y"]]
        ),
        "condition_number": _per_model(result, lambda *model: json_number(_at(result, "condition_number", *model))),
        "coef_condition_number": _per_model(
            result, lambda *model: json_number(_at(result, "coef_condition_number", *model))
        ),
        "as_published": study.methods.as_published,
        "unsettled_targets": result["unsettled"],
        "diverged_targets": result["diverged"],
        "readings": result["readings"],
        "paper": paper_numbers(study.system),
    }


def _per_model(result: Result, value: Callable[[str, str], Any]) -> dict[str, dict[str, Any]]:
    return {
        size: {method: value(size, method) for method in result["condition_number"][size]} for size in (FULL, REDUCED)
    }


def _at(result: Result, key: str, size: str, method: str) -> Any:
    return result[key][size][method]


def _average(values: Sequence[Any]) -> RunAverage:
    return average([json_number(value) for value in values])


def _only(field: str, value: Any) -> Any:
    """Return the same structure with one field of every average."""
    if isinstance(value, dict):
        return {key: _only(field, item) for key, item in value.items()}
    if isinstance(value, list):
        return [_only(field, item) for item in value]
    return getattr(value, field)
