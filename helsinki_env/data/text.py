"""Read text files of bounded size; the maximum nesting depth."""

from __future__ import annotations

from pathlib import Path

from helsinki_env.data.messages import shorten

MOST_DEPTH = 40
"""Maximum nesting of lists and mappings. Files of the project are nested six deep."""


def text_of(path: Path, most: int, error: type[ValueError]) -> str:
    """Return the text of a file of at most `most` bytes."""
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise error(f"{shorten(path)}: cannot be read: no text in UTF-8 ({problem.reason})") from None
    except (OSError, ValueError) as problem:  # ValueError: an invalid file name
        raise error(f"{shorten(path)}: cannot be read: {getattr(problem, 'strerror', None) or problem}") from None
    if len(content) > most:
        raise error(f"{shorten(path)}: found more than {most:,} bytes, expected a smaller file")
    return text
