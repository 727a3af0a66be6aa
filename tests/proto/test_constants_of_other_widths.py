"""Calls that can mean one thing only: constants of another type, arguments with a default, counts of no column.

Each plan is changed from one as the specification has it, and is read as that one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession
from substrait import algebra_pb2 as pb
from substrait.plan_pb2 import Plan

import substrait_dsl as sd
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.paths import walk_messages
from tests.support import f, refused, table

T = table("a: i64, b: i32?, c: i8, s: string, x: fp64, d: decimal<9,2>", "t")
WIDTHS = ("i8", "i16", "i32", "i64")

Condition = Callable[[Any], Any]


def literals(plan: Plan) -> list[pb.Expression.Literal]:
    """The integer literals of a plan, in no particular order."""
    found = [each for each in walk_messages(plan) if isinstance(each, pb.Expression.Literal)]
    return [each for each in found if each.WhichOneof("literal_type") in WIDTHS]


def widened(rel: Any, width: str) -> Plan:
    """The plan of a relation whose integer literals are of another width."""
    plan: Plan = rel.to_plan().to_proto()
    assert literals(plan)
    for each in literals(plan):
        value = getattr(each, str(each.WhichOneof("literal_type")))
        setattr(each, width, value)
    return plan


def read_as(plan: Plan, rel: Any, *codes: str) -> None:
    """Assert that a plan is read as that of a relation, with these findings."""
    read = sd.Plan.from_proto(plan)
    assert read == rel.to_plan()
    assert sorted({str(each.code) for each in read.findings}) == sorted(codes)
    assert not [each for each in read.findings if each.weight != "harmless"]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "condition",
    [
        lambda r: r.a > 2,
        lambda r: r.c == 2,
        lambda r: sd.lit(100, sd.I32) < r.b,
        lambda r: f.between(r.a, 1, 5),
        lambda r: f.coalesce(r.b, 0) == 3,
        lambda r: f.left(r.s, 2) == "ab",
        lambda r: f.substring(r.s, 2, 3) == "ab",
        lambda r: f.repeat(r.s, 2) == "abab",
        lambda r: f.round(r.x, 1) > 2.5,
    ],
)
def test_arguments_that_are_constants_of_another_width(condition: Condition, width: str) -> None:
    rel = T.filter(condition)
    plan = widened(rel, width)
    read_as(plan, rel, *(["function-arguments"] if plan != rel.to_plan().to_proto() else []))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "condition",
    [
        lambda r: r.x > 2.0,
        lambda r: sd.lit(2.0) == r.x,
        lambda r: r.d <= Decimal("2.00"),
        lambda r: f.coalesce(r.x, 2.0) < r.x,
        lambda r: f.between(r.d, Decimal("2.00"), Decimal("2.00")),
    ],
)
def test_integers_beside_floats_and_decimals(condition: Condition, width: str) -> None:
    rel = T.filter(condition)
    plan = rel.to_plan().to_proto()
    for each in walk_messages(plan):
        if isinstance(each, pb.Expression.Literal):
            setattr(each, width, 2)
    read_as(plan, rel, "function-arguments")


@pytest.mark.parametrize(
    ("condition", "value"), [(lambda r: r.x > 2.0, 2**53 + 1), (lambda r: r.d > Decimal("2.00"), 10**8)]
)
def test_an_integer_that_is_no_float_or_decimal_stays_one(condition: Condition, value: int) -> None:
    plan = T.filter(condition).to_plan().to_proto()
    (constant,) = (each for each in walk_messages(plan) if isinstance(each, pb.Expression.Literal))
    constant.i64 = value
    assert "function-unknown" in [each.code for each in sd.Plan.from_proto(plan).findings]


@pytest.mark.parametrize("width", WIDTHS)
def test_constants_of_another_width_in_conditionals_and_lists(width: str) -> None:
    for rel in (
        T.select(x=lambda r: sd.when(r.s == "a").then(r.a).otherwise(7)),
        T.select(x=lambda r: sd.when(r.s == "a").then(7).when(r.s == "b").then(r.b).otherwise(8)),
        T.select(x=lambda r: sd.switch(r.c, {1: "one", 2: "two"}, default="more")),
        T.filter(lambda r: r.b.is_in([1, 2, 3])),
    ):
        plan = widened(rel, width)
        read_as(plan, rel, *(["constant-width"] if plan != rel.to_plan().to_proto() else []))


@pytest.mark.parametrize("width", WIDTHS)
def test_constants_of_another_width_in_windows_and_fetches(width: str) -> None:
    rel = T.with_columns(x=lambda r: f.lag(r.s, 2).over(order_by="a"))
    plan = widened(rel, width)
    call = plan.relations[0].root.input.project.expressions[0].window_function
    assert call.arguments[1].value.literal.WhichOneof("literal_type") == width
    read_as(plan, rel, *(["function-arguments"] if width != "i32" else []))
    fetched = T.limit(3)
    count = widened(fetched, width)
    assert repr(sd.Plan.from_proto(count).roots[0].to_plan().to_proto()) == repr(count)  # any width is as specified


def test_constants_of_another_width_in_rows_of_a_virtual_table() -> None:
    rel = sd.read_virtual([(1, 2), (3, None), (5, 6)], {"a": "i64", "b": "i16?"})
    for width in WIDTHS:
        read = sd.Plan.from_proto(widened(rel, width))
        assert read == rel.to_plan()
        assert {each.code for each in read.findings} == {"constant-width"}
    plan = rel.to_plan().to_proto()
    for each in literals(plan):
        each.i32 = 2**20
    with refused(PlanFormatError, 'column "b" is i16?, the value is i32'):
        sd.Plan.from_proto(plan)


@pytest.mark.parametrize(
    ("value", "width", "wanted"),
    [
        (lambda r: r.b + 5, "i64", "i32?"),  # a producer that computes in i64 has 2147483652 of 2147483647
        (lambda r: f.multiply(r.c, 100), "i32", "i8"),
        (lambda r: f.modulus(7, r.b), "i64", "i32?"),
        (lambda r: f.bitwise_xor(r.c, -1), "i64", "i8"),
        (lambda r: f.abs(sd.lit(100, sd.I8)), "i64", "i8"),
    ],
)
def test_a_constant_that_becomes_narrower_may_make_the_result_so(value: Condition, width: str, wanted: str) -> None:
    """Where the call declares its type, that decides; where it does not, another is possible."""
    rel = T.select(value=value)
    plan = widened(rel, width)
    assert not [each for each in sd.Plan.from_proto(plan).findings if each.weight != "harmless"]
    (project,) = [each for each in walk_messages(plan) if isinstance(each, pb.ProjectRel)]
    project.expressions[0].scalar_function.ClearField("output_type")
    read = sd.Plan.from_proto(plan)
    assert str(read.roots[0].schema["value"]) == wanted
    assert [(str(each.code), each.weight) for each in read.findings] == [("constant-narrowed", "assumed")]
    with refused(PlanFormatError, "from_proto"):
        sd.Plan.from_proto(plan, strict="assumed")


def test_a_constant_that_does_not_fit_is_kept() -> None:
    for rel in (T.filter(lambda r: r.c > 5), T.filter(lambda r: f.left(r.s, 5) == "a")):
        plan = rel.to_plan().to_proto()
        for each in literals(plan):
            each.i64 = 2**40
        (finding,) = sd.Plan.from_proto(plan).findings
        assert finding.code == "function-unknown"
        assert "does not take" in finding.message
    column = T.filter(lambda r: f.left(r.s, 5) == "a").to_plan().to_proto()
    left = column.relations[0].root.input.filter.condition.scalar_function.arguments[0].value.scalar_function
    left.arguments[1].value.selection.direct_reference.struct_field.field = 0
    left.arguments[1].value.selection.root_reference.SetInParent()
    assert [each.code for each in sd.Plan.from_proto(column).findings] == [
        "function-unknown"
    ]  # a column is no constant


def without_last_argument(rel: Any, *, by_name: bool = False) -> Plan:
    """The plan of a projection whose call lacks its last argument."""
    plan: Plan = rel.to_plan().to_proto()
    call = plan.relations[0].root.input.project.expressions[0]
    del getattr(call, str(call.WhichOneof("rex_type"))).arguments[-1]
    if by_name:
        declaration = plan.extensions[0].extension_function
        declaration.name = declaration.name.partition(":")[0]
    return plan


@pytest.mark.parametrize("by_name", [False, True])
@pytest.mark.parametrize(
    "column",
    [
        lambda r: f.round(r.x, 0),
        lambda r: f.trim(r.s, " "),
        lambda r: f.ltrim(r.s, " "),
        lambda r: f.rtrim(r.s, " "),
        lambda r: f.lpad(r.s, 7, " "),
        lambda r: f.rpad(r.s, 7, " "),
    ],
)
def test_arguments_that_have_a_default(column: Condition, by_name: bool) -> None:
    rel = T.select(y=column)
    plan = without_last_argument(rel, by_name=by_name)
    read_as(plan, rel, "function-arguments")
    (finding,) = sd.Plan.from_proto(plan).findings
    assert "; read as " in finding.message
    assert "\n" not in finding.message  # not which overloads there are


def test_an_argument_without_a_default_stays_away() -> None:
    plan = without_last_argument(T.select(y=lambda r: f.power(r.x, 2.0)))
    (finding,) = sd.Plan.from_proto(plan).findings
    assert finding.code == "function-unknown"
    assert finding.message.startswith("the type that the plan declares is kept: power:fp64_fp64 does not take (fp64)")


def counts_of_a_column(rel: Any) -> Plan:
    """The plan of a relation whose counts of rows are declared to be those of a column, called with none."""
    plan: Plan = rel.to_plan().to_proto()
    for extension in plan.extensions:
        assert extension.extension_function.name == "count:"
        extension.extension_function.name = "count:any"
    return plan


def test_a_count_of_no_column_is_that_of_rows() -> None:
    for rel in (
        T.aggregate(n=f.count()),
        T.group_by("s").agg(n=f.count()),
        T.with_columns(n=f.count().over(partition_by="s")),
    ):
        read_as(counts_of_a_column(rel), rel, "function-arguments")


def with_texts(rel: Any, kind: str, signature: str) -> Plan:
    """The plan of a filter whose constant texts are of another type, for an overload of the same function."""
    plan: Plan = rel.to_plan().to_proto()
    for each in walk_messages(plan):
        if isinstance(each, pb.Expression.Literal) and each.WhichOneof("literal_type") == "string":
            value = each.string
            if kind == "fixed_char":
                each.fixed_char = value
            elif kind == "var_char":
                each.var_char.value, each.var_char.length = value, len(value)
    names = re.compile("(like|strpos|replace):")
    (extension,) = [each.extension_function for each in plan.extensions if names.match(each.extension_function.name)]
    name = extension.name.partition(":")[0]
    extension.name = f"{name}:{signature}{'_' + signature.partition('_')[0] if name == 'replace' else ''}"
    return plan


TEXTS = table("s: string, v: varchar<9>, c: fixedchar<3>", "texts")


@pytest.mark.parametrize("kind", ["fixed_char", "var_char", "string"])
@pytest.mark.parametrize("signature", ["str_str", "vchar_vchar"])
@pytest.mark.parametrize(
    "function", [f.like, lambda s, t: f.strpos(s, t) == sd.lit(1, sd.I64), lambda s, t: f.replace(s, t, t).is_null()]
)
def test_constant_texts_of_another_type(function: Any, signature: str, kind: str) -> None:
    """SQL's constants are of fixed length, and a producer that casts none of them declares what its columns are not."""
    rel = TEXTS.filter(lambda r: function(r.s, "a%"))
    plan = with_texts(rel, kind, signature)
    read_as(plan, rel, *(["function-arguments"] if plan != rel.to_plan().to_proto() else []))
    limited = TEXTS.filter(lambda r: function(r.v, sd.lit("a%", "varchar<2>")))
    plan = with_texts(limited, "string", signature)
    constants = [each for each in walk_messages(plan) if isinstance(each, pb.Expression.Literal)]
    for each in constants:
        if each.WhichOneof("literal_type") == "var_char":
            each.fixed_char = each.var_char.value
    read_as(plan, limited, "function-arguments")


def test_texts_that_are_no_constants_stay_of_their_type() -> None:
    """What a text of fixed length is beside one of any length, its blanks decide."""
    rel = TEXTS.filter(lambda r: f.like(r.s, r.v.cast(sd.String)))
    plan = rel.to_plan().to_proto()
    call = plan.relations[0].root.input.filter.condition.scalar_function
    call.arguments[1].value.CopyFrom(call.arguments[0].value)
    call.arguments[1].value.selection.direct_reference.struct_field.field = 2
    read = sd.Plan.from_proto(plan)
    assert [str(each.code) for each in read.findings] == ["function-unknown"]


def test_rows_on_spark(spark: SparkSession) -> None:
    rows = [(1, 1, 1, "abcdef", 2.5, 1), (4, None, 2, "x", -1.5, 2)]
    data = sd.read_virtual(rows, T.schema)
    narrow = sd.Plan.from_proto(widened(data.filter(lambda r: r.a > 2).select("a"), "i8")).roots[0]
    assert [tuple(row) for row in narrow.collect(spark)] == [(4,)]
    texts = data.select("a", y=lambda r: f.left(r.s, 2), z=lambda r: f.round(r.x, 0)).sort("a").select("y", "z")
    read = sd.Plan.from_proto(widened(texts, "i64")).roots[0]
    assert [tuple(row) for row in read.collect(spark)] == [("ab", 3.0), ("x", -2.0)]
