"""What is picked on the page is what the command line takes."""

import pytest

from koopsieve import KoopsieveError
from koopsieve.app.choice import JUDGE, UNUSED, Choice
from koopsieve.cli.command_settings import to_command
from koopsieve.cli.reading import read


@pytest.fixture
def choice(tmp_path):
    for name in ("a.csv", "b.csv", "c.csv"):
        (tmp_path / name).write_text("t,Drehzahl Last [1/s],u=1\n0,1,2\n1,2,3\n2,4,1\n")
    (tmp_path / "other.csv").write_text("t,z\n0,1\n1,2\n")
    picked = Choice([tmp_path / name for name in ("a.csv", "b.csv", "c.csv")])
    picked.values |= {"states": ["Drehzahl Last [1/s]"], "inputs": ["u=1"], "time": "t", "delays": 2.0}
    return picked


def test_short_names_go_the_way_of_the_command_line(choice):
    choice.names["Drehzahl Last [1/s]"] = " speed "
    settings = choice.settings()
    assert settings.states == ("speed=Drehzahl Last [1/s]",)
    assert "'speed=Drehzahl Last [1/s]'" in to_command(settings)
    assert settings.delays == 2
    data = read(settings, settings.files)
    assert (data.output_names, data.input_names) == (("speed",), ("u 1",))
    assert data.signals.label("speed") == "speed [1/s]"


def test_a_name_that_is_given_twice_is_refused(choice):
    choice.names |= {"Drehzahl Last [1/s]": "v", "u=1": "v"}
    with pytest.raises(KoopsieveError, match="'v'"):
        read(choice.settings(), choice.settings().files)


def test_files_are_learned_from_judged_on_or_left_out(choice):
    first, second, third = choice.roles
    choice.roles |= {second: JUDGE, third: UNUSED}
    assert choice.settings().files == (str(first),)
    assert choice.settings().test == (str(second),)


def test_columns_that_a_new_file_lacks_are_dropped(choice):
    choice.roles[next(iter(choice.roles)).with_name("other.csv")] = "learn"
    assert choice.common_columns() == ["t"]
    assert (choice.signals, choice.values["time"]) == ([], "t")
