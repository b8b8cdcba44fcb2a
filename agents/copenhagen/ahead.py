"""The heuristic's second thoughts: what the next turn can make of this one."""
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

from agents.copenhagen.decide import decide
from helsinki_env.engine.kernel import kernel

__all__ = ["decide_ahead"]


@kernel
def decide_ahead(t, p, w, g, v, u, work, mask, values):
    """Return the best legal decision of the seat to move, as `decide` does with `every`."""
    return decide(t, p, w, g, v, mask, values, False)
