import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import koopsieve
from koopsieve import (
    Function,
    GraphSieve,
    KoopmanSieve,
    KoopsieveError,
    LeastSquares,
    Monomials,
    SquaredExponential,
    States,
)
from koopsieve._written import plain
from koopsieve.data import embedded
from koopsieve.io.run import summarise
from koopsieve.report import render_report, write_report
from koopsieve.report.content import (
    MAX_MATRIX,
    MAX_VALUES,
    amplitude_spectrum,
    chains,
    content,
    shown_parts,
)
from koopsieve.report.html import c_code, python_code, script_json
from koopsieve.sifting.parts import EvaluationData
from tests.compiled import STRICT
from tests.runs import duffing_result, duffing_trajectories

HOSTILE = "<img src=x onerror=alert(1)>"
SECTIONS = [
    "data-shown",
    "accuracy",
    "simulation",
    "residuals",
    "how-many",
    "terms",
    "dependencies",
    "spectrum",
    "responses",
    "tried",
    "use",
    "repeat",
]


@pytest.fixture(scope="module")
def page(small_result):
    return render_report(
        small_result,
        title="bench.csv",
        story="A story.",
        command="koopsieve sift bench.csv",
        settings='states = ["y"]\n',
    )


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))


def test_the_page_asks_for_nothing_from_outside(page):
    assert not re.search(
        r"\bsrc\s*=|href\s*=\s*\"(?!#)|url\((?!#|`|\$)|@import|https?://(?!www\.w3\.org/2000/svg)", page
    )
    assert "default-src 'none'" in page


def test_every_section_is_in_the_contents(any_result):
    page = render_report(any_result)
    assert re.findall(r'<li><a href="#([\w-]+)">', page) == SECTIONS
    assert re.findall(r'<section id="([\w-]+)">', page) == SECTIONS
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_the_page_says_what_was_kept_and_how_to_repeat_it(page, small_result):
    for shown in (
        f"<strong>{len(small_result.retained)}</strong>",
        "A story.",
        "koopsieve sift bench.csv",
        "states = [&#34;y&#34;]",
        f'<th scope="row">summary</th><td>{small_result.provenance.describe()}</td>',
    ):
        assert shown in page


def test_there_is_one_explanation(small_result, graph_result):
    kept = data_of(render_report(small_result))["dependencies"]
    assert set(kept["targets"]) == set(small_result.retained_names)
    assert not kept["movable"]
    whole = render_report(graph_result)
    assert set(data_of(whole)["dependencies"]["targets"]) == set(graph_result.dictionary.names)
    assert data_of(whole)["dependencies"]["movable"]
    rows = re.findall(r'<tr data-index="(\d+)"( class="out")?>', whole)
    assert sorted(int(i) for i, out in rows if not out) == graph_result.retained.tolist()


def test_what_the_page_shows_in_numbers_is_in_the_summary(page, small_result):
    rows = set(re.findall(r"<td>([^<]+)</td>", page))
    assert {"sifted", "linear", "everything", "persistence", "least squares, all", "spike and slab, kept"} <= rows
    found, shown = plain(summarise(small_result)), data_of(page)
    assert {**shown["summary"], "seconds": 0} == {**found, "seconds": 0}
    assert [model["label"] for model in shown["models"]][:4] == ["sifted", "linear", "everything", "persistence"]
    for model in shown["models"]:
        errors = np.mean(list(found["models"][model["label"]]["nmse"].values()), axis=0)
        np.testing.assert_allclose(model["error"], errors)


def test_a_kernel_is_shown_by_its_centre():
    recipe = States() + SquaredExponential(centers=6, coefficients=[0.5])
    result = duffing_result(dictionary=recipe, sieve=GraphSieve(LeastSquares()), methods=False)
    page = render_report(result)
    kernels = [name for name in result.retained_names if name.startswith("exp")]
    assert kernels
    assert len(re.findall(r"exp\(−0\.5·\(y [−+] [\d.]+\)² − 0\.5·\(y\[k-1\] ", page)) >= len(kernels)


@pytest.mark.parametrize("form, matrices", [("bilinear", {"A", "B", "C", "N_u"}), ("reprojected", {"coef"})])
def test_other_forms_say_what_their_eigenvalues_are(form, matrices, request):
    page = render_report(request.getfixturevalue(f"{form}_result"))
    assert "step linearised at the mean state" in page
    assert "Condition number of A" not in page
    assert set(data_of(page)["matrices"]) == matrices
    assert f'<th scope="row">{form} (taken)</th>' in page


def test_a_result_without_test_data_says_so():
    page = render_report(duffing_result(test=None, methods=False))
    assert "There were no test data." in page
    assert data_of(page)["record"]["runs"] == ["sifted", "everything"]


def test_a_fitted_estimator_will_do(tmp_path):
    sieve = KoopmanSieve(States() + Monomials(degree=2), horizons=[1, 5], path_length=3, form="linear").fit(
        duffing_trajectories(300)
    )
    write_report(sieve, tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 50_000


def test_names_are_escaped_everywhere():
    names = (HOSTILE, "</script><script>alert(2)</script>")
    page = render_report(duffing_result(names=names, methods=False), title=HOSTILE, story=HOSTILE)
    assert HOSTILE not in page
    assert "<script>alert(2)" not in page
    assert data_of(page)["outputs"] == [HOSTILE]
    assert len(re.findall("<script", page)) == 2
    value = {"a": "</script>\u2028&<!--", "b": np.array([1.0, np.inf])}
    text = script_json(value)
    assert not re.search("[<>&\u2028\u2029]", text)
    assert json.loads(text) == {"a": value["a"], "b": [1.0, "inf"]}


def test_a_long_record_and_many_observables_stay_under_three_megabytes(tmp_path):
    recipe = States() + SquaredExponential(centers=230, standardize=True)
    result = duffing_result(dictionary=recipe, sieve=GraphSieve(LeastSquares()), methods=False)
    long = embedded(duffing_trajectories(40_000, seed=1), result.embedding)
    result = replace(result, evaluation=EvaluationData("test", long))
    write_report(result, tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < 3e6
    shown = content(result, chains(result))
    assert not shown["record"]["complete"]
    assert len(shown["dependencies"]["targets"]) == 200
    assert not shown["dependencies"]["movable"]
    assert (shown["matrices"] is None) == (result.model.A.size + result.model.B.size + result.model.C.size > MAX_MATRIX)


def test_whole_episodes_are_shown_until_the_page_is_full():
    for lengths, values, shown in (([100, 200], 4, [(0, 100), (1, 200)]), ([MAX_VALUES, 5], 2, [(0, MAX_VALUES // 2)])):
        assert [(part.episode, part.rows) for part in shown_parts(lengths, values)] == shown


def test_a_sine_shows_its_amplitude_however_long_the_record():
    for samples in (200, 20_000):
        t = np.arange(samples) * 0.01
        frequency, amplitude = amplitude_spectrum(7 + 3 * np.sin(2 * np.pi * 10 * t), 0.01)
        assert len(frequency) <= 241
        assert frequency[np.argmax(amplitude)] == pytest.approx(10, rel=0.02)
        assert amplitude.max() == pytest.approx(3, rel=0.05)


def test_the_python_code_runs_as_it_stands(any_result, tmp_path):
    any_result.model.save(tmp_path / "model.npz")
    (tmp_path / "use.py").write_text(python_code(any_result.model, 7) + "print(predicted.shape)\n")
    here = {**os.environ, "PYTHONPATH": str(Path(koopsieve.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "use.py"], cwd=tmp_path, env=here, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == f"(7, {len(any_result.model.output_names)})"


def test_names_cannot_leave_the_comment_they_stand_in():
    """Names hold no line breaks, wherever they come from."""
    with pytest.raises(KoopsieveError, match=r"must hold no line breaks.*Got 'y\\nimport os'"):
        duffing_result(names=("y\nimport os", "u"), methods=False)
    model = duffing_result(names=("y */ '\"; import os", "u"), methods=False).model
    named = [line for line in python_code(model, 3).splitlines() if "import os" in line]
    assert all("#" in line.split("import os")[0] for line in named)


def test_the_c_code_compiles_and_predicts(any_result, tmp_path):
    model = any_result.model
    files = model.to_c(tmp_path)
    (tmp_path / "use.c").write_text(c_code(model, 4))
    program = tmp_path / "use"
    subprocess.run([*STRICT, "-o", str(program), str(tmp_path / "use.c"), str(files[1]), "-lm"], check=True)
    shown = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.split()
    along = model.history - 1 + 4 + model.signals.embedding.input_lead
    predicted = model.predict(
        np.zeros((model.history, len(model.output_names))), np.zeros((along, len(model.input_names))), 4
    )
    np.testing.assert_allclose([float(value) for value in shown[1::2]], predicted[:, 0], rtol=1e-4, atol=1e-12)
    assert "model_step(carried, input, next);" in render_report(any_result)


def test_no_c_for_a_model_with_the_users_own_code():
    recipe = States() + Function(lambda x: np.tanh(x[:, 0]), names=["tanh y"])
    result = duffing_result(dictionary=recipe, sieve=GraphSieve(LeastSquares()), methods=False)
    assert c_code(result.model, 3) == ""
    assert "model_step" not in render_report(result)


def test_bands_and_how_well_they_hold_are_shown(vehicle):
    found, page = plain(summarise(vehicle))["bands"], render_report(vehicle)
    np.testing.assert_allclose(found["coverage"]["sway"], vehicle.coverage.share[:, 1])
    assert "Bands of 90 % were found on the validation data." in page
    example = data_of(page)["examples"][0]
    lower, upper = np.array(example["band"])
    assert (lower[:, 1:] < np.array(example["predicted"]["sifted"])[:, 1:]).all()
    assert (upper[:, 1:] > np.array(example["predicted"]["sifted"])[:, 1:]).all()
