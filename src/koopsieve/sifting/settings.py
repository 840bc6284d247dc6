"""The settings of `sift` as one frozen value, checked before any work is done.

`sift`, `KoopmanSieve` and the command line all build one. A setting that would have no effect is refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from koopsieve._types import (
    SHARE,
    KoopsieveError,
    Range,
    is_several,
    real_number,
    require_kind,
    sorted_horizons,
    whole_number,
)
from koopsieve.data import Embedding, Stream, Trajectories
from koopsieve.dictionary import Block, Dictionary
from koopsieve.execution import Executor, Progress, silent
from koopsieve.forms import FORMS, Form
from koopsieve.identify import Identifier
from koopsieve.sieve import GraphSieve, Sieve
from koopsieve.uncertainty.bands import checked_level

AUTO = "auto"
Data = Trajectories | Stream


@dataclass(frozen=True, eq=False, kw_only=True)
class SiftSettings:
    """What `sift` is asked to do with the data to learn from; its parameters are explained there.

    Raises
    ------
    KoopsieveError
        If a setting makes no sense, or would have no effect beside the others.
    """

    dictionary: Block | Dictionary | str = AUTO
    form: str = AUTO
    delays: Embedding | Sequence[Embedding] | str | None = None
    sieve: Sieve | None = None
    horizons: Sequence[int] = (1, 10, 50)
    validation: Data | float = 0.25
    test: Data | float | None = None
    truth: Trajectories | None = None
    path_length: int = 20
    max_terms: int | None = None
    refits: Mapping[str, Identifier] | None = None
    stable: bool = True
    threshold: float = 0.1
    level: float = 0.9
    compare: Mapping[str, Identifier] | None = None
    seed: int = 0
    budget: float = 300.0
    executor: Executor | None = None
    progress: Progress | bool = False

    def __post_init__(self) -> None:
        _check_numbers(self)
        _check_values(self)
        _check_parts(self.validation, self.test, self.truth)
        _check_effects(self)

    def forms_for(self, inputs: bool, rows: float = np.inf) -> tuple[Form, ...]:
        """Return the forms to search with their settings, the simplest first; some need inputs, some many rows.

        Whoever gives a sieve asks for the forms that take it, however few the rows.
        """
        if self.form != AUTO:
            return (FORMS[self.form].configured(self.sieve, self.refits, self.stable, alone=True),)
        asked = [one for one in FORMS.values() if one.rows_needed <= rows or one.takes_sieve(self.sieve)]
        if isinstance(self.sieve, GraphSieve):
            asked = [next(one for one in asked if one.takes_sieve(self.sieve))]
        if not isinstance(self.dictionary, str):
            asked = [one for one in asked if one.recipe is None]
        usable = [one for one in asked if inputs or not one.needs_inputs]
        return tuple(one.configured(self.sieve, self.refits, self.stable, len(usable) == 1) for one in usable)

    @property
    def offers_plain_linear(self) -> bool:
        """Whether the plain linear model is a candidate: where the form is to be found, and data decide."""
        return self.form == AUTO and not isinstance(self.sieve, GraphSieve) and self.validation != 0

    @property
    def shown(self) -> Progress:
        """What shows how far the work is: see `whole_job`, which makes a bar of True."""
        return silent if isinstance(self.progress, bool) else self.progress

    def tell(self, found: object) -> None:
        """Pass what a search found on to a progress that has a method `found`."""
        listening = getattr(self.progress, "found", None)
        if listening is not None:
            listening(found)

    def delays_of(self, data: Data) -> tuple[Embedding, ...] | None:
        """Return the delays to choose from; None where they are to be found."""
        if isinstance(self.delays, Embedding):
            return (self.delays,)
        if self.delays is None:
            return None if isinstance(self.dictionary, str) and data.embedding.trivial else (data.embedding,)
        if not isinstance(self.delays, str):
            return tuple(self.delays)
        if not data.embedding.trivial:
            raise KoopsieveError(
                f'These data already hold delays ({data.embedding}), so delays="auto" has no effect. Give the data '
                "as measured, or leave it out."
            )
        return None


def _check_numbers(asked: SiftSettings) -> None:
    if not sorted_horizons(asked.horizons):
        raise KoopsieveError("horizons must be one or more numbers of steps, such as [1, 10, 50]. Got none.")
    checked_level(asked.level)
    whole_number("seed", asked.seed)
    whole_number("path_length, the number of sets on a path,", asked.path_length, 2)
    if asked.max_terms is not None:
        whole_number("max_terms", asked.max_terms, 1)
    real_number("threshold", asked.threshold, SHARE)
    real_number("budget, a number of seconds,", asked.budget, Range(0, open_low=True))


def _check_values(asked: SiftSettings) -> None:
    if not isinstance(asked.form, str) or asked.form not in (*FORMS, AUTO):
        raise KoopsieveError(f"form must be one of {', '.join(FORMS)} or auto. Got {asked.form!r}.")
    for name in ("delays", "dictionary"):
        value = getattr(asked, name)
        if isinstance(value, str) and value != AUTO:
            raise KoopsieveError(f'{name} may be "auto" or a value such as Embedding(2, 2) or States(). Got {value!r}.')
    require_kind(
        "a dictionary", asked.dictionary, (Block, Dictionary, str), "Write one such as States() + Monomials()."
    )
    if not isinstance(asked.delays, Embedding | str | None):
        if not is_several(asked.delays) or not len(asked.delays):
            raise KoopsieveError(f'delays must be Embedding(…), several of them, or "auto". Got {asked.delays!r:.80}.')
        for one in asked.delays:
            require_kind("delays as an Embedding", one, Embedding, "Write Embedding(state_delays, input_delays).")
    if not isinstance(asked.stable, bool):
        raise KoopsieveError(f"stable must be True or False. Got {asked.stable!r}.")
    if not isinstance(asked.progress, bool) and not _shows_progress(asked.progress):
        raise KoopsieveError(
            "progress must be True, False or a function of the items, their description and their number that returns "
            f"the items. Got {asked.progress!r}."
        )
    sieve = asked.sieve
    if sieve is not None and (isinstance(sieve, type) or not callable(getattr(sieve, "path", None))):
        raise KoopsieveError(f"Expected a sieve, such as HorizonSieve() or GraphSieve(), got {sieve!r}.")
    for name in ("refits", "compare"):
        _check_methods(name, getattr(asked, name))


def _shows_progress(given: Any) -> bool:
    """Tell whether something can be called as a `Progress` is."""
    try:
        inspect.signature(given).bind((), "Fitting", None)
    except TypeError:
        return False
    except ValueError:  # written in C, it does not say what it takes
        return callable(given)
    return True


def _check_methods(name: str, methods: Any) -> None:
    if methods is None:
        return
    if name == "refits" and isinstance(methods, Mapping) and not methods:
        raise KoopsieveError("refits is empty: there is nothing to fit with. Leave it out for the default ones.")
    if not isinstance(methods, Mapping):
        raise KoopsieveError(
            f'{name} must be a mapping from names to methods, such as {{"least squares": LeastSquares()}}. '
            f"Got {methods!r}."
        )
    for key, method in methods.items():
        if isinstance(method, type) or not callable(getattr(method, "identify", None)):
            raise KoopsieveError(f"Expected a method such as LeastSquares() in {name}, got {method!r} for {key!r}.")


def _check_parts(validation: object, test: object, truth: object) -> None:
    """Refuse parts of the data that are neither data nor a share of them."""
    if not isinstance(validation, Trajectories | Stream):
        real_number("validation, the share of the data held out to choose on,", validation, Range(0, 1, open_high=True))
    if test is not None and not isinstance(test, Trajectories | Stream):
        real_number("test, the share of the data held out to judge on,", test, SHARE)
    if truth is None:
        return
    require_kind("truth as Trajectories", truth, Trajectories, "Build them with Trajectories.from_arrays.")
    if not isinstance(test, Trajectories):
        raise KoopsieveError(
            "truth is the test data without noise, so it needs them beside it. Give test=Trajectories, or leave it out."
        )


def _check_effects(asked: SiftSettings) -> None:
    """Refuse what differs from its default and would change nothing."""
    searched = asked.forms_for(inputs=True)
    for name in ("refits", "stable"):
        if getattr(asked, name) != _DEFAULTS[name] and not any(form.takes(name) for form in searched):
            raise KoopsieveError(_without_effect(name, asked.form, [one for one in FORMS.values() if one.takes(name)]))
    if not isinstance(asked.dictionary, str) and all(form.recipe is not None for form in searched):
        raise KoopsieveError(_without_effect("dictionary", asked.form, [f for f in FORMS.values() if f.recipe is None]))
    sieve = asked.sieve
    if sieve is not None and not any(form.takes_sieve(sieve) for form in searched):
        taking = [one for one in FORMS.values() if one.takes_sieve(sieve)]
        raise KoopsieveError(_without_effect(f"sieve={type(sieve).__name__}(…)", asked.form, taking))
    for name in ("path_length", "max_terms"):
        if isinstance(sieve, GraphSieve) and (value := getattr(asked, name)) != _DEFAULTS[name]:
            raise KoopsieveError(
                f"GraphSieve() gives one set, so {name}={value} has no effect. Leave it out, or use HorizonSieve()."
            )
    fitted = [name for name, form in FORMS.items() if form.takes("refits")]
    if asked.compare and asked.form not in fitted:
        raise KoopsieveError(f'compare needs form="{fitted[0]}". Got form={asked.form!r}.')
    if asked.validation == 0 and (isinstance(asked.dictionary, str) or not _one_embedding(asked.delays)):
        raise KoopsieveError(
            "validation=0 holds nothing out, but dictionary or delays are to be chosen. Hold some data out, or give "
            "one dictionary, and one Embedding or none."
        )
    if asked.validation == 0 and asked.level != _DEFAULTS["level"]:
        raise KoopsieveError(
            f"Bands are calibrated on data held out, so with validation=0 there are none, and level={asked.level} has "
            "no effect. Hold some data out, or leave it out."
        )


def _one_embedding(delays: Embedding | Sequence[Embedding] | str | None) -> bool:
    return isinstance(delays, Embedding | None) or (not isinstance(delays, str) and len(delays) == 1)


def _without_effect(setting: str, form: str, taking: Sequence[Form]) -> str:
    others = " or ".join(f'form="{one.name}"' for one in taking)
    where = "in any form that takes a dictionary" if form == AUTO else f"in the {form} form"
    return f"{setting} has no effect {where}. Leave it out{f', or use {others}' if others else ''}."


_DEFAULTS = {one.name: one.default for one in fields(SiftSettings)}
