"""The server of the app: on 127.0.0.1, behind a guard; the page, and the files of finished runs.

Who may talk to it: this computer's browser, with the token of the address, from no other site.
"""

from __future__ import annotations

import hmac
import io
import secrets
import socket
import tempfile
import webbrowser
import zipfile
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from koopsieve._types import KoopsieveError, needed
from koopsieve.app.runs import Run, Runs
from koopsieve.cli.saved import Target, written
from koopsieve.forms import Model

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
COOKIE = "koopsieve_token"


class Guard:
    """Answers 403 to everything that does not know the token, names another host, or comes from another origin.

    The token is taken from the address once and then kept in a cookie, which other sites can neither read nor send. The
    check of the host's name is what keeps out sites whose name was made to mean this computer.
    """

    def __init__(self, app: Callable[[Message, Receive, Send], Awaitable[None]], token: str, port: int) -> None:
        self.app, self.token = app, token
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        fresh = self._knows(asked)
        if not self._is_ours(headers) or not (fresh or self._knows(_cookie(headers))):
            await _refuse(scope, send)
            return

        async def sending(message: Message) -> None:
            if fresh and message["type"] == "http.response.start":
                cookie = f"{COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/"
                message["headers"] = [*message["headers"], (b"set-cookie", cookie.encode())]
            await send(message)

        await self.app(scope, receive, sending)

    def _is_ours(self, headers: dict[str, str]) -> bool:
        origin = headers.get("origin")
        return headers.get("host") in self.hosts and (origin is None or origin.removeprefix("http://") in self.hosts)

    def _knows(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.token.encode())


def _cookie(headers: dict[str, str]) -> str:
    found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    return found.value if found else ""


async def _refuse(scope: Message, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    words = b"Open the address that `koopsieve app` printed; it holds the token."
    await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": words})


HOST = "127.0.0.1"
FILES = ("report.html", "model.npz", "summary.json", "inclusion.csv")
EXPORTS = {"model_c.zip": Target.C, "model.fmu": Target.FMU, "model.m": Target.M, "model.mat": Target.MAT}


def serve(
    files: Sequence[Path],
    folder: Path,
    port: int | None = None,
    browser: bool = True,
    say: Callable[[str], Any] = print,
) -> None:
    """Serve the app until Ctrl-C.

    `files` are logs to begin with; they stay where they are. Runs and dropped files go to `folder`. Without `port` it
    is one that is free; `say` is called with the address.
    """
    nicegui = needed("nicegui", "The app", "app")
    from koopsieve.app.page import AppPage

    missing = [path for path in files if not path.is_file()]
    if missing:
        raise KoopsieveError(f"There is no file {missing[0]}. Check the path.")
    number, token, runs = _free_port(port), secrets.token_urlsafe(24), Runs(folder)
    address = f"http://{HOST}:{number}/?token={token}"
    server = nicegui.app
    server.add_middleware(Guard, token=token, port=number)
    _add_files(server, runs)
    server.on_startup(lambda: say(f"The app is at {address} until Ctrl-C"))
    server.on_shutdown(runs.stop)
    if browser:
        server.on_startup(lambda: webbrowser.open(address))
    nicegui.ui.run(
        lambda: AppPage(runs, files).build(),
        host=HOST,
        port=number,
        title="koopsieve",
        dark=None,
        reload=False,
        show=False,
        show_welcome_message=False,
    )


def _add_files(server: Any, runs: Runs) -> None:
    """Add the addresses of a run's files, of its exports, and of comparisons."""
    from fastapi import HTTPException, Response
    from fastapi.responses import FileResponse, HTMLResponse

    def run_called(name: str) -> Run:
        run = runs.every.get(name)
        if run is None or not run.result.is_dir():
            raise HTTPException(404, f"There is no finished run {name!r}.")
        return run

    @server.get("/runs/{name}/{file}")  # type: ignore[untyped-decorator]
    def file_of(name: str, file: str) -> Any:
        run = run_called(name)
        if file in FILES:
            return FileResponse(run.result / file, filename=None if file.endswith(".html") else file)
        if file not in EXPORTS:
            raise HTTPException(404, f"There is no file {file!r}.")
        try:
            content = exported(run.result / "model.npz", file)
        except (KoopsieveError, OSError) as error:
            raise HTTPException(409, str(error)) from error
        return Response(content, headers={"content-disposition": f'attachment; filename="{file}"'})

    @server.get("/comparison/{names}")  # type: ignore[untyped-decorator]
    def comparison(names: str) -> Any:
        from koopsieve.report.comparison import render_comparison

        try:
            return HTMLResponse(render_comparison({name: run_called(name).summary() for name in names.split(",")}))
        except KoopsieveError as error:
            raise HTTPException(409, str(error)) from error


def exported(model: Path, file: str) -> bytes:
    """Return a saved model for another program, as the content of a file; C code as a .zip."""
    target = EXPORTS[file]
    with tempfile.TemporaryDirectory() as place:
        paths = written(Model.load(model), target, Path(place), "model")
        if target is not Target.C:
            return paths[0].read_bytes()
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in paths:
                archive.write(path, path.name)
        return stream.getvalue()


def _free_port(wanted: int | None) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, wanted or 0))
        except OSError as error:
            raise KoopsieveError(f"Port {wanted} is taken ({error.strerror}). Give another one with --port.") from error
        return int(probe.getsockname()[1])
