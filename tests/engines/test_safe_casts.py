"""Casts that give NULL where they fail, on DuckDB 1.1.3, whose casts give an error: by arithmetic."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl.errors import UnsupportedError
from tests.engines.processes import Engine
from tests.engines.runners import Rows, canonical_rows

Convert = Callable[[Any], Any]
BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}


def to_integer(bits: int) -> Convert:
    return lambda value: value if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1) else None


def to_decimal(precision: int, scale: int) -> Convert:
    def convert(value: Any) -> Decimal | None:
        with localcontext(prec=100):
            made = Decimal(value).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
            return made if abs(made) < Decimal(10) ** (precision - scale) else None

    return convert


DECIMALS = [
    (1, 0),
    (1, 1),
    (3, 0),
    (4, 1),
    (5, 3),
    (9, 0),
    (10, 2),
    (18, 0),
    (19, 0),
    (19, 9),
    (20, 1),
    (38, 0),
    (38, 37),
]
TARGETS: dict[str, Convert] = {
    **{name: to_integer(bits) for name, bits in BITS.items() if name != "i8"},  # DuckDB casts nothing to i8
    **{f"decimal<{precision},{scale}>": to_decimal(precision, scale) for precision, scale in DECIMALS},
    "boolean": bool,
    "string": str,
}


def integers(bits: int) -> list[Any]:
    """The ends of all ranges of numbers that integers of so many bits reach, with what is next to them."""
    ends = [*(2 ** (each - 1) for each in BITS.values()), *(10**digits for digits in range(20))]
    near = {sign * end + by for end in ends for sign in (1, -1) for by in (-1, 0, 1)}
    return [None, *sorted(each for each in near if -(2 ** (bits - 1)) <= each < 2 ** (bits - 1))]


def decimals(precision: int, scale: int) -> list[Any]:
    """Powers of ten, and halves of each digit below them, with what is next to them."""
    units = {10**digits - part for digits in range(precision + 1) for part in (0, *(5 * 10**n for n in range(digits)))}
    near = {sign * unit + by for unit in units for sign in (1, -1) for by in (-1, 0, 1)}
    with localcontext(prec=100):
        return [None, *(Decimal(each).scaleb(-scale) for each in sorted(near) if abs(each) < 10**precision)]


SOURCES: dict[str, list[Any]] = {
    **{name: integers(bits) for name, bits in BITS.items()},
    "decimal<10,2>": decimals(10, 2),
    "decimal<4,4>": decimals(4, 4),
    "decimal<19,1>": decimals(19, 1),
    "decimal<38,18>": decimals(38, 18),
}


def rows_of(engine: Engine, kind: str, values: list[Any], columns: dict[str, Convert]) -> Rows:
    """The rows of columns that are computed of values of a type."""
    table: sd.Relation[Any] = sd.read_named("casted", {"n": "i32", "v": f"{kind}?"})
    rows = [{"n": n, "v": value} for n, value in enumerate(values)]
    engine.add_tables({"casted": pa.Table.from_pylist(rows, table.schema.to_arrow())})
    data = table.sort("n").select(**columns).to_plan().to_bytes(engine="duckdb")
    return canonical_rows(list(zip(*(column.to_pylist() for column in engine.run(data).columns), strict=True)))


def cast_to(target: str) -> Convert:
    return lambda row: row.v.cast(f"{target}?", on_failure="return_null")


def constant_cast_to(target: str, value: Any) -> Convert:
    return lambda row: value.cast(f"{target}?", on_failure="return_null")


@pytest.mark.parametrize("source", SOURCES)
def test_numbers_are_cast_or_are_null(duckdb_substrait: Engine, source: str) -> None:
    values = SOURCES[source]
    targets = {
        target: convert
        for target, convert in TARGETS.items()
        if target != source and (target.startswith("decimal") or not source.startswith("decimal"))
    }
    columns = {f"c{n}": cast_to(target) for n, target in enumerate(targets)}
    found = rows_of(duckdb_substrait, source, values, columns)
    expected = [tuple(None if value is None else to(value) for to in targets.values()) for value in values]
    assert found == canonical_rows(expected)


@pytest.mark.parametrize("source", ["i8", "i64", "decimal<10,2>"])
def test_constants_are_cast_or_are_null(duckdb_substrait: Engine, source: str) -> None:
    values = [each for each in SOURCES[source] if each is not None][::7]
    targets = {target: TARGETS[target] for target in ("decimal<3,0>", "decimal<4,1>", "decimal<38,37>")}
    type_ = sd.parse_type(source)
    columns = {
        f"c{n}_{m}": constant_cast_to(target, sd.lit(value, type_))
        for n, value in enumerate(values)
        for m, target in enumerate(targets)
    }
    (found,) = rows_of(duckdb_substrait, "i32", [1], columns)
    assert found == canonical_rows([tuple(to(value) for value in values for to in targets.values())])[0]


OTHERS: dict[tuple[str, str], dict[Any, Any]] = {
    ("boolean", "i16"): {True: 1, False: 0, None: None},
    ("boolean", "string"): {True: "true", False: "false", None: None},
    ("i64", "fp64"): {2**53 + 1: float(2**53), -(2**63): -(2.0**63), None: None},
    ("fp32", "fp64"): {0.5: 0.5, float("inf"): float("inf"), None: None},
    ("decimal<10,2>", "fp64"): {Decimal("-0.05"): -0.05, Decimal("99999999.99"): 99999999.99, None: None},
    ("decimal<4,4>", "string"): {Decimal("0.5000"): "0.5000", Decimal("-0.0001"): "-0.0001", None: None},
    ("date", "string"): {dt.date(1000, 1, 1): "1000-01-01", dt.date(9999, 12, 31): "9999-12-31", None: None},
}
"""Values of types whose casts never fail, and what they become."""


@pytest.mark.parametrize(("source", "target"), OTHERS)
def test_casts_that_never_fail_are_those_that_give_an_error(duckdb_substrait: Engine, source: str, target: str) -> None:
    cases = OTHERS[source, target]
    found = rows_of(duckdb_substrait, source, list(cases), {"c": cast_to(target)})
    assert found == canonical_rows([(value,) for value in cases.values()])


REFUSED = {
    "duckdb": [("string", "i32"), ("string", "date"), ("fp64", "i32"), ("decimal<10,2>", "i32"), ("i64", "i8")],
    "acero": [("i64", "decimal<5,0>"), ("decimal<10,2>", "decimal<5,1>"), ("string", "i32")],
}
"""What is known to be cast otherwise, or to fail for values that are not chosen."""


@pytest.mark.parametrize(("engine", "source", "target"), [(name, *pair) for name in REFUSED for pair in REFUSED[name]])
def test_other_casts_are_refused(engine: str, source: str, target: str) -> None:
    table: sd.Relation[Any] = sd.read_named("t", {"v": f"{source}?"})
    with pytest.raises(UnsupportedError, match=rf"a cast of {source}"):
        table.select(c=cast_to(target)).to_plan().to_bytes(engine=engine)
