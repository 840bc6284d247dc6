"""The parts of the data of one run: to learn from, to validate on, to judge on, and the folds of few data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from koopsieve._display import Facts, Shown
from koopsieve._types import FloatArray, KoopsieveError, or_one
from koopsieve.data import Embedding, Stream, Trajectories, embedded
from koopsieve.data.provenance import Counts, Provenance
from koopsieve.data.splitting import Stretch
from koopsieve.evaluate import Errors, judge, simulation_errors
from koopsieve.evaluate.horizon_errors import spread
from koopsieve.evaluate.judgement import LONGEST_RUN, MIN_STEPS
from koopsieve.forms import Model
from koopsieve.forms.task import MAX_WINDOW, MIN_WINDOW
from koopsieve.sifting.settings import Data

MAX_RUN_ERROR = 3.0  # error of long runs, relative to the variance; that of another record of the same plant is 2
MAX_WHOLE_RUN_ERROR = (
    100.0  # the same of runs along whole episodes; the best model of a plant that integrates drifts too
)
LITTLE = 0.05  # of the width of a range, beyond which a sample counts as outside
MAX_UNCUT_ROWS = 20_000  # samples of whole episodes that a candidate is simulated along


@dataclass(frozen=True, eq=False, repr=False)
class EvaluationData(Shown):
    """The data that the errors of the result are of.

    Parameters
    ----------
    on : str
        "test" for data that came with the call, "held-out" for a part of the data, "validation" where there is neither:
        then the sifted model was chosen on them, and its errors there are those before it learned from them too.
    data : Trajectories
        The model's delays embedded.
    truth : Trajectories, optional
        The same without measurement noise, where that is known.
    """

    on: str
    data: Trajectories
    truth: Trajectories | None = None

    def _facts(self) -> Facts:
        return {"on": self.on, "samples": str(self.data.n_samples)}


@dataclass(frozen=True, eq=False)
class Fold:
    """A part of the learning data to compare models on, and the rest of all data to fit them to.

    Predictions start from samples before the part, which others learn from; what is predicted is in the part.

    Parameters
    ----------
    learn : Trajectories
    windows : Trajectories
        Of each stretch the longest piece that stays in the range of what is learned from.
    whole : Trajectories
        The whole part.
    """

    learn: Trajectories
    windows: Trajectories
    whole: Trajectories


@dataclass(frozen=True, eq=False)
class Parts:
    """The data in their parts: as they were measured, or with delays embedded.

    Parameters
    ----------
    learn, validation : Trajectories or Stream
    windows : Trajectories
        The validation data in memory: all of them, or a sample of a stream.
    lead : int
        Samples at the start of each of these that are learned from; delays reach into them, and predictions start
        after them. They are gone where delays are embedded.
    evaluation : EvaluationData
        What errors are reported on.
    validated : bool
        Whether anything was held out for validation.
    horizons : tuple of int
        Steps ahead that were asked for, as far as the data allow them.
    given : tuple
        The data as they came: to learn from, to validate on, to judge on.
    held : int
        Number of validation samples, of a stream counted while it was read.
    transitions : float, optional
        Number of transitions that the final model was learned from, known after it was learned. Streams whose length is
        not known are counted by it.
    cuts : tuple
        Where there are few data: the stretches of the learning part that each fold holds out.
    folds : tuple of Fold
        The same with delays embedded.
    uncut : Trajectories, optional
        Learning and validation data together as they were measured, for long runs; None if they are read from a stream.
    whole : bool
        Whether these are all of them, and the validation data were cut out.
    """

    learn: Data
    validation: Data
    windows: Trajectories
    evaluation: EvaluationData
    validated: bool
    horizons: tuple[int, ...]
    given: tuple[object, ...] = ()
    held: int = 0
    transitions: float | None = None
    cuts: tuple[tuple[Stretch, ...], ...] = ()
    folds: tuple[Fold, ...] = ()
    uncut: Trajectories | None = None
    whole: bool = False
    lead: int = 0

    @property
    def rows(self) -> float:
        """How many samples there are to learn from; without end where a stream does not say it."""
        return np.inf if self.learn.n_samples is None else self.learn.n_samples

    @cached_property
    def variance(self) -> FloatArray:
        """The variance of every output in the learning part, as far as it is in memory, and on the windows."""
        n, learn = len(self.windows.output_names), self.learn.states if isinstance(self.learn, Trajectories) else ()
        seen = np.concatenate([x[:, :n] for x in (*learn, *self.windows.states)])
        variance: FloatArray = spread(seen) / len(seen)
        return or_one(variance)

    @property
    def provenance(self) -> Provenance:
        """Where the data come from, and all that was done to them until they were used.

        Of a stream it is known only how much was read.
        """
        used = (self.learn, self.validation, *([] if self.evaluation.on == "validation" else [self.evaluation.data]))
        there = [one.provenance for one in self.given if isinstance(one, Trajectories)]
        steps = [one.provenance for one in used if isinstance(one, Trajectories)]
        streams = [one for one in self.given if isinstance(one, Stream)]
        if not streams:
            return replace(Provenance.join(there), steps=Provenance.join([*there, *steps]).steps)
        known = [one.n_samples for one in streams]
        rows = sum(self.samples.values()) if None in known else sum(count or 0 for count in known)
        notes = ("Read as a stream, piece by piece.", *(note for one in streams for note in one.notes or ()))
        return Provenance.join([*there, Provenance(steps=(Counts(rows_read=rows, notes=notes),))])

    @property
    def samples(self) -> dict[str, int]:
        """How many samples there are to learn from, to validate on and to judge on, and how many folds."""
        held, learn = self.held if self.validated else 0, self.learn.n_samples
        if learn is None:
            learn = max(round(self.transitions or 0) - held, 0)
        judged = 0 if self.evaluation.on == "validation" else self.evaluation.data.n_samples
        return {"learn": learn, "validation": held, "judged": judged, "folds": len(self.folds)}

    def drifts(self, model: Model) -> bool:
        """Tell whether runs along the uncut data end up further from them than another record of the same plant (D79).

        Folds and validation windows may be too short to show it.
        """
        if self.uncut is None:
            return False
        return bool(simulation_errors(model, self.uncut, self.variance, least=1).mean() > MAX_RUN_ERROR)

    def whole_runs(self, model: Model) -> float:
        """Return the mean error of runs along whole episodes; 0 where the data are read from a stream."""
        if self.uncut is None:
            return 0.0
        return float(simulation_errors(model, self.uncut, self.variance, least=1, longest=LONGEST_RUN).mean())

    def runs_away(self, model: Model) -> bool:
        """Tell whether a run along a whole episode loses the data: a thousand steps may not show a slow growth."""
        return self.whole_runs(model) > MAX_WHOLE_RUN_ERROR

    def end_to_end(self, model: Model) -> float:
        """Return the mean error of runs from the start of the stretches learned from to their end; 0 of streams.

        Other runs are at most `LONGEST_RUN` steps long, which is little where a record is sampled fast.
        """
        if not isinstance(self.learn, Trajectories):
            return 0.0
        return float(simulation_errors(model, self.learn, self.variance, least=1, longest=self.learn.n_samples).mean())

    def errors(self, model: Model, before: Model) -> Errors:
        """Return a model's errors where it is judged; on validation data those of the model that had not seen them."""
        judged = before if self.evaluation.on == "validation" else model
        return judge(judged, self.evaluation.data, self.horizons, self.evaluation.truth)

    def embedded(self, embedding: Embedding, deepest: Embedding | None = None) -> Parts:
        """Return the parts with delays.

        Windows of models with fewer delays than `deepest` are cut, so that all models that are compared start at the
        same samples.
        """
        learn, held = embedded(self.learn, embedding), embedded(self.validation, embedding)
        learn.signals.require_same(held.signals, "Learning and validation data")
        deepest = embedding if deepest is None else deepest
        windows = trimmed(embedded(self.windows, embedding), deepest, self.lead)
        cuts = self.cuts if all(self._long_enough(cut, deepest) for cut in self.cuts) else ()
        folds = tuple(self._fold(cut, embedding, deepest) for cut in cuts)
        same = replace(self, learn=learn, validation=held, windows=windows, folds=folds, lead=0)
        if self.evaluation.on == "validation":
            return replace(same, evaluation=EvaluationData("validation", windows))
        judged = embedded(self.evaluation.data, embedding)
        learn.signals.require_same(judged.signals, "Learning and test data")
        truth = None if self.evaluation.truth is None else embedded(self.evaluation.truth, embedding)
        return replace(same, evaluation=EvaluationData(self.evaluation.on, judged, truth))

    def _long_enough(self, held: Sequence[Stretch], deepest: Embedding) -> bool:
        """Tell whether a fold holds the longest horizon, and the rest the windows that fits simulate.

        It is asked for the deepest delays, so that all searches have the same folds.
        """
        if not isinstance(self.learn, Trajectories) or not isinstance(self.validation, Trajectories):
            return False
        lost = deepest.lost + deepest.input_lead + 1
        rest = [last - first for _, first, last in _complement(held, self.learn)] + [
            len(x) for x in self.validation.states
        ]
        window = int(np.clip(self.horizons[-1], MIN_WINDOW, MAX_WINDOW))
        return max(rest) - lost >= window and max(last - first for _, first, last in held) - lost >= self.horizons[-1]

    def _fold(self, held: Sequence[Stretch], embedding: Embedding, deepest: Embedding) -> Fold:
        learn, held_out = self.learn, self.validation
        if not isinstance(learn, Trajectories) or not isinstance(held_out, Trajectories):
            raise TypeError("Only data in memory are cut into folds.")
        reach = deepest.lost - learn.embedding.lost
        rest = [
            piece for piece in _complement(held, learn) if piece[2] - piece[1] > deepest.lost + deepest.input_lead + 2
        ]
        others = _joined(learn.stretches(rest), held_out)
        known = _in_range(held, learn, others, least=self.horizons[-1] + deepest.lost + deepest.input_lead + 2)

        def started_before(some: Sequence[Stretch]) -> Trajectories:
            before = learn.stretches([(e, max(first - reach, 0), last) for e, first, last in some])
            return trimmed(embedded(before, embedding), deepest)

        return Fold(embedded(others, embedding), started_before(known), started_before(held))


def deepest_of(grid: Sequence[Embedding]) -> Embedding:
    """Return delays that reach as far as any of several, and the later timing of the inputs."""
    latest = max(grid, key=lambda one: one.input_lead).inputs_at
    return Embedding(max(e.state_delays for e in grid), max(e.input_delays for e in grid), latest)


def _in_range(held: Sequence[Stretch], data: Trajectories, others: Trajectories, least: int) -> list[Stretch]:
    """Return the longest piece of every stretch that stays in the range of other data; all of it if that is too short.

    Ranges are those of the outputs and inputs, a little wider. Short stretches are needed whole.
    """
    n, found = data.n_outputs, []
    ranges = [_a_little_wider(part) for part in ([x[:, :n] for x in others.states], others.inputs)]
    for episode, first, last in held:
        stays = np.ones(last - first, dtype=bool)
        for values, (low, high) in zip((data.states[episode][:, :n], data.inputs[episode]), ranges, strict=True):
            some = values[first:last]
            stays[: len(some)] &= ((some >= low) & (some <= high)).all(axis=1)
        ends = np.flatnonzero(np.diff(np.concatenate([[0], stays, [0]]))).reshape(-1, 2).tolist()
        begin, end = max(ends, key=lambda one: one[1] - one[0], default=(0, 0))
        cut = end - begin >= least and last - first >= MIN_STEPS
        found.append((episode, first + begin, first + end) if cut else (episode, first, last))
    return found


def _a_little_wider(parts: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Return the least and the largest values of all parts, moved apart by `LITTLE` of their distance."""
    seen = np.concatenate(parts)
    low, high = seen.min(axis=0), seen.max(axis=0)
    return low - LITTLE * (high - low), high + LITTLE * (high - low)


def _complement(held: Sequence[Stretch], data: Trajectories) -> list[Stretch]:
    """Return what the stretches, at most one per episode, leave of every episode."""
    of = {episode: (first, last) for episode, first, last in held}
    pieces = []
    for episode, x in enumerate(data.states):
        first, last = of.get(episode, (len(x), len(x)))
        pieces += [(episode, 0, first), (episode, last, len(x))]
    return [piece for piece in pieces if piece[2] - piece[1] > 1]


def _joined(one: Trajectories, other: Trajectories) -> Trajectories:
    sources = (*one.provenance.sources, *other.provenance.sources)
    both = replace(one.provenance, sources=sources)
    return replace(one, states=one.states + other.states, inputs=one.inputs + other.inputs, provenance=both)


def trimmed(data: Trajectories, deepest: Embedding, lead: int = 0) -> Trajectories:
    """Return what a deeper embedding would have left of each episode, without the first `lead` samples."""
    first, last = max(deepest.lost, lead) - data.embedding.lost, deepest.input_lead - data.embedding.input_lead
    if not first and not last:
        return data
    kept = [(e, first, len(x) - last) for e, x in enumerate(data.states) if len(x) - last - first > 1]
    if not kept:
        longest = max(map(len, data.states))
        delays = f" for {deepest.lost} delays" if deepest.lost else ""
        raise KoopsieveError(
            f"The data to choose on are too short{delays}: their longest episode has {longest} samples. Expected at "
            f"least {first + last + 2}. Give more data{', or try fewer delays' if delays else ''}."
        )
    return data.stretches(kept)
