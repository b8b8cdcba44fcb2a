"""Draw the picture of the README: `net` plays `heuristic`, one frame per action.

python docs/make_gif.py docs/images/game.gif
"""

from __future__ import annotations

import argparse
from pathlib import Path

from PIL import Image

from helsinki_env import helsinki_v0
from helsinki_env.agents.base import choose_action
from helsinki_env.agents.registry import make_player
from helsinki_env.utils.files import atomic_write

SECONDS = 10.0
LAST_FRAME_SECONDS = 1.5


def frames(seed: int, width: int) -> list[Image.Image]:
    """Play one game with two players and return a picture of the position after every action."""
    env = helsinki_v0.env(num_players=2, render_mode="rgb_array", render_width=width)
    env.reset(seed=seed)
    players = [make_player(name, env.unwrapped.game.config) for name in ("net", "heuristic")]
    pictures = [Image.fromarray(env.render())]
    while not env.unwrapped.game.done:
        game = env.unwrapped.game
        env.step(choose_action(players[game.seat], game))
        pictures.append(Image.fromarray(env.render()))
    return pictures


def main() -> None:
    """Write the picture and print its size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the GIF file")
    parser.add_argument("--seed", type=int, default=7, help="random seed of the game")
    parser.add_argument("--width", type=int, default=720, help="width in pixels")
    parser.add_argument("--frames", type=int, default=70, help="maximum number of frames, evenly spaced")
    asked = parser.parse_args()
    pictures = frames(asked.seed, asked.width)
    step = max(1, -(-len(pictures) // asked.frames))
    kept = [*pictures[:-1:step], pictures[-1]]
    palette = kept[-1].quantize(64, dither=Image.Dither.NONE)
    indexed = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in kept]
    each = round((SECONDS - LAST_FRAME_SECONDS) * 1000 / len(indexed))
    durations = [each] * (len(indexed) - 1) + [round(LAST_FRAME_SECONDS * 1000)]
    with atomic_write(asked.out) as temporary:
        indexed[0].save(
            temporary, format="GIF", save_all=True, append_images=indexed[1:], duration=durations, loop=0, optimize=True
        )
    print(f"{asked.out}: {len(indexed)} frames, {asked.out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
