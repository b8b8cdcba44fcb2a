"""The leaderboard page of a gauntlet: its opponents and the players rated against them.

Certificates of rated players are stored in a folder named after the page, in a subfolder named after the gauntlet, such
as ``docs/leaderboard/helsinki/net.json``. The rows are generated from the certificates.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helsinki_env.agents.registry import is_code
from helsinki_env.agents.replaced_actions import ReplacedActions
from helsinki_env.data import read_json
from helsinki_env.evaluation.gauntlet import GauntletError
from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet
from helsinki_env.evaluation.gauntlet.reference_ratings import ReferenceRatings
from helsinki_env.evaluation.gauntlet.verify import read_certificate
from helsinki_env.utils.files import atomic_write, hold_lock_file, is_file, remove_leftovers, write_json
from helsinki_env.utils.markdown import code_span, escape_markdown, markdown_table, replace_section, table_row

_LONGEST = 80


@dataclass(frozen=True)
class Leaderboard:
    """A page with two tables for a gauntlet.

    Each table lies between the lines ``<!-- written: NAME -->`` and ``<!-- end: NAME -->``. NAME is the gauntlet's name
    for the opponents, and that name followed by ``, rated`` for the rated players.
    """

    path: Path  # path of the page
    gauntlet: Gauntlet  # the gauntlet

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
        """Update the table of the opponents, and that of the rated players if the page has one."""
        with self._alone():
            found, problems = self._certificates(pins)
            tables = {self.gauntlet.name: opponents_table(self.gauntlet, pins)}
            if f"<!-- written: {self._rated} -->" in self._text():
                tables[self._rated] = rated_table(pins, found.values())
            self._write(tables)
        return problems

    # the rated players

    def check_rated(self, pins: ReferenceRatings, player: str, digest: str | None, games: int) -> None:
        """Check, before any game is played, that a player's certificate can be saved and its row written."""
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
        """Save a player's certificate, replacing its previous one, and update the table of the rated players."""
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
        """Return the table of the rated players from their certificates."""
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


_HEAD = ("player", "rating", "95 % interval", "games", "s/decision", "replaced")


def _head(tables: Iterable[str]) -> list[str]:
    return [*_HEAD, *map(escape_markdown, tables), "by"]


def format_rating_interval(rating: Mapping[str, Any]) -> str:
    """Format the interval of a rating."""
    low, high = rating["low"], rating["high"]
    if low is None:
        return "any" if high is None else f"at most {high:.0f}"
    return f"at least {low:.0f}" if high is None else f"{low:.0f} to {high:.0f}"


def opponents_table(gauntlet: Gauntlet, pins: ReferenceRatings) -> str:
    """Return the leaderboard table of a gauntlet's opponents, strongest first.

    Opponents that do not play in every matchup have no overall rating.
    """
    rows = {}
    for player in dict.fromkeys(player for fixed in pins.tables.values() for player in fixed.players):
        told = [(name, fixed.players) for name, fixed in pins.tables.items()]
        found = [pins.data["tables"][name]["players"][player] if player in known else None for name, known in told]
        rating = f"{pins.mean(player):.0f}" if all(found) else ""
        games = sum(one["games"] for one in found if one)
        zero = player == gauntlet.zero
        cells = [
            "" if one is None else f"{one['rating']:.0f}" + ("" if zero else f" ({format_rating_interval(one)})")
            for one in found
        ]
        rows[player] = [
            code_span(player),
            rating,
            "pinned",
            f"{games:,}",
            "",
            "",
            *cells,
            f"version {gauntlet.version}",
        ]
    order = sorted(rows, key=pins.mean, reverse=True)
    return markdown_table(_head(pins.tables), [rows[player] for player in order]) + "\n"


def rated_table(pins: ReferenceRatings, certificates: Iterable[Mapping[str, Any]]) -> str:
    """Return the leaderboard table of the certified players, strongest first."""
    order = sorted(certificates, key=lambda data: data["certified"]["rating"]["rating"], reverse=True)
    return "\n".join([markdown_table(_head(pins.tables), []), *map(certificate_row, order)]) + "\n"


def certificate_row(data: Mapping[str, Any]) -> str:
    """Return the row of a certificate for that table."""
    certified, measured = data["certified"], data["measured"]
    rating = certified["rating"]
    return table_row(
        [
            code_span(certified["player"]),
            f"{rating['rating']:.0f}",
            format_rating_interval(rating),
            f"{rating['games']:,}",
            f"{measured['seconds_per_decision']:.2g}",
            ReplacedActions.from_mapping(measured).summary or "none",
            *(f"{one['rating']:.0f} ({format_rating_interval(one)})" for one in certified["tables"]),
            f"version {certified['version']}, {certified['stage']}, {code_span(certified['digest'])}",
        ]
    )
