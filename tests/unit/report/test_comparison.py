import json
import re

import pytest

from koopsieve import KoopsieveError
from koopsieve.io.run import summarise, write_run
from koopsieve.report import render_comparison, write_comparison
from koopsieve.report.comparison import facts, judged_alike, kept_terms, mean_error
from tests.runs import duffing_result


@pytest.fixture(scope="module")
def folders(small_result, graph_result, reprojected_result, tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    for name, result in (("path", small_result), ("graph", graph_result), ("anew", reprojected_result)):
        write_run(result, root / name)
    return [root / "path", root / "graph", root / "anew"]


def test_folders_and_files_are_compared(folders, tmp_path):
    write_comparison([folders[0], folders[1] / "summary.json", folders[2]], tmp_path / "compare.html", "Mine")
    page = (tmp_path / "compare.html").read_text()
    assert "<h1>Mine</h1>" in page
    assert re.findall(r"<thead><tr><th></th>(.*?)</tr>", page)[0].count("<th") == 3
    assert not re.search(r"\bsrc\s*=|href\s*=\s*\"(?!#)|https?://(?!www\.w3\.org/2000/svg)", page)
    shown = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))["runs"]
    assert [run["name"] for run in shown] == ["path", "graph", "anew"]


def test_the_numbers_are_those_of_the_runs(small_result, graph_result):
    runs = {"a": summarise(small_result), "b": summarise(graph_result)}
    assert mean_error(runs["a"], "sifted", 10) == pytest.approx(small_result.errors.mean[1])
    assert mean_error(runs["b"], "linear", 1) == pytest.approx(graph_result.baselines["linear"].errors.mean[0])
    rows = {fact.what: (fact.values, fact.best) for fact in facts(runs)}
    assert rows["kept"][0] == [f"{len(r.retained)} of 20" for r in (small_result, graph_result)]
    errors = [small_result.errors.mean[1], graph_result.errors.mean[1]]
    assert rows["NMSE, 10 steps"][1] == errors.index(min(errors))
    one_longer = {"a": {**runs["a"], "horizons": [1, 99, *runs["a"]["horizons"][2:]]}, "b": runs["b"]}
    assert {fact.what: fact.best for fact in facts(one_longer)}[
        "NMSE, 99 steps"
    ] is None  # the only one is not the best


def test_terms_that_all_keep_come_first(small_result, graph_result):
    rows = kept_terms({"a": summarise(small_result), "b": summarise(graph_result)})
    assert [sum(kept) for _, kept in rows] == sorted((sum(kept) for _, kept in rows), reverse=True)
    mine, theirs = set(small_result.retained_names), set(graph_result.retained_names)
    assert {name: tuple(kept) for name, kept in rows} == {
        name: (name in mine, name in theirs) for name in mine | theirs
    }


def test_runs_on_other_data_have_no_best(small_result, vehicle):
    runs = {"a": summarise(small_result), "b": summarise(vehicle)}
    assert not judged_alike(runs)
    assert all(fact.best is None for fact in facts(runs))
    assert "no best is marked" in render_comparison(runs)


def test_results_themselves_will_do_and_names_are_escaped(small_result):
    hostile = duffing_result(names=("<img src=x onerror=alert(1)>", "u"), methods=False)
    page = render_comparison({"<b>": small_result, "x": hostile})
    assert "<b>" not in page
    assert "<img" not in page


def test_what_is_not_a_run_is_refused(folders, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "summary.json").write_text('{"a": 1}')
    (tmp_path / "broken.json").write_text("{")
    for wrong, message in (
        (tmp_path / "nowhere", "cannot be read"),
        (tmp_path / "broken.json", "cannot be read"),
        (tmp_path / "other", "is not the summary of a run: it lacks form"),
    ):
        with pytest.raises(KoopsieveError, match=message):
            write_comparison([folders[0], wrong], tmp_path / "compare.html")
    with pytest.raises(KoopsieveError, match=r"Compare two runs or more\. Got 1"):
        write_comparison(folders[:1], tmp_path / "compare.html")
    assert not (tmp_path / "compare.html").exists()
