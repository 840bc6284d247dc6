"""The page of the app: data on the left, runs and their reports on the right."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nicegui import events, run, ui

from koopsieve._types import KoopsieveError
from koopsieve.app.runs import Run, Runs, State
from koopsieve.app.server import EXPORTS, FILES
from koopsieve.cli.command import to_command, to_python
from koopsieve.cli.reading import read
from koopsieve.cli.settings import Settings
from koopsieve.data import Trajectories
from koopsieve.forms import FORMS
from koopsieve.io.reading.files import READERS, column_names

LEARN, JUDGE, UNUSED = "learn", "judge", "leave out"
_MAX_POINTS = 2000  # of a curve in the preview
_STYLE = ".nicegui-content{padding:0} .report{width:100%;height:calc(100vh - 14rem);min-height:32rem;border:0}"
_WARNING = "text-red-700 dark:text-red-300"
_COLUMNS = (("states", "Outputs"), ("inputs", "Inputs"), ("time", "Time"), ("episode", "Episodes"))
_NUMBERS = (("delays", "Past samples (empty: found)"), ("polynomials", "Degree of products"), ("kernels", "Kernels"))


class Page:
    """What one browser window shows; runs are shared by all windows."""

    def __init__(self, runs: Runs, files: Sequence[Path]) -> None:
        self.runs = runs
        self.roles: dict[Path, str] = dict.fromkeys(files, LEARN)
        self.shown = next(iter(reversed(runs.every)), None)
        self.compared: set[str] = set()
        self.chosen: dict[str, Any] = {"states": [], "inputs": [], "time": None, "episode": None, "gaps": "refuse"}
        self.chosen |= {"form": "auto", "horizons": "1, 10, 50", **{name: None for name, _ in _NUMBERS}}
        self._drawn: tuple[Any, ...] = ()

    def build(self) -> None:
        """Put the page together."""
        ui.add_css(_STYLE)
        with ui.header().classes("items-center py-2"):
            ui.label("koopsieve").classes("text-xl")
            ui.label("from logs to a small model").classes("opacity-70")
        with ui.row().classes("w-full no-wrap gap-0 max-lg:flex-wrap"):
            with ui.column().classes("w-full lg:w-96 shrink-0 p-4 gap-4"):
                self._data_card()
                self._columns_card()
                self._start_card()
            with ui.column().classes("grow min-w-0 p-4 gap-4"):
                with ui.element("div").props("id=progress").classes("w-full"):
                    self.progress()
                self._data_panel()
                self.results()
        ui.timer(0.5, self._follow)

    def _data_card(self) -> None:
        with ui.card().classes("w-full"):
            ui.label("1. Logs").classes("text-lg")
            drop = ui.upload(on_upload=self._dropped, multiple=True, auto_upload=True, label="Drop files here")
            drop.props(f'accept="{",".join(READERS)}" flat bordered').classes("w-full")
            self.file_list()

    @ui.refreshable_method
    def file_list(self) -> None:
        """List the files, each with what it is for."""
        for path in self.roles:
            with ui.row().classes("w-full items-center no-wrap"):
                ui.label(path.name).classes("grow truncate").tooltip(str(path))
                ui.select([LEARN, JUDGE, UNUSED], value=self.roles[path]).props("dense").on_value_change(
                    lambda event, path=path: self._role(path, event.value)
                )

    def _columns_card(self) -> None:
        with ui.card().classes("w-full"):
            ui.label("2. Columns").classes("text-lg")
            self.columns()

    @ui.refreshable_method
    def columns(self) -> None:
        """Offer the columns that all files have."""
        try:
            names = self._common_columns()
        except KoopsieveError as error:
            ui.label(str(error)).classes(_WARNING)
            return
        if not names:
            ui.label("Columns appear when there are files.").classes("opacity-70")
            return
        for key, label in _COLUMNS:
            several = key in ("states", "inputs")
            kept = [name for name in self.chosen[key] if name in names] if several else self.chosen[key]
            self.chosen[key] = kept if several or kept in names else None
            field = ui.select(list(names), value=self.chosen[key], label=label, multiple=several, clearable=not several)
            field.classes("w-full").props("use-chips" if several else "").mark(key)
            field.on_value_change(lambda event, key=key: self._choose(key, event.value))
        with ui.expansion("More").classes("w-full"):
            self._more()

    def _more(self) -> None:
        for key, options in (("gaps", ["refuse", "split"]), ("form", ["auto", *FORMS])):
            field = ui.select(options, value=self.chosen[key], label={"gaps": "Missing samples", "form": "Form"}[key])
            field.classes("w-full").on_value_change(lambda event, key=key: self._choose(key, event.value))
        for key, label in _NUMBERS:
            entry = ui.number(label, value=self.chosen[key], min=0, precision=0, step=1).classes("w-full").mark(key)
            entry.on_value_change(lambda event, key=key: self._choose(key, event.value))
        steps = ui.input("Steps ahead that matter", value=self.chosen["horizons"]).classes("w-full").mark("horizons")
        steps.on_value_change(lambda event: self._choose("horizons", event.value))

    def _start_card(self) -> None:
        with ui.card().classes("w-full"):
            ui.label("3. Model").classes("text-lg")
            ui.button("Find a model", on_click=self._begin).classes("w-full").mark("start")

    @ui.refreshable_method
    def progress(self) -> None:
        """Show the runs that go on: one bar each, the best model so far, and a way to stop."""
        for one in self.runs.every.values():
            if one.status.state is State.RUNNING:
                with ui.card().classes("w-full"):
                    told = (f"{one.name}: {one.status.doing}", one.status.left)
                    ui.label(", ".join(filter(None, told)))
                    ui.linear_progress(one.status.share, show_value=False).props("instant-feedback")
                    with ui.row().classes("w-full items-center justify-between"):
                        best = f"Best so far: {one.status.best}" if one.status.best else "No model yet"
                        ui.label(best).classes("opacity-70")
                        ui.button("Stop", on_click=one.stop).props("flat")
            elif one.status.state is State.FAILED:
                ui.label(f"{one.name} failed. {one.status.error}").classes(_WARNING)

    def _data_panel(self) -> None:
        """Make the panel of the data once; `_show_data` fills it."""
        self.words = ui.label().classes("opacity-70").mark("repairs")
        with ui.expansion("Data", value=self.shown is None).classes("w-full") as self.panel:
            self.chart = ui.echart({}).classes("w-full h-96")
        self._show_data("Name the outputs to see the data.")

    def _show_data(self, words: str, data: Trajectories | None = None) -> None:
        self.words.set_text(words)
        self.panel.set_visibility(data is not None)
        if data is not None:
            self.chart.options.clear()
            self.chart.options.update(preview_chart(data))
            self.chart.update()

    @ui.refreshable_method
    def results(self) -> None:
        """Show the table of finished runs, and the report of the one that was picked."""
        finished = self.runs.finished()
        if not finished:
            ui.label("Results appear here.").classes("opacity-70")
            return
        picked = next((one for one in finished if one.name == self.shown), finished[-1])
        with ui.row().classes("w-full items-center"):
            ui.toggle([one.name for one in finished], value=picked.name).on_value_change(lambda e: self._show(e.value))
        ui.table(rows=[one.row() for one in finished], row_key="run", selection="multiple").classes("w-full").props(
            "dense flat"
        ).on_select(self._select)
        ui.button("Compare the selected runs", on_click=self._compare).props("flat").mark("compare")
        with ui.row().classes("items-center"):
            for file in (*FILES, *EXPORTS):
                ui.button(file, on_click=lambda file=file: self._download(picked, file)).props("flat dense no-caps")
        with ui.expansion("Repeat it").classes("w-full"):
            ui.code(to_command(picked.settings) or "Use the settings.toml in the run's folder.", language="bash")
            ui.code(to_python(picked.settings))
        for note in picked.status.notes:
            ui.label(note).classes("text-warning")
        ui.element("iframe").props(f'src="/runs/{picked.name}/report.html" title="Report"').classes("report")

    async def _dropped(self, event: events.UploadEventArguments) -> None:
        name = Path(event.file.name).name
        folder = self.runs.folder / "dropped"
        folder.mkdir(parents=True, exist_ok=True)
        stem, suffix = Path(name).stem, Path(name).suffix
        numbered = (f"{stem}-{n}{suffix}" for n in itertools.count(2))
        path = next(folder / one for one in itertools.chain([name], numbered) if not (folder / one).exists())
        await event.file.save(path)
        self.roles[path] = LEARN
        self.file_list.refresh()
        self.columns.refresh()
        await self._read()

    async def _role(self, path: Path, role: str) -> None:
        self.roles[path] = role
        self.columns.refresh()
        await self._read()

    async def _choose(self, key: str, value: Any) -> None:
        self.chosen[key] = value
        if key in ("states", "inputs", "time", "episode", "gaps"):
            await self._read()

    async def _read(self) -> None:
        """Read the data anew and show them with what was done to them; what cannot be read says why."""
        if not self.chosen["states"]:
            self._show_data("Name the outputs to see the data.")
            return
        try:
            settings = self._settings()
            data = await run.io_bound(read, settings, settings.files)
        except KoopsieveError as error:
            self._show_data(str(error))
            return
        words = f"{data.provenance.describe()} Sample time {data.dt:g}." if isinstance(data, Trajectories) else ""
        self._show_data(words, data if isinstance(data, Trajectories) else None)

    async def _begin(self) -> None:
        try:
            begun = self.runs.begin(self._settings().complete())
        except (KoopsieveError, OSError) as error:
            ui.notify(str(error), type="negative", multi_line=True)
            return
        self.shown = begun.name
        self.progress.refresh()
        ui.run_javascript("document.getElementById('progress').scrollIntoView({block: 'center', behavior: 'smooth'})")

    def _follow(self) -> None:
        """Draw anew what has changed since the last time."""
        now = tuple((one.name, one.status) for one in self.runs.every.values())
        if now == self._drawn:
            return
        ended = {name for name, status in now if status.state is not State.RUNNING}
        before = {name for name, status in self._drawn if status.state is not State.RUNNING}
        self._drawn = now
        self.progress.refresh()
        if ended != before:
            self.panel.set_value(not self.runs.finished())
            self.results.refresh()

    def _settings(self) -> Settings:
        """Return what was chosen as the settings that the command line takes."""
        files, tests = ([str(p) for p, role in self.roles.items() if role == kind] for kind in (LEARN, JUDGE))
        words = str(self.chosen["horizons"]).replace(",", " ").split()
        wanted = {
            "files": files,
            "states": list(self.chosen["states"]),
            "inputs": list(self.chosen["inputs"]),
            "horizons": [int(word) if word.isdecimal() else word for word in words],
            **{key: self.chosen[key] for key in ("time", "episode", "gaps", "form")},
            **{key: int(self.chosen[key]) for key, _ in _NUMBERS if self.chosen[key] is not None},
            **({"test": tests} if tests else {}),
        }
        return Settings().updated({key: value for key, value in wanted.items() if value not in (None, [])}, "the page")

    def _common_columns(self) -> list[str]:
        used = [path for path, role in self.roles.items() if role != UNUSED]
        every = [column_names(path) for path in used]
        return [name for name in every[0] if all(name in other for other in every)] if every else []

    def _show(self, name: str) -> None:
        self.shown = name
        self.results.refresh()

    def _select(self, event: events.TableSelectionEventArguments) -> None:
        self.compared = {row["run"] for row in event.selection}

    def _compare(self) -> None:
        if len(self.compared) < 2:
            ui.notify("Select two runs or more in the table.")
            return
        ui.navigate.to(f"/comparison/{','.join(sorted(self.compared))}", new_tab=True)

    async def _download(self, picked: Run, file: str) -> None:
        await asyncio.sleep(0)
        ui.download.from_url(f"/runs/{picked.name}/{file}", file)


def preview_chart(data: Trajectories) -> dict[str, Any]:
    """Return the first episode as a chart, one panel per channel, with a common zoom."""
    x, u = data.states[0][:, : data.n_outputs], data.inputs[0]
    channels = [*zip(data.output_names, x.T, strict=True), *zip(data.input_names, u.T, strict=True)]
    stride = max(1, len(x) // _MAX_POINTS)
    height = 80 / len(channels)
    return {
        "tooltip": {"trigger": "axis"},
        "dataZoom": [{"type": "inside", "xAxisIndex": list(range(len(channels)))}],
        "grid": [{"top": f"{8 + i * 88 / len(channels)}%", "height": f"{height * 0.8}%"} for i in range(len(channels))],
        "xAxis": [{"type": "value", "gridIndex": i, "name": "s", "min": "dataMin"} for i in range(len(channels))],
        "yAxis": [
            {"type": "value", "gridIndex": i, "name": data.signals.label(name), "scale": True}
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
