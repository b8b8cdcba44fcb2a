"""The leaderboard page of a gauntlet: its opponents and the players rated against them.

Certificates of rated players are stored in a folder named after the page, in a subfolder named after the gauntlet, such
as ``docs/leaderboard/helsinki/net.json``. The rows are generated from the certificates.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helsinki_env.agents.registry import is_code
from helsinki_env.data import read_json
from helsinki_env.evaluation.gauntlet.errors import GauntletError
from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet
from helsinki_env.evaluation.gauntlet.reference_ratings import ReferenceRatings
from helsinki_env.evaluation.gauntlet.report import opponents_table, rated_table
from helsinki_env.evaluation.gauntlet.verify import read_certificate
from helsinki_env.utils.files import atomic_write, hold_lock_file, is_file, remove_leftovers, write_json
from helsinki_env.utils.markdown import code_span, replace_section

__all__ = ["Leaderboard"]

_LONGEST = 80


@dataclass(frozen=True)
class Leaderboard:
    """A page with two tables for a gauntlet.

    Each table lies between the lines ``<!-- written: NAME -->`` and ``<!-- end: NAME -->``. NAME is the gauntlet's name
    for the opponents, and that name followed by ``, rated`` for the rated players.

    Attributes:
        path: path of the page.
        gauntlet: the gauntlet.
    """

    path: Path
    gauntlet: Gauntlet

    @property
    def folder(self) -> Path:
        """Folder of the certificates of this gauntlet, relative to the page itself, not to a link to it."""
        return self.path.resolve().with_suffix("") / self.gauntlet.name

    def file_of(self, player: str) -> Path:
        """Return the path of a player's certificate, whether or not it exists."""
        plain = re.sub(r"[^A-Za-z0-9+]+", "-", player)[:_LONGEST].strip("-")
        if is_code(player):  # command lines may differ only in characters that file names replace
            plain += "-" + hashlib.sha256(player.encode()).hexdigest()[:8]
        return self.folder / f"{plain}.json"

    # the opponents

    def check_opponents_table(self) -> None:
        """Raise GauntletError if the page has no table for the opponents."""
        self._page_with({self.gauntlet.name: ""})

    def write_opponents_table(self, pins: ReferenceRatings) -> list[str]:
        """Update the table of the opponents, and that of the rated players if the page has one.

        Returns:
            Problems of the certificates that lost their row because they belong to another scale.
        """
        with self._alone():
            found, problems = self._certificates(pins)
            tables = {self.gauntlet.name: opponents_table(self.gauntlet, pins)}
            if f"<!-- written: {self._rated} -->" in self._text():
                tables[self._rated] = rated_table(pins, found.values())
            self._write(tables)
        return problems

    # the rated players

    def check_rated(self, pins: ReferenceRatings, player: str, digest: str | None, games: int) -> None:
        """Check, before any game is played, that a player's certificate can be saved and its row written.

        Args:
            pins: the reference ratings.
            player: name of the player.
            digest: digest of the files that it is loaded from.
            games: number of games to play.

        Raises:
            GauntletError: if the page has no table for the player or rows without a certificate; if another player's
                certificate uses its file name; if the player's own certificate has more games; or if another
                certificate is inconsistent or belongs to another version of the gauntlet.
        """
        if not self.path.suffix:
            raise GauntletError(f"found {self.path}, expected a page whose name has an ending, such as players.md")
        self._page_with({self._rated: ""})
        path = self.file_of(player)
        found, problems = self._certificates(pins, but=path)
        if problems:
            raise GauntletError("\n".join(problems))
        if path.exists():
            self._check_former(path, pins, player, digest, games)
        known = {code_span(one["certified"]["player"]) for one in found.values()} | {code_span(player)}
        for line in replace_section(self._text(), self._rated).splitlines()[2:]:
            if not any(line.startswith(f"| {name} |") for name in known):
                raise GauntletError(
                    f"{self.path}: found the row {line[:40]!r}... without a certificate in {self.folder}, expected one "
                    "for every row (bring it back, or remove the row)"
                )

    def write_rated(self, pins: ReferenceRatings, certificate: Mapping[str, Any]) -> Path:
        """Save a player's certificate, replacing its previous one, and update the table of the rated players.

        Returns:
            Path of the certificate.

        Raises:
            GauntletError: as for `check_rated`, or if another process is writing.
        """
        certified = certificate["certified"]
        path = self.file_of(certified["player"])
        with self._alone():
            remove_leftovers(self.folder)
            self.check_rated(pins, certified["player"], certified["player_digest"], certified["rating"]["games"])
            others, _ = self._certificates(pins, but=path)
            table = rated_table(pins, [*others.values(), certificate])
            write_json(path, certificate)
            self._write({self._rated: table})
        return path

    def rated(self, pins: ReferenceRatings) -> str:
        """Return the table of the rated players from their certificates.

        Raises:
            GauntletError: if a certificate is inconsistent or belongs to another version of the gauntlet.
        """
        found, problems = self._certificates(pins)
        if problems:
            raise GauntletError("\n".join(problems))
        return rated_table(pins, found.values())

    def _alone(self) -> AbstractContextManager[None]:
        """Lock the page, which has the tables of all gauntlets, for reading and writing."""
        busy = GauntletError(f"{self.path}: found another process that writes there (start again with the same words)")
        return hold_lock_file(self.path.parent / f".{self.path.name}.lock", busy)

    @property
    def _rated(self) -> str:
        return f"{self.gauntlet.name}, rated"

    def _certificates(
        self, pins: ReferenceRatings, but: Path | None = None
    ) -> tuple[dict[Path, Mapping[str, Any]], list[str]]:
        """Return the valid certificates, and the problems of the others; skip the path `but`."""
        found: dict[Path, Mapping[str, Any]] = {}
        problems = []
        for path in sorted(self.folder.glob("*.json")):
            if path != but:
                try:
                    found[path] = read_certificate(path, self.gauntlet, pins)
                except (GauntletError, OSError) as problem:
                    problems.append(f"{problem} (remove {path.name}, then rate that player anew)")
        return found, problems

    def _check_former(self, path: Path, pins: ReferenceRatings, player: str, digest: str | None, games: int) -> None:
        remedy = "move the file away first if its row shall go"
        if not is_file(path):
            raise GauntletError(f"{path}: found a folder, expected a file or nothing ({remedy})")
        try:
            former = read_json(path, GauntletError).mapping()["certified"].mapping()
        except GauntletError as problem:
            raise GauntletError(f"{problem} ({remedy})") from None
        if former["player"].value != player:
            former["player"].fail(f"{player!r}, whose file it is", remedy)
        if former["player_digest"].value != digest:
            former["player_digest"].fail(f"{digest!r}, that of {player}", remedy)
        if former["pins_digest"].value == pins.digest and former["rating"].mapping()["games"].integer(1) > games:
            former["rating"]["games"].fail(f"at most the {games:,} of this stage", remedy)

    def _text(self) -> str:
        if not is_file(self.path):
            raise GauntletError(f"found no file {self.path}, expected the page whose table is written anew")
        try:
            return self.path.read_text(encoding="utf-8")
        except UnicodeDecodeError as problem:
            raise GauntletError(f"{self.path}: found a page that is not in UTF-8: {problem}") from None

    def _page_with(self, tables: Mapping[str, str]) -> str:
        page = self._text()
        try:
            for name, table in tables.items():
                page = replace_section(page, name, table)
        except ValueError as problem:
            raise GauntletError(f"{self.path}: {problem}") from None
        return page

    def _write(self, tables: Mapping[str, str]) -> None:
        page = self._page_with(tables)
        if b"\r\n" in self.path.read_bytes():
            page = page.replace("\n", "\r\n")
        with atomic_write(self.path, follow=True) as file:
            file.write(page.encode())
