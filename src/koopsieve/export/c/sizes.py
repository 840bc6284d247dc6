"""The sizes that all generated C is written with."""

from __future__ import annotations

from dataclasses import dataclass

from koopsieve.dictionary import Observables
from koopsieve.export.protocols import Predictor


@dataclass(frozen=True)
class Sizes:
    """Numbers of outputs, inputs, state columns, observables, drives, and of what is carried from step to step."""

    outputs: int
    inputs: int
    states: int
    observables: int
    drives: int
    carried: int

    @property
    def terms(self) -> int:
        """Observables and drives."""
        return self.observables + self.drives

    @classmethod
    def of(cls, model: Predictor) -> Sizes:
        """Count."""
        phi, signals = model.dictionary, model.signals
        states = len(signals.state_names)
        carried = states if model.form == "reprojected" else phi.size
        return cls(len(signals.outputs), len(signals.inputs), states, phi.size, len(phi.drive_names), carried)


def calls(families: tuple[Observables, ...], prefix: str, first: int = 0) -> list[tuple[str, int]]:
    """Return the name of each family's function, and where its values begin."""
    placed = []
    for number, family in enumerate(families):
        placed.append((f"{prefix}{number}", first))
        first += family.size
    return placed


def unused(*names: str) -> str:
    """Return statements that tell the compiler which arguments are meant to be left alone."""
    return "".join(f"    (void){name};\n" for name in names)
