"""The sentences of the project are plain technical English: a word list, and the lengths of sentences and paragraphs.

The list is a floor: a text can pass and still read as translated. Rates are per 1,000 words.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
#: Words and phrases for which the field has others, and relative clauses that begin a sentence.
HOME_MADE = re.compile(
    r"\b(?:anew|whoever|whatever|likewise|shall|tells? of|told|(?:is|are) (?:said|refused)|beside|so many|by itself"
    r"|stands? (?:in|beside|on|for|behind)|go(?:es|ne)? on|(?:no|some|any|every)body|made up|mend(?:s|ed)?"
    r"|kept|yardsticks?|verdicts?"
    r"|how-manyth|belongs? into|at once|in sight of|second thoughts|asked of|mishaps?"
    r"|over their shoulder|what it thinks|redeals?|suspects?|as it were|not a few|of its own accord"
    r"|up to here|the usual one|sayings?|nowhere|somewhere)\b"
    r"|(?:^|[.!?]\s+)(?:Who|Whoever|What|Whatever)\s(?!is\b|are\b|does\b|do\b|if\b|can\b|you\b|a\b)[a-z]+",
    re.IGNORECASE | re.MULTILINE,
)
#: Pages that commands write.
GENERATED = re.compile(r"(ladder|abilities|actions|observation).*\.md")
FIGURE = re.compile(r"\d\s+%|\bpercent\b|\bper cent\b")


def prose(text: str) -> str:
    """The text without code: doctests, literals, fenced blocks, tables, addresses."""
    text = re.sub(r"(?ms)^\s*```.*?^\s*```", "", text)
    text = re.sub(r"(?m)^\s*(>>>|\.\.\. ).*(\n(?!\s*$)(?!\s*>>>).*)*", "", text)
    text = re.sub(r"(?m)^\s*\|.*$", "", text)
    return re.sub(r"``[^`]*``|`[^`]*`|https?://\S+", "x", text)


def python_texts(path: Path) -> Iterator[str]:
    """Docstrings, comments, and string constants that are sentences."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") > 1:
            yield prose(node.value)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not re.match(r"#\s*(noqa|type:|fmt:|pragma)", token.string):
            yield token.string.lstrip("#: ")


def markdown_texts(path: Path) -> Iterator[str]:
    """A page without the sections that commands write and without the targets of links."""
    text = re.sub(r"<!-- written:.*?<!-- end: .*?-->", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    yield prose(re.sub(r"\]\([^)]*\)", "]", text))


def notebook_texts(path: Path) -> Iterator[str]:
    """The text cells of a notebook."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            yield prose(re.sub(r"\]\([^)]*\)", "]", "".join(cell["source"])))


def comments(path: Path) -> Iterator[str]:
    """Comments of a YAML file without commands; those in successive lines are one text."""
    text = path.read_text(encoding="utf-8")
    for block in re.findall(r"(?m)^ *#.*(?:\n *#.*)*|(?<=\s)# .*", text):
        yield prose(re.sub(r"(?m)^ *#+ *(helsinki .*)?", "", block))


def page_texts(path: Path) -> Iterator[str]:
    """Comments and strings of scripts and pages."""
    source = path.read_text(encoding="utf-8")
    yield from re.findall(r"//[^\n]*|/\*.*?\*/|\"[A-Z][^\"\n]{8,}\"|`[A-Z][^`\n]{8,}`", source, re.DOTALL)


@cache
def texts_of(area: str) -> dict[str, list[str]]:
    if area == "code":
        folders = ("helsinki_env", "agents", "training", "benchmarks")
        return {str(p.relative_to(ROOT)): list(python_texts(p)) for f in folders for p in (ROOT / f).rglob("*.py")}
    if area == "docs":
        written = [*ROOT.glob("*.md"), *(ROOT / "notebooks").glob("*.md")]
        for folder in (".", "reference", "notes"):
            written += (ROOT / "docs" / folder).glob("*.md")
        return {str(p.relative_to(ROOT)): list(markdown_texts(p)) for p in written if not GENERATED.match(p.name)}
    if area == "other":
        kinds = {".ci/**/*.md": markdown_texts, "llms.txt": markdown_texts, "notebooks/*.ipynb": notebook_texts}
        kinds |= {"configs/**/*.yaml": comments, "mkdocs.yml": comments}
        found = {pattern: list(ROOT.glob(pattern)) for pattern in kinds}
        assert all(found.values()), found
        return {str(p.relative_to(ROOT)): list(kinds[pattern](p)) for pattern in kinds for p in found[pattern]}
    pages = [p for p in (ROOT / "helsinki_env").rglob("*") if p.suffix in (".js", ".html")]
    return {str(p.relative_to(ROOT)): list(page_texts(p)) for p in pages}


def words_of(text: str) -> int:
    return len(re.findall(r"[A-Za-z]{2,}", text))


def sentences(text: str) -> list[str]:
    parts = re.split(r"(?<=[.!?:;])\s+(?=[A-Z`x])|\n\s*\n|\n\s*(?=[-*|#]|\w+:\s|\d+\. )", text)
    return [part for part in parts if part.strip()]


@pytest.mark.parametrize("area", ["code", "docs", "pages", "other"])
def test_home_made_words_are_rare(area: str) -> None:
    texts = texts_of(area)
    total = sum(words_of(text) for found in texts.values() for text in found)
    hits = [
        f"{name}: ...{text[max(0, hit.start() - 40) : hit.end() + 20]!r}"
        for name, found in texts.items()
        for text in found
        for hit in HOME_MADE.finditer(text)
    ]
    assert 1000 * len(hits) / total <= 0.5, f"{len(hits)} in {total} words:\n" + "\n".join(hits[:50])


@pytest.mark.parametrize("area", ["code", "docs", "pages", "other"])
def test_sentences_are_short_and_figures_have_one_form(area: str) -> None:
    found = [(name, s) for name, texts in texts_of(area).items() for text in texts for s in sentences(text)]
    long = sorted(((words_of(s), name, s) for name, s in found if words_of(s) > 25), reverse=True)
    assert len(long) / len(found) <= 0.02, "\n".join(f"{n} words, {name}: {s[:100]!r}" for n, name, s in long[:30])
    assert [(name, s) for name, s in found if FIGURE.search(s)] == []


def test_the_documentation_is_short() -> None:
    """Hand-written words without code, tables and unlisted notes: a reader finds an answer sooner in fewer pages."""
    pages = {name: found for name, found in texts_of("docs").items() if "notes" not in Path(name).parts}
    assert sum(words_of(text) for found in pages.values() for text in found) <= 26_000


def test_a_planted_sentence_is_found() -> None:
    assert HOME_MADE.search("The run is gone on with by whoever comes.")
    assert HOME_MADE.search("It ended. What needs an extra says so.")
    assert not HOME_MADE.search("The command resumes the run. What is a seat?")
    assert FIGURE.search("won 88 % of games")
    assert not FIGURE.search("won 88% of games")
