"""From what is asked to networks and games: each network a training run, each part a tournament; all can be stopped.

A seat does without an action in three ways, on the same decks:

- by **habit**: a network that has learnt with all actions is denied it, as in a screen; the others have it;
- **retrained**: one that has learnt without it is denied it in that seat;
- **at home**: one that has learnt without it meets the others where it is covered for all. Who is weaker here than the
  others is so for other reasons than the action; who is stronger may be so because it has learnt just this game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agents.arena.load import Table
from agents.helsinki.balance.parts import begin
from agents.helsinki.balance.retrained.config import RetrainedConfig
from agents.helsinki.balance.tournaments import Run, Tournaments
from helsinki_env.files import check_no_link

__all__ = ["PARTS", "WAYS", "Learner", "Retrained", "Train", "open_retrained"]

PARTS = ("screen", "meetings")
"""The parts in the order in which they are played."""
WAYS = ("habit", "retrained", "at home")
"""How a seat does without an action."""
_CONFIG = "retrained.json"


@dataclass(frozen=True)
class Learner:
    """A network that is trained.

    Attributes:
        seed: by which.
        without: the action that was covered for all while it learnt; "": none.
    """

    seed: int
    without: str = ""

    @property
    def name(self) -> str:
        """What its folder is called."""
        return f"{f'without-{self.without}' if self.without else 'with-all'}-{self.seed}"


Train = Callable[[Learner, Path], None]
"""Trains a network in a folder, or goes on with it, unless it is done; ``best.safetensors`` is what it comes to."""


def open_retrained(config: RetrainedConfig, folder: Path) -> None:
    """Begin in a folder, or go on with what is there.

    Raises:
        StudyError: if something else was asked there.
        OSError: if the folder cannot be written.
    """
    begin(folder / _CONFIG, config.to_dict(), lambda data: RetrainedConfig.from_dict(data).to_dict(), "a retraining")


class Retrained:
    """Networks and games in their folder.

    Args:
        config: what is asked.
        folder: where everything is kept.
        train: trains a network.
        run: plays a part.

    Attributes:
        tournaments: what was played.
    """

    def __init__(self, config: RetrainedConfig, folder: Path, train: Train, run: Run) -> None:
        self.config, self.folder, self._train = config, folder, train
        self.tournaments = Tournaments(folder, run)

    @property
    def learners(self) -> list[Learner]:
        """Every network that is trained: for each seed one with all actions, then one without each of those asked."""
        return [Learner(seed, without) for seed in self.config.training_seeds for without in ("", *self.config.claims)]

    def folder_of(self, learner: Learner) -> Path:
        """Return where a network is trained."""
        return self.folder / "networks" / learner.name

    def player(self, learner: Learner) -> str:
        """Return the name by which a network plays."""
        return f"net:{self.folder_of(learner) / 'best.safetensors'}"

    def train(self) -> None:
        """Train what is missing."""
        for learner in self.learners:
            folder = self.folder_of(learner)
            for own in (folder.parent, folder):
                check_no_link(own)
            self._train(learner, folder)

    def screens(self) -> dict[tuple[int, int], Table]:
        """Return the games of the screens by seed of the network and number of players; play what is missing."""
        asked = {(seed, n): self._screen(Learner(seed), n) for seed in self.config.training_seeds for n in self.players}
        return dict(zip(asked, self._tables("screen", list(asked.values())), strict=True))

    def meetings(self) -> dict[tuple[str, int, int, str], Table]:
        """Return the games of the meetings by action, seed, number of players and way; play what is missing."""
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

    def _screen(self, learner: Learner, n: int) -> dict[str, Any]:
        return {
            "name": f"{learner.name}, {n} players",
            "players": [self.player(learner)],
            "games": self.config.screen[n],
            "game": {"num_players": n},
            "screen": asdict(self.config.design),
        }

    def _meetings(self, action: str, seed: int, n: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """The tables at which a seat does without an action, by the way in which it does."""
        with_all, without = self.player(Learner(seed)), self.player(Learner(seed, action))
        denied = {"handicap": {"denied": [[action], *([] for _ in range(n - 1))]}}
        ways: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
            (with_all, denied, {}),
            (without, denied, {}),
            (without, {}, {"covered": [action]}),
        )
        for way, (player, design, game) in zip(WAYS, ways, strict=True):
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

    def _tables(self, part: str, tables: list[dict[str, Any]]) -> list[Table]:
        return self.tournaments.tables(part, self.config.seed * len(PARTS) + PARTS.index(part), tables)
