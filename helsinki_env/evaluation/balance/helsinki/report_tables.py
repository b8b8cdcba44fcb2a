"""Tables of the report of a balance study: a header and rows of text each, from the data of the study alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from helsinki_env.evaluation.balance.helsinki.conclusions import STRONGEST_CLASSES
from helsinki_env.evaluation.balance.helsinki.report_data import rejected_players, strongest_of

__all__ = [
    "CONCLUSION_TEXTS",
    "MEASURE_DEFINITIONS",
    "ReportTable",
    "format_action",
    "format_interval",
    "format_number",
    "tabulate_conclusions",
    "tabulate_confirmations",
    "tabulate_covers",
    "tabulate_effects",
    "tabulate_interactions",
    "tabulate_qualification",
    "tabulate_quality",
    "tabulate_screening",
    "tabulate_seats",
    "tabulate_skill",
    "tabulate_variants",
]

Data = Mapping[str, Any]
TableRow = Sequence[str]
ReportTable = tuple[TableRow, Sequence[TableRow]]

CONCLUSION_TEXTS = {
    "overpowered": "too strong",
    "underpowered": "too weak",
    "balanced": "balanced",
    "undecided": "undecided",
}


def format_number(value: float | None, digits: int = 1, sign: bool = False) -> str:
    """Return a number as text; a dash where nothing was measured."""
    return "–" if value is None else f"{value:{'+' if sign else ''},.{digits}f}"


def format_action(action: str) -> str:
    """Return the name of an action as text."""
    return action.replace("_", " ")


def format_interval(one: Data, middle: str, low: str, high: str) -> str:
    """Return an estimate with its interval, from their keys."""
    return (
        f"{format_number(one[middle], sign=True)} "
        f"({format_number(one[low], sign=True)} to {format_number(one[high], sign=True)})"
    )


def tabulate_conclusions(data: Data) -> ReportTable:
    """Return the conclusion on every action, with the deviation that the strongest evaluator finds."""
    counts = sorted({verdict["players"] for verdict in data["verdicts"]})
    cells = {(verdict["players"], verdict["action"]): verdict for verdict in data["verdicts"]}
    strongest = {n: strongest_of(data, n) for n in counts}
    sums = dict.fromkeys(data["actions"], 0.0)
    for entry in strongest.values():
        for found in entry["actions"]:
            sums[found["action"]] += found["deviation"]
    rows = []
    for action in sorted(sums, key=lambda action: -sums[action]):
        row = [format_action(action)]
        for n in counts:
            found = next(one for one in strongest[n]["actions"] if one["action"] == action)
            row += [
                CONCLUSION_TEXTS[cells[n, action]["verdict"]],
                format_interval(found, "deviation", "deviation_low", "deviation_high"),
            ]
        rows.append(row)
    header = ["action"]
    for n in counts:
        header += [f"{n} players", f"{strongest[n]['player']}, beyond average"]
    return header, rows


def tabulate_effects(data: Data) -> Iterator[ReportTable]:
    """Yield for each number of players the absolute effect and the use of every action, for both evaluators."""
    left_out = rejected_players(data["gate"])
    for n in sorted({entry["players"] for entry in data["screen"]}):
        own = [entry for entry in data["screen"] if entry["players"] == n]
        judges = ([entry for entry in own if entry["player"] not in left_out] or own)[-STRONGEST_CLASSES:][::-1]
        header = [f"action, {n} players"]
        for entry in judges:
            header += [f"effect, {entry['player']}", "used", "first use, round"]
        rows = []
        for i in sorted(range(len(data["actions"])), key=lambda i: -judges[0]["actions"][i]["power"]):
            row = [format_action(data["actions"][i])]
            for entry in judges:
                action = entry["actions"][i]
                row += [
                    _plus_minus(action["power"], action["power_error"]),
                    _percent(action["usage"]),
                    format_number(action["first_use"]),
                ]
            rows.append(row)
        yield header, rows


def _plus_minus(mean: float | None, error: float | None, digits: int = 1, sign: bool = True) -> str:
    """Return an estimate with the half width of its 95% interval."""
    if error is None:
        return format_number(mean, digits, sign)
    return f"{format_number(mean, digits, sign)} ± {format_number(1.96 * error, digits)}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f}%"


def tabulate_seats(data: Data) -> ReportTable:
    """Return the games that each seat wins of a hundred in the base game, with 95% intervals."""
    base = [entry for entry in data["quality"] if entry["game"] == "base game"]
    most = max((entry["players"] for entry in base), default=0)
    return ["players", "player", "games", *(f"seat {seat + 1}" for seat in range(most))], [
        [
            str(entry["players"]),
            entry["player"],
            f"{entry['games']:,}",
            *(
                _plus_minus(share, error, sign=False)
                for share, error in zip(entry["seats"]["share"], entry["seats"]["error"], strict=True)
            ),
            *[""] * (most - entry["players"]),
        ]
        for entry in sorted(base, key=lambda entry: entry["players"])
    ]


def tabulate_screening(data: Data) -> ReportTable:
    """Return the size of every screen, and how precise it is."""
    header = ["player", "players", "games", "decks", "effective sample size", "mean effect", "largest standard error"]
    return header, [
        [
            entry["player"],
            str(entry["players"]),
            f"{entry['games']:,}",
            f"{entry['blocks']:,}",
            f"{entry['worth_of_games']:,.0f}",
            format_number(entry["mean_power"], 2),
            format_number(max(action["deviation_error"] for action in entry["actions"]), 2),
        ]
        for entry in data["screen"]
    ]


def tabulate_qualification(data: Data) -> ReportTable:
    """Return the rating of every player relative to the reference, with the full board and with five actions denied."""
    header = ["player", "players", "games", "Elo above, full board", "five denied", "lost (95% CI)", "evaluator"]
    return header, [
        [
            entry["player"],
            str(entry["players"]),
            f"{entry['games']:,}",
            format_number(entry["full_board"], 0),
            format_number(entry["five_denied"], 0),
            (
                f"{format_number(entry['lost'], 0)} "
                f"({format_number(entry['lost_low'], 0)} to {format_number(entry['lost_high'], 0)})"
            ),
            "yes" if entry["admitted"] else "no",
        ]
        for entry in data["gate"]
    ]


_WAYS = {"denied": "one seat is denied it", "alone": "one seat alone has it", "forced": "one seat must use it at once"}
_TOLD = {"better": "confirmed", "not better": "not confirmed", "undecided": "undecided", "running": "undecided"}


def tabulate_confirmations(data: Data) -> ReportTable:
    """Return the results of the confirmatory tests."""
    header = ["action", "players", "games in which", "worth", "decks", "test"]
    return header, [
        [
            format_action(entry["action"]),
            str(entry["players"]),
            _WAYS[entry["way"]],
            f"{format_number(entry['worth'], sign=True)} ± {format_number(1.96 * entry['error'])}",
            f"{entry['decks']:,}",
            "–" if entry["verdict"] is None else f"{_TOLD[entry['verdict']]} after {entry['stopped_after']:,}",
        ]
        for entry in data["confirm"]
    ]


def tabulate_interactions(data: Data) -> Iterator[Any]:
    """Yield Shapley values and notable pairs, for each number of players."""
    for entry in data["pairs"]:
        if "left_out" in entry:
            yield f"Pairs of actions are left out: {entry['left_out']}."
            continue
        order = sorted(range(len(data["actions"])), key=lambda i: -entry["shapley"][i])
        yield (
            ["action", f"Shapley value, {entry['players']} players, {entry['player']}", "interval"],
            [
                [
                    format_action(data["actions"][i]),
                    format_number(entry["shapley"][i], 2, sign=True),
                    " to ".join(format_number(entry[key][i], 2, sign=True) for key in ("shapley_low", "shapley_high")),
                ]
                for i in order
            ],
        )
        told = [
            f"{' and '.join(map(format_action, pair['actions']))}: {_plus_minus(pair['together'], pair['error'])}"
            for pair in sorted(entry["found"], key=lambda pair: -abs(pair["together"]))[:10]
        ]
        yield ("list", *told) if told else f"No pair stands out with {entry['players']} players."


def tabulate_variants(data: Data) -> Iterator[Any]:
    """Yield the actions whose deviation has the same sign in every variant, according to their intervals."""
    for n in sorted({entry["players"] for entry in data["variants"]}):
        own = [entry for entry in data["variants"] if entry["players"] == n]
        above = [a for i, a in enumerate(data["actions"]) if all(entry["low"][i] > 0 for entry in own)]
        below = [a for i, a in enumerate(data["actions"]) if all(entry["high"][i] < 0 for entry in own)]
        yield (
            f"With {n} players, with all {len(own)} component files above the average action: "
            f"{', '.join(map(format_action, above)) or 'none'}; "
            f"below it: {', '.join(map(format_action, below)) or 'none'}."
        )


def tabulate_covers(data: Data) -> Iterator[Any]:
    """Yield the effects of covering: nothing, the first game's set, and the sets at both ends."""
    for entry in data["covers"]:
        if not entry["again"]:
            continue
        ranked = sorted(entry["again"], key=lambda one: -(one["measures"]["skill"]["mean"] or 0.0))
        shown = [*ranked[:5], *(one for one in ranked[5:-5] if one["first_game"]), *ranked[-5:]]
        rows = [
            (
                ", ".join(map(format_action, one["covered"])) + (" (first game)" if one["first_game"] else ""),
                one["measures"],
            )
            for one in shown
        ]
        if entry.get("nothing_covered"):
            rows.insert(0, ("nothing covered", entry["nothing_covered"]["measures"]))
        measures = ("skill", "rounds", "points", "spread")
        header = [f"covered, {entry['players']} players (largest skill first)", *measures]
        yield (
            header,
            [
                [name, *(_plus_minus(found[m]["mean"], found[m]["error"], sign=False) for m in measures)]
                for name, found in rows
            ],
        )


MEASURE_DEFINITIONS = (
    "skill: games of a hundred that the stronger of two players (heuristic against greedy) wins beyond an equal share",
    "rounds: number of rounds; in a round every seat has one turn",
    "points: mean final score of a seat",
    "spread: points between the first and the last seat at the end",
    "choices: mean number of legal actions at decisions with more than one",
    "lead changes: number of turns after which another seat leads alone, by the score of that moment",
    "winner behind: share of the turns after which the eventual winner did not lead",
    "evenness: how evenly the available board actions are used, as entropy divided by its maximum (1: all equally)",
)
"""Definitions of the measures of a game."""


def tabulate_quality(data: Data) -> ReportTable:
    """Return the measures of the games that the rulebook offers."""
    measures = (
        ("rounds", "rounds"), ("points", "points"), ("spread", "spread"), ("choices", "choices"),
        ("lead_changes", "lead changes"), ("behind", "winner behind"),
    )  # fmt: skip
    header = ["game", "players", "player", "games", *(name for _, name in measures), "evenness"]
    return header, [
        [
            entry["game"],
            str(entry["players"]),
            entry["player"],
            f"{entry['games']:,}",
            *(
                _plus_minus(entry["measures"][key]["mean"], entry["measures"][key]["error"], 2, sign=False)
                for key, _ in measures
            ),
            format_number(entry["usage_entropy"], 2),
        ]
        for entry in data["quality"]
    ]


def tabulate_skill(data: Data) -> Iterator[Any]:
    """Yield the advantage of each class over the next weaker one."""
    if data["skill"]:
        yield (
            [
                "game",
                "players",
                "one seat",
                "against",
                "games",
                "games won of a hundred (95% CI)",
                "Elo points above (95% CI)",
            ],
            [
                [
                    entry["game"],
                    str(entry["players"]),
                    entry["stronger"],
                    entry["weaker"],
                    f"{entry['games']:,}",
                    _of_a_hundred(entry),
                    (
                        f"{format_number(entry['rating'], 0)} "
                        f"({format_number(entry['low'], 0)} to {format_number(entry['high'], 0)})"
                    ),
                ]
                for entry in data["skill"]
            ],
        )


def _of_a_hundred(entry: Data) -> str:
    """Return games won of a hundred with their interval."""
    shares = {key: 100 * entry[key] for key in ("win_share", "win_share_low", "win_share_high")}
    return (
        f"{format_number(shares['win_share'])} "
        f"({format_number(shares['win_share_low'])} to {format_number(shares['win_share_high'])})"
    )
