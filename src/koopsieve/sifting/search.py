"""Full searches: every job of the plan in its forms, and which of the results to take.

In come the plan, the divided data and the settings; out come the results, each with its parts, outcome and row of the
table.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from koopsieve._types import KoopsieveError
from koopsieve.data import Trajectories
from koopsieve.dictionary import Block
from koopsieve.evaluate import simulation_errors, window_errors
from koopsieve.execution.executors import part
from koopsieve.forms import FORMS, Candidates, Form, Model, Outcome, PlainLinearForm, Task
from koopsieve.forms.path import PathPoint, SievePath
from koopsieve.sifting.choose import (
    Evidence,
    choose,
    chosen_point,
    clearly_worse,
    horizon_weights,
    scores,
    seems_unstable,
)
from koopsieve.sifting.folds import best_scores, bounded, judged_again
from koopsieve.sifting.judge import linear_baseline
from koopsieve.sifting.parts import Parts
from koopsieve.sifting.plan import SearchJob, SearchPlan
from koopsieve.sifting.preliminary import CLEARLY_UNSTABLE, FULL, SearchSummary
from koopsieve.sifting.settings import SiftSettings

SHARE_OF_SEARCHES = 0.65  # of the time of a default job, about
SHARE_OF_JUDGING = 0.4  # of the time of the searches: folds and long runs
MAX_LOSS = 0.02  # of the score that learning from all data may cost
NOT_LEARNED_AGAIN = (
    "The model is the one that was judged: fitted to all data it predicts them worse than fitted to the learning part."
)


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What the full search of one dictionary in one form found, and the data it was given.

    Parameters
    ----------
    parts : Parts
        With the delays of the search.
    found : Candidates
        The path, every point judged.
    chosen : int
        The point to take.
    summary : SearchSummary
    """

    parts: Parts
    found: Candidates
    chosen: int
    summary: SearchSummary

    @cached_property
    def path(self) -> SievePath:
        """The path with its choice."""
        return self.found.path(self.chosen)

    def at_short_horizons(self) -> SearchResult:
        """Return the same search with the point that is best at the shorter horizons."""
        return replace(self, chosen=choose(Evidence.of(self.found.points, short=True)))

    @property
    def causal(self) -> bool:
        """Whether no input acts that is sampled together with the output it acts on.

        Under feedback such an input follows from that output, and seems to predict it.
        """
        return not self.parts.learn.signals.embedding.ahead

    def plain_fit(self) -> tuple[Model, float] | None:
        """Return a plain linear model with these delays, and its error one step ahead; None for streams."""
        parts = self.parts
        if not isinstance(parts.learn, Trajectories) or not isinstance(parts.validation, Trajectories):
            return None
        model = linear_baseline(parts.learn, parts.validation, None, merge=False)[0]
        return model, float(window_errors(model, parts.windows, (1,)).error[0])

    @property
    def plain(self) -> bool:
        """Whether it is the plain linear model."""
        return isinstance(self.found.form, PlainLinearForm)

    @property
    def complexity(self) -> tuple[int, ...]:
        """By the form first, the plain linear model before all, then by the number of terms."""
        return int(not self.plain), list(FORMS).index(self.found.form.name), self.path.choice.size


@dataclass(frozen=True, eq=False)
class SearchResults:
    """All full searches.

    Parameters
    ----------
    every : tuple of SearchResult
    left_out : tuple of str
        Searches that were not begun because the time limit was reached, in words.
    """

    every: tuple[SearchResult, ...]
    left_out: tuple[str, ...]

    @cached_property
    def best(self) -> SearchResult:
        """The simplest that is as good as the best; on an unstable plant, at the shorter horizons."""
        return self._best_of(self.every)

    def _best_of(self, some: Sequence[SearchResult]) -> SearchResult:
        if not self.unstable:
            return simplest(some)
        again = [one.at_short_horizons() for one in [one for one in some if one.causal] or some]
        points, complexity = [one.path.choice for one in again], [one.complexity for one in again]
        return again[choose(Evidence.of(points, complexity, short=True))]

    @cached_property
    def unstable(self) -> bool:
        """Whether the plant seems to be unstable: see `seems_unstable`."""
        taken = simplest(self.every).path
        points = [point for one in self.every if one.plain for point in one.found.points]
        fits = [(point.model, float(point.errors.error[0])) for point in points]
        if not fits and taken.horizons[0] == 1:
            fits = [fit for one in self.every if (fit := one.plain_fit()) is not None]
        first = [error for model, error in fits if model.spectral_radius > CLEARLY_UNSTABLE]
        return seems_unstable(first, taken.choice.errors)

    @property
    def linear(self) -> SearchResult | None:
        """The best plain linear model; None where it was no candidate."""
        plain = [one for one in self.every if one.plain]
        return self.best if self.best.plain else self._best_of(plain) if plain else None

    @property
    def paths(self) -> dict[str, SievePath]:
        """The path of each form: where several dictionaries were searched, that of the best one."""
        best = self.best.path
        forms = dict.fromkeys(one.path.form for one in self.every)
        of_form = {form: [one for one in self.every if one.path.form == form] for form in forms}
        return {form: best if best.form == form else simplest(some).path for form, some in of_form.items()}


def search_all(
    plan: SearchPlan, divided: Parts, settings: SiftSettings, deadline: float | None = None
) -> SearchResults:
    """Make the searches of the plan; those that the time limit leaves out are listed.

    After it, only the best point of each path is judged on the folds. `deadline` is a time of `time.perf_counter`.
    """
    deadline = time.perf_counter() + settings.budget if deadline is None else deadline
    found: list[_Search] = []
    left_out: list[str] = []
    share = SHARE_OF_SEARCHES / max(sum(len(job.forms) for job in plan.jobs), 1)
    for job in plan.jobs:
        made = None
        for form in job.forms:
            if found and time.perf_counter() > deadline:
                left_out.append(f"{form.name} form of {job.dictionary!r}")
                continue
            rivals = [point for one in found for point in one.found.points]
            if found and not form.promising(rivals):
                continue
            made = _task(job, plan, divided, settings) if made is None else made
            parts, task = made
            until = deadline if found else np.inf  # the first search is always made, whole
            error = min((float(np.median(point.runs)) for point in rivals), default=np.inf)
            beaten = partial(_beaten, rivals=() if any(one.unstable for one in found) else rivals)
            with part(settings.shown, share * (1 - SHARE_OF_JUDGING)):
                found.append(_Search.of(form, job, parts, replace(task, until=until, to_beat=error, beaten=beaten)))
    _check_nothing_chosen_blindly(divided, found, [form for job in plan.jobs for form in job.forms])
    results = _judged_in_turn(found, settings, share * SHARE_OF_JUDGING, deadline)
    return SearchResults(tuple(results), tuple(left_out))


@dataclass(frozen=True, eq=False)
class _Search:
    """A path that was searched, judged on the validation data only, and how long it took."""

    job: SearchJob
    parts: Parts
    found: Candidates
    seconds: float

    @classmethod
    def of(cls, form: Form, job: SearchJob, parts: Parts, task: Task) -> _Search:
        """Search a dictionary in one form."""
        begun = time.perf_counter()
        return cls(job, parts, form.candidates(task), time.perf_counter() - begun)

    @property
    def unstable(self) -> bool:
        """Whether it is a plain linear model with a pole well outside the unit circle."""
        plain = isinstance(self.found.form, PlainLinearForm)
        return plain and any(point.model.spectral_radius > CLEARLY_UNSTABLE for point in self.found.points)


def _beaten(points: Sequence[PathPoint], rivals: Sequence[PathPoint]) -> bool:
    """Tell whether points are all clearly worse than the best of the searches before, on the validation data."""
    return bool(rivals) and bool(clearly_worse(Evidence.of([*points, *rivals]))[: len(points)].all())


def _judged_in_turn(
    found: Sequence[_Search], settings: SiftSettings, share: float, deadline: float
) -> list[SearchResult]:
    """Judge every search on the folds, that with the best score on the validation data first: the rival of the others.

    There is no rival where long runs may be no fair test.
    """
    best = best_scores([(one.found, one.parts) for one in found])
    fair = len(found) > 1 and not any(one.unstable for one in found)
    least, rival = min(best) if fair else np.inf, None
    results: dict[int, SearchResult] = {}
    for i in np.argsort(best, kind="stable").tolist():
        with part(settings.shown, share):
            early = time.perf_counter() < deadline
            results[i] = _judged(found[i], least if early else -np.inf, rival, settings)
        rival = results[i].path.choice if rival is None and fair else rival
        settings.tell(results[i].summary)
    return [results[i] for i in range(len(found))]


def _task(job: SearchJob, plan: SearchPlan, divided: Parts, settings: SiftSettings) -> tuple[Parts, Task]:
    parts, recipe = divided.embedded(job.embedding, plan.deepest), job.dictionary
    task = Task(
        learn=parts.learn,
        validation=parts.validation,
        windows=parts.windows,
        dictionary=recipe.fit(parts.learn, seed=settings.seed) if isinstance(recipe, Block) else recipe,
        horizons=parts.horizons,
        path_length=settings.path_length,
        seed=settings.seed,
        max_terms=settings.max_terms,
        executor=settings.executor,
        progress=settings.shown,
        budget=settings.budget,
    )
    return parts, task


def _judged(searched: _Search, least: float, rival: PathPoint | None, settings: SiftSettings) -> SearchResult:
    begun, parts, job = time.perf_counter(), searched.parts, searched.job
    found, chosen = _chosen(judged_again(searched.found, parts, least, rival), parts, settings.max_terms)
    found = _refined(found, chosen, parts)
    choice, seconds = found.points[chosen], searched.seconds + time.perf_counter() - begun
    summary = SearchSummary(
        stage=FULL,
        form=found.form.name,
        embedding=job.embedding,
        dictionary=repr(job.dictionary),
        candidates=found.total,
        kept=choice.size,
        errors=choice.errors,
        runs=choice.runs,
        seconds=seconds,
    )
    return SearchResult(parts, found, chosen, summary)


def _chosen(found: Candidates, parts: Parts, most: int | None) -> tuple[Candidates, int]:
    """Return the point to take; those that would be taken but run away along whole episodes are marked on the path."""
    while True:
        chosen = chosen_point(found.points, most)
        point = found.points[chosen]
        if not (point.bounded and parts.runs_away(point.model)):
            return found, chosen
        points = (*found.points[:chosen], replace(point, bounded=False), *found.points[chosen + 1 :])
        found = replace(found, points=points)


def learned_again(result: SearchResult) -> Outcome:
    """Learn the chosen set from all data; where that model is worse than the one that was judged, keep the latter.

    Both are simulated along all data in memory. The new one has learned from these, so it should be better.
    """
    outcome = replace(result.found.relearn(result.chosen), path=result.path)
    point, task = result.path.choice, result.found.task
    if not result.parts.validated or outcome.model is point.model:
        return outcome
    both = (point.model, outcome.model)
    errors = [[window_errors(one, part, task.horizons).blocks for part in task.in_memory] for one in both]
    runs = [[simulation_errors(one, part) for part in task.in_memory] for one in both]
    blocks, ends = (np.stack([np.concatenate(one, axis=-1) for one in parts]) for parts in (errors, runs))
    stays = (point.in_range, not point.in_range or task.stays_in_range(outcome.model))
    stayed = bounded(outcome.model, task, result.parts) and not result.parts.runs_away(outcome.model)
    remain = (point.bounded, stayed)
    before, after = scores(Evidence(blocks, ends, (0, 0), stays, remain, horizon_weights(task.horizons)))
    if after <= before + MAX_LOSS:
        return outcome
    return replace(outcome, model=point.model, status=NOT_LEARNED_AGAIN)


def _refined(found: Candidates, chosen: int, parts: Parts) -> Candidates:
    """Return the path with the chosen point fitted better, where a form can and that is not worse."""
    refined = found.refined(chosen)
    if refined.points[chosen] is found.points[chosen] or parts.runs_away(refined.points[chosen].model):
        return found
    alone = judged_again(replace(refined, points=(refined.points[chosen],)), parts)
    refined = replace(refined, points=(*found.points[:chosen], *alone.points, *found.points[chosen + 1 :]))
    return refined if choose(Evidence.of([found.points[chosen], refined.points[chosen]])) else found


def simplest(made: Sequence[SearchResult]) -> SearchResult:
    """Return the simplest that is as good as the best on the validation windows."""
    points, complexity = [one.path.choice for one in made], [one.complexity for one in made]
    return made[choose(Evidence.of(points, complexity))]


def _check_nothing_chosen_blindly(parts: Parts, found: Sequence[_Search], forms: Sequence[Form]) -> None:
    sets = sum(len(one.found.points) for one in found)
    refits = max(form.fits_per_set for form in forms)
    if not parts.validated and (sets > 1 or refits > 1):
        raise KoopsieveError(
            f"validation=0 holds nothing out, but there is a choice to make: {sets} sets and {refits} refits. Hold "
            "some data out, or give one refit and a sieve that gives one set, such as GraphSieve()."
        )
