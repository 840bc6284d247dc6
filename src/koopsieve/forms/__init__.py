"""Stage six: predictors in several forms, how each is searched for, and how it is fitted.

`FORMS` is the registry: every form by its name, the simplest first. Whoever needs something of a form asks it.
"""

from koopsieve.forms.bilinear.form import BilinearForm
from koopsieve.forms.bilinear.model import BilinearModel
from koopsieve.forms.form import Candidates, Form, Outcome
from koopsieve.forms.hidden.form import HiddenForm
from koopsieve.forms.hidden.model import HiddenModel
from koopsieve.forms.hidden.sieve import HiddenSieve
from koopsieve.forms.interface import Linearisation, NamedMatrix, OutputTerms
from koopsieve.forms.linear.form import LinearForm
from koopsieve.forms.linear.model import LinearModel
from koopsieve.forms.linear.plain import PlainLinearForm
from koopsieve.forms.model import Model
from koopsieve.forms.prediction import Prediction
from koopsieve.forms.reprojected.form import ReprojectedForm
from koopsieve.forms.reprojected.model import ReprojectedModel
from koopsieve.forms.task import Task

FORMS: dict[str, Form] = {form.name: form for form in (LinearForm(), BilinearForm(), ReprojectedForm(), HiddenForm())}

__all__ = [
    "FORMS",
    "BilinearForm",
    "BilinearModel",
    "Candidates",
    "Form",
    "HiddenForm",
    "HiddenModel",
    "HiddenSieve",
    "LinearForm",
    "LinearModel",
    "Linearisation",
    "Model",
    "NamedMatrix",
    "Outcome",
    "OutputTerms",
    "PlainLinearForm",
    "Prediction",
    "ReprojectedForm",
    "ReprojectedModel",
    "Task",
]
