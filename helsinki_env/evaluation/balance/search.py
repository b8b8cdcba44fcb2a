"""Search for changes of the components that bring a game closer to the aims of a designer.

A search file lists what may change in a component file, and names an objectives file
(`helsinki_env.evaluation.balance.objectives`). A *variant* is the component file with some changes.

1. Variants with random changes are played. All parameters change about equally often.
2. A linear model predicts every measurement of the objectives from the changes. The effect of each change has a normal
   prior, whose variance is estimated for each measurement from the games (MacKay 1992, "Bayesian interpolation", Neural
   Computation 4).
3. In each round, the model's effects are drawn several times from their posterior distribution. For each draw, the best
   new variant with at most `most` changes is played (Thompson 1933, "On the likelihood that one unknown probability
   exceeds another", Biometrika 25). The model is then fitted again.
4. The finalists and the unchanged components are played on fresh deals. A finalist is proposed only if the interval of
   its improvement lies above 0. The intervals hold simultaneously for all finalists (Bonferroni).

The model predicts the measurements and not the score, because each measurement depends almost linearly on the changes.
All variants share deals, denied actions and random streams, so only differences between them matter. Estimates for
finalists combine their own games with the model, weighted by their errors (Fay and Herriot 1979, "Estimates of income
for small places", Journal of the American Statistical Association 74).

Letters in shapes: N variants, P parameters, D changes (the alternative values of all parameters), M measurements.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.data import (
    Node,
    UserError,
    check_same_settings,
    digest_of,
    read_stored_settings,
    read_yaml,
    short_repr,
)
from helsinki_env.evaluation.arena.load import load_run
from helsinki_env.evaluation.arena.plan import MAX_GAMES, MAX_MATCHUPS, Plan
from helsinki_env.evaluation.balance.objectives import (
    GROUPS,
    MeasurementName,
    Measurements,
    Objectives,
    jackknife,
)
from helsinki_env.evaluation.match_stats import student_quantile
from helsinki_env.utils.files import write_json
from helsinki_env.utils.yaml_files import find_yaml, merge_mappings

__all__ = [
    "Measure",
    "MeasurementModel",
    "Parameter",
    "Played",
    "SearchConfig",
    "SearchError",
    "SearchResult",
    "Tested",
    "Variant",
    "estimate_effects",
    "measure_by_playing",
    "random_changes",
    "search",
]

Array = npt.NDArray[np.float64]
Variant = tuple[int, ...]
"""The number of the value of each parameter: 0 for no change, n for the n-th alternative value."""

_MAX_CHANGES = 300
_KEY = re.compile(r"\w+(\.\w+){0,9}")
#: Mean number of changes in a random variant.
_CHANGES = 6
#: Ratios of the variance of the noise to that of the effects, from which the model chooses.
_RATIOS = np.logspace(-2, 4, 25)
#: Minimum degrees of freedom of unbiased estimates.
_FREEDOM = 10


class SearchError(UserError):
    """Invalid search file. The message names the file, the key, the value found and the value expected."""


class Parameter(NamedTuple):
    """A part of the components that may change.

    Attributes:
        name: key in the component file, with dots between nested keys, or the name of a fact.
        alternatives: a description of each alternative, and the content of a component file with only its changes.
    """

    name: str
    alternatives: tuple[tuple[str, dict[str, Any]], ...]


@dataclass(frozen=True)
class SearchConfig:
    """Configuration of a search, see ``configs/search/standard.yaml``.

    Attributes:
        name: name of the search.
        objectives_name: name or path of the objectives file.
        objectives: the objectives.
        components: name or path of the component file that is changed.
        parameters: what may change.
        most: maximum number of changes.
        share: games of a variant in the search, as a fraction of those of the objectives.
        random: number of variants with random changes.
        rounds: number of rounds after them.
        variants: number of variants in a round.
        finalists: number of variants in the final test.
        test: games of a variant in the final test, as a fraction of those of the objectives.
    """

    name: str
    objectives_name: str
    objectives: Objectives
    components: str
    parameters: tuple[Parameter, ...]
    most: int
    share: float
    random: int
    rounds: int
    variants: int
    finalists: int
    test: float

    @classmethod
    def from_yaml(cls, name_or_path: str | Path, *, trust: bool = False) -> SearchConfig:
        """Read a search from a file, given its path or its name in ``configs/search``.

        Args:
            name_or_path: the file.
            trust: allow players that run code (``program:COMMAND``, ``MODULE:ATTRIBUTE``).

        Raises:
            SearchError: if the file is invalid; the message names the file, the key and both values.
            ObjectivesError, ArenaError: if the objectives are invalid.
            PlayerError: if the objectives name code and are not trusted.
        """
        path = find_yaml(name_or_path, "search", SearchError)
        data = read_yaml(path, SearchError)
        data.mapping(("objectives", "components", "changes", "files", "most", "games", "variants"))
        games = data.get("games", {}).mapping(("search", "test"))
        variants = data.get("variants", {}).mapping(("random", "rounds", "in_each_round", "finalists"))
        objectives_name = data["objectives"].text("an objectives file")
        with data["objectives"].prefix_errors():
            objectives = Objectives.from_yaml(objectives_name, trust=trust)
        components = data.get("components", "default").text("a component file")
        listed = _read_parameters(data, components)
        found = cls(
            name=path.stem,
            objectives_name=objectives_name,
            objectives=objectives,
            components=components,
            parameters=tuple(parameter for parameter, _ in listed),
            most=data.get("most", 4).integer(1),
            share=games.get("search", 0.1).number(0, 1000, inside=True),
            random=variants.get("random", 40).integer(4, 400),
            rounds=variants.get("rounds", 5).integer(0, 100),
            variants=variants.get("in_each_round", 8).integer(1, 100),
            finalists=variants.get("finalists", 2).integer(1, 10),
            test=games.get("test", 2.0).number(0, 1000, inside=True),
        )
        most = MAX_MATCHUPS // len(objectives.matchups)
        for node, count, limit in (
            (variants["random"], found.random, most - 1),
            (variants["in_each_round"], found.variants, most),
        ):
            if count > limit:
                node.fail(f"at most {limit}, because each variant plays {len(objectives.matchups)} matchups")
        played = objectives.plan(None, Path()).games
        for node, share, count in (
            (games["search"], found.share, max(1 + found.random, found.variants)),
            (games["test"], found.test, 1 + found.finalists),
        ):
            if count * share * played > MAX_GAMES:
                node.fail(f"at most {MAX_GAMES / (count * played):.6g}: {count} variants may play {MAX_GAMES:,} games")
        found._check_changes(data.get("components", components), [item for _, items in listed for item in items])
        return found

    def _check_changes(self, components: Node, items: Sequence[Node]) -> None:
        """Check that each change alone is valid and differs from the others, given its entry in the file."""
        variants = [self.unchanged, *(self.change(self.unchanged, *change) for change in self.changes)]
        known: dict[str, str] = {}
        for item, variant in zip([components, *items], variants, strict=True):
            with item.prefix_errors():
                digest = self._digest(variant)
            if digest in known:
                other = known[digest]
                item.fail(f"a change other than {other}" if other else f"a change of {self.components}")
            known[digest] = self.describe(variant) if any(variant) else ""

    @property
    def unchanged(self) -> Variant:
        """The variant without changes."""
        return (0,) * len(self.parameters)

    def content(self, variant: Variant) -> str | Mapping[str, Any]:
        """Return the component file of a variant: its content, or the name if nothing changes."""
        content = self._base
        for parameter, number in zip(self.parameters, variant, strict=True):
            if number:
                content = merge_mappings(content, parameter.alternatives[number - 1][1], keep_null=True)
        return content if any(variant) else self.components

    @cached_property
    def _base(self) -> dict[str, Any]:
        data = read_yaml(find_yaml(self.components, "components", SearchError), SearchError).mapping()
        if not data["base"].is_present:
            return {"base": self.components}
        return {key: value for key, value in data.value.items() if key not in ("fact", "reason")}

    def describe(self, variant: Variant) -> str:
        """Describe the changes of a variant, such as ``actions.two_points.cost: 2``."""
        parts = [self.parameters[i].alternatives[n - 1][0] for i, n in enumerate(variant) if n]
        return ", ".join(parts) or "no change"

    def _digest(self, variant: Variant) -> str:
        """Return the digest of the game with a variant; raise an error if its components are invalid."""
        with TemporaryDirectory() as folder:
            plan = self.objectives.joint_plan([self.content(variant)], Path(folder))
            return digest_of([matchup.config.digest for matchup in plan.matchups])

    def is_valid(self, variant: Variant) -> bool:
        """Return whether the changes of a variant are valid together."""
        try:
            self._digest(variant)
        except UserError:
            return False
        return True

    def open(self, folder: Path) -> None:
        """Save the search in the folder of its games; raise SearchError if the folder has games of another search."""
        path = folder / "settings.json"
        aims = [[str(value) for value in vars(aim).values()] for aim in self.objectives.aims]
        objectives = {"seed": self.objectives.seed, "matchups": self.objectives.matchups, "aims": aims}
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        own = json.loads(json.dumps({**values, "objectives": objectives}))
        saved = read_stored_settings(path, SearchError).value if path.exists() else own
        if not isinstance(saved, dict) or saved.keys() != own.keys():
            raise SearchError(f"{path}: found another file, expected the settings of a search; choose another folder")
        if any((folder / part).is_dir() for part in ("random", "test")):
            check_same_settings(folder, own, saved, SearchError)
        write_json(path, own)

    @staticmethod
    def change(variant: Variant, parameter: int, value: int) -> Variant:
        """Return the variant with another value of a parameter."""
        return (*variant[:parameter], value, *variant[parameter + 1 :])

    @cached_property
    def changes(self) -> tuple[tuple[int, int], ...]:
        """The D changes: parameter, number of its value."""
        return tuple((i, n) for i, one in enumerate(self.parameters) for n in range(1, len(one.alternatives) + 1))

    def features(self, variants: Sequence[Variant]) -> Array:
        """Return which changes each variant has, float64 (N, D)."""
        index = np.array(self.changes)
        features: Array = (np.array(variants)[:, index[:, 0]] == index[:, 1]).astype(np.float64)
        return features

    def neighbors(self, variant: Variant) -> list[Variant]:
        """Return the variants that differ in one change, or in which one change replaces another."""
        near = [self.change(variant, i, 0) for i, number in enumerate(variant) if number]
        for base in (variant, *near) if count_changes(variant) == self.most else (variant,):
            near += [self.change(base, i, n) for i, n in self.changes if base[i] != n]
        near = [one for one in near if count_changes(one) <= self.most and one != variant]
        return list(dict.fromkeys(near))

    def random_variants(self, generator: np.random.Generator) -> list[Variant]:
        """Return the random variants; see `random_changes`."""
        alternatives = [len(parameter.alternatives) for parameter in self.parameters]
        return random_changes(generator, self.random, alternatives, _CHANGES)


def _read_parameters(data: Node, components: str) -> list[tuple[Parameter, list[Node]]]:
    """Return the parameters of a search file, each with the entries of its alternatives."""
    found: dict[str, tuple[Parameter, list[Node]]] = {}
    changed_by: dict[tuple[str, ...], str] = {}  # the parameter that changes each value of the component file
    for section, read in (("changes", _of_value), ("files", partial(_of_file, components))):
        for name, items in data.get(section, {}).items():
            if not isinstance(name, str) or not name.strip() or (section == "changes" and not _KEY.fullmatch(name)):
                items.fail("a name, or for changes at most ten keys with dots between them", found=short_repr(name))
            if name in found:
                items.fail("a name that no other entry has", found=short_repr(name))
            entries = items.entries("alternatives", least=1, most=_MAX_CHANGES)
            found[name] = Parameter(name, tuple(read(name, entry) for entry in entries)), entries
            paths = [path for _, content in found[name][0].alternatives for path in _paths(content)]
            for path in paths:
                for other, owner in changed_by.items():
                    if path[: len(other)] == other[: len(path)]:
                        both = ".".join(path if len(path) > len(other) else other)
                        expected = f"a part of the components that {short_repr(owner)} does not change"
                        items.fail(expected, found=f"a change of {both}")
            changed_by |= dict.fromkeys(paths, name)
    if not found:
        data["changes"].fail("at least one value that may change")
    count = sum(len(entries) for _, entries in found.values())
    if count > _MAX_CHANGES:
        data["changes"].fail(f"at most {_MAX_CHANGES} alternatives in all", found=str(count))
    return list(found.values())


def _paths(content: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of each value in a part of a component file."""
    if isinstance(content, dict):
        for key, inner in content.items():
            yield from _paths(inner, (*path, str(key)))
    else:
        yield path


def _of_value(key: str, item: Node) -> tuple[str, dict[str, Any]]:
    """Return the description and content of an alternative value."""
    _check_keys(item)
    content: Any = item.value
    for part in reversed(key.split(".")):
        content = {part: content}
    return f"{key}: {short_repr(item.value)}", content


def _check_keys(item: Node) -> None:
    """Check that all keys inside a value are text."""
    if isinstance(item.value, dict):
        for key, inner in item.items():
            if not isinstance(key, str):
                item.fail("keys that are text", found=short_repr(key))
            _check_keys(inner)


def _of_file(components: str, _: str, item: Node) -> tuple[str, dict[str, Any]]:
    """Return the name and the changes of a component file, whose base must be the changed components."""
    name = item.text("a component file")
    with item.prefix_errors():
        file = read_yaml(find_yaml(name, "components", SearchError, ""), SearchError).mapping()
    if file["base"].value != components:
        item.fail(f"a component file with the base {components}")
    return name, {key: value for key, value in file.value.items() if key not in ("base", "fact", "reason")}


def random_changes(
    generator: np.random.Generator, count: int, alternatives: Sequence[int], changes: float
) -> list[Variant]:
    """Return variants in which all parameters change equally often, with all their alternatives equally often.

    Args:
        generator: source of randomness.
        count: number of variants.
        alternatives: number of alternatives of each parameter.
        changes: mean number of changes in a variant. A parameter changes in at most half of the variants.
    """
    times = max(1, round(count * min(0.5, changes / len(alternatives))))
    variants = np.zeros((count, len(alternatives)), np.int64)
    for column, number in enumerate(alternatives):
        variants[generator.permutation(count)[:times], column] = np.resize(1 + generator.permutation(number), times)
    return [tuple(row) for row in variants.tolist()]


def count_changes(variant: Variant) -> int:
    """Return the number of changes."""
    return sum(number > 0 for number in variant)


class Played(NamedTuple):
    """A variant that was played in the search: the part, its score there, and its standard error."""

    variant: Variant
    part: str
    score: float
    error: float


class Tested(NamedTuple):
    """A variant in the final test.

    Attributes:
        variant: the variant.
        score, error: its score and standard error.
        gain, low, high: by how much its score is lower than that of the unchanged components, and the ends of the
            simultaneous 95% interval; 0 for the unchanged components. Scores fall with more games, because noise adds
            to distances, so a gain holds for this number of games.
        values, errors: measurements and their standard errors, (M,).
    """

    variant: Variant
    score: float
    error: float
    gain: float
    low: float
    high: float
    values: tuple[float, ...]
    errors: tuple[float, ...]


@dataclass(frozen=True)
class SearchResult:
    """Result of a search.

    Attributes:
        names: names of the M measurements.
        played: the variants of the search, in the order in which they were played.
        changes: predicted reduction of the score by each change alone, with its posterior standard deviation, in the
            order of `SearchConfig.changes`.
        effects: effect of each change on each measurement and the half-width of its interval, float64 (2, D, M), see
            `estimate_effects`; None if there are too few random variants.
        tested: the unchanged components, then the finalists.
        proposal: the finalist with the lowest score among those whose interval lies above 0, or None.
        games: number of games in all parts.
    """

    names: tuple[MeasurementName, ...]
    played: tuple[Played, ...]
    changes: tuple[tuple[float, float], ...]
    effects: Array | None
    tested: tuple[Tested, ...]
    proposal: Tested | None
    games: int


def estimate_effects(features: Array, values: Array) -> Array | None:
    """Return the effect of each change on each measurement and the half-width of its interval, float64 (2, D, M).

    Least squares without a prior, so the estimates are unbiased if effects add up. The 95% intervals of a measurement
    hold simultaneously for all changes (Bonferroni).

    Args:
        features: which changes each variant has, float64 (N, D), with random changes.
        values: measurements, float64 (N, M).

    Returns:
        None if there are fewer than `_FREEDOM` degrees of freedom, or if the effects are not determined.
    """
    count, changes = features.shape
    design = np.concatenate([np.ones((count, 1)), features], axis=1)
    freedom = count - design.shape[1]
    if freedom < _FREEDOM or np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ values
    noise = ((values - design @ coefficients) ** 2).sum(axis=0) / freedom
    errors = np.sqrt(np.diag(inverse)[:, None] * noise)
    half = student_quantile(freedom + 1, 1 - 0.05 / changes) * errors
    return np.array([coefficients[1:], half[1:]])


Predict = Callable[[Sequence[Variant]], Array]
"""Function from variants to predicted measurements, float64 (N, M)."""


class MeasurementModel:
    """Linear model of all measurements, fitted to the variants that were played."""

    def __init__(self, config: SearchConfig) -> None:
        self.config, self.names = config, list[MeasurementName]()
        self.variants: list[Variant] = []
        self._found: list[Array] = []

    def add(self, variant: Variant, found: Measurements) -> None:
        """Add the measurements of a variant."""
        self.names = found.names
        self.variants.append(variant)
        self._found.append(found.values)

    @property
    def values(self) -> Array:
        """Measurements of all variants, float64 (N, M)."""
        return np.array([values[0] for values in self._found])

    def fit(self) -> None:
        """Fit the effects of all changes on every measurement by Bayesian ridge regression."""
        features, values = self.config.features(self.variants), self.values
        self._features_mean, self._values_mean = features.mean(axis=0), values.mean(axis=0)
        x, y = features - self._features_mean, values - self._values_mean
        squares, self._basis = np.linalg.eigh(x.T @ x)
        squares = np.clip(squares, 0.0, None)
        projected = self._basis.T @ (x.T @ y)  # (D, M)
        ratio, noise = _most_likely_noise(squares, projected, (y**2).sum(axis=0), len(y) - 1)
        precision = squares[:, None] + ratio  # (D, M), in units of 1 / noise
        self._effects = self._basis @ (projected / precision)
        self._spread = np.sqrt(noise / precision)
        # Variance of a measurement in the games of a variant, relative to the others, which share their deals.
        groups = np.array([values[1:] for values in self._found])
        self._measured = (jackknife((groups - groups.mean(axis=0)).swapaxes(0, 1)) ** 2).mean(axis=0)
        self._misfit = np.clip(noise - self._measured, 0.0, None)

    def draw(self, generator: np.random.Generator | None = None) -> Predict:
        """Return a function from variants to predictions, float64 (N, M).

        It uses a draw from the posterior distribution of the effects, or their means if there is no generator.
        """
        effects = self._effects
        if generator is not None:  # the symmetric square root of the covariance does not depend on the basis
            noise = self._basis.T @ generator.standard_normal(effects.shape)
            effects = effects + self._basis @ (self._spread * noise)
        return lambda variants: self._values_mean + (self.config.features(variants) - self._features_mean) @ effects

    def scores(self, predicted: Array) -> Array:
        """Return the scores of predictions, float64 (N,)."""
        return self.config.objectives.penalties(self.names, predicted)

    def best(
        self, predict: Predict, is_valid: Callable[[Variant], bool], known: Collection[Variant] = ()
    ) -> Variant | None:
        """Return the valid variant with the lowest score among its neighbors, found by descent from the unchanged one.

        If it is `known`, return its best valid neighbor that is not, or None.
        """

        def ranked(variants: list[Variant]) -> Iterator[tuple[float, Variant]]:
            scores = self.scores(predict(variants))
            yield from ((float(scores[i]), variants[i]) for i in scores.argsort(kind="stable") if is_valid(variants[i]))

        score, variant = next(ranked([self.config.unchanged]))
        while True:
            lower, near = next(ranked(self.config.neighbors(variant)), (score, variant))
            if not lower < score - 1e-9:
                break
            score, variant = lower, near
        if variant not in known:
            return variant
        new = [one for one in self.config.neighbors(variant) if one not in known]
        return next(ranked(new), (0.0, None))[1] if new else None

    def estimates(self, variants: Sequence[Variant]) -> Array:
        """Return the scores of variants, float64 (N,), from their own games combined with the model."""
        predicted = self.draw()(variants)
        for row, variant in zip(predicted, variants, strict=True):
            if variant in self.variants:
                own = self._found[self.variants.index(variant)][0]
                row += self._misfit / np.maximum(self._misfit + self._measured, 1e-12) * (own - row)
        return self.scores(predicted)

    def gains(self, generator: np.random.Generator) -> list[tuple[float, float]]:
        """Return the predicted reduction of the score by each change alone, and its posterior standard deviation."""
        unchanged = self.config.unchanged
        alone = [unchanged, *(self.config.change(unchanged, *change) for change in self.config.changes)]
        draws = [self.draw(), *(self.draw(generator) for _ in range(200))]
        scores = np.array([self.scores(draw(alone)) for draw in draws])
        gains = scores[:, :1] - scores[:, 1:]
        return list(zip(gains[0].tolist(), gains[1:].std(axis=0).tolist(), strict=True))


def _most_likely_noise(squares: Array, projected: Array, total: Array, freedom: int) -> tuple[Array, Array]:
    """Return the most likely ratio of noise to prior variance, and the variance of the noise, float64 (M,) each.

    With ratio r, the variance is noise = (total - sum of projected^2 / (squares + r)) / freedom. The logarithm of the
    marginal likelihood is -(freedom log(noise) + sum of log(1 + squares / r)) / 2, plus a constant.

    Args:
        squares: eigenvalues of the sums of squares of the features, float64 (D,).
        projected: products of features and measurements in the basis of eigenvectors, float64 (D, M).
        total: sums of squares of the measurements, float64 (M,).
        freedom: degrees of freedom of the measurements.
    """
    precision = squares[:, None] + _RATIOS  # (D, ratios)
    left = total[:, None] - np.einsum("dm,dr->mr", projected**2, 1 / precision)  # (M, ratios)
    noise = np.clip(left, 1e-12, None) / freedom
    likelihood = -0.5 * (freedom * np.log(noise) + np.log(precision / _RATIOS).sum(axis=0))
    best = likelihood.argmax(axis=1)
    return _RATIOS[best], noise[np.arange(len(best)), best]


Measure = Callable[[str, Sequence[Variant], int, float], list[Measurements]]
"""Function that plays a part of the search: its name, the variants, the seed, and the fraction of the games."""


def measure_by_playing(config: SearchConfig, folder: Path, play: Callable[[str, Plan], object]) -> Measure:
    """Return a function that plays each part in a subfolder of `folder`.

    Args:
        config: the search.
        folder: folder for all games. Finished games of an interrupted search are reused.
        play: function that plays a plan in the subfolder with the given name; may raise ArenaError.
    """

    def measure(part: str, variants: Sequence[Variant], seed: int, share: float) -> list[Measurements]:
        objectives = config.objectives
        play(part, objectives.joint_plan([config.content(one) for one in variants], folder, seed, share))
        matchups, count = load_run(folder / part, whole=True), len(objectives.matchups)
        return [objectives.measurements(matchups[i : i + count]) for i in range(0, len(matchups), count)]

    return measure


def search(config: SearchConfig, measure: Measure, is_valid: Callable[[Variant], bool]) -> SearchResult:
    """Run the search described in the module docstring.

    Args:
        config: the search.
        measure: function that plays the games of a part, see `measure_by_playing`.
        is_valid: function that returns whether a variant is valid, such as `SearchConfig.is_valid`.

    Raises:
        SearchError: if the final test measures other actions than the search. Errors of `measure` are not caught.
    """
    objectives, model, valid = config.objectives, MeasurementModel(config), cache(is_valid)
    generator = np.random.default_rng([objectives.seed, 1])
    played: list[Played] = []
    games = 0

    def run(part: str, variants: Sequence[Variant]) -> None:
        nonlocal games
        for variant, found in zip(variants, measure(part, variants, objectives.seed + 1, config.share), strict=True):
            model.add(variant, found)
            totals = objectives.penalties(found.names, found.values)
            played.append(Played(variant, part, float(totals[0]), float(jackknife(totals[1:]))))
            games += found.games
        model.fit()

    random = [_repaired(config, variant, generator, valid) for variant in config.random_variants(generator)]
    # Variants share all randomness, so a repeated variant would repeat its games.
    run("random", list(dict.fromkeys([config.unchanged, *random])))
    effects = estimate_effects(config.features(model.variants), model.values)
    for number in range(1, config.rounds + 1):
        chosen: list[Variant] = []
        for _ in range(config.variants):
            variant = model.best(model.draw(generator), valid, {*model.variants, *chosen})
            if variant is not None:
                chosen.append(variant)
        if not chosen:
            break
        run(f"round-{number}", chosen)
    finalists = _finalists(model, valid)
    test = measure("test", [config.unchanged, *finalists], objectives.seed + 2, config.test)
    if differing := set(model.names) ^ set(test[0].names):
        matchup = min(differing).matchup
        raise SearchError(
            f"{matchup}: found actions that are denied only in the search or only in the final test, expected the same "
            "ones; increase the number of games or the range of denied actions in the objectives"
        )
    tested = _test(config, finalists, test)
    better = [one for one in tested if one.low > 0]
    return SearchResult(
        names=tuple(model.names),
        played=tuple(played),
        changes=tuple(model.gains(generator)),
        effects=effects,
        tested=tuple(tested),
        proposal=min(better, key=lambda one: one.score) if better else None,
        games=games + sum(found.games for found in test),
    )


def _repaired(
    config: SearchConfig, variant: Variant, generator: np.random.Generator, is_valid: Callable[[Variant], bool]
) -> Variant:
    """Return a variant without those of its changes, in random order, that make it invalid."""
    if not is_valid(variant):
        for parameter in generator.permutation(len(variant)).tolist():
            variant = config.change(variant, parameter, 0)
            if is_valid(variant):
                break
    return variant


def _finalists(model: MeasurementModel, is_valid: Callable[[Variant], bool]) -> list[Variant]:
    """Return the variants with the lowest estimated scores; with equal ones, those with fewer changes."""
    config = model.config
    best = model.best(model.draw(), is_valid)
    known = dict.fromkeys([*model.variants, *([best] if best else [])])
    candidates = [one for one in known if 0 < count_changes(one) <= config.most]
    if not candidates:
        return []
    changes = np.array([count_changes(one) for one in candidates])
    order = np.lexsort((changes, np.round(model.estimates(candidates), 2)))
    return [candidates[i] for i in order[: config.finalists]]


def _test(config: SearchConfig, finalists: Sequence[Variant], found: Sequence[Measurements]) -> list[Tested]:
    """Return the results of the final test, given the measurements of the unchanged components and the finalists."""
    totals = np.array([config.objectives.penalties(one.names, one.values) for one in found])  # (N, 1 + GROUPS)
    gains = totals[0] - totals
    quantile = student_quantile(GROUPS, 1 - 0.05 / max(1, len(finalists)))
    errors, half = jackknife(totals[:, 1:].T), quantile * jackknife(gains[:, 1:].T)
    return [
        Tested(
            variant,
            float(totals[i, 0]),
            float(errors[i]),
            float(gains[i, 0]),
            float(gains[i, 0] - half[i]),
            float(gains[i, 0] + half[i]),
            tuple(one.values[0].tolist()),
            tuple(jackknife(one.values[1:]).tolist()),
        )
        for i, (variant, one) in enumerate(zip((config.unchanged, *finalists), found, strict=True))
    ]
