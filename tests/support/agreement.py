"""The kernels and the plain rules side by side: every step is compared in every field, and what happened is counted."""

from __future__ import annotations

import json
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
"""What has to happen often enough for the comparison to mean something."""


class DisagreementError(AssertionError):
    """The two implementations differ; the message says where and how to get there again."""


class Pair:
    """One game, played by both implementations."""

    def __init__(self, game: HelsinkiGame, reference: ReferenceGame, seen: Counter[str], origin: str) -> None:
        self.game = game
        self.reference = reference
        self.seen = seen
        self.origin = origin
        self.last: tuple[Position, int] | None = None
        self._legal_before: list[int] = []
        self.fewer_in_this_build = False
        config = game.config
        seen[f"{config.num_players} players"] += 1
        seen[f"components {config.components}"] += 1
        seen["dry roads on"] += config.dry_roads
        seen["covered actions"] += bool(config.covered)
        seen["denied actions"] += any(config.denied)
        self.position = self.compare()

    @classmethod
    def dealt(cls, config: HelsinkiConfig, seed: int, seen: Counter[str]) -> Pair:
        """A new game."""
        seen["dealt games"] += 1
        game, reference = HelsinkiGame(config, seed=seed), ReferenceGame(config, seed=seed)
        return cls(game, reference, seen, f"seed {seed}, {config}")

    @classmethod
    def at(cls, position: Position, seen: Counter[str], kind: str = "built positions") -> Pair:
        """A game that stands at a position."""
        seen[kind] += 1
        return cls(notation.from_dict(position), ReferenceGame.from_dict(position), seen, f"one of the {kind}")

    def compare(self) -> Position:
        """Compare everything and return the position."""
        game, reference = self.game, self.reference
        position = reference.to_dict()
        found = notation.to_dict(game)
        if found != position:
            keys = [key for key in {**found, **position} if found.get(key) != position.get(key)]
            self.fail("\n".join(f"{key}: kernel {found.get(key)}, plain {position.get(key)}" for key in keys))
        self.legal = reference.legal_actions()
        legal = game.legal_actions().tolist()
        if legal != self.legal:
            only = [sorted({*a} - {*b}) for a, b in ((legal, self.legal), (self.legal, legal))]
            names = [[notation.action_to_string(action, game.config.component_set) for action in side] for side in only]
            self.fail(f"legal only for the kernel {names[0]}, only for the plain rules {names[1]}")
        if (game.done, game.seat, str(game.phase), game.round) != (
            reference.done,
            reference.seat,
            reference.phase,
            reference.round,
        ):
            self.fail("done, seat, phase or round")
        for seat, seen in enumerate(observations(position, game.config.component_set)):
            if game.observation(seat).tobytes() != seen:
                self.fail(f"observation of seat {seat}: {_differing_pieces(game, seat, seen)}")
        if self.last is None or game.done or decode(self.last[1], reference.components.types)[0] in _SCORING:
            self._compare_scores()
        return position

    def _compare_scores(self) -> None:
        game, reference = self.game, self.reference
        if game.scores().tolist() != reference.scores():
            self.fail(f"scores: kernel {game.scores().tolist()}, plain {reference.scores()}")
        if game.ranking() != reference.ranking():
            self.fail(f"ranking: kernel {game.ranking()}, plain {reference.ranking()}")

    def compare_searched_mask(self) -> None:
        """Compare the legal decisions with those after which a search finds a way to complete the turn.

        The search tries the subsets of a hand; hands beyond anything that play leads to are left out.
        """
        if sum(self.reference.seats[self.reference.seat].hand) > 12:
            return
        self.seen["masks searched"] += 1
        searched = brute_force_legal_actions(self.reference)
        if searched != self.legal:
            differing = sorted(set(searched) ^ set(self.legal))
            names = [notation.action_to_string(action, self.game.config.component_set) for action in differing]
            self.fail(f"the search for a way to complete the turn differs in {names}")

    def compare_seat_copies(self) -> None:
        """Compare the copies of the position for each seat."""
        for seat in range(self.game.num_players):
            self.seen["seat copies"] += 1
            if notation.to_dict(self.game, seat) != self.reference.to_dict(seat):
                self.fail(f"copy of the position for seat {seat}")

    def step(self, action: int) -> None:
        """Take a decision in both, compare, and count what happened."""
        before, reshuffled = self.position, self.reference.reshuffled
        self.last = before, action
        self._legal_before = self.legal
        self.seen["decisions"] += 1
        self.game.step(action)
        self.reference.step(action)
        self.position = self.compare()
        self._count(before, action, self.reference.reshuffled not in (None, reshuffled))

    def _count(self, before: Position, action: int, reshuffled: bool) -> None:
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
        """Play on to the end, or for so many decisions; every so-manyth mask is also searched."""
        for count in range(most):
            if search_every and count % search_every == 0:
                self.compare_searched_mask()
                self.compare_seat_copies()
            if self.game.done:
                return
            self.step(choose(self.reference, self.legal))

    def fail(self, what: str) -> None:
        text = [what, f"began as: {self.origin}"]
        if self.last is not None:
            name = notation.action_to_string(self.last[1], self.game.config.component_set)
            text.append(f"after {name} in {json.dumps(self.last[0])}")
        raise DisagreementError("\n".join(text))


_SCORING = ("START", "PLACE", "WILD", "LIFT", "ROOF", "USE")


def _differing_pieces(game: HelsinkiGame, seat: int, seen: bytes) -> str:
    found = game.observation(seat)
    expected = type(found)(found.shape, found.dtype, seen)
    types = game.config.component_set.types
    pairs = zip(observation.unpack(found, types).items(), observation.unpack(expected, types).values(), strict=True)
    return "; ".join(f"{name}: kernel {a.tolist()}, plain {b.tolist()}" for (name, a), b in pairs if (a != b).any())


def random_config(rng: random.Random, components: str = "") -> HelsinkiConfig:
    """Settings with everything in them: both component files (or the one given), covers, denials, Dry roads."""

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
    """Compare one whole game with random settings, from the deal to the end."""
    rng = random.Random(f"game {number}")
    style = rng.choice(policies.STYLES)
    pair = Pair.dealt(random_config(rng, components), rng.getrandbits(64), seen)
    pair.play(lambda game, legal: policies.choose(rng, style, game, legal), search_every=search_every)


def rich_game(number: int, seen: Counter[str], search_every: int = 0, components: str = "") -> None:
    """The same with all coats of arms won before the first turn."""
    rng = random.Random(f"rich game {number}")
    style = rng.choice(policies.STYLES[1:])
    position = rich_deal(notation.to_dict(HelsinkiGame(random_config(rng, components), seed=rng.getrandbits(64))))
    pair = Pair.at(position, seen, "rich games")
    pair.play(lambda game, legal: policies.choose(rng, style, game, legal), search_every=search_every)


def built_position(number: int, seen: Counter[str], search_every: int = 0, components: str = "") -> None:
    """Compare the first turns after a built position; themes take turns."""
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
    """Return what was seen as text, a line each, with a mark where it was too rare."""
    lines = []
    for title, names in (("compared", BASICS), ("settings", SETTINGS), (f"at least {least} of each", RARE)):
        lines.append(f"-- {title}")
        for name in names:
            mark = "  TOO RARE" if names is RARE and seen[name] < least else ""
            lines.append(f"{seen[name]:>10,}  {name}{mark}")
    return "\n".join(lines)


def too_rare(seen: Counter[str], least: int) -> dict[str, Any]:
    """Return those of `RARE` that occurred less often than they should."""
    return {name: seen[name] for name in RARE if seen[name] < least}
