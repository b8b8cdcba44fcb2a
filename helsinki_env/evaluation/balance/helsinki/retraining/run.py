"""Configuration and games of a retraining study: each network is a training run, each part a resumable tournament.

A seat lacks an action in three ways, on the same deals:

- **habit** (zero-shot): a network trained with all actions is denied it, as in the screening experiment; the others
  have it;
- **retrained**: a network trained without it is denied it in that seat;
- **at home**: a network trained without it plays the others in games where it is covered for all. A network that is
  weaker here is weaker for reasons other than the action. A stronger one may benefit from having trained on exactly
  this game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from helsinki_env.data import Node
from helsinki_env.evaluation.arena.designs import ScreeningDesign
from helsinki_env.evaluation.arena.load import MatchupGames
from helsinki_env.evaluation.balance.helsinki.base import (
    ConfigFile,
    RunTournament,
    StudyError,
    StudyTournaments,
    check_design,
    check_screen,
    field_entry,
    game_counts,
)
from helsinki_env.games.helsinki.action_numbers import BOARD_ACTIONS
from helsinki_env.utils.files import check_no_link

__all__ = ["TEST_CONDITIONS", "ClaimDirection", "RetrainingConfig", "RetrainingStudy", "Train", "TrainingJob"]

ClaimDirection = Literal["too strong", "too weak"]
"""Conclusion of a study on an action."""
TEST_CONDITIONS = ("habit", "retrained", "at home")
"""Ways in which a seat lacks an action."""
_PARTS = ("screen", "meetings")
_MOST_NETWORKS = 20


@dataclass(frozen=True)
class RetrainingConfig(ConfigFile):
    """Configuration of a retraining study, see ``configs/retrained/standard.yaml``.

    Attributes:
        name: name of the study.
        seed: seed of the whole study; the training seeds start at it.
        claims: conclusions to re-test, by action name.
        preset: training configuration of all networks: a name in ``configs/training``, or a path.
        seeds: number of networks trained with all actions, and without each action of `claims`.
        screen: games of every network trained with all actions, with seats denied actions by a design, by number of
            players.
        meetings: games of each way in which a seat lacks an action, for the same numbers of players.
        design: design of the screening experiment.
        band: half width of the equivalence margin, win %.
        level: simultaneous coverage of all intervals of the screening experiments, and of all those of the meetings.
    """

    WHAT, FOLDER, FILE, MAX_SEED = "retraining", "retrained", "retrained.json", 2**56
    PARTS: ClassVar[Mapping[str, type]] = {"design": ScreeningDesign}

    name: str
    seed: int
    claims: Mapping[str, ClaimDirection]
    screen: Mapping[int, int]
    meetings: Mapping[int, int]
    preset: str = "retrained"
    seeds: int = 3
    design: ScreeningDesign = field(default_factory=ScreeningDesign)
    band: float = 1.0
    level: float = 0.95

    def __post_init__(self) -> None:
        """Check every value."""
        self._check_common()
        field_entry(self, "preset").text("a name")
        field_entry(self, "seeds").integer(1, _MOST_NETWORKS)
        claims = field_entry(self, "claims")
        if not isinstance(self.claims, Mapping) or not self.claims:
            claims.fail("the claim on at least one action, such as {two_points: too strong}")
        for action, claim in claims.items():
            Node(action, StudyError, "claims").choice(BOARD_ACTIONS)
            claim.choice(("too strong", "too weak"))
        for key in ("screen", "meetings"):
            counts = {n: games for n, games in sorted(game_counts(self, key).items()) if games}
            object.__setattr__(self, key, counts)
            check_screen(counts, key)
        check_design(self.design, "design")
        if not self.screen or tuple(self.screen) != tuple(self.meetings):
            field_entry(self, "meetings").fail("games for the same numbers of players as for screen, at least one")

    @property
    def players(self) -> tuple[int, ...]:
        """Numbers of players, ascending."""
        return tuple(self.screen)

    @property
    def training_seeds(self) -> range:
        """Training seeds of the networks."""
        return range(self.seed, self.seed + self.seeds)


@dataclass(frozen=True)
class TrainingJob:
    """A network to train, with an action covered for all during training, or without one ("")."""

    seed: int
    without: str = ""

    @property
    def name(self) -> str:
        """Name of its folder."""
        return f"{f'without-{self.without}' if self.without else 'with-all'}-{self.seed}"


Train = Callable[[TrainingJob, Path], None]
"""Trains a network in a folder, or resumes its training if unfinished; the result is ``best.safetensors``."""


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
        tables = {
            (seed, n): {
                "name": f"{TrainingJob(seed).name}, {n} players",
                "players": [self.player(TrainingJob(seed))],
                "games": self.config.screen[n],
                "game": {"num_players": n},
                "screen": asdict(self.config.design),
            }
            for seed in self.config.training_seeds
            for n in self.config.players
        }
        return dict(zip(tables, self._play("screen", list(tables.values())), strict=True))

    def meetings(self) -> dict[tuple[str, int, int, str], MatchupGames]:
        """Return the games of the meetings by action, seed, number of players and way; play missing ones."""
        tables = {
            (action, seed, n, way): table
            for action in self.config.claims
            for seed in self.config.training_seeds
            for n in self.config.players
            for way, table in self._meetings(action, seed, n)
        }
        return dict(zip(tables, self._play("meetings", list(tables.values())), strict=True))

    def _meetings(self, action: str, seed: int, n: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the matchups in which a seat lacks an action, by way."""
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

    def _play(self, part: str, tables: list[dict[str, Any]]) -> list[MatchupGames]:
        return self.tournaments.tables(part, self.config.seed * len(_PARTS) + _PARTS.index(part), tables)
