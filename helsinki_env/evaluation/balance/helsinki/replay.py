"""Replay recorded games in compiled code and collect statistics about their course.

A game record stores the actions and the result of a game. A replay shows when each action was used, how often the lead
changed, how long the winner was behind, and how many choices the players had.

Letters in shapes: G games, S seats, A actions of the action board.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from helsinki_env.data import UserError
from helsinki_env.engine import loops
from helsinki_env.engine.arrays import UINT64, integer_array
from helsinki_env.engine.contract import apply_action
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.spec import why_illegal
from helsinki_env.evaluation.arena.store import RunFolder
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.games.helsinki.game import HELSINKI, HelsinkiGame, action_table, apply_setup
from helsinki_env.games.helsinki.score import score
from helsinki_env.games.helsinki.state import MAX_SEATS, new_states

__all__ = ["Course", "LeadMeasure", "replay_games", "replay_run"]

LeadMeasure = Literal["points", "score"]
"""Measure of the lead, see `replay_games`."""

#: Bit set with all actions of the action board.
_ALL_ACTIONS = 2 ** len(BOARD_ACTIONS) - 1
#: Counters for one game. A choice is a position with more than one legal action.
_TALLY = np.dtype(
    (
        np.record,
        [
            ("choices", np.int32),
            ("legal", np.int32),  # legal actions, summed over the choices
            ("first_use", np.int16, (MAX_SEATS, len(BOARD_ACTIONS))),
            ("behind", np.int16, (MAX_SEATS,)),  # number of turns after which another seat led
            ("lead_changes", np.int16),
            ("leader", np.int16),  # most recent sole leader
            ("turns", np.int16),
        ],
    )
)


@dataclass(frozen=True)
class Course:
    """Course of a batch of games. Row g of every array belongs to game g.

    The leaders are the seats with the most points or the highest score (`LeadMeasure`) after a turn.
    """

    first_use: npt.NDArray[np.int16]  # first round (from 1) in which a seat used an action, -1 if never, (G, S, A)
    #: Number of times that another seat became the sole leader, (G,). Losing the lead to a tie and regaining it is no
    #: change.
    lead_changes: npt.NDArray[np.int16]
    #: Drama: the fraction of turns (of all seats) after which the eventual winner was not among the leaders, (G,).
    behind: npt.NDArray[np.float32]
    choices: npt.NDArray[np.float32]  # mean number of legal actions at the choices, (G,)
    forced: npt.NDArray[np.float32]  # fraction of the positions with a single legal action, (G,)
    decisions: npt.NDArray[np.int32]  # number of agent actions, (G,)
    turns: npt.NDArray[np.int16]  # number of turns of all seats, (G,)
    rounds: npt.NDArray[np.int16]  # number of rounds, (G,)
    points: npt.NDArray[np.int16]  # final points of each seat, (G, S)
    places: npt.NDArray[np.int8]  # final rank of each seat (0 is first), (G, S)

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self.decisions)


@kernel
def _end_turn(t, g, by_score, has, tally):
    """Update the lead counters after a turn. `has`, int64 (players,), is scratch space for the compared values."""
    most = np.int64(0)
    for seat in range(g.players):
        has[seat] = score(t, g, seat) if by_score else np.int64(g.points[seat])
        most = max(most, has[seat])
    leaders, leader = 0, 0
    for seat in range(g.players):
        if has[seat] < most:
            tally.behind[seat] += 1
        else:
            leaders += 1
            leader = seat
    tally.turns += 1
    if leaders == 1:
        if tally.leader >= 0 and tally.leader != leader:
            tally.lead_changes += 1
        tally.leader = leader


@kernel
def _follow(t, g, decisions, by_score, mask, has, tally):
    """Apply the actions of a game, int64 (n,), and return the index of the first illegal one, or n if all are legal."""
    for i in range(len(decisions)):
        write_mask(t, g, mask)
        action = decisions[i]
        if action < 0 or action >= len(mask) or mask[action] == 0:
            return i
        legal = np.int64(0)
        for other in range(len(mask)):
            legal += mask[other]
        if legal > 1:
            tally.choices += 1
            tally.legal += legal
        seat = g.seat
        if t.kind_of[action] == a.KIND_USE:
            tally.first_use[seat, action - t.offset[a.KIND_USE]] = g.round_number
        apply_action(t, g, action)
        if g.done or g.seat != seat:
            _end_turn(t, g, by_score, has, tally)
    return len(decisions)


@kernel
def _follow_batch(t, states, decisions, ends, by_score, mask, has, tallies):
    """Apply the actions of every game. The actions of game b end before index `ends[b]`, int64 (B,).

    Return the first game that its actions do not finish and the number of actions applied to it, or (-1, 0) if there is
    none.
    """
    begin = np.int64(0)
    for b in range(len(states)):
        taken = _follow(t, states[b], decisions[begin : ends[b]], by_score, mask, has, tallies[b])
        if taken < ends[b] - begin or not states[b].done:
            return b, taken
        begin = ends[b]
    return -1, np.int64(0)


def replay_games(
    config: HelsinkiConfig,
    seeds: npt.NDArray[np.uint64],
    covered: npt.NDArray[np.int16],
    denied: npt.NDArray[np.int16],
    decisions: Sequence[npt.NDArray[np.int16]],
    *,
    standing: LeadMeasure = "points",
) -> Course:
    """Replay games and return their course.

    Args:
        config: number of players, expansion and component file; its covered and denied actions are ignored.
        seeds: seeds of the games, uint64 (G,), as for `HelsinkiGame`.
        covered: actions disabled for all players, int16 (G,), bit i for action i.
        denied: actions disabled for each seat, int16 (G, S), bit i for action i.
        decisions: the action ids of each game, in order.
        standing: measure of the lead: "points" scored in play (`two_points` and bonus cards), or the "score" that the
            seat would have if the game ended there.

    Raises:
        ValueError: if array shapes do not match, an action is illegal, or a game does not end with its last action. The
            message names the game and the action index, both from 0.
    """
    HELSINKI.check_config(config)
    games, seats = len(decisions), config.num_players
    seeds = integer_array("seeds", seeds, (games,), 0, 2**64 - 1, UINT64)
    covered = integer_array("covered", covered, (games,), 0, _ALL_ACTIONS)
    denied = integer_array("denied", denied, (games, seats), 0, _ALL_ACTIONS)
    table, t = action_table(config.component_set.types), config.tables[0]
    states, tallies = new_states(games, config.component_set.types), np.zeros(games, _TALLY)
    apply_setup(states, config)
    states["covered"], states["denied"][:, :seats] = covered, denied
    keys = np.zeros(games, np.uint64)
    loops.batch_deal(t, states, seeds, keys, keys)
    tallies["first_use"], tallies["leader"] = -1, -1
    lengths = np.array([len(each) for each in decisions], np.int64)
    checked = [integer_array(f"decisions[{g}]", one, (None,), -(2**31), 2**31 - 1) for g, one in enumerate(decisions)]
    taken = np.concatenate([np.zeros(0, np.int64), *checked])
    scratch = np.zeros(table.size, np.int8), np.zeros(MAX_SEATS, np.int64)
    wrong, at = _follow_batch(t, states, taken, lengths.cumsum(), standing == "score", *scratch, tallies)
    if wrong >= 0:
        raise UserError(_describe_error(HelsinkiGame.from_state(config, states[wrong]), wrong, at, decisions[wrong]))
    return _course(t, states, tallies, lengths, seats)


def _describe_error(game: HelsinkiGame, number: int, at: int, decisions: npt.NDArray[np.int16]) -> str:
    """Describe the illegal action at index `at`, or the missing action at the end of the record."""
    if at == len(decisions):
        return f"game {number}: found {at} decisions of an unfinished game, expected all"
    remedy = "seed, configuration, denied actions or decisions are not those of this game"
    return f"game {number}, decision {at}: {why_illegal(game, int(decisions[at]))} ({remedy})"


def _course(t: Any, states: Any, tallies: Any, lengths: npt.NDArray[np.int64], seats: int) -> Course:
    scores, places = np.zeros((2, len(states), MAX_SEATS), np.int64)
    loops.batch_scores(t, states, scores, places)
    places = places[:, :seats]
    behind = np.take_along_axis(tallies["behind"], places.argmin(axis=1)[:, None], axis=1)[:, 0]
    return Course(
        first_use=tallies["first_use"][:, :seats].copy(),
        lead_changes=tallies["lead_changes"].copy(),
        behind=(behind / tallies["turns"]).astype(np.float32),
        choices=(tallies["legal"] / tallies["choices"]).astype(np.float32),
        forced=(1 - tallies["choices"] / lengths).astype(np.float32),
        decisions=lengths.astype(np.int32),
        turns=tallies["turns"].copy(),
        rounds=states["round_number"].copy(),
        points=scores[:, :seats].astype(np.int16),
        places=places.astype(np.int8),
    )


def replay_run(path: str | Path, *, standing: LeadMeasure = "points") -> dict[str, Course]:
    """Replay the games of a finished or unfinished arena run and return their course by matchup name.

    Rows are in the same order as in `helsinki_env.evaluation.arena.load.load_run`. Work units are replayed one at a
    time, so memory use does not grow with the number of actions.

    Args:
        path: folder of the run.
        standing: see `replay_games`.

    Raises:
        ArenaError: if the folder has no run, or the run is from another version of the environment.
        ValueError: if a game cannot be replayed; the message names the work unit, game and action.
    """
    folder = RunFolder.open(Path(path))
    played: list[list[Course]] = [[_empty_course(matchup.config)] for matchup in folder.plan.matchups]
    for unit, games in folder.games():
        config, schedule = folder.plan.matchups[unit.matchup].config, games.schedule
        disabled = schedule.disabled.covered, schedule.disabled.denied
        try:
            course = replay_games(config, schedule.seeds, *disabled, games.played.decisions, standing=standing)
        except UserError as problem:
            raise UserError(f"{path}: {folder.plan.describe(unit)}: {problem}") from None
        played[unit.matchup].append(course)
    columns = [field.name for field in fields(Course)]
    return {
        matchup.name: Course(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in columns})
        for matchup, parts in zip(folder.plan.matchups, played, strict=True)
    }


def _empty_course(config: HelsinkiConfig) -> Course:
    none = np.zeros(0, np.int16)
    return replay_games(config, none.astype(np.uint64), none, none.reshape(0, config.num_players), [])
