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
from xml.sax.saxutils import quoteattr

from koopsieve._exchange import write_file
from koopsieve._types import KoopsieveError, needed
from koopsieve.data import Signals
from koopsieve.export.c import c_files
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


def model_description(signals: Signals, name: str, guid: str) -> str:
    """Return modelDescription.xml of a co-simulation FMU (FMI 2.0).

    Value references count outputs, then inputs, then the outputs at the start, as fmu.c does.
    """
    outputs = len(signals.outputs)
    unknowns = "".join(
        f'    <Unknown index="{i + 1}" dependencies="{outputs + len(signals.inputs) + i + 1}"/>\n'
        for i in range(outputs)
    )
    listed = "".join(f'    <Unknown index="{i + 1}"/>\n' for i in range(outputs))
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName={quoteattr(name)} guid="{guid}" generationTool="koopsieve"
  variableNamingConvention="flat" numberOfEventIndicators="0">
<CoSimulation modelIdentifier="model" canHandleVariableCommunicationStepSize="true" canGetAndSetFMUstate="true">
  <SourceFiles><File name="fmu.c"/><File name="model.c"/></SourceFiles>
</CoSimulation>
<DefaultExperiment startTime="0" stepSize="{signals.dt!r}"/>
<ModelVariables>
{_variables(signals)}</ModelVariables>
<ModelStructure>
  <Outputs>
{listed}  </Outputs>
  <InitialUnknowns>
{unknowns}  </InitialUnknowns>
</ModelStructure>
</fmiModelDescription>
"""


def variable_names(signals: Signals) -> tuple[str, ...]:
    """Return the names of outputs, inputs and outputs at the start: all different, as XML takes them.

    Examples
    --------
    >>> variable_names(Signals(("y", "y at the start"), ("u",), 1.0))
    ('y', 'y at the start', 'u', 'y at the start (2)', 'y at the start at the start')
    """
    found: list[str] = []
    for name in (*signals.outputs, *signals.inputs, *(f"{name} at the start" for name in signals.outputs)):
        plain = "".join(letter if letter.isprintable() else "_" for letter in name)
        candidate, number = plain, 2
        while candidate in found:
            candidate, number = f"{plain} ({number})", number + 1
        found.append(candidate)
    return tuple(found)


def _variables(signals: Signals) -> str:
    outputs, inputs = len(signals.outputs), len(signals.inputs)
    kinds = [("output", 'initial="calculated"', "")] * outputs
    kinds += [("input", "", ' start="0"')] * inputs + [("parameter", 'initial="exact"', ' start="0"')] * outputs
    named = zip(variable_names(signals), kinds, strict=True)
    return "".join(_variable(name, reference, *kind) for reference, (name, kind) in enumerate(named))


def _variable(name: str, reference: int, causality: str, initial: str, start: str) -> str:
    variability = "fixed" if causality == "parameter" else "discrete"
    return (
        f'  <ScalarVariable name={quoteattr(name)} valueReference="{reference}" causality="{causality}" '
        f'variability="{variability}" {initial}><Real{start}/></ScalarVariable>\n'
    )
