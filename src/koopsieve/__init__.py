"""Sift a Koopman dictionary: keep what drives the outputs, refit a small well-conditioned predictor.

Public names are imported when they are first used, so that `import koopsieve` costs nothing that is not needed.
"""

from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec
from typing import TYPE_CHECKING

from koopsieve._version import __version__

if TYPE_CHECKING:
    from koopsieve._types import KoopsieveError, KoopsieveWarning
    from koopsieve.data import Embedding, Signals, Stream, Trajectories, embed_delays
    from koopsieve.dictionary import (
        Constant,
        Dictionary,
        Fourier,
        Function,
        HardNonlinearities,
        Inputs,
        Monomials,
        PeriodicSquaredExponential,
        RandomFourier,
        SquaredExponential,
        States,
        Terms,
        Transformer,
    )
    from koopsieve.estimator import KoopmanSieve
    from koopsieve.evaluate import horizon_nmse, nmse
    from koopsieve.forms import (
        BilinearModel,
        HiddenModel,
        HiddenSieve,
        LinearModel,
        Model,
        Prediction,
        ReprojectedModel,
    )
    from koopsieve.forms.linear.refits import stabilise
    from koopsieve.forms.path import SievePath
    from koopsieve.identify import (
        STLSQ,
        Estimate,
        HorizonLeastSquares,
        LeastSquares,
        SparseBayes,
        SpikeSlab,
        SpikeSlabPrior,
    )
    from koopsieve.regression import RegressionStatistics, compress
    from koopsieve.reproduction import compare_methods, paper_methods
    from koopsieve.sieve import (
        GraphSieve,
        HorizonSieve,
        SimulationSieve,
    )
    from koopsieve.sieve.algorithm_2 import reduce
    from koopsieve.sifting.pipeline import sift
    from koopsieve.sifting.result import SieveResult
    from koopsieve.uncertainty import calibrate

_MODULES = {  # where each public name is defined
    "_types": "KoopsieveError KoopsieveWarning",
    "data": "Embedding Signals Stream Trajectories embed_delays",
    "dictionary": "Constant Dictionary Fourier Function HardNonlinearities Inputs Monomials PeriodicSquaredExponential "
    "RandomFourier SquaredExponential States Terms Transformer",
    "estimator": "KoopmanSieve",
    "evaluate": "horizon_nmse nmse",
    "forms": "BilinearModel HiddenModel HiddenSieve LinearModel Model Prediction ReprojectedModel",
    "forms.linear.refits": "stabilise",
    "forms.path": "SievePath",
    "identify": "STLSQ Estimate HorizonLeastSquares LeastSquares SparseBayes SpikeSlab SpikeSlabPrior",
    "regression": "RegressionStatistics compress",
    "reproduction": "compare_methods paper_methods",
    "sieve": "GraphSieve HorizonSieve SimulationSieve",
    "sieve.algorithm_2": "reduce",
    "sifting.pipeline": "sift",
    "sifting.result": "SieveResult",
    "uncertainty": "calibrate",
}
_MODULES_TO_USE = ("control", "datasets", "plots", "report", "systems")  # what completion shows beside the names below
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}

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
    "HardNonlinearities",
    "HiddenModel",
    "HiddenSieve",
    "HorizonLeastSquares",
    "HorizonSieve",
    "Inputs",
    "KoopmanSieve",
    "KoopsieveError",
    "KoopsieveWarning",
    "LeastSquares",
    "LinearModel",
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
    "Terms",
    "Trajectories",
    "Transformer",
    "__version__",
    "calibrate",
    "compare_methods",
    "compress",
    "embed_delays",
    "horizon_nmse",
    "nmse",
    "paper_methods",
    "reduce",
    "sift",
    "stabilise",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        value = getattr(_import_module(f"koopsieve.{_HOME[name]}"), name)
        globals()[name] = value  # the next use finds it without asking
        return value
    if not name.startswith("_") and _find_spec(f"koopsieve.{name}") is not None:
        return _import_module(f"koopsieve.{name}")
    raise AttributeError(f"module 'koopsieve' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES_TO_USE])
