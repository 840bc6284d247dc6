"""Pages put together: template, style, script and data become one file that asks for nothing from outside."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from koopsieve._display import number, per_cent, probability, steps
from koopsieve._json import json_number
from koopsieve.report.content import script_json


def rendered(template: str, scripts: Sequence[str], data: Mapping[str, Any], **values: Any) -> str:
    """Return a page.

    Parameters
    ----------
    template : str
        Name of the page's template.
    scripts : sequence of str
        Names of the parts of its script, in order; they share one scope.
    data : mapping
        What the script reads.
    values
        What the template reads.
    """
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
        done=what_was_done,
    )
    script = joined(scripts)
    return environment.get_template(template).render(
        **values,
        style=Markup(part("templates/style.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=Markup(script_json(data)),
    )


def what_was_done(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what was done to the data, beyond what is shown anyway, as names and values in words.

    What did not happen is not listed: nothing filled in, nothing dropped.
    """
    known = ("samples", "judged_episodes", "channels")
    listed = {key: value for key, value in facts.items() if key not in known and value not in (0, None, [], ())}
    if "in_words" in listed:
        listed.pop("notes", None)  # they are among the words
    return [(key.replace("_", " "), _in_words(value)) for key, value in listed.items()]


def _in_words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_in_words(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_in_words, value)) or "none"
    return "none" if value is None else str(value)


def joined(scripts: Sequence[str]) -> str:
    """Return the parts of a script in one scope of their own."""
    body = "\n".join(part(f"script/{name}.js") for name in scripts)
    return f'"use strict";\n(function () {{\n{body}\n}})();\n'


def part(name: str) -> str:
    """Return a file of this package as text."""
    return files("koopsieve.report").joinpath(name).read_text(encoding="utf-8")
