"""`koopsieve predict --level`: bounds as columns, and what lies outside the data as a column and in words."""

import csv

import numpy as np
import pytest

from koopsieve import Constant, Model, Monomials, States, Trajectories, sift


def oscillator(samples, amplitude, seed):
    rng = np.random.default_rng(seed)
    u, x = rng.uniform(-amplitude, amplitude, size=samples), np.zeros((samples + 1, 2))
    for k in range(samples):
        x[k + 1] = [0.95 * x[k, 0] + 0.2 * x[k, 1], 0.9 * x[k, 1] - 0.2 * x[k, 0] - 0.1 * np.tanh(x[k, 0]) + 0.3 * u[k]]
    return x[:-1] + 0.01 * rng.normal(size=(samples, 2)), u


def write(path, x, u):
    lines = ["x,v,u", *(f"{a!r},{b!r},{c!r}" for (a, b), c in zip(x.tolist(), u.tolist(), strict=True))]
    path.write_text("\n".join(lines))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model, measurements like those it was learned from, and others that go far beyond them."""
    at = tmp_path_factory.mktemp("bands")
    x, u = oscillator(3000, 1.0, 0)
    data = Trajectories.from_arrays(x, u[:-1, None], dt=1.0, state_names=["x", "v"], input_names=["u"])
    recipe = States() + Constant() + Monomials(3)
    sift(data, recipe, form="linear", horizons=[1, 5, 20], path_length=3, test=0.2).model.save(at / "model.npz")
    write(at / "same.csv", *oscillator(600, 0.9, 1))
    write(at / "far.csv", *oscillator(600, 4.0, 2))
    return at


@pytest.fixture
def predicted(koopsieve, folder, monkeypatch):
    """Return exit code, header, rows and what was printed on the screen."""
    monkeypatch.chdir(folder)

    def run(*arguments):
        code, out, err = koopsieve("predict", "model.npz", *arguments)
        header, *rows = csv.reader(out.splitlines()) if out else [[]]
        numbers = [[0, *row[1:]] for row in rows]  # the episode is the name of the file
        return code, header, np.array(numbers, dtype=float), err

    return run


def test_bounds_hold_the_stated_share(predicted):
    code, header, rows, err = predicted("same.csv", "--horizon", 5, "--level", 0.9)
    assert (code, err) == (0, "")
    ends = ("", "_predicted", "_lower", "_upper")
    assert header[3:] == [*(f"{name}{end}" for name in "xv" for end in ends), "outside"]
    for first in (3, 7):
        measured, mean, lower, upper = rows[:, first : first + 4].T
        assert 0.85 < np.mean((lower <= measured) & (measured <= upper)) < 0.95
        np.testing.assert_allclose((lower + upper) / 2, mean, atol=1e-9)
    assert not rows[:, -1].any()


def test_the_columns_are_what_the_model_says(predicted, folder):
    levels = ["--level", 0.5, "--level", 0.9]
    code, header, rows, _ = predicted("same.csv", "--horizon", 20, "--start", 40, *levels, "--joint")
    assert code == 0
    ends = ("", "_predicted", "_lower_0.5", "_upper_0.5", "_lower_0.9", "_upper_0.9")
    assert header == ["episode", "row", "steps", *(f"{name}{end}" for name in "xv" for end in ends), "outside"]
    np.testing.assert_array_equal(rows[:, 1:3], np.column_stack([np.arange(41, 61), np.arange(1, 21)]))
    table = np.genfromtxt(folder / "same.csv", delimiter=",", names=True)
    x = np.column_stack([table["x"], table["v"]])
    model = Model.load(folder / "model.npz")
    found = model.predict(x[40], table["u"][40:60, None], horizon=20, level=[0.5, 0.9], joint=True)
    for i in range(2):
        mine = [x[41:61, i], found.mean[:, i], found.lower[0, :, i], found.upper[0, :, i]]
        np.testing.assert_allclose(rows[:, 3 + 6 * i : 7 + 6 * i], np.column_stack(mine), rtol=1e-9)
    np.testing.assert_array_equal(rows[:, -1], found.outside)


def test_what_lies_outside_the_data_is_told_and_marked(predicted):
    _, _, rows, err = predicted("far.csv", "--horizon", 5, "--level", 0.9)
    flagged = int(rows[:, -1].sum())
    assert flagged > 0.5 * len(rows)
    assert f"{flagged} of {len(rows)} predictions rest on a start, an input" in err
    _, header, _, err = predicted("far.csv", "--horizon", 5)
    assert "outside" not in header  # without a level the table is as ever
    assert f"{flagged} of {len(rows)} predictions" in err


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--joint"], "such as --level 0.9"),
        (["--level", "1.5"], "level must lie above 0"),
        (["--level", "0.9", "--horizon", "40"], "The bands reach 20 steps ahead, and 40 were asked for"),
    ],
)
def test_what_cannot_be_given_is_said(predicted, options, expected):
    code, _, rows, err = predicted("same.csv", *options)
    assert (code, len(rows)) == (2, 0)
    assert expected in " ".join(err.split())
