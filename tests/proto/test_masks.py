"""References with masks as messages, against messages written by hand, and read back from them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import ListMask, Mask, MaskItem, Row, StructMask
from substrait_dsl.errors import PlanFormatError, SubstraitDslError, UnsupportedError
from substrait_dsl.proto.plan import decode_plan, encode_plan
from tests.proto.plans import T, add, call, col, encoded_relation, equal, i64, message, outer, plan_of, table
from tests.proto.reading import Change, changed, found, refused_at, rel_comes_back, root
from tests.proto.test_depth import readable

I64, TEXT = t.I64(), t.String()
INNER = t.Struct((I64, TEXT, t.Struct((t.I8(), t.I16()), nullable=True)), nullable=True)
WIDE = table("wide", a=I64, v=INNER, l=t.List(INNER))
U = table("u", k=I64)
PATH = "project.expressions[0]"
MASK = StructMask((MaskItem(1, StructMask((MaskItem(2, StructMask((MaskItem(1),))), MaskItem(0)))), MaskItem(0)))
ROW = Row(t.Struct(WIDE.schema.types))


SCHEMA = t.Struct((t.Struct((t.I32(), t.List(t.Struct((t.I32(), TEXT, TEXT))), t.I32())), t.I16(), t.I32(), I64))
"""The row of the example that the specification has of masks."""
FIRST_FIVE = ListMask(5, child=StructMask((MaskItem(0), MaskItem(2))))
EXAMPLE = StructMask(
    (
        MaskItem(0, StructMask((MaskItem(0), MaskItem(1, FIRST_FIVE)))),
        MaskItem(2),
        MaskItem(3),
    )
)
"""``0:[0,1:[..5:[0,2]]],2,3``, which keeps, as the specification says, "only the first 5 records in the array"."""


def projected(expression: ex.Expression, rel: r.Rel = WIDE, anchor: int | None = None) -> r.Rel:
    return r.Project(rel, (expression,), ("x",), anchor=anchor)


def first(*positions: int) -> StructMask:
    return StructMask(tuple(MaskItem(position) for position in positions))


def test_a_masked_reference_has_the_message_of_algebra_proto() -> None:
    sent = encoded_relation(projected(ex.MaskedReference(ROW, MASK))).project.expressions[0]
    assert sent == message(
        pb.Expression,
        """
        selection {
          masked_reference {
            select {
              struct_items { field: 1 child { struct {
                struct_items { field: 2 child { struct { struct_items { field: 1 } } } }
                struct_items { field: 0 }
              } } }
              struct_items { field: 0 }
            }
            maintain_singular_struct: true
          }
          root_reference {}
        }
        """,
    )


def test_the_example_of_the_specification() -> None:
    """The pseudocode, the message that says the same, and the type that the specification prints."""
    kept = ex.MaskedReference(Row(SCHEMA), EXAMPLE)
    assert kept.type == t.Struct((t.Struct((t.I32(), t.List(t.Struct((t.I32(), TEXT))))), t.I32(), I64))
    rel = table("example", a=SCHEMA.types[0], b=SCHEMA.types[1], c=SCHEMA.types[2], d=SCHEMA.types[3])
    row = Row(t.Struct(rel.schema.types))
    sent = encoded_relation(projected(ex.MaskedReference(row, EXAMPLE), rel)).project.expressions[0]
    assert sent.selection.masked_reference == message(
        pb.Expression.MaskExpression,
        """
        select {
          struct_items { field: 0 child { struct {
            struct_items { field: 0 }
            struct_items { field: 1 child { list {
              selection { slice { start: 0 end: 5 } }
              child { struct { struct_items { field: 0 } struct_items { field: 2 } } }
            } } }
          } } }
          struct_items { field: 2 }
          struct_items { field: 3 }
        }
        maintain_singular_struct: true
        """,
    )
    rel_comes_back(projected(ex.MaskedReference(row, EXAMPLE), rel))


def test_elements_are_items_behind_a_slice() -> None:
    mask = StructMask((MaskItem(2, ListMask(2, (2, 7))),))
    sent = encoded_relation(projected(ex.MaskedReference(ROW, mask))).project.expressions[0]
    assert sent.selection.masked_reference.select.struct_items[0].child == message(
        pb.Expression.MaskExpression.Select,
        "list { selection { slice { end: 2 } } selection { item { field: 2 } } selection { item { field: 7 } } }",
    )


CASES: dict[str, ex.Expression] = {
    "an element": ex.MaskedReference(ROW, StructMask((MaskItem(2, ListMask(positions=(0,))),))),
    "elements, in part": ex.MaskedReference(ROW, StructMask((MaskItem(2, ListMask(3, (4, 9), first(2, 0))),))),
    "a row": ex.MaskedReference(ROW, MASK),
    "a row in another order": ex.MaskedReference(ROW, first(2, 0)),
    "nothing of a row": ex.MaskedReference(ROW, StructMask(())),
    "nothing of a field": ex.MaskedReference(ROW, StructMask((MaskItem(1, StructMask(())),))),
    "a column": ex.MaskedReference(col(WIDE, 1), first(2, 1)),
    "a part of a column": ex.MaskedReference(ex.FieldAccess(col(WIDE, 2), ex.ListElement(0)), first(1)),
    "a part of what is left": ex.FieldAccess(ex.MaskedReference(ROW, MASK), ex.StructField(0)),
    "a value": ex.MaskedReference(ex.NestedStruct((col(WIDE, 0), i64(1))), first(1)),
    "what is left": ex.MaskedReference(ex.MaskedReference(ROW, MASK), first(1)),
    "the parameters of a lambda": ex.LambdaInvocation(
        ex.Lambda((I64, TEXT), ex.MaskedReference(Row(t.Struct((I64, TEXT)), ex.LambdaParameter()), first(1))),
        (i64(1), ex.Cast(i64(2), TEXT)),
    ),
}


@pytest.mark.parametrize("expression", CASES.values(), ids=CASES)
def test_masked_references_come_back(expression: ex.Expression) -> None:
    rel_comes_back(projected(expression))


def masks(type_: t.Type) -> st.SearchStrategy[Mask | None]:
    """Masks of a type: none of what is no struct and no list."""
    if isinstance(type_, t.List):
        behind = st.sets(st.integers(3, 2**31 - 1), min_size=1, max_size=3).map(lambda some: tuple(sorted(some)))
        some = st.builds(ListMask, st.integers(0, 3), behind, masks(type_.element))
        return st.one_of(st.none(), st.builds(ListMask, st.integers(1, 9), child=masks(type_.element)), some)
    if not isinstance(type_, t.Struct):
        return st.none()
    items = [st.builds(MaskItem, st.just(position), masks(inner)) for position, inner in enumerate(type_.types)]
    part = st.lists(st.one_of(items), max_size=3, unique_by=lambda item: item.position)
    return st.one_of(st.none(), st.builds(StructMask, part.map(tuple)))


@settings(max_examples=40)
@given(masks(ROW.types).filter(lambda mask: mask is not None))
def test_any_mask_comes_back(mask: StructMask) -> None:
    rel_comes_back(projected(ex.MaskedReference(ROW, mask)))
    rel_comes_back(r.Read(WIDE.schema, r.NamedTable(("t",)), projection=mask))


# --- outer rows


@pytest.mark.parametrize("outer_references", ["rel_reference", "steps_out"])
def test_a_mask_of_an_outer_row_comes_back(outer_references: str) -> None:
    masked = ex.MaskedReference(Row(ROW.types, ex.OuterReference(1)), MASK)
    inside = r.Filter(U, call("f:struct_i64", masked, col(U, 0), urn="extension:a:b"))
    rel_comes_back(r.Filter(WIDE, ex.SetPredicate("exists", inside), anchor=1), outer_references)  # type: ignore[arg-type]  # one of its two words


def test_a_mask_of_the_outer_row_of_one_input_begins_where_its_columns_do() -> None:
    """Spec decision 27."""
    row = t.Struct((*U.schema.types, *T.schema.types))
    masked = ex.MaskedReference(Row(row, ex.OuterReference(1)), first(3, 1))
    inside = r.Filter(U, call("f:struct_i64", masked, outer(1, 1, I64), urn="extension:a:b"))
    join = r.Join(U, T, "inner", ex.SetPredicate("exists", inside), anchor=1)

    def on_the_right_input(rel: pb.Rel) -> None:
        rel.join.common.ClearField("rel_anchor")
        rel.join.right.read.common.rel_anchor = 77
        arguments = rel.join.expression.subquery.set_predicate.tuples.filter.condition.scalar_function.arguments
        for argument in arguments:
            argument.value.selection.outer_reference.rel_reference = 77
        items = arguments[0].value.selection.masked_reference.select.struct_items
        items[0].field, items[1].field = 2, 0
        arguments[1].value.selection.direct_reference.struct_field.field = 0

    host, _ = root(changed(join, lambda rel: None))
    inputs, _ = root(changed(join, on_the_right_input))
    assert host == inputs


# --- depth


def nested(depth: int) -> tuple[ex.Expression, StructMask]:
    """A struct in a struct in a struct, made of expressions, and a mask down to the innermost."""
    value: ex.Expression = col(T, 0)
    mask: StructMask | None = None
    for _ in range(depth):
        value = ex.NestedStruct((value,))
        mask = StructMask((MaskItem(0, mask),))
    assert mask is not None
    return value, mask


@pytest.mark.parametrize("depth", [1, 11, 12, 13, 15, 29])
def test_masks_of_any_depth_that_messages_can_hold_come_back(depth: int) -> None:
    value, mask = nested(depth)
    rel = projected(ex.MaskedReference(value, mask), T)
    rel_comes_back(rel)
    readable(encode_plan(plan_of(rel)))


@pytest.mark.parametrize("terms", [14, 15, 16, 40])
def test_deep_masks_in_deep_expressions_come_back(terms: int) -> None:
    """Around the height up to which a plan is written without looking for what is too deep."""
    type_: t.Type = I64
    mask: StructMask | None = None
    for _ in range(12):
        type_ = t.Struct((type_,))
        mask = StructMask((MaskItem(0, mask),))
    assert mask is not None
    rel = table("deep", v=type_)
    expression: ex.Expression = ex.MaskedReference(Row(t.Struct(rel.schema.types)), StructMask((MaskItem(0, mask),)))
    for _ in range(terms):
        expression = call("f:any", expression, type_=TEXT, urn="extension:a:b")
    rel_comes_back(projected(expression, rel))
    readable(encode_plan(plan_of(projected(expression, rel))))


def test_a_mask_that_no_message_can_hold_is_refused() -> None:
    value, mask = nested(33)  # 3 levels each
    with pytest.raises(UnsupportedError, match="nests too deeply"):
        encode_plan(plan_of(projected(ex.MaskedReference(value, mask), T)))


def test_what_is_masked_may_be_of_any_depth() -> None:
    deep: ex.Expression = col(T, 0)
    for _ in range(200):
        deep = add(deep, i64(1))
    rel_comes_back(projected(ex.MaskedReference(ex.NestedStruct((deep, deep)), first(1)), T))


@pytest.mark.parametrize("depth", [1, 11, 12, 13, 20, 30])
def test_masks_of_lists_of_any_depth_come_back(depth: int) -> None:
    type_: t.Type = I64
    mask: ListMask | None = None
    for _ in range(depth):
        type_ = t.List(type_)
        mask = ListMask(2, (5,), mask)
    rel = table("deep", v=type_)
    masked = projected(ex.MaskedReference(Row(t.Struct(rel.schema.types)), StructMask((MaskItem(0, mask),))), rel)
    read = r.Read(rel.schema, r.NamedTable(("t",)), projection=StructMask((MaskItem(0, mask),)))
    for made in (masked, read):
        rel_comes_back(made)
        readable(encode_plan(plan_of(made)))


# --- what cannot be


def selecting(text: str) -> Change:
    """A change of a mask of a column that is a list: what it selects."""
    part = message(pb.Expression.MaskExpression.ListSelect, text)
    return lambda m: m.select.struct_items[0].child.list.CopyFrom(part)


ITEM = f"{PATH}.selection.masked_reference.select.struct_items[0].child"
BAD: dict[str, tuple[Change, type[SubstraitDslError], str, str]] = {
    "no elements of a list": (selecting(""), PlanFormatError, f"{ITEM}.list", "must set selection"),
    "an element of no kind": (selecting("selection {}"), PlanFormatError, f"{ITEM}.list.selection[0]", "item or slice"),
    "a slice that begins later": (
        selecting("selection { slice { start: 1 end: 3 } }"),
        UnsupportedError,
        f"{ITEM}.list.selection[0]",
        "the slice from 1 to 3: whether that is the end, or how many",
    ),
    "a slice without an end": (
        selecting("selection { slice {} }"),
        UnsupportedError,
        f"{ITEM}.list.selection[0]",
        "the slice from 0 to 0",
    ),
    "a slice from the end": (
        selecting("selection { slice { start: -3 end: -1 } }"),
        UnsupportedError,
        f"{ITEM}.list.selection[0]",
        "the slice from -3 to -1",
    ),
    "a slice behind elements": (
        selecting("selection { item { field: 7 } } selection { slice { end: 2 } }"),
        UnsupportedError,
        f"{ITEM}.list.selection[1]",
        "behind other elements",
    ),
    "an element from the end": (
        selecting("selection { item { field: -1 } }"),
        UnsupportedError,
        f"{ITEM}.list.selection[0]",
        "the element -1: whether it counts from the end",
    ),
    "elements in another order": (
        selecting("selection { item { field: 3 } } selection { item { field: 1 } }"),
        UnsupportedError,
        f"{ITEM}.list",
        "elements in another order, or twice",
    ),
    "an element twice": (
        selecting("selection { slice { end: 2 } } selection { item { field: 1 } }"),
        UnsupportedError,
        f"{ITEM}.list",
        "elements in another order, or twice",
    ),
    "elements of a struct": (
        selecting("selection { item {} }"),
        PlanFormatError,
        PATH,
        "only a list has elements to keep",
    ),
    "a mask of a map": (lambda m: m.select.struct_items[0].child.map.SetInParent(), UnsupportedError, ITEM, "map"),
    "a mask of no kind": (
        lambda m: m.select.struct_items[0].child.Clear(),
        PlanFormatError,
        ITEM,
        "struct, list or map",
    ),
    "nothing selected": (
        lambda m: m.ClearField("select"),
        PlanFormatError,
        f"{PATH}.selection.masked_reference",
        "must set select",
    ),
    "a column that is not there": (
        lambda m: setattr(m.select.struct_items[0], "field", 3),
        PlanFormatError,
        PATH,
        "there is no column 3: the row has 3 columns",
    ),
    "a field that is not there": (
        lambda m: setattr(m.select.struct_items[0].child.struct.struct_items[0], "field", -1),
        PlanFormatError,
        PATH,
        "there is no field -1",
    ),
    "a part of a number": (
        lambda m: setattr(m.select.struct_items[0], "field", 0),
        PlanFormatError,
        PATH,
        "only a struct can be read in part",
    ),
}


@pytest.mark.parametrize(("change", "error", "path", "said"), BAD.values(), ids=BAD)
def test_what_cannot_be_is_refused_where_it_stands(
    change: Change, error: type[SubstraitDslError], path: str, said: str
) -> None:
    """Spec decision 26: what of lists can be read in several ways."""
    rel = projected(ex.MaskedReference(ROW, MASK))
    with refused_at(path, error, said):
        decode_plan(changed(rel, lambda m: change(m.project.expressions[0].selection.masked_reference)))


def test_a_read_refuses_the_same() -> None:
    rel = r.Read(WIDE.schema, r.NamedTable(("t",)), projection=StructMask((MaskItem(2, ListMask(2)),)))
    rel_comes_back(rel)

    def later(m: pb.Rel) -> None:
        m.read.projection.select.struct_items[0].child.list.selection[0].slice.start = 1

    place = "read.projection.select.struct_items[0].child.list.selection[0]"
    with refused_at(place, UnsupportedError, "the slice from 1 to 2"):
        decode_plan(changed(rel, later))


@pytest.mark.parametrize("mask", [ListMask(1), ListMask(positions=(4,)), ListMask(3, (), ListMask(1))])
def test_a_mask_of_one_element_is_a_list_in_any_case(mask: ListMask) -> None:
    """Spec decision 25."""
    type_ = t.List(t.List(I64)) if mask.child else t.List(I64)
    rel = r.Read(table("t", a=I64, v=type_).schema, r.NamedTable(("t",)), projection=StructMask((MaskItem(1, mask),)))
    assert rel.schema.types == (type_,)

    def unsaid(rel: pb.Rel) -> None:
        rel.read.projection.maintain_singular_struct = False

    assert found(rel, unsaid, "one element of a list", path="read.projection") == rel
    several = r.Read(rel.base_schema, r.NamedTable(("t",)), projection=StructMask((MaskItem(1, ListMask(2)),)))
    assert root(changed(several, unsaid)) == (several, [])


def test_a_mask_of_one_field_is_a_struct_in_any_case() -> None:
    """Spec decision 25."""

    def unsaid(rel: pb.Rel) -> None:
        rel.project.expressions[0].selection.masked_reference.maintain_singular_struct = False

    rel = projected(ex.MaskedReference(col(WIDE, 1), first(2)))
    path = f"{PATH}.selection.masked_reference"
    assert found(rel, unsaid, "maintain_singular_struct", path=path) == rel
    several = projected(ex.MaskedReference(col(WIDE, 1), first(2, 0)))
    assert root(changed(several, unsaid)) == (several, [])


def test_a_value_that_is_no_struct_has_no_mask() -> None:
    rel = projected(ex.MaskedReference(col(WIDE, 1), first(2)))

    def on_a_number(m: pb.Rel) -> None:
        m.project.expressions[0].selection.expression.selection.direct_reference.struct_field.field = 0

    with refused_at(PATH, PlanFormatError, "only parts of a struct", "i64"):
        decode_plan(changed(rel, on_a_number))


def test_equal_rows_have_equal_masks() -> None:
    """An equality in a filter over what is left of two rows: its type is derived as that of any other struct."""
    masked = ex.MaskedReference(ROW, first(0))
    rel_comes_back(r.Filter(WIDE, equal(masked, ex.MaskedReference(ROW, first(0)))))
