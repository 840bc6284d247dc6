"""Predictions from every start of measured trajectories, with the inputs that were measured.

`stepped` walks the lifted system and serves all horizons and relifting; `direct` jumps to the horizons asked for,
y[k+h] = C·Aʰ·φ(x[k]) + Σⱼ C·Aʰ⁻¹⁻ʲ·B·u[k+j], which carries n_outputs numbers per start where a step carries L².
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data import Trajectories
from koopsieve.model.prediction import checked_horizon, chunks, lift, read, state_columns, steps
from koopsieve.model.system import System


class Ahead(NamedTuple):
    """Predictions of consecutive starts: row i is predicted from sample first + i for the sample `horizon` later.

    Parameters
    ----------
    episode, first, horizon : int
        The episode, the sample of the first start, and how many steps ahead.
    predicted : array, shape (starts, n_outputs)
        The predicted outputs.
    """

    episode: int
    first: int
    horizon: int
    predicted: FloatArray


def rollout(system: System, trajectories: Trajectories, horizon: int, relift: bool) -> tuple[FloatArray, ...]:
    """Return all predictions up to `horizon`, per episode; see `LiftedModel.rollout`."""
    check_columns(system, trajectories)
    (horizon,) = checked_horizons([horizon], trajectories)
    found = tuple(np.empty((max(0, len(x) - horizon), horizon, len(system.C))) for x in trajectories.states)
    for episode, first, h, predicted in stepped(system, trajectories, range(1, horizon + 1), relift):
        rows = found[episode][first : first + len(predicted)]
        rows[:, h - 1] = predicted[: len(rows)]
    return found


def predictions(system: System, trajectories: Trajectories, horizons: Sequence[int], relift: bool) -> Iterator[Ahead]:
    """Return the predictions at `horizons`, the cheaper way; see `LiftedModel.predictions`."""
    check_columns(system, trajectories)
    wanted = checked_horizons(horizons, trajectories)
    if relift:
        state_columns(system.dictionary)  # refuse now, not at the first piece
    elif direct_is_cheaper(system, wanted):
        return direct(system, trajectories, wanted)
    return stepped(system, trajectories, wanted, relift)


def stepped(system: System, trajectories: Trajectories, horizons: Sequence[int], relift: bool) -> Iterator[Ahead]:
    """Yield the predictions at `horizons` from every start that has a sample that far ahead, by stepping."""
    wanted, furthest = set(horizons), max(horizons)
    for episode, part in _starts(system, trajectories, min(horizons)):
        x, u = trajectories.states[episode], trajectories.inputs[episode]
        lifted = lift(system.dictionary, x[part])
        sequence = (u[part.start + j : part.stop + j] for j in range(min(furthest, len(u) - part.start)))
        for h, state in enumerate(steps(system, lifted, sequence, relift), start=1):
            if h in wanted:
                yield Ahead(episode, part.start, h, read(system, state))


def direct(system: System, trajectories: Trajectories, horizons: Sequence[int]) -> Iterator[Ahead]:
    """Yield what `stepped` yields without relifting, jumping to each horizon."""
    with np.errstate(over="ignore", invalid="ignore"):
        reads = output_powers(system.A, system.C, max(horizons))
        pulses = [power @ system.B for power in reads]  # the Markov parameters
    for episode, part in _starts(system, trajectories, min(horizons)):
        x, u = trajectories.states[episode], trajectories.inputs[episode]
        lifted = lift(system.dictionary, x[part])
        for h in horizons:
            rows = min(part.stop, len(x) - h) - part.start
            if rows > 0:
                with np.errstate(over="ignore", invalid="ignore"):
                    predicted = lifted[:rows] @ reads[h].T
                    for j in range(h if u.shape[1] else 0):
                        predicted += u[part.start + j :][:rows] @ pulses[h - 1 - j].T
                yield Ahead(episode, part.start, h, predicted)


def direct_is_cheaper(system: System, horizons: Sequence[int]) -> bool:
    """Compare the multiplications per start of the two ways."""
    outputs, L = system.C.shape
    inputs = system.B.shape[1]
    return bool(outputs * sum(L + h * inputs for h in horizons) <= max(horizons) * L * (L + inputs))


def checked_horizons(horizons: Sequence[int], trajectories: Trajectories) -> tuple[int, ...]:
    """Return the horizons sorted and once each, or say which no episode is long enough for."""
    wanted = sorted({checked_horizon(h) for h in horizons})
    if not wanted:
        raise KoopsieveError("horizons is empty. Expected at least one number of steps, such as [1, 10, 50].")
    longest = max(map(len, trajectories.states))
    if wanted[-1] >= longest:
        raise KoopsieveError(
            f"No episode is long enough to look {wanted[-1]} steps ahead. Expected at least {wanted[-1] + 1} samples, "
            f"the longest has {longest}. Ask for shorter horizons."
        )
    return tuple(wanted)


def check_columns(system: System, trajectories: Trajectories) -> None:
    """Refuse trajectories whose columns are not those the model was made with."""
    for what, expected, came in (
        ("states", system.dictionary.state_names, trajectories.state_names),
        ("inputs", system.input_names, trajectories.input_names),
    ):
        if expected != came:
            raise KoopsieveError(
                f"The trajectories do not have the model's {what}. Expected {list(expected)}, got {list(came)}. "
                "Give them the same names, columns in the same order, and the same delays."
            )


def output_powers(A: FloatArray, C: FloatArray, highest: int) -> list[FloatArray]:
    """Return C, CA, CA², …, CAʰ."""
    powers = [C]
    for _ in range(highest):
        powers.append(powers[-1] @ A)
    return powers


def _starts(system: System, trajectories: Trajectories, nearest: int) -> Iterator[tuple[int, slice]]:
    for episode, x in enumerate(trajectories.states):
        for part in chunks(len(x) - nearest, len(system.A)):
            yield episode, part
