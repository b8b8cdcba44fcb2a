"""A policy and value network that reads the plain observation.

One encoder with shared weights reads what there is of every seat, board and all; what it says of them, the viewer
first, joins the table in a residual trunk, which has an opinion on every decision and says each seat's share of the win
and its final score, from which its lead follows. See `helsinki_env.agents.mlp.inputs` for what goes in.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from helsinki_env.agents.mlp.inputs import InputColumns, input_spec
from helsinki_env.agents.net.description import PLAIN_KIND
from helsinki_env.agents.net.features import game_features
from helsinki_env.agents.net.network import ABSENT, Block, LayerNorm, Linear, NetworkConfig
from helsinki_env.data import UserError
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.spec import default_config, spec_of
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import nn

__all__ = ["PlainNetwork", "PlainOutput"]


class PlainOutput(NamedTuple):
    """What a network says of N observations.

    Attributes:
        logits: of every decision, legal or not, float32 (N, A).
        win_logits: of each seat's share of the win, from the viewer on, float32 (N, 4); very low where nobody sits.
        scores: final points expected of each seat, float32 (N, 4); only meaningful where somebody sits.
    """

    logits: torch.Tensor
    win_logits: torch.Tensor
    scores: torch.Tensor

    def log_probs(self, masks: torch.Tensor) -> torch.Tensor:
        """Return the logarithm of the probability of every decision, float32 (N, A): next to nothing if not legal.

        Where nothing is legal, all are equally likely.
        """
        return torch.log_softmax(self.logits.masked_fill(masks == 0, ABSENT), 1)


class _Reader(nn.Module):
    """The first layer: entries, by size and by value, times weights."""

    def __init__(self, entries: InputColumns, width: int) -> None:
        super().__init__()
        columns, scales = (torch.tensor(told, device="cpu") for told in (entries.columns, entries.scales))
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
        """Return (N, readers, width) from int8 (N, F); the last readers may be left out."""
        kind = observations.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else torch.float32
        columns = self.columns[:readers]
        read = observations.index_select(1, columns.flatten()).view(-1, *columns.shape)
        usual = torch.minimum(read, self.most).index_select(2, self.entry) == self.value
        told = torch.cat([read.to(dtype) * self.inverse.to(dtype), usual.to(dtype)], 2)
        found: torch.Tensor = self.layer(told)
        return found


class PlainNetwork(nn.Module):
    """Policy over all decisions, and value of every seat.

    Args:
        game: the games it is made for; only their component file matters.
        config: size of the network.
    """

    kind = PLAIN_KIND
    #: For messages: the player, and a preset that trains one.
    player, preset = "mlp", "gpu"

    def __init__(self, game: Any = None, config: NetworkConfig | None = None) -> None:
        super().__init__()
        self.game, self.config = game or default_config(), config or NetworkConfig()
        if self.config.turned:
            raise UserError("turned: found True, expected False: a plain network reads the observation as it is")
        if self.config.ahead:
            raise UserError("ahead: found True, expected False: a plain network reads nothing but the observation")
        told, entries, c = game_features(self.game), input_spec(self.game), self.config
        self.types = told.types(self.game)
        self._score_unit, self._score_middle = told.score_unit, told.score_middle
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

    def forward(self, observations: torch.Tensor, seats: int = MAX_SEATS) -> PlainOutput:
        """Return what the network says of observations, int8 (N, F).

        Args:
            observations: of the seats to move.
            seats: most players of these games; that nobody sits at the others need not be read.
        """
        present = observations[:, self.present]
        described = torch.relu(self.seat_out(torch.relu(self.seat_in(observations, seats))))
        described = (described * present[:, :seats, None].to(described.dtype)).flatten(1)
        from_seats = self.from_seats.weight[:, : described.shape[1]]
        joined = nn.functional.linear(described, from_seats, self.from_seats.bias)
        hidden = torch.relu(self.norm(self.blocks(joined + self.from_table(observations, 1)[:, 0])))
        wins = self.win(hidden).float().masked_fill(present == 0, ABSENT)
        scores = self._score_middle + self._score_unit * self.score(hidden).float()
        return PlainOutput(self.policy(hidden).float(), wins, scores)
