"""Component files with other costs and strengths of board actions."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from helsinki_env.games.helsinki.action_numbers import BOARD_ACTIONS, MAX_COST, STRENGTHS
from helsinki_env.utils.yaml_files import configs_folder

Numbers = Mapping[str, Mapping[str, Any]]


@cache
def _without_actions(base: str) -> str:
    text = (configs_folder() / "components" / f"{base}.yaml").read_text(encoding="utf-8")
    return re.sub(r"^actions:\n(?: .*\n)*", "", text, flags=re.MULTILINE)


def component_file(folder: Path, name: str, numbers: Numbers, base: str = "default") -> str:
    """Write a component file with these numbers of actions, and what else `base` has, and return its path."""
    path = folder / f"{name}.yaml"
    path.write_text(f"{_without_actions(base)}\nactions: {json.dumps(numbers)}\n", encoding="utf-8")
    return str(path)


def random_numbers(rng: random.Random) -> dict[str, dict[str, int]]:
    """Return a cost for every action and a strength for those that have one, all as likely."""
    return {
        name: {"cost": rng.randint(0, MAX_COST)}
        | ({"strength": rng.randint(STRENGTHS[name].least, STRENGTHS[name].most)} if name in STRENGTHS else {})
        for name in BOARD_ACTIONS
    }


def random_file(folder: Path, number: int) -> str:
    """Write the random file with this number and return its path."""
    rng = random.Random(f"numbers {number}")
    base = rng.choice(("default", "default", "alternative"))
    return component_file(folder, f"numbers_{number}", random_numbers(rng), base)
