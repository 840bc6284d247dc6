"""Full searches: every job of the plan in its forms, and which of the results to take.

In come the plan, the divided data and the settings; out come the results, each with its parts, outcome and row of the
table.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from koopsieve._types import KoopsieveError
from koopsieve.dictionary import Block
from koopsieve.execution.progress import part
from koopsieve.forms import FORMS, Candidates, Form, Outcome, Task
from koopsieve.forms.path import SievePath
from koopsieve.sifting.choose import Evidence, choose, chosen_point
from koopsieve.sifting.plan import SearchJob, SearchPlan
from koopsieve.sifting.preliminary import FULL, SearchSummary
from koopsieve.sifting.settings import SiftSettings
from koopsieve.sifting.split import Parts

SHARE_OF_SEARCHES = 0.65  # of the time of a default job, about


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What the full search of one dictionary in one form found, and the data it was given."""

    parts: Parts
    outcome: Outcome
    summary: SearchSummary

    @property
    def complexity(self) -> tuple[int, int]:
        """By the form first, then by the number of terms."""
        return list(FORMS).index(self.outcome.path.form), self.outcome.path.choice.size


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

    @property
    def paths(self) -> dict[str, SievePath]:
        """The path of each form: where several dictionaries were searched, that of the best one."""
        best = simplest(self.every)
        forms = dict.fromkeys(one.outcome.path.form for one in self.every)
        of_form = {form: [one for one in self.every if one.outcome.path.form == form] for form in forms}
        return {form: (best if best in some else simplest(some)).outcome.path for form, some in of_form.items()}


def search_all(plan: SearchPlan, divided: Parts, settings: SiftSettings) -> SearchResults:
    """Make the searches of the plan; those that the time limit leaves out are listed.

    Raises
    ------
    KoopsieveError
        If there is a choice to make and nothing was held out to make it on.
    """
    begun = time.perf_counter()
    found: list[SearchResult] = []
    left_out: list[str] = []
    share = SHARE_OF_SEARCHES / max(sum(len(job.forms) for job in plan.jobs), 1)
    for job in plan.jobs:
        made = None
        for form in job.forms:
            if found and time.perf_counter() - begun > settings.budget:
                left_out.append(f"{form.name} form of {job.dictionary!r}")
                continue
            made = _task(job, plan, divided, settings) if made is None else made
            with part(settings.shown, share):
                found.append(_searched(form, job, *made, settings))
            settings.tell(found[-1].summary)
    _check_nothing_chosen_blindly(divided, found, [form for job in plan.jobs for form in job.forms])
    return SearchResults(tuple(found), tuple(left_out))


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
    )
    return parts, task


def _searched(form: Form, job: SearchJob, parts: Parts, task: Task, settings: SiftSettings) -> SearchResult:
    begun = time.perf_counter()
    found = form.candidates(task)
    chosen = chosen_point(found.points, settings.max_terms)
    outcome = _refined(found, chosen).relearn(chosen)
    choice, seconds = outcome.path.choice, time.perf_counter() - begun
    summary = SearchSummary(
        stage=FULL,
        form=form.name,
        embedding=job.embedding,
        dictionary=repr(job.dictionary),
        candidates=outcome.path.candidates,
        kept=choice.size,
        errors=choice.errors,
        runs=choice.runs,
        seconds=seconds,
    )
    return SearchResult(parts, outcome, summary)


def _refined(found: Candidates, chosen: int) -> Candidates:
    """Return the path with the chosen point fitted better, where a form can and that is not worse."""
    refined = found.refined(chosen)
    return refined if choose(Evidence.of([found.points[chosen], refined.points[chosen]])) else found


def simplest(made: Sequence[SearchResult]) -> SearchResult:
    """Return the simplest that is as good as the best on the validation windows."""
    points, complexity = [one.outcome.path.choice for one in made], [one.complexity for one in made]
    return made[choose(Evidence.of(points, complexity))]


def _check_nothing_chosen_blindly(parts: Parts, found: Sequence[SearchResult], forms: Sequence[Form]) -> None:
    sets = sum(len(one.outcome.path.points) for one in found)
    refits = max(form.fits_per_set for form in forms)
    if not parts.validated and (sets > 1 or refits > 1):
        raise KoopsieveError(
            f"validation=0 holds nothing out, but there is a choice to make: {sets} sets and {refits} refits. Hold "
            "some data out, or give one refit and a sieve that gives one set, such as GraphSieve()."
        )
