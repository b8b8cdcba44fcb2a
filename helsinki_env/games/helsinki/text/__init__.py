"""Rules, positions and events of Helsinki in words, for `helsinki_env.text`."""

from helsinki_env.games.helsinki.text.position_text import cell_name, describe_events, position_lines
from helsinki_env.games.helsinki.text.rules import rule_sections

__all__ = ["cell_name", "describe_events", "position_lines", "rule_sections"]
