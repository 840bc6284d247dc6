"""The model description of an FMU: its variables and what its interface can do."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from koopsieve.data import Signals


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
