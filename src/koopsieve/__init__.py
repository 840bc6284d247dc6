"""Sift a Koopman dictionary: keep what drives the outputs, refit a small well-conditioned predictor."""

from typing import TYPE_CHECKING, Any

from koopsieve._types import KoopsieveError, KoopsieveWarning
from koopsieve._version import __version__
from koopsieve.data import Stream, Trajectories, embed_delays
from koopsieve.dictionary import (
    Constant,
    Fourier,
    Function,
    Monomials,
    PeriodicSquaredExponential,
    RandomFourier,
    SquaredExponential,
    States,
    Transformer,
)
from koopsieve.evaluate import horizon_nmse, nmse
from koopsieve.identify import (
    STLSQ,
    HorizonLeastSquares,
    LeastSquares,
    SparseBayes,
    SpikeSlab,
    SpikeSlabPrior,
)
from koopsieve.model import LiftedModel, stabilise
from koopsieve.regression import compress
from koopsieve.sieve import GraphSieve, HorizonSieve, SievePath, reduce, sieve_path
from koopsieve.workflow import reduce_and_refit

if TYPE_CHECKING:
    from koopsieve.estimator import KoopmanSieve

__all__ = [
    "STLSQ",
    "Constant",
    "Fourier",
    "Function",
    "GraphSieve",
    "HorizonLeastSquares",
    "HorizonSieve",
    "KoopmanSieve",
    "KoopsieveError",
    "KoopsieveWarning",
    "LeastSquares",
    "LiftedModel",
    "Monomials",
    "PeriodicSquaredExponential",
    "RandomFourier",
    "SievePath",
    "SparseBayes",
    "SpikeSlab",
    "SpikeSlabPrior",
    "SquaredExponential",
    "States",
    "Stream",
    "Trajectories",
    "Transformer",
    "__version__",
    "compress",
    "embed_delays",
    "horizon_nmse",
    "nmse",
    "reduce",
    "reduce_and_refit",
    "sieve_path",
    "stabilise",
]


def __getattr__(name: str) -> Any:
    if name == "KoopmanSieve":  # scikit-learn takes a second to import; those who do not use the facade do not wait
        from koopsieve.estimator import KoopmanSieve

        return KoopmanSieve
    raise AttributeError(f"module 'koopsieve' has no attribute {name!r}")
