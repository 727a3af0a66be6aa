"""JSON lines with typed columns: a read of texts, `from_json` of each, and the fields of what it gives.

Specification: ``FileOrFiles.DelimiterSeparatedTextReadOptions``, whose fields are strings, and ``Expression.Cast``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.errors import error_context, require_choice
from substrait_dsl.everyday.json_texts import from_json, require_json_type
from substrait_dsl.everyday.lists import map_keys
from substrait_dsl.fluent.base import S2
from substrait_dsl.fluent.calls import scalar
from substrait_dsl.fluent.conditionals import when
from substrait_dsl.fluent.expr import DynExpr, combine
from substrait_dsl.fluent.files import PathLike, file_items, text_reading
from substrait_dsl.fluent.read_options import read
from substrait_dsl.fluent.schema_forms import Declared
from substrait_dsl.fluent.schemas import DynRow, SchemaLike, as_struct
from substrait_dsl.fluent.typed_text import OF_TIME, OfInvalid, require_formats, value_of_text

if TYPE_CHECKING:
    from substrait_dsl.fluent.relation import Relation

UnknownKeys = Literal["skip", "error"]
"""What is done about keys that are not declared."""

_LINES = rl.DelimitedText(field_delimiter="\x01", quote="", escape="")
"""Lines of JSON: a control character stands in none."""

_LINE, _OBJECT = "line", "object"
_SHORTER: Mapping[type[t.Type], t.Type] = {
    t.I8: t.I16(nullable=True),
    t.FP32: t.FP64(nullable=True),
    **dict.fromkeys((t.VarChar, t.FixedChar, *OF_TIME), t.String(nullable=True)),
}
"""The types of columns that no JSON is read as, and the types that they are cast from."""


@overload
def read_json(
    paths: PathLike | Sequence[PathLike],
    schema: type[S2],
    *,
    formats: Mapping[str, str] | None = ...,
    invalid: OfInvalid = ...,
    unknown_keys: UnknownKeys = ...,
    kind: rl.PathKind = ...,
    encoding: str = ...,
) -> Relation[S2]: ...
@overload
def read_json(
    paths: PathLike | Sequence[PathLike],
    schema: Declared,
    *,
    formats: Mapping[str, str] | None = ...,
    invalid: OfInvalid = ...,
    unknown_keys: UnknownKeys = ...,
    kind: rl.PathKind = ...,
    encoding: str = ...,
) -> Relation[DynRow]: ...
def read_json(
    paths: PathLike | Sequence[PathLike],
    schema: SchemaLike,
    *,
    formats: Mapping[str, str] | None = None,
    invalid: OfInvalid = "error",
    unknown_keys: UnknownKeys = "skip",
    kind: rl.PathKind = "path",
    encoding: str = "utf-8",
) -> Relation[Any]:
    """Read JSON lines, files with one JSON object in each line, with typed columns.

    It is `read_files` of lines, and projections that take them apart: the plan has them. What values a type has is said
    in ``docs/recipes.md``, "JSON lines".

    Args:
        paths: as for `read_files`. Lines of white space are passed over, as in delimited text.
        schema: the columns, by their keys: what `everyday.from_json` reads, with all that is inside nullable, and as
            columns also i8, fp32, dates, timestamps, and texts with a length. A key that is missing is NULL, which is
            an error in a required column.
        formats: by column, the format of dates and timestamps, as for `read_csv`.
        invalid: ``"error"`` fails the query where a line is no JSON object, or a value none of its type; ``"null"``
            gives NULL for it in columns that are nullable, and fails in others.
        unknown_keys: ``"skip"`` passes over keys that are no columns; with ``"error"`` such a line is no value, as
            `invalid` says.
        kind: as for `read_files`.
        encoding: as for `read_files`.

    Returns:
        A relation with the columns of the schema.

    Raises:
        InvalidArgumentError: a type that JSON does not give, what is required inside, or as `read_files`.
        TypeMismatchError: a format for another column than a date or a timestamp.
        UnknownFieldError: a format for a column that is not there.
        InvalidChoiceError: another word of `invalid`, `unknown_keys`, `kind` or `encoding`.

    Output: the columns of the schema. Specification: ``ReadRel.LocalFiles``, ``ProjectRel`` and
    https://substrait.io/extensions/, for `everyday.from_json`.

    Example:
        >>> print(sd.read_json("s3://lake/events.jsonl.gz", {"id": "i64", "tags": "list?<string?>"}).schema)
        0  id    i64
        1  tags  list<string?>?
    """
    with error_context(verb="read_json"):
        require_choice("invalid", invalid, get_args(OfInvalid))
        require_choice("unknown_keys", unknown_keys, get_args(UnknownKeys))
        struct = as_struct(schema)
        formats = require_formats(formats, struct)
        form = rl.LocalFiles(
            file_items(paths, _LINES, kind), text=text_reading("check", "end_records", encoding, _LINES)
        )
        lines = read(NamedStruct((Field(_LINE, t.String()),)), form, None, None, None, (), None, None)
        types = NamedStruct(tuple(Field(each.name, _read_as(each)) for each in struct))
        line: Any = lines[_LINE]
        if unknown_keys == "error":
            line = _drop_unknown_keys(line, struct.names)
        if invalid == "error":
            rows = lines.select(from_json(line, types.row_type()).assert_not_null().alias(_OBJECT))
            values = [rows[_OBJECT][name] for name in struct.names]
        else:
            found = from_json(line, types.row_type(), on_failure="return_null").alias(_OBJECT)
            rows = lines.select(line.alias(_LINE), found)
            values = [_value_alone(rows, each) for each in types]
        return rows.select(
            *(_column(x, each, formats.get(each.name), invalid) for x, each in zip(values, struct, strict=True))
        )


def _read_as(field: Field) -> t.Type:
    """Return the type that the values of a column are read as. Raises `InvalidArgumentError` for one that is not."""
    wanted = _SHORTER.get(type(field.type), field.type.as_nullable())
    with error_context(place="column", name=field.name):
        require_json_type(wanted, field.name)
    return wanted


def _drop_unknown_keys(line: Any, names: Sequence[str]) -> DynExpr:
    """Return a line; one with other keys is no JSON any more."""
    keys = map_keys(from_json(line, "map<string, string?>", on_failure="return_null"))
    has_others = scalar("any_match", [keys, lambda key: ~key.is_in(list(names))])
    text: DynExpr = when(has_others).then(scalar("concat", ["unknown key: ", line])).otherwise(line)
    return text


def _value_alone(rows: Any, field: Field) -> Any:
    """Return the value of a column, which is also read by itself where another one of its line is no value."""
    alone = from_json(rows[_LINE], NamedStruct((field,)).row_type(), on_failure="return_null")
    return when(rows[_OBJECT].is_null()).then(alone[field.name]).otherwise(rows[_OBJECT][field.name])


def _column(x: Any, field: Field, format_: str | None, invalid: OfInvalid) -> DynExpr:
    """Return a column of its declared type."""
    with error_context(place="column", name=field.name):
        type_ = field.type
        if type(type_) not in _SHORTER:
            return (x if type_.nullable else x.assert_not_null()).alias(field.name)  # type: ignore[no-any-return]
        on_failure: ex.FailureBehavior = "return_null" if invalid == "null" and type_.nullable else "throw"
        if isinstance(type_, OF_TIME):
            return value_of_text(x, type_, format_, on_failure).alias(field.name)
        return combine("cast", lambda parts: ex.Cast(parts[0], type_, on_failure), [x]).alias(field.name)
