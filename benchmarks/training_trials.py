"""Compare training settings: train variants with several seeds from the same weights, and let them play each other.

python benchmarks/training_trials.py train benchmarks/trials_copenhagen.yaml --out runs/trials --seeds 0,1,2
python benchmarks/training_trials.py compare benchmarks/trials_copenhagen.yaml --out runs/trials --seeds 0,1,2

Both commands resume. A trials file names a preset, changes for all variants, and the changes of each variant, of which
the first is the baseline. All variants of a seed start from the same pretrained network and take the same number of
self-play steps. The networks after the last step are compared; promotion tests have no effect. Wins are percentages of
the pairs in which the variant is ahead of the baseline with the same seed. The interval of the mean over seeds covers
the variation between seeds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from helsinki_env.data import Node, UserError, read_yaml
from helsinki_env.evaluation.arena.load import load_run
from helsinki_env.evaluation.arena.plan import plan_from_dict
from helsinki_env.evaluation.arena.run import reuse_workers, run_arena
from helsinki_env.evaluation.match_stats import mean_and_half_width
from helsinki_env.evaluation.rating.shares import head_to_head_by_unit
from helsinki_env.training.preset import Preset
from helsinki_env.training.run import train_to_the_end
from helsinki_env.utils.files import write_json
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
    print(f"{variant}, seed {seed}: {time.monotonic() - began:.0f} s, {used:.0f} s of processor time", flush=True)


def compare(trials: Node, seeds: Sequence[int], out: Path, games: int) -> list[dict[str, Any]]:
    """Play every variant against the baseline of the same seed; return a row for each variant and player count."""
    baseline, *variants = trials["variants"].mapping().value
    game = Preset.from_yaml(trials["preset"].value)
    rows = []
    for variant in variants:
        tables = []
        for seed in seeds:
            players = [f"net:{out}/{name}-{seed}/latest.safetensors" for name in (variant, baseline)]
            for count in game.evaluation.players:
                config = {"game": game.rules, "num_players": count}
                name = f"{count} players, seed {seed}"
                tables.append({"name": name, "game": config, "games": games, "players": players})
        plan = plan_from_dict({"seed": trials["seed"].integer(0), "tables": tables})
        run_arena(plan, out / "games" / variant)
        played = load_run(out / "games" / variant, whole=True)
        for count in game.evaluation.players:
            found = [table for table in played if table.config.num_players == count]
            shares = [100 * head_to_head_by_unit(one.seating, one.places, one.deal, 0, 1) for one in found]
            by_seed = [mean_and_half_width(one) for one in shares]
            mean, half = mean_and_half_width(np.array([value for value, _ in by_seed]))
            rows.append({"variant": variant, "players": count, "seeds": by_seed, "mean": mean, "half_width": half})
    return rows


def main() -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("train", "compare"))
    parser.add_argument("trials", help="trials file")
    parser.add_argument("--out", type=Path, default=Path("runs/trials"))
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--variants", default=None, help="comma-separated variants to train; default: all")
    parser.add_argument("--games", type=int, default=1200, help="games for each line-up")
    options = parser.parse_args()
    trials = read_yaml(Path(options.trials), UserError)
    trials.mapping(("seed", "preset", "all", "variants"))
    seeds = [int(seed) for seed in options.seeds.split(",")]
    if options.command == "compare" and len(seeds) < 2:
        raise UserError(f"--seeds: found {options.seeds}, expected at least two seeds, for an interval")
    if options.command == "train":
        chosen = options.variants.split(",") if options.variants else list(trials["variants"].mapping().value)
        for seed in seeds:
            for variant in chosen:
                train(trials, variant, seed, options.out)
        return
    with reuse_workers():
        rows = compare(trials, seeds, options.out, options.games)
    write_json(options.out / "comparison.json", rows)
    for row in rows:
        by_seed = ", ".join(f"{value:.1f} ± {half:.1f}" for value, half in row["seeds"])
        print(f"{row['variant']}, {row['players']} players: {row['mean']:.1f} ± {row['half_width']:.1f} ({by_seed})")


if __name__ == "__main__":
    main()
