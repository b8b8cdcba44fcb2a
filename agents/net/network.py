"""The policy and value network, which derives the preference for an action from the value of its afterstate.

An encoder with shared weights reads the features of every seat. A residual trunk combines the encoded seats, in turn
order, with the features of the table. It predicts every seat's win probability and final score. The logit of an action
has three terms. They are the win probability in its afterstate, the heuristic's advice times a learned trust, and a
learned preference for its kind of action. See `helsinki_env.agents.net.afterstates` for the inputs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import Int8Array
from helsinki_env.agents.net.afterstates import AfterstateBatch, permute_rows
from helsinki_env.agents.net.description import AFTERSTATE_KIND
from helsinki_env.agents.net.features import feature_offsets, game_features
from helsinki_env.agents.net.player import SURE, BatchedModel, NumpyOutput
from helsinki_env.data import Node, UserError
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.spec import default_config, spec_of
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import nn

__all__ = [
    "ABSENT",
    "FACTORY_KWARGS",
    "AfterstateTensors",
    "Block",
    "LayerNorm",
    "Linear",
    "Network",
    "NetworkConfig",
    "NetworkOutput",
    "TorchModel",
    "pad_rows",
    "single_torch_thread",
    "supports_bfloat16",
]

FACTORY_KWARGS: dict[str, Any] = {"dtype": torch.float32, "device": "cpu"}
"""Device and dtype of new weights, regardless of PyTorch's defaults."""
Linear: Callable[..., nn.Linear] = partial(nn.Linear, **FACTORY_KWARGS)
"""`nn.Linear` with the device and dtype of new weights."""
LayerNorm: Callable[..., nn.LayerNorm] = partial(nn.LayerNorm, **FACTORY_KWARGS)
"""`nn.LayerNorm` with the device and dtype of new weights."""

ABSENT = -1e9
"""Logit of an absent seat; its win probability is exactly zero."""
#: Batches are padded to a multiple of this size, because preparing PyTorch for each new size takes as long as
#: evaluating hundreds of rows.
_ROWS = 64
#: Initial sharpness of the preference for better positions, and initial weight per point of the heuristic's advice.
#: With these, an untrained network plays like the heuristic and improves as it learns to evaluate positions.
_SHARPNESS, _TRUST = 12.0, 3.0
#: Limits far above the size of any practical network.
_MAX_UNITS, _MAX_BLOCKS = 8192, 64


def pad_rows(x: torch.Tensor, value: float = 0) -> torch.Tensor:
    """Pad a batch, (N, ...), with constant rows to a multiple of 64, so that few different sizes occur."""
    return nn.functional.pad(x, (0, 0) * (x.dim() - 1) + (0, -len(x) % _ROWS), value=value)


class AfterstateTensors(NamedTuple):
    """An `AfterstateBatch` (`net.afterstates`) on a device; `row`, int64 (C,), is the row of each action.

    Unreferenced afterstates may follow the others (`pad_rows`).
    """

    seats: torch.Tensor
    table: torch.Tensor
    ended: torch.Tensor
    row: torch.Tensor
    action: torch.Tensor
    advice: torch.Tensor
    position: torch.Tensor
    decisions: int

    @classmethod
    def of(cls, inputs: AfterstateBatch, device: torch.device | str = "cpu") -> AfterstateTensors:
        """Copy a batch to a device."""
        arrays = inputs.seats, inputs.table, inputs.ended, inputs.row, inputs.action, inputs.advice, inputs.position
        seats, table, ended, row, action, advice, position = (torch.from_numpy(x).to(device) for x in arrays)
        return cls(
            pad_rows(seats), pad_rows(table), pad_rows(ended, -1.0), row, action.long(), advice, position, len(inputs)
        )


class NetworkOutput(NamedTuple):
    """Network outputs for N positions."""

    win_logits: torch.Tensor  # float32 (N, 4): logits of the win probabilities, the viewer first; `ABSENT` if absent
    scores: torch.Tensor  # float32 (N, 4): expected final points; undefined for absent seats
    trust: torch.Tensor  # float32 (N, groups): weight of the heuristic's advice for each group of actions
    liking: torch.Tensor  # float32 (N, groups): preference for each group of actions


@dataclass(frozen=True)
class NetworkConfig:
    """Size and inputs of the network.

    Args:
        seat_hidden: number of units in the first layer of the seat encoder.
        seat: number of units of an encoded seat.
        width: number of units in each layer of the trunk.
        blocks: number of residual blocks, each with two layers.
        turned: whether every board is presented in canonical orientation, from the side of the seat's token, so that
            the network generalizes across sides. Only for games with rotational symmetry.
        ahead: whether to add look-ahead features for every seat's next turn, in games that define them.
    """

    seat_hidden: int = 192
    seat: int = 96
    width: int = 256
    blocks: int = 2
    turned: bool = False
    ahead: bool = False

    def __post_init__(self) -> None:
        """Check every value."""
        for item in fields(self):
            if item.name in ("turned", "ahead"):
                Node(getattr(self, item.name), UserError, item.name).boolean()
                continue
            least, most = (0, _MAX_BLOCKS) if item.name == "blocks" else (1, _MAX_UNITS)
            Node(getattr(self, item.name), UserError, item.name).integer(least, most)


class Block(nn.Module):
    """Pre-activation residual block (He et al. 2016, "Identity mappings in deep residual networks")."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.inner, self.outer = LayerNorm(width), Linear(width, width), Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return features of the same shape, (N, width)."""
        out: torch.Tensor = x + self.outer(torch.relu_(self.inner(torch.relu_(self.norm(x)))))
        return out


def _scaled(layer: nn.Linear, scale: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Apply a layer to scaled inputs by scaling its weights instead, which is cheaper."""
    return nn.functional.linear(x, layer.weight * scale, layer.bias)


def _permuted(x: torch.Tensor, order: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Permute the last axis, int8 (..., S), by the rows of `order`, int64 (K, S), with the given indices (...)."""
    if not JIT or x.device.type != "cpu" or torch.compiler.is_compiling():
        return x.gather(-1, order[index])
    # `gather` reads an index of eight bytes for every byte that it copies, and takes several times as long.
    out = x.new_empty(x.shape)
    size = x.shape[-1]
    permute_rows(x.reshape(-1, size).numpy(), order.numpy(), index.reshape(-1).numpy(), out.view(-1, size).numpy())
    return out


class Network(nn.Module):
    """Network that predicts a policy over all actions and a value for every seat.

    Args:
        game: game configuration; only its component file is used.
        config: size and inputs of the network.
    """

    kind = AFTERSTATE_KIND
    #: For error messages: name of the player, and a preset that trains such a network.
    player, preset = "net", "quick"

    def __init__(self, game: Any = None, config: NetworkConfig | None = None) -> None:
        super().__init__()
        self.game, self.config = game or default_config(), config or NetworkConfig()
        features = game_features(self.game)
        self.types, c = features.types(self.game), self.config
        self.num_actions = spec_of(self.game).num_actions(self.game)
        self._score_unit, self._score_middle = features.score_unit, features.score_middle
        if c.ahead and features.next_turn_parts is None:
            raise UserError(f"ahead: found True, expected False: {spec_of(self.game).name} has no look-ahead features")
        seat_parts = features.of_seat(self.types, c.ahead)
        seat, table = (
            torch.cat([torch.full((part.size,), 1.0 / part.scale, **FACTORY_KWARGS) for part in parts])
            for parts in (seat_parts, features.table_parts(self.types))
        )
        self.seat_scale: torch.Tensor
        self.table_scale: torch.Tensor
        self.group: torch.Tensor
        self.register_buffer("seat_scale", seat, persistent=False)
        self.register_buffer("table_scale", table, persistent=False)
        group = torch.from_numpy(features.groups(self.types)).long()
        self.register_buffer("group", group, persistent=False)
        if c.turned:
            if features.turning is None:
                raise UserError(
                    f"turned: found True, expected False: {spec_of(self.game).name} has no rotational symmetry"
                )
            turning = features.turning(self.types)
            self._standing = slice(turning.begin, turning.begin + len(turning.side))
            self.side: torch.Tensor
            self.seat_turned: torch.Tensor
            self.table_turned: torch.Tensor
            # Look-ahead features are relative to the token and do not depend on the side.
            stays = np.tile(np.arange(turning.seat.shape[1], len(seat)), (len(turning.seat), 1))
            seen = np.append(turning.seat, stays, axis=1)
            for name, source in {"side": turning.side, "seat_turned": seen, "table_turned": turning.table}.items():
                self.register_buffer(name, torch.from_numpy(source), persistent=False)
        self._present = int(feature_offsets(self.game).seat[[part.name for part in seat_parts].index("present")])
        self.seat_in = Linear(len(seat), c.seat_hidden)
        self.seat_out = Linear(c.seat_hidden, c.seat)
        self.from_seats = Linear(MAX_SEATS * c.seat, c.width)
        self.from_table = Linear(len(table), c.width)
        self.blocks = nn.Sequential(*(Block(c.width) for _ in range(c.blocks)))
        self.norm = LayerNorm(c.width)
        self.win = Linear(c.width, MAX_SEATS)
        self.score = Linear(c.width, MAX_SEATS)
        self.trust = Linear(c.width, int(group.max()) + 1)
        self.liking = Linear(c.width, int(group.max()) + 1)
        self.sharpness = nn.Parameter(torch.tensor(_SHARPNESS, **FACTORY_KWARGS).log())
        for head in (self.win, self.score, self.trust, self.liking):
            nn.init.orthogonal_(head.weight, 0.01)
            nn.init.zeros_(head.bias)
        nn.init.constant_(self.trust.bias, _TRUST)

    def trunk(self, seats: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        """Return the hidden features of positions, (N, width), for inputs int8 (N, P, S) and int8 (N, G)."""
        if self.config.turned:
            seats, table = self._turned(seats, table)
        kind = table.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else torch.float32
        present = seats[:, :, self._present : self._present + 1].to(dtype)
        described = torch.relu_(_scaled(self.seat_in, self.seat_scale, seats.to(dtype)))
        described = (torch.relu_(self.seat_out(described)) * present).flatten(1)
        # Absent seats at the end may be left out of the input.
        from_seats = self.from_seats.weight[:, : described.shape[1]]
        joined = nn.functional.linear(described, from_seats, self.from_seats.bias)
        joined = joined + _scaled(self.from_table, self.table_scale, table.to(dtype))
        return torch.relu_(self.norm(self.blocks(joined)))

    def _turned(self, seats: torch.Tensor, table: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Rotate positions to canonical orientation: each seat from its own side, the table from the viewer's side."""
        side = self.side[seats[:, :, self._standing].float().argmax(2)]  # the first side if there is no token
        return _permuted(seats, self.seat_turned, side), _permuted(table, self.table_turned, side[:, 0])

    def forward(self, seats: torch.Tensor, table: torch.Tensor) -> NetworkOutput:
        """Evaluate positions, int8 (N, P, S) and int8 (N, G)."""
        hidden = self.trunk(seats, table)
        present = nn.functional.pad(seats[:, :, self._present], (0, MAX_SEATS - seats.shape[1]))
        wins = self.win(hidden).float().masked_fill(present == 0, ABSENT)
        scores = self._score_middle + self._score_unit * self.score(hidden).float()
        return NetworkOutput(wins, scores, self.trust(hidden).float(), self.liking(hidden).float())

    def log_probs(self, x: AfterstateTensors, output: NetworkOutput) -> torch.Tensor:
        """Return the log-probability of every action, float32 (C,)."""
        wins = output.win_logits
        merit = wins[:, 0] - torch.logsumexp(wins[:, 1:], 1)  # logit of the viewer's win probability
        merit = torch.where(x.ended < 0, merit, torch.logit(x.ended, 1e-3)).clamp(-SURE, SURE)
        group = self.group[x.action]
        score = self.sharpness.exp() * merit[x.position] + output.liking[x.position, group]
        score = score + output.trust[x.position, group] * x.advice
        highest = score.new_full((x.decisions,), ABSENT).scatter_reduce(0, x.row, score.detach(), "amax")
        score = score - highest[x.row]
        return score - score.new_zeros(x.decisions).index_add(0, x.row, score.exp()).log()[x.row]


_LOCK = threading.Lock()
#: Number of threads inside `single_torch_thread` blocks, and PyTorch's number of threads before the first of them.
_inside, _before = 0, 1


@contextmanager
def single_torch_thread() -> Iterator[None]:
    """Limit PyTorch to one thread inside the block, and restore the number of threads afterwards.

    Small networks do not benefit from more threads, and idle spinning threads make play several times slower on a busy
    machine. With one thread, results are identical on all machines with the same type of CPU.
    """
    global _inside, _before
    with _LOCK:
        current = torch.get_num_threads()  # initializes the thread; a later initialization would undo the limit
        if not _inside:  # another thread inside the block has already changed it
            _before = current
        _inside += 1
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _LOCK:
            torch.set_num_threads(_before)
            _inside -= 1


def supports_bfloat16(device: torch.device | str = "cpu") -> bool:
    """Return whether the hardware multiplies bfloat16 natively."""
    if torch.device(device).type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    capabilities = torch.cpu.get_capabilities()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


class TorchModel(BatchedModel):
    """An `InferenceModel` that evaluates a network with PyTorch.

    Args:
        network: the network; it is set to evaluation mode.
        fast: whether to compute in bfloat16, which is several times as fast with hardware support but slightly less
            precise.
    """

    def __init__(self, network: Network, fast: bool = False) -> None:
        self.network, self.fast = network.eval(), fast
        self.group = network.group.cpu().numpy()
        self.sharpness = float(network.sharpness.detach().exp())
        self.ahead = network.config.ahead
        self._device = network.group.device

    @torch.no_grad()
    def __call__(self, seats: Int8Array, table: Int8Array) -> NumpyOutput:
        """Evaluate positions; see `BatchedModel`."""
        with single_torch_thread(), torch.autocast(self._device.type, torch.bfloat16, enabled=self.fast):
            return super().__call__(seats, table)

    def evaluate_batch(self, seats: Int8Array, table: Int8Array) -> list[npt.NDArray[np.float32]]:
        """Evaluate a batch; see `BatchedModel`."""
        return [x.cpu().numpy() for x in self.network(*(torch.from_numpy(x).to(self._device) for x in (seats, table)))]
