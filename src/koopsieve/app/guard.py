"""Who may talk to the app: this computer's browser, with the token of the address, from no other site."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs

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
