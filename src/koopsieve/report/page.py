"""The page itself: words and tables filled in here, pictures drawn by its own script; nothing is fetched."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from koopsieve._written import plain, write_text
from koopsieve.forms import Model
from koopsieve.io.run import summarise
from koopsieve.plots.dependencies import dependencies
from koopsieve.plots.layout import NARROW, WIDTH, lay_out
from koopsieve.report.content import chains, content
from koopsieve.report.render import c_code, python_code, rendered
from koopsieve.sifting.result import Sifted, result_of

_MAX_WRITTEN = 1000  # terms of all equations together that the page holds
SCRIPTS = ("values", "chart", "record", "drives", "downloads", "figures")


def write_report(
    given: Sifted,
    path: str | os.PathLike[str],
    *,
    title: str = "koopsieve",
    story: str = "",
    command: str = "",
    settings: str = "",
    more: Mapping[str, Any] | None = None,
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
    more : mapping, optional
        Further entries of `summary.json`, as for `write_run`; what is under "data" is shown with the data.
    """
    page = render_report(given, title=title, story=story, command=command, settings=settings, more=more)
    write_text(path, page)


def _all_equations(model: Model) -> str:
    """Return the equations with all their terms; empty where they would fill the page."""
    from koopsieve.export.formulas import equations  # SymPy is loaded where it is used

    size = len(model.carried_names) * len(model.term_names)
    return equations(model) if size <= _MAX_WRITTEN else ""


def render_report(
    given: Sifted,
    *,
    title: str = "koopsieve",
    story: str = "",
    command: str = "",
    settings: str = "",
    more: Mapping[str, Any] | None = None,
) -> str:
    """Return the report as HTML; see `write_report`."""
    from koopsieve.export.formulas import equations

    result = result_of(given)
    summary, rows, graph = plain(summarise(result, more)), chains(result), dependencies(result)
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
        movable=data["drives"]["movable"],
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
