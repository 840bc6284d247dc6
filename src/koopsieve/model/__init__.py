"""Stage six: a predictor in one of three forms, from an estimate and the dictionary it was made with."""

from koopsieve.model.bilinear import BilinearModel
from koopsieve.model.forms import Linearisation, Model
from koopsieve.model.lifted import LiftedModel
from koopsieve.model.reprojected import ReprojectedModel
from koopsieve.model.rollout import Ahead
from koopsieve.model.spectrum import Modes
from koopsieve.model.stability import stabilise

FORMS: dict[str, type[Model]] = {form.form: form for form in (LiftedModel, BilinearModel, ReprojectedModel)}

__all__ = [
    "FORMS",
    "Ahead",
    "BilinearModel",
    "LiftedModel",
    "Linearisation",
    "Model",
    "Modes",
    "ReprojectedModel",
    "stabilise",
]
