"""Texts for people: help on what a picture shows, reasons, and points by category."""

from helsinki_env.games.copenhagen.help import lesson
from helsinki_env.games.copenhagen.help.facts import WEIGHTS, fact_words, facts
from helsinki_env.games.copenhagen.help.scoring import effects, score_sheet
from helsinki_env.games.copenhagen.help.spots import help_text, why_not

__all__ = ["WEIGHTS", "effects", "fact_words", "facts", "help_text", "lesson", "score_sheet", "why_not"]
