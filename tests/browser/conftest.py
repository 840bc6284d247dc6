"""A real Chromium, pages opened in it, and the same runs as for the unit tests."""

import shutil

import pytest

from koopsieve.report import render_report
from tests.unit.conftest import (  # noqa: F401
    any_result,
    bilinear_result,
    graph_result,
    reprojected_result,
    small_result,
    vehicle,
)

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
ARGUMENTS += ["--disable-component-update", "--disable-sync"]


def pytest_collection_modifyitems(items):
    marks = [
        pytest.mark.browser,
        pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here: apt-get install chromium"),
    ]
    for item in items:
        if "browser" in item.path.parts:
            for mark in marks:
                item.add_marker(mark)


@pytest.fixture(scope="module")
def browser():
    """Start Chromium for one file: while it runs there is an event loop, which tests of the app cannot have."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Open a page; whatever goes wrong on it, or is asked for from outside, fails the test."""
    opened, trouble = [], []

    def opening(text, width=1400, height=900, theme="light"):
        path = tmp_path / "page.html"
        path.write_text(text, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
        opened.append(context)
        page, own = context.new_page(), path.as_uri()
        page.set_default_navigation_timeout(120_000)  # a crowded machine is slow, not wrong

        def asked(request):
            if not request.url.startswith((own, "blob:")):
                trouble.append(request.url)

        page.on("console", lambda message: trouble.append(message.text) if message.type != "log" else None)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: (trouble.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", asked)
        page.goto(own)
        page.wait_for_selector("html[data-ready=true]")
        return page

    yield opening
    for context in opened:
        context.close()
    assert trouble == []


@pytest.fixture
def open_report(open_page):
    """Open the report of a result."""

    def opening(result, **window):
        return open_page(render_report(result, title="bench.csv", settings="seed = 0"), **window)

    return opening
