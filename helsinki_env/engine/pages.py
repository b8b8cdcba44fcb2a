"""Parts of the documentation pages that `python -m helsinki_env.pages docs` writes for each game."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from helsinki_env.engine.layout import ObservationLayout

__all__ = ["action_table_lines", "observation_page"]


def action_table_lines(
    kinds: Iterable[tuple[str, int]], arguments: Mapping[str, str], action_to_string: Callable[[int], str]
) -> list[str]:
    """Return the Markdown table of the kinds of actions, given their numbers of ids and meanings of their arguments."""
    lines = ["| kind | ids | argument | first and last as text |", "| --- | --- | --- | --- |"]
    first = 0
    for name, size in kinds:
        last = first + size - 1
        ids = f"{first} to {last}" if last > first else f"{first}"
        texts = dict.fromkeys(f"`{action_to_string(action)}`" for action in (first, last))
        lines.append(f"| {name} | {ids} | {arguments[name]} | {', '.join(texts)} |")
        first += size
    return lines


def observation_page(title: str, layout: ObservationLayout, unpack: str, notes: Iterable[str] = ()) -> str:
    """Return the page of the observation's fields, as Markdown."""
    lines = [
        f"# {title}",
        "",
        "Written by `python -m helsinki_env.pages docs`. An observation is a flat `int8` array of",
        f"{layout.size} entries, as seen from one seat. Seats come in the order self, next clockwise, and so on;",
        "unused seats are zero.",
        "No entry is negative: codes are shifted by one, so that 0 means none.",
        f"`{unpack}(obs)` returns the fields by name as views of these shapes.",
        "",
        layout.markdown(),
        *notes,
    ]
    return "\n".join(lines) + "\n"
