"""Delayed copies among the observables: from where each is copied in a step, so that nobody has to learn it.

The state is a delay line: y[k-1] becomes what y[k] was, u[k-1] what the input was. Where a dictionary holds a delayed
copy, its next value is therefore known exactly, provided that the copy one step younger is carried along too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from koopsieve._types import BoolArray, IndexArray
from koopsieve.dictionary.dictionary import Dictionary
from koopsieve.dictionary.states import Coordinates


@dataclass(frozen=True, eq=False)
class Shifts:
    """Observables whose next value is a copy.

    Parameters
    ----------
    targets : array of int
        The observables that are copied to.
    sources : array of int
        What each is copied from: an observable, or an input counted on after the observables.
    delays : array of int, shape (L,)
        How many steps each observable lies back; 0 for everything that is not a delayed copy.
    """

    targets: IndexArray
    sources: IndexArray
    delays: IndexArray

    @property
    def free(self) -> BoolArray:
        """Which observables have to be predicted, shape (L,)."""
        free = np.ones(len(self.delays), dtype=bool)
        free[self.targets] = False
        return free


def with_delay_line(dictionary: Dictionary) -> Dictionary:
    """Return the dictionary with the delayed copies added that its own are copied from, as further last columns."""
    signals = dictionary.signals
    sources = signals.embedding.shift_sources(len(signals.outputs), len(signals.inputs))
    held = dictionary.state_positions >= 0
    wanted = held.copy()
    for column in range(len(sources) - 1, -1, -1):  # copies come from younger columns, which stand before
        if wanted[column] and 0 <= sources[column] < len(sources):
            wanted[sources[column]] = True
    missing = np.flatnonzero(wanted & ~held)
    if not missing.size:
        return dictionary
    links = Coordinates(tuple(dictionary.state_names[i] for i in missing), missing)
    return replace(dictionary, families=(*dictionary.families, links))


def shifts(dictionary: Dictionary) -> Shifts:
    """Return which observables of a dictionary are copies of others, or of inputs, one step earlier."""
    signals, position = dictionary.signals, dictionary.state_positions
    embedding = signals.embedding
    sources = embedding.shift_sources(len(signals.outputs), len(signals.inputs))
    where = np.concatenate([position, dictionary.size + np.arange(len(signals.inputs))])
    source = np.where(sources >= 0, where[sources], -1)
    known = (position >= 0) & (source >= 0)
    delays = np.zeros(dictionary.size, dtype=np.intp)
    past = np.repeat(np.arange(embedding.state_delays + 1), len(signals.outputs))
    past_inputs = np.repeat(np.arange(1, embedding.input_delays + 1), len(signals.inputs))
    delays[position[position >= 0]] = np.concatenate([past, past_inputs])[position >= 0]
    return Shifts(position[known], source[known], delays)
