"""Pieces of C: identifiers, strings, comments, numbers and tables that every C99 compiler reads alike."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from koopsieve._types import FloatArray, KoopsieveError

_WIDTH = 116  # of a line of numbers


def identifier(name: str) -> str:
    """Return a name that C takes, as near to the given one as possible.

    Examples
    --------
    >>> identifier("pump 2 [V]"), identifier("2nd"), identifier("°")
    ('pump_2_V', 'x2nd', 'x')
    """
    plain = re.sub(r"[^0-9A-Za-z]+", "_", name).strip("_") or "x"
    return f"x{plain}" if plain[0].isdigit() else plain


def identifiers(names: Iterable[str]) -> tuple[str, ...]:
    """Return one identifier per name, all different even if case is ignored.

    Examples
    --------
    >>> identifiers(["y", "Y", "y[k-1]"])
    ('y', 'Y_2', 'y_k_1')
    """
    found: list[str] = []
    taken: set[str] = set()
    for name in names:
        plain = identifier(name)
        candidate, number = plain, 2
        while candidate.lower() in taken:
            candidate, number = f"{plain}_{number}", number + 1
        taken.add(candidate.lower())
        found.append(candidate)
    return tuple(found)


def string(text: str) -> str:
    r"""Return a C string literal of plain ASCII; other letters are written byte by byte.

    Examples
    --------
    >>> print(string('5" pipe?'), string("ä"))
    "5\042 pipe\077" "\303\244"
    """
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in text.encode()
    )
    return f'"{plain}"'


def comment(text: str) -> str:
    """Return text that may stand in a comment: plain ASCII without anything that would end the comment.

    Examples
    --------
    >>> comment("Δp */ pump")
    '~p *_/ pump'
    """
    plain = "".join(letter if 32 <= ord(letter) < 127 else "~" for letter in text)
    return plain.replace("*/", "*_/").replace("/*", "/_*").replace("??", "? ?").replace("\\", "|")


def number(value: float) -> str:
    """Return a double that reads back to the same bits.

    Examples
    --------
    >>> number(0.1), number(2.0), number(1e300)
    ('0.10000000000000001', '2.0', '1.0000000000000001e+300')
    """
    if not math.isfinite(value):
        raise KoopsieveError(
            f"A coefficient of the model is {value}, so the model is of no use elsewhere. Fit it again."
        )
    written = f"{value:.17g}"
    return written if "." in written or "e" in written else f"{written}.0"


def table(name: str, values: FloatArray) -> str:
    """Return a constant table of doubles."""
    return _table("real_t", name, values.shape, [number(v) for v in np.ravel(values).tolist()])


def index_table(name: str, values: NDArray[np.integer], bound: int = 0) -> str:
    """Return a constant table of indices, in the smallest unsigned type that holds them and what they compare with."""
    return _table(
        index_kind(int(values.max(initial=bound))), name, values.shape, [str(v) for v in np.ravel(values).tolist()]
    )


def index_kind(largest: int) -> str:
    """Return the smallest unsigned type that holds an index."""
    return "unsigned char" if largest < 2**8 else "unsigned short" if largest < 2**16 else "unsigned int"


def _table(kind: str, name: str, shape: tuple[int, ...], written: Sequence[str]) -> str:
    """Write a table flat between braces per row, so that rows can be found again by eye."""
    sizes = "".join(f"[{size}]" for size in shape)
    return f"static const {kind} {name}{sizes} = {_braced(written, shape, 0)};\n"


def _braced(written: Sequence[str], shape: tuple[int, ...], depth: int) -> str:
    pad = "    " * (depth + 1)
    if len(shape) == 1:
        lines = _wrapped(written, _WIDTH - len(pad))
        return "{" + lines[0] + "}" if len(lines) == 1 else "{\n" + "\n".join(pad + line for line in lines) + "}"
    each = len(written) // shape[0]
    rows = [_braced(written[i * each : (i + 1) * each], shape[1:], depth + 1) for i in range(shape[0])]
    return "{\n" + ",\n".join(pad + row for row in rows) + "}"


def _wrapped(written: Sequence[str], width: int) -> list[str]:
    lines, line = [], ""
    for position, item in enumerate(written):
        piece = item + ("," if position < len(written) - 1 else "")
        if line and len(line) + 1 + len(piece) > width:
            lines.append(line)
            line = piece
        else:
            line = f"{line} {piece}" if line else piece
    return [*lines, line]
