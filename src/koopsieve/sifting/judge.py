"""The sifted model beside what it must beat, all judged on the same data.

Baselines are the last value kept, a linear model with a constant and the same delays, and all candidates by least
squares. Further methods are fitted to all candidates and to those kept. Nothing is chosen here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from koopsieve._display import Facts, Shown
from koopsieve.data import Stream, Trajectories
from koopsieve.dictionary import Constant, Dictionary, States
from koopsieve.evaluate import Diagnostics, Errors, WindowErrors, diagnose, window_errors
from koopsieve.evaluate.rollout import step_errors
from koopsieve.execution import Executor
from koopsieve.forms import LinearModel, Model, Outcome
from koopsieve.identify import Estimate, LeastSquares
from koopsieve.regression import RegressionStatistics, compress
from koopsieve.sifting.settings import SiftSettings
from koopsieve.sifting.split import Parts
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
class MethodComparison:
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
    first, second = (LinearModel.from_estimate(LeastSquares().identify(s), phi) for s in (learned, both))
    return first, second


def judged_baselines(parts: Parts, outcome: Outcome, executor: Executor | None) -> dict[str, Baseline]:
    """Return persistence, the linear model and all candidates, with their errors."""
    steady = persistence(outcome.dictionary)
    linear = linear_baseline(parts.learn, parts.validation, executor, merge=parts.validated)
    if parts.validated:
        linear = linear[0], with_noise(linear[1], linear[0], parts)
    models = {PERSISTENCE: (steady, steady), LINEAR: linear, EVERYTHING: outcome.everything}
    return {
        name: Baseline(both, window_errors(learned, parts.windows, parts.horizons), parts.errors(both, learned))
        for name, (learned, both) in models.items()
    }


def with_noise(model: LinearModel, before: LinearModel, parts: Parts) -> LinearModel:
    """Return the model with its noise, from errors that it makes without the validation windows, for filters."""
    errors = step_errors(before, parts.windows, min(MAX_CURVE_STEPS, parts.horizons[-1]))
    return replace(model, calibration=Calibration(noise=noise_from_errors(model, errors)))


def judged_methods(parts: Parts, outcome: Outcome, settings: SiftSettings) -> Mapping[str, MethodComparison]:
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
        found[name] = MethodComparison(
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
