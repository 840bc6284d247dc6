"""What trajectories in memory and streams have in common: signals, and how they show."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from koopsieve._display import Shown, shorten
from koopsieve.data.embedding import Embedding
from koopsieve.data.signals import Signals


class Recorded(Shown, ABC):
    """Base of `Trajectories` and `Stream`, which declare `signals` as a field."""

    signals: Signals

    @property
    def dt(self) -> float:
        """Sample time."""
        return self.signals.dt

    @property
    def embedding(self) -> Embedding:
        """Which delays the state holds."""
        return self.signals.embedding

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the state columns."""
        return self.signals.state_names

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the input columns."""
        return self.signals.inputs

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the measured outputs."""
        return self.signals.outputs

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
