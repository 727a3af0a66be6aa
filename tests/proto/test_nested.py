"""Structs, lists and maps of expressions as messages, against messages written by hand, and read back from them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.plan import decode_plan
from tests.proto.plans import T, add, col, encoded, encoded_expression, i64, message
from tests.proto.reading import Change, changed, found, refused_at, rel_comes_back

A = "selection { direct_reference { struct_field { field: 0 } } root_reference {} }"
B = "selection { direct_reference { struct_field { field: 1 } } root_reference {} }"
DICT = t.TypeVariation("extension:a:variations", "dict4")
PATH = "project.expressions[0]"

a, b, s = (col(T, position) for position in range(3))


def projected(expression: ex.Expression) -> r.Rel:
    return r.Project(T, (expression,), ("x",))


NESTED: dict[str, tuple[ex.Expression, str]] = {
    "a struct": (ex.NestedStruct((a, b)), f"struct {{ fields {{ {A} }} fields {{ {B} }} }}"),
    "a struct of nothing": (ex.NestedStruct(()), "struct {}"),
    "a list": (ex.NestedList((a, b), nullable=True), f"nullable: true list {{ values {{ {A} }} values {{ {B} }} }}"),
    "a map": (
        ex.NestedMap((ex.MapEntry(a, b), ex.MapEntry(i64(1), b))),
        f"map {{ key_values {{ key {{ {A} }} value {{ {B} }} }} "
        f"key_values {{ key {{ literal {{ i64: 1 }} }} value {{ {B} }} }} }}",
    ),
    "a variation": (
        ex.NestedList((a,), variation=DICT),
        f"type_variation_reference: 1 list {{ values {{ {A} }} }}",
    ),
}


@pytest.mark.parametrize(("expression", "text"), NESTED.values(), ids=NESTED)
def test_every_kind_has_the_message_of_algebra_proto(expression: ex.Expression, text: str) -> None:
    assert encoded_expression(expression) == message(pb.Expression, f"nested {{ {text} }}")
    rel_comes_back(projected(expression))


def test_a_variation_is_declared() -> None:
    (declared,) = encoded(projected(NESTED["a variation"][0])).extensions
    assert declared.extension_type_variation.name == "dict4"
    assert declared.extension_type_variation.type_variation_anchor == 1


# Any of these has an i64 value, which may be NULL, so that lists and maps of them are well typed.
def _around(inner: st.SearchStrategy[ex.Expression]) -> st.SearchStrategy[ex.Expression]:
    several = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(ex.NestedStruct, several, st.booleans()).map(lambda it: ex.FieldAccess(it, ex.StructField(0))),
        st.builds(ex.NestedList, several, st.booleans()).map(lambda it: ex.FieldAccess(it, ex.ListElement(-1))),
        st.builds(lambda values: ex.NestedMap(tuple(ex.MapEntry(s, value) for value in values)), several).map(
            lambda it: ex.FieldAccess(it, ex.MapKey(literal("k", t.String())))
        ),
    )


@settings(max_examples=60)
@given(st.recursive(st.sampled_from([a, b, i64(1), i64(None)]), _around, max_leaves=12))
def test_any_nesting_comes_back(expression: ex.Expression) -> None:
    rel_comes_back(projected(expression))


@pytest.mark.parametrize("terms", [10, 40, 500])
def test_parts_of_any_depth_come_back(terms: int) -> None:
    deep: ex.Expression = a
    for _ in range(terms):
        deep = add(deep, i64(1))
    parts: tuple[ex.Expression, ...] = (
        ex.NestedStruct((deep,)),
        ex.NestedList((deep,)),
        ex.NestedMap((ex.MapEntry(deep, deep),)),
    )
    for part in parts:
        rel_comes_back(projected(part))


def test_lists_in_lists_come_back() -> None:
    deep: ex.Expression = a
    for _ in range(30):
        deep = ex.NestedList((deep,))
    rel_comes_back(projected(ex.FieldAccess(deep, ex.ListElement(0))))


LIST, MAP = NESTED["a list"][0], NESTED["a map"][0]
BAD: dict[str, tuple[ex.Expression, Change, str, str]] = {
    "no kind": (LIST, lambda m: m.ClearField("list"), "", "struct, list or map"),
    "a list of nothing": (LIST, lambda m: m.list.ClearField("values"), "", "an empty list is a literal"),
    "a map of nothing": (MAP, lambda m: m.map.ClearField("key_values"), "", "an empty map is a literal"),
    "a list of this and that": (
        LIST,
        lambda m: m.list.values.add(literal=pb.Expression.Literal(string="x")),
        "",
        "string",
    ),
    "an entry without a value": (
        MAP,
        lambda m: m.map.key_values[1].ClearField("value"),
        ".nested.map.key_values[1].value",
        "missing",
    ),
    "a key that may be NULL": (
        MAP,
        lambda m: m.map.key_values[0].key.selection.CopyFrom(m.map.key_values[0].value.selection),
        "",
        "never NULL",
    ),
}


@pytest.mark.parametrize(("expression", "change", "path", "said"), BAD.values(), ids=BAD)
def test_what_cannot_be_is_refused_where_it_stands(
    expression: ex.Expression, change: Change, path: str, said: str
) -> None:
    with refused_at(PATH + path, PlanFormatError, said):
        decode_plan(changed(projected(expression), lambda m: change(m.project.expressions[0].nested)))


def test_an_undeclared_variation_is_left_out() -> None:
    def change(rel: Any) -> None:
        rel.project.expressions[0].nested.type_variation_reference = 7

    rel = projected(LIST)
    assert (
        found(rel, change, "type variation 7, of list", "for list itself", path="project.expressions[0].nested") == rel
    )
