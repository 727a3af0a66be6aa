"""An extended expression: expressions over the row of one schema, without any relation.

Specification: https://substrait.io/expressions/extended_expression/ and ``extended_expression.proto``.
"""

from __future__ import annotations

import attrs

from substrait_dsl.algebra.expressions.aggregates import AggregateFunction
from substrait_dsl.algebra.expressions.parameters import remember_type
from substrait_dsl.algebra.extensions import AdvancedExtension
from substrait_dsl.algebra.node import Expression, Node
from substrait_dsl.algebra.pickling import Picklable
from substrait_dsl.algebra.plan import Version, check_closed, parameters_in
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.types import Type, struct_names
from substrait_dsl.errors import SchemaError


@attrs.frozen
class ExpressionReference(Picklable):
    """An expression, or an aggregate function, and the names of its column, nested ones depth first."""

    expression: Expression | AggregateFunction
    names: tuple[str, ...]

    def __attrs_post_init__(self) -> None:
        needed = 1 + sum(1 for _ in struct_names(self.type))
        if len(self.names) != needed:
            raise SchemaError(
                f"an expression has {len(self.names)} names, but its column has {needed} fields",
                hint="the column and the fields of structs inside count, depth first",
            )

    @property
    def type(self) -> Type:
        """The type of the column."""
        of = self.expression
        return of.output_type if isinstance(of, AggregateFunction) else of.type


@attrs.frozen
class ExtendedExpression(Picklable):
    """Expressions over the row of a schema, in order, and what the message says beside them."""

    base_schema: NamedStruct
    referred: tuple[ExpressionReference, ...]
    expected_type_urls: tuple[str, ...] = ()
    """The types of the extension messages inside, so that who does not know them can say so at once."""
    advanced_extensions: AdvancedExtension | None = None
    anchor: int | None = attrs.field(default=None, kw_only=True)
    """The number by which subqueries in the expressions call the row."""
    version: Version | None = attrs.field(default=None, eq=False, kw_only=True)
    """The version in the message that was read; None for an extended expression that was built."""

    def __attrs_post_init__(self) -> None:
        if not self.referred:
            raise SchemaError("an extended expression needs at least one expression")
        for node in self.nodes:
            check_closed(node, {self.anchor})
        known: dict[int, Type] = {}
        for parameter in parameters_in(self.nodes):
            remember_type(known, parameter)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The expressions and aggregate functions."""
        return tuple(each.expression for each in self.referred)

    @property
    def schema(self) -> NamedStruct:
        """The columns that the expressions make, in order."""
        names = [name for each in self.referred for name in each.names]
        return NamedStruct.from_types([each.type for each in self.referred], names)
