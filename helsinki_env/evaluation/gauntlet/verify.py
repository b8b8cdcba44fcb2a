"""Verify a certificate: recompute its results from the ranks, and replay a sample of its games."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

import helsinki_env
from helsinki_env.agents.registry import check_code, files_digest
from helsinki_env.agents.replaced_actions import ReplacedActions
from helsinki_env.data import Node, read_json, short_repr
from helsinki_env.evaluation.arena.plan import Plan, WorkUnit, environment_versions
from helsinki_env.evaluation.arena.workers import play_in_processes
from helsinki_env.evaluation.gauntlet import GauntletError
from helsinki_env.evaluation.gauntlet.certificate import (
    COUNTED_PREFIX,
    decode_ranks,
    games_digest,
    gauntlet_results,
    work_unit_entry,
)
from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet
from helsinki_env.evaluation.gauntlet.reference_ratings import ReferenceRatings

#: Relative tolerance for rounded numbers from another machine.
_TOLERANCE = 1e-4
_MAX_VALUE = 1e6
_REMEDY = "use the version that made the certificate"


@dataclass(frozen=True)
class UnverifiedCertificate:
    """A consistent certificate whose games have yet to be replayed."""

    path: Path
    player: str  # replays the games
    named: str  # the player that the certificate names
    plan: Plan
    rating: dict[str, Any]  # the certified rating with its interval
    package: str  # version of the package that played
    _chunks: tuple[dict[str, Any], ...]

    def sample(self, games: int, seed: int) -> list[WorkUnit]:
        """Return random work units with at least `games` games in total, or all work units."""
        order = np.random.default_rng(seed).permutation(len(self.plan.chunks)).tolist()
        units: list[WorkUnit] = []
        while order and self.plan.games_of(units) < games:
            units.append(self.plan.chunks[order.pop()])
        return sorted(units)

    def undetected_fraction(self, chunks: int, level: float = 0.95) -> float:
        """Return the largest fraction of forged games that a replay misses with probability above 1 - `level`."""
        total = len(self.plan.chunks)
        sizes = sorted((self.plan.games_of([chunk]) for chunk in self.plan.chunks), reverse=True)

        def undetected(forged: int) -> float:
            return prod((total - forged - drawn) / (total - drawn) for drawn in range(chunks))

        # Worst case: forge all games of the largest work units, which are as likely to be drawn as others.
        forged = max(number for number in range(total + 1) if undetected(number) > 1 - level)
        return sum(sizes[:forged]) / self.plan.games

    def play(self, chunks: list[WorkUnit], processes: int, progress: Callable[[int], None] | None = None) -> None:
        """Replay work units; GauntletError names the first one with a different result.

        `progress` is called with the number of matching games after each work unit.
        """
        entries = dict(zip((chunk.name for chunk in self.plan.chunks), self._chunks, strict=True))
        for chunk, games in play_in_processes(self.plan, chunks, processes):
            if work_unit_entry(chunk, games) != entries[chunk.name]:
                version = helsinki_env.__version__
                other = "" if self.package == version else f", or helsinki-env {self.package} instead of {version}"
                raise GauntletError(
                    f"{self.path}: {self.plan.describe(chunk)}: found other games in the replay, expected those of the "
                    "certificate; possible causes: another player, a player that uses more than its observation and "
                    f"random key, another kind of CPU for networks{other}"
                )
            if progress is not None:
                progress(self.plan.games_of([chunk]))


def read_unverified_certificate(
    path: Path, gauntlet: Gauntlet, pins: ReferenceRatings, player: str | None = None, *, trust: bool = False
) -> UnverifiedCertificate:
    """Read a certificate and check everything except the games themselves.

    `player` replays the games; None: the player that the certificate names, which may run code only with `trust`.
    """
    data = _of_gauntlet(path, gauntlet, pins)["certified"]
    named = data["player"].text("a player")
    if player is None:
        check_code([named], path, trust=trust)
    plays = named if player is None else player
    plan = _plan_of(data, gauntlet, plays)
    digest = files_digest(plays, plan.tables[0].config)
    if data["player_digest"].value != digest:
        data["player_digest"].fail(f"{digest!r}, that of {short_repr(plays)}", "name the rated player")
    chunks = _chunks(data, plan, pins)
    return UnverifiedCertificate(path, plays, named, plan, data["rating"].value, data["package"].text(), chunks)


def read_certificate(path: Path, gauntlet: Gauntlet, pins: ReferenceRatings) -> dict[str, Any]:
    """Read a certificate and check everything except player and games; errors as in `read_unverified_certificate`."""
    data = _of_gauntlet(path, gauntlet, pins)
    certified = data["certified"]
    _chunks(certified, _plan_of(certified, gauntlet, certified["player"].text("a player")), pins)
    return dict(data.value)


def _plan_of(certified: Node, gauntlet: Gauntlet, player: str) -> Plan:
    plan = gauntlet.plan(COUNTED_PREFIX + player, certified["stage"].choice(tuple(gauntlet.stages)))
    if certified["environment"].value != environment_versions(plan.tables):
        certified["environment"].fail(repr(environment_versions(plan.tables)), _REMEDY)
    return plan


def _of_gauntlet(path: Path, gauntlet: Gauntlet, pins: ReferenceRatings) -> Node:
    """Return a certificate; GauntletError if it was modified or belongs to another gauntlet or scale."""
    data = read_json(path, GauntletError).mapping(("certified", "measured"))
    certified = data["certified"].verify_digest("a certificate")
    for key, expected in (
        ("certificate", 1),
        ("gauntlet", gauntlet.name),
        ("version", gauntlet.version),
        ("gauntlet_digest", gauntlet.digest),
        ("pins_digest", pins.digest),
        ("seed", gauntlet.seed),
    ):
        if certified[key].value != expected:
            certified[key].fail(repr(expected), _REMEDY)
    measured = data["measured"].mapping()
    measured["seconds_per_decision"].number(0.0)
    for kind in ReplacedActions._fields:
        measured[kind].integer(0)
    return data


def _chunks(data: Node, plan: Plan, pins: ReferenceRatings) -> tuple[dict[str, Any], ...]:
    """Return the certificate's entries of the work units, after checking the results against them."""
    entries = data["chunks"].entries("work units", length=len(plan.chunks))
    played = []
    for entry, chunk in zip(entries, plan.chunks, strict=True):
        if entry["chunk"].value != chunk.name:
            entry["chunk"].fail(repr(chunk.name))
        entry["sha256"].text("a digest")
        played.append((chunk, decode_ranks(entry["places"], plan.games_of([chunk]), plan.tables[chunk.table].seats)))
    digest = games_digest([entry["sha256"].value for entry in entries])
    if data["games_digest"].value != digest:
        data["games_digest"].fail(f"{digest!r}, as the chunks require")
    for key, expected in gauntlet_results(plan, pins, played).items():
        _check_equal(data[key], expected)
    return tuple(entry.value for entry in entries)


def _check_equal(entry: Node, expected: Any) -> None:
    """Raise GauntletError unless an entry has the values that follow from the ranks."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            _check_equal(entry[key], value)
    elif isinstance(expected, list):
        for part, value in zip(entry.entries("results", length=len(expected)), expected, strict=True):
            _check_equal(part, value)
    elif isinstance(expected, float):
        if abs(entry.number(-_MAX_VALUE, _MAX_VALUE) - expected) > _TOLERANCE * max(2.0, abs(expected)):
            entry.fail(f"{expected}, as the ranks require")
    elif entry.value != expected:
        entry.fail(f"{expected!r}, as the ranks require")
