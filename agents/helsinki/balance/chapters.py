"""The chapters of the report of a study: titles, sentences, tables, and where the pictures stand.

Everything is told from the data (`agents.helsinki.balance.results`). A chapter is its title and a list of text, lists
(a tuple of a word and texts), tables (header and rows) and names of figures (``@name``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agents.helsinki.balance.sections import strongest_of

__all__ = ["chapters"]

Data = Mapping[str, Any]
Row = Sequence[str]
Table = tuple[Row, Sequence[Row]]

_WORDS = {"overpowered": "too strong", "underpowered": "too weak", "balanced": "balanced", "undecided": "undecided"}


def chapters(data: Data, name: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield title and content of every chapter of which there is something to tell.

    Args:
        data: everything that was found.
        name: what the names of the report's files begin with.
    """
    games = sum(entry["games"] for entry in data["screen"])
    missing = sum(part["missing_games"] for part in data["provenance"]["parts"].values())
    yield "Which actions of the action board are too strong?", [*_answer(data, games, missing)]
    if data["verdicts"]:
        yield "Every action", ["@forest", _verdicts(data), "@strength"]
    if "former" in data:
        yield "What differs from the former study", [*_former(data["former"])]
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


def _n(value: float | None, digits: int = 1, sign: bool = False) -> str:
    return "–" if value is None else f"{value:{'+' if sign else ''},.{digits}f}"


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
    "player; of the two strongest, to the one with more games. Pairs are tested with control of the false discovery "
    "rate."
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
    strongest = {n: strongest_of(data, n) for n in counts}
    sums = dict.fromkeys(data["actions"], 0.0)
    for entry in strongest.values():
        for found in entry["actions"]:
            sums[found["action"]] += found["deviation"]
    rows = []
    for action in sorted(sums, key=lambda action: -sums[action]):
        row = [_label(action)]
        for n in counts:
            found = next(one for one in strongest[n]["actions"] if one["action"] == action)
            row += [
                _WORDS[cells[n, action]["verdict"]],
                _within(found, "deviation", "deviation_low", "deviation_high"),
            ]
        rows.append(row)
    header = ["action"]
    for n in counts:
        header += [f"{n} players", f"{strongest[n]['player']}, beyond average"]
    return header, rows


_WHY = {
    "wider": "wider intervals: with those of then it would be as before",
    "narrower": "narrower intervals: with those of then it would be as before",
    "judges": "other judges: without those who are new it would be as before",
    "worth": "it is worth something else to the strongest player",
    "chance": "too near the edge of the band: the difference may be chance",
}


def _former(former: Data) -> Iterator[Any]:
    networks = ", ".join(f"`{player}` was {digest}…" for player, digest in former["networks"].items())
    changed = [one for one in former["differences"] if one["why"] is not None]
    moved = [one for one in former["differences"] if one["why"] is None]
    yield (
        f"The former study is `{former['study']}` with seed {former['seed']} (data {former['data']}"
        + (f"; {networks})." if networks else ").")
        + (f" {' and '.join(former['joined'])} did not judge then." if former["joined"] else "")
        + f" Of {former['verdicts']} verdicts {former['verdicts'] - len(changed)} are the same"
        + (f", {len(changed)} not: why, the table says." if changed else ".")
    )
    if changed:
        yield (
            [
                *("action", "players", "then", "now", "why"),
                f"worth to {_all_of(changed, 'former_player')} then",
                f"worth to {_all_of(changed, 'player')} now",
                "difference",
            ],
            [
                [
                    _label(one["action"]),
                    str(one["players"]),
                    _WORDS[one["former_verdict"]],
                    _WORDS[one["verdict"]],
                    _WHY[one["why"]],
                    _within(one, "former_deviation", "former_low", "former_high"),
                    _within(one, "deviation", "low", "high"),
                    _within(one, "difference", "difference_low", "difference_high"),
                ]
                for one in changed
            ],
        )
    if moved:
        yield "The same verdict, but surely worth something else to the strongest player, as far as both are known:"
        yield (
            "list",
            *(
                f"{_label(one['action'])}, {one['players']} players: {_n(one['former_deviation'], sign=True)} then, "
                f"{_n(one['deviation'], sign=True)} now; difference "
                f"{_within(one, 'difference', 'difference_low', 'difference_high')}"
                for one in moved
            ),
        )


def _all_of(differences: Sequence[Data], key: str) -> str:
    """Return who is the strongest, which may be somebody else with other numbers of players."""
    return " or ".join(dict.fromkeys(one[key] for one in differences))


def _within(one: Data, middle: str, low: str, high: str) -> str:
    return f"{_n(one[middle], sign=True)} ({_n(one[low], sign=True)} to {_n(one[high], sign=True)})"


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
