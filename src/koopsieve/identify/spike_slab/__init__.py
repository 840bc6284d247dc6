"""Method IV, spike and slab: the paper's equations, the bound, the moves that raise it, and where they start."""

from koopsieve.identify.spike_slab.algorithm_1 import PublishedSpikeSlab, UpdateOrder
from koopsieve.identify.spike_slab.equations import MeanField
from koopsieve.identify.spike_slab.rules import Start
from koopsieve.identify.spike_slab.spike_slab import SpikeSlab

__all__ = ["MeanField", "PublishedSpikeSlab", "SpikeSlab", "Start", "UpdateOrder"]
