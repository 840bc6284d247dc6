"""The sifted model beside what it must beat, all judged on the same data.

Baselines are the last value kept, the best plain linear model, and all candidates by least squares. Further methods are
fitted to all candidates and to those kept. Nothing is chosen here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from koopsieve._display import Facts, Shown
from koopsieve._types import FloatArray
from koopsieve.data import Stream, Trajectories
from koopsieve.dictionary import Constant, Dictionary, States
from koopsieve.evaluate import Diagnostics, Errors, WindowErrors, diagnose, window_errors
from koopsieve.evaluate.rollout import step_errors
from koopsieve.execution import Executor
from koopsieve.forms import LinearModel, Model, Outcome
from koopsieve.forms.linear.plain import arx_model
from koopsieve.identify import Estimate
from koopsieve.regression import RegressionStatistics, compress
from koopsieve.sifting.choose import interval_reach
from koopsieve.sifting.folds import fold_errors
from koopsieve.sifting.parts import Parts, deepest_of, trimmed
from koopsieve.sifting.settings import SiftSettings
from koopsieve.uncertainty import Calibration
from koopsieve.uncertainty.noise import MAX_CURVE_STEPS, noise_from_errors

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
        On the evaluation data.
    """

    model: Model
    validation: WindowErrors
    errors: Errors

    def _facts(self) -> Facts:
        return {"terms": str(len(self.model.term_names)), **self.errors.facts}


@dataclass(frozen=True, eq=False, repr=False)
class MethodFit(Shown):
    """One method on one set of observables, for comparison; nothing was chosen by it."""

    estimate: Estimate
    model: Model
    errors: Errors
    diagnostics: Diagnostics

    def _facts(self) -> Facts:
        return {"terms": str(len(self.model.term_names)), **self.errors.facts}


@dataclass(frozen=True, eq=False)
class JudgedMethod:
    """One method on all observables and on those kept."""

    full: MethodFit
    reduced: MethodFit


def persistence(dictionary: Dictionary) -> LinearModel:
    """Return the model that predicts the last measured outputs for ever."""
    outputs = dictionary.linear().select(sorted(dictionary.outputs))
    n = outputs.size
    return LinearModel(np.eye(n), np.zeros((n, len(dictionary.signals.inputs))), np.eye(n), outputs)


def linear_baseline(
    learn: Trajectories | Stream, validation: Trajectories | Stream, executor: Executor | None, merge: bool = True
) -> tuple[LinearModel, LinearModel]:
    """Return the linear model of states and a constant (DMD with control), learned from one part and from both."""
    phi = (States() + Constant()).fit(learn)
    learned = compress(learn, phi, executor=executor)
    both = learned.merge(compress(validation, phi, executor=executor)) if merge else learned
    first, second = (arx_model(s, phi) for s in (learned, both))
    return first, second


@dataclass(frozen=True, eq=False, repr=False)
class LinearComparison(Shown):
    """The sifted model beside the best plain linear one, predicting from the same starts.

    Parameters
    ----------
    on : str
        "test", "held-out" or "validation" data.
    mine, linear : WindowErrors
        Of the two models, in the same blocks.
    same : bool
        Whether the sifted model is that linear one.
    """

    on: str
    mine: WindowErrors
    linear: WindowErrors
    same: bool = False

    @property
    def gain(self) -> FloatArray:
        """Linear model's error over the sifted one's, per horizon (typical ratio of the NMSE)."""
        ratio: FloatArray = np.exp(np.mean(self.linear.logs - self.mine.logs, axis=1))
        return ratio

    @property
    def interval(self) -> tuple[float, float]:
        """Ratio of the sifted model's error to the linear one's, pooled over the horizons: 90 per cent interval."""
        difference = (self.mine.logs - self.linear.logs).mean(axis=0)
        reach = interval_reach(difference)
        return float(np.exp(difference.mean() - reach)), float(np.exp(difference.mean() + reach))

    @property
    def better(self) -> bool:
        """Whether the whole interval is below one."""
        return not self.same and self.interval[1] < 1

    @property
    def worse(self) -> bool:
        """Whether the whole interval is above one."""
        return not self.same and self.interval[0] > 1

    @property
    def ratio(self) -> str:
        """The interval as text, with as many digits as show on which side of one it lies."""
        low, high = self.interval
        end = low if self.worse else high
        apart = (digits for digits in range(2, 17) if f"{end:.{digits}g}" != "1")
        digits = next(apart, 2) if self.better or self.worse else 2
        return f"{low:.{digits}g} to {high:.{digits}g}"

    def describe(self) -> str:
        """Say in words whether it is better than a linear model."""
        if self.same:
            return "The plain linear model was taken: nothing was clearly better."
        if not np.isfinite(self.interval[1]):
            return f"The {self.on} data are too few to tell its errors from those of the best plain linear model."
        verdict = "is less than" if self.better else "is larger than" if self.worse else "cannot be distinguished from"
        return (
            f"On {self.on} data its NMSE {verdict} that of the best plain linear model: {self.ratio} times, "
            "with 90 per cent confidence, all horizons together."
        )

    def _facts(self) -> Facts:
        return {
            "on": self.on,
            "better": "yes" if self.better else "no",
            "ratio": self.ratio,
        }


@dataclass(frozen=True, eq=False)
class JudgedModel:
    """A model with its validation errors, learned from all data, and the data with its delays."""

    parts: Parts
    validation: WindowErrors
    before: Model
    model: Model


def judged_linear(mine: JudgedModel, linear: JudgedModel) -> tuple[LinearComparison, ...]:
    """Return the comparison on what the choice was made on, then on the evaluation data where these are others."""
    same, on = mine.before is linear.before, mine.parts.evaluation.on
    first = LinearComparison("validation", mine.validation, linear.validation, same)
    if on == first.on:
        return (first,)
    deepest = deepest_of([one.parts.learn.embedding for one in (mine, linear)])
    errors = [
        window_errors(one.model, trimmed(one.parts.evaluation.data, deepest), one.parts.horizons)
        for one in (mine, linear)
    ]
    return first, LinearComparison(on, errors[0], errors[1], same)


def judged_baselines(parts: Parts, outcome: Outcome, linear: JudgedModel) -> dict[str, Baseline]:
    """Return persistence, the best plain linear model and all candidates, with their errors."""
    steady, everything = persistence(outcome.dictionary), outcome.everything
    models = {
        PERSISTENCE: _judged_model(parts, steady, steady),
        LINEAR: linear,
        EVERYTHING: _judged_model(parts, *everything),
    }
    return {
        name: Baseline(one.model, one.validation, one.parts.errors(one.model, one.before))
        for name, one in models.items()
    }


def same_delays(parts: Parts, executor: Executor | None) -> JudgedModel:
    """Return the linear model with a constant and the same delays, by least squares."""
    before, model = linear_baseline(parts.learn, parts.validation, executor, merge=parts.validated)
    final = with_noise(model, before, parts) if parts.validated else model
    if not parts.folds:
        return _judged_model(parts, before, final)
    of_folds = [linear_baseline(fold.learn, fold.learn, executor, merge=False)[0] for fold in parts.folds]
    return JudgedModel(parts, fold_errors([before, *of_folds], parts)[0], before, final)


def _judged_model(parts: Parts, before: Model, model: Model) -> JudgedModel:
    return JudgedModel(parts, window_errors(before, parts.windows, parts.horizons), before, model)


def with_noise(model: Model, before: Model, parts: Parts) -> Model:
    """Return the model with its noise, from errors that it makes without the validation windows, for filters."""
    errors = step_errors(before, parts.windows, min(MAX_CURVE_STEPS, parts.horizons[-1]))
    return replace(model, calibration=Calibration(noise=noise_from_errors(model, errors)))  # type: ignore[type-var]


def judged_methods(parts: Parts, outcome: Outcome, settings: SiftSettings) -> Mapping[str, JudgedMethod]:
    """Fit each further method to all candidates and to those kept.

    Where a graph decided by that very method, on the same data, its estimate is at hand.
    """
    if not settings.compare:
        return {}
    by_graph = outcome.graph_decides and not parts.validated
    decided = getattr(settings.sieve, "identifier", None) if by_graph else None
    everything, kept = outcome.statistics, outcome.statistics.select(outcome.path.retained)
    small = outcome.dictionary.select(outcome.path.retained)
    found = {}
    for name, method in settings.compare.items():
        full = outcome.explanation if method is decided else method.identify(everything)
        found[name] = JudgedMethod(
            _judged_fit(full, everything, outcome.dictionary, parts),
            _judged_fit(method.identify(kept), kept, small, parts),
        )
    return found


def _judged_fit(
    estimate: Estimate, statistics: RegressionStatistics, dictionary: Dictionary, parts: Parts
) -> MethodFit:
    model = LinearModel.from_estimate(estimate, dictionary)
    errors = parts.errors(model, model)
    return MethodFit(estimate, model, errors, diagnose(model, statistics, parts.horizons, errors.nmse))
