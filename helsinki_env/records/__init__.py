"""Game records: deal, players, actions and result. A game is one line of JSON.

A record replays exactly: the deal follows from the seed, everything else from the actions, which are ids of the action
table. Records exist for every known game (`helsinki_env.engine.spec`). The keys of a line:

============  ==========================================================================================
(a game)      name of the game in lower case; the value is the version of its environment
config        the configuration, as its `to_dict` writes it
config_digest its `digest`: includes the contents of the component file
seed, stream  identify the deal, as for `HelsinkiGame`
episode       index of the game in that stream, as a batch environment counts them; 0 in most cases
players       name of the player in each seat
decisions     ids of the action table, in order
scores        points of each seat; null if the game is unfinished
ranking       seats, best first; null if unfinished. Not in games with shared ranks
places        replaces ranking there: number of seats that did better, [0, 0, 2] for two winners of three
digest        16 hexadecimal digits over everything else
============  ==========================================================================================

    >>> from helsinki_env import HelsinkiGame
    >>> game = HelsinkiGame(seed=5)
    >>> decisions = []
    >>> while not game.done:
    ...     decisions.append(int(game.legal_actions()[0]))
    ...     game.step(decisions[-1])
    >>> record = Record.of(game, seed=5, players=["first", "first"], decisions=decisions)
    >>> replay(Record.from_json(record.to_json())) == game
    True

Files hold one record per line (JSON Lines). They are written under a temporary name and renamed, so an existing file is
always complete, and an interrupted run leaves the previous file unchanged.
"""

from __future__ import annotations

from helsinki_env.records.codec import (
    Record,
    RecordError,
    RecordWriter,
    initial_game,
    read_records,
    replay,
    replay_steps,
    write_records,
)

__all__ = [
    "Record",
    "RecordError",
    "RecordWriter",
    "initial_game",
    "read_records",
    "replay",
    "replay_steps",
    "write_records",
]
