"""The whole method, once: split, fit a dictionary, compress, sieve, refit and choose, relearn, compare, explain, judge.

Every door (`koopsieve sift`, `KoopmanSieve`, the demo, the reproduction) leads here. Nothing that is reported on data
was chosen on those data: the size, the refit and the form are chosen on validation windows, and the test data are used
once, at the end.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from koopsieve._types import KoopsieveError, require_kind, sorted_horizons
from koopsieve.data import Embedding, Trajectories
from koopsieve.dictionary import Block, Constant, Dictionary, SquaredExponential, States
from koopsieve.evaluate import calibrate, coverage, diagnose, linear_baseline, persistence, window_errors
from koopsieve.execution import Executor, Progress, silent
from koopsieve.identify import Estimate, Identifier
from koopsieve.model import LiftedModel
from koopsieve.parts import Data, Parts, possible_horizons, split
from koopsieve.regression import RegressionStatistics
from koopsieve.settings_checks import check_settings
from koopsieve.sieve import (
    BilinearSearch,
    FormSearch,
    GraphSieve,
    LinearSearch,
    Outcome,
    Reduction,
    ReprojectedSearch,
    Sieve,
    SievePath,
    SimulationSieve,
    Task,
    reduce,
)
from koopsieve.sieve.choice import simplest_as_good
from koopsieve.sieve.forms.refits import default_refits
from koopsieve.sieve.horizon import HorizonSieve
from koopsieve.sieve.result import (
    EVERYTHING,
    LINEAR,
    PERSISTENCE,
    Baseline,
    Comparison,
    Fit,
    SieveResult,
)

DEFAULT_KERNELS = 100


def sift(
    data: Data,
    dictionary: Block | Dictionary | None = None,
    *,
    form: str = "linear",
    delays: Embedding | None = None,
    sieve: Sieve | SimulationSieve | None = None,
    horizons: Sequence[int] = (1, 10, 50),
    validation: Data | float = 0.25,
    test: Data | float | None = None,
    truth: Trajectories | None = None,
    steps: int = 20,
    refits: Mapping[str, Identifier] | None = None,
    stable: bool = True,
    threshold: float = 0.1,
    compare: Mapping[str, Identifier] | None = None,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress = silent,
) -> SieveResult:
    """Sift a dictionary and return the small model, what it was chosen from, and how it compares.

    Parameters
    ----------
    data : Trajectories or Stream
        Measured data; of these some are held out, see `validation` and `test`.
    dictionary : Block or Dictionary, optional
        The candidates. A recipe is fitted to the learning part. Left out: states, a constant and up to a hundred
        kernels.
    form : {"linear", "bilinear", "reprojected", "auto"}
        How the model predicts. "auto" tries all and takes the simplest that is as good as the best on the validation
        windows.
    delays : Embedding, optional
        Past samples to add to the state; left out, the state is as in `data`.
    sieve : Sieve, optional
        Gives the sets to choose from: `HorizonSieve()`, the default of the linear and the bilinear form, or the paper's
        `GraphSieve()`; `SimulationSieve()` in the reprojected form.
    horizons : sequence of int
        Steps ahead that matter: models are chosen and judged at these. Those longer than the data allow are left out
        with a warning.
    validation : Trajectories, Stream or float
        What models are chosen on, or the share of the data to hold out for it. 0 holds nothing out; then there must be
        nothing to choose.
    test : Trajectories, Stream or float, optional
        What the result is judged on, once, at the end; or the share of the data to hold out for it. Left out, errors
        are those on the validation data, and the result says so.
    truth : Trajectories, optional
        `test` without measurement noise, to compare predictions with.
    steps : int
        Number of sets on the path, about.
    refits : mapping from name to Identifier, optional
        Each set gets the one that predicts best on the validation windows; by default least squares one step ahead and
        over the horizons.
    stable : bool
        Move eigenvalues outside the unit circle onto it where that costs no accuracy on the validation windows.
    threshold : float
        Inclusion from which one observable counts as driving another in the graph that explains the result.
    compare : mapping from name to Identifier, optional
        Further methods to fit to all observables and to those kept, and to judge beside the model.
    seed : int
        For the parts of the dictionary that are drawn or searched.
    executor, progress
        See `compress`.

    Returns
    -------
    SieveResult

    Raises
    ------
    KoopsieveError
        If the data are too short for the horizons, test data were sampled differently, or a setting makes no sense.
    """
    wanted = sorted_horizons(horizons)
    if not wanted:
        raise KoopsieveError("horizons must be one or more numbers of steps, such as [1, 10, 50]. Got none.")
    check_settings(sieve, steps, refits, stable, threshold, compare, seed)
    clock = _Clock()
    with clock.stage("split"):
        parts = split(data, delays, validation, test, truth, wanted)
        wanted = possible_horizons(wanted, parts)
    with clock.stage("dictionary"):
        recipe = default_dictionary(parts.learn) if dictionary is None else dictionary
        phi = recipe.fit(parts.learn, seed=seed) if isinstance(recipe, Block) else recipe
        require_kind("a dictionary", phi, Dictionary, "Write one such as States() + Monomials().")
    with clock.stage("search"):
        task = Task(parts.learn, parts.validation, parts.windows, phi, wanted, steps, seed, executor, progress)
        searches = _searches(form, sieve, refits, stable, phi)
        outcomes = [search.search(task) for search in searches]
        choices = [one.path.choice for one in outcomes]
        outcome = outcomes[simplest_as_good([one.errors.blocks for one in choices], [one.runs for one in choices])]
        _check_nothing_chosen_blindly(parts, outcomes, searches)
    with clock.stage("bands"):
        outcome = _calibrated(outcome, parts)
    with clock.stage("baselines"):
        baselines = _baselines(parts, outcome, executor)
    with clock.stage("judge"):
        errors = parts.errors(outcome.model, outcome.path.choice.model, wanted)
        if compare and outcome.path.form != LiftedModel.form:
            raise KoopsieveError(f'compare needs form="linear". The form that was taken is {outcome.path.form!r}.')
        known = getattr(sieve, "identifier", None) if outcome.graph_decides and not parts.validated else None
        comparison = {
            name: _compared(method, outcome, parts, known is method) for name, method in (compare or {}).items()
        }
        diagnostics = diagnose(outcome.model, outcome.kept, wanted, errors.nmse)
        banded = outcome.model.calibration is not None and parts.judged.on != "validation"
        held = coverage(outcome.model, parts.judged.data, wanted) if banded else None
    return SieveResult(
        outcome=outcome,
        paths={one.path.form: one.path for one in outcomes},
        errors=errors,
        diagnostics=diagnostics,
        baselines=baselines,
        reduction=_graph(outcome, threshold),
        judged=parts.judged,
        samples=parts.samples,
        seconds=clock.seconds,
        seed=seed,
        comparison=comparison,
        coverage=held,
        provenance=parts.provenance,
    )


def sieve_path(
    sieve: Sieve | None,
    train: Data,
    dictionary: Block | Dictionary,
    *,
    validation: Data | float = 0.25,
    horizons: Sequence[int] = (1, 10, 50),
    steps: int = 20,
    seed: int = 0,
) -> SievePath:
    """Return the path of `sift`: every set with its model and validation errors, and the choice."""
    return sift(train, dictionary, sieve=sieve, validation=validation, horizons=horizons, steps=steps, seed=seed).path


def default_dictionary(data: Data) -> Block:
    """Return states, a constant and up to a hundred standardised kernels, fewer where there are few samples."""
    samples = DEFAULT_KERNELS * 10 if data.n_samples is None else data.n_samples
    kernels = int(np.clip(samples // 10, 1, DEFAULT_KERNELS))
    return States() + Constant() + SquaredExponential(centers=kernels, standardize=True)


def _searches(
    form: str,
    sieve: Sieve | SimulationSieve | None,
    refits: Mapping[str, Identifier] | None,
    stable: bool,
    phi: Dictionary,
) -> list[FormSearch]:
    """Return the searches to run, the simplest form first."""
    simulated = sieve if isinstance(sieve, SimulationSieve) else SimulationSieve()
    wanted = HorizonSieve() if sieve is None or isinstance(sieve, SimulationSieve) else sieve
    known: dict[str, FormSearch] = {
        "linear": LinearSearch(wanted, default_refits() if refits is None else refits, stable),
        "bilinear": BilinearSearch(wanted),
        "reprojected": ReprojectedSearch(simulated),
    }
    if form == "auto" and isinstance(sieve, GraphSieve):
        return [known["linear"]]
    if form == "auto":
        return [known[name] for name in (known if phi.signals.inputs else ("linear",))]
    if form not in known:
        raise KoopsieveError(f"form must be one of {', '.join(known)} or auto. Got {form!r}.")
    return [known[form]]


def _check_nothing_chosen_blindly(parts: Parts, outcomes: Sequence[Outcome], searches: Sequence[FormSearch]) -> None:
    sets = sum(len(outcome.path.points) for outcome in outcomes)
    refits = sum(len(search.refits) for search in searches if isinstance(search, LinearSearch))
    if not parts.validated and (sets > 1 or refits > 1):
        raise KoopsieveError(
            f"validation=0 holds nothing out, but there is a choice to make: {sets} sets and {refits} refits. Hold "
            "some data out, or give one refit and a sieve that gives one set, such as GraphSieve()."
        )


def _calibrated(outcome: Outcome, parts: Parts) -> Outcome:
    """Give the model bands from validation windows of the model before it learned from them; none if it always did."""
    if not parts.validated:
        return outcome
    before, longest = outcome.path.choice.model, outcome.path.horizons[-1]
    model = calibrate(outcome.model, parts.windows, longest, statistics=outcome.statistics, before=before)
    return replace(outcome, model=model)


def _baselines(parts: Parts, outcome: Outcome, executor: Executor | None) -> dict[str, Baseline]:
    horizons = outcome.path.horizons
    steady = persistence(outcome.dictionary)
    linear = linear_baseline(parts.learn, parts.validation, executor, merge=parts.validated)
    models = {PERSISTENCE: (steady, steady), LINEAR: linear, EVERYTHING: outcome.everything}
    return {
        name: Baseline(both, window_errors(learned, parts.windows, horizons), parts.errors(both, learned, horizons))
        for name, (learned, both) in models.items()
    }


def _compared(method: Identifier, outcome: Outcome, parts: Parts, known: bool) -> Comparison:
    """Fit a method to all observables and to those kept; `known` if it is what the sieve decided by."""
    everything, kept = outcome.statistics, outcome.statistics.select(outcome.path.retained)
    full = outcome.explanation if known else method.identify(everything)
    small = outcome.dictionary.select(outcome.path.retained)
    return Comparison(
        _judged_fit(full, everything, outcome.dictionary, parts, outcome.path.horizons),
        _judged_fit(method.identify(kept), kept, small, parts, outcome.path.horizons),
    )


def _judged_fit(
    estimate: Estimate,
    statistics: RegressionStatistics,
    dictionary: Dictionary,
    parts: Parts,
    horizons: tuple[int, ...],
) -> Fit:
    model = LiftedModel.from_estimate(estimate, dictionary)
    errors = parts.errors(model, model, horizons)
    return Fit(estimate, model, errors, diagnose(model, statistics, horizons, errors.nmse))


def _graph(outcome: Outcome, threshold: float) -> Reduction:
    """Return the graph of the explanation: which target drives which.

    In the reprojected form the outputs are the only targets, and a regressor may stand at another place among the
    regressors than its target among the targets.
    """
    found, outputs = outcome.explanation, outcome.dictionary.signals.outputs
    among = {name: i for i, name in enumerate(found.regressors)}
    rows = [found.inclusion[among[name]] if name in among else np.zeros(len(found.targets)) for name in found.targets]
    return reduce(np.stack(rows), [i for i, name in enumerate(found.targets) if name in outputs], threshold)


@dataclass(frozen=True)
class _Clock:
    """Seconds per stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - begun
