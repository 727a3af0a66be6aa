"""The printer of the notation, on one line: `parse` of its output is equal to the printed expression."""

from __future__ import annotations

import base64
import datetime as dt
import re
from collections.abc import Iterable
from decimal import Decimal
from math import isinf, isnan
from typing import Any

import attrs

from substrait_dsl.errors import UnsupportedError, class_words
from substrait_dsl.partiql.expressions import Operator
from substrait_dsl.partiql.lexer import IDENTIFIER
from substrait_dsl.partiql.node import Form, Node, fields_of, form_of, require_node
from substrait_dsl.partiql.values import Bag, BindingsData, BindingTuple, CollectionType, Missing, Struct, Value

_RESERVED = frozenset(("null", "true", "false", "nan", "MISSING"))
"""Words that are no symbols."""

_ESCAPED = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


def render(node: Node) -> str:
    """Print an expression in the notation, on one line: ``(scan (id Foo) f null null)``."""
    require_node(node, "render")
    head = node.op if isinstance(node, Operator) else node.head
    parts = [head] if head else []
    for field in fields_of(type(node)):
        parts += _parts(field, getattr(node, field.name))
    return f"({' '.join(parts)})"


def _parts(field: attrs.Attribute[Any], value: Any) -> list[str]:
    match form_of(field):
        case Form.VALUE | Form.BINDINGS:
            return [render(value)]
        case Form.MAYBE_VALUE:
            return ["null" if value is None else render(value)]
        case Form.VALUES | Form.REST:
            return [render(one) for one in value]
        case Form.NODES:
            return [f"({' '.join(render(one) for one in value)})"]
        case Form.DATA:
            return [symbol(value) if isinstance(value, str) else data_text(value)]
        case Form.MAYBE_NAME:
            return ["null" if value is None else symbol(value)]
        case Form.NAME | Form.WORD:
            return [symbol(value)]


def symbol(name: str) -> str:
    """Return a name, in quotes where it needs them."""
    return name if IDENTIFIER.fullmatch(name) and name not in _RESERVED else _quote(name, "'")


def data_text(data: Value | BindingsData | BindingTuple) -> str:
    """Print data in the notation, on one line: ``<< { x: 1 }, MISSING >>``.

    Raises `UnsupportedError` for a value that the notation has no form for.
    """
    match data:
        case None:
            return "null"
        case Missing():
            return "MISSING"
        case bool():
            return "true" if data else "false"
        case int():
            return _integer(data)
        case float():
            return _float(data)
        case Decimal():
            return _decimal(data)
        case str():
            return _quote(data, '"')
        case bytes():
            return f"{{{{{base64.b64encode(data).decode()}}}}}"
        case dt.datetime():
            return _timestamp(data)
        case dt.date():
            return data.isoformat()
        case tuple():
            return _print_collection("list", data)
        case Bag(items=items):
            return _print_collection("bag", items)
        case Struct(fields=fields):
            return f"{{ {_fields(fields)} }}" if fields else "{ }"
        case BindingTuple(fields=fields):
            return f"<{{ {_fields(fields)} }}>"
        case BindingsData(collection_type=collection_type, tuples=tuples):
            return _print_collection(collection_type, tuples)
        case _:
            raise UnsupportedError(f"the notation has no form for {class_words(data)}: {data!r}")


def _fields(fields: tuple[tuple[str, Value], ...]) -> str:
    return ", ".join(f"{symbol(name)}: {data_text(value)}" for name, value in fields)


def _print_collection(collection_type: CollectionType, items: Iterable[Value | BindingTuple]) -> str:
    inside = ", ".join(map(data_text, items))
    if collection_type == "list":
        return f"[{inside}]"
    return f"<< {inside} >>" if inside else "<< >>"


def _integer(number: int) -> str:
    try:
        return str(number)
    except ValueError as error:
        raise UnsupportedError(f"the notation has no form for an integer of {number.bit_length()} bits") from error


def _timestamp(timestamp: dt.datetime) -> str:
    """Print a timestamp with an offset in hours and minutes, as in Ion; the unknown offset stands for none."""
    offset = timestamp.utcoffset()
    if offset is None:
        return f"{timestamp.replace(tzinfo=None).isoformat()}-00:00"
    if offset % dt.timedelta(minutes=1):
        raise UnsupportedError(f"the notation has no form for a zone with parts of a minute: {timestamp.isoformat()}")
    return timestamp.isoformat()


def _float(number: float) -> str:
    if isnan(number):
        return "nan"
    if isinf(number):
        return "+inf" if number > 0 else "-inf"
    text = repr(number)
    return text if "e" in text else f"{text}e0"


def _decimal(number: Decimal) -> str:
    """Print a decimal with a point or an exponent, which tells it from an integer."""
    if not number.is_finite():
        raise UnsupportedError(f"the notation has no form for the decimal {number}")
    text = str(number).lower().replace("e+", "d").replace("e", "d")
    return text if "." in text or "d" in text else f"{text}."


def _quote(text: str, quote: str) -> str:
    if re.search(r"[\ud800-\udfff]", text):
        raise UnsupportedError(f"the notation has no form for half a character: {text!r}")
    inside = "".join(
        f"\\{quote}" if one == quote else _ESCAPED.get(one) or (one if one.isprintable() else f"\\U{ord(one):08x}")
        for one in text
    )
    return f"{quote}{inside}{quote}"
