"""The command ``helsinki evaluate combine``: one rating from the certificates of both games."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from helsinki_env.cli.options import out_file
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.files import write_json
from helsinki_env.utils.terminal import plain_console


def combine(certificates: Annotated[tuple[Path, ...], tyro.conf.Positional], json: Path | None = None) -> int:
    """Combine a player's certificates of several gauntlets to one rating: the mean, with its interval.

    Example: helsinki evaluate combine runs/helsinki/certificate.json runs/copenhagen/certificate.json

    Args:
        certificates: one certificate.json for each gauntlet.
        json: file for the result.
    """
    with requires_extra("stats"):
        from helsinki_env.evaluation.gauntlet.certificate import combined_rating
        from helsinki_env.evaluation.gauntlet.leaderboard import format_rating_interval

    if json is not None:
        out_file(json, "--json")
    found, console = combined_rating(certificates), plain_console()
    for name, rating in found["gauntlets"].items():
        console.print(f"{name}: {rating['rating']:.0f} ({format_rating_interval(rating)}), {rating['games']:,} games")
    console.print(
        f"{found['player']}: {found['rating']:.0f} ({format_rating_interval(found)}), mean over the gauntlets"
    )
    if json is not None:
        write_json(json, found)
        console.print(f"Wrote {json}")
    return 0
