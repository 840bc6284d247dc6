"""A run of the sieve that is small enough to be made once and looked at by many tests."""

import pytest

from koopsieve import HorizonSieve
from tests.runs import duffing_result


@pytest.fixture(scope="session")
def small_result():
    """19 observables of a Duffing oscillator, of which about half are kept."""
    return duffing_result()


@pytest.fixture(scope="session")
def path_result():
    """The same with its size chosen along a path."""
    return duffing_result(family=HorizonSieve())
