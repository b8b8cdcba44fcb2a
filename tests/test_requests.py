"""Invalid requests to the server of `helsinki play` get an error message and leave the game unchanged.

The requests are variations of those in the server's OpenAPI schema, so the tests cover new routes automatically.
tests/test_play.py checks the messages of selected invalid requests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from helsinki_env.evaluation.match import play_match
from helsinki_env.web.names import verbatim
from helsinki_env.web.websocket import MESSAGES
from tests.support.server import Line, Server, seated, serving, until

#: Text that breaks encodings or display: lone surrogates, control characters, direction marks.
STRANGE = st.sampled_from(["\ud800", "a\udfff", "\x00", "\u202egnp.exe", "\u2028", "\x1b[2J", "\ufeff", "[" * 999])
TEXT = st.text(max_size=80) | STRANGE
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12) | STRANGE, inner, max_size=4),
    max_leaves=8,
)
#: Bodies that are not requests.
BODIES = st.binary(max_size=200) | st.sampled_from(
    [
        *(mark * length for mark in (b"[", b'{"a":', b"(") for length in (999, 10_000)),
        b'"\\ud800"',
        b'{"table": "\\ud800"}',
        b'{"\\udfff": 1}',
        b'{"game": "\\ud800", "seats": []}',
        b"\xed\xa0\x80",
        b"\x00" * 100,
        b"PAR1" + b"\xff" * 60 + b"PAR1",
        b"1e999",
        b"9" * 5000,
        b"NaN",
    ]
)
#: Headers that the server reads before anything else.
HEADERS = st.dictionaries(
    st.sampled_from(["origin", "authorization", "accept", "content-type", "range", "cookie", "x-forwarded-for"]),
    st.sampled_from(
        [
            *("http://[", "http://[::1", "http://", "//", "null", "[", "http://a]b", "http://\x85", "", "\xff" * 50),
            *("Bearer", "Bearer \xff", "text/html", "application/json; charset=\xe9", "multipart/form-data"),
            "bytes=99999999999-",
        ]
    ),
    max_size=2,
)
#: Values of path parameters.
NAMES = st.text(min_size=1, max_size=40) | st.sampled_from(
    [
        "..",
        "../..",
        "..%2f..%2fetc",
        "%00",
        "a/b",
        "<script>alert(1)</script>",
        "' OR 1=1 --",
        "tables.sqlite",
        "\u202e",
        "%ed%a0%80",
        "%ff",
        "[" * 999,
        "9" * 500,
    ]
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("requests")) as running:
        yield running


@pytest.fixture(scope="module")
def described(server: Server) -> dict[str, Any]:
    """The OpenAPI schema of the server."""
    status, page, _ = server.ask("GET", "/openapi.json")
    assert status == 200
    assert isinstance(page, dict)
    return page


def fits(schema: Mapping[str, Any], page: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Values that match a schema."""
    if "$ref" in schema:
        return fits(page["components"]["schemas"][schema["$ref"].rpartition("/")[2]], page)
    if "anyOf" in schema:
        return st.one_of([fits(one, page) for one in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = schema.get("type")
    if kind == "object":
        required = schema.get("required", [])
        found = {name: fits(one, page) for name, one in schema.get("properties", {}).items()}
        return st.fixed_dictionaries(
            {name: one for name, one in found.items() if name in required},
            optional={name: one for name, one in found.items() if name not in required},
        )
    if kind == "array":
        least, most = schema.get("minItems", 0), schema.get("maxItems", 5)
        return st.lists(fits(schema.get("items", {}), page), min_size=least, max_size=min(most, 5))
    if kind == "string":
        players = st.sampled_from(["human", "greedy", "random"])
        return players | st.text(max_size=min(schema.get("maxLength", 30), 30))
    if kind == "integer":
        return st.integers(schema.get("minimum", 0), schema.get("maximum", 2**63))
    return {"boolean": st.booleans(), "null": st.none(), "number": st.floats(0, 1)}.get(str(kind), ANYTHING)


@st.composite
def spoilt(draw: st.DrawFn, whole: st.SearchStrategy[Any]) -> Any:
    """A value with one part replaced or added."""
    value = draw(whole)
    places: list[tuple[Any, Any]] = []

    def walk(inside: Any) -> None:
        for key in list(inside) if isinstance(inside, dict) else range(len(inside)):
            places.append((inside, key))
            if isinstance(inside[key], dict | list):
                walk(inside[key])

    if isinstance(value, dict | list):
        value = json.loads(json.dumps(value))
        walk(value)
    if not places or draw(st.integers(0, 9)) == 0:
        return draw(ANYTHING)
    inside, key = draw(st.sampled_from(places))
    how = draw(st.integers(0, 2)) if isinstance(inside, dict) else 0
    if how == 0:
        inside[key] = draw(ANYTHING)
    elif how == 1:
        del inside[key]
    else:
        inside[draw(st.text(max_size=10))] = draw(ANYTHING)
    return value


@st.composite
def requests(draw: st.DrawFn, page: Mapping[str, Any]) -> tuple[str, str, bytes | None]:
    """A request of the OpenAPI schema: method, path, and a nearly valid body."""
    path = draw(st.sampled_from(sorted(page["paths"])))
    method = draw(st.sampled_from(sorted(page["paths"][path])))
    said = page["paths"][path][method]
    address = path
    asked = []
    for parameter in said.get("parameters", []):
        if parameter["in"] == "path":
            address = address.replace("{" + parameter["name"] + "}", quote(draw(NAMES), safe="%"))
        elif draw(st.booleans()):
            value = draw(spoilt(fits(parameter["schema"], page)))
            text = str(value).encode("utf-8", "surrogatepass")
            asked.append(f"{parameter['name']}={quote(text, safe='')}")
    address += "?" + "&".join(asked) if asked else ""
    content = said.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None or draw(st.integers(0, 5)) == 0:
        return method.upper(), address, draw(st.none() | BODIES)
    return method.upper(), address, json.dumps(draw(spoilt(fits(content["schema"], page)))).encode()


@pytest.mark.thorough
def test_spoilt_requests(server: Server, described: dict[str, Any]) -> None:
    made = server.make("human", "greedy", seed=2)
    with seated(server, made["table"]) as (_, before):
        pass
    refused = []

    @settings(max_examples=300, database=None, derandomize=True)
    @given(requests(described), HEADERS)
    def each(request: tuple[str, str, bytes | None], headers: dict[str, str]) -> None:
        method, path, body = request
        status, answer, _ = server.ask(method, path, body, headers)
        assert 200 <= status < 500, (request, headers, answer)
        if status >= 400:
            refused.append(request)
            assert isinstance(answer, dict), (request, answer)
            assert set(answer) >= {"error"}, (request, answer)
            assert 3 < len(answer["error"]) < 2000, (request, answer)
            assert "Traceback" not in answer["error"]

    each()
    assert len(set(refused)) > 100
    with seated(server, made["table"]) as (_, after):
        assert after == before


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/records", b"[" * 999),
        ("/api/records/look", b"[" * 999),
        ("/api/records", b'{"table": "\\ud800"}'),
        ("/api/records", b'{"\\ud800": "a"}'),
        ("/api/tables", b"[" * 60_000),
        ("/api/tables", b'{"\\ud800": 1}'),
        ("/api/tables", b'{"chairs": [{"player": "\\ud800"}, {"\\udfff": "\\ud800"}]}'),
        ("/api/tables", b'{"chairs": [{}, {}], "options": {"\\ud800": "\\ud800"}}'),
        ("/api/tables", b'{"chairs": [{}, {}], "game": "\\ud800"}'),
        ("/api/tournaments", b'{"players": ["\\ud800", "random"], "options": {"\\ud800": 1}}'),
        ("/api/tables", b'{"chairs": [{"name": "a\\u202eb"}, {}]}'),
        ("/api/tables", b'{"chairs": [{"name": "\\u0000"}, {}]}'),
        ("/api/tables", b'{"chairs": [{}, {}], "title": "a\\u2066b"}'),
        ("/api/tournaments", b'{"players": ["greedy", "random"], "title": "a\\u0007"}'),
    ],
)
def test_brackets_halves_of_characters_and_controls_are_refused(path: str, body: bytes, server: Server) -> None:
    status, answer, _ = server.ask("POST", path, body)
    assert 400 <= status < 500, answer
    assert 3 < len(answer["error"]) < 2000
    assert answer["error"].isprintable()


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "http://a]", "http://\xff", "[", "//["])
def test_an_origin_that_is_no_address_is_turned_away(origin: str, server: Server) -> None:
    status, answer, _ = server.ask("GET", "/api/tables", headers={"origin": origin})
    assert (status, answer["error"][:14]) == (403, "origin: found ")
    with pytest.raises(InvalidStatus), seated(server, "t", additional_headers={"Origin": origin}):
        pass


def test_names_may_be_written_in_any_script(server: Server) -> None:
    names = ["Zoë 👩\u200d🔬", "می\u200cخواهم"]
    made = server.ask("POST", "/api/tables", {"chairs": [{"name": name} for name in names], "title": "表"})
    assert made[0] == 201, made
    with seated(server, made[1]["table"]) as (_, view):
        assert [seat["name"] for seat in view["seats"]] == [verbatim(name) for name in names]


def test_names_of_players_in_records_are_shown_without_controls(server: Server) -> None:
    record = next(play_match(["random", "random"], games=2, seed=5).records())
    data = replace(record, players=("a\u202eb", "c\x00d")).to_json()
    found = server.ask("POST", "/api/records/look", data.encode())[1]
    assert found["games"][0]["players"] == ["a\ufffdb", "c\ufffdd"]
    status, kept, _ = server.ask("POST", "/api/records", data.encode())
    assert status == 201, kept
    assert server.ask("GET", "/api/records")[1][0]["title"].isprintable()
    half = data.replace("c\\u0000d", "\\ud800").encode()
    status, answer, _ = server.ask("POST", "/api/records", half)
    assert (status, "lone surrogate" in answer["error"]) == (400, True), answer


@pytest.mark.parametrize(
    "first", ['{"type": "sit", "key": "\\ud800"}', '{"type": "sit", "token": "\\udfff"}', "[" * 999]
)
def test_who_sits_down_with_half_a_character_is_told_so(first: str, server: Server) -> None:
    made = server.make("human", "human", sharing="links")
    with connect(server.address.replace("http", "ws") + f"/ws/tables/{made['table']}", proxy=None) as line:
        line.send(first)
        assert json.loads(line.recv(20))["type"] == "refused"


_WHOLE = st.sampled_from(sorted(MESSAGES)).flatmap(
    lambda kind: st.fixed_dictionaries({"type": st.just(kind)} | {name: st.integers(0, 3) for name in MESSAGES[kind]})
)


@pytest.mark.thorough
def test_spoilt_messages(server: Server) -> None:
    made = server.make("human", "greedy", seed=2)
    refused = []
    with seated(server, made["table"]) as (line, before):

        @settings(max_examples=400, database=None, derandomize=True)
        @given(spoilt(_WHOLE))
        def each(message: Any) -> None:
            for answer in _answers(line, json.dumps(message)):
                if answer["type"] == "error":
                    refused.append(json.dumps(message, sort_keys=True))
                    assert 3 < len(answer["message"]) < 2000
                else:
                    assert answer["type"] in ("table", "evaluation", "rules", "lesson")
                    assert answer.get("number", before["number"]) == before["number"], message

        each()
    assert len(set(refused)) > 100
    with seated(server, made["table"]) as (_, after):
        assert after == before


def _answers(line: Line, text: str) -> list[dict[str, Any]]:
    """Send a message and return all answers, up to the fixed answer to a second one."""
    line.send(text)
    line.send('{"type": "end of the answers"}')
    found: list[dict[str, Any]] = []
    while True:
        answer = until(line, lambda _: True)
        if answer["type"] == "error" and "end of the answers" in answer["message"]:
            return found
        found.append(answer)
