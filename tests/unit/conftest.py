"""Runs of the sieve that are small enough to be made once and looked at by many tests."""

import pytest

from koopsieve import GraphSieve
from tests.runs import duffing_result, in_form, vehicle_result


@pytest.fixture(scope="session")
def small_result():
    """20 terms of a Duffing oscillator, of which about half are kept; two further methods stand beside."""
    return duffing_result()


@pytest.fixture(scope="session")
def graph_result():
    """The same, kept by the paper's graph."""
    return duffing_result(sieve=GraphSieve(), methods=False)


@pytest.fixture(scope="session")
def vehicle():
    """Three outputs, two inputs, four episodes to judge on."""
    return vehicle_result()


@pytest.fixture(scope="session")
def bilinear_result():
    """A result in the bilinear form."""
    return in_form("bilinear")


@pytest.fixture(scope="session")
def reprojected_result():
    """A result in the reprojected form."""
    return in_form("reprojected")


@pytest.fixture(
    scope="session", params=["small_result", "graph_result", "vehicle", "bilinear_result", "reprojected_result"]
)
def any_result(request):
    """Each of the above."""
    return request.getfixturevalue(request.param)
