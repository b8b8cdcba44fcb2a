"""The games, each in a separate package that is independent of the others."""

#: The game of data and commands that name none.
DEFAULT = "helsinki"
