"""The functions that the plan of a query may call, beyond those of the specification."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.node import Node
from substrait_dsl.algebra.properties import SortDirection
from substrait_dsl.catalog import Catalog
from substrait_dsl.catalog.described_arguments import describe_argument
from substrait_dsl.catalog.everyday import URN, everyday_catalog

_URN = "extension:substrait_dsl:sql"

_EXTENSION = """
urn: extension:substrait_dsl:sql
aggregate_functions:
  - name: first_value
    impls: [{args: [{name: x, value: any1}], nullability: DECLARED_OUTPUT, ordered: true, return: any1?}]
  - name: last_value
    impls: [{args: [{name: x, value: any1}], nullability: DECLARED_OUTPUT, ordered: true, return: any1?}]
"""
"""What a plan has until it is read. The specification has windows of these names only."""


_OF_EVERYDAY = frozenset({"min", "max", "md5", "collect_list", "percentile"})
"""The functions of `substrait_dsl.everyday` that are DataFusion's of that name, or are read as such."""


@cache
def sql_catalog() -> Catalog:
    """Return the functions that the plan of a query may call."""
    extensions = dict(everyday_catalog().extensions)
    everyday = extensions[URN]
    functions = {name: found for name, found in everyday.functions.items() if name in _OF_EVERYDAY}
    extensions[URN] = attrs.evolve(everyday, functions=functions)
    return Catalog([*extensions.values()]).with_extension(_EXTENSION)


def as_any_value(node: Node) -> Node:
    """Return the first or last value of a group as ``any_value`` of the specification, which may have an order."""
    if not isinstance(node, ex.AggregateFunction) or node.function.urn != _URN:
        return node
    found = everyday_catalog().resolve("aggregate", "any_value", tuple(map(describe_argument, node.arguments)))
    sorts = node.sorts
    if node.function.name == "last_value":
        sorts = tuple(attrs.evolve(key, direction=_REVERSED[str(key.direction)]) for key in sorts)
    return attrs.evolve(node, function=found.overload.function, output_type=found.output_type, sorts=sorts)


_REVERSED: Mapping[str, SortDirection] = {
    "asc_nulls_first": "desc_nulls_last",
    "asc_nulls_last": "desc_nulls_first",
    "desc_nulls_first": "asc_nulls_last",
    "desc_nulls_last": "asc_nulls_first",
}
