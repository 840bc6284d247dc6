"""The files of one run: `summary.json`, `model.npz`, `inclusion.csv`."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from koopsieve._json import write_json
from koopsieve._words import safe_cell
from koopsieve._written import encoded, written_whole
from koopsieve.identify import Estimate
from koopsieve.io.summary import summarise
from koopsieve.sieve.views import Sifted, result_of


def write_run(given: Sifted, folder: str | os.PathLike[str], more: Mapping[str, Any] | None = None) -> None:
    """Write the run into `folder`, which is made if it is missing; every file appears whole or not at all.

    Parameters
    ----------
    given : SieveResult or fitted KoopmanSieve
    folder : path
    more : mapping, optional
        Further entries of `summary.json`: see `summarise`.
    """
    result, out = result_of(given), Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    result.model.save(out / "model.npz")
    with written_whole(out / "inclusion.csv") as stream:
        stream.write(encoded(inclusion_table(result.explanation)))
    write_json(out / "summary.json", summarise(result, more))


def inclusion_table(found: Estimate) -> str:
    """Return the inclusion probabilities as CSV: a row per regressor, a column per target."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["regressor", *map(safe_cell, found.targets)])
    for name, row in zip(found.regressors, found.inclusion, strict=True):
        writer.writerow([safe_cell(name), *(f"{value:.6g}" for value in row)])
    return text.getvalue()
