"""Define the guided game: the seed of its deal, and each action of the learner with its explanation.

In the texts, `c` refers to the components of the configuration; `helsinki_env.web.help` inserts their values.
"""

from __future__ import annotations

from helsinki_env.engine.ui_actions import lesson_steps

__all__ = ["END", "SEED", "STEPS"]

SEED = 10
STEPS = lesson_steps("""
TAKE 2
Welcome! In a turn you either take two cards or construct with a tile. You need cards of one color: take the glowing
purple card of the display at the top.

USE any_cards
The second card must lie next to the first. Your ability Any cards lifts that once. Click it, on the right of your
facade.

TAKE 6
Now take the other purple card, at the end of the display.

TAKE 0
The opponent has taken cards. Now take two cards next to each other: first the red one. The red label tells you that
the End of Game card is in the draw pile: when it is drawn, the game ends.

TAKE 1
Then the yellow one next to it. At the end of a turn the display is filled up.

BUILD purple 3
You hold three purple cards. Construct: a tile of three cells costs three cards of its color, and one less if it
touches a tile of that color. Click it in the supply at the right.

PLACE 1 at 2,0
One cell of a tile needs the ground or a filled cell below it; the others may hang over. The glowing place covers a
coat of arms, and that wins a reward. Click it. In your own games, R rotates a tile and F flips it.

ABILITY both_actions
Choose the reward: a white tile, a new ability, or your used abilities turned back. Both actions lets you construct
after you take cards, once.

TAKE 5
You have paid most of your cards, so take new ones: the red card.

TAKE 6
And the yellow card next to it.

END
You could use Both actions now, but a larger tile is worth the wait. End the turn.

TAKE 5
Take two more cards: the green one first.

TAKE 6
The red one is what you need: four cards of one color pay for a tile of four cells.

END
End the turn. You may hold {c.hand_limit} cards; with more you would discard some.

BUILD red 4
You can pay for the red tile of four cells now. Choose it.

PLACE 0 at 0,0
Lay it at the left, on the ground. A colored tile shows one brick; its other cells are windows.

TAKE 0
Your two lowest rows need two more cells each. Yellow fits there: take the yellow card.

TAKE 1
And the card next to it.

END
End the turn. Next time you complete rows.

BUILD yellow 3
Construct with the yellow tile of three cells.

PLACE 4 at 3,0
This place completes a row; a white tile will fill the gap. A full row scores {c.points_row}, and
{c.points_row_windows} if it shows windows only; a full column {c.points_column} or {c.points_column_windows}. A coat of
arms next to the row wins another reward. Click the glowing cells.

WHITE 3,0
Take a white tile as the reward: it fills the last gap of the lowest row and scores at once.
""")
END = (
    "You know the game now. It continues, and from here on you choose. Everything that glows is possible. Click "
    "anything else to read why it is not. You choose several cards in any order and then confirm them. A player with "
    "{c.goal} points wins at once. Otherwise, the End of Game card ends the game, and the most points win."
)
