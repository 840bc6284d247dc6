"""Stage two: the dictionary of observables, written as a sum of blocks and fitted once into a frozen map."""

from koopsieve.dictionary.custom import Function, Transformer
from koopsieve.dictionary.dictionary import Dictionary
from koopsieve.dictionary.kernels import PeriodicSquaredExponential, SquaredExponential
from koopsieve.dictionary.observables import Block, Observables
from koopsieve.dictionary.states import Constant, Inputs, Monomials, States
from koopsieve.dictionary.waves import Fourier, RandomFourier

__all__ = [
    "Block",
    "Constant",
    "Dictionary",
    "Fourier",
    "Function",
    "Inputs",
    "Monomials",
    "Observables",
    "PeriodicSquaredExponential",
    "RandomFourier",
    "SquaredExponential",
    "States",
    "Transformer",
]
