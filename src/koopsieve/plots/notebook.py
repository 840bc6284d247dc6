"""Figures and axes that show themselves as the value of a notebook's cell, without pyplot or a backend to choose."""

from __future__ import annotations

import io
from typing import cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure

_DPI = 110


class CellFigure(Figure):
    """A figure that a notebook shows."""

    def _repr_png_(self) -> bytes:
        return _png(self)


class CellAxes(Axes):
    """Axes that a notebook shows with the figure they are on."""

    def _repr_png_(self) -> bytes:
        return _png(cast("Figure", self.get_figure()))


def _png(figure: Figure) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=_DPI)
    return stream.getvalue()
