"""Code that uses the model of a run, ready to be copied."""

from __future__ import annotations

from koopsieve._display import steps
from koopsieve.forms import Model


def python_code(model: Model, horizon: int) -> str:
    """Return a program that loads `model.npz` and predicts; arrays of zeros stand for the user's measurements."""
    outputs, inputs = ", ".join(model.output_names), ", ".join(model.input_names)
    embedding, n, width = model.signals.embedding, len(model.output_names), len(model.input_names)
    lines = [
        "import numpy as np",
        "",
        "from koopsieve import Model",
        "",
        'model = Model.load("model.npz")',
        f"history = np.zeros(({model.history}, {n}))  # the last {_rows(model.history)} of {_comment(outputs)}",
    ]
    call = f"model.predict(history, horizon={horizon})"
    if width:
        along = model.history - 1 if embedding.input_delays else 0
        rows = along + horizon + (embedding.ahead if embedding.input_delays else 0)
        where = f"along the history and for {steps(horizon)} ahead" if along else f"for {steps(horizon)} ahead"
        lines.append(f"inputs = np.zeros(({rows}, {width}))  # {where}: {_comment(inputs)}")
        call = f"model.predict(history, inputs, horizon={horizon})"
    lines.append(f"predicted = {call}  # shape ({horizon}, {n})")
    return "\n".join(lines) + "\n"


def c_code(model: Model, horizon: int) -> str:
    """Return a C program that uses the files of `model.to_c`; empty if the dictionary holds the user's own code."""
    if any(any(family.code()) for family in (*model.dictionary.families, *model.dictionary.input_families)):
        return ""
    past, acting = ("past", "input") if model.input_names else ("0", "0")
    declared = [
        "    double past[MODEL_HISTORY * MODEL_INPUTS] = {0.0}; /* inputs along these rows */",
        "    double input[MODEL_INPUTS] = {0.0}; /* the input of a step */",
    ]
    lines = [
        "#include <stdio.h>",
        "#include <string.h>",
        "",
        '#include "model.h"',
        "",
        "int main(void) {",
        "    double measured[MODEL_HISTORY * MODEL_OUTPUTS] = {0.0}; /* the last rows, newest last */",
        *(declared if model.input_names else []),
        "    double state[MODEL_STATES], carried[MODEL_CARRIED], next[MODEL_CARRIED], output[MODEL_OUTPUTS];",
        f"    model_state(measured, {past}, state);",
        "    model_start(state, carried);",
        f"    for (int step = 1; step <= {horizon}; step++) {{",
        f"        model_step(carried, {acting}, next);",
        "        memcpy(carried, next, sizeof carried);",
        "        model_read(carried, output);",
        '        printf("%d %.6g\\n", step, output[0]);',
        "    }",
        "    return 0;",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _rows(count: int) -> str:
    return "measured row" if count == 1 else f"{count} measured rows, newest last,"


def _comment(names: str) -> str:
    """Return names that can stand in a comment: on one line."""
    return " ".join(names.split())
