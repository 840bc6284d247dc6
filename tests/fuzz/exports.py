"""Models with hostile names through every export: the files hold text where a name stands, and nothing else."""

import csv
import io
import subprocess
from dataclasses import replace

from scipy.io import loadmat

from koopsieve._display import csv_text
from koopsieve.dictionary import Dictionary
from koopsieve.export.c import c_files
from koopsieve.export.formulas import equations_in_latex
from koopsieve.forms import Model
from tests.fuzz.models import FORMS, model
from tests.fuzz.values import NAMES, pick

REFUSED = ("\n", "\r", "\u2028", "\x85", "\0", "\x1b[2J", "\ud800")
BREAKS = ("*/", "%}", "\\", '"', "'", "??/", "\u202e", "\xa0", "; ", "#{", "${", "</td>", "\ufeff", "...")
BEGINS = ("y", "=1", "%", "//", "/*", "$", "`", "&amp;", "]]>", "-->", "{{", "θ", "int", "end", "lambda", "I", "x[k]")
MARK = "INJECTED"
EXPORTS = ("c", "m", "mat", "sympy", "text", "latex", "html", "casadi", "csv", "file")


def case(rng, folder):
    form, delays = pick(rng, FORMS), int(rng.integers(2))
    names = tuple(dict.fromkeys(_name(rng) for _ in range(9)))[:3]
    found = _named(model(form, delays), names)
    assert not any(letter in name for name in names for letter in REFUSED), "a control character was taken for a name"
    how = pick(rng, EXPORTS)
    texts = {"c": _c, "m": _m, "mat": _mat, "sympy": _sympy, "casadi": _casadi, "file": _file}.get(how, _shown(how))
    for text in texts(found, folder):
        begun = [line for line in text.splitlines() if line.strip().startswith(MARK)]
        assert not begun, f"a name of {how} starts a line of its own: {begun[0]!r}"


def _name(rng):
    if rng.random() < 0.3:
        return pick(rng, NAMES)
    inner = pick(rng, REFUSED if rng.random() < 0.05 else BREAKS)
    return f"{pick(rng, BEGINS)}{inner}{MARK}{int(rng.integers(1000))}{pick(rng, ('', *BREAKS))}"


def _named(found, names):
    """Return a model of the same numbers whose two outputs and input have other names."""
    config, arrays = found.dictionary.to_parts()
    signals = {**config["signals"], "outputs": list(names[:2]), "inputs": list(names[2:])}
    old = found.dictionary.signals
    new = dict(zip((*old.outputs, *old.inputs), names, strict=True))
    families = [[_renamed(one, new) for one in config[part]] for part in ("families", "drives")]
    changed = {**config, "signals": signals, "families": families[0], "drives": families[1]}
    return replace(found, dictionary=Dictionary.from_parts(changed, arrays))


def _renamed(value, new):
    """Return the description of a family with the names of signals replaced, wherever they stand in it."""
    if isinstance(value, dict):
        return {key: item if key == "kind" else _renamed(item, new) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_renamed(item, new) for item in value]
    if isinstance(value, str):
        for before, after in new.items():
            value = value.replace(before, after)
    return value


def _c(found, folder):
    files = c_files(found)
    assert all(text.isascii() for text in files.values())
    for name, text in files.items():
        (folder / name).write_text(text)
    done = subprocess.run(
        ["cc", "-std=c99", "-fsyntax-only", "-Wall", "-Wno-trigraphs", "model.c"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[:500]
    return files.values()


def _m(found, folder):
    text = found.to_m(folder / "model.m").read_text(encoding="utf-8")
    code = [line for line in text.splitlines() if not line.lstrip().startswith("%")]
    assert not any(MARK in line and "'" not in line and '"' not in line for line in code)
    return [text]


def _mat(found, folder):
    found.to_mat(folder / "model.mat")
    assert loadmat(folder / "model.mat")
    return []


def _sympy(found, folder):
    equations = found.to_sympy()
    return [equations.save(folder / "model.txt").read_text(encoding="utf-8"), str(equations)]


def _casadi(found, folder):
    import casadi

    for path in found.to_casadi().save(folder / "casadi"):
        casadi.Function.load(str(path))
    return []


def _file(found, folder):
    found.save(folder / "named.npz")
    again = Model.load(folder / "named.npz")
    assert again.signals == found.signals
    return []


def _shown(how):
    def texts(found, folder):
        if how == "text":
            return [found.equations(), str(found), repr(found)]
        if how == "latex":
            return [equations_in_latex(found)]
        if how == "html":
            page = found._repr_html_()
            assert "<script" not in page.lower()
            return [page]
        return _table(found)

    return texts


def _table(found):
    names = [*found.output_names, *found.input_names]
    text = csv_text([names, [1.5] * len(names)])
    header, values = csv.reader(io.StringIO(text, newline=""))
    assert len(header) == len(names)
    assert [cell.removeprefix("'") for cell in header] == [name.removeprefix("'") for name in names]
    assert not any(cell.lstrip()[:1] in tuple("=+-@") for cell in header if cell.strip())
    assert values == ["1.5"] * len(names)
    return []
