"""Commands as a user types them."""

import sys
import warnings

import pytest

from koopsieve.cli import main


@pytest.fixture
def koopsieve(tmp_path, monkeypatch, capsys):
    """Run a command in an empty folder; returns exit code, output, errors. `refused` checks what is said."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main() replaces it

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["koopsieve", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return ended.value.code, shown.out, shown.err

    def refused(message, *arguments):
        code, _, err = run(*arguments)
        assert (code, message in err) == (2, True), err

    run.refused = refused
    return run
