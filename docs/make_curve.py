"""Draw the learning curve of `net` from the table in the training log.

python docs/make_curve.py docs/images/curve-standard.svg
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from matplotlib.figure import Figure

LOG = Path(__file__).parent / "notes" / "training-log.md"
CHANCE = {2: 50.0, 3: 100 / 3, 4: 25.0}


def measurements() -> list[list[float]]:
    """Return rows of minutes, self-play steps, and percentages of games won with two, three and four players."""
    section = LOG.read_text(encoding="utf-8").split("## Strength of net during training")[1]
    rows = re.findall(r"^\| (\d+) \| ([\d,]+) \| ([\d.]+)% \| ([\d.]+)% \| ([\d.]+)% \|", section, re.MULTILINE)
    return [[float(cell.replace(",", "")) for cell in row] for row in rows]


def main() -> None:
    """Write the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the SVG file")
    arguments = parser.parse_args()
    rows = measurements()
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.add_subplot()
    for column, players in enumerate(CHANCE, start=2):
        (line,) = axes.plot([row[1] / 1e6 for row in rows], [row[column] for row in rows], marker="o")
        axes.axhline(CHANCE[players], color=line.get_color(), linestyle=":", linewidth=1)
        axes.annotate(
            f"{players} players", (rows[-1][1] / 1e6, rows[-1][column]), xytext=(8, -3), textcoords="offset points"
        )
    axes.set(
        xlabel="self-play steps (millions)", ylabel="games won against heuristic (%)", ylim=(0, 100), xlim=(-0.2, 9.4)
    )
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(arguments.out, metadata={"Date": None})


if __name__ == "__main__":
    main()
