"""What to search in full where delays or dictionary are left to `sift`.

Preliminary searches tell the delays that suit plain linear models, and then which dictionary with which delays suits
the plant. In come the divided data and the settings, out comes the plan: what to search, and every preliminary search.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from koopsieve._types import KoopsieveError
from koopsieve.data import Embedding, Signals
from koopsieve.dictionary import Block, Constant, Dictionary, States
from koopsieve.execution import Executor, in_this_process
from koopsieve.forms import Form, PlainLinearForm
from koopsieve.sifting.choose import scores, seems_unstable
from koopsieve.sifting.folds import HOPELESS
from koopsieve.sifting.linear_delays import LINEAR_DELAYS, LinearSearches, evidence, linear_grid, simplest
from koopsieve.sifting.parts import Parts
from koopsieve.sifting.preliminary import Family, PreliminarySearch, SearchSummary, families
from koopsieve.sifting.settings import SiftSettings

NONLINEAR_DELAYS = (0, 1, 2, 4, 8)
SHORT_DELAYS = (0, 1, 2, 3)
MAX_DICTIONARIES = 3  # that are searched in full where data are few, and preliminary searches tell little
FEW_ROWS = 2_000  # samples to learn from; with more, preliminary searches tell enough to search one dictionary fewer
OUT_OF_REACH = np.log(3.0)  # of the score above the best in a preliminary search, beyond which none is searched in full


@dataclass(frozen=True)
class SearchJob:
    """A dictionary to search in full, with its delays, in some forms."""

    embedding: Embedding
    dictionary: Block | Dictionary
    forms: tuple[Form, ...]


@dataclass(frozen=True, eq=False)
class SearchPlan:
    """What to search in full, and the preliminary searches that decided it.

    Parameters
    ----------
    jobs : tuple of SearchJob
    preliminary : tuple of SearchSummary
    deepest : Embedding
        All searches are compared from the starts that these delays leave.
    line : Embedding
        The delays that suit plain linear models.
    open_delays : bool
        Whether delays were to be found.
    """

    jobs: tuple[SearchJob, ...]
    preliminary: tuple[SearchSummary, ...]
    deepest: Embedding
    line: Embedding
    open_delays: bool = False


def plan_searches(parts: Parts, settings: SiftSettings, deadline: float = np.inf) -> SearchPlan:
    """Decide what to search; after the deadline, a time of `time.perf_counter`, no further dictionary is tried."""
    found = _planned(parts, settings, deadline)
    if not settings.offers_plain_linear:
        return found
    return replace(found, jobs=(*_plain_jobs(found, parts), *found.jobs))


def _plain_jobs(plan: SearchPlan, parts: Parts) -> tuple[SearchJob, ...]:
    """Return the plain linear model with the delays that suit it, and with few, where simulation may fit better.

    With few data the timing that suits least squares one step ahead is a guess, so both are tried. With many, the
    delays were found on a sample, and all data may support more.
    """
    form, recipe, line = PlainLinearForm(), States() + Constant(), plan.line
    counts = SHORT_DELAYS if parts.cuts else (*SHORT_DELAYS, *(d for d in LINEAR_DELAYS if d > line.state_delays))
    timings = ("k", "k+1") if parts.cuts and plan.deepest.input_lead and not line.dead_time else (line.inputs_at,)
    allowed = [d for d in counts if d <= plan.deepest.state_delays] if plan.open_delays else []
    reach, late = plan.deepest.input_delays, line.dead_time
    tried = [Embedding(d, min(late + d, reach), timing, late) for d in allowed for timing in timings]
    return tuple(SearchJob(one, recipe, (form,)) for one in dict.fromkeys([*tried, line]))


def _planned(parts: Parts, settings: SiftSettings, deadline: float) -> SearchPlan:
    dictionary, signals = settings.dictionary, parts.learn.signals
    forms = settings.forms_for(inputs=bool(signals.inputs), rows=parts.rows)
    delays = settings.delays_of(parts.learn)
    grid = linear_grid(parts) if delays is None else delays
    if len(grid) > 1 and isinstance(dictionary, Dictionary):
        raise KoopsieveError(
            "To find the delays, give a recipe such as States() + Monomials(2), which is fitted to each number of "
            "delays. Got a fitted Dictionary, whose delays are decided. Leave delays out."
        )
    if len(grid) == 1 and not isinstance(dictionary, str):
        job = SearchJob(grid[0], dictionary, tuple(sorted(forms, key=_turn)))
        return SearchPlan((job,), (), grid[0], grid[0])
    searches = LinearSearches.of(parts, grid, settings)
    searches = searches.widened(settings) if delays is None else searches
    fast, plain, grid, deepest = searches.fast, searches.plain, searches.grid, searches.fast.deepest
    line = searches.best
    away = [float(one.errors.error[0]) for one in plain if one.unstable]
    unstable = seems_unstable(away, plain[simplest(plain)].errors)
    if unstable:
        # Under feedback an input follows from the output that was sampled with it.
        grid = tuple(one for one in grid if not one.input_lead) or grid
        causal = [one for one in plain if one.embedding in grid]
        line = causal[simplest(causal, short=True)].embedding
    offered = [dictionary] if isinstance(dictionary, Block) else families(parts.learn.n_samples)
    linear = tuple(form for form in forms if form.linear_in_delays)
    if linear == forms:
        shallow = _deepest_affordable(fast, offered, grid, line)
        return SearchPlan(_linear_jobs(linear, offered, shallow, signals), tuple(plain), deepest, line, delays is None)
    near = {*NONLINEAR_DELAYS, line.state_delays} if delays is None else {e.state_delays for e in grid}
    near_line = [one for one in grid if one.inputs_at == line.inputs_at and one.state_delays in near]
    hopeless = _hopeless_delays(plain, unstable)
    same = [one for one in near_line if one.dead_time in (0, line.dead_time) and one not in hopeless]
    pairs = [(embedding, one) for embedding in same for one in offered]
    made = _pair_searches(fast, pairs, signals, deadline, in_this_process(settings.executor))
    tried = list(settings.shown(made, "Trying dictionaries", len(pairs)))
    best = [one.pair for one in _best_of_each(tried, unstable)] or [(line, offered[0])]
    lifted = [form for form in forms if form not in linear]
    jobs = _jobs(lifted, *best[0], signals)
    if parts.cuts:
        again = [form for form in lifted if form.uses_input_terms]
        most = MAX_DICTIONARIES if parts.rows <= FEW_ROWS else MAX_DICTIONARIES - 1
        jobs += tuple(job for pair in best[1:most] for job in _jobs(again, *pair, signals))
    if linear:
        family = (best[0][1],)
        jobs = (*jobs, *_linear_jobs(linear, family, _deepest_affordable(fast, family, grid, line), signals))
    jobs = tuple(sorted(jobs, key=lambda job: _turn(job.forms[0])))
    return SearchPlan(jobs, (*plain, *(one.summary for one in tried)), deepest, line, delays is None)


@dataclass(frozen=True, eq=False)
class _PairSearch:
    pair: tuple[Embedding, Block | Family]
    summary: SearchSummary


def _pair_searches(
    fast: PreliminarySearch,
    pairs: Sequence[tuple[Embedding, Block | Family]],
    signals: Signals,
    deadline: float,
    executor: Executor,
) -> Iterator[_PairSearch]:
    """Yield a preliminary search of every pair; a dictionary that is too large with some delays ends at these."""
    too_large: set[Block | Family] = set()

    def search(place: int, pair: tuple[Embedding, Block | Family]) -> _PairSearch | None:
        embedding, offered = pair
        if (place and time.perf_counter() > deadline) or offered in too_large:
            return None
        recipe = _recipe(embedding, offered, signals, sees_inputs=True)
        summary = None if recipe is None else fast.reprojected(embedding, recipe)
        if summary is None:
            too_large.add(offered)
        return None if summary is None else _PairSearch(pair, summary)

    made = executor.map(lambda numbered: search(*numbered), list(enumerate(pairs)))
    return (one for one in made if one is not None)


def _best_of_each(tried: Sequence[_PairSearch], short: bool) -> list[_PairSearch]:
    """Return the best search, then that of the other dictionaries, and so on; not those that are far worse.

    Simplicity does not count here: a rough search says little, and the full one takes no more terms than it needs.
    """
    if not tried:
        return []
    score = scores(evidence([one.summary for one in tried], [0] * len(tried), short))
    found, rest = [], [one for one, own in zip(tried, score, strict=True) if own <= score.min() + OUT_OF_REACH]
    while rest:
        best = rest[simplest([one.summary for one in rest], [0] * len(rest), short)]
        found.append(best)
        rest = [one for one in rest if one.pair[1] != best.pair[1]]
    return found


def _hopeless_delays(plain: Sequence[SearchSummary], short: bool) -> list[Embedding]:
    """Return delays that a plain linear model with others beats so far that no function of them makes up for it."""
    score = scores(replace(evidence(plain, [0] * len(plain), short), bounded=[True] * len(plain)))
    return [one.embedding for one, own in zip(plain, score, strict=True) if own > score.min() + HOPELESS]


def _deepest_affordable(
    fast: PreliminarySearch, offered: Sequence[Block | Family], grid: Sequence[Embedding], line: Embedding
) -> Embedding:
    """Return the delays that suit plain linear models, or fewer where a dictionary that was given is then too large."""
    given = [one for one in offered if isinstance(one, Block)]
    alike = [one for one in grid if (one.inputs_at, one.dead_time) == (line.inputs_at, line.dead_time)]
    fewer = [one for one in alike if one.lost <= line.lost]
    for embedding in sorted(fewer, key=lambda one: -one.lost):
        if all(fast.fitted(embedding, recipe) is not None for recipe in given):
            return embedding
    return line


def _turn(form: Form) -> tuple[bool, bool]:
    """Return when a form has its turn: first what is likely to be best, beside which others stop early; hidden last."""
    return form.recipe is not None, not form.uses_input_terms


def _recipe(embedding: Embedding, offered: Block | Family, signals: Signals, sees_inputs: bool) -> Block | None:
    return offered if isinstance(offered, Block) else offered.recipe(signals, embedding, sees_inputs)


def _linear_jobs(
    forms: tuple[Form, ...], offered: Sequence[Block | Family], line: Embedding, signals: Signals
) -> tuple[SearchJob, ...]:
    """Return what to search with the delays that suit plain linear models."""
    recipes = [_recipe(line, one, signals, sees_inputs=False) for one in offered]
    free = tuple(form for form in forms if form.recipe is None)
    jobs = [SearchJob(line, recipe, free) for recipe in recipes if recipe is not None and free]
    return (*jobs, *(SearchJob(line, form.recipe, (form,)) for form in forms if form.recipe is not None))


def _jobs(
    forms: Sequence[Form], embedding: Embedding, family: Block | Family, signals: Signals
) -> tuple[SearchJob, ...]:
    """Return what to search with the best dictionary; in the bilinear form the products with inputs are its own."""
    found = [(form, _recipe(embedding, family, signals, sees_inputs=form.uses_input_terms)) for form in forms]
    return tuple(SearchJob(embedding, recipe, (form,)) for form, recipe in found if recipe is not None)
