"""Docstrings as mkdocstrings reads them: sections that Google's style does not know are brought to it."""

from __future__ import annotations

import re
from typing import Any

import griffe


class Sections(griffe.Extension):
    """Name the sections of docstrings as Google's style names them."""

    def on_object(self, *, obj: griffe.Object, **further: Any) -> None:
        """Bring the docstring of an object to the style."""
        if obj.docstring is not None:
            obj.docstring.value = name_sections(obj.docstring.value)


def name_sections(text: str) -> str:
    """Return a docstring with paragraphs of their own for what comes out and where it is specified."""
    text = re.sub(r"(?m)^Example:$", "Examples:", text)
    return re.sub(r"(?m)^(Output and errors|Output|Specification): ", r"\n**\1**: ", text)
