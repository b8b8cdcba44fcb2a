"""Collect all results of a search as plain data, the only input of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from helsinki_env.data import Node, with_digest
from helsinki_env.evaluation.arena.load import MatchupGames
from helsinki_env.evaluation.arena.workers import reuse_workers
from helsinki_env.evaluation.balance.helsinki.conclusions import Finding
from helsinki_env.evaluation.balance.helsinki.covers import group_measures, seat_win_rates
from helsinki_env.evaluation.balance.helsinki.part_configs import StudyError
from helsinki_env.evaluation.balance.helsinki.results import software_versions, to_json_data
from helsinki_env.evaluation.balance.helsinki.tune.config import LIFT, TuneConfig
from helsinki_env.evaluation.balance.helsinki.tune.numbers import (
    COVERED,
    BoardValues,
    board_changes,
    board_of,
    describe_changes,
    in_quotes,
    published_board,
    searches_covers,
)
from helsinki_env.evaluation.balance.helsinki.tune.proof import DEAD_ACTION_EFFECT, BoardEstimates, BoardLevel, Interval
from helsinki_env.evaluation.balance.helsinki.tune.run import BoardTuning
from helsinki_env.evaluation.balance.helsinki.tune.search import BoardSearchResult, TriedBoard
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, load_components

__all__ = ["COMPARED_MEASURES", "reevaluate_proposal", "tune_results"]

COMPARED_MEASURES = ("rounds", "points", "spread", "skill")
"""Measures of the published games, see `helsinki_env.evaluation.balance.helsinki.covers.GAME_MEASURES`."""


@reuse_workers()
def tune_results(tuning: BoardTuning, judge: str | None = None, command: str | None = None) -> dict[str, Any]:
    """Run the search, playing missing games, and return all results with a digest.

    Args:
        tuning: configuration and folder of the search.
        judge: another player that evaluates the proposal.
        command: command that reproduces the search, for the report; default: the one with its configuration.
    """
    config, found = tuning.config, tuning.search()
    proposal = found.proposal
    games = tuning.games(proposal.board) if proposal and config.quality else {}
    before = found.proof[0] if found.proof else found.screen
    boards = {"as it is": before.board} | ({"proposed": proposal.board} if proposal else {})
    data = {
        "tuning": config.to_dict(),
        "actions": list(BOARD_ACTIONS),
        "outcome": found.outcome,
        "summary": _summary(config, found),
        "change": _change(config, proposal.board) if proposal else [],
        "components": {
            name: load_components(tuning.game(board)["components"]).digest for name, board in boards.items()
        },
        "before": _proven(config, before, "as it is"),
        "after": _proven(config, proposal, "proposed") if proposal else None,
        "judged": _judged(tuning, proposal.board, judge) if proposal and judge else None,
        "numbers": _numbers(config, found),
        "tried": [_tried(config, one) for one in found.tried],
        "games": [
            {"board": name, "players": n, **_of_games(*tables)}
            for name, by_players in games.items()
            for n, tables in by_players.items()
        ],
        "provenance": {
            **software_versions(),
            "command": command or f"helsinki balance tune {config.name}",
            "networks": tuning.tournaments.networks,
            "parts": tuning.tournaments.played,
        },
    }
    return with_digest(to_json_data(data))


def reevaluate_proposal(tuning: BoardTuning, found: Mapping[str, Any], judge: str) -> dict[str, Any]:
    """Return the results of an earlier search, with another player's evaluation of its proposal.

    Args:
        tuning: configuration and folder of the search.
        found: earlier results, see `helsinki_env.evaluation.balance.helsinki.tune.found`.
        judge: the evaluator.
    """
    data = Node(found, StudyError, "")
    board = board_of(tuning.config.free, tuning.config.most, data["change"])
    tuning.propose(board)
    digest = load_components(tuning.game(board)["components"]).digest
    if data["components"]["proposed"].value != digest:
        data["components"]["proposed"].fail(f"{digest}, of the board with the changes that stand there")
    judged, told = _judged(tuning, board, judge), {key: value for key, value in found.items() if key != "digest"}
    provenance = {
        **told["provenance"],
        "networks": told["provenance"]["networks"] | tuning.tournaments.networks,
        "parts": told["provenance"]["parts"] | tuning.tournaments.played,
    }
    return with_digest(to_json_data(told | {"judged": judged, "provenance": provenance}))


def _judged(tuning: BoardTuning, board: BoardValues, judge: str) -> dict[str, Any]:
    before, after = tuning.reevaluate(board, judge)
    return {
        "player": judge,
        "summary": _agreement(tuning.config, judge, before, after),
        "before": _proven(tuning.config, before, "as it is"),
        "after": _proven(tuning.config, after, "proposed"),
    }


def _change(config: TuneConfig, board: BoardValues) -> list[dict[str, Any]]:
    return [
        {"action": BOARD_ACTIONS[number.action], "kind": number.kind, "was": number.was, "now": value}
        for number, value in board_changes(config.free, board)
    ]


def _proven(config: TuneConfig, proven: BoardEstimates, name: str) -> dict[str, Any]:
    """Return the estimates for a board, in the form that `helsinki_env.evaluation.balance.helsinki.figures` draws."""
    return {
        "beyond": proven.distance.value,
        "beyond_low": proven.distance.low,
        "beyond_high": proven.distance.high,
        "screen": [
            {
                "player": name,
                "players": level.players,
                "actions": [_finding(action, proven.findings, level) for action in BOARD_ACTIONS],
                "level": {
                    **_interval("level", level.level),
                    **_interval("share", level.share),
                    "dead": level.dead,
                    "dead_low": level.dead_count.low,
                    "dead_high": level.dead_count.high,
                },
            }
            for level in proven.levels
        ],
    }


def _interval(name: str, one: Interval | None) -> dict[str, float | None]:
    """Return an estimate and its ends, None if missing."""
    ends = (None, None, None) if one is None else (one.value, one.low, one.high)
    return dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))


def _finding(action: str, found: Sequence[Finding], level: BoardLevel) -> dict[str, Any]:
    """Return the findings on an action, None if it is covered."""
    one = next((one for one in found if (one.action, one.players) == (action, level.players)), None)
    return {
        "action": action,
        **_interval("power", level.effects.get(action)),
        "deviation": one and one.deviation,
        "deviation_low": one and one.low,
        "deviation_high": one and one.high,
        **_interval("use", level.use.get(action)),
    }


def _tried(config: TuneConfig, tried: TriedBoard) -> dict[str, Any]:
    return {
        "change": _change(config, tried.board),
        "predicted": tried.predicted,
        "seen": tried.seen,
        "share": tried.share,
    }


def _numbers(config: TuneConfig, found: BoardSearchResult) -> list[dict[str, Any]]:
    """Return the predicted effect of each number on the power of its action, the others unchanged."""
    told: list[dict[str, Any]] = []
    if searches_covers(config.free):
        return told  # a covered action has no effect
    box = published_board(config.free)
    for i, number in enumerate(config.free if found.models else ()):
        values = sorted({*number.others, number.was})
        boards = np.array([[*box[:i], value, *box[i + 1 :]] for value in values], np.int64)
        powers = {
            n: model.powers(boards)[:, number.action] for n, model in zip(config.players, found.models, strict=True)
        }
        told.append(
            {
                "action": BOARD_ACTIONS[number.action],
                "kind": number.kind,
                "was": number.was,
                "values": values,
                "power": powers,
            }
        )
    return told


def _of_games(own: MatchupGames, against: MatchupGames) -> dict[str, Any]:
    """Return length, points, win rates by seat and skill of the games on a board."""
    alike = group_measures(own, np.zeros(len(own), np.int64), 1)
    apart = group_measures(against, np.zeros(len(against), np.int64), 1)
    found = {name: (apart if name == "skill" else alike)[name] for name in COMPARED_MEASURES}
    return {
        "games": len(own),
        "measures": {name: {"mean": one.mean[0], "error": one.error[0]} for name, one in found.items()},
        "seats": seat_win_rates(own),
    }


def _summary(config: TuneConfig, found: BoardSearchResult) -> list[str]:
    """Return the outcome as sentences."""
    counts = ", ".join(str(n) for n in config.players)
    sure = f"({counts} players, with {100 * config.level:g} % probability for all intervals together)"
    before = found.proof[0] if found.proof else found.screen
    if found.proposal is None:
        at_most = _target(config, before.distance.high)
        said = {
            "in the band": f"{_upper(at_most)} {sure}.",
            "not surely beyond": f"The board does not surely miss the aim: {at_most} {sure}.",
            "level not kept": f"No finalist that is surely better surely keeps {_floor(config)} {sure}.",
            "nothing better": f"No finalist is surely better than the board as it is {sure}.",
        }[found.outcome]
        return [said, *_level([before]), "Nothing is proposed."]
    proposal = found.proposal
    words = describe_changes(config.free, proposal.board)
    numbers = "one number" if len(words) == 1 else f"{len(words)} numbers"
    change = f"Change {numbers} of the action board: {'; '.join(words)}."
    if searches_covers(config.free):
        covered = ", ".join(in_quotes(number.action) for number, _ in board_changes(config.free, proposal.board))
        change = f"Cover {COVERED} actions for all: {covered}."
    still = sorted({one.action for one in proposal.findings if max(one.low, -one.high) > config.band})
    names = ", ".join(in_quotes(BOARD_ACTIONS.index(name)) for name in still)
    kept = [f"The level surely keeps {_floor(config)}."] if config.floor else ["No floor was set for the level."]
    return [
        change,
        f"Then {_target(config, proposal.distance.high)}; as it is, {_lacks(config, before)} {sure}.",
        *_level([before, proposal]),
        *kept,
        *([f"Still beyond the band around the mean of the board for sure: {names}."] if still else []),
    ]


def _upper(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def _target(config: TuneConfig, far: float) -> str:
    """Return the target that a board at most this far from the aim meets, without a full stop."""
    band = f"±{config.band:g} games of a hundred"
    if config.aim == LIFT:
        target = f"the level of the published board less {config.band:g}"
        return f"actions fall short of {target} by at most {far:.1f} games of a hundred on average"
    if far == 0:
        return f"all actions lie within the band of {band} around the average action"
    return f"no action lies farther than {far:.1f} points beyond the band of {band} around the average action"


def _lacks(config: TuneConfig, board: BoardEstimates) -> str:
    least = board.distance.low
    if config.aim == LIFT:
        return f"they fall short of it by at least {least:.1f}"
    return f"one lies {least:.1f} points or more beyond it"


def _floor(config: TuneConfig) -> str:
    return f"{100 * config.floor:g} % of the level of the published board with every number of players"


def _level(boards: Sequence[BoardEstimates]) -> list[str]:
    """Return a sentence on the level and one on the dead actions, by number of players, for one or two boards."""
    values = [" / ".join(f"{one.level.value:.1f}" for one in board.levels) for board in boards]
    dead = [" / ".join(str(len(one.dead)) for one in board.levels) for board in boards]
    counts = " / ".join(str(one.players) for one in boards[0].levels)
    told = ["{0}", "from {0} to {1}"][len(boards) - 1]
    return [
        f"Level (mean effect of an action, {counts} players): {told.format(*values)} games of a hundred.",
        f"Dead actions (effect below {DEAD_ACTION_EFFECT:g} game of a hundred): {told.format(*dead)}.",
    ]


def _agreement(config: TuneConfig, judge: str, before: BoardEstimates, after: BoardEstimates) -> str:
    """Return a sentence on another player's evaluation of the proposal."""
    says = "agrees" if after.distance.high < before.distance.low else "does not confirm it for sure"
    then = f"by its games {_target(config, after.distance.high)} then, and {_lacks(config, before)} as it is"
    levels = [" / ".join(f"{one.level.value:.1f}" for one in board.levels) for board in (before, after)]
    kept = f", {'which surely keeps' if after.kept else 'which does not surely keep'} the floor" if config.floor else ""
    return f"Another player, '{judge}', {says}: {then}. To it the level goes from {levels[0]} to {levels[1]}{kept}."
