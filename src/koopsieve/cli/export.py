"""`koopsieve export`: a saved model for other programs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from koopsieve._types import KoopsieveError
from koopsieve.model import Model


class Target(StrEnum):
    """What a model can be written for."""

    C = "c"
    CASADI = "casadi"
    MAT = "mat"
    FMU = "fmu"


def export(
    model: Annotated[Path, typer.Argument(help="A model.npz written by koopsieve sift.")],
    to: Annotated[Target, typer.Option("--to", help="C99 source, CasADi functions, a MATLAB file, or an FMU.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to; made if it is not there.")],
    name: Annotated[str, typer.Option(help="Of the files (not CasADi's), and of the functions in C.")] = "model",
) -> None:
    """Write a saved model for other programs.

    C: a header, a source file without dependencies, and a program that compares it with Python (run make there).

    CasADi: lift, start, step and read, for casadi.Function.load. MATLAB: matrices and names. FMU: FMI 2.0.

    Example: koopsieve export result/model.npz --to c --out controller
    """
    loaded = Model.load(model)
    for path in written(loaded, to, out, name):
        typer.echo(f"Written: {path}")


def written(model: Model, to: Target, out: Path, name: str) -> tuple[Path, ...]:
    """Write the files and return their paths."""
    if Path(name).name != name or not name.strip(" ."):
        raise KoopsieveError(f"--name must be the name of a file, without folders. Got {name!r}; folders go to --out.")
    if to is Target.C:
        return model.to_c(out, name)
    if to is Target.CASADI:
        return model.to_casadi().save(out)
    if to is Target.FMU:
        return (model.to_fmu(out / f"{name}.fmu"),)
    path = out / f"{name}.mat"
    model.to_mat(path)
    return (path,)
