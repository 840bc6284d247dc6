"""Which terms to keep: sieves under one protocol, each of which gives a path of sizes, and the choice on it."""

from koopsieve.sieve.algorithm_2 import (
    GraphSet,
    GraphSieve,
    Reduction,
    Sieve,
    TermSet,
    ancestors,
    condense,
    reduce,
    strong_components,
    threshold_inclusion,
)
from koopsieve.sieve.horizon import HorizonEstimate, HorizonSieve
from koopsieve.sieve.simulation import SimulationSieve
from koopsieve.sieve.thresholded import Strength, coefficient_count, controllable_subspace, strength, thresholded

__all__ = [
    "GraphSet",
    "GraphSieve",
    "HorizonEstimate",
    "HorizonSieve",
    "Reduction",
    "Sieve",
    "SimulationSieve",
    "Strength",
    "TermSet",
    "ancestors",
    "coefficient_count",
    "condense",
    "controllable_subspace",
    "reduce",
    "strength",
    "strong_components",
    "threshold_inclusion",
    "thresholded",
]
