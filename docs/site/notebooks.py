"""Pages of notebooks: their text, their programs, and what their cells show."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def write_notebook_page(notebook: str) -> str:
    """Return the page of a notebook, by the JSON of its file."""
    lines: list[str] = []
    for cell in json.loads(notebook)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            lines += [source, ""]
        else:
            lines += ["```python", source, "```", ""]
            for output in cell["outputs"]:
                lines += write_output(output)
    return "\n".join(lines)


def write_output(output: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of what a cell shows: as HTML, if it has that, else as text."""
    if output["output_type"] == "error":
        raise ValueError(f"a cell has failed: {output['ename']}")
    data: Mapping[str, str | Sequence[str]] = output.get("data", {"text/plain": output.get("text", "")})
    if html := "".join(data.get("text/html", "")):
        yield f"<div>{''.join(html.splitlines())}</div>"
    else:
        yield from ("```text", "".join(data["text/plain"]).rstrip("\n"), "```")
    yield ""
