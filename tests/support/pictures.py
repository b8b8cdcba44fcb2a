"""What is in a picture: its marked parts and its words."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping
from typing import Any

from helsinki_env.engine.spec import spec_by_name
from helsinki_env.games.helsinki.components import load_components
from tests.copenhagen.positions import rich
from tests.drawn_tables import table
from tests.support.unchecked import unchecked

__all__ = ["draw_ansi", "draw_svg", "grown", "parts", "words"]


def _under(svg: str, name: str) -> ET.Element:
    root = ET.fromstring(svg)
    return next(element for element in root.iter() if element.get("data-part") == name) if name else root


def parts(svg: str, under: str = "") -> Counter[str]:
    """Count the marked parts of a picture, or of the part of that name only."""
    return Counter(name for element in _under(svg, under).iter() if (name := element.get("data-part")))


def words(svg: str, under: str = "") -> list[str]:
    """All lines of text in a picture, or in the part of that name."""
    return [label for element in _under(svg, under).iter() if (label := element.get("aria-label"))]


def grown(name: str, players: int, number: int = 1) -> Any:
    """A game of that name with boards as full as they get."""
    if name == "helsinki":
        box, seed = load_components(), 8 + number
        return unchecked(table(box, players, seed=seed, tiles=18, greed=1, dry_roads=True, bonus_cards=[3]))
    return unchecked(rich(random.Random(f"drawn {number}"), players))


def draw_svg(position: Mapping[str, Any], components: Any = None, **options: Any) -> str:
    """Draw a position, which need not be playable."""
    return str(_render(position).svg(unchecked(position, components), **options))


def draw_ansi(position: Mapping[str, Any], components: Any = None, **options: Any) -> str:
    """Draw a position as text."""
    return str(_render(position).ansi(unchecked(position, components), **options))


def _render(position: Mapping[str, Any]) -> Any:
    render = spec_by_name(position["game"]).render
    assert render is not None
    return render()
