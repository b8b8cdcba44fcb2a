"""The page that compares players on a gauntlet's scale: its opponents, and whoever was rated against them.

Each rated player's certificate lies beside the page, in a folder with its name and in that one of the gauntlet, such as
``docs/leaderboard/helsinki/net.json``. The rows are what the certificates say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.gauntlet.errors import GauntletError
from agents.gauntlet.gauntlet import Gauntlet
from agents.gauntlet.pins import Pins
from agents.gauntlet.report import pinned_table, rated_table
from agents.gauntlet.verify import read_certificate
from helsinki_env.data import read_json
from helsinki_env.files import is_file, replacing, write_json
from helsinki_env.markdown import section

__all__ = ["Leaderboard"]

_LONGEST = 80


@dataclass(frozen=True)
class Leaderboard:
    """A page with two tables for a gauntlet.

    They stand between the lines ``<!-- written: NAME -->`` and ``<!-- end: NAME -->``, where the name is the gauntlet's
    for its opponents, and the gauntlet's with ``, rated`` behind it for the rated players.

    Attributes:
        path: of the page.
        gauntlet: whose tables are written.
    """

    path: Path
    gauntlet: Gauntlet

    @property
    def folder(self) -> Path:
        """Where the certificates of this gauntlet lie."""
        return self.path.with_suffix("") / self.gauntlet.name

    def file_of(self, player: str) -> Path:
        """Return where the certificate of a player lies or would lie."""
        plain = re.sub(r"[^A-Za-z0-9+]+", "-", player)[:_LONGEST].strip("-")
        return self.folder / f"{plain or 'player'}.json"

    def check_pinned(self) -> None:
        """Raise GauntletError if the page has no place for the opponents."""
        self._page_with(self.gauntlet.name, "")

    def write_pinned(self, pins: Pins) -> None:
        """Write the table of the opponents anew."""
        self._write(self.gauntlet.name, pinned_table(self.gauntlet, pins))

    def check_rated(self, pins: Pins, player: str, games: int) -> None:
        """See to it, before anything is played, that a player's certificate can be kept and its row be written.

        Args:
            pins: the scale.
            player: who is rated.
            games: how many are played for it.

        Raises:
            GauntletError: if the page has no place for it, the player's former certificate has more games, or another
                player's has that name; or one of the others was changed or is not of this version of the gauntlet.
        """
        self._page_with(self._rated, "")
        path = self.file_of(player)
        self._certificates(pins, but=path)
        if is_file(path):
            former = read_json(path, GauntletError).mapping()["certified"].mapping()
            if former["player"].value != player:
                former["player"].fail(repr(player), "another player's certificate has that name: rename either player")
            if former["pins_digest"].value == pins.digest and former["rating"].mapping()["games"].integer(1) > games:
                remedy = "a rating from more games stays: play the stage of that one, or remove the file"
                former["rating"]["games"].fail(f"at most the {games:,} of this stage", remedy)

    def write_rated(self, pins: Pins, certificate: Mapping[str, Any]) -> Path:
        """Keep a player's certificate, in place of its former one, and write the table of the rated players anew.

        Returns:
            Where the certificate lies now.

        Raises:
            GauntletError: as for `check_rated`.
        """
        player = certificate["certified"]["player"]
        self.check_rated(pins, player, certificate["certified"]["rating"]["games"])
        path = self.file_of(player)
        write_json(path, certificate)
        self._write(self._rated, self.rated(pins))
        return path

    def rated(self, pins: Pins) -> str:
        """Return the table of the rated players as their certificates have it.

        Raises:
            GauntletError: if one of them was changed or is not of this version of the gauntlet.
        """
        return rated_table(pins, self._certificates(pins))

    @property
    def _rated(self) -> str:
        return f"{self.gauntlet.name}, rated"

    def _certificates(self, pins: Pins, but: Path | None = None) -> list[Mapping[str, Any]]:
        remedy = "rate the player anew, or remove the file"
        return [
            read_certificate(path, self.gauntlet, pins, remedy)
            for path in sorted(self.folder.glob("*.json"))
            if path != but
        ]

    def _page_with(self, name: str, table: str) -> str:
        if not is_file(self.path):
            raise GauntletError(f"found no file {self.path}, expected the page whose table is written anew")
        try:
            return section(self.path.read_text(encoding="utf-8"), name, table)
        except ValueError as problem:
            raise GauntletError(f"{self.path}: {problem}") from None

    def _write(self, name: str, table: str) -> None:
        page = self._page_with(name, table)
        with replacing(self.path) as file:
            file.write(page.encode())
