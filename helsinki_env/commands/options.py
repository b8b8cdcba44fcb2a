"""The options with which commands say what is played, and the text that says it again."""

from __future__ import annotations

from typing import Any

from helsinki_env.config import GameConfig

__all__ = ["game_config", "game_text"]


def game_config(
    config: str | None,
    num_players: int | None,
    covered: str | None,
    dry_roads: bool,
    components: str | None,
    default_players: int,
) -> GameConfig:
    """Return what is played.

    Args:
        config: a name in configs/game or the path of a YAML file; the other options change single values of it.
        num_players: 2, 3 or 4; None: the file's.
        covered: actions that nobody may use, separated by commas, or first_game for the bottom row.
        dry_roads: whether the expansion is played; False: as the file says.
        components: a name in configs/components or the path of a YAML file.
        default_players: how many play if neither a number nor a file is given.

    Raises:
        ConfigError, ComponentError: for values that cannot be played.
    """
    chosen = GameConfig(num_players=default_players) if config is None else GameConfig.from_yaml(config)
    changes: dict[str, Any] = {}
    if num_players is not None:
        changes["num_players"] = num_players
    if covered is not None:
        changes["covered"] = covered if covered == "first_game" else [name for name in covered.split(",") if name]
    if dry_roads:
        changes["dry_roads"] = True
    if components is not None:
        changes["components"] = components
    return chosen.changed(**changes)


def game_text(config: GameConfig) -> str:
    """Return what is played in a few words, for titles."""
    extras = [f"{len(config.covered)} actions covered"] if config.covered else []
    extras += ["Dry roads"] if config.dry_roads else []
    extras += [f"components {config.components}"] if config.components != "default" else []
    return ", ".join([f"{config.num_players} players", *extras])
