"""A component file with few cards and tiles and extreme numbers: games end after a few turns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from helsinki_env.utils.yaml_files import configs_folder

#: Number of cards, roofs, superstructures; a card of each in every colour.
_FACES = ((1, 2, 1), (2, 3, 5), (4, 5, 2))


def small_components(folder: Path) -> str:
    """Write the file and return its path: 17 cards of 16 types, two tiles of a size, hands of three cards."""
    text = (configs_folder() / "components" / "default.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.safe_load(text)
    data["cards"] |= {
        "variants": [
            {"number": number, "roofs": roofs, "superstructures": shown, "copies": 1}
            | {"removed_3_players": 0, "removed_2_players": 0}
            for number, roofs, shown in _FACES
        ],
        "wild": {"copies": 2, "removed_3_players": 0, "removed_2_players": 0},
        "any_removed_2_players": 4,
        "totals": {"per_color": 3, "players_4": 17, "players_3": 17, "players_2": 16},
    }
    data["tiles"] |= {"total": 40, "copies": [2, 2, 2, 2], "wild": 3}
    data["superstructures"] = 7
    data["bonus_cards"] = [1, 2, 99, 100]
    data["rules"]["hand_limit"] = 3
    data["actions"]["two_points"]["strength"] = 10
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    return str(path)
