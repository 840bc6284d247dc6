"""The checklist of the paper names places that exist, and misses none of the paper's equations."""

import json
import re
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import reproduction_page

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "paper-checklist.md"
ROWS = [line for line in PAGE.read_text().splitlines() if line.startswith("| ") and not line.startswith("| paper |")]
PLACES = sorted({place for row in ROWS for place in re.findall(r"`([\w./-]+)`", row) if "." in place})


def resolve(dotted):
    """Return what a dotted name stands for: a module, or something in one."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for name in parts[count:]:
            found = getattr(found, name)
        return found
    raise ModuleNotFoundError(dotted)


@pytest.mark.parametrize("place", PLACES)
def test_every_place_exists(place):
    if "/" in place:
        assert (ROOT / place).is_file()
    else:
        assert resolve(place) is not None


def test_every_equation_of_the_paper_is_listed():
    first = [row.split("|")[1] for row in ROWS]
    listed = set()
    for cell in first:
        for low, high in re.findall(r"\((\d+)\) – \((\d+)\)", cell):
            listed |= set(range(int(low), int(high) + 1))
        listed |= {int(number) for number in re.findall(r"\((\d+)\)", cell)}
    assert listed == set(range(1, 37))


def test_every_statement_is_listed():
    numbered = ("Definition", 2), ("Proposition", 3), ("Lemma", 2), ("Algorithm", 2), ("Table", 3)
    for name in (f"{kind} {number + 1}" for kind, count in numbered for number in range(count)):
        assert any(row.startswith(f"| {name} |") for row in ROWS), name
    assert sum(row.startswith("| Remark") for row in ROWS) == 3


def test_every_figure_is_listed():
    cells = [row.split("|")[1] for row in ROWS if row.startswith("| Figure")]
    assert [int(number) for cell in cells for number in re.findall(r"\d+", cell)] == list(range(1, 14))


def test_the_reproduction_page_is_that_of_the_committed_numbers():
    """Whoever edits a number, or the numbers alone, finds out here."""
    numbers = json.loads(reproduction_page.NUMBERS.read_text())
    assert reproduction_page.PAGE.read_text() == reproduction_page.page(numbers)


def test_a_changed_number_changes_the_page():
    numbers = json.loads(reproduction_page.NUMBERS.read_text())
    numbers["published"]["wiener-hammerstein"]["long_term"]["reduced"]["IV*"][-1] = 123.4
    assert "123" in reproduction_page.page(numbers)
    assert reproduction_page.page(numbers) != reproduction_page.PAGE.read_text()


@pytest.mark.parametrize("system", reproduction_page.SYSTEMS)
def test_both_runs_are_of_the_same_data_and_settings(system):
    numbers = json.loads(reproduction_page.NUMBERS.read_text())
    default, published = numbers["default"][system], numbers["published"][system]
    assert (default["as_published"], published["as_published"]) == (False, True)
    for method in ("I", "II", "III"):  # the full models do not depend on how method IV is computed
        assert default["one_step"]["full"][method] == published["one_step"]["full"][method]
