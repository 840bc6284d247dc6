"""`koopsieve export`: a saved model for other programs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from koopsieve._exchange import check_folder, whole_folder
from koopsieve._types import KoopsieveError
from koopsieve.cli.options import Overwrite
from koopsieve.forms import Model


class Target(StrEnum):
    """What a model can be written for."""

    C = "c"
    CASADI = "casadi"
    MAT = "mat"
    M = "m"
    FMU = "fmu"
    SYMPY = "sympy"


def export(
    model: Annotated[Path, typer.Argument(help="A model.npz written by koopsieve sift.")],
    to: Annotated[Target, typer.Option("--to", help="C99, CasADi functions, MATLAB data or function, FMU, SymPy.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to; made if it is not there.")],
    name: Annotated[str, typer.Option(help="Of the files, and of the functions in C and MATLAB.")] = "model",
    overwrite: Overwrite = False,
) -> None:
    """Write a saved model for other programs.

    C: a header, a source file without dependencies, and a program that compares it with Python (run make there).

    CasADi: lift, start, step and read, for casadi.Function.load. FMU: FMI 2.0.

    mat: matrices and names for MATLAB. m: a function for MATLAB and Octave that steps the model. SymPy: equations.

    Example: koopsieve export result/model.npz --to c --out controller
    """
    if Path(name).name != name or not name.strip(" ."):
        raise KoopsieveError(f"--name must be the name of a file, without folders. Got {name!r}; folders go to --out.")
    if to is Target.CASADI and name != "model":
        raise KoopsieveError(
            "--name has no effect with --to casadi, whose files have names of their own. Leave it out."
        )
    check_folder(out, [f"{name}.{to}"] if to in (Target.FMU, Target.MAT) else [], overwrite)
    loaded = Model.load(model)
    with whole_folder(out, overwrite) as folder:  # the names of the others are known when they are made, in no time
        paths = written(loaded, to, folder, name)
    for path in paths:
        typer.echo(f"Written: {out / path.name}")


def written(model: Model, to: Target, out: Path, name: str) -> tuple[Path, ...]:
    """Write the files and return their paths."""
    from koopsieve.export.c.literals import identifier

    if to is Target.C:
        return model.to_c(out, name)
    if to is Target.CASADI:
        return model.to_casadi().save(out)
    if to is Target.FMU:
        return (model.to_fmu(out / f"{name}.fmu"),)
    if to is Target.M:
        return (model.to_m(out / f"{identifier(name)}.m"),)
    if to is Target.SYMPY:
        return (model.to_sympy().save(out / f"{name}.txt"),)
    path = out / f"{name}.mat"
    model.to_mat(path)
    return (path,)
