"""Files to read: paths, URIs and formats."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath, PureWindowsPath
from typing import TYPE_CHECKING, Any, Literal, overload
from urllib.parse import quote

import attrs
from typing_extensions import Unpack

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.unicode import require_unicode
from substrait_dsl.algebra.validators import between, one
from substrait_dsl.errors import InvalidArgumentError, InvalidChoiceError, error_context, require_choice
from substrait_dsl.fluent.base import S2, Condition
from substrait_dsl.fluent.column_arguments import is_list
from substrait_dsl.fluent.declared_properties import Distributed, Ordering
from substrait_dsl.fluent.read_options import Known, read
from substrait_dsl.fluent.schema_forms import Declared
from substrait_dsl.fluent.schemas import DynRow, SchemaLike, as_struct

if TYPE_CHECKING:
    from substrait_dsl.fluent.relation import Relation

CSV = rl.DelimitedText(header_lines_to_skip=1)
"""The format ``"csv"``: commas, double quotes doubled inside quotes, one header line."""

FormatName = Literal["parquet", "orc", "arrow", "dwrf", "csv"]

FORMATS: dict[FormatName, rl.FileFormat] = {
    "parquet": rl.Parquet(),
    "orc": rl.Orc(),
    "arrow": rl.Arrow(),
    "dwrf": rl.Dwrf(),
    "csv": CSV,
}

_OTHERS: Mapping[str, str] = {
    ".csv": 'write format="csv"',
    ".tsv": 'write format=DelimitedText(field_delimiter="\\t", header_lines_to_skip=1)',
    ".orc": 'write format="orc"',
    ".arrow": 'write format="arrow"',
    ".feather": 'write format="arrow"',
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "write read_json(path, schema) for one object in each line"),
}
"""How the names of files end that are not of the default format, and what to write for them."""


@attrs.frozen(eq=False, repr=False)
class FileSlice(FrozenValue):
    """A part of a file, for `read_files`: ``FileSlice("orders.parquet", start=0, length=4096)``.

    Args:
        path: the path or URI of the file.
        start: where the part begins, in bytes.
        length: how long it is, in bytes; 0 for all of the file.
        partition_index: which task of a parallel read it belongs to.

    Specification: ``FileOrFiles.start``, ``FileOrFiles.length``, ``FileOrFiles.partition_index``.

    Example:
        >>> print(sd.read_files(sd.FileSlice("s3://lake/1.parquet", length=4096), {"id": "i64"}))
        read files parquet 's3://lake/1.parquet' (length 4096) -> id: i64
    """

    path: str | os.PathLike[str] = attrs.field(validator=one("a path", str, os.PathLike))
    start: int = attrs.field(default=0, kw_only=True, validator=between(0, 2**64 - 1))
    """Where it begins, in bytes."""
    length: int = attrs.field(default=0, kw_only=True, validator=between(0, 2**64 - 1))
    """How long it is, in bytes; 0 for all of the file."""
    partition_index: int = attrs.field(default=0, kw_only=True, validator=between(0, 2**64 - 1))
    """Which task of a parallel read it belongs to."""


PathLike = str | os.PathLike[str] | FileSlice


@overload
def read_files(
    paths: PathLike | Sequence[PathLike],
    schema: type[S2],
    *,
    format: FormatName | rl.FileFormat = ...,
    kind: rl.PathKind = ...,
    header: rl.HeaderRule = ...,
    line_breaks: rl.LineBreaks = ...,
    encoding: str = ...,
    filter: Condition | Callable[[S2], Condition] | None = ...,
    best_effort_filter: Condition | Callable[[S2], Condition] | None = ...,
    columns: None = ...,
    **known: Unpack[Known],
) -> Relation[S2]: ...
@overload
def read_files(
    paths: PathLike | Sequence[PathLike],
    schema: type[S2],
    *,
    format: FormatName | rl.FileFormat = ...,
    kind: rl.PathKind = ...,
    header: rl.HeaderRule = ...,
    line_breaks: rl.LineBreaks = ...,
    encoding: str = ...,
    filter: Condition | Callable[[S2], Condition] | None = ...,
    best_effort_filter: Condition | Callable[[S2], Condition] | None = ...,
    columns: Sequence[str],
    **known: Unpack[Known],
) -> Relation[DynRow]: ...
@overload
def read_files(
    paths: PathLike | Sequence[PathLike],
    schema: Declared,
    *,
    format: FormatName | rl.FileFormat = ...,
    kind: rl.PathKind = ...,
    header: rl.HeaderRule = ...,
    line_breaks: rl.LineBreaks = ...,
    encoding: str = ...,
    filter: Condition | Callable[[Any], Condition] | None = ...,
    best_effort_filter: Condition | Callable[[Any], Condition] | None = ...,
    columns: Sequence[str] | None = ...,
    **known: Unpack[Known],
) -> Relation[DynRow]: ...
def read_files(
    paths: PathLike | Sequence[PathLike],
    schema: SchemaLike,
    *,
    format: FormatName | rl.FileFormat = "parquet",
    kind: rl.PathKind = "path",
    header: rl.HeaderRule = "check",
    line_breaks: rl.LineBreaks = "end_records",
    encoding: str = "utf-8",
    filter: Any = None,
    best_effort_filter: Any = None,
    columns: Sequence[str] | None = None,
    ordering: Ordering = (),
    distribution: Distributed | None = None,
    properties: Mapping[str, str] | None = None,
) -> Relation[Any]:
    """Read files of Parquet, ORC, Arrow, DWRF or delimited text.

    Args:
        paths: one or more paths or URIs; a path without scheme is a local one, made absolute now, with the home folder
            of a user for ``~``; a ``PureWindowsPath`` is one of Windows, wherever it is written. In a URI, ``%20`` is
            a blank: ``"file:///data/a%20b.parquet"`` is ``"/data/a b.parquet"``, and a plan has it so. A part of a file
            is a ``FileSlice(path, start=..., length=...)``.
        schema: the columns that each of the files has, by name. On Spark, a Parquet or ORC file that lacks one is
            refused only where it is local: of remote ones Spark looks at one, and takes what others lack for NULL.
        format: ``"parquet"``, ``"orc"``, ``"arrow"``, ``"dwrf"``, ``"csv"``, or a format object such as
            ``DelimitedText(field_delimiter="|", null_value="")``. Delimited text has string columns only. Paths that
            end as those of another format, such as ``.csv``, are Parquet only with ``format=Parquet()``.
        kind: what the paths are: ``"file"``, ``"folder"``, ``"path"`` (either), ``"glob"``.
        header: of delimited text, whose fields are taken by position. ``"check"``: the names in the header of each file
            that is on this machine are those of the columns, but for blanks and the case of letters, or the execution
            is refused. ``"skip"``: they may be other names; the same ones in another order are refused in any case.
        line_breaks: of delimited text. ``"end_records"``: each ends a record, and in quotes it is an error.
            ``"in_quotes"``: in quotes it is a character of the field; a file is then not read in parts.
        encoding: of delimited text: ``"latin-1"``, ``"windows-1252"``, ``"utf-16"`` or another that the error for one
            that is not known names. Line breaks in quotes and encodings are no part of the specification: an
            enhancement in the plan says them, so other consumers refuse it.
        filter: as for `read_named`.
        best_effort_filter: as for `read_named`.
        columns: as for `read_named`.
        ordering: as for `read_named`.
        distribution: as for `read_named`.
        properties: as for `read_named`.

    Output: the columns of the schema, or those chosen. Raises `InvalidChoiceError`, `SchemaError`, `TypeMismatchError`,
    and `InvalidArgumentError` for a path of another format. Specification: ``ReadRel.LocalFiles``.

    Example:
        >>> print(sd.read_files("s3://lake/orders", {"id": "i64", "price": "fp64?"}, kind="folder"))
        read files parquet folder 's3://lake/orders' -> id: i64, price: fp64?
    """
    with error_context(verb="read_files"):
        each, form = _each(paths, kind), file_format(format)
        if format == "parquet":
            _refuse_other_formats(each)
        text = text_reading(header, line_breaks, encoding, form)
        struct = as_struct(schema)
        files = rl.LocalFiles(tuple(file_item(path, form, kind) for path in each), text=text)
        return read(struct, files, filter, best_effort_filter, columns, ordering, distribution, properties)


def _each(paths: Any, kind: Any) -> Sequence[Any]:
    """Return the paths as a list. Raises for what is none, and for another kind."""
    require_choice("kind", kind, rl.PATH_KINDS)
    each = [paths] if isinstance(paths, str | os.PathLike | FileSlice) else paths
    if not is_list(each):
        raise InvalidArgumentError("expected a path or a list of paths", got=paths)
    return each


def file_items(paths: Any, format: rl.FileFormat, kind: rl.PathKind) -> tuple[rl.FileItem, ...]:
    """Return paths, and slices of files, as what a read holds. Raises as `read_files` says."""
    return tuple(file_item(path, format, kind) for path in _each(paths, kind))


def text_reading(header: Any, line_breaks: Any, encoding: Any, form: rl.FileFormat) -> rl.TextReading:
    """Return how delimited text is read.

    Raises `InvalidChoiceError` for another word, and `InvalidArgumentError` for one that the format has no place for.
    """
    _require_header_rule(header, form)
    require_choice("line_breaks", line_breaks, rl.LINE_BREAKS)
    text = rl.TextReading(header, line_breaks, _encoding(encoding))
    said = [name for name in _OF_TEXT if getattr(text, name) != getattr(rl.AS_SPECIFIED, name)]
    if not isinstance(form, rl.DelimitedText):
        if said:
            raise _wrong_format(said[0], form)
    elif "header" in said and not form.header_lines_to_skip:
        raise InvalidArgumentError(
            f"header={text.header!r}, but the format says that there is no header",
            hint="write DelimitedText(header_lines_to_skip=1)",
        )
    elif "line_breaks" in said and not form.quote:
        raise InvalidArgumentError("line breaks are in quotes, but the format has no quote")
    return text


def _wrong_format(name: str, form: rl.FileFormat) -> InvalidArgumentError:
    """Return the error for an argument of delimited text and another format."""
    return InvalidArgumentError(
        f"{name}= is of delimited text, but the format is {type(form).__name__}",
        hint='write format="csv" or format=DelimitedText(...)',
    )


def _require_header_rule(header: Any, form: rl.FileFormat) -> None:
    """Raise for what is no rule of headers. Other readers take whether there is a header, or its lines."""
    if header is None or isinstance(header, int):
        if not isinstance(form, rl.DelimitedText):
            raise _wrong_format("header", form)
        error = InvalidChoiceError.of_word("header", header, rl.HEADER_RULES)
        lines = max(header or 0, 0)
        what, same = (f"{lines} header lines", lines) if lines else ("no header", False)
        error.hint = (
            'format="csv" has one header line, and header="check" compares its names, which is the default'
            if lines == 1
            else f"for {what} write format=DelimitedText(header_lines_to_skip={lines}), "
            f"or read_csv(path, schema, header={same})"
        )
        raise error
    require_choice("header", header, rl.HEADER_RULES)


def _encoding(name: Any) -> str:
    """Return the name that plans have for an encoding. Raises `InvalidChoiceError` for another."""
    if isinstance(name, str):
        try:
            found = codecs.lookup(name).name.removesuffix("-sig")
        except (LookupError, ValueError):  # no encoding, or no name of one
            found = ""
        for each in rl.ENCODINGS:
            if codecs.lookup(each).name == found:
                return each
    raise InvalidChoiceError.of_word("encoding", name, rl.ENCODINGS)


_OF_TEXT = ("header", "line_breaks", "encoding")


def file_item(path: Any, format: rl.FileFormat, kind: rl.PathKind) -> rl.FileItem:
    """Return a path, or a slice of a file, as what a read holds."""
    if not isinstance(path, FileSlice):
        return rl.FileItem(file_uri(path, kind), format, kind)
    if kind in ("folder", "glob") and (path.start or path.length):
        raise InvalidArgumentError(f'a slice is of one file, but kind is "{kind}"', hint='write kind="file"')
    uri = file_uri(path.path, kind)
    return rl.FileItem(uri, format, kind, path.partition_index, path.start, path.length)


def file_format(format: Any) -> rl.FileFormat:
    """Return a format by name, or a format object. Raises `InvalidChoiceError`."""
    if isinstance(format, rl.FileFormat):
        return format
    if not isinstance(format, str) or format not in FORMATS:
        raise InvalidChoiceError.of_word("format", format, FORMATS)
    return FORMATS[format]


def _refuse_other_formats(paths: Sequence[Any]) -> None:
    """Raise `InvalidArgumentError` for a path that ends like files of another format than Parquet, the default."""
    for each in paths:
        path = str(each.path if isinstance(each, FileSlice) else each)
        bare = path.lower().removesuffix(".gz")
        other = next((format_ for end, format_ in _OTHERS.items() if bare.endswith(end)), None)
        if other is not None:
            raise InvalidArgumentError(
                f'{path!r} is read as "parquet", which is the default',
                hint=f"{other}; format=Parquet() if it is Parquet",
            )


def file_uri(path: Any, kind: rl.PathKind) -> str:
    """Return the URI of a path; one without scheme is local: it becomes absolute and percent-encoded."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str) or not text:
        raise InvalidArgumentError("expected a path or a URI", got=path)
    require_path(text)
    if isinstance(path, str) and ("://" in path or path.lower().startswith("file:/")):
        return text
    if kind != "glob" and any(wildcard in text for wildcard in "*?"):
        raise InvalidArgumentError(f"{text!r} is a pattern, not a path", hint='say so: kind="glob"')
    if isinstance(path, str) and os.name != "nt" and _OF_WINDOWS.match(path):
        raise InvalidArgumentError(
            f"{path!r} is a path of Windows, but this is another system",
            hint=f"pathlib.PureWindowsPath({path!r}) says so for a plan that runs there; ./ before it for a file here",
        )
    absolute = path if isinstance(path, PureWindowsPath) else PurePath(os.path.abspath(os.path.expanduser(text)))
    return _absolute_uri(absolute, _PLAIN + _OF_PATTERNS if kind == "glob" else _PLAIN)


_OF_WINDOWS = re.compile(r"[A-Za-z]:\\|\\\\")
"""How an absolute path of Windows begins, with a drive or a server."""


def _absolute_uri(path: PurePath, safe: str) -> str:
    """Return the URI of an absolute path, as ``Path.as_uri`` does, but for the characters that stay as they are."""
    if not isinstance(path, PureWindowsPath):
        return f"file://{quote(str(path), safe=safe)}"
    if not path.is_absolute():
        raise InvalidArgumentError("a path of Windows is absolute, with its drive or its server", got=path)
    encoded = quote(path.as_posix(), safe=safe)
    return f"file:{encoded}" if encoded.startswith("//") else f"file:///{encoded}"


def require_path(path: str) -> None:
    """Raise `InvalidArgumentError` for a text that is no path on any system."""
    require_unicode(path, "a path")
    if "\0" in path or not path:
        raise InvalidArgumentError("a path has characters, and none of them is NUL", got=path)


_BRACES = re.compile(r"\{\{|\}\}|\{[^{}]*\}|[{}]|[^{}]+")
"""The parts of a path with columns: braces that are doubled, a column in braces, a brace alone, other text."""
_DOUBLED = 'write "{{" and "}}" for braces in a name'


def folder_and_columns(path: Any) -> tuple[Any, tuple[str, ...]]:
    """Divide a path such as ``out/{day}/{region}`` into the folder and the columns below it.

    Raises `InvalidArgumentError` for braces that do not say a column by a folder of its own at the end.
    """
    if not isinstance(path, str | os.PathLike) or not {"{", "}"} & {*str(os.fspath(path))}:
        return path, ()
    if not isinstance(path, str | Path):
        raise InvalidArgumentError("a path with columns in braces is a str or a Path", got=path)
    folders: list[list[str | _Column]] = [[]]
    for part in _BRACES.findall(str(path)):
        if part in ("{", "}"):
            raise InvalidArgumentError(f"{str(path)!r} has a brace without its other", hint=_DOUBLED)
        if part in ("{{", "}}"):
            folders[-1].append(part[0])
        elif part.startswith("{"):
            folders[-1].append(_Column(part[1:-1]))
        else:
            first, *others = ([text] if text else [] for text in part.split("/"))
            folders[-1] += first
            folders += others
    named = [_named_column(folder, str(path)) for folder in folders]
    if not folders[-1]:  # a slash at the end
        del named[-1], folders[-1]
    start = next((number for number, name in enumerate(named) if name is not None), len(named))
    columns = tuple(name for name in named[start:] if name is not None)
    if start + len(columns) < len(named):
        raise InvalidArgumentError(f"{str(path)!r} has a folder below those of columns, which are the last ones")
    folder = "/".join("".join(map(str, parts)) for parts in folders[:start])
    if start and (not folder or folder.lower() == "file:" or folder.endswith("://")):  # "/{day}", "file:///{day}"
        folder += "/"
    return folder or ".", columns


@attrs.frozen(eq=False, repr=False)
class _Column(FrozenValue):
    """A column in braces."""

    name: str


def _named_column(folder: Sequence[str | _Column], path: str) -> str | None:
    """Return the column that a folder of a path is named after.

    Raises `InvalidArgumentError` if that is not all it is.
    """
    columns = [part for part in folder if isinstance(part, _Column)]
    if not columns:
        return None
    name = columns[0].name
    if not name:
        raise InvalidArgumentError(f"{path!r} has braces without the name of a column", hint=_DOUBLED)
    before = "".join(part for part in folder if not isinstance(part, _Column))
    if len(columns) > 1 or folder[-1] != columns[0] or before not in ("", f"{name}="):
        raise InvalidArgumentError(
            f"in {path!r}, a column in braces is not a folder of its own",
            hint=f'write "{{{name}}}" or "{name}={{{name}}}" between slashes; {_DOUBLED}',
        )
    return name


_PLAIN, _OF_PATTERNS = "/!$&'()*+,;=:@~", "?[]{}^\\"
"""The characters of a path that are not percent-encoded, besides letters, digits and ``-._``; and those of patterns."""
