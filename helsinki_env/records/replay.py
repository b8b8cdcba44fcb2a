"""Replay records: every action must be legal, and the result must be that of the record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from helsinki_env.data import Node, seed_to_uint64
from helsinki_env.engine import loops
from helsinki_env.engine.contract import apply_action
from helsinki_env.engine.game import BoardGame, IllegalActionError
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.records.codec import Record, RecordError, seats_by_rank


def initial_game(record: Record) -> Any:
    """Return the game of a record before its first action, an instance of its game's class (`BoardGame`)."""
    game = record.spec.game(record.config, seed=record.seed, stream=record.stream)
    if record.episode:
        word = (np.array([seed_to_uint64(n)], np.uint64) for n in (record.seed, record.stream, record.episode))
        loops.batch_deal(game._tables[0], game._states, *word)
    return game


def replay_steps(record: Record) -> Iterator[tuple[Any, int | None]]:
    """Yield the game before each action together with that action, and finally the game at the end with None.

    Every game is a separate copy.

    Raises:
        RecordError: if an action is illegal, or the result differs from that of the record.
    """
    game = initial_game(record)
    for i, action in enumerate(record.decisions):
        yield game.clone(), action
        _step(game, i, action)
    _check_result(record, game)
    yield game, None


@kernel
def _play(t: Any, states: Any, decisions: Any, mask: Any) -> Any:
    """Apply the actions, int64 (n,), to the only game of `states`; return the index of the first illegal one, or n."""
    g = states[0]
    for i in range(len(decisions)):
        write_mask(t, g, mask)
        if mask[decisions[i]] == 0:
            return i
        apply_action(t, g, decisions[i])
    return len(decisions)


def replay(record: Record) -> Any:
    """Return the game at the end of a record, of the same class as `initial_game` returns.

    Raises:
        RecordError: if an action is illegal, or the result differs from that of the record.
    """
    game = initial_game(record)
    decisions = np.array(record.decisions, np.int64)
    mask = np.zeros(record.spec.num_actions(record.config), np.int8)
    legal = int(_play(record.config.tables[0], game._states, decisions, mask))
    if legal < len(decisions):
        _step(game, legal, int(decisions[legal]))
    _check_result(record, game)
    return game


def _step(game: BoardGame, i: int, action: int) -> None:
    try:
        game.step(action)
    except IllegalActionError as problem:
        remedy = "seed, configuration or decisions are not those of this game"
        raise RecordError(f"decisions[{i}]: {problem} ({remedy})") from None


def _check_result(record: Record, game: BoardGame) -> None:
    if game.done != record.finished:
        state = "over" if game.done else f"not over after {len(record.decisions)} decisions"
        remedy = "decisions are missing, or the result" if record.finished else "add the result"
        Node(record.scores, RecordError, "scores").fail(f"null exactly if the game is not over; it is {state}", remedy)
    if record.finished:
        remedy = "the result does not belong to these decisions"
        scores, places = game.scores().tolist(), game.ranks().tolist()
        last = ("places", places) if record.spec.allows_ties else ("ranking", seats_by_rank(places))
        for key, played in (("scores", scores), last):
            found = Node(getattr(record, key), RecordError, key)
            if list(found.value) != played:
                found.fail(f"{played}, which the replay gives", remedy)
