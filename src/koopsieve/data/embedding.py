"""The arithmetic of delay embedding, for one episode or one block of one."""

from __future__ import annotations

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.data.names import delayed_name


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
