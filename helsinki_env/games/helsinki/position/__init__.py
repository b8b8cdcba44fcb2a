"""Positions as data: JSON that restores a game byte for byte, and copies limited to what a seat may see.

The keys
--------
Card counts are lists indexed by card type, cells are ``7 * row + column``, board actions and sides are numbered as in
the rules page. ``draw_pile`` lists the next card first. ``pending`` is the pending action. It holds only values that
differ from the defaults, so at the start of a turn it is ``{}``:

=============  ==========================================================================================
move           6 or 5: ``move_1_to_6`` or ``move_1_to_5`` is paid, the move comes next
drew, built    true: cards were drawn, a pavilion was built in this turn
only_build     true in MAIN after ``draw_and_build`` or ``second_pavilion``
card           the card being built; it and ``paid`` have left the hand
paid           cards paid for it so far, in order
to_pay         number of cards still to be paid
substitute     true: ``any_card_as_wild`` is paid, its card of another color comes next
any_side       true: ``any_side`` is paid
action         the board action in progress (a name)
resume         the phase that follows WILD, LIFT or ROOF
wilds_left     wild tiles still to be placed
lifted         the cell whose superstructure is being moved
roofs_left     superstructures still to be put on roofs
last_roof      the roof that received the last one (in increasing cell order)
last_discard   the card type discarded last (in non-decreasing order)
lifted_now     true: ``no_hand_limit`` was used in this turn
turn_over      true: cards are being discarded at the end of the turn
reshuffled     card counts: a draw pile made from the discard pile, less the cards that visibly left it
unseen_draws   for each seat, the cards that it drew face down from that pile
=============  ==========================================================================================

``chance`` holds the game's random key: ``{"word": "0x..."}`` with 16 hexadecimal digits.
"""

from __future__ import annotations

from helsinki_env.engine.positions import PositionError
from helsinki_env.games.helsinki.game import ENV_VERSION
from helsinki_env.games.helsinki.position.checks import check_position
from helsinki_env.games.helsinki.position.convert import from_dict, read_game, to_dict

__all__ = ["ENV_VERSION", "PositionError", "check_position", "from_dict", "read_game", "to_dict"]
