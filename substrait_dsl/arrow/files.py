"""Schemas of files: what a Parquet, ORC or Arrow file says of its columns, and what text files let one see of them."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Callable, Mapping
from typing import Any

from substrait_dsl.algebra.relations.files import DelimitedText
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.types import String
from substrait_dsl.arrow.schemas import from_arrow, pyarrow_module
from substrait_dsl.errors import ExecutionError, InvalidArgumentError, SchemaError, quote

CSV = DelimitedText(header_lines_to_skip=1, null_value="")
"""Text as `read_csv` reads it if nothing else is said: an empty field is NULL."""
_TSV = DelimitedText(field_delimiter="\t", header_lines_to_skip=1, null_value="")

_SIGNS: Mapping[bytes, str] = {
    b"PAR1": "parquet",
    b"ORC": "orc",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow stream",
}
"""How files of a format begin."""

_ENDS: Mapping[str, str | DelimitedText] = {
    ".csv": CSV,
    ".tsv": _TSV,
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}
"""How the names of files end that say nothing of their format inside."""

_COMPRESSIONS = (".gz", ".bz2", ".zst", ".lz4")
_MAX_BYTES = 1_000_000
"""How much of a text file is looked at."""


def file_schema(path: str, format: str | DelimitedText | None) -> NamedStruct:
    """Read the columns of one file.

    Args:
        path: a local path or a URI that pyarrow knows.
        format: ``"parquet"``, ``"orc"``, ``"arrow"``, ``"json"`` for a JSON object on each line, the form of delimited
            text; None to look at the file and its name.

    Returns:
        The columns. Delimited text has the names of its header and texts alone, nullable if a text stands for NULL. Of
        JSON, the types are those of the first megabyte, as pyarrow infers them.

    Raises:
        ExecutionError: there is no such file, or it cannot be read.
        InvalidArgumentError: the file does not say its format.
        SchemaError: delimited text without a header, or with a name that stands twice.
        UnsupportedError: a type has no Substrait equal, or pyarrow is not installed.
    """
    pa = pyarrow_module()
    try:
        files, place = _locate(path)
        found = format or _find_format(files, place, path)
        if isinstance(found, DelimitedText):
            return _delimited_text(_text_start(files, place), found, path)
        if found == "json":
            return from_arrow(_json_schema(_text_start(files, place)))
        with files.open_input_file(place) as file:
            return from_arrow(_READERS[found](file))
    except FileNotFoundError as error:
        raise ExecutionError(f"there is no file {path!r}") from error
    except (OSError, pa.ArrowException) as error:
        raise ExecutionError(f"cannot read {path!r}: {error}") from error


def _locate(path: str) -> tuple[Any, str]:
    """Return the file system of a path, and the path in it. Raises `ExecutionError` if no file is there."""
    from pyarrow import fs

    files, place = fs.FileSystem.from_uri(path) if "://" in path else (fs.LocalFileSystem(), path)
    if files.get_file_info(place).type == fs.FileType.Directory:
        inside = files.get_file_info(fs.FileSelector(place, recursive=True))
        names = sorted(each.path for each in inside if each.type == fs.FileType.File and each.base_name[0] not in "._")
        hint = f"give one of its files, such as {names[0]!r}" if names else None
        raise ExecutionError(f"{path!r} is a folder", hint=hint)
    return files, place


def _find_format(files: Any, place: str, path: str) -> str | DelimitedText:
    with files.open_input_file(place) as file:
        start = file.read(max(map(len, _SIGNS)))
    for sign, found in _SIGNS.items():
        if start.startswith(sign):
            return found
    bare = path.lower()
    for end in _COMPRESSIONS:
        bare = bare.removesuffix(end)
    for end, form in _ENDS.items():
        if bare.endswith(end):
            return form
    if not start:
        raise InvalidArgumentError(
            f"the file {path!r} is empty (0 bytes): it has no columns, and its name says no format"
        )
    raise InvalidArgumentError(
        f"{path!r} is no Parquet, ORC or Arrow file, and its name says no other format",
        hint='write format="csv", format="json" or format=DelimitedText(...)',
    )


def _text_start(files: Any, place: str) -> bytes:
    """Return the first lines of a text file, which may be compressed."""
    with files.open_input_stream(place, compression="detect") as stream:
        start: bytes = stream.read(_MAX_BYTES)
    end = start.rfind(b"\n") + 1
    return start if len(start) < _MAX_BYTES or not end else start[:end]


def _delimited_text(start: bytes, form: DelimitedText, path: str) -> NamedStruct:
    names = header_names(start, form)
    if names is None:
        raise SchemaError(
            f"{path!r} has no header with the names of the columns",
            hint="format=DelimitedText(header_lines_to_skip=1) says that the first line is one",
        )
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise SchemaError(f"the header of {path!r} has {quote(repeated)} twice or more", names=repeated)
    return NamedStruct(tuple(Field(name, String(nullable=form.null_value is not None)) for name in names))


def header_names(start: bytes, form: DelimitedText) -> list[str] | None:
    """Return the names in the header of delimited text, the last line that is skipped; None if there is none."""
    lines = io.StringIO(start.decode("utf-8-sig", errors="replace"), newline="")
    is_doubled = form.escape == form.quote
    reader = csv.reader(
        lines,
        delimiter=form.field_delimiter,
        quotechar=form.quote,
        doublequote=is_doubled,
        escapechar=None if is_doubled else form.escape,
    )
    skipped = list(itertools.islice(reader, form.header_lines_to_skip))
    return skipped[-1] if skipped else None


def _json_schema(start: bytes) -> Any:
    import pyarrow.json

    return pyarrow.json.read_json(io.BytesIO(start)).schema


def _parquet_schema(file: Any) -> Any:
    import pyarrow.parquet

    return pyarrow.parquet.read_schema(file)


def _orc_schema(file: Any) -> Any:
    import pyarrow.orc

    return pyarrow.orc.ORCFile(file).schema


def _arrow_schema(file: Any) -> Any:
    return pyarrow_module().ipc.open_file(file).schema


def _arrow_stream_schema(file: Any) -> Any:
    return pyarrow_module().ipc.open_stream(file).schema


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "parquet": _parquet_schema,
    "orc": _orc_schema,
    "arrow": _arrow_schema,
    "arrow stream": _arrow_stream_schema,
}
"""What reads the schema of an open file, by the format."""
