"""Slices of Parquet files: the rows of the row groups whose midpoints are between two bytes.

So every row group belongs to exactly one of the slices of a file, wherever it is split. Specification:
https://substrait.io/relations/logical_relations/#local-files.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from substrait_dsl.algebra.relations import FileItem, Parquet
from substrait_dsl.errors import ExecutionError, UnsupportedError
from substrait_dsl.spark.session.engines import ENGINE
from substrait_dsl.spark.sources.paths import local_path

if TYPE_CHECKING:
    from pyarrow.parquet import RowGroupMetaData


def is_slice(item: FileItem) -> bool:
    """Whether only a part of a file is read."""
    return bool(item.start or item.length)


def rows_of_slice(item: FileItem) -> str:
    """Write a condition: whether a row of the file belongs to the slice.

    Raises:
        UnsupportedError: the file is no Parquet file, for only these say where their rows are; or the slice has no end.
        ExecutionError: the file is not there, or cannot be read.
    """
    if not isinstance(item.format, Parquet):
        raise UnsupportedError(
            f"{ENGINE} cannot read a part of a file, from a byte on, but of Parquet files: {item.uri}",
            hint="read it whole",
        )
    if not item.length:
        raise UnsupportedError(f"a slice from byte {item.start} on has no length: {item.uri}", hint="give a length")
    ranges = [f"_metadata.row_index BETWEEN {first} AND {last}" for first, last in _row_ranges(item)]
    return " OR ".join(ranges) or "false"


def _row_ranges(item: FileItem) -> Iterator[tuple[int, int]]:
    """The first and the last row of each row group of a slice."""
    import pyarrow as pa
    from pyarrow import fs, parquet

    end = item.start + item.length
    try:
        here = local_path(item.uri)
        system, path = fs.FileSystem.from_uri(item.uri) if here is None else (fs.LocalFileSystem(), here)
        metadata = parquet.read_metadata(path, filesystem=system)
    except (OSError, pa.ArrowInvalid) as error:
        raise ExecutionError(f"cannot read the Parquet file {item.uri}: {error}") from error
    first = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        if group.num_rows and item.start <= _midpoint(group) < end:
            yield first, first + group.num_rows - 1
        first += group.num_rows


def _midpoint(group: RowGroupMetaData) -> int:
    chunks = [group.column(number) for number in range(group.num_columns)]
    starts = (min(filter(None, (chunk.dictionary_page_offset, chunk.data_page_offset)), default=0) for chunk in chunks)
    size: int = sum(chunk.total_compressed_size for chunk in chunks)
    return int(min(starts, default=0)) + size // 2
