"""Everything a user holds shows itself in one short line, and as a table that no name can break."""

import numpy as np
import pytest

from tests.runs import duffing_result

HELD = {
    "result": lambda r: r,
    "model": lambda r: r.model,
    "dictionary": lambda r: r.dictionary,
    "statistics": lambda r: r.statistics,
    "ahead": lambda r: r.statistics.multistep,
    "estimate": lambda r: r.explanation,
    "path": lambda r: r.path,
    "point": lambda r: r.path.choice,
    "baselines": lambda r: r.baselines["linear"],
    "fit": lambda r: r.comparison["least squares"].full,
    "errors": lambda r: r.errors,
    "windows": lambda r: r.path.choice.errors,
    "outcome": lambda r: r.outcome,
    "reduction": lambda r: r.reduction,
    "judged": lambda r: r.evaluation,
    "coverage": lambda r: r.coverage,
    "calibration": lambda r: r.model.calibration,
    "bands": lambda r: r.model.calibration.bands,
    "support": lambda r: r.model.calibration.support,
    "certificate": lambda r: r.model.calibration.certificate,
    "prediction": lambda r: r.model.predict(np.zeros((2, 1)), np.zeros((6, 1)), 5, level=0.5),
    "data": lambda r: r.evaluation.data,
}


@pytest.mark.parametrize("what", HELD)
def test_a_repr_is_one_short_line_and_a_notebook_shows_a_table(small_result, what):
    held = HELD[what](small_result)
    assert len(repr(held)) < 360
    assert "\n" not in repr(held)
    assert repr(held).startswith(type(held).__name__ + "(")
    shown = held._repr_html_()
    assert shown.startswith("<table>")
    assert shown.count("<table>") == shown.count("</table>")


@pytest.mark.parametrize("form", ["bilinear_result", "reprojected_result"])
def test_the_other_forms_show_themselves_too(form, request):
    result = request.getfixturevalue(form)
    assert f"form {result.form}" in repr(result.model)
    assert len(repr(result.model)) < 300


def test_the_result_shows_itself_beside_the_baselines(small_result):
    shown = small_result._repr_html_()
    for name in ("sifted", "persistence", "linear", "everything"):
        assert f"<th>{name}</th>" in shown
    assert "remarks" in shown


def test_names_cannot_break_a_table():
    result = duffing_result(names=("<b>y", "<script>"), methods=False)
    for hold in ("result", "model", "dictionary", "estimate", "path"):
        shown = HELD[hold](result)._repr_html_()
        assert "<b>" not in shown
        assert "<script>" not in shown
