"""Positions changed at random, in ways that often leave them sound: what a reader has to accept or to refuse.

`starts` gathers positions of games and of `tests.support.positions`; `mutated` changes one. Most changes are consistent
in themselves (a card goes from a pile to a hand, a tile with its supply onto a board, a phase comes with what it
needs): at random, nearly every position would be refused at once for the same few reasons. Some are not: a number
becomes its neighbour or its limit, a list loses an item.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env import HelsinkiConfig, HelsinkiGame
from helsinki_env.agents.base import choose_action
from helsinki_env.agents.registry import make_player
from helsinki_env.games.helsinki import notation
from helsinki_env.games.helsinki.actions import KIND_BUILD, KIND_USE
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLORS, ROOFS, Components, load_components
from helsinki_env.games.helsinki.game import action_table
from tests.support.positions import THEMES, Position, build, lyings, rich_deal

#: How games are played that positions are taken from: by players, or by weights of `choose`.
STYLES = ("random", "greedy", "heuristic", "builds", "spends")
Seat = dict[str, Any]


# Playing


@cache
def _weights(style: str, types: int) -> npt.NDArray[np.float64]:
    """How likely a decision is, by id: builds and coats make games eventful."""
    kinds = action_table(types).kind_of
    builds, spends = {"builds": (8.0, 0.5), "spends": (3.0, 8.0)}.get(style, (1.0, 1.0))
    return np.where(kinds == KIND_BUILD, builds, np.where(kinds == KIND_USE, spends, 1.0))


def choose(rng: random.Random, style: str, game: HelsinkiGame) -> int:
    """Return one of the legal decisions."""
    legal = game.legal_actions()
    if len(legal) == 1:
        return int(legal[0])
    weights = _weights(style, game.config.component_set.types)[legal]
    return int(rng.choices(legal.tolist(), weights.tolist())[0])


def _played(rng: random.Random, game: HelsinkiGame, style: str) -> Iterator[HelsinkiGame]:
    """Play a game to its end; yield copies of it at every decision."""
    player = make_player(style, game.config) if style in ("greedy", "heuristic") else None
    while not game.done:
        yield game.clone()
        game.step(choose_action(player, game, rng.getrandbits(64)) if player else choose(rng, style, game))
    yield game


# What is changed


def starts(seed: int, games: int, components: Sequence[str]) -> list[Position]:
    """Return positions of `games` random games and as many built positions."""
    rng = random.Random(f"starts {seed}")
    found = []
    for number in range(games):
        players = rng.choice((2, 3, 4))
        config = HelsinkiConfig(
            num_players=players,
            covered=_some_actions(rng),
            denied=[_some_actions(rng) for _ in range(players)],
            dry_roads=rng.random() < 0.5,
            components=components[number % len(components)],
        )
        game = HelsinkiGame(config, seed=rng.getrandbits(64))
        if rng.random() < 0.4:
            game = notation.from_dict(rich_deal(notation.to_dict(game)))
        on_the_way = list(_played(rng, game, STYLES[number % len(STYLES)]))
        # The rarer phases, which are over at once, as often as the others.
        rare = [at for at in on_the_way if at.phase not in ("MOVE", "MAIN", "END")]
        for moments in (on_the_way, rare or on_the_way):
            found += [notation.to_dict(at) for at in rng.sample(moments, min(8, len(moments)))]
        found += [build(rng, THEMES[(number + i) % len(THEMES)]) for i in range(8)]
    return found


def _some_actions(rng: random.Random) -> list[int]:
    return sorted(rng.sample(range(len(BOARD_ACTIONS)), rng.choice((0, 0, 0, 1, 5))))


def mutated(rng: random.Random, position: Position) -> Position:
    """Return a changed copy."""
    changing = _Change(rng, copy.deepcopy(position))
    spoilt = rng.random() < 0.3
    for _ in range(rng.choice((0, 1, 2) if spoilt else (1, 1, 2, 3))):
        rng.choice(CONSISTENT)(changing)
    if spoilt:
        changing.anything()
    return changing.position


class _Change:
    """One position that is being changed. A change that does not fit it does nothing."""

    def __init__(self, rng: random.Random, position: Position) -> None:
        self.rng, self.position = rng, position
        self.components: Components = load_components(position["components"])
        self.seats: list[Seat] = position["seats"]

    def anyone(self) -> Seat:
        """A seat; more often the one to move."""
        return self.mover() if self.rng.random() < 0.5 else self.rng.choice(self.seats)

    def mover(self) -> Seat:
        """The seat to move."""
        me: Seat = self.seats[self.position["to_move"]]
        return me

    # Cards

    def take_card(self) -> int | None:
        """Take a card from a random place."""
        rng, position = self.rng, self.position
        where = rng.choice(("pile", "pile", "discard", "hand", "hand", "display"))
        if where == "pile" and position["draw_pile"]:
            return int(position["draw_pile"].pop(rng.randrange(len(position["draw_pile"]))))
        if where == "display":
            held = [slot for slot, card in enumerate(position["display"]) if card is not None]
            if held and position["draw_pile"]:
                slot = rng.choice(held)
                card, position["display"][slot] = position["display"][slot], position["draw_pile"].pop()
                return int(card)
        if where == "discard" and any(position["discard_pile"]):
            return self.take_counted(position["discard_pile"])
        seat = self.anyone()
        if where == "hand" and any(seat["hand"]):
            card = self.take_counted(seat["hand"])
            seat["known"][card] = min(seat["known"][card], seat["hand"][card])
            return card
        return None

    def take_counted(self, counts: list[int]) -> int:
        """Take one of some counted cards."""
        card = self.rng.choices(range(len(counts)), counts)[0]
        counts[card] -= 1
        return int(card)

    def give_card(self, card: int) -> None:
        """Put a card in a random place."""
        rng, position = self.rng, self.position
        where = rng.choice(("pile", "discard", "hand", "hand"))
        if where == "pile":
            position["draw_pile"].insert(rng.randint(0, len(position["draw_pile"])), card)
        elif where == "discard":
            position["discard_pile"][card] += 1
        else:
            seat = self.anyone()
            seat["hand"][card] += 1
            seat["known"][card] += rng.random() < 0.5

    def cards_move(self) -> None:
        """Move some cards."""
        for _ in range(self.rng.choice((1, 1, 3, 10))):
            card = self.take_card()
            if card is not None:
                self.give_card(card)
        self.reshuffled_again()

    def pile_runs_out(self) -> None:
        """The draw pile is down to a few cards, or none; that makes the last round."""
        position, left = self.position, self.rng.choice((0, 0, 1, 2, 3))
        for card in position["draw_pile"][left:]:
            position["discard_pile"][card] += 1
        del position["draw_pile"][left:]
        if not left or self.rng.random() < 0.3:
            position["last_round"] = True
        self.reshuffled_again()

    def cards_are_gone(self) -> None:
        """Others hold the discards too: there is nothing to reshuffle, and slots stay empty."""
        position = self.position
        seat = self.anyone()
        for card, count in enumerate(position["discard_pile"]):
            seat["hand"][card] += count
            position["discard_pile"][card] = 0
        if position["last_round"]:
            for slot in self.rng.sample(range(8), self.rng.randint(0, 8)):
                card = position["display"][slot]
                if card is not None:
                    position["display"][slot] = None
                    seat["hand"][card] += 1

    def reshuffled_again(self) -> None:
        """The pile that was made from the discards consists of what is there now."""
        pending = self.position["pending"]
        if "reshuffled" in pending:
            self.position["pending"] = {k: v for k, v in pending.items() if k not in ("reshuffled", "unseen_draws")}
            self.pile_is_reshuffled()

    def pile_is_reshuffled(self) -> None:
        """The draw pile was made from the discard pile, in the last round; some have drawn from it."""
        position, rng = self.position, self.rng
        if not position["last_round"] or position["done"]:
            return
        draws: list[list[int]] = [[] for _ in self.seats]
        for number, seat in enumerate(self.seats[: position["to_move"] + 1]):
            hidden = [c for c, n in enumerate(seat["hand"]) for _ in range(n - seat["known"][c])]
            most = 3 if number < position["to_move"] else 1
            if rng.random() < 0.3 and (number < position["to_move"] or position["pending"].get("drew")):
                draws[number] = rng.sample(hidden, min(len(hidden), rng.randint(0, most)))
        cards = [*position["draw_pile"], *(card for cards in draws for card in cards)]
        if cards:
            position["pending"]["reshuffled"] = [cards.count(card) for card in range(self.components.types)]
            if any(draws):
                position["pending"]["unseen_draws"] = draws

    def cards_become_known(self) -> None:
        """Change the known cards of hands."""
        seat = self.anyone()
        seat["known"] = [self.rng.randint(0, count) for count in seat["hand"]]

    def chance_differs(self) -> None:
        """Another order of the draw pile, another random word."""
        self.rng.shuffle(self.position["draw_pile"])
        self.position["chance"] = {"word": f"0x{self.rng.getrandbits(64):016x}"}

    # Boards

    def roofs(self, seat: Seat) -> set[int]:
        """Cells of tiles."""
        return {*seat["wild"], *(cell for tile in seat["pavilions"] for cell in tile["cells"])}

    def cover(self, seat: Seat, cells: set[int]) -> None:
        """Coats of arms under new tiles are won."""
        won = cells & set(seat["coats_on_board"])
        seat["coats_on_board"] = sorted(set(seat["coats_on_board"]) - won)
        seat["meadow"] += len(won)

    def tile_is_laid(self) -> None:
        """Some tiles go from the supply onto a board, wherever they fit."""
        seat, rng = self.anyone(), self.rng
        for _ in range(rng.choice((1, 1, 4))):
            colour, size = rng.randrange(len(COLORS)), rng.randrange(len(ROOFS))
            supply = self.position["tile_supply"][COLORS[colour]]
            free = set(range(49)) - self.roofs(seat) - {self.components.statue}
            drawing = tuple(self.components.shapes[self.components.tiles[colour][size]])
            fitting = [cells for cells in lyings(drawing) if cells <= free]
            if supply[size] and fitting:
                cells = rng.choice(fitting)
                tile = {"colour": COLORS[colour], "roofs": ROOFS[size], "cells": sorted(cells)}
                seat["pavilions"].insert(rng.randint(0, len(seat["pavilions"])), tile)
                supply[size] -= 1
                self.cover(seat, set(cells))

    def tile_is_taken(self) -> None:
        """A tile returns to the supply with its superstructures."""
        seat = self.anyone()
        if not seat["pavilions"]:
            return
        tile = seat["pavilions"].pop(self.rng.randrange(len(seat["pavilions"])))
        self.position["tile_supply"][tile["colour"]][tile["roofs"] - 2] += 1
        self.bare(seat, set(tile["cells"]))

    def bare(self, seat: Seat, cells: set[int]) -> None:
        """Superstructures on these cells go back."""
        standing = set(seat["superstructures"])
        self.position["superstructures"] += len(standing & cells)
        seat["superstructures"] = sorted(standing - cells)

    def tiles_change_order(self) -> None:
        """Which tile was built last matters."""
        self.rng.shuffle(self.anyone()["pavilions"])

    def wild_tile_is_laid(self) -> None:
        """A wild tile goes onto a board."""
        seat, position = self.anyone(), self.position
        free = set(range(49)) - self.roofs(seat) - {self.components.statue}
        if free and position["wild_tiles"]:
            cell = self.rng.choice(sorted(free))
            seat["wild"] = sorted([*seat["wild"], cell])
            position["wild_tiles"] -= 1
            self.cover(seat, {cell})

    def wild_tile_is_taken(self) -> None:
        """A wild tile goes back."""
        seat = self.anyone()
        if seat["wild"]:
            cell = seat["wild"].pop(self.rng.randrange(len(seat["wild"])))
            self.position["wild_tiles"] += 1
            self.bare(seat, {cell})

    def superstructures_change(self) -> None:
        """Superstructures are put up, as many as there are, or on all roofs, or taken down."""
        seat, rng, position = self.anyone(), self.rng, self.position
        if rng.random() < 0.3:
            self.bare(seat, set(rng.sample(range(49), 25)))
        free = sorted(self.roofs(seat) - set(seat["superstructures"]))
        most = min(len(free), position["superstructures"])
        more = rng.sample(free, rng.choice((min(1, most), most)))
        seat["superstructures"] = sorted([*seat["superstructures"], *more])
        position["superstructures"] -= len(more)

    def supplies_are_short(self) -> None:
        """Less is left of something."""
        rng, position = self.rng, self.position
        what = rng.choice(("tiles", "wild_tiles", "superstructures"))
        if what == "tiles":
            for counts in position["tile_supply"].values():
                for size in range(len(counts)):
                    counts[size] = min(counts[size], rng.choice((0, 1, 9)))
        else:
            position[what] = min(position[what], rng.choice((0, 1, 2)))

    # Coats of arms and actions

    def coats_change(self) -> None:
        """Coats are won, spent, or gone from the board."""
        seat, rng = self.anyone(), self.rng
        what = rng.choice(("won", "all won", "spent", "gone"))
        lying = seat["coats_on_board"]
        if what == "won" and lying:
            lying.pop(rng.randrange(len(lying)))
            seat["meadow"] += 1
        elif what == "all won":
            seat["meadow"], seat["coats_on_board"] = 8, []
        elif what == "spent":
            seat["meadow"] = rng.randint(0, max(0, seat["meadow"]))
        elif what == "gone":
            seat["coats_on_board"] = rng.sample(lying, rng.randint(0, len(lying)))

    def actions_change(self) -> None:
        """Actions are used, or not; covered, or denied, or not."""
        seat, rng = self.anyone(), self.rng
        where: tuple[Any, int | str] = rng.choice(
            ((seat, "used"), (seat, "used"), (self.position, "covered"), (self.position["denied"], rng.randrange(2)))
        )
        holder, key = where
        holder[key] = sorted(set(holder[key]) ^ set(rng.sample(range(len(BOARD_ACTIONS)), rng.choice((1, 1, 4)))))

    def marked(self, *names: str) -> None:
        """The seat to move has used these actions."""
        me = self.mover()
        me["used"] = sorted({*me["used"], *(BOARD_ACTIONS.index(name) for name in names)})

    def limit_is_lifted(self) -> None:
        """Lift the hand limit of a seat."""
        seat = self.anyone()
        seat["limit_lifted"] = self.rng.random() < 0.8
        if seat["limit_lifted"]:
            seat["used"] = sorted({*seat["used"], BOARD_ACTIONS.index("no_hand_limit")})
            if self.position["pending"].get("drew") and self.rng.random() < 0.5 and seat is self.mover():
                self.position["pending"]["lifted_now"] = True

    # The table

    def numbers_change(self) -> None:
        """Points, round and tokens are others, also close to their limits."""
        rng, position = self.rng, self.position
        what = rng.choice(("points", "points", "round", "token", "token"))
        if what == "points":
            self.anyone()["points"] = rng.choice((0, 1, 10, 100, 110, 113, 117, 125, 126, 127))
        elif what == "round":
            position["round"] = rng.choice((1, 2, 30, 60, 75, 90, 100, 110, 120, 125, 127))
        elif position["phase"] != "START":
            self.anyone()["token"] = rng.randrange(8)

    def last_round_begins(self) -> None:
        """This is the last round, or not."""
        self.position["last_round"] = not self.position["last_round"]

    def bonus_cards_change(self) -> None:
        """Bonus cards are taken or given back; or the expansion is played, or not."""
        rng, position, seat = self.rng, self.position, self.anyone()
        left = position["bonus_cards"]
        if rng.random() < 0.3:
            position["dry_roads"] = not position["dry_roads"]
            for other in self.seats:
                other["bonus"] = None
            in_play = self.components.bonus_cards[: len(self.seats)]
            position["bonus_cards"] = list(in_play) if position["dry_roads"] else []
        elif seat["bonus"] is not None:
            position["bonus_cards"] = sorted([*left, seat["bonus"]])
            seat["bonus"] = None
        elif left:
            seat["bonus"] = left.pop(rng.randrange(len(left)))

    # The decision in progress

    def turn_stands_elsewhere(self) -> None:
        """Change to another phase with its pending fields."""
        position, rng = self.position, self.rng
        if position["done"] or position["phase"] == "START":
            return
        self.put_cards_back()
        if rng.random() < 0.5:
            position["to_move"] = rng.randrange(len(self.seats))
        kept = {key: position["pending"][key] for key in ("reshuffled", "unseen_draws") if key in position["pending"]}
        position["pending"] = {}
        enter = rng.choice((self._move, self._main, self._end, self._discard, self._wild, self._lift, self._roof))
        rng.choice((enter, self._build))()
        position["pending"] |= kept
        self.reshuffled_again()

    def put_cards_back(self) -> None:
        """Cards that were being paid go to the discards, a superstructure that was lifted to the supply."""
        pending, position = self.position["pending"], self.position
        for card in [*pending.get("paid", []), *([pending["card"]] if "card" in pending else [])]:
            position["discard_pile"][card] += 1
        position["superstructures"] += "lifted" in pending

    def _enter(self, phase: str, **pending: Any) -> None:
        self.position["phase"] = phase
        self.position["pending"] = pending

    def _move(self) -> None:
        steps = self.rng.choice((0, 0, 5, 6))
        self._enter("MOVE", **({"move": steps} if steps else {}))
        if steps:
            self.marked("move_1_to_6" if steps == 6 else "move_1_to_5")

    def _begun(self, building: bool = False) -> dict[str, bool]:
        """Return what has happened in the turn so far."""
        rng = self.rng
        done = rng.choice((("drew",), ("built",), ("drew", "built")))
        if len(done) == 2 or (building and "drew" in done):
            self.marked("draw_and_build")
        if building and "built" in done:
            self.marked("second_pavilion")
        if rng.random() < 0.2 and "drew" in done:
            self.marked("no_hand_limit")
            self.mover()["limit_lifted"] = True
            done = (*done, "lifted_now")
        return dict.fromkeys(done, True)

    def _main(self) -> None:
        again = self.rng.random() < 0.4
        self._enter("MAIN", **(self._begun(building=True) | {"only_build": True} if again else {}))

    def _end(self) -> None:
        self._enter("END", **self._begun())

    def _discard(self) -> None:
        rng = self.rng
        over = rng.random() < 0.5
        self._enter("DISCARD", **(self._begun() if over else {"drew": True}))
        self.mover()["limit_lifted"] = False
        self.position["pending"].pop("lifted_now", None)
        if over:
            self.position["pending"]["turn_over"] = True
            self.marked("no_hand_limit")
        while sum(self.mover()["hand"]) <= self.components.hand_limit + rng.randint(0, 2):
            if not self.position["draw_pile"][1:]:
                break
            self.mover()["hand"][self.position["draw_pile"].pop()] += 1
        if rng.random() < 0.3:
            self.position["pending"]["last_discard"] = rng.randrange(self.components.types)

    def _interrupted(self) -> dict[str, Any]:
        resume = self.rng.choice(("MOVE", "MAIN", "END"))
        return {"resume": resume, **(self._begun() if resume == "END" else {})}

    def _wild(self) -> None:
        action, most = self.rng.choice((("one_wild_tile", 1), ("two_wild_tiles", 1), ("two_wild_tiles", 2)))
        self._enter("WILD", action=action, wilds_left=most, **self._interrupted())
        self.marked(action)

    def _lift(self) -> None:
        self._enter("LIFT", action="move_superstructure", **self._interrupted())
        self.marked("move_superstructure")

    def _roof(self) -> None:
        rng, me = self.rng, self.mover()
        what = rng.choice(("build", "move_superstructure", "extra_superstructure"))
        if what == "move_superstructure":
            self._enter("ROOF", action=what, roofs_left=1, **self._interrupted())
            if me["superstructures"]:
                cell = me["superstructures"].pop(rng.randrange(len(me["superstructures"])))
                self.position["pending"]["lifted"] = cell
        else:
            begun = self._begun() | {"built": True}
            if "drew" in begun:
                self.marked("draw_and_build")
            self._enter("ROOF", resume="END", roofs_left=1, **begun)
            if what == "build":
                self.position["pending"]["roofs_left"] = rng.choice((1, 1, 2, 3))
                last = me["pavilions"][-1]["cells"] if me["pavilions"] else []
                standing = [cell for cell in last if cell in me["superstructures"]]
                if standing and rng.random() < 0.5:
                    self.position["pending"]["last_roof"] = rng.choice(standing)
                return
            self.position["pending"]["action"] = what
        self.marked(what)

    def _build(self) -> None:
        """A card from the hand is being built, others of its colour are paid, or one of another."""
        rng, me, data = self.rng, self.mover(), self.components
        hand = [card for card, count in enumerate(me["hand"]) if count and card != data.wild_type]
        if not hand:
            return
        begun = self._begun(building=True) if rng.random() < 0.4 else {}
        card = rng.choice(hand)
        self.show(card)
        colour, due = data.card_color(card), data.card_number(card) - 1
        if due and rng.random() < 0.2:
            self.marked("one_card_fewer")
            due -= 1
        paid: list[int] = []
        substitute = False
        if due and rng.random() < 0.3:
            self.marked("any_card_as_wild")
            others = [c for c, n in enumerate(me["hand"]) if n and data.card_color(c) not in (colour, -1)]
            if others and rng.random() < 0.6:
                paid.append(rng.choice(others))
                self.show(paid[0])
            else:
                substitute = True
        while len(paid) < due and not substitute and rng.random() < 0.8:
            fitting = [
                c
                for c, n in enumerate(me["hand"])
                if n and data.card_color(c) in (colour, -1) and (not paid or c >= paid[-1] or len(paid) == 1)
            ]
            if not fitting:
                break
            paid.append(rng.choice(fitting))
            self.show(paid[-1])
        left = due - len(paid)
        self._enter("PAY" if left else "PLACE", card=card, **begun)
        pending = self.position["pending"]
        pending.update({"paid": paid} if paid else {})
        if left:
            pending.update({"to_pay": left, **({"substitute": True} if substitute else {})})
        elif rng.random() < 0.3:
            pending["any_side"] = True
            self.marked("any_side")

    def show(self, card: int) -> None:
        """A card leaves the hand of the seat to move."""
        me = self.mover()
        me["hand"][card] -= 1
        me["known"][card] = max(0, me["known"][card] - 1)

    # Anything

    def anything(self) -> None:
        """Change, remove or repeat one value of the position."""
        rng = self.rng
        holder: Any = self.position
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            key = rng.choice(keys)
            inner = holder[key]
            if not isinstance(inner, dict | list) or not inner or rng.random() < 0.1:
                break
            holder = inner
        if isinstance(inner, bool):
            holder[key] = not inner
        elif isinstance(inner, int) and rng.random() < 0.8:
            holder[key] = rng.choice((inner - 1, inner + 1, 0, 1, 7, 8, 48, 49, 100, 127, 128, 255, 2**15, 2**63))
        elif isinstance(inner, list) and inner:
            at = rng.randrange(len(inner))
            rng.choice((lambda: inner.pop(at), lambda: inner.append(inner[at]), lambda: rng.shuffle(inner)))()
        elif isinstance(inner, str) and rng.random() < 0.5:
            holder[key] = rng.choice(("START", "MOVE", "MAIN", "WILD", "LIFT", "END", *COLORS, *BOARD_ACTIONS))
        elif isinstance(holder, dict) and rng.random() < 0.5:
            del holder[key]
        else:
            holder[key] = rng.choice((None, [], {}, -1, 0, 1, 12, 1.0, "", True))


#: Changes that are consistent in themselves, those that make much of a difference more than once.
CONSISTENT: tuple[Callable[[_Change], None], ...] = (
    _Change.cards_move,
    _Change.cards_move,
    _Change.pile_runs_out,
    _Change.cards_are_gone,
    _Change.pile_is_reshuffled,
    _Change.cards_become_known,
    _Change.chance_differs,
    _Change.tile_is_laid,
    _Change.tile_is_laid,
    _Change.tile_is_taken,
    _Change.tiles_change_order,
    _Change.wild_tile_is_laid,
    _Change.wild_tile_is_taken,
    _Change.superstructures_change,
    _Change.superstructures_change,
    _Change.supplies_are_short,
    _Change.coats_change,
    _Change.actions_change,
    _Change.limit_is_lifted,
    _Change.numbers_change,
    _Change.last_round_begins,
    _Change.bonus_cards_change,
    _Change.turn_stands_elsewhere,
    _Change.turn_stands_elsewhere,
    _Change.turn_stands_elsewhere,
)
