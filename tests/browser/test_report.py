"""Reports in a real browser: they load, can be read wide and on a phone, light and dark; names cannot harm them."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from koopsieve import reduce
from koopsieve.report import render_comparison
from tests.runs import in_form

HOSTILE = "<img src=x onerror=alert(1)>"
CHARTS = "#channels .chart, #spectra .chart, #error-chart, #runs .chart, #stretches .chart, #residual-charts .chart, "
CHARTS += "#path-chart, #eigenvalues, #responses-charts .chart"


def boxes(page, selector):
    """Return (width, height) of what a selector finds, as the browser lays it out."""
    script = "nodes => nodes.map(n => { const b = n.getBoundingClientRect(); return [b.width, b.height]; })"
    return page.eval_on_selector_all(selector, script)


def unfold(page):
    """Open everything that is folded away."""
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.wait_for_timeout(200)


def luminance(page, selector, what):
    """Return how bright a colour of an element is, from 0 to 1."""
    colour = page.eval_on_selector(selector, f"node => getComputedStyle(node).{what}")
    red, green, blue = (float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3])
    return (0.299 * red + 0.587 * green + 0.114 * blue) / 255


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_chart_is_drawn_at_a_readable_size(open_report, any_result, width, theme):
    page = open_report(any_result, width=width, theme=theme)
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    channels = len(any_result.model.output_names) + len(any_result.model.input_names)
    assert page.locator("#channels svg").count() == page.locator("#spectra svg").count() == channels
    assert page.locator("#runs svg").count() == 2 * len(any_result.model.output_names)  # runs, and their errors
    assert page.locator("#responses-charts svg").count() == 3 * len(any_result.model.output_names)
    hosts, pictures = boxes(page, CHARTS), boxes(page, ",".join(f"{one} svg" for one in CHARTS.split(", ")))
    assert len(hosts) == len(pictures) >= 9
    for (host, _), (wide, high) in zip(hosts, pictures, strict=True):
        assert wide >= min(360, 0.95 * host)
        assert wide >= (300 if width == 390 else 360)
        assert high >= 150
    sizes = page.eval_on_selector_all("svg text", "nodes => nodes.map(n => parseFloat(getComputedStyle(n).fontSize))")
    assert min(sizes) >= 11
    paper, ink = (luminance(page, "body", what) for what in ("backgroundColor", "color"))
    assert (paper > 0.9 and ink < 0.3) if theme == "light" else (paper < 0.2 and ink > 0.8)
    assert abs(luminance(page, "#channels .line", "stroke") - paper) > 0.3


def test_labels_stay_on_the_canvas_and_ticks_are_plain(open_report, vehicle):
    page = open_report(vehicle)
    texts = page.eval_on_selector_all(".chart svg text", "nodes => nodes.map(n => n.textContent)")
    assert "0" in texts
    assert not any("e-" in text or "e+" in text or len(text) > 40 for text in texts)
    outside = """nodes => nodes.filter(node => {
        const inner = node.getBoundingClientRect(), outer = node.ownerSVGElement.getBoundingClientRect();
        return inner.width && (inner.left < outer.left - 2 || inner.right > outer.right + 2);
    }).map(node => node.textContent)"""
    assert page.eval_on_selector_all(".chart svg text", outside) == []
    for picture in page.locator("#residual-charts svg").all():  # their axes go from below zero to above
        labels = picture.locator("text[text-anchor=end]").all_text_contents()
        assert "0" in labels  # and not 10⁻¹⁷
        assert len(labels) >= 3
        assert not any("⁻¹⁷" in label for label in labels)


def test_the_graph_is_on_the_screen_of_a_phone(open_report, any_result):
    page = open_report(any_result, width=390)
    unfold(page)
    assert page.locator("svg.graph:visible").count() == 1
    places = "nodes => nodes.map(n => { const b = n.getBoundingClientRect(); return [b.left, b.right]; })"
    chips = page.eval_on_selector_all("svg.graph.narrow .chip", places)
    assert all(left >= 0 and right <= 390 for left, right in chips)


def test_light_and_dark_can_be_switched(open_report, small_result):
    page = open_report(small_result)
    before = page.eval_on_selector("#heatmap", "canvas => canvas.toDataURL()")
    assert luminance(page, "body", "backgroundColor") > 0.9
    page.click("#theme")
    assert luminance(page, "body", "backgroundColor") < 0.2
    assert page.eval_on_selector("#heatmap", "canvas => canvas.toDataURL()") != before
    page.click("#theme")
    assert luminance(page, "body", "backgroundColor") > 0.9


def test_charts_follow_the_width_of_the_window(open_report, small_result):
    page = open_report(small_result, width=1400)
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_function("document.querySelector('#error-chart svg').getBoundingClientRect().width < 390")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_contents_lead_to_every_section(open_report, small_result):
    page = open_report(small_result)
    page.add_style_tag(content="html { scroll-behavior: auto !important; }")  # otherwise it glides there
    for link in page.locator("nav.contents a").all():
        link.click()
        box = page.locator(link.get_attribute("href")).bounding_box()
        assert -5 <= box["y"] < 900


def test_the_sizes_of_a_path_can_be_looked_through(open_report, any_result):
    page = open_report(any_result, width=390)
    path, names = any_result.path, "#size-names li"
    to_indices = "items => items.map(item => Number(item.dataset.index))"
    assert page.eval_on_selector_all(names, to_indices) == path.retained.tolist()
    for number, point in enumerate(path.points):
        page.locator("#size").fill(str(number))
        assert page.eval_on_selector_all(names, to_indices) == point.retained.tolist()
        assert page.inner_text("#size-shown") == str(point.size)
        assert [item.inner_text() for item in page.locator(names).all()] == list(point.names)
    page.click("#size-reset")
    assert page.eval_on_selector_all(names, to_indices) == path.retained.tolist()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def seen_range(page, chart="#runs"):
    """Return the first and last time on the axis of a chart."""
    texts = page.eval_on_selector_all(
        f"{chart} svg:first-of-type text[y]", "n => n.map(t => [t.textContent, +t.getAttribute('y')])"
    )
    lowest = sorted({y for _, y in texts})[-2]
    ticks = [float(text.replace("−", "-")) for text, y in texts if y == lowest]
    return min(ticks), max(ticks)


def test_dragging_zooms_all_charts_of_the_record(open_report, small_result):
    page = open_report(small_result)
    whole = seen_range(page)
    page.locator("#runs svg").first.scroll_into_view_if_needed()
    box = page.locator("#runs svg").first.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.4 * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], middle, steps=4)
    assert page.locator("#runs .shade").count() == 1
    page.mouse.up()
    near = seen_range(page)
    assert whole[0] < near[0] < near[1] < whole[1]
    assert near[1] - near[0] < 0.35 * (whole[1] - whole[0])
    assert seen_range(page, "#channels") == pytest.approx(near, abs=1.1)
    page.locator("#runs svg").first.dblclick()
    assert seen_range(page) == whole


def test_the_buttons_zoom_and_move(open_report, small_result):
    page = open_report(small_result, width=390)
    whole = seen_range(page)
    for _ in range(2):
        page.click("#runs-tools button:has-text('+')")
    near = seen_range(page)
    assert near[1] - near[0] < 0.5 * (whole[1] - whole[0])
    page.click("#runs-tools button:has-text('▶')")
    assert seen_range(page)[0] > near[0]
    for _ in range(9):
        page.click("#runs-tools button:has-text('▶')")
    samples, dt = small_result.evaluation.data.n_samples, small_result.model.dt
    assert seen_range(page)[1] > 0.9 * samples * dt  # the end of the record
    page.click("#runs-tools button:has-text('Whole')")
    assert seen_range(page) == whole


def test_episodes_can_be_chosen_and_both_lists_agree(open_report, vehicle):
    page = open_report(vehicle)
    line = page.locator("#runs .line").first
    before = line.get_attribute("d")
    page.select_option("#channels-tools select", index=2)
    assert page.locator("#runs .line").first.get_attribute("d") != before
    assert page.input_value("#runs-tools select") == "2"


def test_the_stretches_can_be_chosen(open_report, small_result):
    page = open_report(small_result)
    typical = page.inner_html("#stretches svg g.plot")
    page.click("#stretch button:has-text('worst')")
    assert page.inner_html("#stretches svg g.plot") != typical
    assert page.get_attribute("#stretch button:has-text('worst')", "aria-pressed") == "true"


def retained_on(page):
    listed = page.eval_on_selector_all("#why tbody tr:not(.out) th", "cells => cells.map(cell => cell.textContent)")
    shown = page.eval_on_selector_all("#retained li", "items => items.map(item => item.textContent)")
    assert listed == shown
    return set(shown)


def kept_at(result, threshold):
    found = reduce(result.explanation.inclusion, result.reduction.outputs, threshold).retained
    return {result.explanation.targets[i] for i in found}


def test_the_threshold_gives_what_reduce_gives(open_report, graph_result):
    page = open_report(graph_result)
    inclusion = graph_result.explanation.inclusion
    exact = sorted({float(p) for p in inclusion[:-1].ravel() if 0 < p < 1})  # where ≥ and > differ
    seen = set()
    for threshold in [1e-6, 0.01, 0.1, 0.5, 0.9, 0.999, *exact[:: max(1, len(exact) // 8)]]:
        page.fill("#threshold", repr(threshold))
        expected = kept_at(graph_result, threshold)
        assert retained_on(page) == expected
        assert page.inner_text("#verdict").startswith(f"{len(expected)} of {graph_result.dictionary.size} ")
        seen.add(len(expected))
    assert len(seen) > 1  # the thresholds above must have changed something
    for place in (-400, -100, 0, 250, 400):
        page.locator("#slider").fill(str(place))
        threshold = float(page.input_value("#threshold"))
        assert threshold == pytest.approx(1 / (1 + 10 ** (-place / 100)), rel=1e-3)
        assert retained_on(page) == kept_at(graph_result, threshold)
    page.click("#reset")
    assert retained_on(page) == set(graph_result.retained_names)
    page.fill("#threshold", "2")  # not a threshold: nothing changes
    assert retained_on(page) == set(graph_result.retained_names)


def test_the_heat_map_names_what_is_under_the_pointer(open_report, small_result):
    page = open_report(small_result)
    assert page.locator("#threshold").count() == 0  # the graph did not decide
    canvas = page.locator("#heatmap")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 170 + 8, box["y"] + box["height"] - 8)  # the first column, the last row: the input
    first, second, third = page.inner_text("#tooltip").splitlines()
    found = small_result.explanation
    assert (first, second) == ("u", "drives y")
    assert third == f"with probability {found.inclusion[found.regressors.index('u'), 0]:.3g}"


def downloaded(page, name):
    with page.expect_download() as waiting:
        page.click(f"#downloads button[data-file='{name}']")
    assert waiting.value.suggested_filename == name
    return waiting.value.path().read_text(encoding="utf-8")


def table(text):
    head, *rows = csv.reader(text.splitlines())
    return head, rows


@pytest.mark.parametrize("which", ["small_result", "bilinear_result", "reprojected_result"])
def test_the_matrices_come_down_exactly(open_report, which, request):
    result = request.getfixturevalue(which)
    page = open_report(result)
    for name, array in result.model.arrays().items():
        if name in ("A", "B", "C", "N", "coef"):
            file, values = (name, array) if array.ndim == 2 else (f"{name}_u", array[0])
            head, rows = table(downloaded(page, f"{file}.csv"))
            np.testing.assert_array_equal([[float(v) for v in row[1:]] for row in rows], values)
            assert len(head) == values.shape[1] + 1


def test_terms_predictions_and_summary_come_down(open_report, vehicle):
    page = open_report(vehicle)
    terms = vehicle.model.output_terms()
    head, rows = table(downloaded(page, "terms.csv"))
    assert head[:3] == ["term", "formula", "coefficient for surge"]
    assert [row[0] for row in rows] == list(terms.names)
    np.testing.assert_allclose([[float(v) for v in row[2:5]] for row in rows], terms.coef)
    head, rows = table(downloaded(page, "predictions.csv"))
    data = vehicle.evaluation.data
    assert len(rows) == data.n_samples
    column = head.index("surge, sifted")
    model, x, u = vehicle.model, data.states[1], data.inputs[1]
    runs = [model.read(carried)[0, 0] for carried in model.steps(model.start(x[:1]), u[:, None])]
    mine = [float(row[column]) for row in rows if row[0] == "2"]
    np.testing.assert_allclose(mine, [x[0, 0], *runs], rtol=1e-5, atol=1e-6)
    assert json.loads(downloaded(page, "summary.json"))["form"] == "linear"


def test_a_run_that_diverges_is_cut_and_marked(open_report, small_result):
    wild = replace(small_result.model, A=1.2 * small_result.model.A)
    page = open_report(replace(small_result, outcome=replace(small_result.outcome, model=wild)))
    assert page.locator("#runs path.cut").count() >= 1
    assert page.locator("#stretches path.cut").count() >= 1


def test_code_can_be_copied(open_report, small_result):
    page = open_report(small_result)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("button[data-copy='python-code']")
    page.wait_for_selector("button[data-copy='python-code']:has-text('copied')")
    assert page.evaluate("navigator.clipboard.readText()") == page.inner_text("#python-code").rstrip("\n") + "\n"


@pytest.mark.parametrize("form", ["linear", "reprojected"])
def test_a_hostile_name_does_nothing(open_report, form):
    names = (HOSTILE, '"><script>alert(2)</script>')
    page = open_report(in_form(form, names))
    unfold(page)
    for place in ("#heatmap", "#runs svg", "#channels svg", "#path-chart svg", "#stretches svg"):
        page.locator(place).first.scroll_into_view_if_needed()
        page.locator(place).first.hover(position={"x": 180, "y": 125})
        assert page.locator("#tooltip").is_visible()
    assert page.locator("img").count() == 0
    assert HOSTILE in page.inner_text("#size-names")
    head, _ = table(downloaded(page, "predictions.csv"))
    assert HOSTILE in head


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_runs_stand_side_by_side(open_page, small_result, graph_result, reprojected_result, width, theme):
    runs = {"path": small_result, "<b>graph</b>": graph_result, "anew": reprojected_result}
    page = open_page(render_comparison(runs), width=width, theme=theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for chart in ("#error-chart", "#path-chart"):
        ((wide, high),) = boxes(page, f"{chart} svg")
        assert wide >= 300
        assert high >= 200
        assert "<b>graph</b>" in page.inner_text(f"{chart} .key")
    assert page.locator("#path-chart circle[r='8']").count() == 3
    assert page.locator("b").count() == 0
    page.locator("#error-chart svg").hover()
    assert page.locator("#tooltip").is_visible()
