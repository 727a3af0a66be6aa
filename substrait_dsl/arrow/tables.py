"""Tables in memory, of whatever library, and files of Parquet and Arrow: each becomes an Arrow table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from substrait_dsl.arrow.schemas import pyarrow_module
from substrait_dsl.errors import ExecutionError, InvalidArgumentError, shorten

if TYPE_CHECKING:
    import pyarrow as pa

_EXPECTED = (
    "expected a table or a reader of pyarrow, a DataFrame of pandas or Polars, another object with __arrow_c_stream__, "
    "or the path of a Parquet or Arrow file"
)


def table_of(source: Any, what: str) -> pa.Table:
    """Make an Arrow table of a frame, or read one from a file; a reader is read to its end.

    Args:
        source: a table, a record batch or a reader of pyarrow, a DataFrame of pandas or Polars, anything else with
            ``__arrow_c_stream__``, or the path of a Parquet or Arrow IPC file.
        what: what it is, in the words of an error.

    Returns:
        The table, with the columns that it was given, whatever their types. Of pandas, NaN is NULL and the index is
        none of the columns.

    Raises:
        InvalidArgumentError: it is something else, or no Arrow table can be made of it.
        ExecutionError: the file is not there, or cannot be read.
        UnsupportedError: pyarrow is not installed.
    """
    pa = pyarrow_module()
    if isinstance(source, str | Path):
        return _read(Path(source), what)
    if isinstance(source, pa.RecordBatchReader):
        _require_unread(source, what)
    try:
        if isinstance(source, pa.Table):
            return source
        if isinstance(source, pa.RecordBatchReader):
            return source.read_all()
        if isinstance(source, pa.RecordBatch):
            return pa.Table.from_batches([source])
        if _module(source) == "pandas" and hasattr(source, "columns"):
            return pa.Table.from_pandas(source, preserve_index=False)  # its metadata say that types were guessed
        if hasattr(source, "__arrow_c_stream__"):
            with pa.RecordBatchReader.from_stream(source) as reader:
                return reader.read_all()
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InvalidArgumentError(f"{what}: it makes no Arrow table: {shorten(str(error))}") from error
    raise InvalidArgumentError(f"{what}: {_EXPECTED}, got {shorten(repr(source))}", hint=_hint(source))


_READ: WeakSet[Any] = WeakSet()
"""The readers that were read to their end: they would have no more rows, and not say why."""


def _require_unread(reader: pa.RecordBatchReader, what: str) -> None:
    if reader in _READ:
        raise InvalidArgumentError(
            f"{what}: the reader was read to its end before, and has no rows left",
            hint="reader.read_all() makes a table, which can be read again",
        )
    _READ.add(reader)


def _module(source: Any) -> str:
    return type(source).__module__.partition(".")[0]


def _hint(source: Any) -> str | None:
    """Return the hint for a value that is nearly a table."""
    match _module(source), type(source).__name__:
        case "polars", "LazyFrame":
            return "frame.collect() makes a DataFrame of it"
        case "pyspark", _:
            return "a DataFrame of Spark is read by a name: df.createOrReplaceTempView(name)"
        case _:
            return _hint_for_python(source)


def _hint_for_python(source: Any) -> str | None:
    """Return the hint for rows or columns of Python values."""
    if isinstance(source, dict):
        call = "pyarrow.table(columns, schema=rel.schema.to_arrow()) makes a table of lists by the names of columns"
    elif isinstance(source, list | tuple) and source and isinstance(source[0], dict):
        call = "pyarrow.Table.from_pylist(rows, rel.schema.to_arrow()) makes a table of dicts"
    elif isinstance(source, list | tuple):
        call = (
            "pyarrow.Table.from_pylist([dict(zip(rel.schema.names, row)) for row in rows], rel.schema.to_arrow()) "
            "makes a table of tuples"
        )
    else:
        return None
    return f"{call}; rel is what read_named gave"


_PARQUET, _FILE = b"PAR1", b"ARROW1"
_STREAM = b"\xff\xff\xff\xff"


def _read(path: Path, what: str) -> pa.Table:
    pa = pyarrow_module()
    try:
        with path.open("rb") as file:
            start = file.read(len(_FILE))
        if start.startswith(_PARQUET):
            import pyarrow.parquet

            return pyarrow.parquet.ParquetFile(path.absolute()).read()  # else it may be a URI
        if start == _FILE:
            with pa.memory_map(str(path)) as source:
                return pa.ipc.open_file(source).read_all()
        if start.startswith(_STREAM):
            with pa.memory_map(str(path)) as source:
                return pa.ipc.open_stream(source).read_all()
    except FileNotFoundError as error:
        is_pattern = any(sign in str(path) for sign in "*?[")
        hint = 'read_files(path, schema, kind="glob") reads the files of a pattern, as a part of the plan'
        raise ExecutionError(f"{what}: there is no file {str(path)!r}", hint=hint if is_pattern else None) from error
    except IsADirectoryError as error:
        hint = "read_files(path, schema) reads a folder, as a part of the plan"
        raise ExecutionError(f"{what}: {str(path)!r} is a folder", hint=hint) from error
    except (OSError, pa.ArrowException) as error:
        raise ExecutionError(f"{what}: cannot read {str(path)!r}: {error}") from error
    if not start:
        raise ExecutionError(f"{what}: the file {str(path)!r} is empty (0 bytes), neither a Parquet nor an Arrow file")
    raise ExecutionError(f"{what}: {str(path)!r} is neither a Parquet nor an Arrow file", hint=_other_format(path))


_FORMATS = {**dict.fromkeys((".csv", ".tsv", ".txt"), ("csv", "delimited text")), ".orc": ("orc", "ORC")}
"""By the end of a name, files of what format it may be that are no tables, but can be a part of a plan."""


def _other_format(path: Path) -> str | None:
    if path.suffix.lower() in (".jsonl", ".ndjson", ".json"):
        return f"pyarrow.json.read_json({str(path)!r}) is a table, if it has a record on each line"
    if (found := _FORMATS.get(path.suffix.lower())) is None:
        return None
    return f'read_files(path, schema, format="{found[0]}") reads {found[1]}, as a part of the plan'
