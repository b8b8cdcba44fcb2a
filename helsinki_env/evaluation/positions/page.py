"""The leaderboard page of the position suites: a table for each suite, generated from certificates.

Certificates are stored in a folder named after the page, in a subfolder named after the suite, such as
``docs/positions/helsinki/net.json``. A table lies between the lines ``<!-- written: NAME, positions -->`` and
``<!-- end: NAME, positions -->``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helsinki_env.agents.replaced_actions import ReplacedActions
from helsinki_env.evaluation.gauntlet.leaderboard import certificate_name
from helsinki_env.evaluation.positions import PositionsError
from helsinki_env.evaluation.positions.certificate import read_certificate
from helsinki_env.evaluation.positions.suite import DIFFICULTIES, Suite
from helsinki_env.utils.files import atomic_write, hold_lock_file, is_file, write_json
from helsinki_env.utils.markdown import code_span, markdown_table, replace_section, table_row

__all__ = ["PositionsPage", "positions_row", "positions_table", "regret_text"]

_HEAD = ("player", "regret", "95% interval", "best", *DIFFICULTIES, "s/action", "replaced", "by")


@dataclass(frozen=True)
class PositionsPage:
    """A page with a table for a suite."""

    path: Path
    suite: Suite

    @property
    def folder(self) -> Path:
        """Folder of the certificates of this suite."""
        return self.path.resolve().with_suffix("") / self.suite.name

    def check(self) -> None:
        """Check, before any work, that the page has a table for the suite; PositionsError if not."""
        self._with(positions_table([]))

    def write(self, certificate: Mapping[str, Any]) -> Path:
        """Save a player's certificate, update the table, and return the certificate's path."""
        path = self.folder / f"{certificate_name(certificate['certified']['player'])}.json"
        busy = PositionsError(f"{self.path}: found another process that writes to it; run the same command again")
        with hold_lock_file(self.path.parent / f".{self.path.name}.lock", busy):
            others = [
                read_certificate(other, self.suite) for other in sorted(self.folder.glob("*.json")) if other != path
            ]
            write_json(path, certificate)
            with atomic_write(self.path, follow=True) as file:
                file.write(self._with(positions_table([*others, certificate])).encode())
        return path

    def table(self) -> str:
        """Return the table that follows from the certificates; PositionsError if one is invalid."""
        return positions_table([read_certificate(path, self.suite) for path in sorted(self.folder.glob("*.json"))])

    def _with(self, table: str) -> str:
        if not self.path.suffix or not is_file(self.path):
            raise PositionsError(f"page: found {self.path}, expected a page such as docs/positions.md")
        try:
            return replace_section(self.path.read_text(encoding="utf-8"), f"{self.suite.name}, positions", table)
        except ValueError as problem:
            raise PositionsError(f"{self.path}: {problem}") from None


def positions_table(certificates: list[Mapping[str, Any]]) -> str:
    """Return the table of the certified players, smallest regret first."""
    order = sorted(certificates, key=lambda data: data["certified"]["overall"]["regret"])
    return "\n".join([markdown_table(_HEAD, []), *map(positions_row, order)]) + "\n"


def positions_row(data: Mapping[str, Any]) -> str:
    """Return the row of a certificate."""
    certified, measured = data["certified"], data["measured"]
    overall, groups = certified["overall"], {group["group"]: group for group in certified["groups"]}
    levels = [groups.get(f"difficulty: {level}") for level in DIFFICULTIES]
    return table_row(
        [
            code_span(certified["player"]),
            f"{100 * overall['regret']:.2f}",
            regret_text(overall),
            f"{overall['best']:.1%}",
            *("" if level is None else f"{100 * level['regret']:.2f}" for level in levels),
            f"{measured['seconds_per_decision']:.2g}",
            ReplacedActions.from_mapping(measured).summary or "none",
            f"version {certified['version']}, {code_span(certified['digest'])}",
        ]
    )


def regret_text(result: Mapping[str, float]) -> str:
    """Return the interval of a mean regret in percentage points of win probability."""
    return f"{100 * result['low']:.2f} to {100 * result['high']:.2f}"
