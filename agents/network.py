"""The policy and value network: a compact actor-critic on named pieces of the observation.

Codes become one-hot or embedded before the first layer, counts are scaled, and the fill of every row and column, on
which all points depend, is given as a number. The network says what each cell of the own board is worth to it now; a
placement is worth what its cells are, wherever it is pushed in from (`agents.landings`). Illegal decisions get no
probability at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from agents.landings import landings
from helsinki_env import GameConfig, observation
from helsinki_env.game import action_table

__all__ = ["ActorCritic", "NetworkConfig"]

_ILLEGAL = -1e9
_SEATS = 4
_CARD = 8
#: Pieces that enter as they are, each divided by a typical large value.
_SCALED = {
    "hand": 2.0,
    "known": 2.0,
    "discard": 4.0,
    "used": 1.0,
    "denied": 1.0,
    "covered": 1.0,
    "phase": 1.0,
    "tile_supply": 3.0,
    "bonus_cards": 1.0,
}
_SEAT_SCALE = (1.0, 7.0, 3.0, 8.0, 5.0, 5.0, 1.0, 1.0)
_TABLE_SCALE = (4.0, 4.0, 1.0, 20.0, 1.0, 50.0, 12.0, 30.0)
_PENDING_SCALE = (6.0, 1.0, 1.0, 1.0, 4.0, 1.0, 1.0, 15.0, 9.0, 2.0, 49.0, 2.0, 49.0, 51.0, 1.0, 1.0)


@dataclass(frozen=True)
class NetworkConfig:
    """Size of the network.

    Args:
        width: units of each hidden layer.
        depth: hidden layers.
    """

    width: int = 256
    depth: int = 2


class ActorCritic(nn.Module):
    """Policy over all ids and the value of the seat to move.

    Args:
        game: the games it is made for; only their component file matters.
        config: size of the network.
    """

    def __init__(self, game: GameConfig | None = None, config: NetworkConfig | None = None) -> None:
        super().__init__()
        game = game or GameConfig()
        self.types, self.config, self._tables = game.loaded.types, config or NetworkConfig(), game.tables
        types = self.types
        self.ids = action_table(types).size
        self._pieces = {p.name: (p.start, p.start + p.size) for p in observation.layout(types).pieces}
        self.seat_scale: torch.Tensor
        self.table_scale: torch.Tensor
        self.pending_scale: torch.Tensor
        self.card = nn.Embedding(types + 1, _CARD)
        for name, scale in (("seat", _SEAT_SCALE), ("table", _TABLE_SCALE), ("pending", _PENDING_SCALE)):
            self.register_buffer(f"{name}_scale", 1.0 / torch.tensor(scale), persistent=False)
        layers: list[nn.Module] = []
        inputs = self.features(torch.zeros((1, observation.layout(types).size), dtype=torch.int8)).shape[1]
        for _ in range(self.config.depth):
            layers += [nn.Linear(inputs, self.config.width), nn.ReLU()]
            inputs = self.config.width
        self.body = nn.Sequential(*layers)
        self.policy = nn.Linear(inputs, self.ids)
        self.cells = nn.Linear(inputs, 49)
        self.value = nn.Linear(inputs, 1)
        self._initialise()

    def _initialise(self) -> None:
        for layer in self.body:
            if isinstance(layer, nn.Linear):
                nn.init.orthogonal_(layer.weight, 2**0.5)
                nn.init.zeros_(layer.bias)
        nn.init.orthogonal_(self.policy.weight, 0.01)
        nn.init.orthogonal_(self.cells.weight, 0.01)
        nn.init.orthogonal_(self.value.weight, 0.1)

    def _piece(self, obs: torch.Tensor, name: str) -> torch.Tensor:
        start, end = self._pieces[name]
        return obs[:, start:end]

    def features(self, obs: torch.Tensor) -> torch.Tensor:
        """Return the network's inputs, float32 (B, inputs), for observations int8 (B, F)."""
        size = len(obs)
        boards = self._piece(obs, "boards").view(size, _SEATS, len(observation.PLANES), 49)
        tile = boards[:, :, 0]
        built = (tile > 0).float()
        grid = built.view(size, _SEATS, 7, 7)
        # What a line still needs matters most when it is little: the fill enters once more as a bump at the end.
        fill = torch.cat([grid.sum(3), grid.sum(2)], 2).flatten(1) / 7.0
        colours = torch.arange(1, 6, device=obs.device, dtype=obs.dtype).view(1, 5, 1)
        cards = torch.cat([self._piece(obs, "display"), self._piece(obs, "building")], 1)
        spaces = torch.arange(1, 9, device=obs.device, dtype=obs.dtype)
        token = self._piece(obs, "seats").view(size, _SEATS, -1)[:, :, 3:4] == spaces
        seats = self._piece(obs, "seats").float().view(size, _SEATS, -1) * self.seat_scale
        return torch.cat(
            [
                built.flatten(1),
                boards[:, :, 2].flatten(1).float(),
                boards[:, 0, 3].float(),
                (tile[:, :1] == colours).flatten(1).float(),
                fill,
                fill**8,
                self.card(cards.long()).flatten(1),
                token.flatten(1).float(),
                seats.flatten(1),
                self._piece(obs, "table").float() * self.table_scale,
                self._piece(obs, "pending").float() * self.pending_scale,
                *(self._piece(obs, name).float() / scale for name, scale in _SCALED.items()),
            ],
            1,
        )

    def forward(self, obs: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return log-probabilities float32 (B, A), very low where illegal, and values float32 (B,).

        Args:
            obs: int8 (B, F).
            mask: int8 or bool (B, A); a row without a legal decision gives the uniform distribution.
        """
        hidden = self.body(self.features(obs))
        logits = self._placed(self.policy(hidden), self.cells(hidden), obs, mask).masked_fill(mask == 0, _ILLEGAL)
        return torch.log_softmax(logits, 1), self.value(hidden).squeeze(1)

    def _placed(self, logits: torch.Tensor, cells: torch.Tensor, obs: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the logits float32 (B, A) with what placements are worth by their cells, float32 (B, 49), added."""
        found = landings(self._tables, obs.cpu().numpy(), mask.to(torch.int8).cpu().numpy())
        row, action, covered = (torch.from_numpy(array).to(logits.device) for array in found)
        worth = nn.functional.pad(cells, (0, 1))[row[:, None], covered].sum(1)  # one column more for NO_CELL
        return logits.index_put((row, action), worth, accumulate=True)

    def values(self, obs: torch.Tensor) -> torch.Tensor:
        """Return the values alone, float32 (B,)."""
        value: torch.Tensor = self.value(self.body(self.features(obs))).squeeze(1)
        return value
