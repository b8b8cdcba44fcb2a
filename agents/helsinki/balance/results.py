"""Everything that a study found, as plain data: what the report is made of, and nothing else is.

Every part that has been played is read, whether the study is finished or not. The same games give the same data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import helsinki_env
from agents.arena.designs import as_sets
from agents.arena.load import Table, load_run
from agents.arena.store import RunFolder, has_games
from agents.balance import interactions
from agents.balance.effects import estimate
from agents.helsinki.balance.confirm import WAYS, confirmed
from agents.helsinki.balance.covers import (
    FIRST_GAME,
    Averages,
    by_set,
    entropy,
    fairness,
    measures,
)
from agents.helsinki.balance.replay import Course, replay_run
from agents.helsinki.balance.run import suspects
from agents.helsinki.balance.screen import Screened, screened, study_of
from agents.helsinki.balance.study import (
    GAMES_AS_THEY_ARE,
    PARTS,
    StudyConfig,
    StudyError,
    cover_table,
    gate_table,
    quality_table,
    screen_table,
    skill_table,
    variant_table,
)
from agents.helsinki.balance.verdicts import Finding, Measured, findings, judge, summary
from agents.helsinki.balance.written import check_written
from agents.rating.errors import RatingError
from agents.rating.ratings import rate
from helsinki_env.data import Entry, brief, read_json, sealed
from helsinki_env.games.helsinki.components import ACTIONS
from helsinki_env.games.helsinki.position import VERSION

__all__ = ["findings_of", "read_results", "results", "verdicts_of"]

#: Decimals of what is written: far below any interval, and coarse enough to hide how a processor rounds.
_DECIMALS = 5


class _Played:
    """The parts that have been played, each read once."""

    def __init__(self, config: StudyConfig, folder: Path) -> None:
        self.config, self.folder = config, folder
        self._tables: dict[str, dict[str, Table]] = {}
        self._courses: dict[str, dict[str, Course]] = {}

    def has(self, part: str) -> bool:
        """Whether games of a part have been played."""
        return has_games(self.folder / part)

    def tables(self, part: str) -> dict[str, Table]:
        """The tables of a part that have games, by name."""
        if part not in self._tables:
            found = load_run(self.folder / part) if self.has(part) else []
            self._tables[part] = {table.name: table for table in found if len(table)}
        return self._tables[part]

    def courses(self, part: str) -> dict[str, Course]:
        """What happened in the games of the tables of a part, by name."""
        if part not in self._courses:
            # Lines and superstructures only count at the end: who leads is told by the score as if it were now.
            found = replay_run(self.folder / part, standing="score") if self.has(part) else {}
            if any(len(found[name].turns) != len(table) for name, table in self.tables(part).items()):
                raise StudyError(
                    f"{self.folder / part}: games came in while they were read; make the report once more, best when "
                    "nothing is being played"
                )
            self._courses[part] = found
        return self._courses[part]


def results(config: StudyConfig, folder: Path, command: str = "helsinki balance report") -> dict[str, Any]:
    """Return everything that a study found, with a digest of it all.

    Args:
        config: the study.
        folder: where its parts are.
        command: what finds it again, for the report.

    Raises:
        ArenaError: if a part cannot be read.
        RatingError: if it has too few games.
        StudyError: if no game has been played, or games were added meanwhile.
    """
    played = _Played(config, folder)
    if not any(map(played.has, PARTS)):
        raise StudyError(
            f"{brief(folder)}: found a study of which no game has been played yet, expected some (helsinki balance run "
            f"--out {brief(folder)} plays it)"
        )
    screen = {
        (entry.player, n): (rank, screened(played.tables("screen")[screen_table(entry.player, n)]))
        for rank, entry in enumerate(config.classes)
        for n in config.players
        if screen_table(entry.player, n) in played.tables("screen")
    }
    measured = [
        Measured(n, player, rank, found.effects.power, found.effects.covariance)
        for (player, n), (rank, found) in screen.items()
    ]
    found = findings(measured, ACTIONS, config.level) if measured else []
    data = {
        "study": config.to_dict(),
        "provenance": {**_provenance(played), "command": command},
        "actions": list(ACTIONS),
        "gate": _gate(config, played),
        "screen": [
            _screen(player, rank, n, played, entry, [one for one in found if (one.player, one.players) == (player, n)])
            for (player, n), (rank, entry) in screen.items()
        ],
        "pairs": _pairs(config, played),
        "variants": _variants(config, played),
        "quality": _quality(config, played),
        "skill": _skill(config, played),
        "covers": _covers(config, played),
        "confirm": _confirm(config, played),
    }
    return _with_verdicts(_rounded(data))


def read_results(path: Path) -> dict[str, Any]:
    """Return everything that a study found, as its report told it, judged once more.

    Args:
        path: the JSON file of the report.

    Raises:
        StudyError: if the file is none, or was changed, or holds something else; it names file and key.
    """
    return _results_in(read_json(path, StudyError))


def _results_in(data: Entry) -> dict[str, Any]:
    data.intact("the data of a study of balance")
    check_written(data)
    with data.blamed():
        return _with_verdicts(data.value)


def _with_verdicts(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return data with its verdicts, worked out from the rounded numbers, as anybody who reads the file would."""
    verdicts, sentences = _judged(data)
    told = {key: value for key, value in data.items() if key != "digest"}
    return sealed(told | {"verdicts": verdicts, "summary": sentences})


def _judged(data: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return verdicts and what they say in words; nothing with fewer than two classes, as no verdict rests on one."""
    found, study = findings_of(data), data["study"]
    if not found or min(len({f.player for f in found if f.players == one.players}) for one in found) < 2:
        return [], []
    verdicts = judge(found, study["band"], study["level"])
    rounded: list[dict[str, Any]] = _rounded([asdict(verdict) for verdict in verdicts])
    return rounded, summary(verdicts, found)


def findings_of(data: Mapping[str, Any]) -> list[Finding]:
    """Return what the verdicts of a study are worked out from, out of its data."""
    admitted = {entry["player"] for entry in data["screen"]} - {
        entry["player"] for entry in data["gate"] if not entry["admitted"]
    }
    return [
        Finding(
            players=entry["players"],
            player=entry["player"],
            strength=entry["strength"],
            action=action["action"],
            power=action["power"],
            deviation=action["deviation"],
            error=action["deviation_error"],
            low=action["deviation_low"],
            high=action["deviation_high"],
        )
        for entry in data["screen"]
        if entry["player"] in admitted
        for action in entry["actions"]
    ]


def verdicts_of(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the verdicts worked out once more from the data alone."""
    return _judged(data)[0]


def _rounded(value: Any) -> Any:
    """Return plain data for JSON: NaN becomes None, arrays lists, keys text."""
    if isinstance(value, Mapping):
        return {str(key): _rounded(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _rounded(value.tolist())
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    if isinstance(value, bool | str | int | None):
        return value
    number = float(value)
    return None if math.isnan(number) else round(number, _DECIMALS) + 0.0


def _provenance(played: _Played) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    networks: dict[str, str] = {}
    for part in PARTS:
        if played.has(part):
            run = RunFolder.open(played.folder / part)
            plan = run.plan
            networks |= run.networks
            tables = played.tables(part).values()
            games = sum(len(table) for table in tables)
            parts[part] = {"seed": plan.seed, "plan": plan.digest, "games": games, "missing_games": plan.games - games}
    return {
        "environment": f"helsinki_v{VERSION}",
        "package": helsinki_env.__version__,
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "networks": networks,
        "parts": parts,
    }


def _gate(config: StudyConfig, played: _Played) -> list[dict[str, Any]]:
    """Whether players are as far above the reference when actions are missing as when all are there."""
    found = []
    for entry in config.classes:
        for n in config.players:
            names = [gate_table(entry.player, n, denied) for denied in (False, True)]
            tables = [played.tables("gate").get(name) for name in names]
            if None in tables:
                continue
            ratings = [rate(table, reference=config.gate.reference, seed=config.seed) for table in tables]  # type: ignore[arg-type]
            at = [r.players.index(entry.player) for r in ratings]
            elo = [float(r.elo[i]) for r, i in zip(ratings, at, strict=True)]
            error = [float(r.error[i]) for r, i in zip(ratings, at, strict=True)]
            lost, spread = elo[0] - elo[1], math.hypot(*error)
            found.append(
                {
                    "player": entry.player,
                    "players": n,
                    "games": sum(len(table) for table in tables if table is not None),
                    "full_board": elo[0],
                    "full_board_error": error[0],
                    "five_denied": elo[1],
                    "five_denied_error": error[1],
                    "lost": lost,
                    "lost_low": lost - 1.96 * spread,
                    "lost_high": lost + 1.96 * spread,
                    "admitted": lost - 1.96 * spread <= config.gate.lost,
                }
            )
    return found


def _screen(
    player: str, rank: int, n: int, played: _Played, found: Screened, judged: Sequence[Finding]
) -> dict[str, Any]:
    name = screen_table(player, n)
    table, course = played.tables("screen")[name], played.courses("screen")[name]
    first = course.first_use.astype(np.float64)
    first[first < 0] = np.nan
    had = ~as_sets(table.denied)
    actions = []
    for i, action in enumerate(ACTIONS):
        uses = first[..., i][had[..., i] & ~np.isnan(first[..., i])]
        actions.append(
            {
                "action": action,
                "power": found.effects.power[i],
                "power_error": found.effects.error[i],
                "deviation": judged[i].deviation,
                "deviation_error": judged[i].error,
                "deviation_low": judged[i].low,
                "deviation_high": judged[i].high,
                "margin": found.margins.power[i],
                "margin_error": found.margins.error[i],
                "naive": found.naive[i],
                "usage": found.usage[i],
                "first_use": float(uses.mean()) if len(uses) else math.nan,
            }
        )
    return {
        "player": player,
        "strength": rank,
        "players": n,
        "games": len(table),
        "blocks": found.effects.blocks,
        "worth_of_games": found.worth_of_games,
        "missing_games": table.missing,
        "mean_power": float(found.effects.power.mean()),
        "seat_win_share": found.effects.seat,
        "actions": actions,
    }


def _pairs(config: StudyConfig, played: _Played) -> list[dict[str, Any]]:
    """Pairs of actions, for the strongest class of each number of players."""
    found = []
    one, two = np.triu_indices(len(ACTIONS), 1)
    for n in config.players:
        tables = [
            (entry.player, played.tables("screen")[screen_table(entry.player, n)])
            for entry in config.classes
            if screen_table(entry.player, n) in played.tables("screen")
        ]
        if not tables:
            continue
        player, table = tables[-1]
        try:
            pairs = interactions.estimate(study_of(table), level=config.level, seed=config.seed)
        except RatingError as problem:  # a small study knows less, but knows something
            found.append({"player": player, "players": n, "left_out": str(problem)})
            continue
        adjusted = pairs.pair_adjusted[one, two]
        found.append(
            {
                "player": player,
                "players": n,
                "shapley": pairs.shapley,
                "shapley_low": pairs.shapley_low,
                "shapley_high": pairs.shapley_high,
                "pair": pairs.pair,
                "pair_error": pairs.pair_error,
                "found": [
                    {
                        "actions": [ACTIONS[i], ACTIONS[j]],
                        "together": pairs.pair[i, j],
                        "error": pairs.pair_error[i, j],
                        "p": pairs.pair_p[i, j],
                        "false_discovery_rate": rate_,
                    }
                    for i, j, rate_ in zip(one.tolist(), two.tolist(), adjusted.tolist(), strict=True)
                    if rate_ <= 1 - config.level
                ],
            }
        )
    return found


def _variants(config: StudyConfig, played: _Played) -> list[dict[str, Any]]:
    """Deviations with other component files, after those with the study's own if the same player was asked."""
    if not played.has("variants"):
        return []
    found = []
    player = config.variants.player
    for components in (config.components, *config.variants.components):
        for n in config.players:
            own = components == config.components
            part, name = ("screen", screen_table(player, n)) if own else ("variants", variant_table(components, n))
            table = played.tables(part).get(name)
            if table is None:
                continue
            effects = estimate(study_of(table))
            judged = findings([Measured(n, player, 0, effects.power, effects.covariance)], ACTIONS, config.level)
            found.append(
                {
                    "components": Path(components).stem,
                    "player": player,
                    "players": n,
                    "games": len(table),
                    "deviation": [one.deviation for one in judged],
                    "error": [one.error for one in judged],
                    "low": [one.low for one in judged],
                    "high": [one.high for one in judged],
                }
            )
    return found


def _measured(found: Mapping[str, Averages], row: int) -> dict[str, Any]:
    return {name: {"mean": m.mean[row], "error": m.error[row]} for name, m in found.items()}


def _quality(config: StudyConfig, played: _Played) -> list[dict[str, Any]]:
    """The games of the rulebook as they are."""
    found = []
    for kind in GAMES_AS_THEY_ARE:
        for entry in config.classes:
            for n in config.players:
                name = quality_table(kind, entry.player, n)
                table = played.tables("quality").get(name)
                if table is None:
                    continue
                course, alike = played.courses("quality")[name], np.zeros(len(table), np.int64)
                scores = np.bincount(np.clip(table.scores.ravel(), 0, None))
                found.append(
                    {
                        "game": kind,
                        "player": entry.player,
                        "players": n,
                        "games": len(table),
                        "measures": _measured(measures(table, alike, 1, course), 0),
                        "usage_entropy": float(entropy(table, alike, 1)[0]),
                        "seats": fairness(table),
                        "scores": scores,
                    }
                )
    return found


def _skill(config: StudyConfig, played: _Played) -> list[dict[str, Any]]:
    """How far each class is above the next weaker one in the games as they are."""
    found = []
    for kind in GAMES_AS_THEY_ARE:
        for n in config.players:
            for weaker, stronger in pairwise(config.names(n)):
                table = played.tables("quality").get(skill_table(kind, weaker, stronger, n))
                if table is None:
                    continue
                ratings = rate(table, reference=weaker, seed=config.seed)
                i = ratings.players.index(stronger)
                found.append(
                    {
                        "game": kind,
                        "players": n,
                        "weaker": weaker,
                        "stronger": stronger,
                        "games": len(table),
                        "rating": float(ratings.elo[i]),
                        "error": float(ratings.error[i]),
                        "low": float(ratings.low[i]),
                        "high": float(ratings.high[i]),
                        "win_share": float(ratings.standings.win_share[i]),
                    }
                )
    return found


def _covers(config: StudyConfig, played: _Played) -> list[dict[str, Any]]:
    """All sets of five covered actions as a distribution, and those that were played again."""
    found = []
    for n in config.players:
        table, again = (played.tables(part).get(cover_table(n)) for part in ("covers", "again"))
        if table is None:
            continue
        sets, group = by_set(table)
        first = measures(table, group, len(sets))
        entry: dict[str, Any] = {
            "players": n,
            "games": len(table),
            "sets": len(sets),
            "distribution": {name: np.sort(m.mean) for name, m in first.items()},
            "first_game": _measured(first, int(np.flatnonzero(sets == FIRST_GAME)[0])) if FIRST_GAME in sets else None,
            "again": [],
        }
        if again is not None:
            course = played.courses("again")[cover_table(n)]
            chosen, which = by_set(again)
            fresh = measures(again, which, len(chosen), course)
            evenness = entropy(again, which, len(chosen))
            entry["again_games"] = len(again)
            entry["again"] = [
                {
                    "covered": [ACTIONS[i] for i in range(len(ACTIONS)) if covered >> i & 1],
                    "first_game": covered == FIRST_GAME,
                    "measures": _measured(fresh, row),
                    "usage_entropy": evenness[row],
                }
                for row, covered in enumerate(chosen.tolist())
            ]
        found.append(entry)
    return found


def _confirm(config: StudyConfig, played: _Played) -> list[dict[str, Any]]:
    if not played.has("confirm"):
        return []
    found = []
    for suspect in suspects(config, list(played.tables("screen").values())):
        for way in WAYS:
            table = played.tables("confirm").get(suspect.table(way))
            if table is None:
                continue
            c = confirmed(table, suspect, way, config.confirm)
            found.append(
                {
                    **asdict(suspect),
                    "way": way,
                    "worth": c.worth,
                    "error": c.error,
                    "decks": c.decks,
                    "verdict": c.test.verdict if c.test else None,
                    "stopped_after": c.test.blocks if c.test else None,
                    "path": c.path,
                    "bounds": c.bounds,
                }
            )
    return found
