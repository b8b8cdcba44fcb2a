"""Certificates of a player's results in a gauntlet, with the data needed to verify them.

A certificate has two parts. ``certified`` is reproducible from the player and the stage. It holds the gauntlet, the
digest of every work unit, the ranks in each game, and the resulting ratings. ``measured`` holds the thinking time and
the number of illegal, late or failed actions that were replaced by random ones. These numbers cannot be verified later.

Anyone can compute the digest of a certificate, so it detects only accidental changes. Verification recomputes the
results from the ranks and replays games.

**Sealed evaluations.** The deals of a gauntlet are public, so a player may have been trained on them or selected as the
best of many tries. A *seal* is a commitment made before the deals are known. It fixes the player, its files, the
gauntlet, the stage, the package, and the source of a text. The source may be a future round of a public random beacon.
The deals depend on the seal and on the text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import reduce
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import helsinki_env
from helsinki_env.agents.llm.usage import ModelUsage
from helsinki_env.agents.registry import check_code, files_digest
from helsinki_env.agents.replaced_actions import ReplacedActions
from helsinki_env.data import Node, digest_of, read_json, short_repr, with_digest
from helsinki_env.evaluation.arena.plan import MatchupPlan, Plan, WorkUnit, environment_versions
from helsinki_env.evaluation.arena.run import play_in_processes
from helsinki_env.evaluation.arena.store import RunFolder, encode_results
from helsinki_env.evaluation.arena.work_unit import WorkUnitGames, schedule_games
from helsinki_env.evaluation.gauntlet import GauntletError
from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet, ReferenceRatings
from helsinki_env.evaluation.match_stats import fractional_wins, proportion_interval
from helsinki_env.evaluation.rating.anchored import AnchoredGames, AnchoredRating, anchored_ratings
from helsinki_env.utils.files import is_file, write_json

__all__ = [
    "SEAL_FILE",
    "certified_name",
    "check_seal",
    "combined_rating",
    "seal_gauntlet",
    "seal_of",
    "unseal",
    "write_seal",
]

COUNTED_PREFIX = "counted:"
"""Prefix of the player's name in the plan. Illegal actions of a player with this prefix are replaced and counted."""
RATED_PLAYER = 0
"""Index of the rated player among the players of a matchup."""
_FORMAT = 1


def make_certificate(
    gauntlet: Gauntlet,
    pins: ReferenceRatings,
    player: str,
    stage: str,
    run: Path,
    sealed: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the certificate of a finished run.

    `sealed` holds the seal, source and text of a sealed evaluation. Raises GauntletError if games are missing or the
    player's files have changed.
    """
    folder = RunFolder.open(run)
    plan, played = folder.plan, list(folder.games())
    if missing := plan.games - sum(len(games.played.rounds) for _, games in played):
        raise GauntletError(f"{run}: found {missing} missing games, expected all; resume the run")
    digest = files_digest(player, plan.matchups[0].config)
    began = folder.networks.get(COUNTED_PREFIX + player)
    if began is not None and (digest is None or digest[:16] != began):
        raise GauntletError(
            f"{run}: files of {player}: found digest {digest and digest[:16]}, expected {began} as at the start of the "
            "run; restore the files, or choose another --out"
        )
    units = [work_unit_entry(unit, games) for unit, games in played]
    certified = {
        "certificate": _FORMAT,
        "gauntlet": gauntlet.name,
        "version": gauntlet.version,
        "gauntlet_digest": gauntlet.digest,
        "pins_digest": pins.digest,
        "environment": environment_versions(plan.matchups),
        "package": helsinki_env.__version__,
        "player": player,
        "player_digest": digest,
        "stage": stage,
        "seed": plan.seed,
        **({"sealed": dict(sealed)} if sealed is not None else {}),
        **gauntlet_results(plan, pins, ((unit, games.played.places) for unit, games in played)),
        "games_digest": games_digest([entry["sha256"] for entry in units]),
        "work_units": units,
    }
    return {"certified": with_digest(certified), "measured": _measured(folder)}


def work_unit_entry(unit: WorkUnit, games: WorkUnitGames) -> dict[str, Any]:
    """Return the certificate entry of a work unit: the digest of its games, and the rank of each seat in each game."""
    places = " ".join("".join(map(str, row)) for row in games.played.places.tolist())
    return {
        "work_unit": unit.name,
        "sha256": hashlib.sha256(encode_results(games.played)).hexdigest(),
        "places": places,
    }


def games_digest(units: Sequence[str]) -> str:
    """Return the digest of all games, given the digests of the work units in the order of the plan."""
    return hashlib.sha256("".join(units).encode()).hexdigest()


def decode_ranks(entry: Node, games: int, seats: int) -> npt.NDArray[np.int64]:
    """Decode the ranks in a certificate entry of a work unit, int64 (games, seats)."""
    value = entry.value
    rows = value.split(" ") if isinstance(value, str) else []
    if len(rows) != games or any(len(row) != seats or not row.isascii() or not row.isdigit() for row in rows):
        entry.fail(f"the ranks of {games} games, {seats} digits for each")
    ranks = np.array([[int(digit) for digit in row] for row in rows], np.int64)
    if (ranks != (ranks[:, None, :] < ranks[:, :, None]).sum(axis=2)).any():
        entry.fail("for each seat the number of seats that did better")
    return ranks


def _measured(folder: RunFolder) -> dict[str, Any]:
    """Return the player's number of actions, thinking time, replaced actions and model costs."""
    own = {matchup.name: matchup.players[RATED_PLAYER] for matchup in folder.plan.matchups}
    times = [entry for entry in folder.times() if own[entry["matchup"]] == entry["player"]]
    decisions = sum(entry["decisions"] for entry in times)
    seconds = sum(entry["seconds"] for entry in times)
    return {
        "decisions": decisions,
        "seconds_per_decision": float(f"{seconds / max(1, decisions):.3g}"),
        **asdict(reduce(ReplacedActions.add, map(ReplacedActions.from_mapping, times), ReplacedActions())),
        **reduce(ModelUsage.add, map(ModelUsage.from_mapping, times), ModelUsage()).to_dict(),
    }


@dataclass(frozen=True)
class _Games:
    """Seating, ranks and deals of the games in one matchup."""

    seating: npt.NDArray[np.int64]  # (G, S)
    places: npt.NDArray[np.integer]  # (G, S)
    deal: npt.NDArray[np.int64]  # (G,)


def gauntlet_results(
    plan: Plan, pins: ReferenceRatings, units: Iterable[tuple[WorkUnit, npt.NDArray[np.integer]]]
) -> dict[str, Any]:
    """Return a player's ratings, overall and by matchup, and its scores against opponents as JSON-serializable data.

    `units` yields every work unit with the rank of each seat, (G, S).
    """
    played: list[list[_Games]] = [[] for _ in plan.matchups]
    for unit, places in units:
        planned = schedule_games(plan.matchups[unit.matchup], plan.seed, unit)
        played[unit.matchup].append(_Games(planned.seating, places, planned.block))
    matchups = [
        _Games(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("seating", "places", "deal")))
        for parts in played
    ]
    overall, by_matchup = anchored_ratings(
        [_anchored_games(games, matchup, pins) for games, matchup in zip(matchups, plan.matchups, strict=True)]
    )
    return {
        "rating": _plain(overall),
        "matchups": [
            {"matchup": matchup.name, **_plain(rating), **_won(games)}
            for matchup, rating, games in zip(plan.matchups, by_matchup, matchups, strict=True)
        ],
        "opponents": _opponents(plan, matchups),
    }


def expected_opponent_scores(plan: Plan, pins: ReferenceRatings, ratings: Sequence[float]) -> dict[str, float]:
    """Return the expected score against each opponent by name, given the player's Elo rating in each matchup."""
    scores: dict[str, list[npt.NDArray[np.float64]]] = {}
    for unit in plan.work_units:
        matchup = plan.matchups[unit.matchup]
        seating = schedule_games(matchup, plan.seed, unit).seating
        fixed = pins.matchups[matchup.name]
        opponents = matchup.players[RATED_PLAYER + 1 :]
        elo = np.array([ratings[unit.matchup], *(fixed.players[name] for name in opponents)])[seating]
        elo += np.array(fixed.seats)
        own = np.take_along_axis(elo, (seating == RATED_PLAYER).argmax(axis=1)[:, None], axis=1)
        ahead = 1 / (1 + 10 ** ((elo - own) / 400))
        for i, opponent in enumerate(opponents, start=RATED_PLAYER + 1):
            scores.setdefault(opponent, []).append(ahead[seating == i])
    return {opponent: float(np.concatenate(parts).mean()) for opponent, parts in scores.items()}


def _anchored_games(games: _Games, matchup: MatchupPlan, pins: ReferenceRatings) -> AnchoredGames:
    fixed = pins.matchups[matchup.name]
    strengths = np.array([0.0, *(fixed.players[player] for player in matchup.players[RATED_PLAYER + 1 :])])
    return AnchoredGames(
        known=strengths[games.seating] + np.array(fixed.seats),
        own=games.seating == RATED_PLAYER,
        places=games.places,
        deal=games.deal,
    )


def _plain(rating: AnchoredRating) -> dict[str, Any]:
    """Return a rating as JSON-serializable data, with None for unbounded endpoints of its interval."""
    elo = {name: getattr(rating, name) for name in ("rating", "low", "high")}
    rounded = {name: round(value, 1) if np.isfinite(value) else None for name, value in elo.items()}
    return {**rounded, "games": rating.games, "deals": rating.deals}


def _share(deals: npt.NDArray[np.int64], happened: npt.NDArray[np.float64]) -> dict[str, float]:
    """Return a proportion with its 95% interval, where deals are the independent units."""
    _, unit = np.unique(deals, return_inverse=True)
    interval = proportion_interval(
        np.bincount(unit, happened)[:, None].astype(np.float64), np.bincount(unit).astype(np.float64)[:, None]
    )
    return {name: round(float(value[0]), 4) for name, value in zip(("share", "low", "high"), interval, strict=True)}


def _won(games: _Games) -> dict[str, Any]:
    won = (fractional_wins(games.places) * (games.seating == RATED_PLAYER)).sum(axis=1)
    return {"won": _share(games.deal, won)}


def _opponents(plan: Plan, matchups: Sequence[_Games]) -> list[dict[str, Any]]:
    """Return the score against each opponent: the fraction of pairings in which the player is ahead (ties: half)."""
    ahead: dict[str, list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]]] = {}
    for number, games in enumerate(matchups):
        own = np.take_along_axis(games.places, (games.seating == RATED_PLAYER).argmax(axis=1)[:, None], axis=1)
        better = (own < games.places) + (own == games.places) / 2
        for i, opponent in enumerate(plan.matchups[number].players[RATED_PLAYER + 1 :], start=RATED_PLAYER + 1):
            game, seat = np.nonzero(games.seating == i)
            ahead.setdefault(opponent, []).append((games.deal[game], better[game, seat]))
    results = []
    for opponent, parts in ahead.items():
        deals, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
        results.append({"opponent": opponent, "meetings": len(deals), **_share(deals, scores)})
    return results


#: Relative tolerance for numbers computed on another machine.
_TOLERANCE = 1e-4
_MAX_VALUE = 1e6
_REMEDY = "use the version that made the certificate"


@dataclass(frozen=True)
class UnverifiedCertificate:
    """A certificate that is consistent, but whose games have not been replayed yet."""

    path: Path
    player: str  # player that replays the games
    named: str  # player named in the certificate
    plan: Plan
    rating: dict[str, Any]  # certified rating with its interval
    package: str  # version of the package that played the games
    sealed: dict[str, str] | None  # seal, source and text of a sealed evaluation
    _units: tuple[dict[str, Any], ...]

    def sample(self, games: int, seed: int) -> list[WorkUnit]:
        """Return random work units with at least `games` games in total, or all work units if they have fewer games."""
        order = np.random.default_rng(seed).permutation(len(self.plan.work_units)).tolist()
        units: list[WorkUnit] = []
        while order and self.plan.games_of(units) < games:
            units.append(self.plan.work_units[order.pop()])
        return sorted(units)

    def undetected_fraction(self, units: int, level: float = 0.95) -> float:
        """Return the largest fraction of forged games that a replay of `units` work units may miss.

        A larger fraction is missed with a probability of at most 1 - `level`.
        """
        total = len(self.plan.work_units)
        sizes = sorted((self.plan.games_of([unit]) for unit in self.plan.work_units), reverse=True)

        def undetected(forged: int) -> float:
            return prod((total - forged - drawn) / (total - drawn) for drawn in range(units))

        # In the worst case, the forged games are in the largest work units.
        forged = max(number for number in range(total + 1) if undetected(number) > 1 - level)
        return sum(sizes[:forged]) / self.plan.games

    def play(self, units: list[WorkUnit], processes: int, progress: Callable[[int], None] | None = None) -> None:
        """Replay work units; raise GauntletError if their games differ from the certificate.

        `progress` is called with the number of games in each work unit.
        """
        entries = dict(zip((unit.name for unit in self.plan.work_units), self._units, strict=True))
        with closing(play_in_processes(self.plan, units, processes)) as played:
            for unit, games in played:
                if work_unit_entry(unit, games) != entries[unit.name]:
                    version = helsinki_env.__version__
                    other = "" if self.package == version else f", or helsinki-env {self.package} instead of {version}"
                    raise GauntletError(
                        f"{self.path}: {self.plan.describe(unit)}: found other games in the replay, expected those of "
                        "the certificate; possible causes: another player, a player that uses more than its "
                        f"observation and random key, networks on another type of CPU{other}"
                    )
                if progress is not None:
                    progress(self.plan.games_of([unit]))


def certified_name(path: Path, key: str) -> str | None:
    """Return the name of the ``gauntlet`` or ``suite`` (`key`) in a certificate, or None if the key is missing."""
    data = read_json(path, GauntletError).value
    certified = data.get("certified") if isinstance(data, dict) else None
    name = certified.get(key) if isinstance(certified, dict) else None
    return name if isinstance(name, str) else None


def read_unverified_certificate(
    path: Path, gauntlet: Gauntlet, pins: ReferenceRatings, player: str | None = None, *, trust: bool = False
) -> UnverifiedCertificate:
    """Read a certificate and check everything except the games.

    `player` is the player that will replay the games. If it is None, it is the player named in the certificate, which
    may run code only with `trust`.
    """
    data, gauntlet = _of_gauntlet(path, gauntlet, pins)
    data = data["certified"]
    named = data["player"].text("a player")
    if player is None:
        check_code([named], path, trust=trust)
    plays = named if player is None else player
    plan = _plan_of(data, gauntlet, plays)
    digest = files_digest(plays, plan.matchups[0].config)
    if data["player_digest"].value != digest:
        data["player_digest"].fail(f"{digest!r}, that of {short_repr(plays)}", "name the rated player")
    units = _units(data, plan, pins)
    rating, package = data["rating"].value, data["package"].text()
    sealed = data["sealed"].value if data["sealed"].is_present else None
    return UnverifiedCertificate(path, plays, named, plan, rating, package, sealed, units)


def read_certificate(path: Path, gauntlet: Gauntlet, pins: ReferenceRatings) -> dict[str, Any]:
    """Read a certificate and check everything except the player and the games."""
    data, gauntlet = _of_gauntlet(path, gauntlet, pins)
    certified = data["certified"]
    _units(certified, _plan_of(certified, gauntlet, certified["player"].text("a player")), pins)
    return dict(data.value)


def _plan_of(certified: Node, gauntlet: Gauntlet, player: str) -> Plan:
    plan = gauntlet.plan(COUNTED_PREFIX + player, certified["stage"].choice(tuple(gauntlet.stages)))
    if certified["environment"].value != environment_versions(plan.matchups):
        certified["environment"].fail(repr(environment_versions(plan.matchups)), _REMEDY)
    return plan


def _of_gauntlet(path: Path, gauntlet: Gauntlet, pins: ReferenceRatings) -> tuple[Node, Gauntlet]:
    """Return a certificate and its gauntlet.

    Raises GauntletError if the certificate was modified or belongs to another gauntlet or scale.
    """
    data = read_json(path, GauntletError).mapping(("certified", "measured"))
    certified = data["certified"].verify_digest("a certificate")
    gauntlet = unseal(certified, gauntlet)
    expected = {
        "certificate": _FORMAT,
        "gauntlet": gauntlet.name,
        "version": gauntlet.version,
        "gauntlet_digest": gauntlet.digest,
        "pins_digest": pins.digest,
        "seed": gauntlet.seed,
    }
    check_certificate(data, expected, _REMEDY)
    return data, gauntlet


def check_certificate(data: Node, expected: Mapping[str, Any], remedy: str) -> None:
    """Check that some certified keys have the expected values and that the measured values are valid."""
    for key, value in expected.items():
        if data["certified"][key].value != value:
            data["certified"][key].fail(repr(value), remedy)
    measured = data["measured"].mapping()
    measured["seconds_per_decision"].number(0.0)
    for kind in asdict(ReplacedActions()):
        measured[kind].integer(0)
    ModelUsage.read(measured)


def _units(data: Node, plan: Plan, pins: ReferenceRatings) -> tuple[dict[str, Any], ...]:
    """Return the entries of all work units; raise GauntletError if the certified results do not match them."""
    entries = data["work_units"].entries("work units", length=len(plan.work_units))
    played = []
    for entry, unit in zip(entries, plan.work_units, strict=True):
        if entry["work_unit"].value != unit.name:
            entry["work_unit"].fail(repr(unit.name))
        entry["sha256"].text("a digest")
        played.append((unit, decode_ranks(entry["places"], plan.games_of([unit]), plan.matchups[unit.matchup].seats)))
    digest = games_digest([entry["sha256"].value for entry in entries])
    if data["games_digest"].value != digest:
        data["games_digest"].fail(f"{digest!r} according to the work units")
    for key, expected in gauntlet_results(plan, pins, played).items():
        check_values(data[key], expected, "the ranks")
    return tuple(entry.value for entry in entries)


def check_values(entry: Node, expected: Any, source: str) -> None:
    """Raise the error type of an entry unless it has the expected values, which follow from `source`.

    `source` appears in error messages, for example "the ranks".
    """
    if isinstance(expected, dict):
        for key, value in expected.items():
            check_values(entry[key], value, source)
    elif isinstance(expected, list):
        for part, value in zip(entry.entries("results", length=len(expected)), expected, strict=True):
            check_values(part, value, source)
    elif isinstance(expected, float):
        if abs(entry.number(-_MAX_VALUE, _MAX_VALUE) - expected) > _TOLERANCE * max(2.0, abs(expected)):
            entry.fail(f"{expected} according to {source}")
    elif entry.value != expected:
        entry.fail(f"{expected!r} according to {source}")


SEAL_FILE = "seal.json"
"""File name of the seal in the folder of a run."""


def seal_of(
    gauntlet: str,
    player: str,
    player_digest: str | None,
    stage: str,
    source: str,
    package: str = helsinki_env.__version__,
) -> str:
    """Return the seal of a player, 16 hexadecimal digits.

    Args:
        gauntlet: digest of the gauntlet.
        player: name of the player.
        player_digest: digest of the player's files, or None if it has no files.
        stage: stage of the gauntlet.
        source: source of the text, described so precisely that it allows only one text.
        package: version of the package.
    """
    rated = {"gauntlet": gauntlet, "stage": stage, "player": player, "player_digest": player_digest}
    return digest_of({**rated, "source": source, "package": package})


def seal_gauntlet(gauntlet: Gauntlet, seal: str, text: str) -> Gauntlet:
    """Return a gauntlet whose deals depend on a seal and a text. Case and whitespace of the text are ignored."""
    seed = hashlib.sha256(f"{seal} {''.join(text.casefold().split())}".encode()).digest()[:6]
    return replace(gauntlet, seed=int.from_bytes(seed, "big"))


def write_seal(path: Path, gauntlet: Gauntlet, player: str, player_digest: str | None, stage: str, source: str) -> str:
    """Write a seal to a file and return the seal, see `seal_of`; raise GauntletError if the file has another seal."""
    seal = seal_of(gauntlet.digest, player, player_digest, stage, source)
    if path.exists() and (found := read_json(path, GauntletError).mapping()["seal"]).value != seal:
        found.fail(f"{seal!r}, that of {player} in the stage {stage}", "choose another --out")
    about = {"player": player, "player_digest": player_digest, "package": helsinki_env.__version__}
    rated = {"gauntlet": gauntlet.name, "gauntlet_digest": gauntlet.digest, "stage": stage}
    write_json(path, {"seal": seal, "source": source, **rated, **about})
    return seal


def check_seal(path: Path, gauntlet: Gauntlet, player: str, player_digest: str | None, stage: str) -> dict[str, str]:
    """Return the seal and source in a file.

    Raises GauntletError if the file is missing, or the seal belongs to another player, stage or version.
    """
    if not is_file(path):
        raise GauntletError(
            f"{path}: found no seal, expected one from before the text was known; run helsinki evaluate seal first"
        )
    data = read_json(path, GauntletError).mapping()
    source = data["source"].text("the source of the text")
    if data["seal"].value != (seal := seal_of(gauntlet.digest, player, player_digest, stage, source)):
        data["seal"].fail(
            f"{seal!r}, that of {player} in the stage {stage}",
            "restore the player's files, or seal it again and wait for another text",
        )
    return {"seal": seal, "source": source}


def unseal(certified: Node, gauntlet: Gauntlet) -> Gauntlet:
    """Return the gauntlet with the deals that a certificate uses.

    Raises GauntletError if the seal belongs to another player, stage or source.
    """
    sealed = certified["sealed"]
    if not sealed.is_present:
        return gauntlet
    sealed.mapping(("seal", "source", "text"))
    seal = seal_of(
        gauntlet.digest,
        certified["player"].text("a player"),
        certified["player_digest"].value,
        certified["stage"].text(),
        sealed["source"].text(),
        certified["package"].text(),
    )
    if sealed["seal"].value != seal:
        sealed["seal"].fail(f"{seal!r}, that of player, stage and source")
    return seal_gauntlet(gauntlet, seal, sealed["text"].text())


def combined_rating(certificates: Sequence[Path], *, trust: bool = False) -> dict[str, Any]:
    """Return the mean of a player's ratings in several gauntlets.

    Games in different gauntlets are independent, so the squared distances from the ratings to the endpoints of their
    intervals are summed.

    Args:
        certificates: paths of at least two certificates, each for a different bundled gauntlet.
        trust: whether the gauntlets may name players that run code.

    Returns:
        ``player``, ``rating``, ``low`` and ``high`` (None if unbounded), and the rating in each gauntlet under
        ``gauntlets``.

    Raises:
        GauntletError: if a certificate is invalid, a gauntlet is repeated, or the players or scales differ.
    """
    if len(certificates) < 2:
        raise GauntletError(f"certificates: found {len(certificates)}, expected at least two, of different gauntlets")
    ratings: dict[str, dict[str, Any]] = {}
    zeros, players = set(), set()
    for path in certificates:
        named = read_json(path, GauntletError).mapping()["certified"].mapping()["gauntlet"]
        gauntlet = Gauntlet.from_yaml(named.text("the name of a gauntlet"), trust=trust)
        certified = read_certificate(path, gauntlet, ReferenceRatings.of(gauntlet))["certified"]
        if gauntlet.name in ratings:
            named.fail("a gauntlet that no other certificate has")
        ratings[gauntlet.name] = {key: certified["rating"][key] for key in ("rating", "low", "high", "games")}
        zeros.add(gauntlet.zero)
        players.add(certified["player"])
        if len(players) > 1:
            Node(certified["player"], GauntletError, "player", file=str(path)).fail(
                "the player of the other certificates"
            )
        if len(zeros) > 1:
            raise GauntletError(f"{path}: found the scale with {gauntlet.zero} at zero, expected that of the others")
    count = len(ratings)
    mean = sum(one["rating"] for one in ratings.values()) / count
    ends: dict[str, float | None] = {}
    for end, sign in (("low", -1), ("high", 1)):
        far = [None if one[end] is None else one[end] - one["rating"] for one in ratings.values()]
        known = [distance for distance in far if distance is not None]
        whole = len(known) == count
        ends[end] = round(mean + sign * sum(distance**2 for distance in known) ** 0.5 / count, 1) if whole else None
    return {"player": players.pop(), "rating": round(mean, 1), **ends, "gauntlets": ratings}
