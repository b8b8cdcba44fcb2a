"""Chapters of the report of a study: titles, sentences, tables and positions of the figures.

Everything comes from the data (`helsinki_env.evaluation.balance.helsinki.results`). A chapter is a title and a list of
text, lists (a tuple of a keyword and texts), tables (header and rows) and figure names (``@name``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from helsinki_env.evaluation.balance.helsinki import report_tables
from helsinki_env.evaluation.balance.helsinki.report_tables import (
    CONCLUSION_TEXTS,
    format_action,
    format_interval,
    format_number,
)

__all__ = ["chapters"]

Data = Mapping[str, Any]


def chapters(data: Data, name: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield title and content of every chapter for which there is data.

    Args:
        data: results of the study.
        name: prefix of the names of the report's files.
    """
    games = sum(entry["games"] for entry in data["screen"])
    missing = sum(part["missing_games"] for part in data["provenance"]["parts"].values())
    yield "Which actions of the action board are too strong?", [*_answer(data, games, missing)]
    if data["verdicts"]:
        yield "Every action", ["@forest", report_tables.tabulate_conclusions(data), "@strength"]
    if "former" in data:
        yield "What differs from the former study", [*_former(data["former"])]
    if data["screen"]:
        yield "Absolute effect and use", [_EFFECTS, *report_tables.tabulate_effects(data), "@use", "@naive"]
        yield "Method", [*_method(data), report_tables.tabulate_screening(data)]
    if data["gate"]:
        yield "Evaluators", [_GATE, report_tables.tabulate_qualification(data)]
    if data["confirm"]:
        yield "Candidates in fresh games", [_CONFIRM, report_tables.tabulate_confirmations(data), "@confirm"]
    if data["pairs"]:
        yield "Actions that work together", [_PAIRS, *report_tables.tabulate_interactions(data), "@pairs"]
    if data["variants"]:
        yield "Other component files", [_VARIANTS, "@variants", *report_tables.tabulate_variants(data)]
    if data["quality"]:
        yield "Seats", [_SEATS, report_tables.tabulate_seats(data), "@seats"]
    if data["quality"] or data["covers"]:
        yield "Measures of a game", [("list", *report_tables.MEASURE_DEFINITIONS)]
    if data["covers"]:
        yield "Covering five actions", [_COVERS, "@covers", *report_tables.tabulate_covers(data)]
    if data["quality"]:
        yield (
            "Games of the rulebook",
            [_QUALITY, "@scores", report_tables.tabulate_quality(data), "@skill", *report_tables.tabulate_skill(data)],
        )
    yield "Where the numbers come from", [*_provenance(data, name)]


_UNDERSTATED = (
    "Effects with three and four players are too small in this report: they come from whole rankings, which understate "
    "them by factors of about 1.15 and 1.2 to 1.3. Conclusions near the margin may change with a study by the logit of "
    "the winner. Figures with two players are not affected."
)
_EFFECTS = (
    "The effect is the number of games of a hundred that a seat wins more if it has the action than if the action is "
    "denied to it, with a 95% interval for each figure alone. Used: share of the seats with the action that used it."
)
_GATE = (
    "A player that is confused by missing actions would make them look valuable. Every player therefore met the "
    "reference with the full board and with five actions denied to every seat. A player that surely loses more than "
    "the limit does not count for the conclusions."
)
_CONFIRM = (
    "Fresh games, with new deals. One seat is denied the action, or is the only one to have it (both are tested "
    "against the mean effect of all actions), or must use it as soon as it can (the result is what that costs)."
)
_PAIRS = (
    "A Shapley value is the effect of an action averaged over all orders in which a player could receive the fifteen "
    "actions. The figures are for the one of the two evaluators that has more games. Pairs are tested with control of "
    "the false discovery rate; the figure of a pair is by how much the two are worth more together than apart, with "
    "its 95% interval."
)
_VARIANTS = (
    "Some facts of the components are reconstructed. The screen was therefore repeated with other component files; a "
    "result that holds with all of them does not depend on the reconstruction."
)
_SEATS = (
    "Games won by each seat of a hundred in the base game, with all actions available and the same player in all "
    "seats, with 95% intervals. Equal seats would win 50, 33.3 and 25."
)
_COVERS = (
    "The rulebook lets you cover actions for all players. Every set of five was played with the same number of deals. "
    "The extremes of 3,003 measured sets are partly luck, so the table shows fresh games only, with 95% intervals."
)
_QUALITY = "The games that the rulebook offers, with the same player in all seats; means with 95% intervals."


def _answer(data: Data, games: int, missing: int) -> Iterator[Any]:
    if data["summary"]:
        yield ("answer", *data["summary"])
    else:
        yield "No conclusion yet: it takes games of at least two classes of player that passed the promotion test."
    if missing:
        yield f"{missing:,} games are planned and not played yet; everything below may still change."
    if "estimator" not in data and any(entry["players"] > 2 for entry in data["screen"]):
        yield _UNDERSTATED
    study = data["study"]
    yield (
        f"From {games:,} games of {', '.join(entry['player'] for entry in study['classes'])}, each against its equals, "
        "in which every seat was denied actions at random. The unit is one game won of a hundred."
    )
    yield (
        "An action is too strong or too weak if the intervals of both evaluators (the two strongest classes) lie more "
        f"than {study['band']:g} from the average action, and balanced if they lie within. All intervals hold at once "
        f"with {100 * study['level']:.0f}% probability."
    )
    yield "To change the board so that no action stands out, run `helsinki balance tune`."


_WHY = {
    "wider": "wider intervals: with those of then it would be as before",
    "narrower": "narrower intervals: with those of then it would be as before",
    "judges": "other judges: without those who are new it would be as before",
    "estimator": "another estimator: the former study fitted whole rankings, which understates effects",
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
                    format_action(one["action"]),
                    str(one["players"]),
                    CONCLUSION_TEXTS[one["former_verdict"]],
                    CONCLUSION_TEXTS[one["verdict"]],
                    _WHY[one["why"]],
                    format_interval(one, "former_deviation", "former_low", "former_high"),
                    format_interval(one, "deviation", "low", "high"),
                    format_interval(one, "difference", "difference_low", "difference_high"),
                ]
                for one in changed
            ],
        )
    if moved:
        yield "The same verdict, but surely worth something else to the strongest player, as far as both are known:"
        yield (
            "list",
            *(
                f"{format_action(one['action'])}, {one['players']} players: "
                f"{format_number(one['former_deviation'], sign=True)} then, "
                f"{format_number(one['deviation'], sign=True)} now; difference "
                f"{format_interval(one, 'difference', 'difference_low', 'difference_high')}"
                for one in moved
            ),
        )


def _all_of(differences: Sequence[Data], key: str) -> str:
    """Return the strongest class, which may differ between numbers of players."""
    return " or ".join(dict.fromkeys(one[key] for one in differences))


def _method(data: Data) -> Iterator[Any]:
    study = data["study"]
    yield (
        "The same player takes all seats, and every seat is denied five actions of its own by a balanced design "
        f"({study['screen']['copies']} × 42 sets; in {100 * study['screen']['loose']:.0f}% of the deals sets of random "
        "size). Each deal is played once in every rotation of the seats. "
        + (
            "A multinomial logit of the winner gives the average marginal effect of having an action. "
            if "estimator" in data
            else "A Plackett-Luce model of whole rankings gives the average marginal effect of having an action. "
        )
        + "Standard errors come from how deals differ."
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
