"""Write the report of a retraining study: a Markdown page with figures, and all numbers as JSON.

The report is a deterministic function of the data (`helsinki_env.evaluation.balance.helsinki.retraining.results`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from helsinki_env.evaluation.balance.helsinki.figures import forest_plot
from helsinki_env.evaluation.balance.helsinki.retraining.run import TEST_CONDITIONS
from helsinki_env.evaluation.balance.helsinki.tune.report import action_label_markdown, signed
from helsinki_env.utils.markdown import all_printable, code_span, escape_outside_code, markdown_table

__all__ = ["retraining_report_files"]

Data = Mapping[str, Any]


def retraining_report_files(data: Data) -> dict[Path, bytes]:
    """Return the contents of the report files by relative path."""
    shown = all_printable(data)
    study, claims = {"band": shown["asked"]["band"]}, list(shown["asked"]["claims"])
    retested = forest_plot({"study": study, "actions": claims, "screen": [*_retested(shown, claims)]})
    every = forest_plot({"study": study, "actions": shown["actions"], "screen": shown["screen"]})
    return {
        Path("retrained.md"): ("\n\n".join(_page(shown)) + "\n").encode(),
        Path("retrained.json"): (json.dumps(data, indent=1, allow_nan=False) + "\n").encode(),
        Path("images", "retrained-forest.svg"): retested,
        Path("images", "habit-forest.svg"): every,
    }


def _retested(data: Data, claims: Sequence[str]) -> Iterator[Data]:
    """Yield the re-tested actions, zero-shot and retrained, in the form of a forest plot."""
    seeds = sorted({entry["seed"] for entry in data["screen"]})
    for n in sorted({entry["players"] for entry in data["screen"]}):
        habit = {entry["seed"]: entry["actions"] for entry in data["screen"] if entry["players"] == n}
        retrained = {seed: [e for e in data["meetings"] if (e["seed"], e["players"]) == (seed, n)] for seed in seeds}
        for way, found in (("habit", habit), ("retrained", retrained)):
            for seed in seeds:
                by_name = {one["action"]: one for one in found[seed]}
                player = f"{way}, seed {seed}"
                yield {"player": player, "players": n, "actions": [by_name[action] for action in claims]}


def _page(data: Data) -> Iterator[str]:
    """Yield the paragraphs of the page."""
    asked = data["asked"]
    yield "# Conclusions re-tested with retrained players"
    yield "\n".join(f"- {escape_outside_code(sentence)}" for sentence in data["summary"])
    yield "![Effect of each action minus the mean effect](images/retrained-forest.svg)"
    yield (
        "*Effect of each action minus the mean effect. Habit: a network trained with all actions is denied actions by "
        "design, in all seats. Retrained: a seat is denied the action and was trained without it, among others that "
        "have it. Lines: intervals that hold simultaneously, separately for habit and retrained. Gray: the equivalence "
        "margin.*"
    )
    yield _verdicts(data)
    yield "## What a seat wins without the action"
    yield (
        "Games won of 100, with individual 95% intervals, on the same deals. The intervals cover the luck of deals, "
        "not the differences between networks trained in the same way. Habit: a network trained with all actions is "
        "denied the action. Retrained: a network trained without the action is denied it. Regained: the difference. At "
        "home: the network trained without the action, where it is covered for all, against those trained with it. A "
        "win rate above the chance level there comes from its strength, or from training on exactly this game."
    )
    yield _meetings(data)
    yield "## All actions (habit)"
    yield "![Effect of each action minus the mean effect, by network](images/habit-forest.svg)"
    yield "*Screening experiments: each network trained with all actions takes all seats.*"
    yield "## The networks"
    yield _networks(data)
    yield "## Where the numbers come from"
    p = data["provenance"]
    yield (
        f"Made by {code_span('helsinki balance retrain ' + asked['name'])}, seed {asked['seed']}, training preset "
        f"{code_span(asked['preset'])}; {p['environment']}, helsinki-env {p['package']}, NumPy {p['numpy']}, SciPy "
        f"{p['scipy']}. All numbers: retrained.json."
    )
    yield _table(["part", "seed", "games"], [[part, e["seed"], f"{e['games']:,}"] for part, e in p["parts"].items()])


def _verdicts(data: Data) -> str:
    rows = [
        [action_label_markdown(one["action"]), one["players"], one["claim"], one["habit"], one["retrained"]]
        for one in data["verdicts"]
    ]
    return _table(["action", "players", "claim", "habit", "retrained"], rows, left=5)


def _meetings(data: Data) -> str:
    rows = []
    for one in data["meetings"]:
        won = (one["won"][way] for way in TEST_CONDITIONS)
        habit, retrained, at_home = (f"{w['share']:.1f} ({w['low']:.1f} to {w['high']:.1f})" for w in won)
        rows.append([
            action_label_markdown(one["action"]), one["players"], one["seed"], f"{one['decks']:,}", habit, retrained,
            _interval(one, "regained"), at_home, _interval(one, "deviation"),
        ])  # fmt: skip
    ways = ["habit", "retrained", "regained", "at home"]
    return _table(["action", "players", "seed", "deals", *ways, "deviation"], rows)


def _networks(data: Data) -> str:
    rows = []
    for one in data["networks"]:
        won = "; ".join(
            f"{s['share']:.1%} ({s['low']:.1%} to {s['high']:.1%}) against {s['opponent']}, {s['players']} players"
            for s in one["standings"]
        )
        trained = f"without {action_label_markdown(one['without'])}" if one["without"] else "with all actions"
        size = f"{one['positions']:,} and {one['decisions']:,}"
        rows.append([trained, one["seed"], size, f"{one['minutes']:.1f}", won, code_span(one["digest"])])
    head = ["trained", "seed", "supervised samples and self-play steps", "minutes", "games won", "file"]
    return _table(head, rows)


def _interval(one: Data, key: str) -> str:
    return f"{signed(one[key])} ({signed(one[f'{key}_low'])} to {signed(one[f'{key}_high'])})"


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]], left: int = 1) -> str:
    return markdown_table(head, [[str(cell) for cell in row] for row in rows], left)
