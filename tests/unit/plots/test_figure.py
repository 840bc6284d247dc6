"""How models and methods look, in one place; ticks that do not overlap."""

import pytest

from koopsieve.plots.figure import METHODS, MODELS, NUMERALS, apart, look_of, looks_of, tick_text


def test_every_known_name_has_a_look_of_its_own():
    looks = [*MODELS.values(), *METHODS.values()]
    assert len({(str(look["color"]), look["marker"]) for look in looks}) == len(looks)
    assert {numeral: look_of(numeral) for numeral in NUMERALS} == {
        numeral: METHODS[method] for numeral, method in NUMERALS.items()
    }


def test_unknown_methods_get_different_looks():
    looks = looks_of(["mine", "yours", "sifted", "mine"])
    assert list(looks) == ["mine", "yours", "sifted"]
    assert looks["mine"] != looks["yours"]
    assert looks["sifted"] == MODELS["sifted"]


@pytest.mark.parametrize(
    ("value", "text"), [(1.0, "1"), (0.001, "0.001"), (1e-4, "10⁻⁴"), (1e5, "10⁵"), (20.0, "20"), (0.0, "0")]
)
def test_a_tick_is_a_plain_number(value, text):
    assert tick_text(value) == text


def test_crowded_ticks_are_thinned_and_the_last_stays():
    assert apart([1, 2, 3, 5, 7, 9, 10, 11, 12]) == [1, 2, 3, 5, 7, 12]
