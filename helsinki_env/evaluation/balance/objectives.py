"""Score component files against the aims of a designer, so that any optimizer can search for a better game.

An objectives file lists matchups, as a tournament file does, and aims: bounds for a quantity measured in the games,
such as the win rate of a seat or the number of rounds. The *penalty* of an aim is its weight times the mean distance of
its measurements from their bounds. The *score* of a component file is the sum of the penalties. Lower is better, and 0
means that the measurements meet all aims.

Standard errors come from a delete-a-group jackknife over deals (Kott 2001), which covers quantities of any form and
matchups that share deals. Measurements vary even if the game meets an aim, so scores of different numbers of games are
not comparable.

    objectives = Objectives.from_yaml("standard")
    score = objectives.score({"base": "default", "actions": {"two_points": {"cost": 2}}}, Path("runs/score"))
    score.value, score.error
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import yaml

from helsinki_env.agents.registry import check_code
from helsinki_env.data import Node, UserError, digest_of, read_yaml
from helsinki_env.engine.spec import spec_of
from helsinki_env.evaluation.arena.load import MatchupGames, load_run
from helsinki_env.evaluation.arena.plan import MatchupPlan, Plan, plan_from_dict
from helsinki_env.evaluation.arena.run import run_arena
from helsinki_env.evaluation.balance.denied import denied_items
from helsinki_env.evaluation.balance.effects import AblationGames, estimate_win_effects
from helsinki_env.evaluation.balance.sensitivity import LEAST_DEALS, check_deals, read_matchup
from helsinki_env.evaluation.match_stats import fractional_wins
from helsinki_env.evaluation.rating.shares import head_to_head_by_unit
from helsinki_env.utils.files import atomic_write, check_no_link
from helsinki_env.utils.yaml_files import find_yaml

__all__ = [
    "GROUPS",
    "Measurement",
    "MeasurementName",
    "Measurements",
    "Objectives",
    "ObjectivesError",
    "Score",
    "jackknife",
]

Array = npt.NDArray[np.float64]

#: Matchup in an error message on components.
_GAME = re.compile(r"^matchups\[\d+\]\.game: ")
COMPONENTS = "components"
"""Folder of the component files that are given as content."""
MAX_SEED = 2**62
"""Maximum seed of objectives; a search uses larger seeds."""
GROUPS = LEAST_DEALS
"""Number of groups of the jackknife."""


class ObjectivesError(UserError):
    """Invalid objectives. The message names the file, the key, the value found and the value expected."""


@dataclass(frozen=True)
class Aim:
    """Bounds for a quantity.

    Attributes:
        measure: name of the quantity, a key of `MEASURES`.
        low, high: bounds; infinite if there is none.
        weight: factor of the penalty.
        players: two players A and B, for the measure "ahead"; otherwise empty.
        matchups: indices of the matchups in which the quantity is measured.
    """

    measure: str
    low: float
    high: float
    weight: float
    players: tuple[str, ...]
    matchups: tuple[int, ...]


class MeasurementName(NamedTuple):
    """Index of the aim, name of the matchup, and name of the quantity, such as "effect of two_points"."""

    aim: int
    matchup: str
    name: str


@dataclass(frozen=True)
class Measurement:
    """A measured quantity, and its distance from the bounds of an aim.

    Attributes:
        aim: index of the aim.
        matchup: name of the matchup.
        name: name of the quantity, such as "effect of two_points".
        value, error: estimate and its standard error.
        distance: distance of the estimate from the bounds, 0 within them.
    """

    aim: int
    matchup: str
    name: str
    value: float
    error: float
    distance: float


class Measurements(NamedTuple):
    """The measurements of a component file.

    Attributes:
        names: names of the M measurements.
        values: the measurements, float64 (1 + `GROUPS`, M). The first row has the values in all games; the others are
            those without each group of deals, for `jackknife`.
        games: number of games.
    """

    names: list[MeasurementName]
    values: Array
    games: int


@dataclass(frozen=True)
class Score:
    """The score of a component file: `value`, lower is better, with its standard `error`."""

    value: float
    error: float
    games: int
    measurements: tuple[Measurement, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the score as JSON-serializable data."""
        return {
            "score": self.value,
            "standard_error": self.error,
            "games": self.games,
            "measurements": [asdict(one) for one in self.measurements],
        }


# --- measures


def _power(games: MatchupGames) -> dict[str, float]:
    names, _, denied, _ = denied_items(games)
    power = estimate_win_effects(AblationGames(denied, games.places, games.deal)).power
    return dict(zip(names, power.tolist(), strict=True))


def _effects(games: MatchupGames, aim: Aim) -> dict[str, float]:
    power = _power(games)
    mean = np.mean(list(power.values()))
    return {f"effect of {name}": float(value - mean) for name, value in power.items()}


def _seats(games: MatchupGames, aim: Aim) -> dict[str, float]:
    shares = 100 * fractional_wins(games.places).mean(axis=0)
    return {f"seat {seat + 1}": float(share - 100 / len(shares)) for seat, share in enumerate(shares)}


def _use(games: MatchupGames, aim: Aim) -> dict[str, float]:
    disabled = games.denied | games.covered[:, None]
    found = {}
    for number, name in spec_of(games.config).deniable.items():
        had = (disabled >> number & 1) == 0
        found[f"use of {name}"] = float(100 * (games.used >> number & 1)[had].mean()) if had.any() else 0.0
    return found


def _lead(games: MatchupGames, aim: Aim) -> dict[str, float]:
    ordered = np.sort(games.scores, axis=1)
    return {"lead": float((ordered[:, -1] - ordered[:, -2]).mean())}


def _ahead(games: MatchupGames, aim: Aim) -> dict[str, float]:
    one, two = map(games.players.index, aim.players)
    shares = head_to_head_by_unit(games.seating, games.places, games.deal, one, two)
    return {f"{aim.players[0]} ahead of {aim.players[1]}": 100 * float(shares.mean())}


MEASURES: Mapping[str, Callable[[MatchupGames, Aim], dict[str, float]]] = {
    "effects": _effects,
    "level": lambda games, aim: {"mean effect": float(np.mean(list(_power(games).values())))},
    "seats": _seats,
    "use": _use,
    "rounds": lambda games, aim: {"rounds": float(games.rounds.mean())},
    "points": lambda games, aim: {"points": float(games.scores.mean())},
    "lead": _lead,
    "ahead": _ahead,
}
"""The measures by name:

- effects: effect of each action or ability on the win rate, minus the mean effect, in percentage points;
- level: mean effect of the actions or abilities on the win rate, in percentage points;
- seats: win rate of each seat minus the chance level, in percentage points;
- use: percentage of the seats with access to an action or ability that used it;
- rounds: mean number of rounds; points: mean points of a seat; lead: mean points between first and second place;
- ahead: percentage of pairings in which player A finishes ahead of player B (ties: half).
"""
#: Measures of the effects of denied actions or abilities.
_OF_DENIED = ("effects", "level")
#: Measures of deviations from 0, so `at_most` bounds their absolute value.
_DEVIATIONS = ("effects", "seats")


def _is_measurable(measure: str, plan: MatchupPlan, players: Sequence[str]) -> bool:
    if measure in _OF_DENIED:
        # If all seats lack equally many actions, only differences between effects are determined.
        return plan.screening is not None or (plan.boards is not None and plan.boards.denied[0] < plan.boards.denied[1])
    if measure == "use":
        return spec_of(plan.config).used is not None
    return set(players) <= set(plan.players)


# --- objectives


@dataclass(frozen=True)
class Objectives:
    """The aims of a designer, and the matchups in which they are measured.

    Attributes:
        seed: seed of all games.
        matchups: matchups as in a tournament file, without components.
        aims: the aims.
    """

    seed: int
    matchups: tuple[Mapping[str, Any], ...]
    aims: tuple[Aim, ...]

    @classmethod
    def from_yaml(cls, name_or_path: str | Path, *, trust: bool = False) -> Objectives:
        """Read objectives from a file, given its path or its name in ``configs/objectives``.

        Args:
            name_or_path: the file.
            trust: allow players that run code (``program:COMMAND``, ``MODULE:ATTRIBUTE``).

        Raises:
            ObjectivesError: if the file is invalid; the message names the file, the key and both values.
            ArenaError: if a matchup is invalid.
            PlayerError: if the file names code and is not trusted.
        """
        data = read_yaml(find_yaml(name_or_path, "objectives", ObjectivesError), ObjectivesError)
        data.mapping(("seed", "matchups", "aims"))
        matchups = tuple(read_matchup(entry) for entry in data["matchups"].entries("at least one matchup", least=1))
        seed = data["seed"].integer(0, MAX_SEED)
        with data.prefix_errors():
            plans = plan_from_dict({"seed": seed, "matchups": [dict(matchup) for matchup in matchups]}).matchups
        check_deals(data["matchups"], plans)
        check_code((player for plan in plans for player in plan.players), data.file, trust=trust)
        aims = tuple(_read_aim(entry, plans) for entry in data["aims"].entries("at least one aim", least=1))
        return cls(seed, matchups, aims)

    def plan(
        self,
        components: str | Mapping[str, Any] | None,
        folder: Path,
        seed: int | None = None,
    ) -> Plan:
        """Return the tournament that measures a component file; see `score`."""
        return self.joint_plan([components], folder, seed)

    def joint_plan(
        self,
        files: Sequence[str | Mapping[str, Any] | None],
        folder: Path,
        seed: int | None = None,
        share: float = 1.0,
    ) -> Plan:
        """Return a tournament that measures several component files with the same deals and random streams.

        Args:
            files: component files as for `score`. The matchups of each file follow those of the previous file.
            folder: folder for component files that are given as content.
            seed: seed of the games; default: that of the objectives.
            share: number of games as a fraction of that of the objectives. At least `GROUPS` deals are played.
        """
        matchups = []
        for number, components in enumerate(files, 1):
            if isinstance(components, Mapping):
                components = str(_component_file(components, folder))
            elif components is not None:
                Node(components, ObjectivesError, "components").text("the name or content of a component file")
            changed = {} if components is None else {"components": components}
            for matchup in self.matchups:
                name = matchup["name"] if len(files) == 1 else f"{matchup['name']} / {number}"
                matchups.append({**matchup, "name": name, "game": {**matchup["game"], **changed}})
        try:
            plan = plan_from_dict({"seed": self.seed if seed is None else seed, "matchups": matchups})
        except UserError as problem:
            text, inside = _GAME.sub("", str(problem)), f"{(folder / COMPONENTS).resolve()}/"
            if text.startswith(inside):  # the caller knows the content, and not this file
                text = text.partition(".yaml: ")[2]
            raise ObjectivesError(text) from None
        if len(files) == 1 and share == 1.0:
            return plan
        changed_matchups = (
            replace(one, blocks=max(GROUPS, round(share * one.blocks)), stream=i % len(self.matchups))
            for i, one in enumerate(plan.matchups)
        )
        return replace(plan, matchups=tuple(changed_matchups))

    def score(
        self,
        components: str | Mapping[str, Any] | None,
        folder: str | Path,
        *,
        seed: int | None = None,
        play: Callable[[Plan, Path], object] = run_arena,
    ) -> Score:
        """Play the matchups with a component file and return its score.

        All games are saved in the folder. Another call with the same components and seed resumes an interrupted one, or
        reuses its games, and returns the same score.

        Args:
            components: name or path of a component file, or its content; None for the default of the game.
            folder: folder for all games.
            seed: seed of the games; default: that of the objectives. Components that were selected by their score need
                another seed, because the score of the best of many is too good.
            play: function that plays a plan in a folder.

        Raises:
            ArenaError: if playing fails.
            ObjectivesError: if the components are invalid, or an effect cannot be estimated from so few games.
        """
        plan = self.plan(components, Path(folder), seed)
        run = Path(folder) / plan.digest
        play(plan, run)
        return self.measure(load_run(run, whole=True))

    def measure(self, games: Sequence[MatchupGames]) -> Score:
        """Return the score of games, given in the order of the matchups."""
        names, values, count = self.measurements(games)
        totals, errors = self.penalties(names, values), jackknife(values[1:])
        return Score(
            value=float(totals[0]),
            error=float(jackknife(totals[1:])),
            games=count,
            measurements=tuple(
                Measurement(aim, matchup, name, float(value), float(error), float(distance))
                for (aim, matchup, name), value, error, distance in zip(
                    names, values[0], errors, self.distances(names, values)[0], strict=True
                )
            ),
        )

    def measurements(self, games: Sequence[MatchupGames]) -> Measurements:
        """Return the measurements of games, given in the order of the matchups.

        Raises:
            ObjectivesError: if an action is denied in too few groups of deals for an interval.
            RatingError: if the effects of denied actions are not identifiable.
        """
        names, whole = self._measured(games)
        parts = []
        for k in range(GROUPS):
            left = [_without_group(matchup, k) for matchup in games]
            self._check_denied(games, left)
            parts.append(self._measured(left)[1])
        return Measurements(names, np.array([whole, *parts]), sum(len(matchup) for matchup in games))

    def _check_denied(self, games: Sequence[MatchupGames], left: Sequence[MatchupGames]) -> None:
        """Check that without a group of deals, the same actions are denied; only their effects can be estimated."""
        for matchup in {i for aim in self.aims if aim.measure in _OF_DENIED for i in aim.matchups}:
            names, found = (denied_items(played[matchup])[0] for played in (games, left))
            if found != names:
                only = next(name for name in names if name not in found)
                raise ObjectivesError(
                    f"{self.matchups[matchup]['name']}: found {only} denied in too few of {len(games[matchup])} games, "
                    f"expected it in more than one of {GROUPS} groups of deals; increase the number of games or the "
                    "range of denied actions"
                )

    def _measured(self, games: Sequence[MatchupGames]) -> tuple[list[MeasurementName], Array]:
        found = [
            (MeasurementName(number, self.matchups[matchup]["name"], name), value)
            for number, aim in enumerate(self.aims)
            for matchup in aim.matchups
            for name, value in MEASURES[aim.measure](games[matchup], aim).items()
        ]
        return [key for key, _ in found], np.array([value for _, value in found])

    def distances(self, names: Sequence[MeasurementName], values: Array) -> Array:
        """Return the distances of measurements, float64 (..., M), from the bounds of their aims."""
        low, high = (np.array([getattr(self.aims[one.aim], key) for one in names]) for key in ("low", "high"))
        distances: Array = np.maximum(0.0, np.maximum(low - values, values - high))
        return distances

    def penalties(self, names: Sequence[MeasurementName], values: Array) -> Array:
        """Return the sums of all penalties, float64 (...), given measurements, float64 (..., M)."""
        number = np.array([one.aim for one in names])
        weight = np.array([aim.weight for aim in self.aims])[number]
        sums: Array = self.distances(names, values) @ (weight / np.bincount(number)[number])
        return sums


def jackknife(values: Array) -> Array:
    """Return standard errors, float64 (...), given the values without each of N groups, float64 (N, ...)."""
    errors: Array = np.sqrt((len(values) - 1) * values.var(axis=0))
    return errors


def _without_group(games: MatchupGames, group: int) -> MatchupGames:
    """Return the games of all deals outside a group of the jackknife."""
    keep = games.deal % GROUPS != group
    columns = {one.name: getattr(games, one.name) for one in fields(games)}
    return replace(games, **{name: c[keep] for name, c in columns.items() if isinstance(c, np.ndarray)})


def _read_aim(data: Node, plans: Sequence[MatchupPlan]) -> Aim:
    data.mapping(("measure", "at_least", "at_most", "weight", "players", "matchups"))
    measure = data["measure"].choice(tuple(MEASURES))
    if not (data["at_least"].is_present or data["at_most"].is_present):
        data.fail("at_least, at_most, or both")
    low, high = (
        data[key].number(-1e9, 1e9) if data[key].is_present else default
        for key, default in (("at_least", -np.inf), ("at_most", np.inf))
    )
    if measure in _DEVIATIONS:
        if data["at_least"].is_present:
            data["at_least"].fail(f"no lower bound for {measure}; at_most limits deviations in both directions")
        data["at_most"].number(0, 100)
        low = -high
    if low > high:
        data["at_least"].fail(f"at most {high:g}, the value of at_most")
    players: tuple[str, ...] = ()
    if measure == "ahead":
        players = tuple(one.text("a player") for one in data["players"].entries("two players", length=2))
        if players[0] == players[1]:
            data["players"].fail("two different players")
    elif data["players"].is_present:
        data["players"].fail(f"no players for the measure {measure}")
    usable = [i for i, plan in enumerate(plans) if _is_measurable(measure, plan, players)]
    if data["matchups"].is_present:
        names = [plan.name for plan in plans]
        known = [names[i] for i in usable]
        chosen = data["matchups"].entries("at least one matchup", least=1)
        usable = [names.index(one.choice(known, "a matchup with this measure: ")) for one in chosen]
    if not usable:
        varied = "screening, or boards with a range of denied actions"
        needs = dict.fromkeys(_OF_DENIED, varied) | {"ahead": "both players"}
        need = needs.get(measure, "used actions")
        data["measure"].fail(f"a measure of some matchup; this one needs a matchup with {need}")
    return Aim(measure, low, high, data.get("weight", 1.0).number(0, 1e9), players, tuple(usable))


def _component_file(content: Mapping[str, Any], folder: Path) -> Path:
    """Return the path of a component file with the given content, after writing it to the folder if necessary."""
    check_no_link(folder / COMPONENTS)
    path = (folder / COMPONENTS / f"{digest_of(content)}.yaml").resolve()
    text = yaml.safe_dump(json.loads(json.dumps(content)), sort_keys=False).encode()
    if not path.exists() or path.read_bytes() != text:
        with atomic_write(path) as file:
            file.write(text)
    return path
