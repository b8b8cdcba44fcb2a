"""Uploads for analysis: detection and validation of a position, a game record, or a file of records."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

from helsinki_env.data import Node, UserError, choices_text, parse_json, short_repr
from helsinki_env.data.source_span import SourceSpan, span_at, span_in_json
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.spec import spec_by_name
from helsinki_env.records import Record, replay
from helsinki_env.records.files import MAX_LINE
from helsinki_env.utils.markdown import printable
from helsinki_env.utils.yaml_files import list_yaml

__all__ = [
    "UploadError",
    "UploadedGames",
    "is_position",
    "parse_upload",
    "read_position",
    "select_upload",
    "upload_summary",
]

_MOST_LINES = 200_000
_PARQUET = b"PAR1"
#: The key at the start of error messages for records and positions.
#: Also the location at the end of JSON reader messages.
_KEY = re.compile(r"(?:record: |position: )?([A-Za-z_][\w.\[\]]*)(?:, [^:]*)?: ")
_JSON_PLACE = re.compile(r"\(line (\d+), column (\d+)\)")


class UploadError(UserError):
    """Raised if an upload is invalid; the message names the key.

    Attributes:
        place: location in the text, or None if unknown.
    """

    def __init__(self, message: str, place: SourceSpan | None = None) -> None:
        super().__init__(message)
        self.place = place


class UploadedGames(Protocol):
    """Uploaded games.

    Attributes:
        count: number of games.
    """

    count: int

    def records(self, first: int, most: int) -> list[Record]:
        """Return records from index `first` (0-based) on; raise ValueError if one cannot be replayed."""
        ...


class _Lines:
    """Records as text, one per line, or a single one over any number of lines.

    Args:
        text: the whole text.
        pieces: for each record, its offset and its text.
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
            place = span_at(self._text, start + place.start, start + place.end)
        line = f"line {self._text.count(chr(10), 0, start) + 1}: " if self.count > 1 else ""
        return UploadError(line + message, place)


def parse_upload(content: bytes) -> UploadedGames | BoardGame:
    """Return the games or the position in a file or text.

    Args:
        content: a Parquet file of ``helsinki arena``, or text: records, one per line, or the JSON of one record or
            position.

    Raises:
        UploadError: if the content is none of these.
    """
    if content.startswith(_PARQUET):
        from helsinki_env.evaluation.arena.parquet import ParquetGameReader

        return ParquetGameReader(content)
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
    """Return the non-blank lines of a text with their offsets."""
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


def _read(text: str, what: str) -> Node:
    if len(text) > MAX_LINE:
        raise UploadError(f"{what}: found more than {MAX_LINE:,} characters, expected fewer")
    return parse_json(text, UploadError, what=what)


def _parsed(text: str) -> Any:
    try:
        return _read(text, "text").value
    except UploadError as problem:
        raise UploadError(str(problem), _place(text, str(problem))) from None


def is_position(data: Any) -> bool:
    """Return whether plain data describes a position: a mapping with the key `game` or `seats`."""
    return isinstance(data, Mapping) and ("game" in data or "seats" in data)


def read_position(text: str) -> BoardGame:
    """Return the game in the JSON of a position.

    Raises:
        UploadError: naming the key and its location in the text.
    """
    try:
        data = _read(text, "position")
        spec = spec_by_name(data["game"].text("the name of a game"))
        if spec.from_dict is None or spec.render is None:
            raise UploadError(f"game: {spec.name} has no positions that can be shown")
        _check_components(data)
        game: BoardGame = spec.from_dict(data.value)
    except ValueError as problem:
        raise UploadError(str(problem), _place(text, str(problem))) from None
    return game


def _check_components(data: Node) -> None:
    """Allow only bundled component files, because uploads are untrusted."""
    if isinstance(data.value, Mapping) and data["components"].is_present:
        name, known = data["components"].value, list_yaml("components")
        if not isinstance(name, str) or name not in known:
            raise UploadError(
                f"{data['components'].path}: found {short_repr(name)}, expected {choices_text(known, name)}"
            )


def _place(text: str, message: str) -> SourceSpan | None:
    """Return the location in a JSON text that an error message refers to."""
    if broken := _JSON_PLACE.search(message):
        line, column = int(broken[1]), int(broken[2])
        start = sum(len(before) + 1 for before in text.split("\n")[: line - 1]) + column - 1
        return SourceSpan(start, min(start + 1, len(text)), line, column)
    key = _KEY.match(message)
    return span_in_json(text, key[1]) if key and _is_json(text) else None


def upload_summary(found: UploadedGames | BoardGame, most: int) -> dict[str, Any]:
    """Return the contents of an upload as plain data.

    Args:
        found: the result of `parse_upload`.
        most: maximum number of games to list.

    Raises:
        ValueError: if a record is invalid.
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


def select_upload(found: UploadedGames | BoardGame, number: int) -> Record | BoardGame:
    """Return the position, or one of the games of an upload.

    Args:
        found: the result of `parse_upload`.
        number: number of the game, from 1.

    Raises:
        ValueError: if the game does not exist or cannot be replayed.
    """
    if isinstance(found, BoardGame):
        return found
    if not 1 <= number <= found.count:
        raise UploadError(f"game: found {number}, expected 1 to {found.count}")
    return found.records(number - 1, 1)[0]
