"""Texts for people: the rules of a configuration, help on what a picture shows, reasons, and points by category."""

from helsinki_env.games.helsinki.help.events import said
from helsinki_env.games.helsinki.help.facts import WEIGHTS, fact_words, facts
from helsinki_env.games.helsinki.help.lesson import lesson
from helsinki_env.games.helsinki.help.reasons import why_not
from helsinki_env.games.helsinki.help.rules import action_sentence, rules_text
from helsinki_env.games.helsinki.help.scoring import effects, score_sheet
from helsinki_env.games.helsinki.help.spots import help_text

__all__ = [
    "WEIGHTS",
    "action_sentence",
    "effects",
    "fact_words",
    "facts",
    "help_text",
    "lesson",
    "rules_text",
    "said",
    "score_sheet",
    "why_not",
]
