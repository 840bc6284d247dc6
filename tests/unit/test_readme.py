"""What the README shows runs as written, and what its comments say is so."""

import re
import shlex
import sys
import warnings
from pathlib import Path

import pytest

from koopsieve.cli import main

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.filterwarnings("ignore::koopsieve.KoopsieveWarning")
def test_the_readme_runs_as_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main() replaces it
    blocks = re.findall(r"^```(sh|python)\n(.*?)^```", README.read_text(), flags=re.S | re.M)
    assert [kind for kind, _ in blocks] == ["sh", "sh", "python", "python"]
    for line in blocks[1][1].splitlines():
        monkeypatch.setattr(sys, "argv", shlex.split(line, comments=True))
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0, line
    assert (tmp_path / "result" / "report.html").stat().st_size > 10_000
    namespace = {}
    exec(blocks[2][1], namespace)
    result = namespace["result"]
    assert result.errors.mean[-1] < 1e-3 * result.baselines["linear"].errors.mean[-1]  # as the comment says
    assert result.evaluation.on == "held-out"
    assert len({one.embedding for one in result.searches}) > 2  # delays were found among several
    assert {one.form for one in result.searches} == {"linear", "bilinear", "reprojected"}
    assert namespace["ahead"][-1] == pytest.approx(namespace["y"][namespace["rows"] + 49], abs=0.05)


def test_the_papers_method_runs_as_written(capsys):
    block = re.findall(r"^```python\n(.*?)^```", README.read_text(), flags=re.S | re.M)[-1]
    namespace = {}
    exec(block, namespace)  # a warning that it has not settled would be an error here
    assert len([line for line in block.splitlines() if line.strip()]) <= 22
    assert [namespace["phi"].names[i] for i in namespace["reduction"].retained] == ["x1", "x2", "x1^2"]
    assert namespace["estimate"].posterior.beta.mean().shape == (9, 9)
    assert capsys.readouterr().out.count("\n") == 1 + 3 + 9


def test_every_link_to_a_file_exists():
    for target in re.findall(r"\]\(([^)#:]+)\)", README.read_text()):
        assert (README.parent / target).exists(), target
