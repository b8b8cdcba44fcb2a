"""The heuristic's second thoughts: none, for a look at the next turn did not make the tuned weights any stronger."""

from __future__ import annotations

from agents.copenhagen.decide import decide
from helsinki_env.engine.kernel import kernel

__all__ = ["decide_ahead"]


@kernel
def decide_ahead(t, p, w, g, v, u, work, mask, values):
    """Return the best legal decision of the seat to move: that of `decide`.

    `u`: a second view; `work`: a record of the type of `g`, (1,): scratch for whoever looks further.
    """
    return decide(t, p, w, g, v, mask, values, False)
