"""Check whether a player follows the player protocol (`helsinki_env.agents.base.Player`) before it is rated.

First, the player plays whole games against ``random`` in every seat of every matchup of a gauntlet. New instances of
the player then receive some of the same inputs one at a time, in reverse order, and in one batch. The actions must be
the same, because an action may depend only on its own row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from helsinki_env.agents.base import (
    Histories,
    Int8Array,
    Int64Array,
    KeyArray,
    Player,
    PlayerError,
    PlayerWrapper,
    init_streams,
)
from helsinki_env.agents.random import RandomPlayer
from helsinki_env.agents.registry import make_player
from helsinki_env.agents.replaced_actions import CountedPlayer, ReplacedActions, replaced_actions_of
from helsinki_env.data import UserError
from helsinki_env.evaluation.arena.plan import MatchupPlan, WorkUnit, plan_from_dict
from helsinki_env.evaluation.arena.work_unit import schedule_games
from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet
from helsinki_env.evaluation.play import play_games, query_player

__all__ = ["CheckResult", "check_player"]


@dataclass(frozen=True)
class CheckResult:
    """The result of one check.

    Attributes:
        name: the requirement that is checked.
        passed: whether the player meets the requirement, or None if it could not be checked.
        details: details of the result.
    """

    name: str
    passed: bool | None
    details: str


@dataclass
class _Row:
    """One input of the player, and the action it returned."""

    observation: Int8Array  # (1, F)
    mask: Int8Array  # (1, A)
    key: KeyArray  # (1,)
    history: Histories
    action: int


class _Recorder(PlayerWrapper):
    """Wrapper that records a player's inputs, actions and times, and which inputs the player modifies."""

    def __init__(self, player: Player) -> None:
        super().__init__(player, player.name)
        self.rows: list[_Row] = []
        self.seconds: list[float] = []
        self.changed: list[str] = []

    def act(
        self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray, histories: Histories = None
    ) -> Int64Array:
        """Query the player once per row and return its actions."""
        actions = np.zeros(len(keys), np.int64)
        for b in range(len(keys)):
            row = slice(b, b + 1)
            given = observation[row].copy(), action_mask[row].copy(), keys[row].copy()
            begin = perf_counter()
            actions[b] = query_player(self.player, *given, histories and histories[row])[0]
            self.seconds.append(perf_counter() - begin)
            before = observation[row], action_mask[row], keys[row]
            for i, name in enumerate(("observation", "action_mask", "keys")):
                if name not in self.changed and (before[i] != given[i]).any():
                    self.changed.append(name)
            inputs = observation[row].copy(), action_mask[row].copy(), keys[row].copy()
            self.rows.append(_Row(*inputs, histories and histories[row], int(actions[b])))
        return actions


@dataclass
class _Played:
    """A matchup and a sample of its recorded rows."""

    matchup: MatchupPlan
    rows: list[_Row] = field(default_factory=list)


def check_player(
    player: str,
    gauntlet: Gauntlet,
    *,
    rows: int = 40,
    seconds: float = 2.0,
    progress: Callable[[int], None] | None = None,
) -> list[CheckResult]:
    """Run all checks of a player and return their results.

    Args:
        player: name of the player.
        gauntlet: the gauntlet whose matchups the player plays.
        rows: number of inputs to repeat in each matchup.
        seconds: maximum time for an action, in seconds.
        progress: function called with 1 after each matchup.

    Raises:
        UserError: if `rows` is less than 1.
        PlayerError: if the player cannot be created.
    """
    if rows < 1:
        raise UserError(f"rows: found {rows}, expected at least 1")
    times: list[float] = []
    changed: list[str] = []
    replaced, played, problem, games = ReplacedActions(), list[_Played](), "", 0
    for number, matchup in enumerate(_matchups(player, gauntlet)):
        recorder = _Recorder(make_player(player, matchup.config))
        counted = CountedPlayer(recorder)
        try:
            _play(counted, matchup, gauntlet.seed)
        except PlayerError as error:
            problem = f"{matchup.name}: {error}"
            break
        finally:
            # The first action of a matchup includes loading and compilation.
            times += recorder.seconds[1:] or recorder.seconds
            changed += [name for name in recorder.changed if name not in changed]
            replaced = replaced.add(replaced_actions_of(counted))
        games += matchup.seats
        chosen = np.random.default_rng([gauntlet.seed, number]).permutation(len(recorder.rows))[:rows]
        played.append(_Played(matchup, [recorder.rows[i] for i in chosen.tolist()]))
        if progress is not None:
            progress(1)
    names = ", ".join(one.matchup.name for one in played)
    results = [
        CheckResult("finishes games in every seat and matchup", not problem, problem or f"{games} games: {names}"),
        CheckResult(
            "takes legal actions only",
            None if not times else not replaced,
            f"{len(times):,} actions" + (f"; replaced: {replaced.summary}" if replaced else ""),
        ),
    ]
    if problem:
        rest = ("does not change its inputs", *_REPEATED, f"acts within {seconds:g} s")
        return [*results, *(CheckResult(name, None, "a game did not finish") for name in rest)]
    results.append(
        CheckResult(
            "does not change its inputs", not changed, f"changed: {', '.join(changed)}" if changed else "none changed"
        )
    )
    results += [_repeated(name, how, player, played) for name, how in _REPEATED.items()]
    results.append(_fast(times, seconds))
    return results


def _matchups(player: str, gauntlet: Gauntlet) -> Iterator[MatchupPlan]:
    """Yield each matchup of a gauntlet with the player in one seat and ``random`` in all others."""
    for matchup in gauntlet.matchups:
        seats = int(matchup.played["seats"])
        lineup = [player, *["random"] * (seats - 1)]
        entry = {**matchup.played, "name": matchup.name, "lineups": [lineup], "games": seats}
        yield plan_from_dict({"seed": gauntlet.seed, "matchups": [entry]}).matchups[0]


def _play(player: Player, matchup: MatchupPlan, seed: int) -> None:
    """Play one deal once per seat rotation."""
    games = schedule_games(matchup, seed, WorkUnit(0, 0, 0, 0, 1))
    players = [player, RandomPlayer()]
    seating = np.where(games.lineup_positions == 0, 0, 1)
    streams = np.stack([init_streams(seed, games.game, seat) for seat in range(matchup.seats)], axis=1)
    play_games(players, matchup.config, seating, games.seeds, streams, disabled=games.disabled)


def _asked(player: Player, rows: Sequence[_Row]) -> list[int]:
    """Return a player's actions for rows that are passed in one batch."""
    histories = None if rows[0].history is None else [line for row in rows for line in row.history or ()]
    observation, mask, keys = (
        np.concatenate([getattr(row, key) for row in rows]) for key in ("observation", "mask", "key")
    )
    actions: list[int] = query_player(player, observation, mask, keys, histories).tolist()
    return actions


def _again(player: str, one: _Played) -> list[int]:
    made = make_player(player, one.matchup.config)
    return [_asked(made, [row])[0] for row in one.rows]


def _reversed(player: str, one: _Played) -> list[int]:
    made = make_player(player, one.matchup.config)
    return [_asked(made, [row])[0] for row in one.rows[::-1]][::-1]


def _batched(player: str, one: _Played) -> list[int]:
    return _asked(make_player(player, one.matchup.config), one.rows)


#: Checks in which a new instance of the player receives the same inputs again.
_REPEATED: dict[str, Callable[[str, _Played], list[int]]] = {
    "needs only observation and key: same action outside of a game": _again,
    "keeps no state between actions and games": _reversed,
    "answers each row of a batch as if it were alone": _batched,
}


def _repeated(
    name: str, ask: Callable[[str, _Played], list[int]], player: str, played: Sequence[_Played]
) -> CheckResult:
    total = different = 0
    for one in played:
        try:
            found = ask(player, one)
        except PlayerError as error:
            return CheckResult(name, False, f"{one.matchup.name}: {error}")
        total += len(found)
        different += sum(action != row.action for action, row in zip(found, one.rows, strict=True))
    return CheckResult(name, not different, f"{different:,} of {total:,} actions differ")


def _fast(times: Sequence[float], seconds: float) -> CheckResult:
    rest = np.array(times) * 1000
    details = f"mean {rest.mean():.3g} ms, 99% below {np.quantile(rest, 0.99):.3g} ms, longest {rest.max():.3g} ms"
    return CheckResult(f"acts within {seconds:g} s", bool(rest.max() <= 1000 * seconds), details)
