"""Parse and validate external data.

Data from files and command lines is processed in two steps. First, text is parsed into plain data: dicts, lists,
strings, numbers, booleans and None. Parsing executes no code, and its time and memory are bounded for any input. Then
`Node` extracts the values. It records the location of each value, so that all error messages have the same form:

    >>> game = parse_json('{"seats": [2, 2.5]}', ValueError, "game.json")
    >>> game["seats"].entries("player counts")[1].integer(2, 4)
    Traceback (most recent call last):
    ...
    ValueError: game.json: seats[1]: found 2.5, expected a whole number from 2 to 4

The same checks apply to configurations built in Python: ``Node(value, ConfigError, "games")``.
"""

from helsinki_env.data.node import (
    FAST_INTEGER_TYPES,
    Node,
    UserError,
    as_action,
    as_integer,
    check_same_settings,
    choices_text,
    digest_of,
    has_boolean,
    is_boolean,
    seed_to_uint64,
    short_repr,
    shorten,
    with_digest,
)
from helsinki_env.data.parsing import parse_json, parse_yaml, read_json, read_stored_settings, read_yaml

__all__ = [
    "FAST_INTEGER_TYPES",
    "Node",
    "UserError",
    "as_action",
    "as_integer",
    "check_same_settings",
    "choices_text",
    "digest_of",
    "has_boolean",
    "is_boolean",
    "parse_json",
    "parse_yaml",
    "read_json",
    "read_stored_settings",
    "read_yaml",
    "seed_to_uint64",
    "short_repr",
    "shorten",
    "with_digest",
]
