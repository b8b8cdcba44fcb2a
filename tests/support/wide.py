"""A component file with the largest number of card types: records have their wide layout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from helsinki_env.utils.yaml_files import configs_folder

#: Number of cards, roofs, superstructures; a card of each in every colour.
_FACES = (
    *((1, 2, 0), (1, 3, 0), (1, 2, 1), (1, 4, 0), (2, 2, 1), (2, 3, 0), (2, 3, 1), (2, 4, 0), (3, 3, 1)),
    *((3, 4, 0), (3, 4, 1), (3, 5, 0), (4, 3, 2), (4, 4, 1), (4, 5, 0), (5, 4, 2), (5, 5, 0), (5, 5, 1)),
)


def wide_components(folder: Path) -> str:
    """Write the file and return its path: 18 variants, 91 card types, all else as in the default components."""
    text = (configs_folder() / "components" / "default.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.safe_load(text)
    removed = {"removed_2_players": range(0, 16, 2), "removed_3_players": (0, 2, 15)}
    data["cards"]["variants"] = [
        {"number": number, "roofs": roofs, "superstructures": shown, "copies": 1}
        | {key: int(place in places) for key, places in removed.items()}
        for place, (number, roofs, shown) in enumerate(_FACES)
    ]
    path = folder / "wide.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    return str(path)
