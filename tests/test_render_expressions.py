"""Expressions as text, against texts written by hand."""

import datetime as dt
import typing
import uuid
from decimal import Decimal
from typing import Any

import pytest

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions.intervals import Compound, DaySeconds, YearMonths
from substrait_dsl.algebra.expressions.literals import literal
from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.render.describe import expression_text
from tests.nodes import ARITHMETIC, BOOLEAN, COMPARE, both, call, i64, plus

SCHEMA = NamedStruct.of(
    {
        "a": t.I64(),
        "b": t.I64(nullable=True),
        "s": t.String(),
        "p": t.Boolean(),
        "q": t.Boolean(),
        "address": t.Struct.of({"city": t.String(), "zip code": t.String()}),
        "tags": t.List(t.String()),
        "counts": t.Map(t.String(), t.I64()),
        "pair": t.Struct((t.I64(), t.I64())),
    }
)
A, B, S, P, Q, ADDRESS, TAGS, COUNTS, PAIR = (
    ex.FieldReference(position, type_) for position, type_ in enumerate(SCHEMA.types)
)


def times(*arguments: ex.Expression) -> ex.Expression:
    return call("multiply", *arguments, type_=t.I64(), urn=ARITHMETIC)


def either(*arguments: ex.Expression) -> ex.Expression:
    return call("or", *arguments, urn=BOOLEAN)


def negation(argument: ex.Expression) -> ex.Expression:
    return call("not", argument, urn=BOOLEAN)


ORDERS = r.Read(NamedStruct.of({"id": t.I64(), "customer": t.I64()}), r.NamedTable(("orders",)))


OVERFLOW = (ex.FunctionOption("overflow", ("ERROR", "SATURATE")),)
ADD = ex.FunctionId(ARITHMETIC, "add:i64_i64")
RANK = ex.FunctionId(ARITHMETIC, "rank:")

ROW = ex.Row(SCHEMA.row_type())
CITY = ex.StructMask((ex.MaskItem(0),))
X, Y = ex.parameter(0, 0, t.I64()), ex.parameter(0, 1, t.I64())
SUM = ex.Lambda((t.I64(), t.I64()), plus(X, Y))


def windowed(**window: Any) -> ex.WindowFunction:
    """The sum of `a` for each `s`, by descending `b`."""
    call = ex.WindowCall(ex.FunctionId(ARITHMETIC, "sum:i64"), (A,), t.I64(nullable=True), **window)
    return ex.WindowFunction(call, (S, P), (ex.SortKey(B, "desc_nulls_last"),))


EXPRESSIONS: list[tuple[ex.Expression, str]] = [
    (A, "a"),
    (call("gt", A, i64(100)), "a > 100"),
    (call("equal", A, B), "a = b"),
    (call("not_equal", A, B), "a != b"),
    (call("lte", A, B), "a <= b"),
    (call("is_null", B), "b is null"),
    (call("between", A, i64(1), i64(5)), "a between 1 and 5"),
    (call("like", S, literal("x%", t.String())), "s like 'x%'"),
    (call("coalesce", B, A), "coalesce(b, a)"),
    (call("is_null", A, B), "is_null(a, b)"),
    (call("negate", i64(-5), type_=t.I64(), urn=ARITHMETIC), "-(-5)"),
    (plus(plus(A, B), A), "a + b + a"),
    (plus(A, plus(B, A)), "a + (b + a)"),
    (times(plus(A, B), A), "(a + b) * a"),
    (plus(times(A, B), A), "a * b + a"),
    (times(A, times(A, B)), "a * (a * b)"),
    (call("lt", plus(A, B), times(A, A)), "a + b < a * a"),
    (call("equal", call("lt", A, B), P), "(a < b) = p"),
    (both(P, either(P, Q), Q), "p and (p or q) and q"),
    (either(both(P, Q), P), "p and q or p"),
    (both(P, both(Q, P)), "p and q and p"),
    (both(P), '"and"(p)'),
    (negation(P), "not p"),
    (negation(both(P, Q)), "not (p and q)"),
    (both(negation(P), Q), "not p and q"),
    (call("equal", negation(P), Q), "(not p) = q"),
    (call("add", A, B, type_=t.I64(), urn="extension:acme:sums"), "add(a, b)"),
    (ex.ScalarFunction(ADD, (A, B), t.I64(), OVERFLOW), "add(a, b; overflow: ERROR or SATURATE)"),
    (call("extract", ex.EnumArgument("YEAR"), S, ex.TypeArgument(t.I64())), "extract(YEAR, s, i64)"),
    (ex.Cast(plus(A, B), t.String()), "cast(a + b as string)"),
    (ex.Cast(S, t.Decimal(10, 2), "return_null"), "try_cast(s as decimal<10,2>?)"),
    (
        ex.IfThen((ex.IfClause(P, A), ex.IfClause(Q, B)), i64(0)),
        "case when p then a when q then b else 0 end",
    ),
    (
        ex.Switch(A, (ex.SwitchCase(i64(1), S), ex.SwitchCase(i64(2), S)), literal("", t.String())),
        "case a when 1 then s when 2 then s else '' end",
    ),
    (ex.SingularOrList(plus(A, B), (i64(1), B)), "a + b in (1, b)"),
    (negation(ex.SingularOrList(A, (i64(1),))), "not (a in (1))"),
    (
        ex.MultiOrList((A, S), (ex.OrListRecord((i64(1), S)), ex.OrListRecord((B, S)))),
        "(a, s) in ((1, s), (b, s))",
    ),
    (ex.FieldAccess(ADDRESS, ex.StructField(0)), "address.city"),
    (ex.FieldAccess(ADDRESS, ex.StructField(1)), 'address."zip code"'),
    (ex.FieldAccess(PAIR, ex.StructField(1)), "pair.$1"),
    (ex.FieldAccess(TAGS, ex.ListElement(-1)), "tags[-1]"),
    (ex.FieldAccess(COUNTS, ex.MapKey(literal("x", t.String()))), "counts['x']"),
    (ex.FieldReference(9, t.I64()), "$9"),
    (ex.FieldReference(2, t.I64(), ex.OuterReference(7)), "outer(7).$2"),
    (ex.ScalarSubquery(r.emit(ORDERS, [0])), "(subquery #1)"),
    (ex.InPredicate((A,), r.emit(ORDERS, [0])), "a in (subquery #1)"),
    (ex.InPredicate((A, B), r.emit(ORDERS, [0, 1])), "(a, b) in (subquery #1)"),
    (ex.SetPredicate("unique", ORDERS), "unique (subquery #1)"),
    (negation(ex.SetPredicate("exists", ORDERS)), "not exists (subquery #1)"),
    (ex.SetComparison("all", "ge", A, r.emit(ORDERS, [0])), "a >= all (subquery #1)"),
    # masks: of a struct, of a row, of an enclosing row
    (ex.MaskedReference(ADDRESS, ex.StructMask((ex.MaskItem(1), ex.MaskItem(0)))), 'address.("zip code", city)'),
    (
        ex.MaskedReference(
            ROW, ex.StructMask((ex.MaskItem(6, ex.ListMask(5, (7,))), ex.MaskItem(6, ex.ListMask(0, (0, 2)))))
        ),
        "row.(tags[..5, 7], tags[0, 2])",
    ),
    (ex.MaskedReference(PAIR, ex.StructMask((ex.MaskItem(1),))), "pair.($1)"),
    (ex.MaskedReference(ROW, ex.StructMask((ex.MaskItem(5, CITY), ex.MaskItem(0)))), "row.(address.(city), a)"),
    (
        ex.MaskedReference(ex.Row(SCHEMA.row_type(), ex.OuterReference(7)), ex.StructMask((ex.MaskItem(2),))),
        "outer(7).row.($2)",
    ),
    (
        ex.Lambda((t.I64(),), ex.MaskedReference(ex.Row(t.Struct((t.I64(),)), ex.LambdaParameter()), CITY)),
        "(@0: i64) -> row.(@0)",
    ),
    # what is made of several values: a struct of one field is not the field
    (ex.NestedStruct((A, plus(A, B))), "struct(a, a + b)"),
    (ex.NestedStruct((A, S), names=("id", "full name")), 'struct(id: a, "full name": s)'),
    (ex.NestedStruct(()), "struct()"),
    (ex.NestedList((plus(A, A), A)), "[a + a, a]"),
    (ex.NestedMap((ex.MapEntry(S, A), ex.MapEntry(literal("x", t.String()), A))), "{s: a, 'x': a}"),
    # lambdas: parameters are called by their positions
    (SUM, "(@0: i64, @1: i64) -> @0 + @1"),
    (
        call("transform", TAGS, ex.Lambda((t.I64(),), times(plus(X, A), A))),
        "transform(tags, (@0: i64) -> (@0 + a) * a)",
    ),
    (ex.LambdaInvocation(SUM, (A, i64(1))), "((@0: i64, @1: i64) -> @0 + @1)(a, 1)"),
    (
        ex.Lambda((t.I64(),), ex.Lambda((t.I64(),), plus(X, ex.parameter(1, 0, t.I64())))),
        "(@0: i64) -> (@0: i64) -> @0 + outer.@0",
    ),
    # values that come with the execution
    (ex.DynamicParameter(t.I64(nullable=True), 3), "parameter(3):i64?"),
    (ex.ExecutionContextVariable("current_date", t.Date()), "current_date"),
    (ex.ExecutionContextVariable("current_timezone", t.String()), "current_timezone"),
    (ex.ExecutionContextVariable("current_timestamp", t.PrecisionTimestampTZ(3)), "current_timestamp(3)"),
    # window functions
    (
        windowed(upper=ex.CURRENT_ROW),
        "sum(a) over (partition by s, p order by b desc nulls last rows between unbounded preceding and current row)",
    ),
    (
        windowed(lower=ex.Bound("following", i64(1)), upper=ex.Bound("following", plus(A, A)), bounds_type="range"),
        "sum(a) over (partition by s, p order by b desc nulls last range between 1 following and (a + a) following)",
    ),
    (
        ex.WindowFunction(
            ex.WindowCall(
                RANK, (), t.I64(nullable=True), OVERFLOW, invocation="distinct", phase="intermediate_to_result"
            ),
            (),
            (ex.SortKey(A, COMPARE),),
        ),
        "rank(distinct; overflow: ERROR or SATURATE) [intermediate_to_result] "
        "over (order by a using compare rows between unbounded preceding and unbounded following)",
    ),
]


@pytest.mark.parametrize(("expression", "text"), EXPRESSIONS, ids=lambda value: value if isinstance(value, str) else "")
def test_expression(expression: ex.Expression, text: str) -> None:
    assert expression_text(expression, SCHEMA) == text


def test_every_kind_of_expression_can_be_written() -> None:
    written = {type(node) for expression, _ in EXPRESSIONS for node in walk(expression)}
    assert [kind.__name__ for kind in typing.get_args(ex.AnyExpression) if kind not in written] == []


@pytest.mark.parametrize(
    ("value", "type_", "text"),
    [
        (True, t.Boolean(), "true"),
        (-3, t.I8(), "-3"),
        (2.5, t.FP64(), "2.5"),
        (Decimal("100000"), t.Decimal(15, 2), "100000.00"),
        ("it's\n", t.String(), r"'it''s\n'"),
        ("x" * 61, t.String(), f"'{'x' * 60}'... (61 characters)"),
        (b"\x00\xff", t.Binary(), "x'00ff'"),
        (dt.date(1995, 3, 15), t.Date(), "date '1995-03-15'"),
        (dt.time(12, 30, 1, 5000), t.PrecisionTime(3), "time '12:30:01.005'"),
        (dt.datetime(2024, 2, 29, 1, 2, 3), t.PrecisionTimestamp(0), "timestamp '2024-02-29 01:02:03'"),
        (
            dt.datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=dt.UTC),
            t.PrecisionTimestampTZ(6),
            "timestamp_tz '1969-12-31 23:59:59.999999Z'",
        ),
        (YearMonths(1, 2), t.IntervalYear(), "interval 'P1Y2M'"),
        (DaySeconds(3, 4, 5), t.IntervalDay(6), "interval 'P3DT4.000005S'"),
        (DaySeconds(0, -1, -500), t.IntervalDay(3), "interval 'P0DT-1.500S'"),
        (Compound(YearMonths(1), DaySeconds(2)), t.IntervalCompound(0), "interval 'P1Y0M2DT0S'"),
        (uuid.UUID(int=1), t.UUID(), "uuid '00000000-0000-0000-0000-000000000001'"),
        ((1, "a"), t.Struct((t.I64(), t.String())), "(1, 'a')"),
        ([1, None], t.List(t.I64(nullable=True)), "[1, null:i64]"),
        ({"a": 1}, t.Map(t.String(), t.I64()), "{'a': 1}"),
        ((i64(1), i64(2)), t.UserDefined("extension:acme:shapes", "point"), "u!point(1, 2)"),
        (AnyMessage("acme/P", b"ab"), t.UserDefined("extension:acme:shapes", "point"), 'u!point("acme/P", 2 bytes)'),
        (None, t.Decimal(5, 1, nullable=True), "null:decimal<5,1>"),
    ],
)
def test_literal(value: object, type_: t.Type, text: str) -> None:
    assert expression_text(literal(value, type_)) == text


def test_moment_that_no_calendar_has() -> None:
    last = ex.Literal(2**62, t.PrecisionTimestamp(0))
    assert expression_text(last) == f"precision_timestamp<0> '{2**62}'"


def test_columns_without_names() -> None:
    assert expression_text(call("gt", A, B)) == "$0 > $1"


def test_ambiguous_names_carry_their_position() -> None:
    schema = NamedStruct.of([("id", t.I64()), ("x", t.I64()), ("id", t.I64())])
    last = ex.FieldReference(2, t.I64())
    assert expression_text(plus(ex.FieldReference(1, t.I64()), last), schema) == "x + id#2"


def test_names_that_look_like_something_else_are_quoted() -> None:
    schema = NamedStruct.of({"and": t.I64(), 'a "b"\n': t.I64()})
    text = expression_text(plus(ex.FieldReference(0, t.I64()), ex.FieldReference(1, t.I64())), schema)
    assert text == r'"and" + "a \"b\"\n"'


def test_a_column_is_not_taken_for_the_time() -> None:
    schema = NamedStruct.of({"current_date": t.Date()})
    assert expression_text(ex.FieldReference(0, t.Date()), schema) == '"current_date"'


def test_shared_expression_is_cut() -> None:
    expression: ex.Expression = A
    for _ in range(60):
        expression = plus(expression, expression)
    text = expression_text(expression, SCHEMA)
    assert text.startswith("a + a + (a + a) + (a + a + (a + a)) + (")
    assert text.endswith(" ... (cut after 1500 characters)")
    assert len(text) < 1600


def test_deep_expression_does_not_recurse() -> None:
    expression: ex.Expression = P
    for _ in range(20_000):
        expression = negation(expression)
    assert expression_text(expression, SCHEMA).startswith("not (not (not (")
