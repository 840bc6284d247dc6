"""Any model as C99: one header, one source file, a test program and a Makefile; no dependencies, no allocation.

Comes in: a model with built-in observables, in any form. Goes out: a folder that a C compiler takes.
"""

from __future__ import annotations

import os
from pathlib import Path

from koopsieve.export.c.header import header
from koopsieve.export.c.program import checking_program, makefile
from koopsieve.export.c.sizes import Sizes
from koopsieve.export.c.source import source
from koopsieve.export.c.text import identifier
from koopsieve.export.c.vectors import vectors_of
from koopsieve.export.files import write_files
from koopsieve.export.foreign import check_built_in
from koopsieve.export.protocols import Predictor


def c_files(model: Predictor, name: str = "model") -> dict[str, str]:
    """Return the text of every file, by its name.

    Raises
    ------
    KoopsieveError
        If the dictionary holds a user's own code, or a coefficient is not finite.
    """
    check_built_in(model.dictionary, "C")
    plain, sizes = identifier(name), Sizes.of(model)
    vectors = vectors_of(model)
    return {
        f"{plain}.h": header(model, sizes, plain),
        f"{plain}.c": source(model, sizes, plain),
        f"{plain}_test.c": checking_program(vectors, sizes, model.signals.embedding.history, plain),
        "Makefile": makefile(plain),
    }


def to_c(model: Predictor, folder: str | os.PathLike[str], name: str = "model") -> tuple[Path, ...]:
    """Write the files into a folder, which is made if it is not there, and return their paths; see `Model.to_c`."""
    return write_files(folder, {file: text.encode("ascii") for file, text in c_files(model, name).items()})
