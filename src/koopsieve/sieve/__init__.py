"""Which regressors to keep: sieves under one protocol, a path of sizes for each form, and the choice on it."""

from koopsieve.sieve.choice import choose
from koopsieve.sieve.forms import BilinearSearch, FormSearch, LinearSearch, Outcome, ReprojectedSearch, Task
from koopsieve.sieve.graph import ancestors, condense, strong_components, threshold_inclusion
from koopsieve.sieve.graph_sieve import GraphCandidate, GraphSieve, SweptGraphSieve
from koopsieve.sieve.horizon import HorizonEstimate, HorizonSieve
from koopsieve.sieve.path import PathPoint, SievePath
from koopsieve.sieve.protocol import Candidate, Sieve
from koopsieve.sieve.reduction import Reduction, reduce
from koopsieve.sieve.strength import Strength, strength
from koopsieve.sieve.thresholded import coefficient_count, controllable_subspace, thresholded

__all__ = [
    "BilinearSearch",
    "Candidate",
    "FormSearch",
    "GraphCandidate",
    "GraphSieve",
    "HorizonEstimate",
    "HorizonSieve",
    "LinearSearch",
    "Outcome",
    "PathPoint",
    "Reduction",
    "ReprojectedSearch",
    "Sieve",
    "SievePath",
    "Strength",
    "SweptGraphSieve",
    "Task",
    "ancestors",
    "choose",
    "coefficient_count",
    "condense",
    "controllable_subspace",
    "reduce",
    "strength",
    "strong_components",
    "threshold_inclusion",
    "thresholded",
]
