"""The policy and value network: a decision is as good as the position that it leads to.

One encoder with shared weights describes every seat; what it says of the seats, in the order in which they move, joins
the table in a residual trunk, which says each seat's share of the win and its final score. A choice is preferred by the
share of the win in the position it leads to, by how far the network trusts the heuristic's opinion of it there, and
by what it thinks of that kind of decision. See `helsinki_env.agents.net.afterstates` for what goes in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from helsinki_env.agents.net.choices import AfterstateBatch
from helsinki_env.agents.net.description import AFTERSTATE_KIND
from helsinki_env.agents.net.features import feature_offsets, game_features
from helsinki_env.agents.net.player import SURE
from helsinki_env.data import Node, UserError
from helsinki_env.engine.contract import MAX_SEATS
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
    "pad_rows",
]  # fmt: skip

FACTORY_KWARGS: dict[str, Any] = {"dtype": torch.float32, "device": "cpu"}
"""Where weights are made and of what, whatever a program has chosen as PyTorch's defaults."""
Linear: Callable[..., nn.Linear] = partial(nn.Linear, **FACTORY_KWARGS)
LayerNorm: Callable[..., nn.LayerNorm] = partial(nn.LayerNorm, **FACTORY_KWARGS)

ABSENT = -1e9
"""The logit of a seat where nobody sits; its share of the win is exactly zero."""
#: PyTorch gets ready for each number of rows that it has not multiplied lately: as long as it multiplies hundreds.
_ROWS = 64
#: How sharply a new network prefers the better position, and what a point of the heuristic's opinion counts. Before
#: anything is learnt these decide; chosen so that a network that knows nothing plays like the heuristic, and one that
#: knows the value of positions improves on it.
_SHARPNESS, _TRUST = 12.0, 3.0
#: Far beyond what plays in reasonable time.
_MOST_UNITS, _MOST_BLOCKS = 8192, 64


def pad_rows(x: torch.Tensor, value: float = 0) -> torch.Tensor:
    """Return rows, (N, ...), with others of one value behind them, so that numbers of rows are hardly ever new."""
    return nn.functional.pad(x, (0, 0) * (x.dim() - 1) + (0, -len(x) % _ROWS), value=value)


class AfterstateTensors(NamedTuple):
    """`net.choices.AfterstateBatch` on a device; `row`, int64 (C,), is the decision that each choice belongs to.

    A few positions that no choice leads to follow the others (`pad_rows`).
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
        """Move inputs to a device."""
        arrays = inputs.seats, inputs.table, inputs.ended, inputs.row, inputs.action, inputs.advice, inputs.position
        seats, table, ended, row, action, advice, position = (torch.from_numpy(x).to(device) for x in arrays)
        return cls(
            pad_rows(seats), pad_rows(table), pad_rows(ended, -1.0), row, action.long(), advice, position, len(inputs)
        )


class NetworkOutput(NamedTuple):
    """What a network says of N positions.

    Attributes:
        win_logits: of each seat's share of the win, from the viewer on, float32 (N, 4); very low where nobody sits.
        scores: final points expected of each seat, float32 (N, 4); only meaningful where somebody sits.
        trust: what a point of the heuristic's opinion counts, by group of decisions, float32 (N, groups).
        liking: what a decision of a group counts in itself, float32 (N, groups).
    """

    win_logits: torch.Tensor
    scores: torch.Tensor
    trust: torch.Tensor
    liking: torch.Tensor


@dataclass(frozen=True)
class NetworkConfig:
    """Size of the network.

    Args:
        seat_hidden: units of the first layer of the encoder of seats.
        seat: units that describe a seat to the trunk.
        width: units of the trunk.
        blocks: residual blocks of two layers.
        turned: every seat sees its board from the side where its token is, in a game that is the same from all sides:
            what is learnt from one side holds for all.
        ahead: it is told what the next turn of every seat can bring, in a game that says so.
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
            least, most = (0, _MOST_BLOCKS) if item.name == "blocks" else (1, _MOST_UNITS)
            Node(getattr(self, item.name), UserError, item.name).integer(least, most)


class Block(nn.Module):
    """A residual block with normalisation first (He and others 2016, "Identity mappings in deep residual networks")."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.inner, self.outer = LayerNorm(width), Linear(width, width), Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return features of the same shape, (N, width)."""
        out: torch.Tensor = x + self.outer(torch.relu_(self.inner(torch.relu_(self.norm(x)))))
        return out


def _scaled(layer: nn.Linear, scale: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Apply a layer to scaled inputs; scaling the weights is less work."""
    return nn.functional.linear(x, layer.weight * scale, layer.bias)


class Network(nn.Module):
    """Policy over all decisions, and value of every seat.

    Args:
        game: the games it is made for; only their component file matters.
        config: size of the network.
    """

    kind = AFTERSTATE_KIND
    #: For messages: the player, and a preset that trains one.
    player, preset = "net", "quick"

    def __init__(self, game: Any = None, config: NetworkConfig | None = None) -> None:
        super().__init__()
        self.game, self.config = game or default_config(), config or NetworkConfig()
        told = game_features(self.game)
        self.types, c = told.types(self.game), self.config
        self.num_actions = spec_of(self.game).num_actions(self.game)
        self._score_unit, self._score_middle = told.score_unit, told.score_middle
        if c.ahead and told.next_turn_parts is None:
            raise UserError(f"ahead: found True, expected False: {spec_of(self.game).name} tells of no next turn")
        seat_parts = told.of_seat(self.types, c.ahead)
        seat, table = (
            torch.cat([torch.full((part.size,), 1.0 / part.scale, **FACTORY_KWARGS) for part in parts])
            for parts in (seat_parts, told.table_parts(self.types))
        )
        self.seat_scale: torch.Tensor
        self.table_scale: torch.Tensor
        self.group: torch.Tensor
        self.register_buffer("seat_scale", seat, persistent=False)
        self.register_buffer("table_scale", table, persistent=False)
        group = torch.from_numpy(told.groups(self.types)).long()
        self.register_buffer("group", group, persistent=False)
        if c.turned:
            if told.turning is None:
                raise UserError(f"turned: found True, expected False: {spec_of(self.game).name} has no other side")
            turning = told.turning(self.types)
            self._standing = slice(turning.begin, turning.begin + len(turning.side))
            self.side: torch.Tensor
            self.seat_turned: torch.Tensor
            self.table_turned: torch.Tensor
            # The next turn is told from the token on, and looks the same from every side.
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
        """Return the features of positions, (N, width), from int8 (N, P, S) and int8 (N, G)."""
        if self.config.turned:
            seats, table = self._turned(seats, table)
        kind = table.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else torch.float32
        present = seats[:, :, self._present : self._present + 1].to(dtype)
        described = torch.relu_(_scaled(self.seat_in, self.seat_scale, seats.to(dtype)))
        described = (torch.relu_(self.seat_out(described)) * present).flatten(1)
        # The last seats may be left out where nobody sits there.
        from_seats = self.from_seats.weight[:, : described.shape[1]]
        joined = nn.functional.linear(described, from_seats, self.from_seats.bias)
        joined = joined + _scaled(self.from_table, self.table_scale, table.to(dtype))
        return torch.relu_(self.norm(self.blocks(joined)))

    def _turned(self, seats: torch.Tensor, table: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return positions with every seat seen from its own side, and the table from the viewer's."""
        side = self.side[seats[:, :, self._standing].float().argmax(2)]  # without a token: the first
        return seats.gather(2, self.seat_turned[side]), table.gather(1, self.table_turned[side[:, 0]])

    def forward(self, seats: torch.Tensor, table: torch.Tensor) -> NetworkOutput:
        """Return what the network says of positions, int8 (N, P, S) and int8 (N, G)."""
        hidden = self.trunk(seats, table)
        present = nn.functional.pad(seats[:, :, self._present], (0, MAX_SEATS - seats.shape[1]))
        wins = self.win(hidden).float().masked_fill(present == 0, ABSENT)
        scores = self._score_middle + self._score_unit * self.score(hidden).float()
        return NetworkOutput(wins, scores, self.trust(hidden).float(), self.liking(hidden).float())

    def log_probs(self, x: AfterstateTensors, assessed: NetworkOutput) -> torch.Tensor:
        """Return the logarithm of the probability of every choice, float32 (C,)."""
        wins = assessed.win_logits
        merit = wins[:, 0] - torch.logsumexp(wins[:, 1:], 1)  # the logit of the viewer's share
        merit = torch.where(x.ended < 0, merit, torch.logit(x.ended, 1e-3)).clamp(-SURE, SURE)
        group = self.group[x.action]
        score = self.sharpness.exp() * merit[x.position] + assessed.liking[x.position, group]
        score = score + assessed.trust[x.position, group] * x.advice
        highest = score.new_full((x.decisions,), ABSENT).scatter_reduce(0, x.row, score.detach(), "amax")
        score = score - highest[x.row]
        return score - score.new_zeros(x.decisions).index_add(0, x.row, score.exp()).log()[x.row]
