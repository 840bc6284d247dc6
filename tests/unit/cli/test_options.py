"""Options of commands: from files and flags to settings and back, whatever names there are; those of reproduce."""

import shlex
import sys
import tomllib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

import koopsieve.cli.sift
import koopsieve.reproduction.reproduce
from koopsieve import KoopsieveError
from koopsieve.cli.app import app
from koopsieve.cli.command_settings import Settings, gather, to_command, to_toml
from koopsieve.cli.options import updated
from koopsieve.execution.executors import bar

MINIMAL = {"files": ["a.csv"], "states": ["y"]}


def config(tmp_path, text):
    path = tmp_path / "settings.toml"
    path.write_text(text)
    return path


def test_flags_beat_the_file_and_the_file_beats_defaults(tmp_path):
    path = config(tmp_path, 'files = "a.csv"\nstates = ["y"]\ninput-delays = 3\nkernels = 7\nhorizons = [20, 5]\n')
    settings = gather(path, {"kernels": 9, "input_delays": None, "inputs": []})
    assert settings == Settings(files=("a.csv",), states=("y",), input_delays=3, kernels=9, horizons=(5, 20))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("horizon = [1]", r"settings.toml has the unknown key 'horizon'. Did you mean 'horizons'\?"),
        ("zzz = 1", "unknown key 'zzz'. Known: files, states, inputs"),
        ("delays = 1.5", "delays must be a whole number, 0 or more, or auto. Got 1.5. It comes from .*settings.toml"),
        ("delays = true", "delays must be a whole number"),
        ("threshold = 1.0", "threshold must lie between 0 and 1, both excluded. Got 1.0"),
        ("horizons = []", "horizons must be one or more whole numbers, each at least 1"),
        ("horizons = [0]", "horizons must be one or more whole numbers"),
        ("states = 3", "states must be text, or a list of texts"),
        ('gaps = "fill"', "gaps must be one of refuse, split, interpolate"),
        ('compare = ["V"]', "compare must be some of least-squares, thresholded-least-squares"),
        ("dt = 0", "dt must be a positive number. Got 0. It comes from"),
        ("delays = = 1", "is not a TOML file"),
    ],
)
def test_what_is_wrong_is_refused_by_name(tmp_path, text, message):
    with pytest.raises(KoopsieveError, match=message):
        gather(config(tmp_path, text), MINIMAL)


@given(st.lists(st.text(min_size=1, alphabet=st.characters(codec="utf-8")), min_size=1), st.floats(0.01, 0.99))
def test_the_settings_written_are_the_settings_read(names, threshold):
    settings = Settings(files=("a.csv",), states=tuple(names), threshold=threshold)
    assert updated(Settings(), tomllib.loads(to_toml(settings)), "here") == settings


NAMES = st.lists(st.text(min_size=1, max_size=6, alphabet=st.characters(codec="utf-8", exclude_characters="\0")))


def settings_of(command):
    """Return the settings that a command line arrives at."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(koopsieve.cli.sift, "run_and_write", lambda settings, *_: found.append(settings))
        app(shlex.split(command)[1:], standalone_mode=False)
    return found[0]


@given(NAMES.filter(bool), NAMES, NAMES, st.floats(0.01, 0.99))
@example(["-y", "$HOME", "a b"], ["-u"], ["--out"], 0.5)
def test_the_command_gives_the_settings_again(states, inputs, tests, threshold):
    settings = Settings(
        files=("my bench.csv", "-odd.csv"),
        states=tuple(states),
        inputs=tuple(inputs),
        test=tuple(tests),
        threshold=threshold,
        horizons=(1, 7),
        delays=3,
        dt=0.1,
        scheduler="tcp://host:8786",
    )
    command = to_command(settings)
    if not command:
        assert any("," in name or name != name.strip() for name in (*states, *inputs))
        return
    again = settings_of(command)
    assert again.files == ("my bench.csv", "./-odd.csv")
    assert {**vars(again), "files": ()} == {**vars(settings), "files": ()}


def test_defaults_are_left_out():
    assert to_command(Settings(files=("a.csv",), states=("y",))) == "koopsieve sift a.csv --states y"


@pytest.fixture
def reproduced(monkeypatch):
    """Return what a command line asks `reproduce` for, and what it prints."""
    calls = []
    monkeypatch.delenv("KOOPSIEVE_DATA", raising=False)
    module = sys.modules["koopsieve.reproduction.reproduce"]
    monkeypatch.setattr(module, "reproduce", lambda *asked, **options: calls.append((*asked, options)) or {"x": {}})

    def run(*arguments):
        done = CliRunner().invoke(app, ["reproduce", *map(str, arguments)])
        return done.exit_code, done.output, calls

    return run


def test_reproduce_is_asked_for_what_was_given(reproduced, tmp_path):
    own = {"runs": None, "data": None, "seed": 0, "quick": False, "as_published": False, "workers": None}
    code, out, calls = reproduced("lorenz", "--out", tmp_path)
    assert (code, "summary.json" in out) == (0, True)
    given = ("--runs", 7, "--data", tmp_path, "--seed", 3, "--quick", "--as-published")
    assert reproduced("all", "--out", tmp_path, *given)[0] == 0
    other = {**own, "runs": 7, "data": tmp_path, "seed": 3, "quick": True, "as_published": True}
    assert calls == [("lorenz", tmp_path, {**own, "progress": bar}), ("all", tmp_path, {**other, "progress": bar})]
    assert list(bar(iter([1, 2, 3]), "Counting", 3)) == [1, 2, 3]


@pytest.mark.parametrize("arguments", [("pendulum", "--out", "x"), ("lorenz",), ("lorenz", "--out", "x", "--runs", 0)])
def test_what_cannot_be_reproduced_is_refused(reproduced, arguments):
    code, _, calls = reproduced(*arguments)
    assert (code != 0, calls) == (True, [])
