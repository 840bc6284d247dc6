"""The page itself: words and tables filled in here, pictures drawn by its own script; nothing is fetched."""

from __future__ import annotations

import base64
import hashlib
import os
import platform
from importlib.metadata import version
from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from koopsieve._types import written_whole
from koopsieve._version import __version__
from koopsieve.plots.layout import lay_out
from koopsieve.report.content import content, script_json
from koopsieve.report.kept import kept_and_why
from koopsieve.report.words import number, probability
from koopsieve.workflow import SieveResult


def write_report(
    result: SieveResult,
    path: str | os.PathLike[str],
    *,
    title: str = "koopsieve",
    story: str = "",
    settings: str = "",
) -> None:
    """Write the report of a run to one HTML file, whole or not at all.

    Parameters
    ----------
    result : SieveResult
    path : path
        Where to; by custom `report.html`.
    title : str
        What was sifted, such as the name of the data file.
    story : str
        A sentence on where the data come from and what the errors are measured on.
    settings : str
        What to give to the program to run this again, shown as it is.
    """
    page = render_report(result, title=title, story=story, settings=settings)
    with written_whole(path) as stream:
        stream.write(page.encode())


def render_report(result: SieveResult, *, title: str = "koopsieve", story: str = "", settings: str = "") -> str:
    """Return the report as HTML; see `write_report`."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(number=number, probability=probability)
    script = _part("script.js")
    return environment.from_string(_part("template.html")).render(
        title=title,
        story=story,
        settings=settings,
        result=result,
        path=result.path,
        kept=set(result.retained.tolist()),
        rows=kept_and_why(result),
        layout=lay_out(result.reduction, result.dictionary.names),
        names=result.dictionary.names,
        outputs=set(result.reduction.outputs),
        sizes=(("all", result.full), ("kept", result.reduced)),
        versions=_versions(),
        style=Markup(_part("style.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=Markup(script_json(content(result))),
    )


def _part(name: str) -> str:
    return files("koopsieve.report").joinpath(name).read_text(encoding="utf-8")


def _versions() -> dict[str, str]:
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"koopsieve": __version__, "Python": platform.python_version(), **packages, "system": platform.platform()}
