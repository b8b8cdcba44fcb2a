"""What a game must state as kernels: the rules that loops, environments and playouts of any game call.

`t` is the record of the game's tables (its component file as arrays), `g` the record of one game. The type of `g` says
whose rules these are (`helsinki_env.engine.rule`); a game states each of them with `belongs_to`.

Four more have a plain form that is made of these, and are stated by games that know a faster one: in
`helsinki_env.engine.loops`, `write_mask` and `observe`, which leave no entry as it was, `observe_again`, where an
earlier observation is there, and `observe_part`, where several share the work.

Every record of a game has the fields `chance` (uint64, the random word), `players`, `seat` (to move, or the last to
have moved), `phase`, `done` and `round_number`, and as many seats as `SEATS`, those beyond `players` blank.
"""

from __future__ import annotations

from helsinki_env.engine.rule import Rule

__all__ = [
    "SEATS",
    "apply",
    "deal",
    "describe",
    "draw_setup",
    "mark_legal",
    "place_of",
    "redeal",
    "restore",
    "score",
    "set_up",
]

SEATS = 4
"""The most seats that a game has."""

set_up = Rule("set_up")
"""`set_up(g, setup)`: take over which game is played from another record of the game."""

draw_setup = Rule("draw_setup")
"""`draw_setup(drawn, g)`: write what random episodes draw for the next game; `drawn.chance` is its random word."""

deal = Rule("deal")
"""`deal(t, g, word)`: deal a new game of this setup, all its chance from one random word, uint64."""

mark_legal = Rule("mark_legal")
"""`mark_legal(t, g, mask)`: write 1 for each legal decision, if any, into `mask`, int8 (ids,), zero before."""

apply = Rule("apply")
"""`apply(t, g, action)`: carry out a legal decision, and whatever follows from it without a further one."""

describe = Rule("describe")
"""`describe(t, g, viewer, out)`: write what a seat may see into `out`, int8 (F,), zero before."""

restore = Rule("restore")
"""`restore(t, g, observation)`: fill `g` with what the seat to move sees, int8 (F,), every entry in its range.

Nothing that was in the record is kept; what is hidden is blank until `redeal` deals it. Return -1, or a number that
says what does not fit together."""

redeal = Rule("redeal")
"""`redeal(t, g, viewer, word, scratch, mask)`: deal what a seat cannot see anew, by a random word of its own, uint64.

The viewer's observation stays the same, and with the same observation the same word deals the same cards. Return
whether a deal was found: there is one if the position comes from a game. `scratch` is a record of the game's own type
for it, `mask` int8 (ids,); both are written over."""

score = Rule("score")
"""`score(t, g, seat)`: points of a seat as if the game ended now."""

place_of = Rule("place_of")
"""`place_of(t, g, seat)`: how many seats did strictly better, as if the game ended now; places may be shared."""
