"""Data from outside: how text becomes plain values, and how these are checked.

Everything that is read from a file or from a line goes this way, in two steps. First text becomes plain data: nothing
is executed, and whatever somebody wrote into the text, it takes neither long nor much memory to find out. Then values
are taken out of it by `Entry`, which knows where each of them stands and complains in one form:

    >>> game = parse_json('{"seats": [2, 2.5]}', ValueError, "game.json")
    >>> game["seats"].entries("numbers of players")[1].integer(2, 4)
    Traceback (most recent call last):
    ...
    ValueError: game.json: seats[1]: found 2.5, expected a whole number from 2 to 4

Configurations that are made in Python check their values with the same words: ``Entry(value, ConfigError, "games")``.
"""

from helsinki_env.data.entry import Entry
from helsinki_env.data.errors import UserError
from helsinki_env.data.from_json import parse_json, read_json
from helsinki_env.data.from_yaml import parse_yaml, read_yaml
from helsinki_env.data.integers import has_boolean, is_boolean, whole_number
from helsinki_env.data.messages import brief, one_of, shown
from helsinki_env.data.seal import digest_of, sealed

__all__ = [
    "Entry",
    "UserError",
    "brief",
    "digest_of",
    "has_boolean",
    "is_boolean",
    "one_of",
    "parse_json",
    "parse_yaml",
    "read_json",
    "read_yaml",
    "sealed",
    "shown",
    "whole_number",
]
