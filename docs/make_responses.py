"""Collect best responses in docs/responses.json, and write their tables on the model cards.

python benchmarks/best_responses.py benchmarks/best_responses.yaml --out runs/responses
python docs/make_responses.py runs/responses
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from helsinki_env.cli.options import SectionPage
from helsinki_env.data import UserError, read_json
from helsinki_env.evaluation.match_stats import mean_and_half_width
from helsinki_env.utils.files import write_json
from helsinki_env.utils.markdown import code_span, markdown_table

DOCS = Path(__file__).parent
CARDS = {"helsinki": DOCS / "model-card.md", "copenhagen": DOCS / "model-card-copenhagen.md"}
RESPONSES = DOCS / "responses.json"


def collected(run: Path) -> dict[str, Any]:
    """Return the win rates of all responses, in %, by game, target, response, player count and training seed."""
    found: dict[str, Any] = read_json(RESPONSES, UserError).value if RESPONSES.exists() else {}
    for path in sorted((run / "results").glob("*.json")):
        data = read_json(path, UserError).value
        result = data["result"]
        rates = {key: round(100 * result[key], 1) for key in ("share", "low", "high")}
        found[data["response"]] = {"games": result["games"], "players": result["players"], **rates}
    return dict(sorted(found.items()))


def rows(game: str, found: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a game: target, response, players, win rates, excess over the chance level."""
    named = [(*name.split("-"), one) for name, one in found.items() if name.startswith(f"{game}-")]
    for (_, target, response, players), group in groupby(named, key=lambda one: tuple(one[:4])):
        ones = [one[-1] for one in group]
        chance = 100 / int(players)
        excess = [one["share"] - chance for one in ones]
        if len(ones) > 1:  # an interval over training seeds, and over deals, which all seeds share
            mean, half = mean_and_half_width(np.array(excess))
            half = float(np.hypot(half, np.mean([one["high"] - one["low"] for one in ones]) / 2))
            text = f"{mean:+.1f} ± {half:.1f}"
        else:
            text = f"{excess[0]:+.1f} ({ones[0]['low'] - chance:+.1f} to {ones[0]['high'] - chance:+.1f})"
        seeds = "1 seed" if len(ones) == 1 else f"{len(ones)} seeds"
        response = f"trained, {seeds}" if response == "train" else code_span(response)
        rates = ", ".join(f"{one['share']:.1f}% ({one['low']:.1f}-{one['high']:.1f})" for one in ones)
        yield code_span(target), response, players, rates, text


def main() -> None:
    """Collect the responses of a run, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of benchmarks/best_responses.py")
    found = collected(parser.parse_args().run)
    write_json(RESPONSES, found)
    head = ("target", "response", "players", "win rate of the response", "above chance level")
    for game, card in CARDS.items():
        table = markdown_table(head, list(rows(game, found)), left=4)
        SectionPage(card, ["responses"]).write({"responses": f"\n{table}\n\n"})


if __name__ == "__main__":
    main()
