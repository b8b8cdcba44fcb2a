"""Helpers for files, processes and terminals. They know nothing of games."""
