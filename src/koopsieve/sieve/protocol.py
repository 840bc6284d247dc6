"""What a sieve is: anything that gives a family of ever smaller dictionaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from koopsieve._types import IndexArray
from koopsieve.execution import Progress, silent
from koopsieve.regression import RegressionStatistics


class Candidate(Protocol):
    """A dictionary on the path."""

    @property
    def retained(self) -> IndexArray:
        """Increasing indices of the observables kept."""
        ...

    @property
    def elbo(self) -> float:
        """Bound of the evidence for it."""
        ...


class Sieve(Protocol):
    """Anything that gives a family of dictionaries of different sizes."""

    def path(self, statistics: RegressionStatistics, steps: int, progress: Progress = silent) -> Sequence[Candidate]:
        """Return about `steps` candidates, the smallest first, from statistics that hold horizons."""
        ...
