"""Compare training settings: train variants with several seeds from the same weights, and let them play each other.

python benchmarks/training_trials.py train benchmarks/trials_copenhagen.yaml --out runs/trials --seeds 0,1,2
python benchmarks/training_trials.py compare benchmarks/trials_copenhagen.yaml --out runs/trials --seeds 0,1,2
python benchmarks/training_trials.py test benchmarks/trials_copenhagen.yaml --out runs/trials --seeds 0,1,2

All commands resume, and `compare` adds its results to those in its file, so seeds can follow later. A trials file
names a preset, changes for all variants, and the changes of each variant, of which the first is the baseline. All
variants of a seed start from the same pretrained network and take the same number of self-play steps. The networks
after the last step are compared; promotion tests have no effect. Wins are percentages of the pairs in which the variant
is ahead of the baseline with the same seed. The interval of the mean covers the variation between seeds and between
deals, which all seeds share.

`test` plays on until a sequential test decides whether the variant is better than the baseline (0 Elo or less, or 15 or
more, 5% errors each). The mean over the seeds in a deal is one observation, so the test concerns these trained
networks, not all seeds.
"""

from __future__ import annotations

import argparse
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.data import Node, UserError, read_json, read_yaml
from helsinki_env.evaluation.arena.load import load_run
from helsinki_env.evaluation.arena.plan import plan_from_dict
from helsinki_env.evaluation.arena.run import reuse_workers, run_arena
from helsinki_env.evaluation.match_stats import mean_and_half_width
from helsinki_env.evaluation.rating.shares import head_to_head_by_unit
from helsinki_env.evaluation.rating.sprt import Hypotheses, expected_score, run_sprt
from helsinki_env.training.preset import Preset
from helsinki_env.training.run import train_to_the_end
from helsinki_env.utils.files import write_json
from helsinki_env.utils.markdown import markdown_table
from helsinki_env.utils.yaml_files import merge_mappings

#: Evaluations during training are not used.
_NO_EVALUATION = {"evaluation": {"times": 1, "games": 2, "final_games": 2}, "promotion": {"deals": 16}}


def changed_preset(trials: Node, *changes: dict[str, Any]) -> Preset:
    """Return the preset of the trials with the changes for all variants and further changes."""
    data = Preset.from_yaml(trials["preset"].text("a preset")).to_dict()
    for one in ({"minutes": 10_000, **_NO_EVALUATION}, trials.get("all", {}).value, *changes):
        data = merge_mappings(data, one)
    return Preset.from_dict(data)


def train(trials: Node, variant: str, seed: int, out: Path) -> None:
    """Train a variant with a seed, unless it is finished."""
    start, own = out / f"start-{seed}", trials["variants"][variant].mapping().value
    train_to_the_end(changed_preset(trials, {"ppo": {"total_timesteps": 0}}), start, seed)
    preset = changed_preset(trials, {"start": str(start), "pretraining": {"samples": 0}}, own)
    began, cpu = time.monotonic(), time.process_time()
    train_to_the_end(preset, out / f"{variant}-{seed}", seed)
    used = time.process_time() - cpu
    print(f"{variant}, seed {seed}: {time.monotonic() - began:.0f} s, {used:.0f} s of CPU time", flush=True)


def deal_scores(
    trials: Node, variant: str, seed: int, players: int, out: Path, games: int
) -> tuple[int, npt.NDArray[np.float64]]:
    """Play at least `games` games of a variant against the baseline of the same seed.

    Return their number, and for every deal the fraction of pairs in which the variant is ahead.
    """
    game, baseline = Preset.from_yaml(trials["preset"].value).rules, next(iter(trials["variants"].value))
    networks = [f"net:{out}/{name}-{seed}/latest.safetensors" for name in (variant, baseline)]
    matchup = {"game": {"game": game, "num_players": players}, "games": games, "players": networks}
    folder = out / "games" / f"{variant}-{seed}-{players}"
    run_arena(plan_from_dict({"seed": trials["seed"].integer(0), "matchups": [matchup]}), folder)
    (played,) = load_run(folder, whole=True)
    return len(played), head_to_head_by_unit(played.seating, played.places, played.deal, 0, 1)


def compare(trials: Node, variant: str, seed: int, players: int, out: Path, games: int) -> dict[str, Any]:
    """Play a variant against the baseline of the same seed; return the percentage of pairs in which it is ahead."""
    games, scores = deal_scores(trials, variant, seed, players, out, games)
    mean, half = mean_and_half_width(100 * scores)
    return {"games": games, "wins": round(mean, 2), "half_width": round(half, 2)}


def test(trials: Node, variant: str, seeds: list[int], players: int, out: Path, limit: int) -> dict[str, Any]:
    """Play a variant until the test decides, or until there are `limit` games with each seed; return its result."""
    hypotheses, games = Hypotheses(expected_score(0), expected_score(15)), min(limit, 600)
    while True:
        scores = [deal_scores(trials, variant, seed, players, out, games)[1] for seed in seeds]
        state = run_sprt(np.mean(scores, axis=0), hypotheses)
        # Either the test has decided or no more games are allowed.
        if (decision := state.decision) != "running" or games == limit:
            result = {"seeds": seeds, "decision": "undecided" if decision == "running" else decision}
            return result | {
                "deals": state.blocks, "wins": round(100 * state.mean, 2), "log_ratio": round(state.log_ratio, 2)
            }  # fmt: skip
        games = min(limit, 2 * games)


def rows(results: dict[str, dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return a row for each variant and player count: the wins by seed, and their mean with its interval."""
    by_variant: dict[tuple[str, str], list[dict[str, float]]] = {}
    for name, by_count in sorted(results.items()):
        for count, one in by_count.items():
            by_variant.setdefault((name.rpartition("-")[0], count), []).append(one)
    found: list[tuple[str, ...]] = []
    for (variant, count), ones in by_variant.items():
        by_seed = ", ".join(f"{one['wins']:.1f} ± {one['half_width']:.1f}" for one in ones)
        mean, half = mean_and_half_width(np.array([one["wins"] for one in ones])) if len(ones) > 1 else (0, 0)
        half = np.hypot(half, np.mean([one["half_width"] for one in ones]))
        found.append((variant, count, by_seed, f"{mean:.1f} ± {half:.1f}" if len(ones) > 1 else ""))
    return found


def main() -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("train", "compare", "test"))
    parser.add_argument("trials", help="trials file")
    parser.add_argument("--out", type=Path, default=Path("runs/trials"))
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--variants", default=None, help="comma-separated variants; default: all")
    parser.add_argument("--players", default="2,3,4", help="comma-separated player counts of the comparison")
    parser.add_argument("--results", type=Path, help="file to which results are added; default: in OUT")
    parser.add_argument("--games", type=int, help="games for each matchup and seed; test: at most")
    options = parser.parse_args()
    trials = read_yaml(Path(options.trials), UserError)
    trials.mapping(("seed", "preset", "all", "variants"))
    seeds = [int(seed) for seed in options.seeds.split(",")]
    variants = options.variants.split(",") if options.variants else list(trials["variants"].mapping().value)
    if options.command == "train":
        for seed in seeds:
            for variant in variants:
                train(trials, variant, seed, options.out)
        return
    default = {"compare": ("results.json", 1200), "test": ("tests.json", 12_000)}[options.command]
    path, games = options.results or options.out / default[0], options.games or default[1]
    results = read_json(path, UserError).value if path.exists() else {}
    baseline = next(iter(trials["variants"].value))
    counts = [int(count) for count in options.players.split(",")]
    matches = [(variant, count) for variant in variants if variant != baseline for count in counts]
    with reuse_workers():
        for variant, count in matches if options.command == "test" else ():
            found = test(trials, variant, seeds, count, options.out, games)
            results.setdefault(variant, {})[str(count)] = found
            write_json(path, results)
            print(f"{variant}, {count} players: {found}", flush=True)
        for seed, (variant, count) in product(seeds, matches) if options.command == "compare" else ():
            found = compare(trials, variant, seed, count, options.out, games)
            results.setdefault(f"{variant}-{seed}", {})[str(count)] = found
            write_json(path, results)
    if options.command == "compare":
        print(markdown_table(("variant", "players", "wins by seed", "mean"), rows(results), left=1))


if __name__ == "__main__":
    main()
