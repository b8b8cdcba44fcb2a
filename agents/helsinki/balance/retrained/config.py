"""Which verdicts are asked anew, of how many networks, from a file: written down before the first game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from agents.arena.designs import Screen
from agents.helsinki.balance.parts import StudyError, check_design, check_screen, counts_of, entry_of, read_asked
from helsinki_env.data import Entry
from helsinki_env.games.helsinki.action_numbers import ACTIONS

__all__ = ["CLAIMS", "Claim", "RetrainedConfig"]

Claim = Literal["too strong", "too weak"]
"""What a study has said of an action."""
CLAIMS: tuple[Claim, ...] = ("too strong", "too weak")
#: Every part makes a seed of its own of it.
_MOST_SEED = 2**56
_MOST_NETWORKS = 20


@dataclass(frozen=True)
class RetrainedConfig:
    """Verdicts that are asked anew.

    Attributes:
        name: of it all.
        seed: of everything; networks are trained by seeds from this one on.
        claims: what a study has said of some actions, by their name.
        preset: how networks are trained, all of them: a name in ``configs/training``, or a path.
        seeds: how many networks are trained with all actions, and how many without each of those of `claims`.
        screen: games in which every seat is denied actions by a design, of every network that has learnt with all, by
            number of players.
        meetings: games of each way in which a seat does without an action, likewise; for the same numbers of players.
        design: the design of the screen.
        band: points of the share of wins, of a hundred, within which actions count as equally strong.
        level: probability that all intervals of the screens hold together, and that all those of the meetings do.
    """

    name: str
    seed: int
    claims: Mapping[str, Claim]
    screen: Mapping[int, int]
    meetings: Mapping[int, int]
    preset: str = "retrained"
    seeds: int = 3
    design: Screen = field(default_factory=Screen)
    band: float = 1.0
    level: float = 0.95

    def __post_init__(self) -> None:
        """Check every value."""
        for key in ("name", "preset"):
            entry_of(self, key).text("a name")
        entry_of(self, "seed").integer(0, _MOST_SEED)
        entry_of(self, "seeds").integer(1, _MOST_NETWORKS)
        entry_of(self, "band").number(0.0, 100.0, inside=True)
        entry_of(self, "level").number(0.5, 1.0, inside=True)
        claims = entry_of(self, "claims")
        if not isinstance(self.claims, Mapping) or not self.claims:
            claims.fail("what is claimed of at least one action, such as {two_points: too strong}")
        for action, claim in claims.items():
            Entry(action, StudyError, "claims").choice(ACTIONS)
            claim.choice(CLAIMS)
        for key in ("screen", "meetings"):
            counts = {n: games for n, games in sorted(counts_of(self, key).items()) if games}
            object.__setattr__(self, key, counts)
        check_screen(self.screen, "screen")
        check_screen(self.meetings, "meetings")
        check_design(self.design, "design")
        if not self.screen or tuple(self.screen) != tuple(self.meetings):
            entry_of(self, "meetings").fail("games for the same numbers of players as for screen, at least one")

    @property
    def players(self) -> tuple[int, ...]:
        """Numbers of players, ascending."""
        return tuple(self.screen)

    @property
    def training_seeds(self) -> range:
        """The seeds by which networks are trained."""
        return range(self.seed, self.seed + self.seeds)

    @classmethod
    def from_yaml(cls, name_or_path: str | Path) -> RetrainedConfig:
        """Return what a file asks (a name in ``configs/retrained``, or a path).

        Raises:
            StudyError: naming file, key, value found and what is expected.
        """
        return cls.from_dict(read_asked(name_or_path, "retrained"))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | Entry) -> RetrainedConfig:
        """Return what is asked, with the keys of a file, see ``configs/retrained/standard.yaml``.

        Raises:
            StudyError: naming key, value found and what is expected.
        """
        data = Entry.of(data, StudyError, "what is asked anew").mapping([item.name for item in fields(cls)])
        for key in ("claims", "screen", "meetings"):
            if not data[key].given:
                data[key].fail("what is claimed by action, and games by number of players")
        if data["design"].given:
            data.value = {**data.value, "design": data["design"].build(Screen)}
        return data.build(cls)

    def to_dict(self) -> dict[str, Any]:
        """Return what is asked as plain data, as JSON gives it back; `from_dict` reads it."""
        data = asdict(self)
        for key in ("screen", "meetings"):
            data[key] = {str(n): games for n, games in data[key].items()}
        data["claims"] = dict(self.claims)
        data["design"]["sizes"] = list(self.design.sizes)
        return data
