"""What to search when delays or dictionary are left to `sift`: a fast look at many, of which the best are searched.

The first look is at plain linear models over a grid of delays, with both timings of the inputs. The second one is at
small reprojected models with polynomials and kernels, fitted to a part of the data. In come the divided data, out come
the plans to search in full, and a row for everything that was looked at. Looks are compared on the validation data,
from the same starts for all.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data import Embedding, Signals, Trajectories
from koopsieve.data.holding_out import sample, thinned
from koopsieve.dictionary import Block, Constant, Dictionary, Inputs, Monomials, SquaredExponential, States
from koopsieve.dictionary.points import STATES, STATES_AND_INPUTS
from koopsieve.evaluate import linear_baseline, simulation_errors, window_errors
from koopsieve.execution import Progress
from koopsieve.parts import Parts
from koopsieve.sieve import ReprojectedSearch, SimulationSieve, Task
from koopsieve.sieve.choice import simplest_as_good
from koopsieve.sieve.tried import LOOK, Tried

AUTO = "auto"
LINEAR_DELAYS = (0, 1, 2, 3, 5, 8, 14, 24)
NONLINEAR_DELAYS = (0, 1, 2, 4, 8)
MAX_PRODUCTS = 150  # monomials of states and inputs: of a longer delay line only the newest samples are multiplied
MAX_KERNELS = 100
MAX_CANDIDATES = 400  # of a dictionary that is looked at with several delays
SAMPLES_PER_KERNEL = 10
LEARN_ROWS, WINDOW_ROWS, FIT_ROWS = 20_000, 4_000, 8_000  # of a look: to learn from, to compare on, and to simulate


@dataclass(frozen=True)
class Plan:
    """A dictionary to search, with its delays, in some forms."""

    embedding: Embedding
    dictionary: Block | Dictionary
    forms: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Planned:
    """What to search, and what was looked at to decide it.

    Parameters
    ----------
    plans : tuple of Plan
    looks : tuple of Tried
    deepest : Embedding
        All searches are compared from the starts that these delays leave.
    """

    plans: tuple[Plan, ...]
    looks: tuple[Tried, ...]
    deepest: Embedding


@dataclass(frozen=True, eq=False)
class Looking:
    """A part of the data, and what all looks share."""

    divided: Parts
    deepest: Embedding
    horizons: tuple[int, ...]
    seed: int

    @classmethod
    def at(cls, divided: Parts, deepest: Embedding, horizons: tuple[int, ...], seed: int) -> Looking:
        """Take a part of the data that is enough for a look."""
        stretch = 4 * (horizons[-1] + deepest.lost + 1)
        learn = thinned(sample(divided.learn, LEARN_ROWS, stretch), LEARN_ROWS, stretch)
        windows = thinned(divided.windows, WINDOW_ROWS, stretch)
        return cls(Parts(learn, learn, windows, divided.judged, True), deepest, horizons, seed)

    def parts(self, embedding: Embedding) -> Parts:
        """Return the parts with delays."""
        return self.divided.embedded(embedding, self.deepest)

    def linear(self, embedding: Embedding) -> Tried:
        """Look at the linear model of states and a constant."""
        begun, parts = time.perf_counter(), self.parts(embedding)
        model, _ = linear_baseline(parts.learn, parts.validation, None, merge=False)
        errors, runs = window_errors(model, parts.windows, self.horizons), simulation_errors(model, parts.windows)
        size = len(model.dictionary.regressors)
        seconds = time.perf_counter() - begun
        return Tried(LOOK, "linear", embedding, repr(States() + Constant()), size, size, errors, runs, seconds)

    def fitted(self, embedding: Embedding, recipe: Block) -> Dictionary | None:
        """Return the dictionary of a recipe; None if it would be too large for a look."""
        try:
            phi = recipe.fit(self.parts(embedding).learn, seed=self.seed)
        except KoopsieveError:
            return None
        return phi if len(phi.regressors) <= MAX_CANDIDATES else None

    def reprojected(self, embedding: Embedding, recipe: Block) -> Tried | None:
        """Look at the reprojected model with a few sets of a dictionary; None if it is too large for that."""
        begun, parts = time.perf_counter(), self.parts(embedding)
        phi = self.fitted(embedding, recipe)
        if phi is None:
            return None
        task = Task(parts.learn, parts.validation, parts.windows, phi, self.horizons, seed=self.seed)
        point = ReprojectedSearch(SimulationSieve(rows=FIT_ROWS)).look(task)
        size, seconds = len(phi.regressors), time.perf_counter() - begun
        return Tried(LOOK, "reprojected", embedding, repr(recipe), size, point.size, point.errors, point.runs, seconds)


def planned(
    divided: Parts,
    dictionary: Block | Dictionary | str,
    delays: Sequence[Embedding] | str,
    forms: Sequence[str],
    horizons: tuple[int, ...],
    seed: int,
    progress: Progress,
) -> Planned:
    """Decide what to search.

    Raises
    ------
    KoopsieveError
        If a fitted dictionary is given and the delays are to be found.
    """
    grid = _linear_grid(divided, horizons) if isinstance(delays, str) else tuple(delays)
    if len(grid) > 1 and isinstance(dictionary, Dictionary):
        raise KoopsieveError(
            "To find the delays, give a recipe such as States() + Monomials(2), which is fitted to each number of "
            "delays. Got a fitted Dictionary, whose delays are decided. Leave delays out."
        )
    deepest = Embedding(
        *(max(getattr(e, name) for e in grid) for name in ("state_delays", "input_delays", "inputs_at"))
    )
    if len(grid) == 1 and not isinstance(dictionary, str):
        return Planned((Plan(grid[0], dictionary, tuple(forms)),), (), deepest)
    looking = Looking.at(divided, deepest, horizons, seed)
    plain = [looking.linear(embedding) for embedding in progress(grid, "Looking at delays", len(grid))]
    line = plain[_simplest(plain)].embedding
    offered = [dictionary] if isinstance(dictionary, Block) else families(divided.learn.n_samples)
    signals = divided.learn.signals
    if tuple(forms) == ("linear",):
        shallow = _deepest_affordable(looking, offered, grid, line)
        return Planned(_linear_plans(offered, shallow, signals), tuple(plain), deepest)
    near = {*NONLINEAR_DELAYS, line.state_delays} if isinstance(delays, str) else {e.state_delays for e in grid}
    same = [one for one in grid if one.inputs_at == line.inputs_at and one.state_delays in near]
    pairs = [(embedding, one) for embedding in same for one in offered]
    looks = list(_looks(looking, progress(pairs, "Looking at dictionaries", len(pairs)), signals))
    embedding, family = looks[_simplest([one.tried for one in looks])].pair if looks else (line, offered[0])
    plans = _plans(forms, embedding, family, signals)
    if "linear" in forms:
        linear = tuple(dict.fromkeys([family, offered[-1]]))
        plans = (*_linear_plans(linear, _deepest_affordable(looking, linear, grid, line), signals), *plans)
    return Planned(plans, (*plain, *(one.tried for one in looks)), deepest)


@dataclass(frozen=True, eq=False)
class _Look:
    pair: tuple[Embedding, Block | Family]
    tried: Tried


def _looks(looking: Looking, pairs: Iterable[tuple[Embedding, Block | Family]], signals: Signals) -> Iterator[_Look]:
    """Yield a look at every pair; a dictionary that is too large with some delays is not tried with more."""
    too_large: set[Block | Family] = set()
    for embedding, offered in pairs:
        recipe = None if offered in too_large else _recipe(embedding, offered, signals, sees_inputs=True)
        tried = None if recipe is None else looking.reprojected(embedding, recipe)
        if tried is None:
            too_large.add(offered)
        else:
            yield _Look((embedding, offered), tried)


def _deepest_affordable(
    looking: Looking, offered: Sequence[Block | Family], grid: Sequence[Embedding], line: Embedding
) -> Embedding:
    """Return the delays that suit plain linear models, or fewer where a dictionary that was given is then too large."""
    given = [one for one in offered if isinstance(one, Block)]
    fewer = [one for one in grid if one.inputs_at == line.inputs_at and one.lost <= line.lost]
    for embedding in sorted(fewer, key=lambda one: -one.lost):
        if all(looking.fitted(embedding, recipe) is not None for recipe in given):
            return embedding
    return line


def _recipe(embedding: Embedding, offered: Block | Family, signals: Signals, sees_inputs: bool) -> Block | None:
    return offered if isinstance(offered, Block) else offered.recipe(signals, embedding, sees_inputs)


def _linear_plans(offered: Sequence[Block | Family], line: Embedding, signals: Signals) -> tuple[Plan, ...]:
    """Return the linear form with the delays that suit plain linear models."""
    recipes = [_recipe(line, one, signals, sees_inputs=False) for one in offered]
    return tuple(Plan(line, recipe, ("linear",)) for recipe in recipes if recipe is not None)


def _plans(forms: Sequence[str], embedding: Embedding, family: Block | Family, signals: Signals) -> tuple[Plan, ...]:
    """Return the other forms with what looked best; in the bilinear form the products with inputs are its own."""
    found = [
        (form, _recipe(embedding, family, signals, sees_inputs=form == "reprojected"))
        for form in forms
        if form != "linear"
    ]
    return tuple(Plan(embedding, recipe, (form,)) for form, recipe in found if recipe is not None)


def _linear_grid(divided: Parts, horizons: tuple[int, ...]) -> tuple[Embedding, ...]:
    """Return the delays to look at: so few that most of every held-out stretch is left, the fewest first."""
    signals = divided.learn.signals
    if not signals.embedding.trivial:
        return (signals.embedding,)
    room = max(len(x) for x in divided.windows.states) - horizons[-1] - 2
    learn = divided.learn.states if isinstance(divided.learn, Trajectories) else ()
    usual = min(_usual_length(divided.windows.states), _usual_length(learn) if learn else room)
    most = max(min(room, usual) // 4, 0)
    timings = ("k", "k+1") if signals.inputs else ("k",)
    counts = [d for d in LINEAR_DELAYS if d <= most]
    return tuple(Embedding(d, d if signals.inputs else 0, timing) for d in counts for timing in timings)


def _usual_length(episodes: Sequence[FloatArray]) -> int:
    """Return the length that episodes reach which hold nine tenths of the samples."""
    lengths = np.sort([len(x) for x in episodes])
    return int(lengths[np.searchsorted(np.cumsum(lengths), 0.1 * lengths.sum())])


@dataclass(frozen=True)
class Family:
    """Polynomials up to a degree, or kernels: a kind of dictionary that suits any delays.

    Parameters
    ----------
    degree : int
        Of the polynomials; 0 for kernels.
    kernels : int
        How many; 0 for polynomials.
    """

    degree: int = 0
    kernels: int = 0

    def recipe(self, signals: Signals, embedding: Embedding, sees_inputs: bool) -> Block | None:
        """Return the recipe, with functions of the inputs too or of the state alone; None if it would be too large."""
        joint = sees_inputs and bool(signals.inputs)
        of, plain = (STATES_AND_INPUTS, States() + Constant() + Inputs()) if joint else (STATES, States() + Constant())
        if self.kernels:
            return plain + SquaredExponential(self.kernels, standardize=True, of=of)
        depth = affordable_depth(signals, embedding, self.degree, joint)
        return None if depth is None else plain + Monomials(self.degree, of=of, depth=depth)


def families(samples: int | None) -> tuple[Family, ...]:
    """Return what is looked at: polynomials of degree two and three, kernels as many as the samples allow."""
    count = MAX_KERNELS if samples is None else min(MAX_KERNELS, max(samples // SAMPLES_PER_KERNEL, 1))
    return Family(degree=2), Family(degree=3), Family(kernels=count)


def affordable_depth(signals: Signals, embedding: Embedding, degree: int, joint: bool) -> int | None:
    """Return how far back products reach so that there are at most `MAX_PRODUCTS`.

    None where even those of the newest samples are more; but of degree two these are always offered.
    """
    depths = embedding.depths(len(signals.outputs), len(signals.inputs))
    for depth in range(embedding.lost, -1, -1):
        coordinates = int((depths <= depth).sum()) + (len(signals.inputs) if joint else 0)
        if comb(coordinates + degree, degree) <= MAX_PRODUCTS:
            return depth
    return 0 if degree == 2 else None


def _simplest(looks: Sequence[Tried]) -> int:
    """Return which of the looks is the simplest that is as good as the best."""
    order = sorted(range(len(looks)), key=lambda i: looks[i].candidates)
    best = simplest_as_good([looks[i].errors.blocks for i in order], [looks[i].runs for i in order])
    return order[best]
