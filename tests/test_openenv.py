"""The environment of OpenEnv with its own client and server, and the one with TextArena's interface."""

from __future__ import annotations

import fnmatch
import json
import os
import random
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helsinki_env import HelsinkiConfig
from helsinki_env.engine.determinization import determinize
from helsinki_env.envs.arguments import PENALTIES
from helsinki_env.text import legal_text, position_text, rules
from helsinki_env.text.environment import TextGameEnv
from tests.games import EACH_GAME, TestedGame
from tests.support.mutated_text import mutated_text

FOLDER = Path(__file__).resolve().parent.parent / "helsinki_env" / "openenv"


def answered(env: TextGameEnv, rng: random.Random) -> tuple[bool, dict[str, Any]]:
    one = rng.choice(env.legal_actions)
    return env.step(rng.choice((str(one.id), one.words, json.dumps({"action": one.notation}))))


# without OpenEnv


@pytest.mark.thorough
@EACH_GAME
@pytest.mark.parametrize("players", [2, 3, 4])
def test_whole_games_with_the_interface_of_textarena(game: TestedGame, players: int) -> None:
    env, rng = TextGameEnv(game.spec.config()), random.Random(players)
    env.reset(num_players=players, seed=players)
    done, seen = False, set[int]()
    while not done:
        seat, observation = env.get_observation()
        assert observation.startswith(rules(env.game.config)) == (seat not in seen)
        assert position_text(env.game, seat) in observation
        assert observation.endswith(legal_text(env.legal_actions))
        seen.add(seat)
        done, info = answered(env, rng)
        assert info == {}
    assert seen == set(range(players))
    rewards, known = env.close()
    assert sum(rewards.values()) == pytest.approx(0, abs=1e-6)
    assert max(rewards, key=rewards.__getitem__) in [seat for seat in known if known[seat]["rank"] == 0]
    assert [one["score"] for one in known.values()] == env.game.scores().tolist()
    with pytest.raises(ValueError, match="the game is over"):
        env.step("0")


def test_every_event_is_read_once() -> None:
    env, rng = TextGameEnv(), random.Random(1)
    env.reset(num_players=2, seed=1)
    read: list[list[str]] = [[], []]
    for _ in range(30):
        seat = env.game.seat
        read[seat] += env.events(seat)
        assert env.events(seat) == []
        answered(env, rng)
    for seat in (0, 1):
        read[seat] += env.events(seat)
        assert read[seat] == env._history.lines(seat)


@pytest.mark.parametrize("listed", [True, False])
def test_an_answer_without_an_action_is_asked_again_and_then_forfeited(listed: bool) -> None:
    env = TextGameEnv(listed=listed, retries=1)
    with pytest.raises(ValueError, match="no game is dealt yet; call reset"):
        env.get_observation()
    env.reset(num_players=3, seed=1)
    assert ("The legal actions, as id" in env.get_observation()[1]) == listed
    assert env.step("fly") == (False, {"error": env.get_observation()[1]})
    assert env.get_observation()[1].startswith("action: found 'fly', which is not a legal action now")
    assert ("\nLegal actions:\n" in env.get_observation()[1]) == listed
    assert env.step("0") == (False, {})
    assert env.step("fly")[0] is False
    assert env.step("fly")[0] is True
    assert (env.illegal, env.forfeited) == (3, 0)
    rewards, known = env.close()
    assert rewards == {0: -1.0, 1: 0.0, 2: 0.0}
    assert known[0]["forfeited"]
    assert known[0]["rank"] == 2, "the seat that forfeits is last"
    assert sorted(one["rank"] for one in known.values()) == [0, 1, 2]
    assert env.legal_actions == ()


@pytest.mark.parametrize("reward", PENALTIES)
def test_a_forfeit_is_no_better_than_any_lost_game(reward: str) -> None:
    env = TextGameEnv(HelsinkiConfig(reward=reward), retries=0)
    env.reset(num_players=2, seed=1)
    assert env.step("fly")[0]
    assert env.close()[0] == {0: PENALTIES[reward], 1: 0.0}


def test_importing_the_package_loads_none_of_it() -> None:
    program = "import sys, helsinki_env, helsinki_env.text; print('openenv' in sys.modules, *sys.modules)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert found[0] == "False"
    assert not {"helsinki_env.openenv", "helsinki_env.text.environment"} & set(found)


def test_the_files_of_the_image_name_what_there_is() -> None:
    docker, settings = (FOLDER / "Dockerfile").read_text(), (FOLDER / "openenv.yaml").read_text()
    (app,) = re.findall(r'"(helsinki_env\.[\w.]+:app)"', docker)
    assert f"app: {app}\n" in settings
    assert (FOLDER / "server.py").exists()
    assert "app[openenv]" in docker or '"/app/source[openenv]"' in docker


def test_the_image_gets_the_tracked_files_without_leftovers() -> None:
    root = FOLDER.parents[1]
    lines = [line for line in (root / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    roots = [re.compile(fnmatch.translate(line.removeprefix("**/"))) for line in lines]

    def is_ignored(path: str) -> bool:
        parts = path.split("/")
        return any(
            pattern.fullmatch(part)
            for line, pattern in zip(lines, roots, strict=True)
            for part in (parts if line.startswith("**/") else parts[:1])
        )

    for path in (".git/HEAD", ".venv/bin/python", "notebooks/.venv/pyvenv.cfg", "runs/a/state.json", ".mypy_cache/x"):
        assert is_ignored(path), path
    for path in ("agents/__pycache__/a.pyc", "docs/runs/a.json", ".coverage", "dist/a.whl", ".pytest_cache/v"):
        assert is_ignored(path), path
    needed = ["pyproject.toml", "README.md", "LICENSE", "constraints.txt"]
    for folder in ("helsinki_env", "agents", "training", "configs"):
        needed += [path.relative_to(root).as_posix() for path in (root / folder).rglob("*") if path.is_file()]
    needed = [path for path in needed if "__pycache__" not in path]
    assert len(needed) > 300
    assert [path for path in needed if is_ignored(path)] == []


# with OpenEnv


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The server that the image starts, on a free port of this machine."""
    pytest.importorskip("openenv.core", reason="needs the extra openenv")
    (line,) = re.findall(r"(?m)^CMD (\[.*\])$", (FOLDER / "Dockerfile").read_text())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    words = json.loads(line.replace("0.0.0.0", "127.0.0.1").replace("8000", port))
    environment = os.environ | {"PYTHONPATH": str(FOLDER.parents[1])}
    with subprocess.Popen([sys.executable, "-m", *words], env=environment) as process:
        try:
            for _ in range(600):
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2).close()
                    break
                except OSError:
                    assert process.poll() is None
                    time.sleep(0.2)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


@EACH_GAME
@pytest.mark.parametrize(("player", "opponents"), [(0, ["greedy"]), (2, ["random", "heuristic"])])
def test_the_client_plays_a_whole_game(game: TestedGame, player: int, opponents: list[str], address: str) -> None:
    from helsinki_env.openenv import TextGameAction, TextGameClient

    rng, steps = random.Random(1), 0
    with TextGameClient(base_url=address).sync() as env:
        result = env.reset(seed=4, game=game.name, player=player, opponents=opponents)
        assert result.observation.text.startswith("Rules of ")
        assert f"You are player {player}." in result.observation.text
        while not result.done:
            assert result.reward == 0
            answer = "what?" if steps == 3 else rng.choice(result.observation.legal_actions)
            result = env.step(TextGameAction(text=answer))
            steps += 1
            assert bool(result.observation.error) == (answer == "what?")
        state = env.state()
        assert (state.game, state.player, state.opponents) == (game.name, player, opponents)
        assert (state.step_count, state.illegal, state.forfeited) == (steps, 1, False)
        assert -1 <= result.reward <= 1
        assert "The game is over." in result.observation.text
        again = env.reset(seed=4, game=game.name, player=player, opponents=opponents, listed=False)
        assert again.observation.legal_actions == []
        assert "The legal actions" not in again.observation.text


def test_two_clients_have_episodes_of_their_own(address: str) -> None:
    from helsinki_env.openenv import TextGameAction, TextGameClient

    with TextGameClient(base_url=address).sync() as one, TextGameClient(base_url=address).sync() as other:
        first, second = one.reset(seed=1), other.reset(seed=1)
        assert first.observation == second.observation
        moved = one.step(TextGameAction(text=first.observation.legal_actions[0]))
        assert other.step(TextGameAction(text=second.observation.legal_actions[0])).observation == moved.observation
        for _ in range(3):
            forfeited = other.step(TextGameAction(text="no"))
        assert (forfeited.done, forfeited.reward) == (True, -1.0)
        assert other.state().forfeited
        assert not one.state().forfeited


def environment() -> Any:
    pytest.importorskip("openenv.core", reason="needs the extra openenv")
    from helsinki_env.openenv import TextGameEnvironment

    return TextGameEnvironment()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"game": "chess"}, "game: found 'chess'"),
        ({"opponents": ["program:rm"]}, "opponents[0]: found 'program:rm'"),
        ({"opponents": []}, "opponents: found []"),
        ({"player": 2}, "player: found 2"),
        ({"options": {"dice": 1}}, "options: found 'dice'"),
        ({"cards": 1}, "cards: no such key (found 1)"),
        ({"seed": -1}, "seed: found -1"),
    ],
)
def test_invalid_settings_change_nothing(settings: dict[str, Any], expected: str) -> None:
    env = environment()
    env.reset(seed=1)
    before = env.state.model_copy()
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}"):
        env.reset(**settings)
    assert env.state == before


def test_mutated_settings_and_answers_are_clear_errors() -> None:
    """2,000 of them: the game goes on, or one line says what was found."""
    from_openenv = environment()
    from helsinki_env.openenv import TextGameAction

    rng, env = random.Random(2), from_openenv
    settings = json.dumps({"seed": 1, "game": "copenhagen", "opponents": ["random"], "player": 1, "options": {}})
    observation, rejected = env.reset(seed=1, opponents=["random"]), 0
    for number in range(2000):
        if number % 2:
            try:
                changed = json.loads(mutated_text(rng, settings))
            except ValueError:
                continue
            if isinstance(changed, dict) and all(isinstance(key, str) for key in changed):
                before = env.state.model_copy()
                problem = ""
                try:
                    observation = env.reset(**changed)
                except ValueError as found:
                    problem = str(found)
                if problem:
                    rejected += 1
                    assert re.fullmatch(r"[^\n]{1,120}?: [^\n]+", problem)
                    assert env.state == before
            continue
        if observation.done:
            observation = env.reset(seed=number, opponents=["random"])
        answer = mutated_text(rng, rng.choice(observation.legal_actions))
        actions = env.state.actions
        illegal = env.state.illegal
        observation = env.step(TextGameAction(text=answer))
        assert bool(observation.error) == (env.state.illegal == illegal + 1)
        assert observation.error == "" or env.state.actions == actions
    assert rejected > 100


@EACH_GAME
def test_hidden_cards_change_no_byte_of_an_observation(game: TestedGame) -> None:
    """Games that look the same to a seat have the same text."""
    env, rng, hidden = TextGameEnv(game.spec.config()), random.Random(1), 0
    env.reset(num_players=3, seed=1)
    for number in range(60):
        if env.done:
            break
        one = env.game
        other = determinize(one, one.seat, seed=number)
        env._read, states = [1] * 3, env._env._states.copy()
        read = env.get_observation()[1]
        env._read = [1] * 3
        env._env._states[0] = other.state
        assert env.get_observation()[1] == read
        env._env._states[:] = states
        hidden += other.state.hand.tobytes() != one.state.hand.tobytes()
        answered(env, rng)
    assert hidden > 10
