"""What the site needs beyond the folder docs/: pages of the repository's root, the notebooks, files that pages link to.

Links are written so that they work in a clone; here those that leave docs/ are led to where the same file is on the
site. A notebook becomes a page of Markdown, with the outputs that are committed: nothing is executed, and its links are
checked like those of any other page.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
#: Pages of the root, which are pages of the site.
PAGES = ("CHANGELOG.md", "CONTRIBUTING.md")
#: The target of a Markdown link, without its anchor.
LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)")
#: A link to source code outside docs/, which the site does not have: its text stays.
CODE_LINK = re.compile(r"\[(`[^`]+`)\]\((?:\.\./)*(?:helsinki_env|agents|training|tests)/[^)\s]+\.py\)")


@event_priority(100)
def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what lies outside docs/."""
    for name in PAGES:
        files.append(File.generated(config, name, content=_links(name, (ROOT / name).read_text(encoding="utf-8"))))
    readme = (ROOT / "notebooks" / "README.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "notebooks/index.md", content=_links("notebooks/README.md", readme)))
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        text = _links(f"notebooks/{path.name}", _markdown(nbformat.read(path, as_version=4)))
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=text))
    for path in sorted((ROOT / "configs").rglob("*.yaml")):
        name = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead the links of pages in docs/ to what lies outside of it."""
    if page.file.abs_src_path is None:  # made above
        return markdown
    return _links(f"docs/{page.file.src_uri}", markdown)


def _links(page: str, text: str) -> str:
    """Return a page with its links as they are on the site; the page is named as in the repository."""
    here = posixpath.dirname(_on_site(page))

    def lead(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), match[0]))
        return posixpath.relpath(_on_site(target), here or ".")

    text = CODE_LINK.sub(r"\1", text)
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else LINK.sub(lead, part) for part in parts)


def _on_site(path: str) -> str:
    """Return where a file of the repository is on the site."""
    path = path.removeprefix("docs/")
    if path == "README.md":
        return "index.md"
    if path == "notebooks/README.md":
        return "notebooks/index.md"
    return re.sub(r"\.ipynb$", ".md", path)


def _markdown(notebook: Any) -> str:
    """Return a notebook as Markdown, with its outputs."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        parts += [_output(output) for output in cell.outputs]
    return "\n\n".join(parts) + "\n"


def _output(output: Any) -> str:
    """Return what a cell put out: pictures as they are, everything else as text."""
    if output.output_type == "stream":
        return _shown(output.text)
    if "image/svg+xml" in output.data:
        # one line, without what only stands in a file: Markdown then leaves it alone
        picture = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>|\n\s*", " ", output.data["image/svg+xml"], flags=re.DOTALL)
        return f'<div class="picture">{picture.strip()}</div>'
    return _shown(output.data["text/plain"])


def _shown(text: str) -> str:
    return f"```{{.text .output}}\n{text.rstrip()}\n```"
