"""The command line hands over what was asked, and nothing else."""

import sys

import pytest
import typer
from typer.testing import CliRunner

import koopsieve.reproduction.reproduce  # noqa: F401
from koopsieve.cli.app import reproduce
from koopsieve.execution.executors import bar


@pytest.fixture
def asked(monkeypatch):
    calls = []

    def instead(system, out, **options):
        calls.append((system, out, options))
        return {system: {}}

    monkeypatch.delenv("KOOPSIEVE_DATA", raising=False)
    monkeypatch.setattr(sys.modules["koopsieve.reproduction.reproduce"], "reproduce", instead)
    return calls


def run(*arguments):
    app = typer.Typer()
    app.command()(reproduce)
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_defaults_are_the_papers(asked, tmp_path):
    result = run("lorenz", "--out", tmp_path)
    assert result.exit_code == 0
    assert "summary.json" in result.output
    system, out, options = asked[0]
    assert (system, out) == ("lorenz", tmp_path)
    assert options.pop("progress") is bar
    assert options == {
        "runs": None, "data": None, "seed": 0, "quick": False, "as_published": False, "workers": None
    }  # fmt: skip


def test_options_arrive(asked, tmp_path):
    run("all", "--out", tmp_path, "--runs", 7, "--data", tmp_path, "--seed", 3, "--quick", "--as-published")
    _, _, options = asked[0]
    assert (options["runs"], options["data"], options["seed"]) == (7, tmp_path, 3)
    assert options["quick"]
    assert options["as_published"]


@pytest.mark.parametrize("arguments", [("pendulum", "--out", "x"), ("lorenz",), ("lorenz", "--out", "x", "--runs", 0)])
def test_what_cannot_be_used_is_refused(asked, arguments):
    assert run(*arguments).exit_code == 2
    assert not asked


def test_progress_passes_everything_on(capsys):
    assert list(bar(iter([1, 2, 3]), "Counting", 3)) == [1, 2, 3]
