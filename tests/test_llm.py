"""Language models as players, against a local endpoint that answers as models do."""

from __future__ import annotations

import copy
import json
import logging
import os
import random
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helsinki_env.agents.base import choose_action
from helsinki_env.agents.llm import player as llm
from helsinki_env.agents.llm.client import ChatClient, Transcript
from helsinki_env.agents.llm.player import LanguageModelPlayer
from helsinki_env.agents.llm.usage import BUDGET_FOLDER, Budget, ModelUsage, run_notes, shared_budget
from helsinki_env.agents.random import RandomPlayer
from helsinki_env.agents.registry import PlayerError, check_code, is_code, make_player, player_names
from helsinki_env.agents.replaced_actions import CountedPlayer, ReplacedActions
from helsinki_env.cli.main import main
from helsinki_env.evaluation.arena.plan import plan_from_dict
from helsinki_env.evaluation.arena.run import reuse_workers, run_arena
from helsinki_env.evaluation.match import Match
from helsinki_env.evaluation.play import play_games
from helsinki_env.text import legal_actions, position_text, rules
from tests.games import EACH_GAME, GAMES, TestedGame
from tests.support.models import KEY, Answer, completion, endpoint, last_choice
from tests.support.mutated_text import mutated_text

CONFIG = GAMES[0].configs[0]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing of the user's own endpoint."""
    for name in ("URL", "KEY", "OPTIONS", "CALLS", "TOKENS", "SECONDS", "TRANSCRIPT", "REPLAY"):
        monkeypatch.delenv(f"HELSINKI_LLM_{name}", raising=False)
    llm._shared.clear()
    yield
    llm._shared.clear()


def model(url: str, seconds: float = 20.0, **more: Any) -> LanguageModelPlayer:
    return LanguageModelPlayer(ChatClient("small", seconds, url, KEY, wait=0.001), CONFIG, **more)


def act(player: LanguageModelPlayer, seed: int = 1, key: int = 0) -> int:
    return choose_action(player, GAMES[0].spec.game(CONFIG, seed=seed), key)


def good(body: dict[str, Any], number: int) -> Answer:
    return completion(f'Let me think.\n```json\n{{"action": "{last_choice(body)}"}}\n```')


# games


@EACH_GAME
def test_a_model_plays_a_whole_game(game: TestedGame) -> None:
    config = game.configs[1]
    with endpoint(good) as server:
        player = LanguageModelPlayer(ChatClient("small", 20.0, server.url), config)
        seating, streams = np.array([[0, 1, 1]]), np.arange(3, dtype=np.uint64)[None]
        played = play_games([player, RandomPlayer()], config, seating, np.array([4], np.uint64), streams)
        count = int(played.seat_decisions[0, 0])
        assert player.usage == ModelUsage(count, 100 * count, 10 * count, actions=count)
        assert player.replaced_actions == ReplacedActions()
        one = game.spec.game(config, seed=4)
        questions = iter(server.bodies)
        for action in played.decisions[0].tolist():
            if one.seat == 0:
                system, user = next(questions)["messages"]
                assert system["content"].startswith(rules(config))
                assert position_text(one, 0) in user["content"]
                assert user["content"].startswith("What has happened:\nThe display by slot: ")
                assert action == legal_actions(one)[-1].id
            one.step(action)
        assert next(questions, None) is None
        assert "Authorization" not in server.headers[0]
        assert server.headers[0]["path"] == "/v1/chat/completions"


def test_the_legal_list_can_be_left_out_and_the_name_states_it() -> None:
    def blind(body: dict[str, Any], number: int) -> Answer:
        return completion("PLACE" if number == 0 else "start 5")

    with endpoint(blind) as server:
        player = model(server.url, listed=False)
        assert act(player) == 5
        assert (player.name, model(server.url).name) == ("llm:unlisted:small", "llm:listed:small")
        first, second = server.bodies
    sent = json.dumps(second["messages"])
    assert "legal actions, as id" not in sent
    assert "Legal actions:" not in sent
    assert second["messages"][2:] == [
        {"role": "assistant", "content": "PLACE"},
        {"role": "user", "content": "action: found 'place', which is not a legal action now, expected a legal one"},
    ]
    assert first["messages"] == second["messages"][:2]


# answers that are no action


@pytest.mark.parametrize("bad", ["I resign.", "", '{"action": "MOVE 9"}', '{"action": {"deep": [}', "{" * 3000, None])
def test_two_more_tries_with_the_error_then_a_replacement(bad: str | None) -> None:
    with endpoint(lambda body, number: completion("START 3") if number == 0 else completion(bad)) as server:
        player = model(server.url)
        assert act(player) == 3
        assert act(player, seed=2, key=5) in range(8)
        assert player.replaced_actions == ReplacedActions(illegal=1)
        assert len(server.bodies) == 4
        assert player.usage.retries == 2
        assert player.usage.calls == 4
        last = server.bodies[-1]["messages"]
    assert [one["role"] for one in last] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert "Legal actions:\n0: Start on space 0 (START 0)" in last[-1]["content"]


def test_the_second_try_counts_if_it_is_right() -> None:
    with endpoint(lambda body, number: completion("pass" if number == 0 else "[6]")) as server:
        player = model(server.url)
        assert act(player) == 6
        assert player.replaced_actions == ReplacedActions()
        assert ", replaced: 0, forfeited: 0" in player.cost_report


@pytest.mark.parametrize(
    "content",
    [b"", b"<html>busy</html>", b"\xff\xfe", b"[]", b'{"choices": []}', b'{"choices": [{"message": 5}]}', b"[" * 10**5,
     b'{"choices": [{"message": {"content": ["a"]}}]}', b'{"error": {"message": "overloaded"}}'],
)  # fmt: skip
def test_broken_answers_are_errors_at_first_and_replaced_later(content: bytes) -> None:
    with (
        endpoint(lambda body, number: (200, content, {})) as server,
        pytest.raises(PlayerError, match="unusable answer"),
    ):
        act(model(server.url))
    with endpoint(lambda body, number: completion("2") if number == 0 else (200, content, {})) as server:
        player = model(server.url)
        assert act(player) == 2
        act(player, seed=2)
        assert player.replaced_actions == ReplacedActions(illegal=1)


def test_silence_is_late_and_after_ten_times_forfeited() -> None:
    with endpoint(lambda body, number: completion("2") if number == 0 else None) as server:
        player = model(server.url, 0.05)
        player._client.seconds = 20.0
        assert act(player) == 2
        player._client.seconds = 0.05
        for seed in range(2, 16):
            act(player, seed)
        assert player.replaced_actions == ReplacedActions(late=10, failed=4)
        assert len(server.bodies) == 11


def test_silence_at_the_first_request_is_an_error() -> None:
    busy = (503, b"", {"Retry-After": "0.01"})
    for respond in (lambda body, number: None, lambda body, number: busy):
        with endpoint(respond) as server, pytest.raises(PlayerError, match="found no answer of the endpoint"):
            act(model(server.url, 0.05))


def test_a_resumed_run_replaces_what_the_endpoint_rejects_like_an_uninterrupted_one(tmp_path: Path) -> None:
    long: Answer = (400, b'{"error": "maximum context length"}', {})
    path = tmp_path / "transcript"
    with endpoint(lambda body, number: long if number else completion("2")) as server:
        act(model(server.url, transcript=Transcript(path)))
        resumed = model(server.url, transcript=Transcript(path))
        assert act(resumed) == 2
        act(resumed, seed=2)
        assert resumed.replaced_actions == ReplacedActions(illegal=1)


def test_only_actions_of_the_mask_are_listed_and_accepted() -> None:
    game = GAMES[0].spec.game(CONFIG, seed=1)
    mask = np.zeros_like(game.action_mask())
    mask[5] = 1
    with endpoint(lambda body, number: completion("START 3" if number == 0 else "START 5")) as server:
        player = model(server.url)
        actions = player.act(game.observation()[None], mask[None], np.zeros(1, np.uint64))
        assert actions.tolist() == [5]
        assert player.usage.retries == 1
        listed = server.bodies[0]["messages"][1]["content"].partition("The legal actions")[2]
        assert re.findall(r"(?m)^(\d+):", listed) == ["5"]


def test_a_wrapped_model_states_its_costs() -> None:
    with endpoint(lambda body, number: completion("2")) as server:
        player = CountedPlayer(model(server.url))
        act(player)  # type: ignore[arg-type]  # a wrapper
        assert "1 calls" in player.cost_report
    assert CountedPlayer(RandomPlayer()).cost_report == ""


def test_rate_limits_are_waited_for() -> None:
    limited = (429, b'{"error": "slow down"}', {"Retry-After": "0.01"})
    with endpoint(lambda body, number: limited if number < 3 else completion("2")) as server:
        player = model(server.url)
        assert act(player) == 2
        assert (player.usage.calls, len(server.bodies)) == (1, 4)
    with endpoint(lambda body, number: limited if number else completion("2")) as server:
        player = model(server.url)
        act(player)
        act(player, seed=2)
        assert player.replaced_actions == ReplacedActions(late=1)
        assert len(server.bodies) == 6


def test_a_question_that_is_too_long_is_replaced() -> None:
    long: Answer = (400, b'{"error": "maximum context length"}', {})
    with endpoint(lambda body, number: long if number else completion("2")) as server:
        player = model(server.url)
        act(player)
        act(player, seed=2)
        assert player.replaced_actions == ReplacedActions(illegal=1)


@pytest.mark.parametrize("status", [301, 302, 307, 400, 401, 403, 404])
def test_an_endpoint_that_rejects_is_one_error_without_the_key(status: int, caplog: Any, capfd: Any) -> None:
    caplog.set_level(logging.DEBUG)
    rejected = (status, f'{{"error": "wrong key {KEY}"}}'.encode(), {"Location": "http://127.0.0.1:9/elsewhere"})
    with endpoint(lambda body, number: rejected) as server, pytest.raises(PlayerError) as caught:
        act(model(server.url))
    assert f"status {status} of {server.url}/chat/completions: " in str(caught.value)
    assert "wrong key ***" in str(caught.value)
    assert KEY not in str(caught.value) + caplog.text + "".join(capfd.readouterr())


def test_a_key_at_the_end_of_a_shortened_message_is_removed() -> None:
    lengths = iter(range(150, 230))
    with endpoint(lambda body, number: (400, f"{'x' * next(lengths)}{KEY}".encode(), {})) as server:
        for _ in range(80):
            with pytest.raises(PlayerError) as caught:
                act(model(server.url))
            assert KEY[:4] not in str(caught.value)


@pytest.mark.parametrize("choices", [KEY, [{"message": {"content": [KEY]}}]])
def test_an_unusable_answer_with_the_key_is_an_error_without_it(choices: Any) -> None:
    content = json.dumps({"choices": choices}).encode()
    with endpoint(lambda body, number: (200, content, {})) as server, pytest.raises(PlayerError) as caught:
        act(model(server.url))
    assert KEY not in str(caught.value)


def test_a_copy_shares_the_budget() -> None:
    with endpoint(lambda body, number: completion("2")) as server:
        player = model(server.url, budget=Budget(1, 10**6))
        new = copy.deepcopy(player)
        act(player)
        act(new, seed=2)
        assert len(server.bodies) == 1
        assert (player.replaced_actions.failed, new.replaced_actions.failed) == (0, 1)


def test_nothing_listens() -> None:
    with endpoint(good) as server:
        pass
    with pytest.raises(PlayerError, match="found no answer of the endpoint: ConnectionRefusedError"):
        act(model(server.url))


# budget


def test_the_budget_of_calls_and_tokens_ends_in_forfeits(caplog: pytest.LogCaptureFixture) -> None:
    with endpoint(good) as server:
        for budget, called in ((Budget(3, 10**6), 3), (Budget(100, 150), 2)):
            player, before = model(server.url, budget=budget), len(server.bodies)
            for seed in range(5):
                assert act(player, seed) in range(8)
            assert player.replaced_actions == ReplacedActions(failed=5 - called)
            assert len(server.bodies) - before == called
            assert f"of 5 actions, replaced: 0, forfeited: {5 - called}" in player.cost_report
            (shown,) = (record.getMessage() for record in caplog.records)
            assert "the budget of calls or tokens is used up (HELSINKI_LLM_CALLS, HELSINKI_LLM_TOKENS)" in shown
            caplog.clear()


def test_a_process_has_one_budget_for_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELSINKI_LLM_CALLS", "2")
    with endpoint(good) as server:
        monkeypatch.setenv("HELSINKI_LLM_URL", server.url)
        players = [make_player("llm:listed:small", CONFIG) for _ in range(3)]
        for seed, player in enumerate(players):
            act(player, seed)  # type: ignore[arg-type]  # models
        assert len(server.bodies) == 2
        assert [player.replaced_actions.total for player in players] == [0, 0, 1]  # type: ignore[attr-defined]


def test_a_shared_budget_ends_after_as_many_calls_of_all(tmp_path: Path) -> None:
    budgets = [Budget(10, 1000, tmp_path / "budget") for _ in range(3)]
    with ThreadPoolExecutor(6) as pool:
        taken = [pool.submit(budgets[i % 3].take_call) for i in range(50)]
    assert sum(one.result() for one in taken) == 10
    budgets = [Budget(10, 1000, tmp_path / "tokens") for _ in range(2)]
    budgets[0].take_tokens(999)
    assert budgets[1].take_call()
    budgets[1].take_tokens(1)
    assert not budgets[0].take_call()


def test_only_runs_with_a_model_share_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BUDGET_FOLDER, "")
    with shared_budget(["random", "net"]):
        assert not os.environ[BUDGET_FOLDER]
    with shared_budget(["random", "counted:llm:unlisted:small"]):
        folder = os.environ[BUDGET_FOLDER]
        assert Path(folder).is_dir()
        with shared_budget(["llm:listed:small"]):
            assert os.environ[BUDGET_FOLDER] == folder
    assert BUDGET_FOLDER not in os.environ


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["match", pytest.param("arena", marks=pytest.mark.nightly), "parts of a study"])
def test_each_run_has_a_new_budget(kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The runs of one process; a study, which keeps its workers, has one budget for all its parts."""
    monkeypatch.setenv(BUDGET_FOLDER, "")
    monkeypatch.setenv("HELSINKI_LLM_CALLS", "3")
    players = ["llm:listed:small", "random"]

    def run(number: int) -> None:
        if kind == "match":
            Match(players, CONFIG).play(2, threads=2)
        else:
            table = {"players": players, "games": 2, "name": "one"}
            plan = plan_from_dict({"seed": number, "matchups": [table]})
            run_arena(plan, tmp_path / str(number), processes=1, form="jsonl")

    with endpoint(good) as server, ExitStack() as study:
        monkeypatch.setenv("HELSINKI_LLM_URL", server.url)
        if kind == "parts of a study":
            study.enter_context(reuse_workers())
            study.enter_context(shared_budget(players))
        run(1)
        assert len(server.bodies) == 3
        run(2)
        assert len(server.bodies) == (3 if kind == "parts of a study" else 6)


@pytest.mark.thorough
@pytest.mark.parametrize("listed", ["listed", pytest.param("unlisted", marks=pytest.mark.nightly)])
def test_the_processes_of_a_tournament_share_the_budget_and_it_states_the_cost(
    listed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Calls, tokens, replaced and forfeited actions add up over the processes; the list's state is printed."""
    pytest.importorskip("scipy", reason="needs the extra stats")
    monkeypatch.setenv(BUDGET_FOLDER, "")
    monkeypatch.setenv("HELSINKI_LLM_CALLS", "90")
    name, out = f"llm:{listed}:small", tmp_path / "run"
    words = ["arena", "--players", f"{name},random", "--games", "4", "--unit-games", "2", "--processes", "2"]

    def uneven(body: dict[str, Any], number: int) -> Answer:
        return completion("no") if number % 9 == 3 else completion('{"action": 0}')

    with endpoint(good if listed == "listed" else uneven) as server:
        monkeypatch.setenv("HELSINKI_LLM_URL", server.url)
        assert main([*words, "--format", "jsonl", "--num-players", "2", "--out", str(out)]) == 0
        assert len(server.bodies) == 90
    printed = capsys.readouterr().out
    entry = next(one for one in json.loads((out / "times.json").read_text()) if one["player"] == name)
    assert (entry["calls"], entry["prompt_tokens"], entry["completion_tokens"]) == (90, 9000, 900)
    illegal = entry.get("illegal", 0)
    assert f"{name}: legal actions {listed}; 90 calls, 9,000 prompt tokens, 900 completion tokens, " in printed
    assert f"replaced: {illegal:,}, forfeited: {entry['failed']:,}\n" in printed
    assert (illegal > 0) == (listed == "unlisted")
    assert entry["failed"] > 0
    assert main(["rate", str(out), "--resamples", "100"]) == 0
    assert f"{name}: legal actions {listed}; 90 calls" in capsys.readouterr().out


def test_players_without_a_model_have_no_line_of_costs() -> None:
    entry = {"matchup": "two", "player": "program:bot", "decisions": 3, "late": 1}
    assert run_notes([entry, {"matchup": "two", "player": "random"}]) == [
        "two: actions of program:bot were replaced by random legal ones: 1 late"
    ]


# transcripts


def test_a_run_is_replayed_without_calls_and_resumed_after_a_kill(tmp_path: Path) -> None:
    """Answers, replacements, timeouts and forfeits are repeated, byte for byte, without an endpoint."""

    def uneven(body: dict[str, Any], number: int) -> Answer | None:
        return None if number == 9 else completion("no") if number % 5 == 3 else good(body, number)

    path, streams = tmp_path / "transcript.jsonl", np.arange(2, dtype=np.uint64)[None]

    def play(url: str, replay: bool, calls: int = 40) -> tuple[Any, LanguageModelPlayer]:
        player = model(url, 0.5, budget=Budget(calls, 10**9), transcript=Transcript(path), replay=replay)
        seats, seeds = np.array([[0, 1]]), np.array([3], np.uint64)
        return play_games([player, RandomPlayer()], CONFIG, seats, seeds, streams), player

    with endpoint(uneven) as server:
        first, player = play(server.url, False)
        assert player.replaced_actions.late == 1
        assert player.replaced_actions.failed > 0
    again, replayed = play(server.url, True)
    assert again.decisions[0].tolist() == first.decisions[0].tolist()
    assert replayed.replaced_actions == player.replaced_actions
    assert replayed.usage.calls == 0
    assert KEY not in path.read_text()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])  # killed while writing
    with endpoint(good) as server:
        _, resumed = play(server.url, False, 1000)
        assert resumed.usage.reused > 5
        assert resumed.usage.calls == len(server.bodies) > 0
        assert resumed.replaced_actions == ReplacedActions()
    _, replayed = play(server.url, True)
    assert replayed.usage.calls == 0
    with pytest.raises(PlayerError, match="found no answer in the transcript"):
        act(model(server.url, transcript=Transcript(), replay=True))


def test_an_echoed_key_is_written_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    with endpoint(lambda body, number: completion(f"{KEY}\nSTART 4")) as server:
        player = model(server.url, transcript=Transcript(path))
        assert act(player) == 4
        assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in path.read_text() + repr(player._client) + player.name
    assert path.stat().st_mode & 0o077 == 0


def test_a_line_that_another_process_did_not_finish_costs_only_that_line(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    transcript, bodies = Transcript(path), [{"model": "small", "messages": [str(number)]} for number in range(3)]
    transcript.add(bodies[0], "silent")
    with path.open("ab") as file:
        file.write(b'{"request": "0')  # the other process is killed here
    transcript.add(bodies[1], "silent")
    Transcript(path).add(bodies[2], "silent")
    assert [Transcript(path).outcome(body) for body in bodies] == ["silent"] * 3


@pytest.mark.thorough
def test_mutated_transcripts_are_read_or_give_one_error(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    with endpoint(good) as server:
        player = model(server.url, transcript=Transcript(path))
        for seed in range(2):
            act(player, seed)
    whole, rng, errors = path.read_text(), random.Random("transcripts"), 0
    lines = [re.sub(r'"messages": \[.*?\], "answer"', '"messages": [], "answer"', line) for line in whole.splitlines()]
    short = "\n".join(lines) + "\n"
    for _ in range(2000):
        path.write_text(mutated_text(rng, short))
        message = error_of(lambda: Transcript(path))
        errors += bool(message)
        assert not message or "transcript.jsonl: line" in message
    assert 500 < errors < 2000


def error_of(call: Callable[[], Any]) -> str:
    """The message of the one error that may come; empty without one."""
    try:
        call()
    except PlayerError as problem:
        return str(problem)
    return ""


@pytest.mark.thorough
@pytest.mark.parametrize("bodies", [400, pytest.param(2000, marks=pytest.mark.nightly)])
def test_mutated_http_answers_give_an_action_or_one_error(bodies: int) -> None:
    """Damaged bodies give an action, a replaced one, or one error that names the player."""
    rng, errors = random.Random("http"), 0
    whole = completion('{"action": "START 2"}')[1].decode()
    with endpoint(lambda body, number: (200, mutated_text(rng, whole).encode(), {})) as server:
        for number in range(bodies):
            message = error_of(lambda: act(model(server.url), number))  # noqa: B023  # called here
            errors += bool(message)
            assert not message or "player llm:listed:small: found an unusable answer: " in message
        assert len(server.bodies) >= bodies
    assert bodies / 20 < errors < bodies


# settings


def test_there_is_no_default_address() -> None:
    with pytest.raises(PlayerError, match="HELSINKI_LLM_URL: found nothing, expected the base address"):
        make_player("llm:listed:small", CONFIG)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("URL", "localhost:8000", "found an invalid address"),
        ("URL", "ftp://host/v1", "found an invalid address"),
        ("URL", f"http://user:{KEY}@host/v1", "found an invalid address"),
        ("URL", "http://host:99999/v1", "found an invalid address"),
        ("URL", f"http://host/v1?key={KEY}", "found an invalid address"),
        ("KEY", "two\nlines", "found characters that no key has"),
        ("CALLS", "0", "HELSINKI_LLM_CALLS: found 0"),
        ("TOKENS", "many", "HELSINKI_LLM_TOKENS: found 'many'"),
        ("SECONDS", "1e3", "HELSINKI_LLM_SECONDS: found '1e3'"),
        ("OPTIONS", "[]", "HELSINKI_LLM_OPTIONS: found"),
        ("OPTIONS", '{"model": "x"}', "found model, messages or stream"),
        ("REPLAY", "1", "expected 1 together with HELSINKI_LLM_TRANSCRIPT"),
        ("TRANSCRIPT", "/dev", "/dev: cannot be read: Is a directory"),
    ],
)
def test_a_wrong_setting_is_one_error(name: str, value: str, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELSINKI_LLM_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv(f"HELSINKI_LLM_{name}", value)
    with pytest.raises(PlayerError, match=problem) as caught:
        make_player("llm:listed:small", CONFIG)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("spec", ["llm", "llm:", "llm:small", "llm:listed:", "llm:listed:a b", "llm:on:small"])
def test_the_form_of_the_name(spec: str) -> None:
    with pytest.raises(PlayerError, match="expected llm:listed:MODEL"):
        make_player(spec, CONFIG)


def test_a_file_alone_spends_no_money() -> None:
    assert "llm" in player_names()
    assert is_code("counted:llm:listed:small")
    with pytest.raises(PlayerError, match=r"which calls a language model at your expense.*--trust"):
        check_code(["random", "llm:listed:small"], "mine.yaml", trust=False)
    check_code(["llm:listed:small"], "mine.yaml", trust=True)


def test_settings_and_models_with_colons(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with endpoint(good) as server:
        monkeypatch.setenv("HELSINKI_LLM_URL", server.url + "/")
        monkeypatch.setenv("HELSINKI_LLM_KEY", KEY)
        monkeypatch.setenv("HELSINKI_LLM_OPTIONS", '{"temperature": 0}')
        monkeypatch.setenv("HELSINKI_LLM_TRANSCRIPT", str(tmp_path / "t.jsonl"))
        player = make_player("llm:unlisted:org/llama:8b", CONFIG)
        assert player.name == "llm:unlisted:org/llama:8b"
        assert isinstance(player, LanguageModelPlayer)
        player._listed = True
        assert act(player) == 7
        assert server.bodies[0]["model"] == "org/llama:8b"
        assert server.bodies[0]["temperature"] == 0
        assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
        assert len((tmp_path / "t.jsonl").read_text().splitlines()) == 1


def test_a_match_states_the_list_and_the_cost(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with endpoint(good) as server:
        monkeypatch.setenv("HELSINKI_LLM_URL", server.url)
        out = tmp_path / "games.jsonl"
        assert main(["simulate", "--players", "llm:listed:small,random", "--games", "2", "--out", str(out)]) == 0
        printed = capsys.readouterr().out
        assert f"llm:listed:small: legal actions listed; {len(server.bodies):,} calls" in printed
        assert '"llm:listed:small"' in out.read_text()
        results = Match(["llm:listed:small", "random"], CONFIG).play(2)
    assert results.players == ("llm:listed:small", "random")
