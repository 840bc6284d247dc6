"""Stage five: from inclusion probabilities to the observables that the outputs depend on (the paper's Algorithm 2)."""

from koopsieve.reduction.graph import ancestors, condense, strong_components, threshold_inclusion
from koopsieve.reduction.reduction import Reduction, reduce
from koopsieve.reduction.strength import Strength, strength

__all__ = [
    "Reduction",
    "Strength",
    "ancestors",
    "condense",
    "reduce",
    "strength",
    "strong_components",
    "threshold_inclusion",
]
