"""The regressions of the horizon sieve in standard units, with the inputs projected out.

Comes in: `HorizonStatistics`. Goes out: for every target (an output at a horizon) the Gram matrix of the observables
and their products with the target, after the inputs between now and the horizon have been fitted to both. Integrating
over the inputs' weights under a flat prior gives exactly this regression, with one row fewer per input column
(D32). Windows of h steps that start at neighbouring samples are nearly the same; `independent` counts as many as fit
side by side (D78).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.identify.standardise import standardise
from koopsieve.regression import HorizonStatistics, RegressionStatistics, TriangularFactor, required_multistep

JITTER = 1e-11  # pseudo-rows that keep nearly equal observables apart, as a fraction of an observable's power


@dataclass(frozen=True, eq=False)
class HorizonProblem:
    """Q regressions on the same L observables; observables and targets have unit mean square before the projection."""

    # (groups, L, L): φᵀΦ after the projection: one per horizon, or a single one when there are no inputs
    gram: FloatArray
    group: IndexArray  # (Q,): which Gram matrix belongs to each target
    projected: FloatArray  # (Q, L): φᵀt
    power: FloatArray  # (Q,): ‖t‖² after the projection
    rows: FloatArray  # (Q,): rows less the input columns fitted
    weight: FloatArray  # (Q,): weight of each target's evidence; they average one
    target_scale: FloatArray  # (Q,): root mean square of each target in the data's own units
    horizon: IndexArray  # (Q,): how many steps ahead each target is

    @property
    def observables(self) -> int:
        """Number of candidate observables L."""
        return int(self.gram.shape[1])

    def independent(self) -> HorizonProblem:
        """Return the problem with the rows of each target counted as rows/h, as many as do not overlap: (D78)."""
        horizons, group = np.unique(self.horizon, return_inverse=True)
        source = np.array([self.group[np.argmax(group == i)] for i in range(len(horizons))])
        return replace(
            self,
            gram=self.gram[source] / horizons[:, None, None],
            group=group,
            projected=self.projected / self.horizon[:, None],
            power=self.power / self.horizon,
            rows=self.rows / self.horizon,
        )


def horizon_problem(statistics: RegressionStatistics, emphasis: float) -> HorizonProblem:
    """Bring the multi-step regressions to standard units and project the inputs out; weights go as horizon^emphasis."""
    multistep = required_multistep(statistics)
    horizons = _with_enough_windows(multistep)
    per_horizon = [_project(multistep, h) for h in horizons]
    outputs = len(multistep.outputs)
    alone = not multistep.inputs
    grams = [gram for gram, *_ in (per_horizon[:1] if alone else per_horizon)]
    weight = np.asarray(horizons, dtype=float) ** emphasis
    return HorizonProblem(
        gram=np.stack(grams),
        group=np.repeat(np.arange(len(per_horizon)) * (not alone), outputs),
        projected=np.concatenate([part[1].T for part in per_horizon]),
        power=np.concatenate([part[2] for part in per_horizon]),
        rows=np.repeat([part[3] for part in per_horizon], outputs),
        weight=np.repeat(weight / weight.mean(), outputs),
        target_scale=np.concatenate([part[4] for part in per_horizon]),
        horizon=np.repeat(horizons, outputs).astype(np.intp),
    )


def _with_enough_windows(multistep: HorizonStatistics) -> tuple[int, ...]:
    """Return the horizons with more windows than inputs within one of them; with several inputs long ones have not."""
    rows, inputs, horizons = multistep.factor.rows, len(multistep.inputs), multistep.horizons
    enough = tuple(h for h in horizons if rows > inputs * h)
    if not enough:
        raise KoopsieveError(
            f"There are {rows:g} windows of {horizons[0]} steps, too few for their {inputs * horizons[0]} inputs. "
            "Give longer episodes, or shorter horizons."
        )
    return enough


def _project(
    multistep: HorizonStatistics, horizon: int
) -> tuple[FloatArray, FloatArray, FloatArray, float, FloatArray]:
    """Return Gram, products, power, rows left, and target scale at one horizon."""
    problem = standardise(multistep.at(horizon))
    L, p = len(multistep.observables), problem.R.shape[1]
    inputs = p - L
    factor = TriangularFactor(problem.R, problem.S, np.diag(problem.leftover), problem.rows)
    order = np.concatenate([np.arange(L, p), np.arange(L)])  # the inputs first: what is left of the others is below
    turned = factor.select(order, np.arange(problem.S.shape[1])) if inputs else factor
    R, S = turned.R[inputs:, inputs:], turned.S[inputs:]
    gram = R.T @ R
    gram[np.diag_indices_from(gram)] += JITTER * problem.rows
    power = np.einsum("ij,ij->j", S, S) + turned.leftover
    return gram, R.T @ S, power, problem.rows - inputs, problem.target_scale
