"""Files of given columns, in the format that the end of their name says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet


def stored(path: Path, **columns: Any) -> Path:
    """A file, of the format that its name says, with one row or more."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table(columns)
    if path.suffix == ".arrow":
        pyarrow.feather.write_feather(table, path, compression="uncompressed")
    elif path.suffix == ".orc":
        from pyarrow import orc

        orc.write_table(table, path)
    else:
        pyarrow.parquet.write_table(table, path)
    return path
