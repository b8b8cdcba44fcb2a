"""Reasons in words: what one action gains over another, from the view of the seat to move.

A reason is a fact (points, full rows, coats) that differs at the end of two turns. Each turn begins with one of the
actions and continues greedily. Hidden cards are sampled rather than read, and a reason must hold in every sample.
"""

from __future__ import annotations

from typing import Any

from helsinki_env.engine.determinization import DeterminizationError, determinize
from helsinki_env.engine.game import BoardGame
from helsinki_env.web.help import help_module
from helsinki_env.web.tables import reveals_hidden

_SAMPLES = 3
_MAX_STEPS = 12
"""Maximum number of additional actions in the turn."""
_MAX_REASONS = 3


def _end_of_turn(game: BoardGame, action: int, module: Any, seat: int) -> dict[str, int]:
    """Return the facts about a seat at the end of a turn that begins with an action and then reveals nothing."""
    now = game.clone()
    now.step(action)
    best: dict[str, int] = module.facts(now, seat)
    if reveals_hidden(game, now):
        return best
    for _ in range(_MAX_STEPS):
        if now.done or now.seat != seat:
            return best
        found = None
        for next_action in now.legal_actions().tolist():
            after = now.clone()
            after.step(next_action)
            if reveals_hidden(now, after):
                continue
            facts = module.facts(after, seat)
            worth = sum(module.WEIGHTS.get(name, 0) * value for name, value in facts.items())
            if found is None or worth > found[0]:
                found = worth, after, facts
        if found is None:
            return best
        _, now, best = found
    return best


def gains(game: BoardGame, better: int, taken: int) -> dict[str, tuple[int, int]]:
    """Return the facts about the seat to move that are larger after `better` than after `taken`, each with both values.

    `better` and `taken` are ids of legal actions.
    """
    module, seat = help_module(game.spec.name), game.seat
    if module is None or not hasattr(module, "facts"):
        return {}
    common: dict[str, tuple[int, int]] | None = None
    for sample in range(_SAMPLES):
        try:
            real = determinize(game, seat, seed=sample)
        except DeterminizationError:  # a position that cannot be reached from any deal
            return {}
        more, less = (_end_of_turn(real, action, module, seat) for action in (better, taken))
        found = {name: (more[name], less[name]) for name in more if more[name] > less[name]}
        kept = found if common is None else common
        common = {name: pair for name, pair in kept.items() if found.get(name) == pair}
    return common or {}


def reasons(game: BoardGame, better: int, taken: int) -> list[str]:
    """Return the gains of `better` over `taken` as clauses, the most valuable first (see `gains`)."""
    found = gains(game, better, taken)
    module = help_module(game.spec.name)
    if not found or module is None:
        return []
    order = list(module.WEIGHTS)
    lines = {"rows", "columns"} & set(found)
    names = [name for name in order if name in found and not (name == "nearest" and lines)]
    return [module.fact_words(name, *found[name]) for name in names[:_MAX_REASONS]]


def reason_text(game: BoardGame, better: int, taken: int) -> str:
    """Return the reasons as a sentence, or an empty string if there are none (see `gains`)."""
    found = reasons(game, better, taken)
    if not found:
        return ""
    text = found[0] if len(found) == 1 else f"{', '.join(found[:-1])}, and {found[-1]}"
    return f"{text[0].upper()}{text[1:]}."


def hint(game: BoardGame, better: int, taken: int) -> str:
    """Return a hint about the better action that does not name it (see `gains`)."""
    found = reasons(game, better, taken)
    if found:
        return f"Look for another action: {found[0]}."
    kinds = [game.spec.action_to_string(action, game.config).partition(" ")[0] for action in (better, taken)]
    if kinds[0] != kinds[1]:
        return "Another kind of action is stronger here."
    return "The same kind of action is right, but not this one."
