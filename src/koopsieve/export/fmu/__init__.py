"""Any model as a functional mock-up unit: FMI 2.0 for co-simulation, made of the C code and compiled for this machine.

Comes in: a model with built-in observables, in any form. Goes out: a .fmu file with sources and one binary. FMPy says
how to compile it; it is imported when it is needed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import uuid
import zipfile
from importlib.resources import files
from io import BytesIO
from pathlib import Path

from koopsieve._exchange import write_file
from koopsieve._types import KoopsieveError, needed
from koopsieve.export.c import c_files
from koopsieve.export.fmu.description import model_description
from koopsieve.forms import Model


def to_fmu(model: Model, path: str | os.PathLike[str]) -> Path:
    """Write the unit; see `Model.to_fmu`."""
    build = needed("fmpy.build", "to_fmu()", "fmu")
    target = Path(path)
    with tempfile.TemporaryDirectory() as folder:
        unit, compiling = Path(folder) / "unit", Path(folder) / "compiling"
        unit.mkdir()
        compiling.mkdir()
        _write_sources(model, target.stem, unit)
        build.create_cmake_settings(unit, compiling)
        _compile(Path(build.__file__).parent / "c-code", compiling)
        return write_file(target, _zipped(unit))


def _zipped(unit: Path) -> bytes:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(unit.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(unit).as_posix())
    return stream.getvalue()


def _compile(rules: Path, place: Path) -> None:
    """Run CMake with FMPy's rules; the settings in `place` say what goes where."""
    beside_python = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    cmake = shutil.which("cmake", path=beside_python)
    if cmake is None:
        raise KoopsieveError("to_fmu() needs CMake, which is not installed. Install it with: pip install cmake")
    for step in (["-S", str(rules), "-B", str(place)], ["--build", str(place), "--target", "install"]):
        done = subprocess.run([cmake, *step], capture_output=True, text=True, check=False)
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines()
            raise KoopsieveError(
                f"The FMU could not be compiled ({lines[-1] if lines else 'no reason given'}). Expected a C and a C++ "
                "compiler that CMake finds, such as gcc and g++; install them, or take to_c() to another machine."
            )


def _write_sources(model: Model, name: str, place: Path) -> None:
    texts = c_files(model, "model")
    interface = files(__package__).joinpath("fmu.c").read_text(encoding="ascii")
    guid = str(uuid.uuid5(uuid.NAMESPACE_OID, texts["model.c"] + interface))
    sources = place / "sources"
    sources.mkdir()
    for file in ("model.h", "model.c"):
        (sources / file).write_text(texts[file], encoding="ascii")
    (sources / "fmu.c").write_text(interface, encoding="ascii")
    (sources / "guid.h").write_text(f'#define MODEL_GUID "{guid}"\n', encoding="ascii")
    (place / "modelDescription.xml").write_text(model_description(model.signals, name, guid), encoding="utf-8")
