"""What was chosen on the page, as the settings of `koopsieve sift`; and the chart of the data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from koopsieve.cli.command_settings import Settings
from koopsieve.cli.options import from_flags
from koopsieve.data import Trajectories
from koopsieve.data.signals import unit_in
from koopsieve.io.reading.files import column_names
from koopsieve.sifting.settings import AUTO

LEARN, JUDGE, UNUSED = "learn", "judge", "leave out"
SIGNALS = ("states", "inputs")
READING = (*SIGNALS, "time", "episode", "gaps")  # what changes the data
NUMBERS = (("delays", "Past samples (empty: automatic)"), ("polynomials", "Degree of products"), ("kernels", "Kernels"))
_MAX_POINTS = 2000  # of a curve in the preview


class Choice:
    """What one page holds: what each file is for, columns and their short names, options."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.roles: dict[Path, str] = dict.fromkeys(files, LEARN)
        self.names: dict[str, str] = {}
        self.values: dict[str, Any] = {"states": [], "inputs": [], "time": None, "episode": None, "gaps": "refuse"}
        self.values |= {"form": AUTO, "horizons": "1, 10, 50", **{name: None for name, _ in NUMBERS}}

    def common_columns(self) -> list[str]:
        """Return the columns that all used files have; what was chosen and is not among them is dropped."""
        used = [path for path, role in self.roles.items() if role != UNUSED]
        every = [column_names(path) for path in used]
        names = [name for name in every[0] if all(name in other for other in every)] if every else []
        for key in SIGNALS:
            self.values[key] = [name for name in self.values[key] if name in names]
        for key in ("time", "episode"):
            self.values[key] = self.values[key] if self.values[key] in names else None
        return names

    @property
    def signals(self) -> list[str]:
        """The columns of outputs and inputs."""
        return [column for key in SIGNALS for column in self.values[key]]

    def settings(self) -> Settings:
        """Return the settings that the command line takes."""
        files, tests = ([str(p) for p, role in self.roles.items() if role == kind] for kind in (LEARN, JUDGE))
        words = str(self.values["horizons"]).replace(",", " ").split()
        wanted = {
            "files": files,
            **{key: [self._named(column) for column in self.values[key]] for key in SIGNALS},
            "horizons": [int(word) if word.isdecimal() else word for word in words],
            **{key: self.values[key] for key in ("time", "episode", "gaps", "form")},
            **{key: int(self.values[key]) for key, _ in NUMBERS if self.values[key] is not None},
            **({"test": tests} if tests else {}),
        }
        return from_flags(Settings(), wanted, "the page")

    def _named(self, column: str) -> str:
        """Return a column as `--states` takes it: "speed=Drehzahl Last [1/s]", or its name if it has no shorter one."""
        given = self.names.get(column, "").strip()
        name = (given or column).replace("=", " ")  # which would be taken for the sign between the two
        return column if name == column else f"{name}={column}"


def proposed_name(column: str) -> str:
    """Return a short name to propose for a column: what stands before its unit, if it has one.

    Examples
    --------
    >>> proposed_name("Drehzahl Last [1/s]"), proposed_name("speed")
    ('Drehzahl Last', 'speed')
    """
    return column.strip().rpartition("[")[0].strip() if unit_in(column) else column


def preview_chart(data: Trajectories) -> dict[str, Any]:
    """Return the first episode as a chart, one panel per channel, with a common zoom."""
    x, u = data.states[0][:, : data.n_outputs], data.inputs[0]
    channels = [*zip(data.output_names, x.T, strict=True), *zip(data.input_names, u.T, strict=True)]
    panels = range(len(channels))
    stride = max(1, len(x) // _MAX_POINTS)
    share = 88 / len(channels)
    return {
        "tooltip": {"trigger": "axis"},
        "dataZoom": [{"type": "inside", "xAxisIndex": list(panels)}],
        "grid": [{"top": f"{8 + i * share}%", "height": f"{0.73 * share}%"} for i in panels],
        "xAxis": [{"type": "value", "gridIndex": i, "name": "s", "min": "dataMin"} for i in panels],
        "yAxis": [
            {
                "type": "value",
                "gridIndex": i,
                "name": data.signals.label(name),
                "nameTextStyle": {"align": "left"},
                "scale": True,
            }
            for i, (name, _) in enumerate(channels)
        ],
        "series": [
            {
                "type": "line",
                "color": "#0b6e99" if i < data.n_outputs else "#bc6c25",
                "step": None if i < data.n_outputs else "end",
                "showSymbol": False,
                "name": name,
                "xAxisIndex": i,
                "yAxisIndex": i,
                "data": [[round(k * data.dt, 9), float(values[k])] for k in range(0, len(values), stride)],
            }
            for i, (name, values) in enumerate(channels)
        ],
    }
