"""The C source file, put together."""

from __future__ import annotations

from koopsieve.dictionary import Observables
from koopsieve.export.c.families import uses_mathematics, written
from koopsieve.export.c.header import names_source
from koopsieve.export.c.lifted import lifted_source
from koopsieve.export.c.line import lift_source, line_source, simulate_source
from koopsieve.export.c.reprojected import reprojected_source
from koopsieve.export.c.sizes import Sizes
from koopsieve.export.protocols import Predictor, ReprojectedStep, step_of


def source(model: Predictor, sizes: Sizes, name: str) -> str:
    """Return the source file."""
    phi, step = model.dictionary, step_of(model)
    reprojected = isinstance(step, ReprojectedStep)
    families = _functions(phi.families, "observables", with_slopes=reprojected)
    if reprojected:
        families += _functions(phi.drive_families, "drives", with_slopes=True)
    used = phi.families + (phi.drive_families if reprojected else ())
    return "".join(
        [
            f"/* Written by koopsieve; see {name}.h. */\n",
            "#include <math.h>\n\n" if uses_mathematics(used) else "",
            f'#include "{name}.h"\n',
            names_source(model.signals, name),
            families,
            lift_source(model, name),
            line_source(model.signals, sizes, name),
            reprojected_source(model, step, sizes, name)
            if isinstance(step, ReprojectedStep)
            else lifted_source(step, sizes, name),
            simulate_source(model.signals, sizes, name),
        ]
    )


def _functions(families: tuple[Observables, ...], prefix: str, with_slopes: bool) -> str:
    found = [written(family, f"{prefix}{number}") for number, family in enumerate(families)]
    return "".join(one.values + (one.slopes if with_slopes else "") for one in found)
