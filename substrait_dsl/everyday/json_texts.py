"""Texts of JSON: what stands at a path, values of declared types, and values as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.types import struct_names
from substrait_dsl.catalog.everyday import URN, everyday_catalog
from substrait_dsl.catalog.everyday_json import JSON_PATH
from substrait_dsl.errors import InvalidArgumentError, TypeMismatchError, error_context, quote, require, require_choice
from substrait_dsl.everyday.calling import call_own
from substrait_dsl.fluent.calls import scalar_call
from substrait_dsl.fluent.expr import DynExpr, combine
from substrait_dsl.fluent.leaf_expressions import null
from substrait_dsl.fluent.schemas import Schema, as_struct, as_type

_OF_JSON = (t.Boolean, t.I16, t.I32, t.I64, t.FP64, t.String, t.Decimal)
"""The types of values that are read; beside lists, structs and maps of such."""

_AS_JSON = (*_OF_JSON, t.I8, t.Date, t.PrecisionTimestamp)
"""The types of values that are written."""


def get_json(x: object, path: str) -> DynExpr:
    """Return what stands at a path of a JSON text: a string as its text, anything else as JSON without spaces.

    A number with a fraction or an exponent is read as an fp64, and written as ``1.5``, ``100000.0`` or ``1.0E10``; an
    integer keeps all its digits.

    Args:
        x: a string.
        path: ``"$.user.tags[0]"``: the names of fields and the places in arrays, from 0; ``['a name']`` for names with
            other characters. ``"$"`` is all of it.

    Returns:
        A string, NULL where there is nothing at the path, or ``null``, and where `x` is no JSON, which it is not
        either if an object has a name twice.

    Raises:
        InvalidArgumentError: `path` is no such text.
        FunctionNotFoundError: for what is no string.

    Specification: https://substrait.io/extensions/; an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> events = sd.read_named("events", {"body": "string"})
        >>> print(events.select(page=lambda r: e.get_json(r.body, "$.page")).schema)
        0  page  string?
    """
    with error_context(verb="get_json"):
        require(path, str, "a path is a text", '"$.name"')
        if not JSON_PATH.fullmatch(path):
            meant = f"$.{path}" if not path.startswith("$") else "$.user.tags[0]"
            hint = f"write {json.dumps(meant if JSON_PATH.fullmatch(meant) else '$.user.tags[0]', ensure_ascii=False)}"
            raise InvalidArgumentError(
                "a path is $, then .name, ['name'] or [0], any number of them", got=path, hint=hint
            )
        return call_own("get_json", x, path)


def from_json(x: object, type_: Any, *, on_failure: ex.FailureBehavior = "throw") -> DynExpr:
    """Convert a JSON text to a value of a declared type.

    Args:
        x: a string. Beyond 999 levels, numbers of 1000 digits, names of 50,000 and strings of 20 million characters it
            is no JSON to Spark.
        type_: what the text holds: ``boolean``, ``i16``, ``i32``, ``i64``; ``fp64``, infinite beyond its range;
            ``decimal``, of a number or a string of one, whose digits too many are rounded half away from zero;
            ``string``, of any value as `get_json` gives it; lists; structs, as a schema class or ``{"a": "i64?"}``;
            maps by strings. All that is inside is nullable: it may be missing. Fields that the type does not have are
            passed over.
        on_failure: ``"throw"`` fails the query where a text is no JSON, or holds another type anywhere;
            ``"return_null"`` gives NULL for all of it.

    Returns:
        A value of the type, nullable: ``null`` is NULL.

    Raises:
        InvalidArgumentError: for a type that is not read, a struct without names, and what is required inside.
        InvalidChoiceError: for another word of `on_failure`.
        FunctionNotFoundError: for what is no string.

    Specification: https://substrait.io/extensions/; an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> events = sd.read_named("events", {"body": "string"})
        >>> body = {"page": "string?", "tags": "list?<string?>"}
        >>> print(events.select(body=lambda r: e.from_json(r.body, body)).select(tags=lambda r: r.body["tags"]).schema)
        0  tags  list<string?>?
    """
    with error_context(verb="from_json"):
        require_choice("on_failure", on_failure, ex.FAILURE_BEHAVIORS)
        is_schema = isinstance(type_, Mapping) or (isinstance(type_, type) and issubclass(type_, Schema))
        wanted = (as_struct(type_).row_type() if is_schema else as_type(type_)).as_nullable()
        _require_types("it reads", wanted, "$", _OF_JSON, is_read=True)
        call: DynExpr = call_own("from_json", x, on_failure.upper(), _names_of(wanted), null(wanted))
    # No name of a field is part of a type's identity; who goes on with it has those that were declared.
    return combine("from_json", lambda parts: attrs.evolve(parts[0], output_type=wanted), [call])


def to_json(x: object) -> DynExpr:
    """Write a value as JSON, without spaces; NULL inside as ``null``.

    Numbers are written as `get_json` does, decimals with all their digits, dates and times as ``"2024-05-31"`` and
    ``"2024-05-31T13:14:15.000000"``; an fp64 that is no number, or infinite, as a string.

    Args:
        x: what `from_json` reads, an i8, a date, or a timestamp without time zone in microseconds.

    Returns:
        A string, NULL if `x` is.

    Raises:
        TypeMismatchError: for another type, and a struct without names.

    Specification: https://substrait.io/extensions/; an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(orders.select(x=lambda o: e.to_json(sd.struct_of(id=o.id, price=o.price))).schema)
        0  x  string
    """
    return combine("to_json", _to_json, [x])


def _to_json(parts: Sequence[Any]) -> ex.Expression:
    (value,) = parts
    if not isinstance(value, ex.Expression):
        raise InvalidArgumentError("to_json writes an expression", got=value, hint="lit(value) is one")
    try:
        _require_types("it writes", value.type, "$", _AS_JSON, is_read=False)
    except InvalidArgumentError as error:
        raise TypeMismatchError(str(error.args[0]), hint=error.hint) from None
    names = ex.literal(_names_of(value.type), t.String())
    return scalar_call("to_json", {}, URN, everyday_catalog(), [value, names])


def require_json_type(type_: t.Type, name: str) -> None:
    """Raise `InvalidArgumentError` for a type that `from_json` does not read, below a name."""
    _require_types("JSON gives", type_, name, _OF_JSON, is_read=True)


def _names_of(type_: t.Type) -> str:
    """Return the names of fields in a type, depth first, as JSON: a plan keeps them for engines."""
    return json.dumps(list(struct_names(type_)), ensure_ascii=False)


def _require_types(what: str, type_: t.Type, path: str, known: tuple[type[t.Type], ...], *, is_read: bool) -> None:
    """Raise `InvalidArgumentError` for a type that JSON does not give, or hold."""
    match type_:
        case t.Struct(names=None):
            raise InvalidArgumentError(f"{what} structs by the names of their fields", got=type_, hint=_NAMED)
        case t.Struct():
            inside = [(f"{path}.{name}", each) for name, each in zip(type_.field_names, type_.types, strict=True)]
            if len(set(type_.field_names)) < len(inside):
                raise InvalidArgumentError(f"{what} no struct that has a name twice", got=type_)
        case t.List():
            inside = [(f"{path}[0]", type_.element)]
        case t.Map():
            if not isinstance(type_.key, t.String):
                raise InvalidArgumentError(f"{what} maps by strings", got=type_)
            inside = [(f"{path}.*", type_.value)]
        case _:
            inside = []
            is_fine = not isinstance(type_, t.PrecisionTimestamp) or type_.precision == 6
            if not isinstance(type_, known) or not is_fine or type_.variation is not None:
                names = quote([class_.keyword for class_ in known])
                hint = "declare a string, and cast it" if is_read else "cast it to a string"
                raise InvalidArgumentError(
                    f"{what} {names}, lists, structs and maps, and not {type_} ({path})", hint=hint
                )
    for place, each in inside:
        if is_read and not each.nullable:
            raise InvalidArgumentError(
                f"what is inside of JSON may be missing or null, and {each} ({place}) is required",
                hint=f"declare {each.as_nullable()}",
            )
        _require_types(what, each, place, known, is_read=is_read)


_NAMED = 'a schema has names: {"a": "i64?"}'
