"""Every command and every piece of Python in the documentation runs as written; `test_readme.py` runs the README."""

import ast
import inspect
import pydoc
import re
import shlex
import sys
import warnings
from pathlib import Path

import pytest

import koopsieve
from koopsieve import KoopsieveWarning
from koopsieve.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)
RUNS = {"console", "sh", "python", "toml"}


def blocks(page):
    return [(kind, text) for kind, text in BLOCK.findall(page.read_text()) if kind in RUNS]


def commands(text):
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if words[:1] == ["koopsieve"]:
            yield words


def run_command(words, monkeypatch):
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0, " ".join(words)


@pytest.mark.parametrize("page", [page for page in PAGES[1:] if blocks(page)], ids=lambda page: page.name)
def test_what_a_page_says_to_do_can_be_done(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main() replaces it
    namespace = {}
    for kind, text in blocks(page):
        if kind == "toml":
            (tmp_path / re.match(r"# (\S+\.toml)\n", text).group(1)).write_text(text)
        elif kind == "python":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", KoopsieveWarning)
                warnings.filterwarnings("ignore", category=FutureWarning, module="casadi")  # do-mpc's way to call it
                exec(compile(text, page.name, "exec"), namespace)  # blocks of a page build on each other
        else:
            for words in commands(text):
                run_command(words, monkeypatch)
    if page.name == "index.md":  # copied and pasted, they lead from a CSV to a report
        assert (tmp_path / "bench.csv").exists()
        assert (tmp_path / "result" / "report.html").stat().st_size > 10_000


def test_every_flag_is_in_the_help(capsys, monkeypatch):
    """Flags that the pages name in passing exist too."""
    known = ""
    monkeypatch.setenv("COLUMNS", "200")
    for command in ("sift", "predict", "simulate", "inspect", "compare", "export", "example", "demo", "reproduce"):
        run_command(["koopsieve", command, "--help"], monkeypatch)
        known += capsys.readouterr().out
    known += " --debug --version --install-completion "
    known += "".join(benchmark.read_text() for benchmark in sorted((ROOT / "benchmarks").glob("*.py")))
    named = {flag for page in PAGES for flag in re.findall(r"`[^`\n]*?(--[a-z-]+)", page.read_text())}
    assert named, "no page names a flag"
    assert {flag for flag in named if not re.search(rf"{flag}\b", known)} == set()


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_commands_can_be_copied_without_a_prompt():
    for page in PAGES:
        assert not re.search(r"^```(console|sh|bash)\n(?:[^`]*\n)?\$ ", page.read_text(), re.M), page.name


def test_every_page_is_in_the_contents():
    listed = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text()))
    assert listed == {page.relative_to(ROOT / "docs").as_posix() for page in PAGES[1:]}


def test_every_public_name_is_in_the_reference():
    reference = "".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md"))
    named = set(re.findall(r"^::: koopsieve\.(\w+)$", reference, re.M))
    assert set(koopsieve.__all__) - named == {"KoopsieveError", "KoopsieveWarning", "__version__"}


def test_a_choice_in_a_docstring_begins_with_the_default():
    """The tables of the reference show the first of {"a", "b"} as the default."""
    named = re.findall(
        r"^::: (koopsieve[\w.]+)$", "".join(p.read_text() for p in (ROOT / "docs/reference").glob("*.md")), re.M
    )
    found = 0
    for name in named:
        value = pydoc.locate(name)
        members = (
            [getattr(value, part) for part in vars(value) if not part.startswith("_")]
            if isinstance(value, type)
            else []
        )
        for one in (value, *filter(callable, members)):
            for parameter, first in re.findall(r"^ *(\w+) : \{([^,}]+)", inspect.getdoc(one) or "", re.M):
                default = inspect.signature(one).parameters[parameter].default
                assert repr(default) == repr(ast.literal_eval(first)), f"{name}: {parameter}"
                found += 1
    assert found > 5
