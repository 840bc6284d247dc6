"""Of what a block's functions are functions: of the state, or of the state and the input that acts on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.dictionary.observables import Fitted, Observables, Samples

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
        """Yield all points, block by block."""
        return self.samples.state_blocks() if self.of == STATES else self.samples.acted_blocks()

    def fitted(self, family: Observables) -> Fitted:
        """Return the family in its role: observables of the state, or drives."""
        return Fitted(observables=family) if self.of == STATES else Fitted(drives=family)
