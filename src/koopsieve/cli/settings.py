"""Everything `koopsieve sift` can be told, as one frozen value: defaults, then a TOML file, then flags.

Each setting is declared once, below: its check, its default, its flag and its help. `options.py` makes the command line
of it.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from koopsieve._types import KoopsieveError
from koopsieve.cli.checks import (
    METHODS,
    count,
    one_of,
    positive,
    share,
    some_of,
    text,
    texts,
    whole,
    whole_or_auto,
    wholes,
)
from koopsieve.forms import FORMS
from koopsieve.io.reading.columns import KEEP, OUTLIERS
from koopsieve.sifting.settings import AUTO, SiftSettings

HOLDOUT = 0.3
DATA, DICTIONARY, JUDGING, OUTPUT = "The data", "The dictionary", "Sifting and judging", "What comes out"


def _setting(
    check: Callable[[Any], Any], default: Any, kind: Any, told: str, panel: str, *flags: str, split: bool = False
) -> Any:
    """Declare a setting: `kind` is its type on the command line, `split` whether commas separate several values."""
    about = {"check": check, "kind": kind, "help": told, "panel": panel, "flags": flags, "split": split}
    return field(default=default, metadata=about)


@dataclass(frozen=True)
class Settings:
    """What to read, which dictionary to sift, how to judge and where to write; the names are the keys of a TOML file.

    `None` means that the data decide: `dt` is the step of the time column (or 1), `input_delays` are as many as
    `delays`; with neither `kernels` nor `polynomials` both are tried, and the better is taken. Without `out` the
    results go into a new folder.
    """

    files: tuple[str, ...] = _setting(
        texts, (), list[str], "CSV, .xlsx, Parquet, .npz or .mat; several are episodes.", DATA
    )
    states: tuple[str, ...] = _setting(
        texts,
        (),
        list[str],
        "Columns of the measured outputs: y or angle,speed; 'speed=Drehzahl Last [1/s]' gives a shorter name.",
        DATA,
        "--states",
        "-y",
        split=True,
    )
    inputs: tuple[str, ...] = _setting(
        texts, (), list[str], "Columns of the inputs.", DATA, "--inputs", "-u", split=True
    )
    episode: str | None = _setting(text, None, str, "Column that tells episodes apart.", DATA)
    time: str | None = _setting(text, None, str, "Column of times; gives the sample time.", DATA)
    date_format: str | None = _setting(
        text, None, str, "How dates are written: '%d/%m/%Y %H:%M:%S'; not needed for unambiguous ones.", DATA
    )
    missing: tuple[str, ...] = _setting(
        texts, (), list[str], "Text that marks missing values, beside the usual: '-,ERR'.", DATA, split=True
    )
    dt: float | None = _setting(positive, None, float, "Sample time, without a time column.", DATA)
    gaps: str = _setting(
        one_of("refuse", "split", "interpolate", "raise"),
        "refuse",
        str,
        "Missing samples: refuse them, split the record there, or interpolate gaps of up to --max-gap.",
        DATA,
    )
    max_gap: int | None = _setting(count, None, int, "Longest gap to interpolate, in samples.", DATA)
    resample: float | None = _setting(
        positive, None, float, "New sample time, for times that jitter and columns of several rates.", DATA
    )
    outliers: str = _setting(
        one_of(*OUTLIERS), KEEP, str, "Single samples far outside the others: keep (and say so), drop or refuse.", DATA
    )
    stream: str = _setting(
        one_of("auto", "yes", "no"), "auto", str, "Read Parquet files piece by piece; auto: if they are large.", DATA
    )
    delays: int | str = _setting(
        whole_or_auto, "auto", str, "Past samples of outputs and inputs to add; auto finds how many.", DICTIONARY
    )
    input_delays: int | None = _setting(whole, None, int, "Past samples of inputs, if not as many.", DICTIONARY)
    kernels: int | None = _setting(whole, None, int, "Number of squared-exponential kernels.", DICTIONARY)
    polynomials: int | None = _setting(
        whole,
        None,
        int,
        "Products of states and inputs up to this degree. Without both: auto.",
        DICTIONARY,
    )
    inputs_at: str = _setting(
        one_of("k", "k+1", "auto"), "auto", str, "Sample of the input that acts on y[k+1]: k, k+1 or auto.", DICTIONARY
    )
    form: str = _setting(
        one_of(*FORMS, AUTO),
        SiftSettings.form,
        str,
        "How the model predicts: linear, bilinear, reprojected, hidden, or auto, which tries the first three.",
        JUDGING,
    )
    horizons: tuple[int, ...] = _setting(
        wholes, SiftSettings.horizons, str, "Steps ahead that matter.", JUDGING, split=True
    )
    sieve: str = _setting(
        one_of("horizon", "graph", "simulation", "auto"),
        "auto",
        str,
        "horizon: by errors at the horizons; graph: the paper's; simulation: in the reprojected form; auto: by form.",
        JUDGING,
    )
    path_length: int = _setting(count, SiftSettings.path_length, int, "Number of sets on a path, about.", JUDGING)
    max_terms: int | None = _setting(whole, None, int, "Terms to keep at most.", JUDGING)
    budget: float = _setting(
        positive,
        SiftSettings.budget,
        float,
        "Seconds after which no further search begins, where there are several.",
        JUDGING,
    )
    threshold: float = _setting(
        share, SiftSettings.threshold, float, "Probability from which a dependency counts.", JUDGING
    )
    level: float = _setting(share, SiftSettings.level, float, "Coverage of the prediction bands.", JUDGING)
    compare: tuple[str, ...] = _setting(
        some_of(*METHODS), (), str, f"Further methods to show beside: {', '.join(METHODS)}.", JUDGING, split=True
    )
    validation: float = _setting(
        share, SiftSettings.validation, float, "Share of the data that models are chosen on.", JUDGING
    )
    test: tuple[str, ...] = _setting(texts, (), list[str], "File to judge on; may be repeated.", JUDGING)
    holdout: float = _setting(share, HOLDOUT, float, "Share of the data to judge on, without --test.", JUDGING)
    seed: int = _setting(whole, SiftSettings.seed, int, "Random seed.", JUDGING)
    out: str | None = _setting(
        text,
        None,
        str,
        "Folder for the results (default: a new one, result or result-2, …).",
        OUTPUT,
        "--out",
        "-o",
    )
    scheduler: str | None = _setting(
        text, None, str, "Address of a Dask scheduler to compute on: tcp://host:8786.", OUTPUT
    )

    def updated(self, values: Mapping[str, Any], source: str) -> Settings:
        """Return the settings with some replaced by `values`, checked; `source` names where they come from.

        Raises
        ------
        KoopsieveError
            If a key is unknown (the nearest known one is suggested) or a value is not what its key takes.
        """
        checks = {entry.name: entry.metadata["check"] for entry in fields(self)}
        return replace(self, **{key: _checked(key, value, checks, source) for key, value in values.items()})

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
    settings = Settings() if config is None else Settings().updated(read_toml(config), str(config))
    given = {key: value for key, value in flags.items() if value is not None and not _is_empty(value)}
    return settings.updated(given, "the command line").complete()


def _is_empty(value: Any) -> bool:
    return isinstance(value, list) and not value


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


def _checked(key: str, value: Any, checks: Mapping[str, Callable[[Any], Any]], source: str) -> Any:
    if key not in checks:
        near = difflib.get_close_matches(key, checks, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(checks)}."
        raise KoopsieveError(f"{source} has the unknown key {key!r}. {hint}")
    try:
        return checks[key](value)
    except TypeError as error:
        raise KoopsieveError(f"{key} must be {error}. Got {value!r} from {source}.") from None
