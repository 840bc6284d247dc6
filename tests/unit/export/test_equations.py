"""Equations and formulas as people read them, in SymPy, as text and in LaTeX; names may be any."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import sympy

from koopsieve.data import Embedding, Signals, Trajectories
from koopsieve.dictionary import Function, SquaredExponential, States, Terms
from koopsieve.export.formulas import formulas
from koopsieve.export.toolboxes import m_text
from koopsieve.forms import HiddenModel, LinearModel, ReprojectedModel
from tests.reference.pendulum import simulate_pendulum
from tests.unit.dictionary.test_families import BLOCKS, CODE, DATA, fitted
from tests.unit.export.models import FORMS, HOSTILE, pendulum_model

READ = {"−": "-", "·": "*", "²": "**2", "³": "**3", "⁴": "**4"}


def test_functions_with_kinks_are_those_of_sympy():
    model = pendulum_model("reprojected", recipe=States() + Terms("abs(x1)*max(x2, 0)", "sign(x1)"), inputs=0)
    kinds = {type(node) for node in sympy.preorder_traversal(model.to_sympy().step[0].rhs)}
    assert {sympy.Abs, sympy.Max, sympy.Min, sympy.sign} <= kinds


def test_what_a_symbol_is_called_is_what_the_user_calls_it():
    model = pendulum_model("reprojected", Embedding(1, 1))
    found = model.to_sympy()
    assert [symbol.name for symbol in found.carried] == list(model.state_names)
    names = ["x1[k+1]", "x2[k+1]", "x1[k]", "x2[k]", "u1[k]", "u2[k]"]
    assert [one.lhs.name for one in found.step] == names
    odd = replace(simulate_pendulum([80], 1), signals=Signals(("y", "v"), ("y[k+1]",), 0.1))
    found = pendulum_model("reprojected", data=odd, inputs=1).to_sympy()
    assert found.step[0].lhs.name == "y[k+1]'"  # an input of the same name


@pytest.mark.parametrize("form", FORMS)
def test_a_file_of_equations_is_read_by_sympy(form, tmp_path):
    model = pendulum_model(form, recipe=States() + Terms("abs(x1)*x2"), inputs=1)
    path = model.to_sympy().save(tmp_path / "model.txt")
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    with sympy.evaluate(False):
        read = [sympy.sympify(line) for line in lines]
    found = model.to_sympy()
    for one, expected in zip(read, (*found.start, *found.step, *found.read), strict=True):
        assert one.lhs == expected.lhs
        assert sympy.expand(one.rhs.doit() - expected.rhs.doit()) == 0


def small(form):
    """y[k+1] = 0.5 y + 0.25 kernel − u, in either form."""
    data = replace(simulate_pendulum([80], 1), signals=Signals(("y", "v"), ("u",), 0.1))
    phi = (States() + SquaredExponential([[0.5, -1.0]], [2.0])).fit(data)
    coef = np.array([[0.5, 0.0, 0.0], [0.0, 1.5, 0.0], [0.25, 0.0, 1e-7], [-1.0, 0.125, 0.0]])
    if form == "linear":
        return LinearModel(coef[:3].T, coef[3:].T, np.eye(2, 3), phi)
    return ReprojectedModel(coef[:, :2], phi, np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]]))


def test_equations_as_text():
    kernel = "exp(−2·(y − 0.5)² − 2·(v + 1)²)"
    assert small("reprojected").equations().splitlines() == [
        f"y[k+1] = 0.5·y + 0.25·{kernel} − u, held within −3 and 3",
        "v[k+1] = 1.5·v + 0.125·u, held within −3 and 3",
    ]
    assert small("linear").equations().splitlines() == [
        "y[k+1] = 0.5·y + 0.25·φ3 − u",
        "v[k+1] = 1.5·v + 0.125·u",
        "φ3[k+1] = 1.00·10⁻⁷·φ3",
        f"φ3 = {kernel} at the start",
    ]


def test_a_scaled_input_adds_no_second_constant():
    data = Trajectories.from_arrays([[0.0], [1.0], [0.5]], [[1.0], [0.0]], state_names="y", input_names="u")
    model = HiddenModel(
        coef=np.array([[0.1, 0.6, 0.4, 0.0], [0.0, 2.0, 0.3, 0.2]]),
        powers=np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
        encoder=np.array([[0.1, 0.5]]),
        center=np.array([0.5]),
        scale=np.array([2.0]),
        limits=np.outer([-50.0, 50.0], np.ones(2)),
        dictionary=States().fit(data),
    )
    assert model.equations().splitlines()[:2] == [
        "x1[k+1] = 0.6·x1 + 0.2·u, held within −50 and 50",
        "y[k+1] = 2·x1 + 0.15·u − 0.075 + 0.2·x1·(0.5·u − 0.25), held within −50 and 50",
    ]


def test_equations_in_latex():
    found = small("linear")._repr_latex_()
    assert found.startswith("$$\\begin{aligned}\n")
    assert found.endswith("\n\\end{aligned}$$")
    assert r"y_{k+1} &= 0.5 y_{k} + 0.25 \varphi_{3} - u_{k} \\" in found
    assert r"\varphi_{3,\,k+1} &= 1 \cdot 10^{-7} \varphi_{3}" in found
    assert found in small("linear")._repr_html_().replace("&amp;", "&")


@pytest.mark.parametrize("form", FORMS[:3])  # in the hidden form an input without its mean is a sum of its own
def test_what_is_printed_is_short_and_counts_what_it_leaves_out(form):
    model = pendulum_model(form, Embedding(1, 1))
    shown = str(model)
    assert shown != model.equations()
    assert len(shown.splitlines()) <= 2 * 13
    assert "more terms)" in shown
    first = shown.splitlines()[0]
    whole = model.equations().splitlines()[0]
    assert whole.startswith(first.split(" + …")[0])
    hidden = int(first.split("… (")[1].split(" ")[0])
    pieces = len(first.split(" + …")[0].replace(" − ", " + ").split(" + "))
    assert pieces + hidden == len(whole.split(", held")[0].replace(" − ", " + ").split(" + "))


@pytest.mark.parametrize("form", ["linear", "reprojected"])
@pytest.mark.parametrize("outputs, inputs", HOSTILE)
def test_columns_may_have_any_name_wherever_a_model_is_written(form, outputs, inputs, tmp_path):
    plain = simulate_pendulum([80], 2)
    model = pendulum_model(form, Embedding(1, 1), data=replace(plain, signals=Signals(outputs, inputs, 0.1)))
    assert outputs[0] in model.equations()
    assert "<script>" not in model._repr_html_()
    assert "input{" not in model._repr_latex_().replace("input\\{", "")
    lines = model.to_sympy().save(tmp_path / "model.txt").read_text().splitlines()
    assert [line for line in lines if line.startswith("#")][1:] == ["# start", "# step", "# read"]
    assert sympy.sympify(lines[lines.index("# step") + 1]).lhs.name == f"{outputs[0]}[k+1]"
    model.to_c(tmp_path / "c", outputs[0][:40])
    subprocess.run(["make"], cwd=tmp_path / "c", check=True, capture_output=True)
    text = m_text(model, "model")  # every line that holds a name is a comment of plain letters
    assert text.isascii()
    code, expected = (
        [line for line in one.splitlines() if not line.startswith("%")]
        for one in (text, m_text(pendulum_model(form, Embedding(1, 1), data=plain), "model"))
    )
    assert code == expected


def test_a_users_own_code_goes_by_its_name():
    model = pendulum_model("reprojected", recipe=States() + Function(np.abs, names=["|a|", "|b|"]), inputs=0)
    assert "·|a|" in model.equations()


def test_sympy_is_loaded_only_when_it_is_used():
    code = "import sys, koopsieve; koopsieve.States() + koopsieve.Monomials(); sys.exit('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", [name for name in BLOCKS if name not in CODE and "mean" not in name])
def test_a_formula_gives_the_values_read_as_a_person_would(name):
    phi, points = fitted(name), np.random.default_rng(0).normal(size=(5, 4))
    texts = formulas(phi)
    assert list(texts) == list(phi.regressors)
    functions = {"sin": np.sin, "cos": np.cos, "exp": np.exp, "tanh": np.tanh}
    for point, row in zip(points, phi.evaluate(points), strict=True):
        names = functions | dict(zip(("x1", "x2", "u1", "u2"), map(float, point), strict=True))
        plain = [text.translate({ord(old): new for old, new in READ.items()}) for text in texts.values()]
        found = [eval(text, {"__builtins__": {}}, names) for text in plain]
        np.testing.assert_allclose(found, row, rtol=0.02, atol=0.02)  # formulas are written in three digits


def test_a_kernel_is_told_by_its_centre_and_not_by_a_number():
    phi = SquaredExponential(centers=[[0.31, -0.29]], coefficients=[0.5]).fit(DATA)
    assert next(iter(formulas(phi).values())) == "exp(−0.5·(x1 − 0.31)² − 0.5·(x2 + 0.29)²)"
