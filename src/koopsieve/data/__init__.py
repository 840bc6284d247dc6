"""Stage one: measured data become `Trajectories`, checked once; `embed_delays` adds past samples as states."""

from koopsieve.data.delays import embed_delays
from koopsieve.data.stream import Stream
from koopsieve.data.trajectories import Trajectories

__all__ = ["Stream", "Trajectories", "embed_delays"]
