"""The settings of a run as the command and as the lines of Python that repeat it, ready to be pasted."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import Field, fields
from typing import Any

from koopsieve.cli.options import listed
from koopsieve.cli.settings import Settings

_READING = ("episode", "time", "dt", "gaps", "max_gap", "resample", "missing", "date_format")
_PLAIN = ("form", "horizons", "path_length", "max_terms", "budget", "validation", "threshold", "level", "seed")
_BLOCKS = ("States", "Constant", "Inputs", "Monomials", "SquaredExponential")
_SIEVES = {"graph": "GraphSieve", "horizon": "HorizonSieve", "simulation": "SimulationSieve"}


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
    reading = {name: value for name, value in reading.items() if value not in (None, (), {}, "raise", "refuse")}
    names, width = ["Trajectories", "sift"], len(settings.inputs)
    options = []
    if settings.polynomials is not None or settings.kernels is not None:
        block = repr(recipe(settings, width))
        options.append(block)
        names += [name for name in _BLOCKS if f"{name}(" in block]
    if not isinstance(settings.delays, str):
        options.append(f"delays={delays(settings, width)!r}")
        names.append("Embedding")
    if settings.sieve in _SIEVES:
        options.append(f"sieve={_SIEVES[settings.sieve]}()")
        names.append(_SIEVES[settings.sieve])
    plain = {one.name: one.default for one in fields(settings)}
    options += [f"{name}={getattr(settings, name)!r}" for name in _PLAIN if getattr(settings, name) != plain[name]]
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
