"""Write the report of a study as a self-contained HTML page, as Markdown, and all numbers as JSON.

The report is a deterministic function of the data (`helsinki_env.evaluation.balance.helsinki.results`). The JSON file
holds all of it, so the report can be rebuilt without the games.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from helsinki_env.evaluation.balance.helsinki.figures import study_figures
from helsinki_env.evaluation.balance.helsinki.report_text import Data, chapters
from helsinki_env.utils.markdown import all_printable, escape_markdown, escape_outside_code, link, table_row

__all__ = ["study_report_files"]

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:68rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a}"
    "h1,h2{line-height:1.2}table{border-collapse:collapse;font-size:.85rem;margin:1rem 0}"
    "th,td{padding:.2rem .6rem;border-bottom:1px solid #ddd;text-align:right}"
    "th:first-child,td:first-child{text-align:left}"
    "figure{margin:1.5rem 0}figure svg{max-width:100%;height:auto}figcaption{font-size:.85rem;color:#444}"
    ".answer{background:#f4f6f8;padding:.6rem 1.2rem;border-left:4px solid #0072b2}details{margin:1rem 0}"
)


def study_report_files(data: Data, name: str = "balance") -> dict[Path, bytes]:
    """Return the contents of the report files by relative path.

    Args:
        data: results from `helsinki_env.evaluation.balance.helsinki.results`.
        name: prefix of the file names.
    """
    shown = all_printable(data)
    drawn = study_figures(shown)
    sections = list(chapters(shown, name))
    return {
        Path(f"{name}.html"): _html(sections, drawn, shown).encode(),
        Path(f"{name}.md"): _markdown(sections, drawn, name).encode(),
        Path(f"{name}.json"): (json.dumps(data, indent=1, allow_nan=False) + "\n").encode(),
        **{Path("images", f"{name}-{figure}.svg"): picture for figure, (_, picture) in drawn.items()},
    }


def _markdown(sections: Sequence[tuple[str, list[Any]]], drawn: Mapping[str, tuple[str, bytes]], name: str) -> str:
    lines: list[str] = []
    for number, (title, content) in enumerate(sections):
        lines += [f"{'#' if number == 0 else '##'} {title}", ""]
        for item in content:
            if isinstance(item, str) and item.startswith("@"):
                if item[1:] in drawn:
                    caption = drawn[item[1:]][0]
                    lines += [
                        f"!{link(title, f'images/{name}-{item[1:]}.svg')}",
                        "",
                        f"*{escape_markdown(caption)}*",
                        "",
                    ]
            elif isinstance(item, str):
                lines += [escape_outside_code(item), ""]
            elif item[0] in ("answer", "list"):
                lines += [*(f"- {escape_outside_code(text)}" for text in item[1:]), ""]
            else:
                header, *rows = (table_row([*map(escape_markdown, cells)]) for cells in (item[0], *item[1]))
                lines += [header, table_row(["---"] * len(item[0])), *rows, ""]
    return "\n".join(lines)


def _html(sections: Sequence[tuple[str, list[Any]]], drawn: Mapping[str, tuple[str, bytes]], data: Data) -> str:
    body: list[str] = []
    for number, (title, content) in enumerate(sections):
        level = 1 if number == 0 else 2
        body.append(f"<h{level}>{escape(title)}</h{level}>")
        for item in content:
            if isinstance(item, str) and item.startswith("@"):
                if item[1:] in drawn:
                    caption, picture = drawn[item[1:]]
                    body.append(
                        f"<figure>{_inline(picture, item[1:])}<figcaption>{escape(caption)}</figcaption></figure>"
                    )
            elif isinstance(item, str):
                body.append("<p>" + re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(item)) + "</p>")
            elif item[0] in ("answer", "list"):
                kind = ' class="answer"' if item[0] == "answer" else ""
                body.append(f"<div{kind}><ul>{''.join(f'<li>{escape(text)}</li>' for text in item[1:])}</ul></div>")
            else:
                header, rows = item
                head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
                lines = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
                body.append(
                    f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{line}</tr>' for line in lines)}"
                    "</tbody></table>"
                )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>Balance of the action board: {escape(data['study']['name'])}</title><style>{_STYLE}</style></head>\n"
        f"<body>\n{chr(10).join(body)}\n</body></html>\n"
    )


def _inline(picture: bytes, name: str) -> str:
    """Return an SVG for embedding in a page: without its header, and with unique ids."""
    drawing = picture.decode()
    drawing = drawing[drawing.index("<svg") :]
    drawing = re.sub(r"<metadata>.*?</metadata>", "", drawing, flags=re.DOTALL)
    drawing = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', drawing)
    drawing = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", drawing)
    return re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', drawing).strip()
