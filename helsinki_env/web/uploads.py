"""What somebody brings to be taken apart: a position, a record, or a file of many; checked, and told apart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

from helsinki_env.data import Entry, one_of, parse_json, shown
from helsinki_env.data.places import Place, place_in_json, place_of
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.spec import spec_named
from helsinki_env.markdown import printable
from helsinki_env.play.record import Record, replay
from helsinki_env.play.record.files import MOST_LINE
from helsinki_env.yaml_files import list_yaml

__all__ = ["Games", "UploadError", "chosen", "games_in", "is_position", "read_position", "told"]

_MOST_LINES = 200_000
_PARQUET = b"PAR1"
#: The key with which messages of records and positions begin, and the place that those of the JSON reader end with.
_KEY = re.compile(r"(?:record: |position: )?([A-Za-z_][\w.\[\]]*)(?:, [^:]*)?: ")
_JSON_PLACE = re.compile(r"\(line (\d+), column (\d+)\)")


class UploadError(ValueError):
    """What was brought cannot be used; the message names the key.

    Attributes:
        place: where in the text that is, None if that is not known.
    """

    def __init__(self, message: str, place: Place | None = None) -> None:
        super().__init__(message)
        self.place = place


class Games(Protocol):
    """Games that were brought.

    Attributes:
        count: how many.
    """

    count: int

    def records(self, first: int, most: int) -> list[Record]:
        """Return records from number `first`, from 0, on; raises ValueError for those that cannot be replayed."""
        ...


class _Lines:
    """Records as text, one a line; or a single one, over as many lines as it likes.

    Args:
        text: the whole text.
        pieces: of the text, one for each record: where it begins, and the record.
    """

    def __init__(self, text: str, pieces: list[tuple[int, str]]) -> None:
        self._text, self._pieces, self.count = text, pieces, len(pieces)

    def records(self, first: int, most: int) -> list[Record]:
        found = []
        for start, piece in self._pieces[first : first + most]:
            try:
                data = _read(piece, "record")
                _check_components(data.get("config", {}))
                record = Record.from_dict(data)
                replay(record)
                found.append(record)
            except ValueError as problem:
                raise self._complaint(str(problem), start, piece) from None
        return found

    def _complaint(self, message: str, start: int, piece: str) -> UploadError:
        place = _place(piece, message)
        if place is not None:
            place = place_of(self._text, start + place.start, start + place.end)
        line = f"line {self._text.count(chr(10), 0, start) + 1}: " if self.count > 1 else ""
        return UploadError(line + message, place)


def games_in(content: bytes) -> Games | BoardGame:
    """Return the games in a file or a text, or the position in it.

    Args:
        content: a Parquet file of ``helsinki arena``, or text: records, one a line, or the JSON of one record or
            position.

    Raises:
        UploadError: if it is nothing of that.
    """
    if content.startswith(_PARQUET):
        from agents.arena.alone import GamesAlone

        return GamesAlone(content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UploadError(
            "file: found neither text nor Parquet, expected records as helsinki simulate and arena write them"
        ) from None
    pieces = _pieces(text)
    if not pieces:
        raise UploadError("text: found nothing, expected a record or a position in JSON")
    if len(pieces) > 1 and _is_json(pieces[0][1]):
        return _Lines(text, pieces)
    return read_position(text) if is_position(_parsed(text)) else _Lines(text, [(0, text)])


def _pieces(text: str) -> list[tuple[int, str]]:
    """Return the lines of a text that are not blank, with where each begins."""
    if text.count("\n") >= _MOST_LINES:
        raise UploadError(f"text: found more than {_MOST_LINES:,} lines, expected fewer")
    found, start = [], 0
    for line in text.split("\n"):
        if line.strip():
            found.append((start, line))
        start += len(line) + 1
    return found


def _is_json(text: str) -> bool:
    try:
        _read(text, "text")
    except UploadError:
        return False
    return True


def _read(text: str, what: str) -> Entry:
    if len(text) > MOST_LINE:
        raise UploadError(f"{what}: found more than {MOST_LINE:,} characters, expected fewer")
    return parse_json(text, UploadError, what=what)


def _parsed(text: str) -> Any:
    try:
        return _read(text, "text").value
    except UploadError as problem:
        raise UploadError(str(problem), _place(text, str(problem))) from None


def is_position(data: Any) -> bool:
    """Return whether plain data means a position: records name their game by a key of that name."""
    return isinstance(data, Mapping) and ("game" in data or "seats" in data)


def read_position(text: str) -> BoardGame:
    """Return the game in the JSON of a position.

    Raises:
        UploadError: naming the key, and where it stands in the text.
    """
    try:
        data = _read(text, "position")
        spec = spec_named(data["game"].text("the name of a game"))
        if spec.from_dict is None or spec.render is None:
            raise UploadError(f"game: {spec.name} has no positions that can be shown")
        _check_components(data)
        game: BoardGame = spec.from_dict(data.value)
    except ValueError as problem:
        raise UploadError(str(problem), _place(text, str(problem))) from None
    return game


def _check_components(data: Entry) -> None:
    """See to it that no file is read but those that are shipped: what is brought may be from anybody."""
    if isinstance(data.value, Mapping) and data["components"].given:
        name, known = data["components"].value, list_yaml("components")
        if not isinstance(name, str) or name not in known:
            raise UploadError(f"{data['components'].path}: found {shown(name)}, expected {one_of(known, name)}")


def _place(text: str, message: str) -> Place | None:
    """Return the place in a text in JSON that a message is about."""
    if broken := _JSON_PLACE.search(message):
        line, column = int(broken[1]), int(broken[2])
        start = sum(len(before) + 1 for before in text.split("\n")[: line - 1]) + column - 1
        return Place(start, min(start + 1, len(text)), line, column)
    key = _KEY.match(message)
    return place_in_json(text, key[1]) if key and _is_json(text) else None


def told(found: Games | BoardGame, most: int) -> dict[str, Any]:
    """Return what is in an upload as plain data.

    Args:
        found: what `games_in` gave.
        most: how many games are listed at most.

    Raises:
        ValueError: for records that cannot be used.
    """
    if isinstance(found, BoardGame):
        return {"kind": "position", "game": found.spec.name, "players": found.num_players}
    games = [
        {
            "number": number,
            "game": record.spec.name,
            "players": [printable(name) for name in record.players],
            "scores": None if record.scores is None else list(record.scores),
            "decisions": len(record.decisions),
        }
        for number, record in enumerate(found.records(0, most), 1)
    ]
    return {"kind": "records", "count": found.count, "games": games}


def chosen(found: Games | BoardGame, number: int) -> Record | BoardGame:
    """Return the position, or one of the games of an upload.

    Args:
        found: what `games_in` gave.
        number: of the game, from 1.

    Raises:
        ValueError: if there is no such game, or it cannot be played as it says.
    """
    if isinstance(found, BoardGame):
        return found
    if not 1 <= number <= found.count:
        raise UploadError(f"game: found {number}, expected 1 to {found.count}")
    return found.records(number - 1, 1)[0]
