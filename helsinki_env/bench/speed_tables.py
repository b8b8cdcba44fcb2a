"""Tables of speed measurements, for terminals and pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from helsinki_env.bench.speed import Measurement
from helsinki_env.utils import markdown


class SpeedTable(NamedTuple):
    """A table."""

    title: str  # title above the table
    head: Sequence[str]  # column names
    rows: Sequence[Sequence[str]]  # rows of cells, plain text

    def show(self, console: Console) -> None:
        """Print the table; narrow terminals wrap cells between words, very narrow ones anywhere."""
        table = Table(title=self.title, box=SIMPLE_HEAD, padding=0, show_edge=False)
        columns = list(zip(self.head, *self.rows, strict=True))
        least = [max(len(word) for cell in column for word in cell.split()) for column in columns]
        room = console.width - sum(least) - (len(columns) - 1)
        for i, (column, width) in enumerate(zip(columns, least, strict=True)):
            more = min(max(room, 0), max(map(len, column)) - width)
            table.add_column(column[0], justify="right" if i else "left", width=width + more, overflow="fold")
            room -= more
        for row in self.rows:
            table.add_row(*row)
        console.print(table)

    def markdown(self) -> str:
        """Return the table as Markdown."""
        rows = [[markdown.escape_markdown(cell) for cell in row] for row in self.rows]
        return f"{markdown.markdown_table(self.head, rows)}\n"


def format_rate(rate: float) -> str:
    """Format a rate: an integer with commas, or three digits below a thousand."""
    return f"{rate:,.0f}" if rate >= 1000 else f"{rate:.3g}"


def _share(ratio: float) -> str:
    return f"{ratio:.4f}" if ratio >= 0.001 else f"{ratio:.1e}"


def machine_text(machine: dict[str, Any]) -> str:
    """Describe the machine of a measurement in one sentence."""
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, Python {machine['python']}, "
        f"NumPy {machine['numpy']}, Numba {machine['numba']}."
    )


# One revision


def cells(row: Measurement) -> list[str]:
    """Return the table cells of a row."""
    chosen = "" if row.with_choosing is None else f"{row.with_choosing:,.0f}"
    rates = [format_rate(row.per_second), chosen, _share(row.ratio)]
    return [row.name, f"{row.batch:,}", f"{row.threads}", *rates]


def speed_table(result: dict[str, Any], what: str) -> SpeedTable:
    """Return the results of `run_benchmark` as a table."""
    head = ("measured", "games", "threads", "decisions/s", "with choosing", "x yardstick")
    title = f"{what}: uniformly random legal play but for the last rows; medians"
    return SpeedTable(title, head, [cells(Measurement(**row)) for row in result["rows"]])


def yardstick_text(result: dict[str, Any]) -> str:
    """Describe the baseline in two sentences."""
    yard = result["yardstick"]
    rate = f"Yardstick: {yard['steps_per_second']:,.0f} steps/s of {yard['bytes']:,} bytes on one thread."
    return f"{rate} State: {result['state_bytes']:,} bytes a game."


def measured_part(result: dict[str, Any], command: str) -> str:
    """Return the results of `run_benchmark` as a section of a page."""
    table = speed_table(result, result["game"].capitalize())
    intro = f"By `{command}`: {machine_text(result['machine'])} {yardstick_text(result)}"
    return _part([intro, f"{table.title}:", table.markdown()])


# Two revisions


def comparison_table(result: dict[str, Any], game: str) -> SpeedTable:
    """Return the results of a `Comparison` for a game as a table."""
    commit, rows = result["against"]["revision"], []
    for row in (row for row in result["rows"] if row["game"] == game):
        rates = [format_rate(row[key]) if key in row else "-" for key in ("then_median", "now_median")]
        rows.append([row["name"], f"{row['games']:,}", f"{row['threads']}", *rates, *_ratios(row)])
    title = f"{game.capitalize()}: decisions/s, this code against {commit}, medians of {result['pairs']} pairs"
    return SpeedTable(title, ("measured", "games", "threads", commit, "this code", *_RATIOS), rows)


def within_table(result: dict[str, Any]) -> SpeedTable:
    """Return the results of a `Comparison` within the running project as a table."""
    rows = [[row["name"], *_ratios(row)] for row in result["within"]]
    return SpeedTable("Within this code, in the same pairs", ("measured", *_RATIOS), rows)


def missing_measurements(result: dict[str, Any]) -> list[str]:
    """Return the missing measurements of a `Comparison`, one sentence for each reason."""
    sides = {"now": "here", "then": f"at {result['against']['revision']}"}
    found: dict[str, list[str]] = {}
    for row in result["rows"]:
        for side, why in row["lacks"].items():
            found.setdefault(f"Not measured {sides[side]}: {why}", []).append(f"{row['game']}: {row['name']}")
    return [f"{reason} ({'; '.join(rows)})." for reason, rows in found.items()]


def compared_part(result: dict[str, Any], command: str) -> str:
    """Return the results of a `Comparison` as a section of a page."""
    old, games = result["against"], dict.fromkeys(row["game"] for row in result["rows"])
    intro = (
        f"By `{command}`: this code (commit {result['revision']}) against commit {old['revision']} of {old['date']}, "
        f"{result['pairs']} pairs, {result['seconds']:g} s for each row, pair and side."
    )
    tables = [comparison_table(result, game) for game in games] + ([within_table(result)] if result["within"] else [])
    titled = [text for table in tables for text in (f"{table.title}:", table.markdown())]
    return _part(
        [
            f"{intro} {machine_text(result['machine'])}",
            *titled,
            *map(markdown.escape_markdown, missing_measurements(result)),
        ]
    )


_RATIOS = ("times as fast", "lowest to highest", "95% interval")


def _ratios(row: dict[str, Any]) -> list[str]:
    """Return the cells for a median and its interval."""
    if "median" not in row:
        return ["-", "", ""]
    ranges = [row[name] for name in ("interval_95",) if row[name]]
    found = [f"{low:.2f} to {high:.2f}" for low, high in [(row["lowest"], row["highest"]), *ranges]]
    return [f"{row['median']:.2f}", *found, *[""] * (2 - len(found))]


def _part(texts: Sequence[str]) -> str:
    return "\n" + "\n\n".join(text.strip() for text in texts) + "\n\n"
