"""What every model must beat: the last value kept, and a linear model with a constant and the same delays."""

from __future__ import annotations

import numpy as np

from koopsieve.data import Stream, Trajectories
from koopsieve.dictionary import Constant, Dictionary, States
from koopsieve.execution import Executor
from koopsieve.identify import LeastSquares
from koopsieve.model import LiftedModel
from koopsieve.regression import compress


def persistence(dictionary: Dictionary) -> LiftedModel:
    """Return the model that predicts the last measured outputs for ever."""
    outputs = dictionary.linear().select(sorted(dictionary.outputs))
    n = outputs.size
    return LiftedModel(np.eye(n), np.zeros((n, len(dictionary.signals.inputs))), np.eye(n), outputs)


def linear_baseline(
    learn: Trajectories | Stream, validation: Trajectories | Stream, executor: Executor | None, merge: bool = True
) -> tuple[LiftedModel, LiftedModel]:
    """Return the linear model of states and a constant (DMD with control), learned from one part and from both."""
    phi = (States() + Constant()).fit(learn)
    learned = compress(learn, phi, executor=executor)
    both = learned.merge(compress(validation, phi, executor=executor)) if merge else learned
    first, second = (LiftedModel.from_estimate(LeastSquares().identify(s), phi) for s in (learned, both))
    return first, second
