"""The command line: what it prints and writes, and its messages for wrong arguments."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from functools import partial
from io import StringIO
from pathlib import Path

import pytest

import helsinki_env
from helsinki_env.cli import main as cli
from helsinki_env.cli.commands.play import listen
from helsinki_env.cli.main import COMMANDS, main
from helsinki_env.data import UserError
from helsinki_env.records import read_records, write_records
from helsinki_env.utils.extras import MissingExtraError
from helsinki_env.utils.terminal import plain_console, results_table

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("HELSINKI_DEBUG", raising=False)


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("games") / "games.jsonl"
    assert main(["simulate", "--players", "random,greedy", "--games", "4", "--out", str(path)]) == 0
    return path


def test_help_lists_the_commands(capsys: Output) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name, command in COMMANDS.items():
        assert f"  {name}" in shown
        assert command.summary in shown
        assert command.example in shown
    assert main([]) == 2
    assert capsys.readouterr().err == shown


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str, capsys: Output) -> None:
    loaded = COMMANDS[name].load()
    for words in [[name, sub] for sub in loaded] if isinstance(loaded, dict) else [[name]]:
        assert main([*words, "--help"]) == 0
        shown = capsys.readouterr().out
        assert f"usage: helsinki {' '.join(words)}" in shown
        assert f"Example: helsinki {' '.join(words)}" in shown
        assert "None" not in shown, "nobody types that"
        assert all(line.count("Example:") <= 1 for line in shown.splitlines()), "every example on a line of its own"


@pytest.mark.parametrize("words", [["simulate"], ["arena"]])
def test_help_names_every_player(words: list[str], capsys: Output) -> None:
    from helsinki_env.agents.registry import player_names

    assert main([*words, "--help"]) == 0
    listed = " ".join(capsys.readouterr().out.replace("│", " ").split())
    text = listed.partition("--players STR")[2].partition("--games INT")[0]
    for name in player_names():
        assert re.search(rf"(?<![\w+]){re.escape(name)}[:, ]", text), name


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_of_the_list_are_accepted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib
    import inspect

    module = importlib.import_module(COMMANDS[name].module)
    words = COMMANDS[name].example.split()
    called: list[dict[str, object]] = []
    several = isinstance(module.main, dict)  # a command that has commands of its own
    function = module.main[words[2]] if several else module.main
    signature = inspect.signature(function)

    def stand_in(*args: object, **kwargs: object) -> None:
        called.append(signature.bind(*args, **kwargs).arguments)

    stand_in.__signature__ = signature  # type: ignore[attr-defined]  # tyro reads it
    stand_in.__annotations__ = inspect.get_annotations(function, eval_str=True)
    monkeypatch.setattr(module, "main", {**module.main, words[2]: stand_in} if several else stand_in)
    assert words[:2] == ["helsinki", name]
    assert main(words[1:]) == 0
    assert called


def test_help_does_not_load_pytorch() -> None:
    code = "import sys; from helsinki_env.cli.main import main; main(['--help']); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0


def test_version(capsys: Output) -> None:
    assert main(["--version"]) == 0
    line = capsys.readouterr().out
    assert line.startswith(f"helsinki-env {helsinki_env.__version__}")
    module = [sys.executable, "-m", "helsinki_env", "--version"]
    assert subprocess.run(module, check=True, capture_output=True, text=True).stdout == line


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["simulat"], "helsinki: found command 'simulat'"),
        (["simulate", "--players", "gredy"], "counted, program, llm, epsilon, response; did you mean 'greedy'?"),
        (["simulate", "--players", "random,greedy,random", "--num-players=2"], "--players: found 3 (random,"),
        (["simulate", "--games", "0"], "helsinki simulate: --games: found 0"),
        (["simulate", "--num-players", "5", "--players", "random"], "--num-players: found 5"),
        (["simulate", "--players", "random,random,random,random,random"], "number of --players: found 5"),
        (["simulate", "--game-config", "first_game", "--players", "random,random,random"], "--players: found 3"),
        (["simulate", "--covered", "fly"], "covered[0]: found 'fly'"),
        (["simulate", "--covered", "frist_game"], "two_points, first_game; did you mean 'first_game'?"),
        (["simulate", "--game-config", "none"], "helsinki simulate: --game-config: found 'none'"),
        (["balance", "run", "quik"], "helsinki balance: CONFIG: found 'quik'"),
        (["balance", "score", "--objectives", "none"], "--objectives: found 'none'"),
        (["check", "random", "--gauntlet", "none"], "helsinki check: --gauntlet: found 'none'"),
        (["simulate", "--components", "none"], "helsinki simulate: components: found 'none'"),
        (["simulate", "--append"], "helsinki simulate: --append: found without --out, expected"),
        (["simulate", "--games", "1000000000001"], "--games: found 1000000000001"),
        (["simulate", "--seed", "-1"], "helsinki simulate: --seed: found -1"),
        (["simulate", "--threads", "0"], "helsinki simulate: --threads: found 0"),
        (["train", "--minutes", "nan"], "helsinki train: --minutes: found nan"),
        (["train", "--minutes", "inf"], "helsinki train: --minutes: found inf"),
        (["rate", "runs/none", "--at-most", "-1e9"], "--at-most: found -1000000000.0"),
        (["rate", "runs/none", "--better", "a,b", "--alpha", "nan"], "alpha: found nan"),
        (["rate", "runs/none", "--better", "a,b", "--cap", "3"], "--cap: found 3"),
        (["rate", "runs/none", "--better", "a,b", "--payoff"], "--payoff: found with --better"),
        (["rate", "runs/none", "--better", "a,b", "--seed", "3"], "--resamples: found with --better"),
        (["rate", "runs/none", "--alpha", "0.1"], "--better: found nothing, expected two players"),
        (["ladder", "--from-json", "x.json", "--seed", "3"], "--resamples: found with --from-json"),
        (["bench", "--device", "cpu", "--only", "env"], "--only: found with --device"),
        (["bench", "--device", "cpu", "--threads", "2"], "--threads: found with --device"),
        (["bench", "--device", "cpu", "--players", "none"], "--players: found with --device"),
        (["bench", "--pairs", "3"], "--pairs: found without --against"),
        (["evaluate", "suite", "--positions", "1"], "--positions: found 1, expected"),
        (["rate", "runs/none", "--seed", "-1"], "--seed: found -1"),
        (["ladder", "--resamples", "0"], "--resamples: found 0"),
        (["export", "none", "--positions", "0"], "--positions: found 0"),
        (["mini", "--components", "small,small"], "--components: found small, small, expected each value once"),
        (["balance", "report", "elsewhere", "--from-json", "x.json"], "--from-json: found with elsewhere, expected"),
        (["balance", "run", "--processes", "-2"], "--processes: found -2"),
        (["balance", "tune", "--num-players", "2,5"], "--num-players: found '2,5'"),
        (["balance", "tune", "--num-players", "3"], "--num-players: found '3', expected one of 2"),
        (["balance", "tune", "--max-changes", "0"], "--max-changes: found 0"),
        (["balance", "tune", ""], "--config: found '', expected a value; omit it for the default"),
        (["train", "--preset", ""], "helsinki train: --preset: found '', expected a value"),
        (["dataset", "--players", ""], "helsinki dataset: --players: found '', expected a value"),
        (["balance", "tune", "--evaluator", "heuristic"], "--evaluator: found 'heuristic'"),
        (["balance", "tune", "--proposal", "tune.json"], "--proposal: found tune.json"),
        (["balance", "tune", "quick", "--proposal", "x.json", "--evaluator", "net"], "--proposal: found x.json"),
        (["balance", "tune", "--proposal", "nothing", "--evaluator", "net"], "nothing: cannot be read: No such file"),
        (["balance", "tune", "quik"], "expected the path of a .yaml file or one of covered, quick, standard"),
        (["arena", "--unit-games", "0"], "--unit-games: found 0"),
        (["bench", "--seconds", "nan"], "helsinki bench: --seconds: found nan"),
        (["bench", "--batches", "1,0"], "helsinki bench: --batches: found 0"),
        (["replay", "no/such/file"], "helsinki replay: no/such/file: cannot be read: No such file or"),
        (["replay", "GAMES", "--record", "5"], "games.jsonl: found 4 records"),
        (["replay", "GAMES", "--record", "0"], "helsinki replay: --record: found 0"),
        (["replay", "GAMES", "--record", str(2**63)], f"expected at least {2**63} for --record"),
        (["replay", "GAMES", "--step", "--svg", "x.svg"], "--step: found with --svg, --png or --html"),
        (["ladder", "--from-json", "."], "--from-json: found ., expected the NAME.json"),
        (["ladder", "other", "--from-json", "docs/ladder.json"], "--from-json: found with CONFIG, --run or --trust"),
        (["arena", "example", "--num-players", "0"], "--num-players"),
        (["dataset", "b\udcffd.jsonl"], "SOURCE: found 'b\\udcffd.jsonl'"),
        (["replay", "GAMES", "--seat", "2"], "helsinki replay: --seat: found 2"),
        (["replay", "GAMES", "--svg", "x.png"], "--svg: found x.png"),
        (["replay", "GAMES", "--html", "x.htm"], "--html: found x.htm"),
        (["replay", "GAMES", "--html", "x.html", "--each", "game"], "--each: found game with --html"),
        (["replay", "GAMES", "--evaluator", "net"], "--evaluator: found net without --html; only that page"),
        (["replay", "GAMES", "--html", "x.html", "--evaluator", "greedy"], "evaluator: found 'greedy'"),
        (
            ["replay", "GAMES", "--html", "x.html", "--evaluator", "net", "--seat", "1"],
            "--evaluator: found net with --seat 1",
        ),
    ],
)  # fmt: skip
def test_what_is_asked_wrongly_is_one_line_and_status_2(
    words: list[str], message: str, games: Path, capsys: Output
) -> None:
    assert main([str(games) if word == "GAMES" else word for word in words]) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("simulate --games 1000000000 --out FOLDER", "cannot be written: it is a folder"),
        ("simulate --games 1000000000 --out FILE/x", "cannot be written: Not a directory"),
        ("arena --games 1000000 --out FILE", "--out: found FILE"),
        ("ladder --run RUN --out FOLDER.md", "--out: found FOLDER.md"),
        ("ladder --run RUN --out FILE.md", "--out: found FILE.md there already"),
        ("balance run --out FILE/x", "--out: found FILE/x"),
        ("balance report RUN --out FILE", "--out: found FILE"),
        ("bench --json FOLDER", "--json: found FOLDER"),
        ("bench --players nobody", "player 'nobody': found an unknown name"),
        ("rate RUN --out FILE", "--out: found FILE"),
        ("rate RUN --out FOREIGN", "--out: found other files in FOREIGN"),
        ("ladder --from-json docs/ladder.json --out FOREIGN/new.md", "--out: found FOREIGN/new.json there already"),
        ("arena --games 2 --format jsonl --out FOREIGN", "FOREIGN: found games.jsonl but no run.json"),
        ("replay GAMES --svg FILE/x", "--svg: found FILE/x"),
        ("replay GAMES --html FILE/x.html", "--html: found FILE/x.html"),
        ("replay GAMES --png FOLDER.png", "--png: found FOLDER.png"),
    ],
)
def test_where_nothing_can_be_written_nothing_is_done(
    words: str, option: str, games: Path, tmp_path: Path, capsys: Output
) -> None:
    names = ("FILE.md", "FOLDER.md", "FOLDER.png", "FILE", "FOLDER", "FOREIGN", "RUN")
    places = {name: str(tmp_path / name) for name in names}
    for name in ("FILE", "FILE.md"):
        (tmp_path / name).touch()
    for name in ("FOLDER", "FOLDER.md", "FOLDER.png", "FOREIGN"):
        (tmp_path / name).mkdir()
    for name in ("ladder.md", "new.json", "games.jsonl"):
        (tmp_path / "FOREIGN" / name).touch()
    before = sorted(tmp_path.rglob("*"))

    def placed(text: str) -> str:
        return re.sub(r"(FILE|FOLDER|FOREIGN|RUN)(\.md|\.png)?", lambda m: places[m[0]], text).replace(
            "GAMES", str(games)
        )

    assert main(placed(words).split()) == 2
    shown = capsys.readouterr().err
    assert placed(option) in shown
    assert shown.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_a_host_that_is_no_name_is_explained() -> None:
    with pytest.raises(UserError, match=r"--host 192\.168\.\.1 --port 0: cannot listen"):
        listen("192.168..1", 0)


def test_options_without_effect_are_rejected(capsys: Output) -> None:
    assert main(["simulate", "--game-config", "dry_roads", "--no-dry-roads"]) == 2
    assert "no-dry-roads" in capsys.readouterr().err


def test_a_lack_of_memory_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    def fail(*_: object) -> None:
        raise MemoryError("7.45 GiB")

    monkeypatch.setattr("helsinki_env.cli.main._run", fail)
    assert main(["simulate"]) == 2
    assert capsys.readouterr().err == (
        "helsinki simulate: found too little memory, expected a smaller task (7.45 GiB)\n"
    )


def test_wide_tables_are_complete_on_narrow_terminals() -> None:
    columns = [f"column {number}" for number in range(12)]
    table = results_table(["player", *columns], "player", "a title")
    cells = [f"{number}.{number:06}" for number in range(12)]
    table.add_row("heuristic", *cells)
    shown = StringIO()
    plain_console(width=60, file=shown).print(table)
    assert set(cells) <= set(shown.getvalue().split())


def test_wrong_options_are_explained(capsys: Output) -> None:
    assert main(["simulate", "--gamez", "3"]) == 2
    assert "--games" in capsys.readouterr().err
    assert main(["simulate", "--games", "many"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_traceback_for_those_who_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELSINKI_DEBUG", "1")
    with pytest.raises(ValueError, match="found an unknown name"):
        main(["simulate", "--players", "nobody"])


def test_output_that_nobody_reads_any_more(games: Path) -> None:
    command = [sys.executable, "-m", "helsinki_env.cli.main", "replay", str(games)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


def test_files_are_written_even_if_nobody_reads_the_output(tmp_path: Path) -> None:
    page = tmp_path / "report"
    command = [sys.executable, "-m", "helsinki_env.cli.main"]
    played = ["arena", "--players", "random,greedy", "--games", "40", "--processes", "1"]
    assert main([*played, "--out", str(tmp_path / "run")]) == 0
    words = ["rate", str(tmp_path / "run"), "--out", str(page)]
    with subprocess.Popen([*command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait() == 0, process.stderr and process.stderr.read()
    assert (page / "ladder.md").exists()


# simulate


def test_simulate_shows_a_table_and_writes_records(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "games.jsonl"
    words = ["simulate", "--players", "random,greedy", "--games", "7", "--seed", "3", "--out", str(path)]
    assert main(words) == 0
    shown = capsys.readouterr().out
    for text in ("2 players", "95% interval", "random", "greedy", "8 games with seed 3", f"Wrote {path}"):
        assert text in shown
    records = list(read_records(path))
    assert len(records) == 8
    assert {record.players for record in records} == {("random", "greedy"), ("greedy", "random")}
    assert main([*words, "--threads", "2"]) == 0
    assert list(read_records(path)) == records
    assert main([*words, "--append"]) == 0
    assert list(read_records(path)) == records * 2


@pytest.mark.thorough
def test_simulate_plays_what_it_is_told(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "games.jsonl"
    common = ["simulate", "--players", "random", "--out", str(path)]
    assert main([*common, "--games", "3", "--num-players", "3", "--covered", "two_points,any_side", "--dry-roads"]) == 0
    assert "3 players, 2 actions covered, Dry roads" in capsys.readouterr().out
    config = next(read_records(path)).config
    assert (config.num_players, config.covered, config.dry_roads) == (3, (2, 14), True)
    assert next(read_records(path)).players == ("random", "random#2", "random#3")
    assert main([*common, "--games", "4", "--game-config", "four_players", "--components", "alternative"]) == 0
    config = next(read_records(path)).config
    assert (config.num_players, config.components) == (4, "alternative")
    assert main([*common, "--games", "2", "--game-config", "first_game", "--num-players", "2"]) == 0
    assert next(read_records(path)).config.covered == (10, 11, 12, 13, 14)
    assert main([*common, "--games", "2", "--covered", "first_game"]) == 0
    assert next(read_records(path)).config.covered == (10, 11, 12, 13, 14)


def test_a_progress_bar_for_people_who_wait(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:

    from helsinki_env.cli import progress

    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "plain_console", partial(plain_console, force_terminal=True))
    monkeypatch.setenv("TERM", "xterm")
    assert main(["simulate", "--players", "random", "--games", "4"]) == 0
    assert "4/4" in capsys.readouterr().err


@pytest.mark.parametrize("terminal", [False, True], ids=["a file", "a terminal whose cursor does not move"])
def test_lines_now_and_then_where_nobody_sees_a_bar(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    from helsinki_env.cli import progress

    monkeypatch.setattr(progress, "_LINES", 0.0)
    monkeypatch.setattr(progress, "plain_console", partial(plain_console, force_terminal=terminal))
    monkeypatch.setenv("TERM", "dumb" if terminal else "xterm")
    with progress.ProgressDisplay(10) as shown:
        shown.resume(4)
        shown.advance(0)
        shown.advance(2)
    shown.advance(4)
    first, second = capsys.readouterr().err.splitlines()
    assert first == "4 of 10 games"
    assert second.startswith("6 of 10 games, ")
    assert second.endswith(" left")


def test_what_is_left_is_told_by_the_pace_of_late() -> None:
    from helsinki_env.cli.progress import Pace

    pace = Pace(1000.0)
    assert pace.rate(1000.0) == 0.0
    assert pace.rate(1005.0) == 0.0
    for i in range(1, 101):  # a hundred games a second for a hundred seconds
        pace.add(1000.0 + i, 100)
    assert pace.rate(1100.0) == pytest.approx(100.0)
    for i in range(1, 101):  # then one every ten seconds, by players that think
        pace.add(1100.0 + 10 * i, 1)
    assert pace.rate(2100.0) == pytest.approx(0.1, rel=0.1)
    for i in range(1, 9):  # then two hundred every five minutes: more than two minutes are looked at
        pace.add(2100.0 + 300 * i, 200)
    assert pace.rate(4500.0) == pytest.approx(1608 / 2480)


# replay


def test_replay_shows_every_turn(games: Path, capsys: Output) -> None:
    assert main(["replay", str(games), "--record", "2"]) == 0
    shown = capsys.readouterr().out
    record = list(read_records(games))[1]
    assert shown.count("HELSINKI") == len(_turns(record.decisions)) + 1
    assert "random (1): MOVE" in shown
    assert "\x1b[" not in shown
    assert record.scores is not None
    winner = (record.ranking or (0,))[0]
    assert shown.splitlines()[-1].startswith(f"Result: {record.players[winner]} ({winner}) {record.scores[winner]}")


def test_replay_shows_no_control_characters_of_a_name(games: Path, tmp_path: Path, capsys: Output) -> None:
    record = next(read_records(games))
    named = dataclasses.replace(record, players=("\x1b]0;title\x07\x1b[2J\nname", *record.players[1:]))
    (tmp_path / "named.jsonl").write_text(named.to_json() + "\n", encoding="utf-8")
    assert main(["replay", str(tmp_path / "named.jsonl")]) == 0
    shown = capsys.readouterr().out
    assert "name (0): " in shown
    assert not set(shown) & {"\x1b", "\x07"}
    assert shown.splitlines()[-1].startswith("Result: ")


def _turns(decisions: tuple[int, ...]) -> list[int]:
    """Decisions with which a turn begins: a move, or a coat spent on another kind of move."""
    return [action for action in decisions if 8 <= action <= 13 or action == 554 - 16 + 10]


def test_replay_views(games: Path, capsys: Output) -> None:
    assert main(["replay", str(games), "--each", "game", "--color", "always"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("HELSINKI") == 1
    assert "\x1b[" in shown
    assert main(["replay", str(games), "--each", "action", "--seat", "0"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("HELSINKI") == len(next(read_records(games)).decisions) + 1


def test_replay_step_by_step(games: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["", ""])

    def answer(prompt: str) -> str:
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", answer)
    assert main(["replay", str(games), "--step"]) == 0
    assert capsys.readouterr().out.count("HELSINKI") == 3


def test_replay_draws(games: Path, tmp_path: Path, capsys: Output) -> None:
    single = tmp_path / "new" / "game.svg"
    assert main(["replay", str(games), "--record", "3", "--svg", str(single)]) == 0
    assert single.read_text().startswith("<svg")
    assert f"Wrote {single}" in capsys.readouterr().out
    folder = tmp_path / "all"
    assert main(["replay", str(games), "--svg", str(folder), "--seat", "1"]) == 0
    pictures = sorted(folder.iterdir())
    assert len(pictures) > 20
    assert f"Wrote {len(pictures)} pictures to {folder}" in capsys.readouterr().out
    pytest.importorskip("resvg_py")
    assert main(["replay", str(games), "--png", str(tmp_path / "end.png")]) == 0
    assert (tmp_path / "end.png").read_bytes().startswith(b"\x89PNG")


def test_replay_says_who_shares_a_place(tmp_path: Path, capsys: Output) -> None:
    from helsinki_env import CopenhagenConfig
    from helsinki_env.engine.playout import random_keys, sample_actions
    from helsinki_env.engine.spec import spec_of
    from helsinki_env.records import Record

    config = CopenhagenConfig(num_players=3)
    game = spec_of(config).game(config, seed=4)
    words, decisions = random_keys(1, 4), []
    while not game.done:
        decisions.append(int(sample_actions(game.action_mask()[None], words)[0]))
        game.step(decisions[-1])
    assert game.ranks().tolist() == [0, 0, 2]
    write_records(tmp_path / "games.jsonl", [Record.of(game, 4, ["a", "b", "c"], decisions)])
    assert main(["replay", str(tmp_path / "games.jsonl"), "--each", "game"]) == 0
    a, b, c = game.scores().tolist()
    assert f"Result: a (0) {a} = b (1) {b}, c (2) {c}\n" in capsys.readouterr().out
    assert main(["replay", str(tmp_path / "games.jsonl"), "--svg", str(tmp_path / "end.svg")]) == 0
    assert (tmp_path / "end.svg").read_text(encoding="utf-8").startswith("<svg")


def test_replay_of_an_unfinished_game(games: Path, tmp_path: Path, capsys: Output) -> None:
    from helsinki_env.records import Record

    full = next(read_records(games))
    part = Record(full.config, full.seed, full.players, full.decisions[:20])
    path = tmp_path / "part.jsonl"
    write_records(path, [part])
    assert main(["replay", str(path)]) == 0
    assert "the game is unfinished" in capsys.readouterr().out


def test_replay_notices_a_wrong_result(games: Path, tmp_path: Path, capsys: Output) -> None:
    from dataclasses import replace

    record = next(read_records(games))
    path = tmp_path / "wrong.jsonl"
    write_records(path, [replace(record, scores=(99, 98))])
    assert main(["replay", str(path)]) == 2
    assert "scores: found (99, 98), expected" in capsys.readouterr().err


# files that an editor has saved, and files without games


def test_a_byte_order_mark_stops_no_command(tmp_path: Path, capsys: Output) -> None:
    path, mark = tmp_path / "games.jsonl", b"\xef\xbb\xbf"
    words = ["simulate", "--players", "random,greedy", "--games", "4", "--out", str(path)]
    assert main(words) == 0
    path.write_bytes(mark + path.read_bytes())
    assert main(["replay", str(path), "--record", "1", "--each", "game"]) == 0
    assert main([*words, "--resume", "--games", "8"]) == 0
    assert len(list(read_records(path))) == 8
    run = tmp_path / "run"
    words = ["arena", "--players", "random,greedy", "--games", "4", "--format", "jsonl", "--processes", "1"]
    assert main([*words, "--out", str(run)]) == 0
    for name in ("run.json", "times.json", "games.jsonl"):
        (run / name).write_bytes(mark + (run / name).read_bytes())
    for note in (run / "work_units").glob("*.json"):
        note.write_bytes(mark + note.read_bytes())
    capsys.readouterr()
    assert main([*words, "--out", str(run)]) == 0
    assert "4 of them from an earlier run" in capsys.readouterr().out
    (tmp_path / "game.yaml").write_bytes(mark + b"num_players: 3\n")
    assert main(["simulate", "--players", "random", "--games", "3", "--game-config", str(tmp_path / "game.yaml")]) == 0


@pytest.mark.parametrize(
    "words", ["rate FILE", "rate FILE --better random,greedy", "replay FILE", "simulate --resume --out FILE"]
)
@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_a_file_without_games_is_told(content: bytes, words: str, tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_bytes(content)
    assert main(words.replace("FILE", str(path)).split()) == 2
    shown = capsys.readouterr().err
    assert str(path) in shown
    assert shown.count("\n") == 1


def test_a_single_player_is_not_rated(tmp_path: Path, capsys: Output) -> None:
    words = ["arena", "--players", "greedy", "--games", "8", "--processes", "1", "--out", str(tmp_path)]
    assert main(words) == 0
    capsys.readouterr()
    for more in ([], ["--out", str(tmp_path / "report")]):
        assert main(["rate", str(tmp_path), *more]) == 2
        shown = capsys.readouterr().err
        assert "found no game between different players (greedy), expected at least one" in shown
        assert shown.count("\n") == 1


# errors


def make_fail(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fails(name: str, words: list[str]) -> int:
        raise error

    monkeypatch.setattr(cli, "_run", fails)


@pytest.mark.parametrize("error", [ValueError, UnicodeError, KeyError, TypeError, ImportError, ZeroDivisionError])
def test_a_fault_is_shown_with_its_traceback_and_where_to_report_it(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    make_fail(monkeypatch, error("of the program"))
    assert main(["rate", "a run"]) == 1
    shown = capsys.readouterr().err
    assert "Traceback (most recent call last)" in shown
    assert "of the program" in shown
    assert shown.splitlines()[-1].startswith(
        f"helsinki rate: this is a bug in helsinki-env {helsinki_env.__version__},"
    )
    assert "Please report it" in shown
    assert shown.endswith("helsinki rate 'a run'\n")
    monkeypatch.setenv("HELSINKI_DEBUG", "1")
    with pytest.raises(error):
        main(["rate", "a run"])


@pytest.mark.parametrize("error", [UserError, MissingExtraError, OSError])
def test_what_users_can_mend_is_one_line(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    make_fail(monkeypatch, error("of the user"))
    assert main(["rate", "a run"]) == 2
    assert capsys.readouterr().err == "helsinki rate: of the user\n"


def test_errors_of_the_project_are_errors_of_users() -> None:
    """One that derives from ValueError alone, or is a plain one in a command, would be shown as a fault."""
    root = Path(helsinki_env.__file__).resolve().parents[1]
    for folder in ("helsinki_env", "agents", "training"):
        for path in (root / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            own = set(re.findall(r"^class (\w+)\(ValueError\)", text, re.MULTILINE))
            assert own <= {"UserError"}, path
            if "commands" in path.parts:
                assert "raise ValueError(" not in text, path
