"""Validation of player inputs before kernels read them: one row for each game (`helsinki_env.agents.base.Player`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from helsinki_env.agents.base import Int8Array, Int64Array, KeyArray
from helsinki_env.engine.arrays import (
    ArrayError,
    action_masks,
    fail_mask,
    has_invalid_entry,
    integer_array,
    key_array,
    mask_array,
)
from helsinki_env.engine.determinization import observation_rows, states_from_observations
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.spec import spec_of
from helsinki_env.engine.states import States


class PlayerInputs(NamedTuple):
    """Validated inputs of a player for B games."""

    states: States  # (B,): reconstructed from the observations
    action_mask: Int8Array  # (B, A): contiguous
    keys: KeyArray  # (B,): contiguous


@kernel
def first_invalid_mask(tables, states, masks, legal):
    """Return the first row of `masks` that is invalid, empty or allows an illegal action; `len(states)` if none does.

    `legal`: scratch, int8 (ids,).
    """
    for b in range(len(states)):
        if has_invalid_entry(masks[b]):
            return b
        write_mask(tables[0], states[b], legal)
        some, wrong = np.int8(0), np.int8(0)
        for action in range(len(legal)):
            some |= masks[b, action]
            wrong |= masks[b, action] & ~legal[action]
        if some == 0 or wrong != 0:
            return b
    return len(states)


def validate_inputs(config: Any, observation: Any, action_mask: Any, keys: Any = None) -> PlayerInputs:
    """Validate the inputs of a player and return them with the reconstructed states.

    `action_mask` may omit legal actions. `keys` default to zeros. Raises ObservationError or ArrayError, which are
    subclasses of ValueError.
    """
    states = states_from_observations(config, observation)
    rows, ids = len(states), spec_of(config).num_actions(config)
    masks = mask_array("action_mask", action_mask, rows, ids)
    drawn = np.zeros(rows, np.uint64) if keys is None else key_array("keys", keys, rows)
    legal = np.empty(ids, np.int8)
    b = first_invalid_mask(config.tables, states, masks, legal)
    if b < rows:
        first_invalid_mask(config.tables, states[b : b + 1], np.zeros((1, ids), np.int8), legal)  # fills `legal`
        beyond = (masks[b] == 1) & (legal == 0)
        if beyond.any() and not has_invalid_entry(masks[b]):
            at = int(beyond.argmax())
            raise ArrayError(f"action_mask[{b}, {at}]: found 1, expected 0: it is not legal in what row {b} observes")
        fail_mask("action_mask", masks, b)
    return PlayerInputs(states, masks, drawn)


def validate_arrays(
    config: Any, observation: Any, action_mask: Any, keys: Any
) -> tuple[Int8Array, Int8Array, KeyArray]:
    """Return contiguous observations, masks and keys for players that reconstruct states later.

    Raises ObservationError or ArrayError if an array is invalid; the entries of observations are not checked.
    """
    spec = spec_of(config)
    masks = action_masks("action_mask", action_mask, None, spec.num_actions(config))
    rows = observation_rows(observation, spec.observation_size(config))
    if len(rows) != len(masks):
        raise ArrayError(f"observation: found {len(rows)} rows, expected {len(masks)} as in action_mask")
    return rows, masks, key_array("keys", keys, len(masks))


def forced_and_open(action_mask: Int8Array) -> tuple[Int64Array, Int64Array]:
    """Return the first legal action of each row, int64 (B,), and the rows with several legal actions, int64 (k,)."""
    return np.argmax(action_mask, axis=1), np.flatnonzero(action_mask.sum(axis=1, dtype=np.int64) > 1)


def validate_extra_actions(also: Any, mask: Int8Array) -> Int64Array | None:
    """Return the extra actions to evaluate, int64 (B,), or None; raise ArrayError if one is not legal in `mask`."""
    if also is None:
        return None
    actions = integer_array("also", also, (len(mask),), 0, mask.shape[1] - 1)
    lacking = mask[np.arange(len(mask)), actions] == 0
    if lacking.any():
        b = int(lacking.argmax())
        raise ArrayError(f"also[{b}]: found {actions[b]}, expected a legal action")
    return actions
