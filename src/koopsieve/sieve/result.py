"""What sifting gave: one frozen value that every door returns, and that reports, plots and files take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from koopsieve._display import Facts, Shown, html_grid, html_table, shorten
from koopsieve._types import FloatArray, IndexArray
from koopsieve._words import number, steps
from koopsieve.data import Embedding, Trajectories
from koopsieve.data.provenance import Provenance
from koopsieve.dictionary import Dictionary
from koopsieve.evaluate import Coverage, Diagnostics, Errors, WindowErrors
from koopsieve.identify import Estimate, interchangeable_groups
from koopsieve.model import Model
from koopsieve.regression import RegressionStatistics
from koopsieve.sieve.choice import log_errors, paired_standard_error
from koopsieve.sieve.forms import Outcome
from koopsieve.sieve.path import SievePath
from koopsieve.sieve.reduction import Reduction
from koopsieve.sieve.tried import Tried

SIFTED, PERSISTENCE, LINEAR, EVERYTHING = "sifted", "persistence", "linear", "everything"


@dataclass(frozen=True, eq=False, repr=False)
class Baseline(Shown):
    """A model that the sifted one must beat, judged alike.

    Parameters
    ----------
    model : Model
        Learned from learning and validation data.
    validation : WindowErrors
        Of the same model learned from the learning part alone.
    errors : Errors
        On the judged data.
    """

    model: Model
    validation: WindowErrors
    errors: Errors

    def _facts(self) -> Facts:
        return {"terms": str(len(self.model.dictionary.regressors)), **self.errors.facts}


@dataclass(frozen=True, eq=False, repr=False)
class Fit(Shown):
    """One method on one set of observables, for comparison; nothing was chosen by it."""

    estimate: Estimate
    model: Model
    errors: Errors
    diagnostics: Diagnostics

    def _facts(self) -> Facts:
        return {"terms": str(len(self.model.dictionary.regressors)), **self.errors.facts}


@dataclass(frozen=True, eq=False)
class Comparison:
    """One method on all observables and on those kept."""

    full: Fit
    reduced: Fit


@dataclass(frozen=True, eq=False, repr=False)
class Judged(Shown):
    """What the errors of the result are of.

    Parameters
    ----------
    on : str
        "test" for data that came with the call, "held-out" for a part of the data, "validation" where there is neither:
        then the sifted model was chosen on them, and its errors there are those before it learned from them too.
    data : Trajectories
        The model's delays embedded.
    truth : Trajectories, optional
        The same without measurement noise, where that is known.
    """

    on: str
    data: Trajectories
    truth: Trajectories | None = None

    def _facts(self) -> Facts:
        return {"on": self.on, "samples": str(self.data.n_samples)}


@dataclass(frozen=True, eq=False, repr=False)
class SieveResult(Shown):
    """What sifting a dictionary gave.

    Parameters
    ----------
    outcome : Outcome
        The search in the form that was taken: path, model, statistics, explanation.
    paths : mapping from form to SievePath
        Every form that was tried; of several dictionaries the best one's.
    errors : Errors
        Of the model, on the judged data.
    diagnostics : Diagnostics
        Of the model.
    baselines : mapping from name to Baseline
        "persistence", "linear" (with a constant and the same delays) and "everything".
    comparison : mapping from name to Comparison
        Further methods that were asked for, on all observables and on those kept.
    reduction : Reduction
        The graph of the explanation.
    judged : Judged
        What the errors are of.
    coverage : Coverage, optional
        How well the model's bands hold on the judged data, at the level asked for; not where these are what it was
        calibrated on.
    samples : mapping from part to int
        How many samples were learned from, validated on and judged on.
    seconds : mapping from stage to float
    seed : int
    tried : tuple of Tried
        Every look and search, in their order.
    left_out : tuple of str
        Searches that were not made because the time limit was reached.
    provenance : Provenance
        What was done to the data on the way in, with counts: gaps, resampling, samples left out.
    """

    outcome: Outcome
    paths: Mapping[str, SievePath]
    errors: Errors
    diagnostics: Diagnostics
    baselines: Mapping[str, Baseline]
    reduction: Reduction
    judged: Judged
    samples: Mapping[str, int]
    seconds: Mapping[str, float]
    seed: int
    comparison: Mapping[str, Comparison] = field(default_factory=dict)
    coverage: Coverage | None = None
    tried: tuple[Tried, ...] = ()
    left_out: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def model(self) -> Model:
        """The chosen model, learned from learning and validation data together."""
        return self.outcome.model

    @property
    def form(self) -> str:
        """The prediction form of the model."""
        return self.model.form

    @property
    def path(self) -> SievePath:
        """How the size was chosen, in the form that was taken."""
        return self.outcome.path

    @property
    def horizons(self) -> tuple[int, ...]:
        """Steps ahead at which errors are given."""
        return self.path.horizons

    @property
    def dictionary(self) -> Dictionary:
        """All candidates."""
        return self.outcome.dictionary

    @property
    def statistics(self) -> RegressionStatistics:
        """Of learning and validation data, for all candidates; enough to refit with anything else."""
        return self.outcome.statistics

    @property
    def explanation(self) -> Estimate:
        """Which regressor drives which target, with probabilities: of the kept set, or of all if the graph decided."""
        return self.outcome.explanation

    @property
    def interchangeable(self) -> tuple[tuple[str, ...], ...]:
        """Groups of explained regressors that could stand for one another, and share their probability."""
        explained = self.statistics if self.outcome.graph_decides else self.outcome.kept
        return interchangeable_groups(explained, self.explanation)

    @property
    def retained(self) -> IndexArray:
        """Indices of the regressors kept."""
        return self.path.retained

    @property
    def retained_names(self) -> tuple[str, ...]:
        """Names of the regressors kept."""
        return self.path.retained_names

    @property
    def terms(self) -> int:
        """Number of regressors that the model uses, drives included."""
        drives = len(self.dictionary.drive_names) if self.form == "linear" else 0
        return len(self.retained) + drives

    @property
    def embedding(self) -> Embedding:
        """The delays in the model's state."""
        return self.model.signals.embedding

    @property
    def gain_over_linear(self) -> FloatArray:
        """Linear model's error over the sifted one's on validation windows, per horizon (typical ratio)."""
        mine, theirs = self.path.choice.errors.blocks, self.baselines[LINEAR].validation.blocks
        ratio: FloatArray = np.exp(np.mean(log_errors(theirs) - log_errors(mine), axis=1))
        return ratio

    @property
    def beats_linear(self) -> bool:
        """Whether, pooled over the horizons, the error on validation windows is less by more than a standard error."""
        mine = log_errors(self.path.choice.errors.blocks).mean(axis=0)
        theirs = log_errors(self.baselines[LINEAR].validation.blocks).mean(axis=0)
        return bool(np.mean(theirs - mine) > paired_standard_error(mine, theirs))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a user should know, in words: the choice, the baseline, what is worrying about the model."""
        found = [self.path.describe(), *([self.outcome.status] if self.outcome.status else [])]
        if not self.beats_linear:
            found.append(
                "On the validation data it does not beat a linear model with the same delays and a constant. "
                "Use that one, or offer other observables."
            )
        if self.left_out:
            found.append(f"Not searched, because the time limit was reached: {'; '.join(self.left_out)}.")
        bands = None if self.model.calibration is None else self.model.calibration.bands
        level = 0.9 if self.coverage is None else self.coverage.level
        shortage = "" if bands is None else bands.shortage(self.horizons[-1], level)
        return (*found, *self.diagnostics.warnings, *([shortage] if shortage else []))

    def describe(self) -> str:
        """Say in words what was kept, how well it predicts and what to be careful about."""
        pairs = zip(self.errors.mean, self.horizons, strict=True)
        errors = ", ".join(f"{number(error)} at {h}" for error, h in pairs)
        done = [self.provenance.describe()] if self.provenance.changed else []
        return " ".join([*done, *self.remarks, f"NMSE on {self.judged.on} data: {errors} steps."])

    def _facts(self) -> Facts:
        error = f"{number(self.errors.mean[-1])} at {steps(self.horizons[-1])} on {self.judged.on} data"
        return {"form": self.form, "kept": f"{len(self.retained)} of {self.path.candidates}", "NMSE": error}

    def _repr_html_(self) -> str:
        said = {**self._facts(), "terms": shorten(self.retained_names), "remarks": " ".join(self.remarks)}
        models = {SIFTED: self.errors, **{name: one.errors for name, one in self.baselines.items()}}
        rows = ([name, *map(number, errors.mean)] for name, errors in models.items())
        title = f"NMSE on {self.judged.on} data, mean of the outputs"
        return html_table("SieveResult", said) + html_grid(title, ["", *map(steps, self.horizons)], rows)
