"""The hidden form: how a polynomial state space is searched for, judged and learned again.

The path begins with the linear start. A model with products is on it only where it stays in range in free runs along
the data, and where the data have several rows per coefficient: on short records products of hidden
states fit anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from koopsieve._types import BoolArray, FloatArray
from koopsieve.data import Stream, Trajectories
from koopsieve.data.splitting import sample, thinned
from koopsieve.dictionary import Block, Constant, States
from koopsieve.evaluate import simulation_errors, window_errors
from koopsieve.forms.form import Candidates, Form, Outcome
from koopsieve.forms.hidden.explanation import CoefficientProbabilities, one_step_of_terms
from koopsieve.forms.hidden.fit import HiddenFit, fitted, without_polish
from koopsieve.forms.hidden.growth import HiddenStart, find_start
from koopsieve.forms.hidden.learning import HiddenLearning, HiddenSolution, Scaling, plain_encoder
from koopsieve.forms.hidden.model import HiddenModel, coefficient_names, product_names, state_labels
from koopsieve.forms.hidden.problem import HiddenProblem, with_linear
from koopsieve.forms.hidden.sieve import GrownProblem, HiddenPoint, HiddenSieve
from koopsieve.forms.path import OVER_WINDOWS, PathPoint
from koopsieve.forms.task import DEFAULT_BUDGET, Task, learning_statistics, with_validation
from koopsieve.identify import Identifier, SpikeSlab

MAX_ROWS = 200_000  # samples that are learned from at most
ROWS_PER_COEFFICIENT = 10  # of a model that is judged
CLEARLY_BETTER = 1.25  # times less squared error than free runs of other forms have, for a whole search to pay
_ROUNDING = 1e-9  # relative to the largest coefficient of a row


@dataclass(frozen=True, eq=False)
class HiddenForm(Form):
    """Hidden models: which coefficients of a polynomial state space the outputs need when they are simulated.

    Parameters
    ----------
    sieve : HiddenSieve
    explain : Identifier
        Says, by the Gauss–Newton regression of the simulation, how probable each kept coefficient is.
    """

    model: ClassVar[type[HiddenModel]] = HiddenModel
    sifts: ClassVar[type[GrownProblem]] = GrownProblem
    linear_in_delays: ClassVar[bool] = True
    recipe: ClassVar[Block | None] = States() + Constant()
    rows_needed: ClassVar[float] = 5_000

    sieve: HiddenSieve = field(default_factory=HiddenSieve)
    explain: Identifier = field(default_factory=SpikeSlab)

    def promising(self, rivals: Sequence[PathPoint]) -> bool:
        """Tell whether free runs of the best model so far are clearly worse than the best prediction of the next step.

        With noise of the measurement alone those of the true model are not: the next step is predicted from noisy
        samples. What is worse lacks a state, or the plant itself is disturbed.
        """
        if rivals[0].errors.horizons[0] > 1:
            return True
        run = min(float(np.median(point.runs)) for point in rivals)
        return run > CLEARLY_BETTER * min(float(point.errors.error[0]) for point in rivals)

    def candidates(self, task: Task) -> HiddenCandidates:
        """Find the number of states, grow the products, sift them, and judge every size."""
        sieve = self.sieve.with_effort(task.budget / DEFAULT_BUDGET)
        learn = _in_memory(task.learn, task, sieve)
        learned = HiddenLearning.of(
            (learn,), task.dictionary, Scaling.of(learn), sieve.length, sieve.windows, sieve.burn, task.seed
        )
        held_out = learned.of_other((task.windows,), task.seed)
        start = find_start(learned, held_out, sieve.growth, sieve.degree, sieve.states, task.until)
        sieve, found = self._worth_judging(sieve, learned, held_out, start, task)
        points = [_judged(one, learned, start, task) for one in task.progress(found, "Judging", len(found))]
        best = {points[i].size: i for i in sorted(range(len(points)), key=lambda i: (points[i].size, -i))}
        kept = tuple(best.values())  # of equal sizes the linear start, which is the first
        chosen = tuple(points[i] for i in kept), tuple(found[i] for i in kept)
        return HiddenCandidates(replace(self, sieve=sieve), task, task.dictionary, *chosen, learned, start)

    def _worth_judging(
        self, sieve: HiddenSieve, learned: HiddenLearning, held_out: HiddenLearning, start: HiddenStart, task: Task
    ) -> tuple[HiddenSieve, list[HiddenPoint]]:
        """Return the linear start, then the sizes of the path that the data can support; and what sifted them."""
        coef = with_linear(start.problem.structure.terms, without_rounding(start.space.rows))
        linear = HiddenPoint(coef != 0, HiddenFit(coef, start.problem.loss(coef), (), settled=True))
        if not start.has_products or not _beats(task.to_beat, learned, start, task):
            return sieve, [linear]
        sieve, start = sieve.strongest(start.restarted(learned), learned, held_out, task.until)
        points = sieve.path(GrownProblem(start.problem, start.fit), task.path_length, task.progress, task.until)
        most = learned.rows * learned.outputs // ROWS_PER_COEFFICIENT
        return sieve, [linear, *(one for one in points if one.size <= most)]


def _beats(others: float, learned: HiddenLearning, start: HiddenStart, task: Task) -> bool:
    """Tell whether the short fit simulates better than models of other forms; an error of one or more is no rival.

    Where it does not, polynomials of hidden states are the wrong terms, or there is nothing left to find.
    """
    if not np.isfinite(others):
        return True
    model = learned.model(learned.solution(start.problem, start.fit.coef, plain_encoder(start.space)))
    return CLEARLY_BETTER * float(np.median(simulation_errors(model, task.windows))) < min(others, 1.0)


def without_rounding(rows: FloatArray) -> FloatArray:
    """Return the rows of a linear system in modal coordinates with zeros where there is rounding only."""
    largest = np.abs(rows).max(axis=1, keepdims=True)
    return np.where(np.abs(rows) > _ROUNDING * largest, rows, 0.0)


def _judged(point: HiddenPoint, learned: HiddenLearning, start: HiddenStart, task: Task) -> PathPoint:
    problem = start.problem
    model = learned.model(learned.solution(problem, point.fit.coef, plain_encoder(start.space)))
    errors, runs = window_errors(model, task.windows, task.horizons), simulation_errors(model, task.windows)
    free = with_offsets(point.free, problem)
    status = "" if point.fit.settled else "The loss still fell in the last round."
    names = coefficient_names(free, *_names(learned, problem))
    stays = task.stays_in_range(model)
    return PathPoint(np.flatnonzero(free), names, np.nan, errors, runs, model, OVER_WINDOWS, status, stays)


def with_offsets(free: BoolArray, problem: HiddenProblem) -> BoolArray:
    """Return the flags with those of the outputs' offsets: outside standardised units every output has one."""
    found = free.copy()
    found[problem.structure.states :, problem.structure.terms.degrees == 0] = True
    return found


def _names(learned: HiddenLearning, problem: HiddenProblem) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of all rows and of all terms of a problem."""
    signals = learned.dictionary.signals
    states = state_labels(signals, problem.structure.states)
    return states + signals.outputs, product_names(problem.structure.terms.powers, states + signals.acting)


@dataclass(frozen=True, eq=False)
class HiddenCandidates(Candidates):
    """The path of hidden models, and what it takes to learn one of them anew.

    Parameters
    ----------
    found : tuple of HiddenPoint
    learned : HiddenLearning
        The learning part.
    start : HiddenStart
        The linear start, and the problem with all terms.
    """

    form: HiddenForm
    found: tuple[HiddenPoint, ...]
    learned: HiddenLearning
    start: HiddenStart

    @property
    def total(self) -> int:
        """Number of coefficients."""
        return self.found[0].free.size

    def refitted(self, chosen: Sequence[int], data: Trajectories) -> tuple[HiddenModel, ...]:
        """Fit some points of the path to other data, from their coefficients."""
        return tuple(both.model(found) for both, found in (self._fitted(self.found[i], (data,)) for i in chosen))

    def relearn(self, chosen: int) -> Outcome:
        """Fit one size once more, to learning and validation data together."""
        task, phi = self.task, self.dictionary
        parts = (task.learn,) if task.validation is task.learn else (task.learn, task.validation)
        both, found = self._fitted(self.found[chosen], parts)
        model, everything = both.model(found), self.points[-1].model
        statistics = with_validation(learning_statistics(task, phi, ()), task, phi, ())
        every = np.ones(self.found[chosen].free.shape, dtype=bool)
        return Outcome(
            path=self.path(chosen),
            model=model,
            everything=(everything, everything),
            dictionary=phi,
            statistics=statistics,
            kept=replace(one_step_of_terms(both, found, model), region=statistics.region),
            explain=CoefficientProbabilities(found, model, self.form.explain),
            candidate_names=coefficient_names(every, *_names(self.learned, self.start.problem)),
        )

    def _fitted(
        self, point: HiddenPoint, parts: tuple[Trajectories | Stream, ...]
    ) -> tuple[HiddenLearning, HiddenSolution]:
        """Return the fit to other data, from the coefficients of the point."""
        task, rough = self.task, plain_encoder(self.start.space)
        seen = tuple(_in_memory(part, task, self.form.sieve) for part in parts)
        both = self.learned.of_other(seen, task.seed)
        problem = both.restarted(both.problem(self.start.space, self.start.degree), point.fit.coef, rough)
        sieve = self.form.sieve
        method = without_polish(sieve.optimiser, point.size)
        fit = fitted(method, problem, point.fit.coef, point.free, sieve.rows, shrinkage=sieve.shrinkage_used)
        return both, both.solution(problem, fit.coef, rough)


def _in_memory(part: Trajectories | Stream, task: Task, sieve: HiddenSieve) -> Trajectories:
    """Return a part in memory, thinned to `MAX_ROWS` samples."""
    stretch = 4 * sieve.length
    return thinned(sample(part, MAX_ROWS, stretch, task.seed), MAX_ROWS, stretch)
