"""Stage one: measured data become `Trajectories`, checked once; `embed_delays` adds past samples as states."""

from koopsieve.data.delays import embed_delays, embedded
from koopsieve.data.embedding import Embedding
from koopsieve.data.provenance import Provenance
from koopsieve.data.signals import Signals
from koopsieve.data.stream import Stream
from koopsieve.data.trajectories import Trajectories

__all__ = ["Embedding", "Provenance", "Signals", "Stream", "Trajectories", "embed_delays", "embedded"]
