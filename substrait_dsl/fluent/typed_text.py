"""Typed columns of delimited text: a read of texts, and the casts that a schema asks for.

Specification: ``FileOrFiles.DelimiterSeparatedTextReadOptions``, whose fields are strings, and ``Expression.Cast``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast, get_args, overload

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.errors import (
    InvalidArgumentError,
    TypeMismatchError,
    UnknownFieldError,
    error_context,
    require_choice,
)
from substrait_dsl.everyday.time_texts import to_date, to_timestamp
from substrait_dsl.fluent.base import S2
from substrait_dsl.fluent.calls import scalar
from substrait_dsl.fluent.conditionals import when
from substrait_dsl.fluent.expr import DynExpr, combine
from substrait_dsl.fluent.files import PathLike, file_items, text_reading
from substrait_dsl.fluent.read_options import read
from substrait_dsl.fluent.schema_forms import Declared
from substrait_dsl.fluent.schemas import DynRow, SchemaLike, as_struct

if TYPE_CHECKING:
    from substrait_dsl.fluent.relation import Relation

OfInvalid = Literal["error", "null"]
"""What a text gives that is no value of its type."""

_BEHAVIORS: Mapping[OfInvalid, ex.FailureBehavior] = {"error": "throw", "null": "return_null"}

_CAST_ALONE = (*t.INTEGER_TYPES, t.String, t.VarChar, t.FixedChar)
"""The types whose casts take no text that a reader would take for something else."""

OF_TIME = (t.Date, t.PrecisionTimestamp, t.PrecisionTimestampTZ)
"""The types whose casts take no blanks around a text, in some engines."""

_BLANKS = r"[ \t]*"
_BOOLEAN = "|".join(
    "".join(f"[{c}{c.upper()}]" for c in word) for word in ("true", "t", "yes", "y", "false", "f", "no", "n")
)
_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = "[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,%d})?)?"
_SECONDS = "[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,%d})?"
_FLOAT = (
    r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?"
    r"|[+-]?[iI][nN][fF]([iI][nN][iI][tT][yY])?|[nN][aA][nN]"
)


def _form(type_: t.Type) -> tuple[str, str] | None:
    """Return the pattern of the texts of a type, and what is said of others; None: the cast alone says it.

    Raises `TypeMismatchError` for a type that no text is cast to.
    """
    match type_:
        case t.Boolean():
            return f"{_BOOLEAN}|1|0", "is no truth value"
        case t.FP32() | t.FP64():
            return _FLOAT, "is no number"
        case t.Decimal(scale=0):
            return "[+-]?[0-9]+([.]0*)?", "is no number without digits after the point"
        case t.Decimal(scale=scale):
            digits = f"[0-9]+([.][0-9]{{0,{scale}}}0*)?|[.][0-9]{{1,{scale}}}0*"
            return f"[+-]?({digits})", f"is no number with at most {scale} digits after the point"
        case t.Date():
            return _DATE, "is not of the form %Y-%m-%d"
        case t.PrecisionTimestamp(precision=digits) if digits:
            return f"{_DATE}([ T]{_TIME % digits})?", "is not of the form %Y-%m-%d %H:%M:%S"
        case t.PrecisionTimestampTZ(precision=digits) if digits:
            zone = "(Z|[+-][0-9]{2}:[0-9]{2})"
            return f"{_DATE}[ T]{_SECONDS % digits}{zone}", "is not of the form %Y-%m-%d %H:%M:%S+00:00"
        case _ if isinstance(type_, _CAST_ALONE):
            return None
    raise TypeMismatchError(
        f"delimited text has no values of {type_.as_required()}",
        hint="it has numbers, truth values, texts, dates, and timestamps with digits after the second: "
        "declare a string, and compute the value of it",
    )


def _cast(x: DynExpr, type_: t.Type, on_failure: ex.FailureBehavior) -> DynExpr:
    """Cast to exactly this type: where it is required, NULL is a failure (spec decision 23)."""
    return combine("cast", lambda parts: ex.Cast(parts[0], type_, on_failure), [x])


def value_of_text(x: DynExpr, type_: t.Type, format_: str | None, on_failure: ex.FailureBehavior) -> DynExpr:
    """Return the value that a text has in a type."""
    if isinstance(type_, OF_TIME):
        x = scalar("trim", [x, " \t"])
    if format_ is not None:
        read, what = (to_date, "dates") if isinstance(type_, t.Date) else (to_timestamp, "timestamps")
        try:
            found: DynExpr = read(x, format_, on_failure=on_failure)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"the format is not one of {what}", reason=error) from None
        return found if type_.nullable else _cast(found, type_, "throw")
    if (form := _form(type_)) is None:
        return _cast(x, type_, on_failure)
    pattern, other = form
    has_form: Any = scalar("regexp_count_substring", [x, rf"\A{_BLANKS}({pattern}){_BLANKS}\z"]) > 0
    value, other_value = when(has_form).then(_cast(x, type_, on_failure)), None
    # The query fails, and its error shows the text that is cast: it says what is wrong with it.
    if on_failure == "throw":
        other_value = _cast(scalar("concat", [x, f" {other}"]), type_, on_failure)
    return cast("DynExpr", value.otherwise(other_value))


def require_formats(formats: Any, struct: NamedStruct) -> Mapping[str, str]:
    """Return the formats by column. Raises as `read_csv` says."""
    if formats is None:
        return {}
    if not isinstance(formats, Mapping):
        raise InvalidArgumentError("formats is a dict of texts by column", got=formats, hint='{"day": "%d/%m/%Y"}')
    for name in formats:
        if name not in struct.names:
            raise UnknownFieldError.of_name(name, struct.names)
        type_ = struct.fields[struct.position(name)].type
        if not isinstance(type_, t.Date) and type_.as_required() != t.PrecisionTimestamp(6):
            raise TypeMismatchError(
                f'a format is for dates and precision_timestamp<6>, but column "{name}" is {type_}', names=[name]
            )
    return formats


@overload
def read_csv(
    paths: PathLike | Sequence[PathLike],
    schema: type[S2],
    *,
    separator: str = ...,
    header: bool | int | rl.HeaderRule = ...,
    null_value: str | None = ...,
    formats: Mapping[str, str] | None = ...,
    invalid: OfInvalid = ...,
    quote: str = ...,
    escape: str = ...,
    kind: rl.PathKind = ...,
    line_breaks: rl.LineBreaks = ...,
    encoding: str = ...,
) -> Relation[S2]: ...
@overload
def read_csv(
    paths: PathLike | Sequence[PathLike],
    schema: Declared,
    *,
    separator: str = ...,
    header: bool | int | rl.HeaderRule = ...,
    null_value: str | None = ...,
    formats: Mapping[str, str] | None = ...,
    invalid: OfInvalid = ...,
    quote: str = ...,
    escape: str = ...,
    kind: rl.PathKind = ...,
    line_breaks: rl.LineBreaks = ...,
    encoding: str = ...,
) -> Relation[DynRow]: ...
def read_csv(
    paths: PathLike | Sequence[PathLike],
    schema: SchemaLike,
    *,
    separator: str = ",",
    header: bool | int | rl.HeaderRule = True,
    null_value: str | None = "",
    formats: Mapping[str, str] | None = None,
    invalid: OfInvalid = "error",
    quote: str = '"',
    escape: str = '"',
    kind: rl.PathKind = "path",
    line_breaks: rl.LineBreaks = "end_records",
    encoding: str = "utf-8",
) -> Relation[Any]:
    """Read delimited text, such as CSV, with typed columns.

    It is `read_files` of texts, and a projection that casts them: the plan has both. What texts a type has is said in
    ``docs/recipes.md``, "Typed columns of text".

    Args:
        paths: as for `read_files`.
        schema: the columns, in the order of the fields: numbers, truth values, texts, dates, timestamps.
        separator: what stands between two fields.
        header: whether the first line names the columns. Then it must have their names, in their order, as for
            `read_files`; ``"skip"``: it may have other names. A number: so many lines stand above the records, and the
            last of them names the columns.
        null_value: the text that stands for NULL, also in quotes; None: no text does. In a column that is required it
            is an error.
        formats: by column, the format of dates that are not written as ``2024-05-31``, ``{"day": "%d/%m/%Y"}``, and
            of timestamps, ``{"at": "%d/%m/%Y %H:%M"}``: as for `everyday.to_date` and `everyday.to_timestamp`.
        invalid: ``"error"`` fails the query where a text is no value of its type, ``"null"`` gives NULL in columns
            that are nullable, and fails in others.
        quote: what a field stands in that has a separator, or a quote, in it.
        escape: what stands before a quote in such a field: another quote, or a backslash.
        kind: as for `read_files`.
        line_breaks: as for `read_files`.
        encoding: as for `read_files`.

    Returns:
        A relation with the columns of the schema.

    Raises:
        TypeMismatchError: a type that no text has, or a format for what is no date or timestamp.
        UnknownFieldError: a format for a column that is not there.
        InvalidArgumentError: another format of dates or timestamps, or as `read_files`.
        InvalidChoiceError: another word of `invalid`, `kind`, `header`, `line_breaks` or `encoding`.

    Output: the columns of the schema. Specification: ``ReadRel.LocalFiles``, ``ProjectRel`` and ``Expression.Cast``.

    Example:
        >>> print(sd.read_csv("s3://lake/in.csv", {"id": "i64", "who": "string?"}))
        emit -> id: i64 = id#2, who: string?
          project -> *, id: i64 = cast(id as i64)
            read files delimited text (header_lines_to_skip 1, null_value '') 's3://lake/in.csv'
                | -> id: string?, who: string?
    """
    with error_context(verb="read_csv"):
        rule = _header_rule(header)
        require_choice("invalid", invalid, get_args(OfInvalid))
        struct = as_struct(schema)
        formats = require_formats(formats, struct)
        on_failure = _BEHAVIORS[invalid]
        form = rl.DelimitedText(separator, quote, escape, _header_lines(header), null_value=null_value)
        text = t.String(nullable=null_value is not None)
        texts = NamedStruct(tuple(Field(field.name, text) for field in struct))
        files = rl.LocalFiles(file_items(paths, form, kind), text=text_reading(rule, line_breaks, encoding, form))
        lines = read(texts, files, None, None, None, (), None, None)
        columns = [_column(lines[field.name], text, field, formats.get(field.name), on_failure) for field in struct]
        return lines.select(*columns) if struct != texts else lines


def _header_rule(header: Any) -> rl.HeaderRule:
    """Return what is asked of a header. Raises `InvalidArgumentError` and `InvalidChoiceError`."""
    if isinstance(header, str):
        require_choice("header", header, rl.HEADER_RULES)
        return cast("rl.HeaderRule", header)
    if not isinstance(header, int) or header < 0:
        raise InvalidArgumentError("header is True, False, or how many lines it has", got=header)
    return "check"


def _header_lines(header: bool | int | str) -> int:
    """Return how many lines stand above the records."""
    return 1 if isinstance(header, str) else int(header)


def _column(
    text: DynExpr, text_type: t.Type, field: Field, format_: str | None, on_failure: ex.FailureBehavior
) -> DynExpr:
    """Return a column of its declared type."""
    with error_context(place="column", name=field.name):
        if field.type == text_type:
            return text
        behavior = on_failure if field.type.nullable else "throw"
        return value_of_text(text, field.type, format_, behavior).alias(field.name)
