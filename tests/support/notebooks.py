"""Run the notebooks and store their own outputs only.

    python -m tests.support.notebooks [NAME ...]

runs all or some of them from top to bottom and rewrites their outputs.

    python -m tests.support.notebooks --modules FOLDER

writes their code as the package `FOLDER/notebook_cells`, whose names and arguments mypy checks without running it.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

__all__ = ["FOLDER", "NOTEBOOKS", "read", "run", "texts"]

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

Notebook = Any
#: What the first game on a machine says while it waits for the compiler.
_COMPILING = re.compile(r"helsinki-env: compiling .*\n?")


def read(path: Path) -> Notebook:
    """Return a notebook as it is on disk."""
    import nbformat  # slow to import

    return nbformat.read(path, as_version=4)


def run(path: Path, folder: Path, seconds: int = 500) -> Notebook:
    """Return a notebook with the outputs of running it, in a process of its own and in a folder.

    Raises:
        nbclient.exceptions.CellExecutionError: if a cell raises; the message shows the cell and the error.
    """
    from nbclient import NotebookClient

    notebook = read(path)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, timeout=seconds, record_timing=False, resources=resources)
    client.execute()
    notebook.metadata["language_info"] = {"name": "python"}  # the kernel told its version
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.metadata.pop("execution", None)
            cell.outputs = _kept(cell.outputs)
    return notebook


def _kept(outputs: list[Any]) -> list[Any]:
    """Join the pieces of each stream, which come as it happens, and leave out what the compiler says."""
    kept: list[Any] = []
    for output in outputs:
        if output.output_type == "stream":
            output.text = _COMPILING.sub("", output.text)
            if not output.text:
                continue
            before = next((old for old in kept if old.output_type == "stream" and old.name == output.name), None)
            if before is not None:
                before.text += output.text
                continue
        kept.append(output)
    return kept


def texts(notebook: Notebook) -> list[tuple[str, str]]:
    """Return everything that the cells put out as (kind, text), in order."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.output_type == "stream":
                found.append((output.name, output.text))
            else:
                found += [(kind, str(text)) for kind, text in sorted(output.get("data", {}).items())]
    return found


def write_modules(folder: Path) -> None:
    """Write the code of each notebook as a module of the package `notebook_cells`."""
    package = folder / "notebook_cells"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    for path in NOTEBOOKS:
        code = [cell.source for cell in read(path).cells if cell.cell_type == "code"]
        (package / f"notebook_{path.stem}.py").write_text("\n\n".join(code) + "\n", encoding="utf-8")


def main(names: list[str]) -> None:
    """Run notebooks and rewrite their outputs, or write their code as modules."""
    import nbformat

    if names[:1] == ["--modules"]:
        write_modules(Path(names[1]))
        return
    for path in [FOLDER / name for name in names] or NOTEBOOKS:
        with tempfile.TemporaryDirectory() as folder:
            notebook = run(path, Path(folder))
        nbformat.validate(notebook)
        path.write_text(nbformat.writes(notebook, indent=1) + "\n", encoding="utf-8")
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    main(sys.argv[1:])
