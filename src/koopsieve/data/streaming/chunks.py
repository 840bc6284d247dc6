"""What a user's iterator yields as an origin: chunks of rows, each with the name of its episode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError, real_array
from koopsieve.data.streaming.blocks import Block, Piece
from koopsieve.data.streaming.places import Places

Chunk = tuple[Any, FloatArray, FloatArray]  # episode, states, inputs


@dataclass(frozen=True, eq=False)
class Chunks:
    """What a user's iterator yields, chunk after chunk; it has no parts and no known length."""

    chunks: Callable[[], Iterable[Any]]

    n_samples: None = None

    def episodes(self) -> None:
        """Return nothing: which there are is known after they were read."""

    def pieces(self, rows: int) -> Iterator[Piece]:
        """Yield one piece per run of chunks of the same episode."""
        finished: set[Any] = set()
        for episode, chunks in groupby(map(as_chunk, self.chunks()), key=lambda chunk: chunk[0]):
            refuse_return(episode, finished, "the chunks")
            finished.add(episode)
            yield _sliced(chunks, f"episode {episode!r}", rows)

    def parts(self, count: int, reach: int) -> Sequence[Chunks]:
        """Return the one part there is."""
        return (self,)


def as_chunk(chunk: Any) -> Chunk:
    """Return (episode, states, inputs) with states and inputs as matrices.

    Raises
    ------
    KoopsieveError
        If the chunk is not such a triple, or not of real numbers, or states and inputs do not go together.
    """
    if not isinstance(chunk, tuple) or len(chunk) not in (2, 3):
        raise KoopsieveError(
            "A chunk must be (episode, states) or (episode, states, inputs), the episode any name that stays the same "
            f"until the next episode starts. Got {type(chunk).__name__}."
        )
    episode = _name(chunk[0])
    what = f"A chunk of episode {episode!r}"
    states, *inputs = (real_array(what, values) for values in chunk[1:])
    states, *inputs = (values[:, None] if values.ndim == 1 else values for values in (states, *inputs))
    u = inputs[0] if inputs else np.zeros((len(states) if states.ndim else 0, 0))
    if states.ndim != 2 or u.ndim != 2 or len(u) not in (len(states), len(states) - 1):
        raise KoopsieveError(f"{what} needs states (rows, n) and inputs (rows, l). Got {states.shape} and {u.shape}.")
    return episode, states, u


def _name(episode: Any) -> Any:
    """Refuse a name that is not equal to itself, or cannot be remembered: episodes could not be told apart."""
    try:
        known = episode in {episode} and episode == episode
    except (TypeError, ValueError):
        known = False
    if not known or episode is None:
        raise KoopsieveError(f"The episode of a chunk must be a number or a text. Got {episode!r}.")
    return episode


def refuse_return(episode: Any, finished: set[Any], source: str) -> None:
    """Refuse an episode that was left for another and comes back."""
    if episode in finished:
        raise KoopsieveError(
            f"Episode {episode!r} comes back in {source} after another episode had begun. Its rows must follow one "
            "another: put the files (or chunks) in order, or give the second stretch a name of its own."
        )


def _sliced(chunks: Iterable[Chunk], label: str, rows: int) -> Iterator[Block]:
    passed = 0
    for _, states, inputs in chunks:
        for a in range(0, len(states), rows):
            here = states[a : a + rows]
            yield Block(here, inputs[a : a + rows], Places.of(label, passed + a, len(here)))
        passed += len(states)
