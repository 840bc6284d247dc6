"""What each term contributes to the next outputs, in any form: y[k+1] = Σ coefficient · term."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.model.bilinear import BilinearModel
from koopsieve.model.forms import Model
from koopsieve.model.lifted import LiftedModel
from koopsieve.model.reprojected import ReprojectedModel


@dataclass(frozen=True, eq=False)
class Terms:
    """Terms of a model with their coefficients in one step of the outputs.

    Parameters
    ----------
    names : tuple of str
    coef : array, shape (terms, n_outputs)
    """

    names: tuple[str, ...]
    coef: FloatArray


def output_terms(model: Model) -> Terms:
    """Return the terms of the outputs' next values: observables, inputs or drives, and products of the bilinear form.

    In the linear and the bilinear form the other observables have rows of their own; these are the outputs' rows.
    """
    if isinstance(model, ReprojectedModel):
        return Terms(model.dictionary.regressors, model.coef)
    if not isinstance(model, LiftedModel | BilinearModel):
        raise TypeError(f"Unknown form {model.form!r}.")
    names, acting = model.names, model.signals.acting
    coef = [(model.C @ model.A).T, (model.C @ model.B).T]
    every = [*names, *acting]
    if isinstance(model, BilinearModel):
        coef += [(model.C @ N).T for N in model.N]
        every += [f"{u} {name}" for u in acting for name in names]
    stacked = np.vstack(coef)
    used = np.flatnonzero((np.arange(len(every)) < len(names) + len(acting)) | stacked.any(axis=1))
    return Terms(tuple(every[i] for i in used), stacked[used])
