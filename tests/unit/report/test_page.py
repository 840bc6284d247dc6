import json
import re

import numpy as np
import pytest

from koopsieve import SquaredExponential, States
from koopsieve.plots.layout import MOST, lay_out
from koopsieve.report import render_report, write_report
from koopsieve.report.content import script_json
from tests.runs import duffing_result

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def page(small_result):
    return render_report(small_result, title="bench.csv", story="A story.", settings='states = ["y"]\n')


def test_the_page_asks_for_nothing_from_outside(page):
    assert not re.search(r"(src|href)\s*=|url\((?!#)|@import|https?://(?!www\.w3\.org/2000/svg)", page)
    assert "default-src 'none'" in page


def test_the_page_says_what_was_kept(page, small_result):
    kept = small_result.reduction.retained
    assert f"<strong>{len(kept)}</strong>" in page
    rows = re.findall(r'<tr data-index="(\d+)" class="(out)?(?: chosen)?">', page)
    assert len(rows) == small_result.dictionary.size
    assert sorted(int(i) for i, out in rows if not out) == kept.tolist()
    assert "A story." in page
    assert "states = [&#34;y&#34;]" in page


def test_a_path_is_shown_if_there_is_one(page, path_result):
    assert "How many to keep" not in page
    shown = render_report(path_result)
    assert "How many to keep" in shown
    assert f"as chosen: {path_result.path.choice.size}" in shown
    assert path_result.path.describe() in shown
    chosen = re.findall(r'<tr data-index="(\d+)" class="(?:out)? chosen">', shown)
    assert sorted(map(int, chosen)) == path_result.retained.tolist()


def test_names_are_escaped_everywhere():
    page = render_report(duffing_result(names=(HOSTILE, "</script><script>alert(2)</script>")), title=HOSTILE)
    assert HOSTILE not in page
    assert "<script>alert(2)" not in page
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1)
    assert json.loads(data)["names"][0] == HOSTILE
    assert len(re.findall("<script", page)) == 2


def test_json_survives_in_a_script_element():
    value = {"a": "</script>\u2028&<!--", "b": np.array([1.0, np.inf])}
    text = script_json(value)
    assert not re.search("[<>&\u2028\u2029]", text)
    assert json.loads(text) == {"a": value["a"], "b": [1.0, "inf"]}


@pytest.fixture(scope="module")
def large():
    return duffing_result(dictionary=States() + SquaredExponential(centers=100, standardize=True))


def test_a_hundred_observables_stay_under_three_megabytes(large, tmp_path):
    assert large.dictionary.size == 103
    write_report(large, tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < 3e6


def overlap(a, b):
    return a.x < b.x + b.width and b.x < a.x + a.width and a.y < b.y + b.height and b.y < a.y + a.height


@pytest.mark.parametrize("which", ["small_result", "large"])
def test_boxes_do_not_overlap_and_hold_every_retained_observable(which, request):
    result = request.getfixturevalue(which)
    layout = lay_out(result.reduction, result.dictionary.names)
    for i, box in enumerate(layout.boxes):
        assert not any(overlap(box, other) for other in layout.boxes[i + 1 :])
        assert 0 <= box.x <= box.x + box.width <= layout.width
        assert 0 <= box.y <= box.y + box.height <= layout.height
        assert all(overlap(box, chip) for chip in box.chips)
    members = sorted(i for box in layout.boxes for i in box.members)
    assert members == list(range(result.dictionary.size))
    if result.dictionary.size > MOST:
        assert sum(not box.retained for box in layout.boxes) <= 1


def test_arrows_lead_down_and_keep_who_depends_on_whom(small_result):
    reduction = small_result.reduction
    layout = lay_out(reduction, small_result.dictionary.names)
    number = {box.members: i for i, box in enumerate(layout.boxes)}
    drawn = np.zeros_like(reduction.condensation)
    for edge in layout.edges:
        assert layout.boxes[edge.source].y < layout.boxes[edge.target].y
        drawn[edge.source, edge.target] = True
    assert [number[tuple(c.tolist())] for c in reduction.components] == list(range(len(reduction.components)))
    reach = [np.linalg.matrix_power(np.eye(len(g)) + g, len(g)) > 0 for g in (drawn, reduction.condensation)]
    np.testing.assert_array_equal(*reach)
