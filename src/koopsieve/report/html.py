"""Pages, each one file that asks for nothing from outside: words and tables are filled in here, a script draws."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from koopsieve._display import number, per_cent, probability, steps
from koopsieve._written import json_number, plain, write_text
from koopsieve.forms import Model
from koopsieve.io.run import summarise
from koopsieve.plots.dependency_plots import dependencies
from koopsieve.plots.layout import NARROW, WIDTH, lay_out
from koopsieve.report.content import chains, content
from koopsieve.sifting.result import Sifted, result_of


def rendered(template: str, scripts: Sequence[str], data: Mapping[str, Any], **values: Any) -> str:
    """Return the page of a template, which reads `values`; its script, parts in one scope, reads `data`."""
    environment = Environment(
        loader=FunctionLoader(lambda name: part(f"templates/{name}")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=lambda value: number(json_number(value)),
        per_cent=lambda value: per_cent(json_number(value)),
        probability=probability,
        steps=steps,
        finite=json_number,
        mean=lambda rows: [sum(map(json_number, column)) / len(column) for column in zip(*rows, strict=True)],
        worst=lambda values: min(map(json_number, values)),
    )
    script = joined(scripts)
    return environment.get_template(template).render(
        **values,
        style=Markup(part("templates/style.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=Markup(script_json(data)),
    )


def script_json(value: Any) -> str:
    r"""Return JSON that can stand inside a script element, whatever names the user's columns have.

    Examples
    --------
    >>> script_json({"name": "</script><b>"})
    '{"name":"\\u003c/script\\u003e\\u003cb\\u003e"}'
    """
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def joined(scripts: Sequence[str]) -> str:
    """Return the parts of a script in one scope of their own."""
    body = "\n".join(part(f"script/{name}.js") for name in scripts)
    return f'"use strict";\n(function () {{\n{body}\n}})();\n'


def part(name: str) -> str:
    """Return a file of this package as text."""
    return files("koopsieve.report").joinpath(name).read_text(encoding="utf-8")


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
        before = model.history - 1 if embedding.input_delays else 0
        rows = before + horizon + (embedding.input_lead if embedding.input_delays else 0)
        where = f"along the history and for {steps(horizon)} ahead" if before else f"for {steps(horizon)} ahead"
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


_MAX_WRITTEN = 1000  # terms of all equations together that the page holds
SCRIPTS = ("values", "chart", "record", "dependencies", "downloads", "figures")


def write_report(
    given: Sifted,
    path: str | os.PathLike[str],
    *,
    title: str = "koopsieve",
    story: str = "",
    command: str = "",
    settings: str = "",
) -> None:
    """Write the report of a run to one HTML file, whole or not at all.

    Parameters
    ----------
    given : SieveResult or fitted KoopmanSieve
    path : path
        File to write; usually `report.html`.
    title : str
        What was sifted, such as the name of the data file.
    story : str
        A sentence on where the data come from and what the errors are measured on.
    command : str
        What to type to run this again.
    settings : str
        A settings file that runs this again, shown as it is.
    """
    write_text(path, render_report(given, title=title, story=story, command=command, settings=settings))


def _all_equations(model: Model) -> str:
    """Return the equations with all their terms; empty where they would fill the page."""
    from koopsieve.export.formulas import equations  # SymPy is loaded where it is used

    size = len(model.carried_names) * len(model.term_names)
    return equations(model) if size <= _MAX_WRITTEN else ""


def render_report(
    given: Sifted, *, title: str = "koopsieve", story: str = "", command: str = "", settings: str = ""
) -> str:
    """Return the report as HTML; see `write_report`."""
    from koopsieve.export.formulas import equations

    result = result_of(given)
    summary, rows, graph = plain(summarise(result)), chains(result), dependencies(result)
    data = content(result, rows)
    terms = [(term["name"], term["formula"]) for term in summary["coefficients"]]
    return rendered(
        "report.html",
        SCRIPTS,
        {**data, "summary": summary},
        title=title,
        story=story,
        command=command,
        settings=settings,
        summary=summary,
        result=result,
        rows=rows,
        shown=data["record"],
        movable=data["dependencies"]["movable"],
        matrices=data["matrices"] is not None,
        responses=data["responses"],
        label=result.model.signals.label,
        equations=equations(result.model, short=True),
        all_equations=_all_equations(result.model),
        graph=graph,
        layouts={"wide": lay_out(graph, WIDTH), "narrow": lay_out(graph, NARROW)},
        formulas=["" if formula == name else formula for name, formula in terms],
        python_code=python_code(result.model, max(result.horizons)),
        c_code=c_code(result.model, max(result.horizons)),
    )
