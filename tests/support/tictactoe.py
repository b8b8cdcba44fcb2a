"""Tic-tac-toe, defined only by the contract (`helsinki_env.engine.contract` and `spec`), as a third-party game.

Seats take turns to fill one of nine cells, and three in a line win. Without a line, both share first place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from helsinki_env.engine import contract
from helsinki_env.engine.configuration import Configuration
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.spec import GameSpec

TABLES = np.zeros(1, np.dtype((np.record, [("lines", np.int8, (8, 3))])))
TABLES["lines"] = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]]

_NAMES = ("players", "seat", "phase", "done", "round_number")
#: A cell holds the number of its seat, from 1, or 0.
STATE = np.dtype((np.record, [("chance", np.uint64), ("board", np.int8, (9,)), *((name, np.int8) for name in _NAMES)]))


@kernel
def _wins(t, g, seat):
    for line in t.lines:
        if g.board[line[0]] == seat + 1 and g.board[line[1]] == seat + 1 and g.board[line[2]] == seat + 1:
            return True
    return False


@kernel
def copy_setup(g, setup):
    g.players = setup.players


@kernel
def draw_setup(drawn, g):
    pass


@kernel
def deal(t, g, word):
    g.chance = word
    g.board[:] = 0
    g.seat, g.phase, g.done, g.round_number = 0, 0, 0, 1


@kernel
def mark_legal(t, g, mask):
    for cell in range(9):
        mask[cell] = not g.done and g.board[cell] == 0


@kernel
def apply_action(t, g, action):
    g.board[action] = g.seat + 1
    g.done = _wins(t, g, g.seat) or g.round_number == 5  # the ninth mark
    if not g.done:
        g.round_number += g.seat
        g.seat = 1 - g.seat


@kernel
def write_observation(t, g, viewer, out):
    for cell in range(9):
        out[cell] = g.board[cell] == viewer + 1
        out[9 + cell] = g.board[cell] == 2 - viewer


@kernel
def reconstruct_state(t, g, observation):
    own, other = observation[:9].sum(), observation[9:].sum()
    if observation.max() > 1 or (observation[:9] + observation[9:]).max() > 1:
        return 0
    if own != other and own + 1 != other:
        return 1
    seat = other - own
    deal(t, g, np.uint64(0))
    g.players, g.seat, g.round_number = 2, seat, 1 + own
    for cell in range(9):
        g.board[cell] = (seat + 1) * observation[cell] + (2 - seat) * observation[9 + cell]
    return 2 if _wins(t, g, 0) or _wins(t, g, 1) or own + other == 9 else -1


@kernel
def determinize_state(t, g, viewer, word, scratch, mask):
    return True


@kernel
def score(t, g, seat):
    return 1 if _wins(t, g, seat) else 0


@kernel
def rank_of(t, g, seat):
    return 1 if _wins(t, g, 1 - seat) else 0


_SETUP, _PLAY = (copy_setup, draw_setup, deal), (mark_legal, apply_action, score, rank_of)
for _rule in (*_SETUP, *_PLAY, write_observation, reconstruct_state, determinize_state):
    getattr(contract, _rule.__name__).implements(STATE, _rule)


class Board(NamedTuple):
    digest: str = "three by three"


def build_tables(board: Board) -> Any:
    return TABLES


@dataclass(frozen=True)
class TicTacToeConfig(Configuration[Board]):
    read_components: ClassVar[Any] = staticmethod(lambda name: Board())
    tables_module: ClassVar[str] = __name__

    num_players: int = 2
    denied: tuple[tuple[int, ...], ...] = ((), ())
    components: str = "board"
    reward: str = "win"
    _loaded: Any = field(default=None, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        self._load()
        self._entry("num_players").integer(2, 2, "2")

    def to_dict(self) -> dict[str, Any]:
        return {"num_players": self.num_players, "components": self.components, "reward": self.reward}


TICTACTOE = GameSpec(
    name="tictactoe",
    version=0,
    config=TicTacToeConfig,
    options=("reward",),
    phases=("MARK",),
    setup_fields=("players",),
    new_states=lambda config, count: np.zeros(count, STATE),
    apply_setup=lambda states, config: states["players"].fill(config.num_players),
    config_of=lambda config, state: config,
    action_kinds=lambda config: (("MARK", 9),),
    observation_size=lambda config: 18,
    why_illegal=lambda game, action: f"MARK {action} is not legal. Legal: {game.legal_actions().tolist()}",
    action_to_string=lambda action, config: f"MARK {action}",
)
