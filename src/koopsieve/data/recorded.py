"""What trajectories in memory and streams have in common: signals, and how they show."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from koopsieve._display import Shown, shorten
from koopsieve.data.signals import Measured, Signals


class Recorded(Measured, Shown, ABC):
    """Base of `Trajectories` and `Stream`, which declare `signals` as a field."""

    signals: Signals

    @property
    def n_states(self) -> int:
        """Number of state columns n."""
        return len(self.state_names)

    @property
    def n_inputs(self) -> int:
        """Number of input columns l; 0 without inputs."""
        return len(self.input_names)

    @property
    def n_outputs(self) -> int:
        """Number of measured outputs, the first columns of the state."""
        return len(self.output_names)

    @abstractmethod
    def _counts(self) -> Mapping[str, str]:
        """Return how much there is, as it is shown."""

    def _facts(self) -> Mapping[str, str]:
        """Return what there is to say, in order."""
        named = {"states": shorten(self.state_names), "inputs": shorten(self.signals.acting) or "none"}
        if not self.embedding.trivial:
            named["outputs"] = shorten(self.output_names)
        return {**self._counts(), **named, "dt": f"{self.dt:g}"}
