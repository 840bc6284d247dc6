"""Stage two: the dictionary of observables, written as a sum of blocks and fitted into a frozen map."""

from koopsieve.dictionary.custom import Function, Transformer
from koopsieve.dictionary.dictionary import Dictionary
from koopsieve.dictionary.kernels import PeriodicSquaredExponential, SquaredExponential
from koopsieve.dictionary.monomials import Monomials
from koopsieve.dictionary.observables import Observables
from koopsieve.dictionary.recipes import Block
from koopsieve.dictionary.states import Constant, Inputs, States
from koopsieve.dictionary.term_map import TermMap
from koopsieve.dictionary.text_terms import HardNonlinearities, Terms
from koopsieve.dictionary.waves import Fourier, RandomFourier

__all__ = [
    "Block",
    "Constant",
    "Dictionary",
    "Fourier",
    "Function",
    "HardNonlinearities",
    "Inputs",
    "Monomials",
    "Observables",
    "PeriodicSquaredExponential",
    "RandomFourier",
    "SquaredExponential",
    "States",
    "TermMap",
    "Terms",
    "Transformer",
]
