"""The place of a value that is none of its type in files of JSON lines: the file, the line and the path in it.

Spark says that a text is no JSON of a type, and neither which nor why. The files are read once more, where they are on
this machine, up to the first line of which that is so.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Cast, Expression, FieldReference, Literal, ScalarFunction
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.catalog.everyday import URN
from substrait_dsl.catalog.strict_json import NUMBER, NumberText, StrictDecoder
from substrait_dsl.errors import ExecutionError, quote, shorten
from substrait_dsl.spark.diagnostics.explanations import refused_text
from substrait_dsl.spark.diagnostics.text_hints import OTHER_FORM
from substrait_dsl.spark.diagnostics.text_values import SECONDS, cast_text
from substrait_dsl.spark.session.failures import IS_NULL, OVERFLOWN_CAST, Failure
from substrait_dsl.spark.session.source_map import Record
from substrait_dsl.spark.sources.delimited_text import text_format
from substrait_dsl.spark.sources.paths import data_files, local_path
from substrait_dsl.spark.sources.text_headers import open_text
from substrait_dsl.spark.sources.text_parser import is_blank

NO_JSON = "a text is no JSON of "
"""How the error of `from_json` begins."""

_BITS = {t.I16: 16, t.I32: 32, t.I64: 64}
_EXACT = Context(prec=2000)
_IN_COLUMNS = (
    'in a column that is nullable, read_json(..., invalid="null") gives NULL there; one of string? has any value'
)


@attrs.frozen
class _Lines:
    """A read of JSON lines in a plan."""

    read: rl.Read
    names: tuple[str, ...]
    """The columns that are read of each line."""
    types: tuple[t.Type, ...]
    """The types that they are read as."""
    knows_keys: bool
    """Whether another key is an error."""
    plan: Rel


def name_json(error: ExecutionError, failure: Failure, records: Sequence[Record]) -> None:
    """Let an error name the value of a JSON line that is none of its type, and its place, if they are known."""
    said = failure.parameters.get("errorMessage") or failure.message
    is_beyond = failure.error_class == OVERFLOWN_CAST or said.startswith("a value does not fit ")
    text = None if is_beyond else refused_text(failure)
    for lines in (each for record in records for each in _json_lines(record.plan)):
        if NO_JSON in said:
            fault = _first(lines, lambda value, lines=lines: _misfit(value, lines))
        elif said.endswith(IS_NULL):
            required = _required_columns(lines)
            fault = _first(lines, lambda value, lines=lines, names=required: _missing(value, names, lines))
        elif text is not None or is_beyond:
            fault = _first(lines, lambda value, lines=lines: _other_text(value, text, lines))
        else:
            return
        if fault is not None:
            error.message, error.hint = fault
            error.args = (error.message,)
            return


def _json_lines(plan: Rel) -> Iterator[_Lines]:
    """Yield the reads of a plan whose lines are read as objects."""
    for rel in walk(plan):
        if not isinstance(rel, rl.Project) or not isinstance(rel.input, rl.Read) or text_format(rel.input) is None:
            continue
        for call in (part for each in rel.expressions for part in walk(each, into_relations=False)):
            if not isinstance(call, ScalarFunction) or (call.function.urn, call.function.name) != (URN, "from_json"):
                continue
            constants = [each.value for each in call.arguments if isinstance(each, Literal)]
            if isinstance(call.output_type, t.Struct) and constants and isinstance(constants[0], str):
                type_ = _with_names(call.output_type, iter(json.loads(constants[0])))
                assert isinstance(type_, t.Struct)
                is_plain = isinstance(call.arguments[0], FieldReference)
                yield _Lines(rel.input, type_.field_names, type_.types, not is_plain, plan)


def _with_names(type_: t.Type, names: Iterator[str]) -> t.Type:
    """Return a type with the names of fields, depth first, which a plan has beside it."""
    match type_:
        case t.Struct():
            found: list[str] = []
            types: list[t.Type] = []
            for each in type_.types:
                found.append(next(names))
                types.append(_with_names(each, names))
            return attrs.evolve(type_, types=tuple(types), names=tuple(found))
        case t.List():
            return attrs.evolve(type_, element=_with_names(type_.element, names))
        case t.Map():
            return attrs.evolve(type_, value=_with_names(type_.value, names))
        case _:
            return type_


_DECODER = StrictDecoder()

Said = tuple[str, str]
"""What is said of a value, and the hint."""


def _first(lines: _Lines, look: Any) -> Said | None:
    """Return what is said of the first line that has a fault, behind its place."""
    form, definition = text_format(lines.read), lines.read.definition
    if form is None or not isinstance(definition, rl.LocalFiles):
        return None
    until = time.monotonic() + SECONDS
    try:
        for item in definition.items:
            for path in data_files(item) if local_path(item.uri) is not None else ():
                with open_text(path, definition.text) as file:
                    for number, line in enumerate(file, start=1):
                        if is_blank(line, form):
                            continue
                        if (found := _fault(line, look)) is not None:
                            return f"line {number} of {path}{found[0]}", found[1]
                        if time.monotonic() > until:
                            return None
    except (OSError, EOFError, UnicodeError):
        pass
    return None


def _fault(line: str, look: Any) -> Said | None:
    try:
        found: Said | None = look(_DECODER.decode(line))
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        return (
            f" is no JSON: {shorten(why)}",
            'one object stands in each line; read_json(..., invalid="null") gives NULL',
        )
    return found


def _misfit(value: Any, lines: _Lines) -> Said | None:
    """Return what is wrong with an object of a line: the first value that is none of its type."""
    if not isinstance(value, dict):
        return f" is no object, but {_shown(value)}", "one object stands in each line"
    if others := _other_keys(value, lines):
        return f" has a key that is not declared: {quote(others[:1])}", 'unknown_keys="skip" passes over it'
    for name, type_ in zip(lines.names, lines.types, strict=True):
        if (found := _misplaced(value.get(name), type_, name)) is not None:
            path, wrong, wanted = found
            return f', "{path}": the value {_shown(wrong)} is no value of {wanted.as_required()}', _IN_COLUMNS
    return None


def _misplaced(value: Any, type_: t.Type, path: str) -> tuple[str, Any, t.Type] | None:
    """Return the first value inside of one that `from_json` does not take: its path, itself, its type."""
    if value is None:
        return None
    inside: list[tuple[Any, t.Type, str]] = []
    match type_:
        case t.Struct() if isinstance(value, dict):
            names = zip(type_.field_names, type_.types, strict=True)
            inside = [(value.get(name), each, f"{path}.{name}") for name, each in names]
        case t.Map() if isinstance(value, dict):
            inside = [(each, type_.value, f"{path}.{key}") for key, each in value.items()]
        case t.List() if isinstance(value, list):
            inside = [(each, type_.element, f"{path}[{number}]") for number, each in enumerate(value)]
        case _ if not _is_value(value, type_):
            return path, value, type_
    return next((found for each in inside if (found := _misplaced(*each)) is not None), None)


def _is_value(value: Any, type_: t.Type) -> bool:
    match type_:
        case t.String():
            return True
        case t.Boolean():
            return isinstance(value, bool)
        case t.FP64():
            return isinstance(value, NumberText)
        case t.I16() | t.I32() | t.I64():
            is_integer = isinstance(value, NumberText) and re.fullmatch("-?[0-9]{1,20}", value) is not None
            return is_integer and -(2 ** (_BITS[type(type_)] - 1)) <= int(value) < 2 ** (_BITS[type(type_)] - 1)
        case t.Decimal():
            if not isinstance(value, str) or not re.fullmatch(NUMBER, value):
                return False
            number = Decimal(value)
            if number and number.adjusted() >= type_.precision - type_.scale:
                return False
            if number.adjusted() < -type_.scale - 1:
                return True
            rounded = number.quantize(Decimal((0, (1,), -type_.scale)), ROUND_HALF_UP, _EXACT)
            return bool(abs(rounded) < Decimal(10) ** (type_.precision - type_.scale))
        case _:
            return False


def _required_columns(lines: _Lines) -> Sequence[tuple[str, t.Type]]:
    """Return the columns of lines that a plan declares as required."""
    typed: dict[str, t.Type] = {}
    for rel in walk(lines.plan):
        if isinstance(rel, rl.Project):
            typed |= dict(zip(rel.names, (each.type for each in rel.expressions), strict=True))
    return [(name, typed[name]) for name in lines.names if name in typed and not typed[name].nullable]


def _missing(value: Any, required: Sequence[tuple[str, t.Type]], lines: _Lines) -> Said | None:
    """Return what is said of an object without a value that is required, or with another one in its place."""
    if not isinstance(value, dict) or _other_keys(value, lines):
        return _misfit(value, lines)
    for name, type_ in required:
        if value.get(name) is None:
            said = f', "{name}": it is {type_}, and required, but NULL or not there'
            return said, f'declare it nullable, "{type_.as_nullable()}"'
        if _misplaced(value[name], lines.types[lines.names.index(name)], name) is not None:
            return _misfit(value, lines)
    return None


def _other_keys(value: Mapping[str, Any], lines: _Lines) -> Sequence[str]:
    """Return the keys of an object that are an error."""
    return [key for key in value if key not in lines.names] if lines.knows_keys else []


def _other_text(value: Any, text: str | None, lines: _Lines) -> Said | None:
    """Return what is said of an object that has a text which a cast does not take; None: one beyond its type."""
    found = OTHER_FORM.match(text or "")
    wanted, suffix = (text, None) if found is None else (found[1], found[2])
    for rel in walk(lines.plan):
        casts = zip(rel.names, rel.expressions, strict=True) if isinstance(rel, rl.Project) else ()
        for name, expression in casts:
            there = value.get(name) if isinstance(value, dict) else None
            if name not in lines.names or not isinstance(there, str) or not _is_cast(expression):
                continue
            if wanted is None:
                is_found = _is_beyond(there, expression.type)
            else:
                is_found = wanted.strip() in (there.strip(" \t"), cast_text(expression, there.strip(" \t")))
            if is_found:
                type_ = expression.type.as_required()
                said = f"{suffix} ({type_})" if suffix else f"is no value of {type_}"
                return f', "{name}": the value {_shown(there)} {said}', _IN_COLUMNS
    return None


def _is_beyond(text: str, type_: t.Type) -> bool:
    """Whether an integer is too large for its type, or a text too long or too short."""
    match type_:
        case t.I8():
            return isinstance(text, NumberText) and not -128 <= int(text) < 128
        case t.VarChar():
            return bool(len(text) > type_.length)
        case t.FixedChar():
            return bool(len(text) != type_.length)
        case _:
            return False


def _is_cast(expression: Expression) -> bool:
    return any(isinstance(part, Cast) for part in walk(expression, into_relations=False))


def _shown(value: Any) -> str:
    """Write a value as JSON."""
    if isinstance(value, NumberText):
        return shorten(value)
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return shorten(json.dumps(value, ensure_ascii=False))
