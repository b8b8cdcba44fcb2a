"""Training presets: files in ``configs/training`` that contain all settings of a training run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from helsinki_env.agents.net.description import AFTERSTATE_KIND, MLP_KIND
from helsinki_env.agents.net.features import NoFeaturesError, game_features
from helsinki_env.agents.net.network import NetworkConfig
from helsinki_env.agents.registry import check_code, make_player
from helsinki_env.data import Node, UserError
from helsinki_env.engine.spec import default_spec, game_names, spec_by_name
from helsinki_env.evaluation.arena.designs import check_set_sizes
from helsinki_env.training.evaluate import PromotionConfig
from helsinki_env.training.matchups import (
    MatchupConfig,
    check_numbers,
    component_configs,
    fixed_opponent_games,
    player_counts,
)
from helsinki_env.training.ppo import PPOConfig
from helsinki_env.training.pretraining import PretrainingConfig
from helsinki_env.training.search_targets import SearchTargetConfig
from helsinki_env.utils.yaml_files import list_yaml, read_with_base

__all__ = ["EvaluationConfig", "Preset", "PresetError", "network_name"]

#: Maximum number of games in an evaluation.
_MOST = 10_000_000
#: Maximum number of opponents or matchups.
_MAX_LISTED = 100


class PresetError(UserError):
    """An invalid preset; the message names the file, the key, the value found and the expected value."""


@dataclass(frozen=True)
class EvaluationConfig:
    """Settings for evaluation during and after training.

    Args:
        times: number of evaluations in the course of self-play.
        games: number of games per evaluation, for each opponent and player count.
        final_games: number of games in the final evaluation, for each opponent and player count.
        opponents: names of the opponents.
        players: player counts; default: those of the matchups.
    """

    times: int = 10
    games: int = 400
    final_games: int = 2000
    opponents: tuple[str, ...] = ("random", "greedy", "heuristic")
    players: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Validate all values."""
        check_numbers(self, {"times": 1, "games": 2, "final_games": 2}, {"games": _MOST, "final_games": _MOST})
        object.__setattr__(self, "opponents", _listed(self.opponents))
        if self.players != ():
            object.__setattr__(self, "players", player_counts(_listed(self.players)))
        if any(self.opponents.count(name) > 1 for name in self.opponents):
            Node(list(self.opponents), UserError, "opponents").fail("every player once")


@dataclass(frozen=True)
class Preset:
    """Settings of a training run.

    Args:
        rules: name of the game.
        components: name or path of the component file; "default" is the game's default file.
        matchups: matchups, whose settings are sampled for every game.
        covered: names or ids of board actions disabled for all seats in every game.
        learner: "afterstate", a network that evaluates positions at the end of a turn, trained with games on the CPU;
            or "mlp", a network whose only input is the observation, trained by self-play on the device of the games
            (`helsinki_env.training.gpu`).
        network: network size.
        pretraining: settings for supervised pretraining on games of the heuristic.
        ppo: settings for self-play.
        search: settings for search targets.
        opponents: baselines in the opponent pool, in addition to past versions; empty for an MLP.
        start: initial network: "net" for the bundled network, or the PATH in ``net:PATH``; default: random weights.
        against: target player of a best response (see `best_response_to`); default: none.
        promotion: settings for the promotion test.
        evaluation: settings for evaluation.
        minutes: time limit in minutes; a stopped run can be resumed.
        precision: "float32", "bfloat16", or "auto", which means bfloat16 if the hardware supports it.
    """

    rules: str = field(default_factory=lambda: default_spec().name)
    components: str = "default"
    matchups: tuple[MatchupConfig, ...] = (MatchupConfig(),)
    covered: tuple[str | int, ...] = ()
    learner: str = AFTERSTATE_KIND
    network: NetworkConfig = field(default_factory=NetworkConfig)
    pretraining: PretrainingConfig = field(default_factory=PretrainingConfig)
    ppo: PPOConfig = field(default_factory=PPOConfig)
    search: SearchTargetConfig = field(default_factory=SearchTargetConfig)
    opponents: tuple[str, ...] = ("heuristic",)
    start: str = ""
    against: str = ""
    promotion: PromotionConfig = field(default_factory=PromotionConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    minutes: float = 90.0
    precision: str = "auto"

    def __post_init__(self) -> None:
        """Validate the values outside the sections."""
        object.__setattr__(self, "opponents", _listed(self.opponents))
        object.__setattr__(self, "covered", _listed(self.covered))
        Node(self.rules, PresetError, "rules").choice(game_names())
        for name in ("start", "against"):
            if (value := getattr(self, name)) != "":
                Node(value, PresetError, name).text("a player")
        Node(self.learner, PresetError, "learner").choice((AFTERSTATE_KIND, MLP_KIND))
        Node(self.minutes, PresetError, "minutes").number(0, inside=True)
        Node(self.precision, PresetError, "precision").choice(("auto", "float32", "bfloat16"))
        played = tuple(sorted({count for matchup in self.matchups for count in matchup.players}))
        for name in ("promotion", "evaluation"):  # by default, evaluate with the player counts of the matchups
            if not getattr(self, name).players:
                object.__setattr__(self, name, replace(getattr(self, name), players=played))

    @cached_property
    def game(self) -> Any:
        """Return the game configuration shared by all matchups."""
        changes: dict[str, Any] = {} if self.components == "default" else {"components": self.components}
        if self.covered:
            changes["covered"] = self.covered
        default = spec_by_name(self.rules).config()
        return default.replace(**changes) if changes else default

    def to_dict(self) -> dict[str, Any]:
        """Convert the preset to a dict in the format of a preset file."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        if spec_by_name(self.rules).is_default:
            del plain["rules"]  # the format omits default values
        if self.learner == AFTERSTATE_KIND:
            del plain["learner"]
        else:
            del plain["pretraining"]
        for name in ("covered", "start", "against"):
            if not plain[name]:
                del plain[name]
        if not self.search.share:
            del plain["search"]
        return plain

    @classmethod
    def from_yaml(cls, name_or_path: str | Path, *, trust: bool = False) -> Preset:
        """Load a preset from a file.

        Args:
            name_or_path: name of a file in ``configs/training``, or a path.
            trust: whether to allow players that run code (``program:COMMAND``, ``MODULE:ATTRIBUTE``).

        Raises:
            PresetError: if the file is invalid; the message names the file, the key and the value.
            PlayerError: if the file names a player that runs code and `trust` is False.
        """
        data = read_with_base(name_or_path, "training", PresetError)
        preset = cls._read(data)
        check_code((*preset.opponents, *preset.evaluation.opponents, preset.against), data.file, trust=trust)
        with data.prefix_errors():
            preset.check()
        return preset

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | Node) -> Preset:
        """Create a preset from a dict; raise PresetError if the data are invalid."""
        data = Node.of(data, PresetError, "the preset")
        preset = cls._read(data)
        with data.prefix_errors():
            preset.check()
        return preset

    @classmethod
    def _read(cls, data: Node) -> Preset:
        """Create a preset from a dict without checking its players."""
        data.mapping([item.name for item in fields(cls)])
        parts: dict[str, Any] = {name: data[name].build(part) for name, part in _PARTS.items() if data[name].is_present}
        if data["matchups"].is_present:
            matchups = data["matchups"].entries("matchups", least=1, most=_MAX_LISTED)
            parts["matchups"] = tuple(matchup.build(MatchupConfig) for matchup in matchups)
        if data.get("learner", AFTERSTATE_KIND).value == MLP_KIND:
            if data["pretraining"].is_present:
                data["pretraining"].fail("nothing, because an MLP is trained only by self-play")
            parts.setdefault("opponents", data.get("opponents", ()).value)
        data.value = {**data.value, **parts}
        return data.build(cls)

    def for_game(self, rules: str, name: str) -> Preset:
        """Return the preset adapted to another game, without network features that this game lacks.

        Args:
            rules: name of the game.
            name: name of the preset, used in error messages.

        Raises:
            PresetError: if the game lacks a feature that the preset uses; the message lists the presets for the game.
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
            features = game_features(preset.game)
        except NoFeaturesError:
            return preset  # `check` rejects it
        turned = self.network.turned and features.turning is not None
        ahead = self.network.ahead and features.next_turn_parts is not None
        network = replace(self.network, turned=turned, ahead=ahead)
        return replace(preset, network=network)

    def best_response_to(self, player: str, num_players: int | None = None) -> Preset:
        """Return a preset that trains a best response to a player; its win rate is a lower bound on exploitability.

        The learner has one seat in every game and the target player has all others. There is no promotion test: the
        best network is the evaluated version that wins the most games against the target.

        Args:
            player: name of the target player.
            num_players: number of players, 2 to 4; default: those of the matchups.

        Raises:
            PresetError: if a value is invalid, or for an MLP, which plays only against past versions.
        """
        if self.learner == MLP_KIND:
            raise PresetError(f"against: found {player}, expected none: an MLP meets only past versions")
        preset = replace(
            self,
            against=player,
            opponents=(player,),
            ppo=replace(self.ppo, fixed_opponent_fraction=1.0),
            evaluation=replace(self.evaluation, opponents=(player,)),
        )
        if num_players is not None:
            counts = (Node(num_players, PresetError, "num_players").integer(2, 4),)
            preset = replace(
                preset,
                matchups=tuple(replace(matchup, players=counts) for matchup in preset.matchups),
                promotion=replace(preset.promotion, players=counts),
                evaluation=replace(preset.evaluation, players=counts),
            )
        preset.check()
        return preset

    def check(self) -> None:
        """Raise PresetError if the game lacks a feature that the preset uses, or if a player is invalid."""
        at = ""
        try:
            game = self.game
            game_features(game)
            if self.covered and any(self.promotion.covered):
                raise UserError(
                    f"promotion.covered: found {list(self.promotion.covered)}, expected none: covered applies to "
                    "all games"
                )
            at = "promotion."
            component_configs(self.promotion.components, game)
            boards = self.promotion.boards
            check_set_sizes(Node({"covered": boards.covered, "denied": boards.denied}, UserError), boards, game)
            for i, matchup in enumerate(self.matchups):
                at = f"matchups[{i}]."
                for config in matchup.configs(game):
                    matchup.episodes(config)
                if matchup.components and self.search.share:
                    raise UserError("components: found some, expected none: search targets need one component file")
        except UserError as problem:
            raise PresetError(f"{at}{problem}") from None
        if self.learner == MLP_KIND:
            for key, value, expected in (
                ("ppo.random_start_fraction", self.ppo.random_start_fraction, "0"),
                ("search.share", self.search.share, "0"),
                ("start", self.start, "none"),
            ):
                if value:
                    Node(value, PresetError, key).fail(f"{expected} for an MLP")
        fraction = self.ppo.fixed_opponent_fraction
        if fraction and not fixed_opponent_games(self.ppo.num_envs, fraction).any():
            Node(fraction, PresetError, "ppo.fixed_opponent_fraction").fail(
                f"0, or a fraction that is at least one of the {self.ppo.num_envs} games (num_envs)"
            )
        self._check_players()
        if self.against:
            self._check_against()

    def _check_against(self) -> None:
        """Check that the target of a best response is the only opponent in training and evaluation."""
        alone = (self.against,)
        for path, names in (("opponents", self.opponents), ("evaluation.opponents", self.evaluation.opponents)):
            if names != alone:
                Node(list(names), PresetError, path).fail(f"[{self.against}] alone, as in against")
        if self.ppo.fixed_opponent_fraction != 1.0:
            Node(self.ppo.fixed_opponent_fraction, PresetError, "ppo.fixed_opponent_fraction").fail(
                f"1.0: {self.against} plays in every game"
            )

    def _check_players(self) -> None:
        """Create every player once, so that invalid names are reported before training starts."""
        game = self.game
        named = {"opponents": self.opponents, "evaluation.opponents": self.evaluation.opponents}
        if self.against:
            named["against"] = (self.against,)
        if self.start:
            if Path(self.start).suffix == ".onnx":
                Node(self.start, PresetError, "start").fail("a checkpoint, because exported models cannot be trained")
            named["start"] = (network_name(self.start),)
        for path, names in named.items():
            least = 1 if path == "evaluation.opponents" else 0
            Node(names, PresetError, path).entries("players", least=least, most=_MAX_LISTED)
            for name in names:
                try:
                    make_player(name, game)
                except UserError as problem:
                    raise PresetError(f"{path}: {problem}") from None
        if self.learner == MLP_KIND and self.opponents:
            raise PresetError(
                f"opponents: found {', '.join(self.opponents)}, expected none: an MLP meets only past versions"
            )
        if self.learner == AFTERSTATE_KIND and self.ppo.fixed_opponent_fraction and not self.opponents:
            raise PresetError(
                "opponents: found none, expected at least one: ppo.fixed_opponent_fraction needs an opponent before "
                "there are past versions"
            )


_PARTS: dict[str, type] = {
    "network": NetworkConfig,
    "pretraining": PretrainingConfig,
    "ppo": PPOConfig,
    "search": SearchTargetConfig,
    "promotion": PromotionConfig,
    "evaluation": EvaluationConfig,
}


def network_name(start: str) -> str:
    """Return the name of the player that uses the initial network of a run."""
    return start if start == "net" else f"net:{start}"


def _fits(name: str, rules: str) -> bool:
    """Return whether a game has all features that a preset uses."""
    try:
        Preset.from_yaml(name)._with(rules).check()
    except PresetError:
        return False
    return True


def _listed(value: Any) -> tuple[Any, ...]:
    """Convert a list to a tuple, and any other value to a tuple with one element."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)
