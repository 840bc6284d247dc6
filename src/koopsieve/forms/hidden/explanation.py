"""What drives what in a hidden model: probabilities of its coefficients, and the regression on its terms.

At a fitted point the Gauss–Newton factor of the simulation is a regression (D51); spike and slab on it says how
probable every coefficient is. It is a probability given the other states, in the coordinates that the model has.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.forms.hidden.learning import HiddenLearning, HiddenSolution
from koopsieve.forms.hidden.model import HiddenModel, coefficient_names
from koopsieve.identify import Estimate, Identifier, SpikeSlab
from koopsieve.regression import RegressionStatistics, TriangularFactor
from koopsieve.regression.statistics import SomeTargets

_ROWS = 16  # of the Gauss–Newton factor, per coefficient


@dataclass(frozen=True, eq=False)
class CoefficientProbabilities:
    """An identifier that looks at the simulation and not at the one-step statistics.

    Parameters
    ----------
    found : HiddenSolution
    model : HiddenModel
        The same, with names.
    method : Identifier
        Sees the Gauss–Newton regression: one target, and a regressor per coefficient.
    """

    found: HiddenSolution
    model: HiddenModel
    method: Identifier = field(default_factory=SpikeSlab)

    def identify(self, statistics: RegressionStatistics) -> Estimate:
        """Return terms as regressors, and states and outputs as targets."""
        coef, free = self.found.coef, self.model.coef != 0
        problem = self.found.problem.in_units_left(coef)
        factor = problem.factor(coef, free, _ROWS * int(free.sum()))
        names = coefficient_names(free, self.model.driven_names, self.model.product_names)
        seen = self.method.identify(SomeTargets(factor, ("simulated outputs",), every=names))
        rows, targets = len(coef), self.model.driven_names
        return Estimate(
            coef=self.model.coef.T,
            inclusion=_placed(free, seen.inclusion),
            noise_precision=np.repeat(seen.noise_precision, rows),
            elbo=np.repeat(seen.elbo, rows),
            status=seen.status * rows,
            coef_variance=_placed(free, seen.coef_variance),
            sweeps=np.repeat(seen.sweeps, rows),
            agreement=np.repeat(seen.agreement, rows),
            regressors=self.model.product_names,
            targets=targets,
        )


def _placed(free: np.ndarray, values: FloatArray) -> FloatArray:
    """Return values of the free coefficients as a matrix (terms, rows)."""
    found = np.zeros(free.shape)
    found[free] = values[:, 0]
    return found.T


def one_step_of_terms(learning: HiddenLearning, found: HiddenSolution, model: HiddenModel) -> SomeTargets:
    """Return the regression of the measured outputs on the model's terms, along simulated windows."""
    problem, burn = found.problem, found.problem.aim.burn
    n, terms = problem.structure.states, problem.structure.terms
    run = problem.structure.run(found.coef, problem.starts, problem.inputs)[:, :, :n]
    before = np.clip(
        np.concatenate([problem.starts[:, None], run[:, :-1]], axis=1)[:, burn:], *problem.structure.limits
    )
    points = np.concatenate([before, problem.inputs[:, burn:]], axis=2).reshape(-1, terms.powers.shape[1])
    values = terms.values(points.T)[terms.columns].T
    middle, deviation = learning.scaling.outputs
    measured = problem.aim.outputs[:, burn:].reshape(-1, learning.outputs) * deviation + middle
    factor = TriangularFactor.empty(values.shape[1], learning.outputs).absorb(values, measured)
    outputs = model.output_names
    return SomeTargets(
        factor, outputs, outputs=tuple(range(len(outputs))), signals=model.signals, every=model.product_names
    )
