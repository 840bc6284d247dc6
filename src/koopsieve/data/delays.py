"""Delay embedding of trajectories, before any dictionary: past outputs and inputs become further state columns.

Comes in: measured trajectories. Goes out: trajectories whose state is (y[k], y[k-1], …, y[k-a], u[k-1], …, u[k-b]), as
the paper uses for systems of which only outputs are measured.
"""

from __future__ import annotations

from dataclasses import replace
from typing import SupportsIndex, TypeVar

from koopsieve._types import KoopsieveError
from koopsieve.data.embedding import Embedding
from koopsieve.data.stream import Stream
from koopsieve.data.trajectories import Trajectories

Data = TypeVar("Data", Trajectories, Stream, Trajectories | Stream)


def embed_delays(
    trajectories: Data, states: SupportsIndex = 0, inputs: SupportsIndex = 0, inputs_at: str = "k"
) -> Data:
    """Return trajectories whose states also hold past states and past inputs.

    Columns: the states, then all of them one sample ago, and so on up to `states` samples ago, then all inputs one
    sample ago, up to `inputs` samples ago. Delays never reach into another episode: every episode loses its first
    max(states, inputs) samples, and its last one with inputs_at="k+1". Models know their delays, so test data need not
    be embedded by hand.

    Parameters
    ----------
    trajectories : Trajectories or Stream
        Without delays so far. A stream stays a stream: its delays are embedded while it is read.
    states, inputs : int
        How many samples to reach back.
    inputs_at : {"k", "k+1"}
        Which sample of the input acts on the next output: see `Embedding`.

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
    embedding = Embedding(states, inputs, inputs_at)  # type: ignore[arg-type]
    _check_embeddable(trajectories, embedding)
    return embedded(trajectories, embedding)


def embedded(data: Data, embedding: Embedding) -> Data:
    """Return the data with delays as `embedding` says; data that already have these delays as they are."""
    if data.embedding == embedding:
        return data
    _check_embeddable(data, embedding)
    if isinstance(data, Stream):
        return data.embedded(embedding)
    _check_lengths(data, embedding.lost + embedding.ahead + 2)
    states, inputs = zip(*map(embedding.embed, data.states, data.inputs), strict=True)
    return replace(data, states=states, inputs=inputs, signals=data.signals.embedded(embedding))


def _check_embeddable(data: Trajectories | Stream, embedding: Embedding) -> None:
    if not data.embedding.trivial:
        raise KoopsieveError(
            f"These trajectories already hold delays: only {list(data.output_names)} of their {data.n_states} states "
            "are measured outputs. Embed the measured trajectories once, with all delays."
        )
    if embedding.input_delays and not data.n_inputs:
        raise KoopsieveError(
            f"inputs={embedding.input_delays} delays were asked for, but these trajectories have no inputs. "
            "Leave it at 0."
        )


def _check_lengths(trajectories: Trajectories, needed: int) -> None:
    short = [i for i, x in enumerate(trajectories.states) if len(x) < needed]
    if short:
        listed = ", ".join(f"episode {i} ({len(trajectories.states[i])} samples)" for i in short[:5])
        raise KoopsieveError(
            f"With {needed - 2} delays an episode needs at least {needed} samples. Too short: {listed}"
            f"{f' and {len(short) - 5} more' if len(short) > 5 else ''}. Use fewer delays, or leave them out with "
            f"trajectories.subset([len(x) >= {needed} for x in trajectories.states])."
        )
