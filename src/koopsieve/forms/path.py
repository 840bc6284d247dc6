"""A path of models of increasing size, each refitted and judged, and the one that was chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._display import Facts, Shown, html_grid, html_table, number, steps
from koopsieve._types import FloatArray, IndexArray
from koopsieve.evaluate import WindowErrors
from koopsieve.forms.model import Model

SMALL_SHARE = 0.25  # a choice that keeps more than this share of the candidates says why
OVER_WINDOWS = "simulated windows"  # the name of a refit
MUCH_LARGER = 1000  # times an error, beyond which the number itself tells nothing


@dataclass(frozen=True, eq=False, repr=False)
class PathPoint(Shown):
    """One set of regressors on the path.

    Parameters
    ----------
    retained : array of int
        Increasing indices of the observables kept; in the reprojected form, of observables and input terms.
    names : tuple of str
        Their names.
    elbo : float
        The sieve's bound of the evidence for it; nan where there is none.
    errors : WindowErrors
        On the validation windows.
    runs : array, shape (number of runs,)
        Errors of free runs along the validation data: see `simulation_errors`.
    model : Model
        Fitted to the learning part alone, as it was judged.
    refit : str
        Which refit predicted best.
    status : str
        What was done about stability, or how the fit ended; empty if there is nothing to say.
    in_range : bool
        Whether free runs stay bounded with inputs beyond those of the data: see `stays_in_range`.
    bounded : bool
        Whether long free runs stay bounded with the inputs of the data.
    whole_runs : float
        Mean error of free runs along whole episodes, those learned from too; 0 where it is not known.
    """

    retained: IndexArray
    names: tuple[str, ...]
    elbo: float
    errors: WindowErrors
    runs: FloatArray
    model: Model
    refit: str
    status: str = ""
    in_range: bool = True
    bounded: bool = True
    whole_runs: float = 0.0

    @property
    def size(self) -> int:
        """Number of regressors kept."""
        return len(self.retained)

    def _facts(self) -> Facts:
        errors = ", ".join(number(error) for error in self.errors.error)
        return {"kept": str(self.size), "refit": self.refit, "validation NMSE": errors}


@dataclass(frozen=True, eq=False, repr=False)
class SievePath(Shown):
    """A family of models of increasing size in one form, with the default choice.

    Parameters
    ----------
    form : str
        Its name in the registry of forms.
    points : tuple of PathPoint
        The smallest first.
    horizons : tuple of int
        Steps ahead at which errors are given.
    chosen : int
        Index of the smallest point that is as good as the best: see `koopsieve.sifting.choose`.
    candidates : int
        How many regressors there were to choose from.
    """

    form: str
    points: tuple[PathPoint, ...]
    horizons: tuple[int, ...]
    chosen: int
    candidates: int

    @property
    def choice(self) -> PathPoint:
        """The chosen point."""
        return self.points[self.chosen]

    @property
    def retained(self) -> IndexArray:
        """Indices of the regressors of the chosen point."""
        return self.choice.retained

    @property
    def retained_names(self) -> tuple[str, ...]:
        """Names of the regressors of the chosen point."""
        return self.choice.names

    @property
    def sizes(self) -> IndexArray:
        """Number of regressors of every point."""
        return np.array([point.size for point in self.points], dtype=np.intp)

    @property
    def elbo(self) -> FloatArray:
        """The sieve's bound of the evidence for every point."""
        return np.array([point.elbo for point in self.points])

    @property
    def error(self) -> FloatArray:
        """NMSE on the validation windows, shape (points, horizons)."""
        return np.stack([point.errors.error for point in self.points])

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of the NMSE, shape (points, horizons)."""
        return np.stack([point.errors.standard_error for point in self.points])

    @property
    def why_large(self) -> str:
        """Why more than a quarter of the candidates were kept, and what a quarter would cost; empty otherwise.

        Empty too where there was nothing to choose from, as in the plain linear model.
        """
        choice = self.choice
        nothing_sifted = all(point.size == self.candidates for point in self.points)
        if nothing_sifted or choice.size <= SMALL_SHARE * self.candidates:
            return ""
        fewer = [point for point in self.points if point.size <= SMALL_SHARE * self.candidates]
        if not fewer:
            return "That is more than a quarter of the candidates; there was no smaller set on the path."
        known = np.isfinite(fewer[-1].errors.blocks).all(axis=0)  # clearly worse ones are judged on some parts
        change = (fewer[-1].errors.logs - choice.errors.logs)[:, known if known.any() else slice(None)]
        ratios = np.exp(change.mean(axis=1))
        worst = int(np.argmax(ratios))
        if ratios[worst] <= 1:  # free runs or a few large errors decided
            in_runs = fewer[-1].runs.size > 0 and not fewer[-1].runs.mean() <= choice.runs.mean()
            words = f" With {fewer[-1].size} the error would be larger in free runs only." if in_runs else ""
            return f"That is more than a quarter of the candidates.{words}"
        times = number(ratios[worst]) if ratios[worst] < MUCH_LARGER else f"more than {MUCH_LARGER}"
        return (
            f"That is more than a quarter of the candidates. With {fewer[-1].size} the error would typically be "
            f"{times} times as large at horizon {self.horizons[worst]}."
        )

    @property
    def range_warning(self) -> str:
        """That the chosen model leaves the range of the data when inputs do; empty if it does not."""
        if not self.choice.bounded:
            return "Simulated over many steps it leaves the range of the data: predict a few steps with it, not more."
        if self.choice.in_range:
            return ""
        return (
            "Simulated with inputs at 1.5 times their deviation from the mean, it leaves the range of the data: do not "
            "use it with larger inputs."
        )

    def describe(self) -> str:
        """Say in words what was chosen and why."""
        choice = self.choice
        errors = ", ".join(f"{number(e)} at {h}" for e, h in zip(choice.errors.error, self.horizons, strict=True))
        ahead = "step" if self.horizons[-1] == 1 else "steps"
        kept = f"{choice.size} of {self.candidates} candidates kept ({self.form} form, refit: {choice.refit})"
        parts = (f"{kept}; validation NMSE {errors} {ahead}.", self.why_large, self.range_warning)
        return " ".join(part for part in parts if part)

    def _facts(self) -> Facts:
        sizes = ", ".join(str(size) for size in self.sizes)
        counts = {"candidates": str(self.candidates), "sizes": sizes, "chosen": str(self.choice.size)}
        return {"form": self.form, **counts}

    def _repr_html_(self) -> str:
        head = ["kept", "refit", *(steps(h) for h in self.horizons)]
        rows = ([str(p.size), p.refit, *map(number, p.errors.error)] for p in self.points)
        return html_table("SievePath", self._facts()) + html_grid("NMSE on validation windows", head, rows)
