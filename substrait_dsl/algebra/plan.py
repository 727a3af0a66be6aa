"""A plan: root relations with the names of their columns, ready to be encoded or run.

Specification: https://substrait.io/serialization/basics/ and ``plan.proto``.
"""

from __future__ import annotations

import attrs

from substrait_dsl.algebra.node import Rel
from substrait_dsl.errors import SchemaError


@attrs.frozen
class Root:
    """A relation whose rows the plan returns, and the names of its columns, nested ones depth first."""

    input: Rel
    names: tuple[str, ...]

    @classmethod
    def of(cls, rel: Rel) -> Root:
        """The root that a relation is, under its own names.

        Raises `SchemaError` if the relation refers to a row that is not there (a column of an outer relation, used
        outside the subquery that gave it).
        """
        if rel.free_anchors:
            raise SchemaError(
                "the relation refers to a column of an outer relation, but it does not stand inside that relation",
                hint="use the row of a lambda only inside that lambda, in a subquery such as exists(...)",
            )
        return cls(rel, rel.schema.depth_first_names())


@attrs.frozen
class AlgebraPlan:
    """The roots of a plan, in order."""

    roots: tuple[Root, ...]
