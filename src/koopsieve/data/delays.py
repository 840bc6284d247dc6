"""Delay embedding of trajectories, before any dictionary: past outputs and inputs become further state columns.

Comes in: measured trajectories. Goes out: trajectories whose state is (y[k], y[k-1], …, y[k-a], u[k-1], …, u[k-b]), as
the paper uses for systems of which only outputs are measured.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import SupportsIndex

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data.names import delayed_name
from koopsieve.data.trajectories import Trajectories


def embed_delays(trajectories: Trajectories, states: SupportsIndex = 0, inputs: SupportsIndex = 0) -> Trajectories:
    """Return trajectories whose states also hold past states and past inputs.

    Columns: the states, then all of them one sample ago, and so on up to `states` samples ago, then all inputs one
    sample ago, up to `inputs` samples ago. `outputs` stays with the undelayed states. Delays never reach into another
    episode: every episode loses its first max(states, inputs) samples. Embed test data in the same way.

    Parameters
    ----------
    trajectories : Trajectories
        Without delays so far.
    states, inputs : int
        How many samples to reach back.

    Raises
    ------
    KoopsieveError
        If an episode is too short, if delays were embedded before, or if inputs are asked for and there are none.

    Examples
    --------
    >>> import numpy as np
    >>> y = Trajectories.from_arrays(np.arange(5.0), np.arange(5.0) ** 2, state_names="y", input_names="u")
    >>> embedded = embed_delays(y, states=1, inputs=2)
    >>> embedded.state_names
    ('y', 'y[k-1]', 'u[k-1]', 'u[k-2]')
    >>> embedded.states[0]
    array([[2., 1., 1., 0.],
           [3., 2., 4., 1.],
           [4., 3., 9., 4.]])
    """
    a, b = _delay("states", states), _delay("inputs", inputs)
    if a == b == 0:
        return trajectories
    _check_embeddable(trajectories, a, b)
    pairs = list(zip(trajectories.states, trajectories.inputs, strict=True))
    return replace(
        trajectories,
        states=tuple(embed(x, u, a, b) for x, u in pairs),
        inputs=tuple(u[max(a, b) :] for _, u in pairs),
        state_names=embedded_names(trajectories.state_names, trajectories.input_names, a, b),
    )


def embed(x: FloatArray, u: FloatArray, states: int, inputs: int) -> FloatArray:
    """Return the embedded states of one episode, shape (T - max(states, inputs), n·(1+states) + l·inputs)."""
    lost = max(states, inputs)
    past_states = [x[lost - delay : len(x) - delay] for delay in range(states + 1)]
    past_inputs = [u[lost - delay : len(x) - delay] for delay in range(1, inputs + 1)]
    embedded = np.concatenate(past_states + past_inputs, axis=1)
    embedded.flags.writeable = False
    return embedded


def embedded_names(
    state_names: tuple[str, ...], input_names: tuple[str, ...], states: int, inputs: int
) -> tuple[str, ...]:
    """Return the column names of what `embed` gives."""
    past_states = [delayed_name(name, delay) for delay in range(states + 1) for name in state_names]
    past_inputs = [delayed_name(name, delay) for delay in range(1, inputs + 1) for name in input_names]
    return (*past_states, *past_inputs)


def _delay(what: str, value: SupportsIndex) -> int:
    try:
        delay = operator.index(value)
    except TypeError:
        raise KoopsieveError(f"{what}, the number of delays, must be a whole number. Got {value!r}.") from None
    if delay < 0:
        raise KoopsieveError(f"{what}, the number of delays, must be 0 or more. Got {delay}.")
    return delay


def _check_embeddable(trajectories: Trajectories, a: int, b: int) -> None:
    if len(trajectories.outputs) < trajectories.n_states:
        raise KoopsieveError(
            f"These trajectories already hold delays: only {list(trajectories.output_names)} of their "
            f"{trajectories.n_states} states are measured outputs. Embed the measured trajectories once, with all "
            "delays."
        )
    if b and not trajectories.n_inputs:
        raise KoopsieveError(f"inputs={b} delays were asked for, but these trajectories have no inputs. Leave it at 0.")
    needed = max(a, b) + 2
    short = [i for i, x in enumerate(trajectories.states) if len(x) < needed]
    if short:
        listed = ", ".join(f"episode {i} ({len(trajectories.states[i])} samples)" for i in short[:5])
        raise KoopsieveError(
            f"With {max(a, b)} delays an episode needs at least {needed} samples. Too short: {listed}"
            f"{f' and {len(short) - 5} more' if len(short) > 5 else ''}. Use fewer delays, or leave them out with "
            f"trajectories.subset([len(x) >= {needed} for x in trajectories.states])."
        )
