"""Run the search for a balanced board: every part is a resumable tournament in its own folder.

The search depends only on the games, and these only on the file and its seed. A resumed run therefore gives the same
boards, games and bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from helsinki_env.evaluation.arena.designs import ScreeningDesign, decode_action_sets
from helsinki_env.evaluation.arena.load import MatchupGames
from helsinki_env.evaluation.arena.plan import Plan
from helsinki_env.evaluation.arena.run import run_arena
from helsinki_env.evaluation.balance.helsinki.base import MIN_SCREENING_DEALS, RunTournament, StudyTournaments
from helsinki_env.evaluation.balance.helsinki.screening import ablation_games
from helsinki_env.evaluation.balance.helsinki.tune.config import BOARDS, TuneConfig
from helsinki_env.evaluation.balance.helsinki.tune.numbers import (
    BoardValues,
    board_file,
    covered_on,
    published_board,
    searches_covers,
)
from helsinki_env.evaluation.balance.helsinki.tune.proof import BoardEstimates, ScreeningGames, estimate_boards
from helsinki_env.evaluation.balance.helsinki.tune.search import BoardSearchResult, ScreeningRequest, search

__all__ = ["BoardTuning"]

#: Every part has its own deals; the halving rounds follow, and the last seed is the evaluator's.
_PARTS = ("screen", "slopes", "proof", "games")
_SEEDS = 16
_EVALUATOR = "judge"
#: Fraction (1/n) of the proof's games for an evaluator: agreement needs fewer games than a choice among boards.
_EVALUATED = 4
#: Half of the paired games draw sets of random sizes. Compared with the fifth of a study, standard errors are 0.6 times
#: as large for levels and 1.03 times for deviations (4,800 games of `heuristic` each, two, three and four players).
_SCREEN = ScreeningDesign(loose=0.5)


class BoardTuning:
    """A search in its folder.

    Args:
        config: configuration of the search.
        folder: folder of all games and files.
        run: function that plays a part; default: in processes on this machine, without progress output.

    Attributes:
        tournaments: the played parts.
        proposal: the proposed component file, or game file if actions are covered; None before there is one.
    """

    def __init__(self, config: TuneConfig, folder: Path, run: RunTournament | None = None) -> None:
        self.config, self.folder = config, folder
        self.tournaments = StudyTournaments(folder, run or self._run_here)
        self.proposal: Path | None = None

    def _run_here(self, part: str, plan: Plan) -> None:
        run_arena(plan, self.folder / part)

    def search(self) -> BoardSearchResult:
        """Play missing games and return the result of the search."""
        result = search(self.config, self._screen)
        if result.proposal is not None:
            self.propose(result.proposal.board)
        return result

    def propose(self, board: BoardValues) -> None:
        """Write the file with which a board is played."""
        self.proposal = self._file(board)

    def game(self, board: BoardValues) -> dict[str, Any]:
        """Return the game configuration of a board without the number of players; write missing files."""
        config = self.config
        if board == published_board(config.free):
            return {"components": config.components}
        if searches_covers(config.free):
            return {"components": config.components, "covered": covered_on(config.free, board)}
        return {"components": str(self._file(board))}

    def _file(self, board: BoardValues) -> Path:
        return board_file(self.config.components, self.config.free, board, self.folder.resolve() / BOARDS)

    def games(self, board: BoardValues) -> dict[str, dict[int, tuple[MatchupGames, MatchupGames]]]:
        """Return games on the published board and another one, to measure length, points and win rates.

        For each of the two boards and each number of players they are games among equals, and games of the player in
        one seat with the weaker one in all others.
        """
        config, tables = self.config, []
        boards = {"as it is": published_board(config.free), "proposed": board}
        for name, one in boards.items():
            for n in config.players:
                common = {"games": config.quality, "game": {"num_players": n, **self.game(one)}}
                lineups = [[config.player, *[config.weaker] * (n - 1)]]
                tables.append({"name": f"{name}, {n} players", "players": [config.player], **common})
                tables.append({"name": f"{name}, {n} players, against {config.weaker}", "lineups": lineups, **common})
        loaded = iter(self._play("games", tables))
        return {name: {n: (next(loaded), next(loaded)) for n in config.players} for name in boards}

    def reevaluate(self, board: BoardValues, player: str) -> list[BoardEstimates]:
        """Return another player's estimates for the published board and another one, on fresh deals.

        It plays a quarter of the games of the proof; intervals hold simultaneously for both boards.
        """
        config, boards = self.config, [published_board(self.config.free), board]
        requests = [
            ScreeningRequest(one, n, max(MIN_SCREENING_DEALS * n, config.games.proof[n] // _EVALUATED))
            for one in boards
            for n in config.players
        ]
        return estimate_boards(config, boards, self._screen(_EVALUATOR, requests, player))

    def _screen(
        self, part: str, requests: Sequence[ScreeningRequest], player: str | None = None
    ) -> list[ScreeningGames]:
        tables = [
            {
                "name": f"board {i // len(self.config.players)}, {one.players} players",
                "players": [player or self.config.player],
                "games": one.games,
                "game": {"num_players": one.players, **self.game(one.board)},
                "screen": asdict(_SCREEN),
            }
            for i, one in enumerate(requests)
        ]
        return [
            ScreeningGames(ablation_games(table), decode_action_sets(table.used)) for table in self._play(part, tables)
        ]

    def _play(self, part: str, tables: list[dict[str, Any]]) -> list[MatchupGames]:
        return self.tournaments.tables(part, self.config.seed * _SEEDS + _number(part), tables)


def _number(part: str) -> int:
    """Return the seed index of a part; halving rounds use the ones in between."""
    if part == _EVALUATOR:
        return _SEEDS - 1
    return _PARTS.index(part) if part in _PARTS else len(_PARTS) + int(part.rpartition("-")[2])
