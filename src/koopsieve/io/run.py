"""The files of one run of the sieve: `summary.json`, `model.npz`, `inclusion.csv`."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from koopsieve._types import written_whole
from koopsieve._version import __version__
from koopsieve.identify import Estimate
from koopsieve.io.json import write_json
from koopsieve.sieve import SievePath
from koopsieve.workflow import SieveResult


def summarise(result: SieveResult) -> dict[str, Any]:
    """Return the run in numbers, under the names other programs rely on."""
    sizes = {"full": result.full, "reduced": result.reduced}
    found = result.found
    return {
        "observables": {
            "full": result.dictionary.size,
            "reduced": len(result.retained),
            "retained": result.retained_names,
        },
        "horizons": result.horizons,
        "nmse": {size: {name: fit.diagnostics.error for name, fit in fits.items()} for size, fits in sizes.items()},
        "condition_number": {
            size: {name: fit.diagnostics.condition_number for name, fit in fits.items()} for size, fits in sizes.items()
        },
        "spectral_radius": {
            size: {name: fit.diagnostics.spectral_radius for name, fit in fits.items()} for size, fits in sizes.items()
        },
        "remarks": {
            size: {name: fit.diagnostics.remarks for name, fit in fits.items()} for size, fits in sizes.items()
        },
        "judged_on": result.judged_on,
        "model": result.best,
        "threshold": result.reduction.threshold,
        "seconds": result.seconds,
        "elbo": dict(zip(found.targets, found.elbo, strict=True)),
        "status": {name: status.value for name, status in zip(found.targets, found.status, strict=True)},
        **({} if result.path is None else {"path": _path(result.path)}),
        "version": __version__,
        "seed": result.seed,
    }


def _path(path: SievePath) -> dict[str, Any]:
    return {
        "sizes": path.sizes,
        "chosen": path.chosen,
        "nmse": path.error,
        "standard_error": path.standard_error,
        "words": path.describe(),
    }


def write_run(result: SieveResult, folder: str | os.PathLike[str], more: Mapping[str, Any] | None = None) -> None:
    """Write the run into `folder`, which is made if it is missing; every file appears whole or not at all.

    Parameters
    ----------
    result : SieveResult
    folder : path
    more : mapping, optional
        Further entries of `summary.json`, such as the settings.
    """
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    result.model.save(out / "model.npz")
    with written_whole(out / "inclusion.csv") as stream:
        stream.write(inclusion_table(result.found).encode())
    write_json(out / "summary.json", {**summarise(result), **(more or {})})


def inclusion_table(found: Estimate) -> str:
    """Return the inclusion probabilities as CSV: a row per regressor, a column per target."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["regressor", *found.targets])
    for name, row in zip(found.regressors, found.inclusion, strict=True):
        writer.writerow([name, *(f"{value:.6g}" for value in row)])
    return text.getvalue()
