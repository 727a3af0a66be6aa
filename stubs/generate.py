"""The stubs of the protobuf classes that stand in signatures of the library, such as that of ``Plan.to_proto``.

The package that brings the classes ships their stubs, too, but does not say so (it has no ``py.typed``), so that a type
checker takes every message for ``Any``. The same stubs in a package of their own are seen. They are installed with the
library as ``substrait-stubs``; its ``py.typed`` says ``partial``, so that what else is in the namespace ``substrait``
is left as it is.

    python stubs/generate.py
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import files
from pathlib import Path, PurePosixPath

SOURCE = "substrait-protobuf"
TARGET = Path(__file__).parent / "substrait"
PACKAGE = PurePosixPath("substrait")


def stubs() -> Mapping[Path, str]:
    """The text of each file of the stub package, by its place below `TARGET`."""
    texts = {Path("py.typed"): "partial\n"}
    for file in files(SOURCE) or ():
        if file.suffix == ".pyi":
            texts[Path(file.relative_to(PACKAGE))] = file.read_text(encoding="utf-8")
    return texts


def written() -> set[Path]:
    """The files that are there, by their places below `TARGET`."""
    return {file.relative_to(TARGET) for file in TARGET.rglob("*") if file.is_file()}


def write() -> None:
    """Make the stub package anew."""
    texts = stubs()
    for stale in written() - texts.keys():
        (TARGET / stale).unlink()
    for place, text in texts.items():
        (TARGET / place).parent.mkdir(parents=True, exist_ok=True)
        (TARGET / place).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write()
