"""Constants as dynamic values, written as JSON and parsed where the plan runs."""

from __future__ import annotations

import json
from decimal import Decimal
from math import isfinite

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.partiql.extension_catalog import own_call
from substrait_dsl.partiql.lowered import LoweredCollection, constants
from substrait_dsl.partiql.lowered_values import NOTHING, Column, Constant, LoweredValue
from substrait_dsl.partiql.operations import comparison_class
from substrait_dsl.partiql.printing import data_text
from substrait_dsl.partiql.untyped import is_dynamic
from substrait_dsl.partiql.values import MISSING, Bag, Struct, Value, elements

_DIGITS = 38
"""The number of digits that are parsed exactly."""


def as_dynamic(value: LoweredValue) -> LoweredValue:
    """Return a constant as a dynamic value; a dynamic one as it is. Raises `UnsupportedError` for others."""
    if value == NOTHING or is_dynamic(value):
        return value
    if not isinstance(value, Constant):
        raise UnsupportedError("a dynamic value of what is computed from a row is not lowered to Substrait")
    return Column(own_call("from_json", literal(_json(value.value), t.String())), "missing")


def dynamic_constants(collection: Value) -> LoweredCollection:
    """Return the elements of a value as dynamic values, one for each row."""
    texts = tuple(item if item is MISSING else _json(item) for item in elements(collection))
    values = constants(texts if isinstance(collection, tuple) else Bag(texts))
    if not isinstance(values.element, Column):
        return values  # no elements, or none that is there
    return attrs.evolve(values, element=Column(own_call("from_json", values.element.expression), "missing"))


def _json(value: Value) -> str:
    """Return a value as JSON. Raises `UnsupportedError` for values without a form in JSON."""
    match value:
        case None | bool() | str():
            return json.dumps(value, ensure_ascii=False)
        case float() if isfinite(value):
            return f"{value!r}e0" if "e" not in repr(value) else repr(value)  # what has no exponent is a decimal
        case int() | Decimal():
            text = format(value, "f") if isinstance(value, Decimal) else str(value)
            if isinstance(value, Decimal) and "." not in text:
                text += ".0"  # what has no point is an integer
            if sum(map(str.isdigit, text)) <= _DIGITS:
                return text
            raise UnsupportedError(f"a dynamic number has at most {_DIGITS} digits, {data_text(value)} has more")
        case tuple():
            return f"[{', '.join(map(_json, value))}]"
        case Struct(names=names, fields=fields) if len(set(names)) == len(names):
            return f"{{{', '.join(f'{_json(name)}: {_json(inner)}' for name, inner in fields)}}}"
        case Struct():
            raise UnsupportedError(f"a dynamic struct has no repeated names, as in {data_text(value)}")
        case _:
            raise UnsupportedError(
                f"a {comparison_class(value)} is no dynamic value that a plan could hold: {data_text(value)}"
            )
