"""Stage six: a linear predictor in the lifted space, from an estimate and the dictionary it was made with."""

from koopsieve.model.lifted import LiftedModel
from koopsieve.model.rollout import Ahead
from koopsieve.model.spectrum import Modes
from koopsieve.model.stability import stabilise

__all__ = ["Ahead", "LiftedModel", "Modes", "stabilise"]
