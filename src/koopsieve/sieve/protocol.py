"""What a sieve is: anything that gives a path of ever smaller sets of terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from koopsieve._types import IndexArray
from koopsieve.execution import Progress, silent
from koopsieve.regression import RegressionStatistics


class TermSet(Protocol):
    """A set of terms on the path."""

    @property
    def retained(self) -> IndexArray:
        """Increasing indices of the terms kept."""
        ...

    @property
    def elbo(self) -> float:
        """Bound of the evidence for it; nan where a sieve does not weigh evidence."""
        ...


class Sieve(Protocol):
    """Anything that gives sets of terms of different sizes.

    What it sifts decides in which forms it can be used. The graph sieve and the horizon sieve take the
    `RegressionStatistics` of the observables, the simulation sieve a `SimulationProblem`. A sieve says so in the class
    variable `sifts`; without it, it is taken for one of statistics.
    """

    def path(self, problem: Any, path_length: int, progress: Progress = silent) -> Sequence[TermSet]:
        """Return about `path_length` sets, the smallest first."""
        ...


def sifted_by(sieve: object) -> type[Any]:
    """Return the kind of problem that a sieve sifts."""
    kind: type[Any] = getattr(sieve, "sifts", RegressionStatistics)
    return kind
