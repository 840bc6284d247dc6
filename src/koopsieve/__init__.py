"""Sift a Koopman dictionary: keep what drives the outputs, refit a small well-conditioned predictor."""

from typing import TYPE_CHECKING, Any

from koopsieve import _command  # noqa: F401  first: it is about what happens while the others are imported
from koopsieve._types import KoopsieveError, KoopsieveWarning
from koopsieve._version import __version__
from koopsieve.data import Embedding, Signals, Stream, Trajectories, embed_delays
from koopsieve.dictionary import (
    Constant,
    Dictionary,
    Fourier,
    Function,
    Inputs,
    Monomials,
    PeriodicSquaredExponential,
    RandomFourier,
    SquaredExponential,
    States,
    Transformer,
)
from koopsieve.evaluate import calibrate, horizon_nmse, nmse
from koopsieve.identify import (
    STLSQ,
    Estimate,
    HorizonLeastSquares,
    LeastSquares,
    SparseBayes,
    SpikeSlab,
    SpikeSlabPrior,
)
from koopsieve.model import BilinearModel, LiftedModel, Model, Prediction, ReprojectedModel, stabilise
from koopsieve.pipeline import sieve_path, sift
from koopsieve.regression import RegressionStatistics, compress
from koopsieve.sieve import GraphSieve, HorizonSieve, SievePath, SimulationSieve, SweptGraphSieve, reduce
from koopsieve.sieve.result import SieveResult

if TYPE_CHECKING:
    from koopsieve.estimator import KoopmanSieve

__all__ = [
    "STLSQ",
    "BilinearModel",
    "Constant",
    "Dictionary",
    "Embedding",
    "Estimate",
    "Fourier",
    "Function",
    "GraphSieve",
    "HorizonLeastSquares",
    "HorizonSieve",
    "Inputs",
    "KoopmanSieve",
    "KoopsieveError",
    "KoopsieveWarning",
    "LeastSquares",
    "LiftedModel",
    "Model",
    "Monomials",
    "PeriodicSquaredExponential",
    "Prediction",
    "RandomFourier",
    "RegressionStatistics",
    "ReprojectedModel",
    "SievePath",
    "SieveResult",
    "Signals",
    "SimulationSieve",
    "SparseBayes",
    "SpikeSlab",
    "SpikeSlabPrior",
    "SquaredExponential",
    "States",
    "Stream",
    "SweptGraphSieve",
    "Trajectories",
    "Transformer",
    "__version__",
    "calibrate",
    "compress",
    "embed_delays",
    "horizon_nmse",
    "nmse",
    "reduce",
    "sieve_path",
    "sift",
    "stabilise",
]


def __getattr__(name: str) -> Any:
    if name == "KoopmanSieve":  # scikit-learn takes a second to import; those who do not use the facade do not wait
        from koopsieve.estimator import KoopmanSieve

        return KoopmanSieve
    raise AttributeError(f"module 'koopsieve' has no attribute {name!r}")
