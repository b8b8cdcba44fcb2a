"""The leaderboard page of a gauntlet, which lists its opponents and the players rated against them.

Certificates of rated players are stored in a folder named after the page, in a subfolder named after the gauntlet, such
as ``docs/leaderboard/helsinki/net.json``. The table rows are generated from the certificates.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from helsinki_env.agents.registry import is_code
from helsinki_env.agents.replaced_actions import ReplacedActions
from helsinki_env.data import Node, UserError, read_json
from helsinki_env.evaluation.gauntlet import GauntletError
from helsinki_env.evaluation.gauntlet.certificate import read_certificate
from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet, ReferenceRatings
from helsinki_env.utils.files import atomic_write, hold_lock_file, is_file, remove_leftovers, write_json
from helsinki_env.utils.markdown import code_span, escape_markdown, markdown_table, replace_section, table_row

#: Maximum length of a file name without its extension.
_MAX_NAME = 80
_HEAD = ("player", "rating", "95% interval", "games", "s/action", "replaced")


def certificate_name(player: str) -> str:
    """Return the file name of a player's certificate, without its extension."""
    plain = re.sub(r"[^A-Za-z0-9+]+", "-", player)[:_MAX_NAME].strip("-")
    if is_code(player):  # command lines may differ only in characters replaced above
        plain += "-" + hashlib.sha256(player.encode()).hexdigest()[:8]
    return plain


#: Remedy if a certificate must not be overwritten.
_TO_REPLACE = "to replace its row, move the file away first"


class CertificatePage:
    """A page with tables generated from the certificates in a folder named after the page.

    Each table lies between the lines ``<!-- written: NAME -->`` and ``<!-- end: NAME -->``.
    """

    error: type[UserError]
    example: str  # example path of a page, for error messages

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name  # name of the gauntlet or suite

    @property
    def folder(self) -> Path:
        """Folder with the certificates of the gauntlet or suite, next to the page (for a link, next to its target)."""
        return self.path.resolve().with_suffix("") / self.name

    def file_of(self, player: str) -> Path:
        """Return the path of a player's certificate."""
        return self.folder / f"{certificate_name(player)}.json"

    def previous(self, player: str, digest: str | None) -> Node | None:
        """Return the certified data in a player's file, or None if there is no file.

        Raise an error if it is not a certificate or that of a player with another name or digest, because it would be
        lost.
        """
        path = self.file_of(player)
        if not path.exists():
            return None
        if not is_file(path):
            raise self.error(f"{path}: found a folder, expected a file or nothing; {_TO_REPLACE}")
        try:
            previous = read_json(path, self.error).mapping()["certified"].mapping()
        except self.error as problem:
            raise self.error(f"{problem}; {_TO_REPLACE}") from None
        if previous["player"].value != player:
            previous["player"].fail(f"{player!r} by the file name", _TO_REPLACE)
        if previous["player_digest"].value != digest:
            previous["player_digest"].fail(f"{digest!r}, that of {player}", _TO_REPLACE)
        return previous

    def lock(self) -> AbstractContextManager[None]:
        """Lock the page, which is shared by all gauntlets or suites."""
        busy = self.error(f"{self.path}: found another process that writes to it; run the same command again")
        return hold_lock_file(self.path.parent / f".{self.path.name}.lock", busy)

    def text(self) -> str:
        """Return the text of the page."""
        if not self.path.suffix:
            raise self.error(f"page: found {self.path}, expected a file name with an extension, such as {self.example}")
        if not is_file(self.path):
            raise self.error(f"{self.path}: found no file, expected the page of the leaderboard")
        try:
            return self.path.read_text(encoding="utf-8")
        except UnicodeDecodeError as problem:
            raise self.error(f"{self.path}: found text that is not UTF-8: {problem}") from None

    def with_tables(self, tables: Mapping[str, str]) -> str:
        """Return the text of the page with tables replaced, given their new content by name."""
        page = self.text()
        try:
            for name, table in tables.items():
                page = replace_section(page, name, table)
        except ValueError as problem:
            raise self.error(f"{self.path}: {problem}") from None
        return page

    def write_tables(self, tables: Mapping[str, str]) -> None:
        """Replace tables of the page, given their new content by name. Line endings are preserved."""
        page = self.with_tables(tables)
        if b"\r\n" in self.path.read_bytes():
            page = page.replace("\n", "\r\n")
        with atomic_write(self.path, follow=True) as file:
            file.write(page.encode())


class Leaderboard(CertificatePage):
    """A page with two tables per gauntlet: ``NAME`` for the opponents, and ``NAME, rated`` for the rated players."""

    error, example = GauntletError, "docs/leaderboard.md"

    def __init__(self, path: Path, gauntlet: Gauntlet) -> None:
        super().__init__(path, gauntlet.name)
        self.gauntlet, self._rated = gauntlet, f"{gauntlet.name}, rated"

    def check_opponents_table(self) -> None:
        """Raise GauntletError if the page has no table for the opponents."""
        self.with_tables({self.gauntlet.name: ""})

    def write_opponents_table(self, pins: ReferenceRatings) -> list[str]:
        """Update both tables and return error messages for invalid certificates, which lose their row."""
        with self.lock():
            certificates, problems = self._certificates(pins)
            tables = {self.gauntlet.name: opponents_table(self.gauntlet, pins)}
            if f"<!-- written: {self._rated} -->" in self.text():
                tables[self._rated] = rated_table(pins, certificates.values())
            self.write_tables(tables)
        return problems

    def check_rated(self, pins: ReferenceRatings, player: str, digest: str | None, games: int) -> None:
        """Check, before any games are played, that a player's certificate can be saved and its row written.

        Raises:
            GauntletError: if the page has no table, a row has no certificate, another player has the same file name,
                the player's existing certificate has more games, or another certificate is invalid or outdated.
        """
        self.with_tables({self._rated: ""})
        path = self.file_of(player)
        others, problems = self._certificates(pins, excluded=path)
        if problems:
            raise GauntletError("\n".join(problems))
        if (previous := self.previous(player, digest)) is not None:
            same = previous["pins_digest"].value == pins.digest
            if same and previous["rating"].mapping()["games"].integer(1) > games:
                previous["rating"]["games"].fail(f"at most the {games:,} of this stage", _TO_REPLACE)
        known = {code_span(one["certified"]["player"]) for one in others.values()} | {code_span(player)}
        for line in replace_section(self.text(), self._rated).splitlines()[2:]:
            if not any(line.startswith(f"| {name} |") for name in known):
                raise GauntletError(
                    f"{self.path}: found the row {line[:40]!r}... without a certificate in {self.folder}; restore the "
                    "certificate, or remove the row"
                )

    def write_rated(self, pins: ReferenceRatings, certificate: Mapping[str, Any]) -> Path:
        """Save a player's certificate, update the table of rated players, and return the path of the certificate."""
        certified = certificate["certified"]
        path = self.file_of(certified["player"])
        with self.lock():
            remove_leftovers(self.folder)
            self.check_rated(pins, certified["player"], certified["player_digest"], certified["rating"]["games"])
            others, _ = self._certificates(pins, excluded=path)
            table = rated_table(pins, [*others.values(), certificate])
            write_json(path, certificate)
            self.write_tables({self._rated: table})
        return path

    def _certificates(
        self, pins: ReferenceRatings, excluded: Path | None = None
    ) -> tuple[dict[Path, Mapping[str, Any]], list[str]]:
        """Return the valid certificates by path, and error messages for the invalid ones."""
        certificates: dict[Path, Mapping[str, Any]] = {}
        problems = []
        for path in sorted(self.folder.glob("*.json")):
            if path != excluded:
                try:
                    certificates[path] = read_certificate(path, self.gauntlet, pins)
                except (GauntletError, OSError) as problem:
                    problems.append(f"{problem}; remove {path.name}, then rate that player again")
        return certificates, problems


def _head(matchups: Iterable[str]) -> list[str]:
    return [*_HEAD, *map(escape_markdown, matchups), "by"]


def format_rating_interval(rating: Mapping[str, Any]) -> str:
    """Format the interval of a rating, whose endpoints may be infinite."""
    low, high = rating["low"], rating["high"]
    if low is None:
        return "any" if high is None else f"at most {high:.0f}"
    return f"at least {low:.0f}" if high is None else f"{low:.0f} to {high:.0f}"


def opponents_table(gauntlet: Gauntlet, pins: ReferenceRatings) -> str:
    """Return the table of a gauntlet's opponents, strongest first.

    Only opponents that play in all matchups have an overall rating.
    """
    rows = {}
    for player in dict.fromkeys(player for fixed in pins.matchups.values() for player in fixed.players):
        ratings = [pins.data["matchups"][name]["players"].get(player) for name in pins.matchups]
        overall = f"{pins.mean(player):.0f}" if all(ratings) else ""
        games = sum(rating["games"] for rating in ratings if rating)
        cells = ["" if rating is None else f"{rating['rating']:.0f}" for rating in ratings]
        if player != gauntlet.zero:
            cells = [
                f"{cell} ({format_rating_interval(rating)})" if rating else ""
                for cell, rating in zip(cells, ratings, strict=True)
            ]
        version = f"version {gauntlet.version}"
        rows[player] = [code_span(player), overall, "fixed", f"{games:,}", "", "", *cells, version]
    order = sorted(rows, key=pins.mean, reverse=True)
    return markdown_table(_head(pins.matchups), [rows[player] for player in order]) + "\n"


def rated_table(pins: ReferenceRatings, certificates: Iterable[Mapping[str, Any]]) -> str:
    """Return the table of certified players, strongest first."""
    order = sorted(certificates, key=lambda data: data["certified"]["rating"]["rating"], reverse=True)
    return "\n".join([markdown_table(_head(pins.matchups), []), *map(certificate_row, order)]) + "\n"


def certificate_row(data: Mapping[str, Any]) -> str:
    """Return the table row for a certificate."""
    certified, measured = data["certified"], data["measured"]
    rating = certified["rating"]
    made_by = [f"version {certified['version']}", certified["stage"], *["sealed"] * ("sealed" in certified)]
    return table_row(
        [
            code_span(certified["player"]),
            f"{rating['rating']:.0f}",
            format_rating_interval(rating),
            f"{rating['games']:,}",
            f"{measured['seconds_per_decision']:.2g}",
            ReplacedActions.from_mapping(measured).summary or "none",
            *(f"{one['rating']:.0f} ({format_rating_interval(one)})" for one in certified["matchups"]),
            ", ".join([*made_by, code_span(certified["digest"])]),
        ]
    )
