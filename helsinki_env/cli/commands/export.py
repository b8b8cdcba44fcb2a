"""The ``helsinki export`` command: export a trained network as an ONNX model or as a half-size checkpoint."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import Annotated

import tyro

from helsinki_env.cli.options import game_option, out_file
from helsinki_env.cli.progress import ProgressDisplay
from helsinki_env.utils.terminal import plain_console


def main(
    checkpoint: Annotated[str, tyro.conf.Positional],
    out: Path = Path("model.onnx"),
    positions: int = 10_000,
    seed: int = 0,
) -> None:
    """Export a trained network to ONNX and check its actions, or export it to a half-size checkpoint.

    The model needs onnxruntime but not PyTorch. It is written only if it selects the same actions as the checkpoint, in
    positions from the heuristic's games with 2, 3 and 4 players. Ties within rounding count as equal.

    A half-size checkpoint has 16-bit weights. If two actions are nearly equal, it may select a different one; the
    command prints how often this happens.

    Example: helsinki export runs/quick --out model.onnx

    Example: helsinki export runs/quick/latest.safetensors --out latest.onnx --positions 50000 --seed 1

    Example: helsinki export runs/quick --out small.safetensors

    Example: helsinki export net --out net.onnx

    Args:
        checkpoint: file of a trained network, folder of a training run (exports its best network), or net for the
            bundled network.
        out: output file: .onnx for a model, .safetensors for a half-size checkpoint.
        positions: number of positions to compare.
        seed: random seed for the games from which the positions are taken.
    """
    from helsinki_env.agents.net.export import TIE, export_network
    from helsinki_env.agents.net.make import network_path

    out_file(out)
    named, _, argument = checkpoint.partition(":")
    path = network_path(argument if named == "net" else checkpoint)
    started = time.monotonic()
    with ProgressDisplay(positions, "positions") as display:
        agreement = export_network(path, out, positions, seed, progress=display.advance)
    console = plain_console()
    ties = f"; in {agreement.ties:,} others of choices within {TIE:g} of each other" if agreement.ties else ""
    prefers = f"another choice in {agreement.differ:,}" if agreement.differ else "the same choice in all"
    play = ["helsinki", "simulate", *game_option(agreement.game), "--players", f"net:{out},heuristic"]
    console.print(
        f"Compared {agreement.decisions:,} positions with seed {seed}: the model prefers {prefers}{ties}. "
        f"Log-probabilities differ by at most {agreement.largest:.2g}. {time.monotonic() - started:.1f} s"
    )
    console.print(f"Wrote {out} ({out.stat().st_size / 1e6:.2f} MB); play with it: {shlex.join(play)} --games 200")
