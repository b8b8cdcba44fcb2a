"""The command ``helsinki simulate``: play games between players, show win rates, and save the games to a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from helsinki_env.cli.games_file import MatchFile
from helsinki_env.cli.options import game_text, read_game_config
from helsinki_env.cli.precompile import groups_for, precompile_groups
from helsinki_env.cli.progress import ProgressDisplay
from helsinki_env.data import UserError
from helsinki_env.utils.stopping import save_on_interrupt
from helsinki_env.utils.terminal import plain_console

if TYPE_CHECKING:
    from helsinki_env.evaluation.match import Results

__all__ = ["main"]


def main(
    players: str = "random,greedy",
    games: int = 1000,
    game: str | None = None,
    num_players: int | None = None,
    game_config: str | None = None,
    covered: str | None = None,
    dry_roads: bool = False,
    components: str | None = None,
    seed: int = 0,
    threads: int | None = None,
    out: Path | None = None,
    append: bool = False,
    resume: bool = False,
) -> None:
    """Play games between players and show who wins.

    Each deal is played once in every rotation of the seats. The table shows win rates with 95% intervals. The
    same seed gives the same games with any number of threads.

    Example: helsinki simulate --players greedy,heuristic --games 10000 --out games.jsonl

    Example: helsinki simulate --game copenhagen --players greedy,heuristic --games 1000

    Ctrl-C saves the finished games. The same command with --resume plays the missing games and gives the file of
    an uninterrupted run.

    Args:
        players: comma-separated players, one for each seat, or one for all seats: random, greedy, heuristic, mc:N or
            ismcts:N (search with N simulations per action), net (the bundled network), net:CHECKPOINT, net+search:N or
            net+search:N:CHECKPOINT, mlp:CHECKPOINT (a network of the observation only), forced:ACTION:PLAYER (uses
            the action as soon as it can), program:COMMAND (any language, JSON), MODULE:ATTRIBUTE (your own Python
            code), or the name of a player from an installed package.
        games: number of games, rounded up to whole rotations of the seats.
        game: game, such as copenhagen; default: that of --game-config, or helsinki.
        num_players: number of players: 2, 3 or 4; default: the number of names in --players.
        game_config: a name in configs/game or the path of a YAML file; the other options change its values.
        covered: comma-separated actions disabled for all, or first_game for the bottom row.
        dry_roads: play with the expansion.
        components: a name in configs/components or the path of a YAML file.
        seed: random seed of deals and players.
        threads: number of threads, each with a batch of games; default: one per CPU core.
        out: file for the games, one record per line.
        append: add the games to the file instead of replacing its contents.
        resume: resume the match whose games are at the end of the file; earlier contents stay.
    """
    from helsinki_env.agents.replaced_actions import replaced_actions_of, replacement_warnings
    from helsinki_env.evaluation.match import Match

    names = [name.strip() for name in players.split(",")]
    default_players = len(names) if len(names) > 1 else 2
    counted_by = "number of --players" if num_players is None else "--num-players"
    chosen = read_game_config(
        game_config, num_players, covered, dry_roads, components, default_players, game, counted_by
    )
    if len(names) == 1:
        names *= chosen.num_players
    if len(names) != chosen.num_players:
        raise UserError(
            f"--players: found {len(names)} ({players}), expected {chosen.num_players}, one for each seat, or "
            "one for all seats"
        )
    for option, given in (("--append", append), ("--resume", resume)):
        if given and out is None:
            raise UserError(f"{option}: found without --out, expected the file to add to")
    if append and resume:
        raise UserError(
            "--append: found with --resume, which also keeps the contents of the file; leave one of them out"
        )
    match, console = Match(names, chosen, seed), plain_console()
    precompile_groups(groups_for(names, chosen))
    with MatchFile(out, match, games, append=append, resume=resume) as file:
        before = len(file)
        started = time.monotonic()
        with save_on_interrupt(file.keep), ProgressDisplay(match.round_up_games(games)) as display:
            display.resume(before)

            def ended(part: Results) -> None:
                file.add(part)
                display.advance(len(part))

            results = match.play(games, threads=threads, batch=None, resume_from=file.before, on_games_end=ended)
    seconds = time.monotonic() - started
    console.print(_table(results))
    for player in match.players:
        for line in replacement_warnings(player.name, replaced_actions_of(player)):
            console.print(line, highlight=False, soft_wrap=True)
        if report := getattr(player, "cost_report", ""):
            console.print(report, highlight=False, soft_wrap=True)
    lengths = [len(game) for game in results.decisions]
    earlier = f", {before:,} of them from an earlier run" if before else ""
    now = sum(lengths) - (0 if file.before is None else sum(len(game) for game in file.before.decisions))
    console.print(
        f"{len(results):,} games with seed {seed}{earlier}, {sum(lengths) / len(results):.1f} actions and "
        f"{results.rounds.mean():.1f} rounds per game; {seconds:.1f} s, {now / seconds:,.0f} actions/s",
        highlight=False,
        soft_wrap=True,
    )
    if out is not None:
        console.print(
            f"Wrote {out}; see a game with: helsinki replay {out} --record 1", highlight=False, soft_wrap=True
        )


def _table(results: Results) -> Table:
    config = results.config
    table = Table(title=game_text(config))
    for name in ("player", "seat", "games", "games won", "95% interval", "points", "rank"):
        table.add_column(name, justify="left" if name == "player" else "right", no_wrap=name != "player")
    for result in results.player_results():
        table.add_row(
            result.player if result.seat is None else "",
            "all" if result.seat is None else str(result.seat),
            f"{result.games:,}",
            f"{result.share:.1%}",
            f"{result.low:.1%} to {result.high:.1%}",
            f"{result.score:.1f}",
            f"{result.place:.2f}",
            style="bold" if result.seat is None else None,
            end_section=result.seat == config.num_players - 1,
        )
    return table
