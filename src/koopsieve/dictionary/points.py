"""Of what a block's functions are functions: of the state, or of the state and the input that acts on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.dictionary.observables import Fitted, Observables, Samples

_LARGEST = 1e150  # squares of larger numbers overflow
STATES, STATES_AND_INPUTS = "states", "states and inputs"


@dataclass(frozen=True, eq=False)
class Points:
    """The points to fit to, with a name per coordinate.

    Parameters
    ----------
    samples : Samples
    of : {"states", "states and inputs"}
    """

    samples: Samples
    of: str = STATES

    def __post_init__(self) -> None:
        if self.of not in (STATES, STATES_AND_INPUTS):
            raise KoopsieveError(f'of must be "{STATES}" or "{STATES_AND_INPUTS}". Got {self.of!r}.')
        if self.of == STATES_AND_INPUTS and not self.samples.signals.inputs:
            raise KoopsieveError(f'of="{STATES_AND_INPUTS}" needs data with inputs, and these have none.')

    @property
    def names(self) -> tuple[str, ...]:
        """One per coordinate."""
        signals = self.samples.signals
        return signals.state_names + (signals.acting if self.of == STATES_AND_INPUTS else ())

    @property
    def symbol(self) -> str:
        """How a point is written in names."""
        return "x" if self.of == STATES else "(x,u)"

    def blocks(self) -> Iterator[FloatArray]:
        """Yield all points, block by block.

        Raises
        ------
        KoopsieveError
            If distances between them could not be computed.
        """
        for points in self.samples.state_blocks() if self.of == STATES else self.samples.acted_blocks():
            largest = np.abs(points).max(axis=0, initial=0.0)
            if (largest > _LARGEST).any():
                column = int(np.argmax(largest))
                raise KoopsieveError(
                    f"{self.names[column]} reaches {largest[column]:.3g}, too large for distances between samples. "
                    "Scale the data, or look for samples that are far too large."
                )
            yield points

    def fitted(self, family: Observables) -> Fitted:
        """Return the family in its role: observables of the state, or drives."""
        return Fitted(observables=family) if self.of == STATES else Fitted(drives=family)
