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
from helsinki_env.evaluation.balance.helsinki.part_configs import MIN_SCREENING_DEALS, write_or_check_config
from helsinki_env.evaluation.balance.helsinki.screening import ablation_games
from helsinki_env.evaluation.balance.helsinki.tournaments import RunTournament, StudyTournaments
from helsinki_env.evaluation.balance.helsinki.tune.config import TuneConfig
from helsinki_env.evaluation.balance.helsinki.tune.numbers import (
    BoardValues,
    board_file,
    covered_on,
    published_board,
    searches_covers,
)
from helsinki_env.evaluation.balance.helsinki.tune.proof import BoardEstimates, ScreeningGames, estimate_boards
from helsinki_env.evaluation.balance.helsinki.tune.search import BoardSearchResult, ScreeningRequest, search
from helsinki_env.utils.files import check_no_link, remove_leftovers

__all__ = ["BoardTuning", "open_board_tuning"]

_CONFIG = "tuning.json"
_BOARDS = "boards"
#: Every part has its own deals; the halving rounds follow.
_PARTS = ("screen", "slopes", "proof", "games")
_SEEDS = 16
_JUDGE = "judge"
#: Fraction (1/n) of the proof's games for an evaluator: agreement needs fewer games than a choice among boards.
_JUDGED = 4
#: Half of the paired games draw sets of random sizes. Compared with the fifth of a study, standard errors are 0.6 times
#: as large for levels and 1.03 times for deviations (4,800 games of `heuristic` each, two, three and four players).
_SCREEN = ScreeningDesign(loose=0.5)


def open_board_tuning(config: TuneConfig, folder: Path) -> None:
    """Create a search in a folder, or resume the one in it.

    Raises:
        StudyError: if the folder holds another configuration.
        OSError: if the folder cannot be written.
    """
    check_no_link(folder / _BOARDS)
    remove_leftovers(folder / _BOARDS)
    write_or_check_config(
        folder / _CONFIG, config.to_dict(), lambda data: TuneConfig.from_dict(data).to_dict(), "a tuning"
    )


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
        found = search(self.config, self._screens)
        if found.proposal is not None:
            self.propose(found.proposal.board)
        return found

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
        config = self.config
        return board_file(config.components, config.free, board, self.folder.resolve() / _BOARDS)

    def games(self, board: BoardValues) -> dict[str, dict[int, tuple[MatchupGames, MatchupGames]]]:
        """Return published and changed games, to measure length, points and win rates.

        Returns:
            For each of the two boards and each number of players: games among equals, and games of the player in one
                seat with the weaker one in all others.
        """
        config, tables = self.config, []
        boards = {"as it is": published_board(config.free), "proposed": board}
        for name, one in boards.items():
            for n in config.players:
                common = {"games": config.quality, "game": {"num_players": n, **self.game(one)}}
                meeting = [[config.player, *[config.weaker] * (n - 1)]]
                tables.append({"name": f"{name}, {n} players", "players": [config.player], **common})
                tables.append({"name": f"{name}, {n} players, against {config.weaker}", "lineups": meeting, **common})
        loaded = iter(self._played("games", tables))
        return {name: {n: (next(loaded), next(loaded)) for n in config.players} for name in boards}

    def reevaluate(self, board: BoardValues, judge: str) -> list[BoardEstimates]:
        """Return another player's estimates for the published board and another one, on fresh deals.

        It plays a quarter of the games of the proof; intervals hold simultaneously for both boards.
        """
        config, boards = self.config, [published_board(self.config.free), board]
        asked = [
            ScreeningRequest(one, n, max(MIN_SCREENING_DEALS * n, config.games.proof[n] // _JUDGED))
            for one in boards
            for n in config.players
        ]
        return estimate_boards(config, boards, self._screens(_JUDGE, asked, judge))

    def _screens(self, part: str, asked: Sequence[ScreeningRequest], player: str | None = None) -> list[ScreeningGames]:
        tables = [
            {
                "name": f"board {i // len(self.config.players)}, {one.players} players",
                "players": [player or self.config.player],
                "games": one.games,
                "game": {"num_players": one.players, **self.game(one.board)},
                "screen": asdict(_SCREEN),
            }
            for i, one in enumerate(asked)
        ]
        return [
            ScreeningGames(ablation_games(table), decode_action_sets(table.used))
            for table in self._played(part, tables)
        ]

    def _played(self, part: str, tables: list[dict[str, Any]]) -> list[MatchupGames]:
        return self.tournaments.tables(part, self.config.seed * _SEEDS + _number(part), tables)


def _number(part: str) -> int:
    """Return the seed index of a part; halving rounds use the ones in between."""
    if part == _JUDGE:
        return _SEEDS - 1
    return _PARTS.index(part) if part in _PARTS else len(_PARTS) + int(part.rpartition("-")[2])
