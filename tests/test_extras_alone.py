"""Each extra alone, in a new environment, suffices for its features; without it one line names it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from helsinki_env.utils.extras import EXTRAS
from tests.support.blocks import ROOT, clone, run_shell
from tests.test_extras import FREE, NEEDING, assert_named

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(3600)]

TRAINING = """
minutes: 60
precision: float32
network: {width: 32, seat: 16, seat_hidden: 16, blocks: 1}
pretraining: {samples: 1500, games: 12}
ppo: {total_timesteps: 1500, num_envs: 12, num_steps: 16, fixed_opponent_fraction: 0.25, minibatch_size: 128}
promotion: {deals: 16, parallel_deals: 16}
evaluation: {times: 2, games: 4, final_games: 4, opponents: [random]}
"""
STUDY = """
seed: 1
classes: [{player: greedy, games: {2: 1200}}, {player: random, games: {2: 1200}}]
qualification: {reference: random, games: 40}
quality: 24
"""
PIXELS = """
from helsinki_env import helsinki_v0
env = helsinki_v0.env(render_mode="rgb_array")
env.reset()
assert env.render().shape[2] == 3
"""
PLAYING = """
from pathlib import Path
from tests.support.server import decide_first, seated, serving
with serving(Path("played")) as server:
    with seated(server, server.make("human", "net")["table"]) as (line, view):
        assert decide_first(line, view)["number"] == 1
"""
OPENENV = """
from helsinki_env.openenv import TextGameAction, TextGameEnvironment
env = TextGameEnvironment()
env.reset(seed=1, opponents=["net"])
assert not env.step(TextGameAction(text="0")).error
"""
OPENSPIEL = """
import helsinki_env.openspiel, pyspiel
assert pyspiel.load_game("helsinki").num_players() == 2
"""
TENSORS = """
import helsinki_env.cuda.device
from helsinki_env import HelsinkiTorchEnv
env = HelsinkiTorchEnv(2, device="cpu")
env.reset(seed=0)
env.step(env.sample())
"""
#: What each extra must be enough for, in real commands of small numbers; in the folder lie training.yaml, study.yaml,
#: games.jsonl and model.onnx.
ENOUGH = {
    "train": [
        "helsinki train --preset training.yaml --out run",
        "helsinki simulate --players net,net:run,net+search:2 --games 6",
        "tensorboard --inspect --logdir run",
        "python -c \"from helsinki_env.training.learning_curve import draw_curve; assert '<svg' in draw_curve('run')\"",
    ],
    "export": [
        "helsinki export agents/helsinki/shipped.safetensors --out exported.onnx --positions 200",
        "helsinki simulate --players net:exported.onnx,net --games 4",
    ],
    "onnx": ["helsinki simulate --players net:model.onnx,net+search:2:model.onnx --games 4"],
    "stats": [
        "helsinki arena --players random,greedy --games 40 --num-players 3 --out arena",
        "helsinki rate arena --out arena/report --resamples 100",
        "helsinki rate arena --better greedy,random",
        "helsinki ladder example --run ladder --out ladder/ladder.md --resamples 100",
        "helsinki dataset --players greedy --games 4 --out data",
        "helsinki balance run study.yaml --out study",
        "helsinki balance report study --out study/report",
    ],
    "ray": ["helsinki arena --games 40 --ray --processes 1 --out rayed", "helsinki rate rayed --resamples 100"],
    "render": [
        "helsinki replay games.jsonl --png game.png",
        f"python -c '{PIXELS}'",
    ],
    "cma": ["python -m helsinki_env.training.tune_heuristic --generations 1 --deals 4 --players 2"],
    "sb3": [
        "python -m helsinki_env.training.sb3 --total-timesteps 4096 --games 20 --out sb3.zip",
        "python benchmarks/training_speed.py --rounds 1 --preset training.yaml",
    ],
    "cuda": [f"python -c '{TENSORS}'"],
    "play": [f"python -c '{PLAYING}'"],
    "mcp": ["helsinki mcp --data served < /dev/null"],
    "openenv": [
        f"python -c '{OPENENV}'",
        # The extra dev excludes openenv, so these tests run only here. The client does not wait for the compiler.
        "pip install -c constraints.txt hypothesis pytest pytest-timeout pytest-xdist",
        "helsinki compile --parts games,game,greedy,heuristic",
        'CI= python -m pytest -n 0 -m "not nightly" tests/test_openenv.py',
    ],
    "openspiel": [f"python -c '{OPENSPIEL}'"],
    "minari": ["MINARI_DATASETS_PATH=minari helsinki dataset --games 4 --minari greedy-v0 --out data"],
    "notebooks": [
        "jupyter lab --version",
        "for page in notebooks/*.ipynb; do jupyter execute $page; done",
    ],
    "docs": ["mkdocs build --strict"],
}
ENOUGH["all"] = [
    command for extra in ("export", "play", "mcp", "ray", "render", "cma", "sb3") for command in ENOUGH[extra]
]
ENOUGH["all"] += [*ENOUGH["train"], *ENOUGH["onnx"], *ENOUGH["stats"]]
ENOUGH["dev"] = ["ruff check .", "mypy", "python -m pytest -q tests/test_config.py", *ENOUGH["notebooks"][:1]]


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Input files of the commands."""
    from helsinki_env.agents.net.export import export_network
    from helsinki_env.evaluation.match import play_match
    from helsinki_env.records import write_records

    folder = tmp_path_factory.mktemp("material")
    (folder / "training.yaml").write_text(TRAINING)
    (folder / "study.yaml").write_text(STUDY)
    write_records(folder / "games.jsonl", play_match(["random", "greedy"], games=4).records())
    export_network(ROOT / "agents" / "helsinki" / "shipped.safetensors", folder / "model.onnx", positions=50)
    return folder


@pytest.fixture
def folder(tmp_path: Path, material: Path) -> Iterator[Path]:
    """A clone with nothing installed, and what commands read."""
    with clone(tmp_path / "clone") as made:
        shutil.copytree(material, made, dirs_exist_ok=True)
        yield made


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_is_enough_alone(extra: str, folder: Path) -> None:
    run_shell(f'pip install -c constraints.txt -e ".[{extra}]"', folder)
    run_shell("pip check", folder)
    for command in ENOUGH[extra]:
        run_shell(command, folder)


def test_without_extras_one_line_names_what_is_missing(folder: Path) -> None:
    run_shell("pip install -c constraints.txt -e .", folder)
    run_shell("pip check", folder)
    for command in [*FREE, "helsinki bench --seconds 0.02 --batches 64 --threads 1", "helsinki compile"]:
        run_shell(command, folder)
    for extra, command in NEEDING:
        errors = run_shell(command, folder, status=2)[1]
        assert_named(extra, command, 2, errors, f'pip install -c constraints.txt -e ".[{extra}]"')
