"""Write the report of a search: a Markdown page with a figure, all results as JSON, and a file to play the proposal.

Everything except the proposal file is a deterministic function of the data from
`helsinki_env.evaluation.balance.helsinki.tune.results`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from helsinki_env.evaluation.balance.helsinki.base import versions_text
from helsinki_env.evaluation.balance.helsinki.estimates import GAME_MEASURES
from helsinki_env.evaluation.balance.helsinki.figures import forest_plot
from helsinki_env.evaluation.balance.helsinki.report import plus_minus
from helsinki_env.evaluation.balance.helsinki.tune.config import BALANCE, LIFT
from helsinki_env.evaluation.balance.search_report import PROPOSAL
from helsinki_env.games.helsinki.action_numbers import STRENGTHS
from helsinki_env.utils.markdown import all_printable, code_span, escape_markdown, escape_outside_code, markdown_table

__all__ = ["play_command", "tune_report_files"]

Data = Mapping[str, Any]

_DISTANCE = {
    BALANCE: "Distance of the farthest action beyond the margin",
    LIFT: "Mean shortfall of the actions below the published level minus the margin",
}


def tune_report_files(data: Data, proposal: bytes | None) -> dict[Path, bytes]:
    """Return the contents of the report files by relative path.

    Args:
        data: the results of the search.
        proposal: contents of the proposed file, or None if nothing is proposed.
    """
    shown = all_printable(data)
    files = {
        Path("tune.md"): ("\n\n".join(report_page(shown)) + "\n").encode(),
        Path("tune.json"): (json.dumps(data, indent=1, allow_nan=False) + "\n").encode(),
    }
    for name, boards in {"tune-forest": shown, "reevaluation-forest": shown["reevaluation"]}.items():
        if boards:
            screening = [
                entry for board in (boards["before"], boards["after"]) if board for entry in board["screening"]
            ]
            study = {"equivalence_margin": shown["tuning"]["equivalence_margin"]}
            picture = forest_plot({"study": study, "actions": shown["actions"], "screening": screening})
            files[Path("images", f"{name}.svg")] = picture
    return files if proposal is None else files | {Path(PROPOSAL): proposal}


def report_page(data: Data) -> Iterator[str]:
    """Yield the paragraphs of the report page."""
    reevaluation = data["reevaluation"]
    yield "# Balanced action board"
    summary = (*data["summary"], *([reevaluation["summary"]] if reevaluation else []))
    yield "\n".join(f"- {escape_outside_code(sentence)}" for sentence in summary)
    if data["change"]:
        yield f"To play it in the folder of this page: {code_span(play_command(data, PROPOSAL))}"
    yield "![Effect of each action minus the mean effect](images/tune-forest.svg)"
    yield (
        "*Effect of each action minus the mean effect, "
        f"{'before and after the change' if data['after'] else 'on the published board'}. Lines: intervals that hold "
        "simultaneously. Gray: the equivalence margin.*"
    )
    yield "## Every action"
    yield from _estimates(data)
    if reevaluation:
        yield "## Evaluation by another player"
        yield (
            f"Estimates for the same two boards with {code_span(reevaluation['player'])} in all seats, on fresh deals. "
            "All intervals hold simultaneously."
        )
        yield "![Effect of each action minus the mean effect, for another player](images/reevaluation-forest.svg)"
        yield from _estimates({**data, **reevaluation})
    if data["games"]:
        yield "## Effect on the game"
        yield _games(data)
    if data["tried"]:
        yield "## Tried boards"
        yield (
            f"{_DISTANCE[data['tuning']['aim']]}, in games per 100: predicted by the model, and estimated after each "
            "round from the games and the model. Level: the latest estimate, as a percentage of the level of the "
            "published board, for the worst player count. The best boards entered the proof."
        )
        yield _tried(data)
    if data["numbers"]:
        yield "## Effect of each number"
        yield (
            "Effect of having the action, in games per 100, for each value of the number. The model estimates it from "
            "boards with random numbers. The published value is in brackets."
        )
        yield _numbers(data)
    yield "## Where the numbers come from"
    yield from _provenance(data)


def play_command(data: Data, proposal: str) -> str:
    """Return the command for playing with the proposed file."""
    kind = "--game-config" if _covers(data["change"]) else "--components"
    return f"helsinki play {kind} {proposal}"


def _covers(change: Sequence[Data]) -> bool:
    return any(one["kind"] == "covered" for one in change)


def _signed(value: float) -> str:
    """Format a number with a sign and one decimal."""
    return f"{round(value, 1) + 0.0:+.1f}"  # no -0.0


def action_label_markdown(action: str) -> str:
    """Return the Markdown label of an action for a table."""
    return escape_markdown(action.replace("_", " "))


def _estimates(data: Data) -> Iterator[str]:
    """Yield the tables with the estimates for both boards, or for the published board alone."""
    yield "Deviation from the mean effect of the board, in games per 100."
    yield _actions(data, "deviation", _signed)
    yield (
        "Level: the mean effect of the actions that are not covered. A dead action has an effect below one game per "
        "100. In brackets: the number of actions whose intervals are entirely and partly below it."
    )
    yield _levels(data)
    yield "Effect of having an action instead of being denied it, in games per 100."
    yield _actions(data, "power", _signed)
    yield "Use: percentage of the seats with an action that used it, with individual 95% intervals."
    yield _actions(data, "use", lambda value: f"{value:.1f}")


def _boards(data: Data) -> list[tuple[str, Data]]:
    """Return the boards that have estimates, with their names for tables."""
    boards = [board for board in (data["before"], data["after"]) if board]
    return list(zip(("before", "after") if len(boards) > 1 else ("published",), boards, strict=True))


def _levels(data: Data) -> str:
    rows = []
    for j, first in enumerate(data["before"]["screening"]):
        for name, board in _boards(data):
            one = board["screening"][j]["level"]
            dead = f"{len(one['dead'])} ({one['dead_low']} to {one['dead_high']})"
            share = "" if one["share"] is None else interval_text(one, "share", lambda value: f"{value:.0f}")
            level = interval_text(one, "level", lambda value: f"{value:.2f}")
            names = ", ".join(map(action_label_markdown, one["dead"]))
            rows.append([f"{first['players']} players, {name}", names, level, share, dead])
    head = ["board", "dead actions", "level", "% of the published level", "number of dead actions"]
    return markdown_table(head, rows, left=2)


def interval_text(one: Data, key: str, text: Callable[[float], str] = _signed) -> str:
    """Format an estimate with its interval, read from the keys KEY, KEY_low and KEY_high."""
    return "{} ({} to {})".format(*(text(one[f"{key}{end}"]) for end in ("", "_low", "_high")))


def _actions(data: Data, key: str, text: Callable[[float], str]) -> str:
    """Return a table with one kind of estimate for all actions, strongest first."""
    counts = [entry["players"] for entry in data["before"]["screening"]]
    changes: dict[str, list[str]] = {}
    for one in data["change"]:
        changes.setdefault(one["action"], []).append(_step(one))
    head = ["action", *(["change"] if changes else [])]
    head += [f"{n} players, {name}" for n in counts for name, _ in _boards(data)]
    rows = []
    for i, action in enumerate(data["actions"]):
        cells = [action_label_markdown(action), *([", ".join(changes.get(action, []))] if changes else [])]
        estimates = [board["screening"][j]["actions"][i] for j in range(len(counts)) for _, board in _boards(data)]
        cells += ["" if one["power"] is None else interval_text(one, key, text) for one in estimates]  # None if covered
        rows.append((estimates[0]["deviation"], cells))
    rows.sort(key=lambda row: -row[0])
    return markdown_table(head, [cells for _, cells in rows], left=2 if changes else 1)


def _step(change: Data) -> str:
    return "covered" if change["kind"] == "covered" else f"{_kind(change)} {change['was']} → {change['now']}"


def _kind(number: Data) -> str:
    return "cost" if number["kind"] == "cost" else STRENGTHS[number["action"]].of


def _games(data: Data) -> str:
    rows = []
    for entry in sorted(data["games"], key=lambda entry: entry["players"]):
        means = (entry["measures"][name] for name in GAME_MEASURES)
        seats = zip(entry["seats"]["share"], entry["seats"]["error"], strict=True)
        rows.append(
            [
                f"{entry['players']} players, {entry['board']}",
                f"{entry['games']:,}",
                *(plus_minus(one["mean"], one["error"], 2) for one in means),
                ", ".join(plus_minus(share, error, 1) for share, error in seats),
            ]
        )
    units = GAME_MEASURES.values()
    return markdown_table(["board", "games", *units, "games won by each seat, %"], rows)


def _changes(change: Sequence[Data]) -> str:
    if _covers(change):
        return ", ".join(action_label_markdown(one["action"]) for one in change)
    return "; ".join(f"{action_label_markdown(one['action'])}: {_step(one)}" for one in change)


def _tried(data: Data) -> str:
    rounds = max(len(one["seen"]) for one in data["tried"])
    rows = [
        [
            _changes(one["change"]),
            f"{one['predicted']:.1f}",
            *(f"{one['seen'][i]:.1f}" if i < len(one["seen"]) else "" for i in range(rounds)),
            f"{one['share']:.0f}",
        ]
        for one in data["tried"]
    ]
    head = "covered" if _covers(data["tried"][0]["change"]) else "changes"
    return markdown_table([head, "model", *(f"round {i + 1}" for i in range(rounds)), "level, %"], rows)


def _numbers(data: Data) -> str:
    rows = []
    for number in data["numbers"]:
        label = f"{action_label_markdown(number['action'])}, {_kind(number)}"
        for n, powers in number["power"].items():
            effects = zip(number["values"], powers, strict=True)
            cells = [
                f"{f'({value})' if value == number['was'] else value}: {_signed(power)}" for value, power in effects
            ]
            rows.append([label, n, ", ".join(cells)])
    return markdown_table(["number", "players", "value: effect"], rows, left=3)


def _provenance(data: Data) -> Iterator[str]:
    p, config = data["provenance"], data["tuning"]
    origin = (
        f"Played by {code_span(p.get('command', 'helsinki balance tune ' + config['name']))}, seed {config['seed']}, "
        f"{code_span(config['player'])} in all seats; {versions_text(p)}. All numbers: tune.json."
    )
    files = ", ".join(f"{code_span(player)} is {digest}…" for player, digest in p["networks"].items())
    yield f"{origin}\nNetworks, by the first digits of the SHA-256 of their files: {files}." if files else origin
    rows = [[part, entry["seed"], f"{entry['games']:,}"] for part, entry in p["parts"].items()]
    yield markdown_table(["part", "seed", "games"], rows)
    digests = ", ".join(f"{name} {code_span(digest)}" for name, digest in data["components"].items())
    yield f"Digests of the component files: {digests}."
