"""Sealed evaluations: deals that follow from the player and from a text that is chosen after the player is fixed.

The deals of a gauntlet are public, so a player may be trained on them, or be the best of many tries. A *seal* fixes
player, files, gauntlet and package before the deals are known. The deals follow from the seal and from a text that
both sides agree on afterwards, such as the value of a public random beacon at a date after the seal was published.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import helsinki_env
from helsinki_env.data import Node, digest_of, read_json
from helsinki_env.evaluation.gauntlet import GauntletError
from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet
from helsinki_env.utils.files import is_file, write_json

__all__ = ["SEAL_FILE", "check_seal", "seal_gauntlet", "seal_of", "unseal", "write_seal"]

SEAL_FILE = "seal.json"
"""Name of the seal in the folder of a run."""


def seal_of(gauntlet: str, player: str, player_digest: str | None, package: str = helsinki_env.__version__) -> str:
    """Return the seal of a player, 16 hexadecimal digits; `gauntlet` is the digest of the gauntlet."""
    return digest_of({"gauntlet": gauntlet, "player": player, "player_digest": player_digest, "package": package})


def seal_gauntlet(gauntlet: Gauntlet, seal: str, text: str) -> Gauntlet:
    """Return a gauntlet with the deals of a seal and a text."""
    seed = hashlib.sha256(f"{seal} {text}".encode()).digest()[:6]
    return replace(gauntlet, seed=int.from_bytes(seed, "big"))


def write_seal(path: Path, gauntlet: Gauntlet, player: str, player_digest: str | None) -> str:
    """Write a seal to a file and return it."""
    seal = seal_of(gauntlet.digest, player, player_digest)
    about = {"player": player, "player_digest": player_digest, "package": helsinki_env.__version__}
    write_json(path, {"seal": seal, "gauntlet": gauntlet.name, "gauntlet_digest": gauntlet.digest, **about})
    return seal


def check_seal(path: Path, gauntlet: Gauntlet, player: str, player_digest: str | None) -> str:
    """Return the seal of a file; GauntletError if there is none, or it is of another player or version."""
    if not is_file(path):
        raise GauntletError(
            f"{path}: found no seal, expected one that was published before the text was known; "
            "run helsinki evaluate seal first"
        )
    entry = read_json(path, GauntletError).mapping()["seal"]
    if entry.value != (seal := seal_of(gauntlet.digest, player, player_digest)):
        entry.fail(
            f"{seal!r}, that of {player}", "restore the player's files, or seal it again and wait for another text"
        )
    return seal


def unseal(certified: Node, gauntlet: Gauntlet) -> Gauntlet:
    """Return the gauntlet with the deals of a certificate; GauntletError if its seal is of another player."""
    sealed = certified["sealed"]
    if not sealed.is_present:
        return gauntlet
    sealed.mapping(("seal", "text"))
    digest = certified["player_digest"].value
    seal = seal_of(gauntlet.digest, certified["player"].text("a player"), digest, certified["package"].text())
    if sealed["seal"].value != seal:
        sealed["seal"].fail(f"{seal!r}, that of the player")
    return seal_gauntlet(gauntlet, seal, sealed["text"].text())
