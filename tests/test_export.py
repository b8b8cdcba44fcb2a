"""Exported networks act as PyTorch does, play without it, and are rejected with a reason if they do not fit."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from safetensors.torch import load_file

from helsinki_env.agents.net import export
from helsinki_env.agents.net.checkpoint import load_checkpoint, save_checkpoint
from helsinki_env.agents.net.description import DESCRIPTION_KEY, CheckpointError
from helsinki_env.agents.net.export import compare_models, export_network
from helsinki_env.agents.net.features import feature_offsets
from helsinki_env.agents.net.make import bundled_networks
from helsinki_env.agents.net.network import Network, NetworkConfig, NetworkOutput, TorchModel
from helsinki_env.agents.net.onnx import PREFERENCE_KEY, OnnxModel, load_onnx
from helsinki_env.agents.net.player import INFERENCE_BATCH, NetPlayer, inference_batches
from helsinki_env.cli.main import main
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.spec import config_from_dict, spec_by_name
from helsinki_env.evaluation.match import play_match

SMALL = NetworkConfig(seat_hidden=8, seat=8, width=16, blocks=1)
Output = pytest.CaptureFixture[str]

pytestmark = [pytest.mark.thorough, pytest.mark.skipif(not JIT, reason="too slow")]


def network(seed: int = 0) -> Network:
    """A small network with evaluations of its own on everything, and no two weights that are equal by chance."""
    torch.manual_seed(seed)
    model = Network(config=SMALL)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.1)
    return model.eval()


def write(path: Path, model: Network) -> Path:
    description = {"game": {"num_players": 2}, "network": asdict(model.config), "preset": "none"}
    return save_checkpoint(path, model, description)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("run") / "best.safetensors", network())


@pytest.fixture(scope="module")
def original(checkpoint: Path) -> Path:
    path = checkpoint.with_name("model.onnx")
    export_network(checkpoint, path, positions=100)
    return path


@pytest.fixture
def model(original: Path, tmp_path: Path) -> Path:
    """A copy to be damaged."""
    path = tmp_path / "model.onnx"
    path.write_bytes(original.read_bytes())
    return path


# actions


@pytest.mark.parametrize("positions", [2_000, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_a_model_prefers_what_the_checkpoint_prefers(positions: int, checkpoint: Path, original: Path) -> None:
    seen: list[int] = []
    agreement = compare_models(checkpoint, original, positions=positions, seed=1, progress=seen.append)
    assert agreement.decisions == sum(seen) == positions
    assert agreement.differ == 0
    assert agreement.ties <= positions // 1000
    assert 0 < agreement.largest < 1e-3


def test_the_comparison_notices_another_network(original: Path, tmp_path: Path) -> None:
    agreement = compare_models(write(tmp_path / "other.safetensors", network(seed=1)), original, positions=500)
    assert agreement.differ > 50
    assert agreement.largest > 0.1


@pytest.mark.nightly
def test_choices_that_are_equally_good_count_as_the_same(tmp_path: Path) -> None:
    model = network()
    with torch.no_grad():
        for head in (model.win, model.trust, model.liking):
            head.weight.zero_()
            head.bias.zero_()
    indifferent = write(tmp_path / "indifferent.safetensors", model)
    with torch.no_grad():
        model.liking.bias.copy_(torch.arange(len(model.liking.bias)) * 0.01)
    choosy = write(tmp_path / "choosy.safetensors", model)
    path = tmp_path / "model.onnx"
    export_network(choosy, path, positions=1)
    agreement = compare_models(indifferent, path, positions=500)
    assert agreement.largest > 10 * export.TIE
    assert agreement.differ == 0
    assert agreement.ties > 50
    # The other way round, the model has no preference and takes the first of choices that are not equally good.
    export_network(indifferent, path, positions=1)
    agreement = compare_models(choosy, path, positions=500)
    assert agreement.differ > 50
    assert agreement.ties == 0


def test_the_decisions_compared_are_from_all_kinds_of_games() -> None:
    from helsinki_env import HelsinkiConfig
    from helsinki_env.games.helsinki.observation import unpack

    batches = list(export._decisions(HelsinkiConfig(), 10_000, 0))
    observation, mask = (np.concatenate([batch[i] for batch in batches]) for i in range(2))
    assert len(mask) == 10_000
    assert mask.sum(axis=1, dtype=np.int64).min() > 1
    seen = unpack(observation)
    table = dict(zip(("players", "seat", "dry_roads", "round", "last_round"), seen["table"].T, strict=False))
    for name, values in (("players", {2, 3, 4}), ("seat", {0, 1, 2, 3}), ("dry_roads", {0, 1}), ("last_round", {0, 1})):
        assert set(table[name].tolist()) == values
    assert table["round"].max() >= 12
    assert seen["covered"].any()
    assert seen["denied"].any()


class Recorder:
    """A session that notes how many positions it is asked together."""

    def __init__(self, session) -> None:
        self.session, self.sizes = session, set[int]()

    def run(self, names, arrays):
        self.sizes |= {len(array) for array in arrays.values()}
        return self.session.run(names, arrays)


def test_a_position_is_assessed_alike_in_any_batch(original: Path) -> None:
    model, _ = load_onnx(original)
    recorder = model._session = Recorder(model._session)
    at = feature_offsets(config_from_dict(model.description["game"]))
    rng = np.random.default_rng(0)
    for players in (2, 3, 4):
        seats = rng.integers(0, 3, (600, players, at.seat[-1]), np.int8)
        table = rng.integers(0, 3, (600, at.table[-1]), np.int8)
        together = model(seats, table)
        assert (together.win_logits[:, players:] < -1e8).all()
        for rows in (slice(0, 1), slice(255, 257), slice(100, 600)):
            alone = model(seats[rows], table[rows])
            for name in ("win_logits", "scores", "trust", "liking"):
                np.testing.assert_array_equal(getattr(alone, name), getattr(together, name)[rows])
    assert INFERENCE_BATCH in recorder.sizes


class OtherBits(Recorder):
    """A session on a processor that adds up in another order for another number of positions."""

    def run(self, names, arrays):
        return [x + np.float32(1e-3) * len(x) for x in super().run(names, arrays)]


def test_batches_have_one_size_if_rounding_depends_on_the_size(original: Path) -> None:
    model, _ = load_onnx(original)
    recorder = model._session = OtherBits(model._session)
    at = feature_offsets(config_from_dict(model.description["game"]))
    rng = np.random.default_rng(0)
    seats = rng.integers(0, 3, (300, 2, at.seat[-1]), np.int8)
    table = rng.integers(0, 3, (300, at.table[-1]), np.int8)
    together = model(seats, table)
    recorder.sizes.clear()
    alone = model(seats[7:8], table[7:8])
    assert recorder.sizes == {INFERENCE_BATCH}
    np.testing.assert_array_equal(alone.scores, together.scores[7:8])


def test_a_single_position_is_not_padded_to_a_full_batch_where_results_are_equal() -> None:
    assert [len(rows) for rows in inference_batches(513, (16, 64, 256))] == [256, 256, 16]
    assert [len(rows) for rows in inference_batches(100, (16, 64, 256))] == [256]
    for size in (1, 16, 17, 255, 256, 300):
        for sizes in ((256,), (16, 32, 64, 128, 256)):
            rows = np.concatenate(inference_batches(size, sizes))
            assert rows[:size].tolist() == list(range(size))
            assert rows.max() < size


PLAY = """
import json, sys

class Gone:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "onnx", "onnxscript", "safetensors"):
            raise ModuleNotFoundError(f"{name} is not to be imported here", name=name)

sys.meta_path.insert(0, Gone())
from helsinki_env.engine.spec import spec_by_name
from helsinki_env.evaluation.match import play_match

results = play_match([sys.argv[1], "heuristic"], games=6, config=spec_by_name(sys.argv[2]).config(), seed=3)
print(json.dumps([game.tolist() for game in results.decisions]))
"""


def without_pytorch(player: str, game: str = "helsinki") -> list[list[int]]:
    command = [sys.executable, "-c", PLAY, player, game]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    decisions: list[list[int]] = json.loads(done.stdout)
    return decisions


def test_a_model_plays_the_same_games_without_pytorch(checkpoint: Path, original: Path) -> None:
    with_pytorch = NetPlayer(TorchModel(load_checkpoint(checkpoint)[0]))
    expected = play_match([with_pytorch, "heuristic"], games=6, seed=3, threads=2)
    assert without_pytorch(f"net:{original}") == [game.tolist() for game in expected.decisions]
    shared = play_match([NetPlayer(OnnxModel(original)), "heuristic"], games=6, seed=3, threads=2)
    assert [game.tolist() for game in shared.decisions] == [game.tolist() for game in expected.decisions]


@pytest.mark.parametrize("game", ["helsinki", "copenhagen"])
def test_the_bundled_network_plays_the_same_games_without_pytorch(game: str) -> None:
    config = spec_by_name(game).config()
    expected = play_match(["net", "heuristic"], games=6, config=config, seed=3)
    assert without_pytorch("net", game) == [decisions.tolist() for decisions in expected.decisions]


@pytest.mark.parametrize("game", ["helsinki", "copenhagen"])
def test_the_exported_bundled_network_is_that_of_its_checkpoint(game: str) -> None:
    path = bundled_networks(spec_by_name(game).config())[""]
    agreement = compare_models(path, path.with_suffix(".onnx"), positions=400)
    assert agreement.differ == 0


# what is in the file


def test_a_model_holds_what_the_checkpoint_says_of_itself(checkpoint: Path, original: Path) -> None:
    network, description = load_checkpoint(checkpoint)
    model, exported = load_onnx(original)
    assert exported == description
    assert exported["preset"] == "none"
    expected = TorchModel(network)
    assert [output.name for output in model._session.get_outputs()] == list(NetworkOutput._fields)
    assert model.sharpness == expected.sharpness
    np.testing.assert_array_equal(model.group, expected.group)


def test_a_model_says_nothing_of_the_machine_it_was_made_on(original: Path) -> None:
    content = original.read_bytes()
    for text in ("network.py", "site-packages", str(Path(export.__file__).parent), "stack_trace"):
        assert text.encode() not in content


def test_the_same_checkpoint_is_exported_to_the_same_bytes(checkpoint: Path, original: Path, tmp_path: Path) -> None:
    export_network(checkpoint, tmp_path / "again.onnx", positions=1)
    assert (tmp_path / "again.onnx").read_bytes() == original.read_bytes()


# rejected models


def reopen(path: Path, *forget: str, description: object = None, preferences: object = None) -> None:
    """Change entries of a model's metadata."""
    model = onnx.load(path)
    entries = {
        entry.key: json.loads(entry.value)
        for entry in model.metadata_props
        if entry.key in (DESCRIPTION_KEY, PREFERENCE_KEY)
    }
    entries[DESCRIPTION_KEY] |= description or {}
    entries[PREFERENCE_KEY] |= preferences or {}
    for key in forget:
        del entries[key]
    onnx.helper.set_model_props(model, {key: json.dumps(value) for key, value in entries.items()})
    onnx.save(model, path)


def flip(path: Path) -> None:
    """Change one bit of a weight."""
    content = bytearray(path.read_bytes())
    weights = max((tensor.raw_data for tensor in onnx.load(path).graph.initializer), key=len)
    content[content.index(weights) + len(weights) // 2] ^= 1
    path.write_bytes(content)


def no_text(path: Path) -> None:
    """Put bytes into the description that are no text."""
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"environment"', b'"\xff\xfe\xff\xferonment"', 1))


def foreign(path: Path, **entries: str) -> None:
    """A model that adds one to its input."""
    value = onnx.helper.make_tensor_value_info
    node = onnx.helper.make_node("Add", ["x", "x"], ["y"])
    x, y = (value(name, onnx.TensorProto.FLOAT, ["N", 3]) for name in "xy")
    graph = onnx.helper.make_graph([node], "other", [x], [y])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=10)
    onnx.helper.set_model_props(model, entries)
    onnx.save(model, path)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda p: p.unlink(), "found no such file; export a checkpoint with"),
        (lambda p: p.write_bytes(b""), "found an incomplete ONNX model"),
        (lambda p: p.write_bytes(b"PK\x03\x04" + bytes(1000)), "found an incomplete ONNX model"),
        (lambda p: p.write_text("a text\n" * 100), "found an incomplete ONNX model"),
        (lambda p: write(p, network()), "found an incomplete ONNX model"),
        (foreign, "found an ONNX model without the description 'helsinki'"),
        (
            lambda p: reopen(p, DESCRIPTION_KEY),
            "found an ONNX model without the description 'helsinki'",
        ),
        (lambda p: reopen(p, description={"types": "many"}), "without the description 'helsinki'"),
        (lambda p: reopen(p, description={"environment": "helsinki_v9"}), "environment: found 'helsinki_v9'"),
        (lambda p: reopen(p, description={"inputs": "0" * 16}), "inputs: found '0000000000000000'"),
        (lambda p: reopen(p, description={"format": 99}), "format: found 99"),
        (lambda p: foreign(p, **{DESCRIPTION_KEY: json.dumps(load_onnx(p)[1])}), "other inputs or outputs"),
        (lambda p: reopen(p, PREFERENCE_KEY), "helsinki_preferences: found a missing or invalid"),
        (lambda p: reopen(p, preferences={"group": [0, 1]}), "helsinki_preferences: found a missing or invalid"),
        (lambda p: reopen(p, preferences={"group": [99] * 554}), "helsinki_preferences: found a missing or invalid"),
        (lambda p: reopen(p, preferences={"sharpness": "high"}), "helsinki_preferences: found a missing or invalid"),
        (no_text, "found metadata that is not UTF-8"),
        (lambda p: flip(p), "an ONNX model that was changed or damaged; copy or export it again"),
    ],
)
def test_a_model_that_does_not_fit_is_refused_with_the_reason(model: Path, damage, message) -> None:
    load_onnx(model)
    damage(model)
    with pytest.raises(CheckpointError, match=message) as caught:
        load_onnx(model)
    assert str(caught.value).startswith(f"{model}: ")


def test_a_model_cut_off_anywhere_is_refused(original: Path) -> None:
    content = original.read_bytes()
    near_the_end = range(len(content) - 5000, len(content), 31)  # the description comes last
    for size in (1, 10, 1000, len(content) // 2, *near_the_end, len(content) - 1):
        with pytest.raises(CheckpointError):
            OnnxModel("model.onnx", content=content[:size])
    OnnxModel("model.onnx", content=content)


# the command


def test_the_command_exports_the_best_network_of_a_run(checkpoint: Path, tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "new" / "model.onnx"
    assert main(["export", str(checkpoint.parent), "--out", str(path), "--positions", "300", "--seed", "2"]) == 0
    shown = capsys.readouterr()
    assert "Compared 300 positions with seed 2: the model prefers the same choice in all" in shown.out
    assert f"Wrote {path} ({path.stat().st_size / 1e6:.2f} MB)" in shown.out
    assert f"--players net:{path},heuristic" in shown.out
    assert shown.err == ""  # nothing of what PyTorch says of itself
    assert compare_models(checkpoint, path, positions=50).differ == 0
    assert [file.name for file in path.parent.iterdir()] == ["model.onnx"]


def test_the_command_exports_the_bundled_network_by_its_name(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "net.safetensors"
    assert main(["export", "net", "--out", str(path), "--positions", "20"]) == 0
    assert "Compared 20 positions" in capsys.readouterr().out
    assert load_checkpoint(path)[1]["preset"] == load_checkpoint(bundled_networks()[""])[1]["preset"]
    assert main(["export", "net:nothing", "--out", str(path), "--positions", "20"]) == 2
    assert "nothing: found no such file" in capsys.readouterr().err


def test_a_checkpoint_of_half_the_size_plays_like_the_original(
    checkpoint: Path, tmp_path: Path, capsys: Output
) -> None:
    path = tmp_path / "half.safetensors"
    assert main(["export", str(checkpoint.parent), "--out", str(path), "--positions", "300", "--seed", "2"]) == 0
    shown = capsys.readouterr().out
    assert "Compared 300 positions with seed 2: the model prefers " in shown
    assert f"Wrote {path} ({path.stat().st_size / 1e6:.2f} MB)" in shown
    tensors, halved = (sum(w.nbytes for w in load_file(file).values()) for file in (checkpoint, path))
    assert halved * 2 == tensors
    (original, said), (half, also) = load_checkpoint(checkpoint), load_checkpoint(path)
    assert said | {"weights": ""} == also | {"weights": ""}
    for a, b in zip(original.state_dict().values(), half.state_dict().values(), strict=True):
        assert b.dtype == torch.float32
        assert torch.equal(b, a.half().float())
    assert len(play_match([f"net:{path}", "random"], games=20, seed=0).scores) == 20


def test_weights_beyond_16_bits_are_not_written(tmp_path: Path) -> None:
    model = network()
    with torch.no_grad():
        model.liking.bias.fill_(1e6)
    out = tmp_path / "half.safetensors"
    with pytest.raises(CheckpointError, match=r"liking.bias: found weights outside the range of float16"):
        export_network(write(tmp_path / "large.safetensors", model), out, positions=20)
    assert not out.exists()


def no_number(path: Path) -> Path:
    model = network()
    with torch.no_grad():
        model.liking.bias.fill_(float("nan"))
    return write(path / "broken.safetensors", model)


def test_what_goes_wrong_leaves_the_file_that_was_there(
    checkpoint: Path, model: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    before = model.read_bytes()
    as_it_is = export._model
    monkeypatch.setattr(export, "_model", lambda _, description: as_it_is(network(seed=1), description))
    for path, positions, message in (
        (checkpoint, 200, "not exported: the model prefers another action in "),
        (model.parent / "none", 200, "none: found no such file; train one with"),
        (model, 200, "out: found "),
        (checkpoint, 0, "--positions: found 0, expected a whole number from 1 to"),
    ):
        assert main(["export", str(path), "--out", str(model), "--positions", str(positions)]) == 2
        assert message in capsys.readouterr().err
    monkeypatch.undo()
    assert main(["export", str(no_number(model.parent)), "--out", str(model), "--positions", "100"]) == 2
    assert "liking.bias: found NaN or infinity" in capsys.readouterr().err
    assert main(["export", str(checkpoint), "--out", str(checkpoint)]) == 2
    assert "expected a file other than the checkpoint" in capsys.readouterr().err
    assert main(["export", str(checkpoint), "--out", str(checkpoint.with_suffix(".model"))]) == 2
    assert "expected a file name that ends in .onnx or .safetensors" in capsys.readouterr().err
    assert model.read_bytes() == before
    assert {file.name for file in model.parent.iterdir()} == {"model.onnx", "broken.safetensors"}
