"""Stage three: trajectories and a dictionary become regression statistics; data are touched here for the last time."""

from koopsieve.regression.factor import TriangularFactor
from koopsieve.regression.statistics import HorizonStatistics, RegressionStatistics

__all__ = ["HorizonStatistics", "RegressionStatistics", "TriangularFactor"]
