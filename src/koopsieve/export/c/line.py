"""C of the delay line: the state from raw rows, the shift by one sample, and a free run along a record."""

from __future__ import annotations

from koopsieve.data import Signals
from koopsieve.export.c.header import Sizes
from koopsieve.export.c.terms import function


def line_source(signals: Signals, sizes: Sizes, name: str) -> str:
    """Return the functions state and shift."""
    return _state(signals, sizes, name) + _shift(signals, sizes, name)


def _state(signals: Signals, sizes: Sizes, name: str) -> str:
    embedding, n, width = signals.embedding, sizes.outputs, sizes.inputs
    last = embedding.history - 1
    past = f"""    for (int delay = 0; delay <= {embedding.state_delays}; delay++)
        for (int i = 0; i < {n}; i++)
            state[delay * {n} + i] = outputs[({last} - delay) * {n} + i];
"""
    first = n * (embedding.state_delays + 1)
    past_inputs = f"""    for (int delay = 1; delay <= {embedding.input_delays}; delay++)
        for (int i = 0; i < {width}; i++)
            state[{first} + (delay - 1) * {width} + i] = inputs[({last + embedding.ahead} - delay) * {width} + i];
"""
    head = f"void {name}_state(const real_t *outputs, const real_t *inputs, real_t *state)"
    return function(head, past + (past_inputs if embedding.input_delays else ""))


def _shift(signals: Signals, sizes: Sizes, name: str) -> str:
    embedding, n, width = signals.embedding, sizes.outputs, sizes.inputs
    split = n * (1 + embedding.state_delays)
    moved = f"    for (int i = {split - 1}; i >= {n}; i--)\n        state[i] = state[i - {n}];\n"
    moved_inputs = f"""    for (int i = {sizes.states - 1}; i >= {split + width}; i--)
        state[i] = state[i - {width}];
    for (int i = 0; i < {width}; i++)
        state[{split} + i] = input[i];
"""
    new = f"    for (int i = 0; i < {n}; i++)\n        state[i] = output[i];\n"
    body = (moved if embedding.state_delays else "") + new + (moved_inputs if embedding.input_delays else "")
    return function(f"void {name}_shift(real_t *state, const real_t *output, const real_t *input)", body)


def simulate_source(signals: Signals, sizes: Sizes, name: str) -> str:
    """Return the function that runs the model freely along a record."""
    embedding = signals.embedding
    first = embedding.history - 1 + embedding.ahead
    acting = f"inputs + (k + {first}) * {sizes.inputs}" if sizes.inputs else "inputs"
    body = f"""    real_t state[{sizes.states}], carried[2][{sizes.carried}];
    {name}_state(outputs, inputs, state);
    {name}_start(state, carried[0]);
    for (int k = 0; k < samples - {embedding.history}; k++) {{
        {name}_step(carried[k % 2], {acting}, carried[(k + 1) % 2]);
        {name}_read(carried[(k + 1) % 2], simulated + k * {sizes.outputs});
    }}
"""
    return function(
        f"void {name}_simulate(const real_t *outputs, const real_t *inputs, int samples, real_t *simulated)", body
    )
