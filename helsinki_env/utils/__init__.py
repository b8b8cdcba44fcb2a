"""Helpers for files, processes and terminals. They are independent of any game."""
