"""Evaluate exported networks with onnxruntime and NumPy, without PyTorch; `net.export` writes the files."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import Int8Array, Int64Array
from helsinki_env.agents.net.description import (
    DESCRIPTION_KEY,
    CheckpointError,
    check_readable,
    parse_description,
    uses_lookahead,
)
from helsinki_env.agents.net.features import feature_offsets
from helsinki_env.agents.net.player import BatchedModel
from helsinki_env.data import parse_json
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.spec import config_from_dict, spec_of
from helsinki_env.utils.extras import requires_extra

with requires_extra("onnx"):
    import onnxruntime

__all__ = ["INPUT_NAMES", "OUTPUT_NAMES", "PREFERENCE_KEY", "OnnxModel", "load_onnx", "prepend_digest"]

INPUT_NAMES = ("seats", "table")
"""Inputs, as in `helsinki_env.agents.net.afterstates.AfterstateBatch`."""
OUTPUT_NAMES = ("win_logits", "scores", "trust", "liking")
"""Outputs, as in `helsinki_env.agents.net.player.NumpyOutput`."""
PREFERENCE_KEY = "helsinki_preferences"
"""Metadata entry with the remaining parameters of preferences: JSON with `sharpness` and `group`."""

_DIGEST_KEY = "helsinki_digest"


class OnnxModel(BatchedModel):
    """An `InferenceModel` that evaluates an exported network.

    Args:
        path: path of the file.
        content: content of the file, if it has already been read or has not been written yet.

    Attributes:
        description: description of the network (`helsinki_env.agents.net.description`).

    Raises:
        CheckpointError: if the file is missing, damaged, modified, invalid, or for a different environment.
    """

    def __init__(self, path: str | Path, content: bytes | None = None) -> None:
        path = Path(path)
        if content is None:
            check_readable(path, "export a checkpoint with 'helsinki export CHECKPOINT --out model.onnx'")
            content = path.read_bytes()
        self._session = _open(path, content)
        entries = _entries(path, self._session)
        description = parse_description(path, entries.get(DESCRIPTION_KEY), "an ONNX model")
        if _DIGEST_KEY in entries and prepend_digest(content[_DIGEST_BYTES:]) != content:
            raise CheckpointError(f"{path}: found an ONNX model that was changed or damaged; copy or export it again")
        self.description = dict(description.value)
        with description["game"].prefix_errors():
            config = config_from_dict(description["game"].value)
        self.ahead = uses_lookahead(self.description)
        groups = _check_shapes(path, self._session, config, self.ahead)
        ids = spec_of(config).num_actions(config)
        self.sharpness, self.group = _read_preferences(path, entries.get(PREFERENCE_KEY), ids, groups)

    def evaluate_batch(self, seats: Int8Array, table: Int8Array) -> list[npt.NDArray[np.float32]]:
        """Evaluate a batch; see `BatchedModel`."""
        outputs: list[npt.NDArray[np.float32]] = self._session.run(OUTPUT_NAMES, {"seats": seats, "table": table})
        return outputs


def load_onnx(path: str | Path) -> tuple[OnnxModel, dict[str, Any]]:
    """Load an exported network and its description; raise the same errors as `OnnxModel`."""
    model = OnnxModel(path)
    return model, model.description


def prepend_digest(model: bytes) -> bytes:
    """Prepend a model's digest to the model, as a metadata entry, which Protobuf allows anywhere."""
    value = hashlib.sha256(model).hexdigest()[:16].encode()
    pair = b"".join(bytes((tag, len(text))) + text for tag, text in ((0x0A, _DIGEST_KEY.encode()), (0x12, value)))
    return bytes((0x72, len(pair))) + pair + model


_DIGEST_BYTES = len(prepend_digest(b""))


def _open(path: Path, content: bytes) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = (
        1  # same results on machines with the same type of CPU
    )
    options.use_deterministic_compute = True
    options.log_severity_level = 4  # the exception states the reason
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as problem:  # onnxruntime's exceptions have no common base class
        raise CheckpointError(f"{path}: found an incomplete ONNX model ({problem}); copy or export it again") from None


def _entries(path: Path, session: Any) -> dict[str, str]:
    """Return the model's metadata as a dictionary."""
    try:
        found: dict[str, str] = session.get_modelmeta().custom_metadata_map
    except UnicodeDecodeError:
        raise CheckpointError(f"{path}: found metadata that is not UTF-8; export it again") from None
    return found


def _check_shapes(path: Path, session: Any, config: Any, ahead: bool) -> int:
    """Check the inputs and outputs, and return the number of action groups."""
    at = feature_offsets(config, ahead)
    found = {
        x.name: (x.type, tuple(size if isinstance(size, int) else 0 for size in x.shape))  # 0: any size
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
        raise CheckpointError(f"{path}: found an ONNX model with other inputs or outputs than networks of this project")
    return groups


def _read_preferences(path: Path, text: str | None, ids: int, groups: int) -> tuple[float, Int64Array]:
    """Return the sharpness and the group of each action, int64 (A,)."""
    try:
        content = parse_json(text or "", CheckpointError).mapping()
        numbers = content["group"].entries("groups", length=ids)
        group = np.array([number.integer(0, groups - 1) for number in numbers], np.int64)
        return float(content["sharpness"].number(0, inside=True)), group
    except CheckpointError as problem:
        raise CheckpointError(
            f"{path}: {PREFERENCE_KEY}: found a missing or invalid entry ({problem}); export it again"
        ) from None
