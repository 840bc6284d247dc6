"""Delay embedding as a value: which past samples belong to the state, and which input acts on the next output.

The state is the delay line (y[k], y[k-1], …, y[k-a], v[k-1], …, v[k-b]), where v is the input that acts in a step: v[k]
is u[k], or u[k+1] where the input sampled together with the next output already acts on it. One step shifts the line by
the new output and the input, exactly; there is nothing to learn in that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from koopsieve._types import FloatArray, IndexArray, KoopsieveError, whole_number

TIMINGS = ("k", "k+1")


@dataclass(frozen=True)
class Embedding:
    """How many past samples the state holds, and which input acts on y[k+1].

    Parameters
    ----------
    state_delays, input_delays : int
        How many samples of outputs and of inputs the state reaches back.
    inputs_at : {"k", "k+1"}
        Which sample of the input acts on y[k+1] directly. With "k+1" an episode also loses its last sample, because the
        input that acts after it is not known.
    dead_time : int
        How many of the newest input samples act on nothing. The state holds them, because they act later.

    Examples
    --------
    >>> Embedding(1, 2).names(("y",), ("u",))
    ('y', 'y[k-1]', 'u[k-1]', 'u[k-2]')
    >>> Embedding(1, 2, "k+1").names(("y",), ("u",)), Embedding(inputs_at="k+1").acting(("u",))
    (('y', 'y[k-1]', 'u[k]', 'u[k-1]'), ('u[k+1]',))
    """

    state_delays: int = 0
    input_delays: int = 0
    inputs_at: str = "k"
    dead_time: int = 0

    def __post_init__(self) -> None:
        for name in ("state_delays", "input_delays", "dead_time"):
            object.__setattr__(self, name, whole_number(f"{name}, the number of delays,", getattr(self, name)))
        if self.dead_time > self.input_delays:
            raise KoopsieveError(
                f"A dead time of {self.dead_time} samples needs as many input_delays, or no input acts. "
                f"Got {self.input_delays}."
            )
        if self.inputs_at not in TIMINGS:
            raise KoopsieveError(f'inputs_at must be "k" or "k+1". Got {self.inputs_at!r}.')

    @property
    def lost(self) -> int:
        """Samples that an episode loses at its start."""
        return max(self.state_delays, self.input_delays)

    @property
    def input_lead(self) -> int:
        """Samples that the acting input lies ahead of the state: 1 with timing "k+1"; an episode loses as many."""
        return int(self.inputs_at == "k+1")

    @property
    def history(self) -> int:
        """Rows of measured outputs that a prediction starts from."""
        return self.lost + 1

    @property
    def trivial(self) -> bool:
        """True if the state is the outputs themselves and u[k] acts."""
        return self == Embedding()

    def samples(self, outputs: Sequence[str], inputs: Sequence[str]) -> tuple[tuple[str, int], ...]:
        """Return of which signal each of the state's columns is a sample, and how many steps after k."""
        past_outputs = [(name, -delay) for delay in range(self.state_delays + 1) for name in outputs]
        past_inputs = [(name, self.input_lead - delay) for delay in range(1, self.input_delays + 1) for name in inputs]
        return (*past_outputs, *past_inputs)

    def names(self, outputs: Sequence[str], inputs: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the state's columns."""
        samples = self.samples(outputs, inputs)
        present = [sample_name(name, steps) for name, steps in samples[: len(outputs) * (self.state_delays + 1)]]
        past = [sample_name(name, steps) if steps else f"{name}[k]" for name, steps in samples[len(present) :]]
        return (*present, *past)

    def depths(self, outputs: int, inputs: int) -> IndexArray:
        """Return how many samples back each column of the state lies, and then each input.

        Inputs count from the one that acts: those that a dead time holds back are negative.

        Examples
        --------
        >>> Embedding(2, 1).depths(outputs=1, inputs=1).tolist()
        [0, 1, 2, 1, 0]
        >>> Embedding(1, 4, dead_time=3).depths(outputs=1, inputs=1).tolist()
        [0, 1, -2, -1, 0, 1, -3]
        """
        past_inputs = np.arange(1, self.input_delays + 1) - self.dead_time
        lines = (np.arange(self.state_delays + 1), outputs), (past_inputs, inputs), ([-self.dead_time], inputs)
        return np.concatenate([np.repeat(depths, signals) for depths, signals in lines])

    def acting(self, inputs: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the inputs that act in a step."""
        return tuple(sample_name(name, self.input_lead) for name in inputs)

    def embed(self, outputs: FloatArray, inputs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the states of one episode, and the inputs that act from each of them on.

        Parameters
        ----------
        outputs : array, shape (T, n)
        inputs : array, shape (T - 1, l), or one row more, which is not used

        Returns
        -------
        states : array, shape (T - lost - input_lead, n·(1 + state_delays) + l·input_delays)
        acting : array, shape (T - 1 - lost - input_lead, l)
        """
        y, v = outputs[: len(outputs) - self.input_lead], inputs[self.input_lead : len(outputs) - 1]
        lost = self.lost
        past_outputs = [y[lost - delay : len(y) - delay] for delay in range(self.state_delays + 1)]
        past_inputs = [v[lost - delay : len(y) - delay] for delay in range(1, self.input_delays + 1)]
        states = np.concatenate(past_outputs + past_inputs, axis=1)
        states.flags.writeable = False
        return states, v[lost:]

    def measured(self, states: FloatArray, acting: FloatArray, outputs: int) -> tuple[FloatArray, FloatArray, int]:
        """Return what `embed` was given, as far back as both outputs and inputs are known, and how many rows that is.

        Examples
        --------
        >>> y, u = np.arange(6.0)[:, None], 10 * np.arange(5.0)[:, None]
        >>> back, inputs, before = Embedding(2, 1).measured(*Embedding(2, 1).embed(y, u), outputs=1)
        >>> back.ravel().tolist(), inputs.ravel().tolist(), before
        ([1.0, 2.0, 3.0, 4.0, 5.0], [10.0, 20.0, 30.0, 40.0], 1)
        """
        width = acting.shape[1]
        before = min(self.state_delays, self.input_delays) if width else self.state_delays
        past = range(before, 0, -1)
        first = outputs * (1 + self.state_delays)
        y = [states[:1, outputs * delay : outputs * (delay + 1)] for delay in past]
        v = [states[:1, first + width * (delay - 1) : first + width * delay] for delay in past] if width else []
        back, inputs = np.concatenate([*y, states[:, :outputs]]), np.concatenate([*v, acting])
        if not width:
            inputs = np.empty((len(back) - 1, 0))
        return back[self.input_lead :], inputs, before - self.input_lead  # the input that acts before v[0] is not known

    def shift(self, states: FloatArray, outputs: FloatArray, acting: FloatArray) -> FloatArray:
        """Return the states (starts, columns) one step later: the delay line moved on by y[k+1] and the inputs v[k]."""
        n, width = outputs.shape[1], acting.shape[1]
        kept_outputs = n * self.state_delays
        split = n + kept_outputs
        parts = [outputs, states[:, :kept_outputs]]
        if self.input_delays:
            parts += [acting, states[:, split : split + width * (self.input_delays - 1)]]
        return np.concatenate(parts, axis=1)

    def shift_sources(self, outputs: int, inputs: int) -> IndexArray:
        """Return for every state column the column it is copied from in a step.

        Acting inputs count on after the state columns; −1 marks the outputs, which are predicted and not copied.
        """
        line = np.arange(outputs * (1 + self.state_delays) + inputs * self.input_delays, dtype=float)
        acting = len(line) + np.arange(inputs, dtype=float)
        sources: IndexArray = self.shift(line[None], np.full((1, outputs), -1.0), acting[None])[0].astype(np.intp)
        return sources

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for files."""
        known = {
            "state_delays": self.state_delays,
            "input_delays": self.input_delays,
            "inputs_at": self.inputs_at,
        }
        return {**known, "dead_time": self.dead_time} if self.dead_time else known


def sample_name(name: str, steps: int) -> str:
    """Return the name of a signal `steps` samples later (negative: earlier).

    Examples
    --------
    >>> sample_name("y", -2), sample_name("y", 0), sample_name("u", 1)
    ('y[k-2]', 'y', 'u[k+1]')
    """
    return f"{name}[k{steps:+d}]" if steps else name
