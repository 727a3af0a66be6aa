"""The requirements of the nodes of a plan on an engine, in the words of dialect files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from operator import attrgetter
from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, FunctionId, FunctionOption
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.requirements import (
    EXPRESSION_WORDS,
    RELATION_WORDS,
    TYPE_WORDS,
    USER_DEFINED,
    FunctionKind,
    Requirement,
)

WORDS: dict[type[Node], str] = {
    rl.Window: "CONSISTENT_PARTITION_WINDOW",
    ex.FieldReference: "SELECTION",
    ex.FieldAccess: "SELECTION",
    ex.MaskedReference: "SELECTION",
    ex.ScalarSubquery: "SUBQUERY",
    ex.InPredicate: "SUBQUERY",
    ex.SetPredicate: "SUBQUERY",
    ex.SetComparison: "SUBQUERY",
    ex.NestedStruct: "NESTED",
    ex.NestedList: "NESTED",
    ex.NestedMap: "NESTED",
}
"""The words of classes of nodes, where they differ from the names."""

FORMS: dict[type, str] = {
    rl.NamedTable: "NAMED_TABLE",
    rl.VirtualTable: "VIRTUAL_TABLE",
    rl.LocalFiles: "LOCAL_FILES",
    rl.IcebergTable: "ICEBERG_TABLE",
    rl.ExtensionTable: "EXTENSION_TABLE",
    rl.Scatter: "SCATTER_BY_FIELDS",
    rl.SingleBucket: "SINGLE_TARGET",
    rl.MultiBucket: "MULTI_TARGET",
    rl.RoundRobin: "ROUND_ROBIN",
    rl.Broadcast: "BROADCAST",
    ex.ScalarSubquery: "SCALAR",
    ex.InPredicate: "IN_PREDICATE",
    ex.SetPredicate: "SET_PREDICATE",
    ex.SetComparison: "SET_COMPARISON",
    ex.NestedStruct: "STRUCT",
    ex.NestedList: "LIST",
    ex.NestedMap: "MAP",
    rl.SwitchingField: "SWITCHING_FIELD",
    rl.ConsistentField: "CONSISTENT_FIELD",
}
"""The forms of classes."""

FAILURES = {"throw": "THROW_EXCEPTION", "return_null": "RETURN_NULL"}

TYPES = {"BOOLEAN": "BOOL", "FIXEDCHAR": "FIXED_CHAR", "FIXEDBINARY": "FIXED_BINARY"}
"""The words of types, where they differ from the keywords."""

Call = ex.ScalarFunction | ex.AggregateFunction | ex.WindowCall


def survey(top: Rel) -> dict[Requirement, Node]:
    """Return the requirements of the nodes of a relation, each with the first such node."""
    found: dict[Requirement, Node] = {}
    calls: dict[tuple[FunctionKind, FunctionId, tuple[FunctionOption, ...]], tuple[Node, int, int]] = {}
    words: set[tuple[type, str]] = set()
    classes: set[type] = set()
    types: set[int] = set()

    def add_type(type_: t.Type, node: Node) -> None:
        if id(type_) not in types:
            types.add(id(type_))
            for requirement in type_requirements(type_):
                found.setdefault(requirement, node)

    for node in walk(top):
        node_class: type = type(node)
        if node_class in _FORM_OF or node_class not in classes:
            classes.add(node_class)
            form = _FORM_OF[node_class](node) if node_class in _FORM_OF else FORMS.get(node_class, "")
            if (node_class, form) not in words:
                words.add((node_class, form))
                requirement = _word(node_class, form)
                if requirement is not None:
                    found.setdefault(requirement, node)
        if node_class in _TYPE_OF:
            add_type(_TYPE_OF[node_class](node), node)
        elif isinstance(node, rl.Read):
            for each in node.base_schema.types:
                add_type(each, node)
        if node_class in _CALLS:
            assert isinstance(node, Call)
            key = (_CALLS[node_class], node.function, node.options)
            count = len(node.arguments)
            first, fewest, most = calls.get(key, (node, count, count))
            calls[key] = (first, min(fewest, count), max(most, count))
    for (function_type, function, options), (node, fewest, most) in calls.items():
        option_values = tuple(sorted((each.name, each.preferences) for each in options))
        found[
            Requirement(function_type, function.key, function.urn, options=option_values, arguments=(fewest, most))
        ] = node
    return found


_CALLS: dict[type[Node], FunctionKind] = {
    ex.ScalarFunction: "scalar function",
    ex.AggregateFunction: "aggregate function",
    ex.WindowCall: "window function",
}


_FORM_OF: dict[type, Callable[[Any], str]] = {
    **dict.fromkeys(
        (rl.Join, rl.HashJoin, rl.MergeJoin, rl.NestedLoopJoin, rl.LateralJoin), lambda node: str(node.how.upper())
    ),
    rl.Set: lambda node: str(node.op.upper()),
    rl.Read: lambda node: FORMS[type(node.definition)],
    rl.Exchange: lambda node: FORMS[type(node.kind)],
    ex.Cast: lambda node: FAILURES[node.on_failure],
}
"""By class: returns the form of a node, where the class does not decide it."""

_TYPE_OF: dict[type, Callable[[Any], t.Type]] = {
    **dict.fromkeys(
        (ex.Literal, ex.ScalarFunction, ex.Cast, ex.DynamicParameter, ex.NestedStruct, ex.NestedList, ex.NestedMap),
        attrgetter("type"),
    ),
    **dict.fromkeys((ex.AggregateFunction, ex.WindowCall), attrgetter("output_type")),
}
"""By class: returns the type that an engine must have for a node; other nodes have the types of their parts."""


@cache
def _word(class_: type, form: str) -> Requirement | None:
    """Return the dialect's word for a class of nodes; None where dialects have none."""
    if class_ in (rl.SwitchingField, rl.ConsistentField):
        return Requirement("relation", "EXPAND", form=form)
    if class_ is rl.Expand or not issubclass(class_, Rel | Expression):  # whose fields have the forms
        return None
    word = WORDS.get(class_) or re.sub(r"(?<!^)(?=[A-Z])", "_", class_.__name__).upper()
    if issubclass(class_, Rel):
        return Requirement("relation", word, form=form) if word in RELATION_WORDS else None
    return Requirement("expression", word, form=form) if word in EXPRESSION_WORDS else None


@cache
def type_requirements(type_: t.Type) -> tuple[Requirement, ...]:
    """Return the requirements of a type, and of the types inside it."""
    return tuple(_find_in_type(type_))


def _find_in_type(type_: t.Type) -> Iterator[Requirement]:
    """Yield what a type requires of an engine: itself, its variation, and the types inside of it."""
    if type_.variation is not None:
        yield Requirement("type variation", type_.variation.name, type_.variation.urn)
    if isinstance(type_, t.UserDefined):
        yield Requirement("type", type_.name, type_.urn, form=USER_DEFINED)
        return
    word = type_.keyword.upper()
    word = TYPES.get(word, word)
    yield Requirement("type", word, numbers=tuple((name, getattr(type_, name)) for name in TYPE_WORDS[word]))
    for part in type_.parameters:
        if isinstance(part, t.Type):
            yield from _find_in_type(part)
