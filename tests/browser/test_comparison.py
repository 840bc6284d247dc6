"""The page that compares runs, in a real browser."""

import pytest

from koopsieve.report import render_comparison


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_runs_stand_side_by_side(open_page, small_result, graph_result, reprojected_result, width, theme):
    runs = {"path": small_result, "<b>graph</b>": graph_result, "anew": reprojected_result}
    page, trouble = open_page(render_comparison(runs), width=width, theme=theme)
    assert trouble == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for chart in ("#error-chart", "#path-chart"):
        box = page.locator(f"{chart} svg").bounding_box()
        assert box["width"] >= 300
        assert box["height"] >= 200
        assert "<b>graph</b>" in page.inner_text(f"{chart} .key")
    assert page.locator("#path-chart circle[r='8']").count() == 3
    assert page.locator("b").count() == 0
    page.locator("#error-chart svg").hover()
    assert page.locator("#tooltip").is_visible()
