"""The Wiener–Hammerstein comparison (paper, Section 5.3): one run, no artificial noise."""

from __future__ import annotations

from typing import Any

from koopsieve._types import FloatArray
from koopsieve.experiments.comparison import Comparison, Sampled, compare
from koopsieve.experiments.methods import observables
from koopsieve.experiments.records import Records
from koopsieve.experiments.settings import CircuitStudy


def run_circuit(study: CircuitStudy, records: Records, seed: int) -> dict[str, Any]:
    """Compare all methods on the records; the numbers, and the coefficient matrices for the heat maps."""
    found = compare(
        Sampled(records.train, records.train),
        Sampled(records.test, records.test),
        observables(study.kernels),
        study.methods,
        horizons=study.horizons,
        seed=seed,
        flat=True,
    )
    return {"system": study.system, "source": records.source, **found.numbers, "coef": _coefficients(found)}


def _coefficients(found: Comparison) -> dict[str, dict[str, list[list[float]]]]:
    def rows(coef: FloatArray) -> list[list[float]]:
        return [[float(value) for value in row] for row in coef]

    return {
        size: {method: rows(estimate.coef) for method, estimate in estimates.items()}
        for size, estimates in found.estimates.items()
    }
