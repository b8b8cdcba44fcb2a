"""The drawings of every game show only what may be seen and are safe to share and to print."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest

from helsinki_env.engine.determinization import determinize
from tests.games import EACH_GAME, TestedGame
from tests.support.pictures import grown, parts, words

EACH_TABLE = pytest.mark.parametrize("players", [2, 3, 4])
NASTY = "\x1b]0;title\x07\x1b[2J\x9b1m\r\x00\u202e"


def render_of(game: TestedGame) -> Any:
    assert game.spec.render is not None
    return game.spec.render()


@EACH_TABLE
@EACH_GAME
def test_what_is_hidden_from_a_viewer_changes_nothing_in_the_picture(game: TestedGame, players: int) -> None:
    render, rng, differed = render_of(game), random.Random(2), 0
    played = game.spec.game(game.spec.config(num_players=players), seed=2)
    for count in range(90):
        if played.done:
            break
        if count % 30 == 29:
            for seat in range(players):
                other = determinize(played, seat, seed=count)
                assert render.svg(played, viewer=seat) == render.svg(other, viewer=seat)
                assert render.ansi(played, viewer=seat) == render.ansi(other, viewer=seat)
                differed += render.svg(played) != render.svg(other)
        played.step(int(rng.choice(played.legal_actions())))
    assert differed
    with pytest.raises(ValueError, match=f"viewer: found {players}, expected None or a seat from 0 to {players - 1}"):
        render.svg(played, viewer=players)


@EACH_GAME
def test_text_from_outside_is_escaped(game: TestedGame) -> None:
    draw, nasty = render_of(game).svg, '<script>alert("1 & 2")</script>'
    svg = draw(grown(game.name, 2), last_decision=nasty)
    assert "<script" not in svg
    assert nasty in words(svg)
    long = re.search('aria-label="x{500}" d="(.*?)"', draw(grown(game.name, 2), last_decision="x" * 500))
    assert long, "the label is whole"
    assert long[1].count("M") < 500, "and the lettering is cut"


@pytest.mark.parametrize("color", [True, False])
@EACH_GAME
def test_text_from_outside_does_not_command_the_terminal(game: TestedGame, color: bool) -> None:
    render, drawn = render_of(game), grown(game.name, 2)
    text = render.ansi(drawn, last_decision=f"END\n{NASTY}", color=color)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text) if color else text
    assert all(line.isprintable() for line in plain.split("\n"))
    assert "Last: END\ufffd\ufffd]0;title" in plain
    ET.fromstring(render.svg(drawn, last_decision=NASTY))  # a document that can be read


@EACH_GAME
def test_pictures_can_share_a_page(game: TestedGame) -> None:
    for element in ET.fromstring(render_of(game).svg(grown(game.name, 3), last_decision="PAY red")).iter():
        assert not {"id", "class", "style", "href"} & element.attrib.keys()
        assert element.tag.rpartition("}")[2] in {"svg", "g", "path", "rect", "circle", "title", "desc"}


@pytest.mark.thorough
@EACH_TABLE
@EACH_GAME
def test_the_same_position_gives_the_same_picture_of_moderate_size(game: TestedGame, players: int) -> None:
    render, drawn = render_of(game), grown(game.name, players)
    before = drawn._states.copy()
    for draw in (render.svg, render.ansi):
        assert draw(drawn, last_decision="TAKE 2") == draw(grown(game.name, players), last_decision="TAKE 2")
    assert len(render.svg(drawn)) < 200_000
    assert drawn._states.tobytes() == before.tobytes()


@pytest.mark.thorough
@EACH_TABLE
@EACH_GAME
def test_the_picture_stays_inside_its_frame(game: TestedGame, players: int) -> None:
    pytest.importorskip("resvg_py")
    render = render_of(game)
    pixels = render.rgb_array(render.svg(grown(game.name, players, 2)), 600).astype(int)
    rim = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    assert np.ptp(rim, axis=0).max() <= 8  # the sea all around
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 500


@EACH_TABLE
@EACH_GAME
def test_plain_text_holds_no_escape_sequence_and_coloured_text_the_same_words(game: TestedGame, players: int) -> None:
    draw, drawn = render_of(game).ansi, grown(game.name, players, 5)
    plain, coloured = (draw(drawn, color=color, last_decision="TAKE 1") for color in (False, True))
    assert "\x1b" not in plain
    without = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in without.splitlines()] == plain.splitlines()
    assert max(len(line) for line in plain.splitlines()) <= 110
    assert max(len(line) for line in draw(drawn, color=False, width=40).splitlines()) <= 94  # the common part


@EACH_GAME
def test_a_notebook_draws_a_game(game: TestedGame) -> None:
    played = game.spec.game(game.spec.config(num_players=3), seed=2)
    assert played._repr_svg_() == render_of(game).svg(played)


@EACH_TABLE
@EACH_GAME
def test_a_game_can_be_drawn_at_every_decision(game: TestedGame, players: int) -> None:
    render, rng = render_of(game), np.random.default_rng(players)
    played = game.spec.game(game.spec.config(num_players=players), seed=players)
    piece, listed = ("pavilion", "pavilions") if game.name == "helsinki" else ("tile", "tiles")
    count, last = 0, None
    while not played.done:
        if count % 25 == 0:
            svg = render.svg(played, last_decision=last, viewer=played.seat)
            assert parts(svg)[piece] == sum(len(seat[listed]) for seat in played.to_dict()["seats"])
            render.ansi(played, last_decision=last, viewer=played.seat)
        action = int(rng.choice(played.legal_actions()))
        last = game.spec.action_to_string(action, played.config)
        played.step(action)
        count += 1
    assert "Game over" in words(render.svg(played))
