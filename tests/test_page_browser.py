"""Pages in browsers with missing features, on failing networks, and with double clicks."""

from __future__ import annotations

import json
import random
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.browser import Player, decide_by_key, sit
from tests.support.server import Server, seated, serving, until

pytestmark = pytest.mark.thorough

BLOCKED = """
for (const name of ["sessionStorage", "localStorage"]) {
  Object.defineProperty(window, name, { get() { throw new DOMException("Access is denied.", "SecurityError"); } });
}
"""


@pytest.fixture(scope="module")
def with_token(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("token"), "--host", "0.0.0.0") as running:
        yield running


def opened(browser: Any, address: str, script: str = "", width: int = 1300) -> Any:
    """A page with a script that runs before its own; `wrong` has the errors of its scripts."""
    context = browser.new_context(viewport={"width": width, "height": 900})
    if script:
        context.add_init_script(script)
    context.add_init_script("try { localStorage['table.rules'] ??= 'seen' } catch {}")
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.wrong = []
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.goto(address)
    return page


# missing browser features


@pytest.mark.parametrize("path", ["", "/analysis", "/tournaments"])
def test_pages_live_without_storage(path: str, server: Server, browser: Any) -> None:
    page = opened(browser, server.address + path, BLOCKED)
    page.wait_for_selector("#tables li, #kept li, #tournaments li")
    assert page.is_visible("#unkept") == (path == "")
    assert page.wrong == []


def test_a_table_is_played_without_storage(server: Server, browser: Any) -> None:
    made = server.make("human", "random", game="helsinki")
    page = opened(browser, f"{server.address}/tables/{made['table']}", BLOCKED)
    page.click("#choices button >> text=Start on space 3")
    page.click("#armed button >> text=Yes")
    page.wait_for_selector("#log li >> text=started on space 3")
    assert "stores nothing" in page.inner_text("#unkept")
    assert page.wrong == []


def test_the_token_goes_from_page_to_page_without_storage(with_token: Server, browser: Any) -> None:
    page = opened(browser, with_token.page, BLOCKED)
    page.wait_for_selector("#chairs li")
    page.click("nav >> text=Tournaments")
    page.wait_for_selector("#tournaments li")
    page.click("nav >> text=Tables")
    page.wait_for_selector("#chairs li")
    page.click("#new button.main")
    page.wait_for_selector("#choices button, #picture svg")
    page.click("text=All tables")
    page.wait_for_selector("#tables li a")
    assert page.wrong == []


def test_a_new_tab_knows_the_token(with_token: Server, browser: Any) -> None:
    page = opened(browser, with_token.page)
    page.wait_for_selector("#chairs li")
    tab = page.context.new_page()
    tab.goto(with_token.address)
    tab.wait_for_selector("#chairs li")
    assert not tab.is_visible("#error")


def test_links_are_copied_over_plain_http_and_shown_again(server: Server, browser: Any) -> None:
    page = opened(browser, server.address, "Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.select_option("#chairs select >> nth=1", "human")
    page.check("[name=sharing][value=links]")
    page.wait_for_selector("#sharing >> text=Only this machine")
    page.click("#new button.main")
    page.wait_for_selector("#links a")
    links = page.eval_on_selector_all("#links a", "all => all.map(a => a.href)")
    assert "this machine only" in page.inner_text("#links")
    page.click("#links button >> nth=0")
    page.wait_for_selector("#links button >> text=Copied")
    page.evaluate("document.execCommand = () => false")
    page.click("#links button >> nth=1")
    page.wait_for_selector("#links li >> text=The link is selected")
    assert page.evaluate("getSelection().toString()") == links[1]
    page.reload()
    page.click("#tables button >> text=Links")
    page.wait_for_selector("#links a")
    assert page.eval_on_selector_all("#links a", "all => all.map(a => a.href)") == links
    assert page.wrong == []


@pytest.mark.parametrize("name", ["matchMedia", "ResizeObserver", "WebSocket"])
def test_a_table_says_what_the_browser_lacks(name: str, server: Server, browser: Any) -> None:
    made = server.make("human", "random", game="helsinki")
    page = opened(browser, f"{server.address}/tables/{made['table']}", f"delete window.{name}")
    if name == "WebSocket":
        page.wait_for_selector("#error:not([hidden])")
        assert "WebSocket" in page.inner_text("#error")
    else:
        page.wait_for_selector("#choices button")
    assert page.wrong == []


def test_a_server_that_does_not_answer_is_named(server: Server, browser: Any) -> None:
    page = opened(browser, server.address)
    page.wait_for_selector("#chairs li")
    page.context.set_offline(True)
    page.click("#new button.main")
    page.wait_for_selector("#error:not([hidden])")
    assert "does not respond" in page.inner_text("#error")


# network failures


class Network:
    """A proxy between a browser and a server that can drop data silently."""

    def __init__(self, port: int) -> None:
        self._port, self._lines = port, list[threading.Thread]()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        #: The open directions; a connection that met a closed one stays dead, as behind a router.
        self.up = self.down = True
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near = self._listening.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near: socket.socket) -> None:
        with near, socket.create_connection(("127.0.0.1", self._port)) as far:
            dead = {near: False, far: False}
            while True:
                for one in select.select([near, far], [], [])[0]:
                    data = one.recv(65536)
                    if not data:
                        return
                    dead[one] |= not (self.up if one is near else self.down)
                    if not dead[one]:
                        (far if one is near else near).sendall(data)

    def close(self) -> None:
        self._listening.close()


@contextmanager
def network(server: Server) -> Iterator[Network]:
    between = Network(int(server.address.rsplit(":", 1)[1]))
    yield between
    between.close()


@pytest.mark.parametrize("arrives", [False, True])
def test_a_click_into_a_silent_network_counts_once(arrives: bool, server: Server, browser: Any) -> None:
    made = server.make("human", "human", game="helsinki", sharing="links")
    link = made["links"][0]["link"]
    with network(server) as between:
        player = Player(browser, between.address + link)
        player.turn()
        between.up, between.down = arrives, False
        player.page.locator("#choices button").get_by_text("Start on space 5", exact=True).click()
        player.page.wait_for_selector("body.waiting", timeout=10_000)
        player.page.wait_for_selector("body.cut", timeout=30_000)
        assert "No connection" in player.page.inner_text("#line")
        assert player.page.locator("#choices button:not(:disabled)").count() == 0
        between.up = between.down = True
        view = player.wait(lambda new: new["number"] == 1)
        player.page.wait_for_function("() => !document.body.matches('.cut, .waiting')")
        assert [one["words"] for one in view["log"]] == ["started on space 5"]
    with seated(server, made["table"], made["links"][1]["link"].partition("key=")[2]) as (_, view):
        assert view["number"] == 1


def test_what_comes_twice_is_done_once(server: Server) -> None:
    table = server.make("human", "random", game="helsinki")["table"]
    with seated(server, table) as (line, view):
        start = {"type": "decide", "number": 0, "action": view["decisions"][5]["id"], "once": "a"}
        line.send(json.dumps(start))
        until(line, lambda new: new == {"type": "done", "once": "a"})
        line.send(json.dumps({"type": "takeback", "number": 1, "to": 0, "once": "b"}))
        until(line, lambda new: new == {"type": "done", "once": "b"})
        line.send(json.dumps(start))  # it was undone, so the page must not send it again
        until(line, lambda new: new == {"type": "done", "once": "a"})
        line.send(json.dumps({"type": "ping"}))
        until(line, lambda new: new == {"type": "pong"})
    with seated(server, table) as (_, view):
        assert view["number"] == 0


def test_several_decisions_are_all_carried_out_or_none(server: Server) -> None:
    table = server.make("human", "random", game="helsinki")["table"]
    with seated(server, table) as (line, view):
        action = view["decisions"][0]["id"]
        line.send(json.dumps({"type": "decide", "number": 0, "action": action, "more": [action]}))
        assert "not legal" in until(line, lambda new: new["type"] == "error")["message"]
    with seated(server, table) as (_, view):
        assert view["number"] == 0


# double clicks and keyboard layouts


def test_a_double_click_asks_about_what_was_clicked(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game="helsinki", confirm="yes")
    item = player.page.locator("#choices button").get_by_text("Start on space 5", exact=True)
    before = item.bounding_box()
    item.dblclick()
    assert "Start on space 5" in player.page.inner_text("#armed")
    assert item.bounding_box() == before
    assert player.view["number"] == 0


@pytest.mark.parametrize("key", ["5", "Enter", "Space"])
def test_the_same_key_twice_is_no_answer(key: str, server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game="helsinki", confirm="yes")
    if key != "5":
        player.page.locator("#choices button >> nth=5").focus()
    player.press(key, key)
    player.page.wait_for_timeout(300)
    assert "Start on space 5" in player.page.inner_text("#armed")
    assert player.view["number"] == 0
    player.press("Escape")
    assert not player.page.is_visible("#armed")


@pytest.mark.parametrize(
    ("key", "code"), [("6", "Digit6"), ("-", "Digit6"), ("٦", "Digit6"), ("६", ""), ("６", ""), ("6", "Numpad6")]
)
def test_digits_of_every_keyboard_mean_what_is_said_with_them(
    key: str, code: str, server: Server, browser: Any
) -> None:
    player = sit(browser, server, "human", "random", game="helsinki", confirm="yes")
    labels = player.page.eval_on_selector_all("#choices button", "all => all.map(one => one.textContent)")
    assert labels == [f"{n}Start on space {n}" for n in range(8)]
    player.page.evaluate(
        "init => document.body.dispatchEvent(new KeyboardEvent('keydown', init))",
        {"key": key, "code": code, "bubbles": True},
    )
    assert "Start on space 6" in player.page.inner_text("#armed")


# long texts and missing pages


@pytest.mark.parametrize("width", [390, 1440])
def test_long_names_do_not_scroll_the_page(width: int, server: Server, browser: Any) -> None:
    name = "W" * 40
    _, made, _ = server.ask(
        "POST",
        "/api/tables",
        {"chairs": [{"player": "human", "name": name}, {"player": "human", "name": name}], "title": "M" * 60},
    )
    player = Player(browser, f"{server.address}/tables/{made['table']}", width=width)
    player.page.click("#handover button")
    player.turn()
    decide_by_key(player, random.Random(1))
    for address in (player.page.url, server.address):
        player.page.goto(address)
        player.page.wait_for_selector("#seats li, #tables li")
        assert player.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_long_list_is_shown_in_parts(server: Server, browser: Any) -> None:
    for _ in range(60):
        server.make("human", "random", game="helsinki")
    page = opened(browser, server.address)
    page.wait_for_selector("#tables .more")
    assert page.locator("#tables li:not(.more)").count() == 25
    assert page.evaluate("document.documentElement.scrollHeight") < 4000
    page.click("#tables .more button")
    page.wait_for_selector("#tables li:not(.more) >> nth=49")
    assert page.locator("#tables li:not(.more)").count() == 50


@pytest.mark.parametrize("path", ["nothing/here", "tables/nothing"])
def test_addresses_without_a_page(path: str, server: Server, browser: Any) -> None:
    page = opened(browser, f"{server.address}/{path}")
    assert page.inner_text("h1") == "Page not found"
    page.click("nav >> text=Tables")
    page.wait_for_selector("#chairs li")


def test_a_closed_table_shows_why_and_nothing_else(server: Server, browser: Any) -> None:
    made = server.make("human", "human", sharing="links")
    page = opened(browser, f"{server.address}/tables/{made['table']}#key=wrong")
    page.wait_for_selector("#error:not([hidden])")
    assert "open the link" in page.inner_text("#act")
    assert not page.is_visible("#log")
    page.click("#act a")
    page.wait_for_selector("#chairs li")


def test_a_table_is_printed_without_its_controls(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game="helsinki")
    player.page.emulate_media(media="print")
    assert player.page.is_visible("#picture svg")
    assert player.page.is_visible("#seats")
    assert player.page.locator("button:visible, input:visible, select:visible").count() == 0


def test_one_of_something_is_said_in_the_singular(server: Server, browser: Any) -> None:
    page = opened(browser, server.address)
    said = page.evaluate("import('/static/dom.js').then(({ counted }) => [0, 1, 2].map(n => counted(n, 'decision')))")
    assert said == ["0 decisions", "1 decision", "2 decisions"]


def test_a_wide_window_is_used(server: Server, browser: Any) -> None:
    player = Player(browser, server.address, width=1920, height=1080)
    page = player.page
    page.wait_for_selector(".game svg")
    resume, form = (page.locator(one).bounding_box() for one in ("section:has(#tables)", "#new"))
    assert resume["y"] == form["y"] < 540, "both are visible without scrolling"
    assert resume["x"] + resume["width"] < form["x"]
    page.click(".game .learn >> nth=0")
    page.wait_for_selector("#lesson .told")
    picture = page.locator("#picture > svg").bounding_box()
    assert picture["y"] + picture["height"] <= 1080, "the picture is not cut off below the lesson"
    assert player.wrong == []
