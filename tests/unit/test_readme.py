"""What the README shows runs as written."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.filterwarnings("ignore::koopsieve.KoopsieveWarning")
def test_the_python_of_the_readme_runs_as_written(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.S)
    assert len(blocks) >= 2
    namespace = {}
    for block in blocks:
        exec(block, namespace)  # the blocks build on each other, as a reader runs them
    assert "x1^2" in capsys.readouterr().out
    assert {"x1", "x2", "x3", "x1^2"} <= set(namespace["sieve"].retained_names_)
    assert len(namespace["sieve"].retained_names_) < 29
    assert namespace["sieve"].score(namespace["test"]) > -0.01


def test_every_link_to_a_file_exists():
    for target in re.findall(r"\]\(([^)#:]+)\)", README.read_text()):
        assert (README.parent / target).exists(), target
