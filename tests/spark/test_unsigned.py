"""Unsigned integers on Spark, against Python's, which have no bounds."""

from __future__ import annotations

import itertools
import operator
import struct
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Literal
from substrait_dsl.errors import ExecutionError, UnsupportedError
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("compiled")

BITS = {"u8": 8, "u16": 16, "u32": 32, "u64": 64}
OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
}


def table(name: str, rows: Sequence[tuple[int | None, ...]]) -> Any:
    """A table of nullable unsigned integers, in columns called ``x`` and ``y``."""
    required, nullable = (t.UserDefined(t.UNSIGNED_URN, name, nullable=may_be) for may_be in (False, True))
    literals = [
        tuple(None if value is None else Literal((Literal(str(value), t.String()),), required) for value in row)
        for row in rows
    ]
    return sd.read_virtual(literals, {"x": nullable} if rows and len(rows[0]) == 1 else {"x": nullable, "y": nullable})


def values_of(name: str) -> tuple[int | None, ...]:
    largest = 2 ** BITS[name] - 1
    return 0, 1, 2, 7, largest // 2, largest // 2 + 1, largest - 1, largest, None


def whole(relation: Any, spark: SparkSession) -> list[tuple[int | None, ...]]:
    return [tuple(None if value is None else int(value) for value in row) for row in relation.collect(spark)]


@pytest.mark.parametrize("name", BITS)
def test_results_that_are_made_to_fit(name: str, spark: SparkSession) -> None:
    largest = 2 ** BITS[name] - 1
    pairs = list(itertools.product(values_of(name), repeat=2))
    columns = {f"{verb}_{way}": (verb, way) for verb in OPERATIONS for way in ("SATURATE", "SILENT")}
    computed = {
        column: lambda r, verb=verb, way=way: getattr(f, verb)(r.x, r.y, overflow=way)
        for column, (verb, way) in columns.items()
    }
    quotient: Any = {"quotient": lambda r: f.divide(r.x, r.y, on_division_by_zero="NULL")}
    found = whole(table(name, pairs).project(**computed, **quotient), spark)
    wanted = []
    for x, y in pairs:
        if x is None or y is None:
            wanted.append((x, y, *[None] * 7))
            continue
        results = [OPERATIONS[verb](x, y) for verb, _ in columns.values()]
        fitted = [
            min(max(result, 0), largest) if way == "SATURATE" else result % (largest + 1)
            for result, (_, way) in zip(results, columns.values(), strict=True)
        ]
        wanted.append((x, y, *fitted, x // y if y else None))
    assert sorted(map(repr, found)) == sorted(map(repr, wanted))


@pytest.mark.parametrize("options", [{}, {"overflow": "ERROR"}], ids=["by default", "as asked"])
@pytest.mark.parametrize("name", BITS)
def test_results_that_do_not_fit(name: str, options: dict[str, str], spark: SparkSession) -> None:
    largest = 2 ** BITS[name] - 1
    pairs = [(x, y) for x, y in itertools.product(values_of(name), repeat=2) if x is not None and y is not None]
    for verb, compute in OPERATIONS.items():
        compiled: Any = lambda r, verb=verb: getattr(f, verb)(r.x, r.y, **options)  # noqa: E731
        fitting = [pair for pair in pairs if 0 <= compute(*pair) <= largest]
        assert sorted(whole(table(name, fitting).select(z=compiled), spark)) == sorted((compute(*p),) for p in fitting)
        beyond = [pair for pair in pairs if pair not in fitting]
        for pair in (beyond[0], beyond[-1]):
            with pytest.raises(ExecutionError, match=r"(overflow in|does not fit).* \(step: project"):
                table(name, [pair]).project(z=compiled).collect(spark)
    if not options:
        with pytest.raises(ExecutionError, match="division by zero in x / y"):
            table(name, [(1, 1), (1, 0)]).project(z=lambda r: r.x / r.y).collect(spark)


@pytest.mark.parametrize("rows", [[None], ["largest"], ["largest", 1], ["largest", "largest"], [0, None, 5]])
@pytest.mark.parametrize("name", BITS)
def test_aggregates(name: str, rows: list[Any], spark: SparkSession) -> None:
    """A sum is a u64, whatever is summed."""
    values = [2 ** BITS[name] - 1 if value == "largest" else value for value in rows]
    known = [value for value in values if value is not None]
    total, largest = sum(known), 2**64 - 1
    relation = table(name, [(value,) for value in values])
    found = whole(
        relation.aggregate(
            low=lambda r: f.min(r.x),
            high=lambda r: f.max(r.x),
            saturated=lambda r: f.sum(r.x, overflow="SATURATE"),
            wrapped=lambda r: f.sum(r.x, overflow="SILENT"),
        ),
        spark,
    )
    wanted = (min(known), max(known), min(total, largest), total % (largest + 1)) if known else (None,) * 4
    assert found == [wanted]
    for options in ({}, {"overflow": "ERROR"}):
        summed = relation.aggregate(s=lambda r, options=options: f.sum(r.x, **options))
        if total <= largest:
            assert whole(summed, spark) == [(total if known else None,)]
        else:
            with pytest.raises(ExecutionError, match="does not fit an unsigned integer in sum"):
                summed.collect(spark)


def test_a_column_of_a_dataframe(spark: SparkSession) -> None:
    frame = (
        table("u8", [(200, 7)]).select("x", lambda r: f.add(r.x, r.x, overflow="SATURATE").alias("d")).execute(spark)
    )
    assert frame.dtypes == [("x", "smallint"), ("d", "smallint")]
    assert list(map(tuple, frame.collect())) == [(200, 255)]


SIGNED: dict[str, int] = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}


def fits_signed(value: int, bits: int) -> bool:
    return -(1 << bits - 1) <= value < 1 << bits - 1


def cast_all(columns: Any, kinds: Sequence[Any], spark: SparkSession, on_failure: Any = "return_null") -> list[Any]:
    """The values of the column ``x``, cast to each type, in the order of the column ``k``."""
    casts: Any = {
        f"c{number}": lambda r, kind=kind: r.x.cast(kind, on_failure=on_failure) for number, kind in enumerate(kinds)
    }
    return [tuple(row)[1:] for row in sorted(columns.select("k", **casts).collect(spark))]


@pytest.mark.parametrize("name", BITS)
def test_casts_to_other_numbers_and_texts(name: str, spark: SparkSession) -> None:
    values = values_of(name)
    kinds = [*(f"{kind}?" for kind in SIGNED), "decimal<20,0>?", "decimal<38,2>?", "fp64?", "fp32?", "string?"]
    kinds += ["varchar<2>?", "boolean?"]
    required, nullable = (t.UserDefined(t.UNSIGNED_URN, name, nullable=may_be) for may_be in (False, True))
    literals = [None if v is None else Literal((Literal(str(v), t.String()),), required) for v in values]
    columns: Any = sd.read_virtual(list(enumerate(literals)), {"k": "i64", "x": nullable})
    wanted: list[tuple[Any, ...]] = []
    for value in values:
        if value is None:
            wanted.append((None,) * len(kinds))
            continue
        single = struct.unpack("f", struct.pack("f", value))[0] if name != "u64" else None
        integers = [value if fits_signed(value, bits) else None for bits in SIGNED.values()]
        text = str(value)
        wanted.append(
            (
                *integers,
                Decimal(value),
                Decimal(value),
                float(value),
                single,
                text,
                text if value < 100 else None,
                value != 0,
            )
        )
    found = cast_all(columns, kinds, spark)
    if name == "u64":  # the nearest number of 24 bits
        singles = [None if row[7] is None else row[7] for row in found]
        assert singles == [None if v is None else float(round_to_bits(v, 24)) for v in values]
        found = [(*row[:7], None, *row[8:]) for row in found]
    assert found == wanted
    for bits in SIGNED.values():
        beyond = [v for v in values if v is not None and not fits_signed(v, bits)]
        if beyond:
            with pytest.raises(ExecutionError, match=r"cannot be cast to|does not fit"):
                table(name, [(beyond[0],)]).select(y=lambda r, bits=bits: r.x.cast(f"i{bits}?")).collect(spark)


def round_to_bits(value: int, bits: int) -> int:
    """The nearest integer of so many bits before its zeros, the even one of two."""
    spare = max(value.bit_length() - bits, 0)
    return round(Fraction(value, 1 << spare)) << spare


SOURCES: dict[str, tuple[Any, ...]] = {
    "i8?": (0, 1, 127, -1, -128, None),
    "i32?": (0, 255, 256, 65535, 65536, -1, None),
    "i64?": (0, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**63 - 1, -1, None),
    "decimal<21,0>?": (*map(Decimal, (0, 255, 256, 2**32 - 1, 2**64 - 1, 2**64, -1, 10**20)), None),
    "boolean?": (True, False, None),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_casts_of_other_numbers_have_a_range(kind: str, spark: SparkSession) -> None:
    values = SOURCES[kind]
    columns: Any = sd.read_virtual(list(enumerate(values)), {"k": "i64", "x": kind})
    unsigned = [t.UserDefined(t.UNSIGNED_URN, name, nullable=True) for name in BITS]
    found = [tuple(None if v is None else int(v) for v in row) for row in cast_all(columns, unsigned, spark)]
    limits = [2**bits for bits in BITS.values()]
    assert found == [tuple(int(v) if v is not None and 0 <= v < limit else None for limit in limits) for v in values]
    for number, (limit, target) in enumerate(zip(limits, unsigned, strict=True)):
        beyond = [v for v in values if v is not None and not 0 <= v < limit]
        fitting = [(k, v) for k, v in enumerate(values) if v not in beyond]
        some: Any = sd.read_virtual(fitting, {"k": "i64", "x": kind})
        assert [row[0] for row in cast_all(some, [target], spark, "throw")] == [
            None if v is None else v for v in (found[k][number] for k, _ in fitting)
        ]
        if beyond:
            one: Any = sd.read_virtual([(beyond[-1],)], {"x": kind})
            with pytest.raises(ExecutionError, match=r"cannot be cast to|does not fit"):
                one.select(y=lambda r, target=target: r.x.cast(target)).collect(spark)


def test_casts_between_unsigned_integers_of_texts_and_inside_lists(spark: SparkSession) -> None:
    u8, u16, u32, u64 = (t.UserDefined(t.UNSIGNED_URN, name, nullable=True) for name in BITS)
    wide: Any = table("u64", [(255,), (256,), (65536,), (2**64 - 1,), (None,)]).select(
        k=lambda r: f.coalesce(r.x.cast("decimal<20,0>?"), Decimal(-1)).cast("decimal<20,0>"), x=lambda r: r.x
    )
    found = cast_all(wide, [u8, u16, u32, u64], spark)
    assert [tuple(None if v is None else int(v) for v in row) for row in found] == [
        (None, None, None, None),
        (255, 255, 255, 255),
        (None, 256, 256, 256),
        (None, None, 65536, 65536),
        (None, None, None, 2**64 - 1),
    ]
    texts: Any = sd.read_virtual([(1, "255"), (2, "256"), (3, "-1"), (4, "x"), (5, None)], {"k": "i64", "x": "string?"})
    assert cast_all(texts, [u8, u32], spark) == [(255, 255), (None, 256), (None, None), (None, None), (None, None)]
    lists: Any = sd.read_virtual([(1, [1, 255, None])], {"k": "i64", "x": "list<i64?>"})
    (row,) = cast_all(lists, [t.List(u8)], spark, "throw")
    assert row == ([1, 255, None],)
    back = lists.select("k", x=lambda r: r.x.cast(t.List(u8)))
    assert cast_all(back, ["list<i64?>"], spark, "throw") == [([1, 255, None],)]
    with pytest.raises(ExecutionError, match="the value 256 does not fit u!u8"):
        sd.read_virtual([([256],)], {"x": "list<i64?>"}).select(y=lambda r: r.x.cast(t.List(u8))).collect(spark)


@pytest.mark.parametrize("kind", ["fp64?", "fp32?", "string?", "decimal<9,2>?"])
def test_what_spark_would_round_is_refused(kind: str, spark: SparkSession) -> None:
    u64 = t.UserDefined(t.UNSIGNED_URN, "u64", nullable=True)
    column: Any = sd.read_virtual([(None,)], {"x": kind})
    with refused(UnsupportedError, "would round it", "cast it to i64, or to decimal<20,0>"):
        column.select(y=lambda r: r.x.cast(u64)).collect(spark)
    assert column.select(y=lambda r: r.x.cast("i64?").cast(u64)).collect(spark) == [(None,)]


def test_aggregates_of_casts(spark: SparkSession) -> None:
    numbers = table("u32", [(2**32 - 1,), (2**32 - 1,), (None,), (4,)])
    found = numbers.aggregate(total=lambda r: f.sum(r.x.cast("i64?")), mean=lambda r: f.avg(r.x.cast("fp64?"))).collect(
        spark
    )
    assert list(map(tuple, found)) == [(2**33 + 2, (2**33 + 2) / 3)]
