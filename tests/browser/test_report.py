"""The report in a real browser: it loads, its slider agrees with `reduce`, it fits a phone, names cannot harm it."""

import shutil

import pytest

from koopsieve import SquaredExponential, States, reduce
from koopsieve.report import write_report
from tests.runs import duffing_result

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
ARGUMENTS += ["--disable-component-update", "--disable-sync"]
HOSTILE = "<img src=x onerror=alert(1)>"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here: apt-get install chromium"),
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def open_report(browser, tmp_path):
    """Open the report of a result; returns the page and a list of everything that went wrong on it."""
    pages = []

    def opened(result, width=1200, height=900):
        path = tmp_path / "report.html"
        write_report(result, path, title="bench.csv", settings="seed = 0")
        page = browser.new_page(viewport={"width": width, "height": height})
        trouble = []
        page.on("console", lambda message: trouble.append(message.text) if message.type != "log" else None)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: (trouble.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: trouble.append(request.url) if request.url != path.as_uri() else None)
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=true]")
        pages.append(page)
        return page, trouble

    yield opened
    for page in pages:
        page.close()


@pytest.fixture(scope="module")
def large():
    return duffing_result(dictionary=States() + SquaredExponential(centers=100, standardize=True))


def retained_on(page):
    indices = page.eval_on_selector_all("#retained li", "items => items.map(item => Number(item.dataset.index))")
    listed = page.eval_on_selector_all(
        "#why tbody tr:not(.out)", "rows => rows.map(row => Number(row.dataset.index)).sort((a, b) => a - b)"
    )
    assert indices == listed
    return indices


@pytest.mark.parametrize("width", [375, 1200])
def test_it_loads_without_complaint_and_without_scrolling_sideways(open_report, small_result, width):
    page, trouble = open_report(small_result, width=width)
    assert trouble == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("svg path").count() > 10
    assert page.locator("#trajectories svg").count() == 1
    assert retained_on(page) == small_result.reduction.retained.tolist()


def test_a_large_dictionary_fits_a_phone_too(open_report, large):
    page, trouble = open_report(large, width=375)
    assert trouble == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    assert retained_on(page) == large.reduction.retained.tolist()


@pytest.mark.parametrize("which", ["small_result", "large"])
def test_the_slider_gives_what_reduce_gives(open_report, request, which):
    result = request.getfixturevalue(which)
    page, trouble = open_report(result)
    inclusion, outputs = result.found.inclusion, result.reduction.outputs
    exact = sorted({float(p) for p in inclusion[:-1].ravel() if 0 < p < 1})  # where ≥ and > differ
    seen = set()
    for threshold in [1e-6, 0.01, 0.1, 0.5, 0.9, 0.999, *exact[:: max(1, len(exact) // 8)]]:
        page.fill("#threshold", repr(threshold))
        expected = reduce(inclusion, outputs, threshold).retained.tolist()
        assert retained_on(page) == expected
        assert page.inner_text("#verdict").startswith(f"{len(expected)} of {result.dictionary.size} ")
        seen.add(len(expected))
    assert len(seen) > 1  # the thresholds above must have changed something
    assert trouble == []


def test_dragging_the_slider_and_resetting_it(open_report, small_result):
    page, trouble = open_report(small_result)
    for place in (-400, -100, 0, 250, 400):
        page.locator("#slider").fill(str(place))
        threshold = float(page.input_value("#threshold"))
        assert threshold == pytest.approx(1 / (1 + 10 ** (-place / 100)), rel=1e-3)
        kept = reduce(small_result.found.inclusion, small_result.reduction.outputs, threshold).retained
        assert retained_on(page) == kept.tolist()
    page.click("#reset")
    assert float(page.input_value("#threshold")) == small_result.reduction.threshold
    assert retained_on(page) == small_result.reduction.retained.tolist()
    page.fill("#threshold", "2")  # not a threshold: nothing changes
    assert retained_on(page) == small_result.reduction.retained.tolist()
    assert trouble == []


def test_the_sizes_of_a_path_can_be_looked_through(open_report, path_result):
    page, trouble = open_report(path_result, width=375)
    path = path_result.path
    names = "#size-names li"
    to_indices = "items => items.map(item => Number(item.dataset.index))"
    assert page.eval_on_selector_all(names, to_indices) == path.retained.tolist()
    for number, point in enumerate(path.points):
        page.locator("#size").fill(str(number))
        assert page.eval_on_selector_all(names, to_indices) == point.retained.tolist()
        assert page.inner_text("#size-shown") == str(point.size)
    page.click("#size-reset")
    assert page.eval_on_selector_all(names, to_indices) == path.retained.tolist()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    assert trouble == []


def test_the_heat_map_names_what_is_under_the_pointer(open_report, small_result):
    page, _ = open_report(small_result)
    canvas = page.locator("#heatmap")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 150 + 5, box["y"] + 5)
    assert page.inner_text("#tooltip").splitlines()[:2] == ["y", "drives y"]


def test_the_stretches_can_be_chosen(open_report, small_result):
    page, trouble = open_report(small_result)
    typical = page.inner_html("#trajectories svg g")
    page.click("#stretch button:has-text('worst')")
    assert page.inner_html("#trajectories svg g") != typical
    assert page.get_attribute("#stretch button:has-text('worst')", "aria-pressed") == "true"
    assert trouble == []


def test_a_hostile_name_does_nothing(open_report):
    result = duffing_result(names=(HOSTILE, '"><script>alert(2)</script>'))
    page, trouble = open_report(result)
    page.mouse.move(300, 300)
    for place in ("#heatmap", "#trajectories svg"):
        page.locator(place).first.hover()
        assert page.locator("#tooltip").is_visible()
    assert page.locator("img").count() == 0
    assert HOSTILE in page.inner_text("#retained")
    assert trouble == []
