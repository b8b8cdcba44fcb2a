"""Computation of the golden data: perft counts, playthroughs and the signature.

No function here uses the library's own choice of actions. Golden data therefore change only with the rules, the
observation or the state.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env import HelsinkiConfig, HelsinkiGame
from helsinki_env.engine import loops
from helsinki_env.engine.spec import spec_by_name, spec_of
from helsinki_env.games.helsinki import notation
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from helsinki_env.games.helsinki.game import action_table
from helsinki_env.games.helsinki.state import States
from tests.oracles.helsinki import decode
from tests.oracles.shared import GOLDEN, MASK64, mix
from tests.support.positions import Position, rich_deal

TESTS = Path(__file__).resolve().parent.parent
PERFT = TESTS / "perft"
PLAYTHROUGHS = TESTS / "playthroughs"
SIGNATURE = TESTS / "signature.json"


# Perft: the number of action sequences


def perft(game: Any, depth: int) -> tuple[list[int], dict[str, int]]:
    """Return the number of sequences of 1, 2, .. `depth` actions, and those of full length by their first action.

    Sequences that end the game earlier do not count as longer ones. An END that the environment takes does not count.
    """
    tables, states, masks = game.config.tables[0], game._states.copy(), game.action_mask()[None]
    counts, first = [], np.zeros(0, np.int64)
    for done in range(1, depth + 1):
        rows, actions = np.nonzero(masks)
        counts.append(len(actions))
        first = actions if done == 1 else first[rows]
        if done < depth:
            states, masks = states[rows], masks[rows]
            assert loops.batch_step(tables, states, actions, masks) == -1
    return counts, {_name(game, int(a)): int((first == a).sum()) for a in game.legal_actions()}


def plain_perft(reference: Any, game: Any, depth: int) -> tuple[list[int], dict[str, int]]:
    """Return the same by the reference, with the action names of `game`."""
    counts = [0] * depth

    def count(one: Any, done: int) -> int:
        legal = one.legal_actions()
        counts[done] += len(legal)
        return len(legal) if done == depth - 1 else sum(count(step(one, action), done + 1) for action in legal)

    def step(one: Any, action: int) -> Any:
        after = one.clone()
        after.step(action)
        return after

    legal = reference.legal_actions()
    divided = {_name(game, action): count(step(reference, action), 1) if depth > 1 else 1 for action in legal}
    counts[0] = len(legal)
    return counts, divided


def _name(game: Any, action: int) -> str:
    return spec_of(game.config).action_to_string(action, game.config)


def game_at(name: str, position: Position) -> Any:
    """Return the game of that name at a position."""
    read = spec_by_name(name).from_dict
    assert read is not None
    return read(position)


def perft_text(data: dict[str, Any]) -> str:
    """Return a perft file with the position in one line."""
    position = json.dumps(data["position"])
    shown = json.dumps(data | {"position": "POSITION"}, indent=1)
    return shown.replace('"POSITION"', position) + "\n"


def perft_anew(path: Path, name: str) -> str:
    """Return the correct perft file for the position and the depth of a file."""
    data = json.loads(path.read_text())
    counts, divided = perft(game_at(name, data["position"]), len(data["counts"]))
    return perft_text(data | {"counts": counts, "divided": divided})


# Playthroughs: one readable game per file


def playthrough_start(name: str) -> HelsinkiGame:
    """The game that a playthrough follows."""
    if name == "dry_roads":
        config = HelsinkiConfig(num_players=2, dry_roads=True, components="alternative")
        return notation.from_dict(rich_deal(notation.to_dict(HelsinkiGame(config, seed=562))))
    players = {"two_players": 2, "three_players": 3, "four_players": 4}[name]
    return HelsinkiGame(HelsinkiConfig(num_players=players), seed=players)


def playthrough(name: str) -> str:
    """Return a game as text: each action with the mask, the observation and the changes."""
    game = playthrough_start(name)
    settings = {key: value for key, value in game.config.to_dict().items() if key != "reward"}
    first = notation.to_dict(game)
    lines = [f"# {name}: {json.dumps(settings)}"]
    lines.append(f"# first: {json.dumps(first['chance'])}, display {_cards(game, first['display'])}")
    lines += followed(game, lambda word: _pick(game, word), lambda before, after: changes(game, before, after))
    return "\n".join([*lines, f"# ranking {game.ranking()}, position {position_digest(game)}"]) + "\n"


def followed(
    game: Any, pick: Callable[[int], int], changed: Callable[[Position, Position], Iterable[str]]
) -> Iterator[str]:
    """Play a game to its end, and yield each action with the mask, the observation and the changes."""
    number, word, before = 0, 1, game.to_dict()
    while not game.done:
        number, word = number + 1, (word + GOLDEN) & MASK64
        action = pick(mix(word))
        mask, seen = game.action_mask(), game.observation()
        where = f"round {game.round}  seat {game.seat}  {game.phase}"
        yield f"{number:4}  {where:27}{_name(game, action)}"
        game.step(action)
        after = game.to_dict()
        scores = " ".join(str(score) for score in game.scores())
        yield f"      legal {int(mask.sum())} {short(mask)}  seen {short(seen)}  scores {scores}"
        yield from (f"      {change}" for change in changed(before, after))
        before = after


def position_digest(game: Any) -> str:
    return digest_of([json.dumps(game.to_dict()).encode()])[:16]


def _pick(game: HelsinkiGame, word: int) -> int:
    """Return a build or a board action with probability 3/4 if there is one, otherwise any legal action."""
    legal = [int(action) for action in game.legal_actions()]
    kinds = [decode(action, game.config.component_set.types)[0] for action in legal]
    liked = [action for action, kind in zip(legal, kinds, strict=True) if kind in ("BUILD", "USE")]
    chosen = liked if liked and word % 4 else legal
    return chosen[((word >> 32) * len(chosen)) >> 32]


def changes(game: HelsinkiGame, before: Position, after: Position) -> list[str]:
    """Return the differences of two positions, one per item."""
    found = []
    for key, old in before.items():
        new = after[key]
        if key == "seats":
            for number, (was, now) in enumerate(zip(old, new, strict=True)):
                for name in was:
                    if was[name] != now[name]:
                        found.append(f"seat {number} {name}: {_change(game, name, was[name], now[name])}")
        elif old != new:
            found.append(f"{key}: {_change(game, key, old, new)}")
    return found


def _change(game: HelsinkiGame, key: str, old: Any, new: Any) -> str:
    if key in ("hand", "known", "discard_pile"):
        pairs = enumerate(zip(old, new, strict=True))
        return ", ".join(f"{now - was:+} {_cards(game, [card])}" for card, (was, now) in pairs if was != now)
    if key == "draw_pile":
        return f"{len(old)} to {len(new)}, next {_cards(game, new[:1]) or 'none'}"
    if key == "display":
        return ", ".join(f"slot {i} {_cards(game, [new[i]])}" for i in range(8) if old[i] != new[i])
    if key == "tile_supply":
        return ", ".join(f"{colour} {new[colour]}" for colour in old if old[colour] != new[colour])
    if key == "pavilions":
        return ", ".join(f"{tile['colour']} {tile['roofs']} on {_cells(tile['cells'])}" for tile in new[len(old) :])
    if key in ("wild", "superstructures", "coats_on_board") and isinstance(old, list):
        gone, come = (_cells(sorted(set(a) - set(b))) for a, b in ((old, new), (new, old)))
        return " ".join(f"{sign} {cells}" for sign, cells in (("-", gone), ("+", come)) if cells)
    if key == "used":
        return ", ".join(f"+ {BOARD_ACTIONS[action]}" for action in new if action not in old)
    if key == "pending":
        return json.dumps({k: v for k, v in new.items() if k != "reshuffled"})
    return f"{json.dumps(old)} to {json.dumps(new)}"


def _cards(game: HelsinkiGame, cards: Iterable[int | None]) -> str:
    return ", ".join(
        "nothing" if card is None else notation.card_to_string(card, game.config.component_set) for card in cards
    )


def _cells(cells: Sequence[int]) -> str:
    return " ".join(f"r{cell // 7}c{cell % 7}" for cell in cells)


def short(array: npt.NDArray[Any]) -> str:
    return digest_of([array.tobytes()])[:8]


def digest_of(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


# The signature: ten thousand games in one line

GROUPS: dict[str, tuple[int, HelsinkiConfig, bool]] = {
    "two players": (2000, HelsinkiConfig(), False),
    "two players, full meadows": (2000, HelsinkiConfig(), True),
    "two players, alternative components": (1000, HelsinkiConfig(components="alternative"), False),
    "three players, Dry roads": (1000, HelsinkiConfig(num_players=3, dry_roads=True), False),
    "three players, denied actions": (1000, HelsinkiConfig(num_players=3, denied=[[1, 6], [], [2, 7, 12]]), True),
    "four players": (1000, HelsinkiConfig(num_players=4), False),
    "four players, first game": (
        1000,
        HelsinkiConfig(num_players=4, covered="first_game", dry_roads=True, components="alternative"),
        False,
    ),
    "four players, alternative components, Dry roads, full meadows": (
        1000,
        HelsinkiConfig(num_players=4, dry_roads=True, components="alternative"),
        True,
    ),
}
"""Number of games, configuration, and whether all coats of arms are in the meadows at the start."""

FIRST = 2
"""Number of games of each group with their own digest, for runs without the compiler."""


def signature(games: int | None = None) -> dict[str, Any]:
    """Play the fixed games with the batch kernels, at most `games` of each group.

    Every 16 actions and at the end the states (field by field, in alphabetical order), the masks and the
    observations of the seats to move go into a digest.
    """
    groups = {}
    for name, (count, config, rich) in GROUPS.items():
        groups[name] = _play_group(min(count, games or count), config, rich)
    return {
        "version": notation.to_dict(HelsinkiGame(seed=0))["version"],
        "games": sum(group["games"] for group in groups.values()),
        "digest": digest_of(group["digest"].encode() for group in groups.values()),
        "groups": groups,
    }


def _play_group(games: int, config: HelsinkiConfig, rich: bool) -> dict[str, Any]:
    def fill_meadows(states: States) -> None:
        if rich:
            states["coats"] = 0
            states["meadow"][:, : config.num_players] = 8

    found, states, _, _ = play_games(
        games, config, action_table(config.component_set.types).kind_of, _LIKED, fill_meadows
    )
    used = np.bitwise_count(states["used"][:, :, None] & (1 << np.arange(15))).sum(axis=(0, 1))
    return found | {"used": dict(zip(BOARD_ACTIONS, used.tolist(), strict=True))}


def play_games(
    games: int,
    config: Any,
    kind_of: npt.NDArray[Any],
    liked: Sequence[int],
    prepare: Callable[[States], None] = lambda states: None,
) -> tuple[dict[str, Any], States, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Play the fixed games of a group with the batch kernels.

    Returns:
        the entries of a group in the signature, the last states, the ranks of the seats, and the count of each kind
        of action.
    """
    spec, tables = spec_of(config), config.tables[0]
    states = spec.new_states(config, games)
    spec.apply_setup(states, config)
    numbers = np.arange(games, dtype=np.uint64)
    loops.batch_deal(tables, states, np.full(games, 7, np.uint64), numbers, np.zeros(games, np.uint64))
    prepare(states)
    masks = np.zeros((games, spec.num_actions(config)), np.int8)
    seen = np.zeros((games, spec.observation_size(config)), np.int8)
    loops.batch_mask(tables, states, masks)
    words = numbers << np.uint64(32)
    digest, first = hashlib.sha256(), hashlib.sha256()
    kinds, turns = np.zeros(int(kind_of.max()) + 1, np.int64), 0
    while masks.any():
        if turns % 16 == 0:
            digest_batch(digest, tables, states, masks, seen)
            if masks[:FIRST].any():
                digest_batch(first, tables, states[:FIRST], masks[:FIRST], seen[:FIRST])
        words += np.uint64(GOLDEN)
        actions = pick_batch(masks, mixed(words), kind_of, liked)
        kinds += np.bincount(kind_of[actions[states["done"] == 0]], minlength=len(kinds))
        turns += 1
        assert loops.batch_step(tables, states, actions, masks) == -1
    digest_batch(digest, tables, states, masks, seen)
    digest_batch(first, tables, states[:FIRST], masks[:FIRST], seen[:FIRST])
    scores, places = np.zeros((2, games, 4), np.int64)
    loops.batch_scores(tables, states, scores, places)
    digest.update(scores.tobytes() + places.tobytes())
    found = {
        "games": games,
        "decisions": int(kinds.sum()),
        "digest": digest.hexdigest()[:32],
        f"digest of the first {FIRST}": first.hexdigest()[:32],
        "points": int(scores.sum()),
    }
    return found, states, places, kinds


def digest_batch(
    digest: Any, tables: Any, states: States, masks: npt.NDArray[np.int8], seen: npt.NDArray[np.int8]
) -> None:
    loops.batch_observe(tables, states, states["seat"].astype(np.int64), seen)
    assert states.dtype.names is not None
    columns = [states[name] for name in sorted(states.dtype.names) if name != "pad"]
    for column in (*columns, masks, seen):
        digest.update(np.ascontiguousarray(column).tobytes())


def mixed(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Apply `mix` to many keys."""
    z = words.copy()
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    z ^= z >> np.uint64(31)
    return z


def pick_batch(
    masks: npt.NDArray[np.int8], words: npt.NDArray[np.uint64], kind_of: npt.NDArray[Any], liked: Sequence[int]
) -> npt.NDArray[np.int64]:
    """Return an action of a preferred kind with probability 3/4 if there is one; any number for finished games."""
    rows, legal = np.nonzero(masks.view(np.bool_))
    good = np.isin(kind_of[legal], liked)
    every, few = (chosen_of(rows[pick], legal[pick], words) for pick in (np.ones_like(good), good))
    some_liked = np.bincount(rows[good], minlength=len(masks)) > 0
    return np.where(some_liked & (words % np.uint64(4) != 0), few, every)


_LIKED = (3, 10)  # BUILD and USE


def chosen_of(
    rows: npt.NDArray[np.int64], legal: npt.NDArray[np.int64], words: npt.NDArray[np.uint64]
) -> npt.NDArray[np.int64]:
    counts = np.bincount(rows, minlength=len(words))
    ranks = ((words >> np.uint64(32)) * counts.astype(np.uint64) >> np.uint64(32)).astype(np.int64)
    places = np.minimum(np.cumsum(counts) - counts + ranks, max(0, len(legal) - 1))
    return legal[places] if len(legal) else np.zeros(len(words), np.int64)


def signature_text(data: dict[str, Any]) -> str:
    """Return the file of the signature."""
    return json.dumps(data, indent=1) + "\n"


NAMES = ("two_players", "three_players", "four_players", "dry_roads")
"""The playthroughs."""


def files_of(
    folder: Path, game: str, playthroughs: Mapping[str, Callable[[], str]], signed: Callable[[], dict[str, Any]]
) -> Iterator[tuple[Path, Callable[[], str]]]:
    """Yield every golden file of a game with a function that returns its text."""
    for path in sorted((folder / "perft").glob("*.json")):
        yield path, partial(perft_anew, path, game)
    for name, text in playthroughs.items():
        yield folder / "playthroughs" / f"{name}.txt", text
    yield folder / "signature.json", lambda: signature_text(signed())


def golden_files() -> Iterator[tuple[Path, Callable[[], str]]]:
    """Yield every golden file of Helsinki with a function that returns its text."""
    return files_of(PERFT.parent, "helsinki", {name: partial(playthrough, name) for name in NAMES}, signature)
