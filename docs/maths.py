"""A Markdown extension: blocks of LaTeX become MathML, which browsers draw without a network or a script.

In a page, a block fenced by ```math holds one displayed formula per line; it may stand in a quotation. Any builder
that takes Python-Markdown's extensions can use it: `PYTHONPATH=docs`, and `maths` among the extensions.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

from latex2mathml.converter import convert
from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor

BLOCK = re.compile(r"^(?P<quoted>(?:> )?)```math\n(?P<lines>.*?)^(?P=quoted)```$", re.M | re.S)
FUNCTIONS = re.compile("<mi>(log|exp)</mi>|<mo>([a-z]{2,})</mo>")  # they keep a little distance from their neighbours
BEFORE_OTHER_FENCES = 28  # those come at 25; at 30 white space is put in order, and places set aside before are lost


class Formulas(Preprocessor):
    """Puts formulas in the place of their blocks, before anything else reads the page."""

    def run(self, lines: list[str]) -> list[str]:
        """Return the page with its formulas set aside."""
        return BLOCK.sub(self._set_aside, "\n".join(lines)).split("\n")

    def _set_aside(self, found: re.Match[str]) -> str:
        quoted = found["quoted"]
        source = "\n".join(line.removeprefix(quoted) for line in found["lines"].splitlines())
        return f"{quoted}\n{quoted}{self.md.htmlStash.store(displayed(source))}\n{quoted}\n"


class Maths(Extension):
    """The extension."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Add the preprocessor."""
        md.preprocessors.register(Formulas(md), "maths", BEFORE_OTHER_FENCES)


def makeExtension(**settings: Any) -> Maths:
    """Return the extension, by the name that Markdown asks for."""
    return Maths(**settings)


def displayed(source: str) -> str:
    """Return the formulas of one block, each with its LaTeX as the text that is copied and read aloud."""
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    return f'<div class="maths">{"".join(map(_formula, lines))}</div>'


def _formula(line: str) -> str:
    formula = FUNCTIONS.sub(r'<mo lspace="0.15em" rspace="0.15em">\1\2</mo>', convert(line, display="block"))
    return formula.replace("<math ", f'<math alttext="{escape(line)}" ', 1)
