"""The guided game: the seed of its deal, and each action of the learner with its explanation.

In the texts, `c` refers to the components of the configuration; `helsinki_env.web.help` inserts their values.
"""

from __future__ import annotations

from helsinki_env.engine.ui_actions import lesson_steps

__all__ = ["END", "SEED", "STEPS"]

SEED = 10
STEPS = lesson_steps("""
START 4
Welcome! At the top left is the senate board: eight spaces for tokens, with a card between each two. Click the glowing
space: your token starts there. Then each player draws two cards.

MOVE 3
A turn begins with a move of 1 to 3 spaces clockwise; tokens may share a space. The place of your token decides which
cards you draw, and from which side you build: triangles mark that side of your board. Click the glowing space.

DRAW
After the move you draw or build. Draw: take the two cards next to your token. Click one of them.

MOVE 1
The opponent has drawn, too. It is your turn again: move 1 space.

DRAW
Draw again. Cards of one color pay for a pavilion: a tile of roofs, which fills cells of your board. Click one of the
two cards.

MOVE 1
The opponent has built a pavilion on its own board. Move 1 space. Your token will be on the north side, so your tile
will come from the north.

BUILD purple 2/2+1
Build now: click this card of your hand. Its number is the price: 2 cards, itself included. It shows a purple tile of 2
roofs and one superstructure, a dome that you put on a roof.

PAY purple 5/4+2
Pay one more card. It must be purple or wild; what it shows does not matter now.

PLACE north o0 lane 2
The tile slides in from the north until another tile or the statue, the figure in the middle, stops it: no tile may
slide to the far edge. Click the glowing cells of your board. In your own games, R rotates a tile and F flips it.

ROOF r2c3
Put the superstructure on the glowing roof. At the end it scores {c.points_crossing} if its row and its column are
full, and {c.points_line} if only one of them is.

MOVE 3
Each full row scores {c.points_row} and each full column {c.points_column} at the end; the statue fills its cell.
Collect cards for a larger tile: move 3.

DRAW
Draw two cards. The score sheet at the side counts your points at any time.

MOVE 3
Move 3 spaces. Rest the pointer on any card to read what it builds and costs.

DRAW
Draw once more. The hand limit is {c.hand_limit} cards, and this exceeds it.

DISCARD yellow 3/4
Discard a card that you need least: this yellow one, because you collect red.

MOVE 1
Move 1 space, to the north side again.

BUILD red 5/4+2
This red card is expensive: 5 cards in all, for a tile of 4 roofs with two superstructures. Build it.

PAY red 1/2
Pay four more cards, red or wild. Here is the first.

PAY red 1/2
The second card.

PAY red 2/3
The third card.

PAY wild
The last one is a wild card: it pays as any color.

PLACE north o0 lane 1
The shields are coats of arms. The glowing place covers one, so that you win it. Click it. For later: a tile that
touches another one of its color also draws a card from the draw pile.

ROOF r0c2
Put the first superstructure on the glowing roof, and the second one below it: both then score with the same column.

ROOF r1c2
And the second one here.

USE extra_superstructure
The coat of arms lies in your meadow. It pays for one action of the action board. You can use
each action once per game, and so can the opponent. Choose Extra superstructure, which is possible after a build.

ROOF r1c1
Put it on the tile that you have just built. Then the turn ends by itself, because you can do nothing else. With
another coat, you would press a button to end it.
""")
END = (
    "You know the game now. It continues, and from here on you choose. Everything that glows is possible. Click "
    "anything else to read why it is not. You choose several cards in any order and then confirm them. The round in "
    "which the draw pile first becomes empty is the last one. The discard pile is shuffled so that all can finish it."
)
