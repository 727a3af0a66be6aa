"""Extended expressions as objects: expressions over the row of a schema, without any relation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import extended as algebra
from substrait_dsl.algebra.anchors import canonical_extended
from substrait_dsl.algebra.extensions import AdvancedExtension
from substrait_dsl.algebra.plan import Finding
from substrait_dsl.algebra.types import struct_names
from substrait_dsl.errors import InvalidArgumentError, SchemaError, naming, placing
from substrait_dsl.fluent.base import S2, RelationBase
from substrait_dsl.fluent.calls import MeasureBase, measure_node
from substrait_dsl.fluent.columns import called, evaluate, pick, require_distinct, rows, sort_keys
from substrait_dsl.fluent.documents import Document, type_urls
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.fluent.messages import require_extension
from substrait_dsl.fluent.operators import PythonValue
from substrait_dsl.fluent.schemas import Declared, RelationSchema, SchemaLike, as_struct
from substrait_dsl.fluent.scope import Scope

if TYPE_CHECKING:
    from substrait.extended_expression_pb2 import ExtendedExpression as ExtendedExpressionMessage

    from substrait_dsl.catalog import Catalog
    from substrait_dsl.fluent.relation import Relation

Value = ExprBase | MeasureBase
"""What the columns of an extended expression are: expressions, and aggregate functions."""

Node = ex.Expression | ex.AggregateFunction


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
        with naming("ExtendedExpression"):
            require_extension(advanced_extensions, "advanced_extensions")
            if isinstance(schema, RelationBase):
                scope = Scope("ExtendedExpression", (schema._rel,))
            else:
                scope = Scope("ExtendedExpression", (), as_struct(schema))
            referred = [_chosen(item, scope) for item in columns]
            referred += [(name, _computed(name, value, scope)) for name, value in named.items()]
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
    def _decoded(
        cls, source: bytes | str, strict: bool, catalog: Catalog | None
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

    def _encoded(self) -> ExtendedExpressionMessage:
        from substrait_dsl.proto.extended import encode_extended_expression

        return encode_extended_expression(self._algebra)

    def _with_canonical_anchors(self) -> algebra.ExtendedExpression:
        return canonical_extended(self._algebra)

    def __str__(self) -> str:
        from substrait_dsl.render.text import explain_extended

        return explain_extended(self._algebra)

    def __repr__(self) -> str:
        return f"ExtendedExpression({self._algebra.schema})"


def _chosen(item: Any, scope: Scope) -> tuple[str, Node]:
    """A column given by name or position, or an expression or aggregate function that has a name."""
    if callable(item) and not isinstance(item, ExprBase):
        item = called(item, scope, rows(scope))
    if isinstance(item, MeasureBase):
        if item._name is None:
            name = item._call.name
            raise SchemaError(f"the measure {name} has no name", hint=f"give it one: total={name}(...)")
        return item._name, _function(item, scope)
    ((name, of),) = pick([item], scope)
    return name, scope.column(of) if isinstance(of, int) else of


def _computed(name: str, value: Any, scope: Scope) -> Node:
    with placing(f'column "{name}"'):
        if callable(value) and not isinstance(value, ExprBase):
            value = called(value, scope, rows(scope))
        return _function(value, scope) if isinstance(value, MeasureBase) else evaluate(value, scope, "a column")


def _function(measure: MeasureBase, scope: Scope) -> ex.AggregateFunction:
    node = measure_node(measure, scope, sort_keys)
    if node.filter is not None:
        name = measure._call.name
        raise InvalidArgumentError(
            f"{name}: an extended expression holds aggregate functions, which have no filter",
            hint=f"write {name}(when(condition).then(x).otherwise(None)): NULLs are not aggregated",
        )
    return node.function


def _reference(name: str, node: Node) -> algebra.ExpressionReference:
    kind = node.output_type if isinstance(node, ex.AggregateFunction) else node.type
    return algebra.ExpressionReference(node, (name, *struct_names(kind)))
