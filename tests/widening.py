"""Random numbers of every type beside each other, and what expressions over them are by Python's fractions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

import substrait_dsl as sd
from substrait_dsl import functions as f

TYPES = ("i8", "i16", "i32", "i64", "fp32", "fp64", "decimal<9,2>", "decimal<12,5>", "decimal<7,0>")
"""Columns of these are beside each other; none has so many digits that a product of two has more than 38."""

BITS = {"i8": 3, "i16": 7, "i32": 15, "i64": 31}
"""How large integers are: a product of two is one of the type."""

ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

Column = Callable[[Any], Any]
Rows = list[dict[str, Any]]


def value(type_: str, random: Random) -> Any:
    """A random value of a type, often a small one, so that some are equal."""
    small = random.random() < 0.4
    match type_.partition("<"):
        case (("fp32" | "fp64") as keyword, _, _):
            number = float(random.randint(-4, 4)) if small else random.uniform(-1e6, 1e6)
            return float(np.float32(number)) if keyword == "fp32" else number
        case ("decimal", _, parameters):
            precision, scale = map(int, parameters.rstrip(">").split(","))
            most = 5 * 10**scale if small else 10**precision - 1
            return Decimal(random.randint(-most, most)).scaleb(-scale)
        case (keyword, _, _):
            most = 4 if small else 2 ** BITS[keyword] - 1
            return random.randint(-most, most)


def rows(random: Random, count: int) -> Rows:
    """Rows with a column of each type, some NULL."""
    return [
        {f"c{number}": None if random.random() < 0.1 else value(type_, random) for number, type_ in enumerate(TYPES)}
        for _ in range(count)
    ]


def relation(values: Rows) -> sd.Relation[Any]:
    """The rows as a relation."""
    columns = {f"c{number}": f"{type_}?" for number, type_ in enumerate(TYPES)}
    return sd.read_virtual([tuple(row.values()) for row in values], columns)


def expressions(random: Random) -> dict[str, tuple[Column, Callable[[dict[str, Any]], Any]]]:
    """Expressions over two columns of other types by name, and what each is of a row, None for NULL."""
    found: dict[str, tuple[Column, Callable[[dict[str, Any]], Any]]] = {}
    for left in range(len(TYPES)):
        for right in range(len(TYPES)):
            if left != right and is_widened(TYPES[left], TYPES[right]):
                for name in (random.choice(list(ARITHMETIC)), random.choice(list(COMPARISONS)), "coalesce", "is_in"):
                    found[f"x{len(found)}"] = expression(name, f"c{left}", f"c{right}", TYPES[left], TYPES[right])
    return found


def is_widened(left: str, right: str) -> bool:
    """Whether numbers of two types come together: no i64 and no decimal beside a float."""
    floats = [type_ for type_ in (left, right) if type_.startswith("fp")]
    return not floats or not any(type_ == "i64" or type_.startswith("decimal") for type_ in (left, right))


def expression(name: str, a: str, b: str, left: str, right: str) -> tuple[Column, Callable[[dict[str, Any]], Any]]:
    if name in COMPARISONS:
        compare = COMPARISONS[name]
        return lambda r: compare(r[a], r[b]), lambda row: _of_both(row[a], row[b], compare, Fraction)
    if name in ARITHMETIC:
        apply = ARITHMETIC[name]
        return lambda r: apply(r[a], r[b]), lambda row: _of_both(row[a], row[b], apply, _number(left, right))
    if name == "coalesce":
        return lambda r: f.coalesce(r[a], r[b]), lambda row: row[b] if row[a] is None else row[a]
    return lambda r: r[a].is_in([r[b]]), lambda row: _of_both(row[a], row[b], operator.eq, Fraction)


def _number(left: str, right: str) -> Callable[[Any], Any]:
    """What operands are for arithmetic: floats of the wider type, or exact."""
    if "fp64" in (left, right) or {left, right} == {"i32", "fp32"}:
        return float
    return np.float32 if "fp32" in (left, right) else Fraction


def _of_both(a: Any, b: Any, function: Callable[[Any, Any], Any], number: Callable[[Any], Any]) -> Any:
    return None if a is None or b is None else function(number(a), number(b))


def is_right(found: Any, expected: Any) -> bool:
    """Whether a value of a row is exactly what was expected."""
    if found is None or expected is None or isinstance(expected, bool):
        return found is expected
    return _exactly(found) == _exactly(expected)


def _exactly(number: Any) -> Fraction:
    return Fraction(float(number) if isinstance(number, np.floating) else number)
