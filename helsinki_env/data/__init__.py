"""Parse and validate external data.

Data from files and command lines is processed in two steps. First, text becomes plain data: nothing is executed, and
time and memory are bounded for any input. Then `Entry` extracts the values; it knows the location of each value and
reports all errors in one form:

    >>> game = parse_json('{"seats": [2, 2.5]}', ValueError, "game.json")
    >>> game["seats"].entries("numbers of players")[1].integer(2, 4)
    Traceback (most recent call last):
    ...
    ValueError: game.json: seats[1]: found 2.5, expected a whole number from 2 to 4

Configurations built in Python use the same checks: ``Entry(value, ConfigError, "games")``.
"""

from helsinki_env.data.digest import digest_of, sealed
from helsinki_env.data.entry import Entry
from helsinki_env.data.errors import UserError
from helsinki_env.data.from_json import parse_json, read_json
from helsinki_env.data.from_yaml import parse_yaml, read_yaml
from helsinki_env.data.integers import has_boolean, is_boolean, whole_number
from helsinki_env.data.messages import brief, one_of, shown

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
