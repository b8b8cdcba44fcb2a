"""Helpers for files, processes and terminals, which do not depend on any game."""
