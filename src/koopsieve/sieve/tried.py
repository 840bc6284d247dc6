"""What was tried on the way to a result: one row per look or search, for the table in the report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._display import Facts, Shown
from koopsieve._types import FloatArray
from koopsieve._words import number
from koopsieve.data import Embedding
from koopsieve.evaluate import WindowErrors

LOOK, SEARCH = "first look", "search"


@dataclass(frozen=True, eq=False, repr=False)
class Tried(Shown):
    """One look at, or search of, a dictionary with some delays in one form.

    Parameters
    ----------
    stage : {"first look", "search"}
        A look fits a few sets to part of the data; a search goes through the whole path.
    form : str
    embedding : Embedding
    dictionary : str
        The candidates as they are written.
    candidates, kept : int
        How many regressors there were, and how many the best set of them has.
    errors : WindowErrors
        On the validation windows.
    runs : array
        Errors of free runs along the validation data.
    seconds : float
    """

    stage: str
    form: str
    embedding: Embedding
    dictionary: str
    candidates: int
    kept: int
    errors: WindowErrors
    runs: FloatArray
    seconds: float

    @property
    def run(self) -> float:
        """Error of the median free run, relative to the variance of the outputs."""
        return float(np.median(self.runs))

    def _facts(self) -> Facts:
        kept, errors = f"{self.kept} of {self.candidates}", ", ".join(map(number, self.errors.error))
        return {"stage": self.stage, "form": self.form, "kept": kept, "validation NMSE": errors}
