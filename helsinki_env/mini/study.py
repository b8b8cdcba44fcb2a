"""Measure exact figures of the mini game: equilibria, players, self-play over training time, and responses.

A study consists of units. Each finished unit is saved as a file. Its result depends only on its settings, its seed and
the code. The file name contains a digest of all three, so a resumed study gives the same bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from helsinki_env.agents.registry import make_player
from helsinki_env.data import digest_of, read_json, with_digest
from helsinki_env.data.node import UserError
from helsinki_env.mini.game import MiniConfig
from helsinki_env.mini.players import GreedyPlayer, PolicyGradient, QLearner, policy_of, rollout_response
from helsinki_env.mini.solve import CFRPlus, exploitability, gains, values
from helsinki_env.mini.tree import FloatArray, GameTree, build_tree
from helsinki_env.utils.files import write_json
from helsinki_env.utils.markdown import code_span, markdown_table

__all__ = ["ENTROPIES", "PLAYERS", "RESPONSES", "MiniStudy", "run_study", "study_tables"]

PLAYERS = ("random", "greedy", "ismcts:100", "mc:100", "ismcts:1000")
"""Players with a measured exploitability: the first two; one more with two players, and two more with "small"."""
RESPONSES = ("q-learning", "policy gradient", "ppo", "rollouts:16", "rollouts:256")
"""Responses by learning, or by rollouts with the target's policy in all seats; with the components "small"."""
ENTROPIES = (0.0, 0.05, 0.2)
"""Weights of the entropy bonus in self-play."""


@dataclass(frozen=True)
class MiniStudy:
    """Settings of a study.

    Attributes:
        components: names of sets of components.
        num_players: numbers of players; learners only with two.
        iterations: iterations of CFR+.
        batches: batches of each learner.
        games: games in a batch.
        samples: actions drawn for each observation of a search player with the components "small"; otherwise 1.
        seeds: number of seeds of each learner.
        seed: first seed.
    """

    components: tuple[str, ...] = ("small", "standard")
    num_players: tuple[int, ...] = (2, 3)
    iterations: int = 128
    batches: int = 256
    games: int = 1000
    samples: int = 16
    seeds: int = 3
    seed: int = 0

    def units(self) -> list[dict[str, Any]]:
        """Return the settings of all units, those with the same tree in a row."""
        return [unit for components in self.components for n in self.num_players for unit in self._units(components, n)]

    def _units(self, components: str, num_players: int) -> Iterator[dict[str, Any]]:
        about = {"components": components, "num_players": num_players}
        # More players converge more slowly in practice, and each iteration takes longer.
        yield {"kind": "equilibrium", **about, "iterations": max(1, self.iterations // (1 if num_players == 2 else 8))}
        cheap = components == "small"
        for player in PLAYERS[: 2 + (num_players == 2) + 2 * cheap]:
            yield {"kind": "player", **about, **self._player_settings(player, self.samples if cheap else 1)}
        if num_players > 2 or not cheap:
            return
        learning = {"batches": self.batches, "games": self.games}
        for seed in range(self.seed, self.seed + self.seeds):
            for entropy in ENTROPIES:
                yield {"kind": "self-play", **about, "entropy": entropy, "seed": seed, **learning}
            for player in PLAYERS[:3]:
                for response in RESPONSES:
                    settings = {**self._player_settings(player, self.samples), "response": response, "seed": seed}
                    yield {"kind": "response", **about, **settings, **({} if ":" in response else learning)}

    def _player_settings(self, player: str, samples: int) -> dict[str, Any]:
        return {"player": player, "samples": samples if ":" in player else 1}


@dataclass
class _Runner:
    """Runs units and keeps the current tree and the policies of players in it."""

    tree: GameTree | None = None
    found: dict[str, list[FloatArray]] = field(default_factory=dict)

    def run(self, unit: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a unit."""
        config = MiniConfig(unit["num_players"], components=unit["components"])
        if self.tree is None or self.tree.config != config:
            self.tree, self.found = None, {}  # frees the memory first
            self.tree = build_tree(config)
        result: dict[str, Any] = getattr(self, f"_{unit['kind'].replace('-', '_')}")(self.tree, unit)
        return result

    def _equilibrium(self, tree: GameTree, unit: dict[str, Any]) -> dict[str, Any]:
        solver, curve = CFRPlus(tree), []
        for iterations in _checkpoints(unit["iterations"]):
            solver.run(iterations - solver.iterations)
            curve.append([iterations, _round(exploitability(tree, solver.policies()))])
        sizes = {"nodes": tree.nodes, "information_sets": [len(player.first) for player in tree.players]}
        return {**sizes, **_measure(tree, solver.policies()), "curve": curve}

    def _player(self, tree: GameTree, unit: dict[str, Any]) -> dict[str, Any]:
        return _measure(tree, self._policies(tree, unit))

    def _self_play(self, tree: GameTree, unit: dict[str, Any]) -> dict[str, Any]:
        learner, curve = PolicyGradient(tree, unit["seed"], entropy_coef=unit["entropy"]), []
        for batches in _trained(learner.learn, unit):
            curve.append([batches * unit["games"], _round(exploitability(tree, learner.policies()))])
        return {**_measure(tree, learner.policies()), "curve": curve}

    def _response(self, tree: GameTree, unit: dict[str, Any]) -> dict[str, Any]:
        """Return the gain of a response and of the exact best response in each seat, at checkpoints of a learner."""
        policies = self._policies(tree, unit)
        before, curves = values(tree, policies), []
        for seat in range(2):
            curve = []
            for done, policy in self._response_policies(tree, policies, seat, unit):
                now = list(policies)
                now[seat] = policy
                curve.append([done, _round((values(tree, now) - before)[seat])])
            curves.append(curve)
        return {"exact": _round(gains(tree, policies)), "gains": [curve[-1][1] for curve in curves], "curves": curves}

    def _response_policies(
        self, tree: GameTree, policies: list[FloatArray], seat: int, unit: dict[str, Any]
    ) -> Iterator[tuple[int, FloatArray]]:
        """Yield the games of training, or rollouts of each action, and the response after them."""
        name, _, rollouts = unit["response"].partition(":")
        if name == "rollouts":
            rng = np.random.default_rng([unit["seed"], seat])
            yield int(rollouts), rollout_response(tree, policies, seat, int(rollouts), rng)
            return
        if name == "q-learning":
            learner = QLearner(tree, policies, seat, unit["seed"])
            for batches in _trained(learner.learn, unit):
                yield batches * unit["games"], learner.greedy()
            return
        fixed, epochs = {1 - seat: policies[1 - seat]}, 4 if name == "ppo" else 1
        gradient = PolicyGradient(tree, unit["seed"], fixed, entropy_coef=0.01, update_epochs=epochs)
        for batches in _trained(gradient.learn, unit):
            yield batches * unit["games"], gradient.policies()[seat]

    def _policies(self, tree: GameTree, unit: dict[str, Any]) -> list[FloatArray]:
        name = unit["player"]
        if name not in self.found:
            if name == "random":
                self.found[name] = [player.uniform() for player in tree.players]
            else:
                player = GreedyPlayer(tree.config) if name == "greedy" else make_player(name, tree.config)
                seats = range(len(tree.players))
                self.found[name] = [policy_of(tree, player, seat, unit["samples"]) for seat in seats]
        return self.found[name]


def _round(number: Any) -> Any:
    return np.round(number, 6).tolist()


def _measure(tree: GameTree, policies: list[FloatArray]) -> dict[str, Any]:
    """Return the values of the seats if all use these policies, and their gains and mean gain by best responses."""
    gained = gains(tree, policies)
    return {
        "values": _round(values(tree, policies)), "gains": _round(gained), "exploitability": _round(gained.mean())
    }  # fmt: skip


def _checkpoints(last: int) -> list[int]:
    return sorted({*(2**i for i in range(last.bit_length())), last})


def _trained(learn: Callable[[int], None], unit: dict[str, Any]) -> Iterator[int]:
    """Train for all batches and yield the number of batches at checkpoints."""
    done = 0
    for batches in _checkpoints(unit["batches"]):
        for _ in range(batches - done):
            learn(unit["games"])
        done = batches
        yield done


def _code_digest() -> str:
    """Return a digest of the code of the game, its players and what both use."""
    package = Path(__file__).resolve().parent.parent
    sources = (path for part in ("mini", "engine", "envs", "agents") for path in sorted((package / part).rglob("*.py")))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


def _saved_result(path: Path) -> Any:
    """Return the saved result of a unit, or None if there is none or its file is damaged."""
    try:
        return read_json(path, UserError).value if path.exists() else None
    except UserError:
        return None


def run_study(
    study: MiniStudy,
    folder: Path,
    command: str,
    resumed: Callable[[int], None] | None = None,
    progress: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Run or resume a study, write ``mini.json`` in its folder, and return the content.

    Args:
        study: the settings.
        folder: folder for ``mini.json`` and the files of finished units.
        command: command line that the file names.
        resumed: function called once with the number of saved units.
        progress: function called with 1 after each new unit.
    """
    units, runner, code = study.units(), _Runner(), _code_digest()
    paths = [folder / "units" / f"{digest_of({**unit, 'code': code})}.json" for unit in units]
    (folder / "units").mkdir(parents=True, exist_ok=True)
    results = [_saved_result(path) for path in paths]
    if resumed is not None:
        resumed(sum(result is not None for result in results))
    for i, (unit, path) in enumerate(zip(units, paths, strict=True)):
        if results[i] is None:
            write_json(path, {**unit, **runner.run(unit)})
            results[i] = _saved_result(path)
            if progress is not None:
                progress(1)
    data = with_digest({"mini": 1, "command": command, "results": results})
    write_json(folder / "mini.json", data)
    return data


def study_tables(data: dict[str, Any]) -> str:
    """Return the results of a study as Markdown tables: equilibria and players, self-play, responses."""
    parts: dict[tuple[str, int], dict[str, list[dict[str, Any]]]] = {}
    for one in data["results"]:
        kinds = parts.setdefault((one["components"], one["num_players"]), {})
        kinds.setdefault(one["kind"], []).append(one)
    sections = []
    rows, learned, responses = [], [], []
    for (components, n), kinds in parts.items():
        where = [components, n]
        for one in kinds.get("equilibrium", []):
            rows.append([*where, f"CFR+, {one['iterations']} iterations", *_cells(one)])
        rows += [[*where, code_span(one["player"]), *_cells(one)] for one in kinds.get("player", [])]
        for entropy in sorted({one["entropy"] for one in kinds.get("self-play", [])}):
            found = [one["curve"] for one in kinds["self-play"] if one["entropy"] == entropy]
            means = np.array(found, np.float64)[:, :, 1].mean(0)
            every = range(len(means) - 1, -1, -3)
            learned.append([components, entropy, "; ".join(f"{found[0][i][0]:,}: {means[i]:.3f}" for i in every[::-1])])
        keys = dict.fromkeys((one["player"], one["response"]) for one in kinds.get("response", []))
        for player, response in keys:
            found = [one for one in kinds["response"] if (one["player"], one["response"]) == (player, response)]
            exact, got = found[0]["exact"], np.array([one["gains"] for one in found])
            share = f"{got.sum(1).min() / sum(exact):.1%} to {got.sum(1).max() / sum(exact):.1%}"
            responses.append([components, code_span(player), response, f"{sum(exact) / 2:.4f}", share])
    sections.append(markdown_table(("components", "players", "policy", "value of each seat", "mean gain"), rows, 3))
    if learned:
        sections.append(markdown_table(("components", "entropy bonus", "games: exploitability"), learned, 3))
    if responses:
        head = ("components", "target", "response", "exploitability", "share found by the response")
        sections.append(markdown_table(head, responses, 3))
    return "\n\n".join(sections) + "\n"


def _cells(one: dict[str, Any]) -> list[str]:
    gain = one["exploitability"]
    return [" / ".join(f"{v:+.3f}" for v in one["values"]), f"{gain:.1e}" if 0 < gain < 1e-3 else f"{gain:.4f}"]
