"""Code shared by the studies: configuration files, tournaments, and JSON-serializable results."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Self

import helsinki_env
from helsinki_env.agents.registry import check_code
from helsinki_env.data import Node, UserError, check_same_settings, read_stored_settings, read_yaml, short_repr
from helsinki_env.evaluation.arena.designs import MIN_SCREENING_DEALS, ScreeningDesign
from helsinki_env.evaluation.arena.load import MatchupGames, load_run
from helsinki_env.evaluation.arena.plan import MAX_MATCHUP_GAMES, Plan, plan_from_dict
from helsinki_env.evaluation.arena.store import RunFolder
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.games.helsinki.position import ENV_VERSION
from helsinki_env.utils.files import write_json
from helsinki_env.utils.yaml_files import find_yaml

#: Number of games in a work unit. Networks are faster with large batches.
_UNIT_GAMES = 480


class StudyError(UserError):
    """Invalid or unreadable study. The message states the value found, the value expected and a remedy."""


class ConfigFile:
    """Base class of study configurations (dataclasses), which are read from a YAML file and stored with the games."""

    WHAT: ClassVar[str]  # noun in error messages
    FOLDER: ClassVar[str]  # folder in ``configs`` with the named files
    FILE: ClassVar[str]  # file name in the games folder
    MAX_SEED: ClassVar[int]  # maximum seed of a study; the parts use larger seeds
    PARTS: ClassVar[Mapping[str, type]] = {}  # dataclass of each key whose value is a nested configuration

    def _check_common(self) -> None:
        field_entry(self, "name").text("a name")
        field_entry(self, "seed").integer(0, self.MAX_SEED)
        field_entry(self, "equivalence_margin").number(0.0, 100.0, inside=True)
        field_entry(self, "level").number(0.5, 1.0, inside=True)

    @property
    def player_names(self) -> tuple[str, ...]:
        """Names of all players in the games."""
        return ()

    @classmethod
    def from_yaml(cls, name_or_path: str | Path, *, trust: bool = False) -> Self:
        """Read a YAML file, given its path or its name in the `FOLDER` of ``configs``.

        The file name is the default study name. Raises StudyError if the file is invalid, and PlayerError if it names
        players that run code and `trust` is False.
        """
        path = find_yaml(name_or_path, cls.FOLDER, StudyError)
        data = read_yaml(path, StudyError)
        data.value = {"name": path.stem, **data.mapping().value}
        config = cls.from_dict(data)
        check_code(config.player_names, data.file, trust=trust)
        with data.prefix_errors():
            config.check_size()
        return config

    def check_size(self) -> None:
        """Raise StudyError if the study has too few games for a report."""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | Node) -> Self:
        """Return the configuration given as a dictionary with the keys of a file; raise StudyError if it is invalid."""
        data = Node.of(data, StudyError, f"the {cls.WHAT}")
        data.mapping([item.name for item in fields(cls)])  # type: ignore[arg-type]  # subclasses are dataclasses
        data.value = {**data.value, **cls._build_parts(data)}
        return data.build(cls)

    @classmethod
    def _build_parts(cls, data: Node) -> dict[str, Any]:
        required = {f.name for f in fields(cls) if f.default is MISSING and f.default_factory is MISSING}  # type: ignore[arg-type]
        parts = {name: kind for name, kind in cls.PARTS.items() if name in required or data[name].is_present}
        return {name: data[name].build(kind) for name, kind in parts.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as JSON-serializable data, the inverse of `from_dict`."""
        data: dict[str, Any] = json.loads(json.dumps(asdict(self)))  # type: ignore[call-overload]  # a dataclass
        return data

    def open(self, folder: Path) -> None:
        """Save the configuration in the games folder.

        Raises StudyError if the folder has games of another configuration.
        """
        path, config = folder / self.FILE, self.to_dict()
        played = folder.is_dir() and any(entry.is_dir() for entry in folder.iterdir())
        if not path.exists() or not played:  # without games, the configuration may still change
            write_json(path, config)
            return
        stored = self.from_dict(read_stored_settings(path, StudyError))
        check_same_settings(folder, config, stored.to_dict(), StudyError)


def field_entry(part: Any, name: str) -> Node:
    """Return a field of a dataclass as an unchecked `Node`."""
    return Node(getattr(part, name), StudyError, name)


def game_counts(part: Any, name: str) -> dict[int, int]:
    """Return the number of games or deals by player count. The keys may be strings, as in JSON."""
    data = field_entry(part, name)
    if not isinstance(data.value, Mapping):
        data.fail("games or deals by player count, such as {2: 10000}")
    counts: dict[int, int] = {}
    for key, count in data.items():
        if str(key) not in ("2", "3", "4") or int(key) in counts:
            data.fail("player counts, each once: 2, 3 or 4", found=short_repr(key))
        counts[int(key)] = count.integer(0, MAX_MATCHUP_GAMES)
    return counts


def check_screening(counts: Mapping[int, int], key: str) -> None:
    """Check that a screening experiment has either no games or enough games for each player count.

    Error messages use `key` as the location of the setting.
    """
    for players, games in counts.items():
        if 0 < games < MIN_SCREENING_DEALS * players:
            expected = (
                f"at least {MIN_SCREENING_DEALS * players:,}, {MIN_SCREENING_DEALS} deals in all seats (0 omits it)"
            )
            Node(games, StudyError, f"{key}.{players}").fail(expected)


def check_design(design: ScreeningDesign, key: str) -> None:
    """Check that a design has sets of several sizes. Without them, effects on points are not identifiable."""
    if not design.loose:
        Node(design.loose, StudyError, f"{key}.loose").fail("some deals with sets of random size, such as 0.2")
    if design.sizes[0] == design.sizes[1]:
        Node(list(design.sizes), StudyError, f"{key}.sizes").fail("several sizes, such as [0, 10]")


def component_file(data: Node) -> str:
    """Return the name of a component file after checking that the file is valid."""
    name = data.text("the name of a component file, such as default, or a path")
    HelsinkiConfig(components=name)
    return name


RunTournament = Callable[[str, Plan], None]
"""Function that plays the missing games of a part in the folder with the name of the part."""


def plan_from_matchups(seed: int, matchups: list[dict[str, Any]]) -> Plan:
    """Return the plan of a part, given its matchups in the form of a tournament file."""
    return plan_from_dict({"seed": seed, "unit_games": _UNIT_GAMES, "matchups": matchups})


class StudyTournaments:
    """The parts of a study: tournaments in subfolders, which `run` plays on demand."""

    def __init__(self, folder: Path, run: RunTournament) -> None:
        self.folder, self._run = folder, run
        self.played: dict[str, dict[str, int]] = {}  # seed and number of games of every requested part

    def matchups(self, part: str, seed: int, matchups: list[dict[str, Any]]) -> list[MatchupGames]:
        """Play the missing games of a part and return all its games by matchup."""
        plan = plan_from_matchups(seed, matchups)
        self._run(part, plan)
        self.played[part] = {"seed": plan.seed, "games": plan.games}
        return load_run(self.folder / part, whole=True)

    @property
    def networks(self) -> dict[str, str]:
        """Digest of each player's network file, 16 hexadecimal digits."""
        runs = [RunFolder.open(self.folder / part) for part in self.played]
        return {player: digest for run in runs for player, digest in run.networks.items()}


def versions_text(provenance: Mapping[str, Any]) -> str:
    """Format the versions (from `software_versions`) in a provenance as text."""
    p = provenance
    return f"{p['environment']}, helsinki-env {p['package']}, NumPy {p['numpy']}, SciPy {p['scipy']}"


def software_versions() -> dict[str, str]:
    """Return the versions of the environment, the package and the numerical libraries."""
    return {
        "environment": f"helsinki_v{ENV_VERSION}",
        "package": helsinki_env.__version__,
        "numpy": version("numpy"),
        "scipy": version("scipy"),
    }
