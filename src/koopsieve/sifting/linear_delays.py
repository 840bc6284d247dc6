"""The delays and the timing of the inputs that suit plain linear models, as preliminary searches tell them.

In come the divided data, out come the delays to try and a search of each. Other searches begin with what suits best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from koopsieve._types import warn_user
from koopsieve.data import Embedding, Trajectories
from koopsieve.data.episodes import usual_length
from koopsieve.sifting.choose import Complexity, Evidence, choose, horizon_weights
from koopsieve.sifting.parts import Parts, deepest_of
from koopsieve.sifting.preliminary import PreliminarySearch, SearchSummary, dead_time, under_feedback
from koopsieve.sifting.settings import SiftSettings

LINEAR_DELAYS = (0, 1, 2, 3, 5, 8, 14, 24)
DEEP_DELAYS = (40, 64)  # tried where the last of the others suits best: of a structure with many resonances, say
DELAYS_AFTER_DEAD_TIME = (1, 2, 4, 8)
MUCH_BETTER = 10.0  # times less squared error at the shortest horizon: an input explains what was sampled with it


@dataclass(frozen=True, eq=False)
class LinearSearches:
    """A plain linear model with each of several delays.

    Parameters
    ----------
    parts : Parts
        The divided data.
    fast : PreliminarySearch
        The part of them that all preliminary searches share.
    plain : sequence of SearchSummary
    """

    parts: Parts
    fast: PreliminarySearch
    plain: Sequence[SearchSummary]

    @classmethod
    def of(cls, parts: Parts, grid: Sequence[Embedding], settings: SiftSettings) -> LinearSearches:
        """Search with each of some delays."""
        fast = PreliminarySearch.on_sample(parts, deepest_of(grid), settings.seed)
        return cls(parts, fast, [fast.linear(one) for one in settings.shown(grid, "Trying delays", len(grid))])

    @property
    def grid(self) -> tuple[Embedding, ...]:
        """The delays."""
        return tuple(one.embedding for one in self.plain)

    @property
    def best(self) -> Embedding:
        """The delays that suit best."""
        return self.plain[simplest(self.plain)].embedding

    def widened(self, settings: SiftSettings) -> LinearSearches:
        """Return the searches with more delays, where the most suit best; without timings that feedback explains."""
        found = self
        deep = usual_delays(self.parts, DEEP_DELAYS) if self.best.state_delays == LINEAR_DELAYS[-1] else ()
        if deep:
            more = LinearSearches.of(self.parts, (*self.grid, *deep), settings)
            found = more if more.best in deep else self
        if not _inputs_answer(found.parts, found.plain):
            return found
        return replace(found, plain=[one for one in found.plain if not one.embedding.input_lead] or found.plain)


def linear_grid(parts: Parts) -> tuple[Embedding, ...]:
    """Return the delays to try, the fewest first; after a dead time of the inputs, if one is found, also few beyond."""
    signals = parts.learn.signals
    if not signals.embedding.trivial:
        return (signals.embedding,)
    most = _most_delays(parts)
    late = dead_time(_in_memory(parts), most - DELAYS_AFTER_DEAD_TIME[0])
    after = [d for d in DELAYS_AFTER_DEAD_TIME if late > 1 and late + d <= most]  # one sample is another timing
    return (*usual_delays(parts, LINEAR_DELAYS), *(Embedding(d, late + d, "k", late) for d in after))


def usual_delays(parts: Parts, counts: Sequence[int]) -> tuple[Embedding, ...]:
    """Return these delays in both timings, as far as they are possible."""
    signals, most = parts.learn.signals, _most_delays(parts)
    timings = ("k", "k+1") if signals.inputs else ("k",)
    few = [d for d in counts if d <= most]
    return tuple(Embedding(d, d if signals.inputs else 0, timing) for d in few for timing in timings)


def _most_delays(parts: Parts) -> int:
    """Return how many delays leave most of every held-out stretch."""
    held = [x[parts.lead :] for x in parts.windows.states]
    room = max(map(len, held)) - parts.horizons[-1] - 2
    learn = parts.learn.states if isinstance(parts.learn, Trajectories) else ()
    usual = min(usual_length(map(len, held), 0.1), usual_length(map(len, learn), 0.1) if learn else room)
    return max(min(room, usual) // 4, min(parts.lead, usual // 4), 0)


def _in_memory(parts: Parts) -> Trajectories:
    return parts.learn if isinstance(parts.learn, Trajectories) else parts.windows


def _inputs_answer(parts: Parts, plain: Sequence[SearchSummary]) -> bool:
    """Tell whether inputs seem to follow from outputs that were sampled with them, as under feedback.

    An output that such an input explains far better than earlier ones do is taken for its effect all the same: of a
    current through a cell and its voltage, say. A warning says so.
    """
    first = {lead: [one.errors.error[0] for one in plain if one.embedding.input_lead == lead] for lead in (0, 1)}
    if not first[1] or not under_feedback(_in_memory(parts), max(one.embedding.state_delays for one in plain)):
        return False
    acts = MUCH_BETTER * min(first[1]) < min(first[0])
    if acts:
        warn_user(
            "Past outputs help to predict the inputs, as where a controller acts. Yet inputs explain the outputs that "
            f"were sampled with them more than {MUCH_BETTER:g} times as well as earlier ones do, so they are taken for "
            "their causes. If your controller computes such an input from such an output, give delays with "
            "inputs_at='k', for example delays=Embedding(8, 8)."
        )
    return not acts


def simplest(tried: Sequence[SearchSummary], complexity: Complexity | None = None, short: bool = False) -> int:
    """Return which of the preliminary searches is the simplest that is as good as the best.

    By default they are the simpler the fewer terms are kept; of two timings the usual one is simpler.
    """
    return choose(evidence(tried, complexity or [(one.kept, one.embedding.input_lead) for one in tried], short))


def evidence(tried: Sequence[SearchSummary], complexity: Complexity, short: bool = False) -> Evidence:
    """Return the evidence for preliminary searches; with `short` that of the shorter horizons alone."""
    errors, runs = np.stack([one.errors.blocks for one in tried]), np.stack([one.runs for one in tried])
    if short:
        return Evidence.at_short_horizons(errors, complexity)
    weights, bounded = horizon_weights(tried[0].errors.horizons), [one.bounded for one in tried]
    return Evidence(errors, runs, complexity, [True] * len(tried), bounded, weights)
