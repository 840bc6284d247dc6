"""A hook of the documentation: blocks of LaTeX become MathML, which browsers draw without a network or a script.

In a page, a block fenced by ```math holds one displayed formula per line.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

from latex2mathml.converter import convert

FUNCTIONS = re.compile("<mi>(log|exp)</mi>|<mo>([a-z]{2,})</mo>")  # they keep a little distance from their neighbours


def on_config(config: Any) -> Any:
    """Tell the extension for fenced blocks what to do with formulas."""
    settings = config.mdx_configs.setdefault("pymdownx.superfences", {})
    settings["custom_fences"] = [{"name": "math", "class": "maths", "format": displayed}]
    return config


def displayed(source: str, *_: Any, **__: Any) -> str:
    """Return the formulas of one block, each with its LaTeX as the text that is copied and read aloud."""
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    return f'<div class="maths">{"".join(map(_formula, lines))}</div>'


def _formula(line: str) -> str:
    formula = FUNCTIONS.sub(r'<mo lspace="0.15em" rspace="0.15em">\1\2</mo>', convert(line, display="block"))
    return formula.replace("<math ", f'<math alttext="{escape(line)}" ', 1)
