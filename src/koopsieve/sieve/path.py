"""A family of dictionaries, each refitted and judged, and the one that was chosen: what `sieve_path` returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray, IndexArray
from koopsieve.data import Trajectories
from koopsieve.dictionary import Dictionary
from koopsieve.model import LiftedModel
from koopsieve.regression import RegressionStatistics
from koopsieve.sieve.choice import log_errors

FEW = 0.25  # a choice that keeps more than this share of the dictionary says why


@dataclass(frozen=True, eq=False)
class PathPoint:
    """One dictionary of the path.

    Parameters
    ----------
    retained : array of int
        Increasing indices of the observables kept.
    names : tuple of str
        Their names.
    elbo : float
        The sieve's bound of the evidence for it.
    error, standard_error : array, shape (len(horizons),)
        Mean NMSE over the outputs on the validation windows, and its standard error over blocks of windows.
    blocks : array, shape (len(horizons), number of blocks)
        The NMSE of consecutive blocks of windows, by which dictionaries are compared.
    model : LiftedModel
        Refitted on the training data alone, as it was judged.
    refit : str
        Which refit predicted best.
    status : str
        What was done about stability; empty if there was nothing to do.
    """

    retained: IndexArray
    names: tuple[str, ...]
    elbo: float
    error: FloatArray
    standard_error: FloatArray
    blocks: FloatArray
    model: LiftedModel
    refit: str
    status: str

    @property
    def size(self) -> int:
        """Number of observables kept."""
        return len(self.retained)


@dataclass(frozen=True, eq=False)
class SievePath:
    """A family of dictionaries of increasing size, with the default choice.

    Parameters
    ----------
    points : tuple of PathPoint
        The smallest first.
    horizons : tuple of int
        Steps ahead at which errors are given.
    chosen : int
        Index of the smallest dictionary whose error is within one standard error of the best: see `choose`.
    model : LiftedModel
        On the chosen dictionary, refitted on training and validation data together; where that was not wanted, the
        chosen point's own.
    dictionary : Dictionary
        The full one.
    statistics : RegressionStatistics
        Of the training data, for the full dictionary, with horizons.
    validation : Trajectories
        What errors were measured on.
    """

    points: tuple[PathPoint, ...]
    horizons: tuple[int, ...]
    chosen: int
    model: LiftedModel
    dictionary: Dictionary
    statistics: RegressionStatistics
    validation: Trajectories

    @property
    def choice(self) -> PathPoint:
        """The chosen point."""
        return self.points[self.chosen]

    @property
    def retained(self) -> IndexArray:
        """Indices of the observables of the chosen dictionary."""
        return self.choice.retained

    @property
    def retained_names(self) -> tuple[str, ...]:
        """Names of the observables of the chosen dictionary."""
        return self.choice.names

    @property
    def sizes(self) -> IndexArray:
        """Number of observables of every point."""
        return np.array([point.size for point in self.points], dtype=np.intp)

    @property
    def elbo(self) -> FloatArray:
        """The sieve's bound of the evidence for every point."""
        return np.array([point.elbo for point in self.points])

    @property
    def error(self) -> FloatArray:
        """NMSE, shape (points, horizons)."""
        return np.stack([point.error for point in self.points])

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of the NMSE, shape (points, horizons)."""
        return np.stack([point.standard_error for point in self.points])

    @property
    def demand(self) -> str:
        """Why more than a quarter of the dictionary was kept, and what a quarter would cost; empty if it was not."""
        choice, full = self.choice, self.dictionary.size
        if choice.size <= FEW * full:
            return ""
        fewer = [point for point in self.points if point.size <= FEW * full]
        if not fewer:
            return "That is more than a quarter of the dictionary; no smaller part of it was on the path."
        change = log_errors(fewer[-1].blocks) - log_errors(choice.blocks)
        ratios = np.exp(change.mean(axis=1))
        worst = int(np.argmax(ratios))
        return (
            f"That is more than a quarter of the dictionary, and the data ask for it: with {fewer[-1].size} the error "
            f"would typically be {ratios[worst]:.2f} times as large at horizon {self.horizons[worst]}."
        )

    def describe(self) -> str:
        """Say in words what was chosen and why."""
        choice = self.choice
        errors = ", ".join(f"{e:.2g} at {h}" for e, h in zip(choice.error, self.horizons, strict=True))
        kept = f"{choice.size} of {self.dictionary.size} observables kept (refit: {choice.refit})"
        return " ".join(part for part in (f"{kept}; validation NMSE {errors}.", self.demand, choice.status) if part)
