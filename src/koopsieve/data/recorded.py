"""What trajectories in memory and streams have in common: named columns at a sample time, and how they show."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from koopsieve.data.checks import check_sample_time
from koopsieve.data.display import html_table, one_line, shorten
from koopsieve.data.names import check_names


class Recorded(ABC):
    """Base of `Trajectories` and `Stream`, which declare these four as fields."""

    dt: float
    state_names: tuple[str, ...]
    input_names: tuple[str, ...]
    outputs: tuple[int, ...]

    def __post_init__(self) -> None:
        check_names(self.state_names, self.input_names)
        check_sample_time(self.dt)

    @property
    def n_states(self) -> int:
        """Number of state columns n."""
        return len(self.state_names)

    @property
    def n_inputs(self) -> int:
        """Number of input columns l; 0 without inputs."""
        return len(self.input_names)

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the measured outputs."""
        return tuple(self.state_names[i] for i in self.outputs)

    @abstractmethod
    def _counts(self) -> Mapping[str, str]:
        """Return how much there is, as it is shown."""

    def _facts(self) -> Mapping[str, str]:
        """Return what there is to say, in order."""
        named = {"states": shorten(self.state_names), "inputs": shorten(self.input_names) or "none"}
        if len(self.outputs) < self.n_states:
            named["outputs"] = shorten(self.output_names)
        return {**self._counts(), **named, "dt": f"{self.dt:g}"}

    def __repr__(self) -> str:
        return one_line(type(self).__name__, self._facts())

    def _repr_html_(self) -> str:
        return html_table(type(self).__name__, self._facts())
