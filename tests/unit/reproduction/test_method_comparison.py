"""The paper's comparison on any data: what it computes, and that it prints, plots and exports."""

import csv

import numpy as np
import pytest

from koopsieve import (
    KoopsieveError,
    LeastSquares,
    LinearModel,
    Monomials,
    SpikeSlab,
    SpikeSlabPrior,
    States,
    Trajectories,
    compare_methods,
    compress,
    horizon_nmse,
    paper_methods,
    reduce,
)
from koopsieve.plots import plot_coefficients, plot_condensation, plot_graph, plot_inclusion, save_figure
from koopsieve.reproduction.study_tables import StudyTable

RECIPE = States() + Monomials(degree=2)


def record(seed, samples=300):
    rng = np.random.default_rng(seed)
    x, u = np.zeros((samples, 2)), rng.normal(size=(samples - 1, 1))
    for k in range(samples - 1):
        x[k + 1] = 0.8 * x[k, 0] + 0.3 * u[k, 0], 0.5 * x[k, 1] + 0.2 * x[k, 0] ** 2
        x[k + 1] += 0.02 * rng.normal(size=2)
    return Trajectories.from_arrays(x, u)


@pytest.fixture(scope="module")
def compared():
    return compare_methods(record(0), record(1), RECIPE, horizons=[5, 1], threshold=0.5)


def test_it_is_the_papers_method_stage_by_stage(compared):
    train, test = record(0), record(1)
    phi = RECIPE.fit(train)
    statistics = compress(train, phi)
    methods = paper_methods()
    kept = reduce(methods["IV"].identify(statistics).inclusion, phi.outputs, 0.5).retained
    assert compared.reduction.retained.tolist() == kept.tolist() == [0, 1, 2]
    assert list(compared.errors["full"]) == ["I", "II", "III", "IV"]
    assert list(compared.errors["reduced"]) == ["I", "II", "III", "IV", "IV*"]
    assert compared.horizons == (1, 5)
    methods["IV*"] = SpikeSlab(SpikeSlabPrior().flat())
    for name, method in methods.items():
        model = LinearModel.from_estimate(method.identify(statistics.select(kept)), phi.select(kept))
        for output, errors in horizon_nmse(model, test, [1, 5]).items():
            np.testing.assert_array_equal(compared.errors["reduced"][name][output], errors)


def test_the_table_prints_and_has_a_row_per_model(compared):
    table = compared.table("x2")
    assert [row[:3] for row in table.rows[:4]] == [("full", 5, name) for name in ("I", "II", "III", "IV")]
    assert table.rows[4][:3] == ("reduced", 3, "I")
    first = compared.models["full"]["I"]
    assert table.rows[0][3] == compared.errors["full"]["I"]["x2"][0]
    assert table.rows[0][5:] == (first.condition_number, first.coef_condition_number)
    mean = np.mean([errors[0] for errors in compared.errors["full"]["I"].values()])
    assert compared.table().rows[0][3] == pytest.approx(mean)
    assert "IV*" in repr(compared)
    assert "<table>" in compared._repr_html_()
    with pytest.raises(KoopsieveError, match="Outputs are x1, x2"):
        compared.table("z")


def test_it_exports_to_csv_and_latex(compared, tmp_path):
    compared.to_csv(tmp_path / "methods.csv", "x1")
    rows = list(csv.reader((tmp_path / "methods.csv").read_text().splitlines()))  # as any program reads it
    assert len(rows) == 1 + 9
    assert {len(row) for row in rows} == {len(rows[0])}
    assert float(rows[1][3]) == compared.errors["full"]["I"]["x1"][0]
    latex = compared.to_latex()
    assert (latex.count(r"\\"), r"$\kappa$" in latex, latex.isascii()) == (1 + 9, True, True)
    table = StudyTable("t", "50 % of a_b", ("x", "y"), ((1.5e-7, np.inf), (None, "a&b")))
    for written in (r"$1.5 \times 10^{-7}$ & $\infty$ \\", r"-- & a\&b \\", r"50 \% of a\_b"):
        assert written in table.to_latex()


def test_it_plots(compared, tmp_path):
    figure = compared.plot("x1")
    figure.savefig(tmp_path / "methods.png", dpi=40)
    lines = {line.get_label(): line for line in figure.axes[1].lines}
    np.testing.assert_array_equal(lines["IV*"].get_ydata(), compared.errors["reduced"]["IV*"]["x1"])


def test_a_method_of_ones_own_may_reduce(compared):
    published = SpikeSlab.published(max_sweeps=3)
    with pytest.warns(UserWarning, match="Algorithm 1 settled"):
        found = compare_methods(record(0), record(1), RECIPE, methods={"mine": published}, horizons=[1], flat=False)
    assert list(found.errors["reduced"]) == ["mine"]
    without = compare_methods(record(0), record(1), RECIPE, methods={"I": LeastSquares()}, horizons=[])
    assert "κ(Aᵀ)" in repr(without)
    with pytest.raises(KoopsieveError, match="methods is empty"):
        compare_methods(record(0), record(1), RECIPE, methods={})


def test_the_papers_objects_can_be_drawn(compared, tmp_path):
    estimate, reduction = compared.estimates["full"]["IV"], compared.reduction
    axes = plot_inclusion(estimate, reduction=reduction)
    np.testing.assert_array_equal(axes.get_images()[0].get_array(), estimate.inclusion)
    bold = [label.get_text() for label in axes.get_xticklabels() if label.get_fontweight() == "bold"]
    assert bold == ["x1", "x2", estimate.targets[2]]
    named = {text.get_text() for text in plot_graph(reduction, estimate.targets).texts}
    assert set(estimate.targets) <= named
    assert "φ1" in {text.get_text() for text in plot_graph(reduction).texts}
    shown = {text.get_text() for text in plot_condensation(reduction, estimate.targets).texts}
    assert len(shown - {""}) == len(reduction.components)
    heat = plot_coefficients(estimate)
    np.testing.assert_allclose(heat.get_images()[0].get_array().filled(0), np.abs(estimate.coef))
    for place, drawn in enumerate((axes, heat)):
        save_figure(drawn, tmp_path / f"{place}.png", dpi=40)
    with pytest.raises(KoopsieveError, match="Expected 5, got 1"):
        plot_graph(reduction, ["a"])
    with pytest.raises(KoopsieveError, match="Reduction"):
        plot_condensation(estimate)
