"""Terms as text: the grammar, values and slopes, names and samples, files; what no text can do."""

import contextlib
import pickle

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from koopsieve import Dictionary, HardNonlinearities, KoopsieveError, KoopsieveWarning, States, Terms, Trajectories
from koopsieve.data import Embedding
from koopsieve.data.delays import embedded
from koopsieve.dictionary.grammar import FUNCTIONS, MAX_DEPTH, MAX_LENGTH, parsed

RNG = np.random.default_rng(0)
X, U = RNG.normal(size=(40, 2)), RNG.normal(size=(39, 1))
DATA = Trajectories.from_arrays(X, U, state_names=["y", "v"], input_names=["u"])
POINTS = np.hstack([X[:-1], U])
y, v, u = POINTS.T
WRITTEN = {
    "abs(v)*v": np.abs(v) * v,
    "sign(v)": np.sign(v),
    "sqrt(y)": np.sqrt(np.maximum(y, 0)),
    "max(y - 0.3, 0)": np.maximum(y - 0.3, 0),
    "min(y, v, 0.2)": np.minimum(np.minimum(y, v), 0.2),
    "y*v^2": y * v**2,
    "-y^2": -(y**2),
    "(-y)**2": y**2,
    "y^1.5": np.maximum(y, 0) ** 1.5,
    "2^3^2*y": 512 * y,
    "1 - 2 - 3*y": -1 - 3 * y,
    "y/2/4": y / 8,
    "1/(2 + v^2)": 1 / (2 + v**2),
    "--y + -3e-1*v": y - 0.3 * v,
    "exp(-y^2)*cos(2*v)": np.exp(-(y**2)) * np.cos(2 * v),
    "log(2 + tanh(y)) + atan(v)": np.log(2 + np.tanh(y)) + np.arctan(v),
    "sinh(y)*cosh(v) - tan(0.1*y) + sin(v)": np.sinh(y) * np.cosh(v) - np.tan(0.1 * y) + np.sin(v),
    "y [ k ] * .5": 0.5 * y,
    "abs(log(1.5 + tanh(y)))*y": np.abs(np.log(1.5 + np.tanh(y))) * y,
}


@pytest.mark.parametrize("text", WRITTEN)
def test_values_are_what_the_text_says_and_slopes_those_of_differences(text):
    phi, step = Terms(text).fit(DATA), 1e-6
    assert phi.names == (text,)
    np.testing.assert_allclose(phi.evaluate(POINTS)[:, 0], WRITTEN[text], rtol=1e-13, atol=1e-14)
    smooth = np.abs(POINTS - 0.3).min(axis=1) > 1e-3
    found = phi.gradient(POINTS)[:, 0]
    for j, moved in enumerate(step * np.eye(3)):
        expected = (phi.evaluate(POINTS + moved) - phi.evaluate(POINTS - moved))[:, 0] / (2 * step)
        np.testing.assert_allclose(found[smooth, j], expected[smooth], rtol=1e-5, atol=1e-6)


def test_a_term_that_holds_the_acting_input_is_an_input_term():
    phi = (States() + Terms("v*u[k]^2", "abs(v)", "u*v")).fit(DATA)
    assert phi.names == ("y", "v", "abs(v)")
    assert phi.input_term_names == ("v*u[k]^2", "u*v")
    np.testing.assert_allclose(phi.evaluate(POINTS)[:, 3:], np.column_stack([v * u**2, u * v]), rtol=1e-14)


@pytest.mark.parametrize("embedding", [Embedding(2, 2), Embedding(1, 2, "k+1")])
def test_samples_are_named_as_the_embedding_names_them(embedding):
    data = embedded(DATA, embedding)
    points = np.concatenate(list(data.acted_blocks()))
    names = data.signals.state_names + data.signals.acting
    phi = Terms(*(f"{name}^2" for name in names)).fit(data)
    assert set(phi.regressors) == {f"{name}^2" for name in names}
    order = [phi.regressors.index(f"{name}^2") for name in names]
    np.testing.assert_allclose(phi.evaluate(points)[:, order], points**2, rtol=1e-14)
    now = Terms("y[k]*y", "u[k]*v").fit(data)
    column = names.index("u[k]" if embedding.input_lead else "u")
    values = dict(zip(now.regressors, now.evaluate(points).T, strict=True))
    np.testing.assert_allclose(values["y[k]*y"], points[:, 0] ** 2)
    np.testing.assert_allclose(values["u[k]*v"], points[:, column] * points[:, 1])


@pytest.mark.parametrize("name", ["pump 1 [V]", "a`b", "y-v", "2", "exp", "Δp", 'q"*/\\', "y[k-1]", "π"])
def test_any_name_can_be_written_between_backquotes_or_be_that_of_a_function(name):
    data = Trajectories.from_arrays(X, state_names=["y", name])
    text = f"y*`{name.replace('`', '``')}`^2"
    np.testing.assert_allclose(Terms(text).fit(data)(X)[:, 0], X[:, 0] * X[:, 1] ** 2, rtol=1e-14)
    data = Trajectories.from_arrays(X, state_names=["exp", "max"])
    np.testing.assert_allclose(Terms("exp*exp(max)").fit(data)(X)[:, 0], X[:, 0] * np.exp(X[:, 1]), rtol=1e-14)


@pytest.mark.parametrize(
    "text, slope",
    [("abs(y)", 0.0), ("sign(y)", 0.0), ("max(y, 0)", 0.5), ("min(y, 2*y)", 1.5), ("sqrt(y)", 0.0), ("y*abs(y)", 0.0)],
)
def test_slopes_at_a_kink_are_the_mean_of_both_sides_and_at_a_jump_zero(text, slope):
    assert Terms(text).fit(DATA).gradient(np.zeros((1, 3)))[0, 0, 0] == slope


def test_terms_read_as_they_were_written_and_can_be_pickled():
    recipe = States() + Terms("abs(v)*v", "sqrt(y)")
    assert repr(recipe) == "States() + Terms('abs(v)*v', 'sqrt(y)')"
    assert pickle.loads(pickle.dumps(recipe.fit(DATA))).regressors == ("y", "v", "abs(v)*v", "sqrt(y)", "u")


@pytest.mark.parametrize("text", ["__import__('os')", "y +", "y*w", "9^9^9*y", "(" * 200 + "y"])
def test_a_file_with_another_text_is_refused(text):
    config, arrays = Terms("abs(y)").fit(DATA).to_parts()
    config["families"][0]["names"] = [text]
    with pytest.raises(KoopsieveError, match=r"position"):
        Dictionary.from_parts(config, arrays)


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "position 1: expected a number, a signal or a function, but the text ends"),
        ("y +", "position 4: expected a number"),
        ("(y", 'position 3: expected "\\)", but the text ends'),
        ("y)", "position 2: expected an operator or the end, got '\\)'"),
        ("y v", "position 3: expected an operator"),
        ("abs(y, v)", "position 1: abs takes one argument"),
        ("max(y)", "position 1: max takes two or more arguments"),
        ("y^v", "position 3: expected an exponent that is a number of at most 50, got 'v'"),
        ("y^51", "at most 50, got '51'"),
        ("y^-51", "at most 50"),
        ("9^9^9*y", "at most 50"),
        ("1/0*y", "position 2: this has no finite value"),
        ("y/0", "position 2: this divides by zero"),
        ("1e999*y", "position 1: this has no finite value"),
        ("log(-1)*y", "position 1: this has no finite value"),
        ("3", "is a constant. .* use Constant\\(\\)"),
        ("y - y", "is a constant"),
        ("y.real", "position 2: '.' has no meaning here"),
        ("y[0]", "position 2: '\\[' has no meaning here"),
        ("lambda: y", "position 7: ':' has no meaning here"),
        ("y; v", "position 2: ';'"),
        ("(" * (MAX_DEPTH + 2) + "y" + ")" * (MAX_DEPTH + 2), f"brackets are more than {MAX_DEPTH} deep"),
        ("y" * (MAX_LENGTH + 1), f"at most {MAX_LENGTH} letters. Got {MAX_LENGTH + 1}"),
        (3, "Terms takes texts"),
        (None, "Terms takes texts"),
    ],
)
def test_what_is_no_term_is_refused_at_once_and_where(text, message):
    with pytest.raises(KoopsieveError, match=message):
        Terms(*([] if text is None else [text]))


@pytest.mark.parametrize(
    "text, message",
    [
        ("y*w", "position 3: 'w' is no signal. Known are y, v, u"),
        ("y(v)", r"'y' is no function. .*for a product write y\*\("),
        ("sqr(y)", "position 1: 'sqr' is no function. Did you mean sqrt\\?"),
        ("Integral(y)", "position 1: .Integral. is no function. Functions are abs, sign, sqrt"),
        ("١*y", "position 1: .١. has no meaning here"),
        ("y[k-3]*v", "needs y\\[k-3\\] \\(position 1\\), .* sees: y, v, u. Ask for more delays"),
    ],
)
def test_an_unknown_name_comes_with_the_nearest_known_one(text, message):
    with pytest.raises(KoopsieveError, match=message):
        Terms(text).fit(DATA)
    with pytest.raises(KoopsieveError, match=r"'spead' is no signal. Did you mean speed"):
        Terms("spead^2").fit(Trajectories.from_arrays(X, state_names=["speed", "v"]))


LEAVES = st.sampled_from(["y", "v", "2", "0.5", "3.7", "1e9", "y[k-1]"])
GROWN = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map("({0[0]}{0[1]}{0[2]})".format),
        st.tuples(inner, st.sampled_from(["2", "50", "-1", "0.5", "-0.3"])).map("({0[0]})^{0[1]}".format),
        st.tuples(st.sampled_from(FUNCTIONS[:-2]), inner).map("{0[0]}({0[1]})".format),
        st.tuples(st.sampled_from(["max", "min"]), inner, inner).map("{0[0]}({0[1]},{0[2]})".format),
    ),
    max_leaves=25,
)


@pytest.mark.timeout(300)  # SymPy could take forever
@given(GROWN)
def test_no_text_hangs_or_ends_in_another_error(text):
    from koopsieve.dictionary.text_terms import TextTerms

    with contextlib.suppress(KoopsieveError):
        family = TextTerms((text,), ("y", "v", "y[k-1]"), np.arange(3))
        assert family.gradient(POINTS).shape == (39, 1, 3)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(KoopsieveError):
        assert isinstance(parsed(text, {"y": sympy.Symbol("y", real=True)}), sympy.Expr)


def test_hard_nonlinearities_lie_within_the_range_of_every_signal():
    data = embedded(DATA, Embedding(1, 1))
    phi = HardNonlinearities(knots=3, of="states and inputs").fit(data)
    points = np.concatenate(list(data.acted_blocks()))
    values = phi.evaluate(points)
    for name, column in zip(phi.regressors, values.T, strict=True):
        assert np.ptp(column) > 0, name
    kinks = [name for name in phi.regressors if name.startswith("max")]
    assert len(kinks) == 3 * points.shape[1]
    assert {"abs(y - y[k-1])*(y - y[k-1])", "abs(v - v[k-1])*(v - v[k-1])"} <= set(phi.names)
    assert all("[k" not in name.replace("[k-1]", "") for name in phi.input_term_names)
    np.testing.assert_allclose(values[:, phi.regressors.index(kinks[0])], np.maximum(points[:, 0] - _knot(kinks[0]), 0))


def _knot(text):
    sign, size = text.removesuffix(", 0)").split()[1:]
    return float(size) if sign == "-" else -float(size)


@pytest.mark.parametrize("factor", [1e-9, 3.7, 1e12])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_hard_nonlinearities_follow_units_and_offsets(factor, offset):
    moved = Trajectories.from_arrays(factor * (X + offset), U, state_names=["y", "v"])
    first, second = (HardNonlinearities().fit(data) for data in (DATA, moved))
    kinks = [i for i, name in enumerate(first.names) if name.startswith("max")]
    values, other = first(X)[:, kinks], second(factor * (X + offset))[:, kinks]
    np.testing.assert_allclose(other / factor, values, atol=1e-4 * np.ptp(X))


def test_hard_nonlinearities_write_any_name_take_roots_of_levels_alone_and_refuse_what_never_changes():
    level = Trajectories.from_arrays(np.abs(X), U, state_names=["tank `1` [cm]", "v"])
    names = HardNonlinearities(knots=1).fit(level).names
    assert "sqrt(`tank ``1`` [cm]`)" in names
    assert "sqrt(v)" in names
    assert not any("sqrt" in name for name in HardNonlinearities().fit(DATA).names)
    with pytest.warns(KoopsieveWarning, match="never change"):
        still = Trajectories.from_arrays(np.ones((9, 1)))
    with pytest.raises(KoopsieveError, match="No signal changes"):
        HardNonlinearities().fit(still)


@pytest.mark.parametrize("name", ["flow[kg/s]", "q[k] x", "y [k-1]", "Drehzahl Last [1/s]", "ä", "a`b"])
def test_kinks_of_a_signal_of_any_name(name):
    data = Trajectories.from_arrays([1.0, 2.0, 4.0], state_names=name)
    phi = HardNonlinearities(knots=1).fit(data)
    np.testing.assert_allclose(phi([[4.0]])[0], [1.5, 2.0])


def test_a_column_that_is_only_called_like_a_delayed_sample_has_no_change():
    rows = np.random.default_rng(0).normal(size=(50, 2))
    names = HardNonlinearities().fit(Trajectories.from_arrays(rows, state_names=["v", "v[k-1]"])).names
    assert names
    assert not any("tanh" in name for name in names)
