"""Write the documents of the specification's extension files where the library reads them without PyYAML.

Run it from the repository's root when another version of the specification is installed:
``python -m tests.catalog.parsed_extensions``.
"""

from __future__ import annotations

import json
from pathlib import Path
from zlib import crc32

from substrait_dsl.catalog import standard
from substrait_dsl.catalog.entries import read_yaml

PATH = Path(standard.__file__).with_name(standard.PARSED)


def parsed_extensions() -> str:
    """The text of the file: a line for each extension file."""
    lines = [
        f'"{name}": {json.dumps({"crc32": crc32(content), "document": read_yaml(content.decode("utf-8"), name)})}'
        for name, content in sorted(standard.extension_files().items())
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    PATH.write_text(parsed_extensions(), encoding="utf-8")
