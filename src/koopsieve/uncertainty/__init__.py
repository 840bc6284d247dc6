"""How far predictions can be trusted: bands, their coverage, the support of the data, certificates."""

from koopsieve.uncertainty.bands import Bands
from koopsieve.uncertainty.calibrate import Calibration, calibrate
from koopsieve.uncertainty.certificates import Certificate, eigenpair_residuals, invariance_error
from koopsieve.uncertainty.coverage import Coverage, CoverageCurve, coverage, coverage_curve, interval_score
from koopsieve.uncertainty.support import Support

__all__ = [
    "Bands",
    "Calibration",
    "Certificate",
    "Coverage",
    "CoverageCurve",
    "Support",
    "calibrate",
    "coverage",
    "coverage_curve",
    "eigenpair_residuals",
    "interval_score",
    "invariance_error",
]
