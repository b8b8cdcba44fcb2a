"""The command ``helsinki export``: a trained network as an ONNX model, which plays without PyTorch."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import tyro

from helsinki_env.commands.options import out_file
from helsinki_env.commands.waiting import Waiting
from helsinki_env.terminal import plain_console

__all__ = ["main"]


def main(
    checkpoint: Annotated[Path, tyro.conf.Positional],
    out: Path = Path("model.onnx"),
    positions: int = 10_000,
    seed: int = 0,
) -> None:
    """Export a trained network to ONNX, and check that it decides as it did.

    The model needs onnxruntime and no PyTorch. It is written only if it prefers what the checkpoint prefers in
    decisions from the heuristic's games with 2, 3 and 4 players; choices that are equally good but for rounding count
    as the same.

    Example: helsinki export runs/quick --out model.onnx

    Example: helsinki export runs/quick/latest.safetensors --out latest.onnx --positions 50000 --seed 1

    Args:
        checkpoint: the file of a trained network, or the folder of a training run, whose best one is taken.
        out: the model, a file name that ends in .onnx.
        positions: decisions in which both are compared.
        seed: of the games these are taken from.
    """
    from agents.net.export import TIE, export_onnx

    out_file(out)
    started = time.monotonic()
    with Waiting(positions, "decisions") as waiting:
        agreement = export_onnx(checkpoint, out, positions, seed, progress=waiting.advance)
    console = plain_console(highlight=False, soft_wrap=True)
    ties = f"; in {agreement.ties:,} others of choices within {TIE:g} of each other" if agreement.ties else ""
    console.print(
        f"Compared {agreement.decisions:,} decisions with seed {seed}: the model prefers the same choice in all{ties}. "
        f"Log-probabilities differ by at most {agreement.largest:.2g}. {time.monotonic() - started:.1f} s"
    )
    console.print(
        f"Wrote {out} ({out.stat().st_size / 1e6:.2f} MB); play with it: "
        f"helsinki simulate --players net:{out},heuristic --games 200"
    )
