"""What is added to the algebra, and forgotten in a table that no type checker reads, is named here with its place."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, get_args

import attrs
import pytest
from substrait import algebra_pb2 as pb
from substrait import type_pb2

from substrait_dsl import api
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import AnyExpression, FieldReference, FunctionId, ScalarFunction
from substrait_dsl.algebra.expressions.literals import CONVERTERS
from substrait_dsl.algebra.function_ids import STANDARD
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.relations import AnyRelation, Emit
from substrait_dsl.arrow.schemas import type_to_arrow
from substrait_dsl.catalog import standard_catalog
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.literals import COMPOSITE_ENCODERS, LITERAL_DECODERS, SCALAR_FIELDS
from substrait_dsl.proto.nesting_depth import LEAF_LEVELS, LEVELS, OwnLevels
from substrait_dsl.proto.relations import RELATIONS
from substrait_dsl.proto.seldom_relations import SELDOM_RELATIONS
from substrait_dsl.proto.types import TYPE_FIELDS
from substrait_dsl.render.literals import CONSTANTS
from substrait_dsl.spark.expressions.aggregates import AGGREGATE_FUNCTIONS
from substrait_dsl.spark.expressions.functions import SCALAR_FUNCTIONS, function_to_sql
from substrait_dsl.spark.expressions.literals import WRITERS
from substrait_dsl.spark.expressions.templates import REASONS, Table, Template
from substrait_dsl.spark.expressions.types import type_to_spark
from tests.proto import corpus
from tests.proto.plans import encoded


def names(classes: Collection[type]) -> list[str]:
    return sorted(each.__name__ for each in classes)


# --- nodes


def nodes() -> Iterator[type[Node]]:
    """Every class of nodes that has instances."""
    below = [Node]
    while below:
        each = below.pop()
        below += each.__subclasses__()
        is_public = each.__module__.startswith("substrait_dsl.algebra.")  # tests have nodes of their own
        if is_public and not inspect.isabstract(each) and not each.__subclasses__():
            yield each


def test_every_node_says_how_many_levels_of_messages_it_takes() -> None:
    """Or a plan that is higher than the messages of a tree may be cannot be cut: `proto/nesting_depth.py`."""
    assert names(set(nodes()) - LEVELS.keys()) == []


def test_every_relation_and_expression_is_in_its_union() -> None:
    for union, base in ((AnyRelation, Rel), (AnyExpression, None)):
        members = set(get_args(union))
        assert names({each for each in nodes() if base and issubclass(each, base)} - members) == []
        assert names(members - LEVELS.keys()) == []


def test_every_relation_is_in_the_corpus_of_plans() -> None:
    """`tests/proto/corpus.py`: what it has is read back from bytes and JSON, lowered, rendered and damaged."""
    there = {type(node) for plan in corpus.whole() for rel in plan.relations for node in walk(rel)}
    assert names(set(get_args(AnyRelation)) - there) == []


def test_a_relation_that_becomes_an_extension_counts_the_levels_of_its_message() -> None:
    """Or a plan with one may be too deep for a parser: `_message_levels` of `proto/nesting_depth.py`."""
    found = []
    for rel in (*corpus.reads(), *corpus.rows(), *corpus.several(), *corpus.changes()):
        node = rel.input if isinstance(rel, Emit) else rel
        message = encoded(node).relations[0].root.input
        if message.WhichOneof("rel_type") in ("extension_leaf", "extension_single", "extension_multi"):
            found.append(node)
            assert OwnLevels().of(node) > LEAF_LEVELS, type(node).__name__
            assert not node.has_own_extension, type(node).__name__
    assert len({type(node) for node in found}) > 3


def test_every_message_of_relations_can_be_read() -> None:
    """References have nothing of their own; others stand in `proto/seldom_relations.py`, SELDOM_RELATIONS."""
    fields = {field.name for field in pb.Rel.DESCRIPTOR.oneofs_by_name["rel_type"].fields}
    decoders = RELATIONS | SELDOM_RELATIONS
    assert fields - decoders.keys() == {"reference"}
    assert decoders.keys() - fields == set()


# --- types


TYPES = {
    each for each in vars(t).values() if isinstance(each, type) and issubclass(each, t.Type) and each is not t.Type
}
SAMPLES: Mapping[type[t.Type], t.Type] = {
    type(type_): attrs.evolve(type_, variation=None) if type_.variation is not None else type_
    for type_ in corpus.types()
}
"""A type of each class, without a variation."""


def accepted(convert: Callable[[t.Type], Any]) -> set[type[t.Type]]:
    """The types that something takes; what it does not, it must refuse by name."""
    found = set()
    for each, type_ in SAMPLES.items():
        try:
            convert(type_)
        except UnsupportedError:
            continue
        found.add(each)
    return found


NO_VALUES: set[type[t.Type]] = {t.Func, t.Unbound}
"""Types that no literal and no column has."""

PLACES: Mapping[str, tuple[Callable[[], Collection[type]], set[type[t.Type]]]] = {
    "tests/proto/corpus.py: types": (lambda: SAMPLES, set()),
    "api.py: __all__, and imported": (
        lambda: [each for each in TYPES if each.__name__ in api.__all__ and vars(api).get(each.__name__) is each],
        set(),
    ),
    "algebra/expressions/literals.py: CONVERTERS": (lambda: CONVERTERS, NO_VALUES),
    "proto/types.py: TYPE_FIELDS": (lambda: TYPE_FIELDS, set()),
    "proto/literals.py: SCALAR_FIELDS or COMPOSITE_ENCODERS": (lambda: SCALAR_FIELDS | COMPOSITE_ENCODERS, NO_VALUES),
    "arrow/schemas.py: _equals or _storage": (lambda: accepted(type_to_arrow), {*NO_VALUES, t.UserDefined}),
    "spark/expressions/types.py: ATOMS or _atom": (
        lambda: accepted(type_to_spark),
        {*NO_VALUES, t.UserDefined, t.IntervalCompound},
    ),
    "spark/expressions/literals.py: WRITERS": (lambda: WRITERS, {*NO_VALUES, t.IntervalCompound}),
    "render/literals.py: CONSTANTS": (lambda: CONSTANTS, {*NO_VALUES, t.List, t.Map, t.Struct, t.UserDefined}),
}
"""Where each type stands, and the types that do not: they are refused there by name, or have nothing to do there."""


@pytest.mark.parametrize("place", PLACES)
def test_every_type_has_its_line_or_is_refused(place: str) -> None:
    there, missing = PLACES[place]
    assert names(TYPES - {*there()}) == names(missing)


def test_every_message_of_types_has_its_class() -> None:
    """An alias is a name of another type."""
    fields = {field.name for field in type_pb2.Type.DESCRIPTOR.oneofs_by_name["kind"].fields}
    assert fields ^ set(TYPE_FIELDS.values()) == {"alias"}


def test_every_literal_of_a_message_can_be_read() -> None:
    fields = {field.name for field in pb.Expression.Literal.DESCRIPTOR.oneofs_by_name["literal_type"].fields}
    assert fields == LITERAL_DECODERS.keys()


# --- functions of Spark


def rows(table: Table, name: str) -> list[Template]:
    return [row for key, row in table.items() if key.partition(":")[0] == name]


def test_a_function_of_strings_with_a_length_says_whether_it_may_lengthen_them() -> None:
    """Or a result would be longer than its type: `may_lengthen` of the row."""
    checked = []
    for urn, extension in standard_catalog().extensions.items():
        table = SCALAR_FUNCTIONS.get(urn.removeprefix(STANDARD), {})
        for name, functions in extension.functions.items():
            overloads = [overload for function in functions for overload in function.overloads]
            results = [str(overload.returns.result) for overload in overloads]
            if any(re.match(r"(?i)(varchar|fixedchar)<", result) for result in results):
                checked += [(urn, name, row.may_lengthen) for row in rows(table, name)]
    assert len(checked) > 20
    assert [(urn, name) for urn, name, may_lengthen in checked if may_lengthen is None] == []


def test_no_reason_is_given_for_a_function_that_there_is() -> None:
    """A reason of a refusal (`REASONS` of the templates) goes when the row comes, but for other overloads."""
    tables = [*SCALAR_FUNCTIONS.values(), *AGGREGATE_FUNCTIONS.values()]
    assert sorted(name for name in REASONS if any(name in table for table in tables)) == []


@pytest.mark.parametrize(
    ("name", "is_checked"), [("concat", True), ("upper", True), ("reverse", False), ("trim", False)]
)
def test_a_result_that_may_be_longer_than_its_type_is_checked(name: str, is_checked: bool) -> None:
    """By the row of Spark also where an engine has one of its own."""
    type_ = t.VarChar(2)
    column = FieldReference(0, type_)
    arguments = (column,) if name in ("upper", "reverse") else (column, column)
    key = f"{name}:{'_'.join(argument.type.short_name for argument in arguments)}"
    if name == "concat":
        key = "concat:vchar"
    function = FunctionId(f"{STANDARD}functions_string", key)
    sql = function_to_sql(ScalarFunction(function, arguments, type_), ["a", "b"][: len(arguments)])
    assert ("raise_error" in sql) is is_checked
