"""The command in a report gives the same settings again, whatever names there are."""

import shlex

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import koopsieve.cli.sift
from koopsieve.cli.app import app
from koopsieve.cli.command import to_command
from koopsieve.cli.settings import Settings

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
