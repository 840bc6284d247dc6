"""Method IV, spike and slab: the paper's equations, the bound, the moves that raise it, and where they start."""

from koopsieve.identify.spike_slab.algorithm_1 import PublishedSpikeSlab, UpdateOrder
from koopsieve.identify.spike_slab.mean_field import MeanField
from koopsieve.identify.spike_slab.spike_slab import SpikeSlab
from koopsieve.identify.spike_slab.starts import Start

__all__ = ["MeanField", "PublishedSpikeSlab", "SpikeSlab", "Start", "UpdateOrder"]
