"""Extended expressions as objects: expressions over the row of a schema, without any relation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import extended as algebra
from substrait_dsl.algebra.anchors import canonical_extended
from substrait_dsl.algebra.extensions import AdvancedExtension
from substrait_dsl.algebra.findings import Finding, Weight
from substrait_dsl.algebra.node import Node, rebuild
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.settings import Encoding, OuterReferences
from substrait_dsl.algebra.types import Type, struct_names
from substrait_dsl.errors import (
    InvalidArgumentError,
    SchemaError,
    TypeMismatchError,
    UnsupportedError,
    error_context,
)
from substrait_dsl.fluent.base import S2, RelationBase
from substrait_dsl.fluent.calls import MeasureBase, measure_node
from substrait_dsl.fluent.column_arguments import Role, call_function, evaluate, pick, require_distinct, rows, sort_keys
from substrait_dsl.fluent.computed_measures import ComputedMeasure
from substrait_dsl.fluent.documents import Document, type_urls
from substrait_dsl.fluent.expr import DynExpr, ExprBase, unbound_expr
from substrait_dsl.fluent.lambdas import LambdaScope
from substrait_dsl.fluent.messages import require_extension
from substrait_dsl.fluent.operators import PythonValue
from substrait_dsl.fluent.relation_schema import RelationSchema
from substrait_dsl.fluent.schema_forms import Declared
from substrait_dsl.fluent.schemas import SchemaLike, as_struct
from substrait_dsl.fluent.scope import Scope

if TYPE_CHECKING:
    from substrait.extended_expression_pb2 import ExtendedExpression as ExtendedExpressionMessage

    from substrait_dsl.catalog import Catalog
    from substrait_dsl.fluent.relation import Relation

Value = ExprBase | MeasureBase
"""The columns of an extended expression: expressions, and aggregate functions."""

Referred = ex.Expression | ex.AggregateFunction


class ExtendedExpression(Document["ExtendedExpressionMessage", algebra.ExtendedExpression]):
    """Expressions over the row of a schema, for systems that exchange expressions rather than plans.

        orders = {"price": sd.FP64, "count": sd.FP64}
        extended = sd.ExtendedExpression(orders, total=lambda r: r.price * r.count, most=lambda r: f.max(r.price))
        print(extended.schema)
        data = extended.to_bytes()

    Args:
        schema: the columns that the expressions see: a Schema class, a dict ``{name: type}``, a pyarrow or a PySpark
            schema, or a relation, whose columns they are.
        columns: columns given by name, and expressions and aggregate functions that have a name (``alias``).
        expected_type_urls: the types of the extension messages inside.
        advanced_extensions: messages about the whole that only their owners can read.
        named: further columns, as name=expression or name=aggregate function.

    Raises `SchemaError` for no column at all or two of one name, and `InvalidArgumentError` for an aggregate function
    with a filter, which the message has no place for. Specification: ``extended_expression.proto``.

    Example:
        >>> print(sd.ExtendedExpression(orders.schema, half=lambda o: o.price / 2.0).schema)
        0  half  fp64?
    """

    __slots__ = ()
    _message = "substrait.ExtendedExpression"
    _what = "extended expression"

    @overload
    def __init__(
        self,
        schema: type[S2] | Relation[S2],
        /,
        *columns: str | int | Value | Callable[[S2], Value],
        expected_type_urls: Sequence[str] = ...,
        advanced_extensions: AdvancedExtension | None = ...,
        **named: Value | PythonValue | Callable[[S2], Value | PythonValue],
    ) -> None: ...
    @overload
    def __init__(
        self,
        schema: Declared,
        /,
        *columns: str | int | Value | Callable[[Any], Value],
        expected_type_urls: Sequence[str] = ...,
        advanced_extensions: AdvancedExtension | None = ...,
        **named: Value | PythonValue | Callable[[Any], Value | PythonValue],
    ) -> None: ...
    def __init__(
        self,
        schema: SchemaLike | RelationBase,
        /,
        *columns: Any,
        expected_type_urls: Sequence[str] = (),
        advanced_extensions: AdvancedExtension | None = None,
        **named: Any,
    ) -> None:
        with error_context(verb="ExtendedExpression"):
            require_extension(advanced_extensions, "advanced_extensions")
            if isinstance(schema, RelationBase):
                scope = Scope("ExtendedExpression", (schema._rel,))
            else:
                scope = Scope("ExtendedExpression", (), as_struct(schema))
            referred = [_chosen(item, scope) for item in columns]
            referred += [(name, _compute_expression(name, value, scope)) for name, value in named.items()]
            require_distinct([name for name, _ in referred])
            extended = algebra.ExtendedExpression(
                scope.schema,
                tuple(_reference(name, node) for name, node in referred),
                type_urls(expected_type_urls),
                advanced_extensions,
                anchor=scope.anchor,
            )
        self._become(extended, ())

    @classmethod
    def _decode(
        cls, source: bytes | str, strict: bool | Weight, catalog: Catalog | None
    ) -> tuple[algebra.ExtendedExpression, tuple[Finding, ...]]:
        from substrait_dsl.proto.extended import extended_from_bytes, extended_from_json

        if isinstance(source, str):
            return extended_from_json(source, catalog, strict=strict)
        return extended_from_bytes(source, catalog, strict=strict)

    @property
    def schema(self) -> RelationSchema:
        """The columns that the expressions make: names, types and nullability, in order."""
        return RelationSchema(self._algebra.schema)

    @property
    def base_schema(self) -> RelationSchema:
        """The columns that the expressions see."""
        return RelationSchema(self._algebra.base_schema)

    def expression(self, column: str | int) -> DynExpr:
        """Take one of the columns as an expression, for any relation that has what it uses.

            extended = sd.ExtendedExpression.from_bytes(data)
            orders.with_columns(total=extended.expression("total"))
            orders.filter(extended.expression(0))

        Args:
            column: the name or the position of the column in `schema`.

        The columns that it uses are those of `base_schema`. In a relation they are found by their names, wherever they
        stand, when the expression meets it: that raises `UnknownFieldError` for one that is missing, and
        `TypeMismatchError` for one of another type or nullability. Raises `UnknownFieldError` for no such column, and
        `UnsupportedError` for one that is an aggregate function, which is no expression.

        Specification: ``ExpressionReference``.

        Example:
            >>> extended = sd.ExtendedExpression(orders.schema, half=lambda o: o.price / 2.0)
            >>> print(orders.select(half=extended.expression("half")).schema)
            0  half  fp64?
        """
        with error_context(verb="expression"):
            position = self._algebra.schema.position(column)
            name, node = self._algebra.schema.names[position], self._algebra.referred[position].expression
            if isinstance(node, ex.AggregateFunction):
                raise UnsupportedError(
                    f'the column "{name}" is the aggregate function {node.function.name}, which is no expression',
                    hint="write the function anew, in aggregate(...)",
                )
        return unbound_expr(partial(_rewrite_over_scope, name, node, self._algebra), name, "expression")

    def _encode(self, encoding: Encoding, outer_references: OuterReferences | None) -> ExtendedExpressionMessage:
        from substrait_dsl.proto.extended import encode_extended_expression

        return encode_extended_expression(self._algebra, encoding=encoding, outer_references=outer_references)

    def _with_canonical_anchors(self) -> algebra.ExtendedExpression:
        return canonical_extended(self._algebra)

    def _repr_html_(self) -> str:
        from substrait_dsl.render.html import text_html

        return text_html(str(self))

    def __str__(self) -> str:
        from substrait_dsl.render.text import explain_extended

        return explain_extended(self._algebra)

    def __repr__(self) -> str:
        return f"ExtendedExpression({self._algebra.schema})"


def _chosen(item: Any, scope: Scope) -> tuple[str, Referred]:
    """Return a column given by name or position, or an expression or aggregate function that has a name."""
    if callable(item) and not isinstance(item, ExprBase):
        item = call_function(item, scope, rows(scope))
    if isinstance(item, MeasureBase):
        if item._name is None:
            raise SchemaError(f"{item._title} has no name", hint="give it one: total=..., or alias(...)")
        return item._name, _function(item, scope)
    ((name, of),) = pick([item], scope)
    return name, scope.column(of) if isinstance(of, int) else of


def _compute_expression(name: str, value: Any, scope: Scope) -> Referred:
    with error_context(place="column", name=name):
        if callable(value) and not isinstance(value, ExprBase):
            value = call_function(value, scope, rows(scope))
        return _function(value, scope) if isinstance(value, MeasureBase) else evaluate(value, scope, Role.COLUMN)


def _function(measure: MeasureBase, scope: Scope) -> ex.AggregateFunction:
    if isinstance(measure, ComputedMeasure):
        raise InvalidArgumentError(
            f"an extended expression holds one aggregate function, and {measure._lacks}",
            hint="give each a name of its own: an expression that computes with them has another schema",
        )
    node = measure_node(measure, scope, sort_keys)
    if node.filter is not None:
        name = measure._call.name
        raise InvalidArgumentError(
            f"{name}: an extended expression holds aggregate functions, which have no filter",
            hint=f"write {name}(when(condition).then(x).otherwise(None)): NULLs are not aggregated",
        )
    return node.function


def _reference(name: str, node: Referred) -> algebra.ExpressionReference:
    type_ = node.output_type if isinstance(node, ex.AggregateFunction) else node.type
    return algebra.ExpressionReference(node, (name, *struct_names(type_)))


def _rewrite_over_scope(
    name: str, expression: ex.Expression, extended: algebra.ExtendedExpression, scope: Scope
) -> ex.Expression:
    """Return an expression over the base schema, over the row of a scope.

    Its columns are found there by their names.
    """
    base = extended.base_schema
    row_of = scope
    while isinstance(row_of, LambdaScope):  # the row is that of what the lambda stands in
        row_of = row_of.outer

    def column(position: int) -> ex.FieldReference:
        field = base.fields[position]
        base.position(field.name)  # it must be the only one of that name
        found = row_of.column(field.name)
        if found.type != field.type:
            raise _other_type(field, found.type)
        return found

    def own(node: Node) -> Node:
        match node:
            case ex.FieldReference(root=ex.RootReference()):
                return column(node.position)
            case ex.MaskedReference(input=ex.Row(root=ex.RootReference())):
                return attrs.evolve(node, input=_same_row(base, row_of))
            case _:
                return node

    def outer(node: Node) -> Node:
        """As `own`, in what subqueries say of the row."""
        match node:
            case ex.FieldReference(root=ex.OuterReference(anchor)) if anchor == extended.anchor:
                return attrs.evolve(column(node.position), root=ex.OuterReference(row_of.take_anchor()))
            case ex.MaskedReference(input=ex.Row(root=ex.OuterReference(anchor))) if anchor == extended.anchor:
                row = attrs.evolve(_same_row(base, row_of), root=ex.OuterReference(row_of.take_anchor()))
                return attrs.evolve(node, input=row)
            case _:
                return node

    with error_context(place="the expression", name=name):
        moved = rebuild(expression, own, into_relations=False)
        return moved if extended.anchor is None else rebuild(moved, outer)


def _other_type(field: Field, found: Type) -> TypeMismatchError:
    hint = None
    if found.matches(field.type):
        change = f'cast("{field.type}")' if field.type.nullable else "assert_not_null()"
        hint = f'with_columns({field.name}=col("{field.name}").{change}) before it makes it one'
    return TypeMismatchError(
        f'it is made for a column "{field.name}" of {field.type}, this one is {found}', names=[field.name], hint=hint
    )


def _same_row(base: NamedStruct, scope: Scope) -> ex.Row:
    """Return the row of a scope as a whole, of which an expression picks by position.

    Raises `SchemaError` for another row.
    """
    if (scope.schema.names, scope.schema.types) != (base.names, base.types):
        raise SchemaError(
            f"the expression picks parts of a whole row of {base}, this row is of {scope.schema}",
            hint="select(...) the columns that it was made for, in their order",
        )
    return ex.Row(base.row_type())
