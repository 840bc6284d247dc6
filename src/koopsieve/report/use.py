"""Code that uses the model of a run, ready to be copied."""

from __future__ import annotations

from koopsieve._words import steps
from koopsieve.model import Model


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


def c_code(model: Model) -> str:
    """Return the command that writes the model as C; empty for a model that cannot be written so."""
    return "koopsieve export model.npz --to c --out model_c\n" if hasattr(model, "to_c") else ""


def _rows(count: int) -> str:
    return "measured row" if count == 1 else f"{count} measured rows, newest last,"


def _comment(names: str) -> str:
    """Return names that can stand in a comment: on one line."""
    return " ".join(names.split())
