"""A Markdown extension: blocks of LaTeX become MathML, which browsers draw without a network or a script.

In a page, a block fenced by ```math holds one displayed formula per line. Any builder that takes Python-Markdown's
extensions can use it: `PYTHONPATH=docs`, and `maths` among the extensions.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

from latex2mathml.converter import convert
from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor

BLOCK = re.compile(r"^```math\n(.*?)^```$", re.M | re.S)
FUNCTIONS = re.compile("<mi>(log|exp)</mi>|<mo>([a-z]{2,})</mo>")  # they keep a little distance from their neighbours
BEFORE_OTHER_FENCES = 40


class Formulas(Preprocessor):
    """Puts formulas in the place of their blocks, before anything else reads the page."""

    def run(self, lines: list[str]) -> list[str]:
        """Return the page with its formulas set aside."""
        page = BLOCK.sub(lambda found: f"\n{self.md.htmlStash.store(displayed(found[1]))}\n", "\n".join(lines))
        return page.split("\n")


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
