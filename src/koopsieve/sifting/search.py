"""Full searches: every job of the plan in its forms, each path judged.

In come the plan, the divided data and the settings; out come the results, each with its parts, path and row of the
table.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from koopsieve._types import KoopsieveError
from koopsieve.dictionary import Block
from koopsieve.execution.executors import part
from koopsieve.forms import Candidates, Form, Task
from koopsieve.forms.path import PathPoint
from koopsieve.sifting.choose import Evidence, choose, chosen_point, clearly_worse
from koopsieve.sifting.folds import best_scores, judged_again, stopped
from koopsieve.sifting.parts import Parts
from koopsieve.sifting.plan import FEW_ROWS, SearchJob, SearchPlan
from koopsieve.sifting.preliminary import CLEARLY_UNSTABLE, FULL, SearchSummary
from koopsieve.sifting.search_results import SearchResult, SearchResults
from koopsieve.sifting.settings import SiftSettings

SHARE_OF_SEARCHES = 0.65  # of the time of a default job, about
SHARE_OF_JUDGING = 0.4  # of the time of the searches: folds and long runs


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
            fair = not any(one.unstable for one in found)  # else long runs favour false models
            with part(settings.shown, share * (1 - SHARE_OF_JUDGING)):
                given = replace(task, until=until, to_beat=error)
                given = replace(given, rivals=tuple(rivals), worse=_clearly_worse) if fair else given
                found.append(_Search.of(form, job, parts, given))
    _check_nothing_chosen_blindly(divided, found, [form for job in plan.jobs for form in job.forms])
    results = _judged_in_turn(found, settings, share * SHARE_OF_JUDGING, deadline)
    return _confirmed(SearchResults(tuple(results), tuple(left_out)), deadline)


def _confirmed(results: SearchResults, deadline: float) -> SearchResults:
    """Where data are few, search the best dictionary again without each fold, until the best is one that was.

    A plain linear model has no terms to choose, and one search no other to be preferred to it. On an unstable plant
    free runs on folds say nothing.
    """
    confirmed: set[int] = set()
    while len(results.every) > 1 and not results.unstable and time.perf_counter() < deadline:
        best = results.every.index(results.best)
        one = results.every[best]
        if best in confirmed or one.plain or not one.parts.folds or one.parts.rows > FEW_ROWS:
            break
        confirmed.add(best)
        results = replace(results, every=(*results.every[:best], one.searched_again(), *results.every[best + 1 :]))
    return results


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
    def plain(self) -> bool:
        """Whether it is the plain linear model."""
        return self.found.form.plain

    @property
    def unstable(self) -> bool:
        """Whether it is a plain linear model with inputs and a pole well outside the unit circle."""
        far = any(point.model.spectral_radius > CLEARLY_UNSTABLE for point in self.found.points if self.plain)
        return far and bool(self.parts.learn.signals.inputs)

    def beaten(self, rival: PathPoint) -> bool:
        """Tell whether it is clearly worse than a point of another search; others are compared with the plain model."""
        return not self.plain and _clearly_worse(self.found.points, [rival])


def _clearly_worse(points: Sequence[PathPoint], others: Sequence[PathPoint]) -> bool:
    """Tell whether points are all clearly worse than the best of others, on the validation data."""
    return bool(others) and bool(clearly_worse(Evidence.of([*points, *others]))[: len(points)].all())


def _judged_in_turn(
    found: Sequence[_Search], settings: SiftSettings, share: float, deadline: float
) -> list[SearchResult]:
    """Judge every search on the folds, that with the best score on the validation data first: the rival of the others.

    There is no rival where long runs may be no fair test.
    """
    best = best_scores([(one.found, one.parts) for one in found])
    fair = len(found) > 1 and not any(one.unstable for one in found)
    least = min(best) if fair else np.inf
    first, results = -1, dict[int, SearchResult]()
    for i in np.argsort(best, kind="stable").tolist():
        with part(settings.shown, share):
            early = time.perf_counter() < deadline
            rival = results[first].path.choice if first >= 0 else None
            if rival is not None and found[i].beaten(found[first].found.points[results[first].chosen]):
                results[i] = _given_up(found[i], rival, settings)
            else:
                results[i] = _judged(found[i], least if early else -np.inf, rival, settings)
        first = i if fair and first < 0 else first
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


def _given_up(searched: _Search, rival: PathPoint, settings: SiftSettings) -> SearchResult:
    """Return a search that is judged on the validation data alone: on the folds its points count as useless."""
    found, parts = searched.found, searched.parts
    chosen = chosen_point(found.points, settings.max_terms)
    points = tuple(stopped(point, rival) for point in found.points)
    summary = replace(_summary(searched, points[chosen], searched.seconds), runs=found.points[chosen].runs)
    return SearchResult(parts, replace(found, points=points), chosen, summary)


def _judged(searched: _Search, least: float, rival: PathPoint | None, settings: SiftSettings) -> SearchResult:
    begun, parts = time.perf_counter(), searched.parts
    found, chosen = _chosen(judged_again(searched.found, parts, least, rival), parts, settings.max_terms)
    if rival is None or not _clearly_worse([found.points[chosen]], [rival]):
        found = _refined(found, chosen, parts)
    summary = _summary(searched, found.points[chosen], searched.seconds + time.perf_counter() - begun)
    return SearchResult(parts, found, chosen, summary)


def _summary(searched: _Search, choice: PathPoint, seconds: float) -> SearchSummary:
    return SearchSummary(
        stage=FULL,
        form=searched.found.form.name,
        embedding=searched.job.embedding,
        dictionary=repr(searched.job.dictionary),
        candidates=searched.found.total,
        kept=choice.size,
        errors=choice.errors,
        runs=choice.runs,
        seconds=seconds,
    )


def _chosen(found: Candidates, parts: Parts, most: int | None) -> tuple[Candidates, int]:
    """Return the point to take; those that would be taken but run away along whole episodes are marked on the path."""
    while True:
        chosen = chosen_point(found.points, most)
        point = found.points[chosen]
        if not (point.bounded and parts.runs_away(point.model)):
            return found, chosen
        points = (*found.points[:chosen], replace(point, bounded=False), *found.points[chosen + 1 :])
        found = replace(found, points=points)


def _refined(found: Candidates, chosen: int, parts: Parts) -> Candidates:
    """Return the path with the chosen point fitted better, where a form can and that is not worse."""
    refined = found.refined(chosen)
    if refined.points[chosen] is found.points[chosen] or parts.runs_away(refined.points[chosen].model):
        return found
    alone = judged_again(replace(refined, points=(refined.points[chosen],)), parts)
    refined = replace(refined, points=(*found.points[:chosen], *alone.points, *found.points[chosen + 1 :]))
    return refined if choose(Evidence.of([found.points[chosen], refined.points[chosen]])) else found


def _check_nothing_chosen_blindly(parts: Parts, found: Sequence[_Search], forms: Sequence[Form]) -> None:
    sets = sum(len(one.found.points) for one in found)
    refits = max(form.fits_per_set for form in forms)
    if not parts.validated and (sets > 1 or refits > 1):
        raise KoopsieveError(
            f"validation=0 holds nothing out, but there is a choice to make: {sets} sets and {refits} refits. Hold "
            "some data out, or give one refit and a sieve that gives one set, such as GraphSieve()."
        )
