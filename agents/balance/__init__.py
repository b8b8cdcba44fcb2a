"""What being denied a thing costs, in any game: models of games in which seats were denied some at random."""
