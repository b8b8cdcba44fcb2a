"""Write the report of a study as a self-contained HTML page and as Markdown, with all results as JSON.

The report is a deterministic function of the data (`helsinki_env.evaluation.balance.helsinki.results`), which the JSON
file contains. It can therefore be regenerated without the games.

A chapter consists of paragraphs, lists (a tuple of a keyword and texts), tables (header and rows) and figures
(``@name``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from statistics import NormalDist
from typing import Any

from helsinki_env.evaluation.balance.helsinki.base import versions_text
from helsinki_env.evaluation.balance.helsinki.conclusions import STRONGEST_CLASSES, rejected_players, strongest_of
from helsinki_env.evaluation.balance.helsinki.figures import study_figures
from helsinki_env.utils.markdown import all_printable, escape_markdown, escape_outside_code, link, table_row

__all__ = ["plus_minus", "study_report_files"]

Data = Mapping[str, Any]
ReportTable = tuple[Sequence[str], Sequence[Sequence[str]]]
Column = tuple[str, Callable[[Data], str]]
"""Header of a column, and the function that formats the column's cell for an entry."""


def chapters(data: Data) -> Iterator[tuple[str, list[Any]]]:
    """Yield the title and content of each chapter for which there is data."""
    yield "Which actions of the action board are too strong?", [*_answer(data)]
    if data["conclusions"]:
        yield "Every action", ["@forest", _conclusion_table(data), "@strength"]
    if "former" in data:
        yield "Changes since the earlier study", [*_former(data["former"])]
    if data["screening"]:
        yield "Absolute effect and use", [_EFFECTS, *_effect_tables(data), "@use", "@naive"]
        yield "Method", [*_method(data), _table(data["screening"], *_SCREENING_COLUMNS)]
    if data["qualification"]:
        yield "Evaluators", [_QUALIFICATION, _table(data["qualification"], *_QUALIFICATION_COLUMNS)]
    if data["pairs"]:
        yield "Actions that work together", [_PAIRS, *_interactions(data), "@pairs"]
    if data["variants"]:
        yield "Other component files", [_VARIANTS, "@variants", *_variants(data)]
    if data["quality"]:
        yield "Seats", [_SEATS, _seat_table(data), "@seats"]
    if data["quality"] or data["covers"]:
        yield "Measures of a game", [("list", *_measures(data))]
    if data["covers"]:
        yield "Covering five actions", [_COVERS, "@covers", *_cover_tables(data)]
    if data["quality"]:
        skill = [_table(data["skill"], *_SKILL_COLUMNS)] if data["skill"] else []
        yield (
            "Games of the rulebook",
            [_QUALITY, "@scores", _table(data["quality"], *_QUALITY_COLUMNS), "@skill", *skill],
        )
    yield "Where the numbers come from", [*_provenance(data)]


#: Prefix of the file names.
_NAME = "balance"
_UNDERSTATED = (
    "Effects with three and four players are too small in this report, because whole rankings understate them by "
    "factors of about 1.15 and 1.2 to 1.25. Conclusions near the margin may change in a study with the logit of the "
    "winner. Estimates with two players are not affected."
)
_EFFECTS = (
    "The effect is how many more games per 100 a seat wins with the action than without it, with individual 95% "
    "intervals. Used: share of the seats with the action that used it."
)
_QUALIFICATION = (
    "If a player plays worse whenever actions are missing, actions look too valuable. Every player therefore played "
    "against the reference with the full board and with five actions denied to every seat. A player that loses "
    "significantly more than the limit does not count for the conclusions."
)
_PAIRS = (
    "A Shapley value is the effect of an action averaged over all orders in which a player could receive the fifteen "
    "actions. The estimates are those of the study player with more games. Tests of pairs control the false discovery "
    "rate. The estimate for a pair is its joint effect minus the separate effects. Its interval allows for the "
    "selection of significant pairs (false coverage rate 5%; Benjamini and Yekutieli 2005)."
)
_VARIANTS = (
    "Some values of the components are reconstructed. The screening experiment was therefore repeated with other "
    "component files. A result that holds with all files does not depend on the reconstruction."
)
_SEATS = (
    "Games won per 100 by each seat in the base game with all actions and the same player in all seats, with 95% "
    "intervals. The chance level is 50, 33.3 and 25 with two, three and four players."
)
_COVERS = (
    "The rulebook allows covering actions for all players. Every set of five was played with the same number of deals. "
    "The extremes of 3,003 sets are partly luck. The table therefore shows fresh games of the sets with the largest "
    "and the smallest skill in the first games, with 95% intervals."
)
_QUALITY = "The variants in the rulebook, with the same player in all seats; means with 95% intervals."
_MEASURES = (
    "skill: games per 100 that the stronger of two players ({stronger} against {weaker}) wins above the chance level",
    "rounds: number of rounds; in a round every seat has one turn",
    "points: mean final score of a seat",
    "spread: points between the first and the last seat at the end",
    "choices: mean number of legal actions in positions with more than one",
    "lead changes: number of times another seat becomes the sole leader by the current score",
    "winner behind: share of the turns after which the eventual winner did not lead",
    "evenness: entropy of the use of the available board actions, divided by its maximum (1: all used equally)",
)
_LABELS = {"overpowered": "too strong", "underpowered": "too weak", "balanced": "balanced", "undecided": "undecided"}
_WHY = {
    "wider": "wider intervals: with the earlier widths the conclusion is the same",
    "narrower": "narrower intervals: with the earlier widths the conclusion is the same",
    "evaluators": "other study players: without the new ones the conclusion is the same",
    "estimator": "another estimator: the earlier study used whole rankings, which understate effects",
    "effect": "another effect for the strongest player",
    "chance": "close to the edge of the margin: the difference may be chance",
}


def _measures(data: Data) -> Iterator[str]:
    stronger, weaker = data["study"]["covers"]["players"]
    yield _MEASURES[0].format(stronger=stronger, weaker=weaker)
    yield from _MEASURES[1:]


def _number(value: float | None, digits: int = 1, sign: bool = False) -> str:
    """Format a number, or return a dash for None."""
    return "–" if value is None else f"{value:{'+' if sign else ''},.{digits}f}"


def _interval(one: Data, key: str, ends: Sequence[str] = (), digits: int = 1, sign: bool = True) -> str:
    """Format an estimate with its interval, which is read from the keys KEY_low and KEY_high by default."""
    low, high = ends or (f"{key}_low", f"{key}_high")
    return (
        f"{_number(one[key], digits, sign)} ({_number(one[low], digits, sign)} to {_number(one[high], digits, sign)})"
    )


def plus_minus(mean: float | None, error: float | None, digits: int = 1, sign: bool = False) -> str:
    """Format an estimate with the half-width of its 95% interval, or alone if its error is unknown."""
    return _number(mean, digits, sign) + ("" if error is None else f" ± {_number(1.96 * error, digits)}")


def _action(action: str) -> str:
    return action.replace("_", " ")


def _table(entries: Sequence[Data], *columns: Column) -> ReportTable:
    return [header for header, _ in columns], [[cell(entry) for _, cell in columns] for entry in entries]


def _of(header: str, text: str) -> Column:
    """Return a column whose cells are formatted from the keys of an entry."""
    return header, lambda entry: text.format_map(entry)


_PLAYER, _PLAYERS, _GAMES = _of("player", "{player}"), _of("players", "{players}"), _of("games", "{games:,}")
_SCREENING_COLUMNS: tuple[Column, ...] = (
    _PLAYER,
    _PLAYERS,
    _GAMES,
    _of("deals", "{blocks:,}"),
    _of("effective sample size", "{worth_of_games:,.0f}"),
    _of("mean effect", "{mean_power:,.2f}"),
    ("largest standard error", lambda entry: _number(max(a["deviation_error"] for a in entry["actions"]), 2)),
)
_QUALIFICATION_COLUMNS: tuple[Column, ...] = (
    _PLAYER,
    _PLAYERS,
    _GAMES,
    _of("Elo above, full board", "{full_board:,.0f}"),
    _of("five denied", "{five_denied:,.0f}"),
    ("lost (95% CI)", lambda entry: _interval(entry, "lost", digits=0, sign=False)),
    ("study player", lambda entry: "yes" if entry["admitted"] else "no"),
)


def _mean(header: str, key: str, digits: int = 1) -> Column:
    return header, lambda entry: plus_minus(entry["measures"][key]["mean"], entry["measures"][key]["error"], digits)


_QUALITY_COLUMNS: tuple[Column, ...] = (
    _of("game", "{game}"),
    _PLAYERS,
    _PLAYER,
    _GAMES,
    *(_mean(key.replace("_", " "), key, 2) for key in ("rounds", "points", "spread", "choices", "lead_changes")),
    _mean("winner behind", "behind", 2),
    ("evenness", lambda entry: _number(entry["usage_entropy"], 2)),
)
_SKILL_COLUMNS: tuple[Column, ...] = (
    _of("game", "{game}"),
    _PLAYERS,
    _of("one seat", "{stronger}"),
    _of("against", "{weaker}"),
    _GAMES,
    (
        "games won per 100 (95% CI)",
        lambda entry: _interval(
            {key: 100 * entry[key] for key in ("win_share", "win_share_low", "win_share_high")}, "win_share", sign=False
        ),
    ),
    ("Elo points above (95% CI)", lambda entry: _interval(entry, "rating", ("low", "high"), digits=0, sign=False)),
)


def _answer(data: Data) -> Iterator[Any]:
    study, games = data["study"], sum(entry["games"] for entry in data["screening"])
    missing = sum(part["missing_games"] for part in data["provenance"]["parts"].values())
    if data["summary"]:
        yield ("answer", *data["summary"])
    else:
        yield "No conclusion yet: this requires games of at least two classes of player that passed the qualification."
    if missing:
        yield f"{missing:,} planned games are not played yet; all results may still change."
    if "estimator" not in data and any(entry["players"] > 2 for entry in data["screening"]):
        yield _UNDERSTATED
    yield (
        f"From {games:,} games in which the same player ({', '.join(entry['player'] for entry in study['classes'])}) "
        "took all seats, and every seat was denied actions at random. The unit is one win per 100 games."
    )
    yield (
        "An action is too strong or too weak if the intervals of both study players (the two strongest classes) lie "
        f"more than {study['equivalence_margin']:g} from the average action, and balanced if both lie within that "
        f"distance. All intervals hold simultaneously with {100 * study['level']:.0f}% probability."
    )
    yield "To search for a board without such actions, run `helsinki balance tune`."


def _conclusion_table(data: Data) -> ReportTable:
    """Return a table of the conclusions on all actions, with the deviations for the strongest study player."""
    counts = sorted({conclusion["players"] for conclusion in data["conclusions"]})
    labels = {
        (conclusion["players"], conclusion["action"]): _LABELS[conclusion["label"]]
        for conclusion in data["conclusions"]
    }
    strongest = {n: strongest_of(data, n) for n in counts}
    effects = {n: {one["action"]: one for one in strongest[n]["actions"]} for n in counts}
    total = {action: sum(effects[n][action]["deviation"] for n in counts) for action in data["actions"]}
    columns: list[Column] = [("action", lambda entry: _action(entry["action"]))]
    for n in counts:
        columns.append((f"{n} players", lambda entry, n=n: labels[n, entry["action"]]))  # type: ignore[misc]
        header = f"{strongest[n]['player']}, deviation"
        columns.append((header, lambda entry, n=n: _interval(effects[n][entry["action"]], "deviation")))  # type: ignore[misc]
    return _table([{"action": action} for action in sorted(total, key=lambda action: -total[action])], *columns)


def _effect_tables(data: Data) -> Iterator[ReportTable]:
    """Yield one table per player count with the absolute effect and use of each action for both study players."""
    left_out = rejected_players(data["qualification"])
    for n in sorted({entry["players"] for entry in data["screening"]}):
        own = [entry for entry in data["screening"] if entry["players"] == n]
        study_players = ([entry for entry in own if entry["player"] not in left_out] or own)[-STRONGEST_CLASSES:][::-1]
        header = [f"action, {n} players"]
        for entry in study_players:
            header += [f"effect, {entry['player']}", "used", "first use, round"]
        rows = []
        for i in sorted(range(len(data["actions"])), key=lambda i: -study_players[0]["actions"][i]["power"]):
            row = [_action(data["actions"][i])]
            for action in (entry["actions"][i] for entry in study_players):
                used = "–" if action["usage"] is None else f"{100 * action['usage']:.0f}%"
                effect = plus_minus(action["power"], action["power_error"], sign=True)
                row += [effect, used, _number(action["first_use"])]
            rows.append(row)
        yield header, rows


def _seat_table(data: Data) -> ReportTable:
    """Return a table of the games won per 100 by each seat in the base game, with 95% intervals."""
    base = sorted((e for e in data["quality"] if e["game"] == "base game"), key=lambda entry: entry["players"])

    def seat(i: int) -> Column:
        def cell(entry: Data) -> str:
            seats = entry["seats"]
            return plus_minus(seats["share"][i], seats["error"][i]) if i < entry["players"] else ""

        return f"seat {i + 1}", cell

    seats = max((entry["players"] for entry in base), default=0)
    return _table(base, _PLAYERS, _PLAYER, _GAMES, *map(seat, range(seats)))


def _interactions(data: Data) -> Iterator[Any]:
    """Yield the Shapley values and the significant pairs of actions for each player count."""
    for entry in data["pairs"]:
        if "left_out" in entry:
            yield f"Pairs of actions are omitted: {entry['left_out']}."
            continue
        rows = [
            [_action(action), _number(value, 2, sign=True), f"{_number(low, 2, True)} to {_number(high, 2, True)}"]
            for action, value, low, high in sorted(
                zip(data["actions"], entry["shapley"], entry["shapley_low"], entry["shapley_high"], strict=True),
                key=lambda row: -row[1],
            )
        ]
        yield ["action", f"Shapley value, {entry['players']} players, {entry['player']}", "interval"], rows
        actions, most = len(data["actions"]), 10
        tests, found = actions * (actions - 1) / 2, sorted(entry["found"], key=lambda pair: -abs(pair["together"]))
        # Intervals of selected estimates with a false coverage rate of 1 - level (Benjamini and Yekutieli 2005).
        quantile = NormalDist().inv_cdf(1 - (1 - data["study"]["level"]) * len(found) / tests / 2) if found else 0.0
        pairs = [
            f"{' and '.join(map(_action, pair['actions']))}: {_number(pair['together'], sign=True)} ± "
            f"{_number(quantile * pair['error'])}"
            for pair in found[:most]
        ]
        pairs += [f"and {len(found) - most} more pairs with smaller effects"] if len(found) > most else []
        yield ("list", *pairs) if pairs else f"No pair is significant with {entry['players']} players."


def _variants(data: Data) -> Iterator[str]:
    """Yield sentences that list the actions whose intervals have the same sign with every component file."""
    for n in sorted({entry["players"] for entry in data["variants"]}):
        own = [entry for entry in data["variants"] if entry["players"] == n]
        above = [_action(a) for i, a in enumerate(data["actions"]) if all(entry["low"][i] > 0 for entry in own)]
        below = [_action(a) for i, a in enumerate(data["actions"]) if all(entry["high"][i] < 0 for entry in own)]
        yield (
            f"With {n} players, above the average action with all {len(own)} component files: "
            f"{', '.join(above) or 'none'}; below it: {', '.join(below) or 'none'}."
        )


def _cover_tables(data: Data) -> Iterator[ReportTable]:
    """Yield tables of measures with nothing covered, with the set of the first game, and with sets of extreme skill."""
    for entry in data["covers"]:
        if not entry["again"]:
            continue
        # The games of the table must not select its rows, or its extremes would be luck again.
        ranked = sorted(entry["again"], key=lambda one: -one["skill_before"])
        shown = [*ranked[:5], *(one for one in ranked[5:-5] if one["first_game"]), *ranked[-5:]]
        rows = [
            one | {"name": ", ".join(map(_action, one["covered"])) + (" (first game)" if one["first_game"] else "")}
            for one in shown
        ]
        if entry.get("nothing_covered"):
            rows.insert(0, {"name": "nothing covered", **entry["nothing_covered"]})
        header = f"covered, {entry['players']} players (largest skill in the earlier games first)"
        yield _table(rows, _of(header, "{name}"), *(_mean(m, m) for m in ("skill", "rounds", "points", "spread")))


def _former(former: Data) -> Iterator[Any]:
    networks = ", ".join(f"`{player}` was {digest}…" for player, digest in former["networks"].items())
    changed = [one for one in former["differences"] if one["why"] is not None]
    moved = [one for one in former["differences"] if one["why"] is None]
    yield (
        f"The earlier study is `{former['study']}` with seed {former['seed']} (data {former['data']}"
        + (f"; {networks})." if networks else ").")
        + (f" New study players: {', '.join(former['joined'])}." if former["joined"] else "")
        + f" Of {former['conclusions']} conclusions {former['conclusions'] - len(changed)} are the same"
        + (f"; the table explains the other {len(changed)}." if changed else ".")
    )
    if changed:
        then, now = (" or ".join(dict.fromkeys(one[key] for one in changed)) for key in ("former_player", "player"))
        yield _table(
            changed,
            ("action", lambda one: _action(one["action"])),
            _PLAYERS,
            ("earlier", lambda one: _LABELS[one["former_label"]]),
            ("now", lambda one: _LABELS[one["label"]]),
            ("reason", lambda one: _WHY[one["why"]]),
            (
                f"deviation, {then}, earlier",
                lambda one: _interval(one, "former_deviation", ("former_low", "former_high")),
            ),
            (f"deviation, {now}, now", lambda one: _interval(one, "deviation", ("low", "high"))),
            ("difference", lambda one: _interval(one, "difference")),
        )
    if moved:
        yield "The same conclusion, but a significantly different effect for the strongest player:"
        lines = (
            f"{_action(one['action'])}, {one['players']} players: {_number(one['former_deviation'], sign=True)} "
            f"earlier, {_number(one['deviation'], sign=True)} now; difference {_interval(one, 'difference')}"
            for one in moved
        )
        yield ("list", *lines)


def _method(data: Data) -> Iterator[Any]:
    study = data["study"]
    yield (
        "The same player takes all seats, and a balanced design denies five actions to every seat "
        f"({study['screening']['copies']} × 42 sets; in {100 * study['screening']['loose']:.0f}% of the deals sets of "
        "random size). Each deal is played once in every rotation of the seats. "
        + (
            "A multinomial logit of the winner gives the average marginal effect of having an action. "
            if "estimator" in data
            else "A Plackett-Luce model of whole rankings gives the average marginal effect of having an action. "
        )
        + "Standard errors are clustered by deal."
    )


def _provenance(data: Data) -> Iterator[Any]:
    p = data["provenance"]
    yield (
        f"Played by `helsinki balance run {data['study']['name']}`, seed {data['study']['seed']}; made by "
        f"`{p['command']}`; {versions_text(p)}."
    )
    if p["networks"]:
        files = ", ".join(f"`{player}` is {digest}…" for player, digest in p["networks"].items())
        yield f"Networks, by the first digits of the SHA-256 of their files: {files}."
    yield f"All numbers, from which the conclusions can be derived: {_NAME}.json."
    yield (
        ["part", "seed", "plan", "games", "missing"],
        [
            [part, str(entry["seed"]), entry["plan"], f"{entry['games']:,}", f"{entry['missing_games']:,}"]
            for part, entry in p["parts"].items()
        ],
    )


_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:68rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a}"
    "h1,h2{line-height:1.2}table{border-collapse:collapse;font-size:.85rem;margin:1rem 0}"
    "th,td{padding:.2rem .6rem;border-bottom:1px solid #ddd;text-align:right}"
    "th:first-child,td:first-child{text-align:left}"
    "figure{margin:1.5rem 0}figure svg{max-width:100%;height:auto}figcaption{font-size:.85rem;color:#444}"
    ".answer{background:#f4f6f8;padding:.6rem 1.2rem;border-left:4px solid #0072b2}details{margin:1rem 0}"
)


def study_report_files(data: Data) -> dict[Path, bytes]:
    """Return the contents of the report files by relative path, given the results of a study."""
    shown = all_printable(data)
    drawn = study_figures(shown)
    sections = list(chapters(shown))
    return {
        Path(f"{_NAME}.html"): _html(sections, drawn, shown).encode(),
        Path(f"{_NAME}.md"): _markdown(sections, drawn).encode(),
        Path(f"{_NAME}.json"): (json.dumps(data, indent=1, allow_nan=False) + "\n").encode(),
        **{Path("images", f"{_NAME}-{figure}.svg"): picture for figure, (_, picture) in drawn.items()},
    }


def _markdown(sections: Sequence[tuple[str, list[Any]]], drawn: Mapping[str, tuple[str, bytes]]) -> str:
    lines: list[str] = []
    for number, (title, content) in enumerate(sections):
        lines += [f"{'#' if number == 0 else '##'} {title}", ""]
        for item in content:
            if isinstance(item, str) and item.startswith("@"):
                if item[1:] in drawn:
                    caption = drawn[item[1:]][0]
                    lines += [
                        f"!{link(title, f'images/{_NAME}-{item[1:]}.svg')}",
                        "",
                        f"*{escape_markdown(caption)}*",
                        "",
                    ]
            elif isinstance(item, str):
                lines += [escape_outside_code(item), ""]
            elif item[0] in ("answer", "list"):
                lines += [*(f"- {escape_outside_code(text)}" for text in item[1:]), ""]
            else:
                header, *rows = (table_row([*map(escape_markdown, cells)]) for cells in (item[0], *item[1]))
                lines += [header, table_row(["---"] * len(item[0])), *rows, ""]
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
                body.append(f"<div{kind}><ul>{''.join(f'<li>{escape(text)}</li>' for text in item[1:])}</ul></div>")
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
    """Return an SVG to embed in an HTML page, without its header and with unique ids."""
    drawing = picture.decode()
    drawing = drawing[drawing.index("<svg") :]
    drawing = re.sub(r"<metadata>.*?</metadata>", "", drawing, flags=re.DOTALL)
    drawing = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', drawing)
    drawing = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", drawing)
    return re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', drawing).strip()
