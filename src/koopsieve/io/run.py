"""The files of one run: `summary.json`, `model.npz`, `inclusion.csv`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from koopsieve._display import csv_text
from koopsieve._exchange import whole_folder
from koopsieve._json import write_json
from koopsieve._written import encoded, written_whole
from koopsieve.identify import Estimate
from koopsieve.io.summary import summarise
from koopsieve.sifting.result import Sifted, result_of

RUN_FILES = ("summary.json", "model.npz", "inclusion.csv")


def write_run(given: Sifted, folder: str | os.PathLike[str], more: Mapping[str, Any] | None = None) -> None:
    """Write the run into `folder`, which is made if it is missing; the files appear together or not at all.

    Parameters
    ----------
    given : SieveResult or fitted KoopmanSieve
    folder : path
    more : mapping, optional
        Further entries of `summary.json`: see `summarise`.
    """
    result = result_of(given)
    with whole_folder(folder) as out:
        result.model.save(out / "model.npz")
        with written_whole(out / "inclusion.csv") as stream:
            stream.write(encoded(inclusion_table(result.explanation)))
        write_json(out / "summary.json", summarise(result, more))


def inclusion_table(found: Estimate) -> str:
    """Return the inclusion probabilities as CSV: a row per regressor, a column per target."""
    rows = zip(found.regressors, found.inclusion, strict=True)
    table = ([name, *(float(f"{value:.6g}") for value in row)] for name, row in rows)
    return csv_text([["regressor", *found.targets], *table])
