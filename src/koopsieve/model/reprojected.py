"""The reprojected form: the outputs are predicted one step ahead, the delay line is shifted, and all is lifted anew.

y[k+1] = coefᵀ·[φ(x[k]), ψ(x[k], u[k])],  x[k+1] = the delay line moved on by y[k+1] and u[k].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.dictionary import Dictionary
from koopsieve.model.forms import Linearisation, Model, require_shape

MARGIN = 1.0  # how far beyond the data, in widths of their range, a state may go before it is held back


@dataclass(frozen=True, eq=False, repr=False)
class ReprojectedModel(Model):
    """A predictor of the outputs one step ahead, lifted anew after every step.

    Parameters
    ----------
    coef : array, shape (L + drives, n_outputs)
        The next outputs from observables and drives.
    dictionary : Dictionary
        The maps φ and ψ; it knows names, sample time and delays.
    region : array, shape (2, n + l)
        Least and largest value of every state and input in the data that the model was learned from. Functions are
        evaluated at points held to a box around it, so that a prediction that leaves the data stays finite.
    """

    form: ClassVar[str] = "reprojected"

    coef: FloatArray
    dictionary: Dictionary
    region: FloatArray

    def __post_init__(self) -> None:
        require_shape("coef", self.coef, (len(self.dictionary.regressors), len(self.output_names)))
        require_shape("region", self.region, (2, len(self.dictionary.state_names) + len(self.input_names)))
        if not (self.region[0] <= self.region[1]).all():
            raise KoopsieveError("region must hold the least values first, then the largest.")

    def __repr__(self) -> str:
        terms = len(self.dictionary.regressors)
        return f"ReprojectedModel({terms} terms, outputs: {', '.join(self.output_names)}, dt={self.dt:g})"

    @property
    def carried_size(self) -> int:
        """Number of terms, which bounds what one step holds per start."""
        return len(self.dictionary.regressors)

    @cached_property
    def box(self) -> FloatArray:
        """The region with a margin: where functions are evaluated, shape (2, n + l)."""
        return widened(self.region, MARGIN)

    def start(self, states: FloatArray) -> FloatArray:
        """Carry the state itself."""
        return states

    def advance(self, carried: FloatArray, acting: FloatArray) -> FloatArray:
        """Predict the outputs and shift the delay line."""
        points = np.clip(np.concatenate([carried, acting], axis=1), *self.box)
        outputs = self.dictionary.evaluate(points) @ self.coef
        return self.signals.embedding.shift(carried, outputs, acting)

    def read(self, carried: FloatArray) -> FloatArray:
        """Return the outputs, which are the first columns of the state."""
        return carried[:, : len(self.output_names)]

    def jacobians(self, carried: FloatArray, acting: FloatArray) -> Linearisation:
        """Return the derivatives of one step around each point, rows of the delay line being exact shifts.

        A coordinate that is held back at the border of the box changes nothing.
        """
        (count, n), width, outputs = carried.shape, acting.shape[1], len(self.output_names)
        given = np.concatenate([carried, acting], axis=1)
        points = np.clip(given, *self.box)
        slope = np.einsum("ptd,tc->pcd", self.dictionary.gradient(points), self.coef) * (given == points)[:, None]
        step = np.zeros((count, n, n + width))
        step[:, :outputs] = slope
        sources = self.signals.embedding.shift_sources(outputs, width)
        step[:, np.arange(outputs, n), sources[outputs:]] = 1.0
        offset = np.zeros((count, n))
        offset[:, :outputs] = self.dictionary.evaluate(points) @ self.coef - np.einsum("pcd,pd->pc", slope, given)
        return Linearisation(step[:, :, :n], step[:, :, n:], np.eye(n)[:outputs], offset)

    def arrays(self) -> Mapping[str, FloatArray]:
        """Return the coefficients and the region."""
        return {"coef": self.coef, "region": self.region}


def widened(region: FloatArray, margin: float) -> FloatArray:
    """Return least and largest values (2, d) moved apart by `margin` times their distance, on either side."""
    reach = margin * np.maximum(region[1] - region[0], 1e-300)
    return np.stack([region[0] - reach, region[1] + reach])
