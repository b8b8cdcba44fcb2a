"""The kernels and the reference of Helsinki play the same games: every step is compared, and events are counted."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from helsinki_env.games.helsinki import notation, observation
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.games.helsinki.game import HelsinkiGame
from tests.oracles.helsinki import ReferenceGame, brute_force_legal_actions, decode
from tests.support import policies
from tests.support.observations import observations
from tests.support.pair import GamePair, what_was_seen
from tests.support.positions import COMPONENTS, THEMES, Position, build, rich_deal

Choice = Callable[[ReferenceGame, list[int]], int]

BASICS = ("dealt games", "rich games", "built positions", "decisions", "masks searched", "seat copies")
SETTINGS = (
    *(f"{players} players" for players in (2, 3, 4)),
    *(f"components {name}" for name in COMPONENTS),
    "dry roads on",
    "covered actions",
    "denied actions",
)
RARE = (
    *(f"use {name}" for name in BOARD_ACTIONS),
    "one card fewer and any card as wild in one build",
    "any side because the own side has no placement",
    "tile of a held card out of supply",
    "one wild tile in supply for two",
    "second wild tile lost",
    "superstructures short",
    "bonus card of a build",
    "reshuffle",
    "slot left empty",
    "last round begun",
    "game over",
    "discards at the end of a turn with a lifted limit",
    "dry roads bonus",
)
"""Rare events that the comparison must include."""


class Pair(GamePair):
    """A game of Helsinki in both implementations."""

    def __init__(self, game: HelsinkiGame, reference: ReferenceGame, seen: Counter[str], origin: str) -> None:
        self._legal_before: list[int] = []
        self._reshuffled: Any = None
        self.fewer_in_this_build = False
        config = game.config
        seen[f"components {config.components}"] += 1
        seen["dry roads on"] += config.dry_roads
        seen["covered actions"] += bool(config.covered)
        seen["denied actions"] += any(config.denied)
        super().__init__(game, reference, seen, origin)

    @classmethod
    def dealt(cls, config: HelsinkiConfig, seed: int, seen: Counter[str]) -> Pair:
        """A new game."""
        seen["dealt games"] += 1
        game, reference = HelsinkiGame(config, seed=seed), ReferenceGame(config, seed=seed)
        return cls(game, reference, seen, f"seed {seed}, {config}")

    @classmethod
    def at(cls, position: Position, seen: Counter[str], kind: str = "built positions") -> Pair:
        """A game at a position."""
        seen[kind] += 1
        return cls(notation.from_dict(position), ReferenceGame.from_dict(position), seen, f"one of the {kind}")

    def observations(self, position: Position) -> list[bytes]:
        return observations(position, self.game.config.component_set)

    def differing(self, seat: int, expected: bytes) -> str:
        found = self.game.observation(seat)
        seen = type(found)(found.shape, found.dtype, expected)
        types = self.game.config.component_set.types
        pairs = zip(observation.unpack(found, types).items(), observation.unpack(seen, types).values(), strict=True)
        return "; ".join(f"{name}: kernel {a.tolist()}, plain {b.tolist()}" for (name, a), b in pairs if (a != b).any())

    def compare_scores(self) -> None:
        """Compare scores after actions that may change them."""
        if (
            self.last
            and not self.game.done
            and decode(self.last[1], self.reference.components.types)[0] not in _SCORING
        ):
            return
        self.compare_numbers("scores", "ranking")

    def compare_searched_mask(self) -> None:
        """Compare the mask with a search, except for hands too large for a search of their subsets."""
        if sum(self.reference.seats[self.reference.seat].hand) <= 12:
            self.compare_search(brute_force_legal_actions(self.reference))

    def step(self, action: int) -> None:
        self._legal_before, self._reshuffled = self.legal, self.reference.reshuffled
        super().step(action)

    def count(self, before: Position, action: int) -> None:
        reshuffled = self.reference.reshuffled not in (None, self._reshuffled)
        seen, after, data = self.seen, self.position, self.game.config.component_set
        number = before["to_move"]
        me, kind, argument = before["seats"][number], *decode(action, data.types)
        if kind == "BUILD":
            self.fewer_in_this_build = False
        elif kind == "USE":
            name = BOARD_ACTIONS[argument]
            seen[f"use {name}"] += 1
            if name == "one_card_fewer":
                self.fewer_in_this_build = True
            elif name == "any_card_as_wild":
                seen["one card fewer and any card as wild in one build"] += self.fewer_in_this_build
            elif name == "any_side":
                closed = not any(decode(a, data.types)[0] == "PLACE" for a in self._legal_before)
                seen["any side because the own side has no placement"] += closed
            elif name == "two_wild_tiles":
                seen["one wild tile in supply for two"] += before["wild_tiles"] == 1
        elif kind == "WILD":
            left = before["pending"]["wilds_left"] - 1
            seen["second wild tile lost"] += left > 0 and after["phase"] != "WILD"
        elif kind == "PLACE":
            shown = data.card_superstructures(before["pending"]["card"])
            seen["superstructures short"] += shown > after["pending"].get("roofs_left", 0)
            cards = sum(after["seats"][number]["hand"]) - sum(me["hand"])
            seen["bonus card of a build"] += cards > 0
        elif kind == "DISCARD":
            over = before["pending"].get("turn_over", False)
            seen["discards at the end of a turn with a lifted limit"] += over
        if before["phase"] == "MAIN":
            gone = (
                held and card != data.wild_type and not self.reference._tiles_left(card)
                for card, held in enumerate(me["hand"])
            )
            seen["tile of a held card out of supply"] += any(gone)
        seen["reshuffle"] += reshuffled
        seen["slot left empty"] += kind == "DRAW" and None in after["display"]
        seen["last round begun"] += after["last_round"] and not before["last_round"]
        seen["game over"] += after["done"]
        bonuses = [sum(seat["bonus"] is not None for seat in p["seats"]) for p in (before, after)]
        seen["dry roads bonus"] += bonuses[1] - bonuses[0]

    def play(self, choose: Choice, most: int = 100_000, search_every: int = 0) -> None:
        """Play at most `most` actions; compare every `search_every`-th mask with a search."""
        for count in range(most):
            if search_every and count % search_every == 0:
                self.compare_searched_mask()
                self.compare_seat_copies()
            if self.game.done:
                return
            self.step(choose(self.reference, self.legal))


_SCORING = ("START", "PLACE", "WILD", "LIFT", "ROOF", "USE")


def random_config(rng: random.Random, components: str = "") -> HelsinkiConfig:
    """Return a random configuration of component file (unless given), covered and denied actions, and Dry roads."""

    def some(chance: float) -> list[int]:
        return [action for action in range(len(BOARD_ACTIONS)) if rng.random() < chance]

    players = rng.choice((2, 2, 2, 3, 3, 4))
    return HelsinkiConfig(
        num_players=players,
        covered="first_game" if rng.random() < 0.1 else some(rng.choice((0, 0, 0.1, 0.4))),
        denied=[some(rng.choice((0, 0.15))) for _ in range(players)] if rng.random() < 0.3 else None,
        dry_roads=rng.random() < 0.4,
        components=components or rng.choice(COMPONENTS),
    )


def random_game(number: int, seen: Counter[str], search_every: int = 0, components: str = "") -> None:
    """Compare one whole game with a random configuration."""
    rng = random.Random(f"game {number}")
    style = rng.choice(policies.STYLES)
    pair = Pair.dealt(random_config(rng, components), rng.getrandbits(64), seen)
    pair.play(lambda game, legal: policies.choose(rng, style, game, legal), search_every=search_every)


def rich_game(number: int, seen: Counter[str], search_every: int = 0, components: str = "") -> None:
    """Compare one whole game in which all coats of arms are in the meadows at the start."""
    rng = random.Random(f"rich game {number}")
    style = rng.choice(policies.STYLES[1:])
    position = rich_deal(notation.to_dict(HelsinkiGame(random_config(rng, components), seed=rng.getrandbits(64))))
    pair = Pair.at(position, seen, "rich games")
    pair.play(lambda game, legal: policies.choose(rng, style, game, legal), search_every=search_every)


def built_position(number: int, seen: Counter[str], search_every: int = 0, components: str = "") -> None:
    """Compare the first turns after a built position; consecutive numbers use consecutive themes."""
    rng = random.Random(f"position {number}")
    style = rng.choice(("rare", "rare", "eager", "builder", "uniform"))
    pair = Pair.at(build(rng, THEMES[number % len(THEMES)], components=components), seen)
    most = rng.choice((12, 25, 60))
    pair.play(lambda game, legal: policies.choose(rng, style, game, legal), most, search_every)


PLAYS: dict[str, Callable[[int, Counter[str], int, str], None]] = {
    "random": random_game,
    "rich": rich_game,
    "built": built_position,
}


def run_batch(
    kind: str, numbers: Iterable[int], search_every: int = 0, components: Callable[[int], str] = lambda _: ""
) -> Counter[str]:
    """Play a batch of one kind of game and return what was seen; `components` may name a file for each."""
    seen: Counter[str] = Counter()
    for number in numbers:
        PLAYS[kind](number, seen, search_every, components(number))
    return seen


def table(seen: Counter[str], least: int) -> str:
    """Return what was seen as text."""
    return what_was_seen(seen, {"compared": BASICS, "settings": SETTINGS}, RARE, least)
