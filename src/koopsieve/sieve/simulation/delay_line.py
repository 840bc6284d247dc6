"""The delay line: which columns of the embedded state are what, and how one step shifts them.

x[k] = (y[k], y[k-1], …, y[k-a], u[k-1], …, u[k-b]) in the column order of `koopsieve.data.embed_delays`. The shift is
exact: it is structure and never learned.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray, IndexArray


@dataclass(frozen=True)
class DelayLine:
    """The layout of an embedded state.

    Parameters
    ----------
    outputs, inputs : int
        How many there are at one instant, n and l.
    output_delays, input_delays : int
        How many samples x reaches back, a and b.
    """

    outputs: int
    inputs: int
    output_delays: int = 0
    input_delays: int = 0

    @property
    def depth(self) -> int:
        """How many columns hold outputs, present or delayed: n·(1 + a)."""
        return self.outputs * (1 + self.output_delays)

    @property
    def width(self) -> int:
        """Number of columns of x."""
        return self.depth + self.inputs * self.input_delays

    @property
    def output_columns(self) -> IndexArray:
        """The columns of x that a simulation fills with its own outputs."""
        return np.arange(self.depth)

    def shift(self, x: FloatArray, u: FloatArray, y: FloatArray) -> FloatArray:
        """Return x[k+1] from x[k], the input u[k] that acted and the output y[k+1] that followed; rows are windows."""
        n, depth = self.outputs, self.depth
        known_outputs, known_inputs = x[:, : depth - n], x[:, depth : self.width - self.inputs]
        parts = [y, known_outputs, u, known_inputs] if self.input_delays else [y, known_outputs]
        return np.concatenate(parts, axis=1)
