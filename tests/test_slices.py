"""Which rows of a Parquet file belong to a slice: those of the row groups whose midpoints lie in it."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from substrait_dsl.algebra import relations as r
from substrait_dsl.spark.sources.parquet_slices import rows_of_slice

GROUP = 300
COLUMNS = {"a": list(range(1000)), "b": ["text"] * 1000, "c": [str(number) for number in range(1000)]}


@pytest.fixture(params=["one column", "several", "dictionaries"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file of four row groups: of one column, of several, and with dictionaries in front of the values."""
    columns = {"a": COLUMNS["a"]} if request.param == "one column" else COLUMNS
    dictionaries = request.param == "dictionaries"
    path = tmp_path / "numbers.parquet"
    parquet.write_table(pyarrow.table(columns), path, row_group_size=GROUP, use_dictionary=dictionaries)
    return path


def groups(path: Path) -> list[tuple[int, int]]:
    """The first byte of each row group, and the one behind it: the first of the next, or of the footer."""
    with path.open("rb") as file:
        file.seek(-8, 2)
        footer = path.stat().st_size - 8 - int.from_bytes(file.read(4), "little")
    metadata = parquet.read_metadata(path)
    chunks = [metadata.row_group(number).column(0) for number in range(metadata.num_row_groups)]
    starts = [chunk.dictionary_page_offset or chunk.data_page_offset for chunk in chunks]
    assert len(starts) == 4
    assert starts[0] == 4  # behind the letters that a file begins with
    return list(zip(starts, [*starts[1:], footer], strict=True))


def rows(path: Path, start: int, end: int) -> set[int]:
    """The numbers of the rows in the slice from one byte to the one before another."""
    condition = rows_of_slice(r.FileItem(path.as_uri(), r.Parquet(), start=start, length=end - start))
    ranges = re.findall(r"BETWEEN (\d+) AND (\d+)", condition)
    assert bool(ranges) is (condition != "false")
    return {row for first, last in ranges for row in range(int(first), int(last) + 1)}


def test_a_row_group_belongs_to_the_slice_that_has_its_midpoint(path: Path) -> None:
    """Specification, Slicing Files: "the midpoint of the chunk (dividing by 2 and rounding down)"."""
    for number, (start, end) in enumerate(groups(path)):
        middle = start + (end - start) // 2
        mine = set(range(number * GROUP, min((number + 1) * GROUP, 1000)))
        assert rows(path, middle, middle + 1) == mine
        assert rows(path, start, middle) == rows(path, middle + 1, end) == set()
        assert rows(path, start, middle + 1) == rows(path, middle, end) == mine


def test_a_slice_has_all_row_groups_whose_midpoints_it_has(path: Path) -> None:
    size = path.stat().st_size
    for cut in range(1, size, 97):
        below, above = rows(path, 0, cut), rows(path, cut, size)
        assert below | above == set(range(1000))
        assert below & above == set()
        whole = [number for number, (start, end) in enumerate(groups(path)) if start + (end - start) // 2 < cut]
        assert below == {row for number in whole for row in range(number * GROUP, min((number + 1) * GROUP, 1000))}
