"""Query a player in the positions of a suite, and write, verify and publish its certificate.

Certificates have the same format as those of gauntlets. ``certified`` is reproducible from the player and the suite. It
holds the player's action in each position and the results. ``measured`` holds the thinking time and the number of
illegal, late or failed actions that were replaced by random ones. These numbers cannot be verified later.

A page shows the certificates for each suite as a table. Certificates are stored in a folder named after the page, in a
subfolder named after the suite, such as ``docs/positions/helsinki/net.json``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import helsinki_env
from helsinki_env.agents.base import Player, init_streams, next_keys
from helsinki_env.agents.llm.usage import ModelUsage, model_usage_of
from helsinki_env.agents.registry import check_code, files_digest, make_player
from helsinki_env.agents.replaced_actions import ReplacedActions, replaced_actions_of
from helsinki_env.data import Node, check_same_settings, read_json, read_stored_settings, short_repr, with_digest
from helsinki_env.evaluation.arena.work_unit import make_warm_player
from helsinki_env.evaluation.gauntlet.certificate import COUNTED_PREFIX, check_certificate, check_values
from helsinki_env.evaluation.gauntlet.leaderboard import CertificatePage
from helsinki_env.evaluation.play import query_player
from helsinki_env.evaluation.positions import PositionsError
from helsinki_env.evaluation.positions.suite import DIFFICULTIES, Suite, results_of
from helsinki_env.utils.files import hold_lock_file, is_file, write_json
from helsinki_env.utils.markdown import code_span, markdown_table, table_row

__all__ = [
    "Answers",
    "PositionsPage",
    "ask_player",
    "check_answers",
    "make_certificate",
    "positions_row",
    "positions_table",
    "read_certificate",
    "regret_text",
]

_FORMAT = 1
_HEAD = ("player", "regret", "95% interval", "best", *DIFFICULTIES, "s/action", "replaced", "by")
#: Minimum number of seconds between two saves of the actions.
_SAVE_SECONDS = 1.0


@dataclass
class Answers:
    """A player's actions in the first positions of a suite: thinking time, replaced actions, costs of its model."""

    actions: list[int]
    seconds: float = 0.0
    replaced: ReplacedActions = field(default_factory=ReplacedActions)
    usage: ModelUsage = field(default_factory=ModelUsage)

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of replaced actions, and those of `usage` that are not zero."""
        return {**asdict(self.replaced), **self.usage.to_dict()}


class _Asker:
    """Helper that queries a player in single positions of a suite."""

    def __init__(self, suite: Suite, player: str) -> None:
        self.suite, self.spec = suite, COUNTED_PREFIX + player

    @lru_cache(maxsize=64)  # noqa: B019  # the object lives until the command ends
    def player(self, matchup: int) -> Player:
        """Return the player for a matchup, after a warm-up action."""
        config = self.suite.matchups[matchup][1]
        return make_warm_player(self.spec, config, files_digest(self.spec, config))

    def answer(self, number: int) -> Answers:
        """Return the player's action in a position, with its time, replaced actions and costs."""
        position = self.suite.positions[number]
        player, game = self.player(position.matchup), position.game
        history = None
        if getattr(player, "wants_history", False):
            from helsinki_env.text import history as events  # not every game has a text interface

            history = [events(position.record, game.seat)]
        keys = next_keys(init_streams(self.suite.seed, [number], 0))
        replaced, usage = replaced_actions_of(player), model_usage_of(player) or ModelUsage()
        observation, mask, begin = game.observation()[None], game.action_mask()[None], time.perf_counter()
        found = query_player(player, observation, mask, keys, history)
        seconds = time.perf_counter() - begin
        used = (model_usage_of(player) or ModelUsage()).add(usage, -1)
        return Answers([int(found[0])], seconds, replaced_actions_of(player).add(replaced, -1), used)


def ask_player(
    suite: Suite,
    player: str,
    saved: Path,
    resumed: Callable[[int], None] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Answers:
    """Query a player in all positions of a suite, resuming from the actions saved in a file.

    Args:
        suite: the suite.
        player: name of the player.
        saved: file with the actions found so far, which is updated.
        resumed: function called once with the number of saved actions.
        progress: function called with 1 after each new action.

    Raises:
        PlayerError: if the player fails.
        PositionsError: if the file has the actions of another player or suite, or another process is writing it.
    """
    about = {
        "package": helsinki_env.__version__,  # players without files can change with it
        "suite": suite.digest,
        "player": player,
        "player_digest": _player_digest(suite, player),
    }
    busy = PositionsError(f"{saved}: found another process that writes it; wait for it, or choose another --out")
    with hold_lock_file(saved.with_name(f".{saved.name}.lock"), busy):
        answers = _load(saved, about)
        if len(answers.actions) > len(suite.positions):
            raise PositionsError(
                f"{saved}: answers: found {len(answers.actions):,}, expected at most {len(suite.positions):,}; remove "
                "the file"
            )
        if resumed is not None:
            resumed(len(answers.actions))
        asker, written = _Asker(suite, player), time.monotonic()
        try:
            for number in range(len(answers.actions), len(suite.positions)):
                new = asker.answer(number)
                answers = Answers(
                    answers.actions + new.actions,
                    answers.seconds + new.seconds,
                    answers.replaced.add(new.replaced),
                    answers.usage.add(new.usage),
                )
                if progress is not None:
                    progress(1)
                if time.monotonic() - written >= _SAVE_SECONDS:
                    _save(saved, about, answers)
                    written = time.monotonic()
        finally:
            _save(saved, about, answers)
        return answers


def _player_digest(suite: Suite, player: str) -> str | None:
    return files_digest(player, suite.matchups[0][1])


def _save(path: Path, about: Mapping[str, Any], answers: Answers) -> None:
    actions = " ".join(map(str, answers.actions))
    write_json(path, {**about, "answers": actions, "seconds": answers.seconds, **answers.counts})


def _load(path: Path, about: Mapping[str, Any]) -> Answers:
    if not is_file(path):
        return Answers([])
    data = read_stored_settings(path, PositionsError)
    check_same_settings(path, about, {key: data[key].value for key in about}, PositionsError)
    replaced, usage = ReplacedActions.read(data), ModelUsage.read(data)
    return Answers(_actions(data["answers"]), float(data["seconds"].number(0)), replaced, usage)


def _actions(data: Node, count: int | None = None) -> list[int]:
    """Parse action ids separated by spaces."""
    words = data.value.split() if isinstance(data.value, str) else None
    if words is None or not all(word.isascii() and word.isdigit() and len(word) < 10 for word in words):
        data.fail("action ids separated by spaces")
    if count is not None and len(words) != count:
        data.fail(f"{count} ids, one for each position", found=f"{len(words)} ids")
    return [int(word) for word in words]


def make_certificate(suite: Suite, player: str, answers: Answers) -> dict[str, Any]:
    """Return a player's certificate, given its actions in all positions."""
    count = len(answers.actions)
    certified = {
        **_header(suite),
        "package": helsinki_env.__version__,
        "player": player,
        "player_digest": _player_digest(suite, player),
        "answers": " ".join(map(str, answers.actions)),
        **results_of(suite, answers.actions),
    }
    measured = {
        "decisions": count,
        "seconds_per_decision": float(f"{answers.seconds / max(1, count):.3g}"),
        **answers.counts,
    }
    return {"certified": with_digest(certified), "measured": measured}


def _header(suite: Suite) -> dict[str, Any]:
    """Return the part of the certified values that depends only on the suite."""
    return {
        "certificate": _FORMAT,
        "suite": suite.name,
        "version": suite.version,
        "suite_digest": suite.digest,
        "environment": suite.data["environment"],
    }


def read_certificate(path: Path, suite: Suite) -> dict[str, Any]:
    """Read a certificate and check its results by recomputing them.

    Raises PositionsError if the certificate was modified or is for another suite.
    """
    data = read_json(path, PositionsError).mapping(("certified", "measured"))
    certified = data["certified"].verify_digest("a certificate")
    check_certificate(data, _header(suite), "use the version and the suite that made the certificate")
    certified["player"].text("a player")
    with certified["answers"].prefix_errors():
        results = results_of(suite, _actions(certified["answers"], len(suite.positions)))
    for key, value in results.items():
        check_values(certified[key], value, "the actions")
    return dict(data.value)


def check_answers(
    path: Path,
    suite: Suite,
    player: str | None,
    numbers: Iterable[int],
    *,
    trust: bool = False,
    progress: Callable[[int], None] | None = None,
) -> str:
    """Query a player again in some positions of a certificate and return the player's name.

    Args:
        path: path of a certificate that `read_certificate` accepts.
        suite: suite of the certificate.
        player: name of the player. None selects the player named in the certificate, which may run code only with
            `trust`.
        numbers: numbers of the positions to repeat.
        trust: whether the certificate may name a player that runs code.
        progress: function called with 1 after each position.

    Raises:
        PositionsError: if an action or the player's files differ from the certificate.
        PlayerError: if the player fails, or the certificate names code and is not trusted.
    """
    certified = read_json(path, PositionsError)["certified"]
    named = certified["player"].text("a player")
    if player is None:
        check_code([named], path, trust=trust)
    plays = named if player is None else player
    make_player(plays, suite.matchups[0][1])
    if certified["player_digest"].value != (digest := _player_digest(suite, plays)):
        certified["player_digest"].fail(f"{digest!r}, that of {short_repr(plays)}", "name the tested player")
    actions, asker = _actions(certified["answers"]), _Asker(suite, plays)
    for number in np.asarray(list(numbers), np.int64).tolist():
        found = asker.answer(number).actions[0]
        if found != actions[number]:
            raise PositionsError(
                f"{path}: position {number}: found the action {found}, expected {actions[number]} as certified; "
                "possible causes: another player, a player that uses more than its observation and random key, "
                "networks on another type of CPU"
            )
        if progress is not None:
            progress(1)
    return plays


class PositionsPage(CertificatePage):
    """A leaderboard page with a table for a suite."""

    error, example = PositionsError, "docs/positions.md"

    def __init__(self, path: Path, suite: Suite) -> None:
        super().__init__(path, suite.name)
        self.suite, self._table = suite, f"{suite.name}, positions"

    def check(self, player: str) -> None:
        """Check, before any work is done, that a player's certificate can be saved and its row written.

        Raise PositionsError if the page has no table for the suite, another player has the same file name, the player's
        certificate is for other files, or another certificate is invalid.
        """
        self.with_tables({self._table: ""})
        self.previous(player, _player_digest(self.suite, player))
        self._certificates(excluded=self.file_of(player))

    def write(self, certificate: Mapping[str, Any]) -> Path:
        """Save a player's certificate, update the table, and return the path of the certificate."""
        player = certificate["certified"]["player"]
        path = self.file_of(player)
        with self.lock():
            self.check(player)
            others = self._certificates(excluded=path)
            write_json(path, certificate)
            self.write_tables({self._table: positions_table([*others, certificate])})
        return path

    def table(self) -> str:
        """Return the table of all certificates; raise PositionsError if one is invalid."""
        return positions_table(self._certificates())

    def _certificates(self, excluded: Path | None = None) -> list[Mapping[str, Any]]:
        paths = sorted(self.folder.glob("*.json"))
        return [read_certificate(path, self.suite) for path in paths if path != excluded]


def positions_table(certificates: list[Mapping[str, Any]]) -> str:
    """Return the table of certified players, smallest regret first."""
    order = sorted(certificates, key=lambda data: data["certified"]["overall"]["regret"])
    return "\n".join([markdown_table(_HEAD, []), *map(positions_row, order)]) + "\n"


def positions_row(data: Mapping[str, Any]) -> str:
    """Return the table row for a certificate."""
    certified, measured = data["certified"], data["measured"]
    overall, groups = certified["overall"], {group["group"]: group for group in certified["groups"]}
    levels = [groups.get(f"difficulty: {level}") for level in DIFFICULTIES]
    return table_row(
        [
            code_span(certified["player"]),
            f"{100 * overall['regret']:.2f}",
            regret_text(overall),
            f"{overall['best']:.1%}",
            *("" if level is None else f"{100 * level['regret']:.2f}" for level in levels),
            f"{measured['seconds_per_decision']:.2g}",
            ReplacedActions.from_mapping(measured).summary or "none",
            f"version {certified['version']}, {code_span(certified['digest'])}",
        ]
    )


def regret_text(result: Mapping[str, float]) -> str:
    """Format the interval of a mean regret, in percentage points of win probability."""
    return f"{100 * result['low']:.2f} to {100 * result['high']:.2f}"
