"""Preliminary searches: fast fits of many delays and dictionaries to a part of the data.

Plain linear models tell delays apart, and small reprojected models tell dictionaries apart. In come the divided data,
out comes a row for every combination. All are compared on the validation data, from the same starts.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from koopsieve._display import Facts, Shown, number
from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data import Embedding
from koopsieve.data.splitting import sample, thinned
from koopsieve.dictionary import Block, Constant, Dictionary, States
from koopsieve.evaluate import WindowErrors
from koopsieve.forms import ReprojectedForm, Task
from koopsieve.sieve import SimulationSieve
from koopsieve.sifting.choose import chosen_point
from koopsieve.sifting.folds import fold_errors
from koopsieve.sifting.judge import linear_baseline
from koopsieve.sifting.parts import Parts

PRELIMINARY, FULL = "preliminary", "full"
CLEARLY_UNSTABLE = 1.05  # absolute value of a pole; noise moves those of an integrator less
MAX_CANDIDATES = 400  # of a dictionary that is tried with several delays
LEARN_ROWS, WINDOW_ROWS, FIT_ROWS = 20_000, 4_000, 8_000  # to learn from, to compare on, and to simulate


@dataclass(frozen=True, eq=False, repr=False)
class SearchSummary(Shown):
    """One search of a dictionary with some delays in one form, as a row of the table in the report.

    Parameters
    ----------
    stage : {"preliminary", "full"}
        A preliminary search fits a few sets to part of the data; a full one goes through the whole path.
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
    bounded : bool
        Whether long free runs stay bounded.
    unstable : bool
        Whether it is a linear model with a pole well outside the unit circle.
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
    bounded: bool = True
    unstable: bool = False

    @property
    def run(self) -> float:
        """Error of the median free run, relative to the variance of the outputs."""
        return float(np.median(self.runs))

    def _facts(self) -> Facts:
        kept, errors = f"{self.kept} of {self.candidates}", ", ".join(map(number, self.errors.error))
        return {"stage": self.stage, "form": self.form, "kept": kept, "validation NMSE": errors}


@dataclass(frozen=True, eq=False)
class PreliminarySearch:
    """A part of the data, and what all preliminary searches share.

    Parameters
    ----------
    parts : Parts
    deepest : Embedding
        All predictions start where these delays could.
    seed : int
    """

    parts: Parts
    deepest: Embedding
    seed: int

    @classmethod
    def on_sample(cls, parts: Parts, deepest: Embedding, seed: int) -> PreliminarySearch:
        """Take a part of the data, spread over all of them."""
        stretch = 4 * (parts.horizons[-1] + deepest.lost + 1)
        learn = thinned(sample(parts.learn, LEARN_ROWS, stretch), LEARN_ROWS, stretch)
        windows = thinned(parts.windows, WINDOW_ROWS, stretch)
        part = replace(parts, learn=learn, validation=windows, windows=windows, validated=True, given=())
        return cls(part, deepest, seed)

    def linear(self, embedding: Embedding) -> SearchSummary:
        """Fit the linear model of states and a constant."""
        begun, parts = time.perf_counter(), self._embedded(embedding)
        model, _ = linear_baseline(parts.learn, parts.validation, None, merge=False)
        of_folds = (linear_baseline(fold.learn, fold.learn, None, merge=False)[0] for fold in parts.folds)
        errors, runs = fold_errors([*of_folds, model], parts)
        task = Task(parts.learn, parts.validation, parts.windows, model.dictionary, parts.horizons)
        bounded, size = task.stays_bounded(model), len(model.dictionary.regressors)
        unstable = model.spectral_radius > CLEARLY_UNSTABLE
        seconds, recipe = time.perf_counter() - begun, repr(States() + Constant())
        return SearchSummary(
            PRELIMINARY, model.form, embedding, recipe, size, size, errors, runs, seconds, bounded, unstable
        )

    def reprojected(self, embedding: Embedding, recipe: Block) -> SearchSummary | None:
        """Fit a few sets of a dictionary in the reprojected form; None if it is too large for that."""
        begun, parts = time.perf_counter(), self._embedded(embedding)
        phi = self.fitted(embedding, recipe)
        if phi is None:
            return None
        task = Task(parts.learn, parts.validation, parts.windows, phi, parts.horizons, seed=self.seed)
        points = ReprojectedForm(SimulationSieve(rows=FIT_ROWS)).rough_candidates(task)
        point = points[chosen_point(points)]
        size, seconds = len(phi.regressors), time.perf_counter() - begun
        return SearchSummary(
            PRELIMINARY, point.model.form, embedding, repr(recipe), size, point.size, point.errors, point.runs, seconds
        )

    def fitted(self, embedding: Embedding, recipe: Block) -> Dictionary | None:
        """Return the dictionary of a recipe; None if it would be too large for a preliminary search."""
        try:
            phi = recipe.fit(self._embedded(embedding).learn, seed=self.seed)
        except KoopsieveError:
            return None
        return phi if len(phi.regressors) <= MAX_CANDIDATES else None

    def _embedded(self, embedding: Embedding) -> Parts:
        return self.parts.embedded(embedding, self.deepest)
