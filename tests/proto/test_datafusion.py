"""Encoded plans run by DataFusion, another reader of the specification, against rows worked out by hand."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.rules import JoinType, SetOp
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.proto.plan import to_bytes
from tests.proto.plans import BOOLEAN, add, call, col, count_rows, encoded, equal, gt, i64, outer, total

if TYPE_CHECKING:
    from datafusion import SessionContext

I64, NI64, STR, BOOL = t.I64(), t.I64(nullable=True), t.String(), t.Boolean()

EMPLOYEES: list[tuple[Any, ...]] = [
    (1, "Ann", 10, 300),
    (2, "Bob", 10, 200),
    (3, "Cid", 20, None),
    (4, "Dee", None, 100),
]
DEPARTMENTS: list[tuple[Any, ...]] = [(10, "Sales"), (20, "Stock"), (30, "Staff")]

EMP = r.Read(NamedStruct.of({"id": I64, "name": STR, "dept": NI64, "pay": NI64}), r.NamedTable(("emp",)))
DEP = r.Read(NamedStruct.of({"dep": I64, "title": STR}), r.NamedTable(("dep",)))
ID, NAME, DEPT, PAY = (col(EMP, position) for position in range(4))

Rows = list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def context(datafusion: None) -> SessionContext:
    from datafusion import SessionContext

    context = SessionContext()
    for name, rel, rows in (("emp", EMP, EMPLOYEES), ("dep", DEP, DEPARTMENTS)):
        schema = pa.schema(
            [pa.field(f.name, pa.string() if f.type == STR else pa.int64(), f.type.nullable) for f in rel.schema]
        )
        columns = [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), schema, strict=True)]
        context.register_record_batches(name, [[pa.record_batch(columns, schema=schema)]])
    return context


def run(context: SessionContext, rel: r.Rel) -> Rows:
    """The rows of a relation, in the order in which they come."""
    from datafusion.substrait import Consumer, Serde

    plan = Serde.deserialize_bytes(to_bytes(encoded(rel, outer_references="steps_out")))
    frame = context.create_dataframe_from_logical_plan(Consumer.from_substrait_plan(context, plan))
    return [tuple(row.values()) for batch in frame.collect() for row in batch.to_pylist()]


def in_any_order(rows: Rows) -> Rows:
    return sorted(rows, key=repr)


def ids(rel: r.Rel) -> r.Rel:
    return r.Emit(rel, (0,))


def ordered(rel: r.Rel) -> r.Rel:
    return r.Sort(rel, (ex.SortKey(col(rel, 0), "asc_nulls_last"),))


def test_read_and_emit(context: SessionContext) -> None:
    assert in_any_order(run(context, r.Emit(EMP, (1, 0)))) == [("Ann", 1), ("Bob", 2), ("Cid", 3), ("Dee", 4)]


def test_filter_keeps_what_is_true(context: SessionContext) -> None:
    assert in_any_order(run(context, ids(r.Filter(EMP, gt(PAY, i64(150)))))) == [(1,), (2,)]


def test_project_appends(context: SessionContext) -> None:
    rel = r.Emit(r.Project(EMP, (add(PAY, i64(1)), NAME), ("more", "again")), (0, 4, 5))
    assert run(context, ordered(rel)) == [(1, 301, "Ann"), (2, 201, "Bob"), (3, None, "Cid"), (4, 101, "Dee")]


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        ("asc_nulls_first", [3, 4, 2, 1]),
        ("asc_nulls_last", [4, 2, 1, 3]),
        ("desc_nulls_first", [3, 1, 2, 4]),
        ("desc_nulls_last", [1, 2, 4, 3]),
    ],
)
def test_sort(context: SessionContext, direction: Any, expected: list[int]) -> None:
    assert [row[0] for row in run(context, r.Sort(EMP, (ex.SortKey(PAY, direction),)))] == expected


@pytest.mark.parametrize(
    ("count", "offset", "expected"),
    [(2, None, [1, 2]), (None, 3, [4]), (1, 1, [2]), (0, None, []), (9, 0, [1, 2, 3, 4]), (None, None, [1, 2, 3, 4])],
)
def test_fetch(context: SessionContext, count: int | None, offset: int | None, expected: list[int]) -> None:
    rel = r.Fetch(
        r.Sort(EMP, (ex.SortKey(ID, "asc_nulls_last"),)),
        None if count is None else i64(count),
        None if offset is None else i64(offset),
    )
    assert [row[0] for row in run(context, rel)] == expected


ANN, BOB, CID, DEE = "Ann", "Bob", "Cid", "Dee"


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("inner", [(ANN, "Sales"), (BOB, "Sales"), (CID, "Stock")]),
        ("left", [(ANN, "Sales"), (BOB, "Sales"), (CID, "Stock"), (DEE, None)]),
        ("right", [(ANN, "Sales"), (BOB, "Sales"), (CID, "Stock"), (None, "Staff")]),
        ("outer", [(ANN, "Sales"), (BOB, "Sales"), (CID, "Stock"), (DEE, None), (None, "Staff")]),
        ("left_semi", [(ANN,), (BOB,), (CID,)]),
        ("left_anti", [(DEE,)]),
        ("right_semi", [("Sales",), ("Stock",)]),
        ("right_anti", [("Staff",)]),
    ],
)
def test_join(context: SessionContext, how: JoinType, expected: Rows) -> None:
    join = r.Join(EMP, DEP, how, equal(DEPT, ex.FieldReference(4, I64)))
    texts = tuple(position for position, field in enumerate(join.schema) if isinstance(field.type, t.String))
    assert in_any_order(run(context, r.Emit(join, texts))) == in_any_order(expected)


def test_cross(context: SessionContext) -> None:
    rows = run(context, r.Emit(r.Cross(EMP, DEP), (0, 4)))
    assert in_any_order(rows) == [(person, department) for person in (1, 2, 3, 4) for department in (10, 20, 30)]


def numbers(*values: int | None) -> r.Rel:
    return r.Read(
        NamedStruct.of({"n": NI64}), r.VirtualTable(tuple(r.Record((literal(value, NI64),)) for value in values))
    )


# what the specification's table of set operations says of {1, 1, 2, NULL} and {1, NULL}
@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("union_all", [1, 1, 1, 2, None, None]),
        ("union_distinct", [1, 2, None]),
        ("minus_primary", [2]),
        ("intersection_primary", [1, None]),
    ],
)
def test_set(context: SessionContext, op: SetOp, expected: list[int | None]) -> None:
    rows = run(context, ordered(r.Set((numbers(1, 1, 2, None), numbers(1, None)), op)))
    assert [row[0] for row in rows] == expected


def test_aggregate(context: SessionContext) -> None:
    measures = (
        ex.Measure(count_rows()),
        ex.Measure(total(PAY)),
        ex.Measure(total(PAY), gt(PAY, i64(250))),
        ex.Measure(ex.AggregateFunction(total(DEPT).function, (DEPT,), NI64, invocation="distinct")),
    )
    rel = r.Aggregate(EMP, (DEPT,), ((0,),), measures, ("dept", "n", "pay", "high", "different"))
    assert run(context, ordered(rel)) == [(10, 2, 500, 300, 10), (20, 1, None, None, 20), (None, 1, 100, None, None)]
    everything = r.Aggregate(EMP, (), (), measures, ("n", "pay", "high", "different"))
    assert run(context, everything) == [(4, 600, 300, 30)]
    nothing = r.Aggregate(r.Filter(EMP, literal(False, BOOL)), (), (), measures[:2], ("n", "pay"))
    assert run(context, nothing) == [(0, None)]


def test_virtual_tables(context: SessionContext) -> None:
    assert run(context, ordered(numbers(3, 1, None))) == [(1,), (3,), (None,)]
    assert run(context, numbers()) == []


LITERALS: list[tuple[Any, t.Type, Any]] = [
    (True, BOOL, True),
    (-5, t.I8(), -5),
    (300, t.I16(), 300),
    (-70000, t.I32(), -70000),
    (2**40, I64, 2**40),
    (1.5, t.FP32(), 1.5),
    (0.1, t.FP64(), 0.1),
    ("é'\"", STR, "é'\""),
    (b"\x00\xff", t.Binary(), b"\x00\xff"),
    (b"ab", t.FixedBinary(2), b"ab"),
    (dt.date(2000, 2, 29), t.Date(), dt.date(2000, 2, 29)),
    (decimal.Decimal("-12.30"), t.Decimal(15, 2), decimal.Decimal("-12.30")),
    (decimal.Decimal(10**37), t.Decimal(38, 0), decimal.Decimal(10**37)),
    (dt.datetime(2024, 5, 6, 7, 8, 9, 10), t.PrecisionTimestamp(6), dt.datetime(2024, 5, 6, 7, 8, 9, 10)),
    ([1, 2], t.List(t.I32()), [1, 2]),
    (None, t.Decimal(9, 2, nullable=True), None),
    (None, STR.as_nullable(), None),
]


@pytest.mark.parametrize(
    ("value", "type_", "expected"), LITERALS, ids=[f"{value!r} {type_}" for value, type_, _ in LITERALS]
)
def test_literals(context: SessionContext, value: Any, type_: t.Type, expected: Any) -> None:
    rel = r.Emit(r.Project(numbers(1), (literal(value, type_),), ("x",)), (1,))
    assert run(context, rel) == [(expected,)]


def test_expressions(context: SessionContext) -> None:
    expressions = (
        ex.Cast(ID, t.FP64(), "throw"),
        ex.Cast(NAME, NI64, "return_null"),
        ex.IfThen((ex.IfClause(gt(ID, i64(2)), literal("high", STR)),), literal("low", STR)),
        ex.SingularOrList(DEPT, (literal(10, NI64), literal(30, NI64))),
        call("and:bool", gt(ID, i64(0)), gt(ID, i64(1)), gt(i64(4), ID), urn=BOOLEAN),
    )
    rel = r.Emit(r.Project(EMP, expressions, ("a", "b", "c", "d", "e")), (0, 4, 5, 6, 7, 8))
    assert run(context, ordered(rel)) == [
        (1, 1.0, None, "low", True, False),
        (2, 2.0, None, "low", True, True),
        (3, 3.0, None, "high", False, True),
        (4, 4.0, None, "high", None, False),
    ]


# --- subqueries


def staffed() -> r.Rel:
    """The employees of an outer department."""
    return r.Filter(EMP, equal(DEPT, outer(1, 0, I64)))


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (ex.SetPredicate("exists", staffed()), [10, 20]),
        (call("not:bool", ex.SetPredicate("exists", staffed()), urn=BOOLEAN), [30]),
        (ex.InPredicate((col(DEP, 0),), r.Emit(EMP, (2,))), [10, 20]),
        (ex.InPredicate((col(DEP, 0),), r.Emit(r.Filter(EMP, gt(PAY, i64(0))), (2,))), [10]),
        (
            gt(col(DEP, 0), ex.ScalarSubquery(r.Aggregate(EMP, (), (), (ex.Measure(count_rows()),), ("n",)))),
            [10, 20, 30],
        ),
        (ex.SetComparison("any", "lt", col(DEP, 0), r.Emit(r.Filter(EMP, gt(DEPT, i64(0))), (2,))), [10]),
    ],
    ids=["exists", "not exists", "in", "in some", "scalar", "any"],
)
def test_subqueries(context: SessionContext, condition: ex.Expression, expected: list[int]) -> None:
    anchor = min(condition.free_anchors, default=None)
    rel = r.Filter(DEP, condition, anchor=anchor)
    assert [row[0] for row in run(context, ordered(rel))] == expected


def test_a_correlated_scalar_subquery(context: SessionContext) -> None:
    pay = ex.ScalarSubquery(r.Aggregate(staffed(), (), (), (ex.Measure(total(PAY)),), ("pay",)))
    rel = r.Emit(r.Project(DEP, (pay,), ("pay",), anchor=1), (0, 2))
    assert run(context, ordered(rel)) == [(10, 500), (20, None), (30, None)]


def test_forty_five_steps_run_uncut(context: SessionContext) -> None:
    rel: r.Rel = EMP
    for number in range(45):
        rel = r.Filter(rel, gt(ID, i64(-number)))
    assert in_any_order(run(context, ids(rel))) == [(1,), (2,), (3,), (4,)]


@pytest.mark.parametrize("keys", ["ROLLUP (dept)", "CUBE (dept, name)", "GROUPING SETS ((dept), (name))"])
def test_its_own_grouping_sets_are_read(keys: str, context: SessionContext) -> None:
    """In its plans the columns that follow the keys lie elsewhere; what rows they give, tests/producers compares."""
    from datafusion.substrait import Serde

    plan = sd.Plan.from_bytes(Serde.serialize_bytes(f"SELECT dept, sum(pay) FROM emp GROUP BY {keys}", context))
    (root,) = plan.roots
    assert [(field.name, str(field.type)) for field in root.schema] == [("dept", "i64?"), ("sum(emp.pay)", "i64?")]
    assert "= sum(pay)" in str(root)
