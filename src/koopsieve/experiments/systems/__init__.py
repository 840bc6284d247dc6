"""The systems of the paper's results section, simulated: functions from a seed to arrays of samples."""

from koopsieve.experiments.systems.lorenz_attractor import lorenz

__all__ = ["lorenz"]
