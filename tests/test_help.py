"""Texts for people: rules, help on spots, reasons, points by category, and effects, in both games."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

import pytest
import yaml

from helsinki_env.engine.determinization import determinize
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.games.helsinki.game import HelsinkiGame
from helsinki_env.utils.yaml_files import find_yaml
from helsinki_env.web.help import effects, explanation, rules_text, score_sheet
from helsinki_env.web.names import verbatim
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment, TableError
from helsinki_env.web.views import choices, picture
from tests.games import EACH_GAME, TestedGame


def texts(game: TestedGame) -> Any:
    return import_module(f"helsinki_env.games.{game.name}.help")


def spots(one: Any) -> dict[str, Any]:
    return one.spec.render().svg(one, viewer=one.seat).spots  # type: ignore[no-any-return]


def positions(game: TestedGame, count: int) -> list[Any]:
    """Positions of play from built ones; each kind of action is as likely as the others."""
    rng, found = random.Random(f"help in {game.name}"), list[Any]()
    while len(found) < count:
        one = game.built(rng)
        for _ in range(8):
            if one.done:
                break
            found.append(one.clone())
            names = {int(i): one.spec.action_to_string(int(i), one.config).split()[0] for i in one.legal_actions()}
            kind = rng.choice(sorted(set(names.values())))
            one.step(rng.choice([action for action, name in names.items() if name == kind]))
    return found


@pytest.mark.thorough
@EACH_GAME
def test_every_spot_has_help_and_every_closed_one_a_reason(game: TestedGame) -> None:
    module, phases = texts(game), set()
    for one in positions(game, 60):
        phases.add(str(one.phase))
        legal = {spot for choice in choices(one) for spot in choice["at"]}
        for spot in spots(one):
            said = [module.help_text(one, one.seat, spot)]
            if spot not in legal:
                said.append(module.why_not(one, spot))
            for text in said:
                assert text[:1].isupper() or text[:1].isdigit(), (spot, text)
                assert text[-1] == ".", (spot, text)
                assert "_" not in text, (spot, text)
    assert len(phases) >= 6


@EACH_GAME
def test_nothing_hidden_is_told(game: TestedGame) -> None:
    module = texts(game)
    for seed, one in enumerate(positions(game, 40)):
        other = determinize(one, seed=seed)
        for spot in spots(one):
            assert module.help_text(one, one.seat, spot) == module.help_text(other, one.seat, spot)
            assert module.why_not(one, spot) == module.why_not(other, spot)
        assert choices(one) == choices(other), "the effects of actions are public"
        assert module.score_sheet(one) == module.score_sheet(other)


@EACH_GAME
def test_the_sheet_adds_up_to_the_score(game: TestedGame) -> None:
    for one in positions(game, 60):
        assert [sum(line["points"] for line in sheet) for sheet in score_sheet(one)] == one.scores().tolist()


@EACH_GAME
def test_effects_are_the_points_that_come(game: TestedGame) -> None:
    seen = set[str]()
    for one in positions(game, 200):
        for action in one.legal_actions().tolist():
            after = one.clone()
            after.step(action)
            gained = int(after.scores()[one.seat] - one.scores()[one.seat])
            said = effects(one, after, one.seat)
            seen.update(text.split()[0] for text in said)
            points = [int(text.split()[0]) for text in said if "point" in text]
            assert points == ([gained] if gained else [])
    assert "wins" in seen


@EACH_GAME
@pytest.mark.parametrize("players", [2, 3, 4])
def test_rules_have_the_numbers_of_the_components(game: TestedGame, players: int) -> None:
    config = game.spec.config(num_players=players)
    data = yaml.safe_load(find_yaml(config.components, "components", ValueError).read_text(encoding="utf-8"))
    whole = " ".join(section["text"] for section in rules_text(config))
    assert f"discard down to {data['rules']['hand_limit']}." in whole
    assert 250 < len(whole.split()) < 700
    for sentence in whole.split(". "):
        assert len(sentence.split()) <= 28, sentence


def test_rules_follow_a_changed_component_file(tmp_path: Any) -> None:
    data = yaml.safe_load(find_yaml("default", "components", ValueError).read_text(encoding="utf-8"))
    data["rules"]["hand_limit"] = 9
    data["actions"] = {"two_points": {"cost": 2, "strength": 5}}
    file = tmp_path / "own.yaml"
    file.write_text(yaml.safe_dump(data), encoding="utf-8")
    config = HelsinkiConfig(components=str(file), covered=["move_back"], dry_roads=True, num_players=3)
    whole = " ".join(section["text"] for section in rules_text(config))
    assert "discard down to 9." in whole
    assert "5 points (2 coats): Score 5 points now." in whole
    assert "These actions are covered, so no player uses them: Move back." in whole
    assert "The bonus cards 3, 5, 7 are in play." in whole


def helsinki(phase: str = "MAIN", **changes: Any) -> HelsinkiGame:
    """A game of two in which seat 0 is to move; `changes` go to its fields."""
    one = HelsinkiGame(HelsinkiConfig(2), seed=3)
    one.step(0)  # token on space 0
    one.state.hand[0, :] = 0
    one.state.known[0, :] = 0
    if phase != "MOVE":
        one.step(one.actions.encode(1, 0))
    for name, value in changes.items():
        if name == "hand":
            for card, count in value.items():
                one.state.hand[0, card] = count
        elif one.state[name].shape:
            one.state[name][0] = value
        else:
            one.state[name] = value
    return one


def action(name: str) -> str:
    return f"action {BOARD_ACTIONS.index(name)}"


def bits(*cells: int) -> int:
    return sum(1 << cell for cell in cells)


# With the published components, card 10 * color + variant: variants 4 and 5 cost 3 and 4 cards.
HELSINKI_REASONS = [
    (helsinki("MOVE"), "space 0", "Your token stands here, and it must move."),
    (
        helsinki("MOVE"),
        "space 5",
        "This space is 5 spaces away: more than 3 needs the board action Move 1–6 or Move 1–5.",
    ),
    (helsinki("MOVE"), "slot 3", "Move your token first: 1 to 3 spaces clockwise."),
    (helsinki("MOVE"), "now", "The turn cannot end now. Move your token first: 1 to 3 spaces clockwise."),
    (helsinki(), "space 5", "Your token has moved in this turn; it moves once."),
    (helsinki(), "slot 4", "You draw the two cards next to your token: those of places 0 and 1."),
    (helsinki(hand={50: 1}), "card 50", "A wild card starts no pavilion: it only pays for one."),
    (
        helsinki(hand={4: 1, 10: 3}),
        "card 4",
        "This pavilion costs 3 blue or wild cards, and you have 1.",
    ),
    (helsinki(hand={0: 1}, supply=0), "card 0", "No blue tile with 2 roofs is left in the supply."),
    (
        helsinki(hand={0: 1}, built=bits(*range(49)) & ~bits(21)),
        "card 0",
        "A blue tile with 2 roofs does not fit from the north, where your token stands.",
    ),
    (helsinki(), action("two_points"), "Two points costs 1 coat, and you have none in your meadow."),
    (
        helsinki(meadow=1, used=1 << 14),
        action("two_points"),
        "You have used Two points: each player can use each board action once per game.",
    ),
    (
        helsinki(meadow=1, covered=1 << 14),
        action("two_points"),
        "Two points is covered in this game, so no player may use it.",
    ),
    (helsinki(meadow=1, denied=1 << 14), action("two_points"), "Two points is denied to you in this game."),
    (helsinki(meadow=1), action("move_back"), "Move back replaces the normal move, so it is used before you move."),
    (helsinki(meadow=1), action("any_side"), "Any side is used while you place a tile."),
    (
        helsinki(meadow=1),
        action("one_wild_tile"),
        "A wild tile must touch one of your tiles, and there is no such empty cell.",
    ),
    (helsinki(meadow=1, wild_supply=0), action("one_wild_tile"), "No wild tile is left in the supply."),
    (helsinki(meadow=1), action("move_superstructure"), "You have no superstructure to move."),
    (helsinki(meadow=1), action("second_pavilion"), "Second pavilion is used after building."),
    (helsinki(), "cell 1 3", "This is another player's board; you build on your own."),
    (helsinki(), "cell 0 3", "Choose a card of your hand first; then you place its tile."),
    (helsinki(), "kind 3", "A pavilion is built with a card: choose the card in your hand that shows this tile."),
]


def test_the_log_names_bonus_cards_and_the_last_round() -> None:
    rng, seen = random.Random(3), {"; drew a bonus card": 0, "; emptied the draw pile, so this round is the last": 0}
    for seed in range(3):
        game = HelsinkiGame(HelsinkiConfig(2), seed=seed)
        while not game.done:
            found = choices(game)
            chosen = rng.choice([one for one in found if one["kind"] in ("BUILD", "PLACE")] or found)
            before, is_last = int(game.state.hand[game.seat].sum()), bool(game.state.last_round)
            seat = game.seat
            game.step(chosen["id"])
            drew = chosen["kind"] == "PLACE" and int(game.state.hand[seat].sum()) > before
            for end, happened in zip(seen, (drew, bool(game.state.last_round) and not is_last), strict=True):
                assert (end in chosen["said"]) == happened, chosen["said"]
                seen[end] += happened
    assert min(seen.values()) >= 3


@pytest.mark.parametrize(("one", "spot", "reason"), HELSINKI_REASONS, ids=range(len(HELSINKI_REASONS)))
def test_reasons_of_helsinki(one: HelsinkiGame, spot: str, reason: str) -> None:
    assert spot not in {at for choice in choices(one) for at in choice["at"]}, "it is possible"
    assert texts_of("helsinki").why_not(one, spot) == reason


def texts_of(game: str) -> Any:
    return import_module(f"helsinki_env.games.{game}.help")


def copenhagen(**changes: Any) -> CopenhagenGame:
    """A game of two in which seat 0 is to move; `changes` go to its fields."""
    one = CopenhagenGame(CopenhagenConfig(2), seed=3)
    one.state.hand[0, :] = 0
    for name, value in changes.items():
        if one.state[name].shape:
            one.state[name][0] = value
        else:
            one.state[name] = value
    return one


def after(one: Any, *actions: str) -> Any:
    for text in actions:
        one.step(named(one, text))
    return one


def named(one: Any, text: str) -> int:
    return next(int(i) for i in one.legal_actions() if one.spec.action_to_string(int(i), one.config) == text)


COPENHAGEN_REASONS = [
    (copenhagen(), "slot 6", "A pair begins with its left card, and this one has no card to its right."),
    (
        after(copenhagen(used=1), "TAKE 1"),
        "slot 4",
        "The second card must lie next to the first: take that of place 2.",
    ),
    (copenhagen(hand=[1, 0, 0, 0, 0]), "kind 1", "This tile costs at least 3 blue cards, and you have 1."),
    (copenhagen(supply=0, hand=[7, 0, 0, 0, 0]), "kind 0", "No blue tile of 2 cells is left in the supply."),
    (
        copenhagen(hand=[7, 0, 0, 0, 0], filled=(1 << 45) - 1 - 1),
        "kind 3",
        "A blue tile of 5 cells fits on no free part of your facade.",
    ),
    (copenhagen(hand=[7, 0, 0, 0, 0]), "card 0", "Choose a tile of the supply; the cards are paid when you place it."),
    (copenhagen(), "ability 0 2", "You do not own Construction discount: it is a reward for a coat of arms."),
    (copenhagen(used=1), "ability 0 0", "Any cards is used: a coat of arms can turn it back."),
    (copenhagen(), "ability 1 0", "This belongs to another player; you use your own."),
    (copenhagen(), "cell 0 7", "Choose a tile of the supply first; then you place it here."),
    (
        copenhagen(),
        "now",
        "The turn cannot end now. Take two cards that lie next to each other, or choose a tile to construct.",
    ),
    (copenhagen(), "draw pile", "Cards are taken from the display, not from the draw pile."),
]


@pytest.mark.parametrize(("one", "spot", "reason"), COPENHAGEN_REASONS, ids=range(len(COPENHAGEN_REASONS)))
def test_reasons_of_copenhagen(one: CopenhagenGame, spot: str, reason: str) -> None:
    used = {spot for choice in choices(one) for spot in choice["at"]}
    assert spot not in used, "it is possible"
    assert texts_of("copenhagen").why_not(one, spot) == reason


@EACH_GAME
def test_an_explanation_for_each_kind_of_page(game: TestedGame) -> None:
    chairs = (SeatAssignment(HUMAN, "Ann"), SeatAssignment(HUMAN, "Bob"))
    table = GameTable("t", "", game.spec.config(), 1, chairs)
    legal, shown = choices(table.game), picture(table, 0)["spots"]
    open_spot = legal[0]["at"][0]
    assert explanation(table, (0,), 0, open_spot, shown, legal)["why"] == ""
    assert explanation(table, (1,), 1, open_spot, shown, [])["why"] == f"It is the turn of {verbatim('Ann')}."
    assert explanation(table, (), None, "cell 0 0", shown, [])["why"] == ""
    assert explanation(table, (0,), 0, "cell 1 0", shown, legal)["why"]
    with pytest.raises(TableError, match="spot: found 'cell 9 0'"):
        explanation(table, (0,), 0, "cell 9 0", shown, legal)
