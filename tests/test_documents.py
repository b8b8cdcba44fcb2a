"""The documentation: its code runs, its generated pages match the code, and its links work.

Every fenced block of the README, CONTRIBUTING and docs/ is found and run; a new one needs no entry here. Python blocks
run in the thorough tests, those of a page in one folder; shell blocks run nightly, those of a page in a copy of the
repository and a new environment, which has what the page installs and no more. What needs other packages is run by
tests/test_training_elsewhere.py, the README's commands by .ci/run.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
import zlib
from pathlib import Path

import pytest
import yaml

import helsinki_env
from helsinki_env import helsinki_v0
from helsinki_env.agents.registry import player_names
from helsinki_env.cli.main import COMMANDS
from helsinki_env.pages import ALL_PAGES as GENERATED
from tests.support.blocks import PAGES, ROOT, SHORTER, Block, blocks, clone, run_shell, shortened
from tests.test_layers import FILES, name_of

README = (ROOT / "README.md").read_text(encoding="utf-8")
#: The package itself, whose names are those of others, and the folders that it links to.
LINKED = {"helsinki_env", "helsinki_env.agents", "helsinki_env.training"}
#: Modules that serve others: commands and their options, files, drawing, and kernels that the public ones call.
INTERNAL = re.compile(
    r"helsinki_env\.(bench|cli|cuda|data|drawing|mcp|notation|openenv|pages|utils|web)\b"
    r"|helsinki_env\.dataset\.minari$"
    r"|helsinki_env\.engine\."
    r"(?!(configuration|contract|determinization|game|kernel|layout|loops|overloads|playout|spec|states|ui_actions)$)"
    r"|helsinki_env\.envs\.(?!(aec|by_options|flat|global_state|seat|tensors|vector)$)"
    r"|helsinki_env\.games\.\w+\."
    r"(?!(components|config|episodes|game|notation|observation|position|render|render\.ansi\.ansi|ui_actions)$)"
    r"|helsinki_env\.mini\.(openspiel|study)$"
    r"|helsinki_env\.text\.(?!environment$)\w+$"
    r"|helsinki_env\.agents\.(rows|program\.supervisor|heuristic\.playouts|mlp\.inputs)$"
    r"|helsinki_env\.agents\.(net\.(afterstates|choices|evaluation|features))$"
    r"|helsinki_env\.agents\.search\.(flat|playout|tree|workspace)$"
    r"|helsinki_env\.agents\.(helsinki|copenhagen)\.(?!(forced|greedy|weights)$)"
)
REFERENCE = re.findall(
    r"^::: ([\w.]+)$",
    "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "reference").glob("*.md")),
    re.MULTILINE,
)
PLAYERS = (ROOT / "docs" / "players.md").read_text(encoding="utf-8")
ALL = {path.relative_to(ROOT).as_posix(): blocks(path) for path in PAGES}
#: What is shown, not run; tests/test_text_program.py runs the block of JavaScript.
SHOWN = {"toml", "text", "javascript"}
ELSEWHERE = "docs/training-elsewhere.md"
HERE = {page: found for page, found in ALL.items() if page != ELSEWHERE}
PYTHON = {page: [block for block in found if block.language == "python"] for page, found in HERE.items()}


def is_setup(block: Block) -> bool:
    """Whether it is one of the README's two commands, which .ci/run takes from there, each into a new environment."""
    return block.text.startswith("python3.11 -m venv .venv && ")


SHELL = {
    page: [block.text for block in found if block.language == "bash" and not is_setup(block)]
    for page, found in HERE.items()
    if page != "README.md"
}


@pytest.mark.thorough
@pytest.mark.parametrize("page", [page for page, found in PYTHON.items() if found])
def test_python_blocks_run(
    page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each by itself, in one folder: a later one finds there what earlier ones wrote."""
    monkeypatch.chdir(tmp_path)
    for block in PYTHON[page]:
        exec(compile(block.text, str(block), "exec"), {"__name__": "__main__"})
        if "print(" in block.text:
            printed = capsys.readouterr().out
            assert printed.strip(), block
            for value in re.findall(r"print\(.*\)  # ([\d(\[].*)", block.text):
                assert value in printed.splitlines(), block


def test_yaml_blocks_are_presets(tmp_path: Path) -> None:
    from helsinki_env.training.preset import Preset

    presets = [block for found in ALL.values() for block in found if block.language == "yaml"]
    assert presets
    for block in presets:
        (tmp_path / "mine.yaml").write_text(block.text, encoding="utf-8")
        Preset.from_yaml(tmp_path / "mine.yaml")


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("page", [page for page, found in SHELL.items() if found])
def test_shell_blocks_run(page: str, tmp_path: Path) -> None:
    """The blocks of a page in order; the network in the box is a run there, unless the page makes one."""
    whole = "".join(SHELL[page])
    with clone(tmp_path / "clone") as folder:
        if "pip install" not in whole:
            run_shell("pip install -c constraints.txt -e .", folder)
        if "train --preset quick" not in whole:
            run_shell("mkdir -p runs/quick; cp agents/helsinki/shipped.safetensors runs/quick/best.safetensors", folder)
        for commands in SHELL[page]:
            run_shell(shortened(commands), folder)


def test_every_block_is_checked_somewhere() -> None:
    """A block in a language that nothing runs, or a command that hides as an indented block, would never be tried."""
    setups = [block.text for block in ALL["README.md"] if is_setup(block)]
    assert len(setups) == 2
    for found in ALL.values():
        for block in found:
            known = {"python", "bash", "yaml", *SHOWN}
            assert block.language in known, f"{block}: is it run? Then say in which language"
            assert not is_setup(block) or block.text in setups, f"{block}: differs from the README's command"
    written = "".join(block.text for found in ALL.values() for block in found)
    assert all(re.search(pattern, written) for pattern, _ in SHORTER)
    # by which command a report was made, which takes hours; the tests of each command play small ones
    reports = (
        "helsinki ladder ",
        "helsinki balance effects ",
        "helsinki balance sensitivity ",
        "helsinki balance search ",
    )
    for path in PAGES:
        outside = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        hidden = re.findall(r"^\s*(?:    |\$ )((?:helsinki|pip|python|\.venv/bin/\w+) .*)$", outside, re.MULTILINE)
        assert [line for line in hidden if not line.startswith(reports)] == [], path


def test_the_extras_that_are_named_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for path in PAGES:
        for names in re.findall(r'-e "?\.\[([^\]]*)\]', path.read_text(encoding="utf-8")):
            assert set(names.split(",")) <= set(extras), f"{path.name} names {names}"


def test_the_readme_is_short() -> None:
    assert len([word for word in README.split() if re.search(r"\w", word)]) <= 900
    for line in README.splitlines():
        cells = [re.sub(r"\]\([^)]*\)", "", cell).strip() for cell in line.split("|")[1:-1]]
        assert all(len(cell) <= 60 for cell in cells), line


def test_the_fact_tables_are_those_of_the_environment() -> None:
    env = helsinki_v0.env()
    agent = env.possible_agents[0]
    observation = env.observation_space(agent)
    assert f"`{env.action_space(agent)}`" in README
    assert f"`{observation['observation'].shape}`" in README
    page = (ROOT / "docs" / "helsinki.md").read_text(encoding="utf-8")
    assert f"`{env.action_space(agent)}`" in page
    for name in ("observation", "action_mask"):
        assert f"`{observation[name].shape}`" in page
    assert not env.metadata["is_parallelizable"]
    assert "Parallel API | no" in page
    assert all(f'`"{reward}"`' in page for reward in ("win", "rank", "margin"))


@pytest.mark.parametrize("name", ["helsinki", "copenhagen"])
def test_every_argument_of_the_environments_is_described(name: str) -> None:
    """Arguments of the AEC environment are on the page of the game; those of the other classes on one page for all."""
    module = importlib.import_module(f"helsinki_env.{name}_v0")
    page, classes = ((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8") for page in (name, "environment"))
    options = {*inspect.signature(module.raw_env).parameters, *module.raw_env.game_spec.config.keys()}
    assert all(f"\n| `{option}` |" in page for option in options - {"options", "config"})
    assert "`config=`" in classes
    for kind in ("VectorEnv", "SeatEnv", "SeatVectorEnv", "TorchEnv"):
        for argument in inspect.signature(getattr(helsinki_env, f"{name.capitalize()}{kind}")).parameters:
            assert argument in options or re.search(rf"(\n\| .*|)`{argument}=?`", classes), (kind, argument)


def test_every_info_key_of_a_batch_is_described() -> None:
    page = (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")
    section = page.split("## Returned values")[1].split("\n## ")[0]
    for env in (
        helsinki_env.HelsinkiVectorEnv(32, autoreset_mode="SameStep"),
        helsinki_env.HelsinkiSeatVectorEnv(32, autoreset_mode="SameStep"),
    ):
        obs, info = env.reset(seed=0)
        keys = set(info)
        for _ in range(200):
            obs, _, _, _, info = env.step(obs["action_mask"].argmax(axis=1))
            keys |= set(info)
        assert "final_obs" in keys
        assert all(f"`{key}`" in section for key in keys if not key.startswith("_")), keys


def test_every_info_key_of_a_single_game_is_described() -> None:
    page = (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")
    section = page.split("## Returned values")[1].split("\n## ")[0]
    keys: set[str] = set()
    for module in (helsinki_v0, helsinki_env.copenhagen_v0):
        game = module.env()
        game.reset(seed=0)
        for _ in game.agent_iter():
            observation, _, ended, _, info = game.last()
            keys |= set(info)
            game.step(None if ended else observation["action_mask"].argmax())
        game.reset(seed=0)
        with pytest.warns(UserWarning, match="illegal"):
            game.step(int(game.last()[0]["action_mask"].argmin()))
        keys |= {key for agent in game.agents for key in game.infos[agent]}
    assert {"scores", "places", "illegal_action"} <= keys
    for seat in (helsinki_env.HelsinkiSeatEnv(), helsinki_env.CopenhagenSeatEnv()):
        obs, info = seat.reset(seed=0)
        ended = False
        while not ended:
            keys |= set(info)
            obs, _, ended, _, info = seat.step(obs["action_mask"].argmax())
        keys |= set(info)
    assert all(f"`{key}`" in section for key in keys), keys


def test_every_info_key_of_tensors_is_described() -> None:
    pytest.importorskip("torch")
    page = (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")
    section = page.split("## Returned values")[1].split("\n## ")[0]
    env = helsinki_env.HelsinkiTorchEnv(4, device="cpu")
    _, info = env.reset(seed=0)
    keys = set(info) | set(env.step(env.sample())[4])
    assert all(f"`{key}`" in section for key in keys), keys


def test_every_public_name_is_in_the_reference() -> None:
    """What a module exports is on a page of the reference, unless only the project itself imports it."""
    missing = []
    for path in FILES:
        module = name_of(path)
        exports = re.search(r"^__all__ = ", path.read_text(encoding="utf-8"), re.MULTILINE)
        if exports and module not in LINKED and not INTERNAL.match(module) and module not in REFERENCE:
            missing.append(module)
    assert not missing, "show them in docs/reference, or name them in INTERNAL"
    assert not [module for module in REFERENCE if INTERNAL.match(module)]


@pytest.mark.nightly
def test_the_site_shows_every_public_name(tmp_path: Path) -> None:
    """As the reference is built without importing anything, names made in unusual ways could be missing."""
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True)
    inventory = (tmp_path / "objects.inv").read_bytes().split(b"\n", 4)[-1]
    shown = {line.split()[0] for line in zlib.decompress(inventory).decode().splitlines()}
    assert shown >= set(REFERENCE)
    for name in REFERENCE:
        if name.endswith(".render.ansi.ansi"):  # a function whose module has its name
            continue
        for public in getattr(importlib.import_module(name), "__all__", ()):
            assert f"{name}.{public}" in shown or f"{name}.{public}.{public}" in shown, f"{name}.{public}"
    for page in tmp_path.rglob("*.html"):
        fetched = re.findall(
            r"""<(?:script|link|img)[^>]*(?:src|href)="?(?:https?:)?//""", page.read_text(encoding="utf-8")
        )
        assert not fetched, f"{page.name} needs a network"


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == helsinki_env.__version__
    assert all(reference["title"] and reference["authors"] for reference in citation["references"])


def test_every_command_is_described() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"| `{name}`" in page


def test_every_page_is_in_the_index() -> None:
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for path in (ROOT / "docs").glob("*.md"):
        assert path.name == "index.md" or f"({path.name}" in page, path.name


def test_every_player_is_described() -> None:
    for name in player_names():
        assert f"| `{name}" in PLAYERS


def test_the_first_example_is_short() -> None:
    code = PYTHON["README.md"][0].text
    assert len(code.strip().splitlines()) <= 12


@pytest.mark.parametrize("name", GENERATED)
def test_generated_pages_are_those_of_the_code(name: str) -> None:
    written = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert written == GENERATED[name](), f"docs/{name} is stale: python -m helsinki_env.pages docs"


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip()) for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_to_files_and_headings_that_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", text):
        if target.startswith(("http://", "https://")):
            continue
        path = page.parent / target if target else page
        assert path.exists(), f"{page.name} points to {target}"
        if anchor and path.suffix == ".md":
            assert anchor in anchors(path), f"{page.name} points to {target}#{anchor}"


@pytest.mark.parametrize(
    "module",
    [
        "helsinki_env",
        "helsinki_env.games.copenhagen.game",
        "helsinki_env.games.copenhagen.notation",
        "helsinki_env.games.copenhagen.observation",
        "helsinki_env.games.copenhagen.determinization",
        "helsinki_env.games.copenhagen.state_from_observation",
        "helsinki_env.games.helsinki.game",
        "helsinki_env.games.helsinki.notation",
        "helsinki_env.games.helsinki.observation",
        "helsinki_env.games.helsinki.determinization",
        "helsinki_env.games.helsinki.state_from_observation",
        "helsinki_env.envs.seat",
        "helsinki_env.envs.tensors",
        "helsinki_env.envs.vector",
        "helsinki_env.copenhagen_v0",
        "helsinki_env.engine.overloads",
        "helsinki_env.helsinki_v0",
        "helsinki_env.records",
        "helsinki_env.agents.base",
    ],
)
def test_examples_in_docstrings_run(module: str) -> None:
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0
    assert result.failed == 0
