"""Stage five: from inclusion probabilities to the observables that the outputs depend on (the paper's Algorithm 2)."""

from koopsieve.reduction.graph import ancestors, condense, strong_components, threshold_inclusion
from koopsieve.reduction.reduction import Reduction, reduce

__all__ = ["Reduction", "ancestors", "condense", "reduce", "strong_components", "threshold_inclusion"]
