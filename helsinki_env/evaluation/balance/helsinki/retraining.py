"""Test whether conclusions about an action also hold for agents trained without it.

A balance study denies actions to players trained with all actions. The measured effect may partly be habit: a player
trained without the action might lose less. This study trains networks from scratch, some with all actions and some with
one action covered for all seats, and plays them against each other. Each network is a training run, and each part of
the games is a resumable tournament. A seat lacks an action under three conditions, on the same deals:

- **zero-shot**: a network trained with all actions is denied the action, and the other seats have it;
- **retrained**: a network trained without the action is denied it, and the other seats have it;
- **covered**: a network trained without the action plays against networks trained with all actions, and the action is
  covered for all seats. If it is weaker here, the reason is not the missing action. If it is stronger, it may benefit
  from training on exactly this game.

As in a balance study, conclusions are based on the deviation: the effect of an action minus the mean effect of all
fifteen actions. The *zero-shot* deviation comes from the screening experiment of a network trained with all actions,
in which every seat lacks several actions. Effects in a game with all other actions differ, so they cannot be compared
with that mean. The *retrained* deviation is therefore the zero-shot deviation minus the gain from training without the
action (*regained*): the win rate of the retrained seat minus that of the zero-shot seat.

A claim **stands** if the interval lies entirely beyond the margin on the claimed side for every seed. It **falls** if
no part of the interval lies there for any seed. Otherwise it is **undecided**. Intervals hold simultaneously for all
actions, seeds and player counts, separately for each of the two estimates.

Networks trained in the same way differ in strength by more than these intervals account for. The gain from training
without an action (*regained*) is therefore also reported as the mean over actions, with an interval over seeds. Each
seed is one observation, because networks with the same seed play each other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from helsinki_env.data import Node, read_json, with_digest
from helsinki_env.evaluation.arena.designs import ScreeningDesign
from helsinki_env.evaluation.arena.load import MatchupGames
from helsinki_env.evaluation.balance.effects import WinEffects, estimate_win_effects, simultaneous_quantile
from helsinki_env.evaluation.balance.helsinki.base import (
    ConfigFile,
    RunTournament,
    StudyError,
    StudyTournaments,
    check_design,
    check_screening,
    field_entry,
    game_counts,
    software_versions,
    versions_text,
)
from helsinki_env.evaluation.balance.helsinki.conclusions import EffectEstimates, findings
from helsinki_env.evaluation.balance.helsinki.estimates import ablation_games
from helsinki_env.evaluation.balance.helsinki.figures import forest_plot
from helsinki_env.evaluation.balance.helsinki.tune.report import action_label_markdown, interval_text
from helsinki_env.evaluation.match_stats import fractional_wins, mean_and_half_width, mean_by_deal, proportion_interval
from helsinki_env.evaluation.rating.shares import to_json_data
from helsinki_env.games.helsinki.action_numbers import BOARD_ACTIONS
from helsinki_env.utils.files import check_no_link
from helsinki_env.utils.markdown import all_printable, code_span, escape_outside_code, markdown_table

__all__ = ["RetrainingConfig", "RetrainingStudy", "TrainingJob", "retraining_report_files", "retraining_results"]


ClaimDirection = Literal["too strong", "too weak"]
"""Conclusion of a study on an action."""
TEST_CONDITIONS = ("zero_shot", "retrained", "covered")
"""Conditions in which a seat lacks an action."""
_PARTS = ("screening", "meetings")
_MAX_NETWORKS = 20


@dataclass(frozen=True)
class RetrainingConfig(ConfigFile):
    """Configuration of a retraining study, see ``configs/retrained/standard.yaml``.

    Attributes:
        name: name of the study.
        seed: seed of the whole study, and the first training seed.
        claims: conclusions to re-test, by action name.
        preset: training configuration of all networks: a name in ``configs/training`` or a path.
        seeds: number of training seeds. For each seed, one network is trained with all actions, and one without each
            action in `claims`.
        screening: number of games, by player count, in the screening experiment of each network trained with all
            actions.
        meetings: number of games for each condition in which a seat lacks an action, for the same player counts.
        design: design of the screening experiment.
        equivalence_margin: half-width of the equivalence margin, win %.
        level: simultaneous confidence level of the intervals of all screening experiments, and of the intervals of all
            meetings.
    """

    WHAT, FOLDER, FILE, MAX_SEED = "retraining", "retrained", "retrained.json", 2**50
    PARTS: ClassVar[Mapping[str, type]] = {"design": ScreeningDesign}

    name: str
    seed: int
    claims: Mapping[str, ClaimDirection]
    screening: Mapping[int, int]
    meetings: Mapping[int, int]
    preset: str = "retrained"
    seeds: int = 3
    design: ScreeningDesign = field(default_factory=ScreeningDesign)
    equivalence_margin: float = 1.0
    level: float = 0.95

    def __post_init__(self) -> None:
        """Validate all values."""
        self._check_common()
        field_entry(self, "preset").text("a name")
        field_entry(self, "seeds").integer(1, _MAX_NETWORKS)
        claims = field_entry(self, "claims")
        if not isinstance(self.claims, Mapping) or not self.claims:
            claims.fail("the claim on at least one action, such as {two_points: too strong}")
        for action, claim in claims.items():
            Node(action, StudyError, "claims").choice(BOARD_ACTIONS)
            claim.choice(("too strong", "too weak"))
        for key in ("screening", "meetings"):
            counts = {n: games for n, games in sorted(game_counts(self, key).items()) if games}
            object.__setattr__(self, key, counts)
            check_screening(counts, key)
        check_design(self.design, "design")
        if not self.screening or tuple(self.screening) != tuple(self.meetings):
            field_entry(self, "meetings").fail("games for the same player counts as for screening, at least one")

    @property
    def players(self) -> tuple[int, ...]:
        """Player counts, ascending."""
        return tuple(self.screening)

    @property
    def training_seeds(self) -> range:
        """Training seeds of the networks."""
        return range(self.seed, self.seed + self.seeds)


@dataclass(frozen=True)
class TrainingJob:
    """A network to train, and the action covered for all seats during its training (empty for none)."""

    seed: int
    without: str = ""

    @property
    def name(self) -> str:
        """Folder name of the network."""
        return f"{f'without-{self.without}' if self.without else 'with-all'}-{self.seed}"


Train = Callable[[TrainingJob, Path], None]
"""Function that trains a network in a folder or resumes its training. The result is ``best.safetensors``."""


class RetrainingStudy:
    """The networks and games of a retraining study. `train` trains a network, and `run` plays a part of the games."""

    def __init__(self, config: RetrainingConfig, folder: Path, train: Train, run: RunTournament) -> None:
        self.config, self.folder, self._train = config, folder, train
        self.tournaments = StudyTournaments(folder, run)

    @property
    def learners(self) -> list[TrainingJob]:
        """The networks to train: for each seed, one with all actions, then one without each re-tested action."""
        return [
            TrainingJob(seed, without) for seed in self.config.training_seeds for without in ("", *self.config.claims)
        ]

    def folder_of(self, learner: TrainingJob) -> Path:
        """Return the folder in which a network is trained."""
        return self.folder / "networks" / learner.name

    def player(self, learner: TrainingJob) -> str:
        """Return the name of the player that uses a network."""
        return f"net:{self.folder_of(learner) / 'best.safetensors'}"

    def train(self) -> None:
        """Train the networks that are missing."""
        for learner in self.learners:
            folder = self.folder_of(learner)
            for own in (folder.parent, folder):
                check_no_link(own)
            self._train(learner, folder)

    def screenings(self) -> dict[tuple[int, int], MatchupGames]:
        """Play the missing screening games and return all of them by training seed and player count."""
        matchups = {
            (seed, n): {
                "name": f"{TrainingJob(seed).name}, {n} players",
                "players": [self.player(TrainingJob(seed))],
                "games": self.config.screening[n],
                "game": {"num_players": n},
                "screening": asdict(self.config.design),
            }
            for seed, n in product(self.config.training_seeds, self.config.players)
        }
        return dict(zip(matchups, self._play("screening", list(matchups.values())), strict=True))

    def meetings(self) -> dict[tuple[str, int, int, str], MatchupGames]:
        """Play the missing games and return all of them by action, training seed, player count and condition."""
        matchups = {
            (action, seed, n, way): matchup
            for action, seed, n in product(self.config.claims, self.config.training_seeds, self.config.players)
            for way, matchup in self._meetings(action, seed, n)
        }
        return dict(zip(matchups, self._play("meetings", list(matchups.values())), strict=True))

    def _meetings(self, action: str, seed: int, n: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each condition in which a seat lacks an action, with its matchup."""
        with_all, without = self.player(TrainingJob(seed)), self.player(TrainingJob(seed, action))
        denied = {"handicap": {"denied": [[action], *([] for _ in range(n - 1))]}}
        ways: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
            (with_all, denied, {}),
            (without, denied, {}),
            (without, {}, {"covered": [action]}),
        )
        for way, (player, design, game) in zip(TEST_CONDITIONS, ways, strict=True):
            yield (
                way,
                {
                    "name": f"{action}, {seed}, {n} players, {way}",
                    "lineups": [[player, *[with_all] * (n - 1)]],
                    "games": self.config.meetings[n],
                    "game": {"num_players": n, **game},
                    **design,
                },
            )

    def _play(self, part: str, matchups: list[dict[str, Any]]) -> list[MatchupGames]:
        return self.tournaments.matchups(part, self.config.seed * len(_PARTS) + _PARTS.index(part), matchups)


Array = npt.NDArray[np.float64]
Data = Mapping[str, Any]


def retraining_results(retrained: RetrainingStudy) -> dict[str, Any]:
    """Train the missing networks, play the missing games, and return all results with a digest."""
    config = retrained.config
    retrained.train()
    effects = {key: estimate_win_effects(ablation_games(matchup)) for key, matchup in retrained.screenings().items()}
    screening = _screening_experiments(config, effects)
    shares = {}
    for (action, seed, n, way), matchup in retrained.meetings().items():
        without = retrained.player(TrainingJob(seed, action)) if way == "covered" else None
        shares[action, seed, n, way] = _win_rate_without(matchup, action, without)
    meetings = _meetings(config, screening, shares)
    conclusions = [
        _conclusion(config, action, n, screening, meetings) for action in config.claims for n in config.players
    ]
    digests = retrained.tournaments.networks
    data = {
        "config": config.to_dict(),
        "summary": _summary(config, conclusions, meetings),
        "conclusions": conclusions,
        "meetings": meetings,
        "screening": screening,
        "actions": list(BOARD_ACTIONS),
        "networks": [_network(retrained, learner, digests) for learner in retrained.learners],
        "provenance": {**software_versions(), "parts": retrained.tournaments.played},
    }
    return with_digest(to_json_data(data))


def _win_rate_without(matchup: MatchupGames, action: str, player: str | None) -> Array:
    """Return the win rate by deal, float64 (D,), of the seat that is denied the action, or of `player` if given."""
    if player is not None:
        without = matchup.seating == matchup.players.index(player)
    else:
        without = matchup.denied >> BOARD_ACTIONS.index(action) & 1 == 1
    return mean_by_deal((fractional_wins(matchup.places) * without).sum(axis=1), matchup.deal)


def _screening_experiments(
    config: RetrainingConfig, effects: Mapping[tuple[int, int], WinEffects]
) -> list[dict[str, Any]]:
    """Return the screening estimates for all actions in the format of `forest_plot`."""
    estimates = [EffectEstimates(n, f"seed {seed}", seed, e.power, e.covariance) for (seed, n), e in effects.items()]
    found = findings(estimates, config.level)
    return [
        {
            "seed": seed,
            "player": f"seed {seed}",
            "players": n,
            "games": effects[seed, n].games,
            "mean_power": float(effects[seed, n].power.mean()),
            "actions": [
                {
                    "action": one.action,
                    "power": one.power,
                    "deviation": one.deviation,
                    "deviation_error": one.error,
                    "deviation_low": one.low,
                    "deviation_high": one.high,
                }
                for one in found
                if (one.strength, one.players) == (seed, n)
            ],
        }
        for seed, n in effects
    ]


def _meetings(
    config: RetrainingConfig,
    screening: Sequence[Data],
    shares: Mapping[tuple[str, int, int, str], Array],
) -> list[dict[str, Any]]:
    """Return the win rate of the seat without an action under each condition, and the effect of the action."""
    zero_shot = {(e["seed"], e["players"], one["action"]): one for e in screening for one in e["actions"]}
    meetings: list[dict[str, Any]] = []
    errors: list[float] = []
    for action, seed, n in product(config.claims, config.training_seeds, config.players):
        by_way = {way: shares[action, seed, n, way] for way in TEST_CONDITIONS}
        gain, screened = 100 * (by_way["retrained"] - by_way["zero_shot"]), zero_shot[seed, n, action]
        errors.append(float(np.hypot(gain.std(ddof=1) / np.sqrt(len(gain)), screened["deviation_error"])))
        regained, half = mean_and_half_width(gain)
        meetings.append(
            {
                "action": action,
                "seed": seed,
                "players": n,
                "deals": len(gain),
                "won": {way: _won(share) for way, share in by_way.items()},
                "regained": regained,
                "regained_low": regained - half,
                "regained_high": regained + half,
                "power": float(100 * (1 / n - by_way["retrained"].mean())),
                "deviation": screened["deviation"] - regained,
            }
        )
    quantile = simultaneous_quantile(np.diag(np.square(errors)), config.level)
    for one, error in zip(meetings, errors, strict=True):
        one["deviation_low"] = one["deviation"] - quantile * error
        one["deviation_high"] = one["deviation"] + quantile * error
    return meetings


def _won(share: Array) -> dict[str, float]:
    ends = proportion_interval(share[:, None], np.ones((len(share), 1)))
    return {key: float(100 * end[0]) for key, end in zip(("share", "low", "high"), ends, strict=True)}


def _conclusion(
    config: RetrainingConfig, action: str, n: int, screening: Sequence[Data], meetings: Sequence[Data]
) -> dict[str, Any]:
    """Return the two conclusions on a claim (zero-shot and retrained), based on the intervals for all seeds."""
    claim = config.claims[action]
    estimates = {
        "zero_shot": [one for e in screening if e["players"] == n for one in e["actions"] if one["action"] == action],
        "retrained": [one for one in meetings if (one["action"], one["players"]) == (action, n)],
    }
    conclusions = {
        way: claim_conclusion(
            [(one["deviation_low"], one["deviation_high"]) for one in found], claim, config.equivalence_margin
        )
        for way, found in estimates.items()
    }
    return {"action": action, "players": n, "claim": claim, **conclusions}


def claim_conclusion(intervals: Sequence[tuple[float, float]], claim: str, margin: float) -> str:
    """Return the conclusion on a claim (stands, falls, undecided), given the deviation's interval for each seed."""
    sides = [(low, high) if claim == "too strong" else (-high, -low) for low, high in intervals]
    if all(low > margin for low, _ in sides):
        return "stands"
    return "falls" if all(high <= margin for _, high in sides) else "undecided"


def _network(retrained: RetrainingStudy, learner: TrainingJob, digests: Mapping[str, str]) -> dict[str, Any]:
    """Return the name, digest and training summary of a network."""
    data = read_json(retrained.folder_of(learner) / "summary.json", StudyError)
    return {
        "name": learner.name,
        "seed": learner.seed,
        "without": learner.without,
        "digest": digests[retrained.player(learner)],
        **{key: data[key].integer(0) for key in ("positions", "decisions")},
        "minutes": data["seconds"].number(0) / 60,
        "standings": [
            {key: one[key].value for key in ("players", "opponent", "games", "share", "low", "high")}
            for one in data["results"].entries("match results")
        ],
    }


def _summary(config: RetrainingConfig, conclusions: Sequence[Data], meetings: Sequence[Data]) -> list[str]:
    """Return sentences that summarize the conclusions."""
    sentences = []
    for one in conclusions:
        conclusion = f"{one['zero_shot']} (zero-shot), {one['retrained']} (retrained)"
        if one["zero_shot"] == one["retrained"]:
            conclusion = f"{one['zero_shot']} (zero-shot and retrained)"
        action = one["action"].replace("_", " ")
        sentences.append(f"'{action}' with {one['players']} players, {one['claim']}: {conclusion}.")
    seeds = "one seed" if config.seeds == 1 else f"all {config.seeds} seeds"
    sentences.append(
        f"A claim stands if for {seeds} the whole interval lies beyond the margin of ±{config.equivalence_margin:g} "
        f"games per 100 on the claimed side. It falls if for {seeds} no part of the interval does "
        f"({100 * config.level:g}% for all intervals together)."
    )
    return sentences + [_averages(meetings, n) for n in config.players if config.seeds > 1]


def _averages(meetings: Sequence[Data], n: int) -> str:
    """Return sentences on the mean gain from training without an action, with intervals over seeds."""
    by_seed: dict[int, list[Data]] = {}
    for one in meetings:
        if one["players"] == n:
            by_seed.setdefault(one["seed"], []).append(one)
    regained = [np.mean([one["regained"] for one in own]) for own in by_seed.values()]
    covered = [np.mean([one["won"]["covered"]["share"] for one in own]) for own in by_seed.values()]
    return (
        f"With {n} players, on average over all actions and {len(by_seed)} seeds, a seat that alone is denied an "
        f"action gains {_over_seeds(regained, '+')} games per 100 by training without it. If the action is covered for "
        f"all seats, a network trained without it wins {_over_seeds(covered)} per 100; the chance level is "
        f"{100 / n:.3g}."
    )


def _over_seeds(values: Sequence[float], sign: str = "") -> str:
    middle, half = mean_and_half_width(np.array(values))
    return f"{middle:{sign}.1f} ({middle - half:{sign}.1f} to {middle + half:{sign}.1f})"


def retraining_report_files(data: Data) -> dict[Path, bytes]:
    """Return the contents of the report files by relative path, given the results of a retraining study."""
    shown = all_printable(data)
    study, claims = {"equivalence_margin": shown["config"]["equivalence_margin"]}, list(shown["config"]["claims"])
    retested = forest_plot({"study": study, "actions": claims, "screening": [*_retested(shown, claims)]})
    every = forest_plot({"study": study, "actions": shown["actions"], "screening": shown["screening"]})
    return {
        Path("retrained.md"): ("\n\n".join(_page(shown)) + "\n").encode(),
        Path("retrained.json"): (json.dumps(data, indent=1, allow_nan=False) + "\n").encode(),
        Path("images", "retrained-forest.svg"): retested,
        Path("images", "zero-shot-forest.svg"): every,
    }


def _retested(data: Data, claims: Sequence[str]) -> Iterator[Data]:
    """Yield the zero-shot and retrained estimates for the re-tested actions in the format of `forest_plot`."""
    seeds = sorted({entry["seed"] for entry in data["screening"]})
    for n in sorted({entry["players"] for entry in data["screening"]}):
        zero_shot = {entry["seed"]: entry["actions"] for entry in data["screening"] if entry["players"] == n}
        retrained = {seed: [e for e in data["meetings"] if (e["seed"], e["players"]) == (seed, n)] for seed in seeds}
        for way, found in (("zero-shot", zero_shot), ("retrained", retrained)):
            for seed in seeds:
                by_name = {one["action"]: one for one in found[seed]}
                player = f"{way}, seed {seed}"
                yield {"player": player, "players": n, "actions": [by_name[action] for action in claims]}


def _page(data: Data) -> Iterator[str]:
    """Yield the paragraphs of the report page."""
    config = data["config"]
    yield "# Conclusions re-tested with retrained players"
    yield "\n".join(f"- {escape_outside_code(sentence)}" for sentence in data["summary"])
    yield "![Effect of each action minus the mean effect](images/retrained-forest.svg)"
    yield (
        "*Effect of each action minus the mean effect. Zero-shot: the design denies actions to a network trained with "
        "all actions, in all seats. Retrained: the same minus what a seat regains if it was trained without the action "
        "(table below). Lines: intervals that hold simultaneously, separately for zero-shot and retrained. Gray: the "
        "equivalence margin.*"
    )
    yield _conclusion_table(data)
    yield "## Win rates without the action"
    yield (
        "Games won per 100, with individual 95% intervals, on the same deals. The intervals cover the luck of deals, "
        "not the differences between networks trained in the same way. Zero-shot: a network trained with all actions "
        "is denied the action. Retrained: a network trained without the action is denied it. Regained: the difference. "
        "Covered: a network trained without the action against networks trained with it, with the action covered for "
        "all seats. A win rate above the chance level there comes from its strength, or from training on exactly this "
        "game."
    )
    yield _meeting_table(data)
    yield "## All actions (zero-shot)"
    yield "![Effect of each action minus the mean effect, by network](images/zero-shot-forest.svg)"
    yield "*Screening experiments: each network trained with all actions takes all seats.*"
    yield "## The networks"
    yield _networks(data)
    yield "## Where the numbers come from"
    p = data["provenance"]
    yield (
        f"Generated by {code_span('helsinki balance retrain ' + config['name'])}, seed {config['seed']}, training "
        f"preset {code_span(config['preset'])}; {versions_text(p)}. All numbers: retrained.json."
    )
    yield markdown_table(
        ["part", "seed", "games"], [[part, e["seed"], f"{e['games']:,}"] for part, e in p["parts"].items()]
    )


def _conclusion_table(data: Data) -> str:
    rows = [
        [action_label_markdown(one["action"]), one["players"], one["claim"], one["zero_shot"], one["retrained"]]
        for one in data["conclusions"]
    ]
    return markdown_table(["action", "players", "claim", "zero-shot", "retrained"], rows, left=5)


def _meeting_table(data: Data) -> str:
    rows = []
    for one in data["meetings"]:
        won = (one["won"][way] for way in TEST_CONDITIONS)
        zero_shot, retrained, covered = (f"{w['share']:.1f} ({w['low']:.1f} to {w['high']:.1f})" for w in won)
        rows.append([
            action_label_markdown(one["action"]), one["players"], one["seed"], f"{one['deals']:,}", zero_shot,
            retrained, interval_text(one, "regained"), covered, interval_text(one, "deviation"),
        ])  # fmt: skip
    ways = ["zero-shot", "retrained", "regained", "covered"]
    return markdown_table(["action", "players", "seed", "deals", *ways, "deviation"], rows)


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
    return markdown_table(head, rows)
