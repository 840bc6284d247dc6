"""The settings of `sift`: one value for every way in, and nothing in it without an effect."""

import inspect
from dataclasses import fields

import numpy as np
import pytest
from sklearn.base import clone

from koopsieve import Embedding, KoopmanSieve, KoopsieveError, LeastSquares, SparseBayes, States, Trajectories, sift
from koopsieve.cli.command_settings import Settings, gather
from koopsieve.execution import silent
from koopsieve.execution.executors import bar
from koopsieve.sieve import GraphSieve, HorizonSieve, SimulationSieve
from koopsieve.sifting.settings import SiftSettings

METHODS = {"least squares": LeastSquares()}


def test_sift_and_koopman_sieve_have_the_same_parameters_and_defaults():
    expected = {one.name: one.default for one in fields(SiftSettings)}
    of_sift = dict(inspect.signature(sift).parameters)
    assert of_sift.pop("data").default is inspect.Parameter.empty
    assert {name: one.default for name, one in of_sift.items()} == expected
    assert {name: one.annotation for name, one in of_sift.items()} == {
        one.name: one.type for one in fields(SiftSettings)
    }
    assert KoopmanSieve().get_params() == {**expected, "dt": 1.0}


def test_the_command_line_has_the_same_defaults():
    shared = {one.name for one in fields(Settings)} & {one.name for one in fields(SiftSettings)}
    assert shared >= {"form", "horizons", "path_length", "max_terms", "threshold"}
    assert shared >= {"level", "validation", "seed", "budget"}
    own = {"delays": "auto", "sieve": "auto", "test": (), "compare": ()}  # what these are called on a command line
    for name in shared:
        assert getattr(Settings(), name) == own.get(name, getattr(SiftSettings(), name)), name


def test_parameters_of_the_estimator_are_kept_as_they_are():
    asked = {"delays": [Embedding(1)], "compare": METHODS, "form": "linear", "path_length": 7}
    sieve = KoopmanSieve(States(), **asked)
    assert all(getattr(sieve, name) is value for name, value in asked.items())
    assert clone(sieve).set_params(path_length=5).path_length == 5
    with pytest.raises(TypeError, match="steps"):
        KoopmanSieve(States(), steps=3)
    with pytest.raises(TypeError, match="positional"):
        KoopmanSieve(States(), "linear")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"form": "reprojected", "sieve": GraphSieve()},
            r"sieve=GraphSieve\(…\) has no effect in the reprojected form",
        ),
        ({"form": "reprojected", "sieve": HorizonSieve()}, 'Leave it out, or use form="linear" or form="bilinear"'),
        ({"form": "linear", "sieve": SimulationSieve()}, 'no effect in the linear form.*use form="reprojected"'),
        ({"form": "bilinear", "sieve": SimulationSieve()}, "no effect in the bilinear form"),
        ({"form": "reprojected", "refits": METHODS}, 'refits has no effect in the reprojected form.*form="linear"'),
        ({"form": "bilinear", "refits": METHODS}, "refits has no effect in the bilinear form"),
        ({"form": "reprojected", "stable": False}, "stable has no effect in the reprojected form"),
        ({"form": "auto", "compare": METHODS}, 'compare needs form="linear"'),
        ({"sieve": GraphSieve(), "path_length": 8}, r"GraphSieve\(\) gives one set, so path_length=8 has no effect"),
        ({"sieve": GraphSieve(), "max_terms": 3}, r"GraphSieve\(\) gives one set, so max_terms=3 has no effect"),
    ],
)
def test_what_would_have_no_effect_is_refused(asked, message):
    with pytest.raises(KoopsieveError, match=message):
        SiftSettings(**asked)
    with pytest.raises(KoopsieveError, match=message):
        KoopmanSieve(States(), **asked).fit(np.arange(20.0)[:, None])


@pytest.mark.parametrize(
    "asked",
    [
        {"sieve": GraphSieve()},
        {"sieve": SimulationSieve()},
        {"sieve": HorizonSieve(), "path_length": 5},
        {"refits": METHODS, "stable": False},
        {"form": "bilinear", "sieve": GraphSieve(SparseBayes())},
        {"form": "reprojected", "path_length": 5},
        {"form": "linear", "compare": METHODS},
    ],
)
def test_what_has_an_effect_in_some_form_that_is_searched_is_taken(asked):
    assert SiftSettings(**asked)


def test_the_command_line_refuses_a_share_to_hold_out_beside_test_data():
    flags = {"files": ["a.csv"], "states": ["y"], "holdout": 0.2}
    assert gather(None, flags).holdout == 0.2
    with pytest.raises(KoopsieveError, match="--holdout has no effect beside --test"):
        gather(None, {**flags, "test": ["b.csv"]})


def test_progress_is_shown_on_request():
    assert SiftSettings().shown is silent
    assert SiftSettings(progress=True).shown is bar
    assert SiftSettings(progress=bar).shown is bar


def test_delays_are_found_where_nothing_is_decided():
    data = Trajectories.from_arrays(np.arange(20.0))
    assert SiftSettings().delays_of(data) is None
    assert SiftSettings(dictionary=States()).delays_of(data) == (Embedding(),)
    assert SiftSettings(dictionary=States(), delays="auto").delays_of(data) is None
    assert SiftSettings(delays=Embedding(2)).delays_of(data) == (Embedding(2),)
