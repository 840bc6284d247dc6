"""The documentation as `make docs` serves it, in a real browser."""

import os
import re
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["index", "derivation", "coming-from", "control", "reproduction", "gallery", "reference/sift"]
PAGES += ["notebooks/1_first_model", "app"]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of the site, built without a warning."""
    pytest.importorskip("mkdocs", reason="mkdocs is not installed: pip install -e '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "docs")}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def visit(site, browser):
    """Go to a page of the site, in a window of some width; returns it and what it asks for from outside."""
    opened = []

    def visiting(name, width=1400, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        opened.append(context)
        page, outside = context.new_page(), []
        page.set_default_navigation_timeout(120_000)  # a crowded machine is slow, not wrong
        page.on(
            "request",
            lambda request: None if request.url.startswith((site, "blob:", "data:")) else outside.append(request.url),
        )
        page.goto(f"{site}/{name}.html", wait_until="domcontentloaded")
        return page, outside

    yield visiting
    for context in opened:
        context.close()


@pytest.mark.parametrize("width", [390, 1400])
def test_pages_fit_the_screen_and_ask_for_nothing_from_outside(site, visit, width):
    page, outside = visit(PAGES[0], width)
    for name in PAGES:
        page.goto(f"{site}/{name}.html", wait_until="domcontentloaded")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        height, letters = page.evaluate("[document.documentElement.scrollHeight, document.body.innerText.length]")
        assert height < 3_000 + 2 * letters, name  # about as long as its text: 45 letters take 25 pixels
    assert outside == []


def test_formulas_are_drawn_as_formulas(visit):
    page, _ = visit("derivation")
    boxes = page.evaluate(
        "[...document.querySelectorAll('math')].map(m => m.getBoundingClientRect()).map(b => [b.width, b.height])"
    )
    blocks = re.findall(r"```math\n(.*?)```", (ROOT / "docs" / "derivation.md").read_text(), re.S)
    written = [line for block in blocks for line in block.splitlines() if line.strip("> ")]  # a line is a formula
    assert len(boxes) == len(written) > 80
    assert all(width > 0 and height > 0 for width, height in boxes)  # how large depends on the fonts of the machine
    texts = page.evaluate("[...document.querySelectorAll('math')].map(m => m.textContent)")
    assert [text for text in texts if "\\" in text or not text.strip()] == []  # nothing is left as LaTeX source
    # a formula that is wider than its line can be scrolled to its end
    hidden = "m => m.scrollWidth > m.clientWidth && getComputedStyle(m).overflowX === 'visible'"
    assert page.evaluate(f"[...document.querySelectorAll('.maths')].filter({hidden}).length") == 0
    fraction = page.evaluate("[...document.querySelector('mfrac').children].map(c => c.getBoundingClientRect().top)")
    assert fraction[0] < fraction[1]  # drawn as a formula: numerators are above denominators


@pytest.mark.parametrize(
    "words, page_found", [("D67", "Averages over sets"), ("coming from pysindy", "Coming from another tool")]
)
def test_the_search_finds_words_and_equations_by_their_number(visit, words, page_found):
    page, _ = visit("index")
    page.wait_for_function("document.readyState === 'complete'")
    page.keyboard.press("s")
    page.keyboard.type(words, delay=10)
    page.wait_for_selector(".md-search-result__item")
    assert page_found in page.inner_text(".md-search-result__list")


def test_copied_commands_are_commands(visit):
    page, _ = visit("index", permissions=["clipboard-read", "clipboard-write"])
    page.wait_for_function("document.readyState === 'complete'")
    command = page.locator(".language-sh").nth(1)
    command.hover()
    command.locator("button").first.click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert re.fullmatch(r"koopsieve example --out bench.csv\s*", copied)
