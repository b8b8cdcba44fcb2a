"""Positions as plain JSON: a full position restores a game byte for byte, a seat's copy shows only what it may see.

Colors and abilities are numbers, card counts are lists by color, and cells are ``5 * y + x``. ``draw_pile`` lists the
next card first; 5 is the End of Game card. ``pending`` is the operation in progress, with only the keys that apply:

============  ===========================================================================================
first         slot of the first of two cards, in TAKE until the second is taken
using         ids of the abilities used for the operation in progress, until it is complete
tile          ``{"colour": "blue", "size": 4}`` in PLACE, RECOLOUR and PAY
recolour      the color whose cards count as the tile's, once chosen
place         the argument of PLACE, in PAY
due           cards still to be paid, in PAY
paid          card counts paid so far for this tile, in PAY
last_discard  color of the last card discarded in this turn, until the turn is over
rewards       pending rewards, including the current one, in COAT
============  ===========================================================================================

``chance`` holds the game's random key: ``{"word": "0x..."}`` with 16 hexadecimal digits.
"""

from __future__ import annotations

from helsinki_env.engine.positions import PositionError
from helsinki_env.games.copenhagen.position.checks import check_position
from helsinki_env.games.copenhagen.position.convert import POSITION_VERSION, from_dict, read_game, to_dict

__all__ = ["POSITION_VERSION", "PositionError", "check_position", "from_dict", "read_game", "to_dict"]
