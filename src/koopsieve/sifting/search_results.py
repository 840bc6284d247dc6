"""What the full searches found: which of them to take, and that one learned again from all data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from koopsieve.data import Trajectories, embedded
from koopsieve.evaluate import simulation_errors, window_errors
from koopsieve.evaluate.horizon_errors import clipped_errors
from koopsieve.forms import FORMS, Candidates, Model, Outcome, Task
from koopsieve.forms.path import SievePath
from koopsieve.sifting.choose import (
    Evidence,
    at_least,
    choose,
    chosen_point,
    horizon_weights,
    informative,
    seems_unstable,
)
from koopsieve.sifting.folds import bounded, searched_again
from koopsieve.sifting.judge import linear_baseline
from koopsieve.sifting.parts import Parts
from koopsieve.sifting.preliminary import CLEARLY_UNSTABLE, SearchSummary

WORTH_LEAVING_LINEAR = math.log(4 / 3)  # of the score: a quarter less squared error along the data learned from
PREFERRED = "The {form} form was better on the validation data. But {why}, so the plain linear model was taken."
LITTLE_BETTER = "along all data its squared error is typically more than three quarters of the plain linear model's"
WORSE_AT_LENGTH = "in runs from end to end of the record it is further from the data than the plain linear model"
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

    def searched_again(self) -> SearchResult:
        """Return the same search judged on sets that were found without each fold, and the point that is best then."""
        size = self.path.choice.size
        found = searched_again(self.found, self.parts, size)
        chosen = chosen_point(found.points, size)
        choice = found.points[chosen]
        summary = replace(self.summary, kept=choice.size, errors=choice.errors, runs=choice.runs)
        return SearchResult(self.parts, found, chosen, summary)

    @property
    def causal(self) -> bool:
        """Whether no input acts that is sampled together with the output it acts on.

        Under feedback such an input follows from that output, and seems to predict it.
        """
        return not self.parts.learn.signals.embedding.input_lead

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
        return self.found.form.plain

    @property
    def complexity(self) -> tuple[int, ...]:
        """By the form first, the plain linear model before all, then by the number of terms."""
        return int(not self.plain), list(FORMS).index(self.found.form.name), self.path.choice.size


@dataclass(frozen=True, eq=False)
class FinalModel:
    """A search, and its choice learned from all data."""

    search: SearchResult
    outcome: Outcome

    @classmethod
    def of(cls, search: SearchResult) -> FinalModel:
        """Learn the choice of a search from all data."""
        return cls(search, learned_again(search))

    @property
    def form(self) -> str:
        """The form of the model."""
        return self.search.path.form

    @property
    def as_small_as_asked(self) -> bool:
        """Whether it has no more terms than were asked for."""
        most = self.search.found.task.max_terms
        return most is None or self.search.path.choice.size <= most

    @cached_property
    def typical_score(self) -> float:
        """The score along all data in memory, which the model learned from; the mean of the blocks' logarithms."""
        search, yes = self.search, (True,)
        along = _along_all_data([self.outcome.model], search.parts, search.found.task, (0,), yes, yes)
        return float(along.shares @ [np.log(clipped_errors(errors)).mean() for errors in along.tests])

    def reason_for(self, linear: FinalModel) -> str:
        """Return why a plain linear model is to be preferred; an empty text where it is not.

        This model is hardly better along the data that both learned from, or worse in runs from end to end.
        """
        if linear.typical_score - self.typical_score <= WORTH_LEAVING_LINEAR:
            return LITTLE_BETTER
        ends = (one.search.parts.end_to_end(one.outcome.model) for one in (self, linear))
        mine, plain = informative(np.array([*ends]))
        return WORSE_AT_LENGTH if mine > plain else ""


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
        """Whether the plant seems to be unstable: see `seems_unstable`. Without inputs there is no feedback."""
        taken = simplest(self.every).path
        if not self.every[0].parts.learn.signals.inputs:
            return False
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

    def paths(self, taken: SearchResult) -> dict[str, SievePath]:
        """Return the path of each form, the simplest first; of several that of what was taken, or the best one."""
        own = taken.path
        of_form = {form: [one for one in self.every if one.path.form == form] for form in FORMS}
        return {form: own if own.form == form else simplest(some).path for form, some in of_form.items() if some}


def simplest(made: Sequence[SearchResult]) -> SearchResult:
    """Return the simplest that is as good as the best on the validation windows."""
    points, complexity = [one.path.choice for one in made], [one.complexity for one in made]
    return made[choose(Evidence.of(points, complexity))]


def learned_again(result: SearchResult) -> Outcome:
    """Learn the chosen set from all data; where that model is clearly worse than the one that was judged, keep that.

    Both are simulated along all data in memory. The new one has learned from these, so it should be better. Errors of
    all parts are relative to one variance, so a quiet part counts little.
    """
    parts, task, point = result.parts, result.found.task, result.path.choice
    if parts.whole and parts.uncut is not None:
        task = replace(task, uncut=embedded(parts.uncut, parts.learn.embedding))
    outcome = replace(replace(result.found, task=task).relearn(result.chosen), path=result.path)
    if not parts.validated or outcome.model is point.model:
        return outcome
    both = (point.model, outcome.model)
    stays = [task.stays_in_range(one) for one in both]
    stayed = bounded(outcome.model, task, parts) and not parts.runs_away(outcome.model)
    rather_new = (1, 0)  # as the simpler of the two: it has seen more
    if choose(_along_all_data(both, parts, task, rather_new, stays, (point.bounded, stayed))):
        return outcome
    return replace(outcome, model=point.model, status=NOT_LEARNED_AGAIN)


def final_models(results: SearchResults) -> tuple[FinalModel, FinalModel | None]:
    """Return what to take, and the best plain linear model, each learned from all data; None where that was not tried.

    The plain linear model is taken where the other one is hardly better even along the data that both learned from, or
    worse in runs from end to end. On an unstable plant free runs do not tell.
    """
    taken = FinalModel.of(results.best)
    if results.linear is None or results.linear is results.best:
        return taken, None if results.linear is None else taken
    linear = FinalModel.of(results.linear)
    kept = results.unstable or not linear.search.parts.validated or not linear.as_small_as_asked
    why = "" if kept else taken.reason_for(linear)
    if not why:
        return taken, linear
    status = " ".join(filter(None, (PREFERRED.format(form=taken.form, why=why), linear.outcome.status)))
    return replace(linear, outcome=replace(linear.outcome, status=status)), linear


def _along_all_data(
    models: Sequence[Model],
    parts: Parts,
    task: Task,
    complexity: Sequence[int],
    in_range: Sequence[bool],
    stays_bounded: Sequence[bool],
) -> Evidence:
    """Return the evidence of simulations along all data in memory."""
    unit = parts.variance
    errors = [[window_errors(one, part, task.horizons, unit).blocks for part in task.in_memory] for one in models]
    runs = [[simulation_errors(one, part, unit) for part in task.in_memory] for one in models]
    blocks = np.stack([np.concatenate(one, axis=-1) for one in errors])
    ends = np.stack(
        [at_least(np.concatenate(own), parts.whole_runs(one)) for own, one in zip(runs, models, strict=True)]
    )
    return Evidence(blocks, ends, complexity, in_range, stays_bounded, horizon_weights(task.horizons))
