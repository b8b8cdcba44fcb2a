"""Configuration of a retraining study: the conclusions to re-test and the networks, fixed before the first game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from helsinki_env.data import Node
from helsinki_env.evaluation.arena.designs import ScreeningDesign
from helsinki_env.evaluation.balance.helsinki.part_configs import (
    StudyError,
    check_design,
    check_screen,
    field_entry,
    game_counts,
    read_config,
)
from helsinki_env.games.helsinki.action_numbers import BOARD_ACTIONS

__all__ = ["CLAIMS", "ClaimDirection", "RetrainingConfig"]

ClaimDirection = Literal["too strong", "too weak"]
"""Conclusion of a study on an action."""
CLAIMS: tuple[ClaimDirection, ...] = ("too strong", "too weak")
#: Every part derives its own seed from it.
_MOST_SEED = 2**56
_MOST_NETWORKS = 20


@dataclass(frozen=True)
class RetrainingConfig:
    """Configuration of a retraining study.

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
        for key in ("name", "preset"):
            field_entry(self, key).text("a name")
        field_entry(self, "seed").integer(0, _MOST_SEED)
        field_entry(self, "seeds").integer(1, _MOST_NETWORKS)
        field_entry(self, "band").number(0.0, 100.0, inside=True)
        field_entry(self, "level").number(0.5, 1.0, inside=True)
        claims = field_entry(self, "claims")
        if not isinstance(self.claims, Mapping) or not self.claims:
            claims.fail("what is claimed of at least one action, such as {two_points: too strong}")
        for action, claim in claims.items():
            Node(action, StudyError, "claims").choice(BOARD_ACTIONS)
            claim.choice(CLAIMS)
        for key in ("screen", "meetings"):
            counts = {n: games for n, games in sorted(game_counts(self, key).items()) if games}
            object.__setattr__(self, key, counts)
        check_screen(self.screen, "screen")
        check_screen(self.meetings, "meetings")
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

    @classmethod
    def from_yaml(cls, name_or_path: str | Path) -> RetrainingConfig:
        """Read the configuration from a file (a name in ``configs/retrained``, or a path).

        Raises:
            StudyError: for an invalid file; names file, key, value found and expected value.
        """
        return cls.from_dict(read_config(name_or_path, "retrained"))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | Node) -> RetrainingConfig:
        """Return the configuration with the keys of a file, see ``configs/retrained/standard.yaml``.

        Raises:
            StudyError: for an invalid value; names key, value found and expected value.
        """
        data = Node.of(data, StudyError, "what is asked anew").mapping([item.name for item in fields(cls)])
        for key in ("claims", "screen", "meetings"):
            if not data[key].is_present:
                data[key].fail("what is claimed by action, and games by number of players")
        if data["design"].is_present:
            data.value = {**data.value, "design": data["design"].build(ScreeningDesign)}
        return data.build(cls)

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as plain data in the form of JSON, for `from_dict`."""
        data = asdict(self)
        for key in ("screen", "meetings"):
            data[key] = {str(n): games for n, games in data[key].items()}
        data["claims"] = dict(self.claims)
        data["design"]["sizes"] = list(self.design.sizes)
        return data
