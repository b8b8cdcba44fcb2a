"""Uploads for analysis: a position, a game record, or a file of records."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

from helsinki_env.data import Node, UserError, choices_text, parse_json, short_repr
from helsinki_env.data.source_span import SourceSpan, span_at, span_in_json
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.spec import spec_by_name
from helsinki_env.records import MAX_LINE, Record, replay
from helsinki_env.utils.markdown import printable
from helsinki_env.utils.yaml_files import list_yaml

_MAX_LINES = 200_000
_PARQUET = b"PAR1"
#: Pattern of the key at the start of error messages for records and positions.
_KEY = re.compile(r"(?:record: |position: )?([A-Za-z_][\w.\[\]]*)(?:, [^:]*)?: ")
#: Pattern of the location at the end of JSON error messages.
_JSON_LOCATION = re.compile(r"\(line (\d+), column (\d+)\)")


class UploadError(UserError):
    """Raised if an upload is invalid; the message names the key."""

    def __init__(self, message: str, span: SourceSpan | None = None) -> None:
        super().__init__(message)
        self.span = span  # location in the text, or None if it is unknown


class UploadedGames(Protocol):
    """Uploaded game records."""

    count: int

    def records(self, first: int, count: int) -> list[Record]:
        """Return at most `count` records, starting at index `first`; raise ValueError if one cannot be replayed."""
        ...


class _Lines:
    """Records as text; `pieces` contains the offset and text of each record."""

    def __init__(self, text: str, pieces: list[tuple[int, str]]) -> None:
        self._text, self._pieces, self.count = text, pieces, len(pieces)

    def records(self, first: int, count: int) -> list[Record]:
        records = []
        for start, piece in self._pieces[first : first + count]:
            try:
                records.append(read_record(piece))
            except ValueError as problem:
                raise self._error(str(problem), start, piece) from None
        return records

    def _error(self, message: str, start: int, piece: str) -> UploadError:
        span = _locate(piece, message)
        if span is not None:
            span = span_at(self._text, start + span.start, start + span.end)
        line = f"line {self._text.count(chr(10), 0, start) + 1}: " if self.count > 1 else ""
        return UploadError(line + message, span)


def parse_upload(content: bytes) -> UploadedGames | BoardGame:
    """Parse the games or the position in an upload.

    An upload is a Parquet file from `helsinki arena`, a text with one record per line, or a single record or position
    as JSON.
    """
    if content.startswith(_PARQUET):
        from helsinki_env.evaluation.arena.parquet import ParquetGameReader

        return ParquetGameReader(content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UploadError(
            "file: found neither text nor Parquet, expected records written by helsinki simulate or arena"
        ) from None
    pieces = _pieces(text)
    if not pieces:
        raise UploadError("text: found nothing, expected a record or a position in JSON")
    if len(pieces) > 1 and _is_json(pieces[0][1]):
        return _Lines(text, pieces)
    try:
        data = _read(text, "text").value
    except UploadError as problem:
        raise UploadError(str(problem), _locate(text, str(problem))) from None
    return read_position(text) if is_position(data) else _Lines(text, [(0, text)])


def _pieces(text: str) -> list[tuple[int, str]]:
    """Return the non-blank lines of a text with their offsets."""
    if text.count("\n") >= _MAX_LINES:
        raise UploadError(f"text: found more than {_MAX_LINES:,} lines, expected fewer")
    pieces, start = [], 0
    for line in text.split("\n"):
        if line.strip():
            pieces.append((start, line))
        start += len(line) + 1
    return pieces


def _is_json(text: str) -> bool:
    try:
        _read(text, "text")
    except UploadError:
        return False
    return True


def read_record(text: str) -> Record:
    """Parse a game record from an untrusted JSON text.

    Raises ValueError if the record is invalid, cannot be replayed, or names a component file that is not bundled.
    """
    data = _read(text, "record")
    _check_components(data.get("config", {}))
    record = Record.from_dict(data)
    replay(record)
    return record


def _read(text: str, what: str) -> Node:
    if len(text) > MAX_LINE:
        raise UploadError(f"{what}: found more than {MAX_LINE:,} characters, expected fewer")
    return parse_json(text, UploadError, what=what)


def is_position(data: Any) -> bool:
    """Return whether JSON data describes a position, which is a mapping with a `game` or `seats` key."""
    return isinstance(data, Mapping) and ("game" in data or "seats" in data)


def read_position(text: str) -> BoardGame:
    """Parse a position from JSON; raise UploadError, with the key and its location in the text, if it is invalid."""
    try:
        data = _read(text, "position")
        spec = spec_by_name(data["game"].text("the name of a game"))
        if spec.from_dict is None or spec.render is None:
            raise UploadError(f"game: found {spec.name}, whose positions cannot be displayed")
        _check_components(data)
        game: BoardGame = spec.from_dict(data.value)
    except ValueError as problem:
        raise UploadError(str(problem), _locate(text, str(problem))) from None
    return game


def _check_components(data: Node) -> None:
    """Raise an error unless the component file is a bundled one, because uploads are untrusted."""
    if isinstance(data.value, Mapping) and data["components"].is_present:
        name, known = data["components"].value, list_yaml("components")
        if not isinstance(name, str) or name not in known:
            raise UploadError(
                f"{data['components'].path}: found {short_repr(name)}, expected {choices_text(known, name)}"
            )


def _locate(text: str, message: str) -> SourceSpan | None:
    """Return the location in a JSON text to which an error message refers."""
    if location := _JSON_LOCATION.search(message):
        line, column = int(location[1]), int(location[2])
        start = sum(len(before) + 1 for before in text.split("\n")[: line - 1]) + column - 1
        return SourceSpan(start, min(start + 1, len(text)), line, column)
    key = _KEY.match(message)
    return span_in_json(text, key[1]) if key and _is_json(text) else None


def upload_summary(upload: UploadedGames | BoardGame, limit: int) -> dict[str, Any]:
    """Summarize an upload as JSON-serializable data, with at most `limit` games."""
    if isinstance(upload, BoardGame):
        return {"kind": "position", "game": upload.spec.name, "players": upload.num_players}
    games = [
        {
            "number": number,
            "game": record.spec.name,
            "players": [printable(name) for name in record.players],
            "scores": None if record.scores is None else list(record.scores),
            "decisions": len(record.decisions),
        }
        for number, record in enumerate(upload.records(0, limit), 1)
    ]
    return {"kind": "records", "count": upload.count, "games": games}


def select_upload(upload: UploadedGames | BoardGame, number: int) -> Record | BoardGame:
    """Return the position, or one of the games by its number (starting at 1)."""
    if isinstance(upload, BoardGame):
        return upload
    if not 1 <= number <= upload.count:
        raise UploadError(f"game: found {number}, expected 1 to {upload.count}")
    return upload.records(number - 1, 1)[0]
