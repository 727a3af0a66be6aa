"""Window functions as messages, against messages written by hand from algebra.proto, and read back from them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from substrait import algebra_pb2 as pb
from substrait import type_pb2

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import CURRENT_ROW, UNBOUNDED, Bound, literal
from substrait_dsl.errors import InvalidArgumentError, PlanFormatError
from substrait_dsl.proto.plan import decode_plan
from tests.proto.plans import ARITHMETIC, T, add, col, encoded_expression, i64, message, table
from tests.proto.reading import Change, changed, found, refused_at, rel_comes_back, root
from tests.support import refused

R = "nullability: NULLABILITY_REQUIRED"
N = "nullability: NULLABILITY_NULLABLE"
A = "selection { direct_reference { struct_field { field: 0 } } root_reference {} }"
B = "selection { direct_reference { struct_field { field: 1 } } root_reference {} }"
DAY = t.IntervalDay(6)
PATH = "project.expressions[0]"

a, b, s = (col(T, position) for position in range(3))
BY_A = (ex.SortKey(a, "asc_nulls_last"),)


def total(lower: Bound = UNBOUNDED, upper: Bound = UNBOUNDED, bounds_type: ex.BoundsType = "rows") -> ex.WindowCall:
    function = ex.FunctionId(ARITHMETIC, "sum:i64")
    return ex.WindowCall(function, (a,), t.I64(nullable=True), (), lower, upper, bounds_type)


def over(call: ex.WindowCall, sorts: tuple[ex.SortKey, ...] = BY_A) -> r.Rel:
    return r.Project(T, (ex.WindowFunction(call, (s,), sorts),), ("x",))


def function_of(rel: pb.Rel) -> pb.Expression.WindowFunction:
    return rel.project.expressions[0].window_function


def test_a_window_function_has_the_message_of_algebra_proto() -> None:
    call = ex.WindowCall(
        ex.FunctionId("extension:a:b", "f:i64"),
        (a, ex.EnumArgument("WORD"), ex.TypeArgument(t.I8())),
        t.I64(nullable=True),
        (ex.FunctionOption("overflow", ("ERROR",)),),
        Bound("preceding", i64(3)),
        CURRENT_ROW,
        "range",
        "distinct",
        "initial_to_intermediate",
    )
    window = ex.WindowFunction(call, (a, b), (ex.SortKey(b, "desc_nulls_last"),))
    assert encoded_expression(window) == message(
        pb.Expression,
        f"""
        window_function {{
          function_reference: 1
          arguments {{ value {{ {A} }} }}
          arguments {{ enum: "WORD" }}
          arguments {{ type {{ i8 {{ {R} }} }} }}
          options {{ name: "overflow" preference: "ERROR" }}
          output_type {{ i64 {{ {N} }} }}
          phase: AGGREGATION_PHASE_INITIAL_TO_INTERMEDIATE
          invocation: AGGREGATION_INVOCATION_DISTINCT
          partitions {{ {A} }}
          partitions {{ {B} }}
          sorts {{ expr {{ {B} }} direction: SORT_DIRECTION_DESC_NULLS_LAST }}
          bounds_type: BOUNDS_TYPE_RANGE
          lower_bound {{ preceding {{ offset: 3 offset_expr {{ literal {{ i64: 3 }} }} }} }}
          upper_bound {{ current_row {{}} }}
        }}
        """,
    )


def test_phase_invocation_and_bounds_are_always_said() -> None:
    window = ex.WindowFunction(ex.WindowCall(ex.FunctionId("extension:a:b", "f:"), (), t.I64()))
    assert encoded_expression(window) == message(
        pb.Expression,
        f"""
        window_function {{
          function_reference: 1
          output_type {{ i64 {{ {R} }} }}
          phase: AGGREGATION_PHASE_INITIAL_TO_RESULT
          invocation: AGGREGATION_INVOCATION_ALL
          bounds_type: BOUNDS_TYPE_ROWS
          lower_bound {{ unbounded {{}} }}
          upper_bound {{ unbounded {{}} }}
        }}
        """,
    )


@pytest.mark.parametrize(
    ("bound", "bounds_type", "text"),
    [
        (UNBOUNDED, "rows", "unbounded {}"),
        (CURRENT_ROW, "rows", "current_row {}"),
        (Bound("following", i64(2)), "rows", "following { offset: 2 offset_expr { literal { i64: 2 } } }"),
        (Bound("preceding", a), "rows", f"preceding {{ offset_expr {{ {A} }} }}"),
        (Bound("preceding", literal(2, t.I32())), "range", "preceding { offset_expr { literal { i32: 2 } } }"),
        (
            Bound("preceding", literal(ex.DaySeconds(7), DAY)),
            "range",
            "preceding { offset_expr { literal { interval_day_to_second { days: 7 precision: 6 } } } }",
        ),
    ],
    ids=["unbounded", "current row", "rows", "computed", "not i64", "interval"],
)
def test_only_an_i64_literal_is_written_in_the_deprecated_field_too(
    bound: Bound, bounds_type: ex.BoundsType, text: str
) -> None:
    window = encoded_expression(ex.WindowFunction(total(bound, UNBOUNDED, bounds_type), (), BY_A)).window_function
    assert window.lower_bound == message(pb.Expression.WindowFunction.Bound, text)


def test_a_call_in_a_window_relation_has_the_same_fields() -> None:
    """So that one function writes both, and one reads both."""
    whole = {(field.name, field.type) for field in pb.Expression.WindowFunction.DESCRIPTOR.fields}
    call = {(field.name, field.type) for field in pb.ConsistentPartitionWindowRel.WindowRelFunction.DESCRIPTOR.fields}
    assert call < whole
    assert {name for name, _ in whole - call} == {"partitions", "sorts"}


# --- read back

CALLS: dict[str, ex.WindowCall] = {
    "a window function": ex.WindowCall(ex.FunctionId(ARITHMETIC, "row_number:"), (), t.I64(nullable=True)),
    "with arguments": ex.WindowCall(
        ex.FunctionId(ARITHMETIC, "lag:any_i32"), (s, literal(2, t.I32())), t.String(nullable=True)
    ),
    "an aggregate function": total(),
    "distinct": ex.WindowCall(ex.FunctionId(ARITHMETIC, "sum:i64"), (b,), t.I64(nullable=True), invocation="distinct"),
    "intermediate": ex.WindowCall(
        ex.FunctionId(ARITHMETIC, "avg:fp64"),
        (literal(1.5, t.FP64()),),
        t.Struct((t.FP64(), t.I64())),
        phase="initial_to_intermediate",
    ),
    "of nobody": ex.WindowCall(
        ex.FunctionId("extension:a:b", "f:any"),
        (ex.EnumArgument("WORD"), ex.TypeArgument(t.I8()), a),
        t.UUID(),
        (ex.FunctionOption("mode", ("A", "B")),),
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_calls_come_back(call: ex.WindowCall) -> None:
    rel_comes_back(over(call))
    rel_comes_back(over(call, ()))


COUNTS = st.one_of(st.integers(1, 2**63 - 1).map(i64), st.sampled_from([a, b, add(a, i64(1))]))
ROWS = st.one_of(
    st.sampled_from([UNBOUNDED, CURRENT_ROW]), st.builds(Bound, st.sampled_from(["preceding", "following"]), COUNTS)
)


@settings(max_examples=60)
@given(ROWS, ROWS)
def test_any_frame_of_rows_comes_back(lower: Bound, upper: Bound) -> None:
    rel_comes_back(over(total(lower, upper, "rows")))


@pytest.mark.parametrize("terms", [10, 40, 500])
def test_parts_of_any_depth_come_back(terms: int) -> None:
    deep: ex.Expression = a
    for _ in range(terms):
        deep = add(deep, i64(1))
    call = ex.WindowCall(
        ex.FunctionId(ARITHMETIC, "sum:i64"), (deep,), t.I64(nullable=True), (), Bound("preceding", deep), CURRENT_ROW
    )
    window = ex.WindowFunction(call, (deep,), (ex.SortKey(deep, "asc_nulls_first"),))
    rel_comes_back(r.Project(T, (window,), ("x",)))


def test_a_window_function_names_its_column() -> None:
    got, _ = root(changed(over(CALLS["a window function"]), lambda m: None))
    assert got.schema.names == ("a", "b", "s", "row_number")


# --- what older or careless plans leave out


def test_the_deprecated_offset_alone_counts_rows() -> None:
    def old(rel: pb.Rel) -> None:
        function_of(rel).lower_bound.preceding.ClearField("offset_expr")

    rel = over(total(Bound("preceding", i64(3)), CURRENT_ROW))
    assert root(changed(rel, old)) == (rel, [])


def test_an_unset_bound_is_as_far_as_the_partition_goes() -> None:
    """Spec decision 32: not the current row, as in SQL."""

    def unset(rel: pb.Rel) -> None:
        function_of(rel).ClearField("lower_bound")
        function_of(rel).upper_bound.Clear()

    assert root(changed(over(total(CURRENT_ROW, CURRENT_ROW)), unset)) == (over(total()), [])


ZEROS: dict[str, Change] = {
    "in the old field": lambda bound: bound.preceding.SetInParent(),
    "in the new field": lambda bound: setattr(bound.following.offset_expr.literal, "i64", 0),
    "an interval": lambda bound: setattr(bound.preceding.offset_expr.literal.interval_day_to_second, "precision", 6),
    "a decimal": lambda bound: bound.preceding.offset_expr.CopyFrom(
        message(pb.Expression, 'literal { decimal { value: "' + r"\000" * 16 + '" precision: 4 scale: 2 } }')
    ),
}


@pytest.mark.parametrize("zero", ZEROS.values(), ids=ZEROS)
def test_nothing_before_or_after_is_the_current_row(zero: Change) -> None:
    got = found(
        over(total(bounds_type="range")),
        lambda rel: zero(function_of(rel).lower_bound),
        "current_row",
        path=f"{PATH}.window_function.lower_bound",
    )
    assert got == over(total(CURRENT_ROW, bounds_type="range"))


def test_a_frame_without_offsets_may_leave_out_its_bounds_type() -> None:
    """Spec decision 31."""

    def unsaid(rel: pb.Rel) -> None:
        function_of(rel).ClearField("bounds_type")

    rel = over(total(UNBOUNDED, CURRENT_ROW))
    assert found(rel, unsaid, "bounds_type", "rows", path=f"{PATH}.window_function") == rel
    for counted in (total(Bound("preceding", i64(1))), total(upper=Bound("following", i64(1)))):
        with refused_at(PATH, PlanFormatError, "bounds_type", "counts rows or is added to the sort key"):
            decode_plan(changed(over(counted), unsaid))


def test_a_call_that_does_not_say_its_phase_is_whole_and_its_invocation_takes_all() -> None:
    def unsaid(rel: pb.Rel) -> None:
        function_of(rel).ClearField("phase")
        function_of(rel).ClearField("invocation")

    assert found(over(total()), unsaid, "phase", path=f"{PATH}.window_function") == over(total())


def test_a_declared_type_gives_way_to_the_derived_one() -> None:
    """row_number is declared to give ``i64?``."""

    def required(rel: pb.Rel) -> None:
        function_of(rel).output_type.i64.nullability = type_pb2.Type.NULLABILITY_REQUIRED

    rel = over(CALLS["a window function"])
    assert found(rel, required, "row_number", "i64?", path=f"{PATH}.window_function") == rel


# --- what cannot be

COUNTED = over(total(Bound("preceding", i64(3)), CURRENT_ROW))
RANGED = over(total(Bound("preceding", i64(3)), CURRENT_ROW, "range"))
BAD: dict[str, tuple[r.Rel, Change, str, str]] = {
    "an unknown bounds type": (COUNTED, lambda m: setattr(m, "bounds_type", 9), "", "WindowFunction.bounds_type is 9"),
    "an unknown phase": (COUNTED, lambda m: setattr(m, "phase", 9), "", "WindowFunction.phase is 9"),
    "a negative offset": (
        COUNTED,
        lambda m: m.lower_bound.CopyFrom(message(type(m.lower_bound), "preceding { offset: -2 }")),
        ".window_function.lower_bound",
        "must be positive, got -2",
    ),
    "two offsets": (
        COUNTED,
        lambda m: setattr(m.lower_bound.preceding, "offset", 4),
        ".window_function.lower_bound",
        "is 4, but its offset_expr says something else",
    ),
    "an offset of NULL": (
        RANGED,
        lambda m: m.lower_bound.CopyFrom(
            message(type(m.lower_bound), f"preceding {{ offset_expr {{ literal {{ null {{ i64 {{ {N} }} }} }} }} }}")
        ),
        ".window_function.lower_bound",
        "must not be NULL",
    ),
    "an offset that is nothing": (
        COUNTED,
        lambda m: m.lower_bound.preceding.offset_expr.Clear(),
        ".window_function.lower_bound.preceding.offset_expr",
        "an expression is missing",
    ),
    "rows that are not counted": (
        COUNTED,
        lambda m: m.lower_bound.CopyFrom(
            message(type(m.lower_bound), 'preceding { offset_expr { literal { string: "x" } } }')
        ),
        "",
        "the bounds of a frame of rows are i64, not string",
    ),
    "a range without a sort key": (RANGED, lambda m: m.ClearField("sorts"), "", "exactly one sort key"),
    "a range over a clustered key": (
        RANGED,
        lambda m: setattr(m.sorts[0], "direction", 5),  # SORT_DIRECTION_CLUSTERED
        "",
        "ascending or descending",
    ),
}


@pytest.mark.parametrize(("rel", "change", "path", "said"), BAD.values(), ids=BAD)
def test_what_cannot_be_is_refused_where_it_stands(rel: r.Rel, change: Change, path: str, said: str) -> None:
    with refused_at(PATH + path, PlanFormatError, said):
        decode_plan(changed(rel, lambda m: change(function_of(m))))


def test_a_scalar_function_has_no_window() -> None:
    plan = changed(over(total()), lambda m: None, ("", "add:i64_i64"))
    plan.extensions[0].extension_function.extension_urn_reference = 1
    with refused_at(PATH, PlanFormatError, "add:i64_i64", "window or aggregate", "scalar"):
        decode_plan(plan)


@pytest.mark.parametrize(
    "offset",
    [
        i64(0),
        i64(-1),
        literal(Decimal("0.00"), t.Decimal(4, 2)),
        literal(-1.5, t.FP64()),
        literal(ex.YearMonths(0, 0), t.IntervalYear()),
        literal(ex.YearMonths(1, -12), t.IntervalYear()),
        literal(ex.DaySeconds(0, -1), DAY),
        literal(ex.Compound(ex.YearMonths(), ex.DaySeconds()), t.IntervalCompound(6)),
    ],
    ids=str,
)
def test_an_offset_is_positive(offset: ex.Expression) -> None:
    with refused(InvalidArgumentError, "must be positive", "0 is current_row"):
        Bound("preceding", offset)


def test_an_offset_that_is_no_literal_may_be_anything() -> None:
    assert Bound("following", col(table("t", d=DAY), 0)).offset is not None
