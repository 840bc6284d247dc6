"""Terms as text: a strict grammar of numbers, names of signals, + - * / ^, brackets and a list of functions.

Nothing is ever evaluated as Python. Length, depth and exponents are bounded, so that no text takes long.

    sum      = product (("+" | "-") product)*
    product  = signed (("*" | "/") signed)*
    signed   = ("+" | "-")* power
    power    = primary ("^" signed)?              the exponent is a number
    primary  = number | name | function "(" sum ("," sum)* ")" | "(" sum ")"
    name     = letters, digits and "_", with a sample as in y[k-1], or any name between backquotes: `pump 1 [V]`
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache, reduce
from typing import Any, TypeAlias

import sympy
from sympy import Expr

from koopsieve._types import KoopsieveError
from koopsieve.dictionary.expressions import Absolute, Maximum, Minimum, Sign

MAX_LENGTH, MAX_DEPTH, MAX_EXPONENT = 300, 30, 50
_TOKEN = re.compile(
    r"(?P<number>([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)|(?P<name>[^\W\d]\w*(\s*\[\s*k\s*([+-]\s*[0-9]+)?\s*\])?)"
    r"|(?P<quoted>`(?:[^`]|``)*`)|(?P<sign>\*\*|[-+*/^(),])"
)
_ONE: dict[str, tuple[Callable[..., Any], Callable[..., float]]] = {  # in SymPy, and of a plain number
    "abs": (Absolute, abs),
    "sign": (Sign, lambda x: (x > 0) - (x < 0)),
    "sqrt": (lambda x: sympy.sqrt(Maximum(x, 0)), lambda x: math.sqrt(max(x, 0.0))),
    **{name: (getattr(sympy, name), getattr(math, name)) for name in ("exp", "log", "sin", "cos", "tan")},
    **{name: (getattr(sympy, name), getattr(math, name)) for name in ("sinh", "cosh", "tanh", "atan")},
}
_SEVERAL: dict[str, tuple[Callable[..., Any], Callable[..., float]]] = {"max": (Maximum, max), "min": (Minimum, min)}
FUNCTIONS = (*_ONE, *_SEVERAL)
Part: TypeAlias = "float | Expr"  # numbers are worked out with floats, which are bounded; the rest is left to SymPy


@dataclass(frozen=True)
class Token:
    """A piece of text: its kind, its letters, and where it begins (counted from one)."""

    kind: str
    text: str
    position: int


def parsed(text: str, names: Mapping[str, Expr]) -> Expr:
    """Return the expression that a text describes, of the symbols that stand for names.

    Names with a sample are given as `sample_name` writes them, y[k-1]. An error says where the text cannot be
    understood, and what was expected there.

    Examples
    --------
    >>> y, v = sympy.symbols("y v", real=True)
    >>> parsed("abs(v)*v - 2*y^2", {"y": y, "v": v})
    v*abs(v) - 2*y**2
    """
    used = [token.text for token in names_in(text)]
    if not all(name in names for name in used):
        return _parsed(_TermText(text, _tokens(text), names))  # which says what is known
    return _parsed_once(text, tuple((name, names[name]) for name in dict.fromkeys(used)))


@lru_cache(maxsize=4096)
def _parsed_once(text: str, names: tuple[tuple[str, Expr], ...]) -> Expr:
    """Return the expression of a text; the same terms are parsed for every number of delays that is tried."""
    return _parsed(_TermText(text, _tokens(text), dict(names)))


def _parsed(source: _TermText) -> Expr:
    found, end = _sum(source, 0, 0)
    if end < len(source.tokens):
        raise source.expected(end, "an operator or the end")
    if isinstance(found, float) or not found.free_symbols:
        raise KoopsieveError(f'"{source.text}" is a constant. A term must hold a signal; for an offset use Constant().')
    return found


def names_in(text: str) -> list[Token]:
    """Return the names of signals that a text holds, functions left out; quoted names without their quotes."""
    found = _tokens(text)
    following = [*(token.text for token in found[1:]), ""]
    return [token for token, after in zip(found, following, strict=False) if token.kind == "name" and after != "("]


def _tokens(text: str) -> list[Token]:
    if len(text) > MAX_LENGTH:
        raise KoopsieveError(f"A term must have at most {MAX_LENGTH} letters. Got {len(text)}: {text[:40]}…")
    found, at = [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        match = _TOKEN.match(text, at)
        if match is None:
            raise _wrong(text, at + 1, f"{text[at]!r} has no meaning here")
        kind, token = str(match.lastgroup), match[0]
        if kind == "quoted":
            kind, token = "name", token[1:-1].replace("``", "`")
        elif kind == "name":
            token = "".join(token.split())
        found.append(Token(kind, "^" if token == "**" and kind == "sign" else token, at + 1))
        at = match.end()
    return found


def quoted(name: str) -> str:
    """Return a name as a term must write it: between backquotes unless it is one word, perhaps with a sample."""
    match = _TOKEN.fullmatch(name)
    plain = match is not None and match.lastgroup == "name" and name == "".join(name.split())
    return name if plain else f"`{name.replace('`', '``')}`"


def _wrong(text: str, position: int, reason: str) -> KoopsieveError:
    end = "" if reason.endswith("?") else "."
    return KoopsieveError(f'The term "{text}" cannot be read at position {position}: {reason}{end}')


@dataclass(frozen=True)
class _TermText:
    """A text, its tokens and the names it may hold. Functions that read it take and return a place among the tokens."""

    text: str
    tokens: list[Token]
    names: Mapping[str, Expr]

    def sign(self, at: int) -> str:
        """Return the operator, bracket or comma at a place; empty if something else is there."""
        return self.tokens[at].text if at < len(self.tokens) and self.tokens[at].kind == "sign" else ""

    def expected(self, at: int, what: str) -> KoopsieveError:
        """Return an error about what is missing at a place."""
        if at >= len(self.tokens):
            return _wrong(self.text, len(self.text) + 1, f"expected {what}, but the text ends")
        return self.error(at, f"expected {what}, got {self.tokens[at].text!r}")

    def error(self, at: int, reason: str) -> KoopsieveError:
        """Return an error about the token at a place."""
        return _wrong(self.text, self.tokens[at].position, reason)

    def symbol(self, token: Token) -> Expr:
        """Return what a name stands for."""
        if token.text in self.names:
            return self.names[token.text]
        near = get_close_matches(token.text, [*self.names], 1)
        known = ", ".join(map(quoted, [*self.names][:8])) + (", …" if len(self.names) > 8 else "")
        advice = f"Did you mean {quoted(near[0])}?" if near else f"Known are {known}"
        raise _wrong(self.text, token.position, f"{token.text!r} is no signal. {advice}")


def _sum(source: _TermText, at: int, depth: int) -> tuple[Part, int]:
    if depth > MAX_DEPTH:
        raise source.error(at, f"brackets are more than {MAX_DEPTH} deep")
    total, at = _product(source, at, depth)
    while (sign := source.sign(at)) in ("+", "-"):
        other, after = _product(source, at + 1, depth)
        total, at = _combined(source, at, sign, total, other), after
    return total, at


def _product(source: _TermText, at: int, depth: int) -> tuple[Part, int]:
    total, at = _signed(source, at, depth)
    while (sign := source.sign(at)) in ("*", "/"):
        other, after = _signed(source, at + 1, depth)
        total, at = _combined(source, at, sign, total, other), after
    return total, at


def _signed(source: _TermText, at: int, depth: int) -> tuple[Part, int]:
    negative = False
    while (sign := source.sign(at)) in ("+", "-"):
        negative ^= sign == "-"
        at += 1
    found, at = _power(source, at, depth)
    return (-found if negative else found), at


def _power(source: _TermText, at: int, depth: int) -> tuple[Part, int]:
    base, at = _primary(source, at, depth)
    if source.sign(at) != "^":
        return base, at
    exponent, after = _signed(source, at + 1, depth + 1)
    if not isinstance(exponent, float) or abs(exponent) > MAX_EXPONENT:
        raise source.expected(at + 1, f"an exponent that is a number of at most {MAX_EXPONENT}")
    return _combined(source, at, "^", base, exponent), after


def _primary(source: _TermText, at: int, depth: int) -> tuple[Part, int]:
    if at >= len(source.tokens):
        raise source.expected(at, "a number, a signal or a function")
    token = source.tokens[at]
    if token.kind == "number":
        return _worked_out(source, at, float, token.text), at + 1
    if token.kind == "name":
        return _function(source, at, depth) if source.sign(at + 1) == "(" else (source.symbol(token), at + 1)
    if token.text != "(":
        raise source.expected(at, "a number, a signal or a function")
    found, at = _sum(source, at + 1, depth + 1)
    return found, _closed(source, at)


def _function(source: _TermText, at: int, depth: int) -> tuple[Part, int]:
    name = source.tokens[at].text
    if name not in FUNCTIONS:
        near = get_close_matches(name, FUNCTIONS, 1)
        every = f"Functions are {', '.join(FUNCTIONS)}; for a product write {name}*("
        advice = f"Did you mean {near[0]}?" if near else every
        raise source.error(at, f"{name!r} is no function. {advice}")
    first, after = _sum(source, at + 2, depth + 1)
    arguments = [first]
    while source.sign(after) == ",":
        other, after = _sum(source, after + 1, depth + 1)
        arguments.append(other)
    if (name in _ONE) != (len(arguments) == 1):
        raise source.error(at, f"{name} takes {'one argument' if name in _ONE else 'two or more arguments'}")
    symbolic, plain = (_ONE | _SEVERAL)[name]
    end = _closed(source, after)
    if all(isinstance(argument, float) for argument in arguments):
        return _worked_out(source, at, plain, *arguments), end
    exact = [_exact(argument) for argument in arguments]
    return (symbolic(*exact) if name in _ONE else reduce(symbolic, exact)), end


def _closed(source: _TermText, at: int) -> int:
    if source.sign(at) != ")":
        raise source.expected(at, '")"')
    return at + 1


_PLAIN: dict[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "^": operator.pow
}  # fmt: skip


def _combined(source: _TermText, at: int, sign: str, left: Part, right: Part) -> Part:
    if isinstance(left, float) and isinstance(right, float):
        return _worked_out(source, at, _PLAIN[sign], left, right)
    if sign == "/" and isinstance(right, float) and right == 0:
        raise source.error(at, "this divides by zero")
    if sign == "^" and not float(right).is_integer():
        left = Maximum(left, 0)  # broken powers of negative numbers are taken as those of zero
    return _PLAIN[sign](_exact(left), _exact(right))


def _worked_out(source: _TermText, at: int, function: Callable[..., float], *arguments: Any) -> float:
    try:
        found = float(function(*arguments))
    except (ValueError, ZeroDivisionError, OverflowError, TypeError):
        found = math.nan
    if not math.isfinite(found):
        raise source.error(at, "this has no finite value")
    return found


def _exact(part: Part) -> Expr:
    """Return a number for SymPy: whole and half ones exactly, so that squares and roots are known as these."""
    if not isinstance(part, float):
        return part
    return sympy.Rational(part) if (2 * part).is_integer() and abs(part) <= 2 * MAX_EXPONENT else sympy.Float(part)
