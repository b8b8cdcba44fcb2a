"""A position as data: plain JSON that restores a game byte for byte, and copies that show only what a seat may see.

The keys
--------
Card counts are lists indexed by card type, cells are ``7 * row + column``, actions and sides numbers as in the rules
page. ``draw_pile`` has the next card first. ``pending`` is the decision in progress; it holds only what differs from
nothing, so between decisions of a fresh turn it is ``{}``:

=============  ==========================================================================================
move           6 or 5: ``move_1_to_6`` or ``move_1_to_5`` is paid, the move comes next
drew, built    true once cards were drawn, a pavilion was built in this turn
only_build     true in MAIN after ``draw_and_build`` or ``second_pavilion``
card           the card being built; it and ``paid`` have left the hand
paid           cards paid for it so far, in order
to_pay         how many more are to be paid
substitute     true: ``any_card_as_wild`` is paid, its card of another colour comes next
any_side       true: ``any_side`` is paid
action         the action of the action board being carried out (a name)
resume         the phase that goes on after WILD, LIFT or ROOF
wilds_left     wild tiles still to be placed
lifted         the cell whose superstructure is being moved
roofs_left     superstructures still to be put on roofs
last_roof      the roof that got the last one (they go in increasing order)
last_discard   the card type discarded last (they go in non-decreasing order)
lifted_now     true: ``no_hand_limit`` was used in this very turn
turn_over      true: cards are discarded as the last thing of the turn
reshuffled     card counts: a draw pile made from the discard pile, less what everybody has seen leave it
unseen_draws   for each seat the cards it drew from that pile into its hand
=============  ==========================================================================================

``chance`` holds the game's random word: ``{"word": "0x..."}`` with 16 hexadecimal digits.
"""

from __future__ import annotations

from helsinki_env.engine.positions import PositionError
from helsinki_env.games.helsinki.position.checks import check
from helsinki_env.games.helsinki.position.plain import VERSION
from helsinki_env.games.helsinki.position.read import from_dict
from helsinki_env.games.helsinki.position.write import to_dict

__all__ = ["VERSION", "PositionError", "check", "from_dict", "to_dict"]
