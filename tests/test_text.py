"""Games in words: texts agree with the rules, hide hidden information, and suffice to play."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from helsinki_env.engine.determinization import determinize
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.kernel import JIT
from helsinki_env.games.copenhagen.components import ABILITIES
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLORS
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.records import Record
from helsinki_env.text import (
    ActionTextError,
    GameHistory,
    TextError,
    WrittenAction,
    history,
    legal_actions,
    legal_text,
    observation_text,
    parse_action,
    position_text,
    rules,
)
from tests.copenhagen.test_equal import random_config as random_copenhagen
from tests.games import EACH_GAME, GAMES, TestedGame, rare_action
from tests.oracles import copenhagen as copenhagen_rules
from tests.oracles import helsinki as helsinki_rules
from tests.support.agreement import random_config as random_helsinki
from tests.support.mutated_text import mutated_text
from tests.support.text_reader import CopenhagenReader, HelsinkiReader, found

#: What a text does not say, as it does not matter for a game: version and file names.
UNSAID = {"game", "version", "components"}
GAME_NAMES = [game.name for game in GAMES]


def random_config(name: str, rng: random.Random) -> Any:
    return random_helsinki(rng) if name == "helsinki" else random_copenhagen(rng, ["copenhagen"])


def some_positions(name: str, count: int, components: str = "") -> Iterator[BoardGame]:
    """Unfinished games: of random games with random settings, and of built positions in which rare things are near."""
    tested, rng, number = next(game for game in GAMES if game.name == name), random.Random(f"text {name}"), 0
    while True:
        config = random_helsinki(rng, components or "default") if name == "helsinki" else random_config(name, rng)
        game = tested.spec.game(config, seed=rng.getrandbits(60))
        if number % 3 == 0 and not components:
            game = tested.built(rng)
        for _ in range(30 if number % 3 == 0 else 1000):
            if game.done:
                break
            if rng.random() < 0.5:
                yield game
                number += 1
                if number == count:
                    return
            game.step(rare_action(game, rng))


def reader(game: BoardGame) -> Any:
    return HelsinkiReader(game.config.component_set) if game.spec.name == "helsinki" else CopenhagenReader()


# positions


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "components"), [("helsinki", ""), ("helsinki", "alternative"), ("copenhagen", "")])
def test_a_text_holds_the_copy_of_its_seat_and_nothing_else(name: str, components: str) -> None:
    """Every value of the copy is read back from the text, at the end of games as well."""
    pending: set[str] = set()
    for number, game in enumerate(some_positions(name, (200 if components else 2000) if JIT else 10, components)):
        waiting = set(game.spec.to_dict(game, game.seat)["pending"])  # type: ignore[misc]  # both games have positions
        if number % 4 and waiting <= pending:
            continue
        pending |= waiting
        for seat in range(game.num_players):
            seen = game.spec.to_dict(game, seat)  # type: ignore[misc]
            expected = {key: value for key, value in seen.items() if key not in UNSAID}
            expected.setdefault("denied", [[]] * game.num_players)
            assert reader(game).position(position_text(game, seat)) == expected
    rare = {"unseen_draws", "turn_over"} if name == "helsinki" else set()
    fields = GAMES[GAME_NAMES.index(name)].spec.text()  # type: ignore[misc]  # both games have a text
    known = sys.modules[f"{fields.__name__}.position_text"].PENDING
    assert not JIT or components or set(known) - rare <= pending <= set(known)


@EACH_GAME
def test_a_text_after_the_end_names_the_winners(game: TestedGame) -> None:
    for config in game.configs:
        one, rng = game.spec.game(config, seed=3), random.Random(3)
        while not one.done:
            one.step(int(rng.choice(one.legal_actions())))
        text = position_text(one, 0)
        seen = {key: value for key, value in one.spec.to_dict(one, 0).items() if key not in UNSAID}  # type: ignore[misc]
        assert reader(one).position(text) == {"denied": [[]] * one.num_players} | seen
        winners = [seat for seat, rank in enumerate(one.ranks()) if rank == 0]
        assert re.search(rf"^Players? {' and '.join(map(str, winners))} (wins|share)", text, re.MULTILINE)
        assert legal_actions(one) == ()
        assert legal_text(()) == ""


@EACH_GAME
def test_what_is_hidden_changes_no_byte(game: TestedGame) -> None:
    compared = differed = 0
    for one in some_positions(game.name, 150 if JIT else 5):
        for viewer in range(one.num_players):
            other = determinize(one, viewer, seed=compared)
            assert position_text(other, viewer) == position_text(one, viewer)
            if viewer == one.seat:
                assert legal_text(legal_actions(other)) == legal_text(legal_actions(one))
                assert observation_text(one.config, one.observation()) == position_text(one, viewer)
            compared += 1
            differed += other.state.hand.tobytes() != one.state.hand.tobytes()
    assert differed > 0.3 * compared


# history


@EACH_GAME
def test_a_history_tells_the_same_of_games_that_look_the_same(game: TestedGame) -> None:
    """Other hidden cards, the same actions: as long as a seat sees no difference, its history has none either."""
    same = other_hands = 0
    for number, one in enumerate(some_positions(game.name, 120 if JIT else 3)):
        viewer, rng = number % one.num_players, random.Random(number)
        first, second = one.clone(), determinize(one, viewer, seed=number)
        histories = GameHistory(first), GameHistory(second)
        differs = first.state.hand.tobytes() != second.state.hand.tobytes()
        for _ in range(12):
            if first.done or second.done:
                break
            both = set(first.legal_actions().tolist()) & set(second.legal_actions().tolist())
            if not both:
                break
            action = rng.choice(sorted(both))
            for log, copy in zip(histories, (first, second), strict=True):
                log.step(action)
                copy.step(action)
            if one.spec.to_dict(first, viewer) != one.spec.to_dict(second, viewer):  # type: ignore[misc]
                break
            assert histories[0].lines(viewer) == histories[1].lines(viewer)
            same += 1
            other_hands += differs
    assert other_hands > 0.2 * same > 0


@pytest.mark.thorough
@EACH_GAME
def test_a_history_follows_a_whole_game(game: TestedGame) -> None:
    """The latest sentences about display, piles, tokens, points and hands agree with the game at every decision."""
    for config in game.configs:
        one, rng = game.spec.game(config, seed=8), random.Random(8)
        log = GameHistory(one)
        actions: list[int] = []
        since = 0
        while not one.done:
            for seat in range(one.num_players):
                lines, text = log.lines(seat), position_text(one, seat)
                display = next(line for line in reversed(lines) if line.startswith("The display by slot: "))
                assert display[:-1].replace("The display", "Display") in text
                pile = next(line for line in reversed(lines) if re.match(r"The draw pile has \d+ cards?\.", line))
                assert found(r"\d+", pile)[0] == found(r"^Draw pile: (\d+)", text)[1]
                if actions:
                    turns = (line for line in reversed(lines) if line.startswith("It is the turn of player "))
                    expected = f"It is the turn of player {one.seat}."
                    assert next(turns, expected) == expected
                private = [line for line in log.lines(seat, since) if line.endswith("(only you see this)")]
                assert all(line.startswith(("You draw ", "Your hand: ")) for line in private)
            actions.append(int(rng.choice(one.legal_actions())))
            since = log.actions
            seat = one.seat
            log.step(actions[-1])
            one.step(actions[-1])
            assert any(line.startswith(f"Player {seat} ") for line in log.lines(0, since))
            assert since == 0 or log.lines(0, since)[0].startswith(f"Player {seat} ")
        record = Record.of(one, 8, ["a"] * one.num_players, actions)
        assert history(record, 0) == log.lines(0)
        assert history(record, 1, len(actions) - 1) == log.lines(1, len(actions) - 1)
        for seat in range(one.num_players):
            assert log.lines(seat)[-1] == "The game is over."
            scored = [0] * one.num_players
            for line in log.lines(seat):
                if match := re.match(r"Player (\d) scores .* (?:has )?(\d+)(?: in all)?\.", line):
                    scored[int(match[1])] = int(match[2])
            assert scored == one.state.points[: one.num_players].tolist()


def test_an_illegal_action_leaves_a_history_unchanged() -> None:
    log = GameHistory(GAMES[0].spec.game(HelsinkiConfig(), seed=1))
    before = log.lines(0)
    with pytest.raises(ValueError, match="is not legal in phase START"):
        log.step(500)
    assert log.lines(0) == before
    with pytest.raises(ValueError, match="seat: found 2, expected 0 to 1"):
        log.lines(2)


# a player that knows nothing but texts


def written(name: str, kind: str, argument: int, seen: dict[str, Any], cards: list[str]) -> str:
    """An action as the rules text says how to write it."""
    if name == "helsinki":
        if kind in ("BUILD", "PAY", "DISCARD"):
            return f"{kind} {cards[argument]}"
        if kind in ("WILD", "LIFT", "ROOF"):
            return f"{kind} r{argument // 7}c{argument % 7}"
        if kind == "PLACE":
            side, rest = divmod(argument, 56)
            return f"PLACE {('north', 'east', 'south', 'west')[side]} o{rest // 7} lane {rest % 7}"
        if kind == "USE":
            return f"USE {BOARD_ACTIONS[argument]}"
        return kind if kind in ("DRAW", "END") else f"{kind} {argument + (kind == 'MOVE')}"
    if kind == "BUILD":
        return f"BUILD {COLORS[argument // 4]} {argument % 4 + 2}"
    if kind == "PLACE":
        return f"PLACE {argument // 45} at {argument % 5},{argument % 45 // 5}"
    if kind in ("PAY", "DISCARD", "RECOLOUR"):
        return f"{kind} {COLORS[argument]}"
    if kind in ("USE", "ABILITY"):
        return f"{kind} {ABILITIES[argument]}"
    if kind == "WHITE":
        return f"WHITE {argument % 5},{argument // 5}"
    return f"TAKE {argument}" if kind == "TAKE" else kind


def choice_from_text(config: Any, text: str, rng: random.Random) -> str:
    """An action that the plain rules allow in the position of a text; hidden cards are anything."""
    name = "helsinki" if isinstance(config, HelsinkiConfig) else "copenhagen"
    read: Any = HelsinkiReader(config.component_set) if name == "helsinki" else CopenhagenReader()
    seen = read.position(text) | {"components": config.components, "chance": {"word": "0x0000000000000000"}}
    seen["draw_pile"] = [0] * seen["draw_pile"]
    if seen.get("end_card"):
        seen["draw_pile"][-1] = 5
    for seat in seen["seats"]:
        if "size" in seat["hand"]:
            seat["hand"] = list(seat["known"])
    if name == "helsinki":
        game: Any = helsinki_rules.ReferenceGame.from_dict(seen)
        kind, argument = helsinki_rules.decode(rng.choice(game.legal_actions()), config.component_set.types)
        return written(name, kind, argument, seen, list(read.cards))
    game = copenhagen_rules.ReferenceGame.from_dict(seen)
    kind, argument = copenhagen_rules.decode(rng.choice(game.legal_actions()))
    return written(name, kind, argument, seen, [])


@pytest.mark.thorough
@pytest.mark.parametrize("name", GAME_NAMES)
def test_a_player_that_reads_only_texts_never_takes_an_illegal_action(name: str) -> None:
    rng, taken = random.Random(f"reads {name}"), 0
    for number in range(6 if JIT else 1):
        config = random_config(name, rng)
        game = GAMES[GAME_NAMES.index(name)].spec.game(config, seed=number)
        while not game.done:
            answer = choice_from_text(config, position_text(game, game.seat), rng)
            game.step(parse_action(answer, legal_actions(game)))
            taken += 1
    assert taken > (500 if JIT else 50)


# rules


def numbers_of(pattern: str, text: str) -> list[int]:
    return [int(n) for n in found(pattern, text).groups()]


#: Numbers of random configurations; the first ones have all component files.
EACH_RULES = [number if number < 16 else pytest.param(number, marks=pytest.mark.nightly) for number in range(50)]


@pytest.mark.parametrize("number", EACH_RULES)
def test_the_rules_of_helsinki_claim_what_the_engine_plays(number: int) -> None:
    rng = random.Random(f"rules {number}")
    files = ["default", "alternative", "coats_at_the_rim", "other_shapes", "two_points_worth_five", "more_small_tiles",
             "fewer_superstructures", "coats_inside"]  # fmt: skip
    config = random_helsinki(rng, files[number % len(files)])
    text, t = rules(config), config.tables[0]
    players = config.num_players
    assert numbers_of(r"^Players: (\d)", text) == [players]
    assert 60 <= len(text.splitlines()) <= 120
    read = HelsinkiReader(config.component_set)
    assert sum(1 << cell for cell in read.cells(found(r"statue is on (\w+)", text)[1])) == t.statue
    assert read.cells(found(r"Coats of arms lie on ([\w ]+)\.", text)[1]) == t.coat_cell.tolist()
    deck = []
    faces = re.findall(r"^  (\d)/(\d)(?:\+(\d))?: (blue .*)$", text, re.MULTILINE)
    for variant, (cost, roofs, shows, copies) in enumerate(faces):
        counts = [int(part.split()[1]) for part in copies.split(", ")]
        for colour, count in enumerate(counts):
            card = colour * len(faces) + variant
            assert (t.colour[card], t.number[card], t.kind[card] % 4 + 2, t.shows[card]) == (
                colour, int(cost), int(roofs), int(shows or 0)
            )  # fmt: skip
            assert t.deck[players, card] == count
            deck.append(count)
    assert numbers_of(r"^  wild: (\d+)\.", text) == [t.deck[players, t.types - 1]]
    removed = re.search(r"card with the number (\d) is removed", text)
    assert (removed is not None) == (players == 2)
    assert removed is None or int(removed[1]) == t.removed_number
    game = GAMES[0].spec.game(config, seed=number)
    dealt = game.spec.to_dict(game, 0)  # type: ignore[misc]  # has positions
    assert numbers_of(r"begin with (\d+) cards", text) == [dealt["draw_pile"] + 8]
    assert numbers_of(r"each color: (\d+) of 2 roofs, (\d+) of 3 roofs, (\d+) of 4 roofs, (\d+) of 5 roofs", text) == (
        t.supply[:4].tolist()
    )
    assert numbers_of(r"^Wild tiles: (\d+)", text) == [t.wild_tiles] == [dealt["wild_tiles"]]
    assert numbers_of(r"^Superstructures: (\d+)", text) == [t.superstructures] == [dealt["superstructures"]]
    assert numbers_of(r"more than (\d+) cards, discard down to (\d+)", text) == [t.hand_limit] * 2
    assert numbers_of(r"Full row: (\d+) points. Full column: (\d+) points", text) == [t.points_row, t.points_column]
    assert numbers_of(r"Superstructure: (\d+) points if .*, (\d+) if one is", text) == [
        t.points_crossing,
        t.points_line,
    ]
    bonus = re.search(r"bonus cards (.*) are in play", text)
    assert (bonus is not None) == config.dry_roads
    if bonus:
        assert [int(n) for n in bonus[1].split(", ")] == t.bonus_cards[:players].tolist() == dealt["bonus_cards"]
        cells = read.cells(found(r"^These cells are ([\w ]+)\.", text)[1])
        assert sum(1 << cell for cell in cells) == t.crosswalks
    for action, name in enumerate(BOARD_ACTIONS):
        cost, effect = found(rf"^  {name} \((no|\d) coats?\): (.*)$", text).groups()
        assert (0 if cost == "no" else int(cost)) == t.costs[action]
        strength = effect.replace("at least 4", "").partition("Denied")[0]
        assert t.strengths[action] == 0 or re.search(r"\d+", strength)[0] == str(t.strengths[action])  # type: ignore[index]
        assert ("no player may use it" in effect) == bool(game.state.covered >> action & 1)
        denied = re.search(r"Denied to player ([\d and]+)\.$", effect)
        assert (
            {int(n) for n in re.findall(r"\d", denied[1])}
            if denied
            else set() == {seat for seat in range(players) if game.state.denied[seat] >> action & 1}
        )
    check_shapes(text, [(f"{colour} {roofs}", 8 * (4 * i + roofs - 2)) for i, colour in enumerate(COLORS)
                        for roofs in (2, 3, 4, 5)], t, 7, "roofs_mask")  # fmt: skip


def check_shapes(text: str, tiles: list[tuple[str, int]], t: Any, columns: int, mask: str, up: bool = False) -> None:
    """The drawings of a text and the cells of the engine are the same, orientation by orientation."""
    lines = {}
    for names, drawn in re.findall(r"^  ((?:\w+ \d(?:, )?)+): (o0 .*)$", text, re.MULTILINE):
        lines.update(dict.fromkeys(names.split(", "), drawn.split("  ")))
    assert len(lines) == len(tiles)
    for name, piece in tiles:
        assert len(lines[name]) == t.orientations[piece // 8]
        for turn, drawing in enumerate(lines[name]):
            rows = drawing.split()[1].split("/")
            ordered = rows[::-1] if up else rows
            cells = {
                columns * r + c: mark for r, row in enumerate(ordered) for c, mark in enumerate(row) if mark != "."
            }
            assert sum(1 << cell for cell in cells) == t[mask][piece + turn]
            if up:
                assert cells[t.brick[piece + turn]] == "B"


@pytest.mark.parametrize("number", EACH_RULES)
def test_the_rules_of_copenhagen_claim_what_the_engine_plays(number: int, tmp_path_factory: Any) -> None:
    from tests.copenhagen.test_equal import another_box

    rng = random.Random(f"rules {number}")
    names = ["copenhagen", str(another_box(tmp_path_factory.mktemp("box")))]
    config: CopenhagenConfig = random_copenhagen(rng, names)
    text, t, players = rules(config), config.tables[0], config.num_players
    assert 50 <= len(text.splitlines()) <= 110
    assert numbers_of(r"^Players: (\d)", text) == [players]
    assert numbers_of(r"first player with (\d+) points", text) == [t.goal]
    assert numbers_of(r"when a player has (\d+) points", text) == [t.goal]
    cells = found(r"lie on the cells ([\d, ]+)\.", text)[1].split()
    assert sum(1 << int(cell[0]) + 5 * int(cell[2]) for cell in cells) == t.coats
    rows = found(r"lie next to the rows ([\d, ]+|none)\.", text)[1]
    assert sum(1 << 5 * int(row) for row in re.findall(r"\d", rows)) == t.coat_rows
    assert numbers_of(r"Cards of each color: (\d+)", text) == [t.cards[players]]
    hands = found(r"Cards dealt: (.*)\.", text)[1].split(", ")
    assert [int(hand.split()[2]) for hand in hands] == t.hands[:players].tolist()
    assert numbers_of(r"each color: (\d+) of 2 cells, (\d+) of 3 cells, (\d+) of 4 cells, (\d+) of 5 cells", text) == (
        t.supply[players][:4].tolist()
    )
    assert numbers_of(r"has (\d+) white tiles", text) == [t.white_tiles]
    assert numbers_of(r"more than (\d+) cards, discard down to (\d+)", text) == [t.hand_limit] * 2
    assert numbers_of(r"Full row: (\d+) points, or (\d+) if", text) == [t.points_row, t.points_row_windows]
    assert numbers_of(r"Full column: (\d+) points, or (\d+) if", text) == [t.points_column, t.points_column_windows]
    assert numbers_of(r"last (\d+) cards", text) == [t.last_cards]
    assert ("shuffled into a new draw pile" in text) == (players > 2)
    game = GAMES[1].spec.game(config, seed=number)
    for ability, name in enumerate(ABILITIES):
        effect = found(rf"^  {name}: (.*)$", text)[1]
        denied = {int(n) for n in re.findall(r"\d", effect.partition("Denied to player")[2])}
        assert denied == {seat for seat in range(players) if game.state.denied[seat] >> ability & 1}
    check_shapes(text, [(f"{colour} {size}", 8 * (4 * i + size - 2)) for i, colour in enumerate(COLORS)
                        for size in (2, 3, 4, 5)], t, 5, "cells", up=True)  # fmt: skip


# answers


@EACH_GAME
def test_every_legal_action_is_read_back_from_what_describes_it(game: TestedGame) -> None:
    for one in some_positions(game.name, 500 if JIT else 10):
        actions = legal_actions(one)
        assert [action.id for action in actions] == one.legal_actions().tolist()
        lines = legal_text(actions).splitlines()
        for line, action in zip(lines, actions, strict=True):
            for answer in (line, action.words, action.notation, str(action.id)):
                assert parse_action(answer, actions) == action.id
        chosen = random.Random(len(lines)).choice(actions)
        for answer in (
            chosen.words.upper(),
            f"Let me think. {{ no }}\n```json\n{json.dumps({'action': chosen.id})}\n```\nGood luck!",
            f'First {{"action": 7}}, no: {json.dumps({"why": {"deep": [1]}, "action": chosen.notation.lower()})}',
            f"I would build.\n\n**Action: {chosen.words}.**",
            f"My final answer is: [{chosen.id}]",
        ):
            assert parse_action(answer, actions) == chosen.id, answer


ACTIONS = (
    WrittenAction(8, "MOVE 1", "Move 1 space", "moved 1 space"),
    WrittenAction(9, "MOVE 2", "Move 2 spaces", "moved 2 spaces"),
    WrittenAction(540, "USE any_side", "Use: any side", "used: any side"),
)


@pytest.mark.parametrize(
    ("answer", "action"),
    [("use", 540), ("I think about it.\n> move 2", 9), ("move 1", 8), ('{"action": "9"}', 9), ("Action 9", 9)],
)
def test_a_unique_beginning_suffices(answer: str, action: int) -> None:
    assert parse_action(answer, ACTIONS) == action


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("", "found no text"),
        ("move", "found 'move', which fits 2 legal actions"),
        ("pass", "found 'pass', which is not a legal action now"),
        ("77", "found '77', expected the id or the words of a legal action"),
        ('{"action": 77}', "found 77, expected the id or the words"),
        ('{"action": true}', "found True, expected an id or the words"),
        ('{"action": -1}', "found -1"),
        ('{"action": "-8"}', "found '-8'"),
        ("-8.", "found '-8'"),
        ("**-8**", "found '-8'"),
        ("The answer is: -8", "found '-8'"),
        ('{"action": null}', "found None"),
        ("I will not move 2 spaces, as they all do.", "which is not a legal action now"),
    ],
)
def test_an_error_says_what_is_wrong_and_what_is_legal(answer: str, problem: str) -> None:
    with pytest.raises(ActionTextError) as caught:
        parse_action(answer, ACTIONS)
    assert problem in caught.value.problem
    assert "Legal actions:\n8: Move 1 space (MOVE 1)\n9: Move 2 spaces (MOVE 2)" in str(caught.value)
    assert "\n" not in caught.value.problem


def test_mutated_answers_give_an_action_or_one_error() -> None:
    rng, seeds = random.Random("answers"), ['{"action": 9}', "Action: Move 2 spaces", '{"a": [{"action": "use"}]}', "9"]
    read = rejected = 0
    for number in range(2000):
        answer = mutated_text(rng, seeds[number % len(seeds)])
        try:
            assert parse_action(answer, ACTIONS) in (8, 9, 540)
            read += 1
        except ActionTextError:
            rejected += 1
    assert read > 100
    assert rejected > 100


@pytest.mark.parametrize("answer", ["{" * 50_000, '{"action":' * 30_000, "[" * 90_000, "\ud800", "9" * 90_000])
def test_hostile_answers_end_soon_in_one_error(answer: str) -> None:
    with pytest.raises(ActionTextError):
        parse_action(answer, ACTIONS)


def test_games_without_text_say_so() -> None:
    from tests.support.tictactoe import TicTacToeConfig

    with pytest.raises(TextError, match="which has no text, expected a game with text"):
        rules(TicTacToeConfig())


def test_the_package_loads_no_text() -> None:
    code = "import sys, helsinki_env, helsinki_env.agents.registry; print([m for m in sys.modules if 'env.text' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
