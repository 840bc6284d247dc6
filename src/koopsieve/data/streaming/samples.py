"""Samples checked while they stream by: the same columns throughout, and every one of them finite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data.streaming.blocks import Block, Piece


def checked(pieces: Iterator[Piece], state_names: Sequence[str], input_names: Sequence[str]) -> Iterator[Piece]:
    """Yield the same pieces, refusing a sample that cannot be used where it comes by."""
    for piece in pieces:
        yield Piece(piece.label, _checked_blocks(piece, state_names, input_names))


def _checked_blocks(piece: Piece, state_names: Sequence[str], input_names: Sequence[str]) -> Iterator[Block]:
    row, pending = 0, np.zeros((0, len(input_names)))
    for block in piece.blocks:
        _check_columns(block.states, state_names, "state", piece.label)
        _check_columns(block.inputs, input_names, "input", piece.label)
        _check_finite(block.states, state_names, row, piece.label)
        # the last input of an episode acts on nothing and may be missing, so each waits until a sample follows it
        _check_finite(pending, input_names, row - 1, piece.label)
        _check_finite(block.inputs[: len(block.states) - 1], input_names, row, piece.label)
        pending = block.inputs[len(block.states) - 1 :]
        row += len(block.states)
        yield block


def _check_columns(values: FloatArray, names: Sequence[str], what: str, label: str) -> None:
    if values.ndim != 2 or values.shape[1] != len(names):
        raise KoopsieveError(
            f"All blocks must have the same {what} columns. Expected {len(names)} ({', '.join(names[:4])}), got shape "
            f"{values.shape} in {label}."
        )


def _check_finite(values: FloatArray, names: Sequence[str], first: int, label: str) -> None:
    if not np.isfinite(values).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(values))[0])
        raise KoopsieveError(
            f"{names[column]!r} is missing or infinite ({values[row, column]}) at row {first + row} of {label}. "
            "Streams cannot jump over missing samples: fill them in, or start a new episode after the gap."
        )
