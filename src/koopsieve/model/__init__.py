"""Stage six: a linear predictor in the lifted space, from an estimate and the dictionary it was made with."""

from koopsieve.model.lifted import LiftedModel

__all__ = ["LiftedModel"]
