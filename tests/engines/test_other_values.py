"""What DuckDB 1.1.3 and Acero give otherwise, unless it is lowered: the rows that are due, by arithmetic or by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl import functions
from substrait_dsl.errors import UnsupportedError
from tests.engines.processes import Engine, Refused
from tests.engines.runners import Rows, canonical_rows

f: Any = functions
Relation = sd.Relation[Any]

LAST = 2**63 - 1
LEAST = -(2**31)

TABLES: dict[str, tuple[dict[str, Any], Rows]] = {
    "left": (
        {"k": "i64", "a": "i64?", "s": "string?"},
        [(1, 3, "c"), (2, 1, "a"), (3, 2, "b"), (4, None, None)],
    ),
    "right": ({"j": "i64", "u": "string"}, [(1, "x"), (2, "y"), (3, "z"), (4, "w")]),
    "digits": (
        {"i": "i32", "n": "decimal<10,4>?", "m": "decimal<18,11>?", "w": "decimal<38,34>?", "q": "decimal<4,4>?"},
        [
            (1, Decimal("1.2350"), Decimal("-913.60000000000"), Decimal("9" * 4 + "." + "9" * 34), Decimal("0.5000")),
            (2, Decimal("-2.5000"), Decimal("2.51000000000"), Decimal("0." + "0" * 34), Decimal("-0.0001")),
            (3, None, None, None, None),
        ],
    ),
    "large": ({"n": "decimal<38,0>", "l": "i64"}, [(Decimal("9" * 38), LAST), (Decimal(1), 2)]),
    "small": (
        {"i": "i32", "n": "decimal<10,8>", "m": "decimal<8,6>"},
        [(1, Decimal("0.00000001"), Decimal("0.000001")), (2, Decimal("0E-8"), Decimal("0E-6"))],
    ),
    "ends": ({"i": "i32", "d": "i32?"}, [(LEAST, -1), (7, -1), (-7, 2), (8, None)]),
    "texts": (
        {"i": "i32", "s": "string?", "sigma": "string", "parts": "string"},
        [(1, "ÄbC", "ΣΑΣ", "e\u0301a"), (2, "\u0130x", "a", "a\r\nb"), (3, None, "b", "c")],
    ),
    "alike": ({"a": "i64", "A": "i64"}, [(1, 2), (3, 4)]),
}
READ: dict[str, Relation] = {name: sd.read_named(name, columns) for name, (columns, _) in TABLES.items()}
LEFT, RIGHT, DIGITS, ENDS = READ["left"], READ["right"], READ["digits"], READ["ends"]
TEXTS, SMALL, LARGE, ALIKE = READ["texts"], READ["small"], READ["large"], READ["alike"]


def joined() -> Relation:
    return LEFT.join(RIGHT, lambda x, y: x.k == y.j)


def kept() -> Relation:
    """The left rows that have a match."""
    return LEFT.join(RIGHT.filter(lambda y: y.j < 4), lambda x, y: x.k == y.j, "left_semi")


BOTH = ("duckdb", "acero")

CASES: dict[str, tuple[tuple[str, ...], Callable[[], Relation], Rows]] = {
    # DuckDB makes a join and what keeps its columns one SELECT with what stands above.
    "a filter above the first rows of a join": (
        BOTH, lambda: joined().sort("k").fetch(2).filter(lambda r: r.a != 3).select("k"), [(2,)],
    ),
    "an aggregate of the first rows of a join": (
        BOTH, lambda: joined().sort("k").fetch(3).aggregate(n=f.count(), m=lambda r: f.max(r.k)), [(3, 3)],
    ),
    "columns in another order, above a sort of a join": (
        BOTH, lambda: joined().sort("a").fetch(2, 1).select("s", "a"), [("a", 1), ("b", 2)],
    ),
    "a column that is last, above a sort of a join": (
        BOTH, lambda: joined().sort(sd.desc("u", nulls="last")).fetch(1).select("k"), [(3,)],
    ),
    "the first rows of a semi join": (BOTH, lambda: kept().sort("a").fetch(2).select("k"), [(2,), (3,)]),
    "the first rows of a cross join": (
        BOTH,
        lambda: LEFT.cross(RIGHT).sort("j", sd.desc("a", nulls="last")).fetch(2).filter(lambda r: r.a < 3).select("k"),
        [(3,)],
    ),
    "a sort of a filter of a join": (
        BOTH,
        lambda: joined().filter(lambda r: r.k > 1).sort("a").fetch(None, 1).filter(lambda r: r.k < 4).select("s", "k"),
        [("a", 2), ("b", 3)],
    ),
    # Acero takes no rows of what is in no order.
    "no rows of a group": (BOTH, lambda: LEFT.distinct().fetch(0), []),
    "all rows of a join": (BOTH, lambda: joined().fetch(9).select("k"), [(1,), (2,), (3,), (4,)]),
    "all rows of groups": (
        BOTH, lambda: LEFT.group_by("a").agg(n=f.count()).fetch(9), [(3, 1), (1, 1), (2, 1), (None, 1)],
    ),
    "no rows, with their ties": (BOTH, lambda: joined().top_n(0, "k", with_ties=True), []),
    # DuckDB casts nothing to integers of 8 bits.
    "different integers of 8 bits": (
        ("duckdb",),
        lambda: LEFT.select(v=sd.lit(2, "i8")).union(LEFT.select(v=sd.lit(1, "i8"))),
        [(1,), (2,)],
    ),
    # Digits.
    "decimals with fewer digits": (
        BOTH,
        lambda: DIGITS.select(
            a=lambda r: r.n.cast("decimal<8,2>?"),
            b=lambda r: r.n.cast("decimal<6,0>?"),
            c=lambda r: r.m.cast("decimal<3,0>?"),
        ),
        [(Decimal("1.24"), Decimal(1), Decimal(-914)), (Decimal("-2.50"), Decimal(-3), Decimal(3)), (None, None, None)],
    ),
    "a decimal that gets a digit when it is rounded": (
        ("duckdb",),
        lambda: DIGITS.filter(lambda r: r.i == 1).select(a=lambda r: r.w.cast("decimal<38,31>?")),
        [(Decimal("10000." + "0" * 31),)],
    ),
    "texts of decimals without a digit before the point": (
        BOTH, lambda: DIGITS.select(a=lambda r: r.q.cast("string?")), [("0.5000",), ("-0.0001",), (None,)],
    ),
    "texts of small decimals": (
        ("duckdb",),
        lambda: SMALL.select(a=lambda r: r.n.cast("string"), b=lambda r: r.m.cast("string")),
        [("0.00000001", "0.000001"), ("0.00000000", "0.000000")],
    ),
    "texts of decimals of six digits": (
        ("acero",), lambda: SMALL.select(b=lambda r: r.m.cast("string")), [("0.000001",), ("0.000000",)],
    ),
    # Integers.
    "the least integer by -1": (
        ("acero",),
        lambda: ENDS.select(
            a=lambda r: f.divide(r.i, r.d, overflow="SILENT"), b=lambda r: f.divide(r.i, -1, overflow="SILENT")
        ),
        [(LEAST, LEAST), (-7, -7), (-3, 7), (None, -8)],
    ),
    # Texts.
    "the end of a line in the other order": (
        ("duckdb",),
        lambda: TEXTS.filter(lambda r: r.i == 2).select(a=lambda r: f.reverse(r.parts)),
        [("b\n\ra",)],
    ),
    "small letters": (
        ("duckdb",),
        lambda: TEXTS.select(a=lambda r: f.lower(r.s)),
        [("äbc",), ("i\u0307x",), (None,)],
    ),
    "texts in the other order": (
        ("duckdb",), lambda: TEXTS.select(a=lambda r: f.reverse(r.s)), [("CbÄ",), ("x\u0130",), (None,)],
    ),
}  # fmt: skip


def engine_of(name: str, request: pytest.FixtureRequest) -> Engine:
    engine: Engine = request.getfixturevalue({"duckdb": "duckdb_substrait", "acero": "acero"}[name])
    if not any(kind == "tables" and "digits" in value for kind, value in engine.given):
        tables = {
            table: pa.Table.from_pylist(
                [dict(zip(columns, row, strict=True)) for row in rows], READ[table].schema.to_arrow()
            )
            for table, (columns, rows) in TABLES.items()
        }
        engine.add_tables(tables)
    return engine


def rows_on(engine: Engine, relation: Relation) -> Rows:
    table = engine.run(relation.to_plan().to_bytes(engine=engine.name))
    return canonical_rows(list(zip(*(column.to_pylist() for column in table.columns), strict=True)))


@pytest.mark.parametrize(("name", "case"), [(name, case) for case, (some, _, _) in CASES.items() for name in some])
def test_rows_are_those_that_are_due(name: str, case: str, request: pytest.FixtureRequest) -> None:
    _, relation, expected = CASES[case]
    assert Counter(rows_on(engine_of(name, request), relation())) == Counter(canonical_rows(expected))


FAILING: dict[str, tuple[str, Callable[[], Relation], str]] = {
    "a sum of 39 digits": ("duckdb", lambda: LARGE.aggregate(a=lambda r: f.sum(r.n)), "Overflow"),
    "a decimal that does not fit": (
        "acero", lambda: DIGITS.select(a=lambda r: r.w.cast("decimal<5,2>?")), "more digits",
    ),
    "small letters of a sigma": ("duckdb", lambda: TEXTS.select(a=lambda r: f.lower(r.sigma)), "capital sigma"),
    "letters with accents of their own": (
        "duckdb",
        lambda: TEXTS.filter(lambda r: r.i == 1).select(a=lambda r: f.reverse(r.parts)),
        "several code points",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FAILING)
def test_it_fails_where_the_engine_would_be_wrong(case: str, request: pytest.FixtureRequest) -> None:
    name, relation, words = FAILING[case]
    with pytest.raises(Refused, match=words):
        rows_on(engine_of(name, request), relation())


REFUSED: dict[str, tuple[str, Callable[[], Relation], str]] = {
    "texts of small decimals": ("acero", lambda: SMALL.select(a=lambda r: r.n.cast("string")), "cast"),
    "a product of integers of 64 bits": (
        "acero",
        lambda: LARGE.select(a=lambda r: f.multiply(r.l, r.l, overflow="SATURATE")),
        "option",
    ),
    "products of many digits": ("acero", lambda: DIGITS.select(a=lambda r: r.w * r.w), "no-form"),
    "a number as a fraction alone": ("acero", lambda: DIGITS.select(a=lambda r: r.i.cast("decimal<38,38>")), "no-form"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_form_is_refused(case: str) -> None:
    name, relation, code = REFUSED[case]
    plan = relation().to_plan()
    report = plan.check(name)
    assert (report.verdict, [finding.code for finding in report.findings if finding.is_refused]) == ("refused", [code])
    with pytest.raises(UnsupportedError):
        plan.to_bytes(engine=name)


NAMES: dict[str, tuple[dict[str, str], list[str]]] = {
    "in case": ({}, ["a", "A_2"]),
    "in nothing, beside the name with a number": ({"a": "A", "A": "a_2"}, ["A", "a_2"]),
    "none": ({"A": ""}, ["a", "_2"]),
}


@pytest.mark.parametrize("case", NAMES)
def test_names_that_are_one_to_the_engine_get_others(case: str, request: pytest.FixtureRequest) -> None:
    names, sent = NAMES[case]
    plan = ALIKE.rename(names).to_plan()
    table = engine_of("duckdb", request).run(plan.to_bytes(engine="duckdb"))
    assert (table.column_names, list(table.to_pylist()[0].values())) == (sent, [1, 2])
    is_said = "names" in {finding.code for finding in plan.check("duckdb").findings}
    assert is_said is (sent != list(plan.roots[0].schema.names))
