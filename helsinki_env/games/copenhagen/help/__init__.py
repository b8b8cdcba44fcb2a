"""Texts for people: the rules of a configuration, help on what a picture shows, reasons, and points by category."""

from helsinki_env.games.copenhagen.help.facts import WEIGHTS, fact_words, facts
from helsinki_env.games.copenhagen.help.lesson import lesson
from helsinki_env.games.copenhagen.help.reasons import why_not
from helsinki_env.games.copenhagen.help.rules import ability_sentence, rules_text
from helsinki_env.games.copenhagen.help.scoring import effects, score_sheet
from helsinki_env.games.copenhagen.help.spots import help_text

__all__ = [
    "WEIGHTS",
    "ability_sentence",
    "effects",
    "fact_words",
    "facts",
    "help_text",
    "lesson",
    "rules_text",
    "score_sheet",
    "why_not",
]
