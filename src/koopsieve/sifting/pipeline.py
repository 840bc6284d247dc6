"""The whole method, once: split, plan, search and choose, relearn, explain, compare, judge.

`koopsieve sift`, `KoopmanSieve`, the demo and the reproduction all call it. Nothing that is reported on data was chosen
on those data: the size, the refit and the form are chosen on validation windows, and the test data are used once, at
the end.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from koopsieve._types import warn_user
from koopsieve.data import Embedding, Trajectories
from koopsieve.dictionary import Block, Dictionary
from koopsieve.evaluate import diagnose
from koopsieve.execution import Executor, Progress, Stopwatch, one_blas_thread
from koopsieve.execution.executors import part, whole_job
from koopsieve.forms import Model, Outcome
from koopsieve.identify import Identifier
from koopsieve.sieve import Sieve
from koopsieve.sieve.algorithm_2 import Reduction, reduce
from koopsieve.sifting.judge import (
    JudgedModel,
    judged_baselines,
    judged_linear,
    judged_methods,
    same_delays,
    with_noise,
)
from koopsieve.sifting.parts import Parts
from koopsieve.sifting.plan import plan_searches
from koopsieve.sifting.result import SieveResult
from koopsieve.sifting.search import search_all
from koopsieve.sifting.search_results import FinalModel, SearchResult, final_models
from koopsieve.sifting.settings import Data, SiftSettings
from koopsieve.sifting.split import divide
from koopsieve.uncertainty import Coverage, calibrate, coverage

SHARE_OF_PLAN = 0.3  # of the time of a default job, about


def sift(
    data: Data,
    dictionary: Block | Dictionary | str = "auto",
    *,
    form: str = "auto",
    delays: Embedding | Sequence[Embedding] | str | None = None,
    sieve: Sieve | None = None,
    horizons: Sequence[int] = (1, 10, 50),
    validation: Data | float = 0.25,
    test: Data | float | None = None,
    truth: Trajectories | None = None,
    path_length: int = 20,
    max_terms: int | None = None,
    refits: Mapping[str, Identifier] | None = None,
    stable: bool = True,
    threshold: float = 0.1,
    level: float = 0.9,
    compare: Mapping[str, Identifier] | None = None,
    seed: int = 0,
    budget: float = 300.0,
    executor: Executor | None = None,
    progress: Progress | bool = False,
) -> SieveResult:
    """Sift a dictionary and return the small model, what it was chosen from, and how it compares.

    Parameters
    ----------
    data : Trajectories or Stream
        Measured data; of these some are held out, see `validation` and `test`.
    dictionary : Block, Dictionary or "auto"
        The candidates. A recipe is fitted to the learning part. "auto" tries polynomials, kernels and kinks, of the
        state and of the inputs too, and takes what predicts best on the validation windows.
    form : {"auto", "linear", "bilinear", "reprojected", "hidden"}
        How the model predicts. "auto" tries them, the last one only on long records or with its sieve, and takes the
        simplest that is as good as the best on the validation windows. "hidden" has terms of its own, and takes no
        dictionary.
    delays : Embedding, sequence of Embedding, or "auto", optional
        Past samples to add to the state, and the timing of the inputs. Of several the best are found; "auto" finds them
        among many. Left out, the state is as in `data`; but where the dictionary is "auto" and the data hold no delays,
        the delays are so too.
    sieve : Sieve, optional
        Gives the sets to choose from: `HorizonSieve()`, the default of the linear and the bilinear form, or the paper's
        `GraphSieve()`; `SimulationSieve()` in the reprojected form, `HiddenSieve()` in the hidden one. With
        `GraphSieve()` form="auto" is "linear".
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
    path_length : int
        Number of sets on the path, about; `GraphSieve` gives one.
    max_terms : int, optional
        Observables to keep at most, in the reprojected form input terms included, in the hidden form coefficients; left
        out, the validation data decide. Where no set is so small, the smallest is taken, with a warning.
    refits : mapping from name to Identifier, optional
        In the linear form each set gets the one that predicts best on the validation windows; by default least squares
        one step ahead and over the horizons.
    stable : bool
        In the linear form move eigenvalues outside the unit circle onto it where that costs no accuracy on the
        validation windows.
    threshold : float
        Inclusion from which one observable counts as driving another in the graph that explains the result.
    level : float
        Coverage of the bands where they are judged and shown. The model gives bands at any level.
    compare : mapping from name to Identifier, optional
        Further methods to fit to all observables and to those kept, and to judge beside the model.
    seed : int
        For the parts of the dictionary that are drawn or searched.
    budget : float
        Seconds after which no further search is begun where there are several, preliminary or full; skipped full
        searches are listed, and of each path only the best point is cross-validated. The first search is always made.
        The hidden form fits the longer the larger it is.
    executor : Executor, optional
        See `compress`.
    progress : bool or Progress
        Whether to show one bar for the whole job with the time left, or a function that shows progress otherwise: see
        `compress`. Where there is no terminal and no notebook, a line is written to standard error now and then.

    Returns
    -------
    SieveResult

    Raises
    ------
    KoopsieveError
        If the data are too short for the horizons, test data were sampled differently, or a setting makes no sense or
        has no effect beside the others.
    """
    settings = SiftSettings(
        dictionary=dictionary,
        form=form,
        delays=delays,
        sieve=sieve,
        horizons=horizons,
        validation=validation,
        test=test,
        truth=truth,
        path_length=path_length,
        max_terms=max_terms,
        refits=refits,
        stable=stable,
        threshold=threshold,
        level=level,
        compare=compare,
        seed=seed,
        budget=budget,
        executor=executor,
        progress=progress,
    )
    return sift_with(data, settings)


def sift_with(data: Data, settings: SiftSettings) -> SieveResult:
    """Sift with settings as one value, with one bar for the whole job if progress is asked for.

    Matrices are small, and over before several threads have found each other; `compress` divides large data itself.
    """
    with one_blas_thread(), whole_job(settings.progress) as progress:
        return _sifted(data, replace(settings, progress=progress))


def _sifted(data: Data, settings: SiftSettings) -> SieveResult:
    """Sift: a line or two per stage."""
    clock, deadline = Stopwatch(), time.perf_counter() + settings.budget
    with clock.stage("split"):
        divided = divide(data, settings)
    with clock.stage("plan"), part(settings.shown, SHARE_OF_PLAN):
        plan = plan_searches(divided, settings, deadline)
    with clock.stage("search"):
        searches = search_all(plan, divided, settings, deadline)
    with clock.stage("learn again"):
        taken, plain = final_models(searches)
        chosen = taken.search
        _warn_of_too_many(chosen, settings.max_terms)
    with clock.stage("bands"):
        outcome = _calibrated(taken.outcome, chosen.parts)
        parts = replace(chosen.parts, transitions=outcome.statistics.rows)
    with clock.stage("explain"):
        graph = _graph(outcome, settings.threshold)
    with clock.stage("baselines"):
        mine = JudgedModel(parts, outcome.path.choice.errors, outcome.path.choice.model, outcome.model)
        linear = _best_linear(plain, mine, chosen) or same_delays(parts, settings.executor)
        baselines = judged_baselines(parts, outcome, linear)
    with clock.stage("judge"):
        errors = parts.errors(outcome.model, outcome.path.choice.model)
        beside_linear = judged_linear(mine, linear)
        comparison = judged_methods(parts, outcome, settings)
        diagnostics = diagnose(outcome.model, outcome.kept, parts.horizons, errors.nmse)
        held = _coverage(outcome.model, parts, settings.level)
    return SieveResult(
        outcome=outcome,
        paths=searches.paths(chosen),
        searches=(*plan.preliminary, *(one.summary for one in searches.every)),
        left_out=searches.left_out,
        unstable=searches.unstable,
        errors=errors,
        diagnostics=diagnostics,
        baselines=baselines,
        beside_linear=beside_linear,
        reduction=graph,
        evaluation=parts.evaluation,
        samples=parts.samples,
        seconds=clock.seconds,
        seed=settings.seed,
        level=settings.level,
        comparison=comparison,
        coverage=held,
        provenance=parts.provenance,
    )


def _warn_of_too_many(chosen: SearchResult, most: int | None) -> None:
    """Warn where no set is as small as asked for, so that the smallest was taken."""
    size = chosen.path.choice.size
    if most is not None and size > most:
        warn_user(f"No set has at most {most} terms (max_terms={most}), so the smallest was taken, which has {size}.")


def _best_linear(linear: FinalModel | None, mine: JudgedModel, chosen: SearchResult) -> JudgedModel | None:
    """Return the best plain linear model, learned from all data; None where it was no candidate."""
    if linear is None or linear.search is chosen:
        return None if linear is None else mine
    parts, choice = linear.search.parts, linear.search.path.choice
    return JudgedModel(parts, choice.errors, choice.model, with_noise(linear.outcome.model, choice.model, parts))


def _calibrated(outcome: Outcome, parts: Parts) -> Outcome:
    """Give the model bands from validation windows of the model before it learned from them; none if it always did."""
    if not parts.validated:
        return outcome
    before, longest = outcome.path.choice.model, parts.horizons[-1]
    model = calibrate(outcome.model, parts.windows, longest, statistics=outcome.statistics, before=before)
    return replace(outcome, model=model)


def _coverage(model: Model, parts: Parts, level: float) -> Coverage | None:
    """Return how well the bands hold; not on the data that the model was calibrated on."""
    if model.bands is None or parts.evaluation.on == "validation":
        return None
    return coverage(model, parts.evaluation.data, parts.horizons, level)


def _graph(outcome: Outcome, threshold: float) -> Reduction:
    """Return the graph of the explanation: which target drives which.

    In the reprojected form the outputs are the only targets, and a regressor may stand at another place among the
    regressors than its target among the targets.
    """
    found, outputs = outcome.explanation, outcome.dictionary.signals.outputs
    among = {name: i for i, name in enumerate(found.regressors)}
    rows = [found.inclusion[among[name]] if name in among else np.zeros(len(found.targets)) for name in found.targets]
    return reduce(np.stack(rows), [i for i, name in enumerate(found.targets) if name in outputs], threshold)
