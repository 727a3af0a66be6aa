"""Short plans that ask for much work: the calls of Python functions that they take stay in proportion."""

from __future__ import annotations

import cProfile
import difflib
import pickle
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from substrait import algebra_pb2 as pb
from substrait import type_pb2 as types_pb
from substrait.plan_pb2 import Plan

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.properties import OrderKey, Properties
from substrait_dsl.algebra.rules import set_schema
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.catalog import Catalog, standard_catalog
from substrait_dsl.errors import FunctionNotFoundError, PlanFormatError, UnsupportedError
from substrait_dsl.proto import legacy
from substrait_dsl.proto.complexity_limits import MAX_INPUT_COLUMNS
from substrait_dsl.proto.paths import path_of
from substrait_dsl.proto.plan import from_bytes, from_json, to_json
from substrait_dsl.proto.reports import MAX_REPORTED
from substrait_dsl.render.literals import MAX_TYPE
from substrait_dsl.render.text import explain
from tests.proto.plans import COMPARISON, T, call, encoded, i64, table
from tests.proto.test_hostile import REQUIRED, chain, computed, united

X = TypeVar("X")


def calls(work: Callable[[], X]) -> tuple[X, int]:
    """What some work gives, and how many calls of Python functions it takes."""
    profile = cProfile.Profile(builtins=False)
    with profile:
        made = work()
    return made, sum(entry.callcount for entry in profile.getstats())


def wide(plan: Plan, columns: int, names: int | None = None) -> bytes:
    """The bytes of a plan whose first relation gets so many columns, and its root so many names."""
    schema = plan.relations[0].rel.read.base_schema
    del schema.names[:], schema.struct.types[:]
    for _ in range(columns):
        schema.names.append("c")
        schema.struct.types.add().i64.nullability = REQUIRED
    del plan.relations[-1].root.names[:]
    plan.relations[-1].root.names.extend("c" * (columns if names is None else names))
    return plan.SerializeToString()


def joining(kind: pb.JoinRel.JoinType.ValueType, left: int | None = None) -> Callable[[pb.Rel, int], None]:
    """A join of the relation before, or of another, with the first of the plan."""

    def make(message: pb.Rel, before: int) -> None:
        message.join.left.reference.subtree_ordinal = before if left is None else left
        message.join.right.reference.subtree_ordinal = 0
        message.join.type = kind
        message.join.expression.literal.boolean = True

    return make


# --- wide rows


def test_many_sets_over_a_wide_relation() -> None:
    """Three hundred sets of a thousand columns: column by column that would be some million calls."""
    data = wide(chain(300, united), 1000)
    (plan, _), taken = calls(lambda: from_bytes(data))
    assert taken < 100_000
    assert len(plan.roots[0].input.schema) == 1000


def test_a_relation_that_is_a_thousand_inputs_of_a_set() -> None:
    def many(message: pb.Rel, before: int) -> None:
        united(message, before)
        for _ in range(1000):
            message.set.inputs.add().reference.subtree_ordinal = before

    data = wide(chain(2, many), 1000)
    assert calls(lambda: from_bytes(data))[1] < 100_000


def test_sets_of_different_wide_relations_are_counted() -> None:
    """Each goes through the 20,000 columns of its input and the 20,000 others that are computed from it."""

    def make(message: pb.Rel, before: int) -> None:
        if before == 0:
            computed(message, 0)
            message.project.common.emit.output_mapping.extend([*range(19_999), 20_000])
        else:
            united(message, 0)
            message.set.inputs[1].reference.subtree_ordinal = 1

    assert MAX_INPUT_COLUMNS < 300 * 40_000
    data = wide(chain(300, make), 20_000)
    with pytest.raises(UnsupportedError, match=f"more than {MAX_INPUT_COLUMNS} columns in their inputs"):
        from_bytes(data)


def test_joins_that_put_out_one_side_are_counted() -> None:
    """The condition of each sees the 80,000 columns of both sides, though it puts out the very 40,000 of the left."""
    assert MAX_INPUT_COLUMNS < 150 * 80_000
    data = wide(chain(150, joining(pb.JoinRel.JOIN_TYPE_LEFT_SEMI)), 40_000)
    with pytest.raises(UnsupportedError, match=f"more than {MAX_INPUT_COLUMNS} columns in their inputs"):
        from_bytes(data)


def test_a_long_chain_of_outer_joins() -> None:
    """All together 240,000 columns, of which only the first three have to be made nullable."""
    data = chain(400, joining(pb.JoinRel.JOIN_TYPE_OUTER), names=401 * 3).SerializeToString()
    (plan, _), taken = calls(lambda: from_bytes(data))
    assert taken < 150_000
    text, taken = calls(lambda: explain(plan.roots[0].input))
    assert taken < 400_000
    assert "1200 columns" in text


def test_a_column_made_nullable_is_one_object() -> None:
    schema = table("t", a=t.I64(), b=t.String(nullable=True)).schema
    assert schema.as_nullable().fields[0] is schema.as_nullable().fields[0]
    assert schema.as_nullable().fields[1] is schema.fields[1]
    assert schema.fields[0].with_nullability(True).with_nullability(False) is schema.fields[0]
    assert schema.as_nullable() == NamedStruct((Field("a", t.I64(nullable=True)), Field("b", t.String(nullable=True))))


def test_the_first_input_of_a_set_among_the_others_counts_as_one_of_them() -> None:
    """An intersection with oneself and with a required column: the column is in some secondary input nullable."""
    nullable, required = NamedStruct.of({"a": t.I64(nullable=True)}), NamedStruct.of({"b": t.I64()})
    assert set_schema("intersection_primary", [nullable, nullable, required]) == nullable
    assert set_schema("intersection_primary", [nullable, required]) == NamedStruct.of({"a": t.I64()})


def test_masks_over_a_wide_row() -> None:
    """Each names one of a thousand columns, and none goes through all of them."""

    def make(message: pb.Rel, before: int) -> None:
        message.project.input.reference.subtree_ordinal = before
        for _ in range(300):
            masked = message.project.expressions.add().selection
            masked.root_reference.SetInParent()
            masked.masked_reference.select.struct_items.add().field = 0
            masked.masked_reference.maintain_singular_struct = True

    data = wide(chain(1, make), 1000, 1000 + 2 * 300)
    (first, _), taken = calls(lambda: from_bytes(data))
    assert taken < 60_000
    second, _ = from_bytes(data)
    alike, taken = calls(lambda: second == first)
    assert alike
    assert taken < 20_000


def test_a_read_that_is_ordered_by_a_thousand_columns() -> None:
    schema = NamedStruct.of([(f"c{number}", t.I64()) for number in range(1000)])
    declared = Properties(tuple(OrderKey((number,), "asc_nulls_last") for number in range(1000)))
    read, taken = calls(lambda: r.Read(schema, r.NamedTable(("t",)), declared=declared))
    assert taken < 1000
    assert read.properties == declared


# --- what many expressions have in common


def test_a_large_type_that_is_used_again_and_again() -> None:
    """Two plans with five hundred casts to a struct of a thousand fields are compared, each field once."""

    def cast() -> r.Rel:
        type_ = t.Struct(tuple(t.Decimal(10, 2) for _ in range(1000)), nullable=True)
        value = ex.Literal(None, t.Struct(type_.types, nullable=True))
        return r.Project(T, tuple(ex.Cast(value, type_) for _ in range(500)), tuple("x" * 500))

    first, second = cast(), cast()
    alike, taken = calls(lambda: first == second)
    assert alike
    assert taken < 30_000


def test_a_large_type_is_printed_by_its_beginning() -> None:
    """Five hundred casts to a struct of a thousand fields, whose texts in full would take fifteen million calls."""
    type_ = t.Struct(tuple(t.Decimal(10, 2) for _ in range(1000)), nullable=True)
    value = ex.Literal(None, type_)
    rel = r.Project(T, tuple(ex.Cast(value, type_) for _ in range(500)), tuple("x" * 500))
    text, taken = calls(lambda: explain(rel))
    assert taken < 2_000_000
    on_one_line = " ".join(text.replace("|", " ").split())
    assert f"{str(type_)[:MAX_TYPE]} ... (cut after {MAX_TYPE} characters)" in on_one_line
    assert str(type_) not in text
    assert len(text) < 200_000


def test_a_struct_is_compared_with_itself_at_once() -> None:
    class Fields(tuple[t.Type, ...]):
        __hash__ = tuple.__hash__

        def __eq__(self, other: object) -> bool:
            pytest.fail("compared field by field")

    type_ = t.Struct((t.I64(),))
    object.__setattr__(type_, "types", Fields(type_.types))
    assert t.List(type_) == t.List(type_)


def test_aliases_of_equal_types_are_one_type() -> None:
    plan = encoded(r.Project(T, (i64(1), i64(1)), ("x", "y")))
    for anchor, expression in enumerate(plan.relations[0].root.input.project.expressions, start=1):
        struct = plan.type_aliases.add(type_alias_anchor=anchor).type.struct
        struct.nullability = REQUIRED
        struct.types.add().i8.nullability = REQUIRED
        null = expression.literal.null.alias
        null.type_alias_reference, null.nullability = anchor, types_pb.Type.NULLABILITY_NULLABLE
    plan.relations[0].root.names.extend("xy")
    project = from_bytes(plan.SerializeToString())[0].roots[0].input
    assert isinstance(project, r.Project)
    assert project.expressions[0].type == t.Struct((t.I8(),), nullable=True)
    assert project.expressions[0].type is project.expressions[1].type


def test_a_hash_looks_once_into_what_is_used_a_thousand_times() -> None:
    rel: r.Rel = T
    for _ in range(3):
        rel = r.Set((rel,) * 1000, "union_all")
    _, taken = calls(lambda: hash(rel))
    assert taken < 30_000


def test_a_shared_relation_is_not_derived_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    rel = r.Filter(T, ex.SetPredicate("exists", T))
    with monkeypatch.context() as patch:
        patch.setattr(r.Filter, "_derive_schema", lambda self: pytest.fail("derived again"))
        shared = rel.as_shared()
    assert shared == rel
    assert (shared.shared, shared.flags.has_shared) == (True, True)
    assert (rel.shared, rel.flags.has_shared) == (False, False)
    assert shared.schema is rel.schema


def test_many_grouping_sets_are_printed() -> None:
    """Each of a thousand names the ten keys, whose names are looked up once."""
    schema = NamedStruct.of([(f"c{number}", t.I64()) for number in range(10)])
    keys = tuple(ex.FieldReference(number, t.I64()) for number in range(10))
    read = r.Read(schema, r.NamedTable(("t",)))
    sets = (tuple(range(10)),) * 1000
    rel = r.Aggregate(read, keys, sets, (), (*schema.names, "grouping_set"))
    text, taken = calls(lambda: explain(rel))
    assert taken < 10_000
    assert "(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9), ... (960 more)" in " ".join(text.replace("|", " ").split())


# --- functions


def with_calls(count: int, name: Callable[[int], str], arguments: int = 1) -> bytes:
    """A plan of so many calls, each of a function that it declares for it."""
    plan = encoded(r.Project(T, (i64(1),), ("x",)))
    plan.extension_urns.add(extension_urn_anchor=7, urn=COMPARISON)
    expressions = plan.relations[0].root.input.project.expressions
    for number in range(count):
        function: Any = plan.extensions.add().extension_function
        function.extension_urn_reference, function.function_anchor, function.name = 7, number + 1, name(number)
        scalar = (expressions[0] if number == 0 else expressions.add()).scalar_function
        scalar.function_reference = number + 1
        scalar.output_type.bool.nullability = REQUIRED
        for _ in range(arguments):
            scalar.arguments.add().value.literal.i64 = 1
    plan.relations[0].root.names.extend("x" * (count - 1))
    return plan.SerializeToString()


def test_the_nearest_names_of_unknown_functions_are_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    data = with_calls(200, lambda number: f"equall{number}:any_any")
    monkeypatch.setattr(difflib, "get_close_matches", lambda *_, **__: pytest.fail("looked for"))
    _, findings = from_bytes(data)
    assert len(findings) == 200


def test_unknown_functions_are_looked_for_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the extension that the plan names, and in all others; the values of arguments make no difference then."""
    data = with_calls(200, lambda number: f"eqaul{number}:any_any")  # others than above, which are remembered
    looked_for: list[str] = []
    named = Catalog.named

    def counted(catalog: Catalog, name: str, kind: Any = None, urn: str | None = None) -> Any:
        looked_for.append(name)
        return named(catalog, name, kind, urn)

    monkeypatch.setattr(Catalog, "named", counted)
    _, findings = from_bytes(data)
    assert len(looked_for) == 400
    assert "there is no" in findings[0].message


def test_the_nearest_name_is_found_when_somebody_asks() -> None:
    with pytest.raises(FunctionNotFoundError) as caught:
        standard_catalog().named("equall")
    assert 'did you mean "equal"?' in str(pickle.loads(pickle.dumps(caught.value)))


def test_a_call_of_thousands_of_arguments_that_fits_nothing() -> None:
    data = with_calls(1, lambda _: "equal:nothing", arguments=2000)
    (_, findings), taken = calls(lambda: from_bytes(data))
    assert taken < 200_000
    assert len(findings[0].message) < 3000


# --- old plans


def test_an_old_plan_is_not_searched_for_fields_that_it_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protobuf is asked whether there are any, which it knows much sooner."""
    plan = encoded(r.Fetch(T, i64(5)))
    plan.ClearField("version")
    monkeypatch.setattr(legacy, "_unknown_fields", lambda *_: pytest.fail("searched"))
    for read, _ in (from_bytes(plan.SerializeToString()), from_json(to_json(plan))):
        assert read.roots[0].input == r.Fetch(T, i64(5))


# --- errors


def test_findings_that_tell_a_large_type_again_and_again() -> None:
    """Each of a thousand calls takes a struct of a thousand fields, by its number, and another text: 14 MB."""
    plan = Plan.FromString(with_calls(1000, lambda _: "equal:any_any", arguments=2))
    alias = plan.type_aliases.add(type_alias_anchor=1)
    alias.type.struct.nullability = REQUIRED
    for _ in range(1000):
        alias.type.struct.types.add().decimal.MergeFrom(types_pb.Type.Decimal(precision=9, nullability=REQUIRED))
    for number, expression in enumerate(plan.relations[0].root.input.project.expressions):
        struct, other = (argument.value.literal for argument in expression.scalar_function.arguments)
        struct.null.alias.type_alias_reference = 1
        struct.null.alias.nullability = types_pb.Type.NULLABILITY_NULLABLE
        other.null.fixed_char.length = number + 1
        other.null.fixed_char.nullability = types_pb.Type.NULLABILITY_NULLABLE
    with pytest.raises(UnsupportedError, match=f"more than {MAX_REPORTED} characters"):
        from_bytes(plan.SerializeToString())


def test_an_error_of_no_place_is_not_looked_for() -> None:
    plan = encoded(T)
    assert calls(lambda: path_of(plan, None))[1] < 10
    binding = plan.parameter_bindings.add(parameter_anchor=1)
    binding.value.i64 = 1
    plan.parameter_bindings.append(binding)
    with pytest.raises(PlanFormatError, match="bound twice") as caught:
        from_bytes(plan.SerializeToString())
    assert caught.value.path == ""


def test_the_place_of_an_error_among_many() -> None:
    plan = encoded(call_of_many(1000))
    assert path_of(plan, plan.relations[0].root.input.project.expressions[999]) == (
        "relations[0].root.input.project.expressions[999]"
    )


def call_of_many(count: int) -> r.Rel:
    return r.Project(T, tuple(call("equal:any_any", i64(1), i64(1)) for _ in range(count)), tuple("x" * count))
