"""Run a search, in which each part is a resumable tournament, and collect the results for its report.

The search depends only on the games, and the games depend only on the configuration and its seed. A resumed run
therefore produces the same boards, games and report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from helsinki_env.agents.registry import check_code
from helsinki_env.data import Node, read_json, short_repr, with_digest
from helsinki_env.evaluation.arena.designs import MIN_SCREENING_DEALS, ScreeningDesign, decode_action_sets
from helsinki_env.evaluation.arena.load import MatchupGames
from helsinki_env.evaluation.arena.plan import Plan
from helsinki_env.evaluation.arena.run import reuse_workers, run_arena
from helsinki_env.evaluation.balance.helsinki.base import (
    RunTournament,
    StudyError,
    StudyTournaments,
    software_versions,
)
from helsinki_env.evaluation.balance.helsinki.conclusions import Finding
from helsinki_env.evaluation.balance.helsinki.estimates import (
    GAME_MEASURES,
    ablation_games,
    group_measures,
    seat_win_rates,
)
from helsinki_env.evaluation.balance.helsinki.tune.config import (
    BOARDS,
    COVERED,
    LIFT,
    BoardValues,
    TuneConfig,
    board_changes,
    board_file,
    board_of,
    covered_on,
    describe_changes,
    in_quotes,
    published_board,
    searches_covers,
)
from helsinki_env.evaluation.balance.helsinki.tune.estimates import (
    DEAD_ACTION_EFFECT,
    BoardEstimates,
    BoardLevel,
    Interval,
    ScreeningGames,
    estimate_boards,
)
from helsinki_env.evaluation.balance.helsinki.tune.report import report_page
from helsinki_env.evaluation.balance.helsinki.tune.search import BoardSearchResult, ScreeningRequest, search_boards
from helsinki_env.evaluation.rating.shares import to_json_data
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, load_components
from helsinki_env.utils.markdown import all_printable

__all__ = ["BoardTuning", "read_found", "reevaluate_proposal", "tune_results"]

#: The parts in the order of their seeds. The seeds of the halving rounds follow; the last seed belongs to the
#: evaluator.
_PARTS = ("screening", "slopes", "proof", "games")
_SEEDS = 16
_EVALUATOR = "reevaluation"
#: The evaluator plays 1/n of the games of the proof. Checking a proposal requires fewer games than choosing among
#: boards.
_EVALUATED = 4
#: Half of the deals have sets of random size. Compared with one fifth, as in a study, standard errors are 0.6 times as
#: large for levels and 1.03 times as large for deviations (4,800 games of `heuristic` at each player count).
_SCREENING = ScreeningDesign(loose=0.5)


class BoardTuning:
    """A search for a balanced board, with all its games and files in one folder.

    Args:
        config: configuration of the search.
        folder: folder for all games and files.
        run: function that plays a part. By default, parts are played by processes on this machine, without progress
            output.

    Attributes:
        tournaments: the parts of the search, played on demand.
        proposal: path of the proposed component file (or game file, if actions are covered), or None if there is no
            proposal yet.
    """

    def __init__(self, config: TuneConfig, folder: Path, run: RunTournament | None = None) -> None:
        self.config, self.folder = config, folder
        self.tournaments = StudyTournaments(folder, run or self._run_here)
        self.proposal: Path | None = None

    def _run_here(self, part: str, plan: Plan) -> None:
        run_arena(plan, self.folder / part)

    def search(self) -> BoardSearchResult:
        """Play the missing games and return the result of the search."""
        result = search_boards(self.config, self._play_screening)
        if result.proposal is not None:
            self.propose(result.proposal.board)
        return result

    def propose(self, board: BoardValues) -> None:
        """Write the file that defines a board, and store its path in `proposal`."""
        self.proposal = self._file(board)

    def game(self, board: BoardValues) -> dict[str, Any]:
        """Return the game configuration of a board, without the number of players, after writing missing files."""
        config = self.config
        if board == published_board(config.free):
            return {"components": config.components}
        if searches_covers(config.free):
            return {"components": config.components, "covered": covered_on(config.free, board)}
        return {"components": str(self._file(board))}

    def _file(self, board: BoardValues) -> Path:
        return board_file(self.config.components, self.config.free, board, self.folder.resolve() / BOARDS)

    def games(self, board: BoardValues) -> dict[str, dict[int, tuple[MatchupGames, MatchupGames]]]:
        """Return games on the published board and another board that measure length, points and win rates.

        At each player count, the player plays against itself on each board. It also plays one seat against the weaker
        player in all other seats.
        """
        config, matchups = self.config, []
        boards = {"as it is": published_board(config.free), "proposed": board}
        for name, one in boards.items():
            for n in config.players:
                common = {"games": config.quality, "game": {"num_players": n, **self.game(one)}}
                lineups = [[config.player, *[config.weaker] * (n - 1)]]
                matchups.append({"name": f"{name}, {n} players", "players": [config.player], **common})
                matchups.append({"name": f"{name}, {n} players, against {config.weaker}", "lineups": lineups, **common})
        loaded = iter(self._play("games", matchups))
        return {name: {n: (next(loaded), next(loaded)) for n in config.players} for name in boards}

    def reevaluate(self, board: BoardValues, player: str) -> list[BoardEstimates]:
        """Return estimates for the published board and another board from games of another player on fresh deals.

        The player plays a quarter as many games as the proof. Intervals hold simultaneously for both boards.
        """
        config, boards = self.config, [published_board(self.config.free), board]
        requests = [
            ScreeningRequest(one, n, max(MIN_SCREENING_DEALS * n, config.games.proof[n] // _EVALUATED))
            for one in boards
            for n in config.players
        ]
        return estimate_boards(config, boards, self._play_screening(_EVALUATOR, requests, player))

    def _play_screening(
        self, part: str, requests: Sequence[ScreeningRequest], player: str | None = None
    ) -> list[ScreeningGames]:
        matchups = [
            {
                "name": f"board {i // len(self.config.players)}, {one.players} players",
                "players": [player or self.config.player],
                "games": one.games,
                "game": {"num_players": one.players, **self.game(one.board)},
                "screening": asdict(_SCREENING),
            }
            for i, one in enumerate(requests)
        ]
        return [
            ScreeningGames(ablation_games(matchup), decode_action_sets(matchup.used))
            for matchup in self._play(part, matchups)
        ]

    def _play(self, part: str, matchups: list[dict[str, Any]]) -> list[MatchupGames]:
        return self.tournaments.matchups(part, self.config.seed * _SEEDS + _number(part), matchups)


def _number(part: str) -> int:
    """Return the seed index of a part."""
    if part == _EVALUATOR:
        return _SEEDS - 1
    return _PARTS.index(part) if part in _PARTS else len(_PARTS) + int(part.rpartition("-")[2])


@reuse_workers()
def tune_results(tuning: BoardTuning, evaluator: str | None = None, command: str | None = None) -> dict[str, Any]:
    """Run the search, play missing games, and return all results with a digest.

    Args:
        tuning: configuration and folder of the search.
        evaluator: another player that evaluates the proposal, or None to skip this evaluation.
        command: command that reproduces the search, for the report. By default, it is derived from the name of the
            configuration.
    """
    config, result = tuning.config, tuning.search()
    proposal = result.proposal
    games = tuning.games(proposal.board) if proposal and config.quality else {}
    before = result.proof[0] if result.proof else result.screening
    boards = {"as it is": before.board} | ({"proposed": proposal.board} if proposal else {})
    data = {
        "tuning": config.to_dict(),
        "actions": list(BOARD_ACTIONS),
        "outcome": result.outcome,
        "summary": _summary(config, result),
        "change": _change(config, proposal.board) if proposal else [],
        "components": {
            name: load_components(tuning.game(board)["components"]).digest for name, board in boards.items()
        },
        "before": _estimates(before, "as it is"),
        "after": _estimates(proposal, "proposed") if proposal else None,
        "reevaluation": _evaluation(tuning, proposal.board, evaluator) if proposal and evaluator else None,
        "numbers": _numbers(config, result),
        "tried": [
            {"change": _change(config, one.board), "predicted": one.predicted, "seen": one.seen, "share": one.share}
            for one in result.tried
        ],
        "games": [
            {"board": name, "players": n, **_measures(*matchups)}
            for name, by_players in games.items()
            for n, matchups in by_players.items()
        ],
        "provenance": {
            **software_versions(),
            "command": command or f"helsinki balance tune {config.name}",
            "networks": tuning.tournaments.networks,
            "parts": tuning.tournaments.played,
        },
    }
    return with_digest(to_json_data(data))


def reevaluate_proposal(tuning: BoardTuning, found: Mapping[str, Any], evaluator: str) -> dict[str, Any]:
    """Return the results of an earlier search with an evaluation of its proposal by another player.

    Args:
        tuning: configuration and folder of the search.
        found: results of the earlier search, see `read_found`.
        evaluator: the other player.
    """
    data = Node(found, StudyError, "")
    board = board_of(tuning.config.free, tuning.config.most, data["change"])
    tuning.propose(board)
    digest = load_components(tuning.game(board)["components"]).digest
    if data["components"]["proposed"].value != digest:
        data["components"]["proposed"].fail(f"{digest}, of the board with the changes in the file")
    reevaluation = _evaluation(tuning, board, evaluator)
    rest = {key: value for key, value in found.items() if key != "digest"}
    provenance = {
        **rest["provenance"],
        "networks": rest["provenance"]["networks"] | tuning.tournaments.networks,
        "parts": rest["provenance"]["parts"] | tuning.tournaments.played,
    }
    return with_digest(to_json_data(rest | {"reevaluation": reevaluation, "provenance": provenance}))


def _evaluation(tuning: BoardTuning, board: BoardValues, player: str) -> dict[str, Any]:
    before, after = tuning.reevaluate(board, player)
    return {
        "player": player,
        "summary": _agreement(tuning.config, player, before, after),
        "before": _estimates(before, "as it is"),
        "after": _estimates(after, "proposed"),
    }


def _change(config: TuneConfig, board: BoardValues) -> list[dict[str, Any]]:
    return [
        {"action": BOARD_ACTIONS[number.action], "kind": number.kind, "was": number.was, "now": value}
        for number, value in board_changes(config.free, board)
    ]


def _estimates(board: BoardEstimates, player: str) -> dict[str, Any]:
    """Return the estimates for a board in the format of `forest_plot`."""
    return {
        **_interval("beyond", board.distance),
        "screening": [
            {
                "player": player,
                "players": level.players,
                "actions": [_finding(name, board.findings, level) for name in BOARD_ACTIONS],
                "level": {
                    **_interval("level", level.level),
                    **_interval("share", level.share),
                    "dead": level.dead,
                    "dead_low": level.dead_count.low,
                    "dead_high": level.dead_count.high,
                },
            }
            for level in board.levels
        ],
    }


def _interval(name: str, one: Interval | None) -> dict[str, float | None]:
    """Return an estimate and the endpoints of its interval. Without an estimate, all values are None."""
    ends = (None, None, None) if one is None else (one.value, one.low, one.high)
    return dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))


def _finding(name: str, findings: Sequence[Finding], level: BoardLevel) -> dict[str, Any]:
    """Return the findings about an action. For a covered action, all values are None."""
    one = next((one for one in findings if (one.action, one.players) == (name, level.players)), None)
    return {
        "action": name,
        **_interval("power", level.effects.get(name)),
        **_interval("deviation", Interval(one.deviation, one.low, one.high) if one else None),
        **_interval("use", level.use.get(name)),
    }


def _numbers(config: TuneConfig, result: BoardSearchResult) -> list[dict[str, Any]]:
    """Return the predicted effect of each action for all values of its parameters, each changed alone."""
    if searches_covers(config.free) or not result.models:
        return []  # a covered action has no effect
    published = published_board(config.free)
    numbers = []
    for i, number in enumerate(config.free):
        values = sorted({*number.others, number.was})
        boards = np.array([[*published[:i], value, *published[i + 1 :]] for value in values], np.int64)
        models = zip(config.players, result.models, strict=True)
        numbers.append(
            {
                "action": BOARD_ACTIONS[number.action],
                "kind": number.kind,
                "was": number.was,
                "values": values,
                "power": {n: model.powers(boards)[:, number.action] for n, model in models},
            }
        )
    return numbers


def _measures(equals: MatchupGames, against_weaker: MatchupGames) -> dict[str, Any]:
    """Return the length, points, skill and win rates by seat of the games on a board."""
    own, skill = (group_measures(games, np.zeros(len(games), np.int64), 1) for games in (equals, against_weaker))
    measured = {name: (skill if name == "skill" else own)[name] for name in GAME_MEASURES}
    return {
        "games": len(equals),
        "measures": {name: {"mean": one.mean[0], "error": one.error[0]} for name, one in measured.items()},
        "seats": seat_win_rates(equals),
    }


def _summary(config: TuneConfig, result: BoardSearchResult) -> list[str]:
    """Return sentences that summarize the outcome."""
    counts = ", ".join(str(n) for n in config.players)
    sure = f"({counts} players, with {100 * config.level:g}% probability for all intervals together)"
    before = result.proof[0] if result.proof else result.screening
    if result.proposal is None:
        at_most = _target(config, before.distance.high)
        sentence = {
            "within the margin": f"{at_most[0].upper()}{at_most[1:]} {sure}.",
            "not significant": f"The board does not miss the aim significantly: {at_most} {sure}.",
            "below the floor": f"No better finalist has a level significantly above {_floor(config)} {sure}.",
            "nothing better": f"No finalist is significantly better than the published board {sure}.",
        }[result.outcome]
        return [sentence, *_level([before]), "Nothing is proposed."]
    proposal = result.proposal
    changes = describe_changes(config.free, proposal.board)
    numbers = "one number" if len(changes) == 1 else f"{len(changes)} numbers"
    change = f"Change {numbers} of the action board: {'; '.join(changes)}."
    if searches_covers(config.free):
        covered = ", ".join(in_quotes(number.action) for number, _ in board_changes(config.free, proposal.board))
        change = f"Cover {COVERED} actions for all: {covered}."
    still = sorted({one.action for one in proposal.findings if max(one.low, -one.high) > config.equivalence_margin})
    names = ", ".join(in_quotes(BOARD_ACTIONS.index(name)) for name in still)
    kept = [f"The level is significantly above {_floor(config)}." if config.floor else "The level has no floor."]
    return [
        change,
        f"After the change, {_target(config, proposal.distance.high)}; before it, {_lacks(config, before)} {sure}.",
        *_level([before, proposal]),
        *kept,
        *([f"Still significantly beyond the margin around the mean of the board: {names}."] if still else []),
    ]


def _target(config: TuneConfig, far: float) -> str:
    """Describe, without a full stop, what holds for a board at a distance of at most `far` from the aim."""
    margin = f"margin of ±{config.equivalence_margin:g} games per 100 around the average action"
    if config.aim == LIFT:
        target = f"the level of the published board minus {config.equivalence_margin:g}"
        return f"actions fall short of {target} by at most {far:.1f} games per 100 on average"
    if far == 0:
        return f"all actions lie within the {margin}"
    return f"no action lies more than {far:.1f} beyond the {margin}"


def _lacks(config: TuneConfig, board: BoardEstimates) -> str:
    least = board.distance.low
    if config.aim == LIFT:
        return f"they fall short of it by at least {least:.1f}"
    return f"one lies {least:.1f} or more beyond it"


def _floor(config: TuneConfig) -> str:
    return f"{100 * config.floor:g}% of the level of the published board for every player count"


def _level(boards: Sequence[BoardEstimates]) -> list[str]:
    """Return sentences about the level and the dead actions of one or two boards at each player count."""
    values = [" / ".join(f"{one.level.value:.1f}" for one in board.levels) for board in boards]
    dead = [" / ".join(str(len(one.dead)) for one in board.levels) for board in boards]
    counts = " / ".join(str(one.players) for one in boards[0].levels)
    text = ["{0}", "from {0} to {1}"][len(boards) - 1]
    return [
        f"Level (mean effect of an action, {counts} players): {text.format(*values)} games per 100.",
        f"Dead actions (effect below {DEAD_ACTION_EFFECT:g} game per 100): {text.format(*dead)}.",
    ]


def _agreement(config: TuneConfig, evaluator: str, before: BoardEstimates, after: BoardEstimates) -> str:
    """Return sentences about another player's evaluation of the proposal."""
    says = "agrees" if after.distance.high < before.distance.low else "does not confirm it significantly"
    outcome = (
        f"in its games, {_target(config, after.distance.high)} after the change; before it, {_lacks(config, before)}"
    )
    levels = [" / ".join(f"{one.level.value:.1f}" for one in board.levels) for board in (before, after)]
    kept = f", {'' if after.above_floor else 'not '}significantly above the floor" if config.floor else ""
    return f"Another player, '{evaluator}', {says}: {outcome}. Its level changes from {levels[0]} to {levels[1]}{kept}."


def read_found(path: Path, *, trust: bool = False) -> tuple[TuneConfig, dict[str, Any]]:
    """Read the configuration and results of an earlier search from its `tune.json`.

    Args:
        path: path of the JSON file.
        trust: allow players that run code (``program:COMMAND``, ``MODULE:ATTRIBUTE``).

    Raises:
        StudyError: if the file is invalid, was modified, or has no proposal; the message names the file and the key.
        PlayerError: if the file names code and is not trusted.
    """
    data = read_json(path, StudyError)
    data.verify_digest("the data of a tuning")
    config = TuneConfig.from_dict(data["tuning"].mapping())
    check_code(config.player_names, path, trust=trust)
    if not data["change"].entries("changes"):
        data["change"].fail("at least one change, as proposed by a successful search")
    board_of(config.free, config.most, data["change"])
    with data.usable_for("the report of a search"):  # fail before the games are played, which takes hours
        counts = [[entry["players"] for entry in data.value[name]["screening"]] for name in ("before", "after")]
        if counts != [list(config.players)] * 2:
            raise StudyError(
                f"{path}: found estimates for {short_repr(counts)} players, expected {short_repr(list(config.players))}"
            )
        list(report_page(all_printable(data.value | {"reevaluation": None})))
    digest = load_components(config.components).digest
    if data["components"]["as it is"].value != digest:
        data["components"]["as it is"].fail(f"{digest} as in the current component file {config.components!r}")
    return config, dict(data.value) | {"tuning": config.to_dict()}
