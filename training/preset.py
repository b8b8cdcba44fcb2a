"""Training presets: files in ``configs/training`` with what is played, the network and the learning in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from helsinki_env.agents.net.description import AFTERSTATE_KIND, PLAIN_KIND
from helsinki_env.agents.net.features import NoFeaturesError, game_features
from helsinki_env.agents.net.network import NetworkConfig
from helsinki_env.agents.registry import check_code, make_player
from helsinki_env.data import Node, UserError, read_yaml
from helsinki_env.engine.spec import default_spec, game_names, spec_by_name
from helsinki_env.training.checks import check_numbers, player_counts
from helsinki_env.training.evaluate import PromotionConfig
from helsinki_env.training.matchups import MatchupConfig
from helsinki_env.training.ppo import PPOConfig
from helsinki_env.training.pretraining import PretrainingConfig
from helsinki_env.training.search_targets import SearchConfig
from helsinki_env.utils.yaml_files import find_yaml, list_yaml

__all__ = ["EvaluationConfig", "Preset", "PresetError"]

#: Games that are played at once.
_MOST = 10_000_000
#: Opponents, or kinds of tables.
_MOST_LISTED = 100


class PresetError(UserError):
    """A preset that cannot be used; the message names file, key, value found and what is expected."""


@dataclass(frozen=True)
class EvaluationConfig:
    """How the learner is measured on the way and at the end.

    Args:
        times: how often during self-play.
        games: each time, against each opponent with each player count.
        final_games: the same at the end.
        opponents: names of players.
        players: player counts; none: those at the tables of the preset.
    """

    times: int = 10
    games: int = 400
    final_games: int = 2000
    opponents: tuple[str, ...] = ("random", "greedy", "heuristic")
    players: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Check every value."""
        check_numbers(self, {"times": 1, "games": 2, "final_games": 2}, {"games": _MOST, "final_games": _MOST})
        object.__setattr__(self, "opponents", _listed(self.opponents))
        if self.players != ():
            object.__setattr__(self, "players", player_counts(_listed(self.players)))


@dataclass(frozen=True)
class Preset:
    """What a training run does.

    Args:
        rules: the game, by name.
        components: component file of the games, name or path; "default": the usual one of the game.
        tables: what is played.
        covered: actions that are covered for all at every table, by name or id: who learns this game has never seen
            them used.
        learner: "judge", a network that judges the ends of turns, on a processor; or "plain", one that reads nothing
            but the observation: it learns by playing alone, on the device where the games are
                (`helsinki_env.training.gpu`).
        network: size of the network.
        warm: how to learn from the heuristic's games, to begin with.
        ppo: how to learn by playing.
        search: what is learnt from search meanwhile.
        opponents: baselines in the pool of opponents, which past selves join; a plain network meets those alone.
        start: network to begin with: "net", the one in the box, or as in ``net:PATH``; none: weights by chance.
        against: the one player that is to be beaten, see `best_response_to`; none: whoever comes.
        gate: when a candidate counts as better than the best so far.
        evaluation: how the learner is measured.
        minutes: the run stops here at the latest and can be resumed.
        precision: "float32", "bfloat16", or "auto": bfloat16 where the processor knows it.
    """

    rules: str = field(default_factory=lambda: default_spec().name)
    components: str = "default"
    tables: tuple[MatchupConfig, ...] = (MatchupConfig(),)
    covered: tuple[str | int, ...] = ()
    learner: str = AFTERSTATE_KIND
    network: NetworkConfig = field(default_factory=NetworkConfig)
    warm: PretrainingConfig = field(default_factory=PretrainingConfig)
    ppo: PPOConfig = field(default_factory=PPOConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    opponents: tuple[str, ...] = ("heuristic",)
    start: str = ""
    against: str = ""
    gate: PromotionConfig = field(default_factory=PromotionConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    minutes: float = 90.0
    precision: str = "auto"

    def __post_init__(self) -> None:
        """Check what is not checked by its parts."""
        object.__setattr__(self, "opponents", _listed(self.opponents))
        object.__setattr__(self, "covered", _listed(self.covered))
        Node(self.rules, PresetError, "rules").choice(game_names())
        Node(self.learner, PresetError, "learner").choice((AFTERSTATE_KIND, PLAIN_KIND))
        Node(self.minutes, PresetError, "minutes").number(0, inside=True)
        Node(self.precision, PresetError, "precision").choice(("auto", "float32", "bfloat16"))
        played = tuple(sorted({count for table in self.tables for count in table.players}))
        for name in ("gate", "evaluation"):  # who learns games of three players is not measured by games of two
            if not getattr(self, name).players:
                object.__setattr__(self, name, replace(getattr(self, name), players=played))

    @cached_property
    def game(self) -> Any:
        """The games, as far as they are the same at all tables."""
        changes: dict[str, Any] = {} if self.components == "default" else {"components": self.components}
        if self.covered:
            changes["covered"] = self.covered
        usual = spec_by_name(self.rules).config()
        return usual.replace(**changes) if changes else usual

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, as it could stand in a file."""
        plain: dict[str, Any] = _plain(asdict(self))
        if spec_by_name(self.rules).is_default:
            del plain["rules"]  # as in the files that there were before there was another game
        if self.learner == AFTERSTATE_KIND:
            del plain["learner"]  # likewise
        else:
            del plain["warm"]
        for name in ("covered", "start", "against"):
            if not plain[name]:
                del plain[name]  # likewise
        if not self.search.share:
            del plain["search"]  # likewise
        return plain

    @classmethod
    def from_yaml(cls, name_or_path: str | Path, *, trust: bool = False) -> Preset:
        """Return the preset in a file (a name in ``configs/training``, or a path).

        Args:
            name_or_path: the file.
            trust: allow players that run code (``program:COMMAND``, ``MODULE:ATTRIBUTE``).

        Raises:
            PresetError: naming file, key, value and remedy.
            PlayerError: if the file names code and is not trusted.
        """
        data = read_yaml(find_yaml(name_or_path, "training", PresetError), PresetError)
        preset = cls._read(data)
        check_code((*preset.opponents, *preset.evaluation.opponents, preset.against), data.file, trust=trust)
        with data.prefix_errors():
            preset.check()
        return preset

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | Node) -> Preset:
        """Return the preset in plain data; PresetError if something is wrong with it."""
        data = Node.of(data, PresetError, "the preset")
        preset = cls._read(data)
        with data.prefix_errors():
            preset.check()
        return preset

    @classmethod
    def _read(cls, data: Node) -> Preset:
        """Return the preset in plain data, whose players have not been made yet."""
        data.mapping([item.name for item in fields(cls)])
        parts: dict[str, Any] = {name: data[name].build(part) for name, part in _PARTS.items() if data[name].is_present}
        if data["tables"].is_present:
            tables = data["tables"].entries("kinds of tables", least=1, most=_MOST_LISTED)
            parts["tables"] = tuple(table.build(MatchupConfig) for table in tables)
        if data.get("learner", AFTERSTATE_KIND).value == PLAIN_KIND:
            if data["warm"].is_present:
                data["warm"].fail("nothing, as a plain network learns by playing alone")
            parts.setdefault("opponents", data.get("opponents", ()).value)
        data.value = {**data.value, **parts}
        return data.build(cls)

    def for_game(self, rules: str, name: str) -> Preset:
        """Return the same for another game, with a network that is told no more than that game tells.

        Args:
            rules: the game, by name.
            name: of the preset, for the message.

        Raises:
            PresetError: if the game lacks something that is to be played; names the presets that it has all of.
        """
        preset = self._with(rules)
        try:
            preset.check()
        except PresetError as problem:
            fitting = [other for other in list_yaml("training") if _fits(other, rules)]
            raise PresetError(
                f"{name}: a preset for {self.rules}, not for {rules}: {problem} (presets for {rules}: "
                f"{', '.join(fitting)})"
            ) from None
        return preset

    def _with(self, rules: str) -> Preset:
        preset = replace(self, rules=rules)
        try:
            told = game_features(preset.game)
        except NoFeaturesError:
            return preset  # which the check refuses
        turned, ahead = told.turning is not None, told.next_turn_parts is not None
        network = replace(self.network, turned=self.network.turned and turned, ahead=self.network.ahead and ahead)
        return replace(preset, network=network)

    def best_response_to(self, player: str) -> Preset:
        """Return the same with one player to be beaten: a best response to it shows how far from unbeatable it is.

        The learner has one seat of every game and that player all others; past selves are not met. The best is
        that one of all measured which wins most against that player; there is no gate.

        Args:
            player: its name.

        Raises:
            PresetError: if it cannot be made, or the network is one that meets past selves alone.
        """
        if self.learner == PLAIN_KIND:
            raise PresetError(f"against: found {player}, expected none: a plain network meets past selves alone")
        preset = replace(
            self,
            against=player,
            opponents=(player,),
            ppo=replace(self.ppo, fixed_opponent_fraction=1.0),
            evaluation=replace(self.evaluation, opponents=(player,)),
        )
        preset.check()
        return preset

    def check(self) -> None:
        """Check that the game has what is to be played, and that every player can be made; PresetError if not."""
        at = ""
        try:
            game = self.game
            game_features(game)
            if self.covered and any(self.gate.covered):
                raise UserError(
                    f"gate.covered: found {list(self.gate.covered)}, expected none: the same actions are covered at "
                    "all tables"
                )
            for i, table in enumerate(self.tables):
                at = f"tables[{i}]."
                table.episodes(game)
        except UserError as problem:
            raise PresetError(f"{at}{problem}") from None
        self._check_players()
        if self.against:
            self._check_against()

    def _check_against(self) -> None:
        """Check that the target player of a best response is the only opponent in training and evaluation."""
        alone = (self.against,)
        for path, met in (("opponents", self.opponents), ("evaluation.opponents", self.evaluation.opponents)):
            if met != alone:
                Node(list(met), PresetError, path).fail(f"[{self.against}] alone, as in against")
        if self.ppo.fixed_opponent_fraction != 1.0:
            Node(self.ppo.fixed_opponent_fraction, PresetError, "ppo.fixed_opponent_fraction").fail(
                f"1.0: {self.against} is met in every game"
            )

    def _check_players(self) -> None:
        """Make every player once, so that an invalid name fails before training starts."""
        game = self.game
        named = {"opponents": self.opponents, "evaluation.opponents": self.evaluation.opponents}
        if self.against:
            named["against"] = (self.against,)
        if self.start:
            named["start"] = (network_name(self.start),)
        for path, names in named.items():
            Node(names, PresetError, path).entries("players", most=_MOST_LISTED)
            for name in names:
                try:
                    make_player(name, game)
                except UserError as problem:
                    raise PresetError(f"{path}: {problem}") from None
        if self.learner == PLAIN_KIND and self.opponents:
            raise PresetError(
                f"opponents: found {', '.join(self.opponents)}, expected none: a plain network meets past selves alone"
            )
        if self.learner == AFTERSTATE_KIND and self.ppo.fixed_opponent_fraction and not self.opponents:
            raise PresetError(
                "opponents: found none, expected at least one: ppo.fixed_opponent_fraction needs an opponent before "
                "there are past selves"
            )


_PARTS: dict[str, type] = {
    "network": NetworkConfig,
    "warm": PretrainingConfig,
    "ppo": PPOConfig,
    "search": SearchConfig,
    "gate": PromotionConfig,
    "evaluation": EvaluationConfig,
}


def network_name(start: str) -> str:
    """Return the name of the player whose network a run begins with."""
    return start if start == "net" else f"net:{start}"


def _fits(name: str, rules: str) -> bool:
    """Whether a preset can be played with a game."""
    try:
        Preset.from_yaml(name)._with(rules).check()
    except PresetError:
        return False
    return True


def _listed(value: Any) -> tuple[Any, ...]:
    """A single value stands for a list of one."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _plain(value: Any) -> Any:
    """Tuples as lists, as in a file."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
