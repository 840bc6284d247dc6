"""What a hidden model is learned from: standardised episodes, windows of them, and the linear start.

Comes in: parts of the data with delays embedded. Goes out: a `HiddenLearning` that makes problems of coefficients, and
models in the data's own units from their solutions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from koopsieve._types import FloatArray, magnitude, or_one
from koopsieve.data import Trajectories
from koopsieve.data.episodes import usual_length
from koopsieve.dictionary import Dictionary
from koopsieve.evaluate.judgement import RANGE_FACTOR
from koopsieve.forms.hidden.encoder import encoded, fitted_encoder, regressed_encoder
from koopsieve.forms.hidden.model import HiddenModel
from koopsieve.forms.hidden.problem import (
    HiddenProblem,
    boxed,
    problem_of,
    rescaled,
    with_linear,
    without_unused_states,
)
from koopsieve.forms.hidden.start import LinearStateSpace, Subspace
from koopsieve.forms.hidden.structure import BOUND
from koopsieve.sieve.simulation.windows import Episode, Windows, draw_windows

_SHORT = 20  # steps of the windows that the encoder is fitted to
_SHORT_WINDOWS = 500
_CHECKED_STARTS, _CHECKED_STEPS = 1000, 100  # from which a model must come back, and how soon
_WIDE, _NARROW = 1.0, 0.25  # share of the range of simulated states by which they may leave it
_BURN_SHARE = 0.2  # of a window, at most, that does not count


@dataclass(frozen=True, eq=False)
class Scaling:
    """Mean and deviation of every output and input.

    Parameters
    ----------
    outputs, inputs : array, shape (2, n_outputs) and (2, l)
        Means, then deviations; the deviation of a signal that does not change is one.
    """

    outputs: FloatArray
    inputs: FloatArray

    @classmethod
    def of(cls, data: Trajectories) -> Scaling:
        """Return that of some data."""
        outputs = np.concatenate([x[:, : data.n_outputs] for x in data.states])
        return cls(_mean_and_deviation(outputs), _mean_and_deviation(np.concatenate(data.inputs)))

    def line(self, dictionary: Dictionary) -> FloatArray:
        """Return means and deviations of the columns of a delay line, shape (2, n_x)."""
        signals = dictionary.signals
        known = dict(zip(signals.outputs + signals.inputs, np.hstack([self.outputs, self.inputs]).T, strict=True))
        return np.array([known[name] for name, _ in signals.samples[: len(signals.state_names)]]).T


@dataclass(frozen=True, eq=False)
class HiddenSolution:
    """A fitted state space, standardised: its problem with the terms and states that are used.

    Parameters
    ----------
    problem : HiddenProblem
    coef : array, shape (n + outputs, m)
    encoder : array, shape (n, 1 + n_x)
        Of a one and the standardised delay line.
    """

    problem: HiddenProblem
    coef: FloatArray
    encoder: FloatArray


@dataclass(frozen=True, eq=False)
class HiddenLearning:
    """Standardised data to learn from.

    Parameters
    ----------
    dictionary : Dictionary
        The delay line and a constant.
    scaling : Scaling
    episodes : tuple of (lines, inputs)
        Standardised.
    windows : Windows
        Long ones, to simulate.
    burn : int
        Steps of each that do not count.
    """

    dictionary: Dictionary
    scaling: Scaling
    episodes: tuple[Episode, ...]
    windows: Windows
    burn: int

    @classmethod
    def of(
        cls,
        parts: tuple[Trajectories, ...],
        dictionary: Dictionary,
        scaling: Scaling,
        length: int,
        count: int,
        burn: int,
        seed: int,
    ) -> HiddenLearning:
        """Standardise, and draw windows.

        Parameters
        ----------
        length, count : int
            Steps of a window, and windows, at most; episodes that hold half of the samples are longer than a window.
        """
        mean, deviation = scaling.line(dictionary)
        episodes = tuple(
            ((x - mean) / deviation, (u - scaling.inputs[0]) / scaling.inputs[1])
            for part in parts
            for x, u in zip(part.states, part.inputs, strict=True)
        )
        length = min(length, max(2 * usual_length(len(u) for _, u in episodes) // 3, 1))
        rows = sum(len(u) for _, u in episodes)
        count = int(np.clip(3 * rows // length, 4, count))
        outputs = len(dictionary.signals.outputs)
        windows = draw_windows(episodes, outputs, length, count, np.random.default_rng(seed))
        return cls(dictionary, scaling, episodes, windows, min(burn, int(_BURN_SHARE * length)))

    @property
    def rows(self) -> int:
        """Number of steps in the data."""
        return sum(len(u) for _, u in self.episodes)

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        return len(self.dictionary.signals.outputs)

    @property
    def inputs(self) -> int:
        """Number of inputs."""
        return len(self.dictionary.signals.inputs)

    @cached_property
    def subspace(self) -> Subspace:
        """What subspace identification knows of the data."""
        return Subspace.of(self.episodes, self.dictionary.signals.embedding, self.outputs, self.inputs)

    @cached_property
    def bound(self) -> float:
        """Standard deviations at which states are held: beyond what signals of this kind do."""
        largest = max(max(np.abs(x).max(initial=0.0), np.abs(u).max(initial=0.0)) for x, u in self.episodes)
        return max(BOUND, 2 * float(largest))

    def problem(self, space: LinearStateSpace, degree: int) -> HiddenProblem:
        """Return the problem of all terms up to a degree."""
        return problem_of(space, self.windows, self.burn, degree, self.bound)

    def re_encoded(self, space: LinearStateSpace) -> LinearStateSpace:
        """Return a linear system that was fitted, with the encoder of its own states: see `restarted`."""
        problem = self.problem(space, 1)
        coef = with_linear(problem.structure.terms, space.rows)
        return replace(space, encoder=self._regressed(problem, coef, plain_encoder(space))[:, 1:])

    def restarted(self, problem: HiddenProblem, coef: FloatArray, rough: FloatArray) -> HiddenProblem:
        """Return the problem with windows that start where simulations with `coef` come, if that lowers the loss.

        What states mean moves while a model is fitted. From starts where no simulation comes products run away, and
        the fit leaves them out (D88).
        """
        other = replace(problem, starts=encoded(self._regressed(problem, coef, rough), self.windows.starts))
        return min((problem, other), key=lambda one: one.loss(coef))

    def _regressed(self, problem: HiddenProblem, coef: FloatArray, rough: FloatArray) -> FloatArray:
        steps = self.windows.length - self.burn
        return regressed_encoder(problem.structure, coef, rough, self.episodes, self.burn, steps)

    @cached_property
    def short(self) -> Windows:
        """Short windows, to fit an encoder to."""
        steps = min(_SHORT, self.windows.length)
        rng = np.random.default_rng(1)
        return draw_windows(self.episodes, self.outputs, steps, _SHORT_WINDOWS, rng)

    @cached_property
    def checked(self) -> Windows:
        """Many starts, from which a model must come back."""
        steps = min(_CHECKED_STEPS, self.windows.length)
        return draw_windows(self.episodes, self.outputs, steps, _CHECKED_STARTS, np.random.default_rng(2))

    def solution(self, problem: HiddenProblem, coef: FloatArray, rough: FloatArray) -> HiddenSolution:
        """Return fitted coefficients in their final coordinates, with their encoder.

        Parameters
        ----------
        problem : HiddenProblem
        coef : array, shape (n + outputs, m)
        rough : array, shape (n, 1 + n_x)
            An encoder of standardised delay lines to begin with.
        """
        problem, coef, kept = without_unused_states(problem, coef)
        used = np.flatnonzero((coef != 0).any(axis=0) | (problem.structure.terms.degrees == 0))
        small, coef, unit = rescaled(problem.select(used), coef[:, used])
        steps = self.windows.length - self.burn
        encoder = fitted_encoder(
            small.structure, coef, rough[kept] / unit[:, None], self.episodes, self.short, self.burn, steps
        )
        small = replace(small, starts=encoded(encoder, self.windows.starts))
        return HiddenSolution(self._held(small, coef, encoder), coef, encoder)

    def _held(self, problem: HiddenProblem, coef: FloatArray, encoder: FloatArray) -> HiddenProblem:
        """Return the problem with its states held near where simulations come.

        The limits are wide if no state is at one after a while, from many starts, with starts and inputs at 1.5 times
        their deviation from the mean; else narrow, and what runs away is turned back sooner.
        """
        wide, windows = boxed(problem, coef, _WIDE), self.checked
        limits = wide.structure.limits
        starts = np.clip(RANGE_FACTOR * encoded(encoder, windows.starts), *limits)
        run = wide.structure.run(coef, starts, RANGE_FACTOR * windows.inputs)[:, windows.length // 2 :]
        states = run[:, :, : wide.structure.states]
        inside = ((states > limits[0]) & (states < limits[1])).all()
        return wide if inside else boxed(problem, coef, _NARROW)

    def model(self, found: HiddenSolution) -> HiddenModel:
        """Return the model in the data's own units."""
        structure, (middle, deviation) = found.problem.structure, self.scaling.outputs
        n, mean, own = structure.states, self.scaling.line(self.dictionary), found.coef.copy()
        own[n:] *= deviation[:, None]
        own[n:, int(np.argmin(structure.terms.degrees))] += middle
        weights = found.encoder[:, 1:] / mean[1]
        held = middle + self.bound * np.outer([-1.0, 1.0], deviation)
        return HiddenModel(
            coef=own,
            powers=structure.terms.powers.astype(float),
            encoder=np.hstack([(found.encoder[:, 0] - weights @ mean[0])[:, None], weights]),
            center=self.scaling.inputs[0],
            scale=self.scaling.inputs[1],
            limits=np.hstack([structure.limits, held]),
            dictionary=self.dictionary,
        )

    def of_other(self, parts: tuple[Trajectories, ...], seed: int) -> HiddenLearning:
        """Return the same of other data, in the units of these."""
        count, length = self.windows.count, self.windows.length
        return self.of(parts, self.dictionary, self.scaling, length, count, self.burn, seed)


def plain_encoder(space: LinearStateSpace) -> FloatArray:
    """Return the encoder of a linear start with a column for the constant."""
    return np.hstack([np.zeros((len(space.encoder), 1)), space.encoder])


def _mean_and_deviation(values: FloatArray) -> FloatArray:
    unit = magnitude(values) if values.size else 1.0
    mean, deviation = np.mean(values / unit, axis=0), np.std(values / unit, axis=0)
    return np.stack([mean, or_one(deviation)]) * unit
