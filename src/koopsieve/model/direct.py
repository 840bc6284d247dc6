"""Linear predictions at a few horizons without the steps between them.

y[k+h] = C·Aʰ·φ(x[k]) + Σⱼ C·Aʰ⁻¹⁻ʲ·B·u[k+j], which carries n_outputs numbers per start where a step carries L².
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from koopsieve.data import Trajectories
from koopsieve.export.condensed import output_powers
from koopsieve.export.protocols import LinearPredictor
from koopsieve.model.lifted_state import lift
from koopsieve.model.rollout import Ahead, start_slices


def direct(system: LinearPredictor, data: Trajectories, horizons: Sequence[int]) -> Iterator[Ahead]:
    """Yield the predictions at `horizons` from every start that has a sample that far ahead."""
    with np.errstate(over="ignore", invalid="ignore"):
        reads = output_powers(system.A, system.C, max(horizons))
        pulses = [power @ system.B for power in reads]  # the Markov parameters
    for episode, part in start_slices(len(system.A), data, min(horizons)):
        x, u = data.states[episode], data.inputs[episode]
        lifted = lift(system.dictionary, x[part])
        for h in horizons:
            rows = min(part.stop, len(x) - h) - part.start
            if rows > 0:
                with np.errstate(over="ignore", invalid="ignore"):
                    predicted = lifted[:rows] @ reads[h].T
                    for j in range(h if u.shape[1] else 0):
                        predicted += u[part.start + j :][:rows] @ pulses[h - 1 - j].T
                yield Ahead(episode, part.start, h, predicted)


def direct_is_cheaper(system: LinearPredictor, horizons: Sequence[int]) -> bool:
    """Compare the multiplications per start of the two ways."""
    outputs, L = system.C.shape
    inputs = system.B.shape[1]
    return bool(outputs * sum(L + h * inputs for h in horizons) <= max(horizons) * L * (L + inputs))
