"""Reports of results with hostile names, titles and numbers: a whole page, its data JSON, nothing of it executed."""

import json
import re
from dataclasses import replace
from functools import cache

import numpy as np

from koopsieve import Constant, Monomials, States, Trajectories, sift
from koopsieve.io.run import write_run
from koopsieve.report.html import render_report
from koopsieve.sieve import GraphSieve
from tests.fuzz.values import NAMES, pick, record

HOSTILE = ("</script><script>alert(1)</script>", "{{ 7*7 }}", "<!--", "]]>", "\x00", "\ud83d\ude00", "'\"`", "a" * 500)

PAIRS = tuple(zip([*NAMES[:12], *HOSTILE[:3]], [*HOSTILE[:3], *NAMES[:12]], strict=True))  # "1" is the constant


def case(rng, folder):
    names = pick(rng, PAIRS)
    result = _numbers_changed(rng, _result(names))
    title, story = (pick(rng, (*NAMES, *HOSTILE)) for _ in range(2))
    more = {"note": {pick(rng, (*NAMES, *HOSTILE)): pick(rng, (1, "a", [1], {"a": 1}, *HOSTILE, None, float("nan")))}}
    page = render_report(result, title=title, story=story, settings=pick(rng, HOSTILE))
    assert page.rstrip().endswith("</html>")
    assert "<script>alert(1)" not in page
    found = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
    assert found["outputs"] == [names[0]]
    if rng.random() < 0.1:
        write_run(result, folder / "run", more)
        assert json.loads((folder / "run" / "summary.json").read_text())["form"] == "linear"
        assert all(line[:1] not in "=+-@" for line in (folder / "run" / "inclusion.csv").read_text().splitlines())
        assert "alert(1)</script>" not in result._repr_html_()


@cache
def _result(names):
    x, u = record(np.random.default_rng(1), rows=90, columns=1, inputs=1)
    data = Trajectories.from_arrays(x, u, state_names=names[:1], input_names=names[1:], dt=0.1)
    return sift(data, States() + Constant() + Monomials(), sieve=GraphSieve(), horizons=[1, 3], test=0.3)


def _numbers_changed(rng, result):
    """Return the result with errors that are infinite, tiny or missing, as a model that diverges gives them."""
    if rng.random() < 0.4:
        return result
    value = pick(rng, (np.inf, np.nan, 0.0, 1e308, 5e-324))
    spoilt = {name: np.full_like(one, value) for name, one in result.errors.nmse.items()}
    errors = replace(result.errors, nmse=spoilt)
    return replace(result, errors=errors, seed=pick(rng, (0, 1, 2**40)))
