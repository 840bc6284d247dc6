"""The settings of a run as the command that repeats it, ready to be pasted into a shell."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import Field, fields
from typing import Any

from koopsieve.cli.options import listed
from koopsieve.cli.settings import Settings


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
