"""Which columns and how many delays a saved model wants, read back from the names of its states."""

from __future__ import annotations

from koopsieve.data.names import delayed_name
from koopsieve.model import LiftedModel


def measured_names(model: LiftedModel) -> tuple[tuple[str, ...], int, int]:
    """Return the measured columns a model was made from, and how many delays of outputs and of inputs it has.

    Delayed copies are named by rule (`y[k-2]`), so the names tell; nothing else needs to be stored.
    """
    names = model.dictionary.state_names
    measured = tuple(names[i] for i in model.dictionary.measured)
    return measured, _longest(measured[:1], names), _longest(model.input_names[:1], names)


def _longest(columns: tuple[str, ...], names: tuple[str, ...]) -> int:
    delay = 0
    while columns and delayed_name(columns[0], delay + 1) in names:
        delay += 1
    return delay
