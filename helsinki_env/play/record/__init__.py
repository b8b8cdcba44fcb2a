"""A game as data: what was dealt, who played, what was decided and how it ended. One game is one line of JSON.

A record replays exactly: the deck comes from the seed, everything else from the decisions, which are ids of the action
table. It is of any game that is known (`helsinki_env.engine.spec`). The keys of a line:

============  ==========================================================================================
(a game)      which game it is, by its name in small letters; the value is the version of its environment
config        the configuration, as its `to_dict` writes it
config_digest its `digest`: the configuration again, the component file by its content
seed, stream  which deck was dealt, as for `Game`
episode       the how-manyth game of that stream, as a batch environment counts them; 0 in most cases
players       who sat in each seat, by name
decisions     ids of the action table, in order
scores        points of each seat; null if the game was not played to its end
ranking       seats, best first; null likewise. Not in games whose places may be shared
places        instead of it there: how many seats did better than each, [0, 0, 2] for two winners of three
digest        16 hexadecimal digits over everything else
============  ==========================================================================================

    >>> from helsinki_env import Game
    >>> game = Game(seed=5)
    >>> decisions = []
    >>> while not game.done:
    ...     decisions.append(int(game.legal_actions()[0]))
    ...     game.step(decisions[-1])
    >>> record = Record.of(game, seed=5, players=["first", "first"], decisions=decisions)
    >>> replay(Record.from_json(record.to_json())) == game
    True

Files hold one record a line (JSON Lines). They are written under a temporary name and renamed, so a file that exists is
whole, and a run that breaks off leaves what was there before.
"""

from __future__ import annotations

from helsinki_env.play.record.again import deal, positions, replay
from helsinki_env.play.record.files import RecordWriter, read_records, write_records
from helsinki_env.play.record.lines import Record, RecordError

__all__ = ["Record", "RecordError", "RecordWriter", "deal", "positions", "read_records", "replay", "write_records"]
