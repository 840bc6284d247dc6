"""All settings of `koopsieve sift`, as one frozen value: defaults, then a TOML file, then flags; and back again.

Each setting is declared once, below: its check, its default, its flag and its help. `options.py` makes the command line
of it. `to_toml`, `to_command` and `to_python` write settings so that they repeat the run.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from koopsieve._types import KoopsieveError
from koopsieve.cli.options import (
    count,
    from_flags,
    listed,
    one_of,
    option,
    positive,
    share,
    some_of,
    text,
    texts,
    updated,
    whole,
    whole_or_auto,
    wholes,
)
from koopsieve.dictionary import Block
from koopsieve.forms import FORMS
from koopsieve.identify import STLSQ, Identifier, LeastSquares, SparseBayes, SpikeSlab
from koopsieve.io.reading.columns import KEEP, OUTLIERS
from koopsieve.sifting.settings import AUTO, SiftSettings

METHODS: dict[str, Identifier] = {
    "least-squares": LeastSquares(),
    "thresholded-least-squares": STLSQ(),
    "sparse-bayes": SparseBayes(),
    "spike-and-slab": SpikeSlab(),
}
HOLDOUT = 0.3
GAPS = one_of("refuse", "split", "interpolate", "raise")
_READING = ("episode", "time", "dt", "gaps", "max_gap", "resample", "missing", "date_format", "outliers")
# settings that `sift` in Python takes as they are
ALIKE = ("form", "horizons", "path_length", "max_terms", "budget", "validation", "threshold", "level", "seed")
_SIEVES = {"graph": "GraphSieve", "horizon": "HorizonSieve", "simulation": "SimulationSieve"}
DATA, DICTIONARY, JUDGING, OUTPUT = "The data", "The dictionary", "Sifting and judging", "What comes out"


_data, _dictionary, _judging, _output = (partial(option, panel=panel) for panel in (DATA, DICTIONARY, JUDGING, OUTPUT))


@dataclass(frozen=True)
class Settings:
    """What to read, which dictionary to sift, how to judge and where to write; the names are the keys of a TOML file.

    `None` means that the data decide: `dt` is the step of the time column (or 1), `input_delays` are as many as
    `delays`; with neither `kernels` nor `polynomials` both are tried, and the better is taken. Without `out` the
    results go into a new folder.
    """

    files: tuple[str, ...] = _data(texts, (), "CSV, .xlsx, Parquet, .npz or .mat; several are episodes.")
    states: tuple[str, ...] = _data(
        texts,
        (),
        "Columns of the measured outputs: y or angle,speed; 'speed=Drehzahl Last [1/s]' gives a shorter name.",
        "--states",
        "-y",
        split=True,
    )
    inputs: tuple[str, ...] = _data(texts, (), "Columns of the inputs.", "--inputs", "-u", split=True)
    episode: str | None = _data(text, None, "Column that tells episodes apart.")
    time: str | None = _data(text, None, "Column of times; gives the sample time.")
    date_format: str | None = _data(
        text, None, "How dates are written: '%d/%m/%Y %H:%M:%S'; not needed for unambiguous ones."
    )
    missing: tuple[str, ...] = _data(
        texts, (), "Text that marks missing values, beside the usual: '-,ERR'.", split=True
    )
    dt: float | None = _data(positive, None, "Sample time, without a time column.")
    gaps: str = _data(
        GAPS, "refuse", "Missing samples: refuse them, split the record there, or interpolate gaps of up to --max-gap."
    )
    max_gap: int | None = _data(count, None, "Longest gap to interpolate, in samples.")
    resample: float | None = _data(
        positive, None, "New sample time, for times that jitter and columns of several rates."
    )
    outliers: str = _data(
        one_of(*OUTLIERS), KEEP, "Single samples far outside the others: keep (and say so), drop or refuse."
    )
    stream: str = _data(
        one_of("auto", "yes", "no"), "auto", "Read Parquet files piece by piece; auto: if they are large."
    )
    delays: int | str = _dictionary(
        whole_or_auto, "auto", "Past samples of outputs and inputs to add; auto finds how many."
    )
    input_delays: int | None = _dictionary(whole, None, "Past samples of inputs, if their number differs.")
    kernels: int | None = _dictionary(whole, None, "Number of squared-exponential kernels.")
    polynomials: int | None = _dictionary(
        whole, None, "Products of states and inputs up to this degree. Without this and --kernels both are tried."
    )
    inputs_at: str = _dictionary(
        one_of("k", "k+1", "auto"), "auto", "Sample of the input that acts on y[k+1]: k, k+1 or auto."
    )
    form: str = _judging(
        one_of(*FORMS, AUTO),
        SiftSettings.form,
        f"How the model predicts: {', '.join(FORMS)}, or auto, which tries them.",
    )
    horizons: tuple[int, ...] = _judging(wholes, SiftSettings.horizons, "Steps ahead that matter.", split=True)
    sieve: str = _judging(
        one_of("horizon", "graph", "simulation", "auto"),
        "auto",
        "horizon: by errors at the horizons; graph: the paper's; simulation: in the reprojected form; auto: by form.",
    )
    path_length: int = _judging(count, SiftSettings.path_length, "About how many sets of terms to compare.")
    max_terms: int | None = _judging(whole, None, "Terms to keep at most.")
    budget: float = _judging(
        positive, SiftSettings.budget, "Seconds after which no further search begins, where there are several."
    )
    threshold: float = _judging(share, SiftSettings.threshold, "Probability from which a dependency counts.")
    level: float = _judging(share, SiftSettings.level, "Coverage of the prediction bands.")
    compare: tuple[str, ...] = _judging(
        some_of(*METHODS), (), f"Further methods to show beside it: {', '.join(METHODS)}.", split=True
    )
    validation: float = _judging(share, SiftSettings.validation, "Share of the data that models are chosen on.")
    test: tuple[str, ...] = _judging(texts, (), "File to judge on; may be repeated.")
    holdout: float = _judging(share, HOLDOUT, "Share of the data to judge on, without --test.")
    seed: int = _judging(whole, SiftSettings.seed, "Random seed.")
    out: str | None = _output(
        text, None, "Folder for the results (default: a new one, result or result-2, …).", "--out", "-o"
    )
    scheduler: str | None = _output(text, None, "Address of a Dask scheduler to compute on: tcp://host:8786.")

    def complete(self) -> Settings:
        """Return the settings, or say which of those without a default is missing."""
        if not self.files:
            raise KoopsieveError("There is no data file. Name one: koopsieve sift bench.csv --states y --out result")
        if not self.states:
            raise KoopsieveError(
                "Which columns are the measured outputs? Name them with --states, for example --states y or "
                "--states angle,speed."
            )
        if self.test and self.holdout != HOLDOUT:
            raise KoopsieveError(
                "--holdout has no effect beside --test, whose data are judged on. Leave one of them out."
            )
        both = {Path(file).resolve() for file in self.files}.intersection(Path(file).resolve() for file in self.test)
        if both:
            raise KoopsieveError(
                f"{min(both).name} is to be learned from and judged on. Expected other data with --test. Name another "
                "file, or leave --test out: then a share of the data is held out."
            )
        return self


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file says, dashes in keys read as underscores."""
    try:
        with path.open("rb") as stream:
            found = tomllib.load(stream)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise KoopsieveError(f"{path} is not a TOML file: {error}.") from error
    return {key.replace("-", "_"): value for key, value in found.items()}


def gather(config: Path | None, flags: Mapping[str, Any]) -> Settings:
    """Return the defaults, overridden by the file, overridden by those flags that were given."""
    settings = Settings() if config is None else updated(Settings(), read_toml(config), str(config))
    return from_flags(settings, flags).complete()


def to_toml(settings: Settings) -> str:
    """Return the settings as a TOML file that gives them again; what the data decide, or is empty, is left out."""
    lines = ((entry.name, getattr(settings, entry.name)) for entry in fields(settings))
    return "".join(f"{name} = {_toml(value)}\n" for name, value in lines if value is not None and value != ())


def _toml(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        escaped = "".join(f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 or c in '"\\' else c for c in value)
        return f'"{escaped}"'
    return repr(value)


def to_command(settings: Settings) -> str:
    """Return the command line with every setting that is not the default; empty if flags cannot say one of them.

    That is so for names of columns with commas in them, which only a settings file can hold.

    Examples
    --------
    >>> to_command(Settings(files=("my bench.csv",), states=("y", "v"), delays=2))
    "koopsieve sift 'my bench.csv' --states y,v --delays 2"
    """
    words = ["koopsieve", "sift", *(f"./{name}" if name.startswith("-") else name for name in settings.files)]
    for entry in fields(settings):
        value = getattr(settings, entry.name)
        if entry.name == "files" or value == entry.default:
            continue
        if entry.metadata["split"] and not _can_be_split(value):
            return ""
        words += _flag(entry, value)
    return shlex.join(words)


def to_python(settings: Settings) -> str:
    """Return the lines of Python that repeat the run; the defaults are left out.

    Examples
    --------
    >>> print(to_python(Settings(files=("bench.csv",), states=("y",), inputs=("u",), time="t")))
    from koopsieve import Trajectories, sift
    <BLANKLINE>
    reading = {'states': {'y': 'y'}, 'inputs': {'u': 'u'}, 'time': 't'}
    data = Trajectories.from_file(['bench.csv'], **reading)
    result = sift(data, test=0.3)
    print(result.describe())
    """
    from koopsieve.cli.reading import columns_by_name
    from koopsieve.cli.sift import delays, recipe

    reading: dict[str, Any] = {
        "states": columns_by_name(settings.states),
        "inputs": columns_by_name(settings.inputs),
        **{name: getattr(settings, name) for name in _READING},
    }
    reading = {name: value for name, value in reading.items() if value not in (None, (), {}, "raise", "refuse", KEEP)}
    names, width = ["Trajectories", "sift"], len(settings.inputs)
    options = []
    if isinstance(block := recipe(settings, width), Block):
        options.append(repr(block))
        names += [type(one).__name__ for one in block.recipes()]
    if not isinstance(settings.delays, str):
        options.append(f"delays={delays(settings, width)!r}")
        names.append("Embedding")
    elif options:  # beside a dictionary they would be those of the data
        options.append(f"delays={settings.delays!r}")
    if settings.sieve in _SIEVES:
        own = f"threshold={settings.threshold}" if settings.sieve == "graph" else ""
        options.append(f"sieve={_SIEVES[settings.sieve]}({own})")
        names.append(_SIEVES[settings.sieve])
    if settings.compare:
        methods = {name.replace("-", " "): type(METHODS[name]).__name__ for name in settings.compare}
        options.append(f"compare={{{', '.join(f'{name!r}: {method}()' for name, method in methods.items())}}}")
        names += methods.values()
    plain = {one.name: one.default for one in fields(settings)}
    options += [f"{name}={getattr(settings, name)!r}" for name in ALIKE if getattr(settings, name) != plain[name]]
    test = f"Trajectories.from_file({list(settings.test)!r}, **reading)" if settings.test else repr(settings.holdout)
    return "\n".join(
        [
            f"from koopsieve import {', '.join(sorted(set(names), key=lambda name: (name.islower(), name)))}",
            "",
            f"reading = {reading!r}",
            f"data = Trajectories.from_file({list(settings.files)!r}, **reading)",
            f"result = sift(data, {', '.join([*options, f'test={test}'])})",
            "print(result.describe())",
        ]
    )


def _flag(entry: Field[Any], value: Any) -> list[str]:
    flag = (entry.metadata["flags"] or (f"--{entry.name.replace('_', '-')}",))[0]
    if not isinstance(value, tuple):
        return _pair(flag, str(value))
    if entry.metadata["split"]:
        return _pair(flag, ",".join(map(str, value)))
    return [word for one in value for word in _pair(flag, str(one))]


def _pair(flag: str, value: str) -> list[str]:
    return [f"{flag}={value}"] if value.startswith("-") else [flag, value]  # or it would be taken for a flag


def _can_be_split(values: Sequence[Any]) -> bool:
    texts = list(map(str, values))
    return listed(",".join(texts)) == texts
