"""The notebooks of the examples: ``python -m tests.notebooks`` runs them and stores what their cells show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "examples" / "notebooks"
FILES = tuple(sorted(FOLDER.glob("*.ipynb")))


def run(file: Path, folder: Path) -> Any:
    """Run a notebook in a folder, and return it with what its cells show. Folders of temporary files have one name.

    Raises `nbclient.exceptions.CellExecutionError` if a cell fails.
    """
    notebook = nbformat.read(file, as_version=4)
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, resources=resources, kernel_name="python3", timeout=300, record_timing=False).execute()
    for output in (output for cell in notebook.cells for output in cell.get("outputs", ())):
        if "text" in output:
            output["text"] = re.sub(r"file:///\S*/", "file:///folder/", output["text"])
    return notebook


def shown_texts(notebook: Any) -> Iterator[tuple[str, str]]:
    """Yield each cell of code, and the text that it shows."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            texts = (output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs)
            yield cell.source, "".join(texts)


def main() -> None:
    """Run all notebooks, and store what they show in their files."""
    for file in FILES:
        notebook = run(file, file.parent)
        for cell in notebook.cells:
            cell.metadata.clear()
        notebook.metadata.pop("language_info", None)  # it names the version of Python
        nbformat.write(notebook, file)


if __name__ == "__main__":
    main()
