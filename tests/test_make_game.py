"""Games made by name, with the keys of their configuration."""

from __future__ import annotations

import pytest

from helsinki_env import CopenhagenConfig, CopenhagenGame, HelsinkiConfig, HelsinkiGame, make_game


def test_a_game_made_by_name_equals_the_same_game_of_its_class() -> None:
    assert make_game("helsinki", 7) == HelsinkiGame(seed=7)
    assert make_game("copenhagen", seed=7, num_players=3) == CopenhagenGame(CopenhagenConfig(num_players=3), seed=7)
    assert make_game("helsinki", 7, dry_roads=True) == HelsinkiGame(HelsinkiConfig(dry_roads=True), seed=7)


@pytest.mark.parametrize(
    ("name", "options", "named"),
    [("chess", {}, "chess"), ("helsinki", {"players": 3}, "players"), ("copenhagen", {"num_players": 9}, "9")],
)
def test_an_unknown_game_and_an_invalid_option_are_named(name: str, options: dict[str, object], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        make_game(name, 7, **options)
