"""Descriptions and implementations of the server's tools. Each call is validated before anything changes."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from helsinki_env.agents.analysis import analysis_inputs, summarize_evaluations
from helsinki_env.agents.evaluation import DEFAULT_EVALUATOR, Evaluation
from helsinki_env.data import Node, choices_text, short_repr
from helsinki_env.engine.spec import GameSpec, config_from_dict
from helsinki_env.mcp.seats import ClientSeat, ClientSeats, ToolError, seat_code
from helsinki_env.records import Record, replay_steps
from helsinki_env.text import legal_actions, legal_text, parse_action, position_text, rules
from helsinki_env.utils.markdown import printable
from helsinki_env.web.evaluation import SIMULATIONS, evaluation_data
from helsinki_env.web.player_workers import PlayerFailedError, PlayerPool
from helsinki_env.web.records import record_of
from helsinki_env.web.server import check_room
from helsinki_env.web.sessions import TableSessions, evaluation_request
from helsinki_env.web.setups import browser_game, browser_games, chosen_options, offered_options, offered_players
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment
from helsinki_env.web.uploads import read_record

CLIENT = "you"
"""Player name for a seat that is played by a protocol client."""
_MAX_WAIT = 60.0
_DEFAULT_WAIT = 30.0
_MAX_RECORD = 60_000
"""Maximum length of a game record, in characters."""
MAX_EVALUATIONS = 256
"""Maximum number of evaluations that the clients at one table may request."""
MAX_ANALYSES = 2
"""Maximum number of games analyzed in parallel."""
_BATCH = 16
"""Number of actions evaluated per call."""
_MAX_LISTED = 5
"""Number of actions that an analysis lists."""

_SEAT = {"type": "string", "description": "Code of your seat, from new_table."}
_WAIT = {"type": "number", "minimum": 0, "maximum": _MAX_WAIT, "description": "Seconds to wait for your turn."}
_SIMULATIONS = {
    "type": "integer",
    "enum": [0, *SIMULATIONS],
    "default": 0,
    "description": "Number of search simulations; 0 uses the network alone.",
}


class ToolDescription(NamedTuple):
    """The description of a tool that clients receive."""

    text: str
    properties: dict[str, dict[str, Any]]  # JSON Schema of each argument
    required: tuple[str, ...] = ()
    reads_only: bool = True

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        required = list(self.required)
        return {"type": "object", "properties": self.properties, "required": required, "additionalProperties": False}


class Answer(NamedTuple):
    """The result of a tool call: text and structured data."""

    text: str
    data: dict[str, Any]


TOOLS = {
    "games": ToolDescription("List the games, their options and the available opponents.", {}),
    "rules": ToolDescription(
        "Return the rules: of your table, or of a game for two players as published.",
        {"seat": _SEAT, "game": {"type": "string", "description": "Name of a game, instead of a seat."}},
    ),
    "new_table": ToolDescription(
        "Start a game. Returns the code of each seat that a client plays, and links for people.",
        {
            "game": {"type": "string", "description": "Name of the game; default: the first of games."},
            "players": {
                "type": "array",
                "minItems": 2,
                "maxItems": 4,
                "items": {"type": "string"},
                "default": [CLIENT, "heuristic"],
                "description": f"Occupant of each seat: {CLIENT!r} for a client, {HUMAN!r} for a person in a browser, "
                "or a player from games.",
            },
            "options": {"type": "object", "description": "Options of the game, from games."},
            "seed": {"type": "integer", "minimum": 0, "description": "Seed of the deal; default: a random one."},
            "title": {"type": "string", "maxLength": 60, "description": "Title that people see."},
            "rated": {"type": "boolean", "default": False, "description": "Random deal, no evaluations."},
        },
        reads_only=False,
    ),
    "observe": ToolDescription(
        "Return the position as your seat sees it, and whose turn it is.", {"seat": _SEAT, "wait": _WAIT}, ("seat",)
    ),
    "legal_actions": ToolDescription(
        "List your legal actions with id, words and notation; empty unless it is your turn.", {"seat": _SEAT}, ("seat",)
    ),
    "act": ToolDescription(
        "Take an action, wait for the others, and return what happened.",
        {
            "seat": _SEAT,
            "action": {"type": ["string", "integer"], "description": "Id, words or notation of a legal action."},
            "number": {
                "type": "integer",
                "minimum": 0,
                "description": "Number of actions that you know of; rejects the call if the table has changed.",
            },
            "wait": _WAIT | {"default": _DEFAULT_WAIT},
        },
        ("seat", "action"),
        reads_only=False,
    ),
    "history": ToolDescription(
        "Return all events that your seat has seen, in sentences.",
        {
            "seat": _SEAT,
            "since": {"type": "integer", "minimum": 0, "default": 0, "description": "Number of actions to skip."},
        },
        ("seat",),
    ),
    "result": ToolDescription(
        "Return points and ranks, and the game record once the game is over.", {"seat": _SEAT}, ("seat",)
    ),
    "evaluate_position": ToolDescription(
        "Return win probabilities and the best actions of your position, on your turn, from what your seat sees; "
        f"at most {MAX_EVALUATIONS} times per table.",
        {"seat": _SEAT, "simulations": _SIMULATIONS},
        ("seat",),
    ),
    "analyze": ToolDescription(
        "Find the actions of a finished game that cost most win probability.",
        {
            "record": {"type": "string", "maxLength": _MAX_RECORD, "description": "Game record, from result."},
            "simulations": _SIMULATIONS,
        },
        ("record",),
    ),
}
"""Descriptions of all tools, by name."""


class TableTools:
    """The tools of a server whose pages are at `address` and require `page_token` unless it is empty."""

    def __init__(
        self,
        sessions: TableSessions,
        pool: PlayerPool,
        address: str,
        page_token: str = "",
        players: tuple[str, ...] = (),
    ) -> None:
        self._sessions, self._pool, self._players = sessions, pool, players
        self._address, self._page_token = address, page_token
        self._seats = ClientSeats(sessions)
        self._evaluations = Counter[str]()  # by table
        self._analyses = 0  # in progress

    async def call(self, name: str, arguments: Mapping[str, Any] | None) -> Answer:
        """Call a tool.

        Raises:
            ValueError: if the call is invalid or not possible now; the table is left unchanged.
            RuntimeError: if an evaluator fails.
        """
        if name not in TOOLS:
            raise ToolError(f"tool: found {short_repr(name)}, expected {choices_text(TOOLS, name)}")
        data = Node({} if arguments is None else dict(arguments), ToolError, what="arguments")
        method: Callable[[Node], Awaitable[Answer]] = getattr(self, f"_{name}")
        return await method(data.mapping(tuple(TOOLS[name].properties)))

    async def _seat(self, data: Node) -> ClientSeat:
        return await self._seats.connect(data["seat"].text("the code of a seat from new_table"))

    async def _games(self, data: Node) -> Answer:
        games: list[dict[str, Any]] = []
        for spec in browser_games():
            options = offered_options(spec)
            games.append({"game": spec.name, "options": options, "players": list(offered_players(spec, self._players))})
        lines = []
        for game in games:
            lines += [f"{game['game']}: 2 to 4 players.", f"  players: {', '.join(game['players'])}"]
            for one in game["options"]:
                values = {"flag": "true or false", "several": f"a list of {', '.join(one['choices'])}"}
                value = values.get(one["type"], f"one of {', '.join(one['choices'])}")
                lines.append(f"  option {one['name']}: {value}. {one['says']}")
        return Answer("\n".join(lines), {"games": games})

    async def _rules(self, data: Node) -> Answer:
        text = rules(_spec(data).config() if _given(data, "seat") is None else (await self._seat(data)).table.config)
        return Answer(text, {"rules": text})

    async def _new_table(self, data: Node) -> Answer:
        spec = _spec(data)
        allowed = (CLIENT, HUMAN, *offered_players(spec, self._players))
        names = [
            one.choice(allowed)
            for one in data.get("players", [CLIENT, "heuristic"]).entries("players", least=2, most=4)
        ]
        if CLIENT not in names:
            data["players"].fail(f"at least one {CLIENT!r}")
        options = chosen_options(spec, data.get("options", {}).mapping().value)
        rated = data.get("rated", False).boolean()
        if rated and data["seed"].is_present:
            data["seed"].fail("no seed at a rated table")
        seed = data["seed"].integer(0) if data["seed"].is_present else secrets.randbits(63)
        title = "" if (given := _given(data, "title")) is None else printable(given.text())[:60]
        config = config_from_dict(options | {"game": spec.name, "num_players": len(names)})
        for name in {*names} - {CLIENT, HUMAN}:
            try:
                await self._pool.check(config, name)
            except PlayerFailedError as problem:
                raise ToolError(f"players: {name} cannot be created: {problem}") from None
        check_room(self._sessions.store)
        table = GameTable(
            secrets.token_hex(6), title, config, seed, tuple(_chair(*one, rated) for one in enumerate(names))
        )
        self._sessions.store.add(table)
        return self._made(table, names)

    def _made(self, table: GameTable, names: list[str]) -> Answer:
        """Return the seat codes and links of a new table."""
        seats: list[dict[str, Any]] = []
        lines = [f"Table {table.name} has started."]
        token = f"&token={self._page_token}" if self._page_token else ""
        for seat, name in enumerate(names):
            entry: dict[str, Any] = {"player": seat, "occupant": name}
            if name in (CLIENT, HUMAN):
                link = f"{self._address}/tables/{table.name}#key={table.chairs[seat].key}{token}"
                entry["page"] = link
            if name == CLIENT:
                entry["seat"] = seat_code(table, seat)
                lines.append(
                    f"Player {seat}: a client, with the seat code {entry['seat']}; a person can watch at {link}"
                )
            elif name == HUMAN:
                lines.append(f"Player {seat}: a person, who plays at {link}")
            else:
                lines.append(f"Player {seat}: {name}")
            seats.append(entry)
        return Answer("\n".join(lines), {"table": table.name, "seats": seats})

    async def _observe(self, data: Node) -> Answer:
        seconds = data.get("wait", 0).number(0, _MAX_WAIT)
        seat = await self._seat(data)
        if seat.session.message:  # a player could not continue: try again
            seat.session.handle(seat.page, {"type": "go", "once": ""})
        await seat.wait(seconds)
        position = position_text(seat.game, seat.number)
        return Answer(f"{position}\n{seat.status}", {"position": position, **_state(seat)})

    async def _legal_actions(self, data: Node) -> Answer:
        seat = await self._seat(data)
        if not seat.acts:
            return Answer(seat.status, {"actions": [], **_state(seat)})
        actions = legal_actions(seat.game)
        listed = [{"id": one.id, "words": one.words, "notation": one.notation} for one in actions]
        return Answer(legal_text(actions), {"actions": listed, **_state(seat)})

    async def _act(self, data: Node) -> Answer:
        seconds = data.get("wait", _DEFAULT_WAIT).number(0, _MAX_WAIT)
        given = data["action"].value
        if isinstance(given, bool) or not isinstance(given, int | str) or (isinstance(given, int) and given < 0):
            data["action"].fail("the id, words or notation of a legal action")
        known = data["number"].integer(0) if data["number"].is_present else None
        seat = await self._seat(data)
        if not seat.acts:  # check this before parsing, because errors of the parser list the legal actions
            raise ToolError(f"seat: {seat.status} Expected your turn; wait with observe.")
        if known is not None:
            seat.table.check_number(known)
        chosen = parse_action(given if isinstance(given, str) else short_repr(given), legal_actions(seat.game))
        read, number = len(seat.history(0)), seat.table.number
        message = {"type": "decide", "once": "", "number": number, "action": chosen, "more": []}
        seat.session.handle(seat.page, message)
        await seat.wait(seconds)
        events = seat.history(0)[read:]
        return Answer("\n".join([*events, seat.status]), {"events": events, **_state(seat)})

    async def _history(self, data: Node) -> Answer:
        since = data.get("since", 0)
        seat = await self._seat(data)
        events = seat.history(since.integer(0, seat.table.number))
        return Answer("\n".join([*events, seat.status]), {"events": events, **_state(seat)})

    async def _result(self, data: Node) -> Answer:
        seat = await self._seat(data)
        scores, ranks = seat.game.scores().tolist(), seat.game.ranks().tolist()
        lines = [
            f"Player {i} ({chair.name}): {scores[i]} points, rank {ranks[i] + 1}"
            for i, chair in enumerate(seat.table.chairs)
        ]
        found = {"scores": scores, "ranks": ranks, **_state(seat)}
        if seat.game.done and not seat.table.start:
            store = self._sessions.store
            found["record"] = record_of(seat.table, store.taken_back(seat.table.name)).to_json()
            lines.append(f"Game record: {found['record']}")
        return Answer("\n".join([*lines, seat.status]), found)

    async def _evaluate_position(self, data: Node) -> Answer:
        simulations = _simulations(data)
        seat = await self._seat(data)
        words = {one.id: one.words for one in legal_actions(seat.game)} if seat.acts else {}
        message = {"number": seat.table.number, "deeper": simulations}
        request, name = evaluation_request(seat.table, seat.page, message, words), seat.table.name
        if self._evaluations[name] >= MAX_EVALUATIONS:
            raise ToolError(f"evaluate_position: found {MAX_EVALUATIONS} evaluations of this table, expected fewer")
        self._evaluations[name] += 1
        evaluation = (await self._pool.evaluate(request.config, request.evaluator, *request.inputs))[0]
        found = evaluation_data(evaluation, words, by_win_probability=simulations > 0)
        lines = [f"Win probability of player {i}: {share:.1%}" for i, share in enumerate(found["shares"])]
        for one in found["choices"]:
            share = "" if one["share"] is None else f"win probability {one['share']:.1%}, "
            lines.append(f"{one['id']}: {one['words']}: {share}policy {one['probability']:.1%}")
        left = MAX_EVALUATIONS - self._evaluations[name]
        return Answer(
            "\n".join(lines), {"evaluator": request.evaluator, "evaluations_left": left, **found, **_state(seat)}
        )

    async def _analyze(self, data: Node) -> Answer:
        simulations, text = _simulations(data), data["record"].value
        if not isinstance(text, str) or len(text) > _MAX_RECORD:
            data["record"].fail(f"a game record of at most {_MAX_RECORD:,} characters")
        record = await asyncio.to_thread(read_record, text)
        evaluator = f"net+search:{simulations}" if simulations else DEFAULT_EVALUATOR
        inputs = (*analysis_inputs(record), np.array(record.decisions, np.int64))
        if self._analyses >= MAX_ANALYSES:
            raise ToolError(f"analyze: found {MAX_ANALYSES} analyses in progress, expected fewer; call again later")
        self._analyses += 1
        try:
            evaluations = [one async for one in self._pool.evaluate_all(record.config, evaluator, inputs, _BATCH)]
        finally:
            self._analyses -= 1
        return _worst_actions(record, evaluations, evaluator)


def _given(data: Node, key: str) -> Node | None:
    """Return an optional text of a call, or None; models often send empty texts."""
    given = data.get(key, "")
    return None if given.value in ("", None) else given


def _spec(data: Node) -> GameSpec:
    """Return the game named in a call, or the default game."""
    names = [spec.name for spec in browser_games()]
    return browser_game(names[0] if (given := _given(data, "game")) is None else given.choice(names))


def _simulations(data: Node) -> int:
    """Return the number of simulations requested in a call."""
    found = data.get("simulations", 0)
    number = found.integer(0)
    if number not in (0, *SIMULATIONS):
        found.fail(f"0 or one of {', '.join(map(str, SIMULATIONS))}")
    return number


def _chair(seat: int, name: str, rated: bool) -> SeatAssignment:
    """Return the occupant of a seat; clients and people each get their own key."""
    if name not in (CLIENT, HUMAN):
        return SeatAssignment(name, name, rated=rated)
    shown = f"Player {seat + 1}" if name == HUMAN else f"Assistant {seat + 1}"
    return SeatAssignment(HUMAN, shown, secrets.token_urlsafe(16), rated, assistant=name == CLIENT)


def _state(seat: ClientSeat) -> dict[str, Any]:
    """Return the data included in every result about a table."""
    return {
        "player": seat.number,
        "number": seat.table.number,
        "your_turn": seat.acts,
        "done": bool(seat.game.done),
    }


def _worst_actions(record: Record, evaluations: list[Evaluation], evaluator: str) -> Answer:
    """Return each player's mean regret, and the actions with the largest regret."""
    found = summarize_evaluations(record, evaluations, evaluator)
    steps = [game for game, action in replay_steps(record) if action is not None]
    costs = [0.0 if cost is None else cost for cost in found.costs]
    order = sorted((i for i in range(len(steps)) if costs[i] > 0), key=lambda i: -costs[i])[:_MAX_LISTED]
    lines, worst = [f"Evaluator: {evaluator}"], []
    for player, name in enumerate(record.players):
        own = [costs[i] for i, game in enumerate(steps) if game.seat == player and found.costs[i] is not None]
        mean = sum(own) / max(1, len(own))
        lines.append(f"Player {player} ({name}): mean loss of win probability {mean:.1%} in {len(own)} choices")
    for i in order:
        words = {one.id: one.words for one in legal_actions(steps[i])}
        better = found.better[i]
        entry = {
            "number": i,
            "player": steps[i].seat,
            "action": words[record.decisions[i]],
            "regret": round(costs[i], 4),
            "better": None if better is None else words[better],
        }
        worst.append(entry)
        lines.append(
            f"Action {i}, player {entry['player']}: {entry['action']} cost {costs[i]:.1%}; better: {entry['better']}"
        )
    return Answer("\n".join(lines), {"evaluator": evaluator, "worst": worst})
