"""Rules, positions and events of Copenhagen in words, for `helsinki_env.text`."""

from helsinki_env.games.copenhagen.text.position_text import cell_name, describe_events, position_lines
from helsinki_env.games.copenhagen.text.rules import rule_sections

__all__ = ["cell_name", "describe_events", "position_lines", "rule_sections"]
