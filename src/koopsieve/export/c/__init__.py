"""Any model as C99: one header, one source file, a test program and a Makefile; no dependencies, no allocation.

Comes in: a model with built-in observables, in any form. Goes out: a folder that a C compiler takes.
"""

from __future__ import annotations

import os
from pathlib import Path

from koopsieve._exchange import write_files
from koopsieve.dictionary import TermMap
from koopsieve.dictionary.expressions import require_expressions
from koopsieve.export.c.checks import checking_program, makefile
from koopsieve.export.c.header import Sizes, header, names_source
from koopsieve.export.c.literals import identifier
from koopsieve.export.c.maps import (
    line_source,
    map_source,
    named_maps,
    simulate_source,
    start_slopes_source,
    step_source,
)
from koopsieve.forms import Model

# In single precision expf is meant where exp is written, which tgmath.h chooses by the type of the argument.
INCLUDE_MATHS = "#ifdef KOOPSIEVE_FLOAT32\n#include <tgmath.h>\n#else\n#include <math.h>\n#endif\n"


def c_files(model: Model, name: str = "model", *, filtered: bool = False) -> dict[str, str]:
    """Return the text of every file, by its name; with `filtered` also the slopes of the start, which filters need."""
    require_expressions(model.dictionary, "C")
    plain, sizes = identifier(name), Sizes.of(model)
    return {
        f"{plain}.h": header(model, sizes, plain, filtered),
        f"{plain}.c": _source(model, sizes, plain, filtered),
        f"{plain}_test.c": checking_program(model, sizes, plain),
        "Makefile": makefile(plain),
    }


def to_c(model: Model, folder: str | os.PathLike[str], name: str = "model") -> tuple[Path, ...]:
    """Write the files into a folder, which is made if it is not there, and return their paths; see `Model.to_c`."""
    return write_files(folder, {file: text.encode("ascii") for file, text in c_files(model, name).items()})


def _source(model: Model, sizes: Sizes, name: str, filtered: bool) -> str:
    phi, signals = model.dictionary, model.signals
    maps = {
        "lift": TermMap.of_terms(phi.state_names, phi.families),
        "start": model.start_map(),
        "step": model.step_map(),
        "read": model.read_map(),
    }
    named, families = named_maps(maps, sloped=("step", "start") if filtered else ("step",))
    return "".join(
        [
            f'/* Written by koopsieve; see {name}.h. */\n{INCLUDE_MATHS}\n#include "{name}.h"\n',
            names_source(signals, name),
            families,
            map_source(named["lift"], name, ["state"], "observables"),
            line_source(signals, sizes, name),
            map_source(named["start"], name, ["state"], "carried"),
            start_slopes_source(named["start"], name) if filtered else "",
            step_source(named["step"], name, sizes.inputs),
            map_source(named["read"], name, ["carried"], "output"),
            simulate_source(signals, sizes, name),
        ]
    )
