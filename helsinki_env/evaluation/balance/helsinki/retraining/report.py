"""Write the report of a retraining study: a Markdown page with figures, and all numbers as JSON.

The report is a deterministic function of the data (`helsinki_env.evaluation.balance.helsinki.retraining.results`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
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
    files = {
        Path("retrained.md"): ("\n".join(_page(shown)) + "\n").encode(),
        Path("retrained.json"): (json.dumps(data, indent=1, allow_nan=False) + "\n").encode(),
    }
    pictures = {
        "retrained-forest": forest_plot(_drawn(shown)),
        "habit-forest": forest_plot(
            {"study": {"band": shown["asked"]["band"]}, "actions": shown["actions"], "screen": shown["screen"]}
        ),
    }
    return files | {Path("images", f"{name}.svg"): picture for name, picture in pictures.items() if picture}


def _drawn(data: Data) -> Data:
    """Return the re-tested actions, zero-shot and retrained, in the form of a forest plot."""
    asked, seeds = list(data["asked"]["claims"]), sorted({entry["seed"] for entry in data["screen"]})
    entries = []
    for n in sorted({entry["players"] for entry in data["screen"]}):
        for seed in seeds:
            of_screen = next(e for e in data["screen"] if (e["seed"], e["players"]) == (seed, n))
            by_name = {one["action"]: one for one in of_screen["actions"]}
            entries.append(
                {"player": f"habit, seed {seed}", "players": n, "actions": [by_name[name] for name in asked]}
            )
        for seed in seeds:
            own = {one["action"]: one for one in data["meetings"] if (one["seed"], one["players"]) == (seed, n)}
            entries.append({"player": f"retrained, seed {seed}", "players": n, "actions": [own[a] for a in asked]})
    return {"study": {"band": data["asked"]["band"]}, "actions": asked, "screen": entries}


def _page(data: Data) -> Iterator[str]:
    asked = data["asked"]
    yield "# Verdicts asked anew of players that learnt for it"
    yield ""
    for sentence in data["summary"]:
        yield f"- {escape_outside_code(sentence)}"
    yield ""
    yield "![How much more or less actions are worth than the average one](images/retrained-forest.svg)"
    yield ""
    yield (
        "*How much more (right) or less (left) an action is worth than the average one. By habit: a network that has "
        "learnt with all actions, denied them by design in all seats. Retrained: a seat that is denied the action and "
        "has learnt without it, among others that have it. Lines: intervals that hold for all at once, by habit and "
        "retrained in turn. Grey: the band.*"
    )
    yield ""
    yield _verdicts(data)
    yield ""
    yield "## What a seat wins without the action"
    yield ""
    yield (
        "Of a hundred games, with 95 % intervals, each by itself, which tell how much depends on the decks and not how "
        "much networks differ that learnt alike; the same decks for all. By habit: a network that has learnt with all "
        "actions is denied it; retrained: one that has learnt without it is denied it; regained: the difference. At "
        "home: the one that has learnt without it, where it is covered for all, against those that learnt with it: "
        "what it wins there beyond its fair share is its strength, or that it has built its play on doing without."
    )
    yield ""
    yield _meetings(data)
    yield ""
    yield "## All actions by habit"
    yield ""
    yield "![How much more or less all actions are worth to each network](images/habit-forest.svg)"
    yield ""
    yield "*The screens: every network that has learnt with all actions, in all seats.*"
    yield ""
    yield "## The networks"
    yield ""
    yield _networks(data)
    yield ""
    yield "## Where the numbers come from"
    yield ""
    p = data["provenance"]
    yield (
        f"Made by {code_span('helsinki balance retrain ' + asked['name'])}, seed {asked['seed']}, networks by the "
        f"preset {code_span(asked['preset'])}; {p['environment']}, helsinki-env {p['package']}, NumPy {p['numpy']}, "
        f"SciPy {p['scipy']}. All numbers: retrained.json."
    )
    yield ""
    yield markdown_table(
        ["part", "seed", "games"],
        [[part, str(entry["seed"]), f"{entry['games']:,}"] for part, entry in p["parts"].items()],
    )


def _verdicts(data: Data) -> str:
    rows = [
        [action_label_markdown(one["action"]), one["players"], one["claim"], one["habit"], one["retrained"]]
        for one in data["verdicts"]
    ]
    return markdown_table(["action", "players", "it was said to be", "by habit", "retrained"], _cells(rows), left=5)


def _meetings(data: Data) -> str:
    rows = []
    for one in data["meetings"]:
        shares = [
            f"{w['share']:.1f} ({w['low']:.1f} to {w['high']:.1f})"
            for w in (one["won"][way] for way in TEST_CONDITIONS)
        ]
        rows.append([
            action_label_markdown(one["action"]), one["players"], one["seed"], f"{one['decks']:,}", shares[0],
            shares[1], _between(one, "regained"), shares[2], _between(one, "deviation"),
        ])  # fmt: skip
    head = [
        "action",
        "players",
        "seed",
        "decks",
        TEST_CONDITIONS[0],
        TEST_CONDITIONS[1],
        "regained",
        TEST_CONDITIONS[2],
        "worth beyond the average",
    ]
    return markdown_table(head, _cells(rows))


def _networks(data: Data) -> str:
    rows = []
    for one in data["networks"]:
        won = "; ".join(
            f"{s['share']:.1%} ({s['low']:.1%} to {s['high']:.1%}) against {s['opponent']}, {s['players']} players"
            for s in one["standings"]
        )
        learnt = f"without {action_label_markdown(one['without'])}" if one["without"] else "with all actions"
        size = f"{one['positions']:,} and {one['decisions']:,}"
        rows.append([learnt, one["seed"], size, f"{one['minutes']:.1f}", won, code_span(one["digest"])])
    head = ["learnt", "seed", "positions of the heuristic and decisions of its own", "minutes", "games won", "file"]
    return markdown_table(head, _cells(rows))


def _between(one: Data, key: str) -> str:
    return f"{signed(one[key])} ({signed(one[f'{key}_low'])} to {signed(one[f'{key}_high'])})"


def _cells(rows: list[list[Any]]) -> list[list[str]]:
    return [[str(cell) for cell in row] for row in rows]
