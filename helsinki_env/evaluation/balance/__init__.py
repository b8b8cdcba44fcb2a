"""Effects of disabled actions in any game, from games in which seats were denied actions at random."""
