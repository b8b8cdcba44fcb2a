"""Texts for people: help on what a picture shows, reasons, and points by category."""

from helsinki_env.games.helsinki.help import lesson
from helsinki_env.games.helsinki.help.events import said
from helsinki_env.games.helsinki.help.facts import WEIGHTS, fact_words, facts
from helsinki_env.games.helsinki.help.scoring import effects, score_sheet
from helsinki_env.games.helsinki.help.spots import help_text, why_not

__all__ = ["WEIGHTS", "effects", "fact_words", "facts", "help_text", "lesson", "said", "score_sheet", "why_not"]
