"""Citations of equations lead somewhere: (D7) to the derivations, and no equation is cited by a LaTeX label."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DERIVED = re.compile(r"\*\*\(D(\d+)\)\*\*")
CITED = re.compile(r"[(,] ?D(\d+)(?=[,)])")
TEXTS = [*sorted((ROOT / "src").rglob("*.py")), *sorted((ROOT / "docs").glob("*.md")), ROOT / "CONTRIBUTING.md"]


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
