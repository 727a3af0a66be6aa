"""Masks as SQL text: structs of the selected fields, and lists of the selected elements.

Specification: https://substrait.io/expressions/field_references/#masked-complex-expression.
"""

from __future__ import annotations

from collections.abc import Sequence

from substrait_dsl.algebra.expressions import ListMask, Mask, StructMask
from substrait_dsl.algebra.types import List, Struct, Type
from substrait_dsl.spark.expressions.literals import struct_to_sql


def masked_row(columns: Sequence[str], mask: StructMask, struct: Struct) -> str:
    """Write a struct of the parts of a row that a mask selects."""
    parts = (
        columns[item.position]
        if item.child is None
        else masked_value(columns[item.position], item.child, struct.types[item.position])
        for item in mask.items
    )
    return struct_to_sql(parts)


def masked_value(text: str, mask: Mask, type_: Type, *, may_be_null: bool = False, depth: int = 0) -> str:
    """Write what a mask selects of a value; NULL stays NULL.

    Args:
        text: SQL text of the value.
        mask: what to keep.
        type_: the type of the value.
        may_be_null: whether parts may be NULL whatever their types say, as in a table before that was looked at.
        depth: how many lambdas of this function are around the text.
    """
    match mask, type_:
        case StructMask(items=items), Struct(types=types):
            fields = []
            for item in items:
                field = f"{text}.f{item.position}"
                if item.child is not None:
                    part = types[item.position]
                    field = masked_value(field, item.child, part, may_be_null=may_be_null, depth=depth)
                fields.append(field)
            struct = struct_to_sql(fields)
            return f"if({text} IS NULL, NULL, {struct})" if type_.nullable or may_be_null else struct
        case ListMask(), List(element=element):
            elements = _elements(text, mask, depth)
            if mask.child is None:
                return elements
            name = f"__m{depth}"
            inner = masked_value(name, mask.child, element, may_be_null=may_be_null, depth=depth + 1)
            return f"transform({elements}, {name} -> {inner})"
        case _:
            raise AssertionError("the type of a mask was looked at when it was built")


def _elements(text: str, mask: ListMask, depth: int) -> str:
    """The elements of a list that a mask selects; positions behind the end of a shorter list select nothing."""
    if not mask.positions:
        return f"slice({text}, 1, {mask.first})"
    position = f"__n{depth}"
    tests = [f"{position} < {mask.first}"] * bool(mask.first)
    tests.append(f"{position} IN ({', '.join(map(str, mask.positions))})")
    return f"filter({text}, (__m{depth}, {position}) -> {' OR '.join(tests)})"
