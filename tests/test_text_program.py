"""Programs that request text receive rules, position, history and words; other programs do not."""

from __future__ import annotations

import json
import random
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helsinki_env.agents.base import Player, choose_action
from helsinki_env.agents.helsinki.forced import ForcedPlayer
from helsinki_env.agents.program.player import ProgramPlayer
from helsinki_env.agents.random import RandomPlayer
from helsinki_env.agents.registry import PlayerError, make_player
from helsinki_env.agents.replaced_actions import CountedPlayer, ReplacedActions
from helsinki_env.engine.game import BoardGame
from helsinki_env.evaluation.play import play_games
from helsinki_env.games.helsinki.game import HelsinkiGame
from helsinki_env.text import GameHistory, legal_actions, position_text, rules
from tests.games import EACH_GAME, GAMES, TestedGame
from tests.support.mutated_text import mutated_text

ROOT = Path(__file__).resolve().parent.parent
BOT = """
import json, sys
how, notes = sys.argv[1], open(sys.argv[2], "a")
for line in sys.stdin:
    notes.write(line)
    notes.flush()
    message = json.loads(line)
    answer = {"text": how != "plain", "action": 10**9}
    if message["type"] == "decide":
        answer["action"] = message["legal"][-1] if how == "plain" else message["words"][-1]
    print("Let me see. " * (how == "prose" and message["type"] == "decide") + json.dumps(answer), flush=True)
"""


@pytest.fixture
def bot(tmp_path: Path) -> str:
    path = tmp_path / "bot.py"
    path.write_text(BOT)
    return f"{sys.executable} {shlex.quote(str(path))}"


def messages(notes: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in notes.read_text().splitlines()]


def game_after(game: TestedGame, actions: Any) -> tuple[BoardGame, GameHistory]:
    one = game.spec.game(game.configs[1], seed=4)
    log = GameHistory(one)
    for action in actions:
        log.step(int(action))
        one.step(int(action))
    return one, log


@pytest.mark.thorough
@EACH_GAME
@pytest.mark.parametrize("how", ["words", "prose"])
def test_a_program_reads_the_game_in_words(game: TestedGame, how: str, bot: str, tmp_path: Path) -> None:
    """Message for message what the text of the game itself says to that seat; the program takes the last action."""
    config, notes = game.configs[1], tmp_path / "notes"
    player = CountedPlayer(ProgramPlayer(f"{bot} {how} {notes}", config, 60.0))
    assert player.wants_history
    seating = np.array([[0, 1, 1]])
    players: list[Player] = [player, RandomPlayer()]
    played = play_games(players, config, seating, np.array([4], np.uint64), np.arange(3, dtype=np.uint64)[None])
    hello, told, *decisions = messages(notes)
    assert hello["protocol"] == 1
    assert told == {"type": "rules", "protocol": 2, "rules": rules(config)}
    assert len(decisions) == played.seat_decisions[0, 0]
    assert player.replaced_actions == ReplacedActions()
    one, log = game_after(game, [])
    number = 0
    for action in played.decisions[0].tolist():
        if one.seat == 0:
            message, legal = decisions[number], legal_actions(one)
            assert message["legal"] == [choice.id for choice in legal] == one.legal_actions().tolist()
            assert message["words"] == [choice.words for choice in legal]
            assert message["text"] == position_text(one, 0)
            assert message["history"] == log.lines(0)
            assert action == legal[-1].id
            number += 1
        log.step(action)
        one.step(action)
    player.player.close()  # type: ignore[attr-defined]  # a program


def test_a_program_that_does_not_ask_gets_no_text(bot: str, tmp_path: Path) -> None:
    config, notes = GAMES[0].configs[0], tmp_path / "notes"
    player = ProgramPlayer(f"{bot} plain {notes}", config, 60.0)
    assert not player.wants_history
    game = GAMES[0].spec.game(config, seed=4)
    assert choose_action(player, game) == game.legal_actions()[-1]
    hello, message = messages(notes)
    assert set(message) == {"type", "seat", "position", "legal", "random"}
    assert hello["type"] == "hello"
    player.close()


def test_outside_of_matches_there_is_no_history(bot: str, tmp_path: Path) -> None:
    config, notes = GAMES[1].configs[0], tmp_path / "notes"
    player = ProgramPlayer(f"{bot} words {notes}", config, 60.0)
    game = GAMES[1].spec.game(config, seed=4)
    assert choose_action(player, game) == game.legal_actions()[-1]
    assert set(messages(notes)[-1]) == {"type", "seat", "position", "legal", "random", "text", "words"}
    player.close()


def test_wrappers_pass_histories_on() -> None:
    seen: list[Any] = []

    class Reader:
        name, wants_history = "reader", True

        def act(self, observation: Any, action_mask: Any, keys: Any, histories: Any = None) -> Any:
            seen.append(histories)
            return action_mask.argmax(axis=1)

    config, player = GAMES[0].configs[0], Reader()
    for wrapped in (CountedPlayer(player), ForcedPlayer("two_points", player, config)):
        seating, seeds = np.zeros((2, 2), np.int64), np.arange(2, dtype=np.uint64)
        play_games([wrapped], config, seating, seeds, np.arange(4, dtype=np.uint64).reshape(2, 2))
    assert all(histories and histories[0][0].startswith("The display by slot: ") for histories in seen)


def test_a_program_that_does_not_start_is_an_error_before_the_game(tmp_path: Path) -> None:
    player = make_player("program:false", GAMES[0].configs[0])
    with pytest.raises(PlayerError, match="found no answer to the first message: it ended with exit status 1"):
        player.wants_history  # type: ignore[attr-defined]  # noqa: B018  # a program


@pytest.mark.thorough
def test_mutated_answers_are_replaced_and_counted(tmp_path: Path) -> None:
    """A thousand damaged answers: each is a legal action or one replaced action, and nothing else happens."""
    rng, game = random.Random("program"), GAMES[0].spec.game(GAMES[0].configs[0], seed=1)
    answers = [mutated_text(rng, '{"action": "Start on space 3"}').replace("\n", " ") for _ in range(1000)]
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    path = tmp_path / "bot.py"
    path.write_text(
        "import json, sys\n"
        f"answers = iter(json.load(open({str(tmp_path / 'answers.json')!r})))\n"
        "for line in sys.stdin:\n"
        "    kind = json.loads(line)['type']\n"
        "    text = next(answers) if kind == 'decide' else '{\"text\": true}'\n"
        "    print(text if text.strip() else '-', flush=True)\n"
    )
    player = ProgramPlayer(f"{sys.executable} {shlex.quote(str(path))}", game.config, 60.0)
    replaced = 0
    for number in range(1000):
        assert choose_action(player, game, number) in range(8)
        assert player.replaced_actions.total - replaced in (0, 1)
        replaced = player.replaced_actions.total
    assert player.replaced_actions.late == player.replaced_actions.failed == 0
    assert 200 < replaced < 1000
    player.close()


@pytest.mark.parametrize(("language", "program"), [("python", sys.executable), ("javascript", "node")])
def test_the_example_of_the_page_plays(language: str, program: str, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "text-and-models.md").read_text(encoding="utf-8")
    pattern = r'BOT = """\n(.*?)"""' if language == "python" else r"```javascript\n(.*?)```"
    found = re.search(pattern, page, re.DOTALL)
    assert found
    code = found[1]
    assert len(code.strip().splitlines()) <= 32
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    path = tmp_path / "text_bot"
    path.write_text(code)
    for game in GAMES:
        player = ProgramPlayer(f"{program} {shlex.quote(str(path))}", game.configs[0], 60.0)
        streams = np.arange(2, dtype=np.uint64)[None]
        play_games([player], game.configs[0], np.zeros((1, 2), np.int64), np.array([1], np.uint64), streams)
        assert player.replaced_actions == ReplacedActions()
        player.close()


def test_the_first_rejected_answer_is_shown_with_its_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "bot.py"
    path.write_text(
        "for line in open(0):\n    print('{\"text\": true}' if 'hello' in line else 'Think hard', flush=True)\n"
    )
    player, one = ProgramPlayer(f"{sys.executable} {shlex.quote(str(path))}"), HelsinkiGame(seed=1)
    for seed in range(3):
        assert choose_action(player, one, seed) in one.legal_actions()
    player.close()
    assert player.replaced_actions == ReplacedActions(illegal=3)
    (shown,) = (record.getMessage() for record in caplog.records)
    assert "the first illegal answer is 'Think hard'; a random action replaces it: action: found 'think hard'" in shown
