"""Parse and validate external data.

Data from files and command lines are processed in two steps. First, text is parsed into plain data: nothing is
executed, and time and memory are bounded for any input. Then `Node` extracts the values. It knows the location of each
value and reports all errors in one form:

    >>> game = parse_json('{"seats": [2, 2.5]}', ValueError, "game.json")
    >>> game["seats"].entries("player counts")[1].integer(2, 4)
    Traceback (most recent call last):
    ...
    ValueError: game.json: seats[1]: found 2.5, expected a whole number from 2 to 4

Configurations built in Python use the same checks: ``Node(value, ConfigError, "games")``.
"""

from helsinki_env.data.node import (
    FAST_INTEGER_TYPES,
    Node,
    UserError,
    as_action,
    as_integer,
    choices_text,
    digest_of,
    has_boolean,
    is_boolean,
    seed_to_uint64,
    short_repr,
    shorten,
    with_digest,
)
from helsinki_env.data.parsing import parse_json, parse_yaml, read_json, read_yaml

__all__ = [
    "FAST_INTEGER_TYPES",
    "Node",
    "UserError",
    "as_action",
    "as_integer",
    "choices_text",
    "digest_of",
    "has_boolean",
    "is_boolean",
    "parse_json",
    "parse_yaml",
    "read_json",
    "read_yaml",
    "seed_to_uint64",
    "short_repr",
    "shorten",
    "with_digest",
]
