"""A policy and value network that reads the observation.

An encoder with shared weights reads the columns of every seat, including its board. A residual trunk combines the
encoded seats, the viewer first, with the columns of the table. It predicts the policy, every seat's win probability and
its final score. See `helsinki_env.agents.net.features.input_spec` for the inputs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from helsinki_env.agents.net.description import MLP_KIND
from helsinki_env.agents.net.features import InputColumns, game_features, input_spec
from helsinki_env.agents.net.network import ABSENT, Block, LayerNorm, Linear, NetworkConfig
from helsinki_env.data import UserError
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.spec import default_config, spec_of
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import nn

__all__ = ["MLPNetwork", "MLPOutput"]


class MLPOutput(NamedTuple):
    """Network outputs for N observations."""

    logits: torch.Tensor  # float32 (N, A): logits of all actions, legal or not
    win_logits: torch.Tensor  # float32 (N, 4): logits of the win probabilities, the viewer first; `ABSENT` if absent
    scores: torch.Tensor  # float32 (N, 4): expected final points; undefined for absent seats

    def log_probs(self, masks: torch.Tensor) -> torch.Tensor:
        """Return the log-probability of every action, float32 (N, A); uniform if no action is legal."""
        return torch.log_softmax(self.logits.masked_fill(masks == 0, ABSENT), 1)


class _Reader(nn.Module):
    """First layer: a linear map of scaled columns and one-hot codes."""

    def __init__(self, entries: InputColumns, width: int) -> None:
        super().__init__()
        columns, scales = (torch.tensor(numbers, device="cpu") for numbers in (entries.columns, entries.scales))
        values = torch.from_numpy(entries.values)
        self.columns: torch.Tensor
        self.inverse: torch.Tensor
        self.most: torch.Tensor
        self.entry: torch.Tensor
        self.value: torch.Tensor
        self.register_buffer("columns", columns, persistent=False)
        self.register_buffer("inverse", 1.0 / scales.to(torch.float32), persistent=False)
        self.register_buffer("most", scales.to(torch.int8), persistent=False)
        self.register_buffer("entry", values[:, 0].contiguous(), persistent=False)
        self.register_buffer("value", values[:, 1].to(torch.int8), persistent=False)
        self.layer = Linear(len(scales) + len(values), width)

    def forward(self, observations: torch.Tensor, readers: int) -> torch.Tensor:
        """Encode observations, int8 (N, F), as (N, readers, width); the last readers can be left out."""
        kind = observations.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else torch.float32
        columns = self.columns[:readers]
        read = observations.index_select(1, columns.flatten()).view(-1, *columns.shape)
        codes = torch.minimum(read, self.most).index_select(2, self.entry) == self.value
        inputs = torch.cat([read.to(dtype) * self.inverse.to(dtype), codes.to(dtype)], 2)
        out: torch.Tensor = self.layer(inputs)
        return out


class MLPNetwork(nn.Module):
    """Network that predicts a policy over all actions and a value for every seat.

    Args:
        game: game configuration; only its component file is used.
        config: size of the network.
    """

    kind = MLP_KIND
    #: For error messages: name of the player, and a preset that trains such a network.
    player, preset = "mlp", "gpu"

    def __init__(self, game: Any = None, config: NetworkConfig | None = None) -> None:
        super().__init__()
        self.game, self.config = game or default_config(), config or NetworkConfig()
        if self.config.turned:
            raise UserError("turned: found True, expected False: an MLP reads the observation as it is")
        if self.config.ahead:
            raise UserError("ahead: found True, expected False: an MLP reads only the observation")
        features, entries, c = game_features(self.game), input_spec(self.game), self.config
        self.types = features.types(self.game)
        self._score_unit, self._score_middle = features.score_unit, features.score_middle
        self.present: torch.Tensor
        self.register_buffer("present", torch.tensor(entries.present, device="cpu"), persistent=False)
        self.seat_in = _Reader(entries.seats, c.seat_hidden)
        self.seat_out = Linear(c.seat_hidden, c.seat)
        self.from_seats = Linear(MAX_SEATS * c.seat, c.width)
        self.from_table = _Reader(entries.table, c.width)
        self.blocks = nn.Sequential(*(Block(c.width) for _ in range(c.blocks)))
        self.norm = LayerNorm(c.width)
        self.policy = Linear(c.width, spec_of(self.game).num_actions(self.game))
        self.win = Linear(c.width, MAX_SEATS)
        self.score = Linear(c.width, MAX_SEATS)
        for head in (self.policy, self.win, self.score):
            nn.init.orthogonal_(head.weight, 0.01)
            nn.init.zeros_(head.bias)

    def forward(self, observations: torch.Tensor, seats: int = MAX_SEATS) -> MLPOutput:
        """Evaluate observations, int8 (N, F); `seats`: maximum number of players; other seats are not read."""
        present = observations[:, self.present]
        described = torch.relu(self.seat_out(torch.relu(self.seat_in(observations, seats))))
        described = (described * present[:, :seats, None].to(described.dtype)).flatten(1)
        from_seats = self.from_seats.weight[:, : described.shape[1]]
        joined = nn.functional.linear(described, from_seats, self.from_seats.bias)
        hidden = torch.relu(self.norm(self.blocks(joined + self.from_table(observations, 1)[:, 0])))
        wins = self.win(hidden).float().masked_fill(present == 0, ABSENT)
        scores = self._score_middle + self._score_unit * self.score(hidden).float()
        return MLPOutput(self.policy(hidden).float(), wins, scores)
