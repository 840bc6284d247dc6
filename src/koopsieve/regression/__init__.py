"""Stage three: trajectories and a dictionary become regression statistics; data are touched here for the last time."""

from koopsieve.regression.compress import compress
from koopsieve.regression.factor import TriangularFactor
from koopsieve.regression.qr import DesignDiagnostics, condition_number, design_diagnostics
from koopsieve.regression.statistics import HorizonStatistics, RegressionStatistics, required_multistep

__all__ = [
    "DesignDiagnostics",
    "HorizonStatistics",
    "RegressionStatistics",
    "TriangularFactor",
    "compress",
    "condition_number",
    "design_diagnostics",
    "required_multistep",
]
