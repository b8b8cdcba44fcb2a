"""A position as data: plain JSON that restores a game byte for byte, and copies that show only what a seat may see.

Colours and abilities are numbers, card counts lists by colour, cells ``5 * y + x``. ``draw_pile`` has the next card
first, 5 is the End of Game card. ``pending`` is the decision in progress; it holds only what differs from nothing:

============  ===========================================================================================
first         slot of the first of two cards, in TAKE until the second is taken
using         ids of the abilities used for what is in progress, until that is done
tile          ``{"colour": "blue", "size": 4}`` in PLACE, RECOLOUR and PAY
recolour      the colour whose cards count as the tile's, once chosen
place         the argument of PLACE, in PAY
due           cards still to be paid, in PAY
paid          card counts paid so far for this tile, in PAY
last_discard  colour of the last card discarded in this turn, until the turn is over
rewards       pending rewards, the one being decided included, in COAT
============  ===========================================================================================

``chance`` holds the game's random word: ``{"word": "0x..."}`` with 16 hexadecimal digits.
"""

from __future__ import annotations

from helsinki_env.engine.positions import PositionError
from helsinki_env.games.copenhagen.position.checks import check
from helsinki_env.games.copenhagen.position.read import from_dict
from helsinki_env.games.copenhagen.position.write import VERSION, to_dict

__all__ = ["VERSION", "PositionError", "check", "from_dict", "to_dict"]
