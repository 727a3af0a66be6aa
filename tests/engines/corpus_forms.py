"""Small plans beside those of `corpus`: literals of every type, functions, casts, windows, and what is refused.

DuckDB is the judge of their rows where it has words for them; where it has not, the rows stand here.
"""

from __future__ import annotations

import datetime as dt
import math
import uuid
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import Any

import attrs

import substrait_dsl as sd
from substrait_dsl import functions
from substrait_dsl.algebra.rules import SET_OPS
from tests.differential.tables import PAIR, read, rows
from tests.engines.corpus import FEW, INTS, NOTHING, REALS, TEXTS, TIMES, joined

f: Any = functions
Made = sd.Relation[Any] | sd.Plan
Rows = list[tuple[Any, ...]]
MESSAGE = sd.AnyMessage("type.googleapis.com/acme.Hint", b"\x01")
ONE = sd.read_virtual([(1,)], {"one": "i32"})
SINGLE = read("single")
PARTS = read("parts")
KEYS = ("k", "a", "b", "h", "y")
"""All columns of `INTS`: an order in which only equal rows are peers."""
DIFFERENT = INTS.distinct()
EPOCH = sd.lit(dt.datetime(1970, 1, 1), sd.PrecisionTimestamp(6))


@attrs.frozen
class Form:
    """A plan, and its rows, or another one with the same rows, where DuckDB has no words for it or gets it wrong."""

    make: Callable[[], Made]
    rows: Rows | None = None
    same_as: Callable[[], sd.Relation[Any]] | None = None


LITERALS: dict[str, tuple[Any, ...]] = {
    "boolean": (True, False),
    "i8": (-128, 127),
    "i16": (-32768, 32767),
    "i32": (-(2**31), 2**31 - 1),
    "i64": (-(2**63), 2**63 - 1),
    "fp32": (1.5, -0.25),
    "fp64": (0.1, -1e300),
    "string": ("", "ß𝄞'\\"),
    "binary": (b"", b"\x00\xff"),
    "date": (dt.date(1000, 1, 1), dt.date(9999, 12, 31)),
    "decimal<5,2>": (Decimal("-999.99"), Decimal("0.01")),
    "decimal<38,10>": (Decimal("1234567890123456789012345678.0123456789"),),
    "precision_timestamp<6>": (dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(9999, 12, 31)),
    "precision_timestamp<0>": (dt.datetime(2020, 2, 29, 1, 2, 3),),
    "precision_timestamp_tz<6>": (dt.datetime(2020, 2, 29, 1, 2, 3, 4, dt.UTC),),
    "precision_time<6>": (dt.time(23, 59, 59, 999999),),
    "interval_year": (sd.YearMonths(14),),
    "interval_day<6>": (dt.timedelta(days=-1, microseconds=1),),
    "interval_compound<6>": (sd.Compound(sd.YearMonths(1), sd.DaySeconds(2)),),
    "uuid": (uuid.UUID(int=1),),
    "varchar<5>": ("ab",),
    "fixedchar<2>": ("ab",),
    "fixedbinary<2>": (b"ab",),
    "list<i32>": ([1, 2],),
    "map<string, i32>": ({"a": 1},),
    "struct<i32, string>": ((1, "a"),),
}
"""Values of each type."""


def rows_of(kind: str, value: Any) -> sd.Relation[Any]:
    return sd.read_virtual([(value,)], {"v": kind})


def column_of(kind: str, value: Any, over: sd.Relation[Any] = ONE) -> sd.Relation[Any]:
    """A column of a constant, over another relation than that of one row, if one is given."""
    return over.select(v=sd.lit(value, sd.parse_type(kind)))


def null_of(kind: str) -> sd.Relation[Any]:
    return ONE.select(v=sd.lit(None, sd.parse_type(f"{kind}?")))


SCALARS: dict[str, Callable[[], Made]] = {
    **{
        f"{name} of integers": partial(lambda call: INTS.select(v=lambda r: call(r.h, r.y.cast("i16"))), call)
        for name, call in {
            "equal": lambda a, b: a == b, "not_equal": lambda a, b: a != b, "lt": lambda a, b: a < b,
            "lte": lambda a, b: a <= b, "gt": lambda a, b: a > b, "gte": lambda a, b: a >= b,
        }.items()
    },
    **{
        f"{name} of reals": partial(lambda call: REALS.select(v=lambda r: call(r.x, r.z)), call)
        for name, call in {
            "equal": lambda a, b: a == b, "lt": lambda a, b: a < b, "gte": lambda a, b: a >= b,
            "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
            "is_not_distinct_from": lambda a, b: f.is_not_distinct_from(a, b),
        }.items()
    },
    "add of integers": lambda: INTS.select(v=lambda r: r.h.cast("i32?") + r.y.cast("i32")),
    "subtract of integers": lambda: INTS.select(v=lambda r: r.h.cast("i32?") - r.y.cast("i32")),
    "multiply of integers": lambda: INTS.select(v=lambda r: r.h.cast("i32?") * r.y.cast("i32")),
    "modulus": lambda: INTS.select(v=lambda r: f.modulus(r.h.cast("i32?"), 7)),
    "abs": lambda: INTS.select(v=lambda r: f.abs(r.h.cast("i32?"))),
    "negate": lambda: INTS.select(v=lambda r: f.negate(r.h.cast("i32?"))),
    "add of decimals": lambda: read("reals").select(v=lambda r: r.n + r.n),
    "multiply of decimals": lambda: read("reals").select(v=lambda r: r.n * r.n),
    "divide of integers": lambda: INTS.select(v=lambda r: f.divide(r.h.cast("i32?"), 3)),
    "and, or, not": lambda: TEXTS.select(v=lambda r: (r.p & (r.k > 1)) | ~r.p),
    "xor": lambda: TEXTS.select(v=lambda r: f.xor(r.p, r.k > 1)),
    "or of many": lambda: INTS.filter(lambda r: (r.k == 1) | (r.k == 2) | (r.k == 10) | (r.k == 0)),
    "is_null": lambda: INTS.select(v=lambda r: f.is_null(r.a), w=lambda r: f.is_not_null(r.a)),
    "is_true": lambda: TEXTS.select(v=lambda r: f.is_true(r.p), w=lambda r: f.is_not_false(r.p)),
    "coalesce of three": lambda: INTS.select(v=lambda r: f.coalesce(r.a, r.h.cast("i32?"), 0)),
    "when": lambda: INTS.select(v=lambda r: sd.when(r.k > 5).then(1).when(r.k > 0).then(2).otherwise(3)),
    "char_length": lambda: TEXTS.select(v=lambda r: f.char_length(r.s)),
    "like of a column": lambda: TEXTS.select(v=lambda r: f.like(r.s, "%a%")),
    "contains": lambda: TEXTS.select(v=lambda r: f.contains(r.s, "a")),
    "starts_with": lambda: TEXTS.select(v=lambda r: f.starts_with(r.s, "a"), w=lambda r: f.ends_with(r.s, "_")),
    "strpos": lambda: TEXTS.select(v=lambda r: f.strpos(r.s, r.u), w=lambda r: f.strpos(r.u, "b")),
    "is_infinite": lambda: REALS.select(v=lambda r: f.is_infinite(r.x), w=lambda r: f.is_finite(r.z)),
    "replace": lambda: TEXTS.select(v=lambda r: f.replace(r.s, "a", "xy")),
    "substring to the end": lambda: TEXTS.select(v=lambda r: f.substring(r.s, 2)),
    "trim": lambda: TEXTS.select(v=lambda r: f.trim(r.s, " ")),
    "reverse": lambda: TEXTS.select(v=lambda r: f.reverse(r.s)),
    "repeat": lambda: TEXTS.select(v=lambda r: f.repeat(r.s, 2)),
    "in list with NULL": lambda: INTS.select(v=lambda r: r.a.is_in([1, None])),
    "not in list": lambda: INTS.filter(lambda r: ~r.k.is_in([1, 2])),
    "switch": lambda: INTS.select(v=lambda r: sd.switch(r.k, {0: 1, 1: 2}, default=3)),
    "comparison of dates": lambda: TIMES.select(v=lambda r: r.d < r.c),
    "comparison of timestamps": lambda: TIMES.filter(lambda r: r.m > EPOCH),
    "day": lambda: TIMES.select(v=lambda r: f.extract("DAY", "ONE", r.c)),
    "year of NULL": lambda: TIMES.select(v=lambda r: f.extract("YEAR", r.d)),
    "floor and ceil": lambda: REALS.select(v=lambda r: f.floor(r.z), w=lambda r: f.ceil(r.z)),
}  # fmt: skip


def cast_of(table: str, column: str, target: str) -> Made:
    return read(table).select(v=lambda r: getattr(r, column).cast(target, on_failure="return_null"))


CASTED = (
    ("ints", "k", ("i32?", "i8?", "string?", "fp64?", "decimal<20,0>?", "boolean?")),
    ("ints", "y", ("i16?", "i64?", "string?")),
    ("reals", "x", ("fp32?", "i32?", "string?", "decimal<10,2>?")),
    ("reals", "n", ("i32?", "fp64?", "decimal<5,1>?", "string?")),
    ("texts", "s", ("i32?", "date?", "varchar<3>?")),
    ("texts", "p", ("i32?", "string?")),
    ("times", "c", ("string?", "precision_timestamp<6>?")),
    ("times", "m", ("date?", "string?", "precision_timestamp<3>?")),
)

PRESERVING: tuple[Any, ...] = ("inner", "left", "left_semi", "left_anti", "outer")


def compared(how: Any) -> Made:
    return INTS.select("k").join(FEW.select("k2"), lambda a, b: a.k > b.k2, how)


def selected(how: Any) -> Made:
    return joined(how).select("k")


def combined(op: Any, first: sd.Relation[Any], *others: sd.Relation[Any]) -> Made:
    return first.set_op(op, *others)


RELATIONS: dict[str, Callable[[], Made]] = {
    **{f"join {how} without equality": partial(compared, how) for how in PRESERVING},
    **{f"select above a join {how}": partial(selected, how) for how in PRESERVING},
    **{f"set {op} of three": partial(combined, op, INTS.select("a"), FEW.select("a2"), NOTHING.select("a"))
       for op in SET_OPS},
    **{f"set {op} of reals": partial(combined, op, REALS.select("z"), REALS.filter(lambda r: r.a > 0).select("z"))
       for op in SET_OPS},
    "merge join": lambda: INTS.sort("k").merge_join(FEW.sort("k2"), [sd.join_key("k", "k2")]),
    "post-join filter": lambda: INTS.hash_join(FEW, [sd.join_key("k", "k2")], "left", post_filter=lambda r: r.a > 0),
    "self join": lambda: INTS.select("k").join(INTS.select("k"), lambda a, b: a[0] == b[0]),
    "sort by an expression": lambda: INTS.sort(lambda r: r.k + 0, "a", "b", "h", "y"),
    "sort descending": lambda: INTS.sort(sd.desc("a", nulls="first"), "k", "b", "h", "y"),
    "limit above a sort above a filter": lambda: INTS.filter(lambda r: r.k > 0).sort(*KEYS).limit(2),
    "two selects": lambda: INTS.select("k", "a").select("a"),
    "drop and rename": lambda: INTS.rename(k="key").select("key"),
    "filter above an aggregate": lambda: INTS.group_by("y").agg(n=f.count()).filter(lambda r: r.n > 1),
    "aggregate above an aggregate": lambda: INTS.group_by("y").agg(n=f.count()).aggregate(m=lambda r: f.max(r.n)),
    "distinct": lambda: INTS.select("a").distinct(),
    "rollup": lambda: INTS.group_by("a", "h").rollup(n=f.count()),
    "cube": lambda: INTS.group_by("a", "y").cube(n=lambda r: f.sum(r.h)),
    "keys alone": lambda: INTS.group_by("a").agg(),
    "min and max of dates": lambda: TIMES.aggregate(a=lambda r: f.min(r.d), b=lambda r: f.max(r.c)),
    "sum of decimals": lambda: read("reals").aggregate(n=lambda r: f.sum(r.n)),
    "sum of reals": lambda: REALS.filter(lambda r: r.a > 5).aggregate(n=lambda r: f.sum(r.z)),
    "least and largest reals": lambda: read("reals").group_by("a").agg(
        lo=lambda r: f.min(r.x), hi=lambda r: f.max(r.z), hr=lambda r: f.max(r.r).filter(r.a > 0)),
    "least real of distinct": lambda: REALS.group_by("a").agg(lo=lambda r: f.min(r.x).distinct()),
    "avg of decimals": lambda: read("reals").aggregate(n=lambda r: f.avg(r.n)),
    "sum of distinct": lambda: INTS.aggregate(n=lambda r: f.sum(r.y).distinct()),
    "two distinct": lambda: INTS.aggregate(n=lambda r: f.count(r.y).distinct(), m=lambda r: f.count(r.a).distinct()),
    "group by an expression": lambda: INTS.group_by(e=lambda r: r.k > 0).agg(n=f.count()),
    "read with a subset of columns": lambda: sd.read_named("ints", {"k": "i64", "a": "i32?"}),
    "virtual without rows": lambda: sd.read_virtual([], {"n": "i32?"}),
    "nothing joined": lambda: NOTHING.join(INTS, lambda a, b: a.b == b.k, "right"),
    "exchange to all": lambda: INTS.exchange(sd.broadcast()),
    "exchange in turn": lambda: INTS.exchange(sd.round_robin()),
    "exchange by a bucket": lambda: INTS.exchange(sd.single_bucket(lambda r: r.y.cast("i32"))),
}  # fmt: skip

WINDOWS: dict[str, Callable[[], Made]] = {
    "row_number": lambda: INTS.select(v=lambda r: f.row_number().over(order_by=KEYS)),
    "rank": lambda: INTS.select(v=lambda r: f.rank().over(partition_by="y", order_by="k")),
    "running sum": lambda: INTS.select("k", v=lambda r: f.sum(r.y).over(order_by="k", rows=(None, 0))),
    "sum of a partition": lambda: INTS.select("k", v=lambda r: f.sum(r.a).over(partition_by="y")),
    "moving sum": lambda: DIFFERENT.select("k", v=lambda r: f.sum(r.y).over(order_by=KEYS, rows=(-1, 1))),
    "frame ahead": lambda: DIFFERENT.select("k", v=lambda r: f.sum(r.y).over(order_by=KEYS, rows=(1, 2))),
    "range with an offset": lambda: INTS.select("k", v=lambda r: f.sum(r.y).over(order_by="y", range=(-1, 0))),
    "range to the current row": lambda: INTS.select("k", v=lambda r: f.count().over(order_by="y", range=(None, 0))),
    "lag": lambda: DIFFERENT.select("k", v=lambda r: f.lag(r.a).over(order_by=KEYS)),
    "ntile": lambda: DIFFERENT.select("k", v=lambda r: f.ntile(3).over(order_by=KEYS)),
    "first_value": lambda: DIFFERENT.select("k", v=lambda r: f.first_value(r.a).over(order_by=KEYS)),
    "lead with a default": lambda: DIFFERENT.select("k", v=lambda r: f.lead(r.a, 2, 7).over(order_by=KEYS)),
    "lag with a column as default": lambda: DIFFERENT.select("k", v=lambda r: f.lag(r.k, 1, r.b).over(order_by=KEYS)),
    "nth_value": lambda: DIFFERENT.select("k", v=lambda r: f.nth_value(r.a, 2).over(order_by=KEYS, rows=(-1, 1))),
    "percent_rank and cume_dist": lambda: INTS.select(
        v=lambda r: f.percent_rank().over(order_by="y"), w=lambda r: f.cume_dist().over(order_by="y")),
    "bool_and over a frame": lambda: DIFFERENT.select(
        "k", v=lambda r: f.bool_and(r.a > 0).over(order_by=KEYS, rows=(-1, 1)),
        w=lambda r: f.bool_or(r.a > 0).over(order_by=KEYS, rows=(1, 2))),
    "average of a partition": lambda: INTS.select("k", v=lambda r: f.avg(r.h).over(partition_by="y")),
    "least and largest reals of a frame": lambda: read("reals").distinct().select(
        "z", v=lambda r: f.min(r.z).over(order_by=("a", "n"), rows=(-1, 1)),
        w=lambda r: f.max(r.r).over(order_by=("a", "n"), rows=(-1, 1))),
    "frame behind": lambda: DIFFERENT.select("k", v=lambda r: f.count().over(order_by=KEYS, rows=(None, -1))),
    "range of decimals": lambda: read("reals").select(
        "a", v=lambda r: f.count().over(order_by=sd.desc("n"), range=(Decimal("0.01"), Decimal("2.50")))),
    "window above a window": lambda: INTS.select("y", v=lambda r: f.rank().over(order_by="k")).select(
        w=lambda r: f.rank().over(order_by=["v", "y"])),
}  # fmt: skip

UNKNOWN: dict[str, Callable[[], Made]] = {
    "option ERROR": lambda: INTS.select(v=lambda r: f.add(r.h.cast("i32?"), 1, overflow="ERROR")),
    "option SATURATE": lambda: INTS.select(v=lambda r: f.add(r.a, 2**31 - 1, overflow="SATURATE")),
    "option ACCEPT_NULLS": lambda: TEXTS.select(v=lambda r: f.concat(r.s, "!", null_handling="ACCEPT_NULLS")),
    "greatest": lambda: INTS.select(v=lambda r: f.greatest(r.a, r.h.cast("i32?"))),
    "bitwise_and": lambda: INTS.select(v=lambda r: f.bitwise_and(r.y, r.y)),
    "sqrt": lambda: REALS.select(v=lambda r: f.sqrt(r.z)),
    "regexp": lambda: TEXTS.select(v=lambda r: f.regexp_replace(r.s, "a+", "b")),
    "write": lambda: INTS.write("copy", op="ctas"),
    "update": lambda: sd.update("ints", INTS.schema, {"a": 1}, where=True),
    "extension leaf": lambda: sd.extension_leaf(MESSAGE, {"a": "i64"}),
    "unnest": lambda: sd.read_named("lists", {"xs": "list<i32>"}).unnest("xs"),
    "struct field": lambda: PARTS.select(v=lambda r: r.w["a"]),
    "struct made": lambda: INTS.select(v=lambda r: sd.struct_of(a=r.k, b=r.a)),
    "struct constant": lambda: PARTS.select(v=sd.lit((1, "x"), PAIR)),
    "struct, equal": lambda: PARTS.select(v=lambda r: r.v == r.w, w=lambda r: r.w == sd.lit((0, "a"), PAIR)),
    "struct in a list": lambda: PARTS.select(v=lambda r: r.v.is_in([sd.lit((None, "a"), PAIR), r.w])),
    "struct, is distinct": lambda: PARTS.select(v=lambda r: f.is_distinct_from(r.v, r.w)),
    "struct or none": lambda: PARTS.select(v=lambda r: f.coalesce(r.v, r.w), w=lambda r: f.nullif(r.w, r.v)),
    "struct chosen": lambda: PARTS.select(v=lambda r: sd.when(r.k > 1).then(r.v).otherwise(sd.lit((7, "z"), PAIR))),
    "struct as a key": lambda: PARTS.group_by("v").agg(n=f.count(), m=lambda r: f.count(r.w).distinct()),
    "struct in a join": lambda: PARTS.join(
        PARTS.select(k2=sd.col("k"), w2=sd.col("w")), lambda a, b: a.v == b.w2, "left"),
    "struct in a subquery": lambda: PARTS.filter(lambda r: r.v.is_in(PARTS.select(q=sd.col("w")))),
    "struct field of an outer join": lambda: PARTS.select("k", "w").join(
        PARTS.select(k2=sd.col("k"), w2=sd.col("w")), lambda a, b: (a.k == b.k2) & (b.k2 > 1), "left"
    ).select("k", v=lambda r: r.w2["b"]),
    **{f"set {op} of structs": partial(combined, op, PARTS.select("v"), PARTS.filter(lambda r: r.k > 1).select("w"))
       for op in SET_OPS},
    "set union_all of a struct that is made": lambda: PARTS.select("k", "w").union_all(
        PARTS.select("k", w=sd.lit((3, "q"), PAIR))),
    "sort by a field": lambda: PARTS.sort(lambda r: r.v["b"], lambda r: r.w["a"], "k").select("k", "w"),
    "window over structs": lambda: PARTS.distinct().select(
        "k", v=lambda r: f.lag(r.w).over(partition_by="v", order_by=[lambda r: r.w["a"], lambda r: r.w["b"], "k"])),
    "struct that may be NULL": lambda: PARTS.select(c=lambda r: r.w.cast("struct<i32?, string?>?")),
    "expand of structs": lambda: PARTS.expand(index="i", v=lambda r: sd.switching(r.v, r.w)),
    "struct, less": lambda: PARTS.select(v=lambda r: r.v < r.w),
    "struct of a struct": lambda: PARTS.select(v=lambda r: sd.struct_of(a=r.v, b=r.k)),
    "list made": lambda: INTS.select(v=lambda r: sd.list_of(r.k, r.k)),
    "parameter, not bound": lambda: INTS.filter(lambda r: r.k > sd.parameter(1, "i64")),
    "parameter, bound": lambda: sd.Plan(
        INTS.filter(lambda r: r.k > sd.parameter(1, "i64")), parameter_bindings={1: 1}),
    "current date": lambda: INTS.select(v=sd.current_date()),
    "shared": lambda: sd.shared(INTS).union_all(INTS),
    "two columns of one name": lambda: INTS.select("k").cross(FEW.select(k=sd.col("k2"))),
    "two columns of one name, one of them computed": lambda: INTS.select("y").cross(INTS.select(y=sd.col("a"))),
    "enhancement": lambda: INTS.with_extension(common=sd.AdvancedExtension(enhancement=MESSAGE)),
    "hint": lambda: INTS.with_extension(common=sd.AdvancedExtension((MESSAGE,))),
    "deep": lambda: chain(60),
    "files": lambda: sd.read_files("x.parquet", {"a": "i64?"}),
}  # fmt: skip


def chain(steps: int) -> sd.Relation[Any]:
    made: sd.Relation[Any] = INTS
    for number in range(steps):
        made = made.filter(sd.col("k") > -number)
    return made


ZEROS = sd.read_virtual([(0.0, 1), (-0.0, 2), (1.0, 3)], {"z": "fp64", "n": "i32"})


def numbers(*values: int) -> sd.Relation[Any]:
    return sd.read_virtual([(value,) for value in values], {"n": "i32"})


def third(value: Decimal | None) -> Decimal | None:
    """A third of a decimal, at the scale that the quotient has."""
    return None if value is None else (value / 3).quantize(Decimal("1e-13"), ROUND_HALF_UP)


FORMS: dict[str, Form] = {
    "divide of decimals": Form(
        lambda: read("reals").select(v=lambda r: r.n / sd.lit(Decimal(3), sd.Decimal(10, 2))),
        [(third(row[4]),) for row in rows("reals")],
    ),
    "order of zeros": Form(lambda: ZEROS.sort("z", "n"), [(0.0, 1), (0.0, 2), (1.0, 3)]),
    "groups of zeros": Form(lambda: ZEROS.group_by("z").agg(n=f.count()).sort("z"), [(0.0, 2), (1.0, 1)]),
    "window of zeros": Form(
        lambda: ZEROS.select("n", r=lambda r: f.rank().over(order_by="z")).sort("n"), [(1, 1), (2, 1), (3, 3)]
    ),
    "join of zeros": Form(
        lambda: (
            ZEROS.join(ZEROS.select(y=sd.col("z"), m=sd.col("n")), lambda a, b: a.z == b.y)
            .select("n", "m")
            .sort("n", "m")
        ),
        [(1, 1), (1, 2), (2, 1), (2, 2), (3, 3)],
    ),
    "repetitions that are left": Form(
        lambda: numbers(1, 1, 2, 3).set_op("minus_primary_all", numbers(1, 2, 2)).sort("n"), [(1,), (3,)]
    ),
    "repetitions that are shared": Form(
        lambda: numbers(1, 1, 1, 2).set_op("intersection_multiset_all", numbers(1, 1, 3)).sort("n"), [(1,), (1,)]
    ),
    "upper and lower": Form(
        lambda: TEXTS.select(v=lambda r: f.upper(r.s), w=lambda r: f.lower(r.u)),
        [(None if s is None else s.upper(), u.lower()) for _, s, u, _ in rows("texts")],
    ),
    "several roots": Form(lambda: sd.Plan(INTS, TEXTS), same_as=lambda: INTS),
    "subtree": Form(lambda: sd.Plan(sd.subtree(INTS), TEXTS), same_as=lambda: TEXTS),
    **{f"rows of {kind}, {n}": Form(partial(rows_of, kind, value), [(value,)])
       for kind, values in LITERALS.items() for n, value in enumerate(values)},
    **{f"column of {kind}, {n}": Form(partial(column_of, kind, value), [(value,)])
       for kind, values in LITERALS.items() for n, value in enumerate(values)},
    **{f"column of {kind}, over a table": Form(
        partial(column_of, kind, values[0], SINGLE), [(values[0],)] * len(rows("single"))
       ) for kind, values in LITERALS.items()},
    **{f"NULL of {kind}": Form(partial(null_of, kind), [(None,)]) for kind in LITERALS},
    **{name: Form(make) for some in (SCALARS, RELATIONS, WINDOWS, UNKNOWN) for name, make in some.items()},
    "parameter, bound": Form(
        UNKNOWN["parameter, bound"],
        same_as=lambda: INTS.filter(lambda r: r.k > 1),
    ),
    "sqrt": Form(
        UNKNOWN["sqrt"],
        [(math.sqrt(row[2]) if row[2] >= 0 else math.nan,) for row in rows("reals")],
    ),
    **{f"cast {table}.{column} to {target}": Form(partial(cast_of, table, column, target))
       for table, column, targets in CASTED for target in targets},
}  # fmt: skip
