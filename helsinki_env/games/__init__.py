"""The games, each in a separate package that is independent of the others."""
