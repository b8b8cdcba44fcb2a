"""The report of a study: one page of HTML that needs nothing else, the same as Markdown, and all numbers as JSON.

Everything is made from the data (`agents.helsinki.balance.results`): the same data, the same bytes. The JSON file holds
all of it, so the report can be made again without the games.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from agents.helsinki.balance.figures import figures
from helsinki_env.markdown import all_printable, link, marked, row, text

__all__ = ["report_files"]

Data = Mapping[str, Any]
Row = Sequence[str]
Table = tuple[Row, Sequence[Row]]

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:68rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a}"
    "h1,h2{line-height:1.2}table{border-collapse:collapse;font-size:.85rem;margin:1rem 0}"
    "th,td{padding:.2rem .6rem;border-bottom:1px solid #ddd;text-align:right}"
    "th:first-child,td:first-child{text-align:left}"
    "figure{margin:1.5rem 0}figure svg{max-width:100%;height:auto}figcaption{font-size:.85rem;color:#444}"
    ".answer{background:#f4f6f8;padding:.6rem 1.2rem;border-left:4px solid #0072b2}details{margin:1rem 0}"
)
_WORDS = {"overpowered": "too strong", "underpowered": "too weak", "balanced": "balanced", "undecided": "undecided"}


def report_files(data: Data, name: str = "balance") -> dict[Path, bytes]:
    """Return the files of the report by their path in the folder that it goes to.

    Args:
        data: everything that was found, from `agents.helsinki.balance.results`.
        name: what the files' names begin with.
    """
    shown = all_printable(data)
    drawn = figures(shown)
    sections = list(_sections(shown, name))
    return {
        Path(f"{name}.html"): _html(sections, drawn, shown).encode(),
        Path(f"{name}.md"): _markdown(sections, drawn, name).encode(),
        Path(f"{name}.json"): (json.dumps(data, indent=1, allow_nan=False) + "\n").encode(),
        **{Path("images", f"{name}-{figure}.svg"): picture for figure, (_, picture) in drawn.items()},
    }


def _n(value: float | None, digits: int = 1, sign: bool = False) -> str:
    return "–" if value is None else f"{value:{'+' if sign else ''},.{digits}f}"


def _sections(data: Data, name: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield title and content: text, lists (tuples of text), tables (header, rows), or names of figures (``@name``)."""
    games = sum(entry["games"] for entry in data["screen"])
    missing = sum(part["missing_games"] for part in data["provenance"]["parts"].values())
    yield "Which actions of the action board are too strong?", [*_answer(data, games, missing)]
    if data["verdicts"]:
        yield "Every action", ["@forest", _verdicts(data), "@strength"]
    if data["screen"]:
        yield "How it was measured", [*_method(data), _screen(data), "@use", "@naive", "@seats"]
    if data["gate"]:
        yield "Who may judge", [_GATE, _gate(data)]
    if data["confirm"]:
        yield "The suspects once more", [_CONFIRM, _confirm(data), "@confirm"]
    if data["pairs"]:
        yield "Actions that work together", [_PAIRS, *_pairs(data), "@pairs"]
    if data["variants"]:
        yield "If the components were others", [_VARIANTS, "@variants", *_held(data)]
    if data["covers"]:
        yield "Covering five actions", [_COVERS, "@covers", *_again(data)]
    if data["quality"]:
        yield "The game as it is", ["@scores", _quality(data), "@skill", *_skill(data)]
    yield "Where the numbers come from", [*_provenance(data, name)]


_GATE = (
    "A player that is confused by missing actions would make them look precious. So every player met the reference on "
    "the full board and with five actions denied to every seat; who falls behind by surely more than the limit is not "
    "asked."
)
_CONFIRM = (
    "Fresh games, with decks that nobody had played. One seat is denied the action, or is the only one to have it "
    "(both tested against the mean power of all actions), or has to use it as soon as it may (what that costs)."
)
_PAIRS = (
    "Shapley values say what an action is worth on average over all orders in which the fifteen could come to a "
    "player. Pairs are tested with control of the false discovery rate."
)
_VARIANTS = (
    "Some facts of the box are reconstructed. The screen was played again with other component files; what holds with "
    "all of them does not hang on the reconstruction."
)
_COVERS = (
    "The rulebook lets you cover actions for all players. Every set of five was played with the same number of decks. "
    "The ends of 3,003 measured sets are partly luck: the table shows only games that were played afresh."
)


def _answer(data: Data, games: int, missing: int) -> Iterator[Any]:
    if data["summary"]:
        yield ("answer", *data["summary"])
    else:
        yield "No verdict yet: it takes games of at least two classes of player that passed the gate."
    if missing:
        yield f"{missing:,} games are planned and not played yet; everything below may still change."
    study = data["study"]
    yield (
        f"From {games:,} games of {', '.join(entry['player'] for entry in study['classes'])}, each against its equals, "
        "in which every seat was denied actions at random. A point is one game won more in a hundred. An action is "
        "called too strong or too weak if both of the strongest players' intervals, which hold for all at once with "
        f"{100 * study['level']:.0f} % probability, lie beyond {study['band']:g} point from the average action; "
        "balanced if they lie within."
    )


def _label(action: str) -> str:
    return action.replace("_", " ")


def _verdicts(data: Data) -> Table:
    counts = sorted({verdict["players"] for verdict in data["verdicts"]})
    cells = {(verdict["players"], verdict["action"]): verdict for verdict in data["verdicts"]}
    strongest = {entry["players"]: entry for entry in data["screen"]}  # the last of each number of players
    sums = dict.fromkeys(data["actions"], 0.0)
    for entry in strongest.values():
        for found in entry["actions"]:
            sums[found["action"]] += found["deviation"]
    rows = []
    for action in sorted(sums, key=lambda action: -sums[action]):
        row = [_label(action)]
        for n in counts:
            found = next(one for one in strongest[n]["actions"] if one["action"] == action)
            middle, low, high = (_n(found[f"deviation{end}"], sign=True) for end in ("", "_low", "_high"))
            row += [_WORDS[cells[n, action]["verdict"]], f"{middle} ({low} to {high})"]
        rows.append(row)
    header = ["action"]
    for n in counts:
        header += [f"{n} players", f"{strongest[n]['player']}, beyond average"]
    return header, rows


def _method(data: Data) -> Iterator[Any]:
    study = data["study"]
    yield (
        "Everybody at a table is the same player, and every seat is denied five actions of its own by a balanced "
        f"design ({study['screen']['copies']} × 42 sets; in {100 * study['screen']['loose']:.0f} % of the decks sets "
        "of random size). Each deck is played once in every rotation of the seats. A Plackett-Luce model of whole "
        "rankings gives what having an action is worth; errors come from how decks differ."
    )


def _screen(data: Data) -> Table:
    header = ["player", "players", "games", "decks", "worth independent games", "mean power", "largest standard error"]
    return header, [
        [
            entry["player"],
            str(entry["players"]),
            f"{entry['games']:,}",
            f"{entry['blocks']:,}",
            f"{entry['worth_of_games']:,.0f}",
            _n(entry["mean_power"], 2),
            _n(max(action["deviation_error"] for action in entry["actions"]), 2),
        ]
        for entry in data["screen"]
    ]


def _gate(data: Data) -> Table:
    header = ["player", "players", "games", "Elo above, full board", "five denied", "lost (95 %)", "asked"]
    return header, [
        [
            entry["player"],
            str(entry["players"]),
            f"{entry['games']:,}",
            _n(entry["full_board"], 0),
            _n(entry["five_denied"], 0),
            f"{_n(entry['lost'], 0)} ({_n(entry['lost_low'], 0)} to {_n(entry['lost_high'], 0)})",
            "yes" if entry["admitted"] else "no",
        ]
        for entry in data["gate"]
    ]


_WAYS = {"denied": "one seat is denied it", "alone": "one seat alone has it", "forced": "one seat must use it at once"}
_TOLD = {"better": "confirmed", "not better": "not confirmed", "undecided": "undecided", "running": "undecided"}


def _confirm(data: Data) -> Table:
    header = ["action", "players", "games in which", "worth", "decks", "test"]
    return header, [
        [
            _label(entry["action"]),
            str(entry["players"]),
            _WAYS[entry["way"]],
            f"{_n(entry['worth'], sign=True)} ± {_n(1.96 * entry['error'])}",
            f"{entry['decks']:,}",
            "–" if entry["verdict"] is None else f"{_TOLD[entry['verdict']]} after {entry['stopped_after']:,}",
        ]
        for entry in data["confirm"]
    ]


def _pairs(data: Data) -> Iterator[Any]:
    for entry in data["pairs"]:
        if "left_out" in entry:
            yield f"Pairs of actions are left out: {entry['left_out']}."
            continue
        order = sorted(range(len(data["actions"])), key=lambda i: -entry["shapley"][i])
        yield (
            ["action", f"Shapley value, {entry['players']} players, {entry['player']}", "interval"],
            [
                [
                    _label(data["actions"][i]),
                    _n(entry["shapley"][i], 2, sign=True),
                    f"{_n(entry['shapley_low'][i], 2, sign=True)} to {_n(entry['shapley_high'][i], 2, sign=True)}",
                ]
                for i in order
            ],
        )
        told = [
            f"{' and '.join(map(_label, pair['actions']))}: {_n(pair['together'], 1, sign=True)} together"
            for pair in sorted(entry["found"], key=lambda pair: -abs(pair["together"]))[:10]
        ]
        yield ("list", *told) if told else f"No pair stands out with {entry['players']} players."


def _held(data: Data) -> Iterator[Any]:
    """Say which deviations have the same sign, surely, in every variant."""
    for n in sorted({entry["players"] for entry in data["variants"]}):
        own = [entry for entry in data["variants"] if entry["players"] == n]
        above = [a for i, a in enumerate(data["actions"]) if all(entry["low"][i] > 0 for entry in own)]
        below = [a for i, a in enumerate(data["actions"]) if all(entry["high"][i] < 0 for entry in own)]
        yield (
            f"With {n} players, with all {len(own)} component files above the average action: "
            f"{', '.join(map(_label, above)) or 'none'}; below it: {', '.join(map(_label, below)) or 'none'}."
        )


def _again(data: Data) -> Iterator[Any]:
    for entry in data["covers"]:
        if not entry["again"]:
            continue
        ranked = sorted(entry["again"], key=lambda one: -(one["measures"]["skill"]["mean"] or 0.0))
        shown = [*ranked[:5], *(one for one in ranked[5:-5] if one["first_game"]), *ranked[-5:]]
        header = [
            f"covered, {entry['players']} players (most room for skill first)",
            "skill",
            "rounds",
            "points",
            "spread",
        ]
        yield (
            header,
            [
                [
                    ", ".join(map(_label, one["covered"])) + (" (first game)" if one["first_game"] else ""),
                    *(
                        f"{_n(one['measures'][m]['mean'])} ± {_n(1.96 * (one['measures'][m]['error'] or 0.0))}"
                        for m in ("skill", "rounds", "points", "spread")
                    ),
                ]
                for one in shown
            ],
        )


def _quality(data: Data) -> Table:
    measures = (
        ("rounds", "rounds"), ("points", "points of a seat"), ("spread", "first to last"), ("choices", "choices"),
        ("lead_changes", "changes of the lead"), ("behind", "winner behind, share of turns"),
    )  # fmt: skip
    header = ["game", "players", "player", "games", *(label for _, label in measures), "evenness of use"]
    return header, [
        [
            entry["game"],
            str(entry["players"]),
            entry["player"],
            f"{entry['games']:,}",
            *(_n(entry["measures"][key]["mean"], 2) for key, _ in measures),
            _n(entry["usage_entropy"], 2),
        ]
        for entry in data["quality"]
    ]


def _skill(data: Data) -> Iterator[Any]:
    if data["skill"]:
        yield (
            ["game", "players", "one seat", "against", "games", "games won, %", "Elo points above (95 %)"],
            [
                [
                    entry["game"],
                    str(entry["players"]),
                    entry["stronger"],
                    entry["weaker"],
                    f"{entry['games']:,}",
                    _n(100 * entry["win_share"]),
                    f"{_n(entry['rating'], 0)} ({_n(entry['low'], 0)} to {_n(entry['high'], 0)})",
                ]
                for entry in data["skill"]
            ],
        )


def _provenance(data: Data, name: str) -> Iterator[Any]:
    p = data["provenance"]
    versions = f"helsinki-env {p['package']}, NumPy {p['numpy']}, SciPy {p['scipy']}"
    yield (
        f"Played by `helsinki balance run {data['study']['name']}`, seed {data['study']['seed']}; made by "
        f"`{p['command']}`; {p['environment']}, {versions}."
    )
    networks = {player: digest for player, digest in p["networks"].items() if not player.startswith("forced:")}
    if networks:
        files = ", ".join(f"`{player}` is {digest}…" for player, digest in networks.items())
        yield f"Networks, by the beginning of the SHA-256 of their file: {files}."
    yield f"All numbers, and everything that the verdicts follow from: {name}.json."
    yield (
        ["part", "seed", "plan", "games", "missing"],
        [
            [part, str(entry["seed"]), entry["plan"], f"{entry['games']:,}", f"{entry['missing_games']:,}"]
            for part, entry in p["parts"].items()
        ],
    )


def _markdown(sections: Sequence[tuple[str, list[Any]]], drawn: Mapping[str, tuple[str, bytes]], name: str) -> str:
    lines: list[str] = []
    for number, (title, content) in enumerate(sections):
        lines += [f"{'#' if number == 0 else '##'} {title}", ""]
        for item in content:
            if isinstance(item, str) and item.startswith("@"):
                if item[1:] in drawn:
                    caption = drawn[item[1:]][0]
                    lines += [f"!{link(title, f'images/{name}-{item[1:]}.svg')}", "", f"*{text(caption)}*", ""]
            elif isinstance(item, str):
                lines += [marked(item), ""]
            elif item[0] in ("answer", "list"):
                lines += [*(f"- {marked(told)}" for told in item[1:]), ""]
            else:
                header, *rows = (row([*map(text, cells)]) for cells in (item[0], *item[1]))
                lines += [header, row(["---"] * len(item[0])), *rows, ""]
    return "\n".join(lines)


def _html(sections: Sequence[tuple[str, list[Any]]], drawn: Mapping[str, tuple[str, bytes]], data: Data) -> str:
    body: list[str] = []
    for number, (title, content) in enumerate(sections):
        level = 1 if number == 0 else 2
        body.append(f"<h{level}>{escape(title)}</h{level}>")
        for item in content:
            if isinstance(item, str) and item.startswith("@"):
                if item[1:] in drawn:
                    caption, picture = drawn[item[1:]]
                    body.append(
                        f"<figure>{_inline(picture, item[1:])}<figcaption>{escape(caption)}</figcaption></figure>"
                    )
            elif isinstance(item, str):
                body.append("<p>" + re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(item)) + "</p>")
            elif item[0] in ("answer", "list"):
                kind = ' class="answer"' if item[0] == "answer" else ""
                body.append(f"<div{kind}><ul>{''.join(f'<li>{escape(told)}</li>' for told in item[1:])}</ul></div>")
            else:
                header, rows = item
                head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
                lines = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
                body.append(
                    f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{line}</tr>' for line in lines)}"
                    "</tbody></table>"
                )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>Balance of the action board: {escape(data['study']['name'])}</title><style>{_STYLE}</style></head>\n"
        f"<body>\n{chr(10).join(body)}\n</body></html>\n"
    )


def _inline(picture: bytes, name: str) -> str:
    """Return an SVG to stand in a page: without its head, and with names of its own."""
    drawing = picture.decode()
    drawing = drawing[drawing.index("<svg") :]
    drawing = re.sub(r"<metadata>.*?</metadata>", "", drawing, flags=re.DOTALL)
    drawing = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', drawing)
    drawing = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", drawing)
    return re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', drawing).strip()
