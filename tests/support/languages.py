"""The catalogues of the browser pages, and the texts that they must contain."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import helsinki_env

__all__ = [
    "CODES",
    "PACKAGE",
    "Translator",
    "catalogue",
    "page_texts",
    "python_texts",
    "script_texts",
    "segments",
]

PACKAGE = Path(helsinki_env.__file__).parent
CODES = ("de", "fr", "nl")
_WEB = PACKAGE / "web"
_PLACEHOLDER = re.compile(r"\{(\w+)(?:\|\w+)?\}")
_ATTRIBUTES = ("aria-label", "title", "placeholder", "label")


@cache
def catalogue(code: str) -> dict[str, str]:
    found: dict[str, str] = json.loads((_WEB / "static" / "languages" / f"{code}.json").read_text(encoding="utf-8"))
    return found


def segments(text: str) -> list[str]:
    """The parts of a text between its placeholders."""
    return re.split(r"\{[^{}]*\}", text)


# the texts of scripts and pages


def _closing(source: str, start: int) -> int:
    """The end of the string or template literal at a position."""
    quote, at = source[start], start + 1
    while source[at] != quote:
        if quote == "`" and source.startswith("${", at):
            depth, at = 1, at + 2
            while depth:
                if source[at] in "`\"'":
                    at = _closing(source, at)
                else:
                    depth += (source[at] == "{") - (source[at] == "}")
                    at += 1
        else:
            at += 2 if source[at] == "\\" else 1
    return at + 1


def _as_key(literal: str) -> str:
    """A literal with `{}` for each expression."""
    body, found, at = literal[1:-1], "", 0
    while at < len(body):
        if literal[0] == "`" and body.startswith("${", at):
            depth, at = 1, at + 2
            while depth:
                if body[at] in "`\"'":
                    at = _closing(body, at)
                else:
                    depth += (body[at] == "{") - (body[at] == "}")
                    at += 1
            found += "{}"
        else:
            found += body[at]
            at += 1
    return found


def script_texts() -> Iterator[str]:
    """The arguments of `t` in the scripts; `{}` stands for a value."""
    folders = (_WEB / "static", PACKAGE / "records" / "viewer")
    for path in sorted(path for folder in folders for path in folder.glob("*.js")):
        source = path.read_text(encoding="utf-8")
        for match in re.finditer(r"(?<![\w.#])t\((?=[\"'`])", source):
            yield _as_key(source[match.end() : _closing(source, match.end())])
        yield from re.findall(r'^export const [A-Z_]+ =\s+"(.+)";$', source, re.MULTILINE)
        for noun in re.findall(r'counted\(.*?, "([a-z ]+)"\)', source):
            yield from (f"1 {noun}", f"{{}} {noun}s")


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in _ATTRIBUTES and value]

    def handle_data(self, data: str) -> None:
        self.found.append(" ".join(data.split()))


def page_texts(html: Iterable[str]) -> Iterator[str]:
    """The texts and the readable attributes of pages."""
    for text in html:
        parser = _Texts()
        parser.feed(text)
        yield from (one for one in parser.found if re.search("[A-Za-z]{2}", one))


def python_texts() -> Iterator[str]:
    """All string constants of the games and of the server; `{}` stands for a value."""
    patterns = ("web/*.py", "games/**/*.py", "agents/*/__init__.py", "engine/ui_actions.py", "data/node.py")
    for path in sorted(path for pattern in patterns for path in PACKAGE.glob(pattern)):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                yield "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield " ".join(node.value.split()) if "\n" in node.value else node.value


# translation, as in helsinki_env/web/static/language.js


def _value_pattern(name: str) -> str:
    if len(name) == 1:
        return r"([-+−]?\d[\d.,\s]*)"
    return "([a-z]+)" if name == "color" else r"((?:(?![.?!…] ).)+?)"


class Translator:
    """The translation of texts by a catalogue; `missing` has the parts that it does not contain."""

    def __init__(self, code: str, names: Iterable[str] = ()) -> None:
        self._catalogue, self._names = catalogue(code), frozenset(names)
        self.missing: set[str] = set()
        keys = [key for key in self._catalogue if "{" in key]
        keys.sort(key=lambda key: -len(re.sub(r"\{\w\w+\}", "", key)))
        self._patterns = [(self._pattern(key), _PLACEHOLDER.findall(key), self._catalogue[key]) for key in keys]

    @staticmethod
    def _pattern(key: str) -> re.Pattern[str]:
        parts = re.split(r"\{(\w+)\}", key)
        kinds = map(_value_pattern, parts[1::2])
        fixed = [re.escape(part) for part in parts[::2]]
        return re.compile("".join(a + b for a, b in zip(fixed, (*kinds, ""), strict=True)), re.DOTALL)

    def translate(self, text: str) -> str:
        """The translation of a text."""
        found = self._whole(text)
        if found is None and re.match(r"[A-Z][^A-Z]", text):
            found = self._whole(text[0].lower() + text[1:])
            found = found and found[0].upper() + found[1:]
        return self._parts(text) if found is None else found

    def _whole(self, text: str) -> str | None:
        if text in self._catalogue:
            return self._catalogue[text]
        if text.endswith("…"):  # cut off in the picture
            for key, translation in self._catalogue.items():
                if key.startswith(text[:-1]):
                    return translation
        for pattern, names, translation in self._patterns:
            if match := pattern.fullmatch(text):
                return self._filled(translation, dict(zip(names, match.groups(), strict=True)))
        return None

    def _filled(self, translation: str, values: dict[str, str]) -> str:
        def value(one: re.Match[str]) -> str:
            return self._catalogue.get(f"{values[one[1]]}|{one[2]}") or self.translate(values[one[1]])

        return re.sub(r"\{(\w+)(?:\|(\w+))?\}", value, translation)

    def _parts(self, text: str) -> str:
        for end, joint in ((r"(?<=[.?!…]) +", " "), (r"(?s): (.*)", ": "), ("; ", "; "), (", ", ", ")):
            parts = [part for part in re.split(end, text) if part]
            if len(parts) > 1:
                return joint.join(map(self.translate, parts))
            if joint == ": " and text.endswith("."):
                return f"{self.translate(text[:-1])}."
        if re.search("[A-Za-z]{2}", text) and text not in self._names:
            self.missing.add(text)
        return text
