"""A result in a file is the same result; a file runs nothing, and imports only from modules that the caller names."""

import json
import pickle

import numpy as np
import pytest

from koopsieve import Function, KoopsieveError, LeastSquares, Model, SieveResult, States, Trajectories, compress
from koopsieve._archive import read_arrays, write_archive
from koopsieve._written import plain
from koopsieve.forms import LinearModel
from koopsieve.io.run import summarise
from koopsieve.sifting.result import KIND, VERSION
from tests.runs import duffing_result, duffing_trajectories

PATHS = {"function": f"{__name__}:magnitude", "gradient": f"{__name__}:slope"}


def magnitude(x):
    return np.abs(x[:, 0])


def slope(x):
    found = np.zeros((len(x), 1, x.shape[1]))
    found[:, 0, 0] = np.sign(x[:, 0])
    return found


def plain_summary(result):
    return json.dumps(plain(summarise(result)), sort_keys=True)


def rewritten(result, path, change):
    """Save a result with its objects and arrays changed."""
    result.save(path)
    arrays = read_arrays(path, ratio=16)
    header = json.loads(arrays.pop("header").tobytes())
    change(header["objects"], arrays)
    write_archive(path, KIND, VERSION, {k: v for k, v in header.items() if k not in ("format", "version")}, arrays)


@pytest.mark.parametrize("again", ["file", "pickle"])
def test_a_result_comes_back_as_it_was(any_result, tmp_path, again):
    if again == "file":
        any_result.save(tmp_path / "result.npz")
        found = SieveResult.load(tmp_path / "result.npz")
    else:
        found = pickle.loads(pickle.dumps(any_result))
    assert plain_summary(found) == plain_summary(any_result)
    assert found.describe() == any_result.describe()
    x, u = any_result.evaluation.data.states[0], any_result.evaluation.data.inputs[0]
    carried, there = (one.model.advance(one.model.start(x[:3]), u[:3]) for one in (any_result, found))
    np.testing.assert_array_equal(carried, there)


def test_what_occurs_often_is_held_once(small_result, tmp_path):
    small_result.save(tmp_path / "result.npz")
    assert (tmp_path / "result.npz").stat().st_size < 3 * len(pickle.dumps(small_result))
    found = SieveResult.load(tmp_path / "result.npz")
    assert small_result.path is small_result.paths["linear"]
    assert found.path is found.paths["linear"]


def test_terms_are_a_frame(any_result):
    table, outputs = any_result.terms, any_result.model.output_names
    of = any_result.model.output_terms()
    assert list(table.index) == list(of.names)
    np.testing.assert_array_equal(table[[f"coefficient of {name}" for name in outputs]], of.coef)
    chance = table[[f"probability for {name}" for name in outputs]].to_numpy()
    assert np.nanmin(chance) >= 0
    assert np.nanmax(chance) <= 1


@pytest.mark.parametrize(
    "name",
    ["os:system", "koopsieve.cli.app:main", "koopsieve.__main__:main", "koopsieve.data:Trajectories", "x"],
)
def test_a_file_cannot_name_any_class_it_likes(small_result, tmp_path, name):
    rewritten(small_result, tmp_path / "x.npz", lambda objects, arrays: objects[0].update({"class": name}))
    with pytest.raises(KoopsieveError, match="no frozen value"):
        SieveResult.load(tmp_path / "x.npz")


def fitted(**function):
    data = duffing_trajectories(200)
    phi = (States() + Function(names=["|y|"], **function)).fit(data)
    statistics = compress(data, phi)
    return LinearModel.from_estimate(LeastSquares().identify(statistics), phi), data


def test_a_function_by_its_import_path_is_saved_with_the_model(tmp_path):
    model, data = fitted(**PATHS)
    alike, _ = fitted(function=magnitude, gradient=slope)
    model.save(tmp_path / "model.npz")
    with pytest.raises(KoopsieveError, match=r"may not import code by itself.*functions_from="):
        Model.load(tmp_path / "model.npz")
    found = Model.load(tmp_path / "model.npz", functions_from=[__name__])
    x = data.states[0][:5]
    np.testing.assert_array_equal(found.start(x), model.start(x))
    np.testing.assert_array_equal(found.start(x), alike.start(x))
    np.testing.assert_array_equal(found.dictionary.families[1].gradient(x), alike.dictionary.families[1].gradient(x))
    with pytest.raises(KoopsieveError, match="Python code"):
        found.to_sympy()


@pytest.mark.parametrize("path", ["no_such_module:f", "numpy:nothing", "numpy:pi", "numpy.abs", "numpy:abs()"])
def test_a_wrong_import_path_is_refused_in_words(path):
    data = Trajectories.from_arrays([[0.0], [1.0]])
    with pytest.raises(KoopsieveError, match=r"package\.module:function"):
        Function(path, names=["f"]).fit(data)


def test_a_result_with_a_users_function(tmp_path):
    result = duffing_result(dictionary=States() + Function(names=["|y|"], **PATHS), methods=False)
    result.save(tmp_path / "result.npz")
    with pytest.raises(KoopsieveError, match="functions_from="):
        SieveResult.load(tmp_path / "result.npz")
    assert SieveResult.load(tmp_path / "result.npz", functions_from=[__name__]).describe() == result.describe()
    own = duffing_result(dictionary=States() + Function(magnitude, names=["|y|"]), methods=False)
    with pytest.raises(KoopsieveError, match="import path"):
        own.save(tmp_path / "own.npz")
    assert not (tmp_path / "own.npz").exists()


def test_a_file_imports_nothing_while_it_is_read(small_result, tmp_path, monkeypatch):
    """Not even before its models are built, whose checks may evaluate what they are made of."""
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w'); f = abs")
    monkeypatch.syspath_prepend(tmp_path)

    def change(objects, arrays):
        entry = next(one for one in objects if one["class"] == "koopsieve.dictionary.states:Coordinates")
        entry["class"] = "koopsieve.dictionary.custom:ImportedCalls"
        names = entry["fields"]["names"]
        arrays["evil"] = np.zeros(len(names["tuple"]), dtype=int)
        entry["fields"] = {"names": names, "paths": {"tuple": ["evil:f", ""]}, "columns": {"array": "evil"}}

    rewritten(small_result, tmp_path / "result.npz", change)
    with pytest.raises(KoopsieveError, match="a file may not import code by itself"):
        SieveResult.load(tmp_path / "result.npz")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("kind, member", [("koopsieve.data.stream:Stream", "from_parquet"), (None, "mro")])
def test_a_file_gets_hold_of_no_function(small_result, tmp_path, kind, member):
    def change(objects, arrays):
        fields = next(one for one in objects if "koopsieve.identify" in one["class"])["fields"]
        fields[next(iter(fields))] = {"enum": kind or "koopsieve.identify.estimate:Status", "member": member}

    rewritten(small_result, tmp_path / "result.npz", change)
    with pytest.raises(KoopsieveError, match=f"It names '{member}', which is no member of"):
        SieveResult.load(tmp_path / "result.npz")
