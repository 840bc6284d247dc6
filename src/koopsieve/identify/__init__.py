"""Stage four: from statistics to a Koopman matrix and inclusion probabilities (the paper's methods I to IV)."""

from koopsieve.identify.estimate import Estimate, Identifier, Status, interchangeable_groups
from koopsieve.identify.least_squares import STLSQ, HorizonLeastSquares, LeastSquares
from koopsieve.identify.prior import SpikeSlabPrior
from koopsieve.identify.sparse_bayes import SparseBayes
from koopsieve.identify.spike_slab import MeanField, PublishedSpikeSlab, SpikeSlab, Start, UpdateOrder

__all__ = [
    "STLSQ",
    "Estimate",
    "HorizonLeastSquares",
    "Identifier",
    "LeastSquares",
    "MeanField",
    "PublishedSpikeSlab",
    "SparseBayes",
    "SpikeSlab",
    "SpikeSlabPrior",
    "Start",
    "Status",
    "UpdateOrder",
    "interchangeable_groups",
]
