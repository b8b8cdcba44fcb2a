"""Programs as players: what they receive, and how errors of a program end."""

from __future__ import annotations

import copy
import json
import os
import pickle
import re
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helsinki_env.agents.base import Player, choose_action
from helsinki_env.agents.program.player import ProgramPlayer, action_message
from helsinki_env.agents.program.process import Process
from helsinki_env.agents.registry import PlayerError, files_digest, is_code, make_player, player_files
from helsinki_env.agents.replaced_actions import CountedPlayer, ReplacedActions
from helsinki_env.cli.main import main
from helsinki_env.engine.game import IllegalActionError
from helsinki_env.engine.playout import sample_actions
from helsinki_env.engine.spec import spec_by_name, spec_of
from helsinki_env.evaluation.match import play_match
from helsinki_env.evaluation.play import TimedGameResults, play_games

pytestmark = pytest.mark.skipif(os.name != "posix", reason="programs can be players on Linux and macOS only")

#: A program of ten lines; one word states its behavior.
BOT = """
import json, os, sys, time
how, notes = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else os.devnull
asked = 0
for line in sys.stdin:
    with open(notes, "a") as file:
        file.write(line if how not in ("pid", "stays") else f"{os.getpid()}\\n")
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"ready": True}), flush=True)
        continue
    asked += 1
    if how == "dies" and asked % 3 == 0:
        os._exit(1)
    if how == "mute" or (how == "slow" and asked % 3 == 0):
        time.sleep(60)
    if how == "garbage":
        print("} what?", flush=True)
    elif how == "endless":
        sys.stdout.write("x" * 10**6)
        sys.stdout.flush()
        time.sleep(60)
    elif how == "illegal":
        print(json.dumps({"action": min(set(range(1000)) - set(message["legal"]))}), flush=True)
    elif how == "unbuffered":  # the end of what nobody asked for comes when the next message is there
        sys.stdout.write(json.dumps({"action": message["legal"][-1]}) + "\\nagain")
        sys.stdout.flush()
        line = sys.stdin.readline()
        while line:
            print("\\n" + json.dumps({"action": json.loads(line)["legal"][-1]}) + "\\nagain", end="", flush=True)
            line = sys.stdin.readline()
    elif how == "chatty":
        print(json.dumps({"action": message["legal"][-1]}) + "\\n" + "again", flush=True)
    else:
        print(json.dumps({"action": message["legal"][-1]}), flush=True)
if how == "stays":
    time.sleep(600)
"""


class Last:
    """What the program plays."""

    name = "last"

    def act(self, observation, action_mask, keys):
        return action_mask.shape[1] - 1 - action_mask[:, ::-1].argmax(axis=1)


@pytest.fixture
def bot(tmp_path: Path) -> str:
    path = tmp_path / "bot.py"
    path.write_text(BOT)
    return f"{sys.executable} {shlex.quote(str(path))}"


def played(player: Player, config: Any, games: int = 2) -> TimedGameResults:
    """Games of a player against itself: what was decided."""
    seats = config.num_players
    streams = np.arange(games * seats, dtype=np.uint64).reshape(games, seats)
    seating = np.zeros((games, seats), np.int64)
    return play_games([player], config, seating, np.arange(games, dtype=np.uint64), streams)


@pytest.mark.parametrize(
    ("how", "game"),
    [
        ("plays", "helsinki"),
        pytest.param("chatty", "helsinki", marks=pytest.mark.thorough),
        pytest.param("unbuffered", "helsinki", marks=pytest.mark.thorough),
        pytest.param("plays", "copenhagen", marks=pytest.mark.thorough),
    ],
)
def test_a_program_plays_like_a_player_of_the_same_mind(bot: str, how: str, game: str) -> None:
    config = spec_by_name(game).config()
    player = ProgramPlayer(f"{bot} {how}", config, 60.0)
    found, expected = (played(one, config, 1) for one in (player, Last()))
    np.testing.assert_array_equal(found.decisions[0], expected.decisions[0])
    assert player.replaced_actions == ReplacedActions()
    player.close()


@pytest.mark.parametrize("game", ["helsinki", pytest.param("copenhagen", marks=pytest.mark.thorough)])
def test_it_is_sent_what_its_seat_sees_and_nothing_else(bot: str, game: str, tmp_path: Path) -> None:
    """Message for message the position that the game itself shows to that seat, which hides all others' cards."""
    config, notes = spec_by_name(game).config(num_players=3), tmp_path / "notes"
    spec = spec_of(config)
    player = ProgramPlayer(f"{bot} plays {notes}", config, 60.0)
    assert spec.to_dict is not None
    table = spec.game(config, seed=5)
    expected: list[dict[str, Any]] = []
    while not table.done and len(expected) < 60:
        legal = table.legal_actions().tolist()
        expected.append({"type": "decide", "seat": table.seat, "position": spec.to_dict(table, table.seat)})
        expected[-1] |= {"legal": legal, "random": 2**53 - 1}
        table.step(choose_action(player, table, key=2**64 - 1))
    player.close()
    hello, *messages = (json.loads(line) for line in notes.read_text().splitlines())
    assert messages == json.loads(json.dumps(expected))
    assert hello == {
        "type": "hello", "protocol": 1, "game": game, "environment": f"{game}_v{spec.version}", "players": 3,
        "components": config.components, "decisions": spec.num_actions(config), "seconds": 60.0,
    }  # fmt: skip
    sent = messages[-1]["position"]
    assert "chance" not in sent
    assert isinstance(sent["draw_pile"], int)
    for seat, one in enumerate(sent["seats"]):
        assert (seat == messages[-1]["seat"]) != (isinstance(one["hand"], dict) and "size" in one["hand"])


def test_another_deal_of_what_is_hidden_is_told_alike() -> None:
    """The position is made from the observation: two games that look the same to the seat give the same message."""
    from helsinki_env.engine.determinization import sample_determinizations

    config = spec_by_name("helsinki").config(num_players=2)
    spec = spec_of(config)
    assert spec.to_dict is not None
    game = spec.game(config, seed=1)
    for _ in range(30):
        game.step(int(game.legal_actions()[0]))
    others = [spec.game.from_state(config, other) for other in sample_determinizations(game, 5, game.seat, seed=3)]
    assert len({str(spec.to_dict(other)["draw_pile"]) for other in others}) > 1
    assert all(
        action_message(config, other.observation()) == action_message(config, game.observation()) for other in others
    )


@pytest.mark.parametrize(
    ("how", "seconds", "kind"),
    [
        ("illegal", 60.0, "illegal"),
        ("garbage", 60.0, "illegal"),
        ("dies", 60.0, "failed"),
        pytest.param("slow", 1.0, "late", marks=pytest.mark.thorough),
    ],
)
def test_what_is_no_decision_is_replaced_and_counted(bot: str, how: str, seconds: float, kind: str) -> None:
    config = spec_by_name("helsinki").config()
    player = ProgramPlayer(f"{bot} {how}", config, seconds)
    game = spec_of(config).game(config, seed=2)
    replaced = 0
    for number in range(6):
        mask, words = game.action_mask()[None], np.array([number], np.uint64)
        action = choose_action(player, game, number)
        if player.replaced_actions.total > replaced:
            replaced = player.replaced_actions.total
            assert action == sample_actions(mask, words)[0], "any legal one, by the decision's own random number"
        else:
            assert action == game.legal_actions()[-1]
        game.step(action)
    every = how in ("illegal", "garbage")
    assert player.replaced_actions == ReplacedActions(**{kind: 6 if every else 2})
    player.close()


@pytest.mark.thorough
def test_a_program_that_never_answers_is_given_up(bot: str) -> None:
    config = spec_by_name("helsinki").config()
    player = ProgramPlayer(f"{bot} mute", config, 0.05)
    found = played(player, config, 1)
    assert player.replaced_actions == ReplacedActions(late=10, failed=int(found.action_counts[0]) - 10)
    endless = ProgramPlayer(f"{bot} endless", config, 60.0)
    game = spec_of(config).game(config, seed=0)
    choose_action(endless, game)
    assert endless.replaced_actions == ReplacedActions(failed=1)
    endless.close()


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("import time; time.sleep(100)", "nothing came"),
        ("raise SystemExit(3)", "it ended with exit status 3"),
        ("import os; os.kill(os.getpid(), 9)", "it ended with signal 9"),
        ("import sys; [sys.stdout.write('x' * 9999) for _ in range(99)]", "it wrote over 65,536 bytes without the end"),
        ("import os, time; os.close(0); os.close(1); time.sleep(100)", "it closed its standard input or output"),
    ],
)
def test_a_program_that_does_not_even_begin_is_told_with_the_reason(program: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(program)
    config = spec_by_name("helsinki").config()
    player = ProgramPlayer(f"{sys.executable} {tmp_path / 'bot.py'}", config, 0.05)
    player._start_within = 0.5 if why == "nothing came" else 60.0
    with pytest.raises(PlayerError, match=f"found no answer to the first message: {why}.*; expected a line within"):
        choose_action(player, spec_of(config).game(config, seed=0))


def test_a_program_ends_with_its_player_and_with_the_process(bot: str, tmp_path: Path) -> None:
    notes = tmp_path / "pids"
    config = spec_by_name("helsinki").config()
    player = ProgramPlayer(f"{bot} pid {notes}", config)
    choose_action(player, spec_of(config).game(config, seed=0))
    (number,) = {int(line) for line in notes.read_text().splitlines()}
    os.kill(number, 0)
    player.close()
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_copies_have_the_same_name_and_time_limit(bot: str) -> None:
    for player in (make_player(f"program:5:{bot} plays"), ProgramPlayer(f"{bot} plays", None, 7.0)):
        for copied in (copy.deepcopy(player), pickle.loads(pickle.dumps(player))):
            assert isinstance(copied, ProgramPlayer)
            assert isinstance(player, ProgramPlayer)
            assert (copied.name, copied.seconds) == (player.name, player.seconds)


def test_threads_share_a_program_that_outlives_the_one_that_began_it(bot: str, tmp_path: Path) -> None:
    notes = tmp_path / "pids"
    game = spec_by_name("helsinki").game(seed=0)
    player = ProgramPlayer(f"{bot} pid {notes}", game.config, 60.0)
    mask = np.zeros((60, len(game.action_mask())), np.int8)
    mask[np.arange(60), np.arange(60)] = 1  # each seat has one legal action, so the answer of another seat is illegal
    observation, words = np.repeat(game.observation()[None], 60, axis=0), np.zeros(60, np.uint64)

    def ask(first: int) -> list[int]:
        part = slice(first, first + 20)
        actions: list[int] = player.act(observation[part], mask[part], words[part]).tolist()
        return actions

    for _ in range(2):  # the second time all threads are new ones
        with ThreadPoolExecutor(3) as pool:
            assert list(chain.from_iterable(pool.map(ask, (0, 20, 40)))) == list(range(60))
    assert player.replaced_actions == ReplacedActions()
    assert len(set(notes.read_text().splitlines())) == 1
    player.close()


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_program_that_stays_dies_with_the_process_and_so_do_its_own(bot: str, tmp_path: Path, number: int) -> None:
    notes, script = tmp_path / "pids", tmp_path / "wrapped"
    script.write_text(f"#!/bin/sh\n{bot} stays {notes}\ntrue\n")
    script.chmod(0o755)
    code = (
        "import os, time; from helsinki_env.agents.base import choose_action\n"
        "from helsinki_env.agents.program.player import ProgramPlayer\n"
        "from helsinki_env import HelsinkiGame, HelsinkiConfig\n"
        f"player = ProgramPlayer({str(script)!r}, HelsinkiConfig()); choose_action(player, HelsinkiGame(seed=0))\n"
        "print(player.replaced_actions.total == 0, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        (stays,) = {int(line) for line in notes.read_text().splitlines()}
        os.kill(stays, 0)
        process.send_signal(number)
    for _ in range(100):
        try:
            os.kill(stays, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("the program lives on")


#: A program that begins another one, in a process group or session of its own, and answers.
BREEDER = """
import json, os, signal, sys, time
how, notes = sys.argv[1:]
if os.fork() == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if how == "group":
        os.setpgid(0, 0)
    elif how in ("session", "daemon"):
        os.setsid()
        if how == "daemon" and os.fork():  # its parent ends, as that of a daemon does
            os._exit(0)
    for number in (0, 1):
        os.close(number)
    if how == "tree" and os.fork() == 0:
        os.setsid()
        os.fork()
    with open(notes, "a") as file:
        file.write(f"{os.getpid()}\\n")
    time.sleep(600)
expected = 3 if how == "tree" else 1
while not os.path.exists(notes) or len(open(notes).readlines()) < expected:
    time.sleep(0.01)
for line in sys.stdin:
    message = json.loads(line)
    print(json.dumps({"action": message.get("legal", [0])[-1]}), flush=True)
    if how == "daemon" and message["type"] == "decide":
        break  # the program ends, the daemon does not
"""


def living(notes: Path) -> list[int]:
    """Return the processes that are noted and have not ended."""
    found = []
    for number in map(int, notes.read_text().split()):
        try:
            os.kill(number, 0)
            state = Path(f"/proc/{number}/stat").read_bytes().rpartition(b") ")[2][:1]
        except (ProcessLookupError, FileNotFoundError):
            continue
        if state != b"Z":
            found.append(number)
    return found


def all_end(notes: Path) -> None:
    until = time.monotonic() + 60
    while left := living(notes):
        if time.monotonic() > until:
            for number in left:
                os.kill(number, signal.SIGKILL)
            pytest.fail(f"{len(left)} live on")
        time.sleep(0.02)


linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of every descendant")


@linux
@pytest.mark.parametrize("how", ["group", "session", "daemon", "tree"])
def test_what_a_program_has_begun_ends_with_it_wherever_it_is(how: str, tmp_path: Path) -> None:
    notes = tmp_path / "pids"
    (tmp_path / "breeder.py").write_text(BREEDER)
    config = spec_by_name("helsinki").config()
    player = ProgramPlayer(f"{sys.executable} {tmp_path / 'breeder.py'} {how} {notes}", config, 60.0)
    choose_action(player, spec_of(config).game(config, seed=0))
    assert player.replaced_actions == ReplacedActions()
    assert len(living(notes)) == (3 if how == "tree" else 1)
    player.close()
    left = living(notes)
    for number in left:
        os.kill(number, signal.SIGKILL)
    assert left == []


@linux
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("how", "number"),
    [
        ("session", signal.SIGTERM),
        ("tree", signal.SIGINT),
        ("tree", signal.SIGKILL),
        pytest.param("session", signal.SIGINT, marks=pytest.mark.nightly),
        pytest.param("session", signal.SIGKILL, marks=pytest.mark.nightly),
        pytest.param("tree", signal.SIGTERM, marks=pytest.mark.nightly),
    ],
)
def test_what_a_program_has_begun_ends_when_the_command_is_stopped(how: str, number: int, tmp_path: Path) -> None:
    notes, script = tmp_path / "pids", tmp_path / "breeder.py"
    script.write_text(BREEDER.replace("print(json", 'message["type"] == "decide" and time.sleep(600); print(json'))
    player = f"program:600:{sys.executable} {script} {how} {notes}"
    words = ["simulate", "--players", f"{player},random", "--games", "2", "--threads", "1"]
    command = [sys.executable, "-m", "helsinki_env.cli.main", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        until = time.monotonic() + 240
        while not notes.exists() or len(living(notes)) < (3 if how == "tree" else 1):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.02)
        process.send_signal(number)
        process.wait(60)
    all_end(notes)


def test_a_program_gets_the_signals_and_files_of_any_other(tmp_path: Path) -> None:
    """No open file of ours is passed on, no signal is ignored, and standard error stays where it was."""
    report, script = tmp_path / "report", tmp_path / "reporting.py"
    script.write_text(
        "import json, os, signal, sys\n"
        "ours = os.open('/dev/null', os.O_RDONLY)\n"
        "ignored = [int(s) for s in signal.valid_signals() if signal.getsignal(s) == signal.SIG_IGN]\n"
        f"open({str(report)!r}, 'w').write(json.dumps([ours, ignored, os.getpid() == os.getpgid(0) == os.getsid(0)]))\n"
        "for line in sys.stdin:\n"
        "    print(json.dumps({'action': json.loads(line).get('legal', [0])[-1]}), flush=True)\n"
    )
    config = spec_by_name("helsinki").config()
    with open(os.devnull) as one:
        os.set_inheritable(one.fileno(), True)
        player = ProgramPlayer(f"{sys.executable} {script}", config, 60.0)
        choose_action(player, spec_of(config).game(config, seed=0))
    player.close()
    first_free, ignored, own = json.loads(report.read_text())
    assert first_free == 3
    assert set(ignored) <= {int(signal.SIGPIPE), int(signal.SIGXFSZ)}, "those that Python itself ignores"
    assert own


def test_a_program_that_cannot_be_executed_is_told(tmp_path: Path) -> None:
    script = tmp_path / "bot"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    config = spec_by_name("helsinki").config()
    with pytest.raises(PlayerError, match=r"found no answer to the first message: .*No such file or directory"):
        choose_action(ProgramPlayer(str(script), config), spec_of(config).game(config, seed=0))


def test_words_describe_only_the_actions_of_the_mask(tmp_path: Path) -> None:
    path = tmp_path / "reader.py"
    path.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if message['type'] == 'hello':\n"
        "        answer = {'text': True}\n"
        "    else:\n"
        "        answer = {'action': 3} if len(message.get('words', [])) == 1 else 'none'\n"
        "    print(json.dumps(answer), flush=True)\n"
    )
    config = spec_by_name("helsinki").config()
    player = ProgramPlayer(f"{sys.executable} {shlex.quote(str(path))}", config)
    game = spec_of(config).game(config, seed=1)
    for legal, illegal in ((3, 0), (5, 1)):
        mask = np.zeros_like(game.action_mask())
        mask[legal] = 1
        assert player.act(game.observation()[None], mask[None], np.zeros(1, np.uint64)).tolist() == [legal]
        assert player.replaced_actions == ReplacedActions(illegal=illegal)
    player.close()


def test_names_of_programs(bot: str) -> None:
    config = spec_by_name("helsinki").config()
    assert make_player(f"program:{bot} plays", config).name == f"program:{bot} plays"
    timed = make_player(f"program:0.5:{bot} plays", config)
    assert isinstance(timed, ProgramPlayer)
    assert (timed.name, timed.seconds) == (f"program:0.5:{bot} plays", 0.5)
    for wrong, message in (
        ("program:", "found no program ''"),
        ("program:/no/such/bot --fast", "found no program '/no/such/bot', expected a command to run"),
        ("program:'open", "No closing quotation"),
        ("program:0:bot", "found 0 seconds per action"),
        ("program:²:bot", "found no program '²:bot'"),
    ):
        with pytest.raises(PlayerError, match=message):
            make_player(wrong, config)


@pytest.mark.thorough
def test_results_say_how_much_of_them_was_chance(
    bot: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    players, out = f"program:{bot} garbage,random", str(tmp_path / "run")
    told = r"actions of program:.* garbage were replaced by random legal ones: [\d,]+ illegal\n"
    assert main(["simulate", "--players", players, "--games", "2"]) == 0
    assert len(re.findall(rf"^{told}", capsys.readouterr().out, re.MULTILINE)) == 1
    for words in (["arena", "--players", players, "--games", "24", "--processes", "1"], ["rate", out]):
        assert main([*words, "--out", out]) == 0
        assert len(re.findall(rf"^2 players.*: {told}", capsys.readouterr().out, re.MULTILINE)) == 1
    assert re.search(
        r"^Replaced by random actions: 2 players.* illegal\.$",
        (tmp_path / "run" / "ladder.md").read_text(),
        re.MULTILINE,
    )
    assert main(["simulate", "--players", "random", "--games", "2"]) == 0
    assert "replaced" not in capsys.readouterr().out


def test_files_of_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("bot", "bot.py", "weights"):
        Path(name).write_text("")
    whole = str(tmp_path / "bot")
    for name, files in (
        ("program:./bot", ["bot"]),
        ("program:5:./bot", ["bot"]),
        ("counted:program:0.5:./bot weights", ["bot", "weights"]),
        ("forced:extra_card:program:python3 -u bot.py", ["bot.py"]),
        (f"program:{sys.executable} bot.py weights", ["bot.py", "weights"]),  # any interpreter does
        (f"program:{whole} --fast", [whole]),
        (f"program:{whole} weights", [whole, "weights"]),  # an engine is no interpreter
        ("program:bot-in-the-path", []),
    ):
        assert player_files(name) == tuple(Path(file) for file in files), name


# players of one's own, without a package

MODULE = """
class Builder:
    name = "builder"
    def act(self, observation, mask, words):
        return mask.argmax(axis=1)

class Wrong(Builder):
    def act(self, observation, mask, words):
        return (mask == 0).argmax(axis=1)

class Leaves(Builder):
    def __init__(self):
        raise SystemExit(0)

class Loaded(Builder):
    def __init__(self, path):
        self.name = f"loaded:{path}"

class Stops(Builder):
    name = "stops"
    def act(self, observation, mask, words):
        return {}["nothing"]

player = Builder()

def without_arguments():
    return player

def make(argument, config):
    made = Builder()
    made.name = f"made:{argument}"
    return made
"""


@pytest.fixture
def _module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_bots_here.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.mark.usefixtures("_module")
def test_a_module_in_the_folder_brings_players() -> None:
    assert make_player("my_bots_here:Builder").name == "builder"
    assert make_player("my_bots_here:player").name == "builder"
    assert make_player("my_bots_here:make:5").name == "made:5"
    assert make_player("my_bots_here:Loaded:weights.zip").name == "loaded:weights.zip"
    assert player_files("counted:my_bots_here:Builder") == (Path.cwd() / "my_bots_here.py",)
    before = files_digest("my_bots_here:Loaded:weights.zip")
    Path("weights.zip").write_bytes(b"weights")
    assert files_digest("my_bots_here:Loaded:weights.zip") != before
    assert player_files("my_bots_here:Loaded:weights.zip")[1:] == (Path("weights.zip"),)
    for wrong in (
        "my_bots_here:nobody",
        "my_bots_here:Builder:5",
        "my_bots_here:player:5",
        "my_bots_here:MODULE",
        "nothing_here:Builder",
    ):
        with pytest.raises(PlayerError, match=wrong.partition(":")[0]):
            make_player(wrong)
    assert [is_code(name) for name in ("my_bots_here:Builder", "counted:program:x", "forced:a:program:x")] == [True] * 3
    assert not any(is_code(name) for name in ("greedy", "counted:net:x", "forced:two_points:heuristic"))


@pytest.mark.usefixtures("_module")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my_bots_here:Leaves", r"my_bots_here:Leaves'?: cannot be made: SystemExit: 0 \(.*my_bots_here.py, line 13\)"),
        ("my_bots_here:without_arguments", "cannot be made: TypeError: without_arguments"),
        ("my_bots_here:Stops", r"player stops: does not decide: KeyError: 'nothing' \(.*my_bots_here.py, line 22\)"),
        ("broken_here:Builder", r"cannot be loaded: SyntaxError: .*broken_here.py, line 1\)"),
        ("leaving_here:Builder", r"cannot be loaded: SystemExit: 3 \(.*leaving_here.py, line 2\)"),
    ],
)
def test_what_goes_wrong_in_a_module_is_told_in_a_line(
    name: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("broken_here.py").write_text("def :\n")
    Path("leaving_here.py").write_text("import sys\nsys.exit(3)\n")
    assert main(["simulate", "--players", f"{name},random", "--games", "2"]) == 2
    assert re.search(message, capsys.readouterr().err)


@pytest.mark.usefixtures("_module")
def test_illegal_decisions_are_replaced_where_they_are_counted_and_fatal_elsewhere() -> None:
    with pytest.raises(IllegalActionError, match="builder"):
        play_match(["my_bots_here:Wrong", "random"], games=2)
    player = make_player("counted:my_bots_here:Wrong")
    assert isinstance(player, CountedPlayer)
    config = spec_by_name("helsinki").config()
    found = played(player, config, 1)
    assert player.replaced_actions == ReplacedActions(illegal=int(found.action_counts[0]))
    fine = CountedPlayer(Last())
    np.testing.assert_array_equal(played(fine, config, 1).decisions[0], played(Last(), config, 1).decisions[0])
    assert fine.replaced_actions == ReplacedActions()


def test_more_than_1024_open_files_stop_no_program(bot: str) -> None:
    """The numbers of its pipes are larger than `select` knows."""
    import resource

    least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < 1200:
        pytest.skip("so many files cannot be opened here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(least, 1200), most))
    opened: list[int] = []
    try:
        while not opened or opened[-1] < 1100:
            opened.append(os.open(os.devnull, os.O_RDONLY))
        program = Process([*shlex.split(bot), "plays"])
        assert program.answer('{"type": "hello"}', 60.0) == '{"ready": true}'
        program.close()
    finally:
        for number in opened:
            os.close(number)
        resource.setrlimit(resource.RLIMIT_NOFILE, (least, most))


def test_players_of_own_code_can_make_environments_in_worker_processes(tmp_path: Path) -> None:
    (tmp_path / "own_code.py").write_text(
        "import gymnasium\n"
        "from helsinki_env.agents.random import RandomPlayer\n"
        "def make(argument, config):\n"
        "    gymnasium.make('helsinki_env:helsinki/Helsinki-v0')\n"
        "    return RandomPlayer()\n"
    )
    program = (
        "import sys; sys.argv[0] = 'helsinki'\n"  # as in a worker process of the command
        "from helsinki_env.agents.registry import make_player; print(make_player('own_code:make').name)"
    )
    command = [sys.executable, "-c", program]
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert found.stdout == "random\n"
