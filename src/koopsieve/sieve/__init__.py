"""Stage five: which observables to keep. Two sieves under one protocol, a path of sizes, and the choice on it."""

from koopsieve.sieve.choice import choose
from koopsieve.sieve.graph import ancestors, condense, strong_components, threshold_inclusion
from koopsieve.sieve.graph_sieve import GraphCandidate, GraphSieve
from koopsieve.sieve.horizon import HorizonEstimate, HorizonSieve
from koopsieve.sieve.path import PathPoint, SievePath
from koopsieve.sieve.protocol import Candidate, Sieve
from koopsieve.sieve.reduction import Reduction, reduce
from koopsieve.sieve.sieve_path import sieve_path
from koopsieve.sieve.strength import Strength, strength
from koopsieve.sieve.thresholded import coefficient_count, controllable_subspace, thresholded

__all__ = [
    "Candidate",
    "GraphCandidate",
    "GraphSieve",
    "HorizonEstimate",
    "HorizonSieve",
    "PathPoint",
    "Reduction",
    "Sieve",
    "SievePath",
    "Strength",
    "ancestors",
    "choose",
    "coefficient_count",
    "condense",
    "controllable_subspace",
    "reduce",
    "sieve_path",
    "strength",
    "strong_components",
    "threshold_inclusion",
    "thresholded",
]
