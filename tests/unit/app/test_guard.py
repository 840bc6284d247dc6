"""Only the browser that was given the token, on this computer and from this page, reaches the app."""

import asyncio

import pytest

from koopsieve.app.server import COOKIE, Guard

TOKEN, HOST = "the-token", "127.0.0.1:8765"


async def inner(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"in"})


def answer(kind="http", query=b"", **headers):
    sent = []

    async def send(message):
        sent.append(message)

    named = [(name.encode(), value.encode()) for name, value in {"host": HOST, **headers}.items()]
    scope = {"type": kind, "headers": named, "query_string": query}
    asyncio.run(Guard(inner, TOKEN, 8765)(scope, None, send))
    return sent


def status(*args, **headers):
    return answer(*args, **headers)[0]["status"]


@pytest.mark.parametrize(
    ("query", "headers", "expected"),
    [
        (b"token=the-token", {}, 200),
        (b"", {"cookie": f"{COOKIE}=the-token"}, 200),
        (b"", {"cookie": f"{COOKIE}=the-token", "origin": f"http://{HOST}"}, 200),
        (b"", {}, 403),
        (b"token=other", {}, 403),
        (b"", {"cookie": f"{COOKIE}=other"}, 403),
        (b"token=the-token", {"host": "evil.example:8765"}, 403),
        (b"token=the-token", {"host": "127.0.0.1:9999"}, 403),
        (b"", {"cookie": f"{COOKIE}=the-token", "origin": "http://evil.example"}, 403),
        (b"", {"cookie": f"{COOKIE}=the-token", "origin": "null"}, 403),
    ],
)
def test_who_is_let_in(query, headers, expected):
    assert status("http", query, **headers) == expected


def test_the_token_of_the_address_becomes_a_cookie_that_other_sites_cannot_send():
    ((name, cookie),) = answer(query=b"token=the-token")[0]["headers"]
    assert name == b"set-cookie"
    assert b"HttpOnly" in cookie
    assert b"SameSite=Strict" in cookie
    assert answer(cookie=f"{COOKIE}=the-token")[0]["headers"] == []


def test_a_foreign_socket_is_closed():
    assert answer("websocket", origin="http://evil.example")[0]["type"] == "websocket.close"
