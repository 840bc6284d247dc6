"""A reprojected model simulated sample by sample from lists of past outputs and inputs: nothing in common with the fast
code."""

import numpy as np


def simulate(step, outputs, inputs, start, length, output_delays, input_delays):
    """Return y[start+1], …, y[start+length], where step(x, u) gives the next outputs and x is written out by hand.

    `outputs` holds one row per sample up to `start` at least; `inputs` one row per sample, acting from it to the next.
    """
    past = [np.array(row) for row in outputs[: start + 1]]
    found = []
    for k in range(start, start + length):
        x = [value for delay in range(output_delays + 1) for value in past[k - delay]]
        x += [value for delay in range(1, input_delays + 1) for value in inputs[k - delay]]
        following = step(np.array(x), np.array(inputs[k]))
        past.append(np.array(following))
        found.append(following)
    return np.array(found)
