"""The tutorial notebooks run from the first cell to the last, and every cell that should show something does."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))


def shown(notebook):
    """Return what kinds of output every cell of code has."""
    return [
        sorted({kind for output in cell.outputs for kind in output.get("data", {output.output_type: ""})})
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::pytest.PytestWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    stored = nbformat.read(path, as_version=4)
    again = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(again, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert shown(again) == shown(stored)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_with_its_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    assert any(shown(notebook))
    assert not any(output.output_type == "error" for cell in notebook.cells for output in cell.get("outputs", []))
