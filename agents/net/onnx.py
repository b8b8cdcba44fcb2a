"""Evaluate an exported network with onnxruntime and NumPy, without PyTorch; `net.export` writes the files."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.net.description import (
    DESCRIPTION_KEY,
    CheckpointError,
    check_exists,
    parse_description,
    uses_lookahead,
)
from helsinki_env.agents.net.features import feature_offsets
from helsinki_env.agents.net.player import NumpyOutput, inference_batches
from helsinki_env.data import parse_json
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.spec import config_from_dict, spec_of
from helsinki_env.utils.extras import requires_extra

with requires_extra("onnx"):
    import onnxruntime

__all__ = ["INPUT_NAMES", "OUTPUT_NAMES", "PREFERENCE_KEY", "OnnxModel", "load_onnx", "prepend_digest"]

INPUT_NAMES = ("seats", "table")
"""As `helsinki_env.agents.net.afterstates` writes positions, in that order."""
OUTPUT_NAMES = ("win_logits", "scores", "trust", "liking")
"""As `helsinki_env.agents.net.player.NumpyOutput` has them, in that order."""
PREFERENCE_KEY = "helsinki_preferences"
"""The entry of the metadata with what preferences are worked out from besides: JSON with `sharpness` and `group`."""

_DIGEST_KEY = "helsinki_digest"


class OnnxModel:
    """An exported network.

    Args:
        path: the file.
        threads: processor threads for one question. With a single one, the last bits are the same everywhere where the
            processor is.
        content: what the file holds, where it has been read already, or is not written yet.

    Attributes:
        description: what the file says of the network, see `helsinki_env.agents.net.description`.

    Raises:
        CheckpointError: if the file is missing, broken, changed, no such model, or of another environment.
    """

    def __init__(self, path: str | Path, threads: int = 1, content: bytes | None = None) -> None:
        path = Path(path)
        if content is None:
            check_exists(path, "export a checkpoint with 'helsinki export CHECKPOINT --out model.onnx'")
            content = path.read_bytes()
        self._session = _open(path, content, threads)
        entries = _entries(path, self._session)
        description = parse_description(path, entries.get(DESCRIPTION_KEY), "an ONNX model")
        if _DIGEST_KEY in entries and prepend_digest(content[_SEAL:]) != content:
            raise CheckpointError(f"{path}: an ONNX model that was changed or damaged; copy or export it again")
        self.description = dict(description.value)
        with description["game"].prefix_errors():
            config = config_from_dict(description["game"].value)
        self.ahead = uses_lookahead(self.description)
        groups = _check_shapes(path, self._session, config, self.ahead)
        ids = spec_of(config).num_actions(config)
        self.sharpness, self.group = _read_preferences(path, entries.get(PREFERENCE_KEY), ids, groups)

    def __call__(self, seats: npt.NDArray[np.int8], table: npt.NDArray[np.int8]) -> NumpyOutput:
        """Assess positions, int8 (N, P, S) and int8 (N, G); each on its own, whatever it is asked together with."""
        parts = [
            self._session.run(OUTPUT_NAMES, {"seats": seats[rows], "table": table[rows]})
            for rows in inference_batches(len(table))
        ]
        return NumpyOutput(
            *(np.concatenate([part[i] for part in parts])[: len(table)] for i in range(len(OUTPUT_NAMES)))
        )


def load_onnx(path: str | Path) -> tuple[OnnxModel, dict[str, Any]]:
    """Return an exported network, ready to play, and its description.

    Raises:
        CheckpointError: if the file is missing, broken, no such model, or of another environment.
    """
    assessor = OnnxModel(path)
    return assessor, assessor.description


def prepend_digest(model: bytes) -> bytes:
    """Return a model with its digest in front: an entry of the metadata like the others, as Protobuf allows."""
    value = hashlib.sha256(model).hexdigest()[:16].encode()
    pair = b"".join(bytes((tag, len(text))) + text for tag, text in ((0x0A, _DIGEST_KEY.encode()), (0x12, value)))
    return bytes((0x72, len(pair))) + pair + model


_SEAL = len(prepend_digest(b""))


def _open(path: Path, content: bytes, threads: int) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.use_deterministic_compute = True
    options.log_severity_level = 4  # what is wrong is said by the error
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as problem:  # it has errors of its own, without a common base
        raise CheckpointError(f"{path}: not a whole ONNX model ({problem}); copy or export it again") from None


def _entries(path: Path, session: Any) -> dict[str, str]:
    """Return what the model says of itself, by key."""
    try:
        found: dict[str, str] = session.get_modelmeta().custom_metadata_map
    except UnicodeDecodeError:
        raise CheckpointError(f"{path}: an ONNX model whose description is not in UTF-8; export it again") from None
    return found


def _check_shapes(path: Path, session: Any, config: Any, ahead: bool) -> int:
    """Check what goes in and comes out; return the number of groups of decisions."""
    at = feature_offsets(config, ahead)
    found = {
        x.name: (x.type, tuple(size if isinstance(size, int) else 0 for size in x.shape))  # 0: any number
        for x in (*session.get_inputs(), *session.get_outputs())
    }
    groups = found.get("liking", ("", (0,)))[1][-1]
    expected = {
        "seats": ("tensor(int8)", (0, 0, int(at.seat[-1]))),
        "table": ("tensor(int8)", (0, int(at.table[-1]))),
        "win_logits": ("tensor(float)", (0, MAX_SEATS)),
        "scores": ("tensor(float)", (0, MAX_SEATS)),
        "trust": ("tensor(float)", (0, groups)),
        "liking": ("tensor(float)", (0, groups)),
    }
    if found != expected:
        raise CheckpointError(f"{path}: an ONNX model, but with other inputs or outputs than networks of this project")
    return groups


def _read_preferences(path: Path, text: str | None, ids: int, groups: int) -> tuple[float, npt.NDArray[np.int64]]:
    """Return the sharpness, and the group of each decision, int64 (A,)."""
    try:
        content = parse_json(text or "", CheckpointError).mapping()
        numbers = content["group"].entries("groups", length=ids)
        group = np.array([number.integer(0, groups - 1) for number in numbers], np.int64)
        return float(content["sharpness"].number(0, inside=True)), group
    except CheckpointError as problem:
        raise CheckpointError(
            f"{path}: its entry {PREFERENCE_KEY!r} is missing or does not fit ({problem}); export it again"
        ) from None
