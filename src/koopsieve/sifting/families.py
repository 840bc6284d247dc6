"""The dictionaries that are offered where none is given: polynomials, kernels and kinks that suit any delays."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

from koopsieve.data import Embedding, Signals
from koopsieve.dictionary import (
    Block,
    Constant,
    HardNonlinearities,
    Inputs,
    Monomials,
    SquaredExponential,
    States,
)
from koopsieve.dictionary.recipes import STATES, STATES_AND_INPUTS

MAX_PRODUCTS = 150  # monomials of states and inputs: of a longer delay line only the newest samples are multiplied
MAX_KERNELS = 100
SAMPLES_PER_KERNEL = 10


@dataclass(frozen=True)
class Family:
    """A kind of dictionary that suits any delays: polynomials up to a degree, kernels, or kinks and friction.

    Parameters
    ----------
    degree : int
        Of the polynomials; 0 for the others.
    kernels : int
        Number of kernels; 0 for the others.
    """

    degree: int = 0
    kernels: int = 0

    def recipe(self, signals: Signals, embedding: Embedding, sees_inputs: bool) -> Block | None:
        """Return the recipe, with functions of the inputs too or of the state alone; None if it would be too large."""
        joint = sees_inputs and bool(signals.inputs)
        states = States(acting=joint) + Constant()
        of, plain = (STATES_AND_INPUTS, states + Inputs()) if joint else (STATES, states)
        if self.kernels:
            return None if embedding.dead_time else plain + SquaredExponential(self.kernels, standardize=True, of=of)
        if not self.degree:
            return plain + HardNonlinearities(of=of)
        depth = affordable_depth(signals, embedding, self.degree, joint)
        return None if depth is None else plain + Monomials(self.degree, of=of, depth=depth)


def families(samples: int | None) -> tuple[Family, ...]:
    """Return what is offered: polynomials of degree two and three, kernels as many as the samples allow, kinks."""
    count = MAX_KERNELS if samples is None else min(MAX_KERNELS, max(samples // SAMPLES_PER_KERNEL, 1))
    return Family(degree=2), Family(degree=3), Family(kernels=count), Family()


def affordable_depth(signals: Signals, embedding: Embedding, degree: int, joint: bool) -> int | None:
    """Return how far back products reach so that there are at most `MAX_PRODUCTS`.

    None where even those of the newest samples are more; but of degree two these are always offered.
    """
    depths = embedding.depths(len(signals.outputs), len(signals.inputs))
    depths = depths if joint else depths[: len(depths) - len(signals.inputs)]
    for depth in range(embedding.lost, -1, -1):
        coordinates = int(((depths >= 0) & (depths <= depth)).sum())
        if comb(coordinates + degree, degree) <= MAX_PRODUCTS:
            return depth
    return 0 if degree == 2 else None
