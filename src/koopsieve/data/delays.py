"""Delay embedding of trajectories, before any dictionary: past outputs and inputs become further state columns.

Comes in: measured trajectories. Goes out: trajectories whose state is (y[k], y[k-1], …, y[k-a], u[k-1], …, u[k-b]), as
the paper uses for systems of which only outputs are measured.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import SupportsIndex, TypeVar

from koopsieve._types import KoopsieveError
from koopsieve.data.embedding import embed, embedded_names
from koopsieve.data.stream import Stream
from koopsieve.data.trajectories import Trajectories

Data = TypeVar("Data", Trajectories, Stream)


def embed_delays(trajectories: Data, states: SupportsIndex = 0, inputs: SupportsIndex = 0) -> Data:
    """Return trajectories whose states also hold past states and past inputs.

    Columns: the states, then all of them one sample ago, and so on up to `states` samples ago, then all inputs one
    sample ago, up to `inputs` samples ago. `outputs` stays with the undelayed states. Delays never reach into another
    episode: every episode loses its first max(states, inputs) samples. Embed test data in the same way.

    Parameters
    ----------
    trajectories : Trajectories or Stream
        Without delays so far. A stream stays a stream: its delays are embedded while it is read.
    states, inputs : int
        How many samples to reach back.

    Raises
    ------
    KoopsieveError
        If an episode is too short (of a stream it is only left out), if delays were embedded before, or if inputs are
        asked for and there are none.

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
    _check_embeddable(trajectories, b)
    if isinstance(trajectories, Stream):
        return trajectories.embedded(a, b)
    _check_lengths(trajectories, max(a, b) + 2)
    pairs = list(zip(trajectories.states, trajectories.inputs, strict=True))
    return replace(
        trajectories,
        states=tuple(embed(x, u, a, b) for x, u in pairs),
        inputs=tuple(u[max(a, b) :] for _, u in pairs),
        state_names=embedded_names(trajectories.state_names, trajectories.input_names, a, b),
    )


def _delay(what: str, value: SupportsIndex) -> int:
    try:
        delay = operator.index(value)
    except TypeError:
        raise KoopsieveError(f"{what}, the number of delays, must be a whole number. Got {value!r}.") from None
    if delay < 0:
        raise KoopsieveError(f"{what}, the number of delays, must be 0 or more. Got {delay}.")
    return delay


def _check_embeddable(trajectories: Trajectories | Stream, b: int) -> None:
    if len(trajectories.outputs) < trajectories.n_states:
        raise KoopsieveError(
            f"These trajectories already hold delays: only {list(trajectories.output_names)} of their "
            f"{trajectories.n_states} states are measured outputs. Embed the measured trajectories once, with all "
            "delays."
        )
    if b and not trajectories.n_inputs:
        raise KoopsieveError(f"inputs={b} delays were asked for, but these trajectories have no inputs. Leave it at 0.")


def _check_lengths(trajectories: Trajectories, needed: int) -> None:
    short = [i for i, x in enumerate(trajectories.states) if len(x) < needed]
    if short:
        listed = ", ".join(f"episode {i} ({len(trajectories.states[i])} samples)" for i in short[:5])
        raise KoopsieveError(
            f"With {needed - 2} delays an episode needs at least {needed} samples. Too short: {listed}"
            f"{f' and {len(short) - 5} more' if len(short) > 5 else ''}. Use fewer delays, or leave them out with "
            f"trajectories.subset([len(x) >= {needed} for x in trajectories.states])."
        )
