"""What the linear and the bilinear form share: the lifted state is carried, and outputs are read from it."""

from __future__ import annotations

from abc import ABC

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.dictionary import Dictionary
from koopsieve.model.forms import Model


class LiftedStateModel(Model, ABC):
    """A model that lifts the state once, at the start; subclasses declare A and C as fields."""

    A: FloatArray
    C: FloatArray

    @property
    def carried_size(self) -> int:
        """Number of observables."""
        return len(self.A)

    def start(self, states: FloatArray) -> FloatArray:
        """Lift the states."""
        return lift(self.dictionary, states)

    def read(self, carried: FloatArray) -> FloatArray:
        """Return Cφ."""
        with np.errstate(over="ignore", invalid="ignore"):
            outputs: FloatArray = carried @ self.C.T
        return outputs


def lift(dictionary: Dictionary, states: FloatArray) -> FloatArray:
    """Return the lifted states; a state that is not finite, or too large for an observable, gives nan or inf."""
    finite = np.isfinite(states).all(axis=1)
    with np.errstate(all="ignore"):
        if finite.all():
            return dictionary(states)
        lifted = np.full((len(states), dictionary.size), np.nan)
        if finite.any():
            lifted[finite] = dictionary(states[finite])
    return lifted
