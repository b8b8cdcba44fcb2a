"""Links of seats in a real browser: the address for other machines, QR codes, and the links once more at the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from helsinki_env.web.qr import qr_path
from tests.support.browser import Player
from tests.support.server import Server, serving

pytestmark = pytest.mark.thorough


def begin(player: Player) -> list[str]:
    """Create a table for two people with links and return the links."""
    page = player.page
    page.wait_for_selector("#chairs select >> nth=1")
    page.select_option("#chairs select >> nth=1", "human")
    page.fill("#chairs input >> nth=0", "Ann")
    page.fill("#chairs input >> nth=1", "Bob")
    page.check("[name=sharing][value=links]")
    page.click("#new > button.main")
    page.wait_for_selector("#links a")
    return list(page.locator("#links a").all_inner_texts())


def codes(player: Player) -> list[tuple[str, str]]:
    player.page.wait_for_selector("#links .qr >> nth=1")
    shown = [player.page.locator("#links .qr").nth(i) for i in range(2)]
    return [(code.get_attribute("viewBox"), code.locator("path").nth(1).get_attribute("d")) for code in shown]


def test_links_for_other_machines_have_codes_and_are_shown_again(tmp_path: Path, browser: Any) -> None:
    with serving(tmp_path, "--host", "0.0.0.0") as server:
        assert server.process.stdout is not None
        network = server.process.stdout.readline().split()[-1].partition("#")[0].rstrip("/")
        assert urlsplit(network).hostname not in ("0.0.0.0", "127.0.0.1")
        player = Player(browser, server.page)
        links = begin(player)
        assert not player.page.is_visible("#here-only")
        assert all(link.startswith(f"{network}/tables/") and "&token=" in link for link in links)
        expected = [(f"0 0 {size} {size}", path) for size, path in map(qr_path, links)]
        assert codes(player) == expected
        assert "works on this machine only" not in player.page.inner_text("#links")
        here = [link.replace(network, server.address) for link in links]
        guest = Player(browser, here[1])
        assert guest.wait(lambda view: view["mine"])["mine"] == [1]
        assert not guest.page.is_visible("#invite"), "only the browser of the host has the links"
        player.page.goto(here[0])
        assert player.wait(lambda view: view["mine"])["mine"] == [0]
        player.page.click("#invite")
        assert codes(player) == expected
        assert list(player.page.locator("#links a").all_inner_texts()) == links
        player.press("Escape")
        assert not player.page.is_visible("#links")
        assert player.wrong == guest.wrong == []


def test_links_of_this_machine_say_so(server: Server, browser: Any) -> None:
    player = Player(browser, server.address)
    links = begin(player)
    assert player.page.is_visible("#here-only")
    assert all(link.startswith(f"{server.address}/tables/") for link in links)
    assert "work on this machine only" in player.page.inner_text("#links")
    assert player.page.locator(".qr").count() == 0
    assert server.ask("GET", "/api/host")[1] == {"address": ""}
    assert player.wrong == []


def test_texts_that_fit_no_code(server: Server) -> None:
    for text, status in (("x" * 213, 200), ("x" * 214, 422), ("", 422), ("ü" * 200, 400)):
        assert server.ask("POST", "/api/qr", {"text": text})[0] == status
