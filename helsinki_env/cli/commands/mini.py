"""The ``helsinki mini`` command: exact values and exploitability in the mini game."""

from __future__ import annotations

import shlex
from pathlib import Path

from helsinki_env.cli.options import SectionPage, out_folder, read_list
from helsinki_env.cli.progress import saved_progress
from helsinki_env.data import Node, UserError
from helsinki_env.utils.files import write_json
from helsinki_env.utils.terminal import plain_console


def main(
    components: str = "small,standard",
    num_players: str = "2,3",
    iterations: int = 128,
    batches: int = 256,
    games: int = 1000,
    seeds: int = 3,
    seed: int = 0,
    out: Path = Path("runs/mini"),
    write: Path | None = None,
) -> int:
    """Measure the exact exploitability of players and learners in a small game that is solved exactly.

    The game has boards of 3 x 3 cells. Running the same command again resumes an interrupted run and produces the same
    file.

    Example: helsinki mini --components small --num-players 2 --batches 32 --seeds 1 --out runs/mini

    Args:
        components: comma-separated sets of components: small, standard.
        num_players: comma-separated numbers of players: 2, 3.
        iterations: iterations of CFR+ for equilibria; with three players, an eighth of this number.
        batches: batches of games of each learner.
        games: number of games in a batch.
        seeds: number of seeds of each learner.
        seed: first random seed.
        out: folder for mini.json.
        write: page whose section "exact" receives the tables, such as docs/mini.md; mini.json is written next to it.
    """
    from helsinki_env.mini.game import COMPONENTS
    from helsinki_env.mini.study import MiniStudy, run_study, study_tables

    names, counts = read_list(components), read_list(num_players)
    for option, found, choices in (("--components", names, tuple(COMPONENTS)), ("--num-players", counts, ("2", "3"))):
        Node(found, UserError, option).entries(f"at least one of {', '.join(choices)}", least=1)
        for name in found:
            Node(name, UserError, option).choice(choices)
        if len(set(found)) < len(found):
            raise UserError(f"{option}: found {', '.join(found)}, expected each value once")
    for option, value in (
        *(("--iterations", iterations), ("--batches", batches)),
        *(("--games", games), ("--seeds", seeds)),
    ):
        Node(value, UserError, option).integer(1, 1_000_000)
    Node(seed, UserError, "--seed").integer(0)
    if write is not None and write.suffix != ".md":
        raise UserError(f"--write: found {write}, expected a page that ends in .md")
    page = None if write is None else SectionPage(write, ["exact"])
    out_folder(out)
    study = MiniStudy(tuple(names), tuple(map(int, counts)), iterations, batches, games, seeds=seeds, seed=seed)
    words = ["helsinki", "mini", "--components", components, "--num-players", num_players]
    words += ["--iterations", str(iterations), "--batches", str(batches), "--games", str(games)]
    words += ["--seeds", str(seeds), "--seed", str(seed)]
    with saved_progress(len(study.units()), "results", out) as display:
        data = run_study(study, out, shlex.join(words), display.resume, display.advance)
    tables, console = study_tables(data), plain_console()
    console.print(tables, markup=False, soft_wrap=True)
    written = [out / "mini.json"]
    if page is not None:
        page.write({"exact": f"\n{tables}\n"})
        write_json(page.path.with_suffix(".json"), data, follow=True)
        written += [page.path, page.path.with_suffix(".json")]
    console.print(f"Wrote {', '.join(map(str, written))}")
    return 0
