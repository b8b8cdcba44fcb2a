"""Compare searches for better components at equal numbers of games.

python benchmarks/search_comparison.py --out runs/search-comparison
python benchmarks/search_comparison.py --methods model,random --seeds 0 --out runs/one   # resumes finished parts

Methods, each with the same number of evaluations of the same size:

- model: `helsinki_env.evaluation.balance.search`;
- tpe: Optuna's tree-structured Parzen estimator (``pip install optuna``); its result is the best trial;
- ntbea: the N-tuple bandit evolutionary algorithm (Lucas, Liu and Perez-Liebana 2018, "The N-Tuple Bandit Evolutionary
  Algorithm for Game Agent Optimisation") with 1-, 2- and P-tuples and 50 neighbors; its exploration factor is the
  standard deviation of the first 20 scores, and its result is the evaluated variant with the best mean over its tuples;
- random: the best of random variants.

The results of all methods and the unchanged components are then played on the same fresh deals.
"""

from __future__ import annotations

import argparse
import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from helsinki_env.evaluation.arena.plan import Plan
from helsinki_env.evaluation.arena.run import reuse_workers, run_arena
from helsinki_env.evaluation.balance.objectives import GROUPS, Measurements, Objectives, jackknife
from helsinki_env.evaluation.balance.search import SearchConfig, Variant, measure_by_playing, search
from helsinki_env.evaluation.match_stats import student_quantile
from helsinki_env.utils.files import write_json

Score = Callable[[Variant], float]
_NEIGHBORS, _FIRST = 50, 20


class _FoundError(Exception):
    """Ends a search before its final test. Its argument is the best finalist."""


def by_model(config: SearchConfig, folder: Path, play: Callable[[str, Plan], object]) -> Variant:
    """Return the first finalist of the search with a model."""
    measured = measure_by_playing(config, folder, play)

    def measure(part: str, variants: Sequence[Variant], seed: int, share: float) -> list[Measurements]:
        if part == "test":
            raise _FoundError(variants[1])
        return measured(part, variants, seed, share)

    try:
        search(config, measure, config.is_valid)
    except _FoundError as found:
        variant: Variant = found.args[0]
        return variant
    raise AssertionError("a search ends with its final test")


def by_tpe(config: SearchConfig, evaluations: int, seed: int, score: Score) -> Variant:
    """Return the best trial of Optuna."""
    import optuna  # not a dependency: only this comparison needs it

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True))
    study.enqueue_trial({parameter.name: 0 for parameter in config.parameters})

    def objective(trial: optuna.Trial) -> float:
        numbers = (trial.suggest_categorical(one.name, range(1 + len(one.alternatives))) for one in config.parameters)
        return score(tuple(numbers))

    study.optimize(objective, evaluations)
    return tuple(study.best_params[one.name] for one in config.parameters)


def by_ntbea(config: SearchConfig, evaluations: int, seed: int, score: Score) -> Variant:
    """Return the result of the N-tuple bandit evolutionary algorithm."""
    generator = np.random.default_rng(seed)
    parameters = range(len(config.parameters))
    tuples = [*((i,) for i in parameters), *combinations(parameters, 2), tuple(parameters)]
    scores: dict[tuple[tuple[int, ...], Variant], list[float]] = defaultdict(list)
    evaluated: dict[Variant, None] = {}
    first: list[float] = []

    def worth(variant: Variant, explore: float) -> float:
        found = [scores[one, tuple(variant[i] for i in one)] for one in tuples]
        means = [-np.mean(values) for values in found if values]
        bonus = [np.sqrt(np.log(len(evaluated)) / (len(values) + 0.5)) for values in found]
        return float(np.mean(means)) + explore * float(np.mean(bonus)) if means else np.inf

    variant = config.unchanged
    for _ in range(evaluations):
        value = score(variant)
        evaluated[variant] = None
        first = [*first, value][:_FIRST]
        for one in tuples:
            scores[one, tuple(variant[i] for i in one)].append(value)
        near = [_mutated(config, variant, generator) for _ in range(_NEIGHBORS)]
        variant = max(near, key=lambda one: worth(one, float(np.std(first)) or 1.0))
    return max(evaluated, key=lambda one: worth(one, 0.0))


def _mutated(config: SearchConfig, variant: Variant, generator: np.random.Generator) -> Variant:
    """Change one random parameter, and each other parameter with probability 1 / P."""
    change = generator.random(len(variant)) < 1 / len(variant)
    change[generator.integers(len(variant))] = True
    numbers = [int(generator.integers(1 + len(one.alternatives))) for one in config.parameters]
    return tuple(new if is_new else old for old, new, is_new in zip(variant, numbers, change, strict=True))


def by_chance(config: SearchConfig, evaluations: int, seed: int, score: Score) -> Variant:
    """Return the best of random variants."""
    variants = replace(config, random=evaluations - 1).random_variants(np.random.default_rng(seed))
    return min([config.unchanged, *variants], key=score)


def scorer(config: SearchConfig, folder: Path, seed: int, play: Callable[[str, Plan], object]) -> Score:
    """Return a function that plays the games of a variant, with the same deals at each call."""
    measure = measure_by_playing(config, folder, play)
    numbers = iter(range(1, 10**6))

    def score(variant: Variant) -> float:
        (found,) = measure(f"{next(numbers)}", [variant], seed + 1, config.share)
        return float(config.objectives.penalties(found.names, found.values[0]))

    return score


def found_by(
    config: SearchConfig, method: str, seed: int, folder: Path, play: Callable[[str, Plan], object]
) -> Variant:
    """Return the variant that a method finds with a seed."""
    first = config.objectives.seed + 10_000 * (seed + 1)
    seeded = replace(config, objectives=replace(config.objectives, seed=first))
    if method == "model":
        return by_model(seeded, folder, play)
    evaluations = 1 + config.random + config.rounds * config.variants
    methods = {"tpe": by_tpe, "ntbea": by_ntbea, "random": by_chance}
    return methods[method](seeded, evaluations, seed, scorer(seeded, folder, first, play))


def compared(
    config: SearchConfig, found: dict[tuple[str, int], Variant], folder: Path, processes: int | None
) -> Iterator[dict[str, Any]]:
    """Play the results on the same fresh deals; yield a row for the unchanged components and for each result."""
    variants = list(dict.fromkeys([config.unchanged, *found.values()]))
    measure = measure_by_playing(config, folder, lambda part, plan: run_arena(plan, folder / part, processes=processes))
    # The folder depends on the variants, so more methods or seeds can follow.
    folder_name = f"final-{hashlib.sha256(repr(variants).encode()).hexdigest()[:8]}"
    found_values = measure(folder_name, variants, config.objectives.seed, config.test)
    totals = {
        variant: config.objectives.penalties(names, values)
        for variant, (names, values, _) in zip(variants, found_values, strict=True)
    }
    quantile = student_quantile(GROUPS)
    for key, variant in {("unchanged", 0): config.unchanged, **found}.items():
        gain = totals[config.unchanged] - totals[variant]
        half = quantile * float(jackknife(gain[1:]))
        yield {
            "method": key[0],
            "seed": key[1],
            "change": config.describe(variant),
            "score": float(totals[variant][0]),
            "gain": float(gain[0]),
            "half_width": half,
        }


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--search", default="standard", help="search file; its limit of changes is ignored")
    parser.add_argument("--objectives", default=str(Path(__file__).with_suffix(".yaml")), help="objectives file")
    parser.add_argument("--methods", default="model,tpe,ntbea,random")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--out", type=Path, default=Path("runs/search-comparison"))
    parser.add_argument("--processes", type=int, default=None)
    options = parser.parse_args()
    listed = SearchConfig.from_yaml(options.search)
    objectives = Objectives.from_yaml(options.objectives)
    config = replace(listed, objectives=objectives, most=len(listed.parameters), share=1.0, test=20.0, finalists=1)
    found = {}
    with reuse_workers():
        for seed in map(int, options.seeds.split(",")):
            for method in options.methods.split(","):
                folder = options.out / f"{method}-{seed}"

                def play(part: str, plan: Plan, folder: Path = folder) -> None:
                    run_arena(plan, folder / part, processes=options.processes)

                found[method, seed] = found_by(config, method, seed, folder, play)
                print(f"{method} {seed}: {config.describe(found[method, seed])}", flush=True)
        rows = list(compared(config, found, options.out, options.processes))
    write_json(options.out / "comparison.json", rows)
    for row in rows:
        print("{method} {seed}: score {score:.2f}, gain {gain:+.2f} ± {half_width:.2f}: {change}".format(**row))


if __name__ == "__main__":
    main()
