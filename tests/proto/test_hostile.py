"""Plans that somebody made to do harm: refused by name and place, at once, and in little memory."""

from __future__ import annotations

import json
import os
import pickle
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from google.protobuf import json_format
from substrait import algebra_pb2 as pb
from substrait import type_pb2 as types_pb
from substrait.plan_pb2 import Plan

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.errors import PlanFormatError, SubstraitDslError, UnsupportedError
from substrait_dsl.proto.complexity_limits import MAX_COLUMNS, MAX_ROW_SIZE, MAX_TYPE_SIZE
from substrait_dsl.proto.plan import encode_plan, from_bytes, from_json, to_bytes, to_json
from substrait_dsl.proto.private_extensions import message_of
from tests.proto.corpus import ADVICE
from tests.proto.plans import T, add, col, encoded, i64, table

MAX_CALLS = 1_000_000
"""Generous: each of these takes some thousands of calls, and what they are here for takes millions, or 2 to the 60."""
MAX_MEMORY = 100_000_000

REQUIRED = types_pb.Type.NULLABILITY_REQUIRED

Make = Callable[[pb.Rel, int], object]
"""Fills a relation, given the number of a relation before it."""


@contextmanager
def cheaply() -> Iterator[None]:
    """Expect that what is done inside takes at most `MAX_CALLS` and `MAX_MEMORY`; it is stopped at the former.

    Calls instead of time, which depends on what else the machine does: those of functions in Python, and each further
    value that somebody asks a generator for.
    """
    calls = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal calls
        calls += event == "call"
        if calls > MAX_CALLS:
            sys.setprofile(None)
            pytest.fail(f"more than {MAX_CALLS} calls")

    before = sys.getprofile()
    tracemalloc.start()
    sys.setprofile(count)
    try:
        yield
        sys.setprofile(before)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        sys.setprofile(before)
        tracemalloc.stop()
    assert peak < MAX_MEMORY


def read(plan: Plan) -> AlgebraPlan:
    """The plan that a message is, through its bytes, read cheaply."""
    data = plan.SerializeToString()
    with cheaply():
        read, _ = from_bytes(data)
    return read


@contextmanager
def refused(error: type[SubstraitDslError], said: str, path: str | None) -> Iterator[None]:
    """Expect exactly this class of error, with a text that contains `said`, at that place in the plan."""
    with pytest.raises(SubstraitDslError) as caught:
        yield
    assert type(caught.value) is error
    assert said in caught.value.message
    assert caught.value.path == path


def chain(count: int, make: Make, names: int = 3) -> Plan:
    """A plan of `T` and of so many more relations, each made over the one before it; the last one is the root."""
    plan = encoded(T)
    plan.relations[0].rel.CopyFrom(pb.Rel.FromString(plan.relations[0].root.input.SerializeToString()))
    for number in range(count):
        tree = plan.relations.add()
        make(tree.root.input if number == count - 1 else tree.rel, number)
    plan.relations[-1].root.names.extend(["c"] * names)
    return plan


def changed(rel: r.Rel, change: Callable[[Any], object]) -> Plan:
    """The plan of a relation whose message is changed."""
    plan = Plan.FromString(to_bytes(encoded(rel)))
    change(plan.relations[-1].root.input)
    return plan


# --- bytes and texts that are no plans


def test_bytes_that_break_off() -> None:
    """Wherever that is in the first field of a plan, which holds its relation."""
    plan = encoded(r.Filter(T, ex.SetPredicate("exists", r.Cross(T, T))))
    data = to_bytes(plan)
    first = _field(3, plan.relations[0].SerializeToString(deterministic=True))
    assert data.startswith(first)
    for end in range(1, len(first)):
        with refused(PlanFormatError, "no Substrait plan", None):
            from_bytes(data[:end])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff" * 1000,
        b"SELECT 1",
        pickle.dumps(os.system),
        pickle.dumps(print, protocol=0),
        b"PAR1" + b"\0" * 100,
        json.dumps(json_format.MessageToDict(encoded(T))).encode(),
        b"\x1a" + b"\xff" * 9 + b"\x01",  # relations of 2**64 - 1 bytes
        b"\x1a\xff\xff\xff\xff\x07",  # relations of 2**31 - 1 bytes
    ],
    ids=["empty", "ones", "text", "pickle", "pickle 0", "parquet", "json", "long", "2 GB"],
)
def test_bytes_that_are_something_else(data: bytes) -> None:
    with cheaply(), pytest.raises(PlanFormatError) as caught:
        from_bytes(data)
    assert "no Substrait plan" in caught.value.message or "has no relations" in caught.value.message


def test_a_pickled_function_is_not_called(capsys: pytest.CaptureFixture[str]) -> None:
    class Call:
        def __reduce__(self) -> tuple[Any, ...]:
            return print, ("called",)

    with pytest.raises(PlanFormatError):
        from_bytes(pickle.dumps(Call()))
    with pytest.raises(UnsupportedError, match="acme"):
        read(changed(T, lambda m: _foreign(m, pickle.dumps(Call()))))
    assert capsys.readouterr().out == ""


def _foreign(message: pb.Rel, data: bytes) -> None:
    message.extension_leaf.detail.type_url = ADVICE.type_url
    message.extension_leaf.detail.value = data


def nested(levels: int) -> bytes:
    """Filters over filters as bytes, from the inside out: no message of protobuf can be so deep."""
    rel = b""
    for _ in range(levels):
        rel = _field(4, _field(2, rel))  # Rel.filter, FilterRel.input
    return _field(3, _field(2, _field(1, rel)))  # Plan.relations, PlanRel.root, RelRoot.input


def _field(number: int, content: bytes) -> bytes:
    size, length = len(content), b""
    while size > 0x7F:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


@pytest.mark.parametrize("levels", [50, 10_000])
def test_ten_thousand_levels_of_bytes(levels: int) -> None:
    data = nested(levels)
    with cheaply(), refused(PlanFormatError, "no Substrait plan", None):
        from_bytes(data)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 10_000,
        '{"relations":' * 10_000,
        '{"relations":[{"root":{"input":' + '{"filter":{"input":' * 10_000 + "{}" + "}}" * 10_000 + "}}]}",
        '{"relations":[{"root":{"input":' + '{"filter":{"input":' * 200 + "{}" + "}}" * 200 + "}}]}",
    ],
    ids=["lists", "open", "filters", "two hundred filters"],
)
def test_ten_thousand_levels_of_json(text: str) -> None:
    with cheaply(), pytest.raises(PlanFormatError) as caught:
        from_json(text)
    assert "deep" in caught.value.message


@pytest.mark.parametrize(
    ("key", "value", "path"),
    [
        ("NULLABILITY_REQUIRED", "Infinity", "relations[0].root.input.read.baseSchema.struct.types[0].i64.nullability"),
        ("NULLABILITY_REQUIRED", "1e999", "relations[0].root.input.read.baseSchema.struct.types[0].i64.nullability"),
    ],
)
def test_an_enum_in_json_that_is_no_number(key: str, value: str, path: str) -> None:
    """Found by `test_fuzz.py`: it was an `OverflowError`."""
    text = to_json(encoded(table("t", a=t.I64()))).replace(f'"{key}"', value, 1)
    with refused(PlanFormatError, "expected a name of substrait.Type.Nullability", path):
        from_json(text)


# --- references


def filtered(message: pb.Rel, before: int) -> None:
    message.filter.input.reference.subtree_ordinal = before
    message.filter.condition.literal.boolean = True


@pytest.mark.parametrize(
    ("ordinal", "said", "path"),
    [
        (9, "no relation 9 to refer to: the plan has 6", "relations[3].rel.filter.input"),
        (-1, "no relation -1 to refer to", "relations[3].rel.filter.input"),
        (2**31 - 1, "no relation 2147483647 to refer to", "relations[3].rel.filter.input"),
        (3, "in a circle: 3 -> 3", ""),
        (5, "in a circle", ""),
    ],
)
def test_references_that_lead_nowhere(ordinal: int, said: str, path: str) -> None:
    plan = chain(5, filtered)
    plan.relations[3].rel.filter.input.reference.subtree_ordinal = ordinal
    with refused(PlanFormatError, said, path):
        read(plan)


def test_a_circle_of_thousands() -> None:
    plan = chain(3000, filtered)
    plan.relations[1].rel.filter.input.reference.subtree_ordinal = 3000
    with refused(PlanFormatError, "in a circle", ""):
        read(plan)


@pytest.mark.parametrize("ordinal", [1, 2**32 - 1])
def test_detached_expressions_that_are_not_there(ordinal: int) -> None:
    plan = changed(r.Filter(T, ex.SetPredicate("exists", T)), lambda m: None)
    plan.relations[0].detached_expressions.add().literal.boolean = True
    plan.relations[0].root.input.filter.condition.detached_expression_ordinal = ordinal
    with refused(
        PlanFormatError, f"no detached expression {ordinal}: the tree has 1", "relations[0].root.input.filter.condition"
    ):
        read(plan)


# --- numbers


@pytest.mark.parametrize(
    ("rel", "change", "said", "path"),
    [
        (T, lambda m: m.read.common.emit.output_mapping.extend([0, 3]), "no column 3", ""),
        (T, lambda m: m.read.common.emit.output_mapping.append(-1), "no column -1", ""),
        (T, lambda m: m.read.common.emit.output_mapping.append(2**31 - 1), "no column 2147483647", ""),
        (r.Fetch(T, i64(1)), lambda m: _number(m.fetch.count_expr, -(2**63)), "must not be negative", ""),
        (r.Fetch(T, i64(1), i64(1)), lambda m: _number(m.fetch.offset_expr, -1), "must not be negative", ""),
        (
            r.Project(T, (col(T, 0),), ("x",)),
            lambda m: setattr(m.project.expressions[0].selection.direct_reference.struct_field, "field", 2**31 - 1),
            "no column 2147483647",
            ".project.expressions[0]",
        ),
        (
            T,
            lambda m: m.read.base_schema.struct.types[0].decimal.SetInParent(),
            "precision",
            ".read.base_schema.struct.types[0]",
        ),
        (
            T,
            lambda m: setattr(m.read.base_schema.struct.types[0].precision_timestamp, "precision", 2**31 - 1),
            "precision",
            ".read.base_schema.struct.types[0]",
        ),
        (T, lambda m: m.read.base_schema.names.append("d"), "4 names", ".read.base_schema"),
    ],
    ids=["emit", "emit -1", "emit 2**31", "count", "offset", "column", "decimal", "digits", "names"],
)
def test_numbers_out_of_range(rel: r.Rel, change: Callable[[Any], object], said: str, path: str) -> None:
    with refused(PlanFormatError, said, f"relations[0].root.input{path}"):
        read(changed(rel, change))


def _number(expression: pb.Expression, value: int) -> None:
    expression.literal.i64 = value


def test_the_largest_count_there_is() -> None:
    plan = changed(r.Fetch(T, i64(1)), lambda m: _number(m.fetch.count_expr, 2**63 - 1))
    assert read(plan).roots[0].input == r.Fetch(T, i64(2**63 - 1))


# --- little that means much


def united(message: pb.Rel, before: int) -> None:
    message.set.op = pb.SetRel.SET_OP_UNION_ALL
    for _ in range(2):
        message.set.inputs.add().reference.subtree_ordinal = before


def crossed(message: pb.Rel, before: int) -> None:
    message.cross.left.reference.subtree_ordinal = before
    message.cross.right.reference.subtree_ordinal = before


def paired(message: pb.Rel, before: int) -> None:
    """A project of a struct of the first column, twice, and of no other column."""
    project = message.project
    project.common.emit.output_mapping.append(3 if before == 0 else 1)
    project.input.reference.subtree_ordinal = before
    fields = project.expressions.add().nested.struct.fields
    for _ in range(2):
        fields.add().selection.direct_reference.struct_field.field = 0


def test_a_relation_of_2_to_the_60_paths_is_read_and_written() -> None:
    plan = chain(60, united)
    got = read(plan)
    assert got.roots[0].input.schema == T.schema
    with cheaply():
        assert from_bytes(to_bytes(encode_plan(got)))[0] == got


def test_a_row_of_2_to_the_60_columns() -> None:
    """`T` has 3 columns, and the 15th relation 3 * 2**15, which is the first number beyond the limit."""
    assert 3 * 2**14 <= MAX_ROW_SIZE < 3 * 2**15
    with refused(UnsupportedError, f"more than {MAX_ROW_SIZE} columns", "relations[15].rel"):
        read(chain(60, crossed))


def computed(message: pb.Rel, before: int) -> None:
    message.project.input.reference.subtree_ordinal = before
    message.project.expressions.add().literal.i64 = 1


def test_short_relations_over_a_wide_one() -> None:
    """Each of 101 projects has the 40,000 columns of the table, and one more for itself and each before it."""
    assert MAX_COLUMNS < 40_000 * 102
    plan = chain(101, computed)
    schema = plan.relations[0].rel.read.base_schema
    del schema.names[:], schema.struct.types[:]
    for _ in range(40_000):
        schema.names.append("c")
        schema.struct.types.add().i64.nullability = REQUIRED
    del plan.relations[-1].root.names[:]
    plan.relations[-1].root.names.extend("c" * 40_101)
    with cheaply(), pytest.raises(UnsupportedError, match=f"more than {MAX_COLUMNS} columns all together"):
        from_bytes(plan.SerializeToString())


def test_a_type_of_2_to_the_60_fields() -> None:
    """The type of the n-th relation is made of 2**(n + 1) - 1 types, itself included."""
    assert 2**13 - 1 <= MAX_TYPE_SIZE < 2**14 - 1
    with refused(UnsupportedError, f"more than {MAX_TYPE_SIZE} types", "relations[13].rel.project.expressions[0]"):
        read(chain(60, paired))


def test_a_detached_expression_of_a_type_of_2_to_the_60_fields() -> None:
    plan = encoded(r.Project(T, (i64(1),), ("x",)))
    tree = plan.relations[0]
    tree.detached_expressions.add().literal.i64 = 1
    for number in range(60):
        fields = tree.detached_expressions.add().nested.struct.fields
        for _ in range(2):
            fields.add().detached_expression_ordinal = number
    tree.root.input.project.expressions[0].detached_expression_ordinal = 60
    with refused(UnsupportedError, f"more than {MAX_TYPE_SIZE} types", "relations[0].detached_expressions[13]"):
        read(plan)


def test_a_detached_sum_of_2_to_the_60_terms_is_read_but_not_written() -> None:
    """Written out it is 2**61 - 1 expressions, in a project of a read."""
    plan = encoded(r.Project(T, (add(i64(1), i64(1)),), ("x",)))
    tree = plan.relations[0]
    total = tree.root.input.project.expressions[0]
    tree.detached_expressions.add().literal.i64 = 1
    for number in range(60):
        entry = tree.detached_expressions.add()
        entry.CopyFrom(total)
        for argument in entry.scalar_function.arguments:
            argument.value.detached_expression_ordinal = number
    total.detached_expression_ordinal = 60
    got = read(plan)
    with cheaply(), refused(UnsupportedError, str(2**61 - 1 + 2), None):
        encode_plan(got)


def test_aliases_for_a_row_that_is_too_wide() -> None:
    """20 columns of 2**12 fields, each a few bytes."""
    plan = changed(table("t", a=t.I64()), lambda m: None)
    for number in range(13):
        alias = plan.type_aliases.add(type_alias_anchor=number)
        if number == 0:
            alias.type.i8.nullability = REQUIRED
        for _ in range(2 if number else 0):
            alias.type.struct.nullability = REQUIRED
            inner = alias.type.struct.types.add().alias
            inner.type_alias_reference, inner.nullability = number - 1, REQUIRED
    schema = plan.relations[0].root.input.read.base_schema
    del schema.struct.types[:]
    for _ in range(20):
        schema.struct.types.add().alias.type_alias_reference = 12
    with refused(UnsupportedError, f"more than {MAX_ROW_SIZE} columns", "relations[0].root.input.read.base_schema"):
        read(plan)


def test_a_mapping_of_a_million_columns() -> None:
    plan = changed(T, lambda m: m.read.common.emit.output_mapping.extend([0] * 1_000_000))
    with refused(UnsupportedError, f"more than {MAX_ROW_SIZE} columns", "relations[0].root.input"):
        read(plan)


# --- what only this library says


@pytest.mark.parametrize(
    "kind",
    [
        "list<" * 10_000 + "i8" + ">" * 10_000,
        "list<" * 10_000,
        "(" * 10_000,
        f"decimal<{'9' * 10_000},2>",
        "fixedchar<99999999999999999999>",
        "i8" + "?" * 10_000,
    ],
    ids=["lists", "open", "parentheses", "digits", "length", "marks"],
)
def test_types_as_text(kind: str) -> None:
    plan = encoded(r.ExtensionLeaf(ADVICE, table("t", a=t.I64()).schema))
    message = plan.relations[0].root.input.extension_leaf
    said = message_of({"schema": {"names": ["a"], "types": [kind], "urns": {}}})
    message.common.advanced_extension.optimization[0].value = said.value
    with cheaply(), pytest.raises(PlanFormatError) as caught:
        from_bytes(plan.SerializeToString())
    assert caught.value.path == "relations[0].root.input"
    assert len(str(caught.value)) < 1000
