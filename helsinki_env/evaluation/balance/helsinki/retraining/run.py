"""Run a retraining study: each network is a training run, each part a tournament; all can be resumed.

A seat lacks an action in three ways, on the same deals:

- **habit** (zero-shot): a network trained with all actions is denied it, as in the screening experiment; the others
  have it;
- **retrained**: a network trained without it is denied it in that seat;
- **at home**: a network trained without it plays the others in games where it is covered for all. A network that is
  weaker here is weaker for reasons other than the action. A stronger one may benefit from having trained on exactly
  this game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from helsinki_env.evaluation.arena.load import MatchupGames
from helsinki_env.evaluation.balance.helsinki.part_configs import write_or_check_config
from helsinki_env.evaluation.balance.helsinki.retraining.config import RetrainingConfig
from helsinki_env.evaluation.balance.helsinki.tournaments import RunTournament, StudyTournaments
from helsinki_env.utils.files import check_no_link

__all__ = ["RETRAINING_PARTS", "TEST_CONDITIONS", "RetrainingStudy", "Train", "TrainingJob", "open_retraining_study"]

RETRAINING_PARTS = ("screen", "meetings")
"""The parts, in playing order."""
TEST_CONDITIONS = ("habit", "retrained", "at home")
"""Ways in which a seat lacks an action."""
_CONFIG = "retrained.json"


@dataclass(frozen=True)
class TrainingJob:
    """A network to train.

    Attributes:
        seed: training seed.
        without: action covered for all during training; "": none.
    """

    seed: int
    without: str = ""

    @property
    def name(self) -> str:
        """Name of its folder."""
        return f"{f'without-{self.without}' if self.without else 'with-all'}-{self.seed}"


Train = Callable[[TrainingJob, Path], None]
"""Trains a network in a folder, or resumes its training if unfinished; the result is ``best.safetensors``."""


def open_retraining_study(config: RetrainingConfig, folder: Path) -> None:
    """Create a retraining study in a folder, or resume the one in it.

    Raises:
        StudyError: if the folder holds another configuration.
        OSError: if the folder cannot be written.
    """
    write_or_check_config(
        folder / _CONFIG, config.to_dict(), lambda data: RetrainingConfig.from_dict(data).to_dict(), "a retraining"
    )


class RetrainingStudy:
    """Networks and games of a retraining study in their folder.

    Args:
        config: configuration of the study.
        folder: folder of all networks and games.
        train: function that trains a network.
        run: function that plays a part.

    Attributes:
        tournaments: the played parts.
    """

    def __init__(self, config: RetrainingConfig, folder: Path, train: Train, run: RunTournament) -> None:
        self.config, self.folder, self._train = config, folder, train
        self.tournaments = StudyTournaments(folder, run)

    @property
    def learners(self) -> list[TrainingJob]:
        """All networks to train: for each seed one with all actions, then one without each re-tested action."""
        return [
            TrainingJob(seed, without) for seed in self.config.training_seeds for without in ("", *self.config.claims)
        ]

    def folder_of(self, learner: TrainingJob) -> Path:
        """Return the training folder of a network."""
        return self.folder / "networks" / learner.name

    def player(self, learner: TrainingJob) -> str:
        """Return the player name of a network."""
        return f"net:{self.folder_of(learner) / 'best.safetensors'}"

    def train(self) -> None:
        """Train the missing networks."""
        for learner in self.learners:
            folder = self.folder_of(learner)
            for own in (folder.parent, folder):
                check_no_link(own)
            self._train(learner, folder)

    def screens(self) -> dict[tuple[int, int], MatchupGames]:
        """Return the games of the screening experiments by training seed and number of players; play missing ones."""
        asked = {
            (seed, n): self._screen(TrainingJob(seed), n) for seed in self.config.training_seeds for n in self.players
        }
        return dict(zip(asked, self._tables("screen", list(asked.values())), strict=True))

    def meetings(self) -> dict[tuple[str, int, int, str], MatchupGames]:
        """Return the games of the meetings by action, seed, number of players and way; play missing ones."""
        asked = {
            (action, seed, n, way): table
            for action in self.config.claims
            for seed in self.config.training_seeds
            for n in self.players
            for way, table in self._meetings(action, seed, n)
        }
        return dict(zip(asked, self._tables("meetings", list(asked.values())), strict=True))

    @property
    def players(self) -> tuple[int, ...]:
        """Numbers of players, ascending."""
        return self.config.players

    def _screen(self, learner: TrainingJob, n: int) -> dict[str, Any]:
        return {
            "name": f"{learner.name}, {n} players",
            "players": [self.player(learner)],
            "games": self.config.screen[n],
            "game": {"num_players": n},
            "screen": asdict(self.config.design),
        }

    def _meetings(self, action: str, seed: int, n: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """Return the matchups in which a seat lacks an action, by way."""
        with_all, without = self.player(TrainingJob(seed)), self.player(TrainingJob(seed, action))
        denied = {"handicap": {"denied": [[action], *([] for _ in range(n - 1))]}}
        ways: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
            (with_all, denied, {}),
            (without, denied, {}),
            (without, {}, {"covered": [action]}),
        )
        for way, (player, design, game) in zip(TEST_CONDITIONS, ways, strict=True):
            yield (
                way,
                {
                    "name": f"{action}, {seed}, {n} players, {way}",
                    "lineups": [[player, *[with_all] * (n - 1)]],
                    "games": self.config.meetings[n],
                    "game": {"num_players": n, **game},
                    **design,
                },
            )

    def _tables(self, part: str, tables: list[dict[str, Any]]) -> list[MatchupGames]:
        return self.tournaments.tables(
            part, self.config.seed * len(RETRAINING_PARTS) + RETRAINING_PARTS.index(part), tables
        )
