"""Everything that a search found, as plain data: what the report is made of, and nothing else is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agents.arena.load import Table
from agents.arena.workers import workers_kept
from agents.helsinki.balance.covers import fairness, measures
from agents.helsinki.balance.parts import StudyError
from agents.helsinki.balance.results import rounded, versions
from agents.helsinki.balance.tune.config import TuneConfig
from agents.helsinki.balance.tune.numbers import COVERED, Board, board_of, changed, covers, in_quotes, in_words, same
from agents.helsinki.balance.tune.run import Tuning
from agents.helsinki.balance.tune.search import Found, Proven, Tried
from agents.helsinki.balance.verdicts import Finding
from helsinki_env.data import Entry, sealed
from helsinki_env.games.helsinki.components import ACTIONS, load_components

__all__ = ["MEASURES", "judged_again", "results"]

MEASURES = ("rounds", "points", "spread", "skill")
"""What is measured of games as they are, see `agents.helsinki.balance.covers.MEASURES`."""


@workers_kept()
def results(tuning: Tuning, judge: str | None = None, command: str | None = None) -> dict[str, Any]:
    """Search, playing what is missing, and return everything that was found, with a digest of it all.

    Args:
        tuning: what is asked, and where it is kept.
        judge: another player who judges what is proposed.
        command: what searches so again, for the report; default: the one with what is asked.
    """
    config, found = tuning.config, tuning.search()
    proposal = found.proposal
    games = tuning.games(proposal.board) if proposal and config.quality else {}
    before = found.proof[0] if found.proof else found.screen
    boards = {"as it is": before.board} | ({"proposed": proposal.board} if proposal else {})
    data = {
        "tuning": config.to_dict(),
        "actions": list(ACTIONS),
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
            **versions(),
            "command": command or f"helsinki balance tune {config.name}",
            "networks": tuning.tournaments.networks,
            "parts": tuning.tournaments.played,
        },
    }
    return sealed(rounded(data))


def judged_again(tuning: Tuning, found: Mapping[str, Any], judge: str) -> dict[str, Any]:
    """Return what an earlier search found, and what another player makes of its proposal now.

    Args:
        tuning: what was asked, and where games are kept.
        found: what was found, see `agents.helsinki.balance.tune.found`.
        judge: who judges.
    """
    data = Entry(found, StudyError, "")
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
    return sealed(rounded(told | {"judged": judged, "provenance": provenance}))


def _judged(tuning: Tuning, board: Board, judge: str) -> dict[str, Any]:
    before, after = tuning.judged(board, judge)
    return {
        "player": judge,
        "summary": _agreement(tuning.config, judge, before, after),
        "before": _proven(tuning.config, before, "as it is"),
        "after": _proven(tuning.config, after, "proposed"),
    }


def _change(config: TuneConfig, board: Board) -> list[dict[str, Any]]:
    return [
        {"action": ACTIONS[number.action], "kind": number.kind, "was": number.was, "now": value}
        for number, value in changed(config.free, board)
    ]


def _proven(config: TuneConfig, proven: Proven, name: str) -> dict[str, Any]:
    """What was measured on a board; screens in the form in which `agents.helsinki.balance.figures` draws them."""
    return {
        "beyond": proven.about(config.band),
        "beyond_low": proven.surely(config.band),
        "beyond_high": proven.at_most(config.band),
        "screen": [
            {
                "player": name,
                "players": n,
                "actions": [_finding(action, proven.findings, n) for action in ACTIONS],
            }
            for n in config.players
        ],
    }


def _finding(action: str, found: Sequence[Finding], players: int) -> dict[str, Any]:
    """What was found of an action, None where it is covered."""
    one = next((one for one in found if (one.action, one.players) == (action, players)), None)
    return {
        "action": action,
        "power": one and one.power,
        "deviation": one and one.deviation,
        "deviation_low": one and one.low,
        "deviation_high": one and one.high,
    }


def _tried(config: TuneConfig, tried: Tried) -> dict[str, Any]:
    return {"change": _change(config, tried.board), "predicted": tried.predicted, "seen": tried.seen}


def _numbers(config: TuneConfig, found: Found) -> list[dict[str, Any]]:
    """What each number does to the power of its action by the model, the others as they are."""
    told: list[dict[str, Any]] = []
    if covers(config.free):
        return told  # an action that is covered has no worth
    box = same(config.free)
    for i, number in enumerate(config.free if found.models else ()):
        values = sorted({*number.others, number.was})
        boards = np.array([[*box[:i], value, *box[i + 1 :]] for value in values], np.int64)
        powers = {
            n: model.powers(boards)[:, number.action] for n, model in zip(config.players, found.models, strict=True)
        }
        told.append(
            {
                "action": ACTIONS[number.action],
                "kind": number.kind,
                "was": number.was,
                "values": values,
                "power": powers,
            }
        )
    return told


def _of_games(own: Table, against: Table) -> dict[str, Any]:
    """Length, points, seats and skill of the games on a board."""
    alike = measures(own, np.zeros(len(own), np.int64), 1)
    apart = measures(against, np.zeros(len(against), np.int64), 1)
    found = {name: (apart if name == "skill" else alike)[name] for name in MEASURES}
    return {
        "games": len(own),
        "measures": {name: {"mean": one.mean[0], "error": one.error[0]} for name, one in found.items()},
        "seats": fairness(own),
    }


def _summary(config: TuneConfig, found: Found) -> list[str]:
    """Return what came of it in sentences."""
    counts = ", ".join(str(n) for n in config.players)
    band = f"the band of ±{config.band:g} win-share points around the average action"
    sure = f"with {100 * config.level:g} % probability for all intervals together"
    if found.proposal is None:
        said = {
            "in the band": f"All actions lie within {band} ({counts} players, {sure}).",
            "not surely beyond": f"No action lies beyond {band} for sure ({counts} players, {sure}).",
            "nothing better": f"None of the boards that were left lies nearer to {band} than the board as it is for "
            f"sure ({counts} players, {sure}).",
        }[found.outcome]
        return [said, "Nothing is proposed."]
    proposal, before = found.proposal, found.proof[0]
    words = in_words(config.free, proposal.board)
    numbers = "one number" if len(words) == 1 else f"{len(words)} numbers"
    change = f"Change {numbers} of the action board: {'; '.join(words)}."
    if covers(config.free):
        covered = ", ".join(in_quotes(number.action) for number, _ in changed(config.free, proposal.board))
        change = f"Cover {COVERED} actions for all: {covered}."
    left, least = proposal.at_most(config.band), before.surely(config.band)
    now = "all actions lie within" if left == 0 else f"no action lies farther than {left:.1f} points beyond"
    still = sorted({one.action for one in proposal.findings if max(one.low, -one.high) > config.band})
    names = ", ".join(in_quotes(ACTIONS.index(name)) for name in still)
    return [
        change,
        f"Then {now} {band}; as it is, one lies {least:.1f} points or more beyond it ({counts} players, {sure}).",
        *([f"Still beyond it for sure: {names}."] if still else []),
    ]


def _agreement(config: TuneConfig, judge: str, before: Proven, after: Proven) -> str:
    """Return what another player makes of the proposal in a sentence."""
    least, left = before.surely(config.band), after.at_most(config.band)
    says = "agrees" if left < least else "does not confirm it for sure"
    then = f"by its games no action lies farther than {left:.1f} points beyond the band then"
    return f"Another player, '{judge}', {says}: {then}, and one lies {least:.1f} points or more beyond it as it is."
