"""Ranges with an offset: what is added to a sort key has to fit it, in plans that are read as when they are built."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from substrait import algebra_pb2 as pb

import substrait_dsl as sd
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import CURRENT_ROW, UNBOUNDED, Bound, literal
from substrait_dsl.catalog import standard_catalog
from substrait_dsl.errors import PlanFormatError, TypeMismatchError
from substrait_dsl.proto.plan import decode_plan
from tests.proto.plans import T, col, i64, message, plan_of, table, total
from tests.proto.reading import changed, refused_at, rel_comes_back, root
from tests.support import f, refused
from tests.support import table as fluent_table


def ranged(key: ex.Expression, offset: ex.Expression, rel: r.Rel = T) -> ex.WindowFunction:
    total_of = total(col(rel, 0))
    framed = ex.WindowCall(
        total_of.function,
        total_of.arguments,
        total_of.output_type,
        (),
        Bound("preceding", offset),
        CURRENT_ROW,
        "range",
    )
    return ex.WindowFunction(framed, (), (ex.SortKey(key, "asc_nulls_last"),))


KEYS = table(
    "k",
    a=t.I64(),
    text=t.String(),
    small=t.I32(),
    price=t.Decimal(15, 2, nullable=True),
    day=t.Date(),
    at=t.PrecisionTimestamp(6),
    mine=t.UserDefined("extension:a:b", "point"),
    varied=t.I64(variation=t.TypeVariation("extension:a:b", "odd")),
    later=t.Unbound(),
    real=t.FP64(),
)
NAMES = {field.name: position for position, field in enumerate(KEYS.schema)}
DAYS = literal(ex.DaySeconds(7), t.IntervalDay(6))


def key(name: str) -> ex.FieldReference:
    return col(KEYS, NAMES[name])


@pytest.mark.parametrize(
    ("name", "offset"),
    [
        ("a", i64(5)),
        ("a", col(KEYS, 0)),
        ("price", literal(Decimal("0.50"), t.Decimal(3, 2))),
        ("at", DAYS),
        ("mine", i64(5)),
        ("varied", i64(5)),
        ("later", i64(5)),
        ("text", literal((), t.UserDefined("extension:a:b", "point"))),
        ("real", literal(0.5, t.FP64())),
    ],
)
def test_offsets_that_can_be_added_come_back(name: str, offset: ex.Expression) -> None:
    rel_comes_back(r.Project(KEYS, (ranged(key(name), offset, KEYS),), ("x",)))


OFFSETS = {
    "a": st.one_of(st.integers(1, 2**63 - 1).map(i64), st.just(col(KEYS, 0))),
    "price": st.decimals("0.01", "99.99", places=2).map(lambda value: literal(value, t.Decimal(4, 2))),
    "at": st.builds(ex.DaySeconds, st.integers(1, 100), st.integers(0, 1000)).map(
        lambda value: literal(value, t.IntervalDay(6))
    ),
}


@settings(max_examples=60)
@given(st.sampled_from(sorted(OFFSETS)), st.data())
def test_any_frame_of_a_range_comes_back(name: str, data: st.DataObject) -> None:
    moved = st.builds(Bound, st.sampled_from(["preceding", "following"]), OFFSETS[name])
    lower, upper = (data.draw(st.one_of(st.sampled_from([UNBOUNDED, CURRENT_ROW]), moved)) for _ in range(2))
    sum_ = total(col(KEYS, 0))
    call = ex.WindowCall(sum_.function, sum_.arguments, sum_.output_type, (), lower, upper, "range")
    window = ex.WindowFunction(call, (), (ex.SortKey(key(name), "desc_nulls_first"),))
    rel_comes_back(r.Project(KEYS, (window,), ("x",)))


@pytest.mark.parametrize(
    ("name", "offset"),
    [
        ("text", i64(5)),
        ("small", i64(5)),
        ("a", literal("x", t.String())),
        ("day", i64(5)),
        ("price", literal(Decimal("0.500"), t.Decimal(4, 3))),  # the sum would have another scale
        ("at", ex.Literal(5, t.PrecisionTimestamp(6))),
    ],
)
def test_offsets_that_cannot_be_added_are_refused(name: str, offset: ex.Expression) -> None:
    window = ranged(key(name), offset, KEYS)
    said = (f"a range over {key(name).type}", f"offset of type {offset.type}", "do not add up")
    with refused_at("project.expressions[0].window_function.lower_bound", PlanFormatError, *said):
        decode_plan(changed(r.Project(KEYS, (window,), ("x",)), lambda m: None))
    with refused_at("window.window_functions[0].lower_bound", PlanFormatError, *said):
        decode_plan(changed(r.Window(KEYS, (window.call,), (), window.sorts, ("x",)), lambda m: None))


def test_an_offset_is_checked_when_it_is_built() -> None:
    rows = fluent_table("a: i64, text: string")
    for order in ("text", sd.desc("text")):
        with refused(TypeMismatchError, "a range over string cannot have an offset 5", "do not add up to string"):
            rows.project(x=lambda r, order=order: f.sum(r.a).over(order_by=order, range=(-5, 0)))


OWN = """
urn: extension:com.acme:texts
scalar_functions:
  - name: add
    impls: [{args: [{value: string}, {value: i64}], return: string}]
  - name: subtract
    impls: [{args: [{value: string}, {value: i64}], return: string}]
"""


def test_functions_of_an_extension_of_ones_own_add_too() -> None:
    rel = r.Project(KEYS, (ranged(key("text"), i64(5), KEYS),), ("x",))
    assert decode_plan(changed(rel, lambda m: None), standard_catalog().with_extension(OWN)) == (plan_of(rel), ())


@pytest.mark.parametrize(
    ("name", "offset"),
    [
        ("a", i64(3)),
        ("small", literal(3, t.I32())),
        ("real", literal(3.0, t.FP64())),
        ("price", literal(3, t.Decimal(15, 2))),
    ],
)
def test_an_offset_in_the_deprecated_field_has_the_type_that_its_key_needs(name: str, offset: ex.Expression) -> None:
    def old(rel: pb.Rel) -> None:
        bound = rel.project.expressions[0].window_function.lower_bound
        bound.CopyFrom(message(type(bound), "preceding { offset: 3 }"))

    rel = r.Project(KEYS, (ranged(key(name), offset, KEYS),), ("x",))
    assert root(changed(rel, old)) == (rel, [])
    with refused(PlanFormatError, "a range over date cannot have an offset 3"):
        decode_plan(changed(r.Project(KEYS, (ranged(key("day"), i64(1), KEYS),), ("x",)), old))
