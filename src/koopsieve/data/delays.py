"""Delay embedding of trajectories, before any dictionary: past outputs and inputs become further state columns.

Comes in: measured trajectories. Goes out: trajectories whose state is (y[k], y[k-1], …, y[k-a], u[k-1], …, u[k-b]), as
the paper uses for systems of which only outputs are measured.
"""

from __future__ import annotations

from dataclasses import replace
from typing import SupportsIndex, TypeVar

import numpy as np

from koopsieve._types import KoopsieveError, require_kind, warn_user
from koopsieve.data.embedding import Embedding
from koopsieve.data.provenance import Counts
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
        If all episodes are too short, if delays were embedded before, or if inputs are asked for and there are none. An
        episode that is too short is left out with a warning, one of a stream in silence.

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
    require_dataset(trajectories)
    embedding = Embedding(states, inputs, inputs_at)  # type: ignore[arg-type]
    _check_embeddable(trajectories, embedding)
    return embedded(trajectories, embedding)


def embedded(data: Data, embedding: Embedding) -> Data:
    """Return the data with delays as `embedding` says; data that already have these delays as they are."""
    require_dataset(data)
    require_kind("delays as an Embedding", embedding, Embedding, "Write delays=Embedding(2, 2).")
    if data.embedding == embedding:
        return data
    _check_embeddable(data, embedding)
    if isinstance(data, Stream):
        return data.embedded(embedding)
    kept = long_enough(data, embedding)
    states, inputs = zip(*map(embedding.embed, kept.states, kept.inputs), strict=True)
    ends = [len(x) - embedding.input_lead for x in kept.states]
    sources = [source.cut(embedding.lost, end) for source, end in zip(kept.provenance.sources, ends, strict=True)]
    return replace(
        kept,
        states=states,
        inputs=inputs,
        signals=replace(kept.signals, embedding=embedding),
        provenance=kept.provenance.only(sources),
    )


def require_dataset(data: object) -> None:
    """Refuse arrays and other things where measured data are expected."""
    advice = "Build them with Trajectories.from_frame, from_arrays or from_file."
    require_kind("Trajectories or a Stream", data, (Trajectories, Stream), advice)


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
    if embedding.input_lead and not data.n_inputs:
        raise KoopsieveError('inputs_at="k+1" has no effect: these trajectories have no inputs. Leave it out.')


def long_enough(data: Trajectories, embedding: Embedding) -> Trajectories:
    """Return the episodes that delays leave a transition of, and warn of those that they do not."""
    needed = embedding.lost + embedding.input_lead + 2
    short = [i for i, x in enumerate(data.states) if len(x) < needed]
    if not short:
        return data
    listed = ", ".join(f"episode {i} ({len(data.states[i])} samples)" for i in short[:5])
    more = f" and {len(short) - 5} more" if len(short) > 5 else ""
    if len(short) == len(data):
        raise KoopsieveError(
            f"With {embedding.lost} delays an episode needs at least {needed} samples, and none has them: "
            f"{listed}{more}. Use fewer delays."
        )
    lost = sum(len(data.states[i]) for i in short)
    warn_user(
        f"With {embedding.lost} delays an episode needs at least {needed} samples. Left out, {lost} samples of "
        f"{data.n_samples}: {listed}{more}."
    )
    kept = data.subset(np.setdiff1d(np.arange(len(data)), short))
    note = f"{len(short)} episode{'s'[: len(short) != 1]} too short for {embedding.lost} delays left out."
    return replace(kept, provenance=kept.provenance.then(Counts(rows_dropped=lost, notes=(note,))))
