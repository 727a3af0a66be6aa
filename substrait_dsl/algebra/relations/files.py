"""Reads of files, and of Iceberg tables, which are files with a list of them.

Specification: ``ReadRel.LocalFiles``, ``ReadRel.IcebergTable``.
"""

from __future__ import annotations

import typing

import attrs

from substrait_dsl.algebra.extensions import AdvancedExtension, AnyMessage
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.relations.read import Definition
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.types import String
from substrait_dsl.algebra.validators import TEXT, TEXT_OR_NONE, between, one
from substrait_dsl.errors import InvalidArgumentError, SchemaError, TypeMismatchError


@attrs.frozen(eq=False, repr=False)
class PlainFormat(FrozenValue):
    """Base of the formats without options."""


class Parquet(PlainFormat):
    """Apache Parquet files.

    Specification: ``FileOrFiles.ParquetReadOptions``.

    Example:
        >>> print(sd.read_files("s3://lake/orders", {"id": "i64"}, format=sd.Parquet()))
        read files parquet 's3://lake/orders' -> id: i64
    """

    __slots__ = ()


class Arrow(PlainFormat):
    """Arrow IPC files.

    Specification: ``FileOrFiles.ArrowReadOptions``.

    Example:
        >>> print(sd.read_files("s3://lake/orders.arrow", {"id": "i64"}, format=sd.Arrow()))
        read files arrow 's3://lake/orders.arrow' -> id: i64
    """

    __slots__ = ()


class Orc(PlainFormat):
    """Apache ORC files.

    Specification: ``FileOrFiles.OrcReadOptions``.

    Example:
        >>> print(sd.read_files("s3://lake/orders.orc", {"id": "i64"}, format=sd.Orc()))
        read files orc 's3://lake/orders.orc' -> id: i64
    """

    __slots__ = ()


class Dwrf(PlainFormat):
    """DWRF files.

    Specification: ``FileOrFiles.DwrfReadOptions``.

    Example:
        >>> print(sd.read_files("s3://lake/orders", {"id": "i64"}, format=sd.Dwrf()))
        read files dwrf 's3://lake/orders' -> id: i64
    """

    __slots__ = ()


@attrs.frozen(eq=False, repr=False)
class DelimitedText(FrozenValue):
    """Text files with one record a line, such as CSV.

    A field that holds the delimiter or a quote stands in quotes, and each quote inside it behind an `escape`: by
    default another quote, as RFC 4180 has it and most programs write; a backslash, as PySpark does.
    `header_lines_to_skip` is 1 where the first line names the columns. `max_line_size` is the greatest length of a
    field; 0: any. It counts units of UTF-16, as the reader of Spark does: an emoji, as every character beyond U+FFFF,
    has two. `null_value` is the text that stands for NULL; None: no text does, and every column must be required.

    Specification: ``FileOrFiles.DelimiterSeparatedTextReadOptions``.

    Example:
        >>> form = sd.DelimitedText(field_delimiter="|", header_lines_to_skip=1)
        >>> print(sd.read_files("s3://lake/orders.csv", {"id": "string"}, format=form))
        read files delimited text (field_delimiter '|', header_lines_to_skip 1) 's3://lake/orders.csv'
            | -> id: string
    """

    field_delimiter: str = attrs.field(default=",", validator=TEXT)
    quote: str = attrs.field(default='"', validator=TEXT)
    escape: str = attrs.field(default='"', validator=TEXT)
    header_lines_to_skip: int = attrs.field(default=0, validator=between(0, 2**64 - 1))
    max_line_size: int = attrs.field(default=0, validator=between(0, 2**64 - 1))
    null_value: str | None = attrs.field(default=None, validator=TEXT_OR_NONE)


@attrs.frozen(eq=False, repr=False)
class ExtensionFormat(FrozenValue):
    """A format that only those know who know the message.

    Args:
        detail: the message.

    Specification: ``FileOrFiles.extension``.

    Example:
        >>> form = sd.ExtensionFormat(sd.AnyMessage("type.acme.com/Lance", b""))
        >>> print(sd.read_files("s3://lake/orders", {"id": "i64"}, format=form))
        read files extension 'type.acme.com/Lance' 's3://lake/orders' -> id: i64
    """

    detail: AnyMessage = attrs.field(validator=one("an AnyMessage", AnyMessage))


FileFormat = Parquet | Arrow | Orc | Dwrf | DelimitedText | ExtensionFormat
PathKind = typing.Literal["path", "glob", "file", "folder"]
PATH_KINDS: tuple[PathKind, ...] = typing.get_args(PathKind)


@attrs.frozen(eq=False, repr=False)
class FileItem(FrozenValue):
    """Files to read: a URI of one file, of a folder, of either (`path`), or a glob; and their format.

    `start` and `length`, in bytes, say which slice of the file; 0 and 0: all of it. `partition_index` says which task
    of a parallel read it belongs to.
    """

    uri: str
    format: FileFormat
    kind: PathKind = "path"
    partition_index: int = 0
    start: int = 0
    length: int = 0

    def __attrs_post_init__(self) -> None:
        for name in ("partition_index", "start", "length"):
            if getattr(self, name) < 0:
                raise InvalidArgumentError(f"the {name} of a file must not be negative, got {getattr(self, name)}")


HeaderRule = typing.Literal["check", "skip"]
HEADER_RULES: tuple[HeaderRule, ...] = typing.get_args(HeaderRule)
LineBreaks = typing.Literal["end_records", "in_quotes"]
LINE_BREAKS: tuple[LineBreaks, ...] = typing.get_args(LineBreaks)


@attrs.frozen(eq=False, repr=False)
class TextReading(FrozenValue):
    """How delimited text is read, as far as the specification has no field for it.

    `header` says whether the names in headers are compared with those of the columns. `line_breaks` says whether one
    ends a record even in quotes. `encoding` is a name that Python and Java know.
    """

    header: HeaderRule = "check"
    line_breaks: LineBreaks = "end_records"
    encoding: str = "utf-8"

    @property
    def changes_rows(self) -> bool:
        """Whether other rows are read than the specification says: a consumer that does not know it must refuse."""
        return self.line_breaks != "end_records" or self.encoding != "utf-8"


ENCODINGS = (
    "utf-8",
    "us-ascii",
    *(f"iso-8859-{part}" for part in (1, 2, 4, 5, 7, 9, 13, 15)),
    *(f"windows-125{page}" for page in range(8)),
    "koi8-r",
    "ibm437",
    "ibm850",
    *("utf-16", "utf-16le", "utf-16be"),
)
"""The encodings of text, by the names that IANA has for them, which Python and Java have for the same characters."""

AS_SPECIFIED = TextReading()


@attrs.frozen(eq=False, repr=False)
class LocalFiles(FrozenValue, Definition):
    """Files, in the order given; a file listed twice is read twice."""

    items: tuple[FileItem, ...]
    extension: AdvancedExtension | None = None
    text: TextReading = AS_SPECIFIED

    def __attrs_post_init__(self) -> None:
        if not self.items:
            raise InvalidArgumentError("a read of files needs at least one path")
        if self.text.changes_rows and self.extension is not None and self.extension.enhancement is not None:
            raise InvalidArgumentError("a read of files has one enhancement: its encoding and line breaks, or another")

    def check_schema(self, schema: NamedStruct) -> None:
        for item in self.items:
            if isinstance(item.format, DelimitedText):
                _check_text(schema, item.format)


@attrs.frozen(eq=False, repr=False)
class IcebergTable(FrozenValue, Definition):
    """An Iceberg table by the URI of its metadata file: its current snapshot, or the one given by id or by time.

    `snapshot_timestamp` is in microseconds since 1970-01-01 UTC.
    """

    metadata_uri: str
    snapshot_id: str | None = None
    snapshot_timestamp: int | None = None

    def __attrs_post_init__(self) -> None:
        if not self.metadata_uri:
            raise InvalidArgumentError("a read of an Iceberg table needs the URI of its metadata file")
        if self.snapshot_id is not None and self.snapshot_timestamp is not None:
            raise InvalidArgumentError("an Iceberg snapshot is given by its id or by a timestamp, not by both")
        if self.snapshot_timestamp is not None and not -(2**63) <= self.snapshot_timestamp < 2**63:
            raise InvalidArgumentError(f"a snapshot timestamp has 64 bits, got {self.snapshot_timestamp}")


def _check_text(schema: NamedStruct, text: DelimitedText) -> None:
    for field in schema:
        if not isinstance(field.type, String):
            raise TypeMismatchError(
                f'delimited text holds strings, but column "{field.name}" is declared {field.type}',
                names=[field.name],
                remedy="types-of-text",
            )
        if field.type.nullable and text.null_value is None:
            raise SchemaError(
                f'column "{field.name}" of delimited text is nullable, but the format has no text for NULL',
                names=[field.name],
                hint='declare it required, or give the format a text: DelimitedText(null_value="")',
            )
