"""Citations of equations lead somewhere: (D7) to the derivations, and no equation is cited by a LaTeX label."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DERIVED = re.compile(r"\*\*\(D(\d+)\)\*\*")
CITED = re.compile(r"[(,] ?D(\d+)(?=[,)])")
TEXTS = [*sorted((ROOT / "src").rglob("*.py")), *sorted((ROOT / "docs").glob("*.md")), ROOT / "CONTRIBUTING.md"]
FORMULAS = re.compile(r"^(?:> )?```math\n(.*?)^(?:> )?```$", re.M | re.S)


def derived():
    return [int(number) for number in DERIVED.findall((ROOT / "docs" / "derivation.md").read_text())]


def test_equations_are_numbered_without_gaps():
    assert derived() == list(range(1, len(derived()) + 1))


def test_every_equation_that_is_cited_is_derived():
    known = set(derived())
    cited = {int(number) for path in TEXTS for number in CITED.findall(path.read_text())}
    assert cited <= known
    assert len(cited) > len(known) / 2


def test_the_paper_is_cited_by_printed_numbers():
    label = re.compile(r"\beqs?\. \([a-z]|equation \([a-z_]+\)")
    assert [path.name for path in TEXTS if label.search(path.read_text())] == []


def test_every_formula_is_understood():
    """LaTeX that the converter does not know would be printed as it stands."""
    converter = pytest.importorskip("latex2mathml.converter", reason="pip install '.[docs]'")
    blocks = [block for page in (ROOT / "docs").glob("*.md") for block in FORMULAS.findall(page.read_text())]
    lines = [line.removeprefix("> ") for block in blocks for line in block.splitlines()]
    assert len(lines) > 100
    for line in lines:
        found = converter.convert(line)
        assert "\\" not in found, line
        assert line.count("{") == line.count("}"), line
        assert not re.search(r"<mi>&(amp;)?</mi>", found), line
