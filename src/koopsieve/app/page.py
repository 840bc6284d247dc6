"""The page of the app: data on the left, runs and their reports on the right."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nicegui import events, run, ui

from koopsieve._types import KoopsieveError
from koopsieve.app.choice import JUDGE, LEARN, NUMBERS, READING, SIGNALS, UNUSED, Choice, preview_chart, proposed_name
from koopsieve.app.runs import Run, Runs, RunState, table_rows
from koopsieve.app.server import EXPORTS, FILES
from koopsieve.cli.command_settings import to_command, to_python
from koopsieve.cli.reading import read
from koopsieve.data import Trajectories
from koopsieve.forms import FORMS
from koopsieve.io.reading.files import READERS
from koopsieve.sifting.settings import AUTO

_STYLE = ".nicegui-content{padding:0} .report{width:100%;height:calc(100vh - 14rem);min-height:32rem;border:0}"
_WARNING = "text-red-700 dark:text-red-300"
_COLUMNS = (("states", "Outputs"), ("inputs", "Inputs"), ("time", "Time"), ("episode", "Episodes"))


class AppPage:
    """What one browser window shows; runs are shared by all windows."""

    def __init__(self, runs: Runs, files: Sequence[Path]) -> None:
        self.runs = runs
        self.choice = Choice(files)
        self.shown = next(iter(reversed(runs.every)), None)
        self.compared: set[str] = set()
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
        for path in self.choice.roles:
            with ui.row().classes("w-full items-center no-wrap"):
                ui.label(path.name).classes("grow truncate").tooltip(str(path))
                ui.select([LEARN, JUDGE, UNUSED], value=self.choice.roles[path]).props("dense").on_value_change(
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
            names = self.choice.common_columns()
        except KoopsieveError as error:
            ui.label(str(error)).classes(_WARNING)
            return
        if not names:
            ui.label("Columns appear when there are files.").classes("opacity-70")
            return
        for key, label in _COLUMNS:
            several, value = key in SIGNALS, self.choice.values[key]
            field = ui.select(names, value=value, label=label, multiple=several, clearable=not several)
            field.classes("w-full").props("use-chips" if several else "").mark(key)
            field.on_value_change(lambda event, key=key: self._choose(key, event.value))
        with ui.expansion("Short names").classes("w-full"):
            self.short_names()
        with ui.expansion("More").classes("w-full"):
            self._more()

    @ui.refreshable_method
    def short_names(self) -> None:
        """Offer a field for the short name of every output and input."""
        ui.label("For plots, tables and equations; a unit in square brackets is kept.").classes("opacity-70")
        for column in self.choice.signals:
            field = ui.input(column, value=self.choice.names.get(column, ""), placeholder=proposed_name(column))
            field.classes("w-full").props("dense debounce=500").on_value_change(
                lambda event, column=column: self._rename(column, event.value)
            )

    def _more(self) -> None:
        chosen = self.choice.values
        for key, label, options in (("gaps", "Missing samples", ["refuse", "split"]), ("form", "Form", [AUTO, *FORMS])):
            field = ui.select(options, value=chosen[key], label=label).classes("w-full")
            field.on_value_change(lambda event, key=key: self._choose(key, event.value))
        for key, label in NUMBERS:
            entry = ui.number(label, value=chosen[key], min=0, precision=0, step=1).classes("w-full").mark(key)
            entry.on_value_change(lambda event, key=key: self._choose(key, event.value))
        steps = ui.input("Steps ahead that matter", value=chosen["horizons"]).classes("w-full").mark("horizons")
        steps.on_value_change(lambda event: self._choose("horizons", event.value))

    def _start_card(self) -> None:
        with ui.card().classes("w-full"):
            ui.label("3. Model").classes("text-lg")
            ui.button("Find a model", on_click=self._begin).classes("w-full").mark("start")

    @ui.refreshable_method
    def progress(self) -> None:
        """Show the runs that go on: one bar each, the best model so far, and a way to stop."""
        for one in self.runs.every.values():
            if one.status.state is RunState.RUNNING:
                with ui.card().classes("w-full"):
                    shown = (f"{one.name}: {one.status.doing}", one.status.left)
                    ui.label(", ".join(filter(None, shown)))
                    ui.linear_progress(one.status.share, show_value=False).props("instant-feedback")
                    with ui.row().classes("w-full items-center justify-between"):
                        best = f"Best so far: {one.status.best}" if one.status.best else "No model yet"
                        ui.label(best).classes("opacity-70")
                        ui.button("Stop", on_click=one.stop).props("flat")
            elif one.status.state is RunState.FAILED:
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
        rows = table_rows(finished)
        columns = [{"name": key, "label": key, "field": key, "align": "left"} for key in rows[0]]
        table = ui.table(columns=columns, rows=rows, row_key="run", selection="multiple", on_select=self._select)
        table.classes("w-full").props("dense flat wrap-cells")
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
        self.choice.roles[path] = LEARN
        self.file_list.refresh()
        self.columns.refresh()
        await self._read()

    async def _role(self, path: Path, role: str) -> None:
        self.choice.roles[path] = role
        self.columns.refresh()
        await self._read()

    async def _choose(self, key: str, value: Any) -> None:
        self.choice.values[key] = value
        if key in SIGNALS:
            self.short_names.refresh()
        if key in READING:
            await self._read()

    async def _rename(self, column: str, name: str) -> None:
        self.choice.names[column] = name
        await self._read()

    async def _read(self) -> None:
        """Read the data anew and show them with what was done to them; what cannot be read says why."""
        if not self.choice.values["states"]:
            self._show_data("Name the outputs to see the data.")
            return
        try:
            settings = self.choice.settings()
            data = await run.io_bound(read, settings, settings.files)
        except KoopsieveError as error:
            self._show_data(str(error))
            return
        words = f"{data.provenance.describe()} Sample time {data.dt:g}." if isinstance(data, Trajectories) else ""
        self._show_data(words, data if isinstance(data, Trajectories) else None)

    async def _begin(self) -> None:
        try:
            begun = self.runs.begin(self.choice.settings().complete())
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
        ended = {name for name, status in now if status.state is not RunState.RUNNING}
        before = {name for name, status in self._drawn if status.state is not RunState.RUNNING}
        self._drawn = now
        self.progress.refresh()
        if ended != before:
            self.panel.set_value(not self.runs.finished())
            self.results.refresh()

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
