"""The whole method, once: split, fit a dictionary, compress, sieve, refit and choose, relearn, compare, explain, judge.

Every door (`koopsieve sift`, `KoopmanSieve`, the demo, the reproduction) leads here. Nothing that is reported on data
was chosen on those data: the size, the refit and the form are chosen on validation windows, and the test data are used
once, at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from koopsieve._types import KoopsieveError, require_kind, sorted_horizons, whole_number
from koopsieve.attempts import attempts, paths_of, searches_for, simplest
from koopsieve.automatic import AUTO, planned
from koopsieve.data import Embedding, Trajectories
from koopsieve.data.delays import require_recorded
from koopsieve.dictionary import Block, Dictionary
from koopsieve.evaluate import calibrate, coverage, diagnose, linear_baseline, persistence, window_errors
from koopsieve.execution import Clock, Executor, Progress, silent
from koopsieve.identify import Estimate, Identifier
from koopsieve.model import LiftedModel
from koopsieve.model.bands import checked_level
from koopsieve.parts import Data, Parts, divide, possible_horizons
from koopsieve.regression import RegressionStatistics
from koopsieve.settings_checks import check_settings
from koopsieve.sieve import (
    FormSearch,
    LinearSearch,
    Outcome,
    Reduction,
    Sieve,
    SievePath,
    SimulationSieve,
    reduce,
)
from koopsieve.sieve.result import (
    EVERYTHING,
    LINEAR,
    PERSISTENCE,
    Baseline,
    Comparison,
    Fit,
    SieveResult,
)


def sift(
    data: Data,
    dictionary: Block | Dictionary | str = AUTO,
    *,
    form: str = AUTO,
    delays: Embedding | Sequence[Embedding] | str | None = None,
    sieve: Sieve | SimulationSieve | None = None,
    horizons: Sequence[int] = (1, 10, 50),
    validation: Data | float = 0.25,
    test: Data | float | None = None,
    truth: Trajectories | None = None,
    steps: int = 20,
    max_terms: int | None = None,
    refits: Mapping[str, Identifier] | None = None,
    stable: bool = True,
    threshold: float = 0.1,
    level: float = 0.9,
    compare: Mapping[str, Identifier] | None = None,
    seed: int = 0,
    budget: float = 300.0,
    executor: Executor | None = None,
    progress: Progress = silent,
) -> SieveResult:
    """Sift a dictionary and return the small model, what it was chosen from, and how it compares.

    Parameters
    ----------
    data : Trajectories or Stream
        Measured data; of these some are held out, see `validation` and `test`.
    dictionary : Block, Dictionary or "auto"
        The candidates. A recipe is fitted to the learning part. "auto" looks at polynomials and kernels, of the state
        and of the inputs too, and takes what predicts best on the validation windows.
    form : {"linear", "bilinear", "reprojected", "auto"}
        How the model predicts. "auto" tries all and takes the simplest that is as good as the best on the validation
        windows.
    delays : Embedding, sequence of Embedding, or "auto", optional
        Past samples to add to the state, and the timing of the inputs. Of several the best are found; "auto" finds them
        among many. Left out, the state is as in `data`; but where the dictionary is "auto" and the data hold no delays,
        the delays are so too.
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
    max_terms : int, optional
        Observables to keep at most, in the reprojected form drives included; left out, the validation data decide.
    refits : mapping from name to Identifier, optional
        Each set gets the one that predicts best on the validation windows; by default least squares one step ahead and
        over the horizons.
    stable : bool
        Move eigenvalues outside the unit circle onto it where that costs no accuracy on the validation windows.
    threshold : float
        Inclusion from which one observable counts as driving another in the graph that explains the result.
    level : float
        The share of measurements that bands should hold where they are judged and shown. The model gives bands at any.
    compare : mapping from name to Identifier, optional
        Further methods to fit to all observables and to those kept, and to judge beside the model.
    seed : int
        For the parts of the dictionary that are drawn or searched.
    budget : float
        Seconds after which no further search is begun where there are several; what was left out is told. The first
        search is always made.
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
    checked_level(level)
    seed = whole_number("seed", seed)
    check_settings(sieve, steps, refits, stable, threshold, compare)
    if max_terms is not None and whole_number("max_terms", max_terms) < 1:
        raise KoopsieveError(f"max_terms must be at least 1. Got {max_terms}.")
    if compare and form != LiftedModel.form:
        raise KoopsieveError(f'compare needs form="linear". Got form={form!r}.')
    clock = Clock()
    with clock.stage("split"):
        asked = _asked_delays(delays, dictionary, data)
        deepest = None if isinstance(asked, str) else max(asked, key=lambda one: one.lost + one.ahead)
        divided = divide(data, deepest, validation, test, truth, wanted)
        wanted = possible_horizons(wanted, divided.embedded(divided.learn.embedding if deepest is None else deepest))
    searches = searches_for(form, sieve, refits, stable, bool(divided.learn.signals.inputs))
    with clock.stage("look"):
        plan = planned(divided, dictionary, asked, tuple(searches), wanted, seed, progress)
    with clock.stage("search"):
        settings = {"steps": steps, "seed": seed, "max_terms": max_terms, "executor": executor, "progress": progress}
        made, left_out = attempts(plan, searches, divided, wanted, budget, settings)
        chosen = made[simplest(made)]
        outcome, parts = chosen.outcome, chosen.parts
        _check_nothing_chosen_blindly(parts, [one.outcome for one in made], list(searches.values()))
    with clock.stage("bands"):
        outcome = _calibrated(outcome, parts)
    with clock.stage("explain"):
        graph = _graph(outcome, threshold)
    with clock.stage("baselines"):
        baselines = _baselines(parts, outcome, executor)
    with clock.stage("judge"):
        errors = parts.errors(outcome.model, outcome.path.choice.model, wanted)
        decided = getattr(sieve, "identifier", None) if outcome.graph_decides and not parts.validated else None
        comparison = {
            name: _compared(method, outcome, parts, decided is method) for name, method in (compare or {}).items()
        }
        diagnostics = diagnose(outcome.model, outcome.kept, wanted, errors.nmse)
        banded = outcome.model.calibration is not None and parts.judged.on != "validation"
        held = coverage(outcome.model, parts.judged.data, wanted, level) if banded else None
    return SieveResult(
        outcome=outcome,
        paths=paths_of(made, chosen),
        tried=(*plan.looks, *(one.tried for one in made)),
        left_out=left_out,
        errors=errors,
        diagnostics=diagnostics,
        baselines=baselines,
        reduction=graph,
        judged=parts.judged,
        samples=parts.samples,
        seconds=clock.seconds,
        seed=seed,
        comparison=comparison,
        coverage=held,
        provenance=parts.provenance,
    )


def sieve_path(
    sieve: Sieve | SimulationSieve | None,
    train: Data,
    dictionary: Block | Dictionary,
    *,
    validation: Data | float = 0.25,
    horizons: Sequence[int] = (1, 10, 50),
    steps: int = 20,
    seed: int = 0,
) -> SievePath:
    """Return the path of `sift` in the linear form: every set with its model and validation errors, and the choice.

    With a `SimulationSieve` it is the path in the reprojected form.
    """
    form = "reprojected" if isinstance(sieve, SimulationSieve) else "linear"
    settings: dict[str, Any] = {"form": form, "validation": validation, "horizons": horizons}
    return sift(train, dictionary, sieve=sieve, steps=steps, seed=seed, **settings).path


def _asked_delays(
    delays: Embedding | Sequence[Embedding] | str | None, dictionary: Block | Dictionary | str, data: Data
) -> Sequence[Embedding] | str:
    """Return the delays to choose from, or "auto"."""
    for name, asked in (("delays", delays), ("dictionary", dictionary)):
        if isinstance(asked, str) and asked != AUTO:
            raise KoopsieveError(f'{name} may be "auto" or a value such as Embedding(2, 2) or States(). Got {asked!r}.')
    require_recorded(data)
    require_kind("a dictionary", dictionary, (Block, Dictionary, str), "Write one such as States() + Monomials().")
    if isinstance(delays, Embedding | str):
        return delays if isinstance(delays, str) else (delays,)
    if delays is not None:
        for one in (given := tuple(delays)):
            require_kind("delays as an Embedding", one, Embedding, "Write Embedding(state_delays, input_delays).")
        return given
    return AUTO if isinstance(dictionary, str) and data.embedding.trivial else (data.embedding,)


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
