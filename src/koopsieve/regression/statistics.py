"""Regression statistics: the triangular factors of the paper's regressions, with the names of what they relate.

`RegressionStatistics` holds the one-step regression of the paper (Section 3): the next lifted state on the lifted
state and the input. `HorizonStatistics` holds, for the same rows of data, the outputs several steps ahead on the lifted
state and all inputs up to there. Both merge (chunks, files, workers, late data) and select (a reduced dictionary).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._display import Facts, Shown, shorten
from koopsieve._types import FloatArray, IndexArray, KoopsieveError, Range, increasing_indices, real_number
from koopsieve.data import Signals
from koopsieve.regression.factor import TriangularFactor, refuse_too_large
from koopsieve.regression.given_statistics import checked_matrices, load_statistics, save_statistics


@dataclass(frozen=True, eq=False, repr=False)
class HorizonStatistics(Shown):
    """The outputs y[k+h], h in `horizons`, regressed on φ(x[k]) and u[k], …, u[k+max(h)−1].

    Columns of the factor: the L observables, then the inputs at k, then at k+1, … . Because a horizon h uses only the
    inputs before k+h, its regression is the leading L + l·h block of the factor. Targets: for each horizon in order,
    the outputs in order.
    """

    factor: TriangularFactor  # over p = L + l·max(horizons) regressors and len(horizons)·len(outputs) targets
    # observables, inputs, outputs: names of the observables, of the inputs (at one instant) and of the outputs
    observables: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    horizons: tuple[int, ...]  # strictly increasing

    def at(self, horizon: int) -> TriangularFactor:
        """Return the factor of the regression at one horizon: L + l·h regressors, one target per output."""
        first = self.horizons.index(horizon) * len(self.outputs)
        p = len(self.observables) + len(self.inputs) * horizon
        factor = self.factor.only(np.arange(first, first + len(self.outputs)))
        left = factor.leftover_products + factor.S[p:].T @ factor.S[p:]
        return TriangularFactor(factor.R[:p, :p], factor.S[:p], left, factor.rows)

    def merge(self, other: HorizonStatistics) -> HorizonStatistics:
        """Return the statistics of both data sets together."""
        _require_same("horizons", self.horizons, other.horizons)
        return replace(self, factor=self.factor.merge(other.factor))

    def select(self, retained: ArrayLike) -> HorizonStatistics:
        """Return the statistics of the dictionary cut to `retained`; inputs stay."""
        L, p = len(self.observables), len(self.factor.R)
        kept = increasing_indices("retained", retained, L)
        columns = np.concatenate([kept, np.arange(L, p)])
        factor = self.factor.select(columns, np.arange(self.factor.S.shape[1]))
        return replace(self, factor=factor, observables=_pick(self.observables, kept))

    def discount(self, forgetting: float) -> HorizonStatistics:
        """Return the statistics with every row's weight multiplied by `forgetting`."""
        return replace(self, factor=self.factor.discount(forgetting))

    def _facts(self) -> Facts:
        horizons = shorten([str(h) for h in self.horizons])
        return {"transitions": f"{self.factor.rows:g}", "observables": shorten(self.observables), "horizons": horizons}


@dataclass(frozen=True, eq=False, repr=False)
class RegressionStatistics(Shown):
    """The one-step regression T ≈ Φ·K of the paper, compressed: Φ = [lifted states | inputs], T = next lifted states.

    Parameters
    ----------
    factor : TriangularFactor
        Over p = L + l regressors and L targets.
    observables, input_terms : tuple of str
        Names; regressors are the observables followed by the input terms (in a linear model the inputs), targets are
        the observables.
    multistep : HorizonStatistics, optional
        The multi-step regressions of the same data, if `compress` was asked for horizons.
    outputs : tuple of int
        Which observables are the measured outputs themselves.
    signals : Signals
        Names, sample time and delays of the data.
    region : array, shape (2, n + l), optional
        Least and largest value of every state and acting input in the data; not known of statistics made by hand.
    """

    factor: TriangularFactor
    observables: tuple[str, ...]
    input_terms: tuple[str, ...] = ()
    multistep: HorizonStatistics | None = None
    outputs: tuple[int, ...] = ()
    signals: Signals = field(default_factory=Signals)
    region: FloatArray | None = None

    @classmethod
    def from_matrices(
        cls,
        Phi: Any,
        Phi_next: Any,
        U: Any = None,
        names: Sequence[str] | None = None,
        input_names: Sequence[str] | None = None,
    ) -> RegressionStatistics:
        """Return the statistics of lifted samples that were made elsewhere, with any lifting.

        Parameters
        ----------
        Phi, Phi_next : array or data frame, shape (m, L)
            Row k of `Phi` is φ(x[k]), row k of `Phi_next` is φ(x[k+1]). Of several records, put the rows of all
            underneath each other; no row may lead from one record to the next.
        U : array or data frame, shape (m, l), optional
            The inputs that act in each step.
        names, input_names : sequence of str, optional
            By default the columns of a data frame, else phi1, phi2, … and u1, u2, ….

        Raises
        ------
        KoopsieveError
            If sizes or names do not fit, or a value is complex, missing, not finite, too large or too small to square.

        Examples
        --------
        x[k+1] = 0.9 x[k] + 0.1 x²[k], lifted by hand:

        >>> x = np.array([1.0, 1.0, 0.5, 0.475, 2.0])
        >>> x_next = 0.9 * x + 0.1 * x**2
        >>> Phi, Phi_next = np.column_stack([x, x**2]), np.column_stack([x_next, x_next**2])
        >>> statistics = RegressionStatistics.from_matrices(Phi, Phi_next, names=["x", "x²"])
        >>> np.linalg.solve(statistics.R, statistics.S)[:, 0].round(3)
        array([0.9, 0.1])
        """
        design, targets, observables, inputs = checked_matrices(Phi, Phi_next, U, names, input_names)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflowed is named below
            factor = TriangularFactor.empty(design.shape[1], targets.shape[1]).absorb(design, targets)
        refuse_too_large(factor, observables + inputs + observables)
        return cls(factor, observables, inputs)

    @property
    def R(self) -> FloatArray:
        """Upper triangular factor of the design, shape (p, p)."""
        return self.factor.R

    @property
    def S(self) -> FloatArray:
        """QᵀT, shape (p, L)."""
        return self.factor.S

    @property
    def leftover(self) -> FloatArray:
        """Squared norm of T − QS per target, shape (L,)."""
        return self.factor.leftover

    @property
    def rows(self) -> float:
        """Number of transitions."""
        return self.factor.rows

    @property
    def regressors(self) -> tuple[str, ...]:
        """Names of the columns of the design."""
        return self.observables + self.input_terms

    def merge(self, other: RegressionStatistics) -> RegressionStatistics:
        """Return the statistics of both data sets together.

        Raises
        ------
        KoopsieveError
            If the two were not made with the same dictionary and horizons, or of data sampled alike.
        """
        _require_same("observables", self.observables, other.observables)
        _require_same("input terms", self.input_terms, other.input_terms)
        self.signals.require_same(other.signals, "Statistics to merge")
        if (self.multistep is None) != (other.multistep is None):
            raise KoopsieveError(
                "Only one of the two statistics holds horizons. Compress both with the same `horizons`."
            )
        multistep = self.multistep and other.multistep and self.multistep.merge(other.multistep)
        region = widest(self.region, other.region)
        return replace(self, factor=self.factor.merge(other.factor), multistep=multistep, region=region)

    def select(self, retained: ArrayLike, input_terms: ArrayLike | None = None) -> RegressionStatistics:
        """Return the statistics of the dictionary cut to `retained`, without data; by default all input terms stay."""
        kept = increasing_indices("retained", retained, len(self.observables))
        every = np.arange(len(self.input_terms)) if input_terms is None else input_terms
        kept_terms = increasing_indices("input_terms", every, len(self.input_terms))
        columns = np.concatenate([kept, len(self.observables) + kept_terms])
        return replace(
            self,
            factor=self.factor.select(columns, kept),
            observables=_pick(self.observables, kept),
            input_terms=_pick(self.input_terms, kept_terms),
            multistep=self.multistep and self.multistep.select(kept),
            outputs=tuple(np.flatnonzero(np.isin(kept, self.outputs)).tolist()),
        )

    def discount(self, forgetting: float) -> RegressionStatistics:
        """Return the statistics with every row's weight multiplied by `forgetting`, for plants that change slowly."""
        real_number("forgetting", forgetting, Range(0, 1, open_low=True))
        multistep = self.multistep and self.multistep.discount(forgetting)
        return replace(self, factor=self.factor.discount(forgetting), multistep=multistep)

    def only(self, targets: ArrayLike) -> RegressionStatistics:
        """Return the regressions of some observables on all of them: targets are independent of each other."""
        chosen = increasing_indices("targets", targets, len(self.observables))
        factor = self.factor.only(chosen)
        return SomeTargets(factor, _pick(self.observables, chosen), self.input_terms, every=self.regressors)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to one .npz file of arrays and JSON, whole or not at all.

        Raises
        ------
        KoopsieveError
            If it could not be written.
        """
        save_statistics(path, self)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> RegressionStatistics:
        """Read statistics that `save` wrote; merge them with those of new data.

        Raises
        ------
        KoopsieveError
            If the file is not there, damaged, or something else.
        """
        return load_statistics(path)

    def _facts(self) -> Facts:
        horizons = "1" if self.multistep is None else shorten([str(h) for h in self.multistep.horizons])
        return {
            "transitions": f"{self.rows:g}",
            "observables": shorten(self.observables),
            "input terms": shorten(self.input_terms) or "none",
            "horizons": horizons,
        }


@dataclass(frozen=True, eq=False, repr=False)
class SomeTargets(RegressionStatistics):
    """Statistics with all regressors and some of the targets; `observables` names the targets."""

    every: tuple[str, ...] = ()

    @property
    def regressors(self) -> tuple[str, ...]:
        """Names of the columns of the design."""
        return self.every


def required_multistep(statistics: RegressionStatistics) -> HorizonStatistics:
    """Return the multi-step part of the statistics; the error says how to get it."""
    if statistics.multistep is None:
        raise KoopsieveError(
            "This needs the outputs several steps ahead, and these statistics hold one step only. "
            "Compress with horizons, for example compress(train, dictionary, horizons=[1, 10, 50])."
        )
    return statistics.multistep


def widest(region: FloatArray | None, other: FloatArray | None) -> FloatArray | None:
    """Return the region that holds both, each given as least and largest values (2, d); None if one is not known."""
    if region is None or other is None:
        return None
    return np.stack([np.minimum(region[0], other[0]), np.maximum(region[1], other[1])])


def _pick(names: Sequence[str], kept: IndexArray) -> tuple[str, ...]:
    return tuple(names[i] for i in kept)


def _require_same(what: str, mine: Sequence[object], theirs: Sequence[object]) -> None:
    if tuple(mine) != tuple(theirs):
        raise KoopsieveError(
            f"The two statistics have different {what}. Expected {list(mine)[:5]}…, got {list(theirs)[:5]}…. "
            "Compress both with the same fitted dictionary."
        )
