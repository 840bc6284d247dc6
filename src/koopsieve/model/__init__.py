"""Stage six: a predictor in one of three forms, from an estimate and the dictionary it was made with."""

from koopsieve.model.bands import Bands
from koopsieve.model.bilinear import BilinearModel
from koopsieve.model.calibration import Calibration
from koopsieve.model.certificates import Certificate, eigenpair_residuals, invariance_error
from koopsieve.model.forms import Linearisation, Model
from koopsieve.model.lifted import LiftedModel
from koopsieve.model.prediction import Prediction
from koopsieve.model.reprojected import ReprojectedModel
from koopsieve.model.rollout import Ahead
from koopsieve.model.spectrum import Modes
from koopsieve.model.stability import stabilise
from koopsieve.model.support import Support

FORMS: dict[str, type[Model]] = {form.form: form for form in (LiftedModel, BilinearModel, ReprojectedModel)}

__all__ = [
    "FORMS",
    "Ahead",
    "Bands",
    "BilinearModel",
    "Calibration",
    "Certificate",
    "LiftedModel",
    "Linearisation",
    "Model",
    "Modes",
    "Prediction",
    "ReprojectedModel",
    "Support",
    "eigenpair_residuals",
    "invariance_error",
    "stabilise",
]
