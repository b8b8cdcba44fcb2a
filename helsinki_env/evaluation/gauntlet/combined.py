"""One rating over several gauntlets, such as those of both games."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from helsinki_env.data import Node, read_json
from helsinki_env.evaluation.gauntlet import GauntletError
from helsinki_env.evaluation.gauntlet.certificate import read_certificate
from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet, ReferenceRatings

__all__ = ["combined_rating"]


def combined_rating(certificates: Sequence[Path], *, trust: bool = False) -> dict[str, Any]:
    """Return one rating from a player's certificates of several gauntlets: the mean of their ratings.

    The games of different gauntlets are independent, so the squared distances to the ends of the intervals add up.

    Args:
        certificates: one certificate for each gauntlet, at least two; their gauntlets are bundled.
        trust: whether the gauntlets may name code.

    Returns:
        The player, ``rating``, ``low``, ``high`` (None for an unbounded end), and the rating in each gauntlet.

    Raises:
        GauntletError: for an invalid certificate, two of one gauntlet, different players, or different players with
            the rating zero.
    """
    if len(certificates) < 2:
        raise GauntletError(f"certificates: found {len(certificates)}, expected at least two, of different gauntlets")
    ratings: dict[str, dict[str, Any]] = {}
    zeros, players = set(), set()
    for path in certificates:
        named = read_json(path, GauntletError).mapping()["certified"].mapping()["gauntlet"]
        gauntlet = Gauntlet.from_yaml(named.text("the name of a gauntlet"), trust=trust)
        certified = read_certificate(path, gauntlet, ReferenceRatings.of(gauntlet))["certified"]
        if gauntlet.name in ratings:
            named.fail("another gauntlet than those of the other certificates")
        ratings[gauntlet.name] = {key: certified["rating"][key] for key in ("rating", "low", "high", "games")}
        zeros.add(gauntlet.zero)
        players.add(certified["player"])
        if len(players) > 1:
            Node(certified["player"], GauntletError, "player", file=str(path)).fail("the player of the others")
        if len(zeros) > 1:
            raise GauntletError(f"{path}: found the rating zero for {gauntlet.zero}, expected that of the others")
    count = len(ratings)
    mean = sum(one["rating"] for one in ratings.values()) / count
    ends: dict[str, float | None] = {}
    for end, sign in (("low", -1), ("high", 1)):
        far = [None if one[end] is None else one[end] - one["rating"] for one in ratings.values()]
        known = [distance for distance in far if distance is not None]
        whole = len(known) == count
        ends[end] = round(mean + sign * sum(distance**2 for distance in known) ** 0.5 / count, 1) if whole else None
    return {"player": players.pop(), "rating": round(mean, 1), **ends, "gauntlets": ratings}
