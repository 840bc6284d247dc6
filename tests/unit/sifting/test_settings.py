"""The settings of `sift`: one value for every way in, and nothing in it without an effect."""

import inspect
from dataclasses import fields

import numpy as np
import pytest
from sklearn.base import clone

from koopsieve import (
    Embedding,
    HiddenSieve,
    Inputs,
    KoopmanSieve,
    KoopsieveError,
    LeastSquares,
    SparseBayes,
    States,
    Terms,
    Trajectories,
    embed_delays,
    sift,
)
from koopsieve.cli.command_settings import Settings, gather, to_python
from koopsieve.cli.sift import delays
from koopsieve.execution import silent
from koopsieve.execution.executors import WholeJob, bar, whole_job
from koopsieve.forms import FORMS
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
        (
            {"dictionary": States(), "sieve": HiddenSieve()},
            r'sieve=HiddenSieve\(…\) has no effect in any form that takes a dictionary.*form="hidden"',
        ),
        ({"dictionary": States(), "validation": 0, "level": 0.5}, "with validation=0 there are none, and level=0.5"),
        ({"validation": 0, "sieve": GraphSieve()}, "validation=0 holds nothing out, but dictionary or delays"),
        (
            {"dictionary": States(), "validation": 0, "delays": [Embedding(1), Embedding(2)]},
            "dictionary or delays are to be chosen",
        ),
    ],
)
def test_what_would_have_no_effect_is_refused(asked, message):
    with pytest.raises(KoopsieveError, match=message):
        SiftSettings(**asked)
    with pytest.raises(KoopsieveError, match=message):
        KoopmanSieve(**asked).fit(np.arange(20.0)[:, None])


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


def test_whoever_gives_a_sieve_asks_for_its_form_however_few_the_rows():
    def names(**asked):
        return [form.name for form in SiftSettings(**asked).forms_for(inputs=True, rows=100)]

    assert names() == ["linear", "bilinear", "reprojected"]
    assert names(sieve=HiddenSieve()) == ["linear", "bilinear", "reprojected", "hidden"]
    assert names(sieve=GraphSieve()) == ["linear"]


@pytest.mark.parametrize("form", ["linear", "bilinear"])
def test_terms_with_inputs_are_refused_where_the_only_form_does_not_use_them(form):
    rng = np.random.default_rng(0)
    data = Trajectories.from_arrays(rng.normal(size=(60, 1)), rng.normal(size=59), state_names="y", input_names="u")
    asked = {"form": form, "horizons": [1], "path_length": 2}
    with pytest.raises(KoopsieveError, match=rf"terms with inputs \(u\^2\), which have no effect in the {form} form"):
        sift(data, States() + Terms("u^2"), **asked)
    assert sift(data, States() + Inputs(), **asked).form == form
    assert sift(data, States() + Inputs() + Terms("u^2"), horizons=[1], path_length=2).form in FORMS


def test_delays_that_the_data_decide_are_not_asked_for():
    y = Trajectories.from_arrays(np.arange(20.0))
    with pytest.raises(KoopsieveError, match=r'already hold delays.*delays="auto" has no effect'):
        SiftSettings(dictionary=States(), delays="auto").delays_of(embed_delays(y, 1))
    with pytest.raises(KoopsieveError, match=r'inputs_at="k.1" has no effect: these trajectories have no inputs'):
        embed_delays(y, 1, inputs_at="k+1")
    with pytest.raises(KoopsieveError, match="have no effect without --inputs"):
        delays(Settings(delays=2, inputs_at="k+1"), n_inputs=0)
    with pytest.raises(KoopsieveError, match=r"dt=0.1 has no effect: X has the sample time 1"):
        KoopmanSieve(States(), dt=0.1).fit(y)


def test_lines_of_python_have_every_setting_that_changes_the_result():
    asked = {"polynomials": 3, "form": "linear", "sieve": "graph", "threshold": 0.3, "outliers": "drop"}
    lines = to_python(Settings(files=("a.csv",), states=("y",), compare=("sparse-bayes",), **asked))
    for part in (
        "Monomials(degree=3)",
        "delays='auto'",
        "sieve=GraphSieve(threshold=0.3)",
        "compare={'sparse bayes': SparseBayes()}",
        "'outliers': 'drop'",
    ):
        assert part in lines, part
    compile(lines, "lines", "exec")
    assert "delays" not in to_python(Settings(files=("a.csv",), states=("y",)))  # without a dictionary both are found


def test_the_command_line_refuses_a_share_to_hold_out_beside_test_data():
    flags = {"files": ["a.csv"], "states": ["y"], "holdout": 0.2}
    assert gather(None, flags).holdout == 0.2
    with pytest.raises(KoopsieveError, match="--holdout has no effect beside --test"):
        gather(None, {**flags, "test": ["b.csv"]})


def test_progress_is_shown_on_request():
    assert SiftSettings().shown is silent
    assert SiftSettings(progress=bar).shown is bar
    with whole_job(SiftSettings(progress=True).progress) as shown:
        assert isinstance(shown, WholeJob)
        assert SiftSettings(progress=shown).shown is shown


def test_delays_are_found_where_nothing_is_decided():
    data = Trajectories.from_arrays(np.arange(20.0))
    assert SiftSettings().delays_of(data) is None
    assert SiftSettings(dictionary=States()).delays_of(data) == (Embedding(),)
    assert SiftSettings(dictionary=States(), delays="auto").delays_of(data) is None
    assert SiftSettings(delays=Embedding(2)).delays_of(data) == (Embedding(2),)
