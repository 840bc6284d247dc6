"""Formulas of terms as a table shows them: what all kernels have in common is said once."""

from __future__ import annotations

from collections.abc import Mapping

_MARK, _MAX_SCALES = ", s = ", 3
_NUMBERED = ("s₁", "s₂", "s₃")


def without_scales(formulas: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Return the formulas without the scales that kernels share, and these scales by the symbol that stands for them.

    A formula that only repeats its name is left empty.

    Examples
    --------
    >>> kernel = "exp(−2·|(x − z)/s|²), z = (y 1), s = (y 0.5)"
    >>> without_scales({"y": "y", "kernel": kernel})
    (['', 'exp(−2·|(x − z)/s|²), z = (y 1)'], {'s': '(y 0.5)'})
    """
    shared = list(dict.fromkeys(text.rsplit(_MARK, 1)[1] for text in formulas.values() if _MARK in text))
    symbols = ("s",) if len(shared) == 1 else _NUMBERED
    known = dict(zip(shared, symbols, strict=False)) if len(shared) <= _MAX_SCALES else {}
    shown = ["" if text == name else _cut(text, known) for name, text in formulas.items()]
    return shown, {symbol: scale for scale, symbol in known.items()}


def _cut(text: str, known: Mapping[str, str]) -> str:
    front, _, scale = text.rpartition(_MARK)
    return front.replace(")/s", f")/{known[scale]}") if scale in known else text
